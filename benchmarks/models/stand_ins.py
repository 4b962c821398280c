"""Simple things that a role's context and tools are compared with, or tried with outside a campaign."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from lakatos.language_models.context import Count, count_tokens, cut, most_that_fit, words_of
from lakatos.language_models.tool import PreparedCall, ToolResult
from lakatos.traces.digest import digest_of

GAP: Final = " ... "


@dataclass(frozen=True)
class TailCompactor:
    """Keeps the end: what is latest."""

    count: Count = count_tokens
    name: str = "truncate"

    async def __call__(self, text: str, n_tokens: int) -> str:
        """Keep the end of ``text``, as long as there is room."""
        return _end(text, n_tokens, self.count)


@dataclass(frozen=True)
class HeadTail:
    """Keeps the beginning and the end."""

    count: Count = count_tokens
    name: str = "head-tail"

    async def __call__(self, text: str, n_tokens: int) -> str:
        """Both ends of ``text``, with a gap between them."""
        if self.count(text) <= n_tokens:
            return text
        room = max(n_tokens - self.count(GAP), 0)
        head = cut(text, room // 2, self.count)
        tail = _end(text[len(head) :], room // 2, self.count)
        return f"{head}{GAP}{tail}" if head or tail else ""


def _end(text: str, room: int, count: Count) -> str:
    if count(text) <= room:
        return text
    words = words_of(text)

    def last(n: int) -> str:
        return "".join(words[len(words) - n :]).lstrip()

    return last(most_that_fit(len(words), lambda n: count(last(n)) <= room))


class KeptResults:
    """A recorder in memory, for tests and for roles outside a campaign."""

    def __init__(self) -> None:
        self.results: dict[str, ToolResult] = {}

    async def __call__(
        self, position: int, prepared: PreparedCall, work: Callable[[], Awaitable[ToolResult]]
    ) -> tuple[str, ToolResult]:
        """Keep it under the digest of call, position and result."""
        result = await work()
        digest = digest_of(
            {
                "position": position,
                "tool": prepared.tool.name,
                "arguments": prepared.values,
                "result": result.model_dump(mode="json"),
            }
        )
        self.results[digest] = result
        return digest, result
