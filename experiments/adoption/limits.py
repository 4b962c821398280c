"""Limits of a file: what is larger is refused while it is read, before it fills the memory."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from lakatos.experiments.errors import TrialsError

MOST_BYTES = 2**30
MOST_ROWS = 10_000_000
MOST_COLUMNS = 5_000
MOST_CELLS = 100_000_000
MOST_LETTERS = 131_072
"""Most characters of a cell."""
MOST_LETTERS_OF_A_NAME = 4_000
"""Most characters of a column's name."""
MOST_LETTERS_OF_A_LINE = 2**24
MOST_LETTERS_OF_ALL = 2**30
MOST_JSON_BYTES = 2**28
MOST_JSON_VALUES = 12_000_000
"""Values of one JSON value, which is held in memory as a whole."""
MOST_FILES = 100_000
"""Most files in a folder."""
CHANGED = "{} changes while it is read. Wait until it is complete, or name a copy of it."


class SteadyFile(io.FileIO):
    """A file that ends where it ended when it was opened; one that grows meanwhile might never end."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._path, self._end = path, os.fstat(self.fileno()).st_size

    def readinto(self, buffer: Any, /) -> int | None:
        """Read bytes into a buffer, as from any file; raise `TrialsError` beyond its end."""
        n_bytes = super().readinto(buffer)
        self._check_end()
        return n_bytes

    def readall(self) -> bytes:
        """Read the rest, as of any file; raise `TrialsError` beyond its end."""
        rest = super().read(max(self._end - self.tell(), 0) + 1)
        self._check_end()
        return rest or b""

    def _check_end(self) -> None:
        if self.tell() > self._end:
            raise TrialsError(CHANGED.format(self._path))


def open_steady(path: Path) -> io.BufferedReader:
    """A file to read bytes of, as a `SteadyFile`."""
    return io.BufferedReader(SteadyFile(path), 2**18)


def check_bytes(path: Path, n_bytes: int, what: str = "") -> None:
    """Refuse a file that is too large: raise `TrialsError`."""
    if n_bytes > MOST_BYTES:
        raise TrialsError(
            f"{path} is larger than {MOST_BYTES >> 30} GiB{what}. Cut it into parts, or keep only the columns that are "
            "needed."
        )


def check_size(name: object, n_rows: int, n_columns: int) -> None:
    """Refuse a table with too many rows or columns: raise `TrialsError`."""
    if n_columns > MOST_COLUMNS:
        raise TrialsError(
            f"{name} has more than {MOST_COLUMNS:,} columns ({n_columns:,} so far). Keep those that are needed; where "
            "each trial has its own columns, write a row for each trial."
        )
    if n_rows > MOST_ROWS or n_rows * n_columns > MOST_CELLS:
        most = min(MOST_ROWS, MOST_CELLS // max(n_columns, 1))
        raise TrialsError(
            f"{name} has more than {most:,} rows of {n_columns:,} columns, and no more are read. Keep the columns that "
            "are needed, or cut the file into parts."
        )


def check_letters(name: object, n_letters: int) -> None:
    """Refuse a table whose cells hold too much text: raise `TrialsError`."""
    if n_letters > MOST_LETTERS_OF_ALL:
        raise TrialsError(
            f"the cells of {name} hold more than {MOST_LETTERS_OF_ALL:,} letters. Keep only the columns "
            "that are needed."
        )


def check_cell(name: object, row: int, column: str, n_letters: int) -> None:
    """Refuse a cell that is too long: raise `TrialsError`."""
    if n_letters > MOST_LETTERS:
        raise TrialsError(
            f"{name}: row {row}: {column} holds {n_letters:,} letters, and a cell has at most {MOST_LETTERS:,}. Leave "
            "this column out of the file."
        )
