"""Clients of the page: addresses, cookies and tokens, and how often each may send requests."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from time import monotonic
from typing import Final

from lakatos.experiments.participants.web.session import ServiceIdentifiers

HOUR_SECONDS: Final = 3600.0
MOST_ADDRESSES: Final = 100_000
COOKIE: Final = "lakatos"
TOKEN: Final = r"^[A-Za-z0-9_-]{43}$"


def make_token(key: bytes, chosen: bytes = b"") -> str:
    """Make the token by which a browser is known again: 16 random bytes, and a seal of the server.

    Args:
        key: Key of the run's collection, which nobody else has.
        chosen: The 16 bytes, where they are not to be random.
    """
    chosen = chosen or secrets.token_bytes(16)
    return urlsafe_b64encode(chosen + _seal(key, chosen)).rstrip(b"=").decode()


def is_made_here(key: bytes, token: str) -> bool:
    """Whether a token of the right form carries the server's seal."""
    held = urlsafe_b64decode(f"{token}=")
    return hmac.compare_digest(held[16:], _seal(key, held[:16]))


def _seal(key: bytes, chosen: bytes) -> bytes:
    return hmac.new(key, b"cookie" + chosen, "sha256").digest()[:16]


class AddressBook:
    """Recent times at which participants began, by internet address; kept in memory only, for an hour."""

    def __init__(self) -> None:
        self._begun: OrderedDict[str, list[float]] = OrderedDict()
        self._salt, self._lock = secrets.token_bytes(16), threading.Lock()

    def admit(self, address: str, most: int) -> bool:
        """Whether one more may begin from an address, who then counts; ``most`` in an hour, 0 for any number."""
        with self._lock:
            name, now = self._name(address), monotonic()
            lately = [time for time in self._begun.pop(name, []) if now - time < HOUR_SECONDS]
            admitted = not most or len(lately) < most
            self._begun[name] = [*lately, now] if admitted else lately
            while len(self._begun) > MOST_ADDRESSES:
                self._begun.popitem(last=False)
            return admitted

    def _name(self, address: str) -> str:
        """An address that cannot be read back; of the sixth version, a household's whole network."""
        try:
            number = ipaddress.ip_address(address)
        except ValueError:
            network = address
        else:
            wide = number.version == 6
            network = str(ipaddress.ip_network(f"{address}/64", strict=False)) if wide else address
        return hmac.new(self._salt, network.encode(), "sha256").hexdigest()


def visitor_of(who: ServiceIdentifiers | None) -> str:
    """Name of a tab's person within one browser: of whom a recruitment service sent; empty for whoever just came."""
    if who is None:
        return ""
    return hashlib.sha256(
        " ".join([who.service, who.participant, who.study, who.submission]).encode()
    ).hexdigest()[:16]


def cookie_of(visitor: str) -> str:
    """Name of a person's cookie; each person whom a service sent has one of their own."""
    return f"{COOKIE}_{visitor}" if visitor else COOKIE
