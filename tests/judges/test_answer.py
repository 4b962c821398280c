"""Answers of judges: failures that are counted and never guessed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.judges.answer import JudgeAnswers, ask, swap
from lakatos.judges.errors import VerdictError
from lakatos.judges.feature import FEATURES, features_of, swapped
from tests.judges.support import Scripted, answers, submission


def test_failures_of_every_kind_are_kept_with_their_reason():
    def say(what):
        if what.features["kind"] == 0:
            raise VerdictError("does not parse")
        return [0.5, float("nan"), 1.0, 0.7][int(what.features["kind"])]

    found = ask(Scripted(say), [submission(k, kind=float(k)) for k in range(4)])
    assert found.failures == {
        0: "does not parse",
        1: "answered nan, no probability strictly between 0 and 1",
        2: "answered 1.0, no probability strictly between 0 and 1",
    }
    assert np.isnan(found.probability).tolist() == [True, True, True, False]
    assert found.side.tolist() == [0, 0, 0, 1]


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
