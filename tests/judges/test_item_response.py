"""Adaptive evaluation: information by hand, recovered parameters, and screening that keeps its error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from lakatos.judges.errors import MeasurementError
from lakatos.judges.item_response import (
    ABILITIES,
    CalibratedItems,
    JudgeAbility,
    ability_of,
    allowed_items,
    calibrate,
    information,
    item_drift,
    next_item,
    probability,
    screen,
)


def some_items(n, rng):
    return CalibratedItems(np.exp(rng.normal(0.0, 0.35, n)), rng.normal(0.4, 1.0, n))


def answered(items, abilities, rng):
    return (rng.random((len(abilities), len(items.slope))) < probability(items, abilities)).astype(
        float
    )


def test_probability_and_information_are_those_of_the_formula():
    items = CalibratedItems(np.array([2.0]), np.array([-1.0]))
    assert items.difficulty == pytest.approx([0.5])
    assert probability(items, 0.5) == pytest.approx([0.5])
    # A quarter of the squared slope where the odds are even.
    assert information(items, 0.5) == pytest.approx([1.0])
    p = 1 / (1 + np.exp(-1.0))
    assert information(items, 1.0) == pytest.approx([4 * p * (1 - p)])


@given(st.floats(-3, 3), st.floats(0.2, 3), st.floats(-2, 2))
def test_information_is_the_variance_of_the_score(ability, slope, intercept):
    items = CalibratedItems(np.array([slope]), np.array([intercept]))
    step = 1e-5
    up, down, p = (float(probability(items, ability + shift)[0]) for shift in (step, -step, 0.0))
    score = [
        (np.log(up) - np.log(down)) / (2 * step),
        (np.log(1 - up) - np.log(1 - down)) / (2 * step),
    ]
    assert p * score[0] ** 2 + (1 - p) * score[1] ** 2 == pytest.approx(
        float(information(items, ability)[0]), rel=1e-3
    )


def test_without_answers_ability_is_the_prior():
    ability = ability_of(some_items(5, np.random.default_rng(1)), np.full(5, np.nan))
    assert ability.mean == pytest.approx(0, abs=1e-9)
    assert ability.standard_error == pytest.approx(1, abs=0.01)


def test_one_answer_moves_ability_as_bayes_rule_says():
    items = CalibratedItems(np.array([1.5]), np.array([0.3]))
    prior = np.exp(-(ABILITIES**2) / 2)
    weights = prior / (1 + np.exp(-(1.5 * ABILITIES + 0.3)))
    assert ability_of(items, np.array([1.0])).mean == pytest.approx(
        (weights * ABILITIES).sum() / weights.sum()
    )


@pytest.mark.statistical
def test_calibration_recovers_the_items():
    rng = np.random.default_rng(2)
    items = some_items(40, rng)
    found = calibrate(answered(items, rng.normal(size=1500), rng))
    assert np.sqrt(np.mean((found.intercept - items.intercept) ** 2)) < 0.12
    assert np.corrcoef(found.slope, items.slope)[0, 1] > 0.95


def test_calibration_does_with_missing_answers_and_items_that_all_answer_alike():
    rng = np.random.default_rng(3)
    items = some_items(10, rng)
    table = answered(items, rng.normal(size=60), rng)
    table[:, 0] = 1.0
    table[rng.random(table.shape) < 0.3] = np.nan
    found = calibrate(table)
    assert np.isfinite(found.slope).all()
    assert np.isfinite(found.intercept).all()
    assert found.intercept[0] > 2


def test_tables_that_are_no_answers_are_refused():
    with pytest.raises(MeasurementError, match="1, 0 or NaN"):
        calibrate(np.array([[0.5, 1.0]]))
    with pytest.raises(MeasurementError, match="0 answers"):
        calibrate(np.full((2, 2), np.nan))


def test_the_next_item_is_among_the_most_informative_open_ones():
    rng = np.random.default_rng(4)
    items = some_items(50, rng)
    is_open = rng.random(50) < 0.7
    best = np.argsort(-np.where(is_open, information(items, 0.5), -1))[:5]
    drawn = {next_item(items, 0.5, is_open, rng) for _ in range(200)}
    assert drawn == set(best.tolist())
    assert next_item(items, 0.5, is_open, rng, among=1) == best[0]
    with pytest.raises(MeasurementError, match="no item is left"):
        next_item(items, 0.0, np.zeros(50, bool), rng)


def test_items_over_their_cap_are_not_asked():
    assert allowed_items(np.array([0, 2, 3]), 10, 0.3).tolist() == [True, True, False]
    # Before the cap means anything, each item may be asked once.
    assert allowed_items(np.array([0, 1]), 0, 0.25).tolist() == [True, False]
    rng = np.random.default_rng(5)
    items, allowed = some_items(30, rng), np.arange(30) < 12
    found = screen(items, lambda _: True, JudgeAbility(3.9, 0.1), rng, most=30, allowed=allowed)
    assert set(found.asked) <= set(range(12))


def test_screening_reads_ability_off_what_was_asked():
    rng = np.random.default_rng(9)
    items = some_items(60, rng)
    answers = answered(items, np.array([0.4]), rng)[0]
    found = screen(items, lambda item: bool(answers[item]), JudgeAbility(0.0, 0.2), rng, most=60)
    only = np.full(60, np.nan)
    only[list(found.asked)] = answers[list(found.asked)]
    again = ability_of(items, only)
    assert found.ability.mean == pytest.approx(again.mean)
    assert found.ability.standard_error == pytest.approx(again.standard_error)


@pytest.mark.statistical
def test_screening_is_rarely_wrong_and_asks_a_fraction():
    rng = np.random.default_rng(6)
    items = some_items(200, rng)
    incumbent = JudgeAbility(0.0, 0.15)
    counts = dict.fromkeys(("better", "worse", "unclear"), 0)
    asked = []
    for _ in range(150):
        answers = answered(items, np.array([1.0]), rng)[0]
        found = screen(
            items, lambda item, answers=answers: bool(answers[item]), incumbent, rng, most=200
        )
        counts[found.verdict] += 1
        asked.append(len(found.asked))
        assert len(set(found.asked)) == len(found.asked)
    assert counts["worse"] <= 150 * 0.02
    assert counts["better"] > 150 * 0.75
    assert np.mean(asked) < 40


@pytest.mark.slow
@pytest.mark.statistical
def test_adaptive_items_leave_less_error_than_random_ones():
    rng = np.random.default_rng(7)
    items = some_items(200, rng)
    abilities = rng.normal(size=80)
    table = answered(items, abilities, rng)

    def estimates(adaptive):
        return [
            screen(
                items,
                lambda item, row=row: bool(row[item]),
                JudgeAbility(0.0, 0.1),
                rng,
                most=25,
                sure=1.0,
                precise=0.0,
                adaptive=adaptive,
            ).ability
            for row in table
        ]

    adaptive, random = estimates(True), estimates(False)
    mean = [np.mean([item.standard_error for item in group]) for group in (adaptive, random)]
    assert mean[0] < 0.9 * mean[1]
    assert spearmanr([item.mean for item in adaptive], abilities).statistic > 0.85


@pytest.mark.statistical
def test_an_item_that_changed_stands_out_and_the_others_do_not():
    rng = np.random.default_rng(8)
    items = some_items(60, rng)
    table = answered(items, rng.normal(size=200), rng)
    table[:, 7] = rng.random(200) < 0.1
    drifted = item_drift(items, table)
    assert np.argmax(np.abs(drifted)) == 7
    assert abs(drifted[7]) > 5
    others = np.delete(drifted, 7)
    assert np.mean(np.abs(others) > 2.58) < 0.01 + 4 * np.sqrt(0.01 * 0.99 / 59)
