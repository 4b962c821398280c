"""How a design is made of an offer: which trials, how many people, and what simulation says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import both_sides, choose_trials
from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import (
    DesignInformation,
    information_of_batch,
    information_of_people,
    outcome_probabilities,
)
from lakatos.experiments.power import (
    Pair,
    PowerTable,
    find_n_of_people,
    find_n_participants,
    judge_design,
    power_of_people,
    recovery_power,
    scores_of_people,
)
from lakatos.experiments.proposal import are_forbidden, costs_of
from lakatos.experiments.record import PairPower
from lakatos.experiments.refinement import refine_trials
from lakatos.experiments.stopping import StoppingPlan, operate, plan_looks
from lakatos.experiments.task import Design, Domain, Stimuli, StimulusOffer, identities
from lakatos.experiments.variation import HasMoves
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.study import CampaignConfig
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.theory import Theory
from lakatos.traces.digest import Digest
from lakatos.traces.step import StepContext

Array = NDArray[Any]
DESIGN_DRAWS = 256
"""People per theory in a design search; the power check uses the same."""
CHUNK = 4096
"""Trials sent to a theory at once."""
PEOPLE, FEW_PEOPLE = 64, 16
"""Simulated people per theory, where answers depend on earlier ones: for the final power, and for a first look."""


@dataclass(frozen=True)
class DesignRival:
    """A theory in a design search, with the people that the answers so far have taught."""

    digest: Digest
    theory: Theory


@dataclass(frozen=True)
class DesignQuestion:
    """What an experiment is to decide."""

    rivals: tuple[DesignRival, ...]
    open_pairs: tuple[Pair, ...]
    """Pairs of rivals that data have not settled, of which at least one is to be told apart."""
    log_prior: Array
    """``(n_rivals,)`` of the rivals for the search: all alike, or two alone."""

    @property
    def theories(self) -> list[Theory]:
        """The theories that the experiment is to tell apart."""
        return [rival.theory for rival in self.rivals]

    @property
    def learns(self) -> bool:
        """Whether some rival's people depend on what they did before."""
        return any(rival.theory.learns for rival in self.rivals)


@dataclass(frozen=True)
class ChosenTrials:
    """Trials of a design, before any is shown with its options on either side."""

    stimuli: Stimuli
    information: tuple[float, ...]
    """What each was expected to add, in nats; NaN for trials drawn at random."""
    random: tuple[int, ...]
    """Places of the trials drawn at random."""

    @property
    def searched(self) -> list[int]:
        """Places of the trials that were chosen for what they tell."""
        return [row for row in range(len(self.stimuli)) if row not in self.random]


@dataclass(frozen=True)
class PlannedDesign:
    """A design with everything that simulation says about it."""

    design: Design
    n_candidates: int
    information: DesignInformation
    powers: tuple[PairPower, ...]
    accepted: bool
    reason: str
    cost: float
    stopping: StoppingPlan | None
    stopping_text: str
    offer: StimulusOffer
    """From which the trials were chosen."""
    chosen: ChosenTrials

    @property
    def name(self) -> str:
        """Of the experiment, without that of its archive."""
        return self.design.name.partition(" ")[0]

    def power_of(self, first: Digest, second: Digest) -> float:
        """The weaker power with which two rivals are told apart; 0 where it tells nothing of them."""
        for pair in self.powers:
            if {pair.first, pair.second} == {first, second}:
                return min(pair.power_first, pair.power_second)
        return 0.0


def choose_from(
    evidence: RunEvidence,
    context: StepContext,
    question: DesignQuestion,
    offer: StimulusOffer,
    *,
    proposed: bool,
) -> ChosenTrials:
    """Trials to ask, what each was expected to add, and which were drawn at random."""
    settings = evidence.config.design
    if proposed:
        stimuli = Stimuli.from_json(settings.proposed)
        return ChosenTrials(stimuli, (0.0,) * len(stimuli), ())
    if evidence.domain.sequential:  # a schedule is shown whole
        return ChosenTrials(offer.stimuli, (0.0,) * len(offer.stimuli), ())
    repetitions = 1 if offer.archive else settings.repetitions

    ways = ways_to_answer(evidence, question, offer)
    selection = choose_trials(
        ways(offer.stimuli),
        question.log_prior,
        n_trials=min(settings.trials, len(offer.stimuli)),
        rng=context.rng,
        random_share=settings.random_share,
        costs=costs_of_trials(evidence.config, evidence.domain, offer.stimuli, repetitions),
        budget=settings.cost.most_per_participant or float("inf"),
    )
    chosen = offer.stimuli.take(selection.rows)
    if settings.continuous and not offer.archive:
        if not isinstance(evidence.domain, HasMoves):
            raise DesignError(
                f"trials of the {evidence.domain.name} domain cannot be moved between levels; leave `continuous` out."
            )
        domain: HasMoves = evidence.domain

        def moves(stimuli: Stimuli, step: float) -> tuple[Stimuli, Array]:
            moved, origin = domain.moves(evidence.config.space, stimuli, step)
            forbidden = are_forbidden(evidence.domain, moved, settings.forbidden)
            kept = np.flatnonzero(~forbidden)
            return moved.take(kept), origin[kept]

        chosen, _ = refine_trials(
            chosen,
            [row for row in range(len(chosen)) if row not in selection.random_rows],
            moves,
            ways,
            question.log_prior,
            identify=lambda stimuli: identities(evidence.domain, stimuli),
            rng=context.rng,
        )
    return ChosenTrials(chosen, selection.information, selection.random_rows)


def ways_to_answer(
    evidence: RunEvidence, question: DesignQuestion, offer: StimulusOffer
) -> Callable[[Stimuli], list[Array]]:
    """Gives, per rival, the probability of every way in which all presentations of each trial can be answered."""
    repetitions = 1 if offer.archive else evidence.config.design.repetitions

    def ways(stimuli: Stimuli) -> list[Array]:
        if not _both_sides(evidence.config, evidence.domain, offer):
            return [
                outcome_probabilities(p, repetitions)
                for p in answers_of_rivals(evidence.domain, evidence.laboratory, question, stimuli)
            ]
        sides = (stimuli, evidence.domain.swap_sides(stimuli))
        first, second = (
            [
                outcome_probabilities(p, repetitions // 2)
                for p in answers_of_rivals(evidence.domain, evidence.laboratory, question, side)
            ]
            for side in sides
        )
        return [both_sides(p, q) for p, q in zip(first, second, strict=True)]

    return ways


def plan_design(
    evidence: RunEvidence,
    context: StepContext,
    number: str,
    question: DesignQuestion,
    offer: StimulusOffer,
    chosen: ChosenTrials,
    people: Array | None,
) -> PlannedDesign:
    """How many people to ask, when to stop, and whether that tells an open pair apart."""
    settings = evidence.config.design
    repetitions = offer.repetitions or settings.repetitions
    stimuli, information, random = chosen.stimuli, chosen.information, chosen.random
    n_trials = len(stimuli)
    if _both_sides(evidence.config, evidence.domain, offer):
        stimuli = Stimuli.concatenate([stimuli, evidence.domain.swap_sides(stimuli)])
        information = (
            *information,
            *(0.0 if row not in random else float("nan") for row in range(n_trials)),
        )
        random = (*random, *(n_trials + row for row in random))
        repetitions //= 2
    if people is None and question.learns and not offer.pooled:
        people = simulated_people(
            evidence.laboratory, context, question, stimuli, repetitions, PEOPLE
        )
    answers = (
        []
        if people is not None
        else answers_of_rivals(evidence.domain, evidence.laboratory, question, stimuli)
    )
    table = _power(
        evidence.config, evidence.domain, context, question, offer, answers, repetitions, people
    )
    plan = Design(
        name=number + (f" {offer.archive}" if offer.archive else ""),
        stimuli=stimuli,
        repetitions=repetitions,
        n_participants=_n_people(evidence.config, evidence.domain, offer) or table.n_units,
        random_coverage=random,
        information=information,
        archive=offer.archive,
    )
    names = [evidence.state.theories.name(rival.digest) for rival in question.rivals]
    every = list(combinations(range(len(names)), 2))
    pairs = tuple(
        PairPower(
            first=question.rivals[a].digest,
            second=question.rivals[b].digest,
            power_first=float(table.power[a, b]),
            power_second=float(table.power[b, a]),
            separable=table.separates((a, b), settings.power),
        )
        for a, b in every
    )
    decision = judge_design(table, question.open_pairs, names=names, required=settings.power)
    if people is not None:
        worth = information_of_people(people, question.log_prior)
    else:
        worth = information_of_batch(
            answers,
            question.log_prior,
            rng=context.rng,
            n_people=500,
            repetitions=repetitions,
        )
    stopping, text = None, ""
    if settings.stopping.rule == "bayes_factor" and not offer.pooled:
        ties = [pair for pair in every if not table.separates(pair, settings.power)]
        stopping = plan_looks(
            settings.stopping.first_look,
            settings.stopping.look_every,
            plan.n_participants,
            settings.stopping.bayes_factor,
        )
        if people is None:
            people = scores_of_people(answers, repetitions, 512, context.rng)
        found = operate(stopping, people, context.rng, ties=ties)
        text = f"{stopping.to_text()}. By simulation: {found.to_text(names)}."
    costs = costs_of_trials(evidence.config, evidence.domain, stimuli, repetitions)
    return PlannedDesign(
        design=plan,
        n_candidates=len(offer.stimuli),
        information=worth,
        powers=pairs,
        accepted=decision.accepted,
        reason=decision.reason,
        cost=plan.n_participants * (settings.cost.per_participant + float(costs.sum())),
        stopping=stopping,
        stopping_text=text,
        offer=offer,
        chosen=chosen,
    )


def _n_people(config: CampaignConfig, domain: Domain, offer: StimulusOffer) -> int:
    """People that a design asks for, 0 where the number is to be found."""
    wanted = config.design.participants
    if (
        domain.sequential
    ):  # people are released whole, so that those not needed now can answer later
        return min(offer.n_participants or wanted, wanted)
    return offer.n_participants or wanted


def _power(
    config: CampaignConfig,
    domain: Domain,
    context: StepContext,
    question: DesignQuestion,
    offer: StimulusOffer,
    answers: Sequence[Array],
    repetitions: int,
    people: Array | None,
) -> PowerTable:
    """Power of the planned people, or of the fewest that have it."""
    settings, n_participants = config.design, _n_people(config, domain, offer)
    most = min(offer.n_participants or settings.most_participants, settings.most_participants)
    if people is not None:
        if n_participants:
            return power_of_people(people, n_participants, context.rng, n_simulations=100)
        return find_n_of_people(
            people,
            context.rng,
            most=most,
            power=settings.power,
            pairs=question.open_pairs,
            n_simulations=200,
        )
    if n_participants or offer.pooled:
        return recovery_power(
            answers,
            repetitions,
            n_participants or most,
            context.rng,
            n_simulations=100,
            pooled=offer.pooled,
        )
    return find_n_participants(
        answers,
        repetitions,
        context.rng,
        most=most,
        power=settings.power,
        pairs=question.open_pairs,
        n_simulations=200,
    )


def _both_sides(config: CampaignConfig, domain: Domain, offer: StimulusOffer) -> bool:
    """Whether each trial is shown with its options on either side, equally often."""
    design = config.design
    return design.sides == "both" and not (
        offer.archive or domain.sequential or design.repetitions % 2
    )


def costs_of_trials(
    config: CampaignConfig, domain: Domain, stimuli: Stimuli, repetitions: int
) -> Array:
    """``(n_trials,)`` cost of all of one person's answers to each trial."""
    cost = config.design.cost
    return costs_of(
        domain,
        stimuli,
        per_response=cost.per_response,
        features=cost.features,
        repetitions=repetitions,
    )


def answers_of_rivals(
    domain: Domain, laboratory: Laboratory, question: DesignQuestion, stimuli: Stimuli
) -> list[Array]:
    """Per rival ``(n_draws, n_trials, n_options)``, a few thousand trials at a time."""
    size = len(stimuli) if domain.sequential else CHUNK
    parts = [
        stimuli.take(range(start, min(start + size, len(stimuli))))
        for start in range(0, len(stimuli), size)
    ]
    found = laboratory.answers_of(question.theories, parts, DESIGN_DRAWS)
    return [np.concatenate(own, axis=1) for own in found]


def simulated_people(
    laboratory: Laboratory,
    context: StepContext,
    question: DesignQuestion,
    stimuli: Stimuli,
    repetitions: int,
    n_people: int,
) -> Array:
    """``(n_rivals, n_people, n_rivals)`` scores of simulated people; see `Laboratory.scores_of_simulated_people`."""
    return laboratory.scores_of_simulated_people(
        question.theories,
        DESIGN_DRAWS,
        stimuli,
        context.rng,
        repetitions=repetitions,
        n_people=n_people,
    )
