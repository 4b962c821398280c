"""Stage: names and words for what was learned, each clause of the leader tried on the trials that were asked."""

from __future__ import annotations

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.engine.record import TheoriesTold
from lakatos.theories.findings.verdicts.tell import tell_of
from lakatos.traces.step import Recorded, StepContext


@task(name="tell_theories")
async def tell_theories(run: Run) -> Recorded[TheoriesTold]:
    """Name all rivals for what was learned about people, and try what the leader says."""
    names = [line.theory for line in run.state.board().standings]
    collected, scores = run.state.experiments.collected, run.state.theories.sealed_scores
    inputs = [item.digest for item in collected.values()]
    inputs += [run.state.theories.checked[name].digest for name in names]
    inputs += [scores[name].digest for name in names if name in scores]
    inputs += run.state.theories.fit_records(names)

    def work(context: StepContext) -> TheoriesTold:
        return tell_of(run.evidence, names)

    return await run.step("tell_theories", work, returns=TheoriesTold, inputs=inputs)
