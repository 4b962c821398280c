"""Stage: choose an experiment that tells the leading rivals apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import ArchiveExhaustedError
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.planning.offers import (
    most_informative_first,
    ranked_schedules,
    with_schedules,
    without_forbidden,
)
from lakatos.experiments.planning.plan import PlannedDesign, plan_design
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.trials import asked_whole, choose_from
from lakatos.experiments.record import DesignChosen
from lakatos.experiments.task import Design, Stimuli, StimulusOffer
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.discovery.rivals import design_question, leading_rivals
from lakatos.traces.digest import Digest
from lakatos.traces.plugin_table import PluginTable
from lakatos.traces.step import Recorded, StepContext
from lakatos.traces.wording import plural

Array = NDArray[Any]
TellsPower = Callable[[RunEvidence, Digest, Design, np.random.Generator], str]
COMPARISONS: Final[PluginTable[TellsPower]] = PluginTable(
    {
        "groups": "lakatos.flows.stages.comparison_power:power_for_groups",
        "effects": "lakatos.flows.stages.comparison_power:power_for_effects",
    }
)
"""Functions that state how often a design would show the differences between people that a study tests, by setting."""


@task(name="design")
async def design(run: Run, cycle: int, number: int) -> Recorded[DesignChosen]:
    """Search a design for the leading rivals and check by simulation that it can tell them apart."""
    names = leading_rivals(run.evidence)
    run.progress.stage(
        cycle, "design", f"experiment {cycle}.{number} for {plural(len(names), 'theory')}"
    )
    run.progress.rivals([run.state.theories.name(name) for name in names])
    inputs = [run.state.theories.pool[name].digest for name in names]
    inputs += [item.digest for item in run.state.experiments.collected.values()]
    inputs += run.state.theories.score_records(names, run.state.experiments.collected)
    return await run.step(
        "design",
        lambda context: search_design(run.evidence, run.source, context, cycle, number, names),
        returns=DesignChosen,
        inputs=inputs,
        position={"cycle": cycle, "number": number},
    )


def search_design(
    evidence: RunEvidence,
    source: ParticipantSource,
    context: StepContext,
    cycle: int,
    number: int,
    names: Sequence[Digest],
) -> DesignChosen:
    """Look at every offer, choose trials by expected information, keep the most informative offer with power."""
    question = design_question(evidence, names)
    offers = _offers(question, source, context, cycle)
    searched: list[tuple[StimulusOffer, Array | None]] = [(offer, None) for offer in offers]
    if evidence.domain.sequential:
        searched = [*ranked_schedules(question, offers, context.rng)]
    elif len(offers) > 1:
        best_first = most_informative_first(question, offers, context.rng)
        searched = [(offer, None) for offer in best_first]
    best = _planned(question, searched, (cycle, number), context.rng)
    groups = ""
    if not best.offer.pooled:
        wanted = [name for name in COMPARISONS if getattr(evidence.config.validation, name)]
        powers = [
            COMPARISONS[name](evidence, names[0], best.design, context.rng) for name in wanted
        ]
        groups = " ".join(text for text in powers if text)
    return _chosen(evidence.config, context, best, (cycle, number), names, groups)


def _planned(
    question: DesignQuestion,
    offers: Sequence[tuple[StimulusOffer, Array | None]],
    position: tuple[int, int],
    rng: np.random.Generator,
) -> PlannedDesign:
    """The design of the first offer that has the power, else of the last that was looked at."""
    proposed = question.settings.proposed if position == (1, 1) else {}
    best: PlannedDesign | None = None
    for offer, people in offers:
        chosen = (
            asked_whole(Stimuli.from_json(proposed))
            if proposed
            else choose_from(question, offer, rng)
        )
        number = f"{position[0]}.{position[1]}"
        best = plan_design(question, number, offer, chosen, people, rng)
        if best.accepted:
            break
    assert best is not None
    return best


def _chosen(
    config: CampaignConfig,
    context: StepContext,
    best: PlannedDesign,
    position: tuple[int, int],
    names: Sequence[Digest],
    groups: str,
) -> DesignChosen:
    """The record of a design."""
    accepted, reason = best.accepted, best.reason
    if not accepted and config.design.refused == "cover":
        accepted, reason = (
            True,
            f"Accepted in spite of its power, as the study permits: {reason.removeprefix('Refused: ')}",
        )
    plan = best.design
    return DesignChosen(
        cycle=position[0],
        number=position[1],
        experiment=plan.name,
        design=context.artifacts.put_json(design_to_json(plan)),
        rivals=tuple(names),
        n_candidates=best.n_candidates,
        n_trials=len(plan.stimuli),
        repetitions=plan.repetitions,
        n_participants=plan.n_participants,
        n_random=len(plan.random_coverage),
        archive=plan.archive,
        n_answers=best.n_answers,
        information=tuple(0.0 if np.isnan(value) else value for value in plan.information),
        powers=best.powers,
        accepted=accepted,
        reason=reason,
        total_information=best.information.value,
        total_information_error=best.information.standard_error,
        cost=best.cost,
        looks=() if best.stopping is None else best.stopping.looks,
        bayes_factor=0.0 if best.stopping is None else best.stopping.bayes_factor,
        stopping=best.stopping_text,
        groups=groups,
    )


def _offers(
    question: DesignQuestion, source: ParticipantSource, context: StepContext, cycle: int
) -> list[StimulusOffer]:
    """Trials that can be presented and that the study does not forbid."""
    settings = question.settings
    offers = list(source.offers(context.rng, max(settings.candidates, settings.trials)))
    if not offers:
        raise ArchiveExhaustedError(
            f"no unused responses are left for cycle {cycle}; ask for fewer cycles or fewer trials in each."
        )
    if question.domain.sequential:
        return with_schedules(question, offers, context.rng)
    return without_forbidden(question, offers)
