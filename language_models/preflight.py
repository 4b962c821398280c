"""What can be known before money is spent: is the server there, the key right, the model served, the budget enough."""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from lakatos.language_models.client import (
    ChatMessage,
    LanguageModel,
    ModelCompletion,
    ModelRequest,
    TokenSampling,
)
from lakatos.language_models.errors import (
    ContextTooLongError,
    ModelAbsentError,
    SchemaRefusedError,
)
from lakatos.language_models.ledger import BudgetLedger, worst_case
from lakatos.language_models.settings import ModelSettings


@runtime_checkable
class ServedModel(LanguageModel, Protocol):
    """A model behind a server, which can be asked what it offers and is to be left in the end."""

    settings: ModelSettings

    async def offered(self) -> list[dict[str, Any]]:
        """The models that the server lists."""

    async def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True)
class ReadyModel:
    """A model can be asked."""

    model: str
    context_tokens: int | None
    """Longest prompt and answer; None if neither server nor study says."""
    server: str = ""
    """Of the probe; empty without one."""


async def preflight(
    model: ServedModel,
    *,
    ledger: BudgetLedger | None = None,
    requests: Sequence[ModelRequest] = (),
    schemas: Iterable[dict[str, Any]] = (),
    ask: Callable[[ModelRequest], Awaitable[ModelCompletion]] | None = None,
) -> ReadyModel:
    """Check a model before a run; free unless ``schemas`` are given, each of which costs an answer of one token.

    Args:
        model: To be asked.
        ledger: Whether it covers the dearest of ``requests``.
        requests: Of the sizes that will be sent. Their length is known to the server only, so they are refused here if
            the answer alone does not fit.
        schemas: Sent to see whether the server can enforce them.
        ask: How those are sent; within a run `RecordedModel.complete`, so that they are recorded and paid from its
            budget. Directly by default.

    Raises:
        UnreachableError: No server.
        KeyRefusedError: No key, or the wrong one.
        ModelAbsentError: The server has no such model.
        ContextTooLongError: An answer as long as asked for cannot fit.
        SchemaRefusedError: The server cannot enforce a schema.
        BudgetExhaustedError: The budget does not cover one call.
    """
    settings = model.settings
    if ledger is not None:
        for request in requests:
            ledger.check(worst_case(settings.price, request), f"one call of {model.name!r}")
    offered = {str(item.get("id")): item for item in await model.offered()}
    name = offered_name(settings.model, offered)
    if name is None:
        near = (
            difflib.get_close_matches(settings.model, offered, n=3, cutoff=0.3)
            or sorted(offered)[:3]
        )
        raise ModelAbsentError(
            f"model {model.name!r}: the server at {settings.base_url} does not offer {settings.model!r}; "
            f"it has {', '.join(map(repr, near)) or 'none'}. Name one of those, or serve the model."
        )
    told = offered[name].get("max_model_len")
    limits = [limit for limit in (settings.context_tokens, told) if isinstance(limit, int)]
    longest = min(limits, default=None)
    for request in requests:
        if longest is not None and request.sampling.max_tokens >= longest:
            raise ContextTooLongError(
                f"model {model.name!r}: an answer of up to {request.sampling.max_tokens} tokens leaves no room for a "
                f"prompt in its context of {longest}; nothing was sent. Lower `max_tokens` or serve a longer context."
            )
    server = ""
    for number, schema in enumerate(schemas, 1):
        asked = ModelRequest(
            messages=(ChatMessage(role="user", content="?"),),
            sampling=TokenSampling(max_tokens=1),
            answer_schema=schema,
        )
        completion = await (ask or model.complete)(asked)
        if "response_format" in completion.withheld:
            raise SchemaRefusedError(
                f"model {model.name!r}: the server at {settings.base_url} cannot enforce schema {number} of those that "
                "answers must fit. Simplify the type of the answer; within a run the prompt would hold the schema."
            )
        server = completion.server
    return ReadyModel(settings.model, longest, server)


def offered_name(model: str, offered: Collection[str]) -> str | None:
    """The name under which a server lists a model; None where it does not offer it.

    Providers list ``models/NAME`` for ``NAME``, or the dated version that an alias stands for.
    """
    if model in offered:
        return model
    alias = re.compile(rf"(?:.*/)?{re.escape(model)}(?:-\d{{4}}-?\d{{2}}-?\d{{2}})?")
    return max(filter(alias.fullmatch, offered), default=None)
