"""How strong stimuli were, from cells of a file: numbers in any unit, or words for levels of difficulty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.row_cells import RowCells
from lakatos.experiments.adoption.tables import NUMBER, by_distinct, numbers_of
from lakatos.experiments.adoption.timed_answers import folded
from lakatos.experiments.errors import TrialsError

Array = NDArray[Any]
LEVELS = (
    ("very hard", "very difficult", "very low", "very_low", "very_hard", "vlf", "very weak"),
    ("hard", "difficult", "low", "weak", "lf", "schwer", "schwierig", "moeilijk", "difficile", "dificil"),
    ("medium", "moderate", "middle", "intermediate", "mid", "mittel"),
    ("easy", "high", "strong", "hf", "leicht", "einfach", "makkelijk", "facile", "facil"),
    ("very easy", "very high", "very_high", "very strong", "very_easy"),
)  # fmt: skip
"""Words for levels of strength, the weakest first."""
PLACE_OF = {word: place for place, words in enumerate(LEVELS) for word in words}
STRENGTHS = {
    "coherence", "coh", "contrast", "strength", "motion", "difficulty", "luminance", "brightness", "signal",
    "evidence", "numerosity", "difference", "diff", "delta", "koharenz", "kohärenz", "kontrast",
}  # fmt: skip
"""Words in names of columns of strengths."""
MOST_STRENGTHS = 60
"""Different strengths from which on they are rounded to hundredths of the strongest."""


def read_strengths(
    cells: RowCells, columns: AnswerColumns, notes: list[str], has_one: Array
) -> Array:
    """``(n_rows,)`` strengths as shares of the strongest stimulus; 1 in rows that have none.

    Raises:
        RowsWrongError: A cell of the other rows is no strength.
        TrialsError: The mapping cannot be right.
    """
    column = columns.stimulus.get("strength")
    if not isinstance(column, str):
        notes.append("no column says how strong stimuli were: all have strength 1")
        return np.ones(len(cells.frame))
    written = folded(cells.text(column))
    cells.refuse_empty(has_one & (written == ""), column)
    known = set(written[has_one].tolist())
    if known <= set(PLACE_OF):
        places = sorted({PLACE_OF[cell] for cell in known})
        levels = {cell: (places.index(PLACE_OF[cell]) + 1) / len(places) for cell in sorted(known)}
        notes.append(
            f"{column}: strengths are "
            + ", ".join(f"{cell} = {level:.3g}" for cell, level in levels.items())
        )
        return by_distinct(pd.Series(written), lambda cell: levels.get(cell, 1.0)).astype(
            np.float64
        )
    cells.refuse(
        has_one
        & ~by_distinct(pd.Series(written), lambda cell: bool(NUMBER.fullmatch(cell))).astype(bool),
        column,
        "is no strength; give numbers, or words such as easy and hard. Say what it means: --column "
        f'\'recode.{column}={{"CELL" = "0.5"}}\'',
    )
    amount = np.abs(numbers_of(pd.Series(written)).to_numpy())
    strongest = columns.stimulus.get("strongest", float(amount[has_one].max()))
    if not isinstance(strongest, int | float) or strongest <= 0:
        raise TrialsError(
            f"{cells.name}: the strongest stimulus of {column} is {strongest!r}; give a number above 0: --column "
            "strongest=NUMBER."
        )
    cells.refuse(
        has_one & (amount > strongest),
        column,
        f"is stronger than the strongest stimulus, {strongest:g}",
    )
    share = np.where(has_one, amount, strongest) / strongest
    digits = 2 if len(np.unique(share)) > MOST_STRENGTHS else 6
    rounded = ", rounded to hundredths of it" if digits == 2 else ""
    notes.append(f"{column}: strength 1 is {strongest:g}{rounded}")
    return np.round(share, digits)
