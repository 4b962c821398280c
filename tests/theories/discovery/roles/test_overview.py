"""What roles are shown of answers, people and standings, in few words and with the facts behind every number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.roles.exhibit import share_text
from lakatos.theories.discovery.roles.overview import (
    MOST_PREDICTED,
    ROWS_OF_PART,
    agreement_with_majority,
    consistency_of_repetitions,
    likeness_to_last_choice,
    order_effects,
    people_exhibit,
    predictions_exhibit,
    table_exhibits,
)
from lakatos.theories.discovery.roles.typed_claim import ClaimFact
from lakatos.theories.engine.record import TheoryScored, UnitLogPredictives

N_TRIALS = ROWS_OF_PART + 8
DIGEST = "a" * 64
DOMAIN = MultiattributeDomain()


def trials_of(responses: np.ndarray) -> Trials:
    """Answers ``(n_people, n_trials)`` to products whose second one has ever higher ratings."""
    n_people, n_trials = responses.shape
    ratings = np.zeros((n_trials, 2, 2))
    ratings[:, 1, 0] = np.arange(n_trials) % 4
    arrays = {
        "ratings": ratings,
        "validities": np.tile([0.9, 0.6], (n_trials, 1)),
        "rating_max": np.full(n_trials, 3.0),
    }
    return Trials(
        experiment="2.1",
        stimuli=Stimuli(arrays),
        participant=np.repeat(np.arange(n_people), n_trials),
        trial=np.tile(np.arange(n_trials), n_people),
        response=responses.ravel(),
        count=np.ones(responses.size, dtype=np.int64),
        n_people=n_people,
    )


def scored(proportions: np.ndarray, n_people: int, per_person: float | np.ndarray) -> TheoryScored:
    units = UnitLogPredictives(
        log_predictive=tuple(np.broadcast_to(per_person, n_people).tolist()),
        n_choices=(1.0,) * n_people,
    )
    return TheoryScored(
        theory="b" * 64,
        experiment="2.1",
        trials="c" * 64,
        engine="x",
        n_draws=8,
        left_out=units,
        frozen=None,
        proportions=tuple(proportions.tolist()),
        error=0.01,
        correlation=None,
    )


def test_every_trial_is_shown_in_its_order_and_what_all_share_once() -> None:
    responses = np.zeros((4, N_TRIALS), dtype=np.int64)
    responses[:, 37] = 1
    parts = table_exhibits(DOMAIN, trials_of(responses), DIGEST, "2.1", 2)
    assert [item.title for item in parts] == [
        "experiment 2.1, part 1 of 2",
        "experiment 2.1, part 2 of 2",
    ]
    first, second = ("\n".join(item.value) for item in parts)
    assert "in every trial: A 0 0 | validities 0.9 0.6" in first
    assert "to every trial 4 answers\n" in first
    assert first.count("validities") == 1
    assert "\n1: B 0 0; 0\n" in first
    assert "\n38: B 1 0; 1\n" in second
    told = [line for item in parts for line in item.value if line[0].isdigit() and ": B" in line]
    assert len(told) == N_TRIALS
    fact = ClaimFact("share", 1.0, "people", "", "2.1", 38, "second", "B", decimals=2)
    assert fact in parts[1].numbers
    assert {(item.reference, item.place) for item in parts} == {(DIGEST, 2)}


def test_predictions_stand_beside_the_responses_most_missed_first_and_the_rest_is_bounded() -> None:
    responses = np.zeros((4, N_TRIALS), dtype=np.int64)
    responses[:, 37] = 1  # the one trial that nobody foretold
    shares = np.full(N_TRIALS, 0.1)
    shares[:8] = 0.02  # and these are foretold best
    score = {"Tallying": scored(shares, 4, -0.5)}
    table = predictions_exhibit(DOMAIN, trials_of(responses), DIGEST, score, "2.1")
    first, columns, *rows, rest = table.value
    assert first == "Tallying: score -0.5 nats per choice, squared_error 0.01"
    assert columns.startswith("trial: share of second of people; Tallying;")
    assert rows[0] == "38: 1; .10"
    assert len(rows) == MOST_PREDICTED
    error = np.sqrt(0.1 * 0.9 / 4)
    assert rest.startswith(
        f"{N_TRIALS - MOST_PREDICTED} further trials, each within {0.1 / error:.3g}"
    )
    assert ClaimFact("share", 0.1, "Tallying", "", "2.1", 38, "second", "B", 2) in table.numbers


def test_responses_of_an_experiment_are_shown_alike_whatever_is_predicted() -> None:
    trials = trials_of(np.zeros((4, N_TRIALS), dtype=np.int64))
    texts = [
        [item.entry.text for item in table_exhibits(DOMAIN, trials, DIGEST, "2.1", 2)]
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    assert "score" not in texts[0][1]


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0333, ".03"), (0.0, "0"), (1.0, "1"), (0.004, "<.01"), (0.996, ">.99"), (0.705, ".70")],
)
def test_a_share_has_two_decimals_and_is_never_rounded_to_nobody(share: float, text: str) -> None:
    assert share_text(share) == text


def test_people_are_told_by_agreement_consistency_order_and_the_theory_that_predicts_each_best():
    responses = np.zeros((3, 8), dtype=np.int64)
    responses[2] = 1
    trials = trials_of(responses)
    scores = {
        "Tallying": {"2.1": scored(np.zeros(8), 3, np.array([-0.1, -0.1, -0.9]))},
        "Guessing": {"2.1": scored(np.zeros(8), 3, -0.5)},
    }
    found = people_exhibit(DOMAIN, {"2.1": trials}, scores, DIGEST)
    assert found is not None
    value = found.value["experiment 2.1"]
    assert value["predicted_best_by"] == {"Tallying": 2, "Guessing": 1}
    assert value["repeats_the_last_place"] == 1.0
    assert agreement_with_majority(trials) == {"tenth": 0.0, "middle": 0.0, "ninetieth": 0.0}
    assert consistency_of_repetitions(trials) == {}


def test_a_person_who_always_answers_alike_is_consistent_and_one_who_alternates_is_not() -> None:
    asked_twice = Trials(
        experiment="1.1",
        stimuli=Stimuli({"x": np.zeros((2, 1))}),
        participant=np.array([0, 0, 0, 0, 1, 1, 1, 1]),
        trial=np.array([0, 0, 1, 1, 0, 0, 1, 1]),
        response=np.array([1, 1, 0, 0, 0, 1, 0, 1]),
        count=np.ones(8, dtype=np.int64),
        n_people=2,
    )
    assert consistency_of_repetitions(asked_twice) == {"same_answer_when_asked_again": 0.5}
    assert order_effects(asked_twice)["repeats_the_last_place"] == pytest.approx(2 / 6, abs=0.001)


def test_a_trial_that_few_people_answered_often_says_so() -> None:
    once = trials_of(np.zeros((4, 6), dtype=np.int64))
    thrice = replace(once, count=np.full(24, 3))
    mixed = replace(once, count=np.where(once.trial == 0, 3, 1))
    for trials, words in (
        (once, "to every trial 4 answers\n"),
        (thrice, "to every trial 12 answers of 4 people\n"),
        (mixed, "1: B 0 0; 12 answers of 4 people; 0\n2: B 1 0; 4 answers; 0\n"),
    ):
        (table,) = table_exhibits(DOMAIN, trials, DIGEST, "2.1", 1)
        assert words in "\n".join(table.value)


def test_a_table_says_what_shares_alone_would_score_and_whether_people_can_be_told_apart() -> None:
    trials = trials_of(np.array([[0, 1], [0, 1], [0, 0], [0, 0]]))  # one trial certain, one even
    for table, told in ((trials, False), (replace(trials, pooled=True, n_people=4), True)):
        (part,) = table_exhibits(DOMAIN, table, DIGEST, "2.1", 1)
        text = "\n".join(part.value)
        assert f"would score {-np.log(2) / 2:.3g}" in text
        assert ("counts over 4 participants, who cannot be distinguished" in text) is told


def test_of_pooled_answers_nothing_is_said_about_people() -> None:
    trials = trials_of(np.zeros((2, 4), dtype=np.int64))
    pooled = replace(trials, pooled=True)
    assert people_exhibit(DOMAIN, {"2.1": pooled}, {}, DIGEST) is None
    assert order_effects(pooled) == {}


def test_people_who_take_what_is_like_their_last_choice_are_told_from_those_who_do_not() -> None:
    rng = np.random.default_rng(3)
    n_people, n_steps = 12, 60
    ratings = rng.integers(0, 3, (n_steps, 2, 3)).astype(float)
    arrays = {
        "ratings": ratings,
        "validities": np.ones((n_steps, 3)),
        "rating_max": np.full(n_steps, 2.0),
    }
    stimuli = Stimuli(arrays)

    def answered(follows: bool) -> Trials:
        trial = np.concatenate([rng.permutation(n_steps) for _ in range(n_people)])
        response = rng.integers(0, 2, len(trial))
        for row in range(1, len(trial)):
            last = ratings[trial[row - 1], response[row - 1]]
            alike = (ratings[trial[row]] == last).sum(axis=-1)
            if follows and row % n_steps and alike[0] != alike[1]:
                response[row] = int(alike[1] > alike[0])
        person = np.repeat(np.arange(n_people), n_steps)
        ones = np.ones(len(trial), dtype=np.int64)
        return Trials("1.1", stimuli, person, trial, response, ones, n_people=n_people)

    following = likeness_to_last_choice(DOMAIN, answered(True))
    assert following["takes_what_is_more_like_the_last_choice"] == 1.0
    free = likeness_to_last_choice(DOMAIN, answered(False))
    for found in (
        free["takes_what_is_more_like_the_last_choice"],
        following["would_in_random_order"],
    ):
        assert found == pytest.approx(
            0.5, abs=0.09
        )  # three standard errors of some 450 steps, doubled for repeats
    assert likeness_to_last_choice(DOMAIN, replace(answered(True), pooled=True)) == {}
