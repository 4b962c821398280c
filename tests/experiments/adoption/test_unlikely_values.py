"""Values that contradict what a column is read as are refused, with the option that reads them rightly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from reading import conflicts, delays, only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError


def test_wrong_responses_at_the_longest_time_seem_to_be_missed() -> None:
    frame = conflicts(np.random.default_rng(1)).frame
    late = frame.index % 20 == 3
    frame.loc[late, ["rt", "correct"]] = [1500, 0]
    with pytest.raises(TrialsError, match=r"all 8 responses there are wrong.*missing\.rt=1500"):
        read(frame)
    assert only(read(frame, missing={"rt": ["1500"]}, bad_rows="leave_out")).n_responses == 152
    frame.loc[3, "correct"] = 1
    assert only(read(frame)).n_responses == 160  # a right response was given in time


def test_the_probability_of_a_loss_stays_with_the_loss_that_advice_makes_negative() -> None:
    rng = np.random.default_rng(1)
    n = 160
    chance = rng.choice([0.4, 0.6, 0.8], n)
    frame = pd.DataFrame(
        {
            "subject": np.repeat([1, 2, 3, 4], 40),
            "gain": rng.choice([10, 20, 30], n),
            "loss": rng.choice([5, 15], n),
            "prob_loss": chance,
            "sure_amount": rng.choice([0, 2, 4, 6], n),
        }
    )
    mean = (1 - chance) * frame["gain"] - chance * frame["loss"]
    frame["accept"] = (mean > frame["sure_amount"]).astype(int)
    frame.loc[0, ["gain", "loss", "prob_loss"]] = [30, 5, 0.8]
    with pytest.raises(TrialsError, match=r"b_amounts=\[\"-loss\", \"gain\"\]"):
        read(frame)
    for amounts in (["-loss", "gain"], ["gain", "-loss"]):
        trials = only(read(frame, stimulus={"b_amounts": amounts}))
        trial = trials.trial[(trials.participant == 0)][0]
        outcomes = trials.stimuli["outcomes"][trial, 1]
        probabilities = trials.stimuli["probabilities"][trial, 1]
        both = set(zip(outcomes.tolist(), probabilities.round(9).tolist(), strict=True))
        assert {(-5.0, 0.8), (30.0, 0.2)} <= both


def judgments(rng: np.random.Generator) -> pd.DataFrame:
    """Items that are old or new, and whether each was called old, rightly in most rows."""
    n_people, n_trials = 8, 36
    old = rng.permutation(np.tile([0, 1], n_people * n_trials // 2))
    called = np.where(rng.random(len(old)) < 0.95, old, 1 - old)
    return pd.DataFrame(
        {
            "sub": np.repeat(np.arange(1, n_people + 1), n_trials),
            "probe": np.where(old, "target", "foil"),
            "called": called,
        }
    )


def test_a_scale_on_which_all_responses_mean_old_is_how_sure_judgments_were() -> None:
    rng = np.random.default_rng(2)
    frame = judgments(rng)
    known = np.where(rng.random(len(frame)) < 0.5, "R", "K")
    frame["rkn"] = np.where(frame.pop("called"), known, "N")
    frame["conf_pct"] = rng.integers(50, 101, len(frame))
    frame.loc[:1, "conf_pct"] = [50, 100]
    advice = (
        r"--column response=rkn --column responses\.K=1 --column responses\.N=0 --column "
        r"responses\.R=1 --column categories= --column confidence=conf_pct"
    )
    with pytest.raises(TrialsError, match=advice):
        read(frame)
    code = {"K": 1, "N": 0, "R": 1}
    stimulus = {"categories": "", "confidence": "conf_pct"}
    trials = only(read(frame, response="rkn", responses=code, stimulus=stimulus))
    assert trials.n_responses == len(frame)


def test_participants_whose_scale_is_reversed_are_named_with_the_column_that_says_so() -> None:
    rng = np.random.default_rng(3)
    frame = judgments(rng)
    is_turned = frame["sub"].isin([2, 5])
    rating = 1 + 3 * frame.pop("called") + rng.integers(0, 3, len(frame))
    frame["scale_order"] = np.where(is_turned, "old is 1", "old is 6")
    frame["rating"] = np.where(is_turned, 7 - rating, rating)
    words = r"2 of 8 participants \(2, 5\), all of whom have old is 1 in scale_order"
    with pytest.raises(TrialsError, match=words):
        read(frame)
    with pytest.raises(TrialsError, match=r"2 of 8 participants \(2, 5\)\. If these used"):
        read(frame.drop(columns="scale_order"))
    assert only(read(frame, accept=["below_chance"])).n_responses == len(frame)


def test_items_of_counterbalanced_lists_are_old_where_both_columns_are_the_same() -> None:
    frame = judgments(np.random.default_rng(4))
    frame["studied"] = np.where(frame["sub"] % 2, "A", "B")
    is_first = (frame["probe"] == "target") == (frame["studied"] == "A")
    frame["word_list"] = np.where(is_first, "A", "B")
    frame["judgment"] = np.where(frame.pop("called"), "old", "new")
    del frame["probe"]
    domain = DOMAINS["recognition"]
    said = {"stimulus": {"item": "word_list"}, "recode": {"word_list": {"A": "old", "B": "new"}}}
    with pytest.raises(TrialsError, match=r"stimulus\.item=studied == word_list"):
        read(frame, domain, response="judgment", **said)
    item = {"item": "studied == word_list"}
    assert only(read(frame, domain, response="judgment", stimulus=item)).n_responses == len(frame)


def test_a_participant_with_exchanged_keys_is_named() -> None:
    frame = conflicts(np.random.default_rng(5)).frame
    is_turned = frame["subject"] == "P02"
    frame.loc[is_turned, "correct"] = 1 - frame["correct"]
    with pytest.raises(TrialsError, match=r"for 1 of 4 participants \(P02\)"):
        read(frame)


def balloons(rng: np.random.Generator) -> pd.DataFrame:
    """Intended pumps of each balloon, and the number of pumps that bursts it."""
    n_people, n_balloons = 4, 20
    n = n_people * n_balloons
    return pd.DataFrame(
        {
            "ID": np.repeat(np.arange(1, n_people + 1), n_balloons),
            "n_pumps": rng.integers(5, 40, n),
            "burst_point": rng.integers(1, 65, n),
        }
    )


def test_no_pumps_of_a_balloon_that_burst_are_pumps_without_the_last_one() -> None:
    frame = balloons(np.random.default_rng(6))
    point = frame.pop("burst_point")
    exploded = point <= frame["n_pumps"]
    frame["n_pumps"] = np.where(exploded, point - 1, frame["n_pumps"])
    frame["exploded"] = exploded.astype(int)
    frame.loc[:1, ["n_pumps", "exploded"]] = [0, 1]
    with pytest.raises(TrialsError, match=r"pumps=n_pumps \+ exploded'"):
        read(frame)
    trials = only(read(frame, stimulus={"pumps": "n_pumps + exploded"}))
    assert trials.response.tolist()[0] == 0  # the first balloon burst at its first pump
    frame["cashed"] = 1 - frame.pop("exploded")
    with pytest.raises(TrialsError, match=r"pumps=n_pumps \+ 1 - cashed'"):
        read(frame, bad_rows="leave_out")


def test_pumps_above_a_column_exactly_where_balloons_burst_were_intended() -> None:
    frame = balloons(np.random.default_rng(7))
    frame["exploded"] = (frame["burst_point"] <= frame["n_pumps"]).astype(int)
    with pytest.raises(TrialsError, match=r"pumps=min\(n_pumps, burst_point\)"):
        read(frame)
    shown = {"pumps": "min(n_pumps, burst_point)"}
    n_pumps = frame[["n_pumps", "burst_point"]].min(axis=1)
    n_collected = (frame["exploded"] == 0).sum()
    assert only(read(frame, stimulus=shown)).n_responses == n_pumps.sum() + n_collected


def test_a_column_of_gains_and_losses_is_no_place_of_an_option() -> None:
    rng = np.random.default_rng(8)
    n = 200
    soon, wait = rng.integers(20, 100, n), rng.choice([7, 30, 90, 180, 365], n)
    frame = pd.DataFrame(
        {
            "ID": np.repeat(np.arange(1, 6), 40),
            "frame": rng.choice(["gain", "loss"], n),
            "immediate_amount": soon,
            "delayed_amount": 100,
            "delay_days": wait,
        }
    )
    is_waiting = (100 / (1 + 0.01 * wait) > soon) == (frame["frame"] == "gain")
    frame["choice"] = np.where(is_waiting, "delayed", "immediate")
    with pytest.raises(TrialsError, match=r"where\.frame=gain") as error:
        read(frame)
    assert "==" not in str(error.value)
    assert (
        only(read(frame, where={"frame": "gain"})).n_responses == (frame["frame"] == "gain").sum()
    )


def test_a_signal_with_responses_that_say_neither_old_nor_new_is_no_recognition() -> None:
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(
        {
            "subject": np.repeat(np.arange(1, 7), 40),
            "stimulus": rng.choice(["L", "R"], 240),
            "signal": rng.choice([0, 1], 240, p=[0.75, 0.25]),
        }
    )
    is_stopped = (frame["signal"] == 1) & (rng.random(240) < 0.5)
    frame["response"] = np.where(is_stopped, "", frame["stimulus"])
    frame["correct"] = ((frame["signal"] == 0) | is_stopped).astype(int)
    assert describe_table(table_of_frame("answers.csv", frame)).domain != "recognition"
    frame["response"] = np.where((frame["signal"] == 1) == (frame["correct"] == 1), "L", "R")
    assert describe_table(table_of_frame("answers.csv", frame)).domain == "recognition"


def test_delays_that_count_up_from_one_need_a_unit() -> None:
    frame = delays(np.random.default_rng(10)).frame
    days = [7, 14, 30, 90, 180]
    frame["delay_later"] = frame["delay_later"].map({own: 1 + days.index(own) for own in days})
    with pytest.raises(TrialsError, match=r"delay_later holds the numbers from 1 to 5"):
        read(frame)
    in_weeks = only(read(frame, stimulus={"delay_unit": "weeks"}))
    assert in_weeks.stimuli["delays_days"].max() == 35
    recode = {"delay_later": {str(1 + place): str(own) for place, own in enumerate(days)}}
    assert only(read(frame, recode=recode)).stimuli["delays_days"].max() == 180


def test_microseconds_are_divided_by_a_thousand() -> None:
    frame = conflicts(np.random.default_rng(11)).frame.rename(columns={"rt": "rt_us"})
    frame["rt_us"] *= 1000
    with pytest.raises(TrialsError, match=r"'response_time=rt_us / 1000'"):
        read(frame)
    assert only(read(frame, response_time="rt_us / 1000")).n_responses == len(frame)


def test_a_gift_computed_from_an_endowment_is_no_endowment() -> None:
    rng = np.random.default_rng(12)
    frame = pd.DataFrame(
        {
            "group": np.repeat([1, 2, 3, 4], 40),
            "subject": np.repeat(np.arange(1, 17), 10),
            "period": np.tile(np.arange(1, 11), 16),
            "endowment": 20,
            "private_account": rng.integers(0, 21, 160),
        }
    )
    (line,) = describe_table(table_of_frame("answers.csv", frame)).doubts
    assert line.startswith("no column is called a response; if one holds choices, or amounts")
    stimulus = {"group": "group", "round": "period", "group_size": 4, "multiplier": 1.6}
    response = "endowment - private_account"
    found = read(frame, DOMAINS["public_goods"], response=response, stimulus=stimulus)
    assert only(found).n_responses == 160
