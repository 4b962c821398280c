"""Interface of the laboratory to language models: a request in, a completion out.

A request holds everything that decides an answer, so that its digest names it; a completion holds everything that came
back. Clients (`language_models/clients/`) are thin: retries, budgets, recording and structured output are wrapped
around any of them.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict


class FrozenPart(BaseModel):
    """Frozen, and refuses fields that it does not know; NaN and infinities are kept to be refused by the trace."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class ToolCall(FrozenPart):
    """A tool that the model wants called; the arguments are untrusted text."""

    call_id: str
    name: str
    arguments: str
    """JSON as the model wrote it, not parsed."""


class ChatMessage(FrozenPart):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls of an assistant's turn."""
    call_id: str | None = None
    """Identifier of the call that a tool's turn answers."""


class ToolOffer(FrozenPart):
    """A tool as it is described to the model."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON schema of the arguments."""


class TokenSampling(FrozenPart):
    """Rules by which the tokens of an answer are drawn."""

    temperature: float = 0.7
    top_p: float = 1.0
    max_tokens: int = 2048
    stop: tuple[str, ...] = ()


class ModelRequest(FrozenPart):
    """All that decides an answer."""

    messages: tuple[ChatMessage, ...]
    sampling: TokenSampling = TokenSampling()
    seed: int = 0
    answer_schema: dict[str, Any] | None = None
    """JSON schema that the server is to enforce on the content."""
    tools: tuple[ToolOffer, ...] = ()
    tool_choice: Literal["auto", "none", "required"] = "auto"
    n_log_probabilities: int = 0
    """Most likely tokens to report at each place; 0 asks for none."""


class TokenUsage(FrozenPart):
    """Tokens that a call took."""

    n_prompt_tokens: int = 0
    n_cached_tokens: int = 0
    """Tokens of the prompt that the server had cached."""
    n_completion_tokens: int = 0


class TokenLogProbability(FrozenPart):
    """A token of the answer, in nats."""

    token: str
    log_probability: float
    alternatives: tuple[tuple[str, float], ...] = ()


class ModelCompletion(FrozenPart):
    """Answer of a model, with everything that came back."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str
    """Reason for the end, as the server names it: "stop", "length", "tool_calls", "content_filter", ..."""
    refusal: str = ""
    model_name: str
    """Name that the server gives to the model."""
    server: str = ""
    """Version or fingerprint of the server, where it tells."""
    usage: TokenUsage = TokenUsage()
    log_probabilities: tuple[TokenLogProbability, ...] = ()
    thinks: bool = False
    """Whether the server states that the model thought before its answer."""
    withheld: tuple[str, ...] = ()
    """Fields of the request that were not sent, since the settings or the server do not allow them."""
    n_refused: int = 0
    """Times that the server refused the request before these fields were left out."""
    latency_s: float = 0.0


class LanguageModel(Protocol):
    """Anything that completes a conversation."""

    @property
    def name(self) -> str:
        """The model as the study names it."""

    @property
    def version(self) -> str:
        """Digest of all that can change its answers: model, revision, server, decoding defaults."""

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """Ask once and return the answer; nothing is tried again here.

        Raises:
            LanguageModelError: There is no answer; its subclasses say whether trying again can help.
        """
