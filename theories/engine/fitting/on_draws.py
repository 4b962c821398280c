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
    LEAST_SHARE,
    log_density,
    maximise,
    most_likely_normals,
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

    def learned_alike(self, log_p: Array, group: NDArray[np.int64], times: Array) -> Array:
        """Populations of groups whose people differ alike, each around a center of its own, for many samples at once.

        A spread of each group's own would be learned from few people. Where it comes out too narrow, and answers hardly
        tell low values from lower ones, the center stays too near to what the answers tell.

        Args:
            log_p: ``(n_draws, n_people)`` log likelihood of each person's answers, nats.
            group: ``(n_people,)`` number of each person's group, from 0 on.
            times: ``(n_samples, n_people)`` how often a sample holds a person, everybody's group at least once.

        Returns:
            ``(n_samples, n_groups, n_draws)`` weights of the draws, which sum to 1.
        """
        n_samples, n_groups, n_draws = len(times), int(group.max()) + 1, len(log_p)
        likelihood = np.exp(log_p - log_p.max(axis=0))
        members = [group == number for number in range(n_groups)]
        sizes = np.stack([times[:, own].sum(axis=1) for own in members], axis=1)
        weights = np.full((n_samples, n_groups, n_draws), 1 / n_draws)
        is_learning = np.ones(n_samples, dtype=bool)
        for _ in range(N_ROUNDS):
            # Expectation: how much of each draw the people of a group are, on average.
            posterior = np.empty_like(weights)
            for number, own in enumerate(members):
                explained = np.maximum(weights[:, number] @ likelihood[:, own], 1e-300)
                posterior[:, number] = (times[:, own] / explained) @ likelihood[:, own].T
            posterior *= weights / sizes[:, :, None]
            # Maximisation: a center for each group, and what people of all groups differ by.
            mean = (posterior @ self.latent.T).reshape(n_samples * n_groups, -1)
            square = (posterior @ (self.latent**2).T).reshape(n_samples * n_groups, -1)
            variance = np.maximum(square - mean**2, 0.0)
            centers, own_spreads = most_likely_normals(mean, variance, self.low, self.high)
            squared = own_spreads.reshape(n_samples, n_groups, -1) ** 2
            shares = sizes / sizes.sum(axis=1, keepdims=True)
            spreads = np.sqrt(np.einsum("sg,sgp->sp", shares, squared)).repeat(n_groups, axis=0)
            log_weights = log_density(self.latent, centers, spreads, self.low, self.high)
            log_weights -= self.log_density
            later = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
            later /= later.sum(axis=1, keepdims=True)
            weights[is_learning] = later.reshape(weights.shape)[is_learning]
            # No round follows where too few of the draws count.
            most = (weights**2).sum(axis=2).max(axis=1)
            is_learning &= most * n_draws <= 1 / LEAST_SHARE
            if not is_learning.any():
                break
        return weights
