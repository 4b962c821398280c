"""End of the thinking that some models write before their answer.

Models that reason write ``<think>...</think>`` first, and many servers pass that on as content. Templates that write
the opening tag themselves leave only the closing one in what comes back.
"""

from __future__ import annotations

import json
import re
from typing import Final

_OPENING: Final = re.compile(r"\s*(?:<(think|thinking|thought|reasoning)>|\[THINK\])")
_CLOSING: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>|\[/THINK\]")


def after_thinking(content: str) -> str:
    """The answer without the thinking before it; all of the text where there is none, or where it never ends.

    A tag inside a JSON answer is part of the answer.
    """
    closing = _CLOSING.search(content)
    if closing is None:
        return content
    if _OPENING.match(content) is None and _is_json(content):
        return content
    return content[closing.end() :]


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True
