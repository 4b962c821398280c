"""Loops of the search in machine code: what a table of counts explains, without tables on the way.

Numba compiles them when they are first called and keeps what it made, beside the source or in its own cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.traces.home import settle_caches

settle_caches()  # before Numba reads where its cache is

from numba import njit  # noqa: E402

Array = NDArray[np.float64]
Counts = NDArray[np.float32]


def logarithms(most: int) -> Array:
    """``n log n`` for ``n`` from 0 to ``most``."""
    n = np.arange(1, most + 1)
    return np.concatenate([[0.0], n * np.log(n)])


@njit(cache=True)  # type: ignore[untyped-decorator]
def scores_of_leaves(
    difference: Counts,
    with_b: Counts,
    with_a: Counts,
    total_b: Counts,
    total_a: Counts,
    table: Array,
    prices: Array,
    constant: float,
) -> Any:
    """Log likelihood of following each lead within each mask, with one probability where the lead does not decide.

    Args:
        difference, with_b, with_a: ``(n_masks, n_leads)`` responses for B less those for A by side of the
            lead; responses for B, and for A, where the lead decides. Whole numbers.
        total_b, total_a: ``(n_masks,)`` answers within each mask.
        table: Table from `logarithms`.
        prices: ``(n_leads,)`` nats.
        constant: What a probability of its own costs, nats; even odds cost nothing.

    Returns:
        ``(n_masks, n_leads)`` nats.
    """
    n_masks, n_leads = difference.shape
    even = np.log(0.5)
    score = np.empty((n_masks, n_leads))
    for mask in range(n_masks):
        for lead in range(n_leads):
            b, a = with_b[mask, lead], with_a[mask, lead]
            used = int(b + a)
            agree = int(0.5 * (b + a + difference[mask, lead]))
            followed = table[agree] + table[used - agree] - table[used]
            b, a = int(total_b[mask] - b), int(total_a[mask] - a)
            left = table[b] + table[a] - table[b + a] - constant
            score[mask, lead] = followed + max(left, (b + a) * even) - prices[lead]
    return score
