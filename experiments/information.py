"""Information that responses to trials are expected to give about which theory is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from lakatos.experiments.errors import DesignError

Array = NDArray[np.float64]
TINY = 1e-12
"""Smallest probability that an answer is given, as in the scores."""
CHANCE_DIGITS = 13
"""Decimals of probabilities that counts are drawn by; NumPy accepts sums that err by 1e-12."""
BLOCK = 1024
"""Candidates at a time, so that what is computed about them stays in the processor's cache."""
PEOPLE_AT_ONCE = 8192
"""Simulated people whose answers are scored at a time, to bound memory."""
MOST_WAYS = 256
"""Ways of answering that a search keeps: all of them up to eight trials with two answers."""


MOST_EXACT = 4096
"""Ways of answering a batch that are enumerated for its information."""


class ShapeError(DesignError):
    """Arrays disagree about what they are arrays of."""


def check_first_axes(axis: str, **arrays: Sequence[Any] | Array | None) -> None:
    """Raise `ShapeError` unless all ``arrays`` that are given have first axes of one length."""
    lengths = {name: len(array) for name, array in arrays.items() if array is not None}
    if len(set(lengths.values())) > 1:
        raise ShapeError(
            f"arrays disagree on {axis}: {lengths}. Give every array one entry for each."
        )


@dataclass(frozen=True)
class DesignInformation:
    """Expected information gain of a set of trials."""

    value: float
    """Nats, between 0 and the entropy of the prior."""
    standard_error: float
    """Standard error of the simulation; 0 if the value is exact over the draws."""


def pair_prior(n_theories: int, pair: tuple[int, int]) -> Array:
    """``(n_theories,)`` log prior under which only two of the theories count, at even odds."""
    log_prior = np.full(n_theories, -np.inf)
    log_prior[list(pair)] = -np.log(2)
    return log_prior


def information_of_batch(
    probabilities: Sequence[Array],
    log_prior: Array,
    *,
    rng: np.random.Generator,
    n_people: int = 1000,
    repetitions: int = 1,
    asked: NDArray[np.integer[Any]] | None = None,
) -> DesignInformation:
    """Mutual information between theory and one participant's answers to all of the trials.

    Exact over the draws where the trials can be answered in at most `MOST_EXACT` ways; beyond, the mean, over simulated
    people, of the divergence of their posterior over theories from the prior.

    Args:
        probabilities: Per theory ``(n_draws, n_trials, n_options)``, for the trials of the batch alone.
        log_prior: ``(n_theories,)`` log p(theory), normalised.
        rng: Source of the people and their answers.
        n_people: Simulated people per theory.
        repetitions: Presentations of each trial.
        asked: ``(n_people, n_trials)`` answers of people to each trial, one of whom is drawn for each simulated person,
            instead of ``repetitions`` by everybody.

    Raises:
        ShapeError: The arrays disagree on ``n_theories`` or ``n_trials``.
    """
    weights = check_rivals(probabilities, log_prior)
    prior = np.exp(log_prior)
    n_trials, n_options = probabilities[0].shape[1:]
    if asked is None and comb(repetitions + n_options - 1, repetitions) ** n_trials <= MOST_EXACT:
        answered = [
            _all_ways(outcome_probabilities(p, repetitions), w)
            for p, w in zip(probabilities, weights, strict=True)
        ]
        within = sum(share * entr(own).sum() for share, own in zip(prior, answered, strict=True))
        return DesignInformation(
            max(float(entr(prior @ np.stack(answered)).sum() - within), 0.0), 0.0
        )
    value, variance = 0.0, 0.0
    for t in np.flatnonzero(prior).tolist():
        each = repetitions if asked is None else asked[rng.integers(len(asked), size=n_people)]
        counts = simulate_counts(probabilities[t], n_people, each, rng, weights[t])
        log_p = np.stack(
            [log_predictive_of(p, counts, w) for p, w in zip(probabilities, weights, strict=True)]
        )
        divergence = _divergence(log_p, log_prior)
        value += prior[t] * divergence.mean()
        variance += prior[t] ** 2 * divergence.var(ddof=1) / n_people
    return DesignInformation(float(value), float(np.sqrt(variance)))


def _all_ways(outcomes: Array, weights: Array) -> Array:
    """``(n_outcomes ** n_trials,)`` probability of each way to answer all trials, over a theory's draws."""
    likelihood = weights[None]
    for trial in range(outcomes.shape[1]):
        likelihood = (likelihood[:, None] * outcomes[:, trial].T).reshape(-1, len(weights))
    return np.asarray(likelihood.sum(axis=1))


def information_of_people(log_predictive: Array, log_prior: Array) -> DesignInformation:
    """`information_of_batch` from people who were simulated and scored one by one.

    Args:
        log_predictive: ``(n_theories, n_people, n_theories)`` nats: true theory, simulated person, scoring theory.
        log_prior: ``(n_theories,)`` log p(theory), normalised.
    """
    check_first_axes("n_theories", log_predictive=log_predictive, log_prior=log_prior)
    divergence = np.stack([_divergence(scores.T, log_prior) for scores in log_predictive])
    prior = np.exp(log_prior)
    variance = prior**2 @ divergence.var(axis=1, ddof=1) / divergence.shape[1]
    return DesignInformation(float(prior @ divergence.mean(axis=1)), float(np.sqrt(variance)))


def _divergence(log_predictive: Array, log_prior: Array) -> Array:
    """``(n_people,)`` divergence of each person's posterior over theories from the prior, nats."""
    posterior = softmax(log_predictive + log_prior[:, None], axis=0)
    log_posterior = np.log(np.maximum(posterior, 1e-300))
    return np.asarray(
        np.sum(posterior * (log_posterior - np.maximum(log_prior, -700)[:, None]), axis=0)
    )


def check_rivals(
    probabilities: Sequence[Array], log_prior: Array | None = None
) -> tuple[Array, ...]:
    """Check that the rivals' arrays agree; return each rival's equal weights of its draws, ``(n_draws,)``."""
    check_first_axes("n_theories", probabilities=probabilities, log_prior=log_prior)
    shapes = [np.shape(p) for p in probabilities]
    if (
        not shapes
        or any(len(shape) != 3 for shape in shapes)
        or len({shape[1:] for shape in shapes}) != 1
    ):
        raise ShapeError(
            f"probabilities have shapes {shapes}; give every theory (n_draws, n_trials, n_options) for the same trials."
        )
    return tuple(np.full(shape[0], 1.0 / shape[0]) for shape in shapes)


def simulate_counts(
    probabilities: Array,
    n_people: int,
    repetitions: int | NDArray[np.integer[Any]],
    rng: np.random.Generator,
    weights: Array,
) -> Array:
    """Answers of people drawn from a theory: ``(n_people, n_trials, n_options)``.

    Each is asked every trial ``repetitions`` times, or each trial as often as ``(n_people, n_trials)`` says.
    """
    return next(simulate_in_blocks(probabilities, n_people, repetitions, rng, weights, n_people))


def rounded_chances(probabilities: Array) -> Array:
    """Probabilities to draw counts by, without the last digits, which differ between processors.

    A binomial draw takes another way above one half than below, so a difference in the last digit would give other
    counts.
    """
    return np.asarray(np.round(probabilities, CHANCE_DIGITS))


def simulate_in_blocks(
    probabilities: Array,
    n_people: int,
    repetitions: int | NDArray[np.integer[Any]],
    rng: np.random.Generator,
    weights: Array,
    n_block: int,
) -> Iterator[Array]:
    """`simulate_counts` of ``n_block`` people at a time; the answers are the same whatever the blocks."""
    who = rng.choice(len(weights), size=n_people, p=weights)
    shares = np.asarray(probabilities, dtype=np.float64)
    n_each = np.broadcast_to(np.asarray(repetitions), (n_people, shares.shape[1]))
    for start in range(0, n_people, n_block):
        own = shares[who[start : start + n_block]]
        chances = rounded_chances(own / own.sum(axis=-1, keepdims=True))
        yield rng.multinomial(n_each[start : start + n_block], chances).astype(np.float64)


def log_predictive_of(
    probabilities: Array, counts: Array, weights: Array, *, n_chunk: int = PEOPLE_AT_ONCE
) -> Array:
    """Log probability of each person's answers, integrated over a theory's draws.

    Args:
        probabilities: ``(n_draws, n_trials, n_options)``.
        counts: ``(n_people, n_trials, n_options)`` answers.
        weights: ``(n_draws,)`` summing to 1.
        n_chunk: People at a time, to bound memory.

    Returns:
        ``(n_people,)`` nats, without the multinomial coefficient, which all theories share.
    """
    log_p = np.log(np.maximum(probabilities, TINY)).reshape(len(probabilities), -1)
    answers = counts.reshape(len(counts), -1)
    parts = []
    for start in range(0, len(answers), n_chunk):
        log_likelihood = answers[start : start + n_chunk] @ log_p.T
        highest = log_likelihood.max(axis=1)
        np.subtract(log_likelihood, highest[:, None], out=log_likelihood)
        parts.append(
            highest
            + np.log(np.maximum(np.exp(log_likelihood, out=log_likelihood) @ weights, 1e-300))
        )
    return np.concatenate(parts) if parts else np.zeros(0)


def outcome_probabilities(probabilities: Array, repetitions: int) -> Array:
    """Probability of every way in which ``repetitions`` answers can be shared out among the options.

    Args:
        probabilities: ``(n_draws, n_trials, n_options)``.
        repetitions: Presentations of each trial.

    Returns:
        ``(n_draws, n_trials, n_outcomes)``; the probabilities themselves for a single presentation.
    """
    if repetitions == 1:
        return probabilities
    n_options = probabilities.shape[-1]
    log_p = np.log(np.maximum(probabilities, TINY))
    columns = []
    for counts in _shared_out(repetitions, n_options):
        log_ways = lgamma(repetitions + 1) - sum(lgamma(count + 1) for count in counts)
        columns.append(np.exp(log_ways + log_p @ np.asarray(counts, dtype=np.float64)))
    return np.stack(columns, axis=-1)


def most_presentations(repetitions: int, n_options: int, most_ways: int = MOST_EXACT) -> int:
    """Presentations, at most ``repetitions`` and at least 1, that can be answered in at most ``most_ways`` ways.

    Of many outcomes, such as bins of time, a few presentations can be answered in more ways than can be listed.
    """
    fits = [n for n in range(1, repetitions + 1) if comb(n + n_options - 1, n) <= most_ways]
    return max(fits, default=1)


def _shared_out(total: int, n_options: int) -> list[tuple[int, ...]]:
    """All ways to write ``total`` as an ordered sum of ``n_options`` counts."""
    if n_options == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in _shared_out(total - first, n_options - 1)
    ]


def with_last(outcomes: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Probabilities of all answers from those of all but the last."""
    rest = 1 - outcomes[0]
    for part in outcomes[1:]:
        rest -= part
    return [*outcomes, np.abs(rest, out=rest)]  # rounding can leave it below 0


def p_log_p(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Compute p log p, of which entropies are sums, much faster than `scipy.special.entr` in single precision."""
    terms: NDArray[np.float32] = np.log(probabilities + np.float32(1e-30))
    terms *= probabilities
    return terms


def softmax(log_values: Array, axis: int) -> Array:
    """Probabilities in proportion to the exponentials of values."""
    values = np.exp(log_values - log_values.max(axis=axis, keepdims=True))
    return values / values.sum(axis=axis, keepdims=True)  # type: ignore[no-any-return]
