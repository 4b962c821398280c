"""The language of terms: the same numbers as Python's, and nothing but what terms need."""

import builtins

import numpy as np
import pytest

from lakatos.domains.learning.task import LearningDomain
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.domains.risky.task import RiskyDomain
from lakatos.theories.discovery.induction.lesson_terms import (
    BEST,
    EVENLY,
    FOLLOW,
    KEPT,
    learn_code,
    state_code,
)
from lakatos.theories.discovery.induction.library import vocabulary
from lakatos.theories.discovery.induction.term_text import carry_out, compute
from lakatos.theories.errors import GrammarError

SPACE = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}


def by_python(text, names):
    """What Python itself makes of statements of our own; in this test only."""
    builtins.exec(text, names)
    return names


@pytest.mark.parametrize("domain", [MultiattributeDomain(), RiskyDomain()], ids=lambda it: it.name)
def test_every_score_is_what_python_makes_of_its_text(domain):
    rng = np.random.default_rng(1)
    some = domain.candidates(SPACE if domain.name == "multiattribute" else {}, rng, 20)
    words = vocabulary(domain, [some])
    text = "\n".join((*words.helpers, words.prelude))
    ours = {"xp": np, "trials": dict(some.arrays)}
    carry_out(text, ours)
    theirs = by_python(text, {"xp": np, "trials": dict(some.arrays)})
    for score in words.scores:
        expected = by_python(f"found = {score.code}", dict(theirs))["found"]
        found = compute(score.code, ours)
        assert np.asarray(found).dtype == np.asarray(expected).dtype, score.code
        assert np.array_equal(found, expected), score.code


def test_functions_of_learning_remember_what_python_remembers():
    text = state_code(tuple(KEPT), learn_code(LearningDomain())) + BEST + EVENLY + FOLLOW
    rng = np.random.default_rng(2)
    ours, theirs = {}, by_python(text, {})
    carry_out(text, ours)
    trials = {"available": np.ones((7, 3)), "block_start": np.zeros((1, 7))}
    states = [space["start"]({}, trials, np) for space in (ours, theirs)]
    for _ in range(5):
        response = (rng.integers(3, size=(1, 7, 1)) == np.arange(3)) * 1.0
        trials = {**trials, "block_start": (rng.random((1, 7)) < 0.2) * 1.0}
        paid = {"reward": (rng.random((1, 7)) < 0.5) * 1.0}
        states = [
            space["learn"]({}, trials, np, state, response, paid)
            for space, state in zip((ours, theirs), states, strict=True)
        ]
        assert states[0].keys() == states[1].keys()
        assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])
    within, free = rng.random((7, 3)), np.ones((7, 3))
    best = [space["best_of"](within, free, np) for space in (ours, theirs)]
    assert np.array_equal(*best)
    assert np.array_equal(
        *(space["follow"](within, best[0], 0.8, free, np) for space in (ours, theirs))
    )


@pytest.mark.parametrize(
    "text",
    [
        "x.__class__",
        "xp.load('secret')",
        "(lambda: x)()",
        "[item for item in x]",
        "x if x > 0 and x < 1 else 0",
        "0 < x < 1",
        "x.sum(**named)",
        "b'bytes'",
        "f'{x}'",
    ],
)
def test_what_terms_do_not_need_is_refused_when_it_is_read(text):
    with pytest.raises(GrammarError, match="terms may not say"):
        compute(text, {"x": np.ones(3), "xp": np})


@pytest.mark.parametrize(
    "text",
    ["import os", "x += 1", "while x:\n    x = 0", "def f(x):\n    y = x", "del x", "x.shape = 3"],
)
def test_statements_that_terms_do_not_need_are_refused(text):
    names = {"x": np.ones(3)}
    with pytest.raises(GrammarError, match="terms may not say"):
        carry_out(text, names)
    assert list(names) == ["x"]


def test_several_expressions_are_not_one():
    with pytest.raises(GrammarError, match="not one expression"):
        compute("x\ny", {"x": 1, "y": 2})


def test_a_name_that_nobody_set_is_missing_also_where_python_has_one():
    with pytest.raises(KeyError):
        compute("open('file')", {})
