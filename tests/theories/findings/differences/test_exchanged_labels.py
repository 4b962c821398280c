"""Exchanging what is known among people says whether it has to do with their numbers, at the rate that is promised."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.theories.findings.differences import exchanged_labels
from lakatos.theories.findings.differences.exchanged_labels import group_columns, permuted_p


def a_study(
    seed: int, shift: float = 0.0, n_rows: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of 24 people of two groups in two experiments, which differ a lot; the first row may differ by group."""
    rng = np.random.default_rng(seed)
    stratum = np.repeat([0, 1], 12)
    group = np.concatenate([rng.permutation(np.repeat([0, 1], 6)) for _ in range(2)])
    values = rng.normal(size=(n_rows, 24)) + 5 * stratum
    values[0] += shift * group
    return values, group_columns(group), stratum


@pytest.mark.statistical
def test_groups_that_do_not_differ_are_called_different_as_often_as_is_promised(
    monkeypatch,
) -> None:
    monkeypatch.setattr(exchanged_labels, "N_PERMUTATIONS", 199)
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
    known = group_columns(stratum)
    assert (permuted_p(values, known, stratum, np.random.default_rng(1)) == 1).all()


def test_what_is_the_same_for_everybody_differs_between_no_groups() -> None:
    _, group, stratum = a_study(1)
    assert permuted_p(np.ones((1, 24)), group, stratum, np.random.default_rng(1))[0] == 1


def test_groups_and_a_number_that_says_which_group_are_one_question() -> None:
    values, known, stratum = a_study(3, shift=0.8)
    as_groups, as_number = (
        permuted_p(values, columns, stratum, np.random.default_rng(1))
        for columns in (known, 3.0 - 2.0 * known[:, :1])
    )
    assert (as_groups == as_number).all()


def test_a_number_that_rises_with_age_is_found() -> None:
    rng = np.random.default_rng(2)
    age = rng.normal(size=(40, 1))
    values = rng.normal(size=(2, 40))
    values[1] += age[:, 0]
    p = permuted_p(values, age, np.zeros(40, dtype=int), rng)
    assert p[1] < 0.01 < 0.05 < p[0]
