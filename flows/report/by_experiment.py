"""Performance of the leader on each experiment, or on each data set, when it is predicted from the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakatos.experiments.data_sets import left_out_with
from lakatos.flows.report.reader import RunReading
from lakatos.theories.engine.scoreboard import Scores, left_out_scores
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    mean_over_units,
    paired_difference,
)
from lakatos.theories.findings.generic_learners.completeness import guessing, n_offered
from lakatos.theories.findings.verdicts.company import PRINTED_ALIKE
from lakatos.traces.digest import Digest


@dataclass(frozen=True)
class LeaderOnExperiment:
    """The leader on one experiment, or data set, whose answers did not teach who its people are."""

    experiment: str
    """Or the data set, where there are several."""
    found_before: bool
    """Whether the theory itself was there before these answers came; else they had a part in finding it."""
    score: ScoreEstimate
    """Nats per choice."""
    ahead: ScoreEstimate | None
    """Nats per choice by which it is ahead of the best other first rival, likewise predicted, where there is one."""
    guessing: float


def _as_listed(scores: Scores, theory: Digest, experiments: Sequence[str]) -> list[UnitScores]:
    """Scores on each part, predicted from the others; as frozen, where these are the same as printed."""
    found = left_out_scores(theory, experiments, scores)
    if len(found) < len(experiments):  # data sets of several experiments
        return found
    frozen = [scores[theory, name].frozen for name in experiments]
    return [
        item.scores
        if item is not None and abs(item.scores.mean - own.mean) < PRINTED_ALIKE
        else own
        for item, own in zip(frozen, found, strict=True)
    ]


def leader_by_experiment(reading: RunReading) -> list[LeaderOnExperiment]:
    """A line for each experiment, or data set; none where there is no other to predict it from."""
    experiments = reading.board.experiments
    if not reading.board.standings or len(experiments) < 2:
        return []
    leader, rival = reading.board.leader.theory, reading.first_rival
    scores = {key: item.record for key, item in reading.state.theories.scores.items()}
    left_out = left_out_with(experiments)
    own = _as_listed(scores, leader, experiments)
    others = _as_listed(scores, rival, experiments) if rival else own
    found = []
    for name, mine, other in zip(dict.fromkeys(left_out), own, others, strict=True):
        parts = [part for part, whole in zip(experiments, left_out, strict=True) if whole == name]
        found.append(
            LeaderOnExperiment(
                experiment=name,
                found_before=all(scores[leader, part].frozen is not None for part in parts),
                score=mean_over_units(mine),
                ahead=paired_difference([mine], [other]) if rival else None,
                guessing=guessing([n_offered(reading.trials(parts[0]))]),
            )
        )
    return found
