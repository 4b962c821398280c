"""What people see after a choice in a declared task, and how it is drawn.

A declaration says it in its section ``feedback``::

    [feedback]
    shows = "chosen"
    unit = "points"
    steps = 60

    [feedback.outcomes.Red]
    amounts = [10, 0]
    chances = [0.7, 0.3]

    [feedback.outcomes.Blue]
    amounts = [10, 0]
    chances = [0.3, 0.7]

Outcomes belong to the labels of options, which come again and again; or they follow from the attributes, by
``weights``. Where steps have cues, each of which participants learn apart, ``by_cue`` has the outcomes for each::

    [feedback.by_cue.circle]
    press = { amounts = [1, 0], chances = [0.8, 0.2] }
    wait = { amounts = [1, 0], chances = [0.2, 0.8] }
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from lakatos.domains.kit.settings import TaskSection
from lakatos.domains.learning.task import (
    HIDDEN,
    MOST_CUES,
    MOST_OPTIONS,
    MOST_STEPS,
    SEEN_IN_SOME,
    SHOWN,
    balanced,
    steps_to_reversal,
)

Array = NDArray[Any]
MOST_AMOUNTS = 20
SCHEDULE_ARRAYS = (*SHOWN, *SEEN_IN_SOME, *HIDDEN, "states", "reward", "value")
"""Names that mean something in schedules and in theories that learn."""
N_SPREADS = 2.0
"""Standard deviations of noise that the range of outcomes covers."""


class OptionOutcome(TaskSection):
    """What an option pays: one of some amounts by chance, or a list of amounts, step by step."""

    amounts: tuple[float, ...] = ()
    """Amounts that it can pay."""
    chances: tuple[float, ...] = ()
    """Probability of each amount; 1 in all."""
    sequence: tuple[float, ...] = ()
    """Payment at each step of a session, in place of amounts and chances."""

    @model_validator(mode="after")
    def _is_possible(self) -> OptionOutcome:
        if bool(self.amounts) == bool(self.sequence):
            raise ValueError("give either amounts with their chances, or a sequence")
        if len(self.amounts) > MOST_AMOUNTS:
            raise ValueError(f"{len(self.amounts)} amounts; give {MOST_AMOUNTS} at most")
        if len(self.chances) != len(self.amounts):
            raise ValueError(
                f"{len(self.amounts)} amounts have {len(self.chances)} chances; give one for each"
            )
        if any(not 0 <= chance <= 1 for chance in self.chances):
            wrong = next(chance for chance in self.chances if not 0 <= chance <= 1)
            raise ValueError(f"the chance {wrong:g} is no probability; give numbers from 0 to 1")
        if self.chances and abs(sum(self.chances) - 1) > 1e-6:
            raise ValueError(f"chances add up to {sum(self.chances):g}, not to 1")
        return self

    @property
    def possible(self) -> tuple[float, ...]:
        """Amounts that can come."""
        if self.sequence:
            return self.sequence
        return tuple(a for a, p in zip(self.amounts, self.chances, strict=True) if p > 0)

    def draw(self, n_steps: int, rng: np.random.Generator) -> Array:
        """``(n_steps,)`` amounts."""
        if self.sequence:
            return np.resize(self.sequence, n_steps)
        chances = np.array(self.chances)
        return rng.choice(self.amounts, size=n_steps, p=chances / chances.sum())


class TaskFeedback(TaskSection):
    """What follows a choice, how long a session is, and what stays the same in it."""

    shows: Literal["chosen", "all"] = "chosen"
    """Whether participants see the outcome of the chosen option, or of all options."""
    unit: str = Field(min_length=1, max_length=20)
    """Unit of outcomes, such as ``points`` or ``€``."""
    steps: int = Field(ge=2, le=MOST_STEPS)
    """Choices of each person."""
    blocks: int = Field(1, ge=1)
    """Parts of a session, each of which begins a new game: what was learned before does not count there."""
    offered: int = Field(0, ge=0)
    """Options that are there at each step, all sets of so many equally often; 0 for all."""
    mixed: bool = False
    """Whether lot decides, in each block anew, which option has which outcomes."""
    reversal_every: int = Field(0, ge=0, le=MOST_STEPS)
    """Steps, about, after which outcomes pass on to other options; 0 for never."""
    outcomes: dict[str, OptionOutcome] = Field(default_factory=dict)
    """Outcomes by the label of the option."""
    by_cue: dict[str, dict[str, OptionOutcome]] = Field(default_factory=dict)
    """Outcomes of the options for each cue, by its name, in place of ``outcomes``; participants see the cue."""
    set_sizes: tuple[int, ...] = ()
    """Numbers of cues of the blocks with ``by_cue``, in turn; the cues are drawn at random. All by default."""
    go: str = ""
    """Label of the option that is to respond, where the other one is to withhold a response."""
    weights: dict[str, float | dict[str, float]] = Field(default_factory=dict)
    """Payment that each attribute adds for each unit, or each of its words, in place of ``outcomes``."""
    base: float = 0.0
    """Constant payment, with ``weights``."""
    noise: float = Field(0.0, ge=0)
    """Standard deviation of the noise, with ``weights``."""
    decimals: int = Field(0, ge=0, le=4)
    """Decimal places that participants see, with ``weights``."""

    @model_validator(mode="after")
    def _makes_sense(self) -> TaskFeedback:
        if sum(map(bool, (self.outcomes, self.by_cue, self.weights))) != 1:
            raise ValueError(
                "give either outcomes of each option, or weights of attributes that predict outcomes, or outcomes "
                "by_cue"
            )
        self._check_cues()
        if self.blocks > self.steps // 2:
            raise ValueError(f"blocks: {self.steps} steps have {self.steps // 2} blocks at most")
        if not self.weights:
            self._check_outcomes()
        elif self.mixed or self.reversal_every or self.offered:
            raise ValueError("mixed, reversal_every and offered belong to outcomes, not to weights")
        return self

    def _check_cues(self) -> None:
        """Refuse too many cues, and sets of cues of which some would come once only."""
        if not self.by_cue:
            if self.set_sizes:
                raise ValueError("set_sizes belong to outcomes by_cue")
            return
        if not 2 <= len(self.by_cue) <= MOST_CUES:
            raise ValueError(f"by_cue: {len(self.by_cue)} cues; give 2 to {MOST_CUES}")
        for size in self.set_sizes:
            if not 1 <= size <= len(self.by_cue):
                raise ValueError(f"set_sizes: {size} of {len(self.by_cue)} cues")
        most, n_steps = max(self._sizes), self.steps // self.blocks
        if n_steps < 2 * most:
            raise ValueError(
                f"by_cue: in blocks of {n_steps} steps some of {most} cues come once, so that nothing can be learned "
                "about them; give more steps, or fewer blocks or cues"
            )

    @property
    def _sizes(self) -> tuple[int, ...]:
        """Numbers of cues of the blocks, in turn."""
        return self.set_sizes or (max(len(self.by_cue), 1),)

    def _check_outcomes(self) -> None:
        """Refuse outcomes of options that teach nothing, or do not last as long as the task."""
        if self.base or self.noise or self.decimals:
            raise ValueError("base, noise and decimals belong to weights, not to outcomes")
        for place, item in self._outcomes():
            if item.sequence and len(item.sequence) != self.steps:
                raise ValueError(
                    f"{place}.sequence: {len(item.sequence)} amounts for {self.steps} steps; give one for each"
                )
        if len(set(self._amounts)) < 2:
            raise ValueError("outcomes: all options always pay the same; nothing could be learned")

    def _outcomes(self) -> list[tuple[str, OptionOutcome]]:
        """Return what options pay, of all cues, with the place in the section."""
        tables = {"outcomes": self.outcomes} | {
            f"by_cue.{name}": o for name, o in self.by_cue.items()
        }
        return [
            (f"{place}.{label}", own) for place, o in tables.items() for label, own in o.items()
        ]

    @property
    def _amounts(self) -> list[float]:
        return [amount for _, item in self._outcomes() for amount in item.possible]

    def check_for(self, options: Sequence[str], attributes: Mapping[str, Sequence[str]]) -> None:
        """Refuse what does not fit a task.

        Args:
            options: Their labels.
            attributes: The words of each; none where it is a number.

        Raises:
            ValueError: The message says the key and what to write.
        """
        if len(options) > MOST_OPTIONS:
            raise ValueError(
                f"feedback: {len(options)} options; people learn about {MOST_OPTIONS} at most"
            )
        if self.outcomes:
            _check_names("feedback.outcomes", self.outcomes, options, all_of_them=True)
        for cue, own in self.by_cue.items():
            _check_names(f"feedback.by_cue.{cue}", own, options, all_of_them=True)
        if self.go and (self.go not in options or len(options) != 2):
            raise ValueError(
                f"feedback.go: {self.go!r} is none of two options; give the label of the one that is to respond"
            )
        if self.offered and not 2 <= self.offered <= len(options):
            raise ValueError(
                f"feedback.offered: {self.offered} of {len(options)} options; give 2 to {len(options)}"
            )
        if 0 < self.offered < len(options) and (attributes or self.shows == "all"):
            raise ValueError(
                "feedback.offered: some options at a time have neither attributes, nor outcomes that are shown of all"
            )
        _check_names("feedback.weights", self.weights, list(attributes))
        for name, weight in self.weights.items():
            words = attributes[name]
            if isinstance(weight, dict) != bool(words):
                what = "a number for each of its words" if words else "one number"
                raise ValueError(f"feedback.weights.{name}: give {what}")
            if isinstance(weight, dict):
                _check_names(f"feedback.weights.{name}", weight, words, all_of_them=True)
        if self.weights and not any(
            self._numbers(weight).any() for weight in self.weights.values()
        ):
            raise ValueError("feedback.weights: all are 0; nothing could be learned")

    @staticmethod
    def _numbers(weight: float | Mapping[str, float]) -> Array:
        return np.atleast_1d(list(weight.values()) if isinstance(weight, Mapping) else weight)

    def block_start(self) -> Array:
        """``(n_steps,)`` whether a block begins."""
        block = np.arange(self.steps) * self.blocks // self.steps
        return np.diff(block, prepend=-1) > 0

    def draw_available(self, n_options: int, rng: np.random.Generator) -> Array:
        """``(n_steps, n_options)`` 1 where an option is there: all sets in an order by lot, again and again."""
        if self.offered in (0, n_options):
            return np.ones((self.steps, n_options))
        sets = [list(item) for item in combinations(range(n_options), self.offered)]
        n_rounds = -(-self.steps // len(sets))
        order = np.concatenate([rng.permutation(len(sets)) for _ in range(n_rounds)])[: self.steps]
        there = np.zeros((self.steps, n_options))
        for row, number in enumerate(order):
            there[row, sets[number]] = 1
        return there

    def draw_by_option(self, options: Sequence[str], rng: np.random.Generator) -> Array:
        """``(n_steps, n_cues, n_options)`` what each option would pay."""
        found = []
        for outcomes in self.by_cue.values() if self.by_cue else [self.outcomes]:
            drawn = np.stack([outcomes[label].draw(self.steps, rng) for label in options], axis=1)
            found.append(np.take_along_axis(drawn, self._holders(len(options), rng), axis=1))
        return np.stack(found, axis=1)

    def draw_cues(self, rng: np.random.Generator) -> Array | None:
        """``(n_steps,)`` cue of each step: those of a block in an order by lot, again and again; None without cues."""
        if not self.by_cue:
            return None
        block = np.cumsum(self.block_start()) - 1
        found = np.zeros(self.steps)
        for number in range(self.blocks):
            rows = np.flatnonzero(block == number)
            size = self._sizes[number % len(self._sizes)]
            kept = np.arange(size)
            if self.set_sizes:
                kept = np.sort(rng.permutation(len(self.by_cue))[:size])
            found[rows] = kept[balanced(size, len(rows), rng)]
        return found

    def _holders(self, n_options: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """``(n_steps, n_options)`` whose outcomes each option has: its own, until lot or a reversal changes that."""
        starts, held = self.block_start(), np.arange(n_options)
        found, until = np.zeros((self.steps, n_options), dtype=np.intp), 0
        for step in range(self.steps):
            if starts[step]:
                held = rng.permutation(n_options) if self.mixed else np.arange(n_options)
                until = step + steps_to_reversal(self.reversal_every, rng)
            elif self.reversal_every and step >= until:
                held = np.roll(held, 1 + int(rng.integers(n_options - 1)))
                until = step + max(steps_to_reversal(self.reversal_every, rng), 1)
            found[step] = held
        return found

    def draw_by_attribute(
        self,
        values: Mapping[str, Array],
        words: Mapping[str, Sequence[str]],
        rng: np.random.Generator,
    ) -> Array:
        """``(n_steps, n_options)`` what options pay by their attributes, each ``(n_steps, n_options)``."""
        shape = next(iter(values.values())).shape
        total = self.base + self.noise * rng.standard_normal(shape)
        for name, weight in self.weights.items():
            if isinstance(weight, dict):
                by_word = np.array([weight[word] for word in words[name]])
                total = total + by_word[values[name].astype(np.intp)]
            else:
                total = total + weight * values[name]
        return np.round(total, self.decimals) + 0.0

    def outcome_range(self, ends: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
        """Lowest and highest outcome; of what attributes foretell within two standard deviations of chance.

        Args:
            ends: Lowest and highest level of each attribute.
        """
        if not self.weights:
            return min(self._amounts), max(self._amounts)
        low = high = self.base
        for name, weight in self.weights.items():
            possible = (
                self._numbers(weight) if isinstance(weight, dict) else weight * np.array(ends[name])
            )
            low, high = low + float(possible.min()), high + float(possible.max())
        return low - N_SPREADS * self.noise, high + N_SPREADS * self.noise


def _check_names(
    where: str, given: Mapping[str, Any], known: Sequence[str], *, all_of_them: bool = False
) -> None:
    """Refuse names that nobody knows, and where all are wanted those that lack."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            words = (
                f"did you mean {near[0]!r}" if near else f"there are: {', '.join(known) or 'none'}"
            )
            raise ValueError(f"{where}: there is no {name!r}; {words}")
    missing = [name for name in known if name not in given]
    if all_of_them and missing:
        raise ValueError(f"{where}: {', '.join(missing)} is missing; give one for each")
