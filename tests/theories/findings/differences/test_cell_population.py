"""Populations that are drawn from their posterior, beside quadrature."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from lakatos.theories.findings.differences.cell_population import CellPopulation, draw_populations

ENDS = np.array([[-6.0], [6.0]])


def posterior_of_known_cells(values: np.ndarray, usual: float) -> tuple[float, float]:
    """Posterior mean of the center, and root mean square of the standard deviation, of cells that are known exactly."""
    center, sd = (
        own.ravel() for own in np.meshgrid(np.linspace(-6, 6, 401), np.geomspace(0.05, 12, 401))
    )
    inside = norm.cdf((6 - center) / sd) - norm.cdf((-6 - center) / sd)
    log_p = norm.logpdf(values[:, None], center, sd).sum(axis=0) - len(values) * np.log(inside)
    log_p += np.log(sd) - 0.5 * (sd / usual) ** 2
    weights = np.exp(log_p - log_p.max())
    weights /= weights.sum()
    return float(weights @ center), float(np.sqrt(weights @ sd**2))


def drawn_from(values: np.ndarray, start: float) -> CellPopulation:
    cells, nothing = values[:, None, None], np.zeros((len(values), 1))
    begun = CellPopulation(np.zeros(1), np.full(1, start))
    found = draw_populations(
        cells, nothing, begun, ENDS, np.full(1, 0.05), np.full(1, 2.0), np.random.default_rng(0)
    )
    return found.middle


def test_populations_of_known_cells_are_those_of_quadrature() -> None:
    values = np.random.default_rng(3).normal(4.5, 1.5, 12).clip(-6, 6)
    center, sd = posterior_of_known_cells(values, 2.0)
    found = drawn_from(values, 1.5)
    np.testing.assert_allclose(found.center[0], center, atol=0.1 * sd)
    np.testing.assert_allclose(found.sd[0], sd, rtol=0.1)


def test_walkers_that_begin_in_a_narrow_population_leave_it() -> None:
    values = np.random.default_rng(4).normal(0.0, 1.5, 12)
    _, sd = posterior_of_known_cells(values, 2.0)
    np.testing.assert_allclose(drawn_from(values, 0.06).sd[0], sd, rtol=0.1)
