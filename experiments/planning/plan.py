"""How many people a design asks, when it stops, and what simulation says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import conditions_of, with_orders
from lakatos.experiments.information import (
    DesignInformation,
    information_of_batch,
    information_of_people,
)
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.trials import ChosenTrials
from lakatos.experiments.power import (
    PowerTable,
    find_n_of_people,
    find_n_participants,
    judge_design,
    power_of_answers,
    power_of_people,
    recovery_power,
    scores_of_people,
)
from lakatos.experiments.record import PairPower
from lakatos.experiments.stopping import StoppingPlan, operate, plan_looks
from lakatos.experiments.task import Design, Stimuli, StimulusOffer

Array = NDArray[Any]
NO_OUTCOMES = (
    " It is not known what options that were not chosen would have paid, so simulated participants receive nothing and "
    "powers say little."
)
PEOPLE: Final = 64
"""Simulated people per theory, where responses depend on earlier ones."""


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
    """Offer from which the trials were chosen."""
    chosen: ChosenTrials
    n_answers: int = 0
    """Responses that are there, where an archive holds them; 0 where people are asked anew."""

    @property
    def name(self) -> str:
        """Name of the experiment, without that of its archive."""
        return self.design.name.partition(" ")[0]


def plan_design(
    question: DesignQuestion,
    number: str,
    offer: StimulusOffer,
    chosen: ChosenTrials,
    people: Array | None,
    rng: np.random.Generator,
) -> PlannedDesign:
    """How many people to ask, when to stop, and whether that tells an open pair apart.

    Args:
        question: What is to be decided.
        number: Of the experiment.
        offer: From which the trials were chosen.
        chosen: The trials.
        people: Scores of simulated people, where there are some already.
        rng: For simulated people and their responses.
    """
    settings = question.settings
    shown = _shown(question, offer, chosen)
    stimuli, repetitions = shown.stimuli, shown.repetitions
    n_available = offer.answers_to(stimuli)
    n_answers: Array | None = None
    if people is None and question.rivals.learns and not offer.pooled:
        some = None if n_available is None else _some_people(n_available, rng)
        n_answers = None if some is None else some.sum(axis=1)
        people = question.rivals.scores_of_people(
            stimuli, rng, repetitions=repetitions, n_people=PEOPLE, asked=some
        )
    answers = [] if people is not None else question.answers(stimuli)
    table = _power(question, offer, answers, repetitions, people, n_available, n_answers, rng)
    plan = Design(
        name=number + (f" {offer.archive}" if offer.archive else ""),
        stimuli=stimuli,
        repetitions=repetitions,
        n_participants=_n_people(question, offer, n_available) or table.n_units,
        random_coverage=shown.random,
        information=shown.information,
        archive=offer.archive,
    )
    if not offer.archive:
        plan = with_orders(plan, conditions_of(question.domain), settings.blocks, rng)
    decision = judge_design(
        table, question.open_pairs, names=question.names, required=settings.power
    )
    if people is not None:
        worth = information_of_people(people, question.log_prior)
    else:
        worth = information_of_batch(
            answers,
            question.log_prior,
            rng=rng,
            n_people=500,
            repetitions=repetitions,
            asked=None if offer.pooled else n_available,
        )
    stopping, text = None, ""
    if settings.stopping.rule == "bayes_factor" and not offer.pooled:
        if people is None:
            people = scores_of_people(answers, repetitions, 512, rng)
        stopping, text = _stopping(question, table, plan.n_participants, people, rng)
    costs = question.costs(stimuli, repetitions)
    return PlannedDesign(
        design=plan,
        n_candidates=len(offer.stimuli),
        information=worth,
        powers=_powers(question, table),
        accepted=decision.accepted,
        reason=decision.reason + (NO_OUTCOMES if offer.lacks_outcomes else ""),
        cost=plan.n_participants * (settings.cost.per_participant + float(costs.sum())),
        stopping=stopping,
        stopping_text=text,
        offer=offer,
        chosen=chosen,
        n_answers=offer.n_answers if n_available is None else int(n_available.sum()),
    )


@dataclass(frozen=True)
class _ShownTrials:
    """Trials as people see them: once, or with their options on either side."""

    stimuli: Stimuli
    information: tuple[float, ...]
    random: tuple[int, ...]
    repetitions: int


def _shown(question: DesignQuestion, offer: StimulusOffer, chosen: ChosenTrials) -> _ShownTrials:
    repetitions = offer.repetitions or question.settings.repetitions
    presented = question.presentations(offer, chosen.stimuli)
    if len(presented) == 1:
        return _ShownTrials(presented[0], chosen.information, chosen.random, repetitions)
    n_trials = len(chosen.stimuli)
    nothing_new = [0.0 if row not in chosen.random else float("nan") for row in range(n_trials)]
    places = range(len(presented))
    return _ShownTrials(
        Stimuli.concatenate(presented),
        (*chosen.information, *(nothing_new * (len(presented) - 1))),
        tuple(place * n_trials + row for place in places for row in chosen.random),
        repetitions // (2 if question.shows_both_sides(offer) else 1),
    )


def _powers(question: DesignQuestion, table: PowerTable) -> tuple[PairPower, ...]:
    return tuple(
        PairPower(
            first=question.digests[a],
            second=question.digests[b],
            power_first=float(table.power[a, b]),
            power_second=float(table.power[b, a]),
            separable=table.separates((a, b), question.settings.power),
        )
        for a, b in combinations(range(len(question.names)), 2)
    )


def _stopping(
    question: DesignQuestion,
    table: PowerTable,
    n_participants: int,
    people: Array,
    rng: np.random.Generator,
) -> tuple[StoppingPlan, str]:
    """The rule by which collection ends early, with its simulated error rates."""
    settings = question.settings.stopping
    every = combinations(range(len(question.names)), 2)
    ties = [pair for pair in every if not table.separates(pair, question.settings.power)]
    plan = plan_looks(
        settings.first_look, settings.look_every, n_participants, settings.bayes_factor
    )
    found = operate(plan, people, rng, ties=ties)
    return plan, f"{plan.to_text()}. By simulation: {found.to_text(question.names)}."


def _n_people(question: DesignQuestion, offer: StimulusOffer, n_available: Array | None) -> int:
    """People that a design asks for, 0 where the number is to be found."""
    if n_available is not None and not offer.pooled:
        return len(n_available)
    wanted = question.settings.participants
    if question.domain.sequential:  # people are released whole; those not needed now answer later
        return min(offer.n_participants or wanted, wanted)
    return offer.n_participants or wanted


def _some_people(n_available: Array, rng: np.random.Generator) -> Array:
    """``(PEOPLE, n_trials)`` what so many of an archive's people answered; where it has fewer, all of them in turn."""
    order = rng.permutation(len(n_available))
    return np.asarray(n_available[order[np.arange(PEOPLE) % len(order)]])


def _power(
    question: DesignQuestion,
    offer: StimulusOffer,
    answers: Sequence[Array],
    repetitions: int,
    people: Array | None,
    asked: Array | None,
    n_answers: Array | None,
    rng: np.random.Generator,
) -> PowerTable:
    """Power of the planned people, or of the fewest that have it; of an archive, of the responses that it holds."""
    settings, n_participants = question.settings, _n_people(question, offer, asked)
    most = min(offer.n_participants or settings.most_participants, settings.most_participants)
    if people is not None:
        if n_participants:
            return power_of_people(
                people, n_participants, rng, n_simulations=100, n_answers=n_answers
            )
        return find_n_of_people(
            people,
            rng,
            most=most,
            least=min(LEAST_UNITS, most),
            power=settings.power,
            pairs=question.open_pairs,
            n_simulations=200,
        )
    if asked is not None and not offer.pooled:
        return power_of_answers(answers, asked, rng, n_simulations=100)
    if n_participants or offer.pooled:
        return recovery_power(
            answers,
            repetitions,
            n_participants or most,
            rng,
            n_simulations=100,
            pooled=offer.pooled,
            n_answers=None if asked is None else asked.sum(axis=0),
        )
    return find_n_participants(
        answers,
        repetitions,
        rng,
        most=most,
        least=min(LEAST_UNITS, most),
        power=settings.power,
        pairs=question.open_pairs,
        n_simulations=200,
    )
