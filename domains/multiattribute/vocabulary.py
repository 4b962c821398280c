"""Terms for options that are rated on attributes: tables of scores, with places for cues and levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from lakatos.experiments.task import Stimuli
from lakatos.theories.language.option_score import (
    BY_VALIDITY,
    CHANGES,
    CLASSES,
    CUE,
    CUES,
    EXTREME,
    FIRST_WHERE,
    HIGHEST_WHERE,
    LEAD,
    LIFTED,
    LONGEST_RUN,
    LOWER,
    MOST_CUES_PAIRED,
    MOST_LEVELS,
    ORDINALS,
    OTHERS,
    REACHED,
    SIDE,
    UNMATCHED,
    UPPER,
    OptionNumbers,
    OptionScore,
    PricedExpression,
    TermVocabulary,
    filled,
)

HELPERS = (
    LEAD,
    SIDE,
    BY_VALIDITY,
    CUE,
    OTHERS,
    LONGEST_RUN,
    CHANGES,
    UPPER,
    LOWER,
    CUES,
    EXTREME,
    HIGHEST_WHERE,
    FIRST_WHERE,
    UNMATCHED,
    REACHED,
    LIFTED,
    CLASSES,
)
"""Functions that its scores may call, each after those that it calls itself."""
WEIGHTS = (
    ("v * ", ", weighted by validity", 0.5),
    ("(2 * v - 1) * ", ", weighted by validity above chance", 1.0),
)
"""Ways to weigh cues: factor, words, and what they add to the price of a sum."""
# The published ways of adding up: totals, and cues that speak for one product.
PLAIN_SUMS = (
    OptionScore("x.sum(axis=-1)", "total of the ratings", 1, True),
    OptionScore("((x > x[:, ::-1])).sum(axis=-1)", "number of cues ahead", 1, True),
)
WEIGHTED_SUMS = (
    OptionScore("({weight}x).sum(axis=-1)", "total of the ratings{by}", 1, True),
    OptionScore("({weight}(x > x[:, ::-1])).sum(axis=-1)", "number of cues ahead{by}", 1),
)
OWN_BEST = (
    OptionScore("({weight}(x == x.max(axis=-1)[..., None])).sum(axis=-1)",
                "number of cues at its own best{by}", 4),
)  # fmt: skip
# Powers and other shapes of one product's ratings, where there are more levels than two; weighing
# makes some of them dearer.
CURVED_SUMS = (
    OptionScore("({weight}xp.sqrt(x)).sum(axis=-1)", "total of the square roots of the ratings{by}", 2),
    OptionScore("({weight}x**2).sum(axis=-1)", "total of the squared ratings{by}", 2),
    OptionScore("({weight}xp.log(1 + x)).sum(axis=-1)", "total of the logarithms of the ratings plus one{by}", 2),
)  # fmt: skip
CURVED_ADVANTAGES = (
    OptionScore("({weight}xp.maximum(x - x[:, ::-1], 0.0) ** 2).sum(axis=-1)",
                "total of the squared advantages{by}", 3),
    OptionScore("({weight}xp.sqrt(xp.maximum(x - x[:, ::-1], 0.0))).sum(axis=-1)",
                "total of the square roots of the advantages{by}", 3),
    OptionScore("({weight}x / xp.maximum(xp.maximum(x, x[:, ::-1]), 1e-9)).sum(axis=-1)",
                "total of the ratings in proportion to the better one{by}", 3),
)  # fmt: skip
REACHING_COUNTS = (
    OptionScore("({weight}(x >= {level:g})).sum(axis=-1)", "number of ratings of at least {level:g}{by}", 2.5),
)  # fmt: skip
CAPPED_SUMS = (
    OptionScore("({weight}xp.minimum(x, {level:g})).sum(axis=-1)", "total of the ratings up to {level:g}{by}", 3),
)  # fmt: skip
CLOSENESS = (
    OptionScore("-({weight}xp.abs(x - {level:g})).sum(axis=-1)", "closeness of the ratings to {level:g}{by}", 3),
)  # fmt: skip
SQUARED_CLOSENESS = (
    OptionScore("-({weight}(x - {level:g}) ** 2).sum(axis=-1)",
                "squared closeness of the ratings to {level:g}{by}", 4),
)  # fmt: skip
# Orders of the cues, and a product's ratings without regard to the cue.
ORDERED = (
    OptionScore("((x > x[:, ::-1]) * 0.5 ** xp.arange(x.shape[-1])).sum(axis=-1)",
                "rating on the most valid cue that differs", 1.2, True),
    OptionScore("((x > x[:, ::-1]) / (0.5 ** xp.arange(x.shape[-1]))).sum(axis=-1)",
                "rating on the least valid cue that differs", 2, True),
    OptionScore("(x * 0.5 ** xp.arange(x.shape[-1])).sum(axis=-1)",
                "total of the ratings, each cue counting half of the one before", 2),
    OptionScore("(x / (0.5 ** xp.arange(x.shape[-1]))).sum(axis=-1)",
                "total of the ratings, each cue counting twice the one before", 3),
    OptionScore("x.max(axis=-1)", "highest rating", 1.5, True, True),
    OptionScore("x.min(axis=-1)", "lowest rating", 1.5, True, True),
    OptionScore("x.mean(axis=-1)", "mean rating", 1.5, False, True),
)  # fmt: skip
ALIKE = "(x[..., None] == x[..., None, :]).sum(axis=-1)"
COMMONEST = (
    OptionScore(f"xp.take_along_axis(x, ({ALIKE} + 1e-3 * x).argmax(axis=-1)[..., None], axis=-1)[..., 0]",
                "commonest rating", 3, False, True),
    OptionScore(f"{ALIKE}.max(axis=-1)", "number of cues that agree", 3, True),
)  # fmt: skip
SPREAD = (
    OptionScore("x.max(axis=-1) - x.min(axis=-1)", "range of ratings", 2, True),
    OptionScore("xp.round(x.var(axis=-1), 9)", "variance of the ratings", 2, True),
    OptionScore("xp.abs(x - x.mean(axis=-1)[..., None]).sum(axis=-1)", "spread of the ratings", 3),
    OptionScore("x.argmax(axis=-1)", "rank of its best cue", 3),
    OptionScore("x.argmin(axis=-1)", "rank of its worst cue", 3),
    OptionScore("(x - x[:, ::-1]).max(axis=-1)", "largest advantage", 2),
    OptionScore("(x - x[:, ::-1]).min(axis=-1)", "least bad disadvantage", 2),
    OptionScore("((x - x[:, ::-1]) * (xp.abs(x - x[:, ::-1]) == xp.abs(x - x[:, ::-1]).max(axis=-1)[..., None]))"
                ".sum(axis=-1)", "advantage on the cues that differ most", 2.5),
    OptionScore("x.sum(axis=-1) % 2", "oddness of the total of the ratings", 3, True),
    OptionScore("x.sum(axis=-1) % 3", "remainder of the total divided by 3", 4),
    OptionScore("x.sum(axis=-1) % 4", "remainder of the total divided by 4", 4.5),
    OptionScore("xp.abs(xp.diff(x, axis=-1)).sum(axis=-1)", "change from cue to cue", 3.5),
    OptionScore("(xp.diff(x, axis=-1) > 0).sum(axis=-1)", "number of rises down the cues", 3.5),
    OptionScore("(x * (xp.arange(x.shape[-1]) % 2)).sum(axis=-1)", "total on every second cue", 4),
    OptionScore("(x == x[:, ::-1][:, ::-1, ::-1]).sum(axis=-1)", "symmetry of the ratings", 5),
)  # fmt: skip
RANKED = (OptionScore("cue(xp.sort(x, axis=-1), {place})", "{ordinal}-lowest rating", 3),)
NEAR_TOTAL = (
    OptionScore("-xp.abs(x.sum(axis=-1) - {share:g})", "closeness of the total to {share:g}", 4),
)
ODD_RATINGS = (
    OptionScore("(x % 2).sum(axis=-1)", "number of odd ratings", 3.5),
    OptionScore("(x > 0).prod(axis=-1)", "no rating of 0", 2.5),
)
EQUAL_COUNTS = (
    OptionScore("(x == {level:g}).sum(axis=-1)", "number of ratings of {level:g}", 3, True),
)
REACHING = (
    OptionScore("(x >= {level:g}).all(axis=-1) * 1.0", "all ratings of at least {level:g}", 3),
    OptionScore("(x >= {level:g}).any(axis=-1) * 1.0", "any rating of at least {level:g}", 3),
    OptionScore("(x >= {level:g}).sum(axis=-1) % 2", "oddness of the number of ratings of at least {level:g}", 5),
)  # fmt: skip
# One cue, ``{k}``, alone and beside the others.
ONE_CUE = (OptionScore("cue(x, {k})", "rating on the {name}", 1, True, True),)
OTHER_CUES = (
    OptionScore("others(x, {k}, xp).max(axis=-1)", "highest rating on cues other than the {name}", 3),
    OptionScore("others(x, {k}, xp).max(axis=-1) >= cue(x, {k})",
                "being rated at least as high on another cue as on the {name}", 4),
    OptionScore("others(x, {k}, xp).min(axis=-1)", "lowest rating on cues other than the {name}", 3),
    OptionScore("cue(x, {k}) >= others(x, {k}, xp).mean(axis=-1)", "being above the others on the {name}", 4),
)  # fmt: skip
WITHOUT_ONE = (
    OptionScore("x.sum(axis=-1) - cue(x, {k})", "total without the {name}", 3),
    OptionScore("x.sum(axis=-1) - 2 * cue(x, {k})", "total with the {name} reversed", 3.5),
    OptionScore("(x > x[:, ::-1]).sum(axis=-1) - (cue(x, {k}) > cue(x[:, ::-1], {k}))",
                "number of cues ahead other than the {name}", 3),
    OptionScore("cue(x, {k}) == x.max(axis=-1)", "being at its best on the {name}", 4.5),
    OptionScore("cue(x, {k}) == x.min(axis=-1)", "being at its worst on the {name}", 4.5),
)  # fmt: skip
ODD_CUE = (OptionScore("cue(x, {k}) % 2", "oddness of the rating on the {name}", 4),)
CUE_BESIDE_LEVEL = (
    OptionScore("cue(x, {k}) == {level:g}", "a rating of {level:g} on the {name}", 4.5),
    OptionScore("cue(x, {k}) >= {level:g}", "a rating of at least {level:g} on the {name}", 3.5),
    OptionScore(
        "-xp.abs(cue(x, {k}) - {level:g})", "closeness of the rating on the {name} to {level:g}", 4
    ),
)
CUE_AT_ENDS = (
    OptionScore("cue(x, {k}) >= {top:g}", "a top rating on the {name}", 3.5),
    OptionScore("cue(x, {k}) > 0", "a rating above 0 on the {name}", 3.5),
)
# Two and three cues, ``{a}``, ``{b}`` and ``{c}``.
TWO_CUES = (
    OptionScore("{a} + {b}", "total on {name}", 3),
    OptionScore("{a} - {b}", "difference between {name}", 4),
    OptionScore("xp.abs({a} - {b})", "distance between {name}", 4),
    OptionScore("({a} + {b}) % 2", "oddness of the total on {name}", 4.5),
    OptionScore("xp.minimum({a}, {b})", "lower rating on {name}", 4),
    OptionScore("xp.maximum({a}, {b})", "higher rating on {name}", 4),
)
TWO_CUES_OF_LEVELS = (
    OptionScore("{a} * {b}", "product of the ratings on {name}", 4),
    OptionScore("{a} == {b}", "equal ratings on {name}", 4.5),
    OptionScore(
        "{a} > {b}", "a higher rating on the {first} than on the {second} most valid cue", 4.5
    ),
)
TWO_CUES_REACHING = (
    OptionScore("xp.minimum({a}, {b}) >= {level:g}", "ratings of at least {level:g} on both {name}", 5),
    OptionScore("xp.maximum({a}, {b}) >= {level:g}", "a rating of at least {level:g} on either of {name}", 5),
    OptionScore("({a} >= {level:g}) != ({b} >= {level:g})",
                "a rating of at least {level:g} on just one of {name}", 5.5),
)  # fmt: skip
THREE_CUES = (
    OptionScore("{a} + {b} + {c}", "total on {name}", 4.5),
    OptionScore("({a} + {b} + {c}) % 2", "oddness of the total on {name}", 5.5),
    OptionScore("xp.minimum(xp.minimum({a}, {b}), {c})", "lowest rating on {name}", 5.5),
    OptionScore("xp.maximum(xp.maximum({a}, {b}), {c})", "highest rating on {name}", 5.5),
)


AS_SHOWN = 'x = trials["ratings"]\nv = trials["validities"][:, None, :]'


def rated_vocabulary(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    """Terms for products that are rated on cues.

    Args:
        stimuli: One per experiment; they may differ in the number of cues. Where scales differ,
            ratings are taken as shares of their scale.
    """
    tops = {float(top) for item in stimuli for top in np.unique(item["rating_max"])}
    ratings = [np.asarray(item["ratings"], dtype=np.float64) for item in stimuli]
    prelude, unordered = "x, v = by_validity(trials, xp)", AS_SHOWN
    if len(tops) > 1:
        scaled = '\nx = x / trials["rating_max"][:, None, None]'
        prelude, unordered = prelude + scaled, unordered + scaled
        ratings = [
            part / item["rating_max"][:, None, None]
            for part, item in zip(ratings, stimuli, strict=True)
        ]
    # Levels that occur, thinned out evenly where there are many.
    found = np.unique(np.concatenate([np.round(part, 6).ravel() for part in ratings]))
    if len(found) > MOST_LEVELS:
        places = np.linspace(0, len(found) - 1, MOST_LEVELS).round().astype(int)
        found = found[np.unique(places)]
    levels = tuple(float(level) for level in found)
    n_cues = tuple(part.shape[-1] for part in ratings)
    scores = tuple(_rated_scores(max(n_cues), levels))
    least = min(n_cues)
    return TermVocabulary(
        HELPERS,
        prelude,
        scores,
        n_cues,
        levels,
        lists=tuple(_rated_lists(least, max(n_cues), levels)),
        further=(*picked(least), *looked_up(least, levels)),
        noun="product",
        unordered=unordered,
        probes=shuffled_cues(stimuli[0]),
    )


def shuffled_cues(stimuli: Stimuli, most: int = 200) -> Stimuli:
    """Some trials with their cues in an order drawn by lot, by a fixed seed."""
    rng = np.random.default_rng(0)
    some = stimuli.take(rng.permutation(len(stimuli))[:most])
    n_cues = some["validities"].shape[-1]
    order = np.array([rng.permutation(n_cues) for _ in range(len(some))])
    return Stimuli(
        {
            **some.arrays,
            "ratings": np.take_along_axis(some["ratings"], order[:, None, :], axis=-1),
            "validities": np.take_along_axis(some["validities"], order, axis=-1),
        }
    )


def _rated_scores(n_cues: int, levels: Sequence[float]) -> Iterator[OptionScore]:
    """Every score of rated products.

    Args:
        n_cues: Number of cues of the experiment with the most.
        levels: Ratings that occur, ascending.
    """
    yield from _weighted_scores(levels)
    yield from _whole_scores(n_cues, levels)
    for k in range(n_cues):
        yield from _cue_scores(k, n_cues, levels)
    if n_cues > MOST_CUES_PAIRED:
        return
    for i, j in combinations(range(n_cues), 2):
        yield from _pair_scores(i, j, levels)
    if n_cues > 3:
        for chosen in combinations(range(n_cues), 3):
            first, second, third = (ORDINALS[k] for k in chosen)
            name = f"the {first}, {second} and {third} most valid cues"
            a, b, c = (f"cue(x, {k})" for k in chosen)
            yield from filled(THREE_CUES, a=a, b=b, c=c, name=name)


def _weighted_scores(levels: Sequence[float]) -> Iterator[OptionScore]:
    """Sums and counts over cues, each cue weighed by nothing, by its validity, or by its validity above chance."""
    yield from PLAIN_SUMS
    yield from _sums_by("", "", 0, levels)
    for weight, by, more in WEIGHTS:
        yield from filled(WEIGHTED_SUMS, more, weight=weight, by=by)
        yield from _sums_by(weight, by, more, levels)


def _sums_by(weight: str, by: str, more: float, levels: Sequence[float]) -> Iterator[OptionScore]:
    """The less usual sums with one way to weigh cues."""
    yield from filled(OWN_BEST, weight=weight, by=by)
    if len(levels) < 3:
        return
    yield from filled(CURVED_SUMS, more, weight=weight, by=by)
    yield from filled(CURVED_ADVANTAGES, weight=weight, by=by)
    for level in levels[1:]:
        yield from filled(REACHING_COUNTS, more, weight=weight, by=by, level=level)
    for level in levels[1:-1]:
        yield from filled(CAPPED_SUMS, more, weight=weight, by=by, level=level)
    for level in levels:
        yield from filled(CLOSENESS, more, weight=weight, by=by, level=level)
        yield from filled(SQUARED_CLOSENESS, weight=weight, by=by, level=level)


def _whole_scores(n_cues: int, levels: Sequence[float]) -> Iterator[OptionScore]:
    """Numbers of all of a product's ratings together."""
    has_middle = len(levels) > 2
    yield from ORDERED
    if has_middle:
        yield from COMMONEST
    yield from SPREAD
    for place in range(1, n_cues - 1):
        yield from filled(RANKED, place=place, ordinal=ORDINALS[place])
    # Totals that may be aimed at: at most 19, evenly over the range, to the next half.
    parts = np.linspace(0, 1, 21)[1:-1]
    for share in np.unique(np.round(2 * n_cues * levels[-1] * parts) / 2):
        yield from filled(NEAR_TOTAL, share=share)
    if has_middle:
        yield from ODD_RATINGS
        for level in levels:
            yield from filled(EQUAL_COUNTS, level=level)
        for level in levels[1:]:
            yield from filled(REACHING, level=level)


def _cue_scores(k: int, n_cues: int, levels: Sequence[float]) -> Iterator[OptionScore]:
    """Numbers of the cue of rank ``k``, counted from 0."""
    name = f"{ORDINALS[k]} most valid cue" if k else "most valid cue"
    has_middle = len(levels) > 2
    yield from filled(ONE_CUE, 0.1 * k, k=k, name=name)
    if n_cues > 1:
        yield from filled(OTHER_CUES, k=k, name=name)
    yield from filled(WITHOUT_ONE, k=k, name=name)
    if has_middle:
        yield from filled(ODD_CUE, k=k, name=name)
    for level in levels[1:-1]:
        yield from filled(CUE_BESIDE_LEVEL, k=k, name=name, level=level)
    if has_middle:
        yield from filled(CUE_AT_ENDS, k=k, name=name, top=levels[-1])


def _pair_scores(i: int, j: int, levels: Sequence[float]) -> Iterator[OptionScore]:
    """Numbers of the two cues of ranks ``i`` and ``j``."""
    places: dict[str, Any] = {
        "a": f"cue(x, {i})",
        "b": f"cue(x, {j})",
        "name": f"the {ORDINALS[i]} and {ORDINALS[j]} most valid cues",
        "first": ORDINALS[i],
        "second": ORDINALS[j],
    }
    yield from filled(TWO_CUES, **places)
    if len(levels) > 2:
        yield from filled(TWO_CUES_OF_LEVELS, **places)
        for level in levels[1:]:
            yield from filled(TWO_CUES_REACHING, level=level, **places)


# What more is made of, once a first look at the scores has been taken: lists of numbers, one for each cue.
MOST_CUES_IN_TWOS = 6
"""Most cues for which each pair is a list of its own."""


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
    OptionNumbers("cues(x, {i}, {j}, xp)", "ratings on the {first} and {second} most valid cues", 3.5),
)  # fmt: skip


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
    if 3 < least <= MOST_CUES_IN_TWOS and least == most:
        for i, j in combinations(range(least), 2):
            yield from filled(LISTS_OF_TWO, i=i, j=j, first=ORDINALS[i], second=ORDINALS[j])


class CueCondition(PricedExpression):
    """Condition that some cues of a product fulfil, ``(n_trials, 2, n_cues)``; its words come after "on which"."""


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


def looked_up(n_cues: int, levels: Sequence[float]) -> Iterator[OptionScore]:
    """Ratings on the cues that fulfil a condition: the first, the last, the highest, the lowest, and how many.

    Args:
        n_cues: Number of cues of the experiment with the fewest.
        levels: Ratings that occur.
    """
    if n_cues < 2:
        return
    for item in conditions(levels):
        words = f"cues on which {item.words}"
        yield from filled(WHERE_FULFILLED, item.price + 1, where=item.code, words=words)
    for order, way in READING_ORDERS:
        for ahead in range(2, n_cues):
            yield from filled(CUES_AHEAD, order=order, way=way, ahead=ahead)
        for level in levels[2:]:
            yield from filled(SUMS_APART, order=order, way=way, gap=level - levels[0])


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


def picked(n_cues: int) -> Iterator[OptionScore]:
    """A rating where another list is highest or lowest; of several such places the first, the best or the worst.

    Args:
        n_cues: Number of cues of the experiment with the fewest.
    """
    if n_cues < 2:
        return
    for code, words, price in RATING_PLACES:
        for end, extreme in (("max", "highest"), ("min", "lowest")):
            yield from filled(RATINGS_AT, price, code=code, words=words, end=end, extreme=extreme)
    yield from ADVANTAGES
