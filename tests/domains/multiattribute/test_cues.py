"""Cues of two options are recognised by their values, and validities by the right answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame


@pytest.fixture
def cities() -> pd.DataFrame:
    rng, n = np.random.default_rng(2), 400
    cues = rng.integers(0, 2, (n, 2, 3))
    difference = (cues[:, 1] - cues[:, 0]) @ np.array([4, 2, 1]) + rng.normal(0, 2, n)
    is_right_larger = difference > 0
    chosen = rng.random(n) < np.where(is_right_larger, 0.8, 0.2)
    frame = pd.DataFrame({"subject": np.repeat(np.arange(8), 50)})
    for side, name in enumerate(("left", "right")):
        for cue, word in enumerate(("airport", "capital", "team")):
            frame[f"{name}_{word}"] = cues[:, side, cue]
    frame["response"] = np.where(chosen, "right", "left")
    frame["correct"] = (chosen == is_right_larger).astype(int)
    return frame


def test_right_answers_show_how_often_each_cue_is_right(cities: pd.DataFrame) -> None:
    found = describe_table(table_of_frame("a.csv", cities))
    assert (found.domain, found.mapping.response) == ("multiattribute", "response")
    words = ("airport", "capital", "team")
    ratings = [[f"{side}_{word}" for word in words] for side in ("left", "right")]
    assert found.mapping.stimulus["ratings"] == ratings
    is_right = (cities["response"] == "right") == (cities["correct"] == 1)
    differs = cities["right_airport"] - cities["left_airport"]
    share = (np.sign(differs) == np.where(is_right, 1, -1))[differs != 0].mean()
    assert found.mapping.stimulus["validities"][0] == pytest.approx(share, abs=0.001)


def test_validities_are_asked_for_where_no_answer_is_right(cities: pd.DataFrame) -> None:
    found = describe_table(table_of_frame("a.csv", cities.drop(columns="correct")))
    assert (found.domain, found.mapping.stimulus["validities"]) == ("multiattribute", ["?"] * 3)
    other = cities.drop(columns=["correct", "right_team", "left_team"])
    assert describe_table(table_of_frame("a.csv", other)).domain == ""
