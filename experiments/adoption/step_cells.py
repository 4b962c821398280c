"""What a file says about steps of a schedule: how many options there are, and how large rewards are."""

from __future__ import annotations

import numpy as np

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.outcomes import HasOutcomes
from lakatos.experiments.task import Domain


def size_of_rewards(
    cells: RowCells, columns: AnswerColumns, domain: Domain, notes: list[str]
) -> float:
    """The largest reward or loss of a file, which stands for 1, so that theories do not depend on the unit of rewards.

    Declared tasks say the range of their outcomes; there it is 1.
    """
    column = columns.feedback.get("reward", "")
    if not domain.sequential or isinstance(domain, HasOutcomes) or not column:
        return 1.0
    size = float(np.abs(cells.numbers(column)).max(initial=0.0))
    if size in (0.0, 1.0):
        return 1.0
    notes.append(
        f"{column}: rewards are divided by {size:g}, the largest one, so that theories do not depend on their unit"
    )
    return size


def number_of_options(columns: AnswerColumns, domain: Domain) -> int:
    """How many options each trial or step has: as its domain says, or as the mapping says.

    Raises:
        TrialsError: The mapping has to say it, and does not.
    """
    if not domain.sequential or isinstance(domain, HasOutcomes):
        return len(domain.options)
    told = columns.stimulus.get("options")
    if not isinstance(told, int) or told < 2:
        raise TrialsError("columns.stimulus.options: say how many options each step has, from 2.")
    return told
