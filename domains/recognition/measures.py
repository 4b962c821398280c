"""Measures of observed responses for notebooks: sensitivity d', criterion c, area under the ROC, and its points.

They describe responses and need no theory. Each participant's d' and c are those of the decision between new and old,
with rates corrected by half a response (log-linear rule), so that rates of 0 and 1 have finite values; a middle
category counts half. The area is below the straight lines between the points of a participant, of which a scale with K
categories has K - 1: the share of pairs of an old and a new item in which the old one has the higher response.

References:
    Macmillan & Creelman (2005), Detection theory: a user's guide (d', c, area);
    Hautus (1995), Behavior Research Methods, Instruments, & Computers 27, 46-51 (log-linear rule).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from lakatos.domains.recognition.task import MOST
from lakatos.experiments.task import Trials

Array = NDArray[Any]
MEASURES = ("d_prime", "criterion", "area")


def roc_points(trials: Trials) -> pd.DataFrame:
    """Cumulative shares of responses, from the strictest criterion, of all participants together.

    Returns:
        A row for each strength of old items and each criterion: ``strength``, ``category`` (the lowest that counts),
        ``false_alarms`` and ``hits``.
    """
    rows = []
    for strength, counts in _counts(trials).items():
        above = np.cumsum(counts.sum(axis=0)[:, ::-1], axis=1)[:, ::-1]
        used = np.flatnonzero(counts.sum(axis=(0, 1)))[1:]
        for place in used[::-1]:
            new, old = above[:, place] / above[:, 0]
            rows.append((strength, int(place) - MOST, new, old))
    return pd.DataFrame(rows, columns=["strength", "category", "false_alarms", "hits"])


def detection_measures(trials: Trials) -> pd.DataFrame:
    """Means over participants of d', c and the area under the ROC, with 95% intervals.

    Returns:
        A row for each strength of old items and each measure: ``strength``, ``measure``, ``n_participants``, ``mean``,
        ``low`` and ``high`` (Student's t).
    """
    rows = []
    for strength, counts in _counts(trials).items():
        complete = counts[(counts.sum(axis=2) > 0).all(axis=1)]
        n = len(complete)
        for name, own in zip(MEASURES, measures_of(complete), strict=True):
            error = own.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
            half = stdtrit(n - 1, 0.975) * error if n > 1 else np.nan
            rows.append((strength, name, n, own.mean(), own.mean() - half, own.mean() + half))
    return pd.DataFrame(
        rows, columns=["strength", "measure", "n_participants", "mean", "low", "high"]
    )


def measures_of(counts: Array) -> tuple[Array, Array, Array]:
    """d', c and the area under the ROC, from counts of categories ``(..., 2, 11)`` of new and of old items."""
    n_all = counts.sum(axis=-1)
    said_old = counts[..., MOST + 1 :].sum(axis=-1) + 0.5 * counts[..., MOST]
    z = ndtri((said_old + 0.5) / (n_all + 1))
    share = counts / n_all[..., None]
    new, old = share[..., 0, :], share[..., 1, :]
    below = np.cumsum(new, axis=-1) - 0.5 * new
    return z[..., 1] - z[..., 0], -0.5 * (z[..., 0] + z[..., 1]), (old * below).sum(axis=-1)


def _counts(trials: Trials) -> dict[float, Array]:
    """``(n_participants, 2, 11)`` responses to new items and to old ones of each strength; lures do not count."""
    old, strength = trials.stimuli["old"], trials.stimuli["strength"]
    new = trials.counts[:, (old == 0) & (trials.stimuli["lure"] == 0)].sum(axis=1)
    found = {}
    for own in np.unique(strength[old == 1]).tolist():
        there = trials.counts[:, (old == 1) & (strength == own)].sum(axis=1)
        found[own] = np.stack([new, there], axis=1)
    return found
