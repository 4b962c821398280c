"""Winners of earlier campaigns as starts of a search: the best of each form, taken apart by the grammar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from lakatos.memory.winner import TheoryWon, has_its_source
from lakatos.theories.discovery.grammar_search.proposal import SearchStart
from lakatos.theories.engine.checks.complexity import form_of_source
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.language.grammar import Grammar, composition_of
from lakatos.theories.language.theory import TheoryProgram, read_program

SEEN_TWICE: Final = 2
MOST_REMEDIES: Final = 4
UNREADABLE: Final = (TheoryError, GrammarError, SyntaxError, ValueError, TypeError, RecursionError)
"""Errors that reading a foreign source may raise."""


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
    """Identity of a theory regardless of its declared ranges; the source if it cannot be read."""
    try:
        check_source(
            winner.source
        )  # first, as what is too long or too deep to parse ends the process
        return form_of_source(winner.source)
    except UNREADABLE:
        return winner.source
