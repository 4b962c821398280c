"""Stopping: sessions by hand, what follows a decision, what is refused, and how a decision looks."""

import re
from itertools import pairwise

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.stopping.task import SEEN, decisions, read_settings
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli, seen_trial
from lakatos.experiments.testing import DomainContract

DOMAIN = DOMAINS["stopping"]
PUMP, COLLECT = 0, 1


class TestStopping(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAIN

    @pytest.fixture
    def settings(self):
        return {"n_steps": 12, "most": 8}

    def test_candidates_are_different_admissible_trials_of_the_space(
        self, domain, settings, stimuli
    ):
        domain.check(stimuli)  # a session comes whole; it cannot be found in a list of all
        assert len(set(stimuli.keys)) == len(stimuli) == 12

    def test_an_empty_space_is_refused(self, domain):
        assert len(domain.space({"n_steps": 1})) == 1  # every admissible setting has a session

    def test_swapping_sides_twice_changes_nothing(self, domain, stimuli):
        assert domain.swap_sides(stimuli) is stimuli  # pump and collect have an order of their own


def walked(luck, most, responses, burst_chance=0.0):
    """What follows each decision of one participant."""
    session = decisions(len(responses), most, luck=np.array(luck), burst_chance=burst_chance)
    told, before = [], {}
    for step, response in enumerate(responses):
        arrays = session.take([step]).arrays
        before = DOMAIN.feedback(arrays, DOMAIN.shown(arrays, before), np.array([[response]]))
        told.append({name: float(value[0, 0]) for name, value in before.items()})
    return told


def test_collecting_pays_the_pumps_and_a_burst_nothing():
    # the third pump of the second balloon bursts it: 1 of 2 numbers of pumps is left, and luck is above one half
    told = walked([0.1] * 5 + [0.6], 4, [PUMP, PUMP, COLLECT, PUMP, PUMP, PUMP])
    assert [item["reward"] for item in told] == [0, 0, 2, 0, 0, 0]
    assert [item["burst"] for item in told] == [0, 0, 0, 0, 0, 1]
    assert [item["pumps"] for item in told] == [1, 2, 0, 1, 2, 0]
    last = {name: told[-1][name] for name in SEEN}
    assert last == {"pumps": 0, "balloons": 2, "made": 5, "bursts": 1, "last_burst": 1}


def test_a_balloon_with_all_its_pumps_is_collected_unless_the_last_pump_bursts_it():
    kept = walked([0.05] * 2, 2, [PUMP, PUMP], burst_chance=0.1)
    assert [item["reward"] for item in kept] == [0, 2]
    # all numbers of pumps are equally likely to burst it, so that the last one surely does
    assert [item["burst"] for item in walked([0.05] * 2, 2, [PUMP, PUMP])] == [0, 1]


def test_balloons_of_unknown_luck_never_burst():
    assert sum(item["burst"] for item in walked([0.0] * 8, 8, [PUMP] * 8)) == 0


@pytest.mark.statistical
def test_all_numbers_of_pumps_are_equally_likely_to_burst_a_balloon():
    session = DOMAIN.candidates({"n_steps": 2000, "most": 4}, np.random.default_rng(1), 1)
    told = walked(session["luck"], 4, [PUMP] * 2000)
    pumps = [before["pumps"] + 1 for before, item in pairwise(told) if item["burst"]]
    share = np.bincount(np.array(pumps, dtype=int), minlength=5)[1:] / len(pumps)
    assert np.abs(share - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / len(pumps))


@pytest.mark.parametrize(
    ("feedback", "wanted"),
    [
        ({"burst": 1.0, "pumps": 0.0}, "burst"),
        ({"burst": 0.0, "pumps": 0.0}, "collected"),
        ({"burst": 0.0, "pumps": 3.0}, ""),
    ],
)
def test_what_followed_has_a_sentence_unless_the_balloon_goes_on(feedback, wanted):
    assert DOMAIN.outcome_of(feedback) == wanted


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"balloons": 3}, "unknown settings of the stopping domain: balloons"),
        ({"n_steps": 2.5}, "setting n_steps of the stopping domain cannot be 2.5"),
        ({"burst_chance": True}, "setting burst_chance of the stopping domain cannot be True"),
        ({"most": 1}, "setting most is 1; give 2 to 1000"),
        ({"burst_chance": 1.0}, "setting burst_chance is 1.0; give 0 to 0.99"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=re.escape(words)):
        read_settings(settings)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("available", 0.0, "both options are available"),
        ("position", np.nan, "position is a number"),
        ("most", 2.5, "most is a whole number from 1 to 1000"),
        ("luck", 1.5, "luck is a number from 0 to 1"),
        ("burst_chance", 1.0, "burst_chance is a number from 0 to below 1"),
    ],
)
def test_impossible_steps_are_named(name, value, words):
    arrays = {key: array.copy() for key, array in DOMAIN.space({"n_steps": 6}).arrays.items()}
    arrays[name][3] = value
    with pytest.raises(StimuliError, match=f"step 3 of the session: {words}"):
        DOMAIN.check(Stimuli(arrays))


def test_theories_and_participants_see_nothing_of_what_would_follow():
    session = DOMAIN.space({"n_steps": 4})
    shown = DOMAIN.shown(session.arrays, {})
    assert set(shown) == {"available", "position", "most", *SEEN}


def test_a_decision_is_drawn_and_described_with_the_pumps_so_far():
    session = DOMAIN.space({"n_steps": 4, "most": 16})
    seen = seen_trial(DOMAIN, session, 2, {"pumps": 4.0, "balloons": 1.0})
    assert DOMAIN.describe(seen, 0) == "decision 3: balloon 2 after 4 pumps"
    assert "Balloon 2: 4 points" in DOMAIN.picture(seen, 0)
    assert "rx='28.0'" in DOMAIN.picture(seen, 0)  # half of 12 + 88 * sqrt(4 / 16)
    assert DOMAIN.describe(session, 2) == "decision 3"
