"""Numbers of which rules over any number of outcomes are made: of each option, of each trial, and of one's last choice.

Two numbers may be compared if they have one unit: a price and a budget, what oneself gets and what another person gets,
points and the points of the dearest option, a gift and one's own last gift.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import AnswerScale
from lakatos.experiments.task import Domain, keeps_places
from lakatos.theories.discovery.induction.phrase import figure, superlatives
from lakatos.theories.discovery.induction.term_text import compute
from lakatos.theories.discovery.induction.terms import StateMemory, thresholds
from lakatos.theories.language.option_score import (
    HasOptionCues,
    LandmarkCode,
    OptionCue,
    OptionScore,
)

Array = NDArray[Any]
MOST_QUANTITIES = 10
"""Numbers of each outcome, and of each trial, that terms are made of."""
MOST_REFERRED = 4
"""Numbers of options up to which one is compared with that of the best option on another one."""
MOST_LEVELS = 30
"""Different values up to which words name the value that is reached, and above which a cut between two values."""
FEW_LEVELS = 9
"""Different values up to which every one of them may be a level to reach."""
LEAST_VARIED = 1e-9
RESPONSE = "response"

AT_BEST = '''
def at_best(values, of, xp):
    """The largest of a number among the options of the greatest value, one for each trial."""
    top = values >= values.max(axis=-1)[..., None] - 1e-9
    return xp.where(top, of, -1e30).max(axis=-1)[..., None]
'''


@dataclass(frozen=True, eq=False)
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
    unit: str = ""
    """Numbers of one unit may be compared."""
    memory: tuple[StateMemory, ...] = ()
    """Entries of the state that it reads."""

    @property
    def is_flag(self) -> bool:
        """Whether it says only yes or no."""
        return bool(np.isin(self.values, (0, 1)).all())

    @property
    def noun(self) -> str:
        """Name of the quantity."""
        return self.score.words

    @property
    def top(self) -> str:
        """Name of the end that is chosen."""
        return superlatives(self.noun)[0 if self.sign > 0 else 1]

    @property
    def turned_round(self) -> OutcomeQuantity:
        """The same with its other end chosen."""
        return replace(self, sign=-self.sign)

    def cuts(self, most: int) -> list[tuple[float, str, str]]:
        """Cuts between values, each with words for what is above and what is below it."""
        levels = np.unique(np.round(self.values, 9))
        found = []
        most = len(levels) if len(levels) <= FEW_LEVELS else most
        for cut in thresholds(self.values.ravel(), most):
            above, below = f"above {figure(cut)}", f"below {figure(cut)}"
            if len(levels) <= MOST_LEVELS:
                above = f"of at least {figure(levels[levels > cut].min())}"
                below = f"of at most {figure(levels[levels < cut].max())}"
            found.append((cut, above, below))
        return found


@dataclass(frozen=True)
class OutcomePast:
    """Past of each row: rows are single responses in their order."""

    previous: NDArray[np.intp]
    """``(n_rows,)`` the row before of the same participant, -1 at the first one."""
    response: NDArray[np.intp]

    def last(self, n_outcomes: int) -> Array:
        """``(n_rows, n_outcomes)`` with 1 for the outcome chosen last."""
        chosen = np.eye(n_outcomes)[self.response[self.previous]]
        return np.asarray(chosen * (self.previous >= 0)[:, None])


@dataclass(frozen=True)
class OutcomeNumbers:
    """Everything that terms and conditions are made of."""

    options: tuple[OutcomeQuantity, ...]
    trials: tuple[OutcomeQuantity, ...]
    """Numbers that differ between trials only."""
    references: tuple[OutcomeQuantity, ...]
    """Numbers of each trial that options are only compared with."""

    def comparable(self, item: OutcomeQuantity) -> Iterator[OutcomeQuantity]:
        """Numbers with which one of the options may be compared."""
        for other in (*self.options, *self.trials, *self.references):
            if other.noun != item.noun and other.unit == item.unit and not other.is_flag:
                yield other


def read_numbers(
    domain: Domain, space: dict[str, Any], counts: Array, past: OutcomePast | None
) -> OutcomeNumbers:
    """Numbers of options and of trials that vary, for responses that are options.

    Args:
        domain: Domain of the trials.
        space: Names that code may use: ``trials``, ``xp`` and helpers; ``state`` is added.
        counts: ``(n_trials, n_outcomes)`` responses, which decide to which end each number is turned.
        past: What came before each row; None where rows are trials without an order.
    """
    cues = (
        domain.option_cues()
        if isinstance(domain, HasOptionCues)
        else _cues_by_shape(space["trials"], counts.shape[1])
    )
    excess = counts - counts.sum(axis=1, keepdims=True) / counts.shape[1]
    options, shared = [], []
    for cue in cues:
        values = np.asarray(compute(cue.code, space), dtype=np.float64)
        if np.ptp(values) <= LEAST_VARIED:
            continue
        unit = cue.unit or cue.noun
        if np.ptp(values, axis=1).max() <= LEAST_VARIED:  # all options have the same
            score = OptionScore(f"({cue.code})[:, :1] * 1.0", cue.noun, 0.0)
            shared.append(OutcomeQuantity(score, values[:, :1], unit=unit))
            continue
        item = OutcomeQuantity(OptionScore(f"{cue.code} * 1.0", cue.noun, 0.0), values, unit=unit)
        if not item.is_flag:
            sign = cue.better or (-1 if float((excess * values).sum()) < 0 else 1)
            share = _share(cue, values, sign, space)
            item = replace(item, sign=sign, is_directed=cue.better != 0, share=share)
        options.append(item)
    options = options[:MOST_QUANTITIES]
    shared = [_in_unit_of(item, options) for item in shared]
    plain = [item for item in options if not item.is_flag]
    references = [*_continued(shared)]
    if len(plain) <= MOST_REFERRED:
        references += list(_at_ends(plain, space))
    if past is not None:
        first = sorted(space["trials"])[0]
        chosen = past.last(counts.shape[1])
        space["state"] = {"last": chosen}
        if keeps_places(domain):
            options.append(_last_option(chosen, first))
        references += [_of_last(item, chosen, past, first, space) for item in plain]
    return OutcomeNumbers(tuple(options), tuple(shared), tuple(references))


def read_scale_numbers(
    scale: AnswerScale,
    near: Sequence[OutcomeQuantity],
    conditions: Sequence[OutcomeQuantity],
    space: dict[str, Any],
    n_outcomes: int,
    past: OutcomePast | None,
) -> OutcomeNumbers:
    """Numbers where responses are levels or numbers themselves; ``near`` are those of trials in the same unit."""
    first = sorted(space["trials"])[0]
    places = ", ".join(f"{place:.6g}" for place in scale.places)
    by_trial = f'trials["{first}"]'
    axes = "[:, " + ", ".join(["0"] * (space["trials"][first].ndim - 1) + ["None"]) + "]"
    score = OptionScore(f"xp.stack([{places}]) + 0.0 * {by_trial}{axes}", RESPONSE, 0.0)
    values = np.broadcast_to(np.array(scale.places), (len(space["trials"][first]), n_outcomes))
    response = OutcomeQuantity(score, values, unit=RESPONSE)
    flagless = [replace(item, unit=RESPONSE) for item in near if not item.is_flag]
    references = [*flagless, *_midpoints(flagless), *_continued(flagless[:MOST_REFERRED])]
    if past is not None:
        chosen = past.last(n_outcomes)
        space["state"] = {"last": chosen}
        references.append(_of_last(response, chosen, past, first, space))
    return OutcomeNumbers((response,), tuple(conditions), tuple(references))


def numbers_of_trials(
    numbers: Sequence[LandmarkCode], space: dict[str, Any]
) -> list[OutcomeQuantity]:
    """Numbers of each trial that vary."""
    found = []
    for item in numbers:
        values = np.asarray(compute(item.code, space), dtype=np.float64)[:, None]
        if np.ptp(values) > LEAST_VARIED:
            score = OptionScore(f"({item.code})[:, None] * 1.0", item.noun, 0.0)
            found.append(OutcomeQuantity(score, values, unit=item.noun))
    return found[: 2 * MOST_QUANTITIES]


def numbers_by_shape(arrays: Mapping[str, Array], nouns: Mapping[str, str]) -> list[LandmarkCode]:
    """Arrays with one number for each trial."""
    return [
        LandmarkCode(f'trials["{name}"]', nouns.get(name, name.replace("_", " ")))
        for name, array in sorted(arrays.items())
        if array.ndim == 1
    ]


def of_trial(item: OutcomeQuantity) -> str:
    """A number of the trial as people may aim at it."""
    if item.noun.startswith(("their ", "the ")):
        return item.noun
    return f"their {item.noun}" if item.noun.startswith("own ") else f"the {item.noun}"


def _in_unit_of(item: OutcomeQuantity, options: Sequence[OutcomeQuantity]) -> OutcomeQuantity:
    """A number that all options share, in the unit of one of the options if nothing else says its unit.

    It is that of the number with whose range it has most in common, if this is half of the smaller range.
    """

    def shared_range(other: OutcomeQuantity) -> float:
        ends = [(values.min(), values.max()) for values in (item.values, other.values)]
        smaller = min(high - low for low, high in ends)
        return float((min(high for _, high in ends) - max(low for low, _ in ends)) / smaller)

    numbers = [other for other in options if not other.is_flag]
    near = max(numbers, key=shared_range, default=item)
    if item.unit != item.noun or item.is_flag or near is item or shared_range(near) < 0.5:
        return item
    return replace(item, unit=near.unit)


def _share(cue: OptionCue, values: Array, sign: int, space: dict[str, Any]) -> OptionScore | None:
    """A cue as a share of its range that runs up to the end that is chosen."""
    if not cue.share:
        return None
    share = np.asarray(compute(cue.share, space), dtype=np.float64)
    runs_up = float(((share - share.mean()) * (values - values.mean())).sum()) * sign > 0
    return OptionScore(f"{cue.share} * 1.0" if runs_up else f"1.0 - {cue.share}", cue.noun, 0.0)


def _cues_by_shape(arrays: Mapping[str, Array], n_outcomes: int) -> list[OptionCue]:
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


def _midpoints(numbers: Sequence[OutcomeQuantity]) -> Iterator[OutcomeQuantity]:
    """Means of two numbers of one unit."""
    for one, two in combinations(numbers, 2):
        if one.unit == two.unit:
            score = OptionScore(
                f"0.5 * ({one.score.code} + {two.score.code})",
                f"the midpoint of {of_trial(one)} and {of_trial(two)}",
                1.5,
            )
            yield replace(one, score=score, values=0.5 * (one.values + two.values))


def _continued(numbers: Sequence[OutcomeQuantity]) -> Iterator[OutcomeQuantity]:
    """Midpoints of two numbers of a trial, and what comes next if one continues the change from the other."""
    yield from (item for item in _midpoints(numbers) if item.unit != RESPONSE)
    for one, two in permutations(numbers, 2):
        if one.unit == two.unit:
            score = OptionScore(
                f"2.0 * ({one.score.code}) - ({two.score.code})",
                f"the value that continues the change from {of_trial(two)} to {of_trial(one)}",
                2.0,
            )
            yield replace(one, score=score, values=2.0 * one.values - two.values)


def _at_ends(
    numbers: Sequence[OutcomeQuantity], space: dict[str, Any]
) -> Iterator[OutcomeQuantity]:
    """A number of the option that has most, or least, of another one."""
    for of, own in permutations(numbers, 2):
        for sign, end in zip(("", "-"), superlatives(of.noun), strict=True):
            turn = "" if own.sign > 0 else "-"
            code = f"{turn}at_best({sign}({of.score.code}), {turn}({own.score.code}), xp)"
            values = np.asarray(compute(code, space), dtype=np.float64)
            noun = f"the {own.noun} of the option with the {end} {of.noun}"
            yield OutcomeQuantity(OptionScore(code, noun, 2.0), values, unit=own.unit)


def _last_option(chosen: Array, first: str) -> OutcomeQuantity:
    """Make the number that marks the option chosen last, where options keep their places."""
    start = f'xp.zeros((1, trials["{first}"].shape[0], {chosen.shape[1]}))'
    memory = StateMemory("last", "1.0 * response", start)
    score = OptionScore('1.0 * state["last"]', "the option chosen last", 0.0)
    return OutcomeQuantity(score, chosen, memory=(memory,))


def _of_last(
    item: OutcomeQuantity, chosen: Array, past: OutcomePast, first: str, space: dict[str, Any]
) -> OutcomeQuantity:
    """The number that the outcome chosen last had, a middling one at first."""
    middle = float(np.median(item.values))
    had = (chosen * item.values[past.previous]).sum(axis=1)
    had = np.where(past.previous >= 0, had, middle)
    name = name_of_last(item.noun)
    start = f'{middle:.6g} + xp.zeros((1, trials["{first}"].shape[0]))'
    memory = StateMemory(name, f"(response * ({item.score.code})).sum(axis=-1)", start)
    space["state"][name] = had
    noun = (
        "their own last response"
        if item.noun == RESPONSE
        else f"the {item.noun} of their last choice"
    )
    score = OptionScore(f'state["{name}"][..., None]', noun, 1.0)
    return OutcomeQuantity(score, had[:, None], unit=item.unit, memory=(memory,))


def name_of_last(noun: str) -> str:
    """A name in code for the last value of a number."""
    return "had_" + "".join(letter if letter.isalnum() else "_" for letter in noun.lower())
