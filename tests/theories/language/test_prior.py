"""Priors: quantiles against SciPy's distributions, what is refused, and populations that integrate well."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import loguniform, truncnorm, uniform

from lakatos.theories.errors import PriorError
from lakatos.theories.language.prior import Prior, draw_population, parse_prior

U = np.array([0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999])
UNIFORM = {"prior": "uniform", "low": 1.0, "high": 3.0}
LOG_UNIFORM = {"prior": "log_uniform", "low": 0.1, "high": 20.0}
NORMAL = {"prior": "normal", "mean": 0.5, "sd": 1.0, "low": -1.0, "high": 2.0}
LOG_NORMAL = {"prior": "log_normal", "median": 2.0, "log_sd": 0.7, "low": 0.5, "high": 9.0}


@st.composite
def priors(draw):
    """Any prior that can be declared, limits of any size."""
    kind = draw(st.sampled_from(["uniform", "log_uniform", "normal", "log_normal"]))
    low = draw(st.floats(0.001, 50) if kind.startswith("log") else st.floats(-50, 50))
    high = low + draw(st.floats(0.01, 100))
    literal = {"prior": kind, "low": low, "high": high}
    center = low + draw(st.floats(0, 1)) * (high - low)
    spread = draw(st.floats(0.01, 20))
    if kind == "normal":
        literal |= {"mean": min(center, high), "sd": spread}
    if kind == "log_normal":
        literal |= {"median": min(center, high), "log_sd": spread}
    return literal


def test_uniform_quantiles_are_scipys():
    np.testing.assert_allclose(parse_prior("x", UNIFORM).quantile(U), uniform(1, 2).ppf(U))


def test_log_uniform_quantiles_are_scipys():
    np.testing.assert_allclose(
        parse_prior("x", LOG_UNIFORM).quantile(U), loguniform(0.1, 20).ppf(U)
    )


def test_normal_quantiles_are_those_of_the_truncated_normal():
    expected = truncnorm(-1.5, 1.5, loc=0.5, scale=1.0).ppf(U)
    np.testing.assert_allclose(parse_prior("x", NORMAL).quantile(U), expected, rtol=1e-9)


def test_log_normal_quantiles_are_those_of_a_truncated_normal_on_the_logarithm():
    center, spread = math.log(2), 0.7
    low, high = (math.log(0.5) - center) / spread, (math.log(9) - center) / spread
    expected = np.exp(truncnorm(low, high, loc=center, scale=spread).ppf(U))
    np.testing.assert_allclose(parse_prior("x", LOG_NORMAL).quantile(U), expected, rtol=1e-9)


@given(priors(), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_quantiles_rise_and_stay_within_the_limits(literal, fractions):
    prior = parse_prior("x", literal)
    values = prior.quantile(np.sort(fractions))
    assert (np.diff(values) >= 0).all()
    assert (values >= prior.low).all()
    assert (values <= prior.high).all()


@given(priors())
def test_a_prior_written_as_a_literal_reads_back_as_a_prior_within_the_same_limits(literal):
    prior = parse_prior("x", literal)
    again = parse_prior("x", prior.to_literal())
    assert (again.kind, again.low, again.high) == (prior.kind, prior.low, prior.high)
    assert again.to_literal() == prior.to_literal()
    if prior.kind in ("normal", "log_normal"):
        assert again.spread == pytest.approx(prior.spread, rel=1e-3)


@pytest.mark.parametrize("limit", [1 / 3, 2 / 3])
def test_rounding_keeps_a_center_that_lies_on_a_limit_inside(limit):
    narrow = Prior("uniform", 1 / 3, 2 / 3).narrowed(limit, 0.1)
    assert parse_prior("x", narrow.to_literal()).center == limit


def test_narrowing_keeps_limits_unit_and_meaning():
    prior = parse_prior("x", LOG_UNIFORM | {"unit": "per point", "meaning": "strictness"})
    narrow = prior.narrowed(math.log(2), 0.5)
    assert narrow == Prior("log_normal", 0.1, 20.0, math.log(2), 0.5, "per point", "strictness")
    assert parse_prior("x", narrow.to_literal()) == narrow


def test_latent_scale_is_the_logarithm_for_log_priors_only():
    values = np.array([1.0, math.e])
    np.testing.assert_allclose(parse_prior("x", LOG_UNIFORM).latent(values), [0, 1])
    np.testing.assert_array_equal(parse_prior("x", UNIFORM).latent(values), values)


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        (3.0, r"parameter 'x': 3.0 is no prior. Write .* uniform, log_uniform, normal, log_normal"),
        ({"low": 0, "high": 1}, "is no prior"),
        ({"prior": "gamma", "low": 0, "high": 1}, "is no prior"),
        ({"prior": ["uniform"], "low": 0, "high": 1}, "is no prior"),
        (
            {"prior": "uniform", "low": 0},
            "a uniform prior needs the numbers low, high; missing: high",
        ),
        ({"prior": "uniform", "low": 0, "high": True}, "missing: high"),
        ({"prior": "uniform", "low": "0", "high": 1}, "missing: low"),
        (UNIFORM | {"mean": 0.0}, "unknown: mean"),
        (UNIFORM | {3: 0.0}, "unknown: 3"),
        (
            {"prior": "uniform", "low": 1, "high": 1},
            "improper; give finite numbers with low < high",
        ),
        ({"prior": "uniform", "low": 0, "high": math.inf}, "improper"),
        ({"prior": "uniform", "low": 0, "high": math.nan}, "improper"),
        ({"prior": "uniform", "low": 0, "high": 10**400}, "improper"),
        ({"prior": "uniform", "low": -1.5e308, "high": 1.5e308}, "improper"),
        (
            {"prior": "log_uniform", "low": 0, "high": 1},
            "a log_uniform prior needs low > 0, not 0.0",
        ),
        (LOG_NORMAL | {"median": 0}, "the median of a log_normal must be above 0"),
        (LOG_NORMAL | {"median": 10}, r"the center must lie in \[low, high\]"),
        (NORMAL | {"mean": 3}, r"the center must lie in \[low, high\]"),
        (NORMAL | {"sd": 0}, "the spread be above 0"),
    ],
)
def test_what_is_no_prior_is_refused_by_name(literal, message):
    with pytest.raises(PriorError, match=message):
        parse_prior("x", literal)


def test_a_theory_without_parameters_has_an_empty_population():
    assert draw_population({}, 8, np.random.default_rng(0)) == {}


@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 8, 64]))
def test_every_stratum_of_a_parameter_holds_one_draw(seed, n_draws):
    prior = parse_prior("x", UNIFORM)
    drawn = draw_population({"a": prior, "b": prior}, n_draws, np.random.default_rng(seed))
    for values in drawn.values():
        strata = np.floor((values - 1) / 2 * n_draws * (1 - 1e-12))
        assert sorted(strata) == list(range(n_draws))


def test_population_integrates_a_smooth_function_far_better_than_independent_draws():
    prior = parse_prior("x", UNIFORM)
    drawn = draw_population({"x": prior}, 256, np.random.default_rng(3))["x"]
    independent_error = math.sqrt((3**5 - 1) / 10 - (13 / 3) ** 2) / math.sqrt(
        256
    )  # of x**2 on [1, 3]
    assert abs((drawn**2).mean() - 13 / 3) < independent_error / 20
