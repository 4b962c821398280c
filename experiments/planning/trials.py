"""Selection of trials from an offer: by their expected gain, and some at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import conditions_of, in_first_condition
from lakatos.experiments.design import choose_trials
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.task import Stimuli, StimulusOffer

Array = NDArray[Any]


@dataclass(frozen=True)
class ChosenTrials:
    """Trials of a design, before any is shown with its options on either side."""

    stimuli: Stimuli
    information: tuple[float, ...]
    """Expected gain of each trial, in nats; NaN for trials drawn at random."""
    random: tuple[int, ...]
    """Places of the trials drawn at random."""


def choose_from(
    question: DesignQuestion, offer: StimulusOffer, rng: np.random.Generator
) -> ChosenTrials:
    """Trials to ask, what each was expected to add, and which were drawn at random."""
    settings = question.settings
    if question.domain.sequential:  # a schedule is shown whole
        return asked_whole(offer.stimuli)
    n_conditions = 1
    if not offer.archive:
        offer = in_first_condition(offer)
        n_conditions = max(len(conditions_of(question.domain)), 1)
    repetitions = 1 if offer.archive else settings.repetitions
    selection = choose_trials(
        question.ways_to_answer(offer, offer.stimuli),
        question.log_prior,
        n_trials=min(settings.trials, len(offer.stimuli)),
        rng=rng,
        random_share=settings.random_share,
        costs=question.costs(offer.stimuli, repetitions * n_conditions),
        budget=settings.cost.most_per_participant or float("inf"),
    )
    chosen = offer.stimuli.take(selection.rows)
    return ChosenTrials(chosen, selection.information, selection.random_rows)


def asked_whole(stimuli: Stimuli) -> ChosenTrials:
    """All of some trials, chosen by nobody: a schedule, or trials that a study proposes."""
    return ChosenTrials(stimuli, (0.0,) * len(stimuli), ())
