"""Rules that keep fewer and fewer options: screens, the best of what is left, and what decides between equals.

A screening is a sequence of steps. Each step keeps some of the options that the steps before it have kept, or lets a
number count only for these. "The cheapest", "the best rated of those within the budget" and "the nearest, and of equals
the cheapest" are screenings of one, two and two steps. Longer ones are grown from the shorter ones that explain most of
what a sum of reasons leaves unexplained, so that their number does not grow with the power of their length.

References:
    Tversky (1972), Psychological Review 79, 281-299 (screening by aspects); Payne, Bettman & Johnson (1993), The
    adaptive decision maker (screening, then comparing what is left); Fishburn (1974), Management Science 20,
    1442-1471 (lexicographic orders).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.discovery.induction.outcome_numbers import (
    OutcomeNumbers,
    OutcomeQuantity,
    of_trial,
)
from lakatos.theories.discovery.induction.phrase import (
    be,
    comparatives,
    figure,
    with_article,
)
from lakatos.theories.discovery.induction.terms import ChoiceTerm, StateMemory, thresholds
from lakatos.theories.language.option_score import OptionScore

Array = NDArray[np.float64]
MOST_CUTS = 5
"""Levels of a number from which it counts as reached."""
FAR_FETCHED = 2.0
"""Price from which numbers are no levels that options must reach."""
LONGEST = 4
"""Steps of a screening."""
N_SEEDS, N_ALIKE = 30, 2
"""Screenings that are made longer, and how many of them may be about the same numbers."""
N_KEPT = 100
"""Number of screenings of each length that become terms."""

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
HELPERS = (BEST, NEAR_BEST, NOT_WORST)


@dataclass(frozen=True, eq=False)
class ScreenStep:
    """One step: which options it keeps of those inside."""

    code: str
    """Expression of ``{inside}`` and of its numbers ``{0}``, ``{1}``."""
    words: str
    """Description of an option that it keeps: "with a price of at most 60"."""
    price: float
    quantities: tuple[OutcomeQuantity, ...]
    kind: str
    """``best`` for what leaves one option or equals, ``some`` for what passes, ``value`` for a number that counts."""
    opposite: str = ""
    """Words for less of a number that counts."""

    @property
    def family(self) -> tuple[str, ...]:
        """The kind of step, and the numbers that it is about."""
        return (self.kind, *(item.noun for item in self.quantities))

    @property
    def looks_back(self) -> bool:
        """Whether it needs a memory."""
        return any(item.memory for item in self.quantities)

    def at(self, cells: NDArray[np.intp]) -> ScreenStep:
        """The same step where its numbers are those of the trials at ``cells``."""
        moved = tuple(replace(item, values=item.values[cells]) for item in self.quantities)
        return replace(self, quantities=moved)


Screening = tuple[ScreenStep, ...]


def steps_of(numbers: OutcomeNumbers) -> list[ScreenStep]:
    """Every step over these numbers."""
    return list(chain.from_iterable(_steps(item, numbers) for item in numbers.options))


def _steps(item: OutcomeQuantity, numbers: OutcomeNumbers) -> Iterator[ScreenStep]:
    noun = item.noun
    if item.is_flag:
        for sign, words in ((">", f"with {noun}"), ("<", f"without {noun}")):
            if noun.startswith("the "):
                words = (
                    f"that {'was' if sign == '>' else 'was not'} {noun.removeprefix('the option ')}"
                )
            yield ScreenStep(f"({{0}} {sign} 0.5) * {{inside}}", words, 1.5, (item,), "some")
        return
    gaps = thresholds(np.ptp(item.values, axis=-1), 3)
    for way in (item, item.turned_round):
        x, other = ("{0}" if way.sign > 0 else "(-{0})"), way.turned_round
        # What everybody likes better is sought sooner than its opposite.
        more = 1.0 if way is not item and item.is_directed else 0.0
        yield ScreenStep(
            f"best({x}, {{inside}}, xp)", f"with the {way.top} {noun}", 1.0 + more, (way,), "best"
        )
        yield ScreenStep(f"not_worst({x}, {{inside}}, xp)", f"without the {other.top} {noun}",
                         2.0 + more, (way,), "some")  # fmt: skip
        for gap in gaps:
            yield ScreenStep(f"near_best({x}, {{inside}}, {gap:g}, xp)",
                             f"within {figure(gap)} of the {way.top} {noun}",
                             2.0 + more + np.log(len(gaps)), (way,), "some")  # fmt: skip
    cuts = item.cuts(MOST_CUTS)
    for cut, *ends in cuts:
        for upwards, end in zip((True, False), ends, strict=True):
            is_odd = upwards != (item.sign > 0)
            more = 1.0 * is_odd if item.is_directed else 0.5
            yield ScreenStep(f"({{0}} {'>' if upwards else '<'} {cut:g}) * {{inside}}",
                             f"with {with_article(noun)} {end}", 1.5 + more + np.log(len(cuts)),
                             (item,), "some")  # fmt: skip
    for other in numbers.comparable(item):
        price, target = 2.0 + other.score.price, of_trial(other)
        for code, words in (
            ()
            if other.score.price >= FAR_FETCHED
            else (
                ("({0} < {1} + 1e-9)", f"with {with_article(noun)} of at most {target}"),
                ("({0} > {1} - 1e-9)", f"with {with_article(noun)} of at least {target}"),
                ("({0} > {1} + 1e-9)", f"with {with_article(noun)} above {target}"),
                ("({0} < {1} - 1e-9)", f"with {with_article(noun)} below {target}"),
            )
        ):
            yield ScreenStep(f"{code} * {{inside}}", words, price, (item, other), "some")
        yield ScreenStep("best(-xp.abs({0} - {1}), {inside}, xp)", f"whose {noun} {be(noun)} closest to {target}",
                         price, (item, other), "best")  # fmt: skip
    more_words, less_words = (with_article(noun, end) for end in comparatives(noun))
    yield ScreenStep("{inside} * {0}", more_words, 1.5, (item,), "value", less_words)


def price_of(steps: Screening) -> float:
    """Code length of a screening, nats."""
    return sum(step.price for step in steps) + len(steps) - 1.0


def term_of(steps: Screening) -> ChoiceTerm:
    """A screening as a term: 1 for the options that are kept, or a number that counts for these."""
    scores: list[OptionScore] = []
    memory: dict[str, StateMemory] = {}
    code = "1.0"
    for step in steps:
        places = []
        for item in step.quantities:
            if item.score not in scores:
                scores.append(item.score)
            places.append(f"{{{scores.index(item.score)}}}")
            memory |= {entry.name: entry for entry in item.memory}
        code = step.code.format(*places, inside=code)
    words, opposite = _phrases(steps)
    if len(steps) == 1 and steps[0].kind == "some":
        code = f"{code} + 0.0 * {{0}}"  # as wide as the options, whatever the step compares
    return ChoiceTerm(code, words, price_of(steps), tuple(scores), tuple(memory.values()), opposite)


def _phrases(steps: Screening) -> tuple[str, str]:
    """Describe what those do who follow a screening, and what those do who do the contrary."""
    if steps[-1].kind == "value":
        kept = f" among those {_joined(steps[:-1])}"
        return (
            f"take an option with {steps[-1].words}{kept}",
            f"take an option with {steps[-1].opposite}{kept}",
        )
    ends: list[str] = []
    while steps and steps[-1].kind == "best":
        ends.insert(0, steps[-1].words)
        steps = steps[:-1]
    if not ends:
        return f"take an option {_joined(steps)}", f"avoid options {_joined(steps)}"
    first, *others = ends
    # Without the lowest price, and of the rest the lowest price: the second lowest price.
    if steps and steps[-1].words == first.replace("with the ", "without the "):
        first, steps = first.replace("with the ", "with the second "), steps[:-1]
    among = f" among those {_joined(steps)}" if steps else ""
    ties = "".join(f", and of equals the one {words}" for words in others)
    return f"take the option {first}{among}{ties}", f"avoid the option {first}{among}{ties}"


def _joined(steps: Sequence[ScreenStep]) -> str:
    """Words of the options that pass all steps; some steps look only at what those before them have left."""
    text = steps[0].words
    for step in steps[1:]:
        looks_at_rest = step.kind == "best" or "inside}, " in step.code
        text += f", and of these those {step.words}" if looks_at_rest else f" and {step.words}"
    return text


def longer(screening: Screening, steps: Sequence[ScreenStep]) -> Iterator[Screening]:
    """The screening with one more step, at its beginning or at its end."""
    for step in steps if len(screening) < LONGEST else ():
        if step in screening:
            continue
        if step.kind != "value":
            yield (step, *screening)
        if screening[-1].kind != "value" and (step.kind != "value" or screening[-1].kind != "best"):
            yield (*screening, step)


def chosen_seeds(screenings: Sequence[Screening], gains: Array) -> list[int]:
    """Places of those that explain most, only a few of which are about the same numbers."""
    seen: dict[tuple[tuple[str, ...], ...], int] = {}
    found = []
    for place in np.argsort(-gains, kind="stable").tolist():
        family = tuple(step.family for step in screenings[place])
        seen[family] = seen.get(family, 0) + 1
        if seen[family] <= N_ALIKE:
            found.append(place)
        if len(found) == N_SEEDS:
            break
    return found


Gain = Callable[[NDArray[np.float32], Array], Array]
"""Function that computes what terms of given values and prices would explain, nats."""
