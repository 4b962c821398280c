"""Distance of two theories' predictions, from what their scores show of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def answers_apart(own: Array, other: Array, n_outcomes: int = 0) -> float:
    """Root mean square difference of predicted proportions.

    Of a scale with many outcomes each has a small share, so that differences of shares say little: there it is the
    share of responses that would be another outcome, over trials, which for two options is the same number.

    Args:
        own: Proportions of every trial's options, or of the last of two options.
        other: Those of another theory.
        n_outcomes: Number of outcomes of the scale; 0 where responses are options.
    """
    gaps = np.abs(own - other)
    if n_outcomes:
        gaps = 0.5 * gaps.reshape(-1, n_outcomes).sum(axis=1)
    return float(np.sqrt(np.mean(gaps**2)))


def apart_along_sequences(
    first: Sequence[Array], second: Sequence[Array], n_choices: Sequence[Array]
) -> float:
    """Difference of probabilities that would explain how people's log scores differ.

    At even odds a log ratio of two responses' probabilities has the variance ``4 d**2`` when they differ by ``d``.

    Args:
        first: Per experiment the log predictives of a theory ``(n_units,)``, nats.
        second: Those of another theory.
        n_choices: Responses of each unit.
    """
    squared = [(own - other) ** 2 for own, other in zip(first, second, strict=True)]
    total = sum(float(np.sum(item)) for item in n_choices)
    return float(0.5 * np.sqrt(np.concatenate(squared).sum() / total))
