"""Lessons as text, each with the records that support it. The library is a fold over the trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memory.errors import LessonError
from traces.digest import Digest
from traces.record import Record


class Pitfall(Record):
    """A mistake, what leads to it and what follows."""

    kind: Literal["pitfall"] = "pitfall"
    version: Literal[1] = 1
    domain: str
    trigger: str
    """The situation: what had been diagnosed, or what was being done."""
    mistake: str
    """The change that was made, in the grammar's words."""
    consequence: str
    evidence: tuple[Digest, ...]
    """Records that show it."""


@dataclass(frozen=True)
class Library:
    """All lessons."""

    pitfalls: tuple[tuple[Digest, Pitfall], ...] = ()

    def with_pitfall(self, digest: Digest, pitfall: Pitfall) -> Library:
        """The library after one more lesson; a lesson known already is not repeated."""
        if any(known == digest for known, _ in self.pitfalls):
            return self
        return Library((*self.pitfalls, (digest, pitfall)))

    def recall(self, domain: str, situation: str, most: int = 5) -> list[Pitfall]:
        """Lessons for a situation: those whose trigger shares most words with it, newest first among equals."""
        words = _words(situation)
        scored = [
            (len(words & _words(item.trigger)), place, item)
            for place, (_, item) in enumerate(self.pitfalls)
            if item.domain == domain
        ]
        scored.sort(key=lambda entry: (-entry[0], -entry[1]))
        return [item for overlap, _, item in scored if overlap > 0][:most]


def _words(text: str) -> set[str]:
    """Words without punctuation: situations are lists, "conflict, level", and so are triggers."""
    return set(re.findall(r"\w+", text.lower()))


def pitfall_from_overturned(
    domain: str,
    trigger: str,
    change: str,
    probability: float,
    advantage: float,
    experiment: str,
    evidence: tuple[Digest, ...],
) -> Pitfall:
    """A change that looked better and was not, once new data came.

    Args:
        domain: Of the campaign.
        trigger: Location that the diagnosis had named.
        change: What the successor changed.
        probability: That the judges gave to the successor.
        advantage: Of the successor over the theory it was to replace on the new data; negative, nats per choice.
        experiment: Name of the new experiment.
        evidence: The verdict and the scores.

    Raises:
        LessonError: Nothing supports it.
    """
    if not evidence:
        raise LessonError(f"the pitfall about {change!r} cites no record; give the verdict and the scores behind it.")
    return Pitfall(
        domain=domain,
        trigger=trigger,
        mistake=change,
        evidence=evidence,
        consequence=(
            f"promised with probability {probability:.2f}, it lost {-advantage:.4f} nats per choice on {experiment}"
        ),
    )
