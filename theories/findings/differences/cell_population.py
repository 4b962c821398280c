"""The population of cells, and how uncertain it is.

A population is a normal of independent parameters on their scales, truncated to their ranges. Its center has the same
density anywhere within a range. Its standard deviation has a half-normal density whose own standard deviation is that
of the declared population. With few cells, or where responses say little about a parameter, the population that is
most likely can be far too narrow; a cell's posterior under it would be, too. So populations are drawn from their
posterior, in which every cell's own parameters are integrated out over draws of them, by an ensemble of walkers.

References:
    Goodman & Weare (2010), Communications in Applied Mathematics and Computational Science 5(1), 65-80 (the walkers).
    Lunn, Barrett, Sweeting & Thompson (2013), Journal of the Royal Statistical Society C 62(4), 551-572 (a hierarchical
    model from draws of each unit).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

Array = NDArray[np.float64]
WALKERS_EACH = 8
"""Walkers for each number of a population."""
N_UNUSED, N_USED, N_BETWEEN = 200, 10, 10
"""Steps before the first that is used; steps of which all walkers are used; and steps from one of these to the next."""
N_POPULATIONS = 200
LONGEST = 2.0
"""Longest stretch of a step, and the reciprocal of the shortest."""


@dataclass(frozen=True)
class CellPopulation:
    """A normal of independent parameters on their scales, before it is truncated to their ranges."""

    center: Array
    sd: Array
    """``(n_parameters,)`` each."""

    def log_density(self, points: Array) -> Array:
        """``(n_points,)`` of ``(n_points, n_parameters)``."""
        away = (points - self.center) / self.sd
        return np.asarray(-0.5 * (away**2).sum(axis=-1) - np.log(self.sd).sum())


@dataclass(frozen=True)
class PopulationDraws:
    """Populations drawn from their posterior."""

    center: Array
    sd: Array
    """``(n_draws, n_parameters)`` each."""

    @property
    def middle(self) -> CellPopulation:
        """The one that stands for all: mean centers, and root mean squares of standard deviations."""
        return CellPopulation(self.center.mean(axis=0), np.sqrt((self.sd**2).mean(axis=0)))

    def log_density(self, points: Array) -> Array:
        """``(n_draws, n_points)``."""
        precision = self.sd**-2
        square = precision @ (points**2).T - 2 * (precision * self.center) @ points.T
        constant = (precision * self.center**2).sum(axis=1) / 2 + np.log(self.sd).sum(axis=1)
        return np.asarray(-0.5 * square - constant[:, None])


def draw_populations(
    cells: Array,
    log_weights: Array,
    start: CellPopulation,
    ends: Array,
    least: Array,
    usual: Array,
    rng: np.random.Generator,
) -> PopulationDraws:
    """Draw populations from their posterior.

    Args:
        cells: ``(n_cells, n_draws, n_parameters)`` draws of each cell's parameters.
        log_weights: ``(n_cells, n_draws)`` log likelihood of a cell's responses minus log density of its draws.
        start: Near which walkers begin.
        ends: ``(2, n_parameters)`` of the ranges.
        least: ``(n_parameters,)`` smallest standard deviation.
        usual: ``(n_parameters,)`` standard deviation of the density of a standard deviation.
        rng: Generator for the walkers.
    """
    n_cells, n_draws, size = cells.shape
    flat = cells.reshape(-1, size)

    def log_posterior(numbers: Array) -> Array:
        """``(n_walkers,)`` at centers beside logarithms of standard deviations."""
        drawn = PopulationDraws(numbers[:, :size], np.exp(numbers[:, size:]))
        allowed = ((drawn.center >= ends[0]) & (drawn.center <= ends[1]) & (drawn.sd >= least)).all(
            axis=1
        )
        log_p = drawn.log_density(flat).reshape(-1, n_cells, n_draws) + log_weights
        inside = _log_inside(drawn, ends).sum(axis=1)
        found = logsumexp(log_p, axis=2).sum(axis=1) - n_cells * inside
        found += (numbers[:, size:] - 0.5 * (drawn.sd / usual) ** 2).sum(axis=1)
        return np.where(allowed, found, -np.inf)

    n_walkers = 2 * size * WALKERS_EACH
    centers = start.center + start.sd / np.sqrt(n_cells) * rng.standard_normal((n_walkers, size))
    sds = np.maximum(start.sd, 1.1 * least) * np.exp(0.2 * rng.standard_normal((n_walkers, size)))
    walkers = np.concatenate(
        [np.clip(centers, *ends), np.log(np.maximum(sds, 1.01 * least))], axis=1
    )
    reached = log_posterior(walkers)
    used = []
    for step in range(N_UNUSED + N_USED * N_BETWEEN):
        for half in (0, 1):
            own, other = walkers[half::2], walkers[1 - half :: 2]
            stretch = ((LONGEST - 1) * rng.random(len(own)) + 1) ** 2 / LONGEST
            partner = other[rng.integers(len(other), size=len(own))]
            ahead = partner + stretch[:, None] * (own - partner)
            there = log_posterior(ahead)
            gained = (2 * size - 1) * np.log(stretch) + there - reached[half::2]
            moves = np.log(rng.random(len(own))) < gained
            walkers[half::2] = np.where(moves[:, None], ahead, own)
            reached[half::2] = np.where(moves, there, reached[half::2])
        if step >= N_UNUSED and (step - N_UNUSED) % N_BETWEEN == N_BETWEEN - 1:
            used.append(walkers.copy())
    every = np.concatenate(used)
    chosen = every[rng.permutation(len(every))[:N_POPULATIONS]]
    return PopulationDraws(chosen[:, :size], np.exp(chosen[:, size:]))


def _log_inside(drawn: PopulationDraws, ends: Array) -> Array:
    """``(n_draws, n_parameters)`` log share of a population that lies within the ranges."""
    low, high = ((end - drawn.center) / drawn.sd for end in ends)
    return np.asarray(np.log(np.maximum(ndtr(high) - ndtr(low), 1e-300)))
