"""Some of the answers, on which a search with many candidates may find its way before all are asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials

LEAST_TRIALS = 2
"""Of each experiment that are kept."""


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
    asked = trials.of_people(answered)
    rows = chosen[asked.trial]
    return replace(
        asked,
        stimuli=asked.stimuli.take(np.flatnonzero(chosen)),
        participant=asked.participant[rows],
        trial=(np.cumsum(chosen) - 1)[asked.trial[rows]],
        response=asked.response[rows],
        count=asked.count[rows],
        feedback={name: column[rows] for name, column in asked.feedback.items()},
    )
