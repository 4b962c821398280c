"""Learn from answers how a theory's parameters are distributed over people, within its declared ranges.

With single answers the population is learned by expectation maximisation: draws of the current population are
weighted by every participant's posterior, and the next population is the truncated normal that is most likely to
have yielded these posteriors, on the scale of each prior. With pooled answers people cannot be told apart; there the
center is the likeliest value that all people could share, and the spread what the pooled proportions leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from lakatos.experiments.task import Trials
from lakatos.theories.fitting.normals import SMALLEST_SPREAD, log_density, maximise
from lakatos.theories.prior import Prior
from lakatos.theories.running.sequence import TINY
from lakatos.theories.scoring.score import UnitScores, likelihood_of_answers

Array = NDArray[np.float64]
Predict = Callable[[Mapping[str, Array]], Sequence[Array]]
"""Parameters ``(n_draws,)`` each to probabilities ``(n_draws, n_trials, n_options)`` of each experiment."""
LogLikelihood = Callable[[Mapping[str, Array]], Array]
"""Likewise to ``(n_draws, n_participants of all experiments)`` nats."""
N_ROUNDS_WITHIN = 8
"""Of expectation maximisation with the same draws; more would ask more of them than they can tell."""
N_ROUNDS_WITHOUT = 8
"""The same without a group."""
RISING, MOST_ROUNDS = 1e-3, 4
"""Nats per choice that two rounds must have gained for another one beyond those asked for, and rounds at most, times
those asked for: weights that grow together are learned slowly, and how soon must not decide between theories."""
OVERSTEP = 1.6
"""Times the step to the next center at which the next round draws (Salakhutdinov & Roweis, 2003, ICML, 664-671)."""
N_DISTANCES = 8
"""From a fitted point at which its deviance is measured; twelve change most spreads by less than 1%."""
MOST_DOUBT = 9.0
"""Standard error of a spread's logarithm at which nothing more is to be said."""
N_UNCHANGED, NO_GAIN = 3, 0.01
"""Rounds of a fit that together must explain so many nats a person more, or they were the last."""


def calibrate(
    priors: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    likelihood: LogLikelihood | None = None,
    start: Mapping[str, Prior] | None = None,
    n_draws: int = 512,
    n_iterations: int = 8,
    n_new: int | None = None,
) -> dict[str, Prior]:
    """Priors whose population is the one that the answers show, within the declared limits.

    Args:
        priors: The theory's declared priors.
        trials: Experiments, in the order in which ``predict`` answers.
        predict: Runs the theory.
        likelihood: Of single answers, where it does not follow from the probabilities of each trial alone.
        start: A population learned from some of the answers, from which to go on.
        n_draws: People who stand for a population, a power of two.
        n_iterations: Rounds, after which none follows but where the answers still become likelier; every round
            starts from the population of the last.
        n_new: People whom a round draws beside those before, a power of two; a quarter of ``n_draws`` by default.

    Returns:
        Normal (log-normal) priors with the limits of the given ones.

    References:
        Cornuet, Marin, Mira & Robert (2012), Adaptive multiple importance sampling, Scandinavian Journal of
        Statistics 39, 798-812.
    """
    if not priors or not trials:
        return dict(priors)
    if all(item.pooled for item in trials):
        shared = _SharedRegression(priors, trials, predict)
        points = shared.fractions(_drawn(priors, _sobol_points(len(priors), n_draws, 1)[0]))
        if start:
            before = _SharedRegression(start, trials, predict).point()
            points = np.concatenate([before[None], points])
        return shared.population(shared.fit(points, n_rounds=n_iterations))

    def ask(drawn: Mapping[str, Array]) -> Array:
        return likelihood(drawn) if likelihood else _likelihood(trials, predict(drawn))

    n_each = n_new or max(n_draws // 4, 1)
    batches = _sobol_points(len(priors), n_each, MOST_ROUNDS * n_iterations)
    n_choices = sum(float(item.count.sum()) for item in trials)
    found, _ = _learned(priors, dict(start or priors), batches, ask, n_iterations, n_choices)
    return found


def explained_near(
    priors: Mapping[str, Prior],
    near: Mapping[str, Prior],
    trials: Sequence[Trials],
    likelihood: LogLikelihood,
    *,
    n_draws: int,
    n_rounds: int,
) -> float:
    """Nats per choice of single answers under the best population that a few rounds find around a given one.

    A lower bound of what `calibrate` would find, for a fraction of its cost: good enough to say which of many similar
    theories deserve a fit.

    Args:
        priors: The theory's declared priors.
        near: Population to set out from, with limits as declared.
        trials: Experiments, in the order in which ``likelihood`` answers.
        likelihood: Of single answers.
        n_draws: People drawn in each round, a power of two.
        n_rounds: Of drawing.
    """
    n_choices = sum(float(item.count.sum()) for item in trials)
    if not priors:
        return float(likelihood({"": np.zeros(1)}).sum()) / n_choices
    batches = _sobol_points(len(priors), n_draws, n_rounds)
    _, explained = _learned(priors, dict(near), batches, likelihood, n_rounds, n_choices)
    return explained / n_choices


def explained_near_of_pooled(
    priors: Mapping[str, Prior],
    near: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    n_draws: int,
    n_rounds: int,
) -> float:
    """Nats per choice by which pooled answers are predicted, each trial from all others, soon after setting out near.

    A few steps from one place: the best of the given population's centers with several values of the parameters that
    it does not know, and of some people drawn from it. Like `calibrate` and `leave_one_out`, but for a few dozen
    questions instead of hundreds.

    Args:
        priors: The theory's declared priors.
        near: Population to set out from, with limits as declared; a parameter without a center is not known.
        trials: Pooled experiments, in the order in which ``predict`` answers.
        predict: Runs the theory.
        n_draws: People drawn to begin with, a power of two.
        n_rounds: Steps.
    """
    shared = _SharedRegression(priors, trials, predict)
    drawn = shared.fractions(_drawn(near, _sobol_points(len(priors), n_draws, 1)[0]))
    known = np.array([not np.isnan(near[name].center) for name in priors])
    center = _SharedRegression(near, trials, predict).point()
    points = np.concatenate([center[None], np.where(known, center, drawn), drawn])
    point = shared.fit(points, n_starts=1, n_rounds=n_rounds)
    scores = _scores_of_left_out(shared, _without_trials(shared, point))
    return float(np.mean([item.mean for item in scores]))


@cache
def _sobol_points(n_parameters: int, n_each: int, n_batches: int) -> Array:
    """``(n_batches, n_each, n_parameters)`` numbers between 0 and 1, the same for every fit."""
    sobol = qmc.Sobol(n_parameters, scramble=True, rng=np.random.default_rng(0))
    points = np.stack([sobol.random(n_each) for _ in range(n_batches)])
    points.flags.writeable = False
    return points


def _learned(
    priors: Mapping[str, Prior],
    ahead_of: dict[str, Prior],
    batches: Iterable[Array],
    ask: LogLikelihood,
    n_iterations: int,
    n_choices: float,
) -> tuple[dict[str, Prior], float]:
    """The population that single answers show, and the nats that it explains of them.

    Adaptive importance sampling around expectation maximisation.

    Args:
        priors: As declared.
        ahead_of: Population to set out from.
        batches: Of each round, ``(n_draws, n_parameters)`` numbers between 0 and 1.
        ask: Gives the log likelihood of each unit's answers.
        n_iterations: Rounds after which only fits that still rise go on.
        n_choices: Answers of all people.
    """
    low, high = _latent_limits(priors)
    latents: list[Array] = []
    parts: list[Array] = []
    populations: list[Array] = []
    explained: list[float] = []
    for batch in batches:
        drawn = _drawn(ahead_of, batch)
        parts.append(ask(drawn))
        latents.append(_latent(priors, drawn))
        populations.append(_centers_and_spreads(ahead_of))
        # All people drawn so far count, as of the mixture of the populations that they were drawn from.
        latent, log_p = np.concatenate(latents, axis=1), np.concatenate(parts)
        n_people = log_p.shape[1]
        centers, spreads = np.swapaxes(populations, 0, 1)
        densities = log_density(latent, centers, spreads, low, high)
        mixture = np.logaddexp.reduce(densities) - np.log(len(densities))
        everybody = np.ones((n_people, 1))
        found = _maximise(
            latent, low, high, mixture, densities[-1], log_p, everybody, N_ROUNDS_WITHIN
        )
        explained.append(float(found.explained[0]) / n_people)
        # Done when nothing is gained any more, or after enough rounds unless it still rises.
        if len(explained) > N_UNCHANGED and explained[-1] - explained[-1 - N_UNCHANGED] < NO_GAIN:
            break
        risen = explained[-1] - explained[max(len(explained) - 3, 0)]
        if len(explained) >= n_iterations and risen * n_people < RISING * n_choices:
            break
        # The next draws come from beyond what was reached, in the direction of the last move.
        before, reached = populations[-1][0], found.centers[0]
        ahead = np.where(np.isnan(before), reached, before + OVERSTEP * (reached - before))
        ahead_of = _narrowed(priors, np.clip(ahead, low, high), found.spreads[0])
    doubts = spread_doubts(latent, found.log_weights[0], log_p)
    population = _narrowed(priors, found.centers[0], found.spreads[0], doubts)
    return population, float(found.explained[0])


def spread_doubts(latent: Array, log_weights: Array, log_p: Array) -> Array:
    """``(n_parameters,)`` standard errors of the logarithms of a population's spreads.

    The errors are those of the empirical information: of what each unit's answers would change in a spread beside its
    center, other parameters held (McLachlan & Peel, 2000, Finite Mixture Models, section 2.15).

    Args:
        latent: ``(n_parameters, n_draws)`` draws, on the scale of each prior.
        log_weights: ``(n_draws,)`` of the draws in the population.
        log_p: ``(n_draws, n_units)`` log likelihood of each unit's answers.
    """
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    posterior = weights[:, None] * np.exp(log_p - log_p.max(axis=0))
    posterior /= np.maximum(posterior.sum(axis=0), 1e-300)
    away = latent - (latent @ weights)[:, None]
    variance = np.maximum(away**2 @ weights, 1e-300)
    # Scores of the center and of the logarithm of the spread, up to factors that cancel.
    by_center = away @ posterior
    by_spread = away**2 @ posterior / variance[:, None]
    by_center -= by_center.mean(axis=1, keepdims=True)
    by_spread -= by_spread.mean(axis=1, keepdims=True)
    slope = (by_center * by_spread).sum(axis=1) / np.maximum((by_center**2).sum(axis=1), 1e-300)
    rest = ((by_spread - slope[:, None] * by_center) ** 2).sum(axis=1)
    return np.asarray(1 / np.sqrt(np.maximum(rest, MOST_DOUBT**-2)))


def _narrowed(
    priors: Mapping[str, Prior], centers: Array, spreads: Array, doubts: Array | None = None
) -> dict[str, Prior]:
    """The declared priors as normals with these centers and spreads."""
    doubts = np.zeros(len(priors)) if doubts is None else doubts
    columns = zip(priors, centers, spreads, doubts, strict=True)
    return {name: priors[name].narrowed(*map(float, numbers)) for name, *numbers in columns}


def _drawn(priors: Mapping[str, Prior], uniform: Array) -> dict[str, Array]:
    """``(n_draws,)`` values of each parameter, from ``(n_draws, n_parameters)`` numbers between 0 and 1."""
    inside = np.clip(uniform, 1e-9, 1 - 1e-9)
    return {
        name: prior.quantile(inside[:, column])
        for column, (name, prior) in enumerate(priors.items())
    }


def _latent(priors: Mapping[str, Prior], drawn: Mapping[str, Array]) -> Array:
    """``(n_parameters, n_draws)`` values on the scale of each prior."""
    return np.stack([prior.latent(drawn[name]) for name, prior in priors.items()])


def _centers_and_spreads(priors: Mapping[str, Prior]) -> Array:
    """``(2, n_parameters)``, NaN where a prior is uniform."""
    return np.array([(prior.center, prior.spread) for prior in priors.values()]).T


def _likelihood(trials: Sequence[Trials], answers: Sequence[Array]) -> Array:
    """``(n_draws, n_participants of all experiments)`` nats."""
    pairs = zip(answers, trials, strict=True)
    return np.concatenate([likelihood_of_answers(p, item) for p, item in pairs], axis=1)


def _latent_limits(priors: Mapping[str, Prior]) -> tuple[Array, Array]:
    """``(n_parameters,)`` ends of the declared ranges, each on the scale of its prior."""
    limits = [prior.latent(np.array([prior.low, prior.high])) for prior in priors.values()]
    # A theory without parameters has no rows, which an array of them would forget.
    low, high = np.reshape(limits, (len(limits), 2)).T
    return low, high


def leave_groups_out(
    people: Mapping[str, Prior], drawn: Mapping[str, Array], log_p: Array, groups: NDArray[np.intp]
) -> Array:
    """What a learned population would be without some of the people, as weights of its draws.

    The theory is not asked again: expectation maximisation goes on without each group, on the draws that there are,
    weighted by how much more likely they are in the new population than in the old one.

    Args:
        people: The population learned from everybody, as `calibrate` returned it.
        drawn: ``(n_draws,)`` values of each parameter in people of it.
        log_p: ``(n_draws, n_units)`` log likelihood of each unit's answers, nats.
        groups: ``(n_units,)`` number of the group that each belongs to, from 0 on.

    Returns:
        ``(n_groups, n_draws)`` normalised log weights; even ones for a group that holds everybody.
    """
    n_groups, n_draws = int(groups.max()) + 1, len(log_p)
    rest = (groups[:, None] != np.arange(n_groups)).astype(np.float64)
    log_weights = np.full((n_groups, n_draws), -np.log(n_draws))
    if not people or n_groups < 2:
        return log_weights
    latent = _latent(people, drawn)
    low, high = _latent_limits(people)
    center, spread = _centers_and_spreads(people)
    begun = log_density(latent, center[None], spread[None], low, high)[0]
    return _maximise(latent, low, high, begun, begun, log_p, rest, N_ROUNDS_WITHOUT).log_weights


@dataclass(frozen=True)
class _Populations:
    """Normals that groups of people show, and the same as weights of the draws that they were found with."""

    centers: Array
    """``(n_groups, n_parameters)``."""
    spreads: Array
    log_weights: Array
    """``(n_groups, n_draws)``, normalised."""
    explained: Array
    """``(n_groups,)`` log likelihood of the units that count, nats."""


def _maximise(
    latent: Array,
    low: Array,
    high: Array,
    drawn_from: Array,
    begun: Array,
    log_p: Array,
    counted: Array,
    n_rounds: int,
) -> _Populations:
    """Expectation maximisation with the draws that there are, weighted anew in every round.

    Args:
        latent: ``(n_parameters, n_draws)`` draws, on the scale of each prior.
        low, high: ``(n_parameters,)`` limits on that scale.
        drawn_from: ``(n_draws,)`` log density of what the draws are of.
        begun: ``(n_draws,)`` log density of the population to set out from.
        log_p: ``(n_draws, n_units)`` log likelihood of each unit's answers.
        counted: ``(n_units, n_groups)`` 1 where a unit teaches a group's population, else 0.
        n_rounds: At most; none is begun with so few draws left that count.
    """
    weights = np.repeat(_weights((begun - drawn_from)[None]), counted.shape[1], axis=0)
    most = log_p.max(axis=0)
    likelihood = np.exp(log_p - most)
    centers, spreads, weights = maximise(
        latent, low, high, drawn_from, weights, likelihood, counted.T.copy(), n_rounds
    )
    explained = np.log(np.maximum(weights @ likelihood, 1e-300)) + most
    return _Populations(
        centers,
        spreads,
        np.log(np.maximum(weights, 1e-300)),
        np.einsum("gu,ug->g", explained, counted),
    )


def _weights(log_ratio: Array) -> Array:
    """``(n_groups, n_draws)`` weights that sum to one, from logarithms of their ratios."""
    weights = np.exp(log_ratio - log_ratio.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


class _SharedRegression:
    """A theory with parameters that all people share, as a regression of pooled proportions.

    Parameters are points in the unit box of the declared limits, linear on the scale of each prior. Every call of the
    theory answers for many points at once, so slopes and several step lengths cost one call each.
    """

    step = 1e-4
    """Of the declared range, for slopes by differences."""
    dampings = (0.1, 1.0, 10.0, 100.0, 1000.0)
    """Tried in every round, as multiples of the damping that worked last."""

    def __init__(
        self, priors: Mapping[str, Prior], trials: Sequence[Trials], predict: Predict
    ) -> None:
        self.priors, self.trials, self.predict = dict(priors), trials, predict
        self.low, self.high = _latent_limits(priors)
        self.counts = np.concatenate([item.totals for item in trials])
        """``(n_trials of all experiments, n_options)``."""
        self.totals = self.counts.sum(axis=1, keepdims=True)

    def fractions(self, values: Mapping[str, Array]) -> Array:
        """``(n_draws, n_parameters)`` points in the unit box, from parameter values."""
        latent = np.stack(
            [prior.latent(values[name]) for name, prior in self.priors.items()], axis=1
        )
        return np.asarray(np.clip((latent - self.low) / (self.high - self.low), 0.0, 1.0))

    def probabilities(self, points: Array) -> Array:
        """``(n_points, n_trials of all experiments, n_options)``, kept away from 0."""
        latent = self.low + (self.high - self.low) * points
        values = {}
        for column, (name, prior) in enumerate(self.priors.items()):
            value = np.exp(latent[:, column]) if prior.is_log else latent[:, column]
            values[name] = np.clip(value, prior.low, prior.high)
        return np.asarray(np.maximum(np.concatenate(list(self.predict(values)), axis=1), TINY))

    def deviance(self, probabilities: Array) -> Array:
        """``(n_points,)`` nats lost against the proportions themselves."""
        shares = self.counts / np.maximum(self.totals, 1)
        with np.errstate(divide="ignore"):
            best = np.where(self.counts > 0, np.log(shares), 0.0)
        return (self.counts * (best - np.log(probabilities))).sum(axis=(1, 2))  # type: ignore[no-any-return]

    def slopes(self, points: Array) -> tuple[Array, Array]:
        """Probabilities at the points, and ``(n_points, n_parameters, n_trials, n_options)`` slopes."""
        n_points, n_parameters = points.shape
        inwards = np.where(points > 0.5, -self.step, self.step)
        around = np.repeat(points[:, None], n_parameters + 1, axis=1)
        around[:, 1:] += inwards[:, :, None] * np.eye(n_parameters)
        answers = self.probabilities(around.reshape(-1, n_parameters))
        answers = answers.reshape(n_points, n_parameters + 1, *answers.shape[1:])
        return answers[:, 0], (answers[:, 1:] - answers[:, :1]) / inwards[:, :, None, None]

    def scores(self, probabilities: Array, slopes: Array) -> tuple[Array, Array]:
        """Gradient ``(..., n_parameters, n_trials)`` and Fisher information ``(..., p, p, n_trials)`` per trial."""
        p = np.maximum(probabilities, 1e-3)
        surplus = (self.counts - self.totals * probabilities) / p
        gradient = np.einsum("...pto,...to->...pt", slopes, surplus)
        information = np.einsum(
            "...pto,...qto,...to->...pqt", slopes, slopes, self.totals / p, optimize=True
        )
        return gradient, information

    def fit(self, points: Array, *, n_starts: int = 3, n_rounds: int = 24) -> Array:
        """``(n_parameters,)`` the likeliest point, by damped Fisher scoring from the best of some points.

        References:
            Marquardt (1963), Journal of the Society for Industrial and Applied Mathematics 11, 431-441.
        """
        deviance = self.deviance(self.probabilities(points))
        order = np.argsort(deviance, kind="stable")[:n_starts]
        points, deviance = points[order], deviance[order]
        row, damping = np.arange(len(points)), np.full(len(points), 0.1)
        for _ in range(n_rounds):
            gradient, information = (
                part.sum(axis=-1) for part in self.scores(*self.slopes(points))
            )
            # Several dampings of every start at once, ``(n_starts, n_dampings, ...)``.
            tried = damping[:, None] * np.array(self.dampings)
            ahead = self._ahead(points, gradient, information, tried)
            flat = ahead.reshape(-1, points.shape[1])
            reached = self.deviance(self.probabilities(flat)).reshape(tried.shape)
            # The best damping of each start, if it gains anything; else a far stronger one next.
            best = reached.argmin(axis=1)
            better = reached[row, best] < deviance
            gained = np.where(better, deviance - reached[row, best], 0.0)
            points = np.where(better[:, None], ahead[row, best], points)
            damping = np.clip(np.where(better, tried[row, best], damping * 1e3), 1e-6, 1e6)
            deviance = deviance - gained
            if (gained <= 1e-4 * deviance.min()).all():
                break
        return points[deviance.argmin()]  # type: ignore[no-any-return]

    def _ahead(self, points: Array, gradient: Array, information: Array, damping: Array) -> Array:
        """``(n_starts, n_dampings, n_parameters)`` one step of damped Fisher scoring from some points.

        Args:
            points: ``(n_starts, n_parameters)``; a parameter that a limit holds stays there.
            gradient: Likewise.
            information: ``(n_starts, n_parameters, n_parameters)``.
            damping: ``(n_starts, n_dampings)`` multiples of the information's diagonal that are added to it.
        """
        stuck = ((points <= 0) & (gradient < 0)) | ((points >= 1) & (gradient > 0))
        free = ~stuck[:, None, :]
        size = np.maximum(np.einsum("spp->sp", information), 1e-9)
        added = damping[:, :, None] * size[:, None] + stuck[:, None]
        both = free[..., :, None] & free[..., None, :]
        curvature = information[:, None] * both + np.eye(points.shape[1]) * added[..., None]
        uphill = gradient[:, None] * free
        moves = np.linalg.solve(curvature, uphill[..., None])[..., 0]
        return np.asarray(np.clip(points[:, None] + moves, 0.0, 1.0))

    def point(self) -> Array:
        """``(n_parameters,)`` the centers of the priors, as a point; the middle of a range that nothing narrowed."""
        centers = np.array([prior.center for prior in self.priors.values()])
        latent = np.where(np.isnan(centers), (self.low + self.high) / 2, centers)
        return np.asarray(np.clip((latent - self.low) / (self.high - self.low), 0.0, 1.0))

    def population(self, point: Array) -> dict[str, Prior]:
        """Priors around the fitted point.

        A parameter's spread is the distance, with the others held, over which the answers become less likely by half
        a unit of deviance: the spread of the closest product of independent normals to the posterior (Bishop, 2006,
        section 10.1.2), which is less than the marginal spread where parameters can stand in for one another. It is
        measured, not taken from the curvature at the point, because the answers hardly depend on a parameter that has
        become large, and very much on it when it is small. The unit is the dispersion, Pearson's statistic per degree
        of freedom, since answers vary more around any theory than separate choices would.
        """
        centre = self.probabilities(point[None])
        expected = self.totals * np.maximum(centre[0], 1e-3)
        freedom = max(self.counts[:, 1:].size - len(point), 1)
        pearson = (self.counts - expected) ** 2 / np.maximum(expected, TINY)
        dispersion = max(1.0, float(pearson.sum() / freedom))
        # Points on both sides of the fitted one: (distance, side, parameter moved, parameter).
        distances = np.geomspace(0.25 * SMALLEST_SPREAD, 0.5, N_DISTANCES)
        axes = np.eye(len(point))
        moved = point + distances[:, None, None, None] * np.stack([axes, -axes])
        inside = ((moved >= 0) & (moved <= 1)).all(axis=-1)
        answers = self.probabilities(np.clip(moved, 0.0, 1.0).reshape(-1, len(point)))
        # How much deviance rises on the way, the mean of both sides that lie inside, never falling.
        risen = self.deviance(answers).reshape(inside.shape) - self.deviance(centre)[0]
        rises = np.where(inside, risen / dispersion, 0.0).sum(axis=1)
        rise = rises / np.maximum(inside.sum(axis=1), 1)
        rise = np.maximum.accumulate(np.maximum(rise, 1e-9), axis=0)
        found = {}
        for column, (name, prior) in enumerate(self.priors.items()):
            width = self.high[column] - self.low[column]
            half_unit = np.interp(np.log(0.5), np.log(rise[:, column]), np.log(distances))
            spread = width * float(np.exp(half_unit))
            center = self.low[column] + width * point[column]
            found[name] = prior.narrowed(float(center), float(spread))
        return found


def leave_one_out(
    priors: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    by_experiment: bool = False,
) -> list[UnitScores]:
    """How well a theory calibrated on pooled answers would predict every trial (or experiment) from all the others.

    Nothing is fitted again: the parameters without a trial are one step of Fisher scoring away from those with it.
    This is the criterion for comparing calibrated theories of different size on the data that they were calibrated on.

    Args:
        priors: As `calibrate` returned them, normal or log-normal.
        trials: The pooled experiments that `calibrate` saw.
        predict: Runs the theory.
        by_experiment: Whether each trial is predicted from the other experiments instead of the other trials.

    Returns:
        One set of scores per experiment, a unit per answered trial.

    References:
        Pregibon (1981), Annals of Statistics 9, 705-724; Rad & Maleki (2020), Journal of the Royal Statistical
        Society B 82, 965-996.
    """
    shared = _SharedRegression(priors, trials, predict)
    ends = np.cumsum([len(item.stimuli) for item in trials])
    if priors and by_experiment and len(trials) > 1:
        without = _without_experiments(shared, ends)
    elif priors:
        without = _without_trials(shared, shared.point())
    else:
        without = shared.probabilities(np.zeros((1, 0)))[0]
    return _scores_of_left_out(shared, without)


def _scores_of_left_out(shared: _SharedRegression, without: Array) -> list[UnitScores]:
    """Scores of every experiment's trials, each answered with what the others taught.

    Args:
        shared: The pooled answers and the theory.
        without: ``(n_trials, n_options)`` probabilities, which a step of scoring may have moved beyond 0 and 1.
    """
    without = np.clip(without, 1e-3, 1.0)
    log_p = np.log(without / without.sum(axis=-1, keepdims=True))
    ends = np.cumsum([len(item.stimuli) for item in shared.trials])
    found = []
    for rows in np.split(np.arange(len(log_p)), ends[:-1]):
        counts = shared.counts[rows]
        totals = counts.sum(axis=1)
        scores = (counts * log_p[rows]).sum(axis=1)
        answered = totals > 0
        found.append(UnitScores(scores[answered], totals[answered]))
    return found


def _without_trials(shared: _SharedRegression, point: Array) -> Array:
    """``(n_trials, n_options)`` probabilities on each trial, with the parameters that all others would yield.

    Args:
        shared: The pooled answers and the theory.
        point: Fitted to all of them.
    """
    probabilities, slopes = (part[0] for part in shared.slopes(point[None]))
    gradient, information = shared.scores(probabilities, slopes)
    moves = _steps_without(point, gradient, information)
    return np.asarray(probabilities + np.einsum("tp,pto->to", moves, slopes))


def _without_experiments(shared: _SharedRegression, ends: NDArray[np.intp]) -> Array:
    """``(n_trials, n_options)`` probabilities, with the parameters that all other experiments would yield."""
    point = shared.point()
    probabilities, slopes = (part[0] for part in shared.slopes(point[None]))
    starts = [0, *ends[:-1]]
    gradient, information = (
        np.add.reduceat(part, starts, axis=-1) for part in shared.scores(probabilities, slopes)
    )
    moved = np.clip(point + _steps_without(point, gradient, information), 0.0, 1.0)
    answers = shared.probabilities(moved)
    own = [
        answers[place, start:end]
        for place, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]
    return np.concatenate(own)


def _steps_without(point: Array, gradient: Array, information: Array) -> Array:
    """``(n_groups, n_parameters)`` one step of Fisher scoring from a fitted point, without each group's answers.

    Args:
        point: ``(n_parameters,)`` in the unit box; a parameter at its limit stays there.
        gradient: ``(n_parameters, n_groups)``.
        information: ``(n_parameters, n_parameters, n_groups)``.
    """
    inside = (point > 1e-6) & (point < 1 - 1e-6)
    rest = information.sum(axis=-1)[..., None] - information
    both = inside[:, None] & inside[None, :]
    rest = np.where(both[..., None], rest, np.eye(len(point))[..., None])
    ridge = 1e-6 * np.maximum(np.einsum("ppt->pt", rest), 1.0)
    rest = np.moveaxis(rest, -1, 0) + np.eye(len(point)) * ridge.T[:, None, :]
    return np.asarray(np.linalg.solve(rest, -(gradient * inside[:, None]).T[..., None])[..., 0])
