"""Cells of a table by column, with errors that name the row, and rows that are left out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.adoption.left_out import RowsLeftOut
from lakatos.experiments.adoption.mapping import AnswerColumns, leaves_of
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.tables import by_distinct, numbers_of
from lakatos.experiments.errors import TrialsError

ADVICE = re.compile(r"; |\. (?=[A-Z])")
"""Mark between what is wrong with a cell and what a user can do about it."""
MOST_ADVISED_SHARE, MANY_ROWS = 0.2, 10
"""Share and number of rows that cannot be read from which on leaving them out is not advised: a meaning is missing."""
MOST_BAD_SHARE = 0.5
"""Share of rows with a wrong cell beyond which it is the mapping that is wrong."""
MOST_CELLS_SHOWN = 3
MOST_LOOKED_AT = 1_000
"""Wrong cells of which the different ones are shown."""
MOST_REASONS = 5
"""Most reasons for which a file is refused; no more are looked for."""


class RowsWrongError(TrialsError):
    """Some rows of a table cannot be read, the others may; says which, and why."""

    def __init__(self, words: str, places: NDArray[Any], reason: str, *, empty: bool) -> None:
        """Complain about rows.

        Args:
            words: Words for people, where this ends the reading.
            places: Places of the rows in the table of `adopt`.
            reason: What is wrong with them, in a few words.
            empty: Whether nothing stands in their cells, rather than something wrong.
        """
        super().__init__(words)
        self.places, self.reason, self.empty = places, reason, empty


@dataclass(frozen=True)
class RowCells:
    """Cells of a table by column, with errors that name the row."""

    frame: pd.DataFrame
    name: str
    numbers_of_rows: NDArray[Any] | None = None
    """``(n_places,)`` number of each row in the file, by the frame's index; the index itself where it is None."""

    def of(self, frame: pd.DataFrame) -> RowCells:
        """Some of the rows."""
        return replace(self, frame=frame)

    def row_numbers(self, places: Any) -> NDArray[Any]:
        """Numbers of rows as a spreadsheet counts them, by their place among these."""
        index = self.frame.index.to_numpy()[places]
        return np.asarray(index if self.numbers_of_rows is None else self.numbers_of_rows[index])

    def text(self, column: str) -> NDArray[np.object_]:
        """``(n_rows,)`` cells of a column."""
        if column not in self.frame.columns:
            near = difflib.get_close_matches(column, list(map(str, self.frame.columns)), n=1)
            raise TrialsError(
                f"{self.name} has no column {column!r}"
                + (f"; did you mean {near[0]!r}?" if near else ".")
                + f" It has: {', '.join(map(str, self.frame.columns[:40]))}. Say --column KEY=COLUMN "
                "(participants.columns)."
            )
        return np.asarray(self.frame[column].to_numpy(dtype=object))

    def changed(self, column: str, change: Callable[[Any], Any]) -> NDArray[np.object_]:
        """``(n_rows,)`` what a function makes of each cell of a column."""
        return by_distinct(pd.Series(self.text(column)), change)

    def is_in(
        self, column: str, wanted: Collection[str], change: Callable[[Any], Any] = str
    ) -> NDArray[np.bool_]:
        """``(n_rows,)`` whether what a function makes of a cell is one of those that are wanted."""
        found = by_distinct(pd.Series(self.text(column)), lambda cell: change(cell) in wanted)
        return found.astype(bool)

    def numbers(self, column: str, *, empty: bool = False) -> NDArray[np.float64]:
        """``(n_rows,)`` cells of a column as numbers; empty cells are NaN where ``empty`` allows them."""
        cells = self.frame[column] if column in self.frame.columns else pd.Series(self.text(column))
        filled = (cells.str.strip() != "").to_numpy(dtype=bool)
        if not empty:
            self.refuse_empty(~filled, column)
        values = numbers_of(cells).to_numpy()
        self.refuse(
            filled & ~np.isfinite(values),
            column,
            "is no number; write numbers alone, all in one unit, and an amount and its delay in two columns (a "
            "difference of dates such as 2025-01-31 is a number of days: DATE - DATE), or say what words mean: "
            "--column "
            f"'recode.{column}={{\"CELL\" = NUMBER}}', or --column missing.{column}=CELL for no value",
        )
        return np.asarray(values)

    def refuse_empty(self, empty: NDArray[np.bool_], column: str, what: str = "") -> None:
        """Raise `RowsWrongError` with the rows in which a cell is empty."""
        if empty.any():
            words = f"{what or column} is empty"
            raise RowsWrongError(
                f"{self.name}: {rows_named(self.row_numbers(empty))}: {words}.",
                self.frame.index.to_numpy()[empty],
                words,
                empty=True,
            )

    def refuse(self, wrong: NDArray[np.bool_], column: str, words: str) -> None:
        """Raise `RowsWrongError` with the rows that are wrong and what their cells say."""
        if wrong.any():
            distinct = dict.fromkeys(self.frame[column][wrong].head(MOST_LOOKED_AT))
            shown = [f"{str(cell)!r:.60}" for cell in list(distinct)[:MOST_CELLS_SHOWN]]
            more = ", ..." if len(distinct) > len(shown) else ""
            raise RowsWrongError(
                f"{self.name}: {rows_named(self.row_numbers(wrong))}: {column} is {' or '.join(shown)}{more}, which "
                f"{words}.",
                self.frame.index.to_numpy()[wrong],
                f"{column} {ADVICE.split(words)[0]}",
                empty=False,
            )


class WrongRows:
    """Rows that cannot be read, which are left out as far as a study lets them be."""

    def __init__(
        self, columns: AnswerColumns, numbers: NDArray[Any], left_out: RowsLeftOut
    ) -> None:
        """Nothing is left out yet of rows with these numbers; what is left out goes to ``left_out``."""
        self._rule, self._numbers, self._left_out = columns.bad_rows, numbers, left_out
        self._refused: list[RowsWrongError] = []
        self._n_wrong = 0

    def without(self, frame: pd.DataFrame, error: RowsWrongError) -> pd.DataFrame:
        """A table without the rows that are wrong.

        Raises:
            TrialsError: The study wants such rows refused, or there are so many that the mapping must be wrong.
        """
        words, n_all = str(error).rstrip("."), len(self._numbers)
        if self._rule == "refuse" or not (error.empty or self._rule == "leave_out"):
            self._refused.append(error)
            kept = frame.drop(index=error.places)
            if not len(kept) or len(self._refused) == MOST_REASONS:
                self.check()
            return kept
        self._n_wrong += 0 if error.empty else len(error.places)
        if self._n_wrong > MOST_BAD_SHARE * n_all:
            raise TrialsError(
                f"{words}. {self._n_wrong:,} of {n_all:,} rows cannot be read: participants.columns does not "
                "fit this file (--column KEY=COLUMN says what a column is)."
            ) from None
        kept = frame.drop(index=error.places)
        if not len(kept):
            raise TrialsError(f"{words}. No other row is left.") from None
        self._left_out.add(error.reason, frame.loc[error.places], self._numbers[error.places])
        return kept

    def check(self) -> None:
        """Refuse the file where rows are wrong that the study does not let be left out.

        Raises:
            TrialsError: There are such rows; the message names those of each reason.
        """
        if not self._refused:
            return
        first, *others = (str(error).rstrip(".") for error in self._refused)
        name, _, _ = first.partition(": ")
        listed = "; ".join([first, *(words.removeprefix(f"{name}: ") for words in others)])
        n_wrong = sum(len(error.places) for error in self._refused if not error.empty)
        if n_wrong >= MANY_ROWS and n_wrong > MOST_ADVISED_SHARE * len(self._numbers):
            other = "Correct them, or say what the columns mean (--column KEY=COLUMN)."
            raise TrialsError(
                f"{listed}. {'' if '--column' in listed else other}".strip()
            ) from None
        wanted = "leave_out_empty" if all(e.empty for e in self._refused) else "leave_out"
        raise TrialsError(
            f"{listed}. Correct {'it' if len(self._refused) == 1 else 'them'}, or leave such rows out: "
            f'--column bad_rows={wanted} (bad_rows = "{wanted}" in participants.columns).'
        ) from None


def shown_rows(
    frame: pd.DataFrame, columns: AnswerColumns, layout: StimulusLayout, left_out: RowsLeftOut
) -> pd.DataFrame:
    """The rows that show a trial: those in which a column of a needed part of the trials says something.

    Exports of whole sessions hold rows of instructions, pauses and other tasks as well.
    """
    named = [leaf for part in layout.needed for leaf in leaves_of(columns.stimulus.get(part, ""))]
    names = [name for name in named if name in frame.columns]
    if not names:
        return frame
    is_shown = (frame[names] != "").any(axis=1).to_numpy()
    if is_shown.all() or not is_shown.any():
        return frame
    reason = f"no trial is shown: nothing stands in {', '.join(names[:4])}"
    left_out.add(reason, frame[~is_shown], frame.index.to_numpy()[~is_shown], is_trial=False)
    return frame[is_shown]


def whole_numbers(cells: RowCells, column: str) -> NDArray[Any]:
    """A column of whole numbers from 0."""
    values = cells.numbers(column)
    cells.refuse(
        (values < 0) | (values != np.round(values)),
        column,
        "is no whole number from 0; --column counts or --column count says which columns hold counts",
    )
    return values.astype(np.int64)


def texts_in(cells: RowCells, value: Any) -> list[str]:
    """The different texts in some columns, in the order of the alphabet; empty cells are none."""
    columns = {str(leaf) for leaf in leaves_of(value) if leaf in cells.frame.columns}
    found = {text for column in columns for text in cells.frame[column].unique().tolist()}
    return sorted(str(text) for text in found if text)


def read_part(
    cells: RowCells, value: Any, name: str, words: Sequence[str] = (), *, ragged: bool = False
) -> NDArray[Any]:
    """``(n_rows, ...)`` a part of the trials: columns and numbers, nested as the study file nests them.

    Where its cells are words, each stands for its place among these. Where the part is ``ragged``, cells may be empty.
    """
    if isinstance(value, list | tuple):
        if not value:
            raise TrialsError(
                f"{name} is an empty list; name its columns: --column {name}='[\"COLUMN\", ...]' "
                f"(participants.columns.stimulus.{name})."
            )
        parts = [read_part(cells, item, name, words, ragged=ragged) for item in value]
        if len({part.shape for part in parts}) > 1:
            raise TrialsError(
                f"the lists of {name} have different lengths; give as many columns or numbers in each "
                f"(--column {name}=..., participants.columns.stimulus.{name})."
            )
        return np.stack(parts, axis=1)
    if isinstance(value, str) and words:
        words = [word.strip() for word in words]
        cells.refuse_empty(cells.changed(value, str.strip) == "", value)
        cells.refuse(
            ~cells.is_in(value, words, str.strip),
            value,
            f'is none of {", ".join(words)}. Say what it means: --column \'recode.{value}={{"CELL" = "{words[0]}"}}\'',
        )
        return cells.changed(value, lambda cell: words.index(cell.strip())).astype(np.float64)
    if isinstance(value, str):
        return cells.numbers(value, empty=ragged)
    if isinstance(value, int | float):
        return np.full(len(cells.frame), float(value))
    raise TrialsError(
        f"{name}: {value!r} is no column and no number; say --column {name}=COLUMN "
        f"(participants.columns.stimulus.{name})."
    )
