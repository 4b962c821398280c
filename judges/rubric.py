"""The place of a judge that reads: a rubric of separate dimensions with defined levels, each answered with evidence.

What reads is a `RubricReader`, which a language model can be; the rubric turns its levels into a probability.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scipy.special import expit

from lakatos.judges.errors import VerdictError
from lakatos.judges.judge import JudgeSubmission
from lakatos.traces.digest import Digest, digest_of


@dataclass(frozen=True)
class RubricDimension:
    """One question about a pair, with the meaning of each level."""

    name: str
    question: str
    levels: Mapping[int, str]
    """Negative where the incumbent is better, positive where the candidate is."""
    weight: float = 1.0
    """Log odds per level, fitted on dev items."""


@dataclass(frozen=True)
class Rubric:
    """Dimensions that are answered separately."""

    dimensions: tuple[RubricDimension, ...]
    instructions: str = ""

    def to_json(self) -> dict[str, Any]:
        """Write the rubric as plain values, for the version of a judge."""
        whole = [_words(item) | {"weight": item.weight} for item in self.dimensions]
        return {"dimensions": whole, "instructions": self.instructions}


@dataclass(frozen=True)
class RubricReading:
    """A level on every dimension, and the words of the submission that it rests on."""

    levels: Mapping[str, int]
    evidence: Mapping[str, str]


class RubricReader(Protocol):
    """Something that reads a submission by a rubric, such as a language model."""

    @property
    def digest(self) -> Digest:
        """Changes with everything that can change a reading: model and its snapshot, decoding, prompt, tools."""

    def read(self, rubric: Rubric, submission: JudgeSubmission) -> RubricReading:
        """Levels with evidence; raises `VerdictError` for an answer that does not parse, TimeoutError for none."""


@dataclass(frozen=True)
class RubricJudge:
    """A rubric and who reads by it."""

    rubric: Rubric
    reader: RubricReader
    name: str = "rubric"

    @property
    def digest(self) -> Digest:
        """Version: rubric, reader and this code; not the name."""
        own = {"reader": self.reader.digest, "code": inspect.getsource(type(self))}
        return digest_of({**self.rubric.to_json(), **own})

    def judge(self, submission: JudgeSubmission) -> float:
        """Probability that people's next data favour the candidate.

        Raises:
            VerdictError: A dimension has no defined level, or no evidence.
        """
        reading = self.reader.read(self.rubric, submission)
        total = 0.0
        for dimension in self.rubric.dimensions:
            level = reading.levels.get(dimension.name)
            if level is None or level not in dimension.levels:
                raise VerdictError(
                    f"judge {self.name!r} gave {dimension.name!r} the level {level!r}, which is not one of "
                    f"{sorted(dimension.levels)}; every dimension needs one."
                )
            if not reading.evidence.get(dimension.name, "").strip():
                raise VerdictError(
                    f"judge {self.name!r} gave no evidence for {dimension.name!r}; cite what it rests on."
                )
            total += dimension.weight * level
        return float(expit(total))


def _words(dimension: RubricDimension) -> dict[str, Any]:
    levels = {str(level): words for level, words in sorted(dimension.levels.items())}
    return {"name": dimension.name, "question": dimension.question, "levels": levels}
