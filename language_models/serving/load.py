"""Calls to a server, timed: the first token, all of them, and many at a time."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np

from lakatos.language_models.client import ModelRequest
from lakatos.language_models.clients.openai import body_of_request
from lakatos.language_models.serving.metrics import ServerMetrics, read_metrics
from lakatos.language_models.settings import ModelSettings


@dataclass(frozen=True)
class TimedCall:
    """One call as the one who asked saw it."""

    first_token_s: float
    total_s: float
    n_tokens: int
    """Tokens of the answer; 0 where the server does not state them."""
    n_prompt_tokens: int
    n_cached_tokens: int
    error: str = ""
    """Error that the server sent instead of an answer."""


def http_client(settings: ModelSettings, n_connections: int = 128) -> httpx.AsyncClient:
    """A bare client for measuring, past any proxy."""
    key = os.environ.get(settings.key_variable, "") if settings.key_variable else ""
    return httpx.AsyncClient(
        timeout=settings.timeout_s,
        trust_env=False,
        limits=httpx.Limits(max_connections=n_connections, max_keepalive_connections=n_connections),
        headers={"authorization": f"Bearer {key}"} if key else {},
    )


def body_of(settings: ModelSettings, request: ModelRequest) -> dict[str, Any]:
    """A request as it goes over the line."""
    body = body_of_request(settings, request, settings.without)
    further: dict[str, Any] = body.pop("extra_body", {})
    return body | further


async def time_call(
    client: httpx.AsyncClient, settings: ModelSettings, request: ModelRequest
) -> TimedCall:
    """Ask once and read the answer as it is written."""
    body = body_of(settings, request) | {"stream": True, "stream_options": {"include_usage": True}}
    usage: dict[str, Any] = {}
    begun, first = time.perf_counter(), 0.0
    url = f"{settings.base_url.rstrip('/')}/chat/completions"
    try:
        async with client.stream("POST", url, json=body) as response:
            if response.status_code != 200:
                reply = (await response.aread()).decode("utf-8", "replace")[:300]
                return TimedCall(
                    0.0, time.perf_counter() - begun, 0, 0, 0, f"{response.status_code}: {reply}"
                )
            async for line in response.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                chunk = json.loads(line[6:])
                if "error" in chunk:
                    return TimedCall(
                        0.0, time.perf_counter() - begun, 0, 0, 0, str(chunk["error"])[:300]
                    )
                usage = chunk.get("usage") or usage
                deltas = [choice.get("delta", {}) for choice in chunk.get("choices", ())]
                if not first and any(
                    delta.get("content") or delta.get("tool_calls") for delta in deltas
                ):
                    first = time.perf_counter() - begun
    except (httpx.HTTPError, ValueError) as error:
        return TimedCall(
            0.0, time.perf_counter() - begun, 0, 0, 0, f"{type(error).__name__}: {error}"
        )
    total = time.perf_counter() - begun
    return TimedCall(
        first or total,
        total,
        usage.get("completion_tokens", 0),
        usage.get("prompt_tokens", 0),
        (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
    )


async def time_calls(
    client: httpx.AsyncClient,
    settings: ModelSettings,
    requests: Sequence[ModelRequest],
    n_in_flight: int,
    watch: Callable[[ServerMetrics], None] | None = None,
    watch_every_s: float = 0.1,
) -> tuple[list[TimedCall], float]:
    """Ask all, so many at a time.

    Args:
        client: Client from `http_client`.
        settings: Settings of the model.
        requests: Requests in the order in which they are begun.
        n_in_flight: Asked at the same time.
        watch: Told the server's metrics while calls are in flight.
        watch_every_s: Seconds between two looks.

    Returns:
        Each call, and seconds for all.
    """
    free = asyncio.Semaphore(n_in_flight)

    async def one(request: ModelRequest) -> TimedCall:
        async with free:
            return await time_call(client, settings, request)

    async def look() -> None:
        while watch is not None:
            if seen := await read_metrics(settings.base_url, client):
                watch(seen)
            await asyncio.sleep(watch_every_s)

    looking = asyncio.create_task(look())
    begun = time.perf_counter()
    try:
        found = await asyncio.gather(*map(one, requests))
    finally:
        looking.cancel()
    return list(found), time.perf_counter() - begun


def variants(request: ModelRequest, n: int) -> list[ModelRequest]:
    """The same request under ``n`` seeds."""
    return [
        request.model_copy(update={"seed": request.seed + 1000 * number}) for number in range(n)
    ]


def quantiles_s(
    values: Sequence[float], shares: Sequence[float] = (0.5, 0.99)
) -> tuple[float, ...]:
    """Quantiles of times, linear between order statistics; NaN where there is none."""
    if not values:
        return tuple(float("nan") for _ in shares)
    return tuple(float(value) for value in np.quantile(np.asarray(values), list(shares)))
