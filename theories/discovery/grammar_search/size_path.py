"""The best theory of every size: how much each further clause is worth, so that a reader can choose a point.

References:
    Breiman, Friedman, Olshen & Stone (1984), Classification and Regression Trees, section 3.4.3 (one standard error).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lakatos.theories.discovery.grammar_search.proposal import (
    CompositionAttempt,
    length_of,
    settled,
)
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    mean_score,
    paired_difference,
)
from lakatos.theories.language.theory import LAPSE

MOST_CLAUSES = 12
"""Clauses of the largest theory that is kept."""


@dataclass(frozen=True)
class SizedTheory:
    """The best theory of one size."""

    n_clauses: int
    """Mechanisms that say something; random choices are part of every theory and do not count."""
    attempt: CompositionAttempt
    score: ScoreEstimate
    """Nats per choice of participants (or trials) that it was not fitted to."""
    behind: ScoreEstimate
    """Nats per choice by which the best theory of the path is ahead, paired."""


def best_of_each_size(attempts: Iterable[CompositionAttempt]) -> list[CompositionAttempt]:
    """Find the attempt of each number of clauses that predicts held-out responses best, the smallest number first.

    Where some attempts of a size have random choices, only these count; equal ones are ordered by the length of their
    code.
    """
    found: dict[int, CompositionAttempt] = {}
    for item in sorted(filter(_is_scored, attempts), key=_order):
        assert item.evaluated is not None
        if item.evaluated.n_mechanisms <= MOST_CLAUSES:
            found.setdefault(item.evaluated.n_mechanisms, item)
    return [found[size] for size in sorted(found)]


def _is_scored(attempt: CompositionAttempt) -> bool:
    return attempt.evaluated is not None and bool(attempt.evaluated.left_out)


def _order(attempt: CompositionAttempt) -> tuple[bool, float, int]:
    assert attempt.evaluated is not None
    has_lapses = LAPSE in attempt.evaluated.theory.priors
    score = settled(mean_score(attempt.evaluated.left_out).value)
    return not has_lapses, -score, length_of(attempt)


def size_path(best: Sequence[CompositionAttempt]) -> tuple[SizedTheory, ...]:
    """The path through the best attempts of all sizes, all scored on the same responses.

    A theory that is no better than a smaller one is left away, so that every further clause gains something.
    """
    scored = [(item, item.evaluated.left_out) for item in best if item.evaluated is not None]
    if not scored:
        return ()
    top = max(scored, key=lambda pair: settled(mean_score(pair[1]).value))[1]
    path: list[SizedTheory] = []
    for item, left_out in scored:
        assert item.evaluated is not None
        score = mean_score(left_out)
        if path and settled(score.value) <= settled(path[-1].score.value):
            continue
        behind = paired_difference(top, left_out)
        path.append(SizedTheory(item.evaluated.n_mechanisms, item, score, behind))
    return tuple(path)


def smallest_near_best(path: Sequence[SizedTheory]) -> SizedTheory | None:
    """The smallest theory of a path within one standard error of the best; None of an empty path."""
    near = (
        item for item in path if settled(item.behind.value) <= settled(item.behind.standard_error)
    )
    return next(near, None)
