"""How many theories are good, when a judge that errs says how many it accepts."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from scipy.stats import norm

from lakatos.judges.errors import JudgeError


@dataclass(frozen=True)
class PrevalenceEstimate:
    """Estimated share of good candidates, corrected for the judge's errors."""

    value: float
    """Corrected for the judge's errors, between 0 and 1."""
    low: float
    high: float
    """Interval, which carries the uncertainty of what the judge accepts and of both error rates."""


def rogan_gladen(accepted: float, sensitivity: float, specificity: float) -> float:
    """Share of good ones among all, from the share accepted and what the judge does to good and to bad ones.

    Raises:
        JudgeError: The judge tells nothing: it accepts bad ones as often as good ones, or more often.

    References:
        Rogan & Gladen (1978), American Journal of Epidemiology 107, 71-76.
    """
    if sensitivity + specificity <= 1:
        raise JudgeError(
            f"a judge that accepts {sensitivity:.2f} of the good and {1 - specificity:.2f} of the bad tells nothing "
            "about their share; use another judge, or label more."
        )
    return min(max((accepted + specificity - 1) / (sensitivity + specificity - 1), 0.0), 1.0)


def prevalence(
    accepted: int,
    n: int,
    right_on_good: int,
    n_good: int,
    right_on_bad: int,
    n_bad: int,
    confidence: float = 0.95,
) -> PrevalenceEstimate:
    """Share of good ones with its interval.

    Args:
        accepted, n: By the judge among those without a label.
        right_on_good, n_good, right_on_bad, n_bad: Of the labelled ones, those of either kind it was right about.
        confidence: Of the interval.

    Raises:
        JudgeError: As `rogan_gladen`, or nothing of some kind is labelled.

    References:
        Lang & Reiczigel (2014), Preventive Veterinary Medicine 113, 13-22.
    """
    if min(n, n_good, n_bad) < 1:
        raise JudgeError(
            f"{n} judged, {n_good} good and {n_bad} bad labelled: each must be at least one."
        )
    value = rogan_gladen(accepted / n, right_on_good / n_good, right_on_bad / n_bad)
    z = float(norm.ppf(0.5 + confidence / 2))
    size, good, bad = n + z**2, n_good + 2, n_bad + 2
    p, sensitivity, specificity = (
        (accepted + z**2 / 2) / size,
        (right_on_good + 1) / good,
        (right_on_bad + 1) / bad,
    )
    slope = sensitivity + specificity - 1
    if slope <= 0:
        return PrevalenceEstimate(value, 0.0, 1.0)
    middle = (p + specificity - 1) / slope
    of_good, of_bad = sensitivity * (1 - sensitivity) / good, specificity * (1 - specificity) / bad
    shift = 2 * z**2 * (middle * of_good - (1 - middle) * of_bad)
    half = z * sqrt(p * (1 - p) / size + middle**2 * of_good + (1 - middle) ** 2 * of_bad) / slope
    return PrevalenceEstimate(
        value, min(max(middle + shift - half, 0.0), 1.0), min(max(middle + shift + half, 0.0), 1.0)
    )
