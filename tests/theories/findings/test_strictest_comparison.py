"""The strictest comparison of the leader with the first rivals decides, and few participants decide nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from lakatos.experiments.record import TrialsCollected
from lakatos.experiments.state import ExperimentsState
from lakatos.flows.run.state import RunState
from lakatos.theories.engine.record import ENGINE, TheoryAdmitted, TheoryScored, UnitLogPredictives
from lakatos.theories.engine.scoreboard import board_of, prequential_advantage, scoreboard
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    average,
    is_tie,
    paired_difference,
)
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.findings.verdicts.conclude import (
    ComparedLeader,
    RivalComparison,
    compare_leader,
)
from lakatos.theories.findings.verdicts.record import EXPLORATORY, LEADERBOARD
from lakatos.traces.digest import digest_of
from lakatos.traces.step import Recorded

LEADER, RIVAL, OTHER = (digest_of(name) for name in ("leader", "rival", "other"))


def compared(*found: tuple[float, float, str]) -> ComparedLeader:
    """The leader ahead by these numbers with these standard errors, on these data."""
    comparisons = (
        RivalComparison(RIVAL, ScoreEstimate(value, error), basis) for value, error, basis in found
    )
    return ComparedLeader(LEADER, tuple(comparisons))


def test_a_leaderboard_that_calls_a_rival_tied_is_stricter_than_frozen_predictions() -> None:
    found = compared((0.30, 0.05, "predictions frozen"), (0.05, 0.03, LEADERBOARD))
    assert not found.holds
    assert found.strictest is not None
    assert found.strictest.basis == LEADERBOARD
    assert found.strictest.interval == pytest.approx((-0.01, 0.11))


def test_frozen_predictions_that_tell_nothing_are_stricter_than_the_leaderboard() -> None:
    found = compared((0.05, 0.03, "predictions frozen"), (0.30, 0.05, LEADERBOARD))
    assert not found.holds
    assert found.strictest is not None
    assert found.strictest.basis == "predictions frozen"


def test_a_leader_that_is_ahead_in_every_comparison_is_shown_by_the_strictest() -> None:
    found = compared((0.30, 0.05, "predictions frozen"), (0.10, 0.03, LEADERBOARD))
    assert found.holds
    assert found.strictest is not None
    assert found.strictest.interval == pytest.approx((0.04, 0.16))


def test_a_rival_that_is_far_behind_but_hardly_measured_decides() -> None:
    """Nearness is that of the interval: a mean may be larger and still show nothing."""
    near = RivalComparison(RIVAL, ScoreEstimate(0.10, 0.01), "sealed")
    unsure = RivalComparison(OTHER, ScoreEstimate(0.50, 0.40), "sealed")
    found = ComparedLeader(LEADER, (near, unsure))
    assert (found.strictest, found.holds) == (unsure, False)


def test_the_data_that_made_the_leader_show_nothing_alone() -> None:
    assert not compared((0.30, 0.05, EXPLORATORY)).holds


def test_without_a_first_rival_nothing_is_shown() -> None:
    found = ComparedLeader(LEADER, ())
    assert (found.strictest, found.holds) == (None, False)


@pytest.mark.parametrize(("n_participants", "claimed"), [(3, False), (9, False), (10, True)])
def test_below_ten_participants_no_difference_is_claimed(
    n_participants: int, claimed: bool
) -> None:
    gains = np.linspace(0.9, 1.1, n_participants)
    ones, zeros = np.ones(n_participants), np.zeros(n_participants)
    ahead = paired_difference([UnitScores(gains, ones)], [UnitScores(zeros, ones)])
    assert ahead.interval[0] > 0  # as clear as can be
    assert ahead.is_above_zero() == claimed
    assert is_tie(ahead) != claimed
    comparison = RivalComparison(RIVAL, ahead, "sealed trials")
    assert ComparedLeader(LEADER, (comparison,)).holds == claimed


@pytest.mark.parametrize(("n", "n_compared"), [(3, 1), (10, 1), (10, 5), (25, 20)])
def test_intervals_reach_as_far_as_students_t_of_one_less_than_the_participants(
    n: int, n_compared: int
) -> None:
    gains = np.random.default_rng(n).normal(size=n)
    found = paired_difference(
        [UnitScores(gains, np.ones(n))], [UnitScores(np.zeros(n), np.ones(n))]
    )
    error = gains.std(ddof=1) / np.sqrt(n)
    half = student.ppf(1 - 0.025 / n_compared, n - 1) * error
    low, high = found.interval_of_chosen(n_compared)
    assert (low, high) == pytest.approx((gains.mean() - half, gains.mean() + half))
    assert (found.n_units, found.degrees) == (n, n - 1)


def test_intervals_of_many_participants_stay_two_standard_errors() -> None:
    found = ScoreEstimate(1.0, 0.1, 400, 399.0)
    assert found.interval == pytest.approx((0.8, 1.2))


def test_degrees_of_freedom_of_several_experiments_are_satterthwaites() -> None:
    even = average([ScoreEstimate(0.0, 1.0, 12, 11.0), ScoreEstimate(0.0, 1.0, 12, 11.0)])
    assert (even.n_units, even.degrees) == (24, pytest.approx(22))
    one_sided = average([ScoreEstimate(0.0, 1.0, 12, 11.0), ScoreEstimate(0.0, 0.0, 12, 11.0)])
    assert (one_sided.n_units, one_sided.degrees) == (24, pytest.approx(11))


@pytest.mark.parametrize(
    ("experiments", "n_people", "claimed"),
    [
        (("1.1", "2.1"), 12, True),
        (("1.1 lotteries", "2.1 lotteries"), 6, False),
        (("1.1 lotteries", "2.1 others"), 12, True),
    ],
    ids=["new people", "the same people of an archive", "two archives"],
)
def test_participants_of_an_archive_count_once_however_often_it_is_opened(
    experiments: tuple[str, ...], n_people: int, claimed: bool
) -> None:
    ahead, behind = (
        [UnitScores(level + np.linspace(0, 0.1, 6), np.ones(6)) for _ in experiments]
        for level in (0.0, -1.0)
    )
    jitter = [
        UnitScores(item.log_predictive * np.linspace(1, 1.1, 6), item.n_choices) for item in behind
    ]
    found = paired_difference(ahead, jitter, experiments)
    assert found.n_units == n_people
    assert found.degrees <= n_people - 1
    assert found.is_above_zero() == claimed
    scores = {
        (theory, name): scored(theory, name, units, frozen=units)
        for theory, parts in ((LEADER, ahead), (RIVAL, jitter))
        for name, units in zip(experiments, parts, strict=True)
    }
    assert scoreboard([LEADER, RIVAL], experiments, scores).of(RIVAL).tied != claimed
    prequential = prequential_advantage(LEADER, RIVAL, ["0", *experiments], scores)
    assert prequential is not None
    assert prequential[0].n_units == n_people


def scored(
    theory: str, experiment: str, left_out: UnitScores, frozen: UnitScores | None = None
) -> TheoryScored:
    return TheoryScored(
        theory=theory, experiment=experiment, trials=digest_of(experiment), engine=ENGINE, n_draws=4,
        left_out=UnitLogPredictives.of(left_out),
        frozen=None if frozen is None else UnitLogPredictives.of(frozen),
        proportions=(0.5,), error=0.1, correlation=None,
    )  # fmt: skip


def state_of(left_out_gain: float, frozen_gain: float, n_participants: int) -> RunState:
    """One experiment, before which both theories' predictions were frozen; the leader ahead by these numbers."""
    noise = np.random.default_rng(3).normal(0, 0.2, n_participants)
    ones = np.ones(n_participants)
    scores = {}
    for theory, sign in ((LEADER, 1), (RIVAL, 0)):
        left_out, frozen = (
            UnitScores(sign * (gain + noise) - 1.0, ones) for gain in (left_out_gain, frozen_gain)
        )
        record = scored(theory, "1.1", left_out, frozen)
        scores[theory, "1.1"] = Recorded(record, digest_of(theory + "scored"))
    collected = TrialsCollected(
        experiment="1.1", preregistration=digest_of("p"), trials=digest_of("t"),
        n_participants=n_participants, n_responses=n_participants, n_people=n_participants, pooled=False,
        ceiling=None, ceiling_error=None,
    )  # fmt: skip
    admitted: dict[str, Any] = {
        theory: Recorded(TheoryAdmitted(theory=theory, cycle=1, reason="first"), digest_of(theory))
        for theory in (LEADER, RIVAL)
    }
    return RunState(
        experiments=ExperimentsState(collected={"1.1": Recorded(collected, digest_of("c"))}),
        theories=TheoriesState(scores=scores, pool=admitted),
    )


def test_predictions_frozen_with_declared_populations_do_not_decide_alone() -> None:
    """Before a first experiment nobody has answered, so that a declared range may win over another one by luck."""
    state = state_of(left_out_gain=0.0, frozen_gain=1.0, n_participants=30)
    found = compare_leader(state.theories, state.experiments, LEADER, [LEADER, RIVAL])
    assert board_of(state.theories, state.experiments).of(RIVAL).tied
    assert found.strictest is not None
    assert (found.holds, found.strictest.basis) == (False, LEADERBOARD)


def test_a_first_theory_that_is_ahead_by_both_is_shown() -> None:
    state = state_of(left_out_gain=1.0, frozen_gain=1.0, n_participants=30)
    assert compare_leader(state.theories, state.experiments, LEADER, [LEADER, RIVAL]).holds
