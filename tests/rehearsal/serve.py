"""Run the rehearsal beside something else: in a thread, or in a process that can be killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI

from lakatos.language_models.serving.app_thread import QUIET, STARTUP_S, free_port, running_app
from tests.rehearsal.app import Answer, RehearsalSettings, create_app

ROOT = Path(__file__).resolve().parent.parent.parent


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
def running_process(
    settings: RehearsalSettings | None = None, port: int | None = None
) -> Iterator[RehearsalServer]:
    """A rehearsal in a process of its own.

    Raises:
        TimeoutError: It did not start.
    """
    settings, port = settings or RehearsalSettings(), port or free_port()
    command = [sys.executable, "-m", "tests.rehearsal", "--port", str(port)]
    process = subprocess.Popen([*command, "--settings", settings.model_dump_json()], cwd=ROOT)
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
    uvicorn.run(create_app(settings), host="127.0.0.1", port=port, **QUIET)


def _healthy(port: int) -> bool:
    try:
        return (
            httpx.get(f"http://127.0.0.1:{port}/health", timeout=1, trust_env=False).status_code
            == 200
        )
    except httpx.HTTPError:
        return False
