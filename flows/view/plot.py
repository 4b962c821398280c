"""Plots that the browser draws, and that can be zoomed and selected in: the numbers, as a page carries them.

A page can be read without scripts: whoever shows a plot shows its numbers in a table too. Apache ECharts draws it
(`static/plots.js`); the numbers here know nothing of that library.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from markupsafe import Markup


@dataclass(frozen=True)
class PlotPoint:
    """A mark of a plot."""

    x: float
    y: float
    words: str = ""
    """Words that are shown to a reader who points at the mark."""
    low: float | None = None
    high: float | None = None
    """Interval of ``y``."""
    link: str = ""
    key: str = ""
    """Key of the row that belongs to it, where marks can be selected."""


@dataclass(frozen=True)
class PlotDots:
    """Marks of one kind."""

    name: str
    colour: int
    """Number of the colour among the series of the page, from 1; 0 for grey, -1 for that of the text."""
    shape: str
    """``circle``, ``square``, ``triangle`` or ``diamond``, so that colour is never the only difference."""
    points: Sequence[PlotPoint]


@dataclass(frozen=True)
class PlotLine:
    """A line through points."""

    name: str
    colour: int
    points: Sequence[tuple[float, float]]
    dashed: bool = False


@dataclass(frozen=True)
class PlotMarks:
    """Straight lines across a plot."""

    x: Sequence[tuple[float, str]] = field(default_factory=tuple)
    """Upright ones: where, and what they say."""


def plot(
    name: str,
    title: str,
    *,
    x: str,
    y: str,
    dots: Sequence[PlotDots] = (),
    lines: Sequence[PlotLine] = (),
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
    x_log: bool = False,
    marks: PlotMarks | None = None,
    diagonal: bool = False,
    selects: str = "",
    height: int = 380,
) -> Markup:
    """The element that `static/plots.js` draws in.

    Args:
        name: Name of the plot on its page.
        title: What it shows, for who does not see it.
        x, y: Names of the axes.
        dots, lines: What is drawn; those that are empty are left out.
        x_range, y_range: Ends of the axes; from what is drawn by default.
        x_log: Whether the x axis is logarithmic.
        marks: Upright lines.
        diagonal: Whether a line joins equal values.
        selects: Identifier of the table whose rows go with the marks, by ``data-key``.
        height: Height in CSS pixels.
    """
    data: dict[str, Any] = {
        "title": title,
        "x": {"name": x, "log": x_log, **_ends(x_range)},
        "y": {"name": y, **_ends(y_range)},
        "dots": [
            {
                "name": part.name,
                "colour": part.colour,
                "shape": part.shape,
                "points": [_mark(point) for point in part.points],
            }
            for part in dots
            if part.points
        ],
        "lines": [
            {
                "name": line.name,
                "colour": line.colour,
                "dashed": line.dashed,
                "points": [[_number(a), _number(b)] for a, b in line.points],
            }
            for line in lines
            if line.points
        ],
        "marks": [[_number(at), words] for at, words in (marks.x if marks else ())],
        "diagonal": diagonal,
        "selects": selects,
    }
    return Markup(
        '<div class="plot" id="plot-{}" data-plot="{}" data-height="{}" role="img" aria-label="{}">'
        '<p class="muted">This plot is drawn by a script; its numbers are in the table.</p></div>'
    ).format(name, json.dumps(data, ensure_ascii=True, allow_nan=False), height, title)


def _ends(given: tuple[float, float] | None) -> dict[str, float | None]:
    low, high = given or (None, None)
    return {"least": low, "most": high}


def _mark(point: PlotPoint) -> dict[str, Any]:
    data: dict[str, Any] = {"x": _number(point.x), "y": _number(point.y), "words": point.words}
    if point.low is not None and point.high is not None:
        data |= {"low": _number(point.low), "high": _number(point.high)}
    return data | {
        name: value for name, value in (("link", point.link), ("key", point.key)) if value
    }


def _number(value: float) -> float | None:
    """A number of six digits, which is more than a screen shows; None where there is none."""
    return float(f"{value:.6g}") if np.isfinite(value) else None
