"""Stage: the rivals in fair company, beside all published theories of the domain and learners that know nothing."""

from __future__ import annotations

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.engine.record import CompletenessMeasured
from lakatos.theories.findings.verdicts.company import measure_company
from lakatos.traces.step import Recorded, StepContext


@task(name="measure_completeness")
async def measure_completeness(run: Run) -> Recorded[CompletenessMeasured] | None:
    """How much of what generic learners predict each rival predicts, and every published theory of the domain.

    All of them are taught by the same open answers and predict the same others: sealed ones, or parts left out in turn.

    Returns:
        What was found, or None where the study asks for no company.
    """
    if not run.config.validation.company:
        return None
    names = [line.theory for line in run.state.board().standings]
    inputs = [item.digest for item in run.state.experiments.collected.values()]
    inputs += run.state.theories.score_records(names, run.state.experiments.collected)
    inputs += [
        run.state.theories.sealed_scores[name].digest
        for name in names
        if name in run.state.theories.sealed_scores
    ]
    inputs += run.state.theories.fit_records(names)

    def work(context: StepContext) -> CompletenessMeasured:
        return measure_company(run.evidence, names, context.artifacts)

    return await run.step("measure_completeness", work, returns=CompletenessMeasured, inputs=inputs)
