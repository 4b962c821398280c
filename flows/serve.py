"""The command `lakatos collect`: serve the page on which people take part in a run's experiments."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from flows.errors import FlowError


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str = "",
    console: Console | None = None,
) -> None:
    """Serve a run's page until interrupted; the journal is not touched, so that a pass may go on meanwhile.

    Args:
        folder: Of the run.
        host: Address to listen on; ``0.0.0.0`` for all of this machine's.
        port: To listen on; 0 for one that is free.
        public_url: Under which people reach the page where it is not this machine's own, such as that of a proxy.
        console: Where the links are printed.

    Raises:
        RunMissingError: There is no run in ``folder``.
        InboxError: People answer the run in another folder.
        FlowError: The port is taken.
    """
    import uvicorn

    from experiments.participants.web.app import SERVER, create_app
    from flows.places import check_collects
    from flows.run import check_run

    check_run(folder)
    check_collects(folder)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise FlowError(
                f"cannot listen on port {port} of {host}: {error.strerror}. Give another --port or --host."
            ) from None
        own = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{listener.getsockname()[1]}"
        address = (public_url or own).rstrip("/")
        app = create_app(folder, secure=address.startswith("https://"))
        _print_links(console or Console(), address, app.state.preview_key, app.state.researcher_token)
        uvicorn.Server(uvicorn.Config(app, **SERVER)).run(sockets=[listener])


def _print_links(console: Console, address: str, preview_key: str, researcher_token: str) -> None:
    for what, link in (
        ("participants ", f"{address}/study/"),
        ("with Prolific", f"{address}/study/?{PROLIFIC}"),
        ("preview      ", f"{address}/preview/{preview_key}/"),
        ("researcher   ", f"{address}/researcher/#{researcher_token}"),
    ):
        console.print(f"{what}  {escape(link)}", soft_wrap=True, highlight=False)
    console.print("Answers go to the run's inbox; `lakatos resume` takes them from there. Stop with Ctrl-C.")


PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""What Prolific puts in place of these words is the identifier of a person, a study and a submission."""


def collect(
    run: Annotated[
        str, typer.Argument(help="Name of a run in the runs folder, or its path; the newest by default.")
    ] = "",
    runs: Annotated[Path, typer.Option("--runs", help="Folder that holds the runs.", envvar="LAKATOS_RUNS")] = Path(
        "runs"
    ),
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine's.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for one that is free.", min=0, max=65535)] = 8000,
    public_url: Annotated[str, typer.Option(help="Address under which people reach the page, if another one.")] = "",
) -> None:
    """Serve the page on which people take part, and print its links.

    In Python: `flows.serve.serve(folder, ...)`.
    """
    from flows.places import find_run

    serve(find_run(run, runs), host=host, port=port, public_url=public_url)
