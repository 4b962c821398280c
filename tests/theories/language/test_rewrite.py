"""Literals written into sources: everything else stays as it was."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.theories.language.rewrite import with_literal

SOURCE = '''"""Name: claim with an ümlaut."""
PARAMETERS = {"a": {"prior": "uniform", "low": 0, "high": 1},
              "b": {"prior": "uniform", "low": 0, "high": 1}}; OTHER = 3


def choose(parameters, trials, xp):
    PARAMETERS = 7  # not at the top
    return 0.5
'''


def read(source: str, name: str) -> object:
    (value,) = [
        ast.literal_eval(node.value)
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name
    ]
    return value


def test_only_the_literal_changes():
    found = with_literal(SOURCE, "PARAMETERS", {"a": {"low": 2.5}})
    assert read(found, "PARAMETERS") == {"a": {"low": 2.5}}
    assert read(found, "OTHER") == 3
    assert found.split("\n\n\ndef")[1] == SOURCE.split("\n\n\ndef")[1]
    assert found.startswith('"""Name: claim with an ümlaut."""\n')


def test_a_literal_that_was_not_there_is_added_at_the_end():
    found = with_literal(SOURCE, "PREDICTIONS", [{"property": "ignores", "in": "sides"}])
    assert found.startswith(SOURCE.rstrip())
    assert read(found, "PREDICTIONS") == [{"property": "ignores", "in": "sides"}]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_what_is_written_is_what_is_read(first, second):
    once = with_literal(SOURCE, "PARAMETERS", first)
    assert read(once, "PARAMETERS") == first
    assert read(with_literal(once, "PARAMETERS", second), "PARAMETERS") == second


def test_a_source_that_does_not_parse_is_refused():
    with pytest.raises(SyntaxError):
        with_literal("def", "PARAMETERS", {})
