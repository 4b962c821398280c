"""Sampling a hierarchical posterior from likelihoods alone, for theories without a useful gradient.

All chains and all units (people, or pooled experiments) move at once, so that one call of a theory serves them all:

1. every unit by random-walk Metropolis with a proposal of its own, adapted during tuning and then fixed, or now and
   then by a draw from its population, which crosses the flat stretches and steps of a rule;
2. the population's center given the units, by its normal conditional distribution, and its spread by Metropolis;
   neither needs the theory;
3. center and spread once more with the units' offsets held instead of the units, which helps where people's answers
   say little about each of them, as step 2 does where they say much.

References:
    Haario, Saksman & Tamminen (2001), Bernoulli 7(2), 223-242 (adaptation); Roberts & Rosenthal (2001), Statistical
    Science 16(4), 351-367 (scale); Yu & Meng (2011), Journal of Computational and Graphical Statistics 20(3), 531-570
    (interweaving).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
LogLikelihood = Callable[[Array], Array]
"""Latent values ``(n_chains, n_units, n_parameters)`` to log-likelihoods ``(n_chains, n_units)`` in nats."""
ACCEPTANCE = 0.3
"""Share of accepted moves aimed at; between the optima of one dimension (0.44) and of many (0.234)."""
FROM_POPULATION = 0.1
"""Share of sweeps that propose from the population."""
WINDOWS = (0.1, 0.25, 0.5, 0.75)
"""Parts of the tuning after which proposals are shaped anew."""
SPREAD_MOVES = 4


@dataclass(frozen=True)
class ChainDraws:
    """What the chains visited after tuning."""

    z: Array
    """``(n_chains, n_draws, n_units, n_parameters)`` on the scale where a declared prior is standard normal."""
    center: Array
    """``(n_chains, n_draws, n_parameters)``; of no parameters where no unit is ruled by a population."""
    spread: Array
    acceptance: Array
    """``(n_chains, n_draws)`` share of units that moved in the last sweep."""


@dataclass
class WalkProposal:
    """Random-walk steps for many targets at once, shaped while tuning lasts."""

    root: Array
    """``(n_targets, n, n)`` Cholesky factor of each target's covariance."""
    log_scale: Array
    """``(n_targets,)``."""

    @classmethod
    def initial(cls, n_targets: int, n: int) -> WalkProposal:
        """Half a standard deviation of the prior in every direction."""
        return cls(np.tile(0.5 * np.eye(n), (n_targets, 1, 1)), np.full(n_targets, _best_scale(n)))

    def step(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw steps for all chains and targets: ``(n_chains, n_targets, n)``."""
        steps = np.einsum("tij,ctj->cti", self.root, rng.standard_normal(shape))
        return np.asarray(np.exp(self.log_scale)[:, None] * steps)

    def rescale(self, accepted: Bools, n_sweeps: int) -> None:
        """Longer steps where more than `ACCEPTANCE` of ``(n_chains, n_targets)`` were accepted, shorter elsewhere."""
        self.log_scale = self.log_scale + (accepted.mean(axis=0) - ACCEPTANCE) * min(
            1.0, 5.0 / np.sqrt(n_sweeps)
        )

    def reshape(self, visited: Array) -> None:
        """Take the covariance of what was visited, ``(n_sweeps, n_chains, n_targets, n)``, pulled towards a sphere."""
        n = visited.shape[-1]
        flat = np.moveaxis(visited, 2, 0).reshape(visited.shape[2], -1, n)
        centered = flat - flat.mean(axis=1, keepdims=True)
        covariance = np.einsum("tsi,tsj->tij", centered, centered) / max(flat.shape[1] - 1, 1)
        weight = len(visited) / (len(visited) + 5.0 * n)
        mean_variance = np.trace(covariance, axis1=1, axis2=2)[:, None, None] / n
        self.root = np.linalg.cholesky(
            weight * covariance + ((1 - weight) * mean_variance + 1e-8) * np.eye(n)
        )
        self.log_scale = np.full_like(self.log_scale, _best_scale(n))


def _best_scale(n: int) -> float:
    """Log of the best scale for a normal target in ``n`` dimensions."""
    return float(np.log(2.38 / np.sqrt(n)))


def sample(
    log_likelihood: LogLikelihood,
    shared: Bools,
    n_parameters: int,
    *,
    draws: int,
    tune: int,
    chains: int,
    sweeps: int,
    rng: np.random.Generator,
) -> ChainDraws:
    """Draws of center, spread and every unit's latent values; the same for the same ``rng``.

    Args:
        log_likelihood: Of each unit's answers.
        shared: ``(n_units,)``, whether a unit is ruled by the declared prior instead of a population.
        n_parameters: Of the theory, at least one.
        draws: Kept of each chain.
        tune: Thrown away before.
        chains: Chains.
        sweeps: Sweeps through all moves for each draw.
        rng: Decides everything.
    """
    n_units, ruled = len(shared), ~shared
    n_ruled = int(ruled.sum())
    center = 0.5 * rng.standard_normal((chains, n_parameters)) * (n_ruled > 0)
    spread = np.exp(0.3 * rng.standard_normal((chains, n_parameters)) * (n_ruled > 0))
    z = rng.standard_normal((chains, n_units, n_parameters))
    z[:, ruled] = center[:, None] + spread[:, None] * z[:, ruled]
    value = log_likelihood(z)
    own, population = (
        WalkProposal.initial(n_units, n_parameters),
        WalkProposal.initial(1, 2 * n_parameters),
    )
    population.root *= 0.4
    n_tune = tune * sweeps
    windows = [round(part * n_tune) for part in WINDOWS]
    visited: list[tuple[Array, Array]] = []
    since = 0
    kept: list[tuple[Array, Array, Array, Array]] = []

    def prior(z: Array, center: Array, spread: Array) -> Array:
        """``(n_chains, n_units)`` log density of units given their population, up to a constant of spread."""
        mean, sd = (
            np.where(ruled[:, None], of[:, None], by) for of, by in ((center, 0.0), (spread, 1.0))
        )
        return np.asarray(-0.5 * (((z - mean) / sd) ** 2).sum(axis=-1))

    for sweep in range(n_tune + draws * sweeps):
        tuning = sweep < n_tune
        if tuning and sweep in windows and visited:
            own.reshape(np.stack([item for item, _ in visited]))
            if n_ruled:
                population.reshape(np.stack([item for _, item in visited]))
            visited, since = [], 0
        since += 1
        independent = rng.random() < FROM_POPULATION
        if independent:
            fresh = rng.standard_normal(z.shape)
            proposed = np.where(ruled[:, None], center[:, None] + spread[:, None] * fresh, fresh)
        else:
            proposed = z + own.step(z.shape, rng)
        new = log_likelihood(proposed)
        gain = new - value
        if not independent:
            gain = gain + prior(proposed, center, spread) - prior(z, center, spread)
        accepted = np.log(rng.random(gain.shape)) < gain
        z, value = np.where(accepted[..., None], proposed, z), np.where(accepted, new, value)
        if tuning and not independent:
            own.rescale(accepted, since)
        if n_ruled:
            center, spread = _given_units(z[:, ruled], spread, rng)
            step = population.step((chains, 1, 2 * n_parameters), rng)[:, 0]
            other_center = center + step[:, :n_parameters]
            other_spread = spread * np.exp(step[:, n_parameters:])
            moved = z.copy()
            offsets = (z[:, ruled] - center[:, None]) / spread[:, None]
            moved[:, ruled] = other_center[:, None] + other_spread[:, None] * offsets
            new = log_likelihood(moved)
            gain = new.sum(axis=1) - value.sum(axis=1)
            gain += _population(other_center, other_spread) - _population(center, spread)
            better = np.log(rng.random(chains)) < gain
            pick = better[:, None]
            center, spread = (
                np.where(pick, other_center, center),
                np.where(pick, other_spread, spread),
            )
            z, value = np.where(pick[..., None], moved, z), np.where(pick, new, value)
            if tuning:
                population.rescale(pick, since)
        if tuning:
            visited.append((z, np.concatenate([center, np.log(spread)], axis=1)[:, None]))
        elif (sweep - n_tune) % sweeps == sweeps - 1:
            kept.append((z, center, spread, accepted.mean(axis=1)))
    pieces = [np.stack(column, axis=1) for column in zip(*kept, strict=True)]
    if not n_ruled:
        pieces[1:3] = [piece[..., :0] for piece in pieces[1:3]]
    return ChainDraws(*pieces)


def _population(center: Array, spread: Array) -> Array:
    """``(n_chains,)`` log density of center ~ Normal(0, 1) and log spread for spread ~ HalfNormal(1)."""
    return np.asarray((-0.5 * center**2 - 0.5 * spread**2 + np.log(spread)).sum(axis=-1))


def _given_units(z: Array, spread: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Center and spread given the latent values of the units, ``(n_chains, n_units, n_parameters)``."""
    n_units = z.shape[1]
    precision = 1 + n_units / spread**2
    mean = z.sum(axis=1) / spread**2 / precision
    center = mean + rng.standard_normal(mean.shape) / np.sqrt(precision)
    squares = ((z - center[:, None]) ** 2).sum(axis=1)

    def density(log_spread: Array) -> Array:
        return np.asarray(
            -0.5 * np.exp(2 * log_spread)
            + (1 - n_units) * log_spread
            - squares * np.exp(-2 * log_spread) / 2
        )

    log_spread = np.log(spread)
    for _ in range(SPREAD_MOVES):
        proposed = log_spread + 2.4 / np.sqrt(2 * n_units) * rng.standard_normal(log_spread.shape)
        accepted = np.log(rng.random(log_spread.shape)) < density(proposed) - density(log_spread)
        log_spread = np.where(accepted, proposed, log_spread)
    return center, np.exp(log_spread)
