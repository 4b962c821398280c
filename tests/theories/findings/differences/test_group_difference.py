"""Labels exchanged among people say whether groups differ, at the rate that is promised."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind

from lakatos.theories.engine.fitting.on_draws import DrawnPeople
from lakatos.theories.findings.differences.exchanged_labels import (
    _exchanged,
    group_columns,
    permuted_p,
)
from lakatos.theories.findings.differences.group_difference import (
    MedianPerson,
    ParameterDifference,
    PeoplesEstimates,
    _difference,
    compare_pair,
    estimates_of_people,
    groups_alone,
)
from lakatos.theories.language.prior import Prior, draw_population


def test_a_difference_is_reported_with_medians_and_intervals() -> None:
    item = ParameterDifference(
        parameter="rate",
        unit="per day",
        is_ratio=True,
        medians={"a": MedianPerson(0.05, (0.04, 0.07)), "b": MedianPerson(0.01, (0.008, 0.02))},
        p=0.0005,
        differences={("a", "b"): MedianPerson(0.2, (0.1, 0.4))},
    )
    assert item.differs
    assert item.to_text() == (
        "median rate (per day) 0.05 (0.04 to 0.07) for a, 0.01 (0.008 to 0.02) for b; "
        "ratio b / a 0.2 (0.1 to 0.4), p < 0.001"
    )


def test_a_difference_names_the_groups_in_the_order_in_which_they_are_subtracted() -> None:
    medians = {"a": MedianPerson(0.6, (0.5, 0.7)), "b": MedianPerson(0.53, (0.4, 0.6))}

    def said(value: float, low: float, high: float) -> str:
        compared = {("a", "b"): MedianPerson(value, (low, high))}
        return ParameterDifference("start", "", False, medians, 0.2, compared).to_text()

    assert "; difference b - a -0.07 (-0.16 to 0.02), p" in said(-0.07, -0.16, 0.02)
    assert "; difference b - a 0.07 (-0.02 to 0.16), p" in said(0.07, -0.02, 0.16)


def test_without_a_p_value_none_is_reported() -> None:
    medians = {"a": MedianPerson(0.6, (0.5, 0.7)), "b": MedianPerson(0.53, (0.4, 0.6))}
    item = ParameterDifference("start", "", False, medians, None, {}, alone=("a", "b"))
    assert not item.differs
    assert "p =" not in item.to_text()


def test_groups_that_meet_no_other_one_in_an_experiment_are_known() -> None:
    everybody, nobody, half = np.ones(4, bool), np.zeros(4, bool), np.array([1, 1, 0, 0], bool)
    assert groups_alone({"a": [everybody, nobody], "b": [nobody, everybody]}) == ("a", "b")
    assert groups_alone({"a": [half, nobody], "b": [~half, everybody]}) == ()
    # c is alone in the second experiment, while a and b meet in the first
    members = {"a": [half, nobody], "b": [~half, nobody], "c": [nobody, everybody]}
    assert groups_alone(members) == ("c",)


@pytest.mark.parametrize(
    ("interval", "is_ratio", "differs"),
    [
        ((1.1, 2.0), True, True),
        ((0.3, 0.9), True, True),
        ((0.9, 2.0), True, False),
        ((0.1, 2.0), False, True),
        ((-0.1, 2.0), False, False),
    ],
)
def test_groups_differ_only_where_the_interval_excludes_no_difference(
    interval: tuple[float, float], is_ratio: bool, differs: bool
) -> None:
    medians = {"a": MedianPerson(1.0, (0.5, 2.0)), "b": MedianPerson(1.5, (1.0, 3.0))}
    compared = {("a", "b"): MedianPerson(1.5, interval)}
    assert ParameterDifference("rate", "", is_ratio, medians, 0.01, compared).differs == differs
    assert not ParameterDifference("rate", "", is_ratio, medians, 0.06, compared).differs


def two_groups_in_two_experiments() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimates of people of two groups, of which the second is mostly in the experiment with high values."""
    rng = np.random.default_rng(4)
    experiment = np.repeat([0, 1], [20, 30])
    group = (rng.random(50) < np.where(experiment == 0, 0.25, 0.7)).astype(int)
    return rng.normal(size=50) + 2.0 * experiment, group, experiment


@pytest.mark.parametrize("apart", [0.0, 0.5, 1.0])
def test_what_is_reported_is_what_exchanged_groups_decide_about(apart: float) -> None:
    """Counted over the same exchanges, the reported difference has the probability that is reported beside it."""
    values, group, experiment = two_groups_in_two_experiments()
    values = values + apart * group

    def reported(member: np.ndarray) -> float:
        return abs(compare_pair(values, member == 0, member == 1, experiment).value)

    n_exchanges, rng = 199, np.random.default_rng(6)
    exchanged = [reported(group[_exchanged(experiment, rng)]) for _ in range(n_exchanges)]
    reached = sum(value >= reported(group) - 1e-9 for value in exchanged)
    (p,) = permuted_p(
        values[None], group_columns(group), experiment, np.random.default_rng(6), n_exchanges
    )
    assert p == (1 + reached) / (1 + n_exchanges)


def test_within_one_experiment_the_interval_is_welchs() -> None:
    rng = np.random.default_rng(7)
    first, second = rng.normal(0, 1, 12), rng.normal(1, 3, 20)
    in_first = np.arange(32) < 12
    values = np.concatenate([first, second])
    found = compare_pair(values, in_first, ~in_first, np.zeros(32))
    wanted = ttest_ind(second, first, equal_var=False)
    assert found.value / found.standard_error == pytest.approx(wanted.statistic)
    assert found.degrees == pytest.approx(wanted.df)
    assert found.interval == pytest.approx(tuple(wanted.confidence_interval()), rel=1e-6)


def test_what_differs_between_experiments_is_not_taken_for_a_difference_of_groups() -> None:
    values, group, experiment = two_groups_in_two_experiments()
    raw = values[group == 1].mean() - values[group == 0].mean()
    found = compare_pair(values, group == 0, group == 1, experiment)
    assert raw > 0.5
    assert abs(found.value) < 0.5
    low, high = found.interval
    assert low < 0 < high


@pytest.mark.statistical
def test_differences_of_people_about_whom_answers_tell_little_are_not_drawn_together() -> None:
    """Estimates are drawn to the center by more than half here; what is reported is not."""
    error, spread, apart, n_each = 0.15, 0.1, 0.15, 60
    wide = Prior("normal", 0.0, 1.0, center=0.5, spread=0.4)
    drawn = DrawnPeople([{"x": wide}], draw_population({"x": wide}, 1024, np.random.default_rng(1)))
    rng = np.random.default_rng(2)
    member = np.arange(2 * n_each) < n_each
    told, covered, drawn_together = [], 0, []
    n_studies = 60
    for _ in range(n_studies):
        people = np.where(member, 0.5 - apart / 2, 0.5 + apart / 2)
        people = people + spread * rng.normal(size=2 * n_each)
        shown = people + error * rng.normal(size=2 * n_each)
        log_p = -0.5 * ((shown - drawn.latent[0][:, None]) / error) ** 2
        found = estimates_of_people(drawn, log_p)
        means, one = found.means[0], np.zeros(2 * n_each)
        drawn_together.append(compare_pair(means, member, ~member, one).value)
        item = _difference(
            wide, "x", ["a", "b"], means, found.reliability[0], 1 - member, one, None, ()
        )
        reported = item.differences["a", "b"]
        told.append(reported.value)
        low, high = reported.interval
        covered += low <= apart <= high
    standard_error = np.std(told, ddof=1) / np.sqrt(n_studies)
    assert np.mean(drawn_together) < 0.7 * apart
    assert abs(np.mean(told) - apart) < 4 * standard_error
    assert covered / n_studies > 0.95 - 4 * np.sqrt(0.95 * 0.05 / n_studies)


def test_reliability_is_the_share_of_the_variance_that_estimates_show() -> None:
    found = PeoplesEstimates(np.array([[1.0, 3.0]]), np.array([[2.0, 4.0]]))
    assert found.reliability == pytest.approx([1.0 / (1.0 + 3.0)])


def test_an_interval_beyond_the_end_of_the_range_still_holds_what_people_show() -> None:
    share = Prior("normal", 0.0, 1.0, center=0.1, spread=0.1)
    rng = np.random.default_rng(3)
    values = np.concatenate([np.full(20, 0.05), np.full(20, 0.15)]) + rng.normal(0, 0.001, 40)
    group, one = np.repeat([0, 1], 20), np.zeros(40)
    item = _difference(share, "lapse", ["a", "b"], values, 0.1, group, one, None, ())
    low, high = item.medians["a"].interval
    assert (item.medians["a"].value, low) == (0.0, 0.0)
    assert high == pytest.approx(0.05, abs=0.001)
