from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.flows.audit.audit import audit
from lakatos.flows.audit.recompute import walk_again
from lakatos.flows.errors import StudyError
from lakatos.flows.run.places import find_run, new_folder
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import Run, create_run, read_state
from lakatos.flows.run.source import hidden_rule, hidden_theory
from lakatos.flows.start import resume_run, run_study
from lakatos.memory.winner import TheoryWon
from lakatos.theories.engine.record import TheoryScored
from lakatos.theories.findings.verdicts.record import CampaignConcluded
from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.digest import digest_bytes
from lakatos.traces.errors import LockedError
from lakatos.traces.journal import INTENT
from lakatos.traces.step import JOURNAL_FILE, Trace

sys.path.insert(0, str(Path(__file__).parent))
from small import SHORT, form, records, small_study, spawn, write_study


def test_a_campaign_ends_with_a_verdict_on_frozen_predictions(finished: Path) -> None:
    state, trace = read_state(finished)
    trace.close()
    assert state.campaign.concluded is not None
    assert state.campaign.concluded.record.basis.startswith("predictions frozen before")
    assert len(state.campaign.cycles) == len(state.experiments.collected) == 2
    assert state.campaign.truth is not None
    assert state.campaign.truth.record.n_trials > 100


CONTRARY = '''"""Contrary: people take the product with the lower sum, and at times the side of last time."""
PARAMETERS = {"habit": {"prior": "uniform", "low": 0.2, "high": 0.4}}


def start(parameters, trials, xp):
    return {"last": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    lead = trials["ratings"][:, 0].sum(axis=-1) - trials["ratings"][:, 1].sum(axis=-1)
    return 0.5 + 0.3 * xp.sign(lead) + 0.5 * parameters["habit"] * state["last"]


def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1] - response[..., 0]}
'''


@pytest.mark.long
def test_a_study_can_bring_a_hidden_rule_and_rivals_of_its_own(tmp_path: Path) -> None:
    flat = CONTRARY.partition("PARAMETERS")[0].replace("Contrary", "Flat") + (
        "PARAMETERS = {}\n\n\ndef choose(parameters, trials, xp):\n"
        '    return 0.5 + xp.zeros((1, len(trials["rating_max"])))\n'
    )
    study = small_study(
        theories__programs=[flat],
        theories__candidates=4,
        participants={"source": "simulated", "program": CONTRARY},
        stop={"cycles": 1, "least_cycles": 1},
    )
    run_study(study, tmp_path / "own", n_workers=1)
    state, trace = read_state(tmp_path / "own")
    trace.close()
    assert "Flat" in {state.theories.name(name) for name in state.seeds}
    assert state.campaign.truth is not None
    truth = state.campaign.truth.record
    assert truth.hidden == "Contrary"
    assert set(truth.pool) == set(state.theories.pool)
    assert truth.sequence["hidden"]["in all"] > 0.55
    assert audit(tmp_path / "own").passed


def test_a_hidden_rule_that_is_no_theory_of_the_domain_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    wrong = CONTRARY.replace('trials["ratings"][:, 0]', 'trials["amounts"][:, 0]')
    study = small_study(participants={"source": "simulated", "program": wrong})
    with pytest.raises(
        StudyError, match=r"the study's program cannot be what people follow: .*no 'amounts'"
    ):
        run_study(study, tmp_path / "own", n_workers=1)
    assert not (tmp_path / "own").exists()


@pytest.mark.long
def test_a_campaign_on_learning_finds_out_how_people_learn(tmp_path: Path) -> None:
    study = small_study(
        domain="learning",
        space={"task": "reversal", "n_steps": 30},
        theories={
            "seeds": ["win_stay_lose_shift", "random"],
            "candidates": 4,
            "draws": 32,
            "rivals": 2,
        },
        design={"participants": 10, "power": 0.5},
        participants={"source": "simulated", "theory": "rescorla_wagner"},
        stop={"cycles": 1, "least_cycles": 1},
    )
    run_study(study, tmp_path / "learning", n_workers=1)
    state, trace = read_state(tmp_path / "learning")
    trace.close()
    assert len(state.experiments.collected) == 1
    assert state.campaign.truth is not None
    assert set(state.campaign.truth.record.sequence["hidden"]) == {
        "in all",
        "after a reward",
        "after none",
    }
    assert audit(tmp_path / "learning").passed


def test_every_stage_leaves_its_records(finished: Path) -> None:
    state, trace = read_state(finished)
    trace.close()
    assert len(state.experiments.designs) == len(state.experiments.preregistrations) == 2
    assert len(state.theories.scores) >= 4
    assert state.theories.diagnoses[0].record.claims
    assert all(claim.cites for item in state.theories.diagnoses for claim in item.record.claims)
    assert state.theories.searches
    assert state.judging.epochs


def test_nothing_is_collected_before_its_predictions_are_frozen(finished: Path) -> None:
    with Trace.open(finished, RECORD_TYPES, read_only=True) as trace:
        kinds = [event.kind for event in trace.journal.events() if event.kind != INTENT]
    frozen = [place for place, kind in enumerate(kinds) if kind == "preregistration"]
    collected = [place for place, kind in enumerate(kinds) if kind == "trials_collected"]
    assert all(before < after for before, after in zip(frozen, collected, strict=True))


def test_the_hidden_rule_is_named_by_its_title() -> None:
    assert hidden_rule(small_study()) == "Weighted additive"


def test_the_hidden_rule_is_in_no_artifact_that_an_advocate_could_read(finished: Path) -> None:
    source = hidden_theory(small_study()).program.source
    with Trace.open(finished, RECORD_TYPES, read_only=True) as trace:
        digests = list(trace.artifacts.digests())
        assert digest_bytes(source.encode()) not in digests
        assert len(digests) >= 5
        bodies = [
            str(event.body) for event in trace.journal.events() if event.kind != "campaign_started"
        ]
    assert not any("'theory': 'weighted_additive'" in body for body in bodies)


@pytest.mark.slow
def test_records_are_the_same_whatever_the_number_of_workers_and_others_with_another_seed(
    tmp_path: Path,
) -> None:
    forms = []
    for seed, n_workers in ((3, 1), (3, 2), (4, 1)):
        folder = tmp_path / f"seed-{seed}-workers-{n_workers}"
        run_study(small_study(**SHORT, seed=seed), folder, n_workers=n_workers)
        forms.append(form(folder))
    assert forms[0] == forms[1] != forms[2]


def test_resuming_a_finished_run_returns_its_verdict_at_once(finished: Path) -> None:
    state, trace = read_state(finished)
    head = trace.journal.head
    trace.close()
    begun = time.perf_counter()
    again = resume_run(finished)
    assert time.perf_counter() - begun < 1.0
    assert state.campaign.concluded is not None
    assert again == state.campaign.concluded.record
    _, trace = read_state(finished)
    assert trace.journal.head == head
    trace.close()


@pytest.mark.long
def test_a_run_killed_at_random_points_ends_as_if_nothing_had_happened(
    finished: Path, tmp_path: Path
) -> None:
    study = write_study(tmp_path)
    folder = tmp_path / "small"
    rng = np.random.default_rng(5)
    for pause in rng.uniform(1.0, 4.0, 3):
        begun = (folder / JOURNAL_FILE).exists()
        what = (
            ["resume", str(folder)]
            if begun
            else ["run", str(study), "--runs", str(tmp_path), "--name", "small"]
        )
        process = spawn(*what)
        try:
            process.wait(float(pause))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if (folder / JOURNAL_FILE).exists():
        resume_run(folder, n_workers=1)
    else:
        run_study(small_study(), folder, n_workers=1)
    assert form(folder) == form(finished)
    assert audit(folder, n_workers=1).passed


@pytest.mark.long
def test_a_run_cut_short_after_its_verdict_leaves_its_lessons_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_short(run: Run) -> None:
        raise KeyboardInterrupt

    study = small_study(stop={"cycles": 1, "least_cycles": 1}, memory={"winners": True})
    run_study(study, tmp_path / "apart" / "whole", n_workers=1)
    with monkeypatch.context() as patch:
        patch.setattr("lakatos.flows.campaign.crystallise", cut_short)
        with pytest.raises(KeyboardInterrupt):
            run_study(study, tmp_path / "cut", n_workers=1)
    assert records(tmp_path / "cut", CampaignConcluded)
    assert not records(tmp_path / "cut", TheoryWon)
    resume_run(tmp_path / "cut", n_workers=1)
    assert form(tmp_path / "cut") == form(tmp_path / "apart" / "whole")
    assert records(tmp_path / "cut", TheoryWon)


@pytest.mark.slow
def test_the_audit_passes_and_recomputes_every_score(finished: Path) -> None:
    found = audit(finished, n_workers=1)
    assert found.passed, [finding for finding in found.findings if not finding.passed]
    (line,) = [finding for finding in found.findings if finding.name == "recomputation"]
    n_scores = len(
        records(finished, TheoryScored)
    )  # more draws are another score of the same theory
    assert f" {n_scores} scores among them; all equal" in line.detail


def test_the_audit_names_the_record_in_which_one_byte_was_changed(
    finished: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "tampered"
    shutil.copytree(finished, folder)
    with sqlite3.connect(folder / JOURNAL_FILE) as database:
        table, column = next(
            (name, column)
            for (name,) in database.execute("select name from sqlite_master where type='table'")
            for _, column, *_ in database.execute(f"pragma table_info({name})")
            if column == "body"
        )
        for (trigger,) in database.execute(
            "select name from sqlite_master where type='trigger'"
        ).fetchall():
            database.execute(f"drop trigger {trigger}")
        seq, kind, body = database.execute(
            f"select seq, kind, {column} from {table} where kind = 'theory_scored' order by seq limit 1"
        ).fetchone()
        place = body.index("0.") + 2
        changed = body[:place] + ("1" if body[place] != "1" else "2") + body[place + 1 :]
        database.execute(f"update {table} set {column} = ? where seq = ?", (changed, seq))
    database.close()
    found = audit(folder, n_workers=1)
    assert not found.passed
    assert any(
        str(seq) in finding.detail and kind in finding.detail
        for finding in found.findings
        if not finding.passed
    )


def test_a_score_that_was_invented_fails_the_recomputation(finished: Path, tmp_path: Path) -> None:
    folder = tmp_path / "invented"
    _, source = read_state(finished)
    with (
        source,
        Trace.create(folder, seed=3, types=RECORD_TYPES, meta=source.journal.meta) as forged,
    ):
        for digest in source.artifacts.digests():
            forged.artifacts.put(source.artifacts.get(digest))
        renamed: dict[str, str] = {}
        for event in source.journal.events():
            if event.kind == INTENT:
                continue
            record = source.read(event).record
            if event.kind == "theory_scored" and "theory_scored" not in renamed:
                renamed["theory_scored"] = ""
                units = record.left_out  # type: ignore[attr-defined]
                better = units.model_copy(
                    update={"log_predictive": tuple(x / 2 for x in units.log_predictive)}
                )
                record = record.model_copy(update={"left_out": better})
            body = record.model_dump_json()
            for old, new in renamed.items():
                body = body.replace(old, new) if new else body
            record = type(record).model_validate_json(body)
            made = forged.record(
                record,
                name=event.name,
                position=dict(event.position),
                inputs=[renamed.get(digest, digest) for digest in event.inputs],
            )
            renamed[event.record_digest] = made.digest
    found = audit(folder, n_workers=1)
    wrong = {finding.name for finding in found.findings if not finding.passed}
    assert (
        "heads" in wrong
    )  # none covers what was made anew, and the audit computes nothing of that again
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        walked = walk_again(trace, wanted=lambda event: event.kind == "theory_scored", n_workers=1)
    assert any("theory_scored" in words for words in walked.wrong)


def test_a_second_process_cannot_write_the_same_run(finished: Path) -> None:
    with (
        Trace.open(finished, RECORD_TYPES),
        pytest.raises(LockedError, match="is being written by process"),
    ):
        Trace.open(finished, RECORD_TYPES)


@pytest.mark.slow
def test_a_theory_that_raises_is_refused_with_its_line_and_the_campaign_goes_on(
    tmp_path: Path,
) -> None:
    import asyncio

    from lakatos.flows.run.run import started
    from lakatos.flows.stages.check import check_program, seed_pool

    source = '"""Broken: people divide by nothing."""\nPARAMETERS = {}\n\n'
    source += "def choose(parameters, trials, xp):\n    return 1 / 0\n"
    with create_run(small_study(), tmp_path / "run", n_workers=1) as run:
        run.record(started(run.config), name="start")
        asyncio.run(seed_pool(run))
        assert run.state.campaign.started is not None
        checked = asyncio.run(
            check_program(
                run, 1, TheoryProgram(source, "test"), "", [run.state.campaign.started.digest]
            )
        )
        assert not checked.record.passed
        assert "ZeroDivisionError" in checked.record.reason
        assert "line 5" in checked.record.reason
        assert len(run.state.theories.refused) == 1
        assert len(run.state.theories.pool) == 2


def test_runs_are_found_by_name_by_path_and_by_age(finished: Path) -> None:
    runs = finished.parent
    assert (
        find_run("small", runs)
        == find_run(str(finished), Path("elsewhere"))
        == find_run("", runs)
        == finished
    )
    assert new_folder(runs, "small", numbered=True) == runs / "small-1"


@pytest.mark.slow
def test_a_successor_that_predicts_and_scores_like_a_rival_is_compared_and_kept_out(
    tmp_path: Path,
) -> None:
    """With two rivals that describe the simulated people exactly, what the search finds is no news."""
    study = small_study(
        theories__seeds=["weighted_additive", "random"],
        theories__candidates=3,
        participants={"source": "simulated", "theory": "weighted_additive"},
        stop={"cycles": 2, "least_cycles": 2},
    )
    run_study(study, tmp_path / "same", n_workers=1)
    with Trace.open(tmp_path / "same", RECORD_TYPES, read_only=True) as trace:
        compared = [
            trace.read(event).record
            for event in trace.journal.events()
            if event.kind == "theory_compared"
        ]
        admitted = {
            trace.read(event).record.theory
            for event in trace.journal.events()
            if event.kind == "theory_admitted"
        }
    for item in compared:
        assert item.near
        assert (item.theory in admitted) == (item.twin is None or item.simpler)


@pytest.mark.long
def test_a_campaign_on_four_options_counts_every_one_of_them(tmp_path: Path) -> None:
    study = small_study(
        domain="offers",
        space={},
        theories={
            "seeds": ["logit", "lexicographic"],
            "candidates": 6,
            "successors": 1,
            "draws": 64,
            "rivals": 3,
        },
        design={"trials": 10, "participants": 20, "candidates": 30, "power": 0.5},
        participants={"source": "simulated", "theory": "satisficing"},
        stop={"cycles": 1, "least_cycles": 1},
        validation={"comparison_models": True},
    )
    run_study(study, tmp_path / "offers", n_workers=1)
    state, trace = read_state(tmp_path / "offers")
    trace.close()
    (collected,) = state.experiments.collected.values()
    leader = state.board().leader
    record = state.theories.scores[leader.theory, collected.record.experiment].record
    assert (record.n_options, len(record.proportions)) == (4, 4 * 10)
    assert np.reshape(record.proportions, (10, 4)).sum(axis=1) == pytest.approx(1.0)
    assert state.theories.completeness is not None
    measured = state.theories.completeness.record
    assert measured.guessing == pytest.approx(-np.log(4))
    assert len(measured.published) == len(FAMILIES["offers"].seeds)
    assert audit(tmp_path / "offers").passed


def test_a_theory_of_one_s_own_that_is_refused_stops_the_run(tmp_path: Path) -> None:
    wrong = CONTRARY.replace('trials["ratings"][:, 0]', 'trials["amounts"][:, 0]')
    study = small_study(theories__programs=[wrong])
    with pytest.raises(
        StudyError, match=r"your theory 'Contrary' was refused: .*amounts"
    ) as refused:
        run_study(study, tmp_path / "stopped", n_workers=1)
    assert refused.value.exit_code == 2
