"""From a key and its time to an outcome: the one place where it is decided, and who agrees with it."""

import numpy as np
import pytest

from benchmarks.clocks import clock_agreement
from lakatos.domains import DOMAINS
from lakatos.domains.attention.task import EDGES, conflict_trials
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.participants.answers import LeftOutPress, PersonAnswers
from lakatos.experiments.participants.simulated import SimulatedParticipants, independent
from lakatos.experiments.participants.timed_answer import (
    TimedPress,
    draw_presses,
    outcome_of,
    timed_columns,
    timed_task,
)
from lakatos.experiments.quality import (
    ClocksDisagree,
    FastAnswers,
    ImpossibleTimes,
    MissingAnswers,
    OneKey,
    TooFast,
)
from lakatos.experiments.task import Design
from lakatos.experiments.testing import KEY, preregister

DOMAIN = DOMAINS["attention"]
TASK = timed_task(DOMAIN)
TRIALS = conflict_trials({"congruence": [1, -1], "side": [-1, 1], "level": [-1, -1]})
"""The right keys are the left one and the right one."""
N_BINS = len(EDGES) - 1


def test_only_a_task_that_says_which_key_is_right_is_timed():
    assert timed_task(DOMAINS["risky"]) is None
    assert timed_task(DOMAINS["estimation"]) is None
    assert TASK is DOMAIN


@pytest.mark.parametrize(
    ("time_ms", "bin_of"), [(200, 0), (299.9, 0), (300, 1), (413.0, 3), (2999, 19), (3000, 19)]
)
def test_an_outcome_is_right_or_wrong_with_the_bin_of_the_time(time_ms, bin_of):
    for trial, right in ((0, 0), (1, 1)):
        pressed = [
            outcome_of(TASK, TRIALS, TimedPress(trial, key, time_ms), "left_out") for key in (0, 1)
        ]
        assert pressed[right] == bin_of
        assert pressed[1 - right] == N_BINS + bin_of


@pytest.mark.parametrize(
    ("time_ms", "reason", "nearest"),
    [
        (0.0, "too_early", 0),
        (199.9, "too_early", 0),
        (3000.1, "too_late", 19),
        (40_000.0, "too_late", 19),
    ],
)
def test_a_time_off_the_grid_is_left_out_or_in_the_nearest_bin_as_declared(
    time_ms, reason, nearest
):
    press = TimedPress(0, 0, time_ms)
    assert outcome_of(TASK, TRIALS, press, "left_out") == reason
    assert outcome_of(TASK, TRIALS, press, "nearest_bin") == nearest


@pytest.mark.parametrize("off_grid", ["left_out", "nearest_bin"])
def test_no_answer_and_an_impossible_time_are_never_an_outcome(off_grid):
    assert outcome_of(TASK, TRIALS, TimedPress(0, None, 3500.0), off_grid) == "no_answer"
    assert (
        outcome_of(TASK, TRIALS, TimedPress(0, 0, 500.0, possible=False), off_grid) == "impossible"
    )


def person(presses, off_grid="left_out", **more):
    return PersonAnswers(
        experiment="1.1", person="ab", status="completed", feedback={}, checks=(), comprehension_attempts=1,
        consent="", language="en", source="web", **timed_columns(TASK, TRIALS, presses, off_grid), **more,
    )  # fmt: skip


MIXED = [
    TimedPress(0, 0, 500.0, 512.0), TimedPress(1, 0, 620.0), TimedPress(0, 0, 90.0, 100.0),
    TimedPress(1, None, 3050.0), TimedPress(1, 1, 700.0, possible=False), TimedPress(0, 1, 3500.0),
]  # fmt: skip


def test_what_is_left_out_keeps_its_place_and_reason_and_survives_the_inbox():
    answers = person(MIXED)
    assert answers.trial == (0, 1)
    assert answers.key == (0, 0)
    assert [TASK.scale.labels[place] for place in answers.response] == [
        "right after 0.5 s", "wrong after 0.62 s",
    ]  # fmt: skip
    assert answers.interval_ms == (512.0, None)
    assert [(item.position, item.key, item.reason) for item in answers.left_out] == [
        (3, 0, "too_early"), (4, None, "no_answer"), (5, 1, "impossible"), (6, 1, "too_late"),
    ]  # fmt: skip
    assert answers.missed == (0, 1, 1, 0)
    assert PersonAnswers.from_json(answers.to_json()) == answers


def test_answers_of_other_tasks_are_written_as_they_were():
    value = person([]).to_json()
    assert not {"key", "interval_ms", "left_out"} & set(value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reason": "tired"}, "one of the reasons"),
        ({"time_ms": -1.0}, "give milliseconds"),
        ({"position": -1}, "count from 0"),
        ({"key": 0.5}, "whole numbers"),
        ({"more": 1}, "'left_out' is a list of objects"),
    ],
)
def test_what_cannot_be_left_out_is_refused(change, words):
    value = person(MIXED).to_json()
    value["left_out"][0] |= change
    with pytest.raises(TrialsError, match=words):
        PersonAnswers.from_json(value)


def test_a_person_cannot_leave_out_other_trials_than_were_missed():
    with pytest.raises(TrialsError, match="leaves out other trials than it missed"):
        PersonAnswers(
            experiment="1.1", person="ab", status="completed", trial=(), response=(), response_time_ms=(), feedback={},
            checks=(), comprehension_attempts=1, consent="", language="", source="web", missed=(1,),
            left_out=(LeftOutPress(1, 0, 0, 90.0, None, "too_early"),),
        )  # fmt: skip


def test_rules_look_at_keys_and_times_whether_an_answer_counts_or_not():
    rng = np.random.default_rng(1)
    careless = person([TimedPress(row % 2, 0, 120.0) for row in range(40)])
    assert careless.trial == ()
    assert OneKey(0.9).decide(careless, ()) == 1.0
    assert FastAnswers(200, 0.5).decide(careless, ()) == 1.0
    assert TooFast(250).decide(careless, ()) == 120.0
    assert MissingAnswers(0.2, 40).decide(careless, ()) == 1.0
    # one key always, at good times: half right and half wrong, so that outcomes alone would not tell
    pressed = [TimedPress(row % 2, 1, float(rng.uniform(400, 800))) for row in range(40)]
    one_key = person(pressed)
    assert len(set(one_key.response)) > 5
    assert OneKey(0.9).decide(one_key, ()) == 1.0
    both = person([TimedPress(row % 2, row % 2, 500.0) for row in range(40)])
    assert OneKey(0.9).decide(both, ()) is None  # one outcome only, and both keys


def test_rules_on_clocks_count_what_the_server_contradicts():
    made_up = [TimedPress(0, 0, 600.0, 200.0)] * 3 + [TimedPress(0, 0, 600.0, 610.0)]
    rule = ClocksDisagree(100, 0.5)
    assert rule.decide(person(made_up), ()) == 0.75
    assert rule.decide(person(made_up[-1:]), ()) is None
    assert rule.decide(person([TimedPress(0, 0, 600.0)]), ()) is None
    impossible = [TimedPress(0, 0, 600.0, possible=False)] * 3 + [TimedPress(0, 0, 600.0)]
    assert ImpossibleTimes(0.5).decide(person(impossible, server_time_ms=(9000.0,)), ()) == 0.75
    assert ImpossibleTimes(0.5).decide(person(impossible[:3]), ()) == 1.0


def test_presses_that_are_drawn_have_the_outcomes_that_were_asked_for():
    rng = np.random.default_rng(3)
    for space in ({"past": False}, {"past": False, "n_answers": 3, "neutral": True}):
        trials = DOMAIN.space(space)
        rows = rng.integers(len(trials), size=(7, 300))
        outcomes = rng.integers(TASK.scale.n_outcomes, size=rows.shape)
        keys, times = draw_presses(TASK, trials, rows, outcomes, rng)
        found = [
            outcome_of(TASK, trials, TimedPress(row, key, time), "nearest_bin")
            for row, key, time in zip(rows.ravel(), keys.ravel(), times.ravel(), strict=True)
        ]
        # a tenth of a millisecond may round a time into the next bin
        assert np.mean(np.array(found) == outcomes.ravel()) > 0.995
        assert set(keys.ravel()) == set(range(TASK.n_keys(trials)))


def test_careless_people_press_one_key_early_and_others_follow_the_rule():
    def steady(stimuli, rng, n_people):
        p = np.zeros((n_people, len(stimuli), TASK.scale.n_outcomes))
        p[..., 5], p[..., N_BINS + 3] = 0.9, 0.1
        return p

    design = Design("1.1", DOMAIN.space({"past": False}), 10, 30)
    source = SimulatedParticipants(
        independent(steady), domain=DOMAIN, settings={"past": False}, one_by_one=True, careless=0.3
    )
    recruitment = source.recruit(preregister(design), design, KEY)
    people = [PersonAnswers.from_json(item) for item in source.collect(recruitment, 30).payloads]
    careless = [item for item in people if OneKey(0.95).decide(item, ()) is not None]
    others = [item for item in people if item not in careless]
    assert 3 <= len(careless) <= 16
    assert all(FastAnswers(250, 0.5).decide(item, ()) for item in careless)
    assert {place for item in others for place in item.response} <= {5, 6, N_BINS + 3, N_BINS + 4}
    assert all(
        480 <= time <= 520 or 400 <= time <= 440
        for item in others
        for time in item.response_time_ms
    )


def test_two_clocks_are_compared_by_bias_spread_and_bins():
    first = np.array([450.0, 500.0, 550.0, 700.0])
    found = clock_agreement(EDGES, first, first + np.array([2.0, 4.0, 6.0, 28.0]))
    assert (found.n, found.bias_ms, found.median_ms, found.largest_ms) == (4, 10.0, 5.0, 28.0)
    assert found.share_same_bin == 0.75  # 700 and 728 ms lie in neighbours
    assert found.limits_ms[0] == pytest.approx(10 - 1.96 * found.sd_ms)
    assert clock_agreement(EDGES, [500.0], [501.0]) is None
