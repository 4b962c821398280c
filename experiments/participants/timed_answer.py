"""A choice with its time: from the key pressed and the time measured to one outcome of the task's grid.

What was measured is kept as it is, and everything that needs an outcome gets it from `outcome_of`: the page, imported
files and simulated people. So sessions, tables of responses and exports cannot disagree about one response.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import AnswerScale, scale_of
from lakatos.experiments.participants.answers import LeftOut, LeftOutPress, PersonAnswers
from lakatos.experiments.task import Domain, Stimuli

Array = NDArray[Any]
OffGrid = Literal["left_out", "nearest_bin"]
"""Treatment of a response that is faster than the grid's first bin or slower than its last one."""
RIGHT, WRONG = 0, 1
"""Places of the options of such a task's scale."""


@runtime_checkable
class TimedTask(Protocol):
    """A domain in which people press one of several keys as fast as they can, and one of them is right."""

    name: str
    scale: AnswerScale
    """Scale of the responses, whose options are ``right`` and ``wrong``."""

    def n_keys(self, stimuli: Stimuli) -> int:
        """Keys that there are, in each of these trials."""

    def right_keys(self, stimuli: Stimuli) -> Array:
        """``(n_trials,)`` place of the right key, from the left and from 0."""

    def conditions(self, stimuli: Stimuli) -> Array:
        """``(n_trials,)`` a number for each condition; trials that differ only in which key is right have the same."""

    def tells_of_past(self, stimuli: Stimuli) -> Array:
        """``(n_trials,)`` whether a trial says what happened before it, which people bring about themselves."""

    def figures(self, stimuli: Stimuli) -> tuple[str, ...]:
        """Names of the ways in which these trials can be drawn, the usual one first."""

    def figure(self, stimuli: Stimuli, row: int, name: str) -> str:
        """One trial drawn in one of these ways: a fragment of HTML as of `Domain.picture`."""


def timed_task(domain: Domain) -> TimedTask | None:
    """The domain where its responses are keys with their times; None for all others."""
    scale = scale_of(domain)
    is_timed = scale is not None and scale.kind == "timed"
    return domain if is_timed and isinstance(domain, TimedTask) else None


@dataclass(frozen=True)
class TimedPress:
    """Measurements of one trial."""

    trial: int
    """Row of the stimuli."""
    key: int | None
    """Place of the key pressed, from 0; None where none was."""
    time_ms: float
    """Time from the target's appearance to the key, by the clock of the page or program that showed it."""
    interval_ms: float | None = None
    """The same by the server's clock: from the report that the target appeared to the arrival of a response, if any."""
    possible: bool = True
    """Whether so much time can have passed, as the server's clock says."""


def outcome_of(
    task: TimedTask, stimuli: Stimuli, press: TimedPress, off_grid: OffGrid
) -> int | LeftOut:
    """The outcome that a response is, or why it is none.

    Args:
        task: Task whose grid it is.
        stimuli: Stimuli of the design.
        press: What was measured.
        off_grid: What becomes of times that no bin has.
    """
    if press.key is None:
        return "no_answer"
    if not press.possible:
        return "impossible"
    first, last = task.scale.edges[0], task.scale.edges[-1]
    time_s = press.time_ms / 1000
    if off_grid == "left_out" and not first <= time_s <= last:
        return "too_early" if time_s < first else "too_late"
    is_right = press.key == task.right_keys(stimuli.take([press.trial]))[0]
    option = RIGHT if is_right else WRONG
    return int(task.scale.outcomes_of([min(max(time_s, first), last)], [option])[0])


def timed_columns(
    task: TimedTask, stimuli: Stimuli, presses: Sequence[TimedPress], off_grid: OffGrid
) -> dict[str, Any]:
    """Convert presses to arguments of `PersonAnswers`: responses that are outcomes, and why others are excluded."""
    found = [outcome_of(task, stimuli, press, off_grid) for press in presses]
    kept = [
        (press, outcome)
        for press, outcome in zip(presses, found, strict=True)
        if isinstance(outcome, int)
    ]
    left_out = [
        LeftOutPress(position, press.trial, press.key, press.time_ms, press.interval_ms, reason)
        for position, (press, reason) in enumerate(zip(presses, found, strict=True), start=1)
        if not isinstance(reason, int)
    ]
    intervals = tuple(press.interval_ms for press, _ in kept)
    return {
        "trial": tuple(press.trial for press, _ in kept),
        "response": tuple(outcome for _, outcome in kept),
        "key": tuple(press.key for press, _ in kept),
        "response_time_ms": tuple(press.time_ms for press, _ in kept),
        "interval_ms": intervals if any(known is not None for known in intervals) else (),
        "missed": tuple(item.trial for item in left_out),
        "left_out": tuple(left_out),
    }


def is_outcome(task: TimedTask, stimuli: Stimuli, answers: PersonAnswers, place: int) -> bool:
    """Whether a response's key, time and outcome agree, with times off the grid in the nearest bin or not."""
    press = TimedPress(answers.trial[place], answers.key[place], answers.response_time_ms[place])
    return outcome_of(task, stimuli, press, "nearest_bin") == answers.response[place]


def draw_presses(
    task: TimedTask, stimuli: Stimuli, rows: Array, outcomes: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Keys and times that are given outcomes: a time anywhere in the bin, and any of the wrong keys.

    Args:
        task: Task whose grid it is.
        stimuli: Stimuli that ``rows`` are rows of.
        rows: Trials, in any shape.
        outcomes: One for each.
        rng: Decides.

    Returns:
        Places of the keys, and times in milliseconds.
    """
    edges = np.array(task.scale.edges)
    n_keys = task.n_keys(stimuli)
    option, place = np.divmod(outcomes, len(edges) - 1)
    right = task.right_keys(stimuli)[rows]
    wrong = (right + rng.integers(1, n_keys, size=right.shape)) % n_keys
    time_s = edges[place] + rng.random(right.shape) * (edges[place + 1] - edges[place])
    return np.where(option == RIGHT, right, wrong), np.round(1000 * time_s, 1)


CLOCKS_DIFFER_MS: Final = 100.0
"""Largest difference between a browser's clock and the server's interval before they count as disagreeing."""


def n_choices(domain: Domain, stimuli: Stimuli) -> int:
    """Return the number of options that participants choose among: keys, where responses are keys with their times."""
    task = timed_task(domain)
    return domain.n_options(stimuli) if task is None else task.n_keys(stimuli)
