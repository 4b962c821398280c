"""Judges of a campaign take seats, are challenged at the ends of epochs, and take with them what rested on them."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lakatos.experiments.record import AnswersArrived
from lakatos.experiments.task import identities
from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.main import app
from lakatos.flows.errors import RunMissingError
from lakatos.flows.operations.people import withdraw
from lakatos.flows.report.judge_replay import replay_decision
from lakatos.flows.report.judging_facts import ended_epochs
from lakatos.flows.report.report import write_report
from lakatos.flows.report.why import why
from lakatos.flows.run.code import ROOT
from lakatos.flows.run.records import ACTS, RECORD_TYPES
from lakatos.flows.run.run import Run, create_run, read_state
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.flows.stages.judging.anchor import foreign, read_anchor, readable, split_items
from lakatos.flows.stages.judging.seats import PROGRAM
from lakatos.flows.start import resume_run, run_study
from lakatos.judges.anchor import check_disjoint, split
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.errors import AnchorError
from lakatos.judges.feature import FEATURES
from lakatos.judges.gate_record import GateDecided, GateRegistered
from lakatos.judges.judge import Verdict
from lakatos.judges.record import LabelsExposed
from lakatos.judges.rubrics.rule import RULES
from lakatos.judges.transition import EpochCommitted, JudgeSeated
from lakatos.traces.digest import digest_bytes
from lakatos.traces.errors import TraceError
from lakatos.traces.fold import canonical_digest
from lakatos.traces.journal import INTENT
from lakatos.traces.step import Trace
from lakatos.traces.validity import Validity

sys.path.insert(0, str(Path(__file__).parent))
from anchoring import anchor_file, known_items
from small import MANY_SIDED, STUDY, small_study

CYCLES = {"cycles": 3, "least_cycles": 3}


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign whose first epoch ends after its first cycle, with a challenger that is really better."""
    folder = tmp_path_factory.mktemp("runs")
    judges = {
        "panel": "evolving",
        "anchor": str(anchor_file(folder)),
        "first": 1,
        "testing_cost": 1e-6,  # people are asked about every successor, or chance decides whether there are outcomes
    }
    study = small_study(stop=CYCLES, judges=judges, participants=MANY_SIDED)
    run_study(study, folder / "evolved", n_workers=1)
    return folder / "evolved"


@pytest.fixture
def trace(evolved: Path):
    with Trace.open(evolved, RECORD_TYPES, read_only=True) as found:
        yield found


def validity_of(trace: Trace) -> Validity:
    return Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)


@pytest.mark.long
def test_a_better_challenger_takes_the_seat_and_one_record_erases_what_the_displaced_judge_said(
    trace: Trace,
) -> None:
    validity = validity_of(trace)
    first, *_ = trace.records(EpochCommitted)
    assert first.record.changed == (PROGRAM,)
    (displaced,) = first.record.erases
    assert not validity.valid(displaced)
    assert trace.get(displaced, JudgeSeated).slot == PROGRAM
    for item in trace.records(JudgeMeasured):
        assert validity.valid(item.digest) == (item.record.seat != displaced)
    panels = {item.record.epoch: item.record.number for item in trace.records(EpochOpened)}
    verdicts = list(trace.records(Verdict))
    assert {panels[item.record.epoch] for item in verdicts} >= {0, 1}
    for item in verdicts:
        assert validity.valid(item.digest) == (panels[item.record.epoch] > 0)


@pytest.mark.slow
def test_every_verdict_cites_the_seat_of_every_judge_that_had_a_say(trace: Trace) -> None:
    events = {
        event.record_digest: event for event in trace.journal.events() if event.kind != INTENT
    }
    for item in trace.records(Verdict):
        seats = [
            events[cited]
            for cited in events[item.digest].inputs
            if events[cited].kind == "judge_seated"
        ]
        assert (
            {event.body["slot"] for event in seats}
            == set(item.record.opinions)
            == {"parsimony", PROGRAM, *RULES}
        )


@pytest.mark.slow
def test_what_was_selected_and_searched_under_a_displaced_judge_stays(
    evolved: Path, trace: Trace
) -> None:
    validity = validity_of(trace)
    by_kind = Counter(
        event.kind
        for event in trace.journal.events()
        if event.kind != INTENT and not validity.valid(event.record_digest)
    )
    assert set(by_kind) <= {
        "judge_seated",
        "measured",
        "verdict",
        "verdict_resolved",
        "candidate_decided",
    }
    assert by_kind["judge_seated"] == 1
    assert audit(evolved, recompute="none").passed


@pytest.mark.slow
def test_labels_of_confirm_are_read_only_after_the_challenge_was_registered_and_by_the_gate(
    trace: Trace,
) -> None:
    kinds = [(event.kind, event.body) for event in trace.journal.events() if event.kind != INTENT]
    registered = decided = 0
    for kind, body in kinds:
        registered += kind == "gate_registered"
        decided += kind == "gate_decided"
        if kind == "anchor_exposed":
            assert (body["part"], body["purpose"]) in {("dev", "breed"), ("confirm", "gate")}
            assert body["part"] == "dev" or registered == decided + 1
    assert registered == decided >= 1
    assert not [item for item in trace.records(LabelsExposed) if item.record.part == "vault"]


@pytest.mark.slow
def test_gate_records_cite_the_anchor_and_the_judges_but_no_seat(trace: Trace) -> None:
    events = {
        event.record_digest: event for event in trace.journal.events() if event.kind != INTENT
    }
    for item in (*trace.records(GateRegistered), *trace.records(GateDecided)):
        assert not [
            cited
            for cited in events[item.digest].inputs
            if cited in events and "seat" in events[cited].kind
        ]


@pytest.mark.slow
def test_judging_again_stays_within_its_share(trace: Trace) -> None:
    ended = ended_epochs(trace)
    n_measured = len(list(trace.records(JudgeMeasured)))
    assert sum(item.n_rescored for item in ended) <= 0.2 * n_measured + 1
    assert ended[0].n_queued == ended[0].n_evaluations
    assert ended[0].n_erased > ended[0].n_evaluations


@pytest.mark.slow
def test_a_decision_comes_out_again_and_an_unknown_one_is_named(
    evolved: Path, trace: Trace
) -> None:
    for item in trace.records(GateDecided):
        assert replay_decision(evolved, item.digest[:12]) == item.record
    with pytest.raises(RunMissingError, match="0 such records have a digest that begins with 'zz'"):
        replay_decision(evolved, "zz")


@pytest.mark.slow
def test_why_names_the_seat_that_was_lost(evolved: Path, trace: Trace) -> None:
    first, *_, last = trace.records(Verdict)
    assert "judge epoch 0 ended; displaced program" in why(evolved, first.digest).broken[-1].problem
    assert why(evolved, last.digest).broken == ()


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["freeze epoch", "breed", "register challenge", "commit epoch", "refill epoch"]
)
def test_a_crash_in_the_middle_of_a_boundary_changes_nothing(
    evolved: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Trace.open(evolved, RECORD_TYPES, read_only=True) as trace:
        whole, meta = canonical_digest(trace.journal.events()), trace.journal.meta
    step, record = Run.step, Run.record

    async def dying_step(self, called, *args, **options):
        found = await step(self, called, *args, **options)
        if called == name:
            raise TraceError("the power failed")
        return found

    def dying_record(self, written, **options):
        found = record(self, written, **options)
        if options["name"] == name:
            raise TraceError("the power failed")
        return found

    config = CampaignConfig.model_validate(meta["study"])
    with monkeypatch.context() as patch:
        patch.setattr(Run, "step", dying_step)
        patch.setattr(Run, "record", dying_record)
        with pytest.raises(TraceError, match="the power failed"):
            run_study(config, tmp_path / "again", n_workers=1)
    resume_run(tmp_path / "again", n_workers=1)
    with Trace.open(tmp_path / "again", RECORD_TYPES, read_only=True) as trace:
        assert canonical_digest(trace.journal.events()) == whole


@pytest.mark.slow
@pytest.mark.long
def test_commands_and_report_say_what_happened(evolved: Path) -> None:
    runner = CliRunner()

    def said(*words: str) -> str:
        found = runner.invoke(app, ["judges", *words], env={"COLUMNS": "250"})
        assert found.exit_code == 0, found.output
        return found.output

    state, trace = read_state(evolved)
    trace.close()
    gate, verdict = state.seats.gates[0], next(iter(state.judging.verdicts))
    assert "discrimination" in said("list")
    assert "judge epoch" in said("show", str(evolved))
    assert PROGRAM in said("epochs", str(evolved))
    assert f"replace  {gate.digest[:10]}" in said("gate", str(evolved))
    assert "it holds" in said("explain", verdict[:16], "--run", str(evolved))
    assert "the same comes out: replace" in said("replay", gate.digest[:16], "--run", str(evolved))
    page = write_report(evolved, evolved.parent / "report.html").read_text()
    assert "How the judges changed" in page


def test_an_anchor_file_without_labels_is_refused(tmp_path: Path) -> None:
    value = known_items(12)[0].to_json()
    del value["label"]
    path = tmp_path / "anchor.json"
    path.write_text(json.dumps({"items": [value]}))
    with pytest.raises(AnchorError, match="an anchor item has no label"):
        split_items(path, 1)
    with pytest.raises(AnchorError, match="cannot read the anchor set"):
        read_anchor(tmp_path / "missing.json")


def test_comparisons_that_share_trials_or_people_with_the_campaign_are_left_out(
    tmp_path: Path,
) -> None:
    with create_run(
        load_study(ROOT / "studies" / "allais.toml"), tmp_path / "run", n_workers=1
    ) as run:
        (trials,) = archive_trials(run.config, None)
        own = digest_bytes(identities(run.domain, trials.stimuli)[0])[:16]
        items = known_items(60)
        items[0] = replace(items[0], problems=(own,))
        items[1] = replace(
            items[1],
            provenance=f"people's published choices, {trials.experiment}, block 2; settled",
        )
        items[2] = replace(items[2], people=(f"{trials.experiment} people 3",))
        anchor = split(items, 1)
        left = {
            item.digest
            for found in foreign(run.evidence, run.data, anchor).parts.values()
            for item in found
        }
    assert left == {item.digest for item in items[3:]}


@pytest.mark.parametrize("source", ["file", "web", "simulated"])
def test_comparisons_on_trials_that_new_people_could_be_asked_are_left_out(
    tmp_path: Path, source: str
) -> None:
    people = {"source": source} if source != "simulated" else STUDY["participants"]
    with create_run(small_study(participants=people), tmp_path / "run", n_workers=1) as run:
        stimuli = run.domain.space(run.config.space)
        own = digest_bytes(identities(run.domain, stimuli)[3])[:16]
        items = known_items(20)
        items[0] = replace(items[0], problems=("elsewhere", own))
        anchor = split(items, 1)
        left = {
            item.digest
            for found in foreign(run.evidence, run.data, anchor).parts.values()
            for item in found
        }
    assert left == {item.digest for item in (items if source == "simulated" else items[1:])}


@pytest.mark.long
def test_an_anchor_set_is_built_written_and_read_back(tmp_path: Path) -> None:
    out = tmp_path / "anchor.json.gz"
    words = [
        "judges",
        "anchor",
        "build",
        str(out),
        "--domain",
        "multiattribute",
        "--items",
        "12",
        "--workers",
        "1",
    ]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    anchor = read_anchor(out)
    assert sum(map(len, anchor.parts.values())) == 12
    check_disjoint(anchor)
    assert anchor.digest[:10] in found.output
    assert set(readable(anchor.dev)) == set(FEATURES) - {"machine_written"}


@pytest.mark.long
def test_a_frozen_panel_is_never_replaced_and_without_a_panel_nobody_is_asked(
    tmp_path: Path,
) -> None:
    frozen = {"panel": "frozen", "anchor": str(anchor_file(tmp_path)), "first": 1}
    for name, judges in (("frozen", frozen), ("none", {"panel": "none"})):
        run_study(small_study(judges=judges), tmp_path / name, n_workers=1)
        state, trace = read_state(tmp_path / name)
        trace.close()
        assert not state.seats.committed
        assert bool(state.judging.verdicts) == (name == "frozen")
        entered = [item for item in state.theories.pool.values() if item.record.cycle > 0]
        assert entered
        assert bool(state.seats.held.keys() & {PROGRAM}) == (name == "frozen")
        shutil.rmtree(tmp_path / name)


@pytest.mark.long
def test_an_epoch_that_ended_stays_ended_when_somebody_withdraws(tmp_path: Path) -> None:
    judges = {"panel": "evolving", "anchor": str(anchor_file(tmp_path)), "first": 1}
    folder = tmp_path / "run"
    config = small_study(participants__dropouts=0.2, judges=judges, stop=CYCLES)
    run_study(config, folder, n_workers=1)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        before = [item.digest for item in trace.records(EpochCommitted)]
        person = next(trace.records(AnswersArrived)).record.person
    assert before
    withdraw(folder, person)
    resume_run(folder, n_workers=1)
    with Trace.open(folder, RECORD_TYPES, read_only=True) as trace:
        assert [item.digest for item in trace.records(EpochCommitted)] == before
    state, trace = read_state(folder)
    trace.close()
    assert state.campaign.concluded is not None
    assert state.judging.verdicts
    assert audit(folder, recompute="none").passed
