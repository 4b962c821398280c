"""What the laboratory asks of a language model: messages in, a completion out.

Only the shape is fixed here. No role uses a model yet: the grammar advocate, the rule judge and the deterministic
arbiter need none. `clients/scripted.py` answers from a list and stands for a model wherever one is optional.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Completion:
    """What a model answered."""

    content: str
    finish_reason: str
    model_name: str
    n_prompt_tokens: int
    n_completion_tokens: int


class LanguageModel(Protocol):
    """Anything that completes a conversation."""

    name: str

    async def complete(self, messages: Sequence[Message], *, seed: int, max_tokens: int) -> Completion:
        """Answer; raises `LanguageModelError` when there is no answer."""
