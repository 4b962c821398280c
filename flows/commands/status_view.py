"""What `lakatos status` prints; nothing is loaded here that a look at a finished run does not need."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.operations.known_errors import known_errors
from lakatos.flows.run.console import Console, escape
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


def status(
    run_name: Annotated[str, Argument(metavar="run")] = "", *, runs: RunsFolder = Path("runs")
) -> None:
    """Show the progress of runs, what they wait for, and their leaderboards.

    Args:
        run_name: A run; all of them by default.

    Examples:
        $ lakatos status
    """
    show_status(run_name, runs)


def show_status(run_name: str, runs: Path) -> None:
    """Print how far runs are; of a single one also how its rivals stand.

    Args:
        run: Name or path of one run; empty for all.
        runs: Folder that holds them.
    """
    console = Console()
    if run_name:
        folder = find_run(run_name, runs)
        summary = _summary(folder)
        _show_line(console, folder, summary)
        _show_pass(console, folder)
        _show_people(console, folder, summary)
        _show_due(console, folder, summary)
        table = Table(*COLUMNS)
        for line in summary.standings:
            table.add_row(*map(escape, line))
        console.print(table)
        return
    folders = run_folders(runs)
    if not folders:
        console.print(f"no runs in {escape(str(runs))}; `lakatos demo` makes one")
    for folder in folders:
        try:
            _show_briefly(console, folder, _summary(folder))
        except known_errors() as error:
            console.print(
                f"[bold]{escape(folder.name)}[/bold]  cannot be read: {escape(str(error))}",
                soft_wrap=True,
            )


def _summary(folder: Path) -> RunSummary:
    """What is kept beside the run, or else what its whole state tells, which takes seconds to load."""
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


def _show_line(console: Console, folder: Path, summary: RunSummary) -> None:
    console.print(f"[bold]{escape(folder.name)}[/bold]  {summary.line}")
    for text in (summary.waiting, summary.verdict):
        if text:
            console.print(f"  {escape(text)}")


def _show_briefly(console: Console, folder: Path, summary: RunSummary) -> None:
    """A run in one line, cut where the screen ends; `lakatos status RUN` says the rest."""
    told = summary.waiting or summary.verdict
    text = (
        f"[bold]{escape(folder.name)}[/bold]  {summary.line}{f': {escape(told)}' if told else ''}"
    )
    console.print(text, no_wrap=True, overflow="ellipsis", crop=True)


def _show_pass(console: Console, folder: Path) -> None:
    """Print what a pass does now, or that the last one ended before it was done."""
    found, moment = look(folder), read_now(folder)
    doing = f": {escape(moment.words)}" if moment and moment.words else ""
    if is_written(folder):
        holder = note_of(folder / f"{JOURNAL_FILE}.lock")
        console.print(f"  process {holder or 'of another machine'} works on it{doing}")
    elif found.seq and found.ended is None:
        console.print(
            f"  no process works on it, and the last pass did not come to its end{doing}; "
            f"`lakatos resume {escape(str(folder))}` continues it"
        )
    elif found.n_pending:
        console.print(f"  {found.reason}; `lakatos resume {escape(str(folder))}` takes them")


def _show_people(console: Console, folder: Path, summary: RunSummary) -> None:
    """Print who has taken part, of a run whose participants respond one by one."""
    if not summary.one_by_one:
        return
    found = taking_part(folder)
    console.print(f"  participants: {found.words}")
    if summary.waiting and found.people:
        shown = ", ".join(f"{person} {status}" for person, status in found.people[:MOST_PEOPLE])
        more = len(found.people) - MOST_PEOPLE
        rest = f" and {more} more" if more > 0 else ""
        console.print(f"  {escape(shown)}{rest}; `lakatos data list` has their responses")


def _show_due(console: Console, folder: Path, summary: RunSummary) -> None:
    """Print what people are owed who are past a limit, which depends on the clock."""
    if not summary.one_by_one:
        return
    from lakatos.flows.operations.people import holdings
    from lakatos.traces.errors import InboxError

    with suppress(InboxError):  # people answer it in another folder
        for kind, people in holdings(folder).due.items():
            console.print(
                f"  {kind} of {len(people)} people are past their retention limit; `lakatos data expire`"
            )
