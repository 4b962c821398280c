"""Stage: how close theories came to the hidden rule, where there is one, and how they lie to one another."""

from __future__ import annotations

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.findings.verdicts import truth
from lakatos.theories.findings.verdicts.record import TheoriesMapped, TruthCompared
from lakatos.traces.step import Recorded, StepContext


@task(name="compare_truth")
async def compare_truth(run: Run) -> Recorded[TruthCompared] | None:
    """How close the leader and the published theories came to the hidden rule, over all trials of the space."""
    hidden = run.hidden
    if hidden is None:
        return None
    first = [run.state.board().leader.theory, *run.state.seeds]
    names = list(dict.fromkeys([*first, *run.state.theories.pool]))

    def work(context: StepContext) -> TruthCompared:
        return truth.compare_with_truth(
            run.evidence,
            hidden,
            names,
            context.rng,
            random_choices=run.config.participants.random_choices,
        )

    inputs = [run.state.campaign.cycles[-1].digest, *run.state.theories.fit_records(names)]
    return await run.step("compare_truth", work, returns=TruthCompared, inputs=inputs)


@task(name="map_theories")
async def map_theories(run: Run) -> Recorded[TheoriesMapped] | None:
    """Lay out the pool's theories by what their people choose, on trials of the space."""
    names = list(run.state.theories.pool)
    if len(names) < 3:
        return None

    def work(context: StepContext) -> TheoriesMapped:
        return truth.map_theories(run.evidence, names, context.rng)

    inputs = [run.state.campaign.cycles[-1].digest, *run.state.theories.fit_records(names)]
    return await run.step("map", work, returns=TheoriesMapped, inputs=inputs)
