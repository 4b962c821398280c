"""Stage: what the verdict would be if nobody had been excluded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakatos.experiments.participants.table import get_trials, put_table
from lakatos.experiments.quality import REVOKED
from lakatos.experiments.record import AnswersArrived, PersonExcluded
from lakatos.experiments.task import Trials
from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.records import ExclusionSensitivity
from lakatos.flows.run.run import Run
from lakatos.flows.stages.asked import answers_of, erased
from lakatos.flows.stages.enough import before_stop
from lakatos.theories.record import TheoryScored
from lakatos.theories.scoring.score import (
    ScoreEstimate,
    UnitScores,
    log_predictive,
    mean_over_units,
    paired_difference,
)
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext, Trace

NECESSARY = frozenset({"duplicate"})
"""Rules that hold in any case: the same person twice is not two people."""


@task(name="sensitivity")
async def compare_exclusions(run: Run) -> Recorded[ExclusionSensitivity] | None:
    """Score the pool on everybody's answers, and compare the leader's advantage with that on the people kept."""
    if not run.config.by_person:
        return None
    everybody = {
        name: people_of(run.evidence, run.trace, name) for name in run.state.experiments.collected
    }
    kept = {name: run.trials(name).n_people for name in run.state.experiments.collected}
    changed = [name for name, people in everybody.items() if len(people) > kept[name]]
    board = run.state.board()
    if not changed or len(board.standings) < 2:
        return None
    names = [line.theory for line in board.standings]
    inputs = [
        run.state.experiments.collected[name].digest for name in run.state.experiments.collected
    ]
    inputs += [item.digest for name in changed for item in everybody[name]]
    inputs += run.state.theories.score_records(names, run.state.experiments.collected)

    def work(context: StepContext) -> ExclusionSensitivity:
        tables = {}
        for name in changed:
            plan = run.state.experiments.preregistrations[name].record
            answers = [item.record.answers for item in everybody[name]]
            n_options = run.trials(name).n_options
            tables[name] = get_trials(
                context.artifacts, put_table(context.artifacts, plan.design, answers, n_options)
            )
        n_excluded = sum(len(everybody[name]) - kept[name] for name in changed)
        return _compared(run.evidence, names, tables, n_excluded)

    return await run.step("sensitivity", work, returns=ExclusionSensitivity, inputs=inputs)


def _compared(
    evidence: RunEvidence, names: Sequence[Digest], tables: Mapping[str, Trials], n_excluded: int
) -> ExclusionSensitivity:
    """The leader's advantage with the rules and on everybody's answers.

    Args:
        evidence: What the run knows.
        names: Theories, the leader first.
        tables: Everybody's answers to the experiments from which people were excluded.
        n_excluded: People who were.
    """
    state = evidence.state
    without = {theory: _scores(evidence, theory, tables) for theory in names}
    with_rules = {
        theory: [
            state.theories.scores[theory, name].record.left_out.scores
            for name in state.experiments.collected
        ]
        for theory in names
    }
    leader, rival = names[:2]
    leader_without = max(names, key=lambda theory: _mean(without[theory]))
    own = paired_difference(with_rules[leader], with_rules[rival])
    other = paired_difference(without[leader], without[rival])
    name_of = state.theories.name
    return ExclusionSensitivity(
        experiments=tuple(tables),
        n_excluded=n_excluded,
        leader=leader,
        leader_without=leader_without,
        rival=rival,
        advantage=own.value,
        interval=own.interval,
        advantage_without=other.value,
        interval_without=other.interval,
        scores={theory: _mean(with_rules[theory]) for theory in names},
        scores_without={theory: _mean(without[theory]) for theory in names},
        text=describe(n_excluded, name_of(leader), name_of(leader_without), own, other),
    )


def describe(
    n_excluded: int, leader: str, leader_without: str, own: ScoreEstimate, other: ScoreEstimate
) -> str:
    """What the exclusions change, in a sentence."""
    same = "leads as well" if leader == leader_without else f"is behind {leader_without}"
    return (
        f"With the {n_excluded} people who were excluded by the preregistered rules {leader} {same}; its advantage "
        f"over the next theory is then {other.value:+.4f} nats per choice ({other.interval_in_words()}) "
        f"instead of {own.value:+.4f}."
    )


def people_of(
    evidence: RunEvidence, trace: Trace, experiment: str
) -> list[Recorded[AnswersArrived]]:
    """Everybody who answered something and let it be used, once each."""
    gone = erased(trace)
    twice = {
        item.record.answers
        for item in trace.records(PersonExcluded)
        if item.record.rule in NECESSARY and item.digest not in gone
    }
    people = answers_of(trace, experiment)
    if experiment in evidence.state.experiments.closed:
        people = before_stop(
            evidence.config, trace, evidence.state.experiments.closed[experiment].record, people
        )
    found = [
        item
        for item in people
        if item.record.n_answers and item.record.status not in REVOKED and item.digest not in twice
    ]
    return sorted(found, key=lambda item: (item.record.person, item.digest))


def _scores(
    evidence: RunEvidence, theory: Digest, tables: Mapping[str, Trials]
) -> list[UnitScores]:
    known = [name for name in evidence.state.experiments.collected if name in tables]
    found = evidence.laboratory.evidence(
        evidence.theory(theory), [tables[name] for name in known], evidence.config.theories.draws
    )
    fresh = dict(zip(known, map(log_predictive, found), strict=True))
    scored: dict[str, TheoryScored] = {
        name: evidence.state.theories.scores[theory, name].record
        for name in evidence.state.experiments.collected
    }
    return [
        fresh[name] if name in fresh else scored[name].left_out.scores
        for name in evidence.state.experiments.collected
    ]


def _mean(scores: Sequence[UnitScores]) -> float:
    """Nats per choice, averaged over experiments."""
    return float(sum(mean_over_units(item).value for item in scores) / len(scores))
