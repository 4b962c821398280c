"""Embeddings of texts from any endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.language_models.client import TokenUsage
from lakatos.language_models.errors import LanguageModelError
from lakatos.language_models.ledger import SpentAmount, cost
from lakatos.language_models.settings import ModelSettings, Price

_PER_TEXT = 16
"""Tokens that a server may add to a text."""


@dataclass(frozen=True)
class TextEmbeddings:
    """Vectors of texts as an endpoint gave them."""

    vectors: NDArray[np.float64]
    """``(n_texts, n_dimensions)``."""
    usage: TokenUsage | None
    """None where the endpoint does not count."""


def embed(settings: ModelSettings, texts: Sequence[str]) -> TextEmbeddings:
    """Vectors of texts, asked for once.

    Raises:
        LanguageModelError: The endpoint cannot be asked, or gives something else than one vector for each text.
    """
    import openai

    key = os.environ.get(settings.key_variable, "") if settings.key_variable else ""
    try:
        # A second try would cost again, unseen by whoever reserved the first.
        with openai.OpenAI(
            base_url=settings.base_url or None,
            api_key=key or "none",
            timeout=settings.timeout_s,
            max_retries=0,
        ) as client:
            answer = client.embeddings.create(
                model=settings.model, input=list(texts), encoding_format="float"
            )
        found = [(item.index, item.embedding) for item in answer.data]
        vectors = np.array(
            [vector for _, vector in sorted(found, key=lambda item: item[0])], dtype=float
        )
    except (openai.OpenAIError, TypeError, ValueError, AttributeError) as error:
        raise LanguageModelError(
            f"no embeddings from {settings.name!r} at {settings.base_url}: {type(error).__name__}. Check that the "
            "server runs and serves an embedding model; lessons are recalled by shared words until then."
        ) from error
    if (
        vectors.ndim != 2
        or sorted(place for place, _ in found) != list(range(len(texts)))
        or not np.isfinite(vectors).all()
    ):
        raise LanguageModelError(
            f"{settings.name!r} gave vectors of shape {vectors.shape} for {len(texts)} texts, or not one finite vector "
            "for each; is it an embedding model? Lessons are recalled by shared words."
        )
    n_tokens = getattr(answer.usage, "prompt_tokens", None) or 0
    return TextEmbeddings(
        vectors, TokenUsage(n_prompt_tokens=n_tokens, n_completion_tokens=0) if n_tokens else None
    )


def most_embedding_cost(price: Price, texts: Sequence[str]) -> SpentAmount:
    """The most that embedding texts can cost: no token is shorter than a byte of UTF-8."""
    n_tokens = sum(len(text.encode()) + _PER_TEXT for text in texts)
    dearest = price.model_copy(
        update={"input": max(price.input, price.cached_input or 0.0), "cached_input": None}
    )
    return cost(dearest, TokenUsage(n_prompt_tokens=n_tokens, n_completion_tokens=0))
