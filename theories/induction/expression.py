"""Numbers of an option as expressions: lists of numbers, what is done to them, and how results are combined.

The vocabulary's own scores are those that people have names for. Here the language is closed: any *list* (one number
for each cue, or for each outcome) can be *reduced* to a number, any number *compared* with a level or taken by its
remainder, and any two *combined*. An expression's price is its code length in nats: that of its parts, and the
logarithm of the number of ways to put them together (Rissanen, 1978). Values are reckoned from those of the parts;
text is written for what is kept only.

References:
    Rissanen (1978), Automatica 14(5), 465-471; Piantadosi, Tenenbaum & Goodman (2016), Psychological Review 123(4),
    392-424 (rules as expressions of a grammar that are judged by their length and by what they explain).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.induction.option_score import ORDINALS, OptionScore

Array = NDArray[Any]
STEP = float(np.log(2))
"""Nats for every further step: a longer expression is half as likely beforehand."""
MOST_PAIRED = 70
"""Cheapest numbers, all pairs of which are combined."""
MOST_CONSTANTS = 6
"""Levels with which a number is compared."""
TIMES = (0.5, 1.0, 2.0)
SHARES = "amount in proportion to the largest of both and its probability"
MOST_CUES = 6
"""Up to which each pair of cues is a list of its own."""


@dataclass(frozen=True)
class OptionNumbers:
    """Numbers of each option, ``(n_trials, 2, n)``."""

    code: str
    words: str
    price: float


@dataclass(frozen=True)
class ExpressionPool:
    """Many expressions, of which few will be kept."""

    values: Array
    """``(n, n_trials, 2)``."""
    prices: Array
    """``(n,)`` nats."""
    origin: NDArray[np.intp]
    """``(n,)`` what they are variations of: one of each origin is kept."""
    write: Callable[[int], OptionScore]
    """The expression in a place."""

    def __len__(self) -> int:
        return len(self.prices)


def lists(domain: str, n_cues: Sequence[int], levels: Sequence[float]) -> Iterator[OptionNumbers]:
    """Of rated products, by cue; of gambles, by outcome.

    Args:
        domain: Its name.
        n_cues: Of every experiment.
        levels: Ratings that occur.
    """
    if domain == "risky":
        yield OptionNumbers("x", "amounts", 1.0)
        yield OptionNumbers("q", "probabilities", 1.0)
        yield OptionNumbers("(q * x)", "amounts times probabilities", 1.0)
        yield OptionNumbers("(used * x)", "amounts that may occur", 1.5)
        yield OptionNumbers("(q * (x > 0))", "probabilities of gains", 2.0)
        yield OptionNumbers("(q * (x < 0))", "probabilities of losses", 2.0)
    if domain != "multiattribute":
        return
    other, least = "x[:, ::-1]", min(n_cues)
    yield OptionNumbers("x", "ratings", 0.5)
    yield OptionNumbers(f"(x - {other})", "advantages", 1.5)
    yield OptionNumbers(f"(x > {other})", "cues on which it is ahead", 1.5)
    yield OptionNumbers(f"(x >= {other})", "cues on which it is not behind", 2.0)
    yield OptionNumbers(f"(x == {other})", "cues on which both are equal", 2.0)
    if len(levels) > 2:
        yield OptionNumbers(f"(x * (x > {other}))", "ratings on cues on which it is ahead", 2.0)
        yield OptionNumbers(f"(x * (x < {other}))", "ratings on cues on which it is behind", 2.5)
        yield OptionNumbers(f"(x * (x != {other}))", "ratings on cues on which both differ", 2.0)
        for level in levels[1:]:
            yield OptionNumbers(f"(x * (x >= {level:g}))", f"ratings of at least {level:g}", 3.0)
        for level in levels[1:-1]:
            yield OptionNumbers(
                f"xp.abs(x - {level:g})", f"distances of the ratings from {level:g}", 3.0
            )
    if least > 2:
        yield OptionNumbers("upper(x, xp)", "ratings but the lowest", 2.0)
        yield OptionNumbers("lower(x, xp)", "ratings but the highest", 2.0)
        yield OptionNumbers("changes(x, xp)", "changes from cue to cue", 2.0)
        yield OptionNumbers("xp.abs(changes(x, xp))", "sizes of the changes from cue to cue", 2.0)
    if least > 1:
        for k in range(least):
            yield OptionNumbers(
                f"others(x, {k}, xp)", f"ratings on all cues but the {ORDINALS[k]} most valid", 3.0
            )
    if 3 < least <= MOST_CUES and least == max(n_cues):
        for i, j in combinations(range(least), 2):
            yield OptionNumbers(
                f"cues(x, {i}, {j}, xp)",
                f"ratings on the {ORDINALS[i]} and {ORDINALS[j]} most valid cue",
                3.5,
            )


def numbers(found: Sequence[OptionNumbers], levels: Sequence[float]) -> Iterator[OptionScore]:
    """What lists are reduced to."""
    for part in found:
        x, words, price = part.code, part.words, part.price
        yield OptionScore(f"{x}.sum(axis=-1)", f"total of the {words}", price + 0.5)
        if x.startswith("(x ") and ("> x[" in x or "= x[" in x) and "*" not in x:
            continue  # of what is or is not, only the number matters
        yield OptionScore(f"{x}.max(axis=-1)", f"highest of the {words}", price + 1)
        yield OptionScore(f"{x}.min(axis=-1)", f"lowest of the {words}", price + 1)
        yield OptionScore(
            f"({x}.max(axis=-1) - {x}.min(axis=-1))", f"range of the {words}", price + 1.5
        )
        yield OptionScore(f"{x}.prod(axis=-1)", f"product of the {words}", price + 3)
        ranked = f"xp.sort({x}, axis=-1)"
        middle = f"{ranked}.shape[-1]"
        yield OptionScore(
            f"0.5 * ({ranked}[..., ({middle} - 1) // 2] + {ranked}[..., {middle} // 2])",
            f"median of the {words}",
            price + 1.5,
        )
        yield OptionScore(
            f"{ranked}[..., -2:].sum(axis=-1)",
            f"total of the two highest of the {words}",
            price + 2.5,
        )
        yield OptionScore(
            f"{ranked}[..., :2].sum(axis=-1)",
            f"total of the two lowest of the {words}",
            price + 2.5,
        )
        yield OptionScore(
            f"(xp.diff({ranked}, axis=-1) > 1e-9).sum(axis=-1)",
            f"number of different values among the {words}",
            price + 2,
        )
        yield OptionScore(
            f"(xp.abs({x}[..., None] - {x}[..., None, :]) < 1e-9).sum(axis=-1).max(axis=-1)",
            f"largest number of equal ones among the {words}",
            price + 2.5,
        )
        yield OptionScore(f"{x}.argmax(axis=-1)", f"place of the highest of the {words}", price + 2)
        yield OptionScore(f"{x}.argmin(axis=-1)", f"place of the lowest of the {words}", price + 2)
        yield OptionScore(
            f"({x}[..., -1] - {x}[..., 0])", f"last less first of the {words}", price + 2
        )
        if x in ("x", "q"):
            yield OptionScore(
                f"longest_run({x}, xp)",
                f"longest row of equal neighbours among the {words}",
                price + 3,
            )
        for level in levels:
            yield OptionScore(
                f"({x} >= {level:g}).sum(axis=-1)",
                f"number of at least {level:g} among the {words}",
                price + 2,
            )
            yield OptionScore(
                f"(xp.abs({x} - {level:g}) < 1e-9).sum(axis=-1)",
                f"number of {level:g} among the {words}",
                price + 2,
            )


@dataclass(frozen=True)
class CueCondition:
    """What some cues of a product fulfil, ``(n_trials, 2, n_cues)``."""

    code: str
    words: str
    """After "on which"."""
    price: float


def conditions(levels: Sequence[float]) -> Iterator[CueCondition]:
    """Ways in which a rating may stand beside the other product's and beside the product's own.

    Args:
        levels: Ratings that occur.
    """
    other = "x[:, ::-1]"
    yield CueCondition(f"(x > {other})", "it is ahead", 1.5)
    yield CueCondition(f"(x < {other})", "it is behind", 1.5)
    yield CueCondition(f"(x != {other})", "both differ", 1.5)
    yield CueCondition(f"(x == {other})", "both are equal", 2.0)
    yield CueCondition(
        "unmatched(x, xp)", "its rating is left when equal ones of both cancel out in pairs", 2.5
    )
    for level in levels[2:]:
        gap = level - levels[0]
        yield CueCondition(
            f"(xp.abs(x - {other}) >= {gap:g} - 1e-9)", f"both differ by at least {gap:g}", 3.0
        )
    if len(levels) > 2:
        own, others = (
            f"(x[..., None] == {part}).sum(axis=-1)"
            for part in ("x[..., None, :]", f"{other}[:, :, None]")
        )
        yield CueCondition(f"({own} > 1)", "its rating comes more than once", 2.5)
        yield CueCondition(f"({own} == 1)", "its rating comes but once", 2.5)
        yield CueCondition(f"({others} > 0)", "its rating is found somewhere on the other", 2.5)
        yield CueCondition(f"({others} == 0)", "its rating is found nowhere on the other", 2.5)


def looked_up(domain: str, n_cues: Sequence[int], levels: Sequence[float]) -> Iterator[OptionScore]:
    """Ratings on the cues that fulfil a condition: the first, the last, the highest, the lowest, and how many.

    Args:
        domain: Its name.
        n_cues: Of every experiment.
        levels: Ratings that occur.
    """
    if domain != "multiattribute" or min(n_cues) < 2:
        return
    for item in conditions(levels):
        where, words, price = item.code, f"cues on which {item.words}", item.price + 1
        back = f"first_where({where}[..., ::-1], x[..., ::-1], -1.0, xp)"
        high = f"xp.where({where}.any(axis=-1), highest_where({where}, x, xp), -1.0)"
        low = f"xp.where({where}.any(axis=-1), -highest_where({where}, -x, xp), -1.0)"
        yield OptionScore(
            f"first_where({where}, x, -1.0, xp)",
            f"first rating on {words}, -1 if there are none",
            price,
        )
        yield OptionScore(back, f"last rating on {words}, -1 if there are none", price)
        yield OptionScore(high, f"highest rating on {words}, -1 if there are none", price)
        yield OptionScore(low, f"lowest rating on {words}, -1 if there are none", price)
        yield OptionScore(f"{where}.sum(axis=-1)", f"number of {words}", price)
        yield OptionScore(
            f"(x * {where}).sum(axis=-1)", f"total of the ratings on {words}", price + 0.5
        )
    # Reading until enough is said: Lee & Cummins (2004), Psychonomic Bulletin & Review 11(2), 343-352.
    ahead = "(x - x[:, ::-1])"
    for order, way in (
        ("", "from the most valid cue"),
        ("[..., ::-1]", "from the least valid cue"),
    ):
        for more in range(2, max(min(n_cues), 2)):
            says = f"being ahead when the cues for one first outnumber the others by {more}, read {way}"
            yield OptionScore(f"reached(xp.sign({ahead}{order}), {more}, xp)", says, 3.5)
        for level in levels[2:]:
            gap = level - levels[0]
            says = f"being ahead when the sums of the ratings first differ by {gap:g}, added {way}"
            yield OptionScore(f"reached({ahead}{order}, {gap:g}, xp)", says, 3.5)


def picked(domain: str, n_cues: Sequence[int]) -> Iterator[OptionScore]:
    """What one list says where another is highest or lowest; of several such places the first, the best or the worst.

    Args:
        domain: Its name.
        n_cues: Of every experiment.
    """
    if domain == "risky":
        for end, words, outside in (("max", "likeliest", "-1.0"), ("min", "least likely", "2.0")):
            where = f"extreme(xp.where(used, q, {outside}), {end!r}, xp)"
            yield OptionScore(
                f"highest_where({where}, x, xp)",
                f"amount that is {words}, the highest of several",
                3.5,
            )
            yield OptionScore(
                f"-highest_where({where}, -x, xp)",
                f"amount that is {words}, the lowest of several",
                3.5,
            )
        # What both gambles may pay, and what only one of them: Kahneman & Tversky (1979), Econometrica 47(2), 263-291.
        shared = (
            "((xp.abs(x[..., None] - x[:, ::-1, None]) < 1e-9) * used[:, ::-1, None]).any(axis=-1)"
        )
        own = f"(used * (1 - {shared}) > 0)"
        for code, words in (
            (f"highest_where({own}, x, xp)", "highest"),
            (f"-highest_where({own}, -x, xp)", "lowest"),
        ):
            text = f"{words} amount that the other does not have, 0 if there is none"
            yield OptionScore(f"xp.where({own}.any(axis=-1), {code}, 0.0)", text, 3.5)
        yield OptionScore(
            f"(q * {shared}).sum(axis=-1)", "probability of amounts that the other has too", 3.5
        )
        # Amounts beside their chances, in percent and in proportion to the largest amount.
        for scale, amounts in (
            ("x - 100 * q", "amount and its percentage"),
            ("x / size[..., None] - q", SHARES),
        ):
            for code, words in ((f"({scale})", "difference"), (f"xp.abs({scale})", "distance")):
                text = f"{words} between {amounts}"
                yield OptionScore(f"highest_where(used, {code}, xp)", f"largest {text}", 4)
                yield OptionScore(f"-highest_where(used, -{code}, xp)", f"smallest {text}", 4)
    if domain != "multiattribute" or min(n_cues) < 2:
        return
    other = "x[:, ::-1]"
    places = (
        (other, "the other's rating", 3.0),
        (f"(x - {other})", "its advantage", 3.5),
        (f"xp.abs(x - {other})", "the difference", 3.5),
    )
    for code, words, price in places:
        for end, extreme in (("max", "highest"), ("min", "lowest")):
            where = f"extreme({code}, {end!r}, xp)"
            yield OptionScore(
                f"xp.take_along_axis(x, {code}.arg{end}(axis=-1)[..., None], axis=-1)[..., 0]",
                f"rating on the most valid cue on which {words} is {extreme}",
                price,
            )
            yield OptionScore(
                f"highest_where({where}, x, xp)",
                f"highest rating on cues on which {words} is {extreme}",
                price + 0.5,
            )
            yield OptionScore(
                f"-highest_where({where}, -x, xp)",
                f"lowest rating on cues on which {words} is {extreme}",
                price + 0.5,
            )
    for end, extreme in (("max", "best"), ("min", "worst")):
        yield OptionScore(
            f"xp.take_along_axis(x - {other}, x.arg{end}(axis=-1)[..., None], axis=-1)[..., 0]",
            f"advantage on its own {extreme} cue",
            3.5,
        )


def normalized(prices: Array) -> Array:
    """Code lengths of which the probabilities ``exp(-price)`` add up to 1 (Kraft's equality)."""
    return np.asarray(prices + np.log(np.exp(-prices).sum()))


def constants(values: Array) -> list[float]:
    """Levels at which a number is cut, between those that occur, few and round."""
    found = np.unique(np.round(values, 6))[1:]
    if len(found) > MOST_CONSTANTS:
        found = found[np.unique(np.linspace(0, len(found) - 1, MOST_CONSTANTS).round().astype(int))]
    return [float(f"{value:.4g}") for value in found]


def compared(atoms: Sequence[OptionScore], values: Array) -> ExpressionPool:
    """Every number's distance from levels, whether it reaches or equals them, and its remainders."""
    made: list[Array] = []
    recipes: list[tuple[str, str]] = []
    prices: list[float] = []
    origin: list[int] = []
    for row, (score, own) in enumerate(zip(atoms, values, strict=True)):
        levels = constants(own)
        whole = bool(np.all(own == np.round(own)))
        forms: list[tuple[str, str, Array]] = []
        for level in levels:
            text = f"{level:g}"
            forms.append(
                (
                    f"({{0}} >= {text} - 1e-9) * 1.0",
                    f"{{0}} of at least {text}",
                    own >= level - 1e-9,
                )
            )
            if len(levels) > 1:
                equal = np.abs(own - level) < 1e-9
                forms.append(
                    (f"(xp.abs({{0}} - {text}) < 1e-9) * 1.0", f"{{0}} of just {text}", equal)
                )
                forms.append(
                    (
                        f"-xp.abs({{0}} - {text})",
                        f"closeness of the {{0}} to {text}",
                        -np.abs(own - level),
                    )
                )
        if whole and len(levels) > 1:
            forms.append(("({0}) % 2", "oddness of the {0}", own % 2))
            if len(levels) > 2:
                forms.append(("({0}) % 3", "remainder of the {0} divided by 3", own % 3))
        for code, words, value in forms:
            made.append(value)
            recipes.append(
                (code.replace("{0}", f"({score.code})"), words.replace("{0}", score.words))
            )
            prices.append(score.price + np.log(len(forms)) + STEP)
            origin.append(row)

    def write(place: int) -> OptionScore:
        return OptionScore(*recipes[place], prices[place])

    return ExpressionPool(
        np.array(made, dtype=np.float32).reshape(-1, *values.shape[1:]),
        np.array(prices),
        np.array(origin, dtype=np.intp),
        write,
    )


COMBINED: tuple[tuple[str, str, Callable[[Array, Array], Array]], ...] = (
    *(
        (
            f"({{0}}) {sign} {times:g} * ({{1}})",
            f"{{0}}, {verb} {times:g} times the {{1}}",
            lambda a, b, w=(times if sign == "+" else -times): a + w * b,
        )
        for sign, verb in (("+", "plus"), ("-", "less"))
        for times in TIMES
    ),
    *(
        (
            f"{times:g} * ({{0}}) {sign} ({{1}})",
            f"{times:g} times the {{0}}, {verb} the {{1}}",
            lambda a, b, w=times, s=s: w * a + s * b,
        )
        for sign, verb, s in (("+", "plus", 1), ("-", "less", -1))
        for times in (3.0,)
    ),
    ("xp.minimum({0}, {1})", "smaller of {0} and {1}", np.minimum),
    ("xp.maximum({0}, {1})", "larger of {0} and {1}", np.maximum),
    ("({0}) * ({1})", "{0} times the {1}", np.multiply),
    ("(({0}) > ({1}) + 1e-9) * 1.0", "having a {0} above its {1}", lambda a, b: a > b + 1e-9),
    ("(({1}) > ({0}) + 1e-9) * 1.0", "having a {1} above its {0}", lambda a, b: b > a + 1e-9),
    (
        "(xp.abs(({0}) - ({1})) < 1e-9) * 1.0",
        "having a {0} equal to its {1}",
        lambda a, b: np.abs(a - b) < 1e-9,
    ),
    (
        "(({0}) > ({1})[:, ::-1] + 1e-9) * 1.0",
        "having a {0} above the other's {1}",
        lambda a, b: a > b[..., ::-1] + 1e-9,
    ),
    (
        "(({1}) > ({0})[:, ::-1] + 1e-9) * 1.0",
        "having a {1} above the other's {0}",
        lambda a, b: b > a[..., ::-1] + 1e-9,
    ),
    ("xp.abs(({0}) - ({1}))", "distance between {0} and {1}", lambda a, b: np.abs(a - b)),
)


def paired(atoms: Sequence[OptionScore], values: Array, pairs: NDArray[np.intp]) -> ExpressionPool:
    """Every combination of the pairs ``(n_pairs, 2)`` of numbers."""
    i, j = pairs.T
    a, b = values[i].astype(np.float32), values[j].astype(np.float32)
    made = np.concatenate(
        [np.asarray(combine(a, b), dtype=np.float32) for _, _, combine in COMBINED]
    )
    own = np.array([score.price for score in atoms])
    price = own[i] + own[j] + np.log(len(COMBINED)) + STEP

    def write(place: int) -> OptionScore:
        recipe, pair = divmod(place, len(pairs))
        first, second = atoms[i[pair]], atoms[j[pair]]
        code, words, _ = COMBINED[recipe]
        return OptionScore(
            code.replace("{0}", first.code).replace("{1}", second.code),
            words.replace("{0}", first.words).replace("{1}", second.words),
            float(price[pair]),
        )

    return ExpressionPool(
        made, np.tile(price, len(COMBINED)), np.tile(np.arange(len(pairs)), len(COMBINED)), write
    )


def cheapest_pairs(prices: Array, favoured: NDArray[np.intp]) -> NDArray[np.intp]:
    """All pairs of the cheapest numbers, and of those in ``favoured`` with twice as many."""
    order = np.argsort(prices, kind="stable")
    cheap = order[:MOST_PAIRED]
    found = {(int(min(i, j)), int(max(i, j))) for i, j in combinations(cheap, 2)}
    for i in favoured:
        found |= {(int(min(i, j)), int(max(i, j))) for j in order[: 3 * MOST_PAIRED] if i != j}
    return np.array(sorted(found), dtype=np.intp).reshape(-1, 2)
