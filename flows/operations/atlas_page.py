"""The page over all data sets of an atlas: what was found in each, how good it is, and where else it holds."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import matplotlib as mpl
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lakatos.flows.operations.atlas import AtlasEntry
from lakatos.flows.operations.transfer import TransferMeasured
from lakatos.flows.report.plot_style import INK, MUTED, PAPER, SERIES, SETTINGS
from lakatos.flows.report.reader import clean
from lakatos.flows.report.report import REPORT_FILE, write_report
from lakatos.flows.report.templating import TEMPLATES, page_environment
from lakatos.flows.run.progress import duration
from lakatos.theories.engine.record import TheoryCompleteness
from lakatos.traces.artifact import write_whole

PAGE = "atlas.html"
GOOD = 0.9
"""Completeness from which on a theory is counted as nearly as good as generic learners."""
Interval = tuple[float, float, float]
"""A value with the ends of its 95% interval."""


@dataclass(frozen=True)
class AtlasRow:
    """A data set as the page shows it."""

    entry: AtlasEntry
    own: Interval | None
    """Completeness of the leader."""
    textbook: str
    """The best published theory, fitted likewise."""
    textbook_own: Interval | None
    ahead: Interval | None
    """Nats per choice by which the leader is ahead of it."""

    @property
    def time(self) -> str:
        """How long the campaign took."""
        return duration(self.entry.seconds)


@dataclass(frozen=True)
class TravelRow:
    """A theory on other people's answers."""

    source: str
    target: str
    name: str
    came: Interval | None
    """Completeness with the people that it came with."""
    rescaled: Interval | None
    relearned: Interval | None
    textbook: str
    ahead: Interval | None
    """Nats per choice by which the rescaled theory is ahead of the best published one, learned from those answers."""


def write_atlas(folder: Path, entries: Sequence[AtlasEntry], missing: Sequence[str]) -> Path:
    """Write the page into the atlas' folder, and the report of each run beside its journal; returns the page.

    Args:
        folder: Of the atlas, which holds its runs.
        entries: What came of the studies that have a verdict.
        missing: Names of the others.
    """
    for entry in entries:
        if not (entry.folder / REPORT_FILE).exists():
            write_report(entry.folder)
    page = page_environment(TEMPLATES).get_template("atlas.html")
    text = page.render(**_facts(entries, missing), report=REPORT_FILE)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PAGE, text.encode())
    return folder / PAGE


def write_markdown(file: Path, entries: Sequence[AtlasEntry], missing: Sequence[str]) -> None:
    """Write the same as Markdown, with its figure beside it."""
    facts = _facts(entries, missing)
    figure = file.with_suffix(".svg")
    write_whole(figure, str(facts.pop("figure")).encode())
    page = page_environment(TEMPLATES).get_template("atlas.md")
    write_whole(file, page.render(**facts, figure=figure.name).encode())


def _facts(entries: Sequence[AtlasEntry], missing: Sequence[str]) -> dict[str, Any]:
    rows = [_row(entry) for entry in entries]
    travels = [_travel_row(entry, item) for entry in entries for item in entry.travels]
    compared = [row for row in rows if row.ahead is not None]
    return {
        "rows": rows,
        "travels": travels,
        "missing": list(missing),
        "n_ahead": sum(row.entry.clearly_ahead for row in rows),
        "n_behind": sum(row.ahead is not None and row.ahead[2] < 0 for row in compared),
        "n_compared": len(compared),
        "n_good": sum(row.own is not None and row.own[0] >= GOOD for row in rows),
        "n_measured": sum(row.own is not None for row in rows),
        "good": GOOD,
        "figure": Markup(_figure(rows)) if rows else Markup(""),
        "percent": _percent,
        "nats": _nats,
        "cell": _cell,
    }


def _row(entry: AtlasEntry) -> AtlasRow:
    company = entry.company
    if company is None:
        return AtlasRow(entry, None, "", None, None)
    best = company.published[0] if company.published else None
    return AtlasRow(
        entry=entry,
        own=_completeness(company.theories[0]),
        textbook=best.name if best else "",
        textbook_own=_completeness(best) if best else None,
        ahead=_interval(company.ahead, company.ahead_error),
    )


def _travel_row(entry: AtlasEntry, measured: TransferMeasured) -> TravelRow:
    came, rescaled, relearned = (
        next((line for line in measured.of("theory") if line.way == way), None)
        for way in ("as it came", "rescaled", "relearned")
    )
    published = measured.of("published")
    behind = None if rescaled is None or rescaled.behind is None else -rescaled.behind
    return TravelRow(
        source=entry.name,
        target=measured.data,
        name=measured.name,
        came=_interval(came.completeness, came.completeness_error) if came else None,
        rescaled=_interval(rescaled.completeness, rescaled.completeness_error)
        if rescaled
        else None,
        relearned=_interval(relearned.completeness, relearned.completeness_error)
        if relearned
        else None,
        textbook=published[0].name if published else "",
        ahead=_interval(behind, rescaled.behind_error if rescaled else None),
    )


def _completeness(line: TheoryCompleteness) -> Interval | None:
    return _interval(line.completeness, line.completeness_error)


def _interval(value: float | None, error: float | None) -> Interval | None:
    if value is None or error is None:
        return None
    return value, value - 2 * error, value + 2 * error


def _percent(found: Interval | None) -> str:
    return "" if found is None else f"{found[0]:.0%} ({found[1]:.0%} to {found[2]:.0%})"


def _nats(found: Interval | None) -> str:
    return "" if found is None else f"{found[0]:+.4f} ({found[1]:+.4f} to {found[2]:+.4f})"


def _cell(text: str) -> Markup:
    """Text in a cell of a Markdown table: what would be markup there is not."""
    plain = " ".join(clean(text).split())
    return Markup(str(escape(plain)).replace("|", "\\|").replace("`", "'").replace("[", "\\["))


def _figure(rows: Sequence[AtlasRow]) -> str:
    """Completeness of each leader and of the best published theory, with 95% intervals, as SVG."""
    colors = {"figure.facecolor": PAPER, "savefig.facecolor": PAPER, "svg.hashsalt": "atlas"}
    with mpl.rc_context(cast(Any, SETTINGS | colors)):
        figure = Figure(figsize=(7.4, 0.9 + 0.42 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(1.0, color=INK, lw=0.8, ls=":")
        for place, row in enumerate(rows):
            _dot(axes, place - 0.12, row.own, SERIES[0], "o")
            _dot(axes, place + 0.16, row.textbook_own, MUTED, "s")
        axes.set_yticks(range(len(rows)), [row.entry.name for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.plot([], [], "o", color=SERIES[0], ms=4, label="named theory")
        axes.plot([], [], "s", color=MUTED, ms=4, label="best published theory, fitted likewise")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        axes.set_xlabel("completeness: guessing is 0, generic learners of the same answers are 1")
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()[text.getvalue().index("<svg") :]


def _dot(axes: Axes, place: float, found: Interval | None, color: str, marker: str) -> None:
    if found is not None:
        error = found[2] - found[0]
        axes.errorbar(found[0], place, xerr=error, fmt=marker, ms=4, color=color, lw=1.2)
