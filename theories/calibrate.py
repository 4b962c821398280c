"""Narrow a theory's declared ranges to the population that the data show. The result is a new theory.

With single answers the population is learned by expectation maximisation: draws of the current population are
weighted by every participant's posterior, and the next population is the truncated normal that is most likely to
have yielded these posteriors, on the scale of each prior. With pooled answers people cannot be told apart; there the
spread describes what the pooled choice proportions leave open about parameters that all people share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, ndtr
from scipy.stats import qmc

from experiments.task import Trials
from theories.prior import Prior
from theories.score import TINY, log_likelihood

Array = NDArray[np.float64]
Predict = Callable[[Mapping[str, Array]], Sequence[Array]]
"""Parameters ``(n_draws,)`` each to probabilities ``(n_draws, n_trials, n_options)`` of each experiment."""
SMALLEST_SPREAD = 0.02
"""Of the declared range on the latent scale; keeps a population from collapsing onto one draw."""


def calibrate(
    priors: Mapping[str, Prior],
    trials: Sequence[Trials],
    predict: Predict,
    *,
    n_draws: int = 512,
    n_iterations: int = 8,
) -> dict[str, Prior]:
    """Priors whose population is the one that the answers show, within the declared limits.

    Args:
        priors: The theory's declared priors.
        trials: Experiments, in the order in which ``predict`` answers.
        predict: Runs the theory.
        n_draws: Population size in every iteration, a power of two.
        n_iterations: Rounds; every round starts from the population of the last.

    Returns:
        Normal (log-normal) priors with the limits of the given ones.
    """
    if not priors or not trials:
        return dict(priors)
    names = list(priors)
    uniform = np.clip(
        qmc.Sobol(len(names), scramble=True, rng=np.random.default_rng(0)).random(n_draws), 1e-9, 1 - 1e-9
    )
    current = dict(priors)
    pooled = all(item.pooled for item in trials)
    update = _moments if pooled else _most_likely
    for _ in range(n_iterations):
        drawn = {name: current[name].quantile(uniform[:, column]) for column, name in enumerate(names)}
        answers = predict(drawn)
        weights = _shared_weights(trials, answers) if pooled else _population_weights(trials, answers)
        current = {
            name: update(
                priors[name],
                priors[name].latent(drawn[name]),
                weights,
                floor=SMALLEST_SPREAD * (0.25 if pooled else 1.0),
            )
            for name in names
        }
    return current


def _population_weights(trials: Sequence[Trials], answers: Sequence[Array]) -> Array:
    """``(n_draws,)`` posterior weight of every draw, averaged over participants."""
    log_p = np.concatenate([log_likelihood(p, item.counts) for p, item in zip(answers, trials, strict=True)], axis=1)
    posterior = np.exp(log_p - logsumexp(log_p, axis=0))
    return posterior.mean(axis=1)  # type: ignore[no-any-return]


def _shared_weights(trials: Sequence[Trials], answers: Sequence[Array], share: float = 0.1) -> Array:
    """``(n_draws,)`` weights of draws as candidates for everybody, tempered so that ``share`` of them count."""
    log_p = np.zeros(len(answers[0]))
    for p, item in zip(answers, trials, strict=True):
        totals = item.counts.sum(axis=0)
        log_p += (totals * np.log(np.maximum(p, TINY))).sum(axis=(1, 2))
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        weights = np.exp(middle * (log_p - log_p.max()))
        enough = weights.sum() ** 2 / (weights**2).sum() >= share * len(weights)
        low, high = (middle, high) if enough else (low, middle)
    weights = np.exp(low * (log_p - log_p.max()))
    return weights / weights.sum()  # type: ignore[no-any-return]


def _moments(declared: Prior, latent: Array, weights: Array, floor: float) -> Prior:
    low, high = declared.latent(np.array([declared.low, declared.high]))
    center = float(weights @ latent)
    spread = float(np.sqrt(weights @ (latent - center) ** 2))
    return declared.narrowed(min(max(center, low), high), max(spread, floor * (high - low)))


def _most_likely(declared: Prior, latent: Array, weights: Array, floor: float) -> Prior:
    """The normal, truncated to the declared limits, that is most likely to have yielded the weighted draws.

    Taking their mean and spread instead would narrow the population in every round, because truncation narrows it
    again; where people crowd at a limit, the center comes to lie on it.
    """
    low, high = (float(value) for value in declared.latent(np.array([declared.low, declared.high])))
    mean = float(weights @ latent)
    variance = float(weights @ (latent - mean) ** 2)
    least, most = floor * (high - low), high - low

    def surprise(center_and_log_spread: Array) -> float:
        center, spread = center_and_log_spread[0], np.exp(center_and_log_spread[1])
        inside = ndtr((high - center) / spread) - ndtr((low - center) / spread)
        return float(((mean - center) ** 2 + variance) / (2 * spread**2) + np.log(spread * max(inside, 1e-300)))

    start = np.array([min(max(mean, low), high), np.log(min(max(np.sqrt(variance), least), most))])
    fitted = minimize(surprise, start, bounds=[(low, high), (np.log(least), np.log(most))], method="L-BFGS-B").x
    return declared.narrowed(float(fitted[0]), float(np.exp(fitted[1])))
