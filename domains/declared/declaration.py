"""A task as data: options described by attributes, what is shown of them, and which trials there are.

A researcher declares it in a TOML file of the study::

    name = "fairness"
    question = "Which division do you choose?"
    options = ["A", "B"]
    instructions = ["You divide money between yourself and another person."]

    [attributes.own]
    kind = "own"
    label = "You get"
    unit = "euros"
    levels = [0, 2, 4, 6, 8, 10]
    better = "more"

`read_task` checks all of it before anything is made of it. The domain is `domains.declared.task`, its theories
are `domains.declared.theories`.
"""

from __future__ import annotations

import difflib
import json
import keyword
import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from lakatos.domains.declared.feedback_declaration import (
    SCHEDULE_ARRAYS,
    OptionOutcome,
    TaskFeedback,
)
from lakatos.domains.declared.presentation_declaration import (
    LARGEST,
    MOST_SCREENS,
    USES,
    EmbeddedFile,
    FileUse,
    PluginField,
    TaskPlugin,
    TaskScreen,
    check_text,
    file_in,
    line_of,
)
from lakatos.domains.declared.tied import AttributeRule
from lakatos.domains.kit.settings import TaskSection
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.presentation import MOST_RECORDED
from lakatos.traces.files import read_toml

Array = NDArray[Any]
Kind = Literal["amount", "probability", "delay", "rating", "category", "own", "other", "number"]
Show = Literal["", "bar", "stars", "dots", "dot_size"]
MOST_OPTIONS, MOST_ATTRIBUTES, MOST_LEVELS = 21, 12, 2001
MOST_DOTS = 400
MOST_NAME = 40
LARGEST_SPACE = 20_000
"""Trials that are listed one by one; a larger space must be a random sample."""
MOST_ALTERNATIVES = 10**15
"""Different options that the levels may make."""
TAKEN = (
    "sides",
    "last_choice",
    "last_reward",
    "trials",
    "dominated",
    "seed",
    "same",
    "evidence",
    "kept",
    "state",
)
"""Names that mean something else: of variations, settings of the space, and variables of theories."""
GIVEN: Final = ("choices", "prompt", "files", "cue", "type")
"""Parameters that every trial of a plugin has."""
MEANINGS: Mapping[str, str] = {
    "amount": "money or points that the option brings",
    "probability": "chance, from 0 to 1, shown in per cent",
    "delay": "how long one waits",
    "rating": "stars or points on a scale",
    "category": "one of several words",
    "own": "what the person who chooses gets",
    "other": "what another person gets",
    "number": "any other quantity",
}
"""Kinds of attributes, in words."""


EMBEDDED: Final = "\n# Read from the files that the attributes name.\n[embedded]\n"
"""Stands between a declaration and the files that it names."""
_EMBEDDED_LINE = re.compile(r'("(?:[^"\\]|\\.)*") = ("[^"\\]*")')


class TaskAttribute(TaskSection):
    """Something that describes each option, such as a price."""

    kind: Kind
    """What it is; theories and the picture depend on it."""
    label: str = Field(min_length=1, max_length=60)
    """What stands beside it on the page."""
    unit: str = Field("", max_length=20)
    """Stands behind the number."""
    levels: tuple[float, ...] | tuple[str, ...] = ()
    """The values that there are: numbers, or words of a category."""
    from_: float | None = Field(None, alias="from")
    """Instead of ``levels``: the lowest, with ``to`` and ``step``."""
    to: float | None = None
    step: float | None = Field(None, gt=0)
    better: Literal["more", "less", ""] = ""
    """Whether everybody prefers more, or less; empty where tastes differ. Of a category: its later or earlier words."""
    show: Show = ""
    """How it is drawn; as text where it is empty. A ``dot_size`` is the size of the dots that another one numbers."""
    noun: str = Field("", max_length=40)
    """What theories call it; by default its name."""
    images: str = Field("", max_length=200)
    """Files of images beside the declaration, one for each level, shown in place of words: ``faces/{level}.png``."""
    audio: str = Field("", max_length=200)
    """Files of sounds, likewise."""
    video: str = Field("", max_length=200)
    """Files of films, likewise."""
    html: str = Field("", max_length=200)
    """Files of HTML fragments, likewise."""

    @model_validator(mode="after")
    def _has_levels(self) -> TaskAttribute:
        ranged = (self.from_, self.to, self.step)
        if self.levels and any(item is not None for item in ranged):
            raise ValueError("give either levels, or from, to and step")
        if not self.levels and any(item is None for item in ranged):
            raise ValueError("give its levels, or from, to and step")
        if not self.levels:
            low, high, step = self._ends
            if high <= low:
                raise ValueError(f"from {low:g} to {high:g} is no range; to must be larger")
            if (high - low) / step > MOST_LEVELS:
                raise ValueError(f"more than {MOST_LEVELS} levels; give a larger step")
        self._check_levels()
        self._check_picture()
        return self

    @property
    def _ends(self) -> tuple[float, float, float]:
        """Lowest and highest level, and the step between two, where they were given so."""
        return self.from_ or 0.0, self.to or 0.0, self.step or 1.0

    def _check_levels(self) -> None:
        values = self.words or self.numbers
        if len(set(values)) != len(values):
            twice = next(value for value in values if values.count(value) > 1)
            raise ValueError(f"the level {twice!r} stands there twice")
        if not 2 <= len(values) <= MOST_LEVELS:
            raise ValueError(
                f"{len(values)} level{'s' * (len(values) != 1)}; give 2 to {MOST_LEVELS}, or leave the attribute out"
            )
        if bool(self.words) != (self.kind == "category"):
            raise ValueError(
                "levels that are words belong to the kind 'category', and all its levels are words"
            )
        lowest, highest = min(self.numbers), max(self.numbers)
        if self.kind == "probability" and not (lowest >= 0 and highest <= 1):
            raise ValueError("probabilities go from 0 to 1")
        if self.kind in ("delay", "rating") and lowest < 0:
            raise ValueError(f"a {self.kind} is not negative")
        if any(not word.strip() or len(word) > 40 for word in self.words):
            raise ValueError("a category's levels are words of 1 to 40 characters")

    def _check_picture(self) -> None:
        if self.show in ("bar", "stars", "dots", "dot_size") and self.kind == "category":
            raise ValueError(f"words cannot be shown as {self.show!r}; leave show out")
        if self.show in ("dots", "stars"):
            whole = all(value == round(value) >= 0 for value in self.numbers)
            most = MOST_DOTS if self.show == "dots" else 10
            if not whole or max(self.numbers) > most:
                raise ValueError(f"{self.show} are drawn for whole numbers from 0 to {most}")
        for use in self.uses:
            if self.show or "{level}" not in getattr(self, use):
                raise ValueError(f"{use}: name a file for each {{level}}, in place of show")
        if len(self.uses) > 1:
            raise ValueError(f"give one of {' and '.join(self.uses)}")
        if self.show == "dot_size" and (min(self.numbers) < 1 or max(self.numbers) > 8):
            raise ValueError("a dot's radius is from 1 to 8")

    @property
    def words(self) -> tuple[str, ...]:
        """Levels of a category; none of a number."""
        return tuple(item for item in self.levels if isinstance(item, str))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Levels as trials hold them, ascending: a category's are numbered in the order of its words."""
        if self.words:
            return tuple(float(place) for place in range(len(self.words)))
        if self.levels:
            return tuple(sorted(float(item) for item in self.levels))
        low, high, step = self._ends
        n_steps = math.floor((high - low) / step + 1e-9)
        return tuple(round(low + place * step, 9) for place in range(n_steps + 1))

    def number_of(self, value: float | str) -> float | None:
        """A value as trials hold it; None where it is no word of the category, or lies outside the range."""
        if self.words:
            return float(self.words.index(value)) if value in self.words else None
        if isinstance(value, str) or not self.lowest <= value <= self.highest:
            return None
        return float(value)

    @property
    def uses(self) -> tuple[FileUse, ...]:
        """Kinds of files that levels have: one, or none where words or numbers are shown."""
        return tuple(use for use in USES if getattr(self, use))

    @property
    def file_names(self) -> tuple[str, ...]:
        """Files of all levels; none where words or numbers are shown."""
        levels = self.words or tuple(f"{value:.10g}" for value in self.numbers)
        return tuple(
            getattr(self, use).replace("{level}", level) for use in self.uses for level in levels
        )

    def file_name(self, value: float) -> str:
        """File of one level; empty where there is none."""
        known = self.uses and value in self.numbers
        return self.file_names[self.numbers.index(value)] if known else ""

    @property
    def lowest(self) -> float:
        """The lowest level of an attribute."""
        return self.numbers[0]

    @property
    def highest(self) -> float:
        """The highest level of an attribute."""
        return self.numbers[-1]

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is, 0 where tastes differ."""
        return {"more": 1, "less": -1, "": 0}[self.better]

    @property
    def decimals(self) -> int:
        """Digits behind the point that the levels have, and so their neighbours."""
        return max(
            (len(f"{value:.6f}".rstrip("0").split(".")[1]) for value in self.numbers), default=0
        )


class TaskQuestion(TaskSection):
    """A question by which people show that they understood the instructions."""

    text: str = Field(min_length=1)
    answers: tuple[str, ...] = Field(min_length=2)
    right: int = Field(ge=0)
    """Place of the right answer, from 0."""

    @model_validator(mode="after")
    def _right_exists(self) -> TaskQuestion:
        if self.right >= len(self.answers):
            raise ValueError(
                f"right = {self.right}, but answers are numbered 0 to {len(self.answers) - 1}"
            )
        return self


class TaskSpace(TaskSection):
    """Which sets of options are trials; a study's own section ``space`` may replace each of these."""

    trials: int = Field(0, ge=0, le=LARGEST_SPACE)
    """A random sample of so many; 0 for all of them."""
    dominated: bool = False
    """Whether a trial may hold an option that is worse than another one whatever one's taste."""
    same: Literal["in any order", "in this order"] = "in any order"
    """Which sets of options are one trial: the same options, or only the same options in the same places."""
    seed: int = Field(0, ge=0)
    """Another number makes another sample."""
    listed: tuple[dict[str, tuple[float | str, ...]], ...] = ()
    """Trials one by one in place of all sets of options: for each attribute its values, option by option."""
    only: tuple[str, ...] = ()
    """Rules that every option keeps, such as ``changes < length``: attributes that are numbers, and arithmetic."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys that came later are left out where they say nothing."""
        value: dict[str, Any] = write(self)
        return {
            name: value[name] for name in value if name not in ("listed", "only") or value[name]
        }


class TaskDeclaration(TaskSection):
    """A whole task as its file describes it."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{1,39}$")
    """Small letters, digits and underscores."""
    question: str = Field(min_length=1)
    """Stands above the options on the page."""
    options: tuple[str, ...]
    """Labels of the options, in their order; or numbers, by ``from``, ``to``, ``step`` and ``unit``."""
    in_order: bool = False
    """Whether options keep their places, as numbers do, instead of being shown in the opposite order as well."""
    instructions: tuple[str, ...] = Field(min_length=1)
    """What people read first, paragraph by paragraph. English."""
    attributes: dict[str, TaskAttribute] = Field(default_factory=dict)
    """Attributes in the order in which they are shown; lexicographic theories use them in this order."""
    feedback: TaskFeedback | None = None
    """What people see after a choice; nothing where it is left out."""
    comprehension: tuple[TaskQuestion, ...] = ()
    """Asked after the instructions; a plain question is asked where there is none."""
    space: TaskSpace = TaskSpace()
    screens: tuple[TaskScreen, ...] = Field((), max_length=MOST_SCREENS)
    """What is shown before the options, one after another."""
    wait_for_end: bool = True
    """Whether a response is possible only after sounds and films have ended."""
    plugin: TaskPlugin | None = None
    """A jsPsych plugin that presents trials in place of the page."""
    embedded: dict[str, EmbeddedFile] = Field(default_factory=dict)
    """Files by their names, as addresses that hold them whole; written when the declaration is read."""

    @model_validator(mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        """Labels of options that are numbers, which keep their order."""
        if not isinstance(value, dict) or not isinstance(value.get("options"), dict):
            return value
        return {"in_order": True, **value, "options": _labels_of_numbers(value["options"])}

    @model_validator(mode="after")
    def _makes_sense(self) -> TaskDeclaration:
        _check_options(self.options)
        least = 0 if self.feedback else 1
        if not least <= len(self.attributes) <= MOST_ATTRIBUTES:
            raise ValueError(
                f"attributes: a task has {least} to {MOST_ATTRIBUTES}, not {len(self.attributes)}"
            )
        for name in self.attributes:
            _check_attribute_name(name, SCHEDULE_ARRAYS if self.feedback else ())
        if self.feedback:
            words = {name: item.words for name, item in self.attributes.items()}
            self.feedback.check_for(self.options, words)
        self._check_kinds()
        self._check_presentation()
        self.rules(self.space.only)
        self.listed_trials()
        if self.attributes:
            _check_pictures([item.show for item in self.attributes.values()])
        n_alternatives = math.prod(len(item.numbers) for item in self.attributes.values())
        if n_alternatives > MOST_ALTERNATIVES:
            raise ValueError(
                f"attributes: their levels make {n_alternatives:,} different options, more than "
                f"{MOST_ALTERNATIVES:,}; give fewer levels"
            )
        return self

    def _check_kinds(self) -> None:
        labels = [item.label.strip().lower() for item in self.attributes.values()]
        if len(set(labels)) != len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise ValueError(
                f"attributes: two of them have the label {twice!r}; give each a label of its own"
            )
        for kind in ("own", "other", "probability", "delay"):
            named = [name for name, item in self.attributes.items() if item.kind == kind]
            if len(named) > 1:
                raise ValueError(
                    f"attributes: {' and '.join(named)} are both of the kind {kind!r}; one of them is a "
                    "'number' or an 'amount'"
                )

    def _check_presentation(self) -> None:
        """Refuse screens and plugins that do not fit the attributes, and fragments that hold what is not allowed."""
        for place, screen in enumerate(self.screens):
            if screen.attribute and screen.attribute not in self.attributes:
                known = ", ".join(self.attributes)
                raise ValueError(
                    f"screens.{place}.attribute: there is no {screen.attribute!r}; there are {known}"
                )
            named = self.attributes.get(screen.attribute)
            if named and not screen.ms and not set(named.uses) & {"audio", "video"}:
                raise ValueError(f"screens.{place}: give ms, for how many milliseconds it is shown")
        if self.plugin and self.screens:
            raise ValueError(
                "screens: the plugin presents trials in place of the page; leave one out"
            )
        self._check_recorded()
        if self.plugin and (clash := set(self.plugin.parameters) & {*self.attributes, *GIVEN}):
            raise ValueError(
                f"plugin.parameters.{min(clash)}: trials have a parameter of this name; take another one"
            )
        for name, address in self.embedded.items():
            kind, data = file_in(address)
            use = {"text/html": "html", "text/javascript": "plugin"}.get(kind, "")
            if use and len(data) > LARGEST[use]:
                raise ValueError(f"embedded: {name} has more than {LARGEST[use]:,} bytes")
            if use:
                try:
                    check_text(use, name, data)
                except ValueError as error:
                    raise ValueError(f"embedded: {error}") from None

    def _check_recorded(self) -> None:
        """Refuse more sounds and films, or longer names, than one response can bring times of."""
        played = [name for name, item in self.attributes.items() if item.audio or item.video]
        if long := [name for name in played if len(name) > MOST_NAME]:
            raise ValueError(
                f"attributes.{long[0]}: its name has {len(long[0])} characters; sounds and films have names of "
                f"{MOST_NAME} at most"
            )
        on_screens = sum(bool(screen.audio or screen.video) for screen in self.screens)
        times = 4 * (len(played) * len(self.options) + on_screens) + 2 * len(self.screens)
        if times > MOST_RECORDED:
            place = f"attributes.{played[0]}" if played else "screens"
            raise ValueError(
                f"{place}: {times} times of sounds, films and screens would be recorded for each response, more "
                f"than {MOST_RECORDED}; give fewer options, sounds or screens"
            )

    @property
    def on_screens(self) -> frozenset[str]:
        """Attributes that a screen shows before the options."""
        return frozenset(screen.attribute for screen in self.screens if screen.attribute)

    @property
    def files(self) -> dict[str, tuple[str, list[str]]]:
        """Use and place in the declaration of each file that it names."""
        found: dict[str, tuple[str, list[str]]] = {}
        for name, item in self.attributes.items():
            for use in item.uses:
                known = {file: (use, ["attributes", name, use]) for file in item.file_names}
                found = {**known, **found}
        for place, screen in enumerate(self.screens):
            if screen.file:
                use, file = screen.file
                key = "image" if use == "images" else use
                found.setdefault(file, (use, ["screens", str(place), key]))
        if self.plugin:
            found.setdefault(self.plugin.file, ("plugin", ["plugin", "file"]))
        return found

    def rules(self, texts: Sequence[str]) -> tuple[AttributeRule, ...]:
        """What ties attributes to one another, read from texts.

        Raises:
            ValueError: One is no rule, or names an attribute that is not there or has words.
        """
        numbers = [name for name, item in self.attributes.items() if not item.words]
        found = []
        for text in texts:
            try:
                found.append(AttributeRule(text, numbers))
            except ValueError as error:
                known = f" (attributes that are numbers: {', '.join(numbers)})"
                raise ValueError(f"space.only: {error}{known}") from None
        return tuple(found)

    def listed_trials(self) -> dict[str, Array]:
        """``(n_trials, n_options)`` by attribute: the trials that are listed one by one; words by their places.

        Raises:
            ValueError: One lacks an attribute, or an attribute has no such value; the message says which.
        """
        found: dict[str, list[list[float]]] = {name: [] for name in self.attributes}
        for number, trial in enumerate(self.space.listed, 1):
            where = f"space.listed: trial {number}"
            if set(trial) != set(self.attributes):
                raise ValueError(
                    f"{where} has {', '.join(trial)}; give each attribute: {', '.join(self.attributes)}"
                )
            for name, values in trial.items():
                if len(values) != len(self.options):
                    raise ValueError(
                        f"{where}: {name} has {len(values)} values; there are {len(self.options)} options"
                    )
                numbers = [self.attributes[name].number_of(value) for value in values]
                if None in numbers:
                    raise ValueError(
                        f"{where}: {name} cannot be {values[numbers.index(None)]!r}; it is outside its levels"
                    )
                found[name].append([number for number in numbers if number is not None])
        return {name: np.array(rows, dtype=np.float64) for name, rows in found.items()}

    def of_kind(self, kind: Kind) -> str:
        """Name of the first attribute of a kind; empty where there is none."""
        return next((name for name, item in self.attributes.items() if item.kind == kind), "")


def _check_attribute_name(name: str, taken: Sequence[str]) -> None:
    """Refuse a name that is none, or that stands for something else in theories, or in schedules."""
    taken = (*TAKEN, *taken)
    is_plain = name.isidentifier() and name == name.lower() and not name.startswith("_")
    if not is_plain or keyword.iskeyword(name) or name in taken:
        raise ValueError(
            f"attributes.{name}: no name for an attribute; take small letters, digits and underscores, "
            f"and none of {', '.join(taken)}"
        )


def _check_pictures(shown: Sequence[str]) -> None:
    """Raise `ValueError` if attributes cannot be shown so together."""
    if all(show == "dot_size" for show in shown):
        raise ValueError("attributes: nothing of an option is shown; leave show out for one")
    if shown.count("dots") > 1:
        raise ValueError("attributes: an option has one field of dots; show one attribute so")
    if "dot_size" in shown and "dots" not in shown:
        raise ValueError("attributes: show one as 'dots' where another one is their size")


def _labels_of_numbers(value: dict[str, Any]) -> list[str]:
    """Labels of options that are numbers, such as ``0 coins``, from ``from``, ``to``, ``step`` and ``unit``."""
    unknown = set(value) - {"from", "to", "step", "unit"}
    ends = [value.get("from", 0), value.get("to"), value.get("step", 1)]
    if unknown or not all(isinstance(end, int | float) and math.isfinite(end) for end in ends):
        raise ValueError(
            'options: give labels, or numbers as { from = 0, to = 10, step = 1, unit = "coins" }'
        )
    low, high, step = map(float, ends)
    if step <= 0 or high <= low or (high - low) / step > MOST_OPTIONS:
        raise ValueError(
            f"options: from {low:g} to {high:g} by {step:g} are not 2 to {MOST_OPTIONS} numbers"
        )
    numbers = low + step * np.arange(math.floor((high - low) / step + 1e-9) + 1)
    return [with_unit(number, str(value.get("unit", ""))) for number in numbers]


def with_unit(value: float, unit: str) -> str:
    """A number and what it counts: ``2 coins``, ``1 coin``, ``€2``; abbreviations, such as ``ms``, stay as they are."""
    if unit in ("€", "$", "£"):
        cents = round(abs(value) * 100, 8)
        amount = f"{abs(value):.2f}" if cents % 100 and cents % 1 == 0 else f"{abs(value):.10g}"
        return f"{'-' if value < 0 else ''}{unit}{amount}"
    counts = len(unit) > 3 and unit.endswith("s") and not unit.endswith(("ss", "us", "is"))
    return f"{value:.10g} {unit[:-1] if value == 1 and counts else unit}".rstrip()


def _check_options(options: tuple[str, ...]) -> None:
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise ValueError(
            f"options: {len(options)} label{'s' * (len(options) != 1)}; people choose among 2 to {MOST_OPTIONS}"
        )
    labels = [label.strip().lower() for label in options]
    if len(set(labels)) != len(labels) or not all(labels):
        raise ValueError(f"options: {list(options)} are not different labels")


@lru_cache(maxsize=64)
def read_task(text: str, where: str = "the domain file") -> TaskDeclaration:
    """The task that a TOML text declares.

    Raises:
        TaskFileError: It is no TOML, or no task; the message names the key and what to write.
    """
    declared, _, embedded = text.partition(EMBEDDED)
    try:
        value = read_toml(declared)
        if embedded:
            value["embedded"] = _embedded(embedded)
    except ValueError as error:
        words = str(error)
        if "overwrite" in words or "twice" in words or "mutate" in words:
            words += "; two keys or sections have the same name, rename one"
        raise TaskFileError(f"{where} is not valid TOML: {words}.") from None
    try:
        return TaskDeclaration.model_validate(value)
    except ValidationError as error:
        # A key that nobody knows first: it may be why another one is missing.
        first = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
        words = _explained(first)
        parts = [str(part) for part in first["loc"]] or words.partition(":")[0].split(".")
        line = line_of(declared, parts)
        raise TaskFileError(f"{where}{f', line {line}' if line else ''}: {words}.") from None


def _embedded(text: str) -> dict[str, str]:
    """Files behind a declaration, by name; read line by line, because a parser of TOML takes a second for a film."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not (read := _EMBEDDED_LINE.fullmatch(line)):
            raise ValueError(f"embedded: {line[:40]!r} is no name of a file with its content")
        found[json.loads(read[1])] = json.loads(read[2])
    return found


def _explained(error: Any) -> str:
    """The first thing that is wrong, with the key that it stands under."""
    parts = [str(part) for part in error["loc"] if not str(part).startswith("tuple[")]
    place = ".".join(parts)
    if error["type"] == "extra_forbidden":
        known = _keys_beside(parts)
        near = difflib.get_close_matches(parts[-1], known, n=1)
        words = f"did you mean {near[0]!r}" if near else f"known here: {', '.join(known)}"
        return f"unknown key {place!r}; {words}"
    if error["type"] == "missing":
        return f"the key {place!r} is missing; `lakatos domain new` writes an example"
    if place == "name" and error["type"] == "string_pattern_mismatch":
        return (
            f"name: {error['input']!r} is no name for a task; take 2 to 40 small letters, digits and underscores, "
            "a letter first"
        )
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def _keys_beside(parts: list[str]) -> list[str]:
    """Keys that may stand where an unknown one stands."""
    sections: dict[str, type[BaseModel]] = {
        "attributes": TaskAttribute,
        "comprehension": TaskQuestion,
        "space": TaskSpace,
        "feedback": TaskFeedback,
        "feedback.outcomes": OptionOutcome,
        "feedback.by_cue": OptionOutcome,
        "screens": TaskScreen,
        "plugin": TaskPlugin,
        "plugin.data": PluginField,
    }
    place = ".".join(parts[:2])
    place = place if place in sections and len(parts) > 2 else parts[0]
    section = sections.get(place if len(parts) > 1 else "", TaskDeclaration)
    return [field.alias or name for name, field in section.model_fields.items()]


def kinds() -> tuple[str, ...]:
    """Known kinds of attributes."""
    return get_args(Kind)


def as_shown(attribute: TaskAttribute, value: float) -> str:
    """A value as people read it: with its unit, in per cent, as a word."""
    if attribute.words:
        return attribute.words[int(np.clip(round(value), 0, len(attribute.words) - 1))]
    if attribute.kind == "probability":
        return f"{100 * value:.10g}%"
    if attribute.kind == "delay":
        if value == 0:
            return "now"
        return f"in {with_unit(value, attribute.unit or 'days')}"
    if attribute.kind == "rating" and not attribute.unit:
        return f"{value:.10g} of {attribute.highest:.10g}"
    return with_unit(value, attribute.unit)
