"""A limit on how long each call of a researcher's own domain may take, so that a loop ends with words and not never.

Calls run in the thread that makes them, where they are as fast as ever. One thread more looks twice a second whether
one of them takes too long, and raises an exception in its thread, which Python delivers between two of its statements;
a single call of a compiled library is therefore not cut short, only what comes after it.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lakatos.experiments.errors import TaskFileError

LONGEST_CALL_S = 60.0
"""Maximum seconds of one call of a function of a domain in Python."""
LOOKS_EVERY_S = 0.5
AGAIN_S = 5.0
"""Seconds until another exception is sent to a call that caught the exception."""


class DomainLoops(BaseException):
    """A call of a domain took too long."""


@dataclass(eq=False)
class WatchedCall:
    """A call that has not ended yet."""

    thread: int
    until: float
    is_late: bool = False


class CallWatch:
    """Looks after the calls of all domains in this process."""

    def __init__(self) -> None:
        self._calls: list[WatchedCall] = []
        """Running calls in the order in which they began."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self, seconds: float) -> WatchedCall:
        """Watch a call of this thread."""
        call = WatchedCall(threading.get_ident(), time.monotonic() + seconds)
        with self._lock:
            self._calls.append(call)
            # A process that was forked has the calls but not the thread.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._look, name="domains", daemon=True)
                self._thread.start()
        return call

    def end(self, call: WatchedCall, *, was_cut: bool) -> None:
        """Watch a call no more; an exception that is on its way to one that was not cut arrives here."""
        with self._lock:
            self._calls.remove(call)
        while call.is_late and not was_cut:
            time.sleep(0.01)

    def _look(self) -> None:
        while True:
            time.sleep(LOOKS_EVERY_S)
            with self._lock:
                if not self._calls:
                    self._thread = None
                    return
                # Of functions that call one another, the innermost is the one that loops.
                for call in {item.thread: item for item in self._calls}.values():
                    if time.monotonic() > call.until:
                        call.is_late = True
                        call.until = time.monotonic() + AGAIN_S
                        thread = ctypes.c_ulong(call.thread)
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(
                            thread, ctypes.py_object(DomainLoops)
                        )


_watch = CallWatch()


def bounded(function: Callable[..., Any], name: str, where: str) -> Callable[..., Any]:
    """A function that is given up when it takes too long.

    Args:
        function: Function of a domain.
        name: What the domain calls it.
        where: The file.

    Raises:
        TaskFileError: By the function that is returned; it says which function looped, and what to do.
    """

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        watched, was_cut = _watch.begin(LONGEST_CALL_S), False
        try:
            try:
                return function(*given, **named)
            except DomainLoops:
                was_cut = True
                raise
            finally:
                _watch.end(watched, was_cut=was_cut)
        except DomainLoops:
            raise TaskFileError(
                f"the domain {where}: {name} had not ended after {LONGEST_CALL_S:g} s: it loops, or does too much. "
                f"Make {name} shorter, or its space smaller; a function of a domain is called many times."
            ) from None

    return call
