"""Answers that are numbers, from cells of a table: their range, their outcomes, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import MISSING_NUMBERS
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.answer_scale import AnswerScale, heaping_in_words
from lakatos.experiments.errors import TrialsError

Array = NDArray[Any]
RANGES = {"points_x": "x_range", "query": "x_range", "points_y": "y_range"}
"""Setting with the numbers that stand for -1 and 1, by the part of a trial."""
ANSWER_RANGE = "y_range"
"""Setting with the numbers that stand for -1 and 1 in responses."""


def in_own_range(values: Array, parts: Mapping[str, Any], setting: str) -> Array:
    """Numbers of a file in the range from -1 to 1, where a setting says what stands for these two.

    Raises:
        TrialsError: The setting is no pair of numbers that grow.
    """
    ends = parts.get(setting)
    if ends is None:
        return values
    is_pair = isinstance(ends, list | tuple) and len(ends) == 2
    if not is_pair or not all(isinstance(end, int | float) for end in ends) or ends[0] >= ends[1]:
        raise TrialsError(
            f"{setting} is {ends!r}; give two numbers that grow, as in --column {setting}='[0, 100]' "
            f"(participants.columns.stimulus.{setting})."
        )
    low, high = ends
    # Rounded, so that a number on the edge of a bin stays there.
    return np.asarray((2 * (values - low) / (high - low) - 1).round(9))


def number_outcomes(
    cells: RowCells, columns: AnswerColumns, scale: AnswerScale, notes: list[str]
) -> Array:
    """The outcome that each answer is; rounding by people and what outcomes hide is noted.

    Raises:
        RowsWrongError: Answers are no outcome; their rows are told.
    """
    column = columns.response or "response"
    given = cells.numbers(column)
    values = in_own_range(given, columns.stimulus, ANSWER_RANGE)
    places = scale.edges or scale.places
    fine = (values >= places[0]) & (values <= places[-1])
    if not scale.edges:
        fine &= np.isin(values, scale.places)
    ends = columns.stimulus.get(ANSWER_RANGE, (-1, 1))
    is_beyond = (given < ends[0]) | (given > ends[1])
    cells.refuse(
        is_beyond & ((given == -1) | np.isin(np.abs(given), MISSING_NUMBERS)),
        column,
        f"is beyond {ends[0]:g} to {ends[1]:g} and may stand for a missing value; say --column missing.{column}=CELL "
        f"(participants.columns.missing.{column})",
    )
    half = (ends[1] - ends[0]) / 2
    low, high = (ends[0] + half * (place + 1) for place in (places[0], places[-1]))
    cells.refuse(
        ~fine,
        column,
        f"is outside of the range of answers, {low:g} to {high:g}; --column "
        f"{ANSWER_RANGE}='[LOW, HIGH]' says which numbers of the file stand for -1 and 1 "
        f"(participants.columns.stimulus.{ANSWER_RANGE})",
    )
    notes.append(
        f"{column}: grouping {len(values):,} responses into bins hides "
        f"{scale.share_lost(values.tolist()):.1%} of their variance"
    )
    if words := heaping_in_words(given.tolist()):
        notes.append(f"{column}: {words}")
    return scale.outcomes_of(values.tolist())
