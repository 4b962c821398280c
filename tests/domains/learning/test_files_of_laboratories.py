"""Files of learning tasks as laboratories keep them: feedback below, stimuli at changing places, games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import read_answers, table_of_frame
from lakatos.experiments.errors import TrialsError

N_PEOPLE, N_TRIALS = 4, 60


def read(frame: pd.DataFrame, **said: Any) -> AdoptedAnswers:
    found = describe_table(table_of_frame("a.csv", frame)).with_columns(said)
    assert found.source is not None
    return adopt(found.source, found.mapping, DOMAINS[found.domain])


@pytest.fixture
def stimuli() -> pd.DataFrame:
    """Two stimuli at changing places; participants stay with the one that paid."""
    rng, rows = np.random.default_rng(5), []
    for who in range(N_PEOPLE):
        chosen = 0
        for trial in range(N_TRIALS):
            places = ["red", "blue"] if rng.random() < 0.5 else ["blue", "red"]
            won = int(rng.random() < (0.8 if chosen else 0.2))
            rows.append((who, trial, *places, ["red", "blue"][chosen], won))
            chosen = chosen if rng.random() < (0.9 if won else 0.3) else 1 - chosen
    names = ["subject", "trial", "left_image", "right_image", "stim", "points"]
    return pd.DataFrame(rows, columns=names)


def test_keys_choose_the_stimulus_at_their_place(stimuli: pd.DataFrame) -> None:
    is_left = stimuli["stim"] == stimuli["left_image"]
    keys = stimuli.assign(key=np.where(is_left, "f", "j")).drop(columns="stim")
    found = describe_table(table_of_frame("a.csv", keys)).mapping
    assert (found.response, found.stimulus["shown"]) == ("key", ["left_image", "right_image"])
    (trials,) = read(keys).trials
    assert trials.response.tolist() == (stimuli["stim"] == "red").astype(int).tolist()
    assert trials.feedback["reward"].tolist() == stimuli["points"].tolist()
    turned = read(keys, responses={"f": 1, "j": 0}).trials[0]
    assert (turned.response == 1 - trials.response).all()
    with pytest.raises(TrialsError, match=r"shown is 'left_image'"):
        read(keys, stimulus={"shown": "left_image"})


def test_stimuli_of_each_run_are_learned_apart(stimuli: pd.DataFrame) -> None:
    late = stimuli["trial"] >= N_TRIALS // 2
    other = {"red": "green", "blue": "pink"}
    frame = stimuli.assign(run=1 + late)
    for name in ("left_image", "right_image", "stim"):
        frame[name] = frame[name].where(~late, frame[name].map(other))
    frame["choice"] = np.where(frame["stim"] == frame["left_image"], "left", "right")
    frame = frame.rename(columns={"stim": "chosen_stim"})
    found = describe_table(table_of_frame("a.csv", frame)).mapping
    assert (found.response, found.experiment) == ("chosen_stim", "run")
    assert found.responses == {"blue": 0, "red": 1, "green": 0, "pink": 1}
    assert [item.n_responses for item in read(frame).trials] == [N_PEOPLE * N_TRIALS // 2] * 2


def test_feedback_in_the_row_below_is_that_of_the_response(stimuli: pd.DataFrame) -> None:
    above = stimuli.drop(columns=["points", "left_image", "right_image"])
    below = stimuli[["subject", "points"]]
    rows = pd.concat([above, below]).sort_index(kind="stable").reset_index(drop=True)
    rows = rows.astype(object).where(rows.notna(), "").rename(columns={"stim": "choice"})
    (trials,) = read(rows).trials
    assert trials.feedback["reward"].tolist() == stimuli["points"].tolist()
    assert trials.n_responses == len(stimuli)
    # In every second row alone, no feedback is that of a response.
    assert describe_table(table_of_frame("a.csv", rows.iloc[: len(rows) // 2 * 2 : 2])).domain == ""


def test_games_begin_where_what_options_pay_changes() -> None:
    rng, rows = np.random.default_rng(2), []
    for who in range(N_PEOPLE):
        for game in range(1, 7):
            means = np.random.default_rng(game).integers(-20, 20, 2)
            for _ in range(10):
                choice = int(rng.integers(2))
                rows.append(
                    (who, game, *means, choice + 1, means[choice] + int(rng.integers(-2, 3)))
                )
    frame = pd.DataFrame(rows, columns=["subject", "block", "mu1", "mu2", "choice", "reward"])
    (trials,) = read(frame).trials
    starts = trials.stimuli["block_start"]
    assert np.flatnonzero(starts).tolist() == [0, 10, 20, 30, 40, 50]
    shown = frame.assign(reward=rng.integers(0, 2, len(frame)))
    assert describe_table(table_of_frame("a.csv", shown)).domain != "learning"


def test_names_of_files_say_participants_and_their_parts(
    stimuli: pd.DataFrame, tmp_path: Path
) -> None:
    frame = stimuli.drop(columns=["subject", "left_image", "right_image"])
    for who in ("0311", "0412", "0513"):
        for part in ("tutorial", "game"):
            rows = frame.head(20 if part == "tutorial" else 40)
            rows.rename(columns={"stim": "choice"}).to_csv(tmp_path / f"{who}_{part}.csv")
    found = describe_table(read_answers(tmp_path)).mapping
    assert (found.participant, found.where) == ("participant", {"part": "game"})
    other = tmp_path / "other"
    other.mkdir()
    for name in ("AB-kirby27", "bv-kirby27", "rm-kirby27"):
        frame.to_csv(other / f"{name}.csv")
    assert not {"bv", "rm", "participant"} & set(read_answers(other).columns)


def test_choices_of_two_stages_are_stimuli_and_not_the_places_of_keys() -> None:
    """As in the files of Gillan et al. (2016): keys, stimuli, transition as 0 and 1, drifting chances."""
    rng, n = np.random.default_rng(3), 200
    first, second, places = (
        rng.integers(1, 3, n),
        rng.integers(1, 3, n),
        rng.integers(2, size=(2, n)),
    )
    rare = (rng.random(n) < 0.3).astype(int)
    frame = pd.DataFrame(
        {
            "subj": np.repeat(["S1", "S2", "S3", "S4"], 50),
            "trial": np.tile(np.arange(1, 51), 4),
            "drift_1": np.abs(0.5 + 0.02 * np.cumsum(rng.normal(size=n))).round(3),
            "stage_1_response": np.where(places[0], "left", "right"),
            "stage_1_selected": first,
            "transition": rare,
            "stage_2_response": np.where(places[1], "left", "right"),
            "stage_2_selected": second,
            "stage_2_state": 2 + (first - 1 ^ rare),
            "reward": rng.integers(2, size=n),
        }
    )
    mapping = describe_table(table_of_frame("a.csv", frame)).mapping
    assert mapping.response == "stage_1_selected"
    said = mapping.stimulus
    assert (said["second_choice"], said["state"]) == ("stage_2_selected", "stage_2_state")
    assert "cue" not in said
    (trials,) = read(frame).trials
    choices = np.stack([first, second], axis=1) - 1
    assert trials.response.reshape(-1, 2).tolist() == choices.tolist()


def two_options(rewards: np.ndarray) -> pd.DataFrame:
    """Participants who stay with an option after more than the mean reward."""
    rng = np.random.default_rng(8)
    stays = (rewards > rewards.mean()) | (rng.random(len(rewards)) < 0.3)
    choice = np.cumsum(~np.roll(stays, 1)) % 2
    return pd.DataFrame(
        {
            "subject": np.repeat(np.arange(4), len(rewards) // 4),
            "trial": np.tile(np.arange(1, len(rewards) // 4 + 1), 4),
            "choice": choice + 1,
            "reward": rewards,
        }
    )


def test_expectations_begin_at_zero_where_rewards_are_gains_and_losses() -> None:
    points = np.random.default_rng(4).integers(-30, 31, 240)
    points[7] = -40
    found = read(two_options(points))
    assert found.trials[0].feedback["reward"] == pytest.approx(points / 40)
    assert "reward: some rewards are losses, so expectations begin at 0" in found.notes
    assert found.trials[0].stimuli["has_losses"].all()


def test_rewards_without_losses_are_expected_to_be_half_of_the_largest_one() -> None:
    points = np.random.default_rng(4).integers(0, 31, 240)
    (trials,) = read(two_options(points)).trials
    assert trials.feedback["reward"] == pytest.approx(points / 30)
    assert "has_losses" not in trials.stimuli.arrays


def test_a_stimulus_and_a_response_by_letter_are_no_prediction(stimuli: pd.DataFrame) -> None:
    rng = np.random.default_rng(1)
    shown = pd.DataFrame({"P": stimuli["subject"], "T": stimuli["trial"]})
    shown["S"] = np.where(np.arange(len(shown)) % 2, "a", "b")
    shown["R"] = rng.choice(["a", "b"], len(shown))
    shown["rt"] = rng.integers(300, 900, len(shown))
    assert describe_table(table_of_frame("a.csv", shown)).domain != "learning"
