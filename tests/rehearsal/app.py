"""The rehearsal's pages: what vLLM serves under ``/v1``, with its shapes and its words for errors.

A fault is drawn by `ServerMisbehaviour`, or asked for in a single request by the field ``rehearsal`` of its body:
``extra={"rehearsal": "refusal"}``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.probe import SYSTEM
from lakatos.traces.digest import digest_of
from tests.rehearsal.fault import FAULTS, INJECTION, Fault, ServerMisbehaviour
from tests.rehearsal.nonsense import (
    UnsupportedSchemaError,
    as_text,
    check_supported,
    instance_of,
    log_probabilities,
    sentence,
    tokens_of,
    wrong_instance,
)

Answer = Callable[
    [Mapping[str, Any], np.random.Generator], str | Sequence[tuple[str, Mapping[str, Any]]] | None
]
"""Given the body of a request, what to write: a text, or calls of tools by name and arguments; None for chance."""

_BLOCK: Final = 16
"""Tokens that are cached together."""
_MOST_ALTERNATIVES: Final = 20


class RehearsalSettings(FrozenPart):
    """What the rehearsal pretends to be: model, key, length of context, faults."""

    model: str = "rehearsal"
    key: str = ""
    """Key that is wanted; empty for none. Not a secret: nothing is behind it."""
    context_tokens: int = 8192
    version: str = "0.32.0"
    seed: int = 0
    misbehaviour: ServerMisbehaviour = ServerMisbehaviour()
    token_s: float = 0.0
    """Time that each token of an answer takes."""
    overhead_s: float = 0.0
    """Time that each answer takes besides."""


class _RehearsalState:
    """What a server keeps between requests."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.cached: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.running = 0
        self.most_running = 0


def create_app(settings: RehearsalSettings | None = None, answer: Answer | None = None) -> FastAPI:
    """Make a server that speaks the OpenAI protocol and has no model.

    Args:
        settings: What is pretended.
        answer: Writes the content of answers where it knows better than chance, for instance by role.
    """
    settings = settings or RehearsalSettings()
    state = _RehearsalState()
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.rehearsal = state
    fingerprint = f"vllm-{settings.version}-{digest_of([settings.model, settings.context_tokens, settings.seed])[:8]}"

    @app.get("/health")
    async def health() -> Response:
        return Response()

    @app.get("/version")
    async def version() -> Response:
        return JSONResponse({"version": settings.version})

    @app.get("/metrics")
    async def metrics() -> Response:
        label = f'{{engine="0",model_name="{settings.model}"}}'
        values = {
            "vllm:num_requests_running": ("gauge", state.running),
            "vllm:num_requests_waiting": ("gauge", 0),
            "vllm:prefix_cache_queries_total": ("counter", state.counts["queried"]),
            "vllm:prefix_cache_hits_total": ("counter", state.counts["hit"]),
            "vllm:prompt_tokens_total": ("counter", state.counts["prompt"]),
            "vllm:generation_tokens_total": ("counter", state.counts["generated"]),
        }
        lines = []
        for name, (kind, value) in values.items():
            lines += [f"# TYPE {name} {kind}", f"{name}{label} {float(value)}"]
        return PlainTextResponse("\n".join(lines) + "\n")

    @app.get("/v1/models")
    async def models(request: Request) -> Response:
        if (refused := _refused_key(request, settings)) is not None:
            return refused
        entry = {
            "id": settings.model,
            "object": "model",
            "created": int(time.time()),
            "owned_by": "vllm",
            "root": settings.model,
            "parent": None,
            "max_model_len": settings.context_tokens,
            "permission": [],
        }
        return JSONResponse({"object": "list", "data": [entry]})

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        if (refused := _refused_key(request, settings)) is not None:
            return refused
        try:
            body = json.loads(await request.body())
            if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
                raise ValueError("messages: Field required")
        except ValueError as error:
            return _error(400, "BadRequestError", f"1 validation error: {error}")
        state.running += 1
        state.most_running = max(state.most_running, state.running)
        try:
            return await _chat(body, settings, state, answer, fingerprint)
        finally:
            state.running -= 1

    @app.post("/v1/completions")
    async def completions(request: Request) -> Response:
        if (refused := _refused_key(request, settings)) is not None:
            return refused
        body = json.loads(await request.body())
        if body.get("model") != settings.model:
            return _error(
                404,
                "NotFoundError",
                f"The model `{body.get('model')}` does not exist.",
                param="model",
            )
        return JSONResponse(_echoed(body, settings, fingerprint))

    return app


def _echoed(
    body: Mapping[str, Any], settings: RehearsalSettings, fingerprint: str
) -> dict[str, Any]:
    """Log probabilities of a text; those of a token depend on what is before it and on the model, as they should."""
    tokens = tokens_of(str(body["prompt"]))
    logs: list[float | None] = [None]
    for place in range(1, len(tokens)):
        before = digest_of([settings.model, settings.seed, tokens[max(0, place - 8) : place + 1]])
        logs.append(-float(np.random.default_rng(int(before, 16)).exponential(2.0)))
    offsets = np.cumsum([0, *map(len, tokens)])[:-1].tolist()
    usage = {"prompt_tokens": len(tokens), "completion_tokens": 1, "total_tokens": len(tokens) + 1}
    scored = {
        "tokens": [*tokens, "."],
        "token_logprobs": [*logs, -1.0],
        "text_offset": [*offsets, len(body["prompt"])],
    }
    top = [
        None,
        *({token: log} for token, log in zip(tokens[1:], logs[1:], strict=True)),
        {".": -1.0},
    ]
    choice = {
        "index": 0,
        "text": f"{body['prompt']}.",
        "logprobs": scored | {"top_logprobs": top},
        "finish_reason": "length",
        "stop_reason": None,
    }
    return {
        "id": "cmpl-0",
        "object": "text_completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [choice],
        "system_fingerprint": fingerprint,
        "usage": usage,
    }


async def _chat(
    body: dict[str, Any],
    settings: RehearsalSettings,
    state: _RehearsalState,
    answer: Answer | None,
    fingerprint: str,
) -> Response:
    """Answer one request, or fail as the fault that was drawn for it does."""
    if body.get("model") != settings.model:
        return _error(
            404, "NotFoundError", f"The model `{body.get('model')}` does not exist.", param="model"
        )
    asked_fault = body.pop("rehearsal", None)
    digest = digest_of(
        {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
    )
    fault: Fault | None = (
        asked_fault
        if asked_fault in FAULTS
        else settings.misbehaviour.drawn(digest_of([digest]), state.seen[digest])
    )
    state.seen[digest] += 1
    if fault == "slow":
        await asyncio.sleep(settings.misbehaviour.slow_s)
    if (failed := _failed(fault, settings.misbehaviour)) is not None:
        return failed
    prompt = tokens_of(json.dumps([body["messages"], body.get("tools") or []], ensure_ascii=False))
    if (refused := _refused_request(body, len(prompt), settings)) is not None:
        return refused
    rng = np.random.default_rng(np.random.SeedSequence(int(digest_of([settings.seed, digest]), 16)))
    schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
    try:
        _check_schemas(schema, body)
        written = _written(body, schema, rng, fault, answer)
    except UnsupportedSchemaError as error:
        return _error(
            400,
            "BadRequestError",
            f"The provided JSON schema contains features not supported by xgrammar ({error}).",
        )
    cached, most = _cached(prompt, state), _most_tokens(body, len(prompt), settings)
    reply = _reply(body, written, rng, fault, fingerprint, len(prompt), cached, most)
    n_written = reply["usage"]["completion_tokens"]
    state.counts.update(queried=len(prompt), hit=cached, prompt=len(prompt), generated=n_written)
    if (pause := settings.overhead_s + settings.token_s * n_written) > 0:
        await asyncio.sleep(pause)
    return _sent(reply, fault, stream=bool(body.get("stream")))


def _failed(fault: Fault | None, misbehaviour: ServerMisbehaviour) -> Response | None:
    """What a server says that fails before it reads the request; None if it does not."""
    match fault:
        case "too_many_requests":
            said = _error(429, "RateLimitError", "Too many requests; slow down.")
            said.headers["retry-after"] = str(misbehaviour.retry_after_s)
            return said
        case "server_error":
            return _error(
                500, "InternalServerError", "EngineCore encountered an issue. See stack trace."
            )
        case "unavailable":
            return _error(503, "ServiceUnavailableError", "The server is loading.")
        case "not_json":
            return PlainTextResponse(
                "<html><body>502 Bad Gateway</body></html>", media_type="text/html"
            )
        case "no_choices":
            return JSONResponse({"id": "chatcmpl-0", "object": "chat.completion", "choices": []})
    return None


def _refused_request(
    body: Mapping[str, Any], n_prompt: int, settings: RehearsalSettings
) -> Response | None:
    """What a server says to a request that asks for more than there is; None if it does not."""
    if n_prompt >= settings.context_tokens:
        return _error(
            400,
            "BadRequestError",
            f"This model's maximum context length is {settings.context_tokens} tokens. However, your prompt contains "
            f"{n_prompt} input tokens. Please reduce the length of the input prompt.",
        )
    if (body.get("top_logprobs") or 0) > _MOST_ALTERNATIVES:
        return _error(
            400,
            "BadRequestError",
            f"Requested sample logprobs of {body['top_logprobs']}, which is greater than max allowed: "
            f"{_MOST_ALTERNATIVES}",
        )
    return None


def _most_tokens(body: Mapping[str, Any], n_prompt: int, settings: RehearsalSettings) -> int:
    """Tokens that an answer may have; a request for more than there is room for is not refused."""
    wanted = body.get("max_tokens") or body.get("max_completion_tokens")
    room = settings.context_tokens - n_prompt
    return room if wanted is None else min(wanted, room)


def _check_schemas(schema: Mapping[str, Any] | None, body: Mapping[str, Any]) -> None:
    """Refuse schemas of answers and tools that vLLM cannot enforce."""
    check_supported(schema)
    for tool in body.get("tools") or ():
        check_supported(tool["function"].get("parameters") or {})


def _sent(reply: dict[str, Any], fault: Fault | None, *, stream: bool) -> Response:
    """A reply as it is sent: whole, in pieces, or cut off."""
    if fault == "no_usage":
        del reply["usage"]
    if stream:
        return StreamingResponse(
            _events(reply, cut=fault in ("dropped", "cut_body")), media_type="text/event-stream"
        )
    if fault == "dropped":
        return StreamingResponse(_broken(json.dumps(reply).encode()), media_type="application/json")
    if fault == "cut_body":
        text = json.dumps(reply)
        return Response(text[: len(text) // 2], media_type="application/json")
    return JSONResponse(reply)


def _written(
    body: Mapping[str, Any],
    schema: Mapping[str, Any] | None,
    rng: np.random.Generator,
    fault: Fault | None,
    answer: Answer | None,
) -> dict[str, Any]:
    """The message: content, refusal and tool calls."""
    tools, choice = body.get("tools") or [], body.get("tool_choice", "auto")
    calls: list[dict[str, Any]] = []
    probed = body["messages"][0]["content"] == SYSTEM  # answered by chance, whatever the model
    said = answer(body, rng) if answer is not None and not probed else None
    content = said if isinstance(said, str) else None
    if said is not None and not isinstance(said, str):
        calls = [_call(name, as_text(arguments), rng) for name, arguments in said]
    elif (
        tools
        and choice != "none"
        and (choice != "auto" or (content is None and rng.random() < 0.5))
    ):
        function = tools[int(rng.integers(len(tools)))]["function"]
        name = "launch_rocket" if fault == "invented_tool" else function["name"]
        arguments = as_text(instance_of(function.get("parameters") or {"type": "object"}, rng))
        if fault == "malformed_arguments":
            arguments = arguments[: max(1, len(arguments) // 2)]
        calls.append(_call(name, arguments, rng))
        content = None
    elif content is None:
        content = (
            as_text(instance_of(schema, rng)) if schema else sentence(rng, int(rng.integers(8, 40)))
        )
    match fault:
        case "malformed_json" if content is not None:
            content = content[: max(1, len(content) * 2 // 3)] + ', "unclosed: '
        case "wrong_schema" if schema is not None:
            content = as_text(wrong_instance(schema, rng))
        case "repetition":
            content, calls = sentence(rng, int(rng.integers(1, 6))) + " ", []
        case "refusal":
            return {
                "content": None,
                "refusal": "I'm sorry, but I can't help with that.",
                "tool_calls": [],
            }
        case "empty":
            content, calls = "", []
        case "injection":
            schema_text = as_text(_injected(instance_of(schema, rng))) if schema else None
            content, calls = schema_text or f"{content or ''} {INJECTION}", []
    return {"content": content, "refusal": None, "tool_calls": calls}


def _call(name: str, arguments: str, rng: np.random.Generator) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": f"chatcmpl-tool-{_hex(rng)}", "type": "function", "function": function}


def _injected(value: Any) -> Any:
    """The same value with the attack in every text of it."""
    if isinstance(value, str):
        return f"{value} {INJECTION}"
    if isinstance(value, dict):
        return {name: _injected(inner) for name, inner in value.items()}
    return [_injected(inner) for inner in value] if isinstance(value, list) else value


def _reply(
    body: Mapping[str, Any],
    written: Mapping[str, Any],
    rng: np.random.Generator,
    fault: Fault | None,
    fingerprint: str,
    n_prompt: int,
    n_cached: int,
    most: int,
) -> dict[str, Any]:
    content, calls = written["content"], written["tool_calls"]
    tokens = tokens_of(content if content is not None else "".join(map(_call_text, calls)))
    if fault == "repetition":
        tokens = (tokens * (most // max(1, len(tokens)) + 1))[: most + 1]
    if fault == "truncated":
        most = min(most, max(1, len(tokens) // 2))
    stop = body.get("stop") or []
    reason: str = "tool_calls" if calls else "stop"
    if len(tokens) > most:
        tokens, reason = tokens[:most], "length"
        if calls:  # what is cut off is not read as a call
            content, calls = "", []
    if content is not None:
        content = "".join(tokens)
        for sign in [stop] if isinstance(stop, str) else stop:
            if sign in content:
                content, reason = content.split(sign)[0], "stop"
                tokens = tokens_of(content)
    n_alternatives = int(body.get("top_logprobs") or 0)
    logprobs = (
        {"content": list(log_probabilities(tokens, rng, n_alternatives))}
        if body.get("logprobs")
        else None
    )
    message = {
        "role": "assistant",
        "content": content,
        "refusal": written["refusal"],
        "annotations": None,
        "audio": None,
        "function_call": None,
        "tool_calls": calls,
        "reasoning": None,
    }
    # The token that ends an answer counts, but is not shown.
    n_written = len(tokens) + (reason == "stop")
    return {
        "id": f"chatcmpl-{_hex(rng)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": logprobs,
                "finish_reason": reason,
                "stop_reason": None,
                "token_ids": None,
            }
        ],
        "service_tier": None,
        "system_fingerprint": fingerprint,
        "usage": {
            "prompt_tokens": n_prompt,
            "total_tokens": n_prompt + n_written,
            "completion_tokens": n_written,
            "prompt_tokens_details": {"cached_tokens": n_cached},
        },
        "prompt_logprobs": None,
        "prompt_token_ids": None,
        "kv_transfer_params": None,
    }


def _call_text(call: Mapping[str, Any]) -> str:
    """A call as the model writes it, before the server reads it."""
    function = call["function"]
    name = json.dumps(function["name"])
    return f'<tool_call>\n{{"name": {name}, "arguments": {function["arguments"]}}}\n</tool_call>'


def _cached(prompt: list[str], state: _RehearsalState) -> int:
    """Tokens at the start of a prompt, in whole blocks, that an earlier one had; remembers this one."""
    n_cached, hashed = 0, hashlib.sha256()
    for start in range(0, len(prompt) - _BLOCK + 1, _BLOCK):
        hashed.update("".join(prompt[start : start + _BLOCK]).encode())
        name = hashed.hexdigest()
        if name in state.cached and n_cached == start:
            n_cached += _BLOCK
        state.cached.add(name)
    return n_cached


async def _events(reply: dict[str, Any], *, cut: bool) -> AsyncIterator[bytes]:
    """The same reply in pieces, as vLLM streams it."""
    choice = reply["choices"][0]
    message = choice["message"]
    head = {name: reply[name] for name in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"

    def event(delta: dict[str, Any], reason: str | None = None, logprobs: Any = None) -> bytes:
        piece = {"index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": reason}
        return b"data: " + json.dumps(head | {"choices": [piece]}).encode() + b"\n\n"

    yield event({"role": "assistant", "content": ""})
    content = message["content"]
    pieces = tokens_of(content) if content else []
    tokens = choice["logprobs"]["content"] if choice["logprobs"] else []
    for place, token in enumerate(pieces):
        if cut and place >= len(pieces) // 2:
            raise ConnectionError("the rehearsal hangs up")
        yield event(
            {"content": token}, logprobs={"content": tokens[place : place + 1]} if tokens else None
        )
    if message["refusal"]:
        yield event({"refusal": message["refusal"]})
    for place, call in enumerate(message["tool_calls"]):
        yield event(
            {
                "tool_calls": [
                    {"index": place} | call | {"function": {"name": call["function"]["name"]}}
                ]
            }
        )
        arguments = _as_it_came(call["function"]["arguments"])
        for start in range(0, len(arguments), 8):
            part = arguments[start : start + 8]
            yield event({"tool_calls": [{"index": place, "function": {"arguments": part}}]})
    if cut:
        raise ConnectionError("the rehearsal hangs up")
    yield event({}, choice["finish_reason"])
    if "usage" in reply:
        yield (
            b"data: "
            + json.dumps(head | {"choices": [], "usage": reply["usage"]}).encode()
            + b"\n\n"
        )
    yield b"data: [DONE]\n\n"


def _as_it_came(arguments: str) -> str:
    """Arguments with blanks where the grammar allows them: streams pass on what whole answers write anew."""
    try:
        return json.dumps(
            json.loads(arguments, strict=False), separators=(" , ", " : "), ensure_ascii=False
        )
    except ValueError:
        return arguments


async def _broken(data: bytes) -> AsyncIterator[bytes]:
    yield data[: len(data) // 2]
    raise ConnectionError("the rehearsal hangs up")


def _refused_key(request: Request, settings: RehearsalSettings) -> Response | None:
    if settings.key and request.headers.get("authorization") != f"Bearer {settings.key}":
        return JSONResponse({"error": "Unauthorized"}, status_code=401)
    return None


def _error(status: int, kind: str, message: str, param: str | None = None) -> JSONResponse:
    return JSONResponse(
        {"error": {"message": message, "type": kind, "param": param, "code": status}},
        status_code=status,
    )


def _hex(rng: np.random.Generator) -> str:
    return rng.bytes(16).hex()
