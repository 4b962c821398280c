"""What the page presents beside the picture of a trial: sounds and films, screens before the response, and a plugin.

A domain that has some of it has an attribute ``presentation``. The page presents the rest, records when each part was
shown, and stores nothing that the domain does not declare.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from lakatos.experiments.task import Stimuli
from lakatos.traces.digest import Digest, digest_bytes

Recorded: TypeAlias = float | str | bool | None
"""A value that a response brings beside the option chosen."""
LONGEST_MS: Final = 1e9
MOST_RECORDED: Final = 120
"""Values that one response brings."""
MOST_RECORDED_CHARACTERS: Final = 4000
"""Most characters of all texts that one response brings, so that a request stays small."""
LONGEST_FAILURE: Final = 200
FAILURE: Final = "failure"
"""Name of what failed to load in a step that was answered nevertheless, among recorded values."""
_MEDIUM = re.compile(r'data-medium="([0-9a-f]{64})" data-name="([a-z0-9_]+)"')
PREFIX: Final = "recorded."
"""Prefix of the name of a recorded value in tables."""


@dataclass(frozen=True)
class Medium:
    """A file that the page presents."""

    name: str
    """Name of the file in the declaration."""
    kind: str
    """Media type, such as ``audio/mpeg``."""
    data: bytes = field(repr=False)

    @cached_property
    def digest(self) -> Digest:
        """SHA-256 of the content, under which the page asks for it."""
        return digest_bytes(self.data)


@dataclass(frozen=True)
class Screen:
    """What is shown for a while before the options appear."""

    html: str
    duration_ms: float
    """0: until its media have ended."""


def is_unicode(text: str) -> bool:
    """Whether a text can be stored: browsers send a character that was cut in half as one half of a pair."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@dataclass(frozen=True)
class RecordedField:
    """A value that a response may bring, and its limits."""

    kind: Literal["number", "integer", "text", "boolean", "option"]
    meaning: str = ""
    least: float = -math.inf
    most: float = math.inf
    longest: int = 200
    """Characters of a text."""
    values: tuple[str, ...] = ()
    """Possible texts; any text if there are none."""
    optional: bool = False

    def read(self, value: Any) -> Recorded:
        """The value, if it is within the declared type and limits.

        Raises:
            ValueError: It is not; the message states what was declared.
        """
        if value is None and self.optional:
            return None
        if self.kind == "boolean" and isinstance(value, bool):
            return value
        if self.kind == "text" and isinstance(value, str):
            if not is_unicode(value):
                raise ValueError("holds half a character, which no text can store")
            if len(value) > self.longest:
                raise ValueError(f"has {len(value)} characters, more than {self.longest}")
            if self.values and value not in self.values:
                raise ValueError(f"is none of {', '.join(self.values)}")
            return value
        if self.kind in ("number", "integer") and type(value) in (int, float):
            if self.kind == "integer" and value != round(value):
                raise ValueError("is no whole number")
            if not self.least <= value <= self.most:
                raise ValueError(f"is {str(value)[:12]}, outside {self.least:g} to {self.most:g}")
            return float(value)
        raise ValueError(f"is no {self.kind}")


def read_recorded(
    fields: Mapping[str, RecordedField], given: Mapping[str, Any]
) -> dict[str, Recorded]:
    """Values that a response brings, in the order in which they are declared.

    Raises:
        ValueError: One is missing, unknown, or outside its limits.
    """
    if unknown := sorted(set(given) - set(fields)):
        raise ValueError(f"{unknown[0][:40]} is not declared")
    found: dict[str, Recorded] = {}
    for name, item in fields.items():
        if name not in given and not item.optional:
            raise ValueError(f"{name} is missing")
        try:
            found[name] = item.read(given.get(name))
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return found


@dataclass(frozen=True)
class PagePlugin:
    """A researcher's own jsPsych plugin."""

    script: str
    """Its JavaScript, one file."""
    class_name: str
    response: str
    """Field that holds the response: the label of an option, its number if options are numbers, or its place from 0
    among those offered."""
    time: str
    """Field that holds the response time in milliseconds."""
    fields: Mapping[str, RecordedField]
    trial: Callable[[Stimuli, int], dict[str, Any]] = field(compare=False)
    """Parameters of a trial; files by the digests of their content, in ``files``."""

    @property
    def digest(self) -> Digest:
        """SHA-256 of script and class, under which the page asks for its frame."""
        return digest_bytes(f"{self.class_name}\n{self.script}".encode())

    def read(
        self, given: Mapping[str, Any], labels: Sequence[str], available: Sequence[bool]
    ) -> tuple[int, float, dict[str, Recorded]]:
        """Option chosen, response time in milliseconds, and all other values.

        Args:
            given: Data with which the plugin finished the trial.
            labels: Of the options.
            available: Whether each can be chosen.

        Raises:
            ValueError: The data are outside the declared schema, or name no option that can be chosen.
        """
        others = {name: item for name, item in self.fields.items() if item.kind != "option"}
        if self.response not in given:
            raise ValueError(f"{self.response} is missing")
        found = read_recorded(others, {n: v for n, v in given.items() if n != self.response})
        offered = [place for place, free in enumerate(available) if free]
        chosen = place_of(given[self.response], [labels[place] for place in offered])
        if chosen is None:
            raise ValueError(f"{self.response} is no option of the trial")
        time_ms = found.pop(self.time)
        assert isinstance(time_ms, float)
        return offered[chosen], time_ms, found


def place_of(value: Any, labels: Sequence[str]) -> int | None:
    """Place of an option by its label, by its number if all labels start with numbers, else by the place itself."""
    if isinstance(value, str):
        return labels.index(value) if value in labels else None
    if type(value) not in (int, float):
        return None
    numbers = [re.match(r"-?\d+(?:\.\d+)?", label) for label in labels]
    known = [float(item[0]) if item else float(place) for place, item in enumerate(numbers)]
    if not all(numbers):
        known = [float(place) for place in range(len(labels))]
    return known.index(value) if value in known else None


@dataclass(frozen=True)
class Presentation:
    """What the page presents beside pictures, and what it may record of it."""

    media: Mapping[Digest, Medium]
    waits_for_end: bool
    """Whether a response is possible only after sounds and films have ended."""
    fields: Mapping[str, RecordedField]
    """Values that a response may bring, by name."""
    screens: Callable[[Stimuli, int], tuple[Screen, ...]] = field(compare=False)
    """Screens before the response to a trial."""
    picture: Callable[[Stimuli, int], str] = field(compare=False)
    """What is shown with the options: the picture without what a screen has shown."""
    words: tuple[str, ...] = ()
    """The same in sentences, for the preregistration."""
    plugin: PagePlugin | None = None


@runtime_checkable
class HasPresentation(Protocol):
    """A domain whose trials may present more than a picture."""

    @property
    def presentation(self) -> Presentation | None:
        """None if a trial is a picture with options, as in most tasks."""


def presentation_of(domain: object) -> Presentation | None:
    """What a domain presents beside the pictures of its trials; None if there is nothing."""
    return domain.presentation if isinstance(domain, HasPresentation) else None


def media_in(html: str) -> list[tuple[Digest, str]]:
    """Digest and name of each medium that a text places, in order."""
    return [(found[1], found[2]) for found in _MEDIUM.finditer(html)]


def screen_fields(n_screens: int) -> dict[str, RecordedField]:
    """Times that the page records for screens."""
    ends = {"onset": "appeared", "offset": "disappeared"}
    return {
        f"screen_{place}_{end}_ms": _time(f"screen {place} {words}")
        for place in range(1, n_screens + 1)
        for end, words in ends.items()
    }


def medium_fields(name: str) -> dict[str, RecordedField]:
    """Times that the page records for a sound or film."""
    events = {
        "ready": "could be played without a break",
        "start": "began to play",
        "end": "ended",
    }
    load = RecordedField(
        "number",
        f"milliseconds in which the file of {name} was loaded",
        0,
        LONGEST_MS,
        optional=True,
    )
    return {f"{name}_load_ms": load} | {
        f"{name}_{event}_ms": _time(f"{name} {words}") for event, words in events.items()
    }


def _time(words: str) -> RecordedField:
    meaning = f"milliseconds from the beginning of the task until {words}, by the browser's clock"
    return RecordedField("number", meaning, 0, LONGEST_MS, optional=True)


def csp_hash(script: str) -> str:
    """The source expression that admits one inline script by its content."""
    import base64

    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
