from __future__ import annotations

import re

import pytest

from lakatos.flows.stages.verdict.confirm import verdict
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.findings.verdicts.sensitivity import describe


@pytest.mark.parametrize(
    ("advantage", "outcome", "words"),
    [
        (
            ScoreEstimate(0.011, 0.005),
            "confirmed",
            r"confirmed the prediction of A .*\+0.0010 to \+0.0210",
        ),
        (ScoreEstimate(-0.011, 0.005), "refuted", "contradicted A"),
        (ScoreEstimate(0.009, 0.005), "inconclusive", "inconclusive for A"),
        (ScoreEstimate(0.01, 0.005), "inconclusive", "inconclusive for A"),
        (ScoreEstimate(0.5, 0.01, 9, 8.0), "inconclusive", "below 10 participants"),
        (ScoreEstimate(-0.5, 0.01, 9, 8.0), "inconclusive", "below 10 participants"),
        (None, "inconclusive", "could not be scored"),
    ],
)
def test_the_preregistered_interval_alone_decides(advantage, outcome, words):
    found, text = verdict("A", "B", advantage)
    assert found == outcome
    assert re.search(words, text)


def test_what_exclusions_change_is_told_with_both_numbers():
    text = describe(3, "A", "A", ScoreEstimate(0.05, 0.01), ScoreEstimate(0.04, 0.01))
    assert "the 3 participants" in text
    assert "A also leads" in text
    assert "+0.0400 nats per choice (95% interval +0.0200 to +0.0600) instead of +0.0500" in text
    assert "A scores below B" in describe(
        3, "A", "B", ScoreEstimate(0.05, 0.01), ScoreEstimate(-0.04, 0.01)
    )
