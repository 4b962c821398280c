"""Workbooks of Excel and LibreOffice: their only sheet with a table, as rows of text."""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lakatos.experiments.adoption.limits import MOST_JSON_BYTES, check_size
from lakatos.experiments.errors import TrialsError

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
"""First bytes of a workbook of Excel before 2007; other files that end in .xls are tables of text."""
NO_VALUE = re.compile(rb"(</f>|<f\b[^>]*/>)\s*(<v\s*/>|</c>)")
"""A formula in a sheet whose program never computed its value."""


def is_old_workbook(path: Path) -> bool:
    """Whether a file is a workbook of Excel before 2007."""
    with path.open("rb") as file:
        return file.read(4) == OLD_EXCEL


def write_sheet(path: Path, calamine: Any, text_of: Callable[[object], str], to: Path) -> list[str]:
    """Write the only sheet of a workbook that holds a table as CSV, and return how it was found.

    Args:
        path: The workbook.
        calamine: The package python_calamine.
        text_of: A cell as text.
        to: The file to write, in which rows have the numbers that the sheet shows.

    Raises:
        TrialsError: It is no workbook, too large, holds several tables, or formulas without values.
    """
    _check_parts(path)
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        visible = calamine.SheetVisibleEnum.Visible
        shown = [sheet.name for sheet in book.sheets_metadata if sheet.visible == visible]
        sheets = {name: book.get_sheet_by_name(name) for name in shown}
    except Exception as error:  # the reader raises errors of its own
        raise TrialsError(f"{path} is no workbook that can be read: {error}.") from None
    tables = [name for name, own in sheets.items() if min(own.total_height, own.total_width) > 1]
    if len(tables) != 1:
        names = ", ".join(map(repr, tables or shown))
        what = f"{len(tables)} sheets with tables ({names})" if tables else f"no table ({names})"
        raise TrialsError(
            f"{path} holds {what}. Save the sheet of responses as CSV, and name that."
        )
    sheet = sheets[tables[0]]
    check_size(path, sheet.total_height, sheet.total_width)
    with to.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in sheet.to_python(skip_empty_area=False):
            cells = [text_of(cell) for cell in row]
            writer.writerow(cells if any(cells) else [])
    others = [name for name in book.sheet_names if name != tables[0]]
    unread = f"; not read: {', '.join(map(repr, others))}" if others else ""
    return [f"the sheet {tables[0]!r} of a workbook{unread}"]


def _check_parts(path: Path) -> None:
    """Refuse a workbook that unpacks to too much, or whose formulas have no values: raise `TrialsError`."""
    if is_old_workbook(path):
        n_bytes = path.stat().st_size
    else:
        try:
            with zipfile.ZipFile(path) as parts:
                n_bytes = sum(part.file_size for part in parts.infolist())
                sheets = [name for name in parts.namelist() if "worksheets/sheet" in name]
                is_small = n_bytes <= MOST_JSON_BYTES
                without = [
                    name for name in sheets if is_small and NO_VALUE.search(parts.read(name))
                ]
        except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
            raise TrialsError(f"{path} is no workbook that can be read: {error}.") from None
        if without:
            raise TrialsError(
                f"{path} holds formulas without values ({', '.join(without)}). Open it in Excel or LibreOffice and "
                "save it, or save the sheet of responses as CSV."
            )
    if n_bytes > MOST_JSON_BYTES:
        raise TrialsError(
            f"{path} is larger than {MOST_JSON_BYTES >> 20} MiB when it is unpacked. Save the sheet of responses "
            "as CSV."
        )
