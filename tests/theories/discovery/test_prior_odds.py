"""Prior odds of mechanisms: exact values, and where a search heeds them."""

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.theories.discovery.grammar_search.advocate import GrammarAdvocate
from lakatos.theories.discovery.grammar_search.prior_odds import EQUAL_ODDS, PriorOdds, prior_odds
from lakatos.theories.discovery.grammar_search.proposal import AdvocateBrief
from lakatos.theories.discovery.grammar_search.prune import is_no_loss, prune
from lakatos.theories.engine.scoring.score import ScoreEstimate
from lakatos.theories.language.grammar import Composition
from tests.theories.discovery import test_advocate, test_prune

GRAMMAR = test_advocate.GRAMMAR
LIKE_I = Composition({"first": ("b",), "second": ("f",), "third": ("i",)})


def test_without_earlier_campaigns_all_odds_are_equal():
    assert prior_odds(GRAMMAR, []) == EQUAL_ODDS
    assert EQUAL_ODDS.of(LIKE_I) == 0.0


def test_odds_are_shares_with_two_pseudo_counts_against_chance():
    odds = prior_odds(GRAMMAR, [LIKE_I] * 4)
    # One of four mechanisms fills the first slot, so chance is 1/4 and the share (4 + 2/4) / 6.
    assert odds.present["first", "b"] == pytest.approx(np.log(0.75 / 0.25), abs=0.15)
    assert odds.present["first", "a"] == pytest.approx(np.log((0.5 / 6) / 0.25), abs=0.05)
    assert ("first", "b") not in odds.absent  # that slot is always filled by one
    assert odds.absent["third", "i"] < 0 < odds.absent["third", "j"]


def test_a_composition_gains_by_what_it_has_and_by_what_it_lacks():
    odds = PriorOdds({("third", "i"): 2.0}, {("third", "i"): -1.0, ("third", "j"): 0.5})
    assert odds.of(LIKE_I) == pytest.approx(2.0 + 0.5)
    without = Composition({"first": ("b",), "second": ("f",)})
    assert odds.of(without) == pytest.approx(-1.0 + 0.5)


@pytest.mark.parametrize("domain", sorted(FAMILIES))
def test_odds_of_every_grammar_are_finite_and_the_same_each_time(domain):
    family = FAMILIES[domain]
    earlier = [form for _, form in family.seeds.values()]
    odds = prior_odds(family.grammar, earlier)
    assert odds == prior_odds(family.grammar, earlier)
    assert np.isfinite([*odds.present.values(), *odds.absent.values()]).all()


def test_a_simplification_pays_the_prior_odds_that_it_gives_up():
    cost = ScoreEstimate(0.001, 0.0)
    assert is_no_loss(cost, worth=0.002)
    assert is_no_loss(cost, worth=0.002, prior=0.001)
    assert not is_no_loss(cost, worth=0.002, prior=0.0011)
    assert is_no_loss(ScoreEstimate(0.0025, 0.0), worth=0.002, prior=-0.001)


@pytest.mark.parametrize(("nats", "stays"), [(0.0, False), (0.05, False), (0.2, True)])
def test_elimination_keeps_an_idle_part_only_for_odds_beyond_its_price(nats, stays):
    """200 responses and a price of 0.001 for a parameter, 0.0003 for a mechanism: odds of 0.26 nats in all."""
    odds = PriorOdds({("extra", "z"): nats * 1.5})
    found = prune(
        test_prune.GRAMMAR,
        test_prune.FULL,
        test_prune.bench({"curved": 0.02, "x": 0.02, "y": 0.02}, noise=0.0),
        price=1e-3,
        odds=odds,
    )
    assert ("z" in test_prune.names_of(found)) == stays


def test_among_equals_the_search_prefers_what_earlier_campaigns_found():
    bench = test_advocate.Bench({"i": 0.2, "j": 0.2})
    odds = {("third", "j"): 30.0}
    best = GrammarAdvocate(GRAMMAR, afresh=0.0, odds=PriorOdds(odds)).revise(
        AdvocateBrief((test_advocate.START,), n_candidates=100), bench, np.random.default_rng(0)
    )
    assert "j" in test_advocate.names_of(best.submitted[0])
