"""Recognition: trials by hand, what is refused, scales of several sizes, and how a trial looks."""

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.kit.dots import COLOURS
from lakatos.domains.recognition.task import categories_of, n_categories, recognition_trials
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import Stimuli
from lakatos.experiments.testing import DomainContract

DOMAIN = DOMAINS["recognition"]
TRIALS = recognition_trials([0, 1, 0], [1, 0.5, 0.5], lure=[0, 0, 1], old_share=0.3, categories=4)


class TestRecognition(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAIN

    @pytest.fixture
    def settings(self):
        return {"strengths": [0.3, 1.0], "old_shares": [0.3, 0.5], "lures": True}

    @pytest.fixture
    def empty_settings(self):
        return {"strengths": []}


def test_a_space_has_new_items_lures_and_old_items_of_every_strength():
    space = DOMAIN.space({"strengths": [1, 0.4], "lures": True, "categories": 2})
    assert space["old"].tolist() == [0, 0, 0, 1, 1]
    assert space["strength"].tolist() == [1, 0.4, 1, 0.4, 1]
    assert space["lure"].tolist() == [0, 1, 1, 0, 0]
    assert n_categories(space).tolist() == [2] * 5


@pytest.mark.parametrize(
    ("n", "wanted"), [(2, [-1, 1]), (3, [-1, 0, 1]), (6, [-3, -2, -1, 1, 2, 3])]
)  # fmt: skip
def test_a_scale_has_as_many_categories_on_either_side_and_an_odd_one_in_the_middle(n, wanted):
    assert (np.flatnonzero(categories_of(n)) - 5).tolist() == wanted


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"strengths": [1.2]}, "setting strengths of the recognition domain cannot be"),
        ({"strengths": [True]}, "give numbers from 0 to 1"),
        ({"old_shares": [0.0]}, "give numbers above 0 and below 1"),
        ({"categories": 1}, "setting categories is 1; give 2 to 10"),
        ({"categories": 11}, "setting categories is 11; give 2 to 10"),
        ({"categories": 6.0}, "setting categories of the recognition domain cannot be 6.0"),
        ({"lures": 1}, "setting lures of the recognition domain cannot be 1"),
        ({"levels": [1]}, "unknown settings of the recognition domain: levels"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.space(settings)


def test_no_shares_are_an_empty_space():
    with pytest.raises(
        EmptyDesignSpaceError, match="old_shares of the recognition domain is empty"
    ):
        DOMAIN.space({"old_shares": []})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("old", 0.5, "old is 0 or 1"),
        ("lure", 2, "lure is 0 or 1"),
        ("strength", 1.1, "strength is a number from 0 to 1"),
        ("strength", np.nan, "strength is a number from 0 to 1"),
        ("old_share", 1.0, "old_share is a number above 0 and below 1"),
    ],
)
def test_trials_that_cannot_be_are_refused(name, value, words):
    wrong = TRIALS[name].copy()
    wrong[1] = value
    with pytest.raises(StimuliError, match=f"trial 1 of the recognition domain: {words}"):
        DOMAIN.check(Stimuli(dict(TRIALS.arrays) | {name: wrong}))


def test_a_scale_without_one_side_is_refused():
    wrong = TRIALS["available"].copy()
    wrong[2, :5] = 0
    with pytest.raises(StimuliError, match=r"trial 2 .* available is 1 for the 2 to 10 categories"):
        DOMAIN.check(Stimuli(dict(TRIALS.arrays) | {"available": wrong}))


def test_an_item_of_the_other_kind_is_as_strong_and_as_frequent():
    swapped = DOMAIN.swap_sides(TRIALS)
    assert swapped["old"].tolist() == [1, 0, 1]
    assert swapped["old_share"] == pytest.approx(0.7)
    assert (swapped["strength"] == TRIALS["strength"]).all()


def test_a_signal_has_more_orange_dots_and_noise_as_many_of_both_colours():
    assert [DOMAIN.picture(TRIALS, row).count(COLOURS[1]) for row in range(3)] == [50, 60, 50]


def test_trials_are_described_by_item_strength_share_and_scale():
    assert DOMAIN.describe(TRIALS, 1) == "old, strength 0.5, 30% old, 4 categories"
    assert DOMAIN.describe(TRIALS, 2) == "lure, strength 0.5, 30% old, 4 categories"
