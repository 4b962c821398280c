"""What is implausible is refused or accepted by its name; columns may be computed from others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import DATA_SETS, WrittenFile, only, read

import lakatos
from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.expression import ColumnExpression
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.plausible import (
    ACCEPTABLE,
    check_accepted,
    check_shared_names,
    in_larger_numbers,
    marks_of_missing,
)
from lakatos.experiments.errors import ImplausibleError, TrialsError


def made(name: str) -> WrittenFile:
    return DATA_SETS[name](np.random.default_rng(5))


@pytest.mark.parametrize("mark", [-999, 999, 9999, -99])
@pytest.mark.parametrize(("data", "column"), [("delays", "amount_later"), ("bandits", "reward")])
def test_marks_of_missing_values_among_numbers_are_no_numbers(
    data: str, column: str, mark: int
) -> None:
    file = made(data)
    frame = file.frame.copy()
    frame.loc[[7, 50], column] = mark
    domain = DOMAINS[file.domain]
    with pytest.raises(
        ImplausibleError, match=rf"{column} is {mark} in rows 9 and 52.*missing\.{column}"
    ):
        read(frame, domain)
    found = only(read(frame, domain, missing={column: mark}))
    assert found.n_responses == len(frame) - 2
    assert only(read(frame, domain, missing=[mark])).digest == found.digest


def test_numbers_that_lie_among_the_others_are_numbers() -> None:
    assert marks_of_missing(np.array([10.0, 50.0, 99.0, 120.0])) == []
    assert marks_of_missing(np.array([-50.0, 0.0, 100.0, -99.0])) == []
    assert marks_of_missing(np.array([0.0, 1.0, 99.0, -9.0])) == [-9.0, 99.0]


def test_a_reversed_code_is_questioned() -> None:
    for data in ("delays", "gambles"):
        frame = made(data).frame
        turned = frame.assign(choice=1 - frame["choice"])
        with pytest.raises(ImplausibleError, match=r"coded the other way round.*reversed_code"):
            read(turned)
        right = only(read(turned, response="1 - choice"))
        assert right.response.tolist() == only(read(frame)).response.tolist()
        assert only(read(turned, accept="reversed_code")).n_responses == len(frame)


def test_grades_of_which_the_smaller_is_better_are_questioned_and_can_be_turned_round() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.integers(1, 7, (2, 240, 3))
    lead = (first - second).sum(axis=1)  # the smaller grades win
    chosen = (rng.random(240) < 1 / (1 + np.exp(-lead))).astype(int)
    frame = pd.DataFrame({"subject": np.repeat(["P1", "P2", "P3", "P4"], 60), "choice": chosen})
    for cue in range(3):
        frame[f"grade{cue}_a"], frame[f"grade{cue}_b"] = first[:, cue], second[:, cue]

    def said(column: str) -> dict[str, Any]:
        sides = [[column.format(f"grade{cue}_{side}") for cue in range(3)] for side in "ab"]
        return {"stimulus": {"ratings": sides, "validities": [0.8, 0.8, 0.8], "rating_max": 6}}

    domain = DOMAINS["multiattribute"]
    with pytest.raises(ImplausibleError, match=r"smaller values .* better.*7 - grade0_a"):
        read(frame, domain, **said("{}"))
    turned = only(read(frame, domain, **said("7 - {}")))
    assert turned.response.tolist() == chosen.tolist()
    assert turned.stimuli["ratings"][0].tolist() == [
        (7 - first[0]).tolist(),
        (7 - second[0]).tolist(),
    ]


def test_a_response_that_is_named_like_a_condition_is_no_condition() -> None:
    frame = made("delays").frame.astype(str).rename(columns={"choice": "chosen_arm"})
    empty = np.arange(0, len(frame), 5)
    frame.loc[empty, "chosen_arm"] = ""
    found = read(frame, response="chosen_arm")
    assert sum(item.n_responses for item in found.trials) == len(frame) - len(empty)


@pytest.mark.parametrize("n_unknown", [3, 60])
def test_a_frequent_cell_is_not_said_to_be_a_missed_response(n_unknown: int) -> None:
    frame = made("delays").frame.astype(str)
    frame.loc[np.arange(n_unknown), "choice"] = "l"
    with pytest.raises(TrialsError) as refused:
        read(frame, response="choice", responses={"0": 0, "1": 1})
    is_rare = n_unknown == 3
    assert ("missing.choice=l" in str(refused.value)) == is_rare
    assert ("bad_rows=leave_out" in str(refused.value)) == is_rare
    assert ("responses.l=PLACE" in str(refused.value)) != is_rare


def test_a_constant_response_is_questioned() -> None:
    with pytest.raises(ImplausibleError, match="are the same option"):
        read(
            made("delays").frame.assign(choice="later"),
            response="choice",
            responses={"sooner": 0, "later": 1},
        )


def test_two_units_among_participants_are_questioned() -> None:
    frame = made("delays").frame
    is_late = frame["subject"].isin(["P02", "P03"])
    mixed = frame.assign(
        delay_later=frame["delay_later"].where(~is_late, frame["delay_later"] * 24)
    )
    with pytest.raises(ImplausibleError, match=r"another unit for 2 of 4 participants.*two_units"):
        read(mixed)
    days = np.tile([7, 14, 30, 60, 120, 180], len(frame) // 6)
    weeks = frame.assign(delay_later=np.where(is_late, days, (days / 7).round(2)))
    with pytest.raises(ImplausibleError, match=r"another unit for 2 of 4 participants.*two_units"):
        read(weeks)
    values, who = np.array([0.5, 0.6, 500.0, 610.0]), np.array([0, 0, 1, 1])
    found = in_larger_numbers(values, who)
    assert found is not None
    assert found.tolist() == [False, False, True, True]
    assert in_larger_numbers(values, np.zeros(4, dtype=int)) is None


def test_congruence_as_yes_and_no() -> None:
    frame = made("conflicts").frame
    wanted = only(read(frame))
    as_number = frame.assign(congruent=1 * (frame["condition"] == "congruent"))
    found = read(as_number.drop(columns="condition"))
    assert only(found).digest == wanted.digest
    assert "congruent: 1 is congruent and 0 is incongruent" in found.notes
    unnamed = as_number.drop(columns="condition").rename(columns={"congruent": "kind"})
    with pytest.raises(TrialsError, match=r"kind says 0 and 1.*recode\.kind"):
        read(unnamed, DOMAINS["attention"], stimulus={"congruence": "kind"})
    said = {"kind": {1: "congruent", 0: "incongruent"}}
    recoded = read(unnamed, DOMAINS["attention"], stimulus={"congruence": "kind"}, recode=said)
    assert only(recoded).digest == wanted.digest


def test_rewards_in_words() -> None:
    frame = made("bandits").frame
    wanted = only(read(frame, DOMAINS["learning"]))
    words = frame.assign(reward=frame["reward"].map({1: "win", 0: "loss"}))
    with pytest.raises(TrialsError, match=r"loss nothing won .*recode\.reward.*something lost"):
        read(words, DOMAINS["learning"])
    said = {"reward": {"win": 1, "loss": 0}}
    assert only(read(words, DOMAINS["learning"], recode=said)).digest == wanted.digest


def test_an_expression_is_arithmetic_of_columns_and_nothing_else() -> None:
    numbers = {"gain": np.array([3.0, 1.0]), "loss": np.array([1.0, np.nan])}
    found = ColumnExpression("100 - max(gain, 2) * abs(-loss) / 2", ["gain", "loss"])
    assert found.columns == ("gain", "loss")
    assert found.value(numbers)[0] == 98.5
    assert np.isnan(found.value(numbers)[1])
    for text in (
        "gain", "2", "gain.real", "gain[0]", "__import__('os')", "gain ** 9", "other + 1", "max(gain)",
        "gain if loss else 1", "(lambda: 1)()", "gain +", "-" * 300 + "gain", "abs(gain, key=1)", "'a' + gain",
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"."):
            ColumnExpression(text, ["gain", "loss"])


def test_cells_of_computed_columns_name_their_rows() -> None:
    frame = pd.DataFrame(
        {"subject": ["a"] * 3, "choice": [0, 1, 0], "gain": [1, 2, 3], "loss": ["0", "x", ""]}
    )
    with pytest.raises(TrialsError, match=r"row 3: gain \+ loss is 'x', which is no number"):
        read(frame, DOMAINS["learning"])


def test_later_keys_change_no_study_that_does_not_say_them() -> None:
    assert not {"missing", "recode", "accept", "alternative", "choice_set"} & set(
        AnswerColumns(participant="who", response="choice").model_dump()
    )
    said = AnswerColumns(missing=[-9, "x"], accept="two_units, far_numbers")  # type: ignore[arg-type]
    assert said.missing == {"*": ("-9", "x")}
    assert said.accept == ("two_units", "far_numbers")
    assert AnswerColumns.model_validate(said.model_dump()) == said


def test_three_responses_are_read_back_with_the_rows_left_out(tmp_path: Path) -> None:
    frame = made("delays").frame.astype(str)
    frame.loc[[3, 40], "choice"] = ""
    found = read(frame.assign(extra="1"))
    back = [line for line in found.read_back if line.startswith("read back: row")]
    assert len(back) == 3
    first = frame.iloc[0]
    assert f"{first['amount_sooner']} today | {first['amount_later']} in" in back[0]
    assert "(sooner)" in " ".join(back)
    assert "(later)" in " ".join(back)
    assert found.left_out.lines()[1].split("  ")[0::2] == ["choice is empty", "2 (P00: 1, P01: 1)"]
    assert "columns that are not read: extra" in found.read_back
    assert not any("P0" in note for note in found.about_rows)  # a run keeps these, and no names


@pytest.mark.parametrize("said", [{}, {"experiment": "left_stim"}])
def test_places_of_stimuli_that_change_sides_are_not_what_is_learned(said: dict[str, str]) -> None:
    rng = np.random.default_rng(3)
    square_left, left = rng.random((2, 60)) < 0.5
    shapes = np.array(["circle", "square"])
    frame = pd.DataFrame(
        {
            "subject": np.repeat(["a", "b"], 30),
            "left_stim": shapes[square_left.astype(int)],
            "right_stim": shapes[1 - square_left.astype(int)],
            "choice": np.where(left, "left", "right"),
            "reward": rng.integers(0, 2, 60),
        }
    )
    with pytest.raises(ImplausibleError, match="left_stim and right_stim hold the same stimuli"):
        read(frame, DOMAINS["learning"], **said, stimulus={"shown": ""})
    places = {"stimulus": {"shown": ""}, "accept": ["one_set_of_options"]}
    read(frame, DOMAINS["learning"], **said, **places)
    chosen = shapes[(square_left == left).astype(int)]
    code = {"circle": 0, "square": 1}
    found = only(
        read(
            frame.assign(choice=chosen), DOMAINS["learning"], responses=code,
            accept=["one_set_of_options"],
        )
    )  # fmt: skip
    assert sorted(found.response.tolist()) == sorted(code[shape] for shape in chosen)


def test_a_menu_that_changes_between_steps_is_no_one_set_of_options() -> None:
    rng = np.random.default_rng(4)
    left = rng.integers(1, 5, 80)
    right = (left + rng.integers(0, 3, 80)) % 4 + 1
    is_left = rng.random(80) < 0.5
    frame = pd.DataFrame(
        {
            "subject": np.repeat(["a", "b"], 40), "left_arm": left, "right_arm": right,
            "choice": np.where(is_left, left, right), "reward": rng.integers(0, 2, 80),
        }
    )  # fmt: skip
    domain, told = DOMAINS["learning"], "choice is always the cell of left_arm or of right_arm"
    with pytest.raises(ImplausibleError, match=told):
        read(frame, domain, stimulus={})
    places = frame.assign(choice=np.where(is_left, "left", "right"))
    shown = {"shown": ["left_arm", "right_arm"]}
    told = "what choice stands for is always the cell of left_arm or of right_arm"
    with pytest.raises(ImplausibleError, match=told):
        read(places, domain, stimulus=shown)
    whole = frame.assign(right_arm=np.where(is_left, right, 1))  # some choices are of neither
    read(whole, domain, stimulus={})
    names = np.array(["A1", "A2", "B1", "B2"])
    pair, first = rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    sets = places.assign(left_arm=names[2 * pair + first], right_arm=names[2 * pair + 1 - first])
    with pytest.raises(ImplausibleError, match=told):
        read(sets, domain, stimulus=shown)
    sets["pair"] = pair
    with pytest.raises(ImplausibleError, match="--column experiment=pair"):
        read(sets, domain, stimulus=shown)
    found = read(sets, domain, stimulus=shown, experiment="pair")
    # The options of each experiment are those chosen in it, also where responses name them.
    named = sets.assign(choice=np.where(is_left, sets["left_arm"], sets["right_arm"]))
    again = read(named, domain, stimulus={}, experiment="pair")
    assert [own.n_options for own in again.trials] == [2, 2]
    assert [own.response.tolist() for own in again.trials] == [
        own.response.tolist() for own in found.trials
    ]
    mixed = named.assign(pair=np.where(named["choice"].isin(["A1", "A2", "B1"]), 0, 1))
    mixed = pd.concat([mixed.drop(columns=["left_arm", "right_arm"])] * 4)
    with pytest.raises(ImplausibleError, match="no pair has all of them"):
        read(mixed, domain, stimulus={}, experiment="pair")


def test_right_or_wrong_is_a_choice_where_one_option_is_right_for_each_cue() -> None:
    rng = np.random.default_rng(5)
    cue, is_right, is_left = rng.integers(0, 3, 90), rng.random(90) < 0.7, rng.random(90) < 0.5
    names = np.array(["A", "B", "C", "D", "E", "F"])
    right, wrong = names[2 * cue], names[2 * cue + 1]
    frame = pd.DataFrame(
        {
            "subject": np.repeat(["a", "b"], 45), "pair": np.array(["AB", "CD", "EF"])[cue],
            "left_stim": np.where(is_left, right, wrong), "right_stim": np.where(is_left, wrong, right),
            "chosen": np.where(is_right, right, wrong), "correct": is_right.astype(int),
            "reward": rng.integers(0, 2, 90),
        }
    )  # fmt: skip
    said = {"stimulus": {"cue": "pair"}, "response": "correct"}
    found = only(read(frame, DOMAINS["learning"], **said))
    assert found.response.tolist() == frame["correct"].tolist()
    with pytest.raises(ImplausibleError, match="by its name, correct says whether a response"):
        read(frame.drop(columns="chosen"), DOMAINS["learning"], **said)


def test_columns_with_which_the_reward_is_computed_are_no_cues() -> None:
    rng = np.random.default_rng(6)
    choice = rng.integers(1, 5, 400)
    frame = pd.DataFrame(
        {
            "subject": np.repeat(["a", "b", "c", "d"], 100), "choice": choice,
            "gain": (rng.random(400) < 0.3 + 0.1 * choice) * 1, "loss": -1 * (rng.random(400) < 0.4),
        }
    )  # fmt: skip
    for said in ({}, {"feedback": {"reward": "gain + loss"}}):
        found = only(read(frame, **said))
        assert found.feedback["reward"].tolist() == (frame["gain"] + frame["loss"]).tolist()


def test_conditions_that_lose_unequal_shares_of_their_trials_are_questioned() -> None:
    frame = made("delays").frame
    frame["condition"] = np.where(np.arange(len(frame)) % 2, "loud", "quiet")
    own = frame.astype(str)
    is_loud = (own["condition"] == "loud").to_numpy()
    lost = np.flatnonzero(is_loud)[::3]
    own.loc[lost, "choice"] = ""
    told = rf"lose unequal shares of their trials: loud {len(lost)} of {is_loud.sum()}, quiet 0 of"
    with pytest.raises(ImplausibleError, match=told):
        read(own)

    def n_read(rows: pd.DataFrame, **said: Any) -> int:
        return sum(item.n_responses for item in read(rows, **said).trials)

    assert n_read(own, accept="unequal_losses") == len(own) - len(lost)
    alike = frame.astype(str)
    alike.loc[np.arange(0, len(alike), 3), "choice"] = ""  # as many of each condition
    assert n_read(alike) == len(alike) - len(alike) // 3
    one = frame.astype(str)
    of_one = is_loud & (one["subject"] == "P00").to_numpy()
    one.loc[of_one, "choice"] = ""  # what one participant lost alone
    assert n_read(one) == len(one) - of_one.sum()
    practice = frame.assign(phase=np.where(is_loud & (frame.index % 3 == 0), "practice", "main"))
    assert n_read(practice, where={"phase": "main"}) == (practice["phase"] == "main").sum()


def test_files_whose_names_begin_with_one_number_are_questioned_as_participants() -> None:
    names = [f"{number:03d}_{part}.csv" for number in range(1, 5) for part in ("game", "practice")]
    columns, notes = AnswerColumns(participant="file"), list[str]()
    with pytest.raises(ImplausibleError, match=r"4 numbers begin the names of several files"):
        check_shared_names(pd.DataFrame({"file": names}), "folder", columns, notes)
    pasted = columns.model_copy(update={"participant": "filename"})
    with pytest.raises(ImplausibleError, match=r"4 numbers begin the names of several files"):
        check_shared_names(pd.DataFrame({"filename": names}), "folder", pasted, notes)
    accepted = columns.model_copy(update={"accept": ("shared_names",)})
    check_shared_names(pd.DataFrame({"file": names}), "folder", accepted, notes)
    single = pd.DataFrame({"file": [f"{number:03d}_game.csv" for number in range(1, 5)]})
    check_shared_names(single, "folder", columns, notes)


def with_front_end_delays(names: tuple[str, str]) -> pd.DataFrame:
    """Delays from today to the first payment, and from the first to the second one, beside a rate of interest."""
    frame = made("delays").frame.drop(columns=["delay_sooner", "delay_later"])
    n = len(frame)
    first, then = np.tile([0, 1, 1], n)[:n], np.tile([1, 1, 1, 4, 8], n)[:n]
    late = frame["amount_later"] / (1 + 0.2 * then)  # 20 per cent a week
    choice = np.where(late > frame["amount_sooner"], "LL", "SS")
    rate = np.tile([5, 10, 20, 40], n)[:n]
    return frame.assign(**{names[0]: first, names[1]: then, "yearly_rate": rate, "choice": choice})


def test_a_delay_that_counts_from_the_first_payment_is_added_to_it() -> None:
    names = ("front_weeks", "horizon_weeks")
    frame = with_front_end_delays(names)
    found = read(frame)
    days = 7 * np.stack([frame[names[0]], frame[names[0]] + frame[names[1]]], axis=1)
    (trials,) = found.trials
    assert (trials.stimuli["delays_days"][trials.trial] == days).all()
    amounts = frame[["amount_sooner", "amount_later"]].to_numpy()
    assert (trials.stimuli["amounts"][trials.trial] == amounts).all()


def test_equal_delays_whose_smaller_amount_is_chosen_are_questioned() -> None:
    names = ("first_days", "second_days")
    frame = with_front_end_delays(names)
    said = {"amounts": ["amount_sooner", "amount_later"], "delays_days": list(names)}
    domain = DOMAINS["intertemporal"]
    is_equal = frame[names[0]] == frame[names[1]]
    frame.loc[is_equal, "choice"] = np.tile(["SS", "LL", "LL"], len(frame))[: is_equal.sum()]
    with pytest.raises(ImplausibleError, match=r'\["first_days", "first_days \+ second_days"\]'):
        read(frame, domain, stimulus=said)
    frame.loc[is_equal, "choice"] = "LL"
    read(frame, domain, stimulus=said)


def test_no_sum_with_a_number_is_advised_where_delays_are_equal() -> None:
    frame = made("delays").frame.drop(columns="delay_sooner")
    frame["delay_later"] = np.where(frame.index % 2, frame["delay_later"], 0)
    frame["choice"] = np.where(frame.index % 2, frame["choice"], frame.index % 6 != 0)
    with pytest.raises(
        ImplausibleError, match="Options may differ in more than amounts and delays"
    ):
        read(frame, DOMAINS["intertemporal"])


@pytest.mark.parametrize("name", ["prob_later", "probability", "amount_later_bonus", "chance"])
def test_a_property_of_options_that_is_not_read_is_questioned(name: str) -> None:
    frame = made("delays").frame
    said = {
        "stimulus": {
            "amounts": ["amount_sooner", "amount_later"],
            "delays_days": [0, "delay_later"],
        }
    }
    mixed = np.random.default_rng(3).choice([0.25, 0.5, 1.0], len(frame))
    with pytest.raises(ImplausibleError, match=rf"{name} .* is not read.*--column where\.{name}="):
        read(frame.assign(**{name: mixed}), DOMAINS["intertemporal"], **said)
    assert read(frame.assign(**{name: mixed}), DOMAINS["intertemporal"], **said, where={name: 1.0})
    assert read(
        frame.assign(**{name: mixed}), DOMAINS["intertemporal"], **said, accept=["unread_column"]
    )


@pytest.mark.parametrize("name", ["prob_chosen", "loudness", "p_of_wait", "probability_by_person"])
def test_what_follows_from_what_is_read_or_from_the_response_is_no_unread_property(
    name: str,
) -> None:
    frame = made("delays").frame
    mixed = np.random.default_rng(3).choice([0.25, 0.5, 1.0], len(frame))
    cells = {"p_of_wait": frame["delay_later"] / 180}
    cells["probability_by_person"] = 0.1 * frame["subject"].str[-1].astype(int)
    assert read(frame.assign(**{name: cells.get(name, mixed)}))


def test_no_code_is_advised_where_neither_fits() -> None:
    """Choices follow the growth of amounts, and go against what dominates."""
    frame = pd.concat([made("delays").frame.assign(subject=str(k)) for k in range(4)])
    frame = frame.assign(trial=np.tile(np.arange(120), 4)).reset_index(drop=True)
    growth = np.log(frame["amount_later"] / frame["amount_sooner"]) / frame["delay_later"]
    frame["choice"] = (growth > growth.median()).astype(int)
    frame.loc[::10, "delay_later"] = 0
    frame.loc[::10, "choice"] = 0
    with pytest.raises(
        ImplausibleError, match=r"a column is not what it is read as .*neither code"
    ):
        read(frame)
    with pytest.raises(
        ImplausibleError, match=r"a column is not what it is read as .*neither code"
    ):
        read(frame.assign(choice=1 - frame["choice"]))


def test_a_name_to_accept_that_nothing_has_is_refused_with_those_that_exist() -> None:
    columns = AnswerColumns(accept=("revesed_code",))
    with pytest.raises(
        TrialsError, match=r"accept revesed_code .*nothing has this name.*reversed_code"
    ):
        check_accepted(columns)
    check_accepted(AnswerColumns(accept=ACCEPTABLE))


def test_all_that_is_questioned_can_be_accepted() -> None:
    root = Path(lakatos.__file__).resolve().parent.parent
    sources = [*(root / "experiments").rglob("*.py"), *(root / "domains").rglob("*.py")]
    texts = [path.read_text("utf-8") for path in sources]
    told = {name for text in texts for name in re.findall(r"--accept ([a-z_]+)", text)}
    called = {
        name for text in texts for name in re.findall(r'question\(\s*\w+,\s*\w+,\s*"(\w+)"', text)
    }
    assert len(called) > 15
    assert told | called <= set(ACCEPTABLE)
