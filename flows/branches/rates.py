"""Shares of runs that come out one way: exact tests, intervals that cover, and how many repeats it takes.

An *arm* is a number of independent replays of which some succeeded. Replays are cheap to miscount as evidence: ten of
them tell hardly anything apart (see `repeats_needed`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import beta, binom, norm

Array = NDArray[np.float64]
MOST_REPEATS = 5_000
"""Beyond which nobody will ask for replays."""
_ROUNDING = 1e-7
"""Relative slack within which two tables count as equally likely."""


@dataclass(frozen=True)
class ReplayArm:
    """Replays under one condition: how many there were, and how many succeeded."""

    n_successes: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.n_successes <= self.n:
            raise ValueError(
                f"{self.n_successes} successes in {self.n} replays cannot be; count again."
            )

    @property
    def rate(self) -> float:
        """Share of successes; NaN without replays."""
        return self.n_successes / self.n if self.n else math.nan

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Exact interval of the rate, which covers it with at least this probability.

        References:
            Clopper & Pearson (1934), Biometrika 26, 404-413.
        """
        tail, k, n = (1 - confidence) / 2, self.n_successes, self.n
        low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
        high = float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0
        return low, high


def difference_interval(
    arm: ReplayArm, baseline: ReplayArm, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of the difference of two rates that covers it with at least ``confidence``: exact, and wide.

    Both exact intervals hold together with the product of their confidences, as the arms are independent.
    """
    each = math.sqrt(confidence)
    (low, high), (base_low, base_high) = arm.interval(each), baseline.interval(each)
    return low - base_high, high - base_low


def _log_ways(n: int, k: NDArray[np.int64] | int) -> Array:
    """Log of the binomial coefficient."""
    chosen = np.asarray(k)
    left = n - chosen
    return np.asarray(gammaln(n + 1) - gammaln(chosen + 1) - gammaln(left + 1))


@cache
def _p_values(n: int, n_baseline: int, total: int) -> NDArray[np.float64]:
    """Two-sided p of every number of successes of the first arm, from ``max(0, total - n_baseline)`` on."""
    k = np.arange(max(0, total - n_baseline), min(n, total) + 1)
    # Written out, as power sums over thousands of tables; SciPy's own probabilities take ten times as long.
    log_tables = _log_ways(n, k) + _log_ways(n_baseline, total - k)
    likely = np.exp(log_tables - _log_ways(n + n_baseline, total))
    # The p value of a table is the sum of those that are no likelier.
    order = np.sort(likely)
    reached = np.searchsorted(order, likely * (1 + _ROUNDING), side="right")
    sums = np.concatenate(([0.0], np.cumsum(order)))
    return np.asarray(np.minimum(sums[reached], 1.0))


def fisher_p(arm: ReplayArm, baseline: ReplayArm) -> float:
    """Two-sided exact p value that both arms have one rate: probability of tables no likelier than the observed.

    References:
        Fisher (1922), Journal of the Royal Statistical Society 85, 87-94.
    """
    total = arm.n_successes + baseline.n_successes
    least = max(0, total - baseline.n)
    p_values = _p_values(arm.n, baseline.n, total)
    return float(p_values[arm.n_successes - least])


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values: rejecting those up to alpha errs anywhere with probability alpha at most, however dependent.

    References:
        Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    adjusted, reached = [0.0] * len(p_values), 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, place in enumerate(order):
        n_left = len(p_values) - rank
        reached = max(reached, min(1.0, n_left * p_values[place]))
        adjusted[place] = reached
    return tuple(adjusted)


def power(rate: float, baseline_rate: float, n: int, n_baseline: int, alpha: float = 0.05) -> float:
    """Probability that the exact test of two arms rejects at level ``alpha``, summed over all tables."""
    k = np.arange(n + 1)
    likely = binom.pmf(k, n, rate)
    base = binom.pmf(np.arange(n_baseline + 1), n_baseline, baseline_rate)
    found = 0.0
    for total in range(n + n_baseline + 1):
        first, last = max(0, total - n_baseline), min(n, total)
        is_rejected = _p_values(n, n_baseline, total) <= alpha
        rejected = k[first : last + 1][is_rejected]
        found += float(likely[rejected] @ base[total - rejected])
    return found


def baseline_repeats(repeats: int, n_hypotheses: int) -> int:
    """Replays of a baseline that several arms share: more than one arm's, by the square root of their number.

    References:
        Dunnett (1955), Journal of the American Statistical Association 50, 1096-1121, section 5.
    """
    return math.ceil(repeats * math.sqrt(max(n_hypotheses, 1)))


def repeats_needed(
    rate: float,
    baseline_rate: float,
    *,
    wanted: float = 0.9,
    alpha: float = 0.05,
    n_hypotheses: int = 1,
) -> int | None:
    """Replays of each arm, and of a baseline of the same size, with which the test has the wanted power.

    Args:
        rate, baseline_rate: That are to be told apart.
        wanted: Probability of telling them apart.
        alpha: Level over all hypotheses; each is planned at its share, which Holm's method never undercuts.
        n_hypotheses: Arms compared with the baseline.

    Returns:
        The number; None where it is beyond `MOST_REPEATS` or the rates are equal.
    """
    level = alpha / n_hypotheses
    if rate == baseline_rate:
        return None

    def enough(n: int) -> bool:
        return power(rate, baseline_rate, n, n, level) >= wanted

    # The normal approximation says where to look; tables of thousands of replays need not be summed to say "too many".
    if (guess := _normal_repeats(rate, baseline_rate, wanted, level)) > MOST_REPEATS:
        return None
    low, high = 1, max(4, math.ceil(guess))
    while not enough(high):
        low, high = high, math.ceil(high * 1.3)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _normal_repeats(rate: float, baseline_rate: float, wanted: float, level: float) -> float:
    spread = rate * (1 - rate) + baseline_rate * (1 - baseline_rate)
    z = float(norm.isf(level / 2) + norm.ppf(wanted))
    return z**2 * max(spread, 1e-3) / (rate - baseline_rate) ** 2
