"""Trials of like size lie together in a process, and predictions come back where they belong."""

import numpy as np
import pytest

from lakatos.domains.risky.task import RiskyDomain
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.scoring.arrangement import (
    COST_OF_A_PART,
    TrialArrangement,
    rows_of_like_size,
)


def gambles(sizes, first=0.0):
    """Trials whose two gambles have so many outcomes, in arrays of ten places."""
    outcomes, probabilities = np.zeros((2, len(sizes), 2, 10))
    for row, size in enumerate(sizes):
        outcomes[row] = first + row + np.minimum(np.arange(10), size - 1)
        probabilities[row, :, :size] = 1 / size
    return Stimuli(
        {
            "outcomes": outcomes,
            "probabilities": probabilities,
            "ambiguous": np.zeros((len(sizes), 2)),
            "correlation": np.zeros(len(sizes)),
        }
    )


def cost_of(groups, sizes):
    return sum(COST_OF_A_PART + len(rows) * sizes[rows].max() for rows in groups)


def test_a_gamble_has_the_size_of_the_longer_of_two():
    trials = gambles([2, 7, 1])
    trials.arrays["probabilities"][0, 1] = 0.25 * (np.arange(10) < 4)
    assert RiskyDomain().sizes(trials).tolist() == [4, 7, 1]


def test_every_trial_is_in_one_group_and_no_division_costs_less():
    sizes = np.random.default_rng(3).choice([1, 2, 5, 9], size=400, p=[0.3, 0.4, 0.1, 0.2])
    groups = rows_of_like_size(sizes)
    assert sorted(np.concatenate(groups).tolist()) == list(range(400))
    values = np.unique(sizes)
    divisions = []
    for chosen in range(2 ** (len(values) - 1)):
        ends = [place for place in range(1, len(values)) if chosen >> (place - 1) & 1]
        parts = np.split(values, ends)
        divisions.append([np.flatnonzero(np.isin(sizes, part)) for part in parts])
    assert cost_of(groups, sizes) == min(cost_of(item, sizes) for item in divisions)
    assert len(groups) > 1


@pytest.mark.parametrize("sizes", [[2] * 30, [2, 9, 2, 9]])
def test_equal_or_few_trials_stay_together(sizes):
    (rows,) = rows_of_like_size(np.array(sizes))
    assert rows.tolist() == list(range(len(sizes)))


def test_predictions_return_to_the_trials_they_are_for():
    rng = np.random.default_rng(5)
    given = [
        gambles(rng.choice([2, 10], size=n).tolist(), first=1000.0 * n) for n in (120, 80, 150)
    ]
    arranged = TrialArrangement.of(given, RiskyDomain())
    assert len(arranged.parts) == 2
    answers = [
        np.stack([part["outcomes"][:, 0, :2], -part["outcomes"][:, 0, :2]])
        for part in arranged.parts
    ]
    found = arranged.restore(answers)
    for whole, back in zip(given, found, strict=True):
        expected = whole["outcomes"][:, 0, :2]
        assert np.array_equal(back, np.stack([expected, -expected]))
