"""Populations that many samples of people show, learned from likelihoods that were computed once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.engine.fitting.on_draws import DrawnPeople
from lakatos.theories.language.prior import Prior, draw_population

WIDE = Prior("normal", 0.0, 1.0, center=0.5, spread=0.4)
N_DRAWS, ERROR = 1024, 0.05


def drawn_people() -> DrawnPeople:
    drawn = draw_population({"x": WIDE}, N_DRAWS, np.random.default_rng(1))
    return DrawnPeople([{"x": WIDE}], drawn)


def log_p_of(drawn: DrawnPeople, shown: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of people each of whom shows a value, a normal error away from what the person is."""
    return -0.5 * ((shown - drawn.latent[0][:, None]) / ERROR) ** 2


def moments(drawn: DrawnPeople, weights: NDArray[np.float64]) -> tuple[float, float]:
    mean = float(weights @ drawn.latent[0])
    return mean, float(np.sqrt(weights @ (drawn.latent[0] - mean) ** 2))


def test_groups_are_found_around_centers_of_their_own_with_one_spread() -> None:
    rng, n, spread = np.random.default_rng(2), 300, 0.1
    group = np.repeat([0, 1], n)
    people = np.where(group == 0, 0.35, 0.6) + spread * rng.normal(size=2 * n)
    drawn = drawn_people()
    log_p = log_p_of(drawn, people + ERROR * rng.normal(size=2 * n))
    (found,) = drawn.learned_alike(log_p, group, np.ones((1, 2 * n)))
    standard_error = np.hypot(spread, ERROR) / np.sqrt(n)
    for weights, center in zip(found, (0.35, 0.6), strict=True):
        mean, width = moments(drawn, weights)
        assert abs(mean - center) < 4 * standard_error
        assert abs(width - spread) < 4 * standard_error


def test_a_small_group_whose_people_answer_alike_is_as_wide_as_the_others() -> None:
    rng = np.random.default_rng(3)
    many = 0.5 + 0.12 * rng.normal(size=200)
    group = np.repeat([0, 1], [200, 4])
    drawn = drawn_people()
    log_p = log_p_of(drawn, np.concatenate([many, np.full(4, 0.3)]))
    (alike,) = drawn.learned_alike(log_p, group, np.ones((1, 204)))
    alone = np.exp(drawn.learned(log_p, np.array([group == 1]))[0])
    wide, narrow = moments(drawn, alike[1])[1], moments(drawn, alone / alone.sum())[1]
    assert narrow < 0.6 * wide
    assert abs(wide - moments(drawn, alike[0])[1]) < 0.1 * wide


def test_somebody_whom_a_sample_holds_twice_counts_like_two() -> None:
    rng = np.random.default_rng(4)
    drawn, group = drawn_people(), np.repeat([0, 1], 10)
    log_p = log_p_of(drawn, rng.uniform(0.2, 0.8, size=20))
    times = np.ones((2, 20))
    times[1, [3, 15]] = 2
    once, twice = drawn.learned_alike(log_p, group, times)
    copied = np.concatenate([log_p, log_p[:, [3, 15]]], axis=1)
    (wanted,) = drawn.learned_alike(copied, np.append(group, [0, 1]), np.ones((1, 22)))
    assert np.allclose(twice, wanted)
    assert not np.allclose(twice, once)
