"""Ways to make a text shorter. None of them ever sees a pinned rule."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from lakatos.language_models.context import (
    Count,
    count_tokens,
    cut,
)
from lakatos.language_models.quotes import sentences

_WORD: Final = re.compile(r"[a-z]{4,}")


@dataclass(frozen=True)
class ExtractiveCompactor:
    """Keeps whole sentences: those with frequent content words and with numbers, in their order.

    References:
        Luhn (1958), IBM Journal of Research and Development 2(2), 159-165.
    """

    count: Count = count_tokens
    name: str = "extractive"

    async def __call__(self, text: str, n_tokens: int) -> str:
        """The weightiest sentences of ``text`` that fit, or the beginning of the weightiest where none does."""
        if self.count(text) <= n_tokens:
            return text
        parts = sentences(text)
        frequency = Counter(word for part in parts for word in set(_WORD.findall(part.lower())))
        ranked = sorted(
            range(len(parts)), key=lambda place: (-_weight(parts[place], frequency), place)
        )
        kept: list[int] = []
        left = n_tokens
        for place in ranked:
            size = self.count(parts[place]) + 1
            if size <= left:
                kept.append(place)
                left -= size
        if not kept:
            return cut(parts[ranked[0]], n_tokens, self.count) if parts else ""
        return " ".join(parts[place] for place in sorted(kept))


def _weight(sentence: str, frequency: Counter[str]) -> float:
    words = set(_WORD.findall(sentence.lower()))
    topical = sum(math.log1p(frequency[word]) for word in words) / (1 + len(words))
    return topical + 0.5 * bool(re.search(r"\d", sentence))
