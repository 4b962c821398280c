"""Files of answers as laboratories keep them, and files that are not what they seem."""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lakatos.experiments.adoption.limits import open_steady
from lakatos.experiments.adoption.tables import n_lines, read_answers, table_of_frame
from lakatos.experiments.errors import TrialsError


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_cells_may_be_separated_in_four_ways(mark: str, tmp_path: Path) -> None:
    text = "\n".join(mark.join(row) for row in (("who", "x"), ("anna", "2"), ("bea", "3")))
    table = read_answers(write(tmp_path, "a.csv", text))
    assert table.columns == ("who", "x")
    assert table.frame["x"].tolist() == ["2", "3"]
    assert table.frame.index.tolist() == [2, 3]


def test_decimal_commas_become_points_where_every_cell_is_such_a_number(tmp_path: Path) -> None:
    table = read_answers(write(tmp_path, "a.csv", "p;word\n0,25;a,b\n1;c,d\n"))
    assert table.frame["p"].tolist() == ["0.25", "1"]
    assert table.frame["word"].tolist() == ["a,b", "c,d"]
    assert any("decimal commas" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "cells", "said"),
    [
        ("n;x\n1;900\n2;1.089\n", ["900", "1089"], "points in x group thousands"),
        ("n;x\n1;900\n2;1,089\n", ["900", "1089"], "commas in x group thousands"),
        ('n,x\n1,900\n2,"1,089"\n', ["900", "1089"], "commas in x group thousands"),
        ("n;x\n1;1.200.000\n2;3.000\n", ["1200000", "3000"], "points in x group thousands"),
        ("n,x\n1,0.512\n2,1.089\n", ["0.512", "1.089"], ""),
        ("n,x\n1,1.250\n2,1.089\n", ["1.250", "1.089"], ""),
        ("n,x\n1,3\n2,1.089\n", ["3", "1.089"], ""),
        ("n,x\n1,900.5\n2,1.089\n", ["900.5", "1.089"], ""),
    ],
)
def test_grouped_thousands_beside_smaller_numbers_are_no_decimals(
    text: str, cells: list[str], said: str, tmp_path: Path
) -> None:
    table = read_answers(write(tmp_path, "a.csv", text))
    assert table.frame["x"].tolist() == cells
    assert (said in table.notes) if said else not any("thousands" in note for note in table.notes)


def test_remarks_before_the_header_are_left_out_and_said(tmp_path: Path) -> None:
    table = read_answers(write(tmp_path, "a.csv", "# Lab B, 2021, ten\n\n# new\nid,deck\nk1,A\n"))
    assert table.columns == ("id", "deck")
    assert table.frame.index.tolist() == [5]
    assert "2 lines before row 4, the header, begin with # and are left out" in table.notes
    assert read_answers(write(tmp_path, "b.csv", "#id,deck\nk1,A\n")).columns == ("#id", "deck")


def test_lines_of_text_above_the_header_are_left_out_and_said(tmp_path: Path) -> None:
    rows = "id,deck,won\nk1,A,1\nk2,B,0\n"
    table = read_answers(write(tmp_path, "a.csv", f'"Data of a lab"\n"See the readme"\n{rows}'))
    assert table.columns == ("id", "deck", "won")
    assert table.frame.index.tolist() == [4, 5]
    assert any("2 lines before row 3, the header, are left out" in note for note in table.notes)
    with pytest.raises(TrialsError, match="row 2 has 1 cells and the header 2"):
        read_answers(write(tmp_path, "b.csv", f"Data, of a lab\nSee the readme\n{rows}"))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("naïve\nx\n".encode("utf-16"), "UTF-16"),
        ("name\nM\xfcller\n".encode("cp1252"), "Windows-1252"),
    ],
)
def test_other_encodings_are_read_and_said(data: bytes, said: str, tmp_path: Path) -> None:
    table = read_answers(write(tmp_path, "a.csv", data))
    assert any(said in note for note in table.notes)
    assert table.columns[0] in ("naïve", "name")


def test_qualtrics_rows_of_questions_are_no_answers(tmp_path: Path) -> None:
    head = 'ResponseId,Q1\nResponse ID,Which one?\n"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"\n'
    table = read_answers(write(tmp_path, "q.csv", head + "R_1,A\nR_2,B\n"))
    assert table.frame["Q1"].tolist() == ["A", "B"]
    assert table.frame.index.tolist() == [4, 5]


def test_objects_of_jspsych_are_rows_and_nested_values_are_columns(tmp_path: Path) -> None:
    people = [[{"rt": 512.0, "data": {"left": 3}}, {"rt": None, "data": {"left": 4}}]]
    table = read_answers(write(tmp_path, "j.json", json.dumps(people)))
    assert table.columns == ("session", "rt", "data.left")
    assert table.frame["rt"].tolist() == ["512", ""]


def test_the_space_key_of_jspsych_is_a_response(tmp_path: Path) -> None:
    rows = [{"response": key, "text": key} for key in (" ", None, "f", "")]
    table = read_answers(write(tmp_path, "j.json", json.dumps(rows)))
    assert table.frame["response"].tolist() == ["space", "", "f", ""]
    assert table.frame["text"].str.strip().tolist() == ["", "", "f", ""]


def test_parquet_json_lines_and_csv_of_one_table_are_one_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"who": ["a", "b"], "x": [1.5, None], "n": [1, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    found = [read_answers(tmp_path / f"t.{kind}").frame for kind in ("parquet", "csv", "jsonl")]
    for other in found[1:]:
        assert other.to_dict("list") == found[0].to_dict("list")


def test_a_folder_is_one_table_with_what_its_names_say(tmp_path: Path) -> None:
    for person in ("01", "02"):
        write(tmp_path, f"sub-{person}/beh/sub-{person}_task-risk_events.tsv", "onset\tx\n1\t5\n")
    write(tmp_path, "participants.tsv", "participant_id\tage\nsub-01\t20\n")
    table = read_answers(tmp_path)
    assert table.frame["sub"].tolist() == ["01", "02"]
    assert table.frame["task"].tolist() == ["risk", "risk"]
    assert "age" not in table.columns


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "a,b\n1,2\n3\n", "row 3 has 1 cells and the header 2"),
        ("a.csv", "a,b\n1,2\n3,4,5\n", "row 3 has 3 cells"),
        ("a.csv", "a,a\n1,2\n", "two columns are called 'a'"),
        (
            "a.csv",
            "coins,1,s1,T,1\ncoins,2,s1,H,1\n",
            "row 1 holds numbers that count no columns, .* no header",
        ),
        ("a.csv", "1,12.5,30,7,0\n1,14,30,7,1\n", "row 1 holds numbers that count .* no header"),
        ("a.csv", "a,b\n", "no row of answers"),
        ("a.csv", "", "no row of answers"),
        ("a.csv", b"PK\x03\x04\x00\x00", "is no text"),
        ("a.xlsm", "x", "are not read"),
        ("a.parquet", "x", "no Parquet"),
        ("a.json", "{", "is no JSON"),
        ("a.json", "[1, 2]", "not an object"),
        ("a.json", "[" * 100_000, "too deeply"),
        ("a.jsonl", '{"a": 1}\nx\n', "line 2 is no JSON"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(
    name: str, text: str | bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(TrialsError, match=said):
        read_answers(write(tmp_path, name, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrialsError, match="there is no file"):
        read_answers(tmp_path / "none.csv")


def test_words_for_missing_values_are_empty_cells(tmp_path: Path) -> None:
    table = read_answers(write(tmp_path, "a.csv", "a,b\nNA,1\nx,NaN\n"))
    assert table.frame["a"].tolist() == ["", "x"]
    assert any("NA or NaN are taken as empty" in note for note in table.notes)


def test_data_frames_of_r_and_files_of_spss_and_stata_are_tables(tmp_path: Path) -> None:
    pyreadr = pytest.importorskip("pyreadr", reason="pip install 'lakatos[formats]'")
    pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'lakatos[formats]'")
    frame = pd.DataFrame({"who": ["a", "b"], "x": [1.5, None], "n": [1.0, 2.0]})
    pyreadr.write_rds(str(tmp_path / "t.rds"), frame)
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"))
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    wanted = {"who": ["a", "b"], "x": ["1.5", ""], "n": ["1", "2"]}
    for kind in ("rds", "sav", "dta"):
        assert read_answers(tmp_path / f"t.{kind}").frame.to_dict("list") == wanted
        (tmp_path / f"bad.{kind}").write_bytes(b"no such file")
        with pytest.raises(TrialsError, match="is no"):
            read_answers(tmp_path / f"bad.{kind}")


def test_labels_that_are_numbers_are_read_in_place_of_their_codes(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat", reason="pip install 'lakatos[formats]'")
    frame = pd.DataFrame({"reward": [0, 2, 3, 0], "choice": [1, 2, 1, 1], "rt": [0.5, 1, 2, 3]})
    labels = {"reward": {0: "0", 2: "10", 3: "50"}, "choice": {1: "left", 2: "right"}}
    pyreadstat.write_dta(frame, str(tmp_path / "t.dta"), variable_value_labels=labels)
    found = read_answers(tmp_path / "t.dta")
    assert found.frame["reward"].tolist() == ["0", "10", "50", "0"]
    assert found.frame["choice"].tolist() == ["1", "2", "1", "1"]
    assert set(found.labels) == {"choice"}
    assert (
        "reward: its labels are numbers and are read in place of its codes (0 is 0, 2 is 10, 3 is 50)"
        in found.notes
    )


def test_numbers_in_single_precision_are_read_as_they_were_written(tmp_path: Path) -> None:
    frame = pd.DataFrame({"amount": np.array([8.1, 2.5, np.nan], dtype=np.float32)})
    frame.to_stata(tmp_path / "t.dta", write_index=False)
    pytest.importorskip("pyreadstat", reason="pip install 'lakatos[formats]'")
    assert read_answers(tmp_path / "t.dta").frame["amount"].tolist() == ["8.1", "2.5", ""]


def test_utf16_that_breaks_off_within_a_letter_is_refused_in_a_sentence(tmp_path: Path) -> None:
    whole = "who,x\nanna,2\n".encode("utf-16")
    assert read_answers(write(tmp_path, "a.csv", whole)).frame["x"].tolist() == ["2"]
    with pytest.raises(
        TrialsError, match=r"begins as UTF-16 text and is damaged or cut off\. Save"
    ):
        read_answers(write(tmp_path, "b.csv", whole[:-3]))


@pytest.mark.parametrize("rest", [b"", b"\n", b"\0"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("has_mark", [True, False])
def test_utf16_is_read_with_and_without_its_mark_and_with_half_a_line_end(
    rest: bytes, encoding: str, has_mark: bool, tmp_path: Path
) -> None:
    data = ("\ufeff" * has_mark + "who,x\nanna,2\nbea,3\n").encode(encoding) + rest
    table = read_answers(write(tmp_path, "a.csv", data))
    assert table.frame["x"].tolist()[:2] == ["2", "3"]
    assert table.columns == ("who", "x")


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_lines_may_end_as_on_any_machine(end: str, tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", end.join(["who,x", "anna,2", 'bea,"3', '4"', ""]))
    assert n_lines(path) == 4
    assert read_answers(path).frame["x"].tolist() == ["2", "3\n4"]
    with pytest.raises(TrialsError, match="row 3 has 1 cells"):
        read_answers(write(tmp_path, "b.csv", end.join(["who,x", "anna,2", "bea", ""])))


def test_halves_of_letters_are_written_out_and_keep_people_apart(tmp_path: Path) -> None:
    rows = [{"who": "\ud800", "x\udc00": 1}, {"who": "\ud801", "x\udc00": 2}]
    table = read_answers(write(tmp_path, "a.json", json.dumps(rows)))
    assert table.frame["who"].tolist() == ["\\ud800", "\\ud801"]
    assert table.columns == ("who", "x\\udc00")
    frame = pd.DataFrame({"who": pd.Series(["\ud800", "b"], dtype=object)})
    assert table_of_frame("f", frame).frame["who"].tolist() == ["\\ud800", "b"]


@pytest.mark.parametrize("depth", [50, 900, 3_000, 100_000])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_values_that_lie_deeply_in_one_another_are_read_or_refused(
    depth: int, suffix: str, tmp_path: Path
) -> None:
    for inner in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        path = write(tmp_path, f"a.{suffix}", '[{"who": "a", "deep": ' + inner + "}]")
        if depth <= 50:
            assert read_answers(path).frame["who"].tolist() == ["a"]
        elif depth >= 100_000:
            with pytest.raises(TrialsError, match="values lie too deeply within one another"):
                read_answers(path)
        else:  # as deep as this Python reads, and no traceback
            with contextlib.suppress(TrialsError):
                read_answers(path)


def test_links_out_of_a_folder_are_not_followed_and_no_file_is_read_twice(tmp_path: Path) -> None:
    outside = write(tmp_path, "elsewhere.csv", "who,x\neve,9\n")
    folder = tmp_path / "folder"
    kept = write(folder, ".store/1", "who,x\nbea,3\n")
    write(folder, "a.csv", "who,x\nanna,2\n")
    (folder / "out.csv").symlink_to(outside)
    (folder / "again.csv").symlink_to("a.csv")
    (folder / "kept.csv").symlink_to(kept)  # as programs that keep versions of data do
    table = read_answers(folder)
    assert table.frame["who"].tolist() == ["anna", "bea"]
    assert any(note.startswith("2 links not followed") for note in table.notes)
    for name in ("a.csv", "again.csv", "kept.csv"):
        (folder / name).unlink()
    with pytest.raises(TrialsError, match="Links out of the folder are not followed; copy"):
        read_answers(folder)


def test_a_file_that_grew_since_it_was_opened_is_read_to_its_end_and_refused(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, "a.csv", "who,x\nanna,2\n")
    for size in (-1, 5, 2**22):
        with open_steady(path) as file:
            assert file.read(5) == b"who,x"
        with open_steady(path) as file, path.open("ab") as more:
            more.write(b"bea,3\n" * 100)
            more.flush()
            with pytest.raises(TrialsError, match="changes while it is read"):
                list(iter(lambda: file.read(size), b""))  # noqa: B023
    with open_steady(path) as file:
        assert file.read() == path.read_bytes()


@pytest.mark.parametrize(
    ("name", "first", "row"),
    [
        ("a.csv", "who,x\n", "anna,2\n"),
        ("a.jsonl", "", '{"who": "anna", "x": 2}\n'),
    ],
)
def test_a_file_that_grows_while_it_is_read_is_refused(
    name: str, first: str, row: str, tmp_path: Path
) -> None:
    path, ended = write(tmp_path, name, first + 20_000 * row), threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as file:  # whole rows at once
            while not ended.wait(0.001):
                file.write(100 * row.encode())

    growing = threading.Thread(target=grow)
    growing.start()
    try:
        with pytest.raises(TrialsError, match="changes while it is read"):
            read_answers(path)
    finally:
        ended.set()
        growing.join()


def test_none_is_a_name_where_each_choice_offers_it(tmp_path: Path) -> None:
    text = "task,alt,chosen,points\n"
    text += "".join(
        f"{task},{alt},{int(alt == '2')},{points}\n"
        for task in range(6)
        for alt, points in (("1", task), ("2", 3), ("none", "none" if task else "4"))
    )
    frame = read_answers(write(tmp_path, "a.csv", text)).frame
    assert frame["alt"].tolist() == ["1", "2", "none"] * 6
    assert frame["points"].tolist().count("") == 5
    choices = pd.Series(["1", "2", "none", "1", "1", "2"])
    frame = read_answers(write(tmp_path, "b.csv", f"choice\n{chr(10).join(choices)}\n")).frame
    assert frame["choice"].tolist() == ["1", "2", "", "1", "1", "2"]


def test_a_row_of_units_stands_beside_the_numbers_below_it(tmp_path: Path) -> None:
    text = "subject,amount,delay,key\n,EUR,[weeks],\np1,5,2,d\np1,8,0,s\n"
    table = read_answers(write(tmp_path, "a.csv", text))
    assert table.frame["amount"].tolist() == ["5 EUR", "8 EUR"]
    assert table.frame["delay"].tolist() == ["2 weeks", "0 weeks"]
    assert table.frame["subject"].tolist() == ["p1", "p1"]
    assert "row 2 holds units: amount in EUR, delay in weeks" in table.notes
    plain = read_answers(write(tmp_path, "b.csv", "subject,key\n,d\np1,s\np1,d\n"))
    assert plain.frame["key"].tolist() == ["d", "s", "d"]


def test_the_last_row_of_an_export_of_gorilla_is_none(tmp_path: Path) -> None:
    table = read_answers(write(tmp_path, "a.csv", "a,b\n1,2\n3,4\nEND OF FILE\n"))
    assert table.frame["a"].tolist() == ["1", "3"]
