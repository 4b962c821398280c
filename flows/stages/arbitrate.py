"""Stage: say where and why the loser's predictions fail."""

from __future__ import annotations

from collections.abc import Sequence

from lakatos.flows.run.engine import task
from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.run import Run
from lakatos.flows.run.state import RunState
from lakatos.theories.diagnosis import TheoryPredictions, TrialFeatures, diagnose
from lakatos.theories.record import Diagnosis
from lakatos.theories.scoring.score import learn_population
from lakatos.traces.digest import Digest
from lakatos.traces.step import Recorded, StepContext

OTHERS = 2
"""Theories beside the leader that a share of the people might follow."""


@task(name="arbitrate")
async def arbitrate(run: Run, cycle: int) -> Recorded[Diagnosis]:
    """Diagnose the best theory that lost to the leader; every claim cites the scores and the answers behind it."""
    leader, loser = leader_and_loser(run.state)
    run.progress.stage(cycle, "diagnose", run.state.theories.name(loser))
    board = run.state.board()
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
            run.family.grammar,
            context.rng,
            others=predictions[2:],
        )

    return await run.step(
        "arbitrate",
        work,
        returns=Diagnosis,
        inputs=scores_behind(run.state, names),
        position={"cycle": cycle},
    )


def scores_behind(state: RunState, names: Sequence[Digest]) -> list[Digest]:
    """Records of the scores of some theories on all experiments."""
    return state.theories.score_records(names, state.experiments.collected)


def predictions_of(evidence: RunEvidence, names: Sequence[Digest]) -> list[TheoryPredictions]:
    """What theories, with the people whom all open answers show, say of every experiment."""
    trials = [evidence.trials(name) for name in evidence.state.experiments.collected]
    theories = [evidence.theory(name) for name in names]
    said = evidence.laboratory.evidence_of(theories, trials, evidence.config.theories.draws)
    return [
        TheoryPredictions(
            name,
            evidence.state.theories.name(name),
            learn_population(own),
            own,
            tuple(scores_behind(evidence.state, [name])),
        )
        for name, own in zip(names, said, strict=True)
    ]


def features_of_trials(evidence: RunEvidence) -> list[TrialFeatures]:
    """What describes the trials of each experiment, with the record of its answers."""
    return [
        TrialFeatures(evidence.domain.features(evidence.trials(name).stimuli), (collected.digest,))
        for name, collected in evidence.state.experiments.collected.items()
    ]


def leader_and_loser(state: RunState) -> tuple[Digest, Digest]:
    """The leader, and the best rival that is behind it by more than a tie; the second best if all are tied."""
    lines = state.board().standings
    behind = [line for line in lines[1:] if not line.tied]
    loser = behind[0] if behind else lines[1]
    return lines[0].theory, loser.theory
