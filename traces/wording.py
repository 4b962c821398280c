"""Words that every package needs: a count with its noun, names nearest to another, text that is safe to print."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

MOST_NEAR = 3
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that a terminal obeys or cannot show: control codes, marks that turn the direction of text, half pairs."""


def printable(text: str) -> str:
    r"""Text in which nothing is left that a terminal would obey: ``\x1b`` stands for the escape character.

    New lines and tabulators stay.
    """
    return UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def plural(count: int, word: str, many: str = "") -> str:
    """A count with its noun: ``1 theory``, ``2 theories``.

    Args:
        count: How many there are.
        word: The noun of one; a last ``y`` becomes ``ies``, anything else takes an ``s``.
        many: The noun of several, where it is made in another way.
    """
    many = many or (f"{word[:-1]}ies" if word.endswith("y") else f"{word}s")
    return f"{count:,} {word if count == 1 else many}"


def in_a_list(items: Sequence[str], last: str = "and") -> str:
    """Items as a sentence lists them: ``a``, ``a and b``, ``a, b and c``; ``a, b; c; and d`` where one has a comma."""
    *first, end = items
    if any("," in item for item in items) and first:
        return f"{'; '.join(first)}; {last} {end}"
    return f"{', '.join(first)} {last} {end}" if first else end


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence that refuses a name: the nearest names that there are, or a full stop where none is near.

    Capitals do not count.
    """
    by_small = {own.casefold(): own for own in known}
    found = difflib.get_close_matches(name.casefold(), list(by_small), n=MOST_NEAR)
    near = [repr(by_small[own]) for own in found]
    if not near:
        return "."
    return f"; did you mean {in_a_list(near, 'or')}?"
