"""Text that `lakatos status` prints; nothing is loaded here that a look at a finished run does not need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.operations.known_errors import known_errors
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.next_pass import is_written, look
from lakatos.flows.run.now import read_now
from lakatos.flows.run.places import find_run
from lakatos.flows.run.summary import (
    COLUMNS,
    RunSummary,
    keep_summary,
    read_summary,
    summary_of,
)
from lakatos.flows.run.taking_part import taking_part
from lakatos.traces.files import JOURNAL_FILE
from lakatos.traces.place import run_folders
from lakatos.traces.system import note_of

MOST_PEOPLE = 12
"""Participants that are named."""


@dataclass(frozen=True, repr=False)
class RunsStatus(Result):
    """Progress of runs: of all of a folder in a line each, of a single one with its standings."""

    folders: tuple[Path, ...]
    runs: Path
    is_single: bool

    def lines(self) -> Iterator[Shown]:
        """A run after another, read while they are shown."""
        if self.is_single:
            yield from _in_full(self.folders[0])
            return
        if not self.folders:
            yield f"no runs in {escape(str(self.runs))}; `lakatos demo` makes one"
        for folder in self.folders:
            try:
                yield _briefly(folder, _summary(folder))
            except known_errors() as error:
                yield f"[bold]{escape(folder.name)}[/bold]  cannot be read: {escape(str(error))}"

    def to_json(self) -> dict[str, Any]:
        """The runs as plain values; one of several that cannot be read has an error in place of them."""
        read = _as_json if self.is_single else _or_error
        return {"runs": [read(folder) for folder in self.folders]}


def status(
    run_name: Annotated[str, Argument(metavar="run")] = "", *, runs: RunsFolder = Path("runs")
) -> RunsStatus:
    """Show the progress of runs, what they wait for, and their leaderboards.

    Args:
        run_name: A run; all of them by default.

    Examples:
        $ lakatos status
    """
    if run_name:
        return RunsStatus((find_run(run_name, runs),), runs, is_single=True)
    return RunsStatus(tuple(run_folders(runs)), runs, is_single=False)


def _or_error(folder: Path) -> dict[str, Any]:
    try:
        return _as_json(folder)
    except known_errors() as error:
        return {"run": folder.name, "error": str(error)}


def _as_json(folder: Path) -> dict[str, Any]:
    summary = _summary(folder)
    found = {item.name: getattr(summary, item.name) for item in fields(summary)}
    standings = [dict(zip(COLUMNS[:-1], line, strict=False)) for line in summary.standings]
    return {"run": folder.name} | found | {"standings": standings}


def _in_full(folder: Path) -> Iterator[Shown]:
    """Yield how far a run is, what a pass does, who takes part, and how its theories stand."""
    summary = _summary(folder)
    yield from _line(folder, summary)
    yield from _pass(folder)
    yield from _people(folder, summary)
    yield from _due(folder, summary)
    if not summary.standings:
        return
    table = Table(*COLUMNS)
    for line in summary.standings:
        table.add_row(*map(escape, line))
    yield table


def _summary(folder: Path) -> RunSummary:
    """Return the summary kept beside the run, or else that of its whole state, which takes seconds to load."""
    kept = read_summary(folder)
    if kept is not None:
        return kept
    from lakatos.flows.run.run import read_state
    from lakatos.flows.stages.asked import waiting_in

    state, trace = read_state(folder)
    with trace:
        waiting = waiting_in(state)
        found = summary_of(state, trace.journal.head, waiting.text if waiting else "")
    keep_summary(folder, found)
    return found


def _line(folder: Path, summary: RunSummary) -> Iterator[Shown]:
    yield f"[bold]{escape(folder.name)}[/bold]  {summary.line}"
    for text in (summary.waiting, summary.verdict):
        if text:
            yield f"  {escape(text)}"


def _briefly(folder: Path, summary: RunSummary) -> Table:
    """A run in one line, cut where the screen ends; `lakatos status RUN` says the rest."""
    parts = [f"[bold]{escape(folder.name)}[/bold]", summary.how]
    if summary.leader:  # first, because the end of the line may be cut
        parts[-1] += f"; leading: {escape(summary.leader)}"
    parts.append(summary.counts + (f": {escape(summary.waiting)}" if summary.waiting else ""))
    line = Table.grid()
    line.add_column(no_wrap=True, overflow="ellipsis")
    line.add_row("  ".join(parts))
    return line


def _pass(folder: Path) -> Iterator[Shown]:
    """Yield what a pass does now, or that the last one ended before it was done."""
    found, moment = look(folder), read_now(folder)
    doing = f": {escape(moment.words)}" if moment and moment.words else ""
    if is_written(folder):
        holder = note_of(folder / f"{JOURNAL_FILE}.lock")
        yield f"  process {holder or 'of another machine'} works on it{doing}"
    elif found.seq and found.ended is None:
        yield (
            f"  no process works on it, and the last pass did not come to its end{doing}; "
            f"`lakatos resume {escape(str(folder))}` continues it"
        )
    elif found.n_pending:
        yield f"  {found.reason}; `lakatos resume {escape(str(folder))}` takes them"


def _people(folder: Path, summary: RunSummary) -> Iterator[Shown]:
    """List the participants of a run whose participants respond one by one."""
    if not summary.one_by_one:
        return
    found = taking_part(folder)
    yield f"  participants: {found.words}"
    if summary.waiting and found.people:
        shown = ", ".join(f"{person} {status}" for person, status in found.people[:MOST_PEOPLE])
        more = len(found.people) - MOST_PEOPLE
        rest = f" and {more} more" if more > 0 else ""
        yield f"  {escape(shown)}{rest}; `lakatos data list` has their responses"


def _due(folder: Path, summary: RunSummary) -> Iterator[Shown]:
    """Yield what is owed to people who are past a limit, which depends on the clock."""
    if not summary.one_by_one:
        return
    from lakatos.flows.operations.people import holdings
    from lakatos.traces.errors import InboxError

    with suppress(InboxError):  # people answer it in another folder
        for kind, people in holdings(folder).due.items():
            yield f"  {kind} of {len(people)} people are past their retention limit; `lakatos data expire`"
