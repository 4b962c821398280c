"""Intervals of proportions."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from scipy.stats import beta


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
