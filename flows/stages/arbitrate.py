"""Stage: say where and why the loser's predictions fail."""

from __future__ import annotations

from lakatos.flows.run.parts import task
from lakatos.flows.run.run import Run
from lakatos.theories.discovery.diagnosis import diagnose
from lakatos.theories.discovery.diagnosis.case_predictions import features_of_trials, predictions_of
from lakatos.theories.discovery.rivals import leader_and_loser
from lakatos.theories.engine.record import Diagnosis
from lakatos.traces.step import Recorded, StepContext

OTHERS = 2
"""Theories beside the leader that a share of the people might follow."""


@task(name="arbitrate")
async def arbitrate(run: Run, cycle: int) -> Recorded[Diagnosis]:
    """Diagnose the best theory that lost to the leader; every claim cites the scores and the answers behind it."""
    board = run.state.board()
    leader, loser = leader_and_loser(board)
    run.progress.stage(cycle, "examine the misfit", run.state.theories.name(loser))
    names = [loser, leader]
    names += [line.theory for line in board.standings if line.theory not in names][:OTHERS]

    def work(context: StepContext) -> Diagnosis:
        predictions = predictions_of(run.evidence, names)
        return diagnose(
            cycle,
            predictions[0],
            predictions[1],
            board.of(loser).behind,
            features_of_trials(run.evidence),
            run.open_family.grammar,
            context.rng,
            others=predictions[2:],
        )

    return await run.step(
        "arbitrate",
        work,
        returns=Diagnosis,
        inputs=run.state.theories.score_records(names, run.state.experiments.collected),
        position={"cycle": cycle},
    )
