"""People of declared ranges, drawn evenly by numbers between 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from lakatos.theories.language.prior import Prior

Array = NDArray[np.float64]


@cache
def sobol_points(n_parameters: int, n_each: int, n_batches: int) -> Array:
    """``(n_batches, n_each, n_parameters)`` numbers between 0 and 1, the same for every fit."""
    sobol = qmc.Sobol(n_parameters, scramble=True, rng=np.random.default_rng(0))
    points = np.stack([sobol.random(n_each) for _ in range(n_batches)])
    points.flags.writeable = False
    return points


def people_at(priors: Mapping[str, Prior], uniform: Array) -> dict[str, Array]:
    """``(n_draws,)`` values of each parameter, from ``(n_draws, n_parameters)`` numbers between 0 and 1."""
    inside = np.clip(uniform, 1e-9, 1 - 1e-9)
    return {
        name: prior.quantile(inside[:, column])
        for column, (name, prior) in enumerate(priors.items())
    }


def latent_limits(priors: Mapping[str, Prior]) -> tuple[Array, Array]:
    """``(n_parameters,)`` ends of the declared ranges, each on the scale of its prior."""
    limits = [prior.latent(np.array([prior.low, prior.high])) for prior in priors.values()]
    # A theory without parameters has no rows, which an array of them would forget.
    low, high = np.reshape(limits, (len(limits), 2)).T
    return low, high
