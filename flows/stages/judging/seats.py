"""Seats of judges: who judges in a campaign, how a judge is made and seated, and how its panel is frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakatos.flows.run.parts import task
from lakatos.flows.run.state import RunState
from lakatos.flows.stages.judging.anchor import (
    anchor_of,
    read_dev,
    readable,
    take_anchor,
)
from lakatos.judges.epoch import EpochOpened, JudgeEpoch, freeze
from lakatos.judges.errors import EpochMismatchError
from lakatos.judges.judge import Judge
from lakatos.judges.program import (
    JudgeProgram,
    ProgramFactor,
    ProgramJudge,
    ProgramTerm,
    fit,
    labelled,
)
from lakatos.judges.record import AnchorTaken, JudgeBred
from lakatos.judges.rubrics import RUBRICS
from lakatos.judges.rubrics.rule import RULES, RuleJudge, calibrated
from lakatos.judges.transition import (
    JudgeSeated,
)
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

if TYPE_CHECKING:
    from lakatos.flows.run.run import Run


PROGRAM = "program"


@task(name="seat judges")
async def seat_judges(run: Run) -> None:
    """Take the anchor set, make the first judges on its dev part and seat the panel.

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
        submissions, labels = [item.submission for item in dev], [item.label for item in dev]
        if slot != PROGRAM:
            return calibrated(slot, submissions, labels)
        first = JudgeProgram((ProgramTerm((ProgramFactor("advantage_z"),)),))
        return ProgramJudge(fit(first, labelled(submissions, labels, readable(dev))), slot)

    for slot in (PROGRAM, *RULES):
        bred = await make_judge(run, slot, 0, taken, made(slot), None, len(dev))
        take_seat(run, slot, 0, bred.record.judge, bred.digest)
    for judge in epoch_of(run).judges:
        if judge.name not in run.state.seats.held:
            take_seat(run, judge.name, 0, judge.digest, run.state.campaign.started.digest)
    empanel(run)


def epoch_of(run: Run) -> JudgeEpoch:
    """The judges of a run, frozen; others after every end of an epoch."""
    return run.panel or empanel(run)


def empanel(run: Run) -> JudgeEpoch:
    """Take the judges that have a seat now."""
    run.panel = panel(run)
    return run.panel


def panel(run: Run) -> JudgeEpoch:
    """The judges of a study: the rules, and those made on its anchor set."""
    judges: list[Judge] = [
        *(make() for make in RUBRICS.values()),
        *seated(run.state, run.trace.artifacts),
    ]
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


async def make_judge(
    run: Run,
    slot: str,
    epoch: int,
    anchor: Recorded[AnchorTaken],
    judge: Judge,
    parent: Digest | None,
    n_dev: int,
) -> Recorded[JudgeBred]:
    """Keep a judge as an artifact, in a step of its own."""

    def work(context: StepContext) -> JudgeBred:
        return made_judge(context, slot, epoch, judge, parent, n_dev)

    position: dict[str, int | str] = {"slot": slot, "epoch": epoch}
    return await run.step(
        "make judge", work, returns=JudgeBred, inputs=[anchor.digest], position=position
    )


def made_judge(
    context: StepContext, slot: str, epoch: int, judge: Judge, parent: Digest | None, n_dev: int
) -> JudgeBred:
    """Record of a judge that was made on the dev part; the judge itself is an artifact."""
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


def take_seat(
    run: Run, slot: str, epoch: int, judge: Digest, cited: Digest
) -> Recorded[JudgeSeated]:
    """Give a judge its seat, on record."""
    position: dict[str, int | str] = {"slot": slot, "epoch": epoch}
    return run.record(
        JudgeSeated(slot=slot, epoch=epoch, judge=judge),
        name="seat",
        inputs=[cited],
        position=position,
    )


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


def present_judges(state: RunState, artifacts: ArtifactStore) -> dict[str, Judge]:
    """The judges of a run's panel as it is now, by name, read from the trace alone."""
    slots = state.seats.epoch.slots if state.seats.epoch else {}
    made = {
        slot: state.seats.bred[judge].record
        for slot, judge in slots.items()
        if judge in state.seats.bred
    }
    found = {name: make() for name, make in RUBRICS.items()}
    found |= {slot: judge_from(artifacts, record) for slot, record in made.items()}
    return dict(sorted(found.items()))
