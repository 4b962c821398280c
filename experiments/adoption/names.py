"""Names of columns as words."""

from __future__ import annotations

import re
from typing import Final

ALL: Final = "answers"
"""Name of the only experiment of a file where no column tells experiments apart."""


def words_of(name: str) -> list[str]:
    """Words and numbers of a name: ``Left_Expert2`` has ``left``, ``expert`` and ``2``."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return [part.lower() for part in parts]


def told_experiment(name: str) -> str:
    """An experiment's name for readers: ``1.1`` where its people come from a file that tells no experiments apart."""
    return name.removesuffix(f" {ALL}")
