"""Predictions are frozen with the range that holds most samples of so many participants."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.flows.stages.preregister import with_interval


def test_the_range_of_a_share_is_two_standard_errors_of_a_sample_to_either_side() -> None:
    shares, low, high = with_interval(np.array([0.5, 0.2]), 25)
    assert shares.tolist() == [0.5, 0.2]
    # The standard error of a half in a sample of 25 is 0.1, and of a fifth 0.08.
    assert low == pytest.approx([0.3, 0.04])
    assert high == pytest.approx([0.7, 0.36])


def test_the_range_ends_at_none_and_at_all() -> None:
    found = with_interval(np.array([0.01, 0.99, 0.0]), 25)
    assert found.min() == 0.0
    assert found.max() == 1.0
    assert found[1, 0] == 0.0
    assert found[2, 1] == 1.0


def test_shares_of_many_options_keep_their_shape() -> None:
    shares = np.full((4, 3), 1 / 3)
    assert with_interval(shares, 10).shape == (3, 4, 3)
