"""A judge that reads: both orders, repeats by majority, levels into odds."""

import numpy as np
import pytest

from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.record import PairRead
from lakatos.judges.rubrics.language_model import (
    RUBRIC,
    WEIGHT,
    PairReading,
    combined,
    make_judge,
    task,
)

NAMES = [item.name for item in RUBRIC.dimensions]
CANDIDATE, INCUMBENT = "a" * 64, "b" * 64
SUBMISSION = JudgeSubmission(CANDIDATE, INCUMBENT, 0.1, 0.01, 0, 100, 0.1)


def reading(**levels: int):
    return PairReading.model_validate(
        {name: {"level": levels.get(name, 0), "evidence": f"{name}!"} for name in NAMES}
    )


def test_readings_of_both_orders_are_turned_the_same_way_and_their_median_counts():
    found = [(reading(process=level), False) for level in (2, 1, 2)]
    found += [(reading(process=-level), True) for level in (2, 1, 1)]
    levels, evidence, contradicted = combined(found)
    assert levels == {"advantage": 0, "generality": 0, "process": 1, "coverage": 0}
    assert evidence["process"] == "process!"
    assert contradicted == ()


def test_a_reader_that_prefers_whatever_comes_first_says_nothing():
    always_b = [(reading(**dict.fromkeys(NAMES, 2)), order) for order in (False, True)]
    levels, _, contradicted = combined(always_b)
    assert set(levels.values()) == {0}
    assert contradicted == tuple(NAMES)


def test_repeats_are_decided_by_majority_and_one_missing_order_decides_nothing():
    majority = [(reading(coverage=level), False) for level in (2, 2, -2)] + [
        (reading(coverage=-1), True)
    ] * 3
    assert combined(majority)[0]["coverage"] == 1
    assert combined([(reading(coverage=2), False)])[0]["coverage"] == 0


def test_exchanging_the_two_exchanges_the_sign():
    rng = np.random.default_rng(0)
    for _ in range(200):
        found = [
            (reading(**{name: int(rng.integers(-2, 3)) for name in NAMES}), bool(place % 2))
            for place in range(6)
        ]
        exchanged = [(item, not order) for item, order in found]
        assert combined(exchanged)[0] == {
            name: -level for name, level in combined(found)[0].items()
        }


def judge_of(levels: dict[str, int]):
    record = PairRead(
        candidate=CANDIDATE,
        incumbent=INCUMBENT,
        cycle=1,
        levels=levels,
        evidence=dict.fromkeys(NAMES, "words"),
        contradicted=(),
        n_readings=2,
    )
    return make_judge(
        "c" * 64, lambda submission: record if submission.candidate == CANDIDATE else None
    )


def test_a_recorded_reading_becomes_odds_and_none_even_odds():
    odds = WEIGHT * 3
    expected = 1 / (1 + np.exp(-odds))
    judge = judge_of({"advantage": 2, "generality": 1, "process": 0, "coverage": 0})
    assert judge.judge(SUBMISSION) == pytest.approx(expected)
    unread = JudgeSubmission(INCUMBENT, CANDIDATE, 0.1, 0.01, 0, 100, 0.1)
    assert judge.judge(unread) == 0.5


def test_another_model_or_prompt_is_another_judge():
    assert (
        make_judge("c" * 64, lambda *_: None).digest != make_judge("d" * 64, lambda *_: None).digest
    )


def test_the_prompt_names_every_dimension_and_neither_candidate_nor_incumbent():
    assert all(name in task() for name in NAMES)
    assert "candidate" not in task()
    assert "incumbent" not in task()
