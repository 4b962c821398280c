import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from scipy.stats import t as student

from lakatos.experiments import power
from lakatos.experiments.errors import DesignError
from lakatos.experiments.information import ShapeError, rounded_chances
from lakatos.experiments.interval import exact_interval, wilson_interval
from lakatos.experiments.power import (
    PowerTable,
    _recovered,
    _recovered_by_size,
    find_n_of_people,
    find_n_participants,
    judge_design,
    power_in_words,
    power_of_answers,
    power_of_people,
    recovery_power,
    scores_of_people,
)


def single(*p):
    """A theory in which all people are alike."""
    p = np.asarray(p, dtype=np.float64)[None]
    return np.stack([1 - p, p], axis=-1)


def exact_power(p, q, n):
    """Power to recover p against q with n people and one trial: all depends on how many people answer 1."""
    k = np.arange(n + 1)
    one, zero = np.log(p / q), np.log((1 - p) / (1 - q))
    mean = (k * one + (n - k) * zero) / n
    error = np.sqrt((k * (one - mean) ** 2 + (n - k) * (zero - mean) ** 2) / (n - 1) / n)
    return binom.pmf(k, n, p)[mean > max(2.0, student.ppf(0.975, n - 1)) * error].sum()


class TestRecoveryPower:
    @pytest.mark.statistical
    @pytest.mark.parametrize(("p", "q", "n"), [(0.5, 0.7, 20), (0.5, 0.7, 60), (0.9, 0.6, 10)])
    def test_agrees_with_the_closed_form_for_one_trial(self, p, q, n):
        table = recovery_power(
            [single(p), single(q)], 1, n, np.random.default_rng(1), n_simulations=4000
        )
        for pair, exact in (((0, 1), exact_power(p, q, n)), ((1, 0), exact_power(q, p, n))):
            assert abs(table.power[pair] - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000)

    def test_people_are_simulated_in_blocks_with_the_same_answers(self, monkeypatch):
        rng = np.random.default_rng(3)
        theories = [rng.dirichlet([1, 1], size=(8, 12)) for _ in range(3)]

        def found():
            return recovery_power(theories, 2, 30, np.random.default_rng(4), n_simulations=20)

        whole = found()
        monkeypatch.setattr(power, "MOST_AT_ONCE", 24 * 7)
        in_blocks = found()
        assert np.array_equal(whole.n_recovered, in_blocks.n_recovered)
        assert in_blocks.effect == pytest.approx(whole.effect, rel=1e-12, nan_ok=True)

    def test_memory_does_not_grow_with_the_sample(self, monkeypatch):
        theories = [np.full((4, 500, 2), 0.5), np.tile([0.4, 0.6], (4, 500, 1))]
        monkeypatch.setattr(power, "MOST_AT_ONCE", 2**15)
        tracemalloc.start()
        try:
            recovery_power(theories, 1, 100, np.random.default_rng(5), n_simulations=20)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        counts = 2000 * 500 * 2 * 8
        assert peak < counts / 4

    @pytest.mark.statistical
    def test_samples_too_large_to_simulate_are_drawn_again(self, monkeypatch):
        monkeypatch.setattr(power, "MOST_SIMULATED", 2 * 20_000)
        table = recovery_power(
            [single(0.5), single(0.7)], 1, 20, np.random.default_rng(6), n_simulations=4000
        )
        for pair, p, q in (((0, 1), 0.5, 0.7), ((1, 0), 0.7, 0.5)):
            exact = exact_power(p, q, 20)
            # The share of yes among the 20,000 is off by chance, and power with it.
            slope = abs(exact_power(p + 0.01, q, 20) - exact) / 0.01
            off = np.hypot(np.sqrt(exact * (1 - exact) / 4000), slope * np.sqrt(0.25 / 20_000))
            assert abs(table.power[pair] - exact) < 4 * off

    @pytest.mark.statistical
    def test_pooled_power_agrees_with_enumeration(self):
        p, q, n_answers = np.array([0.3, 0.6]), np.array([0.45, 0.5]), np.array([40, 25])
        k = np.stack(np.meshgrid(np.arange(41), np.arange(26), indexing="ij"), axis=-1).reshape(
            -1, 2
        )
        chance = binom.pmf(k, n_answers, p).prod(axis=1)
        scores = k * np.log(p / q) + (n_answers - k) * np.log((1 - p) / (1 - q))
        value = scores.sum(axis=1) / n_answers.sum()
        error = (
            np.sqrt(2 * ((scores - value[:, None] * n_answers) ** 2).sum(axis=1)) / n_answers.sum()
        )
        exact = chance[value > student.ppf(0.975, 1) * error].sum()
        table = recovery_power(
            [single(*p), single(*q)],
            1,
            40,
            np.random.default_rng(2),
            n_simulations=4000,
            pooled=True,
            n_answers=n_answers,
        )
        assert table.pooled
        assert table.n_units == 2
        assert abs(table.power[0, 1] - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000)

    def test_pooled_answers_are_of_the_mean_person(self):
        mixed = np.concatenate([single(0.1, 0.2), single(0.9, 0.8)])
        alike = single(0.5, 0.5)
        table = recovery_power(
            [mixed, alike], 1, 50, np.random.default_rng(3), n_simulations=20, pooled=True
        )
        assert np.all(table.n_recovered == 0)

    def test_people_who_differ_are_told_from_people_who_are_alike(self):
        # On average both theories predict even odds everywhere; only a person's own consistency tells them apart.
        mixed = np.concatenate([single(0.1, 0.1, 0.1), single(0.9, 0.9, 0.9)])
        table = recovery_power(
            [mixed, single(0.5, 0.5, 0.5)], 2, 30, np.random.default_rng(4), n_simulations=50
        )
        assert table.separates((0, 1))

    def test_equal_theories_are_never_told_apart(self):
        p = single(0.3, 0.8)
        table = recovery_power([p, p], 1, 20, np.random.default_rng(6), n_simulations=20)
        assert np.all(table.n_recovered == 0)
        assert table.n_needed((0, 1)) is None

    def test_the_diagonal_is_no_power(self):
        table = recovery_power(
            [single(0.3), single(0.6)], 1, 20, np.random.default_rng(7), n_simulations=20
        )
        assert np.isnan(np.diag(table.power)).all()

    def test_one_person_decides_nothing(self):
        table = recovery_power(
            [single(0.01), single(0.99)], 1, 1, np.random.default_rng(8), n_simulations=20
        )
        assert np.all(table.n_recovered == 0)

    def test_a_single_theory_is_refused(self):
        with pytest.raises(DesignError, match="at least two rivals"):
            recovery_power([single(0.5)], 1, 10, np.random.default_rng())

    def test_a_wrong_number_of_pooled_answers_is_refused(self):
        with pytest.raises(ShapeError, match="one number for each of the 1 trials"):
            recovery_power(
                [single(0.5), single(0.6)],
                1,
                10,
                np.random.default_rng(),
                pooled=True,
                n_answers=np.array([3, 4]),
            )

    def test_nobody_is_refused(self):
        with pytest.raises(DesignError, match="n_participants=0"):
            recovery_power([single(0.5), single(0.6)], 1, 0, np.random.default_rng())


class TestPowerOfAnswers:
    """People of an archive, of whom it is known who answered what."""

    @pytest.mark.statistical
    @pytest.mark.parametrize(("p", "q", "n"), [(0.5, 0.7, 20), (0.9, 0.6, 10)])
    def test_agrees_with_the_closed_form_where_everybody_answered_everything(self, p, q, n):
        asked = np.ones((n, 1), dtype=int)
        table = power_of_answers(
            [single(p), single(q)], asked, np.random.default_rng(1), n_simulations=4000
        )
        exact = exact_power(p, q, n)
        assert abs(table.power[0, 1] - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000)
        assert (table.n_units, table.n_answers) == (n, n)

    @pytest.mark.statistical
    def test_people_who_answered_one_of_two_equal_trials_are_worth_one_trial_each(self):
        """Who answers only one of two trials that are alike tells what somebody does who was shown one."""
        n, rng = 30, np.random.default_rng(2)
        both = [np.repeat(single(p), 2, axis=1) for p in (0.5, 0.7)]
        half = np.eye(2, dtype=int)[np.arange(n) % 2]
        found = power_of_answers(both, half, rng, n_simulations=4000).power[0, 1]
        exact = exact_power(0.5, 0.7, n)
        assert abs(found - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000)
        assert power_of_answers(both, np.ones((n, 2), dtype=int), rng).power[0, 1] > found

    def test_of_a_large_table_fewer_people_are_simulated_and_drawn_again(self, monkeypatch):
        monkeypatch.setattr(power, "MOST_CELLS", 2048)
        asked = np.ones((40, 4), dtype=int)
        theories = [np.repeat(single(p), 4, axis=1) for p in (0.3, 0.6)]
        table = power_of_answers(theories, asked, np.random.default_rng(3), n_simulations=50)
        assert (table.n_units, table.n_simulations) == (40, 50)
        assert table.power[0, 1] > 0.9

    def test_tables_that_disagree_are_refused(self):
        with pytest.raises(ShapeError, match="asked has 2 trials and the probabilities 1"):
            power_of_answers(
                [single(0.5), single(0.6)], np.ones((3, 2), dtype=int), np.random.default_rng()
            )


class TestPowerOfUnequalPeople:
    """People who were simulated one by one, each with the trials that somebody of an archive answered."""

    ASKED = np.array([[1, 0, 0], [1, 1, 1]])[np.arange(4000) % 2]

    def scored(self, p, q, rng):
        """Scores of people of two coins, each tossed as often as it was asked."""
        sizes = self.ASKED.sum(axis=1)
        told = []
        for true in (p, q):
            heads = rng.binomial(sizes, true)
            told.append([heads * np.log(x) + (sizes - heads) * np.log(1 - x) for x in (p, q)])
        return np.array(told).transpose(0, 2, 1)

    @pytest.mark.statistical
    def test_is_that_of_answers_which_do_not_depend_on_each_other(self):
        rng, n = np.random.default_rng(4), 24
        found = power_of_people(
            self.scored(0.5, 0.7, rng), n, rng, n_simulations=4000, n_answers=self.ASKED.sum(axis=1)
        )
        theories = [np.repeat(single(p), 3, axis=1) for p in (0.5, 0.7)]
        wanted = power_of_answers(theories, self.ASKED[:n], rng, n_simulations=4000)
        error = np.sqrt(2 * 0.25 / 4000)
        # here people are drawn again, and with them how many answered everything
        assert abs(found.power[0, 1] - wanted.power[0, 1]) < 4 * error + 0.02
        assert (found.n_units, found.n_answers, wanted.n_answers) == (n, 2 * n, 2 * n)
        everybody = power_of_answers(theories, np.ones((n, 3), dtype=int), rng, n_simulations=4000)
        assert everybody.power[0, 1] > found.power[0, 1] + 0.05

    def test_numbers_of_other_people_are_refused(self):
        rng = np.random.default_rng(5)
        with pytest.raises(ShapeError, match="one number for each of 4000 people"):
            power_of_people(self.scored(0.5, 0.7, rng), 5, rng, n_answers=np.ones(3, dtype=int))


class TestSampleSize:
    @given(st.integers(0, 1000), st.integers(2, 30))
    def test_samples_of_all_sizes_follow_the_rule_for_one(self, seed, n):
        values = np.random.default_rng(seed).normal(0.4, 1, size=(7, 30))
        assert np.array_equal(
            _recovered_by_size(values)[:, n - 1], _recovered(values[:, :n], np.ones(n))
        )

    @pytest.mark.statistical
    def test_the_size_found_has_the_power_by_the_closed_form(self):
        table = find_n_participants(
            [single(0.5), single(0.75)], 1, np.random.default_rng(9), most=260, n_simulations=4000
        )
        exact = min(exact_power(0.5, 0.75, table.n_units), exact_power(0.75, 0.5, table.n_units))
        error = np.sqrt(0.9 * 0.1 / 4000)
        assert exact > 0.9 - 4 * error
        sizes = range(table.n_units - 12, table.n_units)
        assert (
            min(min(exact_power(0.5, 0.75, n), exact_power(0.75, 0.5, n)) for n in sizes)
            < 0.9 + 4 * error
        )

    def test_pairs_that_nobody_can_separate_do_not_set_the_size(self):
        theories = [single(0.2), single(0.8), single(0.8)]
        table = find_n_participants(
            theories, 2, np.random.default_rng(10), most=60, n_simulations=100
        )
        assert table.n_units < 30
        assert table.separates((0, 1))
        assert not table.separates((1, 2))

    def test_without_a_separable_pair_everybody_is_asked(self):
        p = single(0.5)
        assert (
            find_n_participants(
                [p, p], 1, np.random.default_rng(11), most=7, n_simulations=20
            ).n_units
            == 7
        )

    def test_only_pairs_that_matter_set_the_size(self):
        theories = [single(0.2), single(0.8), single(0.72)]
        every = find_n_participants(
            theories, 4, np.random.default_rng(12), most=200, n_simulations=100
        )
        some = find_n_participants(
            theories, 4, np.random.default_rng(12), most=200, n_simulations=100, pairs=[(1, 0)]
        )
        assert some.n_units < every.n_units

    def test_the_number_needed_is_about_right(self):
        theories = [single(0.5), single(0.7)]
        table = recovery_power(theories, 1, 30, np.random.default_rng(13), n_simulations=2000)
        needed = table.n_needed((0, 1))
        assert 0.8 < exact_power(0.5, 0.7, needed) < 0.97

    @pytest.mark.statistical
    def test_people_scored_one_by_one_need_the_same_number(self):
        theories = [single(0.5), single(0.75)]
        people = scores_of_people(theories, 1, 4000, np.random.default_rng(14))
        table = find_n_of_people(people, np.random.default_rng(15), most=260, n_simulations=4000)
        exact = min(exact_power(0.5, 0.75, table.n_units), exact_power(0.75, 0.5, table.n_units))
        # The 4000 people are drawn again for each sample, so that their own share of yes, off by chance, matters too.
        slope = (
            max(abs(exact_power(0.5, 0.75 + d, table.n_units) - exact) for d in (-0.01, 0.01))
            / 0.01
        )
        assert (
            abs(exact - 0.9)
            < 4 * np.hypot(np.sqrt(0.9 * 0.1 / 4000), slope * np.sqrt(0.25 / 4000)) + 0.02
        )

    @pytest.mark.statistical
    def test_scores_of_people_are_those_of_their_answers(self):
        p, q = 0.3, 0.8
        people = scores_of_people([single(p), single(q)], 1, 5000, np.random.default_rng(16))
        assert people.shape == (2, 5000, 2)
        assert set(np.round(people[..., 0].ravel(), 9)) == set(np.round(np.log([p, 1 - p]), 9))
        ones = np.isclose(people[..., 1], np.log(q)).mean(axis=1)
        assert np.all(np.abs(ones - [p, q]) < 4 * np.sqrt(0.25 / 5000))

    def test_a_sample_of_one_is_refused(self):
        with pytest.raises(DesignError, match="at least 2"):
            find_n_participants([single(0.5), single(0.6)], 1, np.random.default_rng(), most=1)


def table_of(power, effect=0.1, n=100, n_units=20):
    power = np.asarray(power, dtype=float)
    return PowerTable(
        np.rint(np.nan_to_num(power) * n).astype(int),
        np.full(power.shape, effect),
        n_simulations=n,
        n_units=n_units,
    )


class TestJudgeDesign:
    NAMES = ("take the best", "weighted sum", "tallying")
    TABLE = table_of([[np.nan, 0.95, 0.2], [0.92, np.nan, 0.99], [0.9, 0.3, np.nan]])

    def test_a_design_that_separates_a_pair_is_accepted_and_names_the_ties(self):
        verdict = judge_design(self.TABLE, None, names=self.NAMES)
        assert verdict.accepted
        assert verdict.separable == ((0, 1),)
        assert verdict.indistinguishable == ((0, 2), (1, 2))
        assert "take the best and weighted sum (power 0.92)" in verdict.reason
        assert (
            "Not separated: when tallying is true it beats weighted sum in 0.30" in verdict.reason
        )
        assert "; when take the best is true it beats tallying in 0.20" in verdict.reason

    def test_of_many_pairs_the_two_with_most_power_are_explained_and_the_others_counted(self):
        table = table_of(np.where(np.eye(4), np.nan, np.arange(16).reshape(4, 4) / 100))
        reason = judge_design(table, None, names=("a", "b", "c", "d")).reason
        assert reason.count(" is true it beats ") == 2
        first = reason.index("when c is true it beats d in 0.11")
        assert first < reason.index("when b is true it beats d in 0.07")
        assert reason.endswith("; 4 further pairs with less power.")

    def test_a_refusal_does_not_deny_pairs_that_are_separated_but_no_longer_open(self):
        reason = judge_design(self.TABLE, [(2, 1)], names=self.NAMES).reason
        assert (
            "separate no undecided pair of leading theories with power 0.90: when tallying"
            in reason
        )

    def test_power_by_simulation_is_never_stated_as_certain(self):
        assert [power_in_words(power) for power in (1.0, 0.92)] == ["above 0.99", "0.92"]

    def test_a_design_that_separates_no_open_pair_is_refused_with_what_would_help(self):
        verdict = judge_design(self.TABLE, [(2, 1)], names=self.NAMES)
        assert not verdict.accepted
        assert verdict.indistinguishable == ((1, 2),)
        assert verdict.reason.startswith(
            "Refused: in simulations, responses of 20 participants separate no undecided pair of leading theories"
        )
        assert "when tallying is true it beats weighted sum in 0.30" in verdict.reason
        assert "about 1077 participants would give 0.90" in verdict.reason

    def test_where_more_people_would_not_help_the_reason_says_so(self):
        table = table_of([[np.nan, 0.0], [0.0, np.nan]], effect=0.0)
        assert (
            "more participants would not help"
            in judge_design(table, None, names=self.NAMES[:2]).reason
        )

    def test_without_an_open_pair_there_is_nothing_to_ask(self):
        verdict = judge_design(self.TABLE, [], names=self.NAMES)
        assert not verdict.accepted
        assert "no pair of leading theories is open" in verdict.reason


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_is_wilsons(case):
    k, n = case
    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson_interval(k, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_exact_interval_is_clopper_and_pearsons(case):
    k, n = case
    expected = binomtest(k, n).proportion_ci(method="exact")
    assert exact_interval(k, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_counts_are_the_same_where_probabilities_differ_in_the_last_digit() -> None:
    below, above = np.nextafter(0.5, 0.0), np.nextafter(0.5, 1.0)
    drawn = [
        np.random.default_rng(1).multinomial(7, rounded_chances(np.array([[p, 1 - p]] * 200)))
        for p in (below, 0.5, above)
    ]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[1] == drawn[2]).all()
    shares = np.random.default_rng(2).dirichlet(np.ones(20), size=2000)
    counts = np.random.default_rng(3).multinomial(5, rounded_chances(shares))
    assert (counts.sum(axis=1) == 5).all()
