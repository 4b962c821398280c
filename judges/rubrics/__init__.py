"""The table of judges that every panel begins with, by name."""

from collections.abc import Callable

from lakatos.judges.judge import Judge
from lakatos.judges.rubrics.parsimony import ParsimonyJudge

RUBRICS: dict[str, Callable[[], Judge]] = {"parsimony": ParsimonyJudge}
