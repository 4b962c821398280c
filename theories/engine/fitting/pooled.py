"""Parameters that all people share, fitted to pooled responses, and what each trial's answers taught of the others.

Where people cannot be told apart, a theory is a regression of proportions: its likeliest point is found by damped
scoring, and leaving out a trial, or an experiment, is one more step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.engine.fitting.points import latent_limits, people_at, sobol_points
from lakatos.theories.engine.running.sequence import TINY
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.language.prior import Prior

Array = NDArray[np.float64]
Predict = Callable[[Mapping[str, Array]], Sequence[Array]]
"""Parameters ``(n_draws,)`` each to probabilities ``(n_draws, n_trials, n_options)`` of each experiment."""
N_DISTANCES = 8
"""Distances from a fitted point at which its deviance is measured; twelve change most spreads by less than 1%."""
NEAREST = 5e-3
"""Smallest of these distances, as a share of the declared range."""


class SharedRegression:
    """A theory with parameters that all people share, as a regression of pooled proportions.

    Parameters are points in the unit box of the declared limits, linear on the scale of each prior. Every call of the
    theory answers for many points at once, so slopes and several step lengths cost one call each.
    """

    step = 1e-4
    """Step of numerical slopes, as a share of the declared range."""
    dampings = (0.1, 1.0, 10.0, 100.0, 1000.0)
    """Dampings tried in every round, as multiples of the one that worked last."""

    def __init__(
        self, priors: Mapping[str, Prior], trials: Sequence[Trials], predict: Predict
    ) -> None:
        self.priors, self.trials, self.predict = dict(priors), trials, predict
        self.low, self.high = latent_limits(priors)
        self.counts = np.concatenate([item.totals for item in trials])
        """``(n_trials of all experiments, n_options)``."""
        self.totals = self.counts.sum(axis=1, keepdims=True)
        self._is_log = np.array([prior.is_log for prior in priors.values()], dtype=bool)
        ends = [(prior.low, prior.high) for prior in priors.values()]
        self._declared = np.reshape(ends, (len(ends), 2)).T

    def fractions(self, values: Mapping[str, Array]) -> Array:
        """``(n_draws, n_parameters)`` points in the unit box, from parameter values."""
        latent = np.stack(
            [prior.latent(values[name]) for name, prior in self.priors.items()], axis=1
        )
        return np.asarray(np.clip((latent - self.low) / (self.high - self.low), 0.0, 1.0))

    def probabilities(self, points: Array) -> Array:
        """``(n_points, n_trials of all experiments, n_options)``, kept away from 0."""
        latent = self.low + (self.high - self.low) * points
        latent[:, self._is_log] = np.exp(latent[:, self._is_log])
        inside = np.clip(latent, *self._declared)
        values = dict(zip(self.priors, inside.T, strict=True))
        return np.asarray(np.maximum(np.concatenate(list(self.predict(values)), axis=1), TINY))

    def deviance(self, probabilities: Array) -> Array:
        """``(n_points,)`` nats lost against the proportions themselves."""
        lost = self.counts * (self._log_shares - np.log(probabilities))
        return lost.sum(axis=(1, 2))  # type: ignore[no-any-return]

    @cached_property
    def _log_shares(self) -> Array:
        """``(n_trials, n_options)`` logarithms of the proportions; 0 where nobody chose."""
        shares = self.counts / np.maximum(self.totals, 1)
        with np.errstate(divide="ignore"):
            return np.where(self.counts > 0, np.log(shares), 0.0)

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
        # Of each trial the sum over options of slope times slope, weighted by answers over probability.
        weighted = slopes * (self.totals / p)[..., None, :, :]
        # As matrices of each trial, ``(..., n_trials, p, options)`` and ``(..., n_trials, options, p)``.
        left = weighted.swapaxes(-3, -2)
        right = slopes.swapaxes(-3, -2).swapaxes(-2, -1)
        information = left @ right
        return gradient, information.swapaxes(-3, -2).swapaxes(-2, -1)

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
            gradient: ``(n_starts, n_parameters)`` slopes of the log likelihood.
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
        distances = np.geomspace(NEAREST, 0.5, N_DISTANCES)
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


def explained_near_of_pooled(
    priors: Mapping[str, Prior],
    near: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    n_draws: int,
    n_rounds: int,
) -> float:
    """Nats per choice by which pooled responses are predicted, each trial from all others, soon after setting out near.

    A few steps from one place: the best of the given population's centers with several values of the parameters that
    it does not know, and of some people drawn from it. Like `calibrate` and `leave_one_out`, but for a few dozen
    questions instead of hundreds.

    Args:
        priors: The theory's declared priors.
        near: Population to set out from, with limits as declared; a parameter without a center is not known.
        trials: Pooled experiments, in the order in which ``predict`` responses.
        predict: Runs the theory.
        n_draws: People drawn to begin with, a power of two.
        n_rounds: Steps.
    """
    if not priors:
        return float(np.mean([item.mean for item in leave_one_out(priors, trials, predict)]))
    shared = SharedRegression(priors, trials, predict)
    drawn = shared.fractions(people_at(near, sobol_points(len(priors), n_draws, 1)[0]))
    known = np.array([not np.isnan(near[name].center) for name in priors])
    center = SharedRegression(near, trials, predict).point()
    points = np.concatenate([center[None], np.where(known, center, drawn), drawn])
    point = shared.fit(points, n_starts=1, n_rounds=n_rounds)
    scores = _scores_of_left_out(shared, _without_trials(shared, point))
    return float(np.mean([item.mean for item in scores]))


def leave_one_out(
    priors: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    by_experiment: bool = False,
) -> list[UnitScores]:
    """Score a theory calibrated on pooled responses on each trial (or experiment), predicted from all the others.

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
    shared = SharedRegression(priors, trials, predict)
    ends = np.cumsum([len(item.stimuli) for item in trials])
    if priors and by_experiment and len(trials) > 1:
        without = _without_experiments(shared, ends)
    elif priors:
        without = _without_trials(shared, shared.point())
    else:
        without = shared.probabilities(np.zeros((1, 0)))[0]
    return _scores_of_left_out(shared, without)


def _scores_of_left_out(shared: SharedRegression, without: Array) -> list[UnitScores]:
    """Scores of every experiment's trials, each answered with what the others taught.

    Args:
        shared: The pooled responses and the theory.
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


def _without_trials(shared: SharedRegression, point: Array) -> Array:
    """``(n_trials, n_options)`` probabilities on each trial, with the parameters that all others would yield.

    Args:
        shared: The pooled responses and the theory.
        point: Fitted to all of them.
    """
    probabilities, slopes = (part[0] for part in shared.slopes(point[None]))
    gradient, information = shared.scores(probabilities, slopes)
    moves = _steps_without(point, gradient, information)
    return np.asarray(probabilities + np.einsum("tp,pto->to", moves, slopes))


def _without_experiments(shared: SharedRegression, ends: NDArray[np.intp]) -> Array:
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
    """``(n_groups, n_parameters)`` one step of Fisher scoring from a fitted point, without each group's responses.

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
