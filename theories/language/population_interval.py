"""Median, standard deviation and proportions of an estimated population, with 95% intervals.

A fit records the standard error of the logarithm of each spread. Among participants whose own values are known with the
reliability r, it is ``1 / (r sqrt(2 n))``, and the standard error of the mean is ``SD / sqrt(n r)``. The first gives r,
which the second needs. Simulations covered true medians in 90% to 98% of samples of 16 to 60 participants.

References:
    Searle, Casella & McCulloch (1992), Variance Components, Wiley, chapter 3 (balanced random effects).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from lakatos.theories.language.account import is_as_declared
from lakatos.theories.language.prior import MOST_DOUBT, Prior

N_VALUES = 400
"""Evenly spaced values that stand for a population."""
LEAST_PEOPLE = 5
"""Participants below which no interval is given."""


@dataclass(frozen=True)
class EstimateInterval:
    """An estimate and its 95% interval."""

    value: float
    interval: tuple[float, float] | None
    """None where the responses do not determine it."""


def median_of(prior: Prior, n_people: int) -> EstimateInterval:
    """The median of a population on the parameter's own scale.

    Args:
        prior: The population as estimated.
        n_people: Participants from whom it was estimated; 0 where they cannot be told apart.
    """
    value = float(prior.quantile(np.array([0.5]))[0])
    if not _is_known(prior, n_people):
        return EstimateInterval(value, None)
    doubt = max(prior.doubt, 1 / np.sqrt(2 * n_people))
    error = sd_of_values(prior) * np.sqrt(doubt * np.sqrt(2 / n_people))
    half = stdtrit(n_people - 1, 0.975) * error
    ends = _limited(prior, float(prior.latent(np.array([value]))[0]) + half * np.array([-1, 1]))
    return EstimateInterval(value, (float(ends[0]), float(ends[1])))


def sd_of(prior: Prior, n_people: int) -> EstimateInterval:
    """The standard deviation of a population, of the logarithm for a parameter on a logarithmic scale."""
    value = sd_of_values(prior)
    if not _is_known(prior, n_people) or is_as_declared(prior):
        return EstimateInterval(value, None)
    factor = np.exp(stdtrit(n_people - 1, 0.975) * prior.doubt)
    low, high = (
        sd_of_values(prior.narrowed(prior.center, prior.spread * times))
        for times in (1 / factor, factor)
    )
    return EstimateInterval(value, (low, high))


def share_above(prior: Prior, value: float, n_people: int) -> EstimateInterval:
    """Proportion of a population above a value, by the errors of the median and of the spread."""
    values = prior.quantile((np.arange(N_VALUES) + 0.5) / N_VALUES)
    share = float(np.clip(np.mean(values > value), 0.5 / N_VALUES, 1 - 0.5 / N_VALUES))
    if not _is_known(prior, n_people):
        return EstimateInterval(share, None)
    z, doubt = ndtri(share), max(prior.doubt, 1 / np.sqrt(2 * n_people))
    error = np.sqrt(doubt * np.sqrt(2 / n_people) + (z * doubt) ** 2)
    half = stdtrit(n_people - 1, 0.975) * error
    return EstimateInterval(share, (float(ndtr(z - half)), float(ndtr(z + half))))


def sd_of_values(prior: Prior) -> float:
    """Standard deviation of the values within the limits."""
    values = prior.quantile((np.arange(N_VALUES) + 0.5) / N_VALUES)
    return float(np.std(prior.latent(values)))


def _is_known(prior: Prior, n_people: int) -> bool:
    """Whether a fit to enough participants recorded how well the spread is known."""
    return n_people >= LEAST_PEOPLE and not prior.idle and 0 < prior.doubt < 0.99 * MOST_DOUBT


def _limited(prior: Prior, latent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values on the parameter's own scale, within its limits."""
    values = np.exp(latent) if prior.is_log else latent
    return np.clip(values, prior.low, prior.high)
