"""Rows of a file in words, the same in all messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MOST_ROWS_NAMED = 3


def rows_named(rows: Iterable[Any], most: int = MOST_ROWS_NAMED, *, noun: str = "row") -> str:
    """Rows by their numbers, each once: ``row 12``, ``rows 12 and 40``, or ``rows 12, 40, 51 and 318 more``.

    Nothing where there is no row.

    Args:
        rows: Their numbers in the file.
        most: How many of them are named.
        noun: What they are.
    """
    numbers = list(dict.fromkeys(int(row) for row in rows))
    if not numbers:
        return ""
    most += len(numbers) == most + 1  # "and 1 more" is no shorter than its number
    named = [f"{number}" for number in numbers[:most]]
    if len(numbers) > most:
        named.append(f"{len(numbers) - most:,} more")
    last = named.pop()
    return f"{noun}{'s' * (len(numbers) > 1)} " + " and ".join(
        [*filter(None, [", ".join(named)]), last]
    )
