"""Serve a web application from a thread of this process, and find a port for it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import uvicorn
from fastapi import FastAPI

STARTUP_S: Final = 30.0
"""Longest time that a server may take to start or to stop."""
QUIET: Final[dict[str, Any]] = {
    "log_level": "critical",
    "lifespan": "off",
    "timeout_graceful_shutdown": 1,
    "timeout_keep_alive": 60,
}
"""Settings of uvicorn for a server that writes no log of its own."""


def free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_app(app: FastAPI, port: int | None = None) -> Iterator[str]:
    """Serve an application in a thread of this process; gives its address up to and including ``/v1``.

    Args:
        app: What is served.
        port: Port on the loopback interface; a free one unless given.

    Raises:
        TimeoutError: The server did not start.
    """
    port = port or free_port()
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, **QUIET))
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
