"""What a check says of answers, and of a server that speaks the protocol."""

from __future__ import annotations

import asyncio
import math

import pytest

from lakatos.language_models.client import ModelCompletion, TokenLogProbability, ToolCall
from lakatos.language_models.errors import ModelAbsentError, UnreachableError
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.serving.check import (
    check,
    figures_of,
    judge_log_probabilities,
    judge_structured,
    judge_tools,
)
from lakatos.language_models.serving.load import TimedCall, quantiles_s, time_calls, variants
from lakatos.language_models.serving.load import http_client as client_for
from lakatos.language_models.serving.shape import REPRESENTATIVE
from lakatos.language_models.settings import ModelSettings
from tests.rehearsal.serve import running

ADVOCATE, ARBITER, JUDGE = REPRESENTATIVE
GOOD = '{"reason": "fits", "winner": "first", "confidence": "0.7"}'


def said(content: str = "", finish_reason: str = "stop", **changes: object) -> ModelCompletion:
    return ModelCompletion(content=content, finish_reason=finish_reason, model_name="m", **changes)


def called(name: str, arguments: str) -> ModelCompletion:
    return said(
        "", "tool_calls", tool_calls=(ToolCall(call_id="1", name=name, arguments=arguments),)
    )


@pytest.mark.parametrize(
    ("completion", "state"),
    [
        (said(GOOD), "works"),
        (said(GOOD.replace("fits", "fi\x07ts")), "fails"),
        (said(f"<think>?</think>So: {GOOD} Done."), "works"),
        (said("Rain falls."), "fails"),
        (said(GOOD.replace("first", "third")), "fails"),
        (said(GOOD[:20], "length"), "partly"),
        (said(""), "fails"),
    ],
)
def test_an_answer_that_was_cut_off_is_not_a_wrong_one(completion, state):
    assert judge_structured(JUDGE, completion).state == state


@pytest.mark.parametrize(
    ("completion", "state"),
    [
        (called("compare", '{"trial": 3}'), "works"),
        (called("compare", '{"trial": 3, "why": "x"}'), "fails"),
        (called("compare", "{}"), "fails"),
        (called("compare", "true"), "fails"),
        (called("compare", "{"), "fails"),
        (called("guess", "{}"), "fails"),
        (said("I would compare."), "fails"),
        (said("", "length"), "partly"),
    ],
)
def test_a_tool_must_be_offered_and_get_its_arguments(completion, state):
    assert judge_tools(ARBITER, completion).state == state


def token(log_probability: float, *alternatives: float) -> TokenLogProbability:
    return TokenLogProbability(
        token="a",
        log_probability=log_probability,
        alternatives=tuple(("a", value) for value in alternatives),
    )


@pytest.mark.parametrize(
    ("tokens", "state"),
    [
        ((token(-0.1, -0.1, -3.0),), "works"),
        ((), "fails"),
        ((token(0.2, -0.1),), "fails"),
        ((token(-0.1),), "fails"),
        ((token(-0.1, -0.1, -0.1),), "fails"),
    ],
)
def test_log_probabilities_must_be_probabilities(tokens, state):
    assert judge_log_probabilities(JUDGE, said(GOOD, log_probabilities=tokens)).state == state


def test_figures_leave_out_failed_calls_and_the_first_prompt():
    calls = [
        TimedCall(0.5, 1.5, 11, 100, 0),
        TimedCall(0.1, 0.6, 6, 100, 90),
        TimedCall(0.1, 0.6, 6, 100, 80),
        TimedCall(0.0, 9.0, 0, 0, 0, "500: no"),
    ]
    found = figures_of("judge", calls)
    assert found is not None
    assert (found.n_calls, found.first_token_s, found.total_s, found.cached_share) == (
        3,
        0.1,
        0.6,
        0.85,
    )
    assert math.isclose(found.tokens_per_s, 10)
    assert figures_of("judge", calls[3:]) is None
    assert all(map(math.isnan, quantiles_s([])))


def test_shapes_are_long_enough_to_be_cached_and_share_their_beginning():
    beginnings = {shape.request.messages[0].content for shape in REPRESENTATIVE}
    assert len(beginnings) == 1
    assert len(beginnings.pop()) > 500
    assert {shape.role for shape in REPRESENTATIVE} == {"advocate", "arbiter", "judge"}


def settings_for(served) -> ModelSettings:
    return ModelSettings(name="served", base_url=served.base_url, model=served.model, timeout_s=30)


def test_a_server_is_checked_shape_by_shape():
    with running() as served:
        report = asyncio.run(check(settings_for(served), n_calls=2))
    states = {(finding.role, finding.feature): finding.state for finding in report.findings}
    assert states["", "schema is enforced"] == "works"
    assert states["judge", "structured output"] == "works"
    assert states["judge", "log probabilities"] == "works"
    assert states["arbiter", "tool calls"] == "works"
    assert {figures.role for figures in report.figures} == {"advocate", "arbiter", "judge"}


def test_calls_are_never_more_at_a_time_than_asked_and_all_are_answered():
    with running() as served:
        settings = settings_for(served)

        async def ask() -> list[TimedCall]:
            async with client_for(settings) as client:
                return (await time_calls(client, settings, variants(JUDGE.request, 12), 4))[0]

        calls = asyncio.run(ask())
    assert [call.error for call in calls] == [""] * 12
    assert all(0 < call.first_token_s <= call.total_s and call.n_tokens > 0 for call in calls)


def test_no_server_or_no_such_model_is_told_before_anything_is_asked():
    nowhere = ModelSettings(name="x", base_url=f"http://127.0.0.1:{free_port()}/v1", model="x")
    with pytest.raises(UnreachableError, match="could not be reached"):
        asyncio.run(check(nowhere))
    with running() as served:
        absent = settings_for(served).model_copy(update={"model": "another"})
        with pytest.raises(
            ModelAbsentError, match=f"does not offer 'another'; it has .*{served.model}"
        ):
            asyncio.run(check(absent))
