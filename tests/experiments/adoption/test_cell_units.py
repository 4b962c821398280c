"""Numbers that are written with their unit are read where the meaning is certain, and else refused."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.experiments.adoption.cell_units import days_of, marks_of, plain_number, with_unit
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import ImplausibleError, TrialsError
from tests.experiments.adoption.reading import delays, only, read


@pytest.mark.parametrize(
    ("cell", "days"),
    [
        ("today", 0), ("Now", 0), ("immediately", 0), ("heute", 0), ("0", 0), ("tomorrow", 1), ("in 7 days", 7),
        ("7d", 7), ("2 weeks", 14), ("in a week", 7), ("1 month", 30.4375), ("1 year 6 months", 365.25 + 182.625),
        ("36 hours", 1.5), ("30 min", 30 / 1440), ("in zwei Wochen", 14), ("3 Monate", 91.3125), ("1.5 years", 547.875),
        ("6 months from now", 182.625), ("later", None), ("2 apples", None), ("soon", None), ("weeks", None),
        ("7", None), ("in 7 days or so", None), ("2 weeks?", None),
    ],
)  # fmt: skip
def test_delays_in_words_are_days(cell: str, days: float | None) -> None:
    assert days_of(cell) == (None if days is None else pytest.approx(days))


@pytest.mark.parametrize("cell", ["9" * 100_000, "a" * 100_000, "1 " * 50_000])
def test_a_cell_that_is_too_long_for_a_delay_takes_no_time(cell: str) -> None:
    began = time.process_time()
    assert days_of(cell) is None
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("numbers", "plain"),
    [
        (["10,00", "5"], ["10.00", "5"]), (["1.000", "2.500"], ["1000", "2500"]),
        (["1.234,50", "20"], ["1234.50", "20"]),
        (["1,234.50", "20.5"], ["1234.50", "20.5"]), (["1 000", "20,5"], ["1000", "20.5"]), (["1'000.5"], ["1000.5"]),
        (["1.000.000"], ["1000000"]), (["0.125"], ["0.125"]), (["1.000", "2.50"], None), (["1.5", "1,5"], None),
        (["1234.567"], ["1234.567"]),
    ],
)  # fmt: skip
def test_marks_of_decimals_and_thousands_are_told_apart(
    numbers: list[str], plain: list[str] | None
) -> None:
    marks = marks_of(numbers)
    assert (None if marks is None else [plain_number(n, *marks) for n in numbers]) == plain


def test_a_unit_stands_on_one_side_of_a_number() -> None:
    assert [with_unit(cell).unit for cell in ("$10", "10 €", "EUR 5", "-$3", "7")] == [  # type: ignore[union-attr]
        "$", "€", "eur", "$", "",
    ]  # fmt: skip
    assert [with_unit(cell) for cell in ("$10 €", "ten", "1e5", "--$4", "", "$")] == [None] * 6
    assert with_unit("\u2212$3").is_negative  # type: ignore[union-attr]


def changed(**cells: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Responses to delays, and the same with other cells in some columns."""
    frame = delays(np.random.default_rng(3)).frame
    return frame, frame.assign(**{name: change(frame[name]) for name, change in cells.items()})


@pytest.mark.parametrize(
    "write",
    [
        "{:.2f} €", "${:.0f}", "EUR {:.0f}", "{:.0f} dollars", "{:.0f},00 €", "£{:.2f}", "{:.0f} points",
    ],
)  # fmt: skip
def test_amounts_with_a_unit_are_numbers(write: str) -> None:
    def written(cells: pd.Series) -> list[str]:
        return [write.format(cell) for cell in cells]

    plain, with_units = changed(amount_sooner=written, amount_later=written)
    found = read(with_units)
    assert only(found).digest == only(read(plain)).digest
    assert any(note.startswith("amount_later: ") and "read" in note for note in found.notes)


def test_cents_and_whole_units_are_one_currency() -> None:
    plain, mixed = changed(
        amount_sooner=lambda cells: [f"{100 * cell:.0f} cents" for cell in cells],
        amount_later=lambda cells: [f"${cell}" for cell in cells],
    )
    assert only(read(mixed)).digest == only(read(plain)).digest
    in_cents = read(mixed, stimulus={"amount_unit": "cents"})
    assert only(in_cents).digest == only(read(plain)).digest


def test_delays_in_words_are_read_in_the_unit_of_the_mapping() -> None:
    def words(cells: pd.Series) -> list[str]:
        return ["today" if cell == 0 else f"in {cell} days" for cell in cells]

    plain, said = changed(delay_sooner=words, delay_later=words)
    found = read(said)
    assert only(found).digest == only(read(plain)).digest
    assert any(
        note.startswith("delay_later: delays in words are numbers of days") for note in found.notes
    )
    weeks = read(said, stimulus={"delay_unit": "weeks"})
    assert only(weeks).stimuli["delays_days"] == pytest.approx(only(found).stimuli["delays_days"])


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"amount_later": lambda cells: ["$5" if i % 2 else "5 €" for i in range(len(cells))]},
         r"amount_later is '5 €' or '\$5', which is no number; write numbers alone"),
        ({"amount_sooner": lambda c: [f"${x}" for x in c], "amount_later": lambda c: [f"{x} €" for x in c]},
         r"amount_sooner is in \$ and amount_later in €\. Bring both into one currency"),
        ({"amount_later": lambda cells: [f"{cell} apples" for cell in cells]}, "which is no number"),
        ({"delay_later": lambda cells: ["soon"] * len(cells)}, "delay_later is 'soon', which is no number"),
        ({"delay_later": lambda cells: [f"{c} days" if i else "7" for i, c in enumerate(cells)]}, "is no number"),
    ],
)  # fmt: skip
def test_units_that_are_not_certain_are_refused(cells: Any, words: str) -> None:
    _, frame = changed(**cells)
    with pytest.raises(TrialsError, match=words):
        read(frame)


def test_per_cent_are_shares_and_times_have_their_unit() -> None:
    rows = pd.DataFrame(
        {
            "subject": np.repeat(["a", "b", "c"], 20),
            "choice": np.tile([0, 1, 1, 0, 1], 12),
            "a_x1": 10, "a_p1": "100%",
            "b_x1": 30, "b_p1": [f"{40 + place} %" for place in range(60)], "b_x2": 0,
            "b_p2": [f"{60 - place},0 %" for place in range(60)],
            "rt": [f"{0.5 + place / 100:.2f} s" for place in range(60)],
        }
    )  # fmt: skip
    found = read(rows, time_window=(0.6, 5.0))
    trials = only(found)
    assert trials.n_responses == 50
    assert trials.stimuli["probabilities"][:, 1].max(axis=1).min() == pytest.approx(0.5)
    assert any(note == "b_p2: per cent are read as shares of 1" for note in found.notes)


@pytest.mark.parametrize(
    ("separator", "mark"), [(";", "."), (";", ","), (",", ","), (",", "."), ("\t", ".")]
)
def test_columns_that_hold_thousands_alone_are_a_question(
    separator: str, mark: str, tmp_path: Path
) -> None:
    plain, _ = changed()
    grouped = plain.assign(
        amount_sooner=[f"{cell}{mark}000" for cell in plain["amount_sooner"]],
        amount_later=[f"{cell}{mark}500" for cell in plain["amount_later"]],
    )
    file = tmp_path / "answers.csv"
    grouped.to_csv(file, index=False, sep=separator)
    with pytest.raises(
        ImplausibleError, match=r"thousands, or numbers with three decimals.*1000 \* amount"
    ):
        read(file)
    stimulus = {"amounts": ["1000 * amount_sooner", "1000 * amount_later"]}
    as_thousands = read(file, stimulus=stimulus, accept="unusual_amounts")
    as_decimals = read(file, accept=["three_decimals"])
    wanted = plain.assign(amount_later=plain["amount_later"] + 0.5)
    assert only(as_decimals).digest == only(read(wanted)).digest
    assert only(as_thousands).stimuli["amounts"] == pytest.approx(
        1000 * only(as_decimals).stimuli["amounts"]
    )


def test_thousands_beside_decimals_are_certain(tmp_path: Path) -> None:
    plain, _ = changed()
    plain = plain.assign(amount_later=plain["amount_later"] * 100 + 0.25)
    german = plain.assign(
        amount_later=[
            f"{cell:,.2f}".translate(str.maketrans(",.", ".,")) for cell in plain["amount_later"]
        ]
    )
    file = tmp_path / "answers.csv"
    german.to_csv(file, index=False, sep=";")
    found = read(file)
    assert only(found).digest == only(read(plain)).digest
    assert "points in amount_later group thousands, and commas begin decimals" in found.notes


def test_a_file_without_participants_is_of_one_if_the_user_says_so() -> None:
    frame = delays(np.random.default_rng(3)).frame
    one = frame[frame["subject"] == frame["subject"].iloc[0]].drop(columns="subject")
    with pytest.raises(TrialsError, match=r"which column.*participant.*--accept one_participant"):
        read(one)
    found = read(one, accept=["one_participant"])
    assert (only(found).n_people, only(found).n_responses) == (1, len(one))
    assert f"accepted (one_participant): all {len(one)} rows are of one participant" in found.notes
    several = read(frame, accept=["one_participant"])  # a column that names them goes before
    assert only(several).n_people > 1


def test_a_minus_sign_of_unicode_is_read_as_minus(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("Betrag;Text\n63,00;\u2212\n\u221249,50;a \u2212 b\n", encoding="utf-8")
    table = read_answers(file)
    assert table.frame["Betrag"].tolist() == ["63.00", "-49.50"]
    assert table.frame["Text"].tolist() == ["\u2212", "a \u2212 b"]
    assert "the minus sign U+2212 in Betrag is read as -" in table.notes
