"""Exact paired tests and evidence: published tables, exact expectations by enumeration, and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact

from lakatos.judges.errors import LedgerError
from lakatos.judges.ledger import AlphaSpending, FalseDiscovery, n_transcripts
from lakatos.judges.paired import (
    betting_e_values,
    exact_p,
    fewest_wins,
    leak_p,
    lower_quantile,
    minimum_detectable_gain,
    mixture_e_value,
    most_lost,
    power,
    published_rule,
    sign_flip_p,
)

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


@pytest.mark.parametrize(
    ("least", "table"),
    [(20, {10: 10, 20: 16, 40: 29, 80: 54}), (200, {15: 14, 20: 18, 40: 32, 80: 57})],
)
def test_the_mixture_needs_few_more_wins_than_the_exact_test(least, table):
    found = {
        m: next(wins for wins in range(m + 1) if mixture_e_value(wins, m - wins) >= least)
        for m in table
    }
    assert found == table


def expected_mixture(m, p):
    return sum(binom.pmf(wins, m, p) * mixture_e_value(wins, m - wins) for wins in range(m + 1))


@pytest.mark.parametrize("m", range(21))
def test_the_mixtures_expectation_is_one_with_even_odds(m):
    assert expected_mixture(m, 0.5) == pytest.approx(1)


@pytest.mark.parametrize(("m", "expected"), [(1, 0.90), (5, 0.61), (20, 0.24)])
def test_the_mixtures_expectation_is_below_one_for_a_worse_challenger(m, expected):
    assert expected_mixture(m, 0.4) == pytest.approx(expected, abs=0.005)


@pytest.mark.statistical
def test_the_mixtures_maximum_over_time_stays_within_its_level():
    rng = np.random.default_rng(5)
    n_paths, most = 3000, 400
    threshold, least = (
        [],
        0,
    )  # what m items need, m + 1 where nothing is enough; never less than fewer items need
    for m in range(1, most + 1):
        while least <= m and mixture_e_value(least, m - least) < 20:
            least += 1
        threshold.append(least)
    wins = (rng.random((n_paths, most)) < 0.5).cumsum(axis=1)
    reached = (wins >= np.array(threshold)).any(axis=1).mean()
    assert reached <= 0.05
    assert reached == pytest.approx(0.034, abs=4 * math.sqrt(0.034 * 0.966 / n_paths))


def test_bets_multiply_within_a_challenger_and_are_averaged_over_bets():
    assert betting_e_values([1, -1]) == pytest.approx(
        [(1.2 + 1.4 + 1.6) / 3, (1.2 * 0.8 + 1.4 * 0.6 + 1.6 * 0.4) / 3]
    )


def test_the_expectation_of_bets_is_one_with_even_odds():
    signs = np.array(np.meshgrid(*[[1, -1]] * 8)).reshape(8, -1).T
    assert np.mean([betting_e_values(row)[-1] for row in signs]) == pytest.approx(1)


def test_sign_flips_of_few_units_are_all_counted():
    gains = np.array([3.0, 2.0, -1.0])
    # Of the eight sums 6, 4, 2, 0, 0, -2, -4, -6 two are at least the observed 4.
    assert sign_flip_p(gains, rng=np.random.default_rng(0)) == 2 / 8


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=16))
def test_sign_flips_of_right_and_wrong_are_the_exact_paired_test(gains):
    p = sign_flip_p(np.array(gains), rng=np.random.default_rng(0))
    assert p == pytest.approx(exact_p(gains.count(1.0), gains.count(-1.0)))


@pytest.mark.statistical
def test_random_sign_flips_agree_with_the_exact_test():
    gains = np.array([1.0] * 26 + [-1.0] * 14)
    p = sign_flip_p(gains, rng=np.random.default_rng(3))
    assert p == pytest.approx(exact_p(26, 14), abs=4 * math.sqrt(0.04 * 0.96 / 9999))


def test_items_of_one_cluster_change_sign_together():
    rng = np.random.default_rng(0)
    assert sign_flip_p(np.ones(10), ["a"] * 5 + ["b"] * 5, rng=rng) == 1 / 4
    assert sign_flip_p(np.ones(10), rng=rng) == 1 / 1024


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


@pytest.mark.parametrize(
    ("right", "n", "expected"),
    [
        (70, 100, 0.619),
        (75, 100, 0.672),
        (82, 100, 0.747),
        (30, 40, 0.621),
        (2, 2, 0.368),
        (5, 5, 0.607),
        (10, 10, 0.762),
    ],
)
def test_the_published_lower_quantile(right, n, expected):
    assert lower_quantile(right, n - right) == pytest.approx(expected, abs=5e-4)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=6))
def test_the_published_rule_promotes_whoever_has_one_more_right_answer(rights):
    incumbent, *challengers = [(right, 50 - right) for right in rights]
    found = published_rule(incumbent, challengers)
    best = max(rights[1:])
    assert found == (rights[1:].index(best) if best > rights[0] else None)


def test_spending_follows_the_series_and_sums_to_alpha():
    ledger, levels = AlphaSpending(0.05), []
    for _ in range(10):
        levels.append(ledger.level)
        ledger = ledger.debit(ledger.level, replaced=False)
    rounded = [0.0304, 0.0076, 0.0034, 0.0019, 0.0012, 0.0008, 0.0006, 0.0005, 0.0004, 0.0003]
    assert levels == pytest.approx(rounded, abs=5e-5)
    assert sum(0.05 * 6 / (math.pi * t) ** 2 for t in range(1, 200_000)) == pytest.approx(
        0.05, abs=1e-6
    )
    assert 0 < ledger.left < 0.05 - sum(rounded) + 1e-3


def test_the_ledger_never_goes_negative_and_keeping_costs_as_much():
    ledger = AlphaSpending(0.05).debit(0.04, replaced=False)
    assert ledger.left == pytest.approx(0.01)
    with pytest.raises(LedgerError, match=r"level 0.02 was asked for, and 0.01 of 0.05 is left"):
        ledger.debit(0.02, replaced=True)


def test_false_discovery_allows_more_after_a_replacement():
    ledger = FalseDiscovery(0.05)
    assert ledger.level == pytest.approx(0.0304, abs=5e-5)
    kept, replaced = (ledger.debit(ledger.level, replaced=value) for value in (False, True))
    assert replaced.level == pytest.approx(2 * kept.level)
    with pytest.raises(LedgerError, match="the next may use"):
        kept.debit(0.03, replaced=False)


def test_transcripts_of_ten_tests_with_at_most_two_replacements():
    assert n_transcripts(10, 2) == 56


def test_a_judge_that_saw_the_labels_is_told_by_the_vault():
    table = [[90, 10], [30, 10]]
    assert leak_p(90, 100, 30, 40) == pytest.approx(
        fisher_exact(table, alternative="greater").pvalue
    )
    assert leak_p(200, 200, 60, 80) < 1e-6
