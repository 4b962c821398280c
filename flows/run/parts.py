"""Marks asynchronous functions as parts of a campaign, flows and tasks, which Prefect shows where it carries one.

With the engine ``none`` a marked function is what it was; see `flows.run.engine`.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import Any, Literal, ParamSpec, TypeVar

from lakatos.flows.errors import EngineError

P = ParamSpec("P")
R = TypeVar("R")
EngineName = Literal["prefect", "none"]
"""Engines that can run a pass."""
PartKind = Literal["flow", "task"]
Carrier = Callable[[PartKind, str], Callable[[], Awaitable[None]]]

DECLARED: list[tuple[PartKind, str]] = []
"""Every flow and task that was loaded, by name."""
CARRIER: ContextVar[Carrier | None] = ContextVar("carrier", default=None)
"""Makes what carries a part of a kind and name, which then runs `CALL`; None where a marked function is what it was."""
CALL: ContextVar[EngineCall] = ContextVar("call")
TITLE: ContextVar[str] = ContextVar("title", default="")


class TaskLabel(str):
    """An argument that Prefect may show in the name of a flow run or task run, as whole numbers are."""


class EngineCall:
    """One call of a decorated function on its way through Prefect, which sees neither arguments nor result."""

    def __init__(self, run: Callable[[], Awaitable[Any]], label: str) -> None:
        self.run, self.label = run, label
        self.result: Any = None
        self.error: BaseException | None = None


def flow(
    *, name: str
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Make an asynchronous function a flow: a whole that consists of tasks."""
    return _decorator("flow", name)


def task(
    *, name: str
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
    """Make an asynchronous function a task: a part of a flow."""
    return _decorator("task", name)


def _decorator(
    kind: PartKind, name: str
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
    DECLARED.append((kind, name))

    def decorate(function: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(function)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            carrier = CARRIER.get()
            if carrier is None:
                return await function(*args, **kwargs)
            words = [
                str(value) for value in (*args, *kwargs.values()) if type(value) in (int, TaskLabel)
            ]
            if CALL.get(None) is None and TITLE.get():
                words.append(TITLE.get())
            pending = EngineCall(
                functools.partial(function, *args, **kwargs), " ".join([name, *words])
            )
            token = CALL.set(pending)
            try:
                await carrier(kind, name)()
            except Exception as error:
                # Prefect may wrap what a stage raised; its caller must see the very same exception.
                if pending.error is not None:
                    raise pending.error from pending.error.__cause__
                raise EngineError(
                    f"Prefect could not run the {kind} {name!r}: {error}. Try `--engine none`."
                ) from error
            finally:
                CALL.reset(token)
            result: R = pending.result
            return result

        return call

    return decorate
