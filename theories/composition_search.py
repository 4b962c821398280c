"""The grammar advocate's search on a growing part of the answers: many candidates on some, few on all.

References:
    Jamieson & Talwalkar (2016), Non-stochastic best arm identification and hyperparameter optimization, AISTATS.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lakatos.experiments.task import Trials
from lakatos.theories.advocate import AdvocateBrief, GrammarAdvocate, SearchProposal
from lakatos.theories.errors import TheoryError
from lakatos.theories.evaluate import EvaluatedComposition
from lakatos.theories.fit import FITTING_DRAWS
from lakatos.theories.grammar import Composition, Grammar
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.score import UnitScores
from lakatos.theories.subset import some_people, some_trials
from lakatos.traces.digest import Digest

MOST_TRIALS = (600, 1200)
"""Distinct trials, drawn by lot, on which a search looks for candidates, and on which it eliminates their parts; what
comes out is fitted to all. With fewer trials nothing is left out."""
MOST_ANSWERS = (30_000, 60_000)
"""The same in answers of whole people, where people's past counts."""
N_CONFIRMED = 12
"""Best candidates that are fitted again to more trials."""


def search_compositions(
    laboratory: Laboratory,
    grammar: Grammar,
    brief: AdvocateBrief,
    trials: Sequence[Trials],
    rng: np.random.Generator,
    *,
    afresh: float | None = None,
) -> SearchProposal:
    """The grammar advocate's search on some answers, elimination included.

    Args:
        laboratory: Where candidates run.
        grammar: Of the candidates.
        brief: What is known beforehand.
        trials: All answers so far.
        rng: Source of the order in which candidates are considered.
        afresh: Share of the candidates that are composed at random; the advocate's own when None.
    """
    advocate = GrammarAdvocate(grammar)
    if afresh is not None:
        advocate = replace(advocate, afresh=afresh)
    pooled = any(item.pooled for item in trials)
    whole_people = laboratory.domain.sequential or (brief.looks_back and not pooled)
    few, more = _steps_of_growth(trials, rng, whole_people=whole_people)
    fits = _SearchFits(laboratory, grammar, few)
    found = advocate.revise(brief, fits.evaluate, rng)
    first = found
    if more is not few:
        fits = _SearchFits(laboratory, grammar, more)
        found = advocate.confirmed(found, brief, fits.evaluate, N_CONFIRMED)
    found = advocate.pruned(found, brief, fits.evaluate, fits.validate, rng)
    if more is not trials:
        fits = _SearchFits(laboratory, grammar, trials)
        last = replace(found, attempts=found.submitted)
        submitted = advocate.confirmed(last, brief, fits.evaluate, len(found.submitted)).attempts
        found = replace(found, submitted=submitted)
    tried = {item.composition.key for item in found.attempts}
    others = (item for item in first.attempts if item.composition.key not in tried)
    return replace(found, attempts=(*found.attempts, *others))


def _steps_of_growth(
    trials: Sequence[Trials], rng: np.random.Generator, *, whole_people: bool
) -> list[Sequence[Trials]]:
    """Answers on which candidates are found, and those on which their parts are eliminated."""
    if whole_people:
        return [some_people(trials, n_most, rng) for n_most in MOST_ANSWERS]
    return [some_trials(trials, n_most, rng) for n_most in MOST_TRIALS]


class _SearchFits:
    """Compositions fitted to some answers, each once."""

    def __init__(self, laboratory: Laboratory, grammar: Grammar, trials: Sequence[Trials]) -> None:
        self._laboratory, self._grammar, self._trials = laboratory, grammar, trials
        self._known: dict[object, EvaluatedComposition | TheoryError] = {}

    def evaluate(
        self, items: Sequence[tuple[Composition, Digest | None]]
    ) -> list[EvaluatedComposition | TheoryError]:
        """Compositions with their parents, fitted and scored."""
        known = self._known
        new = {item.key: (item, parent) for item, parent in items if item.key not in known}
        found = self._laboratory.evaluate(
            self._grammar, list(new.values()), self._trials, n_draws=FITTING_DRAWS
        )
        known.update(zip(new, found, strict=True))
        return [_made_from(known[item.key], parent) for item, parent in items]

    def validate(self, items: Sequence[Composition]) -> list[tuple[UnitScores, ...] | TheoryError]:
        """Scores on people who taught nothing."""
        found = self.evaluate([(item, None) for item in items])
        return [item if isinstance(item, TheoryError) else item.left_out for item in found]


def _made_from(
    found: EvaluatedComposition | TheoryError, parent: Digest | None
) -> EvaluatedComposition | TheoryError:
    """A fit that may have been made before, as that of a successor of ``parent``."""
    if isinstance(found, TheoryError):
        return found
    program = replace(found.theory.program, parents=() if parent is None else (parent,))
    return replace(found, theory=replace(found.theory, program=program))
