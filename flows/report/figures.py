"""The figures of a report: they follow the page's light or dark scheme, and their text stays text."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from lakatos.flows.report.explain import EndedEpoch
from lakatos.flows.report.reader import (
    ChoiceShares,
    RunReading,
    mean_ceiling,
    scattered_option,
    shortened,
)
from lakatos.judges.calibration import JudgeCalibration
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
MOST_ROWS = 40
"""Trials in the figure of an experiment: those on which the rivals differ most."""
MOST_SERIES = 4
"""Rivals in the figure of an experiment."""
INK, MUTED, RULE, PAPER = "#111112", "#777771", "#dddde1", "#fefefd"
SERIES = ("#0072b1", "#d55e01", "#009e72", "#cc79a6", "#e69f01")
"""Okabe and Ito's colours, which most people can tell apart; a letter off, so that they are found in the figure."""
MARKERS = ("s", "^", "D", "v", "P")
VARIABLES = {INK: "--ink", MUTED: "--muted", RULE: "--rule", PAPER: "--paper"} | {
    color: f"--s{number}" for number, color in enumerate(SERIES, start=1)
}
SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "lakatos",
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "font.size": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": RULE,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}


class ReportFigures:
    """Draws figures whose colours follow the page's light or dark scheme and whose text stays text."""

    def __init__(self) -> None:
        self.count = 0

    def draw(self, title: str, size: tuple[float, float], plot: Callable[[Figure], None]) -> Markup:
        """An ``svg`` element; ``size`` in inches."""
        self.count += 1
        buffer = io.StringIO()
        with mpl.rc_context(cast(Any, SETTINGS)), warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "Glyph .* missing from", UserWarning
            )  # the browser has its own fonts
            figure = Figure(figsize=size, layout="constrained")
            plot(figure)
            metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(buffer, format="svg", metadata=metadata)
        svg = buffer.getvalue()
        svg = svg[svg.index("<svg") :]
        for color, variable in VARIABLES.items():
            svg = svg.replace(color, f"var({variable})")
        # Names must be unique in a page that holds several figures.
        svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>f{self.count}-", svg)
        svg = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", svg, count=1)
        svg = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", svg, count=1)
        head = Markup('<svg class="plot" style="max-width:{}px" role="img" aria-label="{}"').format(
            round(size[0] * 135), title
        )
        body = svg.removeprefix("<svg").replace(">", Markup("><title>{}</title>").format(title), 1)
        return head + Markup(body)

    def map(self, reading: RunReading) -> Markup:
        """Theories as points; the nearer, the more alike their people choose."""
        if reading.state.campaign.map is None:
            return Markup("")
        found = reading.state.campaign.map.record

        def plot(figure: Figure) -> None:
            axes = figure.subplots()
            for name, (x, y) in zip(found.theories, found.positions, strict=True):
                kind = 0 if name == reading.leader else 1 if name in reading.state.seeds else 2
                axes.plot(x, y, MARKERS[kind], markersize=7 if kind == 0 else 5, color=SERIES[kind])
                axes.annotate(
                    reading.label(name).tag,
                    (x, y),
                    textcoords="offset points",
                    xytext=(5, 4),
                    fontsize=8,
                )
            axes.set_aspect("equal", adjustable="datalim")
            for kind, what in enumerate(("leader", "first rivals", "written in the campaign")):
                axes.plot([], [], MARKERS[kind], color=SERIES[kind], label=what)
            axes.set(xlabel="difference of choice proportions", ylabel="the same, at right angles")
            figure.legend(loc="outside lower center", ncols=3)

        return self.draw("Map of the theories", (5.6, 4.2), plot)

    def scatter(self, reading: RunReading, theory: Digest) -> Markup:
        """Predicted and observed shares on every trial; filled where the prediction came first."""
        sets = []
        for name in reading.state.experiments.collected:
            score = reading.state.theories.scores.get((theory, name))
            if score is not None:
                trials = reading.trials(name)
                predicted = np.asarray(score.record.proportions).reshape(len(trials.stimuli), -1)
                sets += [
                    (predicted[:, option], ChoiceShares.of(trials, option), score.record.frozen)
                    for option in range(-predicted.shape[1], 0)
                ]
        if not sets:
            return Markup("")

        def plot(figure: Figure) -> None:
            axes = _square(figure, scattered_option(reading))
            for first, what in (
                (True, f"predicted before the answers {reading.came}"),
                (False, "answers were known"),
            ):
                own = [item for item in sets if (item[2] is not None) == first]
                if not own:
                    continue
                x = np.concatenate([item[0] for item in own])
                y, low, high = (
                    np.concatenate([getattr(item[1], part) for item in own])
                    for part in ("share", "low", "high")
                )
                axes.vlines(x, low, high, color=MUTED, linewidth=0.6, alpha=0.45)
                axes.plot(
                    x,
                    y,
                    "o",
                    markersize=4,
                    color=SERIES[0],
                    markerfacecolor=SERIES[0] if first else PAPER,
                    label=what,
                )
            figure.legend(loc="outside lower center", ncols=1)

        return self.draw(
            f"Choices against predictions of {reading.label(theory).short}", (3.7, 4.1), plot
        )

    def folds(self, folds: Sequence[Any], option: str) -> Markup:
        """Predicted and observed share on trials that a fold's loop had not seen."""

        def plot(figure: Figure) -> None:
            axes = _square(figure, option)
            for number, fold in enumerate(folds):
                color, marker = SERIES[number % len(SERIES)], ("o", *MARKERS)[number % 6]
                axes.plot(
                    fold.predicted,
                    fold.observed,
                    marker,
                    color=color,
                    markersize=4,
                    label=f"fold {fold.fold + 1}",
                )
            if len(folds) <= 10:
                figure.legend(loc="outside lower center", ncols=5)

        return self.draw(
            "Choices against predictions on trials that each fold had not seen", (3.7, 4.1), plot
        )

    def history(self, reading: RunReading) -> Markup:
        """Scores at the end of every cycle, with the noise ceiling."""
        cycles = [item.record for item in reading.state.campaign.cycles]
        lines: dict[Digest, list[tuple[int, float, float]]] = {}
        for record in cycles:
            for line in record.leaderboard:
                lines.setdefault(line.theory, []).append(
                    (record.cycle, line.score, 2 * line.standard_error)
                )
        ceilings = [
            mean_ceiling(reading, [name for name, item in reading.state.experiments.designs.items()
                               if item.record.cycle <= record.cycle and name in reading.state.experiments.collected])
            for record in cycles
        ]  # fmt: skip
        shown = [name for name in (reading.leader, reading.best_seed) if name in lines]
        seeds = [name for name in reading.state.seeds if name in lines and name not in shown]

        def plot(figure: Figure) -> None:
            axes = figure.add_subplot()
            for name, points in lines.items():
                if name not in shown and name not in seeds:
                    table = np.array(points)
                    axes.plot(
                        table[:, 0],
                        table[:, 1],
                        "o-",
                        color=MUTED,
                        alpha=0.35,
                        markersize=2.5,
                        linewidth=0.8,
                    )
            for number, name in enumerate((*shown, *seeds)):
                offset = 0.05 * (number - (len(shown) + len(seeds) - 1) / 2)
                cycle, score, error = np.array(lines[name]).T
                axes.errorbar(
                    cycle + offset,
                    score,
                    yerr=np.where(np.isfinite(error), error, 0),
                    label=reading.label(name).short,
                    marker=("o", *MARKERS)[number % 6],
                    markersize=4,
                    color=SERIES[number % len(SERIES)],
                    linewidth=2.0 if name == reading.leader else 1.0,
                    elinewidth=0.9,
                )
            if any(value is not None for value in ceilings):
                heights = [np.nan if value is None else value for value in ceilings]
                axes.plot(
                    [item.cycle for item in cycles], heights, "--", color=INK, label="noise ceiling"
                )
                if len(cycles) == 1:
                    axes.axhline(heights[0], linestyle="--", color=INK)
            axes.set_xticks([item.cycle for item in cycles])
            axes.set_xlim(cycles[0].cycle - 0.5, cycles[-1].cycle + 0.5)
            axes.grid(axis="x", visible=False)
            axes.set_xlabel("cycle")
            axes.set_ylabel("nats per choice (higher is better)")
            figure.legend(loc="outside lower center", ncols=2)

        rows = (len(shown) + len(seeds) + 2) // 2
        return self.draw(
            "Scores of the theories at the end of every cycle", (4.6, 3.1 + 0.19 * rows), plot
        )

    def experiment(
        self,
        reading: RunReading,
        name: str,
        shares: ChoiceShares,
        predictions: Mapping[Digest, Array],
        option: str,
    ) -> tuple[Markup, int]:
        """People's share of the last option on every trial, between what the rivals had said."""
        rivals = list(predictions)[:MOST_SERIES]
        stack = np.stack([predictions[rival] for rival in rivals])
        rows = np.flatnonzero(~np.isnan(shares.share))
        if len(rows) > MOST_ROWS:
            spread = np.ptp(stack[:, 0, rows], axis=0)
            rows = rows[np.argsort(-spread, kind="stable")[:MOST_ROWS]]
        rows = rows[np.argsort(stack[0, 0, rows], kind="stable")]
        if not len(rows):
            return Markup(""), 0
        random = set(reading.design(reading.state.experiments.designs[name].record).random_coverage)

        def plot(figure: Figure) -> None:
            axes = figure.add_subplot()
            y = np.arange(len(rows), dtype=float)
            for place in y[::2]:
                axes.axhspan(place - 0.5, place + 0.5, color=RULE, alpha=0.4, linewidth=0)
            axes.grid(axis="y", visible=False)
            axes.hlines(
                y, shares.low[rows], shares.high[rows], color=MUTED, linewidth=6, alpha=0.35
            )
            axes.plot(
                shares.share[rows],
                y,
                "o",
                color=INK,
                markersize=5,
                label="people, with 95% interval",
            )
            for number, rival in enumerate(rivals):
                height = y + (0.5 if len(rivals) == 1 else number / (len(rivals) - 1) - 0.5) * 0.6
                mean, low, high = predictions[rival][:, rows]
                axes.hlines(height, low, high, color=SERIES[number], linewidth=0.8, alpha=0.7)
                axes.plot(
                    mean,
                    height,
                    MARKERS[number],
                    color=SERIES[number],
                    markersize=3.6,
                    label=reading.label(rival).short,
                )
            axes.set_yticks(y, [f"{row + 1}{'*' if row in random else ''}" for row in rows])
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.set_xlim(-0.02, 1.02)
            axes.set_xlabel(f"share choosing {option}")
            axes.set_ylabel("trial")
            figure.legend(loc="outside upper center", ncols=1)

        size = (4.6, 0.75 + 0.2 * (len(rivals) + 1) + 0.2 * len(rows))
        title = f"Experiment {name}: choices and the predictions frozen before them"
        return self.draw(title, size, plot), len(rows)

    def errors(
        self,
        rows: Sequence[Mapping[str, Any]],
        folds: Sequence[Mapping[str, Any]],
        baselines: Mapping[str, float],
    ) -> Markup:
        """Errors of the leader and the published theories beside published figures."""
        lines: list[tuple[str, float | None, float | None, float | None]] = [
            (row["label"].short, row["open"], row["sealed"], row["sealed_error"]) for row in rows
        ]
        lines += [
            (shortened(f"folds: {item['name']}", 34), None, item["error"],
             item["standard_error"])
            for item in folds
        ]  # fmt: skip
        height = len(lines) + len(baselines)

        def plot(figure: Figure) -> None:
            axes = figure.add_subplot()
            y = np.arange(len(lines), dtype=float)
            opened = [
                (place, item[1])
                for place, item in zip(y, lines, strict=True)
                if item[1] is not None
            ]
            if opened:
                axes.plot([v for _, v in opened], [p for p, _ in opened], "o", color=SERIES[0], markerfacecolor=PAPER,
                          label="on trials the search has seen")  # fmt: skip
            hidden = [
                (p, item[2], item[3] or 0)
                for p, item in zip(y, lines, strict=True)
                if item[2] is not None
            ]
            if hidden:
                places, values, errors = (
                    np.array(part, dtype=float) for part in zip(*hidden, strict=True)
                )
                axes.errorbar(values, places, xerr=2 * errors, fmt="s", color=SERIES[1], markersize=5,
                              label="on trials it has not seen, with 95% interval")  # fmt: skip
            names = ["\n".join(textwrap.wrap(shortened(name, 60), 30)) for name in baselines]
            if baselines:
                places = len(lines) + np.arange(len(baselines))
                axes.plot(
                    list(baselines.values()), places, "D", color=MUTED, label="published figure"
                )
            axes.set_yticks(np.arange(height), [line[0] for line in lines] + names)
            axes.set_ylim(height - 0.4, -0.6)
            axes.set_xlim(left=0)
            axes.grid(axis="y", visible=False)
            axes.set_xlabel("mean squared error (lower is better)")
            figure.legend(loc="outside upper center", ncols=1)

        return self.draw("Errors side by side", (4.6, 1.2 + 0.26 * height), plot)

    def gates(self, epochs: Sequence[EndedEpoch]) -> Markup:
        """Comparisons on which challenger and incumbent disagreed, and what was erased and judged again, by epoch."""
        tried = [(ended.number, gate) for ended in epochs for gate in ended.gates]

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2)
            place = np.arange(len(tried))
            left.bar(
                place - 0.2,
                [gate.wins for _, gate in tried],
                0.38,
                color=SERIES[0],
                label="challenger right",
            )
            left.bar(
                place + 0.2,
                [gate.losses for _, gate in tried],
                0.38,
                color=SERIES[1],
                label="incumbent right",
            )
            left.set_xticks(place, [f"{number}\n{gate.verdict}" for number, gate in tried])
            left.set_ylabel("comparisons that differ")
            left.set_xlabel("judge epoch")
            left.legend()
            place = np.arange(len(epochs))
            bars = ("records erased", "to judge again", "judged again")
            heights = [(item.n_erased, item.n_queued, item.n_rescored) for item in epochs]
            for number, (label, height) in enumerate(
                zip(bars, zip(*heights, strict=True), strict=True)
            ):
                right.bar(
                    place + 0.27 * (number - 1),
                    height,
                    0.25,
                    color=SERIES[(1, 2, 0)[number]],
                    label=label,
                )
            right.set_ylim(0, max(1, *(1.05 * value for row in heights for value in row)))
            right.yaxis.set_major_locator(MaxNLocator(integer=True))
            right.set_xticks(place, [str(item.number) for item in epochs])
            right.set_ylabel("number")
            right.set_xlabel("judge epoch")
            right.legend()

        return self.draw("Challenges to judges, and what was judged again", (7.0, 2.6), plot)

    def judges(
        self,
        accuracy: Mapping[str, Mapping[int, Mapping[str, Any]]],
        quality: Mapping[int, JudgeCalibration],
    ) -> Markup:
        """Right answers of judges by epoch, and how often came true what panels had said with each probability."""

        def plot(figure: Figure) -> None:
            left, right = figure.subplots(1, 2)
            for number, (slot, by_epoch) in enumerate(accuracy.items()):
                x = np.array(list(by_epoch), dtype=float) + 0.06 * number
                y, low, high = (
                    np.array([row[name] for row in by_epoch.values()])
                    for name in ("right", "low", "high")
                )
                left.errorbar(x, y, yerr=[y - low, high - y], marker=("o", *MARKERS)[number % 6], color=SERIES[number],
                              label=slot, markersize=4, elinewidth=0.9)  # fmt: skip
            epochs = sorted({number for by_epoch in accuracy.values() for number in by_epoch})
            left.set_xticks(epochs)
            left.axhline(0.5, color=MUTED, linewidth=0.8)
            left.set_xlabel("judge epoch")
            left.set_ylabel("right on settled comparisons")
            if accuracy:
                left.legend()
            right.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8)
            for place, (number, found) in enumerate(quality.items()):
                x, y = np.array([(item.probability, item.share) for item in found.curve]).T
                low, high = np.array([item.interval for item in found.curve]).T
                right.errorbar(x + 0.01 * place, y, yerr=[y - low, high - y], fmt=("o", *MARKERS)[place % 6],
                               color=SERIES[place % len(SERIES)], label=f"epoch {number} ({found.n})", markersize=4,
                               elinewidth=0.9)  # fmt: skip
            right.set_xlim(-0.03, 1.03)
            right.set_ylim(-0.03, 1.03)
            right.set_xlabel("probability that the panel gave")
            right.set_ylabel("share that the data favoured")
            if quality:
                right.legend()

        return self.draw("How right judges were, and how well calibrated", (7.0, 2.8), plot)


def _square(figure: Figure, option: str) -> Axes:
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8)
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_aspect("equal")
    axes.set_xlabel(f"predicted share choosing {option}")
    axes.set_ylabel("observed share")
    return axes
