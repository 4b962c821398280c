"""Candidates are compared without the digits in which processors differ."""

from __future__ import annotations

import numpy as np

from lakatos.theories.discovery.grammar_search.proposal import CompositionAttempt, ranked, settled
from lakatos.theories.discovery.grammar_search.prune import is_no_loss
from lakatos.theories.discovery.induction.population import lapses
from lakatos.theories.discovery.induction.source import ParameterSpread
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.language.grammar import Composition


def attempt(change: str, criterion: float) -> CompositionAttempt:
    return CompositionAttempt(Composition({}), None, change, None, settled(criterion))


def test_equal_candidates_keep_their_order_whatever_their_last_digits() -> None:
    first = ranked([attempt("a", -0.6), attempt("b", -0.6 + 1e-13), attempt("c", -0.5)])
    second = ranked([attempt("a", -0.6 + 1e-13), attempt("b", -0.6), attempt("c", -0.5)])
    assert [item.change for item in first] == [item.change for item in second] == ["c", "a", "b"]
    assert settled(-0.6) != settled(-0.6 + 1e-8)
    assert np.isneginf(settled(-np.inf))


def test_a_cost_that_equals_its_worth_but_for_the_last_digit_is_no_loss() -> None:
    for digit in (-1e-14, 0.0, 1e-14):
        assert is_no_loss(ScoreEstimate(0.01 + digit, 0.0), 0.01)
    assert not is_no_loss(ScoreEstimate(0.01 + 1e-6, 0.0), 0.01)


def test_lapses_of_a_rule_that_guesses_are_the_first_of_the_grid_because_none_explains_more() -> (
    None
):
    for n_trials in (20, 30, 47):
        person = np.repeat(np.arange(20), n_trials)
        found = lapses(np.full(len(person), 0.5), 0.5, person, 1.0, 0.1)
        assert found == ParameterSpread(0.0, 0.005)
