"""Hosted providers accept different fields: each is asked in its own form, and what was left out is recorded."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from lakatos.language_models.call import ModelCaller
from lakatos.language_models.client import ChatMessage, ModelRequest, TokenSampling
from lakatos.language_models.clients.openai import OpenAIModel, body_of_request
from lakatos.language_models.errors import ContextTooLongError, RequestRefusedError
from lakatos.language_models.ledger import Budget, BudgetLedger, spending_of
from lakatos.language_models.preflight import offered_name, preflight
from lakatos.language_models.record import RECORDS, LanguageModelCalled
from lakatos.language_models.serving.check import as_accepted, check
from lakatos.language_models.serving.shape import PromptShape
from lakatos.language_models.settings import ModelSettings
from lakatos.language_models.structured import FailedAnswer, TypedAnswer, ask_for
from lakatos.language_models.withheld import refused_fields
from lakatos.traces.step import Trace
from tests.language_models.contract import PICK, ask

sys.path.insert(0, str(Path(__file__).parent))
from providing import (
    claude,
    deepseek,
    gemini,
    grok,
    mistral,
    newer_claude,
    openai_error,
    provider,
    reasoning_openai,
    unverified,
)


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    winner: str
    share: float


GOOD = json.dumps({"winner": "first", "share": 0.62})
SAMPLING = TokenSampling(temperature=0.7, top_p=0.9, max_tokens=300)
QUESTION = ModelRequest(
    messages=(
        ChatMessage(role="system", content="You compare two theories."),
        ChatMessage(role="user", content="Which one wins?"),
    ),
    sampling=SAMPLING,
    seed=3,
)
PROVIDERS = {
    "reasoning models of OpenAI": (reasoning_openai, {"max_tokens", "temperature", "top_p"}),
    "Claude from 4.1 on": (claude, {"top_p"}),
    "Claude from 4.7 on": (newer_claude, {"temperature"}),
    "DeepSeek": (deepseek, {"response_format"}),
    "Gemini": (gemini, {"seed"}),
    "Mistral": (mistral, {"seed"}),
}


def nothing(body):
    return None


def good(body):
    return GOOD


def settings_of(served, **changes):
    return ModelSettings(name="a", base_url=served.base_url, model="m", **changes)


@pytest.fixture
def trace(tmp_path):
    with Trace.create(tmp_path / "run", seed=1, types=RECORDS) as created:
        yield created


def typed(trace, settings, ledger=None):
    """A typed answer through the trace, as roles ask for it."""
    caller = ModelCaller(OpenAIModel(settings), trace, ledger or BudgetLedger(Budget()))

    async def once():
        def call(request, number):
            return caller.ask(request, role="judge", position={"try": number})

        try:
            return await ask_for(Verdict, call, QUESTION)
        finally:
            await caller.model.close()

    return asyncio.run(once())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_is_asked_without_what_it_refuses(trace, name, stream):
    refuse, withheld = PROVIDERS[name]
    with provider(refuse, good) as served:
        found = typed(trace, settings_of(served, stream=stream))
    assert isinstance(found, TypedAnswer)
    assert found.value.winner == "first"
    (called,) = [item.record for item in trace.records(LanguageModelCalled)]
    assert set(called.withheld) == withheld
    last = served.bodies[-1]
    assert not withheld & set(last)
    assert last.get("max_tokens", last.get("max_completion_tokens")) == 300
    # All that the server takes is still sent.
    assert {"temperature", "top_p", "seed", "response_format"} - withheld <= set(last)


@pytest.mark.parametrize(
    ("refuse", "left_out"), [(unverified, {"stream", "stream_options"}), (grok, {"stream_options"})]
)
def test_a_server_that_refuses_a_stream_or_its_options_is_asked_without(trace, refuse, left_out):
    with provider(refuse, good) as served:
        found = typed(trace, settings_of(served, stream=True))
    assert isinstance(found, TypedAnswer)
    assert not left_out & set(served.bodies[-1])


def test_what_a_server_refused_once_is_not_sent_to_it_again():
    with provider(reasoning_openai, good) as served:
        model = OpenAIModel(settings_of(served))

        async def twice():
            try:
                return [await model.complete(QUESTION) for _ in range(2)]
            finally:
                await model.close()

        first, again = asyncio.run(twice())
    assert (first.n_refused, again.n_refused, served.n_requests) == (3, 0, 5)
    assert first.withheld == again.withheld == ("temperature", "top_p", "max_tokens")


def test_each_refused_request_counts_in_the_budget(trace):
    ledger = BudgetLedger(Budget())
    with provider(reasoning_openai, good) as served:
        typed(trace, settings_of(served), ledger)
    assert ledger.total.requests == served.n_requests == 4
    assert spending_of(trace.journal.events()).total == ledger.total


def test_a_resumed_run_reads_its_answer_without_the_server_and_goes_on_as_one_that_was_not_stopped(
    tmp_path,
):
    with provider(lambda body: deepseek(body) or reasoning_openai(body), good) as served:
        with Trace.create(tmp_path / "run", seed=1, types=RECORDS) as trace:
            first = typed(trace, settings_of(served))
        settings = settings_of(served)
    with Trace.open(tmp_path / "run", types=RECORDS) as trace:
        assert typed(trace, settings) == first  # nothing listens there any more
        (called,) = [item.record for item in trace.records(LanguageModelCalled)]
        assert set(called.withheld) == {"max_tokens", "temperature", "top_p", "response_format"}


def test_a_value_out_of_range_is_a_mistake_and_not_left_out():
    ranges = (
        ("temperature: range: 0..1", None, None),
        ("Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
         "temperature", "decimal_above_max_value"),
        ("max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you "
         "provided 100000.", "max_tokens", "invalid_value"),
    )  # fmt: skip
    for text, parameter, code in ranges:
        with (
            provider(lambda body, e=(text, parameter, code): openai_error(*e), good) as served,
            pytest.raises(RequestRefusedError, match="refused the request"),
        ):
            ask(OpenAIModel(settings_of(served)), QUESTION)
        assert served.n_requests == 1


def test_a_prompt_that_is_too_long_is_called_so_although_the_error_names_a_field():
    text = (
        "This model's maximum context length is 128000 tokens. However, you requested 130000 tokens in the messages "
        "and max_tokens, which is not supported."
    )
    with (
        provider(lambda body: openai_error(text, "max_tokens", None), good) as served,
        pytest.raises(ContextTooLongError),
    ):
        ask(OpenAIModel(settings_of(served)), QUESTION)


def test_a_server_that_refuses_both_limits_of_tokens_is_not_asked_without_a_limit():
    def no_limit(body):
        name = next((name for name in ("max_tokens", "max_completion_tokens") if name in body), "")
        return openai_error(f"Unsupported parameter: '{name}'.", name, None) if name else None

    with (
        provider(no_limit, good) as served,
        pytest.raises(RequestRefusedError, match="refuses both `max_tokens` and"),
    ):
        ask(OpenAIModel(settings_of(served)), QUESTION)
    assert served.n_requests == 2


@pytest.mark.parametrize(
    ("text", "parameter", "found"),
    [
        ("Unrecognized request argument supplied: seed", None, ("seed",)),
        ("seed: Extra inputs are not permitted", None, ("seed",)),
        ("property 'seed' is unsupported", None, ("seed",)),
        ("temperature and top_p cannot both be specified for this model. Please use only one.", None, ("top_p",)),
        ("The model returned the following errors: temperature is deprecated for this model.", None, ("temperature",)),
        ("`temperature` may only be set to 1 when thinking is enabled.", None, ("temperature",)),
        ("Unsupported parameter: 'seed'. Use temperature and top_p to control sampling.", None, ("seed",)),
        ("Unknown parameter: 'tools[0].function.strict'.", "tools[0].function.strict", ("strict",)),
        ("Invalid schema for function 'pick': 'additionalProperties' is required.", "tools[0].function.parameters",
         ("strict",)),
        ("Invalid schema for response_format 'answer': In context=(), 'maxLength' is not permitted.",
         "response_format", ("response_format",)),
        ("response_format.type `json_schema` is unavailable now", None, ("response_format",)),
        ("Invalid parameter: seed", None, ("seed",)),
        ("'seed' is not a valid field for this endpoint", None, ("seed",)),
        ("Parameter seed is invalid for this model", None, ("seed",)),
        ("`temperature` is not applicable to reasoning models", None, ("temperature",)),
        ("temperature must be between 0 and 1, 1.5 is not supported", None, ()),
        ("This model does not support image input; please stop and stream text.", None, ()),
        ("Invalid value: 'robot'. Supported values are: 'system' and 'user'.", "messages[0].role", ()),
        ("deepseek-reasoner does not support tools", None, ()),
        ("Unsupported parameter: 'logprobs' is not supported with this model.", "logprobs", ()),
    ],
)  # fmt: skip
def test_the_fields_that_an_error_is_about_are_read_from_its_words(text, parameter, found):
    settings = ModelSettings(name="a", base_url="http://h/v1", model="m", stream=True)
    request = QUESTION.model_copy(
        update={"answer_schema": {"type": "object"}, "tools": (PICK,), "n_log_probabilities": 2}
    )
    assert refused_fields(text, parameter, body_of_request(settings, request)) == found


def test_settings_leave_fields_out_before_anything_is_refused(trace):
    left_out = ("temperature", "seed", "response_format")
    with provider(nothing, good) as served:
        assert isinstance(typed(trace, settings_of(served, without=left_out)), TypedAnswer)
    assert served.n_requests == 1
    assert not set(left_out) & set(served.bodies[0])
    assert '"winner"' in served.bodies[0]["messages"][0]["content"]
    (called,) = [item.record for item in trace.records(LanguageModelCalled)]
    assert set(called.withheld) == set(left_out)


def test_settings_that_leave_out_what_is_needed_are_refused():
    with pytest.raises(ValidationError, match="temperature"):
        ModelSettings(name="a", base_url="http://h/v1", model="m", without=["messages"])


def test_settings_without_the_key_are_the_model_that_they_were():
    plain = ModelSettings(name="a", base_url="http://h/v1", model="m")
    assert "without" not in plain.model_dump(mode="json")
    assert plain.model_copy(update={"without": ("seed",)}).version != plain.version


def test_a_default_of_top_p_is_not_sent():
    settings = ModelSettings(name="a", base_url="http://h/v1", model="m")
    assert "top_p" not in body_of_request(settings, ModelRequest(messages=QUESTION.messages))


def needs_the_schema(body):
    """A model that writes the right fields only where its prompt names them."""
    read = json.dumps(body["messages"])
    if "in plain English" in read:
        return "Rain falls."
    return GOOD if "winner" in read and "share" in read else '{"answer": "the first"}'


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_ignores_the_schema_is_shown_it_in_the_second_try(trace, stream):
    with provider(nothing, needs_the_schema) as served:
        found = typed(trace, settings_of(served, stream=stream))
    assert isinstance(found, TypedAnswer)
    assert served.n_requests == 2


def test_a_server_that_refuses_the_schema_is_shown_it_in_the_prompt(trace):
    with provider(deepseek, needs_the_schema) as served:
        assert isinstance(typed(trace, settings_of(served)), TypedAnswer)
    assert served.n_requests == 2
    head = served.bodies[-1]["messages"][0]
    assert head["role"] == "system"
    assert head["content"].startswith("You compare two theories.")


THOUGHTS = 'The first {looks} better </not yet>; see [1].\n```json\n{"winner": "?"}\n```\n'


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "content",
    [
        f"<think>\n{THOUGHTS}</think>\n\n{GOOD}",
        f"{THOUGHTS}</think>{GOOD}",
        f"<thinking>{THOUGHTS}</thinking>\n```json\n{GOOD}\n```",
        f"[THINK]{THOUGHTS}[/THINK]{GOOD}",
        f"</think>{GOOD}",
    ],
)
def test_thinking_before_the_answer_is_passed_over(trace, content, stream):
    with provider(nothing, lambda body: content) as served:
        found = typed(trace, settings_of(served, stream=stream))
    assert isinstance(found, TypedAnswer)
    assert (found.value.share, served.n_requests) == (0.62, 1)


def test_a_tag_inside_an_answer_is_part_of_it(trace):
    said = json.dumps({"winner": "after </think> comes the answer", "share": 0.5})
    with provider(nothing, lambda body: said) as served:
        found = typed(trace, settings_of(served))
    assert isinstance(found, TypedAnswer)
    assert found.value.winner == "after </think> comes the answer"


@pytest.mark.parametrize("content", ["", "<think>so many words", "<think>done</think>"])
def test_an_answer_whose_tokens_all_went_into_thinking_is_given_more_room(trace, content):
    with provider(nothing, lambda body: content, finish_reason="length") as served:
        found = typed(trace, settings_of(served))
    assert isinstance(found, FailedAnswer)
    assert (found.reason, [item["max_tokens"] for item in served.bodies]) == (
        "truncated",
        [300, 600],
    )


def test_a_model_is_found_under_its_alias():
    assert offered_name("claude-opus-4-1", ["claude-opus-4-1-20250805", "claude-opus-4"])
    assert offered_name(
        "gemini-2.5-flash", ["models/gemini-2.5-flash", "models/gemini-2.5-flash-lite"]
    )
    assert offered_name("gpt-5", ["gpt-5-2025-08-07", "gpt-5-mini"]) == "gpt-5-2025-08-07"
    assert offered_name("gpt-5", ["gpt-5-mini", "my-gpt-5"]) is None
    with provider(nothing, good, models=("models/m",)) as served:
        assert asyncio.run(preflight(OpenAIModel(settings_of(served)))).model == "m"


def test_a_check_of_a_server_says_what_it_refuses_and_what_it_does_not_enforce():
    shape = PromptShape(
        "judge", QUESTION.model_copy(update={"answer_schema": Verdict.model_json_schema()}), Verdict
    )
    with provider(reasoning_openai, needs_the_schema) as served:
        report = asyncio.run(check(settings_of(served), [shape], n_calls=1))
    found = {item.feature: item for item in report.findings}
    assert "max_tokens, response_format, temperature, top_p" in found["fields of a request"].detail
    assert "the prompt states the form" in found["schema is enforced"].detail
    assert found["structured output"].state == "works"
    assert found["grade"].detail == "2 of 2 answers could be used"
    assert "streaming" not in found
    accepted = as_accepted(settings_of(served), ("temperature", "max_tokens"))
    assert (accepted.without, accepted.limit_field) == (("temperature",), "max_completion_tokens")
