"""The command `lakatos view`: the observatory in a browser."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.errors import FlowError
from lakatos.flows.operations.ports import address_of, inherited, listen
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run


def view(
    place: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8100,
    token: str = "",
    names: tuple[str, ...] = (),
    listener: int = -1,
    console: Console | None = None,
) -> None:
    """Serve the observatory until interrupted; runs are only read, so that they may go on meanwhile.

    Args:
        place: Folder of a run, or of several.
        host: Address to listen on; any but this machine's own loopback needs a token.
        port: To listen on; 0 for one that is free.
        token: Token that readers must give; none by default, which only loopback allows.
        names: Names by which the server may be addressed, beside addresses in numbers and ``localhost``.
        listener: File descriptor of a listening socket that takes the place of host and port; none when negative.
        console: Console on which the address is printed.

    Raises:
        FlowError: The address is taken, or is open to others without a token.
    """
    import uvicorn

    from lakatos.experiments.participants.web.door import SERVER, is_loopback
    from lakatos.flows.view.app import ViewAccess, create_app

    if not token and not is_loopback(host):
        raise FlowError(
            f"{host} can be reached from other machines; give --token (or LAKATOS_VIEW_TOKEN) with 16 characters or "
            "more, or listen on 127.0.0.1."
        )
    access = ViewAccess(token, frozenset(name.lower() for name in names))
    with listen(host, port, "the observatory") if listener < 0 else inherited(listener) as opened:
        address = f"{address_of(opened)}/"
        out = console or Console()
        out.print(
            f"observatory  {escape(address + (f'enter#{token}' if token else ''))}",
            soft_wrap=True,
            highlight=False,
        )
        out.print("It only reads; runs may go on meanwhile. Stop with Ctrl-C.")
        uvicorn.Server(uvicorn.Config(create_app(place, access), **SERVER)).run(sockets=[opened])


def view_command(
    run_name: Annotated[str, Argument(metavar="run")] = "",
    *,
    runs: RunsFolder = Path("runs"),
    host: str = "127.0.0.1",
    port: Annotated[int, Argument(least=0, most=65535)] = 8100,
    token: str = "",
    name: list[str] | None = None,
    listener: Annotated[int, typer.Option(hidden=True)] = -1,
) -> None:
    """Show one or all runs in a browser, live and read-only.

    In Python: `lakatos.flows.commands.view.view(folder, ...)`.

    Args:
        run_name: A run by name or path, or a folder of runs; all of the runs folder by default.
        host: Address to listen on; any but loopback needs a token.
        port: Port; 0 for a free port.
        token: Token that readers must enter, at least 16 characters; the variable LAKATOS_VIEW_TOKEN keeps it out of
            process lists.
        name: Host name under which browsers reach this server.

    Examples:
        $ lakatos view allais-1
    """
    place = runs
    if run_name:
        place = Path(run_name) if Path(run_name).is_dir() else find_run(run_name, runs)
    secret = token or os.environ.get("LAKATOS_VIEW_TOKEN", "")
    view(place, host=host, port=port, token=secret, names=tuple(name or ()), listener=listener)
