"""A request before a run shows what a server takes; servers that behave as providers document stand in for them."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.errors import (
    ContextTooLongError,
    KeyRefusedError,
    ModelAbsentError,
    QuotaExhaustedError,
    RequestRefusedError,
    WrongAddressError,
)
from lakatos.language_models.preflight import ReadyModel, preflight
from lakatos.language_models.price_list import with_listed_price
from lakatos.language_models.probe import ServerProbe, probe_request
from lakatos.language_models.settings import ModelSettings, Price

sys.path.insert(0, str(Path(__file__).parent))
from providing import (
    anthropic_error,
    claude,
    follows_the_schema,
    gemini,
    newest_openai,
    only_words,
    openai_error,
    provider,
    words_in,
)

from lakatos.language_models.client import TokenSampling

SCHEMA = {
    "type": "object",
    "properties": {"word": {"type": "string", "maxLength": 20}},
    "required": ["word"],
    "additionalProperties": False,
}
PROBE = probe_request(SCHEMA, 5000, TokenSampling(temperature=0.7, top_p=0.9, max_tokens=800))
QUESTION = PROBE.model_copy(update={"messages": PROBE.messages[:1]})
LOADED = {"models": [{"name": "m", "model": "m", "context_length": 4096}]}
PROVIDERS: dict[str, tuple[dict[str, Any], ServerProbe, int | None]] = {
    "OpenAI": (
        {"refuse": newest_openai, "words": follows_the_schema,
         "usage": {"completion_tokens_details": {"reasoning_tokens": 320}}},
        ServerProbe(("temperature", "top_p", "limits", "max_tokens"), True, True, None), None,
    ),
    "Anthropic": (  # the list takes another form of the key, and schemas are ignored
        {"refuse": claude, "words": only_words,
         "pages": {"/v1/models": (401, {"error": {"message": "x-api-key header is required"}})}},
        ServerProbe(("top_p",), False, False, None), None,
    ),
    "Gemini": (
        {"refuse": gemini, "words": follows_the_schema, "models": ("models/m",)},
        ServerProbe(("seed",), True, False, None), None,
    ),
    "OpenRouter": (
        {"words": follows_the_schema, "entry": {"context_length": 163_840}},
        ServerProbe((), True, False, None), 163_840,
    ),
    "Ollama": (  # cuts the prompt without an error
        {"words": follows_the_schema, "pages": {"/api/ps": (200, LOADED)},
         "count": lambda body: min(words_in(body), 3900)},
        ServerProbe((), True, False, 3900), 3900,
    ),
    "llama.cpp": (
        {"words": lambda body: f"<think>\nJSON or not?\n</think>\n{follows_the_schema(body)}",
         "pages": {"/props": (200, {"default_generation_settings": {"n_ctx": 16_384}})}},
        ServerProbe((), True, True, None), 16_384,
    ),
    "vLLM": (
        {"words": follows_the_schema, "entry": {"max_model_len": 32_768}, "count": words_in},
        ServerProbe((), True, False, None), 32_768,
    ),
}  # fmt: skip


def settings_of(served: Any, **changes: Any) -> ModelSettings:
    return ModelSettings(**{"name": "a", "base_url": served.base_url, "model": "m"} | changes)


def probed(settings: ModelSettings) -> tuple[ReadyModel, OpenAIModel]:
    model = OpenAIModel(settings)

    async def once() -> ReadyModel:
        try:
            return await preflight(model, probe=PROBE)
        finally:
            await model.close()

    return asyncio.run(once()), model


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_probe_shows_what_a_provider_takes_and_every_question_then_costs_one_request(
    name: str,
) -> None:
    manner, found, context = PROVIDERS[name]
    with provider(**{"refuse": lambda body: None} | manner) as served:
        ready, model = probed(settings_of(served))
        assert (ready.probe, ready.context_tokens) == (found, context)
        n_before = served.n_requests

        async def ask() -> str:
            return (await model.complete(QUESTION)).content

        answer = asyncio.run(ask())
        assert served.n_requests == n_before + 1
        assert '"word"' in answer
        last = served.bodies[-1]
    assert ("response_format" in last) == (found.enforces is True)
    if not found.enforces:
        system = last["messages"][0]["content"]
        assert '"maxLength": 20' in system
        assert system.endswith('{"word": "..."}')


def test_a_schema_whose_limits_are_refused_is_enforced_without_them() -> None:
    with provider(newest_openai, follows_the_schema) as served:
        probed(settings_of(served))
    kept = served.bodies[-1]["response_format"]["json_schema"]["schema"]
    assert kept == json.loads(json.dumps(SCHEMA).replace(', "maxLength": 20', ""))


def refusing(status: int, body: Any) -> dict[str, Any]:
    return {"refuse": lambda _: (status, body), "words": follows_the_schema}


HTML = "<!doctype html><html><head><title>Sign in</title></head></html>"
GEMINI_KEY = [
    {"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}
]
BAD: dict[str, tuple[dict[str, Any], type[Exception], list[str]]] = {
    "wrong key": (
        refusing(401, openai_error("Incorrect API key provided: sk-1.", None, "invalid_api_key")[1]),
        KeyRefusedError, ["Incorrect API key provided: [key].", "Check the value of SOME_API_KEY"],
    ),
    "Gemini's wrong key": (
        refusing(400, GEMINI_KEY), KeyRefusedError, ["API key not valid", "SOME_API_KEY"],
    ),
    "a model that OpenRouter lacks": (
        refusing(400, {"error": {"message": "m is not a valid model ID", "code": 400}}) | {"models": ()},
        ModelAbsentError, ["m is not a valid model ID", "Check `model`"],
    ),
    "a model that Ollama lacks": (
        refusing(404, {"error": {"message": 'model "m" not found, try pulling it first'}}),
        ModelAbsentError, ["try pulling it first", "Check `model`"],
    ),
    "no money": (
        refusing(402, {"error": {"message": "Insufficient credits", "code": 402}}),
        QuotaExhaustedError, ["Insufficient credits. Pay in"],
    ),
    "a web page": (
        refusing(200, HTML) | {"pages": {"/v1/models": (200, HTML)}},
        WrongAddressError, ["a web page (Sign in)", "`base_url` must be the address of the API"],
    ),
    "llama.cpp's context": (
        refusing(400, {"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 2048,
                 "message": "the request exceeds the available context size, try increasing it"}}),
        ContextTooLongError, ["available context size"],
    ),
    "Anthropic's context": (
        refusing(400, anthropic_error("prompt is too long: 205000 tokens > 200000 maximum")[1]),
        ContextTooLongError, ["205000 tokens > 200000"],
    ),
    "a model that refuses": (
        {"refuse": lambda body: None, "words": lambda body: "I cannot help with that.",
         "finish_reason": "content_filter"},
        RequestRefusedError, ["I cannot help with that", "Name another `model`"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_makes_a_model_unusable_is_found_with_its_servers_words_and_the_setting(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-1")
    manner, error, words = BAD[name]
    with provider(**manner) as served, pytest.raises(error) as found:
        probed(settings_of(served, key_variable="SOME_API_KEY"))
    assert served.n_requests <= (2 if name == "a model that refuses" else 1)
    for part in words:
        assert part in str(found.value)


def test_a_model_is_found_under_the_names_that_openrouter_and_ollama_list() -> None:
    for wanted, listed in (("org/m:online", "org/m"), ("m", "m:latest")):
        with provider(lambda body: None, follows_the_schema, models=(listed,)) as served:
            assert probed(settings_of(served, model=wanted))[0].model == wanted


@pytest.mark.parametrize(
    ("base_url", "model", "price"),
    [
        ("https://api.openai.com/v1", "gpt-5.4-mini-2026-03-05", 0.75),
        ("https://api.openai.com/v1", "gpt-5.4-nano", 0.0),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "models/gemini-3.1-pro-preview", 2.0),
        ("http://127.0.0.1:8000/v1", "gpt-5.4", 0.0),
    ],
)  # fmt: skip
def test_a_list_price_stands_in_for_one_that_a_study_does_not_state(
    base_url: str, model: str, price: float
) -> None:
    settings = ModelSettings(name="a", base_url=base_url, model=model)
    assert with_listed_price(settings).price.input == price
    own = settings.model_copy(update={"price": Price(input=9.0)})
    assert with_listed_price(own) is own


def test_a_context_that_is_known_to_be_shorter_is_asked_with_few_words() -> None:
    with provider(lambda body: None, follows_the_schema, entry={"max_model_len": 3000}) as served:
        ready, _ = probed(settings_of(served))
    assert (ready.context_tokens, ready.probe) == (3000, ServerProbe((), True, False, None))
    assert served.bodies[0]["messages"][1]["content"].startswith("Write one sentence")
