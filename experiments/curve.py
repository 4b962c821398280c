"""Curves by which a field looks at its responses, such as receiver operating characteristics.

A domain computes them from shares of responses, so that observed and predicted shares are drawn alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli

Array = NDArray[Any]


@dataclass(frozen=True)
class DomainCurve:
    """Points that follow from shares of responses to trials."""

    title: str
    x: str
    """Label of the horizontal axis."""
    y: str
    lines: Mapping[str, tuple[Array, Array]]
    """``(n_points,)`` x and y of each line, by its name; NaN where nothing was answered."""
    is_square: bool = False
    """Whether both axes go from 0 to 1, with chance on the diagonal."""


@runtime_checkable
class HasCurves(Protocol):
    """A domain with curves of its field."""

    def curves(self, stimuli: Stimuli, shares: Array, weights: Array) -> Sequence[DomainCurve]:
        """Compute the curves of some responses; their lines and numbers of points depend on the trials alone.

        Args:
            stimuli: The trials.
            shares: ``(n_trials, n_options)`` share of each outcome.
            weights: ``(n_trials,)`` number of responses; 0 where there are none.
        """
