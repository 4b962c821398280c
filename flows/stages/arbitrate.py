"""Stage: say where and why the loser's predictions fail."""

from __future__ import annotations

from lakatos.flows.run.engine import task
from lakatos.flows.run.run import Run
from lakatos.theories.diagnosis import TheoryPredictions, TrialFeatures, diagnose
from lakatos.theories.record import Diagnosis
from lakatos.theories.score import learn_population
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

OTHERS = 2
"""Theories beside the leader that a share of the people might follow."""


@task(name="arbitrate")
async def arbitrate(run: Run, cycle: int) -> Recorded[Diagnosis]:
    """Diagnose the best theory that lost to the leader; every claim cites the scores and the answers behind it."""
    leader, loser = leader_and_loser(run)
    run.progress.stage(cycle, "diagnose", run.state.name(loser))
    board = run.state.board()
    names = [loser, leader]
    names += [line.theory for line in board.standings if line.theory not in names][:OTHERS]
    experiments = list(run.state.collected)
    scores = {
        name: tuple(run.state.scores[name, item].digest for item in experiments) for name in names
    }
    inputs = [digest for name in names for digest in scores[name]]

    def work(context: StepContext) -> Diagnosis:
        trials = [run.trials(name) for name in experiments]
        theories = [run.theory(name) for name in names]
        predictions = [
            TheoryPredictions(name, run.state.name(name), learn_population(own), own, scores[name])
            for name, own in zip(
                names,
                run.laboratory.evidence_of(theories, trials, run.config.theories.draws),
                strict=True,
            )
        ]
        residuals = [
            TrialFeatures(run.domain.features(item.stimuli), (run.state.collected[name].digest,))
            for name, item in zip(experiments, trials, strict=True)
        ]
        return diagnose(
            cycle,
            predictions[0],
            predictions[1],
            board.of(loser).behind,
            residuals,
            run.family.grammar,
            context.rng,
            others=predictions[2:],
        )

    return await run.step(
        "arbitrate", work, returns=Diagnosis, inputs=inputs, position={"cycle": cycle}
    )


def leader_and_loser(run: Run) -> tuple[Digest, Digest]:
    """The leader, and the best rival that is behind it by more than a tie; the second best if all are tied."""
    lines = run.state.board().standings
    behind = [line for line in lines[1:] if not line.tied]
    loser = behind[0] if behind else lines[1]
    return lines[0].theory, loser.theory
