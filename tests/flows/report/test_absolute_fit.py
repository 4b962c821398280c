"""Responses predicted correctly, and participants whom a theory describes best."""

from __future__ import annotations

import numpy as np
import pytest
from rewinding import tiny_run

from lakatos.flows.report.absolute_fit import absolute_fits, n_best_described, share_correct
from lakatos.flows.report.reader import open_reading


def test_a_response_is_predicted_correctly_if_its_option_has_the_highest_proportion() -> None:
    shares = np.array([[0.3, 0.7], [0.9, 0.1]])
    totals = np.array([[2.0, 8.0], [6.0, 4.0]])
    assert share_correct(shares, totals) == pytest.approx((8 + 6) / 20)


def test_options_with_equal_proportions_share_their_responses() -> None:
    assert share_correct(np.array([[0.5, 0.5]]), np.array([[3.0, 7.0]])) == pytest.approx(0.5)


def test_each_participant_counts_for_the_theory_with_the_highest_log_probability() -> None:
    scores = {"a": np.array([-3.0, -5.0, -2.0]), "b": np.array([-4.0, -4.0, -2.0])}
    assert n_best_described(scores) == {"a": 2, "b": 1}
    assert n_best_described({}) == {}


def test_every_participant_is_described_best_by_one_theory_of_the_leaderboard() -> None:
    with open_reading(tiny_run()) as reading:
        fits = absolute_fits(reading)
        assert list(fits) == [line.theory for line in reading.board.standings]
        collected = reading.state.experiments.collected.values()
        n_people = sum(item.record.n_people for item in collected)
        assert sum(item.n_best or 0 for item in fits.values()) == n_people
        for line in reading.board.standings:
            assert fits[line.theory].chosen == pytest.approx(np.exp(line.score.value))
            assert 0.0 <= (fits[line.theory].correct or 0.0) <= 1.0
