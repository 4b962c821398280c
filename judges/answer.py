"""What a judge answers about many submissions: repeats by majority, pairs in both orders, failures kept and counted."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.judges.errors import VerdictError
from lakatos.judges.feature import swapped
from lakatos.judges.judge import Judge, JudgeSubmission
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JudgeAnswers:
    """One judge's answers, item by item."""

    judge: Digest
    """Its version."""
    probability: Array
    """``(n_items,)`` mean of its answers; NaN where it failed."""
    side: NDArray[np.int64]
    """``(n_items,)`` 1 for the candidate, -1 for the incumbent, 0 where its answers contradict each other."""
    failures: dict[int, str]
    """Why there is no answer, by item."""
    flip_rate: float = 0.0
    """Share of items on which it disagreed with itself."""

    def to_json(self) -> dict[str, Any]:
        """Write the answers as plain values, for artifacts."""
        return {
            "judge": self.judge,
            "probability": [None if np.isnan(p) else float(p) for p in self.probability],
            "side": self.side.tolist(),
            "failures": {str(place): reason for place, reason in self.failures.items()},
            "flip_rate": self.flip_rate,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> JudgeAnswers:
        """Read the answers that `to_json` wrote."""
        return cls(
            value["judge"],
            np.array([np.nan if p is None else p for p in value["probability"]], dtype=np.float64),
            np.array(value["side"], dtype=np.int64),
            {int(place): reason for place, reason in value["failures"].items()},
            float(value["flip_rate"]),
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


def ask(
    judge: Judge,
    submissions: Sequence[JudgeSubmission],
    *,
    both_orders: bool = False,
    repeats: int = 1,
    timeout_s: float | None = None,
) -> JudgeAnswers:
    """A judge's answers to all submissions.

    Args:
        judge: Whom to ask. A judge with ``judge_all`` is asked about everything at once.
        submissions: What about.
        both_orders: Ask with candidate and incumbent exchanged as well; answers that favour different theories in the
            two orders are no verdict, and count as wrong.
        repeats: Answers to each question; an odd number, decided by majority.
        timeout_s: Seconds after which an answer counts as a failure.

    What raises, does not answer in time, or is no probability strictly between 0 and 1 is a failure of that item.
    """
    if repeats < 1 or repeats % 2 == 0:
        raise VerdictError(f"{repeats} repeats have no majority; ask an odd number of times.")
    failures: dict[int, str] = {}
    orders = (
        [list(submissions), [swap(item) for item in submissions]]
        if both_orders
        else [list(submissions)]
    )
    found = np.full((len(orders), repeats, len(submissions)), np.nan)
    for number, order in enumerate(orders):
        for repeat in range(repeats):
            found[number, repeat] = _all(judge, order, failures, timeout_s)
    if both_orders:
        found[1] = 1 - found[1]
    with np.errstate(invalid="ignore"):
        votes = np.sign(found - 0.5).sum(axis=1)  # (n_orders, n_items)
        sides = np.sign(votes)
        side = np.where((sides == sides[0]).all(axis=0), sides[0], 0)
        flipped = (np.sign(found - 0.5) != np.sign(found[0, 0] - 0.5)).any(axis=(0, 1))
    failed = np.isin(np.arange(len(submissions)), list(failures))
    mean = np.where(failed, np.nan, found.mean(axis=(0, 1)))
    flip_rate = float(flipped[~failed].mean()) if (~failed).any() else 0.0
    return JudgeAnswers(
        judge.digest, mean, np.where(failed, 0, side).astype(np.int64), failures, flip_rate
    )


def _all(
    judge: Judge,
    submissions: Sequence[JudgeSubmission],
    failures: dict[int, str],
    timeout_s: float | None,
) -> Array:
    answers = np.full(len(submissions), np.nan)
    at_once = getattr(judge, "judge_all", None)
    if at_once is not None and timeout_s is None:
        try:
            answers = np.array(at_once(submissions), dtype=np.float64)
        except VerdictError:
            at_once = None  # one bad submission: ask item by item to learn which
    if at_once is None or timeout_s is not None:
        # A judge that hangs keeps its thread; it is left behind, and what it says later is heard by nobody.
        pool = ThreadPoolExecutor(1) if timeout_s is None else None
        for place, submission in enumerate(submissions):
            runner = pool or ThreadPoolExecutor(1)
            try:
                answers[place] = float(runner.submit(judge.judge, submission).result(timeout_s))
            except TimeoutError:
                failures.setdefault(place, "did not answer in time")
            except (VerdictError, ValueError, TypeError, ArithmeticError) as error:
                failures.setdefault(place, str(error) or type(error).__name__)
            finally:
                if pool is None:
                    runner.shutdown(wait=False)
        if pool is not None:
            pool.shutdown()
    for wrong in np.flatnonzero(~((answers > 0) & (answers < 1))):
        failures.setdefault(
            int(wrong), f"answered {answers[wrong]}, no probability strictly between 0 and 1"
        )
        answers[wrong] = np.nan
    return answers


def _other(name: str) -> str:
    for one, two in (("candidate", "incumbent"), ("incumbent", "candidate")):
        if name.startswith(one):
            return two + name[len(one) :]
    return name
