"""Sampling a hierarchical posterior from likelihoods alone, for theories without a useful gradient.

All chains and all units (people, or pooled experiments) move at once, so that one call of a theory serves them all:

1. every unit by Metropolis: by a draw from the normal distribution that a pilot (`fitting.pilot`) found for its
   posterior given the population; by a random walk with a proposal of its own, adapted during tuning and then fixed; or
   by a draw from its population, which crosses the flat stretches and steps of a rule;
2. the population's center given the units, by its normal conditional distribution, and its spread by Metropolis;
   neither needs the theory;
3. center and spread once more with partly centered offsets held instead of the units: a unit's offset is the more
   centered, the more its responses say about it.

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

from lakatos.theories.engine.fitting.pilot import Pilot, find_pilot

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
LogLikelihood = Callable[[Array], Array]
"""Latent values ``(n_chains, n_units, n_parameters)`` to log-likelihoods ``(n_chains, n_units)`` in nats."""
Done = Callable[[int, int], None]
"""Takes the sweeps that are done, and all of them."""
ACCEPTANCE = 0.3
"""Share of accepted moves aimed at; between the optima of one dimension (0.44) and of many (0.234)."""
FROM_POPULATION, FROM_PILOT = 0.15, 0.6
"""Share of sweeps that propose from the population, and from the pilot's normal distributions; others walk."""
OFFSETS_HELD = 0.5
"""Share of sweeps in which the population moves by the pilot's normal likelihoods, all offsets held."""
WIDER, FREEDOM = 1.1, 6.0
"""Times the standard deviations of the pilot, and degrees of freedom, of proposals from there."""
N_CHAINS = 16
"""Chains where nobody says how many. A call of a theory costs nearly as much for four: 16 chains of timed answers gave
two to four times as many independent draws for the same processor time."""
WINDOWS = (0.1, 0.25, 0.5, 0.75)
"""Parts of the tuning after which proposals are shaped anew."""
SPREAD_MOVES = 4


@dataclass(frozen=True)
class ChainDraws:
    """Draws of the chains after tuning."""

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
    done: Done | None = None,
    most: int = 0,
    enough: Callable[[ChainDraws], bool] | None = None,
) -> ChainDraws:
    """Draws of center, spread and every unit's latent values; the same for the same ``rng``.

    Args:
        log_likelihood: Log likelihood of each unit's responses.
        shared: ``(n_units,)``, whether a unit is ruled by the declared prior instead of a population.
        n_parameters: Number of parameters of the theory, at least one.
        draws: Kept of each chain; as many again until they are ``enough``.
        tune: Thrown away before.
        chains: Chains.
        sweeps: Sweeps through all moves for each draw.
        rng: Decides everything.
        done: Is called before each sweep.
        most: Draws of each chain beyond which no more are made.
        enough: Looks at all draws so far; without it there are ``draws``.
    """
    n_tune = tune * sweeps
    windows = [round(part * n_tune) for part in WINDOWS]
    pilot = find_pilot(log_likelihood, ~shared, n_parameters, rng)
    walk = _PopulationWalk(log_likelihood, ~shared, pilot, chains, rng)
    visited: list[tuple[Array, Array]] = []
    kept: list[tuple[Array, Array, Array, Array]] = []
    for sweep in range(n_tune):
        if done is not None:
            done(sweep, n_tune + draws * sweeps)
        if sweep in windows and visited:
            walk.reshape(visited)
            visited = []
        walk.sweep(tuning=True)
        visited.append((walk.z, walk.population))
    while True:
        n_all = n_tune + (len(kept) + draws) * sweeps
        for sweep in range(n_tune + len(kept) * sweeps, n_all):
            if done is not None:
                done(sweep, n_all)
            accepted = walk.sweep(tuning=False)
            if (sweep - n_tune) % sweeps == sweeps - 1:
                kept.append((walk.z, walk.center, walk.spread, accepted.mean(axis=1)))
        pieces = [np.stack(column, axis=1) for column in zip(*kept, strict=True)]
        if shared.all():
            pieces[1:3] = [piece[..., :0] for piece in pieces[1:3]]
        found = ChainDraws(*pieces)
        if enough is None or len(kept) >= most or enough(found):
            return found


class _PopulationWalk:
    """Positions of all chains, and how they move."""

    z: Array
    """``(n_chains, n_units, n_parameters)``."""
    value: Array
    """``(n_chains, n_units)`` log-likelihood there."""
    center: Array
    spread: Array
    """``(n_chains, n_parameters)`` of the population."""

    def __init__(
        self,
        log_likelihood: LogLikelihood,
        ruled: Bools,
        pilot: Pilot,
        n_chains: int,
        rng: np.random.Generator,
    ) -> None:
        """Begin around the pilot; ``ruled``: ``(n_units,)`` whether a unit is ruled by the population."""
        self.log_likelihood, self.ruled, self.rng, self.pilot = log_likelihood, ruled, rng, pilot
        self.centering = pilot.centering[ruled]
        n_units, self.n_parameters = pilot.mean.shape
        self.has_population = bool(ruled.any())
        shape = (n_chains, self.n_parameters)
        self.center = pilot.center + 0.5 * rng.standard_normal(shape) * self.has_population
        self.spread = pilot.spread * np.exp(0.3 * rng.standard_normal(shape) * self.has_population)
        self.z, _, _ = self._from_pilot(None)
        self.value = log_likelihood(self.z)
        self.of_units = WalkProposal.initial(n_units, self.n_parameters)
        self.of_population = WalkProposal.initial(1, 2 * self.n_parameters)
        self.of_population.root *= 0.4
        self.n_since = 0
        """Sweeps since proposals were shaped."""

    @property
    def population(self) -> Array:
        """``(n_chains, 1, 2 * n_parameters)`` center and log spread."""
        return np.concatenate([self.center, np.log(self.spread)], axis=1)[:, None]

    def reshape(self, visited: list[tuple[Array, Array]]) -> None:
        """Shape proposals by the units and populations that were visited."""
        self.of_units.reshape(np.stack([units for units, _ in visited]))
        if self.has_population:
            self.of_population.reshape(np.stack([population for _, population in visited]))
        self.n_since = 0

    def sweep(self, *, tuning: bool) -> Bools:
        """Make all moves once: ``(n_chains, n_units)`` whether each unit's own move was accepted."""
        self.n_since += 1
        accepted = self._move_units(tuning=tuning)
        if self.has_population:
            ruled = self.z[:, self.ruled]
            self.center, self.spread = _given_units(ruled, self.spread, self.rng)
            if self.rng.random() < OFFSETS_HELD:
                self._move_by_pilot()
            else:
                self._move_population(tuning=tuning)
        return accepted

    def _move_units(self, *, tuning: bool) -> Bools:
        """Step 1: every unit for itself."""
        kind = self.rng.random()
        walks = kind >= FROM_POPULATION + FROM_PILOT
        if kind < FROM_POPULATION:
            mean, sd = self._prior()
            proposed = mean + sd * self.rng.standard_normal(self.z.shape)
            odds = np.zeros(self.value.shape)
        else:
            if walks:
                proposed = self.z + self.of_units.step(self.z.shape, self.rng)
                odds = np.zeros(self.value.shape)
            else:
                proposed, there, here = self._from_pilot(self.z)
                odds = here - there
            odds = odds + self._log_prior(proposed) - self._log_prior(self.z)
        new = self.log_likelihood(proposed)
        accepted = np.log(self.rng.random(odds.shape)) < new - self.value + odds
        self.z = np.where(accepted[..., None], proposed, self.z)
        self.value = np.where(accepted, new, self.value)
        if tuning and walks:
            self.of_units.rescale(accepted, self.n_since)
        return accepted

    def _from_pilot(self, z: Array | None) -> tuple[Array, Array, Array]:
        """Draws of the units given their populations, by Student's t around the pilot's posteriors.

        Returns:
            The draws, and log densities ``(n_chains, n_units)`` of the draws and of ``z`` up to one constant.
        """
        mean, sd = self._prior()
        n = self.n_parameters
        own = np.broadcast_to(sd**-2, (len(self.center), *self.pilot.mean.shape))
        precision = self.pilot.precision + np.eye(n) * own[..., None]
        at = np.linalg.solve(precision, (self.pilot.shift + mean * own)[..., None])[..., 0]
        root = np.linalg.cholesky(precision)
        shape = at.shape
        noise = self.rng.standard_normal(shape)
        chi = self.rng.chisquare(FREEDOM, shape[:2]) / FREEDOM
        noise *= WIDER / np.sqrt(chi)[..., None]
        away = np.linalg.solve(np.swapaxes(root, -1, -2), noise[..., None])[..., 0]
        drawn = at + away

        def density(places: Array) -> Array:
            scaled = np.einsum("cuij,cui->cuj", root, places - at) / WIDER
            return np.asarray(-0.5 * (FREEDOM + n) * np.log1p((scaled**2).sum(axis=-1) / FREEDOM))

        return drawn, density(drawn), density(drawn if z is None else z)

    def _prior(self) -> tuple[Array, Array]:
        """Mean and standard deviation of each unit's prior, ``(n_chains, n_units, n_parameters)``."""
        ruled = self.ruled[:, None]
        return np.where(ruled, self.center[:, None], 0.0), np.where(
            ruled, self.spread[:, None], 1.0
        )

    def _log_prior(self, z: Array) -> Array:
        """``(n_chains, n_units)`` log density of units given their population, up to a constant of spread."""
        mean, sd = self._prior()
        return np.asarray(-0.5 * (((z - mean) / sd) ** 2).sum(axis=-1))

    def _move_by_pilot(self) -> None:
        """Step 3: center and spread by Student's t around what the pilot's normal likelihoods say, all offsets held."""
        n = self.n_parameters
        free = (self.z[:, self.ruled] - self.center[:, None]) / self.spread[:, None]
        part, shift = self.pilot.precision[self.ruled], self.pilot.shift[self.ruled]
        # The units' values are linear in center and spread: z = center + spread * offset.
        precision = np.empty((len(free), 2 * n, 2 * n))
        precision[:, :n, :n] = part.sum(axis=0)
        precision[:, :n, n:] = np.einsum("uij,cuj->cij", part, free)
        precision[:, n:, :n] = np.swapaxes(precision[:, :n, n:], 1, 2)
        precision[:, n:, n:] = np.einsum("cui,uij,cuj->cij", free, part, free)
        precision += np.eye(2 * n)
        linear = np.concatenate(
            [np.tile(shift.sum(axis=0), (len(free), 1)), np.einsum("uj,cuj->cj", shift, free)],
            axis=1,
        )
        at = np.linalg.solve(precision, linear[..., None])[..., 0]
        root = np.linalg.cholesky(precision)
        noise = self.rng.standard_normal(at.shape)
        noise *= WIDER / np.sqrt(self.rng.chisquare(FREEDOM, len(free)) / FREEDOM)[:, None]
        proposed = at + np.linalg.solve(np.swapaxes(root, 1, 2), noise[..., None])[..., 0]

        def density(places: Array) -> Array:
            scaled = np.einsum("cij,ci->cj", root, places - at) / WIDER
            return np.asarray(
                -0.5 * (FREEDOM + 2 * n) * np.log1p((scaled**2).sum(axis=-1) / FREEDOM)
            )

        here = np.concatenate([self.center, self.spread], axis=1)
        center, spread = proposed[:, :n], proposed[:, n:]
        possible = (spread > 0).all(axis=1)
        spread = np.where(possible[:, None], spread, self.spread)
        moved = self.z.copy()
        moved[:, self.ruled] = center[:, None] + spread[:, None] * free
        new = self.log_likelihood(moved)
        gain = new.sum(axis=1) - self.value.sum(axis=1)
        gain += 0.5 * (here**2 - proposed**2).sum(axis=1) + density(here) - density(proposed)
        accepted = (possible & (np.log(self.rng.random(len(free))) < gain))[:, None]
        self.center = np.where(accepted, center, self.center)
        self.spread = np.where(accepted, spread, self.spread)
        self.z = np.where(accepted[..., None], moved, self.z)
        self.value = np.where(accepted, new, self.value)

    def _move_population(self, *, tuning: bool) -> None:
        """Step 3: center and spread, the units' partly centered offsets held.

        A unit's offset is ``centering * center + spread**centering * (z - center) / spread``.
        """
        n = self.n_parameters
        step = self.of_population.step((len(self.z), 1, 2 * n), self.rng)[:, 0]
        center = self.center + step[:, :n]
        spread = self.spread * np.exp(step[:, n:])
        free = (self.z[:, self.ruled] - self.center[:, None]) / self.spread[:, None]
        moved, again = (
            self.z.copy(),
            _recentered(free, self.centering, self.center, self.spread, center, spread),
        )
        moved[:, self.ruled] = center[:, None] + spread[:, None] * again
        new = self.log_likelihood(moved)
        gain = new.sum(axis=1) - self.value.sum(axis=1)
        gain += _log_held(center, spread, again, self.centering)
        gain -= _log_held(self.center, self.spread, free, self.centering)
        accepted = (np.log(self.rng.random(len(self.z))) < gain)[:, None]
        self.center = np.where(accepted, center, self.center)
        self.spread = np.where(accepted, spread, self.spread)
        self.z = np.where(accepted[..., None], moved, self.z)
        self.value = np.where(accepted, new, self.value)
        if tuning:
            self.of_population.rescale(accepted, self.n_since)


def _recentered(
    free: Array, centering: Array, center: Array, spread: Array, to_center: Array, to_spread: Array
) -> Array:
    """Offsets ``(z - center) / spread`` in another population, whose partly centered offsets stay as they are."""
    held = centering * center[:, None] + spread[:, None] ** centering * free
    return np.asarray((held - centering * to_center[:, None]) / to_spread[:, None] ** centering)


def _log_held(center: Array, spread: Array, free: Array, centering: Array) -> Array:
    """``(n_chains,)`` log density of center, log spread and the partly centered offsets, up to a constant.

    center ~ Normal(0, 1), spread ~ HalfNormal(1), and each offset ~ Normal(centering * center, spread**centering).

    Args:
        center, spread: ``(n_chains, n_parameters)``.
        free: ``(n_chains, n_units, n_parameters)`` values of ``(z - center) / spread``.
        centering: ``(n_units, n_parameters)``.
    """
    population = -0.5 * center**2 - 0.5 * spread**2 + np.log(spread)
    offsets = -0.5 * free**2 - centering * np.log(spread)[:, None]
    return np.asarray(population.sum(axis=-1) + offsets.sum(axis=(1, 2)))


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
