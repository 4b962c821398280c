"""Truncated normals in machine code: their densities, and those that are most likely to have yielded some draws.

Fits spend half of their time here, on arrays so small that calls of NumPy would cost ten times as much as the sums.
Numba compiles the loops when they are first called and keeps what it made, beside the source or in its own cache.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.traces.home import settle_caches

settle_caches()  # before Numba reads where its cache is

from numba import njit  # noqa: E402

Array = NDArray[np.float64]
FIRST_SPREAD, SMALLEST_SPREAD = 0.02, 1e-3
"""Smallest spread of a population while its center is looked for, and in the end, as shares of the declared range on
the latent scale. A narrow population moves slowly. One that stays wide costs theories with wide ranges their score
where participants are alike, most of all where choices follow the evidence strictly."""
NORMAL = math.sqrt(2 * math.pi)
ROOT = math.sqrt(2)
N_STEPS, NO_STEP = 30, 5e-3
"""Most steps of `most_likely_normals`, and the smallest step that is followed by another, in widths of the range; each
squares what is left of the error."""

SETTLED = 2e-3
"""Change of a population, in widths of the range and in logarithms of the spread, after which none follows with the
same draws."""
LEAST_SHARE = 0.25
"""Smallest share of the draws that must still count, by effective number (Kong, 1992), for another round with them."""


def most_likely_normals(
    mean: Array,
    variance: Array,
    low: Array,
    high: Array,
    start: tuple[Array, Array] | None = None,
    least: Array | None = None,
) -> tuple[Array, Array]:
    """The normals, truncated to limits, that are most likely to have yielded draws with these moments.

    Taking mean and spread themselves instead would narrow the population in every round, because truncation narrows
    it again; where people crowd at a limit, the center comes to lie on it. All are found together by Fisher scoring
    in the center and the logarithm of the spread, which takes four to six steps.

    Args:
        mean, variance: ``(n_groups, n_parameters)`` of the weighted draws, on the scale of each prior.
        low, high: ``(n_parameters,)`` limits.
        start: Centers and standard deviations to set out from, instead of the moments.
        least: ``(n_parameters,)`` smallest spreads, as shares of the ranges; `FIRST_SPREAD` by default.

    Returns:
        Centers and standard deviations, each ``(n_groups, n_parameters)``.

    References:
        Cohen (1950), Annals of Mathematical Statistics 21, 557-569.
    """
    centers, spreads = (np.array(item) for item in start or (mean, np.sqrt(variance)))
    least = np.full(len(low), FIRST_SPREAD) if least is None else least
    _score(mean, variance, low, high, least, centers, spreads)
    return centers, spreads


def log_density(latent: Array, center: Array, spread: Array, low: Array, high: Array) -> Array:
    """``(n_groups, n_draws)`` log density of ``(n_parameters, n_draws)`` values.

    Args:
        latent: Values on the scale of each prior.
        center, spread: ``(n_groups, n_parameters)``, NaN where a distribution is uniform.
        low, high: ``(n_parameters,)`` limits.
    """
    return np.asarray(_log_density(latent, center, spread, low, high))


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _score(
    mean: Array,
    variance: Array,
    low: Array,
    high: Array,
    least: Array,
    centers: Array,
    spreads: Array,
) -> None:
    """Follow Fisher scoring from centers and spreads, in place, until none of the normals moves."""
    width = high - low
    for group in range(len(centers)):
        for place in range(len(low)):
            centers[group, place] = _within(
                (centers[group, place] - low[place]) / width[place], 0.0, 1.0
            )
            narrow = max(spreads[group, place] / width[place], least[place])
            spreads[group, place] = min(math.log(narrow), 0.0)
    for _ in range(N_STEPS):
        furthest = 0.0
        for group in range(len(centers)):
            for place in range(len(low)):
                center, log_spread = centers[group, place], spreads[group, place]
                ahead, grown = _step(
                    (mean[group, place] - low[place]) / width[place],
                    variance[group, place] / width[place] ** 2,
                    center,
                    log_spread,
                    math.log(least[place]),
                )
                furthest = max(furthest, abs(ahead - center), abs(grown - log_spread))
                centers[group, place], spreads[group, place] = ahead, grown
        if furthest < NO_STEP:
            break
    for group in range(len(centers)):
        for place in range(len(low)):
            centers[group, place] = low[place] + width[place] * centers[group, place]
            spreads[group, place] = width[place] * math.exp(spreads[group, place])


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _step(mean: float, square: float, center: float, log_spread: float, least: float) -> Any:
    """One step of Fisher scoring within the limits of center and spread."""
    spread = math.exp(log_spread)
    a, b = -center / spread, (1 - center) / spread
    inside = NORMAL * (_below(b) - _below(a))
    at_a, at_b = math.exp(-0.5 * a * a) / inside, math.exp(-0.5 * b * b) / inside
    # The first four moments of (x - center) / spread, by the recursion for truncated normals.
    first, second = at_a - at_b, 1 + a * at_a - b * at_b
    third = 2 * first + a * a * at_a - b * b * at_b
    fourth = 3 * second + a**3 * at_a - b**3 * at_b
    # The gradient is what these moments differ by from those wanted, the information their covariance.
    away = (mean - center) / spread
    by_center, by_spread = first - away, second - away * away - square / (spread * spread)
    var_center, both = second - first * first, third - first * second
    var_spread = fourth - second * second
    scale = var_center * var_spread - both * both
    move = (both * by_spread - var_spread * by_center) / scale
    grow = (both * by_center - var_center * by_spread) / scale
    ahead = _within(center + spread * _within(move, -1.0, 1.0), 0.0, 1.0)
    # Where the center ends at a limit, the spread goes where that center wants it; and the other way round.
    if ahead <= 0.0 or ahead >= 1.0:
        grow = -(by_spread + both * (ahead - center) / spread) / var_spread
    grown = _within(log_spread + _within(grow, -0.7, 0.7), least, 0.0)
    if grown <= least or grown >= 0.0:
        move = -(by_center + both * (grown - log_spread)) / var_center
        ahead = _within(center + spread * _within(move, -1.0, 1.0), 0.0, 1.0)
    return ahead, grown


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def maximise(
    latent: Array,
    low: Array,
    high: Array,
    drawn_from: Array,
    weights: Array,
    likelihood: Array,
    counted: Array,
    least: Array,
    n_rounds: int,
) -> Any:
    """Expectation maximisation with the draws that there are, weighted anew in every round.

    Args:
        latent: ``(n_parameters, n_draws)`` draws, on the scale of each prior.
        low, high: ``(n_parameters,)`` limits on that scale.
        drawn_from: ``(n_draws,)`` log density of what the draws are of.
        weights: ``(n_groups, n_draws)`` to set out from, each summing to one.
        likelihood: ``(n_draws, n_units)`` of each unit's responses, the largest of each unit 1.
        counted: ``(n_groups, n_units)`` 1 where a unit teaches a group's population, else 0.
        least: ``(n_parameters,)`` smallest spreads, as shares of the ranges.
        n_rounds: Most rounds; none is begun with so few draws left that count.

    Returns:
        Centers and spreads, ``(n_groups, n_parameters)`` each, and the weights of the draws in these populations.
    """
    n_groups, n_draws = weights.shape
    n_parameters = len(low)
    square = latent**2
    centers, spreads = np.empty((n_groups, n_parameters)), np.empty((n_groups, n_parameters))
    for number in range(n_rounds):
        # Expectation: how much of each draw the units are, on average.
        explained = np.maximum(weights @ likelihood, 1e-300)
        posterior = weights * ((counted / explained) @ likelihood.T)
        for group in range(n_groups):
            posterior[group] /= counted[group].sum()
        mean = posterior @ latent.T
        variance = np.maximum(posterior @ square.T - mean**2, 0.0)
        # Maximisation: the normals with these moments, from those of the round before on.
        old_centers, old_spreads = centers.copy(), spreads.copy()
        if number == 0:
            centers, spreads = mean.copy(), np.sqrt(variance)
        _score(mean, variance, low, high, least, centers, spreads)
        weights = _log_density(latent, centers, spreads, low, high) - drawn_from
        most = 0.0
        for group in range(n_groups):
            weights[group] = np.exp(weights[group] - weights[group].max())
            weights[group] /= weights[group].sum()
            most = max(most, (weights[group] ** 2).sum())
        if most * n_draws > 1 / LEAST_SHARE:
            break
        if number and _moved(old_centers, old_spreads, centers, spreads, high - low) < SETTLED:
            break
    return centers, spreads, weights


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _moved(center: Array, spread: Array, later: Array, wider: Array, width: Array) -> Any:
    """Largest change of centers, in widths of the range, or of logarithms of spreads."""
    by_center = np.abs((later - center) / width).max()
    return max(by_center, np.abs(np.log(wider / spread)).max())


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _log_density(latent: Array, center: Array, spread: Array, low: Array, high: Array) -> Any:
    n_parameters, n_draws = latent.shape
    found = np.zeros((len(center), n_draws))
    for group in range(len(center)):
        constant = 0.0
        for place in range(n_parameters):
            middle, width = center[group, place], spread[group, place]
            if math.isnan(middle):
                constant -= math.log(high[place] - low[place])
                continue
            inside = _below((high[place] - middle) / width) - _below((low[place] - middle) / width)
            constant -= math.log(NORMAL * width * max(inside, 1e-300))
            for draw in range(n_draws):
                scaled = (latent[place, draw] - middle) / width
                found[group, draw] -= 0.5 * scaled * scaled
        for draw in range(n_draws):
            found[group, draw] += constant
    return found


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _below(value: float) -> float:
    """Standard normal distribution function."""
    return 0.5 * math.erfc(-value / ROOT)


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
