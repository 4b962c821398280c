"""What tasks declare of the outcomes that follow a choice, for theories, pages and tables that read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


@runtime_checkable
class HasOutcomes(Protocol):
    """A domain whose outcomes have a declared range, a unit, and names."""

    options: tuple[str, ...]

    @property
    def outcome_names(self) -> tuple[str, ...]:
        """What follows a choice, as columns of tables are called; ``reward`` is the first."""

    @property
    def outcome_range(self) -> tuple[float, float]:
        """Lowest and highest outcome that there can be."""

    @property
    def win_above(self) -> float:
        """An outcome is a gain above this number."""

    def told_after(self, feedback: Mapping[str, float]) -> str:
        """What people read of an outcome."""

    def attribute_labels(self) -> Mapping[str, str]:
        """What each attribute of the options is, for people to read."""

    def attribute_words(self) -> Mapping[str, tuple[str, ...]]:
        """The words of attributes that are categories."""

    def cue_codes(self) -> Mapping[str, str]:
        """What theories call each thing that options are compared by, by its code."""

    def cue_values(self, stimuli: Stimuli) -> list[Array]:
        """``(n_trials, n_options)`` of each of these things."""
