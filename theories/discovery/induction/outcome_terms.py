"""Parts of rules over any number of options or levels: terms of each outcome, and conditions on the trial.

A *term* gives each outcome of a trial a number: an attribute, its rank, its distance from a level or from another
number, whether an option is left by a series of screens (`induction.screening`). A *gate* is a condition on the whole
set, such as a tie at the top. Both are text of the contract's array code; their values come from that text, so a theory
and the search cannot disagree.

References:
    Huber, Payne & Puto (1982), Journal of Consumer Research 9, 90-98 (dominated options); Simonson (1989), Journal of
    Consumer Research 16, 158-174 (compromise); Coombs (1964), A theory of data (ideal levels); Russo & Dosher (1983),
    Journal of Experimental Psychology: Learning, Memory, and Cognition 9, 676-696 (comparisons in pairs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import AnswerScale, scale_of
from lakatos.experiments.task import Domain, Stimuli
from lakatos.theories.discovery.induction import outcome_numbers, screening
from lakatos.theories.discovery.induction.outcome_numbers import (
    LEAST_VARIED,
    RESPONSE,
    OutcomeNumbers,
    OutcomePast,
    OutcomeQuantity,
    numbers_by_shape,
    numbers_of_trials,
    of_trial,
    read_numbers,
    read_scale_numbers,
)
from lakatos.theories.discovery.induction.phrase import (
    be,
    comparatives,
    figure,
    superlatives,
    with_article,
)
from lakatos.theories.discovery.induction.screening import (
    MOST_CUTS,
    N_KEPT,
    Gain,
    Screening,
    ScreenStep,
    chosen_seeds,
    longer,
    price_of,
    steps_of,
    term_of,
)
from lakatos.theories.discovery.induction.term_text import carry_out, compute
from lakatos.theories.discovery.induction.terms import ChoiceTerm
from lakatos.theories.language.option_score import HasLandmarkCodes, HasTrialNouns

Array = NDArray[Any]
N_AT_ONCE = 400
"""Terms whose values are held while their gains are computed."""

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
    *screening.HELPERS, outcome_numbers.AT_BEST, BEATEN, OF_RANGE, ALIKE, DOMINATES, DOMINATED, MEDIAN, DUELS, WIDEST,
)  # fmt: skip


@dataclass(frozen=True)
class OutcomeTable:
    """Terms, or gates, with their values."""

    items: tuple[ChoiceTerm, ...]
    values: NDArray[np.float32]
    """``(n_terms, n_trials, n_outcomes)``; of gates ``(n_gates, n_trials)``."""
    weight: float = 1.0
    """Sum of the probabilities ``exp(-price)`` of all that were looked at."""

    @property
    def prices(self) -> Array:
        """Code lengths in nats, of which the probabilities of all that were looked at add up to 1: ``(n_terms,)``."""
        return np.array([item.price + np.log(self.weight) for item in self.items])


@dataclass
class TermPool:
    """Terms that differ from one another over the options of a trial, up to shift, unit and sign."""

    free: NDArray[np.bool_]
    """``(n_trials, n_outcomes)`` whether an outcome may be chosen."""
    keys: set[bytes] = field(default_factory=set)
    weight: float = 0.0
    """Sum of the probabilities ``exp(-price)`` of all different terms that were looked at."""

    def is_new(self, value: Array, price: float) -> bool:
        """Whether a term is different from all before; it is noted."""
        free = self.free
        away = (
            value - (value * free).sum(axis=1, keepdims=True) / free.sum(axis=1, keepdims=True)
        ) * free
        size = float(np.sqrt((away**2).mean()))
        if size <= LEAST_VARIED:
            return False
        unit = np.round(away / size, 5).astype(np.float32) + np.float32(0)
        key = min(unit.tobytes(), (-unit + np.float32(0)).tobytes())
        if key in self.keys:
            return False
        self.keys.add(key)
        self.weight += float(np.exp(-price))
        return True


@dataclass(frozen=True)
class OutcomeLanguage:
    """Terms and gates for the trials at hand, and the steps of which longer screenings are made."""

    terms: OutcomeTable
    gates: OutcomeTable
    helpers: tuple[str, ...]
    free: NDArray[np.bool_]
    """``(n_trials, n_outcomes)`` whether an outcome may be chosen."""
    space: dict[str, Any]
    steps: tuple[ScreenStep, ...]
    screenings: dict[ChoiceTerm, Screening]
    """Screenings among the terms."""
    pool: TermPool

    def grown(
        self, gain: Gain, used: Sequence[ChoiceTerm] = (), *, of_past: bool = False
    ) -> OutcomeLanguage:
        """Add screenings that are one step longer than the best ones, as far as they would explain more.

        Args:
            gain: Gain of terms by their values and prices.
            used: Terms whose screenings are made longer in any case.
            of_past: Whether only screenings with a memory are made longer, or get a step with one.
        """
        places = [place for place, item in enumerate(self.terms.items) if item in self.screenings]
        items = [self.terms.items[place] for place in places]
        gains = gain(self.terms.values[places], np.array([item.price for item in items]))
        level = [self.screenings[item] for item in items]
        seeds = [level[place] for place in chosen_seeds(level, gains)]
        seeds += [self.screenings[item] for item in used if item in self.screenings]
        tried = dict.fromkeys(item for seed in seeds for item in longer(seed, self.steps))
        kept: list[tuple[float, Screening, NDArray[np.float32]]] = []
        for group in batched(
            [item for item in tried if not of_past or any(step.looks_back for step in item)]
        ):
            new = [(item, self._kept_by(item)) for item in group]
            new = [pair for pair in new if self.pool.is_new(pair[1], price_of(pair[0]))]
            if not new:
                continue
            values = np.array([value for _, value in new], dtype=np.float32)
            own = gain(values, np.array([price_of(item) for item, _ in new])).tolist()
            kept += [(g, item, value) for g, (item, _), value in zip(own, new, values, strict=True)]
            kept = sorted(kept, key=lambda one: -one[0])[:N_KEPT]
        more = {term_of(item): (item, value) for _, item, value in kept}
        if not more:
            return self
        table = OutcomeTable(
            (*self.terms.items, *more),
            np.concatenate([self.terms.values, np.array([value for _, value in more.values()])]),
            max(self.pool.weight, self.terms.weight),
        )
        steps = {term: item for term, (item, _) in more.items()}
        return replace(self, terms=table, screenings=self.screenings | steps)

    def with_past(self, past: OutcomeLanguage, cells: NDArray[np.intp]) -> OutcomeLanguage:
        """The same at single responses, whose trials are at ``cells``, with the terms of ``past`` that look back."""
        terms = OutcomeTable(
            (*self.terms.items, *past.terms.items),
            np.concatenate([self.terms.values[:, cells], past.terms.values]),
            self.terms.weight + past.terms.weight,
        )
        gates = replace(self.gates, values=self.gates.values[:, cells])
        moved = {step: step.at(cells) for step in self.steps}
        screenings = {
            item: tuple(moved[step] for step in steps) for item, steps in self.screenings.items()
        }
        return replace(
            past,
            terms=terms,
            gates=gates,
            steps=(*moved.values(), *(step for step in past.steps if step.looks_back)),
            screenings=screenings | past.screenings,
        )

    def _kept_by(self, steps: Screening) -> Array:
        """``(n_trials, n_outcomes)`` what a screening gives each option, as its text does."""
        inside: Any = 1.0
        for step in steps:
            names = {f"quantity_{place}": item.values for place, item in enumerate(step.quantities)}
            text = step.code.format(*names, inside="inside")
            inside = compute(text, self.space | names | {"inside": inside})
        return np.asarray(np.nan_to_num(np.broadcast_to(inside, self.free.shape)))


def batched(items: Sequence[Screening]) -> Iterator[Sequence[Screening]]:
    """Divide items into batches that may be held with their values."""
    for start in range(0, len(items), N_AT_ONCE):
        yield items[start : start + N_AT_ONCE]


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
    domain: Domain,
    arrays: dict[str, Array],
    counts: Array,
    *,
    has_places: bool,
    past: OutcomePast | None = None,
) -> OutcomeLanguage | None:
    """Terms and gates whose values vary.

    Args:
        domain: Domain of the trials.
        arrays: ``(n_trials, ...)`` of all trials.
        counts: ``(n_trials, n_outcomes)`` responses, which decide to which end each number is turned.
        has_places: Whether it is known where options stood.
        past: What preceded each row, where rows are single responses in their order; then only terms that look back
            are read.

    Returns:
        None where outcomes are choices with their times, or where there are no terms.
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
    conditions = numbers_of_trials(numbers_by_shape(arrays, nouns), space)
    if scale is None:
        numbers = read_numbers(domain, space, counts, past)
        numbers = replace(numbers, trials=(*numbers.trials, *conditions))
        terms = list(_option_terms(numbers, n_outcomes, has_places=has_places))
        gates = [*_set_gates(numbers.options), *_trial_gates(numbers.trials)]
    else:
        near = numbers_of_trials(own, space) or conditions
        numbers = read_scale_numbers(scale, near, conditions, space, n_outcomes, past)
        terms = list(_scale_terms(scale, numbers))
        gates = list(_trial_gates([*conditions, *near]))
    steps = steps_of(numbers) if scale is None else []
    singles: list[Screening] = [(step,) for step in steps if step.kind != "value"]
    screenings = {term_of(item): item for item in singles}
    if past is not None:
        terms, gates = [item for item in terms if item.memory], []
        screenings = {item: own for item, own in screenings.items() if item.memory}
    table, pool = _evaluated([*terms, *screenings], space, counts.shape, free)
    divisions = _evaluated_gates(gates, space, len(counts))
    screenings = {item: screenings[item] for item in table.items if item in screenings}
    if not table.items:
        return None
    return OutcomeLanguage(table, divisions, helpers, free, space, tuple(steps), screenings, pool)


# -- terms of options --------------------------------------------------------------------------------------------------


def _term(
    code: str,
    words: str,
    opposite: str,
    price: float,
    *quantities: OutcomeQuantity,
) -> ChoiceTerm:
    """A term over the variables ``{0}``, ``{1}`` of its quantities."""
    memory = {entry.name: entry for item in quantities for entry in item.memory}
    scores = tuple(item.score for item in quantities)
    return ChoiceTerm(code, words, price, scores, tuple(memory.values()), opposite)


def _option_terms(
    numbers: OutcomeNumbers, n_outcomes: int, *, has_places: bool
) -> Iterator[ChoiceTerm]:
    for item in numbers.options:
        yield from _own_terms(item, n_outcomes)
        if not item.is_flag:
            for other in numbers.comparable(item):
                yield from _beside_terms(item, other)
            for other in numbers.trials:
                yield from _depending_terms(item, other)
    sides = [item for item in numbers.options if not item.is_flag]
    for one, two in combinations(sides, 2):
        yield from _pair_terms(one, two)
    if len(sides) > 1:
        yield from _dominance_terms(sides)
        if all(item.share for item in sides):
            yield from _balance_terms(sides)
    if has_places and numbers.options:
        yield from _place_terms(numbers.options[0], n_outcomes)


def _beside_terms(item: OutcomeQuantity, other: OutcomeQuantity) -> Iterator[ChoiceTerm]:
    """A number of an option beside another one in the same unit."""
    target, extra = of_trial(other), other.score.price
    if item.noun == RESPONSE:
        near, far = f"respond near {target}", f"respond far from {target}"
        exact, other_than = f"give exactly {target}", f"avoid giving exactly {target}"
        above, below = f"respond above {target}", f"respond with at most {target}"
        beyond, away = f"responses above {target}", f"responses far from {target}"
    else:
        noun, option = item.noun, f"take an option with {with_article(item.noun)}"
        near, far = f"{option} near {target}", f"{option} far from {target}"
        exact, other_than = (
            f"{option} equal to {target}",
            f"avoid an option whose {noun} equals {target}",
        )
        above, below = f"{option} above {target}", f"{option} of at most {target}"
        distant = f"options whose {noun} {be(noun)}"
        beyond, away = f"{distant} above {target}", f"{distant} far from {target}"
    much = "the more, the larger the difference"
    for code, words, opposite, price in (
        ("-xp.abs({0} - {1})", near, far, 1.0),
        ("-(({0} - {1}) ** 2)", f"avoid {away}", f"prefer {away}", 1.5),
        ("(xp.abs({0} - {1}) < 1e-9) * 1.0", exact, other_than, 1.5),
        ("({0} > {1} + 1e-9) * 1.0", above, below, 1.5),
        ("xp.maximum({0} - {1}, 0.0)", f"prefer {beyond}, {much}", f"avoid {beyond}, {much}", 1.5),
    ):
        yield _term(code, words, opposite, price + extra, item, other)


def _depending_terms(item: OutcomeQuantity, other: OutcomeQuantity) -> Iterator[ChoiceTerm]:
    """A number of an option that counts in proportion to one of the trial."""
    if other.is_flag:
        return
    more, less = (
        f"take an option with {with_article(item.noun, end)}" for end in comparatives(item.noun)
    )
    grows = f"the {comparatives(other.noun)[0]} {of_trial(other)} {be(other.noun)}"
    yield _term(
        "{0} * {1}", f"{more}, more so {grows}", f"{less}, more so {grows}", 2.0, item, other
    )
    high = f"more so at the high end and {grows}"
    yield _term("{0} ** 2 * {1}", f"{more}, {high}", f"{less}, {high}", 3.0, item, other)


def _own_terms(item: OutcomeQuantity, n_outcomes: int) -> Iterator[ChoiceTerm]:
    noun, x = item.noun, "{0}"
    if item.memory:
        yield _term(x, "repeat their last choice", "avoid repeating their last choice", 0.0, item)
        return
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


def _shared(
    code: str, words: str, opposite: str, price: float, *quantities: OutcomeQuantity
) -> ChoiceTerm:
    """A term over shares of ranges, which may be put beside one another."""
    shares = tuple(item.share for item in quantities if item.share is not None)
    return ChoiceTerm(code, words, price, shares, (), opposite)


def _sides(sides: Sequence[OutcomeQuantity]) -> str:
    return ", ".join(
        f"{'' if item.sign > 0 else '-'}{{{place}}}" for place, item in enumerate(sides)
    )


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


def _scale_terms(scale: AnswerScale, numbers: OutcomeNumbers) -> Iterator[ChoiceTerm]:
    """Responses that are levels or numbers: high ones, round ones, and those near a number of the trial."""
    (answer,) = numbers.options
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
    for item in numbers.references:
        yield from _beside_terms(answer, item)
    for item in numbers.trials:
        grows = f"more so the {comparatives(item.noun)[0]} {of_trial(item)} {be(item.noun)}"
        if not item.is_flag:
            yield _term("{0} * {1}", f"give a higher response, {grows}", f"give a lower response, {grows}",
                        2.0, answer, item)  # fmt: skip


# -- gates -------------------------------------------------------------------------------------------------------------


def _set_gates(quantities: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    """Conditions on what is on offer together."""
    for item in quantities:
        noun = item.noun
        if item.memory:
            continue
        if item.is_flag:
            yield _term(
                "{0}.max(axis=-1) > 0.5", f"an option with {noun} is on offer", "", 1.5, item
            )
            yield _term(
                "{0}.sum(axis=-1) > 1.5", f"several options with {noun} are on offer", "", 2.0, item
            )
            continue
        spread = "({0}.max(axis=-1) - {0}.min(axis=-1))"
        apart = replace(item, values=np.ptp(item.values, axis=-1)).cuts(MOST_CUTS)
        for cut, *sides in apart:
            for sign, side in zip("><", sides, strict=True):
                far = (
                    side.removeprefix("of ")
                    .replace("above", "more than")
                    .replace("below", "less than")
                )
                yield _term(f"{spread} {sign} {cut:g}", f"the options differ by {far} in {noun}", "",
                            1.5 + np.log(len(apart)), item)  # fmt: skip
        for end, code, ends in (
            ("highest", "{0}.max(axis=-1)", item.values.max(axis=-1)),
            ("lowest", "{0}.min(axis=-1)", item.values.min(axis=-1)),
        ):
            turned = "{0}" if end == "highest" else "-{0}"
            yield _term(f"best({turned}, 1.0, xp).sum(axis=-1) > 1.5",
                        f"several options have the {end} {noun}", "", 1.5, item)  # fmt: skip
            cuts = replace(item, values=ends).cuts(MOST_CUTS)
            for cut, *sides in cuts:
                for sign, side in zip("><", sides, strict=True):
                    yield _term(f"{code} {sign} {cut:g}",
                                f"the {end} {noun} on offer {be(noun)} {side.removeprefix('of ')}", "",
                                2.0 + np.log(len(cuts)), item)  # fmt: skip


def _trial_gates(of_trials: Sequence[OutcomeQuantity]) -> Iterator[ChoiceTerm]:
    """Conditions on numbers of the trial."""
    for item in of_trials:
        cuts = item.cuts(4)
        for cut, above, below in cuts:
            ends = [
                f"{of_trial(item)} {be(item.noun)} {end.removeprefix('of ')}"
                for end in (above, below)
            ]
            if item.is_flag:
                ends = [f"there is {item.noun}", f"there is no {item.noun.removeprefix('a ')}"]
            for sign, words in zip("><", ends, strict=True):
                yield _term(
                    f"{{0}}[..., 0] {sign} {cut:g}", words, "", 1.0 + np.log(len(cuts)), item
                )


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
) -> tuple[OutcomeTable, TermPool]:
    """The cheapest of those terms that differ over the options of a trial, up to shift, unit and sign."""
    pool, items, values = TermPool(free), [], []
    for term in sorted(terms, key=lambda item: item.price):
        with np.errstate(all="ignore"):
            value = np.nan_to_num(np.broadcast_to(value_of(term, space), shape))
        if pool.is_new(value, term.price):
            items.append(term)
            values.append(value.astype(np.float32))
    found = np.array(values, dtype=np.float32).reshape(-1, *shape)
    return OutcomeTable(tuple(items), found, pool.weight), pool


def _evaluated_gates(
    gates: Sequence[ChoiceTerm], space: dict[str, Any], n_trials: int
) -> OutcomeTable:
    """The cheapest of those gates that are open in some trials and closed in others."""
    kept: dict[bytes, tuple[ChoiceTerm, Array]] = {}
    for gate in sorted(gates, key=lambda item: item.price):
        value = np.broadcast_to(value_of(gate, space), (n_trials,)) > 0
        if value.any() and not value.all():
            kept.setdefault(value.tobytes(), (gate, value.astype(np.float32)))
    weight = sum(np.exp(-gate.price) for gate, _ in kept.values())
    return OutcomeTable(
        tuple(gate for gate, _ in kept.values()),
        np.array([value for _, value in kept.values()], dtype=np.float32).reshape(-1, n_trials),
        float(weight),
    )
