from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.quality import (
    ComprehensionAttempts,
    ConstantAlternation,
    FailedChecks,
    FastAnswers,
    ImpossibleTimes,
    IncompleteAnswers,
    OneKey,
    RepeatedParticipation,
    TooFast,
    are_impossible,
    exclude,
)

USUAL = PersonAnswers(
    experiment="1.1",
    person="aa",
    status="completed",
    trial=(0, 1, 2, 3),
    response=(0, 1, 1, 0),
    response_time_ms=(900.0, 700.0, 1100.0, 800.0),
    feedback={},
    checks=(True, True),
    comprehension_attempts=1,
    consent="",
    language="en",
    source="web",
)
ALL = (
    IncompleteAnswers(),
    RepeatedParticipation(),
    TooFast(300),
    FastAnswers(200, 0.2),
    OneKey(0.9),
    ConstantAlternation(0.9),
    FailedChecks(0),
    ComprehensionAttempts(2),
)


def test_nobody_is_excluded_for_usual_answers():
    assert exclude([USUAL, replace(USUAL, person="bb")], ALL) == []


@pytest.mark.parametrize(
    ("changes", "rule", "value"),
    [
        ({"response_time_ms": (100.0, 250.0, 290.0, 2000.0)}, TooFast(300), 270.0),
        (
            {"response_time_ms": (900.0,) * 4, "server_time_ms": (800.0, 1.0, 1.0, 2.0)},
            TooFast(300),
            201.0,
        ),
        (
            {"response_time_ms": (5000.0,) * 4, "server_time_ms": (6.0,) * 4},
            ImpossibleTimes(0.1),
            1.0,
        ),
        (
            {"response_time_ms": (900.0,) * 4, "server_time_ms": (950.0, 950.0, 500.0, 950.0)},
            ImpossibleTimes(0.1),
            0.25,
        ),
        ({"response_time_ms": (100.0, 150.0, 900.0, 900.0)}, FastAnswers(200, 0.4), 0.5),
        ({"response": (1, 1, 1, 1)}, OneKey(0.9), 1.0),
        ({"response": (0, 1, 0, 1)}, ConstantAlternation(0.9), 1.0),
        ({"checks": (False, True, False)}, FailedChecks(1), 2.0),
        ({"comprehension_attempts": 4}, ComprehensionAttempts(2), 4.0),
        ({"status": "partial"}, IncompleteAnswers(), 4.0),
        ({"status": "returned"}, IncompleteAnswers(keep_partial=True), 4.0),
        ({"status": "stopped"}, IncompleteAnswers(), 4.0),
        (
            {"status": "stopped"},
            IncompleteAnswers(keep_partial=True, least_share=0.5, n_asked=9),
            4.0,
        ),
    ],
)
def test_each_rule_gives_the_number_that_decided(changes, rule, value):
    (found,) = exclude([replace(USUAL, **changes)], [rule])
    assert (found.rule, found.value) == (rule, value)


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"response_time_ms": (300.0, 300.0, 300.0, 300.0)}, TooFast(300)),
        ({"response_time_ms": (100.0, 900.0, 900.0, 900.0)}, FastAnswers(200, 0.25)),
        ({"response_time_ms": ()}, TooFast(300)),
        (
            {"response_time_ms": (900.0,) * 4, "server_time_ms": (4000.0, 0.0, 0.0, 0.0)},
            ImpossibleTimes(0.1),
        ),
        ({"response_time_ms": (900.0,) * 4}, ImpossibleTimes(0.1)),
        ({"response_time_ms": ()}, FastAnswers(200, 0.0)),
        ({"response": (1, 1, 1, 0)}, OneKey(0.75)),
        ({"checks": (False,)}, FailedChecks(1)),
        ({"status": "partial"}, IncompleteAnswers(keep_partial=True)),
        ({"status": "stopped"}, IncompleteAnswers(keep_partial=True, least_share=0.5, n_asked=8)),
        ({"status": "completed"}, IncompleteAnswers(keep_partial=True, least_share=0.5, n_asked=9)),
        ({"trial": (0,), "response": (0,), "response_time_ms": ()}, ConstantAlternation(0.1)),
    ],
)
def test_at_its_limit_or_without_the_measure_a_rule_lets_people_stay(changes, rule):
    assert exclude([replace(USUAL, **changes)], [rule]) == []


def test_only_the_first_time_of_a_person_counts():
    found = exclude([USUAL, replace(USUAL, person="bb"), USUAL, USUAL], [RepeatedParticipation()])
    assert [(item.place, item.value) for item in found] == [(2, 1.0), (3, 2.0)]


def test_who_left_before_the_first_trial_may_come_back():
    left = replace(USUAL, status="partial", trial=(), response=(), response_time_ms=())
    assert [
        item.place
        for item in exclude([left, USUAL], [IncompleteAnswers(), RepeatedParticipation()])
    ] == [0]


def test_earlier_experiments_count_only_where_the_rule_says_so():
    assert exclude([USUAL], [RepeatedParticipation()], earlier=["aa"]) == []
    (found,) = exclude([USUAL], [RepeatedParticipation(in_campaign=True)], earlier=["aa"])
    assert found.value == 1.0


def test_every_broken_rule_is_told():
    careless = replace(
        USUAL, response=(1, 1, 1, 1), response_time_ms=(90.0,) * 4, checks=(False, False)
    )
    found = exclude([careless], ALL)
    assert [item.rule.key for item in found] == [
        "too_fast",
        "fast_answers",
        "one_key",
        "failed_checks",
    ]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            TooFast(300),
            "People whose median response time is below 300 ms are excluded, and people whose mean time between "
            "answers, by the server's clock, is below 300 ms.",
        ),
        (
            FastAnswers(200, 0.1),
            "People with more than 10% of their answers faster than 200 ms are excluded.",
        ),
        (
            OneKey(0.95),
            "People who chose the same side in more than 95% of their answers are excluded.",
        ),
        (FailedChecks(1), "People who failed more than 1 attention check are excluded."),
        (
            ComprehensionAttempts(2),
            "People who needed more than 2 attempts at the comprehension check are excluded.",
        ),
    ],
)
def test_words_hold_the_limit(rule, words):
    assert rule.words == words


def test_nobody_whose_connection_was_lost_is_accused_and_no_waiting_program_gets_away():
    rng = np.random.default_rng(7)
    for _ in range(200):
        claimed = rng.lognormal(7, 0.8, size=40)
        finished = np.cumsum(claimed + rng.exponential(50, size=40))
        arrived = finished.copy()
        # No connection for a while: what was answered meanwhile arrives together, and no more than the page holds.
        first = int(rng.integers(0, 34))
        arrived[first : first + 5] = finished[first + 4]
        times = np.diff(arrived, prepend=0.0)
        assert not any(are_impossible(claimed.tolist(), times.tolist()))
    # A program that waits five minutes and then claims five seconds for each of 42 answers sent within a second.
    lies = are_impossible([5000.0] * 42, [300_000.0, *[6.0] * 41])
    assert sum(lies) > 35
    # One that answers every second and claims five.
    assert sum(are_impossible([5000.0] * 42, [1000.0] * 42)) > 35
