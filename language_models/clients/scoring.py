"""What a served model thinks of a text that somebody else wrote: log probabilities of its tokens.

Through the protocol's older page for plain text, with ``echo``: vLLM has it, many hosted providers do not.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from lakatos.language_models.client import (
    ModelCompletion,
    ModelRequest,
    TokenLogProbability,
    TokenUsage,
)
from lakatos.language_models.clients.openai import OpenAIModel, finite, json_object
from lakatos.language_models.errors import RequestRefusedError


class _EchoPart(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _EchoLogs(_EchoPart):
    tokens: list[str]
    token_logprobs: list[float | None]
    text_offset: list[int]


class _EchoChoice(_EchoPart):
    logprobs: _EchoLogs


class _EchoUsage(_EchoPart):
    prompt_tokens: int


class _EchoAnswer(_EchoPart):
    model: str = ""
    system_fingerprint: str | None = None
    choices: list[_EchoChoice] = Field(min_length=1)
    usage: _EchoUsage | None = None


class ScoringModel(OpenAIModel):
    """Scores instead of writing: the last message is the action, those before it are the text that it follows.

    The answer repeats the action, with a log probability for each of its tokens; so it is recorded, paid for and tried
    again as any other call.
    """

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """Return how likely the model finds the last message, token by token.

        Raises:
            TransientError: No answer came, and asking again can help.
            RequestRefusedError: The server will not score this, or a token lies across the action's beginning.
        """
        before = "".join(message.content for message in request.messages[:-1])
        action = request.messages[-1].content
        if not before or not action:
            raise RequestRefusedError(
                "give an action and a text before it; the first token of all has no probability."
            )
        body: dict[str, Any] = {
            "model": self.settings.model,
            "prompt": before + action,
            "echo": True,
            "logprobs": 1,
            "max_tokens": 1,
            "temperature": 0.0,
        }
        began = time.perf_counter()
        async with self.sending():
            async with asyncio.timeout(self.settings.timeout_s):
                response = await self.connection().completions.with_raw_response.create(**body)
            read = _EchoAnswer.model_validate(json_object(response.text))
            logs = read.choices[0].logprobs
            places = list(zip(logs.tokens, logs.token_logprobs, logs.text_offset, strict=True))
        end = len(before) + len(action)
        scored = [(token, log) for token, log, start in places if len(before) <= start < end]
        if len(before) not in logs.text_offset or any(log is None for _, log in scored):
            raise RequestRefusedError(
                "a token lies across the beginning of the action; let the action begin with a new line or a space."
            )
        return ModelCompletion(
            content=action,
            finish_reason="stop",
            model_name=read.model,
            server=read.system_fingerprint or "",
            usage=TokenUsage(
                n_prompt_tokens=read.usage.prompt_tokens if read.usage else 0, n_completion_tokens=1
            ),
            log_probabilities=tuple(
                TokenLogProbability(token=token, log_probability=finite(log))
                for token, log in scored
                if log is not None
            ),
            latency_s=time.perf_counter() - began,
        )
