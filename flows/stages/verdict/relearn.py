"""Stage: after the verdict, the leading theory's population is estimated from all responses, sealed ones included.

The verdict rests on a population that sealed responses had no part in. Whoever goes on with the theory wants the best
estimate that there is: `lakatos transfer`, exports and the notebook use the one that is estimated here.
"""

from __future__ import annotations

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.flows.stages.score import learned_population
from lakatos.theories.engine.record import PopulationRelearned
from lakatos.theories.errors import TheoryError
from lakatos.traces.step import Recorded, StepContext


@task(name="relearn")
async def relearn(run: Run) -> Recorded[PopulationRelearned] | None:
    """Estimate the leader's population again, where there are sealed responses.

    Returns:
        The record; None where nothing was sealed, or where the theory fails on all responses together.
    """
    opened, concluded = run.state.experiments.sealed, run.state.campaign.concluded
    assert concluded is not None
    if opened is None:
        return None
    leader = concluded.record.leader
    collected = run.state.experiments.collected.values()
    tables = (*(item.record.trials for item in collected), *opened.record.trials)

    def work(context: StepContext) -> PopulationRelearned:
        trials = [run.trials_of(digest) for digest in tables]
        (learned,) = run.laboratory.people_of([run.form(leader)], [{}], trials)
        if isinstance(learned, TheoryError):
            raise learned
        pooled = all(item.pooled for item in trials)
        return learned_population(PopulationRelearned, leader, tables, learned, pooled=pooled)

    inputs = [concluded.digest, opened.digest, *(item.digest for item in collected)]
    try:
        return await run.step("relearn", work, returns=PopulationRelearned, inputs=inputs)
    except TheoryError as error:
        run.progress.note(f"its population stays that of the verdict: {error}")
        return None
