"""Rules that tie attributes to one another: what they hold of, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tasks import gifts

from lakatos.domains.declared.declaration import with_unit
from lakatos.domains.declared.task import DeclaredDomain
from lakatos.domains.declared.tied import AttributeRule
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError, TaskFileError

SEQUENCE = gifts(
    ('[attributes.wrapping]\nkind = "category"\nlabel = "Wrapping"\nlevels = ["plain", "red", "gold"]', ""),
    add='\n[attributes.weight]\nkind = "number"\nlabel = "Weight"\nlevels = [1, 2, 3]\n',
)  # fmt: skip
RULE = '\n[space]\nonly = ["weight < worth"]\n'


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a <= b", [True, True, False]),
        ("a < b", [True, False, False]),
        ("a == b", [False, True, False]),
        ("a != b", [True, False, True]),
        ("a > b", [False, False, True]),
        ("a >= b - 1", [True, True, True]),
        ("2 * a + b <= 6", [True, True, False]),
        ("0.1 + 0.2 == b - 1.7", [True, True, True]),
    ],
)
def test_a_rule_compares_both_sides_of_each_option(text, holds):
    arrays = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([2.0, 2.0, 2.0])}
    assert AttributeRule(text, ["a", "b"]).holds(arrays).tolist() == holds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "no comparison"),
        ("a < b < 3", "no comparison"),
        ("a = b", "no comparison"),
        ("a < c", "'c' is no column"),
        ("a < __import__('os')", "is no column"),
        ("1 < 2", "computes nothing"),
    ],
)
def test_what_is_no_rule_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        AttributeRule(text, ["a", "b"])


def test_every_option_of_the_space_keeps_the_rules():
    free, tied = (DeclaredDomain(SEQUENCE + add) for add in ("", RULE))
    space = tied.space({"dominated": True})
    assert (space["weight"] < space["worth"]).all()
    assert len(space) < len(free.space({"dominated": True}))
    every = free.space({"dominated": True})
    expected = (every["weight"] < every["worth"]).all(axis=1)
    assert tied.admits({"dominated": True}, every).tolist() == expected.tolist()


def test_a_study_may_give_rules_of_its_own():
    domain = DeclaredDomain(SEQUENCE)
    space = domain.space({"only": ["worth <= 2"], "dominated": True})
    assert set(space["worth"].ravel().tolist()) == {1, 2}
    with pytest.raises(StimuliError, match=r"the gifts domain: space\.only: 'size' is no column"):
        domain.space({"only": ["size < 2"]})


def test_rules_that_leave_nothing_are_named():
    with pytest.raises(EmptyDesignSpaceError, match="keeps the rules worth > 100"):
        DeclaredDomain(SEQUENCE).space({"only": ["worth > 100"]})


def test_a_rule_about_words_is_refused_with_the_attributes_that_are_numbers():
    with pytest.raises(TaskFileError, match="numbers: worth"):
        DeclaredDomain(gifts(add='\n[space]\nonly = ["wrapping < 2"]\n'))


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.6, "$1.60"), (2, "$2"), (-3.5, "-$3.50"), (0.125, "$0.125"), (10.0, "$10")],
)
def test_money_has_two_digits_for_cents_or_none(value, shown):
    assert with_unit(value, "$") == shown
