"""The command `lakatos sweep`: a portfolio of campaigns, live, resumed, and compared at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.live import Live
from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import DataFolder, RunsFolder
from lakatos.flows.errors import FlowError
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.parts import EngineName

if TYPE_CHECKING:
    from lakatos.flows.operations.sweep import CellOutcome

_COLOURS = {
    "concluded": "green",
    "failed": "red",
    "running": "cyan",
    "waiting": "yellow",
    "planned": "dim",
}


def sweep_command(
    sweep: Path,
    *,
    data: DataFolder = None,
    engine: EngineName = "prefect",
    runs: RunsFolder = Path("runs"),
    name: str = "",
    parallel: Annotated[int, Argument(least=1)] = max(1, (os.cpu_count() or 2) // 2),
    workers: Annotated[int, Argument(least=1)] = 2,
    plan: bool = False,
) -> None:
    """Run or continue all campaigns of a grid, and compare them.

    Exit status 1 if a campaign failed; the others are not hurt.
    In Python: `lakatos.flows.operations.sweep.run_sweep(folder, cells)`.

    Args:
        sweep: A study file with a table named grid; see docs/scheduling.md.
        engine: What carries the sweep; campaigns are processes.
        name: Folder of the sweep in the runs folder; the study's name by default.
        parallel: Campaigns at the same time.
        workers: Theories that run at the same time in each.
        plan: Only check the grid and list the campaigns.

    Examples:
        $ lakatos sweep grid.toml --plan
    """
    from lakatos.flows.operations.sweep import (
        CellOutcome,
        load_sweep,
        run_sweep,
        write_comparison,
        write_studies,
    )
    from lakatos.flows.run.places import check_name

    base, cells = load_sweep(sweep)
    folder, console = runs / check_name(name or base), Console()
    if plan:
        console.print(
            _table(base, [CellOutcome(cell, "planned") for cell in cells], most=len(cells))
        )
        return
    write_studies(folder, cells)
    with Live(console=console, refresh_per_second=2, transient=True) as live:
        show = (
            show_plainly(console)
            if not console.is_terminal
            else lambda found: live.update(_table(base, found))
        )
        outcomes = run_sweep(
            folder, cells, data=data, engine=engine, parallel=parallel, workers=workers, show=show
        )
    console.print(_table(base, outcomes, most=50))
    console.print(
        f"comparison: {escape(str(write_comparison(folder, base, outcomes)))}", soft_wrap=True
    )
    failed = [item for item in outcomes if item.state == "failed"]
    if failed:
        raise FlowError(
            f"{len(failed)} of {len(outcomes)} campaigns failed, the first, {failed[0].cell.name}, with: "
            f"{failed[0].text} The others are not hurt; the same command tries the failed ones again."
        )


def show_plainly(console: Console) -> Callable[[Sequence[CellOutcome]], None]:
    """A line whenever a campaign begins or ends, for logs."""
    known: dict[str, str] = {}

    def show(outcomes: Sequence[CellOutcome]) -> None:
        for item in outcomes:
            if item.state != "planned" and known.get(item.cell.name) != item.state:
                known[item.cell.name] = item.state
                console.print(
                    f"{escape(item.cell.name)}: {item.state} {escape(item.text)}", soft_wrap=True
                )

    return show


def _table(name: str, outcomes: Sequence[CellOutcome], most: int = 20) -> Table:
    """The cells that matter now: running and failed ones first, then the newest."""
    counts = {state: sum(item.state == state for item in outcomes) for state in _COLOURS}
    title = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    axes = list(outcomes[0].cell.labels)
    table = Table(*map(escape, axes), "state", "what it says", title=escape(f"{name}: {title}"))
    order = ["running", "failed", "waiting", "concluded", "planned"]
    for item in sorted(outcomes, key=lambda item: order.index(item.state))[:most]:
        colour = _COLOURS[item.state]
        cells = [escape(item.cell.labels[axis]) for axis in axes]
        table.add_row(*cells, f"[{colour}]{item.state}[/{colour}]", escape(item.text[:120]))
    if len(outcomes) > most:
        table.caption = f"and {len(outcomes) - most} more"
    return table
