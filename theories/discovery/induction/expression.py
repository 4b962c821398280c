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

from lakatos.theories.discovery.induction.phrase import figure, the, with_article
from lakatos.theories.language.option_score import OptionNumbers, OptionScore, filled

Array = NDArray[Any]
STEP = float(np.log(2))
"""Nats for every further step: a longer expression is half as likely beforehand."""
MOST_PAIRED = 70
"""Cheapest numbers, all pairs of which are combined."""
MOST_CONSTANTS = 6
"""Levels with which a number is compared."""
TIMES = (0.5, 1.0, 2.0)


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


TOTAL = (OptionScore("{x}.sum(axis=-1)", "total of the {words}", 0.5),)
REDUCED = (
    OptionScore("{x}.max(axis=-1)", "{high} {one}", 1),
    OptionScore("{x}.min(axis=-1)", "{low} {one}", 1),
    OptionScore("({x}.max(axis=-1) - {x}.min(axis=-1))", "range of the {words}", 1.5),
    OptionScore("{x}.prod(axis=-1)", "product of the {words}", 3),
    OptionScore("0.5 * (xp.sort({x}, axis=-1)[..., (xp.sort({x}, axis=-1).shape[-1] - 1) // 2]"
                " + xp.sort({x}, axis=-1)[..., xp.sort({x}, axis=-1).shape[-1] // 2])",
                "median {one}", 1.5),
    OptionScore("xp.sort({x}, axis=-1)[..., -2:].sum(axis=-1)", "total of the two {high} {words}", 2.5),
    OptionScore("xp.sort({x}, axis=-1)[..., :2].sum(axis=-1)", "total of the two {low} {words}", 2.5),
    OptionScore("(xp.diff(xp.sort({x}, axis=-1), axis=-1) > 1e-9).sum(axis=-1)",
                "number of different values among the {words}", 2),
    OptionScore("(xp.abs({x}[..., None] - {x}[..., None, :]) < 1e-9).sum(axis=-1).max(axis=-1)",
                "largest number of equal ones among the {words}", 2.5),
    OptionScore("{x}.argmax(axis=-1)", "place of the {high} {one}", 2),
    OptionScore("{x}.argmin(axis=-1)", "place of the {low} {one}", 2),
    OptionScore("({x}[..., -1] - {x}[..., 0])", "difference between the last and the first {one}", 2),
)  # fmt: skip
LONGEST_ROW = (
    OptionScore("longest_run({x}, xp)", "longest row of equal neighbours among the {words}", 3),
)
COUNTED = (
    OptionScore("({x} >= {level:g}).sum(axis=-1)", "number of values of at least {level:g} among the {words}", 2),
    OptionScore("(xp.abs({x} - {level:g}) < 1e-9).sum(axis=-1)", "number of values of {level:g} among the {words}", 2),
)  # fmt: skip


def numbers(found: Sequence[OptionNumbers], levels: Sequence[float]) -> Iterator[OptionScore]:
    """Yield the numbers to which lists are reduced.

    Args:
        found: The lists.
        levels: Ratings that are counted in them.
    """
    for part in found:
        x, words, price = part.code, part.words, part.price
        yield from filled(TOTAL, price, x=x, words=words)
        if x.startswith("(x ") and ("> x[" in x or "= x[" in x) and "*" not in x:
            continue  # of what is or is not, only the number matters
        yield from filled(REDUCED, price, x=x, words=words, **_one_of(words))
        if x in ("x", "q"):
            yield from filled(LONGEST_ROW, price, x=x, words=words)
        for level in levels:
            yield from filled(COUNTED, price, x=x, words=words, level=level)


def _one_of(words: str) -> dict[str, str]:
    """One number of a list in words, and what its ends are called."""
    first, space, rest = words.partition(" ")
    one = f"{first[:-3]}y" if first.endswith("ies") else first.removesuffix("s")
    high, low = ("best", "worst") if first == "outcomes" else ("highest", "lowest")
    if rest.startswith("but "):
        one = f"of the {first}"
    return {"one": f"{one}{space}{rest}", "high": high, "low": low}


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
                    f"{{0}} of at least {figure(level)}",
                    own >= level - 1e-9,
                )
            )
            if len(levels) > 1:
                equal = np.abs(own - level) < 1e-9
                forms.append(
                    (
                        f"(xp.abs({{0}} - {text}) < 1e-9) * 1.0",
                        f"{{0}} of just {figure(level)}",
                        equal,
                    )
                )
                forms.append(
                    (
                        f"-xp.abs({{0}} - {text})",
                        f"closeness of the {{0}} to {figure(level)}",
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


def multiple(times: float) -> str:
    """Words before a number that is multiplied; none where it is taken once."""
    return "" if times == 1 else f"{figure(times)} times "


COMBINED: tuple[tuple[str, str, Callable[[Array, Array], Array]], ...] = (
    *(
        (
            f"({{0}}) {sign} {times:g} * ({{1}})",
            f"{{0}}, {verb} {multiple(times)}{{the1}}",
            lambda a, b, w=(times if sign == "+" else -times): a + w * b,
        )
        for sign, verb in (("+", "plus"), ("-", "minus"))
        for times in TIMES
    ),
    *(
        (
            f"{times:g} * ({{0}}) {sign} ({{1}})",
            f"{times:g} times {{the0}}, {verb} {{the1}}",
            lambda a, b, w=times, s=s: w * a + s * b,
        )
        for sign, verb, s in (("+", "plus", 1), ("-", "minus", -1))
        for times in (3.0,)
    ),
    ("xp.minimum({0}, {1})", "smaller of two numbers, {the0} and {the1}", np.minimum),
    ("xp.maximum({0}, {1})", "larger of two numbers, {the0} and {the1}", np.maximum),
    ("({0}) * ({1})", "{0} times {the1}", np.multiply),
    ("(({0}) > ({1}) + 1e-9) * 1.0", "having {a0} above its {1}", lambda a, b: a > b + 1e-9),
    ("(({1}) > ({0}) + 1e-9) * 1.0", "having {a1} above its {0}", lambda a, b: b > a + 1e-9),
    (
        "(xp.abs(({0}) - ({1})) < 1e-9) * 1.0",
        "having {a0} equal to its {1}",
        lambda a, b: np.abs(a - b) < 1e-9,
    ),
    (
        "(({0}) > ({1})[:, ::-1] + 1e-9) * 1.0",
        "having {a0} above the other's {1}",
        lambda a, b: a > b[..., ::-1] + 1e-9,
    ),
    (
        "(({1}) > ({0})[:, ::-1] + 1e-9) * 1.0",
        "having {a1} above the other's {0}",
        lambda a, b: b > a[..., ::-1] + 1e-9,
    ),
    ("xp.abs(({0}) - ({1}))", "distance between {the0} and {the1}", lambda a, b: np.abs(a - b)),
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
            words.format(
                first.words,
                second.words,
                a0=with_article(first.words),
                a1=with_article(second.words),
                the0=the(first.words),
                the1=the(second.words),
            ),
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
