"""What tasks share in which a key is pressed as fast as possible and one of the keys is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.answer_scale import AnswerScale, timed
from lakatos.experiments.curve import DomainCurve
from lakatos.experiments.errors import StimuliError, TrialsError
from lakatos.experiments.task import OneShot, Stimuli

Array = NDArray[Any]
OPTIONS = ("right", "wrong")
NARROWEST = 2.0
"""Times its beginning that a window of times must end at least."""


class TrialNumber(NamedTuple):
    """Meaning of a number of a trial, and its values."""

    meaning: str
    allowed: tuple[float, ...] = ()
    """Any number that the domain's own rules admit, where there are none."""
    past: bool = False
    """Whether it tells of the trial before, so that it is 0 in a first trial."""


class TimedDomain(OneShot):
    """A task whose responses are right or wrong by bins of time; trials are described by numbers."""

    kind: ClassVar[str]
    """Name of the domain with the usual edges."""
    usual_edges: ClassVar[tuple[float, ...]]
    numbers: ClassVar[Mapping[str, TrialNumber]]
    compared_by: ClassVar[str]
    """Number of a trial by which accuracy and times are drawn."""

    def __init__(self, edges: tuple[float, ...] = ()) -> None:
        """Make the domain.

        Args:
            edges: Edges of the bins of time, in seconds, or the usual ones; responses before the first and after the
                last do not count.
        """
        self.edges = edges or self.usual_edges
        is_usual = self.edges == self.usual_edges
        self.name = self.kind if is_usual else f"{self.kind}@{edges[0]:g}-{edges[-1]:g}"
        self.scale: AnswerScale = timed(OPTIONS, self.edges)
        self.options: tuple[str, ...] = self.scale.labels

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.edges == self.edges

    def __hash__(self) -> int:
        return hash(self.edges)

    @classmethod
    def edges_within(cls, low_s: float, high_s: float) -> tuple[float, ...]:
        """Edges of bins for a window of times; raises `TrialsError` where it is none."""
        raise NotImplementedError

    def within(self, low_s: float, high_s: float) -> Self:
        """See `experiments.answer_scale.HasTimeWindow`."""
        return type(self)(self.edges_within(low_s, high_s))

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that cannot be."""
        if set(stimuli.arrays) != set(self.numbers):
            raise StimuliError(
                f"{self.kind} has the arrays {', '.join(self.numbers)}, not {', '.join(sorted(stimuli.arrays))}."
            )
        for name, array in stimuli.arrays.items():
            if array.shape != (len(stimuli),):
                raise StimuliError(
                    f"array {name!r} has shape {array.shape}, not {(len(stimuli),)}."
                )
        rules = [
            (np.isin(stimuli[name], number.allowed), f"{name} is one of {number.allowed}")
            for name, number in self.numbers.items()
            if number.allowed
        ]
        for fine, words in (*rules, *self.rules(stimuli)):
            for row in np.flatnonzero(~fine):
                raise StimuliError(f"trial {row} of the {self.kind} domain: {words}.")

    def rules(self, stimuli: Stimuli) -> Sequence[tuple[Array, str]]:
        """Mark the trials in which further rules hold, ``(n_trials,)`` each, and state each rule in words."""
        return ()

    def curves(self, stimuli: Stimuli, shares: Array, weights: Array) -> Sequence[DomainCurve]:
        """See `experiments.curve.HasCurves`: accuracy, and mean times of right responses, by `compared_by`."""
        by, n_bins = np.asarray(stimuli[self.compared_by]), self.scale.n_bins
        values, place = np.unique(by, return_inverse=True)
        counts = np.zeros((len(values), shares.shape[1]))
        np.add.at(counts, place, np.where(weights[:, None] > 0, shares * weights[:, None], 0.0))
        right = counts[:, :n_bins]
        with np.errstate(invalid="ignore"):
            accuracy = right.sum(axis=1) / counts.sum(axis=1)
            seconds = right @ np.asarray(self.scale.places[:n_bins]) / right.sum(axis=1)
        return (
            DomainCurve(
                f"Accuracy by {self.compared_by}", self.compared_by, "proportion correct",
                {"responses": (values, accuracy)},
            ),
            DomainCurve(
                f"Response time by {self.compared_by}", self.compared_by, "mean time if correct (s)",
                {"responses": (values, seconds)},
            ),
        )  # fmt: skip

    def landmarks(self, stimuli: Stimuli) -> dict[str, Array]:
        """See `experiments.answer_scale.HasLandmarks`: a trial shows no time that answers could lie near to."""
        return {}

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the right key on the other side."""
        return Stimuli(dict(stimuli.arrays) | {"side": 0.0 - stimuli["side"]})


def check_window(low_s: float, high_s: float, shortest: float, longest: float) -> None:
    """Refuse a window of times that begins or ends where none may, or that is too narrow.

    Raises:
        TrialsError: It says which windows there may be.
    """
    if not shortest <= low_s <= high_s / NARROWEST or high_s > longest:
        raise TrialsError(
            f"time_window is {low_s:g} to {high_s:g} s; give two times from {shortest:g} to {longest:g} s of which the "
            f"second is at least {NARROWEST:g} times the first."
        )


def timed_outcomes(
    is_right: Sequence[bool] | Array, times_s: Sequence[float] | Array, scale: AnswerScale
) -> Array:
    """The outcome that each answer is; raises `TrialsError` for a time that nobody can have needed."""
    chosen = 1 - np.asarray(is_right, dtype=np.int64)
    return scale.outcomes_of(np.asarray(times_s, dtype=np.float64).tolist(), chosen.tolist())
