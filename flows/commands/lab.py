"""The commands `lakatos lab ...`: the whole laboratory up, down, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.run.console import Console, escape


def up(
    studies: Path | None = None,
    *,
    runs: RunsFolder = Path("runs"),
    host: str = "127.0.0.1",
    page_host: str = "127.0.0.1",
    port: Annotated[int, Argument(least=0, most=65535)] = 4200,
    page_port: Annotated[int, Argument(least=0, most=65535)] = 8000,
    view_port: Annotated[int, Argument(least=0, most=65535)] = 8100,
    metrics_port: Annotated[int, Argument(least=0, most=65535)] = 8002,
    name: list[str] | None = None,
    public_url: str = "",
    limit: Annotated[int, Argument(least=1)] = 2,
) -> None:
    """Start everything, print where it is, and stop everything with Ctrl-C.

    In Python: `lakatos.flows.operations.lab.up(runs, ...)`.

    Args:
        studies: A folder whose study files become deployments beside what is scheduled.
        host: Address of Prefect, observatory and metrics; for the people of the laboratory.
        page_host: Address of the participant pages; 0.0.0.0 opens them alone.
        port: Of Prefect; 0 for any.
        page_port: Of the first participant page.
        view_port: Of the observatory.
        metrics_port: Of the metrics; 0 for any.
        name: A name by which the servers may be asked; may be repeated.
        public_url: Address under which people reach the page, if another one.
        limit: Passes that run at the same time.

    Examples:
        $ lakatos lab up
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


def down(*, runs: RunsFolder = Path("runs")) -> None:
    """Stop the laboratory of a folder of runs. In Python: `lakatos.flows.operations.lab.down(runs)`.

    Examples:
        $ lakatos lab down
    """
    from lakatos.flows.operations.lab import down as stop

    Console().print("the laboratory is down" if stop(runs) else "no laboratory was up")


def status(*, runs: RunsFolder = Path("runs")) -> None:
    """Say where the laboratory is; exit status 1 if none is up.

    In Python: `lakatos.flows.operations.lab.described(runs)`.

    Examples:
        $ lakatos lab status
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
