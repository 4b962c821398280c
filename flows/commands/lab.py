"""The commands `lakatos lab ...`: the whole laboratory up, down, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.run.console import Console, escape


def up(
    studies: Annotated[
        Path | None,
        typer.Argument(
            help="A folder whose study files become deployments beside what is scheduled."
        ),
    ] = None,
    runs: RunsFolder = Path("runs"),
    host: Annotated[
        str,
        typer.Option(
            help="Address of Prefect, observatory and metrics; for the people of the laboratory."
        ),
    ] = "127.0.0.1",
    page_host: Annotated[
        str, typer.Option(help="Address of the participant pages; 0.0.0.0 opens them alone.")
    ] = ("127.0.0.1"),
    port: Annotated[int, typer.Option(help="Of Prefect; 0 for any.", min=0, max=65535)] = 4200,
    page_port: Annotated[
        int, typer.Option(help="Of the first participant page.", min=0, max=65535)
    ] = 8000,
    view_port: Annotated[int, typer.Option(help="Of the observatory.", min=0, max=65535)] = 8100,
    metrics_port: Annotated[
        int, typer.Option(help="Of the metrics; 0 for any.", min=0, max=65535)
    ] = 8002,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A name by which the servers may be asked; may be repeated."),
    ] = None,
    public_url: Annotated[
        str, typer.Option(help="Address under which people reach the page, if another one.")
    ] = "",
    limit: Annotated[int, typer.Option(help="Passes that run at the same time.", min=1)] = 2,
) -> None:
    """Start everything, print where it is, and stop everything with Ctrl-C.

    In Python: `lakatos.flows.operations.lab.up(runs, ...)`.
    """
    from lakatos.flows.operations.lab import up as start
    from lakatos.flows.run.logs import speaker

    start(
        runs,
        studies=studies,
        host=host,
        page_host=page_host,
        port=port,
        page_port=page_port,
        view_port=view_port,
        metrics_port=metrics_port,
        names=tuple(name or ()),
        public_url=public_url,
        limit=limit,
        say=speaker(),
    )


def down(runs: RunsFolder = Path("runs")) -> None:
    """Stop the laboratory of a folder of runs. In Python: `lakatos.flows.operations.lab.down(runs)`."""
    from lakatos.flows.operations.lab import down as stop

    Console().print("the laboratory is down" if stop(runs) else "no laboratory was up")


def status(runs: RunsFolder = Path("runs")) -> None:
    """Say where the laboratory is; exit status 1 if none is up.

    In Python: `lakatos.flows.operations.lab.described(runs)`.
    """
    from lakatos.flows.operations.lab import described

    found = described(runs)
    if not found:
        Console().print(
            f"no laboratory is up in {escape(str(runs))}; `lakatos lab up` starts one",
            soft_wrap=True,
        )
        raise typer.Exit(1)
    for name, value in found.items():
        Console().print(f"{escape(name)}: {escape(str(value))}", soft_wrap=True, highlight=False)
