"""A model that answers from a list, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from lakatos.language_models.client import ModelCompletion, ModelRequest, TokenUsage
from lakatos.language_models.errors import ScriptExhaustedError
from lakatos.language_models.settings import ModelSettings
from lakatos.traces.digest import digest_of


class ScriptedModel:
    """Answers in order, whatever it is asked; an ordinary class, not a mock."""

    def __init__(self, answers: Sequence[str | ModelCompletion], *, name: str = "scripted") -> None:
        self.name = name
        self._script = [self._completion(answer) for answer in answers]
        self._answers: Iterator[ModelCompletion] = iter(self._script)
        self._n_given = 0

    @classmethod
    def from_settings(cls, settings: ModelSettings) -> Self:
        """The answers that the settings list."""
        return cls(settings.answers, name=settings.name)

    @property
    def version(self) -> str:
        """Digest of the whole script."""
        return digest_of([item.model_dump(mode="json") for item in self._script])

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        """Return the next answer; cut to ``max_tokens`` words, with ``finish_reason`` "length" then."""
        answer = next(self._answers, None)
        if answer is None:
            raise ScriptExhaustedError(
                f"the script has {self._n_given} answers and was asked for one more; add answers or ask less."
            )
        self._n_given += 1
        words, n_words = answer.content.split(" "), request.sampling.max_tokens
        n_prompt = sum(len(message.content.split(" ")) for message in request.messages)
        usage = TokenUsage(n_prompt_tokens=n_prompt, n_completion_tokens=min(len(words), n_words))
        if len(words) <= n_words:
            return answer.model_copy(update={"usage": usage})
        return answer.model_copy(
            update={"content": " ".join(words[:n_words]), "finish_reason": "length", "usage": usage}
        )

    def _completion(self, answer: str | ModelCompletion) -> ModelCompletion:
        if isinstance(answer, ModelCompletion):
            return answer
        return ModelCompletion(content=answer, finish_reason="stop", model_name=self.name)
