"""Two kinds of participants: the two rules of a table that participants follow most likely, and those of one lead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.discovery.induction.terms import TermTable

Array = NDArray[np.float64]
LAPSES = (0.02, 0.12, 0.27, 0.5)
SHARES = (0.5, 0.65, 0.8, 0.92)
N_KINDS = 60


@dataclass(frozen=True)
class LeadKind:
    """Follow a lead, or go against it."""

    lead: int
    sign: int


@dataclass(frozen=True)
class MixtureRule:
    """Some people are of the first kind, the others of the second."""

    kinds: tuple[LeadKind, LeadKind]
    share: float
    """Share of people of the first kind."""
    lapse: float
    score: float
    """Log likelihood less prices, nats."""


def find_mixture(leads: TermTable, counts: Array) -> MixtureRule:
    """The best pair of kinds; ``counts`` is ``(n_people, n_cells, 2)``."""
    # Each person's responses for and against each lead, and those on which it says nothing.
    difference, total = (counts[..., 1] - counts[..., 0]).T, counts.sum(axis=2).T
    signed = (leads.values @ difference).astype(np.float64)
    used = (np.abs(leads.values) @ total).astype(np.float64)
    right, wrong = 0.5 * (used + signed), 0.5 * (used - signed)
    even = (total.sum(axis=0) - used) * np.log(0.5)

    # A lead may also be followed the other way round, which costs one more.
    prices = np.concatenate([leads.prices, leads.prices + 1])
    parameter = 0.5 * float(np.log(max(total.sum(), 2)))
    best: MixtureRule | None = None
    for lapse in LAPSES:
        # How likely each person's responses are if the person follows each lead: ``(2 n_leads, n_people)`` nats.
        log_right, log_wrong = np.log(1 - lapse / 2), np.log(lapse / 2)
        along = right * log_right + wrong * log_wrong + even
        against = wrong * log_right + right * log_wrong + even
        table = np.concatenate([along, against])

        pair = best_pair(table, prices, np.arange(len(table)))
        score = pair.score - 2 * parameter
        if best is None or score > best.score:
            first, second = (_kind(row, leads) for row in pair.rows)
            best = MixtureRule((first, second), pair.share, lapse, score)
    assert best is not None
    return best


@dataclass(frozen=True)
class RulePair:
    """Two rules of a table, and the share of participants who follow the first one."""

    rows: tuple[int, int]
    share: float
    score: float
    """Log likelihood less prices, nats."""


def best_pair(table: Array, prices: Array, rule: NDArray[np.intp]) -> RulePair:
    """The two rules that participants follow most likely, each participant one of them.

    Args:
        table: ``(n_rows, n_people)`` nats of each participant's responses, if the participant follows each rule.
        prices: ``(n_rows,)`` nats.
        rule: ``(n_rows,)`` the same number for rows that are no two rules.
    """
    # Only the most promising ones are paired.
    chosen = _candidates(table - prices[:, None])
    own_prices, rows = prices[chosen], table[chosen]
    top = rows.max(axis=0)
    likelihood = np.exp(rows - top)
    same = rule[chosen][:, None] == rule[chosen]
    best: RulePair | None = None
    for share in SHARES:
        mixed = share * likelihood[:, None] + (1 - share) * likelihood[None]
        pair = np.log(np.maximum(mixed, 1e-300)).sum(axis=2)
        pair += top.sum() - own_prices[:, None] - own_prices[None]
        pair[same] = -np.inf
        i, j = np.unravel_index(int(pair.argmax()), pair.shape)
        if best is None or pair[i, j] > best.score:
            exact = share_of_first(likelihood[i], likelihood[j], float(share))
            best = RulePair((int(chosen[i]), int(chosen[j])), exact, float(pair[i, j]))
    assert best is not None
    return best


def _kind(row: int, leads: TermTable) -> LeadKind:
    """The lead of a row of a table that has all leads, and then all of them the other way round."""
    n_leads = len(leads.items)
    return LeadKind(row % n_leads, 1 if row < n_leads else -1)


def _candidates(table: Array) -> NDArray[np.intp]:
    """Kinds that are many people's favourites, and those that fit people best on the whole."""
    favourites = np.bincount(table.argsort(axis=0)[-3:].ravel(), minlength=len(table))
    whole = np.argsort(-table.sum(axis=1), kind="stable")[: N_KINDS // 3]
    voted = np.argsort(-favourites, kind="stable")[: 2 * N_KINDS // 3]
    return np.unique(np.concatenate([whole, voted[favourites[voted] > 0]]))


def share_of_first(first: Array, second: Array, share: float) -> float:
    """Share of people of the first kind, by expectation maximisation."""
    for _ in range(20):
        share = float(
            (share * first / np.maximum(share * first + (1 - share) * second, 1e-300)).mean()
        )
    return float(np.clip(share, 0.02, 0.98))


def predict(found: MixtureRule, values: NDArray[np.float32]) -> Array:
    """``(2, n_cells)`` probability of the second option for each kind of participants."""
    rows = [kind.sign * values[kind.lead] for kind in found.kinds]
    return np.stack([0.5 + 0.5 * (1 - found.lapse) * row for row in rows]).astype(np.float64)
