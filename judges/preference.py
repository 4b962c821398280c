"""What a person finds plausible, learned from pairs of theories that the person compared, and whether it may count.

Data do not say which of tied theories is plausible; whoever reads them may. Each comparison is an anchor item whose
label is the person's choice. Before the next choice, what the earlier ones taught says with which probability it will
be the one or the other, and bets on that. Who prefers at random, or always the theory on the left, makes such a
gambler rich with probability 1 / `TRUSTED` at most, however many pairs are compared; until then nothing is decided by
preferences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from lakatos.judges.anchor import AnchorItem
from lakatos.judges.feature import table
from lakatos.judges.judge import JudgeSubmission

Array = NDArray[np.float64]
SCALES: Mapping[str, float] = {
    "extra_parameters": 3.0,
    "extra_mechanisms": 2.0,
    "extra_words": 0.3,
    "extra_memory": 1.0,
    "extra_predictions": 2.0,
    "boldness": 0.05,
}
"""Features that a taste may look at, how well a theory fits not among them, and what is a large difference in each."""
TRUSTED = 20.0
"""Times that a bet of one must have become before preferences count."""
PENALTY = 0.3
"""Precision of the weights' normal prior, on scaled features."""
N_STEPS = 4
"""Of Newton's method, from the weights of one comparison less."""
BOLDEST = 0.9
"""Probability that is bet on at most, so that one surprise does not ruin a gambler who has learned."""


@dataclass(frozen=True)
class PersonalTaste:
    """What a person's comparisons taught so far."""

    weights: Array
    """``(n_features,)`` of `SCALES`, on scaled features."""
    n: int
    """Comparisons."""
    n_foretold: int
    """Of them, those of which the earlier ones foretold the choice."""
    wealth: float
    """What a bet of one on the person's choices has become."""

    @property
    def is_trusted(self) -> bool:
        """Whether the choices are foretold better than chance would be."""
        return self.wealth >= TRUSTED

    def plausibility(self, submission: JudgeSubmission) -> float:
        """Probability that the person prefers the candidate."""
        return float(expit(scaled_features([submission])[0] @ self.weights))


def learn_taste(items: Sequence[AnchorItem]) -> PersonalTaste:
    """The taste behind comparisons in the order in which they were made."""
    features = scaled_features([item.submission for item in items])
    signs = np.array([1.0 if item.label else -1.0 for item in items])
    weights, log_wealth, n_foretold = np.zeros(len(SCALES)), 0.0, 0
    for place in range(len(items)):
        given = float(expit(signs[place] * (features[place] @ weights)))
        log_wealth += np.log(2 * (1 - BOLDEST + (2 * BOLDEST - 1) * given))
        n_foretold += given > 0.5
        weights = _fitted(features[: place + 1] * signs[: place + 1, None], weights)
    return PersonalTaste(weights, len(items), n_foretold, float(np.exp(log_wealth)))


def scaled_features(submissions: Sequence[JudgeSubmission]) -> Array:
    """``(n_submissions, n_features)`` of `SCALES`, candidate less incumbent; beyond two large differences, two."""
    scaled = table(submissions, list(SCALES)) / np.array(list(SCALES.values()))
    return np.asarray(np.clip(scaled, -2, 2))


def _fitted(preferred: Array, start: Array) -> Array:
    """Weights of greatest posterior density of a logistic regression on differences, preferred less other."""
    weights = start
    for _ in range(N_STEPS):
        right = expit(preferred @ weights)
        slope = preferred.T @ (1 - right) - PENALTY * weights
        bend = (preferred.T * (right * (1 - right))) @ preferred + PENALTY * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    return np.asarray(weights)
