"""Headers that keep a page of the laboratory to itself: nothing of others runs in it, and nobody frames it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any, Literal

from lakatos.experiments.participants.web.door import Send


def security_headers(*, form_action: Literal["'none'", "'self'"]) -> dict[str, str]:
    """Headers of every response. Drawings carry style attributes; no other inline style and no inline script runs.

    Args:
        form_action: Where forms of the page may be sent.
    """
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
        "img-src 'self' data:; media-src blob:; frame-src 'self'; connect-src 'self'; base-uri 'none'; "
        f"form-action {form_action}; frame-ancestors 'none'"
    )
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }


def sending_with(headers: Mapping[str, str], send: Send) -> Send:
    """``send``, with headers added to the start of every response that does not have them already."""
    added = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", []))
            given = {name.lower() for name, _ in own}
            message["headers"] = own + [item for item in added if item[0] not in given]
        await send(message)

    return sending
