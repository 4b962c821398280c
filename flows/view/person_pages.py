"""Pages of participants, under pseudonyms: a table for an experiment, and a page for each participant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.table import get_answers
from lakatos.experiments.record import AnswersArrived, PersonExcluded
from lakatos.experiments.task import Trials
from lakatos.flows.report.reader import UNREADABLE
from lakatos.flows.report.svg import spread
from lakatos.flows.view.plot import PlotDots, PlotPoint, plot
from lakatos.flows.view.trial_points import option_name, predicted_shares, scores_of
from lakatos.flows.view.watch import RunMoment
from lakatos.flows.view.words import address
from lakatos.theories.engine.record import TheoryScored
from lakatos.traces.digest import Digest, is_digest
from lakatos.traces.step import Recorded

Array = NDArray[np.float64]
MOST_PEOPLE: Final = 500
"""People in the table of an experiment."""
MOST_ANSWERS: Final = 400
"""Responses on the page of a person."""
SHOWN: Final = 12
"""Digits of a pseudonym."""


@dataclass(frozen=True)
class PersonLine:
    """One person in one experiment."""

    key: str
    """Key in the address: the pseudonym, or the place among the people of a table."""
    name: str
    status: str
    counts: bool
    """Whether the responses are in the trial table."""
    n_answers: int
    share_last: float
    """Share of responses that chose the last option."""
    time_ms: float
    """Median response time; NaN where times are not known."""
    missed: int
    checks: tuple[bool, ...]
    known: Mapping[str, str]
    """Condition, attributes, what was noted of the visit."""
    nats: tuple[float, ...]
    """Nats per choice, by theory; NaN where the person has no score."""


def people(look: RunMoment, wanted: str, sort: str) -> dict[str, Any]:
    """Values of the page of people: those of one experiment, the newest by default."""
    state = look.state.experiments
    names = [name for name in state.recruited if name in state.collected or name in state.recruited]
    names = list(dict.fromkeys([*state.collected, *names]))
    experiment = wanted if wanted in names else (names[-1] if names else "")
    theories = compared(look)
    facts: dict[str, Any] = {
        "names": names,
        "chosen": experiment,
        "theories": theories,
        "lines": [],
        "n_people": 0,
        "sort": sort,
        "known": [],
        "withdrawn": 0,
        "pooled": False,
        "plot": "",
        "orders": ORDERS,
    }
    if not experiment:
        return facts
    lines = lines_of(look, experiment, theories)
    if lines is None:
        return facts | {"pooled": True}
    order = ORDERS[sort if sort in ORDERS else "arrival"][1]
    shown = sorted(lines, key=order) if order else list(lines)
    return facts | {
        "lines": shown[:MOST_PEOPLE],
        "n_people": len(lines),
        "known": list(dict.fromkeys(name for line in lines for name in line.known))[:6],
        "withdrawn": len(set(state.withdrawn.get(experiment, ()))),
        "plot": people_plot(look, lines, theories),
    }


ORDERS: Final[Mapping[str, tuple[str, Any]]] = {
    "arrival": ("in order of arrival", None),
    "time": ("fastest first", lambda line: (np.isnan(line.time_ms), line.time_ms)),
    "answers": ("fewest responses first", lambda line: line.n_answers),
    "share": ("by choices", lambda line: line.share_last),
    "fit": (
        "worst predicted first",
        lambda line: (not line.nats or np.isnan(line.nats[0]), line.nats[:1]),
    ),
}


def compared(look: RunMoment) -> list[Digest]:
    """The leader, and the best of the theories that the run began with."""
    return [name for name in (look.leader, look.first_rival) if name is not None]


def lines_of(
    look: RunMoment, experiment: str, theories: Sequence[Digest]
) -> list[PersonLine] | None:
    """Everybody of an experiment; None where its answers do not say who gave them."""
    scores = [scores_of(look, theory).get(experiment) for theory in theories]
    arrived = look.of(AnswersArrived, experiment=experiment)
    if arrived:
        counted = _counted(look, experiment)
        excluded = excluded_in(look, experiment)
        return [
            line
            for item in arrived
            if (line := _page_line(look, item, counted, excluded, scores)) is not None
        ]
    if experiment not in look.state.experiments.collected:
        return []
    trials = look.trials(experiment)
    if trials.pooled:
        return None
    return [
        _table_line(experiment, trials, place, scores) for place in range(trials.n_participants)
    ]


def _counted(look: RunMoment, experiment: str) -> list[Digest]:
    """Artifacts of the responses that the trial table is made of, in its order."""
    collected = look.state.experiments.collected.get(experiment)
    if collected is None:
        return []
    value = look.trace.artifacts.get_json(collected.record.trials)
    return list(value.get("answers", ()))


def excluded_in(look: RunMoment, experiment: str) -> dict[Digest, str]:
    """Map the artifact of responses that do not count to the rule in words that excludes them."""
    found = look.of(PersonExcluded, experiment=experiment)
    return {item.record.answers: item.record.words for item in found}


def _answers(look: RunMoment, digest: Digest) -> PersonAnswers | None:
    """Return a participant's responses; None where they were erased."""
    try:
        return get_answers(look.trace.artifacts, digest)
    except UNREADABLE:
        return None


def _page_line(
    look: RunMoment,
    item: Recorded[AnswersArrived],
    counted: Sequence[Digest],
    excluded: Mapping[Digest, str],
    scores: Sequence[TheoryScored | None],
) -> PersonLine | None:
    answers = _answers(look, item.record.answers)
    if answers is None:
        return None
    counts = item.record.answers in counted
    place = counted.index(item.record.answers) if counts else -1
    design = look.design(look.state.experiments.designs[answers.experiment].record)
    last = max(look.domain.n_options(design.stimuli) - 1, 1)
    status = excluded.get(item.record.answers, item.record.status.replace("_", " "))
    response = np.asarray(answers.response)
    return PersonLine(
        key=item.record.person,
        name=item.record.person[:SHOWN],
        status=status,
        counts=counts,
        n_answers=len(answers.trial),
        share_last=float((response == last).mean()) if len(response) else np.nan,
        time_ms=float(np.median(answers.response_time_ms)) if answers.response_time_ms else np.nan,
        missed=len(answers.missed),
        checks=answers.checks,
        known=known_of(look, answers),
        nats=tuple(_nats(record, place) for record in scores),
    )


def known_of(look: RunMoment, answers: PersonAnswers) -> dict[str, str]:
    """Condition, replies and what was noted of the visit, in words; free texts stay out, as they can tell who it is."""
    page = look.config.page
    replies = {
        question.name: question.said(answers.replies.get(question.name), page.language)
        for question in page.questions
        if question.kind != "text"
    }
    condition = {"condition": answers.condition} if answers.condition else {}
    return condition | replies | {name: str(value) for name, value in answers.visit.items()}


def _table_line(
    experiment: str, trials: Trials, place: int, scores: Sequence[TheoryScored | None]
) -> PersonLine:
    own = trials.participant == place
    weights = trials.count[own]
    hits = trials.response[own] == trials.n_options - 1
    return PersonLine(
        key=f"{experiment}:{place}",
        name=str(place + 1),
        status="",
        counts=True,
        n_answers=int(weights.sum()),
        share_last=float(np.average(hits, weights=weights)) if weights.sum() else np.nan,
        time_ms=np.nan,
        missed=0,
        checks=(),
        known={name: column[place] for name, column in trials.attributes_in_words.items()},
        nats=tuple(_nats(record, place) for record in scores),
    )


def _nats(record: TheoryScored | None, place: int) -> float:
    """Nats per choice of one person: as frozen before the answers where that was, else predicted from the others."""
    if record is None or place < 0:
        return np.nan
    units = record.frozen or record.left_out
    if place >= len(units.n_choices) or not units.n_choices[place]:
        return np.nan
    return units.log_predictive[place] / units.n_choices[place]


def people_plot(look: RunMoment, lines: Sequence[PersonLine], theories: Sequence[Digest]) -> Markup:
    """Draw how well two theories predict each person."""
    both = [line for line in lines if len(line.nats) == 2 and np.isfinite(line.nats).all()]
    if len(theories) < 2 or len(both) < 2:
        return Markup("")
    tags = [look.label(name).tag for name in theories]
    ahead = [line for line in both if line.nats[0] > line.nats[1]]
    behind = [line for line in both if line.nats[0] <= line.nats[1]]
    ends = spread([value for line in both for value in line.nats])
    dots = [
        PlotDots(
            f"{tag} predicts better",
            place + 1,
            ("circle", "diamond")[place],
            [
                PlotPoint(
                    line.nats[0],
                    line.nats[1],
                    f"person {line.name}: {tags[0]} {line.nats[0]:.3f}, {tags[1]} {line.nats[1]:.3f}",
                    link=address(look.watch.name, "person", line.key),
                    key=line.key,
                )
                for line in own
            ],
        )
        for place, (tag, own) in enumerate(zip(tags, (ahead, behind), strict=True))
    ]
    return plot(
        "people",
        "How well two theories predict each person, in nats per choice",
        x=f"{tags[0]}, nats per choice",
        y=f"{tags[1]}, nats per choice",
        x_range=ends,
        y_range=ends,
        dots=dots,
        diagonal=True,
        selects="people",
    )


# --- one person -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PersonAnswer:
    """One answer on the page of a person."""

    position: int
    row: int
    shown: str
    option: str
    time_ms: float
    predicted: tuple[float, ...]
    """Share of people who choose what this person chose, by theory."""


def person(look: RunMoment, key: str) -> dict[str, Any] | None:
    """One person: what is known, and each answer beside what theories say; None if there is no such person."""
    theories = compared(look)
    parts: list[dict[str, Any] | None] = []
    title = key[:SHOWN]
    if is_digest(key):
        arrived = look.of(AnswersArrived, person=key)
        parts += [_page_part(look, item, theories) for item in arrived]
    else:
        experiment, _, place = key.rpartition(":")
        is_number = place.isascii() and place.isdecimal() and len(place) < 10
        if experiment not in look.state.experiments.collected or not is_number:
            return None
        trials = look.trials(experiment)
        if trials.pooled or int(place) >= trials.n_participants:
            return None
        title = f"{int(place) + 1} of experiment {experiment}"
        parts.append(_table_part(look, experiment, trials, int(place), theories))
    gone = any(key in people for people in look.state.experiments.withdrawn.values())
    if not parts and not gone:
        return None
    return {
        "key": key,
        "title": title,
        "parts": [part for part in parts if part is not None],
        "gone": gone or any(part is None for part in parts),
        "theories": theories,
    }


def _page_part(
    look: RunMoment, item: Recorded[AnswersArrived], theories: Sequence[Digest]
) -> dict[str, Any] | None:
    answers = _answers(look, item.record.answers)
    if answers is None:
        return None
    design = look.design(look.state.experiments.designs[answers.experiment].record)
    counted = _counted(look, answers.experiment)
    excluded = excluded_in(look, answers.experiment)
    scores = [scores_of(look, theory).get(answers.experiment) for theory in theories]
    line = _page_line(look, item, counted, excluded, scores)
    times = answers.response_time_ms or [np.nan] * len(answers.trial)
    rows = list(zip(answers.trial, answers.response, times, strict=True))
    return _part(look, answers.experiment, design.stimuli, rows, scores, line, item.digest)


def _table_part(
    look: RunMoment, experiment: str, trials: Trials, place: int, theories: Sequence[Digest]
) -> dict[str, Any]:
    own = np.flatnonzero(trials.participant == place)
    rows = [(int(trials.trial[row]), int(trials.response[row]), np.nan) for row in own.tolist()]
    scores = [scores_of(look, theory).get(experiment) for theory in theories]
    line = _table_line(experiment, trials, place, scores)
    return _part(look, experiment, trials.stimuli, rows, scores, line, None)


def _said_of(shares: Array | None, row: int, response: int) -> float:
    return np.nan if shares is None or row >= len(shares) else float(shares[row, response])


def _part(
    look: RunMoment,
    experiment: str,
    stimuli: Any,
    rows: Sequence[tuple[int, int, float]],
    scores: Sequence[TheoryScored | None],
    line: PersonLine | None,
    record: Digest | None,
) -> dict[str, Any]:
    own_shares = [predicted_shares(score) if score is not None else None for score in scores]
    answers = [
        PersonAnswer(
            position=place,
            row=row + 1,
            shown=" ".join(look.domain.describe(stimuli, row).split()),
            option=option_name(look, response),
            time_ms=float(time),
            predicted=tuple(_said_of(shares, row, response) for shares in own_shares),
        )
        for place, (row, response, time) in enumerate(rows[:MOST_ANSWERS], start=1)
    ]
    times = [
        PlotPoint(
            answer.position,
            answer.time_ms,
            f"answer {answer.position}: {answer.time_ms:.0f} ms, {answer.option}",
        )
        for answer in answers
        if np.isfinite(answer.time_ms)
    ]
    drawn = (
        plot(
            f"times-{experiment.replace('.', '-')}",
            "Response times in the order of presentation",
            x="answer",
            y="response time (ms)",
            dots=[PlotDots("response time", 1, "circle", times)],
            height=260,
        )
        if len(times) > 1
        else Markup("")
    )
    return {
        "experiment": experiment,
        "line": line,
        "record": record,
        "answers": answers,
        "n_answers": len(rows),
        "has_times": bool(times),
        "times": drawn,
    }
