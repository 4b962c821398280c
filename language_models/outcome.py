"""Outcome of an answer, decided before it is read: a cut answer is not a bad idea."""

from __future__ import annotations

import json
from typing import Final, Literal

from lakatos.language_models.client import ModelCompletion
from lakatos.language_models.thinking import after_thinking

Outcome = Literal["answered", "truncated", "runaway", "repetitive", "empty", "refused"]
"""``truncated``: the limit of tokens came first. ``runaway``: it came after the answer was complete, or in endless
white space. ``repetitive``: it ends in the same words over and over. ``refused``: by the model or its server's filter.
"""

LEAST_REPEATS: Final = 6
LEAST_REPEATED: Final = 120
"""Characters that a repetition has at least."""
_LOOKED_AT: Final = 4000
_BLANK_TAIL: Final = 64


def outcome_of(completion: ModelCompletion) -> Outcome:
    """The outcome of a call."""
    if completion.refusal or completion.finish_reason == "content_filter":
        return "refused"
    if completion.tool_calls:
        return "truncated" if completion.finish_reason == "length" else "answered"
    content = after_thinking(completion.content)
    if not content.strip():
        if completion.finish_reason != "length":
            return "empty"
        # White space up to the limit is what servers that only enforce JSON are known to write; nothing at all up to
        # the limit is what models write that think where it is not shown.
        return "runaway" if content else "truncated"
    if repeated(content) is not None:
        return "repetitive"
    if completion.finish_reason == "length":
        return "runaway" if _complete(content) else "truncated"
    return "answered"


def repeated(text: str) -> str | None:
    """Return the repeated end of ``text``, if it is the same at least six times in a row over half of the text.

    The longest suffix with a period: the prefix function of the reversed end (Knuth, Morris & Pratt, 1977).
    """
    end = text.rstrip()[-_LOOKED_AT:][::-1]
    least = max(LEAST_REPEATED, len(end) // 2)
    if len(end) < least or _is_json(text):
        return None
    borders, border, found = [0] * len(end), 0, None
    for place in range(1, len(end)):
        while border and end[place] != end[border]:
            border = borders[border - 1]
        border += end[place] == end[border]
        borders[place] = border
        length, period = place + 1, place + 1 - border
        if length >= least and length >= LEAST_REPEATS * period:
            found = end[:period][::-1]
    return found


def _is_json(text: str) -> bool:
    """Whether it is a whole JSON value: lists of equal numbers are no repetition."""
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _complete(text: str) -> bool:
    """Whether a JSON object or list ends before the text does, or the text ends in endless white space."""
    start = text.lstrip()
    if len(text) - len(text.rstrip()) >= _BLANK_TAIL:
        return True
    if not start.startswith(("{", "[")):
        return False
    try:
        json.JSONDecoder(strict=False).raw_decode(start)
    except (ValueError, RecursionError):
        return False
    return True
