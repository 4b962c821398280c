"""Stage: choose an experiment that tells the leading rivals apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import ArchiveExhaustedError
from lakatos.experiments.information import pair_prior
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.planning.offers import (
    most_informative_first,
    ranked_schedules,
    with_schedules,
    with_trials,
    without_forbidden,
)
from lakatos.experiments.planning.plan import PlannedDesign, plan_design
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.trials import asked_whole, choose_from
from lakatos.experiments.planning.weigh import DesignProposal, weigh_proposals
from lakatos.experiments.proposal import are_forbidden
from lakatos.experiments.record import DesignChosen, ProposalWeighed
from lakatos.experiments.task import Domain, Stimuli, StimulusOffer, with_random_sides
from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.design_rivals import DESIGN_DRAWS, RivalTheories
from lakatos.theories.errors import TheoryError
from lakatos.theories.scoreboard import frozen_advantage
from lakatos.theories.scoring.apart import answers_apart, apart_along_sequences
from lakatos.theories.scoring.score import is_tie
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[Any]
DISTINCT = 0.02
"""Root mean square distance of choice proportions at which two theories count as different rivals."""
ELSEWHERE = 400
"""Trials of the space on which theories that predict the same so far may differ."""


@task(name="design")
async def design(run: Run, cycle: int, number: int) -> Recorded[DesignChosen]:
    """Search a design for the leading rivals and check by simulation that it can tell them apart."""
    names = leading_rivals(run.evidence)
    run.progress.stage(cycle, "design", f"experiment {number} for {len(names)} rivals")
    run.progress.rivals([run.state.theories.name(name) for name in names])
    inputs = [run.state.theories.pool[name].digest for name in names]
    inputs += [item.digest for item in run.state.experiments.collected.values()]
    inputs += run.state.theories.score_records(names, run.state.experiments.collected)
    inputs += [item.digest for item in run.state.roles.proposals(cycle, number)]
    return await run.step(
        "design",
        lambda context: search_design(run.evidence, run.source, context, cycle, number, names),
        returns=DesignChosen,
        inputs=inputs,
        position={"cycle": cycle, "number": number},
    )


def leading_rivals(evidence: RunEvidence) -> list[Digest]:
    """The best theories that differ in what they predict, and the best first rival among them."""
    most = evidence.config.theories.rivals
    board = evidence.state.board()
    if not board.standings:
        return list(evidence.state.theories.pool)[:most]
    ranked = [line.theory for line in board.standings]
    chosen: list[Digest] = []
    differ = differing(evidence)
    for name in ranked:
        if all(differ(name, other) for other in chosen):
            chosen.append(name)
        if len(chosen) == most:
            break
    best_seed = next((name for name in ranked if name in evidence.state.seeds), None)
    if best_seed is not None and best_seed not in chosen:
        chosen = [*chosen[: most - 1], best_seed]
    if len(chosen) < 2:
        chosen += [name for name in ranked if name not in chosen][:1]
    return chosen


def differing(evidence: RunEvidence) -> Callable[[Digest, Digest], bool]:
    """Tells whether two theories predict differently, on the trials so far or on others that may be asked.

    Rules that explain all answers equally well and part where nobody was asked yet are what an experiment is for.
    """
    drawn = sample_of_space(evidence, np.random.default_rng(evidence.config.seed), ELSEWHERE)
    sample = drawn.take(
        np.flatnonzero(~are_forbidden(evidence.domain, drawn, evidence.config.design.forbidden))
    )

    @cache
    def elsewhere(name: Digest) -> Array | None:
        if evidence.domain.sequential or evidence.theory(name).learns or not len(sample):
            return None
        try:
            return evidence.laboratory.proportions(evidence.theory(name), sample, DESIGN_DRAWS)
        except TheoryError:
            return None

    def differ(first: Digest, second: Digest) -> bool:
        if distance(evidence, first, second) >= DISTINCT:
            return True
        own, other = elsewhere(first), elsewhere(second)
        return (
            own is not None
            and other is not None
            and answers_apart(own, other, _n_outcomes(evidence.domain)) >= DISTINCT
        )

    return differ


def _n_outcomes(domain: Domain) -> int:
    scale = scale_of(domain)
    return 0 if scale is None else scale.n_outcomes


def distance(evidence: RunEvidence, first: Digest, second: Digest) -> float:
    """How far two theories' choice proportions are apart on the trials so far; see `answers_apart`."""
    own, other = (
        [
            evidence.state.theories.scores[theory, name].record
            for name in evidence.state.experiments.collected
        ]
        for theory in (first, second)
    )
    mean, others = (np.concatenate([item.proportions for item in score]) for score in (own, other))
    apart = answers_apart(mean, others, _n_outcomes(evidence.domain))
    if any(
        evidence.theory(theory).learns for theory in (first, second)
    ):  # they may differ along sequences alone
        left_out = [[item.left_out for item in score] for score in (own, other)]
        first_log, second_log = (
            [np.asarray(item.log_predictive) for item in score] for score in left_out
        )
        n_choices = [np.asarray(item.n_choices) for item in left_out[0]]
        apart = max(apart, apart_along_sequences(first_log, second_log, n_choices))
    return apart


def sample_of_space(evidence: RunEvidence, rng: np.random.Generator, n_most: int) -> Stimuli:
    """Trials on which theories can be compared: of the study's space, or of the largest archived experiment so far."""
    if evidence.config.participants.source != "archival":
        return with_random_sides(
            evidence.domain, evidence.domain.candidates(evidence.config.space, rng, n_most), rng
        )
    largest = max(
        (evidence.trials(name).stimuli for name in evidence.state.experiments.collected), key=len
    )
    return (
        largest
        if evidence.domain.sequential
        else largest.take(np.sort(rng.permutation(len(largest))[:n_most]))
    )


def trials_of_study(evidence: RunEvidence, source: ParticipantSource, n_most: int = 200) -> Stimuli:
    """Trials of the study on which a theory must keep its word: those asked so far, and others that may be asked."""
    rng = np.random.default_rng(evidence.config.seed)
    parts = [
        evidence.trials(name).stimuli
        for name in reversed(list(evidence.state.experiments.collected))
    ]
    if evidence.config.participants.source != "archival":
        parts.append(sample_of_space(evidence, rng, n_most))
    elif not parts:
        offered = [offer.stimuli for offer in source.offers(rng, n_most)]
        parts = [max(offered, key=len)]
    if evidence.domain.sequential:
        return parts[0]
    forms = [{name: array.shape[1:] for name, array in part.arrays.items()} for part in parts]
    alike = [part for part, form in zip(parts, forms, strict=True) if form == forms[0]]
    share = -(-n_most // len(alike))
    return Stimuli.concatenate(
        [part.take(np.sort(rng.permutation(len(part))[:share])) for part in alike]
    )


def people_of_study(config: CampaignConfig) -> int:
    """As many people as are asked together, about, where the study leaves it to the power of a design."""
    return config.design.participants or 25


def search_design(
    evidence: RunEvidence,
    source: ParticipantSource,
    context: StepContext,
    cycle: int,
    number: int,
    names: Sequence[Digest],
) -> DesignChosen:
    """Look at every offer, choose trials by expected information, keep the most informative offer with power."""
    question = _question(evidence, names)
    offers = _offers(evidence, question, source, context, cycle, number)
    searched: list[tuple[StimulusOffer, Array | None]] = [(offer, None) for offer in offers]
    if evidence.domain.sequential:
        searched = [*ranked_schedules(question, offers, context.rng)]
    elif len(offers) > 1:
        best_first = most_informative_first(question, offers, context.rng)
        searched = [(offer, None) for offer in best_first]
    own = _planned(question, searched, (cycle, number), context.rng)
    proposals = _proposals_of_roles(evidence.state, context, cycle, number)
    best, weighed = weigh_proposals(
        question, [offer for offer, _ in searched], own, proposals, context.rng
    )
    return _chosen(evidence.config, context, best, weighed, (cycle, number), names)


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
    weighed: tuple[ProposalWeighed, ...],
    position: tuple[int, int],
    names: Sequence[Digest],
) -> DesignChosen:
    """The record of a design."""
    accepted, reason = best.accepted, best.reason
    if not accepted and config.design.refused == "cover":
        accepted, reason = True, f"Accepted as coverage only. {reason}"
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
        weighed=weighed,
    )


def _question(evidence: RunEvidence, names: Sequence[Digest]) -> DesignQuestion:
    """Which pairs are open, and whether all rivals count or the two best that are not told apart."""
    theories = [evidence.theory(name) for name in names]
    every = list(combinations(range(len(names)), 2))
    pairs = [(a, b) for a, b in every if not _decided(evidence.state, names[a], names[b])] or every
    log_prior = np.full(len(names), -np.log(len(names)))
    if evidence.config.design.focus == "leaders":
        pairs = pairs[:1]
        log_prior = pair_prior(len(names), pairs[0])
    return DesignQuestion(
        domain=evidence.domain,
        space=evidence.config.space,
        settings=evidence.config.design,
        rivals=RivalTheories(evidence.laboratory, theories),
        digests=tuple(names),
        names=tuple(evidence.state.theories.name(name) for name in names),
        open_pairs=tuple(pairs),
        log_prior=log_prior,
    )


def _offers(
    evidence: RunEvidence,
    question: DesignQuestion,
    source: ParticipantSource,
    context: StepContext,
    cycle: int,
    number: int,
) -> list[StimulusOffer]:
    """What can be asked, with the trials that the laboratory's own inquiries proposed and simulation bore out."""
    settings = question.settings
    offers = list(source.offers(context.rng, max(settings.candidates, settings.trials)))
    if not offers:
        raise ArchiveExhaustedError(
            f"no unused answers are left for cycle {cycle}; ask for fewer cycles or fewer trials in each."
        )
    if question.domain.sequential:
        offers = with_schedules(question, offers, context.rng)
    else:
        offers = without_forbidden(question, offers)
    asked = [
        item.record.trials
        for item in evidence.state.roles.proposals(cycle, number)
        if item.record.answer is None
    ]
    tables = [Stimuli.from_json(context.artifacts.get_json(trials)) for trials in asked if trials]
    if not asked:
        return offers
    return [
        offer if offer.archive else with_trials(question.domain, offer, tables, context.rng)
        for offer in offers
    ]


def _proposals_of_roles(
    state: RunState, context: StepContext, cycle: int, number: int
) -> list[DesignProposal]:
    """Trials that language models proposed and that passed their checks."""
    found = [item for item in state.roles.proposals(cycle, number) if item.record.answer]
    return [
        DesignProposal(
            item.digest,
            item.record.archive,
            Stimuli.from_json(context.artifacts.get_json(item.record.trials)),
            (item.record.theory, item.record.rival),
        )
        for item in found
        if item.record.trials
    ]


def _decided(state: RunState, first: Digest, second: Digest) -> bool:
    """Whether frozen predictions have already told two theories apart."""
    found = frozen_advantage(state.theories, state.experiments, first, second)
    return found is not None and not is_tie(found[0])
