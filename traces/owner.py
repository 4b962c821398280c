"""Files that only their owner may read. Needs nothing but Python, so that anything may import it."""

from __future__ import annotations

import os


def for_owner(path: str, flags: int) -> int:
    """Open a file that is made, where there is none, for its owner alone: an `opener` of `open`."""
    return os.open(path, flags, 0o600)
