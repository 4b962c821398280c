"""Winners of earlier campaigns as starts of a search and as evidence for prior odds of mechanisms."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from lakatos.experiments.adoption.names import ORDER
from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.task import Domain
from lakatos.memory.winner import TheoryWon, has_its_source
from lakatos.theories.discovery.grammar_search.proposal import SearchStart
from lakatos.theories.engine.checks.complexity import form_of_source
from lakatos.theories.engine.sandbox.lint import check_source
from lakatos.theories.errors import GrammarError, TheoryError
from lakatos.theories.language.family import Family
from lakatos.theories.language.grammar import Composition, Grammar, composition_of
from lakatos.theories.language.theory import TheoryProgram, read_program

BINS: Final = re.compile(r"edges = xp\.array\((\[[^\]]*\])\)")
"""Pattern of the edges of a source's bins of time."""
UNREADABLE: Final = (TheoryError, GrammarError, SyntaxError, ValueError, TypeError, RecursionError)
"""Errors that reading a foreign source may raise."""


def rank_winners(winners: Sequence[TheoryWon]) -> list[TheoryWon]:
    """One winner for each form, those of most campaigns first, then those whose verdicts held, then the newest.

    Args:
        winners: Winners in the order in which they were left.
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
        grammar: Grammar of the campaign that takes them over.
        known: Keys of compositions that are tried anyway.
    """
    found: dict[object, SearchStart] = {}
    for winner in winners:
        composition = composition_of_winner(winner, grammar)
        if composition is not None and composition.key not in known:
            start = SearchStart(None, composition, f"won in {winner.study}")
            found.setdefault(composition.key, start)
    return tuple(found.values())


def can_be_tested(winner: TheoryWon, family: Family, closed: Collection[str]) -> bool:
    """Whether a winner needs nothing of what the answers of a campaign do not show.

    Args:
        winner: Winner of another campaign.
        family: Family of the domain.
        closed: Inputs that are missing; see `Mechanism.needs`.
    """
    try:
        program = read_program(TheoryProgram(winner.source, winner.author))
        if program.composition is None:
            return not (program.learns and ORDER in closed)
        used = family.grammar.used(composition_of(program.composition, {}))
    except UNREADABLE:
        return True  # whoever takes it in says why it cannot be read
    return not any(item.inputs & set(closed) for item in used)


def has_bins_of(winner: TheoryWon, domain: Domain) -> bool:
    """Whether a winner predicts the bins of a domain, where these are bins of time, which a study may choose."""
    scale = scale_of(domain)
    if scale is None or scale.kind != "timed":
        return True
    own = BINS.search(winner.source)
    return own is None or own[1] == str(list(scale.edges))


def campaigns_found(
    winners: Sequence[TheoryWon], grammar: Grammar
) -> list[tuple[TheoryWon, Composition]]:
    """Leaders of earlier campaigns with their compositions; they are the evidence for prior odds of mechanisms.

    A study counts once, and so do the campaigns on one set of archived responses; the newest counts.

    Args:
        winners: Oldest first.
        grammar: Grammar of the campaign that uses the odds.
    """
    found: dict[str, tuple[TheoryWon, Composition]] = {}
    for winner in winners:
        if winner.leads and (composition := composition_of_winner(winner, grammar)) is not None:
            found[winner.answers or winner.study] = (winner, composition)
    return list(found.values())


def composition_of_winner(winner: TheoryWon, grammar: Grammar) -> Composition | None:
    """The composition of a winner's source; None where the source is forged or of another grammar."""
    if not has_its_source(winner):
        return None
    try:
        check_source(winner.source)
        literal = read_program(TheoryProgram(winner.source, winner.author)).composition
        if literal is None:
            return None
        composition = composition_of(literal, {})
        grammar.used(composition)
    except UNREADABLE:  # of another version of the grammar, or a stranger's
        return None
    return composition


def form_of_winner(winner: TheoryWon) -> str:
    """Identity of a theory regardless of its declared ranges; the source if it cannot be read."""
    try:
        check_source(
            winner.source
        )  # first, as what is too long or too deep to parse ends the process
        return form_of_source(winner.source)
    except UNREADABLE:
        return winner.source
