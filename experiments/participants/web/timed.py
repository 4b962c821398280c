"""Tasks on the page whose responses are keys with their times, and the page's words about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from lakatos.experiments.participants.timed_answer import OffGrid, TimedTask, timed_task
from lakatos.experiments.task import Design, Domain, Stimuli

LEAST_FIXATION_MS: Final = 200.0
"""Shortest fixation before a target, so that a press for the trial before is over and participants know when to
look."""


class TimedAnswers(BaseModel):
    """Presentation of trials whose responses are keys with response times."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    figures: Literal["", "large_letters", "small_letters", "colour_words", "arrows"] = ""
    """Figures of the trials; by default letters if trials have levels, otherwise arrows."""
    off_grid: OffGrid = "left_out"
    """Treatment of responses faster than the first time bin or slower than the last."""
    feedback: Literal["none", "practice", "all"] = "practice"
    """Trials after which participants are informed whether they were correct."""

    def __bool__(self) -> bool:
        """Whether anything differs from what is usual."""
        return self != TimedAnswers()

    def words(self, task: TimedTask) -> tuple[str, ...]:
        """State how trials are presented, for the preregistration."""
        texts = {
            "none": "Participants receive no feedback.",
            "practice": "Participants receive feedback about accuracy after practice trials only.",
            "all": "Participants receive feedback about accuracy after each trial.",
        }[self.feedback]
        return (
            "Response times are measured by the browser, from the frame in which the target was painted to the key "
            "press; the interval measured by the server is stored beside each.",
            texts,
            "The order of trials is random for each participant; earlier trials are not part of a trial.",
        )


def grid_words(task: TimedTask, off_grid: OffGrid) -> str:
    """State what becomes of times that no bin has, for the preregistration."""
    first, last = task.scale.edges[0], task.scale.edges[-1]
    outside = {
        "left_out": "are left out, as are trials without a response",
        "nearest_bin": "count in the first or the last bin; trials without a response are left out",
    }[off_grid]
    return (
        f"Responses faster than {first:g} s or slower than {last:g} s {outside}. Responses whose time the server's "
        "clock contradicts are left out."
    )


def check_timed(
    domain: Domain,
    *,
    timed: TimedAnswers,
    checks: int,
    fixation_ms: float,
    timeouts_ms: Sequence[float],
) -> None:
    """Raise `ValueError` where the page cannot give a domain's trials so; other domains have no such settings."""
    task = timed_task(domain)
    if task is None:
        if timed:
            raise ValueError(
                f"page.timed: answers of the {domain.name} domain are no keys with times; leave it out"
            )
        return
    if checks:
        raise ValueError(
            f"page.checks is {checks}: a sentence to be read would spoil the times of the {domain.name} domain; give 0"
        )
    if fixation_ms < LEAST_FIXATION_MS:
        raise ValueError(
            f"page.fixation_ms is {fixation_ms:g}: a target of the {domain.name} domain needs a cross before it; give "
            f"at least {LEAST_FIXATION_MS:g}"
        )
    last_ms = 1000 * task.scale.edges[-1]
    for timeout_ms in timeouts_ms:
        if 0 < timeout_ms < last_ms:
            raise ValueError(
                f"page.timeout_ms is {timeout_ms:g}, and the last bin of time ends at {last_ms:g} ms; give that or more"
            )


def check_timed_trials(domain: Domain, stimuli: Stimuli, timed: TimedAnswers) -> None:
    """Raise `ValueError` where people on the page cannot be given trials, or the sides would tell the response."""
    task = timed_task(domain)
    if task is None:
        return
    if task.tells_of_past(stimuli).any():
        raise ValueError(
            "space.past: what happened before a trial is brought about by the person, and the page cannot ask for it; "
            "give `past = false`"
        )
    known = task.figures(stimuli)
    if timed.figures and timed.figures not in known:
        raise ValueError(
            f"page.timed.figures: these trials cannot be drawn as {timed.figures}; give {' or '.join(known)}"
        )
    right, condition = task.right_keys(stimuli), task.conditions(stimuli)
    times = np.zeros((condition.max() + 1, task.n_keys(stimuli)), dtype=np.int64)
    np.add.at(times, (condition, right), 1)
    if (times != times[:, :1]).any():
        raise ValueError(
            "design.sides: not every key is correct equally often in each condition, so that keys "
            "reveal conditions; give "
            '`sides = "both"`, an even number of repetitions, and as many `trials` as there are'
        )


def figures_of(domain: Domain, design: Design, timed: TimedAnswers) -> str:
    """Describe how a design's trials are drawn; empty where responses are not timed."""
    task = timed_task(domain)
    return "" if task is None else timed.figures or task.figures(design.stimuli)[0]


def timed_words(texts: Mapping[str, Any], figures: str, n_keys: int) -> dict[str, Any]:
    """A domain's texts as people read them who see trials drawn in one way, with so many keys."""
    own = texts.get("figures", {}).get(figures, {})
    read = {name: part for name, part in {**texts, **own}.items() if name != "figures"}
    left, *_, right = read["options"]
    return read | ({"options": [left, right]} if n_keys == 2 else {})


def practice_of(
    task: TimedTask, stimuli: Stimuli, n_trials: int, rng: np.random.Generator
) -> Stimuli:
    """Trials for practice: of the same kind as those that count, each equally often as far as that goes."""
    rows = np.resize(rng.permutation(len(stimuli)), n_trials)
    return stimuli.take(rng.permutation(rows))
