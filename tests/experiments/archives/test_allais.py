"""The published percentages of Kahneman and Tversky (1979)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.archives.allais import PROBLEMS, READER
from experiments.domains.risky import RiskyDomain


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
    # the article rounds to whole percents, but problems 4' (N = 95) and 14' (N = 72) only to the nearest possible count
    assert np.abs(100 * trials.proportions[:, 1] - published).max() < 0.71
    assert trials.counts.sum(axis=(0, 2)).tolist() == [problem[2] for problem in PROBLEMS.values()]


def test_losses_reflect_gains(trials):
    numbers = list(PROBLEMS)
    for gain in ("3", "4", "7", "8", "13", "14"):
        pair = [numbers.index(gain), numbers.index(f"{gain}'")]
        assert np.array_equal(
            np.sort(trials.stimuli["outcomes"][pair[0]], axis=None),
            np.sort(-trials.stimuli["outcomes"][pair[1]], axis=None),
        ) or set(trials.stimuli["outcomes"][pair[0]].ravel()) == set(-trials.stimuli["outcomes"][pair[1]].ravel())
        majority = trials.proportions[pair, 1] > 0.5
        assert majority[0] != majority[1]
