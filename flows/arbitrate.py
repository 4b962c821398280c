"""Stage: say where and why the loser's predictions fail."""

from __future__ import annotations

import numpy as np

from flows.engine import task
from flows.run import Run
from theories.diagnosis import Residuals, diagnose
from theories.record import Diagnosis
from traces.digest import Digest
from traces.step import Recorded, StepContext


@task(name="arbitrate")
async def arbitrate(run: Run, cycle: int) -> Recorded[Diagnosis]:
    """Diagnose the best theory that lost to the leader; every claim cites the scores and the answers behind it."""
    leader, loser = leader_and_loser(run)
    run.progress.stage(cycle, "diagnose", run.state.name(loser))
    experiments = list(run.state.collected)
    board = run.state.board()
    inputs = [run.state.scores[name, experiment].digest for experiment in experiments for name in (loser, leader)]

    def work(context: StepContext) -> Diagnosis:
        residuals = []
        for experiment in experiments:
            trials = run.trials(experiment)
            scores = {name: run.state.scores[name, experiment] for name in (loser, leader)}
            totals = trials.counts.sum(axis=(0, 2))
            answered = totals > 0
            residuals.append(
                Residuals(
                    experiment=experiment,
                    features={name: values[answered] for name, values in run.domain.features(trials.stimuli).items()},
                    observed=trials.proportions[answered, -1],
                    n_answers=totals[answered],
                    counts=None if trials.pooled else trials.counts[:, answered],
                    loser=np.asarray(scores[loser].record.proportions)[answered],
                    leader=np.asarray(scores[leader].record.proportions)[answered],
                    records=(scores[loser].digest, scores[leader].digest, run.state.collected[experiment].digest),
                )
            )
        return diagnose(
            cycle,
            (loser, run.state.name(loser)),
            (leader, run.state.name(leader)),
            board.of(loser).behind,
            residuals,
            run.family.grammar,
        )

    return await run.step("arbitrate", work, returns=Diagnosis, inputs=inputs, position={"cycle": cycle})


def leader_and_loser(run: Run) -> tuple[Digest, Digest]:
    """The leader, and the best rival that is behind it by more than a tie; the second best if all are tied."""
    lines = run.state.board().standings
    behind = [line for line in lines[1:] if not line.tied]
    loser = behind[0] if behind else lines[1]
    return lines[0].theory, loser.theory
