"""Engine of a campaign: Prefect, or plain asyncio. Prefect is imported only on demand.

Stages are plain asynchronous functions with the decorators of `flows.run.parts`::

    @flow(name="cycle")
    async def run_cycle(run: Run, cycle: int) -> ...: ...

    @task(name="score")
    async def score(run: Run, cycle: int) -> ...: ...

    result = execute("prefect", run_cycle, run, 1, on_wait=progress.waiting)

With the engine ``none`` a decorated function is what it was. With ``prefect`` every call is a flow run or task run that
shows up in Prefect. Prefect gets a function without arguments: it never inspects, hashes or stores what a stage is
given or returns, because the trace decides what is reused and what is kept.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import importlib
import importlib.util
import logging
import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, Self, TypeVar, cast

from lakatos.flows.errors import EngineError, TerminatedError
from lakatos.flows.run.parts import CALL, CARRIER, DECLARED, TITLE, EngineName, PartKind
from lakatos.flows.run.prefect_server import (
    PRIVATE,
    QUIET,
    closed,
    configured_server,
    new_secret,
    start_server,
)

P = ParamSpec("P")
R = TypeVar("R")

STARTUP_TIMEOUT_S = 180.0
"""Longest wait for Prefect's own server; slow disks and busy machines need a minute."""
_STOP_S = 2.0


@functools.cache
def _prefect_object(kind: PartKind, name: str) -> Callable[[], Awaitable[None]]:
    import prefect
    from prefect.cache_policies import NO_CACHE

    def label() -> str:
        return CALL.get().label

    async def body() -> None:
        call = CALL.get()
        if kind == "flow":
            _interrupts.get().install()
        try:
            call.result = await call.run()
        except Exception as error:
            call.error = error
            # Prefect pickles what a flow raises, with everything that hangs on it; words are enough.
            raise RuntimeError(f"{type(error).__name__}: {error}") from None

    if kind == "flow":
        return prefect.flow(
            name=name,
            flow_run_name=label,
            retries=0,
            persist_result=False,
            validate_parameters=False,
            log_prints=False,
        )(body)
    return prefect.task(
        name=name,
        task_run_name=label,
        retries=0,
        persist_result=False,
        cache_policy=NO_CACHE,
        log_prints=False,
    )(body)


def warm_up(engine: EngineName = "prefect") -> None:
    """Begin to start Prefect and its server in the background, so that other preparations overlap with it.

    Calling it is never necessary, and calling it again does nothing. `execute` uses what was started; without an
    `execute` everything ends with the process.

    Raises:
        EngineError: Prefect is not installed.
    """
    global _session
    if engine == "prefect" and _session is None:
        _session = _PrefectSession()
        atexit.register(_session.stop)


def cool_down() -> None:
    """End what `warm_up` started, when nothing will be executed after all."""
    global _session
    if _session is not None:
        session, _session = _session, None
        atexit.unregister(session.stop)
        session.stop()


def execute(
    engine: EngineName,
    function: Callable[..., Awaitable[R]],
    *args: Any,
    on_wait: Callable[[str], None] | None = None,
    title: str = "",
) -> R:
    """Run an asynchronous function to its end, as Prefect flows and tasks or as plain asyncio.

    Args:
        engine: What carries the decorated functions that are called.
        function: Usually a function decorated with `flow`.
        args: Its arguments; never shown to Prefect.
        on_wait: Told what is being waited for.
        title: Stands in the name of the outermost flow run, and is a tag of all of them.

    Raises:
        EngineError: Prefect is not installed, or its server does not come up.
        KeyboardInterrupt: Ctrl-C; the work is cancelled first. Threads that work on a step are left to themselves.
        TerminatedError: The same for SIGTERM.
        Exception: Whatever ``function`` raises, unchanged.
    """
    with _InterruptSignals() as signals:
        if engine == "none":
            return _run("none", function, args, signals)
        warm_up(engine)
        session = _session
        assert session is not None
        try:
            session.wait(on_wait or (lambda text: None))
            with session.settings(), _titled(title):
                try:
                    return _run("prefect", function, args, signals)
                finally:
                    session.drain()
        finally:
            cool_down()


@contextlib.contextmanager
def _titled(title: str) -> Iterator[None]:
    """Flow runs with a title in their names and tags."""
    if not title:
        yield
        return
    from prefect import tags

    token = TITLE.set(title)
    try:
        with tags("lakatos", title):
            yield
    finally:
        TITLE.reset(token)


# -- running ---------------------------------------------------------------------------------------------------------


class _InterruptSignals:
    """Turns the first Ctrl-C or SIGTERM into a cancellation of the main task. A context manager.

    A signal that is ignored, as in the background of a script, stays ignored.
    """

    def __init__(self) -> None:
        self._received: int | None = None
        self._cancel: Callable[[], object] | None = None
        self._previous: dict[int, Any] = {}

    def attach(self, cancel: Callable[[], object] | None) -> None:
        """Set the reaction to the first signal; None raises at the program's present place."""
        self._cancel = cancel

    def install(self) -> None:
        """Take both signals, also back from Prefect, whose handler raises in the middle of the event loop."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            previous = signal.getsignal(number)
            if previous is not signal.SIG_IGN:
                self._previous.setdefault(number, previous)
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        first, self._received = self._received is None, number
        if self._cancel is None or not first:
            raise self.error() or KeyboardInterrupt
        self._cancel()

    def error(self) -> KeyboardInterrupt | None:
        """The exception for the caller of `execute` if a signal came."""
        if self._received == signal.SIGTERM:
            return TerminatedError("asked to end")
        return None if self._received is None else KeyboardInterrupt()

    def __enter__(self) -> Self:
        self.install()
        return self

    def __exit__(self, *exception: object) -> None:
        for number, previous in self._previous.items():
            signal.signal(number, signal.SIG_DFL if previous is None else previous)


class _DaemonThreads(ThreadPoolExecutor):
    """Runs every call in a daemon thread, so that a long computation holds up neither Ctrl-C nor the end."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        threading.Thread(target=work, name="step", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Do nothing: a call that is still running is left to itself."""


_interrupts: ContextVar[_InterruptSignals] = ContextVar("interrupts")


def _run(
    engine: EngineName,
    function: Callable[..., Awaitable[R]],
    args: tuple[Any, ...],
    signals: _InterruptSignals,
) -> R:
    async def main() -> R:
        loop, this = asyncio.get_running_loop(), asyncio.current_task()
        assert this is not None
        loop.set_default_executor(_DaemonThreads())
        signals.attach(functools.partial(loop.call_soon_threadsafe, this.cancel))
        try:
            return await function(*args)
        finally:
            signals.attach(None)

    tokens = CARRIER.set(_prefect_object if engine == "prefect" else None), _interrupts.set(signals)
    try:
        return asyncio.run(main())
    except BaseException:
        if (interrupted := signals.error()) is not None:
            raise interrupted from None
        raise
    finally:
        CARRIER.reset(tokens[0])
        _interrupts.reset(tokens[1])


_LOCAL = {
    "PREFECT_CLIENT_CSRF_SUPPORT_ENABLED": "false",
    "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",
}
_TEMPORARY = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT_API_BLOCKS_REGISTER_ON_START": "false",
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT__SERVER_FINAL": "1",
}
CLIENT_SECRET = "PREFECT_API_AUTH_STRING"
"""Variable with the credentials that its clients send."""
_FORGETFUL = {
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}
"""Settings of a server whose database is deleted with it. Writing task runs would only compete with flow runs for
SQLite: after a burst of tasks a flow run waited 14 s for Prefect's retries."""


class _PrefectSession:
    """Prefect, imported, and a server to talk to: the configured one, or a temporary one of its own."""

    def __init__(self) -> None:
        if importlib.util.find_spec("prefect") is None:
            raise EngineError(
                "Prefect is not installed. Install it, or run without it: `--engine none`."
            )
        self._home: Path | None = None
        self._forgetful = False
        self._process: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str | None] = {}
        self._settings: dict[str, str] = {}
        try:
            if configured_server() is None:
                self._begin_server()
            else:
                for name, value in {**QUIET, **PRIVATE}.items():
                    if name not in os.environ and name != "PREFECT_LOGGING_TO_API_ENABLED":
                        self._set(name, value)
        except OSError as error:
            self.stop()
            raise EngineError(
                f"cannot start Prefect's temporary server: {error.strerror or error}. "
                "Free some space in the temporary folder, or run without Prefect: `--engine none`."
            ) from error
        self._importing = threading.Thread(target=self._import, name="import prefect", daemon=True)
        self._importing.start()

    def _set(self, name: str, value: str) -> None:
        self._environment.setdefault(name, os.environ.get(name))
        self._settings[name] = value
        os.environ[name] = value

    def _begin_server(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="lakatos-prefect-"))
        for name, value in {**QUIET, **PRIVATE, **_LOCAL}.items():
            self._set(name, os.environ.get(name, value))
        self._forgetful = "PREFECT_HOME" not in os.environ
        if self._forgetful:
            self._set("PREFECT_HOME", str(self._home))
            self._environment.setdefault("PREFECT_PROFILE", os.environ.pop("PREFECT_PROFILE", None))
        # A proxy for the outside world must not be asked for a server on this machine.
        for name in ("NO_PROXY", "no_proxy"):
            self._environment.setdefault(name, os.environ.get(name))
            os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1"]))
        secret = new_secret()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"http://127.0.0.1:{listener.getsockname()[1]}"
            own = closed(address, secret) | _TEMPORARY | (_FORGETFUL if self._forgetful else {})
            self._process = start_server(listener, self._home, {**os.environ, **own})
        self._set("PREFECT_API_URL", f"{address}/api")
        self._set(CLIENT_SECRET, secret)

    def _import(self) -> None:
        with contextlib.suppress(Exception):  # met again, and reported, in `settings`
            importlib.import_module("prefect.main")

    def wait(self, on_wait: Callable[[str], None]) -> None:
        """Wait until Prefect is imported and its server answers."""
        begun = time.monotonic()
        while self._importing.is_alive():
            on_wait("loading Prefect ...")
            self._importing.join(0.2)
        if self._process is None:
            return
        assert self._process.stdout is not None
        while not select.select([self._process.stdout], [], [], 0.0)[0]:
            on_wait("starting Prefect's temporary server ...")
            if time.monotonic() - begun > STARTUP_TIMEOUT_S:
                raise EngineError(
                    f"Prefect's temporary server did not answer within {STARTUP_TIMEOUT_S:.0f} s. "
                    "Run without Prefect: `--engine none`."
                )
            select.select([self._process.stdout], [], [], 0.2)
        if os.read(self._process.stdout.fileno(), 64).strip() != b"ready":
            raise EngineError(
                f"Prefect's temporary server ended while it started: {self._last_words()} "
                "Run without Prefect: `--engine none`."
            )

    def _last_words(self) -> str:
        assert self._home is not None
        with contextlib.suppress(OSError):
            lines = (
                (self._home / "server.log")
                .read_text(encoding="utf-8", errors="replace")
                .strip()
                .splitlines()
            )
            if lines:
                return lines[-1][:300].rstrip(".") + "."
        return "it left no message."

    @contextlib.contextmanager
    def settings(self) -> Iterator[None]:
        """Prefect with our settings, also where it was imported earlier with others."""
        try:
            from prefect import settings
        except Exception as error:
            raise EngineError(
                f"Prefect cannot be imported: {type(error).__name__}: {error}. "
                "Install the versions that the lock file names, or run without it: `--engine none`."
            ) from error
        changed: dict[Any, Any] = {settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}
        if "PREFECT_API_URL" in self._settings:
            changed[settings.PREFECT_API_URL] = self._settings["PREFECT_API_URL"]
            changed[settings.PREFECT_API_AUTH_STRING] = self._settings[CLIENT_SECRET]
        if self._forgetful and self._home is not None:
            changed[settings.PREFECT_HOME] = self._home
            changed[settings.PREFECT_LOCAL_STORAGE_PATH] = self._home / "storage"
        with settings.temporary_settings(changed), self._quiet():
            # Here, because Prefect parses sources and CPython 3.11 does so in one thread only.
            for kind, name in DECLARED:
                _prefect_object(kind, name)
            yield

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Prefect's loggers silent, also where they were set up before us; unless the user set a level."""
        known = [
            logging.getLogger(name)
            for name in logging.root.manager.loggerDict
            if name.startswith("prefect")
        ]
        levels = {logger: logger.level for logger in known if logger.level != logging.NOTSET}
        if self._settings.get("PREFECT_LOGGING_LEVEL") == QUIET["PREFECT_LOGGING_LEVEL"]:
            for logger in levels:
                logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            for logger, level in levels.items():
                logger.setLevel(level)

    def drain(self) -> None:
        """Let Prefect's background threads send what they have, while the server still listens."""
        from prefect.events.worker import EventsWorker

        logging.getLogger("EventsWorker").setLevel(logging.CRITICAL)
        with contextlib.suppress(Exception):
            workers: list[Any] = list(cast(Any, EventsWorker)._instances.values())
            EventsWorker.drain_all(timeout=_STOP_S, at_exit=False)
            if self._process is not None:
                # What could not be sent in time would be tried for minutes at exit, without a server to take it.
                for worker in workers:
                    while not worker._queue.empty():
                        worker._queue.get_nowait()
                    worker._queue.put_nowait(None)

    def stop(self) -> None:
        """End the server and leave nothing behind."""
        process, self._process = self._process, None
        if process is not None:
            (process.kill if self._forgetful else process.terminate)()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)
        for name, value in self._environment.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self._environment.clear()


_session: _PrefectSession | None = None
