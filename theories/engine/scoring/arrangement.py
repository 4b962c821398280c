"""Arrangement of trials in a process for many theories of the grammar: those of like size together.

Arrays of trials are as wide as the widest trial, so that a gamble of two outcomes among gambles of ten costs five times
what it needs. A process may hold trials in any order, as predictions for one do not depend on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.sandbox.session import TheorySession

Array = NDArray[np.float64]
COST_OF_A_PART = 150
"""Cost of one more array of trials, in trials times their size."""


@dataclass(frozen=True, eq=False)
class TrialArrangement:
    """Sets of trials laid together, divided into parts of like size."""

    stimuli: tuple[Stimuli, ...]
    """Stimuli as they were given."""
    parts: tuple[Stimuli, ...]
    """Stimuli as a process holds them."""
    order: NDArray[np.intp]
    """``(n_trials,)`` place of each trial of the parts among those given, all one after another."""

    @classmethod
    def of(cls, stimuli: Sequence[Stimuli], domain: Domain) -> Self:
        """Neighbours whose arrays have one form are laid together, then divided where that costs least."""
        parts, order, first = [], [], 0
        for whole in Stimuli.in_few_parts(stimuli):
            for rows in rows_of_like_size(domain.sizes(whole)):
                parts.append(whole.take(rows))
                order.append(first + rows)
            first += len(whole)
        return cls(tuple(stimuli), tuple(parts), np.concatenate(order))

    def restore(self, answers: Sequence[Array]) -> list[Array]:
        """``(n_draws, n_trials, n_options)`` for each given set, from those for each part."""
        together = np.concatenate(answers, axis=1).take(self._places, axis=1)
        return [together[:, rows] for rows in self._rows]

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """``(n_trials,)`` place among the parts' of each trial as it was given."""
        return np.argsort(self.order)

    @cached_property
    def _rows(self) -> list[slice]:
        """Rows of each given set among all trials."""
        ends = np.cumsum([0, *map(len, self.stimuli)]).tolist()
        return [slice(start, end) for start, end in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class SharedProcess:
    """A sandbox process that holds trials for one theory of the grammar after the other."""

    session: TheorySession
    arrangement: TrialArrangement


def rows_of_like_size(sizes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Rows of trials in groups, smaller trials first, so that groups cost least in all.

    A group costs `COST_OF_A_PART`, and for each of its trials the size of the largest.

    Args:
        sizes: ``(n_trials,)`` how many places of their arrays trials fill.
    """
    found, counts = np.unique(sizes, return_counts=True)
    n_below = np.concatenate([[0], np.cumsum(counts)])
    # The cheapest division of the smallest so many sizes, and where its last group begins.
    cost, begins = [0.0], [0]
    for end in range(1, len(found) + 1):
        n_in_group = n_below[end] - n_below[:end]
        costs = cost + n_in_group * found[end - 1] + COST_OF_A_PART
        begins.append(int(costs.argmin()))
        cost.append(float(costs.min()))
    groups, end = [], len(found)
    while end > 0:
        start = begins[end]
        inside = (sizes >= found[start]) & (sizes <= found[end - 1])
        groups.append(np.flatnonzero(inside))
        end = start
    return groups[::-1]
