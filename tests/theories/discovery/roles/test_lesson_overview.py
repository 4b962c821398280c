"""What follows outcomes, computed from sequences short enough to be counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli, Trials
from lakatos.language_models.context import count_tokens
from lakatos.theories.discovery.roles import lesson_overview
from lakatos.theories.discovery.roles.lesson_overview import lessons_exhibit, outcome_levels

CHOICES = [0, 0, 1, 1, 0, 1]
OUTCOMES = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]


def learning(n_people: int, response: list[int], reward: list[float], n_options: int = 2) -> Trials:
    n_steps = len(response) // n_people
    return Trials(
        experiment="1.1",
        stimuli=Stimuli({"x": np.zeros(n_steps)}),
        participant=np.repeat(np.arange(n_people), n_steps),
        trial=np.tile(np.arange(n_steps), n_people),
        response=np.array(response),
        count=np.ones(len(response), dtype=np.int64),
        n_options=n_options,
        n_people=n_people,
        feedback={"reward": np.array(reward)},
    )


def test_stays_lags_and_last_outcomes_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson_overview, "LEAST", 1)
    found = lessons_exhibit(learning(1, CHOICES, OUTCOMES), "a" * 64, "1.1", 1)
    assert found is not None
    stays, lags, last, patterns, curve, sequences = found.value.values()
    # After outcome 1 at steps 1 and 3 both stay; after 0 at steps 2, 4 and 5 all leave.
    assert stays == {"0": {"share": "0", "responses": 3}, "1": {"share": "1", "responses": 2}}
    assert lags["2 before"] == {"0": ".50", "1": "0"}
    assert last == {
        "first 0, second 0": ".50",
        "first 0, second 1": "1",
        "first 0, second not yet chosen": "1",
        "first 1, second not yet chosen": "0",
        "first not yet chosen, second not yet chosen": "0",
    }
    # Before step 4, the newest pick first, second +, first -, first +: it repeats the second.
    assert patterns == {"s+ o- o+": "1", "s- o- o+": "0", "s- s+ o-": "0"}
    assert curve[0] == "1. 1 / 0; 1.0"
    assert list(sequences.values()) == ["1+1-2+2-1-2+"] * 3


def test_nothing_of_one_game_counts_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson_overview, "LEAST", 1)
    trials = learning(1, [0, 0, 0, 1], [1.0, 1.0, 0.0, 1.0])
    games = Stimuli({"block_start": np.array([1.0, 0.0, 1.0, 0.0])})
    found = lessons_exhibit(replace(trials, stimuli=games), "a" * 64, "1.1", 1)
    assert found is not None
    stays, last, *_ = found.value.values()
    assert stays == {"0": {"share": "0", "responses": 1}, "1": {"share": "1", "responses": 1}}
    assert last["first not yet chosen, second not yet chosen"] == "0"
    assert last["first 1, second not yet chosen"] == "0"
    assert last["first 0, second not yet chosen"] == "1"


def test_of_more_than_two_options_each_counts_by_its_own_last_outcome(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lesson_overview, "LEAST", 1)
    found = lessons_exhibit(learning(1, [0, 0, 2], [1.0, 0.0, 1.0], 3), "a" * 64, "1.1", 1)
    assert found is not None
    last = list(found.value.values())[2]
    # Seven times an option was not yet chosen: it was taken at steps 1 and 3.
    assert last == {"0": "0", "1": "1", "not yet chosen": ".29"}


def test_many_different_outcomes_are_thirds_that_share_no_response() -> None:
    reward = np.arange(12.0)[None]
    levels = outcome_levels(reward, np.ones((1, 12), dtype=bool))
    assert [int(places.sum()) for _, places in levels] == [4, 4, 4]


def test_it_fits_1500_tokens_for_a_large_experiment() -> None:
    rng, n = np.random.default_rng(3), 100 * 200
    trials = learning(100, rng.integers(0, 4, n).tolist(), rng.normal(size=n).tolist(), 4)
    found = lessons_exhibit(trials, "a" * 64, "1.1", 1)
    assert found is not None
    assert count_tokens(found.entry.text) <= 1500


def test_counts_and_tasks_without_outcomes_have_none() -> None:
    trials = learning(1, CHOICES, OUTCOMES)
    for other in (replace(trials, feedback={}), replace(trials, pooled=True)):
        assert lessons_exhibit(other, "a", "1.1", 1) is None
