"""Effects from values of known uncertainty: beside closed forms, and by exchanged labels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind, ttest_rel

from lakatos.theories.findings.differences.mixed_model import (
    CellValues,
    Covariances,
    Exchange,
    estimate_effects,
    exchange_p,
    group_cells,
)

N_PEOPLE = 9


def pairs(
    seed: int, effect: float = 0.0, n_people: int = N_PEOPLE
) -> tuple[CellValues, np.ndarray]:
    """Two cells of each participant, of equal precision, and the values of the one parameter."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (n_people, 1)) + rng.normal(0, 0.5, (n_people, 2))
    values[:, 1] += effect
    person = np.repeat(np.arange(n_people), 2)
    cells = group_cells(values.reshape(-1, 1), np.full((2 * n_people, 1, 1), 0.1), person)
    return cells, values


def condition(cells: CellValues) -> np.ndarray:
    n_people = len(cells.there)
    return cells.spread_out(np.column_stack([np.ones(2 * n_people), np.tile([0.0, 1.0], n_people)]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_one_condition_of_equal_precision_is_the_paired_t_test(seed: int) -> None:
    cells, values = pairs(seed)
    design = condition(cells)
    found = estimate_effects(cells, design, design[:, :, :1])
    paired = ttest_rel(values[:, 1], values[:, 0])
    assert found.estimate[0, 1] == pytest.approx((values[:, 1] - values[:, 0]).mean())
    assert found.estimate[0, 1] / found.error[0, 1] == pytest.approx(paired.statistic)
    assert found.degrees[0, 1] == pytest.approx(N_PEOPLE - 1)
    low, high = found.interval()
    wanted = paired.confidence_interval(0.95)
    assert (low[0, 1], high[0, 1]) == pytest.approx((wanted.low, wanted.high))


def test_two_groups_of_equal_precision_are_welchs_t_test() -> None:
    rng = np.random.default_rng(4)
    first, second = rng.normal(0, 1, 8), rng.normal(0.5, 2, 12)
    values = np.concatenate([first, second])
    cells = group_cells(values[:, None], np.full((20, 1, 1), 0.05), np.arange(20))
    design = cells.spread_out(np.column_stack([np.ones(20), np.arange(20) >= 8]).astype(float))
    found = estimate_effects(cells, design, design[:, :, :1])
    welch = ttest_ind(second, first, equal_var=False)
    assert found.estimate[0, 1] == pytest.approx(second.mean() - first.mean())
    assert found.estimate[0, 1] / found.error[0, 1] == pytest.approx(welch.statistic)


def test_a_cell_that_says_little_hardly_counts() -> None:
    _, values = pairs(3)
    far = values.reshape(-1, 1).copy()
    variance = np.full((2 * N_PEOPLE, 1, 1), 0.1)
    person = np.repeat(np.arange(N_PEOPLE), 2)
    alone = group_cells(far[2:], variance[2:], person[2:])
    far[0], variance[0] = 50.0, 1e6
    with_it = group_cells(far, variance, person)
    without = estimate_effects(alone, condition(alone), condition(alone)[:, :, :1])
    found = estimate_effects(with_it, condition(with_it), condition(with_it)[:, :, :1])
    assert found.estimate[0, 1] == pytest.approx(without.estimate[0, 1], abs=0.1)


def test_p_is_the_share_of_exchanges_within_participants_that_reach_as_far() -> None:
    """With pairs of equal precision the statistic is a function of the mean of signed differences: all signs."""
    cells, values = pairs(11, effect=0.6, n_people=6)
    design = condition(cells)
    found = estimate_effects(cells, design, design[:, :, :1])
    exchange = Exchange((1,), True, np.zeros(6, dtype=int))
    statistic, p = exchange_p(
        cells, design, found.covariances, exchange, [0], np.random.default_rng(0)
    )
    away = values[:, 1] - values[:, 0]
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1).T
    exact = (np.abs(signs @ away) >= abs(away.sum()) * (1 - 1e-9)).mean()
    assert p[0, 0] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 1999) + 1e-3)
    assert np.sign(statistic[0, 0]) == np.sign(found.estimate[0, 1])


def test_p_of_groups_exchanges_participants_within_their_stratum_only() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, 8)
    values[:4] += 100.0  # another experiment, whose participants are far away
    group = np.array([0, 1, 1, 0, 0, 1, 0, 1], dtype=float)
    stratum = np.repeat([0, 1], 4)
    cells = group_cells(values[:, None], np.full((8, 1, 1), 0.1), np.arange(8))
    design = cells.spread_out(np.column_stack([np.ones(8), group, stratum - 0.5]))
    spread = Covariances(np.eye(1), np.zeros((1, 1)))
    exchange = Exchange((1,), False, stratum)
    _, p = exchange_p(cells, design, spread, exchange, [0], np.random.default_rng(0))

    def difference(labels: np.ndarray) -> float:
        parts = [values[stratum == s] for s in (0, 1)]
        own = [labels[stratum == s] for s in (0, 1)]
        return float(
            np.mean([v[g == 1].mean() - v[g == 0].mean() for v, g in zip(parts, own, strict=True)])
        )

    halves = [np.isin(np.arange(4), chosen).astype(float) for chosen in combinations(range(4), 2)]
    reached = [
        abs(difference(np.concatenate([a, b]))) >= abs(difference(group)) - 1e-9
        for a in halves
        for b in halves
    ]
    exact = float(np.mean(reached))
    assert p[0, 0] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 1999) + 1e-3)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.floats(-1, 1))
def test_the_statistic_that_decides_has_the_sign_of_the_estimate(seed: int, effect: float) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    values = rng.normal(0, 1, (2 * n, 3))
    values[1::2] += effect
    factors = rng.normal(0, 0.7, (2 * n, 3, 3))
    variances = factors @ np.swapaxes(factors, 1, 2) + 0.05 * np.eye(3)
    cells = group_cells(values, variances, np.repeat(np.arange(n), 2))
    design = condition(cells)
    found = estimate_effects(cells, design, design[:, :, :1])
    exchange = Exchange((1,), True, np.zeros(n, dtype=int))
    statistic, _ = exchange_p(
        cells, design, found.covariances, exchange, [0, 1, 2], np.random.default_rng(0),
        n_exchanges=3,
    )  # fmt: skip
    assert (np.sign(statistic[:, 0]) == np.sign(found.estimate[:, 1])).all()


@pytest.mark.slow
@pytest.mark.statistical
def test_p_is_at_most_its_level_where_there_is_nothing() -> None:
    shown = 0
    for seed in range(150):
        cells, _ = pairs(seed, n_people=8)
        design = condition(cells)
        found = estimate_effects(cells, design, design[:, :, :1])
        exchange = Exchange((1,), True, np.zeros(8, dtype=int))
        _, p = exchange_p(
            cells, design, found.covariances, exchange, [0], np.random.default_rng(seed),
            n_exchanges=199,
        )  # fmt: skip
        shown += bool(p[0, 0] <= 0.05)
    assert shown <= 150 * 0.05 + 3 * np.sqrt(150 * 0.05 * 0.95)
