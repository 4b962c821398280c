"""A judge predicts, before an experiment is paid for, which of two submissions people's next data will support."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import Field

from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.record import Record

MOST_COUNTED = 10**12
"""Largest number of responses or parameters in a file of comparisons; larger numbers are no counts."""


@dataclass(frozen=True)
class JudgeSubmission:
    """View that a judge has of a candidate and of the incumbent it would replace; neutral about what they are."""

    candidate: Digest
    incumbent: Digest
    advantage: float
    """Candidate minus incumbent on the answers so far, nats per choice."""
    standard_error: float
    """Standard error of the advantage, paired and clustered."""
    extra_parameters: Annotated[int, Field(ge=-MOST_COUNTED, le=MOST_COUNTED)]
    """Parameters of the candidate beyond the incumbent's."""
    n_choices: Annotated[int, Field(ge=0, le=MOST_COUNTED)]
    """Answers behind the advantage."""
    distance: float
    """Root mean square difference of the two predicted choice proportions."""
    features: Mapping[str, float] = field(default_factory=dict)
    """Further numbers by name; those that every submission of the loop has are listed in `judges.feature.FEATURES`."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts that a judge that reads may see, by name: the two claims, for example. Nothing that reveals who wrote
    them."""

    def to_json(self) -> dict[str, Any]:
        """Write the submission as plain values, for artifacts."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> JudgeSubmission:
        """Read the submission that `to_json` wrote."""
        return cls(**value)


class Judge(Protocol):
    """A rule or a program behind one question."""

    @property
    def name(self) -> str:
        """Name by which the panel keeps its opinions; different from those of the panel's other judges."""

    @property
    def digest(self) -> Digest:
        """Version: changes with everything that can change a verdict."""

    def judge(self, submission: JudgeSubmission) -> float:
        """Probability that people's next data favour the candidate."""


class Verdict(Record):
    """A judge panel's prediction about one pair, to be scored when the data arrive."""

    kind: Literal["verdict"] = "verdict"
    version: Literal[1] = 1
    epoch: Fingerprint
    """Digest of the frozen panel."""
    candidate: Digest
    incumbent: Digest
    cycle: int
    probability: float
    opinions: dict[str, float]
    """Each judge's own probability, by name."""


class VerdictResolved(Record):
    """New data settled a verdict."""

    kind: Literal["verdict_resolved"] = "verdict_resolved"
    version: Literal[1] = 1
    verdict: Digest
    experiment: str
    favoured: bool
    """Whether the new data favoured the candidate, by log predictive probability."""
    log_score: float
    """Log probability that the panel gave to the outcome, in nats."""


def resolve(verdict: Verdict, digest: Digest, experiment: str, advantage: float) -> VerdictResolved:
    """Score a verdict on new data; ``advantage`` is candidate minus incumbent there, nats per choice."""
    favoured = advantage > 0
    given = verdict.probability if favoured else 1 - verdict.probability
    return VerdictResolved(
        verdict=digest, experiment=experiment, favoured=favoured, log_score=float(np.log(given))
    )
