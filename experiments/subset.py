"""Some of the people of experiments, or of their trials, where all of them would be too many to look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials

LEAST_TRIALS = 2
"""Fewest trials that are kept of each experiment."""


def some_people(
    trials: Sequence[Trials], n_most: int, rng: np.random.Generator
) -> Sequence[Trials]:
    """The answers of people drawn by lot, about ``n_most`` together; all where there are no more, or are pooled."""
    n_all = sum(len(item.trial) for item in trials)
    if n_all <= n_most or any(item.pooled for item in trials):
        return trials
    found = []
    for item in trials:
        n_kept = min(max(round(item.n_participants * n_most / n_all), 2), item.n_participants)
        chosen = np.zeros(item.n_participants, dtype=bool)
        chosen[rng.choice(item.n_participants, n_kept, replace=False)] = True
        found.append(item.of_people(chosen))
    return found


def some_trials(
    trials: Sequence[Trials], n_most: int, rng: np.random.Generator
) -> Sequence[Trials]:
    """The answers to ``n_most`` trials drawn by lot, of each experiment its share; all where there are no more.

    Not for people whose answers depend on what they were asked before: use `some_people`.
    """
    n_all = sum(len(item.stimuli) for item in trials)
    if n_all <= n_most:
        return trials
    found = []
    for item in trials:
        n_trials = len(item.stimuli)
        n_kept = min(max(round(n_most * n_trials / n_all), LEAST_TRIALS), n_trials)
        chosen = np.zeros(n_trials, dtype=bool)
        chosen[rng.choice(n_trials, n_kept, replace=False)] = True
        found.append(_of_trials(item, chosen))
    return found


def _of_trials(trials: Trials, chosen: NDArray[np.bool_]) -> Trials:
    """The answers to some trials; trials and people who answered any of them are numbered anew."""
    answered = np.zeros(trials.n_participants, dtype=bool)
    answered[trials.participant[chosen[trials.trial]]] = True
    own = trials.of_people(answered)
    rows = chosen[own.trial]
    return replace(
        own,
        stimuli=own.stimuli.take(np.flatnonzero(chosen)),
        participant=own.participant[rows],
        trial=(np.cumsum(chosen) - 1)[own.trial[rows]],
        response=own.response[rows],
        count=own.count[rows],
        feedback={name: column[rows] for name, column in own.feedback.items()},
    )
