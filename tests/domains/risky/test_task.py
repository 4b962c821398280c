"""Risky choice: stimuli, spaces, features, pictures."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains.risky.space import (
    N_OUTCOMES,
    are_identical,
    dominance,
    joint_probabilities,
    pairs,
)
from lakatos.domains.risky.task import RiskyDomain
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import Stimuli

SMALL = {"amounts": [0, 5, 10], "probabilities": [0.25, 0.5, 0.75]}


@pytest.fixture
def domain():
    return RiskyDomain()


def test_written_out_gambles_are_sorted_joined_and_padded():
    stimuli = pairs([([(4, 0.5), (0, 0.2), (4, 0.3)], [(3, 1)])])
    assert stimuli["outcomes"][0, 0].tolist() == [0] + [4] * (N_OUTCOMES - 1)
    assert stimuli["probabilities"][0, 0, :3].tolist() == pytest.approx([0.2, 0.8, 0])
    assert stimuli["outcomes"][0, 1].tolist() == [3] * N_OUTCOMES


def test_ambiguous_gambles_hold_equal_chances_instead_of_the_hidden_truth():
    stimuli = pairs([([(10, 0.5), (0, 0.5)], [(10, 0.1), (0, 0.9)])], ambiguous=[(False, True)])
    assert stimuli["probabilities"][0, 1, :2].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("gamble", "message"),
    [
        ([(1, 0.5), (2, 0.4)], "sum to 0.9"),
        ([], "0 outcomes"),
        ([(k, 1 / 11) for k in range(11)], "11 outcomes"),
        ([(np.nan, 1)], "not a finite number"),
        ([(2, -0.5), (1, 1.5)], "negative"),
        ([(1e6, 1)], "above 1"),
    ],
)
def test_a_gamble_that_is_none_is_refused(gamble, message):
    with pytest.raises(StimuliError, match=message):
        pairs([(gamble, [(1, 1)])])


def test_check_names_the_first_wrong_trial(domain):
    good = pairs([([(1, 1)], [(2, 0.5), (0, 0.5)])] * 3)
    wrong = {name: array.copy() for name, array in good.arrays.items()}
    wrong["probabilities"][1, 1, 0] = 0.4
    with pytest.raises(StimuliError, match=r"trial 1 .*do not sum to 1"):
        domain.check(Stimuli(wrong))


def test_check_refuses_hidden_probabilities_that_theories_could_read(domain):
    stimuli = pairs([([(1, 1)], [(2, 0.9), (0, 0.1)])])
    leaked = {**stimuli.arrays, "ambiguous": np.array([[0.0, 1.0]])}
    with pytest.raises(StimuliError, match="ambiguous gamble holds other than equal"):
        domain.check(Stimuli(leaked))


def test_a_space_lists_every_pair_once_without_dominated_and_identical_trials(domain):
    stimuli = domain.space(SMALL)
    domain.check(stimuli)
    assert len(set(stimuli.keys)) == len(stimuli)
    assert not dominance(stimuli).any()
    assert not are_identical(stimuli).any()


def test_the_smallest_space_is_counted_by_hand(domain):
    settings = {"amounts": [0, 4, 10], "probabilities": [0.5]}
    # sure 0, 4, 10 and three even gambles; only 4 for sure against 0 or 10 leaves a choice
    assert [
        domain.describe(domain.space(settings), row) for row in range(len(domain.space(settings)))
    ] == ["A: 4 for sure | B: 10 with 50%, 0 with 50%"]


def test_candidates_of_large_spaces_are_admissible_and_as_many_as_wanted(domain):
    settings = {"losses": True, "n_outcomes": 3, "ambiguous": True}
    stimuli = domain.candidates(settings, np.random.default_rng(0), 200)
    domain.check(stimuli)
    assert len(stimuli) == 200
    assert len(set(stimuli.keys)) == 200
    assert not dominance(stimuli).any()
    with pytest.raises(StimuliError, match="too many to list"):
        domain.space(settings)


def test_candidates_depend_on_the_generator_alone(domain):
    drawn = [domain.candidates(SMALL, np.random.default_rng(3), 4).keys for _ in range(2)]
    assert drawn[0] == drawn[1]


def test_settings_limit_the_difference_in_expected_value(domain):
    stimuli = domain.space({**SMALL, "most_ev_difference": 1.0})
    assert np.abs(domain.features(stimuli)["ev_difference"]).max() <= 1.0
    assert len(stimuli) < len(domain.space(SMALL))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"amount": [1]}, "unknown settings .* amount"),
        ({"probabilities": [0.5, 1.0]}, "between 0 and 1"),
        ({"n_outcomes": 9}, "give 1 to 4"),
        ({"losses": "yes"}, "cannot be 'yes'"),
        ({"amounts": 3}, "cannot be 3"),
    ],
)
def test_wrong_settings_are_refused(domain, settings, message):
    with pytest.raises(StimuliError, match=message):
        domain.space(settings)


@pytest.mark.parametrize(
    "settings", [{"amounts": [5]}, {"amounts": [0, 5], "n_outcomes": 1}, {"amounts": []}]
)
def test_an_empty_space_says_so(domain, settings):
    for ask in (domain.space, lambda s: domain.candidates(s, np.random.default_rng(0), 10)):
        with pytest.raises(EmptyDesignSpaceError, match="no trial"):
            ask(settings)


def test_probes_are_allowed_and_can_be_joined(domain):
    probes = domain.probes(np.random.default_rng(0))
    joined = Stimuli.concatenate(probes)
    domain.check(joined)
    assert np.abs(joined["outcomes"]).max() == 1e4
    assert joined["ambiguous"].any()
    assert set(joined["correlation"]) == {-1, 0, 1}
    assert (joined["probabilities"] > 0).sum(axis=-1).max() == N_OUTCOMES


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([(3, 1)], [(4, 0.8), (0, 0.2)], 0),
        ([(3, 1)], [(4, 0.8), (3, 0.2)], 1),
        ([(3, 1)], [(2, 1)], -1),
        ([(5, 0.5), (0, 0.5)], [(5, 0.6), (0, 0.4)], 1),
        ([(5, 0.5), (0, 0.5)], [(5, 0.5), (0, 0.5)], 0),
    ],
)
def test_dominance_is_first_order(first, second, expected):
    assert dominance(pairs([(first, second)])).tolist() == [expected]


def test_an_ambiguous_gamble_dominates_only_by_its_amounts():
    trials = [([(0, 0.9), (10, 0.1)], [(0, 0.5), (10, 0.5)]), ([(-9, 1)], [(-8, 0.5), (12, 0.5)])]
    assert dominance(pairs(trials, ambiguous=[(False, True)] * 2)).tolist() == [0, 1]


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_joint_probabilities_keep_both_margins(sign):
    stimuli = pairs([([(1, 0.3), (2, 0.7)], [(0, 0.2), (5, 0.5), (7, 0.3)])], correlation=[sign])
    joint = joint_probabilities(stimuli)[0]
    assert joint.sum(axis=1) == pytest.approx(stimuli["probabilities"][0, 0])
    assert joint.sum(axis=0) == pytest.approx(stimuli["probabilities"][0, 1])


def test_features_of_a_known_trial(domain):
    features = domain.features(pairs([([(3, 1)], [(4, 0.8), (-1, 0.2)])]))
    known = {
        "ev_difference": 0.0,
        "variance_difference": 4.0,
        "minimum_difference": -4 / 5,
        "maximum_difference": 1 / 5,
        "equal_weight_difference": -1.5 / 5,
        "probability_b_beats_a": 0.8,
        "beats_difference": 0.6,
        "loss_probability_difference": 0.2,
        "sure_option": -1,
        "n_outcomes_difference": 1,
        "losses_present": 1,
        "dominance": 0,
    }
    for name, value in known.items():
        assert features[name] == pytest.approx([value]), name


def test_swapping_sides_turns_differences_round_and_back(domain):
    stimuli = Stimuli.concatenate(domain.probes(np.random.default_rng(1)))
    swapped = domain.swap_sides(stimuli)
    domain.check(swapped)
    for name, values in domain.features(stimuli).items():
        if name.endswith("difference") or name in ("dominance", "sure_option"):
            assert domain.features(swapped)[name] == pytest.approx(-values, abs=1e-9), name
    assert domain.swap_sides(swapped).keys == stimuli.keys


def test_pictures_show_what_people_may_know(domain):
    trial = ([(10, 0.1), (-5, 0.9)], [(8, 0.25), (2, 0.75)])
    stimuli = pairs([trial], ambiguous=[(False, True)])
    picture = domain.picture(stimuli, 0)
    assert "probabilities unknown" in picture
    assert "10%" in picture
    assert "50%" not in picture
    assert "25%" not in picture
    assert "<script" not in picture
    assert "probabilities unknown" in domain.describe(stimuli, 0)
