"""`lakatos status`: how far runs are."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lakatos.flows.run.known_errors import known_errors
from lakatos.flows.run.summary import RunSummary, summarise, words_of_progress


def status_command(
    run: Annotated[str, typer.Argument(help="A run; all of them by default.")] = "",
    runs: Annotated[
        Path, typer.Option("--runs", help="Folder that holds the runs.", envvar="LAKATOS_RUNS")
    ] = Path("runs"),
) -> None:
    """How far runs are, whom they wait for, and how their rivals stand."""
    from lakatos.flows.run.places import find_run
    from lakatos.traces.place import run_folders

    console = Console()
    if run:
        _show_state(console, find_run(run, runs), standings=True)
        return
    folders = run_folders(runs)
    if not folders:
        console.print(f"no runs in {escape(str(runs))}; `lakatos demo` makes one")
    for folder in folders:
        try:
            found = summarise(folder)
            if found is None:
                _show_state(console, folder, standings=False)
                continue
        except known_errors() as error:
            console.print(
                f"[bold]{escape(folder.name)}[/bold]  cannot be read: {escape(str(error))}",
                soft_wrap=True,
            )
            continue
        console.print(f"[bold]{escape(folder.name)}[/bold]  {found.line}\n  {escape(found.text)}")


def _show_state(console: Console, folder: Path, *, standings: bool) -> None:
    """Print what the whole state of a run tells, which takes seconds to load."""
    from lakatos.flows.operations.people import holdings
    from lakatos.flows.run.run import read_state
    from lakatos.flows.stages.collect import waiting_in
    from lakatos.traces.errors import InboxError

    state, trace = read_state(folder)
    with trace:
        how = words_of_progress(
            len(state.cycles),
            state.config.stop.cycles if state.config else 0,
            stopped=bool(state.cycles and state.cycles[-1].record.stop),
            n_folds=len(state.folds),
        )
        summary = RunSummary(
            "concluded" if state.concluded else how,
            len(state.collected),
            len(state.pool),
            trace.journal.head[0],
            state.concluded.record.text if state.concluded else "",
        )
        console.print(f"[bold]{escape(folder.name)}[/bold]  {summary.line}")
        if (waiting := waiting_in(state)) is not None:
            console.print(f"  {escape(waiting.text)}")
        if summary.text:
            console.print(f"  {escape(summary.text)}")
        if not standings:
            return
        due: dict[str, tuple[str, ...]] = {}
        with suppress(InboxError):  # people answer it in another folder
            due = holdings(folder).due if state.config and state.config.by_person else {}
        for kind, people in due.items():
            console.print(
                f"  {kind} of {len(people)} people are past their limit; `lakatos data expire`"
            )
        console.print(_leaderboard(state))


def _leaderboard(state: Any) -> Table:
    measured = {}
    if state.completeness is not None:
        measured = {line.theory: line for line in state.completeness.record.theories}
    table = Table("theory", "nats per choice", "completeness", "prequential", "error", "r", "")
    for line in state.board().standings[:12]:
        known = measured.get(line.theory)
        table.add_row(
            escape(state.name(line.theory)),
            f"{line.score.value:.4f} ± {2 * line.score.standard_error:.4f}",
            "" if known is None or known.completeness is None else f"{known.completeness:.2f}",
            "" if line.prequential is None else f"{line.prequential.value:.4f}",
            f"{line.error:.4f}",
            "" if line.correlation is None else f"{line.correlation:.3f}",
            "tie" if line.tied else "",
        )
    return table
