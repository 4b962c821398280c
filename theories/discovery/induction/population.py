"""Differences between people about a rule that was found: in lapses, and in how strictly they follow it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.theories.discovery.induction.rule_fit import Responses
from lakatos.theories.discovery.induction.source import ParameterSpread

Array = NDArray[Any]
Rows = NDArray[np.intp]
DIGITS = 6
"""Decimals of nats by which normals are compared, the first of equal ones being taken: later digits differ between
processors, and where a rule says what guessing says all of them explain the same."""


def lapses(
    right: Array, chance: Array | float, person: Rows, count: Array | float, pooled: float
) -> ParameterSpread:
    """Estimate the distribution of people's lapses about a rule.

    Args:
        right: ``(n_rows,)`` probability that the rule gives to what was answered.
        chance: The same of somebody who guesses.
        person: ``(n_rows,)`` who answered.
        count: ``(n_rows,)`` how often.
        pooled: Lapses of everybody together.
    """
    grid = np.linspace(0, 1, 101)[:, None]
    log_p = np.log(np.maximum((1 - grid) * right + grid * chance, 1e-3)) * count
    return population(log_p, grid[:, 0], person, 0.005, 0.2)


def sensitivities(
    log_odds: Array, lapse: float, chance: Array | float, person: Rows, count: Array | float
) -> ParameterSpread:
    """Estimate the distribution of factors on everybody's log odds, on the logarithmic scale.

    Args:
        log_odds: ``(n_rows, n_others)`` of what was answered against each other option, infinite where there is none.
        lapse: Share of random choices.
        chance, person, count: As in `lapses`.
    """
    grid = np.linspace(-2, 2, 41)
    right = np.array(
        [
            1 / (1 + np.exp(-np.clip(np.exp(factor) * log_odds, -500, 500)).sum(axis=-1))
            for factor in grid
        ]
    )
    log_p = np.log(np.maximum((1 - lapse) * right + lapse * chance, 1e-6)) * count
    return population(log_p, grid, person, 0.02, 1.5)


def population(
    log_p: Array, grid: Array, person: Rows, least: float, most: float
) -> ParameterSpread:
    """The normal over ``grid`` that makes people's answers most likely; ``log_p`` is ``(n_grid, n_rows)``."""
    n_people = int(person.max()) + 1
    by_person = np.stack([np.bincount(person, row, minlength=n_people) for row in log_p])
    return most_likely_normal(by_person, grid, least, most)


def most_likely_normal(by_person: Array, grid: Array, least: float, most: float) -> ParameterSpread:
    """The normal over ``grid`` that makes responses most likely; ``by_person`` is ``(n_grid, n_people)`` nats."""
    likelihood = np.exp(by_person - by_person.max(axis=0))
    spreads = np.geomspace(least, most, 8)
    prior = np.exp(-0.5 * ((grid - grid[:, None]) / spreads[:, None, None]) ** 2)
    prior /= prior.sum(axis=-1, keepdims=True)
    total = np.log(np.maximum(prior @ likelihood, 1e-300)).sum(axis=-1)
    row, column = np.unravel_index(int(total.round(DIGITS).argmax()), total.shape)
    return ParameterSpread(float(grid[column]), float(spreads[row]))


def lapses_about(p: Array, responses: Responses, pooled: float) -> ParameterSpread:
    """Lapses of participants who follow a rule between two options.

    Args:
        p: ``(n_cells,)`` probability of the second option.
        responses: Responses to these cells.
        pooled: Lapses of all participants together.
    """
    if responses.is_pooled:
        return ParameterSpread(pooled, 0.005)
    p = p[responses.cell]
    right = np.where(responses.response == 1, p, 1 - p)
    return lapses(right, 0.5, responses.person, responses.count, pooled)


def sensitivities_about(log_odds: Array, responses: Responses, lapse: float) -> ParameterSpread:
    """Factors of participants on the log odds ``(n_cells,)`` of the second option."""
    if responses.is_pooled:
        return ParameterSpread(0.0, 0.02)
    log_odds = log_odds[responses.cell]
    signed = np.where(responses.response == 1, log_odds, -log_odds)
    return sensitivities(signed[:, None], lapse, 0.5, responses.person, responses.count)
