"""Scores: by hand on two draws and three people, then properties, then simulation."""

import math
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.scoring import score
from lakatos.theories.engine.scoring.score import (
    TINY,
    UNKNOWN,
    ExperimentEvidence,
    ScoreEstimate,
    UnitScores,
    average,
    chance_of_difference,
    is_tie,
    learn_population,
    log_likelihood,
    log_predictive,
    mean_over_units,
    noise_ceiling,
    paired_difference,
    proportion_error,
    squared_errors,
    telling,
)


def trials_of(counts, *, pooled=False) -> Trials:
    """Trials with the given ``(n_participants, n_trials, n_options)`` answers."""
    counts = np.asarray(counts)
    participant, trial, response = np.nonzero(counts)
    return Trials(
        experiment="e",
        stimuli=Stimuli({"x": np.arange(float(counts.shape[1]))}),
        participant=participant,
        trial=trial,
        response=response,
        count=counts[participant, trial, response],
        n_options=counts.shape[2],
        pooled=pooled,
    )


def binary(p) -> np.ndarray:
    """``(n_draws, n_trials, 2)`` from the second option's probabilities."""
    p = np.asarray(p, dtype=np.float64)
    return np.stack([1 - p, p], axis=-1)


def units(scores, sizes=None) -> UnitScores:
    scores = np.asarray(scores, dtype=np.float64)
    return UnitScores(
        scores, np.ones_like(scores) if sizes is None else np.asarray(sizes, dtype=np.float64)
    )


class TestLogPredictive:
    def test_of_two_points_is_the_log_of_the_mean_likelihood(self):
        people = trials_of([[[0, 2], [1, 0]], [[1, 0], [0, 1]]])
        scores = log_predictive(ExperimentEvidence(people, binary([[0.8, 0.5], [0.2, 0.5]])))
        first = 0.5 * 0.8**2 * 0.5 + 0.5 * 0.2**2 * 0.5
        second = 0.5 * 0.2 * 0.5 + 0.5 * 0.8 * 0.5
        np.testing.assert_allclose(scores.log_predictive, [math.log(first), math.log(second)])
        np.testing.assert_array_equal(scores.n_choices, [3, 2])
        assert scores.mean == pytest.approx((math.log(first) + math.log(second)) / 5)

    def test_of_learned_weights_is_the_log_of_the_weighted_likelihood(self):
        people = trials_of([[[0, 1]]])
        scores = log_predictive(
            ExperimentEvidence(people, binary([[0.9], [0.1]])), np.log([0.75, 0.25])
        )
        assert scores.log_predictive[0] == pytest.approx(math.log(0.75 * 0.9 + 0.25 * 0.1))

    @pytest.mark.statistical
    def test_its_monte_carlo_error_is_how_much_other_draws_would_say_otherwise(self):
        rng = np.random.default_rng(5)
        people = trials_of([[[3, 5]], [[6, 2]], [[1, 7]]])
        found = [
            log_predictive(ExperimentEvidence(people, binary(rng.random((256, 1)))))
            for _ in range(400)
        ]
        spread = np.std([item.mean for item in found], ddof=1)
        assert np.mean([item.chance for item in found]) == pytest.approx(
            spread, rel=4 / math.sqrt(2 * 400)
        )

    def test_of_pooled_answers_uses_the_mean_probability_of_each_trial(self):
        pooled = trials_of([[[1, 3], [2, 0]]], pooled=True)
        scores = log_predictive(ExperimentEvidence(pooled, binary([[0.8, 0.5], [0.2, 0.1]])))
        np.testing.assert_allclose(scores.log_predictive, [math.log(0.5) * 4, 2 * math.log(0.7)])
        np.testing.assert_array_equal(scores.n_choices, [4, 2])

    def test_leaves_out_people_and_pooled_trials_without_answers(self):
        people = trials_of([[[0, 1]], [[0, 0]], [[1, 0]]])
        assert len(log_predictive(ExperimentEvidence(people, binary([[0.5]]))).n_choices) == 2
        pooled = trials_of([[[0, 1], [0, 0]]], pooled=True)
        assert len(log_predictive(ExperimentEvidence(pooled, binary([[0.5, 0.5]]))).n_choices) == 1

    def test_of_an_impossible_answer_is_finite(self):
        scores = log_predictive(ExperimentEvidence(trials_of([[[1, 0]]]), binary([[1.0]])))
        assert scores.log_predictive[0] == pytest.approx(math.log(TINY))

    def test_of_many_answers_does_not_underflow(self):
        scores = log_predictive(
            ExperimentEvidence(trials_of([[[0, 100_000]]]), binary([[0.5], [0.25]]))
        )
        assert scores.mean == pytest.approx(math.log(0.5), abs=1e-5)

    def test_weights_of_draws_are_everybodys_or_each_persons_own(self):
        # Two people choose B; the draws give it 0.8 and 0.2.
        seen = ExperimentEvidence(trials_of([[[0, 1]], [[0, 1]]]), binary([[0.8], [0.2]]))
        same = log_predictive(seen, np.log([0.75, 0.25])).log_predictive
        np.testing.assert_allclose(same, np.log([0.65, 0.65]))
        own = log_predictive(seen, np.log([[0.75, 0.5], [0.25, 0.5]])).log_predictive
        np.testing.assert_allclose(own, np.log([0.65, 0.5]))

    def test_its_monte_carlo_error_by_hand(self):
        # One answer; its draws weigh 1.6 and 0.4 times as much as even ones, with variance 0.36.
        found = log_predictive(ExperimentEvidence(trials_of([[[0, 1]]]), binary([[0.8], [0.2]])))
        assert found.chance == pytest.approx(math.sqrt(0.36 / 2 + (0.5 * 0.36 / 2) ** 2))
        # Two people with the same answer move together: twice the error, for two choices.
        twice = trials_of([[[0, 1]], [[0, 1]]])
        found = log_predictive(ExperimentEvidence(twice, binary([[0.8], [0.2]])))
        assert found.chance == pytest.approx(math.sqrt(4 * 0.36 / 2 + 0.36**2 / 4) / 2)

    def test_likelihoods_in_parts_are_those_of_the_whole(self, monkeypatch):
        rng = np.random.default_rng(3)
        p, counts = binary(rng.random((7, 3))), rng.integers(0, 4, (5, 3, 2))
        whole = log_likelihood(p, counts)
        expected = np.einsum("dto,pto->dp", np.log(p), counts)
        np.testing.assert_allclose(whole, expected)
        for most in (1, 6, 13, 24):  # one draw has 6 numbers
            monkeypatch.setattr(score, "MOST_AT_ONCE", most)
            np.testing.assert_allclose(log_likelihood(p, counts), whole)

    def test_likelihoods_in_parts_need_a_part_of_the_memory(self, monkeypatch):
        p, counts = np.full((2048, 64, 2), 0.5), np.ones((1, 64, 2))
        monkeypatch.setattr(score, "MOST_AT_ONCE", 2**14)
        tracemalloc.start()
        log_likelihood(p, counts)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # A part of 2**14 numbers, what is made from it, and the results; all at once would be 16 times as much.
        assert peak < 4 * 2**14 * 8 < p.nbytes / 2

    def test_followed_sequences_stand_in_place_of_the_probabilities(self):
        followed = np.log([[0.9], [0.3]])
        evidence = ExperimentEvidence(trials_of([[[0, 1]]]), binary([[0.5], [0.5]]), followed)
        assert log_predictive(evidence).log_predictive[0] == pytest.approx(math.log(0.6))

    def test_scores_per_choice_divide_by_each_units_own_choices(self):
        scores = units([-1.0, -6.0], [2, 3])
        np.testing.assert_allclose(scores.per_choice, [-0.5, -2.0])
        assert scores.mean == pytest.approx(-7 / 5)

    @given(
        hnp.arrays(np.float64, (5, 3), elements=st.floats(0.01, 0.99)),
        hnp.arrays(np.int64, (4, 3, 2), elements=st.integers(0, 6)),
    )
    def test_of_a_mixture_lies_between_those_of_its_worst_and_best_draw(self, p, counts):
        counts[-1, :, 0] += 1
        people = trials_of(counts)
        mixture = log_predictive(ExperimentEvidence(people, binary(p))).log_predictive
        alone = log_likelihood(binary(p), people.counts)[:, people.counts.sum(axis=(1, 2)) > 0]
        assert (mixture <= alone.max(axis=0) + 1e-9).all()
        assert (mixture >= alone.min(axis=0) - 1e-9).all()

    @given(hnp.arrays(np.float64, (4, 2), elements=st.floats(0, 1)))
    def test_probabilities_of_all_possible_answers_of_a_person_sum_to_one(self, p):
        everything = [[[1 - a, a], [1 - b, b]] for a in (0, 1) for b in (0, 1)]
        scores = log_predictive(ExperimentEvidence(trials_of(everything), binary(p)))
        assert np.exp(scores.log_predictive).sum() == pytest.approx(1, abs=1e-9)

    @pytest.mark.statistical
    def test_expected_score_is_highest_for_the_theory_that_generates(self):
        rng = np.random.default_rng(5)
        truth = np.array([0.3, 0.8])
        own = truth[rng.integers(2, size=400)]
        counts = np.stack([rng.binomial(1, own[:, None], size=(400, 6))], axis=-1)
        people = trials_of(np.concatenate([1 - counts, counts], axis=-1))
        true, wrong = (
            log_predictive(
                ExperimentEvidence(people, binary(np.repeat(np.array(p)[:, None], 6, axis=1)))
            )
            for p in (truth, [0.4, 0.7])
        )
        ahead = paired_difference([true], [wrong])
        assert ahead.value > 4 * ahead.standard_error


class TestPairedDifference:
    def test_error_is_that_of_the_paired_test_when_all_clusters_are_equal(self):
        rng = np.random.default_rng(1)
        first, second = rng.normal(size=(2, 12))
        found = paired_difference([units(first, np.full(12, 4))], [units(second, np.full(12, 4))])
        per_choice = (first - second) / 4
        assert found.value == pytest.approx(per_choice.mean())
        assert found.standard_error == pytest.approx(per_choice.std(ddof=1) / math.sqrt(12))

    def test_averages_over_experiments_not_over_choices(self):
        large, small = units([10.0] * 50, [100] * 50), units([3.0, 3.0])
        zero = [units(np.zeros(50), [100] * 50), units([0.0, 0.0])]
        assert paired_difference([large, small], zero).value == pytest.approx((0.1 + 3.0) / 2)

    @given(
        hnp.arrays(np.float64, (2, 7), elements=st.floats(-50, 0)),
        hnp.arrays(int, 7, elements=st.integers(1, 9)),
    )
    def test_is_antisymmetric_and_its_ties_symmetric(self, scores, sizes):
        first, second = ([units(row, sizes)] for row in scores)
        there, back = paired_difference(first, second), paired_difference(second, first)
        assert there.value == pytest.approx(-back.value)
        assert there.standard_error == pytest.approx(back.standard_error)
        assert is_tie(there) == is_tie(back)

    def test_of_a_theory_with_itself_is_an_exact_tie(self):
        same = [units([-1.0, -2.0, -3.0])]
        assert paired_difference(same, same) == ScoreEstimate(0.0, 0.0, 3, 2)
        assert is_tie(paired_difference(same, same))

    def test_of_a_single_unit_has_no_finite_error_and_is_a_tie(self):
        found = paired_difference([units([-1.0])], [units([-9.0])])
        assert found == ScoreEstimate(8.0, UNKNOWN, 1)
        assert is_tie(found)

    def test_few_units_that_all_tell_the_same_are_a_tie_and_many_are_not(self):
        few = paired_difference([units([-1.0] * 5)], [units([-1.5] * 5)])
        assert few == ScoreEstimate(0.5, pytest.approx(0.3), 5, 4)
        assert is_tie(few)
        many = paired_difference([units([-1.0] * 25)], [units([-1.5] * 25)])
        assert many == ScoreEstimate(0.5, pytest.approx(0.06), 25, 24)
        assert not is_tie(many)
        assert not paired_difference([units([-1.0])], [units([-1.5])]).is_known

    def test_refuses_theories_scored_on_different_numbers_of_experiments(self):
        with pytest.raises(ValueError, match="zip"):
            paired_difference([units([-1.0])], [])

    def test_error_of_unequal_clusters_by_hand(self):
        # Ratio (1 + 5) / (1 + 2) = 2; residuals 1 - 2 and 5 - 4.
        found = mean_over_units(units([1.0, 5.0], [1, 2]))
        assert found.value == pytest.approx(2.0)
        assert found.standard_error == pytest.approx(math.sqrt(2 / 1 * 2) / 3)

    def test_its_monte_carlo_error_adds_those_of_both_theories_and_all_experiments(self):
        first, second = (
            [UnitScores(np.zeros(1), np.ones(1), chance) for chance in chances]
            for chances in ((0.3, 0.0), (0.4, 1.2))
        )
        assert chance_of_difference(first, second) == pytest.approx(1.3 / 2)

    def test_with_very_few_participants_no_interval_is_stated(self):
        few, some = (ScoreEstimate(0.1, 0.2, n, n - 1.0) for n in (4, 5))
        assert few.interval_in_words() == "no interval: fewer than 5 participants or problems"
        assert some.interval_in_words().startswith("95% interval -0.4")

    def test_an_advantage_of_just_two_errors_is_a_tie(self):
        assert is_tie(ScoreEstimate(2.0, 1.0))
        assert is_tie(ScoreEstimate(-2.0, 1.0))
        assert not is_tie(ScoreEstimate(2.1, 1.0))

    def test_a_single_unit_counts_only_where_there_is_nothing_else(self):
        known, unknown = ScoreEstimate(1.0, 0.5), ScoreEstimate(9.0, UNKNOWN)
        assert average([known, unknown]) == known
        assert average([unknown, unknown]).value == 9.0

    @pytest.mark.statistical
    def test_intervals_cover_the_true_difference_with_unequal_clusters(self):
        rng = np.random.default_rng(2)
        n_simulations, hits = 400, 0
        for _ in range(n_simulations):
            sizes = rng.integers(5, 40, size=40)
            gain = (
                rng.normal(0.1, 0.3, size=40) * sizes
            )  # a person's own advantage per choice, mean 0.1
            found = mean_over_units(units(gain, sizes))
            low, high = found.interval
            hits += low <= 0.1 <= high
        nominal = 0.95
        assert abs(hits / n_simulations - nominal) < 4 * math.sqrt(
            nominal * (1 - nominal) / n_simulations
        )


@given(
    st.lists(
        st.tuples(st.floats(-5, 0), st.floats(0, 2)).map(lambda pair: ScoreEstimate(*pair)),
        min_size=1,
        max_size=6,
    )
)
def test_average_of_estimates_adds_their_variances(parts):
    found = average(parts)
    assert found.value == pytest.approx(np.mean([part.value for part in parts]))
    assert found.standard_error**2 * len(parts) ** 2 == pytest.approx(
        sum(part.standard_error**2 for part in parts), abs=1e-12
    )


class TestNoiseCeiling:
    def test_of_three_people_by_hand(self):
        # Trial 0: B, B, A. Trial 1: only the first person, A.
        people = trials_of([[[0, 1], [1, 0]], [[0, 1], [0, 0]], [[1, 0], [0, 0]]])
        found = noise_ceiling(people)
        first = math.log((1 + 0.5) / 3) + math.log(0.5)
        second = math.log((1 + 0.5) / 3)
        third = math.log(0.5 / 3)
        assert found is not None
        assert found.value == pytest.approx((first + second + third) / 4)

    def test_of_pooled_answers_leaves_one_answer_out(self):
        found = noise_ceiling(trials_of([[[1, 3], [0, 0]]], pooled=True))
        assert found is not None
        assert found.value == pytest.approx((math.log(0.5 / 4) + 3 * math.log(2.5 / 4)) / 4)

    def test_people_without_answers_are_no_units_of_its_error(self):
        people = [[[0, 1], [1, 0]], [[0, 1], [0, 1]], [[1, 0], [1, 0]]]
        found, fuller = (
            noise_ceiling(trials_of(counts))
            for counts in (people, [people[0], [[0, 0], [0, 0]], *people[1:]])
        )
        assert found == fuller
        # Others say B: once 1 of 2, once 1 of 2, once 2 of 2 for who said A; the same on trial 1.
        said = [2 * math.log(1.5 / 3), math.log(1.5 / 3) + math.log(0.5 / 3)]
        said.append(math.log(0.5 / 3) + math.log(1.5 / 3))
        rest = np.array(said) - np.mean(said)
        assert found.value == pytest.approx(sum(said) / 6)
        assert found.standard_error == pytest.approx(math.sqrt(3 / 2 * (rest**2).sum()) / 6)

    def test_more_pseudo_answers_draw_it_towards_even_odds(self):
        agreed = trials_of([[[0, 1]], [[0, 1]]])
        assert noise_ceiling(agreed, pseudo_count=2.0).value == pytest.approx(math.log(2 / 3))
        pooled = trials_of([[[0, 2]]], pooled=True)
        assert noise_ceiling(pooled, pseudo_count=2.0).value == pytest.approx(math.log(2 / 3))

    @pytest.mark.filterwarnings("error")
    def test_of_pooled_trials_without_answers_makes_no_warning(self):
        assert noise_ceiling(trials_of([[[2, 3], [0, 0], [4, 1]]], pooled=True)) is not None

    def test_needs_a_trial_that_two_people_answered(self):
        assert noise_ceiling(trials_of([[[0, 3], [0, 0]], [[0, 0], [3, 0]]])) is None
        assert noise_ceiling(trials_of([[[1, 0], [0, 1]]], pooled=True)) is None

    @pytest.mark.statistical
    def test_lies_just_below_the_score_of_the_true_proportions(self):
        rng = np.random.default_rng(8)
        p = rng.uniform(0.05, 0.95, size=60)
        chosen = (rng.random((200, 60)) < p).astype(int)
        people = trials_of(np.stack([1 - chosen, chosen], axis=-1))
        true = log_predictive(ExperimentEvidence(people, binary(p[None])))
        ceiling = noise_ceiling(people)
        assert ceiling is not None
        # Estimating one proportion from 199 people costs about 1 / (2 * 199) nats.
        assert true.mean - 2 / (2 * 199) < ceiling.value < true.mean


@pytest.mark.parametrize("compare", [paired_difference, chance_of_difference])
def test_scores_of_more_experiments_than_the_other_theory_has_are_not_compared(compare):
    with pytest.raises(ValueError, match="shorter"):
        compare([units([-1.0, -2.0])] * 2, [units([-1.0, -2.0])])


class TestProportionError:
    def test_by_hand(self):
        people = trials_of([[[3, 1], [0, 4], [0, 0]]], pooled=True)
        error, correlation = proportion_error(binary([0.5, 0.75, 0.1]), people)
        assert error == pytest.approx((0.25**2 + 0.25**2) / 2)
        assert correlation == pytest.approx(1.0)

    def test_of_three_options_counts_every_one_by_hand(self):
        people = trials_of([[[2, 1, 1], [0, 0, 4], [0, 0, 0]]], pooled=True)
        predicted = np.array([[0.5, 0.0, 0.5], [0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
        rows = [(0.25**2 + 0.25**2) / 3, (0.2**2 + 0.3**2 + 0.5**2) / 3]
        assert squared_errors(predicted, people) == pytest.approx(rows)
        error, correlation = proportion_error(predicted, people)
        assert error == pytest.approx(np.mean(rows))
        assert correlation == pytest.approx(
            np.corrcoef([0.5, 0.0, 0.5, 0.2, 0.3, 0.5], [0.5, 0.25, 0.25, 0.0, 0.0, 1.0])[0, 1]
        )

    def test_options_that_a_trial_does_not_offer_do_not_count(self):
        people = trials_of([[[2, 2, 0], [1, 0, 3]]], pooled=True)
        known = {"available": np.array([[1, 1, 0], [1, 1, 1]])}
        people = replace(people, stimuli=Stimuli(known))
        predicted = np.array([[0.25, 0.75, 0.0], [0.25, 0.25, 0.5]])
        rows = [2 * 0.25**2 / 2, 2 * 0.25**2 / 3]
        assert squared_errors(predicted, people) == pytest.approx(rows)
        _, correlation = proportion_error(predicted, people)
        pairs = [0.25, 0.75, 0.25, 0.25, 0.5], [0.5, 0.5, 0.25, 0.0, 0.75]
        assert correlation == pytest.approx(np.corrcoef(*pairs)[0, 1])

    def test_of_two_options_is_that_of_the_second_whether_one_or_both_are_given(self):
        people = trials_of([[[3, 1], [0, 4]]], pooled=True)
        both = binary([0.5, 0.75])
        assert np.array_equal(squared_errors(both, people), (both[:, 1] - [0.25, 1.0]) ** 2)
        assert np.array_equal(squared_errors(both, people), squared_errors(telling(both), people))

    def test_a_single_trial_has_an_error_and_no_correlation(self):
        people = trials_of([[[3, 1]]], pooled=True)
        assert proportion_error(binary([0.5]), people) == (pytest.approx(0.0625), None)

    def test_has_no_correlation_where_people_say_the_same_everywhere(self):
        people = trials_of([[[1, 1], [2, 2]]], pooled=True)
        assert proportion_error(binary([0.4, 0.6]), people)[1] is None

    def test_has_no_correlation_when_the_theory_says_the_same_everywhere(self):
        people = trials_of([[[3, 1], [0, 4]]], pooled=True)
        assert proportion_error(binary([0.5, 0.5]), people)[1] is None


class TestLearnPopulation:
    @pytest.mark.statistical
    def test_recovers_the_shares_of_two_types(self):
        rng = np.random.default_rng(11)
        first_type = rng.random(600) < 0.7
        p = np.where(first_type, 0.9, 0.2)
        chosen = rng.binomial(8, p)
        people = trials_of(np.stack([8 - chosen, chosen], axis=-1)[:, None, :])
        weights = np.exp(
            learn_population(
                [ExperimentEvidence(people, binary([[0.9], [0.2]]))], strength=0.0, n_iterations=200
            )
        )
        # Types are told apart almost always, so that the error is that of the share of people.
        assert abs(weights[0] - 0.7) < 4 * math.sqrt(0.7 * 0.3 / 600)
        assert weights.sum() == pytest.approx(1)

    @pytest.mark.statistical
    def test_recovers_the_mean_of_two_types_from_pooled_answers(self):
        rng = np.random.default_rng(12)
        totals = rng.binomial(2000, 0.7 * np.array([0.9, 0.3]) + 0.3 * np.array([0.2, 0.6]))
        pooled = trials_of(np.stack([2000 - totals, totals], axis=-1)[None], pooled=True)
        probabilities = binary([[0.9, 0.3], [0.2, 0.6]])
        weights = np.exp(
            learn_population(
                [ExperimentEvidence(pooled, probabilities)], strength=0.0, n_iterations=500
            )
        )
        # One share is estimated from 2000 answers with a slope of 0.7 and 2000 with a slope of -0.3.
        information = 2000 * (0.7**2 / (0.69 * 0.31) + 0.3**2 / (0.39 * 0.61))
        assert abs(weights[0] - 0.7) < 4 / math.sqrt(information)

    def test_never_lowers_the_score_of_what_it_was_taught(self):
        rng = np.random.default_rng(4)
        probabilities = binary(rng.random((16, 5)))
        chosen = rng.integers(0, 4, size=(9, 5))
        evidence = ExperimentEvidence(
            trials_of(np.stack([3 - chosen, chosen], axis=-1)), probabilities
        )
        scores = [
            log_predictive(
                evidence, learn_population([evidence], strength=0.0, n_iterations=n)
            ).log_predictive.sum()
            for n in (0, 1, 2, 5, 20, 100)
        ]
        assert (np.diff(scores) >= -1e-9).all()

    @given(st.floats(0.1, 100))
    def test_one_person_moves_the_declared_population_by_a_share_of_its_strength(self, strength):
        surely = ExperimentEvidence(trials_of([[[0, 1]]]), binary([[1.0], [0.0]]))
        weights = np.exp(learn_population([surely], strength=strength))
        assert weights[0] == pytest.approx((strength / 2 + 1) / (strength + 1))

    def test_its_prior_is_worth_five_people_unless_it_is_said(self):
        surely = ExperimentEvidence(trials_of([[[0, 1]]]), binary([[1.0], [0.0]]))
        assert np.exp(learn_population([surely]))[0] == pytest.approx(3.5 / 6)

    def test_people_and_pooled_answers_teach_together(self):
        p = binary([[1.0], [0.0]])
        person = ExperimentEvidence(trials_of([[[0, 1]]]), p)
        pooled = ExperimentEvidence(trials_of([[[0, 2]]], pooled=True), p)
        assert np.exp(learn_population([person, pooled], strength=2.0))[0] == pytest.approx(4 / 5)

    def test_of_answers_that_all_draws_predict_alike_is_the_declared_population(self):
        alike = ExperimentEvidence(trials_of([[[2, 5]]]), binary([[0.4]] * 8))
        np.testing.assert_allclose(np.exp(learn_population([alike])), 1 / 8)


@pytest.mark.statistical
def test_choosing_the_best_of_many_equal_theories_rarely_finds_an_advantage():
    """Twenty theories that are as good as their rival: the best looks better, its corrected interval does not."""
    rng = np.random.default_rng(5)
    n_runs, n_theories, n_people = 600, 20, 40
    plain = corrected = 0
    for _ in range(n_runs):
        gains = rng.normal(0, 1, (n_theories, n_people))
        best = gains[gains.mean(axis=1).argmax()]
        zero, sizes = np.zeros(n_people), np.full(n_people, 20.0)
        found = paired_difference([UnitScores(best, sizes)], [UnitScores(zero, sizes)])
        plain += found.interval[0] > 0
        corrected += found.interval_of_chosen(n_theories)[0] > 0
    assert plain / n_runs > 0.2
    assert corrected / n_runs < 0.05 + 4 * np.sqrt(0.05 * 0.95 / n_runs)


def test_the_interval_of_what_was_not_chosen_is_the_plain_one():
    found = ScoreEstimate(0.1, 0.02)
    assert found.interval_of_chosen(1) == found.interval


def test_the_interval_of_the_best_of_twenty_is_wider_by_bonferroni():
    # 0.025 / 20 of the normal distribution lies beyond 3.0233.
    low, high = ScoreEstimate(0.1, 0.02).interval_of_chosen(20)
    assert high - 0.1 == pytest.approx(0.02 * 3.0233, rel=1e-4)
    assert 0.1 - low == pytest.approx(0.02 * 3.0233, rel=1e-4)
    assert ScoreEstimate(0.1, 0.02).interval == pytest.approx((0.06, 0.14))


def test_answers_of_people_who_saw_few_trials_each_weigh_as_in_a_full_table(monkeypatch):
    rng = np.random.default_rng(5)
    person, trial = np.repeat(np.arange(6), 4), rng.integers(0, 30, 24)
    response, stimuli = rng.integers(0, 3, 24), Stimuli({"x": np.arange(30.0)})
    trials = Trials("e", stimuli, person, trial, response, np.ones(24, dtype=int), n_options=3)
    p = rng.dirichlet(np.ones(3), size=(7, 30))
    whole = score.likelihood_of_answers(p, trials)
    monkeypatch.setattr(score, "LARGEST_TABLE", 0)
    monkeypatch.setattr(score, "MOST_AT_ONCE", 200)
    np.testing.assert_allclose(score.likelihood_of_answers(p, trials), whole, rtol=1e-13)
    np.testing.assert_array_equal(trials.totals, trials.counts.sum(axis=0))
    np.testing.assert_array_equal(trials.n_choices, trials.counts.sum(axis=(1, 2)))
