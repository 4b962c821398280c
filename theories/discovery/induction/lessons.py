"""Rules of learning found in the responses: what of the past makes people stay with an option, or turn to another.

What can be remembered of every option (tries, outcomes, runs of losses, values that move with outcomes at some rate)
and of the game (what came last, how long one has stayed) is written once, as the code of a theory's ``learn``; the
search sees the values that this very code takes along people's responses. Rule lists and weighed reasons are looked for
as among trials without feedback, over comparisons of the option chosen with each other one, and are judged by
predicting people who took no part in finding them.

References:
    Lau & Glimcher (2005), Journal of the Experimental Analysis of Behavior 84(3), 555-579 (choices from lagged choices
    and rewards); Daw (2011), in Decision Making, Affect, and Learning, 3-38.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.discovery.induction.additive import AdditiveSearch
from lakatos.theories.discovery.induction.expression import normalized
from lakatos.theories.discovery.induction.lesson_rules import (
    LessonModel,
    LessonTerms,
    probabilities,
)
from lakatos.theories.discovery.induction.lesson_source import write_lesson
from lakatos.theories.discovery.induction.lesson_terms import (
    SMALLEST,
    Array,
    OptionPairs,
    RememberedResponses,
    leads_of,
    pairs_of,
    remembered_of,
)
from lakatos.theories.discovery.induction.pace import InductionPace, InductionReport
from lakatos.theories.discovery.induction.rule_fit import InducedRule
from lakatos.theories.discovery.induction.terms import ChoiceTerm, TermTable, distinct
from lakatos.theories.discovery.induction.tree import TreeSearch

N_FOLDS = 3
MOST_TERMS = 6
MOST_ROWS = 6_000
"""Responses with which rules are searched; more people only sharpen what is found."""
N_GATES = 250
N_GUIDES = 40
N_DEEPER = 60
"""Gates that are tried below the root, and behind leads of a sum."""
PRICE = 1e-3
"""Nats per choice that a term must be worth."""
LAPSES = (0.002, 0.1)


def induce_lessons(
    domain: Domain,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    report: InductionReport | None = None,
) -> list[InducedRule]:
    """Rules of learning, one of each form.

    Args:
        domain: Domain of the trials, with ``reward`` as feedback.
        trials: All experiments of one number of options; single responses in order.
        rng: Divides people into folds.
        report: Hears how far it is.
    """
    language = InductionPace("steps towards a language of rules", (1.0, 1.0), report)
    language.go_to(0)
    everything = remembered_of(domain, trials)
    n_people = int(everything.person.max()) + 1
    fold = rng.permutation(np.arange(n_people) % N_FOLDS)
    n_chosen = max(int(MOST_ROWS * n_people / len(everything.person)), 2 * N_FOLDS)
    chosen = rng.permutation(n_people)[:n_chosen]
    some = everything.at(np.flatnonzero(np.isin(everything.person, chosen)))
    pairs = pairs_of(some)
    plain = leads_of(some, pairs)
    signed = distinct(TermTable(plain.items, np.sign(plain.values)), is_signed=True)
    language.step()
    terms = LessonTerms(plain, signed, _useful_gates(some, pairs, signed))
    language.step()
    n_fits = 1 + N_FOLDS
    fits = InductionPace("fits of rules", (1.0,) * (n_fits * len(KINDS)), report)
    best: dict[str, InducedRule] = {}
    for number, (kind, fit) in enumerate(KINDS, start=1):
        found = _best_rule(kind, _counted(fit, fits), terms, some, pairs, fold[some.person])
        if found is not None and (
            kind not in best or best[kind].cross_validated < found.cross_validated
        ):
            best[kind] = found
            fits.find(found.cross_validated - found.price)
        fits.go_to(number * n_fits)
    return list(best.values())


LessonModels = dict[int, LessonModel]
"""The best rule of every size."""
LessonFit = Callable[[LessonTerms, Array], LessonModels]
"""Fit of a rule to counts of comparisons ``(n_pairs, 2)``."""


def _counted(fit: LessonFit, pace: InductionPace) -> LessonFit:
    """The same search, each of whose fits is told."""

    def work(terms: LessonTerms, counts: Array) -> LessonModels:
        models = fit(terms, counts)
        pace.step()
        return models

    return work


def _best_rule(
    kind: str,
    fit: LessonFit,
    terms: LessonTerms,
    remembered: RememberedResponses,
    pairs: OptionPairs,
    fold: NDArray[np.intp],
) -> InducedRule | None:
    """The rule of one form, of the size that predicts left-out people best, fitted to everybody.

    Args:
        kind: Name of the form.
        fit: Finds rules of it.
        terms: What rules are made of.
        remembered: Responses.
        pairs: Their comparisons of options.
        fold: ``(n_rows,)`` of each response's person.
    """
    scores = _predictive_scores(fit, terms, remembered, pairs, fold)
    if not scores:
        return None
    size = max(scores, key=lambda size: scores[size] - PRICE * size)
    model = _of_size(fit(terms, pairs.counts), size)
    written = write_lesson(model, terms, remembered, pairs)
    one_hot = remembered.response[:, None] == np.arange(remembered.allowed.shape[1])
    shares = written.probabilities.mean(axis=0)
    error = float(np.mean((shares - one_hot.mean(axis=0)) ** 2))
    return InducedRule(written.source, scores[size], error, size, kind, written.claim, PRICE * size)


def _predictive_scores(
    fit: LessonFit,
    terms: LessonTerms,
    remembered: RememberedResponses,
    pairs: OptionPairs,
    fold: NDArray[np.intp],
) -> dict[int, float]:
    """Log predictive probability of left-out people's responses, nats per choice, by the size of rules.

    Nothing where some of the people teach no rule at all.
    """
    parts = []
    for left_out in range(N_FOLDS):
        kept = (fold != left_out)[pairs.row]
        models = fit(terms, pairs.counts * kept[:, None])
        parts.append((models, np.flatnonzero(fold == left_out)))
    if not all(models for models, _ in parts):
        return {}
    sizes = sorted({size for models, _ in parts for size in models})
    scores: dict[int, float] = {}
    for size in sizes:
        total = 0.0
        for models, rows in parts:
            p = probabilities(_of_size(models, size), terms, remembered, rows)
            answered = p[np.arange(len(p)), remembered.response[rows]]
            total += float(np.log(np.maximum(answered, SMALLEST)).sum())
        scores[size] = total / len(remembered.person)
    return scores


def _of_size(models: LessonModels, size: int) -> LessonModel:
    """The largest rule of at most ``size`` terms; the smallest one where all are larger."""
    return models[max((k for k in models if k <= size), default=min(models))]


def _useful_gates(
    remembered: RememberedResponses, pairs: OptionPairs, signed: TermTable
) -> TermTable:
    """Gates on the pairs, those kept that divide best where one lead is followed on each side."""
    every = distinct(remembered.gates, is_signed=False)
    every = TermTable(_priced(every.items), every.values[:, pairs.row])
    guides = signed.take(TreeSearch(signed, every, pairs.counts).followed(N_GUIDES))
    search = TreeSearch(guides, every, pairs.counts, n_deeper=N_GATES)
    search.solutions(np.ones(len(pairs.row), dtype=bool))
    return every.take(search.deeper)


def _priced(items: Sequence[ChoiceTerm]) -> tuple[ChoiceTerm, ...]:
    """The same terms at prices of which the probabilities add up to 1."""
    prices = normalized(np.array([item.price for item in items]))
    return tuple(
        replace(item, price=float(price)) for item, price in zip(items, prices, strict=True)
    )


def _fit_tree(terms: LessonTerms, counts: Array) -> LessonModels:
    """Trees of rules grown on the responses, by their number of terms."""
    search = TreeSearch(terms.signed, terms.gates, counts, beam=2, n_deeper=N_DEEPER)
    grown = search.grow(MOST_TERMS)
    return {max(size, 1): item.node for size, item in grown.items() if size or len(grown) == 1}


def _fit_sum(lapse: float, terms: LessonTerms, counts: Array) -> LessonModels:
    """Weighed sums of reasons, with a share of choices made at random."""
    few = terms.gates.take(np.arange(min(N_DEEPER, len(terms.gates.items))))
    path = AdditiveSearch(terms.plain, few, counts, lapse).path(MOST_TERMS)
    return {len(item.terms): item for item in path}


KINDS: tuple[tuple[str, LessonFit], ...] = (
    ("rule list of learning", _fit_tree),
    *(("weighed lessons", partial(_fit_sum, lapse)) for lapse in LAPSES),
)
"""Forms of rules, and how each is found."""
