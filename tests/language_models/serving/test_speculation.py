"""Speculative decoding: what the counts mean, and the rule by which it is kept."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lakatos.language_models.serving.metrics import parse_metrics
from lakatos.language_models.serving.speculation import (
    CallLatencies,
    DraftAcceptance,
    acceptance_of,
    recommend,
    table,
)

COUNTED = """vllm:spec_decode_num_drafts_total{engine="0"} 138.0
vllm:spec_decode_num_draft_tokens_total{engine="0"} 457.0
vllm:spec_decode_num_accepted_tokens_total{engine="0"} 159.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="0"} 69.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="1"} 50.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="10"} 10.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",position="2"} 30.0
"""
GOOD, POOR, NONE = (
    DraftAcceptance(100, 400, 320),
    DraftAcceptance(100, 400, 100),
    DraftAcceptance(0, 0, 0),
)


def latencies(role: str, seconds, share=1.0, acceptance=NONE) -> CallLatencies:
    return CallLatencies(role, share, tuple(float(value) for value in seconds), 100, 0, acceptance)


def noisy(mean: float, seed: int, n: int = 200) -> np.ndarray:
    return mean * (1 + 0.05 * np.random.default_rng(seed).standard_normal(n))


def test_acceptance_is_read_from_what_the_server_counts():
    found = acceptance_of(parse_metrics(COUNTED))
    assert (found.n_drafts, found.n_drafted, found.n_accepted) == (138, 457, 159)
    assert found.rate == 159 / 457
    assert found.tokens_per_step == 1 + 159 / 138
    assert found.by_position == (69 / 138, 50 / 138, 30 / 138, 10 / 138)


def test_a_server_that_drafted_nothing_has_no_rate():
    found = acceptance_of(parse_metrics(""))
    assert math.isnan(found.rate)
    assert math.isnan(found.tokens_per_step)
    assert found.by_position == ()


@pytest.mark.parametrize(
    ("factor", "acceptance", "advice"),
    [
        (0.8, GOOD, "keep"),
        (0.8, POOR, "keep"),
        (1.2, GOOD, "smaller"),
        (1.2, POOR, "drop"),
        (1.2, NONE, "drop"),
    ],
)
def test_speculation_is_kept_where_calls_are_faster(factor, acceptance, advice):
    without = [latencies("judge", noisy(1, 1))]
    with_it = [latencies("judge", noisy(factor, 2), acceptance=acceptance)]
    found = recommend(without, with_it, np.random.default_rng(3))
    assert found.advice == advice
    assert math.isclose(found.ratio, factor, rel_tol=0.02)
    assert found.interval[0] < found.ratio < found.interval[1]


def test_a_worse_tail_is_not_put_up_with():
    slow = noisy(0.7, 2)
    slow[:8] = 3.0
    found = recommend(
        [latencies("judge", noisy(1, 1))],
        [latencies("judge", slow, acceptance=POOR)],
        np.random.default_rng(3),
    )
    assert found.interval[1] < 1
    assert found.tail_ratio > 2
    assert found.advice == "drop"


def test_speculation_that_makes_calls_fail_is_dropped_however_fast():
    fast = replace(latencies("arbiter", noisy(0.5, 2), acceptance=GOOD), n_failed=1)
    found = recommend([latencies("arbiter", noisy(1, 1))], [fast], np.random.default_rng(3))
    assert found.advice == "drop"
    assert "calls of arbiter fail with it" in found.reason


def test_shapes_count_as_often_as_the_study_asks_them():
    # Exact: means 1 and 2 without, 2 and 1 with; weights 3 to 1 give (3 * 2 + 1) / (3 + 2).
    without = [latencies("a", [1, 1], 3), latencies("b", [2, 2], 1)]
    with_it = [latencies("a", [2, 2], 3), latencies("b", [1, 1], 1)]
    found = recommend(without, with_it, np.random.default_rng(1))
    assert math.isclose(found.ratio, 7 / 5)
    assert found.interval == (found.ratio, found.ratio)


@pytest.mark.statistical
def test_the_interval_holds_the_true_ratio_as_often_as_it_says():
    n, held = 300, 0
    for seed in range(n):
        rng = np.random.default_rng(seed)
        a, b = rng.gamma(4, 0.25, 80), 0.9 * rng.gamma(4, 0.25, 80)
        low, high = recommend(
            [latencies("x", a)], [latencies("x", b, acceptance=POOR)], rng, 400
        ).interval
        held += low < 0.9 < high
    # A percentile interval of 80 skewed values holds a little less than 95 %; four binomial errors around 0.94.
    assert abs(held / n - 0.94) < 4 * math.sqrt(0.94 * 0.06 / n)


def test_different_shapes_or_unanswered_calls_are_refused():
    with pytest.raises(ValueError, match="different shapes"):
        recommend([latencies("a", [1])], [latencies("b", [1])], np.random.default_rng(1))
    with pytest.raises(ValueError, match="no call of a was answered"):
        recommend([latencies("a", [1])], [latencies("a", [])], np.random.default_rng(1))


def test_the_table_has_a_row_for_each_shape():
    rows = table([latencies("a", [1, 2, 3])], [latencies("a", [1, 1, 1], acceptance=GOOD)])
    assert rows[0]["median s, without"] == "2.000"
    assert rows[0]["accepted"] == "80.0% of 400"
