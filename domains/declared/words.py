"""How mechanisms of a declared task name its attributes, and write them in code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lakatos.domains.declared.task import DeclaredDomain, TaskCue

Literal = dict[str, Any]


def features(cues: Sequence[TaskCue], *kinds: str) -> tuple[str, ...]:
    """Features of the domain about these cues."""
    return tuple(f"{cue.name}_{kind}" for cue in cues for kind in kinds)


def label_of(noun: str) -> str:
    """A noun phrase without its article, for names of theories."""
    return noun.removeprefix("a ").removeprefix("the ")


def monotone(domain: DeclaredDomain, cues: Sequence[TaskCue]) -> Iterator[Literal]:
    """The prediction that options are chosen more often, the better they are on a cue."""
    for cue in cues:
        attribute = domain.task.attributes[cue.attribute]
        if not attribute.words:
            kind = "increasing" if attribute.sign > 0 else "decreasing"
            yield {"property": kind, "in": cue.attribute}
