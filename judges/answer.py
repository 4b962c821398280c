"""Answers of a judge about many submissions; failures are kept and counted, never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.interval import wilson_interval
from lakatos.judges.errors import VerdictError
from lakatos.judges.feature import swapped
from lakatos.judges.judge import Judge, JudgeSubmission
from lakatos.traces.digest import Digest

if TYPE_CHECKING:
    from lakatos.judges.anchor import AnchorItem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JudgeAnswers:
    """One judge's answers, item by item."""

    judge: Digest
    """Version of the judge."""
    probability: Array
    """``(n_items,)`` that the candidate is favoured; NaN where it failed."""
    side: NDArray[np.int64]
    """``(n_items,)`` 1 for the candidate, -1 for the incumbent, 0 for even odds and where it failed."""
    failures: dict[int, str]
    """Reason why there is no answer, by item."""

    def to_json(self) -> dict[str, Any]:
        """Write the answers as plain values, for artifacts."""
        return {
            "judge": self.judge,
            "probability": [None if np.isnan(p) else float(p) for p in self.probability],
            "side": self.side.tolist(),
            "failures": {str(place): reason for place, reason in self.failures.items()},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> JudgeAnswers:
        """Read the answers that `to_json` wrote."""
        return cls(
            value["judge"],
            np.array([np.nan if p is None else p for p in value["probability"]], dtype=np.float64),
            np.array(value["side"], dtype=np.int64),
            {int(place): reason for place, reason in value["failures"].items()},
        )


def swap(submission: JudgeSubmission) -> JudgeSubmission:
    """The same question with candidate and incumbent exchanged."""
    return replace(
        submission,
        candidate=submission.incumbent,
        incumbent=submission.candidate,
        advantage=-submission.advantage,
        extra_parameters=-submission.extra_parameters,
        features=swapped(submission.features),
        texts={_other(name): text for name, text in submission.texts.items()},
    )


def ask(judge: Judge, submissions: Sequence[JudgeSubmission]) -> JudgeAnswers:
    """A judge's answers to all submissions; one with ``judge_all`` is asked about everything at once.

    What raises, or is no probability strictly between 0 and 1, is a failure of that item.
    """
    failures: dict[int, str] = {}
    found = _ask_at_once(judge, submissions)
    if found is None:
        found = np.array([_ask_one(judge, *item, failures) for item in enumerate(submissions)])
    for wrong in np.flatnonzero(~((found > 0) & (found < 1))):
        reason = f"answered {found[wrong]}, no probability strictly between 0 and 1"
        failures.setdefault(int(wrong), reason)
        found[wrong] = np.nan
    side = np.nan_to_num(np.sign(found - 0.5)).astype(np.int64)
    return JudgeAnswers(judge.digest, found, side, failures)


def _ask_at_once(judge: Judge, submissions: Sequence[JudgeSubmission]) -> Array | None:
    """Answers of a judge that takes all submissions together; None where it cannot, or one of them is bad."""
    at_once = getattr(judge, "judge_all", None)
    if at_once is None:
        return None
    try:
        return np.array(at_once(submissions), dtype=np.float64)
    except VerdictError:
        return None


def _ask_one(
    judge: Judge, place: int, submission: JudgeSubmission, failures: dict[int, str]
) -> float:
    """One answer; not a number, with the reason among the failures, where there is none."""
    try:
        return float(judge.judge(submission))
    except (VerdictError, ValueError, TypeError, ArithmeticError) as error:
        failures[place] = str(error) or type(error).__name__
        return float("nan")


def _other(name: str) -> str:
    for one, two in (("candidate", "incumbent"), ("incumbent", "candidate")):
        if name.startswith(one):
            return two + name[len(one) :]
    return name


def anchor_accuracy(judge: Judge, items: Sequence[AnchorItem]) -> dict[str, Any] | None:
    """Right answers of a judge among the settled items that it answers, with their 95% interval; None without any."""
    answers = ask(judge, [item.submission for item in items])
    kept = ~np.isnan(answers.probability)
    labels = np.where([item.label for item in items], 1, -1)
    right, n = (answers.side == labels)[kept], int(kept.sum())
    if not n:
        return None
    low, high = wilson_interval(int(right.sum()), n)
    return {"right": float(right.mean()), "low": low, "high": high, "n": n}
