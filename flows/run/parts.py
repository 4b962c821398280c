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
"""What can carry a pass."""

DECLARED: list[tuple[Literal["flow", "task"], str]] = []
"""Every flow and task that was loaded, by name."""
LATE: list[str] = []
"""Places of what is loaded when a run comes to it, or before it begins where Prefect carries it."""
ENGINE: ContextVar[EngineName] = ContextVar("engine", default="none")
CALL: ContextVar[EngineCall] = ContextVar("call")
TITLE: ContextVar[str] = ContextVar("title", default="")
TAKE_SIGNALS: ContextVar[Callable[[], None]] = ContextVar("take_signals")
"""Takes Ctrl-C and SIGTERM back from Prefect, which takes them whenever a flow begins."""


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
    kind: Literal["flow", "task"], name: str
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Coroutine[Any, Any, R]]]:
    DECLARED.append((kind, name))

    def decorate(function: Callable[P, Awaitable[R]]) -> Callable[P, Coroutine[Any, Any, R]]:
        @functools.wraps(function)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if ENGINE.get() == "none":
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
                await prefect_object(kind, name)()
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


@functools.cache
def prefect_object(kind: Literal["flow", "task"], name: str) -> Callable[[], Awaitable[None]]:
    """The flow or task of that name that Prefect is given; what it does is looked up when it is called."""
    import prefect
    from prefect.cache_policies import NO_CACHE

    def label() -> str:
        return CALL.get().label

    async def body() -> None:
        call = CALL.get()
        if kind == "flow":
            TAKE_SIGNALS.get()()
        try:
            call.result = await call.run()
        except Exception as error:
            call.error = error
            # Prefect pickles what a flow raises, with everything that hangs on it; words are enough.
            raise RuntimeError(f"{type(error).__name__}: {error}") from None

    if kind == "flow":
        return prefect.flow(
            name=name,
            flow_run_name=label,
            retries=0,
            persist_result=False,
            validate_parameters=False,
            log_prints=False,
        )(body)
    return prefect.task(
        name=name,
        task_run_name=label,
        retries=0,
        persist_result=False,
        cache_policy=NO_CACHE,
        log_prints=False,
    )(body)
