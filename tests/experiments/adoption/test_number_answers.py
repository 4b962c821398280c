"""Numbers on a grid come in as a file, and are the trials that a reader of the same data makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains.estimation.archives.little2024 import (
    EXPERIMENTS,
    FILE,
    READER,
    read_record,
)
from lakatos.domains.estimation.task import MOST_POINTS, SCALE
from lakatos.domains.kit.packed import gzip_lines
from lakatos.domains.published_data import load_archive
from lakatos.experiments.errors import TrialsError

NAMES = {size: name for name, size in EXPERIMENTS.items()}


def renamed(folder: Any) -> pd.DataFrame:
    """What people answered, with the points that they saw in columns of other names, in any order."""
    rows = []
    for number, line in gzip_lines(folder / READER.name / FILE):
        for graph, place, height in read_record(line, "here"):
            empty = [""] * (MOST_POINTS - len(graph))
            x, y = ([*axis, *empty] for axis in zip(*graph, strict=True))
            rows.append((f"p{number}", NAMES[len(graph)], *x, *y, place, height))
    points = [f"{axis}{number}" for axis in ("ort", "hoehe") for number in range(MOST_POINTS)]
    frame = pd.DataFrame(rows, columns=["VP", "Bild", *points, "gefragt", "gesagt"])
    return frame[np.random.default_rng(4).permutation(frame.columns)]


@pytest.mark.slow
def test_a_renamed_and_shuffled_file_is_what_its_reader_makes(data_folder, require):
    require((data_folder / READER.name).is_dir(), f"the data set {READER.name} is missing")
    shown = {
        "points_x": [f"ort{number}" for number in range(MOST_POINTS)],
        "points_y": [f"hoehe{number}" for number in range(MOST_POINTS)],
        "query": "gefragt",
    }
    columns = {"participant": "VP", "response": "gesagt", "experiment": "Bild", "stimulus": shown}
    found = lakatos.adopt(renamed(data_folder), "estimation", columns)
    own = {item.experiment: item.digest for item in found.trials}
    assert own == {item.experiment: item.digest for item in load_archive(READER.name, data_folder)}


def rows(**changes: Any) -> pd.DataFrame:
    """Answers of two people to graphs of two and three points, in per cent."""
    table = {
        "subject": ["a", "a", "b", "b"],
        "x1": [0, 0, 0, 0], "x2": [100, 50, 100, 50], "x3": ["", 100, "", 100],
        "y1": [10, 10, 10, 10], "y2": [90, 50, 90, 50], "y3": ["", 80, "", 80],
        "query": [50, 75, 50, 75],
        "estimate": [50, 65, 47, 70],
    }  # fmt: skip
    return pd.DataFrame(table | changes)


RANGES = {"x_range": [0, 100], "y_range": [0, 100]}
PARTS = {"points_x": ["x1", "x2", "x3"], "points_y": ["y1", "y2", "y3"], "query": "query"}
COLUMNS = {"participant": "subject", "response": "estimate", "stimulus": PARTS | RANGES}


def test_numbers_of_another_range_are_put_into_that_of_the_domain() -> None:
    (trials,) = lakatos.adopt(rows(), "estimation", COLUMNS).trials
    assert trials.stimuli["shown"].sum(axis=1).tolist() == [2, 3]
    assert trials.stimuli["points_y"][0, :3].tolist() == [-0.8, 0.8, 0]
    assert trials.stimuli["query"].tolist() == [0, 0.5]
    assert [SCALE.places[outcome] for outcome in trials.response] == [0.05, 0.35, -0.05, 0.45]


def test_columns_are_guessed() -> None:
    frame = rows(
        x2=[1, 0.5] * 2, y1=0.1, y2=0.9, query=[0.5, 0.75] * 2, estimate=[0.1, 0.2, 0.3, 0.4]
    )
    found = lakatos.adopt(frame.drop(columns=["x3", "y3"]), columns={"response": "estimate"})
    assert found.domain.name == "estimation"
    assert found.trials[0].stimuli["query"].tolist() == [0.5, 0.75]


@pytest.mark.parametrize(
    ("changes", "said", "words"),
    [
        ({"estimate": [50, 65, 47, 700]}, {}, "row 5: estimate is '700', which is outside .* answers, -5 to 105"),
        ({"estimate": [50, 65, 47, -1]}, {}, "row 5: estimate is '-1', which is beyond 0 to 100 and may"),
        ({"estimate": [50, 65, 47, "?"]}, {}, "row 5: estimate is .* which is no number"),
        ({"y1": ["", 10, 10, 10]}, {}, "a point has one number of two"),
        ({}, {"stimulus": PARTS | {"y_range": [1, 0]}}, "give two numbers that grow"),
        ({}, {"stimulus": PARTS}, "places are from -1 to 1"),
        ({}, {"stimulus": PARTS | {"points_x": ["x1", "x2"]}}, "give as many of each"),
        ({}, {"participant": "", "count": "query"}, "cannot be counted by option"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_what_to_do(
    changes: dict[str, Any], said: dict[str, Any], words: str
) -> None:
    with pytest.raises(TrialsError, match=words):
        lakatos.adopt(rows(**changes), "estimation", COLUMNS | said)


def test_numbers_outside_of_the_range_are_left_out_where_the_study_says_so_and_rounding_is_told() -> (
    None
):
    many = pd.concat([rows()] * 20, ignore_index=True)
    many["estimate"] = np.resize([10, 20, 30, 40, 50, 60, 70, 80, 90, 47, 700], len(many))
    found = lakatos.adopt(many, "estimation", COLUMNS | {"bad_rows": "leave_out"})
    assert found.trials[0].n_responses == 73
    told = " ".join(" ".join(note.split()) for note in found.notes)
    assert (
        "estimate is outside of the range of answers, -5 to 105 7 (12, 23, 34 and 4 more)" in told
    )
    assert any("are multiples of 10" in note for note in found.notes)
