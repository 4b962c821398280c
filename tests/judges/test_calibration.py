"""Resolved verdicts: scores by hand, discrimination by counting pairs, and coverage by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.judges.calibration import calibration
from lakatos.judges.errors import JudgeError


def test_the_log_score_is_that_of_what_happened():
    found = calibration([0.8, 0.4], [True, True])
    assert found.log_score == pytest.approx((math.log(0.8) + math.log(0.4)) / 2)
    assert (found.discrimination, found.discrimination_error) == (None, None)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.7]), st.booleans()), min_size=2, max_size=30
    )
)
def test_discrimination_counts_pairs_and_halves_ties(verdicts):
    p, y = zip(*verdicts, strict=True)
    found = calibration(p, y)
    yes, no = (
        [value for value, other in verdicts if other is outcome] for outcome in (True, False)
    )
    if not yes or not no:
        assert found.discrimination is None
        return
    pairs = [(a > b) + 0.5 * (a == b) for a in yes for b in no]
    assert found.discrimination == pytest.approx(sum(pairs) / len(pairs))


def test_bins_hold_equally_many_and_exact_intervals():
    found = calibration([0.1] * 10 + [0.9] * 10, [False] * 10 + [True] * 9 + [False], n_bins=2)
    assert [(row.n, row.share) for row in found.curve] == [(10, 0.0), (10, 0.9)]
    assert found.curve[0].interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 10)))


def test_verdicts_of_one_shown_probability_share_a_bin():
    found = calibration([0.981, 0.3, 0.979], [True, False, True], n_bins=3)
    assert [(row.n, row.share) for row in found.curve] == [(1, 0.0), (2, 1.0)]
    assert found.curve[1].interval[0] == pytest.approx(0.025**0.5)


def test_what_is_no_probability_is_refused():
    with pytest.raises(JudgeError, match="1 probabilities and 1 outcomes cannot be compared"):
        calibration([1.0], [True])
    with pytest.raises(JudgeError, match="0 probabilities"):
        calibration([], [])


@pytest.mark.slow
@pytest.mark.statistical
def test_the_error_of_discrimination_is_its_spread():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(1000):
        p = rng.uniform(0.05, 0.95, size=80)
        result = calibration(p, rng.random(80) < p)
        found.append((result.discrimination, result.discrimination_error))
    values, errors = np.array(found).T
    # The standard deviation of a thousand values is known to about 2.2% of itself.
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(ddof=1), rel=0.1)
