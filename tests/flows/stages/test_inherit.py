"""Theories of earlier campaigns compete if they pass the checks, and stop counting when their evidence is withdrawn."""

import asyncio
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import FAMILIES
from lakatos.domains.published_data import load_archive
from lakatos.experiments.participants import SOURCES
from lakatos.flows.operations.adopt import new_study
from lakatos.flows.roles.remember import (
    answers_of,
    is_news,
    library_fits,
    library_in,
    look_at_library,
    not_signed,
    recall_in,
    shared_library,
    take_library,
    winners_in,
)
from lakatos.flows.run.records import RECORD_TYPES
from lakatos.flows.run.run import Run, begin, create_run, read_state
from lakatos.flows.run.study import load_study, parse_study
from lakatos.flows.run.study_sections import ParticipantsConfig
from lakatos.flows.stages.inherit import MOST_RIVALS, SEALED, admit_winners, say_of_library
from lakatos.flows.start import run_study
from lakatos.memory.recall import RecallSituation
from lakatos.memory.winner import TheoryWon
from lakatos.traces.digest import digest_of
from lakatos.traces.head import identity, kept_apart, write_head
from lakatos.traces.step import Trace
from tests.flows.operations.test_adopt import answers
from tests.flows.small import SHORT, small_study
from tests.memory.test_winners import winner

FAMILY = FAMILIES["multiattribute"]
GOOD = FAMILY.program("weighted_additive").source
TAKES = {"winners": True}


def leave(runs, name, source, **changes):
    """A run beside others that left one winner; the digest of its verdict."""
    with Trace.create(runs / name, seed=1, types=RECORD_TYPES) as trace:
        verdict = trace.artifacts.put_json(["verdict", name])
        cited = trace.record(winner(source, name), name="cited", inputs=[verdict])
        record = winner(source, name, evidence=(cited.digest,), justified_by=(cited.digest,))
        trace.record(record.model_copy(update=changes), name="winner", inputs=[cited.digest])
    write_head(runs / name, begins=True)
    return cited.digest


def withdraw(runs, name, digest):
    """Erase a record of a run."""
    with Trace.open(runs / name, RECORD_TYPES) as trace:
        trace.journal.append(
            "tombstone",
            {"target": digest, "reason": "withdrawn"},
            key=digest_of("erase"),
            name="erase",
            position={},
            inputs=[],
            attempt=1,
        )


def begun(runs, **memory):
    run = create_run(small_study(**SHORT, memory={**TAKES, **memory}), runs / "own", n_workers=1)
    begin(run)
    asyncio.run(take_library(run))
    return run


@pytest.mark.slow
def test_sources_of_a_rival_laboratory_pass_the_checks_of_any_stranger_or_stay_out(tmp_path):
    bad = {
        "spy": GOOD.replace("):\n", "):\n    import os\n", 1),
        "torn": "def choose(",
        "liar": GOOD.replace("def choose", "def chosen"),
        "deep": "x = " + "-" * 60_000 + "1",
        "forged": GOOD.replace("return", "return 0.5 *"),
    }
    for place, (name, source) in enumerate(bad.items()):
        changes = {"theory": digest_of("another")} if name == "forged" else {}
        leave(tmp_path, f"rival {place} {name}", source, **changes)
    leave(tmp_path, "friend", GOOD, holds=False)
    with begun(tmp_path) as run:
        asyncio.run(admit_winners(run))
        taken = run.state.memory.winners.record
        assert [run.state.theories.checked[name].record.author for name in taken.theories] == [
            "library: grammar, friend"
        ]
        told = " ".join(taken.refused)
        assert len(taken.refused) == len(bad)
        assert all(name in told for name in bad)
        assert set(run.state.theories.pool) == set(taken.theories) == run.state.memory.theories
        assert run.state.seeds == []


@pytest.mark.slow
def test_no_more_are_taken_than_there_are_places_for(tmp_path):
    for number, name in enumerate(list(FAMILY.seeds)[: MOST_RIVALS + 2]):
        leave(tmp_path, f"run {number}", FAMILY.program(name).source)
    with begun(tmp_path) as run:
        asyncio.run(admit_winners(run))
        taken = run.state.memory.winners.record
        assert (len(taken.theories), taken.n_left) == (MOST_RIVALS, 2)


@pytest.mark.parametrize("memory", [{"winners": False}, {"arm": "none", "winners": True}])
def test_a_key_keeps_the_library_out(tmp_path, memory):
    leave(tmp_path, "friend", GOOD)
    with begun(tmp_path, **memory) as run:
        asyncio.run(admit_winners(run))
        assert (
            run.state.memory.taken,
            run.state.memory.winners,
            dict(run.state.theories.pool),
        ) == (None, None, {})


def test_withdrawn_evidence_takes_a_winner_away_also_in_a_campaign_that_took_it(tmp_path):
    verdict = leave(tmp_path, "friend", GOOD)
    with begun(tmp_path) as run:
        asyncio.run(look_at_library(run, 1))
        assert [item.study for item in winners_in(run.evidence)] == ["friend"]
        withdraw(tmp_path, "friend", verdict)
        asyncio.run(look_at_library(run, 1))  # recorded: a resumed pass sees what the first one saw
        assert [item.study for item in winners_in(run.evidence)] == ["friend"]
        asyncio.run(look_at_library(run, 2))
        assert winners_in(run.evidence) == []
        assert library_in(run.evidence).doubted
    assert shared_library(tmp_path).winners("multiattribute") == []


def test_the_winner_of_an_unsigned_run_does_not_enter_the_library(tmp_path):
    leave(tmp_path, "friend", GOOD)
    leave(tmp_path, "forged", GOOD)
    before = {item.study for _, item in shared_library(tmp_path).all(TheoryWon)}
    assert before == {"friend", "forged"}
    with Trace.open(tmp_path / "forged", RECORD_TYPES, read_only=True) as trace:
        kept_apart(identity(trace.journal)).unlink()
    (tmp_path / "forged" / "heads.jsonl").unlink()
    assert {item.study for _, item in shared_library(tmp_path).all(TheoryWon)} == {"friend"}
    assert not_signed(tmp_path) == ["forged"]


def test_a_winner_that_was_written_after_the_last_signed_head_does_not_count(tmp_path):
    leave(tmp_path, "friend", GOOD)
    with Trace.open(tmp_path / "friend", RECORD_TYPES) as trace:
        *_, item = trace.records(TheoryWon)
        won = item.record.model_copy(update={"name": "Forged"})
        trace.record(won, name="winner", position={"number": 2}, inputs=item.record.evidence)
    names = {found.name for _, found in shared_library(tmp_path).all(TheoryWon)}
    assert "Forged" not in names
    assert item.record.name in names
    assert not_signed(tmp_path) == []


def test_what_was_withdrawn_hands_nothing_on(tmp_path):
    verdict = leave(tmp_path, "friend", GOOD)
    withdraw(tmp_path, "friend", verdict)
    with begun(tmp_path) as run:
        assert winners_in(run.evidence) == []


def recalled(run):
    situation = RecallSituation(domain=run.config.domain, failed="won adding")
    return [item.text for item in recall_in(run.evidence).recall(situation).lessons]


def test_a_winner_that_may_not_compete_is_not_told_to_writers_either(tmp_path):
    verdict = leave(tmp_path, "friend", GOOD)
    with begun(tmp_path) as run:
        asyncio.run(look_at_library(run, 1))
        (told,) = recalled(run)
        assert "led in friend" in told
        withdraw(tmp_path, "friend", verdict)
        asyncio.run(look_at_library(run, 2))
        assert recalled(run) == []


def test_without_the_library_of_winners_none_is_told(tmp_path):
    leave(tmp_path, "friend", GOOD)
    with begun(tmp_path, winners=False, shared=True) as run:
        assert library_in(run.evidence).all(TheoryWon)
        assert recalled(run) == []


def test_a_theory_is_not_tested_on_the_archived_answers_that_it_was_found_on():
    people = ParticipantsConfig(source="archival", archive="choices")
    found_there = winner(GOOD, answers="choices")
    assert not is_news(found_there, answers_of(people))
    assert is_news(found_there, answers_of(people.model_copy(update={"archive": "others"})))
    assert is_news(winner(GOOD), answers_of(people))
    assert is_news(found_there, "")


def test_what_won_among_simulated_participants_does_not_compete_among_people(tmp_path):
    runs = tmp_path / "runs"
    source = FAMILIES["intertemporal"].program("hyperbolic").source
    others = FAMILIES["intertemporal"].program("exponential").source
    leave(runs, "practice", source, domain="intertemporal", responses="simulated")
    leave(runs, "model", source, domain="intertemporal", responses="language_model")
    leave(runs, "pilot", others, domain="intertemporal", responses="people")
    with adopted_run(runs, answers(tmp_path / "real.csv", n_people=12)) as run:
        begin(run)
        asyncio.run(take_library(run))
        assert [item.study for item in winners_in(run.evidence)] == ["pilot"]
        asyncio.run(admit_winners(run))
        taken = run.state.memory.winners.record
        assert (taken.studies, taken.n_passed_over) == (("pilot",), 2)


def test_each_source_of_participants_says_whose_responses_it_brings():
    origins = {name: source.profile.origin for name, source in SOURCES.items()}
    assert origins.pop("simulated") == small_study().source.origin == "simulated"
    assert origins.pop("language_model") == "language_model"
    assert set(origins.values()) == {"people"}


def part_of_file(whole: Path, part: Path, share: float) -> Path:
    """A share of a table's rows by lot, in another order."""
    frame = pd.read_csv(whole).sample(frac=share, random_state=1)
    frame.to_csv(part, index=False)
    return part


def adopted_run(runs: Path, file: Path) -> Run:
    """The beginning of a run on a file of answers."""
    study = new_study(runs.parent / f"{file.stem}.toml", file).study
    return create_run(load_study(study), runs / file.stem, n_workers=1)


def leave_in(run: Run, source: str) -> None:
    """A winner in a run that was begun."""
    begin(run)
    verdict = run.trace.artifacts.put_json(["verdict", run.config.name])
    answers = answers_of(run.config.participants)
    won = winner(source, run.config.name, domain=run.config.domain, answers=answers)
    won = won.model_copy(update={"evidence": (verdict,), "justified_by": (verdict,)})
    run.trace.record(won, name="winner", inputs=[verdict])
    write_head(run.folder, begins=True)


def found_here(run: Run) -> tuple[str, ...]:
    begin(run)
    asyncio.run(take_library(run))
    return run.state.memory.taken.record.found_here


def test_a_theory_found_on_the_same_answers_in_another_file_does_not_come_back(tmp_path):
    runs, source = tmp_path / "runs", FAMILIES["intertemporal"].program("hyperbolic").source
    first = answers(tmp_path / "first.csv", n_people=12)
    with adopted_run(runs, first) as run:
        leave_in(run, source)
    with adopted_run(runs, part_of_file(first, tmp_path / "part.csv", 0.95)) as run:
        assert found_here(run) == ("first",)
        assert winners_in(run.evidence) == []
        assert say_of_library(run.state, "") == [
            "What won in first was left out: it was found on these same answers, which are no test of it."
        ]
    others = pd.read_csv(first)
    others["choice"] = np.random.default_rng(3).permutation(others["choice"])
    others.to_csv(tmp_path / "others.csv", index=False)
    with adopted_run(runs, tmp_path / "others.csv") as run:
        assert found_here(run) == ()
        assert [item.study for item in winners_in(run.evidence)] == ["first"]


def test_a_theory_found_in_an_archive_is_not_tested_on_a_file_of_its_answers(tmp_path):
    runs, source = tmp_path / "runs", FAMILIES["risky"].program("expected_utility").source
    study = load_study(Path("studies/allais.toml"))
    with create_run(study, runs / "archive", n_workers=1) as run:
        leave_in(run, source)
    (trials,) = load_archive("allais", tmp_path)
    outcomes, chances = trials.stimuli["outcomes"], trials.stimuli["probabilities"]
    n = outcomes.shape[2]
    columns = {f"n{option}": trials.counts[0, :, option].astype(int) for option in (0, 1)}
    for place, side in enumerate("ab"):
        for k in range(n):
            is_there = chances[:, place, k] > 0
            columns[f"{side}_x{k}"] = np.where(is_there, outcomes[:, place, k], np.nan)
            columns[f"{side}_p{k}"] = np.where(is_there, chances[:, place, k], np.nan)
    pd.DataFrame(columns).to_csv(tmp_path / "copied.csv", index=False)
    stimulus = {
        f"{side}_{long}": [f"{side}_{short}{k}" for k in range(n)]
        for side in "ab"
        for long, short in (("amounts", "x"), ("probabilities", "p"))
    }
    value = study.model_dump(mode="json")
    value["participants"] = {
        "source": "archival",
        "file": str(tmp_path / "copied.csv"),
        "columns": {
            "counts": ["n0", "n1"],
            "stimulus": stimulus,
            "accept": ["unusual_amounts"],  # amounts of a thousand and more
        },
    }
    value["name"] = "copied"
    with create_run(parse_study(value, "copied"), runs / "copied", n_workers=1) as run:
        assert found_here(run) == (study.name,)


@pytest.mark.long
def test_a_campaign_leaves_its_winners_and_the_next_one_begins_with_them(tmp_path):
    first = small_study(**SHORT, memory=TAKES, name="first")
    run_study(first, tmp_path / "first", n_workers=1)
    library = shared_library(tmp_path)
    state, trace = read_state(tmp_path / "first")
    trace.close()
    left = library.winners("multiattribute")
    (leader,) = [item for item in left if item.leads]
    assert leader.theory == state.campaign.concluded.record.leader
    assert leader.source
    assert {item.responses for item in left} == {"simulated"}
    assert [item.data for item in leader.tried if item.data != SEALED] == list(
        state.experiments.collected
    )
    assert all(item.interval[0] < item.score < item.interval[1] for item in leader.tried)

    second = small_study(
        **SHORT, memory=TAKES, name="second", theories__seeds=["satisficing", "random"]
    )
    verdict = run_study(second, tmp_path / "second", n_workers=1)
    state, trace = read_state(tmp_path / "second")
    with trace:
        own = list(trace.records(TheoryWon))
    assert own
    assert state.memory.winners.record.theories
    assert state.memory.theories <= {item.theory for item in left}
    assert (
        set(list(state.theories.pool)[2:4]) & state.memory.theories
    )  # before anything was searched
    assert "earlier campaigns" in verdict.text or "It won in first" in verdict.text


@pytest.mark.long
def test_a_library_full_of_a_rival_laboratorys_bad_theories_begins_no_search(tmp_path):
    turned = GOOD.replace("    return p\n", "    return 1 - p\n")
    worst = FAMILY.program("random").source
    assert turned != GOOD
    leave(tmp_path, "rival 1", turned)
    leave(tmp_path, "rival 2", worst)
    study = small_study(**{**SHORT, "design__participants": 120}, memory=TAKES, name="own")
    run_study(study, tmp_path / "own", n_workers=1)
    state, trace = read_state(tmp_path / "own")
    trace.close()
    assert state.memory.theories
    assert not library_fits(state)
    assert state.campaign.concluded.record.leader not in state.memory.theories
