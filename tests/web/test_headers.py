"""Headers of pages: those of both servers are the same, but for where forms may be sent."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from lakatos.experiments.participants.web import guard
from lakatos.experiments.participants.web.headers import security_headers, sending_with
from lakatos.flows.view import app

POLICY = "Content-Security-Policy"


def test_only_the_observatory_has_forms() -> None:
    page, observatory = dict(guard.HEADERS), dict(app.HEADERS)
    assert "form-action 'none'" in page[POLICY]
    assert page.pop(POLICY) == observatory.pop(POLICY).replace(
        "form-action 'self'", "form-action 'none'"
    )
    assert page == observatory


def test_headers_are_added_to_the_start_of_an_answer_and_to_nothing_else() -> None:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def answer() -> None:
        sending = sending_with(security_headers(form_action="'none'"), send)
        own = [(b"own", b"1"), (b"X-Frame-Options", b"SAMEORIGIN")]
        await sending({"type": "http.response.start", "headers": own})
        await sending({"type": "http.response.body", "body": b""})

    asyncio.run(answer())
    names = [name.lower() for name, _ in sent[0]["headers"]]
    assert names[0] == b"own"
    assert (b"X-Frame-Options", b"SAMEORIGIN") in sent[0]["headers"]
    assert names.count(b"x-frame-options") == 1
    assert {b"x-frame-options", b"content-security-policy"} < set(names)
    assert "headers" not in sent[1]
