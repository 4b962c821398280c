"""Files whose columns have no telling names are recognised by their values, or asked about, and never misread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import bandits, conflicts, delays, gambles, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import adopt
from lakatos.experiments.adoption.describe import TableDescription, describe_table
from lakatos.experiments.adoption.plausible import rows_that_count, rows_that_do_not_count
from lakatos.experiments.adoption.signatures import (
    ColumnSignature,
    changes_by_step,
    counterparts,
    counts_up,
    is_below,
    participant_by_values,
    stays_after_reward,
    table_signature,
)
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def described(frame: pd.DataFrame, domain: Any = None) -> TableDescription:
    return describe_table(table_of_frame("answers.csv", frame), domain)


def column(name: str, *cells: Any) -> ColumnSignature:
    return ColumnSignature(name, pd.Series([str(cell) for cell in cells]))


def people(n_people: int, n_trials: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "s": np.repeat(np.arange(1, n_people + 1), n_trials),
            "t": np.tile(np.arange(1, n_trials + 1), n_people),
        }
    )


# Signatures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "sides", "pairs"),
    [
        (["opt1_x", "opt2_x"], ("1", "2"), [("opt1_x", "opt2_x")]),
        (["gainL", "gainR"], ("l", "r"), [("gainL", "gainR")]),
        (["ss_amt", "ll_amt", "ss_del", "ll_del"], ("ss", "ll"), [("ss_amt", "ll_amt"), ("ss_del", "ll_del")]),
        (["sure_amount", "gamble_amount"], ("sure", "gamble"), [("sure_amount", "gamble_amount")]),
        (["Ha", "pHa", "Hb", "pHb"], ("a", "b"), [("Ha", "Hb"), ("pHa", "pHb")]),
        (["RA", "RB"], ("a", "b"), [("RA", "RB")]),
    ],
)  # fmt: skip
def test_columns_whose_names_differ_in_one_place_are_counterparts(
    names: list[str], sides: tuple[str, str], pairs: list[tuple[str, str]]
) -> None:
    assert counterparts(names)[sides] == pairs


def test_names_that_differ_in_two_places_are_no_counterparts() -> None:
    assert counterparts(["safe_high", "risky_low", "gain", "loss"]) == {}


def test_a_count_rises_by_one_within_each_participant() -> None:
    person = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert counts_up(column("x", 1, 2, 3, 4, 1, 2, 3, 4), person)
    assert counts_up(column("x", 0, 1, 2, 3, 0, 1, 2, 3), person)
    assert not counts_up(column("x", 1, 2, 4, 3, 1, 2, 3, 4), person)
    assert not counts_up(column("x", 10, 20, 30, 40, 10, 20, 30, 40), person)


def test_one_column_lies_below_another_one_in_nearly_all_rows() -> None:
    low, high = np.arange(100.0), np.arange(100.0) + 1
    assert is_below(low, high)
    assert not is_below(high, low)
    assert not is_below(low, np.where(np.arange(100) % 10 == 0, -1.0, high))


def test_the_participant_is_the_column_within_which_another_one_counts() -> None:
    table = table_signature(people(6, 5).astype(str), {})
    assert participant_by_values(table.columns) == "s"


def test_blocks_are_no_participants() -> None:
    frame = people(6, 5).rename(columns={"s": "block"}).astype(str)
    assert participant_by_values(table_signature(frame, {}).columns) == ""


def test_codes_of_letters_and_numbers_are_participants_where_nothing_counts() -> None:
    frame = people(6, 5)[["s"]].astype(str).assign(s=lambda own: "K0" + own["s"], x="1")
    assert participant_by_values(table_signature(frame, {}).columns) == "s"


@pytest.mark.parametrize("name", ["internal_node_id", "sender_id", "stim_id", "itemID", "trial_id"])
def test_identifiers_of_steps_and_items_are_no_participants(
    rng: np.random.Generator, name: str
) -> None:
    frame = delays(rng).frame
    steps = frame.drop(columns="subject").assign(**{name: "0." + frame["trial"].astype(str)})
    assert described(steps).mapping.participant == "?"
    with pytest.raises(TrialsError, match="trial begins anew 3 times, rows of 4 participants"):
        read(steps)
    one = steps[frame["subject"] == "P00"]
    with pytest.raises(TrialsError, match="--accept one_participant") as asked:
        read(one)
    assert "begins anew" not in str(asked.value)
    assert only(read(one, accept=["one_participant"])).n_people == 1
    told = read(steps, accept=["one_participant"]).notes
    assert any("although trial begins anew 3 times" in note for note in told)


def test_a_code_that_changes_where_trials_count_on_names_no_participant(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    trials = frame["trial"].astype(str)
    coded = frame.rename(columns={"subject": "id"}).assign(code_id="T" + trials)
    assert described(coded).mapping.participant == "id"
    assert described(coded.drop(columns="id")).mapping.participant == "?"
    count, people = column("trial", *trials), column("id", *frame["subject"])
    assert changes_by_step(column("code", *("T" + trials)), [count])
    assert not changes_by_step(people, [count])
    assert not changes_by_step(column("id", *range(len(frame))), [column("age", *trials)])
    assert changes_by_step(column("id", *range(len(frame))), [count])


def test_each_file_is_a_participant_where_other_columns_name_steps(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    frame = delays(rng).frame
    steps = frame.drop(columns="subject").assign(item_id=frame["trial"].astype(str))
    for who, rows in steps.groupby(frame["subject"]):
        rows.to_csv(tmp_path / f"data_{who}.csv", index=False)
    assert describe_table(read_answers(tmp_path)).mapping.participant == "file"
    with pytest.raises(ImplausibleError, match="say --column participant=file"):
        read(tmp_path, participant="item_id", order="trial")
    pasted = steps.assign(filename="data_" + frame["subject"])
    assert described(pasted).mapping.participant == "filename"
    assert only(read(tmp_path)).digest == only(read(frame)).digest


def test_lists_of_a_file_are_participants_where_no_column_names_them(
    rng: np.random.Generator, tmp_path: Path
) -> None:
    frame = delays(rng).frame
    steps = frame.drop(columns="subject").assign(internal_node_id=frame["trial"].astype(str))
    lists = [rows.to_json(orient="records") for _, rows in steps.groupby(frame["subject"])]
    file = tmp_path / "jatos.txt"
    file.write_text("\n".join(lists), encoding="utf-8")
    found = describe_table(read_answers(file))
    assert found.mapping.participant == "session"
    assert any(line.startswith("session is taken for the participant") for line in found.odd)
    assert only(read(file)).digest == only(read(frame)).digest
    # One that names the participant of several lists comes first.
    halves = [
        rows.to_json(orient="records")
        for _, rows in steps.assign(code="K" + frame["subject"].str[1:]).groupby(
            [frame["subject"], frame["trial"] > 15]
        )
    ]
    file.write_text("\n".join(halves), encoding="utf-8")
    assert describe_table(read_answers(file)).mapping.participant == "code"
    # A column of this name in the file itself is that of visits, and is asked about.
    own = steps.assign(session=frame["subject"].factorize()[0])
    assert described(own).mapping.participant == "?"


def test_a_reward_is_never_the_same_in_all_rows(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    assert described(frame).mapping.feedback == {"reward": "reward"}
    assert described(frame.assign(reward=0)).mapping.feedback in ({}, {"reward": "?"})


def test_a_choice_is_what_is_repeated_after_rewards(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    person = frame["subject"].factorize()[0]
    reward = frame["reward"].to_numpy(dtype=np.float64)
    assert stays_after_reward(column("c", *frame["choice"]), reward, person) > 3
    side = column("side", *rng.integers(2, size=len(frame)))
    assert abs(stays_after_reward(side, reward, person)) < 3


def test_an_offer_that_is_accepted_if_it_is_high_is_no_reward(rng: np.random.Generator) -> None:
    offer = rng.integers(1, 11, 400)
    accepted = column("accept", *(offer > 4).astype(int).astype(str))
    person = np.arange(400) // 40
    assert abs(stays_after_reward(accepted, offer.astype(np.float64), person)) < 3


def test_stays_are_compared_within_participants_and_choices() -> None:
    """By hand: 6 of 6 stays at a after 1, none of 6 after 0, none at b: (6 - 3) / sqrt(6^4 / (12^2 11))."""
    choice = column("choice", *["a", "a", "b"] * 6)
    reward = np.array([1.0, 0, 0] * 6)
    one = np.zeros(18, dtype=np.int64)
    assert stays_after_reward(choice, reward, one) == pytest.approx(np.sqrt(11))
    assert stays_after_reward(choice, -reward, one) == pytest.approx(-np.sqrt(11))
    assert stays_after_reward(choice, reward, np.arange(18) // 3) == pytest.approx(np.sqrt(6))


# Kinds of tasks without telling names ---------------------------------------------------------


def test_an_option_that_is_always_larger_and_later_makes_a_task_of_delays(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame
    names = {
        "amount_sooner": "SIR",
        "amount_later": "LDR",
        "delay_later": "Delay",
        "choice": "picked",
    }
    strange = frame.drop(columns="delay_sooner").rename(columns=names)
    found = only(read(strange))
    assert found.digest == only(read(frame)).digest


def test_a_single_delay_that_is_always_the_same_makes_no_task_of_delays(
    rng: np.random.Generator,
) -> None:
    names = {"amount_sooner": "SIR", "amount_later": "LDR", "delay_later": "Delay"}
    frame = delays(rng).frame.drop(columns="delay_sooner").rename(columns=names)
    assert described(frame.assign(Delay="7")).domain != "intertemporal"


def test_units_of_delays_stand_in_cells(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    names = {"amount_sooner": "SIR", "amount_later": "LDR", "delay_later": "v"}
    strange = frame.drop(columns="delay_sooner").rename(columns=names)
    strange["v"] = strange["v"].astype(str) + " days"
    assert only(read(strange)).digest == only(read(frame)).digest


def test_a_sooner_option_without_a_day_is_taken_to_be_today_and_this_is_said(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame.drop(columns="delay_sooner")
    frame = frame.rename(columns={"amount_sooner": "SIR", "amount_later": "LDR"})
    assert any("SIR is taken to be paid today" in line for line in described(frame).odd)


@pytest.mark.parametrize("per_cent", [False, True])
def test_two_gambles_are_told_by_what_their_names_share(
    per_cent: bool, rng: np.random.Generator
) -> None:
    n = 120
    frame = people(4, 30)
    for side in "xy":
        frame[f"{side}_hi"] = rng.integers(20, 50, n)
        frame[f"{side}_lo"] = rng.integers(0, 20, n)
        frame[f"p{side}_hi"] = rng.choice([20, 35, 50, 65, 80], n)
        frame[f"p{side}_lo"] = 100 - frame[f"p{side}_hi"]
    worth = [
        frame[f"{side}_hi"] * frame[f"p{side}_hi"] + frame[f"{side}_lo"] * frame[f"p{side}_lo"]
        for side in "xy"
    ]
    chance = 1 / (1 + np.exp(-(worth[1] - worth[0]) / 200))
    frame["taken"] = 1 + (rng.random(n) < chance)
    if not per_cent:
        for name in ("px_hi", "px_lo", "py_hi", "py_lo"):
            frame[name] = frame[name] / 100
    found = only(read(frame))
    first = found.stimuli.take(found.trial[:1])
    shown = sorted(zip(first["outcomes"][0, 1], first["probabilities"][0, 1], strict=True))
    scale = 0.01 if per_cent else 1.0
    right = sorted((frame[f"y_{k}"][0], scale * frame[f"py_{k}"][0]) for k in ("hi", "lo"))
    assert np.allclose([pair for pair in shown if pair[1] > 0], right)
    assert (found.response == frame["taken"] - 1).all()


def _price_list(rng: np.random.Generator) -> pd.DataFrame:
    """Ten rows of a list of choices, for each of ten people."""
    frame = people(10, 10).rename(columns={"t": "Row"})
    frame["ProbHigh_pct"] = 10 * frame["Row"]
    for name, value in (
        ("Safe_High", 2.0),
        ("Safe_Low", 1.6),
        ("Risky_High", 3.85),
        ("Risky_Low", 0.1),
    ):
        frame[name] = value
    switch = np.repeat(rng.integers(3, 8, 10), 10)
    frame["Pick"] = np.where(frame["Row"] > switch, "R", "S")
    return frame


def test_one_column_of_chances_may_be_of_both_lotteries_of_a_list(rng: np.random.Generator) -> None:
    found = described(_price_list(rng))
    assert found.domain == "risky"
    assert found.mapping.responses == {"S": 0, "R": 1}
    assert found.mapping.order == ""  # a number of a choice in a list is no order
    parts = found.mapping.stimulus
    assert parts["a_amounts"] == ["Safe_High", "Safe_Low"]
    assert parts["b_amounts"] == ["Risky_High", "Risky_Low"]
    assert parts["a_probabilities"] == parts["b_probabilities"] == ["ProbHigh_pct / 100"]


def test_a_smaller_sure_amount_stands_against_a_gamble(rng: np.random.Generator) -> None:
    n = 120
    frame = people(4, 30)
    frame["A"], frame["B"] = rng.integers(2, 12, n), rng.integers(14, 40, n)
    frame["C"] = rng.choice([0.1, 0.25, 0.5, 0.75, 0.9], n)
    frame["sel"] = (
        rng.random(n) < 1 / (1 + np.exp(-0.5 * (frame["B"] * frame["C"] - frame["A"])))
    ) * 1
    parts = described(frame).mapping.stimulus
    assert (parts["a_amounts"], parts["a_probabilities"]) == (["A"], [1])
    assert (parts["b_amounts"], parts["b_probabilities"]) == (["B", 0], ["C"])


@pytest.mark.parametrize("extra", ["ambiguity", "effort"])
def test_gambles_with_what_plain_ones_do_not_have_are_not_recognised(
    extra: str, rng: np.random.Generator
) -> None:
    n = 120
    frame = people(4, 30)
    frame["A"], frame["B"] = rng.integers(2, 12, n), rng.integers(14, 40, n)
    frame["C"], frame[extra] = rng.choice([0.1, 0.5, 0.9], n), rng.choice([0, 0.5], n)
    frame["sel"] = rng.integers(2, size=n)
    assert described(frame).domain == ""


def test_a_gain_and_a_loss_by_their_signs_are_a_gamble_which_play_takes(
    rng: np.random.Generator,
) -> None:
    n = 120
    frame = people(4, 30)
    frame["heads"] = [f"+{gain}€" for gain in rng.integers(2, 12, n)]
    frame["tails"] = [f"-{loss}€" for loss in rng.integers(1, 8, n)]
    gain = frame["heads"].str.strip("+€").astype(int) + 1.5 * frame["tails"].str.strip("€").astype(
        int
    )
    frame["decision"] = np.where(rng.random(n) < 1 / (1 + np.exp(-gain)), "play", "pass")
    found = described(frame)
    assert found.mapping.stimulus["b_amounts"] == ["heads", "tails"]
    assert found.mapping.responses == {"pass": 0, "play": 1}
    assert any("even chances" in line for line in found.odd)


def test_four_codes_beside_a_gain_and_a_loss_are_no_choice_of_two(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    frame["heads"], frame["tails"] = rng.integers(2, 12, 120), -rng.integers(1, 8, 120)
    frame["decision"] = rng.integers(1, 5, 120)
    assert described(frame).domain == ""


def test_divisions_between_oneself_and_another_one_are_games(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    for name in ("own_X", "recipient_X", "own_Y", "recipient_Y"):
        frame[name] = rng.integers(2, 16, 120)
    frame["chosen"] = np.where(rng.random(120) < 0.5, "X", "Y")
    found = described(frame)
    assert found.domain == "games"
    assert found.mapping.stimulus["own"] == [["own_X", "own_X"], ["own_Y", "own_Y"]]
    assert found.mapping.responses == {"X": 0, "Y": 1}


@pytest.mark.parametrize("name", ["choice_x", "chose_x", "x_chosen"])
def test_a_name_with_the_suffix_of_an_option_says_that_1_is_this_option(
    name: str, rng: np.random.Generator
) -> None:
    frame = people(4, 30)
    for column in ("self_x", "other_x", "self_y", "other_y"):
        frame[column] = rng.integers(2, 16, 120)
    is_first = rng.random(120) < 1 / (1 + np.exp(frame["self_y"] - frame["self_x"]))
    frame[name] = is_first.astype(int)
    found = read(frame)
    assert only(found).response.tolist() == (~is_first).astype(int).tolist()
    assert f"A: {frame['self_x'][0]}|{frame['other_x'][0]}, B: " in found.read_back[0]
    assert any("two divisions with another one" in line for line in described(frame).odd)


def test_divisions_are_seen_to_be_coded_the_other_way_round(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    frame["self_x"], frame["self_y"] = rng.integers(2, 16, 120), rng.integers(2, 16, 120)
    frame["other_x"], frame["other_y"] = 18 - frame["self_x"], 18 - frame["self_y"]
    frame["choice"] = 1 * (frame["self_y"] < frame["self_x"])
    with pytest.raises(ImplausibleError, match="accept reversed_code"):
        read(frame)
    frame["other_x"], frame["other_y"] = frame["self_x"], frame["self_y"]
    with pytest.raises(ImplausibleError, match="accept dominated_choices"):
        read(frame)
    assert set(only(read(frame, responses={"0": 1, "1": 0})).response) == {0, 1}


def test_an_offer_out_of_a_sum_is_taken_or_refused(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    frame["pie"] = rng.choice([10, 20], 120)
    frame["offered"] = (frame["pie"] * rng.choice([0.1, 0.2, 0.3, 0.4, 0.5], 120)).astype(int)
    frame["proposer"] = rng.choice(["human", "computer"], 120)
    frame["took_it"] = np.where(frame["offered"] / frame["pie"] > 0.25, "yes", "no")
    found = described(frame)
    assert found.domain == "games"
    assert found.mapping.response == "took_it"
    assert found.mapping.stimulus["other"] == [[0, 0], ["pie - offered", "pie - offered"]]
    chosen = only(read(frame)).response
    assert (chosen == (frame["took_it"] == "yes")).all()


def test_offers_that_nobody_answers_are_no_games(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    frame["endowment"], frame["offer"] = 10, rng.integers(0, 11, 120)
    found = described(frame)
    assert found.domain == ""
    assert any("seems to be a gift out of endowment" in line for line in found.doubts)


def test_the_choice_is_the_column_that_people_repeat_after_rewards(
    rng: np.random.Generator,
) -> None:
    frame = bandits(rng).frame.rename(columns={"choice": "machine_seen", "reward": "won_cent"})
    frame["machine_seen"] = frame["machine_seen"].map({0: "yellow", 1: "violet"})
    frame["wall"] = rng.choice(["li", "re"], len(frame))
    found = described(frame)
    assert (found.domain, found.mapping.response) == ("learning", "machine_seen")
    chosen = only(read(frame)).response
    assert (chosen == (frame["machine_seen"] == "yellow")).all()  # in the order of the alphabet


def test_a_rare_code_without_a_reward_is_a_missed_response(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame.assign(choice=lambda own: own["choice"] + 1)
    is_missed = np.arange(len(frame)) % 20 == 0
    frame["choice"] = frame["choice"].where(~is_missed, 0)
    frame["reward"] = frame["reward"].astype(str).where(~is_missed, "NaN")
    frame = frame.rename(columns={"choice": "slot", "reward": "payout"})
    found = described(frame)
    assert found.mapping.missing == {"slot": ("0",)}
    assert found.mapping.stimulus["options"] == 2


def test_pictures_on_which_rewards_depend_are_cues(rng: np.random.Generator) -> None:
    frame = people(6, 60)
    frame["portrait"] = rng.choice(["cat", "dog"], len(frame))
    frame["choice"] = rng.integers(2, size=len(frame))
    is_right = (frame["portrait"] == "cat") == (frame["choice"] == 1)
    frame["won"] = (rng.random(len(frame)) < np.where(is_right, 0.85, 0.15)) * 1
    assert described(frame).mapping.stimulus["cue"] == "portrait"
    assert only(read(frame)).stimuli["payoff"].shape[1:] == (2, 2)
    frame["portrait"] = rng.choice(["cat", "dog"], len(frame))
    assert "cue" not in described(frame).mapping.stimulus
    assert only(read(frame)).n_options == 2


def test_stages_are_told_by_which_transitions_were_rare(rng: np.random.Generator) -> None:
    n = 240
    frame = people(4, 60)
    first, is_common = rng.integers(2, size=n), rng.random(n) < 0.7
    state = np.where(is_common, first, 1 - first)
    frame["rocket"] = np.array(["red", "green"])[first]
    frame["transition"] = np.where(is_common, "common", "rare")
    frame["planet"] = np.array(["purple", "yellow"])[state]
    frame["alien"] = rng.choice(["left_one", "right_one"], n)
    frame["treasure"] = rng.integers(2, size=n)
    found = described(frame)
    assert found.mapping.stimulus == {"options": 2, "second_choice": "alien", "state": "planet"}
    assert found.mapping.response == "rocket"
    assert len(only(read(frame)).response) == 2 * n


def test_predictions_are_told_by_what_they_follow(rng: np.random.Generator) -> None:
    frame, rows = people(8, 60), []
    for _ in range(8):
        belief = 0.5
        for _ in range(60):
            said, came = rng.random() < belief, rng.random() < 0.7
            belief = min(max(belief + 0.4 * (came - belief), 0.05), 0.95)
            rows.append(("up" if came else "down", "up" if said else "down"))
    frame[["lamp", "mine"]] = rows
    found = described(frame)
    assert found.mapping.response == "mine"
    assert found.mapping.feedback == {"reward": "mine == lamp"}


def test_what_is_seen_and_what_is_said_of_it_is_no_prediction(rng: np.random.Generator) -> None:
    frame = people(6, 40)
    frame["direction"] = rng.choice(["left", "right"], len(frame))
    wrong = rng.random(len(frame)) < 0.15
    other = frame["direction"].map({"left": "right", "right": "left"})
    frame["response"] = frame["direction"].where(~wrong, other)
    frame["correct"] = (~wrong).astype(int)
    frame["rt"] = rng.lognormal(-0.5, 0.3, len(frame)).round(3)
    assert described(frame).domain == ""


# Keys with their times ------------------------------------------------------------------------


def _with_keys(rng: np.random.Generator) -> pd.DataFrame:
    frame = conflicts(rng).frame.rename(
        columns={"correct": "Probe.ACC", "rt": "Probe.RT", "condition": "Cond"}
    )
    frame["Probe.CRESP"] = rng.choice([1, 5], len(frame))
    is_right = frame["Probe.ACC"] == 1
    frame["Probe.RESP"] = frame["Probe.CRESP"].where(is_right, 6 - frame["Probe.CRESP"])
    return frame


def test_the_pressed_and_the_right_key_are_told_by_which_responses_were_right(
    rng: np.random.Generator,
) -> None:
    found = described(_with_keys(rng)).mapping
    assert (found.response, found.stimulus["right_key"]) == ("Probe.RESP", "Probe.CRESP")
    assert found.responses == {"1": 0, "5": 1}


@pytest.mark.parametrize(
    "said", [{"stimulus": {"right_key": "Probe.CRESP"}}, {"response": "Probe.RESP"}]
)
def test_a_column_of_right_and_wrong_is_no_key_where_the_right_key_is_named(
    said: dict[str, Any], rng: np.random.Generator
) -> None:
    frame = _with_keys(rng)
    found = read(frame, **said)
    right = only(read(frame))
    assert only(found).digest == right.digest


def test_target_and_distractor_are_told_by_the_key_that_is_right(rng: np.random.Generator) -> None:
    n = 240
    frame, colors = people(4, 60), np.array(["red", "blue", "green"])
    ink = rng.integers(3, size=n)
    word = np.where(rng.random(n) < 0.5, ink, rng.integers(3, size=n))
    frame["u"], frame["v"] = colors[word], colors[ink]
    frame["correct_key"] = np.array(["f", "g", "h"])[ink]
    wrong = rng.random(n) < 0.1
    frame["pressed_key"] = np.where(
        wrong, np.array(["f", "g", "h"])[(ink + 1) % 3], frame["correct_key"]
    )
    frame["ms"] = rng.integers(350, 900, n) + 60 * (word != ink)
    found = described(frame)
    assert found.domain == "attention"
    assert found.mapping.stimulus == {"congruence": ["v", "u"], "right_key": "correct_key"}
    assert (found.mapping.response, found.mapping.response_time) == ("pressed_key", "ms")


def test_go_and_no_go_is_no_kind_of_task_here(rng: np.random.Generator) -> None:
    frame = conflicts(rng).frame.rename(columns={"condition": "cue"})
    frame["cue"] = rng.choice(["go", "nogo"], len(frame))
    found = described(frame)
    assert found.domain == ""
    assert any("go/no-go task" in line for line in found.doubts)


# Tasks of one's own, public goods, several kinds ----------------------------------------------


def test_options_that_columns_name_are_a_task_of_ones_own(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    for option in ("bus", "tram", "bike"):
        frame[f"{option}_fare"], frame[f"{option}_min"] = (
            rng.integers(1, 9, 120),
            rng.integers(5, 60, 120),
        )
    frame["mode"] = rng.choice(["bus", "tram", "bike"], 120)
    (said,) = described(frame).doubts
    assert said.startswith(
        "each choice seems to be among bike, bus and tram, described by fare and min"
    )


def alternatives(rng: np.random.Generator, n_of_choice: int = 3) -> pd.DataFrame:
    """Choices among contracts, in a row for each contract."""
    frame = people(6, 8).loc[lambda rows: rows.index.repeat(n_of_choice)].reset_index(drop=True)
    frame = frame.rename(columns={"s": "participant", "t": "Aufgabe"})
    frame["Alternative"] = list("ABCD"[:n_of_choice]) * 48
    frame["Laufzeit_Monate"] = rng.choice([1, 12, 24], len(frame))
    frame["Preis"] = rng.choice([62.5, 69.9, 78.0, 85.5, 94.9], len(frame))
    best = np.repeat(rng.integers(0, n_of_choice, 48), n_of_choice)
    frame["chosen"] = (np.tile(np.arange(n_of_choice), 48) == best).astype(int).astype(str)
    return frame


def test_rows_of_which_one_in_each_choice_was_chosen_are_alternatives_and_no_delays(
    rng: np.random.Generator,
) -> None:
    frame = alternatives(rng)
    frame.loc[frame.index[-3:], "chosen"] = ""  # a choice that was not made
    found = described(frame)
    assert found.domain == ""
    assert (found.mapping.alternative, found.mapping.choice_set) == ("Alternative", "Aufgabe")
    assert found.doubts[0].startswith("each choice seems to be among A, B and C")
    assert "--column alternative=Alternative --column choice_set=Aufgabe" in found.doubts[1]
    nameless = described(frame.drop(columns="Alternative"))
    assert nameless.domain == ""
    assert "--column alternative=COLUMN --column choice_set=Aufgabe" in nameless.doubts[0]


def test_an_option_of_zeros_is_none_of_the_others(rng: np.random.Generator) -> None:
    frame = alternatives(rng, 4).rename(columns={"Laufzeit_Monate": "Laufzeit"})
    frame.loc[frame["Alternative"] == "D", ["Laufzeit", "Preis"]] = 0
    doubt = described(frame).doubts[0]
    assert "D has no properties, so that it seems to be none of the others" in doubt
    assert (
        "declare level 0 of each, and one attribute that tells this option from the others" in doubt
    )
    assert "taken=" not in doubt  # how an option of a declaration is named is not known here
    assert "where." not in doubt


def test_a_second_choice_from_1_to_4_says_its_state(rng: np.random.Generator) -> None:
    frame = people(4, 50).rename(columns={"s": "subjID", "t": "trial"})
    frame["level1_choice"] = rng.integers(1, 3, 200)
    frame["level2_choice"] = rng.integers(1, 5, 200)
    frame["reward"] = rng.integers(0, 2, 200)
    found = read(frame)
    apart = frame.assign(state=(frame["level2_choice"] + 1) // 2)
    apart["level2_choice"] = (frame["level2_choice"] - 1) % 2 + 1
    one, other = only(found), only(read(apart))
    assert one.response.tolist() == other.response.tolist()
    for name in one.feedback:
        assert one.feedback[name].tolist() == other.feedback[name].tolist()
    assert any("1 and 2 are the options of one state" in note for note in found.notes)
    table = table_of_frame("steps.csv", frame)
    said = {"state": "level2_choice", "second_choice": "level2_choice"}
    confirmed = describe_table(table).with_columns({"stimulus": {"state": "level2_choice"}})
    assert confirmed.mapping.stimulus == {"options": 2, **said}  # what is repeated changes nothing
    missed = frame.assign(level2_choice=np.where(frame.index == 7, 0, frame["level2_choice"]))
    assert describe_table(table_of_frame("steps.csv", missed)).mapping.stimulus == {
        "options": 2,
        **said,
    }
    with pytest.raises(TrialsError, match=r"row 9.*--column missing\.level2_choice=CELL"):
        read(missed)
    (kept,) = read(missed, missing={"level2_choice": "0"}).left_out.kinds
    assert kept.rows == (9,)
    frame.loc[3, "level2_choice"] = 7
    with pytest.raises(TrialsError, match="--column state=COLUMN"):
        read(frame, stimulus={"state": "level2_choice", "second_choice": "level2_choice"})


def test_items_of_scales_are_a_questionnaire_and_no_products(rng: np.random.Generator) -> None:
    frame = pd.DataFrame({"age": rng.integers(18, 60, 40), "country": rng.choice(["US", "GB"], 40)})
    for scale in "ENC":
        for number in range(1, 6):
            frame[f"{scale}{number}"] = np.resize(rng.permutation(5) + 1, 40)
    found = described(frame)
    assert found.domain == ""
    assert found.doubts == (
        "E1 to C5 seem to be items of a questionnaire: that is no kind of task here, and the file is not read",
    )


def test_only_responses_are_said_to_be_rounded(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    frame["price"], frame["choice"] = 100 * rng.integers(1, 60, 120), rng.choice(["a", "b"], 120)
    assert not any("multiples of" in line for line in described(frame).odd)
    (line,) = [own for own in described(frame.drop(columns="choice")).odd if "multiples" in own]
    assert line.startswith("price: ")


@pytest.mark.parametrize(
    ("domain", "part"), [("games", "own"), ("games", "other"), ("multiattribute", "ratings")]
)
def test_a_part_of_two_lists_is_asked_for_as_two_lists(domain: str, part: str) -> None:
    table = table_of_frame("a.csv", people(4, 5).assign(choice=0, x=1))
    mapping = describe_table(table, DOMAINS[domain]).mapping
    with pytest.raises(TrialsError) as error:
        adopt(table, mapping, DOMAINS[domain])
    assert f"""{part}='[["COLUMN", "COLUMN"], ["COLUMN", "COLUMN"]]'""" in str(error.value)


@pytest.mark.parametrize("name", ["Aufgabe", "Trial_No", "x"])
def test_a_number_of_choices_is_no_amount(name: str, rng: np.random.Generator) -> None:
    frame = alternatives(rng).rename(columns={"Aufgabe": name}).drop(columns="chosen")
    frame["choice"] = rng.choice(["a", "b"], len(frame))
    found = described(frame)
    assert found.domain == ""
    assert name not in str(found.mapping.stimulus)


def test_the_multiplier_follows_from_gifts_and_gains(rng: np.random.Generator) -> None:
    frame = people(8, 10).rename(columns={"t": "round", "s": "subject"})
    frame["group"] = (frame["subject"] - 1) // 4
    frame["contribution"] = rng.integers(0, 16, len(frame))
    total = frame.groupby(["group", "round"])["contribution"].transform("sum")
    frame["payoff"] = 16 - frame["contribution"] + 0.5 * total
    parts = described(frame).mapping.stimulus
    assert (parts["group_size"], parts["multiplier"], parts["endowment"]) == (4, 2.0, 16.0)


def test_a_number_of_choices_is_no_experiment(rng: np.random.Generator) -> None:
    frame = delays(rng).frame.rename(columns={"trial": "Task"})
    assert described(frame).mapping.experiment == ""


def test_rows_called_training_beside_a_main_part_are_asked_about(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    frame["stage"] = np.where(frame["trial"] < 6, "training", "main")
    with pytest.raises(ImplausibleError, match=r"--column 'where.stage=main'"):
        read(frame)
    frame["stage"] = np.where(frame["trial"] < 6, "training", "test")
    assert only(read(frame)).n_options == 2


def test_keys_lie_as_the_options_stood(rng: np.random.Generator) -> None:
    frame = gambles(rng).frame
    names = {"a_x": "left_x", "a_p": "left_p"} | {
        f"b_{k}": f"right_{k}" for k in ("x1", "p1", "x2", "p2")
    }
    keyed = frame.rename(columns=names).assign(choice=frame["choice"].map({0: "f", 1: "j"}))
    assert only(read(keyed, DOMAINS["risky"])).digest == only(read(frame)).digest


def test_rows_of_letters_say_what_is_congruent(rng: np.random.Generator) -> None:
    n = 240
    frame, rows = people(4, 60), []
    for _ in range(n):
        right, around = rng.choice(["l", "r"]), rng.choice(["l", "r"])
        wrong = {"l": "r", "r": "l"}[right]
        rows.append(
            (around * 2 + right + around * 2, right if rng.random() < 0.9 else wrong, right)
        )
    frame[["arrows", "resp", "ans"]] = rows
    frame["reaction_time"] = rng.lognormal(-0.6, 0.2, n).round(3)
    found = described(frame).mapping
    assert found.stimulus == {"congruence": "arrows", "right_key": "ans"}
    assert found.recode["arrows"]["llrll"] == "incongruent"
    assert found.recode["arrows"]["rrrrr"] == "congruent"
    assert found.responses == {"l": 0, "r": 1}


def test_of_two_codes_of_one_response_the_one_in_words_of_options_is_read(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame.drop(columns="delay_sooner")
    frame = frame.rename(columns={"amount_sooner": "immediate", "amount_later": "delayed"})
    frame["response"] = frame["choice"].map({0: "f", 1: "j"})
    frame["choice"] = frame["choice"].map({0: "immediate", 1: "delayed"})
    found = described(frame).mapping
    assert (found.response, found.responses) == ("choice", {"delayed": 1, "immediate": 0})


def test_where_options_stood_is_no_context(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    names = np.array(["a.png", "b.png"])
    first = rng.integers(2, size=len(frame))
    frame["left_image"], frame["right_image"] = names[first], names[1 - first]
    frame["choice"] = names[frame["choice"]]
    assert only(read(frame)).n_options == 2


def test_one_amount_with_its_chance_pays_nothing_otherwise(rng: np.random.Generator) -> None:
    n = 120
    frame = people(4, 30)
    for side in ("left", "right"):
        frame[f"{side}_amount"] = rng.integers(5, 50, n)
        frame[f"{side}_prob"] = rng.choice([0.1, 0.5, 0.9], n)
    worth = frame["right_amount"] * frame["right_prob"] - frame["left_amount"] * frame["left_prob"]
    frame["choice"] = np.where(rng.random(n) < 1 / (1 + np.exp(-0.3 * worth)), "right", "left")
    parts = described(frame).mapping.stimulus
    assert parts["a_amounts"] == ["left_amount", 0]
    found = read(frame)
    per_cent = frame.assign(
        **{
            name: (100 * frame[name]).astype(int).astype(str) + "%"
            for name in ("left_prob", "right_prob")
        }
    )
    assert only(read(per_cent)).digest == only(found).digest


def test_words_for_accepting_are_known_where_something_is_offered(rng: np.random.Generator) -> None:
    frame = people(4, 30)
    frame["gain"], frame["loss"] = rng.integers(5, 40, 120), rng.integers(5, 20, 120)
    frame["response"] = np.where(frame["gain"] > 1.5 * frame["loss"], "accept", "reject")
    assert described(frame).mapping.responses == {"accept": 1, "reject": 0}


def test_a_wrong_cell_is_named_in_the_option_that_answers_it(rng: np.random.Generator) -> None:
    frame = delays(rng).frame.assign(choice=lambda own: own["choice"] + 1)
    frame.loc[[3, 50], "choice"] = 9
    with pytest.raises(TrialsError, match=r"--column missing\.choice=9"):
        read(frame)


def test_a_file_of_participants_beside_events_is_said_not_to_be_read(tmp_path: Path) -> None:
    (tmp_path / "participants.tsv").write_text("participant_id\tage\nsub-01\t20\n")
    file = tmp_path / "events.tsv"
    file.write_text("participant_id\tx\nsub-01\t1\nsub-01\t2\n")
    assert any("participants.tsv stands beside" in line for line in read_answers(file).notes)
    assert not any(
        "stands beside" in line for line in read_answers(tmp_path / "participants.tsv").notes
    )


@pytest.mark.parametrize("loss_sign", [-1, 1])
def test_a_gain_and_a_loss_with_a_chance_stand_against_nothing(
    loss_sign: int, rng: np.random.Generator
) -> None:
    frame, n = people(4, 30), 120
    frame["gain"], frame["loss"] = rng.integers(5, 50, n), loss_sign * rng.integers(5, 50, n)
    frame["p"] = rng.choice([0.25, 0.5, 0.75], n)
    frame["took"] = rng.integers(2, size=n)
    parts = described(frame).mapping.stimulus
    assert parts["a_amounts"] == [0]
    assert parts["b_amounts"] == ["gain", "loss" if loss_sign < 0 else "-loss"]
    assert parts["b_probabilities"] == ["p"]


def test_second_choices_may_have_a_code_of_their_own(rng: np.random.Generator) -> None:
    n = 240
    frame = people(4, 60)
    first, is_common = rng.integers(2, size=n), rng.random(n) < 0.7
    frame["choice1"] = np.array(["A", "B"])[first]
    frame["state2"] = 2 + np.where(is_common, first, 1 - first)
    frame["choice2"] = rng.integers(1, 3, n)
    frame["common"] = is_common.astype(int)
    frame["reward"] = rng.integers(2, size=n)
    assert described(frame).domain == "learning"
    found = only(read(frame))
    assert len(found.response) == 2 * n


def test_congruence_may_be_letters_or_words_of_other_languages(rng: np.random.Generator) -> None:
    frame = conflicts(rng).frame
    right = only(read(frame)).digest
    for words in (("C", "I"), ("kongruent", "inkongruent")):
        cells = frame["condition"].map({"congruent": words[0], "incongruent": words[1]})
        assert only(read(frame.drop(columns="condition").assign(x=cells))).digest == right


def test_arms_that_are_named_by_places_are_asked_about(rng: np.random.Generator) -> None:
    """Places have an order of their own, which is not that of the alphabet."""
    frame = people(4, 30)
    frame["choice"], frame["reward"] = (
        rng.choice(["left", "right", "up", "down"], 120),
        rng.integers(2, size=120),
    )
    with pytest.raises(TrialsError, match=r"--column responses\.CELL=PLACE"):
        read(frame)
    names = {"left": "yellow", "right": "red", "up": "blue", "down": "green"}
    named = frame.assign(choice=frame["choice"].map(names))
    assert only(read(named)).response[0] == sorted(names.values()).index(named["choice"][0])


# What is assumed, left out or asked ------------------------------------------------------------


def test_a_unit_of_delays_that_nothing_says_is_marked_until_it_is_said(
    rng: np.random.Generator,
) -> None:
    frame = delays(rng).frame.drop(columns="delay_sooner")
    frame = frame.rename(
        columns={"amount_sooner": "ss", "amount_later": "ll", "delay_later": "del"}
    )
    found = described(frame)
    assert any(
        "del: taken to be in days" in line and "delay_unit=UNIT" in line for line in found.odd
    )
    said = found.with_columns({"stimulus": {"delay_unit": "weeks"}})
    assert said.mapping.stimulus["delay_unit"] == "weeks"
    assert not any("delay_unit" in line for line in said.odd)
    today = found.with_columns({"stimulus": {"delays_days": [1, "del"]}})
    assert not any("paid today" in line for line in today.odd)
    assert any("delay_unit=UNIT" in line for line in today.odd)
    for named in (
        frame.rename(columns={"del": "del_days"}),
        frame.assign(**{"del": frame["del"].astype(str) + " days"}),
    ):
        assert not any("delay_unit" in line for line in described(named).odd)


def questionnaire() -> pd.DataFrame:
    n = 12
    return pd.DataFrame(
        {
            "Status": ["Survey Preview", *["IP Address"] * (n - 2), "Spam"],
            "Finished": ["True"] * (n - 1) + ["False"],
            "ResponseId": [f"R_{place}x" for place in range(n)],
            "UserLanguage": ["EN"] * n,
            "Q1": ["$5 today", "$9 in 3 days"] * (n // 2),
        }
    )


@pytest.mark.parametrize("languages", [("EN", "EN"), ("EN", "DE")])
def test_a_name_of_each_row_is_the_participant_and_no_constant_or_language(
    languages: tuple[str, str],
) -> None:
    frame = questionnaire().assign(UserLanguage=list(languages) * 6)
    assert described(frame).mapping.participant == "ResponseId"


def test_names_of_trials_are_no_participants(rng: np.random.Generator) -> None:
    frame = delays(rng).frame.query("subject == subject.iloc[0]")
    frame = frame.assign(subject="p1", trial_id=[f"t{place}" for place in range(len(frame))])
    assert described(frame).mapping.participant == "subject"


def test_rows_of_nobody_and_of_those_who_did_not_finish_are_named() -> None:
    frame = questionnaire().assign(
        Finished=["False" if place == 5 else "True" for place in range(12)]
    )
    found = described(frame)
    assert any(
        "Status is Spam or Survey Preview" in line and "rows 2" in line for line in found.odd
    )
    assert any("Finished is False" in line and "row 7" in line for line in found.odd)
    assert found.mapping.where == {"Status": "IP Address", "Finished": "True"}
    said = found.with_columns({"where": {"Finished": "True"}})
    assert not any("Finished is False" in line for line in said.odd)
    accepted = found.with_columns({"accept": "practice_rows"})
    assert accepted.mapping.where == {}


def test_practice_that_is_the_larger_part_is_asked_about(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    frame["stage"] = np.where(frame["trial"] < 30, "practice", "test")
    assert described(frame).mapping.where == {}
    with pytest.raises(ImplausibleError, match=r"--column 'where.stage=test'"):
        read(frame)


def test_rows_that_the_loop_of_practice_counts_are_left_out(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame.astype(str)
    is_early = frame["trial"].astype(int) < 10
    frame["practice_trials.thisN"] = frame["trial"].where(is_early, "")
    assert described(frame).mapping.where == {"practice_trials.thisN": ""}
    assert only(read(frame)).n_responses == int((~is_early).sum())


@pytest.mark.parametrize(
    "word", ["oefening", "Übung", "warm-up", "entraînement", "ejercicio", "práctica"]
)
def test_practice_has_words_of_other_languages(word: str) -> None:
    frame = pd.DataFrame({"fase": [word, "test", "test"]})
    found = rows_that_do_not_count(frame, "fase")
    assert found is not None
    assert found[:2] == ([word], ["test"])


@pytest.mark.parametrize(
    ("name", "yes", "no"),
    [
        ("entraînement", "oui", "non"), ("práctica", "sí", "no"), ("Übung", "1", "0"), ("pratica", "vero", "falso"),
        ("oefening", "waar", "onwaar"), ("prática", "sim", "não"), ("Uebung", "wahr", "falsch"),
    ],
)  # fmt: skip
def test_a_flag_of_practice_in_another_language_leaves_rows_out(
    name: str, yes: str, no: str
) -> None:
    frame = pd.DataFrame({"réponse": ["g", "d", "g", "d"], name: [yes, no, no, no]})
    assert rows_that_count(frame, [], "réponse") == {name: no}
    # a row of a mean has neither a response nor a flag
    more = pd.concat([frame, pd.DataFrame({"réponse": [""], name: [""]})], ignore_index=True)
    assert rows_that_count(more, [], "réponse") == {name: no}
    assert rows_that_count(more.assign(**{"réponse": "g"}), [], "réponse") == {}


def test_a_word_for_trial_and_practice_is_practice_beside_the_main_part_alone() -> None:
    for other, is_practice in (("principal", True), ("control", False)):
        frame = pd.DataFrame({"fase": ["prueba", other]})
        assert (rows_that_do_not_count(frame, "fase") is not None) == is_practice


@pytest.mark.parametrize("word", ["training", "Train", "Trainingsblock", "essai", "ensayo", "demo"])
def test_training_is_practice_beside_a_test(word: str) -> None:
    for other in ("test", "main", "experiment"):
        found = rows_that_do_not_count(pd.DataFrame({"block": [word, other]}), "block")
        assert found == ([word], [other], "practice")


def test_training_is_no_practice_where_only_it_has_feedback() -> None:
    frame = pd.DataFrame({"phase": ["train"] * 3 + ["test"], "feedback": ["1", "0", "1", ""]})
    assert rows_that_do_not_count(frame, "phase") is None
    frame["feedback"] = ["1", "0", "1", "1"]
    assert rows_that_do_not_count(frame, "phase") == (["train"], ["test"], "practice")
    practice = frame.replace("train", "practice").assign(feedback=["1", "0", "1", ""])
    assert rows_that_do_not_count(practice, "phase") == (["practice"], ["test"], "practice")


def test_rows_of_a_bot_are_excluded_by_the_file() -> None:
    frame = pd.DataFrame({"participant._is_bot": ["False", "False", "True"]})
    found = rows_that_do_not_count(frame, "participant._is_bot")
    assert found == (["True"], ["False"], "excluded by the file")


def test_training_before_a_test_is_read_where_rewards_are_learned(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame.assign(phase=["training"] * 20 + ["test"] * 140)
    assert only(read(frame, DOMAINS["learning"])).n_responses == 160
    flanker = conflicts(rng).frame.assign(phase=["training"] * 20 + ["test"] * 140)
    with pytest.raises(ImplausibleError, match=r"where\.phase=test.*practice_rows"):
        read(flanker, DOMAINS["attention"])


@pytest.mark.parametrize("word", ["missed", "no_resp", "sin respuesta", "geen", "-"])
def test_words_for_missed_responses_are_known_where_there_is_no_time(
    word: str, rng: np.random.Generator
) -> None:
    frame = delays(rng).frame
    frame["choice"] = np.where(frame["choice"].astype(int) == 1, "later", "sooner")
    frame["rt"] = rng.integers(300, 900, len(frame))
    late = frame.assign(choice=frame["choice"].where(frame.index % 9 > 0, word))
    missed = late.assign(rt=late["rt"].where(late.index % 9 > 0, 0))
    found = described(missed).mapping
    assert found.missing == {"choice": (word,)}
    assert found.responses == {"sooner": 0, "later": 1}
    assert described(late).mapping.missing == {}
    nameless = missed.assign(rt=missed["rt"].where(missed["rt"] > 0)).rename(columns={"rt": "x_ms"})
    assert described(nameless).mapping.missing == {"choice": (word,)}


# What others leave open --------------------------------------------------------------------------


def test_negative_numbers_in_the_same_rows_of_two_columns_are_missing() -> None:
    frame = people(4, 20)
    frame["estimate"] = [3 + place % 7 for place in range(len(frame))]
    frame["seconds"] = [0.5 + place / 100 for place in range(len(frame))]
    lost = frame.index % 13 == 4
    for mark, other, is_missing in ((-99, -99.0, True), (-99, 0.3, False), (4, 4.0, False)):
        marked = frame.copy()
        marked.loc[lost, "estimate"] = mark
        marked.loc[lost, "seconds"] = other
        found = described(marked).mapping.missing
        assert set(found) == ({"estimate", "seconds"} if is_missing else set())


def test_numbered_labels_with_a_negative_number_are_described() -> None:
    frame = people(4, 20)
    frame["where"] = [f"s{place % 3}" for place in range(len(frame))]
    frame.loc[9, "where"] = "s-02"
    assert described(frame).mapping.missing == {}


def two_stages(rng: np.random.Generator) -> pd.DataFrame:
    """A first choice that leads to its usual state in 70% of trials, a second choice there, and a reward."""
    frame = people(6, 100)
    n = len(frame)
    frame["choix1"] = rng.integers(1, 3, n)
    is_usual = rng.random(n) < 0.7
    frame["etat"] = np.where(is_usual, frame["choix1"], 3 - frame["choix1"]) + 1
    frame["choix2"] = rng.integers(1, 3, n)
    frame["gain"] = (rng.random(n) < np.where(frame["choix2"] == 1, 0.7, 0.3)).astype(int)
    return frame


def test_two_numbered_choices_and_a_state_are_a_two_step_task(rng: np.random.Generator) -> None:
    frame = two_stages(rng)
    lost = frame.index % 17 == 3
    frame.loc[lost, ["choix1", "etat", "choix2"]] = -1
    frame["gain"] = frame["gain"].astype(object).where(~lost, "")
    mapping = described(frame).mapping
    assert (mapping.response, mapping.feedback) == ("choix1", {"reward": "gain"})
    assert {mapping.stimulus["second_choice"], mapping.stimulus["state"]} == {"choix2", "etat"}
    assert mapping.stimulus["state"] == "etat"
    assert only(read(frame)).n_responses == 2 * int((~lost).sum())


def test_columns_that_drift_or_count_time_describe_no_option(rng: np.random.Generator) -> None:
    frame = bandits(rng).frame
    n = len(frame)
    frame["chance_1"] = 0.5 + np.cumsum(rng.normal(0, 0.01, n))
    frame["time_elapsed"] = 1000 * np.arange(n) + rng.integers(0, 900, n)
    assert described(frame).domain == "learning"
    assert described(frame.assign(stake=rng.normal(0, 1, n))).domain == ""


# Chances of losing ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["prob_nothing", "p_lose", "prob_no_win", "p_loss", "pct_lose"])
def test_a_chance_of_losing_or_of_nothing_is_none_of_winning(
    rng: np.random.Generator, name: str
) -> None:
    frame = people(4, 30)
    n = len(frame)
    won = rng.choice([0.25, 0.4, 0.6, 0.75], n)
    frame["sure_amount"] = rng.integers(4, 12, n)
    frame["gamble_amount"] = frame["sure_amount"] + rng.integers(1, 30, n)
    frame[name] = (100 * (1 - won)).round() if name.startswith("pct") else (1 - won).round(2)
    takes = rng.random(n) < 1 / (1 + np.exp(frame["sure_amount"] - frame["gamble_amount"] * won))
    frame["choice"] = np.where(takes, "gamble", "sure")
    found = only(read(frame)).stimuli
    high = found["outcomes"][:, 1].argmax(axis=-1)
    read_as = np.take_along_axis(found["probabilities"][:, 1], high[:, None], axis=-1)[:, 0]
    trial = only(read(frame)).trial
    assert read_as[trial] == pytest.approx(won)


def test_a_chance_of_losing_beside_an_amount_that_is_lost_is_that_of_the_loss() -> None:
    frame = people(4, 12).assign(
        win=[20, 30, 40] * 16, lose=[5, 8] * 24, p_lose=[0.2, 0.6, 0.3, 0.5] * 12,
        choice=["accept", "reject", "accept"] * 16,
    )  # fmt: skip
    mapping = described(frame, DOMAINS["risky"]).mapping
    assert mapping.stimulus["b_amounts"] == ["-lose", "win"]
    assert mapping.stimulus["b_probabilities"] == ["p_lose"]


# Files without choices ------------------------------------------------------------------------


def _without_choices(rng: np.random.Generator) -> dict[str, tuple[pd.DataFrame, str]]:
    n = 120
    rows = people(4, 30).rename(columns={"s": "subject", "t": "trial"})
    ratings = {f"item_{k}": rng.integers(1, 6, n) for k in range(1, 9)}
    words = np.array(["trust", "them", "never", "because", "it", "rains", "often", "honestly"])
    texts = [" ".join(rng.choice(words, 5)) + f" {k}" for k in range(n)]
    return {
        "questionnaire": (pd.DataFrame({"id": np.arange(n), **ratings}), "item_1 to item_8 seem to be items"),
        "signal": (
            rows[["subject"]].assign(time_ms=20 * rows["trial"], heart_rate=rng.normal(70, 3, n).round(2)),
            "time_ms rises by 20 from row to row",
        ),
        "texts": (rows.assign(answer=texts), "answer seems to hold texts"),
        "stop signals": (
            rows.assign(response=rng.choice(["l", "r"], n), SSD=rng.choice([0.1, 0.2], n), rt=rng.uniform(0.3, 1, n)),
            "SSD seems to say when to stop a response",
        ),
        "pumps": (
            rows.assign(trial_type=rng.choice(["pumps", "cash", "explode"], n), rt=rng.uniform(0.3, 1, n)),
            "trial_type seems to say what each pump was",
        ),
        "series": (rows.assign(response=rng.choice(["kop", "munt"], n)), "response stands alone"),
    }  # fmt: skip


def test_evenly_paced_trials_with_response_times_are_no_samples_of_a_signal() -> None:
    frame = pd.DataFrame(
        {"subject": np.repeat(list("ab"), 30), "time_elapsed": 3000 * np.arange(60)}
    )
    signal = describe_table(table_of_frame("t", frame.assign(pulse=np.arange(60) % 7 + 0.5)))
    assert any("samples of a signal" in line for line in signal.doubts)
    timed = describe_table(table_of_frame("t", frame.assign(rt=500 + np.arange(60) % 7)))
    assert not any("samples of a signal" in line for line in timed.doubts)


@pytest.mark.parametrize(
    "kind", ["questionnaire", "signal", "texts", "stop signals", "pumps", "series"]
)
def test_what_holds_no_choices_is_said_to_be_no_task(rng: np.random.Generator, kind: str) -> None:
    frame, words = _without_choices(rng)[kind]
    found = described(frame)
    assert found.domain == ""
    (doubt,) = found.doubts
    assert doubt.startswith(words)
    assert doubt.endswith("that is no kind of task here, and the file is not read")


def test_which_of_two_stimuli_was_shown_with_confidence_is_detection(
    rng: np.random.Generator,
) -> None:
    rows = people(4, 30).rename(columns={"s": "subject", "t": "trial"})
    shown = rng.integers(1, 3, 120)
    said = np.where(rng.random(120) < 0.8, shown, 3 - shown)
    found = described(
        rows.assign(stimulus=shown, response=said, confidence=rng.integers(1, 5, 120))
    )
    assert found.domain == "recognition"
    assert found.mapping.recode == {"stimulus": {"1": "new", "2": "old"}}
    assert "stimulus: 2 counts as old (a signal) and 1 as new (noise)" in found.odd


def test_a_column_of_what_became_of_an_offer_is_no_offer(rng: np.random.Generator) -> None:
    rows = people(4, 30).assign(
        endowment=100,
        amount_offered=rng.integers(0, 50, 120),
        offer_accepted=rng.integers(0, 2, 120),
    )
    found = described(rows)
    assert found.domain == "games"
    assert found.mapping.stimulus["own"] == [[0, 0], ["amount_offered", "amount_offered"]]
    assert found.mapping.response == "offer_accepted"


def test_dates_are_days_where_one_is_taken_from_another(rng: np.random.Generator) -> None:
    frame = delays(rng).frame
    begun = pd.Timestamp("2024-02-20") + pd.to_timedelta(np.arange(len(frame)) % 40, unit="D")
    frame["session_date"] = begun.strftime("%Y-%m-%d")
    for side in ("sooner", "later"):
        paid = begun + pd.to_timedelta(frame.pop(f"delay_{side}"), unit="D")
        frame[f"{side}_date"] = paid.dt.strftime("%Y-%m-%d")
    found, plain = only(read(frame)), only(read(delays(np.random.default_rng(3)).frame))
    assert (
        found.stimuli["delays_days"][found.trial] == plain.stimuli["delays_days"][plain.trial]
    ).all()
    frame["later_date"] = "soon"
    with pytest.raises(TrialsError, match="DATE - DATE"):
        read(frame)


def test_responses_that_the_columns_of_options_name_are_these_options(
    rng: np.random.Generator,
) -> None:
    frame = people(4, 30)
    n = len(frame)
    frame["amount_ticket"], frame["probability"] = (
        rng.integers(10, 40, n),
        rng.choice([0.25, 0.5, 0.9], n),
    )
    frame["amount_voucher"] = rng.integers(2, 10, n)
    takes = frame["amount_ticket"] * frame["probability"] > frame["amount_voucher"]
    frame["choice"] = np.where(takes, "ticket", "voucher")
    found = described(frame)
    assert found.domain == "risky"
    assert found.mapping.responses == {"voucher": 0, "ticket": 1}


@pytest.mark.parametrize(("names", "told"), [(["price", "size"], True), (["price"], False)])
def test_two_options_with_several_properties_of_their_own_are_an_own_task(
    rng: np.random.Generator, names: list[str], told: bool
) -> None:
    frame = people(4, 30)
    for name in names:
        for option in "AB":
            frame[f"{name}_{option}"] = rng.integers(1, 90, len(frame)) / 4
    frame["choice"] = rng.choice(["A", "B"], len(frame))
    doubts = described(frame).doubts
    words = "each choice seems to be among A and B, described by price and size: that is a task of your own"
    assert any(line.startswith(words) for line in doubts) == told


def test_responses_times_and_rewards_are_no_attributes_of_an_own_task(
    rng: np.random.Generator,
) -> None:
    frame = people(4, 30)
    for option in (1, 2):
        frame[f"choice{option}"] = rng.integers(1, 3, len(frame))
        frame[f"rt{option}"] = rng.integers(300, 900, len(frame)) / 1000
        frame[f"reward.1.{option}"] = rng.integers(0, 2, len(frame))
        frame[f"symbol{option}"] = rng.integers(1, 30, len(frame))
    frame["reward"] = rng.integers(0, 2, len(frame))
    doubts = described(frame).doubts
    told = "choice1 and choice2 seem to be choices, and reward what they brought"
    assert any(line.startswith(told) and line.endswith("--domain learning") for line in doubts)
    menu = people(4, 30)
    for name in ("price", "size", "outcome", "chosen"):
        for option in "ABC":
            menu[f"{name}_{option}"] = rng.integers(1, 90, len(menu)) / 4
    menu["choice"] = rng.choice(list("ABC"), len(menu))
    doubts = described(menu).doubts
    assert any("among A, B and C, described by price and size:" in line for line in doubts)
