"""A pair of theories as the numbers that judges see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.rubrics.rule import PREDICTIONS
from lakatos.theories.engine.checks.prediction import read_predictions
from lakatos.theories.engine.scoring.score import UnitScores, paired_difference
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ScoredExperiment:
    """Scores of one theory on one experiment."""

    scores: UnitScores
    """Scores with the declared population."""
    proportions: Array
    """``(n_trials, n_options)`` predicted."""
    observed: Array
    """``(n_trials, n_options)`` people's shares; NaN where nobody answered."""


def describe(
    candidate: Theory,
    incumbent: Theory,
    own: Sequence[ScoredExperiment],
    other: Sequence[ScoredExperiment],
    *,
    machine_written: tuple[bool, bool] = (False, False),
) -> JudgeSubmission:
    """The submission of a candidate against an incumbent, with all of `judges.feature.FEATURES`.

    Args:
        candidate, incumbent: The theories.
        own, other: What each made of the experiments so far, in one order.
        machine_written: Whether the candidate, and the incumbent, were.
    """
    difference = paired_difference([item.scores for item in own], [item.scores for item in other])
    gaps = np.concatenate(
        [(a.proportions - b.proportions).ravel() for a, b in zip(own, other, strict=True)]
    )
    favouring = [
        a.scores.log_predictive > b.scores.log_predictive for a, b in zip(own, other, strict=True)
    ]
    features = {
        "share_favouring": float(np.concatenate(favouring).mean()),
        "error_difference": _error(other) - _error(own),
        "boldness": _boldness(own) - _boldness(other),
        "extra_mechanisms": float(_mechanisms(candidate) - _mechanisms(incumbent)),
        "extra_words": (len(candidate.claim.split()) - len(incumbent.claim.split())) / 100,
        "extra_memory": float(candidate.learns) - float(incumbent.learns),
        "machine_written": float(machine_written[0]) - float(machine_written[1]),
        PREDICTIONS: float(_predictions(candidate) - _predictions(incumbent)),
    }
    return JudgeSubmission(
        candidate=candidate.digest,
        incumbent=incumbent.digest,
        advantage=difference.value,
        standard_error=difference.standard_error,
        extra_parameters=len(candidate.priors) - len(incumbent.priors),
        n_choices=int(sum(item.scores.n_choices.sum() for item in own)),
        distance=float(np.sqrt(np.mean(gaps**2))),
        features=features,
        texts={"candidate_claim": candidate.claim, "incumbent_claim": incumbent.claim},
    )


def favoured(
    own: Sequence[ScoredExperiment], other: Sequence[ScoredExperiment]
) -> tuple[float, float]:
    """Advantage of the candidate on the next data, in nats per choice, and in standard errors."""
    difference = paired_difference([item.scores for item in own], [item.scores for item in other])
    return difference.value, difference.value / max(difference.standard_error, 1e-12)


def _error(items: Sequence[ScoredExperiment]) -> float:
    parts = [np.nanmean((item.proportions - item.observed) ** 2) for item in items]
    return float(np.mean(parts))


def _boldness(items: Sequence[ScoredExperiment]) -> float:
    return float(
        np.mean([np.abs(item.proportions - 1 / item.proportions.shape[1]).mean() for item in items])
    )


def _mechanisms(theory: Theory) -> int:
    """Mechanisms of a theory, by the grammar's slots; its parameters where the grammar did not write it."""
    return sum(map(len, theory.composition.values())) if theory.composition else len(theory.priors)


def _predictions(theory: Theory) -> int:
    return len(read_predictions(theory.program.source))
