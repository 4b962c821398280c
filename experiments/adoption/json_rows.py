"""Rows of JSON: lists of objects, values one after another, and values a line, turned into columns as they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lakatos.experiments.adoption.delimited import lines_of, text_of
from lakatos.experiments.adoption.limits import (
    MOST_JSON_BYTES,
    MOST_JSON_VALUES,
    check_cell,
    check_size,
)
from lakatos.experiments.errors import TrialsError

NOT_BLANK = re.compile(r"\S")
HALF_LETTER = re.compile("[\ud800-\udfff]")
MOST_DIGITS = 300
"""Most digits of a whole number; a longer one stays text."""
DEEPEST = 4
"""Objects within one another whose keys become names of columns."""


def whole_letters(text: str) -> str:
    r"""Text in which halves of letters, which JSON can hold and no other text, are written out, as ``\ud800``."""
    return HALF_LETTER.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def written(value: Any) -> str:
    """A value as the text of a cell: nothing for a missing value, whole numbers without a point."""
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, float | Decimal) and value != value:
        return ""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return whole_letters(str(value)).strip()


def is_json(path: Path, encoding: str) -> bool:
    """Whether a text begins with a JSON list or object, as exports of JATOS do whose names end in .txt."""
    return text_of(path, encoding, 4096).lstrip()[:1] in ("[", "{")


Rows = tuple[pd.DataFrame, tuple[str, ...]]
"""Rows of text cells, and the columns that were made: ``session``, where lists have none of their own."""


def read_json(path: Path, encoding: str) -> Rows:
    """A list of objects, a list of such lists (one a participant), or an object with a list of trials.

    Several values one after another, as JATOS writes one for each participant, are a list of these.

    Raises:
        TrialsError: It is no JSON, holds no rows, or is too large.
    """
    if path.stat().st_size > MOST_JSON_BYTES:
        raise TrialsError(
            f"{path} is larger than {MOST_JSON_BYTES >> 20} MiB, the most that is read of JSON. Save it as CSV or "
            "Parquet, or as JSON lines (.jsonl) with a row on each line."
        )
    try:
        values = list(_values(path, text_of(path, encoding).strip()))
    except ValueError as error:
        raise TrialsError(f"{path} is no JSON: {error}.") from None
    if not values:
        raise TrialsError(f"{path} is empty; it holds no row of answers.")
    return _of_value(path, values[0] if len(values) == 1 else values)


def read_json_lines(path: Path, encoding: str) -> Rows:
    """One JSON value a line; each is a row, or the list of one person's rows.

    Raises:
        TrialsError: A line is no JSON, or it is too large.
    """
    rows = JsonRows(path)
    for number, line in enumerate(lines_of(path, encoding), start=1):
        if line.strip():
            try:
                values = list(_values(path, line.strip()))
            except ValueError as error:
                raise TrialsError(f"{path}: line {number} is no JSON: {error}.") from None
            for value in values:
                rows.add(value)
    return rows.whole()


def _values(path: Path, text: str) -> Iterator[Any]:
    """The values of a text, one after another."""
    n_values = sum(text.count(mark) for mark in "[{,:")
    if n_values > MOST_JSON_VALUES:
        raise TrialsError(
            f"{path} holds about {n_values:,} values in JSON; at most {MOST_JSON_VALUES:,} are read at once. Save it "
            "as CSV or Parquet, or as JSON lines (.jsonl) with a row on each line."
        )
    decoder, place = json.JSONDecoder(parse_int=_whole_number), 0
    while place < len(text):
        value, place = decoder.raw_decode(text, place)
        yield value
        following = NOT_BLANK.search(text, place)
        place = following.start() if following else len(text)


def _whole_number(digits: str) -> int | str:
    return int(digits) if len(digits) <= MOST_DIGITS else digits


def _of_value(path: Path, value: Any) -> Rows:
    """A table of objects; lists of lists get a column ``session`` with the place of the list."""
    if isinstance(value, dict):
        lists = [item for item in value.values() if isinstance(item, list)]
        value = lists[0] if len(lists) == 1 else [value]
    if not isinstance(value, list):
        raise TrialsError(f"{path}: this JSON is neither a list of rows nor an object with one.")
    rows = JsonRows(path)
    value.reverse()
    while value:  # each is forgotten when it is read
        rows.add(value.pop())
    return rows.whole()


SESSION = "session"
"""Column that numbers the lists of a file."""
OF_KEYS, SPACE_KEY = {"response", "key", "key_press"}, "space"
"""Columns in which jsPsych writes a space for that key, and how it is read, since cells are read without such."""


class JsonRows:
    """Rows that are read one after another, by column."""

    def __init__(self, path: Path) -> None:
        """No row is read yet."""
        self._path, self._n_items, self._n_rows = path, 0, 0
        self._columns: dict[str, list[str]] = {}
        self._made: tuple[str, ...] = ()

    def add(self, item: Any) -> None:
        """Read an object as a row, or a list of objects as rows of one session.

        Raises:
            TrialsError: It is neither, or there are too many rows, columns or letters.
        """
        parts = item if isinstance(item, list) else [item]
        extra = {SESSION: self._n_items} if isinstance(item, list) else {}
        for part in parts:
            if not isinstance(part, dict):
                raise TrialsError(
                    f"{self._path}: item {self._n_items} of the list is {part!r:.60}, not an object. A row is an "
                    "object with a value for each column."
                )
            self._add_row({**extra, **_flat(part)})
        if isinstance(item, list) and not any(SESSION in part for part in parts):
            self._made = (SESSION,)
        self._n_items += 1

    def _add_row(self, row: dict[str, Any]) -> None:
        for name, value in row.items():
            cells = self._columns.get(name)
            if cells is None:
                check_size(self._path, self._n_rows, len(self._columns) + 1)
                cells = self._columns[name] = []
            cells.extend("" for _ in range(self._n_rows - len(cells)))
            cell = SPACE_KEY if value == " " and name in OF_KEYS else written(value)
            check_cell(self._path, self._n_rows + 2, name, len(cell))
            cells.append(cell)
        self._n_rows += 1
        check_size(self._path, self._n_rows, len(self._columns))

    def whole(self) -> Rows:
        """All rows, numbered from 2 as below a header."""
        made = {}
        for name in list(self._columns):
            cells = self._columns.pop(name)
            cells.extend("" for _ in range(self._n_rows - len(cells)))
            made[name] = pd.array(cells, dtype="str")
        return pd.DataFrame(made, index=pd.RangeIndex(2, self._n_rows + 2)), self._made


def _flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    """An object whose parts are no objects: ``{"a": {"b": 1}}`` is ``{"a.b": 1}``."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = f"{before}{whole_letters(key)}"
        if isinstance(item, dict) and before.count(".") < DEEPEST:
            found |= _flat(item, f"{name}.")
        else:
            found[name] = json.dumps(item) if isinstance(item, (list, dict)) else item
    return found
