"""Named features of a theory, its evidence and its claim: all that a program judge may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.judges.errors import VerdictError
from lakatos.judges.judge import JudgeSubmission

Array = NDArray[np.float64]
Turn = Literal["changes sign", "stays", "from 1"]


@dataclass(frozen=True)
class SubmissionFeature:
    """One number about a submission."""

    meaning: str
    turn: Turn
    """Change of the feature when candidate and incumbent change places: -x, x, or 1 - x."""


FEATURES: dict[str, SubmissionFeature] = {
    "advantage": SubmissionFeature(
        "candidate minus incumbent on the answers so far, nats per choice", "changes sign"
    ),
    "advantage_z": SubmissionFeature("the advantage in standard errors", "changes sign"),
    "total_advantage": SubmissionFeature(
        "the advantage times the number of answers, nats", "changes sign"
    ),
    "extra_parameters": SubmissionFeature(
        "parameters of the candidate beyond the incumbent's", "changes sign"
    ),
    "log_n_choices": SubmissionFeature("logarithm of the number of answers so far", "stays"),
    "distance": SubmissionFeature(
        "root mean square difference of the predicted proportions", "stays"
    ),
    "share_favouring": SubmissionFeature(
        "share of people (problems) whose answers so far favour the candidate", "from 1"
    ),
    "error_difference": SubmissionFeature(
        "incumbent's minus candidate's mean squared error of proportions", "changes sign"
    ),
    "boldness": SubmissionFeature(
        "mean distance of the candidate's proportions from even minus the incumbent's",
        "changes sign",
    ),
    "extra_mechanisms": SubmissionFeature(
        "mechanisms of the candidate beyond the incumbent's", "changes sign"
    ),
    "extra_words": SubmissionFeature(
        "words of the candidate's claim beyond the incumbent's, hundreds", "changes sign"
    ),
    "extra_memory": SubmissionFeature(
        "1 if only the candidate carries a state, -1 if only the incumbent does", "changes sign"
    ),
    "extra_predictions": SubmissionFeature(
        "statements of its claim tried on its code beyond the incumbent's", "changes sign"
    ),
    "machine_written": SubmissionFeature(
        "1 if only the candidate is machine-written, -1 if only the incumbent is", "changes sign"
    ),
}
"""Features of every submission that the loop makes; a submission may leave some out."""


def features_of(submission: JudgeSubmission) -> dict[str, float]:
    """All features of a submission: those it carries, and those that follow from its evidence."""
    error = max(submission.standard_error, 1e-9)
    return {
        "advantage": submission.advantage,
        "advantage_z": float(np.clip(submission.advantage / error, -20, 20)),
        "total_advantage": submission.advantage * submission.n_choices,
        "extra_parameters": float(submission.extra_parameters),
        "log_n_choices": float(np.log(max(submission.n_choices, 1))),
        "distance": submission.distance,
        **submission.features,
    }


def table(submissions: Sequence[JudgeSubmission], names: Sequence[str]) -> Array:
    """Features of many submissions, ``(n_submissions, n_features)``.

    Raises:
        VerdictError: A submission lacks a feature, or has one that is no finite number.
    """
    rows = [features_of(submission) for submission in submissions]
    for row, submission in zip(rows, submissions, strict=True):
        for name in names:
            if not np.isfinite(row.get(name, np.nan)):
                raise VerdictError(
                    f"the submission of {submission.candidate[:8]} has no finite feature {name!r} "
                    f"(it has {', '.join(sorted(row))}); compute it, or use a judge that does not read it."
                )
    return np.array([[row[name] for name in names] for row in rows], dtype=np.float64).reshape(
        len(rows), len(names)
    )


def swapped(features: Mapping[str, float]) -> dict[str, float]:
    """Features when candidate and incumbent change places; unknown names change sign."""
    turned = {
        name: FEATURES[name].turn if name in FEATURES else "changes sign" for name in features
    }
    rule = {"changes sign": lambda x: -x, "stays": lambda x: x, "from 1": lambda x: 1 - x}
    return {name: rule[turned[name]](value) for name, value in features.items()}
