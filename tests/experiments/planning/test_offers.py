"""Offers are compared one at a time: as when all are asked about together, in the memory of one."""

import tracemalloc

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.information import information_of_batch
from lakatos.experiments.planning.offers import most_informative_first
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
