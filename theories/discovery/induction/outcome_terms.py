"""What rules over any number of options or levels are made of: numbers of each outcome, and conditions on the trial.

A *term* gives each outcome of a trial a number: an attribute, its rank, its distance from a level, whether an option is
the best of those that pass a screen. A *gate* is a condition on the whole set, such as a tie at the top. Both are text
of the contract's array code; their values come from that text, so a theory and the search cannot disagree.

References:
    Tversky (1972), Psychological Review 79, 281-299 (screening by aspects); Huber, Payne & Puto (1982), Journal of
    Consumer Research 9, 90-98 (dominated options); Simonson (1989), Journal of Consumer Research 16, 158-174
    (compromise); Coombs (1964), A theory of data (ideal levels); Russo & Dosher (1983), Journal of Experimental
    Psychology: Learning, Memory, and Cognition 9, 676-696 (comparisons in pairs).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import AnswerScale, scale_of
from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.discovery.induction.phrase import (
    comparatives,
    figure,
    superlatives,
    with_article,
)
from lakatos.theories.discovery.induction.term_text import carry_out, compute
from lakatos.theories.discovery.induction.terms import ChoiceTerm, thresholds
from lakatos.theories.language.option_score import (
    HasLandmarkCodes,
    HasOptionCues,
    HasTrialNouns,
    LandmarkCode,
    OptionCue,
    OptionScore,
)

Array = NDArray[Any]
MOST_QUANTITIES = 10
"""Numbers of each outcome, and of each trial, that terms are made of."""
MOST_CUTS = 5
"""Levels of a number from which it counts as reached."""
MOST_SCREENED = 4
"""Numbers up to which screens on two of them are tried."""
LEAST_VARIED = 1e-9

BEST = '''
def best(values, inside, xp):
    """1 for the options of the greatest value among those inside, else 0."""
    top = xp.where(inside > 0, values, -1e30).max(axis=-1)[..., None]
    return (inside > 0) * (values >= top - 1e-9) * 1.0
'''
NEAR_BEST = '''
def near_best(values, inside, distance, xp):
    """1 for the options inside that are no further than a distance from the greatest value there."""
    top = xp.where(inside > 0, values, -1e30).max(axis=-1)[..., None]
    return (inside > 0) * (values >= top - distance - 1e-9) * 1.0
'''
NOT_WORST = '''
def not_worst(values, inside, xp):
    """1 for the options inside except those of the least value there."""
    bottom = xp.where(inside > 0, values, 1e30).min(axis=-1)[..., None]
    return (inside > 0) * (values > bottom + 1e-9) * 1.0
'''
BEATEN = '''
def beaten(values):
    """Share of the other options that have less."""
    less = (values[..., :, None] > values[..., None, :] + 1e-9).sum(axis=-1)
    return less / (values.shape[-1] - 1)
'''
OF_RANGE = '''
def of_range(values, xp):
    """Place between the least and the greatest value on offer, from 0 to 1."""
    low = values.min(axis=-1)[..., None]
    high = values.max(axis=-1)[..., None]
    return (values - low) / xp.where(high > low, high - low, 1.0)
'''
ALIKE = '''
def alike(values, xp):
    """Number of other options with the same value."""
    return (xp.abs(values[..., :, None] - values[..., None, :]) < 1e-9).sum(axis=-1) - 1.0
'''
DOMINATES = '''
def dominates(sides, xp):
    """Number of other options to which an option is equal or ahead everywhere, and ahead somewhere."""
    x = xp.stack(sides, axis=-1)
    ahead = x[..., :, None, :] - x[..., None, :, :]
    return ((ahead >= -1e-9).all(axis=-1) & (ahead > 1e-9).any(axis=-1)).sum(axis=-1) * 1.0
'''
DOMINATED = '''
def dominated(sides, xp):
    """Number of other options that are equal or ahead everywhere, and ahead somewhere."""
    x = xp.stack(sides, axis=-1)
    behind = x[..., None, :, :] - x[..., :, None, :]
    return ((behind >= -1e-9).all(axis=-1) & (behind > 1e-9).any(axis=-1)).sum(axis=-1) * 1.0
'''
MEDIAN = '''
def median(values, xp):
    """Median of the options on offer."""
    n = values.shape[-1]
    inside = xp.sort(values, axis=-1)
    return 0.5 * (inside[..., (n - 1) // 2] + inside[..., n // 2])[..., None]
'''
DUELS = '''
def duels(sides, xp):
    """Number of other options that an option is ahead of on more sides than it is behind."""
    x = xp.stack(sides, axis=-1)
    ahead = x[..., :, None, :] - x[..., None, :, :]
    won = (ahead > 1e-9).sum(axis=-1) - (ahead < -1e-9).sum(axis=-1)
    return (won > 0).sum(axis=-1) * 1.0
'''
WIDEST = '''
def widest(sides, xp):
    """Value on the sides on which the options differ most."""
    x = xp.stack(sides, axis=-1)
    range_ = (x.max(axis=-2) - x.min(axis=-2))[..., None, :]
    return (x * (range_ >= range_.max(axis=-1)[..., None] - 1e-9)).sum(axis=-1)
'''
HELPERS = (
    BEST, NEAR_BEST, NOT_WORST, BEATEN, OF_RANGE, ALIKE, DOMINATES, DOMINATED, MEDIAN, DUELS, WIDEST,
)  # fmt: skip


@dataclass(frozen=True)
class OutcomeQuantity:
    """A number of each outcome, or of each trial."""

    score: OptionScore
    values: Array
    """``(n_trials, n_outcomes)``, or ``(n_trials, 1)`` for one of the trial."""
    sign: int = 1
    """-1 where less of it is better, or is chosen."""
    is_directed: bool = True
    """Whether that is so for everybody."""
    share: OptionScore | None = None
    """The same as a share of its range, turned so that more is chosen; None where it may not be put beside others."""

    @property
    def is_flag(self) -> bool:
        """Whether it says only yes or no."""
        return bool(np.isin(self.values, (0, 1)).all())

    @property
    def noun(self) -> str:
        """What it is called."""
        return self.score.words

    @property
    def turned(self) -> str:
        """Its code, turned so that more of it is chosen."""
        return "{0}" if self.sign > 0 else "(-{0})"

    @property
    def ways(self) -> tuple[OutcomeQuantity, ...]:
        """It, and turned round where tastes may differ."""
        if self.is_directed or self.is_flag:
            return (self,)
        return (self, replace(self, sign=-self.sign))

    @property
    def bottom(self) -> str:
        """What the end is called that is not chosen."""
        return superlatives(self.noun)[1 if self.sign > 0 else 0]

    @property
    def top(self) -> str:
        """What the end is called that is chosen."""
        return superlatives(self.noun)[0 if self.sign > 0 else 1]


@dataclass(frozen=True)
class OutcomeTable:
    """Terms, or gates, with their values."""

    items: tuple[ChoiceTerm, ...]
    values: NDArray[np.float32]
    """``(n_terms, n_trials, n_outcomes)``; of gates ``(n_gates, n_trials)``."""

    @property
    def prices(self) -> Array:
        """Code lengths in nats, of which the probabilities add up to 1: ``(n_terms,)``."""
        prices = np.array([item.price for item in self.items])
        return np.asarray(prices + np.log(np.exp(-prices).sum())) if len(prices) else prices


@dataclass(frozen=True)
class OutcomeLanguage:
    """All terms and gates for the trials at hand."""

    terms: OutcomeTable
    gates: OutcomeTable
    helpers: tuple[str, ...]
    free: NDArray[np.bool_]
    """``(n_trials, n_outcomes)`` whether an outcome may be chosen."""


def joined(stimuli: Sequence[Stimuli]) -> dict[str, Array] | None:
    """Arrays of the trials of all experiments; None where their shapes differ."""
    shapes = {
        tuple((name, array.shape[1:]) for name, array in sorted(item.arrays.items()))
        for item in stimuli
    }
    if len(shapes) != 1:
        return None
    return {
        name: np.concatenate([item.arrays[name] for item in stimuli]) for name in stimuli[0].arrays
    }


def read_language(
    domain: Domain, arrays: dict[str, Array], counts: Array, *, has_places: bool
) -> OutcomeLanguage | None:
    """Terms and gates whose values vary.

    Args:
        domain: Of the trials.
        arrays: ``(n_trials, ...)`` of all trials.
        counts: ``(n_trials, n_outcomes)`` responses, which decide to which end each number is turned.
        has_places: Whether it is known where options stood.

    Returns:
        None where outcomes are choices with their times, for which there are no terms.
    """
    scale = scale_of(domain)
    n_outcomes = counts.shape[1]
    free = arrays["available"] > 0 if "available" in arrays else np.ones(counts.shape, dtype=bool)
    if scale is not None and scale.kind == "timed":
        return None
    own = domain.landmark_codes() if isinstance(domain, HasLandmarkCodes) else ()
    helpers = (*HELPERS, *(item.helper for item in own if item.helper))
    space: dict[str, Any] = {"xp": np, "trials": arrays}
    carry_out("\n".join(helpers), space)
    nouns = domain.trial_nouns() if isinstance(domain, HasTrialNouns) else {}
    conditions = _of_trials(_numbers_by_shape(arrays, nouns), space)
    if scale is None:
        shown = _of_options(domain, arrays, space, counts)
        terms = list(_option_terms(shown, n_outcomes, has_places=has_places))
        gates = [*_set_gates(shown), *_trial_gates(conditions)]
    else:
        near = _of_trials(own, space) or conditions
        terms, gates = list(_scale_terms(scale, near)), list(_trial_gates([*conditions, *near]))
    table = _evaluated(terms, space, counts.shape, free)
    divisions = _evaluated_gates(gates, space, len(counts))
    return OutcomeLanguage(table, divisions, helpers, free) if table.items else None


# -- numbers -----------------------------------------------------------------------------------------------------------


def _of_options(
    domain: Domain, arrays: dict[str, Array], space: dict[str, Any], counts: Array
) -> list[OutcomeQuantity]:
    """Numbers of each option, each turned to the end that was chosen more often than chance."""
    cues = (
        domain.option_cues()
        if isinstance(domain, HasOptionCues)
        else _cues_by_shape(arrays, counts.shape[1])
    )
    excess = counts - counts.sum(axis=1, keepdims=True) / counts.shape[1]
    found = []
    for cue in cues:
        values = np.asarray(compute(cue.code, space), dtype=np.float64)
        if np.ptp(values) <= LEAST_VARIED:
            continue
        score = OptionScore(f"{cue.code} * 1.0", cue.noun, 0.0)
        item = OutcomeQuantity(score, values)
        if not item.is_flag:
            sign = cue.better or (-1 if float((excess * values).sum()) < 0 else 1)
            share = _share(cue, values, sign, space)
            item = OutcomeQuantity(score, values, sign, cue.better != 0, share)
        found.append(item)
    return found[:MOST_QUANTITIES]


def _share(cue: OptionCue, values: Array, sign: int, space: dict[str, Any]) -> OptionScore | None:
    """A cue as a share of its range that runs up to the end that is chosen."""
    if not cue.share:
        return None
    share = np.asarray(compute(cue.share, space), dtype=np.float64)
    runs_up = float(((share - share.mean()) * (values - values.mean())).sum()) * sign > 0
    return OptionScore(f"{cue.share} * 1.0" if runs_up else f"1.0 - {cue.share}", cue.noun, 0.0)


def _cues_by_shape(arrays: dict[str, Array], n_outcomes: int) -> list[OptionCue]:
    """Arrays with an axis of options."""
    found = []
    for name, array in sorted(arrays.items()):
        words = name.replace("_", " ")
        if name != "available" and array.shape[1:] == (n_outcomes,):
            found.append(OptionCue(f'trials["{name}"]', words))
        elif array.ndim == 3 and array.shape[1] == n_outcomes and array.shape[2] <= 8:
            found += [
                OptionCue(f'trials["{name}"][..., {place}]', f"{words} {place + 1}")
                for place in range(array.shape[2])
            ]
    return found


def _of_trials(numbers: Sequence[LandmarkCode], space: dict[str, Any]) -> list[OutcomeQuantity]:
    """Numbers of each trial that vary."""
    found = []
    for item in numbers:
        values = np.asarray(compute(item.code, space), dtype=np.float64)[:, None]
        if np.ptp(values) > LEAST_VARIED:
            score = OptionScore(f"({item.code})[:, None] * 1.0", item.noun, 0.0)
            found.append(OutcomeQuantity(score, values))
    return found[: 2 * MOST_QUANTITIES]


def _numbers_by_shape(arrays: dict[str, Array], nouns: Mapping[str, str]) -> list[LandmarkCode]:
    """Arrays with one number for each trial."""
    return [
        LandmarkCode(f'trials["{name}"]', nouns.get(name, name.replace("_", " ")))
        for name, array in sorted(arrays.items())
        if array.ndim == 1
    ]


# -- terms of options --------------------------------------------------------------------------------------------------


def _term(
    code: str,
    words: str,
    opposite: str,
    price: float,
    *quantities: OutcomeQuantity,
) -> ChoiceTerm:
    """A term over the variables ``{0}``, ``{1}`` of its quantities."""
    return ChoiceTerm(code, words, price, tuple(item.score for item in quantities), (), opposite)


def _option_terms(
    quantities: Sequence[OutcomeQuantity], n_outcomes: int, *, has_places: bool
) -> Iterator[ChoiceTerm]:
    for item in quantities:
        yield from _own_terms(item, n_outcomes)
    for one, two in combinations([item for item in quantities if not item.is_flag], 2):
        yield from _pair_terms(one, two)
    for screen, own in permutations(quantities, 2):
        for one, two in product(screen.ways, own.ways):
            yield from _screened_terms(one, two)
    sides = [item for item in quantities if not item.is_flag]
    if len(sides) <= MOST_SCREENED:
        for first, second, own in permutations(sides, 3):
            if sides.index(first) < sides.index(second):
                for both in product(first.ways, second.ways, own.ways):
                    yield from _twice_screened_terms(*both)
            for three in product(first.ways, second.ways, own.ways):
                yield from _one_after_another(*three)
    if len(sides) > 1:
        yield from _dominance_terms(sides)
        if all(item.share for item in sides):
            yield from _balance_terms(sides)
    if has_places and quantities:
        yield from _place_terms(quantities[0], n_outcomes)


def _own_terms(item: OutcomeQuantity, n_outcomes: int) -> Iterator[ChoiceTerm]:
    noun, x = item.noun, "{0}"
    if item.is_flag:
        yield _term(x, f"take an option with {noun}", f"take an option without {noun}", 0.0, item)
        yield _term(
            "(alike({0}, xp) < 0.5) * 1.0",
            f"take the only option that differs in {noun}",
            f"avoid the only option that differs in {noun}",
            3.0,
            item,
        )
        return
    some = with_article(noun)
    higher, lower = (f"take an option with {with_article(noun, end)}" for end in comparatives(noun))
    yield _term(x, higher, lower, 0.0, item)
    yield _term("{0} ** 2", f"{higher}, more so at the high end", f"{lower}, more so at the high end",
                1.5, item)  # fmt: skip
    low = float(np.min(item.values))
    yield _term(f"xp.sqrt(xp.maximum({{0}} - {low:.6g}, 0.0))", f"{higher}, more so at the low end",
                f"{lower}, more so at the low end", 1.5, item)  # fmt: skip
    for sign, end in zip((1, -1), superlatives(noun), strict=True):
        code = x if sign > 0 else "-{0}"
        yield _term(f"best({code}, 1.0 + 0.0 * {{0}}, xp)", f"take the option with the {end} {noun}",
                    f"avoid the option with the {end} {noun}", 1.0, item)  # fmt: skip
    yield _term("of_range({0}, xp)", f"{higher} within the range on offer",
                f"{lower} within the range on offer", 1.5, item)  # fmt: skip
    if n_outcomes > 2:
        most, fewest = superlatives(noun)
        yield _term("beaten({0})", f"take an option that ranks higher in {noun}",
                    f"take an option that ranks lower in {noun}", 1.5, item)  # fmt: skip
        yield _term("-xp.abs({0} - {0}.mean(axis=-1)[..., None])",
                    f"take an option with {some} near the mean on offer",
                    f"take an option with {some} far from the mean on offer", 2.0, item)  # fmt: skip
        yield _term("-xp.abs({0} - median({0}, xp))",
                    f"take an option with {some} near the median on offer",
                    f"take an option with {some} far from the median on offer", 2.0, item)  # fmt: skip
        yield _term("(beaten({0}) > 0) * (beaten(-{0}) > 0) * 1.0",
                    f"take an option with neither the {most} nor the {fewest} {noun}",
                    f"take an option with the {most} or the {fewest} {noun}", 2.0, item)  # fmt: skip
        yield _term("alike({0}, xp)", f"take an option with the same {noun} as others",
                    f"take an option with {some} that no other has", 2.5, item)  # fmt: skip
    cuts = thresholds(item.values.ravel(), MOST_CUTS)
    for cut in cuts:
        yield _term(f"({{0}} > {cut:g}) * 1.0", f"take an option with {some} above {figure(cut)}",
                    f"take an option with {some} of at most {figure(cut)}", 1.0 + np.log(len(cuts)), item)  # fmt: skip
    levels = np.unique(np.round(item.values, 9))[1:-1]
    for level in (
        levels[np.unique(np.linspace(0, len(levels) - 1, MOST_CUTS).astype(int))]
        if len(levels)
        else ()
    ):
        yield _term(f"-xp.abs({{0}} - {level:g})", f"take an option with {some} near {figure(level)}",
                    f"take an option with {some} far from {figure(level)}", 1.5 + np.log(MOST_CUTS), item)  # fmt: skip


def _pair_terms(one: OutcomeQuantity, two: OutcomeQuantity) -> Iterator[ChoiceTerm]:
    names = f"{one.noun} and {two.noun}"
    yield _term("{0} * {1}", f"take an option with a higher product of {names}",
                f"take an option with a lower product of {names}", 2.5, one, two)  # fmt: skip
    for top, bottom in ((one, two), (two, one)):
        if bottom.values.min() > 0:
            ratio = f"ratio of {top.noun} to {bottom.noun}"
            yield _term("{0} / {1}", f"take an option with a higher {ratio}",
                        f"take an option with a lower {ratio}", 3.0, top, bottom)  # fmt: skip
    if one.share and two.share:
        yield _shared("{0} * {1}", f"take an option that is good in {names} together",
                      f"take an option that is not good in {names} together", 2.5, one, two)  # fmt: skip
        for function, side in (("minimum", "poorer"), ("maximum", "better")):
            words = f"on the {side} of {names}"
            yield _shared(f"xp.{function}({{0}}, {{1}})", f"take an option that is good {words}",
                          f"take an option that is poor {words}", 2.5, one, two)  # fmt: skip
    for first, second in product(one.ways, two.ways):
        yield from _both_terms(first, second)
    for condition, own in permutations((one, two), 2):
        yield from _conditional_terms(condition, own)


def _conditional_terms(condition: OutcomeQuantity, own: OutcomeQuantity) -> Iterator[ChoiceTerm]:
    """One number of an option, which counts only where another one of it reaches a level."""
    cuts = thresholds(condition.values.ravel(), MOST_CUTS)
    for cut, (sign, words) in product(cuts, ((">", "above"), ("<", "below"))):
        where = f"which counts only with {with_article(condition.noun)} {words} {figure(cut)}"
        more, less = (with_article(own.noun, end) for end in comparatives(own.noun))
        yield _term(f"({{0}} {sign} {cut:g}) * {{1}}", f"take an option with {more}, {where}",
                    f"take an option with {less}, {where}",
                    3.0 + np.log(2 * len(cuts)), condition, own)  # fmt: skip


def _passing(one: OutcomeQuantity, two: OutcomeQuantity) -> Iterator[tuple[str, str, float]]:
    """Options that reach a level on both of two numbers: code, words and price."""
    cuts = [thresholds(item.values.ravel(), MOST_CUTS) for item in (one, two)]
    signs = [">" if item.sign > 0 else "<" for item in (one, two)]
    ends = ["above" if item.sign > 0 else "below" for item in (one, two)]
    for first, second in product(*cuts):
        yield (
            f"({{0}} {signs[0]} {first:g}) * ({{1}} {signs[1]} {second:g})",
            f"{with_article(one.noun)} {ends[0]} {figure(first)} and "
            f"{with_article(two.noun)} {ends[1]} {figure(second)}",
            2.5 + np.log(len(cuts[0]) * len(cuts[1])),
        )


def _both_terms(one: OutcomeQuantity, two: OutcomeQuantity) -> Iterator[ChoiceTerm]:
    for code, words, price in _passing(one, two):
        yield _term(
            f"{code} * 1.0", f"take an option with {words}", f"take an option without {words}", price, one, two
        )  # fmt: skip


def _twice_screened_terms(
    one: OutcomeQuantity, two: OutcomeQuantity, own: OutcomeQuantity
) -> Iterator[ChoiceTerm]:
    """The best on one number of those that pass a screen on two others."""
    value = own.turned.replace("{0}", "{2}")
    for code, words, price in _passing(one, two):
        target = f"the option with the {own.top} {own.noun} of those with {words}"
        yield _term(f"best({value}, {code}, xp)", f"take {target}", f"avoid {target}",
                    price + 1.5, one, two, own)  # fmt: skip


def _screens(item: OutcomeQuantity, place: int) -> Iterator[tuple[str, str, float]]:
    """Options that pass a screen on one number, the variable ``place``: code, words and price."""
    x = f"{{{place}}}"
    if item.is_flag:
        for sign, words in ((">", "with"), ("<", "without")):
            yield f"({x} {sign} 0.5)", f"those {words} {item.noun}", 2.5
        return
    value, every = (x if item.sign > 0 else f"(-{x})"), f"1.0 + 0.0 * {x}"
    yield f"best({value}, {every}, xp)", f"those with the {item.top} {item.noun}", 2.5
    yield f"not_worst({value}, {every}, xp)", f"those without the {item.bottom} {item.noun}", 3.0
    gaps = thresholds(np.ptp(item.values, axis=-1), 3)
    for gap in gaps:
        words = f"those within {figure(gap)} of the {item.top} {item.noun}"
        yield f"near_best({value}, {every}, {gap:g}, xp)", words, 3.0 + np.log(len(gaps))
    cuts = thresholds(item.values.ravel(), MOST_CUTS)
    for cut in cuts:
        end = "above" if item.sign > 0 else "below"
        words = f"those with {with_article(item.noun)} {end} {figure(cut)}"
        yield f"({x} {'>' if item.sign > 0 else '<'} {cut:g})", words, 2.5 + np.log(len(cuts))


def _screened_terms(screen: OutcomeQuantity, own: OutcomeQuantity) -> Iterator[ChoiceTerm]:
    """The best on one number of those that pass a screen on another."""
    if own.is_flag:
        return
    value = own.turned.replace("{0}", "{1}")
    for code, words, price in _screens(screen, 0):
        target = f"the option with the {own.top} {own.noun} of {words}"
        yield _term(
            f"best({value}, {code}, xp)", f"take {target}", f"avoid {target}", price, screen, own
        )


def _one_after_another(
    first: OutcomeQuantity, second: OutcomeQuantity, own: OutcomeQuantity
) -> Iterator[ChoiceTerm]:
    """The best on a third number of those that pass two screens, the second of which sees what the first has left."""
    middle, value = (
        item.turned.replace("{0}", f"{{{place}}}") for place, item in ((1, second), (2, own))
    )
    for code, words, price in _screens(first, 0):
        for function, then in (
            ("best", f"those of them with the {second.top} {second.noun}"),
            ("not_worst", f"those of them without the {second.bottom} {second.noun}"),
        ):
            target = f"the option with the {own.top} {own.noun} among {words}, and then {then}"
            yield _term(f"best({value}, {function}({middle}, {code}, xp), xp)", f"take {target}",
                        f"avoid {target}", price + 2.0, first, second, own)  # fmt: skip


def _shared(
    code: str, words: str, opposite: str, price: float, *quantities: OutcomeQuantity
) -> ChoiceTerm:
    """A term over shares of ranges, which may be put beside one another."""
    shares = tuple(item.share for item in quantities if item.share is not None)
    return ChoiceTerm(code, words, price, shares, (), opposite)


def _sides(sides: Sequence[OutcomeQuantity]) -> str:
    return ", ".join(item.turned.replace("{0}", f"{{{place}}}") for place, item in enumerate(sides))


def _dominance_terms(sides: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    listed = _sides(sides)
    yield _term(f"duels([{listed}], xp)", "take an option that beats more of the others on most attributes",
                "take an option that beats fewer of the others on most attributes", 2.5, *sides)  # fmt: skip
    yield _term(f"dominates([{listed}], xp)", "take an option that dominates another one",
                "avoid an option that dominates another one", 2.5, *sides)  # fmt: skip
    yield _term(f"dominated([{listed}], xp)", "take an option that another one dominates",
                "avoid an option that another one dominates", 2.5, *sides)  # fmt: skip


def _balance_terms(sides: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    """Numbers of an option over all sides, which have one unit."""
    places = ", ".join(f"{{{place}}}" for place in range(len(sides)))
    listed = f"xp.stack([{places}], axis=-1)"
    forms = (
        (f"{listed}.min(axis=-1)", "whose poorest attribute is better", "whose poorest attribute is worse", 2.0),
        (f"{listed}.max(axis=-1)", "whose best attribute is better", "whose best attribute is worse", 2.0),
        (f"-({listed}.max(axis=-1) - {listed}.min(axis=-1))", "with more even attributes",
         "with less even attributes", 2.5),
        (f"({listed} >= {listed}.max(axis=-2)[..., None, :] - 1e-9).sum(axis=-1) * 1.0",
         "that is the best on more attributes", "that is the best on fewer attributes", 2.5),
        (f"({listed} <= {listed}.min(axis=-2)[..., None, :] + 1e-9).sum(axis=-1) * -1.0",
         "that is the worst on fewer attributes", "that is the worst on more attributes", 2.5),
        (f"widest([{places}], xp)", "that is better where the options differ most",
         "that is poorer where the options differ most", 2.5),
    )  # fmt: skip
    for code, words, opposite, price in forms:
        yield _shared(code, f"take an option {words}", f"take an option {opposite}", price, *sides)


def _place_terms(any_of: OutcomeQuantity, n_outcomes: int) -> Iterator[ChoiceTerm]:
    for place, name in ((0, "first"), (n_outcomes - 1, "last")):
        yield _term(f"(xp.arange({{0}}.shape[-1]) == {place}) + 0.0 * {{0}}", f"take the {name} option",
                    f"avoid the {name} option", 2.0, any_of)  # fmt: skip


# -- terms of levels and numbers ---------------------------------------------------------------------------------------


def _scale_terms(scale: AnswerScale, of_trials: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    """Responses that are levels or numbers: high ones, round ones, and those near a number of the trial."""
    if not of_trials:
        return
    places = ", ".join(f"{place:.6g}" for place in scale.places)
    answer = OutcomeQuantity(
        OptionScore(f"xp.stack([{places}]) + 0.0 * {of_trials[0].score.code}", "response", 0.0),
        np.array(scale.places)[None],
    )
    yield _term("{0}", "give a higher response", "give a lower response", 0.0, answer)
    yield _term("{0} ** 2", "give an extreme response", "avoid extreme responses", 1.0, answer)
    for place, words in ((scale.places[0], "lowest"), (scale.places[-1], "highest")):
        yield _term(f"(xp.abs({{0}} - {place:g}) < 1e-9) * 1.0", f"give the {words} response",
                    f"avoid the {words} response", 1.0, answer)  # fmt: skip
    middle = 0.5 * (scale.places[0] + scale.places[-1])
    yield _term(f"-xp.abs({{0}} - {middle:g})", "respond near the middle", "respond far from the middle",
                1.5, answer)  # fmt: skip
    if all(float(place).is_integer() for place in scale.places):
        yield _term(
            "({0} % 5 < 1e-9) * 1.0",
            "give a multiple of five",
            "avoid multiples of five",
            2.0,
            answer,
        )
    for item in of_trials:
        if item.is_flag:
            continue
        noun = _of_trial(item)
        yield _term("-xp.abs({0} - {1})", f"respond near {noun}", f"respond far from {noun}",
                    1.0, answer, item)  # fmt: skip
        yield _term("-(({0} - {1}) ** 2)", f"avoid responses far from {noun}",
                    f"prefer responses far from {noun}", 1.5, answer, item)  # fmt: skip
        yield _term("(xp.abs({0} - {1}) < 1e-9) * 1.0", f"give exactly {noun}",
                    f"avoid giving exactly {noun}", 1.5, answer, item)  # fmt: skip
        yield _term("({0} > {1}) * 1.0", f"respond above {noun}", f"respond with at most {noun}",
                    1.5, answer, item)  # fmt: skip
    for one, two in combinations([item for item in of_trials if not item.is_flag], 2):
        names = f"the midpoint of {_of_trial(one)} and {_of_trial(two)}"
        yield _term("-xp.abs({0} - 0.5 * ({1} + {2}))", f"respond near {names}",
                    f"respond far from {names}", 3.0, answer, one, two)  # fmt: skip


def _of_trial(item: OutcomeQuantity) -> str:
    """A number of the trial as people may aim at it."""
    return f"their {item.noun}" if item.noun.startswith("own ") else f"the {item.noun}"


# -- gates -------------------------------------------------------------------------------------------------------------


def _set_gates(quantities: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    """Conditions on what is on offer together."""
    for item in quantities:
        noun = item.noun
        if item.is_flag:
            yield _term(
                "{0}.max(axis=-1) > 0.5", f"an option with {noun} is on offer", "", 1.5, item
            )
            yield _term(
                "{0}.sum(axis=-1) > 1.5", f"several options with {noun} are on offer", "", 2.0, item
            )
            continue
        spread = "({0}.max(axis=-1) - {0}.min(axis=-1))"
        cuts = thresholds(np.ptp(item.values, axis=-1), MOST_CUTS)
        for cut in cuts:
            yield _term(f"{spread} > {cut:g}", f"the options differ by more than {figure(cut)} in {noun}", "",
                        1.5 + np.log(len(cuts)), item)  # fmt: skip
            yield _term(f"{spread} < {cut:g}", f"the options differ by less than {figure(cut)} in {noun}", "",
                        1.5 + np.log(len(cuts)), item)  # fmt: skip
        for end, code, ends in (
            ("highest", "{0}.max(axis=-1)", item.values.max(axis=-1)),
            ("lowest", "{0}.min(axis=-1)", item.values.min(axis=-1)),
        ):
            turned = "{0}" if end == "highest" else "-{0}"
            yield _term(f"best({turned}, 1.0 + 0.0 * {{0}}, xp).sum(axis=-1) > 1.5",
                        f"several options have the {end} {noun}", "", 1.5, item)  # fmt: skip
            cuts = thresholds(ends, MOST_CUTS)
            for cut in cuts:
                yield _term(f"{code} > {cut:g}", f"the {end} {noun} on offer is above {figure(cut)}", "",
                            2.0 + np.log(len(cuts)), item)  # fmt: skip
                yield _term(f"{code} < {cut:g}", f"the {end} {noun} on offer is below {figure(cut)}", "",
                            2.0 + np.log(len(cuts)), item)  # fmt: skip


def _trial_gates(of_trials: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    """Conditions on numbers of the trial."""
    for item in of_trials:
        cuts = thresholds(item.values.ravel(), 4)
        for cut in cuts:
            above, below = (
                f"{_of_trial(item)} is {end} {figure(cut)}" for end in ("above", "below")
            )
            if item.is_flag:
                above, below = (
                    f"there is {item.noun}",
                    f"there is no {item.noun.removeprefix('a ')}",
                )
            yield _term(f"{{0}}[:, 0] > {cut:g}", above, "", 1.0 + np.log(len(cuts)), item)
            yield _term(f"{{0}}[:, 0] < {cut:g}", below, "", 1.0 + np.log(len(cuts)), item)


# -- values ------------------------------------------------------------------------------------------------------------


def value_of(term: ChoiceTerm, space: dict[str, Any]) -> Array:
    """Value of a term, given helpers and trials."""
    names = {
        f"quantity_{place}": compute(score.code, space) for place, score in enumerate(term.scores)
    }
    return np.asarray(compute(term.code.format(*names), space | names), dtype=np.float64)


def _evaluated(
    terms: Sequence[ChoiceTerm],
    space: dict[str, Any],
    shape: tuple[int, ...],
    free: NDArray[np.bool_],
) -> OutcomeTable:
    """The cheapest of those terms that differ over the options of a trial, up to shift, unit and sign."""
    kept: dict[bytes, tuple[ChoiceTerm, Array]] = {}
    for term in sorted(terms, key=lambda item: item.price):
        with np.errstate(all="ignore"):
            value = np.nan_to_num(np.broadcast_to(value_of(term, space), shape))
        away = (
            value - (value * free).sum(axis=1, keepdims=True) / free.sum(axis=1, keepdims=True)
        ) * free
        size = float(np.sqrt((away**2).mean()))
        if size <= LEAST_VARIED:
            continue
        unit = np.round(away / size, 5).astype(np.float32) + np.float32(0)
        key = min(unit.tobytes(), (-unit + np.float32(0)).tobytes())
        kept.setdefault(key, (term, value.astype(np.float32)))
    return OutcomeTable(
        tuple(term for term, _ in kept.values()),
        np.array([value for _, value in kept.values()], dtype=np.float32).reshape(-1, *shape),
    )


def _evaluated_gates(
    gates: Sequence[ChoiceTerm], space: dict[str, Any], n_trials: int
) -> OutcomeTable:
    """The cheapest of those gates that are open in some trials and closed in others."""
    kept: dict[bytes, tuple[ChoiceTerm, Array]] = {}
    for gate in sorted(gates, key=lambda item: item.price):
        value = np.broadcast_to(value_of(gate, space), (n_trials,)) > 0
        if value.any() and not value.all():
            kept.setdefault(value.tobytes(), (gate, value.astype(np.float32)))
    return OutcomeTable(
        tuple(gate for gate, _ in kept.values()),
        np.array([value for _, value in kept.values()], dtype=np.float32).reshape(-1, n_trials),
    )
