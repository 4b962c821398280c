"""Stage: ask people, take what the inbox holds, and write down the answers. Needs a preregistration."""

from __future__ import annotations

from experiments.design import design_from_json
from experiments.errors import SourceError
from experiments.preregistration import Preregistration
from experiments.record import Recruited, TrialsCollected
from experiments.task import Trials
from flows.engine import task
from flows.run import Run
from theories.score import noise_ceiling
from traces.digest import Digest
from traces.inbox import Batch
from traces.step import Recorded, StepContext


@task(name="recruit")
async def recruit(run: Run, cycle: int, plan: Recorded[Preregistration]) -> Recorded[Recruited]:
    """Ask for the people that ``plan`` needs, once; their responses arrive in the inbox."""
    design = design_from_json(run.trace.artifacts.get_json(plan.record.design))
    run.progress.stage(cycle, "collect", f"{design.n_participants} people, {len(design.stimuli)} trials")

    def ask(context: StepContext) -> Recruited:
        n_participants = deliver(run, plan.record, context.key)
        return Recruited(experiment=design.name, source=run.config.participants.source, n_participants=n_participants)

    return await run.step(
        "recruit", ask, returns=Recruited, inputs=[plan.digest], position={"cycle": cycle, "experiment": design.name}
    )


@task(name="collect")
async def collect(
    run: Run, cycle: int, plan: Recorded[Preregistration], asked: Recorded[Recruited]
) -> Recorded[TrialsCollected]:
    """Take the batches that arrived for an experiment and write its trial table."""
    name = plan.record.experiment

    def take(context: StepContext) -> TrialsCollected:
        parts = _arrived(run, name)
        if not parts:  # the inbox was lost: the source gives the same answers to the same key again
            asked_event = run.trace.journal.find_record(asked.digest)
            assert asked_event is not None
            deliver(run, plan.record, asked_event.key)
            parts = _arrived(run, name)
        if len(parts) != 1:
            raise SourceError(
                f"experiment {name} has {len(parts)} batches in the inbox instead of one; look at it with sqlite3 "
                f"{run.folder / 'inbox.sqlite'} and remove what does not belong there."
            )
        trials = Trials.from_json(parts[0].json())
        ceiling = noise_ceiling(trials)
        return TrialsCollected(
            experiment=name,
            preregistration=plan.digest,
            trials=context.artifacts.put_json(trials.to_json()),
            n_participants=trials.n_participants,
            n_responses=trials.n_responses,
            n_people=trials.n_people,
            pooled=trials.pooled,
            ceiling=None if ceiling is None else ceiling.value,
            ceiling_error=None if ceiling is None else ceiling.standard_error,
        )

    found = await run.step(
        "collect",
        take,
        returns=TrialsCollected,
        inputs=[plan.digest, asked.digest],
        position={"cycle": cycle, "experiment": name},
    )
    for batch in _arrived(run, name):
        run.trace.inbox.mark_taken(batch.digest)
    run.source.mark_released(design_from_json(run.trace.artifacts.get_json(plan.record.design)))
    return found


def deliver(run: Run, plan: Preregistration, key: Digest) -> int:
    """Ask the source under ``key`` and put what it answers into the inbox; returns the number of people."""
    design = design_from_json(run.trace.artifacts.get_json(plan.design))
    recruitment = run.source.recruit(plan, design, key)
    for number, payload in enumerate(run.source.poll(recruitment)):
        run.trace.inbox.deliver(run.config.participants.source, payload, batch_key=f"{key}:{number}")
    return recruitment.n_participants


def _arrived(run: Run, experiment: str) -> list[Batch]:
    """Batches of an experiment that wait in the inbox."""
    return [batch for batch in run.trace.inbox.pending() if batch.json()["experiment"] == experiment]
