"""What files of conflict tasks say in words: congruence, right and wrong, and which key was right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lakatos.domains import DOMAINS
from lakatos.domains.attention.reader import guessed_parts, said_of_distractor
from lakatos.experiments.adoption.adopt import AdoptedAnswers, adopt
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import table_of_frame
from lakatos.experiments.adoption.timed_answers import guessed_response
from lakatos.experiments.errors import TrialsError


@pytest.mark.parametrize(
    ("cell", "sign"),
    [
        ("comp", 1.0),
        ("incomp", -1.0),
        ("incongr", -1.0),
        ("congr.", 1.0),
        ("neutral", 0.0),
        ("left", None),
    ],
)
def test_beginnings_of_words_say_what_the_distractor_suggests(
    cell: str, sign: float | None
) -> None:
    assert said_of_distractor(cell) == sign


def test_a_column_of_opposites_is_that_of_congruence_whatever_its_name() -> None:
    frame = pd.DataFrame({"Cond": ["comp", "incomp"], "RT": ["400", "500"]})
    assert guessed_parts(frame)["congruence"] == "Cond"
    assert guessed_parts(frame.assign(Cond=["comp", "company"])) == {}


def test_of_two_right_keys_the_one_in_words_of_the_response_is_taken() -> None:
    sides, keys = np.array(["left", "right"] * 4), np.array(["z", "m"] * 4)
    frame = pd.DataFrame(
        {"CorrectAnswer": sides, "Flanker": ["congruent", "incongruent"] * 4, "Probe.CRESP": keys,
         "Probe.RESP": keys, "RT": ["400"] * 8}
    )  # fmt: skip
    assert guessed_parts(frame)["right_key"] == "Probe.CRESP"
    assert guessed_parts(frame.drop(columns="Probe.CRESP"))["right_key"] == "CorrectAnswer"


def test_words_for_right_and_wrong_are_responses_under_any_name() -> None:
    frame = pd.DataFrame({"correctness": ["correct", "incorrect"], "shape": ["circle", "square"]})
    assert guessed_response(frame, set(), "?", has_keys=False) == "correctness"
    assert guessed_response(frame.drop(columns="correctness"), set(), "?", has_keys=False) == "?"


def _read_of_1_and_2(slower: int, gap_s: float) -> AdoptedAnswers:
    """Eight participants who take longer where ``congruency`` is one of 1 and 2."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({
        "subject": np.repeat(range(8), 60), "congruency": rng.integers(1, 3, 480),
        "correct": (rng.random(480) < 0.95) * 1,
    })  # fmt: skip
    time = rng.uniform(0.4, 0.7, 480) + gap_s * (frame["congruency"] == slower)
    table = table_of_frame("answers.csv", frame.assign(latency=(1000 * time).round()))
    found = describe_table(table)
    assert found.mapping.stimulus == {"congruence": "congruency"}
    return adopt(table, found.mapping, DOMAINS["attention"])


def test_of_a_congruency_of_1_and_2_the_slower_2_is_incongruent() -> None:
    found = _read_of_1_and_2(slower=2, gap_s=0.1)
    (trials,) = found.trials
    congruence = trials.stimuli["congruence"][trials.trial]
    assert set(congruence.tolist()) == {1.0, -1.0}
    assert any("1 is taken for congruent and 2 for incongruent" in line for line in found.notes)


def test_a_congruency_of_1_and_2_that_times_do_not_explain_is_asked_for() -> None:
    with pytest.raises(TrialsError, match=r"no name says which is congruent.*1 = \"incongruent\""):
        _read_of_1_and_2(slower=1, gap_s=0.1)
    with pytest.raises(TrialsError, match=r"each WORD congruent or incongruent"):
        _read_of_1_and_2(slower=2, gap_s=0.0)
