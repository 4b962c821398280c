"""What is known of somebody who takes part on the page, and what may go wrong: values, which hold nothing open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias

from lakatos.experiments.errors import ExperimentError
from lakatos.experiments.participants.answers import PersonAnswers, Status
from lakatos.experiments.participants.timed_answer import TimedPress, timed_columns, timed_task
from lakatos.experiments.participants.web.questions import QuestionBlock
from lakatos.experiments.participants.web.settings import PageSettings
from lakatos.experiments.participants.web.study import (
    PageExperiment,
    PageStep,
    available,
    condition_at,
    is_timed,
    plan_of,
)
from lakatos.experiments.participants.web.study_list import shown_in_study
from lakatos.experiments.presentation import (
    FAILURE,
    LONGEST_FAILURE,
    Recorded,
    medium_fields,
    presentation_of,
    read_recorded,
)
from lakatos.experiments.quality import are_impossible
from lakatos.traces.digest import Digest

NoPlace: TypeAlias = Literal["full", "closed", "again", "returning", "uninvited"]
"""``again``: somebody with these identifiers takes part already, in another browser or under another submission.
``returning``: this person took part in an earlier experiment, and this one needs new people.
``uninvited``: everybody needs an invitation here, and this person has none that is ours."""
INVITATION: Final = "invitation"
"""Stands for a recruitment service where somebody comes with an invitation of our own."""
ACTIVE: Final = "active"
MISSED: Final = -1
"""Code in place of a response if the time limit passed."""
TIMEOUT_TOLERANCE_MS: Final = 100.0
"""Milliseconds by which a browser's timer may differ from its clock."""


class NoPlaceError(ExperimentError):
    """There is no place for this person."""

    def __init__(self, reason: NoPlace) -> None:
        words = {
            "full": "all places are taken.",
            "closed": "no experiment is open.",
            "again": "somebody with these identifiers takes part already.",
            "returning": "this person took part in an earlier experiment.",
            "uninvited": "everybody needs an invitation here.",
        }
        super().__init__(words[reason])
        self.reason: NoPlace = reason


class OtherExperimentError(ExperimentError):
    """The experiment that somebody agreed to is not the one that has a place now."""


class NotAskedError(ExperimentError):
    """An answer to something that this person was not asked, or not yet, or cannot choose."""


@dataclass(frozen=True)
class ServiceIdentifiers:
    """What a recruitment service calls somebody."""

    service: str
    participant: str
    study: str = ""
    submission: str = ""


@dataclass(frozen=True)
class PageSession:
    """One person, or one preview, in one experiment."""

    number: int
    experiment: PageExperiment
    person: str
    preview: bool
    source: str
    place: int
    status: str
    """``active``, or a `Status`."""
    passed: bool
    """Whether the comprehension check is behind this person."""
    attempts: int
    consent: Digest
    language: str
    code: str
    """Code that reports the end of the visit to a recruitment service; empty before, or without a code."""
    finish: str
    """Address that brings the person and the code back to the service; may be empty."""
    position: int
    """Responses so far, which is the place of the step to be answered."""
    feedback: Mapping[str, float]
    """What followed the latest answer to a trial; nothing before the first."""
    replied: frozenset[str] = frozenset()
    """Questions about the person that are answered, by name."""
    condition: str = ""
    """Condition of the participant; empty without conditions."""
    elapsed_ms: float = 0.0
    """Since the task began, by the server's clock."""

    @property
    def settings(self) -> PageSettings:
        """How the page treats this person."""
        return self.experiment.settings.under(self.condition)

    def settings_at(self, step: PageStep) -> PageSettings:
        """How the page treats this person in a step, which may have a condition of its own."""
        own = condition_at(self.experiment, step)
        return self.experiment.settings.under(own or self.condition)

    @property
    def block(self) -> QuestionBlock | None:
        """The questions about the person that are asked now; None where there are none."""
        n_steps = len(plan_of(self.experiment, self.place))
        if self.status != ACTIVE or not self.passed:
            return None
        if self._open("before"):
            return "before"
        return "after" if self.position == n_steps and self._open("after") else None

    def _open(self, block: QuestionBlock) -> bool:
        questions = self.experiment.settings.asked(block)
        return any(question.name not in self.replied for question in questions)


@dataclass(frozen=True)
class StepTimes:
    """Onset of a step and events until the response, as the browser reports them."""

    onset_ms: float | None = None
    """Since the task began."""
    focus_losses: int = 0
    away_ms: float = 0.0


NO_TIMES: Final = StepTimes()


@dataclass(frozen=True)
class StepRecord:
    """What a response brings beside the option chosen."""

    recorded: Mapping[str, Recorded] = field(default_factory=dict)
    """Times of what was presented, or the data of a plugin."""
    failure: str = ""
    """What could not be loaded or read, so that the step has no response; empty otherwise."""


NOTHING_RECORDED: Final = StepRecord()


@dataclass(frozen=True)
class PageVisit:
    """How far somebody came; nothing of who it is."""

    experiment: str
    status: str
    condition: str
    passed: bool
    """Whether the comprehension check is behind this person."""
    minutes: float
    """Duration from consent to the end, or to the latest response."""
    n_trials: int
    """Decisions that count, made or missed."""
    n_asked: int
    """Decisions of each person."""


@dataclass(frozen=True)
class RecruitmentService:
    """A recruitment service that sends people to an experiment, and what it wants to be told at the end."""

    study: str
    """What the service calls the study; only people who come with it are given its codes."""
    codes: Mapping[str, str]
    """Completion code by how a visit ends: ``completed``, ``failed_checks``, ``screened_out``, ``declined``."""
    url: str
    """Address to which participants return; ``{code}`` stands for the code."""
    most_failed_checks: int | None = None
    """Attention checks that may be failed before ``completed`` becomes ``failed_checks``; any number when None."""

    def ending(self, outcome: str) -> tuple[str, str]:
        """Code and address for an outcome; two empty texts where there is none."""
        code = self.codes.get(outcome, "")
        return code, self.url.replace("{code}", code) if code else ""


@dataclass(frozen=True)
class WithheldAnswers:
    """Responses of people who name a service that does not list them; they stay out of the inbox."""

    experiment: str
    person: str
    status: str
    since: float
    """Arrival of the participant, in seconds since 1970."""
    refused: bool
    """Whether the service's list, read long enough afterwards, does not name the person."""


@dataclass(frozen=True)
class PageSubmission:
    """What a recruitment service's participant did here."""

    submission: str
    participant: str
    person: str
    status: str
    code: str
    """That was shown; empty where none was."""


def chosen_in(
    session: PageSession, step: PageStep, position: int, response: int | None, time_ms: float
) -> int:
    """The option that somebody chose, or `MISSED`.

    Raises:
        NotAskedError: There is no such option to choose, or time is not limited or not over.
    """
    limit = session.settings_at(step).timeout_ms if is_timed(step) else 0.0
    if response is None and not (limit and time_ms >= limit - TIMEOUT_TOLERANCE_MS):
        raise NotAskedError(f"step {position} needs an answer; send the place of an option.")
    options = available(session.experiment, step)
    if response is not None and not (0 <= response < len(options) and options[response]):
        raise NotAskedError(f"step {position} has no option {response} to choose.")
    late = bool(limit) and time_ms > limit + TIMEOUT_TOLERANCE_MS
    return MISSED if response is None or late else response


def read_step(
    session: PageSession,
    step: PageStep,
    position: int,
    response: int | None,
    time_ms: float,
    given: StepRecord,
) -> tuple[int, float, StepRecord]:
    """The option chosen or `MISSED`, the response time, and what is stored beside them.

    A step whose file failed to load, or whose plugin sent data outside its schema, has no response. A step with
    feedback cannot be skipped: the page shows it in words, and data outside the schema are refused.

    Raises:
        NotAskedError: There is no such option to choose, or the task records no such values.
    """
    presentation = presentation_of(session.experiment.task)
    if step.item:
        return _read_item(session, step, position, response, time_ms, given)
    if presentation is None or step.kind not in ("trial", "practice", "check"):
        if given != NOTHING_RECORDED:
            raise NotAskedError(f"step {position} records nothing beside the response.")
        return chosen_in(session, step, position, response, time_ms), time_ms, given
    sequential = session.experiment.task.sequential
    if given.failure and (presentation.media or presentation.plugin):
        failed = StepRecord(failure=given.failure)
        if sequential:  # what follows depends on the response, so that the step was shown in words
            return chosen_in(session, step, position, response, time_ms), time_ms, failed
        return MISSED, time_ms, failed
    if presentation.plugin and step.kind != "check" and (given.recorded or response is not None):
        options, free = session.experiment.task.options, available(session.experiment, step)
        try:
            response, time_ms, kept = presentation.plugin.read(given.recorded, options, free)
        except ValueError as error:
            if sequential:
                raise NotAskedError(f"step {position}: data: {error}.") from None
            return MISSED, time_ms, StepRecord(failure=f"data: {error}"[:LONGEST_FAILURE])
    else:
        fields = {} if presentation.plugin else presentation.fields
        try:
            kept = read_recorded(fields, given.recorded) if given.recorded else {}
        except ValueError as error:
            raise NotAskedError(f"step {position}: {error}.") from None
    return chosen_in(session, step, position, response, time_ms), time_ms, StepRecord(kept)


def _read_item(
    session: PageSession,
    step: PageStep,
    position: int,
    response: int | None,
    time_ms: float,
    given: StepRecord,
) -> tuple[int, float, StepRecord]:
    """See `read_step`: an item of a list is studied or tested; a file that failed to load leaves no response."""
    if given.failure:
        return MISSED, time_ms, StepRecord(failure=given.failure)
    fields = medium_fields("item") if session.experiment.settings.study.media else {}
    try:
        kept = read_recorded(fields, given.recorded) if given.recorded else {}
    except ValueError as error:
        raise NotAskedError(f"step {position}: {error}.") from None
    return chosen_in(session, step, position, response, time_ms), time_ms, StepRecord(kept)


def _presses(shown: Sequence[AnsweredStep], impossible: Sequence[bool]) -> Iterator[TimedPress]:
    """What was measured in each trial, where responses are keys with their times."""
    for (row, step), wrong in zip(shown, impossible, strict=True):
        reported = row["reported"]
        interval = None if reported is None else max(1000 * (row["answered"] - reported), 0.0)
        yield TimedPress(
            trial=step.row,
            key=None if row["response"] == MISSED else row["response"],
            time_ms=row["response_time_ms"],
            interval_ms=None if interval is None else round(interval, 1),
            possible=not wrong,
        )


def answers_in(
    session: PageSession,
    rows: Sequence[Mapping[str, Any]],
    *,
    began_s: float,
    visit: Mapping[str, Any],
    replies: Mapping[str, Any],
) -> PersonAnswers:
    """What somebody did, as it is handed over once the visit has ended.

    Args:
        session: That has ended.
        rows: Of the store's table of responses, in the order of their steps.
        began_s: When the task began.
        visit: What was noted of it.
        replies: To questions about the person.
    """
    status: Any = session.status
    found: Status = status
    steps = plan_of(session.experiment, session.place)
    shown = [(row, steps[row["position"]]) for row in rows]
    presented = [(row, step) for row, step in shown if step.kind == "trial"]
    known, trials = _known(session, presented, began_s)
    feedback = [json.loads(row["feedback"]) for row, _ in trials]
    listed = [(row, step.item) for row, step in shown if step.kind == "study"]
    studied = shown_in_study([row for row, _ in listed], [item for _, item in listed])

    def column(name: str) -> tuple[Any, ...]:
        values = tuple(row[name] for row, _ in trials)
        return () if None in values else values

    return PersonAnswers(
        experiment=session.experiment.name,
        person=session.person,
        status=found,
        **known,
        server_time_ms=_between_arrivals(began_s, trials),
        recorded=_recorded(
            [
                {
                    **json.loads(row["recorded"] or "{}"),
                    FAILURE: row["failure"],
                    **({"item": step.item, **studied.get(step.item, {})} if step.item else {}),
                }
                for row, step in trials
            ]
        ),
        failures=tuple((step.row, row["failure"]) for row, step in presented if row["failure"]),
        onset_ms=column("onset_ms"),
        focus_losses=column("focus_losses"),
        away_ms=column("away_ms"),
        feedback=_columns(feedback),
        checks=_checks(shown),
        comprehension_attempts=session.attempts,
        consent=session.consent,
        language=session.language,
        source=session.source,
        condition=session.condition,
        visit=visit,
        replies=replies,
    )


def _known(
    session: PageSession, presented: Sequence[AnsweredStep], began_s: float
) -> tuple[dict[str, Any], list[AnsweredStep]]:
    """Trials, responses, times and what was missed, as arguments of `PersonAnswers`; and the responses' steps."""
    experiment, task = session.experiment, timed_task(session.experiment.task)
    if task is None:
        trials = [(row, step) for row, step in presented if row["response"] != MISSED]
        known = {
            "trial": tuple(step.row for _, step in trials),
            "response": tuple(row["response"] for row, _ in trials),
            "response_time_ms": tuple(row["response_time_ms"] for row, _ in trials),
            "missed": tuple(step.row for row, step in presented if row["response"] == MISSED),
        }
        return known, trials
    # between two answers a cross was shown, too
    taken = [
        session.settings_at(step).fixation_ms + row["response_time_ms"] for row, step in presented
    ]
    impossible = are_impossible(taken, _between_arrivals(began_s, presented))
    presses = list(_presses(presented, impossible))
    off_grid = experiment.settings.timed.off_grid
    known = timed_columns(task, experiment.design.stimuli, presses, off_grid)
    without = {item.position for item in known["left_out"]}
    return known, [item for place, item in enumerate(presented, start=1) if place not in without]


def _between_arrivals(began_s: float, answered: Sequence[AnsweredStep]) -> tuple[float, ...]:
    """Milliseconds from the arrival of each response's predecessor to its own, by the server's clock."""
    arrivals = pairwise([began_s, *(row["answered"] for row, _ in answered)])
    return tuple(round(max(1000 * (now - before), 0.0), 1) for before, now in arrivals)


AnsweredStep: TypeAlias = tuple[Mapping[str, Any], PageStep]
"""A row of the store's table of responses, and what it answers."""


def _checks(shown: Sequence[AnsweredStep]) -> tuple[bool, ...]:
    """Whether each attention check was passed."""
    return tuple(row["response"] == step.row for row, step in shown if step.kind == "check")


def _recorded(rows: Sequence[Mapping[str, Recorded]]) -> dict[str, tuple[Recorded, ...]]:
    """What responses brought beside the option chosen, by name; None where one lacks it."""
    names = dict.fromkeys(name for row in rows for name, value in row.items() if value is not None)
    return {name: tuple(row.get(name) for row in rows) for name in names}


def _columns(feedback: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, ...]]:
    """What followed the responses, by name."""
    names = feedback[0] if feedback else {}
    return {name: tuple(item[name] for item in feedback) for name in names}
