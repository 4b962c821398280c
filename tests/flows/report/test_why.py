"""The answer of `lakatos why` agrees with the numbers beside it."""

from __future__ import annotations

import pytest

from lakatos.flows.report.by_experiment import LeaderOnExperiment
from lakatos.flows.report.why import lead_in_words, strongest_part
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.findings.verdicts.record import CampaignConcluded


@pytest.mark.parametrize(
    ("advantage", "holds", "words"),
    [
        (0.33, True, "Sum predicts better than Tallying, the closest initial theory, on frozen."),
        (-0.0019, False, "Sum was not shown to predict better than Tallying, the closest initial"),
        (None, False, "Sum leads and Tallying is second; the study has no other initial theory."),
    ],
)
def test_a_lead_is_stated_as_the_comparison_of_the_verdict_found_it(
    advantage: float | None, holds: bool, words: str
) -> None:
    record = CampaignConcluded.model_construct(holds=holds, advantage=advantage, basis="frozen")
    assert lead_in_words("Sum", "Tallying", record).startswith(words)


def on(name: str, ahead: float) -> LeaderOnExperiment:
    score = ScoreEstimate(-0.5, 0.01, 30, 29.0)
    return LeaderOnExperiment(name, True, score, ScoreEstimate(ahead, 0.005, 30, 29.0), -0.7)


def test_an_experiment_is_called_evidence_only_if_its_interval_lies_above_zero() -> None:
    (clear,) = strongest_part([on("1.1", -0.0063), on("2.1", 0.1)], "experiment")
    assert clear.startswith(
        "The strongest evidence is experiment 2.1 (of 2, each predicted from the others): +0.1000"
    )
    (none,) = strongest_part([on("1.1", -0.0063), on("2.1", 0.0026)], "experiment")
    assert none.startswith("No experiment by itself shows an advantage; it is largest in")
    assert list(strongest_part([], "experiment")) == []
