"""Limits of requests to a server: trying again, and calls in flight."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import numpy as np
from pydantic import Field

from lakatos.language_models.client import FrozenPart

Sleep = Callable[[float], Awaitable[None]]


class RetryPolicy(FrozenPart):
    """Rules by which a failed call is made again: only after a `TransientError`."""

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


class InFlight:
    """Limit of the calls that are made at once in each event loop."""

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
