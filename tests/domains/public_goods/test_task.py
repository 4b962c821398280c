"""Public goods games: situations by hand, what is refused, what the settings allow."""

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.public_goods.task import (
    PublicGoodsDomain,
    is_all_or_nothing,
    return_of,
    situations,
)
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.testing import DomainContract

DOMAIN = PublicGoodsDomain()
LATER = {
    "round": [3.0],
    "end_known": [1.0],
    "rounds_left": [1.0],
    "group_size": [4.0],
    "multiplier": [1.6],
    "own": [0.25],
    "own_average": [0.5],
    "others": [0.6],
    "others_lowest": [0.2],
    "others_highest": [1.0],
    "ahead": [0.35],
}


class TestPublicGoods(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["public_goods"]

    @pytest.fixture
    def settings(self):
        return {"n_trials": 60, "group_sizes": [4]}

    @pytest.fixture
    def empty_settings(self):
        return {"n_trials": 0}


def test_features_are_those_that_a_hand_finds():
    trial = situations(LATER, [True])
    found = {name: float(value[0]) for name, value in DOMAIN.features(trial).items()}
    assert found["return"] == pytest.approx(0.4)
    assert found["others_minus_own"] == pytest.approx(0.35)
    assert found["nearness_of_end"] == 0.5
    assert found["all_or_nothing"] == 1
    assert np.flatnonzero(trial["available"][0]).tolist() == [0, 20]
    assert situations(LATER, [False])["available"].sum() == 21


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"round": [1.0]}, "in a first round all that is past is 0"),
        ({"round": [2.5]}, "round is a whole number from 1 to 200"),
        ({"own": [5.0]}, "own is a number from 0 to 1"),
        ({"others": [0.1]}, "others lies between others_lowest and others_highest"),
        ({"end_known": [0.0]}, "rounds_left is 0 where the end is not known"),
        ({"group_size": [1.0]}, "group_size is a whole number from 2 to 100"),
    ],
)
def test_situations_that_cannot_be_are_refused(changed, words):
    with pytest.raises(StimuliError, match=f"trial 0 of the public goods domain: {words}"):
        DOMAIN.check(situations(LATER | changed, [False]))


def test_somebody_who_can_give_one_amount_only_is_not_asked():
    trial = situations(LATER, [False])
    trial["available"][0, 1:] = 0
    with pytest.raises(StimuliError, match="at least two numbers of coins may be given"):
        DOMAIN.check(trial)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"players": 3}, "unknown settings of the public goods domain: players"),
        ({"talk": 1}, "setting 'talk' of the public goods domain cannot be 1"),
        ({"rounds": 0}, "setting rounds is 0; give 1 to 200"),
        ({"group_sizes": [1]}, "setting group_sizes is"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.space(settings)


def test_a_space_has_the_rules_that_its_settings_allow_and_no_others():
    wide = DOMAIN.space({})
    plain = {"all_or_nothing": False, "deductions": False, "rewards": False, "talk": False}
    narrow = DOMAIN.space(plain)
    assert DOMAIN.admits(plain, narrow).all()
    assert not DOMAIN.admits(plain, wide).all()
    assert not is_all_or_nothing(narrow).any()
    assert set(return_of(narrow)) == {1.6 / 4, 2.8 / 4, 1.6 / 10, 2.8 / 10}
    assert 0.3 < is_all_or_nothing(wide).mean() < 0.7


def test_each_variation_changes_what_it_says_and_makes_trials_that_can_be():
    space = DOMAIN.space({"n_trials": 80})
    made = DOMAIN.variations(space, np.random.default_rng(0))
    allowed = {"own_past": {"own", "own_average"}, "sanctions": {"deduction_cost", "deduction_effect",
               "reward_cost", "reward_effect"}, "time": {"round", "rounds_left"},
               "others_past": {"others", "others_lowest", "others_highest"}}  # fmt: skip
    for name, variation in made.items():
        DOMAIN.check(variation.before)
        DOMAIN.check(variation.after)
        changed = {
            key
            for key, array in variation.before.arrays.items()
            if (array != variation.after[key]).any()
        }
        assert changed == allowed.get(name, {name})
