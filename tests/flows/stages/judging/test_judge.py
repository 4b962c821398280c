"""Which candidates an experiment compares in any case."""

from __future__ import annotations

import pytest

from lakatos.flows.run.evidence import RunEvidence
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.judging.judge import _placed
from lakatos.theories.engine.record import SuccessorSubmitted
from lakatos.theories.engine.scoring.score import ScoreEstimate

BETTER, TIED, WORSE, BEST = (letter * 64 for letter in "abcd")
AHEAD = {
    BETTER: ScoreEstimate(0.1, 0.01, 40, 39.0),
    TIED: ScoreEstimate(-0.01, 0.02, 40, 39.0),
    WORSE: ScoreEstimate(-0.1, 0.01, 40, 39.0),
    BEST: ScoreEstimate(0.05, 0.01, 40, 39.0),
}
CRITERIA = {BETTER: -0.60, TIED: -0.55, WORSE: -0.10, BEST: -0.50}
SUBMITTED = [
    SuccessorSubmitted(source=name, author="grammar", parents=(), change="", criterion=value)
    for name, value in CRITERIA.items()
]


@pytest.fixture
def config(evidence: RunEvidence) -> CampaignConfig:
    return evidence.config


@pytest.mark.parametrize(
    ("n_rivals", "placed"),
    [
        (2, [BEST]),
        (3, [BEST, TIED]),
        (4, [BEST, TIED, BETTER]),
        (9, [BEST, TIED, BETTER]),  # the responses speak against the other
    ],
)
def test_candidates_with_the_best_criterion_have_a_place_unless_responses_speak_against_them(
    config: CampaignConfig, n_rivals: int, placed: list[str]
) -> None:
    """One place of the rivals is the leader's; whoever has a place costs nothing more."""
    theories = config.theories.model_copy(update={"rivals": n_rivals})
    study = config.model_copy(update={"theories": theories})
    assert _placed(study, SUBMITTED, AHEAD) == placed
