"""The page over all data sets of an atlas: what was found in each, how good it is, and where else it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from lakatos.flows.operations.atlas import AtlasEntry
from lakatos.flows.operations.transfer import TransferMeasured
from lakatos.flows.report.charts import IntervalRow, intervals
from lakatos.flows.report.download import both
from lakatos.flows.report.plot_style import standalone
from lakatos.flows.report.reader import clean
from lakatos.flows.report.report import REPORT_FILE, write_report
from lakatos.flows.report.svg import WIDE, Drawing
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
    facts = _facts(entries, missing)
    style = Markup((TEMPLATES / "page.css").read_text(encoding="utf-8"))
    figure = both(partial(_figure, facts["rows"])) if entries else Markup("")
    text = page.render(**facts, report=REPORT_FILE, style=style, figure=figure)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PAGE, text.encode())
    return folder / PAGE


def write_markdown(file: Path, entries: Sequence[AtlasEntry], missing: Sequence[str]) -> None:
    """Write the same as Markdown, with its figure beside it."""
    facts = _facts(entries, missing)
    figure = file.with_suffix(".svg")
    if entries:
        write_whole(figure, standalone(_figure(facts["rows"], WIDE)).encode())
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


def _figure(rows: Sequence[AtlasRow], width: int) -> Drawing:
    """Completeness of each leader and of the best published theory, with 95% intervals."""
    shown = [
        IntervalRow(
            row.entry.name, f"n = {row.entry.n_answers:,} responses", (row.own, row.textbook_own)
        )
        for row in rows
    ]
    return intervals(
        shown,
        ("named theory", "best published theory, fitted likewise"),
        "completeness (0: guessing, 1: generic learners)",
        width,
        title="Completeness of the theories of each data set",
        line_at=1.0,
    )
