"""Question of an experiment: rivals that can be compared, and which pairs of them are open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import conditions_of, in_condition
from lakatos.experiments.design import both_sides
from lakatos.experiments.information import (
    MOST_EXACT,
    most_presentations,
    outcome_probabilities,
)
from lakatos.experiments.planning.settings import DesignConfig
from lakatos.experiments.power import Pair
from lakatos.experiments.proposal import are_forbidden, costs_of
from lakatos.experiments.task import Domain, Stimuli, StimulusOffer, keeps_places
from lakatos.traces.digest import Digest

Array = NDArray[Any]
CHUNK = 4096
"""Trials that rivals are asked about at once."""


class DesignRivals(Protocol):
    """Rival theories with the people that the responses so far have taught."""

    @property
    def learns(self) -> bool:
        """Whether people of some rival depend on what they did before."""

    def answers(self, stimuli: Sequence[Stimuli]) -> list[list[Array]]:
        """Per rival and set of stimuli the probabilities ``(n_draws, n_trials, n_options)``."""

    def scores_of_people(
        self,
        stimuli: Stimuli,
        rng: np.random.Generator,
        *,
        repetitions: int = 1,
        n_people: int = 64,
        asked: NDArray[np.integer[Any]] | None = None,
    ) -> Array:
        """``(n_rivals, n_people, n_rivals)`` log predictives of simulated people's responses, nats.

        People of each rival in turn go through the stimuli, and every rival scores their responses. Where ``asked`` is
        given, ``(n_people, n_trials)``, each of them answers each trial as often as it says.
        """


@dataclass(frozen=True)
class DesignQuestion:
    """Purpose of an experiment, its task, and what it may cost."""

    domain: Domain
    space: Mapping[str, Any]
    """Settings of the study from which trials are made."""
    settings: DesignConfig
    rivals: DesignRivals
    digests: tuple[Digest, ...]
    """Digests of the rivals."""
    names: tuple[str, ...]
    """Names of the rivals, in words."""
    open_pairs: tuple[Pair, ...]
    """Pairs of rivals that data have not settled, of which at least one is to be told apart."""
    log_prior: Array
    """``(n_rivals,)`` of the rivals for the search: all alike, or two alone."""

    def answers(self, stimuli: Stimuli) -> list[Array]:
        """Per rival ``(n_draws, n_trials, n_options)``, a few thousand trials at a time."""
        size = len(stimuli) if self.domain.sequential else CHUNK
        parts = [
            stimuli.take(range(start, min(start + size, len(stimuli))))
            for start in range(0, len(stimuli), size)
        ]
        return [np.concatenate(own, axis=1) for own in self.rivals.answers(parts)]

    def shows_both_sides(self, offer: StimulusOffer) -> bool:
        """Whether each trial is shown with its options on either side, equally often."""
        one_way = offer.archive or self.domain.sequential or keeps_places(self.domain)
        return self.settings.sides == "both" and not (one_way or self.settings.repetitions % 2)

    def presentations(self, offer: StimulusOffer, stimuli: Stimuli) -> list[Stimuli]:
        """The ways in which each trial is presented: with its options on either side, and in each condition."""
        n_conditions = 0 if offer.archive else len(conditions_of(self.domain))
        ways = [in_condition(stimuli, place) for place in range(n_conditions)] or [stimuli]
        if self.shows_both_sides(offer):
            ways = [side for way in ways for side in (way, self.domain.swap_sides(way))]
        return ways

    def ways_to_answer(self, offer: StimulusOffer, stimuli: Stimuli) -> list[Array]:
        """Per rival the probability of every way in which all presentations of each trial can be answered.

        Where there are too many ways, of fewer presentations: trials are then compared by what these tell.
        """
        repetitions = 1 if offer.archive else self.settings.repetitions
        n_options = self.domain.n_options(stimuli)
        repetitions //= 2 if self.shows_both_sides(offer) else 1
        presented = self.presentations(offer, stimuli)
        most_ways = int(MOST_EXACT ** (1 / len(presented)) + 1e-9)
        shown = most_presentations(repetitions, n_options, most_ways)
        first, *others = (
            [outcome_probabilities(p, shown) for p in self.answers(way)] for way in presented
        )
        for other in others:
            first = [both_sides(p, q) for p, q in zip(first, other, strict=True)]
        return first

    def costs(self, stimuli: Stimuli, repetitions: int) -> Array:
        """``(n_trials,)`` cost of all of one person's responses to each trial."""
        cost = self.settings.cost
        return costs_of(
            self.domain,
            stimuli,
            per_response=cost.per_response,
            features=cost.features,
            repetitions=repetitions,
        )

    def allowed(self, stimuli: Stimuli) -> NDArray[np.int_]:
        """Rows of the trials that the study does not forbid."""
        return np.flatnonzero(~are_forbidden(self.domain, stimuli, self.settings.forbidden))
