"""Tables of text: lines with cells between commas, semicolons, tabulators, bars or spaces, read one after another."""

from __future__ import annotations

import codecs
import csv
import io
import re
from array import array
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd
import pyarrow as pa

from lakatos.experiments.adoption.limits import (
    MOST_LETTERS,
    MOST_LETTERS_OF_A_LINE,
    MOST_LETTERS_OF_A_NAME,
    check_size,
    open_steady,
)
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.errors import TrialsError

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabulators", "|": "bars", " ": "spaces"}
SPACES = " "
NO_NAME = re.compile(r"|nan|na|[+-]?\d+([.,]\d+)?(e[+-]?\d+)?", re.IGNORECASE)
"""A cell of a row of data, and not the name of a column."""
BLOCK = 2**22
ROWS_AT_ONCE, CELLS_AT_ONCE = 50_000, 1_000_000
"""Most rows, and cells, that are kept as Python's text before they go into columns and the size is checked."""
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""Marks with which a file may begin that show its encoding; longer ones first, where one begins another."""
WIDE = {"utf-16", "utf-16-le", "utf-16-be", "utf-32"}
"""Encodings in which bytes that are zero belong to letters."""


def encoding_of(path: Path) -> tuple[str, list[str]]:
    """The encoding of a file of text, and what was assumed about it; every byte of the file was looked at.

    Raises:
        TrialsError: It is no text, or its text is cut off; the message names the place.
    """
    with open_steady(path) as file:
        head = file.read(4096)
        marked = next((name for mark, name in MARKS.items() if head.startswith(mark)), "")
        encoding = marked or _without_mark(head)
        if encoding in WIDE:
            _check_wide(path, encoding)
            return encoding, [f"the file is {encoding[:6].upper()} text"]
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        n_lines = 1
        while True:
            block = file.read(BLOCK)
            zero = block.find(b"\0")
            if zero >= 0:
                row = n_lines + _n_lines(block[:zero])
                raise TrialsError(
                    f"{path} is no text: line {row} holds a byte that is zero. Save it as CSV in UTF-8."
                )
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                place = max(error.start - (len(error.object) - len(block)), 0)
                row = n_lines + _n_lines(block[:place])
                return "cp1252", [
                    f"the file is not UTF-8 (row {row} holds the byte {error.object[error.start]:#04x}); it was read "
                    "as Windows-1252, look at names with accents"
                ]
            n_lines += _n_lines(block)
            if not block:
                return "utf-8-sig", []


def _n_lines(block: bytes) -> int:
    """Ends of lines in a block, whichever of the three kinds they are."""
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def _without_mark(head: bytes) -> str:
    """UTF-16 where every other byte of the beginning is zero, as in European text; else UTF-8."""
    pairs = len(head) // 2
    if pairs < 2:
        return "utf-8"
    for encoding, zeros, letters in (
        ("utf-16-le", head[1::2], head[::2]),
        ("utf-16-be", head[::2], head[1::2]),
    ):
        if zeros[:pairs].count(0) > 0.7 * pairs and letters[:pairs].count(0) == 0:
            return encoding
    return "utf-8"


def _check_wide(path: Path, encoding: str) -> None:
    """Refuse UTF-16 or UTF-32 text that is damaged or breaks off within a letter: raise `TrialsError`."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open_steady(path) as file:
            while block := file.read(BLOCK):
                decoder.decode(block)
        rest = decoder.getstate()[0]
        if rest.strip(b"\0\r\n \t"):
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise TrialsError(
            f"{path} begins as {encoding[:6].upper()} text and is damaged or cut off. Save it again, as CSV in UTF-8."
        ) from None


def lines_of(path: Path, encoding: str) -> Generator[str, None, None]:
    """Lines of a file, each with one kind of end.

    Raises:
        TrialsError: A line is too long.
    """
    with _opened(path, encoding) as file:
        number = 1
        while line := file.readline(MOST_LETTERS_OF_A_LINE + 1):
            if len(line) > MOST_LETTERS_OF_A_LINE:
                raise TrialsError(
                    f"{path}: line {number} has more than {MOST_LETTERS_OF_A_LINE:,} letters. Is this a table with a "
                    "row on each line?"
                )
            yield line
            number += 1


def text_of(path: Path, encoding: str, n_letters: int = -1) -> str:
    """The text of a file, or its first letters."""
    with _opened(path, encoding) as file:
        return file.read(n_letters)


def _opened(path: Path, encoding: str) -> TextIO:
    # A half of an end of line may be left at the end of text whose letters are wide; see `_check_wide`.
    errors = "replace" if encoding == "cp1252" else "ignore" if encoding in WIDE else "strict"
    return io.TextIOWrapper(open_steady(path), encoding=encoding, errors=errors, newline=None)


def separator_named(line: str) -> str:
    """The separator that a first line such as ``sep=;`` names, as Excel writes it; empty where it names none."""
    word = line.lstrip().rstrip("\r\n").strip('"')
    mark = word[4:].replace("\\t", "\t") if word.lower().startswith("sep=") else ""
    return next((own for own in (mark, mark.strip()) if own in DELIMITERS), "")


def _separator_of(head: str, second: str) -> str:
    """The mark that stands most often in the header; spaces where there is none and the next line has as many words."""
    counts = {mark: head.count(mark) for mark in DELIMITERS if mark != SPACES}
    if any(counts.values()):
        return max(counts, key=lambda mark: counts[mark])
    n_words, words = len(head.split()), second.split()
    is_long = len(words) == n_words or (len(words) == n_words + 1 and _is_first_name(words[0]))
    return SPACES if n_words > 1 and is_long else ","


def _is_first_name(cell: str) -> bool:
    """Whether a cell is the first of the names of rows that R writes without a name of their column."""
    return cell.strip('"') in ("0", "1")


MOST_REMARKS = 5
"""Lines of text above a header."""


def _is_remark(line: str, after: str, then: str) -> bool:
    """Whether a line without separators stands above a header of three or more names and a row as long."""
    counts = {mark: after.count(mark) for mark in DELIMITERS if mark != SPACES}
    mark = max(counts, key=lambda mark: counts[mark])
    is_table = counts[mark] >= 2 and then.count(mark) == counts[mark]
    names = [cell.strip(' "') for cell in after.strip().split(mark)]
    return (
        is_table
        and not any(mark in line for mark in counts)
        and all(name and not name[0].isdigit() for name in names)
    )


def _is_header(line: str, after: str) -> bool:
    """Whether a line that begins with # has as many cells as the next one, and so is no remark."""
    mark = _separator_of(line, after)
    n_cells = [len(text.split() if mark == SPACES else text.split(mark)) for text in (line, after)]
    return not after.startswith("#") and n_cells[0] == n_cells[1] > 1


def read_delimited(
    path: Path, encoding: str, separator: str = ""
) -> tuple[pd.DataFrame, list[str]]:
    """The cells of a table of text, by column; the index is the number of each row as a spreadsheet shows it.

    Args:
        path: The file.
        encoding: Encoding of its text.
        separator: Separator of cells; found where it is empty.

    Raises:
        TrialsError: There is no row, rows differ in length, or it is too large; the message names the rows.
    """
    n_remarks, named = 0, ""
    with closing(lines_of(path, encoding)) as lines:
        filled = ((number, line) for number, line in enumerate(lines, start=1) if line.strip())
        first, head = next(filled, (0, ""))
        if first == 1 and (named := separator_named(head)):
            first, head = next(filled, (0, ""))
        after, second = next(filled, (0, ""))
        while head.startswith("#") and second and not _is_header(head, second):
            n_remarks, first, head = n_remarks + 1, after, second
            after, second = next(filled, (0, ""))
        remarks = list[str]()
        above = [(first, head), (after, second), *islice(filled, MOST_REMARKS)]
        for place in range(1, len(above) - 1) if first == 1 and not named else ():
            lines_above, (_, names), (_, row) = above[:place], above[place], above[place + 1]
            if all(_is_remark(line, names, row) for _, line in lines_above):
                remarks = [line.strip() for _, line in lines_above]
                (first, head), (_, second) = above[place : place + 2]
                break
    if not head:
        raise TrialsError(f"{path} is empty; it holds no row of answers.")
    mark = separator or named or _separator_of(head, second)
    notes = [f"cells are separated by {DELIMITERS[mark]}"] if mark != "," else []
    if n_remarks:
        notes.append(
            f"{n_remarks} lines before row {first}, the header, begin with # and are left out"
        )
    if remarks:
        what = "the line" if len(remarks) == 1 else f"{len(remarks)} lines"
        verb = "is" if len(remarks) == 1 else "are"
        notes.append(f"{what} before row {first}, the header, {verb} left out: {remarks[0]:.60}")
    with closing(lines_of(path, encoding)) as lines:
        return _rows(path, islice(lines, first - 1, None), mark, first, notes), notes


def _rows(
    path: Path, lines: Iterator[str], mark: str, first: int, notes: list[str]
) -> pd.DataFrame:
    """`read_delimited`, given the lines from the header on, which is the row ``first``.

    Where each row begins with its number and the header has no name for that, as R writes tables, the number is a
    column of its own.
    """
    if mark == SPACES:
        lines = (" ".join(line.split()) + "\n" for line in lines)
    rows = csv.reader(lines, delimiter=mark, skipinitialspace=True, strict=True)
    n_rows, names = first, list[str]()
    chunks: list[list[pa.Array]] = []
    numbers = array("q")
    waiting: list[list[str]] = []
    wrong: dict[int, int] = {}
    again: list[int] = []

    def settle() -> None:
        if waiting:
            chunks.append(
                [pa.array(cells, pa.large_string()) for cells in zip(*waiting, strict=True)]
            )
            waiting.clear()
            check_size(path, len(numbers), len(names))

    try:
        header, number = next(rows), -1
        names = _names(path, header)
        for cells in rows:
            n_rows += 1
            if cells == header:
                again.append(n_rows)
                continue
            is_alone = not any(cells[1:])
            if not cells or (is_alone and cells[0].strip() == "END OF FILE"):
                continue
            if len(cells) == 1 and not cells[0].strip():
                continue
            is_longer = n_rows == first + 1 and mark != "," and len(cells) == len(header) + 1
            if is_longer and _is_first_name(cells[0]):
                names = _names(path, ["", *header])
            if len(cells) == len(names) > len(header):
                if not cells[0][:18].isdecimal() or int(cells[0][:18]) <= number:
                    raise _unlike_header(path, {n_rows: len(cells)}, len(header), mark)
                number = int(cells[0][:18])
            if len(cells) != len(names):
                wrong[n_rows] = len(cells)
                continue
            waiting.append(cells)
            numbers.append(n_rows)
            if len(waiting) == min(ROWS_AT_ONCE, max(CELLS_AT_ONCE // len(names), 1)):
                settle()
        settle()
    except csv.Error as error:
        raise TrialsError(f"{path}: row {n_rows + 1}: {_in_words(error)}") from None
    if wrong:
        raise _unlike_header(path, wrong, len(names), mark)
    if again:
        notes.append(f"{rows_named(again)} repeats the header, and is left out")
    columns = {
        name: pd.array(
            pa.chunked_array([chunk[at] for chunk in chunks]).combine_chunks(), dtype="str"
        )
        if chunks
        else pd.array([], dtype="str")
        for at, name in enumerate(names)
    }
    return pd.DataFrame(columns, index=pd.Index(np.asarray(numbers), dtype="int64"))


def _unlike_header(path: Path, wrong: dict[int, int], n_names: int, mark: str) -> TrialsError:
    """The refusal of rows, by number, whose number of cells is not that of the header."""
    row, n_cells = next(iter(wrong.items()))
    also = rows_named(list(wrong)[1:])
    return TrialsError(
        f"{path}: row {row} has {n_cells} cells and the header {n_names}"
        f"{f' (likewise {also})' if also else ''}. Put text that holds "
        f"{DELIMITERS[mark]} in double quotes; complete or delete a row that is cut."
    )


def _names(path: Path, cells: list[str]) -> list[str]:
    """Names of columns from the cells of a header."""
    check_size(path, 0, len(cells))
    names = [name.strip() for name in cells]
    no_names = [name for name in names if NO_NAME.fullmatch(name)]
    numbers = [name for name in no_names if name[-1:].isdigit()]
    values = [float(name.replace(",", ".")) for name in numbers]
    is_rising = all(one < other for one, other in pairwise(values))
    is_count = is_rising and values and values[-1] - values[0] == len(values) - 1
    if not is_rising or (len(no_names) == len(names) > 2 and not is_count):
        raise TrialsError(
            f"{path}: row 1 holds numbers that count no columns, so that the file seems to have no header. Write a "
            f"first row with a name for each of its {len(names)} columns."
        )
    check_names(path, [name for name in names if name])
    return [name or f"column {place}" for place, name in enumerate(names, start=1)]


def check_names(name: object, names: list[str]) -> None:
    """Refuse columns of one name, and names that are too long: raise `TrialsError`."""
    seen: dict[str, list[int]] = {}
    for place, column in enumerate(names, start=1):
        if len(column) > MOST_LETTERS_OF_A_NAME:
            raise TrialsError(
                f"{name}: the name of column {place} has {len(column):,} letters, and a name has at most "
                f"{MOST_LETTERS_OF_A_NAME:,}. Rename it."
            )
        seen.setdefault(column, []).append(place)
    twice = {column: places for column, places in seen.items() if len(places) > 1}
    if twice:
        column, places = next(iter(twice.items()))
        raise TrialsError(
            f"{name}: two columns are called {column!r:.80} ({rows_named(places, noun='column')}); rename one."
        )


def _in_words(error: csv.Error) -> str:
    """Describe what is wrong with a row, for people to read."""
    words = str(error)
    if "field larger" in words:
        return (
            f"a cell has more than {MOST_LETTERS:,} letters. Is a double quote left open? Close it, or leave out a "
            "column of long texts."
        )
    if "unexpected end" in words:
        return (
            "a double quote is opened there, or before, and never closed. Close it, or delete it."
        )
    if "expected after" in words:
        return "a letter follows a double quote that closes a cell. Write a double quote within a cell twice."
    return f"{words}. Is this a table of text?"
