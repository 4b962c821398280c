"""How many participants a design has, what it costs, when it stops, and what it says of an open pair."""

from __future__ import annotations

import numpy as np
import pytest
from known_rivals import DIGESTS, DOMAIN, KnownRivals, question_of, trials

from lakatos.experiments.information import information_of_people
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.experiments.planning.plan import PEOPLE, PlannedDesign, plan_design
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.trials import ChosenTrials, asked_whole
from lakatos.experiments.power import scores_of_people
from lakatos.experiments.task import Stimuli, StimulusOffer

STIMULI = trials(3, 1)


def planned(
    question: DesignQuestion,
    chosen: ChosenTrials | None = None,
    *,
    offer: StimulusOffer | None = None,
    people: np.ndarray | None = None,
) -> PlannedDesign:
    chosen = chosen or asked_whole(STIMULI)
    offer = offer or StimulusOffer("", chosen.stimuli, 0)
    return plan_design(question, "1.1", offer, chosen, people, np.random.default_rng(0))


def archive(n_people: int, stimuli: Stimuli = STIMULI) -> StimulusOffer:
    """An archive in which so many participants answered each trial twice."""
    asked = np.full((n_people, len(stimuli)), 2)
    return StimulusOffer("gambles", stimuli, n_people, repetitions=2, asked=asked)


def test_trials_on_which_rivals_differ_are_accepted_and_others_are_refused() -> None:
    telling = planned(question_of(participants=40))
    assert telling.accepted
    (pair,) = telling.powers
    assert {pair.first, pair.second} == set(DIGESTS)
    assert min(pair.power_first, pair.power_second) > 0.9
    vain = planned(question_of(participants=40), asked_whole(trials(0, 4)))
    assert not vain.accepted
    assert "more participants would not help" in vain.reason
    assert vain.information.value == pytest.approx(0.0)


def test_a_design_costs_its_participants_and_all_their_presentations() -> None:
    cost = {"per_participant": 3.0, "per_response": 0.5}
    found = planned(question_of(participants=20, repetitions=4, cost=cost))
    assert found.cost == pytest.approx(20 * (3.0 + len(STIMULI) * 4 * 0.5))
    assert found.design.n_presentations == len(STIMULI) * 4


def test_the_number_of_participants_is_the_studys_the_offers_or_the_archives() -> None:
    question = question_of(participants=20)
    assert planned(question).design.n_participants == 20
    offer = StimulusOffer("", STIMULI, 7)
    assert planned(question, offer=offer).design.n_participants == 7
    found = planned(question, offer=archive(12))
    assert found.design.n_participants == 12
    assert found.n_answers == 12 * 2 * len(STIMULI)
    assert planned(question).n_answers == 0


def test_an_experiment_of_an_archive_is_called_by_number_and_archive() -> None:
    found = planned(question_of(), offer=archive(12))
    assert (found.design.name, found.name, found.design.archive) == (
        "1.1 gambles",
        "1.1",
        "gambles",
    )
    assert planned(question_of()).design.name == "1.1"


@pytest.mark.parametrize(("most", "n_found"), [(200, LEAST_UNITS), (5, 5)])
def test_the_smallest_number_with_the_power_is_found_and_no_more_than_can_be_afforded(
    most: int, n_found: int
) -> None:
    """With these trials two participants are enough, but fewer than ten support no claim."""
    question = question_of(participants=0, most_participants=most, repetitions=4)
    assert planned(question, asked_whole(trials(8, 0))).design.n_participants == n_found


def test_on_both_sides_each_trial_stands_twice_in_half_of_its_repetitions() -> None:
    chosen = ChosenTrials(STIMULI, (0.3, 0.2, 0.1, float("nan")), (3,))
    design = planned(question_of(sides="both", repetitions=4), chosen).design
    n_trials = len(STIMULI)
    assert design.repetitions == 2
    assert design.stimuli.keys[:n_trials] == STIMULI.keys
    assert design.stimuli.keys[n_trials:] == DOMAIN.swap_sides(STIMULI).keys
    assert design.random_coverage == (3, 7)
    # The other side of a searched trial adds nothing that was not counted; of a random one nothing is known.
    expected = [0.3, 0.2, 0.1, np.nan, 0.0, 0.0, 0.0, np.nan]
    np.testing.assert_array_equal(design.information, expected)


def test_trials_on_one_side_are_those_that_were_chosen() -> None:
    chosen = ChosenTrials(STIMULI, (0.3, 0.2, 0.1, float("nan")), (3,))
    design = planned(question_of(repetitions=4), chosen).design
    assert design.stimuli.keys == STIMULI.keys
    assert (design.repetitions, design.random_coverage) == (4, (3,))


def test_simulated_participants_that_are_given_say_what_the_design_says() -> None:
    question = question_of(participants=20)
    tables = [own for (own,) in question.rivals.answers([STIMULI])]
    people = scores_of_people(tables, 2, 50, np.random.default_rng(1))
    found = planned(question, people=people)
    assert found.information == information_of_people(people, question.log_prior)


@pytest.mark.parametrize(("learns", "n_asked"), [(True, [PEOPLE]), (False, [])])
def test_participants_are_simulated_step_by_step_where_a_rival_learns(
    learns: bool, n_asked: list[int]
) -> None:
    question = question_of(participants=20, learns=learns)
    planned(question)
    assert isinstance(question.rivals, KnownRivals)
    assert question.rivals.n_people == n_asked


def test_collection_is_looked_at_early_only_where_the_study_says_so() -> None:
    assert planned(question_of(participants=20)).stopping is None
    rule = {"rule": "bayes_factor", "first_look": 10, "look_every": 4}
    found = planned(question_of(participants=20, stopping=rule))
    assert found.stopping is not None
    assert found.stopping.looks == (10, 14, 18, 20)
    assert "when Patient is true it is named in 1.00" in found.stopping_text


def test_counts_of_an_archive_are_not_looked_at_early() -> None:
    offer = StimulusOffer("counts", STIMULI, 30, pooled=True, asked=np.full((1, len(STIMULI)), 30))
    rule = {"rule": "bayes_factor", "first_look": 10}
    found = planned(question_of(participants=20, stopping=rule), offer=offer)
    assert found.stopping is None
    assert found.design.n_participants == 30
