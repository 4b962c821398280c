"""Trials drawn at random are compared apart from trials selected to separate theories."""

from __future__ import annotations

import numpy as np
import pytest
from rewinding import tiny_run

from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.report.random_trials import on_random_trials, scores_on, with_both_options
from lakatos.flows.report.reader import open_reading

TWO = Trials(
    experiment="e",
    stimuli=Stimuli({"x": np.arange(3.0)}),
    participant=np.array([0, 0, 0, 1, 1]),
    trial=np.array([0, 1, 2, 0, 1]),
    response=np.array([1, 0, 1, 0, 0]),
    count=np.ones(5),
)
SHARES = np.array([[0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])


def test_responses_are_scored_by_the_predicted_proportion_of_their_option() -> None:
    found = scores_on(TWO, SHARES, [0, 1])
    np.testing.assert_allclose(
        found.log_predictive, [np.log(0.8) + np.log(0.6), np.log(0.2) + np.log(0.6)]
    )
    np.testing.assert_allclose(found.n_choices, [2, 2])


def test_participants_without_a_response_to_these_trials_do_not_count() -> None:
    found = scores_on(TWO, SHARES, [2])
    np.testing.assert_allclose(found.log_predictive, [np.log(0.5)])
    np.testing.assert_allclose(found.n_choices, [1])


def test_the_proportion_of_the_last_of_two_options_gives_that_of_the_first() -> None:
    np.testing.assert_allclose(with_both_options(SHARES[:, 1:]), SHARES)
    assert with_both_options(SHARES) is SHARES


def test_both_kinds_of_trials_are_all_trials_of_the_experiments_with_frozen_predictions() -> None:
    with open_reading(tiny_run()) as reading:
        found = on_random_trials(reading)
        assert found is not None
        designs = reading.state.experiments.designs
        chosen = [designs[name].record for name in found.experiments]
        assert found.n_random == sum(item.n_random for item in chosen)
        assert found.n_random + found.n_selected == sum(item.n_trials for item in chosen)
        assert found.rival == reading.first_rival
        n_people = [
            reading.state.experiments.collected[name].record.n_people for name in found.experiments
        ]
        assert found.at_random.n_units == sum(n_people)


def test_a_rival_that_predicts_alike_has_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    with open_reading(tiny_run()) as reading:
        leader = reading.leader
        monkeypatch.setattr(type(reading), "first_rival", leader)
        found = on_random_trials(reading)
        assert found is not None
        assert (found.at_random.value, found.selected.value) == (0.0, 0.0)
