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
    """Start all servers of the laboratory, print their addresses, and stop them with Ctrl-C.

    In Python: `lakatos.flows.operations.lab.up(runs, ...)`.

    Args:
        studies: Folder of study files that become deployments, in addition to scheduled studies.
        host: Address of Prefect, observatory and metrics, for members of the laboratory.
        page_host: Address of the participant pages; 0.0.0.0 makes only these reachable from outside.
        port: Port of Prefect; 0 for a free port.
        page_port: Port of the first participant page.
        view_port: Port of the observatory.
        metrics_port: Port of the metrics; 0 for a free port.
        name: Host name under which the servers are reached.
        public_url: Address at which participants reach the page, if it differs.
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
    """Print the addresses of the running laboratory; exit status 1 if none is running.

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
