"""Tokens of sources: the lines and phrases that the grammar's sources share, and characters for all else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

PAD, BEGIN, END = 0, 1, 2
_SPECIAL: Final = 3
CHARACTERS: Final = ["\n", *map(chr, range(32, 127))]


@dataclass(frozen=True)
class SnippetVocabulary:
    """Pieces by number; text that is in none of them is told character by character."""

    snippets: tuple[str, ...]

    @classmethod
    def of(cls, snippets: Sequence[str]) -> SnippetVocabulary:
        """All characters, and the snippets."""
        return cls(tuple(dict.fromkeys([*CHARACTERS, *snippets])))

    @property
    def size(self) -> int:
        """Of the vocabulary, with the three marks."""
        return _SPECIAL + len(self.snippets)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: _SPECIAL + place for place, text in enumerate(self.snippets)}

    @cached_property
    def _pieces(self) -> re.Pattern[str]:
        longest_first = sorted(self.snippets, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)))

    def encode(self, text: str) -> list[int]:
        """Numbers of the longest pieces from left to right, and the end; characters unknown here are left out."""
        return [*(self._places[piece] for piece in self._pieces.findall(text)), END]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of tokens up to the end."""
        kept = list(tokens)
        kept = kept[: kept.index(END)] if END in kept else kept
        return "".join(self.snippets[token - _SPECIAL] for token in kept if token >= _SPECIAL)
