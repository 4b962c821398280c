"""Rule judges: a deterministic check, graded, with the share of past comparisons that each grade won.

A check by itself is no probability. What it measures falls into levels, and a level's probability is the share of
settled comparisons on dev in which the candidate won, with one win and one loss added. Every comparison is counted in
both orders, so that a rule says of a pair and of the exchanged pair probabilities that sum to 1.
"""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lakatos.judges.answer import swap
from lakatos.judges.errors import VerdictError
from lakatos.judges.judge import JudgeSubmission
from lakatos.traces.digest import Digest, digest_of

PREDICTIONS = "extra_predictions"
"""Feature: statements of the candidate's claim that are tried on its code, beyond the incumbent's."""


@dataclass(frozen=True)
class LevelRule:
    """A measure of a submission, and the bounds that cut it into levels."""

    meaning: str
    measure: Callable[[JudgeSubmission], float]
    """Changes its sign when candidate and incumbent change places."""
    bounds: tuple[float, ...]
    """Where one level passes into the next; symmetric about 0."""


def claim(submission: JudgeSubmission) -> float:
    """Statements tried on the code and found true, beyond the incumbent's: contradicted claims are refused before."""
    return submission.features.get(PREDICTIONS, 0.0)


def duplicate(submission: JudgeSubmission) -> float:
    """Root mean square distance of the predicted shares, with the sign of the advantage so far."""
    return float(np.sign(submission.advantage)) * submission.distance


def discrimination(submission: JudgeSubmission) -> float:
    """The same distance in standard errors of a share of as many answers as there were.

    Below about two, an experiment of that size could not tell the two apart on any one share.
    """
    return 2 * duplicate(submission) * float(np.sqrt(max(submission.n_choices, 1)))


RULES: Mapping[str, LevelRule] = {
    "claim": LevelRule("does the code do what the claim says", claim, (-0.5, 0.5)),
    "duplicate": LevelRule(
        "is it a duplicate in behaviour", duplicate, (-0.05, -0.005, 0.005, 0.05)
    ),
    "discrimination": LevelRule(
        "can an experiment tell it from the incumbent", discrimination, (-6.0, -2.0, 2.0, 6.0)
    ),
}


@dataclass(frozen=True)
class RuleJudge:
    """A rule with the probability of each of its levels. Make it with `calibrated`."""

    name: str
    table: tuple[float, ...]
    """``(n_levels,)`` probability that people's next data favour the candidate."""

    @property
    def digest(self) -> Digest:
        """Version: the rule's code, its bounds and the table."""
        rule = RULES[self.name]
        code = [inspect.getsource(part) for part in (claim, duplicate, discrimination, level)]
        return digest_of(
            {
                "rule": self.name,
                "code": code,
                "bounds": list(rule.bounds),
                "table": list(self.table),
            }
        )

    def judge(self, submission: JudgeSubmission) -> float:
        """Probability that people's next data favour the candidate."""
        return self.table[level(RULES[self.name], submission)]

    def to_json(self) -> dict[str, Any]:
        """Write the rule's name and table as plain values."""
        return {"rule": self.name, "table": list(self.table)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> RuleJudge:
        """Read the judge that `to_json` wrote.

        Raises:
            VerdictError: There is no such rule, or the table does not fit its levels.
        """
        name, table = str(value["rule"]), tuple(map(float, value["table"]))
        if (
            name not in RULES
            or len(table) != len(RULES[name].bounds) + 1
            or not all(0 < p < 1 for p in table)
        ):
            raise VerdictError(
                f"the rule judge {value!r} is none of {', '.join(RULES)} with a probability per level."
            )
        return cls(name, table)


def level(rule: LevelRule, submission: JudgeSubmission) -> int:
    """Number of the level, from the least to the most favourable.

    Raises:
        VerdictError: What the rule measures is no finite number.
    """
    value = rule.measure(submission)
    if not np.isfinite(value):
        raise VerdictError(
            f"the check {rule.meaning!r} on {submission.candidate[:8]} found {value}, no finite number."
        )
    return bisect_right(rule.bounds, value)


def calibrated(
    name: str, submissions: Sequence[JudgeSubmission], labels: Sequence[bool]
) -> RuleJudge:
    """A rule judge whose levels have the probabilities of settled comparisons.

    Args:
        name: One of `RULES`.
        submissions: Of the dev part.
        labels: Whether the data favoured each candidate.
    """
    rule = RULES[name]
    counts = np.ones((2, len(rule.bounds) + 1))
    for submission, label in zip(submissions, labels, strict=True):
        for asked, favoured in ((submission, label), (swap(submission), not label)):
            counts[int(favoured), level(rule, asked)] += 0.5
    return RuleJudge(name, tuple((counts[1] / counts.sum(axis=0)).tolist()))
