"""Labels exchanged among people say whether groups differ, at the rate that is promised."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.theories import group_difference
from lakatos.theories.group_difference import MedianPerson, ParameterDifference, permuted_p


def a_study(
    seed: int, shift: float = 0.0, n_rows: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of 24 people of two groups in two experiments, which differ a lot; the first row may differ by group."""
    rng = np.random.default_rng(seed)
    stratum = np.repeat([0, 1], 12)
    group = np.concatenate([rng.permutation(np.repeat([0, 1], 6)) for _ in range(2)])
    values = rng.normal(size=(n_rows, 24)) + 5 * stratum
    values[0] += shift * group
    return values, group, stratum


@pytest.mark.statistical
def test_groups_that_do_not_differ_are_called_different_as_often_as_is_promised(
    monkeypatch,
) -> None:
    monkeypatch.setattr(group_difference, "N_PERMUTATIONS", 199)
    n = 300
    rng = np.random.default_rng(7)
    found = sum(permuted_p(*a_study(seed), rng).min() <= 0.05 for seed in range(n))
    assert abs(found / n - 0.05) < 3 * np.sqrt(0.05 * 0.95 / n)


def test_a_row_that_differs_is_found_and_the_others_are_not() -> None:
    p = permuted_p(*a_study(1, shift=2.5), np.random.default_rng(1))
    assert p[0] < 0.01
    assert (p[1:] > 0.05).all()


def test_groups_that_were_never_in_one_experiment_cannot_be_compared() -> None:
    values, _, stratum = a_study(1, shift=3.0)
    assert (permuted_p(values, stratum, stratum, np.random.default_rng(1)) == 1).all()


def test_what_is_the_same_for_everybody_differs_between_no_groups() -> None:
    _, group, stratum = a_study(1)
    assert permuted_p(np.ones((1, 24)), group, stratum, np.random.default_rng(1))[0] == 1


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
