"""Scales of responses that are not one of a few options: a level, a number in a range, or a choice with its time.

Underneath an answer is always one outcome of a finite grid, which takes the place of an option: a level, a bin of
numbers, or an option with a bin of times. So theories give a probability to each outcome, and scores, designs, power
and audits are what they are for options. A domain with an attribute ``scale`` declares its grid here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import AnswerScaleError, TrialsError

if TYPE_CHECKING:
    from lakatos.experiments.task import Domain, Stimuli

Array = NDArray[Any]
FEWEST, MOST = 2, 200
"""Outcomes of a grid."""
MOST_LOST = 0.05
"""Share of the variance of answers that a grid may hide before it is called too coarse."""
FEWEST_HEAPED = 40
"""Answers of whose last digits anything is said."""
COARSE = 10.0
"""The finest step of answers from which on it is told, even where all answers keep to it."""
ROUND_STEPS = tuple(base * 10.0**power for power in range(-6, 7) for base in (1, 5))
"""Steps whose multiples are round numbers."""


@dataclass(frozen=True)
class AnswerScale:
    """A declared, finite grid of outcomes, in their order."""

    kind: Literal["levels", "number", "timed"]
    unit: str
    """Unit of the numbers, such as "coins" or "s"."""
    places: tuple[float, ...]
    """The number that each outcome stands for: a level, or the middle of a bin."""
    widths: tuple[float, ...]
    """Width of each outcome's bin; 1 where outcomes are levels."""
    edges: tuple[float, ...] = ()
    """Edges of the bins, one more than there are; none where outcomes are levels."""
    options: tuple[str, ...] = ()
    """Options of a choice with its time; outcomes are the first option's bins, then the second's, and so on."""

    @property
    def n_outcomes(self) -> int:
        """Outcomes of the grid."""
        return len(self.places)

    @property
    def n_bins(self) -> int:
        """Outcomes of each option: bins of time; without options, all levels or bins."""
        return self.n_outcomes // max(len(self.options), 1)

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each outcome, which take the place of options' labels."""
        numbers = tuple(f"{place:.10g}" for place in self.places)
        if not self.options:
            return numbers
        return tuple(
            f"{self.options[row // self.n_bins]} after {number} {self.unit}"
            for row, number in enumerate(numbers)
        )

    def in_words(self, outcome: int) -> str:
        """Describe a response with this outcome: a level, or a number or a time within a bin."""
        if not self.edges:
            return self.labels[outcome]
        option, place = divmod(outcome, self.n_bins)
        chosen = f"{self.options[option]}, " if self.options else ""
        return (
            f"{chosen}{self.edges[place]:.10g} to {self.edges[place + 1]:.10g} {self.unit}".rstrip()
        )

    def outcomes_of(self, numbers: Sequence[float], chosen: Sequence[int] | None = None) -> Array:
        """The outcome that each answer is.

        Args:
            numbers: Levels, numbers in the range, or times.
            chosen: Option chosen, of a choice with its time.

        Raises:
            TrialsError: An answer is no number, no level or outside the range; the message names the first.
        """
        values = np.asarray(numbers, dtype=np.float64)
        if self.edges:
            edges = np.array(self.edges)
            fine = np.isfinite(values) & (values >= edges[0]) & (values <= edges[-1])
            found = np.searchsorted(edges, values, side="right") - 1
            found = np.clip(found, 0, len(edges) - 2)
            what = f"from {edges[0]:g} to {edges[-1]:g}"
        else:
            levels = np.array(self.places)
            found = np.clip(np.searchsorted(levels, values), 0, len(levels) - 1)
            fine = levels[found] == values
            what = f"one of the levels {', '.join(self.labels)}"
        for row in np.flatnonzero(~fine):
            raise TrialsError(
                f"answer {row} is {values[row]:g} {self.unit}; give {what}, or leave the answer out."
            )
        if not self.options:
            return np.asarray(found, dtype=np.int64)
        if chosen is None:
            raise TrialsError(
                "these responses are choices with response times; give the chosen option."
            )
        place = np.asarray(chosen, dtype=np.int64)
        for row in np.flatnonzero((place < 0) | (place >= len(self.options))):
            raise TrialsError(
                f"answer {row} chose option {place[row]}; there are 0 to {len(self.options) - 1}."
            )
        return place * self.n_bins + found

    def share_lost(self, numbers: Sequence[float]) -> float:
        """Share of the variance of answers that the grid cannot show, since it lies within bins."""
        values = np.asarray(numbers, dtype=np.float64)
        if not self.edges:
            return 0.0
        own = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, self.n_bins - 1)
        counts = np.maximum(np.bincount(own, minlength=self.n_bins), 1)
        means = np.bincount(own, values, self.n_bins) / counts
        total = values.var()
        return float(((values - means[own]) ** 2).mean() / total) if total > 0 else 0.0

    def fit_in_words(self, numbers: Sequence[float]) -> str:
        """State what the grid cannot show of numbers: those outside of it, and how the others differ within bins."""
        values = np.asarray(numbers, dtype=np.float64)
        low, high = (self.edges or self.places)[0], (self.edges or self.places)[-1]
        below, above = int((values < low).sum()), int((values > high).sum())
        inside = values[(values >= low) & (values <= high)]
        lost = self.share_lost(inside.tolist()) if len(inside) else 0.0
        words = (
            f"of {len(values):,} responses, {below} below {low:g} {self.unit} and {above} above {high:g} {self.unit} "
            f"are outside of the bins; grouping the others into bins hides {lost:.1%} of their variance"
        )
        return words + (": the grid is too coarse for them." if lost > MOST_LOST else ".")


def heaping_in_words(numbers: Sequence[float]) -> str:
    """State that more responses are round numbers than a smooth distribution could have; else empty.

    A step is a round number (1, 5, 10, 50, ...) that fits 5 to 100 times into the answers' range. If answers were
    smooth, their last digits would be even: of whole numbers a tenth would be multiples of ten.

    Args:
        numbers: Answers, written as people gave them.

    References:
        Roberts & Brewer (2001), Journal of Applied Statistics 28, 887-896 (measures and tests of heaping).
    """
    values = np.asarray(numbers, dtype=np.float64)
    values = values[np.isfinite(values)]
    if len(values) < FEWEST_HEAPED or np.ptp(values) <= 0:
        return ""
    finest, found, excess = _resolution(values), "", 0.0
    for step in ROUND_STEPS:
        if not 5 <= np.ptp(values) / step <= 100 or step < 1.5 * finest:
            continue
        share = float((np.abs(values / step - np.round(values / step)) < 1e-6).mean())
        expected = finest / step
        error = np.sqrt(expected * (1 - expected) / len(values))
        if share > max(2 * expected, expected + 5 * error) and share - expected > excess:
            excess = share - expected
            found = (
                f"{share:.0%} of {len(values):,} responses are multiples of {step:g}; without rounding, {expected:.0%} "
                "are expected. A theory may have a mechanism for rounding (`heaped`)"
            )
    if not found and finest >= COARSE and np.ptp(values) / finest >= 5:
        return (
            f"all {len(values):,} responses are multiples of {finest:g}, because participants rounded or no other "
            "response was possible; nothing finer can be estimated"
        )
    return found


def _resolution(values: Array) -> float:
    """The finest decimal place that answers use, as a number such as 1 or 0.1."""
    for power in range(6, -7, -1):
        unit = 10.0**power
        if (np.abs(values / unit - np.round(values / unit)) < 1e-6).all():
            return unit
    return 1e-6


def scale_of(domain: Domain) -> AnswerScale | None:
    """The outcomes that answers of a domain may have; None where answers are options."""
    scale: AnswerScale | None = getattr(domain, "scale", None)
    return scale


@runtime_checkable
class HasTimeWindow(Protocol):
    """A domain whose responses have their times, and whose window of times a study may choose."""

    scale: AnswerScale

    def within(self, low_s: float, high_s: float) -> Domain:
        """The same task where responses between two times, in seconds, count."""


def in_window(domain: Domain, window: tuple[float, float] | None) -> Domain:
    """The domain in which responses within a window count; the same where times are no part of responses."""
    if window is None or not isinstance(domain, HasTimeWindow) or scale_of(domain) is None:
        return domain
    return domain.within(*window)


@runtime_checkable
class HasLandmarks(Protocol):
    """A domain whose trials show numbers that answers may lie near to, so that learners know which outcome is where."""

    scale: AnswerScale

    def landmarks(self, stimuli: Stimuli) -> dict[str, Array]:
        """``(n_trials,)`` each, in the unit of the scale."""


def levels(places: Sequence[float], unit: str) -> AnswerScale:
    """Answers that are one of several ordered numbers, such as a rating or whole coins.

    Raises:
        AnswerScaleError: They do not grow, or are too few or too many.
    """
    _check_grid(places, len(places), "levels")
    return AnswerScale("levels", unit, tuple(map(float, places)), (1.0,) * len(places))


def number(edges: Sequence[float], unit: str) -> AnswerScale:
    """Answers that are a number in a range, by bins between growing edges.

    Raises:
        AnswerScaleError: The edges do not grow, or make too few or too many bins.
    """
    _check_grid(edges, len(edges) - 1, "edges")
    bins = np.asarray(edges, dtype=np.float64)
    # rounded, since a middle is also a label
    middles = tuple((0.5 * (bins[1:] + bins[:-1])).round(9).tolist())
    return AnswerScale("number", unit, middles, tuple(np.diff(bins).tolist()), tuple(bins.tolist()))


def timed(options: Sequence[str], edges_s: Sequence[float]) -> AnswerScale:
    """Answers that are a choice and its time in seconds, by bins of time.

    Raises:
        AnswerScaleError: The edges do not grow, or there are too few or too many outcomes.
    """
    once = number(edges_s, "s")
    _check_grid(edges_s, len(options) * once.n_outcomes, "edges")
    return AnswerScale(
        "timed",
        "s",
        once.places * len(options),
        once.widths * len(options),
        once.edges,
        tuple(options),
    )


def _check_grid(numbers: Sequence[float], n_outcomes: int, what: str) -> None:
    values = np.asarray(numbers, dtype=np.float64)
    if not np.isfinite(values).all() or not (np.diff(values) > 0).all():
        raise AnswerScaleError(
            f"{what} of an answer scale must be numbers that grow: {list(numbers)}."
        )
    if not FEWEST <= n_outcomes <= MOST:
        raise AnswerScaleError(
            f"an answer scale has {FEWEST} to {MOST} outcomes, and these {what} make {n_outcomes}."
        )
