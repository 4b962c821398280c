"""A first look at a hierarchical posterior: where each unit's parameters lie, and how well its responses show them.

The pilot serves samplers and is no result. It draws latent values by adaptive importance sampling: first from the
declared prior, later from a mixture of the population found so far and of a normal distribution around each unit's
posterior, all draws weighted by the mixture of everything that they were drawn from. The population is found by
expectation maximisation on these draws.

References:
    Cornuet, Marin, Mira & Robert (2012), Scandinavian Journal of Statistics 39, 798-812 (adaptive multiple importance
    sampling); Papaspiliopoulos, Roberts & Skold (2007), Statistical Science 22(1), 59-73 (partial centering).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
N_ROUNDS, N_EACH = 6, 256
"""Rounds of drawing, and draws of each round for every unit."""
N_MAXIMISED = 10
"""Rounds of expectation maximisation on the draws that there are."""
LEAST_SPREAD = 0.1
WIDER = 1.4
"""Times the standard deviations found so far, for the proposals of the next round."""


@dataclass(frozen=True)
class Pilot:
    """Normal approximations on the scale on which a declared prior is standard normal."""

    center: Array
    """``(n_parameters,)`` of the population; 0 where every unit is ruled by the declared prior."""
    spread: Array
    mean: Array
    """``(n_units, n_parameters)`` of each unit's posterior, given this population."""
    covariance: Array
    """``(n_units, n_parameters, n_parameters)``."""
    precision: Array
    """``(n_units, n_parameters, n_parameters)`` of the normal distribution that stands for a unit's likelihood."""
    shift: Array
    """``(n_units, n_parameters)`` its precision times its mean."""

    @property
    def centering(self) -> Array:
        """``(n_units, n_parameters)`` share of the population's variance that a unit's responses remove, 0 to 1.

        Where it is 1 a sampler moves best with the units' values held, where it is 0 with their offsets held.
        """
        variance = np.diagonal(self.covariance, axis1=1, axis2=2)
        return np.asarray(np.clip(1 - variance / self.spread**2, 0.0, 1.0))


def find_pilot(
    log_likelihood: Callable[[Array], Array],
    ruled: Bools,
    n_parameters: int,
    rng: np.random.Generator,
) -> Pilot:
    """Look for the population and each unit's place in it.

    Args:
        log_likelihood: Latent values ``(n_draws, n_units, n_parameters)`` to nats ``(n_draws, n_units)``.
        ruled: ``(n_units,)`` whether a unit is ruled by the population instead of the declared prior.
        n_parameters: Number of parameters of the theory, at least one.
        rng: Random seed.
    """
    shape = (len(ruled), n_parameters)
    center, spread = np.zeros(n_parameters), np.ones(n_parameters)
    mean, covariance = np.zeros(shape), np.tile(np.eye(n_parameters), (len(ruled), 1, 1))
    proposals: list[_Proposal] = []
    drawn: list[Array] = []
    found: list[Array] = []
    for _ in range(N_ROUNDS):
        proposal = _Proposal.of(
            np.where(ruled[:, None], center, 0.0),
            np.where(ruled[:, None], WIDER * spread, WIDER),
            mean,
            WIDER**2 * covariance,
        )
        proposals.append(proposal)
        drawn.append(proposal.draw(N_EACH, rng))
        found.append(log_likelihood(drawn[-1]))
        z, log_p = np.concatenate(drawn), np.concatenate(found)
        mixture = logsumexp([item.log_density(z) for item in proposals], axis=0)
        center, spread, mean, covariance = _maximise(z, log_p - mixture, ruled, center, spread)
    prior_mean = np.where(ruled[:, None], center, 0.0)
    prior_precision = np.where(ruled[:, None], spread, 1.0) ** -2
    precision, shift = _likelihoods(mean, covariance, prior_mean, prior_precision)
    return Pilot(center, spread, mean, covariance, precision, shift)


def _maximise(
    z: Array, log_ratio: Array, ruled: Bools, center: Array, spread: Array
) -> tuple[Array, Array, Array, Array]:
    """Center, spread, and the units' means and covariances, by expectation maximisation.

    Args:
        z: ``(n_draws, n_units, n_parameters)``.
        log_ratio: ``(n_draws, n_units)`` log likelihood less the log density of what the draws are from.
        ruled, center, spread: As `find_pilot`; where to begin.
    """
    n_ruled = int(ruled.sum())
    for _ in range(N_MAXIMISED if n_ruled else 1):
        at = np.where(ruled[:, None], center, 0.0)
        width = np.where(ruled[:, None], spread, 1.0)
        log_weight = log_ratio - (0.5 * ((z - at) / width) ** 2).sum(axis=-1)
        weight = np.exp(log_weight - log_weight.max(axis=0))
        weight /= weight.sum(axis=0)
        mean = np.einsum("du,dui->ui", weight, z)
        away = z - mean
        covariance = np.einsum("du,dui,duj->uij", weight, away, away)
        # A few heavy draws would make a unit look certain: their own share of the prior's variance is kept.
        effective = 1 / (weight**2).sum(axis=0)
        keep = (1 / effective)[:, None] * width**2
        covariance += np.eye(z.shape[-1]) * keep[:, :, None]
        if n_ruled:
            inside = np.diagonal(covariance, axis1=1, axis2=2)[ruled]
            center = mean[ruled].sum(axis=0) / (n_ruled + spread**2)
            square = (inside + (mean[ruled] - center) ** 2).mean(axis=0)
            spread = np.maximum(np.sqrt(square), LEAST_SPREAD)
    return center, spread, mean, covariance


def _likelihoods(
    mean: Array, covariance: Array, prior_mean: Array, prior_precision: Array
) -> tuple[Array, Array]:
    """Precision, and precision times mean, of the normal likelihoods that turn the priors into these posteriors."""
    posterior_precision = np.linalg.inv(covariance)
    n = mean.shape[1]
    root = 1 / np.sqrt(prior_precision)
    # On the scale of the prior, whatever a posterior is wider than the prior in some direction counts as no evidence.
    scaled = root[:, :, None] * posterior_precision * root[:, None, :] - np.eye(n)
    values, vectors = np.linalg.eigh(scaled)
    values = np.maximum(values, 0.0)
    precision = np.einsum("uik,uk,ujk->uij", vectors, values, vectors)
    precision = precision / root[:, :, None] / root[:, None, :]
    total = precision + np.eye(n) * prior_precision[:, :, None]
    shift = np.einsum("uij,uj->ui", total, mean) - prior_mean * prior_precision
    return precision, shift


@dataclass(frozen=True)
class _Proposal:
    """Half of the draws from the population or prior, half from a normal distribution around each unit's posterior."""

    center: Array
    spread: Array
    """``(n_units, n_parameters)`` each."""
    mean: Array
    root: Array
    """``(n_units, n_parameters, n_parameters)`` Cholesky factor of the covariance."""
    inverse: Array

    @classmethod
    def of(cls, center: Array, spread: Array, mean: Array, covariance: Array) -> _Proposal:
        root: Array = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        inverse: Array = np.asarray(np.linalg.inv(root), dtype=np.float64)
        return cls(center, spread, mean, root, inverse)

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """``(n, n_units, n_parameters)``."""
        noise = rng.standard_normal((n, *self.mean.shape))
        wide = self.center + self.spread * noise
        near = self.mean + np.einsum("uij,duj->dui", self.root, noise)
        return np.where((np.arange(n) % 2 == 0)[:, None, None], wide, near)

    def log_density(self, z: Array) -> Array:
        """``(n_draws, n_units)``, up to one constant of all proposals."""
        wide = -0.5 * (((z - self.center) / self.spread) ** 2).sum(axis=-1)
        wide = wide - np.log(self.spread).sum(axis=-1)
        away = np.einsum("uij,duj->dui", self.inverse, z - self.mean)
        near = -0.5 * (away**2).sum(axis=-1)
        near = near + np.log(np.diagonal(self.inverse, axis1=1, axis2=2)).sum(axis=-1)
        return np.asarray(np.logaddexp(wide, near))
