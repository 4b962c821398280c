"""Stage: look whether the leader can still be told from the truth, so that no search is made for what is found."""

from __future__ import annotations

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.discovery.rivals import holds
from lakatos.theories.findings.verdicts import exactness
from lakatos.theories.findings.verdicts.exactness import error_of_all_frozen, exact_rivals, foretold
from lakatos.theories.findings.verdicts.record import ExactnessWeighed
from lakatos.traces.step import Recorded, StepContext


@task(name="weigh")
async def weigh_exactness(run: Run, cycle: int) -> Recorded[ExactnessWeighed] | None:
    """Hold the leader's frozen predictions, and its simulated people, against the responses that came after them.

    Returns:
        What was found; None where nothing was frozen, or a rival was not beaten yet.
    """
    if not run.config.stop.exact:
        return None
    board, allowed = run.state.board(), run.config.stop.exact
    leader = board.leader.theory
    error = error_of_all_frozen(run.evidence, leader)
    if error is None or not holds(run.evidence, board):
        return None

    def work(context: StepContext) -> ExactnessWeighed:
        return exactness.weigh_exactness(
            run.evidence, leader, error, context.rng, cycle=cycle, allowed=allowed
        )

    names = exact_rivals(run.evidence)
    inputs = run.state.theories.score_records(names, run.state.experiments.collected)
    frozen = foretold(run.evidence, leader)
    inputs += [run.state.experiments.preregistrations[name].digest for name in frozen]
    return await run.step(
        "weigh", work, returns=ExactnessWeighed, inputs=inputs, position={"cycle": cycle}
    )
