"""Origin of the leader, step by step: what was wrong, what was changed, and what the change mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from markupsafe import Markup

from lakatos.flows.view.plot import PlotDots, PlotLine, PlotPoint, plot
from lakatos.flows.view.trial_points import (
    TrialPoint,
    option_name,
    scores_of,
    trial_points,
)
from lakatos.flows.view.watch import RunMoment
from lakatos.flows.view.words import address
from lakatos.theories.engine.record import Diagnosis, TheoryScored
from lakatos.theories.engine.scoreboard import advantage_on
from lakatos.theories.engine.scoring.score import ScoreEstimate, average
from lakatos.traces.digest import Digest

MOST_WORST: Final = 3
"""Trials shown of those on which the forerunner was most wrong."""


@dataclass(frozen=True)
class WrongTrial:
    """A trial on which a theory was wrong, before and after a change."""

    experiment: str
    number: int
    shown: str
    option: str
    share: float
    low: float
    high: float
    before: float
    after: float

    @property
    def is_cured(self) -> bool:
        """Whether what is said now lies in people's interval."""
        return self.low <= self.after <= self.high


@dataclass(frozen=True)
class TheoryStep:
    """Step from one theory to the one that was made from it."""

    parent: Digest
    child: Digest
    cycle: int
    change: str
    made_from: bool
    """Whether it was made from the forerunner, or written anew while that led."""
    case: tuple[int, Diagnosis] | None
    """The diagnosis that was there when it was made, of the forerunner or of who lost to it, and its number."""
    n_tried: int
    """Compositions and rules that the search of that cycle tried."""
    siblings: tuple[tuple[Digest, str], ...]
    """Others made from the same forerunner in the same cycle, with what became of them."""
    seen: ScoreEstimate | None
    """Gain on the responses it was made from, nats per choice."""
    new: ScoreEstimate | None
    """Gain on responses that came later."""
    errors: tuple[float, float] | None
    """Mean squared error of shares on all trials, before and after."""
    worst: tuple[WrongTrial, ...]
    n_wrong: int
    """Trials on which people's interval excludes the forerunner's prediction."""
    n_cured: int
    """Number of these trials on which it includes the prediction of the theory made from it."""
    n_broken: int
    """Trials on which it includes the forerunner's prediction and not that of the theory made from it."""


def line_of_descent(look: RunMoment) -> list[Digest]:
    """The leader and its forerunners, the oldest first; see `forerunner`."""
    found: list[Digest] = []
    digest = look.leader
    while digest is not None and digest in look.checked and digest not in found:
        found.append(digest)
        digest = forerunner(look, digest)
    return found[::-1]


def forerunner(look: RunMoment, theory: Digest) -> Digest | None:
    """The theory that it was made from, of several the first; of one that was written anew, who led before it."""
    record = look.checked[theory].record
    parents = (name for name in record.parents if name in look.checked and name != theory)
    parent = next(parents, None)
    if parent is not None or record.cycle == 0:
        return parent
    cases = (item.record for item in look.state.theories.diagnoses)
    return next((case.leader for case in cases if case.cycle == record.cycle), None)


def steps(look: RunMoment) -> dict[str, Any]:
    """Values of the page of steps; the newest last."""
    line = line_of_descent(look)
    scores = {name: scores_of(look, name) for name in line}
    found = list(_steps(look, line, scores))
    return {
        "line": line,
        "steps": found,
        "status": look.fate,
        "searches": searches(look),
        "search": search_plot(look),
    }


def _steps(
    look: RunMoment, line: Sequence[Digest], scores: Mapping[Digest, Mapping[str, TheoryScored]]
) -> Iterator[TheoryStep]:
    tried = {item.record.cycle: item.record.n_attempts for item in look.state.theories.searches}
    for parent, child in pairwise(line):
        record = look.checked[child].record
        points = trial_points(look, {parent: scores[parent], child: scores[child]})
        wrong = [point for point in points if not point.low <= point.predicted[0] <= point.high]
        seen, new = gained(look, scores[parent], scores[child], record.cycle)
        yield TheoryStep(
            parent=parent,
            child=child,
            cycle=record.cycle,
            change=record.change,
            made_from=parent in record.parents,
            case=case_before(look, parent, record.cycle),
            n_tried=tried.get(record.cycle, 0),
            siblings=tuple(
                (name, look.fate(name))
                for name, item in look.checked.items()
                if name != child
                and item.record.cycle == record.cycle
                and parent in item.record.parents
            ),
            seen=seen,
            new=new,
            errors=(mean_error(points, 0), mean_error(points, 1)) if points else None,
            worst=tuple(worst(look, wrong)),
            n_wrong=len(wrong),
            n_cured=sum(point.low <= point.predicted[1] <= point.high for point in wrong),
            n_broken=sum(
                point.low <= point.predicted[0] <= point.high
                and not point.low <= point.predicted[1] <= point.high
                for point in points
            ),
        )


def mean_error(points: Sequence[TrialPoint], place: int) -> float:
    """Mean squared difference of a theory's shares from people's."""
    return float(np.mean([(point.predicted[place] - point.share) ** 2 for point in points]))


def gained(
    look: RunMoment,
    before: Mapping[str, TheoryScored],
    after: Mapping[str, TheoryScored],
    cycle: int,
) -> tuple[ScoreEstimate | None, ScoreEstimate | None]:
    """Advantage of the later theory on responses that were there when it was made, and on those that came after."""
    designs = look.state.experiments.designs
    seen: list[ScoreEstimate] = []
    new: list[ScoreEstimate] = []
    for name in before:
        if name in after and name in designs:
            found = advantage_on(after[name], before[name])
            (seen if designs[name].record.cycle <= cycle else new).append(found)
    return average(seen) if seen else None, average(new) if new else None


def case_before(look: RunMoment, parent: Digest, cycle: int) -> tuple[int, Diagnosis] | None:
    """The diagnosis of a cycle that a theory lost, or led while another one lost, and its number."""
    for place, item in enumerate(look.state.theories.diagnoses):
        if item.record.cycle == cycle and parent in (item.record.loser, item.record.leader):
            return place, item.record
    return None


def worst(look: RunMoment, wrong: Sequence[TrialPoint]) -> Iterator[WrongTrial]:
    """The trials on which the forerunner was most wrong for the responses that there are."""
    ordered = sorted(
        wrong, key=lambda point: -abs(point.predicted[0] - point.share) * point.n_answers**0.5
    )
    for point in ordered[:MOST_WORST]:
        stimuli = look.trials(point.experiment).stimuli
        yield WrongTrial(
            experiment=point.experiment,
            number=point.row + 1,
            shown=" ".join(look.domain.describe(stimuli, point.row).split()),
            option=option_name(look, point.option),
            share=point.share,
            low=point.low,
            high=point.high,
            before=point.predicted[0],
            after=point.predicted[1],
        )


@dataclass(frozen=True)
class SearchSummary:
    """Summary of what the advocates tried in one cycle."""

    cycle: int
    n_attempts: int
    n_failed: int
    best: float | None
    """The search's own score of the best one, nats per choice."""
    n_submitted: int
    record: Digest


def searches(look: RunMoment) -> list[SearchSummary]:
    """The searches so far."""
    found = []
    for item in look.state.theories.searches:
        scored = _criteria(look, item.record.attempts)
        best = max((value for value in scored if value is not None), default=None)
        failed = sum(value is None for value in scored)
        n_submitted = len(item.record.submissions)
        found.append(
            SearchSummary(
                item.record.cycle, item.record.n_attempts, failed, best, n_submitted, item.digest
            )
        )
    return found


def _criteria(look: RunMoment, attempts: Digest) -> list[float | None]:
    """Scores of what was tried, in the order in which it is kept."""
    return look.watch.kept(
        ("attempts", attempts),
        lambda: [item.get("criterion") for item in look.trace.artifacts.get_json(attempts)],
    )


def search_plot(look: RunMoment) -> Markup:
    """Scores of everything that the newest search tried, the best first, and what it submits."""
    if not look.state.theories.searches:
        return Markup("")
    item = look.state.theories.searches[-1]
    scored = [value for value in _criteria(look, item.record.attempts) if value is not None]
    if len(scored) < 2:
        return Markup("")
    ordered = sorted(scored, reverse=True)
    link = address(look.watch.name, "record", _seq(look, item.digest))
    submitted = [one for one in item.record.submissions if np.isfinite(one.criterion)]
    marks = [
        PlotPoint(
            1 + sum(value > one.criterion for value in ordered),
            one.criterion,
            f"{one.change or one.author}: {one.criterion:.4f}",
            link=link,
        )
        for one in submitted
    ]
    return plot(
        "search",
        "Scores of the theories that the newest search tried, the best first",
        x="place among what was tried",
        y="score (nats)",
        lines=[PlotLine("tried", 0, [(place + 1, value) for place, value in enumerate(ordered)])],
        dots=[PlotDots("submitted", 1, "diamond", marks)],
        height=300,
    )


def _seq(look: RunMoment, digest: Digest) -> int:
    entry = look.journal.get(digest)
    return entry.seq if entry else 0
