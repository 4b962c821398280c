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

from lakatos.theories.induction.terms import TermTable

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
    """Their standard errors."""
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


class AdditiveSearch:
    """Forward selection over given leads and gates."""

    def __init__(self, leads: TermTable, gates: TermTable, counts: Array, lapse: float) -> None:
        """Take ``counts`` ``(n_cells, 2)``; cells without answers are only predicted."""
        self.leads, self.gates, self.lapse = leads, gates, lapse
        self.lead_prices, self.gate_prices = leads.prices, gates.prices
        self.used = counts.sum(axis=1) > 0
        self.scale = np.sqrt(
            np.maximum((leads.values.astype(np.float64) ** 2).mean(axis=1), SMALLEST)
        )
        self.x = leads.values[:, self.used] / self.scale[:, None].astype(np.float32)
        self.squared = self.x**2
        self.open = gates.values[:, self.used]
        self.b, self.n = counts[self.used, 1], counts[self.used].sum(axis=1)
        self.parameter = 0.5 * float(np.log(max(self.n.sum(), 2)))

    def path(self, most: int) -> list[AdditiveRule]:
        """The sums of 1, 2, ... terms, as long as another term pays."""
        now = _PartialSum(
            (), np.zeros((0, len(self.n))), np.zeros(0), self._log_likelihood(np.zeros(len(self.n)))
        )
        found: list[AdditiveRule] = []
        for _ in range(most):
            larger = self._larger(now, N_SCREENED)
            if larger is None or larger.score <= now.score:
                break
            now = self._exchanged(larger) if len(self.n) <= MOST_EXCHANGED else larger
            found.append(self._result(now))
        return found

    def _larger(self, now: _PartialSum, n_screened: int) -> _PartialSum | None:
        """With the term that gains most after all weights are fitted again."""
        best: _PartialSum | None = None
        for term in self._screen(list(now.terms), now.columns, now.weights, n_screened):
            columns = np.concatenate([now.columns, self._column(term)[None]])
            weights, reached = self._fit(columns, np.append(now.weights, 0.0))
            score = reached - sum(map(self._price, (*now.terms, term)))
            if best is None or score > best.score:
                best = _PartialSum((*now.terms, term), columns, weights, score)
        return best

    def _exchanged(self, now: _PartialSum) -> _PartialSum:
        """With earlier terms replaced, one after another, where another one gains more (Pudil et al., 1994)."""
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
        information = (columns * (self.n * slope**2 / (p * (1 - p)))) @ columns.T + RIDGE * np.eye(
            len(weights)
        )
        errors = np.sqrt(np.diag(np.linalg.inv(information)))
        scale = np.array([self.scale[term.lead] for term in now.terms])
        return AdditiveRule(now.terms, weights / scale, errors / scale, self.lapse, now.score)

    def _screen(
        self, chosen: list[GatedLead], columns: Array, weights: Array, most: int
    ) -> list[GatedLead]:
        """The terms whose score statistic less their price is largest."""
        p, slope = self._response(weights @ columns if len(weights) else np.zeros(len(self.n)))
        residual = ((self.b - self.n * p) * slope / (p * (1 - p))).astype(np.float32)
        w = (self.n * slope**2 / (p * (1 - p))).astype(np.float32)
        plain = self.x @ residual, self.squared @ w
        gated = {item.lead for item in chosen}
        if (
            len(self.n) * len(self.open) <= MOST_GATED
        ):  # else only what is in the sum already may get a gate
            promise = 0.5 * plain[0] ** 2 / np.maximum(plain[1], 1e-6)
            gated |= set(np.argsort(-promise, kind="stable")[:N_GATED].tolist())
        weighed = (columns * w).astype(np.float32)
        known = np.linalg.inv((columns * w) @ columns.T + RIDGE * np.eye(len(columns)))
        # Each pool: the lead that all its terms have (-1 where every lead is one), slopes, squares, products, prices.
        pools = [(-1, *plain, self.x @ weighed.T, self.lead_prices)]
        for lead in sorted(gated) if len(self.open) else ():
            # Gates are 0 or 1: one product with what is added up where each is open, and no column of a term is made.
            x = self.x[lead]
            added = np.concatenate(
                [(x * residual)[None], (self.squared[lead] * w)[None], x * weighed]
            )
            sums = self.open @ added.T
            pools.append(
                (
                    lead,
                    sums[:, 0],
                    sums[:, 1],
                    sums[:, 2:],
                    self.gate_prices + self.lead_prices[lead],
                )
            )
        ranked: list[tuple[float, int, GatedLead]] = []
        for lead, slopes, squares, cross, prices in pools:
            information = squares.astype(np.float64)
            explained = np.einsum("kc,kc->k", cross @ known, cross)
            if len(columns):
                information = np.where(
                    information - explained > 1e-3 * information, information - explained, np.inf
                )
            gain = (
                0.5 * slopes.astype(np.float64) ** 2 / np.maximum(information + RIDGE, 1e-6)
                - prices
            )
            for place in map(int, np.argsort(-gain, kind="stable")[:N_SCREENED]):
                term = GatedLead(place) if lead < 0 else GatedLead(lead, place)
                if term not in chosen:
                    ranked.append((float(gain[place]), len(ranked), term))
        return [term for _, _, term in sorted(ranked, key=lambda item: -item[0])[:most]]

    def _column(self, term: GatedLead) -> Array:
        column = self.x[term.lead].astype(np.float64)
        return np.asarray(column if term.gate < 0 else column * self.open[term.gate])

    def _price(self, term: GatedLead) -> float:
        return self._code_length(term) + self.parameter

    def _code_length(self, term: GatedLead) -> float:
        return self.leads.items[term.lead].price + (
            self.gates.items[term.gate].price if term.gate >= 0 else 0.0
        )

    def _response(self, log_odds: Array) -> tuple[Array, Array]:
        plain = expit(log_odds)
        p = (1 - self.lapse) * plain + 0.5 * self.lapse
        return np.clip(p, 1e-6, 1 - 1e-6), np.maximum((1 - self.lapse) * plain * (1 - plain), 1e-9)

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
            gradient = columns @ ((self.b - self.n * p) * slope / (p * (1 - p))) - RIDGE * weights
            information = (
                columns * (self.n * slope**2 / (p * (1 - p)))
            ) @ columns.T + RIDGE * np.eye(len(weights))
            move = np.linalg.solve(information, gradient)
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
