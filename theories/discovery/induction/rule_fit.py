"""Fit of an induced rule to responses held out of the search, and the number of terms that it supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, logsumexp

from lakatos.theories.discovery.induction.additive import AdditiveSearch
from lakatos.theories.discovery.induction.population import lapses, sensitivities
from lakatos.theories.discovery.induction.source import ParameterSpread
from lakatos.theories.discovery.induction.terms import InductionAnswers, TermTable

Array = NDArray[np.float64]
N_FOLDS = 5
N_FOLDS_PAST = 3
"""Number of folds where cells are single responses, which are many."""
MOST_TERMS = 8
LAPSES = (0.05, 0.1, 0.2)
"""Lapse rates tried for sums, whose lapses bound how sure people can be."""
FAMILIAR = 2.0
"""Nats that other lapses must explain more than those of the rule lists."""
EXCEPTIONS = 0.05
"""Share of distinct trials on which a rule may be wrong altogether, when left-out responses are predicted."""
TINY = 1e-4
"""Probabilities are kept this far from 0 when held-out responses are predicted."""


@dataclass(frozen=True)
class FittedRule:
    """A fitted rule of one form."""

    form: object
    n_terms: int
    probabilities: Array
    """``(n_kinds, n_cells)`` of the second option."""
    shares: Array
    """``(n_kinds,)`` of people."""
    price: float
    """Code length of its terms, nats."""


Fit = Callable[[Array], dict[int, FittedRule]]
"""Answers ``(n_people, n_cells, 2)``, some of them left out, to the best rule of every size."""
Write = Callable[[FittedRule], tuple[str, str]]


@dataclass(frozen=True)
class RuleForm:
    """A way to find rules and to write them down."""

    kind: str
    by_row: bool
    """Whether its cells are the single responses, or the distinct trials."""
    fit: Fit
    write: Write
    work: float = 1.0
    """Duration of a fit, roughly, relative to those of other forms."""

    @property
    def n_folds(self) -> int:
        """Parts of the trials that are left out in turn."""
        return N_FOLDS_PAST if self.by_row else N_FOLDS

    @property
    def n_fits(self) -> int:
        """Number of fits: one to all responses, and one without each part."""
        return 1 + self.n_folds


def best_lapse(columns: TermTable, divisions: TermTable, counts: Array, found: float) -> float:
    """Find the lapse of sums of reasons: the one that the rule lists found, or another one that explains more."""

    def reached(lapse: float) -> float:
        path = AdditiveSearch(columns, divisions, counts, lapse).path(MOST_TERMS)
        return max((item.score for item in path), default=-np.inf) + (
            FAMILIAR if lapse == found else 0.0
        )

    return max((found, *LAPSES), key=reached)


def _counts(answers: InductionAnswers, by_row: bool, used: NDArray[np.bool_]) -> Array:
    """``(n_people, n_cells, 2)`` responses to the trials in ``used``; as if of one person where cells are responses."""
    kept = used[answers.trial] * answers.count
    if by_row:
        table = np.zeros((1, len(kept), 2))
        table[0, np.arange(len(kept)), answers.response] = kept
        return table
    table = np.zeros((int(answers.person.max()) + 1, len(used), 2))
    np.add.at(table, (answers.person, answers.trial, answers.response), kept)
    return table


def best_size(
    form: RuleForm, answers: InductionAnswers, place: NDArray[np.intp]
) -> tuple[int | None, float]:
    """The size that predicts left-out trials best, its price considered, and its score in nats per choice."""
    n_folds = form.n_folds
    fold = place % n_folds
    scores: dict[int, float] = {}
    prices: dict[int, float] = {}
    fits = []
    for left_out in range(n_folds):
        models = form.fit(_counts(answers, form.by_row, fold != left_out))
        fits.append((models, _counts(answers, form.by_row, fold == left_out)))
    sizes = sorted({size for models, _ in fits for size in models})
    trial = answers.trial if form.by_row else np.arange(len(fold))
    total = float(answers.count.sum())
    for size in sizes:
        log_p = price = 0.0
        for models, held_out in fits:
            if not models:
                return None, 0.0
            fitting = [k for k in models if k <= size] or [min(models)]
            model = models[max(fitting)]
            log_p += _log_predictive(model, held_out, trial)
            price += model.price / n_folds
        scores[size], prices[size] = log_p / total, price / total
    if not scores:
        return None, 0.0
    best = max(sizes, key=lambda size: scores[size] - prices[size])
    return best, scores[best]


def most_explained(answers: InductionAnswers) -> float:
    """Nats of which rules without memory that say the same of everybody explain no more: by each trial's proportion."""
    counts = answers.counts
    shares = counts[:, 1] / np.maximum(counts.sum(axis=1), 1)
    proportions = FittedRule(None, 0, shares[None], np.ones(1), 0.0)
    everything = _counts(answers, False, np.ones(len(counts), dtype=bool))
    return _log_predictive(proportions, everything, np.arange(len(counts)))


def _explained(
    form: RuleForm, answers: InductionAnswers, counts: Array
) -> Callable[[FittedRule], float]:
    """Log predictive probability of the responses that a model was fitted to, less the model's price, in nats."""
    trial = answers.trial if form.by_row else np.arange(len(answers.counts))
    return lambda model: _log_predictive(model, counts, trial) - model.price


def _log_predictive(model: FittedRule, counts: Array, trial: NDArray[np.intp]) -> float:
    """Nats of left-out responses: of each distinct trial, plus what kinds of people add for a person's responses.

    A trial may be an exception to the rule, with any proportion being equally likely: otherwise a single trial that a
    sure rule gets wrong would outweigh all others.

    Args:
        model: Fitted without these responses.
        counts: ``(n_people, n_cells, 2)``.
        trial: ``(n_cells,)`` distinct trial of each cell.
    """
    p = np.clip(model.probabilities, TINY, 1 - TINY)
    mean = model.shares @ p
    totals = counts.sum(axis=0)
    cells = totals[:, 1] * np.log(mean) + totals[:, 0] * np.log(1 - mean)
    followed = np.bincount(trial, cells)
    a, b = (np.bincount(trial, totals[:, side]) for side in (0, 1))
    excepted = np.log(EXCEPTIONS) + betaln(a + 1, b + 1)
    by_trial = np.logaddexp(np.log(1 - EXCEPTIONS) + followed, excepted)[a + b > 0].sum()
    if len(model.shares) == 1:
        return float(by_trial)
    by_kind = counts[..., 1] @ np.log(p).T + counts[..., 0] @ np.log(1 - p).T
    return float(by_trial + logsumexp(by_kind + np.log(model.shares), axis=1).sum() - cells.sum())


def _error(answers: InductionAnswers, model: FittedRule, by_row: bool) -> float:
    counts = answers.counts
    predicted = model.shares @ model.probabilities
    if by_row:
        totals = np.bincount(answers.trial, answers.count, minlength=len(counts))
        sums = np.bincount(answers.trial, predicted * answers.count, minlength=len(counts))
        predicted = sums / np.maximum(totals, 1e-12)
    seen = counts.sum(axis=1) > 0
    return float(np.mean((predicted[seen] - counts[seen, 1] / counts[seen].sum(axis=1)) ** 2))


# How people differ


def by_rows(answers: InductionAnswers, cells: Array, by_row: bool) -> Array:
    """Values for each response, of those that are for each trial."""
    return cells if by_row else cells[answers.trial]


def _lapses(answers: InductionAnswers, p: Array, pooled: float) -> ParameterSpread:
    """``(n_rows,)`` lapses of people who follow the rule ``p``."""
    if not answers.has_order:
        return ParameterSpread(pooled, 0.005)
    right = np.where(answers.response == 1, p, 1 - p)
    return lapses(right, 0.5, answers.person, answers.count, pooled)


def _sensitivities(answers: InductionAnswers, log_odds: Array, lapse: float) -> ParameterSpread:
    """Factors on everybody's log odds ``(n_rows,)``."""
    if not answers.has_order:
        return ParameterSpread(0.0, 0.02)
    signed = np.where(answers.response == 1, log_odds, -log_odds)
    return sensitivities(signed[:, None], lapse, 0.5, answers.person, answers.count)
