"""The answer of `lakatos why` agrees with the numbers beside it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from lakatos.flows.report.by_experiment import LeaderOnExperiment
from lakatos.flows.report.why import RecordReason, _lines, _rests_on, lead_in_words, strongest_part
from lakatos.flows.report.words import _scored
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


def test_an_initial_theory_that_leads_is_compared_with_the_other_ones() -> None:
    record = CampaignConcluded.model_construct(holds=True, advantage=0.3, basis="frozen")
    assert lead_in_words("Sum", "Tallying", record, is_initial=True) == (
        "Sum predicts better than Tallying, the closest other initial theory, on frozen."
    )


def test_participants_of_the_comparison_are_named_beside_all_whose_responses_were_used() -> None:
    everybody = (
        "The verdict and the estimates behind it are based on 4,800 responses of 50 participants"
    )
    assert _rests_on(4800, 50, "participants", 25) == (
        f"{everybody}; the comparison of the verdict uses the responses of 25 of them."
    )
    assert _rests_on(4800, 50, "participants", 50) == f"{everybody}."
    assert _rests_on(4800, 50, "participants") == (
        "The first record below is based on 4,800 responses of 50 participants."
    )


def test_a_score_is_told_with_what_its_predictions_rest_on_and_the_name_last() -> None:
    units = {"log_predictive": [-1.0, -2.0], "n_choices": [3, 3]}
    words = SimpleNamespace(theory=lambda body, field="theory": "Tallying")
    body = {"experiment": "1.1", "frozen": None, "left_out": units, "declared": units}
    assert _scored(body, words) == (
        "experiment 1.1: score −0.5000 nats per choice (parameters estimated from other data) of Tallying"
    )
    assert "(frozen predictions)" in _scored(body | {"frozen": units}, words)


def test_records_below_a_verdict_that_lead_to_no_new_response_end_without_a_colon() -> None:
    below = RecordReason("b" * 64, 2, "theory_fitted", "parameters estimated: Tallying", ())
    above = RecordReason("a" * 64, 3, "concluded", "Tallying leads", (below,))
    responses = replace(below, kind="trials_collected", words="40 responses")
    assert list(_lines(above, "", "", 1))[1] == "└─ … rests on 1 further record"
    with_them = replace(above, because=(responses,))
    assert list(_lines(with_them, "", "", 1))[1] == "└─ … rests on 1 further record: 40 responses"


def test_a_record_that_stands_further_up_is_counted_and_not_printed_again() -> None:
    fit = RecordReason("b" * 64, 2, "theory_fitted", "parameters estimated: Tallying", ())
    again = replace(fit, again=True)
    cycle = RecordReason("c" * 64, 3, "cycle_closed", "cycle 1 ended", (fit,))
    verdict = RecordReason("a" * 64, 4, "concluded", "Tallying leads", (cycle, again, again))
    lines = list(_lines(verdict, "", "", 3))
    assert sum("parameters estimated" in line for line in lines) == 1
    assert lines[-1] == "└─ and 2 records shown above"
    assert list(_lines(replace(verdict, n_left=4), "", "", 3))[-1] == (
        "└─ and 2 records shown above and 4 more"
    )


def on(name: str, ahead: float) -> LeaderOnExperiment:
    score = ScoreEstimate(-0.5, 0.01, 30, 29.0)
    return LeaderOnExperiment(name, True, score, ScoreEstimate(ahead, 0.005, 30, 29.0), -0.7)


def test_an_experiment_is_called_evidence_only_if_its_interval_lies_above_zero() -> None:
    (clear,) = strongest_part([on("1.1", -0.0063), on("2.1", 0.1)], "experiment")
    assert clear.startswith(
        "The strongest evidence is experiment 2.1 (of 2, each predicted from the others): +0.1000"
    )
    assert clear.endswith(", uncorrected).")
    (none,) = strongest_part([on("1.1", -0.0063), on("2.1", 0.0026)], "experiment")
    assert none.startswith(
        "No experiment by itself shows an advantage; the difference is largest in"
    )
    assert list(strongest_part([], "experiment")) == []


def test_an_experiment_whose_interval_lies_below_zero_is_stated_as_favouring_the_rival() -> None:
    _, rival = strongest_part([on("1.1", -0.02), on("2.1", 0.0026)], "experiment")
    assert rival.startswith(
        "Experiment 1.1 favours the rival: -0.0200 nats per choice (95% interval"
    )
