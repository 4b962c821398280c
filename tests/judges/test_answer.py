"""Answers of judges: repeats by majority, both orders, failures that are counted and never guessed."""

import time
from dataclasses import dataclass, replace
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.judges.answer import JudgeAnswers, ask, swap
from lakatos.judges.canary import canary
from lakatos.judges.errors import GateError, VerdictError
from lakatos.judges.feature import FEATURES, features_of, swapped
from lakatos.judges.rubric import Rubric, RubricDimension, RubricJudge, RubricReading
from lakatos.judges.rubrics.parsimony import ParsimonyJudge
from lakatos.traces.digest import digest_of
from tests.judges.support import Scripted, answers, submission


def test_failures_of_every_kind_are_kept_with_their_reason():
    def say(what):
        if what.features["kind"] == 0:
            raise VerdictError("does not parse")
        if what.features["kind"] == 1:
            time.sleep(0.3)
        return [0.5, 0.6, float("nan"), 1.0, 0.7][int(what.features["kind"])]

    found = ask(Scripted(say), [submission(k, kind=float(k)) for k in range(5)], timeout_s=0.1)
    assert found.failures == {
        0: "does not parse",
        1: "did not answer in time",
        2: "answered nan, no probability strictly between 0 and 1",
        3: "answered 1.0, no probability strictly between 0 and 1",
    }
    assert np.isnan(found.probability).tolist() == [True, True, True, True, False]
    assert found.side.tolist() == [0, 0, 0, 0, 1]


def test_repeats_are_decided_by_majority_and_the_flip_rate_is_told():
    said = iter([0.9, 0.9, 0.8, 0.2, 0.4, 0.9])
    found = ask(Scripted(lambda _: next(said)), [submission(1), submission(2)], repeats=3)
    assert found.probability == pytest.approx([(0.9 + 0.8 + 0.4) / 3, (0.9 + 0.2 + 0.9) / 3])
    assert found.side.tolist() == [1, 1]
    assert found.flip_rate == 1.0


def test_an_even_number_of_repeats_has_no_majority():
    with pytest.raises(VerdictError, match="ask an odd number"):
        ask(Scripted(lambda _: 0.5), [submission(1)], repeats=2)


def test_a_judge_that_always_takes_the_first_contradicts_itself_when_asked_in_both_orders():
    found = ask(Scripted(lambda _: 0.8), [submission(1)], both_orders=True)
    assert found.side.tolist() == [0]
    assert found.probability == pytest.approx([0.5])


def test_a_judge_without_bias_for_a_side_says_the_same_in_both_orders():
    judge = ParsimonyJudge()
    once, twice = (ask(judge, [submission(1)], both_orders=both) for both in (False, True))
    assert twice.side.tolist() == once.side.tolist() == [1]
    assert twice.probability == pytest.approx(once.probability)


@given(st.dictionaries(st.sampled_from(sorted(FEATURES)), st.floats(0, 1)))
def test_swapping_twice_gives_the_same_features(features):
    assert swapped(swapped(features)) == pytest.approx(features)


def test_a_swapped_submission_has_the_features_swapped():
    one = submission(1, share_favouring=0.7, boldness=0.1)
    there, back = features_of(one), features_of(swap(one))
    assert back == pytest.approx(swapped(there))
    assert back["share_favouring"] == pytest.approx(0.3)
    assert back["advantage_z"] == -there["advantage_z"]
    assert swap(swap(one)) == one


def test_answers_read_back_as_they_were_written():
    found = answers("a", [0.2, float("nan"), 0.8])
    again = JudgeAnswers.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.failures == {1: "no answer"}


# canary


def test_a_judge_without_chance_drifts_with_any_change():
    before = answers("a", [0.2, 0.8])
    assert not canary(before, answers("a", [0.2, 0.8])).drifted
    assert canary(before, answers("a", [0.2, 0.801])).drifted


def taking(sides, failures=None):
    sides = np.array(sides)
    return JudgeAnswers(digest_of("a"), np.where(sides > 0, 0.8, 0.2), sides, failures or {})


def test_a_judge_that_varies_drifts_where_the_answer_of_before_stands_alone_too_often():
    same = np.ones(24, dtype=int)
    now = np.where(np.arange(24) < 8, -1, 1)
    found = canary(taking(same), taking(now), taking(now))
    assert (found.n_items, found.n_changed, found.drifted) == (24, 8, True)
    assert found.p_value == pytest.approx(3.0**-8)
    # Where it disagrees with itself now as often, the same changes tell nothing.
    other = np.where((np.arange(24) >= 8) & (np.arange(24) < 16), -1, 1)
    found = canary(taking(same), taking(now * other), taking(now))
    assert found.n_changed == 8
    assert found.p_value == pytest.approx(
        sum(comb(16, k) * 2.0 ** (16 - k) for k in range(8, 17)) / 3.0**16
    )
    assert not found.drifted
    # Six items that all changed are too few to be sure.
    assert not canary(taking(same[:6]), taking(-same[:6]), taking(-same[:6])).drifted


@pytest.mark.slow
def test_the_canary_seldom_cries_over_a_judge_that_has_not_changed_however_unsteady_it_is():
    rng = np.random.default_rng(4)
    for unsteady in (0.02, 0.2, 0.5):
        alarms = 0
        for _ in range(3000):
            told = np.where(rng.random((3, 24)) < unsteady, -1, 1)
            alarms += canary(*map(taking, told)).drifted
        # The test is exact: at most 0.001 of 3000, and four standard errors.
        assert alarms <= 3 + 4 * 3**0.5


def test_items_that_were_not_answered_every_time_tell_nothing_of_drift():
    before, now = taking([1] * 10), taking([0] + [1] * 9, {0: "no answer"})
    assert canary(before, now).n_items == 9
    assert not canary(before, now).drifted
    assert canary(before, now, before).n_items == 9
    assert not canary(before, taking([0] * 10, dict.fromkeys(range(10), "no answer"))).drifted


def test_the_canary_compares_the_same_items():
    with pytest.raises(GateError, match="answers to the same items"):
        canary(answers("a", [0.2]), answers("a", [0.2, 0.3]))


# rubrics

RUBRIC = Rubric(
    (
        RubricDimension(
            "fit",
            "Which predicts the answers so far better?",
            {-1: "incumbent", 0: "alike", 1: "candidate"},
            2.0,
        ),
        RubricDimension("scope", "Which says more?", {-1: "incumbent", 0: "alike", 1: "candidate"}),
    )
)


@dataclass(frozen=True)
class Fixed:
    """A reader that always reads the same."""

    reading: RubricReading
    model: str = "m"

    @property
    def digest(self):
        return digest_of(self.model)

    def read(self, rubric, submission):
        return self.reading


def test_levels_become_log_odds():
    judge = RubricJudge(
        RUBRIC,
        Fixed(RubricReading({"fit": 1, "scope": -1}, {"fit": "ahead by 0.1", "scope": "no times"})),
    )
    assert judge.judge(submission(1)) == pytest.approx(1 / (1 + np.exp(-1)))


def test_every_dimension_needs_a_defined_level_and_evidence():
    cases = [
        (RubricReading({"fit": 1}, {"fit": "ahead"}), "gave 'scope' the level None"),
        (
            RubricReading({"fit": 1, "scope": 3}, {"fit": "ahead", "scope": "x"}),
            "gave 'scope' the level 3",
        ),
        (
            RubricReading({"fit": 1, "scope": 0}, {"fit": "ahead", "scope": " "}),
            "gave no evidence for 'scope'",
        ),
    ]
    for reading, message in cases:
        with pytest.raises(VerdictError, match=message):
            RubricJudge(RUBRIC, Fixed(reading)).judge(submission(1))
    found = ask(RubricJudge(RUBRIC, Fixed(cases[0][0])), [submission(1)])
    assert list(found.failures) == [0]


def test_a_rubric_judges_version_is_its_rubric_and_its_reader_and_not_its_name():
    reader = Fixed(RubricReading({}, {}))
    judge = RubricJudge(RUBRIC, reader)
    assert RubricJudge(RUBRIC, reader, name="renamed").digest == judge.digest
    assert RubricJudge(RUBRIC, Fixed(RubricReading({}, {}), model="n")).digest != judge.digest
    assert RubricJudge(Rubric(RUBRIC.dimensions[:1]), reader).digest != judge.digest
    assert RubricJudge(Rubric(RUBRIC.dimensions, "Be strict."), reader).digest != judge.digest


def test_readings_of_two_editions_are_kept_apart_and_a_rubric_without_one_is_as_it_always_was():
    other = replace(RUBRIC, edition="judge epoch 2")
    assert other.wording != RUBRIC.wording
    assert "edition" not in RUBRIC.to_json()
    assert [Rubric.from_json(item.to_json()) for item in (RUBRIC, other)] == [RUBRIC, other]
