"""The command `lakatos collect`: serve the page on which people take part in a run's experiments."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunName, RunsFolder
from lakatos.flows.errors import check_file_place
from lakatos.flows.operations.ports import address_of, inherited, listen
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run
from lakatos.traces.wording import plural

OWN_ADDRESS = "http://127.0.0.1:8000"
"""Address at which `lakatos collect` serves the page unless another port is named."""


def serve(
    folder: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str = "",
    desk_port: int = 0,
    listeners: tuple[int, int] | None = None,
    console: Console | None = None,
) -> None:
    """Serve a run's page until interrupted; the journal is not touched, so that a pass may go on meanwhile.

    Participants get a port on which nothing else is served; preview and researcher's page have one of their own, which
    only this machine reaches.

    Args:
        folder: Folder of the run.
        host: Address to listen on for participants; ``0.0.0.0`` for all of this machine's.
        port: To listen on; 0 for one that is free.
        public_url: Under which people reach the page where it is not this machine's own, such as that of a proxy.
        desk_port: Port of the researcher's page; 0 for one that is free.
        listeners: File descriptors of two listening sockets that take the place of both ports.
        console: Console on which the links are printed.

    Raises:
        RunMissingError: There is no run in ``folder``, or its people do not take part on a page.
        InboxError: People answer the run in another folder.
        FlowError: A port is taken.
    """
    from lakatos.experiments.participants.web.app import create_app, create_desk
    from lakatos.experiments.participants.web.door import name_in
    from lakatos.flows.operations.desk import check_asks_on_page, check_public, desk_settings
    from lakatos.flows.run.places import check_collects
    from lakatos.flows.run.run import check_run

    if public_url:
        check_public(public_url)
    check_run(folder)
    check_collects(folder)
    check_asks_on_page(folder)
    with contextlib.ExitStack() as stack:
        people, desk = _two_sockets(stack, host, port, desk_port, listeners)
        address = (public_url or address_of(people)).rstrip("/")
        app = create_app(folder, names=name_in(public_url), secure=address.startswith("https://"))
        researcher = create_desk(
            folder,
            store=app.state.store,
            study=f"{address}/study/",
            settings=desk_settings(folder),
        )
        links = _links(
            address, address_of(desk), researcher.state.preview_key, researcher.state.token
        )
        _print_links(console or Console(), links)
        with _in_background(researcher, desk):
            _server(app, proxied=bool(public_url)).run(sockets=[people])


def serve_all(
    runs: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str = "",
    desk_port: int = 0,
    listeners: tuple[int, int] | None = None,
    console: Console | None = None,
) -> None:
    """Serve the pages of all runs of a folder under one address, ``/study/RUN/``, until interrupted.

    Runs that begin to ask people later are found when somebody opens their page.

    Args:
        runs: Folder of the runs.
        host: Address to listen on for participants; ``0.0.0.0`` for all of this machine's.
        port: To listen on; 0 for one that is free.
        public_url: Under which people reach the pages where it is not this machine's own.
        desk_port: Port of the researcher's pages; 0 for one that is free.
        listeners: File descriptors of two listening sockets that take the place of both ports.
        console: Console on which the links are printed.

    Raises:
        FlowError: A port is taken.
    """
    from lakatos.experiments.participants.web.door import name_in
    from lakatos.experiments.participants.web.lab import create_lab, create_lab_desk
    from lakatos.flows.operations.desk import check_public, desk_settings, page_folder, page_runs

    if public_url:
        check_public(public_url)
    with contextlib.ExitStack() as stack:
        people, desk = _two_sockets(stack, host, port, desk_port, listeners)
        address = (public_url or address_of(people)).rstrip("/")
        app = create_lab(
            lambda name: page_folder(runs, name),
            lambda: [folder.name for folder in page_runs(runs)],
            hosts=name_in(public_url),
            secure=address.startswith("https://"),
        )
        token = secrets.token_urlsafe(32)
        researcher = create_lab_desk(
            lambda name: page_folder(runs, name), desk_settings, token=token, address=address
        )
        shown = console or Console()
        for name in [*(folder.name for folder in page_runs(runs)), "RUN"]:
            links = {
                f"{name}: participants": f"{address}/study/{name}/",
                f"{name}: researcher": f"{address_of(desk)}/studies/{name}/researcher/#{token}",
            }
            for what, link in links.items():
                shown.print(f"{what}  {escape(link)}", soft_wrap=True, highlight=False)
        shown.print("RUN stands for any other run that begins to collect.")
        shown.print("Responses go to each run's inbox. Stop with Ctrl-C.")
        with _in_background(researcher, desk):
            _server(app, proxied=bool(public_url)).run(sockets=[people])


def _two_sockets(
    stack: contextlib.ExitStack,
    host: str,
    port: int,
    desk_port: int,
    listeners: tuple[int, int] | None,
) -> tuple[socket.socket, socket.socket]:
    """The sockets of participants' and researcher's pages: new ones, or those that whoever started us opened."""
    if listeners is not None:
        people, desk = (stack.enter_context(inherited(number)) for number in listeners)
        return people, desk
    people = stack.enter_context(listen(host, port, "the participant page"))
    return people, stack.enter_context(listen("127.0.0.1", desk_port, "the researcher's page"))


def _server(app: Any, *, proxied: bool = False) -> Any:
    import uvicorn

    from lakatos.experiments.participants.web.door import behind_proxy

    return uvicorn.Server(uvicorn.Config(app, **behind_proxy(proxied)))


@contextlib.contextmanager
def _in_background(app: Any, listener: socket.socket) -> Iterator[None]:
    """Serve from a thread while the context lasts."""
    server = _server(app)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name="desk", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(10)


def _links(address: str, desk: str, preview_key: str, token: str) -> dict[str, str]:
    return {
        "participants": f"{address}/study/",
        "with Prolific": f"{address}/study/?{PROLIFIC}",
        "preview": f"{desk}/preview/{preview_key}/",
        "researcher": f"{desk}/researcher/#{token}",
    }


def _print_links(console: Console, links: dict[str, str]) -> None:
    for what, link in links.items():
        console.print(f"{what:<13}  {escape(link)}", soft_wrap=True, highlight=False)
    console.print("Invitations, which the page requires by default: `lakatos invite NUMBER`.")
    console.print(
        "Responses go to the run's inbox; `lakatos resume` takes them from there. Stop with Ctrl-C."
    )


PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""Words in place of which Prolific puts the identifier of a person, a study and a submission."""


def collect(
    run_name: RunName = "",
    *,
    runs: RunsFolder = Path("runs"),
    host: str = "127.0.0.1",
    port: Annotated[int, Argument(least=0, most=65535)] = 8000,
    public_url: str = "",
    desk_port: int = 0,
    every: Annotated[bool, Argument(flag="--all")] = False,
    listeners: Annotated[tuple[int, int] | None, typer.Option(hidden=True)] = None,
) -> None:
    """Serve the page on which participants take part, and print its links.

    In Python: `lakatos.flows.commands.collect.serve(folder, ...)`.

    Args:
        host: Address on which the page of participants listens; 0.0.0.0 for all addresses of this machine.
        port: Port; 0 for a free port.
        public_url: Address at which participants reach the page, if it differs.
        desk_port: Port of the preview and the researcher's page, reachable from this machine only; 0 for a free port.
        every: Serve the pages of all runs of the folder at one address, below /study/RUN/.

    Examples:
        $ lakatos collect mine-1 --host 0.0.0.0 --public-url https://study.example.org
    """
    if every and run_name:
        raise typer.BadParameter("name a run, or give --all")
    if every:
        serve_all(
            runs,
            host=host,
            port=port,
            public_url=public_url,
            desk_port=desk_port,
            listeners=listeners,
        )
        return
    serve(
        find_run(run_name, runs),
        host=host,
        port=port,
        public_url=public_url,
        desk_port=desk_port,
        listeners=listeners,
    )


def study_address(public_url: str) -> str:
    """Return the address of a study: ``/study/`` of a server of one run, or the address of a run on one of several."""
    whole = public_url.rstrip("/")
    return f"{whole}/" if "/study/" in whole else f"{whole}/study/"


def invite(folder: Path, n_people: int, *, public_url: str = OWN_ADDRESS) -> list[str]:
    """Links to a run's page, each for one person, whichever experiment is open when it is used.

    Args:
        folder: Folder of the run.
        n_people: Links to make.
        public_url: Under which people reach the page; with ``/study/RUN`` where one server has several runs.

    Raises:
        RunMissingError: There is no run in ``folder``, or its people do not take part on a page.
        UnusableError: Nobody can take part any more.
        InboxError: People answer the run in another folder.
    """
    from lakatos.experiments.participants.web.session import INVITATION
    from lakatos.experiments.participants.web.store import SessionStore
    from lakatos.flows.operations.desk import check_admits, check_asks_on_page, check_public
    from lakatos.flows.run.places import check_collects
    from lakatos.flows.run.run import check_run

    check_public(public_url)
    check_run(folder)
    check_collects(folder)
    check_asks_on_page(folder)
    check_admits(folder)
    store = SessionStore(folder)
    try:
        return [
            f"{study_address(public_url)}?{INVITATION}={token}" for token in store.invite(n_people)
        ]
    finally:
        store.shut()


def invite_command(
    people: Annotated[int, Argument(least=1, most=100000)],
    run_name: RunName = "",
    *,
    runs: RunsFolder = Path("runs"),
    public_url: str = "",
    out: Path | None = None,
) -> None:
    """Make single-use links to a run's page, one for each participant.

    Links are printed once; only their digests are stored.
    In Python: `lakatos.flows.commands.collect.invite(folder, 30)`.

    Args:
        people: Number of links, one for each participant.
        public_url: Address at which participants reach the page; it ends with /study/RUN if one server has several
            runs. By default links lead to port 8000 of this machine, where `lakatos collect` serves the page.
        out: File to which the links are written, one per line.

    Examples:
        $ lakatos invite 30 mine-1 --out links.txt
    """
    from lakatos.traces.artifact import write_whole

    if out is not None:
        check_file_place(out, folder_exists=True)
    links = invite(find_run(run_name, runs), people, public_url=public_url or OWN_ADDRESS)
    if not public_url:
        Console(stderr=True).print(
            f"the links lead to {OWN_ADDRESS}; for another port or a public address, say --public-url.",
            soft_wrap=True,
        )
    if out is None:
        for link in links:
            Console().print(link, soft_wrap=True, highlight=False, markup=False)
    else:
        write_whole(out, "".join(f"{link}\n" for link in links).encode(), private=True)
        Console().print(f"{plural(len(links), 'link')} in {escape(str(out))}", soft_wrap=True)
