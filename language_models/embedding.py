"""Embeddings of texts from any endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from language_models.errors import LanguageModelError
from language_models.settings import ModelSettings


def embed(settings: ModelSettings, texts: Sequence[str]) -> NDArray[np.float64]:
    """``(n_texts, n_dimensions)`` vectors of texts.

    Raises:
        LanguageModelError: The endpoint cannot be asked, or gives something else than one vector for each text.
    """
    import openai

    key = os.environ.get(settings.key_variable, "") if settings.key_variable else ""
    try:
        with openai.OpenAI(
            base_url=settings.base_url or None, api_key=key or "none", timeout=settings.timeout_s, max_retries=1
        ) as client:
            answer = client.embeddings.create(model=settings.model, input=list(texts), encoding_format="float")
        vectors = np.array([item.embedding for item in sorted(answer.data, key=lambda item: item.index)], dtype=float)
    except (openai.OpenAIError, TypeError, ValueError) as error:
        raise LanguageModelError(
            f"no embeddings from {settings.name!r} at {settings.base_url}: {type(error).__name__}. Check that the "
            "server runs and serves an embedding model; lessons are recalled by shared words until then."
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise LanguageModelError(
            f"{settings.name!r} gave vectors of shape {vectors.shape} for {len(texts)} texts; is it an embedding model?"
        )
    return vectors
