"""Tasks of conflict with times: trials by hand, what is refused, and which outcome an answer is."""

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.attention.task import (
    SCALE,
    AttentionDomain,
    conflict_trials,
)
from lakatos.domains.kit.timed_domain import timed_outcomes
from lakatos.experiments.answer_scale import timed
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.testing import DomainContract

DOMAIN = AttentionDomain()
LATER = {
    "congruence": [-1], "side": [1], "has_previous": [1], "previous_congruence": [-1], "previous_error": [1],
    "repeats": [1],
}  # fmt: skip


class TestAttention(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAINS["attention"]

    @pytest.fixture
    def settings(self):
        return {"level": -1}


def test_an_answer_is_a_key_with_a_bin_of_its_time():
    found = timed_outcomes([True, False, True], [0.41, 0.41, 3.0], SCALE)
    assert [SCALE.labels[place] for place in found] == [
        "right after 0.42 s", "wrong after 0.42 s", "right after 2.5 s",
    ]  # fmt: skip
    assert sum(SCALE.widths) == pytest.approx(2 * (3.0 - 0.2))


@pytest.mark.parametrize("seconds", [0.0, 40.0, np.nan])
def test_times_that_nobody_can_have_needed_are_refused_by_their_row(seconds):
    with pytest.raises(TrialsError, match=rf"answer 1 is {seconds:g} s; give from 0.2 to 3, or"):
        timed_outcomes([True, True], [0.5, seconds], SCALE)


def test_bins_hide_little_of_times_and_a_coarse_grid_hides_more():
    rng = np.random.default_rng(1)
    times = (0.35 + rng.exponential(0.25, 2000)).clip(0.2, 3.0)
    assert SCALE.share_lost(times.tolist()) < 0.03
    assert "hides 0.7%" in SCALE.fit_in_words([0.0, 40.0, *times])
    assert (
        "of 2,002 responses, 1 below 0.2 s and 1 above 3 s are outside of the bins"
        in SCALE.fit_in_words([0.0, 40.0, *times])
    )
    coarse = timed(("right", "wrong"), [0.2, 1.6, 3.0])
    assert coarse.share_lost(times.tolist()) > 0.3
    assert "too coarse" in coarse.fit_in_words(times.tolist())
    assert "too coarse" not in SCALE.fit_in_words(times.tolist())


def test_features_are_those_that_a_hand_finds():
    found = {
        name: float(value[0]) for name, value in DOMAIN.features(conflict_trials(LATER)).items()
    }
    assert found == {
        "congruence": -1, "level": 0, "n_answers": 2, "side": 1, "first_trial": 0, "after_conflict": 1,
        "congruence_after_conflict": -1, "after_error": 1, "repeats": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"congruence": [2]}, r"congruence is one of \(-1, 0, 1\)"),
        ({"has_previous": [0]}, "in a first trial all that is past is 0"),
        ({"side": [0]}, "of two keys none is in the middle"),
        ({"n_answers": [4]}, "n_answers is one of"),
        ({"repeats": [np.nan]}, "repeats is one of"),
    ],
)
def test_trials_that_cannot_be_are_refused(changed, words):
    with pytest.raises(StimuliError, match=f"trial 0 of the attention domain: {words}"):
        DOMAIN.check(conflict_trials(LATER | changed))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"arrows": 3}, "unknown settings of the attention domain: arrows"),
        ({"neutral": 1}, "setting 'neutral' of the attention domain cannot be 1"),
        ({"n_answers": 5}, "setting n_answers is 5; give 2 to 3"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.space(settings)


def test_a_space_has_every_condition_after_everything_that_may_have_happened():
    assert len(DOMAIN.space({"past": False})) == 2 * 2
    assert len(DOMAIN.space({})) == 2 * 2 * (1 + 2 * 2 * 2)
    wide = DOMAIN.space({"n_answers": 3, "neutral": True})
    assert len(wide) == 3 * 3 * (1 + 3 * 2 * 2)
    assert not DOMAIN.admits({}, wide).any()
    assert DOMAIN.admits({"n_answers": 3}, wide).sum() == len(DOMAIN.space({"n_answers": 3}))


def test_each_variation_changes_what_it_says_and_makes_trials_that_can_be():
    made = DOMAIN.variations(DOMAIN.space({}), np.random.default_rng(0))
    for name, variation in made.items():
        DOMAIN.check(variation.after)
        changed = {
            key
            for key, array in variation.before.arrays.items()
            if (array != variation.after[key]).any()
        }
        assert changed == {name}
