"""Names of options in names of columns, cells that are empty for a reason, and rows and codes that are no responses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reading import conflicts, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError


def _described(frame: pd.DataFrame) -> TableDescription:
    return describe_table(table_of_frame("answers.csv", frame))


def _people(n_people: int, n_trials: int) -> pd.DataFrame:
    return pd.DataFrame({
        "subject": np.repeat([f"P{who}" for who in range(n_people)], n_trials),
        "trial": np.tile(np.arange(1, n_trials + 1), n_people),
    })  # fmt: skip


def test_cells_of_a_response_that_begin_names_of_columns_are_the_options() -> None:
    rng = np.random.default_rng(1)
    frame, worth = _people(4, 30), []
    for colour in ("orange", "violet"):
        chance, win, rest = (rng.integers(*ends, 120) for ends in ((1, 10), (8, 60), (0, 8)))
        frame[f"{colour}_chance"] = [f"{10 * own} %" for own in chance]
        frame[f"{colour}_win"] = [f"€{own},00" for own in win]
        frame[f"{colour}_else"] = [f"€{own},00" for own in rest]
        worth.append(chance / 10 * win + (1 - chance / 10) * rest)
    chose = (worth[1] - worth[0] + rng.normal(0, 4, 120) > 0).astype(int)
    frame["chosen_colour"] = np.array(["orange", "violet"])[chose]
    found = _described(frame)
    assert (found.domain, found.mapping.responses) == ("risky", {"orange": 0, "violet": 1})
    assert only(read(frame)).response.tolist() == chose.tolist()
    # Another cell is refused by its row; it is no third option of steps that bring rewards.
    frame.loc[3, "chosen_colour"] = "timeout"
    with pytest.raises(TrialsError, match=r"missing\.chosen_colour=timeout"):
        read(frame)
    assert only(read(frame, missing={"chosen_colour": ["timeout"]})).n_responses == 119


def test_numbered_columns_that_may_be_amounts_or_times_are_asked_about() -> None:
    rng = np.random.default_rng(2)
    frame = _people(6, 30).rename(columns={"subject": "v1", "trial": "v2"})
    soon, wait = rng.integers(4, 28, 180), rng.choice([1.0, 2.0, 12.0, 26.0], 180)
    later = rng.random(180) < 1 / (1 + np.exp(0.5 * (soon - 30 / (1 + 0.14 * wait))))
    frame = frame.assign(v3=soon, v4=30, v5_weeks=wait, v6=later.astype(int))
    frame["v7"] = rng.lognormal(0, 0.3, 180).round(4)
    found = _described(frame)
    assert found.mapping.stimulus["amounts"] == "?"
    (line,) = [line for line in found.odd if "names do not say which of v3, v7, v4" in line]
    for pair in (["v3", "v4"], ["v7", "v3"], ["v7", "v4"]):
        assert f"--column 'amounts={json.dumps(pair)}'" in line
    stimuli = only(read(frame, stimulus={"amounts": ["v3", "v4"]})).stimuli
    assert set(stimuli["amounts"][:, 1]) == {30.0}
    said = found.with_columns({"stimulus": {"amounts": ["v3", "v4"]}})
    assert line not in said.odd


def _withheld() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = _people(4, 40)
    cue = rng.integers(1, 5, 160)
    go = rng.random(160) < np.where(np.isin(cue, [1, 2]), 0.85, 0.3)
    won = rng.random(160) < np.where(go == np.isin(cue, [1, 3]), 0.8, 0.2)
    return frame.assign(
        cue=cue, keyPressed=np.where(go, "space", ""), outcome=np.where(cue < 3, won, won - 1.0)
    )


def test_an_empty_cell_beside_one_key_may_be_a_response_that_was_withheld() -> None:
    frame = _withheld()
    found = _described(frame)
    assert (found.domain, found.mapping.response) == ("learning", "keyPressed")
    assert found.mapping.stimulus["go"] == "?"
    assert any("if an empty cell is" in line and "--column go=space" in line for line in found.odd)
    trials = only(read(frame, stimulus={"go": "space"}))
    assert trials.response.tolist() == (frame["keyPressed"] == "space").astype(int).tolist()
    # A row that shows no cue is no trial.
    frame = frame.astype(str)
    frame.loc[0, ["cue", "outcome", "keyPressed"]] = ""
    assert only(read(frame, stimulus={"go": "space"})).n_responses == 159


def test_a_cell_that_stands_for_responding_is_one_of_the_responses() -> None:
    frame = _withheld()
    frame["keyPressed"] = frame["keyPressed"].replace("", "none pressed")
    with pytest.raises(TrialsError, match=r"one of none pressed, space, where"):
        read(frame, stimulus={"go": "return"})


def _judged(times: np.ndarray) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    frame = _people(4, 40)
    frame["Coherence"] = rng.choice(["3.2%", "12.8%", "25.6%"], 160)
    frame["Stimulus"] = rng.integers(1, 3, 160)
    is_right = rng.random(160) < 0.8
    frame["Response"] = np.where(is_right, frame["Stimulus"], 3 - frame["Stimulus"])
    return frame.assign(RT=times, Confidence=rng.integers(1, 5, 160))


def test_times_in_minutes_and_seconds_are_times() -> None:
    seconds = np.random.default_rng(5).uniform(0.4, 1.9, 160).round(3)
    clock = np.array([f"00:{own:06.3f}" for own in seconds])
    plain, written = (
        only(read(_judged(times), DOMAINS["perception"])) for times in (seconds, clock)
    )
    assert np.array_equal(plain.response, written.response)
    found = _described(_judged(clock))
    assert any("--domain perception or --domain recognition" in line for line in found.doubts)
    described = describe_table(table_of_frame("a", _judged(clock)), DOMAINS["perception"])
    assert any(f"median {1000 * np.median(seconds):g} ms" in line for line in described.facts)


def test_copies_are_left_out_by_the_column_that_counts_other_rows() -> None:
    rng = np.random.default_rng(6)
    frame = _people(5, 20).rename(columns={"trial": "balloon"})
    frame = frame.assign(pumps=rng.integers(1, 9, 100))
    frame["result"] = np.where(rng.random(100) < 0.4, "popped", "banked")
    twice = pd.concat([frame, frame[frame["subject"] == "P2"]], ignore_index=True)
    found = read(twice)
    (note,) = [note for note in found.notes if "equal to an earlier one" in note]
    assert "say --column order=balloon, which numbers the other rows" in note
    kept = only(read(twice, order="balloon"))
    assert kept.n_responses == only(read(frame, order="balloon")).n_responses


def test_a_row_of_labels_is_no_response(tmp_path: Path) -> None:
    rows = "id,age,BFI_1,BFI_2,UG_1,UG_2\nID,Your age,I am quiet,I am loud,Offer of 1,Offer of 2\n"
    rows += "".join(
        f"R{n},{20 + n},{n % 5},{n % 3},{'yes' if n % 2 else 'no'},no\n" for n in range(9)
    )
    file = tmp_path / "survey.csv"
    file.write_text(rows)
    table = read_answers(file)
    assert table.frame["age"].tolist() == [str(20 + n) for n in range(9)]
    assert table.notes == ("row 2 holds labels of columns, not responses",)
    assert table.questions["UG_1"] == "Offer of 1"
    # The same words in all columns are marks of missing values.
    file.write_text(rows.replace("Your age,I am quiet,I am loud", "none,none,none"))
    assert read_answers(file).frame["id"].iloc[0] == "ID"


def test_a_file_ends_with_a_row_that_says_so(tmp_path: Path) -> None:
    file = tmp_path / "task.csv"
    file.write_text("id,trial,choice\nA,1,x\nA,2,y\nEND OF FILE,,\n")
    assert read_answers(file).frame["id"].tolist() == ["A", "A"]


def test_codes_in_brackets_before_labels_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "choices.csv"
    file.write_text("id,chosen,note\nA,[1] yes,[1] yes\nA,[0] no,[2] yes\nB,[1] yes,\n")
    table = read_answers(file)
    assert table.frame["chosen"].tolist() == ["yes", "no", "yes"]
    assert table.frame["note"].tolist() == ["[1] yes", "[2] yes", ""]
    assert "codes in brackets before the labels of chosen are not read" in table.notes


def test_amounts_with_their_currency_are_amounts_and_texts_repeat_them() -> None:
    rng = np.random.default_rng(7)
    frame = _people(4, 25)
    soon, wait = rng.integers(4, 28, 100), rng.choice([7, 30, 180], 100)
    later = rng.random(100) < 0.5
    frame = frame.assign(
        screen=rng.integers(1, 3, 100), immediate=[f"£{own}" for own in soon], delayed="£30",
        delay=[f"{own} days" for own in wait],
        Response=[f"£30 in {w} days" if k else f"£{s} now" for k, s, w in zip(later, soon, wait, strict=True)],
    )  # fmt: skip
    found = _described(frame)
    assert found.mapping.stimulus["amounts"] == ["immediate", "delayed"]
    assert found.mapping.response == "Response == delayed"
    assert only(read(frame)).response.tolist() == later.astype(int).tolist()
    said = {"amounts": ["immediate", "delayed"], "delays_days": [0, "delay"]}
    with pytest.raises(TrialsError, match=r'--column "response=Response == delayed"'):
        read(frame, DOMAINS["intertemporal"], response="Response", stimulus=said)


@pytest.mark.parametrize("mark", [9, 66])
def test_a_number_apart_from_the_levels_of_a_scale_is_questioned(mark: int) -> None:
    rng = np.random.default_rng(8)
    frame = _people(4, 40).assign(item=rng.choice(["new", "old"], 160))
    x = rng.normal(0, 1, 160) + (frame["item"] == "old")
    frame["rating"] = np.clip(np.round(3 + 1.3 * x), 1, 6).astype(int)
    frame.loc[7, "rating"] = mark
    with pytest.raises(
        ImplausibleError, match=rf"rating is {mark} in row 9.*missing.rating={mark}"
    ):
        read(frame)
    found = only(read(frame, missing={"rating": [mark]}))
    assert found.n_responses == 159
    assert only(read(frame, accept=["far_numbers"])).n_responses == 160


def test_an_assumed_reward_is_not_stated_beside_the_one_that_is_named() -> None:
    rng = np.random.default_rng(9)
    frame = _people(4, 40).assign(key=rng.choice(["a", "b"], 160), cue=rng.choice(["x", "y"], 160))
    frame = frame.assign(points=rng.integers(0, 2, 160), reward=rng.integers(0, 2, 160))
    words = "is taken for the reward of each choice"
    task = DOMAINS["learning"]
    found = describe_table(table_of_frame("answers.csv", frame), task)
    said = found.with_columns({"feedback": {"reward": "points"}})
    assert not any(words in line for line in said.odd)


def test_names_of_columns_that_count_are_a_header(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("0,1,2\n5,6,7\n")
    assert read_answers(file).columns == ("0", "1", "2")
    file.write_text("id,5,10,20\nA,6,7,8\n")
    assert read_answers(file).columns == ("id", "5", "10", "20")


def test_rows_may_be_numbered_from_0_without_a_name_of_their_column(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(" id choice\n0 A x\n1 A y\n2 B x\n")
    table = read_answers(file)
    assert table.columns == ("column 1", "id", "choice")
    assert table.frame["choice"].tolist() == ["x", "y", "x"]


def test_apostrophes_group_thousands_in_numbers_alone(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("id,sum,note\nA,1'200,1'200\nA,900,about 1'200\n")
    table = read_answers(file)
    assert table.frame["sum"].tolist() == ["1200", "900"]
    assert table.frame["note"].tolist() == ["1'200", "about 1'200"]
    assert "apostrophes or spaces in sum group thousands" in table.notes


def _delays() -> pd.DataFrame:
    rng = np.random.default_rng(10)
    frame = _people(4, 30).assign(amount_sooner=rng.integers(5, 20, 120))
    wait = rng.choice([7, 30, 90], 120)
    late = frame["amount_sooner"] + rng.integers(1, 20, 120)
    later = late / (1 + 0.02 * wait) + rng.normal(0, 2, 120) > frame["amount_sooner"]
    choice = np.where(later, "later", "sooner")
    return frame.assign(amount_later=late, delay_later_days=wait, choice=choice)


def test_spellings_of_a_response_that_differ_in_case_are_one() -> None:
    frame = _delays()
    mixed = frame.assign(
        choice=frame["choice"].where(frame["trial"] % 4 > 0, frame["choice"].str.title())
    )
    found = read(mixed)
    assert only(found).response.tolist() == only(read(frame)).response.tolist()
    assert any("differ from other cells in case alone" in note for note in _described(mixed).odd)
    # The spelling that the user names is the one that counts; keys of one letter stay apart.
    named = read(mixed, DOMAINS["intertemporal"], responses={"Later": 1, "Sooner": 0})
    assert only(named).response.tolist() == only(found).response.tolist()
    letters = frame.assign(choice=frame["choice"].str[0].where(frame["trial"] % 4 > 0, "S"))
    assert set(table_of_frame("a", letters).frame["choice"]) == {"l", "s", "S"}
    with pytest.raises(TrialsError, match="choice is 'S'"):
        read(letters, DOMAINS["intertemporal"], responses={"l": 1, "s": 0})


def test_letters_that_name_options_are_one_where_all_of_them_stand_in_both_cases() -> None:
    rng = np.random.default_rng(3)
    frame = _people(4, 30).assign(
        Gewinn_A=rng.integers(5, 20, 120), Wahrsch_A=rng.choice([0.25, 0.5], 120),
        Gewinn_B=rng.integers(5, 20, 120), Wahrsch_B=rng.choice([0.25, 0.5], 120),
    )  # fmt: skip
    values = [frame[f"Gewinn_{own}"] * frame[f"Wahrsch_{own}"] for own in "AB"]
    frame["Wahl"] = np.where(values[1] > values[0], "B", "A")
    small = frame["Wahl"].where(frame["trial"] % 3 > 0, frame["Wahl"].str.lower())
    mixed = frame.assign(Wahl=small)
    found = _described(mixed)
    assert found.domain == "risky"
    assert "Wahl: a, b differ from other cells in case alone, and are the same" in {
        line.replace("b, a", "a, b") for line in found.odd
    }
    assert only(read(mixed)).response.tolist() == only(read(frame)).response.tolist()
    one = frame.assign(Wahl=frame["Wahl"].where(small != "a", "a"))
    assert not any("in case alone" in line for line in _described(one).odd)


def test_misspelt_cells_of_a_response_are_refused_by_their_rows() -> None:
    frame = _delays()
    frame.loc[[5, 77], "choice"] = ["soooner", "latr"]
    assert _described(frame).domain == "intertemporal"
    with pytest.raises(
        TrialsError, match=r"rows 7 and 79: choice is 'soooner' or 'latr'.*bad_rows"
    ):
        read(frame)
    assert only(read(frame, bad_rows="leave_out")).n_responses == 118


def test_letters_of_other_scripts_are_no_places() -> None:
    frame = _delays()
    frame["choice"] = frame["choice"].map({"later": "מאוחר", "sooner": "עכשיו"})
    with pytest.raises(TrialsError, match=r"names no option that is known; say which cell"):
        read(frame)
    assert only(read(frame, responses={"מאוחר": 1, "עכשיו": 0})).n_responses == 120


def test_a_header_that_stands_again_between_rows_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("id,trial\nA,1\nid,trial\nB,1\n")
    table = read_answers(file)
    assert table.frame["id"].tolist() == ["A", "B"]
    assert table.frame.index.tolist() == [2, 4]
    assert "row 3 repeats the header, and is left out" in table.notes


def test_texts_that_say_amounts_and_delays_are_to_be_split() -> None:
    frame = _delays()
    pairs = zip(frame["amount_later"], frame["delay_later_days"], strict=True)
    texts = {
        "stim_left": [f"${own} now" for own in frame["amount_sooner"]],
        "stim_right": [f"${own} in {days} days" for own, days in pairs],
    }
    frame = frame.drop(columns=["amount_sooner", "amount_later", "delay_later_days"])
    words = _described(frame.assign(**texts)).doubts_in_words
    assert "Stim_left and stim_right say amounts and when each is paid, as text" in words


def test_names_of_amounts_that_their_numbers_contradict_are_not_read() -> None:
    frame = _delays().rename(columns={"amount_sooner": "sooner_cents", "amount_later": "later_x"})
    frame["sooner_cents"] *= 100
    assert _described(frame).domain == ""


def test_times_below_zero_are_refused_where_a_sign_may_say_what_was_right() -> None:
    frame = conflicts(np.random.default_rng(11)).frame
    signed = frame.assign(rt=frame["rt"].where(frame["correct"] == 1, -frame["rt"]))
    with pytest.raises(TrialsError, match=r"rt.*below zero.*response_time=abs\(rt\)"):
        read(signed)
    found = only(read(signed, response_time="abs(rt)"))
    assert np.array_equal(found.response, only(read(frame)).response)
