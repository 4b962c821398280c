"""Intervals of means and proportions."""

from __future__ import annotations

from math import inf, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit
from scipy.stats import beta

LEAST_UNITS = 10
"""Participants (or problems, where only counts are known) below which no difference is claimed."""


def half_width(degrees: float | NDArray[Any] = inf, n_compared: int = 1) -> NDArray[Any]:
    """Standard errors from a mean to each end of its 95% interval: Student's t, and two at least.

    Args:
        degrees: Degrees of freedom, one less than there are participants.
        n_compared: Means of which this is the best on the same data (Bonferroni).

    References:
        Dunn (1961), Journal of the American Statistical Association 56, 52-64.
    """
    return np.maximum(2.0, stdtrit(degrees, 1 - 0.025 / max(n_compared, 1)))


def interval_of_squares(
    mean: float, standard_error: float, degrees: float = inf
) -> tuple[float, float]:
    """95% interval of a mean of squares, which cannot be negative: by the delta method on its logarithm.

    Args:
        mean: Mean above 0, or 0 of squares that are all 0.
        standard_error: Standard error of the mean.
        degrees: Degrees of freedom, one less than there are squares.
    """
    if mean <= 0:
        return mean, mean
    factor = float(np.exp(half_width(degrees) * standard_error / mean))
    return mean / factor, mean * factor


def wilson_interval(n_successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Score interval of a proportion.

    References:
        Wilson (1927), Journal of the American Statistical Association 22, 209-212.
    """
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p = n_successes / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def exact_interval(n_successes: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a proportion that holds it at least as often as it says, however small the sample.

    References:
        Clopper & Pearson (1934), Biometrika 26, 404-413.
    """
    tail = (1 - confidence) / 2
    low = float(beta.ppf(tail, n_successes, n - n_successes + 1)) if n_successes else 0.0
    high = float(beta.ppf(1 - tail, n_successes + 1, n - n_successes)) if n_successes < n else 1.0
    return low, high
