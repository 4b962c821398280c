"""Calibration: the population that a theory declares becomes the one that made the choices."""

import numpy as np
import pytest

from experiments.task import Stimuli, Trials
from theories.calibrate import _most_likely, calibrate
from theories.prior import Prior, draw_population

UNIFORM = Prior("uniform", 0.0, 1.0)


def coin(drawn):
    """Every person has one probability of choosing the second option, on every trial."""
    p = drawn["p"][:, None]
    return [np.stack([1 - p, p], axis=-1)]


def choices(p, n_choices, rng):
    people = np.repeat(np.arange(len(p)), n_choices)
    response = (rng.random(len(people)) < p[people]).astype(np.int64)
    zeros = np.zeros(len(people), dtype=np.int64)
    return Trials("coin", Stimuli({"face": np.zeros(1)}), people, zeros, response, zeros + 1, n_people=len(p))


def test_a_population_that_fills_its_limits_is_not_narrowed():
    draws = (np.arange(4096) + 0.5) / 4096
    fitted = _most_likely(UNIFORM, draws, np.full(4096, 1 / 4096), floor=0.02)
    again = fitted.quantile(draws)
    assert again.mean() == pytest.approx(0.5, abs=1e-3)
    # A normal with the standard deviation of a uniform, truncated to its limits, would have a spread of 0.23.
    assert again.std() == pytest.approx(np.sqrt(1 / 12), abs=0.015)


@pytest.mark.parametrize(("center", "spread"), [(0.5, 0.1), (0.2, 0.2), (0.9, 0.3)])
def test_the_most_likely_truncated_normal_has_the_moments_of_its_draws(center, spread):
    draws = UNIFORM.narrowed(center, spread).quantile((np.arange(4096) + 0.5) / 4096)
    fitted = _most_likely(UNIFORM, draws, np.full(4096, 1 / 4096), floor=0.02)
    assert fitted.center == pytest.approx(center, abs=0.01)
    assert fitted.spread == pytest.approx(spread, abs=0.01)


@pytest.mark.statistical
def test_calibration_recovers_the_population_that_made_the_choices():
    rng = np.random.default_rng(3)
    n_people, n_choices = 400, 100
    truth = UNIFORM.narrowed(0.7, 0.15)
    p = truth.quantile(rng.random(n_people))
    learned = calibrate({"p": UNIFORM}, [choices(p, n_choices, rng)], coin, n_draws=1024, n_iterations=12)["p"]
    population = draw_population({"p": learned}, 4096, np.random.default_rng(0))["p"]
    truly = truth.quantile((np.arange(4096) + 0.5) / 4096)
    noise = truly * (1 - truly) / n_choices
    standard_error = np.sqrt((truly.var() + noise.mean()) / n_people)
    assert abs(population.mean() - truly.mean()) < 4 * standard_error
    # Standard error of a standard deviation: itself over the root of twice the people.
    assert abs(population.std() - truly.std()) < 4 * np.sqrt(truly.var() + noise.mean()) / np.sqrt(2 * n_people)


def test_without_parameters_there_is_nothing_to_calibrate():
    assert calibrate({}, [choices(np.array([0.5]), 3, np.random.default_rng(0))], coin) == {}
