"""Clauses of a composed theory that hang on no number, tried by exchanging the part of the theory that they tell.

"Weight outcomes by their probabilities" has no strength that could be at a null value. But it is about how
people choose: the same people, for whom that part of the code is left out, or exchanged for the plainest other one of
its slot, must choose otherwise on the trials that were asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.engine.checks.clause_check import (
    LEAST,
    LEAST_REVERSED,
    N_PEOPLE,
    TriedClause,
    not_reversed,
    share_reversed,
)
from lakatos.theories.engine.checks.tested_theory import TestedTheory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.account import PLACE, StatedClause, is_learned
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, composition_of
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

Array = NDArray[np.float64]


MOST_OTHERS = 4
"""Other parts that are put in a part's place, one after the other, until one changes how people choose."""


@dataclass(frozen=True)
class PartExchange:
    """A part of a theory, and what the theory is without it."""

    clauses: tuple[StatedClause, ...]
    """Clauses that the part states without a number."""
    others: tuple[tuple[str, Composition], ...]
    """Behaviour of people instead, as a clause that is empty where the part is left out; the plainest first."""


def exchanges(theory: Theory, grammar: Grammar) -> Iterator[PartExchange]:
    """One for each part that says something without a number that was learned."""
    if theory.composition is None:
        return
    literal = {name: prior.to_literal() for name, prior in theory.priors.items()}
    whole = composition_of(theory.composition, literal)
    stated = {clause.wording.clause: clause for clause in theory.account().clauses}
    for part in grammar.used(whole):
        says = [wording.clause for wording in part.wordings]
        clauses = tuple(
            stated[text] for text in says if text in stated and _is_untried(stated[text], theory)
        )
        if clauses and not part.is_null:
            yield PartExchange(clauses, tuple(_others(grammar, whole, part)))


def _is_untried(clause: StatedClause, theory: Theory) -> bool:
    """Whether a clause that is told hangs on no number that was learned, or states what no number of it shows."""
    if clause.is_detail or clause.wording.parameter:
        return False
    names = [item["name"] for item in PLACE.finditer(clause.wording.clause)]
    learned = any(name in theory.priors and is_learned(theory.priors[name]) for name in names)
    return clause.wording.reverses_choices or not learned


def _others(
    grammar: Grammar, whole: Composition, part: Mechanism
) -> Iterator[tuple[str, Composition]]:
    """The composition with a part left out or, where its slot must be filled, with others in its place."""
    have = whole.slots[part.slot]
    rest = tuple(name for name in have if name != part.name)
    least = next(slot.least for slot in grammar.slots if slot.name == part.slot)
    if len(rest) >= least:
        yield "", Composition(dict(whole.slots) | {part.slot: rest}, whole.priors)
        return
    own = set(grammar.parameters(whole))
    others = [grammar.mechanism(part.slot, name) for name in grammar.names[part.slot]]
    others = [item for item in others if item.name not in have]
    others.sort(key=lambda item: len(set(item.parameters) - own))
    for other in others[:MOST_OTHERS]:
        slots = dict(whole.slots) | {part.slot: (*rest, other.name)}
        has_subject = any(wording.subject for wording in other.wordings)
        words = other.claim if has_subject else f"they {other.claim}"
        yield words, Composition(slots, whole.priors)


def without_turns(theory: Theory, grammar: Grammar) -> Theory:
    """A composed theory without the parts that turn choices round whatever was learned.

    Where a part's slot must be filled, another part that turns nothing takes its place.

    Raises:
        GrammarError: The rest is no composition.
    """
    literal = {name: prior.to_literal() for name, prior in theory.priors.items()}
    whole = straight = composition_of(theory.composition or {}, literal)
    for part in grammar.used(whole):
        if _turns(part):
            found = (rest for _, rest in _others(grammar, straight, part))
            straight = next(
                (rest for rest in found if not _adds_turn(grammar, rest, whole)), straight
            )
    if straight == whole:
        return theory
    return read_program(TheoryProgram(grammar.write(straight), "grammar"))


def _turns(part: Mechanism) -> bool:
    """Whether a part turns choices round by no number that could be at a null value."""
    return any(item.overrides and not item.parameter for item in part.wordings)


def _adds_turn(grammar: Grammar, composition: Composition, before: Composition) -> bool:
    """Whether a composition has a part that turns choices round, which it had not before."""
    had = grammar.used(before)
    return any(_turns(part) for part in grammar.used(composition) if part not in had)


def try_exchanges(
    theory: Theory, grammar: Grammar, domain: Domain, sandbox: Sandbox, trials: Sequence[Stimuli]
) -> list[TriedClause]:
    """Ask the same people with and without each part that says something without a number.

    Args:
        theory: Theory with the people that it learned; nothing is tried of one that the grammar did not compose.
        grammar: Grammar of the domain.
        domain: Domain of the trials.
        sandbox: Sandbox in which theories run.
        trials: Presented trials; people who learn go through answers drawn at random.

    Raises:
        TheoryError: A theory cannot be run on these trials.
    """
    found: list[TriedClause] = []
    wanted = list(exchanges(theory, grammar))
    if not wanted:
        return found
    trial = TestedTheory(theory, domain, sandbox, lambda _: trials, None, seed=0)
    people = theory.population(N_PEOPLE)
    whole = _answers(trial, people)
    for exchange in wanted:
        words, instead = _first_change(exchange, grammar, trial, people, whole)
        found += [_tried(clause, words, whole, instead) for clause in exchange.clauses]
    return found


def _first_change(
    exchange: PartExchange,
    grammar: Grammar,
    trial: TestedTheory,
    people: Mapping[str, Array],
    whole: Sequence[Array],
) -> tuple[str, list[Array]]:
    """Return what people do instead, in words and as ``(n_people, n_rows, n_options)`` probabilities.

    They are those with the first part in its place that changes anything, or with the last that was tried.
    """
    found = "", list(whole)
    for words, composition in exchange.others:
        found = words, _answers_of(composition, grammar, trial, people)
        if _largest(_changes(whole, found[1])) >= LEAST:
            break
    return found


def _answers_of(
    composition: Composition, grammar: Grammar, trial: TestedTheory, people: Mapping[str, Array]
) -> list[Array]:
    """Predict the same people on the same trials by another composition; new parameters are as declared."""
    other = copy(trial)
    other.theory = read_program(TheoryProgram(grammar.write(composition), "grammar"))
    declared = other.theory.population(N_PEOPLE)
    return _answers(other, {name: people.get(name, own) for name, own in declared.items()})


def _answers(trial: TestedTheory, people: Mapping[str, Array]) -> list[Array]:
    """``(n_people, n_rows, n_options)`` probabilities on each set of trials."""
    with trial.asking(trial.sheets) as ask:
        return list(ask(people))


def _changes(whole: Sequence[Array], instead: Sequence[Array]) -> list[Array]:
    """``(n_rows, n_options)`` by how much each mean probability is higher with a part."""
    return [(own - other).mean(axis=0) for own, other in zip(whole, instead, strict=True)]


def _largest(changes: Sequence[Array]) -> float:
    return max(float(np.abs(change).max(initial=0.0)) for change in changes)


def _tried(
    clause: StatedClause, other: str, whole: Sequence[Array], instead: Sequence[Array]
) -> TriedClause:
    """Test one clause of a part by the exchange of the part for another one, given in words."""
    changes = _changes(whole, instead)
    size = _largest(changes)
    typical = float(np.mean([np.abs(change).mean() for change in changes]))
    stated = clause.statement
    where = f"if instead {other}," if other else "without it"
    words = f"the claim says: {stated}; {where}"
    if size < LEAST:
        sentence = f"{words} no probability changes here."
        return TriedClause(clause, False, size, sentence, idle=True)
    share = share_reversed(whole, instead)
    if clause.wording.reverses_choices and share < LEAST_REVERSED:
        return not_reversed(clause, f"the claim says: {stated}", size, share)
    sentence = f"{words} probabilities change by {typical:.2g} on average, by up to {size:.2g}."
    return TriedClause(clause, True, size, sentence)
