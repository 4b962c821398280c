"""Perceptual decisions: trials by hand, what is refused, windows of times, and how a trial looks."""

import numpy as np
import pytest

from lakatos.domains import DOMAINS, find_domain
from lakatos.domains.kit.dots import COLOURS, dots
from lakatos.domains.perception.task import (
    EDGES,
    PerceptionDomain,
    edges_within,
    perception_trials,
)
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError, TrialsError
from lakatos.experiments.participants.timed_answer import TimedPress, outcome_of, timed_task
from lakatos.experiments.testing import DomainContract

DOMAIN = DOMAINS["perception"]
TRIALS = perception_trials([0.2, 0.2, 0.0, 1.0], [-1, 1, 1, -1])


class TestPerception(DomainContract):
    @pytest.fixture
    def domain(self):
        return DOMAIN

    @pytest.fixture
    def settings(self):
        return {"strengths": [0.1, 0.3, 1.0]}

    @pytest.fixture
    def empty_settings(self):
        return {"strengths": []}


def test_a_space_has_every_strength_with_each_response_right():
    space = DOMAIN.space({"strengths": [1, 0.5, 0.5]})
    assert space["strength"].tolist() == [0.5, 0.5, 1, 1]
    assert space["side"].tolist() == [-1, 1, -1, 1]
    assert DOMAIN.admits({"strengths": [1]}, space).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"strengths": [1.2]}, "give numbers from 0 to 1"),
        ({"strengths": [True]}, "give numbers from 0 to 1"),
        ({"strengths": 1}, "setting strengths of the perception domain cannot be 1"),
        ({"levels": [1]}, "unknown settings of the perception domain: levels"),
    ],
)
def test_wrong_settings_are_refused(settings, words):
    with pytest.raises(StimuliError, match=words):
        DOMAIN.space(settings)


def test_no_strengths_are_an_empty_space():
    with pytest.raises(EmptyDesignSpaceError, match="strengths of the perception domain is empty"):
        DOMAIN.space({"strengths": []})


@pytest.mark.parametrize(
    ("strength", "side", "words"),
    [
        (1.1, 1, "strength is a number from 0 to 1"),
        (-0.1, 1, "strength is a number from 0 to 1"),
        (np.nan, 1, "strength is a number from 0 to 1"),
        (0.5, 0, r"side is one of \(-1, 1\)"),
    ],
)
def test_trials_that_cannot_be_are_refused(strength, side, words):
    with pytest.raises(StimuliError, match=f"trial 1 of the perception domain: {words}"):
        DOMAIN.check(perception_trials([0.5, strength], [1, side]))


def test_bins_grow_by_the_same_factor_whatever_the_window():
    for edges in (EDGES, edges_within(0.1, 1.0), edges_within(0.3, 60.0)):
        ratios = np.array(edges[1:]) / np.array(edges[:-1])
        assert ratios.max() / ratios.min() < 1.03
        assert len(edges) <= 49
    assert (EDGES[0], EDGES[-1]) == (0.2, 5.0)


def test_a_window_is_part_of_the_name():
    assert find_domain("perception@0.3-8") == PerceptionDomain(edges_within(0.3, 8.0))
    assert DOMAIN.within(0.2, 5.0) == DOMAIN
    with pytest.raises(TrialsError, match=r"time_window is 1 to 1\.5 s; give two times from 0\.02"):
        edges_within(1.0, 1.5)


def test_bins_hide_little_of_times():
    rng = np.random.default_rng(1)
    times = (0.3 + rng.exponential(0.4, 5000)).clip(0.2, 5.0)
    assert DOMAIN.scale.share_lost(times.tolist()) < 0.01


def test_the_second_response_is_right_where_the_side_is_positive():
    task = timed_task(DOMAIN)
    assert task is DOMAIN
    assert task.right_keys(TRIALS).tolist() == [0, 1, 1, 0]
    assert task.conditions(TRIALS).tolist() == [1, 1, 0, 2]
    right, wrong = (
        outcome_of(task, TRIALS, TimedPress(0, key, 500.0), "left_out") for key in (0, 1)
    )
    assert DOMAIN.options[right].startswith("right after 0.5")
    assert DOMAIN.options[wrong].startswith("wrong after 0.5")


@pytest.mark.parametrize(("strength", "n_more"), [(0.0, 50), (0.5, 60), (1.0, 70)])
@pytest.mark.parametrize(("side", "colour"), [(-1, COLOURS[0]), (1, COLOURS[1])])
def test_the_right_colour_has_more_dots_the_stronger_the_stimulus(strength, n_more, side, colour):
    assert dots(strength, side).count(colour) == n_more
    assert dots(strength, side).count("<circle") == 100


def test_a_stronger_stimulus_differs_in_nothing_else():
    variation = DOMAIN.variations(TRIALS, np.random.default_rng(0))["strength"]
    DOMAIN.check(variation.after)
    assert len(variation.before) == 3
    assert (variation.after["strength"] > variation.before["strength"]).all()
    assert (variation.after["side"] == variation.before["side"]).all()
