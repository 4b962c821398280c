"""Rivals whose predictions are written down, so that what a design should be can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains import DOMAINS
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.settings import DesignConfig
from lakatos.experiments.power import scores_of_people
from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
Chance = Callable[[Stimuli], Array]
"""Probability of the second option of each trial, ``(n_trials,)``."""
DOMAIN = DOMAINS["intertemporal"]
DIGESTS = tuple(letter * 64 for letter in "ab")
TELLING_DELAY = 60


class KnownRivals:
    """Theories without free parameters, each a function of the trials."""

    def __init__(self, *chances: Chance, learns: bool = False) -> None:
        self.chances, self.learns = chances, learns
        self.sizes: list[int] = []
        """Number of trials in each set that was predicted."""
        self.n_people: list[int] = []
        """Number of simulated people in each request for their scores."""

    def answers(self, stimuli: Sequence[Stimuli]) -> list[list[Array]]:
        """Probabilities of one draw of each rival."""
        self.sizes += map(len, stimuli)
        return [[self._table(chance, item) for item in stimuli] for chance in self.chances]

    def scores_of_people(
        self,
        stimuli: Stimuli,
        rng: np.random.Generator,
        *,
        repetitions: int = 1,
        n_people: int = 64,
        asked: NDArray[np.integer[Any]] | None = None,
    ) -> Array:
        """Log predictives of the answers of simulated people."""
        self.n_people.append(n_people)
        tables = [self._table(chance, stimuli) for chance in self.chances]
        return scores_of_people(tables, repetitions, n_people, rng)

    @staticmethod
    def _table(chance: Chance, stimuli: Stimuli) -> Array:
        second = np.asarray(chance(stimuli), dtype=np.float64)
        return np.stack([1 - second, second], axis=-1)[None]


def is_telling(stimuli: Stimuli) -> Array:
    """Trials about which the two rivals differ: those with a long delay."""
    return stimuli["delays_days"].max(axis=1) >= TELLING_DELAY


def patient(stimuli: Stimuli) -> Array:
    """The later option nine times of ten where the delay is long; by lot elsewhere."""
    later = stimuli["delays_days"].argmax(axis=1)
    return np.where(is_telling(stimuli), np.where(later == 1, 0.9, 0.1), 0.5)


def impatient(stimuli: Stimuli) -> Array:
    """The sooner option nine times of ten where the delay is long; by lot elsewhere."""
    return 1 - patient(stimuli)


def trials(n_telling: int, n_others: int) -> Stimuli:
    """So many trials of the space with a long delay, and so many with a short one."""
    every = DOMAIN.space({})
    telling = is_telling(every)
    rows = [*np.flatnonzero(telling)[:n_telling], *np.flatnonzero(~telling)[:n_others]]
    return every.take(rows)


def question_of(*chances: Chance, learns: bool = False, **settings: Any) -> DesignQuestion:
    """The question which of two rivals is right, with settings of a design."""
    return DesignQuestion(
        domain=DOMAIN,
        space={},
        settings=DesignConfig(**settings),
        rivals=KnownRivals(*(chances or (patient, impatient)), learns=learns),
        digests=DIGESTS,
        names=("Patient", "Impatient"),
        open_pairs=((0, 1),),
        log_prior=np.log([0.5, 0.5]),
    )
