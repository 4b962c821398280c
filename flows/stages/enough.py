"""Decide whether an experiment has enough participants: early stops, replacements, and closing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.participants.table import get_answers, trials_of_people
from lakatos.experiments.preregistration import Preregistration
from lakatos.experiments.record import (
    AnswersArrived,
    CollectionClosed,
    MoreAsked,
    PeopleRecruited,
    PersonExcluded,
)
from lakatos.experiments.stopping import StoppingPlan, decide
from lakatos.experiments.task import Design
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.run import Run
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited, _design
from lakatos.flows.stages.preregister import frozen_theory
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.traces.step import Recorded, Trace
from lakatos.traces.wording import plural


def wanted_in(run: Run, experiment: str, design: Design) -> int:
    """People wanted in an experiment by now: those planned, and those asked for later."""
    for item in run.trace.records(MoreAsked):
        if item.record.experiment == experiment:
            run.recall(item)
    return run.state.experiments.wanted.get(experiment, design.n_participants)


def replace_excluded(
    run: Run,
    asked: Recorded[PeopleRecruited],
    design: Design,
    waiting: AnswersAwaited,
    kept: Sequence[Recorded[AnswersArrived]],
) -> bool:
    """Ask for people in place of those who completed and are excluded, as far as the preregistered number goes.

    Returns:
        Whether somebody was asked for.
    """
    n_before = sum(
        item.record.n_more
        for item in run.trace.records(MoreAsked)
        if item.record.experiment == waiting.experiment and item.record.preregistered
    )
    n_good = sum(item.record.status == "completed" for item in kept)
    n_more = min(design.n_participants - n_good, run.config.exclusions.replacements - n_before)
    if n_more <= 0:
        return False
    n_excluded = waiting.n_completed - n_good
    reason = f"{n_excluded} of {waiting.n_completed} people who completed are excluded by the preregistered rules"
    run.record(
        more_asked(waiting.experiment, waiting.n_planned, n_more, reason, preregistered=True),
        name="ask_more",
        inputs=[asked.digest],
        position={"experiment": waiting.experiment, "wanted": waiting.n_planned + n_more},
    )
    more = plural(n_more, "more person is", "more people are")
    run.progress.note(f"{experiment_in_words(waiting.experiment)}: {more} asked for, as {reason}")
    return True


def more_asked(
    experiment: str, n_before: int, n_more: int, reason: str, *, preregistered: bool
) -> MoreAsked:
    """The record that more participants are wanted."""
    return MoreAsked(
        experiment=experiment,
        n_participants=n_before + n_more,
        n_more=n_more,
        preregistered=preregistered,
        reason=reason,
    )


def command_to_stop(folder: Path, experiment: str) -> str:
    """The command that admits no further participants."""
    return f"lakatos prolific pay {folder} --experiment {experiment} --stop"


def close_collection(
    trace: Trace, waiting: AnswersAwaited, reason: str, *, n_decided: int = 0
) -> Recorded[CollectionClosed]:
    """Go on with the people who have answered; ``n_decided`` of them by a preregistered rule, 0 without one."""
    return trace.record(
        CollectionClosed(
            experiment=waiting.experiment,
            n_completed=waiting.n_completed,
            n_planned=waiting.n_planned,
            n_decided=n_decided,
            reason=reason,
        ),
        name="close_collection",
        position={"experiment": waiting.experiment},
    )


def stop_early(
    evidence: RunEvidence,
    trace: Trace,
    plan: Recorded[Preregistration],
    waiting: AnswersAwaited,
    kept: Sequence[Recorded[AnswersArrived]],
) -> Recorded[CollectionClosed] | None:
    """End a collection whose preregistered Bayes factor was reached at a look, before everybody planned had answered.

    Args:
        evidence: What the campaign knows.
        trace: Trace in which the end is recorded.
        plan: What was frozen.
        waiting: How far collection is.
        kept: People whose responses count, in order of arrival.
    """
    chosen = evidence.state.experiments.designs[waiting.experiment].record
    rivals = [name for name in chosen.rivals if name in plan.record.rivals]
    if not chosen.looks or len(kept) < chosen.looks[0] or len(rivals) < 2:
        return None
    design = _design(evidence.artifacts, plan.record)
    people = [get_answers(evidence.artifacts, item.record.answers) for item in kept]
    trials = trials_of_people(design, people, evidence.domain.n_options(design.stimuli))
    frozen = evidence.artifacts.get_arrays(plan.record.predictions)
    columns = []
    for name in rivals:
        theory = frozen_theory(evidence, name, frozen)
        (scored,) = evidence.laboratory.evidence(theory, [trials], plan.record.n_draws)
        columns.append(log_predictive(scored).log_predictive)
    ties = [
        (rivals.index(pair.first), rivals.index(pair.second))
        for pair in chosen.powers
        if not pair.separable and {pair.first, pair.second} <= set(rivals)
    ]
    found = decide(
        StoppingPlan(chosen.looks, chosen.bayes_factor), np.stack(columns, axis=1), ties=ties
    )
    if found.winner is None or found.n_participants == chosen.looks[-1]:
        return None
    reason = (
        f"at the look after {found.n_participants} people "
        f"{evidence.state.theories.name(rivals[found.winner])} had a Bayes factor of at least "
        f"{chosen.bayes_factor:g} against every rival that the design can tell from it, as preregistered"
    )
    return close_collection(trace, waiting, reason, n_decided=found.n_participants)


def before_stop(
    config: CampaignConfig,
    trace: Trace,
    closed: CollectionClosed,
    people: Sequence[Recorded[AnswersArrived]],
) -> list[Recorded[AnswersArrived]]:
    """The people who would have been asked had collection stopped at the look that ended it.

    Simulated people respond all at once, so those after the look are left out. Responses that real people have given
    all count.
    """
    if not closed.n_decided or config.source.origin != "simulated":
        return list(people)
    excluded = {item.record.answers for item in trace.records(PersonExcluded)}
    kept = [item.digest not in excluded for item in people]
    return list(people[: n_until_look(kept, closed.n_decided)])


def n_until_look(kept: Sequence[bool], n_decided: int) -> int:
    """Count the participants until a look at ``n_decided`` of them whose responses count.

    Args:
        kept: ``(n_participants,)`` in the order of arrival; False for the excluded, who do not count.
        n_decided: Participants at the look that ended collection.

    Returns:
        Number of participants up to that look, the excluded among them; all of them where it was never reached.
    """
    n_kept = 0
    for place, is_kept in enumerate(kept):
        n_kept += is_kept
        if n_kept == n_decided:
            return place + 1
    return len(kept)
