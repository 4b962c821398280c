"""Checks before money is spent: is the server there, the key right, the model served, the budget enough."""

from __future__ import annotations

import difflib
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from lakatos.language_models.client import LanguageModel, ModelCompletion, ModelRequest
from lakatos.language_models.errors import (
    ContextTooLongError,
    ModelAbsentError,
    RequestRefusedError,
)
from lakatos.language_models.ledger import BudgetLedger, worst_case
from lakatos.language_models.outcome import outcome_of
from lakatos.language_models.probe import ServerProbe, read_probe
from lakatos.language_models.settings import ModelSettings

_CONTEXTS: Final = ("max_model_len", "context_length", "context_window", "max_context_length")
"""Names of the context length in lists of models: of vLLM, OpenRouter, Groq and Mistral."""


@runtime_checkable
class ServedModel(LanguageModel, Protocol):
    """A model behind a server, which can be asked what it offers and is to be left in the end."""

    settings: ModelSettings

    async def offered(self) -> list[dict[str, Any]]:
        """The models that the server lists."""

    async def context_of_server(self) -> int | None:
        """The context length that the server states elsewhere."""

    def leave_out(self, fields: Iterable[str]) -> None:
        """Send these fields in no further request."""

    async def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True)
class ReadyModel:
    """A model can be asked."""

    model: str
    context_tokens: int | None
    """Longest prompt and answer; None if neither server nor study says."""
    probe: ServerProbe | None = None
    """Probe by a request; None without one."""


async def preflight(
    model: ServedModel,
    *,
    ledger: BudgetLedger | None = None,
    requests: Sequence[ModelRequest] = (),
    least_tokens: int = 0,
    probe: ModelRequest | None = None,
    ask: Callable[[ModelRequest], Awaitable[ModelCompletion]] | None = None,
) -> ReadyModel:
    """Check a model before a run; free unless ``probe`` is given, which is sent unless the bridge is at the address.

    Args:
        model: To be asked. What the probe shows that its server refuses or ignores is not sent to it again.
        ledger: Whether it covers the dearest of ``requests``.
        requests: As large as will be sent. Their length is known to the server only, so they are refused here if
            the answer alone does not fit.
        least_tokens: Tokens of the shortest prompt with its answer.
        probe: From `language_models.probe.probe_request`. With it, a server that lists no models is asked all the same.
        ask: How it is sent; within a run so that it is recorded and paid from its budget. Directly by default.

    Raises:
        UnreachableError: No server.
        WrongAddressError: A web page is there.
        KeyRefusedError: No key, or the wrong one.
        ModelAbsentError: The server has no such model.
        ContextTooLongError: An answer as long as asked for cannot fit, or the server refuses the probe as too long.
        RequestRefusedError: The server or the model refuses to answer.
        BudgetExhaustedError: The budget does not cover one call.
    """
    settings = model.settings
    if ledger is not None:
        for request in requests:
            ledger.check(worst_case(settings.price, request), f"one call of {model.name!r}")
    listed = await _listed(model, optional=probe is not None)
    own = limits_in(listed)
    longest = min(filter(None, (settings.context_tokens, own)), default=None)
    for request in requests:
        if longest is not None and request.sampling.max_tokens >= longest:
            raise ContextTooLongError(
                f"model {model.name!r}: an answer of up to {request.sampling.max_tokens} tokens leaves no room for a "
                f"prompt in its context of {longest}; nothing was sent. Lower `max_tokens` or serve a longer context."
            )
    _check_context(model.name, longest, least_tokens)
    if probe is None or listed.get("enforces_schemas") is True:
        return ReadyModel(settings.model, longest)
    if longest is not None and _length(probe) >= longest:
        probe = shortened(probe)
    completion = await (ask or model.complete)(probe)
    if outcome_of(completion) == "refused":  # by chance, or always
        completion = await (ask or model.complete)(probe)
    if outcome_of(completion) == "refused":
        words = completion.refusal or completion.content or completion.finish_reason
        raise RequestRefusedError(
            f"model {model.name!r} refuses to write a sentence about rain: {words[:300]!r}. Name another `model`, or "
            "ask its provider why."
        )
    found = read_probe(probe, completion)
    model.leave_out(found.left_out)
    if own is None:
        stated = await model.context_of_server()
        longest = min(filter(None, (longest, stated, found.read_tokens)), default=None)
    _check_context(model.name, longest, least_tokens)
    return ReadyModel(settings.model, longest, found)


def _check_context(name: str, longest: int | None, least: int) -> None:
    """Refuse a context that is shorter than the shortest prompt with its answer."""
    if longest is not None and longest < least:
        raise ContextTooLongError(
            f"model {name!r}: its context holds {longest} tokens, and the shortest prompt of its roles needs about "
            f"{least} with the answer. Serve a longer context (OLLAMA_CONTEXT_LENGTH for Ollama, --ctx-size for "
            "llama.cpp, --max-model-len for vLLM), or lower `max_tokens` under [roles]."
        )


async def _listed(model: ServedModel, *, optional: bool) -> Mapping[str, Any]:
    """The entry of a model in its server's list; empty where there is no list and none is needed.

    Raises:
        LanguageModelError: There is no list although one is needed, or the model is not in it.
    """
    try:
        offered = {str(item.get("id")): item for item in await model.offered()}
    except RequestRefusedError:
        # Some providers list nothing, or take another form of the key for it; the probe shows what is wrong.
        if not optional:
            raise
        return {}
    if not offered and optional:
        return {}
    wanted, at = model.settings.model, model.settings.base_url
    name = offered_name(wanted, offered)
    if name is not None:
        return offered[name]
    near = difflib.get_close_matches(wanted, offered, n=3, cutoff=0.3) or sorted(offered)[:3]
    raise ModelAbsentError(
        f"model {model.name!r}: the server at {at} does not offer {wanted!r}; "
        f"it has {', '.join(map(repr, near)) or 'none'}. Name one of those, or serve the model."
    )


def limits_in(entry: Mapping[str, Any]) -> int | None:
    """Context length that a server's list states of a model."""
    return next(
        (value for name in _CONTEXTS if isinstance(value := entry.get(name), int) and value > 0),
        None,
    )


def shortened(probe: ModelRequest) -> ModelRequest:
    """The probe with its last words alone, for a context that is known to be shorter."""
    first, last = probe.messages
    words = last.content.rpartition("\n\n")[2]
    return probe.model_copy(
        update={"messages": (first, last.model_copy(update={"content": words}))}
    )


def _length(probe: ModelRequest) -> int:
    """Tokens of a probe and its answer, at least."""
    words = sum(len(message.content.split()) for message in probe.messages)
    return words + probe.sampling.max_tokens


def offered_name(model: str, offered: Collection[str]) -> str | None:
    """The name under which a server lists a model; None where it does not offer it.

    Providers list ``models/NAME`` for ``NAME``, or the dated version that an alias stands for; OpenRouter lists
    ``NAME`` for ``NAME:online``, Ollama ``NAME:latest`` for ``NAME``.
    """
    for name in (model, f"{model}:latest", model.partition(":")[0]):
        if name in offered:
            return name
    alias = re.compile(rf"(?:.*/)?{re.escape(model)}(?:-\d{{4}}-?\d{{2}}-?\d{{2}})?")
    return max(filter(alias.fullmatch, offered), default=None)
