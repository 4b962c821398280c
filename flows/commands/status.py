"""`lakatos status`: how far runs are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakatos.flows.commands.status_view import show_status


def status_command(
    run: Annotated[str, typer.Argument(help="A run; all of them by default.")] = "",
    runs: Annotated[
        Path, typer.Option("--runs", help="Folder that holds the runs.", envvar="LAKATOS_RUNS")
    ] = Path("runs"),
) -> None:
    """How far runs are, whom they wait for, and how their rivals stand."""
    show_status(run, runs)
