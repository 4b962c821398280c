"""Backward elimination: every part of a composition that answers which did not choose it can do without is left out.

One part at a time is dropped, or exchanged for a plainer one that needs fewer parameters; what is left is fitted again,
and people are predicted with the others' population (pooled responses: each trial from the others). A part
stays only if leaving it out costs more than its price, log n nats in all however many responses there are, and more
than two standard errors of the paired difference (see `loss`): the
search has chosen it among hundreds on responses of the same people, so that one standard error is soon found. Log prior
odds of what is left out, divided by the number of responses, count as part of that cost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from lakatos.theories.discovery.grammar_search.prior_odds import (
    EQUAL_ODDS,
    Part,
    PriorOdds,
    parts_of,
)
from lakatos.theories.discovery.grammar_search.proposal import settled
from lakatos.theories.discovery.grammar_search.search_tree import combined
from lakatos.theories.engine.scoring.score import ScoreEstimate, UnitScores, paired_difference
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.grammar import Composition, Grammar

HeldOutScores = tuple[UnitScores, ...]
"""One per experiment, a unit per person (per trial where responses are pooled)."""
Validate = Callable[[Sequence[Composition]], Sequence[HeldOutScores | TheoryError]]
"""Scores of compositions on responses that they were not fitted to, or the error that stopped one."""
Same = Callable[[Composition, Sequence[Composition]], Sequence[bool]]
"""Function that marks which compositions, with some of another's parameters, predict exactly the same as it does."""
MECHANISM = 0.3
"""Price of a mechanism, in parameters."""
CLEAR = 2.0
"""Standard errors that a part must be missed by."""
MOST_CHANGES = 12
"""Changes that are made, at most."""
MOST_PAIRS = 4
"""Pairs of parts that are left out together, when no single one can be; those that are missed least."""


@dataclass(frozen=True)
class PrunedComposition:
    """Remaining part of a composition, and what was removed."""

    composition: Composition
    changes: tuple[str, ...]
    """Changes in the words of `Grammar.edits`, in the order in which they were made."""
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
        lost = parts_of(composition) - parts_of(smaller)
        if lost & null or not (smaller.size < composition.size or parameters < own):
            continue
        if smaller.size == composition.size and not own & _of(
            grammar, parts_of(smaller) - parts_of(composition)
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
    price: float = np.inf,
    same: Same | None = None,
    odds: PriorOdds = EQUAL_ODDS,
) -> PrunedComposition:
    """Leave out one part after the other for as long as nothing is lost by it, the least missed first.

    What changes no prediction on these trials goes before anything is fitted.

    Nothing that was fitted on the way is clearly better than what is left: small losses do not add up.

    What could not be missed among more parts is tried again once nothing else can go, and parts two at once after
    that, since one may only make up for the other.

    Args:
        grammar: Grammar of the composition.
        composition: To be pruned; its priors do not matter.
        validate: Fits and scores compositions.
        price: Nats per choice that a parameter must be worth, at most; `price_of_parameter` by default.
        same: Tells which simplifications predict what the whole does.
        odds: Prior odds of mechanisms.
    """
    here, changes = Composition(composition.slots), list[str]()
    while same and (idle := _first_idle(grammar, here, same)):
        words, here = idle
        changes.append(words)
    (own,) = validate([here])
    if not isinstance(own, TheoryError):
        price = min(price, price_of_parameter(own))
    fitted = [] if isinstance(own, TheoryError) else [(here, own)]

    def is_free(item: _TriedChange) -> bool:
        """Whether it costs nothing beside what is there now, nor beside anything else that was fitted."""
        tried = (item.composition, item.scores)
        return not any(is_ahead(grammar, other, tried, price, odds) for other in fitted)

    kept: dict[str, _TriedChange] = {}
    while len(changes) < MOST_CHANGES and not isinstance(own, TheoryError):
        free: list[_TriedChange] = []
        for options in _options(grammar, here, kept):
            tried = _tried(grammar, here, own, options, validate, price, odds)
            fitted += [(item.composition, item.scores) for item in tried]
            free = [item for item in tried if is_free(item)]
            kept |= {item.words: item for item in tried if item not in free}
            if free:
                break
        if not free:
            break
        best = min(
            free, key=lambda item: (settled(item.cost.value + item.prior - item.worth), item.words)
        )
        here, own = best.composition, best.scores
        changes.append(best.words)
    needed = [item for item in kept.values() if item.among == here.key]
    costs = ((item.words, item.cost.value, item.cost.standard_error) for item in needed)
    return PrunedComposition(here, tuple(changes), tuple(costs))


def _first_idle(grammar: Grammar, here: Composition, same: Same) -> tuple[str, Composition] | None:
    """The first simplification, if any, with which every prediction stays what it is.

    Where a slot must be filled and what fills it changes nothing, the slot gets the first mechanism of the grammar.
    """
    own = set(grammar.parameters(here))
    simpler = [*simplifications(grammar, here), *_usual_fillings(grammar, here)]
    options = [item for item in simpler if own.issuperset(grammar.parameters(item[1]))]
    alike = same(here, [smaller for _, smaller in options])
    return next((item for item, is_same in zip(options, alike, strict=True) if is_same), None)


def _usual_fillings(grammar: Grammar, here: Composition) -> Iterator[tuple[str, Composition]]:
    """Compositions with the first mechanism of the grammar in a slot that takes one and has another."""
    usual = {(slot.name, grammar.names[slot.name][0]) for slot in grammar.slots if slot.least == 1}
    for words, edit in grammar.edits(here):
        if edit.size == here.size and parts_of(edit) - parts_of(here) <= usual:
            yield words, edit


@dataclass(frozen=True)
class _TriedChange:
    """A simplification, with what it costs on responses to which nothing was fitted."""

    words: str
    composition: Composition
    scores: HeldOutScores
    cost: ScoreEstimate
    worth: float
    """Price of what it leaves out."""
    prior: float
    """Log prior odds that it gives up, in nats per choice."""
    among: object
    """Key of the composition that was simplified."""


def is_no_loss(cost: ScoreEstimate, worth: float, prior: float = 0.0) -> bool:
    """Whether a cost is at most what it is worth, or no more than chance makes of nothing.

    Args:
        cost: Nats per choice that a simplification loses.
        worth: Price of what it leaves out.
        prior: Log prior odds that it gives up, in nats per choice; negative where it gains.
    """
    chance = CLEAR * cost.standard_error
    return settled(cost.value + prior) <= settled(
        max(worth, chance if np.isfinite(chance) else 0.0)
    )


def is_ahead(
    grammar: Grammar,
    first: tuple[Composition, HeldOutScores],
    second: tuple[Composition, HeldOutScores],
    price: float,
    odds: PriorOdds,
) -> bool:
    """Whether the first of two forms predicts better by more than its further parts cost and than chance makes.

    Args:
        grammar: Grammar of both.
        first, second: Compositions with their scores on responses that they were not fitted to.
        price: Nats per choice that a parameter must be worth.
        odds: Prior odds of mechanisms.
    """
    (form, scores), (other, other_scores) = first, second
    worth = price * (size_of(grammar, form) - size_of(grammar, other))
    prior = (odds.of(form) - odds.of(other)) / n_responses(scores)
    return not is_no_loss(loss(scores, other_scores), worth, prior)


def loss(first: HeldOutScores, second: HeldOutScores) -> ScoreEstimate:
    """Measure how much better the first of two forms predicts, in nats per choice, with the standard error.

    Where a part matters for few units, what they gain is in the standard error too, and no gain would ever be two
    standard errors. So gains are also compared with those of each unit cut at log n nats, and the clearer of the two
    comparisons decides.

    References:
        Huber (1965), A robust version of the probability ratio test, Annals of Mathematical Statistics 36, 1753-1758.
    """
    found = paired_difference(first, second)
    most = np.log(max(sum(len(units.n_choices) for units in first), 2))
    cut = []
    for own, other in zip(first, second, strict=True):
        gains = np.clip(own.log_predictive - other.log_predictive, -most, most)
        cut.append(replace(own, log_predictive=other.log_predictive + gains))
    robust = paired_difference(cut, second)
    if min(found.value, robust.value) <= 0:
        return found
    error = found.value * robust.standard_error / robust.value
    return replace(found, standard_error=min(found.standard_error, error))


def price_of_parameter(scores: HeldOutScores) -> float:
    """Price of a parameter in nats per choice: log n in all, for n people (n trials where responses are pooled).

    A price per response would grow with the data, and no part could ever pay for itself.
    """
    n_units = sum(len(units.n_choices) for units in scores)
    return float(np.log(max(n_units, 2))) / n_responses(scores)


def n_responses(scores: HeldOutScores) -> float:
    """Number of responses behind scores."""
    return sum(float(units.n_choices.sum()) for units in scores)


def _options(
    grammar: Grammar, here: Composition, kept: Mapping[str, _TriedChange]
) -> Iterator[list[tuple[str, Composition]]]:
    """Simplifications to try, those of each list only if the list before had none that was free."""
    single = simplifications(grammar, here)
    yield [item for item in single if item[0] not in kept]
    stale = {words for words, item in kept.items() if item.among != here.key}
    yield [item for item in single if item[0] in stale]
    known = {words for words, item in kept.items() if item.among == here.key}
    drops = [item for item in single if item[0] in known and item[1].size < here.size]
    drops.sort(key=lambda item: kept[item[0]].cost.value)
    pairs = []
    for first, second in combinations(drops, 2):
        smaller = combined(grammar, here, [first[1], second[1]])
        if smaller is not None:
            pairs.append((f"{first[0]}; {second[0]}", smaller))
    yield pairs[:MOST_PAIRS]


def _tried(
    grammar: Grammar,
    here: Composition,
    own: HeldOutScores,
    options: Sequence[tuple[str, Composition]],
    validate: Validate,
    price: float,
    odds: PriorOdds,
) -> list[_TriedChange]:
    """Compute the cost of each simplification; those that do not run are excluded."""
    results = validate([smaller for _, smaller in options]) if options else []
    found = []
    for (words, smaller), scores in zip(options, results, strict=True):
        if not isinstance(scores, TheoryError):
            worth = price * (size_of(grammar, here) - size_of(grammar, smaller))
            cost = loss(own, scores)
            prior = (odds.of(here) - odds.of(smaller)) / n_responses(scores)
            found.append(_TriedChange(words, smaller, scores, cost, worth, prior, here.key))
    return found


def _of(grammar: Grammar, parts: Collection[Part]) -> set[str]:
    """Names of the parameters that some mechanisms have."""
    return {name for slot, part in parts for name in grammar.mechanism(slot, part).parameters}


def size_of(grammar: Grammar, composition: Composition) -> float:
    """Parameters of a composition, and its mechanisms that say something at their price."""
    n_parts = sum(not item.is_null for item in grammar.used(composition))
    return len(grammar.parameters(composition)) + MECHANISM * n_parts
