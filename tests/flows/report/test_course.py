"""Sentences about what happened in a run hold for that run."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from rewinding import tiny_run

from lakatos.flows.report import charts
from lakatos.flows.report.course import course, course_of_search, pairs_in_words, ratio_of_verdict
from lakatos.flows.report.figures import score_history
from lakatos.flows.report.formats import interval, interval_of
from lakatos.flows.report.reader import designed_pairs, open_pairs, open_reading
from lakatos.flows.report.report import render
from lakatos.judges.calibration import CalibrationBin
from lakatos.theories.engine.scoring.score import ScoreEstimate


def test_only_cycles_with_a_diagnosis_or_a_proposal_are_named() -> None:
    assert course_of_search([1, 2], {1: 2}) == (
        "In cycles 1 and 2 the misfit of a theory was examined. 2 new theories were proposed (in cycle 1)."
    )
    assert course_of_search([1], {}) == (
        "In cycle 1 the misfit of a theory was examined. No new theory was proposed."
    )
    assert course_of_search([], {}) == ""


def test_the_course_counts_trials_chosen_and_drawn_and_claims_no_prediction_of_later_theories() -> (
    None
):
    with open_reading(tiny_run()) as reading:
        text = course(reading)
        designs = [item.record for item in reading.state.experiments.designs.values()]
    n_trials, n_random = (
        sum(getattr(item, name) for item in designs) for name in ("n_trials", "n_random")
    )
    assert f"Of {n_trials} trials, {n_trials - n_random} were selected to discriminate" in text
    assert f", and {n_random} were drawn at random." in text
    assert "a theory that was proposed later is not tested by these responses" in text


def test_every_pair_of_scored_theories_is_distinguished_open_or_met_in_no_design() -> None:
    with open_reading(tiny_run()) as reading:
        text = pairs_in_words(reading)
        pairs, n_open = designed_pairs(reading), len(open_pairs(reading))
        scored = [line.theory for line in reading.board.standings]
        unmet = [pair for pair in combinations(scored, 2) if frozenset(pair) not in pairs]
    assert text.startswith(
        f"Frozen predictions distinguished {len(pairs) - n_open} of {len(pairs)} pair"
    )
    assert ("were not compared by a design" in text) == bool(unmet)


def test_the_ratio_of_probabilities_is_that_of_the_verdict_and_absent_with_few_participants() -> (
    None
):
    with open_reading(tiny_run()) as reading:
        concluded = reading.concluded
        assert concluded is not None
        assert concluded.advantage is not None
        few = concluded.model_copy(update={"n_units": 9})
        many = concluded.model_copy(update={"n_units": 10})
        recorded = reading.state.campaign.concluded
        assert recorded is not None
        texts = []
        for record in (few, many):
            object.__setattr__(recorded, "record", record)
            texts.append(ratio_of_verdict(reading))
        object.__setattr__(recorded, "record", concluded)
    assert texts[0] == ""
    assert f"{np.exp(concluded.advantage):.2f} times that of" in texts[1]


def test_one_score_has_one_interval_on_the_page() -> None:
    with open_reading(tiny_run()) as reading:
        page = render(reading)
        measured = reading.state.theories.completeness
        if measured is not None:
            line = reading.board.standings[0]
            one = next(item for item in measured.record.theories if item.theory == line.theory)
            assert reading.score_of(one, measured.record) == line.score
        history = str(score_history(reading))
        low, _ = reading.board.standings[0].score.interval
    assert "distinguished every pair" not in page
    assert f"{low:.4f}".replace("-", "\N{MINUS SIGN}") in history


def test_a_point_of_calibration_counts_predictions() -> None:
    one = CalibrationBin(probability=0.98, share=1.0, interval=(0.03, 1.0), n=1)
    drawn = str(charts.reliability([[one]], 400))
    assert "1 prediction near 0.98; favoured by the data: 1" in drawn


def test_of_fewer_than_five_units_no_interval_is_printed() -> None:
    assert interval_of(ScoreEstimate(-0.1, 0.2, 4, 3.0)) == "no interval (n = 4)"
    assert interval_of(ScoreEstimate(-0.1, 0.2, 100, 99.0)) == "−0.5000 to 0.3000"
    assert interval(-0.1, 0.2, 2, 2) == "no interval (n = 2)"
    assert interval(-0.1, 0.2, 2, 6) == "−0.61 to 0.41"  # Student's t with 5 degrees of freedom
    assert interval(-0.1, 0.2, 2) == "−0.50 to 0.30"
