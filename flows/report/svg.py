"""Drawing in SVG for pages: text stays text, colours are the page's own, and each mark has its own words.

A drawing also keeps the numbers that it shows, so that `lakatos.flows.report.download` can offer them as a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

Array = NDArray[np.float64]
WIDE, NARROW = 760, 356
"""Widths in CSS pixels."""
OUTLINES: Final = {
    "circle": "M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z",
    "square": "M-1-1h2v2h-2z",
    "triangle": "M0-1.25l1.2 2.1h-2.4z",
    "diamond": "M0-1.35l1.35 1.35l-1.35 1.35l-1.35-1.35z",
    "star": "M-1-1l2 2m0-2l-2 2",
}
"""Marks of series around a point, so that colour is never the only difference; they are scaled to their size."""
SHAPES: Final = tuple(OUTLINES)


@dataclass(frozen=True)
class Drawing:
    """A chart with the numbers that it shows."""

    title: str
    svg: Markup
    rows: tuple[dict[str, object], ...]
    """Lines of its table, each by the names of the columns; a value that is unknown is None or not finite."""


@dataclass(frozen=True)
class ChartScale:
    """A straight map from values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def ends(self) -> tuple[float, float]:
        """The smaller and the larger end of the axis."""
        return min(self.low, self.high), max(self.low, self.high)

    def inside(self, value: float) -> float:
        """The place of a value, kept within the axis."""
        smallest, largest = self.ends
        return self(min(max(value, smallest), largest))


def spread(values: Iterable[float], margin: float = 0.06) -> tuple[float, float]:
    """Ends of an axis that holds all finite values with some air."""
    finite = np.array([value for value in values if np.isfinite(value)], dtype=float)
    if not finite.size:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    air = margin * (high - low) or max(abs(high), 1.0) * 0.1
    return low - air, high + air


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two ends.

    References:
        Heckbert (1990), Nice numbers for graph labels, Graphics Gems, 61-63.
    """
    raw = (high - low) / max(most, 1)
    size = 10.0 ** np.floor(np.log10(raw))
    steps = (size * factor for factor in (1, 2, 5, 10))
    step = next(step for step in steps if step >= raw * (1 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    places = range(int((high - low) / step) + 2)
    values = ((first + place) * step for place in places)
    return [float(round(value, 12)) for value in values if value <= high + 1e-9 * step]


def number(value: float) -> str:
    """A tick's label, with a real minus sign."""
    return f"{value:.6g}".replace("-", "−")


def cut(text: str, length: float) -> str:
    """A text that fits into so many characters."""
    return text if len(text) <= length else text[: int(length) - 1] + "…"


@dataclass
class SvgCanvas:
    """An SVG in the making; everything that is written is escaped."""

    title: str
    width: float
    height: float
    parts: list[Markup] = field(default_factory=list)
    rows: list[dict[str, object]] = field(default_factory=list)

    def add(self, template: str, *values: object) -> None:
        """An element; values are escaped."""
        self.parts.append(Markup(template).format(*values))

    def note(self, **values: object) -> None:
        """Keep the numbers behind a mark, by the names of their columns."""
        self.rows.append(values)

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line between two points."""
        line = '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>'
        self.add(line, x1, y1, x2, y2, css)

    def path(self, places: Sequence[tuple[float, float]], css: str) -> None:
        """Draw a line through all points in their order."""
        points = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        self.add('<path d="{}" class="{}"/>', f"M{points}", css)

    def box(
        self, x: float, y: float, width: float, height: float, css: str, words: str = ""
    ) -> None:
        """Draw a filled rectangle."""
        title = Markup("<title>{}</title>").format(words) if words else ""
        box = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="{}">{}</rect>'
        self.add(box, x, y, width, height, css, title)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        css: str = "",
        anchor: str = "start",
        turn: bool = False,
    ) -> None:
        """A piece of text; ``turn`` for one that reads upwards."""
        place = Markup(' transform="rotate(-90 {:.1f} {:.1f})"').format(x, y) if turn else ""
        element = '<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}"{}>{}</text>'
        self.add(element, x, y, css, anchor, place, text)

    def mark(
        self,
        x: float,
        y: float,
        shape: str,
        css: str,
        words: str = "",
        link: str = "",
        size: float = 4.5,
    ) -> None:
        """A point of a series, with words for whoever points at it, and a link where it leads somewhere."""
        title = Markup("<title>{}</title>").format(words) if words else ""
        mark = Markup(
            '<path d="{}" transform="translate({:.1f} {:.1f}) scale({})" class="mark {} {}">{}</path>'
        )
        body = mark.format(OUTLINES[shape], x, y, size, shape, css, title)
        self.parts.append(linked(body, link, words))

    def drawing(self) -> Drawing:
        """The whole drawing as an SVG element, with its numbers."""
        element = Markup(
            '<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="group" '
            'aria-label="{2}">{3}</svg>'
        )
        svg = element.format(self.width, self.height, self.title, Markup("").join(self.parts))
        return Drawing(self.title, svg, tuple(self.rows))


def linked(body: Markup, link: str, words: str) -> Markup:
    """A link around an element, if there is where to."""
    return Markup('<a href="{}" aria-label="{}">{}</a>').format(link, words, body) if link else body


def across(
    canvas: SvgCanvas, scale: ChartScale, top: float, bottom: float, label: str, most: int = 6
) -> None:
    """A horizontal axis with lines over the height of the chart."""
    for value in ticks(*scale.ends, most):
        x = scale(value)
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + 16, number(value), "tick", "middle")
    canvas.text((scale.start + scale.end) / 2, bottom + 34, label, "label", "middle")


def upwards(
    canvas: SvgCanvas, scale: ChartScale, left: float, right: float, label: str, most: int = 6
) -> None:
    """A vertical axis with lines over the width of the chart."""
    for value in ticks(*scale.ends, most):
        y = scale(value)
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 7, y + 4, number(value), "tick", "end")
    canvas.text(13, (scale.start + scale.end) / 2, label, "label", "middle", turn=True)
