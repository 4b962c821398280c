"""Offers are compared one at a time, without what a study forbids; schedules are tried on simulated participants."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from known_rivals import question_of, trials

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.errors import EmptyDesignSpaceError
from lakatos.experiments.information import information_of_batch
from lakatos.experiments.planning.offers import (
    FEW_PEOPLE,
    FINALISTS,
    most_informative_first,
    ranked_schedules,
    with_schedules,
    without_forbidden,
)
from lakatos.experiments.planning.plan import PEOPLE
from lakatos.experiments.planning.question import DesignQuestion
from lakatos.experiments.planning.settings import DesignConfig
from lakatos.experiments.task import StimulusOffer
from lakatos.theories.discovery.design_rivals import RivalTheories
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.language.theory import read_program

DOMAIN = DOMAINS["intertemporal"]
SEEDS = ("exponential", "hyperbolic")


@pytest.fixture(scope="module")
def question():
    theories = [read_program(FAMILIES["intertemporal"].program(name)) for name in SEEDS]
    with Laboratory(DOMAIN, 1) as laboratory:
        yield DesignQuestion(
            domain=DOMAIN,
            space={},
            settings=DesignConfig(),
            rivals=RivalTheories(laboratory, theories),
            digests=tuple(theory.digest for theory in theories),
            names=SEEDS,
            open_pairs=((0, 1),),
            log_prior=np.log([0.5, 0.5]),
        )


def offers_of(n_offers, n_trials):
    drawn = DOMAIN.candidates({}, np.random.default_rng(0), n_offers * n_trials)
    assert len(drawn) == n_offers * n_trials
    parts = np.split(np.arange(len(drawn)), n_offers)
    return [StimulusOffer(str(place), drawn.take(rows), 10) for place, rows in enumerate(parts)]


def test_the_order_is_that_of_offers_that_are_asked_about_together(question):
    offers, rng = offers_of(5, 30), np.random.default_rng(1)
    together = question.rivals.answers([offer.stimuli for offer in offers])
    worth = [
        information_of_batch(
            [own[place] for own in together], question.log_prior, rng=rng, n_people=200
        ).value
        for place in range(len(offers))
    ]
    best_first = np.argsort(-np.array(worth), kind="stable").tolist()
    assert best_first != list(range(5))
    found = most_informative_first(question, offers, np.random.default_rng(1))
    assert [int(offer.archive) for offer in found] == best_first


def test_many_offers_take_no_more_memory_than_one(question):
    def peak(offers):
        tracemalloc.start()
        try:
            most_informative_first(question, offers, np.random.default_rng(1))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    offers = offers_of(6, 700)
    assert peak(offers) < 1.3 * peak(offers[:1])


LEARNING = DOMAINS["learning"]
SPACE = {"task": "reversal", "n_steps": 6}


def schedule(seed):
    return LEARNING.candidates(SPACE, np.random.default_rng(seed), 6)


@pytest.mark.parametrize(("n_given", "n_schedules"), [(1, 4), (4, 4), (6, 4)])
def test_as_many_schedules_are_compared_as_the_study_says_those_given_first(n_given, n_schedules):
    asked = replace(question_of(schedules=n_schedules, candidates=6), domain=LEARNING, space=SPACE)
    given = [StimulusOffer("", schedule(seed), 10) for seed in range(n_given)]
    found = with_schedules(asked, given, np.random.default_rng(1))
    assert len(found) == n_schedules
    assert found[:n_given] == given[:n_schedules]
    assert len({offer.stimuli.keys for offer in found}) == n_schedules
    assert {(len(offer.stimuli), offer.n_participants) for offer in found} == {(6, 10)}


def test_schedules_of_an_archive_are_all_compared_and_none_is_made():
    asked = replace(question_of(schedules=4), domain=LEARNING, space=SPACE)
    given = [StimulusOffer(f"{seed}", schedule(seed), 10) for seed in range(6)]
    assert with_schedules(asked, given, np.random.default_rng(1)) == given


def test_trials_that_the_study_forbids_are_in_no_offer():
    asked = question_of(forbidden=["delay_difference >= 60"])
    some, none = (StimulusOffer(name, stimuli, 5) for name, stimuli in MIXED.items())
    kept = without_forbidden(asked, [none, some])
    assert [offer.archive for offer in kept] == ["some"]
    assert (DOMAIN.features(kept[0].stimuli)["delay_difference"] < 60).all()
    assert 0 < len(kept[0].stimuli) < len(some.stimuli)


MIXED = {"some": trials(3, 3), "none": trials(300, 0).take([-1])}


def test_a_study_that_forbids_every_trial_is_refused_with_its_conditions():
    asked = question_of(forbidden=["delay_difference >= 60"])
    with pytest.raises(EmptyDesignSpaceError, match=r"delay_difference >= 60\)\. Allow some"):
        without_forbidden(asked, [StimulusOffer("none", MIXED["none"], 5)])


def test_of_many_schedules_the_most_telling_are_tried_on_more_participants():
    offers = [StimulusOffer(f"{n}", trials(n, 6 - n), 0) for n in (0, 3, 1, 6, 2, 4)]
    asked = question_of()
    found = ranked_schedules(asked, offers, np.random.default_rng(0))
    assert found[0][0].archive == "6"
    assert len(found) == FINALISTS
    assert asked.rivals.n_people == [FEW_PEOPLE] * 6 + [PEOPLE] * FINALISTS
    assert [scores.shape for _, scores in found] == [(2, PEOPLE, 2)] * FINALISTS
    assert "0" not in [offer.archive for offer, _ in found]


def test_few_schedules_are_tried_on_many_participants_at_once():
    offers = [StimulusOffer(f"{n}", trials(n, 6 - n), 0) for n in (0, 6)]
    asked = question_of()
    found = ranked_schedules(asked, offers, np.random.default_rng(0))
    assert [offer.archive for offer, _ in found] == ["6", "0"]
    assert asked.rivals.n_people == [PEOPLE] * 2
