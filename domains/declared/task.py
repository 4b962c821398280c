"""The domain that a researcher's file declares: see `domains.declared.declaration` for what it may say.

Every attribute is an array ``(n_trials, n_options)`` under its own name; words of a category are numbered from 0. What
theories and diagnoses compare are *cues*: attributes as shares of their declared range, turned so that 1 is the best
where everybody prefers one end, and for words without an order one cue for each word but the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, permutations
from math import comb, perm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from lakatos.domains.declared.declaration import (
    LARGEST_SPACE,
    TaskAttribute,
    TaskDeclaration,
    TaskSpace,
    as_shown,
    read_task,
)
from lakatos.domains.declared.picture import draw
from lakatos.domains.declared.presentation import presentation_in
from lakatos.experiments.adoption.layouts import StimulusLayout, layout_of_attributes
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.adoption.own_tasks import GIVEN, KEPT
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.presentation import Presentation
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.task_file import TaskFile
from lakatos.experiments.variation import TrialVariation, varied
from lakatos.theories.language.family import Family
from lakatos.theories.language.option_score import OptionCue

Array = NDArray[Any]
MOST_ROUNDS = 200
"""Draws of many sets at once before a random sample counts as complete."""


@dataclass(frozen=True)
class TaskCue:
    """One thing by which options are compared."""

    name: str
    attribute: str
    noun: str
    """What theories call it, as in "price"."""
    aim: str
    """What is wanted of it, as in "a low price"."""
    code: str
    """Its value from 0 to 1 as an expression of ``trials``."""
    is_directed: bool
    """Whether everybody prefers more of it."""
    word: int | None = None
    """For a category, the word whose presence it indicates."""

    def values(self, task: TaskDeclaration, stimuli: Stimuli) -> Array:
        """``(n_trials, n_options)`` from 0 to 1."""
        attribute, numbers = task.attributes[self.attribute], stimuli[self.attribute]
        if self.word is not None:
            return np.asarray(numbers == self.word, dtype=np.float64)
        share = (numbers - attribute.lowest) / (attribute.highest - attribute.lowest)
        return np.asarray(1 - share if attribute.sign < 0 else share, dtype=np.float64)


@lru_cache(maxsize=64)
def cues_of(task_text: str) -> tuple[TaskCue, ...]:
    """What options of a declared task are compared by, in the order of its attributes."""
    task = read_task(task_text)
    found: list[TaskCue] = []
    for name, attribute in task.attributes.items():
        noun, array = noun_of(name, attribute), f'trials["{name}"]'
        if attribute.words and not attribute.sign:
            found += [
                _word_cue(name, noun, array, number, word)
                for number, word in enumerate(attribute.words)
                if number
            ]
            continue
        span = attribute.highest - attribute.lowest
        if attribute.sign < 0:
            shifted, aim = f"({attribute.highest:.10g} - {array})", f"a low {noun}"
        else:
            shifted = f"({array} - {attribute.lowest:.10g})" if attribute.lowest else array
            aim = f"a high {noun}"
        code = f"{shifted} / {span:.10g}"
        found.append(TaskCue(name, name, noun, aim, code, bool(attribute.sign)))
    return tuple(found)


def _word_cue(name: str, noun: str, array: str, number: int, word: str) -> TaskCue:
    """Whether an option has this word of a category."""
    short = re.sub(r"[^a-z0-9]+", "_", word.lower()).strip("_") or str(number)
    noun = f"{noun} {word!r}"
    code = f"1.0 * ({array} == {number})"
    return TaskCue(f"{name}_{short}", name, noun, noun, code, False, number)


def noun_of(name: str, attribute: TaskAttribute) -> str:
    """What theories call an attribute."""
    payoffs = {"own": "payoff for oneself", "other": "payoff for the other"}
    return attribute.noun or payoffs.get(attribute.kind, name.replace("_", " "))


@dataclass(frozen=True)
class DeclaredSpace:
    """Which trials there are: the declaration's own, or what a study says in its place."""

    levels: Mapping[str, tuple[float, ...]]
    """Levels of each attribute."""
    space: TaskSpace

    @property
    def n_alternatives(self) -> int:
        """Different options that the levels make."""
        return prod(map(len, self.levels.values()))

    def n_sets(self, n_options: int) -> int:
        """Sets of different options, before any of them is left out."""
        ordered = self.space.same == "in this order"
        return (perm if ordered else comb)(self.n_alternatives, n_options)

    def options(self, numbers: Array) -> dict[str, Array]:
        """Attributes of options by their numbers, from 0; of any shape."""
        found, rest = {}, np.asarray(numbers)
        for name in reversed(list(self.levels)):
            own = np.array(self.levels[name])
            found[name], rest = own[rest % len(own)], rest // len(own)
        return {name: found[name] for name in self.levels}


TOKENS = {"tokens", "token", "coins", "endowment"}
COINS = {*TOKENS, "budget"}
WORTH = {"value", "rate", "factor", "multiplier", "worth"}
OF_ONESELF = {"hold", "self", "own"}
"""Words in names of columns of what there is to give, of what a coin is worth, and of what it is worth to oneself."""


class DeclaredDomain(OneShot):
    """A domain as a text declares it; equal texts are equal domains."""

    def __init__(self, text: str) -> None:
        """Read a declaration; see `domains.declared.declaration` for what it may say.

        Raises:
            TaskFileError: It declares no task.
        """
        self.text, self.task = text, read_task(text)
        self.cues = cues_of(text)
        self.name, self.options = self.task.name, self.task.options
        self.keeps_places = self.task.in_order
        numbers = (name for name, item in self.task.attributes.items() if not item.words)
        self.measured: tuple[str, ...] = tuple(numbers)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def family(self) -> Family:
        """The theories about this task, composed for its attributes."""
        from lakatos.domains.declared.theories import declared_family

        return declared_family(self)

    def layout(self) -> StimulusLayout:
        """How trials are written as columns: attributes of each option, or what both share where coins are given."""
        plain = layout_of_attributes(self)
        return replace(plain, guess=lambda names: plain.guess(names) or self._guess_gifts(names))

    def _guess_gifts(self, names: Sequence[str]) -> dict[str, Any]:
        """What is kept and what the other gets, from columns of coins and of what a coin is worth to whom.

        Options are numbers of coins, or shares of them in per cent.
        """
        own, other = self.task.of_kind("own"), self.task.of_kind("other")
        gifts = [label.split(" ")[0] for label in self.options]
        if set(self.task.attributes) != {own, other} or not all(gift.isdigit() for gift in gifts):
            return {}
        words = {name: set(words_of(name)) for name in names if name.isidentifier()}
        coins = [
            name
            for name, said in words.items()
            if said & COINS and not said & (WORTH | GIVEN | KEPT)
        ]
        coins = [name for name in coins if words[name] <= TOKENS] or coins
        worth = [name for name, said in words.items() if said & WORTH]
        kept = [name for name in worth if words[name] & (KEPT | OF_ONESELF)]
        passed = [name for name in worth if name not in kept]
        if not len(coins) == len(passed) == 1 or len(kept) > 1:
            return {}
        times = "".join(f" * {name}" for name in kept)
        if all(label.endswith("%") for label in self.options):
            shares = [int(gift) / 100 for gift in gifts]
            return {
                own: [f"{coins[0]}{times} * {1 - share:.10g}" for share in shares],
                other: [f"{coins[0]} * {passed[0]} * {share:.10g}" for share in shares],
            }
        left = [
            f"({coins[0]} - {gift}){times}" if kept else f"{coins[0]} - {gift}" for gift in gifts
        ]
        return {own: left, other: [f"{passed[0]} * {gift}" for gift in gifts]}

    @cached_property
    def task_file(self) -> TaskFile:
        """The declaration, as a study keeps it."""
        return TaskFile(file=f"{self.name}.toml", text=self.text)

    @cached_property
    def presentation(self) -> Presentation | None:
        """See `experiments.presentation.HasPresentation`."""
        return presentation_in(self.text)

    @property
    def texts(self) -> dict[str, dict[str, Any]]:
        """What people read, laid out as a domain's part of the page's texts; English only."""
        task = self.task
        questions = [item.model_dump(mode="json") for item in task.comprehension] or [
            {
                "text": "What do you do in this study?",
                "answers": [
                    "Type in numbers",
                    f"Choose one of {len(task.options)} options, again and again",
                    "Wait until it ends",
                ],
                "right": 1,
            }
        ]
        return {
            "en": {
                "question": task.question,
                "options": list(task.options),
                "instructions": list(task.instructions),
                "questions": questions,
            }
        }

    def option_cues(self) -> tuple[OptionCue, ...]:
        """What options are compared by, in their own units and as shares of their ranges."""
        return tuple(
            OptionCue(cue.code, cue.noun)
            if cue.word is not None
            else OptionCue(
                f'trials["{cue.attribute}"]',
                cue.noun,
                cue.code,
                int(self.task.attributes[cue.attribute].sign),
                self._unit(cue.attribute),
            )
            for cue in self.cues
        )

    def _unit(self, name: str) -> str:
        """The unit of an attribute; empty where nothing says that another one has the same."""
        attribute = self.task.attributes[name]
        return attribute.unit or "money" * (attribute.kind in ("own", "other", "amount"))

    def attribute_labels(self) -> dict[str, str]:
        """What each attribute is, for people to read."""
        return {name: item.label for name, item in self.task.attributes.items()}

    def attribute_words(self) -> dict[str, tuple[str, ...]]:
        """The words of attributes that are categories."""
        return {name: item.words for name, item in self.task.attributes.items() if item.words}

    # Trials

    def read_settings(self, settings: Mapping[str, Any]) -> DeclaredSpace:
        """The space that a study's settings describe: levels by attribute, and the keys of `TaskSpace`.

        Raises:
            StimuliError: A setting is unknown, or outside what the file declares.
        """
        attributes = self.task.attributes
        levels = {name: item.numbers for name, item in attributes.items()}
        other: dict[str, Any] = {}
        for name, value in settings.items():
            if name in attributes:
                levels[name] = self._levels(name, attributes[name], value)
            elif name in TaskSpace.model_fields:
                other[name] = value
            else:
                known = ", ".join([*attributes, *TaskSpace.model_fields])
                raise StimuliError(
                    f"unknown setting of the {self.name} domain: {name}. It has: {known}."
                )
        try:
            space = TaskSpace.model_validate(self.task.space.model_dump() | other)
            self.task.rules(space.only)
        except ValidationError as error:
            first = error.errors()[0]
            raise StimuliError(
                f"setting {first['loc'][0]} of the {self.name} domain: {first['msg']}."
            ) from None
        except ValueError as error:
            raise StimuliError(f"the {self.name} domain: {error}.") from None
        return DeclaredSpace(levels, space)

    def _levels(self, name: str, attribute: TaskAttribute, value: Any) -> tuple[float, ...]:
        words = attribute.words
        try:
            numbers = {float(words.index(item)) if words else float(item) for item in value}
        except (TypeError, ValueError):
            raise StimuliError(
                f"setting {name} of the {self.name} domain: give a list of "
                f"{'its words: ' + ', '.join(words) if words else 'numbers'}."
            ) from None
        if not numbers or not all(attribute.lowest <= n <= attribute.highest for n in numbers):
            raise StimuliError(
                f"setting {name} of the {self.name} domain: give levels within the declared range, "
                f"{attribute.lowest:g} to {attribute.highest:g}; the range itself is declared in the domain's file."
            )
        return tuple(sorted(numbers))

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every trial of the space, or the random sample that it is; the same at every call.

        Raises:
            StimuliError: A setting is wrong, or the space is too large to be listed.
            EmptyDesignSpaceError: It holds no trial.
        """
        read, n_options = self.read_settings(settings), len(self.options)
        if read.space.listed:
            return self._listed(read)
        n_sets, wanted = read.n_sets(n_options), read.space.trials
        if n_sets > LARGEST_SPACE and not wanted:
            raise StimuliError(
                f"the space of the {self.name} domain holds {n_sets:,} trials ({read.n_alternatives:,} different "
                f"options, {n_options} at a time), more than {LARGEST_SPACE:,}. Give fewer levels, or in the section "
                "space the size of a random sample, such as trials = 400."
            )
        rng = np.random.default_rng(read.space.seed)
        if n_sets <= LARGEST_SPACE:
            found = self._admissible(read, self._every_set(read, n_sets))
            if 0 < wanted < len(found):
                found = found[np.sort(rng.choice(len(found), wanted, replace=False))]
        else:
            found = self._sample(read, rng)
        if not len(found):
            raise EmptyDesignSpaceError(
                f"the space of the {self.name} domain has no trial: {self._why_empty(read)}"
            )
        if n_options > 2 and read.space.same == "in any order" and not self.task.in_order:
            found = rng.permuted(found, axis=1)
        return Stimuli(read.options(found))

    def _listed(self, read: DeclaredSpace) -> Stimuli:
        """The trials that are listed one by one, as far as they are of the study's levels; or a sample of them."""
        stimuli = Stimuli(self.task.listed_trials())
        inside = self._within(read, stimuli) & self._not_boring(stimuli, read.space)
        rows = np.flatnonzero(inside)
        if not len(rows):
            raise EmptyDesignSpaceError(
                f"the space of the {self.name} domain has no trial: of those that are listed, none is of these levels, "
                "with options that differ and none that is worse than another one whatever one's taste (dominated)."
            )
        if 0 < read.space.trials < len(rows):
            rng = np.random.default_rng(read.space.seed)
            rows = np.sort(rng.choice(rows, read.space.trials, replace=False))
        return stimuli.take(rows)

    def _every_set(self, read: DeclaredSpace, n_sets: int) -> Array:
        """``(n_sets, n_options)`` numbers of options."""
        choose = permutations if read.space.same == "in this order" else combinations
        sets = choose(range(read.n_alternatives), len(self.options))
        return np.array(list(sets), dtype=np.intp).reshape(n_sets, len(self.options))

    def _sample(self, read: DeclaredSpace, rng: np.random.Generator) -> Array:
        """Random sample of as many different admissible sets as the space needs."""
        found: dict[tuple[int, ...], None] = {}
        for _ in range(MOST_ROUNDS):
            sets = rng.integers(read.n_alternatives, size=(4096, len(self.options)))
            if read.space.same == "in any order":
                sets = np.sort(sets, axis=1)
            found.update(dict.fromkeys(map(tuple, self._admissible(read, sets).tolist())))
            if len(found) >= read.space.trials:
                break
        kept = list(found)[: read.space.trials]
        return np.array(kept, dtype=np.intp).reshape(len(kept), len(self.options))

    def _admissible(self, read: DeclaredSpace, sets: Array) -> Array:
        """Sets of options of which something can be learned."""
        if not len(sets):
            return sets
        return np.asarray(sets[self._not_boring(Stimuli(read.options(sets)), read.space)])

    def _why_empty(self, read: DeclaredSpace) -> str:
        if read.n_alternatives < len(self.options):
            n_made, n_needed = read.n_alternatives, len(self.options)
            return (
                f"its levels make {n_made} different options, and {n_needed} are needed. Give more."
            )
        if read.space.only:
            return (
                f"no set of options keeps the rules {'; '.join(read.space.only)}, differs, and has none that is worse "
                "than another one whatever one's taste. Change the rules, or say dominated = true."
            )
        return (
            "one option is always better whatever one's taste. Say dominated = true in the section space, or leave "
            "out 'better' where tastes differ."
        )

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is not as declared."""
        attributes, shape = self.task.attributes, (len(stimuli), len(self.options))
        if set(stimuli.arrays) != set(attributes):
            raise StimuliError(
                f"trials of the {self.name} domain have the arrays {', '.join(attributes)}, "
                f"not {', '.join(sorted(stimuli.arrays))}."
            )
        for name, attribute in attributes.items():
            values = np.asarray(stimuli[name], dtype=np.float64)
            if values.shape != shape:
                raise StimuliError(
                    f"the array {name!r} has the shape {values.shape}, not {shape}: a row for each trial, a column "
                    "for each option."
                )
            fine = (values >= attribute.lowest) & (values <= attribute.highest)
            fine &= (values == np.round(values)) | (not attribute.words)
            if not fine.all():
                row = int(np.flatnonzero(~fine.all(axis=1))[0])
                limits = f"{attribute.lowest:g} to {attribute.highest:g}"
                raise StimuliError(
                    f"trial {row} of the {self.name} domain: {name} is {values[row].tolist()}; give "
                    f"{'the number of a word, ' if attribute.words else 'numbers from '}{limits}."
                )

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: within the levels, and of different options."""
        read = self.read_settings(settings)
        return self._within(read, stimuli) & self._not_boring(stimuli, read.space)

    def _within(self, read: DeclaredSpace, stimuli: Stimuli) -> Array:
        """``(n_trials,)`` whether all options lie within the levels."""
        inside = np.ones(len(stimuli), dtype=bool)
        for name, levels in read.levels.items():
            values = stimuli[name]
            fine = (values >= levels[0]) & (values <= levels[-1])
            if self.task.attributes[name].words:
                fine &= np.isin(values, levels)
            inside &= fine.all(axis=1)
        return inside

    def _not_boring(self, stimuli: Stimuli, space: TaskSpace) -> Array:
        """``(n_trials,)`` whether all options keep the rules and differ, and none is worse unless that is wanted."""
        kept = np.ones(len(stimuli), dtype=bool)
        for rule in self.task.rules(space.only):
            kept &= rule.holds(stimuli.arrays).all(axis=1)
        worth = self._worth(stimuli)
        for one, other in combinations(range(len(self.options)), 2):
            kept &= ~(worth[:, one] == worth[:, other]).all(axis=-1)
            if not space.dominated:
                kept &= ~self.dominates(worth[:, one], worth[:, other])
                kept &= ~self.dominates(worth[:, other], worth[:, one])
        return kept

    def _worth(self, stimuli: Stimuli) -> Array:
        """``(n_trials, n_options, n_attributes)`` turned so that more is better where everybody prefers one end."""
        return np.stack(
            [(item.sign or 1) * np.asarray(stimuli[name], dtype=np.float64)
             for name, item in self.task.attributes.items()],
            axis=-1,
        )  # fmt: skip

    def dominates(self, one: Array, other: Array) -> Array:
        """``(n_trials,)`` whether the first option is better whatever one's taste, by `_worth` of each."""
        directed = np.array([item.sign != 0 for item in self.task.attributes.values()])
        as_good = (one >= other) | (~directed & (one == other))
        as_good &= directed | (one == other)
        return np.asarray(as_good.all(axis=-1) & ((one > other) & directed).any(axis=-1))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Trials at random, on the levels and between, and extremes: all lowest, all highest, all alike."""
        n_options, n_random = len(self.options), 24
        ordinary, extreme = {}, {}
        for name, attribute in self.task.attributes.items():
            low, high = attribute.lowest, attribute.highest
            drawn = rng.choice(attribute.numbers, size=(n_random, n_options))
            if not attribute.words:
                between = np.round(rng.uniform(low, high, drawn.shape), attribute.decimals + 1)
                drawn = np.where(np.arange(n_random)[:, None] % 2 == 0, drawn, between)
            ordinary[name] = np.clip(drawn, low, high)
            ends = np.tile(np.array([low, high]), n_options)[:n_options]
            some = np.resize(rng.permutation(attribute.numbers), n_options)
            rows = [np.full(n_options, low), np.full(n_options, high), ends, ends[::-1], some]
            extreme[name] = np.stack([*rows, np.full(n_options, some[0])])
        first, second = Stimuli(ordinary), Stimuli(extreme)
        return (first, self.swap_sides(first), second, first.take([0]))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials: of each cue how far the last option is ahead of the others' mean, and the spread.

        ``n_ahead`` counts cues with an order on which the last option is the best; ``dominating`` is the share of
        other options that it is better than whatever one's taste, less the share that is better than it, and
        ``middling`` how near it is to the middle of what is on offer, compared with the others.
        """
        cues = {cue.name: cue.values(self.task, stimuli) for cue in self.cues}
        found: dict[str, Array] = {}
        for name, value in cues.items():
            found[f"{name}_difference"] = _last_ahead(value)
            found[f"{name}_spread"] = np.ptp(value, axis=1)
            found[f"{name}_level"] = value.mean(axis=1)
        directed = [cues[cue.name] for cue in self.cues if cue.is_directed]
        if len(directed) > 1:
            found |= _sums_over_cues(directed)
        if len(self.options) > 2:
            found |= self._menu_features(stimuli, list(cues.values()), bool(directed))
        return found | _features_of_kinds(self.task, stimuli)

    def _menu_features(
        self, stimuli: Stimuli, cues: Sequence[Array], is_directed: bool
    ) -> dict[str, Array]:
        """What the last of three or more options is among the others."""
        found: dict[str, Array] = {}
        if is_directed:
            worth = self._worth(stimuli)
            others = range(len(self.options) - 1)
            better = [self.dominates(worth[:, -1], worth[:, place]) for place in others]
            worse = [self.dominates(worth[:, place], worth[:, -1]) for place in others]
            found["dominating"] = np.asarray(np.mean(better, axis=0) - np.mean(worse, axis=0))
        apart = [_from_middle(value) for value in cues]
        found["middling"] = -_last_ahead(np.sum(apart, axis=0))
        return found

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`: each attribute of the second option, and each for all alike."""
        found: dict[str, TrialVariation] = {}
        for name, attribute in self.task.attributes.items():
            values = np.asarray(stimuli[name], dtype=np.float64)
            new = _other_level(attribute, values[:, 1], rng, up=not attribute.words)
            one = values.copy()
            one[:, 1] = new
            shared = np.repeat(values[:, :1], values.shape[1], axis=1)
            other = np.repeat(
                _other_level(attribute, values[:, 0], rng, up=False)[:, None], values.shape[1], axis=1
            )  # fmt: skip
            what = noun_of(name, attribute)
            found[name] = varied(
                stimuli,
                new != values[:, 1],
                f"the {what} of the second option is {'changed' if attribute.words else 'raised'}",
                lambda _, rows, name=name, one=one: {name: one[rows]},  # type: ignore[misc]
            )
            found[f"shared_{name}"] = varied(
                stimuli,
                np.full(len(stimuli), True),
                f"the {what}, which is the same for all options, is changed for all",
                lambda _, rows, name=name, other=other: {name: other[rows]},  # type: ignore[misc]
                prepare=lambda _, name=name, shared=shared: {name: shared},  # type: ignore[misc]
            )
        return found

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the options in the opposite order."""
        return Stimuli({name: array[:, ::-1] for name, array in stimuli.arrays.items()})

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The options side by side, a line for each attribute."""
        values = {name: stimuli[name][row] for name in self.task.attributes}
        return draw(self.task, values)

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """For example ``A: own 8 euros, other 2 euros | B: own 5 euros, other 5 euros``."""
        return " | ".join(
            f"{label}: "
            + ", ".join(
                f"{name} {as_shown(attribute, float(stimuli[name][row, place]))}"
                for name, attribute in self.task.attributes.items()
            )
            for place, label in enumerate(self.options)
        )


def _from_middle(values: Array) -> Array:
    """``(n_trials, n_options)`` how far each option is from the middle of the range on offer."""
    middle = 0.5 * (values.max(axis=1) + values.min(axis=1))
    return np.asarray(np.abs(values - middle[:, None]))


def _sums_over_cues(directed: Sequence[Array]) -> dict[str, Array]:
    """On how many cues the last option is the best, and how far it is ahead on all together."""
    ahead = [value[:, -1] >= value.max(axis=1) - 1e-9 for value in directed]
    return {
        "n_ahead": np.asarray(np.sum(ahead, axis=0), dtype=np.float64),
        "total_difference": _last_ahead(np.sum(directed, axis=0)),
    }


def _features_of_kinds(task: TaskDeclaration, stimuli: Stimuli) -> dict[str, Array]:
    """Envy and guilt where options pay oneself and another; expected values where they are gambles."""
    found: dict[str, Array] = {}
    own, other = task.of_kind("own"), task.of_kind("other")
    if own and other:
        gap = stimuli[own] - stimuli[other]
        found["envy_difference"] = _last_ahead(np.maximum(-gap, 0))
        found["guilt_difference"] = _last_ahead(np.maximum(gap, 0))
    amount, chance = task.of_kind("amount"), task.of_kind("probability")
    if amount and chance:
        found["expected_value_difference"] = _last_ahead(stimuli[amount] * stimuli[chance])
    return found


def _last_ahead(values: Array) -> Array:
    """``(n_trials,)`` the last option's number less the mean of the others."""
    return np.asarray(values[:, -1] - values[:, :-1].mean(axis=1), dtype=np.float64)


def _other_level(
    attribute: TaskAttribute, values: Array, rng: np.random.Generator, *, up: bool
) -> Array:
    """A higher number for each, or any other; the same where there is no higher one."""
    if attribute.words:
        step = rng.integers(1, len(attribute.words), size=len(values))
        return np.asarray((values + step) % len(attribute.words))
    low, high = attribute.lowest, attribute.highest
    share = rng.uniform(0.1, 1.0, size=len(values))
    if up:
        return np.asarray(np.round(values + share * (high - values), 9))
    return np.asarray(np.round(low + (values - low + share * 0.9 * (high - low)) % (high - low), 9))
