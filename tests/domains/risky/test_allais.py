"""The published percentages of Kahneman and Tversky (1979)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lakatos.domains.risky.archives.allais import PROBLEMS, READER
from lakatos.domains.risky.task import RiskyDomain


@pytest.fixture
def trials():
    (experiment,) = READER.read(Path("unused"))
    return experiment


def test_no_files_are_needed(trials):
    assert READER.source is None
    RiskyDomain().check(trials.stimuli)
    assert len(trials.stimuli) == len(PROBLEMS) == 16


def test_counts_round_back_to_the_published_percentages(trials):
    published = np.array([problem[3] for problem in PROBLEMS.values()])
    n_people = trials.counts.sum(axis=(0, 2))
    assert (
        np.abs(100 * trials.proportions[:, 1] - published) <= 100 * 0.5 / n_people
    ).all()  # to the nearest answer
    assert trials.counts.sum(axis=(0, 2)).tolist() == [problem[2] for problem in PROBLEMS.values()]


def test_losses_reflect_gains(trials):
    numbers = list(PROBLEMS)
    for gain in ("3", "4", "7", "8", "13", "14"):
        pair = [numbers.index(gain), numbers.index(f"{gain}'")]
        amounts = [set(trials.stimuli["outcomes"][row].ravel()) for row in pair]
        assert amounts[1] == {-amount for amount in amounts[0]}
        majority = trials.proportions[pair, 1] > 0.5
        assert majority[0] != majority[1]
