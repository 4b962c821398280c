"""The end of a judge epoch: a challenger is bred, the gate decides, and what a displaced judge said is judged again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lakatos.flows.run.parts import task
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.judging.anchor import (
    anchor_of,
    read_dev,
    readable,
    taken_record,
)
from lakatos.flows.stages.judging.challenge import challenge
from lakatos.flows.stages.judging.measures import settled_items, submission_in, write_measure
from lakatos.flows.stages.judging.seats import (
    PROGRAM,
    empanel,
    judge_from,
    made_judge,
    take_seat,
)
from lakatos.judges.anchor import AnchorItem, components
from lakatos.judges.answer import anchor_accuracy, ask
from lakatos.judges.erasure import JudgeMeasured, JudgeMeasurements
from lakatos.judges.gate_record import GateDecided, GateRegistered
from lakatos.judges.hard_case import trap
from lakatos.judges.judge import Judge
from lakatos.judges.ledger import LevelDrawn
from lakatos.judges.program import (
    ProgramJudge,
    breed,
    gain_of_breeding,
    labelled,
)
from lakatos.judges.record import AnchorTaken, JudgeBred, LabelsExposed
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
from lakatos.traces.digest import Digest
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


@task(name="epoch")
async def turn_epoch(run: Run, cycle: int) -> None:
    """End the epoch where enough was judged in it, put challengers to the gate, and open the next one."""
    settings, epoch = run.config.judges, run.state.seats.epoch
    if settings.panel != "evolving" or epoch is None or _ended_before(run, epoch.number, cycle):
        return
    last = run.state.seats.frozen[-1].record.n_evaluations if run.state.seats.frozen else 0
    if run.state.seats.n_measured < next_checkpoint(last, settings.first, settings.ratio):
        return
    run.progress.stage(cycle, "epoch", f"judge epoch {epoch.number} ends")
    taken = run.state.seats.anchors[-1]
    frozen = run.record(
        freeze_epoch(epoch, taken.record.confirm, run.state.seats.n_measured),
        name="freeze epoch",
        inputs=[taken.digest, *(seat.digest for _, seat in sorted(run.state.seats.held.items()))],
        position={"epoch": epoch.number, "cycle": cycle},
    )
    trapped = await _trap(run, frozen)
    bred = await _breed(run, frozen, trapped)
    decisions = []
    if bred.record.judge != epoch.slots[PROGRAM]:
        decisions.append(await _challenge(run, bred, trapped))
    await _open_next(run, frozen, decisions)
    run.progress.note(why_ended([item.record for item in decisions]))


def _ended_before(run: Run, number: int, cycle: int) -> bool:
    """Whether the end of an epoch is on record and not to be made in this cycle again.

    It ended in another cycle, or responses were withdrawn since: then its records are taken as they are.
    """
    ended = _on_record(run.trace, number)
    if not ended:
        return False
    if ended[0].position["cycle"] != cycle:
        return True
    if ended[-1].kind != kind_of(EpochRefilled) or not _withdrawn(run.trace):
        return False
    for event in ended:
        run.recall(run.trace.read(event))
    empanel(run)
    return True


async def _open_next(
    run: Run, frozen: Recorded[EpochFrozen], decisions: Sequence[Recorded[GateDecided]]
) -> None:
    """Commit what the gate decided, seat the judges of the next epoch, and list what they judge again."""
    position = {"epoch": frozen.record.epoch}
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
        cited = run.state.seats.bred[judge].digest
        take_seat(run, slot, frozen.record.epoch + 1, judge, cited)

    def work(context: StepContext) -> EpochRefilled:
        assert run.state.seats.epoch is not None
        return refill(run.state.seats.epoch, _to_rescore(run.state, run.trace))

    await run.step(
        "refill epoch", work, returns=EpochRefilled, inputs=[committed.digest], position=position
    )
    empanel(run)


def _on_record(trace: Trace, number: int) -> list[Event]:
    """Return what the trace holds of the end of an epoch, from its freezing on, up to its last record.

    What was done stays done: after a withdrawal of responses, the pass finds other theories to judge, but the epoch
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
    """Whether responses were withdrawn, so that a pass may not come to the same steps again."""
    return any(event.kind == kind_of(Tombstone) for event in trace.journal.events())


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
        write_measure(run, subject, submission, pair.digest)


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
        return made_judge(context, PROGRAM, epoch + 1, best, incumbent.digest, len(dev))

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


def dev_items(state: RunState, artifacts: ArtifactStore) -> tuple[AnchorItem, ...]:
    """The dev part as it is now; no other part is shown."""
    return anchor_of(artifacts, state.seats.anchors[-1].record).dev if state.seats.anchors else ()
