"""Which of the three verdicts is stated, one test for each rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.scoreboard import Scoreboard, TheoryStanding
from lakatos.theories.engine.scoring.score import ScoreEstimate, advantage
from lakatos.theories.engine.scoring.unexplained import ErrorRatio
from lakatos.theories.findings.generic_learners.completeness import guess_of_units
from lakatos.theories.findings.verdicts.headline import (
    headline,
    is_better,
    no_finding,
    ratio_in_words,
    verdict_of,
    weak_support,
)
from lakatos.theories.findings.verdicts.record import (
    EXPLORATORY,
    LEADERBOARD,
    CampaignConcluded,
    UnexplainedError,
)
from lakatos.traces.digest import Digest

LEFT, NOTHING = ErrorRatio(2.0, 1.5, 2.8, 40), ErrorRatio(1.1, 0.8, 1.6, 40)
SUPPORTED: dict[str, Any] = {
    "is_ahead": True,
    "is_new": True,
    "is_above_guessing": True,
    "is_ahead_of_published": True,
}
LEADER = "a" * 64


@pytest.mark.parametrize("left", [LEFT, NOTHING, None])
def test_a_new_theory_that_is_ahead_of_all_is_better(left: ErrorRatio | None) -> None:
    assert verdict_of(**SUPPORTED, left=left) == "better"


def test_where_no_published_theory_was_estimated_alike_the_initial_ones_decide() -> None:
    assert verdict_of(**SUPPORTED | {"is_ahead_of_published": None}, left=LEFT) == "better"


@pytest.mark.parametrize("lacking", sorted(SUPPORTED))
def test_a_renamed_tied_or_guessing_theory_is_never_better(lacking: str) -> None:
    found = SUPPORTED | {lacking: False}
    assert verdict_of(**found, left=LEFT) == "published"
    assert verdict_of(**found, left=NOTHING) == "nothing_left"
    assert verdict_of(**found, left=None) == "published"


def test_each_verdict_is_one_sentence_with_what_is_left() -> None:
    ratio = (
        "its misfit ratio on the presented trials is 2.00 (1 is expected if the theory is true; 90% interval 1.50 to "
        "2.80)"
    )
    assert headline("better", "Sum", "Sum", LEFT, ["side"]) == (
        f"Sum, a new theory, predicts better than every published one; {ratio}; the misfit is related to side."
    )
    assert headline("better", "Sum", "Sum", LEFT, [], is_ahead_of_published=None) == (
        f"Sum, a new theory, predicts better than every initial theory; {ratio}."
    )
    assert headline("published", "Sum", "Sum", LEFT, []) == (
        f"No theory was shown to predict better than Sum; {ratio}."
    )
    own = ratio.replace("its misfit ratio", "the misfit ratio of New")
    assert headline("published", "New", "Sum", LEFT, []) == (
        f"Undecided: New was not shown to predict better than Sum; {own}."
    )
    assert headline("published", "New", "Sum", LEFT, [], n_others=2) == (
        f"Undecided: New was not shown to predict better than Sum and 2 other theories; {own}."
    )
    assert headline("nothing_left", "Sum", "Sum", NOTHING, ["side"]) == (
        "These data give no evidence of a misfit of Sum: its misfit ratio on the presented trials is 1.10 "
        "(1 is expected if the theory is true; 90% interval 0.80 to 1.60)."
    )
    no_misfit = (
        "its misfit ratio on the presented trials is 1.10 (1 is expected if the theory is true; 90% interval 0.80 to "
        "1.60)."
    )
    assert headline("nothing_left", "Sum", "Sum", NOTHING, [], n_others=2) == (
        f"No theory was shown to predict best, and these data give no evidence of a misfit of Sum: {no_misfit}"
    )
    assert headline("nothing_left", "New", "Sum", NOTHING, [], n_others=1) == (
        "Undecided: New was not shown to predict better than Sum and 1 other theory; these data give no evidence of "
        f"its misfit: {no_misfit}"
    )
    behind = "Count, the closest initial theory"
    assert headline("nothing_left", "Sum", "Sum", NOTHING, [], behind=behind) == (
        "Sum predicts better than Count, the closest initial theory, and these data give no evidence of a misfit: its "
        "misfit ratio on the presented trials is 1.10 (1 is expected if the theory is true; 90% interval 0.80 to 1.60)."
    )
    assert "could not be computed" in ratio_in_words(None)


def concluded(**more: Any) -> CampaignConcluded:
    known: dict[str, Any] = {
        "leader": LEADER, "runner_up": None, "holds": True, "text": "", "stop": "", "advantage": 0.1,
        "advantage_error": 0.01, "interval": (0.08, 0.12), "n_compared": 1, "basis": LEADERBOARD,
        "errors": (), "cross_validated": (),
    }  # fmt: skip
    return CampaignConcluded(**known | more)


def test_a_verdict_of_an_earlier_version_is_read_by_the_rules_of_today() -> None:
    assert is_better(concluded())
    assert not is_better(concluded(), is_published=True)
    assert not is_better(concluded(holds=False))
    assert not is_better(concluded(basis=EXPLORATORY))


def test_a_recorded_verdict_decides_whatever_the_comparison_says() -> None:
    assert not is_better(concluded(verdict="published"))
    assert not is_better(concluded(verdict="nothing_left"))
    assert is_better(concluded(verdict="better", holds=False))


def test_what_a_theory_leaves_is_recorded_by_its_digest() -> None:
    left = UnexplainedError(theory=LEADER, ratio=1.1, low=0.8, high=1.6, degrees=40)
    found = concluded(unexplained=(left,))
    assert found.left_by(LEADER) == NOTHING
    assert found.left_by("b" * 64) is None


def clicks(n_people: int, n_trials: int = 40) -> Trials:
    """Scripts that click one of two options at random."""
    rng = np.random.default_rng(n_people)
    return Trials(
        experiment="1",
        stimuli=Stimuli({"x": np.arange(float(n_trials))}),
        participant=np.repeat(np.arange(n_people), n_trials),
        trial=np.tile(np.arange(n_trials), n_people),
        response=rng.integers(2, size=n_people * n_trials),
        count=np.ones(n_people * n_trials, dtype=np.int64),
        n_people=n_people,
    )


@pytest.mark.parametrize("n_people", [3, 12, 40])
def test_scripts_that_click_at_random_support_no_theory(n_people: int) -> None:
    """A theory that knows nothing is far ahead of one that is sure of itself, and no better than guessing."""
    trials = clicks(n_people)
    guessed = guess_of_units(trials)
    sizes = trials.n_choices
    assert guessed == pytest.approx(-np.log(2) * sizes)
    sure = np.where(trials.response == 1, np.log(0.9), np.log(0.1))
    of_sure = np.bincount(trials.participant, weights=sure)
    ahead = advantage(guessed - of_sure, sizes)
    assert ahead.value > 0.3
    above = advantage(guessed - guessed, sizes)
    found = verdict_of(
        is_ahead=ahead.is_above_zero(),
        is_new=True,
        is_above_guessing=above.is_above_zero(),
        is_ahead_of_published=True,
        left=NOTHING,
    )
    assert found == "nothing_left"
    assert ahead.is_above_zero() == (n_people >= 10)


def test_guessing_is_among_the_available_options_of_each_trial() -> None:
    available = np.array([[1, 1, 1, 1], [1, 1, 0, 0]])
    trials = Trials(
        experiment="1", stimuli=Stimuli({"available": available}), participant=np.array([0, 0, 1]),
        trial=np.array([0, 1, 1]), response=np.array([3, 1, 0]), count=np.array([1, 2, 1]), n_options=4,
        n_people=2,
    )  # fmt: skip
    assert guess_of_units(trials) == pytest.approx([-np.log(4) - 2 * np.log(2), -np.log(2)])
    assert guess_of_units(trials.in_counts()) == pytest.approx([-np.log(4), -3 * np.log(2)])


@pytest.mark.parametrize(("n_units", "is_few"), [(2, True), (9, True), (10, False), (None, False)])
def test_of_fewer_than_ten_participants_there_is_no_finding(
    n_units: int | None, is_few: bool
) -> None:
    score = ScoreEstimate(-0.6, 0.1, n_units)
    line = TheoryStanding(Digest("leader"), score, None, 0, 0.1, None, score, tied=True)
    board = Scoreboard((line,), ("1.1",))
    assert no_finding(board, pooled=True) == ""
    assert no_finding(board, pooled=False) == (
        f"No finding: {n_units} participants responded, and with fewer than 10 no difference is claimed."
        if is_few
        else ""
    )


@pytest.mark.parametrize(
    ("left", "others", "words"),
    [
        (
            NOTHING,
            (NOTHING, LEFT, NOTHING, None),
            "ratios of 2 of the 3 other theories give no evidence",
        ),
        (NOTHING, (NOTHING,), "ratio of the other theory gives no evidence"),
        (NOTHING, (NOTHING, LEFT), "ratio of 1 of the 2 other theories gives no evidence"),
        (NOTHING, (LEFT, LEFT), ""),
        (NOTHING, (None,), ""),
        (LEFT, (NOTHING,), ""),
        (None, (NOTHING,), ""),
    ],
)
def test_a_ratio_that_other_theories_pass_too_is_weak_support(
    left: ErrorRatio | None, others: tuple[ErrorRatio | None, ...], words: str
) -> None:
    found = weak_support(left, others)
    assert found == (
        f"This is weak support: the misfit {words} of a misfit either." if words else ""
    )
