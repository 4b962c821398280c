"""A population in words agrees with the numbers beside it."""

from __future__ import annotations

from dataclasses import replace

from lakatos.flows.report.theory_facts import estimate_in_words, prior_words
from lakatos.theories.language.population_interval import EstimateInterval
from lakatos.theories.language.prior import Prior, n_free_parameters


def test_a_centre_at_a_limit_is_stated_with_the_limit() -> None:
    words = prior_words(Prior("normal", 0.0, 0.4, 0.0, 0.02))
    assert words.endswith("; its location before truncation is estimated at the lower limit, 0")


def test_a_population_is_stated_by_the_range_that_claims_state() -> None:
    # The 10th and 90th percentiles of a normal lie 1.2816 standard deviations from its centre.
    assert prior_words(Prior("normal", -9.0, 9.0, 1.0, 0.5)) == (
        "middle 80% of the population: 0.359 to 1.64"
    )


def test_a_distribution_as_wide_as_the_declared_range_is_called_so_and_not_uninformative() -> None:
    words = prior_words(Prior("normal", 0.0, 1.0, 0.5, 5.0))
    assert words.endswith("; about as wide as the declared range (0 to 1)")


def test_a_parameter_without_effect_on_the_presented_trials_is_not_free() -> None:
    known = Prior("normal", 0.0, 1.0, 0.5, 0.1)
    assert n_free_parameters({"weight": known, "other": replace(known, idle=True)}) == 1


def test_a_parameter_has_its_median_and_spread_with_intervals_in_brackets() -> None:
    assert estimate_in_words(EstimateInterval(0.6184, (0.4211, 0.9))) == "0.618 [0.421, 0.9]"
    assert estimate_in_words(EstimateInterval(-2.0, None)) == "−2"
