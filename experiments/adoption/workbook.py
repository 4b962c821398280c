"""Workbooks of Excel and LibreOffice: their only sheet with a table, as rows of text."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from lakatos.experiments.adoption.limits import MOST_JSON_BYTES
from lakatos.experiments.errors import TrialsError
from lakatos.traces.wording import plural

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
"""First bytes of a workbook of Excel before 2007."""
ZIPPED = b"PK"
MOST_CELLS = 20_000_000
"""Cells between the first and the last one of a sheet, which the reader holds in memory."""
CELL = re.compile(rb'<c r="([A-Z]{1,3})(\d{1,7})"')
NO_VALUE = re.compile(rb"(</f>|<f\b[^>]*/>)\s*(<v\s*/>|</c>)")
"""A formula whose program never computed its value."""
NO_VALUE_ODS = re.compile(rb"<table:table-cell(?=[^>]* table:formula=)(?![^>]* office:value-type=)")
ERROR = re.compile(rb'<c\b[^>]* t="e"')
HIDDEN = re.compile(rb'<row\b[^>]* hidden="(1|true)"')
MERGED = re.compile(rb'<mergeCell ref="([A-Z]+\d+:[A-Z]+(\d+))"')
SAVE = "Save the sheet of responses as CSV, and name that"


@dataclass(frozen=True)
class SheetXml:
    """Facts that the text of a sheet of Excel shows before it is read."""

    n_cells: int
    """Cells of the rectangle from the first cell of the sheet to its last one."""
    last: str
    """The last row and column, such as ``XFD1048576``."""
    has_no_value: bool
    n_errors: int
    n_hidden: int
    merged: str
    """A range of merged cells below the first row; empty without any."""

    @classmethod
    def of(cls, text: bytes) -> SheetXml:
        """Look through the text."""
        row, column = 0, b""
        for found in CELL.finditer(text):
            column = max(column, found[1], key=lambda name: (len(name), name))
            row = max(row, int(found[2]))
        merged = (found for found in MERGED.finditer(text) if int(found[2]) > 1)
        return cls(
            row * _number_of(column),
            f"{column.decode()}{row}",
            NO_VALUE.search(text) is not None,
            sum(1 for _ in ERROR.finditer(text)),
            sum(1 for _ in HIDDEN.finditer(text)),
            next((found[1].decode() for found in merged), ""),
        )


def begins_with(path: Path, *marks: bytes) -> bool:
    """Whether a file begins with one of some bytes."""
    with path.open("rb") as file:
        return file.read(8).startswith(marks)


def write_sheet(
    path: Path, calamine: Any, text_of: Callable[[object], str], to: Path
) -> tuple[list[str], str]:
    """Write the only sheet of a workbook that holds a table as text.

    A sheet of one column holds text that was not divided into cells.

    Args:
        path: The workbook.
        calamine: The package python_calamine.
        text_of: A cell as text.
        to: The file to write, in which rows have the numbers that the sheet shows.

    Returns:
        What to say of the sheet, and what separates the cells; empty where that is not known.

    Raises:
        TrialsError: It is no workbook, too large, holds several tables, formulas without values or merged cells.
    """
    looked_at = _looked_at(path)
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        visible = calamine.SheetVisibleEnum.Visible
        shown = [sheet.name for sheet in book.sheets_metadata if sheet.visible == visible]
        for name in shown:
            _check_size(path, name, looked_at.get(name))
        sheets = {name: book.get_sheet_by_name(name) for name in shown}
        ends = {name: sheet.end for name, sheet in sheets.items() if sheet.end is not None}
    except TrialsError:
        raise
    except Exception as error:  # the reader raises errors of its own
        raise TrialsError(f"{path} is no workbook that can be read: {error}.") from None
    filled = [name for name, (last_row, _) in ends.items() if last_row > 0]
    tables = [name for name in filled if ends[name][1] > 0] or filled
    if len(tables) != 1:
        names = ", ".join(map(repr, tables or shown))
        what = f"{len(tables)} sheets with tables ({names})" if tables else f"no table ({names})"
        several = "; save them all into a folder, and name the folder, if each is a participant"
        raise TrialsError(f"{path} holds {what}. {SAVE}{several if tables else ''}.")
    name = tables[0]
    notes = _checked(path, name, looked_at.get(name))
    is_divided = ends[name][1] > 0
    with to.open("w", encoding="utf-8", newline="") as file:
        rows, titles, is_below_titles = csv.writer(file), list[str](), False
        for row in sheets[name].to_python(skip_empty_area=False):
            cells = [text_of(cell) for cell in row]
            n_filled = sum(map(bool, cells))
            is_below_titles = is_below_titles or n_filled > 1
            if not is_divided:
                file.write(f"{cells[0]}\n")
            elif is_below_titles:
                rows.writerow(cells if n_filled else [])
            else:
                titles += filter(None, cells)
                rows.writerow([])
    others = [other for other in book.sheet_names if other != name]
    unread = f"; not read: {', '.join(map(repr, others))}" if others else ""
    if titles:
        notes.append(f"above the header and left out: {titles[0]:.60}")
    return [f"the sheet {name!r} of a workbook{unread}", *notes], "," if is_divided else ""


def _check_size(path: Path, name: str, sheet: SheetXml | None) -> None:
    """Refuse a sheet whose last cell is too far away to be read: raise `TrialsError`."""
    if sheet is not None and sheet.n_cells > MOST_CELLS:
        raise TrialsError(
            f"{path}: the sheet {name!r} reaches to the cell {sheet.last}, and at most {MOST_CELLS:,} cells are read. "
            f"Delete what stands beside the table, or save the sheet as CSV."
        )


def _checked(path: Path, name: str, sheet: SheetXml | None) -> list[str]:
    """State what is to be noted of the cells of the sheet that is read.

    Raises:
        TrialsError: It has formulas without values, or merged cells.
    """
    if sheet is None:  # no workbook of Excel since 2007
        return []
    if sheet.has_no_value:
        raise TrialsError(
            f"{path}: the sheet {name!r} holds formulas without values. Open the workbook in Excel or LibreOffice and "
            "save it, or save the sheet as CSV."
        )
    if sheet.merged:
        raise TrialsError(
            f"{path}: the cells {sheet.merged} of the sheet {name!r} are merged, so that only the first has a value. "
            "Unmerge them, and fill in the value of each row."
        )
    notes = []
    if sheet.n_errors:
        cells = plural(sheet.n_errors, "cell")
        notes.append(f"{cells} with an error, such as #N/A, taken as empty")
    if sheet.n_hidden:
        notes.append(f"{plural(sheet.n_hidden, 'hidden row')} of the sheet read like the others")
    return notes


def _looked_at(path: Path) -> Mapping[str, SheetXml]:
    """The sheets of a workbook of Excel since 2007 by name; nothing of other workbooks.

    Raises:
        TrialsError: It unpacks to too much, or is damaged.
    """
    if begins_with(path, OLD_EXCEL):
        _check_bytes(path, path.stat().st_size)
        return {}
    try:
        with zipfile.ZipFile(path) as parts:
            _check_bytes(path, sum(part.file_size for part in parts.infolist()))
            found = {name: SheetXml.of(parts.read(part)) for name, part in _sheets_in(parts)}
            if "content.xml" in parts.namelist() and NO_VALUE_ODS.search(parts.read("content.xml")):
                raise TrialsError(
                    f"{path} holds formulas without values. Open it in LibreOffice or Excel and save it, or save the "
                    "sheet of responses as CSV."
                )
            return found
    except (
        zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ElementTree.ParseError, KeyError, EOFError
    ) as error:  # fmt: skip
        raise TrialsError(f"{path} is no workbook that can be read: {error}.") from None


def _sheets_in(parts: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Names of sheets, and the parts of the file that hold them."""
    if "xl/workbook.xml" not in parts.namelist():
        return
    book = ElementTree.fromstring(parts.read("xl/workbook.xml"))  # expat limits expansion
    relations = ElementTree.fromstring(parts.read("xl/_rels/workbook.xml.rels"))
    target_of = {item.get("Id"): item.get("Target", "") for item in relations}
    for sheet in book.iter():
        if not sheet.tag.endswith("}sheet"):
            continue
        related = next((value for key, value in sheet.items() if key.endswith("}id")), None)
        target = target_of.get(related, "")
        part = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl", target))
        if part in parts.namelist():
            yield sheet.get("name", ""), part


def _check_bytes(path: Path, n_bytes: int) -> None:
    if n_bytes > MOST_JSON_BYTES:
        raise TrialsError(
            f"{path} is larger than {MOST_JSON_BYTES >> 20} MiB when it is unpacked. {SAVE}."
        )


def _number_of(column: bytes) -> int:
    """The number of a column that is named by letters, from 1."""
    number = 0
    for letter in column:
        number = 26 * number + letter - ord("A") + 1
    return number
