"""Progress of long commands: the remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable

from lakatos.flows.run.console import Console
from lakatos.flows.run.progress import duration

SILENT_S = 10.0
"""Seconds between two lines, and before the first."""


class TimeLeft:
    """Progress of equal pieces of work, printed to standard error with the remaining time."""

    def __init__(self, what: str, n_pieces: int, now: Callable[[], float] = time.monotonic) -> None:
        """Start the clock.

        Args:
            what: Description of the finished pieces, such as "theories fitted".
            n_pieces: Number of pieces.
            now: Clock, in seconds.
        """
        self._what, self._n_pieces, self._now = what, n_pieces, now
        self._begun = self._printed = now()
        self._n_done = 0

    def __call__(self) -> None:
        """Count one more finished piece."""
        self._n_done += 1
        seconds, n_left = self._now(), self._n_pieces - self._n_done
        if not n_left or seconds - self._printed < SILENT_S:
            return
        self._printed = seconds
        left = (seconds - self._begun) / self._n_done * n_left
        Console(stderr=True, soft_wrap=True).print(
            f"{self._what}: {self._n_done} of {self._n_pieces}, about {duration(left)} left",
            highlight=False,
        )
