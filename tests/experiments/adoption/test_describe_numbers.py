"""What `describe` says of answers that are numbers, of their times, and of people who always answer alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from lakatos.domains import DOMAINS
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.tables import AnswerTable
from lakatos.experiments.answer_scale import heaping_in_words

RNG = np.random.default_rng(1)
WHOLE = RNG.integers(0, 101, 500)
HEAPED = np.where(RNG.random(500) < 0.4, np.round(WHOLE / 10) * 10, WHOLE)


def test_rounded_numbers_are_found_with_their_step_and_share() -> None:
    said = heaping_in_words(HEAPED.tolist())
    assert said.startswith(
        "47% of 500 responses are multiples of 10; without rounding, 10% are expected"
    )
    in_fifties = np.round(RNG.integers(0, 3000, 400) / 50) * 50
    assert "100% of 400 responses are multiples of 50" in heaping_in_words(in_fifties.tolist())


def test_answers_that_are_all_round_are_told_to_hold_nothing_finer() -> None:
    tens = 10 * RNG.integers(0, 11, 200)
    assert heaping_in_words(tens.tolist()).startswith(
        "all 200 responses are multiples of 10, because"
    )
    found = describe_table(table_of(estimate=np.resize(tens, 500)), DOMAINS["estimation"])
    assert any(
        text.startswith("estimate: all 500 responses are multiples of 10") for text in found.odd
    )
    # and against the grid of the domain, whose range is another one
    assert any("into bins hides" in text and "y_range" in text for text in found.beyond_grid)


@pytest.mark.parametrize(
    "numbers",
    [
        WHOLE,
        RNG.normal(size=500),
        RNG.integers(0, 21, 400),
        np.round(RNG.random(400), 2),
        HEAPED[:30],
        np.full(100, 50.0),
    ],
    ids=["whole", "drawn", "coins", "hundredths", "few", "one"],
)
def test_numbers_that_nobody_rounded_are_not_called_so(numbers: NDArray[np.float64]) -> None:
    assert heaping_in_words(numbers.tolist()) == ""


def table_of(**columns: object) -> AnswerTable:
    frame = pd.DataFrame({"subject": np.repeat([f"p{n}" for n in range(25)], 20), **columns})
    frame = frame.astype(str)
    frame.index = frame.index + 2
    return AnswerTable("answers.csv", frame)


def test_a_description_names_heaped_answers() -> None:
    odd = describe_table(table_of(estimate=HEAPED, trial=WHOLE * 10)).odd
    assert any(
        text.startswith("estimate: 47% of 500 responses are multiples of 10") for text in odd
    )
    # the number of a trial is no answer, whatever its digits
    assert not any(text.startswith("trial") and "multiples" in text for text in odd)


def test_people_who_always_press_one_key_are_named() -> None:
    key = RNG.integers(0, 2, 500)
    key[:20], key[60:80] = 1, 0
    odd = describe_table(table_of(key=key)).odd
    assert "participants whose key is the same in all their rows: 2 of 25 (p0, p3)" in odd


def test_times_that_are_no_outcome_are_counted_and_the_loss_of_the_grid_is_told() -> None:
    times = RNG.lognormal(-0.6, 0.3, 500)
    times[:3], times[3:5] = 0.0, 40.0
    table = table_of(correct=RNG.integers(0, 2, 500), rt=np.round(times, 3))
    odd = describe_table(table, DOMAINS["attention"]).beyond_grid
    (said,) = (text for text in odd if text.startswith("rt: of 500"))
    assert (
        "3 below 0.2 s and 2 above 3 s are outside of the bins; grouping the others into bins hides"
        in said
    )
    assert "too coarse" not in said
    # times that all lie within one or two bins
    narrow = table_of(correct=RNG.integers(0, 2, 500), rt=np.round(2.05 + 0.9 * RNG.random(500), 3))
    odd = describe_table(narrow, DOMAINS["attention"]).beyond_grid
    assert any("the grid is too coarse for them" in text for text in odd)


def test_ratings_that_the_reader_turns_into_categories_are_not_called_outside_of_the_grid() -> None:
    item, rating = np.resize(["old", "new"], 500), RNG.integers(1, 7, 500)
    table = table_of(item=item, rating=rating)
    assert describe_table(table, DOMAINS["recognition"]).beyond_grid == ()
    percent = table_of(item=item, rating=RNG.integers(0, 101, 500))
    (said,) = describe_table(percent, DOMAINS["recognition"]).beyond_grid
    assert "are outside of the bins" in said
