"""Files of perceptual decisions: what columns are recognised as, which trials they are, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import lakatos
from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.errors import TrialsError
from tests.domains.attention.test_reader import rows as conflict_rows
from tests.experiments.adoption.reading import read

SCALE = DOMAINS["perception"].scale
KEYS = np.array(["left", "right"])


def dots(n_people: int = 5, n_trials: int = 60, seed: int = 1) -> pd.DataFrame:
    """Dots that move, of which the more coherent ones are seen more often rightly."""
    rng = np.random.default_rng(seed)
    n = n_people * n_trials
    coherence = rng.choice([0.064, 0.128, 0.512], n)
    side = rng.integers(0, 2, n)
    is_right = rng.random(n) < 0.5 + 0.49 * (coherence / 0.512) ** 0.5
    return pd.DataFrame(
        {
            "subject": np.repeat([f"s{who}" for who in range(n_people)], n_trials),
            "trial": np.tile(np.arange(1, n_trials + 1), n_people),
            "coherence": coherence,
            "direction": KEYS[side],
            "response": KEYS[np.where(is_right, side, 1 - side)],
            "rt": (300 + rng.gamma(2.0, 150.0, n)).round(1),
        }
    )


def only(frame: pd.DataFrame, **said: Any) -> Any:
    """The trials of the only experiment of a file of perception."""
    found = lakatos.adopt(frame, "perception", said)
    (trials,) = found.trials
    return trials


def described(frame: pd.DataFrame) -> Any:
    return describe_table(table_of_frame("rows.csv", frame))


def gratings(n_people: int = 5, n_trials: int = 60, seed: int = 1) -> pd.DataFrame:
    """Gratings on the left or on the right, whose contrasts stand in two columns; -1 is the response to the right."""
    frame = dots(n_people, n_trials, seed)
    is_right = (frame["direction"] == "right").to_numpy()
    contrast = frame["coherence"].astype(str)
    contrast[::7] = "0"
    return pd.DataFrame(
        {
            "subject": frame["subject"],
            "trial": frame["trial"],
            "contrastLeft": contrast.where(~is_right, ""),
            "contrastRight": contrast.where(is_right, ""),
            "choice": np.where(frame["response"] == "right", "-1", "1"),
            "feedbackType": np.where(frame["response"] == frame["direction"], "1", "-1"),
            "response_times": frame["rt"] / 1000,
        }
    )


def test_contrasts_on_the_left_and_on_the_right_are_one_signed_strength():
    frame = gratings()
    frame.loc[frame.index[3::50], "choice"] = "0"
    found = described(frame)
    assert found.domain == "perception"
    assert found.mapping.stimulus["right_key"] == "contrastRight - contrastLeft"
    assert found.mapping.responses == {"1": 0, "-1": 1}
    answered = frame[frame["choice"] != "0"].reset_index(drop=True)
    (trials,) = lakatos.adopt(frame).trials
    told = answered[["contrastLeft", "contrastRight"]].replace("", "0").astype(float)
    strength = told.max(axis=1)
    assert trials.stimuli["strength"][trials.trial] == pytest.approx(strength / 0.512)
    side = np.where(answered["contrastLeft"].replace("", "0").astype(float) > 0, -1, 1)
    assert (trials.stimuli["side"][trials.trial] == side).all()
    is_right = (answered["choice"] == "-1") == (side == 1)
    assert (np.array(trials.response) < SCALE.n_outcomes // 2).mean() in (
        pytest.approx(is_right.mean()),
        pytest.approx(1 - is_right.mean()),
    )


def test_no_advice_takes_one_of_two_contrasts_for_an_experiment():
    with pytest.raises(TrialsError, match=r"contrastLeft and contrastRight .* --domain perception"):
        read(
            gratings(), DOMAINS["learning"], response="choice", feedback={"reward": "feedbackType"}
        )


def test_dots_are_recognised_and_read_row_by_row():
    frame = dots()
    assert described(frame).domain == "perception"
    found = lakatos.adopt(frame)
    (trials,) = found.trials
    assert trials.stimuli["strength"][trials.trial] == pytest.approx(frame["coherence"] / 0.512)
    side = np.where(frame["direction"] == "right", 1, -1)
    assert (trials.stimuli["side"][trials.trial] == side).all()
    is_right = trials.response < len(SCALE.edges) - 1
    assert (is_right == (frame["direction"] == frame["response"])).all()
    assert any("coherence: strength 1 is 0.512" in note for note in found.notes)


def test_a_unit_or_the_name_of_responses_changes_no_trial():
    frame = dots()
    words = {"left": "nonword", "right": "word"}
    other = frame.assign(
        coherence=100 * frame["coherence"], rt=frame["rt"] / 1000,
        direction=frame["direction"].map(words), response=frame["response"].map(words),
    )  # fmt: skip
    assert only(other).digest == only(frame).digest


def test_signed_evidence_says_how_strong_it_is_and_for_which_response():
    frame = dots()
    sign = np.where(frame["direction"] == "right", 1, -1)
    signed = frame.assign(coherence=frame["coherence"] * sign).drop(columns="direction")
    found = described(signed)
    assert found.domain == "perception"
    assert found.mapping.stimulus == {"strength": "coherence", "right_key": "coherence"}
    assert only(signed).digest == only(frame).digest


def test_words_beside_signed_evidence_are_advised_with_its_sign_as_the_right_key():
    frame = dots()
    tilt = frame["coherence"] * np.where(frame["direction"] == "right", 1, -1)
    words = frame["response"].map({"left": "cw", "right": "ccw"})
    signed = frame.assign(tilt=tilt, response=words).drop(columns=["coherence", "direction"])
    advice = '"right_key": "tilt", "strength": "tilt"}, "responses": {"cw": 0, "ccw": 1}'
    with pytest.raises(TrialsError, match=advice):
        only(signed, response="response")
    key = {"right_key": "tilt", "strength": "tilt"}
    read = only(signed, response="response", responses={"cw": 0, "ccw": 1}, stimulus=key)
    assert read.digest == only(frame).digest
    with pytest.raises(TrialsError, match="0 for a right answer and 1 for a wrong one"):
        only(signed.assign(tilt=tilt.abs()), response="response")
    spaced = signed.assign(response=words.map({"cw": "to left", "ccw": "to right"}))
    with pytest.raises(TrialsError, match=r'"responses": {"to left": 0, "to right": 1}'):
        only(spaced, response="response")


def test_right_and_wrong_are_enough_and_then_no_side_is_known():
    frame = dots()
    correct = (frame["direction"] == frame["response"]).astype(int)
    found = lakatos.adopt(frame.assign(correct=correct).drop(columns=["direction", "response"]))
    assert found.domain.name == "perception"
    (trials,) = found.trials
    assert set(trials.stimuli["side"]) == {1.0}
    assert "keys" in found.closed
    assert "strengths" not in found.closed


def test_words_for_levels_are_ordered_by_what_they_mean():
    frame = dots()
    words = {0.064: "hard", 0.128: "medium", 0.512: "easy"}
    levels = frame.assign(difficulty=frame["coherence"].map(words)).drop(columns="coherence")
    assert described(levels).domain == "perception"
    trials = only(levels)
    known = frame["coherence"].map({0.064: 1 / 3, 0.128: 2 / 3, 0.512: 1.0})
    assert trials.stimuli["strength"][trials.trial] == pytest.approx(known)


def test_words_and_nonwords_have_no_strength():
    frame = dots().drop(columns="coherence")
    words = {"left": "nonword", "right": "word"}
    lexical = frame.assign(
        stimulus=frame["direction"].map(words), response=frame["response"].map(words)
    ).drop(columns="direction")
    found = described(lexical)
    assert found.domain == "perception"
    assert found.mapping.stimulus == {"right_key": "stimulus"}
    adopted = lakatos.adopt(lexical)
    assert set(adopted.trials[0].stimuli["strength"]) == {1.0}
    assert "strengths" in adopted.closed


def test_without_evidence_the_second_response_counts_as_right():
    frame = dots()
    frame.loc[:9, "coherence"] = 0.0
    frame.loc[:9, "direction"] = ["left", "right"] * 5
    frame.loc[:9, "response"] = ["left", "left", "right", "right", "left"] * 2
    trials = only(frame)
    first = trials.trial[:10]
    assert set(trials.stimuli["strength"][first]) == {0.0}
    assert set(trials.stimuli["side"][first]) == {1.0}
    is_right = trials.response[:10] < len(SCALE.edges) - 1
    assert is_right.tolist() == [False, False, True, True, False] * 2


def test_anticipations_slow_and_missed_responses_are_left_out():
    frame = dots()
    frame.loc[0, "rt"], frame.loc[1, "rt"], frame.loc[2, "rt"] = 120.0, 9000.0, np.nan
    found = lakatos.adopt(frame)
    assert found.trials[0].n_responses == len(frame) - 3
    assert any("1 below 0.2 s and 1 above 5 s are" in note for note in found.notes)
    wide = only(frame, time_window=[0.1, 10.0])
    assert wide.n_responses == len(frame) - 1


def test_many_strengths_are_rounded_to_hundredths_of_the_strongest():
    frame = dots(n_trials=120)
    frame["coherence"] = np.linspace(0.1, 51.2, len(frame))
    found = lakatos.adopt(frame)
    strengths = found.trials[0].stimuli["strength"]
    assert len(np.unique(strengths)) <= 101
    assert strengths == pytest.approx(np.round(strengths, 2), abs=1e-12)
    assert any("rounded to hundredths of it" in note for note in found.notes)


def test_a_strongest_stimulus_can_be_named():
    frame = dots()
    said = {"strength": "coherence", "right_key": "direction", "strongest": 1.024}
    trials = only(frame, stimulus=said)
    assert trials.stimuli["strength"][trials.trial] == pytest.approx(frame["coherence"] / 1.024)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rt": 500.0}, "all times in rt are 0.5 s; name the column"),
        ({"coherence": "faint"}, r"rows 2, 3.*: coherence is 'faint', which is no strength"),
        ({"stimulus": {"strength": "coherence", "strongest": 0}}, "the strongest stimulus of coherence is 0"),
        ({"stimulus": {"strength": "coherence", "strongest": 0.2}}, "is stronger than the strongest stimulus"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_row(changes, words):
    frame = dots()
    said = {"stimulus": {"strength": "coherence", "right_key": "direction"}}
    if "stimulus" in changes:
        said = {"stimulus": {**said["stimulus"], **changes["stimulus"]}}
    else:
        frame = frame.assign(**changes)
    with pytest.raises(TrialsError, match=words):
        only(frame, **said)


def test_a_time_below_zero_is_refused_with_its_row():
    frame = dots()
    frame.loc[3, "rt"] = -500.0
    with pytest.raises(TrialsError, match=r"row 5.*rt.*is a time below zero"):
        only(frame)


def test_strengths_that_count_difficulty_are_questioned():
    frame = dots(n_people=20)
    turned = frame.assign(coherence=0.6 - frame["coherence"])
    with pytest.raises(TrialsError, match="it may count difficulty"):
        only(turned)
    assert only(turned, accept=["reversed_code"]).n_responses == len(frame)


def test_directions_without_signs_are_no_sides_and_two_codes_are_no_correctness():
    frame = dots()
    codes = {"left": 0, "right": 1}
    both = frame.assign(direction=frame["direction"].map(codes))
    both["response"] = 2 * frame["response"].map(codes) - 1
    (told,) = [line for line in described(both).doubts if "strength=coherence" in line]
    assert "--domain perception" in told
    assert "right_key=direction" in told
    strength = {"strength": "coherence"}
    with pytest.raises(TrialsError, match=r'"right_key": "direction".*"-1": "0", "1": "1"'):
        only(both, response="response", stimulus=strength)
    words = both.assign(direction=frame["direction"])
    with pytest.raises(TrialsError, match=r'"right_key": "direction".*"-1": "left"'):
        only(words, response="response", stimulus={**strength, "side": "direction"})
    # a column that responses do not follow is asked about by no one
    other = both.drop(columns="direction").assign(sex=["f", "m"] * (len(both) // 2))
    assert only(other, response="response", stimulus=strength).n_responses == len(other)
    found = only(
        both, response="response", recode={"response": {"-1": "0", "1": "1"}}, responses=codes | {"0": 0, "1": 1},
        stimulus={**strength, "right_key": "direction"},
    )  # fmt: skip
    assert found.digest == only(frame).digest
    is_right = (frame["direction"] == frame["response"]).astype(int)
    judged = both.drop(columns="response").assign(accuracy=is_right)
    side = {"response": "accuracy", "stimulus": {**strength, "side": "direction"}}
    for first in (0, 1):
        with pytest.raises(TrialsError, match="is none of left, l, -1, right, r, 1"):
            only(judged.assign(direction=judged["direction"] + first), **side)
    signed = judged.assign(direction=2 * judged["direction"] - 1)
    assert only(signed, **side).digest == only(frame).digest
    key = {"response": "accuracy", "stimulus": {**strength, "right_key": "direction"}}
    with pytest.raises(TrialsError, match=r'accuracy says whether .*"side": "direction"'):
        only(judged.assign(direction=frame["direction"]), **key)


def test_correctness_is_advised_as_no_condition():
    frame = dots()
    is_wrong = frame["direction"] != frame["response"]
    wrong = np.where(is_wrong, "x", "y")
    said = {"stimulus": {"strength": "coherence", "right_key": "direction"}, "response": "response"}

    def advised(cells: Any) -> bool:
        made = read(frame.assign(judgement=cells), DOMAINS["perception"], **said)
        return any("judgement (x, y) varies within participants" in line for line in made.notes)

    assert not advised(wrong)
    wrong[0] = "y" if is_wrong[0] else "x"
    assert advised(wrong)


def test_more_errors_than_by_chance_are_questioned():
    frame = dots(n_people=20)
    turned = frame.assign(response=np.where(frame["response"] == "left", "right", "left"))
    said = {"response": "response", "stimulus": {"strength": "coherence", "right_key": "direction"}}
    with pytest.raises(TrialsError, match="fewer than by chance"):
        only(turned, **said)


def test_a_conflict_task_is_not_taken_for_perception():
    assert described(conflict_rows()).domain == "attention"
    both = conflict_rows("abcdef").assign(difficulty=1)
    assert described(both).domain == "attention"


def test_strengths_about_a_boundary_are_questioned_with_their_distance_from_it():
    """Of strengths 0 to 32, those above 16 are right with one response, and 16 is the hardest."""
    frame = dots(n_people=8).drop(columns="coherence")
    rng = np.random.default_rng(2)
    strength = rng.integers(0, 33, len(frame))
    source = rng.random(len(frame)) < 1 / (1 + np.exp(-(strength - 16) / 4))
    right, wrong = KEYS[source.astype(int)], KEYS[1 - source.astype(int)]
    is_right = rng.random(len(frame)) < 0.55 + 0.4 * np.abs(strength - 16) / 16
    bright = frame.assign(
        strength=strength, direction=right, response=np.where(is_right, right, wrong)
    )
    with pytest.raises(TrialsError, match=r'signed about 16.*"strength": "abs\(strength - 16\)"'):
        only(bright)
    found = read(bright, DOMAINS["perception"], stimulus={"strength": "abs(strength - 16)"})
    assert "abs(strength - 16): strength 1 is 16" in found.notes


@pytest.mark.parametrize("name", ["outlier", "excluded", "bad_trial", "is_invalid"])
def test_rows_that_a_flag_excludes_are_left_out_and_counted(name: str):
    frame = dots()
    flags = np.where(np.arange(len(frame)) % 20 == 3, "TRUE", "FALSE")
    found = read(frame.assign(**{name: flags}))
    (kind,) = found.left_out.kinds
    assert (kind.reason, len(kind.rows)) == (f"{name} is not FALSE", 15)
    assert found.trials[0].n_responses == len(frame) - 15
    whole = read(frame.assign(**{name: flags}), accept=["practice_rows"])
    assert whole.trials[0].digest == only(frame).digest
