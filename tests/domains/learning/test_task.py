import re

import numpy as np
import pytest

from lakatos.domains.learning.task import LearningDomain, read_settings, schedule
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.experiments.testing import DomainContract

DOMAIN = LearningDomain()


class TestLearning(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAIN

    @pytest.fixture
    def settings(self):
        return {"task": "reversal", "n_steps": 12, "reversal_every": 4}

    def test_candidates_are_different_admissible_trials_of_the_space(
        self, domain, settings, stimuli
    ):
        domain.check(stimuli)  # a schedule comes whole; it cannot be found in a list of all
        assert len(stimuli) == 12
        assert len(set(stimuli.keys)) == len(stimuli)

    def test_an_empty_space_is_refused(self, domain):
        assert len(domain.space({"n_steps": 1})) == 1  # every admissible setting has a schedule


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"steps": 3}, "unknown settings of the learning domain: steps"),
        ({"task": "maze"}, "task is 'maze'"),
        ({"n_steps": 2.5}, "'n_steps' of the learning domain cannot be 2.5"),
        ({"best": 1.5}, "best is 1.5; give 0 to 1"),
        ({"n_options": 1}, "n_options is 1; give 2 to 6"),
        ({"task": "two_step", "n_steps": 7}, "an even number of steps"),
        ({"task": "two_step", "n_steps": 8, "n_options": 3}, "2 options"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=re.escape(words)):
        read_settings(settings)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("payoff", np.nan, "finite"),
        ("available", 2.0, "available is 0 or 1"),
        ("available", 0.0, "at least one option"),
        ("next_state", 5.0, "next_state is 0 to 2"),
        ("stage", 3.0, "stage is 0 or 1"),
    ],
)
def test_impossible_steps_are_named(name, value, words):
    arrays = {key: array.copy() for key, array in DOMAIN.space({"n_steps": 6}).arrays.items()}
    arrays[name][3] = value
    with pytest.raises(StimuliError, match=f"step 3 of the schedule: .*{words}"):
        DOMAIN.check(Stimuli(arrays))


@pytest.mark.statistical
def test_the_best_option_pays_as_often_as_it_should_and_changes_about_as_often():
    settings = read_settings(
        {
            "task": "reversal",
            "n_steps": 2000,
            "n_options": 3,
            "best": 0.8,
            "others": 0.2,
            "reversal_every": 20,
        }
    )
    payoff = schedule(settings, np.random.default_rng(1))["payoff"][:, 0]
    assert abs(payoff.mean() - 0.4) < 4 * np.sqrt(0.18 / payoff.size)
    window = np.stack([np.convolve(column, np.ones(11) / 11, "same") for column in payoff.T])
    changes = (np.diff(window.argmax(axis=0)) != 0).sum()
    assert 2000 / 20 * 0.7 < changes < 2000 / 20 * 3


@pytest.mark.statistical
def test_two_step_first_choices_lead_to_their_common_states():
    stimuli = schedule(
        read_settings({"task": "two_step", "n_steps": 2000}), np.random.default_rng(2)
    )
    led = stimuli["next_state"][::2, 0]
    assert set(np.unique(led)) == {1.0, 2.0}
    assert (led[:, 0] != led[:, 1]).all()
    assert abs((led[:, 0] == 1).mean() - 0.7) < 4 * np.sqrt(0.21 / len(led))
    assert not stimuli["payoff"][::2].any()
    assert not stimuli["payoff"][1::2, 0].any()


def test_blocks_begin_where_they_should():
    stimuli = schedule(read_settings({"n_steps": 12, "n_blocks": 3}), np.random.default_rng(0))
    np.testing.assert_array_equal(np.flatnonzero(stimuli["block_start"]), [0, 4, 8])
