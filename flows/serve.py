"""The command `lakatos collect`: serve the page on which people take part in a run's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape


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
        port: To listen on.
        public_url: Under which people reach the page where it is not this machine's own, such as that of a proxy.
        console: Where the links are printed.
    """
    import uvicorn

    from experiments.participants.web.app import SERVER, create_app
    from flows.run import check_run

    check_run(folder)
    address = (public_url or f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}").rstrip("/")
    app = create_app(folder, secure=address.startswith("https://"))
    shown = console or Console()
    for what, link in (
        ("participants ", f"{address}/study/"),
        ("with Prolific", f"{address}/study/?{PROLIFIC}"),
        ("preview      ", f"{address}/preview/{app.state.preview_key}/"),
        ("researcher   ", f"{address}/researcher/#{app.state.researcher_token}"),
    ):
        shown.print(f"{what}  {escape(link)}", soft_wrap=True, highlight=False)
    shown.print("Answers go to the run's inbox; `lakatos resume` takes them from there. Stop with Ctrl-C.")
    uvicorn.run(app, host=host, port=port, **SERVER)


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
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8000,
    public_url: Annotated[str, typer.Option(help="Address under which people reach the page, if another one.")] = "",
) -> None:
    """Serve the page on which people take part, and print its links.

    In Python: `flows.serve.serve(folder, ...)`.
    """
    from flows.start import find_run

    serve(find_run(run, runs), host=host, port=port, public_url=public_url)
