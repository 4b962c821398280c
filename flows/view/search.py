"""Words in what language models were sent and what they answered, which lie in artifacts beside the journal."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

from lakatos.flows.report.reader import UNREADABLE, clean
from lakatos.flows.view.watch import RunMoment

MOST_HITS: Final = 50
SECONDS: Final = 1.0
"""Seconds for one request; the page offers to go on from where it ended."""
AROUND: Final = 90
"""Characters on each side of what was found."""


@dataclass(frozen=True)
class CallHit:
    """A call in which the words occur."""

    seq: int
    model: str
    role: str
    part: str
    """``prompt`` or ``answer``."""
    before: str
    found: str
    after: str


@dataclass(frozen=True)
class CallsFound:
    """Calls that were found, and how far the search went."""

    hits: tuple[CallHit, ...]
    n_read: int
    n_calls: int
    go_on: int | None
    """Number of the call before which to look next; None when all were read."""


def search_calls(look: RunMoment, text: str, before: int | None) -> CallsFound:
    """Look through the prompts and responses of calls, newest first, for as long as a request may take.

    Args:
        look: The run.
        text: Words; upper and lower case alike.
        before: Only calls below this number; None for all.
    """
    seqs = [
        seq
        for seq in reversed(look.outline.seqs("language_model_called"))
        if before is None or seq < before
    ]
    hits: list[CallHit] = []
    started, n_read = time.monotonic(), 0
    for start in range(0, len(seqs), 50):
        if n_read and (time.monotonic() - started > SECONDS or len(hits) >= MOST_HITS):
            break
        for row_seq, item in zip(
            seqs[start : start + 50], look.watch.parsed(seqs[start : start + 50]), strict=False
        ):
            n_read += 1
            for part, content in texts_of(look, item.record):
                if (place := content.lower().find(text.lower())) >= 0:
                    hits.append(hit_of(row_seq, item.record, part, content, place, len(text)))
                    break
    left = seqs[n_read:]
    return CallsFound(
        tuple(hits),
        n_read,
        look.outline.count("language_model_called"),
        left[0] + 1 if left else None,
    )


def texts_of(look: RunMoment, record: Any) -> list[tuple[str, str]]:
    """Prompt and answer of a call, as far as they are there."""
    found = []
    for part, digest in (("prompt", record.request), ("answer", record.completion)):
        try:
            value = look.trace.artifacts.get_json(digest)
            messages = value["messages"] if part == "prompt" else [value]
            found.append(
                (part, "\n".join(str(message.get("content") or "") for message in messages))
            )
        except UNREADABLE:
            continue
    return found


def hit_of(seq: int, record: Any, part: str, content: str, place: int, length: int) -> CallHit:
    """A place with what stands around it."""
    end = place + length
    cut = [content[max(0, place - AROUND) : place], content[place:end], content[end : end + AROUND]]
    return CallHit(seq, record.model, record.role, part, *(clean(piece) for piece in cut))
