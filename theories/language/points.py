"""Points of a theory's declared ranges at which it is tried."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.language.prior import Prior

Array = NDArray[np.float64]
MOST_CORNERS = 64


def check_points(
    priors: Mapping[str, Prior], rng: np.random.Generator, n_random: int = 24
) -> dict[str, Array]:
    """Points of the declared ranges, each ``(n_points,)``; fractions of the range are on each prior's own scale.

    The middle, every parameter alone at either end with the others in the middle, at one end with the others at the
    other, up to 64 corners, and random points. Without parameters two points without values.
    """
    if not priors:
        return {"": np.zeros(2)}
    n = len(priors)
    one = np.eye(n)
    if 2**n <= MOST_CORNERS:
        corners = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    else:
        corners = np.concatenate([np.zeros((1, n)), np.ones((1, n)), one, 1 - one])
        corners = np.concatenate(
            [corners, rng.integers(0, 2, (max(MOST_CORNERS - len(corners), 0), n))]
        )
    middle = np.full((1, n), 0.5)
    fractions = np.concatenate(
        [middle, middle - 0.5 * one, middle + 0.5 * one, corners, rng.random((n_random, n))]
    )
    return at_fractions(priors, fractions)


def at_fractions(priors: Mapping[str, Prior], fractions: Array) -> dict[str, Array]:
    """Parameter values ``(n_points,)`` each at ``(n_points, n_parameters)`` shares of the declared ranges."""
    values = {}
    for column, (name, prior) in enumerate(priors.items()):
        low, high = prior.latent(np.array([prior.low, prior.high]))
        share = fractions[:, column]
        latent = low + (high - low) * share
        inside = np.clip(np.exp(latent) if prior.is_log else latent, prior.low, prior.high)
        values[name] = np.where(
            share <= 0, prior.low, np.where(share >= 1, prior.high, inside)
        )  # the ends exactly
    return values or {"": np.zeros(len(fractions))}
