"""Files that are larger, longer or stranger than any table of responses: refused in a sentence, while they are read."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakatos.experiments.adoption import delimited, tables
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.row_words import rows_named
from lakatos.experiments.adoption.tables import READERS, read_answers
from lakatos.experiments.errors import TrialsError

HEAD = "subject,trial,ss_amount,ss_delay,ll_amount,ll_delay,choice"


def file_of(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([12], "row 12"),
        ([12, 40], "rows 12 and 40"),
        ([12, 12, 40, 51], "rows 12, 40 and 51"),
        ([12, 40, 51, *range(100, 418)], "rows 12, 40, 51 and 318 more"),
        (range(2, 2_000), "rows 2, 3, 4 and 1,995 more"),
        ([1, 2, 3, 4], "rows 1, 2, 3 and 4"),
        ([], ""),
    ],
)
def test_rows_are_named_in_the_same_words_everywhere(rows: list[int], said: str) -> None:
    assert rows_named(rows) == said


def test_all_rows_of_another_length_are_named(tmp_path: Path) -> None:
    text = "a,b\n1,2\n3\n4,5\n6\n7,8,9\n\n10\n"
    with pytest.raises(
        TrialsError,
        match=r"row 3 has 1 cells and the header 2 \(likewise rows 5, 6 and 8\)\. Put text that holds commas",
    ):
        read_answers(file_of(tmp_path, "a.csv", text))


def test_rows_are_numbered_as_a_spreadsheet_shows_them(tmp_path: Path) -> None:
    text = 'sep=;\nwho;x\n\nanna;"one\ntwo"\n\nbea;3\n'
    table = read_answers(file_of(tmp_path, "a.csv", text))
    assert table.frame.index.tolist() == [4, 6]
    assert table.frame["x"].tolist() == ["one\ntwo", "3"]


@pytest.mark.parametrize("name", ["a.dat", "a.txt", "a.csv"])
def test_cells_may_stand_between_spaces(name: str, tmp_path: Path) -> None:
    table = read_answers(file_of(tmp_path, name, "who   x  \n anna 2\nbea    3\n"))
    assert table.frame.to_dict("list") == {"who": ["anna", "bea"], "x": ["2", "3"]}


def test_a_single_column_of_sentences_is_one_column(tmp_path: Path) -> None:
    table = read_answers(
        file_of(tmp_path, "a.csv", "what they said\nyes\nno, never\n".replace(",", ""))
    )
    assert table.columns == ("what they said",)


@pytest.mark.parametrize(
    ("name", "made", "said"),
    [
        ("a.csv", lambda: ",".join(f"c{place}" for place in range(1_000_000)), "more than 5,000 columns"),
        ("a.csv", lambda: "a,b\n" + "x" * 17_000_000, "line 2 has more than 16,777,216 letters"),
        ("a.csv", lambda: "a,b\n" + "x" * 200_000 + ",1\n", "row 2: a cell has more than 131,072 letters"),
        ("a.csv", lambda: "a," + "9" * 5_000 + "\n1,2\n", "the name of column 2 has 5,000 letters"),
        ("a.json", lambda: json.dumps([{"a": 1, "x" * 5_000: 2}]), "the name of column 2 has 5,000 letters"),
        ("a.csv", lambda: 'a,b\n1,2\n3,"4\n5,6\n', "row 3: a double quote is opened there, or before"),
        ("a.csv", lambda: 'a,b\n"1"x,2\n', "row 2: a letter follows a double quote"),
        ("a.csv", lambda: b"a,b\n1,\x002\n", "no text: line 2 holds a byte that is zero"),
        ("a.csv", lambda: "a,b\n" + "\n" * 1_000, "no row of answers"),
        ("a.csv", lambda: "a,b,a,c,a\n1,2,3,4,5\n", r"two columns are called 'a' \(columns 1, 3 and 5\)"),
        ("a.json", lambda: json.dumps([{f"k{place}": 1 for place in range(300_000)}]), "more than 5,000 columns"),
        ("a.jsonl", lambda: "\n".join(f'{{"k{place}": 1}}' for place in range(6_000)), "more than 5,000 columns"),
        ("a.json", lambda: "[" + "[]," * 7_000_000 + "[]]", "about 14,000,00. values in JSON; at most 12,000,000"),
        ("a.json", lambda: json.dumps([{"a": "x" * 200_000}]), "row 2: a holds 200,000 letters"),
        ("a.json", lambda: '{"a":' * 100_000 + "1" + "}" * 100_000, "too deeply"),
        ("a.csv.gz", lambda: gzip.compress(b"a,b\n1,2\n", mtime=0), r"end in \.gz are not read.*Unpack it first"),
        ("a.yaml", lambda: "a: &a [x, x]\nb: [*a, *a]\n", r"end in \.yaml are not read"),
        ("a.rds", lambda: gzip.compress(b"X\n" + b"\0" * 2**20)[:-9], "damaged or cut off|is no data frame of R"),
    ],
)  # fmt: skip
def test_what_is_too_large_or_broken_is_refused_where_it_is(
    name: str, made: Callable[[], str | bytes], said: str, tmp_path: Path
) -> None:
    if name.endswith(".rds"):
        pytest.importorskip("pyreadr", reason="pip install 'lakatos[formats]'")
    path = file_of(tmp_path, name, made())
    with pytest.raises(TrialsError, match=said):
        read_answers(path)
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: {"a": np.zeros(12_000_000, dtype=np.int8)}, "more than 10,000,000 rows"),
        (lambda: {f"c{place}": [1] for place in range(6_000)}, "more than 5,000 columns"),
        (lambda: {"b": ["x"], "a": ["x" * 10_000_000]}, "row 2: a holds 10,000,000 letters"),
        (lambda: {"a": ["x", *["y" * 1_000_000] * 200]}, "row 3: a holds 1,000,000 letters"),
    ],
)
def test_parquet_is_looked_at_before_it_fills_the_memory(
    made: Callable[[], dict[str, list[object]]], said: str, tmp_path: Path
) -> None:
    pq.write_table(pa.table(made()), tmp_path / "a.parquet")
    with pytest.raises(TrialsError, match=said):
        read_answers(tmp_path / "a.parquet")


def test_texts_that_cells_of_parquet_share_are_counted_before_they_are_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repeated(*_: object) -> None:
        raise AssertionError("the cells were repeated")

    monkeypatch.setattr(tables, "_of_frame", repeated)
    cells = pa.DictionaryArray.from_arrays(np.zeros(30_000, np.int32), ["x" * 60_000])
    pq.write_table(pa.table({"a": cells}), tmp_path / "a.parquet")
    with pytest.raises(TrialsError, match="more than 1,073,741,824 letters"):
        read_answers(tmp_path / "a.parquet")


@pytest.mark.parametrize("at_once", [1, 6, 7, 1_000])
def test_cells_that_go_into_columns_part_by_part_are_the_same(
    at_once: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delimited, "CELLS_AT_ONCE", at_once)
    rows = [[str(3 * row + place) for place in range(3)] for row in range(10)]
    text = "a,b,c\n" + "".join(f"{','.join(row)}\n" for row in rows)
    assert read_answers(file_of(tmp_path, "a.csv", text)).frame.to_numpy().tolist() == rows


def test_lists_and_missing_values_of_parquet_are_cells(tmp_path: Path) -> None:
    table = pa.table({"a": [[1, 2], None], "b": [True, None], "c": ["x", None], "d": [1.5, 2.0]})
    pq.write_table(table, tmp_path / "a.parquet")
    found = read_answers(tmp_path / "a.parquet").frame.to_dict("list")
    assert found == {"a": ["[1, 2]", ""], "b": ["1", ""], "c": ["x", ""], "d": ["1.5", "2"]}


def test_numbers_of_any_size_in_json_are_cells(tmp_path: Path) -> None:
    text = '[{"a": ' + "9" * 5_000 + ', "b": 1e400, "c": NaN}, {"a": 1}]'
    found = read_answers(file_of(tmp_path, "a.json", text)).frame
    assert found["a"].tolist() == ["9" * 5_000, "1"]
    assert found["b"].tolist() == ["inf", ""]
    assert found["c"].tolist() == ["", ""]


def test_a_folder_with_two_kinds_of_tables_is_refused_with_the_list(tmp_path: Path) -> None:
    for person in "ab":
        file_of(tmp_path, f"choices_{person}.csv", f"{HEAD}\n{person},1,2,0,3,7,1\n")
        file_of(tmp_path, f"form_{person}.csv", f"person,age,hand\n{person},20,left\n")
    with pytest.raises(
        TrialsError, match=r"2 kinds: choices_a.csv, choices_b.csv, with .*; form_a.csv, form_b.csv"
    ):
        read_answers(tmp_path)


def test_a_folder_of_one_other_kind_is_read_and_one_of_several_is_refused(tmp_path: Path) -> None:
    for person in "ab":
        file_of(tmp_path, f"{person}.json", json.dumps([{"who": person, "x": 1}]))
    assert read_answers(tmp_path).frame["who"].tolist() == ["a", "b"]
    file_of(tmp_path, "c.dat", "who x\nc 1\n")
    with pytest.raises(TrialsError, match=r"files of 2 kinds \(a.json, b.json; c.dat\)"):
        read_answers(tmp_path)
    file_of(tmp_path, "d.csv", "who,x\nd,1\n")
    with pytest.raises(TrialsError, match=r"files of 3 kinds \(d.csv; a.json, b.json; c.dat\)"):
        read_answers(tmp_path)


def test_beside_tables_of_text_stand_descriptions_and_the_same_files_in_another_form(
    tmp_path: Path,
) -> None:
    for person in "ab":
        file_of(tmp_path, f"{person}.csv", f"who,x\n{person},1\n")
        file_of(tmp_path, f"{person}.json", json.dumps([{"who": person, "x": 1}]))
    file_of(tmp_path, "README.txt", "Two participants, a and b.\nEach responded once.\n")
    file_of(tmp_path, "x.json", json.dumps({"x": {"levels": [0, 1]}, "authors": ["c", "d"]}))
    table = read_answers(tmp_path)
    assert table.frame["who"].tolist() == ["a", "b"]
    assert any("not read: README.txt, a.json, b.json and 1 more" in note for note in table.notes)


def test_links_of_folders_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    file_of(inside, "a.csv", "who,x\na,1\n")
    file_of(outside, "b.csv", "who,x\nb,1\n")
    (inside / "there").symlink_to(outside)
    (inside / "b.csv").symlink_to(outside / "b.csv")
    (inside / "again").symlink_to(inside)
    table = read_answers(inside)
    assert table.frame["who"].tolist() == ["a"]
    assert any("1 link not followed" in note for note in table.notes)


CELLS = st.text(st.sampled_from("abc019.,;|\t\"'\r\n=@-\x1b\x00\ud800é漢 "), max_size=6)
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6)
ENCODINGS = ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1")


@st.composite
def almost_tables(draw: st.DrawFn) -> bytes:
    """Bytes that look like a file that is read: with marks, ends of lines and encodings of all kinds, and cut off."""
    mark, end = draw(st.sampled_from(",;\t| ")), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = end.join(mark.join(row) for row in draw(TABLES))
    kind = draw(st.integers(0, 3))
    if kind == 1:
        text = json.dumps([dict(zip("abcd", row, strict=False)) for row in draw(TABLES)])
    if kind == 2:
        text = "sep=;" + end + HEAD.replace(",", ";") + end + text
    if kind == 3:
        text = HEAD + end + end.join("s,1,2,0,3," + mark.join(row) for row in draw(TABLES))
    data = text.encode(
        draw(st.sampled_from(ENCODINGS)), "replace" if draw(st.booleans()) else "ignore"
    )
    return data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data


@pytest.mark.parametrize("suffix", sorted(READERS))
@given(data=st.one_of(st.binary(max_size=200), almost_tables()))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_bytes_are_read_or_refused_in_a_sentence(
    suffix: str, data: bytes, tmp_path: Path
) -> None:
    path = file_of(tmp_path, f"a{suffix}", data)
    with contextlib.suppress(TrialsError):
        table = read_answers(path)
        assert len(table.frame)
        assert all(isinstance(cell, str) for name in table.frame for cell in table.frame[name])
        describe_table(table)
    assert path.read_bytes() == data


@given(
    frame=st.lists(
        st.tuples(st.floats(), st.text(max_size=4), st.booleans()), min_size=1, max_size=6
    )
)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_same_values_are_read_from_parquet_and_json_lines(
    frame: list[tuple[float, str, bool]], tmp_path: Path
) -> None:
    rows = [dict(zip("abc", row, strict=True)) for row in frame]
    file_of(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    first, second = (read_answers(tmp_path / name).frame for name in ("a.jsonl", "a.parquet"))
    assert first.to_dict("list") == second.to_dict("list")
