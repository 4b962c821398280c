"""How two clocks agree about the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class ClockAgreement:
    """How two clocks agree about the same answers, in milliseconds: the server's interval minus the browser's time.

    References:
        Bland & Altman (1986), Lancet 327(8476), 307-310 (bias and limits of agreement).
    """

    n: int
    bias_ms: float
    sd_ms: float
    median_ms: float
    largest_ms: float
    share_same_bin: float
    """Answers that are in the same bin of time by both clocks."""

    @property
    def limits_ms(self) -> tuple[float, float]:
        """Between which 95% of differences lie where they are normal."""
        return self.bias_ms - 1.96 * self.sd_ms, self.bias_ms + 1.96 * self.sd_ms


def clock_agreement(
    edges_s: Sequence[float], first_ms: Sequence[float], second_ms: Sequence[float]
) -> ClockAgreement | None:
    """How two clocks agree about the same answers, ``second`` minus ``first``; None for fewer than two answers."""
    if len(first_ms) < 2:
        return None
    first, second = np.asarray(first_ms, dtype=float), np.asarray(second_ms, dtype=float)
    difference = second - first
    bins = [np.searchsorted(edges_s, times / 1000, side="right") for times in (first, second)]
    return ClockAgreement(
        n=len(difference),
        bias_ms=float(difference.mean()),
        sd_ms=float(difference.std(ddof=1)),
        median_ms=float(np.median(difference)),
        largest_ms=float(np.abs(difference).max()),
        share_same_bin=float((bins[0] == bins[1]).mean()),
    )
