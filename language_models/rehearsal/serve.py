"""Run the rehearsal beside something else: in a thread, or in a process that can be killed."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from lakatos.language_models.rehearsal.app import Answer, RehearsalSettings, create_app

STARTUP_S = 30.0


@dataclass(frozen=True)
class RehearsalServer:
    """A running server: what a test needs to know of it."""

    base_url: str
    """Up to and including ``/v1``."""
    model: str
    app: FastAPI | None = None
    """Of a server in a thread."""
    process: subprocess.Popen[bytes] | None = None
    """Of a server in a process."""


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running(
    settings: RehearsalSettings | None = None, answer: Answer | None = None, port: int | None = None
) -> Iterator[RehearsalServer]:
    """A rehearsal in a thread of this process, on a free port unless one is given.

    Raises:
        TimeoutError: It did not start.
    """
    settings = settings or RehearsalSettings()
    app = create_app(settings, answer)
    with running_app(app, port) as base_url:
        yield RehearsalServer(base_url, settings.model, app=app)


@contextmanager
def running_app(app: FastAPI, port: int | None = None) -> Iterator[str]:
    """Serve an app in a thread of this process; its address up to and including ``/v1``.

    Raises:
        TimeoutError: It did not start.
    """
    port = port or free_port()
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, **_QUIET))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + STARTUP_S
        while not server.started:
            if time.monotonic() > deadline or not thread.is_alive():
                raise TimeoutError(
                    f"the server did not start on port {port} within {STARTUP_S:g} s."
                )
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.should_exit = True
        thread.join(timeout=STARTUP_S)


@contextmanager
def running_process(
    settings: RehearsalSettings | None = None, port: int | None = None
) -> Iterator[RehearsalServer]:
    """A rehearsal in a process of its own.

    Raises:
        TimeoutError: It did not start.
    """
    settings, port = settings or RehearsalSettings(), port or free_port()
    command = [sys.executable, "-m", "lakatos.language_models.rehearsal", "--port", str(port)]
    process = subprocess.Popen([*command, "--settings", settings.model_dump_json()])
    try:
        deadline = time.monotonic() + STARTUP_S
        while not _healthy(port):
            if time.monotonic() > deadline or process.poll() is not None:
                raise TimeoutError(
                    f"the rehearsal did not start on port {port} within {STARTUP_S:g} s."
                )
            time.sleep(0.05)
        yield RehearsalServer(f"http://127.0.0.1:{port}/v1", settings.model, process=process)
    finally:
        process.terminate()
        process.wait(timeout=STARTUP_S)


def serve(settings: RehearsalSettings, port: int) -> None:
    """Serve the rehearsal on a port until it is stopped."""
    uvicorn.run(create_app(settings), host="127.0.0.1", port=port, **_QUIET)


def _healthy(port: int) -> bool:
    try:
        return (
            httpx.get(f"http://127.0.0.1:{port}/health", timeout=1, trust_env=False).status_code
            == 200
        )
    except httpx.HTTPError:
        return False


_QUIET: dict[str, Any] = {
    "log_level": "critical",
    "lifespan": "off",
    "timeout_graceful_shutdown": 1,
    "timeout_keep_alive": 60,
}
