"""The domain of a declared task in which people see what came of their choices.

Steps are those of `domains.learning.task`, with one stage: everybody goes through one schedule, which fixes
beforehand what every option would pay at each step and shows only what the declaration says. To its arrays come the
attributes of the options, each ``(n_steps, n_options)`` under its own name.

What follows a choice is ``reward``, the outcome of the chosen option, and where all outcomes are shown ``outcome_1``,
``outcome_2``, ... of every option. ``next_state`` is 0 throughout, as wherever there is one stage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from lakatos.domains.declared.declaration import read_task, with_unit
from lakatos.domains.declared.feedback_declaration import OptionOutcome, TaskFeedback
from lakatos.domains.declared.task import DeclaredDomain, DeclaredSpace
from lakatos.domains.learning.outcomes import estimated_schedule
from lakatos.domains.learning.task import (
    HIDDEN,
    SHOWN,
    LearningDomain,
    cue_in_words,
    steps,
)
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.presentation import Presentation
from lakatos.experiments.task import Stimuli, Trials
from lakatos.experiments.task_file import TaskFile
from lakatos.theories.language.family import Family

Array = NDArray[Any]
SETTINGS = ("steps", "blocks", "reversal_every")
"""Keys of the declaration's feedback that a study may replace."""
N_PROBED = 16
"""Steps of the schedules on which theories are tried, at most."""
_STEPS = LearningDomain()
CUE = "font:600 1.4em system-ui,sans-serif;color:#222;text-align:center;margin:0 0 16px"
BOX = "border:1px solid #bbb;border-radius:6px;padding:12px 20px;display:inline-block;margin:4px"


class FeedbackDomain:
    """A declared task with feedback; equal texts are equal domains."""

    sequential: bool = True

    def __init__(self, text: str) -> None:
        """Read a declaration with a section ``feedback``.

        Raises:
            TaskFileError: It declares no task.
            StimuliError: It declares one without feedback.
        """
        self.text, self.task = text, read_task(text)
        if self.task.feedback is None:
            raise StimuliError(f"the domain {self.task.name} has no feedback.")
        self.told: TaskFeedback = self.task.feedback
        self.described = DeclaredDomain(text)
        """The same options as trials that stand alone."""
        self.name, self.options = self.task.name, self.task.options
        self.cues, self.measured = self.described.cues, self.described.measured
        self.texts = self.described.texts

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def layout(self) -> StimulusLayout:
        """How steps are written as columns of a file."""
        from lakatos.domains.learning.reader import steps_with_attributes

        return steps_with_attributes(self)

    def family(self) -> Family:
        """The theories about this task, composed for its attributes."""
        from lakatos.domains.declared.learning_theories import feedback_family

        return feedback_family(self)

    @cached_property
    def task_file(self) -> TaskFile:
        """The declaration, as a study keeps it."""
        return TaskFile(file=f"{self.name}.toml", text=self.text)

    def attribute_labels(self) -> dict[str, str]:
        """What each attribute is, for people to read."""
        return self.described.attribute_labels()

    def attribute_words(self) -> dict[str, tuple[str, ...]]:
        """The words of attributes that are categories."""
        return self.described.attribute_words()

    @cached_property
    def presentation(self) -> Presentation | None:
        """See `experiments.presentation.HasPresentation`."""
        own = self.described.presentation
        if own is None:
            return None
        plugin = own.plugin and replace(own.plugin, trial=self._parameters)
        return replace(own, picture=partial(self._drawn, own.picture), plugin=plugin)

    def _parameters(self, stimuli: Stimuli, row: int) -> dict[str, Any]:
        """Parameters of a plugin's trial, with the cue."""
        own = self.described.presentation
        assert own is not None
        assert own.plugin is not None
        return {**own.plugin.trial(stimuli, row), "cue": self._cue(stimuli, row)}

    @property
    def outcome_names(self) -> tuple[str, ...]:
        """What follows a choice, as columns of tables are called."""
        every = (f"outcome_{place + 1}" for place in range(len(self.options)))
        return ("reward", *(every if self.told.shows == "all" else ()))

    @property
    def cue_names(self) -> tuple[str, ...]:
        """Names of cues in the order of their numbers; none without cues."""
        return tuple(self.told.by_cue)

    @property
    def go(self) -> int:
        """See `experiments.outcomes.HasCues`."""
        return 2 * self.options.index(self.told.go) - 1 if self.told.go else 0

    @property
    def outcome_range(self) -> tuple[float, float]:
        """Lowest and highest outcome that the declaration allows."""
        ends = {name: (item.lowest, item.highest) for name, item in self.task.attributes.items()}
        return self.told.outcome_range(ends)

    @property
    def win_above(self) -> float:
        """An outcome is a gain above this: 0 where some are above and some are not, else the middle of the range."""
        low, high = self.outcome_range
        return 0.0 if low <= 0 < high else 0.5 * (low + high)

    def cue_codes(self) -> dict[str, str]:
        """What theories call each thing that options are compared by, by its code."""
        return {cue.code: cue.noun for cue in self.cues}

    def cue_values(self, stimuli: Stimuli) -> list[Array]:
        """``(n_trials, n_options)`` of each thing that options are compared by."""
        return [cue.values(self.task, stimuli) for cue in self.cues]

    # Schedules

    def read_settings(self, settings: Mapping[str, Any]) -> tuple[TaskFeedback, DeclaredSpace]:
        """The session and the options that a study's settings describe.

        Raises:
            StimuliError: A setting is unknown, or makes no sense.
        """
        own = {name: settings[name] for name in SETTINGS if name in settings}
        rest = {name: value for name, value in settings.items() if name not in own}
        try:
            feedback = TaskFeedback.model_validate(self.told.model_dump() | own)
        except ValidationError as error:
            first = error.errors()[0]
            where = f"setting {first['loc'][0]}" if first["loc"] else "settings"
            words = str(first["msg"]).removeprefix("Value error, ")
            raise StimuliError(f"{where} of the {self.name} domain: {words}.") from None
        return feedback, self.described.read_settings(rest)

    def schedule(self, settings: Mapping[str, Any], rng: np.random.Generator) -> Stimuli:
        """One schedule drawn at random.

        Raises:
            StimuliError: A setting is wrong.
        """
        feedback, _ = self.read_settings(settings)
        rest = {name: value for name, value in settings.items() if name not in SETTINGS}
        return self._scheduled(feedback, self._attributes(feedback.steps, rest, rng), rng)

    def _attributes(
        self, n_steps: int, settings: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Array]:
        """``(n_steps, n_options)`` of each: trials of the space by lot, all of them before any comes again."""
        if not self.task.attributes:
            return {}
        space = self.described.space(settings)
        n_rounds = -(-n_steps // len(space))
        rows = np.concatenate([rng.permutation(len(space)) for _ in range(n_rounds)])[:n_steps]
        drawn = space.take(rows)
        # Trials that are listed say which option has which attributes; others have their sides by lot.
        turned = (rng.random(n_steps) < 0.5) & (not self._keeps_places)
        swapped = self.described.swap_sides(drawn)
        return {
            name: np.where(turned[:, None], swapped[name], drawn[name]).astype(np.float64)
            for name in self.task.attributes
        }

    @property
    def _keeps_places(self) -> bool:
        return self.task.in_order or bool(self.task.space.listed)

    def _scheduled(
        self, told: TaskFeedback, values: Mapping[str, Array], rng: np.random.Generator
    ) -> Stimuli:
        """Steps with these attributes, and with outcomes by lot."""
        n_options = len(self.options)
        if told.weights:
            pays = told.draw_by_attribute(values, self.attribute_words(), rng)[:, None]
        else:
            pays = told.draw_by_option(self.options, rng)
        cue = told.draw_cues(rng)
        payoff = np.zeros((told.steps, 3, n_options)) if cue is None else pays
        payoff[:, : pays.shape[1]] = pays
        begins = told.block_start()
        made = steps(told.steps, n_options, block_start=begins, payoff=payoff, cue=cue, go=self.go)
        there = told.draw_available(n_options, rng)
        return Stimuli(dict(made.arrays) | {"available": there} | dict(values))

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """One schedule drawn at random, whole, whatever ``n_most``; see `LearningDomain.candidates`."""
        return self.schedule(settings, rng)

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """One schedule that stands for all: they are too many to list."""
        return self.schedule(settings, np.random.default_rng(0))

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first step that no schedule can have."""
        cued = ("cue", "set_size") if self.cue_names else ()
        own = (*SHOWN, *cued, *(("go",) if self.go else ()), *HIDDEN)
        known = (*own, *self.task.attributes)
        if set(stimuli.arrays) != set(known):
            raise StimuliError(
                f"schedules of the {self.name} domain have the arrays {', '.join(known)}, "
                f"not {', '.join(sorted(stimuli.arrays))}."
            )
        _STEPS.check(_some(stimuli, own))
        if self.cue_names and stimuli["cue"].max(initial=0) >= len(self.cue_names):
            raise StimuliError(
                f"schedules of the {self.name} domain have {len(self.cue_names)} cues."
            )
        if stimuli["available"].shape[1] != len(self.options):
            raise StimuliError(
                f"schedules of the {self.name} domain have {len(self.options)} options, "
                f"not {stimuli['available'].shape[1]}."
            )
        if self.task.attributes:
            self.described.check(_some(stimuli, self.task.attributes))

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: schedules of the study's length, whole."""
        feedback, _ = self.read_settings(settings)
        fits = stimuli["available"].shape == (feedback.steps, len(self.options))
        return np.full(len(stimuli), fits)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Short schedules, as declared and in two blocks, with attributes at random and extreme."""
        n_steps = min(self.told.steps, max(N_PROBED, 4 * len(self.cue_names)))
        by_cue = {name: _shortened(own, n_steps) for name, own in self.told.by_cue.items()}
        outcomes = _shortened(self.told.outcomes, n_steps)
        short = {"steps": n_steps, "outcomes": outcomes, "by_cue": by_cue}
        blocks = (1, min(2, n_steps // 2, n_steps // max(2 * len(by_cue), 1)))
        plans = [self.told.model_copy(update=short | {"blocks": n}) for n in blocks]
        if not self.task.attributes:
            return [self._scheduled(plan, {}, rng) for plan in plans]
        found = []
        for some in self.described.probes(rng):
            rows = np.resize(np.arange(len(some)), n_steps)
            values = {name: some[name][rows].astype(np.float64) for name in self.task.attributes}
            found += [self._scheduled(plan, values, rng) for plan in plans]
        return found

    def n_options(self, stimuli: Stimuli) -> int:
        """The number of labels; a step defines which of them are available."""
        return len(self.options)

    def sizes(self, stimuli: Stimuli) -> NDArray[np.intp]:
        """See `experiments.task.Domain.sizes`."""
        return np.ones(len(stimuli), dtype=np.intp)

    # What is seen

    def shown(
        self, arrays: Mapping[str, Array], before: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """The arrays that people see."""
        seen = dict(_STEPS.shown(arrays, {}))
        return seen | {name: arrays[name] for name in self.task.attributes}

    def feedback(
        self, arrays: Mapping[str, Array], shown: Mapping[str, Array], response: Array
    ) -> dict[str, Array]:
        """What the schedule has fixed for the chosen option, and for each where all are shown."""
        found = _STEPS.feedback(arrays, shown, response)
        if self.told.shows == "all":
            cue = np.asarray(arrays.get("cue", np.zeros(response.shape[1]))).astype(np.intp)
            pays = arrays["payoff"][np.arange(response.shape[1]), cue]
            found |= {
                f"outcome_{place + 1}": np.broadcast_to(pays[:, place], response.shape).copy()
                for place in range(len(self.options))
            }
        return found

    def estimated_outcomes(
        self, trials: Trials, n_people: int, rng: np.random.Generator
    ) -> tuple[Stimuli, str]:
        """What unchosen options would have paid; see `experiments.outcomes.EstimatesOutcomes`.

        Raises:
            TrialsError: The responses do not say it.
        """
        return estimated_schedule(trials, n_people, rng)

    def told_after(self, feedback: Mapping[str, float]) -> str:
        """What people read of an outcome: ``You won 3 points``, and what each option paid where all is shown."""
        reward, unit = feedback["reward"], self.told.unit
        amount = with_unit(abs(reward), unit)
        first = (
            "You won nothing" if reward == 0 else f"You {'won' if reward > 0 else 'lost'} {amount}"
        )
        every = [
            f"{label}: {with_unit(feedback[name], unit)}"
            for label, name in zip(self.options, self.outcome_names[1:], strict=False)
        ]
        return f"{first}.{' ' + ', '.join(every) + '.' if every else ''}"

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of steps that are known beforehand, and of the options where they have attributes."""
        found = {name: value for name, value in _STEPS.features(stimuli).items() if name != "stage"}
        if not self.task.attributes:
            return found
        return found | dict(self.described.features(_some(stimuli, self.task.attributes)))

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same schedule with the options in the opposite order."""
        turned = _STEPS.swap_sides(stimuli)
        if not self.task.attributes:
            return turned
        values = self.described.swap_sides(_some(stimuli, self.task.attributes))
        return Stimuli(dict(turned.arrays) | dict(values.arrays))

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The options with their attributes; a row of boxes where they have none."""
        return self._drawn(self.described.picture, stimuli, row)

    def _cue(self, stimuli: Stimuli, row: int) -> str:
        return cue_in_words(stimuli, row, self.cue_names).removeprefix(", ")

    def _drawn(self, draw: Callable[[Stimuli, int], str], stimuli: Stimuli, row: int) -> str:
        """A step, with its attributes as ``draw`` shows them."""
        cue = self._cue(stimuli, row)
        shown = f'<p style="{CUE}">{escape(cue)}</p>' if cue else ""
        if self.task.attributes:
            return shown + draw(stimuli, row)
        boxes = "".join(
            f'<span style="{BOX}">{escape(label)}</span>' for label in self._there(stimuli, row)
        )
        look = "font-family:system-ui,sans-serif;color:#222;text-align:center"
        return f'<div style="{look}">{shown}{boxes}</div>'

    def _there(self, stimuli: Stimuli, row: int) -> list[str]:
        """Labels of the options that a step has."""
        free = stimuli["available"][row]
        return [label for label, is_free in zip(self.options, free, strict=True) if is_free]

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Number and options of a step, in a line."""
        start = ", a new game begins" if stimuli["block_start"][row] else ""
        what = (
            self.described.describe(stimuli, row)
            if self.task.attributes
            else " or ".join(self._there(stimuli, row))
        )
        cue = cue_in_words(stimuli, row, self.cue_names)
        return f"step {int(stimuli['position'][row]) + 1}{cue}{start}: {what}"


def _shortened(outcomes: Mapping[str, OptionOutcome], n_steps: int) -> dict[str, OptionOutcome]:
    """Outcomes of a session's first steps."""
    return {
        label: item.model_copy(update={"sequence": item.sequence[:n_steps]})
        for label, item in outcomes.items()
    }


def _some(stimuli: Stimuli, names: Sequence[str] | Mapping[str, Any]) -> Stimuli:
    """The same trials with some of their arrays only."""
    return Stimuli({name: stimuli[name] for name in names})


def declared_domain(text: str) -> DeclaredDomain | FeedbackDomain:
    """The domain that a text declares: with feedback, or with trials that stand alone.

    Raises:
        TaskFileError: It declares no task.
    """
    return FeedbackDomain(text) if read_task(text).feedback else DeclaredDomain(text)
