"""The scoreboard: ranks, ties and averages over experiments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lakatos.theories.engine.record import (
    ENGINE,
    SealedScored,
    TheoryChecked,
    TheoryScored,
    UnitLogPredictives,
)
from lakatos.theories.engine.scoreboard import (
    Scoreboard,
    TheoryStanding,
    prequential_advantage,
    scoreboard,
)
from lakatos.theories.engine.scoring.score import ScoreEstimate, UnitScores
from lakatos.theories.language.theory import PUBLISHED
from lakatos.traces.digest import digest_of

A, B, C = (digest_of(name) for name in "abc")


def units(scores, n_choices=1.0) -> UnitLogPredictives:
    scores = np.asarray(scores, dtype=np.float64)
    return UnitLogPredictives.of(UnitScores(scores, np.full(len(scores), n_choices)))


def scored(
    theory, experiment, declared, *, learned=None, error=0.1, correlation=0.5, n_options=2
) -> TheoryScored:
    return TheoryScored(
        theory=theory,
        experiment=experiment,
        trials=digest_of(experiment),
        engine=ENGINE,
        n_draws=4,
        left_out=units(declared),
        frozen=None if learned is None else units(learned),
        proportions=(0.5,),
        error=error,
        correlation=correlation,
        n_options=n_options,
    )


def board_of(*records, theories=None):
    experiments = list(dict.fromkeys(record.experiment for record in records))
    return scoreboard(
        theories or list(dict.fromkeys(record.theory for record in records)),
        experiments,
        {(record.theory, record.experiment): record for record in records},
    )


def checked(theory, code_length, unreadable="", author="a") -> TheoryChecked:
    return TheoryChecked(
        theory=theory, passed=True, name="T", claim="c", author=author, parents=(), change="", cycle=0, n_parameters=1,
        code_length=code_length, unreadable=unreadable, checks=(), reason="",
    )  # fmt: skip


def leader_of(lengths, *records, unreadable=(), sealed=(), published=()):
    experiments = list(dict.fromkeys(record.experiment for record in records))
    board = scoreboard(
        list(dict.fromkeys(record.theory for record in records)),
        experiments,
        {(record.theory, record.experiment): record for record in records},
        {
            name: checked(
                name,
                size,
                "it nests" if name in unreadable else "",
                PUBLISHED if name in published else "induction",
            )
            for name, size in lengths.items()
        },
        {item.theory: item for item in sealed},
    )
    assert board.standings[0].theory == board.leader.theory
    return board.leader.theory


NOISE = np.array([0.1 * (-1) ** n for n in range(40)])


def test_the_simplest_theory_within_one_standard_error_of_the_best_leads():
    best = scored(A, "e", -0.5 + 0 * NOISE)
    near, far = (
        scored(B, "e", -0.51 + NOISE),
        scored(C, "e", -0.53 + NOISE),
    )  # the standard error is 0.016
    assert leader_of({A: 90, B: 50, C: 20}, best, near, far) == B
    assert leader_of({A: 40, B: 50, C: 20}, best, near, far) == A
    assert board_of(best, near, far).leader.theory == A  # nothing is known of how simple they are


def test_no_new_theory_leads_where_a_published_one_predicts_at_least_as_well():
    best, shorter = scored(A, "e", -0.5 + 0 * NOISE), scored(B, "e", -0.505 + NOISE)
    lengths = {A: 90, B: 50}
    assert leader_of(lengths, best, shorter) == B
    assert leader_of(lengths, best, shorter, published={A}) == A
    # A published one that predicts less well, or is longer than another published one, has no such right.
    assert leader_of({A: 50, B: 90}, best, shorter, published={B}) == A
    assert leader_of(lengths, best, shorter, published={A, B}) == B
    # It must be near the best itself, and readable.
    third = scored(C, "e", -0.53 + NOISE)
    assert leader_of({A: 90, B: 50, C: 20}, best, shorter, third, published={C}) == B
    assert leader_of(lengths, best, shorter, published={A}, unreadable={A}) == B


def test_people_who_all_answer_alike_tell_a_right_theory_from_a_simple_one():
    alike = np.zeros(25)
    right, simple = scored(A, "e", -0.01 + alike), scored(B, "e", -0.5 + alike)
    assert leader_of({A: 120, B: 50}, right, simple) == A
    few = [scored(name, "e", [value] * 4) for name, value in ((A, -0.01), (B, -0.5))]
    assert leader_of({A: 120, B: 50}, *few) == A  # a tie, yet not within one standard error
    assert (
        leader_of(
            {A: 120, B: 50},
            *(scored(name, "e", [value] * 2) for name, value in ((A, -0.4), (B, -0.5))),
        )
        == B
    )


def test_frozen_predictions_count_more_than_experiments_left_out():
    ornate = [
        scored(A, name, -0.5 + NOISE, learned=frozen)
        for name, frozen in (("e", None), ("f", -0.56 + NOISE))
    ]
    simple = [scored(B, name, -0.51 - NOISE, learned=-0.5 - NOISE) for name in "ef"]
    assert leader_of({A: 90, B: 50}, *ornate, *simple) == B
    better = [
        scored(A, name, -0.5 + NOISE, learned=frozen)
        for name, frozen in (("e", None), ("f", -0.4 + 0 * NOISE))
    ]
    assert leader_of({A: 90, B: 50}, *better, *simple) == A


def test_a_theory_that_all_answers_tell_apart_from_the_best_does_not_lead_by_little_frozen_evidence():
    best = [scored(A, "e", -0.5 + 0 * NOISE), scored(A, "f", [-0.5, -0.5], learned=[-0.5, -0.5])]
    simple = [scored(B, "e", -0.9 + NOISE), scored(B, "f", [-0.5, -0.5], learned=[-0.4, -0.7])]
    assert leader_of({A: 90, B: 50}, *best, *simple) == A


def test_a_theory_that_cannot_be_read_leads_only_where_no_readable_one_is_near():
    first, second = scored(A, "e", -0.5 + 0 * NOISE), scored(B, "e", -0.505 + NOISE)
    assert leader_of({A: 30, B: 50}, first, second, unreadable={A}) == B
    assert leader_of({A: 30, B: 50}, first, scored(B, "e", -0.6 + NOISE), unreadable={A}) == A


def on_sealed(theory, scores):
    return SealedScored(
        theory=theory, experiments=("s",), n_draws=4, scores=(units(scores),), squared=((0.0,),)
    )


def test_of_theories_near_on_sealed_responses_none_leads_that_the_leaderboard_shows_to_be_worse():
    sealed = [on_sealed(name, -0.5 + sign * NOISE) for name, sign in ((A, 1), (B, 0), (C, -1))]
    clearly_worse = scored(B, "e", -0.6 + NOISE / 10)
    records = scored(A, "e", -0.5 + 0 * NOISE), scored(C, "e", -0.501 + NOISE)
    assert leader_of({A: 90, B: 20, C: 50}, *records, clearly_worse, sealed=sealed) == C
    tied = scored(B, "e", -0.505 - NOISE)
    assert leader_of({A: 90, B: 20, C: 50}, *records, tied, sealed=sealed) == B
    best_on_sealed = [on_sealed(B, -0.499 + 0 * NOISE), *sealed[::2]]
    assert leader_of({A: 90, B: 20, C: 50}, *records, clearly_worse, sealed=best_on_sealed) == C


def test_sealed_answers_choose_the_leader_once_they_are_open():
    records = scored(A, "e", -0.5 + 0 * NOISE), scored(B, "e", -0.51 + NOISE)

    sealed = on_sealed(A, -0.6 + NOISE), on_sealed(B, -0.5 + 0 * NOISE)
    assert leader_of({A: 40, B: 50}, *records) == A
    assert leader_of({A: 40, B: 50}, *records, sealed=sealed) == B


def test_the_best_mean_over_experiments_leads():
    board = board_of(
        scored(A, "large", [-0.50] * 100),
        scored(A, "small", [-0.70, -0.70]),
        scored(B, "large", [-0.55] * 100),
        scored(B, "small", [-0.40, -0.40]),
    )
    assert [line.theory for line in board.standings] == [B, A]
    assert board.leader.score.value == pytest.approx(-0.475)
    assert board.of(A).behind.value == pytest.approx((-0.05 + 0.30) / 2)


def test_a_theory_is_tied_within_two_paired_errors_and_not_beyond():
    same_noise = np.tile([-0.3, -0.9, -0.5, -0.7], 5)
    board = board_of(
        scored(A, "e", same_noise),
        scored(
            B, "e", same_noise - np.tile([0.05, 0.06, 0.04, 0.05], 5)
        ),  # hardly any paired error
        scored(C, "e", same_noise - np.tile([0.9, -0.8, 0.9, -0.8], 5)),
    )
    assert board.of(A).tied
    assert not board.of(B).tied
    assert board.of(C).tied


def test_prequential_scores_come_only_from_frozen_predictions():
    board = board_of(
        scored(A, "e", [-0.2, -0.2]),
        scored(A, "f", [-0.2, -0.2], learned=[-0.6, -0.6]),
        scored(B, "e", [-0.3, -0.3]),
        scored(B, "f", [-0.3, -0.3]),
    )
    assert board.of(A).n_prequential == 1
    assert board.of(A).prequential.value == pytest.approx(-0.6)
    assert board.of(B).prequential is None


def test_errors_and_correlations_average_over_experiments_that_have_them():
    board = board_of(
        scored(A, "e", [-0.5, -0.5], error=0.1, correlation=None),
        scored(A, "f", [-0.5, -0.5], error=0.3, correlation=0.8),
    )
    assert board.leader.error == pytest.approx(0.2)
    assert board.leader.correlation == pytest.approx(0.8)


def test_theories_without_a_score_on_every_experiment_are_left_out():
    board = board_of(
        scored(A, "e", [-0.5, -0.5]), scored(A, "f", [-0.5, -0.5]), scored(B, "e", [-0.1, -0.1])
    )
    assert [line.theory for line in board.standings] == [A]
    with pytest.raises(KeyError, match=B):
        board.of(B)


def test_without_experiments_there_are_no_standings():
    assert scoreboard([A], [], {}).standings == ()


@given(hnp.arrays(np.float64, (3, 2, 4), elements=st.floats(-3, -0.01)), st.permutations([A, B, C]))
def test_the_order_in_which_theories_are_listed_changes_nothing(scores, order):
    records = [
        scored(theory, name, scores[place, number])
        for place, theory in enumerate((A, B, C))
        for number, name in enumerate("ef")
    ]
    board = board_of(*records)
    assert board_of(*records, theories=order) == board
    assert all(line.behind.value >= -1e-12 for line in board.standings)
    assert board.leader.tied


@given(hnp.arrays(np.float64, (2, 3, 4), elements=st.floats(-3, -0.01)))
def test_another_experiment_leaves_the_advantage_on_the_others_unchanged(scores):
    records = {
        (theory, name): scored(theory, name, scores[place, number], learned=scores[place, number])
        for place, theory in enumerate((A, B))
        for number, name in enumerate("efg")
    }
    before, n_before = prequential_advantage(A, B, ["e", "f"], records)
    after, n_after = prequential_advantage(A, B, ["e", "f", "g"], records)
    last, _ = prequential_advantage(A, B, ["g"], records)
    assert (n_before, n_after) == (1, 2)  # before the first experiment nobody had learned
    assert after.value == pytest.approx((before.value + last.value) / 2)


def test_prequential_advantage_uses_experiments_frozen_for_both_theories():
    records = {
        (A, "e"): scored(A, "e", [-9.0, -9.0], learned=[-0.5, -0.5]),
        (B, "e"): scored(B, "e", [-0.1, -0.1], learned=[-0.7, -0.7]),
        (A, "f"): scored(A, "f", [-0.1, -0.1], learned=[-0.1, -0.1]),
        (B, "f"): scored(B, "f", [-9.0, -9.0]),
    }
    estimate, n_experiments = prequential_advantage(A, B, ["e", "f"], records)
    assert (estimate.value, n_experiments) == (pytest.approx(0.2), 1)
    assert prequential_advantage(A, C, ["e", "f"], records) is None


class TestSeveralDataSets:
    """Experiments 1 and 3 are of one data set, 2 is of another."""

    NAMES = ("1 allais/a", "2 risky_cpc18/a", "3 allais/b")

    def records(self, theory, levels, **kinds):
        return [
            scored(theory, name, level + NOISE, **kinds)
            for name, level in zip(self.NAMES, levels, strict=True)
        ]

    def test_averages_go_over_data_sets_not_over_experiments(self):
        board = board_of(*self.records(A, (-0.4, -0.6, -0.4)), *self.records(B, (-0.5, -0.3, -0.5)))
        assert board.leader.theory == B
        assert board.of(A).score.value == pytest.approx(-0.5)
        assert board.of(B).score.value == pytest.approx(-0.4)
        assert board.of(A).behind.value == pytest.approx(0.1)

    def test_with_names_of_no_data_set_each_experiment_counts(self):
        names = ("1", "2", "3")
        records = [
            scored(theory, name, level + NOISE)
            for theory, levels in ((A, (-0.4, -0.6, -0.4)), (B, (-0.5, -0.3, -0.5)))
            for name, level in zip(names, levels, strict=True)
        ]
        assert board_of(*records).of(A).score.value == pytest.approx(-1.4 / 3)

    def test_neither_sealed_answers_nor_frozen_predictions_decide_who_leads(self):
        low, high = np.full(40, -0.9) + NOISE, np.full(40, -0.1) - NOISE
        records = [
            *self.records(A, -0.6 - NOISE[:3], learned=high),
            *[scored(B, name, -0.5 - NOISE, learned=low) for name in self.NAMES],
        ]
        tested = [
            SealedScored(
                theory=theory, experiments=("a",), n_draws=4, squared=((0.1,),),
                scores=(units(np.full(40, level) + NOISE),),
            )
            for theory, level in ((A, -0.1), (B, -0.9))
        ]  # fmt: skip
        assert leader_of({A: 1, B: 2}, *records, sealed=tested) == B

    def test_of_theories_that_are_tied_there_the_simplest_leads(self):
        records = [
            *self.records(A, (-0.5, -0.5, -0.5)),
            *[
                scored(B, name, -0.5001 + NOISE * sign)
                for name, sign in zip(self.NAMES, (1, -1, 1), strict=True)
            ],
        ]
        assert leader_of({A: 90, B: 20}, *records) == B


def test_tables_list_the_leader_the_initial_theories_and_the_best_others() -> None:
    score = ScoreEstimate(-0.5, 0.01, 20, 19.0)
    names = [letter * 64 for letter in "abcdefgh"]
    lines = [TheoryStanding(name, score, None, 0, 0.1, None, score, tied=True) for name in names]
    board = Scoreboard(tuple(lines), ("1.1",))
    assert board.listed({names[7]}) == [*names[:5], names[7]]
    assert board.listed(names[1:]) == names
    assert board.listed(set()) == names[:6]
    assert Scoreboard(tuple(lines[:4]), ("1.1",)).listed({names[0]}) == names[:4]
