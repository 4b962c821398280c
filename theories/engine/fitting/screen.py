"""Score of a theory before it is fitted: which of many drafts deserve a fit.

A fit looks for a theory's people in many rounds; this looks at its declared people once. Draws of them are weighted by
what one half of the people teaches, and score the other half, so that a wide population is not refused for its width,
and an ornate one gains nothing by what fits these people alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lakatos.theories.engine.scoring.score import (
    ExperimentEvidence,
    learn_population,
    log_predictive,
)

SCREEN_DRAWS = 256
"""Draws of the declared population."""
ROUNDS = 5
"""Rounds in which the weights of draws are estimated."""
SHARE_FITTED = 0.2
"""Share of many drafts that is fitted."""


def score_before_fit(evidence: Sequence[ExperimentEvidence]) -> float:
    """Nats per choice of each half of the people with draws weighted by the other half, the mean of experiments.

    Where people cannot be told apart, draws count alike.

    Args:
        evidence: All experiments, as draws of the declared population see them.
    """
    if any(item.trials.pooled or item.trials.n_participants < 2 for item in evidence):
        return float(np.mean([log_predictive(item).mean for item in evidence]))
    scores = []
    for half in (0, 1):
        weights = learn_population(
            [_half_of(item, 1 - half) for item in evidence], n_iterations=ROUNDS
        )
        scores += [log_predictive(_half_of(item, half), weights).mean for item in evidence]
    return float(np.mean(scores))


def _half_of(item: ExperimentEvidence, half: int) -> ExperimentEvidence:
    """Every second person of an experiment."""
    chosen = np.arange(item.trials.n_participants) % 2 == half
    own = item.log_likelihood[:, chosen]
    return ExperimentEvidence(item.trials.of_people(chosen), item.probabilities, own)


def worth_fitting(scores: Sequence[float | None]) -> tuple[int, ...]:
    """Places of the best fifth of some drafts by their scores, one at least; None is a draft that cannot be run."""
    runs = [place for place, score in enumerate(scores) if score is not None]
    n = math.ceil(SHARE_FITTED * len(scores))
    return tuple(sorted(sorted(runs, key=lambda place: -(scores[place] or 0.0))[:n]))
