"""What rules are made of, with its values on the answers: leads to follow, gates to divide by, memory of one's past."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli, Trials, identities
from lakatos.theories.induction.library import (
    TINY,
    OptionScore,
    TermVocabulary,
    namespace,
    values_of_all,
    vocabulary,
)

Array = NDArray[Any]


class StateMemory(NamedTuple):
    """An entry of a theory's state."""

    name: str
    renewed: str
    """Expression of what it is after an answer."""
    start: str = "nothing"
    """Likewise before the first one."""


LAST = StateMemory("last", "response[..., 1] - response[..., 0]")
BEFORE = StateMemory("before", 'state["last"]')
NUMBER = StateMemory("number", 'state["number"] + 1.0')
BALANCE = StateMemory("balance", 'state["balance"] + response[..., 1] - response[..., 0]')
RUN = StateMemory(
    "run",
    'xp.where(state["last"] == response[..., 1] - response[..., 0], state["run"] + 1.0, 1.0)',
)
HABIT = StateMemory("habit", '0.7 * state["habit"] + 0.3 * (response[..., 1] - response[..., 0])')
HAD = StateMemory("had_{0}", "(response * {0}).sum(axis=-1)")
GAP = StateMemory("gap_{0}", "xp.abs(lead({0})) + 0.0 * response[..., 0]")
TOP = StateMemory("top_{0}", "{0}.max(axis=1) + 0.0 * response[..., 0]")
FORGONE = StateMemory(
    "forgone_{0}",
    "xp.where((response[..., 1] - response[..., 0]) * side(lead({0}), xp) > 0, 0.0, "
    'state["forgone_{0}"] + xp.abs(lead({0})))',
)
INDULGED = StateMemory(
    "indulged_{0}",
    "xp.where((response[..., 1] - response[..., 0]) * side(lead({0}), xp) < 0, 0.0, "
    'state["indulged_{0}"] + xp.abs(lead({0})))',
)
"""What choices of one kind have come to since the last one of the other kind."""
N_SUMS = 16
"""Thresholds on such sums."""
FADING = 0.7
"""What a habit keeps from one trial to the next."""
N_FINER = 16
"""Neighbouring thresholds tried."""


@dataclass(frozen=True)
class ChoiceTerm:
    """An expression of ``choose``; ``{0}``, ``{1}`` stand for the variables that hold its scores."""

    code: str
    words: str
    """Of a lead: what is done by those who follow it. Of a gate: when it is open."""
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
        """What each term costs in nats: ``(n_terms,)``."""
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
    """False where only counts are known."""
    domain: str
    stimuli: tuple[Stimuli, ...]
    """Of every experiment."""

    @property
    def counts(self) -> Array:
        """``(n_trials, 2)`` answers of everybody."""
        table = np.zeros((self.scores.shape[1], 2))
        np.add.at(table, (self.trial, self.response), self.count)
        return table


def read_answers(domain: Domain, trials: Sequence[Trials]) -> InductionAnswers:
    """Put experiments in one table and evaluate all scores on their trials."""
    words = vocabulary(domain.name, [item.stimuli for item in trials])
    found = values_of_all(
        words, [score.code for score in words.scores], [item.stimuli for item in trials]
    )
    words = replace(words, scores=as_code_lengths(words.scores, found))
    keys = [key for item in trials for key in identities(domain, item.stimuli)]
    _, group = np.unique(np.array([key.hex() for key in keys]), return_inverse=True)
    previous, number = [], []
    starts = np.cumsum([0, *(len(item.stimuli) for item in trials)])
    people = np.cumsum([0, *(item.n_participants for item in trials)])
    rows = np.cumsum([0, *(len(item.trial) for item in trials)])
    for item, first_row in zip(trials, rows, strict=False):
        before, place = np.full(len(item.trial), -1), np.zeros(len(item.trial))
        for one in np.unique(item.participant):
            own = np.flatnonzero(item.participant == one)
            before[own[1:]] = own[:-1] + first_row
            place[own] = np.arange(len(own))
        previous.append(before)
        number.append(place)
    return InductionAnswers(
        vocabulary=words,
        scores=found,
        group=group.astype(np.intp),
        trial=np.concatenate(
            [item.trial + start for item, start in zip(trials, starts, strict=False)]
        ).astype(np.intp),
        person=np.concatenate(
            [item.participant + n for item, n in zip(trials, people, strict=False)]
        ).astype(np.intp),
        response=np.concatenate([item.response for item in trials]).astype(np.intp),
        count=np.concatenate([item.count for item in trials]).astype(np.float64),
        previous=np.concatenate(previous).astype(np.intp),
        number=np.concatenate(number),
        has_order=not any(item.pooled for item in trials),
        domain=domain.name,
        stimuli=tuple(item.stimuli for item in trials),
    )


def as_code_lengths(scores: Sequence[OptionScore], values: Array) -> tuple[OptionScore, ...]:
    """Scores at prices of which the probabilities ``exp(-price)`` of all that differ add up to 1 (Kraft's equality).

    So a price grows with the number of terms that were to be chosen from (Rissanen, 1978).

    Args:
        scores: At the prices that compare them with one another.
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
            f"take {more(score)}",
            score.price,
            (score,),
            opposite=f"take {less(score)}",
        )
        for score in answers.vocabulary.scores
    )
    return TermTable(items, (answers.scores[..., 1] - answers.scores[..., 0]).astype(np.float32))


def more(score: OptionScore) -> str:
    """The product with the greater score, in words."""
    return (
        f"the only product with {score.words}"
        if score.is_property
        else f"the product with the greater {score.words}"
    )


def less(score: OptionScore) -> str:
    """The product with the smaller score, in words."""
    return (
        f"the only product without {score.words}"
        if score.is_property
        else f"the product with the smaller {score.words}"
    )


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
    """With ``{cut}`` for the threshold."""
    price: float
    score: OptionScore
    value: Array
    n_cuts: int


def quantities(answers: InductionAnswers) -> Iterator[TrialQuantity]:
    """What thresholds are put on: differences, totals, extremes and each option's own number, of every basic score."""
    basic = [
        (score, answers.scores[row])
        for row, score in enumerate(answers.vocabulary.scores)
        if score.is_basic
        and "xp.arange" not in score.code  # of these, only the favoured side means anything
    ]
    return quantities_of(basic)


def quantities_of(numbers: Iterable[tuple[OptionScore, Array]]) -> Iterator[TrialQuantity]:
    """As `quantities`, of any scores with their values ``(n_trials, 2)``."""
    for score, value in numbers:
        name = score.words
        lead = value[:, 1] - value[:, 0]
        forms = [
            (
                "xp.abs(lead({0}))",
                f"the products' {name} differ by more than {{cut}}",
                2,
                np.abs(lead),
                12,
            ),
            (
                "lead({0})",
                f"the {name} of B is greater than that of A by more than {{cut}}",
                3,
                lead,
                8,
            ),
            (
                "{0}.sum(axis=1)",
                f"the {name} of both products together is above {{cut}}",
                3,
                value.sum(axis=1),
                16,
            ),
            ("{0}.max(axis=1)", f"the greater {name} is above {{cut}}", 3, value.max(axis=1), 8),
            ("{0}.min(axis=1)", f"the smaller {name} is above {{cut}}", 3, value.min(axis=1), 8),
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
        code, pair = "lead({0}) * lead({1})", f"{first.words} and {second.words}"
        items.append(
            ChoiceTerm(
                f"{code} < -1e-9", f"{pair} favour different products", price, (first, second)
            )
        )
        items.append(
            ChoiceTerm(
                f"{code} > 1e-9", f"{pair} favour the same product", price + 0.5, (first, second)
            )
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
    text = f"{cut:g}"
    return ChoiceTerm(
        f"{quantity.code} > {text}", quantity.words.replace("{cut}", text), price, (quantity.score,)
    )


def thresholds(value: Array, most: int) -> list[float]:
    """At most ``most`` cuts between the values that occur, and those next to 0; each the roundest number there is."""
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
    """Without constant terms, and of those that say the same on all cells (or the contrary) the cheapest."""
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


def past_leads(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Sides that one's own past suggests, on the rows: repeating, and comparing with what was chosen last.

    Args:
        answers: In presentation order.
        of: Leads (numbers) on the distinct trials whose scores may be remembered.
    """
    last, before = _last(answers), _before(answers)
    items = [
        ChoiceTerm(
            'state["last"]',
            "repeat the side chosen last",
            1,
            memory=(LAST,),
            opposite="leave the side chosen last",
        ),
        ChoiceTerm(
            'state["before"]',
            "repeat the side chosen before the last one",
            2,
            memory=(LAST, BEFORE),
            opposite="leave the side chosen before the last one",
        ),
        ChoiceTerm(
            'state["last"] * (state["last"] == state["before"])',
            "repeat the side chosen twice in a row",
            2,
            memory=(LAST, BEFORE),
            opposite="leave the side chosen twice in a row",
        ),
    ]
    columns = [last, before, last * (last == before)]
    for memory, words, column in (
        (BALANCE, "the side chosen more often so far", _balance(answers)),
        (HABIT, "the side chosen more often of late", _habit(answers)),
    ):
        items.append(
            ChoiceTerm(
                f'state["{memory[0]}"]',
                f"repeat {words}",
                2,
                memory=(memory,),
                opposite=f"leave {words}",
            )
        )
        columns.append(column)
    rows = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    for term in of.items:
        score = term.scores[0]
        value = answers.scores[rows[score]]
        lead = side(value[:, 1] - value[:, 0])
        agreed = _earlier(answers, lead[answers.trial] * (2 * answers.response - 1))
        had = _earlier(answers, value[answers.trial, answers.response])
        items.append(
            ChoiceTerm(
                'state["last"] * state["agreed_{0}"]',
                f"repeat the side chosen last if it had the greater {score.words}, else leave it",
                2 + score.price,
                (score,),
                (
                    LAST,
                    StateMemory(
                        "agreed_{0}", "(response[..., 1] - response[..., 0]) * side(lead({0}), xp)"
                    ),
                ),
                f"repeat the side chosen last if it had the smaller {score.words}, else leave it",
            )
        )
        columns.append(last * agreed)
        for option, letter in ((1, "B"), (0, "A")):
            sign = 1 if option else -1
            items.append(
                ChoiceTerm(
                    f'({{0}}[:, {option}] - state["had_{{0}}"]) * (state["last"] != 0)'
                    + ("" if option else " * -1"),
                    f"prefer {letter} where its {score.words} is greater than that of the product chosen last",
                    3 + score.price,
                    (score,),
                    (LAST, HAD),
                    f"prefer {letter} where its {score.words} is smaller than that of the product chosen last",
                )
            )
            columns.append(sign * (value[answers.trial, option] - had) * (last != 0))
        items.append(
            ChoiceTerm(
                '(xp.abs({0}[:, 0] - state["had_{0}"]) - xp.abs({0}[:, 1] - state["had_{0}"])) * (state["last"] != 0)',
                f"take the product with the {score.words} more like that of the product chosen last",
                3 + score.price,
                (score,),
                (LAST, HAD),
                f"take the product with the {score.words} less like that of the product chosen last",
            )
        )
        apart = np.abs(value[answers.trial] - had[:, None])
        columns.append((apart[:, 0] - apart[:, 1]) * (last != 0))
        items.append(
            ChoiceTerm(
                '(1.0 * ({0}[:, 1] > state["had_{0}"] + 1e-9) - ({0}[:, 0] > state["had_{0}"] + 1e-9))'
                ' * (state["last"] != 0)',
                f"take the product whose {score.words} alone is greater than that of the product chosen last",
                3 + score.price,
                (score,),
                (LAST, HAD),
                f"leave the product whose {score.words} alone is greater than that of the product chosen last",
            )
        )
        beats = 1.0 * (value[answers.trial] > had[:, None] + TINY)
        columns.append((beats[:, 1] - beats[:, 0]) * (last != 0))
    own = TermTable(tuple(items), np.array(columns, dtype=np.float32))
    return own.joined(remembered_leads(answers)).joined(kept_leads(answers, of))


SPOKE = "(response[..., 1] - response[..., 0])[..., None] * xp.sign(x[:, 1] - x[:, 0])"
REMEMBERED = (
    StateMemory("sided", SPOKE, "0.0 * x[:, 0][None]"),
    StateMemory("taken", "(response[..., None] * x).sum(axis=-2)", "0.0 * x[:, 0][None]"),
    StateMemory("refused", "((1 - response)[..., None] * x).sum(axis=-2)", "0.0 * x[:, 0][None]"),
)
"""Of rated products, for each cue: whether it spoke for the product that was chosen last, that product's rating, and
the other one's."""
TALLIES = tuple(
    StateMemory(
        name,
        f'state["{name}"] + ({SPOKE} {sign} 0)',
        "0.0 * x[:, 0][None]",
    )
    for name, sign in (("heeded", ">"), ("overruled", "<"))
)
"""Likewise, how often it has spoken for the product chosen, or against it."""
MARKS = (
    StateMemory(
        "verdict", f'xp.where(x[:, 1] != x[:, 0], {SPOKE}, state["verdict"])', "0.0 * x[:, 0][None]"
    ),
    *(
        StateMemory(
            name,
            f'xp.maximum(lifted(state["{name}"], x, xp), 1.0 * ({SPOKE} {sign} 0))',
            "0.0 * x[:, 0][None]",
        )
        for name, sign in (("barred", "<"), ("served", ">"))
    ),
)
"""Likewise, for which product it spoke when it last told them apart; and marks that a cue gets when it is overruled, or
followed, and that all cues lose when none of those without a mark tells the products apart."""
MASKS = (
    ('state["sided"] > 0', "spoke for the product chosen last", 1.5),
    ('state["sided"] < 0', "spoke against the product chosen last", 1.5),
    ('state["sided"] >= 0', "did not speak against the product chosen last", 1.5),
    ('state["sided"] <= 0', "did not speak for the product chosen last", 1.5),
    ('state["sided"] == 0', "spoke for neither product last", 2.5),
    ('state["verdict"] > 0', "were followed when they last spoke", 2.0),
    ('state["verdict"] >= 0', "were not overruled when they last spoke", 2.0),
    ('state["verdict"] < 0', "were overruled when they last spoke", 2.0),
    (
        'lifted(state["barred"], x, xp) == 0',
        "were not overruled since all were last let in again",
        2.5,
    ),
    (
        'lifted(state["served"], x, xp) == 0',
        "were not followed since all were last let in again",
        2.5,
    ),
)
"""All are let in again when none of those left tells the products apart."""


def _remembered_forms() -> Iterator[tuple[str, str, float]]:
    """Numbers of each option ``(n_draws, n_trials, 2)`` that rest on the last trial's ratings: code, words, price."""
    other = "x[:, ::-1]"
    for mask, cues, price in MASKS:
        heard = f"({mask})[:, :, None]"
        yield f"({heard} * x).sum(axis=-1)", f"total of the ratings on cues that {cues}", price + 1
        yield (
            f"({heard} * (x > {other})).sum(axis=-1)",
            f"number of cues ahead among those that {cues}",
            price + 1.5,
        )
        yield (
            f"xp.where({heard}, x, 1e3).min(axis=-1)",
            f"lowest rating on cues that {cues}",
            price + 2,
        )
        yield (
            f"xp.where({heard}, x, -1e3).max(axis=-1)",
            f"highest rating on cues that {cues}",
            price + 2,
        )
        for order, which in (("0.5", "most"), ("2.0", "least")):
            decay = f"{order} ** xp.arange(x.shape[-1])"
            words = f"rating on the {which} valid cue that differs among those that {cues}"
            yield f"({heard} * (x > {other}) * {decay}).sum(axis=-1)", words, price + 2
    for name, words in (("taken", "the product chosen last"), ("refused", "the product left last")):
        before = f'state["{name}"][:, :, None]'
        seen = '(state["last"] != 0)[..., None]'
        yield (
            f"-xp.abs(x - {before}).sum(axis=-1) * {seen}",
            f"likeness in all ratings to {words}",
            3,
        )
        yield (
            f"(x == {before}).sum(axis=-1) * {seen}",
            f"number of ratings equal to those of {words}",
            3,
        )
        yield (
            f"(x > {before}).sum(axis=-1) * {seen}",
            f"number of ratings above those of {words}",
            3,
        )
        yield (
            f"(x >= {before}).sum(axis=-1) * {seen}",
            f"number of ratings not below those of {words}",
            3.5,
        )
    place = "xp.arange(x.shape[-1])"
    for name, words in (("heeded", "followed"), ("overruled", "overruled")):
        tally = f'state["{name}"][:, :, None]'
        yield (
            f"((x > {other}) * {tally}).sum(axis=-1)",
            f"number of times that the cues ahead were {words}",
            3,
        )
        for sign, how in (("", "most"), ("-", "least")):
            for order, tie in (("-", "more"), ("+", "less")):
                claim = f"xp.where(x > {other}, {sign}{tally} {order} 1e-3 * {place}, -1e6).max(axis=-1)"
                yield (
                    claim,
                    f"advantage on the cue {words} {how} often so far, of several the {tie} valid",
                    3.5,
                )


def remembered_leads(answers: InductionAnswers) -> TermTable:
    """Leads, on the rows, of numbers that put the ratings of now beside those of the last trial."""
    if answers.domain != "multiattribute":
        return TermTable((), np.zeros((0, len(answers.trial)), dtype=np.float32))
    forms = list(_remembered_forms())
    parts = Stimuli.in_few_parts(answers.stimuli)
    first = np.cumsum([0, *map(len, parts)])
    found = np.zeros((len(forms), len(answers.trial), 2), dtype=np.float32)
    last = _last(answers)
    for number, stimuli in enumerate(parts):
        rows = np.flatnonzero(
            (answers.trial >= first[number]) & (answers.trial < first[number + 1])
        )
        shown = namespace(answers.vocabulary, stimuli.take(answers.trial[rows] - first[number]))
        state = {"last": last[rows][None]}
        for memory in (*REMEMBERED, *TALLIES, *MARKS):
            state[memory.name] = _renewed(
                answers, memory, rows, shown, {"x": shown["x"]}, shown["x"].shape[-1]
            )
        for place, (code, _, _) in enumerate(forms):
            found[place, rows] = eval(code, {**shown, "state": state})[0]
    items = tuple(
        ChoiceTerm(
            f"(({code})[..., 1] - ({code})[..., 0])",
            f"take the product with the greater {words}",
            price,
            memory=(
                LAST,
                *(
                    memory
                    for memory in (*REMEMBERED, *TALLIES, *MARKS)
                    if f'"{memory.name}"' in code
                ),
            ),
            opposite=f"take the product with the smaller {words}",
        )
        for code, words, price in forms
    )
    return TermTable(items, found[..., 1] - found[..., 0])


BOTH = "xp.stack([nothing, nothing], axis=-1)"
N_CLASSES = (2, 3, 4, 6)
"""Into which the values of a score are divided."""
CALENDAR = (0.0, 7.0, 30.0, 90.0, 365.0)
"""Days up to which a payment is one of today, of the week, the month, the quarter, the year; some people look less far
ahead."""


def _kept_forms(score: OptionScore, value: Array) -> Iterator[tuple[ChoiceTerm, StateMemory, int]]:
    """Leads that rest on what was taken on either side, or of either kind, with what they remember and its width."""
    price = 3 + score.price

    def lead(code: str, words: tuple[str, str], memory: StateMemory, more: float) -> ChoiceTerm:
        text = f"({code}[..., 1] - {code}[..., 0])"
        return ChoiceTerm(text, words[0], price + more, (score,), (memory,), words[1])

    for name, renewed, words in (
        (
            "newest",
            "xp.where(response > 0, {0}, {old})",
            "{which} {score} the last time that it was taken",
        ),
        ("summed", "{old} + response * {0}", "{which} total of the {score} taken there so far"),
    ):
        entry = f'state["{name}_{{0}}"]'
        memory = StateMemory(f"{name}_{{0}}", renewed.replace("{old}", entry), BOTH)
        greater, smaller = (
            words.format(which=which, score=score.words) for which in ("greater", "smaller")
        )
        says = (f"take the side with the {greater}", f"take the side with the {smaller}")
        yield lead(entry, says, memory, 0.0), memory, 2
    levels = thresholds(value, 3)
    for number, level in enumerate(levels):
        for name, sign, how in (("high", ">", "above"), ("low", "<=", "not above")):
            entry = f'state["{name}_{number}_{{0}}"]'
            memory = StateMemory(
                f"{name}_{number}_{{0}}",
                f"xp.maximum({entry}, response) * ({{0}} {sign} {level:g})",
                BOTH,
            )
            where = f"side where the {score.words} has been {how} {level:g} ever since such a product was taken there"
            yield (
                lead(
                    entry,
                    (f"take the {where}", f"leave the {where}"),
                    memory,
                    np.log(2 * len(levels)),
                ),
                memory,
                2,
            )
    divided = {tuple(thresholds(value, n - 1)) for n in N_CLASSES}
    if score.code == "t":
        divided |= {CALENDAR[:n] for n in range(2, len(CALENDAR) + 1)}
    for number, cuts in enumerate(sorted(divided)):
        at = ", ".join(f"{cut:g}" for cut in cuts)
        own = f"classes({{0}}, [{at}], xp)"
        entry = f'state["tally_{number}_{{0}}"]'
        memory = StateMemory(
            f"tally_{number}_{{0}}",
            f"{entry} + (response[..., None] * {own}).sum(axis=-2)",
            f"nothing[..., None] + xp.zeros({len(cuts) + 1})",
        )
        code = f"({entry}[..., None, :] * {own}).sum(axis=-1)"
        kind = f"class of {score.words} (divided at {at}) was taken"
        says = (
            f"take the product whose {kind} more often so far",
            f"take the product whose {kind} less often so far",
        )
        yield lead(code, says, memory, np.log(len(divided))), memory, len(cuts) + 1


def kept_leads(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Leads, on the rows, of what was taken before on either side of the screen, or of either option's kind.

    Args:
        answers: In presentation order.
        of: Leads on the distinct trials whose scores are remembered where they are what an option may be worth.
    """
    places = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    space = namespace(answers.vocabulary, answers.stimuli[0])
    every = np.arange(len(answers.trial))
    items: list[ChoiceTerm] = []
    columns: list[Array] = []
    for score in (term.scores[0] for term in of.items if term.scores[0].is_worth):
        value = answers.scores[places[score]]
        if np.ptp(value) == 0:
            continue
        shown = value[answers.trial]
        for term, memory, width in _kept_forms(score, value):
            name = memory.name.format("score")
            named = StateMemory(name, memory.renewed.format("score"))
            state = {name: _renewed(answers, named, every, space, {"score": shown}, width)}
            items.append(term)
            columns.append(
                eval(term.code.format("score"), {**space, "score": shown, "state": state})[0]
            )
    return TermTable(
        tuple(items), np.array(columns, dtype=np.float32).reshape(-1, len(answers.trial))
    )


def _renewed(
    answers: InductionAnswers,
    memory: StateMemory,
    rows: NDArray[np.intp],
    space: dict[str, Any],
    columns: dict[str, Array],
    width: int,
) -> Array:
    """What is kept before each of some rows, by the text that renews it; nothing at a person's first.

    Args:
        answers: In presentation order.
        memory: Entry of the state.
        rows: All of some experiments.
        space: What the text may call.
        columns: Variables that it reads, first axis ``n_rows``.
        width: Numbers that are kept.

    Returns:
        ``(1, n_rows, width)``.
    """
    at = np.full(len(answers.trial), -1)
    at[rows] = np.arange(len(rows))
    response = (answers.response[rows, None] == np.arange(2)) * 1.0
    code = compile(memory.renewed, memory.name, "eval")
    found = np.zeros((1, len(rows), width))
    for place in range(1, int(answers.number[rows].max(initial=0)) + 1):
        now = np.flatnonzero(answers.number[rows] == place)
        before = at[answers.previous[rows[now]]]
        then = {name: column[before] for name, column in columns.items()}
        then |= {"response": response[None, before], "state": {memory.name: found[:, before]}}
        found[:, now] = eval(code, {**space, **then})
    return found


def past_gates(answers: InductionAnswers, of: TermTable) -> TermTable:
    """Divisions of the rows by one's own past: the last sides, the number of the trial, what was followed last."""
    last, before, number = _last(answers), _before(answers), answers.number
    items = [
        ChoiceTerm('state["last"] > 0', "B was chosen last", 1, memory=(LAST,)),
        ChoiceTerm('state["last"] < 0', "A was chosen last", 1, memory=(LAST,)),
        ChoiceTerm(
            'state["last"] * state["before"] > 0',
            "the last two choices were on the same side",
            2,
            memory=(LAST, BEFORE),
        ),
        ChoiceTerm('state["number"] % 2 == 1', "the trial's number is even", 2, memory=(NUMBER,)),
        ChoiceTerm(
            'state["number"] % 3 == 2',
            "the trial's number is a multiple of three",
            4,
            memory=(NUMBER,),
        ),
    ]
    columns = [last > 0, last < 0, last * before > 0, number % 2 == 1, number % 3 == 2]
    for length in (2, 3):
        items.append(
            ChoiceTerm(
                f'state["run"] > {length}',
                f"one side was chosen more than {length} times in a row",
                2.5,
                (),
                (LAST, RUN),
            )
        )
        columns.append(_run(answers) > length)
    balance = _balance(answers)
    for cut in (0, 2, 4):
        items.append(
            ChoiceTerm(
                f'xp.abs(state["balance"]) > {cut}',
                f"one side was chosen more often than the other by over {cut}",
                3,
                memory=(BALANCE,),
            )
        )
        columns.append(np.abs(balance) > cut)
    longest = number.max() + 1
    for share in np.arange(1, 8) / 8:
        cut = round(share * longest)
        items.append(
            ChoiceTerm(
                f'state["number"] >= {cut}', f"{cut} trials have gone by", 2.5, memory=(NUMBER,)
            )
        )
        columns.append(number >= cut)
    rows = {score: row for row, score in enumerate(answers.vocabulary.scores)}
    for term in of.items:
        score = term.scores[0]
        value = answers.scores[rows[score]]
        lead = side(value[:, 1] - value[:, 0])
        agreed = _earlier(answers, lead[answers.trial] * (2 * answers.response - 1))
        memory = StateMemory(
            "agreed_{0}", "(response[..., 1] - response[..., 0]) * side(lead({0}), xp)"
        )
        for comparison, words in (("> 0", "greater"), ("< 0", "smaller")):
            items.append(
                ChoiceTerm(
                    f'state["agreed_{{0}}"] {comparison}',
                    f"the product chosen last had the {words} {score.words}",
                    2 + score.price,
                    (score,),
                    (memory,),
                )
            )
            columns.append(agreed > 0 if words == "greater" else agreed < 0)
        had = _earlier(answers, value[answers.trial, answers.response])
        levels = thresholds(value, 3)
        for level in levels:
            items.append(
                ChoiceTerm(
                    f'state["had_{{0}}"] > {level:g}',
                    f"the {score.words} of the product chosen last was above {level:g}",
                    2 + score.price + float(np.log(len(levels))),
                    (score,),
                    (HAD,),
                )
            )
            columns.append(had > level)
        items.append(
            ChoiceTerm(
                '({0}.max(axis=1) > state["had_{0}"]) * (state["last"] != 0) > 0',
                f"some product's {score.words} is above that of the product chosen last",
                3 + score.price,
                (score,),
                (LAST, HAD),
            )
        )
        columns.append((value[answers.trial].max(axis=1) > had) & (last != 0))
        size = np.abs(value[:, 1] - value[:, 0])
        for memory, code, now, words in (
            (
                GAP,
                "xp.abs(lead({0}))",
                size,
                f"the products' {score.words} differ by {{0}} than on the trial before",
            ),
            (
                TOP,
                "{0}.max(axis=1)",
                value.max(axis=1),
                f"the greater {score.words} is {{1}} than on the trial before",
            ),
        ):
            name, earlier = memory.name, _earlier(answers, now[answers.trial])
            for sign, which in ((">", ("more", "greater")), ("<", ("less", "smaller"))):
                edge = "+ 1e-9" if sign == ">" else "- 1e-9"
                gate = f'({code} {sign} state["{name}"] {edge}) * (state["last"] != 0) > 0'
                items.append(
                    ChoiceTerm(
                        gate, words.format(*which), 3 + score.price, (score,), (LAST, memory)
                    )
                )
                apart = now[answers.trial] - earlier
                columns.append((apart > TINY if sign == ">" else apart < -TINY) & (last != 0))
        for memory, kind, words in (
            (
                FORGONE,
                1,
                f"choices of the smaller {score.words} have cost more than {{cut}} since one of the greater",
            ),
            (
                INDULGED,
                -1,
                f"choices of the greater {score.words} have won more than {{cut}} since one of the smaller",
            ),
        ):
            column = _sums(answers, lead, size, kind)
            levels = thresholds(column, N_SUMS)
            for level in levels:
                price = 3 + score.price + float(np.log(len(levels)))
                gate, text = (
                    f'state["{memory.name}"] > {level:g}',
                    words.replace("{cut}", f"{level:g}"),
                )
                items.append(ChoiceTerm(gate, text, price, (score,), (memory,)))
                columns.append(column > level)
    return distinct(TermTable(tuple(items), np.array(columns, dtype=np.float32)), is_signed=False)


def _last(answers: InductionAnswers) -> Array:
    return _earlier(answers, 2.0 * answers.response - 1)


def _before(answers: InductionAnswers) -> Array:
    return _earlier(answers, _last(answers))


def _balance(answers: InductionAnswers) -> Array:
    chosen = _chosen(answers)
    return _along(answers, lambda balance, before: balance + chosen[before])


def _habit(answers: InductionAnswers) -> Array:
    chosen = _chosen(answers)
    return _along(answers, lambda habit, before: FADING * habit + (1 - FADING) * chosen[before])


def _run(answers: InductionAnswers) -> Array:
    same = _last(answers) == _chosen(answers)
    return _along(answers, lambda run, before: np.where(same[before], run + 1, 1.0))


def _sums(answers: InductionAnswers, lead: Array, size: Array, sign: int) -> Array:
    """What the differences add up to since the side ``sign * lead`` was last chosen, before each row."""
    ended, size = sign * lead[answers.trial] * _chosen(answers) > 0, size[answers.trial]
    return _along(answers, lambda total, before: np.where(ended[before], 0.0, total + size[before]))


def _chosen(answers: InductionAnswers) -> Array:
    """1 for the second option, -1 for the first."""
    return 2.0 * answers.response - 1


def _along(answers: InductionAnswers, renew: Callable[[Array, NDArray[np.intp]], Array]) -> Array:
    """A number carried from row to row of a person, 0 at first: ``renew(number, rows)`` as it was before these rows."""
    found = np.zeros(len(answers.trial))
    for place in range(1, int(answers.number.max()) + 1):
        rows = np.flatnonzero(answers.number == place)
        before = answers.previous[rows]
        found[rows] = renew(found[before], before)
    return found


def _earlier(answers: InductionAnswers, column: Array) -> Array:
    """A column's value at the same person's row before, 0 at the first row."""
    return np.where(answers.previous >= 0, column[answers.previous], 0.0)
