"""The error of a theory relative to its sampling noise, on cases worked out by hand and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.theories.engine.scoring.unexplained import (
    ErrorRatio,
    error_ratio,
    weights_of_moves,
)

NO_FIT = np.zeros((0, 4))


def test_the_ratio_is_the_error_over_the_mean_error_of_simulated_data() -> None:
    simulated = np.array([[1.0, 1, 1, 1], [2, 0, 0, 0], [0, 0, 2, 2]])
    found = error_ratio(np.array([3.0, 0, 1, 0]), simulated, NO_FIT)
    assert found is not None
    assert found.value == pytest.approx(10 / ((4 + 4 + 8) / 3))


def test_what_a_fit_can_follow_counts_on_neither_side() -> None:
    simulated = np.array([[5.0, 1, 0, 0], [-9, 0, 2, 0], [7, 0, 0, 1]])
    fit = np.array([[2.0, 0, 0, 0], [-4, 0, 0, 0]])
    found = error_ratio(np.array([100.0, 1, 1, 0]), simulated, fit)
    assert found is not None
    assert found.value == pytest.approx(2 / 2)


def test_a_direction_in_which_nothing_moves_but_by_rounding_is_none() -> None:
    """The mean of shares that are linear in a parameter does not move with its spread; kernels leave 1e-16 of it."""
    rng = np.random.default_rng(7)
    simulated, fit = rng.normal(size=(50, 6)), rng.normal(size=(1, 6))
    found = [
        error_ratio(np.ones(6), simulated, np.vstack([fit, 1e-16 * rng.normal(size=(1, 6))]))
        for _ in range(2)
    ]
    assert found[0] == found[1] == error_ratio(np.ones(6), simulated, fit)


def test_nothing_is_said_where_a_fit_can_follow_everything_or_nothing_is_left_to_chance() -> None:
    simulated = np.random.default_rng(1).normal(size=(50, 4))
    own = np.ones(4)
    assert error_ratio(own, simulated, np.eye(4)[:3]) is None
    assert error_ratio(own, simulated, np.eye(4)[:2]) is not None
    assert error_ratio(own, np.zeros((50, 4)), NO_FIT) is None
    assert error_ratio(own, simulated[:1], NO_FIT) is None


def test_degrees_of_freedom_of_independent_cells_are_their_number() -> None:
    simulated = np.random.default_rng(2).normal(size=(4000, 12))
    found = error_ratio(np.ones(12), simulated, np.zeros((0, 12)))
    assert found is not None
    assert found.degrees == pytest.approx(12, rel=0.1)


def test_one_is_in_the_interval_of_nine_in_ten_right_theories() -> None:
    """Deviations that go together, of which a fit takes a part out; as many as simulated by the truth."""
    rng = np.random.default_rng(3)
    root, fit = rng.normal(size=(20, 20)), rng.normal(size=(3, 20))
    hat = fit.T @ np.linalg.solve(fit @ fit.T, fit)
    n, n_covered, n_above = 600, 0, 0
    for _ in range(n):
        data = rng.normal(size=20) @ root
        simulated = rng.normal(size=(200, 20)) @ root
        found = error_ratio(data - data @ hat, simulated, fit)
        assert found is not None
        n_covered += found.low <= 1 <= found.high
        n_above += found.is_above_one
    error = np.sqrt(0.9 * 0.1 / n)
    assert abs(n_covered / n - 0.9) < 4 * error
    assert n_above / n < 0.05 + 4 * np.sqrt(0.05 * 0.95 / n)


def test_more_is_left_than_chance_makes_where_the_whole_interval_is_above_one() -> None:
    assert ErrorRatio(1.4, 1.01, 2.0, 30).is_above_one
    assert not ErrorRatio(1.4, 1.0, 2.0, 30).is_above_one


def test_directions_of_a_mean_are_the_slopes_over_people() -> None:
    rng = np.random.default_rng(4)
    latent = rng.normal(size=(500, 2)) * [1.0, 1e-3]
    z = (latent - latent.mean(axis=0)) / latent.std(axis=0)
    values = z @ [[2.0, 0.0], [0.0, 3.0]] + (z[:, :1] ** 2 - 1) * [0.0, 5.0]
    centers = weights_of_moves(latent, spreads=False) @ values
    assert centers == pytest.approx(np.array([[2.0, 0.0], [0.0, 3.0]]))
    both = weights_of_moves(latent, spreads=True) @ values
    assert both == pytest.approx(np.array([[2, 0], [0, 3], [0, 5], [0, 0.0]]))
    assert weights_of_moves(np.zeros((5, 0)), spreads=True).shape == (0, 5)
