"""Whether there is anything left to find: how far a theory's predictions are from people, beyond what chance makes.

The observed error of predicted choice proportions is mostly the sampling of people. What lies beyond it is estimated
without bias from products of two different people's deviations, so that it is 0 on average for the truth.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.engine.scoring.score import ScoreEstimate, telling

Array = NDArray[np.float64]
LEAST_PEOPLE = 5
"""Number of people below which their spread shows too little about chance."""


def error_beyond_chance(trials: Trials, predicted: Array) -> ScoreEstimate | None:
    """Squared error of predicted choice proportions against those of everybody who might have been asked.

    For every trial the mean product of two different people's deviations is an unbiased estimate (a U statistic; its
    terms are averaged over trials and options). The standard error is the jackknife's over people, which is too large
    by up to the square root of two where the prediction is right.

    Args:
        trials: Responses that taught the prediction nothing.
        predicted: ``(n_trials, n_options)`` shares, or those of `telling` alone.

    Returns:
        The error, which may be negative by chance, or None where people cannot be told apart or are too few.

    References:
        Efron & Stein (1981), Annals of Statistics 9, 586-596 (the jackknife's bias).
    """
    if trials.pooled or trials.n_participants < LEAST_PEOPLE:
        return None
    shares = predicted if predicted.shape[-1] == 1 else telling(predicted)
    # Sums over people give every trial's U statistic, and the same without each person.
    total, square = np.zeros_like(shares), np.zeros_like(shares)
    for _, counts in trials.counts_of_some():
        deviation, _ = _deviation(counts, shares)
        total, square = total + deviation.sum(axis=0), square + (deviation**2).sum(axis=0)
    n_people = trials.n_people_asked[:, None]
    usable = (n_people[:, 0] > 2) & (n_people[:, 0] >= LEAST_PEOPLE)
    if not usable.any():
        return None
    whole = _mean_product(total, square, n_people)
    # The jackknife: how much the mean over trials moves when a person is left out.
    parts = []
    for _, counts in trials.counts_of_some():
        deviation, answered = _deviation(counts, shares)
        without = _mean_product(
            total - deviation, square - deviation**2, n_people - answered[..., None]
        )
        parts.append(without[:, usable].mean(axis=(1, 2)))
    rest = np.concatenate(parts)
    n = len(rest)
    variance = (n - 1) / n * ((rest - rest.mean()) ** 2).sum()
    return ScoreEstimate(float(whole[usable].mean()), float(np.sqrt(variance)), n, n - 1)


def _deviation(counts: Array, expected: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Each person's shares beyond those foretold, 0 where there is no answer, and where there is one."""
    n_answers = counts.sum(axis=2)
    answered = n_answers > 0
    shares = telling(counts / np.maximum(n_answers, 1)[..., None])
    return np.where(answered[..., None], shares - expected, 0.0), answered


def _mean_product(total: Array, square: Array, n_people: NDArray[np.int64]) -> Array:
    """Mean product of two different people's numbers, from the sum of these and of their squares."""
    return np.asarray((total**2 - square) / np.maximum(n_people * (n_people - 1), 1))
