"""Answers are known again by what people chose, in whatever file, order or part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS
from lakatos.experiments.same_answers import are_same_answers
from lakatos.experiments.task import Stimuli, Trials

DATED = DOMAINS["intertemporal"]


def study(seed: int, n_people: int = 40, n_each: int = 50, n_trials: int = 120) -> Trials:
    """Answers of people who discount, each to some trials of one pool, which is the same whatever the seed."""
    pool = np.random.default_rng(0)
    soon = pool.integers(5, 40, n_trials).astype(float)
    late = np.round(soon * pool.uniform(1.1, 3, n_trials))
    days = pool.integers(1, 365, n_trials).astype(float)
    rng = np.random.default_rng(seed)
    trial = np.concatenate([rng.choice(n_trials, n_each, replace=False) for _ in range(n_people)])
    who = np.repeat(np.arange(n_people), n_each)
    k = np.exp(rng.normal(-4, 1, n_people))[who]
    gain = late[trial] / (1 + k * days[trial]) - soon[trial]
    waits = rng.random(len(trial)) < 1 / (1 + np.exp(-0.5 * gain))
    stimuli = Stimuli(
        {
            "amounts": np.stack([soon, late], axis=1),
            "delays_days": np.stack([np.zeros(n_trials), days], axis=1),
        }
    )
    return Trials(
        "answers", stimuli, who, trial, waits.astype(np.int64), np.ones(len(trial), np.int64), n_people=n_people
    )  # fmt: skip


def rows_of(trials: Trials, kept: np.ndarray) -> Trials:
    people, who = np.unique(trials.participant[kept], return_inverse=True)
    return replace(
        trials, participant=who, trial=trials.trial[kept], response=trials.response[kept],
        count=trials.count[kept], n_people=len(people),
    )  # fmt: skip


def shuffled(trials: Trials) -> Trials:
    """Rows, people and trials in another order, and options on the other side."""
    rng = np.random.default_rng(9)
    order, people = rng.permutation(len(trials.trial)), rng.permutation(trials.n_participants)
    place = rng.permutation(len(trials.stimuli))
    turned = DATED.swap_sides(trials.stimuli.take(place))
    return replace(
        trials,
        experiment="other",
        stimuli=turned,
        participant=people[trials.participant[order]],
        trial=np.argsort(place)[trials.trial[order]],
        response=1 - trials.response[order],
        count=trials.count[order],
    )


WHOLE = study(1)
RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    "other",
    [
        WHOLE,
        shuffled(WHOLE),
        rows_of(WHOLE, RNG.random(2000) < 0.9),  # rows left out by lot
        rows_of(WHOLE, WHOLE.participant < 10),  # a quarter of the people
        rows_of(WHOLE, WHOLE.trial < 60),  # half of the trials
        WHOLE.in_counts(),
        shuffled(WHOLE).in_counts(),
    ],
)
def test_the_same_answers_are_known_again_in_either_direction(other: Trials) -> None:
    assert are_same_answers([WHOLE], [other], DATED)
    assert are_same_answers([other], [WHOLE], DATED)


def test_a_file_that_adds_new_people_to_old_ones_is_known_again() -> None:
    both = [WHOLE, replace(study(2, n_people=200), experiment="new")]
    assert are_same_answers(both, [WHOLE], DATED)
    assert are_same_answers([WHOLE], both, DATED)


@pytest.mark.parametrize("n_each", [5, 12, 50, 120])
@pytest.mark.parametrize("n_people", [(20, 20), (20, 200), (200, 20)])
def test_other_people_on_the_same_trials_are_other_answers(
    n_each: int, n_people: tuple[int, int]
) -> None:
    mistaken = [
        are_same_answers(
            [study(2 * seed, n_people[0], n_each)],
            [study(2 * seed + 1, n_people[1], n_each)],
            DATED,
        )
        for seed in range(1, 11)
    ]
    assert not any(mistaken)


def test_other_people_who_all_answer_alike_are_other_answers() -> None:
    """Nobody can be known by answers that everybody gives."""
    first, second = (
        replace(study(seed), response=np.ones(2000, dtype=np.int64)) for seed in (1, 2)
    )
    assert not are_same_answers([first], [second], DATED)


def test_other_counts_of_the_same_trials_are_other_answers() -> None:
    for seed in range(20):
        first, second = (study(place + 100 * seed, 60, 120).in_counts() for place in (1, 2))
        assert not are_same_answers([first], [second], DATED)


def test_nobody_is_in_no_answers() -> None:
    assert not are_same_answers([WHOLE], [], DATED)
    assert not are_same_answers([], [WHOLE], DATED)
