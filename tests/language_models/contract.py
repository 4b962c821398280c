"""Contracts that every language model keeps, and every server that speaks the OpenAI protocol, as tests to inherit.

A server is held to its contract by a test class of its own; its fixture gives anything with ``.base_url`` (ending in
``/v1``) and ``.model``::

    class TestMyServer(ServedModelContract):
        @pytest.fixture(scope="class")
        @classmethod
        def server(cls):
            with running() as served:
                yield served
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Literal, Protocol

import pytest
from pydantic import BaseModel, ConfigDict, Field

from lakatos.language_models.client import (
    ChatMessage,
    LanguageModel,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
    ToolCall,
    ToolOffer,
)
from lakatos.language_models.clients.openai import OpenAIModel
from lakatos.language_models.errors import (
    ContextTooLongError,
    ModelAbsentError,
    SlowServerError,
    UnreachableError,
)
from lakatos.language_models.serving.app_thread import free_port
from lakatos.language_models.settings import ModelSettings
from lakatos.traces.digest import is_digest

QUESTION = (
    ChatMessage(role="system", content="Answer in a few words."),
    ChatMessage(role="user", content="Which option do people choose?"),
)
SHORT = TokenSampling(temperature=1.0, max_tokens=24)
SEED = 11


class ServerEndpoint(Protocol):
    """Where a server is, and what it calls its model."""

    @property
    def base_url(self) -> str:
        """Up to and including ``/v1``."""

    @property
    def model(self) -> str:
        """As the server calls it."""


class Choice(BaseModel):
    """An answer of few tokens, so that a model of random weights completes it."""

    model_config = ConfigDict(extra="forbid")

    option: Literal["A", "B"]
    sure: bool


class Remarks(BaseModel):
    """Texts, into which a grammar lets any character but a quotation mark and a backslash."""

    model_config = ConfigDict(extra="forbid")

    first: str = Field(max_length=60)
    second: str = Field(max_length=60)


PICK = ToolOffer(
    name="pick",
    description="Pick an option.",
    parameters={
        "type": "object",
        "properties": {
            "option": {"type": "string", "enum": ["A", "B"]},
            "sure": {"type": "boolean"},
        },
        "required": ["option", "sure"],
        "additionalProperties": False,
    },
)


def chat(**changes: Any) -> ModelRequest:
    """The question of all these tests."""
    return ModelRequest(**({"messages": QUESTION, "sampling": SHORT, "seed": SEED} | changes))


CONTRACT_REQUESTS = (
    chat(),
    chat(seed=SEED + 1),
    chat(sampling=TokenSampling(temperature=0.0, max_tokens=4)),
)
"""What `LanguageModelContract` asks, for whoever records answers."""


def ask(model: LanguageModel, request: ModelRequest) -> ModelCompletion:
    """One answer, from a loop of its own."""
    return asyncio.run(model.complete(request))


class LanguageModelContract:
    """What anything owes that completes a conversation. Give a fixture ``language_model`` made anew for each test."""

    def test_has_a_name_and_a_version_that_stay(self, language_model: LanguageModel) -> None:
        before = (language_model.name, language_model.version)
        ask(language_model, chat())
        assert (language_model.name, language_model.version) == before
        assert before[0]
        assert is_digest(before[1])

    def test_answers_and_says_what_it_took(self, language_model: LanguageModel) -> None:
        found = ask(language_model, chat())
        assert found.finish_reason in ("stop", "length")
        assert found.model_name
        assert found.usage.n_prompt_tokens > 0
        assert found.usage.n_completion_tokens <= SHORT.max_tokens
        assert 0 <= found.usage.n_cached_tokens <= found.usage.n_prompt_tokens

    def test_an_answer_reads_back_from_its_json(self, language_model: LanguageModel) -> None:
        found = ask(language_model, chat())
        assert ModelCompletion.model_validate_json(found.model_dump_json()) == found

    def test_an_answer_that_is_cut_says_so(self, language_model: LanguageModel) -> None:
        found = ask(language_model, chat(sampling=TokenSampling(temperature=0.0, max_tokens=4)))
        assert found.usage.n_completion_tokens <= 4
        assert found.finish_reason == ("length" if found.usage.n_completion_tokens == 4 else "stop")

    def test_answers_several_at_once(self, language_model: LanguageModel) -> None:
        async def both() -> list[ModelCompletion]:
            return await asyncio.gather(
                *(language_model.complete(item) for item in CONTRACT_REQUESTS[:2])
            )

        assert len(asyncio.run(both())) == 2


class ServedModelContract(LanguageModelContract):
    """What a server of the OpenAI protocol owes. Give a fixture ``server`` with ``.base_url`` and ``.model``."""

    timeout_s = 120.0

    @pytest.fixture
    def settings(self, server: ServerEndpoint) -> ModelSettings:
        return ModelSettings(
            name="served", base_url=server.base_url, model=server.model, timeout_s=self.timeout_s
        )

    @pytest.fixture
    def language_model(self, settings: ModelSettings) -> OpenAIModel:
        return OpenAIModel(settings)

    def test_says_which_server_answered(
        self, language_model: OpenAIModel, server: ServerEndpoint
    ) -> None:
        found = ask(language_model, chat())
        assert found.model_name == server.model
        assert found.server

    def test_lists_its_model_with_the_length_of_its_context(
        self, language_model: OpenAIModel, server: ServerEndpoint
    ) -> None:
        offered = {item["id"]: item for item in asyncio.run(language_model.offered())}
        assert offered[server.model]["max_model_len"] > 0

    def test_the_same_seed_gives_the_same_answer(self, language_model: OpenAIModel) -> None:
        first, second = (ask(language_model, chat()) for _ in range(2))
        assert (first.content, first.finish_reason) == (second.content, second.finish_reason)

    def test_another_seed_gives_another_answer(self, language_model: OpenAIModel) -> None:
        assert len({ask(language_model, chat(seed=seed)).content for seed in range(4)}) > 1

    def test_a_schema_is_enforced(self, language_model: OpenAIModel) -> None:
        for seed in range(3):
            request = chat(
                seed=seed,
                answer_schema=Choice.model_json_schema(),
                sampling=TokenSampling(temperature=1.0, max_tokens=128),
            )
            found = ask(language_model, request)
            assert found.finish_reason == "stop", found.content
            Choice.model_validate_json(found.content)

    def test_texts_under_a_schema_are_read_whatever_characters_stand_in_them(
        self, language_model: OpenAIModel
    ) -> None:
        # A grammar lets control characters stand in strings, which strict JSON forbids.
        for seed in range(12):
            sampling = TokenSampling(temperature=1.0, max_tokens=600)
            found = ask(
                language_model,
                chat(seed=seed, answer_schema=Remarks.model_json_schema(), sampling=sampling),
            )
            if found.finish_reason == "stop":
                Remarks.model_validate(json.loads(found.content, strict=False))

    def test_arguments_of_a_tool_are_constrained(self, language_model: OpenAIModel) -> None:
        # Blanks are allowed in a call without end, and one that is cut off comes back as text.
        whole: list[ToolCall] = []
        for seed in range(8):
            sampling = TokenSampling(temperature=1.0, max_tokens=400)
            found = ask(
                language_model,
                chat(seed=seed, tools=(PICK,), tool_choice="required", sampling=sampling),
            )
            if found.finish_reason == "length":
                continue
            assert found.tool_calls
            whole += found.tool_calls
        assert len(whole) >= 4
        for call in whole:
            assert call.name == "pick"
            assert call.call_id
            Choice.model_validate_json(call.arguments)

    def test_a_call_that_is_cut_off_is_text(self, language_model: OpenAIModel) -> None:
        sampling = TokenSampling(temperature=1.0, max_tokens=3)
        found = ask(language_model, chat(tools=(PICK,), tool_choice="required", sampling=sampling))
        assert found.finish_reason == "length"
        assert found.tool_calls == ()

    def test_goes_on_after_a_tool_answered(self, language_model: OpenAIModel) -> None:
        call = ToolCall(call_id="call-1", name="pick", arguments='{"option": "A", "sure": true}')
        turns = (
            *QUESTION,
            ChatMessage(role="assistant", content="", tool_calls=(call,)),
            ChatMessage(role="tool", content='{"share": 0.62}', call_id="call-1"),
        )
        found = ask(language_model, chat(messages=turns, tools=(PICK,), tool_choice="none"))
        assert found.finish_reason in ("stop", "length")
        assert found.tool_calls == ()

    def test_log_probabilities_of_every_token(self, language_model: OpenAIModel) -> None:
        found = ask(language_model, chat(n_log_probabilities=3))
        assert found.log_probabilities
        # The token that ends an answer is counted, and shown by some servers only.
        hidden = found.usage.n_completion_tokens - len(found.log_probabilities)
        assert hidden in ((0, 1) if found.finish_reason == "stop" else (0,))
        for token in found.log_probabilities:
            assert token.log_probability <= 0
            # The token that was drawn stands first, then the likeliest ones.
            assert token.alternatives[0] == (token.token, token.log_probability)
            assert len(token.alternatives) >= 3
            likeliest = [log for _, log in token.alternatives[1:]]
            assert likeliest == sorted(likeliest, reverse=True)

    def test_no_log_probabilities_unasked(self, language_model: OpenAIModel) -> None:
        assert ask(language_model, chat()).log_probabilities == ()

    def test_a_streamed_answer_is_the_same(self, settings: ModelSettings) -> None:
        for request in (
            chat(n_log_probabilities=2),
            chat(seed=12, tools=(PICK,), tool_choice="required"),
        ):
            request = request.model_copy(
                update={"sampling": TokenSampling(temperature=1.0, max_tokens=200)}
            )
            whole = ask(OpenAIModel(settings), request)
            streamed = ask(OpenAIModel(settings.model_copy(update={"stream": True})), request)
            assert streamed.content == whole.content
            assert streamed.finish_reason == whole.finish_reason
            # Arguments are written anew in whole answers, and as they came in streamed ones.
            assert [(call.name, json.loads(call.arguments)) for call in streamed.tool_calls] == [
                (call.name, json.loads(call.arguments)) for call in whole.tool_calls
            ]
            assert streamed.usage.n_completion_tokens == whole.usage.n_completion_tokens
            assert [token.token for token in streamed.log_probabilities] == [
                token.token for token in whole.log_probabilities
            ]

    def test_answers_many_at_once(self, language_model: OpenAIModel) -> None:
        async def all_of_them() -> list[ModelCompletion]:
            return await asyncio.gather(
                *(language_model.complete(chat(seed=seed)) for seed in range(16))
            )

        found = asyncio.run(all_of_them())
        assert len(found) == 16
        assert all(item.usage.n_prompt_tokens > 0 for item in found)

    def test_a_model_that_is_not_there(self, settings: ModelSettings) -> None:
        model = OpenAIModel(settings.model_copy(update={"model": "no-such-model"}))
        with pytest.raises(ModelAbsentError, match="has no 'no-such-model'"):
            ask(model, chat())

    def test_a_context_that_is_too_long(
        self, language_model: OpenAIModel, server: ServerEndpoint
    ) -> None:
        offered = {item["id"]: item for item in asyncio.run(language_model.offered())}
        longest = int(offered[server.model]["max_model_len"])
        with pytest.raises(ContextTooLongError, match="do not fit its context"):
            ask(
                language_model,
                chat(messages=(ChatMessage(role="user", content="rain " * longest),)),
            )

    def test_more_tokens_than_there_is_room_for_are_not_refused(
        self, language_model: OpenAIModel, server: ServerEndpoint
    ) -> None:
        offered = {item["id"]: item for item in asyncio.run(language_model.offered())}
        longest = int(offered[server.model]["max_model_len"])
        assert ask(
            language_model, chat(sampling=TokenSampling(max_tokens=longest))
        ).finish_reason in (
            "stop",
            "length",
        )

    def test_no_server(self, settings: ModelSettings) -> None:
        model = OpenAIModel(
            settings.model_copy(update={"base_url": f"http://127.0.0.1:{free_port()}/v1"})
        )
        with pytest.raises(UnreachableError, match="could not be reached") as caught:
            ask(model, chat())
        assert not caught.value.may_have_cost

    def test_no_answer_in_time(self, settings: ModelSettings) -> None:
        model = OpenAIModel(settings.model_copy(update={"timeout_s": 1e-4}))
        with pytest.raises(SlowServerError, match="gave no answer within"):
            ask(model, chat())
