"""The noise ceiling and the averages of scores, each on a case worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    average,
    noise_ceiling,
    over_data_sets,
)


def counts(table: list[list[int]]) -> Trials:
    """Pooled responses: for each trial how often each option was chosen."""
    n_trials, n_options = np.shape(table)
    trial, response = (axis.ravel() for axis in np.indices((n_trials, n_options)))
    return Trials(
        "e", Stimuli({"x": np.arange(float(n_trials))}), participant=np.zeros(trial.size, dtype=int),
        trial=trial, response=response, count=np.ravel(table), pooled=True, n_people=4,
    )  # fmt: skip


def test_each_of_the_counted_responses_is_predicted_by_the_others_to_its_trial() -> None:
    found = noise_ceiling(counts([[3, 1], [1, 0]]))
    # Of the first trial the others are 2 and 1, or 3 and 0, of three; a single response has no others.
    first = 3 * log((2 + 0.5) / (3 + 1)) + log((0 + 0.5) / (3 + 1))
    alone = log(0.5)
    assert found is not None
    assert found.value == pytest.approx((first + alone) / 5)
    assert found.n_units == 2


def test_a_trial_without_responses_is_no_unit_of_the_ceiling() -> None:
    found, without = noise_ceiling(counts([[3, 1], [0, 0]])), noise_ceiling(counts([[3, 1]]))
    assert found is not None
    assert without is not None
    assert (found.value, found.n_units) == (without.value, 1)


def test_single_responses_have_no_ceiling() -> None:
    assert noise_ceiling(counts([[1, 0], [0, 1]])) is None


def test_participants_of_one_archive_count_once_in_an_average() -> None:
    parts = [ScoreEstimate(0.2, 0.1, 12, 11.0), ScoreEstimate(0.4, 0.1, 12, 11.0)]
    apart = average(parts, ["1.1", "2.1"])
    same = average(parts, ["1.1 gambles", "2.1 gambles"])
    assert (apart.value, same.value) == (pytest.approx(0.3), pytest.approx(0.3))
    assert (apart.n_units, same.n_units) == (24, 12)
    assert average(parts).n_units == 24  # experiments without names are different ones


def test_an_experiment_of_a_single_participant_counts_only_where_there_is_no_other() -> None:
    known, unknown = ScoreEstimate(0.2, 0.1, 12, 11.0), ScoreEstimate(9.0, 1e9, 1)
    assert average([known, unknown]).value == 0.2
    assert average([unknown, unknown]).value == 9.0


def test_experiments_of_a_data_set_are_scored_together_where_there_are_several_data_sets() -> None:
    first, second, third = (
        UnitScores(np.array([value]), np.ones(1)) for value in (-1.0, -2.0, -3.0)
    )
    found = over_data_sets(
        ["1.1 risky_cpc18/1", "2.1 risky_spektor2024/1", "3.1 risky_cpc18/2"],
        [first, second, third],
    )
    assert [item.log_predictive.tolist() for item in found] == [[-1.0, -3.0], [-2.0]]
    assert over_data_sets(["1", "2", "3"], [first, second, third]) == [first, second, third]
