"""The figures of a run, for the report and the observatory: records, drawn by `lakatos.flows.report.charts`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lakatos.experiments.record import DesignChosen, PairPower
from lakatos.flows.report import charts
from lakatos.flows.report.download import both, small
from lakatos.flows.report.reader import (
    UNREADABLE,
    ChoiceShares,
    RunReading,
    mean_ceiling,
    scattered_option,
    shortened,
)
from lakatos.flows.report.svg import NARROW
from lakatos.theories.engine.scoring.score import ScoreEstimate, is_tie
from lakatos.theories.findings.verdicts.record import FoldFinished
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
MOST_LINES: Final = 5
"""Theories with a colour of their own in the chart of the leaderboard."""
MOST_POINTS: Final = 1500
"""Points of a scatter plot; more, nobody can tell apart."""
MOST_TRIALS: Final = 40
"""Trials in the chart of an experiment: those on which the rivals differ most."""
MOST_RIVALS: Final = 4


# --- theories -------------------------------------------------------------------------------------------------------


def theory_map(reading: RunReading) -> Markup:
    """Theories as points; the nearer, the more alike their people choose."""
    if reading.state.campaign.map is None:
        return Markup("")
    found = reading.state.campaign.map.record
    places = []
    for theory, (x, y) in zip(found.theories, found.positions, strict=True):
        label = reading.label(theory)
        series = 0 if theory == reading.leader else 1 if theory in reading.state.seeds else 2
        link = reading.link(theory)
        places.append(charts.MapPlace(label.tag, label.name, link, x, y, series))
    return both(partial(charts.chart_map, places))


def theory_scatter(reading: RunReading, theory: Digest) -> Markup:
    """Predicted and observed shares on every trial; filled where the prediction was frozen before the responses."""
    shares = predicted_shares(reading, theory)
    if shares is None:
        return Markup("")
    several = (
        max(reading.trials(name).n_options for name in reading.state.experiments.collected) > 2
    )
    unit = "options of trials" if several else "trials"
    return small(charts.scatter(shares, scattered_option(reading), NARROW, unit))


def predicted_shares(reading: RunReading, theory: Digest) -> charts.PredictedShares | None:
    """Predicted and observed shares of all experiments that have scored a theory; None where none has.

    Predictions are those that were frozen before the responses, and are marked as such. Where none were, parameters
    were estimated from all responses.
    """
    parts = []
    for name in reading.state.experiments.collected:
        score = reading.state.theories.scores.get((theory, name))
        if score is None:
            continue
        try:
            trials = reading.trials(name)
        except UNREADABLE:
            continue
        predicted = np.asarray(score.record.proportions).reshape(len(trials.stimuli), -1)
        frozen = None
        if score.record.frozen is not None:
            frozen = reading.frozen_shares(name, theory, trials.stimuli.keys)
        first = np.full(len(predicted), frozen is not None)
        if frozen is not None:
            first = np.asarray(~np.isnan(frozen).any(axis=1))
            predicted = np.where(first[:, None], frozen, predicted)
        offered = trials.stimuli.available(trials.n_options)
        for option in range(-predicted.shape[1], 0):
            shares, has = ChoiceShares.of(trials, option), offered[:, option]
            whole = (predicted[:, option], shares.share, shares.low, shares.high, first)
            parts.append(tuple(column[has] for column in whole))
    if not parts:
        return None
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    n = len(columns[0])
    rows = np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(int)
    return charts.PredictedShares(*(column[rows] for column in columns))


def folds_scatter(folds: Sequence[FoldFinished], option: str) -> Markup:
    """Predicted and observed shares on trials that a fold's loop had not seen."""
    if not folds:
        return Markup("")
    predicted = np.concatenate([fold.predicted for fold in folds])
    observed = np.concatenate([fold.observed for fold in folds])
    unknown = np.full(len(predicted), np.nan)
    filled = np.ones(len(predicted), dtype=bool)
    shares = charts.PredictedShares(predicted, observed, unknown, unknown, filled)
    return small(charts.scatter(shares, option, NARROW))


def score_history(reading: RunReading) -> Markup:
    """Scores at the end of every cycle, with the noise ceiling and a legend."""
    cycles = [item.record for item in reading.state.campaign.cycles]
    if not cycles:
        return Markup("")
    points: dict[Digest, list[charts.ChartPoint]] = {}
    known = {line.theory: line.score for line in reading.board.standings}
    for record in cycles:
        for line in record.leaderboard:
            own = ScoreEstimate(line.score, line.standard_error)
            listed = known.get(line.theory, own)  # with its degrees of freedom
            if (listed.value, listed.standard_error) == (own.value, own.standard_error):
                own = listed
            ends = own.interval if own.has_interval else (own.value, own.value)
            point = charts.ChartPoint(record.cycle, line.score, *ends)
            points.setdefault(line.theory, []).append(point)
    leaders = [record.leader for record in reversed(cycles)]
    first = (reading.leader, reading.first_rival, *reading.state.seeds, *leaders)
    shown = list(dict.fromkeys(name for name in first if name in points))[:MOST_LINES]
    others = [name for name in points if name not in shown]
    lines = [
        charts.ChartLine(
            name=reading.label(name).name,
            tag=reading.label(name).tag,
            link=reading.link(name),
            points=tuple(points[name]),
            shown=name in shown,
        )
        for name in (*shown, *others)
    ]
    chart = both(partial(charts.history, lines, _ceilings(reading)))
    return chart + legend(line for line in lines if line.shown)


def _ceilings(reading: RunReading) -> dict[int, float]:
    """The noise ceiling of all answers that there were at the end of each cycle."""
    experiments, found = reading.state.experiments, {}
    for item in reading.state.campaign.cycles:
        cycle = item.record.cycle
        names = [
            name
            for name, chosen in experiments.designs.items()
            if chosen.record.cycle <= cycle and name in experiments.collected
        ]
        if (ceiling := mean_ceiling(reading, names)) is not None:
            found[cycle] = ceiling
    return found


def legend(lines: Iterable[charts.ChartLine]) -> Markup:
    """Marks and names of the lines of a chart; names lead where their lines do."""
    entry = Markup('<li class="{}"><span class="swatch {}"></span>{}</li>')
    entries = []
    for place, line in enumerate(lines):
        name = Markup("<b>{}</b> {}").format(line.tag, shortened(line.name, 60))
        if line.link:
            name = Markup('<a href="{}">{}</a>').format(line.link, name)
        css, shape = charts.series_class(place), charts.series_shape(place)
        entries.append(entry.format(css, shape, name))
    return Markup('<ul class="legend">{}</ul>').format(Markup("").join(entries))


def error_chart(
    reading: RunReading, rows: Sequence[Mapping[str, Any]], folds: Sequence[Mapping[str, Any]]
) -> Markup:
    """Errors of the leader and the published theories beside published figures."""
    if not rows:
        return Markup("")
    sealed = reading.state.experiments.sealed
    n_sealed = sealed.record.n_trials if sealed else None
    lines = [
        charts.ErrorLine(
            row["label"].short, row["open"], row["sealed"], row["sealed_error"] or 0.0, n_sealed
        )
        for row in rows
    ]
    lines += [
        charts.ErrorLine(f"folds: {item['name']}", None, item["error"], item["standard_error"])
        for item in folds
    ]
    published = reading.config.baselines.items()
    lines += [charts.ErrorLine(name, published=value) for name, value in published]
    return both(partial(charts.errors, lines))


# --- experiments ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairFound:
    """Promise of a design for a pair of rivals, and its outcome."""

    promised: PairPower
    difference: ScoreEstimate | None
    """Score of the first theory less that of the second on this experiment, by frozen predictions, nats per choice."""

    @property
    def told_apart(self) -> bool:
        """Whether the experiment alone decided between the two."""
        return self.difference is not None and not is_tie(self.difference)


def power_chart(reading: RunReading, pairs: Sequence[PairFound]) -> Markup:
    """Power promised and difference found."""
    rows = []
    for pair in pairs:
        promised, found = pair.promised, pair.difference
        known = found if found is not None and math.isfinite(found.standard_error) else None
        low, high = (0.0, 0.0)
        if known is not None:
            low, high = known.interval if known.has_interval else (known.value, known.value)
        row = charts.RivalPair(
            first=reading.label(promised.first).tag,
            second=reading.label(promised.second).tag,
            promised=min(promised.power_first, promised.power_second),
            enough=promised.separable,
            value=known.value if known is not None else None,
            low=low,
            high=high,
        )
        rows.append(row)
    return both(partial(charts.pairs_chart, rows)) if rows else Markup("")


def predictions_chart(
    reading: RunReading,
    chosen: DesignChosen,
    shares: ChoiceShares | None,
    predicted: Mapping[Digest, Array],
    option: str,
    n_people: int | None = None,
) -> tuple[Markup, int, list[Digest]]:
    """Chart, number of trials in it, and the rivals whose predictions it shows.

    Args:
        reading: The run.
        chosen: The design of the experiment.
        shares: Observed choices; None before they arrived.
        predicted: Frozen predictions of each theory, ``(3, n_trials)``.
        option: Option whose proportions are shown.
        n_people: Participants of the experiment, where they are known.
    """
    rivals = list(predicted)[:MOST_RIVALS]
    if not rivals:
        return Markup(""), 0, []
    stack = np.stack([predicted[rival] for rival in rivals])
    rows = _telling_rows(stack, shares)
    if not len(rows):
        return Markup(""), 0, rivals
    random = set() if chosen.is_exhaustive else set(reading.design(chosen).random_coverage)
    trials = []
    for row in rows:
        answered = (math.nan,) * 3
        if shares is not None:
            answered = (shares.share[row], shares.low[row], shares.high[row])
        ends = tuple((float(mean), float(low), float(high)) for mean, low, high in stack[:, :, row])
        trials.append(charts.AnsweredTrial(int(row) + 1, int(row) in random, *answered, ends))
    names = [reading.label(rival).short for rival in rivals]
    of = f" (n = {n_people} {reading.answerers})" if n_people else ""
    draw = partial(charts.predictions, trials, names, option, of=of)
    return both(draw), len(rows), rivals


def _telling_rows(stack: Array, shares: ChoiceShares | None) -> NDArray[np.intp]:
    """Trials that were answered, those on which rivals differ most, by what the first rival says."""
    rows = np.arange(stack.shape[2])
    if shares is not None:
        rows = np.flatnonzero(~np.isnan(shares.share))
    if len(rows) > MOST_TRIALS:
        apart = np.ptp(stack[:, 0, rows], axis=0)
        rows = rows[np.argsort(-apart, kind="stable")[:MOST_TRIALS]]
    return rows[np.argsort(stack[0, 0, rows], kind="stable")]


# --- judges ---------------------------------------------------------------------------------------------------------


def accuracy_chart(accuracy: Mapping[str, Mapping[int, Mapping[str, Any]]]) -> Markup:
    """Right answers on settled comparisons of judges that evolve, by epoch."""
    lines = []
    for slot, by_epoch in accuracy.items():
        points = tuple(
            charts.ChartPoint(epoch, row["right"], row["low"], row["high"])
            for epoch, row in by_epoch.items()
        )
        lines.append(charts.ChartLine(slot, "", "", points))
    if not lines:
        return Markup("")
    title = "How right judges were, by epoch"
    labels = ("judge epoch", "right on settled comparisons")
    draw = partial(charts.history, lines, {}, title=title, labels=labels)
    return both(lambda width: draw(width)) + legend(lines)
