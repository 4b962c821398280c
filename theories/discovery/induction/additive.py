"""Additive rules: leads weighed and added, and turned into a probability by a logistic function with lapses.

Terms enter one at a time, the one first that explains most beyond its price after all weights are fitted again;
candidates are screened by their score statistic (Rao, 1948). A lead may enter behind a gate, so that it can count more
in some trials than in others. After every step earlier terms may be exchanged (Pudil et al., 1994).

References:
    Rao (1948), Proceedings of the Cambridge Philosophical Society 44, 50-57; Nelder & Wedderburn (1972), Journal of
    the Royal Statistical Society A 135, 370-384; Pudil, Novovicova & Kittler (1994), Pattern Recognition
    Letters 15(11), 1119-1125 (floating search).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from lakatos.theories.discovery.induction.terms import TermTable

Array = NDArray[np.float64]
RIDGE = 0.01
"""Precision of the weights' prior, per standardised lead."""
N_SCREENED = 10
N_EXCHANGED = 3
"""Replacements tried for each term."""
N_GATED = 4
"""Leads outside the sum that may enter behind a gate."""
MOST_GATED = 500_000
MOST_EXCHANGED = 1_000
"""Cells up to which terms are exchanged."""
SMALLEST = 1e-12
LAPSES = (0.05, 0.1, 0.2)
"""Lapse rates tried for sums, whose lapses bound how sure people can be."""
FAMILIAR = 2.0
"""Nats that other lapses must explain more than those of the rule lists."""


@dataclass(frozen=True)
class GatedLead:
    """One term of the sum: a lead, behind a gate where one is named."""

    lead: int
    gate: int = -1


@dataclass(frozen=True)
class AdditiveRule:
    """A weighted sum of reasons, fitted to answers."""

    terms: tuple[GatedLead, ...]
    weights: Array
    """Log odds per unit of each lead."""
    errors: Array
    """Standard errors of the weights."""
    lapse: float
    """Share of choices made at random."""
    score: float
    """Log likelihood less prices, nats."""


@dataclass(frozen=True)
class _PartialSum:
    """A sum on its way."""

    terms: tuple[GatedLead, ...]
    columns: Array
    weights: Array
    score: float


@dataclass(frozen=True)
class _TermPool:
    """Terms that may enter a sum: every lead by itself, or one lead behind every gate."""

    lead: int
    """The one lead of all its terms; -1 where every lead is a term."""
    slopes: NDArray[np.float32]
    """``(n_terms,)`` slope of the log likelihood in each term's weight."""
    squares: NDArray[np.float32]
    """``(n_terms,)`` information about it."""
    cross: NDArray[np.float32]
    """``(n_terms, n_columns)`` information that it shares with the sum's weights."""
    prices: Array

    def gain(self, known: Array) -> Array:
        """``(n_terms,)`` score statistic (Rao, 1948) less the price.

        Args:
            known: ``(n_columns, n_columns)`` covariance of the sum's weights.
        """
        information = self.squares.astype(np.float64)
        explained = np.einsum("kc,kc->k", self.cross @ known, self.cross)
        if len(known):
            left = information - explained
            information = np.where(left > 1e-3 * information, left, np.inf)
        squares = 0.5 * self.slopes.astype(np.float64) ** 2
        return np.asarray(squares / np.maximum(information + RIDGE, 1e-6) - self.prices)


class AdditiveSearch:
    """Forward selection over given leads and gates."""

    def __init__(self, leads: TermTable, gates: TermTable, counts: Array, lapse: float) -> None:
        """Take ``counts`` ``(n_cells, 2)``; cells without responses are only predicted."""
        self.leads, self.gates, self.lapse = leads, gates, lapse
        self.lead_prices, self.gate_prices = leads.prices, gates.prices
        self.used = counts.sum(axis=1) > 0
        squares = (leads.values.astype(np.float64) ** 2).mean(axis=1)
        self.scale = np.sqrt(np.maximum(squares, SMALLEST))
        self.x = leads.values[:, self.used] / self.scale[:, None].astype(np.float32)
        self.squared = self.x**2
        self.open = gates.values[:, self.used]
        self.b, self.n = counts[self.used, 1], counts[self.used].sum(axis=1)
        self.parameter = 0.5 * float(np.log(max(self.n.sum(), 2)))

    def path(self, most: int) -> list[AdditiveRule]:
        """The sums of 1, 2, ... terms, as long as another term pays."""
        n_cells = len(self.n)
        nothing = self._log_likelihood(np.zeros(n_cells))
        now = _PartialSum((), np.zeros((0, n_cells)), np.zeros(0), nothing)
        found: list[AdditiveRule] = []
        for _ in range(most):
            larger = self._larger(now, N_SCREENED)
            if larger is None or larger.score <= now.score:
                break
            now = self._exchanged(larger) if len(self.n) <= MOST_EXCHANGED else larger
            found.append(self._result(now))
        return found

    def _larger(self, now: _PartialSum, n_screened: int) -> _PartialSum | None:
        """Add the term that gains most after all weights are fitted again."""
        best: _PartialSum | None = None
        for term in self._screen(list(now.terms), now.columns, now.weights, n_screened):
            columns = np.concatenate([now.columns, self._column(term)[None]])
            weights, reached = self._fit(columns, np.append(now.weights, 0.0))
            score = reached - sum(map(self._price, (*now.terms, term)))
            if best is None or score > best.score:
                best = _PartialSum((*now.terms, term), columns, weights, score)
        return best

    def _exchanged(self, now: _PartialSum) -> _PartialSum:
        """Replace earlier terms, one after another, where another one gains more (Pudil et al., 1994)."""
        for place in range(len(now.terms) - 1):
            others = [k for k in range(len(now.terms)) if k != place]
            columns = now.columns[others]
            weights, reached = self._fit(columns, now.weights[others])
            fewer = _PartialSum(tuple(now.terms[k] for k in others), columns, weights, reached)
            other = self._larger(fewer, N_EXCHANGED)
            if other is not None and other.score > now.score + 0.01:
                terms, columns, weights = (
                    _moved(part, place) for part in (other.terms, other.columns, other.weights)
                )
                now = _PartialSum(terms, columns, weights, other.score)
        return now

    def predict(
        self, fitted: AdditiveRule, values: NDArray[np.float32], gates: NDArray[np.float32]
    ) -> Array:
        """``(n_cells,)`` probability of the second option."""
        return (1 - fitted.lapse) * expit(evidence(fitted, values, gates)) + 0.5 * fitted.lapse

    def price(self, fitted: AdditiveRule) -> float:
        """Code length of a sum's terms, nats."""
        return sum(self._code_length(term) for term in fitted.terms)

    def _result(self, now: _PartialSum) -> AdditiveRule:
        weights, columns = now.weights, now.columns
        p, slope = self._response(weights @ columns)
        information = self._information(columns, p, slope)
        errors = np.sqrt(np.diag(np.linalg.inv(information)))
        scale = np.array([self.scale[term.lead] for term in now.terms])
        return AdditiveRule(now.terms, weights / scale, errors / scale, self.lapse, now.score)

    def _screen(
        self, chosen: list[GatedLead], columns: Array, weights: Array, most: int
    ) -> list[GatedLead]:
        """The terms whose score statistic less their price is largest."""
        log_odds = weights @ columns if len(weights) else np.zeros(len(self.n))
        p, slope = self._response(log_odds)
        variance = p * (1 - p)
        residual = ((self.b - self.n * p) * slope / variance).astype(np.float32)
        w = (self.n * slope**2 / variance).astype(np.float32)
        weighed = (columns * w).astype(np.float32)
        known = np.linalg.inv((columns * w) @ columns.T + RIDGE * np.eye(len(columns)))
        # Every lead by itself, and behind every gate those that promise most or are in the sum.
        plain = _TermPool(
            -1, self.x @ residual, self.squared @ w, self.x @ weighed.T, self.lead_prices
        )
        gated = self._gated(chosen, plain)
        pools = [plain, *(self._behind_gates(lead, residual, w, weighed) for lead in gated)]
        ranked: list[tuple[float, GatedLead]] = []
        for pool in pools:
            gain = pool.gain(known)
            for place in np.argsort(-gain, kind="stable")[:N_SCREENED].tolist():
                term = GatedLead(place) if pool.lead < 0 else GatedLead(pool.lead, place)
                if term not in chosen:
                    ranked.append((float(gain[place]), term))
        ranked.sort(key=lambda item: -item[0])
        return [term for _, term in ranked[:most]]

    def _gated(self, chosen: list[GatedLead], plain: _TermPool) -> list[int]:
        """Leads that may get a gate: those in the sum, and where cells are few enough the most promising ones."""
        if not len(self.open):
            return []
        gated = {item.lead for item in chosen}
        if len(self.n) * len(self.open) <= MOST_GATED:
            promise = 0.5 * plain.slopes**2 / np.maximum(plain.squares, 1e-6)
            gated |= set(np.argsort(-promise, kind="stable")[:N_GATED].tolist())
        return sorted(gated)

    def _behind_gates(
        self,
        lead: int,
        residual: NDArray[np.float32],
        w: NDArray[np.float32],
        weighed: NDArray[np.float32],
    ) -> _TermPool:
        """One lead behind every gate.

        Gates are 0 or 1: one product with what is added up where each is open, and no column of a term is made.
        """
        x = self.x[lead]
        slopes, squares = (x * residual)[None], (self.squared[lead] * w)[None]
        added = np.concatenate([slopes, squares, x * weighed])
        sums = self.open @ added.T
        prices = self.gate_prices + self.lead_prices[lead]
        return _TermPool(lead, sums[:, 0], sums[:, 1], sums[:, 2:], prices)

    def _information(self, columns: Array, p: Array, slope: Array) -> Array:
        """Fisher information of the weights, with the precision of their prior."""
        w = self.n * slope**2 / (p * (1 - p))
        return np.asarray((columns * w) @ columns.T + RIDGE * np.eye(len(columns)))

    def _column(self, term: GatedLead) -> Array:
        column = self.x[term.lead].astype(np.float64)
        return np.asarray(column if term.gate < 0 else column * self.open[term.gate])

    def _price(self, term: GatedLead) -> float:
        return self._code_length(term) + self.parameter

    def _code_length(self, term: GatedLead) -> float:
        gate = self.gates.items[term.gate].price if term.gate >= 0 else 0.0
        return self.leads.items[term.lead].price + gate

    def _response(self, log_odds: Array) -> tuple[Array, Array]:
        """Probability of the second option, and its slope in the log odds."""
        plain = expit(log_odds)
        p = (1 - self.lapse) * plain + 0.5 * self.lapse
        slope = (1 - self.lapse) * plain * (1 - plain)
        return np.clip(p, 1e-6, 1 - 1e-6), np.maximum(slope, 1e-9)

    def _log_likelihood(self, log_odds: Array) -> float:
        p, _ = self._response(log_odds)
        return float((xlogy(self.b, p) + xlogy(self.n - self.b, 1 - p)).sum())

    def _fit(self, columns: Array, weights: Array) -> tuple[Array, float]:
        """Weights by Fisher scoring with halved steps, and the log likelihood less the ridge."""

        def objective(w: Array) -> float:
            return self._log_likelihood(w @ columns) - 0.5 * RIDGE * float(w @ w)

        reached = objective(weights)
        for _ in range(12):
            p, slope = self._response(weights @ columns)
            residual = (self.b - self.n * p) * slope / (p * (1 - p))
            gradient = columns @ residual - RIDGE * weights
            move = np.linalg.solve(self._information(columns, p, slope), gradient)
            for step in (1.0, 0.5, 0.25, 0.06):
                ahead = objective(weights + step * move)
                if ahead > reached:
                    break
            else:
                break
            gained, reached, weights = ahead - reached, ahead, weights + step * move
            if gained < 1e-3:
                break
        return weights, reached


def best_lapse(leads: TermTable, gates: TermTable, counts: Array, found: float, most: int) -> float:
    """Find the lapse of sums of reasons: the one that the rule lists found, or another one that explains more."""

    def reached(lapse: float) -> float:
        path = AdditiveSearch(leads, gates, counts, lapse).path(most)
        return max((item.score for item in path), default=-np.inf) + (
            FAMILIAR if lapse == found else 0.0
        )

    return max((found, *LAPSES), key=reached)


def _moved(items: Any, place: int) -> Any:
    """The last item put in ``place``, in a tuple or along the first axis of an array."""
    if isinstance(items, tuple):
        return (*items[:place], items[-1], *items[place:-1])
    return np.concatenate([items[:place], items[-1:], items[place:-1]])


def evidence(
    fitted: AdditiveRule, values: NDArray[np.float32], gates: NDArray[np.float32]
) -> Array:
    """``(n_cells,)`` log odds of the second option before lapses."""
    total = np.zeros(values.shape[1])
    for term, weight in zip(fitted.terms, fitted.weights, strict=True):
        column = values[term.lead] if term.gate < 0 else values[term.lead] * gates[term.gate]
        total += weight * column
    return total
