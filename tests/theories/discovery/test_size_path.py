"""The best theory of every size, and the one that is named where a reader chooses none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from lakatos.theories.discovery.grammar_search.proposal import CompositionAttempt
from lakatos.theories.discovery.grammar_search.size_path import (
    MOST_CLAUSES,
    best_of_each_size,
    size_path,
    smallest_near_best,
)
from lakatos.theories.engine.fitting.evaluate import EvaluatedComposition
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

UNIFORM = '{"prior": "uniform", "low": 0.0, "high": 1.0}'


def attempt(
    size: int,
    score: float,
    *,
    n_units: int = 40,
    noise: float = 0.1,
    lapse: bool = True,
    more: str = "",
) -> CompositionAttempt:
    """A theory with so many clauses that predicts each unit so well, with noise of its own."""
    parameters = f'{{"lapse": {UNIFORM}}}' if lapse else "{}"
    source = (
        f'"""Size {size}: adds."""\nPARAMETERS = {parameters}\n\n\n'
        f"def choose(parameters, trials, xp):\n    {more}return 0.5 + {size} + {abs(score)}\n"
    )
    theory = read_program(TheoryProgram(source, "test"))
    own = np.random.default_rng(size).normal(0, noise, n_units)
    scores = (UnitScores(score + own - own.mean(), np.ones(n_units)),)
    evaluated = EvaluatedComposition(
        Composition({"core": (f"{size} {score} {more}",)}),
        theory,
        scores,
        0.0,
        size,
        left_out=scores,
    )
    return CompositionAttempt(evaluated.composition, None, "", evaluated, score)


def sizes(path: Sequence[object]) -> list[int]:
    return [item.n_clauses for item in path]  # type: ignore[attr-defined]


def test_of_each_size_the_theory_that_predicts_others_best_is_kept() -> None:
    attempts = [attempt(2, -0.6), attempt(1, -0.7), attempt(2, -0.5), attempt(1, -0.9)]
    failed = CompositionAttempt(Composition({}), None, "", None, -np.inf, "error")
    found = best_of_each_size([*attempts, failed])
    assert [item.criterion for item in found] == [-0.7, -0.5]


def test_theories_larger_than_twelve_clauses_are_not_on_the_path() -> None:
    found = best_of_each_size([attempt(MOST_CLAUSES, -0.5), attempt(MOST_CLAUSES + 1, -0.4)])
    assert [item.criterion for item in found] == [-0.5]


def test_a_theory_without_random_choices_is_kept_only_where_none_has_them() -> None:
    without = attempt(2, -0.4, lapse=False)
    assert best_of_each_size([attempt(2, -0.5), without])[0].criterion == -0.5
    assert best_of_each_size([without]) == [without]


def test_a_larger_theory_that_gains_nothing_is_left_away() -> None:
    path = size_path([attempt(1, -0.7), attempt(2, -0.7), attempt(3, -0.6), attempt(5, -0.65)])
    assert sizes(path) == [1, 3]


def test_the_smallest_within_one_standard_error_of_the_best_is_chosen() -> None:
    path = size_path([attempt(1, -0.70), attempt(2, -0.51), attempt(4, -0.50)])
    assert path[-1].behind.value == 0
    assert path[1].behind.value == pytest.approx(0.01)
    chosen = smallest_near_best(path)
    assert chosen is not None
    assert chosen.n_clauses == 2
    assert smallest_near_best(()) is None


def test_more_responses_keep_more_clauses() -> None:
    """The same gain of a clause for each response is unclear in few of them and clear in many."""
    chosen = []
    for n_units in (40, 4_000):
        found = [attempt(size, score, n_units=n_units) for size, score in ((1, -0.70), (2, -0.69))]
        near = smallest_near_best(size_path(found))
        assert near is not None
        chosen.append(near.n_clauses)
    assert chosen == [1, 2]
