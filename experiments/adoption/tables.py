"""Files in which laboratories keep people's answers, read into one table of text cells.

Read are text tables (commas, semicolons, tabulators, bars), Parquet, JSON lines, lists of JSON objects as jsPsych
writes them, exports of Qualtrics and PsychoPy, SPSS and R files where their readers are installed, and folders in the
form of Psych-DS or BIDS. Nothing in a cell is ever computed: a formula stays the text that it is.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakatos.experiments.adoption.delimited import (
    ROWS_AT_ONCE,
    check_names,
    encoding_of,
    lines_of,
    read_delimited,
    text_of,
)
from lakatos.experiments.adoption.json_rows import (
    is_json,
    read_json,
    read_json_lines,
    whole_letters,
    written,
)
from lakatos.experiments.adoption.limits import (
    CHANGED,
    MOST_BYTES,
    MOST_FILES,
    MOST_LETTERS,
    check_bytes,
    check_cell,
    check_letters,
    check_size,
    open_steady,
)
from lakatos.experiments.adoption.names import CHOICES, words_of
from lakatos.experiments.adoption.units import KNOWN
from lakatos.experiments.adoption.workbook import OLD_EXCEL, ZIPPED, begins_with, write_sheet
from lakatos.experiments.adoption.z_tree import is_z_tree, read_z_tree
from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".iqdat", ".xls")
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")
THOUSANDS = re.compile(r"[+-]?\d+,\d{3}")
"""A number that may be one of thousands, or one with three decimals."""
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}(\1\d{3})*")
"""A whole number whose thousands are grouped by points or commas, or one with three decimals."""
BOTH_MARKS = {
    mark: re.compile(rf"[+-]?(\d{{1,3}}({re.escape(group)}\d{{3}})+|\d+)({re.escape(mark)}\d+)?")
    for mark, group in ((",", "."), (".", ","))
}
"""Numbers whose decimals begin with a mark and whose thousands may be grouped by the other one."""
MARK_WORDS = {".": "points", ",": "commas"}
BELOW_THOUSAND = re.compile(r"[+-]?\d{1,3}")
MISSING = {
    "na", "n/a", "n.a.", "<na>", "#na", "#n/a", "#n/a n/a", "nan", "-nan", "nan(ind)", "-nan(ind)", "1.#ind", "-1.#ind",
    "1.#qnan", "-1.#qnan", "null", "#null!", "(null)", "undefined", ".",
    "na_character_", "na_integer_", "na_real_", "nat", "#value!", "#div/0!",
}  # fmt: skip
"""Words that programs write where there is no value, in letters of any case; and ``None``, as Python writes it."""
MISSING_CODE = re.compile(r"\.[a-z_]")
"""Pattern of several kinds of missing values in SAS and Stata: a point and a letter."""
MOST_NAMES = 12
"""Alternatives of a choice."""
MISSING_AMONG_NUMBERS = {"none", "-", "--", "\u2013", "\u2014", "missing", "nil", "empty"}
"""Words that people write there; each may be a word like others, except in a column whose other cells are numbers."""
UNICODE_MINUS = re.compile(r"^\u2212(?=[\d.,])")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?")
WHOLE = re.compile(r"([+-]?\d+)\.0*")
"""A whole number as programs write it that keep numbers with decimals."""
KEY_VALUE = re.compile(r"([a-z]+)-([A-Za-z0-9]+)")
"""Parts of file names in Psych-DS and BIDS, as in ``sub-01_task-choice_events.tsv``."""


PIECES = re.compile(r"[A-Za-z]+|\d+")
"""Words and numbers of which names of files such as ``03187_game`` and ``P1Flanker2`` consist."""
MOST_PARTS = 6
PEOPLE = "participants.tsv"
"""Name in BIDS of the file of participants' attributes."""
NUMBERS_OF_ROWS = re.compile(r"__index_level_\d+__")
"""Names that pandas gives to columns of an index that has none."""


@dataclass(frozen=True)
class AnswerTable:
    """Rows of text cells, an empty cell being empty text."""

    name: str
    """Name of the file or folder."""
    frame: pd.DataFrame
    """Columns of text; the index is the number of each row as a spreadsheet shows it, the header being row 1."""
    notes: tuple[str, ...] = ()
    """Assumptions made in reading it."""
    marked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words that were read as empty, such as NA, by column."""
    grouped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Some of the cells of columns whose numbers may be thousands, or have three decimals as they are read."""
    questions: Mapping[str, str] = field(default_factory=dict)
    """Questions of a questionnaire, by column."""
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels that a file of SPSS gives to values, by column and by cell."""
    made: tuple[str, ...] = ()
    """Columns that the reader made, which number the lists of rows in a file."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(map(str, self.frame.columns))


def n_lines(path: Path) -> int:
    """Lines of a text table, in a second for hundreds of megabytes; 0 of what is no text table."""
    if path.suffix.lower() not in TEXT_SUFFIXES or not path.is_file():
        return 0
    with open_steady(path) as file:
        blocks = iter(lambda: file.read(2**22), b"")
        counts = np.array([(block.count(b"\n"), block.count(b"\r")) for block in blocks])
    return int(counts.sum(axis=0).max(initial=0))


def read_answers(path: Path) -> AnswerTable:
    """Read a file of answers, or a folder of such files.

    Raises:
        TrialsError: It is missing, too large, or not what its name says; the message says what to do.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    table = _read_file(path, READERS)
    if (path.parent / PEOPLE).is_file() and path.name != PEOPLE:
        words = f"{PEOPLE} stands beside the file and is not read; add the columns that are needed to the file"
        table = replace(table, notes=(*table.notes, words))
    return _checked(table)


def release_cells() -> None:
    """Give back the memory of tables that nobody holds any more, which Arrow keeps for later ones."""
    pa.default_memory_pool().release_unused()


def read_cells(path: Path) -> AnswerTable:
    """Read a table of text or a Parquet file as it stands: no cell is taken as empty, and no number is rewritten.

    Raises:
        TrialsError: As for `read_answers`.
    """
    parquet = dict.fromkeys((".parquet", ".pq"), _read_parquet)
    return _read_file(Path(path), dict.fromkeys(TEXT_SUFFIXES, _cells_of_text) | parquet)


def _read_file(path: Path, readers: Mapping[str, Callable[[Path], AnswerTable]]) -> AnswerTable:
    """Read a file that does not change meanwhile with the reader for the end of its name."""
    if not path.is_file():
        raise TrialsError(f"there is no file {path}; name a file of answers, or a folder of them.")
    begun = path.stat()
    check_bytes(path, begun.st_size)
    reader = readers.get(path.suffix.lower())
    if reader is None:
        then = (
            "Unpack it first."
            if path.suffix.lower() in PACKED
            else "Save it as CSV, with one row for each answer."
        )
        raise TrialsError(
            f"{path}: files that end in {path.suffix or 'nothing'} are not read; there are: "
            f"{', '.join(readers)}. {then}"
        )
    try:
        table = reader(path)
        now = path.stat()
        if (now.st_size, now.st_mtime_ns) != (begun.st_size, begun.st_mtime_ns):
            raise TrialsError(CHANGED.format(path))
    except OSError as error:
        raise TrialsError(f"cannot read {path}: {error.strerror or error}.") from None
    except UnicodeDecodeError:  # every byte was looked at before
        raise TrialsError(CHANGED.format(path)) from None
    except RecursionError:
        raise TrialsError(
            f"cannot read {path}: its values lie too deeply within one another. A row is an object with a value for "
            "each column."
        ) from None
    return table


def _checked(table: AnswerTable) -> AnswerTable:
    """The table, if it has rows and columns that can be told apart."""
    names = table.columns
    if not len(table.frame) or not names:
        raise TrialsError(f"{table.name} holds no row of answers below its header.")
    _refuse_events(table)
    check_names(table.name, list(names))
    check_size(table.name, len(table.frame), len(names))
    return _with_whole_numbers(_with_empty_cells(table))


EVENTS = ("Event Type", "Code", "Time")
"""Columns of a log of the program Presentation."""


def _refuse_events(table: AnswerTable) -> None:
    """Refuse a log whose rows are events, of which a trial has several: raise `TrialsError`."""
    if not set(EVENTS) <= set(table.columns):
        return
    kinds = [cell for cell in map(str, table.frame[EVENTS[0]].str.strip().unique()) if cell]
    if "Response" in kinds and len(kinds) > 1:
        raise TrialsError(
            f"{table.name}: each row is one event of a log of Presentation (Event Type is {', '.join(kinds[:3])}), so "
            "that the stimulus and the response of a trial stand in two rows, and trials are read from one. Write a "
            "file with a row for each trial: the participant, the number of the trial, a column for each thing that "
            "Code says of the stimulus (such as its congruence and the right button), Code of the row Response as "
            "the button that was pressed, and TTime / 10 of that row as the response time in ms."
        )


def _with_empty_cells(table: AnswerTable) -> AnswerTable:
    """The table with nothing in cells that say that nothing is there."""
    frame, n_missing, words = table.frame.copy(deep=False), 0, set[str]()
    marked = dict(table.marked)
    for name in frame.columns:
        is_response = bool(set(words_of(str(name))) & CHOICES)
        marks = _missing_marks(frame[name].value_counts().to_dict(), is_response=is_response)
        if marks:
            is_missing = frame[name].isin(marks)
            n_missing += int(is_missing.sum())
            words |= marks
            marked[str(name)] = (*marked.get(str(name), ()), *sorted(marks))
            frame[name] = frame[name].mask(is_missing, "")
    if not n_missing:
        return table
    in_words = " or ".join(sorted(word.strip() for word in words))
    note = f"{n_missing:,} cells that say {in_words} are taken as empty"
    return replace(table, frame=frame, notes=(*table.notes, note), marked=marked)


def _missing_marks(counts: Mapping[str, int], *, is_response: bool) -> set[str]:
    """Those of a column's cells that stand where there is no value, given how often each cell comes.

    Where a few cells of a column that is no response come equally often, they name what each choice offers, and "none"
    is one of these names.
    """
    folded = {cell: cell.strip().casefold() for cell in counts}
    is_even = len(set(counts.values())) == 1 and min(counts.values()) > 1
    if is_even and not is_response and 3 <= len(folded) <= MOST_NAMES:
        folded = {cell: word for cell, word in folded.items() if word != "none"}
    marks = {
        cell
        for cell, word in folded.items()
        if word in MISSING or cell.strip() == "None" or MISSING_CODE.fullmatch(word)
    }
    doubtful = {cell for cell, word in folded.items() if word in MISSING_AMONG_NUMBERS} - marks
    if doubtful:
        rest = [word for cell, word in folded.items() if word and cell not in marks | doubtful]
        marks |= doubtful if rest and all(map(NUMBER.fullmatch, rest)) else set()
    return marks


def _with_whole_numbers(table: AnswerTable) -> AnswerTable:
    """The table with 1.0 written as 1, where every cell of a column is a whole number.

    Programs that keep numbers with decimals, as pandas does of a column with gaps, write whole numbers so.
    """
    frame = table.frame.copy(deep=False)
    for name in frame.columns:
        distinct = [cell.strip() for cell in frame[name].unique() if cell.strip()]
        if any("." in cell for cell in distinct) and all(
            cell.removeprefix("-").isdecimal() or WHOLE.fullmatch(cell) for cell in distinct
        ):
            frame[name] = by_distinct(frame[name], whole)
    return replace(table, frame=frame)


def by_distinct(cells: pd.Series, change: Callable[[Any], Any]) -> NDArray[np.object_]:
    """``(n_rows,)`` what a function makes of each cell; it is called once for each different cell."""
    place, distinct = pd.factorize(cells)
    made = np.empty(len(distinct), dtype=object)
    made[:] = [change(cell) for cell in distinct.tolist()]
    return np.asarray(made[place], dtype=object)


def numbers_of(cells: pd.Series) -> pd.Series:
    """Cells as numbers, with their index; NaN where a cell is none."""
    place, distinct = pd.factorize(cells)
    values = pd.to_numeric(pd.Series(distinct, dtype=object), errors="coerce").to_numpy(np.float64)
    return pd.Series(values[place], index=cells.index)


DATE = r"(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})(?:[T ]\d{1,2}:\d{2}.*)?"
"""A day such as 2025-01-31 or 31.1.2025, and a time of that day."""


def days_of_dates(cells: pd.Series) -> NDArray[np.float64]:
    """``(n_rows,)`` dates, with times of the day, as days; NaN where a cell, or the first one, is none."""
    found = np.full(len(cells), np.nan)
    filled = cells[(cells != "").to_numpy()]
    if not len(filled) or not re.fullmatch(DATE, filled.iloc[0]):
        return found
    is_date = cells.str.fullmatch(DATE).to_numpy(dtype=bool)
    day_first = cells.str.match(r"\d{1,2}\.").to_numpy(dtype=bool)
    for own, form in ((is_date & ~day_first, "ISO8601"), (is_date & day_first, "mixed")):
        if own.any():
            dates = pd.to_datetime(
                cells[own], format=form, dayfirst=form == "mixed", utc=True, errors="coerce"
            )
            found[own] = (dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)
    return found


def places_of(*columns: pd.Series | NDArray[Any]) -> NDArray[np.int64]:
    """``(n_rows,)`` number of the combination of cells that a row has in some columns, in the order of the rows."""
    place = np.zeros(len(columns[0]), dtype=np.int64)
    for cells in columns:
        own, distinct = pd.factorize(cells, use_na_sentinel=False)
        # Numbered anew after each column, so that numbers stay below the product of two columns'.
        place = pd.factorize(place * len(distinct) + own)[0].astype(np.int64)
    return place


def distinct_rows(*columns: pd.Series | NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The first row of each combination of cells, in the order of the rows; and the combination of each row."""
    which = places_of(*columns)
    return np.flatnonzero(~pd.Series(which).duplicated().to_numpy()), which


def whole(cell: str) -> str:
    """A cell with 1.0 written as 1."""
    found = WHOLE.fullmatch(cell.strip())
    if found is None:
        return cell
    return "0" if found[1].strip("+-0") == "" else found[1]


# Text -----------------------------------------------------------------------------------------


def _read_text(path: Path, separator: str = "") -> AnswerTable:
    """A table with a header, cells separated by whatever the header is separated by; or JSON in a file of text.

    Where the separator of cells is known, the file is a table, whatever it begins with.
    """
    encoding, notes = encoding_of(path)
    if not separator and is_json(path, encoding):
        return _of_objects(path, *read_json(path, encoding), notes)
    if not separator and is_z_tree(text_of(path, encoding, 200)):
        with closing(lines_of(path, encoding)) as lines:
            frame, found_notes = read_z_tree(path, lines)
        return _with_decimal_points(
            AnswerTable(path.name, frame, (*notes, *found_notes)), may_group=False
        )
    frame, found_notes = read_delimited(path, encoding, separator)
    frame, signs = _with_plain_minus(frame)
    frame, groups = _without_apostrophes(frame)
    question_of = (
        {str(name): str(frame[name].iloc[0]) for name in frame.columns} if len(frame) else {}
    )
    frame, found = _without_question_texts(frame)
    questions = question_of if found else {}
    frame, units = _with_units(frame)
    frame, codes = _without_codes(frame)
    read = AnswerTable(
        path.name,
        frame,
        (*notes, *found_notes, *signs, *groups, *found, *units, *codes),
        questions=questions,
    )
    read = _with_empty_cells(read)
    return _with_decimal_points(_without_groups(read), may_group=not found_notes)


def _cells_of_text(path: Path) -> AnswerTable:
    """A table of text with a header, its cells as they stand."""
    encoding, notes = encoding_of(path)
    frame, found_notes = read_delimited(path, encoding)
    return AnswerTable(path.name, frame, (*notes, *found_notes))


def _without_question_texts(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The rows of answers of an export of Qualtrics, whose second and third rows tell what columns ask."""
    for place in range(min(2, len(frame))):
        cells = frame.iloc[place]
        if cells.str.contains('"ImportId"', regex=False).any():
            return frame.iloc[place + 1 :], [
                f"an export of Qualtrics: rows 2 to {place + 2} hold questions, not answers"
            ]
    if len(frame) > 1 and _is_of_labels(frame.iloc[0].str.strip(), frame.iloc[1 : 1 + LOOKED_AT]):
        return frame.iloc[1:], [f"row {frame.index[0]} holds labels of columns, not responses"]
    return frame, []


LOOKED_AT = 50
"""Rows below a first one that may hold labels."""
FEWEST_LABELS = 3


def _is_of_labels(first: pd.Series, rows: pd.DataFrame) -> bool:
    """Whether a row has a text of its own in each of several columns of numbers, and no cell that comes again."""
    labels = []
    for name, label in first.items():
        cells = rows[name].str.strip()
        if label and (cells == label).any():
            return False
        if (cells == "").all() or not cells[cells != ""].map(NUMBER.fullmatch).all():
            continue
        if not label or NUMBER.fullmatch(label):
            return False
        labels.append(label)
    return len(set(labels)) == len(labels) >= FEWEST_LABELS


def _with_plain_minus(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with ``-`` for the minus sign of Unicode where numbers begin with it."""
    signed = [name for name in frame.columns if any(map(UNICODE_MINUS.match, frame[name].unique()))]
    plain = {name: frame[name].str.replace(UNICODE_MINUS, "-", regex=True) for name in signed}
    words = [f"the minus sign U+2212 in {', '.join(signed)} is read as -"] if signed else []
    return frame.assign(**plain), words


def _with_units(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table with the units of a first row beside the numbers below it, as in ``14 weeks``.

    It is such a row if each of its cells is empty or a known unit, and all cells below a unit are numbers.
    """
    first = frame.iloc[0].str.strip("[]() ") if len(frame) > 1 else pd.Series(dtype=str)
    units = {name: cell for name, cell in first.items() if cell}
    rows = frame.iloc[1:]
    cells = {cell for name in units for cell in rows[name].str.casefold().unique() if cell}
    is_known = all(cell.casefold() in KNOWN for cell in units.values())
    if not units or not is_known or not all(map(NUMBER.fullmatch, cells)):
        return frame, []
    beside = {
        name: rows[name].mask(rows[name] != "", rows[name] + f" {cell}")
        for name, cell in units.items()
    }
    words = ", ".join(f"{name} in {cell}" for name, cell in units.items())
    return rows.assign(**beside), [f"row {frame.index[0]} holds units: {words}"]


APOSTROPHES = re.compile(r"[+-]?\d{1,3}(['\u2019\u202f\u00a0]\d{3})+([.,]\d+)?")
"""A number whose thousands are grouped by apostrophes or narrow spaces."""
MARKS_OF_GROUPS = re.compile("['\u2019\u202f\u00a0]")


def _without_apostrophes(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table without apostrophes between thousands, in columns of numbers alone."""
    plain: dict[str, pd.Series] = {}
    for name in frame.columns:
        cells = [cell.strip() for cell in frame[name].unique()]
        grouped = [cell for cell in cells if APOSTROPHES.fullmatch(cell)]
        if grouped and all(NUMBER.fullmatch(c) for c in cells if c and c not in grouped):
            plain[str(name)] = frame[name].str.replace(MARKS_OF_GROUPS, "", regex=True)
    words = [f"apostrophes or spaces in {', '.join(plain)} group thousands"] if plain else []
    return frame.assign(**plain), words


CODE = re.compile(r"[\[(](\d+)[\])]\s+(?=\S)")
"""A code in brackets before its label, as in ``[1] yes``."""


def _without_codes(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The table without codes in brackets before labels, in columns all of whose cells have one, each its own label."""
    plain: dict[str, pd.Series] = {}
    for name in frame.columns:
        if not CODE.match(next((cell for cell in frame[name] if cell), "")):
            continue
        cells = [cell for cell in frame[name].unique() if cell]
        labels = [CODE.sub("", cell, count=1) for cell in cells]
        if all(map(CODE.match, cells)) and len(set(labels)) == len(cells):
            plain[str(name)] = frame[name].str.replace(CODE, "", regex=True, n=1)
    words = [f"codes in brackets before the labels of {', '.join(plain)} are not read"]
    return frame.assign(**plain), words if plain else []


def _without_groups(table: AnswerTable) -> AnswerTable:
    """The table with 1.089 or 1,089 written as 1089 where a column also holds whole numbers such as 900.

    Numbers with three decimals beside others that have none, from 100 to 999, are written by no program. Columns in
    which all may be thousands, as 1.000 and 2.500, are noted, since the user is asked.
    """
    frame, turned = table.frame.copy(deep=False), list[str]()
    grouped = dict(table.grouped)
    for name in frame.columns:
        distinct = [cell for cell in frame[name].unique() if cell]
        if mark := _mark_of_decimals(distinct):
            group = "." if mark == "," else ","
            frame[name] = (
                frame[name].str.replace(group, "", regex=False).str.replace(mark, ".", regex=False)
            )
            turned.append(
                f"{MARK_WORDS[group]} in {name} group thousands, and {MARK_WORDS[mark]} begin decimals"
            )
            continue
        found = {cell: GROUPED.fullmatch(cell) for cell in distinct}
        whole_ones = [cell for cell, match in found.items() if match is None]
        marks = {match[1] for match in found.values() if match}
        if len(marks) != 1 or not all(map(BELOW_THOUSAND.fullmatch, whole_ones)):
            continue
        mark = marks.pop()
        is_sure = any(len(cell.lstrip("+-")) == 3 for cell in whole_ones) or any(
            cell.count(mark) > 1 for cell in distinct
        )
        # No program writes 2.500 for a decimal number beside 50 for a whole one.
        is_sure |= bool(whole_ones) and any(
            cell.endswith("0") for cell, own in found.items() if own
        )
        if is_sure:
            frame[name] = frame[name].str.replace(mark, "", regex=False)
            turned.append(f"{MARK_WORDS[mark]} in {name} group thousands")
        elif not whole_ones and (mark == "," or all(cell.endswith("0") for cell in distinct)):
            grouped[str(name)] = tuple(distinct[:2])
    return replace(table, frame=frame, notes=(*table.notes, *turned), grouped=grouped)


def _mark_of_decimals(distinct: Sequence[str]) -> str:
    """The mark of decimals where cells have both marks, as in 1.234,50 and 20,00; empty where they do not."""
    for mark, shape in BOTH_MARKS.items():
        group = "." if mark == "," else ","
        if any(group in cell and mark in cell for cell in distinct):
            return mark if all(map(shape.fullmatch, distinct)) else ""
    return ""


def _with_decimal_points(table: AnswerTable, *, may_group: bool) -> AnswerTable:
    """The table with decimal commas written as points, where every cell of a column is such a number.

    Where cells are separated by commas, a comma before three digits may group thousands (``may_group``): such a column
    stays as it is.
    """
    frame, turned = table.frame.copy(deep=False), []
    pairs = _columns_of_pairs(frame, has_points=may_group)
    for name in frame.columns:
        distinct = [cell for cell in frame[name].unique() if cell]
        with_comma = [cell for cell in distinct if "," in cell]
        if not with_comma or name in pairs or not all(map(DECIMAL_COMMA.fullmatch, distinct)):
            continue
        is_asked = str(name) in table.grouped
        if may_group and not is_asked and any(map(THOUSANDS.fullmatch, with_comma)):
            continue
        frame[name] = frame[name].str.replace(",", ".", regex=False)
        turned.append(str(name))
    if not turned:
        return table
    note = f"commas in {', '.join(turned)} are decimal commas"
    return replace(table, frame=frame, notes=(*table.notes, note))


def _columns_of_pairs(frame: pd.DataFrame, *, has_points: bool) -> list[str]:
    """Columns of two numbers in each cell, such as the payoffs ``8,1``, which are no decimal numbers.

    All of their cells have a comma. Besides, numbers of several lengths stand behind it, of which a longest ends with
    0, as no program writes decimals; or another column says ``1,8`` in the row of each ``8,1``; or decimals of another
    column begin with a point (``has_points``: where cells are separated by commas).
    """
    distinct = {
        str(name): [cell for cell in frame[name].unique() if cell] for name in frame.columns
    }
    cells = {
        name: {cell: tuple(cell.split(",")) for cell in own}
        for name, own in distinct.items()
        if len(own) > 1 and all("," in cell and DECIMAL_COMMA.fullmatch(cell) for cell in own)
    }
    if has_points and any(
        any("." in cell for cell in own) and all(map(NUMBER.fullmatch, own))
        for name, own in distinct.items()
        if name not in cells
    ):
        return list(cells)
    turned = {
        name: frame[name].map({cell: ",".join(own[::-1]) for cell, own in parts.items()})
        for name, parts in cells.items()
        if all(part.isdigit() for own in parts.values() for part in own)
    }
    mirrored = [
        name
        for name, own in turned.items()
        if any((own == frame[other]).all() for other in turned if other != name)
        and (own != frame[name]).any()
    ]
    alike = [name for name, own in turned.items() if mirrored and (own == frame[name]).all()]
    sure = [
        name for name, own in cells.items() if _are_no_decimals([part for _, part in own.values()])
    ]
    return [*sure, *mirrored, *alike]


def _are_no_decimals(parts: Sequence[str]) -> bool:
    """Whether numbers have several lengths, and one of the longest ends with 0, as decimals do not."""
    longest = max(map(len, parts))
    is_mixed = min(map(len, parts)) < longest
    return is_mixed and any(len(part) == longest and part.endswith("0") for part in parts)


# Other forms ----------------------------------------------------------------------------------


OBJECTS = "an object in the list is a row; rows are numbered from 2, as below a header"


def _read_json(path: Path) -> AnswerTable:
    """Rows from JSON."""
    encoding, notes = encoding_of(path)
    return _of_objects(path, *read_json(path, encoding), notes)


def _read_json_lines(path: Path) -> AnswerTable:
    """Rows from JSON lines."""
    encoding, notes = encoding_of(path)
    return _of_objects(path, *read_json_lines(path, encoding), notes)


def _of_objects(
    path: Path, frame: pd.DataFrame, made: tuple[str, ...], notes: Sequence[str]
) -> AnswerTable:
    return AnswerTable(path.name, frame, (*notes, OBJECTS), made=made)


def _read_parquet(path: Path) -> AnswerTable:
    """A table of a Parquet file, whose size is looked at before it is read, and again in each part."""
    try:
        with pq.ParquetFile(path) as file:
            about, names = file.metadata, file.schema_arrow.names
            check_size(path, about.num_rows, len(names))
            check_names(path, names)
            groups = [about.row_group(place) for place in range(about.num_row_groups)]
            check_bytes(
                path, sum(group.total_byte_size for group in groups), " when it is unpacked"
            )
            texts = [
                name
                for name, kind in zip(names, file.schema_arrow.types, strict=True)
                if _is_text(kind)
            ]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            parts, n_letters = list[pd.DataFrame](), 0
            for batch in file.iter_batches(ROWS_AT_ONCE):
                whole = _plain(path, batch, sum(map(len, parts)))
                check_letters(path, n_letters + _letters(whole))  # before shared texts are repeated
                part = _of_frame(path.name, whole.to_pandas()).frame
                n_letters += sum(int(part[name].str.len().sum()) for name in part)
                check_letters(path, n_letters)
                parts.append(part)
    except (pa.ArrowException, ValueError, OSError, OverflowError) as error:
        raise TrialsError(f"{path} is no Parquet file: {error}.") from None
    frame = pd.concat(parts) if parts else pd.DataFrame(columns=names, dtype="str")
    return AnswerTable(path.name, frame.set_axis(pd.RangeIndex(2, len(frame) + 2)))


def _is_text(kind: pa.DataType) -> bool:
    is_kind = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    return any(is_of(kind) for is_of in is_kind)


def _letters(batch: pa.RecordBatch) -> int:
    """Letters of all cells whose texts are shared, each counted as often as it stands in a cell."""
    shared = [cells for cells in batch.columns if pa.types.is_dictionary(cells.type)]
    lengths = [
        pc.binary_length(cells.dictionary).take(cells.indices)
        for cells in shared
        if _is_text(cells.type.value_type)
    ]
    return sum(pc.sum(item).as_py() or 0 for item in lengths)


def _plain(path: Path, batch: pa.RecordBatch, n_before: int) -> pa.RecordBatch:
    """Rows of a Parquet file, if no cell is too long; a long text that many cells share is kept once until then.

    What pandas wrote of its data frame is not used: its index is a column, or was numbers of rows.
    """
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_dictionary(cells.type) and _is_text(cells.type.value_type):
            lengths = pc.binary_length(cells.dictionary).to_numpy(zero_copy_only=False)
            if lengths.max(initial=0) > MOST_LETTERS:
                worst = int(lengths.argmax())
                row = pc.index(cells.indices, worst).as_py()
                check_cell(path, n_before + row + 2, name, int(lengths[worst]))
    kept = [name for name in batch.schema.names if not NUMBERS_OF_ROWS.fullmatch(name)]
    return batch.select(kept).replace_schema_metadata(None)


def table_of_frame(name: str, frame: pd.DataFrame) -> AnswerTable:
    """A data frame as a table of text cells.

    Raises:
        TrialsError: It has no rows, too many of them, or two columns of one name.
    """
    check_size(name, len(frame), len(frame.columns))
    check_names(name, list(map(str, frame.columns)))
    return _checked(_of_frame(name, frame))


def _of_frame(name: str, frame: pd.DataFrame) -> AnswerTable:
    """A table of text cells of a table of values."""
    columns = {whole_letters(str(column)): _as_text(frame[column]) for column in frame.columns}
    return AnswerTable(name, pd.DataFrame(columns, index=pd.RangeIndex(2, len(frame) + 2)))


def _as_text(values: pd.Series) -> pd.api.extensions.ExtensionArray:
    """Cells as text; each different value is written once where values can be compared."""
    try:
        place, distinct = pd.factorize(values, use_na_sentinel=False)
    except TypeError:  # lists and tables as values
        return pd.array([written(value) for value in values.tolist()], dtype="str")
    return pd.array([written(value) for value in distinct.tolist()], dtype="str").take(place)


def _read_labelled(path: Path) -> AnswerTable:
    """A file of SPSS or Stata, its values without their labels."""
    pyreadstat = _optional("pyreadstat", path)
    is_spss = path.suffix.lower() == ".sav"
    read = pyreadstat.read_sav if is_spss else pyreadstat.read_dta
    program = "SPSS" if is_spss else "Stata"
    try:
        _, about = read(str(path), metadataonly=True)
        check_size(path, about.number_rows or 0, about.number_columns or 0)
        frame, _ = read(str(path), apply_value_formats=False)
    except TrialsError:
        raise
    except Exception as error:  # the reader raises errors of its own
        raise TrialsError(f"{path} is no file of {program}: {error}.") from None
    for column, kind in about.readstat_variable_types.items():
        if kind == "float":  # 8.1 in single precision is no 8.100000381
            single = frame[column].to_numpy(np.float32)
            frame[column] = [float(str(value)) for value in single]
    labels = {
        str(column): {whole(str(value)): str(label) for value, label in own.items()}
        for column, own in about.variable_value_labels.items()
    }
    return _with_numbers_of_labels(replace(_of_frame(path.name, frame), labels=labels))


def _with_numbers_of_labels(table: AnswerTable) -> AnswerTable:
    """The table with the labels of cells that are codes of other numbers, such as 3 for a reward of 50."""
    frame, labels, notes = table.frame.copy(), dict(table.labels), list(table.notes)
    for column, own in table.labels.items():
        cells = {cell for cell in frame[column].unique() if cell}
        numbers = {cell: whole(own[cell].strip()) for cell in cells & set(own)}
        is_coded = cells <= set(own) and bool(
            numbers_of(pd.Series(numbers, dtype="str")).notna().all()
        )
        if is_coded and any(cell != number for cell, number in numbers.items()):
            frame[column] = frame[column].map(numbers).fillna("").astype("str")
            words = ", ".join(f"{cell} is {numbers[cell]}" for cell in sorted(numbers)[:MOST_NAMES])
            notes.append(
                f"{column}: its labels are numbers and are read in place of its codes ({words})"
            )
            del labels[column]
    return replace(table, frame=frame, labels=labels, notes=tuple(notes))


def _read_workbook(path: Path) -> AnswerTable:
    """The only table of a workbook, read as its sheet saved as text would be."""
    calamine = _optional("python_calamine", path)
    with TemporaryDirectory() as folder:
        sheet = Path(folder, f"{path.stem}.csv")
        notes, separator = write_sheet(path, calamine, written, sheet)
        try:
            found = _read_text(sheet, separator)
        except TrialsError as error:
            words = str(error).replace(str(sheet), str(path)).replace(sheet.name, path.name)
            raise TrialsError(words) from None
    return replace(found, name=path.name, notes=(*notes, *found.notes))


def _read_xls(path: Path) -> AnswerTable:
    """A workbook of Excel, or the table of text to which other programs give this name."""
    if begins_with(path, b"<"):
        raise TrialsError(
            f"{path} is a page in HTML or XML. Open it in Excel or LibreOffice and save it as .xlsx."
        )
    return _read_workbook(path) if begins_with(path, OLD_EXCEL, ZIPPED) else _read_text(path)


def _read_r(path: Path) -> AnswerTable:
    """A data frame that R saved with `saveRDS`, or the only one of an ``.RData`` file."""
    pyreadr = _optional("pyreadr", path)
    check_bytes(path, _n_bytes_unpacked(path), " when it is unpacked")
    try:
        found = pyreadr.read_r(str(path))
    except Exception as error:  # the reader raises errors of its own
        raise TrialsError(f"{path} is no data frame of R: {error}.") from None
    if len(found) != 1:
        raise TrialsError(
            f"{path} holds {len(found)} data frames; save the one with the answers by saveRDS()."
        )
    return _of_frame(path.name, next(iter(found.values())))


PACKINGS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open,
}  # fmt: skip
"""Functions that open a packed file, by its first bytes."""


def _n_bytes_unpacked(path: Path) -> int:
    """Bytes of a file that may be packed, as R packs its files; no more are counted than are read."""
    with path.open("rb") as file:
        head = file.read(6)
    unpacked = next((opened for mark, opened in PACKINGS.items() if head.startswith(mark)), None)
    if unpacked is None:
        return path.stat().st_size
    n_bytes = 0
    try:
        with unpacked(path, "rb") as file:
            while n_bytes <= MOST_BYTES and (block := file.read(2**22)):
                n_bytes += len(block)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise TrialsError(f"{path} is damaged or cut off: {error}.") from None
    return n_bytes


def _optional(name: str, path: Path) -> Any:
    """A reader that not everybody has installed."""
    try:
        return __import__(name)
    except ImportError:
        raise TrialsError(
            f"{path}: reading it needs the package {name}; `pip install {name}` into this "
            "environment, or save the file as CSV."
        ) from None


def _read_folder(path: Path) -> AnswerTable:
    """All tables of a folder below one another, with what their names say in columns of their own."""
    there = [
        file
        for file in _files_below(path)
        if file.suffix.lower() in READERS
        and not any(part.startswith((".", "~$")) for part in file.relative_to(path).parts)
    ]
    notes = list[str]()
    files, others = _of_one_kind(path, _own_files(path, there))
    events = [file for file in files if file.stem.endswith(("_events", "_beh", "_data"))]
    chosen = events or files
    if not chosen:
        links = (
            " Links out of the folder are not followed; copy the files into it." if there else ""
        )
        raise TrialsError(
            f"the folder {path} holds no table; there are none that end in .csv or .tsv.{links}"
        )
    notes.append(f"{len(chosen)} files of the folder, one below the other")
    n_own = len(files) + len(others)
    if n_own < len(there):
        n_links = plural(len(there) - n_own, "link")
        notes.append(f"{n_links} not followed, out of the folder or to a file that is in it anyway")
    unread = [file for file in [*files, *others] if file not in set(chosen)]
    if unread:
        notes.append(f"not read: {_files_named(path, unread)}")
    parts, said_by = list[pd.DataFrame](), dict[str, list[str]]()
    grouped: dict[str, tuple[str, ...]] = {}
    n_rows, names = 0, dict[str, None]()
    marked: dict[str, tuple[str, ...]] = {}
    of_names = _said_by_names([file.stem for file in chosen])
    for file, values in zip(chosen, of_names, strict=True):
        table = read_answers(file)
        marked |= table.marked
        grouped |= table.grouped
        extra = {key: value for key, value in values.items() if key not in table.columns}
        if not parts and {"participant", "part"} <= set(extra):
            notes.append(
                f"by its name, {file.name} is of the participant {extra['participant']} and of the part "
                f"{extra['part']}; --column participant=file takes each file for another participant"
            )
        parts.append(table.frame.assign(**extra, file=file.relative_to(path).as_posix()))
        n_rows += len(table.frame)
        names |= dict.fromkeys(table.columns)
        check_size(path, n_rows, len(names))
        for note in table.notes:
            said_by.setdefault(note, []).append(file.name)
    _check_alike(path, chosen, parts)
    frame = pd.concat(parts, ignore_index=True).fillna("")
    frame.index = pd.RangeIndex(2, len(frame) + 2)
    for note, by in said_by.items():
        notes.append(f"{by[0]}{f' and {len(by) - 1} more' if len(by) > 1 else ''}: {note}")
    return _checked(AnswerTable(path.name, frame, tuple(notes), marked, grouped))


def _said_by_names(stems: Sequence[str]) -> list[dict[str, str]]:
    """Read names of files: values of keys that most of them have; or a participant and a part.

    ``03187_game`` and ``03187_tutorial``, or ``P1Flanker1`` and ``P1Flanker2``, are parts of what one participant did,
    where others have the same parts.
    """
    pairs = [dict(KEY_VALUE.findall(stem)) for stem in stems]
    counts = Counter(key for own in pairs for key in own)
    if shared := {key for key, count in counts.items() if 2 * count >= len(stems)}:
        return [{key: value for key, value in own.items() if key in shared} for own in pairs]
    pieces = [PIECES.findall(stem.casefold()) for stem in stems]
    if len(set(map(len, pieces))) != 1:
        return [{} for _ in stems]
    by_place = [Counter(own) for own in zip(*pieces, strict=True)]
    varying = sorted(
        (place for place, own in enumerate(by_place) if len(own) > 1),
        key=lambda place: (len(by_place[place]), next(iter(by_place[place])).isdigit()),
    )
    if len(varying) != 2:
        return [{} for _ in stems]
    part, name = varying
    parts, names = by_place[part], by_place[name]
    is_divided = 2 <= len(parts) <= MOST_PARTS and min(parts.values()) >= 2
    is_clear = len(parts) < len(names) or not all(map(str.isdigit, parts))
    if not (is_divided and is_clear and all(map(str.isdigit, names)) and len(names) < len(stems)):
        return [{} for _ in stems]
    found = [PIECES.findall(stem) for stem in stems]
    return [{"participant": _with_word(own, name), "part": _with_word(own, part)} for own in found]


def _with_word(pieces: Sequence[str], place: int) -> str:
    """A piece of a file's name; a number with the word before it."""
    own, before = pieces[place], pieces[place - 1] if place else ""
    return f"{before}{own}" if own.isdigit() and before.isalpha() else own


def _files_below(folder: Path) -> list[Path]:
    """All files of a folder and of the folders in it; links to folders are not followed."""
    found = list[Path]()
    for place, folders, names in os.walk(folder):
        folders.sort()
        found += [Path(place, name) for name in sorted(names)]
        if len(found) > MOST_FILES:
            raise TrialsError(
                f"the folder {folder} holds more than {MOST_FILES:,} files; name a folder that holds only responses."
            )
    return [file for file in sorted(found) if file.is_file()]


def _of_one_kind(folder: Path, files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that are read, and the others: tables of text if there are some, else files of the only other kind.

    Beside tables of text stand descriptions and other forms of the same files, under the same names.

    Raises:
        TrialsError: There are files of several kinds, or tables of other kinds beside those of text.
    """
    tables = [file for file in files if file.suffix.lower() in FOLDER_SUFFIXES]
    others = [file for file in files if file not in set(tables)]
    names = {file.stem for file in tables}
    if tables:
        files = [*tables, *(file for file in others if file.stem not in names and _is_table(file))]
    by_kind: dict[str, list[Path]] = {}
    for file in files:
        kind = "" if file in set(tables) else file.suffix.lower()
        by_kind.setdefault(kind, []).append(file)
    if len(by_kind) > 1:
        kinds = "; ".join(_files_named(folder, own) for own in by_kind.values())
        raise TrialsError(
            f"the folder {folder} holds files of {len(by_kind)} kinds ({kinds}). Name one of them, or put those of one "
            "kind into a folder of their own."
        )
    return (tables, others) if tables else (list(files), [])


def _is_table(file: Path) -> bool:
    """Whether a file can be read as rows of two columns or more; a JSON object describes other files."""
    try:
        if file.suffix.lower() == ".json":
            begins = text_of(file, encoding_of(file)[0], 4096).lstrip()
            if begins.startswith("{"):
                return False
        return len(read_answers(file).columns) > 1
    except TrialsError:
        return False


def _check_alike(folder: Path, files: Sequence[Path], parts: Sequence[pd.DataFrame]) -> None:
    """Refuse tables that have fewer than half of their columns in common: raise `TrialsError` with the list."""
    kinds: list[tuple[set[str], list[Path]]] = []
    for file, part in zip(files, parts, strict=True):
        own = {str(name) for name in part.columns} - {"file"}
        for names, members in kinds:
            if 2 * len(own & names) >= len(own | names):
                members.append(file)
                break
        else:
            kinds.append((own, [file]))
    if len(kinds) > 1:
        words = "; ".join(
            f"{_files_named(folder, members)}, with columns {', '.join(sorted(names)[:4])}"
            for names, members in kinds[:4]
        )
        raise TrialsError(
            f"the folder {folder} holds tables of {len(kinds)} kinds: {words}. Name one of them, or put those of one "
            "kind into a folder of their own."
        )


def _files_named(folder: Path, files: Sequence[Path]) -> str:
    """Files in words: the first ones, and how many there are."""
    named = ", ".join(file.relative_to(folder).as_posix() for file in files[:3])
    return named if len(files) <= 3 else f"{named} and {len(files) - 3:,} more"


def _own_files(folder: Path, files: Sequence[Path]) -> list[Path]:
    """Files that lie in a folder, each once; links that lead out of it are left out."""
    by_place: dict[Path, Path] = {}
    for file in sorted(files, key=lambda file: (file.is_symlink(), file)):
        place = file.resolve()
        if place.is_relative_to(folder.resolve()):
            by_place.setdefault(place, file)
    return sorted(by_place.values())


FOLDER_SUFFIXES: Sequence[str] = (".csv", ".tsv")
PACKED = {".gz", ".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz", ".zst", ".rar"}
READERS: dict[str, Callable[[Path], AnswerTable]] = {
    ".csv": _read_text, ".tsv": _read_text, ".txt": _read_text, ".dat": _read_text,
    ".iqdat": _read_text, ".xls": _read_xls, ".xlsx": _read_workbook, ".ods": _read_workbook,
    ".parquet": _read_parquet, ".pq": _read_parquet,
    ".jsonl": _read_json_lines, ".ndjson": _read_json_lines, ".json": _read_json,
    ".sav": _read_labelled, ".dta": _read_labelled, ".rds": _read_r, ".rdata": _read_r,
}  # fmt: skip
"""Readers by the end of a file's name."""
