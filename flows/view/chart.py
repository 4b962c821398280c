"""Charts of the observatory: plain SVG whose text stays text, in colours of the page, each mark with its own words.

Every chart is drawn twice, for wide and for narrow windows, so that its text keeps its size; the page shows one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

Array = NDArray[np.float64]
WIDE, NARROW = 760, 356
"""Widths in CSS pixels."""
SHAPES: Final = ("circle", "square", "triangle", "diamond", "star")
"""Marks of series, so that colour is never the only difference."""


def both(draw: Callable[[int], Markup]) -> Markup:
    """A chart for wide windows and for narrow ones."""
    return Markup('<div class="chart wide">{}</div><div class="chart narrow">{}</div>').format(
        draw(WIDE), draw(NARROW)
    )


@dataclass(frozen=True)
class ChartScale:
    """A straight map from values to places."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def inside(self, value: float) -> float:
        """The place of a value, kept within the axis."""
        return self(min(max(value, min(self.low, self.high)), max(self.low, self.high)))


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
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw * (1 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    return [float(round((first + place) * step, 12)) for place in range(int((high - low) / step) + 2)
            if (first + place) * step <= high + 1e-9 * step]  # fmt: skip


def number(value: float) -> str:
    """A tick's label, with a real minus sign."""
    return f"{value:.6g}".replace("-", "−")


@dataclass
class SvgCanvas:
    """An SVG in the making; everything that is written is escaped."""

    title: str
    width: float
    height: float
    parts: list[Markup] = field(default_factory=list)

    def add(self, template: str, *values: object, **named: object) -> None:
        """An element; values are escaped."""
        self.parts.append(Markup(template).format(*values, **named))

    def line(self, x1: float, y1: float, x2: float, y2: float, css: str) -> None:
        """Draw a straight line between two points."""
        self.add(
            '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>',
            x1,
            y1,
            x2,
            y2,
            css,
        )

    def path(self, places: Sequence[tuple[float, float]], css: str) -> None:
        """Draw a line through all points in their order."""
        self.add(
            '<path d="{}" class="{}"/>', "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places), css
        )

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
        self.add(
            '<text x="{:.1f}" y="{:.1f}" class="{}" text-anchor="{}"{}>{}</text>',
            x,
            y,
            css,
            anchor,
            place,
            text,
        )

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
        s, d = size, 1.35 * size
        outline = {
            "square": f"M{x - s:.1f} {y - s:.1f}h{2 * s}v{2 * s}h{-2 * s}z",
            "triangle": f"M{x:.1f} {y - 1.25 * s:.1f}l{1.2 * s} {2.1 * s}h{-2.4 * s}z",
            "diamond": f"M{x:.1f} {y - d:.1f}l{d} {d}l{-d} {d}l{-d} {-d}z",
            "star": f"M{x - s:.1f} {y - s:.1f}l{2 * s} {2 * s}m0 {-2 * s}l{-2 * s} {2 * s}",
            "circle": f"M{x - s:.1f} {y:.1f}a{s} {s} 0 1 0 {2 * s} 0a{s} {s} 0 1 0 {-2 * s} 0z",
        }[shape]
        said = Markup("<title>{}</title>").format(words) if words else ""
        body = Markup('<path d="{}" class="mark {} {}">{}</path>').format(outline, shape, css, said)
        self.parts.append(linked(body, link, words))

    def svg(self) -> Markup:
        """The whole drawing as an SVG element."""
        return Markup(
            '<svg viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" role="group" aria-label="{2}">'
            "{3}</svg>"
        ).format(self.width, self.height, self.title, Markup("").join(self.parts))


def linked(body: Markup, link: str, words: str) -> Markup:
    """A link around an element, if there is where to."""
    return Markup('<a href="{}" aria-label="{}">{}</a>').format(link, words, body) if link else body


def across(
    canvas: SvgCanvas, scale: ChartScale, top: float, bottom: float, label: str, most: int = 6
) -> None:
    """A horizontal axis with lines over the height of the chart."""
    for value in ticks(min(scale.low, scale.high), max(scale.low, scale.high), most):
        x = scale(value)
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + 16, number(value), "tick", "middle")
    canvas.text((scale.start + scale.end) / 2, bottom + 34, label, "label", "middle")


def upwards(
    canvas: SvgCanvas, scale: ChartScale, left: float, right: float, label: str, most: int = 6
) -> None:
    """A vertical axis with lines over the width of the chart."""
    for value in ticks(min(scale.low, scale.high), max(scale.low, scale.high), most):
        y = scale(value)
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 7, y + 4, number(value), "tick", "end")
    canvas.text(13, (scale.start + scale.end) / 2, label, "label", "middle", turn=True)


# --- leaderboard over cycles ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoreLine:
    """How one theory's score went over the cycles, to be drawn as a line."""

    name: str
    tag: str
    link: str
    points: tuple[tuple[int, float, float], ...]
    """Cycle, score, and half the width of its 95% interval."""
    shown: bool
    """Whether in a colour of its own."""


def history(lines: Sequence[ScoreLine], ceilings: Mapping[int, float], width: int) -> Markup:
    """Scores at the end of every cycle with intervals, and the noise ceiling."""
    cycles = sorted({cycle for line in lines for cycle, _, _ in line.points})
    values = [value for line in lines for value in _drawn_values(line)]
    height, left, right, top, bottom = 330.0, 62.0, width - 46.0, 14.0, 276.0
    canvas = SvgCanvas("Scores of the theories at the end of every cycle", width, height)
    y = ChartScale(*spread([*values, *ceilings.values()]), bottom, top)
    x = ChartScale(cycles[0] - 0.5, cycles[-1] + 0.5, left, right)
    upwards(canvas, y, left, right, "nats per choice (higher is better)")
    step = max(1, -(-len(cycles) // (16 if width == WIDE else 8)))
    for cycle in cycles[::step]:
        canvas.text(x(cycle), bottom + 18, str(cycle), "tick", "middle")
    canvas.text((left + right) / 2, bottom + 38, "cycle", "label", "middle")
    if ceilings:
        known = [(x(cycle), y(value)) for cycle, value in sorted(ceilings.items())]
        known = [(left, known[0][1]), *known, (right, known[-1][1])]
        canvas.path(known, "ceiling")
        canvas.text(right, known[-1][1] - 5, "noise ceiling", "small", "end")
    # Lines that nobody can tell apart have no marks: hundreds of them would only make the page slow.
    for line in lines:
        if not line.shown:
            canvas.path([(x(cycle), y(score)) for cycle, score, _ in line.points], "line other")
    colours = [line for line in lines if line.shown]
    apart = min(7.0, 0.5 * (right - left) / len(cycles) / max(len(colours), 1))
    for place, line in enumerate(colours):
        offset = (place - (len(colours) - 1) / 2) * apart
        _draw_line(canvas, line, place, [x(cycle) + offset for cycle, _, _ in line.points], y)
    _draw_tags(canvas, colours, cycles[-1], right + 6, y)
    return canvas.svg()


def _drawn_values(line: ScoreLine) -> Iterator[float]:
    """Scores of a line, and the ends of their intervals where these are drawn."""
    for _, score, half in line.points:
        if line.shown and np.isfinite(half):
            yield score - half
            yield score + half
        else:
            yield score


def _draw_line(
    canvas: SvgCanvas, line: ScoreLine, place: int, xs: Sequence[float], y: ChartScale
) -> None:
    """A theory's scores with their intervals; its last mark leads to its page."""
    css = f"s{place % 5 + 1}"
    points = [(px, y(score)) for px, (_, score, _) in zip(xs, line.points, strict=True)]
    canvas.path(points, f"line {css}")
    for (px, py), (cycle, score, half) in zip(points, line.points, strict=True):
        words = f"{line.tag} {line.name}, cycle {cycle}: {number(round(score, 4))}"
        if np.isfinite(half):
            canvas.line(px, y(score - half), px, y(score + half), f"whisker {css}")
            words += f", 95% interval {number(round(score - half, 4))} to {number(round(score + half, 4))}"
        link = line.link if cycle == line.points[-1][0] else ""
        canvas.mark(px, py, SHAPES[place % 4], css, words, link)


def _draw_tags(
    canvas: SvgCanvas, colours: Sequence[ScoreLine], last_cycle: int, at: float, y: ChartScale
) -> None:
    """Tags at the right end, moved apart where they would lie over each other."""
    last_place = -np.inf
    for line in sorted(colours, key=lambda item: -item.points[-1][1]):
        if line.points[-1][0] != last_cycle:
            continue
        last_place = max(y(line.points[-1][1]), last_place + 14)
        text = Markup('<text x="{:.1f}" y="{:.1f}" class="tag s{}">{}</text>').format(
            at, last_place + 4, colours.index(line) % 5 + 1, line.tag
        )
        canvas.parts.append(linked(text, line.link, f"{line.tag} {line.name}"))


# --- map, intervals, predictions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MapPlace:
    """A theory on the map."""

    tag: str
    name: str
    link: str
    x: float
    y: float
    series: int
    """0 leader, 1 first rivals, 2 others."""


def chart_map(places: Sequence[MapPlace], width: int) -> Markup:
    """Theories as points: the nearer, the more alike their people choose."""
    left, right, top = 62, width - 16, 12
    xs, ys = spread([item.x for item in places], 0.12), spread([item.y for item in places], 0.12)
    # One unit is as long across as it is upwards: distances on the map mean something.
    unit = max((xs[1] - xs[0]) / (right - left), (ys[1] - ys[0]) / 400)
    height = min(max((ys[1] - ys[0]) / unit, 150), 400)
    bottom = top + height
    x_middle, y_middle = sum(xs) / 2, sum(ys) / 2
    x = ChartScale(
        x_middle - unit * (right - left) / 2, x_middle + unit * (right - left) / 2, left, right
    )
    y = ChartScale(y_middle - unit * height / 2, y_middle + unit * height / 2, bottom, top)
    canvas = SvgCanvas("Map of the theories by what their people choose", width, bottom + 42)
    upwards(canvas, y, left, right, "the same, at right angles", 4)
    across(canvas, x, top, bottom, "difference of choice proportions", 6 if width == WIDE else 4)
    used: list[tuple[float, float]] = []
    for item in sorted(places, key=lambda place: -place.series):
        px, py = x(item.x), y(item.y)
        canvas.mark(px, py, ("square", "triangle", "diamond")[item.series], f"s{item.series + 1}",
                    f"{item.tag} {item.name}", item.link, 6 if item.series == 0 else 4.5)  # fmt: skip
    for item in sorted(places, key=lambda place: place.series):
        spot = (x(item.x) + 9, y(item.y) - 5)
        if not any(abs(spot[0] - ux) < 26 and abs(spot[1] - uy) < 12 for ux, uy in used):
            used.append(spot)
            canvas.text(*spot, item.tag, "small")
    return canvas.svg()


def chart_interval(
    value: float, low: float, high: float, width: int, unit: str, names: tuple[str, str]
) -> Markup:
    """A difference with its interval on an axis that shows zero; ``names`` of who is ahead to the left and right."""
    left, right = 20, width - 20
    canvas = SvgCanvas(
        f"{number(value)} {unit}, 95% interval {number(low)} to {number(high)}", width, 112
    )
    x = ChartScale(*spread([0.0, low, high, value], 0.18), left, right)
    across(canvas, x, 26, 70, unit, 6 if width == WIDE else 4)
    canvas.line(x(0), 20, x(0), 70, "zero")
    for place, text, anchor in (
        (x(0) - 6, f"← {names[0]}", "end"),
        (x(0) + 6, f"{names[1]} →", "start"),
    ):
        room = (place - left if anchor == "end" else right - place) / 6.2
        if room > 9:
            canvas.text(
                place,
                14,
                text if len(text) <= room else text[: int(room) - 1] + "…",
                "small",
                anchor,
            )
    canvas.line(x(low), 48, x(high), 48, "range")
    for end in (low, high):
        canvas.line(x(end), 41, x(end), 55, "range end")
    canvas.mark(x(value), 48, "circle", "s1", f"{number(value)} {unit}", size=6)
    return canvas.svg()


@dataclass(frozen=True)
class AnsweredTrial:
    """One trial: what people chose, and what rivals had said."""

    number: int
    random: bool
    share: float
    low: float
    high: float
    predicted: tuple[tuple[float, float, float], ...]
    """Mean, low and high end, by rival."""


def predictions(
    trials: Sequence[AnsweredTrial], rivals: Sequence[str], option: str, width: int
) -> Markup:
    """People's share on every trial between what the rivals had said, frozen before anybody was asked."""
    row = 8 + 7 * max(len(rivals), 1)
    left, right, top = 44, width - 14, 10
    bottom = top + row * len(trials)
    canvas = SvgCanvas(
        "Choices and the predictions frozen before them, by trial", width, bottom + 42
    )
    x = ChartScale(0.0, 1.0, left + 4, right - 4)
    for place in range(0, len(trials), 2):
        canvas.add(
            '<rect x="{}" y="{}" width="{}" height="{}" class="band"/>',
            left,
            top + place * row,
            right - left,
            row,
        )
    across(canvas, x, top, bottom, f"share choosing {option}", 5)
    canvas.text(
        13, (top + bottom) / 2, "trial (a star: drawn at random)", "label", "middle", turn=True
    )
    for place, trial in enumerate(trials):
        middle = top + (place + 0.5) * row
        canvas.text(
            left - 5, middle + 4, f"{trial.number}{'*' if trial.random else ''}", "tick", "end"
        )
        if np.isfinite(trial.share):
            canvas.add('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" class="people"/>',
                       x(trial.low), middle - row / 2 + 2, max(x(trial.high) - x(trial.low), 1), row - 4)  # fmt: skip
            canvas.line(
                x(trial.share), middle - row / 2 + 1, x(trial.share), middle + row / 2 - 1, "share"
            )
            words = f"trial {trial.number}: {trial.share:.0%} of people ({trial.low:.0%} to {trial.high:.0%})"
            canvas.mark(x(trial.share), middle, "circle", "ink", words)
        for series, (mean, low, high) in enumerate(trial.predicted):
            y = middle + (series - (len(rivals) - 1) / 2) * 7
            css = f"s{series % 5 + 1}"
            canvas.line(x.inside(low), y, x.inside(high), y, f"said {css}")
            canvas.mark(x.inside(mean), y, SHAPES[1:][series % 3], css,
                        f"trial {trial.number}: {rivals[series]} said {mean:.0%}", size=3.2)  # fmt: skip
    return canvas.svg()


def scatter(x_values: Array, y_values: Array, low: Array, high: Array, first: NDArray[np.bool_], option: str,
            width: int) -> Markup:  # fmt: skip
    """Predicted and observed shares; filled where the prediction came before the answers."""
    side = min(width, 430)
    left, right, top, bottom = 56, side - 12, 12, side - 56
    canvas = SvgCanvas("Choices against predictions", side, side)
    x, y = ChartScale(-0.02, 1.02, left, right), ChartScale(-0.02, 1.02, bottom, top)
    across(canvas, x, top, bottom, f"predicted share choosing {option}", 5)
    upwards(canvas, y, left, right, "observed share", 5)
    canvas.line(x(0), y(0), x(1), y(1), "zero")
    for px, py, down, up, before in zip(x_values, y_values, low, high, first, strict=True):
        if np.isfinite(py):
            canvas.line(x(px), y(down), x(px), y(up), "faint")
            words = f"predicted {px:.0%}, observed {py:.0%}"
            canvas.mark(x(px), y(py), "circle", "s1" if before else "s1 hollow", words, size=3.4)
    return canvas.svg()


@dataclass(frozen=True)
class RivalPair:
    """What a design promised for two rivals, and what came of it."""

    first: str
    second: str
    promised: float
    """The smaller of the two powers."""
    enough: bool
    value: float | None
    low: float = 0.0
    high: float = 0.0


def pairs_chart(pairs: Sequence[RivalPair], width: int) -> Markup:
    """Power that was promised, and the difference that was then found, for every pair of rivals."""
    row, top, names = 30, 34, 92
    bottom = top + row * len(pairs)
    middle = names + (width - names) * 0.36
    canvas = SvgCanvas("Power promised and difference found, by pair of rivals", width, bottom + 42)
    power = ChartScale(0.0, 1.0, names + 4, middle - 14)
    ends = [
        end for pair in pairs if pair.value is not None for end in (pair.low, pair.high, pair.value)
    ]
    found = ChartScale(*spread([0.0, *ends]), middle + 10, width - 14)
    canvas.text(names + 4, 14, "power promised", "small strong")
    canvas.text(middle + 10, 14, "difference found", "small strong")
    across(canvas, power, top - 8, bottom, "probability", 2 if width == NARROW else 4)
    across(canvas, found, top - 8, bottom, "nats per choice", 3 if width == NARROW else 5)
    canvas.line(found(0), top - 8, found(0), bottom, "zero")
    for place, pair in enumerate(pairs):
        y = top + (place + 0.5) * row
        canvas.text(0, y + 4, f"{pair.first} – {pair.second}", "tick")
        canvas.add('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="10" class="bar {}"/>', power(0), y - 5,
                   max(power(pair.promised) - power(0), 1), "" if pair.enough else "weak")  # fmt: skip
        if pair.value is None:
            canvas.text(found(0) + 6, y + 4, "not scored yet", "small")
            continue
        apart = pair.low > 0 or pair.high < 0
        canvas.line(
            found.inside(pair.low),
            y,
            found.inside(pair.high),
            y,
            "range" if apart else "range open",
        )
        words = f"{pair.first} minus {pair.second}: {number(round(pair.value, 4))} nats per choice"
        canvas.mark(found(pair.value), y, "circle", "s1" if apart else "s1 hollow", words)
    return canvas.svg()


def reliability(points: Sequence[tuple[float, float, float, float, int]], width: int) -> Markup:
    """How often candidates won that had been given a probability: probability, share, its interval, and how many."""
    side = min(width, 380)
    left, right, top, bottom = 56, side - 12, 12, side - 56
    canvas = SvgCanvas("Judges' probabilities against what people's data then said", side, side)
    x, y = ChartScale(0.0, 1.0, left, right), ChartScale(0.0, 1.0, bottom, top)
    across(canvas, x, top, bottom, "probability that the panel gave", 5)
    upwards(canvas, y, left, right, "share that the data favoured", 5)
    canvas.line(x(0), y(0), x(1), y(1), "zero")
    for given, share, low, high, n in points:
        canvas.line(x(given), y(low), x(given), y(high), "whisker s1")
        canvas.mark(
            x(given),
            y(share),
            "circle",
            "s1",
            f"{n} verdicts around {given:.2f}: {share:.0%} came true",
            size=5,
        )
    return canvas.svg()


def bars(rows: Sequence[tuple[str, float, str]], unit: str, width: int) -> Markup:
    """Amounts side by side: name, amount, words."""
    row, names = 26, 178 if width == WIDE else 118
    canvas = SvgCanvas(f"Amounts in {unit}", width, row * len(rows) + 46)
    x = ChartScale(
        0.0, max((value for _, value, _ in rows), default=1.0) * 1.02 or 1.0, names, width - 76
    )
    across(canvas, x, 4, row * len(rows) + 4, unit, 5 if width == WIDE else 3)
    for place, (name, value, words) in enumerate(rows):
        y = 4 + (place + 0.5) * row
        cut = 24 if width == WIDE else 15
        canvas.text(
            names - 8, y + 4, name if len(name) <= cut else name[: cut - 1] + "…", "tick", "end"
        )
        canvas.add('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="14" class="bar"><title>{}</title></rect>', x(0),
                   y - 7, max(x(value) - x(0), 1), f"{name}: {words}")  # fmt: skip
        canvas.text(x(value) + 6, y + 4, words, "small")
    return canvas.svg()
