"""Recall: lessons by situation, at most a few, with the evidence behind them.

Two ways: `LexicalRecall` by shared words weighted by their rarity (BM25), and `RecallNothing`, with which memory is
compared.

References:
    Robertson & Zaragoza (2009), Foundations and Trends in Information Retrieval 3(4), 333-389 (BM25).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict, Field

from lakatos.memory.item import Fact
from lakatos.memory.library import (
    DOUBTFUL_WEIGHT,
    Lesson,
    Library,
    Pitfall,
    Valid,
    always,
    holds,
)
from lakatos.memory.plan import plan_text
from lakatos.memory.winner import TheoryWon, winner_text
from lakatos.traces.digest import Digest

MOST: Final = 3
"""Lessons at a time; more are noise."""
K1, B = 1.2, 0.75


class RecallSituation(BaseModel):
    """Situation for which lessons are recalled."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str
    stage: str = ""
    """Stage of the cycle: propose, design, arbitrate, revise, ..."""
    rivals: tuple[str, ...] = ()
    """Names of theories."""
    failed: str = ""
    """Failure, in the words of a diagnosis or an error."""

    @property
    def text(self) -> str:
        """The whole situation as one text, to be compared with lessons."""
        return " ".join((self.stage, *self.rivals, self.failed))


class RecallArguments(RecallSituation):
    """Arguments of the tool `recall`."""

    most: int = Field(default=MOST, ge=1, le=10)


class Remembered(BaseModel):
    """One lesson that came back."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    text: str
    evidence: tuple[str, ...]
    """Records behind it."""
    lesson: str
    """Digest of its own record."""
    note: str = ""
    """Objection: unverified since a judge was displaced, or contradicted."""
    relevance: float


class Recalled(BaseModel):
    """Lessons, the most relevant first; advice, to be weighed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lessons: tuple[Remembered, ...]


class LessonRecall(Protocol):
    """A way to find the lessons that fit a situation."""

    def recall(self, situation: RecallSituation, most: int = MOST) -> Recalled:
        """Return at most ``most`` lessons for a situation."""


@dataclass(frozen=True)
class RecallNothing:
    """Recalls nothing: what memory is compared with."""

    def recall(self, situation: RecallSituation, most: int = MOST) -> Recalled:
        """Recall no lesson, whatever the situation."""
        return Recalled(lessons=())


@dataclass(frozen=True)
class LexicalRecall:
    """Recalls the lessons that share the most telling words with a situation."""

    library: Library
    valid: Valid = always
    kinds: tuple[str, ...] = ()
    """Kinds of lessons; all if none is named."""

    def recall(self, situation: RecallSituation, most: int = MOST) -> Recalled:
        """The lessons of the domain by BM25; those that share no word are left out."""
        found = _eligible(self.library, situation, self.kinds)
        relevance = bm25(tokens(situation.text), [tokens(key_of(item)) for _, item in found])
        return _ranked(self.library, self.valid, found, relevance, most)


def recall(memory: LessonRecall, arguments: RecallArguments) -> Recalled:
    """The tool: what was learned in situations like this one."""
    situation = RecallSituation(**arguments.model_dump(exclude={"most"}))
    return memory.recall(situation, arguments.most)


def key_of(item: Lesson) -> str:
    """The words by which a lesson is found: the situation that triggers it, not all that it says."""
    if isinstance(item, Pitfall):
        return item.trigger
    if isinstance(item, Fact):
        return f"{item.subject} {item.statement}"
    if isinstance(item, TheoryWon):
        return f"won {item.name} {item.claim}"
    return f"{item.situation} {' '.join(step.tool for step in item.steps)}"


def lesson_text(item: Lesson) -> str:
    """A lesson for a reader."""
    if isinstance(item, Pitfall):
        return f"When {item.trigger}: {item.mistake}; {item.consequence}"
    if isinstance(item, Fact):
        return f"{item.subject}: {item.statement}"
    if isinstance(item, TheoryWon):
        return winner_text(item)
    return f"{item.situation}:\n{plan_text(item)}"


def tokens(text: str) -> list[str]:
    """Words in lower case, without punctuation and underscores."""
    return re.findall(r"[^\W_]+", text.lower())


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """``(n_documents,)`` relevance; 0 where no word is shared."""
    if not documents:
        return []
    mean_length = sum(map(len, documents)) / len(documents) or 1.0
    counts = [Counter(document) for document in documents]
    found = [0.0] * len(documents)
    for word in sorted(set(query)):
        holders = sum(word in own for own in counts)
        weight = log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for place, own in enumerate(counts):
            if own[word]:
                length = 1 - B + B * len(documents[place]) / mean_length
                found[place] += weight * own[word] * (K1 + 1) / (own[word] + K1 * length)
    return found


def _eligible(
    library: Library, situation: RecallSituation, kinds: Sequence[str] = ()
) -> list[tuple[Digest, Lesson]]:
    return [
        (digest, item)
        for digest, item in library.lessons()
        if item.domain == situation.domain and (not kinds or item.kind in kinds)
    ]


def _ranked(
    library: Library,
    valid: Valid,
    found: Sequence[tuple[Digest, Lesson]],
    relevance: Sequence[float],
    most: int,
) -> Recalled:
    disputed = {digest for pair in library.contradictions() for digest in pair}
    counts = library.counting(valid)
    entries = []
    for place, ((digest, item), value) in enumerate(zip(found, relevance, strict=True)):
        notes = (
            [] if holds(digest, item, counts) else ["unverified: what it rested on was displaced"]
        )
        if digest in disputed:
            notes.append("contradicted by another fact")
        weight = (
            value
            * (item.confidence if isinstance(item, Fact) else 1.0)
            * DOUBTFUL_WEIGHT ** len(notes)
        )
        entries.append((weight, place, digest, item, "; ".join(notes)))
    entries.sort(key=lambda entry: (-entry[0], -entry[1]))
    return Recalled(
        lessons=tuple(
            Remembered(
                kind=item.kind,
                text=lesson_text(item),
                evidence=item.evidence,
                lesson=digest,
                note=note,
                relevance=weight,
            )
            for weight, _, digest, item, note in entries[:most]
            if weight > 0
        )
    )
