"""Names of a trial's options in claims, and the interpretation of a name that a model writes."""

from __future__ import annotations

import re
from typing import Final

ORDINALS: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_CARDINALS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight")
_PLACE: Final = re.compile(
    rf"(?:the )?(?P<ordinal>{'|'.join(ORDINALS)})(?: option)?"
    rf"|option (?:(?P<cardinal>{'|'.join(_CARDINALS)})|(?P<number>[0-9]{{1,3}}))"
)


def option_names(n_options: int) -> list[str]:
    """Return the names of the options in claims."""
    if n_options == 2:
        return ["first", "second"]
    return [f"option {place + 1}" for place in range(n_options)]


def option_place(name: str) -> str:
    """The place of an option, however a model writes it: ``option 2`` for "second", "the second option", "option two".

    A number alone is no place, since it may be what people read of an option. Anything else is returned as it is.
    """
    wanted = " ".join(name.lower().split())
    found = _PLACE.fullmatch(wanted)
    if found is None:
        return wanted
    word = found["ordinal"] or found["cardinal"] or found["number"]
    for words in (ORDINALS, _CARDINALS):
        if word in words:
            return f"option {words.index(word) + 1}"
    return f"option {int(word)}"
