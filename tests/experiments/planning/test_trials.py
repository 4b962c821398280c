"""Trials of a design: the most telling ones, some by lot, no more than the study pays for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from known_rivals import is_telling, question_of, trials

from lakatos.domains import DOMAINS
from lakatos.experiments.planning.trials import ChosenTrials, choose_from
from lakatos.experiments.task import StimulusOffer

OFFER = StimulusOffer("", trials(6, 14), 0)


def chosen(**settings) -> ChosenTrials:
    return choose_from(question_of(**settings), OFFER, np.random.default_rng(0))


def searched(found: ChosenTrials) -> list[int]:
    """Places of the trials that were not drawn at random."""
    return [row for row in range(len(found.stimuli)) if row not in found.random]


def test_without_random_coverage_the_telling_trials_are_chosen() -> None:
    found = chosen(trials=6, random_share=0.0)
    assert is_telling(found.stimuli).all()
    assert searched(found) == list(range(6))
    assert found.information[0] > found.information[-1] > 0


def test_a_share_of_the_trials_is_drawn_at_random() -> None:
    found = chosen(trials=8, random_share=0.25)
    assert len(found.random) == 2
    assert sorted([*searched(found), *found.random]) == list(range(8))
    assert [np.isnan(value) for value in found.information] == [
        row in found.random for row in range(8)
    ]
    assert is_telling(found.stimuli.take(searched(found))).all()


@pytest.mark.parametrize(
    ("most", "n_trials"), [(0.0, 8), (4.0, 2), (2.0, 1)], ids=["no limit", "two trials", "one"]
)
def test_the_trials_of_a_participant_cost_no_more_than_the_study_pays(
    most: float, n_trials: int
) -> None:
    cost = {"per_response": 1.0, "most_per_participant": most}
    found = chosen(trials=8, random_share=0.0, repetitions=2, cost=cost)
    assert len(found.stimuli) == n_trials


def test_of_a_small_offer_all_trials_are_chosen() -> None:
    assert len(chosen(trials=50, random_share=0.0).stimuli) == len(OFFER.stimuli)


def test_a_trial_of_an_archive_is_paid_once() -> None:
    cost = {"per_response": 1.0, "most_per_participant": 4.0}
    question = question_of(trials=8, random_share=0.0, repetitions=2, cost=cost)
    found = choose_from(question, replace(OFFER, archive="old"), np.random.default_rng(0))
    assert len(found.stimuli) == 4


def test_a_schedule_is_chosen_whole() -> None:
    domain = DOMAINS["learning"]
    steps = domain.candidates({"task": "reversal", "n_steps": 6}, np.random.default_rng(0), 6)
    question = replace(question_of(trials=2), domain=domain)
    found = choose_from(question, StimulusOffer("", steps, 0), np.random.default_rng(0))
    assert found.stimuli is steps
    assert (found.information, found.random) == ((0.0,) * 6, ())
