"""Comparison of two judges on the same items: an exact test, a betting test, and the gains that they can detect.

Of right and wrong answers only the *discordant* ones tell: ``wins``, where the challenger is right and the incumbent
wrong, and ``losses``, the reverse. Where neither judge is better, each is equally likely. Of any other gain, and of
items that hang together, only the mean is asked about, whatever the shape of the gains.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom, norm

Array = NDArray[np.float64]
BETS = (0.2, 0.4, 0.6)
"""Shares of the wealth that are bet on each unit; fixed beforehand, averaged."""
MOST_LOG_WEALTH = 600.0
"""Largest log wealth that is reported: a record holds no infinity, and a smaller e value is still one."""


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


def betting_e_value(gains: Array, largest_loss: float, bets: Sequence[float] = BETS) -> float:
    """Evidence that the challenger gains on average: the wealth of a gambler who bets on every unit that it does.

    Of units whose expected gains sum to zero or less, the wealth is 1 on average at most: it is a product over
    independent units, and prod(1 + bet * mean) is largest where all means are equal. So it exceeds 1 / level with
    probability ``level`` at most, however skewed the gains, in whatever order they come, and however they drift.

    Args:
        gains: ``(n_units,)`` gain of the challenger on each independent unit, the sum over its items.
        largest_loss: The most that any unit could have lost, known without labels; positive.
        bets: Strictly between 0 and 1, fixed before any label is read.

    References:
        Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society B 86, 1-27.
    """
    steps = np.log1p(np.multiply.outer(np.asarray(bets), np.asarray(gains) / largest_loss))
    return float(np.exp(np.minimum(steps.sum(axis=1), MOST_LOG_WEALTH)).mean())


@cache
def fewest_units(level: float, *, exact: bool) -> int:
    """Units below which nothing reaches the level, though all speak for the challenger.

    Args:
        level: Level of the test.
        exact: Whether units are items that are won or lost; else each gains as much as any could lose.
    """
    n_units = 1
    while (
        exact_p(n_units, 0) > level if exact else betting_e_value(np.ones(n_units), 1) < 1 / level
    ):
        n_units += 1
    return n_units


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


@cache
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


def detectable_mean(
    spread: float, largest_loss: float, n_units: int, alpha: float, *, wanted: float = 0.8
) -> float:
    """Smallest true mean gain of a unit that the betting test detects, by the normal limit of its log wealth.

    Args:
        spread: Standard deviation of the gains.
        largest_loss: As for `betting_e_value`.
        n_units: How many are bet on.
        alpha: Level.
        wanted: Power.
    """
    bets, scaled = np.asarray(BETS), spread / largest_loss
    needed = np.log(len(bets) / alpha) / (n_units * bets)  # by the best bet, of so many
    slowed = bets * scaled**2 / 2 + norm.ppf(wanted) * scaled / np.sqrt(n_units)
    return float(largest_loss * (needed + slowed).min())
