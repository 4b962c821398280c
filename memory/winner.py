"""The library of winners: the best theories of concluded campaigns as source, with where they held and where not."""

from __future__ import annotations

from typing import Final, Literal

from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

LIBRARY: Final = "library: "
"""Begins the author of a theory that came from an earlier campaign."""


class TheoryTried(Record):
    """How a theory did on one experiment, and whether any rival of its campaign did clearly better there."""

    kind: Literal["theory_tried"] = "theory_tried"
    version: Literal[1] = 1
    data: str
    """Name of the experiment, or of the sealed answers."""
    score: float
    """Nats per choice, by people whom other answers taught."""
    interval: tuple[float, float]
    """95% interval of the score."""
    behind: float
    """Nats per choice by which the best theory of the campaign was ahead; 0 where it was the best itself."""
    held: bool
    """Whether no theory of the campaign was ahead by more than two standard errors."""


class TheoryWon(Record):
    """One of the best theories of a concluded campaign, as source, whoever wrote it."""

    kind: Literal["theory_won"] = "theory_won"
    version: Literal[1] = 1
    domain: str
    study: str
    theory: Fingerprint
    """Digest of the source."""
    source: str
    name: str
    claim: str
    author: str
    leads: bool
    """Whether it led; the others were tied with what led."""
    holds: bool
    """Whether the campaign's verdict held."""
    answers: str
    """Archived answers that it was found on; empty where people were asked anew."""
    tried: tuple[TheoryTried, ...]
    completeness: tuple[float, float] | None
    """Value and standard error, where it could be measured."""
    evidence: tuple[Digest, ...]
    justified_by: tuple[Digest, ...]
    """The verdict."""


def has_its_source(winner: TheoryWon) -> bool:
    """Whether the source is the one that the record names by its digest."""
    return TheoryProgram(winner.source, winner.author).digest == winner.theory


def author_from_library(winner: TheoryWon) -> str:
    """Author of a winner in a campaign that takes it over."""
    return f"{LIBRARY}{winner.author}, {winner.study}"


def winner_text(winner: TheoryWon) -> str:
    """A winner for a reader: what it says, where it held and where it did not."""
    held = [item.data for item in winner.tried if item.held]
    failed = [item.data for item in winner.tried if not item.held]
    parts = [
        f"{winner.name} {'led' if winner.leads else 'was tied with the leader'} in {winner.study}"
    ]
    parts += [f"it held on {', '.join(held)}"] if held else []
    parts += [f"another was clearly ahead on {', '.join(failed)}"] if failed else []
    if winner.completeness is not None:
        parts.append(f"completeness {winner.completeness[0]:.2f} ± {winner.completeness[1]:.2f}")
    return f"{'; '.join(parts)}. {winner.claim}"
