"""Participants whose responses go the opposite way, as where keys or the ends of a scale were exchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.plausible import MOST_PHASES, question
from lakatos.experiments.adoption.read_back import columns_not_read
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.tables import places_of

Array = NDArray[Any]


def question_reversed_people(
    cells: RowCells,
    columns: AnswerColumns,
    participant: Array,
    standard_errors: Callable[[NDArray[np.bool_]], float],
    words: str,
    ways: Callable[[str], str],
    notes: list[str],
) -> None:
    """Question participants whose responses go the opposite way, with the unread column that goes with it.

    A value of a column that is the same in all rows of a participant is looked at as a whole.

    Args:
        cells, columns, notes: See `check_cells`.
        participant: ``(n_rows,)`` number of the participant.
        standard_errors: Number of standard errors by which some rows are above chance, given which rows these are.
        words: What the responses do.
        ways: What a user can do, given the unread column, or an empty text without one.
    """
    everyone = np.unique(participant)
    # A bound that one of many participants who respond by chance passes in about one of a thousand files.
    bound = -np.sqrt(REVERSED_ALONE**2 + 2 * np.log(len(everyone)))
    known = {who: standard_errors(participant == who) for who in everyone.tolist()}
    is_reversed = np.isin(participant, [who for who, own in known.items() if own < bound])
    unread = columns_not_read(cells.frame, columns)
    steady = [
        name
        for name in unread
        if places_of(participant, cells.text(name)).max() + 1 == len(everyone)
    ]
    with_column = ""
    for name in steady:
        texts = cells.text(name)
        values = set(texts.tolist())
        if not 2 <= len(values) <= MOST_PHASES:
            continue
        odd = [own for own in values if standard_errors(texts == own) < -REVERSED_ALONE]
        if odd and len(odd) < len(values):
            is_reversed, with_column = np.isin(texts, odd), name
            break
    if not is_reversed.any():
        return
    names = list(dict.fromkeys(cells.text(columns.participant)[is_reversed].tolist()))
    more = ", ..." if len(names) > MOST_NAMED else ""
    goes_with = ""
    if with_column:
        (own, *_) = cells.text(with_column)[is_reversed].tolist()
        goes_with = f", all of whom have {own} in {with_column}, which is not read"
    question(
        columns,
        notes,
        "below_chance",
        f"{cells.name}: {words} for {len(names)} of {len(everyone)} participants ({', '.join(names[:MOST_NAMED])}"
        f"{more}){goes_with}. {ways(with_column)}",
    )


REVERSED_ALONE = 3.2
"""Standard errors below chance from which on responses of a single participant are questioned."""
MOST_NAMED = 8
"""Participants whom a message names."""
