"""What one person did in one experiment, as a collector hands it over, and the pseudonym it is filed under."""

from __future__ import annotations

import hashlib
import hmac
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, get_args

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.presentation import Recorded
from lakatos.traces.digest import canonical_json

Status = Literal["completed", "partial", "stopped", "returned", "timed_out", "screened_out"]
"""``partial``: no answer came any more. ``stopped``: the person stopped and let the answers be used. ``returned``: the
person stopped and took the answers back."""
LOOK_AHEAD: Final = 4
"""Steps that a page holds beyond the one shown, so that a lost connection is not felt at once."""
LANGUAGE_MODEL: Final = "language_model"
"""Name of the source if a language model responded in place of participants."""
STATUSES: tuple[Status, ...] = get_args(Status)
LeftOut = Literal["no_answer", "too_early", "too_late", "impossible"]
"""Why a trial whose answer is a key with its time has no outcome. ``impossible``: the server's clock contradicts the
time. ``no_answer``: no key was pressed in time."""


@dataclass(frozen=True)
class LeftOutPress:
    """A trial that was shown and has no outcome, in a task whose responses are keys with their times."""

    position: int
    """Among all trials that the person saw, from 1."""
    trial: int
    """Row of the design's stimuli."""
    key: int | None
    """Place of the key pressed; None where none was."""
    time_ms: float
    interval_ms: float | None
    """Interval by the server's clock."""
    reason: LeftOut

    def __post_init__(self) -> None:
        counted = (self.position, self.trial, self.key or 0)
        times = (self.time_ms, self.interval_ms or 0.0)
        fine = all(number >= 0 for number in counted) and self.reason in get_args(LeftOut)
        if not fine or any(not math.isfinite(time) or time < 0 for time in times):
            raise TrialsError(
                f"a person's answers: {self} cannot be; count from 0, give milliseconds, and one of the reasons "
                f"{', '.join(get_args(LeftOut))}."
            )

    @classmethod
    def from_json(cls, value: Any) -> LeftOutPress:
        """Read one from plain values, strictly."""
        names = [item.name for item in fields(cls)]
        if not isinstance(value, Mapping) or set(value) != set(names):
            raise TrialsError(
                f"a person's answers: 'left_out' is a list of objects with {', '.join(names)}."
            )
        key, interval = value["key"], value["interval_ms"]
        return cls(
            position=_typed("position", value["position"], int),
            trial=_typed("trial", value["trial"], int),
            key=None if key is None else _typed("key", key, int),
            time_ms=_typed("time_ms", value["time_ms"], float),
            interval_ms=None if interval is None else _typed("interval_ms", interval, float),
            reason=_typed("reason", value["reason"], str),
        )


@dataclass(frozen=True)
class PersonAnswers:
    """What one person did in one experiment, as a collector leaves it in the inbox: one batch a person.

    Raises:
        TrialsError: The parts do not fit each other, or a number cannot be what it is said to be.
    """

    experiment: str
    person: str
    """Keyed pseudonym (hexadecimal); never an identifier of a recruitment service."""
    status: Status
    trial: tuple[int, ...]
    """Rows of the design's stimuli in the order shown."""
    response: tuple[int, ...]
    """Place of the option chosen, 0-based, as in the design."""
    response_time_ms: tuple[float, ...]
    """One for each response; empty where times are not known."""
    feedback: Mapping[str, tuple[float, ...]]
    """What followed each response, where something did."""
    checks: tuple[bool, ...]
    """Attention checks, passed or not, in order."""
    comprehension_attempts: int
    consent: str
    """Digest of the consent text that was agreed to; empty when not asked."""
    language: str
    """Language of the page, for example ``en``."""
    source: str
    """Source that collected the responses: ``web``, ``prolific``, ``file``, ``language_model``, ..."""
    server_time_ms: tuple[float, ...] = ()
    """For each response, by the server's clock: the time from the arrival of the response before it (for the first one,
    from the beginning of the task) to its own; empty where no server saw them arrive."""
    replies: Mapping[str, Any] = field(default_factory=dict)
    """To questions about the person, by name: a number, a text, a list of places, or None where one was left out."""
    onset_ms: tuple[float, ...] = ()
    """For each response, by the browser's clock: when its trial appeared, since the task began."""
    focus_losses: tuple[int, ...] = ()
    """For each response: how often the page was left between the response before and this one, where it was noted."""
    away_ms: tuple[float, ...] = ()
    """For each response: for how long, in all."""
    missed: tuple[int, ...] = ()
    """Rows of trials that were shown and not answered in time, in order; they are no responses."""
    condition: str = ""
    """Condition of the participant; empty without conditions."""
    visit: Mapping[str, Any] = field(default_factory=dict)
    """What was noted of device and hour, where it was: words, and whole numbers."""
    key: tuple[int, ...] = ()
    """For each response, where it is a key with its time: the place of the key pressed. ``response`` is then the
    outcome that key and time are; see `experiments.participants.timed_answer.outcome_of`."""
    interval_ms: tuple[float | None, ...] = ()
    """For each such response, by the server's clock: from the report that its target appeared to its arrival;
    None where no report came."""
    recorded: Mapping[str, tuple[Recorded, ...]] = field(default_factory=dict)
    """For each response, by name: times of what was presented, or values of a plugin; None where one is missing."""
    failures: tuple[tuple[int, str], ...] = ()
    """Trials of which something failed to load, with what it was. They are also among ``missed``, or were answered in
    words where a step could not be skipped."""
    left_out: tuple[LeftOutPress, ...] = ()
    """Trials of such a task that were shown and have no outcome, with why; their rows are also among ``missed``."""

    def __post_init__(self) -> None:
        n_answers = len(self.trial)
        columns = {
            "response": self.response,
            **{f"feedback {name!r}": row for name, row in self.feedback.items()},
            **{f"recorded {name!r}": row for name, row in self.recorded.items()},
        }
        times = {name: getattr(self, name) for name in (*_TIMES, "key", "interval_ms")}
        columns |= {name: column for name, column in times.items() if column}
        for name, column in columns.items():
            if len(column) != n_answers:
                self._refuse(
                    f"has {n_answers} trials and {len(column)} entries of {name}; give one for each trial"
                )
        if not self.experiment or not self.person:
            self._refuse("names no experiment or no person; give both")
        if self.status not in STATUSES:
            self._refuse(f"has the status {self.status!r}; give one of {', '.join(STATUSES)}")
        if self.left_out and self.missed != tuple(item.trial for item in self.left_out):
            self._refuse(
                "leaves out other trials than it missed; give the rows of both in one order"
            )
        if Counter(trial for trial, _ in self.failures) - Counter((*self.missed, *self.trial)):
            self._refuse("has failures of trials that were not presented; list those presented")
        self._check_numbers(
            [value for column in times.values() for value in column if value is not None]
        )

    @property
    def chosen(self) -> tuple[int, ...]:
        """What was chosen, in order: the keys pressed where responses are keys with their times, else the options."""
        return self.key if self.key else self.response

    @property
    def all_chosen(self) -> tuple[int, ...]:
        """What was chosen, with the keys of responses that were left out."""
        return (*self.chosen, *(item.key for item in self.left_out if item.key is not None))

    @property
    def all_times_ms(self) -> tuple[float, ...]:
        """Response times, with those of responses that were left out."""
        return (
            *self.response_time_ms,
            *(item.time_ms for item in self.left_out if item.key is not None),
        )

    def _check_numbers(self, durations: Sequence[float]) -> None:
        counted = (*self.trial, *self.response, *self.missed, *self.focus_losses)
        if any(number < 0 for number in counted) or self.comprehension_attempts < 0:
            self._refuse("holds a negative trial, response or number of attempts; count from 0")
        if any(not math.isfinite(value) or value < 0 for value in durations):
            self._refuse(
                "holds a response time that is negative or no number; give milliseconds, or no times at all"
            )
        if any(not math.isfinite(value) for column in self.feedback.values() for value in column):
            self._refuse("holds feedback that is no finite number; give what followed each answer")

    def _refuse(self, words: str) -> None:
        raise TrialsError(f"{self.experiment}: person {self.person[:12]!r} {words}.")

    def to_json(self) -> dict[str, Any]:
        """Plain lists, for the inbox and for artifacts."""
        value = {item.name: getattr(self, item.name) for item in fields(self)}
        for name in OPTIONAL:
            if not value[name]:
                del value[name]
        lists = {name: list(column) for name, column in value.items() if isinstance(column, tuple)}
        if self.left_out:
            lists["left_out"] = [asdict(item) for item in self.left_out]
        if self.failures:
            lists["failures"] = [list(item) for item in self.failures]
        recorded = {name: list(column) for name, column in sorted(self.recorded.items())}
        return (
            value
            | lists
            | {"feedback": {name: list(column) for name, column in sorted(self.feedback.items())}}
            | ({"recorded": recorded} if recorded else {})
        )

    @classmethod
    def from_json(cls, value: Any) -> PersonAnswers:
        """Inverse of `to_json`, strict: every key, no other, each of its own type.

        Raises:
            TrialsError: Something is missing, unknown or of another type; the message names it.
        """
        names = {item.name for item in fields(cls)}
        if not isinstance(value, Mapping):
            raise TrialsError(f"a person's answers are a JSON object, not {type(value).__name__}.")
        problems = [
            *(f"lacks {name!r}" for name in sorted(names - OPTIONAL - set(value))),
            *(f"has an unknown key {name!r}" for name in sorted(set(map(str, value)) - names)),
        ]
        if problems:
            raise TrialsError(
                f"a person's answers {problems[0]}; the keys are {', '.join(sorted(names))}."
            )
        if not isinstance(value["feedback"], Mapping):
            raise TrialsError("a person's answers: 'feedback' is an object of lists, by name.")
        return cls(
            **{name: _typed(name, value[name], str) for name in _TEXTS},
            status=_typed("status", value["status"], str),
            trial=_column("trial", value["trial"], int),
            response=_column("response", value["response"], int),
            response_time_ms=_column("response_time_ms", value["response_time_ms"], float),
            server_time_ms=_column("server_time_ms", value.get("server_time_ms", ()), float),
            onset_ms=_column("onset_ms", value.get("onset_ms", ()), float),
            focus_losses=_column("focus_losses", value.get("focus_losses", ()), int),
            away_ms=_column("away_ms", value.get("away_ms", ()), float),
            missed=_column("missed", value.get("missed", ()), int),
            key=_column("key", value.get("key", ()), int),
            interval_ms=_column("interval_ms", value.get("interval_ms", ()), float, or_none=True),
            left_out=_left_out(value.get("left_out", ())),
            recorded=_recorded(value.get("recorded", {})),
            failures=_failures(value.get("failures", ())),
            condition=_typed("condition", value.get("condition", ""), str),
            visit=_facts(value.get("visit", {})),
            replies=_replies(value.get("replies", {})),
            feedback={
                str(name): _column(f"feedback {name!r}", column, float)
                for name, column in value["feedback"].items()
            },
            checks=_column("checks", value["checks"], bool),
            comprehension_attempts=_typed(
                "comprehension_attempts", value["comprehension_attempts"], int
            ),
        )


_TIMES: Final = ("response_time_ms", "server_time_ms", "onset_ms", "focus_losses", "away_ms")
"""One number for each response, or none at all."""
OPTIONAL: Final = frozenset(
    {
        *_TIMES[1:],
        "missed",
        "replies",
        "condition",
        "visit",
        "key",
        "interval_ms",
        "left_out",
        "recorded",
        "failures",
    }
)
"""Keys of `PersonAnswers.to_json` that are left out where they hold nothing."""
_TEXTS = ("experiment", "person", "consent", "language", "source")


def _replies(value: Any) -> dict[str, Any]:
    """Responses to questions about the person: plain values by name."""

    def plain(item: Any) -> bool:
        return item is None or type(item) in (int, float, str)

    if not isinstance(value, Mapping):
        raise TrialsError("a person's answers: 'replies' is an object of answers, by name.")
    for name, item in value.items():
        whole = isinstance(item, list) and all(type(place) is int for place in item)
        if not (plain(item) or whole):
            raise TrialsError(
                f"a person's answers: the reply {str(name)!r} holds {item!r}; give a number, a text, a list of whole "
                "numbers, or null."
            )
    return {str(name): item for name, item in sorted(value.items())}


def _recorded(value: Any) -> dict[str, tuple[Recorded, ...]]:
    """Values that responses brought: lists of plain values by name."""
    plain = (int, float, str, bool, type(None))
    if not isinstance(value, Mapping) or not all(
        isinstance(column, list | tuple) and all(type(item) in plain for item in column)
        for column in value.values()
    ):
        raise TrialsError("a person's answers: 'recorded' is an object of lists of plain values.")
    if any(
        type(item) is float and not math.isfinite(item)
        for column in value.values()
        for item in column
    ):
        raise TrialsError("a person's answers: 'recorded' holds a number that is not finite.")
    return {str(name): tuple(column) for name, column in sorted(value.items())}


def _failures(value: Any) -> tuple[tuple[int, str], ...]:
    """Trials that failed to load, with what failed."""
    if not isinstance(value, list | tuple) or not all(
        isinstance(item, list | tuple) and [type(part) for part in item] == [int, str]
        for item in value
    ):
        raise TrialsError(
            "a person's answers: 'failures' is a list of pairs of a trial and a text."
        )
    return tuple((trial, words) for trial, words in value)


def _facts(value: Any) -> dict[str, Any]:
    """What was noted of a visit: texts and whole numbers by name."""
    if not isinstance(value, Mapping) or any(
        type(item) not in (int, str) for item in value.values()
    ):
        raise TrialsError("a person's answers: 'visit' is an object of texts and whole numbers.")
    return {str(name): item for name, item in sorted(value.items())}


def _typed(name: str, value: Any, kind: type) -> Any:
    fits = (
        type(value) in (int, float) if kind is float else type(value) is kind
    )  # True is no number here
    if not fits:
        raise TrialsError(f"a person's answers: {name} holds {value!r}; give {_WORDS[kind]}.")
    return kind(value)


_WORDS = {str: "text", int: "whole numbers", float: "numbers", bool: "true or false"}


def _column(name: str, value: Any, kind: type, *, or_none: bool = False) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise TrialsError(f"a person's answers: {name!r} is a list, not {type(value).__name__}.")
    return tuple(
        None if or_none and item is None else _typed(repr(name), item, kind) for item in value
    )


def _left_out(value: Any) -> tuple[LeftOutPress, ...]:
    if not isinstance(value, list | tuple):
        raise TrialsError(f"a person's answers: 'left_out' is a list, not {type(value).__name__}.")
    return tuple(map(LeftOutPress.from_json, value))


def pseudonym(key: bytes, *parts: str) -> str:
    """Name of a person that only the holder of ``key`` can find again: HMAC-SHA-256 of ``parts``, hexadecimal.

    Args:
        key: 32 random bytes, kept beside the run and never in it.
        parts: What identifies the person, such as the recruitment service and its identifier.

    Raises:
        ValueError: The key is short enough to be guessed.

    References:
        Krawczyk, Bellare & Canetti (1997), HMAC: Keyed-hashing for message authentication, RFC 2104.
    """
    if len(key) < 32:
        raise ValueError(
            f"the key of pseudonyms has {len(key)} bytes; make one of 32 random bytes."
        )
    return hmac.new(key, canonical_json(list(parts)), hashlib.sha256).hexdigest()
