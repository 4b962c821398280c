"""Measures of responses: sensitivity d', criterion c, and the receiver operating characteristic (ROC) with its area.

They need no theory. Each participant's d' and c are those of the decision between new and old,
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
from lakatos.experiments.curve import DomainCurve
from lakatos.experiments.task import Stimuli, Trials

Array = NDArray[Any]
MEASURES = ("d_prime", "criterion", "area")


def roc_curve(stimuli: Stimuli, shares: Array, weights: Array) -> DomainCurve:
    """The receiver operating characteristic: shares of responses at or above each category; lures do not count.

    Args:
        stimuli: The trials.
        shares: ``(n_trials, 11)`` share of each category from -5 to 5.
        weights: ``(n_trials,)`` number of responses.

    Returns:
        For each strength of old items, ``x`` are false alarms and ``y`` hits, from the strictest criterion on.
    """
    old, strength = np.asarray(stimuli["old"]), np.asarray(stimuli["strength"])
    places = np.flatnonzero(np.asarray(stimuli["available"]).any(axis=0))[:0:-1]

    def above(of: Array) -> Array:
        """``(n_criteria,)`` share of responses at or above each category."""
        of = of & (weights > 0)
        total = weights[of].sum()
        mean = weights[of] @ shares[of] / total if total else np.full(shares.shape[1], np.nan)
        return np.asarray(np.cumsum(mean[::-1])[::-1][places])

    new = above((old == 0) & (np.asarray(stimuli["lure"]) == 0))
    own = np.unique(strength[old == 1]).tolist()
    names = {item: f"strength {item:g}" if len(own) > 1 else "old items" for item in own}
    lines = {names[item]: (new, above((old == 1) & (strength == item))) for item in own}
    return DomainCurve("Receiver operating characteristic", "false alarms", "hits", lines, True)


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
