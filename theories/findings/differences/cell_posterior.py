"""Posteriors of each parameter of a theory from the responses of each participant in each condition.

A *cell* is the responses of one participant in one condition. The posterior of every cell is found under one population
for all cells, so that no label of a condition or a group has a part in it. Points are drawn from that population first,
and then around each cell's own posterior, until each cell has enough effective points; all of them count for every
cell, as draws of the mixture of what they were drawn from (adaptive multiple importance sampling).

Parameters are compared on the scale of their prior: logarithms where the prior is logarithmic, log odds of shares, the
plain values of others. The population is a normal of independent parameters within their ranges; its own uncertainty
is part of each posterior (`findings.differences.cell_population`). Where responses say little about a parameter, its
correlation with a well-known one would be estimated near 1 by chance; each cell would then repeat the other parameter's
value as if it were its own, and an effect on one would be shown as an effect on both.

A cell's *information* is what remains of its posterior when the population is divided out, in the normal approximation:
a cell whose responses say little about a parameter has a large variance there, and hardly counts where cells are
compared.

References:
    Cornuet, Marin, Mira & Robert (2012), Scandinavian Journal of Statistics 39, 798-812 (the sampler).
    Minka (2001), Expectation propagation, UAI, 362-369 (a likelihood as the quotient of posterior and prior).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.differences.cell_population import (
    CellPopulation,
    PopulationDraws,
    draw_populations,
)
from lakatos.theories.language.prior import Prior, as_normal, draw_population
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
Scale = Literal["log", "logit", "plain"]
N_FIRST, WALKING_FIRST = 512, 256
"""Points drawn from the population of all cells; of theories that are walked through answers one by one."""
N_NEAR, WALKING_NEAR = 64, 16
"""Points drawn around each cell's posterior in a round."""
N_ROUNDS, MOST_ROUNDS = 5, 16
"""Rounds for all cells, and at most for those with few effective points."""
ENOUGH_EFFECTIVE = 100
"""Effective points with which no further ones are drawn around a cell."""
FEW_EFFECTIVE = 40
"""Effective points below which a cell has no interval."""
MOST_TOGETHER = 48
"""Cells whose points are tried on one another."""
WIDER, WIDEST = 1.2, 3.0
"""Times the standard deviation of a cell's posterior, from which its next points are drawn, and a quarter of them."""
SMALLEST = 0.02
"""Standard deviation of a population and of a proposal, as a share of the parameter's range, at least."""
SMALLEST_SHARE = 1e-3
"""Shares are at least this far from 0 and 1 where their log odds are taken."""
LEAST_EFFECTIVE = 3
"""Effective points for each parameter that a proposal rests on, at least; likelihoods are flattened until it does."""
LEAST_INFORMATION = 0.02
"""Least information of a cell, relative to the population's own precision: no direction counts less."""
N_RESAMPLED, FEWEST_RESAMPLED = 6000, 64
"""Draws of all cells with which populations are drawn, and of each cell, at least."""
LEAST_SPREAD = 0.4
"""Smallest share of the declared population's standard deviation: a narrower population does not decide where points
are drawn."""
WIDER_POPULATION = 1.5
"""Times the population's standard deviation, for these draws."""
MOST_RATIO = 300.0
"""Largest log ratio of densities under two populations, in nats; more occurs only far from every cell."""
N_LEARNED = 12
"""Rounds of expectation maximisation of the population, after each round of points."""


@dataclass(frozen=True)
class ParameterScale:
    """The scale on which a parameter is compared between cells, and the way back."""

    name: str
    kind: Scale
    low: float
    high: float
    """Ends of the declared range, on the scale."""
    unit: str = ""
    meaning: str = ""

    def to_scale(self, values: Array) -> Array:
        """Values in the parameter's own unit, on the scale."""
        if self.kind == "log":
            return np.log(values)
        if self.kind == "logit":
            return np.asarray(logit(np.clip(values, SMALLEST_SHARE, 1 - SMALLEST_SHARE)))
        return np.asarray(values, dtype=np.float64)

    def to_unit(self, values: Any) -> Array:
        """Values on the scale, in the parameter's own unit."""
        if self.kind == "log":
            return np.asarray(np.exp(values))
        if self.kind == "logit":
            return np.asarray(expit(values))
        return np.asarray(values, dtype=np.float64)


def scale_of_parameter(name: str, prior: Prior) -> ParameterScale:
    """The scale of a parameter: that of its prior, and log odds where its values are shares."""
    kind: Scale = "log" if prior.is_log else "plain"
    if kind == "plain" and prior.low >= 0 and prior.high <= 1:
        kind = "logit"
    bare = ParameterScale(name, kind, 0.0, 0.0)
    low, high = bare.to_scale(np.array([prior.low, prior.high])).tolist()
    return ParameterScale(name, kind, low, high, prior.unit, prior.meaning)


@dataclass(frozen=True)
class CellPosteriors:
    """Posteriors of cells under one population for all of them, on the scales of the parameters."""

    scales: tuple[ParameterScale, ...]
    center: Array
    """``(n_parameters,)`` mean of the population of cells, before it is truncated to the ranges."""
    covariance: Array
    """``(n_parameters, n_parameters)`` of the population of cells, likewise; diagonal."""
    mean: Array
    """``(n_cells, n_parameters)`` posterior means."""
    spread: Array
    """``(n_cells, n_parameters, n_parameters)`` posterior covariances."""
    mode: Array
    """``(n_cells, n_parameters)`` the point of largest posterior density that was tried."""
    interval: Array
    """``(2, n_cells, n_parameters)`` ends of the middle 95% of each posterior; NaN of cells without `has_interval`."""
    value: Array
    """``(n_cells, n_parameters)`` what each cell's responses say, with the population divided out."""
    variance: Array
    """``(n_cells, n_parameters, n_parameters)`` of `value`."""
    log_likelihood: Array
    """``(n_cells,)`` nats at the mode."""
    n_effective: Array
    """``(n_cells,)`` independent draws that are worth as much as the points that were tried."""

    @property
    def n_cells(self) -> int:
        """Cells."""
        return len(self.mean)

    def of(self, cells: NDArray[np.int64]) -> CellPosteriors:
        """Posteriors of some cells, under the same population."""
        return CellPosteriors(
            self.scales,
            self.center,
            self.covariance,
            self.mean[cells],
            self.spread[cells],
            self.mode[cells],
            self.interval[:, cells],
            self.value[cells],
            self.variance[cells],
            self.log_likelihood[cells],
            self.n_effective[cells],
        )

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """``(n_cells,)`` cells whose points are worth `FEW_EFFECTIVE` draws or more."""
        return np.asarray(self.n_effective >= FEW_EFFECTIVE)

    def reliability(self) -> Array:
        """``(n_cells, n_parameters)`` share of the population's variance that a cell's responses resolve."""
        own = np.diagonal(self.spread, axis1=1, axis2=2)
        return np.asarray(np.clip(1 - own / np.diag(self.covariance), 0.0, 1.0))


class _Tried:
    """Points that were tried on some cells, and the density of all that they were drawn from."""

    def __init__(self, points: Array, log_p: Array, centers: Array, covariances: Array) -> None:
        self.points = points
        """``(n_points, n_parameters)`` on the scales."""
        self.log_p = log_p
        """``(n_points, n_cells)``."""
        self.drawn_from = [(centers, covariances, len(points))]
        """Centers ``(n, n_parameters)``, covariances, and points drawn from each."""
        self._log_sum = _log_counted(points, *self.drawn_from[0])

    def add(
        self, points: Array, log_p: Array, centers: Array, covariances: Array, n_each: int
    ) -> None:
        """More points, as many from each of some normals."""
        theirs = [_log_counted(points, *own) for own in self.drawn_from]
        drawn_from = (centers, covariances, n_each)
        whole = np.concatenate([self.points, points])
        before = np.concatenate([self._log_sum, np.logaddexp.reduce(theirs, axis=0)])
        self._log_sum = np.logaddexp(before, _log_counted(whole, *drawn_from))
        self.points, self.log_p = whole, np.concatenate([self.log_p, log_p])
        self.drawn_from.append(drawn_from)

    def log_mixture(self) -> Array:
        """``(n_points,)`` log density of all that points were drawn from."""
        return np.asarray(self._log_sum - np.log(len(self.points)))


def _log_counted(points: Array, centers: Array, covariances: Array, n_each: int) -> Array:
    """``(n_points,)`` log of the sum of some normals' densities, times the points drawn from each."""
    density = log_normal(points, centers, covariances)
    largest = density.max(axis=0)
    return np.asarray(largest + np.log(np.exp(density - largest).sum(axis=0)) + np.log(n_each))


def log_normal(points: Array, centers: Array, covariances: Array) -> Array:
    """``(n_centers, n_points)`` log density of normals."""
    factor = np.linalg.cholesky(covariances)
    # The inverse of the factor, so that one product per center whitens all points.
    whitening = np.linalg.inv(factor)
    own = np.swapaxes(whitening, 1, 2)
    away = points[None] @ own - centers[:, None] @ own
    log_det = np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    n = points.shape[1]
    return np.asarray(-0.5 * (away**2).sum(axis=2) - log_det[:, None] - 0.5 * n * np.log(2 * np.pi))


def find_cell_posteriors(
    theory: Theory,
    trials: Sequence[Trials],
    cells: Sequence[NDArray[np.int64]],
    laboratory: Laboratory,
    *,
    seed: int = 0,
) -> CellPosteriors:
    """Posteriors of cells, under the population that all of them show.

    Args:
        theory: Theory with its declared ranges.
        trials: Experiments whose participants can be told apart.
        cells: ``(n_rows,)`` of each experiment: the cell of each response, numbered from 0 in each experiment.
        laboratory: Laboratory in which the theory runs.
        seed: Seed of the points that are tried.

    Raises:
        TheoryError: The theory does not run on these responses, or they say nothing about its parameters.
        TrialsError: Participants cannot be told apart.
    """
    if any(item.pooled for item in trials):
        raise TrialsError("these are counts of answers, which do not say who gave them.")
    (shared,) = laboratory.people_of([theory], [{}], trials)
    if isinstance(shared, TheoryError):
        raise shared
    informed = {name: prior for name, prior in shared.items() if not prior.idle}
    if not informed:
        raise TheoryError(f"the trials carry no information about the parameters of {theory.name}.")
    scales = tuple(scale_of_parameter(name, theory.priors[name]) for name in informed)
    rng = np.random.default_rng([seed, int(theory.digest[:12], 16)])
    walks = theory.learns or laboratory.domain.sequential
    n_first, n_near = (WALKING_FIRST, WALKING_NEAR) if walks else (N_FIRST, N_NEAR)
    idle = {name: float(prior.quantile(np.array([0.5]))[0]) for name, prior in shared.items()}
    n_in = [int(own.max()) + 1 for own in cells]

    # The first points come from the population of participants, made wider.
    wide = {name: as_normal(prior) for name, prior in informed.items()}
    wide = {name: prior.narrowed(prior.center, 1.5 * prior.spread) for name, prior in wide.items()}
    drawn = draw_population(wide, n_first, rng)
    first = np.stack([scale.to_scale(drawn[scale.name]) for scale in scales], axis=1)
    least = np.array([(SMALLEST * (scale.high - scale.low)) ** 2 for scale in scales])
    declared = {name: as_normal(theory.priors[name]) for name in informed}
    widths = draw_population(declared, n_first, rng)
    usual = np.array([scale.to_scale(widths[scale.name]).std() for scale in scales])
    start = first.mean(axis=0), np.cov(first.T).reshape(len(scales), -1) + np.diag(least)
    first = rng.multivariate_normal(*start, size=n_first)

    # Cells are tried in groups, each with all responses of its participants.
    groups = [
        (item, own, part)
        for item, own in zip(trials, cells, strict=True)
        for part in _groups_of(item, own)
    ]
    requests = [
        _ask(theory, scales, idle, item, own, part, laboratory) for item, own, part in groups
    ]
    tried = [_Tried(first, ask(first), start[0][None], start[1][None]) for ask in requests]
    # So few points would draw the population to the best of them: it is learned from points near each cell only. Where
    # points are drawn it is not very narrow, or no point would show that a wider one is as likely.
    population = CellPopulation(start[0], np.sqrt(np.diag(start[1])))
    for round_number in range(MOST_ROUNDS):
        only_few = round_number >= N_ROUNDS
        drawn_near = [
            _draw_near(own, ask, population, least, n_near, rng, only_few=only_few)
            for ask, own in zip(requests, tried, strict=True)
        ]
        if not any(drawn_near):
            break
        population = _population(tried, population, LEAST_SPREAD * usual)
    n_each = max(FEWEST_RESAMPLED, N_RESAMPLED // sum(n_in))
    resampled = [_resampled(own, population, n_each, rng) for own in tried]
    of_cells, ratios = (np.concatenate(item) for item in zip(*resampled, strict=True))
    ends = np.array([(scale.low, scale.high) for scale in scales]).T
    populations = draw_populations(of_cells, ratios, population, ends, np.sqrt(least), usual, rng)
    parts = [_summary(own, populations) for own in tried]
    place = np.concatenate(
        [
            np.flatnonzero(part) + sum(n_in[:number])
            for number, (item, own) in enumerate(zip(trials, cells, strict=True))
            for part in _groups_of(item, own)
        ]
    )
    order = np.argsort(place)
    joined = {
        key: np.concatenate([part[key] for part in parts], axis=1 if key == "interval" else 0)
        for key in parts[0]
    }
    found = {
        key: column[:, order] if key == "interval" else column[order]
        for key, column in joined.items()
    }
    middle = populations.middle
    return CellPosteriors(scales, middle.center, np.diag(middle.sd**2), **found)


def _groups_of(trials: Trials, cells: NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """``(n_cells,)`` masks of cells that are tried together; the cells of a participant stay together."""
    person = np.zeros(int(cells.max()) + 1, dtype=np.int64)
    person[cells] = trials.participant
    n_each = max(1, MOST_TOGETHER * trials.n_participants // len(person))
    group = person // n_each
    return [group == number for number in np.unique(group)]


def _ask(
    theory: Theory,
    scales: Sequence[ParameterScale],
    idle: Mapping[str, float],
    trials: Trials,
    cells: NDArray[np.int64],
    part: NDArray[np.bool_],
    laboratory: Laboratory,
) -> Any:
    """A function that finds ``(n_points, n_cells)`` log likelihoods of a group of cells."""
    number = np.cumsum(part) - 1
    who = np.zeros(trials.n_participants, dtype=bool)
    who[trials.participant[part[cells]]] = True
    own = trials.of_people(who)
    own_cells = number[cells[who[trials.participant]]]

    def ask(points: Array) -> Array:
        values = {name: np.full(len(points), value) for name, value in idle.items()}
        values |= {scale.name: _unit(scale, points[:, k]) for k, scale in enumerate(scales)}

        def question(view: TheoryView) -> Array:
            return view.log_likelihood_of_parts(values, [own], [own_cells])

        found: Array = laboratory.look(theory, [own.stimuli], question)
        # No parameter lies beyond its declared range.
        outside = [
            (points[:, k] < scale.low) | (points[:, k] > scale.high)
            for k, scale in enumerate(scales)
        ]
        return np.where(np.any(outside, axis=0)[:, None], -np.inf, found)

    return ask


def _unit(scale: ParameterScale, values: Array) -> Array:
    """Values in the parameter's unit, inside its declared range to the last bit."""
    ends = scale.to_unit(np.array([scale.low, scale.high]))
    return np.asarray(np.clip(scale.to_unit(values), ends[0], ends[1]))


def _near(rng: np.random.Generator, centers: Array, covariances: Array, n_near: int) -> Array:
    """``(n_centers * n_near, n_parameters)`` points around some centers."""
    factor = np.linalg.cholesky(covariances)
    noise = rng.standard_normal((len(centers), n_near, centers.shape[1]))
    points = centers[:, None] + np.einsum("ckl,cnl->cnk", factor, noise)
    return np.asarray(points.reshape(-1, centers.shape[1]))


def _log_weights(tried: _Tried, population: CellPopulation) -> Array:
    """``(n_points, n_cells)`` log weights of points in the posterior of each cell."""
    return np.asarray(
        tried.log_p + (population.log_density(tried.points) - tried.log_mixture())[:, None]
    )


def _normalised(log_weights: Array) -> Array:
    """Columns of weights that sum to one."""
    weights = np.exp(log_weights - log_weights.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


def _moments(points: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Means ``(n, n_parameters)``, covariances, and effective numbers of points, by columns of weights."""
    mean = weights.T @ points
    size = points.shape[1]
    products = (points[:, :, None] * points[:, None, :]).reshape(len(points), size * size)
    square = (weights.T @ products).reshape(-1, size, size)
    covariance = square - mean[:, :, None] * mean[:, None, :]
    return mean, covariance, 1 / (weights**2).sum(axis=0)


def _population(tried: Sequence[_Tried], start: CellPopulation, least: Array) -> CellPopulation:
    """The likeliest population of cells that is not narrower than ``least``, by expectation maximisation."""
    population = start
    mixtures = [own.log_p - own.log_mixture()[:, None] for own in tried]
    for _ in range(N_LEARNED):
        means, squares = [], []
        for own, log_ratio in zip(tried, mixtures, strict=True):
            weights = _normalised(log_ratio + population.log_density(own.points)[:, None])
            means.append(weights.T @ own.points)
            squares.append(weights.T @ own.points**2)
        center = np.concatenate(means).mean(axis=0)
        variance = np.concatenate(squares).mean(axis=0) - center**2
        population = CellPopulation(center, np.sqrt(np.maximum(variance, least**2)))
    return population


def _positive(covariances: Array, share: float) -> Array:
    """Covariances whose eigenvalues are at least a share of their mean variance."""
    values, vectors = np.linalg.eigh((covariances + np.swapaxes(covariances, 1, 2)) / 2)
    floor = share * np.maximum(values.mean(axis=1, keepdims=True), 1e-12)
    values = np.maximum(values, floor)
    return np.asarray(np.einsum("cij,cj,ckj->cik", vectors, values, vectors))


def _draw_near(
    tried: _Tried,
    ask: Any,
    population: CellPopulation,
    least: Array,
    n_near: int,
    rng: np.random.Generator,
    *,
    only_few: bool,
) -> bool:
    """Try further points around the posterior of each cell, or of those with few effective points; whether of any."""
    centers, covariances, n_effective = _proposals(tried, population, least)
    chosen = n_effective < ENOUGH_EFFECTIVE if only_few else np.ones(len(centers), dtype=bool)
    if not chosen.any():
        return False
    centers, covariances = centers[chosen], covariances[chosen]
    spreads = (WIDER**2 * covariances, WIDEST**2 * covariances)
    n_each = (n_near - n_near // 4, n_near // 4)
    near = [_near(rng, centers, *own) for own in zip(spreads, n_each, strict=True)]
    log_p = np.split(
        ask(np.concatenate(near)), [len(near[0])]
    )  # one question, since a walk takes long
    for points, found, spread, number in zip(near, log_p, spreads, n_each, strict=True):
        tried.add(points, found, centers, spread, number)
    return True


def _proposals(
    tried: _Tried, population: CellPopulation, least: Array
) -> tuple[Array, Array, Array]:
    """Normals like each cell's posterior, and effective points of each cell, 0 where a posterior was flattened."""
    points, log_weights = tried.points, _log_weights(tried, population)
    enough = LEAST_EFFECTIVE * (points.shape[1] + 1)
    power = np.ones(log_weights.shape[1])
    for _ in range(12):  # posteriors that rest on one or two points are flattened
        mean, spread, n_effective = _moments(points, _normalised(log_weights * power))
        few = n_effective < enough
        if not few.any():
            break
        power = np.where(few, power * 0.6, power)
    # A normal that was flattened has its covariance divided by the power; its mean is uncertain besides.
    tightened = np.minimum(power + 2 / enough, 1.0)[:, None, None] * spread
    spread = _positive(tightened + np.diag(least) / 16, 1e-4)
    return mean, spread, np.where(power < 1, 0.0, n_effective)


def _resampled(
    tried: _Tried, population: CellPopulation, n_each: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draws ``(n_cells, n_each, n_parameters)`` of cells, and their log likelihoods minus log densities."""
    wide = CellPopulation(population.center, WIDER_POPULATION * population.sd)
    below = np.cumsum(_normalised(_log_weights(tried, wide)), axis=0)
    shares = (np.arange(n_each) + rng.random((below.shape[1], 1))) / n_each
    places = np.stack([np.searchsorted(own, at) for own, at in zip(below.T, shares, strict=True)])
    drawn = tried.points[np.minimum(places, len(below) - 1)]
    return drawn, -wide.log_density(drawn)


def _summary(tried: _Tried, populations: PopulationDraws) -> dict[str, Array]:
    """Posteriors of some cells, and what their responses say with the population divided out."""
    points, middle = tried.points, populations.middle
    log_weights = _log_weights(tried, middle)
    weights = _normalised(log_weights)
    # What is the posterior under one population is made that under each of them, and their mean is taken.
    ratio = populations.log_density(points) - middle.log_density(points)
    ratio = np.exp(np.minimum(ratio, MOST_RATIO))
    weights *= ratio.T @ (1 / np.maximum(ratio @ weights, 1e-300)) / len(ratio)
    mean, spread, n_effective = _moments(points, weights)
    ends = np.full((2, len(mean), points.shape[1]), np.nan)
    enough = n_effective >= FEW_EFFECTIVE
    for k in range(points.shape[1]):
        order = np.argsort(points[:, k])
        below = np.cumsum(weights[order], axis=0)
        for side, share in enumerate((0.025, 0.975)):
            place = np.minimum((below < share).sum(axis=0), len(points) - 1)
            ends[side, enough, k] = points[order, k][place][enough]

    inside = np.where(np.isfinite(tried.log_p[:, :1]), 0.0, -np.inf)
    prior = inside + (middle.log_density(points) - tried.log_mixture())[:, None]
    both = _normalised(np.concatenate([log_weights, prior], axis=1))
    apart, spread_apart, _ = _moments(points, both)
    spread_apart = _positive(spread_apart, 1e-6)
    value, variance = without_population(apart[:-1], spread_apart[:-1], apart[-1], spread_apart[-1])
    best = (log_weights + tried.log_mixture()[:, None]).argmax(axis=0)
    return {
        "mean": mean,
        "spread": _positive(spread, 1e-6),
        "mode": points[best],
        "interval": ends,
        "value": value,
        "variance": variance,
        "log_likelihood": tried.log_p[best, np.arange(len(best))],
        "n_effective": n_effective,
    }


def without_population(
    mean: Array, spread: Array, prior_mean: Array, prior_spread: Array
) -> tuple[Array, Array]:
    """Divide a normal population out of normal posteriors.

    Args:
        mean: ``(n_cells, n_parameters)`` posterior means.
        spread: ``(n_cells, n_parameters, n_parameters)`` posterior covariances.
        prior_mean, prior_spread: Mean and spread of the population.

    Returns:
        Values and their covariances, which with the population give the posteriors again; a direction in which a
        posterior is as wide as the population has `LEAST_INFORMATION` of the population's precision.
    """
    factor = np.linalg.cholesky(prior_spread)
    whitening = np.linalg.inv(factor)
    relative = np.einsum("ij,cjk,lk->cil", whitening, spread, whitening)
    sizes, vectors = np.linalg.eigh(relative)
    posterior = 1 / np.maximum(sizes, 1e-6)
    information = np.maximum(posterior - 1, LEAST_INFORMATION)
    away = np.einsum("ckj,kl,cl->cj", vectors, whitening, mean - prior_mean)
    weighted = away * posterior / information
    back = np.einsum("ij,cjk->cik", factor, vectors)
    value = prior_mean + np.einsum("cik,ck->ci", back, weighted)
    variance = np.einsum("cik,ck,cjk->cij", back, 1 / information, back)
    return value, variance
