"""Clauses of a composed theory that hang on no number, tried by exchanging the part of the theory that they tell.

"Weight what amounts are worth by their chances" has no strength that could be at a null value. But it is about how
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
from lakatos.theories.engine.checks.clause_check import LEAST, N_PEOPLE, TriedClause
from lakatos.theories.engine.checks.tested_theory import TestedTheory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.account import PLACE, ToldClause, is_learned
from lakatos.theories.language.grammar import Composition, Grammar, Mechanism, composition_of
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

Array = NDArray[np.float64]


MOST_OTHERS = 4
"""Other parts that are put in a part's place, one after the other, until one changes how people choose."""


@dataclass(frozen=True)
class PartExchange:
    """A part of a theory, and what the theory is without it."""

    clauses: tuple[ToldClause, ...]
    """What the part says without a number."""
    others: tuple[tuple[str, Composition], ...]
    """What people do instead, as a clause that is empty where the part is left out; the plainest first."""


def exchanges(theory: Theory, grammar: Grammar) -> Iterator[PartExchange]:
    """One for each part that says something without a number that was learned."""
    if theory.composition is None:
        return
    literal = {name: prior.to_literal() for name, prior in theory.priors.items()}
    whole = composition_of(theory.composition, literal)
    told = {clause.wording.says: clause for clause in theory.account().clauses}
    for part in grammar.used(whole):
        says = [words["says"] for words in part.words or ({"says": part.claim},)]
        clauses = tuple(
            told[text] for text in says if text in told and _is_untried(told[text], theory)
        )
        if clauses and not part.is_null:
            yield PartExchange(clauses, tuple(_others(grammar, whole, part)))


def _is_untried(clause: ToldClause, theory: Theory) -> bool:
    """Whether a clause that is told hangs on no number that was learned."""
    names = [item["name"] for item in PLACE.finditer(clause.wording.says)]
    learned = any(name in theory.priors and is_learned(theory.priors[name]) for name in names)
    return not (clause.is_detail or clause.wording.by or learned)


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
        yield other.claim, Composition(slots, whole.priors)


def try_exchanges(
    theory: Theory, grammar: Grammar, domain: Domain, sandbox: Sandbox, trials: Sequence[Stimuli]
) -> list[TriedClause]:
    """Ask the same people with and without each part that says something without a number.

    Args:
        theory: With the people that it learned; nothing is tried of one that the grammar did not compose.
        grammar: Of the domain.
        domain: Of the trials.
        sandbox: In which theories run.
        trials: That were asked; people who learn go through answers drawn at random.

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
        instead, changes = _first_change(exchange, grammar, trial, people, whole)
        found += [_tried(clause, instead, changes) for clause in exchange.clauses]
    return found


def _first_change(
    exchange: PartExchange,
    grammar: Grammar,
    trial: TestedTheory,
    people: Mapping[str, Array],
    whole: Sequence[Array],
) -> tuple[str, list[Array]]:
    """What people do instead, and by how much each probability is higher with the part, ``(n_rows, n_options)``.

    Of the first part in its place that changes anything, or of the last that was tried.
    """
    instead, changes = "", [np.zeros_like(answer) for answer in whole]
    for words, composition in exchange.others:
        answers = _answers_of(composition, grammar, trial, people)
        instead, changes = words, [a - b for a, b in zip(whole, answers, strict=True)]
        if _largest(changes) >= LEAST:
            break
    return instead, changes


def _answers_of(
    composition: Composition, grammar: Grammar, trial: TestedTheory, people: Mapping[str, Array]
) -> list[Array]:
    """What the same people do on the same trials by another composition; numbers that are new are as declared."""
    other = copy(trial)
    other.theory = read_program(TheoryProgram(grammar.write(composition), "grammar"))
    declared = other.theory.population(N_PEOPLE)
    return _answers(other, {name: people.get(name, own) for name, own in declared.items()})


def _answers(trial: TestedTheory, people: Mapping[str, Array]) -> list[Array]:
    """``(n_rows, n_options)`` mean probabilities on each set of trials."""
    with trial.asking(trial.sheets) as ask:
        return [answer.mean(axis=0) for answer in ask(people)]


def _largest(changes: Sequence[Array]) -> float:
    return max(float(np.abs(change).max(initial=0.0)) for change in changes)


def _tried(clause: ToldClause, instead: str, changes: Sequence[Array]) -> TriedClause:
    """What the exchange of a part says about one of its clauses."""
    size = _largest(changes)
    typical = float(np.mean([np.abs(change).mean() for change in changes]))
    said = clause.text if clause.of_some else f"people {clause.text}"
    where = f"if instead they {instead}," if instead else "without it"
    words = f"the claim says: {said}; {where}"
    if size < LEAST:
        sentence = f"{words} no probability changes here."
        return TriedClause(clause, False, size, sentence, idle=True)
    sentence = f"{words} probabilities change by {typical:.2g} on average, by up to {size:.2g}."
    return TriedClause(clause, True, size, sentence)
