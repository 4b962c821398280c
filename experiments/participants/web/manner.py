"""Manner in which people are given trials on the page: practice, conditions that divide people, facts of a visit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.participants.timed_answer import timed_task
from lakatos.experiments.participants.web.timed import practice_of
from lakatos.experiments.planning.settings import CONDITION_NAME
from lakatos.experiments.proposal import are_forbidden
from lakatos.experiments.task import Design, Domain, Stimuli, identities, with_random_sides

MOST_PRACTICE = 100
"""Trials of practice."""
MOST_CONDITIONS = 20
"""Conditions that divide people."""
SHORTEST_TIMEOUT_MS = 500.0
"""Shortest time limit: no participant can choose in less; the page takes nothing within the first 200 ms."""
LONGEST_FIXATION_MS = 10_000.0
WITHIN_KEYS: Final = ("heading", "label")
"""Keys of conditions within participants."""
VisitFact = Literal["focus", "device", "hour"]
"""What a study may have noted of a visit beside responses and times; people read of it before they agree."""


class PracticeTrials(BaseModel):
    """Practice trials, which are not analysed."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    trials: int = Field(0, ge=0, le=MOST_PRACTICE)
    """Number of random trials of the space that this experiment does not present; 0 for none."""
    own: dict[str, list[Any]] = {}
    """Trials of your own instead, as arrays laid out as in ``design.proposed``."""
    right: tuple[int, ...] = ()
    """For trials of your own, the place of the correct option, from 0; participants then receive
    feedback."""

    @model_validator(mode="after")
    def _one_kind(self) -> PracticeTrials:
        if self.trials and self.own:
            raise ValueError("page.practice: give a number of trials, or trials of your own")
        lengths = {len(rows) for rows in self.own.values()}
        if len(lengths) > 1 or max(lengths, default=0) > MOST_PRACTICE:
            raise ValueError(
                f"page.practice.own: give every array one row a trial, at most {MOST_PRACTICE}"
            )
        if self.right and lengths != {len(self.right)}:
            raise ValueError(
                "page.practice.right: give the place of the right option for each of your own trials"
            )
        if any(place < 0 for place in self.right):
            raise ValueError("page.practice.right: places of options are counted from 0")
        return self

    def __bool__(self) -> bool:
        """Whether there is any practice."""
        return bool(self.trials or self.own)


class PageCondition(BaseModel):
    """Settings of one condition; everything else is the same for all.

    Conditions that ``design.conditions`` names are within participants: each participant goes through all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    share: float = Field(1.0, gt=0, le=1000)
    """Relative share of participants."""
    instructions: tuple[str, ...] | dict[str, tuple[str, ...]] = ()
    """Paragraphs shown after the general instructions, or (within participants) before each block;
    for all languages, or by language."""
    heading: str | dict[str, str] = ""
    """Within participants: heading of these paragraphs."""
    label: str | dict[str, str] = ""
    """Within participants: line above each trial of the condition; none by default."""
    texts: dict[str, dict[str, Any]] = {}
    """Texts in place of the study's own, by language; not the consent text, which is shown
    before."""
    timeout_ms: float | None = Field(None, ge=0, le=1e6)
    """In place of the page's own time limit."""
    fixation_ms: float | None = Field(None, ge=0, le=LONGEST_FIXATION_MS)
    """In place of the page's own fixation time."""

    @model_serializer(mode="wrap")
    def _without_later_keys(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Keys of later versions are written only where they are used, so that earlier studies stay what they were."""
        value: dict[str, Any] = write(self)
        return {key: item for key, item in value.items() if key not in WITHIN_KEYS or item}

    @model_validator(mode="after")
    def _after_consent(self) -> PageCondition:
        if any("consent" in part for part in self.texts.values()):
            raise ValueError(
                "page.conditions: the consent is read before anybody has a condition; it is the same for all"
            )
        _check_timeout(self.timeout_ms or 0.0)
        return self

    def line(self, key: Literal["heading", "label"], language: str, first: str) -> str:
        """A line in a language or in the one shown first; empty without one."""
        given = self.heading if key == "heading" else self.label
        return (given.get(language) or given.get(first, "")) if isinstance(given, dict) else given

    def paragraphs(self, language: str, first: str) -> list[str]:
        """Return what these people read after the instructions, in a language or in the one shown first."""
        if isinstance(self.instructions, dict):
            return list(self.instructions.get(language) or self.instructions.get(first, ()))
        return list(self.instructions)


def _check_timeout(timeout_ms: float) -> None:
    if 0 < timeout_ms < SHORTEST_TIMEOUT_MS:
        raise ValueError(
            f"timeout_ms is {timeout_ms:g}; give at least {SHORTEST_TIMEOUT_MS:g}, or 0 for no limit"
        )


def check_manner(
    *,
    keys: Sequence[str],
    timeout_ms: float,
    conditions: Mapping[str, PageCondition],
    language: str,
) -> None:
    """Raise `ValueError` where what a study says of keys, timeouts and conditions cannot be done."""
    _check_timeout(timeout_ms)
    wrong = [key for key in keys if len(key) != 1 or not key.isprintable() or key.isspace()]
    if wrong:
        raise ValueError(f"page.keys: {wrong[0]!r} is no key; give one character for each option")
    if len({key.lower() for key in keys}) < len(keys):
        raise ValueError("page.keys: two options have one key; give each its own")
    if len(conditions) == 1 or len(conditions) > MOST_CONDITIONS:
        raise ValueError(
            f"page.conditions: give 2 to {MOST_CONDITIONS} of them, or none; people of one condition are all alike"
        )
    for name, condition in conditions.items():
        if not re.fullmatch(CONDITION_NAME, name):
            raise ValueError(
                f"page.conditions: {name!r} is no name; begin with a small letter, then letters, digits and _"
            )
        for key in ("instructions", *WITHIN_KEYS):
            given = getattr(condition, key)
            if isinstance(given, dict) and language not in given:
                raise ValueError(
                    f"page.conditions.{name}: there is no {key} in {language!r}, which the page shows first"
                )


def check_within(names: Sequence[str], conditions: Mapping[str, PageCondition]) -> None:
    """Raise `ValueError` where what a study says of conditions does not fit those within participants.

    Args:
        names: Names of ``design.conditions``.
        conditions: Conditions of ``page.conditions``.
    """
    for name, condition in conditions.items():
        only_within = [key for key in WITHIN_KEYS if getattr(condition, key)]
        if only_within and not names:
            raise ValueError(
                f"page.conditions.{name}.{only_within[0]} means nothing between participants; name the conditions in "
                "design.conditions too, or put it into instructions"
            )
        if names and name not in names:
            raise ValueError(
                f"page.conditions.{name}: there is no such condition within participants; design.conditions has "
                f"{', '.join(names)}"
            )
        if names and (condition.texts or condition.share != 1):
            key = "texts" if condition.texts else "share"
            raise ValueError(
                f"page.conditions.{name}.{key} means nothing within participants, who go through all conditions; "
                "use instructions, heading and label"
            )
    if names and set(conditions) != set(names):
        missing = next(name for name in names if name not in conditions)
        raise ValueError(
            f"page.conditions: design.conditions has {missing!r}, and nothing says what participants see there; give "
            f"page.conditions.{missing}"
        )


def check_for_task(
    domain: Domain,
    n_options: int,
    *,
    keys: Sequence[str],
    timeouts_ms: Sequence[float],
    practice: PracticeTrials,
    slider: bool,
) -> None:
    """Raise `ValueError` where a task cannot be given so."""
    scale = scale_of(domain)
    if slider and (scale is None or scale.options):
        raise ValueError(
            f"page.slider: answers of the {domain.name} domain are no numbers; leave it out"
        )
    if slider and keys:
        raise ValueError("page.keys: a slider is moved by the arrows; leave one of the two out")
    if domain.sequential and any(timeouts_ms):
        raise ValueError(
            "page.timeout_ms: in a task in which something follows each choice, a step without a choice has no sequel; "
            "leave it out"
        )
    if keys and len(keys) != n_options:
        raise ValueError(
            f"page.keys: there are {len(keys)} keys for {n_options} options; give one for each"
        )
    _check_practice(domain, n_options, practice)


def _check_practice(domain: Domain, n_options: int, practice: PracticeTrials) -> None:
    if any(place >= n_options for place in practice.right):
        raise ValueError(
            f"page.practice.right: there are {n_options} options, 0 to {n_options - 1}"
        )
    if not practice.own:
        return
    if domain.sequential:
        raise ValueError(
            "page.practice.own: steps of a schedule hang together; give a number of trials instead"
        )
    try:
        domain.check(Stimuli.from_json(practice.own))
    except (StimuliError, KeyError, ValueError) as error:
        raise ValueError(f"page.practice.own: {error}") from None


def practice_stimuli(
    practice: PracticeTrials,
    domain: Domain,
    space: Mapping[str, Any],
    design: Design,
    rng: np.random.Generator,
    forbidden: Sequence[str] = (),
) -> Stimuli | None:
    """Trials for practice, none of which the design asks or the study forbids; None where there are none."""
    if practice.own:
        return Stimuli.from_json(practice.own)
    if not practice.trials:
        return None
    if domain.sequential:
        return _whole_trials(domain.candidates(space, rng, len(design.stimuli)), practice.trials)
    task = timed_task(domain)
    if task is not None:  # its trials are few and known to all; what is practised is to be fast
        return practice_of(task, design.stimuli, practice.trials, rng)
    presented = set(identities(domain, design.stimuli))
    drawn = domain.candidates(space, rng, 4 * (practice.trials + len(design.stimuli)))
    known, refused = identities(domain, drawn), are_forbidden(domain, drawn, forbidden)
    order = rng.permutation(len(drawn)).tolist()
    fresh = [row for row in order if known[row] not in presented and not refused[row]]
    if not fresh:
        return None  # the whole space is asked, and to see a trial before would not be practice
    return with_random_sides(domain, drawn.take(fresh[: practice.trials]), rng)


def _whole_trials(schedule: Stimuli, n_steps: int) -> Stimuli:
    """The first steps of a schedule, up to the end of a trial of several stages."""
    stage = np.asarray(schedule.arrays.get("stage", np.zeros(len(schedule))))
    ends = [row for row in range(n_steps, len(schedule)) if stage[row] == 0]
    return schedule.take(range(ends[0] if ends else len(schedule)))
