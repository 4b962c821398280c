"""Terms for options that are rated on attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from lakatos.experiments.task import Stimuli
from lakatos.theories.induction.option_score import (
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
    OptionScore,
    TermVocabulary,
)


def _rated(stimuli: Sequence[Stimuli]) -> TermVocabulary:
    tops = {float(top) for item in stimuli for top in np.unique(item["rating_max"])}
    ratings = [np.asarray(item["ratings"], dtype=np.float64) for item in stimuli]
    shares = len(tops) > 1
    if shares:
        ratings = [
            part / item["rating_max"][:, None, None]
            for part, item in zip(ratings, stimuli, strict=True)
        ]
    levels = np.unique(np.concatenate([np.round(part, 6).ravel() for part in ratings]))
    if len(levels) > MOST_LEVELS:
        levels = levels[np.unique(np.linspace(0, len(levels) - 1, MOST_LEVELS).round().astype(int))]
    prelude = "x, v = by_validity(trials, xp)"
    if shares:
        prelude += '\nx = x / trials["rating_max"][:, None, None]'
    n_cues = max(part.shape[-1] for part in ratings)
    return TermVocabulary(
        (
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
        ),
        prelude,
        tuple(_rated_scores(n_cues, [float(level) for level in levels])),
        tuple(part.shape[-1] for part in ratings),
        tuple(float(level) for level in levels),
    )


def _rated_scores(n_cues: int, levels: Sequence[float]) -> Iterator[OptionScore]:
    top, inner = levels[-1], levels[1:]
    middle = [float(level) for level in levels[1:-1]]
    decay = "0.5 ** xp.arange(x.shape[-1])"
    other = "x[:, ::-1]"
    weights = (
        ("", "", 0.0),
        ("v * ", ", weighted by validity", 0.5),
        ("(2 * v - 1) * ", ", weighted by validity above chance", 1.0),
    )
    # The published ways of adding up, then powers, counts and shapes of one product's ratings.
    for weight, words, price in weights:
        yield OptionScore(
            f"({weight}x).sum(axis=-1)" if weight else "x.sum(axis=-1)",
            f"total of the ratings{words}",
            1 + price,
            True,
        )
        yield OptionScore(
            f"({weight}(x > {other})).sum(axis=-1)",
            f"number of cues ahead{words}",
            1 + price,
            not weight,
        )
        yield OptionScore(
            f"({weight}(x == x.max(axis=-1)[..., None])).sum(axis=-1)",
            f"number of cues at its own best{words}",
            4,
        )
        if middle:
            yield OptionScore(
                f"({weight}xp.sqrt(x)).sum(axis=-1)",
                f"total of the square roots of the ratings{words}",
                2 + price,
            )
            yield OptionScore(
                f"({weight}x**2).sum(axis=-1)", f"total of the squared ratings{words}", 2 + price
            )
            yield OptionScore(
                f"({weight}xp.log(1 + x)).sum(axis=-1)",
                f"product of the ratings plus one{words}",
                2 + price,
            )
            yield OptionScore(
                f"({weight}xp.maximum(x - {other}, 0.0) ** 2).sum(axis=-1)",
                f"total of the squared advantages{words}",
                3,
            )
            yield OptionScore(
                f"({weight}xp.sqrt(xp.maximum(x - {other}, 0.0))).sum(axis=-1)",
                f"total of the square roots of the advantages{words}",
                3,
            )
            yield OptionScore(
                f"({weight}x / xp.maximum(xp.maximum(x, {other}), 1e-9)).sum(axis=-1)",
                f"total of the ratings in proportion to the better one{words}",
                3,
            )
            for level in inner:
                yield OptionScore(
                    f"({weight}(x >= {level:g})).sum(axis=-1)",
                    f"number of ratings of at least {level:g}{words}",
                    2.5 + price,
                )
            for level in middle:
                yield OptionScore(
                    f"({weight}xp.minimum(x, {level:g})).sum(axis=-1)",
                    f"total of the ratings up to {level:g}{words}",
                    3 + price,
                )
            for level in levels:
                yield OptionScore(
                    f"-({weight}xp.abs(x - {level:g})).sum(axis=-1)",
                    f"closeness of the ratings to {level:g}{words}",
                    3 + price,
                )
                yield OptionScore(
                    f"-({weight}(x - {level:g}) ** 2).sum(axis=-1)",
                    f"squared closeness of the ratings to {level:g}{words}",
                    4,
                )
    yield OptionScore(
        f"((x > {other}) * {decay}).sum(axis=-1)",
        "rating on the most valid cue that differs",
        1.2,
        True,
    )
    yield OptionScore(
        f"((x > {other}) / ({decay})).sum(axis=-1)",
        "rating on the least valid cue that differs",
        2,
        True,
    )
    yield OptionScore(
        f"(x * {decay}).sum(axis=-1)",
        "total of the ratings, each cue counting half of the one before",
        2,
    )
    yield OptionScore(
        f"(x / ({decay})).sum(axis=-1)",
        "total of the ratings, each cue counting twice the one before",
        3,
    )
    yield OptionScore("x.max(axis=-1)", "highest rating", 1.5, True, True)
    yield OptionScore("x.min(axis=-1)", "lowest rating", 1.5, True, True)
    yield OptionScore("x.mean(axis=-1)", "mean rating", 1.5, False, True)
    if middle:
        alike = "(x[..., None] == x[..., None, :]).sum(axis=-1)"
        commonest = f"({alike} + 1e-3 * x).argmax(axis=-1)[..., None]"
        yield OptionScore(
            f"xp.take_along_axis(x, {commonest}, axis=-1)[..., 0]",
            "commonest rating",
            3,
            False,
            True,
        )
        yield OptionScore(f"{alike}.max(axis=-1)", "number of cues that agree", 3, True)
    yield OptionScore("x.max(axis=-1) - x.min(axis=-1)", "range of ratings", 2, True)
    yield OptionScore("xp.round(x.var(axis=-1), 9)", "variance of the ratings", 2, True)
    yield OptionScore(
        "xp.abs(x - x.mean(axis=-1)[..., None]).sum(axis=-1)", "spread of the ratings", 3
    )
    yield OptionScore("x.argmax(axis=-1)", "rank of its best cue", 3)
    yield OptionScore("x.argmin(axis=-1)", "rank of its worst cue", 3)
    yield OptionScore(f"(x - {other}).max(axis=-1)", "largest advantage", 2)
    yield OptionScore(f"(x - {other}).min(axis=-1)", "least bad disadvantage", 2)
    yield OptionScore(
        f"((x - {other}) * (xp.abs(x - {other}) == xp.abs(x - {other}).max(axis=-1)[..., None])).sum(axis=-1)",
        "advantage on the cues that differ most",
        2.5,
    )
    yield OptionScore("x.sum(axis=-1) % 2", "remainder of the total divided by 2", 3, True)
    yield OptionScore("x.sum(axis=-1) % 3", "remainder of the total divided by 3", 4)
    yield OptionScore("x.sum(axis=-1) % 4", "remainder of the total divided by 4", 4.5)
    yield OptionScore("xp.abs(xp.diff(x, axis=-1)).sum(axis=-1)", "change from cue to cue", 3.5)
    yield OptionScore(
        "(xp.diff(x, axis=-1) > 0).sum(axis=-1)", "number of rises down the cues", 3.5
    )
    yield OptionScore(
        "(x * (xp.arange(x.shape[-1]) % 2)).sum(axis=-1)", "total on every second cue", 4
    )
    yield OptionScore(f"(x == {other}[:, ::-1, ::-1]).sum(axis=-1)", "symmetry of the ratings", 5)
    for place in range(1, n_cues - 1):
        yield OptionScore(
            f"cue(xp.sort(x, axis=-1), {place})", f"{ORDINALS[place]} lowest rating", 3
        )
    for share in np.unique(np.round(2 * n_cues * top * np.linspace(0, 1, 21)[1:-1]) / 2):
        yield OptionScore(
            f"-xp.abs(x.sum(axis=-1) - {share:g})", f"closeness of the total to {share:g}", 4
        )
    if middle:
        yield OptionScore("(x % 2).sum(axis=-1)", "number of odd ratings", 3.5)
        yield OptionScore("(x > 0).prod(axis=-1)", "freedom from zeros", 2.5)
        for level in levels:
            yield OptionScore(
                f"(x == {level:g}).sum(axis=-1)", f"number of ratings of {level:g}", 3, True
            )
        for level in inner:
            yield OptionScore(
                f"(x >= {level:g}).all(axis=-1) * 1.0", f"all ratings being at least {level:g}", 3
            )
            yield OptionScore(
                f"(x >= {level:g}).any(axis=-1) * 1.0", f"any rating being at least {level:g}", 3
            )
            yield OptionScore(
                f"(x >= {level:g}).sum(axis=-1) % 2",
                f"oddness of the number of ratings of at least {level:g}",
                5,
            )
    for k in range(n_cues):
        name = f"{ORDINALS[k]} most valid cue" if k else "most valid cue"
        yield OptionScore(f"cue(x, {k})", f"rating on the {name}", 1 + 0.1 * k, True, True)
        if n_cues > 1:
            others = f"others(x, {k}, xp)"
            yield OptionScore(
                f"{others}.max(axis=-1)", f"highest rating on other cues than the {name}", 3
            )
            yield OptionScore(
                f"{others}.max(axis=-1) >= cue(x, {k})",
                f"being seconded in the rating on the {name}",
                4,
            )
            yield OptionScore(
                f"{others}.min(axis=-1)", f"lowest rating on other cues than the {name}", 3
            )
            yield OptionScore(
                f"cue(x, {k}) >= {others}.mean(axis=-1)", f"being above the others on the {name}", 4
            )
        yield OptionScore(f"x.sum(axis=-1) - cue(x, {k})", f"total without the {name}", 3)
        yield OptionScore(
            f"x.sum(axis=-1) - 2 * cue(x, {k})", f"total with the {name} turned round", 3.5
        )
        yield OptionScore(
            f"(x > {other}).sum(axis=-1) - (cue(x, {k}) > cue({other}, {k}))",
            f"number of other cues ahead than the {name}",
            3,
        )
        yield OptionScore(f"cue(x, {k}) == x.max(axis=-1)", f"being at its best on the {name}", 4.5)
        yield OptionScore(
            f"cue(x, {k}) == x.min(axis=-1)", f"being at its worst on the {name}", 4.5
        )
        if middle:
            yield OptionScore(f"cue(x, {k}) % 2", f"oddness of the rating on the {name}", 4)
        for level in middle:
            yield OptionScore(
                f"cue(x, {k}) == {level:g}", f"rating of {level:g} on the {name}", 4.5
            )
            yield OptionScore(
                f"cue(x, {k}) >= {level:g}", f"rating of at least {level:g} on the {name}", 3.5
            )
            yield OptionScore(
                f"-xp.abs(cue(x, {k}) - {level:g})", f"closeness to {level:g} on the {name}", 4
            )
        if middle:
            yield OptionScore(f"cue(x, {k}) >= {top:g}", f"top rating on the {name}", 3.5)
            yield OptionScore(f"cue(x, {k}) > 0", f"rating above 0 on the {name}", 3.5)
    if n_cues > MOST_CUES_PAIRED:
        return
    for i, j in combinations(range(n_cues), 2):
        name = f"the {ORDINALS[i]} and {ORDINALS[j]} most valid cue"
        a, b = f"cue(x, {i})", f"cue(x, {j})"
        yield OptionScore(f"{a} + {b}", f"total on {name}", 3)
        yield OptionScore(f"{a} - {b}", f"difference between {name}", 4)
        yield OptionScore(f"xp.abs({a} - {b})", f"distance between {name}", 4)
        yield OptionScore(f"({a} + {b}) % 2", f"oddness of the total on {name}", 4.5)
        yield OptionScore(f"xp.minimum({a}, {b})", f"lower rating on {name}", 4)
        yield OptionScore(f"xp.maximum({a}, {b})", f"higher rating on {name}", 4)
        if middle:
            yield OptionScore(f"{a} * {b}", f"product of the ratings on {name}", 4)
            yield OptionScore(f"{a} == {b}", f"equality on {name}", 4.5)
            yield OptionScore(f"{a} > {b}", f"being better on the former of {name}", 4.5)
            for level in inner:
                yield OptionScore(
                    f"xp.minimum({a}, {b}) >= {level:g}", f"at least {level:g} on both {name}", 5
                )
                yield OptionScore(
                    f"xp.maximum({a}, {b}) >= {level:g}",
                    f"at least {level:g} on either of {name}",
                    5,
                )
                yield OptionScore(
                    f"({a} >= {level:g}) != ({b} >= {level:g})",
                    f"at least {level:g} on just one of {name}",
                    5.5,
                )
    for chosen in combinations(range(n_cues), 3):
        name = "the " + ", ".join(ORDINALS[k] for k in chosen) + " most valid cue"
        parts = [f"cue(x, {k})" for k in chosen]
        if n_cues > 3:
            yield OptionScore(" + ".join(parts), f"total on {name}", 4.5)
            yield OptionScore(f"({' + '.join(parts)}) % 2", f"oddness of the total on {name}", 5.5)
            yield OptionScore(
                f"xp.minimum(xp.minimum({parts[0]}, {parts[1]}), {parts[2]})",
                f"lowest rating on {name}",
                5.5,
            )
            yield OptionScore(
                f"xp.maximum(xp.maximum({parts[0]}, {parts[1]}), {parts[2]})",
                f"highest rating on {name}",
                5.5,
            )
