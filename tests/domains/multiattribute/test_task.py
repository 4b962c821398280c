"""The multi-attribute domain: its space by counting, its features by hand, what it refuses."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import Stimuli

DOMAIN = MultiattributeDomain()
FOUR = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
SIGNED = {
    "best_cue_favours",
    "first_difference_favours",
    "n_cues_favouring",
    "difference_weighted_by_validity",
    "difference_weighted_above_chance",
    "total_difference",
    "largest_difference",
    "conflict",
    "best_rating_difference",
    "worst_rating_difference",
    "unevenness_difference",
    "least_valid_favours",
    "first_shown_favours",
    "last_shown_favours",
    "odd_count_difference",
    "odd_sum_difference",
    "odd_lead_difference",
    "middling_difference",
    "extreme_ratings_difference",
    "symmetry_difference",
    "smoothness_difference",
    "difference_on_both_best_cues",
    "difference_in_unlike_best_cues",
}


def trial(a, b, validities, rating_max=1):
    return Stimuli(
        {
            "ratings": np.array([[a, b]], dtype=float),
            "validities": np.array([validities], dtype=float),
            "rating_max": np.array([float(rating_max)]),
        }
    )


def test_the_whole_space_has_every_pair_of_distinct_products():
    n_products = 4**4
    stimuli = DOMAIN.space(FOUR | {"dominated": True})
    assert len(stimuli) == n_products * (n_products - 1) // 2
    assert len(set(stimuli.keys)) == len(stimuli)


def test_without_dominated_trials_the_space_is_what_counting_gives():
    # Ordered pairs with a at least as good everywhere: 10 per cue of 4 levels; equal pairs are counted in both orders.
    n_products, n_dominating = 4**4, 10**4
    assert len(DOMAIN.space(FOUR)) == n_products * (n_products - 1) // 2 - (
        n_dominating - n_products
    )


def test_the_smaller_product_comes_first_and_equal_ones_never_meet():
    stimuli = DOMAIN.space({"validities": [0.8, 0.7], "levels": [0, 1, 5], "dominated": True})
    pairs = [(tuple(a), tuple(b)) for a, b in stimuli["ratings"].tolist()]
    products = list(product((0, 1, 5), repeat=2))
    assert pairs == [(a, b) for a in products for b in products if a < b]
    np.testing.assert_array_equal(stimuli["rating_max"], 5)


@given(st.integers(1, 40), st.integers(0, 5))
def test_candidates_are_different_admissible_pairs(n_most, seed):
    stimuli = DOMAIN.candidates(FOUR, np.random.default_rng(seed), n_most)
    DOMAIN.check(stimuli)
    assert len(set(stimuli.keys)) == len(stimuli) == n_most
    difference = stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0]
    assert ((difference > 0).any(axis=1) & (difference < 0).any(axis=1)).all()


def test_candidates_of_a_huge_space_come_without_writing_it_out():
    settings = {"validities": [0.9] * 8, "levels": list(range(11))}
    stimuli = DOMAIN.candidates(settings, np.random.default_rng(0), 300)
    again = DOMAIN.candidates(settings, np.random.default_rng(0), 300)
    assert len(set(stimuli.keys)) == 300
    assert stimuli.keys == again.keys
    with pytest.raises(StimuliError, match="draw from it with `candidates`"):
        DOMAIN.space(settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ratings": [1], "noise": 2}, "unknown settings .*: noise, ratings;"),
        ({"validities": []}, "validities are 1 to 8 numbers"),
        ({"validities": [0.4, 0.9]}, "from 0.5"),
        ({"validities": "high"}, "validities must be a list of numbers"),
        ({"levels": [0, 0, 1]}, "levels are different integers"),
        ({"levels": [0, 0.5]}, "levels are different integers"),
        ({"rating_max": 2}, "rating_max must be a number not below 1 and the highest level"),
        ({"dominated": "no"}, "dominated must be true or false"),
    ],
)
def test_a_wrong_setting_is_named(change, message):
    with pytest.raises(StimuliError, match=message):
        DOMAIN.space(FOUR | change)


def test_a_missing_setting_is_named():
    with pytest.raises(StimuliError, match=r"needs the setting\(s\) levels"):
        DOMAIN.candidates({"validities": [0.9]}, np.random.default_rng(0), 5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"validities": [0.9], "levels": [0, 1, 2]}, "set `dominated = true`"),
        ({"validities": [0.9, 0.8], "levels": [3], "dominated": True}, "Give at least two levels"),
    ],
)
def test_an_empty_space_says_what_to_change(settings, message):
    with pytest.raises(EmptyDesignSpaceError, match=message):
        DOMAIN.space(settings)
    with pytest.raises(EmptyDesignSpaceError, match=message):
        DOMAIN.candidates(settings, np.random.default_rng(0), 5)


@pytest.mark.parametrize(
    ("stimuli", "message"),
    [
        (
            trial([0, 2], [1, 0], [0.9, 0.8]),
            "trial 0 .*ratings must be integers from 0 to rating_max",
        ),
        (trial([0, 0.5], [1, 0], [0.9, 0.8]), "ratings must be integers"),
        (trial([0, 1], [1, 0], [0.9, 0.4]), "validities must lie from 0.5 to 1"),
        (trial([0, 0], [0, 0], [0.9, 0.8], 0), "rating_max must be above 0"),
        (trial([0, 1], [1, 0], [0.9]), "they must be"),
        (Stimuli({"ratings": np.zeros((1, 2, 2))}), "have the arrays"),
    ],
)
def test_a_trial_that_is_not_allowed_is_named(stimuli, message):
    with pytest.raises(StimuliError, match=message):
        DOMAIN.check(stimuli)


def test_probes_cover_every_number_of_cues_and_are_allowed():
    probes = DOMAIN.probes(np.random.default_rng(0))
    for probe in probes:
        DOMAIN.check(probe)
    assert {probe["validities"].shape[1] for probe in probes} == set(range(1, 9))
    assert {float(probe["rating_max"][0]) for probe in probes} == {1.0, 5.0, 10.0}


def test_features_of_one_trial_are_those_computed_by_hand():
    features = DOMAIN.features(trial([5, 4, 0, 1], [5, 2, 3, 2], [0.9, 0.8, 0.6, 0.5], 5))
    expected = {
        "best_cue_favours": 0,
        "first_difference_favours": -1,
        "n_cues_favouring": 1,
        "difference_weighted_by_validity": (-2 * 0.8 + 3 * 0.6 + 1 * 0.5) / 5,
        "difference_weighted_above_chance": (-2 * 0.3 + 3 * 0.1) / 5,
        "total_difference": 2 / 5,
        "largest_difference": 3 / 5,
        "conflict": -1,
        "best_rating_difference": 0,
        "worst_rating_difference": 2 / 5,
        "level": 22 / 40,
        "n_discriminating_cues": 3,
        "n_cues": 4,
        "validity_spread": 0.4,
        "rating_max": 5,
        "least_valid_favours": 1,
        "first_shown_favours": 0,
        "last_shown_favours": 1,
        "odd_count_difference": 0,
        "odd_sum_difference": 0,
        "odd_lead_difference": -1,
        "middling_difference": -1 / 10,
        "extreme_ratings_difference": -1 / 5,
        "symmetry_difference": 2 / 5,
        "smoothness_difference": 1 / 5,
        "difference_on_both_best_cues": -2 / 5,
        "difference_in_unlike_best_cues": 2 / 5,
    }
    for name, value in expected.items():
        assert features[name][0] == pytest.approx(value, abs=1e-12), name


def test_exchanging_the_products_turns_every_signed_feature_around():
    for probe in DOMAIN.probes(np.random.default_rng(3)):
        here, there = DOMAIN.features(probe), DOMAIN.features(DOMAIN.swap_sides(probe))
        for name in here:
            if (
                name == "largest_difference"
            ):  # of two equally large opposite differences, the more valid cue's
                np.testing.assert_allclose(np.abs(here[name]), np.abs(there[name]))
            np.testing.assert_allclose(
                here[name], -there[name] if name in SIGNED else there[name], atol=1e-12
            )


def test_the_picture_shows_ratings_and_validities_without_scripts():
    picture = DOMAIN.picture(trial([3, 0], [1, 4], [0.95, 0.6], 5), 0)
    assert "right 95% of the time" in picture
    assert "right 60% of the time" in picture
    assert picture.index(">3<") < picture.index(">1<") < picture.index(">0<") < picture.index(">4<")
    assert "<script" not in picture


def test_a_trial_is_described_in_a_line():
    assert (
        DOMAIN.describe(trial([1, 0], [0, 1], [0.9, 0.65]), 0)
        == "A 1 0 | B 0 1 | validities 0.9 0.65"
    )
