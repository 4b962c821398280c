"""Workbooks: one sheet with a table is read as it would be from text, and anything else is refused."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import pandas as pd
import pytest

from lakatos.experiments.adoption.limits import MOST_JSON_BYTES
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import TrialsError

pytest.importorskip("python_calamine", reason="pip install 'lakatos[formats]'")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HIDDEN = ' state="hidden"'
TABLE = [
    ["subject", "rt", "choice"],
    ["P1", 0.5, "left"],
    ["P1", 2.5, None],
    [],
    ["P2", 1e-7, "a,b"],
]


class Formula(str):
    """A formula whose value was never computed."""


def cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Formula):
        return f'<c r="{place}"><f>{value}</f><v /></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def workbook(path: Path, hidden: Sequence[str] = (), **sheets: list[list[object]]) -> Path:
    """Write a workbook of Excel with some sheets."""
    listed = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="rId{n}"{HIDDEN * (name in hidden)}/>'
        for n, name in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        )
        parts.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        parts.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        )
        parts.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>',
        )
        for n, rows in enumerate(sheets.values(), 1):
            written = "".join(
                f'<row r="{r}">{"".join(cell(f"{chr(65 + c)}{r}", own) for c, own in enumerate(row))}</row>'
                for r, row in enumerate(rows, 1)
            )
            parts.writestr(
                f"xl/worksheets/sheet{n}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{written}</sheetData></worksheet>',
            )
    return path


def test_the_only_table_of_a_workbook_has_the_rows_that_its_sheet_shows(tmp_path: Path) -> None:
    found = read_answers(workbook(tmp_path / "a.xlsx", Data=TABLE, About=[["made by a program"]]))
    assert found.name == "a.xlsx"
    assert found.notes[0] == "the sheet 'Data' of a workbook; not read: 'About'"
    assert found.frame.to_dict("list") == {
        "subject": ["P1", "P1", "P2"],
        "rt": ["0.5", "2.5", "1e-07"],
        "choice": ["left", "", "a,b"],
    }
    assert found.frame.index.tolist() == [2, 3, 5]


def test_a_workbook_is_read_as_the_same_table_saved_as_text(tmp_path: Path) -> None:
    rows = [row for row in TABLE if row]
    book = read_answers(workbook(tmp_path / "a.xlsx", Data=rows))
    pd.DataFrame(rows[1:], columns=rows[0]).to_csv(tmp_path / "a.csv", index=False)
    assert book.frame.equals(read_answers(tmp_path / "a.csv").frame)


def test_a_hidden_sheet_is_not_read(tmp_path: Path) -> None:
    book = workbook(tmp_path / "a.xlsx", hidden=["Old"], Data=TABLE, Old=TABLE)
    assert read_answers(book).notes[0] == "the sheet 'Data' of a workbook; not read: 'Old'"


def test_several_tables_are_refused_with_their_names(tmp_path: Path) -> None:
    book = workbook(tmp_path / "a.xlsx", One=TABLE, Two=TABLE)
    with pytest.raises(
        TrialsError, match=r"2 sheets with tables \('One', 'Two'\)\. Save the sheet"
    ):
        read_answers(book)
    with pytest.raises(TrialsError, match="no table"):
        read_answers(workbook(tmp_path / "b.xlsx", One=[["a", "b"]]))


def test_formulas_without_values_are_refused_and_not_taken_as_empty(tmp_path: Path) -> None:
    rows = [*TABLE, ["P3", Formula("B2*2"), "left"]]
    with pytest.raises(TrialsError, match="formulas without values"):
        read_answers(workbook(tmp_path / "a.xlsx", Data=rows))


def test_a_workbook_that_is_damaged_or_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(b"x")
    (tmp_path / "b.xls").write_bytes(b"\xd0\xcf\x11\xe0 and no more")
    for name in ("a.xlsx", "b.xls"):
        with pytest.raises(TrialsError, match="no workbook that can be read"):
            read_answers(tmp_path / name)
    with zipfile.ZipFile(
        workbook(tmp_path / "c.xlsx", Data=TABLE), "a", zipfile.ZIP_DEFLATED
    ) as parts:
        parts.writestr("xl/media/large", bytes(MOST_JSON_BYTES))
    with pytest.raises(TrialsError, match="larger than 256 MiB when it is unpacked"):
        read_answers(tmp_path / "c.xlsx")


def test_locks_that_excel_leaves_in_a_folder_are_no_tables(tmp_path: Path) -> None:
    workbook(tmp_path / "p1.xlsx", Data=TABLE)
    (tmp_path / "~$p1.xlsx").write_bytes(b"x")
    assert len(read_answers(tmp_path).frame) == 3
