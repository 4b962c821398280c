"""How often and how fast a server is asked: trying again, requests and tokens per minute, calls in flight."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import numpy as np
from pydantic import Field

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.errors import RequestRefusedError

MINUTE_S: Final = 60.0

Sleep = Callable[[float], Awaitable[None]]


class RetryPolicy(FrozenPart):
    """When a call that failed is made again: only after a `TransientError`."""

    most_tries: int = Field(6, ge=1)
    first_wait_s: float = Field(0.5, ge=0)
    longest_wait_s: float = Field(30.0, ge=0)
    longest_retry_after_s: float = Field(300.0, ge=0)
    """A server that asks to wait longer is given up; the run can be resumed then."""


def wait_s(
    policy: RetryPolicy, n_tries: int, rng: np.random.Generator, retry_after_s: float | None = None
) -> float:
    """Seconds to wait after ``n_tries`` failures: exponential backoff with full jitter.

    What a server asks for is added to, never cut: those who are told the same moment shall not all come back at it.

    References:
        Brooker (2015), Exponential Backoff And Jitter, AWS Architecture Blog.
    """
    jitter = float(
        rng.uniform(0.0, min(policy.longest_wait_s, policy.first_wait_s * 2.0 ** (n_tries - 1)))
    )
    return jitter + (retry_after_s or 0.0)


class RateLimit:
    """At most so many requests and tokens in any 60 seconds; whoever comes first goes first."""

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """Limit nothing where a limit is None."""
        self._most_requests, self._most_tokens = requests_per_minute, tokens_per_minute
        self._clock, self._sleep = clock, sleep
        self._sent: deque[SentRequest] = deque()
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            weakref.WeakKeyDictionary()
        )

    def check(self, n_tokens: int) -> None:
        """Refuse a request that could never be sent.

        Raises:
            RequestRefusedError: It alone is over the limit.
        """
        if self._most_tokens is not None and n_tokens > self._most_tokens:
            raise RequestRefusedError(
                f"a request of up to {n_tokens} tokens can never be sent at {self._most_tokens} tokens per minute; "
                "ask for fewer tokens or raise `tokens_per_minute`."
            )

    async def admit(self, n_tokens: int) -> SentRequest:
        """Wait until a request of ``n_tokens`` may be sent.

        Raises:
            RequestRefusedError: It alone is over the limit.
        """
        self.check(n_tokens)
        sent = SentRequest(0.0, n_tokens)
        if self._most_requests is None and self._most_tokens is None:
            return sent
        async with self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            while (wait := self._wait_s(n_tokens)) > 0:
                await self._sleep(wait)
            sent.time_s = self._clock()
            self._sent.append(sent)
        return sent

    def _wait_s(self, n_tokens: int) -> float:
        now = self._clock()
        while self._sent and self._sent[0].time_s <= now - MINUTE_S:
            self._sent.popleft()
        free_requests = (
            None if self._most_requests is None else self._most_requests - len(self._sent)
        )
        free_tokens = (
            None
            if self._most_tokens is None
            else self._most_tokens - sum(s.n_tokens for s in self._sent)
        )
        for sent in (None, *self._sent):
            if sent is not None:
                free_requests = None if free_requests is None else free_requests + 1
                free_tokens = None if free_tokens is None else free_tokens + sent.n_tokens
            if (free_requests is None or free_requests >= 1) and (
                free_tokens is None or free_tokens >= n_tokens
            ):
                # A little over, or rounding would make it wait for nothing again and again.
                return 0.0 if sent is None else max(1e-6, sent.time_s + MINUTE_S - now + 1e-9)
        raise AssertionError(
            "an empty minute admits every request that is not over the limit alone"
        )


class SentRequest:
    """One request of the last minute; ``n_tokens`` may be corrected once it is known."""

    __slots__ = ("n_tokens", "time_s")

    def __init__(self, time_s: float, n_tokens: int) -> None:
        self.time_s, self.n_tokens = time_s, n_tokens


class InFlight:
    """At most so many calls at once in each event loop."""

    def __init__(self, most: int) -> None:
        """Admit at most ``most`` requests at once."""
        self._most = most
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        async with self._loops.setdefault(
            asyncio.get_running_loop(), asyncio.Semaphore(self._most)
        ):
            yield
