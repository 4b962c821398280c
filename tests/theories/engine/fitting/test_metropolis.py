"""Steps and densities of the walk without gradients, in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import halfnorm, norm

from lakatos.theories.engine.fitting.metropolis import (
    ACCEPTANCE,
    ChainDraws,
    WalkProposal,
    _log_held,
    _PopulationWalk,
    _recentered,
    sample,
)
from lakatos.theories.engine.fitting.pilot import find_pilot


def _nothing(z: np.ndarray) -> np.ndarray:
    """Responses that say nothing of any value."""
    return np.zeros(z.shape[:2])


def test_a_unit_without_a_population_has_the_standard_normal_prior_and_others_their_own() -> None:
    ruled = np.array([True, False])
    rng = np.random.default_rng(0)
    pilot = find_pilot(_nothing, ruled, 2, rng)
    walk = _PopulationWalk(_nothing, ruled, pilot, 1, rng)
    walk.center, walk.spread = np.array([[1.0, -1.0]]), np.array([[0.5, 2.0]])
    z = np.array([[[2.0, 1.0], [2.0, 1.0]]])
    # By the population (2 - 1) / 0.5 and (1 + 1) / 2; by the declared prior the values themselves.
    expected = [[-0.5 * (2.0**2 + 1.0**2), -0.5 * (2.0**2 + 1.0**2)]]
    np.testing.assert_allclose(walk._log_prior(z), expected)
    z[0, 1] = [3.0, 0.0]
    assert walk._log_prior(z)[0, 1] == pytest.approx(-4.5)


def test_steps_grow_where_more_than_the_wanted_share_is_accepted_and_shrink_elsewhere() -> None:
    proposal = WalkProposal.initial(2, 1)
    before = proposal.log_scale.copy()
    proposal.rescale(np.array([[True, False], [True, False]]), 1)
    np.testing.assert_allclose(proposal.log_scale - before, [1 - ACCEPTANCE, -ACCEPTANCE])
    before = proposal.log_scale.copy()
    proposal.rescale(np.array([[True, False], [True, False]]), 100)  # later by less: 5 / 10
    np.testing.assert_allclose(
        proposal.log_scale - before, [0.5 * (1 - ACCEPTANCE), -0.5 * ACCEPTANCE]
    )


def test_steps_have_the_covariance_of_what_was_visited() -> None:
    rng = np.random.default_rng(0)
    covariance = np.array([[4.0, 1.0], [1.0, 1.0]])
    visited = rng.multivariate_normal([0, 0], covariance, (5000, 1, 1))
    proposal = WalkProposal.initial(1, 2)
    proposal.reshape(visited)
    found = proposal.root[0] @ proposal.root[0].T
    flat = visited.reshape(-1, 2)
    weight = 5000 / (5000 + 10)
    own = np.cov(flat.T)
    expected = weight * own + ((1 - weight) * np.trace(own) / 2 + 1e-8) * np.eye(2)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_partly_centered_offsets_have_the_density_of_their_definition() -> None:
    rng = np.random.default_rng(2)
    centering = rng.random((5, 2))
    free = rng.standard_normal((2, 5, 2))
    center, spread = rng.standard_normal((2, 2)), np.exp(rng.standard_normal((2, 2)))
    held = centering * center[:, None] + spread[:, None] ** centering * free
    # The density of log spread is that of spread times spread.
    population = norm.logpdf(center) + halfnorm.logpdf(spread) + np.log(spread)
    offsets = norm.logpdf(held, centering * center[:, None], spread[:, None] ** centering)
    expected = population.sum(axis=1) + offsets.sum(axis=(1, 2))
    found = _log_held(center, spread, free, centering)
    assert found[0] - found[1] == pytest.approx(expected[0] - expected[1])
    elsewhere, wider = center + 0.3, 1.7 * spread
    again = _recentered(free, centering, center, spread, elsewhere, wider)
    np.testing.assert_allclose(
        centering * elsewhere[:, None] + wider[:, None] ** centering * again, held
    )


@pytest.mark.parametrize("centering", [0.0, 1.0])
def test_without_centering_offsets_are_held_and_with_all_of_it_the_values(centering: float) -> None:
    free = np.array([[[1.0], [-2.0]]])
    center, spread = np.array([[0.5]]), np.array([[2.0]])
    again = _recentered(free, np.full((2, 1), centering), center, spread, center + 1, 3 * spread)
    values = center[:, None] + spread[:, None] * free
    moved = center[:, None] + 1 + 3 * spread[:, None] * again
    np.testing.assert_allclose(*((again, free) if centering == 0 else (moved, values)))


def _normal(z: np.ndarray) -> np.ndarray:
    """Each of 30 units was measured once, with an error of 0.5."""
    places = np.linspace(-1, 2, 30)
    return norm.logpdf(places, z[..., 0], 0.5)


def test_a_pilot_finds_the_posterior_of_normal_measurements() -> None:
    pilot = find_pilot(_normal, np.ones(30, dtype=bool), 1, np.random.default_rng(0))
    places = np.linspace(-1, 2, 30)
    assert pilot.center[0] == pytest.approx(places.mean(), abs=0.05)
    wanted = np.sqrt(places.var() - 0.25)
    assert pilot.spread[0] == pytest.approx(wanted, rel=0.05)
    variance = 1 / (1 / 0.25 + 1 / pilot.spread[0] ** 2)
    expected = variance * (places / 0.25 + pilot.center[0] / pilot.spread[0] ** 2)
    np.testing.assert_allclose(pilot.mean[:, 0], expected, atol=0.12)
    np.testing.assert_allclose(pilot.covariance[:, 0, 0], variance, rtol=0.35)
    assert pilot.centering.mean() == pytest.approx(1 - variance / pilot.spread[0] ** 2, abs=0.05)


def test_a_unit_of_the_declared_prior_is_found_in_a_pilot_without_a_population() -> None:
    pilot = find_pilot(_normal, np.zeros(30, dtype=bool), 1, np.random.default_rng(0))
    assert (pilot.center, pilot.spread) == (0.0, 1.0)
    np.testing.assert_allclose(pilot.mean[:, 0], np.linspace(-1, 2, 30) / 1.25, atol=0.12)


def _walked(**named: object) -> ChainDraws:
    return sample(
        _normal, np.zeros(30, dtype=bool), 1, draws=50, tune=50, chains=4, sweeps=2,
        rng=np.random.default_rng(1), **named,
    )  # fmt: skip


def test_draws_go_on_until_they_are_enough_or_the_most() -> None:
    assert _walked().center.shape[1] == 50
    assert _walked(most=400, enough=lambda so_far: True).center.shape[1] == 50
    seen: list[int] = []

    def enough(so_far: ChainDraws) -> bool:
        seen.append(so_far.center.shape[1])
        return len(seen) == 3

    assert _walked(most=400, enough=enough).center.shape[1] == 150
    assert seen == [50, 100, 150]
    assert _walked(most=200, enough=lambda so_far: False).center.shape[1] == 200


@pytest.mark.statistical
def test_the_walk_finds_the_posterior_of_normal_measurements() -> None:
    places, error = np.linspace(-1, 2, 30), 0.5
    drawn = sample(
        _normal, np.zeros(30, dtype=bool), 1, draws=500, tune=100, chains=8, sweeps=2,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    # On a grid: the units can be integrated out, z + error ~ Normal(center, spread**2 + error**2).
    center, spread = np.meshgrid(np.linspace(-1, 2, 301), np.linspace(0.01, 3, 300))
    width = np.sqrt(spread**2 + error**2)
    log_p = norm.logpdf(center) + halfnorm.logpdf(spread)
    log_p += norm.logpdf(places, center[..., None], width[..., None]).sum(axis=-1)
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    for grid, found in ((center, drawn.center), (spread, drawn.spread)):
        mean = (weight * grid).sum()
        sd = np.sqrt((weight * (grid - mean) ** 2).sum())
        # Half of the 4,000 draws would be effective at 4 standard errors of 0.09 standard deviations.
        assert found.mean() == pytest.approx(mean, abs=0.09 * sd)
        assert found.std() == pytest.approx(sd, rel=0.09)
