"""Some of the people of experiments, where all of them would be too many to look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.experiments.task import Trials


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
