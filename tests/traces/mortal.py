"""A journal whose process dies at a given write."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lakatos.traces.stores import STORES
from lakatos.traces.stores.store import EventRow


class Mortal:
    """Put before a store among the bases of a class."""

    when, deadline, n_appended = "", 0, 0

    def append(self, row: EventRow) -> None:
        with dying():
            super().append(row)

    def append_all(self, rows: Sequence[EventRow]) -> None:
        with dying():
            super().append_all(rows)


@contextmanager
def dying() -> Iterator[None]:
    """A write, around which the process dies if it is its turn."""
    Mortal.n_appended += 1
    due = Mortal.n_appended == Mortal.deadline
    if due and Mortal.when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    yield
    if due:
        os.kill(os.getpid(), signal.SIGKILL)


def die_when(words: Sequence[str]) -> None:
    """Have this process kill itself ``before`` or ``after`` its N-th append, if ``words`` say so."""
    for name, store in STORES.items():
        STORES[name] = type(store.__name__, (Mortal, store), {})
    if words:
        Mortal.when, Mortal.deadline = words[0], int(words[1])
