"""What is not guessed on thin grounds: leftover numbers, games that run together, missed trials, changing places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from reading import only, read

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import _with_tried_answers, describe_table
from lakatos.experiments.adoption.plausible import marks_of_missing
from lakatos.experiments.adoption.read_back import pooled_conditions
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import ImplausibleError, TrialsError

N_PEOPLE, N_TRIALS = 6, 24
CODE = {"safe": 0, "gamble": 1}


def _gambles(rng: np.random.Generator) -> pd.DataFrame:
    """A sure amount against a gamble; the riskier one is chosen where it is better on average."""
    sure = np.tile([4, 8, 12, 16], 6)
    gamble = np.repeat([20, 30, 40], 8)
    chance = np.tile(np.repeat([25, 75], 4), 3)
    own = pd.DataFrame({"sure_amt": sure, "gamble_amt": gamble, "gamble_p": chance})
    frame = pd.concat([own] * N_PEOPLE, ignore_index=True)
    takes = frame["gamble_amt"] * frame["gamble_p"] / 100 > frame["sure_amt"]
    takes ^= rng.random(len(frame)) < 0.1
    choice = np.where(takes, "gamble", "safe")
    who = np.repeat(np.arange(N_PEOPLE), N_TRIALS)
    return frame.assign(choice=choice).assign(participant=who, trial=np.tile(range(24), N_PEOPLE))


@pytest.mark.parametrize("name", ["pupil_mm", "mood", "fixation_count", "iti_s"])
def test_a_number_that_speaks_of_no_amount_is_no_outcome(name: str) -> None:
    rng = np.random.default_rng(3)
    frame = _gambles(rng)
    plain = read(frame, responses=CODE)
    beside = frame.assign(**{name: rng.integers(1, 8, len(frame))})
    found = describe_table(table_of_frame("answers.csv", beside[[name, *frame.columns]]))
    assert found.mapping.stimulus["b_amounts"] == ["gamble_amt", 0]
    assert only(read(beside[[name, *frame.columns]], responses=CODE)).digest == only(plain).digest


def test_times_at_left_and_right_are_no_delays_of_a_sure_amount_and_a_gamble() -> None:
    rng = np.random.default_rng(4)
    frame = _gambles(rng)
    looks = rng.integers(100, 900, (2, len(frame)))
    found = describe_table(
        table_of_frame("a.csv", frame.assign(dwell_time_left=looks[0], dwell_time_right=looks[1]))
    )
    assert found.domain == "risky"


def test_a_rating_above_all_offers_is_not_the_sum_they_come_from() -> None:
    rng = np.random.default_rng(5)
    offer = np.tile(np.arange(1, 6), 12)
    frame = pd.DataFrame({
        "participant": np.repeat(range(4), 15), "offer": offer, "trust": rng.integers(6, 10, 60),
        "choice": np.where(offer > 2, "accept", "reject"),
    })  # fmt: skip
    assert "own" not in describe_table(table_of_frame("a.csv", frame)).mapping.stimulus
    frame = frame.rename(columns={"trust": "pot"})
    assert describe_table(table_of_frame("a.csv", frame)).domain == "games"


def _flanker(response: str) -> pd.DataFrame:
    n_rows, keys = 40, np.tile(["z", response, response, "z"], 10)
    pressed = keys.astype(object)
    pressed[7], correct = "", np.ones(n_rows, dtype=int)
    correct[7] = 0
    return pd.DataFrame({
        "participant": np.repeat(["a", "b"], 20), "trial": np.tile(range(20), 2),
        "congruency": np.tile(["congruent", "incongruent"], 20), "correct": correct, "correct_response": keys,
        "response": pressed, "rt": np.where(pressed == "", 2000, 500 + np.arange(n_rows)),
    })  # fmt: skip


def test_a_row_without_a_key_is_missed_and_no_error() -> None:
    found = read(_flanker("slash"))
    assert found.left_out.n_rows == 1
    assert only(found).n_responses == 39
    # Keys that nobody knows the places of, so that the column of right and wrong holds the responses.
    found = read(_flanker("blue"))
    assert only(found).n_responses == 39


def test_four_places_with_changing_stimuli_are_asked_for() -> None:
    rng = np.random.default_rng(8)
    shown = np.array([rng.permutation(["apple", "pear", "plum", "fig"]) for _ in range(80)])
    frame = pd.DataFrame({
        "participant": np.repeat(["a", "b"], 40), **{f"pos{k + 1}": shown[:, k] for k in range(4)},
        "key": rng.integers(1, 5, 80), "points": rng.integers(10, 90, 80),
    })  # fmt: skip
    said: dict[str, Any] = {"response": "key", "feedback": {"reward": "points"}}
    with pytest.raises(ImplausibleError, match=r'shown=\["pos1", "pos2", "pos3", "pos4"\]'):
        read(frame, DOMAINS["learning"], **said)
    places = [f"pos{k}" for k in range(1, 5)]
    trials = only(
        read(frame, DOMAINS["learning"], **said, stimulus={"shown": places, "options": 4})
    )
    chosen = shown[np.arange(80), frame["key"] - 1]
    assert trials.response.tolist() == [sorted(set(chosen)).index(cell) for cell in chosen]


def test_a_bonus_row_among_numbered_choices_is_asked_for() -> None:
    frame = _gambles(np.random.default_rng(9)).astype({"trial": object})
    frame = frame.rename(columns={"trial": "choice_nr"})
    frame.loc[frame["choice_nr"] == 23, "choice_nr"] = "bonus"
    with pytest.raises(ImplausibleError, match="choice_nr is bonus in rows"):
        read(frame, responses=CODE)


def _games() -> pd.DataFrame:
    """A row for each game of four participants, whose eight steps columns number."""
    rng = np.random.default_rng(10)
    frame = pd.DataFrame({"Subject": np.repeat(range(4), 6), "Game": np.tile(range(6), 4)})
    for step in range(1, 9):
        frame[f"c{step}"], frame[f"r{step}"] = rng.integers(1, 3, 24), rng.integers(10, 90, 24)
    return frame


def test_rows_of_games_are_asked_for_and_then_read() -> None:
    found = describe_table(table_of_frame("a.csv", _games()))
    assert any("number the steps of each row" in line for line in found.doubts)
    assert not any("response=c" in line for line in found.doubts)
    said = {"wide": "c#,r#", "response": "c", "feedback": {"reward": "r"}}
    trials = only(read(_games(), DOMAINS["learning"], **said, stimulus={"block_start": "Game"}))
    assert np.flatnonzero(trials.stimuli["block_start"]).tolist() == list(range(0, 48, 8))


def test_games_of_two_lengths_are_those_of_the_horizon_task() -> None:
    found = describe_table(table_of_frame("a.csv", _games().assign(gameLength=[5, 10] * 12)))
    (line,) = (line for line in found.doubts if "lengths of games" in line)
    assert line.endswith("the file is not read")
    assert not any("number the steps of each row" in line for line in found.doubts)


def test_an_answer_that_ends_in_no_kind_of_task_is_not_printed() -> None:
    choice, step = (
        f"several columns may hold the choices; say which: --column response={name}"
        for name in ("choice", "c3")
    )
    gambles = describe_table(table_of_frame("a.csv", _gambles(np.random.default_rng(11))))
    assert _with_tried_answers(gambles, choice) == choice
    games = describe_table(table_of_frame("a.csv", _games()))
    assert _with_tried_answers(games, f"{step} or --column response=c4") == ""
    assert _with_tried_answers(games, f"{step} or --domain learning").endswith(
        ": --domain learning"
    )


def test_a_computed_response_keeps_the_kind_and_its_parts() -> None:
    n_rows = 60
    frame = pd.DataFrame({
        "who": np.repeat(range(3), 20), "early_amount": np.tile([10, 12], 30),
        "late_amount": np.tile([20, 25, 30], 20), "early_days": np.zeros(n_rows, dtype=int),
        "late_days": np.tile([7, 14, 30, 60], 15),
    })  # fmt: skip
    frame["picked"] = np.where(np.arange(n_rows) % 3, frame["late_amount"], frame["early_amount"])
    found = describe_table(table_of_frame("a.csv", frame))
    said = found.with_columns({"response": "picked == late_amount"})
    assert (said.domain, said.mapping.stimulus) == (found.domain, found.mapping.stimulus)
    assert said.mapping.response == "picked == late_amount"


def test_a_column_called_like_a_part_of_trials_is_asked_for() -> None:
    frame = _gambles(np.random.default_rng(12)).assign(Amb=np.tile([0, 0, 1], 48))
    said: dict[str, Any] = {
        "response": "choice", "responses": CODE,
        "stimulus": {
            "a_amounts": ["sure_amt"], "a_probabilities": [1], "b_amounts": ["gamble_amt", 0],
            "b_probabilities": ["gamble_p / 100"],
        },
    }  # fmt: skip
    with pytest.raises(ImplausibleError, match=r"Amb \(0, 1\) is not read, and may say ambiguous"):
        read(frame, DOMAINS["risky"], **said)
    assert only(read(frame, DOMAINS["risky"], **said, where={"Amb": "0"})).n_responses == 96


def test_groups_that_begin_anew_in_each_session_are_said_so() -> None:
    frame = pd.DataFrame([
        {"person": f"{session}{group}{member}", "session_code": session, "group": group, "round": number,
         "contribution": (group + member + number) % 9}
        for session in "xy" for group in (1, 2) for member in range(3) for number in (1, 2, 3)
    ])  # fmt: skip
    total = frame.groupby(["session_code", "group", "round"])["contribution"].transform("sum")
    frame = frame.assign(all_gifts=total)[[*frame.columns[:1], "all_gifts", *frame.columns[1:]]]
    said = {"stimulus": {"group_size": 3, "multiplier": 1.6, "endowment": 9}}
    with pytest.raises(TrialsError, match="--column experiment=session_code"):
        read(frame, DOMAINS["public_goods"], **said)
    assert len(read(frame, DOMAINS["public_goods"], experiment="session_code", **said).trials) == 2


def test_a_number_in_a_third_of_the_rows_is_no_mark_of_missing_values() -> None:
    assert marks_of_missing(np.array([1.0, 2, 3] * 6 + [99.0] * 9)) == []
    assert marks_of_missing(np.array([1.0, 2, 3] * 6 + [99.0])) == [99.0]


def test_times_of_day_order_rows_of_any_task() -> None:
    frame = _gambles(np.random.default_rng(13)).drop(columns="trial")
    when = pd.date_range("2021-05-03 09:00", periods=len(frame), freq="3min")
    stamped = frame.assign(stamp=when.strftime("%Y-%m-%d %H:%M:%S")).sample(frac=1, random_state=1)
    found = read(stamped, responses=CODE)
    assert any(line.startswith("stamp: rows are in the order") for line in found.told)
    assert not any("row_order" in line for line in found.told)


def test_several_conditions_that_are_not_read_make_one_line() -> None:
    frame = _gambles(np.random.default_rng(14))
    frame = frame.assign(hungry=np.tile([0, 0, 1, 1], 36), room=np.tile(["a", "b", "b"], 48))
    (line,) = [line for line in read(frame, responses=CODE).notes if "within participants" in line]
    assert line.startswith("hungry (0, 1), room (a, b) vary within participants and are not read")
    # Reports state it on their first screen, without the advice, and first among the limitations.
    assert pooled_conditions(["rows left out", line]) == (
        "hungry (0, 1), room (a, b) vary within participants and are not read, so responses of all conditions are "
        "taken together"
    )
    assert pooled_conditions(["rows left out"]) == ""
    assert line.count("--by COLUMN") == 1
