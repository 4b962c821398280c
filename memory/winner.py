"""The library of winners: the best theories of concluded campaigns as source, with where they held and where not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from lakatos.theories.checks.complexity import form_of_source
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.grammar import Grammar, composition_of
from lakatos.theories.grammar_search.proposal import SearchStart
from lakatos.theories.sandbox.lint import check_source
from lakatos.theories.theory import TheoryProgram, read_program
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

LIBRARY: Final = "library: "
"""Begins the author of a theory that came from an earlier campaign."""
SEEN_TWICE: Final = 2
MOST_REMEDIES: Final = 4
UNREADABLE: Final = (TheoryError, GrammarError, SyntaxError, ValueError, TypeError, RecursionError)
"""What a stranger's source may raise when it is read."""


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


def rank_winners(winners: Sequence[TheoryWon]) -> list[TheoryWon]:
    """One winner for each form, those of most campaigns first, then those whose verdicts held, then the newest.

    Args:
        winners: In the order in which they were left.
    """
    groups: dict[str, list[tuple[int, TheoryWon]]] = {}
    for place, winner in enumerate(winners):
        groups.setdefault(form_of_winner(winner), []).append((place, winner))

    def worth(group: list[tuple[int, TheoryWon]]) -> tuple[int, int, int]:
        n_studies = len({winner.study for _, winner in group})
        n_held = sum(winner.leads and winner.holds for _, winner in group)
        return n_studies, n_held, group[-1][0]

    return [group[-1][1] for group in sorted(groups.values(), key=worth, reverse=True)]


def starts_of_winners(
    winners: Sequence[TheoryWon], grammar: Grammar, known: Collection[object]
) -> tuple[SearchStart, ...]:
    """Winners that the grammar can take apart, as starts of a search.

    Args:
        winners: The best first.
        grammar: Of the campaign that takes them over.
        known: Keys of compositions that are tried anyway.
    """
    found: dict[object, SearchStart] = {}
    for winner in filter(has_its_source, winners):
        try:
            check_source(winner.source)
            literal = read_program(TheoryProgram(winner.source, winner.author)).composition
            if literal is None:
                continue
            composition = composition_of(literal, {})
            grammar.used(composition)
        except UNREADABLE:  # of another version of the grammar, or a stranger's
            continue
        if composition.key not in known:
            start = SearchStart(None, composition, f"won in {winner.study}")
            found.setdefault(composition.key, start)
    return tuple(found.values())


def shared_mechanisms(
    starts: Sequence[SearchStart], have: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Mechanisms (``slot:name``) of several winners that a composition lacks, the commonest first."""
    counts = Counter(
        (slot, name)
        for start in starts
        for slot, names in start.composition.slots.items()
        for name in names
    )
    common = [
        f"{slot}:{name}"
        for (slot, name), count in counts.most_common()
        if count >= SEEN_TWICE and name not in have.get(slot, ())
    ]
    return tuple(common[:MOST_REMEDIES])


def form_of_winner(winner: TheoryWon) -> str:
    """What tells a theory from others, however its people are declared; the source where it cannot be read."""
    try:
        check_source(
            winner.source
        )  # first, as what is too long or too deep to parse ends the process
        return form_of_source(winner.source)
    except UNREADABLE:
        return winner.source
