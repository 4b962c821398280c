"""Steps and densities of the walk without gradients, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.theories.engine.fitting.metropolis import ACCEPTANCE, WalkProposal, _PopulationWalk


def test_a_unit_without_a_population_has_the_standard_normal_prior_and_others_their_own() -> None:
    ruled = np.array([True, False])
    walk = _PopulationWalk(lambda z: np.zeros(z.shape[:2]), ruled, 2, 1, np.random.default_rng(0))
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
