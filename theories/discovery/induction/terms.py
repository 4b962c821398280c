"""The parts of rules, with their values on the responses: leads to follow, gates to divide by, memory of one's past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli, Trials, identities
from lakatos.theories.discovery.induction.library import values_of_all, vocabulary
from lakatos.theories.discovery.induction.phrase import at_cut, having, with_article
from lakatos.theories.discovery.induction.rule_fit import Responses
from lakatos.theories.language.option_score import TINY, OptionScore, TermVocabulary

Array = NDArray[Any]


class StateMemory(NamedTuple):
    """An entry of a theory's state."""

    name: str
    renewed: str
    """Expression of what it is after a response."""
    start: str = "nothing"
    """Expression of its value before the first response."""


N_FINER = 16
"""Neighbouring thresholds tried."""


@dataclass(frozen=True)
class ChoiceTerm:
    """An expression of ``choose``; ``{0}``, ``{1}`` stand for the variables that hold its scores."""

    code: str
    words: str
    """For a lead, the response of participants who follow it; for a gate, the trials on which it is open."""
    price: float
    scores: tuple[OptionScore, ...] = ()
    memory: tuple[StateMemory, ...] = ()
    """Entries of the state that it reads; renewing one may use ``{0}``, ``{1}`` too."""
    opposite: str = ""
    """Words for doing the contrary."""


@dataclass(frozen=True)
class TermTable:
    """Terms of one kind and their values, one row per term, one column per cell."""

    items: tuple[ChoiceTerm, ...]
    values: NDArray[np.float32]

    @property
    def prices(self) -> Array:
        """Price of each term in nats: ``(n_terms,)``."""
        return np.array([item.price for item in self.items])

    def take(self, rows: Sequence[int] | NDArray[np.intp]) -> TermTable:
        """A table of the terms at ``rows``."""
        return TermTable(
            tuple(self.items[row] for row in rows), self.values[np.asarray(rows, dtype=np.intp)]
        )

    def at(self, cells: NDArray[np.intp]) -> TermTable:
        """The same terms on other cells."""
        return TermTable(self.items, self.values[:, cells])

    def joined(self, other: TermTable) -> TermTable:
        """A table of these terms and then the other's."""
        return TermTable(self.items + other.items, np.concatenate([self.values, other.values]))


@dataclass(frozen=True)
class InductionAnswers:
    """All experiments in one table: rows in presentation order within a person."""

    vocabulary: TermVocabulary
    scores: Array
    """``(n_scores, n_trials, 2)`` on the distinct trials of all experiments."""
    group: NDArray[np.intp]
    """``(n_trials,)`` the same number for trials that are the same or mirror images."""
    trial: NDArray[np.intp]
    """``(n_rows,)``."""
    person: NDArray[np.intp]
    response: NDArray[np.intp]
    count: Array
    previous: NDArray[np.intp]
    """``(n_rows,)`` the row before of the same person, -1 at the first."""
    number: Array
    """``(n_rows,)`` earlier rows of the same person."""
    has_order: bool
    """Whether the order of responses is known; False where only counts are."""
    stimuli: tuple[Stimuli, ...]
    """Stimuli of every experiment."""
    options: tuple[str, ...] = ("A", "B")
    """Names of the two options in the domain."""

    @cached_property
    def responses(self) -> Responses:
        """Responses to the distinct trials."""
        trials, is_pooled = np.arange(self.scores.shape[1]), not self.has_order
        return Responses(self.trial, self.person, self.response, self.count, trials, 2, is_pooled)

    @property
    def counts(self) -> Array:
        """``(n_trials, 2)`` responses of all participants."""
        return self.responses.counts


def read_answers(domain: Domain, trials: Sequence[Trials]) -> InductionAnswers:
    """Put experiments in one table and evaluate all scores on their trials."""
    stimuli = tuple(item.stimuli for item in trials)
    words = vocabulary(domain, stimuli)
    found = values_of_all(words, [score.code for score in words.scores], stimuli)
    words = replace(words, scores=as_code_lengths(words.scores, found))
    keys = [key.hex() for shown in stimuli for key in identities(domain, shown)]
    _, group = np.unique(np.array(keys), return_inverse=True)
    people = [item.participant for item in trials]
    shown_trials = [item.trial for item in trials]
    previous, number = zip(*map(_rows_before, people), strict=True)
    before = _numbered(previous, [len(rows) for rows in previous])
    return InductionAnswers(
        vocabulary=words,
        scores=found,
        group=group.astype(np.intp),
        trial=_numbered(shown_trials, [len(shown) for shown in stimuli]),
        person=_numbered(people, [item.n_participants for item in trials]),
        response=np.concatenate([item.response for item in trials]).astype(np.intp),
        count=np.concatenate([item.count for item in trials]).astype(np.float64),
        previous=np.where(np.concatenate(previous) < 0, -1, before),
        number=np.concatenate(number),
        has_order=not any(item.pooled for item in trials),
        stimuli=stimuli,
        options=tuple(domain.options),
    )


def _numbered(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> NDArray[np.intp]:
    """Numbers of each experiment, those of later ones from where the ones before end."""
    starts = np.cumsum([0, *sizes])[:-1]
    moved = [column + start for column, start in zip(columns, starts, strict=True)]
    return np.concatenate(moved).astype(np.intp)


def _rows_before(participant: NDArray[Any]) -> tuple[NDArray[np.intp], Array]:
    """The row of the same person before each row, -1 at the first, and how many there are."""
    before, number = np.full(len(participant), -1), np.zeros(len(participant))
    for person in np.unique(participant):
        own = np.flatnonzero(participant == person)
        before[own[1:]] = own[:-1]
        number[own] = np.arange(len(own))
    return before, number


def as_code_lengths(scores: Sequence[OptionScore], values: Array) -> tuple[OptionScore, ...]:
    """Scores at prices of which the probabilities ``exp(-price)`` of all that differ add up to 1 (Kraft's equality).

    So a price grows with the number of terms that were to be chosen from (Rissanen, 1978).

    Args:
        scores: Scores with the prices that compare them with one another.
        values: ``(n_scores, n_trials, 2)``.
    """
    prices = np.array([score.price for score in scores])
    different = without_twins(values, prices)
    if not len(different):
        return tuple(scores)
    more = float(np.log(np.exp(-prices[different]).sum()))
    return tuple(replace(score, price=score.price + more) for score in scores)


def without_twins(values: Array, prices: Array) -> NDArray[np.intp]:
    """Places of the cheapest of those numbers that are not one another's up to shift, unit and sign, nor constant."""
    kept: dict[bytes, int] = {}
    flat = values.reshape(len(values), -1)
    low, high = flat.min(axis=1)[:, None], flat.max(axis=1)[:, None]
    scaled = np.round((flat - low) / np.maximum(high - low, 1e-12), 6).astype(np.float32)
    for place in np.argsort(prices, kind="stable"):
        own = scaled[place]
        if high[place] > low[place]:
            turned = np.round(1 - own, 6)
            kept.setdefault(
                min((own + np.float32(0)).tobytes(), (turned + np.float32(0)).tobytes()), int(place)
            )
    return np.array(sorted(kept.values()), dtype=np.intp)


def side(lead: Array) -> Array:
    """1, 0 or -1, without rounding errors."""
    return np.subtract(lead >= TINY, lead <= -TINY, dtype=np.float32)


def leads(answers: InductionAnswers) -> TermTable:
    """Every score's lead on the distinct trials, as a number."""
    items = tuple(
        ChoiceTerm(
            "lead({0})",
            f"take {option_with(score, more=True)}",
            score.price,
            (score,),
            opposite=f"take {option_with(score, more=False)}",
        )
        for score in answers.vocabulary.scores
    )
    return TermTable(items, (answers.scores[..., 1] - answers.scores[..., 0]).astype(np.float32))


def option_with(score: OptionScore, *, more: bool) -> str:
    """The product with the greater score, or with the smaller one, in words."""
    if score.is_property or score.is_flag:
        is_noun = not score.is_property and score.stated.startswith("with ")
        stated = f"with {with_article(score.words)}" if is_noun else score.stated
        stated = f"{'' if more else 'not'} {stated}".strip().replace("not with ", "without ")
        return f"the product {stated}"
    return f"the product {having(score.words, more=more)}"


def signs(terms: TermTable) -> TermTable:
    """Leads reduced to the side that they favour; of equal ones the cheapest."""
    items = tuple(
        ChoiceTerm(f"side({t.code}, xp)", t.words, t.price, t.scores, t.memory, t.opposite)
        for t in terms.items
    )
    return distinct(
        TermTable(items, side(terms.values.astype(np.float64)).astype(np.float32)), is_signed=True
    )


@dataclass(frozen=True)
class TrialQuantity:
    """A number of each trial, which divides trials by a threshold."""

    code: str
    words: str
    """The quantity in words, with ``{cut}`` or ``{percent}`` for the threshold."""
    price: float
    score: OptionScore
    value: Array
    n_cuts: int


def quantities(answers: InductionAnswers) -> Iterator[TrialQuantity]:
    """Yield the numbers for thresholds: differences, totals, extremes and each option's own, of each basic score."""
    basic = [
        (score, answers.scores[row])
        for row, score in enumerate(answers.vocabulary.scores)
        if score.is_basic
        and "xp.arange" not in score.code  # of these, only the favoured side means anything
    ]
    return quantities_of(basic)


def _their(name: str) -> str:
    return name if name[0].isdigit() else f"their {name}"


def quantities_of(numbers: Iterable[tuple[OptionScore, Array]]) -> Iterator[TrialQuantity]:
    """Find the `quantities` of any scores with their values ``(n_trials, 2)``."""
    for score, value in numbers:
        name = score.words
        lead = value[:, 1] - value[:, 0]
        forms = [
            (
                "xp.abs(lead({0}))",
                score.apart or f"the products differ by more than {{cut}} in {_their(name)}",
                2,
                np.abs(lead),
                12,
            ),
            (
                "lead({0})",
                f"the {name} of B exceeds that of A by more than {{cut}}",
                3,
                lead,
                8,
            ),
            (
                "{0}.sum(axis=1)",
                f"the {name}, summed over both products, is above {{cut}}",
                3,
                value.sum(axis=1),
                16,
            ),
            (
                "{0}.max(axis=1)",
                f"the {name} of at least one product is above {{cut}}",
                3,
                value.max(axis=1),
                8,
            ),
            (
                "{0}.min(axis=1)",
                f"the {name} of each product is above {{cut}}",
                3,
                value.min(axis=1),
                8,
            ),
            ("{0}[:, 0]", f"the {name} of A is above {{cut}}", 4, value[:, 0], 8),
            ("{0}[:, 1]", f"the {name} of B is above {{cut}}", 4, value[:, 1], 8),
        ]
        for code, words, price, column, n_cuts in forms:
            yield TrialQuantity(code, words, price + score.price, score, np.asarray(column), n_cuts)


def gates(answers: InductionAnswers) -> TermTable:
    """Divisions of the distinct trials by thresholds of basic scores, and by agreement between leads."""
    items: list[ChoiceTerm] = []
    columns: list[Array] = []
    for quantity in quantities(answers):
        cuts = thresholds(quantity.value, quantity.n_cuts)
        for cut in cuts:
            items.append(above(quantity, cut, quantity.price + float(np.log(len(cuts)))))
            columns.append(quantity.value > cut)
    basic = [
        (score, answers.scores[row])
        for row, score in enumerate(answers.vocabulary.scores)
        if score.is_basic
    ]
    sides = [side(value[:, 1] - value[:, 0]) for _, value in basic]
    for ((first, _), one), ((second, _), two) in combinations(zip(basic, sides, strict=True), 2):
        price = first.price + second.price
        code = "lead({0}) * lead({1})"
        ahead = f"{option_with(first, more=True)} is"
        ahead_too = option_with(second, more=True).replace("product", "one", 1)
        items.append(
            ChoiceTerm(f"{code} < -1e-9", f"{ahead} not {ahead_too}", price, (first, second))
        )
        items.append(
            ChoiceTerm(f"{code} > 1e-9", f"{ahead} also {ahead_too}", price + 0.5, (first, second))
        )
        columns += [one * two < 0, one * two > 0]
    return distinct(TermTable(tuple(items), np.array(columns, dtype=np.float32)), is_signed=False)


def finer(answers: InductionAnswers, like: TermTable) -> TermTable:
    """The gates ``like``, joined by those with a neighbouring threshold on the same quantity."""
    items: list[ChoiceTerm] = []
    columns: list[Array] = []
    wanted: dict[tuple[str, OptionScore], list[float]] = {}
    for term in like.items:
        code, comparison, cut = term.code.rpartition(" > ")
        if comparison and len(term.scores) == 1 and not term.memory:
            wanted.setdefault((code, term.scores[0]), []).append(float(cut))
    for quantity in quantities(answers):
        for around in wanted.get((quantity.code, quantity.score), ()):
            every = np.array(thresholds(quantity.value, len(quantity.value)))
            for cut in every[np.argsort(np.abs(every - around), kind="stable")[:N_FINER]]:
                items.append(
                    above(quantity, float(cut), quantity.price + float(np.log(len(every))))
                )
                columns.append(quantity.value > cut)
    if not items:
        return like
    return distinct(
        like.joined(TermTable(tuple(items), np.array(columns, dtype=np.float32))), is_signed=False
    )


def above(quantity: TrialQuantity, cut: float, price: float) -> ChoiceTerm:
    """The gate that is open where a quantity is greater than ``cut``."""
    whole = bool(np.all(quantity.value == np.round(quantity.value)))
    words = at_cut(quantity.words, cut, whole=whole)
    return ChoiceTerm(f"{quantity.code} > {cut:g}", words, price, (quantity.score,))


def thresholds(value: Array, most: int) -> list[float]:
    """Choose at most ``most`` cuts between the values, and those next to 0; each the roundest number there is."""
    found = np.unique(np.round(value, 9))
    cuts = (found[1:] + found[:-1]) / 2
    places = np.arange(len(cuts))
    if len(cuts) > most:
        wanted = np.quantile(value, np.arange(1, most + 1) / (most + 1))
        nearest = [
            *wanted,
            cuts[cuts > 0].min(initial=np.inf),
            cuts[cuts < 0].max(initial=-np.inf),
        ]  # around ties
        places = np.unique([np.abs(cuts - cut).argmin() for cut in nearest if np.isfinite(cut)])
    return [roundest(float(found[place]), float(found[place + 1])) for place in places]


def roundest(low: float, high: float) -> float:
    """The number between, ends excluded, that is a multiple of the largest power of ten, or half of one."""
    middle = (low + high) / 2
    unit = 10.0 ** np.ceil(np.log10(high - low))
    for _ in range(3):
        for step in (unit, unit / 2):
            nearest = float(f"{np.round(middle / step) * step:.6g}") + 0.0
            if low < nearest < high:
                return nearest
        unit /= 10
    return float(f"{middle:.6g}")


def distinct(terms: TermTable, *, is_signed: bool) -> TermTable:
    """Remove constant terms, and of those that are equal on all cells (or opposite) all but the cheapest."""
    kept: dict[bytes, int] = {}
    for row in np.argsort(terms.prices, kind="stable"):
        column = terms.values[row]
        if np.ptp(column) == 0:
            continue
        place = int(np.flatnonzero(column)[0]) if is_signed else 0
        flipped = column[place] < 0 if is_signed else column[0] > 0
        code = (-column if is_signed else 1 - column) if flipped else column
        kept.setdefault((code + np.float32(0)).astype(np.int8).tobytes(), int(row))
    return terms.take(sorted(kept.values()))
