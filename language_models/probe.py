"""One request before a run, from whose answer it is read what a server takes, enforces and reads.

The request asks for prose and carries the largest schema of the study: an answer in JSON shows that the server
enforces schemas, or at least passes them on. It begins with a known number of words: a server that counts fewer tokens
has cut the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lakatos.language_models.client import (
    ChatMessage,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
)
from lakatos.language_models.thinking import after_thinking
from lakatos.language_models.withheld import LIMIT_FIELDS

ROLE: Final = "probe"
"""Role under which the request is recorded."""
SYSTEM: Final = "You test a connection."
"""System message, the first of the request."""
MOST_TOKENS: Final = 1024
"""Tokens of the answer, for models that think before they answer."""
_WORD: Final = "rain"
_COUNTED: Final = 0.9
"""Share of the words of a prompt that a server counts at least, which are tokens of their own or more."""
_LEAST_CONTEXT: Final = 256
"""Tokens that every server reads; one that counts fewer does not count."""


@dataclass(frozen=True)
class ServerProbe:
    """Findings about a server from one of its answers."""

    withheld: tuple[str, ...]
    """Fields that the server refuses."""
    enforces: bool | None
    """Whether the answer has the form of the schema; None where the tokens ended before an answer."""
    thinks: bool
    """Whether the model thinks before it answers."""
    read_tokens: int | None
    """Tokens that the server has read of a longer prompt; None where it has read all, or does not count."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Fields without which the model is asked from now on."""
        ignored = ("response_format",) if self.enforces is False else ()
        return tuple(dict.fromkeys((*self.withheld, *ignored)))

    @property
    def lines(self) -> list[str]:
        """Findings, each in a sentence without a full stop."""
        limit = next((name for name in LIMIT_FIELDS if name in self.withheld), "")
        others = [name for name in self.withheld if name not in LIMIT_FIELDS]
        found = [f"it is asked without {', '.join(others)}"] if others else []
        if limit:
            found.append(f"it refuses {limit}, so the other name of the limit is used")
        if self.enforces is False and "response_format" not in self.withheld:
            found.append("it does not enforce the form of answers, so the prompt states it")
        if self.thinks:
            found.append("it thinks before it answers; `max_tokens` must hold both")
        if self.read_tokens is not None:
            found.append(f"it reads {self.read_tokens} tokens and cuts longer prompts")
        return found


def probe_request(
    schema: Mapping[str, Any] | None, n_words: int, sampling: TokenSampling
) -> ModelRequest:
    """The request of a probe.

    Args:
        schema: The largest that the study's answers have.
        n_words: Length of the prompt, each word a token or more.
        sampling: As the study asks.
    """
    words = (
        "Write one sentence about rain, in plain English. No JSON, no lists. "
        "The words before this line mean nothing."
    )
    return ModelRequest(
        messages=(
            ChatMessage(role="system", content=SYSTEM),
            ChatMessage(role="user", content=f"{' '.join([_WORD] * n_words)}\n\n{words}".strip()),
        ),
        sampling=sampling.model_copy(update={"max_tokens": min(sampling.max_tokens, MOST_TOKENS)}),
        answer_schema=None if schema is None else dict(schema),
    )


def read_probe(request: ModelRequest, completion: ModelCompletion) -> ServerProbe:
    """Read what the answer to `probe_request` shows."""
    text = after_thinking(completion.content)
    n_words = sum(message.content.count(_WORD) for message in request.messages)
    counted = completion.usage.n_prompt_tokens
    enforces = None
    if request.answer_schema is not None and "response_format" not in completion.withheld:
        enforces = text.lstrip().startswith(("{", "```")) if text.strip() else None
    return ServerProbe(
        withheld=completion.withheld,
        enforces=False if "response_format" in completion.withheld else enforces,
        thinks=completion.thinks or text != completion.content,
        read_tokens=counted if _LEAST_CONTEXT <= counted < _COUNTED * n_words else None,
    )
