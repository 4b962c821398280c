"""Stage: choose an experiment that tells the leading rivals apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.design import design_to_json
from lakatos.experiments.errors import ArchiveExhaustedError, EmptyDesignSpaceError
from lakatos.experiments.information import (
    information_of_batch,
    information_of_people,
    pair_prior,
)
from lakatos.experiments.participants.source import ParticipantSource
from lakatos.experiments.proposal import are_forbidden
from lakatos.experiments.record import DesignChosen
from lakatos.experiments.task import Domain, Stimuli, StimulusOffer, identities, with_random_sides
from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.plan import (
    DESIGN_DRAWS,
    FEW_PEOPLE,
    PEOPLE,
    DesignQuestion,
    DesignRival,
    PlannedDesign,
    choose_from,
    plan_design,
    simulated_people,
)
from lakatos.flows.stages.weigh import weigh_proposals
from lakatos.theories.errors import TheoryError
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.record import UnitLogPredictives
from lakatos.theories.scoring.score import is_tie
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

Array = NDArray[Any]
FINALISTS = 4
"""Schedules that are left after a first look."""
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
    inputs += [
        run.state.theories.scores[name, item].digest
        for name in names
        for item in run.state.experiments.collected
    ]
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


def answers_apart(own: Array, other: Array, n_outcomes: int = 0) -> float:
    """Root mean square difference of predicted proportions.

    Of a scale with many outcomes each has a small share, so that differences of shares say little: there it is the
    share of answers that would be another outcome, over trials, which for two options is the same number.

    Args:
        own: Proportions of every trial's options, or of the last of two options.
        other: Those of another theory.
        n_outcomes: Of the scale; 0 where answers are options.
    """
    gaps = np.abs(own - other)
    if n_outcomes:
        gaps = 0.5 * gaps.reshape(-1, n_outcomes).sum(axis=1)
    return float(np.sqrt(np.mean(gaps**2)))


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
        apart = max(
            apart, _apart_along_sequences([a.left_out for a in own], [b.left_out for b in other])
        )
    return apart


def _apart_along_sequences(
    first: Sequence[UnitLogPredictives], second: Sequence[UnitLogPredictives]
) -> float:
    """Difference of probabilities that would explain how people's log scores differ.

    At even odds a log ratio of two answers' probabilities has the variance ``4 d**2`` when they differ by ``d``.
    """
    squared = np.concatenate(
        [
            np.subtract(a.log_predictive, b.log_predictive) ** 2
            for a, b in zip(first, second, strict=True)
        ]
    )
    n_choices = np.concatenate([np.asarray(item.n_choices) for item in first])
    return float(0.5 * np.sqrt(squared.sum() / n_choices.sum()))


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
    rivals = [DesignRival(name, evidence.theory(name)) for name in names]
    question = _question(evidence.state, evidence.config, rivals)
    offers = [
        _with_proposals(evidence.state, evidence.domain, context, item, cycle, number)
        for item in _offers(evidence, source, context, cycle)
    ]
    people: list[Array | None] = [None] * len(offers)
    if evidence.domain.sequential:
        offers, people = _schedules(evidence.laboratory, context, question, offers)
    elif len(offers) > 1:
        offers = _most_informative_first(evidence.laboratory, context, question, offers)
    best: PlannedDesign | None = None
    name = f"{cycle}.{number}"
    for offer, scores in zip(offers, people, strict=True):
        proposed = bool(evidence.config.design.proposed) and (cycle, number) == (1, 1)
        chosen = choose_from(evidence, context, question, offer, proposed=proposed)
        planned = plan_design(evidence, context, name, question, offer, chosen, scores)
        if best is None or planned.accepted:
            best = planned
        if planned.accepted:
            break
    assert best is not None
    proposals = [
        item for item in evidence.state.roles.proposals(cycle, number) if item.record.answer
    ]
    best, weighed = weigh_proposals(evidence, context, question, offers, best, proposals)
    accepted, reason = best.accepted, best.reason
    if not accepted and evidence.config.design.refused == "cover":
        accepted, reason = True, f"Accepted as coverage only. {reason}"
    plan = best.design
    return DesignChosen(
        cycle=cycle,
        number=number,
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


def _question(
    state: RunState, config: CampaignConfig, rivals: Sequence[DesignRival]
) -> DesignQuestion:
    """Which pairs are open, and whether all rivals count or the two best that are not told apart."""
    every = list(combinations(range(len(rivals)), 2))
    pairs = [
        (a, b) for a, b in every if not _decided(state, rivals[a].digest, rivals[b].digest)
    ] or every
    log_prior = np.full(len(rivals), -np.log(len(rivals)))
    if config.design.focus == "leaders":
        pairs = pairs[:1]
        log_prior = pair_prior(len(rivals), pairs[0])
    return DesignQuestion(tuple(rivals), tuple(pairs), log_prior)


def _offers(
    evidence: RunEvidence, source: ParticipantSource, context: StepContext, cycle: int
) -> list[StimulusOffer]:
    """What can be asked, without what the study forbids."""
    settings = evidence.config.design
    n_most = max(settings.candidates, settings.trials)
    offers = list(source.offers(context.rng, n_most))
    if not offers:
        raise ArchiveExhaustedError(
            f"no unused answers are left for cycle {cycle}; ask for fewer cycles or fewer trials in each."
        )
    if evidence.domain.sequential:
        if not offers[0].archive:  # schedules can be made at will
            drawn = [
                evidence.domain.candidates(evidence.config.space, context.rng, settings.candidates)
                for _ in range(settings.schedules - len(offers))
            ]
            offers = [
                *offers[: settings.schedules],
                *(replace(offers[0], stimuli=stimuli) for stimuli in drawn),
            ]
        return offers
    allowed = [
        np.flatnonzero(~are_forbidden(evidence.domain, offer.stimuli, settings.forbidden))
        for offer in offers
    ]
    kept = [
        replace(offer, stimuli=offer.stimuli.take(rows))
        for offer, rows in zip(offers, allowed, strict=True)
        if len(rows)
    ]
    if not kept:
        raise EmptyDesignSpaceError(
            f"the study forbids every trial that could be asked ({'; '.join(settings.forbidden)}). Allow some."
        )
    return kept


def _with_proposals(
    state: RunState,
    domain: Domain,
    context: StepContext,
    offer: StimulusOffer,
    cycle: int,
    number: int,
) -> StimulusOffer:
    """An offer to new people with the trials that the laboratory's own inquiries proposed and simulation bore out."""
    proposals = [
        item for item in state.roles.proposals(cycle, number) if item.record.answer is None
    ]
    if offer.archive or not proposals:
        return offer
    tables = [item.record.trials for item in proposals if item.record.trials]
    found = [Stimuli.from_json(context.artifacts.get_json(table)) for table in tables]
    stimuli = with_random_sides(domain, Stimuli.concatenate(found), context.rng)
    there = set(identities(domain, offer.stimuli))
    new = {key: row for row, key in enumerate(identities(domain, stimuli)) if key not in there}
    if not new:
        return offer
    return replace(
        offer, stimuli=Stimuli.concatenate([offer.stimuli, stimuli.take(sorted(new.values()))])
    )


def _most_informative_first(
    laboratory: Laboratory,
    context: StepContext,
    question: DesignQuestion,
    offers: list[StimulusOffer],
) -> list[StimulusOffer]:
    """Offers in the order of what all their trials together would say."""
    answers = laboratory.answers_of(
        question.theories, [offer.stimuli for offer in offers], DESIGN_DRAWS
    )
    values = [
        information_of_batch(
            [own[place] for own in answers],
            question.log_prior,
            rng=context.rng,
            n_people=200,
        ).value
        for place in range(len(offers))
    ]
    return [
        offers[place]
        for place in sorted(range(len(offers)), key=lambda place: (-values[place], place))
    ]


def _schedules(
    laboratory: Laboratory,
    context: StepContext,
    question: DesignQuestion,
    offers: list[StimulusOffer],
) -> tuple[list[StimulusOffer], list[Array | None]]:
    """Schedules in the order of what they say, with simulated people; many are first tried on a few people each."""

    def ranked(schedules: list[StimulusOffer], n_people: int) -> list[tuple[StimulusOffer, Array]]:
        scores = [
            simulated_people(laboratory, context, question, offer.stimuli, 1, n_people)
            for offer in schedules
        ]
        values = [information_of_people(item, question.log_prior).value for item in scores]
        order = sorted(range(len(schedules)), key=lambda place: (-values[place], place))
        return [(schedules[place], scores[place]) for place in order]

    if len(offers) > FINALISTS:
        offers = [offer for offer, _ in ranked(offers, FEW_PEOPLE)[:FINALISTS]]
    found = ranked(offers, PEOPLE)
    return [offer for offer, _ in found], [scores for _, scores in found]


def _decided(state: RunState, first: Digest, second: Digest) -> bool:
    """Whether frozen predictions have already told two theories apart."""
    found = state.frozen_advantage(first, second)
    return found is not None and not is_tie(found[0])
