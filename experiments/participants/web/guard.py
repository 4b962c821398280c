"""Guards the page: who may ask, how often, and how much at once."""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import MutableMapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final

from fastapi.responses import JSONResponse

from lakatos.experiments.participants.web.address_book import cookie_of
from lakatos.experiments.participants.web.door import (
    ANSWER_SECONDS,
    REQUEST_SECONDS,
    Receive,
    Scope,
    Send,
    headers_of,
)
from lakatos.experiments.participants.web.headers import security_headers, sending_with

LARGEST_BODY: Final = 32_768
"""Bytes; a response has about a hundred."""
REQUESTS_PER_SECOND: Final = 10.0
REQUESTS_AT_ONCE: Final = 60.0
"""Requests that one session may send at once."""
ADDRESS_PER_SECOND: Final = 300.0
"""Requests from one address, behind which a whole class may sit."""
VISITOR: Final = "Lakatos-Visitor"
"""Header by which a tab says whom a recruitment service sent to it, so that two people in one browser stay apart."""
HEADERS: Final = security_headers(form_action="'none'")
"""Headers of every response. Drawings of trials carry style attributes; no other inline style and no inline script
runs."""


def _problem(
    status: int, error: str, detail: str = "", headers: dict[str, str] | None = None
) -> JSONResponse:
    return JSONResponse({"error": error, "detail": detail}, status_code=status, headers=headers)


class PageGuard:
    """Headers on every response, limits on every request: size, speed, and who asks."""

    def __init__(self, app: Any, requests_per_second: float) -> None:
        self.app, self.rate = app, requests_per_second
        self.buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the page, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = headers_of(scope)

        fixed = "no-cache" if scope["path"].startswith("/page/") else "no-store"
        sending = sending_with({**HEADERS, "Cache-Control": fixed}, send)
        problem = self._problem(scope, headers)
        if problem is not None:
            await problem(scope, receive, sending)
            return
        with suppress(TimeoutError):  # the connection ends with a response that nobody took
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._answer(scope, receive, sending)

    async def _answer(self, scope: Scope, receive: Receive, sending: Send) -> None:
        if scope["method"] in ("GET", "HEAD"):
            await self.app(scope, receive, sending)
            return
        try:
            body = await asyncio.wait_for(_read(receive), REQUEST_SECONDS)
        except TimeoutError:
            await _problem(408, "slow", "the request did not arrive.", {"Connection": "close"})(
                scope, receive, sending
            )
            return
        if body is None:
            await _problem(413, "size", f"at most {LARGEST_BODY} bytes.")(scope, receive, sending)
            return
        sent = False

        async def again() -> MutableMapping[str, Any]:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, again, sending)

    def _problem(self, scope: Scope, headers: dict[str, str]) -> JSONResponse | None:
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > LARGEST_BODY:
            return _problem(413, "size", f"at most {LARGEST_BODY} bytes.")
        if scope["method"] == "POST":
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return _problem(403, "site", "only this page itself may ask.")
            if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
                return _problem(415, "type", "send application/json.")
        name = re.escape(cookie_of(headers.get(VISITOR.lower(), "")))
        cookie = re.search(rf"(?:^|;\s*){name}=([^;]+)", headers.get("cookie", ""))
        client = (scope.get("client") or ("",))[0]
        buckets = [(f"address {client}", ADDRESS_PER_SECOND)]
        if cookie:
            buckets.append((f"cookie {cookie[1][:64]}", self.rate))
        if not scope["path"].startswith("/page/") and not all(
            self._allowed(who, rate) for who, rate in buckets
        ):
            return _problem(429, "speed", "too many requests at once.", {"Retry-After": "1"})
        return None

    def _allowed(self, who: str, rate: float) -> bool:
        """One token less in the bucket of ``who``, if there is one."""
        now = monotonic()
        most = rate * REQUESTS_AT_ONCE / REQUESTS_PER_SECOND
        left, before = self.buckets.pop(who, (most, now))
        left = min(most, left + rate * (now - before))
        self.buckets[who] = (left - 1 if left >= 1 else left, now)
        while len(self.buckets) > 10_000:
            self.buckets.popitem(last=False)
        return left >= 1


async def _read(receive: Receive) -> bytes | None:
    """The body, or None if it is larger than allowed."""
    body: bytes = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return body
        body += bytes(message.get("body", b""))
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return body
