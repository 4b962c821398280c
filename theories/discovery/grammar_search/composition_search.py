"""The grammar advocate's search on a growing part of the responses: many candidates on some, few on all.

References:
    Jamieson & Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization, AISTATS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lakatos.experiments.subset import some_people, some_trials
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.proposal import (
    AdvocateBrief,
    Evaluate,
    SearchProposal,
)
from lakatos.theories.discovery.grammar_search.size_path import (
    best_of_each_size,
    size_path,
    smallest_near_best,
)
from lakatos.theories.engine.fitted_compositions import FittedCompositions
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.fitting.fit import FITTING_DRAWS
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.traces.digest import Digest

MOST_TRIALS = (600, 1200)
"""Distinct trials, drawn by lot, on which a search looks for candidates, and on which it eliminates their parts; what
comes out is fitted to all. With fewer trials nothing is left out."""
MOST_ANSWERS = (30_000, 60_000)
"""The same in responses of whole people, where people's past counts."""
N_CONFIRMED = 12
"""Best candidates that are fitted again to more trials."""


def search_compositions(
    laboratory: Laboratory,
    grammar: Grammar,
    brief: AdvocateBrief,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    *,
    report: Callable[[int, float], None] | None = None,
) -> SearchProposal:
    """The grammar advocate's search on some responses, elimination included.

    Args:
        laboratory: Laboratory in which candidates run.
        grammar: Grammar of the candidates.
        brief: What is known beforehand.
        trials: All responses so far.
        rng: Source of the order in which candidates are considered.
        report: Hears, while candidates are found, how many were tried and the best one's nats per choice.
    """
    advocate = GrammarAdvocate(grammar, odds=brief.odds)
    whole_people = laboratory.domain.sequential or brief.looks_back
    few, more = _steps_of_growth(trials, rng, whole_people=whole_people)
    fits = FittedCompositions(laboratory, grammar, few, FITTING_DRAWS)
    found = advocate.revise(brief, telling(fits.evaluate, report), rng, glance=fits.glance)
    looked = found
    if more is not few:
        fits = FittedCompositions(laboratory, grammar, more, FITTING_DRAWS)
        found = advocate.confirmed(found, brief, fits.evaluate, N_CONFIRMED)
    found = advocate.pruned(
        found, brief, fits.evaluate, fits.validate, rng, same=fits.same, glance=fits.glance
    )
    fitted = [advocate.attempt(item.composition, None, "", item) for item in fits.fitted]
    sizes = tuple(best_of_each_size([*found.attempts, *fitted]))
    if more is not trials:
        # On all responses, more clauses than elimination left on some of them may be clear.
        fits = FittedCompositions(laboratory, grammar, trials, FITTING_DRAWS)
        wanted = {item.composition.key: item for item in (*found.submitted, *sizes)}
        last = replace(found, attempts=tuple(wanted.values()))
        again = advocate.confirmed(last, brief, fits.evaluate, len(wanted)).attempts
        by_key = {item.composition.key: item for item in again}
        sizes = tuple(
            by_key[item.composition.key] for item in sizes if item.composition.key in by_key
        )
        chosen = smallest_near_best(size_path(sizes))
        kept = {item.composition.key for item in found.submitted}
        first = [] if chosen is None else [chosen.attempt]
        rest = [item for item in again if item.composition.key in kept and item not in first]
        found = replace(found, submitted=(*first, *rest))
    found = replace(found, sizes=sizes)
    tried = {item.composition.key for item in found.attempts}
    others = (item for item in looked.attempts if item.composition.key not in tried)
    return replace(found, attempts=(*found.attempts, *others))


def telling(evaluate: Evaluate, report: Callable[[int, float], None] | None) -> Evaluate:
    """Evaluate candidates, and say after each round how many were tried and how good the best one is."""
    if report is None:
        return evaluate
    tried, best = 0, -np.inf

    def work(
        items: Sequence[tuple[Composition, Digest | None]],
    ) -> Sequence[EvaluatedComposition | TheoryError]:
        nonlocal tried, best
        found = evaluate(items)
        tried += len(found)
        means = [item.mean for item in found if isinstance(item, EvaluatedComposition)]
        best = max([best, *means])
        report(tried, best)
        return found

    return work


def _steps_of_growth(
    trials: Sequence[Trials], rng: np.random.Generator, *, whole_people: bool
) -> list[Sequence[Trials]]:
    """Responses on which candidates are found, and those on which their parts are eliminated."""
    if whole_people:
        return [some_people(trials, n_most, rng) for n_most in MOST_ANSWERS]
    return [some_trials(trials, n_most, rng) for n_most in MOST_TRIALS]
