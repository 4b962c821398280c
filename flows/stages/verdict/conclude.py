"""Stage: the verdict, on data that the loop has not seen where there are any."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from lakatos.experiments.data_sets import data_set_of
from lakatos.experiments.record import SealedOpened
from lakatos.flows.run.parts import task
from lakatos.flows.run.progress import clean
from lakatos.flows.run.records import CodeAccepted
from lakatos.flows.run.run import Run, code_changes_in_words
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.inherit import say_of_library
from lakatos.flows.stages.score import step_or_fail
from lakatos.flows.stages.verdict.unmeasured import say_of_memorising
from lakatos.theories.engine.record import (
    CompletenessMeasured,
    SealedScored,
    TheoriesTold,
    UnitLogPredictives,
)
from lakatos.theories.engine.scoring.score import ExperimentEvidence, log_predictive, squared_errors
from lakatos.theories.findings.verdicts import truth as truths
from lakatos.theories.findings.verdicts.company import measure_company
from lakatos.theories.findings.verdicts.conclude import conclude_from, in_new_names
from lakatos.theories.findings.verdicts.record import (
    CampaignConcluded,
    TheoriesMapped,
    TruthCompared,
)
from lakatos.theories.findings.verdicts.tell import tell_of
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext


@task(name="open_sealed")
async def open_sealed(run: Run) -> Recorded[SealedOpened] | None:
    """Open the sealed responses of an archive, once the loop has ended."""
    trials, people = list(run.source.sealed()), list(run.source.sealed_participants())
    if not trials and not people:
        return None

    def work(context: StepContext) -> SealedOpened:
        names = [item.experiment for item in trials]
        names += [f"{item.experiment}, new people" for item in people]
        sealed = trials + people
        return SealedOpened(
            experiments=tuple(names),
            trials=tuple(context.artifacts.put_json(item.to_json()) for item in sealed),
            n_trials=sum(len(item.stimuli) for item in sealed),
            n_responses=sum(item.n_responses for item in sealed),
            of_people=tuple(place >= len(trials) for place in range(len(sealed))) if people else (),
        )

    return await run.step(
        "open_sealed", work, returns=SealedOpened, inputs=[run.state.campaign.cycles[-1].digest]
    )


@task(name="score_sealed")
async def score_sealed(run: Run) -> None:
    """Score all rivals on the sealed responses, with the people that the open ones taught; one that fails is out."""
    opened = run.state.experiments.sealed
    if opened is None:
        return
    trials = [run.trials_of(digest) for digest in opened.record.trials]
    n_draws = run.config.theories.draws

    def tell(evidence: ExperimentEvidence) -> tuple[UnitLogPredictives, tuple[float, ...]]:
        squared = squared_errors(evidence.probabilities.mean(axis=0), evidence.trials)
        return UnitLogPredictives.of(log_predictive(evidence)), tuple(squared.tolist())

    def score(name: Digest, context: StepContext) -> SealedScored:
        evidence = run.laboratory.tell_evidence(run.theory(name), trials, n_draws, tell)
        return SealedScored(
            theory=name,
            experiments=opened.record.experiments,
            n_draws=n_draws,
            scores=tuple(scores for scores, _ in evidence),
            squared=tuple(squared for _, squared in evidence),
        )

    for name in list(run.state.theories.pool):
        inputs = [
            opened.digest,
            run.state.theories.checked[name].digest,
            *run.state.theories.fit_records([name]),
        ]
        await step_or_fail(
            run, name, "score_sealed", partial(score, name), SealedScored, inputs, {}
        )


@task(name="tell_theories")
async def tell_theories(run: Run) -> Recorded[TheoriesTold]:
    """Name all rivals for what was learned about people, and try what the leader says."""
    names = [line.theory for line in run.state.board().standings]
    collected, scores = run.state.experiments.collected, run.state.theories.sealed_scores
    inputs = [item.digest for item in collected.values()]
    inputs += [run.state.theories.checked[name].digest for name in names]
    inputs += [scores[name].digest for name in names if name in scores]
    inputs += run.state.theories.fit_records(names)

    def work(context: StepContext) -> TheoriesTold:
        return tell_of(run.evidence, names)

    return await run.step("tell_theories", work, returns=TheoriesTold, inputs=inputs)


@task(name="measure_completeness")
async def measure_completeness(run: Run) -> Recorded[CompletenessMeasured] | None:
    """Measure how much of what generic learners predict each rival and published theory of the domain predicts.

    All of them learn from the same open responses and predict the same others: sealed ones, or parts left out in turn.

    Returns:
        What was found, or None where the study asks for no company.
    """
    if not run.config.validation.comparison_models:
        return None
    names = [line.theory for line in run.state.board().standings]
    inputs = [item.digest for item in run.state.experiments.collected.values()]
    inputs += run.state.theories.score_records(names, run.state.experiments.collected)
    inputs += [
        run.state.theories.sealed_scores[name].digest
        for name in names
        if name in run.state.theories.sealed_scores
    ]
    inputs += run.state.theories.fit_records(names)

    def work(context: StepContext) -> CompletenessMeasured:
        return measure_company(run.evidence, names, context.artifacts)

    return await run.step("measure_completeness", work, returns=CompletenessMeasured, inputs=inputs)


@task(name="compare_truth")
async def compare_truth(run: Run) -> Recorded[TruthCompared] | None:
    """Measure how close the leader and the published theories came to the hidden rule, over all trials of the space."""
    hidden = run.hidden
    if hidden is None:
        return None
    first = [run.state.board().leader.theory, *run.state.seeds]
    names = list(dict.fromkeys([*first, *run.state.theories.pool]))

    def work(context: StepContext) -> TruthCompared:
        return truths.compare_with_truth(
            run.evidence,
            hidden,
            names,
            context.rng,
            random_choices=run.config.participants.random_choices,
        )

    inputs = [run.state.campaign.cycles[-1].digest, *run.state.theories.fit_records(names)]
    return await run.step("compare_truth", work, returns=TruthCompared, inputs=inputs)


@task(name="map_theories")
async def map_theories(run: Run) -> Recorded[TheoriesMapped] | None:
    """Lay out the pool's theories by what their people choose, on trials of the space."""
    names = list(run.state.theories.pool)
    if len(names) < 3:
        return None

    def work(context: StepContext) -> TheoriesMapped:
        return truths.map_theories(run.evidence, names, context.rng)

    inputs = [run.state.campaign.cycles[-1].digest, *run.state.theories.fit_records(names)]
    return await run.step("map", work, returns=TheoriesMapped, inputs=inputs)


@task(name="conclude")
async def conclude(run: Run) -> Recorded[CampaignConcluded]:
    """Say which theory leads, on what evidence, and by how much."""
    run.progress.stage(len(run.state.campaign.cycles), "verdict", "")
    opened = run.state.experiments.sealed
    await score_sealed(run)
    named = await tell_theories(run)
    company = await measure_completeness(run)
    truth = await compare_truth(run)
    await map_theories(run)
    inputs = [run.state.campaign.cycles[-1].digest]
    campaign = run.state.campaign
    further = (
        campaign.confirmation,
        campaign.sensitivity,
        run.state.theories.groups,
        run.state.theories.effects,
    )
    inputs += [
        item.digest for item in (opened, named, truth, company, *further) if item is not None
    ]
    inputs += [item.digest for item in run.state.theories.sealed_scores.values()]
    inputs += [fold.digest for fold in run.state.campaign.folds]
    inputs += run.state.theories.score_records(
        run.state.theories.pool, run.state.experiments.collected
    )
    changes = _code_changes(run, inputs)
    inputs += [item.digest for item in changes]

    comparisons = [
        in_new_names(run.state.theories, item.record.text) for item in further if item is not None
    ]
    leader = run.state.board().leader.theory
    comparisons += [*say_of_library(run.state, leader), *_whose(run.config), *_say_of_answers(run)]
    author = run.state.theories.checked[leader].record.author
    comparisons += say_of_memorising(
        author, run.state.experiments.tables, run.trace.artifacts, run.config
    )
    comparisons += code_changes_in_words(run.trace, changes, campaign.cycles)
    comparisons += _say_of_unasked(run.config, run.state.experiments.collected)
    comparisons += _say_of_failed_leaders(run.state)

    def work(context: StepContext) -> CampaignConcluded:
        return conclude_from(
            run.evidence,
            truth=truth.record if truth else None,
            folds=[fold.record for fold in campaign.folds],
            comparisons=comparisons,
            stop=campaign.cycles[-1].record.stop,
        )

    return await run.step("conclude", work, returns=CampaignConcluded, inputs=inputs)


def _code_changes(run: Run, inputs: list[Digest]) -> list[Recorded[CodeAccepted]]:
    """Accepted changes of code up to the verdict on this evidence; those after it computed nothing of it.

    Args:
        run: The campaign.
        inputs: Everything else that the verdict rests on.
    """
    changes = list(run.trace.records(CodeAccepted))
    for n_before in range(len(changes)):
        before = changes[:n_before]
        if run.trace.recorded("conclude", [*inputs, *(item.digest for item in before)]):
            return before
    return changes


def _say_of_answers(run: Run) -> list[str]:
    """State which part of the available responses was used, and how to use the rest; empty for new participants."""
    n_all = run.source.n_answers
    if not n_all:
        return []
    opened = run.state.experiments.sealed
    n_used = sum(int(run.trials(name).count.sum()) for name in run.state.experiments.collected)
    tables = opened.record.trials if opened is not None else ()
    n_sealed = sum(int(run.trials_of(table).count.sum()) for table in tables)
    sealed = f", {n_sealed:,} were sealed until the verdict" if n_sealed else ""
    words = f"Of {n_all:,} available responses, {n_used:,} were used in the search{sealed}"
    if (n_left := n_all - n_used - n_sealed) <= 0:
        return [f"{words}."]
    ended = run.state.campaign.cycles[-1].record.stop
    return [
        f"{words}, and {n_left:,} were not used because the search ended earlier ({ended}). More cycles (stop.cycles, "
        "stop.least_cycles) or more trials per cycle (design.trials) would use them."
    ]


def _say_of_failed_leaders(state: RunState) -> list[str]:
    """A sentence for each theory that led at the end of a cycle and then failed on responses."""
    led = {item.record.leader: item.record.cycle for item in state.campaign.cycles}
    return [
        f"{state.theories.name(item.record.theory)} led after cycle {led[item.record.theory]} and was removed because "
        f"it failed on the responses of experiment {item.record.experiment}: {clean(item.record.reason).rstrip('.')}."
        for item in state.theories.failed
        if item.record.theory in led
    ]


def _say_of_unasked(config: CampaignConfig, experiments: Iterable[str]) -> list[str]:
    """Data sets that the study names and that had no part, as the loop ended before they were asked."""
    named = config.participants.archives
    missing = [name for name in named if name not in set(map(data_set_of, experiments))]
    if len(named) < 2 or not missing:
        return []
    left = len(named) - len(missing)
    how = (
        ""
        if left > 1
        else " No data set could be held out, so single experiments determined the leading theory."
    )
    return [
        f"The search ended before data of {' and '.join(missing)} were used, so the result does not cover it.{how} "
        "More cycles (stop.cycles, stop.least_cycles) would include it."
    ]


def _whose(config: CampaignConfig) -> list[str]:
    """Said wherever the verdict is, where no people answered but a language model."""
    name = config.participants.model
    return (
        [f"All responses are those of the language model {name!r}, not of people."] if name else []
    )
