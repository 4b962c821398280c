"""How mechanisms of a declared task name its attributes, and write them in code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lakatos.domains.declared.task import DeclaredDomain, TaskCue

Literal = dict[str, Any]
LOG_ODDS = 0.5
"""Of a weight that is worth its name."""


# Words ----------------------------------------------------------------------------------------


def features(cues: Sequence[TaskCue], *kinds: str) -> tuple[str, ...]:
    """Features of the domain about these cues."""
    return tuple(f"{cue.name}_{kind}" for cue in cues for kind in kinds)


def _label(noun: str) -> str:
    """A noun phrase without its article, for names of theories."""
    return noun.removeprefix("a ").removeprefix("the ")


def told(
    by: str, says: str, opposite: str, label: str, other: str, shows: str = "", *, unit: float = LOG_ODDS
) -> Literal:  # fmt: skip
    """A clause with two sides, of a parameter that says nothing at 0."""
    return {
        "says": says, "opposite": opposite, "by": by, "unit": unit, "label": label, "opposite_label": other,
        "shows": shows,
    }  # fmt: skip


def _curved(by: str) -> Literal:
    """Of an exponent that says nothing at 1."""
    return {
        "says": "feel each further step {far}more than the one before",
        "opposite": "feel each further step {far}less than the one before",
        "by": by, "null": 1.0, "unit": 0.4, "ratio": True,
        "label": "increasing returns", "opposite_label": "diminishing returns",
    }  # fmt: skip


def monotone(domain: DeclaredDomain, cues: Sequence[TaskCue]) -> Iterator[Literal]:
    """That options are chosen more often, the better they are on a cue."""
    for cue in cues:
        attribute = domain.task.attributes[cue.attribute]
        if not attribute.words:
            kind = "increasing" if attribute.sign > 0 else "decreasing"
            yield {"property": kind, "in": cue.attribute}
