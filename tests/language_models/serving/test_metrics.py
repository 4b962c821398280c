"""Prometheus text, read into numbers."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from lakatos.language_models.serving.metrics import ServerMetrics, metrics_url, parse_metrics

TEXT = """# HELP vllm:num_requests_running Number of requests.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="ti\\"ny"} 3.0
vllm:num_requests_running{engine="1",model_name="ti\\"ny"} 4.0
vllm:generation_tokens_total 1.25e+03
vllm:time_to_first_token_seconds_bucket{le="0.1"} 2.0
vllm:time_to_first_token_seconds_bucket{le="0.5"} 6.0
vllm:time_to_first_token_seconds_bucket{le="+Inf"} 10.0
not a sample
vllm:broken x
"""


def test_samples_are_summed_over_labels():
    metrics = parse_metrics(TEXT)
    assert metrics.total("vllm:num_requests_running") == 7
    assert metrics.total("vllm:num_requests_running", engine="1", model_name='ti"ny') == 4
    assert metrics.total("vllm:generation_tokens_total") == 1250
    assert metrics.total("vllm:nothing") == 0
    assert metrics.by_label("vllm:num_requests_running", "engine") == {"0": 3, "1": 4}
    assert len(metrics.samples) == 6


def test_quantiles_lie_within_their_bucket():
    metrics = parse_metrics(TEXT)
    name = "vllm:time_to_first_token_seconds"
    assert metrics.quantile(name, 0.1) == 0.05
    assert math.isclose(metrics.quantile(name, 0.4), 0.1 + 0.4 * 0.5)
    assert metrics.quantile(name, 0.99) == 0.5
    assert math.isnan(ServerMetrics().quantile(name, 0.5))


def test_what_happened_between_two_looks_is_their_difference():
    earlier = parse_metrics("a_total 3\n")
    later = parse_metrics("a_total 10\nb_total 2\n")
    assert later.since(earlier).total("a_total") == 7
    assert later.since(earlier).total("b_total") == 2


def test_metrics_lie_beside_the_protocol():
    assert metrics_url("http://127.0.0.1:8000/v1/") == metrics_url("http://127.0.0.1:8000/v1")
    assert metrics_url("http://127.0.0.1:8000/v1") == "http://127.0.0.1:8000/metrics"


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text):
    assert all(isinstance(value, float) for value in parse_metrics(text).samples.values())


@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    )
)
def test_a_label_comes_back_as_it_was_written(value):
    written = value.replace("\\", "\\\\").replace('"', '\\"')
    assert parse_metrics(f'a{{b="{written}"}} 1').by_label("a", "b") == {value: 1}
