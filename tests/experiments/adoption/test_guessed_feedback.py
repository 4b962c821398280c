"""A task with feedback is guessed where a row holds a participant, a choice and a reward, and nothing else."""

from __future__ import annotations

import pandas as pd
import pytest

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
