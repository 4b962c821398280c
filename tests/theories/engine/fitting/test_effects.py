"""Standard errors of effects of what is known of participants."""

from __future__ import annotations

import numpy as np

from lakatos.theories.engine.fitting.effects import (
    CenterRegression,
    PeopleOnDraws,
    effect_errors,
)

FREE = np.array([[True]])


def people(z: np.ndarray, seed: int = 1) -> PeopleOnDraws:
    """Participants whose responses speak for a parameter near half the range, on evenly spaced draws."""
    latent = np.linspace(0.005, 0.995, 100)[None]
    best = np.random.default_rng(seed).uniform(0.4, 0.6, len(z))
    log_p = -0.5 * ((latent.T - best) / 0.05) ** 2
    return PeopleOnDraws(latent, np.zeros(100), log_p, z)


def test_a_participant_whose_center_would_leave_the_range_says_nothing_about_an_effect() -> None:
    """Beyond an end the center stays at the end, whatever the effect is, so that only the spread is learned from it."""
    found = CenterRegression(np.array([0.5]), np.array([[0.1]]), np.array([np.log(0.15)]))
    inside = np.linspace(-1, 1, 20)[:, None]
    outside = np.full((15, 1), 8.0)  # 0.5 + 0.1 * 8 lies above 1
    (own,) = effect_errors(people(inside), found, FREE, 0.25)
    (both,) = effect_errors(people(np.concatenate([inside, outside])), found, FREE, 0.25)
    assert np.isfinite(both).all()
    # What is learned of the spread can make the error a little smaller, never larger.
    assert 0 < both[0] <= own[0] * (1 + 1e-9)
    farther = np.concatenate([inside, 2 * outside])  # how far beyond makes no difference
    np.testing.assert_allclose(effect_errors(people(farther), found, FREE, 0.25), [both])


def test_an_effect_that_is_not_learned_has_no_error() -> None:
    found = CenterRegression(np.array([0.5]), np.array([[0.0]]), np.array([np.log(0.15)]))
    errors = effect_errors(people(np.linspace(-1, 1, 9)[:, None]), found, ~FREE, 0.25)
    assert np.isnan(errors).all()


def test_without_participants_an_effect_is_as_uncertain_as_its_prior() -> None:
    found = CenterRegression(np.array([0.5]), np.array([[0.0]]), np.array([np.log(0.15)]))
    errors = effect_errors(people(np.zeros((0, 1))), found, FREE, 0.25)
    np.testing.assert_allclose(errors, [[0.25]])


def test_centers_stay_within_the_range() -> None:
    found = CenterRegression(np.array([0.5]), np.array([[0.3]]), np.array([0.0]))
    z = np.array([[-3.0], [-1.0], [0.0], [1.0], [3.0]])
    np.testing.assert_allclose(found.centers_of(z), [[0.0, 0.2, 0.5, 0.8, 1.0]])
