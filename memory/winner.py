"""The library of winners: the best theories of concluded campaigns as source, with where they held and where not."""

from __future__ import annotations

from typing import Final, Literal

from lakatos.theories.language.theory import TheoryProgram
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

SEED: Final = ", seed "
"""Text between the name of a study and its seed, in what a campaign leaves behind."""
LIBRARY: Final = "library: "
"""Beginning of the author of a theory that came from an earlier campaign."""


ResponseOrigin = Literal["", "people", "simulated", "language_model"]
"""Origin of a campaign's responses: participants, simulated participants, or a language model in their place."""
COMPETES_AMONG: Final[dict[ResponseOrigin, frozenset[ResponseOrigin]]] = {
    "": frozenset({"people"}),
    "people": frozenset({"people"}),
    "language_model": frozenset({"people", "language_model"}),
    "simulated": frozenset({"", "people", "language_model", "simulated"}),
}
"""Origins of the responses on which a theory may have won that competes in a campaign, by its responses.

A theory that won among participants of our own making says which rule we gave them. Among people it would only cost a
place, and its win would count for it.
"""


class TheoryTried(Record):
    """Result of a theory on one experiment, and whether any rival of its campaign did clearly better there."""

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
    """Whether it led; the others were tied with the leader."""
    holds: bool
    """Whether the campaign's verdict held."""
    answers: str
    """Archived responses on which it was found; empty if participants were recruited."""
    responses: ResponseOrigin = ""
    """Kind of participants among whom it won; not recorded by earlier versions."""
    tried: tuple[TheoryTried, ...]
    completeness: tuple[float, float] | None
    """Value and standard error, if it could be measured."""
    evidence: tuple[Digest, ...]
    justified_by: tuple[Digest, ...]
    """The verdict."""


def won_among(winner: TheoryWon) -> ResponseOrigin:
    """Return the origin of the responses that a theory won on; archived ones are people's. Else empty."""
    return winner.responses or ("people" if winner.answers else "")


def may_compete(winner: TheoryWon, responses: ResponseOrigin, study: str) -> bool:
    """Whether a theory that won elsewhere may compete in a campaign with these responses.

    A rehearsal is the same study with participants of our own making: what won there never competes.

    Args:
        winner: Winner of an earlier campaign.
        responses: Responses of the campaign in which it would compete.
        study: Name of that campaign's study.
    """
    own = won_among(winner)
    rehearsed = own != "people" and winner.study.rpartition(SEED)[0] == study
    return own in COMPETES_AMONG[responses] and not rehearsed


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
