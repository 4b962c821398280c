"""Populations that many samples of people show, learned from likelihoods that were computed once.

Simulated studies are many, and a theory is slow: it is asked once how likely each simulated person's answers are for
each of some drawn people, and every sample then learns its populations from these numbers alone, by the expectation
maximisation of `theories.engine.fitting.calibrate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.engine.fitting.normals import (
    log_density,
    maximise,
)
from lakatos.theories.language.prior import Prior

Array = NDArray[np.float64]
N_ROUNDS = 24
"""Of expectation maximisation, at most."""


class DrawnPeople:
    """People drawn from a mixture of populations with equal shares, of whom samples learn who they consist of."""

    def __init__(self, populations: Sequence[Mapping[str, Prior]], drawn: Mapping[str, Array]):
        """Keep the draws with their density.

        Args:
            populations: Normal priors, by parameter; as many people were drawn from each.
            drawn: ``(n_draws,)`` values of each parameter.
        """
        priors = populations[0]
        limits = [prior.latent(np.array([prior.low, prior.high])) for prior in priors.values()]
        self.low, self.high = np.ascontiguousarray(np.array(limits).T)
        self.latent = np.stack([prior.latent(drawn[name]) for name, prior in priors.items()])
        ends = [[(p.center, p.spread) for p in item.values()] for item in populations]
        centers, spreads = np.ascontiguousarray(np.moveaxis(np.array(ends), -1, 0))
        densities = log_density(self.latent, centers, spreads, self.low, self.high)
        self.log_density = np.logaddexp.reduce(densities) - np.log(len(densities))

    def learned(self, log_p: Array, counted: NDArray[np.bool_]) -> Array:
        """What groups of people teach, as weights of the draws.

        Args:
            log_p: ``(n_draws, n_people)`` log likelihood of each person's answers, nats.
            counted: ``(n_groups, n_people)`` who teaches which population.

        Returns:
            ``(n_groups, n_draws)`` normalised log weights.
        """
        n_draws = len(log_p)
        even = np.full((len(counted), n_draws), 1 / n_draws)
        *_, weights = maximise(
            self.latent,
            self.low,
            self.high,
            self.log_density,
            even,
            np.exp(log_p - log_p.max(axis=0)),
            counted.astype(np.float64),
            N_ROUNDS,
        )
        return np.asarray(np.log(np.maximum(weights, 1e-300)))
