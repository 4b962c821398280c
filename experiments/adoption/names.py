"""Names of columns as words."""

from __future__ import annotations

import re


def words_of(name: str) -> list[str]:
    """Words and numbers of a name: ``Left_Expert2`` has ``left``, ``expert`` and ``2``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return [part.lower() for part in parts]
