"""A model that answers from a list, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from language_models.client import Completion, Message
from language_models.errors import ScriptExhaustedError


class ScriptedModel:
    """Answers in order, whatever it is asked; an ordinary class, not a mock."""

    name = "scripted"

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers: Iterator[str] = iter(answers)
        self._n_given = 0

    async def complete(self, messages: Sequence[Message], *, seed: int, max_tokens: int) -> Completion:
        """Return the next answer; cut to ``max_tokens`` words, with ``finish_reason`` "length" then."""
        answer = next(self._answers, None)
        if answer is None:
            raise ScriptExhaustedError(
                f"the script has {self._n_given} answers and was asked for one more; add answers or ask less."
            )
        self._n_given += 1
        words = answer.split(" ")
        n_prompt = sum(len(message.content.split(" ")) for message in messages)
        kept = words[:max_tokens]
        return Completion(
            " ".join(kept), "stop" if len(kept) == len(words) else "length", self.name, n_prompt, len(kept)
        )
