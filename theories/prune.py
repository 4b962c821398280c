"""Backward elimination: every part of a composition that answers which did not choose it can do without is left out.

One part at a time is dropped, or exchanged for a plainer one that needs fewer parameters; what is left is fitted again,
and people are predicted with the population that the others taught (pooled answers: each trial from the others). A part
stays only if leaving it out costs more than its price and more than one standard error of the paired difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lakatos.theories.errors import TheoryError
from lakatos.theories.grammar import Composition, Grammar
from lakatos.theories.score import UnitScores, paired_difference

HeldOutScores = tuple[UnitScores, ...]
"""One per experiment, a unit per person (per trial where answers are pooled)."""
Validate = Callable[[Sequence[Composition]], Sequence[HeldOutScores | TheoryError]]
"""Scores of compositions on answers that they were not fitted to, or the error that stopped one."""
MECHANISM = 0.3
"""Price of a mechanism, in parameters."""


@dataclass(frozen=True)
class PrunedComposition:
    """What is left of a composition, and what was left out."""

    composition: Composition
    changes: tuple[str, ...]
    """In the words of `Grammar.edits`, in the order in which they were made."""
    needed: tuple[tuple[str, float, float], ...]
    """Changes that would have cost too much, with what each costs in nats per choice and its standard error."""


def simplifications(grammar: Grammar, composition: Composition) -> list[tuple[str, Composition]]:
    """Compositions with one part less, or with one part exchanged for a plainer one; null mechanisms stay.

    A part is plainer that needs only some of the parameters; of those the first of the grammar without any, and
    all with some.
    """
    own = set(grammar.parameters(composition))
    null = {(item.slot, item.name) for item in grammar.mechanisms if item.is_null}
    found: dict[object, tuple[str, Composition]] = {}
    plain: set[object] = set()
    for words, smaller in grammar.edits(composition):
        parameters = set(grammar.parameters(smaller))
        lost = _parts(composition) - _parts(smaller)
        if lost & null or not (smaller.size < composition.size or parameters < own):
            continue
        if smaller.size == composition.size and not own & _of(
            grammar, _parts(smaller) - _parts(composition)
        ):
            if frozenset(lost) in plain:
                continue
            plain.add(frozenset(lost))
        found.setdefault(smaller.key, (words, smaller))
    return list(found.values())


def prune(
    grammar: Grammar,
    composition: Composition,
    validate: Validate,
    *,
    price: float,
    n_rounds: int = 12,
) -> PrunedComposition:
    """Leave out one part after the other for as long as nothing is lost by it, the least missed first.

    Args:
        grammar: Of the composition.
        composition: To be pruned; its priors do not matter.
        validate: Fits and scores compositions.
        price: Nats per choice that a parameter must be worth.
        n_rounds: Parts that are left out, at most.
    """
    here = Composition(composition.slots)
    (own,) = validate([here])
    changes: list[str] = []
    needed: dict[str, tuple[str, float, float]] = {}
    for _ in range(n_rounds):
        if isinstance(own, TheoryError):
            break
        # What could not be missed among more parts is not tried again among fewer.
        options = [item for item in simplifications(grammar, here) if item[0] not in needed]
        results = validate([item[1] for item in options]) if options else []
        free: list[tuple[float, str, Composition, HeldOutScores]] = []
        for (words, smaller), result in zip(options, results, strict=True):
            if isinstance(result, TheoryError):
                continue
            cost = paired_difference(own, result)
            worth = price * (_size(grammar, here) - _size(grammar, smaller))
            if cost.value <= max(
                worth, cost.standard_error if np.isfinite(cost.standard_error) else 0.0
            ):
                free.append((cost.value - worth, words, smaller, result))
            else:
                needed[words] = (words, cost.value, cost.standard_error)
        if not free:
            break
        _, words, here, own = min(free, key=lambda item: (item[0], item[1]))
        changes.append(words)
    return PrunedComposition(here, tuple(changes), tuple(needed.values()))


def _parts(composition: Composition) -> set[tuple[str, str]]:
    return {(slot, name) for slot, names in composition.slots.items() for name in names}


def _of(grammar: Grammar, parts: set[tuple[str, str]]) -> set[str]:
    """Names of the parameters that some mechanisms have."""
    return {name for slot, part in parts for name in grammar.mechanism(slot, part).parameters}


def _size(grammar: Grammar, composition: Composition) -> float:
    n_parts = sum(not item.is_null for item in grammar.used(composition))
    return len(grammar.parameters(composition)) + MECHANISM * n_parts
