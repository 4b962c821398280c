"""Ways to make a text shorter. None of them ever sees a pinned rule."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from lakatos.language_models.client import LanguageModel, ModelRequest, TokenSampling
from lakatos.language_models.context import (
    ContextEntry,
    Count,
    RoleContext,
    append,
    assemble,
    count_tokens,
    cut,
    most_that_fit,
    words_of,
)
from lakatos.language_models.errors import BudgetExhaustedError, RequestRefusedError, TransientError
from lakatos.language_models.fence import neutralise
from lakatos.language_models.pins import PinnedRule
from lakatos.language_models.quotes import check_against, sentences

_WORD: Final = re.compile(r"[a-z]{4,}")
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


@dataclass(frozen=True)
class ModelCompactor:
    """A language model writes the summary.

    Where it fails, or says numbers that the text does not hold, sentences of the text are taken instead.
    """

    model: LanguageModel
    prompt: str
    """How to summarise; a file of the role that uses it."""
    rules: tuple[PinnedRule, ...] = ()
    """Pinned rules, which stand in this request as in every other."""
    fallback: ExtractiveCompactor = field(default_factory=ExtractiveCompactor)
    sampling: TokenSampling = field(default_factory=lambda: TokenSampling(temperature=0.0))
    seed: int = 0
    count: Count = count_tokens

    @property
    def name(self) -> str:
        """Name of the way to shorten, with the model that does it."""
        return f"model {self.model.name}"

    async def __call__(self, text: str, n_tokens: int) -> str:
        """A summary of ``text``, or sentences of it."""
        if self.count(text) <= n_tokens or n_tokens == 0:
            return cut(text, n_tokens, self.count)
        task = ContextEntry(
            kind="task", text=f"Summarise the data in {max(n_tokens // 2, 8)} words at most."
        )
        context = append(
            RoleContext(),
            ContextEntry(kind="data", text=text, source="what is to be summarised"),
            task,
        )
        request = ModelRequest(
            messages=assemble(context, self.prompt, self.rules),
            sampling=self.sampling.model_copy(update={"max_tokens": 2 * n_tokens}),
            seed=self.seed,
        )
        try:
            summary = (await self.model.complete(request)).content.strip()
        except (TransientError, RequestRefusedError, BudgetExhaustedError):
            return await self.fallback(text, n_tokens)
        if not summary or check_against(summary, text):
            return await self.fallback(text, n_tokens)
        return cut(neutralise(summary), n_tokens, self.count)


def _end(text: str, room: int, count: Count) -> str:
    if count(text) <= room:
        return text
    words = words_of(text)

    def last(n: int) -> str:
        return "".join(words[len(words) - n :]).lstrip()

    return last(most_that_fit(len(words), lambda n: count(last(n)) <= room))
