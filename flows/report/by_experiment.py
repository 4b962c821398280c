"""How the leader does on each experiment when it is predicted from the others."""

from __future__ import annotations

from dataclasses import dataclass

from lakatos.flows.report.reader import RunReading
from lakatos.theories.generic_learners.completeness import guessing
from lakatos.theories.scoring.score import ScoreEstimate, mean_over_units, paired_difference


@dataclass(frozen=True)
class LeaderOnExperiment:
    """The leader on one experiment whose answers did not teach who its people are."""

    experiment: str
    found_before: bool
    """Whether the theory itself was there before these answers came; else they had a part in finding it."""
    score: ScoreEstimate
    """Nats per choice."""
    ahead: ScoreEstimate | None
    """Nats per choice by which it is ahead of the best other first rival, likewise predicted, where there is one."""
    guessing: float


def leader_by_experiment(reading: RunReading) -> list[LeaderOnExperiment]:
    """A line for each experiment; none where there is no other to predict it from."""
    experiments = reading.board.experiments
    if not reading.board.standings or len(experiments) < 2:
        return []
    leader, rival = reading.board.leader.theory, reading.first_rival
    found = []
    for name in experiments:
        own = reading.state.theories.scores[leader, name].record
        ahead = None
        if rival is not None:
            other = reading.state.theories.scores[rival, name].record
            ahead = paired_difference([own.left_out.scores], [other.left_out.scores])
        found.append(
            LeaderOnExperiment(
                experiment=name,
                found_before=own.frozen is not None,
                score=mean_over_units(own.left_out.scores),
                ahead=ahead,
                guessing=guessing([reading.trials(name).n_options]),
            )
        )
    return found
