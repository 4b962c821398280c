"""Which trials of an offer to ask: by what they are expected to add, and some by lot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.design import choose_trials
from lakatos.experiments.errors import DesignError
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.refinement import refine_trials
from lakatos.experiments.task import Stimuli, StimulusOffer, identities
from lakatos.experiments.variation import HasMoves

Array = NDArray[Any]


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


def choose_from(
    question: DesignQuestion, offer: StimulusOffer, rng: np.random.Generator
) -> ChosenTrials:
    """Trials to ask, what each was expected to add, and which were drawn at random."""
    settings = question.settings
    if question.domain.sequential:  # a schedule is shown whole
        return asked_whole(offer.stimuli)
    repetitions = 1 if offer.archive else settings.repetitions
    ways = partial(question.ways_to_answer, offer)
    selection = choose_trials(
        ways(offer.stimuli),
        question.log_prior,
        n_trials=min(settings.trials, len(offer.stimuli)),
        rng=rng,
        random_share=settings.random_share,
        costs=question.costs(offer.stimuli, repetitions),
        budget=settings.cost.most_per_participant or float("inf"),
    )
    chosen = offer.stimuli.take(selection.rows)
    if settings.continuous and not offer.archive:
        searched = [row for row in range(len(chosen)) if row not in selection.random_rows]
        chosen, _ = refine_trials(
            chosen,
            searched,
            partial(_moved, question),
            ways,
            question.log_prior,
            identify=lambda stimuli: identities(question.domain, stimuli),
            rng=rng,
        )
    return ChosenTrials(chosen, selection.information, selection.random_rows)


def asked_whole(stimuli: Stimuli) -> ChosenTrials:
    """All of some trials, chosen by nobody: a schedule, or trials that a study proposes."""
    return ChosenTrials(stimuli, (0.0,) * len(stimuli), ())


def _moved(question: DesignQuestion, stimuli: Stimuli, step: float) -> tuple[Stimuli, Array]:
    """Trials with their attributes moved a little, and the row from which each comes."""
    domain = question.domain
    if not isinstance(domain, HasMoves):
        raise DesignError(
            f"trials of the {domain.name} domain cannot be moved between levels; leave `continuous` out."
        )
    moved, origin = domain.moves(question.space, stimuli, step)
    kept = question.allowed(moved)
    return moved.take(kept), origin[kept]
