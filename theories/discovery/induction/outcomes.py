"""Induction over any number of outcomes: weighed reasons for options, levels or numbers, found by a conditional logit.

A rule gives each outcome a sum of terms (`induction.outcome_terms`), each behind a gate or not, and turns the sums into
probabilities by a softmax with lapses. Terms enter one at a time. Thousands are screened by their score statistic in
one pass over the responses; the best few are fitted. How many terms a rule may have is decided by predicting trials
that took no part in the search, as for rules over two options. Where participants differ more than responses to one
rule would, two kinds of participants are looked for, each of which follows a sum of its own.

References:
    McFadden (1974), in Frontiers in Econometrics, 105-142 (conditional logit); Rao (1948), Proceedings of the Cambridge
    Philosophical Society 44, 50-57 (score test); Pudil, Novovicova & Kittler (1994), Pattern Recognition Letters
    15(11), 1119-1125 (floating search); Lin (1997), Biometrika 84, 309-326
    (differences between participants); Dempster, Laird & Rubin (1977), Journal of the Royal Statistical
    Society B 39, 1-38 (lapses, kinds of participants).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, logit, logsumexp, ndtri

from lakatos.experiments.task import Domain, Trials, identities
from lakatos.theories.discovery.induction.mixture import best_pair
from lakatos.theories.discovery.induction.outcome_numbers import RESPONSE, OutcomePast
from lakatos.theories.discovery.induction.outcome_terms import (
    OutcomeLanguage,
    joined,
    read_language,
)
from lakatos.theories.discovery.induction.pace import InductionPace, InductionReport
from lakatos.theories.discovery.induction.population import most_likely_normal
from lakatos.theories.discovery.induction.rule_fit import (
    MOST_TERMS,
    N_FOLDS,
    TINY,
    FittedRule,
    InducedRule,
    Responses,
    RuleForm,
    best_of_form,
    explained,
    induced,
)
from lakatos.theories.discovery.induction.source import (
    KINDS_TITLE,
    ParameterSpread,
    Reason,
    disposition_prior,
    function_text,
    kinds_in_words,
    lapse_prior,
    sensitivity_prior,
    sum_claim,
    sum_clauses,
    tendencies,
    theory_text,
    weighing_title,
    write_reasons,
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
STRICTNESS = (0.6, 1.5, 4.0)
"""Log odds for each spread of a term with which it is followed alone."""
N_TERMS_AT_ONCE = 200
MOST_AT_ONCE = 5_000_000
"""Probabilities of rules of one term that are held at once."""
N_STEPS = 30
"""Newton steps of a fit at most."""
N_GROWN = 3
"""Times that screenings grow by a step, each time from what nothing and the best sum leave unexplained."""
MOST_PAST = 60_000
"""Responses times outcomes up to which one's own last choice is looked at."""
PAST_PAYS, N_SHUFFLES = 8.0, 2
"""Nats that it must explain, and orders of the same responses in which it must explain less than half of that."""


SENSITIVITIES = (0.02, 1.5)
"""Least and largest spread of the logarithms of participants' sensitivities."""
NODES = ndtri((np.arange(5) + 0.5) / 5)
"""Participants among whom sensitivities differ, in spreads."""
KINDS = "two kinds of people"
MOST_OF_KIND = 4
"""Reasons of a kind of participants."""
DIFFERENCE = 5.0
"""Standard errors of the spread between participants from which kinds of participants are looked for."""
N_ROUNDS = 2
"""Times that kinds of participants and their rules are found in turn."""
SHARES = (0.02, 0.98)
LEAST_SHARE = 0.1
"""Share of participants from which they are a kind; fewer may be the few whom a rule of all participants fits least."""
KINDS_PAY = 20.0
"""Nats that two kinds must explain beyond one: held-out scores vary by a dozen with the division into folds."""
Terms = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class OutcomeSum:
    """A weighed sum of reasons for each outcome, fitted to responses."""

    terms: Terms
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

    def with_counts(self, counts: Array) -> OutcomeSearch:
        """The same search for other weights of the same responses ``(n_cells, n_outcomes)``."""
        other = copy(self)
        other.n = counts[self.used]
        other.total = other.n.sum(axis=1)
        other.parameter = 0.5 * float(np.log(max(other.total.sum(), 2)))
        return other

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
        self, most: int, leader: Terms = (), *, is_given: bool = False, has_plain: bool = False
    ) -> dict[int, OutcomeSum]:
        """The best sum of each number of terms, if it is better than all smaller ones.

        Terms enter one at a time, as long as another one pays: from nothing, with and without gates, from what is left
        of the plain attributes together, each of which may say little alone, from the terms of a ``leader``, and from
        the best sum or rule where a gate is open and another rule where it is closed; if the leader ``is_given``, from
        these alone, and from the plain attributes if it ``has_plain``.
        """
        plain = [k for k, item in enumerate(self.language.terms.items) if item.price == 0]
        found: dict[int, OutcomeSum] = {}

        def keep(item: OutcomeSum) -> None:
            known = found.get(item.n_terms)
            if item.n_terms and (known is None or self.worth(item) > self.worth(known)):
                found[item.n_terms] = item

        starts = [] if is_given else [(self.fit(()), False), (self.fit(()), True)]
        if 1 < len(plain) <= most and (has_plain or not is_given):
            together = self.fit(tuple((k, -1) for k in plain))
            starts.append((self._without_idle(together, whole=True), True))
        if is_given or 0 < len(leader) <= most:
            starts.append((self.fit(tuple(leader)), True))

        def extend(now: OutcomeSum, *, has_gates: bool) -> None:
            keep(now)
            while now.n_terms < most:
                larger = self._larger(now, has_gates=has_gates)
                if larger is None or self.worth(larger) <= self.worth(now):
                    break
                larger = self._without_idle(self._exchanged(larger, has_gates=has_gates))
                if self.worth(larger) <= self.worth(now):
                    break
                now = larger
                keep(now)

        for start, has_gates in starts:
            extend(start, has_gates=has_gates)
        if not is_given:
            divided = self._divided(max(found.values(), key=self.worth, default=self.fit(())))
            if 0 < len(divided) <= most:
                extend(self.fit(divided), has_gates=True)
        best = -np.inf
        for size in sorted(found):
            if self.worth(found[size]) <= best:
                del found[size]
            else:
                best = self.worth(found[size])
        return found

    def single_rules(self) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Rules that follow, or oppose, one term alone, more or less strictly.

        Yields:
            The term of each rule, and its log probabilities ``(n_rules, n_used_cells, n_outcomes)``.
        """
        factors = np.array([sign * factor for factor in STRICTNESS for sign in (1, -1)])
        n_terms = max(1, MOST_AT_ONCE // (len(factors) * self.n.size))
        for start in range(0, len(self.x), n_terms):
            x = self.x[start : start + n_terms]
            evidence = (x[:, None] * factors[:, None, None]).reshape(-1, *self.n.shape)
            term = np.repeat(np.arange(start, start + len(x)), len(factors))
            yield term, np.log(np.maximum(_probabilities(evidence, self.free, LAPSE)[1], 1e-12))

    def _divided(self, now: OutcomeSum) -> Terms:
        """One rule where a gate is open, and another one where it is closed: single terms, or one of them a sum.

        Args:
            now: The sum, of terms without gates.

        Returns:
            Nothing where no two gates are each other's opposite.
        """
        open_ = {row.tobytes(): gate for gate, row in enumerate(self.open)}
        closed = [open_.get((1 - row).tobytes(), -1) for row in self.open]
        pairs = [(one, two) for one, two in enumerate(closed) if 0 <= one < two]
        if not pairs:
            return ()
        gates = np.arange(len(self.open))
        best, chosen = np.full(len(gates), -np.inf), np.full(len(gates), -1)
        if all(gate < 0 for _, gate in now.terms):
            by_cell = (self.n * np.log(np.maximum(self.predict(now)[self.used], TINY))).sum(axis=1)
            best = self.open @ by_cell - now.price - self.parameter * now.n_terms
        for term, log_p in self.single_rules():
            gained = np.einsum("tk,rtk->rt", self.n, log_p) @ self.open.T
            gained -= self.term_prices[term][:, None] + self.parameter
            row = gained.argmax(axis=0)
            chosen = np.where(gained[row, gates] > best, term[row], chosen)
            best = np.maximum(best, gained[row, gates])
        best = best - self.gate_prices
        pair = max(pairs, key=lambda pair: best[pair[0]] + best[pair[1]])
        if (chosen[list(pair)] < 0).all():
            return ()
        rules = [now.terms if chosen[gate] < 0 else ((int(chosen[gate]), -1),) for gate in pair]
        return tuple(
            (term, gate) for gate, rule in zip(pair, rules, strict=True) for term, _ in rule
        )

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

    def worth(self, fitted: OutcomeSum) -> float:
        """Log likelihood less code lengths and what weights cost, nats."""
        return fitted.log_likelihood - fitted.price - self.parameter * fitted.n_terms

    def _larger(
        self, now: OutcomeSum, n_fitted: int = N_FITTED, *, has_gates: bool
    ) -> OutcomeSum | None:
        """Add the term that gains most after all weights are fitted again."""
        tried = [
            self.fit((*now.terms, term), now)
            for term in self._screen(now, has_gates=has_gates)[:n_fitted]
        ]
        return max(tried, key=self.worth, default=None)

    def _exchanged(self, now: OutcomeSum, *, has_gates: bool) -> OutcomeSum:
        """Replace earlier terms, one after another, where another one gains more (Pudil et al., 1994)."""
        if self.n.size > MOST_EXCHANGED:
            return now
        for term in now.terms[:-1]:
            place = now.terms.index(term)
            fewer = self.fit(now.terms[:place] + now.terms[place + 1 :], now, without=place)
            other = self._larger(fewer, N_EXCHANGED, has_gates=has_gates)
            if other is not None and self.worth(other) > self.worth(now) + 0.01:
                now = other
        return now

    def _without_idle(self, now: OutcomeSum, *, whole: bool = False) -> OutcomeSum:
        """Remove terms, one after another, that gain less than their price; the newest stays unless ``whole``."""
        while now.n_terms > 1:
            fewer = [
                self.fit(now.terms[:place] + now.terms[place + 1 :], now, without=place)
                for place in range(now.n_terms - (not whole))
            ]
            best = max(fewer, key=self.worth, default=now)
            if self.worth(best) <= self.worth(now):
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

    def difference(self, now: OutcomeSum, of: Responses) -> float:
        """Excess of the spread of participants' slopes in a term's weight over chance, the largest of all terms.

        It is in standard errors (the score test of a variance component, Lin, 1997).
        """
        columns = self._columns(now.terms)
        p, q = _probabilities(np.einsum("f,ftk->tk", self._own(now), columns), self.free, now.lapse)
        followed = (1 - now.lapse) * p / np.maximum(q, 1e-12)
        counts = self.by_person(of)
        parts = counts.data, counts.indices // of.n_outcomes, counts.indptr
        presented = csr_array(parts, shape=(counts.shape[0], len(self.n)))
        largest = 0.0
        for start in range(0, len(self.x), N_TERMS_AT_ONCE):
            x = self.x[start : start + N_TERMS_AT_ONCE].astype(np.float64)
            away = x - np.einsum("ftk,tk->ft", x, p)[..., None]
            slopes = counts @ (away * followed).reshape(len(x), -1).T
            expected = np.einsum("ftk,tk->ft", away**2, followed * (1 - now.lapse) * p)
            information = presented @ expected.T
            excess = (slopes**2 - information).sum(axis=0)
            error = np.sqrt(2 * (information**2).sum(axis=0))
            largest = max(largest, float((excess / np.maximum(error, 1e-9)).max()))
        return largest

    def by_person(self, of: Responses) -> csr_array:
        """``(n_people, n_used_cells * n_outcomes)`` responses."""
        rows = np.flatnonzero(of.count)
        column = (np.cumsum(self.used) - 1)[of.cell[rows]] * of.n_outcomes + of.response[rows]
        shape = int(of.person.max()) + 1, self.n.size
        return csr_array((of.count[rows], (of.person[rows], column)), shape=shape)

    def _slopes(self, p: Array, q: Array, lapse: float) -> tuple[Array, Array]:
        """Slope of the log likelihood in each outcome's sum, and the expected information about its distance.

        Both are ``(n_trials, n_outcomes)``; distances are from the mean over outcomes as they are chosen.
        """
        followed = (1 - lapse) * p / np.maximum(q, 1e-12)
        residual = self.n * followed
        residual = residual - residual.sum(axis=1, keepdims=True) * p
        return residual, self.total[:, None] * followed * (1 - lapse) * p

    def _columns(self, terms: Terms) -> Array:
        columns = np.zeros((len(terms), *self.n.shape))
        for place, (term, gate) in enumerate(terms):
            columns[place] = self.x[term]
            if gate >= 0:
                columns[place] *= self.open[gate][:, None]
        return columns

    def _own(self, fitted: OutcomeSum) -> Array:
        """Weights of the standardised terms."""
        return np.asarray(fitted.weights * self.scale[[term for term, _ in fitted.terms]])

    def fit(
        self,
        terms: Terms,
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
    strength = np.exp(evidence - evidence.max(axis=-1, keepdims=True))
    p = strength / strength.sum(axis=-1, keepdims=True)
    return p, (1 - lapse) * p + lapse * free / free.sum(axis=1, keepdims=True)


def _gain(slopes: NDArray[Any], squares: NDArray[Any], prices: Array) -> Array:
    """Score statistic less the price, nats (Rao, 1948)."""
    return np.asarray(0.5 * slopes**2 / np.maximum(squares + RIDGE, 1e-6) - prices)


@dataclass(frozen=True)
class OutcomeRule:
    """Sums of reasons that participants follow, each participant one of them."""

    kinds: tuple[OutcomeSum, ...]
    """One sum, or two."""
    shares: Array
    """``(n_kinds,)`` of participants."""
    lapse: float
    sensitivity: ParameterSpread


def past_of(responses: Responses, rng: np.random.Generator | None = None) -> OutcomePast:
    """Return what preceded each row; with ``rng`` as if each participant had responded in a random order."""
    person = responses.person
    order = np.arange(len(person)) if rng is None else rng.permutation(len(person))
    order = order[np.argsort(person[order], kind="stable")]
    previous = np.full(len(order), -1)
    same = person[order[1:]] == person[order[:-1]]
    previous[order[1:]] = np.where(same, order[:-1], -1)
    return OutcomePast(previous, responses.response)


def read_responses(
    domain: Domain, trials: Sequence[Trials]
) -> tuple[dict[str, Array], Responses] | None:
    """Arrays and responses of all experiments together; None where trials of experiments have other shapes."""
    arrays = joined([item.stimuli for item in trials])
    if arrays is None:
        return None
    keys = [key for item in trials for key in identities(domain, item.stimuli)]
    _, group = np.unique(np.array([key.hex() for key in keys]), return_inverse=True)
    starts = np.cumsum([0, *(len(item.stimuli) for item in trials)])
    firsts = np.cumsum([0, *(item.n_participants for item in trials)])
    cell = np.concatenate([item.trial + start for item, start in zip(trials, starts, strict=False)])
    person = [item.participant + first for item, first in zip(trials, firsts, strict=False)]
    return arrays, Responses(
        cell,
        np.concatenate(person),
        np.concatenate([item.response for item in trials]),
        np.concatenate([item.count for item in trials]).astype(np.float64),
        group,
        trials[0].n_options,
        any(item.pooled for item in trials),
    )


def induce_outcomes(
    domain: Domain,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    *,
    least: float,
    has_places: bool,
    report: InductionReport | None = None,
) -> list[InducedRule]:
    """The weighed sum that predicts held-out trials best, and sums of two kinds of participants if these are better.

    Args:
        domain: Domain of the trials, any number of outcomes.
        trials: All experiments.
        rng: Divides trials into folds.
        least: Criterion that a theory must exceed on what it was fitted to, nats per choice.
        has_places: Whether it is known where options stood.
        report: Hears how far it is.

    Returns:
        Best first; nothing where trials of experiments have other shapes, where there are too few, where responses have
        times, or where no rule is good enough.
    """
    read = read_responses(domain, trials)
    if read is None or int(read[1].trial.max()) + 1 < 2 * N_FOLDS:
        return []
    arrays, responses = read
    language = read_language(domain, arrays, responses.counts, has_places=has_places)
    if language is None:
        return []
    n_steps = N_GROWN + N_FOLDS
    pace = InductionPace("fits of weighed reasons", (1.0,) * 3 * n_steps, report)
    place = rng.permutation(int(responses.trial.max()) + 1)
    sums = grown_sums(language, arrays, responses, pace)
    least *= responses.total
    best = best_of_form(sums.form, place, least)
    leader = best[0] if best else _most_explaining(sums.form)
    pace.go_to(n_steps)
    if leader is None:
        return []
    if not responses.is_pooled and responses.n_outcomes * len(responses.cell) <= MOST_PAST:
        later = _with_past(domain, sums, leader, rng, pace, has_places=has_places)
        other = None if later is None else best_of_form(later.form, place, least)
        if later is not None and other is not None and (best is None or other[1] > best[1]):
            sums, best, leader = later, other, other[0]
    pace.go_to(2 * n_steps)
    found = [] if best is None else [induced(sums.form, *best)]
    # What one rule cannot explain well enough, two rules of two kinds of participants may.
    if not responses.is_pooled and participants_differ(sums, leader):
        kinds = kinds_of_sums(sums, pace)
        two = best_of_form(
            kinds, place, max(least, explained(leader, sums.form.responses) + KINDS_PAY)
        )
        rule = None if two is None else induced(kinds, *two)
        pays = KINDS_PAY / responses.total
        if rule is not None and (not found or rule.criterion > found[0].criterion + pays):
            found.insert(0, rule)
    pace.go_to(3 * n_steps)
    return found


def _most_explaining(form: RuleForm) -> FittedRule | None:
    """The rule of a form that explains most of the responses that it is fitted to."""
    models = form.fit(form.responses).values()
    return max(models, key=lambda item: explained(item, form.responses), default=None)


@dataclass(frozen=True)
class GrownSums:
    """Sums of reasons over a language that has grown on the responses."""

    language: OutcomeLanguage
    arrays: dict[str, Array]
    """Arrays of the stimuli, a row for each distinct trial."""
    form: RuleForm


def grown_sums(
    language: OutcomeLanguage,
    arrays: dict[str, Array],
    responses: Responses,
    pace: InductionPace,
    leader: Terms = (),
    *,
    of_past: bool = False,
) -> GrownSums:
    """Sums over screenings that grow from nothing and then from what the best sum leaves unexplained.

    Sums ``of_past`` begin with a leader, and only screenings that look back grow.
    """
    path: dict[int, OutcomeSum] = {}
    search = OutcomeSearch(language, responses.counts)
    now = search.fit(leader)
    for _ in range(N_GROWN - of_past):
        language = _grown(search, now, of_past=of_past)
        search = OutcomeSearch(language, responses.counts)
        path = search.path(MOST_TERMS, leader if of_past else now.terms, is_given=of_past)
        pace.step()
        now = max(path.values(), key=search.worth, default=now)

    def fit(of: Responses) -> dict[int, FittedRule]:
        if of is responses:
            own, sums = search, path
        else:
            own = OutcomeSearch(language, of.counts)
            sums = own.path(MOST_TERMS, leader, is_given=of_past)
            pace.step()
        return {size: rule_of(own, (item,), np.ones(1), of) for size, item in sums.items()}

    kind = "weighed reasons with memory" if of_past else "weighed reasons"
    write = partial(_written, language, "available" in arrays)
    return GrownSums(language, arrays, RuleForm(kind, responses, fit, write, by_row=of_past))


def _grown(search: OutcomeSearch, now: OutcomeSum, *, of_past: bool = False) -> OutcomeLanguage:
    """Language with the screenings that explain most beyond nothing, and beyond a sum."""
    language = search.language
    used = [language.terms.items[term] for term, _ in now.terms]
    for base in (now,) if of_past or not now.terms else (search.fit(()), now):
        language = language.grown(partial(search.promise, base), used, of_past=of_past)
    return language


def rule_of(
    search: OutcomeSearch, kinds: tuple[OutcomeSum, ...], shares: Array, of: Responses
) -> FittedRule:
    """Sums of one or two kinds of participants, with the differences in how strictly participants follow them."""
    free, lapse = search.language.free, float(shares @ [item.lapse for item in kinds])
    evidence = np.stack([search.evidence(item) for item in kinds])
    spread, factors = ParameterSpread(0.0, 0.1), np.ones(1)
    if not of.is_pooled:
        grid = np.linspace(-2, 2, 41)
        by_person = [
            logsumexp(
                of.log_likelihoods(_probabilities(np.exp(factor) * evidence, free, lapse)[1])
                + np.log(shares)[:, None],
                axis=0,
            )
            for factor in grid
        ]
        spread = most_likely_normal(np.array(by_person), grid, *SENSITIVITIES)
        factors = np.exp(spread.center + spread.spread * NODES)
    p = _probabilities(factors[:, None, None, None] * evidence, free, lapse)[1]
    return FittedRule(
        OutcomeRule(kinds, shares, lapse, spread),
        sum(item.n_terms for item in kinds),
        p.reshape(-1, *free.shape),
        np.tile(shares / len(factors), len(factors)),
        sum(item.price for item in kinds),
    )


def _with_past(
    domain: Domain,
    sums: GrownSums,
    leader: FittedRule,
    rng: np.random.Generator,
    pace: InductionPace,
    *,
    has_places: bool,
) -> GrownSums | None:
    """Sums with a memory of one's own last choice, if it explains more than in another order of the same responses."""
    cells, rows = sums.form.responses.cell, sums.form.responses.by_row()
    arrays = {name: array[cells] for name, array in sums.arrays.items()}
    assert isinstance(leader.form, OutcomeRule)
    (now,) = leader.form.kinds

    def read(past: OutcomePast) -> tuple[OutcomeLanguage, float] | None:
        own = read_language(domain, arrays, rows.counts, has_places=has_places, past=past)
        if own is None:
            return None
        language = sums.language.with_past(own, cells)
        search = OutcomeSearch(language, rows.counts)
        gains = search.promise(search.fit(now.terms), own.terms.values, own.terms.prices)
        return language, float(gains.max())

    real = read(past_of(rows))
    if real is None or real[1] <= PAST_PAYS:
        return None
    shuffled = [read(past_of(rows, rng)) for _ in range(N_SHUFFLES)]
    if real[1] <= 2 * max(item[1] for item in shuffled if item is not None):
        return None
    return grown_sums(real[0], arrays, rows, pace, now.terms, of_past=True)


# -- kinds of participants ---------------------------------------------------------------------------------------------


def participants_differ(sums: GrownSums, best: FittedRule) -> bool:
    """Whether participants differ more about a rule than responses to one rule would by chance."""
    responses = sums.form.responses
    assert isinstance(best.form, OutcomeRule)
    search = OutcomeSearch(sums.language, responses.counts)
    return search.difference(best.form.kinds[0], responses) > DIFFERENCE


def kinds_of_sums(sums: GrownSums, pace: InductionPace) -> RuleForm:
    """Two kinds of participants, each of which follows a sum of its own, by the number of reasons of each.

    Both sums are found in turn with the participants who follow them (Dempster, Laird & Rubin, 1977), from the best
    pair of rules of one term.
    """
    responses = sums.form.responses
    language = _divided_search(sums.language, responses, N_ROUNDS, grows=True).search.language

    def fit(of: Responses) -> dict[int, FittedRule]:
        divided = _divided_search(language, of, N_ROUNDS)
        pace.step()
        found: dict[int, FittedRule] = {}
        known: set[tuple[Terms, Terms]] = set()
        for size in range(1, MOST_OF_KIND + 1):
            kinds = tuple(
                path[max((k for k in path if k <= size), default=min(path))]
                for path in divided.paths
            )
            terms = kinds[0].terms, kinds[1].terms
            if terms in known:
                continue
            known.add(terms)
            first = divided.first
            for _ in range(N_ROUNDS):
                kinds = tuple(
                    divided.search.with_counts(of.weighed(own).counts).fit(item.terms, item)
                    for own, item in zip((first, 1 - first), kinds, strict=True)
                )
                first = _belonging(divided.search, kinds, first, of)
            shares = np.array([first.mean(), 1 - first.mean()])
            if are_different(kinds) and shares.min() >= LEAST_SHARE:
                found[size] = rule_of(divided.search, kinds, shares, of)
        return found

    write = partial(_written, language, "available" in sums.arrays)
    return RuleForm(KINDS, responses, fit, write, by_row=sums.form.by_row)


@dataclass(frozen=True)
class DividedSearch:
    """Participants divided into two kinds, and sums of every size for each kind."""

    search: OutcomeSearch
    paths: tuple[dict[int, OutcomeSum], dict[int, OutcomeSum]]
    first: Array
    """``(n_people,)`` probability that a participant is of the first kind."""


def _divided_search(
    language: OutcomeLanguage, of: Responses, n_rounds: int, *, grows: bool = False
) -> DividedSearch:
    search = OutcomeSearch(language, of.counts)
    leaders, first = _best_start(search, of)
    paths: list[dict[int, OutcomeSum]] = []
    for _ in range(n_rounds):
        paths = []
        for own, leader in zip((first, 1 - first), leaders, strict=True):
            counts = of.weighed(own).counts
            if grows:
                divided = search.with_counts(counts)
                used = [language.terms.items[term] for term, _ in leader]
                language = language.grown(partial(divided.promise, divided.fit(())), used)
                search = OutcomeSearch(language, of.counts)
            own_search = search.with_counts(counts)
            paths.append(own_search.path(MOST_OF_KIND, leader, is_given=True, has_plain=True))
        kinds = tuple(max(path.values(), key=search.worth) for path in paths)
        leaders = tuple(item.terms for item in kinds)
        first = _belonging(search, kinds, first, of)
    return DividedSearch(search, (paths[0], paths[1]), first)


def _best_start(search: OutcomeSearch, of: Responses) -> tuple[tuple[Terms, ...], Array]:
    """The best pair of rules of one term, and how likely each participant follows the first one."""
    counts = search.by_person(of)
    terms: list[NDArray[np.intp]] = []
    tables: list[Array] = []
    for term, log_p in search.single_rules():
        terms.append(term)
        tables.append(np.asarray(counts @ log_p.reshape(len(term), -1).T).T)
    term, table = np.concatenate(terms), np.concatenate(tables)
    sign = np.arange(len(term)) % 2
    pair = best_pair(table, search.term_prices[term], 2 * term + sign)
    one, two = pair.rows
    first = expit(table[one] - table[two] + logit(pair.share))
    return (((int(term[one]), -1),), ((int(term[two]), -1),)), first


def _belonging(
    search: OutcomeSearch, kinds: tuple[OutcomeSum, ...], first: Array, of: Responses
) -> Array:
    """``(n_people,)`` probability that each participant is of the first kind."""
    one, two = (of.log_likelihoods(np.maximum(search.predict(item), TINY)) for item in kinds)
    share = np.clip(first.mean(), *SHARES)
    return np.asarray(expit(one - two + logit(share)))


def are_different(kinds: Sequence[OutcomeSum]) -> bool:
    """Whether kinds of participants have different reasons, not the same ones at other weights."""
    one, two = (
        {(*term, weight > 0) for term, weight in zip(item.terms, item.weights, strict=True)}
        for item in kinds
    )
    return not (one <= two or two <= one)


def _written(
    language: OutcomeLanguage,
    masked: bool,
    model: FittedRule,
) -> tuple[str, str]:
    assert isinstance(model.form, OutcomeRule)
    return write_outcomes(model.form, language, masked=masked)


# -- writing -----------------------------------------------------------------------------------------------------------


def write_outcomes(
    rule: OutcomeRule, language: OutcomeLanguage, *, masked: bool
) -> tuple[str, str]:
    """Source and claim of a weighed sum over outcomes, or of two sums of two kinds of participants.

    Args:
        rule: The sums.
        language: Its terms.
        masked: Whether trials state which outcomes may be chosen.
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
        "lapse": lapse_prior(ParameterSpread(rule.lapse, 0.01)),
        "sensitivity": sensitivity_prior(rule.sensitivity),
    }
    is_mixed = len(rule.kinds) > 1
    kinds = [
        write_reasons(reasons_of_sum(item, language), code, parameters, keeps_sign=is_mixed)
        for item in rule.kinds
    ]
    if is_mixed:
        parameters["disposition"] = disposition_prior(float(rule.shares[0]))
        title, does = KINDS_TITLE, (tendencies(item.words) for item in kinds)
        claim, clauses = kinds_in_words(does, float(rule.shares[0]))
        one, two = kinds
        first = 'parameters["disposition"][..., None] > 0'
        sums = [
            *one.lines("evidence_1"),
            *two.lines("evidence_2"),
            f"evidence = xp.where({first}, evidence_1, evidence_2)",
        ]
    else:
        title, claim = title_of(rule.kinds[0], language), sum_claim(kinds[0].words)
        clauses, sums = sum_clauses(kinds[0].clauses), kinds[0].lines()
    lines = [
        *(f"score_{place} = {score.code}" for place, score in enumerate(scores, 1)),
        *sums,
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
    functions = [
        function_text("choose", "parameters, trials, xp" + ", state" * bool(memory), lines)
    ]
    if memory:
        kept = [f'    "{name}": {entry.start},' for name, entry in memory.items()]
        functions.insert(
            0, function_text("start", "parameters, trials, xp", ["return {", *kept, "}"])
        )
        kept = [f'    "{name}": {entry.renewed},' for name, entry in memory.items()]
        arguments = "parameters, trials, xp, state, response, feedback"
        functions.append(function_text("learn", arguments, ["return {", *kept, "}"]))
    return theory_text(title, claim, parameters, clauses, language.helpers, functions), claim


def reasons_of_sum(fitted: OutcomeSum, language: OutcomeLanguage) -> Iterator[Reason]:
    """Reasons of a sum over outcomes."""
    for (term, gate), weight, error in zip(
        fitted.terms, fitted.weights, fitted.errors, strict=True
    ):
        condition = language.gates.items[gate] if gate >= 0 else None
        yield language.terms.items[term], condition, weight, error


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
