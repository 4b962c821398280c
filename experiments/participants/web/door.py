"""Base of all servers of the laboratory: who may address them by which name, and how long they wait.

A page of another site can give its own name this machine's address ("DNS rebinding"); the browser then sends requests
to this machine, but with that site's name in the `Host` header. So every server answers only to addresses in numbers,
to ``localhost`` and to names that were declared when it was started.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_SECONDS: Final = 15.0
"""Seconds in which the lines of a request must arrive, so that slow clients hold nothing up."""
ANSWER_SECONDS: Final = 60.0
"""Seconds in which the rest of a request must arrive and its reply be read."""
MOST_CONNECTIONS: Final = 800

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


def is_named(host: str, names: Collection[str] = ()) -> bool:
    """Whether a server may be asked by the name in a `Host` header.

    Args:
        host: The header, with or without a port.
        names: Declared names, in lower case.
    """
    name = host.rsplit("]", 1)[0].lstrip("[") if host.startswith("[") else host.split(":", 1)[0]
    if name.lower() == "localhost" or name.lower() in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def name_in(address: str) -> frozenset[str]:
    """The host name in an address such as ``https://study.example.org``; nothing where there is none."""
    host = urlsplit(address).hostname
    return frozenset({host.lower()}) if host else frozenset()


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by name, in lower case."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


def is_own_origin(origin: str, host: str) -> bool:
    """Whether the page that asks (an `Origin` header) was served by the server that is asked (a `Host` header).

    A page that was opened as ``localhost`` may ask 127.0.0.1, at the same port.
    """
    theirs, ours = urlsplit(origin), urlsplit(f"//{host}")
    try:
        if theirs.port != ours.port or theirs.hostname is None or ours.hostname is None:
            return False
    except ValueError:  # no number is given as the port
        return False
    return theirs.hostname == ours.hostname or (
        is_loopback(theirs.hostname) and is_loopback(ours.hostname)
    )


class HostGuard:
    """Refuses requests and sockets that ask a server by a name that is not its own."""

    def __init__(self, app: Any, names: Collection[str] = (), *, own_pages: bool = False) -> None:
        """Put a guard before a server: it refuses requests meant for other hosts.

        Args:
            app: The server.
            names: Names by which it may be addressed, beside addresses in numbers and ``localhost``.
            own_pages: Whether pages of other servers may not ask it anything; no proxy may stand before it then.
        """
        self.app, self.names, self.own_pages = (
            app,
            frozenset(name.lower() for name in names),
            own_pages,
        )

    def _lets_in(self, scope: Scope) -> bool:
        if scope["type"] == "lifespan":
            return True
        headers = headers_of(scope)
        host, origin = headers.get("host", ""), headers.get("origin", "")
        foreign = self.own_pages and bool(origin) and not is_own_origin(origin, host)
        return is_named(host, self.names) and not foreign

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the server, or refuse it."""
        if self._lets_in(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await send(
                {
                    "type": "http.response.start",
                    "status": 421,
                    "headers": [(b"content-type", b"text/plain")],
                }
            )
            await send(
                {"type": "http.response.body", "body": b"This server is not known by that name.\n"}
            )


class ImpatientProtocol(H11Protocol):
    """HTTP for clients of whom some never finish their request: these are hung up on."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        """Go on waiting until the lines of a request are complete."""
        super().data_received(data)
        if self._is_idle():
            self._wait_for_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more to wait for."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _wait_for_request(self) -> None:
        if self._waiting is None:
            self._waiting = self.loop.call_later(REQUEST_SECONDS, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        self._waiting = None
        if self._is_idle():
            self.transport.close()


SERVER: Final[dict[str, Any]] = {
    "http": ImpatientProtocol,
    "log_level": "warning",
    "access_log": False,  # addresses of people's computers are written down nowhere
    "server_header": False,
    "timeout_keep_alive": 65,  # longer than most decisions
    "limit_concurrency": MOST_CONNECTIONS,
    "proxy_headers": False,  # whoever asks could write there what they like; see `behind_proxy`
}
"""Settings of uvicorn."""


def behind_proxy(used: bool) -> dict[str, Any]:
    """Settings of uvicorn, for a server that a proxy on this machine stands before, or none."""
    return {**SERVER, "proxy_headers": used}
