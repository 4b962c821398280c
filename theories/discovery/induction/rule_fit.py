"""Fits of rules to responses held out of the search, and the number of terms that the responses support.

One criterion serves every form of rule over any number of outcomes: the log predictive probability of trials that took
no part in the search, with what the rule knows of a participant's responses together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from lakatos.theories.discovery.induction.pace import InductionPace

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
N_FOLDS = 5
N_FOLDS_PAST = 3
"""Number of folds where cells are single responses, which are many."""
MOST_TERMS = 8
EXCEPTIONS = 0.05
"""Share of distinct trials on which a rule may be wrong altogether, when left-out responses are predicted."""
TINY = 1e-4
"""Probabilities are kept this far from 0 and 1 when held-out responses are predicted."""


@dataclass(frozen=True)
class Responses:
    """Responses in rows, and the cells that they belong to: distinct trials, or single responses."""

    cell: Rows
    """``(n_rows,)``."""
    person: Rows
    response: Rows
    count: Array
    trial: Rows
    """``(n_cells,)`` trial of each cell."""
    n_outcomes: int
    is_pooled: bool = False
    """Whether participants could not be told apart."""

    @cached_property
    def counts(self) -> Array:
        """``(n_cells, n_outcomes)`` responses of all participants."""
        table = np.zeros((len(self.trial), self.n_outcomes))
        np.add.at(table, (self.cell, self.response), self.count)
        return table

    @property
    def by_person(self) -> Array:
        """``(n_people, n_cells, n_outcomes)``."""
        table = np.zeros((int(self.person.max()) + 1, len(self.trial), self.n_outcomes))
        np.add.at(table, (self.person, self.cell, self.response), self.count)
        return table

    @property
    def total(self) -> float:
        """Number of responses."""
        return float(self.count.sum())

    def by_row(self) -> Responses:
        """The same with a cell for every row."""
        return replace(self, cell=np.arange(len(self.cell)), trial=self.trial[self.cell])

    def on(self, trials: NDArray[np.bool_]) -> Responses:
        """Responses to some of the trials only; ``(n_trials,)``."""
        return replace(self, count=self.count * trials[self.trial[self.cell]])

    def weighed(self, weights: Array) -> Responses:
        """The same with a weight for each participant; ``(n_people,)``."""
        return replace(self, count=self.count * weights[self.person])

    def log_likelihoods(self, p: Array) -> Array:
        """``(..., n_people)`` nats of each participant's responses at ``p`` ``(..., n_cells, n_outcomes)``."""
        rows = self.count * np.log(p[..., self.cell, self.response])
        n_people = int(self.person.max()) + 1
        found = [
            np.bincount(self.person, row, n_people) for row in rows.reshape(-1, rows.shape[-1])
        ]
        return np.array(found, dtype=np.float64).reshape(*rows.shape[:-1], n_people)


@dataclass(frozen=True)
class FittedRule:
    """A fitted rule of one form."""

    form: object
    n_terms: int
    probabilities: Array
    """``(n_kinds, n_cells, n_outcomes)`` for each kind of participants."""
    shares: Array
    """``(n_kinds,)`` of participants."""
    price: float
    """Code length of its terms, nats."""


Fit = Callable[[Responses], dict[int, FittedRule]]
"""Responses, some of them held out, to the best rule of every size."""
Write = Callable[[FittedRule], tuple[str, str]]


@dataclass(frozen=True)
class RuleForm:
    """A way to find rules and to write them down."""

    kind: str
    responses: Responses
    """All of them."""
    fit: Fit
    write: Write
    work: float = 1.0
    """Duration of a fit, roughly, relative to those of other forms."""
    by_row: bool = False
    """Whether its cells are the single responses, because it looks back; else they are the distinct trials."""

    @property
    def n_folds(self) -> int:
        """Parts of the trials that are held out in turn."""
        return N_FOLDS_PAST if self.by_row else N_FOLDS

    @property
    def n_fits(self) -> int:
        """Number of fits: one to all responses, and one without each part."""
        return 1 + self.n_folds


@dataclass(frozen=True)
class InducedRule:
    """A rule as a theory."""

    source: str
    cross_validated: float
    """Log predictive probability of responses to trials that took no part in finding it, nats per choice; one trial in
    twenty may be an exception."""
    error: float
    """Mean squared error of choice proportions on the distinct trials that were presented, as fitted."""
    n_terms: int
    kind: str
    claim: str
    price: float
    """Code length of its terms, nats per choice."""

    @property
    def criterion(self) -> float:
        """Cross-validated score less the price, nats per choice."""
        return self.cross_validated - self.price


def counted(form: RuleForm, pace: InductionPace) -> RuleForm:
    """The same form, each of whose fits is reported."""

    def fit(responses: Responses) -> dict[int, FittedRule]:
        models = form.fit(responses)
        pace.step()
        return models

    return replace(form, fit=fit)


def best_of_form(form: RuleForm, place: Rows, least: float) -> tuple[FittedRule, float] | None:
    """The rule of one form, of the size that predicts held-out trials best, fitted to all responses, and its score.

    Args:
        form: The way to find and to write it.
        place: ``(n_trials,)`` order in which trials are divided into folds.
        least: Nats that it must explain of the responses that it is fitted to.

    Returns:
        None if no rule does, or if none can be judged.
    """
    models = form.fit(form.responses)
    if max((explained(item, form.responses) for item in models.values()), default=-np.inf) <= least:
        return None
    size, score = best_size(form, place)
    if size is None:
        return None
    # A larger one that explains no more was better by chance on the trials held out.
    small = [item for k, item in sorted(models.items()) if k <= size] or [models[min(models)]]
    return max(small, key=lambda item: explained(item, form.responses)), score


def induced(form: RuleForm, model: FittedRule, score: float) -> InducedRule:
    """A rule that was found, written as a theory."""
    source, claim = form.write(model)
    error, price = error_of(model, form.responses), model.price / form.responses.total
    return InducedRule(source, score, error, model.n_terms, form.kind, claim, price)


def best_size(form: RuleForm, place: Rows) -> tuple[int | None, float]:
    """The size that predicts held-out trials best, its price considered, and its score in nats per choice."""
    fold = place % form.n_folds
    scores: dict[int, float] = {}
    prices: dict[int, float] = {}
    fits = []
    for held_out in range(form.n_folds):
        models = form.fit(form.responses.on(fold != held_out))
        if not models:
            return None, 0.0
        rest = form.responses.on(fold == held_out)
        fits.append({k: (log_predictive(item, rest), item.price) for k, item in models.items()})
    sizes = sorted({size for scored in fits for size in scored})
    for size in sizes:
        chosen = [
            scored[max((k for k in scored if k <= size), default=min(scored))] for scored in fits
        ]
        scores[size] = sum(log_p for log_p, _ in chosen) / form.responses.total
        prices[size] = sum(price for _, price in chosen) / form.n_folds / form.responses.total
    best = max(sizes, key=lambda size: scores[size] - prices[size])
    return best, scores[best]


def most_explained(responses: Responses) -> float:
    """Nats of which rules without memory that predict the same of all participants explain no more.

    They are those of each trial's proportions.
    """
    shares = responses.counts / np.maximum(responses.counts.sum(axis=1, keepdims=True), 1)
    return log_predictive(FittedRule(None, 0, shares[None], np.ones(1), 0.0), responses)


def explained(model: FittedRule, responses: Responses) -> float:
    """Log predictive probability of the responses that a rule was fitted to, less its price, in nats."""
    return log_predictive(model, responses) - model.price


def log_predictive(model: FittedRule, responses: Responses) -> float:
    """Nats of responses: of each distinct trial, plus what kinds of participants add for the responses of one of them.

    A trial may be an exception to the rule, with any proportions being equally likely: otherwise a single trial that a
    sure rule gets wrong would outweigh all others.
    """
    p = np.clip(model.probabilities, TINY, 1 - TINY)
    mean = np.tensordot(model.shares, p, 1)
    cells = (responses.counts * np.log(mean)).sum(axis=1)
    followed = np.bincount(responses.trial, cells)
    by_trial = np.zeros((len(followed), responses.n_outcomes))
    np.add.at(by_trial, responses.trial, responses.counts)
    n = by_trial.sum(axis=1)
    log_excepted = gammaln(responses.n_outcomes) + gammaln(by_trial + 1).sum(axis=1)
    log_excepted -= gammaln(n + responses.n_outcomes)
    found = np.logaddexp(np.log(1 - EXCEPTIONS) + followed, np.log(EXCEPTIONS) + log_excepted)
    log_p = float(found[n > 0].sum())
    if len(model.shares) == 1:
        return log_p
    by_kind = responses.log_likelihoods(p) + np.log(model.shares)[:, None]
    return float(log_p + logsumexp(by_kind, axis=0).sum() - cells.sum())


def error_of(model: FittedRule, responses: Responses) -> float:
    """Mean squared error of the proportions of outcomes over the distinct trials."""
    weights = responses.counts.sum(axis=1, keepdims=True)
    predicted = np.tensordot(model.shares, model.probabilities, 1) * weights
    n_trials = int(responses.trial.max()) + 1
    error, total = np.zeros((n_trials, responses.n_outcomes)), np.zeros((n_trials, 1))
    np.add.at(error, responses.trial, predicted - responses.counts)
    np.add.at(total, responses.trial, weights)
    seen = total[:, 0] > 0
    return float(((error[seen] / total[seen]) ** 2).mean())


def of_two(p: Array) -> Array:
    """``(n_kinds, n_cells, 2)`` probabilities by those of the second option."""
    return np.stack([1 - p, p], axis=-1)
