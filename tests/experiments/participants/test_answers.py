import hashlib
import hmac
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import STATUSES, PersonAnswers, pseudonym

ANSWERS = PersonAnswers(
    experiment="1.1",
    person="ab" * 32,
    status="completed",
    trial=(2, 0, 1),
    response=(0, 1, 1),
    response_time_ms=(812.5, 640.0, 1002.0),
    feedback={"reward": (1.0, 0.0, 1.0)},
    checks=(True, False),
    comprehension_attempts=1,
    consent="",
    language="en",
    source="web",
)


def with_key(name, value):
    return {**ANSWERS.to_json(), name: value}


def test_answers_survive_the_inbox():
    assert PersonAnswers.from_json(json.loads(json.dumps(ANSWERS.to_json()))) == ANSWERS


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.floats(0, 1e6)), max_size=8),
    st.sampled_from(STATUSES),
    st.lists(st.booleans(), max_size=3),
)
def test_any_answers_survive_the_inbox(rows, status, checks):
    trial, response, times = zip(*rows, strict=True) if rows else ((), (), ())
    answers = replace(
        ANSWERS,
        trial=trial,
        response=response,
        response_time_ms=times,
        feedback={},
        status=status,
        checks=tuple(checks),
    )
    assert PersonAnswers.from_json(json.loads(json.dumps(answers.to_json()))) == answers


@pytest.mark.parametrize("name", list(ANSWERS.to_json()))
def test_a_missing_key_is_named(name):
    value = ANSWERS.to_json()
    del value[name]
    with pytest.raises(TrialsError, match=f"lacks '{name}'"):
        PersonAnswers.from_json(value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("trial", [0, 1, "2"], "'trial' holds '2'; give whole numbers"),
        ("trial", [0, 1, 2.0], "'trial' holds 2.0; give whole numbers"),
        ("response", [True, 0, 0], "'response' holds True; give whole numbers"),
        ("response", "011", "'response' is a list, not str"),
        ("response", [0, 1], "3 trials and 2 entries of response"),
        ("response", [0, 1, -1], "negative"),
        ("response_time_ms", [1.0, 2.0, -3.0], "negative or no number"),
        ("response_time_ms", [1.0, 2.0, float("nan")], "negative or no number"),
        ("feedback", {"reward": [1.0]}, "1 entries of feedback 'reward'"),
        ("feedback", [1.0], "object of lists"),
        ("status", "finished", "status 'finished'; give one of completed"),
        ("checks", [1], "'checks' holds 1; give true or false"),
        ("person", "", "no person"),
        ("comprehension_attempts", "2", "whole numbers"),
        ("prolific_pid", "5f3", "unknown key 'prolific_pid'"),
    ],
)
def test_what_is_wrong_is_named(name, value, words):
    with pytest.raises(TrialsError, match=words):
        PersonAnswers.from_json(with_key(name, value))


def test_response_times_may_be_unknown():
    assert PersonAnswers.from_json(with_key("response_time_ms", [])).response_time_ms == ()


def test_a_pseudonym_is_the_keyed_hash_of_its_parts():
    key = bytes(range(32))
    expected = hmac.new(key, b'["prolific","5f3a"]', hashlib.sha256).hexdigest()
    assert pseudonym(key, "prolific", "5f3a") == expected


def test_pseudonyms_tell_parts_and_keys_apart():
    first, second = bytes(32), bytes([1]) * 32
    names = {
        pseudonym(key, *parts)
        for key in (first, second)
        for parts in (("ab", "c"), ("a", "bc"), ("abc",))
    }
    assert len(names) == 6


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="32 random bytes"):
        pseudonym(b"secret", "prolific", "5f3a")
