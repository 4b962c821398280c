"""Progress of induction, for display: steps towards a language of rules, then fits of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

InductionReport: TypeAlias = Callable[[str, int, int, float, float], None]
"""Hears what is counted, how many are done, how many there will be, nats per choice of the best theory so far (minus
infinity where there is none), and which share of the work is done."""


@dataclass
class InductionPace:
    """Counts steps as they are done, and tells each."""

    what: str
    """Kind of steps that are counted, in words."""
    work: Sequence[float]
    """Duration of each step in their order, roughly, relative to the others."""
    told: InductionReport | None = None
    n_done: int = 0
    best: float = -np.inf
    """Criterion of the best theory so far, nats per choice."""

    def step(self) -> None:
        """One more is done."""
        self.go_to(self.n_done + 1)

    def go_to(self, n_done: int) -> None:
        """Set the number of steps that are done, or need not be."""
        self.n_done = n_done
        if self.told is not None:
            share = sum(self.work[:n_done]) / sum(self.work)
            self.told(self.what, n_done, len(self.work), self.best, share)

    def find(self, criterion: float) -> None:
        """A theory was found."""
        self.best = max(self.best, criterion)
