"""Levels of an attribute in a declaration, from its columns in a file."""

from __future__ import annotations

import pandas as pd
import pytest

from lakatos.experiments.adoption.menu import levels_in_toml
from lakatos.experiments.adoption.signatures import ColumnSignature
from lakatos.experiments.errors import TrialsError


@pytest.mark.parametrize(
    ("first", "second", "levels"),
    [
        ([3, 1, 1], [2, 2, 3], ("number", "levels = [1, 2, 3]")),
        ([0.5, 1], [1, 2.25], ("number", "levels = [0.5, 1, 2.25]")),
        (range(0, 50, 10), range(5, 120, 5), ("number", "from = 0\nto = 115\nstep = 5")),
        ([n / 10 for n in range(30)], [0.25], ("number", "from = 0\nto = 2.9\nstep = 0.05")),
        (
            ["window"],
            ["aisle", 'the "best"'],
            ("category", 'levels = ["aisle", "the \\"best\\"", "window"]'),
        ),
    ],
)
def test_few_numbers_are_listed_and_more_have_a_range_and_a_step(first, second, levels) -> None:
    columns = [
        ColumnSignature(name, pd.Series([str(value) for value in values]))
        for name, values in (("x_A", first), ("x_B", second))
    ]
    assert levels_in_toml(columns) == levels


def test_numbers_with_units_are_refused() -> None:
    columns = [ColumnSignature("time_A", pd.Series(["5 min", "10 min"]))]
    with pytest.raises(
        TrialsError, match="time_A says '10 min': write plain numbers into the file"
    ):
        levels_in_toml(columns)
