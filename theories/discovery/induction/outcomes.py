"""Induction over any number of outcomes: weighed reasons for options, levels or numbers, found by a conditional logit.

A rule gives each outcome a sum of terms (`induction.outcome_terms`), each behind a gate or not, and turns the sums into
probabilities by a softmax with lapses. Terms enter one at a time. Thousands are screened by their score statistic in
one pass over the responses; the best few are fitted. How many terms a rule may have is decided by predicting trials
that took no part in the search, as for rules over two options.

References:
    McFadden (1974), in Frontiers in Econometrics, 105-142 (conditional logit); Rao (1948), Proceedings of the Cambridge
    Philosophical Society 44, 50-57 (score test); Pudil, Novovicova & Kittler (1994), Pattern Recognition Letters
    15(11), 1119-1125 (floating search); Dempster, Laird & Rubin (1977), Journal of the Royal Statistical
    Society B 39, 1-38 (lapses).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pprint import pformat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from lakatos.experiments.task import Domain, Trials, identities
from lakatos.theories.discovery.induction.outcome_numbers import RESPONSE, OutcomePast
from lakatos.theories.discovery.induction.outcome_terms import (
    OutcomeLanguage,
    joined,
    read_language,
)
from lakatos.theories.discovery.induction.pace import InductionPace, InductionReport
from lakatos.theories.discovery.induction.population import sensitivities
from lakatos.theories.discovery.induction.rule_fit import (
    EXCEPTIONS,
    MOST_TERMS,
    N_FOLDS,
    N_FOLDS_PAST,
    TINY,
)
from lakatos.theories.discovery.induction.source import (
    ParameterSpread,
    clauses_literal,
    function_text,
    lapse_prior,
    module_docstring,
    reason_words,
    sensitivity_prior,
    sum_claim,
    sum_clauses,
    weighed_clause,
    weighing_title,
    weight_prior,
)
from lakatos.theories.discovery.induction.terms import ChoiceTerm, StateMemory

Array = NDArray[np.float64]
RIDGE = 1e-2
"""Precision of the weights' prior, per standardised term."""
N_FITTED = 8
"""Screened terms that are fitted at each step."""
N_EXCHANGED = 3
"""Replacements that are fitted for each earlier term."""
MOST_EXCHANGED = 5_000
"""Trials times outcomes up to which terms are exchanged."""
N_GATED = 40
"""Terms that may enter behind a gate: those with the largest score statistic, and those of the sum."""
LAPSE, LEAST_LAPSE, MOST_LAPSE = 0.05, 0.002, 0.6
N_STEPS = 30
"""Newton steps of a fit at most."""
N_GROWN = 3
"""Times that screenings grow by a step, each time from what nothing and the best sum leave unexplained."""
MOST_PAST = 60_000
"""Responses times outcomes up to which one's own last choice is looked at."""
PAST_PAYS, N_SHUFFLES = 8.0, 2
"""Nats that it must explain, and orders of the same responses in which it must explain less than half of that."""


@dataclass(frozen=True)
class OutcomeSum:
    """A weighed sum of reasons for each outcome, fitted to responses."""

    terms: tuple[tuple[int, int], ...]
    """Each a term and its gate, -1 for none."""
    weights: Array
    """Log odds per unit of each term."""
    errors: Array
    lapse: float
    log_likelihood: float
    price: float
    """Code length of its terms, nats."""

    @property
    def n_terms(self) -> int:
        """Reasons in the sum."""
        return len(self.terms)


@dataclass(frozen=True)
class FoundSum:
    """A fitted sum as a theory."""

    source: str
    cross_validated: float
    error: float
    n_terms: int
    claim: str
    price: float
    """Nats per choice."""


class OutcomeSearch:
    """Forward selection of terms behind gates, with removal of those that no longer pay."""

    def __init__(self, language: OutcomeLanguage, counts: Array) -> None:
        """Take ``counts`` ``(n_cells, n_outcomes)``; cells without responses are only predicted."""
        self.language = language
        self.used = counts.sum(axis=1) > 0
        self.n, self.free = counts[self.used], language.free[self.used]
        self.total = self.n.sum(axis=1)
        self.chance = self.free / self.free.sum(axis=1, keepdims=True)
        self.x, self.scale = self._standardised(language.terms.values)
        self.open = language.gates.values[:, self.used]
        self.term_prices = language.terms.prices
        # A term without a gate is the usual case: half of the probability is its own.
        self.gate_prices = language.gates.prices + np.log(2)
        self.parameter = 0.5 * float(np.log(max(self.total.sum(), 2)))

    def _standardised(
        self, values: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Terms in units of their spread over the outcomes of a trial, and these units."""
        x = values[:, self.used].astype(np.float64)
        x = x - (x * self.chance).sum(axis=2, keepdims=True)
        scale = np.sqrt(np.maximum((x**2 * self.chance).sum(axis=2).mean(axis=1), 1e-12))
        return (x / scale[:, None, None]).astype(np.float32), scale

    def promise(self, now: OutcomeSum, values: NDArray[np.float32], prices: Array) -> Array:
        """Compute what terms would explain beyond ``now``, alone or behind the best gate, less their prices, nats."""
        slopes, squares = self._statistics(now, self._standardised(values)[0])
        found = _gain(slopes.sum(axis=1), squares.sum(axis=1), prices)
        if len(self.open):
            more = prices[:, None] + self.gate_prices[None]
            gated = _gain(slopes @ self.open.T, squares @ self.open.T, more)
            found = np.maximum(found, gated.max(axis=1))
        return found

    def path(
        self, most: int, leader: Sequence[tuple[int, int]] = (), *, is_given: bool = False
    ) -> dict[int, OutcomeSum]:
        """The best sum of each number of terms.

        Terms enter one at a time, as long as another one pays: from nothing, with and without gates, from what is left
        of the plain attributes together, each of which may say little alone, and from the terms of a ``leader``; from
        these alone if the leader ``is_given``.
        """
        plain = [k for k, item in enumerate(self.language.terms.items) if item.price == 0]
        found: dict[int, OutcomeSum] = {}

        def keep(item: OutcomeSum) -> None:
            known = found.get(item.n_terms)
            if item.n_terms and (known is None or self._worth(item) > self._worth(known)):
                found[item.n_terms] = item

        starts = [] if is_given else [(self._fit(()), False), (self._fit(()), True)]
        if 1 < len(plain) <= most and not is_given:
            together = self._fit(tuple((k, -1) for k in plain))
            starts.append((self._without_idle(together, whole=True), True))
        if is_given or 0 < len(leader) <= most:
            starts.append((self._fit(tuple(leader)), True))
        for now, has_gates in starts:
            keep(now)
            while now.n_terms < most:
                larger = self._larger(now, has_gates=has_gates)
                if larger is None or self._worth(larger) <= self._worth(now):
                    break
                larger = self._without_idle(self._exchanged(larger, has_gates=has_gates))
                if self._worth(larger) <= self._worth(now):
                    break
                now = larger
                keep(now)
        return found

    def predict(self, fitted: OutcomeSum) -> Array:
        """``(n_trials, n_outcomes)`` probabilities on all trials."""
        evidence = self.evidence(fitted)
        return _probabilities(evidence, self.language.free, fitted.lapse)[1]

    def evidence(self, fitted: OutcomeSum) -> Array:
        """``(n_trials, n_outcomes)`` sums on all trials, in log odds."""
        total = np.zeros(self.language.free.shape)
        for (term, gate), weight in zip(fitted.terms, fitted.weights, strict=True):
            value = self.language.terms.values[term].astype(np.float64)
            if gate >= 0:
                value = value * self.language.gates.values[gate][:, None]
            total += weight * value
        return total

    def _worth(self, fitted: OutcomeSum) -> float:
        """Log likelihood less code lengths and what weights cost, nats."""
        return fitted.log_likelihood - fitted.price - self.parameter * fitted.n_terms

    def _larger(
        self, now: OutcomeSum, n_fitted: int = N_FITTED, *, has_gates: bool
    ) -> OutcomeSum | None:
        """Add the term that gains most after all weights are fitted again."""
        tried = [
            self._fit((*now.terms, term), now)
            for term in self._screen(now, has_gates=has_gates)[:n_fitted]
        ]
        return max(tried, key=self._worth, default=None)

    def _exchanged(self, now: OutcomeSum, *, has_gates: bool) -> OutcomeSum:
        """Replace earlier terms, one after another, where another one gains more (Pudil et al., 1994)."""
        if self.n.size > MOST_EXCHANGED:
            return now
        for term in now.terms[:-1]:
            place = now.terms.index(term)
            fewer = self._fit(now.terms[:place] + now.terms[place + 1 :], now, without=place)
            other = self._larger(fewer, N_EXCHANGED, has_gates=has_gates)
            if other is not None and self._worth(other) > self._worth(now) + 0.01:
                now = other
        return now

    def _without_idle(self, now: OutcomeSum, *, whole: bool = False) -> OutcomeSum:
        """Remove terms, one after another, that gain less than their price; the newest stays unless ``whole``."""
        while now.n_terms > 1:
            fewer = [
                self._fit(now.terms[:place] + now.terms[place + 1 :], now, without=place)
                for place in range(now.n_terms - (not whole))
            ]
            best = max(fewer, key=self._worth, default=now)
            if self._worth(best) <= self._worth(now):
                return now
            now = best
        return now

    def _screen(self, now: OutcomeSum, *, has_gates: bool) -> list[tuple[int, int]]:
        """Terms, each with its gate or none, by their score statistic less their price (Rao, 1948)."""
        slopes, squares = self._statistics(now, self.x)
        alone = _gain(slopes.sum(axis=1), squares.sum(axis=1), self.term_prices)
        ranked = [(float(alone[term]), (int(term), -1)) for term in np.argsort(-alone)[:N_FITTED]]
        if has_gates and len(self.open):
            likely = _gain(slopes.sum(axis=1), squares.sum(axis=1), 0.0 * self.term_prices)
            largest = (slopes**2 / np.maximum(squares, 1e-3)).sum(axis=1)
            chosen = {term for term, _ in now.terms}
            chosen |= set(np.argsort(-likely)[: N_GATED // 2].tolist())
            chosen |= set(np.argsort(-(largest - 2 * self.term_prices))[: N_GATED // 2].tolist())
            rows = np.array(sorted(chosen), dtype=np.intp)
            prices = self.term_prices[rows][:, None] + self.gate_prices[None]
            gated = _gain(slopes[rows] @ self.open.T, squares[rows] @ self.open.T, prices)
            for place in np.argsort(-gated, axis=None)[:N_FITTED]:
                row, gate = np.unravel_index(place, gated.shape)
                ranked.append((float(gated[row, gate]), (int(rows[row]), int(gate))))
        ranked.sort(key=lambda item: -item[0])
        return [term for _, term in ranked if term not in now.terms][:N_FITTED]

    def _statistics(
        self, now: OutcomeSum, x: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """``(n_terms, n_cells)`` slope of the log likelihood in each term's weight, and the information about it.

        By cell, so that a gate is one product of matrices.
        """
        columns = self._columns(now.terms)
        p, q = _probabilities(np.einsum("f,ftk->tk", self._own(now), columns), self.free, now.lapse)
        residual, weighed = self._slopes(p, q, now.lapse)
        slopes = np.einsum("ftk,tk->ft", x, residual.astype(np.float32))
        means = np.einsum("ftk,tk->ft", x, p.astype(np.float32))
        squares = np.einsum("ftk,tk->ft", (x - means[..., None]) ** 2, weighed.astype(np.float32))
        return slopes, squares

    def _slopes(self, p: Array, q: Array, lapse: float) -> tuple[Array, Array]:
        """Slope of the log likelihood in each outcome's sum, and the expected information about its distance.

        Both are ``(n_trials, n_outcomes)``; distances are from the mean over outcomes as they are chosen.
        """
        followed = (1 - lapse) * p / np.maximum(q, 1e-12)
        residual = self.n * followed
        residual = residual - residual.sum(axis=1, keepdims=True) * p
        return residual, self.total[:, None] * followed * (1 - lapse) * p

    def _columns(self, terms: Sequence[tuple[int, int]]) -> Array:
        columns = np.zeros((len(terms), *self.n.shape))
        for place, (term, gate) in enumerate(terms):
            columns[place] = self.x[term]
            if gate >= 0:
                columns[place] *= self.open[gate][:, None]
        return columns

    def _own(self, fitted: OutcomeSum) -> Array:
        """Weights of the standardised terms."""
        return np.asarray(fitted.weights * self.scale[[term for term, _ in fitted.terms]])

    def _fit(
        self,
        terms: tuple[tuple[int, int], ...],
        start: OutcomeSum | None = None,
        without: int | None = None,
    ) -> OutcomeSum:
        """Weights by Fisher scoring and lapses by Newton steps, in turn, until neither gains."""
        columns, lapse = self._columns(terms), LAPSE if start is None else start.lapse
        weights = np.zeros(len(terms))
        if start is not None and start.n_terms:
            own = self._own(start)
            own = own if without is None else np.delete(own, without)
            weights[: len(own)] = own[: len(terms)]

        def reached(weights: Array, lapse: float) -> float:
            q = _probabilities(np.einsum("f,ftk->tk", weights, columns), self.free, lapse)[1]
            found = float((self.n * np.log(np.maximum(q, 1e-12))).sum())
            return found - 0.5 * RIDGE * float(weights @ weights)

        now, information = reached(weights, lapse), RIDGE * np.eye(len(terms))
        for _ in range(N_STEPS):
            before = now
            p, q = _probabilities(np.einsum("f,ftk->tk", weights, columns), self.free, lapse)
            lapse = self._best_lapse(p, lapse)
            q = (1 - lapse) * p + lapse * self.chance
            residual, weighed = self._slopes(p, q, lapse)
            away = columns - np.einsum("ftk,tk->ft", columns, p)[..., None]
            information = np.einsum("tk,ftk,gtk->fg", weighed, away, away, optimize=True)
            information += RIDGE * np.eye(len(terms))
            slope = np.einsum("tk,ftk->f", residual, columns) - RIDGE * weights
            move = np.linalg.solve(information, slope) if len(terms) else slope
            now = reached(weights, lapse)
            for step in (1.0, 0.5, 0.25, 0.06):
                if (better := reached(weights + step * move, lapse)) > now:
                    weights, now = weights + step * move, better
                    break
            if now - before < 1e-3:
                break
        errors = np.sqrt(np.diag(np.linalg.inv(information))) if len(terms) else np.zeros(0)
        scale = self.scale[[term for term, _ in terms]] if terms else np.ones(0)
        price = sum(
            float(self.term_prices[term]) + (float(self.gate_prices[gate]) if gate >= 0 else 0.0)
            for term, gate in terms
        )
        return OutcomeSum(terms, weights / scale, errors / scale, lapse, now, price)

    def _best_lapse(self, p: Array, lapse: float) -> float:
        """Share of random choices of greatest likelihood, given what is no lapse."""
        for _ in range(N_STEPS):
            ratio = (self.chance - p) / np.maximum((1 - lapse) * p + lapse * self.chance, 1e-12)
            slope, bend = float((self.n * ratio).sum()), float((self.n * ratio**2).sum())
            ahead = float(np.clip(lapse + slope / max(bend, 1e-12), LEAST_LAPSE, MOST_LAPSE))
            if abs(ahead - lapse) < 1e-5:
                break
            lapse = ahead
        return lapse


def _probabilities(evidence: Array, free: NDArray[np.bool_], lapse: float) -> tuple[Array, Array]:
    """Compute probabilities of each outcome without lapses and with them; outcomes that may not be chosen have 0."""
    evidence = np.where(free, evidence, -np.inf)
    strength = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    p = strength / strength.sum(axis=1, keepdims=True)
    return p, (1 - lapse) * p + lapse * free / free.sum(axis=1, keepdims=True)


def _gain(slopes: NDArray[Any], squares: NDArray[Any], prices: Array) -> Array:
    """Score statistic less the price, nats (Rao, 1948)."""
    return np.asarray(0.5 * slopes**2 / np.maximum(squares + RIDGE, 1e-6) - prices)


@dataclass(frozen=True)
class OutcomeCells:
    """Responses, divided into the distinct trials or into single responses with what preceded them."""

    arrays: dict[str, Array]
    """Arrays of the stimuli, a row for every cell."""
    counts: Array
    """``(n_cells, n_outcomes)``."""
    group: NDArray[np.intp]
    """``(n_cells,)`` the same number for the same trials."""
    cell: NDArray[np.intp]
    """``(n_rows,)`` to which each row of responses belongs."""
    response: NDArray[np.intp]
    count: Array
    person: NDArray[np.intp]
    is_pooled: bool

    def by_row(self) -> OutcomeCells:
        """The same with a cell for every row."""
        counts = np.zeros((len(self.cell), self.counts.shape[1]))
        counts[np.arange(len(self.cell)), self.response] = self.count
        arrays = {name: array[self.cell] for name, array in self.arrays.items()}
        rows = np.arange(len(self.cell))
        return replace(self, arrays=arrays, counts=counts, group=self.group[self.cell], cell=rows)

    def past(self, rng: np.random.Generator | None = None) -> OutcomePast:
        """Return what preceded each row; with ``rng`` as if each participant had responded in a random order."""
        order = np.arange(len(self.person)) if rng is None else rng.permutation(len(self.person))
        order = order[np.argsort(self.person[order], kind="stable")]
        previous = np.full(len(order), -1)
        same = self.person[order[1:]] == self.person[order[:-1]]
        previous[order[1:]] = np.where(same, order[:-1], -1)
        return OutcomePast(previous, self.response)


def read_cells(domain: Domain, trials: Sequence[Trials]) -> OutcomeCells | None:
    """All experiments together, a cell for each trial; None where trials of experiments have other shapes."""
    arrays = joined([item.stimuli for item in trials])
    if arrays is None:
        return None
    keys = [key for item in trials for key in identities(domain, item.stimuli)]
    _, group = np.unique(np.array([key.hex() for key in keys]), return_inverse=True)
    starts = np.cumsum([0, *(len(item.stimuli) for item in trials)])
    firsts = np.cumsum([0, *(item.n_participants for item in trials)])
    cell = np.concatenate([item.trial + start for item, start in zip(trials, starts, strict=False)])
    person = [item.participant + first for item, first in zip(trials, firsts, strict=False)]
    counts = np.zeros((len(keys), trials[0].n_options))
    response = np.concatenate([item.response for item in trials])
    count = np.concatenate([item.count for item in trials]).astype(np.float64)
    np.add.at(counts, (cell, response), count)
    is_pooled = any(item.pooled for item in trials)
    return OutcomeCells(
        arrays, counts, group, cell, response, count, np.concatenate(person), is_pooled
    )


@dataclass(frozen=True)
class SearchedSums:
    """Sums of every size, and the size that predicts held-out trials best."""

    cells: OutcomeCells
    search: OutcomeSearch
    path: dict[int, OutcomeSum]
    size: int | None
    cross_validated: float
    """Nats per choice."""

    @property
    def leader(self) -> OutcomeSum:
        """The largest sum that is not larger than the best size."""
        small = [size for size in self.path if self.size is not None and size <= self.size]
        return self.path[max(small, default=min(self.path))]


def induce_outcomes(
    domain: Domain,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    *,
    least: float,
    has_places: bool,
    report: InductionReport | None = None,
) -> FoundSum | None:
    """The weighed sum that predicts left-out trials best, as a theory.

    Args:
        domain: Domain of the trials, any number of outcomes.
        trials: All experiments.
        rng: Divides trials into folds.
        least: Criterion that a theory must exceed on what it was fitted to, nats per choice.
        has_places: Whether it is known where options stood.
        report: Hears how far it is.

    Returns:
        None where trials of experiments have other shapes, where there are too few, where responses have times, or
        where no rule is good enough.
    """
    cells = read_cells(domain, trials)
    if cells is None or int(cells.group.max()) + 1 < 2 * N_FOLDS:
        return None
    language = read_language(domain, cells.arrays, cells.counts, has_places=has_places)
    if language is None:
        return None
    pace = InductionPace("fits of weighed reasons", (1.0,) * 2 * (N_GROWN + 1 + N_FOLDS), report)
    found = _searched(language, cells, least, rng, pace)
    if (
        found is not None
        and not cells.is_pooled
        and cells.counts.shape[1] * len(cells.cell) <= MOST_PAST
    ):
        later = _with_past(domain, found, least, rng, pace, has_places=has_places)
        if later is not None and later.cross_validated > found.cross_validated:
            found = later
    pace.go_to(2 * (N_GROWN + 1 + N_FOLDS))
    return None if found is None else _written(found)


def _searched(
    language: OutcomeLanguage,
    cells: OutcomeCells,
    least: float,
    rng: np.random.Generator,
    pace: InductionPace,
    leader: Sequence[tuple[int, int]] = (),
    *,
    of_past: bool = False,
) -> SearchedSums | None:
    """The path of sums, with screenings that grow from nothing and then from what the best sum leaves unexplained."""
    path: dict[int, OutcomeSum] = {}
    search = OutcomeSearch(language, cells.counts)
    now = search._fit(tuple(leader))
    for _ in range(N_GROWN - of_past):
        used = [language.terms.items[term] for term, _ in now.terms]
        for base in (now,) if of_past or not now.terms else (search._fit(()), now):
            language = language.grown(partial(search.promise, base), used, of_past=of_past)
        search = OutcomeSearch(language, cells.counts)
        path = search.path(MOST_TERMS, leader if of_past else now.terms, is_given=of_past)
        pace.step()
        if not path:
            return None
        now = max(path.values(), key=search._worth)
    total = float(cells.counts.sum())
    if max(item.log_likelihood - item.price for item in path.values()) <= least * total:
        return None
    given = leader if of_past else None
    size, score = _best_size(language, cells, rng, pace, given)
    return None if size is None else SearchedSums(cells, search, path, size, score)


def _with_past(
    domain: Domain,
    found: SearchedSums,
    least: float,
    rng: np.random.Generator,
    pace: InductionPace,
    *,
    has_places: bool,
) -> SearchedSums | None:
    """Sums with a memory of one's own last choice, if it explains more than in another order of the same responses."""
    rows = found.cells.by_row()

    leader = found.leader.terms

    def read(past: OutcomePast) -> tuple[OutcomeLanguage, float] | None:
        own = read_language(domain, rows.arrays, rows.counts, has_places=has_places, past=past)
        if own is None:
            return None
        language = found.search.language.with_past(own, found.cells.cell)
        search = OutcomeSearch(language, rows.counts)
        gains = search.promise(search._fit(leader), own.terms.values, own.terms.prices)
        return language, float(gains.max())

    real = read(rows.past())
    if real is None or real[1] <= PAST_PAYS:
        return None
    shuffled = [read(rows.past(rng)) for _ in range(N_SHUFFLES)]
    if real[1] <= 2 * max(item[1] for item in shuffled if item is not None):
        return None
    return _searched(real[0], rows, least, rng, pace, leader, of_past=True)


def _best_size(
    language: OutcomeLanguage,
    cells: OutcomeCells,
    rng: np.random.Generator,
    pace: InductionPace,
    leader: Sequence[tuple[int, int]] | None,
) -> tuple[int | None, float]:
    """Number of terms that predicts left-out trials best, its price considered, and its nats per choice."""
    counts, group = cells.counts, cells.group
    n_folds = N_FOLDS if leader is None else N_FOLDS_PAST
    fold = rng.permutation(int(group.max()) + 1)[group] % n_folds
    total = float(counts.sum())
    paths: list[tuple[dict[int, tuple[float, float]], int]] = []
    for left_out in range(n_folds):
        search = OutcomeSearch(language, counts * (fold != left_out)[:, None])
        held_out = counts * (fold == left_out)[:, None]
        scored = {
            size: (_log_predictive(search.predict(item), held_out, group), item.price)
            for size, item in search.path(
                MOST_TERMS, leader or (), is_given=leader is not None
            ).items()
        }
        pace.step()
        if not scored:
            return None, 0.0
        paths.append((scored, min(scored)))
    worth: dict[int, tuple[float, float]] = {}
    for size in sorted({size for scored, _ in paths for size in scored}):
        chosen = [
            scored[max((k for k in scored if k <= size), default=fewest)]
            for scored, fewest in paths
        ]
        log_p = sum(item[0] for item in chosen) / total
        worth[size] = (log_p, log_p - sum(item[1] for item in chosen) / n_folds / total)
    best = max(worth, key=lambda size: worth[size][1])
    return best, worth[best][0]


def _log_predictive(p: Array, counts: Array, group: NDArray[np.intp]) -> float:
    """Nats of left-out responses; a trial may be an exception, with any proportions being equally likely."""
    followed = np.bincount(group, (counts * np.log(np.clip(p, TINY, 1))).sum(axis=1))
    by_trial = np.zeros((len(followed), counts.shape[1]))
    np.add.at(by_trial, group, counts)
    n, n_outcomes = by_trial.sum(axis=1), counts.shape[1]
    excepted = gammaln(n_outcomes) + gammaln(by_trial + 1).sum(axis=1) - gammaln(n + n_outcomes)
    found = np.logaddexp(np.log(1 - EXCEPTIONS) + followed, np.log(EXCEPTIONS) + excepted)
    return float(found[n > 0].sum())


def _written(found: SearchedSums) -> FoundSum:
    """The best sum as a theory."""
    cells, search, fitted = found.cells, found.search, found.leader
    language, response = search.language, cells.response[:, None]
    evidence = np.where(language.free, search.evidence(fitted), -np.inf)[cells.cell]
    own = np.take_along_axis(evidence, response, axis=1)
    others = own - np.where(np.arange(evidence.shape[1]) == response, -np.inf, evidence)
    spread = ParameterSpread(0.0, 0.1)
    if not cells.is_pooled:
        chance = 1 / evidence.shape[1]
        spread = sensitivities(others, fitted.lapse, chance, cells.person, cells.count)
    masked = "available" in cells.arrays
    source, claim = write_outcomes(fitted, language, spread, masked=masked)
    seen = cells.counts.sum(axis=1) > 0
    shares = cells.counts / np.maximum(cells.counts.sum(axis=1, keepdims=True), 1)
    error = float(((search.predict(fitted) - shares)[seen] ** 2).mean())
    price = fitted.price / float(cells.counts.sum())
    return FoundSum(source, found.cross_validated, error, fitted.n_terms, claim, price)


# -- writing -----------------------------------------------------------------------------------------------------------


def write_outcomes(
    fitted: OutcomeSum, language: OutcomeLanguage, sensitivity: ParameterSpread, *, masked: bool
) -> tuple[str, str]:
    """Source and claim of a weighed sum over outcomes.

    Args:
        fitted: The sum.
        language: Its terms.
        sensitivity: How strictly participants follow the sum.
        masked: Whether trials say which outcomes may be chosen.
    """
    scores: list[Any] = []
    memory: dict[str, StateMemory] = {}

    def code(term: ChoiceTerm) -> str:
        memory.update((entry.name, entry) for entry in term.memory)
        for score in term.scores:
            if score not in scores:
                scores.append(score)
        return term.code.format(*(f"score_{scores.index(score) + 1}" for score in term.scores))

    parameters: dict[str, Any] = {
        "lapse": lapse_prior(ParameterSpread(fitted.lapse, 0.01)),
        "sensitivity": sensitivity_prior(sensitivity),
    }
    sums, words, clauses = [], [], []
    for number, ((place, gate_place), weight, error) in enumerate(
        zip(fitted.terms, fitted.weights, fitted.errors, strict=True), 1
    ):
        term = language.terms.items[place]
        gate = language.gates.items[gate_place] if gate_place >= 0 else None
        expression = f"({code(term)})"
        if gate is not None:
            expression += f" * ({code(gate)})[..., None]"
        name = f"weight_{number}"
        meaning = f"log odds for each unit of the reason to: {term.words}"
        parameters[name] = weight_prior(weight, error, meaning)
        sums.append(f'parameters["{name}"][..., None] * {expression}')
        words.append(reason_words(weight, term, gate))
        clauses.append(weighed_clause(name, weight, term, gate))
    lines = [
        *(f"score_{place} = {score.code}" for place, score in enumerate(scores, 1)),
        f"evidence = {sums[0]}",
        *(f"evidence = evidence + {item}" for item in sums[1:]),
        'evidence = parameters["sensitivity"][..., None] * evidence',
    ]
    chance = "1.0 / p.shape[-1]"
    if masked:
        lines += [
            'free = 1.0 * trials["available"]',
            "evidence = xp.where(free > 0, evidence, -1e30)",
        ]
        chance = "free / free.sum(axis=-1)[..., None]"
    lines += [
        "strength = xp.exp(xp.clip(evidence - evidence.max(axis=-1)[..., None], -500.0, 0.0))"
        + (" * free" if masked else ""),
        "p = strength / strength.sum(axis=-1)[..., None]",
        'lapse = parameters["lapse"][..., None]',
        f"return (1 - lapse) * p + lapse * ({chance})",
    ]
    body = function_text("choose", "parameters, trials, xp" + ", state" * bool(memory), lines)
    if memory:
        kept = [f'    "{name}": {entry.start},' for name, entry in memory.items()]
        start = function_text("start", "parameters, trials, xp", ["return {", *kept, "}"])
        kept = [f'    "{name}": {entry.renewed},' for name, entry in memory.items()]
        arguments = "parameters, trials, xp, state, response, feedback"
        body = "\n\n".join(
            [start, body, function_text("learn", arguments, ["return {", *kept, "}"])]
        )
    called = [item for item in language.helpers if f"{_name_of(item)}(" in body]
    claim = sum_claim(words)
    declared = f"PARAMETERS = {pformat(parameters, width=110, sort_dicts=False)}\n"
    declared += clauses_literal(sum_clauses(clauses))
    head = f"{module_docstring(title_of(fitted, language), claim)}\n\n{declared}"
    return "\n\n".join([head, *(item.strip() + "\n" for item in called), body]), claim


def title_of(fitted: OutcomeSum, language: OutcomeLanguage) -> str:
    """A name of at most six words: what the largest reasons are about."""
    sizes = [
        abs(weight) * float(language.terms.values[term].std())
        for (term, _), weight in zip(fitted.terms, fitted.weights, strict=True)
    ]
    nouns = dict.fromkeys(
        re.sub("^an? ", "", score.words)
        for place in np.argsort(-np.array(sizes), kind="stable")
        for score in language.terms.items[fitted.terms[place][0]].scores
    )
    if nouns.pop(RESPONSE, "no scale") is None:
        nouns = {
            f"their {noun}" if noun.startswith("own ") else f"the {noun}": None for noun in nouns
        }
    return weighing_title(nouns)


def _name_of(helper: str) -> str:
    return helper.split("def ")[1].split("(")[0]
