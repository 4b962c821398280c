"""A laboratory on one machine: Prefect's server with its pages, the schedules, the participant page, the observatory.

Everything is started together and ends together: each part is a process that loses its standard input, and ends, when
the supervisor ends, however that ends. The journals are the truth; what is kept under ``.lab`` can be deleted.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakatos.flows.errors import EngineError, FlowError
from lakatos.flows.operations.carry import start_process
from lakatos.flows.operations.desk import check_public
from lakatos.flows.operations.ports import address_of, listen, listen_from
from lakatos.flows.run.engine import CLIENT_SECRET, STARTUP_TIMEOUT_S
from lakatos.flows.run.prefect_server import (
    configured_server,
    lasting_environment,
    new_secret,
    start_server,
)
from lakatos.traces.artifact import write_whole
from lakatos.traces.system import FileLock, HeldLockError, ask_to_end, holder_of

LAB_FOLDER = ".lab"
LAB_FILE = "lab.json"
PAGES = "pages"
"""The part that people who take part see; it outlives every other one."""
MENDING_S = 600.0
"""A part that ended is started again, but not too often within such a time."""
_STOP_S = 15.0


@dataclass
class LabPart:
    """One process of the laboratory."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    address: str = ""
    begin_again: Callable[[], subprocess.Popen[bytes]] | None = None
    """Starts it anew, with the sockets that it had."""
    ended_at: list[float] = field(default_factory=list)
    """Times at which it ended by itself, on this process's clock."""

    def check(self) -> None:
        """Raise if it has ended.

        Raises:
            FlowError: It has; its last words are in the message.
        """
        if self.process.poll() is not None:
            raise FlowError(
                f"{self.name} ended with status {self.process.returncode}: {self.last_words}. All of it is in "
                f"{self.log}; what belongs to it was stopped too, and nothing that was recorded is lost."
            )

    def mend(self, most: int) -> bool:
        """Start it again where it has ended by itself; whether it was.

        Raises:
            FlowError: It ended more than ``most`` times within `MENDING_S`.
        """
        if self.process.poll() is None:
            return False
        now = time.monotonic()
        self.ended_at = [at for at in self.ended_at if now - at < MENDING_S]
        if self.begin_again is None or len(self.ended_at) >= most:
            self.check()
        self.ended_at.append(now)
        assert self.begin_again is not None
        self.process = self.begin_again()
        return True

    def stop(self, deadline: float) -> None:
        """Ask it to end, and end it when it does not."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.terminate()
            try:
                self.process.wait(max(deadline - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def last_words(self) -> str:
        """The end of its log."""
        with contextlib.suppress(OSError, IndexError):
            return (
                self.log.read_text(encoding="utf-8", errors="replace")
                .strip()
                .splitlines()[-1][:300]
            )
        return "it left no message"


@dataclass
class RunningLab:
    """The parts that run, in the order of their start."""

    runs: Path
    most_mended: int = 3
    """Times that a part is started again within `MENDING_S`."""
    parts: list[LabPart] = field(default_factory=list)

    def begin(
        self,
        name: str,
        words: list[str],
        listeners: Sequence[socket.socket] = (),
        environment: Mapping[str, str] | None = None,
    ) -> LabPart:
        """Start a command of the laboratory as a part, and hand it the sockets on which it listens."""
        log = self.runs / LAB_FOLDER / f"{name}.log"
        command = [sys.executable, "-m", "lakatos.flows.commands.main", *words]
        handed = [listener.fileno() for listener in listeners]

        def start() -> subprocess.Popen[bytes]:
            return start_process(command, log, handed=handed, **(environment or {}))

        part = LabPart(name, start(), log, begin_again=start)
        self.parts.append(part)
        return part

    def mend(self, say: Callable[[str], None]) -> None:
        """Start parts again that have ended by themselves.

        Raises:
            FlowError: One ends again and again; its last words are in the message.
        """
        for part in self.parts:
            words = part.last_words
            if part.mend(self.most_mended):
                say(f"{part.name} ended ({words}) and was started again")

    def stop(self, *, but: str = "") -> None:
        """End all parts, the last one first, ``but`` the one of this name."""
        deadline = time.monotonic() + _STOP_S
        for part in reversed([part for part in self.parts if part.name != but]):
            part.stop(deadline)
        self.parts = [part for part in self.parts if part.name == but]

    def is_up(self, name: str) -> bool:
        """Whether the part of this name runs."""
        return any(part.name == name and part.process.poll() is None for part in self.parts)


def own_secret(runs: Path) -> str:
    """The secret of the laboratory's own Prefect server: random, made once, readable for its owner only."""
    file = runs / LAB_FOLDER / "prefect" / "secret"
    if not file.exists():
        write_whole(file, new_secret().encode(), private=True)
    return file.read_text(encoding="utf-8")


@contextlib.contextmanager
def prefect_server(
    runs: Path,
    *,
    listener: socket.socket | None = None,
    names: Collection[str] = (),
    say: Callable[[str], None] = lambda text: None,
) -> Iterator[LabPart]:
    """A Prefect server of the laboratory's own, with its pages and a database under ``.lab``, while the context lasts.

    Args:
        runs: Folder of the runs.
        listener: Listener on which it answers; any free port of this machine alone by default.
        names: Names by which it may be addressed, beside addresses in numbers and ``localhost``.
        say: Told what happens.

    Raises:
        EngineError: Prefect is not installed, or the server does not come up.
    """
    if importlib.util.find_spec("prefect") is None:
        raise EngineError(
            "Prefect is not installed. Install it; or `lakatos wake`, from cron, carries runs on without it."
        )
    home = runs.resolve() / LAB_FOLDER / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    with listener or listen("127.0.0.1", 0, "Prefect") as opened:
        address = address_of(opened)
        environment = lasting_environment(home, address, own_secret(runs.resolve()), names)
        process = start_server(opened, home, environment, keep=True)
    part = LabPart("Prefect", process, home / "server.log", address)
    try:
        _await_server(part, say)
        yield part
    finally:
        part.stop(time.monotonic() + _STOP_S)


def _await_server(part: LabPart, say: Callable[[str], None]) -> None:
    assert part.process.stdout is not None
    begun = time.monotonic()
    say("starting Prefect's server ...")
    while not select.select([part.process.stdout], [], [], 0.2)[0]:
        if time.monotonic() - begun > STARTUP_TIMEOUT_S:
            raise EngineError(
                f"Prefect's server did not answer within {STARTUP_TIMEOUT_S:.0f} s; its log is {part.log}. "
                "`lakatos wake`, from cron, carries runs on without it."
            )
    if os.read(part.process.stdout.fileno(), 64).strip() != b"ready":
        raise EngineError(
            f"Prefect's server ended while it started: {part.last_words}. Its log is {part.log}."
        )


def reachable(address: str, timeout_s: float = 5.0) -> str:
    """The problem with a Prefect server's address (ending in ``/api``); empty if the server replies."""
    import httpx

    try:
        answer = httpx.get(f"{address.rstrip('/')}/health", timeout=timeout_s)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"{type(error).__name__}: {error}"
    return "" if answer.is_success else f"it answers with status {answer.status_code}"


def require_reachable(address: str) -> None:
    """Raise unless the configured server answers.

    Raises:
        EngineError: It does not; nothing was changed.
    """
    if problem := reachable(address):
        raise EngineError(
            f"the Prefect server {address} cannot be reached ({problem}). Start it, or unset PREFECT_API_URL for one "
            "of the laboratory's own; `lakatos wake` and `--engine none` need none. Nothing was changed."
        )


@contextlib.contextmanager
def alone(runs: Path) -> Iterator[Path]:
    """Be the only laboratory of a folder of runs; gives the folder of what it keeps.

    Raises:
        FlowError: Another process is.
    """
    folder = runs / LAB_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    try:
        lock = FileLock(folder / "lock", mode=0o600)
    except HeldLockError as error:
        raise FlowError(
            f"a laboratory is up in {runs} already (process {error or 'unknown'}); `lakatos lab down` stops it."
        ) from None
    with lock:
        yield folder
        (folder / LAB_FILE).unlink(missing_ok=True)


def running(runs: Path) -> int:
    """Process of the laboratory of a folder of runs; 0 if none is up."""
    return int(holder_of(runs / LAB_FOLDER / "lock") or 0)


def described(runs: Path) -> dict[str, Any]:
    """Addresses of the laboratory that is up; empty if none is."""
    with contextlib.suppress(OSError, ValueError):
        if running(runs):
            found: dict[str, Any] = json.loads((runs / LAB_FOLDER / LAB_FILE).read_bytes())
            return found
    return {}


def server_of(runs: Path) -> str | None:
    """Address of the Prefect server that carries a folder of runs, with ``/api``: the configured one, or its own."""
    own = described(runs).get("Prefect")
    return configured_server() or (f"{own}/api" if own else None)


def secret_of(runs: Path) -> str:
    """Credentials that the Prefect server of a folder of runs requires; empty if none."""
    own = configured_server() is None and running(runs)
    return own_secret(runs) if own else os.environ.get(CLIENT_SECRET, "")


@dataclass
class LabPorts:
    """Every socket of a laboratory, opened before any of its parts starts."""

    runs: Path
    host: str
    """Address of what is for the people of the laboratory."""
    page_host: str
    """Address of what is for participants."""
    stack: contextlib.ExitStack
    taken: dict[str, socket.socket] = field(default_factory=dict)

    def take(self, name: str, port: int) -> None:
        """Open a socket for a part of the laboratory.

        Raises:
            FlowError: The port is taken.
        """
        self.taken[name] = self.stack.enter_context(listen(self.host, port, name))

    @property
    def addresses(self) -> dict[str, str]:
        """Address of each part."""
        paths = {
            "pages": "/study/",
            "observatory": "/",
            "metrics": "/metrics",
        }
        return {
            name: address_of(listener) + paths.get(name, "")
            for name, listener in self.taken.items()
        }

    def take_pages(self, port: int) -> None:
        """Open two sockets: people's, from a port on, for the pages of all runs, and the researcher's on any port.

        Raises:
            FlowError: No port is free.
        """
        page = listen_from(self.page_host, port, "the participant pages")
        self.taken["pages"] = self.stack.enter_context(page)
        desk = listen("127.0.0.1", 0, "the researcher's pages")
        self.taken["researcher's pages"] = self.stack.enter_context(desk)


def up(
    runs: Path,
    *,
    studies: Path | None = None,
    host: str = "127.0.0.1",
    page_host: str = "127.0.0.1",
    port: int = 4200,
    page_port: int = 8000,
    view_port: int = 8100,
    metrics_port: int = 8002,
    names: Collection[str] = (),
    public_url: str = "",
    limit: int = 2,
    say: Callable[[str], None] = print,
    stopped: threading.Event | None = None,
) -> None:
    """Start the laboratory and keep it up until SIGINT, SIGTERM or `down`; then stop all of it.

    Args:
        runs: Folder of the runs.
        studies: Folder whose studies become deployments beside those that are scheduled.
        host: Address of Prefect, the observatory and metrics, which are for the people of the laboratory.
        page_host: Address of the participant pages; what is opened here opens nothing else.
        port: Port of Prefect's server and pages, if none is configured.
        page_port: Port of the participant pages, or the next free one; each run has its own address, ``/study/RUN/``.
        view_port: Port of the observatory.
        metrics_port: Port of the figures for Prometheus.
        names: Names by which the servers may be addressed, beside addresses in numbers and ``localhost``.
        public_url: Under which people reach the participant pages, if another one.
        limit: Passes that run at the same time.
        say: Told what happens.
        stopped: Set to stop, where signals cannot be had.

    Raises:
        FlowError: A port is taken, a part ended again and again, or a laboratory is up already.
        EngineError: The configured Prefect server cannot be reached, or the own one does not start.
    """
    if public_url:
        check_public(public_url)
    ending = stopped or threading.Event()
    with alone(runs) as folder, until_asked(ending), contextlib.ExitStack() as stack:
        server, lab = configured_server(), RunningLab(runs)
        ports = LabPorts(runs, host, page_host, stack)
        wanted = {"Prefect": port, "observatory": view_port, "metrics": metrics_port}
        for name, number in wanted.items():
            if name != "Prefect" or server is None:
                ports.take(name, number)
        ports.take_pages(page_port)
        addresses = ports.addresses
        part = None
        if server is None:
            own = prefect_server(runs, listener=ports.taken["Prefect"], names=names, say=say)
            part = stack.enter_context(own)
            api, secret = f"{part.address}/api", own_secret(runs)
        else:
            require_reachable(server)
            addresses = {"Prefect": server.removesuffix("/api"), **addresses}
            api, secret = server, os.environ.get(CLIENT_SECRET, "")
        stack.callback(lab.stop)
        words = [
            "serve",
            *([str(studies)] if studies else []),
            "--runs",
            str(runs),
            "--limit",
            str(limit),
        ]
        variables = {"PREFECT_API_URL": api, "LAKATOS_BY_EVENT": "0" if server is None else "1"}
        lab.begin(
            "schedules", words, environment=variables | ({CLIENT_SECRET: secret} if secret else {})
        )
        _begin_pages(lab, ports, names, public_url)
        _begin_figures(runs, ports, stack)
        told_of = {"process": os.getpid(), **addresses}
        write_whole(folder / LAB_FILE, json.dumps(told_of, indent=1).encode(), private=True)
        for name, address in addresses.items():
            say(f"{name}: {address}")
        if part is not None:
            say(f"Prefect's pages ask for what is in {folder / 'prefect' / 'secret'}")
        say("the laboratory is up; Ctrl-C or `lakatos lab down` stops all of it")
        try:
            while not ending.wait(0.5):
                lab.mend(say)
                if part is not None:
                    part.check()
        except FlowError as error:
            keep_pages(lab, error, ending, say)
            raise
    say("the laboratory is down")


def keep_pages(
    lab: RunningLab, error: FlowError, ending: threading.Event, say: Callable[[str], None]
) -> None:
    """Keep the participant pages up when another part is beyond mending, until somebody stops the laboratory."""
    if not lab.is_up(PAGES):
        return
    lab.stop(but=PAGES)
    say(f"{error} People can still take part: the pages stay up until the laboratory is stopped.")
    while not ending.wait(0.5) and lab.is_up(PAGES):
        pass


def _begin_pages(lab: RunningLab, ports: LabPorts, names: Collection[str], public_url: str) -> None:
    """Start what people of the laboratory and participants look at."""
    page, desk = ports.taken["pages"], ports.taken["researcher's pages"]
    words = ["collect", "--all", "--runs", str(lab.runs)]
    words += ["--listeners", str(page.fileno()), str(desk.fileno()), "--public-url", public_url]
    lab.begin(PAGES, words, [page, desk])
    view = ports.taken["observatory"]
    named = [word for name in names for word in ("--name", name)]
    where = ["--host", ports.host, "--listener", str(view.fileno()), *named]
    lab.begin("observatory", ["view", "--runs", str(lab.runs), *where], [view])


def _begin_figures(runs: Path, ports: LabPorts, stack: contextlib.ExitStack) -> None:
    from lakatos.flows.operations.metrics import serve_metrics

    stack.enter_context(serve_metrics(runs, listener=ports.taken["metrics"]))


def down(runs: Path, timeout_s: float = 60.0) -> bool:
    """Stop the laboratory of a folder of runs; False if none is up.

    Raises:
        FlowError: It does not end in time.
    """
    process = running(runs)
    if not process:
        return False
    ask_to_end(process)
    begun = time.monotonic()
    while running(runs):
        if time.monotonic() - begun > timeout_s:
            raise FlowError(
                f"the laboratory (process {process}) did not end within {timeout_s:.0f} s; end it yourself."
            )
        time.sleep(0.1)
    return True


@contextlib.contextmanager
def until_asked(ending: threading.Event) -> Iterator[None]:
    """SIGINT and SIGTERM end the laboratory in order, while the context lasts."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, lambda *_: ending.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
