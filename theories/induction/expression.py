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

from lakatos.theories.induction.option_score import ORDINALS, OptionScore, PricedExpression, filled

Array = NDArray[Any]
STEP = float(np.log(2))
"""Nats for every further step: a longer expression is half as likely beforehand."""
MOST_PAIRED = 70
"""Cheapest numbers, all pairs of which are combined."""
MOST_CONSTANTS = 6
"""Levels with which a number is compared."""
TIMES = (0.5, 1.0, 2.0)
MOST_CUES = 6
"""Up to which each pair of cues is a list of its own."""


class OptionNumbers(PricedExpression):
    """A list of numbers for each option: an expression of shape ``(n_trials, 2, n)``."""


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


GAMBLE_LISTS = (
    OptionNumbers("x", "amounts", 1.0),
    OptionNumbers("q", "probabilities", 1.0),
    OptionNumbers("(q * x)", "amounts times probabilities", 1.0),
    OptionNumbers("(used * x)", "amounts that may occur", 1.5),
    OptionNumbers("(q * (x > 0))", "probabilities of gains", 2.0),
    OptionNumbers("(q * (x < 0))", "probabilities of losses", 2.0),
)
RATED_LISTS = (
    OptionNumbers("x", "ratings", 0.5),
    OptionNumbers("(x - x[:, ::-1])", "advantages", 1.5),
    OptionNumbers("(x > x[:, ::-1])", "cues on which it is ahead", 1.5),
    OptionNumbers("(x >= x[:, ::-1])", "cues on which it is not behind", 2.0),
    OptionNumbers("(x == x[:, ::-1])", "cues on which both are equal", 2.0),
)
COMPARED_RATINGS = (
    OptionNumbers("(x * (x > x[:, ::-1]))", "ratings on cues on which it is ahead", 2.0),
    OptionNumbers("(x * (x < x[:, ::-1]))", "ratings on cues on which it is behind", 2.5),
    OptionNumbers("(x * (x != x[:, ::-1]))", "ratings on cues on which both differ", 2.0),
)
HIGH_RATINGS = (OptionNumbers("(x * (x >= {level:g}))", "ratings of at least {level:g}", 3.0),)
RATING_DISTANCES = (
    OptionNumbers("xp.abs(x - {level:g})", "distances of the ratings from {level:g}", 3.0),
)
CUE_LISTS = (
    OptionNumbers("upper(x, xp)", "ratings but the lowest", 2.0),
    OptionNumbers("lower(x, xp)", "ratings but the highest", 2.0),
    OptionNumbers("changes(x, xp)", "changes from cue to cue", 2.0),
    OptionNumbers("xp.abs(changes(x, xp))", "sizes of the changes from cue to cue", 2.0),
)
LISTS_WITHOUT_ONE = (
    OptionNumbers("others(x, {k}, xp)", "ratings on all cues but the {ordinal} most valid", 3.0),
)
LISTS_OF_TWO = (
    OptionNumbers("cues(x, {i}, {j}, xp)", "ratings on the {first} and {second} most valid cue", 3.5),
)  # fmt: skip


def lists(domain: str, n_cues: Sequence[int], levels: Sequence[float]) -> Iterator[OptionNumbers]:
    """Lists of numbers that each option has: of rated products, by cue; of gambles, by outcome.

    Args:
        domain: Its name.
        n_cues: Of every experiment.
        levels: Ratings that occur.
    """
    if domain == "risky":
        yield from GAMBLE_LISTS
    if domain == "multiattribute":
        yield from _rated_lists(min(n_cues), max(n_cues), levels)


def _rated_lists(least: int, most: int, levels: Sequence[float]) -> Iterator[OptionNumbers]:
    """Lists by cue, where experiments have between ``least`` and ``most`` cues."""
    yield from RATED_LISTS
    if len(levels) > 2:
        yield from COMPARED_RATINGS
        for level in levels[1:]:
            yield from filled(HIGH_RATINGS, level=level)
        for level in levels[1:-1]:
            yield from filled(RATING_DISTANCES, level=level)
    if least > 2:
        yield from CUE_LISTS
    if least > 1:
        for k in range(least):
            yield from filled(LISTS_WITHOUT_ONE, k=k, ordinal=ORDINALS[k])
    if 3 < least <= MOST_CUES and least == most:
        for i, j in combinations(range(least), 2):
            yield from filled(LISTS_OF_TWO, i=i, j=j, first=ORDINALS[i], second=ORDINALS[j])


TOTAL = (OptionScore("{x}.sum(axis=-1)", "total of the {words}", 0.5),)
REDUCED = (
    OptionScore("{x}.max(axis=-1)", "highest of the {words}", 1),
    OptionScore("{x}.min(axis=-1)", "lowest of the {words}", 1),
    OptionScore("({x}.max(axis=-1) - {x}.min(axis=-1))", "range of the {words}", 1.5),
    OptionScore("{x}.prod(axis=-1)", "product of the {words}", 3),
    OptionScore("0.5 * (xp.sort({x}, axis=-1)[..., (xp.sort({x}, axis=-1).shape[-1] - 1) // 2]"
                " + xp.sort({x}, axis=-1)[..., xp.sort({x}, axis=-1).shape[-1] // 2])",
                "median of the {words}", 1.5),
    OptionScore("xp.sort({x}, axis=-1)[..., -2:].sum(axis=-1)", "total of the two highest of the {words}", 2.5),
    OptionScore("xp.sort({x}, axis=-1)[..., :2].sum(axis=-1)", "total of the two lowest of the {words}", 2.5),
    OptionScore("(xp.diff(xp.sort({x}, axis=-1), axis=-1) > 1e-9).sum(axis=-1)",
                "number of different values among the {words}", 2),
    OptionScore("(xp.abs({x}[..., None] - {x}[..., None, :]) < 1e-9).sum(axis=-1).max(axis=-1)",
                "largest number of equal ones among the {words}", 2.5),
    OptionScore("{x}.argmax(axis=-1)", "place of the highest of the {words}", 2),
    OptionScore("{x}.argmin(axis=-1)", "place of the lowest of the {words}", 2),
    OptionScore("({x}[..., -1] - {x}[..., 0])", "last less first of the {words}", 2),
)  # fmt: skip
LONGEST_ROW = (
    OptionScore("longest_run({x}, xp)", "longest row of equal neighbours among the {words}", 3),
)
COUNTED = (
    OptionScore("({x} >= {level:g}).sum(axis=-1)", "number of at least {level:g} among the {words}", 2),
    OptionScore("(xp.abs({x} - {level:g}) < 1e-9).sum(axis=-1)", "number of {level:g} among the {words}", 2),
)  # fmt: skip


def numbers(found: Sequence[OptionNumbers], levels: Sequence[float]) -> Iterator[OptionScore]:
    """What lists are reduced to.

    Args:
        found: The lists.
        levels: Ratings that are counted in them.
    """
    for part in found:
        x, words, price = part.code, part.words, part.price
        yield from filled(TOTAL, price, x=x, words=words)
        if x.startswith("(x ") and ("> x[" in x or "= x[" in x) and "*" not in x:
            continue  # of what is or is not, only the number matters
        yield from filled(REDUCED, price, x=x, words=words)
        if x in ("x", "q"):
            yield from filled(LONGEST_ROW, price, x=x, words=words)
        for level in levels:
            yield from filled(COUNTED, price, x=x, words=words, level=level)


class CueCondition(PricedExpression):
    """What some cues of a product fulfil, ``(n_trials, 2, n_cues)``; its words come after "on which"."""


CONDITIONS = (
    CueCondition("(x > x[:, ::-1])", "it is ahead", 1.5),
    CueCondition("(x < x[:, ::-1])", "it is behind", 1.5),
    CueCondition("(x != x[:, ::-1])", "both differ", 1.5),
    CueCondition("(x == x[:, ::-1])", "both are equal", 2.0),
    CueCondition("unmatched(x, xp)", "its rating is left when equal ones of both cancel out in pairs", 2.5),
)  # fmt: skip
FAR_APART = (
    CueCondition("(xp.abs(x - x[:, ::-1]) >= {gap:g} - 1e-9)", "both differ by at least {gap:g}", 3.0),
)  # fmt: skip
RATINGS_FOUND = (
    CueCondition("((x[..., None] == x[..., None, :]).sum(axis=-1) > 1)", "its rating comes more than once", 2.5),
    CueCondition("((x[..., None] == x[..., None, :]).sum(axis=-1) == 1)", "its rating comes but once", 2.5),
    CueCondition("((x[..., None] == x[:, ::-1][:, :, None]).sum(axis=-1) > 0)",
                 "its rating is found somewhere on the other", 2.5),
    CueCondition("((x[..., None] == x[:, ::-1][:, :, None]).sum(axis=-1) == 0)",
                 "its rating is found nowhere on the other", 2.5),
)  # fmt: skip


def conditions(levels: Sequence[float]) -> Iterator[CueCondition]:
    """Ways in which a rating may stand beside the other product's and beside the product's own.

    Args:
        levels: Ratings that occur.
    """
    yield from CONDITIONS
    for level in levels[2:]:
        yield from filled(FAR_APART, gap=level - levels[0])
    if len(levels) > 2:
        yield from RATINGS_FOUND


WHERE_FULFILLED = (
    OptionScore("first_where({where}, x, -1.0, xp)", "first rating on {words}, -1 if there are none", 0),
    OptionScore("first_where({where}[..., ::-1], x[..., ::-1], -1.0, xp)",
                "last rating on {words}, -1 if there are none", 0),
    OptionScore("xp.where({where}.any(axis=-1), highest_where({where}, x, xp), -1.0)",
                "highest rating on {words}, -1 if there are none", 0),
    OptionScore("xp.where({where}.any(axis=-1), -highest_where({where}, -x, xp), -1.0)",
                "lowest rating on {words}, -1 if there are none", 0),
    OptionScore("{where}.sum(axis=-1)", "number of {words}", 0),
    OptionScore("(x * {where}).sum(axis=-1)", "total of the ratings on {words}", 0.5),
)  # fmt: skip
# Reading until enough is said: Lee & Cummins (2004), Psychonomic Bulletin & Review 11(2), 343-352.
CUES_AHEAD = (
    OptionScore("reached(xp.sign((x - x[:, ::-1]){order}), {ahead}, xp)",
                "being ahead when the cues for one first outnumber the others by {ahead}, read {way}", 3.5),
)  # fmt: skip
SUMS_APART = (
    OptionScore("reached((x - x[:, ::-1]){order}, {gap:g}, xp)",
                "being ahead when the sums of the ratings first differ by {gap:g}, added {way}", 3.5),
)  # fmt: skip
READING_ORDERS = (("", "from the most valid cue"), ("[..., ::-1]", "from the least valid cue"))


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
        words = f"cues on which {item.words}"
        yield from filled(WHERE_FULFILLED, item.price + 1, where=item.code, words=words)
    for order, way in READING_ORDERS:
        for ahead in range(2, max(min(n_cues), 2)):
            yield from filled(CUES_AHEAD, order=order, way=way, ahead=ahead)
        for level in levels[2:]:
            yield from filled(SUMS_APART, order=order, way=way, gap=level - levels[0])


# Of gambles: amounts where chances are extreme, what only one gamble has (Kahneman & Tversky (1979),
# Econometrica 47(2), 263-291), and amounts beside their chances.
LIKELY_AMOUNTS = (
    OptionScore("highest_where({where}, x, xp)", "amount that is {words}, the highest of several", 3.5),
    OptionScore("-highest_where({where}, -x, xp)", "amount that is {words}, the lowest of several", 3.5),
)  # fmt: skip
LIKELY_PLACES = (
    ("extreme(xp.where(used, q, -1.0), 'max', xp)", "likeliest"),
    ("extreme(xp.where(used, q, 2.0), 'min', xp)", "least likely"),
)
SHARED = "((xp.abs(x[..., None] - x[:, ::-1, None]) < 1e-9) * used[:, ::-1, None]).any(axis=-1)"
OWN = f"(used * (1 - {SHARED}) > 0)"
OWN_AMOUNTS = (
    OptionScore(f"xp.where({OWN}.any(axis=-1), highest_where({OWN}, x, xp), 0.0)",
                "highest amount that the other does not have, 0 if there is none", 3.5),
    OptionScore(f"xp.where({OWN}.any(axis=-1), -highest_where({OWN}, -x, xp), 0.0)",
                "lowest amount that the other does not have, 0 if there is none", 3.5),
    OptionScore(f"(q * {SHARED}).sum(axis=-1)", "probability of amounts that the other has too", 3.5),
)  # fmt: skip
AMOUNTS_BESIDE_CHANCES = (
    OptionScore("highest_where(used, ({scale}), xp)", "largest difference between {amounts}", 4),
    OptionScore("-highest_where(used, -({scale}), xp)", "smallest difference between {amounts}", 4),
    OptionScore("highest_where(used, xp.abs({scale}), xp)", "largest distance between {amounts}", 4),
    OptionScore("-highest_where(used, -xp.abs({scale}), xp)", "smallest distance between {amounts}", 4),
)  # fmt: skip
SCALES = (
    ("x - 100 * q", "amount and its percentage"),
    ("x / size[..., None] - q", "amount in proportion to the largest of both and its probability"),
)
# Of rated products: ratings where another list is extreme.
RATING_PLACES = (
    ("x[:, ::-1]", "the other's rating", 3.0),
    ("(x - x[:, ::-1])", "its advantage", 3.5),
    ("xp.abs(x - x[:, ::-1])", "the difference", 3.5),
)
RATINGS_AT = (
    OptionScore("xp.take_along_axis(x, {code}.arg{end}(axis=-1)[..., None], axis=-1)[..., 0]",
                "rating on the most valid cue on which {words} is {extreme}", 0),
    OptionScore("highest_where(extreme({code}, {end!r}, xp), x, xp)",
                "highest rating on cues on which {words} is {extreme}", 0.5),
    OptionScore("-highest_where(extreme({code}, {end!r}, xp), -x, xp)",
                "lowest rating on cues on which {words} is {extreme}", 0.5),
)  # fmt: skip
ADVANTAGES = (
    OptionScore("xp.take_along_axis(x - x[:, ::-1], x.argmax(axis=-1)[..., None], axis=-1)[..., 0]",
                "advantage on its own best cue", 3.5),
    OptionScore("xp.take_along_axis(x - x[:, ::-1], x.argmin(axis=-1)[..., None], axis=-1)[..., 0]",
                "advantage on its own worst cue", 3.5),
)  # fmt: skip


def picked(domain: str, n_cues: Sequence[int]) -> Iterator[OptionScore]:
    """What one list says where another is highest or lowest; of several such places the first, the best or the worst.

    Args:
        domain: Its name.
        n_cues: Of every experiment.
    """
    if domain == "risky":
        for where, words in LIKELY_PLACES:
            yield from filled(LIKELY_AMOUNTS, where=where, words=words)
        yield from OWN_AMOUNTS
        for scale, amounts in SCALES:
            yield from filled(AMOUNTS_BESIDE_CHANCES, scale=scale, amounts=amounts)
    if domain == "multiattribute" and min(n_cues) >= 2:
        for code, words, price in RATING_PLACES:
            for end, extreme in (("max", "highest"), ("min", "lowest")):
                yield from filled(
                    RATINGS_AT, price, code=code, words=words, end=end, extreme=extreme
                )
        yield from ADVANTAGES


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
