"""`lakatos status`: how far runs are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.commands.status_view import show_status


def status_command(
    run_name: Annotated[
        str, typer.Argument(metavar="run", help="A run; all of them by default.")
    ] = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """How far runs are, whom they wait for, and how their rivals stand."""
    show_status(run_name, runs)
