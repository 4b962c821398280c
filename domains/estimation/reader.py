"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.estimation.task import MOST_POINTS, asked
from lakatos.experiments.adoption.layouts import QUERIES, StimulusLayout, as_table
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_points(names: Sequence[str]) -> dict[str, Any]:
    """Columns such as ``x1, x2, ..., y1, y2, ...`` and the place asked for."""
    found = {axis: _numbered(names, axis) for axis in ("x", "y")}
    query = next((name for name in names if set(words_of(name)) & QUERIES), "")
    if not query or len(found["x"]) < 2 or len(found["x"]) != len(found["y"]):
        return {}
    return {"points_x": found["x"], "points_y": found["y"], "query": query}


def _numbered(names: Sequence[str], axis: str) -> list[str]:
    """Columns whose names hold a word and a number, in the order of the numbers."""
    numbers = {}
    for name in names:
        words = words_of(name)
        own = [int(word) for word in words if word.isdigit()]
        if axis in words and len(own) == 1:
            numbers[name] = own[0]
    return sorted(numbers, key=lambda name: numbers[name])


def _points(parts: Mapping[str, Array]) -> Stimuli:
    """Points of a function; those whose cells are empty are not shown."""
    x, y = as_table(parts["points_x"]), as_table(parts["points_y"])
    if x.shape != y.shape or x.shape[1] > MOST_POINTS:
        raise TrialsError(
            f"points_x has {x.shape[1]} columns and points_y {y.shape[1]}; give as many of each, up to "
            f"{MOST_POINTS}: --column points_x='[\"COLUMN\", ...]'."
        )
    shown = ~np.isnan(x)
    for row in np.flatnonzero((shown != ~np.isnan(y)).any(axis=1)):
        raise StimuliError(f"trial {row} of the estimation domain: a point has one number of two.")
    points = [
        list(zip(own_x[there], own_y[there], strict=True))
        for own_x, own_y, there in zip(x, y, shown, strict=True)
    ]
    for row in np.flatnonzero(~shown.any(axis=1)):
        raise StimuliError(f"trial {row} of the estimation domain: no point is shown.")
    return asked(points, parts["query"].tolist())


LAYOUT = StimulusLayout(
    {
        "points_x": f"places of the points that are seen, a list of 2 to {MOST_POINTS} columns; cells may be empty",
        "points_y": "their heights, likewise",
        "query": "column: the place asked for",
        "x_range": "two numbers: what stands for -1 and 1 of places in the file",
        "y_range": "likewise of heights and answers",
    },
    ("points_x", "points_y", "query"),
    _points,
    _guess_points,
    ragged=("points_x", "points_y"),
    kind="estimates of places on a line",
    guess_rank=6,
    properties=lambda stimuli: {
        "place asked for": stimuli["query"],
        "mean height": stimuli["points_y"].sum(axis=1) / stimuli["shown"].sum(axis=1),
    },
)
"""The trials of this kind of task as columns."""
