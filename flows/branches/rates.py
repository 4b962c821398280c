"""Shares of runs that come out one way: exact tests, and intervals that cover.

An *arm* is a number of independent replays of which some succeeded. Replays are cheap to miscount as evidence: with ten
in each arm, even rates of 0.5 and 0.2 are rarely told apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta, fisher_exact


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


def fisher_p(arm: ReplayArm, baseline: ReplayArm) -> float:
    """Two-sided exact p value that both arms have one rate: probability of tables no likelier than the observed.

    References:
        Fisher (1922), Journal of the Royal Statistical Society 85, 87-94.
    """
    table = np.array([[one.n_successes, one.n - one.n_successes] for one in (arm, baseline)])
    return float(fisher_exact(table).pvalue)


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


def baseline_repeats(repeats: int, n_hypotheses: int) -> int:
    """Replays of a baseline that several arms share: more than one arm's, by the square root of their number.

    References:
        Dunnett (1955), Journal of the American Statistical Association 50, 1096-1121, section 5.
    """
    return math.ceil(repeats * math.sqrt(max(n_hypotheses, 1)))
