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


class Wrong(str):
    """An error, such as ``#N/A``."""


def cell(place: str, value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Formula):
        return f'<c r="{place}"><f>{value}</f><v /></c>'
    if isinstance(value, Wrong):
        return f'<c r="{place}" t="e"><v>{value}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value!r}</v></c>'


def workbook(
    path: Path, hidden: Sequence[str] = (), more: str = "", **sheets: list[list[object]]
) -> Path:
    """Write a workbook of Excel with some sheets, in each of which ``more`` stands below the cells."""
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
                f'<worksheet xmlns="{MAIN}"><sheetData>{written}</sheetData>{more}</worksheet>',
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


def test_formulas_of_a_sheet_that_is_not_read_do_not_matter(tmp_path: Path) -> None:
    book = workbook(tmp_path / "a.xlsx", Data=TABLE, Sum=[[Formula("SUM(A1:A2)")]])
    assert len(read_answers(book).frame) == 3


def test_a_cell_far_away_is_refused_before_the_sheet_is_read(tmp_path: Path) -> None:
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    for sheets in ({"Data": TABLE}, {"Data": TABLE, "Notes": [["a"]]}):
        book = workbook(tmp_path / "a.xlsx", **sheets)
        text = zipfile.ZipFile(book).read(f"xl/worksheets/sheet{len(sheets)}.xml").decode()
        with zipfile.ZipFile(book, "a") as parts, pytest.warns(UserWarning, match="Duplicate name"):
            parts.writestr(
                f"xl/worksheets/sheet{len(sheets)}.xml",
                text.replace("</sheetData>", f"{far}</sheetData>"),
            )
        with pytest.raises(TrialsError, match="reaches to the cell XFD1048576, and at most"):
            read_answers(book)


def test_merged_cells_below_the_header_are_refused(tmp_path: Path) -> None:
    merged = '<mergeCells><mergeCell ref="A{}:A{}"/></mergeCells>'
    assert (
        len(read_answers(workbook(tmp_path / "a.xlsx", more=merged.format(1, 1), Data=TABLE)).frame)
        == 3
    )
    with pytest.raises(TrialsError, match=r"the cells A2:A3 of the sheet 'Data' are merged"):
        read_answers(workbook(tmp_path / "b.xlsx", more=merged.format(2, 3), Data=TABLE))


def test_errors_hidden_rows_and_titles_above_the_header_are_named(tmp_path: Path) -> None:
    rows = [
        ["Experiment 1, 2024"],
        [],
        TABLE[0],
        ["P1", Wrong("#N/A"), "left"],
        ["P1", 2.5, "right"],
    ]
    found = read_answers(workbook(tmp_path / "a.xlsx", Data=rows))
    assert found.frame["rt"].tolist() == ["", "2.5"]
    assert found.frame.index.tolist() == [4, 5]
    assert "1 cell with an error, such as #N/A, taken as empty" in found.notes
    assert "above the header and left out: Experiment 1, 2024" in found.notes


def test_a_table_of_two_columns_is_one_and_text_in_one_column_is_divided(tmp_path: Path) -> None:
    two = [["participant", "choice"], ["1", "a"], ["2", "b"]]
    assert len(read_answers(workbook(tmp_path / "a.xlsx", Data=two)).frame) == 2
    text = [["participant;choice"], ["1;a"], ["2;b"]]
    found = read_answers(workbook(tmp_path / "b.xlsx", Data=text))
    assert found.frame.to_dict("list") == {"participant": ["1", "2"], "choice": ["a", "b"]}


def test_what_separates_the_cells_of_a_sheet_is_not_searched(tmp_path: Path) -> None:
    rows = [["[participant]", "choice;x"], ["1", "a"], ["2", "b"]]
    found = read_answers(workbook(tmp_path / "a.xlsx", Data=rows))
    assert found.columns == ("[participant]", "choice;x")


def test_refusals_name_the_workbook_and_a_web_page_is_none(tmp_path: Path) -> None:
    rows = [["a", "a"], ["1", "2"]]
    with pytest.raises(TrialsError, match=rf"{tmp_path / 'a.xlsx'}: two columns are called 'a'"):
        read_answers(workbook(tmp_path / "a.xlsx", Data=rows))
    (tmp_path / "b.xls").write_text("<html><table></table></html>")
    with pytest.raises(TrialsError, match="is a page in HTML or XML"):
        read_answers(tmp_path / "b.xls")


def test_a_workbook_of_libreoffice_whose_formulas_have_no_values_is_refused(tmp_path: Path) -> None:
    cell = '<table:table-cell table:formula="of:=1+1"{}><text:p>2</text:p></table:table-cell>'
    for place, value in enumerate(("", ' office:value-type="float" office:value="2"')):
        with zipfile.ZipFile(tmp_path / f"{place}.ods", "w") as parts:
            parts.writestr("content.xml", cell.format(value))
        message = "no workbook that can be read" if value else "formulas without values"
        with pytest.raises(TrialsError, match=message):
            read_answers(tmp_path / f"{place}.ods")
