"""Grids of outcomes: what an answer is, what is refused, what a grid loses."""

import numpy as np
import pytest

from lakatos.experiments.answer_scale import levels, number, timed
from lakatos.experiments.errors import AnswerScaleError, TrialsError

COINS = levels(range(21), "coins")
HEIGHT = number([-1.0, -0.5, 0.0, 1.0], "y")
TIMED = timed(("left", "right"), [0.2, 0.5, 1.0])


def test_a_level_is_its_own_outcome():
    assert COINS.outcomes_of([0, 20, 7]).tolist() == [0, 20, 7]
    assert COINS.labels[7] == "7"


def test_a_number_is_the_bin_that_it_lies_in_ends_included():
    assert HEIGHT.outcomes_of([-1.0, -0.5, -0.1, 1.0]).tolist() == [0, 1, 1, 2]
    assert HEIGHT.places == (-0.75, -0.25, 0.5)
    assert HEIGHT.widths == (0.5, 0.5, 1.0)


def test_a_choice_with_its_time_is_an_option_and_a_bin():
    assert TIMED.outcomes_of([0.3, 0.5, 0.9], [0, 1, 1]).tolist() == [0, 3, 3]
    assert TIMED.labels == (
        "left after 0.35 s",
        "left after 0.75 s",
        "right after 0.35 s",
        "right after 0.75 s",
    )


def test_a_bin_is_stated_by_its_ends_and_a_level_by_itself():
    assert TIMED.in_words(3) == "right, 0.5 to 1 s"
    assert HEIGHT.in_words(0) == "-1 to -0.5 y"
    assert COINS.in_words(7) == "7"


@pytest.mark.parametrize(
    ("scale", "answers", "chosen", "words"),
    [
        (COINS, [3, 2.5], None, "answer 1 is 2.5 coins; give one of the levels 0, 1"),
        (COINS, [21], None, "answer 0 is 21 coins"),
        (
            HEIGHT,
            [0.0, 1.01],
            None,
            "answer 1 is 1.01 y; give from -1 to 1, or leave the answer out",
        ),
        (HEIGHT, [np.nan], None, "answer 0 is nan"),
        (TIMED, [0.0], [0], "answer 0 is 0 s; give from 0.2 to 1"),
        (TIMED, [40.0], [0], "answer 0 is 40 s"),
        (TIMED, [0.3], [2], "answer 0 chose option 2; there are 0 to 1"),
        (TIMED, [0.3], None, "give the chosen option"),
    ],
)
def test_what_is_no_outcome_is_refused(scale, answers, chosen, words):
    with pytest.raises(TrialsError, match=words):
        scale.outcomes_of(answers, chosen)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: levels([1, 1, 2], "stars"), "must be numbers that grow"),
        (lambda: number([0.0, np.inf], "y"), "must be numbers that grow"),
        (lambda: number([0.0, 1.0], "y"), "has 2 to 200 outcomes, and these edges make 1"),
        (lambda: timed(("a", "b"), np.linspace(0, 5, 150)), "these edges make 298"),
    ],
)
def test_a_grid_that_is_none_is_refused(make, words):
    with pytest.raises(AnswerScaleError, match=words):
        make()


def test_a_grid_says_what_it_loses():
    answers = np.random.default_rng(1).uniform(0, 1, 40_000)
    for n_bins in (1, 2, 10):
        edges = np.linspace(0, 1, n_bins + 1)
        lost = number([*edges, 2.0], "y").share_lost(answers)
        # uniform answers: the variance within a bin is that of the whole over the number of bins squared
        assert lost == pytest.approx(1 / n_bins**2, rel=0.02)
    assert COINS.share_lost([1, 2, 3]) == 0
