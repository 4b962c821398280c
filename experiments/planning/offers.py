"""What can be asked: offers of trials without what a study forbids, the most telling first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import EmptyDesignSpaceError
from lakatos.experiments.information import information_of_batch, information_of_people
from lakatos.experiments.planning.plan import PEOPLE
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.task import Stimuli, StimulusOffer, first_schedule

Array = NDArray[Any]
FINALISTS: Final = 4
"""Schedules that are left after a first look."""
FEW_PEOPLE: Final = 16
"""Simulated people of each rival in a first look at a schedule."""


def with_schedules(
    question: DesignQuestion, offers: Sequence[StimulusOffer], rng: np.random.Generator
) -> list[StimulusOffer]:
    """Schedules of a sequential task; where they can be made at will, as many as a search looks at."""
    settings = question.settings
    if offers[0].archive:
        return list(offers)
    drawn = [
        question.domain.candidates(question.space, rng, settings.candidates)
        for _ in range(settings.schedules - len(offers))
    ]
    return [
        *offers[: settings.schedules],
        *(replace(offers[0], stimuli=stimuli) for stimuli in drawn),
    ]


def without_forbidden(
    question: DesignQuestion, offers: Sequence[StimulusOffer]
) -> list[StimulusOffer]:
    """Offers without trials that the study forbids.

    Raises:
        EmptyDesignSpaceError: None is left.
    """
    allowed = [question.allowed(offer.stimuli) for offer in offers]
    kept = [offer.of_rows(rows) for offer, rows in zip(offers, allowed, strict=True) if len(rows)]
    if not kept:
        forbidden = "; ".join(question.settings.forbidden)
        raise EmptyDesignSpaceError(
            f"the study forbids every trial that could be presented ({forbidden}). Allow some."
        )
    return kept


def most_informative_first(
    question: DesignQuestion, offers: Sequence[StimulusOffer], rng: np.random.Generator
) -> list[StimulusOffer]:
    """Offers in the order of what all their trials together would say; rivals answer one offer at a time."""

    def worth(offer: StimulusOffer) -> float:
        own = [answers for (answers,) in question.rivals.answers([offer.stimuli])]
        return information_of_batch(own, question.log_prior, rng=rng, n_people=200).value

    values = [worth(offer) for offer in offers]
    return [offers[place] for place in _best_first(values)]


def ranked_schedules(
    question: DesignQuestion, offers: Sequence[StimulusOffer], rng: np.random.Generator
) -> list[tuple[StimulusOffer, Array]]:
    """Schedules in the order of what they say, with scores of simulated people.

    Many schedules are first tried on a few people each.
    """
    look = _schedule_ranker(question, rng)
    if len(offers) > FINALISTS:
        offers = [offer for offer, _ in look(offers, FEW_PEOPLE)[:FINALISTS]]
    return look(offers, PEOPLE)


def _schedule_ranker(
    question: DesignQuestion, rng: np.random.Generator
) -> Callable[[Sequence[StimulusOffer], int], list[tuple[StimulusOffer, Array]]]:
    def ranked(
        schedules: Sequence[StimulusOffer], n_people: int
    ) -> list[tuple[StimulusOffer, Array]]:
        scores = [
            question.rivals.scores_of_people(of_one_person(offer), rng, n_people=n_people)
            for offer in schedules
        ]
        values = [information_of_people(item, question.log_prior).value for item in scores]
        return [(schedules[place], scores[place]) for place in _best_first(values)]

    return ranked


def of_one_person(offer: StimulusOffer) -> Stimuli:
    """What one participant goes through: of the schedules of an archive the first, with outcomes as far as known."""
    if offer.simulated is not None:
        return offer.simulated
    return first_schedule(offer.stimuli) if offer.archive else offer.stimuli


def _best_first(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda place: (-values[place], place))
