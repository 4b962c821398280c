"""Unexplained error of a theory on the presented trials, relative to what chance makes of it.

The ratio is 1 if the theory is right, whatever the number of responses, and larger if a part of the responses follows
something else. Its numerator is the squared error of predicted shares; its denominator is the mean of the same error
over simulated participants of the fitted theory, who answered the same trials as often as the real ones.

The theory was fitted to these responses, which makes both errors incomparable: a fit follows chance. To first order,
what a fit can follow lies in the directions in which predicted shares move with the population's parameters. Both
errors are therefore computed beyond these directions, where a fit of any kind, likelihood or least squares, has no
effect. Refitting to each simulated data set would do the same at a hundred times the cost. What the choice of the form
on these responses gained is not taken out.

References:
    Rao & Robson (1974), Communications in Statistics 3(12), 1139-1153 (tests of fit with estimated parameters).
    Satterthwaite (1946), Biometrics Bulletin 2(6), 110-114 (degrees of freedom of a sum of squares).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

Array = NDArray[np.float64]
LEVEL = 0.9
"""Level of the ratio's interval: each end is passed by chance in one of twenty studies."""
LEAST_BEYOND = 2
"""Directions beyond those of the fit without which nothing can be said."""
ALIKE = 1e-6
"""Share of the largest direction; smaller ones are none."""
STILL = 1e-9
"""Length of a direction in which nothing moves: shares that a parameter does not change differ by rounding only."""


@dataclass(frozen=True)
class ErrorRatio:
    """The misfit ratio: error on the presented trials relative to its mean in simulated data."""

    value: float
    low: float
    """Ends of the 90% interval."""
    high: float
    degrees: float
    """Degrees of freedom of the error under the theory."""

    @property
    def is_above_one(self) -> bool:
        """Whether more is left than chance makes of nothing."""
        return self.low > 1


def error_ratio(observed: Array, simulated: Array, directions: Array) -> ErrorRatio | None:
    """The ratio of an error to the mean error of simulated data sets, beyond what a fit can follow.

    The interval is the set of ratios from which the simulated errors, as a multiple of chi-squared, do not differ; it
    contains 1 in 90% of studies in which the theory is right.

    Args:
        observed: ``(n_cells,)`` deviations of observed shares from predicted ones, each times the square root of the
            number of responses behind it.
        simulated: ``(n_data_sets, n_cells)`` the same of data sets that the theory simulated.
        directions: ``(n_directions, n_cells)`` in which predictions move with the parameters that were fitted, with
            the same factors.

    Returns:
        The ratio, or None where the fit can follow (nearly) everything or the theory leaves nothing to chance.
    """
    beyond = _beyond(directions, observed.size)
    n_beyond = observed.size - len(beyond)
    if n_beyond < LEAST_BEYOND or len(simulated) < 2:
        return None
    errors = np.square(simulated - (simulated @ beyond.T) @ beyond).sum(axis=1)
    own = float(np.square(observed - (observed @ beyond.T) @ beyond).sum())
    expected, variance = float(errors.mean()), float(errors.var(ddof=1))
    if expected <= ALIKE * max(float(np.square(simulated).sum(axis=1).mean()), 1e-300):
        return None
    degrees = float(np.clip(2 * expected**2 / max(variance, 1e-300), 1.0, n_beyond))
    most, least = (float(chi2.ppf((1 + sign * LEVEL) / 2, degrees)) / degrees for sign in (1, -1))
    value = own / expected
    return ErrorRatio(value, value / most, value / least, degrees)


def _beyond(directions: Array, n_cells: int) -> Array:
    """``(n_independent, n_cells)`` orthonormal rows that span some directions; each counts alike, however long."""
    length = np.sqrt(np.square(directions).sum(axis=1))
    kept = [row / size for row, size in zip(directions, length, strict=True) if size > STILL]
    if not kept:
        return np.zeros((0, n_cells))
    _, sizes, rows = np.linalg.svd(np.stack(kept), full_matrices=False)
    return np.asarray(rows[sizes > ALIKE * sizes[0]])


def weights_of_moves(latent: Array, *, spreads: bool) -> Array:
    """Estimate how means over people move with centers and spreads of parameters, as weights, by regression.

    Args:
        latent: ``(n_people, n_parameters)`` of people drawn from the population, on the scale on which parameters are
            normally distributed.
        spreads: Whether spreads were fitted, too.

    Returns:
        ``(n_directions, n_people)``; the product with people's own values is the direction of their mean.
    """
    apart = latent - latent.mean(axis=0)
    size = apart.std(axis=0)
    z = apart[:, size > 0] / size[size > 0]
    columns = np.hstack([np.ones((len(z), 1)), z, z**2 - 1])
    n_moved = z.shape[1] * (2 if spreads else 1)
    return np.asarray(np.linalg.pinv(columns)[1 : n_moved + 1])
