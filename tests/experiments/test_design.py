from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import entr
from scipy.stats import binom

from benchmarks.design import information_about_people
from lakatos.experiments import design
from lakatos.experiments.design import (
    TIE,
    _keep,
    both_sides,
    choose_trials,
    design_from_json,
    design_to_json,
)
from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import (
    ShapeError,
    check_first_axes,
    information_of_batch,
    log_predictive_of,
    outcome_probabilities,
    pair_prior,
    simulate_counts,
)
from lakatos.experiments.task import Design, Stimuli
from lakatos.traces.digest import canonical_json


def expected_information_gain(log_predictive, log_prior):
    """Mutual information between theory and response, for each candidate design.

    Args:
        log_predictive: ``(n_theories, n_designs, n_outcomes)`` log p(y | theory, d), normalised over outcomes.
        log_prior: ``(n_theories,)`` log p(theory), normalised.

    Returns:
        ``(n_designs,)`` gain in nats, between 0 and the entropy of the prior.

    Raises:
        ShapeError: The two arrays disagree on ``n_theories``.

    References:
        Cavagnaro, Myung, Pitt & Kujala (2010), Neural Computation 22(4), 887-905.
    """
    check_first_axes("n_theories", log_predictive=log_predictive, log_prior=log_prior)
    prior, predictive = np.exp(log_prior), np.exp(log_predictive)
    marginal = np.einsum("t,tdy->dy", prior, predictive)
    mean_entropy = np.einsum("t,tdy->d", prior, entr(predictive))
    return entr(marginal).sum(axis=-1) - mean_entropy


def two_options(p):
    p = np.asarray(p, dtype=np.float64)
    return np.stack([1 - p, p], axis=-1)


def random_theories(rng, n_theories=3, n_draws=5, n_trials=6):
    return [two_options(rng.beta(0.7, 0.7, size=(n_draws, n_trials))) for _ in range(n_theories)]


def exact_information(theories, log_prior, trials):
    """Mutual information between theory and the joint answers, by enumeration of all of them."""
    prior = np.exp(log_prior)
    joint = []
    for p in theories:
        cells = [
            np.mean(
                np.prod([p[:, trial, y] for trial, y in zip(trials, answers, strict=True)], axis=0)
            )
            for answers in product(range(p.shape[2]), repeat=len(trials))
        ]
        joint.append(cells)
    joint = np.array(joint)
    return entr(prior @ joint).sum() - prior @ entr(joint).sum(axis=1)


def uniform(n):
    return np.full(n, -np.log(n))


class TestExpectedInformationGain:
    def test_theories_that_never_agree_give_the_entropy_of_the_prior(self):
        with np.errstate(divide="ignore"):
            log_predictive = np.log(np.array([[[1.0, 0.0]], [[0.0, 1.0]]]))
        assert expected_information_gain(log_predictive, np.log([0.3, 0.7])) == pytest.approx(
            entr([0.3, 0.7]).sum()
        )

    def test_theories_that_always_agree_give_nothing(self):
        log_predictive = np.log(np.full((3, 2, 2), 0.5))
        assert expected_information_gain(log_predictive, uniform(3)) == pytest.approx(
            [0, 0], abs=1e-12
        )

    def test_a_symmetric_channel_has_its_known_capacity(self):
        log_predictive = np.log(two_options([[0.1], [0.9]]))
        assert expected_information_gain(log_predictive, uniform(2)) == pytest.approx(
            np.log(2) - entr([0.1, 0.9]).sum()
        )

    @given(st.integers(0, 10_000))
    def test_gain_lies_between_nothing_and_the_entropy_of_the_prior(self, seed):
        rng = np.random.default_rng(seed)
        predictive, prior = rng.dirichlet(np.full(3, 0.3), size=(4, 5)), rng.dirichlet(np.ones(4))
        gain = expected_information_gain(np.log(np.maximum(predictive, 1e-300)), np.log(prior))
        assert np.all(gain > -1e-12)
        assert np.all(gain < entr(prior).sum() + 1e-12)

    def test_arrays_that_disagree_are_refused(self):
        with pytest.raises(ShapeError, match=r"disagree on n_theories.*2.*3"):
            expected_information_gain(np.zeros((2, 1, 1)), np.zeros(3))


class TestChooseTrials:
    @given(st.integers(0, 10_000))
    @example(
        309
    )  # two trials add as much but for less than a tie, and the first of them is second best
    @settings(max_examples=25, deadline=None)
    def test_the_first_trial_is_the_best_by_the_closed_form(self, seed):
        rng = np.random.default_rng(seed)
        theories, log_prior = random_theories(rng), np.log(rng.dirichlet(np.ones(3)))
        predictive = np.stack([p.mean(axis=0) for p in theories])
        exact = expected_information_gain(np.log(predictive), log_prior)
        found = choose_trials(theories, log_prior, n_trials=1, rng=rng, random_share=0)
        chosen = int(found.rows[0])
        assert found.information[0] == pytest.approx(exact[chosen], abs=2e-6)
        # Of those that add as much as the best but for a tie, the first is chosen.
        assert exact[chosen] >= exact.max() - TIE - 2e-6
        assert (exact[:chosen] < exact.max() - TIE + 2e-6).all()

    @given(st.integers(0, 10_000), st.booleans())
    @settings(max_examples=15, deadline=None)
    def test_a_batch_is_what_a_greedy_search_by_enumeration_finds(self, seed, lazy):
        rng = np.random.default_rng(seed)
        theories, log_prior = random_theories(rng), np.log(rng.dirichlet(np.ones(3)))
        found = choose_trials(theories, log_prior, n_trials=4, rng=rng, random_share=0, lazy=lazy)
        before = 0.0
        for n in range(1, 5):
            values = {
                row: exact_information(theories, log_prior, [*found.rows[: n - 1], row])
                for row in range(6)
                if row not in found.rows[: n - 1]
            }
            assert found.information[n - 1] == pytest.approx(
                values[found.rows[n - 1]] - before, abs=3e-6
            )
            # Of those that add as much as the best but for a tie, the first is chosen.
            best, chosen = max(values.values()), int(found.rows[n - 1])
            assert values[chosen] >= best - TIE - 3e-6
            assert all(value < best - TIE + 3e-6 for row, value in values.items() if row < chosen)
            before = values[chosen]
        assert found.total == pytest.approx(before, abs=1e-5)
        assert found.n_proved == 4

    @pytest.mark.statistical
    def test_few_ways_stand_for_all(self):
        rng = np.random.default_rng(4)
        theories, log_prior = random_theories(rng), np.log([0.5, 0.3, 0.2])
        exact = exact_information(theories, log_prior, range(6))
        totals = [
            choose_trials(theories, log_prior, n_trials=6, rng=rng, random_share=0, n_ways=6).total
            for _ in range(200)
        ]
        # Which trial comes next depends on the ways kept, but all six are chosen: the sum is that of any order.
        assert abs(np.mean(totals) - exact) < 4 * np.std(totals, ddof=1) / np.sqrt(200)

    @pytest.mark.statistical
    def test_answers_of_one_person_hang_together(self):
        # Theory A: half the people always answer 0 and half always 1. Theory B: everybody answers at random. One trial
        # says nothing; the second one says whether it equals the first.
        a = two_options(np.repeat([[1e-9], [1 - 1e-9]], 4, axis=1))
        b = two_options(np.full((2, 4), 0.5))
        found = choose_trials(
            [a, b], uniform(2), n_trials=2, rng=np.random.default_rng(0), random_share=0
        )
        exact = entr([0.75, 0.25]).sum() - 0.5 * np.log(2)
        assert found.information[0] == pytest.approx(0, abs=1e-6)
        assert found.information[1] == pytest.approx(exact, abs=1e-5)

    def test_the_information_of_repetitions_is_that_of_their_count(self):
        rng = np.random.default_rng(5)
        theories = random_theories(rng)
        predictive = np.stack(
            [
                np.stack([binom.pmf(k, 3, p[..., 1]).mean(axis=0) for k in range(4)], axis=-1)
                for p in theories
            ]
        )
        exact = expected_information_gain(np.log(predictive), uniform(3))
        found = choose_trials(
            theories, uniform(3), n_trials=1, rng=rng, random_share=0, repetitions=3
        )
        assert found.information[0] == pytest.approx(exact.max(), abs=2e-6)
        assert found.rows[0] == int(np.argmax(exact))

    @given(st.integers(1, 6), st.floats(0, 1), st.integers(0, 100))
    @settings(max_examples=25, deadline=None)
    def test_rows_are_different_and_the_random_share_is_marked(self, n_trials, random_share, seed):
        rng = np.random.default_rng(seed)
        found = choose_trials(
            random_theories(rng), uniform(3), n_trials=n_trials, rng=rng, random_share=random_share
        )
        assert len(set(found.rows)) == len(found.rows) == len(found.information) == n_trials
        assert len(found.random_rows) == round(random_share * n_trials)
        assert [place for place, gain in enumerate(found.information) if np.isnan(gain)] == list(
            found.random_rows
        )

    @pytest.mark.statistical
    def test_random_trials_are_uniform_over_the_rest(self):
        rng = np.random.default_rng(8)
        theories = random_theories(rng)
        first = choose_trials(theories, uniform(3), n_trials=1, rng=rng, random_share=0).rows[0]
        drawn = [
            choose_trials(theories, uniform(3), n_trials=2, rng=rng, random_share=0.5).rows[1]
            for _ in range(500)
        ]
        counts = np.bincount(drawn, minlength=6)
        assert counts[first] == 0
        error = np.sqrt(500 * 0.2 * 0.8)
        assert np.all(np.abs(np.delete(counts, first) - 100) < 4 * error)

    def test_information_has_no_digits_that_differ_between_processors(self):
        rng = np.random.default_rng(21)
        found = choose_trials(random_theories(rng), uniform(3), n_trials=3, rng=rng, random_share=0)
        assert all(gain == round(gain, 9) for gain in found.information)
        # A last digit more in what theories predict, as another processor has it, changes none of them.
        rng = np.random.default_rng(21)
        theories = [p * (1 + 1e-15) for p in random_theories(rng)]
        again = choose_trials(theories, uniform(3), n_trials=3, rng=rng, random_share=0)
        assert (again.rows, again.information) == (found.rows, found.information)

    def test_the_same_seed_gives_the_same_trials(self):
        theories = random_theories(np.random.default_rng(9))
        one, two = (
            choose_trials(theories, uniform(3), n_trials=4, rng=np.random.default_rng(1)).rows
            for _ in range(2)
        )
        assert one == two

    def test_a_theory_without_prior_probability_is_left_out_of_account(self):
        rng = np.random.default_rng(10)
        theories = random_theories(rng)
        with np.errstate(divide="ignore"):
            log_prior = np.log([0.5, 0.5, 0.0])
        found = choose_trials(
            theories, log_prior, n_trials=3, rng=np.random.default_rng(0), random_share=0
        )
        alone = choose_trials(
            theories[:2], uniform(2), n_trials=3, rng=np.random.default_rng(0), random_share=0
        )
        assert found.rows == alone.rows
        assert found.information == pytest.approx(alone.information, abs=1e-6)

    def test_three_options_work(self):
        rng = np.random.default_rng(11)
        theories = [rng.dirichlet(np.ones(3), size=(4, 5)) for _ in range(2)]
        predictive = np.stack([p.mean(axis=0) for p in theories])
        exact = expected_information_gain(np.log(predictive), uniform(2))
        found = choose_trials(theories, uniform(2), n_trials=3, rng=rng, random_share=0)
        assert found.information[0] == pytest.approx(exact.max(), abs=2e-6)

    def test_more_trials_than_candidates_are_refused(self):
        with pytest.raises(
            DesignError, match="7 trials were requested, and the design space has 6"
        ):
            choose_trials(
                random_theories(np.random.default_rng(0)),
                uniform(3),
                n_trials=7,
                rng=np.random.default_rng(),
            )

    def test_theories_for_different_trials_are_refused(self):
        theories = [np.full((2, 3, 2), 0.5), np.full((2, 4, 2), 0.5)]
        with pytest.raises(ShapeError, match="same trials"):
            choose_trials(theories, uniform(2), n_trials=1, rng=np.random.default_rng())

    def test_the_cost_of_a_trial_decides_between_equals(self):
        p = two_options([[0.1, 0.1, 0.5], [0.9, 0.9, 0.5]])
        theories = [p[:1], p[1:]]
        found = choose_trials(
            theories,
            uniform(2),
            n_trials=1,
            rng=np.random.default_rng(0),
            random_share=0,
            costs=np.array([2, 1, 0.1]),
        )
        assert found.rows == (1,)

    def test_a_budget_is_kept_and_spent_on_what_is_worth_more(self):
        # One dear trial tells all; cheap ones tell little each. By information per cost the cheap ones come first.
        p = two_options([[0.01, 0.4, 0.4], [0.99, 0.6, 0.6]])
        theories, costs = [p[:1], p[1:]], np.array([10.0, 0.1, 0.1])
        rng = np.random.default_rng(0)
        found = choose_trials(
            theories, uniform(2), n_trials=3, rng=rng, random_share=0, costs=costs, budget=10.0
        )
        assert found.rows == (0,)
        cheap = choose_trials(
            theories, uniform(2), n_trials=3, rng=rng, random_share=0, costs=costs, budget=9.0
        )
        assert set(cheap.rows) == {1, 2}
        with pytest.raises(DesignError, match=r"cheapest of 3 trials costs 0\.1"):
            choose_trials(theories, uniform(2), n_trials=3, rng=rng, costs=costs, budget=0.05)

    @given(st.integers(0, 1000), st.floats(0.3, 5))
    @settings(max_examples=25, deadline=None)
    def test_no_batch_costs_more_than_the_budget(self, seed, budget):
        rng = np.random.default_rng(seed)
        costs = rng.uniform(0.1, 0.3, 6)
        found = choose_trials(
            random_theories(rng), uniform(3), n_trials=6, rng=rng, costs=costs, budget=budget
        )
        assert costs[list(found.rows)].sum() <= budget + 1e-9
        assert len(set(found.rows)) == len(found.rows) >= 1

    def test_two_theories_alone_can_be_told_apart(self):
        theories = random_theories(np.random.default_rng(20), n_theories=4)
        rng = np.random.default_rng(0)
        pair = choose_trials(theories, pair_prior(4, (1, 3)), n_trials=3, rng=rng, random_share=0)
        alone = choose_trials(
            [theories[1], theories[3]], uniform(2), n_trials=3, rng=rng, random_share=0
        )
        assert pair == alone

    def test_showing_both_sides_is_showing_twice_to_those_who_do_not_care(self):
        theories = random_theories(np.random.default_rng(21))
        rng = np.random.default_rng(0)
        both = choose_trials(
            [both_sides(p, p) for p in theories], uniform(3), n_trials=3, rng=rng, random_share=0
        )
        twice = choose_trials(
            theories, uniform(3), n_trials=3, rng=rng, random_share=0, repetitions=2
        )
        assert both.rows == twice.rows
        assert both.information == pytest.approx(twice.information, abs=3e-6)

    def test_a_senseless_share_is_refused(self):
        with pytest.raises(DesignError, match="random_share=2"):
            choose_trials(
                random_theories(np.random.default_rng(0)),
                uniform(3),
                n_trials=1,
                rng=np.random.default_rng(),
                random_share=2,
            )


class TestInformationAboutPeople:
    @pytest.mark.parametrize("n_options", [2, 3])
    def test_a_person_is_told_from_others_as_theories_are(self, n_options):
        rng = np.random.default_rng(23)
        p, weights = (
            rng.dirichlet(np.ones(n_options), size=(3000, 700)),
            rng.dirichlet(np.ones(3000)),
        )
        exact = expected_information_gain(np.log(p), np.log(weights))
        found = information_about_people(np.moveaxis(p, -1, 0)[:-1].astype(np.float32), weights)
        assert found == pytest.approx(exact, abs=2e-6)


class TestKeep:
    @given(st.integers(0, 10_000), st.integers(1, 12))
    def test_heavy_ones_stay_as_they_are_and_the_total_with_them(self, seed, n_most):
        rng = np.random.default_rng(seed)
        weight = rng.dirichlet(np.full(12, 0.3))
        kept, new = _keep(weight, n_most, rng)
        assert len(kept) == len(set(kept.tolist())) == n_most
        assert new.sum() == pytest.approx(weight.sum())
        heavy = new > new.min() * (1 + 1e-9)
        assert new[heavy] == pytest.approx(weight[kept][heavy])
        assert np.all(new >= weight[kept] - 1e-12)

    @pytest.mark.statistical
    def test_weights_are_right_on_average(self):
        rng = np.random.default_rng(22)
        weight = rng.dirichlet(np.full(12, 0.5))
        drawn = np.zeros((4000, 12))
        for row in drawn:
            kept, new = _keep(weight, 5, rng)
            row[kept] = new
        error = drawn.std(axis=0, ddof=1) / np.sqrt(4000)
        assert np.all(np.abs(drawn.mean(axis=0) - weight) <= 4 * error + 1e-9)


class TestInformationOfBatch:
    @pytest.mark.parametrize("trials", [[0], [1, 4], [0, 2, 5]])
    def test_few_trials_are_enumerated(self, trials):
        theories, log_prior = random_theories(np.random.default_rng(12)), np.log([0.2, 0.3, 0.5])
        found = information_of_batch(
            [p[:, trials] for p in theories], log_prior, rng=np.random.default_rng(2)
        )
        assert found.standard_error == 0
        assert found.value == pytest.approx(exact_information(theories, log_prior, trials))

    @pytest.mark.statistical
    def test_many_trials_are_simulated(self):
        theories, log_prior = (
            random_theories(np.random.default_rng(12), n_trials=13),
            np.log([0.2, 0.3, 0.5]),
        )
        found = information_of_batch(
            theories, log_prior, rng=np.random.default_rng(2), n_people=3000
        )
        assert 0 < found.standard_error < 0.01
        assert (
            abs(found.value - exact_information(theories, log_prior, range(13)))
            < 4 * found.standard_error
        )

    def test_equal_theories_give_nothing(self):
        p = random_theories(np.random.default_rng(13), n_theories=1)[0]
        found = information_of_batch([p, p], uniform(2), rng=np.random.default_rng(0), n_people=50)
        assert found.value == pytest.approx(0, abs=1e-12)

    def test_a_theory_without_prior_probability_adds_nothing(self):
        theories = random_theories(np.random.default_rng(14), n_theories=2)
        with np.errstate(divide="ignore"):
            found = information_of_batch(
                theories, np.log([1.0, 0.0]), rng=np.random.default_rng(0), n_people=50
            )
        assert found.value == pytest.approx(0, abs=1e-12)


class TestAnswers:
    def test_ways_to_share_out_answers_add_up_to_one(self):
        p = np.random.default_rng(15).dirichlet(np.ones(3), size=(4, 2))
        shared = outcome_probabilities(p, 4)
        assert shared.shape == (4, 2, 15)
        assert shared.sum(axis=-1) == pytest.approx(np.ones((4, 2)))

    @pytest.mark.statistical
    def test_simulated_people_answer_with_their_own_probabilities(self):
        p = two_options([[0.1, 0.9], [0.9, 0.1]])
        counts = simulate_counts(p, 4000, 5, np.random.default_rng(16), np.array([0.3, 0.7]))
        expected = 5 * (0.3 * p[0] + 0.7 * p[1])
        error = counts.std(axis=0, ddof=1) / np.sqrt(4000)
        assert np.all(np.abs(counts.mean(axis=0) - expected) < 4 * error)
        # One person is of one kind: their two trials go in opposite directions.
        assert np.corrcoef(counts[:, 0, 1], counts[:, 1, 1])[0, 1] < -0.5

    def test_the_predictive_probability_is_the_mean_over_draws(self):
        rng = np.random.default_rng(17)
        p, weights = two_options(rng.random((6, 3))), rng.dirichlet(np.ones(6))
        counts = rng.integers(0, 3, size=(10, 3, 2)).astype(float)
        direct = np.log([weights @ np.prod(p**c, axis=(1, 2)) for c in counts])
        assert log_predictive_of(p, counts, weights, n_chunk=4) == pytest.approx(direct)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("n_ways", [8, 256])
def test_last_digits_of_predictions_do_not_decide_which_trials_are_chosen(lazy, n_ways):
    """Candidates come in pairs that predict the same; another processor finds other last digits of each."""
    rng = np.random.default_rng(5)
    theories = [two_options(np.repeat(rng.random((16, 300)), 2, axis=1)) for _ in range(3)]
    chosen = []
    for seed in range(5):
        noise = np.random.default_rng(seed)
        noisy = [p * (1 + 2e-7 * noise.standard_normal(p.shape)) for p in theories]
        noisy = [p / p.sum(axis=-1, keepdims=True) for p in noisy]
        found = choose_trials(
            noisy, uniform(3), n_trials=9, rng=np.random.default_rng(1), random_share=0.0,
            n_ways=n_ways, lazy=lazy,
        )  # fmt: skip
        chosen.append(found.rows)
    assert len(set(chosen)) == 1
    assert chosen[0][0] % 2 == 0  # the first of a pair


def test_ways_that_are_equally_likely_but_for_rounding_are_kept_by_place():
    weight = np.repeat(np.random.default_rng(3).dirichlet(np.ones(40)), 8)
    kept = []
    for seed in range(5):
        noisy = weight * (1 + 1e-15 * np.random.default_rng(seed).standard_normal(len(weight)))
        kept.append(tuple(_keep(noisy / 8, 100, np.random.default_rng(1))[0]))
    assert len(set(kept)) == 1


def test_a_design_survives_an_artifact():
    design = Design(
        name="1.1",
        stimuli=Stimuli({"x": np.arange(3.0)}),
        repetitions=2,
        n_participants=5,
        random_coverage=(2,),
        information=(0.5, 0.1, float("nan")),
        archive="a",
    )
    text = canonical_json(design_to_json(design))
    again = design_from_json(design_to_json(design))
    assert canonical_json(design_to_json(again)) == text
    assert np.isnan(again.information[2])


def test_of_many_trials_only_the_first_are_chosen_by_what_they_add(monkeypatch):
    monkeypatch.setattr(design, "MOST_CHOSEN", 3)
    rng = np.random.default_rng(0)
    second = rng.uniform(size=(2, 4, 40))
    rivals = [np.stack([1 - p, p], axis=-1) for p in second]
    prior = np.log([0.5, 0.5])
    few = choose_trials(rivals, prior, n_trials=3, rng=np.random.default_rng(1), random_share=0.0)
    many = choose_trials(rivals, prior, n_trials=30, rng=np.random.default_rng(1), random_share=0.0)
    assert many.rows[:3] == few.rows
    assert len(set(many.rows)) == 30
    assert many.random_rows == tuple(range(3, 30))
