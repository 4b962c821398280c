"""Judges in a campaign: their seats, the ends of epochs, challengers, and what is judged again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.power import wilson_interval
from lakatos.experiments.task import identities
from lakatos.flows.roles.read_pairs import model_judge
from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.judging.anchor import (
    anchor_of,
    read_dev,
    readable,
    take_anchor,
    taken_record,
)
from lakatos.flows.stages.judging.challenge import challenge
from lakatos.judges.anchor import AnchorItem, LabelsExposed, components
from lakatos.judges.answer import ask
from lakatos.judges.bias import BiasReport, bias_report
from lakatos.judges.description import ScoredExperiment, describe, favoured
from lakatos.judges.epoch import EpochOpened, JudgeEpoch, freeze
from lakatos.judges.erasure import JudgeMeasured, JudgeMeasurements
from lakatos.judges.errors import EpochMismatchError
from lakatos.judges.gate import GateDecided, GateRegistered
from lakatos.judges.ground_truth import SETTLED, strata
from lakatos.judges.hard_case import trap
from lakatos.judges.judge import Judge, JudgeSubmission
from lakatos.judges.ledger import LevelDrawn
from lakatos.judges.program import (
    JudgeProgram,
    ProgramFactor,
    ProgramJudge,
    ProgramTerm,
    breed,
    fit,
    gain_of_breeding,
    labelled,
)
from lakatos.judges.record import AnchorTaken, JudgeBred, PairDescribed
from lakatos.judges.rubrics import RUBRICS
from lakatos.judges.rubrics.rule import RULES, RuleJudge, calibrated
from lakatos.judges.transition import (
    EpochCommitted,
    EpochFrozen,
    EpochRefilled,
    JudgeSeated,
    commit,
    freeze_epoch,
    may_rescore,
    next_checkpoint,
    refill,
    why_ended,
)
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_bytes
from lakatos.traces.journal import Event
from lakatos.traces.record import Tombstone, kind_of
from lakatos.traces.step import Recorded, StepContext, Trace
from lakatos.traces.validity import Validity

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run

Array = NDArray[np.float64]
_OF_AN_END = frozenset(
    kind_of(record)
    for record in (
        AnchorTaken,
        LabelsExposed,
        JudgeBred,
        EpochFrozen,
        LevelDrawn,
        GateRegistered,
        GateDecided,
        EpochCommitted,
        JudgeSeated,
        EpochRefilled,
    )
)
PROGRAM = "program"
TASK = "whether people's next data favour the candidate"


# --- judges and their seats -----------------------------------------------------------------------------------------


@task(name="seat judges")
async def seat_judges(run: Run) -> None:
    """Take the anchor set, make the first judges on its dev part and seat the panel; nothing where no seats are.

    Raises:
        AnchorError: The anchor file cannot be read, or too little of it shares nothing with the campaign.
    """
    if not run.config.judges.seated:
        return
    assert run.state.campaign.started is not None
    run.progress.stage(0, "seat the judges", "an anchor set of settled comparisons")
    taken = await take_anchor(run)
    anchor = anchor_of(run.trace.artifacts, taken.record)
    dev = read_dev(run, anchor, taken, 0)

    def made(slot: str) -> Judge:
        asked, labels = [item.submission for item in dev], [item.label for item in dev]
        if slot != PROGRAM:
            return calibrated(slot, asked, labels)
        first = JudgeProgram((ProgramTerm((ProgramFactor("advantage_z"),)),))
        return ProgramJudge(fit(first, labelled(asked, labels, readable(dev))), slot)

    for slot in (PROGRAM, *RULES):
        bred = await _bring_up(run, slot, 0, taken, made(slot), None, len(dev))
        _seat(run, slot, 0, bred.record.judge, bred.digest)
    for judge in epoch_of(run).judges:
        if judge.name not in run.state.seats.held:
            _seat(run, judge.name, 0, judge.digest, run.state.campaign.started.digest)
    empanel(run)


def epoch_of(run: Run) -> JudgeEpoch:
    """The judges of a run, frozen; others after every end of an epoch."""
    return run.part(panel)


def empanel(run: Run) -> None:
    """Take the judges that have a seat now."""
    run.forget(panel)
    run.part(panel)


def panel(run: Run) -> JudgeEpoch:
    """The judges of a study: the rules, those made on its anchor set, and a language model where named."""
    judges: list[Judge] = [
        *(make() for make in RUBRICS.values()),
        *seated(run.state, run.trace.artifacts),
    ]
    if run.config.roles.judge:
        judges.append(model_judge(run.config, lambda: run.state))
    return freeze(run.state.seats.epoch.number if run.state.seats.epoch else 0, judges)


def seated(state: RunState, artifacts: ArtifactStore) -> list[Judge]:
    """The judges that were made on the anchor set and have a seat, by name."""
    slots = state.seats.epoch.slots if state.seats.epoch else {}
    made = {
        slot: state.seats.bred[judge].record
        for slot, judge in sorted(slots.items())
        if judge in state.seats.bred
    }
    return [judge_from(artifacts, record) for record in made.values()]


def judge_from(artifacts: ArtifactStore, record: JudgeBred) -> Judge:
    """A judge put together again from the artifact of a run that its record names."""
    value = artifacts.get_json(record.made)
    if "rule" in value:
        return RuleJudge.from_json(value)
    return ProgramJudge(JudgeProgram.from_json(value["program"]), record.slot)


async def _bring_up(
    run: Run,
    slot: str,
    epoch: int,
    anchor: Recorded[AnchorTaken],
    judge: Judge,
    parent: Digest | None,
    n_dev: int,
) -> Recorded[JudgeBred]:
    def work(context: StepContext) -> JudgeBred:
        return _bred(context, slot, epoch, judge, parent, n_dev)

    position: dict[str, int | str] = {"slot": slot, "epoch": epoch}
    return await run.step(
        "make judge", work, returns=JudgeBred, inputs=[anchor.digest], position=position
    )


def _bred(
    context: StepContext, slot: str, epoch: int, judge: Judge, parent: Digest | None, n_dev: int
) -> JudgeBred:
    match judge:
        case RuleJudge():
            value = judge.to_json()
        case ProgramJudge():
            value = {"program": judge.program.to_json()}
        case _:
            raise AssertionError(judge)
    made = context.artifacts.put_json(value)
    return JudgeBred(
        slot=slot, epoch=epoch, judge=judge.digest, made=made, parent=parent, n_dev=n_dev
    )


def _seat(run: Run, slot: str, epoch: int, judge: Digest, cited: Digest) -> Recorded[JudgeSeated]:
    position: dict[str, int | str] = {"slot": slot, "epoch": epoch}
    return run.record(
        JudgeSeated(slot=slot, epoch=epoch, judge=judge),
        name="seat",
        inputs=[cited],
        position=position,
    )


# --- what judges see and say ----------------------------------------------------------------------------------------


def submission_of(evidence: RunEvidence, candidate: Digest, incumbent: Digest) -> JudgeSubmission:
    """A candidate against the incumbent as judges see them, on all answers so far."""
    own, other = (
        [scored(evidence, name, item) for item in evidence.state.experiments.collected]
        for name in (candidate, incumbent)
    )
    machine = [
        evidence.state.theories.checked[name].record.cycle > 0 for name in (candidate, incumbent)
    ]
    return describe(
        evidence.theory(candidate),
        evidence.theory(incumbent),
        own,
        other,
        machine_written=(machine[0], machine[1]),
    )


def scored(evidence: RunEvidence, theory: Digest, experiment: str) -> ScoredExperiment:
    """What a theory made of an experiment, from its record."""
    record = evidence.state.theories.scores[theory, experiment].record
    shares = np.asarray(record.proportions).reshape(
        -1, 1 if record.n_options == 2 else record.n_options
    )
    whole = np.hstack([1 - shares, shares]) if record.n_options == 2 else shares
    return ScoredExperiment(record.left_out.scores, whole, evidence.trials(experiment).proportions)


def measure(
    run: Run, cycle: int, submission: JudgeSubmission, inputs: Sequence[Digest]
) -> list[Digest]:
    """Write down what the judges with a seat are shown, and what those that evolve say; what a verdict then cites.

    Args:
        run: The campaign.
        cycle: Of the verdict.
        submission: What they are shown.
        inputs: Records behind it.
    """
    if not run.config.judges.seated:
        return []
    artifact = run.trace.artifacts.put_json(submission.to_json())
    pair = run.record(
        PairDescribed(
            candidate=submission.candidate,
            incumbent=submission.incumbent,
            cycle=cycle,
            submission=artifact,
        ),
        name="describe pair",
        inputs=inputs,
        position={"cycle": cycle},
    )
    said = _measure(run, artifact, submission, pair.digest).digest
    return [
        pair.digest,
        said,
        *(run.state.seats.held[slot].digest for slot in sorted(run.state.seats.held)),
    ]


def lasting(
    state: RunState, candidate: Digest, cycle: int, otherwise: Sequence[Digest]
) -> list[Digest]:
    """What a record cites that was made because of a verdict but must outlive the judges who gave it.

    A theory that was let in stays in the pool, and what was learned from data stays learned, when the judge is
    displaced under whom it was selected: that it was selected is history. Without seats no judge is displaced.
    """
    pair = state.judging.pairs.get((candidate, cycle))
    return [pair.digest] if pair is not None else list(otherwise)


def _measure(
    run: Run, artifact: Digest, submission: JudgeSubmission, pair: Digest
) -> Recorded[JudgeMeasured]:
    seat, epoch = run.state.seats.held[PROGRAM], epoch_of(run).number
    (judge,) = (judge for judge in epoch_of(run).judges if judge.name == PROGRAM)
    said = JudgeMeasured(
        subject=artifact, task=TASK, seat=seat.digest, epoch=epoch, value=judge.judge(submission)
    )
    position: dict[str, int | str] = {"slot": PROGRAM, "epoch": epoch}
    return run.record(said, name="measure", inputs=[pair, seat.digest], position=position)


@dataclass(frozen=True)
class VerdictOutcome:
    """What the first experiment after a verdict said."""

    experiment: str
    advantage: float
    """Of the candidate, nats per choice."""
    in_errors: float
    """The same in standard errors."""
    records: tuple[Digest, ...]
    """Scores behind it."""


def outcome(evidence: RunEvidence, pair: PairDescribed) -> VerdictOutcome | None:
    """What people's data have said about a pair since; None while they have not spoken."""
    later = [
        name
        for name, item in evidence.state.experiments.designs.items()
        if item.record.cycle > pair.cycle and name in evidence.state.experiments.collected
    ]
    names = (pair.candidate, pair.incumbent)
    if not later or any((name, later[0]) not in evidence.state.theories.scores for name in names):
        return None
    value, in_errors = favoured(*([scored(evidence, name, later[0])] for name in names))
    return VerdictOutcome(
        later[0],
        value,
        in_errors,
        tuple(evidence.state.theories.scores[name, later[0]].digest for name in names),
    )


def submission_in(artifacts: ArtifactStore, pair: PairDescribed) -> JudgeSubmission:
    """Read what judges were shown of a pair of theories."""
    return JudgeSubmission.from_json(artifacts.get_json(pair.submission))


# --- the end of an epoch --------------------------------------------------------------------------------------------


@task(name="epoch")
async def turn_epoch(run: Run, cycle: int) -> None:
    """End the epoch where enough was judged in it, put challengers to the gate, and open the next one."""
    settings, epoch = run.config.judges, run.state.seats.epoch
    if settings.panel != "evolving" or epoch is None:
        return
    if ended := _on_record(run.trace, epoch.number):
        if ended[0].position["cycle"] != cycle:
            return
        if ended[-1].kind == kind_of(EpochRefilled) and _withdrawn(run.trace):
            for event in ended:
                run.recall(run.trace.read(event))
            empanel(run)
            return
    last = run.state.seats.frozen[-1].record.n_evaluations if run.state.seats.frozen else 0
    if run.state.seats.n_measured < next_checkpoint(last, settings.first, settings.ratio):
        return
    position = {"epoch": epoch.number}
    run.progress.stage(cycle, "epoch", f"judge epoch {epoch.number} ends")
    taken = run.state.seats.anchors[-1]
    frozen = run.record(
        freeze_epoch(epoch, taken.record.confirm, run.state.seats.n_measured),
        name="freeze epoch",
        inputs=[taken.digest, *(seat.digest for _, seat in sorted(run.state.seats.held.items()))],
        position=position | {"cycle": cycle},
    )
    trapped = await _trap(run, frozen)
    bred = await _breed(run, frozen, trapped)
    decisions = []
    if bred.record.judge != epoch.slots[PROGRAM]:
        decisions.append(await _challenge(run, bred, trapped))
    assert run.state.seats.epoch is not None
    committed = run.record(
        commit(
            run.state.seats.epoch,
            {slot: seat.digest for slot, seat in run.state.seats.held.items()},
        ),
        name="commit epoch",
        inputs=[frozen.digest, *(item.digest for item in decisions)],
        position=position,
    )
    for slot in committed.record.changed:
        judge = committed.record.slots[slot]
        _seat(run, slot, epoch.number + 1, judge, run.state.seats.bred[judge].digest)

    def work(context: StepContext) -> EpochRefilled:
        assert run.state.seats.epoch is not None
        return refill(run.state.seats.epoch, _to_rescore(run.state, run.trace))

    await run.step(
        "refill epoch", work, returns=EpochRefilled, inputs=[committed.digest], position=position
    )
    empanel(run)
    run.progress.note(why_ended([item.record for item in decisions]))


def _on_record(trace: Trace, number: int) -> list[Event]:
    """What the trace holds of the end of an epoch, from its freezing on, up to its last record.

    What was done stays done: where answers were withdrawn since, the pass finds other theories to judge, but the epoch
    has ended when it ended, and was decided as it was decided.
    """
    found: list[Event] = []
    for event in trace.journal.events():
        begins = event.kind == kind_of(EpochFrozen) and event.body["epoch"] == number
        if begins or (
            found and found[-1].kind != kind_of(EpochRefilled) and event.kind in _OF_AN_END
        ):
            found.append(event)
    return found


def _withdrawn(trace: Trace) -> bool:
    """Whether answers were withdrawn, so that a pass may not come to the same steps again."""
    return any(event.kind == kind_of(Tombstone) for event in trace.journal.events())


def open_epoch(run: Run) -> None:
    """Freeze the panel of the campaign's epoch, once.

    Raises:
        EpochMismatchError: The run was begun with judges of another version.
    """
    number = epoch_of(run).number
    if any(item.record.number == number for item in run.state.judging.epochs):
        return
    assert run.state.campaign.started is not None
    inputs, position = [run.state.campaign.started.digest], {"epoch": number}
    inputs += [run.state.seats.refilled[-1].digest] if number else []
    before = run.trace.recorded("open_epoch", inputs, position)
    if before is not None and before.record != epoch_of(run).opened():
        assert isinstance(before.record, EpochOpened)
        raise EpochMismatchError(
            f"the judges of {run.folder} were frozen as epoch {before.record.epoch[:8]}, and this version of the "
            f"laboratory has others ({epoch_of(run).digest[:8]}); go on with the version that began the run."
        )
    run.record(epoch_of(run).opened(), name="open_epoch", inputs=inputs, position=position)


@task(name="rescore")
async def rescore(run: Run, cycle: int) -> None:
    """Judge again, most wanted first, as far as the share of verdicts allows that may go into it."""
    state = run.state
    if state.seats.epoch is None or not state.seats.epoch.queue:
        return
    pairs = {item.record.submission: item for item in state.judging.pairs.values()}
    for subject in state.seats.epoch.queue:
        if not may_rescore(
            run.state.seats.n_measured, run.state.seats.n_rescored, run.config.judges.rescore_share
        ):
            return
        if subject not in pairs or any(
            item.record.subject == subject for item in run.state.seats.measured.values()
        ):
            continue
        pair = pairs[subject]
        submission = submission_in(run.trace.artifacts, pair.record)
        _measure(run, subject, submission, pair.digest)


def settled_items(evidence: RunEvidence) -> list[tuple[AnchorItem, Digest]]:
    """Pairs of the campaign that people's data have settled, as anchor items, each with its record."""
    found: dict[Digest, tuple[AnchorItem, Digest]] = {}
    for pair in evidence.state.judging.pairs.values():
        then = outcome(evidence, pair.record)
        if then is None or abs(then.in_errors) < SETTLED:
            continue
        label = then.advantage > 0
        machine = evidence.state.theories.checked[pair.record.candidate].record.cycle > 0
        trials = evidence.trials(then.experiment)
        keys = [] if evidence.domain.sequential else identities(evidence.domain, trials.stimuli)
        item = AnchorItem(
            submission=submission_in(evidence.artifacts, pair.record),
            label=label,
            strata=strata(evidence.config.domain, machine, label),
            problems=tuple(sorted({digest_bytes(key)[:16] for key in keys})) or (then.experiment,),
            people=(f"{then.experiment} people",),
            provenance=f"people's answers here, {then.experiment}; ahead by {abs(then.in_errors):.1f} standard errors",
        )
        found.setdefault(item.digest, (item, pair.digest))
    return list(found.values())


async def _trap(run: Run, frozen: Recorded[EpochFrozen]) -> Recorded[AnchorTaken]:
    """The anchor set with what fooled the incumbent, where people's data have settled it, in dev."""
    before = run.state.seats.anchors[-1]
    settled = settled_items(run.evidence)
    if not settled:
        return before

    def work(context: StepContext) -> AnchorTaken:
        items = [item for item, _ in settled]
        answers = ask(
            _incumbent(run.state, run.trace.artifacts), [item.submission for item in items]
        )
        whole = trap(anchor_of(context.artifacts, before.record), answers, items)
        return taken_record(
            context,
            whole,
            before.record.n_left_out,
            f"hard cases of judge epoch {frozen.record.epoch}",
        )

    inputs = [before.digest, frozen.digest, *(digest for _, digest in settled)]
    position: dict[str, int | str] = {"slot": PROGRAM, "epoch": frozen.record.epoch}
    return await run.step("trap", work, returns=AnchorTaken, inputs=inputs, position=position)


async def _breed(
    run: Run, frozen: Recorded[EpochFrozen], taken: Recorded[AnchorTaken]
) -> Recorded[JudgeBred]:
    """The best challenger bred from the incumbent, chosen on dev alone; the incumbent where breeding does not pay."""
    epoch = frozen.record.epoch
    dev = read_dev(run, anchor_of(run.trace.artifacts, taken.record), taken, epoch + 1)
    incumbent = _incumbent(run.state, run.trace.artifacts)
    assert isinstance(incumbent, ProgramJudge)

    def work(context: StepContext) -> JudgeBred:
        items = labelled(
            [item.submission for item in dev], [item.label for item in dev], readable(dev)
        )
        gain, error = gain_of_breeding(incumbent.program, items, components(dev), context.rng)
        best = (
            ProgramJudge(breed(incumbent.program, items, context.rng)[0], PROGRAM)
            if gain > error
            else incumbent
        )
        return _bred(context, PROGRAM, epoch + 1, best, incumbent.digest, len(dev))

    position: dict[str, int | str] = {"slot": PROGRAM, "epoch": epoch}
    return await run.step(
        "breed", work, returns=JudgeBred, inputs=[frozen.digest, taken.digest], position=position
    )


async def _challenge(
    run: Run, bred: Recorded[JudgeBred], taken: Recorded[AnchorTaken]
) -> Recorded[GateDecided]:
    """Put the challenger to the gate."""
    challenger = judge_from(run.trace.artifacts, bred.record)
    return await challenge(
        run, PROGRAM, (_incumbent(run.state, run.trace.artifacts), challenger), taken
    )


def _incumbent(state: RunState, artifacts: ArtifactStore) -> Judge:
    assert state.seats.epoch is not None
    record = state.seats.bred[state.seats.epoch.slots[PROGRAM]].record
    return judge_from(artifacts, record)


def _to_rescore(state: RunState, trace: Trace) -> list[Digest]:
    """Submissions that lost what was said about them; where candidates are still rivals, first."""
    validity = Validity(trace.journal.events(), roots=trace.artifacts.has, acts=ACTS)
    known = JudgeMeasurements(validity)
    assert state.seats.epoch is not None
    for item in trace.records(JudgeMeasured):
        known.add(item.digest, item.record, state.seats.epoch.number)
    wanted = {
        item.record.submission: float(item.record.candidate in state.theories.pool)
        for item in state.judging.pairs.values()
    }
    return known.to_rescore(wanted)


def anchor_accuracy(judge: Judge, items: Sequence[AnchorItem]) -> dict[str, Any] | None:
    """Right answers of a judge among the settled items that it answers, with their 95% interval; None without any."""
    answers = ask(judge, [item.submission for item in items])
    kept = ~np.isnan(answers.probability)
    labels = np.where([item.label for item in items], 1, -1)
    right, n = (answers.side == labels)[kept], int(kept.sum())
    if not n:
        return None
    low, high = wilson_interval(int(right.sum()), n)
    return {"right": float(right.mean()), "low": low, "high": high, "n": n}


def present_judges(state: RunState, artifacts: ArtifactStore) -> dict[str, Judge]:
    """The judges of a run's panel as it is now, by name, read from the trace alone; without a language model."""
    slots = state.seats.epoch.slots if state.seats.epoch else {}
    made = {
        slot: state.seats.bred[judge].record
        for slot, judge in slots.items()
        if judge in state.seats.bred
    }
    found = {name: make() for name, make in RUBRICS.items()}
    found |= {slot: judge_from(artifacts, record) for slot, record in made.items()}
    return dict(sorted(found.items()))


def accuracy_by_epoch(
    state: RunState, artifacts: ArtifactStore
) -> dict[str, dict[int, dict[str, Any]]]:
    """Right answers of the judge that evolves, by slot and epoch, on the dev part as it was taken."""
    if not state.seats.anchors or state.seats.epoch is None or state.campaign.config is None:
        return {}
    items = anchor_of(artifacts, state.seats.anchors[0].record).parts["dev"]
    by_epoch = {item.record.epoch: item.record.slots for item in state.seats.frozen} | {
        state.seats.epoch.number: state.seats.epoch.slots
    }
    found: dict[int, dict[str, Any]] = {}
    for number, slots in sorted(by_epoch.items()):
        judge = judge_from(artifacts, state.seats.bred[slots[PROGRAM]].record)
        if (right := anchor_accuracy(judge, items)) is not None:
            found[number] = right
    return {PROGRAM: found} if found else {}


def bias_of(judge: Judge, items: Sequence[AnchorItem]) -> BiasReport:
    """Whether a judge accepts machine-written theories more readily, on those settled items that it answers.

    Raises:
        GateError: Among these an origin or a quality is missing.
    """
    answers = ask(judge, [item.submission for item in items])
    kept = ~np.isnan(answers.probability)
    machine, good = (
        np.array([item.strata[name] == value for item in items])[kept]
        for name, value in (("origin", "machine"), ("quality", "good"))
    )
    return bias_report(answers.side[kept] > 0, machine, good, score=answers.probability[kept])


def dev_items(state: RunState, artifacts: ArtifactStore) -> tuple[AnchorItem, ...]:
    """The dev part as it is now; no other part is shown."""
    return anchor_of(artifacts, state.seats.anchors[-1].record).dev if state.seats.anchors else ()
