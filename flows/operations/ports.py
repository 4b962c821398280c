"""Ports of the laboratory's servers: taken before anything starts, so that no two parts get one."""

from __future__ import annotations

import socket

from lakatos.flows.errors import FlowError

MOST_TRIED = 100
"""Ports after a wanted one that are tried."""


def listen(host: str, port: int, what: str) -> socket.socket:
    """Open a socket that listens, so that the address is held before anything is served.

    Raises:
        FlowError: The port is taken, or the address is not of this machine.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise FlowError(
            f"cannot listen on port {port} of {host} for {what}: {error.strerror or error}. "
            "Give another port, 0 for any."
        ) from None


def listen_from(host: str, port: int, what: str) -> socket.socket:
    """A listening socket on the first free port from a wanted one on; on any where that is 0.

    Raises:
        FlowError: None of so many is free, or the address is not of this machine.
    """
    for tried in range(port, min(port + MOST_TRIED, 65536) if port else 1):
        try:
            return listen(host, tried, what)
        except FlowError:
            continue
    return listen(host, port, what)


def inherited(descriptor: int) -> socket.socket:
    """A listening socket that whoever started this process had opened."""
    return socket.socket(fileno=descriptor)


def address_of(listener: socket.socket) -> str:
    """Address of a socket on this machine, such as ``http://127.0.0.1:8000``."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"
