"""Progress of a sampler in words: a rough duration once it is known, and the time left now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

FIRST_SECONDS, BETWEEN_SECONDS = 5.0, 30.0
"""Seconds after which a duration is estimated, and between two statements of the time left."""


class SamplingProgress:
    """States how long sampling will take, and what is left of it."""

    def __init__(
        self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin now.

        Args:
            say: Takes each statement.
            clock: Seconds.
        """
        self._say, self._clock = say, clock
        self._begun = clock()
        self._next = self._begun + FIRST_SECONDS

    def __call__(self, n_done: int, n_all: int) -> None:
        """Sweeps done, of all."""
        now = self._clock()
        if now < self._next or not n_done:
            return
        self._next = now + BETWEEN_SECONDS
        left = (now - self._begun) / n_done * (n_all - n_done)
        self._say(f"{n_done / n_all:.0%} of sampling done, about {duration(left)} left")


def duration(seconds: float) -> str:
    """A rough duration in words."""
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"
