"""Regression of residuals on properties of the trials, with the standard error that finds least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

Array = NDArray[np.float64]
MOST_LEVERAGE = 0.99
"""Largest leverage of one trial on a slope; beyond it that trial alone decides, and the slope has no standard error."""


@dataclass(frozen=True)
class ResidualSlope:
    """Change of residuals with one column, with its standard error."""

    effect: float
    """Change of the residual for one unit of the column."""
    error: float
    """The standard error that finds least."""
    z: float
    p: float


@dataclass(frozen=True)
class ResidualSample:
    """Residuals of all trials, and what their standard errors need."""

    observed: Array
    """``(n_trials,)`` people's share of the last option."""
    predicted: Array
    """``(n_trials,)``."""
    n_answers: Array
    """``(n_trials,)`` answers behind each observed share."""
    people: Sequence[tuple[int, Array]] = ()
    """First trial in these arrays of each experiment in which people can be told apart, with ``(n_participants,
    n_trials)`` responses for the last option less those expected of each person."""
    replicas: Array | None = None
    """``(n_replicas, n_trials)`` residuals of simulated replicas."""

    @property
    def residual(self) -> Array:
        """``(n_trials,)`` observed less predicted share."""
        return self.observed - self.predicted

    @property
    def noise(self) -> Array:
        """``(n_trials,)`` variance of a share of independent responses."""
        of_one = np.maximum(self.predicted * (1 - self.predicted), 0.01)
        return of_one / np.maximum(self.n_answers, 1)

    @property
    def weight(self) -> Array:
        """``(n_trials,)`` inverse variance: binomial noise plus the spread of residuals beyond it.

        So that a theory that is wrong everywhere does not make every feature significant.
        """
        beyond = max(float(np.mean(self.residual**2 - self.noise)), 0.0)
        return np.asarray(1 / (self.noise + beyond))


def slope_of(sample: ResidualSample, column: Array, controls: Array) -> ResidualSlope | None:
    """Weighted regression of the residuals on one column, holding others.

    Of up to four standard errors, each read off Student's t distribution with its own degrees of freedom, the
    one that finds least counts: what the weights imply; robust over trials (HC3, since with two dozen trials HC1 finds
    too much); clustered by person, because the same few people answer all trials and their tastes are not exactly the
    population's; and the spread of the same coefficient over simulated replicas.

    Args:
        sample: Residuals.
        column: ``(n_trials,)``.
        controls: ``(n_trials, n_controls)`` columns that are held, the constant among them where there is to be one.

    Returns:
        None where the column does not vary beyond the controls or varies in one trial alone.

    References:
        Long & Ervin (2000), The American Statistician 54(3), 217-224; Cameron & Miller (2015), Journal of Human
        Resources 50(2), 317-372.
    """
    n_trials, n_controls = controls.shape
    df = n_trials - n_controls - 1.0
    if df < 2 or not np.isfinite(column).all():
        return None
    weight = sample.weight
    root = np.sqrt(weight)

    # What the controls do not explain of the column and of the residuals (Frisch, Waugh & Lovell).
    basis = np.linalg.qr(root[:, None] * controls)[0]
    x, y = root * column, root * sample.residual
    alone = x - basis @ (basis.T @ x)
    y = y - basis @ (basis.T @ y)
    information = float(alone @ alone)
    if information < 1e-9 * max(float(weight @ column**2), 1e-300):
        return None
    effect = float(alone @ y) / information
    leverage = (basis**2).sum(axis=1) + alone**2 / information
    if leverage.max() > MOST_LEVERAGE:
        return None

    # HC3 over trials, and what the weights imply; each with its degrees of freedom.
    left = y - effect * alone
    parts = (alone * left / (1 - leverage) / information) ** 2
    errors = [(float(np.sqrt(parts.sum())), df), (information**-0.5, np.inf)]

    # Over people, and over replicas, by what a residual adds to the coefficient.
    lever = root * alone / information
    if sample.people:
        of_answer = lever / np.maximum(sample.n_answers, 1)
        errors.append(_clustered(of_answer, parts, sample.people))
    if sample.replicas is not None:
        spread = sample.replicas @ lever
        errors.append((float(np.sqrt(np.mean(spread**2))), float(len(spread))))

    # The error that finds least counts.
    tests = [(effect / max(error, 1e-9), freedom) for error, freedom in errors]
    p, z = max((float(2 * t.sf(abs(z), freedom)), z) for z, freedom in tests)
    error = abs(effect / z) if z else max(error for error, _ in errors)
    return ResidualSlope(effect, error, z, p)


def _clustered(
    lever: Array, parts: Array, people: Sequence[tuple[int, Array]]
) -> tuple[float, float]:
    """Standard error of a slope clustered by person, and its degrees of freedom.

    Args:
        lever: ``(n_trials,)`` what one more answer for the last option adds to the slope.
        parts: ``(n_trials,)`` the trials' parts of the variance, used where people cannot be told apart.
        people: As in `ResidualSample`.
    """
    alone = parts.copy()
    variance, df = 0.0, 0.0
    for first, surprise in people:
        rows = slice(first, first + surprise.shape[1])
        own = surprise @ lever[rows]
        variance += len(own) * float(np.var(own, ddof=1))
        df += len(own) - 1
        alone[rows] = 0.0
    return float(np.sqrt(variance + alone.sum())), df
