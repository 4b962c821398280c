"""A language model as one member of the panel: it reads both explanations, in both orders, several times.

What it reads is decided in the loop, before the verdict, and recorded; here is what it is asked, how its readings are
put together, and how a recorded reading becomes an opinion. On a dimension on which the two orders contradict each
other, or the repeats have no majority, it has none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, create_model

from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.record import PairRead
from lakatos.judges.rubric import Rubric, RubricDimension, RubricJudge, RubricReading
from lakatos.traces.digest import Digest, digest_of

PROMPT = "language_model"
"""Name of the prompt, in the folder of this file."""
FOLDER = Path(__file__).resolve().parent
NAME = "language model"
WEIGHT = 0.3
"""Log odds per level, before it was fitted to anything: four dimensions at their ends say 0.92."""
_LEVELS = {
    -2: "clearly speaks for the incumbent",
    -1: "rather speaks for the incumbent",
    0: "speaks for neither",
    1: "rather speaks for the candidate",
    2: "clearly speaks for the candidate",
}

RUBRIC = Rubric(
    dimensions=tuple(
        RubricDimension(name, question, _LEVELS, WEIGHT)
        for name, question in (
            (
                "advantage",
                "Which one's lead on the answers so far is beyond its error and its additional parameters?",
            ),
            ("generality", "Which one would still hold on trials unlike those asked so far?"),
            (
                "process",
                "Which one describes something that people can do in the time and with the effort they have?",
            ),
            ("coverage", "Which one accounts for what the diagnosis found to be wrong?"),
        )
    )
)


class _Level(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Literal[-2, -1, 0, 1, 2]
    evidence: Annotated[str, Field(min_length=1, max_length=300)]


_FIELDS: dict[str, Any] = {item.name: (_Level, ...) for item in RUBRIC.dimensions}
PairReading: type[BaseModel] = create_model(
    "PairReading", __config__=ConfigDict(frozen=True, extra="forbid"), **_FIELDS
)
"""A level and its evidence for every dimension; A stands for the incumbent's side."""


def task() -> str:
    """The dimensions with their levels, for the prompt."""
    words = ", ".join(f"{level} {words}" for level, words in sorted(_LEVELS.items()))
    levels = words.replace("the incumbent", "A").replace("the candidate", "B")
    questions = [f"- {item.name}: {item.question}" for item in RUBRIC.dimensions]
    return "\n".join([f"Read A and B on these dimensions; levels are {levels}.", *questions])


def exhibits(submission: JudgeSubmission) -> list[tuple[str, dict[str, Any]]]:
    """What a model reads of a pair, by title: claims and numbers, nothing that tells who wrote them."""
    numbers = {
        "lead_of_B_in_nats_per_choice": submission.advantage,
        "standard_error": submission.standard_error,
        "n_answers": submission.n_choices,
        "parameters_of_B_beyond_those_of_A": submission.extra_parameters,
        "root_mean_square_difference_of_their_predictions": submission.distance,
    }
    if "error_difference" in submission.features:
        numbers["squared_error_of_A_minus_that_of_B"] = submission.features["error_difference"]
    shown = {
        name: value if isinstance(value, int) else float(f"{value:.3g}")
        for name, value in numbers.items()
    }
    claims = [
        (letter, {"claim": submission.texts.get(f"{place}_claim", "")})
        for letter, place in zip("AB", ("incumbent", "candidate"), strict=True)
    ]
    return [*claims, ("answers so far", shown)]


def combined(
    readings: Sequence[tuple[BaseModel, bool]],
) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """Levels, evidence and contradicted dimensions of all readings of a pair.

    Args:
        readings: Each with whether candidate and incumbent had changed places. In each order the majority of signs
            decides; the level is the median of the readings with that sign, in whole levels towards 0.
    """
    levels, evidence, contradicted = {}, {}, []
    for dimension in RUBRIC.dimensions:
        name = dimension.name
        found = [(getattr(reading, name), swapped) for reading, swapped in readings]
        signed = [
            ((-1 if swapped else 1) * item.level, swapped, item.evidence) for item, swapped in found
        ]
        sides = [
            int(np.sign(sum(np.sign(level) for level, order, _ in signed if order is own)))
            for own in (False, True)
        ]
        side = sides[0] if sides[0] == sides[1] else 0
        agreeing = [(level, words) for level, _, words in signed if np.sign(level) == side]
        levels[name] = (
            int(np.trunc(np.median([level for level, _ in agreeing]))) if agreeing and side else 0
        )
        if side == 0 and any(level for level, _, _ in signed):
            contradicted.append(name)
        evidence[name] = next(
            (words for _, words in agreeing), "the readings contradict each other"
        )
    return levels, evidence, tuple(contradicted)


@dataclass(frozen=True)
class RecordedReader:
    """Reads what a language model has said of a pair, from the records."""

    version: Digest
    """Of model, prompt, decoding and repeats."""
    find: Callable[[JudgeSubmission], PairRead | None]

    @property
    def digest(self) -> Digest:
        """Changes with everything that can change a reading but the rubric."""
        code = [inspect.getsource(part) for part in (task, exhibits, combined)]
        return digest_of({"version": self.version, "code": code})

    def read(self, rubric: Rubric, submission: JudgeSubmission) -> RubricReading:
        """The recorded reading; where there is none, level 0 on every dimension, which is even odds."""
        found = self.find(submission)
        if found is not None:
            return RubricReading(found.levels, found.evidence)
        silent: Mapping[str, str] = {item.name: "there is no reading" for item in rubric.dimensions}
        return RubricReading({item.name: 0 for item in rubric.dimensions}, silent)


def make_judge(version: Digest, find: Callable[[JudgeSubmission], PairRead | None]) -> RubricJudge:
    """The member of the panel."""
    return RubricJudge(RUBRIC, RecordedReader(version, find), NAME)
