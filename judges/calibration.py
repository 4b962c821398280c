"""Quality of resolved verdicts: log score, calibration, discrimination, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from lakatos.experiments.interval import exact_interval
from lakatos.judges.errors import JudgeError

Array = NDArray[np.float64]
N_BINS = 5
SHOWN = 2
"""Decimal places of a probability that are shown: verdicts that agree in them share a bin."""


@dataclass(frozen=True)
class CalibrationBin:
    """Verdicts of similar probability, and how often they came true."""

    probability: float
    """Mean of those given."""
    share: float
    """Share of candidates that the data then favoured."""
    interval: tuple[float, float]
    """95%, exact (Clopper & Pearson 1934)."""
    n: int


@dataclass(frozen=True)
class JudgeCalibration:
    """Quality of the probabilities of one judge, or a panel, in one epoch."""

    n: int
    log_score: float
    """Mean log probability of what happened, nats; a coin has -0.693."""
    log_score_error: float
    """Standard error."""
    curve: tuple[CalibrationBin, ...]
    discrimination: float | None
    """Probability that a favoured candidate had been given more than another; None where all came out alike."""
    discrimination_error: float | None
    """Standard error (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44, 837-845)."""


def calibration(
    probability: Sequence[float], favoured: Sequence[bool], n_bins: int = N_BINS
) -> JudgeCalibration:
    """Evaluate a judge or a panel by resolved verdicts.

    Args:
        probability: ``(n_verdicts,)`` given to the candidate, strictly between 0 and 1.
        favoured: ``(n_verdicts,)`` whether the data then favoured it.
        n_bins: Number of bins of the curve, with about equally many verdicts; equal probabilities share a bin.

    Raises:
        JudgeError: There is no verdict, or one is no probability.
    """
    p, y = np.asarray(probability, dtype=np.float64), np.asarray(favoured, dtype=bool)
    if len(p) == 0 or len(p) != len(y) or not ((p > 0) & (p < 1)).all():
        raise JudgeError(
            f"{len(p)} probabilities and {len(y)} outcomes cannot be compared; give one outcome for each probability "
            "strictly between 0 and 1."
        )
    scores = np.log(np.where(y, p, 1 - p))
    error = float(scores.std(ddof=1) / np.sqrt(len(p))) if len(p) > 1 else float("inf")
    order = np.argsort(p, kind="stable")
    ends = [rows[-1] for rows in np.array_split(order, min(n_bins, len(p)))]
    places = np.unique(
        np.searchsorted(np.round(p[ends], SHOWN), np.round(p, SHOWN)), return_inverse=True
    )[1]
    curve = tuple(_bin(p[places == place], y[places == place]) for place in range(places.max() + 1))
    return JudgeCalibration(len(p), float(scores.mean()), error, curve, *_discrimination(p, y))


def _bin(p: Array, y: NDArray[np.bool_]) -> CalibrationBin:
    k, n = int(y.sum()), len(y)
    return CalibrationBin(float(p.mean()), k / n, exact_interval(k, n), n)


def _discrimination(p: Array, y: NDArray[np.bool_]) -> tuple[float | None, float | None]:
    n_yes, n_no = int(y.sum()), int((~y).sum())
    if n_yes == 0 or n_no == 0:
        return None, None
    ranks = rankdata(p)
    # Of each verdict the share of those of the other outcome that it beats.
    beats = (ranks[y] - rankdata(p[y])) / n_no
    beaten = 1 - (ranks[~y] - rankdata(p[~y])) / n_yes
    spread = sum(
        float(part.var(ddof=1)) / len(part) if len(part) > 1 else 0.25 for part in (beats, beaten)
    )
    return float(beats.mean()), float(np.sqrt(spread))
