"""Exact paired tests and evidence: published tables, exact expectations by enumeration, and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from lakatos.judges.ledger import draw_level, level_of
from lakatos.judges.paired import (
    betting_e_value,
    detectable_mean,
    exact_p,
    fewest_units,
    fewest_wins,
    minimum_detectable_gain,
    most_lost,
    power,
)
from lakatos.traces.digest import digest_of

counts = st.integers(0, 60)


@pytest.mark.parametrize(
    ("alpha", "table"),
    [
        (0.05, {8: 7, 10: 9, 20: 15, 40: 26, 80: 48}),
        (0.005, {8: 8, 10: 10, 20: 17, 40: 29, 80: 52}),
        (0.001, {10: 10, 20: 18, 40: 31, 80: 55}),
    ],
)
def test_the_fewest_wins_that_reject_are_those_of_the_table(alpha, table):
    assert {m: fewest_wins(m, alpha) for m in table} == table


def test_no_number_of_wins_rejects_where_there_are_too_few_items():
    assert fewest_wins(3, 0.05) == 4


@given(counts, counts)
def test_the_exact_p_value_sums_the_binomial_tail(wins, losses):
    tail = sum(math.comb(wins + losses, k) for k in range(wins, wins + losses + 1)) / 2 ** (
        wins + losses
    )
    assert exact_p(wins, losses) == pytest.approx(tail)


def test_without_discordant_items_the_p_value_is_one():
    assert exact_p(0, 0) == 1


@given(counts, counts)
def test_the_p_value_falls_with_wins_and_rises_with_losses(wins, losses):
    assert exact_p(wins + 1, losses) <= exact_p(wins, losses) <= exact_p(wins, losses + 1)


@given(counts, counts)
def test_exchanging_the_judges_turns_the_test_around(wins, losses):
    # Both tails hold the observed count.
    both = exact_p(wins, losses) + exact_p(losses, wins)
    assert both == pytest.approx(1 + binom.pmf(wins, wins + losses, 0.5))


def test_bets_multiply_over_units_and_are_averaged_over_bets():
    assert betting_e_value([2.0, -2.0], 2.0) == pytest.approx(
        (1.2 * 0.8 + 1.4 * 0.6 + 1.6 * 0.4) / 3
    )


@given(
    st.lists(
        st.tuples(st.floats(0.01, 1), st.floats(0.01, 3), st.floats(-0.2, 0.2)),
        min_size=1,
        max_size=8,
    )
)
def test_bets_expect_one_at_most_where_expected_gains_sum_to_zero(units):
    # Each unit loses ``low`` or gains ``high``; expected gains differ between units, and are centred.
    low, high, mean = np.array(units).T
    mean = mean - mean.mean()
    chance = (mean + low) / (low + high)
    if not ((chance >= 0) & (chance <= 1)).all():
        return
    expected = 0.0
    for won in product([0, 1], repeat=len(units)):
        happens = np.prod(np.where(won, chance, 1 - chance))
        expected += happens * betting_e_value(np.where(won, high, -low), float(low.max()))
    assert expected <= 1 + 1e-9


@pytest.mark.parametrize(("level", "exact", "fewest"), [(0.0304, True, 6), (0.0304, False, 10)])
def test_the_fewest_units_are_those_with_which_all_won_is_just_enough(level, exact, fewest):
    assert fewest_units(level, exact=exact) == fewest
    reached = [
        exact_p(n, 0) <= level if exact else betting_e_value(np.ones(n), 1) >= 1 / level
        for n in (fewest - 1, fewest)
    ]
    assert reached == [False, True]


@pytest.mark.statistical
@pytest.mark.parametrize(("n_units", "spread"), [(100, 0.4), (400, 0.2)])
def test_the_detectable_mean_is_found_with_about_the_wanted_power(n_units, spread):
    # The bound on the wealth is that of the best bet alone, so that the power is a little higher than wanted.
    mean, n_draws = detectable_mean(spread, 1.0, n_units, 0.03), 600
    rng = np.random.default_rng(3)
    found = [
        betting_e_value(np.clip(rng.normal(mean, spread, n_units), -1, None), 1.0) >= 1 / 0.03
        for _ in range(n_draws)
    ]
    assert 0.8 - 4 * math.sqrt(0.8 * 0.2 / n_draws) <= np.mean(found) <= 0.97


def test_power_is_the_sum_over_all_outcomes():
    n, discordance, gain, alpha = 12, 0.5, 0.3, 0.1
    better, worse = (discordance + gain) / 2, (discordance - gain) / 2
    total = 0.0
    for wins in range(n + 1):
        for losses in range(n - wins + 1):
            ways = math.comb(n, wins) * math.comb(n - wins, losses)
            p = ways * better**wins * worse**losses * (1 - discordance) ** (n - wins - losses)
            total += p * (exact_p(wins, losses) <= alpha and (wins - losses) / n >= 0.2)
    assert power(n, discordance, gain, alpha, 0.2) == pytest.approx(total)


def test_the_detectable_gain_is_found_with_the_wanted_power():
    found = minimum_detectable_gain(400, 0.2, 0.005, 0.02, wanted=0.8)
    assert power(400, 0.2, found, 0.005, 0.02) >= 0.8 > power(400, 0.2, found - 0.002, 0.005, 0.02)
    assert minimum_detectable_gain(5, 0.2, 0.005) == 1.0


def test_what_may_be_lost_is_bounded_exactly():
    # No win among 3 losses: the share of wins may still be 1 - 0.05^(1/3) from the other side only.
    assert most_lost(0, 3, 100) == pytest.approx(0.03)
    assert most_lost(3, 0, 100) == pytest.approx(0.03 * (1 - 2 * 0.05 ** (1 / 3)))
    assert most_lost(0, 0, 100) == 0


def test_levels_follow_the_series_and_sum_to_alpha():
    levels = [level_of(0.05, number) for number in range(1, 11)]
    rounded = [0.0304, 0.0076, 0.0034, 0.0019, 0.0012, 0.0008, 0.0006, 0.0005, 0.0004, 0.0003]
    assert levels == pytest.approx(rounded, abs=5e-5)
    total = sum(level_of(0.05, number) for number in range(1, 200_000))
    assert total == pytest.approx(0.05, abs=1e-6)


def test_a_level_is_drawn_once_and_stays_where_the_labels_stay_unread():
    first, second = digest_of("first"), digest_of("second")
    unread = draw_level([], first, 0.05, lambda number, level: False)
    assert (unread.number, unread.is_spent) == (1, False)
    spent = draw_level([unread], second, 0.05, lambda number, level: True)
    assert (spent.number, spent.level) == (1, level_of(0.05, 1))
    third = draw_level([unread, spent], first, 0.05, lambda number, level: True)
    assert (third.number, third.level) == (2, level_of(0.05, 2))
    again = draw_level([unread, spent, third], second, 0.05, lambda number, level: False)
    assert again == spent


def test_wealth_stays_finite_however_many_units_are_won():
    assert np.isfinite(betting_e_value(np.ones(100_000), 1.0))
