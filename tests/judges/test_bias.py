"""The bias report: intervals with known width, parity only where it is shown, and words that say no more than that."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from lakatos.judges.bias import bias_report, common_ratio, detection, needed_per_origin, ratio
from lakatos.judges.errors import GateError


def test_the_interval_of_a_ratio_of_191():
    # Acceptance of .40 against .764, a hundred of each: about 1.47 to 2.49.
    found = ratio(764, 1000, 400, 1000)
    assert found.value == pytest.approx(1.91)
    hundred = math.sqrt(10) * found.standard_error
    assert [1.91 * math.exp(sign * 1.96 * hundred) for sign in (-1, 1)] == pytest.approx(
        [1.47, 2.49], abs=0.01
    )


def test_the_standard_error_by_hand_and_with_empty_cells():
    assert ratio(20, 50, 10, 50).standard_error == pytest.approx(
        math.sqrt(1 / 20 - 1 / 50 + 1 / 10 - 1 / 50)
    )
    none = ratio(0, 50, 10, 50)
    assert none.value == pytest.approx((0.5 / 50.5) / (10.5 / 50.5))
    assert math.isinf(ratio(0, 0, 10, 50).standard_error)


def power_of(event, n, p_machine, p_human=0.4):
    """Probability of an event about two binomial counts, exact but for the last ten thousandth of their tails."""
    k = np.arange(n + 1)
    total = 0.0
    low, high = (binom.ppf(q, n, p_machine).astype(int) for q in (1e-4, 1 - 1e-4))
    other_low, other_high = (binom.ppf(q, n, p_human).astype(int) for q in (1e-4, 1 - 1e-4))
    p, q = binom.pmf(k, n, p_machine), binom.pmf(k, n, p_human)
    for a in range(low, high + 1):
        for b in range(other_low, other_high + 1):
            total += p[a] * q[b] * event(ratio(a, n, b, n))
    return total


@pytest.mark.parametrize(("n", "expected"), [(100, 0.75), (200, 0.95)])
def test_the_power_to_detect_a_ratio_of_142_by_a_one_sided_test(n, expected):
    assert power_of(lambda found: found.within(0.9)[0] > 1, n, 0.4 * 1.42) == pytest.approx(
        expected, abs=0.03
    )


@pytest.mark.slow
@pytest.mark.parametrize(("n", "expected"), [(200, 0.14), (400, 0.65)])
def test_the_power_to_show_parity(n, expected):
    assert power_of(lambda found: found.equivalent, n, 0.4) == pytest.approx(expected, abs=0.03)


def test_the_number_needed_for_parity_gives_the_wanted_power():
    n = needed_per_origin(0.4)
    error = math.sqrt(2 * 0.6 / 0.4 / n)
    assert 2 * norm.cdf(math.log(1.25) / error - norm.ppf(0.95)) - 1 == pytest.approx(
        0.8, abs=0.005
    )


def test_a_ratio_given_quality_is_not_moved_by_quality():
    # Machine-written theories are better, and accepted equally often given quality.
    good, bad = (80, 100, 40, 50), (10, 50, 20, 100)
    assert common_ratio([good, bad]).value == pytest.approx(1.0)
    assert ratio(90, 150, 60, 150).value == pytest.approx(1.5)


@pytest.mark.statistical
def test_the_common_ratios_interval_covers():
    rng = np.random.default_rng(8)
    covered, n = 0, 2000
    for _ in range(n):
        tables = [
            (rng.binomial(60, 0.7), 60, rng.binomial(40, 0.5), 40),
            (rng.binomial(40, 0.28), 40, rng.binomial(60, 0.2), 60),
        ]
        low, high = common_ratio(tables).interval
        covered += low <= 1.4 <= high
    assert covered / n == pytest.approx(0.95, abs=0.01 + 3 * math.sqrt(0.95 * 0.05 / n))


def test_detection_is_read_off_the_normal():
    good = np.array([True] * 99 + [False] * 99)
    accepted = np.r_[np.arange(99) < 84, np.arange(99) < 15]
    found = detection(accepted, good)
    assert found.d_prime == pytest.approx(norm.ppf(0.845) - norm.ppf(0.155))
    assert found.criterion == pytest.approx(-(norm.ppf(0.845) + norm.ppf(0.155)) / 2)


def decisions(n, p_machine, p_human, rng):
    """Half of either origin is good; acceptance of good and bad by origin."""
    machine, good = np.arange(n) % 2 == 0, np.arange(n) % 4 < 2
    p = np.where(machine, np.where(good, *p_machine), np.where(good, *p_human))
    return rng.random(n) < p, machine, good


def test_the_sentence_says_what_can_be_said():
    rng = np.random.default_rng(2)
    biased = bias_report(*decisions(1000, (0.9, 0.6), (0.6, 0.3), rng))
    assert biased.sentence.startswith(
        "The judge favours machine-written theories of equal quality: the ratio"
    )
    few = bias_report(*decisions(60, (0.6, 0.3), (0.6, 0.3), rng))
    assert few.sentence.startswith(
        "No bias is detectable with 30 machine-written and 30 human-written theories, which"
    )
    assert "theories of each origin are needed" in few.sentence
    many = bias_report(*decisions(20_000, (0.6, 0.3), (0.6, 0.3), rng))
    assert many.given_quality.equivalent
    assert many.sentence.startswith("Parity is shown within 0.8 to 1.25")


def test_the_gap_of_scores_and_the_preference_among_equals():
    accepted, machine, good = decisions(4000, (0.9, 0.4), (0.6, 0.3), np.random.default_rng(3))
    score = np.where(machine, 0.7, 0.5)
    report = bias_report(
        accepted, machine, good, score=score, preferred_machine=np.arange(100) < 70
    )
    assert report.gap[0] == pytest.approx(0.2)
    assert report.gap[1] < 0.2 < report.gap[2]
    share, low, high = report.preference
    assert share == 0.7
    assert 0.6 < low < 0.7 < high < 0.79


def test_without_both_origins_and_both_labels_nothing_is_said():
    ones = np.ones(10, dtype=bool)
    with pytest.raises(GateError, match="all or none of the 10 theories are machine-written"):
        bias_report(ones, ones, np.arange(10) < 5)
