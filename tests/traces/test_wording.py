"""Counts take the noun of one or of several, and a wrong name is told the nearest right ones."""

from __future__ import annotations

import pytest

from lakatos.traces.wording import did_you_mean, in_a_list, plural


@pytest.mark.parametrize(
    ("count", "word", "many", "said"),
    [
        (1, "successor", "", "1 successor"),
        (0, "successor", "", "0 successors"),
        (2, "theory", "", "2 theories"),
        (1, "theory", "", "1 theory"),
        (1234, "answer", "", "1,234 answers"),
        (1, "person", "people", "1 person"),
        (3, "person", "people", "3 people"),
    ],
)
def test_one_thing_is_no_plural(count: int, word: str, many: str, said: str) -> None:
    assert plural(count, word, many) == said


def test_the_nearest_names_are_told_as_they_are_written() -> None:
    known = ["Hyperbolic discounting", "exponential", "random"]
    assert (
        did_you_mean("hyperbolic discountin", known) == "; did you mean 'Hyperbolic discounting'?"
    )
    assert did_you_mean("zzz", known) == "."
    assert did_you_mean("mine-3", ["mine-1", "mine-2"]) in (
        "; did you mean 'mine-1' or 'mine-2'?",
        "; did you mean 'mine-2' or 'mine-1'?",
    )


def test_a_list_has_one_conjunction_before_its_end() -> None:
    assert in_a_list(["a"]) == "a"
    assert in_a_list(["a", "b"]) == "a and b"
    assert in_a_list(["a", "b", "c"], "or") == "a, b or c"
    assert in_a_list(["a, b", "c"]) == "a, b; and c"
    assert in_a_list(["a, b"]) == "a, b"
