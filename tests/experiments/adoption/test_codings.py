"""The same answers in another coding, unit or order are read the same, or refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Trials

MONEY = pd.DataFrame(
    {
        "person": ["anna"] * 4 + ["bea"] * 4,
        "amount_sooner": [5, 4, 5, 4] * 2,
        "amount_later": [10, 9, 12, 8] * 2,
        "delay_sooner": [0] * 8,
        "delay_later": [30, 7, 60, 14] * 2,
        "choice": [1, 0, 1, 1, 0, 0, 1, 0],
    }
)
GAMBLES = pd.DataFrame(
    {
        "person": MONEY["person"],
        "a_x": [3, 4, 5, 6] * 2,
        "a_p": [1.0] * 8,
        "b_x1": [9, 8, 7, 20] * 2,
        "b_p1": [0.5, 0.6, 0.9, 0.2] * 2,
        "b_x2": [0, 1, 2, 0] * 2,
        "b_p2": [0.5, 0.4, 0.1, 0.8] * 2,
        "choice": MONEY["choice"],
    }
)
STEPS = pd.DataFrame(
    {
        "person": ["anna"] * 6 + ["bea"] * 6,
        "block": [1, 1, 1, 2, 2, 2] * 2,
        "trial": [1, 2, 3, 1, 2, 3] * 2,
        "choice": [1, 2, 2, 1, 1, 2, 2, 2, 1, 2, 1, 1],
        "outcome": [1.0, 0.0, 0.25, 1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 1.0],
    }
)
MARKS = ["n/a", ".", "NA", "na", "NaN", "#N/A", "null", "None", "none", "-", "<NA>", " n/a "]


def read(text: str | pd.DataFrame, folder: Path, domain: str = "", **said: Any) -> AdoptedAnswers:
    """What a file is read as, by guessed meanings of columns and those that are said."""
    file = folder / "answers.csv"
    file.write_text(text if isinstance(text, str) else text.to_csv(index=False))
    return read_file(file, domain, **said)


def read_file(file: Path, domain: str = "", **said: Any) -> AdoptedAnswers:
    table = read_answers(file)
    found = describe_table(table, DOMAINS[domain] if domain else None).with_columns(said)
    return adopt(table, found.mapping, DOMAINS[domain or found.domain])


def only(found: AdoptedAnswers) -> Trials:
    (trials,) = found.trials
    return trials


@pytest.mark.parametrize("frame", [MONEY, GAMBLES], ids=["money and delay", "gambles"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_a_missing_answer_is_an_empty_cell(
    frame: pd.DataFrame, mark: str, tmp_path: Path
) -> None:
    plain = frame.assign(choice=[*map(str, frame["choice"][:-1]), ""])
    marked = plain.assign(choice=[*plain["choice"][:-1], mark])
    wanted, found = read(plain, tmp_path), read(marked, tmp_path)
    assert only(found).digest == only(wanted).digest
    assert only(found).n_responses == 7
    assert any(
        f"1 cells that say {mark.strip()} are taken as empty" in line for line in found.notes
    )


def test_none_is_a_word_among_words() -> None:
    frame = pd.DataFrame({"condition": ["none", "congruent"], "n": ["none", "2"]}, dtype=str)
    from lakatos.experiments.adoption.tables import table_of_frame

    found = table_of_frame("t", frame).frame
    assert found["condition"].tolist() == ["none", "congruent"]
    assert found["n"].tolist() == ["", "2"]


def test_gaps_among_decimal_commas_leave_them_decimal_commas(tmp_path: Path) -> None:
    found = read_answers(written(tmp_path, "p;x\n0,25;1,0\nn/a;.\n0,5;0,0\n")).frame
    assert found["p"].tolist() == ["0.25", "", "0.5"]
    assert found["x"].tolist() == ["1", "", "0"]


def written(folder: Path, text: str) -> Path:
    file = folder / "answers.csv"
    file.write_text(text)
    return file


CODES: dict[str, Callable[[int], Any]] = {
    "1.0 and 0.0": float,
    "-1 and 1": lambda chosen: 2 * chosen - 1,
    "-1.0 and 1.0": lambda chosen: 2.0 * chosen - 1,
    "1 and 2": lambda chosen: chosen + 1,
    "1.0 and 2.0": lambda chosen: chosen + 1.0,
    "+1 and -1": lambda chosen: "+1" if chosen else "-1",
    "TRUE and FALSE": lambda chosen: str(bool(chosen)).upper(),
}


@pytest.mark.parametrize("frame", [MONEY, GAMBLES], ids=["money and delay", "gambles"])
@pytest.mark.parametrize("code", CODES)
def test_two_options_may_be_coded_in_many_ways_with_gaps(
    frame: pd.DataFrame, code: str, tmp_path: Path
) -> None:
    wanted = read(frame.assign(choice=[*map(str, frame["choice"][:-1]), ""]), tmp_path)
    found = read(
        frame.assign(choice=[*map(CODES[code], frame["choice"][:-1]), ""]).astype(str), tmp_path
    )
    assert only(found).digest == only(wanted).digest
    if "-1" in code:
        assert "choice: -1 is taken for the first option and 1 for the second" in found.notes


@pytest.mark.parametrize("codes", [(-1, 0, 1), (0, 1, 2)])
def test_codes_that_can_be_read_in_two_ways_are_refused_with_both(
    codes: tuple[int, ...], tmp_path: Path
) -> None:
    rows = MONEY.assign(choice=[*codes, *codes, *codes[:2]])
    for bad_rows in ("leave_out_empty", "leave_out"):
        with pytest.raises(
            TrialsError, match=r"0 may be an option, or an answer that was missed. .* responses"
        ):
            read(rows, tmp_path, bad_rows=bad_rows)
    code = {str(codes[0]): 0, str(codes[2]): 1} if codes[0] else {"1": 0, "2": 1}
    found = only(read(rows, tmp_path, bad_rows="leave_out", responses=code))
    assert found.n_responses == 5


@pytest.mark.parametrize(
    ("column", "first_is_one"),
    [
        ("chose_now", True), ("chose_sooner", True), ("immediate_chosen", True), ("chose_later", False),
        ("choseDelayed", False), ("LaterOptionChosen", False), ("choice", False), ("first_choice", False),
        ("chose_first", True),
    ],
)  # fmt: skip
def test_a_column_that_names_an_option_says_one_where_it_was_chosen(
    column: str, first_is_one: bool, tmp_path: Path
) -> None:
    wanted = only(read(MONEY, tmp_path))
    told = 1 - MONEY["choice"] if first_is_one else MONEY["choice"]
    renamed = MONEY.assign(choice=told).rename(columns={"choice": column})
    found = read(renamed, tmp_path, response=column)
    assert only(found).response.tolist() == wanted.response.tolist()
    assert any("which the column's name names" in line for line in found.notes) == (
        column not in ("choice", "first_choice")
    )
    turned = {"amounts": ["amount_later", "amount_sooner"], "delays_days": ["delay_later", 0]}
    other = only(read(renamed, tmp_path, response=column, stimulus=turned))
    if column not in ("choice", "first_choice", "chose_first"):
        assert other.response.tolist() == (1 - wanted.response).tolist()


@pytest.mark.parametrize(
    ("said", "cells"),
    [*itertools.product([1, 1.0, "1", "1.0", [1, 3]], ["1", "1.0"]), (True, "True"), (True, "1")],
)
def test_numbers_may_say_which_rows_count(said: Any, cells: str, tmp_path: Path) -> None:
    rows = MONEY.assign(part=[cells, "0", cells, "0"] * 2)
    assert only(read(rows, tmp_path, where={"part": said})).n_responses == 4


def test_delays_have_the_unit_that_their_columns_names_say(tmp_path: Path) -> None:
    wanted = only(read(MONEY, tmp_path))
    weeks = MONEY.assign(delay_later=MONEY["delay_later"] / 7).rename(
        columns={"delay_later": "delay_later_weeks", "delay_sooner": "delay_sooner_weeks"}
    )
    found = only(read(weeks, tmp_path)).stimuli["delays_days"]
    assert found == pytest.approx(wanted.stimuli["delays_days"])


@pytest.mark.parametrize("name", ["share_sooner", "choose_A", "prop_first"])
def test_shares_that_are_called_those_of_the_first_option_are_refused(
    name: str, tmp_path: Path
) -> None:
    shares = MONEY.head(4).drop(columns=["person", "choice"]).assign(n=10, **{name: 0.3})
    with pytest.raises(TrialsError, match="If they are of the first, give 1 minus each"):
        read(shares, tmp_path, count="n", share=name, participant="", response="")
    other = shares.rename(columns={name: "share_later"})
    found = read(other, tmp_path, count="n", share="share_later", participant="", response="")
    assert only(found).counts[0, 0].tolist() == [7, 3]


# Learning -------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [100.0, 0.01, 37.0, 1 / 3])
def test_rewards_in_another_unit_are_the_same_answers(factor: float, tmp_path: Path) -> None:
    wanted = only(read(STEPS, tmp_path, "learning"))
    found = read(STEPS.assign(outcome=STEPS["outcome"] * factor), tmp_path, "learning")
    assert only(found).digest == wanted.digest
    assert any("rewards are divided by" in line for line in found.notes)


def test_rewards_of_several_experiments_have_one_unit(tmp_path: Path) -> None:
    rows = STEPS.assign(study=["s1"] * 6 + ["s2"] * 6, outcome=STEPS["outcome"] * 10)
    rows.loc[6:, "outcome"] *= 0.5
    found = read(rows, tmp_path, "learning", experiment="study").trials
    assert [float(item.feedback["reward"].max()) for item in found] == [1.0, 0.5]


def test_numbers_of_trials_that_begin_anew_keep_the_order_of_the_file(tmp_path: Path) -> None:
    wanted = only(read(STEPS.drop(columns=["trial"]), tmp_path, "learning"))
    found = read(STEPS, tmp_path, "learning")
    assert only(found).digest == wanted.digest
    assert any("trial says the same in several rows of a person" in line for line in found.notes)
    table = describe_table(read_answers(tmp_path / "answers.csv"), DOMAINS["learning"])
    assert any(line.startswith("trial: the same number in several rows") for line in table.odd)


@pytest.mark.parametrize("seed", range(3))
def test_rows_in_any_order_are_put_in_that_of_blocks_and_trials(seed: int, tmp_path: Path) -> None:
    wanted = only(read(STEPS, tmp_path, "learning"))
    first = [row for row in STEPS.index if row in (0, 6)]  # people are numbered as they come
    rest = np.random.default_rng(seed).permutation([row for row in STEPS.index if row not in first])
    found = read(STEPS.loc[[*first, *rest]], tmp_path, "learning")
    assert only(found).digest == wanted.digest


@pytest.mark.parametrize("order", [["person", "trial"], ["trial", "person"]])
def test_rows_whose_order_nobody_knows_are_refused(order: list[str], tmp_path: Path) -> None:
    mixed = STEPS.sort_values(order, kind="stable").drop(columns=["block"])
    with pytest.raises(
        TrialsError, match=r"nobody knows what came before. .*name a column .*order="
    ):
        read(mixed, tmp_path, "learning")
    # rows that grow in another order than that of the trials, with no number twice, are sorted by them
    once = STEPS.assign(trial=[1, 2, 3, 4, 5, 6] * 2).drop(columns=["block"])
    wanted = only(read(once, tmp_path, "learning"))
    assert (
        only(
            read(once.iloc[::-1].sort_values("person", kind="stable"), tmp_path, "learning")
        ).digest
        == wanted.digest
    )


@pytest.mark.parametrize("again", [3, 2])
def test_a_single_number_of_a_trial_that_comes_again_is_refused(again: int, tmp_path: Path) -> None:
    once = STEPS.drop(columns=["block"]).assign(trial=[1, 2, 3, 4, 5, 6] * 2)
    wrong = once.assign(trial=once["trial"].where(once.index != 3, again))
    with pytest.raises(
        TrialsError, match=r"it does not begin anew in row 5, .*nobody knows what came before"
    ):
        read(wrong, tmp_path, "learning")
    # Numbers that begin anew after a first trial that was left out go over two others again.
    later = once.assign(trial=[1, 2, 3, 2, 3, 4] * 2)
    wanted = only(read(once, tmp_path, "learning"))
    assert only(read(later, tmp_path, "learning")).digest == wanted.digest


def test_equal_rows_are_no_copies_where_numbers_of_trials_begin_anew(tmp_path: Path) -> None:
    rows = STEPS.drop(columns=["block"]).assign(outcome=1.0)
    found = read(rows, tmp_path, "learning", feedback={"reward": "outcome"})
    assert only(found).n_responses == len(STEPS)
    assert any("counted as answers" in line for line in found.notes)


def test_codes_are_those_of_the_whole_file_not_of_one_experiment(tmp_path: Path) -> None:
    rows = STEPS.assign(study=["s1"] * 6 + ["s2"] * 6, choice=[1, 2, 3, 1, 3, 2, 2, 1, 2, 1, 2, 1])
    first, second = read(rows, tmp_path, "learning", experiment="study").trials
    assert first.response.tolist() == [0, 1, 2, 0, 2, 1]
    assert second.response.tolist() == [1, 0, 1, 0, 1, 0]
    assert second.n_options == 3
    with pytest.raises(TrialsError, match="numbered from 0 or from 1"):
        read(rows, tmp_path, "learning", stimulus={"options": 4})


def test_marks_of_missed_responses_lie_outside_of_answers_and_many_numbers_have_none(
    tmp_path: Path,
) -> None:
    said = {"responses": {}, "stimulus": {"options": 2}}
    with pytest.raises(TrialsError, match=r"missing\.choice=7 "):
        read(STEPS.assign(choice=[0, 1, 7, 7] * 2 + [0, 1, 2, 7]), tmp_path, "learning", **said)
    with pytest.raises(TrialsError, match=r"says 6 numbers from 0 to 5, and .* 2 opt") as refused:
        read(STEPS.assign(choice=[0, 2, 1, 3, 5, 4] * 2), tmp_path, "learning", **said)
    assert "missing" not in str(refused.value)
    assert "responses." not in str(refused.value)


def test_a_rare_zero_is_asked_about(tmp_path: Path) -> None:
    rows = pd.concat([STEPS, STEPS.assign(trial=STEPS["trial"] + 3)]).sort_values(
        "person", kind="stable"
    )
    rows["choice"] = [0, *rows["choice"][1:]]
    with pytest.raises(TrialsError, match=r"0 is in 4% of rows only.*missing\.choice=0"):
        read(rows, tmp_path, "learning")
    odd = describe_table(read_answers(tmp_path / "answers.csv"), DOMAINS["learning"]).odd
    assert any("0 is in 4% of rows only. Is it an option" in line for line in odd)
    with pytest.raises(TrialsError, match="0 may be an option, or an answer that was missed"):
        read(rows, tmp_path, "learning", stimulus={"options": 2})
    code: dict[str, Any] = {"stimulus": {"options": 2}, "responses": {"1": 0, "2": 1}}
    found = read(rows, tmp_path, "learning", bad_rows="leave_out", **code)
    assert (only(found).n_options, only(found).n_responses) == (2, 23)


@pytest.mark.parametrize(("mark", "n_options"), [(-999, 2), (99, 2), (-1, 2), (2, 3)])
def test_a_number_outside_of_the_row_of_options_is_no_option(
    mark: int, n_options: int, tmp_path: Path
) -> None:
    rows = STEPS.assign(choice=[0, 1] * 6)
    rows.loc[4, "choice"] = mark
    (tmp_path / "answers.csv").write_text(rows.to_csv(index=False))
    table = read_answers(tmp_path / "answers.csv")
    guessed = describe_table(table, DOMAINS["learning"]).mapping.stimulus["options"]
    assert guessed == n_options
    if mark != 2:
        with pytest.raises(TrialsError, match=f"{mark}"):
            read(rows, tmp_path, "learning")


def test_a_first_line_of_excel_names_the_separator_and_is_no_row(tmp_path: Path) -> None:
    plain = read_answers(written(tmp_path, "p;x\n0,25;1,0\n0,5;0,0\n"))
    named = read_answers(written(tmp_path, "sep=;\np;x\n0,25;1,0\n0,5;0,0\n"))
    assert named.frame.reset_index(drop=True).equals(plain.frame.reset_index(drop=True))
    assert named.frame.index.tolist() == [3, 4]  # rows as the file counts them
    comma = read_answers(written(tmp_path, "sep=,\np,x\n1,2\n"))
    assert comma.frame.columns.tolist() == ["p", "x"]
    with pytest.raises(TrialsError):
        read_answers(written(tmp_path, "sep=;\n"))


# Files as they are found ----------------------------------------------------------------------


def test_a_file_of_the_brain_imaging_form_is_read_with_its_gaps(odd_files: Path) -> None:
    found = read_file(odd_files / "na_lower_case.csv")
    assert found.trials[0].n_responses == 56
    assert any("8 cells that say n/a" in line for line in found.notes)
    assert "4 rows are left out: correct or rt is empty" in " ".join(found.about_rows)


def test_answers_are_read_alike_whatever_their_codes(odd_files: Path) -> None:
    names = ("codes_minus1_1", "codes_as_floats", "chose_now_01", "delay_in_weeks_by_name")
    signs, floats, now, weeks = (only(read_file(odd_files / f"{name}.csv")) for name in names)
    assert signs.digest == now.digest
    assert floats.n_responses == signs.n_responses - 2
    assert weeks.response.tolist() == signs.response.tolist()
    assert weeks.stimuli["delays_days"] == pytest.approx(signs.stimuli["delays_days"])


def test_points_and_trials_that_begin_anew_are_read_as_they_are_meant(
    odd_files: Path, tmp_path: Path
) -> None:
    points = pd.read_csv(odd_files / "reward_in_points.csv")
    shares = points.assign(outcome=points["outcome"] / 100)
    own, other = (only(read(rows, tmp_path, "learning")) for rows in (points, shares))
    assert own.digest == other.digest
    file = odd_files / "trial_restarts_in_block.csv"
    rows = pd.read_csv(file)
    assert only(read_file(file, "learning")).response.tolist() == (rows["choice"] - 1).tolist()


def test_a_mapping_keeps_numbers_as_cells() -> None:
    columns = AnswerColumns(where={"part": 2, "x": [1.0, "b"]}, responses={1: 0, 2.0: 1})  # type: ignore[dict-item]
    assert columns.where == {"part": "2", "x": ("1", "b")}
    assert columns.responses == {"1": 0, "2": 1}


def test_a_participant_called_na_is_asked_for(tmp_path: Path) -> None:
    """Otherwise the rows of a participant with this identifier would be left out."""
    named = pd.concat(
        [MONEY, MONEY.assign(person=MONEY["person"].map({"anna": "NA", "bea": "cleo"}))]
    )
    with pytest.raises(TrialsError, match=r"person is NA in rows 10, 11, 12 and 13"):
        read(named, tmp_path)
    left = only(read(named, tmp_path, accept="unknown_participants"))
    assert (left.n_participants, left.n_responses) == (3, 12)


def test_a_key_that_is_never_right_is_asked_for(tmp_path: Path) -> None:
    """It may stand for a missed trial; as a third key it would change what chance is."""
    text = "subject,congruence,correct_key,key,rt\n" + "".join(
        f"P{row % 2},congruent,{'fj'[row // 2 % 2]},{'fj'[row // 2 % 2]},{400 + row}\n"
        for row in range(12)
    )
    rows = text + "P1,incongruent,f,9,512\nP1,incongruent,j,j,530\n"
    with pytest.raises(
        TrialsError, match=r"row 14: key is '9', which is the right key in no row \(1 row in all\)"
    ):
        read(rows, tmp_path)
    assert only(read(rows, tmp_path, missing={"key": "9"})).n_responses == 13


def test_a_number_beside_right_and_wrong_is_asked_for(tmp_path: Path) -> None:
    text = "subject,congruence,correct,rt\n" + "".join(
        f"P{row % 2},{('congruent', 'incongruent')[row // 2 % 2]},1,{400 + row}\n"
        for row in range(12)
    )
    rows = text + "P1,incongruent,0,512\nP1,incongruent,999,999\n"
    with pytest.raises(TrialsError, match="response"):
        read(rows, tmp_path, domain="attention")
    assert only(read(rows, tmp_path, "attention", missing=["999"])).n_responses == 13


def test_amounts_whose_names_say_cents_are_hundredths(tmp_path: Path) -> None:
    wanted = only(read(MONEY, tmp_path))
    names = {name: f"{name}_cents" for name in ("amount_sooner", "amount_later")}
    cents = MONEY.assign(**{name: 100 * MONEY[name] for name in names}).rename(columns=names)
    assert only(read(cents, tmp_path)).digest == wanted.digest
    half = MONEY.assign(amount_later=100 * MONEY["amount_later"]).rename(
        columns={"amount_later": "amount_later_cents"}
    )
    with pytest.raises(TrialsError, match="amount_unit"):
        read(half, tmp_path)


def test_blanks_around_a_cell_do_not_keep_its_row_from_counting(tmp_path: Path) -> None:
    rows = MONEY.assign(phase=[" main "] * 6 + ["practice"] * 2)
    assert only(read(rows, tmp_path, where={"phase": "main"})).n_responses == 6


FLIPS = pd.DataFrame(
    {
        "person": ["anna"] * 4 + ["bea"] * 4,
        "sequence_a": ["HTTH", "HHHH", "HTHT", "TTH"] * 2,
        "sequence_b": ["TTTT", "HTH", "HHTT", "THTHT"] * 2,
        "choice": [0, 1, 1, 0, 1, 1, 0, 1],
    }
)


@pytest.mark.parametrize("name", ["choice", "chosen", "pick"])
@pytest.mark.parametrize("side", ["sequence_a", "sequence_b"])
def test_a_comparison_with_a_column_of_an_option_is_that_option(
    name: str, side: str, tmp_path: Path
) -> None:
    second = FLIPS["choice"] == 1
    repeated = FLIPS["sequence_a"].where(~second, FLIPS["sequence_b"])
    frame = FLIPS.drop(columns="choice").assign(**{name: repeated})
    found = read(frame, tmp_path, response=f"{name} == {side}")
    assert only(found).digest == only(read(FLIPS, tmp_path)).digest


def test_responses_that_repeat_an_option_are_refused_with_the_comparison(tmp_path: Path) -> None:
    repeated = FLIPS["sequence_a"].where(FLIPS["choice"] == 0, FLIPS["sequence_b"])
    with pytest.raises(TrialsError, match='--column "response=pick == sequence_b"'):
        read(FLIPS.drop(columns="choice").assign(pick=repeated), tmp_path, response="pick")
