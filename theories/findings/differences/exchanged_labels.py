"""Whether what is known of people has to do with their numbers: a test by exchanging it among them.

What each person's answers say of each parameter is found with one population for all, so that nothing that is known of
her has a part in it. Then what is known (a group, an age) is exchanged at random among people, within each experiment,
and the largest connection of any parameter is compared with what that gives. The test is exact where answers have
nothing to do with what is known, and it allows for there being several parameters. Groups, effects, and the power of
both are decided by it, so that they say one thing.

References:
    Westfall & Young (1993), Resampling-based multiple testing (largest statistic over permutations).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
N_PERMUTATIONS = 1999
N_PERMUTATIONS_PLANNED = 199
"""Number of exchanges in each of the many simulated studies of a plan."""
LEVEL = 0.05
"""Probability, over all parameters together, of calling people different who are not."""
NOTHING = 1e-9


def group_columns(group: Array) -> Array:
    """``(n_people, n_groups)`` 1 where a person belongs to a group, from the place of everybody's group."""
    return np.asarray(np.asarray(group)[:, None] == np.unique(group), dtype=float)


def permuted_p(
    values: Array,
    known: Array,
    stratum: Array,
    rng: np.random.Generator,
    n_permutations: int | None = None,
) -> Array:
    """Probability of so strong a connection of any row with what is known of people, if that means nothing.

    Args:
        values: ``(n_rows, n_people)``.
        known: ``(n_people, n_columns)`` what is known of each, in numbers.
        stratum: ``(n_people,)`` it is exchanged within these alone.
        rng: For exchanges.
        n_permutations: Exchanges; `N_PERMUTATIONS` by default.

    Returns:
        ``(n_rows,)`` probabilities that allow for there being several rows.
    """
    # Within a stratum the mean of all tells nothing.
    centered = _within(values.astype(np.float64), stratum)
    spread = centered.std(axis=1, keepdims=True)
    centered = np.divide(centered, spread, out=np.zeros_like(centered), where=spread > NOTHING)
    # What is known spans a few directions, the same ones in any order of people.
    directions, sizes, _ = np.linalg.svd(
        _within(known.T.astype(np.float64), stratum).T, full_matrices=False
    )
    directions = directions[:, sizes > NOTHING * max(float(sizes.max(initial=0.0)), 1.0)]

    def explained(order: Array) -> Array:
        return np.asarray(((centered @ directions[order]) ** 2).sum(axis=1))

    found = explained(np.arange(len(stratum)))
    number = n_permutations or N_PERMUTATIONS
    largest = np.array([explained(_exchanged(stratum, rng)).max() for _ in range(number)])
    reached = (largest[None] >= found[:, None] - NOTHING).sum(axis=1)
    return np.asarray((1 + reached) / (number + 1))


def _within(values: Array, stratum: Array) -> Array:
    """``(n_rows, n_people)`` without the mean of each row in each stratum."""
    values = values.copy()
    for name in np.unique(stratum):
        own = stratum == name
        values[:, own] -= values[:, own].mean(axis=1, keepdims=True)
    return values


def _exchanged(stratum: Array, rng: np.random.Generator) -> Array:
    """People in another order, within each stratum."""
    order = np.empty(len(stratum), dtype=np.int64)
    order[np.argsort(stratum, kind="stable")] = np.lexsort((rng.random(len(stratum)), stratum))
    return order


def p_in_words(p: float) -> str:
    """A probability found by permutations."""
    smallest = 1 / (N_PERMUTATIONS + 1)
    return f"p < {2 * smallest:.3f}" if p <= smallest else f"p = {p:.3f}"
