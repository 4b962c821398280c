"""Rule judges: what they measure, and the probabilities that settled comparisons give to their levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.judges.answer import swap
from lakatos.judges.errors import VerdictError
from lakatos.judges.rubrics.rule import (
    PREDICTIONS,
    RULES,
    RuleJudge,
    calibrated,
    claim,
    discrimination,
    duplicate,
    level,
)
from tests.judges.support import submission


def shown(name="a", **changes):
    features = changes.pop("features", {})
    return replace(submission(name, **features), **changes)


def test_checks_measure_what_they_say():
    apart = shown(advantage=-0.02, distance=0.1, n_choices=400, features={PREDICTIONS: 2.0})
    assert duplicate(apart) == -0.1
    assert discrimination(apart) == pytest.approx(-4.0)
    assert claim(apart) == 2.0
    assert claim(shown()) == 0.0


@pytest.mark.parametrize("name", RULES)
def test_a_pair_and_the_exchanged_pair_get_probabilities_that_sum_to_one(name):
    rng = np.random.default_rng(4)
    pairs = [
        shown(
            k,
            advantage=float(rng.normal()),
            distance=float(rng.random() / 4),
            features={PREDICTIONS: float(k % 3) - 1},
        )
        for k in range(60)
    ]
    judge = calibrated(name, pairs, [bool(rng.random() < 0.7) for _ in pairs])
    for pair in pairs:
        assert judge.judge(pair) + judge.judge(swap(pair)) == pytest.approx(1)


def test_a_level_has_the_share_of_wins_with_one_win_and_one_loss_added_over_both_orders():
    pairs = [shown(k, advantage=0.01, distance=0.2) for k in range(10)]
    judge = calibrated("duplicate", pairs, [True] * 7 + [False] * 3)
    assert judge.judge(pairs[0]) == pytest.approx((1 + 7 / 2) / (2 + 10 / 2))
    assert judge.judge(shown("b", distance=0.001)) == 0.5


def test_more_settled_comparisons_bring_a_level_to_its_share():
    rng = np.random.default_rng(9)
    n, truth = 4000, 0.8
    pairs = [shown(k, advantage=0.01, distance=0.2) for k in range(n)]
    judge = calibrated("discrimination", pairs, (rng.random(n) < truth).tolist())
    assert abs(judge.judge(pairs[0]) - truth) < 4 * np.sqrt(truth * (1 - truth) / n)


def test_the_version_changes_with_the_table_and_comes_back_from_plain_values():
    first, second = RuleJudge("claim", (0.4, 0.5, 0.6)), RuleJudge("claim", (0.4, 0.5, 0.7))
    assert first.digest != second.digest
    assert RuleJudge.from_json(first.to_json()).digest == first.digest


@pytest.mark.parametrize(
    "value",
    [
        {"rule": "taste", "table": [0.5]},
        {"rule": "claim", "table": [0.5]},
        {"rule": "claim", "table": [0, 0.5, 1]},
    ],
)
def test_a_rule_judge_that_is_none_is_refused(value):
    with pytest.raises(VerdictError, match="is none of claim, duplicate, discrimination"):
        RuleJudge.from_json(value)


def test_a_measure_that_is_no_number_is_refused():
    with pytest.raises(VerdictError, match="found nan, no finite number"):
        level(RULES["duplicate"], shown(distance=float("nan")))
