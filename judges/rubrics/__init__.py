"""Judges by name."""

from collections.abc import Callable

from judges.judge import Judge
from judges.rubrics.parsimony import ParsimonyJudge

RUBRICS: dict[str, Callable[[], Judge]] = {"parsimony": ParsimonyJudge}
