"""A campaign: cycles until a verdict, no improvement, or the end of the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np

from lakatos.experiments.participants.archival import trials_to_use_all
from lakatos.experiments.task import identities
from lakatos.flows.cycle import run_cycle
from lakatos.flows.roles.ask import check_models
from lakatos.flows.roles.interview import check_participant
from lakatos.flows.roles.remember import take_library
from lakatos.flows.run.analyses import record_analyses
from lakatos.flows.run.parts import flow, task
from lakatos.flows.run.run import Run, begin, create_run, has_run, open_run
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.flows.stages.check import seed_pool
from lakatos.flows.stages.consolidate import crystallise
from lakatos.flows.stages.inherit import admit_winners
from lakatos.flows.stages.judging.seats import seat_judges
from lakatos.flows.stages.verdict.conclude import conclude, open_sealed
from lakatos.flows.stages.verdict.confirm import confirm
from lakatos.flows.stages.verdict.effects import compare_by_group, learn_effects_of_people
from lakatos.flows.stages.verdict.relearn import relearn
from lakatos.flows.stages.verdict.sensitivity import compare_exclusions
from lakatos.theories.engine.scoring.score import telling
from lakatos.theories.findings.verdicts.record import CampaignConcluded, FoldFinished
from lakatos.traces.digest import Digest
from lakatos.traces.fold import canonical_digest
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural


@flow(name="campaign")
async def run_campaign(run: Run) -> Recorded[CampaignConcluded] | AnswersAwaited:
    """Carry a campaign on from wherever its trace ends, up to its verdict, or until people have to be waited for."""
    try:
        return await carry_on(run)
    finally:
        await run.close_pass()


async def carry_on(run: Run) -> Recorded[CampaignConcluded] | AnswersAwaited:
    """Do the work of `run_campaign`, which closes the connections of the run when this ends."""
    settings = run.config
    run.progress.start(settings.question, settings.stop.cycles)
    begin(run)
    _say_of_file(run)
    run.sign()  # before anything costs money, so that a key that cannot be made is missed now
    run.note_machine()
    await check_models(run)
    await check_participant(run)
    await seed_pool(run)
    await seat_judges(run)
    await take_library(run)
    await admit_winners(run)
    for cycle in range(1, settings.stop.cycles + 1):
        closed = await run_cycle(run, cycle)
        run.sign()
        if isinstance(closed, AnswersAwaited):
            run.progress.finish(closed.text)
            return closed
        if closed.record.stop:
            run.progress.note(f"stopped: {closed.record.stop}")
            break
    confirmed = await confirm(run)
    if isinstance(confirmed, AnswersAwaited):
        run.sign()
        run.progress.finish(confirmed.text)
        return confirmed
    await compare_exclusions(run)
    await compare_by_group(run)
    await learn_effects_of_people(run)
    await open_sealed(run)
    for fold in range(settings.validation.folds):
        await run_fold(run, fold)
    record_analyses(run)
    concluded = await conclude(run)
    await relearn(run)
    run.show_leaderboard()  # by the names that the verdict uses
    await crystallise(run)
    run.sign()
    run.progress.finish(concluded.record.text)
    return concluded


def _say_of_file(run: Run) -> None:
    """Say which responses there are, what was left out of their file, and whether the study can use all of them."""
    source, config, progress = run.source, run.config, run.progress
    if not source.n_answers:
        return
    for line in config.participants.told:
        progress.note(f"the file: {line}")
    n_all, n_open = source.n_answers, source.n_open
    sealed = f", {n_all - n_open:,} of them sealed until the verdict" if n_open < n_all else ""
    progress.note(f"{plural(n_all, 'response')} available{sealed}")
    if run.domain.sequential:
        return
    n_trials = [len(offer.stimuli) for offer in source.offers(np.random.default_rng(0), n_all)]
    n_designs = config.stop.cycles * config.design.per_cycle
    if n_trials and len(n_trials) <= n_designs:
        enough = trials_to_use_all(n_trials, n_designs)
        if config.design.trials < enough:
            progress.note(
                f"{plural(n_designs, 'experiment')} of {config.design.trials} trials do not use all of the "
                f"{sum(n_trials):,} different ones: design.trials = {enough} would"
            )


@task(name="fold")
async def run_fold(run: Run, fold: int) -> Recorded[FoldFinished]:
    """Run the whole loop with one fold of trials sealed, in a run of its own, and test what it ends with on them."""
    settings = run.config
    n_folds = settings.validation.folds
    run.progress.stage(len(run.state.campaign.cycles), "fold", f"{fold + 1} of {n_folds}")
    folder = f"folds/{fold + 1:02d}"

    async def work(context: StepContext) -> FoldFinished:
        (trials,) = archive_trials(settings, run.data, run.trace.artifacts)
        rows = fold_rows(identities(run.domain, trials.stimuli), n_folds, settings.seed)[fold]
        own, place = study_of_fold(settings, fold), run.folder / folder
        if has_run(place):
            child = open_run(place, data=run.data, n_workers=run.n_workers)
        else:
            sealed_rows = {trials.experiment: rows}
            child = create_run(
                own, place, data=run.data, n_workers=run.n_workers, sealed_rows=sealed_rows,
                kept=run.trace.artifacts,
            )  # fmt: skip
        with child:
            concluded = await run_campaign(child)
            assert not isinstance(
                concluded, AnswersAwaited
            )  # answers of an archive are there at once
            return await asyncio.to_thread(
                examine_fold, child, concluded.record.leader, fold, folder, rows
            )

    assert run.state.campaign.started is not None
    return await run.step(
        "fold",
        work,
        returns=FoldFinished,
        inputs=[run.state.campaign.started.digest],
        position={"fold": fold},
    )


def study_of_fold(settings: CampaignConfig, fold: int) -> CampaignConfig:
    """The study of a fold's own run: as the whole, with a seed of its own, and nothing sealed by lot or inherited.

    Args:
        settings: The whole study.
        fold: Number of the fold, from 0.
    """
    value = settings.model_dump(mode="json")
    value |= {
        "name": f"{settings.name[:50]}-fold-{fold + 1}",
        "seed": settings.seed * 1000 + fold + 1,
    }
    value["validation"] |= {"folds": 0, "sealed_share": 0.0, "sealed_participants": 0.0}
    # What one fold found was fitted to the trials that another one seals.
    value["memory"] = {**value.get("memory", {}), "winners": False}
    return CampaignConfig.model_validate(value)


def examine_fold(
    child: Run, leader: Digest, fold: int, folder: str, rows: Sequence[int]
) -> FoldFinished:
    """Predict the sealed trials: by the theory the loop ended with, and by published ones fitted to what it saw."""
    assert child.state.experiments.sealed is not None
    (sealed,) = [child.trials_of(digest) for digest in child.state.experiments.sealed.record.trials]
    theories, n_draws = child.config.theories, child.config.theories.draws
    programs = {name: child.family.program(name).digest for name in theories.seeds}
    found = {
        name: telling(
            child.laboratory.proportions(child.theory(digest), sealed.stimuli, n_draws)
        ).ravel()
        for name, digest in programs.items()
        if digest in child.state.theories.fits
    }
    winner = child.theory(leader)
    return FoldFinished(
        fold=fold,
        run=folder,
        form=canonical_digest(child.trace.journal.events()),
        leader_name=winner.name,
        claim=winner.claim,
        rows=tuple(rows),
        observed=tuple(telling(sealed.proportions).ravel().tolist()),
        predicted=tuple(
            telling(child.laboratory.proportions(winner, sealed.stimuli, n_draws)).ravel().tolist()
        ),
        baselines={name: tuple(values.tolist()) for name, values in found.items()},
    )


def fold_rows(keys: Sequence[bytes], n_folds: int, seed: int) -> list[list[int]]:
    """Rows of every fold: a random partition of distinct trials into parts that differ by one at most.

    Args:
        keys: One per trial; trials with equal keys, such as mirror images, come into the same fold.
        n_folds: Parts.
        seed: Chooses the partition.
    """
    distinct = list(dict.fromkeys(keys))
    order = np.random.default_rng(seed).permutation(len(distinct))
    parts = [{distinct[place] for place in part} for part in np.array_split(order, n_folds)]
    return [[row for row, key in enumerate(keys) if key in part] for part in parts]
