"""Value of a pattern: the log score that a theory with one more parameter would gain on the same responses.

The parameter tilts every draw's probabilities along the pattern; the gain is that of its best value. It is measured
on the responses that showed the pattern, hence optimistic, by half a nat in all where there is no pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from lakatos.theories.discovery.diagnosis.panel import AnswerPanel
from lakatos.theories.engine.running.sequence import TINY
from lakatos.theories.engine.scoring.score import (
    ExperimentEvidence,
    ScoreEstimate,
    UnitScores,
    average,
    log_predictive,
    paired_difference,
)

Array = NDArray[np.float64]
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
LOG_NODE_WEIGHTS = np.log(NODE_WEIGHTS / NODE_WEIGHTS.sum())


@dataclass(frozen=True)
class CorrectionGain:
    """Nats per choice, averaged over experiments, and the nats of all responses together."""

    per_choice: ScoreEstimate
    total: float
    parameter: float


@dataclass(frozen=True)
class AnswerCells:
    """One experiment's responses, grouped by what the correction depends on."""

    trial: NDArray[np.intp]
    """``(n_cells,)``."""
    offset: Array
    """``(n_cells, n_options)`` added to log odds, for each unit of the parameter."""
    log_slope: Array
    """``(n_cells,)`` log factor of the log odds, for each unit of the parameter."""
    counts: Array
    """``(n_units, n_cells, n_options)`` responses."""


Build = Callable[[int, AnswerPanel], AnswerCells]
"""Function of an experiment's number and its panel that groups the responses for a correction."""


def offset(columns: Sequence[Array]) -> Build:
    """Log odds of the last option move with ``(n_trials,)`` a column in each experiment."""

    def build(number: int, panel: AnswerPanel) -> AnswerCells:
        n_trials, n_options = panel.mean.shape
        tilt = np.zeros((n_trials, n_options))
        tilt[:, panel.option] = columns[number]
        return AnswerCells(np.arange(n_trials), tilt, np.zeros(n_trials), panel.counts)

    return build


def temperature(columns: Sequence[Array]) -> Build:
    """Log odds are stretched with ``(n_trials,)`` a column in each experiment."""

    def build(number: int, panel: AnswerPanel) -> AnswerCells:
        n_trials, n_options = panel.mean.shape
        return AnswerCells(
            np.arange(n_trials), np.zeros((n_trials, n_options)), columns[number], panel.counts
        )

    return build


def repeat_last(number: int, panel: AnswerPanel) -> AnswerCells:
    """Log odds of the option chosen last move, whatever the trial was."""
    return _by_option(panel, panel.last)


def repeat_own(number: int, panel: AnswerPanel) -> AnswerCells:
    """Log odds of the option move that the person chose when the same trial was shown before."""
    before = np.full_like(panel.response, -1)
    seen: dict[tuple[int, int], int] = {}
    for person, step in zip(*np.nonzero(panel.mask), strict=True):
        key = (int(person), int(panel.index[person, step]))
        before[person, step] = seen.get(key, -1)
        seen[key] = int(panel.response[person, step])
    return _by_option(panel, before)


def side_drift(number: int, panel: AnswerPanel) -> AnswerCells:
    """Log odds of the last option move from the first half of a person's responses to the second."""
    tilt = np.zeros((3, *panel.mean.shape))
    tilt[..., panel.option] = np.array([-1.0, 0.0, 1.0])[:, None]
    return _by_level(panel, panel.half + 1, tilt, np.zeros(3))


def agreement_drift(number: int, panel: AnswerPanel) -> AnswerCells:
    """Log odds are stretched from the first half of a person's responses to the second."""
    return _by_level(
        panel, panel.half + 1, np.zeros((3, *panel.mean.shape)), np.array([-1.0, 0.0, 1.0])
    )


class PanelCorrector:
    """The panels of all experiments, ready to be corrected; units are people, or trials when pooled."""

    def __init__(self, panels: Sequence[AnswerPanel]) -> None:
        self.panels = panels
        self.sizes = [
            panel.n_answers[panel.n_answers > 0]
            if panel.pooled
            else panel.mask.sum(axis=1).astype(np.float64)
            for panel in panels
        ]

    def fixed(self, build: Build) -> CorrectionGain:
        """The gain of a tilt that all people share."""
        cells = [build(number, panel) for number, panel in enumerate(self.panels)]
        return _best(
            lambda value: [
                _score(panel, item, value) for panel, item in zip(self.panels, cells, strict=True)
            ],
            (-2.5, 2.5),
            self.sizes,
        )

    def varied(self, build: Build) -> CorrectionGain:
        """The gain of a tilt of which every person has a normal share; the parameter is its standard deviation."""
        cells = [build(number, panel) for number, panel in enumerate(self.panels)]

        def scores(spread: float) -> list[Array]:
            return [
                logsumexp(
                    [
                        _score(panel, item, spread * node) + w
                        for node, w in zip(NODES, LOG_NODE_WEIGHTS, strict=True)
                    ],
                    axis=0,
                )
                for panel, item in zip(self.panels, cells, strict=True)
            ]

        return _best(scores, (0.0, 2.5), self.sizes)

    def guesses(self) -> CorrectionGain:
        """The gain of a share of responses given at random."""

        def scores(share: float) -> list[Array]:
            return [
                log_predictive(
                    ExperimentEvidence(
                        panel.trials,
                        (1 - share) * panel.probabilities + share / panel.mean.shape[1],
                    ),
                    panel.log_weights,
                ).log_predictive
                for panel in self.panels
            ]

        return _best(scores, (0.0, 0.9), self.sizes)


def _best(
    scores: Callable[[float], list[Array]], bounds: tuple[float, float], sizes: Sequence[Array]
) -> CorrectionGain:
    """Find the parameter's best value and the gain there; ``sizes`` are the choices of every unit."""
    before = scores(0.0)

    def loss(value: float) -> float:
        return -sum(float(part.sum()) for part in scores(value))

    found = minimize_scalar(
        loss, bounds=bounds, method="bounded", options={"xatol": 0.02, "maxiter": 10}
    )
    after = scores(float(found.x))
    return gain_between(before, after, sizes, float(found.x))


def gain_between(
    before: Sequence[Array], after: Sequence[Array], sizes: Sequence[Array], parameter: float
) -> CorrectionGain:
    """Compute a correction's gain from ``(n_units,)`` log probabilities of each experiment; 0 where it loses."""
    total = sum(float((a - b).sum()) for a, b in zip(after, before, strict=True))
    if total <= 0:
        return CorrectionGain(ScoreEstimate(0.0, 0.0), 0.0, 0.0)
    parts = [
        paired_difference([UnitScores(a, size)], [UnitScores(b, size)])
        for a, b, size in zip(after, before, sizes, strict=True)
    ]
    return CorrectionGain(average(parts), total, parameter)


def _score(panel: AnswerPanel, cells: AnswerCells, value: float) -> Array:
    """``(n_units,)`` log predictive probabilities with the parameter at ``value``."""
    slope = np.exp(value * cells.log_slope)[:, None]
    tilted = slope * panel.log_probabilities[:, cells.trial] + value * cells.offset
    options = np.moveaxis(
        tilted, -1, 0
    )  # few, so that going through them is faster than reducing along them
    top = reduce(np.maximum, options)
    tilted -= (top + np.log(sum(np.exp(option - top) for option in options)))[..., None]
    if panel.pooled:
        mean = np.einsum("d,dco->co", np.exp(panel.log_weights), np.exp(tilted))
        answered = cells.counts[0].sum(axis=1) > 0
        return np.asarray((cells.counts[0] * np.log(np.maximum(mean, TINY))).sum(axis=1)[answered])
    log_p = cells.counts.reshape(len(cells.counts), -1) @ tilted.reshape(len(tilted), -1).T
    return np.asarray(logsumexp(log_p + panel.log_weights, axis=1))


def _by_option(panel: AnswerPanel, option: NDArray[np.intp]) -> AnswerCells:
    """Cells in which one option is favoured, or none where ``option`` is -1."""
    n_trials, n_options = panel.mean.shape
    tilt = np.repeat(np.eye(n_options + 1)[:, None, 1:], n_trials, axis=1)
    return _by_level(panel, option + 1, tilt, np.zeros(n_options + 1))


def _by_level(
    panel: AnswerPanel, level: NDArray[np.intp], tilt: Array, log_slope: Array
) -> AnswerCells:
    """One cell for each level and trial.

    Args:
        panel: Where people cannot be told apart, nothing is tilted.
        level: ``(n_people, n_steps)``.
        tilt: ``(n_levels, n_trials, n_options)``.
        log_slope: ``(n_levels,)``.
    """
    n_levels, n_trials, n_options = tilt.shape
    if panel.pooled:
        return AnswerCells(
            np.arange(n_trials), np.zeros((n_trials, n_options)), np.zeros(n_trials), panel.counts
        )
    counts = np.zeros((panel.n_people, n_levels, n_trials, n_options))
    there = panel.mask
    people = np.broadcast_to(np.arange(panel.n_people)[:, None], there.shape)
    np.add.at(counts, (people[there], level[there], panel.index[there], panel.response[there]), 1)
    return AnswerCells(
        trial=np.tile(np.arange(n_trials), n_levels),
        offset=tilt.reshape(-1, n_options),
        log_slope=np.repeat(log_slope, n_trials),
        counts=counts.reshape(panel.n_people, -1, n_options),
    )
