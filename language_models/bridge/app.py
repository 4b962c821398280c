"""The bridge's pages: the OpenAI protocol in front, a folder of questions and answers behind."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from lakatos.language_models.bridge.folder import BridgeAnswer, BridgeFolderError, QuestionFolder
from lakatos.language_models.client import FrozenPart
from lakatos.language_models.context import count_tokens

MOST_BODY_BYTES: Final = 8_000_000
POLL_S: Final = 0.1


class BridgeSettings(FrozenPart):
    """Self-description of the bridge, and how long a request waits."""

    model: str = "bridge"
    who: str = Field("somebody", max_length=80)
    """Name of the one who answers, which is recorded with each answer."""
    context_tokens: int = Field(65_536, ge=1024)
    wait_s: float = Field(240.0, gt=0)
    """Seconds after which a request must come again; shorter than the client waits (300 s unless a study sets another
    time)."""


def create_bridge(folder: QuestionFolder, settings: BridgeSettings | None = None) -> FastAPI:
    """Make a server that speaks the OpenAI protocol and whose answers somebody writes into a folder."""
    settings = settings or BridgeSettings()
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    @app.get("/health")
    async def health() -> Response:
        return Response()

    @app.get("/v1/models")
    async def models() -> Response:
        entry = {
            "id": settings.model,
            "object": "model",
            "owned_by": settings.who,
            "max_model_len": settings.context_tokens,
            "enforces_schemas": True,  # so that nobody has to answer a probe
        }
        return JSONResponse({"object": "list", "data": [entry]})

    @app.post("/v1/chat/completions")
    async def chat(request: Request) -> Response:
        try:
            body = _checked(await request.body(), settings)
            name = await asyncio.to_thread(folder.put, body)
        except BridgeFolderError as error:
            return _refused(400, str(error))
        ends = time.monotonic() + settings.wait_s
        while (found := await asyncio.to_thread(folder.answer, name)) is None:
            if await request.is_disconnected():
                return Response(status_code=499)
            if time.monotonic() > ends:
                # 429 says "come again" and costs nothing; the question stays.
                return _refused(
                    429,
                    f"nobody has answered question {name} within {settings.wait_s:g} s; it stays in {folder.folder}.",
                )
            await asyncio.sleep(POLL_S)
        return JSONResponse(_reply(body, name, found, settings))

    return app


def _checked(data: bytes, settings: BridgeSettings) -> dict[str, Any]:
    """A request that can be put into the folder.

    Raises:
        BridgeFolderError: It is too long, no request, of another model, or wants what files cannot give.
    """
    if len(data) > MOST_BODY_BYTES:
        raise BridgeFolderError(f"the request has {len(data)} bytes; at most {MOST_BODY_BYTES}.")
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise BridgeFolderError("the request is no JSON object with `messages`.")
    if body.get("model") != settings.model:
        raise BridgeFolderError(
            f"there is no model {body.get('model')!r} here, only {settings.model!r}."
        )
    for name in ("stream", "logprobs"):
        if body.get(name):
            raise BridgeFolderError(f"the bridge has no `{name}`; leave it out of the study file.")
    prompt = count_tokens(json.dumps(body["messages"], ensure_ascii=False))
    if prompt >= 2 * settings.context_tokens:
        raise BridgeFolderError(
            f"the prompt has about {prompt} tokens, more than the context length of {settings.context_tokens}."
        )
    return body


def _reply(
    body: Mapping[str, Any], name: str, answer: BridgeAnswer, settings: BridgeSettings
) -> dict[str, Any]:
    """The answer in the form of the protocol; tokens are counted roughly, on the safe side."""
    calls: list[dict[str, Any]] = [
        {
            "id": f"{name}-{place}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for place, (tool, arguments) in enumerate(answer.tool_calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": answer.content or None}
    if calls:
        message["tool_calls"] = calls
    written = count_tokens(answer.content) + count_tokens(json.dumps(answer.tool_calls))
    prompt = count_tokens(json.dumps(body["messages"], ensure_ascii=False))
    return {
        "id": f"bridge-{name}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": settings.model,
        "system_fingerprint": f"bridge: {settings.who}",
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": written,
            "total_tokens": prompt + written,
        },
    }


def _refused(status: int, message: str) -> JSONResponse:
    kind = "RateLimitError" if status == 429 else "BadRequestError"
    response = JSONResponse(
        {"error": {"message": message, "type": kind, "param": None, "code": status}},
        status_code=status,
    )
    if status == 429:
        response.headers["retry-after"] = "1"
    return response
