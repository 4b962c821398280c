"""Tables for spreadsheets hold no formulas, whoever wrote their texts."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from lakatos.flows.report.formats import listed
from lakatos.flows.report.spreadsheet import FORMULA, csv_of, safe_cell, short_number


def test_a_text_is_no_formula_in_a_spreadsheet() -> None:
    said = ["=1+1", "@x", "\r=1+1", "fine", [0, 2], ["=1", 2], 3, -3.5, None]
    shown = ["'=1+1", "'@x", "'\n=1+1", "fine", "0 2", "'=1 2", 3, -3.5, None]
    assert [safe_cell(value) for value in said] == shown


@pytest.mark.parametrize("mark", [*FORMULA, "\r", "\r\n"])
def test_a_table_has_no_cell_and_no_heading_that_begins_like_a_formula(mark: str) -> None:
    table = pd.DataFrame(
        {f"{mark}name": [f"{mark}A1", "Tallying", None], "gain": [-0.5, 1.0, np.nan]}
    )
    back = pd.read_csv(io.StringIO(csv_of(table)), keep_default_na=False)
    kept = "\n" if "\r" in mark else mark
    assert list(back.columns) == [f"'{kept}name", "gain"]
    assert list(back.iloc[:, 0]) == [f"'{kept}A1", "Tallying", ""]


def test_a_table_of_numbers_and_words_is_written_as_pandas_writes_it() -> None:
    table = pd.DataFrame({"n": [1, 2], "x": [-0.1, 1e-12], "b": [True, False], "t": ["a-b", "1"]})
    assert csv_of(table) == table.to_csv(index=False)


def test_sentences_in_one_line_keep_no_full_stop_before_a_semicolon() -> None:
    assert (
        listed(["It parses.", "it learns", "A stop ends it."])
        == "It parses; it learns; A stop ends it"
    )
    assert listed([]) == ""


def test_a_terminal_shows_three_digits_and_a_file_all() -> None:
    table = pd.DataFrame({"responses": [30], "log_likelihood": [-11.580362885], "rate": [0.02]})
    assert csv_of(table).splitlines()[1] == "30,-11.580362885,0.02"
    assert csv_of(table, is_short=True).splitlines()[1] == "30,-11.6,0.02"
    assert [short_number(value) for value in (1234.5, 0.00012345)] == ["1234", "0.000123"]
