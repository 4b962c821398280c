"""An epoch: a panel of judges frozen by digest. A verdict belongs to the epoch that gave it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from lakatos.judges.errors import EpochMismatchError, VerdictError
from lakatos.judges.judge import Judge, JudgeSubmission, Verdict
from lakatos.traces.digest import Digest, Fingerprint, digest_of
from lakatos.traces.record import Record


class EpochOpened(Record):
    """A panel of judges was frozen for a new epoch."""

    kind: Literal["epoch_opened"] = "epoch_opened"
    version: Literal[1] = 1
    number: int
    epoch: Fingerprint
    """Digest of the frozen panel."""
    judges: dict[str, Fingerprint]
    """Version of each judge, by name."""


@dataclass(frozen=True)
class JudgeEpoch:
    """A frozen panel. Make it with `freeze`."""

    number: int
    judges: tuple[Judge, ...]

    @property
    def digest(self) -> Digest:
        """Identity of the panel: its number and every judge's version."""
        return digest_of(
            {"number": self.number, "judges": {judge.name: judge.digest for judge in self.judges}}
        )

    def opened(self) -> EpochOpened:
        """The record that opens it."""
        return EpochOpened(
            number=self.number,
            epoch=self.digest,
            judges={judge.name: judge.digest for judge in self.judges},
        )

    def judge(self, submission: JudgeSubmission, cycle: int) -> Verdict:
        """The panel's verdict: the mean of the judges' log odds.

        Raises:
            VerdictError: A judge answered with something that is no probability strictly between 0 and 1.
        """
        opinions = {}
        for judge in self.judges:
            opinion = float(judge.judge(submission))
            if not 0 < opinion < 1:
                raise VerdictError(
                    f"judge {judge.name!r} answered {opinion} about {submission.candidate[:8]}; "
                    "a verdict is a probability strictly between 0 and 1."
                )
            opinions[judge.name] = opinion
        probability = float(expit(np.mean([logit(opinion) for opinion in opinions.values()])))
        return Verdict(
            epoch=self.digest,
            candidate=submission.candidate,
            incumbent=submission.incumbent,
            cycle=cycle,
            probability=probability,
            opinions=opinions,
        )


def freeze(number: int, judges: Sequence[Judge]) -> JudgeEpoch:
    """Freeze a panel for an epoch.

    Raises:
        VerdictError: There is no judge, or two share a name, under which opinions are kept.
    """
    if not judges:
        raise VerdictError(
            "a panel needs at least one judge; list one of `judges.rubrics.RUBRICS`."
        )
    names = [judge.name for judge in judges]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise VerdictError(
            f"two judges of the panel are called {repeated[0]!r}; give each a name of its own."
        )
    return JudgeEpoch(number, tuple(judges))


def rank(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Verdicts of one epoch, most promising first.

    Raises:
        EpochMismatchError: They come from two epochs.
    """
    ordered = sorted(verdicts, key=lambda verdict: (-verdict.probability, verdict.candidate))
    for verdict in ordered:
        if verdict.epoch != ordered[0].epoch:
            raise EpochMismatchError(
                f"verdicts on {ordered[0].candidate[:8]} and {verdict.candidate[:8]} come from judge epochs "
                f"{ordered[0].epoch[:8]} and {verdict.epoch[:8]}; they are comparable only within one epoch. "
                "Judge both again in the current epoch."
            )
    return ordered
