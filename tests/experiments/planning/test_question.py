"""What an experiment is to decide: rivals that predict, sides, ways to answer, costs, and trials that are allowed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from known_rivals import DOMAIN, KnownRivals, impatient, is_telling, patient, question_of, trials

from lakatos.domains import DOMAINS
from lakatos.experiments.planning.question import CHUNK
from lakatos.experiments.task import StimulusOffer

MANY = DOMAIN.space({}).take(np.arange(CHUNK + 400) % 4000)


def test_rivals_predict_a_few_thousand_trials_at_a_time_and_each_trial_once() -> None:
    question = question_of()
    first, second = question.answers(MANY)
    assert isinstance(question.rivals, KnownRivals)
    assert question.rivals.sizes == [CHUNK, 400]
    np.testing.assert_array_equal(first[0, :, 1], patient(MANY))
    np.testing.assert_array_equal(second[0, :, 1], impatient(MANY))


def test_a_schedule_is_predicted_whole_however_long_it_is() -> None:
    question = replace(question_of(), domain=DOMAINS["learning"])
    question.answers(MANY)
    assert isinstance(question.rivals, KnownRivals)
    assert question.rivals.sizes == [len(MANY)]


class InOrder:
    """A task whose options are always shown in one order."""

    keeps_places = True
    sequential = False


@pytest.mark.parametrize(
    ("sides", "repetitions", "archive", "domain", "both"),
    [
        ("both", 2, "", DOMAIN, True),
        ("random", 2, "", DOMAIN, False),
        ("both", 3, "", DOMAIN, False),  # an odd number cannot be divided between two sides
        ("both", 2, "1.1", DOMAIN, False),  # an archive holds its trials as they were shown
        ("both", 2, "", DOMAINS["learning"], False),
        ("both", 2, "", InOrder(), False),
    ],
    ids=["both", "by lot", "odd", "archive", "schedule", "options in order"],
)
def test_trials_are_shown_on_both_sides_where_that_is_asked_and_possible(
    sides, repetitions, archive, domain, both
) -> None:
    question = replace(question_of(sides=sides, repetitions=repetitions), domain=domain)
    assert question.shows_both_sides(StimulusOffer(archive, trials(1, 0), 0)) is both


@pytest.mark.parametrize(("archive", "n_shown"), [("", 2), ("1.1", 1)])
def test_ways_to_answer_are_those_of_all_presentations_and_of_one_in_an_archive(
    archive: str, n_shown: int
) -> None:
    stimuli = trials(1, 1)
    question = question_of(repetitions=2)
    found = question.ways_to_answer(StimulusOffer(archive, stimuli, 0), stimuli)
    for chance, ways in zip((patient, impatient), found, strict=True):
        p = chance(stimuli)
        # The second option 0, 1 or 2 times of two; or not, or once, of one.
        counts = [(1 - p) ** 2, 2 * p * (1 - p), p**2] if n_shown == 2 else [1 - p, p]
        expected = np.stack(counts, axis=-1)
        np.testing.assert_allclose(np.sort(ways[0], axis=-1), np.sort(expected, axis=-1))


def test_of_trials_on_both_sides_each_side_is_answered_half_as_often() -> None:
    stimuli = trials(1, 0)
    question = question_of(repetitions=2, sides="both")
    ways, _ = question.ways_to_answer(StimulusOffer("", stimuli, 0), stimuli)
    p, turned = patient(stimuli)[0], patient(DOMAIN.swap_sides(stimuli))[0]
    assert turned == pytest.approx(1 - p)
    expected = np.outer([1 - p, p], [1 - turned, turned]).ravel()
    np.testing.assert_allclose(np.sort(ways[0, 0]), np.sort(expected))


def test_a_trial_costs_its_presentations_and_what_its_features_cost() -> None:
    stimuli = trials(2, 0)
    cost = {"per_response": 0.5, "features": {"delay_difference": 0.01}}
    delays = DOMAIN.features(stimuli)["delay_difference"]
    found = question_of(cost=cost).costs(stimuli, 3)
    np.testing.assert_allclose(found, 3 * (0.5 + 0.01 * delays))


def test_allowed_are_the_trials_that_no_condition_of_the_study_names() -> None:
    stimuli = trials(3, 4)
    question = question_of(forbidden=["delay_difference >= 60"])
    forbidden = DOMAIN.features(stimuli)["delay_difference"] >= 60
    assert 0 < forbidden.sum() < len(stimuli)
    assert is_telling(stimuli)[forbidden].all()
    assert question.allowed(stimuli).tolist() == np.flatnonzero(~forbidden).tolist()
