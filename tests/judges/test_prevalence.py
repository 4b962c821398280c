"""Shares corrected for a judge's errors: by hand, clipped, refused where nothing follows, and covered."""

import numpy as np
import pytest

from lakatos.judges.errors import JudgeError
from lakatos.judges.prevalence import prevalence, rogan_gladen


def test_the_correction_by_hand():
    assert rogan_gladen(0.55, 0.9, 0.8) == pytest.approx(0.5)


def test_it_stays_between_none_and_all():
    assert rogan_gladen(0.05, 0.9, 0.8) == 0
    assert rogan_gladen(0.95, 0.9, 0.8) == 1


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.3, 0.6)])
def test_a_judge_that_tells_nothing_is_refused(sensitivity, specificity):
    with pytest.raises(JudgeError, match="tells nothing about their share"):
        rogan_gladen(0.5, sensitivity, specificity)


def test_without_labels_of_both_kinds_nothing_is_said():
    with pytest.raises(JudgeError, match="0 good and 5 bad labelled"):
        prevalence(5, 10, 0, 0, 5, 5)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("share", "n", "n_labelled"),
    [(0.2, 500, 100), (0.5, 2000, 100), (0.8, 500, 200), (0.3, 200, 60)],
)
def test_the_interval_covers(share, n, n_labelled):
    rng = np.random.default_rng(6)
    n_good, covered, n_runs = n_labelled // 2, 0, 4000
    accepted = rng.binomial(n, share * 0.9 + (1 - share) * 0.2, size=n_runs)
    good, bad = rng.binomial(n_good, 0.9, size=n_runs), rng.binomial(n_good, 0.8, size=n_runs)
    for row in zip(accepted, good, bad, strict=True):
        a, g, b = map(int, row)
        found = prevalence(a, n, g, n_good, b, n_good)
        covered += found.low <= share <= found.high
    assert covered / n_runs == pytest.approx(0.95, abs=0.015)
