"""Files of programs for experiments: tables of z-Tree, files without a header, ranks of rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import bandits, delays, only, read

from lakatos.experiments.adoption.column_meanings import _is_of_practice
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.expression import ColumnExpression
from lakatos.experiments.adoption.own_tasks import own_task_in_words
from lakatos.experiments.adoption.signatures import ColumnSignature, ranks_rows, table_signature
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.adoption.z_tree import is_z_tree, read_z_tree
from lakatos.experiments.errors import TrialsError


def z_tree(sessions: tuple[str, ...] = ("240513_1012",)) -> str:
    """Gifts of eight participants in two groups of four, in five periods."""
    rng, lines = np.random.default_rng(4), []
    for session in sessions:
        for period in range(1, 6):
            start = f"{session}\t1"
            lines += [
                f"{start}\tglobals\tPeriod\tEndowment\tFactor\t",
                f"{start}\tglobals\t{period}\t20\t1.6\t",
            ]
            lines.append(
                f"{start}\tsubjects\tPeriod\tSubject\tGroup\tProfit\tContribution\tTimeOKContributionOK"
            )
            gifts = rng.integers(0, 21, 8)
            for who, gift in enumerate(gifts):
                group = who // 4
                profit = 20 - gift + 1.6 * gifts[4 * group : 4 * group + 4].sum() / 4
                lines.append(
                    f"{start}\tsubjects\t{period}\t{who + 1}\t{group + 1}\t{profit:g}\t{gift}\t{30 + who}"
                )
        lines += [f"{session}\t1\tsession\tSubject\tFinalProfit", f"{session}\t1\tsession\t1\t99"]
    return "\r\n".join(lines) + "\r\n"


def test_the_tables_of_subjects_are_read_with_the_globals_of_their_period(tmp_path: Path) -> None:
    for name in ("240513_1012.xls", "240513_1012.txt"):
        file = tmp_path / name
        file.write_text(z_tree())
        table = read_answers(file)
        assert len(table.frame) == 40
        assert set(table.frame["Endowment"]) == {"20"}
        assert "tables that are not read: session (1 rows)" in table.notes
        found = describe_table(table)
        assert (found.domain, found.mapping.response) == ("public_goods", "Contribution")
        stimulus = found.mapping.stimulus
        assert (stimulus["group_size"], stimulus["multiplier"], stimulus["endowment"]) == (
            4,
            1.6,
            20,
        )
        assert only(read(file)).n_responses == 40


def test_subjects_of_two_sessions_are_others() -> None:
    text = z_tree(("240513_1012", "240514_0900"))
    frame, _ = read_z_tree("a.xls", text.splitlines())
    assert frame["Subject"].nunique() == 16
    assert not is_z_tree("session\ttreatment\tsubjects\tPeriod")
    with pytest.raises(
        TrialsError, match=r"line 3 of the table 'subjects' has 2 cells and its header 1"
    ):
        read_z_tree(
            "a.xls", ["1\t1\tglobals\tPeriod", "1\t1\tsubjects\tPeriod", "1\t1\tsubjects\t1\t2"]
        )
    with pytest.raises(TrialsError, match=r"without a table of subjects"):
        read_z_tree("a.xls", ["1\t1\tglobals\tPeriod", "1\t1\tglobals\t1"])


def test_a_first_row_of_numbers_is_no_header(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("1,0,1,nan\n1,1,0,2\n")
    with pytest.raises(
        TrialsError, match=r"no header. Write a first row with a name for each of its 4 columns"
    ):
        read_answers(file)


def test_a_rank_orders_rows_that_stand_in_another_order() -> None:
    rng = np.random.default_rng(3)
    frame = delays(rng).frame
    mixed = frame.rename(columns={"trial": "Rang"}).sample(frac=1, random_state=1)
    assert describe_table(table_of_frame("a.csv", mixed)).mapping.order == "Rang"
    numbers = ColumnSignature("rank", pd.Series(["2", "1", "3", "4", "4", "1", "2", "3"]))
    assert ranks_rows(numbers, np.repeat([0, 1], 4))
    assert not ranks_rows(numbers, np.zeros(8, dtype=np.int64))


def test_a_train_is_no_practice_where_every_row_says_something() -> None:
    frame = pd.DataFrame({"left_train": ["0", "1"], "train_rt": ["", "1"], "practice": ["0", "1"]})
    assert [_is_of_practice(frame, name) for name in frame.columns] == [False, True, True]


def test_what_is_kept_of_an_endowment_is_a_task_of_ones_own() -> None:
    kept = [str(k % 8) for k in range(12)]
    frame = pd.DataFrame({"kept": kept, "endowment": ["10"] * 12})
    words = own_task_in_words(table_signature(frame, {}))
    assert words.startswith("kept seems to be what is kept out of endowment")


def test_none_may_be_an_answer_of_a_choice_among_several(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    rows = ["id,choice,alt1_price,alt2_price,alt3_price"]
    rows += [f"{k // 4},{['1', '2', '3', 'none'][k % 4]},{k},{k + 1},{k + 2}" for k in range(40)]
    file.write_text("\n".join(rows) + "\n")
    (doubt,) = describe_table(read_answers(file)).doubts
    assert "choice says none in some rows, which are read as empty" in doubt


def test_expressions_compute_with_names_that_programs_write() -> None:
    columns = ["values.gain", "values.loss", "loss (EUR)", "key_resp.keys", "later_side", "gain"]
    for text, named in (
        ("values.gain + values.loss", ("values.gain", "values.loss")),
        ("-loss (EUR)", ("loss (EUR)",)),
        ("key_resp.keys == later_side", ("key_resp.keys", "later_side")),
        ("gain - values.loss", ("gain", "values.loss")),
    ):
        assert ColumnExpression(text, [*columns, text]).columns == named
    computed = ColumnExpression("gain - 2 * values.loss", columns)
    numbers = {"gain": np.array([5.0]), "values.loss": np.array([1.5])}
    assert computed.value(numbers).tolist() == [2.0]
    with pytest.raises(ValueError, match="no column"):
        ColumnExpression("values.other + gain", columns)


def test_positive_losses_are_losses_under_any_name() -> None:
    rng, n = np.random.default_rng(2), 120
    frame = pd.DataFrame({"subject": np.repeat(np.arange(6), 20)})
    frame["gain (EUR)"], frame["loss (EUR)"] = rng.integers(10, 40, n), rng.integers(5, 20, n)
    value = frame["gain (EUR)"] / 2 - frame["loss (EUR)"]
    frame["decision"] = np.where(rng.random(n) < 1 / (1 + np.exp(-value / 3)), "accept", "reject")
    found = only(read(frame))
    shown = found.stimuli["outcomes"][found.trial]
    assert shown.min(axis=(1, 2)).tolist() == (-frame["loss (EUR)"]).tolist()


def test_pages_of_keys_in_a_folder_name_the_later_option_by_its_side(tmp_path: Path) -> None:
    frame = delays(np.random.default_rng(3)).frame
    is_left = np.arange(len(frame)) % 3 == 0
    keys = np.where(is_left == (frame["choice"] == 1), "left", "right")
    made = frame.assign(later_side=np.where(is_left, "left", "right"))
    made = made.assign(**{"key_resp.keys": keys}).drop(columns="choice")
    assert only(read(made)).response.tolist() == only(read(frame)).response.tolist()


def test_rows_without_a_response_are_no_copies() -> None:
    frame = bandits(np.random.default_rng(1)).frame.drop(columns="trial").astype(str)
    feedback = frame.assign(choice="", reward="").drop_duplicates()
    both = pd.concat([frame, feedback, feedback, feedback])
    notes = read(both).about_rows
    alone = read(frame).about_rows
    told = [line for line in notes if "equal to an earlier one" in line]
    assert told == [line for line in alone if "equal to an earlier one" in line]


def test_a_session_label_of_an_eye_tracker_names_participants() -> None:
    frame = bandits(np.random.default_rng(1)).frame.rename(columns={"subject": "SESSION_LABEL"})
    assert describe_table(table_of_frame("a.csv", frame)).mapping.participant == "SESSION_LABEL"
