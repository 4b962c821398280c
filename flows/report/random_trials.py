"""The leading theory and its rival on trials that were drawn at random, apart from those selected to separate theories.

Selected trials are those on which theories disagree, so a difference on them is larger than on trials that participants
meet. The comparison uses predictions frozen before the responses: the log probability of every response under the
predicted proportion of participants who choose it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.flows.report.reader import RunReading
from lakatos.theories.engine.scoreboard import frozen_experiments
from lakatos.theories.engine.scoring.score import ScoreEstimate, UnitScores, paired_difference
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
LEAST_SHARE = 1e-4
"""Predicted proportions below it are taken for it, so that one response does not decide."""


@dataclass(frozen=True)
class RandomTrials:
    """Difference between the leading theory and its rival on both kinds of trials."""

    rival: Digest
    experiments: tuple[str, ...]
    n_random: int
    n_selected: int
    at_random: ScoreEstimate
    """Leading theory minus rival, nats per choice."""
    selected: ScoreEstimate


def on_random_trials(reading: RunReading) -> RandomTrials | None:
    """Compare both on trials drawn at random and on the others; None where no design had trials of both kinds."""
    leader, rival = reading.leader, reading.first_rival
    if leader is None or rival is None or reading.domain.sequential:
        return None
    known = reading.state.experiments
    names = [
        name
        for name in frozen_experiments(reading.state.theories, known, leader, rival)
        if 0 < known.designs[name].record.n_random < known.designs[name].record.n_trials
        and not known.designs[name].record.is_exhaustive
        and not known.collected[name].record.pooled
    ]
    if not names:
        return None
    parts: dict[bool, list[tuple[UnitScores, UnitScores]]] = {True: [], False: []}
    numbers = {True: 0, False: 0}
    for name in names:
        trials, design = reading.trials(name), reading.design(known.designs[name].record)
        drawn = {design.stimuli.keys[row] for row in design.random_coverage}
        is_random = np.array([key in drawn for key in trials.stimuli.keys])
        shares = [
            with_both_options(reading.frozen_shares(name, theory, trials.stimuli.keys))
            for theory in (leader, rival)
        ]
        if is_random.all() or not is_random.any():
            continue
        for kind in (True, False):
            rows = np.flatnonzero(is_random == kind)
            numbers[kind] += len(rows)
            first, second = (scores_on(trials, predicted, rows) for predicted in shares)
            parts[kind].append((first, second))
    if not parts[True]:
        return None
    at_random, selected = (
        paired_difference([a for a, _ in parts[kind]], [b for _, b in parts[kind]])
        for kind in (True, False)
    )
    return RandomTrials(rival, tuple(names), numbers[True], numbers[False], at_random, selected)


def with_both_options(shares: Array) -> Array:
    """Predicted proportions of every option, ``(n_trials, n_options)``; of two, only the last one may be given."""
    return np.hstack([1 - shares, shares]) if shares.shape[1] == 1 else shares


def scores_on(trials: Trials, shares: Array, rows: Collection[int]) -> UnitScores:
    """Log probability of each participant's responses to some trials under predicted proportions.

    Args:
        trials: Responses of single participants.
        shares: ``(n_trials, n_options)`` predicted proportions; responses to trials without any do not count.
        rows: Trials that count.
    """
    logs = np.log(np.clip(shares, LEAST_SHARE, 1))[trials.trial, trials.response]
    counts = np.where(np.isin(trials.trial, list(rows)) & np.isfinite(logs), trials.count, 0.0)
    totals = np.bincount(trials.participant, counts * np.nan_to_num(logs)).astype(float)
    sizes = np.bincount(trials.participant, counts).astype(float)
    return UnitScores(totals[sizes > 0], sizes[sizes > 0])
