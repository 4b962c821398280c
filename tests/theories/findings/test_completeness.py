"""Completeness: its value and interval, and the trials on which a learner is better."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.scoring.score import UnitScores
from lakatos.theories.findings.generic_learners.completeness import (
    completeness,
    guessing,
    n_offered,
    regretted_trials,
)


def units(per_choice, n_choices=10.0) -> UnitScores:
    scores = np.asarray(per_choice, dtype=float)
    return UnitScores(scores * n_choices, np.full(scores.shape, n_choices))


def people(shares, n_people, n_each, rng, *, pooled=False) -> Trials:
    """Answers of people who all choose the second option with the share of each trial."""
    n_trials = len(shares)
    person = np.repeat(np.arange(n_people), n_trials * n_each)
    trial = np.tile(np.repeat(np.arange(n_trials), n_each), n_people)
    response = (rng.random(len(trial)) < np.asarray(shares)[trial]).astype(int)
    stimuli = Stimuli({"x": np.arange(n_trials, dtype=float)})
    who = np.zeros_like(person) if pooled else person
    return Trials("e", stimuli, who, trial, response, np.ones(len(trial)), pooled=pooled)


def test_guessing_is_among_the_offered_options():
    stimuli = Stimuli({"available": np.array([[1, 1, 1, 0], [1, 1, 0, 0]])})
    response = np.array([0, 2, 1])
    trials = Trials(
        "e", stimuli, np.zeros(3, int), np.array([0, 0, 1]), response, np.ones(3), n_options=4
    )
    assert n_offered(trials) == pytest.approx(np.cbrt(3 * 3 * 2))
    assert guessing([n_offered(trials), 4]) == pytest.approx(-(np.log(18) / 3 + np.log(4)) / 2)
    every = Trials("e", Stimuli({"x": np.arange(2.0)}), np.zeros(3, int), np.array([0, 0, 1]), response,
                   np.ones(3), n_options=4)  # fmt: skip
    assert n_offered(every) == 4


class TestCompleteness:
    def test_guessing_is_0_and_the_learner_is_1(self):
        guess, best = units([-math.log(2)] * 12), units([-0.4, -0.5, -0.3, -0.4, -0.45, -0.35] * 2)
        assert completeness([guess], [best], [2]).value == pytest.approx(0)
        assert completeness([best], [best], [2]).value == pytest.approx(1)
        assert completeness([best], [best], [2]).standard_error == pytest.approx(0)

    def test_gains_are_averaged_over_experiments_and_count_the_options(self):
        own = [units([-0.6] * 12), units([-1.0] * 12)]
        best = [units([-0.4, -0.5, -0.6] * 4), units([-0.8, -0.9, -1.0] * 4)]
        gain = (math.log(2) - 0.6) + (math.log(4) - 1.0)
        most = (math.log(2) - 0.5) + (math.log(4) - 0.9)
        assert completeness(own, best, [2, 4]).value == pytest.approx(gain / most)

    def test_a_theory_that_knows_people_better_is_above_1(self):
        assert completeness([units([-0.2] * 10)], [units([-0.2, -0.4] * 5)], [2]).value > 1

    def test_it_is_not_defined_where_the_learner_does_not_beat_guessing(self):
        unsure = units(-math.log(2) + np.array([0.3, -0.3, 0.2, -0.1]))
        assert completeness([units([-0.5] * 4)], [unsure], [2]) is None

    @pytest.mark.parametrize(("n_people", "is_defined"), [(3, False), (9, False), (10, True)])
    def test_it_is_not_defined_for_fewer_than_ten_participants(self, n_people, is_defined):
        gains = np.linspace(0.3, 0.5, n_people)
        best, own = units(-math.log(2) + gains), units(-math.log(2) + 2 * gains)
        assert (completeness([own], [best], [2]) is not None) == is_defined

    def test_it_is_not_defined_where_all_people_tell_the_same(self):
        assert completeness([units([-0.2] * 4)], [units([-0.3] * 4)], [2]) is None

    @pytest.mark.statistical
    def test_its_standard_error_is_the_spread_over_samples_of_people(self):
        rng, found = np.random.default_rng(5), []
        for _ in range(400):
            ease = rng.normal(
                size=60
            )  # shared by both: pairing makes the ratio steadier than its parts
            best = units(-0.45 + 0.10 * ease)
            own = units(-0.50 + 0.08 * ease + 0.02 * rng.normal(size=60))
            found.append(completeness([own], [best], [2]))
        spread = np.std([item.value for item in found], ddof=1)
        told = np.mean([item.standard_error for item in found])
        # The spread of 400 values is known to within 1 / sqrt(800) of itself.
        assert told == pytest.approx(spread, rel=4 / math.sqrt(800))


class TestRegrettedTrials:
    def test_the_trial_on_which_the_theory_is_wrong_is_found_with_its_gain(self):
        shares = np.array([0.8, 0.3, 0.9, 0.5])
        trials = people(shares, 40, 4, np.random.default_rng(1))
        right = np.stack([1 - shares, shares], axis=1)
        wrong = right.copy()
        wrong[2] = [0.5, 0.5]
        (found,) = regretted_trials([trials], [wrong], [right])
        observed = trials.proportions[2, 1]
        gain = observed * math.log(0.9 / 0.5) + (1 - observed) * math.log(0.1 / 0.5)
        assert (found.place, found.row) == (0, 2)
        assert found.gain == pytest.approx(gain)
        assert (found.observed, found.theory, found.learner) == pytest.approx((observed, 0.5, 0.9))

    @pytest.mark.statistical
    @pytest.mark.parametrize("pooled", [False, True])
    def test_where_the_theory_is_right_hardly_any_is_found(self, pooled):
        rng, n_found = np.random.default_rng(2), 0
        shares = rng.uniform(0.2, 0.8, 200)
        right = np.stack([1 - shares, shares], axis=1)
        for _ in range(20):
            other = np.clip(right[:, 1] + rng.normal(0, 0.05, 200), 0.05, 0.95)
            trials = people(shares, 10, 3, rng, pooled=pooled)
            learner = np.stack([1 - other, other], axis=1)
            n_found += len(regretted_trials([trials], [right], [learner]))
        # 4,000 trials, of which at most one is expected; five would come once in 270 times.
        assert n_found <= 4
