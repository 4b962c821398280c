"""Measures of fit that need no other theory: responses predicted correctly, and participants best described."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.flows.report.reader import RunReading
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
MOST_OPTIONS = 6
"""Options of a trial up to which the one that is predicted to be chosen most says something."""
ALIKE = 1e-9
"""Difference of predicted proportions, or of log probabilities, below which they are equal."""


@dataclass(frozen=True)
class AbsoluteFit:
    """How well a theory predicts, without comparison with another one."""

    chosen: float
    """Probability that it gives to the chosen option, geometric mean over responses."""
    correct: float | None
    """Proportion of responses that are the option predicted to be chosen most, parameters estimated from these;
    None where trials have many options, such as intervals of time."""
    n_best: int | None
    """Participants whose responses it gives the highest probability of all theories; None for counts of responses."""


def absolute_fits(reading: RunReading) -> dict[Digest, AbsoluteFit]:
    """Measure the fit of every theory of the leaderboard."""
    theories = [line.theory for line in reading.board.standings]
    best = n_best_described(_scores_of_participants(reading, theories))
    return {
        line.theory: AbsoluteFit(
            chosen=float(np.exp(line.score.value)),
            correct=_correct(reading, line.theory),
            n_best=best.get(line.theory),
        )
        for line in reading.board.standings
    }


def share_correct(shares: Array, totals: Array) -> float:
    """Proportion of responses that are the option with the highest predicted proportion; equal options share it.

    Args:
        shares: ``(n_trials, n_options)`` predicted proportions.
        totals: ``(n_trials, n_options)`` responses.
    """
    is_highest = shares >= shares.max(axis=1, keepdims=True) - ALIKE
    hits = (totals * is_highest).sum(axis=1) / is_highest.sum(axis=1)
    return float(hits.sum() / totals.sum())


def n_best_described(scores: Mapping[Digest, Array]) -> dict[Digest, int]:
    """Count the participants whose responses each theory gives the highest probability.

    Args:
        scores: ``(n_participants,)`` log probabilities of their responses, by theory; theories that are equal for a
            participant leave this participant to the first of them.
    """
    if not scores:
        return {}
    names, table = list(scores), np.stack(list(scores.values()))
    first = (table >= table.max(axis=0) - ALIKE).argmax(axis=0)
    return {name: int((first == place).sum()) for place, name in enumerate(names)}


def _scores_of_participants(reading: RunReading, theories: Sequence[Digest]) -> dict[Digest, Array]:
    """Log probability of each participant's responses under each theory, parameters estimated from other data."""
    names = list(reading.state.experiments.collected)
    known = reading.state.theories.scores
    if any(reading.state.experiments.collected[name].record.pooled for name in names):
        return {}
    found = {
        theory: np.concatenate(
            [known[theory, name].record.left_out.scores.log_predictive for name in names]
        )
        for theory in theories
    }
    sizes = {len(values) for values in found.values()}
    return found if len(sizes) == 1 else {}


def _correct(reading: RunReading, theory: Digest) -> float | None:
    """Mean over experiments of the responses that are predicted correctly."""
    found = []
    for name in reading.state.experiments.collected:
        trials, scored = reading.trials(name), reading.state.theories.scores[theory, name].record
        shares = np.asarray(scored.proportions).reshape(len(trials.stimuli), -1)
        if shares.shape[1] == 1:
            shares = np.hstack([1 - shares, shares])
        if shares.shape[1] > MOST_OPTIONS:
            return None
        found.append(share_correct(shares, np.asarray(trials.totals, dtype=float)))
    return float(np.mean(found)) if found else None
