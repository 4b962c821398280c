"""Intervals of the median and the spread of a population have the size that they state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr, ndtri, stdtrit

from lakatos.theories.language.population_interval import (
    median_of,
    sd_of,
    sd_of_values,
    share_above,
)
from lakatos.theories.language.prior import Prior

WIDE = Prior("normal", -50.0, 50.0, 1.0, 2.0, doubt=0.1)


def test_participants_known_without_error_give_the_standard_error_of_a_mean() -> None:
    found = median_of(
        WIDE, 50
    )  # 1 / sqrt(2 n) is the error of the logarithm of a spread of known values
    assert found.value == pytest.approx(1.0)
    assert found.interval is not None
    half = stdtrit(49, 0.975) * sd_of_values(WIDE) / np.sqrt(50)
    assert found.interval == pytest.approx((1.0 - half, 1.0 + half))


def test_a_reliability_of_a_quarter_doubles_the_interval_of_the_median() -> None:
    known, noisy = (median_of(replace(WIDE, doubt=doubt), 50).interval for doubt in (0.1, 0.4))
    assert known is not None
    assert noisy is not None
    assert noisy[1] - noisy[0] == pytest.approx(2 * (known[1] - known[0]))


def test_a_spread_has_an_interval_by_the_error_of_its_logarithm() -> None:
    found = sd_of(WIDE, 50)
    factor = np.exp(0.1 * stdtrit(49, 0.975))
    assert found.value == pytest.approx(2.0, rel=0.01)
    assert found.interval == pytest.approx((found.value / factor, found.value * factor), rel=0.01)


@pytest.mark.parametrize(
    ("prior", "n_people"),
    [
        (replace(WIDE, doubt=0.0), 50),  # fits of earlier versions
        (replace(WIDE, doubt=9.0), 50),  # responses that say nothing of the spread
        (replace(WIDE, idle=True), 50),
        (WIDE, 0),  # counts of responses
        (WIDE, 4),
    ],
)
def test_what_responses_do_not_determine_has_no_interval(prior: Prior, n_people: int) -> None:
    assert median_of(prior, n_people).interval is None
    assert sd_of(prior, n_people).interval is None


def test_a_population_as_wide_as_the_declared_range_has_no_interval_of_its_spread() -> None:
    prior = Prior("log_normal", 0.1, 10.0, 0.0, 9.0, doubt=0.1)
    assert sd_of(prior, 50).interval is None
    found = median_of(prior, 50)
    assert found.interval is not None
    assert 0.1 < found.interval[0] < 1.0 < found.interval[1] < 10.0


def test_half_of_a_population_is_above_its_median_with_the_error_of_the_median() -> None:
    found = share_above(WIDE, 1.0, 50)
    assert found.value == pytest.approx(0.5)
    half = stdtrit(49, 0.975) / np.sqrt(50)  # of a mean, in standard deviations
    assert found.interval == pytest.approx((ndtr(-half), ndtr(half)))


def test_the_error_of_a_spread_widens_the_interval_of_a_proportion_far_from_the_median() -> None:
    found = share_above(WIDE, -3.0, 50)  # two standard deviations below the median
    assert found.value == pytest.approx(ndtr(2), abs=0.005)
    assert found.interval is not None
    low, high = (ndtri(end) for end in found.interval)
    assert high - low == pytest.approx(
        2 * stdtrit(49, 0.975) * np.sqrt(1 / 50 + (ndtri(found.value) * 0.1) ** 2)
    )
    assert share_above(WIDE, -3.0, 0).interval is None
