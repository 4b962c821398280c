"""Which of two judges is right more often on the same items: exact paired tests, evidence, and what they can detect.

Of two judges that answered the same items only the *discordant* ones tell: ``wins``, where the challenger is right and
the incumbent wrong, and ``losses``, the reverse. Where neither is better, each is equally likely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom, hypergeom, norm

Array = NDArray[np.float64]
BETS = (0.2, 0.4, 0.6)
"""Shares of the wealth that are bet on each discordant item; fixed beforehand, averaged."""
EXACT_FLIPS = 20
"""Units up to which all sign flips are enumerated."""
N_FLIPS = 9_999
"""Random sign flips beyond that; the observed signs count as one more."""


def exact_p(wins: int, losses: int) -> float:
    """One-sided exact p value of the paired test: P(at least ``wins`` of all discordant items | even odds).

    References:
        McNemar (1947), Psychometrika 12, 153-157; Liddell (1983), Journal of Epidemiology and Community Health 37.
    """
    return float(binom.sf(wins - 1, wins + losses, 0.5))


@cache
def fewest_wins(n_discordant: int, alpha: float) -> int:
    """Wins among ``n_discordant`` items from which the exact test rejects; one more than there are if it never does."""
    return int(
        np.argmax(
            np.append(binom.sf(np.arange(n_discordant + 1) - 1, n_discordant, 0.5) <= alpha, True)
        )
    )


def mixture_e_value(wins: int, losses: int) -> float:
    """Evidence that the challenger wins more often: the likelihood ratio under a uniform mixture of odds above even.

    Its expectation is 1 with even odds and less where the challenger wins less often, at any stopping time.

    References:
        Robbins (1970), Annals of Mathematical Statistics 41, 1397-1409.
    """
    m = wins + losses
    # 2 * integral over (1/2, 1) of t^wins (1 - t)^losses, over (1/2)^m; the integral through its binomial tail.
    log_integral = -np.log(m + 1) - binom.logpmf(wins, m, 0.5) - m * np.log(2)
    return float(
        np.exp(np.log(2) + m * np.log(2) + log_integral + beta.logsf(0.5, wins + 1, losses + 1))
    )


def betting_e_values(signs: Sequence[int] | Array, bets: Sequence[float] = BETS) -> Array:
    """Wealth after each discordant item of one challenger, starting from 1: the mean over bets of prod(1 + bet * sign).

    Args:
        signs: ``(n_discordant,)`` +1 where the challenger won, -1 where it lost, in the order of the items.
        bets: Strictly between 0 and 1, fixed before the first item.

    Returns:
        ``(n_discordant,)``; a challenger may be promoted as soon as this reaches 1/alpha. Wealth of one challenger
        says nothing about another: it must never be multiplied across challengers.

    References:
        Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27.
    """
    steps = np.log1p(np.multiply.outer(np.asarray(signs, dtype=np.float64), np.asarray(bets)))
    return np.asarray(np.exp(np.cumsum(steps, axis=0)).mean(axis=1))


def sign_flip_p(
    gains: Array, clusters: Sequence[object] | None = None, *, rng: np.random.Generator
) -> float:
    """One-sided p value of the mean of paired gains when the sign of every cluster could as well be the other.

    Args:
        gains: ``(n_items,)`` loss of the incumbent minus loss of the challenger.
        clusters: ``(n_items,)`` items of one cluster (a problem, a person) change sign together.
        rng: Draws the flips when there are more than ``EXACT_FLIPS`` clusters that differ from 0.

    References:
        Fisher (1935), The design of experiments, section 21; Phipson & Smyth (2010), Statistical Applications in
        Genetics and Molecular Biology 9, 39 (the observed signs count).
    """
    totals = np.asarray(gains, dtype=np.float64)
    if clusters is not None:
        names = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
        totals = np.asarray(
            np.bincount([names[name] for name in clusters], weights=totals), dtype=np.float64
        )
    totals = totals[totals != 0]
    observed = totals.sum() - 1e-12 * np.abs(totals).sum()
    if len(totals) <= EXACT_FLIPS:
        sums = np.zeros(1)
        for total in totals:
            sums = np.concatenate((sums + total, sums - total))
        return float(np.mean(sums >= observed))
    reached = 1
    for start in range(0, N_FLIPS, 1000):
        flips = rng.integers(0, 2, size=(min(1000, N_FLIPS - start), len(totals))) * 2.0 - 1
        reached += int((flips @ totals >= observed).sum())
    return reached / (N_FLIPS + 1)


def power(n_items: int, discordance: float, gain: float, alpha: float, floor: float = 0.0) -> float:
    """Probability that the exact test rejects and the observed gain reaches the floor.

    Args:
        n_items: Items that both judges answer.
        discordance: Share of them on which exactly one judge is right; at least ``gain``.
        gain: True difference of the shares of right answers.
        alpha: Level.
        floor: Least observed ``(wins - losses) / n_items``.
    """
    discordance = max(discordance, abs(gain))
    if discordance == 0:
        return 0.0
    m = np.arange(n_items + 1)
    needed = np.array(
        [max(fewest_wins(int(k), alpha), int(np.ceil((k + floor * n_items) / 2 - 1e-9))) for k in m]
    )
    wins = (discordance + gain) / (2 * discordance)
    return float(binom.pmf(m, n_items, discordance) @ binom.sf(needed - 1, m, wins))


def minimum_detectable_gain(
    n_items: int, discordance: float, alpha: float, floor: float = 0.0, *, wanted: float = 0.8
) -> float:
    """Smallest true gain that the exact test detects with power ``wanted``; 1 where even certainty is not detected."""
    low, high = 0.0, 1.0
    if power(n_items, discordance, high, alpha, floor) < wanted:
        return 1.0
    while high - low > 5e-4:
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if power(n_items, discordance, middle, alpha, floor) >= wanted
            else (middle, high)
        )
    return high


def most_lost(wins: int, losses: int, n_items: int, confidence: float = 0.95) -> float:
    """Upper confidence bound of the share of right answers that the challenger loses, exact on discordant items.

    References:
        Clopper & Pearson (1934), Biometrika 26, 404-413.
    """
    m = wins + losses
    if n_items == 0 or m == 0:
        return 0.0
    least_wins = float(beta.ppf(1 - confidence, wins, losses + 1)) if wins else 0.0
    return m / n_items * (1 - 2 * least_wins)


def lower_quantile(n_right: int, n_wrong: int, quantile: float = 0.05) -> float:
    """Quantile of the Beta posterior of a share of right answers under a uniform prior."""
    return float(beta.ppf(quantile, 1 + n_right, 1 + n_wrong))


def published_rule(
    incumbent: tuple[int, int], challengers: Sequence[tuple[int, int]]
) -> int | None:
    """The published rule: the challenger of the highest lower quantile, if that is above the incumbent's.

    Args:
        incumbent, challengers: Right and wrong answers on the anchor.

    Returns:
        Place of the challenger that replaces the incumbent, or None. With equally many items this promotes whoever
        has one more right answer; under the null it replaces nearly always (see ``benchmarks/judges/gate.py``).

    References:
        Red Queen Goedel Machine, arXiv 2606.26294, section on evaluator replacement.
    """
    scores = [lower_quantile(*counts) for counts in challengers]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] > lower_quantile(*incumbent) else None


def detectable_mean(gains_sd: float, n_items: int, alpha: float, *, wanted: float = 0.8) -> float:
    """Smallest true mean of paired gains that a one-sided test of level ``alpha`` detects, by the normal limit."""
    return float((norm.isf(alpha) + norm.ppf(wanted)) * gains_sd / np.sqrt(max(n_items, 1)))


def leak_p(right: int, n: int, right_in_vault: int, n_vault: int) -> float:
    """One-sided exact p value that a judge is no better on confirm than on the vault; a small one tells of a leak.

    References:
        Fisher (1922), Journal of the Royal Statistical Society 85, 87-94.
    """
    return float(hypergeom.sf(right - 1, n + n_vault, right + right_in_vault, n))
