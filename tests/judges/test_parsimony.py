"""The parsimony judge: its rule by hand, its symmetries, and its calibration on simulated nested comparisons."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.rubrics.parsimony import STRONGEST, WEAKEST, ParsimonyJudge
from lakatos.traces.digest import digest_of

JUDGE = ParsimonyJudge()
LEVEL = JudgeSubmission(digest_of("a"), digest_of("b"), 0.0, 0.01, 0, 1000, 0.1)
submissions = st.builds(
    JudgeSubmission,
    st.just(LEVEL.candidate),
    st.just(LEVEL.incumbent),
    st.floats(-1, 1),
    st.floats(1e-6, 1),
    st.integers(-6, 6),
    st.integers(1, 100_000),
    st.floats(0.01, 1),
)


def test_even_odds_without_advantage_or_more_parameters():
    assert JUDGE.judge(LEVEL) == pytest.approx(0.5)


def test_reads_the_advantage_off_the_normal_with_the_error_of_the_next_data():
    # A quarter as many answers have four times the variance; together with that of the answers so far, five times.
    assert JUDGE.judge(replace(LEVEL, advantage=0.02)) == pytest.approx(norm.cdf(2 / math.sqrt(5)))


def test_each_parameter_costs_one_nat_of_the_total():
    paid = replace(LEVEL, advantage=0.003, extra_parameters=3)
    assert JUDGE.judge(paid) == pytest.approx(0.5)


def test_a_fit_that_moved_nothing_can_lose_nothing():
    # The total has an error of 0.1 nats: a parameter that moved the predictions so little costs 0.01 nats, not 1.
    moved_little = replace(LEVEL, standard_error=0.0001, extra_parameters=1)
    assert JUDGE.judge(moved_little) == pytest.approx(norm.cdf(-0.1 / math.sqrt(5)))


def test_duplicates_get_even_odds_whatever_their_scores():
    assert JUDGE.judge(replace(LEVEL, advantage=1.0, distance=0.004)) == 0.5


def test_is_never_surer_than_its_limits():
    assert JUDGE.judge(replace(LEVEL, advantage=5.0)) == STRONGEST
    assert JUDGE.judge(replace(LEVEL, advantage=-5.0)) == WEAKEST
    assert JUDGE.judge(replace(LEVEL, advantage=5.0, standard_error=math.inf)) == 0.5


@given(submissions)
def test_exchanging_candidate_and_incumbent_exchanges_the_odds(submission):
    back = replace(
        submission, advantage=-submission.advantage, extra_parameters=-submission.extra_parameters
    )
    assert JUDGE.judge(submission) == pytest.approx(1 - JUDGE.judge(back), abs=1e-9)


@given(submissions, st.floats(0, 1), st.integers(0, 5))
def test_more_advantage_never_hurts_and_more_parameters_never_help(submission, gain, extra):
    judged = JUDGE.judge(submission)
    assert JUDGE.judge(replace(submission, advantage=submission.advantage + gain)) >= judged
    assert (
        JUDGE.judge(replace(submission, extra_parameters=submission.extra_parameters + extra))
        <= judged
    )


def test_its_version_changes_with_its_settings():
    assert ParsimonyJudge().digest == JUDGE.digest
    assert (
        len(
            {
                JUDGE.digest,
                ParsimonyJudge(nearest=0.01).digest,
                ParsimonyJudge(next_share=0.5).digest,
            }
        )
        == 3
    )


def nested_comparisons(n_comparisons, rng):
    """Judged probability, whether new data favoured the candidate, and the same for a judge without the bound.

    Log odds are a line in one covariate; the candidate has one to three more, worth something in half of the
    comparisons. Both are fitted to 25 people's answers, and the next experiment asks a quarter as many.
    """
    judged, favoured, unbounded = [], [], []
    for _ in range(n_comparisons):
        n_extra, per_person = int(rng.integers(1, 4)), int(rng.choice([12, 24]))
        n, n_next = 25 * per_person, 25 * per_person // 4
        worth = rng.choice([0.0, 0.0, 0.0, 0.05, 0.1, 0.2])
        truth = np.r_[1.0, worth * rng.normal(size=n_extra)]
        x = rng.normal(size=(n + n_next, 1 + n_extra))
        y = (rng.random(n + n_next) < 1 / (1 + np.exp(-x @ truth))) * 1.0
        gain = sum(
            sign * log_likelihoods(x[:, :width], y, fitted(x[:n, :width], y[:n]))
            for sign, width in ((1, 1 + n_extra), (-1, 1))
        )
        totals = gain[:n].reshape(25, per_person).sum(axis=1)
        standard_error = math.sqrt(25 / 24 * ((totals - totals.mean()) ** 2).sum()) / n
        submission = replace(
            LEVEL,
            advantage=totals.sum() / n,
            standard_error=standard_error,
            extra_parameters=n_extra,
            n_choices=n,
        )
        judged.append(JUDGE.judge(submission))
        unbounded.append(norm.cdf((submission.advantage - n_extra / n) / standard_error))
        favoured.append(gain[n:].sum() > 0)
    return np.array(judged), np.array(favoured), np.clip(unbounded, WEAKEST, STRONGEST)


def fitted(x, y):
    """Maximum likelihood of logistic regression, by Newton's method."""
    weights = np.zeros(x.shape[1])
    for _ in range(8):
        p = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (p * (1 - p))[:, None]).T @ x
        weights = weights + np.linalg.solve(curvature, x.T @ (y - p))
    return weights


def log_likelihoods(x, y, weights):
    return -np.logaddexp(0, -(2 * y - 1) * (x @ weights))


@pytest.mark.slow
@pytest.mark.statistical
def test_calibration_on_nested_comparisons():
    judged, favoured, unbounded = nested_comparisons(1500, np.random.default_rng(31))
    # Half of the candidates are worth nothing, which the rule cannot know: it may be too kind by a tenth.
    for low, high in ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0)):
        within = (judged >= low) & (judged < high)
        share, n = favoured[within].mean(), within.sum()
        error = math.sqrt(max(share * (1 - share), 0.05) / n)
        assert abs(share - judged[within].mean()) < 0.1 + 3 * error, (
            f"{low} to {high}: {share:.2f} of {n}"
        )

    def log_scores(probability):
        return np.where(favoured, np.log(probability), np.log(1 - probability))

    # It beats a coin, and the rule without the bound on the correction, by more than the simulation's error.
    for other in (np.full(len(judged), 0.5), unbounded):
        gain = log_scores(judged) - log_scores(other)
        assert gain.mean() > 2 * gain.std(ddof=1) / math.sqrt(len(gain))
