"""Stage: what the verdict would be if nobody had been excluded."""

from __future__ import annotations

from lakatos.experiments.participants.table import get_trials, put_table
from lakatos.experiments.quality import REVOKED
from lakatos.experiments.record import AnswersArrived, PersonExcluded
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.stages.asked import answers_of, erased
from lakatos.flows.stages.enough import before_stop
from lakatos.theories.findings.verdicts.record import ExclusionSensitivity
from lakatos.theories.findings.verdicts.sensitivity import without_exclusions
from lakatos.traces.step import Recorded, StepContext, Trace

NECESSARY = frozenset({"duplicate"})
"""Rules that hold in any case: the same person twice is not two people."""


@task(name="sensitivity")
async def compare_exclusions(run: Run) -> Recorded[ExclusionSensitivity] | None:
    """Score the pool on everybody's responses, and compare the leader's advantage with that on the people kept."""
    if not run.config.source.one_by_one:
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
        return without_exclusions(run.evidence, names, tables, n_excluded)

    return await run.step("sensitivity", work, returns=ExclusionSensitivity, inputs=inputs)


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
