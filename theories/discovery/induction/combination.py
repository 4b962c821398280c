"""Scores and gates made of others, as far as they promise to explain something.

Two scores are weighed against each other, an option is worth one number where it has some property and another where
it has not, and all that the language of expressions (`induction.expression`) can say in two steps. All of
these are hundreds of thousands; those are kept that are best followed by everybody, by single people, or within some
region of trials: where a gate is open or closed, or where a score that people follow does not decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.discovery.induction import expression
from lakatos.theories.discovery.induction.expression import ExpressionPool
from lakatos.theories.discovery.induction.library import values_of_all
from lakatos.theories.discovery.induction.phrase import the
from lakatos.theories.discovery.induction.terms import (
    InductionAnswers,
    TermTable,
    TrialQuantity,
    above,
    as_code_lengths,
    quantities_of,
    roundest,
    side,
    without_twins,
)
from lakatos.theories.language.option_score import OptionScore

Array = NDArray[Any]
WEIGHTS = (0.1, 0.15, 0.2, 0.25, 1 / 3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
CHOICE_OF_WEIGHT = float(np.log(2 * len(WEIGHTS))) + expression.STEP
N_OVERALL = 24
N_REGION = 3
N_PERSON = 2
N_FAVOURED = 12
"""Numbers that are combined with more others than the cheapest are."""
N_GUIDES = 60
"""Leads by which new gates are judged."""
N_GATES = 160
BY_SIDE = 3.0
"""Nats for numbers that differ between the sides: people rarely care where a product is shown."""
PRICE = 1.5
"""Nats for a condition's place, beyond what the scores cost."""
CLOSE = 1e-4
MOST_CELLS = 2_500_000
"""Expressions times trials that are looked at together, for want of memory."""
MOST_DIVISIONS = 7 * expression.MOST_CONSTANTS
"""Largest number of divisions of the trials that one number makes (see `terms.quantities_of`)."""
MOST_FORMS = 3 * expression.MOST_CONSTANTS + 2
"""Largest number of forms in which one number is compared."""


@dataclass(frozen=True)
class NumberAtoms:
    """Numbers, each different, of which expressions are made."""

    scores: tuple[OptionScore, ...]
    values: Array
    """``(n, n_trials, 2)``."""

    @property
    def prices(self) -> Array:
        """Price of each number in nats: ``(n,)``."""
        return np.array([score.price for score in self.scores])


def atoms_of(answers: InductionAnswers) -> NumberAtoms:
    """The vocabulary's scores and what lists are reduced to."""
    words = answers.vocabulary
    known = {score.code for score in words.scores}
    made = (*expression.numbers(words.lists, words.levels), *words.further)
    more = [score for score in made if score.code not in known]
    found = answers.scores
    if more:
        new = values_of_all(words, [score.code for score in more], answers.stimuli)
        more = [
            replace(item, price=item.price + expression.STEP) for item in as_code_lengths(more, new)
        ]
        found = np.concatenate([found, new])
    scores = (*words.scores, *more)
    kept = without_twins(found, np.array([score.price for score in scores]))
    return NumberAtoms(tuple(scores[place] for place in kept), found[kept])


def with_combinations(
    answers: InductionAnswers, divisions: TermTable, regions: Array | None = None
) -> InductionAnswers:
    """The responses with scores made of others, the promising ones, in their vocabulary.

    Args:
        answers: All.
        divisions: Gates by whose sides promise is judged, besides everybody and every person.
        regions: ``(n, n_trials)`` more of them.
    """
    tables = _tables(answers, divisions, regions)
    atoms = atoms_of(answers)
    plain = expression.ExpressionPool(
        atoms.values.astype(np.float32),
        atoms.prices,
        np.arange(len(atoms.scores)),
        lambda place: atoms.scores[place],
    )
    overall, best = _promise(plain, tables)
    favoured = np.array(sorted(best, key=lambda place: -overall[place])[:N_FAVOURED], dtype=np.intp)
    words = answers.vocabulary
    known = {score.code for score in words.scores}
    scores: list[OptionScore] = []
    found: list[Array] = []
    for pool in (plain, *_pools(answers, atoms, favoured)):
        if not len(pool):
            continue
        for place in sorted(_promise(pool, tables)[1]):
            score = pool.write(place)
            if score.code not in known:
                known.add(score.code)
                scores.append(score)
                found.append(pool.values[place])
    if not scores:
        return answers
    return replace(
        answers,
        vocabulary=replace(words, scores=(*words.scores, *scores)),
        scores=np.concatenate([answers.scores, np.array(found, dtype=np.float64)]),
    )


def _pools(
    answers: InductionAnswers, atoms: NumberAtoms, favoured: NDArray[np.intp]
) -> Iterator[ExpressionPool]:
    """All that is made of others, a few at a time."""
    yield _weighed(answers)
    yield _conditional(answers)
    yield _crossed(answers)
    most = MOST_CELLS // answers.scores.shape[1]
    size = max(most // MOST_FORMS, 1)
    for start in range(0, len(atoms.scores), size):
        some = slice(start, start + size)
        yield expression.compared(atoms.scores[some], atoms.values[some])
    pairs = expression.cheapest_pairs(atoms.prices, favoured)
    size = max(most // len(expression.COMBINED), 1)
    for start in range(0, len(pairs), size):
        yield expression.paired(atoms.scores, atoms.values, pairs[start : start + size])


Table = tuple[Array, Array, int]
"""Responses for the second option less those for the first, all, ``(n_regions, n_trials)`` each; how many to keep."""


def _tables(answers: InductionAnswers, divisions: TermTable, regions: Array | None) -> list[Table]:
    counts = answers.counts.astype(np.float32)
    masks = [np.ones((1, len(counts)), dtype=np.float32), divisions.values, 1 - divisions.values]
    if regions is not None:
        masks.append(regions.astype(np.float32))
    every = np.concatenate(masks)
    net, total = counts[:, 1] - counts[:, 0], counts.sum(axis=1)
    tables = [
        (every[:1] * net, every[:1] * total, N_OVERALL),
        (every[1:] * net, every[1:] * total, N_REGION),
    ]
    if answers.has_order:
        own = np.zeros((2, int(answers.person.max()) + 1, len(counts)), dtype=np.float32)
        np.add.at(own, (answers.response, answers.person, answers.trial), answers.count)
        tables.append((own[1] - own[0], own[1] + own[0], N_PERSON))
    return tables


def _promise(pool: ExpressionPool, tables: Sequence[Table]) -> tuple[Array, set[int]]:
    """Measure how well everybody follows each expression, and find the places of those that are best somewhere."""
    signed = side(pool.values[..., 1] - pool.values[..., 0]).astype(np.float32)
    decides = np.abs(signed)
    prices = pool.prices.astype(np.float32)
    chosen: set[int] = set()
    overall = np.zeros(len(pool))
    for number, (net, total, most) in enumerate(tables):
        agreed, used = net @ signed.T, total @ decides.T
        score = (
            fast_likelihood(0.5 * (used + agreed), 0.5 * (used - agreed))
            + used * np.float32(np.log(2))
            - prices
        )
        if number == 0:
            overall = score[0].astype(np.float64)
        for row in score:
            chosen |= set(_best_of_origins(row, pool.origin, most))
    return overall, chosen


def fast_likelihood(first: Array, second: Array) -> NDArray[np.float32]:
    """The log likelihood of `theories.discovery.induction.tree`, in single precision."""
    first, second = np.maximum(first, np.float32(1e-6)), np.maximum(second, np.float32(1e-6))
    total = first + second
    return np.asarray(first * np.log(first / total) + second * np.log(second / total))


def _best_of_origins(score: Array, origin: NDArray[np.intp], most: int) -> list[int]:
    """The best expression of each of the ``most`` best origins."""
    few = min(len(WEIGHTS) * most, len(score))
    order = np.argpartition(-score, few - 1)[:few]
    order = order[np.argsort(-score[order], kind="stable")]
    _, first = np.unique(origin[order], return_index=True)
    return [int(place) for place in order[np.sort(first)[:most]]]


def more_gates(
    answers: InductionAnswers, atoms: NumberAtoms, signed: TermTable, guides: NDArray[np.intp]
) -> TermTable:
    """Divisions by thresholds on numbers that the vocabulary's own gates leave out, as far as they promise anything.

    Numbers are looked at a few at a time, as all masks together may take more memory than there is.

    Args:
        answers: All.
        atoms: Numbers to put thresholds on.
        signed: Leads.
        guides: Those of them by which a gate is judged: one is followed on each side of it.
    """
    judge = _DivisionJudge.of(answers.counts, signed.take(guides))
    n_each = max(MOST_CELLS // (MOST_DIVISIONS * len(answers.counts)), 1)
    kept: list[tuple[float, TrialDivision]] = []
    for start in range(0, len(atoms.scores), n_each):
        some = slice(start, start + n_each)
        quantities = quantities_of(zip(atoms.scores[some], atoms.values[some], strict=True))
        tried = [found for quantity in quantities if (found := divisions_of(quantity))]
        if tried:
            kept += _best_of_each(tried, judge)
            kept = sorted(kept, key=lambda item: -item[0])[:N_GATES]
    if not kept:
        return signed.take([])
    best = [division for _, division in kept]
    items = tuple(above(item.quantity, roundest(item.low, item.high), item.price) for item in best)
    return TermTable(items, np.array([item.mask for item in best], dtype=np.float32))


@dataclass(frozen=True, eq=False)
class TrialDivision:
    """A threshold between two neighbouring values of a quantity."""

    quantity: TrialQuantity
    low: float
    high: float
    price: float
    """Nats, with the choice among thresholds."""

    @property
    def mask(self) -> Array:
        """``(n_trials,)`` whether the quantity is above."""
        return self.quantity.value > (self.low + self.high) / 2


def divisions_of(quantity: TrialQuantity) -> list[TrialDivision]:
    """Thresholds between the values of a quantity, evenly spread over them where there are many."""
    value = np.sort(np.round(quantity.value, 6))
    # Closer ones cannot be told apart in text.
    steps = np.flatnonzero(value[1:] - value[:-1] > CLOSE * max(-value[0], value[-1]))
    cuts = steps[_evenly_among(len(steps))]
    if not len(cuts):
        return []
    price = quantity.price + float(np.log(len(cuts)))
    low, high = value[cuts].tolist(), value[cuts + 1].tolist()
    return [TrialDivision(quantity, *ends, price) for ends in zip(low, high, strict=True)]


@cache
def _evenly_among(n: int) -> NDArray[np.intp]:
    """Places in a list of ``n``: all, or `expression.MOST_CONSTANTS` of them evenly spread."""
    if n <= expression.MOST_CONSTANTS:
        return np.arange(n)
    places = np.linspace(0, n - 1, expression.MOST_CONSTANTS + 2)[1:-1]
    return np.unique(places.round().astype(np.intp))


def _best_of_each(
    tried: Sequence[Sequence[TrialDivision]], judge: _DivisionJudge
) -> list[tuple[float, TrialDivision]]:
    """The best division of each quantity, with what it explains."""
    divisions = [division for own in tried for division in own]
    masks = np.array([division.mask for division in divisions], dtype=np.float32)
    prices = np.array([division.price for division in divisions], dtype=np.float32)
    score = judge.explained(masks) - prices
    ends = np.cumsum([len(own) for own in tried])[:-1]
    best = [int(own.argmax()) for own in np.split(score, ends)]
    starts = [0, *ends]
    return [
        (float(score[start + place]), divisions[start + place])
        for start, place in zip(starts, best, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _DivisionJudge:
    """Judge of how well responses are explained where one lead is followed on each side of a division."""

    leads: NDArray[np.float32]
    """``(n_leads, n_trials)``."""
    decides: NDArray[np.float32]
    net: NDArray[np.float32]
    """``(n_trials,)`` responses for the second option less those for the first."""
    total: NDArray[np.float32]
    prices: NDArray[np.float32]

    @classmethod
    def of(cls, counts: Array, guides: TermTable) -> _DivisionJudge:
        answers = counts.astype(np.float32)
        return cls(
            guides.values,
            np.abs(guides.values),
            answers[:, 1] - answers[:, 0],
            answers.sum(axis=1),
            guides.prices.astype(np.float32),
        )

    def explained(self, masks: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(n_divisions,)`` nats, of masks ``(n_divisions, n_trials)``, less the price of the two leads."""
        whole = (self.leads * self.net).sum(axis=1), (self.decides * self.total).sum(axis=1)
        inside = (masks * self.net) @ self.leads.T, (masks * self.total) @ self.decides.T
        outside = whole[0] - inside[0], whole[1] - inside[1]
        return self._followed(*inside) + self._followed(*outside)

    def _followed(self, agreed: Array, used: Array) -> NDArray[np.float32]:
        """Nats of the lead that explains most, among responses of which ``used`` are decided by each."""
        likelihood = fast_likelihood(0.5 * (used + agreed), 0.5 * (used - agreed))
        explained = likelihood + used * np.float32(np.log(2))
        return np.asarray((explained - self.prices).max(axis=1))


def _weighed(answers: InductionAnswers) -> ExpressionPool:
    """All weighed pairs of basic scores."""
    # Scores of which options can differ, and by how much they typically do.
    known = answers.vocabulary.scores
    spreads = {
        row: float(np.std(answers.scores[row, :, 1] - answers.scores[row, :, 0]))
        for row, score in enumerate(known)
        if score.is_basic and "xp.arange" not in score.code
    }
    varying = [row for row, spread in spreads.items() if spread > 0]

    # Each weighs the other in round numbers of the unit in which both differ alike.
    signs_and_weights = np.multiply.outer((1, -1), WEIGHTS).ravel()
    scores: list[OptionScore] = []
    pairs: list[int] = []
    found: list[Array] = []
    for number, (i, j) in enumerate(combinations(varying, 2)):
        unit = 10.0 ** np.round(np.log10(spreads[i] / spreads[j]))
        for factor in signs_and_weights * unit:
            weight = float(f"{factor:.3g}")
            scores.append(_plus(known[i], known[j], weight))
            pairs.append(2 * number + int(weight > 0))
            found.append(answers.scores[i] + weight * answers.scores[j])
    return _pool(answers, scores, pairs, found)


def _plus(first: OptionScore, second: OptionScore, weight: float) -> OptionScore:
    """One score plus a multiple of another, as code and in words."""
    sign, verb = ("+", "plus") if weight > 0 else ("-", "minus")
    times = f"{abs(weight):g} * " if abs(weight) != 1 else ""
    code = f"({first.code}) {sign} {times}({second.code})"
    words = f"{first.words}, {verb} {expression.multiple(abs(weight))}{the(second.words)}"
    return OptionScore(code, words, first.price + second.price + CHOICE_OF_WEIGHT)


def _conditional(answers: InductionAnswers) -> ExpressionPool:
    """One number where an option has a property, and another where it has not, by property."""
    vocabulary = answers.vocabulary.scores
    worths = [row for row, score in enumerate(vocabulary) if score.is_worth]
    scores: list[OptionScore] = []
    pairs: list[int] = []
    found: list[Array] = []
    for row, condition in enumerate(vocabulary):
        holds = answers.scores[row] > 0
        if not condition.is_property or holds.all() or not holds.any():
            continue
        for one, other in permutations(worths, 2):
            first, second = vocabulary[one], vocabulary[other]
            words = f"{first.words} ({condition.stated}; otherwise {the(second.words)})"
            code = f"xp.where({condition.code}, {first.code}, {second.code})"
            scores.append(
                OptionScore(code, words, first.price + second.price + condition.price + PRICE)
            )
            pairs.append(row)
            found.append(np.where(holds, answers.scores[one], answers.scores[other]))
    return _pool(answers, scores, pairs, found)


def _crossed(answers: InductionAnswers) -> ExpressionPool:
    """One number of A beside another one of B."""
    vocabulary = answers.vocabulary.scores
    has_one_unit = answers.vocabulary.has_one_unit
    worths = [row for row, score in enumerate(vocabulary) if score.is_worth and has_one_unit]
    scores: list[OptionScore] = []
    found: list[Array] = []
    for one, other in permutations(worths, 2):
        first, second = vocabulary[one], vocabulary[other]
        code = f"xp.stack([({first.code})[:, 0], ({second.code})[:, 1]], axis=-1)"
        words = f"number (of A the {first.words}, of B the {second.words})"
        scores.append(
            OptionScore(code, words, first.price + second.price + BY_SIDE + expression.STEP)
        )
        found.append(np.stack([answers.scores[one, :, 0], answers.scores[other, :, 1]], axis=-1))
    return _pool(answers, scores, list(range(len(scores))), found)


def _pool(
    answers: InductionAnswers, scores: list[OptionScore], origin: list[int], found: list[Array]
) -> ExpressionPool:
    return ExpressionPool(
        np.array(found).reshape(-1, *answers.scores.shape[1:]),
        np.array([score.price for score in scores]),
        np.array(origin, dtype=np.intp),
        scores.__getitem__,
    )
