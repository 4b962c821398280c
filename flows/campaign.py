"""A campaign: cycles until a verdict, no improvement, or the end of the budget."""

from __future__ import annotations

import numpy as np

from flows.conclude import conclude
from flows.cycle import run_cycle
from flows.engine import flow, task
from flows.errors import FlowError
from flows.record import Concluded, FoldFinished
from flows.revise import seed_pool
from flows.run import Run, archive_trials, create_run, open_run, started
from theories.evaluate import Evaluated
from traces.digest import Digest
from traces.step import JOURNAL_FILE, Recorded, StepContext
from traces.verify import write_head


@flow(name="campaign")
async def run_campaign(run: Run) -> Recorded[Concluded]:
    """Carry a campaign on from wherever its trace ends, up to its verdict."""
    settings = run.config
    run.progress.start(settings.question, settings.stop.cycles)
    run.record(started(settings), name="start")
    await seed_pool(run)
    for cycle in range(1, settings.stop.cycles + 1):
        closed = await run_cycle(run, cycle)
        write_head(run.folder)
        if closed.record.stop:
            run.progress.note(f"stopped: {closed.record.stop}")
            break
    for fold in range(settings.validation.folds):
        await run_fold(run, fold)
    concluded = await conclude(run)
    write_head(run.folder)
    run.progress.finish(concluded.record.text)
    return concluded


@task(name="fold")
async def run_fold(run: Run, fold: int) -> Recorded[FoldFinished]:
    """Run the whole loop with one fold of trials sealed, in a run of its own, and test what it ends with on them."""
    settings = run.config
    n_folds = settings.validation.folds
    run.progress.stage(len(run.state.cycles), "fold", f"{fold + 1} of {n_folds}")
    folder = f"folds/{fold + 1:02d}"

    async def work(context: StepContext) -> FoldFinished:
        (trials,) = archive_trials(settings, run.data)
        rows = fold_rows(len(trials.stimuli), n_folds, settings.seed)[fold]
        own = settings.model_copy(
            update={
                "name": f"{settings.name}-fold-{fold + 1}",
                "seed": settings.seed * 1000 + fold + 1,
                "validation": settings.validation.model_copy(update={"folds": 0, "sealed_share": 0.0, "fold": fold}),
            }
        )
        place = run.folder / folder
        child = (
            open_run(place, data=run.data)
            if (place / JOURNAL_FILE).exists()
            else create_run(own, place, data=run.data, sealed_rows={trials.experiment: rows})
        )
        with child:
            concluded = await run_campaign(child)
            (sealed,) = (
                [child.trials_of(digest) for digest in child.state.sealed.record.trials]
                if child.state.sealed
                else (None,)
            )
            if sealed is None:
                raise FlowError(f"fold {fold + 1} of {settings.name} has no sealed trials; use fewer folds.")
            leader = child.theory(concluded.record.leader)
            predicted = child.laboratory.proportions(leader, sealed.stimuli, settings.theories.draws)[:, -1]
            seen = [child.trials(name) for name in child.state.collected]
            compositions = [child.family.seeds[name][1] for name in settings.theories.seeds]
            parents: list[Digest | None] = [child.family.program(name).digest for name in settings.theories.seeds]
            fitted = child.laboratory.evaluate(
                child.family.grammar, list(zip(compositions, parents, strict=True)), seen
            )
            baselines = {
                name: tuple(
                    child.laboratory.proportions(item.theory, sealed.stimuli, settings.theories.draws)[:, -1].tolist()
                )
                for name, item in zip(settings.theories.seeds, fitted, strict=True)
                if isinstance(item, Evaluated)
            }
            head = child.trace.journal.head[1]
            return FoldFinished(
                fold=fold,
                run=folder,
                head=head,
                leader_name=leader.name,
                claim=leader.claim,
                rows=tuple(rows),
                observed=tuple(sealed.proportions[:, -1].tolist()),
                predicted=tuple(predicted.tolist()),
                baselines=baselines,
            )

    assert run.state.started is not None
    return await run.step(
        "fold", work, returns=FoldFinished, inputs=[run.state.started.digest], position={"fold": fold}
    )


def fold_rows(n_trials: int, n_folds: int, seed: int) -> list[list[int]]:
    """Rows of every fold: a random partition into parts that differ by one trial at most."""
    order = np.random.default_rng(seed).permutation(n_trials)
    return [sorted(part.tolist()) for part in np.array_split(order, n_folds)]
