"""What files of conflict tasks say in words: congruence, right and wrong, and which key was right."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lakatos.domains.attention.reader import guessed_parts, said_of_distractor
from lakatos.experiments.adoption.timed_answers import guessed_response


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
