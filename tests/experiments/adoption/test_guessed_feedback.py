"""A task with feedback is guessed where a row holds a participant, a choice and a reward, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest
from reading import read

from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame

STEPS = pd.DataFrame(
    {
        "subject": ["p1"] * 6 + ["p2"] * 6,
        "trial": [*range(1, 7)] * 2,
        "choice": [1, 2, 3, 4, 2, 3] * 2,
    }
)


@pytest.mark.parametrize(
    ("added", "domain", "reward"),
    [
        ({"outcome": [0, 1] * 6}, "learning", "outcome"),
        ({"gain": [50, 100] * 6, "loss": [0, -25] * 6}, "learning", "gain + loss"),
        ({"gain": [50, 100] * 6, "loss": [0, 25] * 6}, "learning", "gain - loss"),
        ({"win": [50, 100] * 6, "lose": [0, -25] * 6}, "learning", "win + lose"),
        ({"win": [50, 100] * 6, "lose": [0, 25] * 6}, "learning", "win - lose"),
        ({"reward": [0, 1] * 6, "gain": [50, 100] * 6, "loss": [0, 25] * 6}, "learning", "reward"),
        ({"outcome": [0, 1] * 6, "block": [1, 2] * 6}, "learning", "outcome"),
        # numbers that may describe the options
        ({"outcome": [0, 1] * 6, "contrast": [3, 5] * 6}, "", ""),
        ({"contrast": [3, 5] * 6}, "", ""),
    ],
)
def test_only_what_has_nothing_else_in_its_rows_is_a_task_with_feedback(
    added: dict[str, list[int]], domain: str, reward: str
) -> None:
    found = describe_table(table_of_frame("steps.csv", STEPS.assign(**added)), None)
    assert found.domain == domain
    assert found.mapping.feedback.get("reward", "") == reward


def test_columns_that_an_expression_computes_with_are_read_and_others_are_not() -> None:
    """A column whose name is a part of another one's is read only if it stands in the expression itself."""
    table = STEPS.assign(gain=[50, 100] * 6, loss=[0, -25] * 6, los=[1] * 12)
    found = read(table)
    assert found.read_back[-1] == "columns that are not read: los"
