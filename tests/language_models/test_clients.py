"""The client of the OpenAI protocol, recorded exchanges, and what is checked before a run."""

import asyncio
import json
import logging

import pytest
from pydantic import ValidationError

from benchmarks.models.player import (
    ExchangeFileError,
    PlayerModel,
    RecorderModel,
    UnknownExchangeError,
)
from lakatos.language_models.client import (
    ChatMessage,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
    ToolCall,
)
from lakatos.language_models.clients import CLIENTS
from lakatos.language_models.clients.openai import (
    OpenAIModel,
    body_of_request,
    completion_of,
    joined,
    retry_after_s,
)
from lakatos.language_models.clients.scripted import ScriptedModel
from lakatos.language_models.errors import (
    BudgetExhaustedError,
    ContextTooLongError,
    KeyRefusedError,
    ModelAbsentError,
    RateLimitedError,
    ServerFailedError,
    SlowServerError,
    UnreachableError,
)
from lakatos.language_models.ledger import Budget, BudgetLedger
from lakatos.language_models.preflight import preflight
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.settings import ModelSettings
from tests.language_models.contract import (
    CONTRACT_REQUESTS,
    PICK,
    QUESTION,
    LanguageModelContract,
    ServedModelContract,
    ask,
    chat,
)
from tests.rehearsal.app import RehearsalSettings
from tests.rehearsal.fault import ServerMisbehaviour
from tests.rehearsal.serve import running

KEY = "sk-not-a-key-17"


@pytest.fixture(scope="module")
def server():
    quick = ServerMisbehaviour(slow_s=5.0, retry_after_s=7)
    with running(RehearsalSettings(key=KEY, misbehaviour=quick)) as served:
        yield served


@pytest.fixture
def settings(server, monkeypatch):
    monkeypatch.setenv("REHEARSAL_API_KEY", KEY)
    return ModelSettings(
        name="advocate",
        base_url=server.base_url,
        model=server.model,
        key_variable="REHEARSAL_API_KEY",
    )


def with_fault(settings, fault, **changes):
    return OpenAIModel(settings.model_copy(update={"extra": {"rehearsal": fault}, **changes}))


class TestRehearsal(ServedModelContract):
    @pytest.fixture(scope="class")
    @classmethod
    def server(cls):
        with running() as served:
            yield served


class TestScriptedModel(LanguageModelContract):
    @pytest.fixture
    def language_model(self):
        return ScriptedModel(["the larger one, as most people do"] * 3)


class TestPlayer(LanguageModelContract):
    @pytest.fixture
    def language_model(self, tmp_path, settings):
        recorder = RecorderModel(OpenAIModel(settings), tmp_path / "exchanges.jsonl")
        for request in CONTRACT_REQUESTS:
            ask(recorder, request)
        return PlayerModel(tmp_path / "exchanges.jsonl")


@pytest.mark.parametrize(
    ("fault", "error", "match"),
    [
        ("too_many_requests", RateLimitedError, "was asked too often"),
        ("server_error", ServerFailedError, r"failed \(500\)"),
        ("unavailable", ServerFailedError, r"failed \(503\)"),
        ("dropped", UnreachableError, "hung up"),
        ("cut_body", ServerFailedError, "not the OpenAI protocol"),
        ("not_json", ServerFailedError, "not the OpenAI protocol"),
        ("no_choices", ServerFailedError, "choices"),
    ],
)
def test_a_failure_of_the_server_is_named(settings, fault, error, match):
    with pytest.raises(error, match=match) as caught:
        ask(with_fault(settings, fault), chat())
    assert KEY not in str(caught.value)
    assert caught.value.retry_after_s == (7.0 if fault == "too_many_requests" else None)


@pytest.mark.parametrize("fault", ["dropped", "cut_body"])
def test_a_stream_that_breaks_off_is_no_answer(settings, fault):
    with pytest.raises((UnreachableError, ServerFailedError), match=r"hung up|broke off"):
        ask(with_fault(settings, fault, stream=True), chat())


def test_a_slow_server_is_not_waited_for(settings):
    with pytest.raises(SlowServerError, match=r"within 0\.2 s"):
        ask(with_fault(settings, "slow", timeout_s=0.2), chat())


@pytest.mark.parametrize(
    ("fault", "finish_reason", "sign"),
    [
        ("refusal", "stop", lambda found: found.refusal and not found.content),
        ("empty", "stop", lambda found: found.content == ""),
        ("truncated", "length", lambda found: found.usage.n_completion_tokens < 24),
        ("repetition", "length", lambda found: found.usage.n_completion_tokens == 24),
        ("injection", "length", lambda found: found.content),
        ("no_usage", "stop", lambda found: found.usage.n_prompt_tokens == 0),
    ],
)
def test_a_strange_answer_is_an_answer(settings, fault, finish_reason, sign):
    found = ask(
        with_fault(settings, fault),
        chat(sampling=TokenSampling(max_tokens=24 if fault != "no_usage" else 400)),
    )
    assert found.finish_reason == finish_reason
    assert sign(found)


def test_the_wrong_key_is_refused_without_showing_it(settings, monkeypatch):
    monkeypatch.setenv("REHEARSAL_API_KEY", "sk-wrong-key-99")
    with pytest.raises(KeyRefusedError, match="refused the key in REHEARSAL_API_KEY") as caught:
        ask(OpenAIModel(settings), chat())
    assert "sk-wrong" not in str(caught.value)


def test_a_key_that_is_not_set_is_noticed_before_sending(settings, monkeypatch):
    monkeypatch.delenv("REHEARSAL_API_KEY")
    dead = settings.model_copy(update={"base_url": f"http://127.0.0.1:{free_port()}/v1"})
    with pytest.raises(
        KeyRefusedError, match="REHEARSAL_API_KEY, which is not set; nothing was sent"
    ):
        ask(OpenAIModel(dead), chat())


def test_the_key_is_in_no_log_and_in_nothing_that_is_kept(settings, caplog):
    caplog.set_level(logging.DEBUG)
    model = OpenAIModel(settings)
    found = ask(model, chat())
    assert (
        KEY
        not in caplog.text
        + repr(model)
        + str(settings)
        + found.model_dump_json()
        + settings.version
    )


def test_a_schema_that_the_server_cannot_enforce_is_asked_for_in_words(settings):
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer", "multipleOf": 3}},
        "required": ["n"],
    }
    assert ask(OpenAIModel(settings), chat(answer_schema=schema)).withheld == ("response_format",)


def test_requests_have_the_names_of_the_protocol():
    settings = ModelSettings(
        name="a", base_url="http://h/v1", model="m", limit_field="max_completion_tokens"
    )
    call = ToolCall(call_id="1", name="pick", arguments="{}")
    turns = (
        *QUESTION,
        ChatMessage(role="assistant", content="", tool_calls=(call,)),
        ChatMessage(role="tool", content="B", call_id="1"),
    )
    sampling = TokenSampling(temperature=0.5, top_p=0.9, max_tokens=7, stop=("END",))
    request = ModelRequest(
        messages=turns, sampling=sampling, seed=3, answer_schema={"type": "object"}, tools=(PICK,)
    )
    body = body_of_request(settings, request.model_copy(update={"n_log_probabilities": 2}))
    assert body["messages"][2]["tool_calls"] == [
        {"id": "1", "type": "function", "function": {"name": "pick", "arguments": "{}"}}
    ]
    assert body["messages"][3] == {"role": "tool", "content": "B", "tool_call_id": "1"}
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body["tools"][0]["function"]["strict"] is True
    assert {
        name: body[name]
        for name in ("max_completion_tokens", "seed", "stop", "logprobs", "top_logprobs")
    } == {
        "max_completion_tokens": 7,
        "seed": 3,
        "stop": ["END"],
        "logprobs": True,
        "top_logprobs": 2,
    }
    assert "max_tokens" not in body


def test_halves_of_characters_and_infinities_of_a_server_can_be_kept():
    token = {"token": "\ud800", "logprob": float("-inf")}
    answer = {
        "choices": [
            {
                "message": {"content": "a\ud83db"},
                "finish_reason": "stop",
                "logprobs": {"content": [token]},
            }
        ]
    }
    found = completion_of(answer)
    assert found.content == "a\ufffdb"
    assert found.log_probabilities[0].log_probability == -9999.0
    assert ModelCompletion.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"choices": []},
        {"choices": [{"message": "hi"}]},
        {"choices": [{"message": {"content": 3}}]},
        {"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -1}},
    ],
)
def test_an_answer_of_another_form_is_refused_by_place(answer):
    with pytest.raises(ServerFailedError, match=r"choices|usage"):
        completion_of(answer)


def test_a_stream_without_an_end_is_no_answer():
    with pytest.raises(ValueError, match="broke off after 1 pieces"):
        joined([{"choices": [{"delta": {"content": "a"}}]}])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers, seconds):
    assert retry_after_s(headers) == seconds


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"extra": {"guided_json": {}}}, "ignores this name silently"),
        ({"base_url": "localhost:8000"}, "is no address"),
        ({"model": ""}, "model is empty"),
    ],
)
def test_settings_that_cannot_work_are_refused(change, match):
    fields = {"name": "a", "base_url": "http://h/v1", "model": "m"} | change
    with pytest.raises(ValidationError, match=match):
        ModelSettings(**fields)


def test_the_version_is_of_the_model_and_not_of_its_address():
    settings = ModelSettings(name="a", base_url="http://h/v1", model="m", revision="1")
    moved = settings.model_copy(update={"base_url": "http://other/v1", "timeout_s": 3.0})
    assert moved.version == settings.version
    for change in ({"revision": "2"}, {"model": "n"}, {"extra": {"top_k": 3}}):
        assert settings.model_copy(update=change).version != settings.version


def test_every_client_of_the_table_is_made_from_settings():
    for name, make in CLIENTS.items():
        given = ModelSettings(
            name=f"my {name}",
            client=name,
            base_url="http://h/v1",
            model="m",
        )
        assert make(given).name == f"my {name}"


def test_settings_of_earlier_journals_are_read_and_files_of_exchanges_are_refused():
    known = ModelSettings(name="a", client="scripted").model_dump()
    assert ModelSettings.model_validate(known | {"exchanges": ""}) == ModelSettings(**known)
    with pytest.raises(ValidationError, match="exchanges"):
        ModelSettings.model_validate(known | {"exchanges": "kept.jsonl"})


def test_a_player_shows_how_an_unknown_request_differs(tmp_path, settings):
    path = tmp_path / "exchanges.jsonl"
    ask(RecorderModel(OpenAIModel(settings), path), chat())
    player = PlayerModel(path)
    with pytest.raises(UnknownExchangeError, match="The nearest differs in") as caught:
        ask(player, chat(seed=12))
    assert '- "seed": 11,' in str(caught.value)
    assert '+ "seed": 12,' in str(caught.value)


def test_a_player_gives_repeated_answers_in_order(tmp_path):
    path = tmp_path / "exchanges.jsonl"
    recorder = RecorderModel(ScriptedModel(["one", "two"]), path)
    for _ in range(2):
        ask(recorder, chat())
    player = PlayerModel(path)
    assert [ask(player, chat()).content for _ in range(3)] == ["one", "two", "two"]


def test_a_changed_recording_is_refused(tmp_path):
    path = tmp_path / "exchanges.jsonl"
    ask(RecorderModel(ScriptedModel(["one"]), path), chat())
    path.write_text(path.read_text().replace("few words", "many words"))
    with pytest.raises(ExchangeFileError, match=r"line 1 of .* was changed"):
        PlayerModel(path)
    path.write_text(json.dumps({"request": 3}) + "\n")
    with pytest.raises(ExchangeFileError, match=r"line 1 of .* is no exchange"):
        PlayerModel(path)


def check(settings, **given):
    return asyncio.run(preflight(OpenAIModel(settings), **given))


def test_a_model_that_is_ready_says_how_long_its_context_is(settings):
    ready = check(settings)
    assert (ready.model, ready.context_tokens, ready.probe) == ("rehearsal", 8192, None)
    assert check(settings.model_copy(update={"context_tokens": 100})).context_tokens == 100


def test_what_can_be_known_before_spending_is_checked_before(settings, monkeypatch):
    nowhere = settings.model_copy(update={"base_url": f"http://127.0.0.1:{free_port()}/v1"})
    with pytest.raises(UnreachableError):
        check(nowhere)
    with pytest.raises(ModelAbsentError, match="does not offer 'rehersal'; it has 'rehearsal'"):
        check(settings.model_copy(update={"model": "rehersal"}))
    with pytest.raises(ContextTooLongError, match="leaves no room"):
        check(settings, requests=[chat(sampling=TokenSampling(max_tokens=8192))])
    poor = BudgetLedger(Budget(tokens=10))
    with pytest.raises(BudgetExhaustedError, match="nothing was sent"):
        check(nowhere, ledger=poor, requests=[chat()])
    monkeypatch.setenv("REHEARSAL_API_KEY", "wrong")
    with pytest.raises(KeyRefusedError):
        check(settings)
