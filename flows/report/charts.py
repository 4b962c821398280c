"""The charts of pages, each a function of plain numbers, names and links; `lakatos.flows.report.figures` fills them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lakatos.experiments.curve import DomainCurve
from lakatos.experiments.interval import interval_of_squares
from lakatos.flows.report.svg import (
    SHAPES,
    WIDE,
    ChartScale,
    Drawing,
    SvgCanvas,
    across,
    cut,
    linked,
    number,
    spread,
    upwards,
)
from lakatos.judges.calibration import CalibrationBin
from lakatos.traces.wording import plural

Array = NDArray[np.float64]
CHARACTER, WIDE_CHARACTER = 6.2, 7.2
"""Width of a character of small text, and of one that must fit, CSS pixels."""
SCORE = "nats per choice (higher is better)"


def series_class(place: int) -> str:
    """The class that gives a series its colour."""
    return f"s{place % 5 + 1}"


def series_shape(place: int) -> str:
    """The mark of a series of lines."""
    return SHAPES[place % 4]


# --- lines over cycles or epochs ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChartPoint:
    """A value of a line with its 95% interval, whose ends are not finite where it is unknown."""

    x: int
    value: float
    low: float
    high: float

    @property
    def has_interval(self) -> bool:
        """Whether the interval is known."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))


@dataclass(frozen=True)
class ChartLine:
    """Course of a quantity over the cycles or the epochs of judges."""

    name: str
    tag: str
    link: str
    points: tuple[ChartPoint, ...]
    shown: bool = True
    """Whether in a colour of its own."""


def history(
    lines: Sequence[ChartLine],
    ceilings: Mapping[int, float],
    width: int,
    title: str = "Scores of the theories at the end of every cycle",
    labels: tuple[str, str] = ("cycle", SCORE),
) -> Drawing:
    """Lines with intervals, and the noise ceiling where there is one."""
    cycles = sorted({point.x for line in lines for point in line.points})
    values = [value for line in lines for value in _drawn_values(line)]
    left, right, top, bottom = 62.0, width - 46.0, 14.0, 276.0
    canvas = SvgCanvas(title, width, 330.0)

    # Axes; of many cycles only some have their number.
    y = ChartScale(*spread([*values, *ceilings.values()]), bottom, top)
    x = ChartScale(cycles[0] - 0.5, cycles[-1] + 0.5, left, right)
    upwards(canvas, y, left, right, labels[1])
    most_labels = 16 if width == WIDE else 8
    step = max(1, -(-len(cycles) // most_labels))
    for cycle in cycles[::step]:
        canvas.text(x(cycle), bottom + 18, str(cycle), "tick", "middle")
    canvas.text((left + right) / 2, bottom + 38, labels[0], "label", "middle")
    if ceilings:
        _draw_ceiling(canvas, ceilings, x, y)
    _note_lines(canvas, lines, ceilings, labels[0])

    # Lines that nobody can tell apart have no marks: hundreds of them would only make the page slow.
    for line in lines:
        if not line.shown:
            places = [(x(point.x), y(point.value)) for point in line.points]
            canvas.path(places, "line other")

    # The others stand beside one another in each cycle, so that their intervals can be seen.
    colours = [line for line in lines if line.shown]
    apart = min(7.0, 0.5 * (right - left) / len(cycles) / max(len(colours), 1))
    for place, line in enumerate(colours):
        offset = (place - (len(colours) - 1) / 2) * apart
        xs = [x(point.x) + offset for point in line.points]
        _draw_line(canvas, line, place, xs, y, labels[0])
    _draw_tags(canvas, colours, cycles[-1], right + 6, y)
    return canvas.drawing()


def _note_lines(
    canvas: SvgCanvas, lines: Sequence[ChartLine], ceilings: Mapping[int, float], when: str
) -> None:
    """The numbers of a history: all lines, then the noise ceiling."""
    for line in lines:
        name = f"{line.tag} {line.name}".strip()
        for point in line.points:
            canvas.note(
                series=name,
                **{when.replace(" ", "_"): point.x},
                value=point.value,
                low=point.low,
                high=point.high,
            )
    for cycle, value in sorted(ceilings.items()):
        canvas.note(series="group benchmark", **{when.replace(" ", "_"): cycle}, value=value)


def _drawn_values(line: ChartLine) -> Iterator[float]:
    """Values of a line, and the ends of their intervals where these are drawn."""
    for point in line.points:
        if line.shown and point.has_interval:
            yield point.low
            yield point.high
        else:
            yield point.value


def _draw_ceiling(
    canvas: SvgCanvas, ceilings: Mapping[int, float], x: ChartScale, y: ChartScale
) -> None:
    """The noise ceiling from edge to edge."""
    known = [(x(cycle), y(value)) for cycle, value in sorted(ceilings.items())]
    first, last = known[0][1], known[-1][1]
    canvas.path([(x.start, first), *known, (x.end, last)], "ceiling")
    canvas.text(x.end, last - 5, "group benchmark", "small", "end")


def _draw_line(
    canvas: SvgCanvas, line: ChartLine, place: int, xs: Sequence[float], y: ChartScale, when: str
) -> None:
    """A line's points with their intervals; its last mark leads to its page."""
    css = series_class(place)
    ys = [y(point.value) for point in line.points]
    canvas.path(list(zip(xs, ys, strict=True)), f"line {css}")
    for px, py, point in zip(xs, ys, line.points, strict=True):
        name = f"{line.tag} {line.name}".strip()
        words = f"{name}, {when} {point.x}: {number(round(point.value, 4))}"
        if point.has_interval:
            canvas.line(px, y(point.low), px, y(point.high), f"whisker {css}")
            low, high = (number(round(end, 4)) for end in (point.low, point.high))
            words += f", 95% interval {low} to {high}"
        link = line.link if point is line.points[-1] else ""
        canvas.mark(px, py, series_shape(place), css, words, link)


def _draw_tags(
    canvas: SvgCanvas, colours: Sequence[ChartLine], last_cycle: int, at: float, y: ChartScale
) -> None:
    """Tags at the right end, moved apart where they would lie over each other."""
    last_place = -np.inf
    for line in sorted(colours, key=lambda item: -item.points[-1].value):
        last = line.points[-1]
        if last.x != last_cycle:
            continue
        last_place = max(y(last.value), last_place + 14)
        css = series_class(colours.index(line))
        element = Markup('<text x="{:.1f}" y="{:.1f}" class="tag {}">{}</text>')
        text = element.format(at, last_place + 4, css, line.tag)
        canvas.parts.append(linked(text, line.link, f"{line.tag} {line.name}"))


# --- map and intervals ----------------------------------------------------------------------------------------------


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


MAP_SHAPES = ("square", "triangle", "diamond")
"""Marks of leader, first rivals and others."""
TALLEST_MAP, LOWEST_MAP = 400.0, 150.0


def chart_map(places: Sequence[MapPlace], width: int) -> Drawing:
    """Theories as points: the nearer, the more similar their predicted choice proportions."""
    left, right, top = 62, width - 16, 12
    x, y = _map_scales(places, left, right, top)
    bottom = y.start
    canvas = SvgCanvas("Map of the theories by predicted choice proportions", width, bottom + 42)
    upwards(canvas, y, left, right, "dimension 2 (same unit)", 4)
    across(
        canvas,
        x,
        top,
        bottom,
        "dimension 1: difference of choice proportions",
        6 if width == WIDE else 4,
    )

    # The leader's mark lies over all others.
    for item in sorted(places, key=lambda place: -place.series):
        shape, css = MAP_SHAPES[item.series], series_class(item.series)
        size = 6 if item.series == 0 else 4.5
        words = f"{item.tag} {item.name}"
        canvas.mark(x(item.x), y(item.y), shape, css, words, item.link, size)
        kind = ("leading theory", "initial theory", "found in the campaign")[item.series]
        canvas.note(theory=words, kind=kind, x=item.x, y=item.y)

    # Tags that would lie over another one are left out; pointing at a mark tells them.
    used: list[tuple[float, float]] = []
    for item in sorted(places, key=lambda place: place.series):
        at_x, at_y = x(item.x) + 9, y(item.y) - 5
        if not any(abs(at_x - ux) < 26 and abs(at_y - uy) < 12 for ux, uy in used):
            used.append((at_x, at_y))
            canvas.text(at_x, at_y, item.tag, "small")
    return canvas.drawing()


def _map_scales(
    places: Sequence[MapPlace], left: float, right: float, top: float
) -> tuple[ChartScale, ChartScale]:
    """Scales of a map: one unit is as long across as it is upwards, so that distances mean something."""
    x_low, x_high = spread([item.x for item in places], 0.12)
    y_low, y_high = spread([item.y for item in places], 0.12)
    unit = max((x_high - x_low) / (right - left), (y_high - y_low) / TALLEST_MAP)
    height = min(max((y_high - y_low) / unit, LOWEST_MAP), TALLEST_MAP)
    x_middle, x_half = (x_low + x_high) / 2, unit * (right - left) / 2
    y_middle, y_half = (y_low + y_high) / 2, unit * height / 2
    x = ChartScale(x_middle - x_half, x_middle + x_half, left, right)
    y = ChartScale(y_middle - y_half, y_middle + y_half, top + height, top)
    return x, y


def chart_interval(
    value: float, low: float, high: float, width: int, unit: str, names: tuple[str, str]
) -> Drawing:
    """A difference with its interval on an axis that shows zero; ``names`` of who is ahead to the left and right."""
    left, right = 20, width - 20
    title = f"{number(value)} {unit}, 95% interval {number(low)} to {number(high)}"
    canvas = SvgCanvas(title, width, 128)
    x = ChartScale(*spread([0.0, low, high, value], 0.18), left, right)
    zero = x(0)
    across(canvas, x, 42, 86, unit, 6 if width == WIDE else 4)
    canvas.line(zero, 36, zero, 86, "zero")
    # A line of its own for each side, so that neither name is cut where zero is near an edge.
    canvas.text(*_beside(zero, left, right, f"← {names[0]}", 12, leftwards=True))
    canvas.text(*_beside(zero, left, right, f"{names[1]} →", 28, leftwards=False))
    canvas.line(x(low), 64, x(high), 64, "range")
    for end in (low, high):
        canvas.line(x(end), 57, x(end), 71, "range end")
    canvas.mark(x(value), 64, "circle", "s1", f"{number(value)} {unit}", size=6)
    canvas.note(unit=unit, difference=value, low=low, high=high)
    return canvas.drawing()


def _beside(
    at: float, left: float, right: float, text: str, y: float, *, leftwards: bool
) -> tuple[float, float, str, str, str]:
    """Place a text on one side of a line: beside it if there is room, else at the edge of the drawing."""
    length = len(text) * CHARACTER
    if leftwards:
        whole = at - 6 - length >= left
        return (at - 6, y, text, "small", "end") if whole else (left, y, text, "small", "start")
    whole = at + 6 + length <= right
    return (at + 6, y, text, "small", "start") if whole else (right, y, text, "small", "end")


# --- predictions and answers ----------------------------------------------------------------------------------------


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


LINE = 7
"""Height of a rival's line, CSS pixels."""


def predictions(
    trials: Sequence[AnsweredTrial], rivals: Sequence[str], option: str, width: int, of: str = ""
) -> Drawing:
    """Observed proportions of each trial beside the predictions of the rivals, which were frozen before."""
    row = 8 + LINE * max(len(rivals), 1)
    left, right, top = 44, width - 14, 10
    bottom = top + row * len(trials)
    title = "Observed choices and frozen predictions by trial"
    canvas = SvgCanvas(title, width, bottom + 42)
    x = ChartScale(0.0, 1.0, left + 4, right - 4)
    for place in range(0, len(trials), 2):
        canvas.box(left, top + place * row, right - left, row, "band")
    across(canvas, x, top, bottom, f"proportion choosing {option}{of}", 5)
    label = "trial (* drawn at random)"
    canvas.text(13, (top + bottom) / 2, label, "label", "middle", turn=True)
    for place, trial in enumerate(trials):
        middle = top + (place + 0.5) * row
        name = f"{trial.number}{'*' if trial.random else ''}"
        canvas.text(left - 5, middle + 4, name, "tick", "end")
        if np.isfinite(trial.share):
            _draw_people(canvas, trial, x, middle, row)
        _draw_said(canvas, trial, rivals, x, middle)
    return canvas.drawing()


def _draw_people(
    canvas: SvgCanvas, trial: AnsweredTrial, x: ChartScale, middle: float, row: float
) -> None:
    """Draw people's choices with their interval."""
    top, low, share = middle - row / 2, x(trial.low), x(trial.share)
    canvas.box(low, top + 2, max(x(trial.high) - low, 1), row - 4, "people")
    canvas.line(share, top + 1, share, top + row - 1, "share")
    interval = f"{trial.low:.0%} to {trial.high:.0%}"
    words = f"trial {trial.number}: observed {trial.share:.0%} (95% interval {interval})"
    canvas.mark(share, middle, "circle", "ink", words)
    _note_trial(canvas, trial, "observed", trial.share, trial.low, trial.high)


def _note_trial(
    canvas: SvgCanvas, trial: AnsweredTrial, series: str, share: float, low: float, high: float
) -> None:
    drawn = "at random" if trial.random else "by design"
    canvas.note(
        trial=trial.number, selected=drawn, series=series, proportion=share, low=low, high=high
    )


def _draw_said(
    canvas: SvgCanvas, trial: AnsweredTrial, rivals: Sequence[str], x: ChartScale, middle: float
) -> None:
    """Draw each rival's prediction, a line each."""
    for series, (mean, low, high) in enumerate(trial.predicted):
        y = middle + (series - (len(rivals) - 1) / 2) * LINE
        css, shape = series_class(series), SHAPES[1:][series % 3]
        canvas.line(x.inside(low), y, x.inside(high), y, f"said {css}")
        words = f"trial {trial.number}: {rivals[series]} predicted {mean:.0%}"
        canvas.mark(x.inside(mean), y, shape, css, words, size=3.2)
        _note_trial(canvas, trial, rivals[series], mean, low, high)


@dataclass(frozen=True)
class PredictedShares:
    """Predicted and observed shares of trials, ``(n_trials,)`` each; an unknown interval is NaN."""

    predicted: Array
    observed: Array
    low: Array
    high: Array
    filled: NDArray[np.bool_]
    """Whether the prediction came before the answers."""


def scatter(shares: PredictedShares, option: str, width: int, unit: str = "trials") -> Drawing:
    """Predicted and observed shares; filled where the prediction came before the answers."""
    side = min(width, 430)
    n_shown = int(np.isfinite(shares.observed).sum())
    canvas, x, y = _square(
        "Observed and predicted choice proportions",
        side,
        (-0.02, 1.02),
        (f"predicted proportion choosing {option}", f"observed proportion (n = {n_shown} {unit})"),
    )
    rows = zip(
        shares.predicted, shares.observed, shares.low, shares.high, shares.filled, strict=True
    )
    for predicted, observed, low, high, filled in rows:
        if not np.isfinite(observed):
            continue
        if np.isfinite(low):
            canvas.line(x(predicted), y(low), x(predicted), y(high), "faint")
        words = f"predicted {predicted:.0%}, observed {observed:.0%}"
        css = "s1" if filled else "s1 hollow"
        canvas.mark(x(predicted), y(observed), "circle", css, words, size=3.4)
        first = "yes" if filled else "no"
        canvas.note(
            predicted=predicted, observed=observed, low=low, high=high, predicted_before=first
        )
    return canvas.drawing()


def domain_curve(
    lines: Mapping[str, tuple[Array, Array]], curve: DomainCurve, tag: str, width: int
) -> Drawing:
    """Observed points with intervals, and predictions as lines; see `lakatos.flows.report.curves.curve_lines`."""
    if curve.is_square:
        canvas, x, y = _square(curve.title, width, (-0.02, 1.02), (curve.x, curve.y))
    else:
        left, right, top, bottom = 56, width - 12, 12, 250
        canvas = SvgCanvas(curve.title, width, bottom + 44)
        both = np.concatenate([own for pair in lines.values() for own in (pair[0][:, :2], pair[1])])
        ends = [value for observed, _ in lines.values() for value in observed[:, 2:].ravel()]
        x = ChartScale(*spread(both[:, 0]), left, right)
        y = ChartScale(*spread([*both[:, 1], *ends]), bottom, top)
        across(canvas, x, top, bottom, curve.x, 5)
        upwards(canvas, y, left, right, curve.y, 5)
    for place, (name, (observed, predicted)) in enumerate(lines.items()):
        css = series_class(place)
        known = predicted[np.isfinite(predicted).all(axis=1)]
        if len(known):
            canvas.path([(x(a), y(b)) for a, b in known], f"line {css}")
        for (mean_x, mean_y, low, high), (at, value) in zip(observed, predicted, strict=True):
            canvas.note(
                series=name, **{f"observed {curve.x}": mean_x, f"observed {curve.y}": mean_y},
                low=low, high=high, **{f"predicted {curve.x}": at, f"predicted {curve.y}": value},
            )  # fmt: skip
            if not np.isfinite(mean_y):
                continue
            if np.isfinite(low):
                canvas.line(x(mean_x), y.inside(low), x(mean_x), y.inside(high), f"whisker {css}")
            words = f"{name}: {curve.x} {mean_x:.3g}, {curve.y} {mean_y:.3g}, predicted by {tag} {value:.3g}"
            canvas.mark(x(mean_x), y(mean_y), series_shape(place), css, words)
        if len(lines) > 1:
            canvas.text(x.end - 4, y.start - 10 - 15 * place, name, f"small {css}", "end")
    return canvas.drawing()


def _square(
    title: str, side: float, ends: tuple[float, float], labels: tuple[str, str]
) -> tuple[SvgCanvas, ChartScale, ChartScale]:
    """A canvas with two alike axes and the line on which they agree."""
    left, right, top, bottom = 56, side - 12, 12, side - 56
    canvas = SvgCanvas(title, side, side)
    x, y = ChartScale(*ends, left, right), ChartScale(*ends, bottom, top)
    across(canvas, x, top, bottom, labels[0], 5)
    upwards(canvas, y, left, right, labels[1], 5)
    canvas.line(x(0), y(0), x(1), y(1), "zero")
    return canvas, x, y


@dataclass(frozen=True)
class RivalPair:
    """Promise of a design for two rivals, and its outcome."""

    first: str
    second: str
    promised: float
    """The smaller of the two powers."""
    enough: bool
    value: float | None
    low: float = 0.0
    high: float = 0.0

    @property
    def apart(self) -> bool:
        """Whether the interval of what was found leaves zero out."""
        return self.low > 0 or self.high < 0


def pairs_chart(pairs: Sequence[RivalPair], width: int) -> Drawing:
    """Power that was promised, and the difference that was then found, for every pair of rivals."""
    row, top, names = 30, 34, 92
    bottom = top + row * len(pairs)
    middle = names + (width - names) * 0.36
    title = "Planned power and observed difference by pair of theories"
    canvas = SvgCanvas(title, width, bottom + 42)

    # Two scales side by side: power on the left, what was found on the right.
    known = [pair for pair in pairs if pair.value is not None]
    ends = [end for pair in known for end in (pair.low, pair.high, pair.value or 0.0)]
    power = ChartScale(0.0, 1.0, names + 4, middle - 14)
    found = ChartScale(*spread([0.0, *ends]), middle + 10, width - 14)
    canvas.text(names + 4, 14, "planned power", "small strong")
    canvas.text(middle + 10, 14, "observed difference", "small strong")
    across(canvas, power, top - 8, bottom, "probability", 4 if width == WIDE else 2)
    across(canvas, found, top - 8, bottom, "nats per choice", 5 if width == WIDE else 3)
    canvas.line(found(0), top - 8, found(0), bottom, "zero")

    # A row for each pair.
    for place, pair in enumerate(pairs):
        y = top + (place + 0.5) * row
        canvas.text(0, y + 4, f"{pair.first} – {pair.second}", "tick")
        length = max(power(pair.promised) - power(0), 1)
        canvas.box(power(0), y - 5, length, 10, "bar" if pair.enough else "bar weak")
        known_ends = (None, None) if pair.value is None else (pair.low, pair.high)
        canvas.note(
            first=pair.first,
            second=pair.second,
            planned_power=pair.promised,
            difference=pair.value,
            low=known_ends[0],
            high=known_ends[1],
        )
        _draw_found(canvas, pair, found, y)
    return canvas.drawing()


def _draw_found(canvas: SvgCanvas, pair: RivalPair, x: ChartScale, y: float) -> None:
    """The difference between two rivals, with its interval."""
    if pair.value is None:
        canvas.text(x(0) + 6, y + 4, "not scored yet", "small")
        return
    css = "range" if pair.apart else "range open"
    canvas.line(x.inside(pair.low), y, x.inside(pair.high), y, css)
    value = number(round(pair.value, 4))
    words = f"{pair.first} minus {pair.second}: {value} nats per choice"
    canvas.mark(x(pair.value), y, "circle", "s1" if pair.apart else "s1 hollow", words)


# --- errors, judges and amounts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorLine:
    """Errors of a theory, or one that was published."""

    name: str
    seen: float | None = None
    """Error on trials that were not sealed."""
    unseen: float | None = None
    unseen_error: float = 0.0
    """Standard error of the error on sealed trials."""
    n_unseen: int | None = None
    """Sealed trials, where their number is known."""
    published: float | None = None

    @property
    def values(self) -> list[float]:
        """All that is drawn."""
        found = [self.seen, self.published]
        return [value for value in (*found, *self.unseen_interval) if value is not None]

    @property
    def unseen_interval(self) -> tuple[float, ...]:
        """Ends of the 95% interval of the error on sealed trials; none without these."""
        if self.unseen is None:
            return ()
        degrees = math.inf if self.n_unseen is None else max(self.n_unseen - 1, 1)
        return interval_of_squares(self.unseen, self.unseen_error, degrees)


def errors(lines: Sequence[ErrorLine], width: int) -> Drawing:
    """Errors side by side: hollow on trials that were not sealed, filled on sealed ones, a diamond where published."""
    wide = width == WIDE
    row, names = (26, 214) if wide else (38, 16)
    bottom = 4 + row * len(lines)
    canvas = SvgCanvas("Prediction errors of the theories", width, bottom + 42)
    values = [value for line in lines for value in line.values]
    x = ChartScale(0.0, max(values, default=1.0) * 1.06 or 1.0, names, width - 16)
    label = "mean squared error (lower is better)"
    across(canvas, x, 4, bottom, label, 6 if wide else 3)
    room = (names - 8 if wide else width - 32) / WIDE_CHARACTER
    for place, line in enumerate(lines):
        y = 4 + (place + 0.5) * row + (0 if wide else 8)
        if wide:
            canvas.text(names - 8, y + 4, cut(line.name, room), "tick", "end")
        else:
            canvas.text(names, y - 10, cut(line.name, room), "small")
        canvas.note(
            theory=line.name,
            trials_of_the_search=line.seen,
            sealed_trials=line.unseen,
            standard_error=line.unseen_error if line.unseen is not None else None,
            published=line.published,
        )
        if line.seen is not None:
            words = f"{line.name}: {number(round(line.seen, 4))} on trials that were not sealed"
            canvas.mark(x(line.seen), y, "circle", "s1 hollow", words)
        if line.unseen is not None:
            low, high = line.unseen_interval
            canvas.line(x.inside(low), y, x(high), y, "whisker s2")
            words = f"{line.name}: {number(round(line.unseen, 4))} on sealed trials"
            canvas.mark(x(line.unseen), y, "square", "s2", words)
        if line.published is not None:
            words = f"{line.name}: {number(line.published)} as published"
            canvas.mark(x(line.published), y, "diamond", "s3", words)
    return canvas.drawing()


@dataclass(frozen=True)
class IntervalRow:
    """Values of several series for one thing, such as a data set."""

    name: str
    note: str
    """A second line, such as the number of responses."""
    values: tuple[tuple[float, float, float] | None, ...]
    """Value of each series with the ends of its 95% interval; None where it is unknown."""


def intervals(
    rows: Sequence[IntervalRow],
    series: Sequence[str],
    label: str,
    width: int,
    *,
    title: str,
    line_at: float,
) -> Drawing:
    """Values with 95% intervals, row by row, with a line at a value to compare with.

    A legend names the series if there are several. In narrow drawings, the name of a row stands above it.
    """
    wide = width == WIDE
    row, names, legend = (34, 214, 18) if wide else (30 + 10 * len(series), 16, 18)
    labels = [_label_lines(item, names, width) for item in rows]
    further = 14 * max((len(lines) - 1 for lines in labels), default=0)
    row += further
    top = 12 + (legend * len(series) if len(series) > 1 else 0)
    bottom = top + row * len(rows)
    canvas = SvgCanvas(title, width, bottom + 42)
    known = [value for item in rows for found in item.values if found for value in found]
    x = ChartScale(*spread([line_at, *known]), names, width - 16)
    across(canvas, x, top, bottom, label, 6 if wide else 3)
    for upper in [top] if wide else range(top, bottom, row):  # beside names, or below each of them
        start, end = (upper, bottom) if wide else (upper + 18 + further, upper + row)
        canvas.line(x(line_at), start, x(line_at), end, "zero")
    for order, name in enumerate(series if len(series) > 1 else ()):
        canvas.mark(names + 6, 10 + legend * order, series_shape(order), series_class(order))
        canvas.text(names + 16, 14 + legend * order, name, "small")
    for place, item in enumerate(rows):
        upper = top + place * row
        middle = upper + (0.5 * row if wide else 0.5 * (row - further) + 9 + further)
        _name_row(canvas, labels[place], item.note, names, upper, middle if wide else None)
        for order, found in enumerate(item.values):
            if found is None:
                continue
            value, low, high = found
            y = middle + 10 * (order - (len(series) - 1) / 2)
            css = series_class(order)
            canvas.line(x(low), y, x(high), y, f"whisker {css}")
            words = f"{item.name}, {series[order]}: {number(round(value, 4))}"
            ends = f"95% interval {number(round(low, 4))} to {number(round(high, 4))}"
            canvas.mark(x(value), y, series_shape(order), css, f"{words}, {ends}")
            canvas.note(
                name=item.name,
                note=item.note,
                series=series[order],
                value=value,
                low=low,
                high=high,
            )
    return canvas.drawing()


def _label_lines(item: IntervalRow, names: float, width: int) -> list[str]:
    """The name of a row in lines that fit: beside the row in a wide drawing, else above it, the last beside the note.

    In a narrow drawing the last line is empty where the note has no room beside the name.
    """
    if width == WIDE:
        return wrap(item.name, int((names - 8) / WIDE_CHARACTER), max_lines=3, placeholder="…")
    room = width - names - 16
    lines = wrap(item.name, int(room / WIDE_CHARACTER), max_lines=3, placeholder="…")
    is_full = len(lines[-1]) * WIDE_CHARACTER + 8 + len(item.note) * CHARACTER > room
    return [*lines, ""] if is_full else lines


def _name_row(
    canvas: SvgCanvas,
    lines: Sequence[str],
    note: str,
    names: float,
    upper: float,
    middle: float | None,
) -> None:
    """The name of a row with its note: beside it around the height ``middle``, or above it where that is None."""
    if middle is not None:
        first = middle - 1 - 7 * (len(lines) - 1)
        for place, line in enumerate(lines):
            canvas.text(names - 8, first + 14 * place, line, "strong", "end")
        room = (names - 8) / WIDE_CHARACTER
        canvas.text(names - 8, first + 14 * len(lines), cut(note, room), "small", "end")
        return
    for place, line in enumerate(lines):
        canvas.text(names, upper + 13 + 14 * place, line, "strong")
    beside = len(lines[-1]) * WIDE_CHARACTER + 8 if lines[-1] else 0
    canvas.text(names + beside, upper + 13 + 14 * (len(lines) - 1), note, "small")


def reliability(panels: Sequence[Sequence[CalibrationBin]], width: int) -> Drawing:
    """Draw how often candidates won, by the predicted probability, with a colour for each panel of judges."""
    canvas, x, y = _square(
        "Calibration of the judges",
        min(width, 380),
        (0.0, 1.0),
        ("predicted probability", "proportion favoured by the data"),
    )
    for place, points in enumerate(panels):
        css = series_class(place)
        for point in points:
            at = x(point.probability)
            low, high = point.interval
            canvas.line(at, y(low), at, y(high), f"whisker {css}")
            n_favoured = round(point.share * point.n)
            words = f"{plural(point.n, 'prediction')} near {point.probability:.2f}; favoured by the data: {n_favoured}"
            canvas.mark(at, y(point.share), series_shape(place), css, words, size=5)
            canvas.note(
                panel=place + 1,
                probability=point.probability,
                proportion=point.share,
                low=point.interval[0],
                high=point.interval[1],
                n=point.n,
            )
    return canvas.drawing()


@dataclass(frozen=True)
class ConditionLine:
    """Means in the conditions of a study, of the data or as a theory predicts them."""

    name: str
    values: tuple[float, ...]
    ends: tuple[tuple[float, float], ...] = ()
    """Ends of the 95% interval of each value, where there is one."""


def conditions(
    names: Sequence[str],
    lines: Sequence[ConditionLine],
    people: NDArray[np.float64],
    what: str,
    width: int,
) -> Drawing:
    """Means in each condition, and behind them each participant's, joined by lines.

    Args:
        names: Names of the conditions.
        lines: Data and predictions.
        people: ``(n_participants, n_conditions)``; NaN without responses.
        what: The means are of.
        width: Width in pixels.
    """
    left, right, top, bottom = 56, width - 84, 12, 250
    canvas = SvgCanvas(f"{what} in each condition", width, bottom + 34)
    shown = [value for line in lines for value in line.values]
    y = ChartScale(*spread([*shown, *people[np.isfinite(people)].tolist()]), bottom, top)
    upwards(canvas, y, left, right, "mean of participants", 5)
    step = (right - left) / len(names)
    xs = [left + (place + 0.5) * step for place in range(len(names))]
    for x, name in zip(xs, names, strict=True):
        canvas.text(x, bottom + 16, cut(name, 14), "tick", "middle")
    for place_of_person, person in enumerate(people, start=1):
        there = np.flatnonzero(np.isfinite(person)).tolist()
        canvas.path([(xs[place], y(person[place])) for place in there], "line other")
        for place in there:
            canvas.note(
                series=f"participant {place_of_person}", condition=names[place], value=person[place]
            )
    for row, line in enumerate(lines):
        css = series_class(row)
        places = [(x, y(value)) for x, value in zip(xs, line.values, strict=True) if value == value]
        canvas.path(places, f"line {css}")
        for place, (x, name, value) in enumerate(zip(xs, names, line.values, strict=True)):
            if value != value:  # a theory that was not scored
                continue
            low, high = line.ends[place] if line.ends else (float("nan"),) * 2
            if low == low:
                canvas.line(x, y(low), x, y(high), f"whisker {css}")
            words = f"{line.name}, {name}: {number(round(value, 3))}"
            canvas.mark(x, y(value), series_shape(row), css, words)
            canvas.note(series=line.name, condition=name, value=value, low=low, high=high)
        if places:
            canvas.text(right + 6, top + 14 + 16 * row, cut(line.name, 12), f"small {css}")
    return canvas.drawing()


def bars(rows: Sequence[tuple[str, float, str]], unit: str, width: int) -> Drawing:
    """Amounts side by side: name, amount, words."""
    row, names = 26, 178 if width == WIDE else 118
    bottom = row * len(rows) + 4
    canvas = SvgCanvas(f"Amounts in {unit}", width, bottom + 42)
    largest = max((value for _, value, _ in rows), default=1.0)
    x = ChartScale(0.0, largest * 1.02 or 1.0, names, width - 76)
    across(canvas, x, 4, bottom, unit, 5 if width == WIDE else 3)
    for place, (name, value, words) in enumerate(rows):
        y = 4 + (place + 0.5) * row
        canvas.text(names - 8, y + 4, cut(name, 24 if width == WIDE else 15), "tick", "end")
        length = max(x(value) - x(0), 1)
        canvas.box(x(0), y - 7, length, 14, "bar", f"{name}: {words}")
        canvas.text(x(value) + 6, y + 4, words, "small")
        canvas.note(name=name, **{unit: value}, words=words)
    return canvas.drawing()
