"""Labels exchanged among people say whether groups differ, at the rate that is promised."""

from __future__ import annotations

import numpy as np

from lakatos.theories.findings.differences.group_difference import (
    MedianPerson,
    ParameterDifference,
    groups_alone,
)


def test_a_difference_is_told_with_medians_and_intervals() -> None:
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
        "rate has the median per day 0.05 (0.04 to 0.07) where it is a, 0.01 (0.008 to 0.02) where it is b; "
        "that of b is 0.2 (0.1 to 0.4) times that of a (p < 0.001)"
    )


def test_a_smaller_median_is_said_to_be_less_and_not_to_be_more_by_a_negative_number() -> None:
    medians = {"a": MedianPerson(0.6, (0.5, 0.7)), "b": MedianPerson(0.53, (0.4, 0.6))}

    def said(value: float, low: float, high: float) -> str:
        compared = {("a", "b"): MedianPerson(value, (low, high))}
        return ParameterDifference("start", "", False, medians, 0.2, compared).to_text()

    assert "; that of b is 0.07 (-0.02 to 0.16) less than that of a" in said(-0.07, -0.16, 0.02)
    assert "; that of b is 0.07 (-0.02 to 0.16) more than that of a" in said(0.07, -0.02, 0.16)


def test_without_a_probability_none_is_told() -> None:
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
