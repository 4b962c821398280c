"""Checks that a notification comes from the service. Polling is what runs; notifications could only wake it earlier.

Reference: https://docs.prolific.com/api-reference/webhooks/verifying
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping

from lakatos.experiments.participants.prolific.errors import ProlificError


def verify_notification(
    secret: str, headers: Mapping[str, str], body: bytes, *, now_s: float, most_age_s: float = 300.0
) -> str:
    """Identifier of a genuine notification; deliveries are repeated, so do each identifier once.

    The signature is the base64 text of HMAC-SHA256 over the timestamp header and the body, byte for byte. An old
    timestamp is refused, so that a notification that somebody recorded cannot be sent again later.

    Args:
        secret: What ``POST /hooks/secrets/`` gave.
        headers: Of the request; names in any case.
        body: Of the request, as received.
        now_s: Seconds since 1970.
        most_age_s: Seconds that a timestamp may lie in the past or in the future.

    Raises:
        ProlificError: It is not signed with the secret, or not recent.
    """
    given = {name.lower(): value for name, value in headers.items()}
    stamp, signature = (
        given.get("x-prolific-request-timestamp", ""),
        given.get("x-prolific-request-signature", ""),
    )
    expected = base64.b64encode(
        hmac.new(secret.encode(), stamp.encode() + body, hashlib.sha256).digest()
    )
    if not secret or not stamp or not hmac.compare_digest(expected, signature.encode()):
        raise ProlificError(
            "a notification is not signed with the secret of this subscription; it was ignored."
        )
    try:
        age_s = abs(now_s - float(stamp))
    except ValueError:
        age_s = float("nan")
    if not age_s <= most_age_s:
        raise ProlificError(f"a notification is dated {stamp!r}, too far from now; it was ignored.")
    return given.get("x-event-id", "") or hashlib.sha256(stamp.encode() + body).hexdigest()
