"""Every mechanism states what its estimates mean, or there is a reason why one of them is not stated."""

from __future__ import annotations

import re

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.language.account import PLACE
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import read_program

STRICTNESS = "how strictly choices follow a reason: no value in its range is without effect"
SHAPE = "the form of a curve or of a memory, of which the clause states the direction"
LIMIT = "where a rule begins, on a scale of evidence that has no meaning to a reader"
UNSTATED = {
    "sensitivity": STRICTNESS,
    "other_strictness": STRICTNESS,
    "confusion": STRICTNESS,
    "specificity": STRICTNESS,
    "matching": STRICTNESS,
    "following_low": STRICTNESS,
    "following_high": STRICTNESS,
    "inertia": STRICTNESS,
    "custom": STRICTNESS,
    "selfishness": STRICTNESS,
    "time_weight": STRICTNESS,
    "weight_of_amount": STRICTNESS,
    "weight_of_interest": STRICTNESS,
    "weight_of_delay": STRICTNESS,
    "scatter": STRICTNESS,
    "uncertainty": STRICTNESS,
    "noise_share": STRICTNESS,
    "doubt": STRICTNESS,
    "discount_rate": SHAPE,
    "decline": SHAPE,
    "anticipation": SHAPE,
    "fading": SHAPE,
    "contraction": SHAPE,
    "amount_contraction": SHAPE,
    "delay_contraction": SHAPE,
    "risk_aversion": SHAPE,
    "blur": SHAPE,
    "rate": SHAPE,
    "attention_rate": SHAPE,
    "drift": SHAPE,
    "first_uncertainty": SHAPE,
    "worth_low": SHAPE,
    "worth_below_middle": SHAPE,
    "worth_above_middle": SHAPE,
    "worth_high": SHAPE,
    "worth_top": SHAPE,
    "rank_looked_up": "the clause states that the rank is fixed; which one depends on the number of cues",
    "rank_left_out": "the clause states that the rank is fixed; which one depends on the number of cues",
    "close_call_by_accents": LIMIT,
    "close_call_by_first_reason": LIMIT,
    "close_call_by_majority": LIMIT,
    "clear_call": LIMIT,
    "credulity": LIMIT,
    "indifference": LIMIT,
}
"""Parameters of mechanisms whose wording states none of their estimates, with the reason."""


OF_RESPONSES = ("constant", "extremeness", "last_choice")
"""Features that a diagnosis computes from responses, whatever the domain."""
ABSENT = ("nothing", "guessing")
"""Mechanisms that leave something out, and so have no source."""
UNSAID = (
    "credit:direct", "tastes:selfish others", "choice:logistic", "answer:to the end", "payoff:no cost",
)  # fmt: skip
"""Mechanisms that complete a theory and that no claim states."""


def stated(mechanism):
    """Parameters that decide what a mechanism states, or that it states a value of."""
    texts = [
        text
        for wording in mechanism.wordings
        for text in (wording.clause, wording.opposite_clause, wording.neutral_clause)
    ]
    places = {item["name"] for text in texts for item in PLACE.finditer(text)}
    return {wording.parameter for wording in mechanism.wordings} | places


@pytest.mark.parametrize("domain", FAMILIES)
def test_a_mechanism_states_an_estimate_or_there_is_a_reason(domain):
    for mechanism in FAMILIES[domain].grammar.mechanisms:
        parameters = set(mechanism.parameters)
        if parameters and parameters.isdisjoint(stated(mechanism)):
            assert parameters <= set(UNSTATED), mechanism.name


def test_every_reason_is_needed():
    silent = [
        set(mechanism.parameters)
        for family in FAMILIES.values()
        for mechanism in family.grammar.mechanisms
        if set(mechanism.parameters).isdisjoint(stated(mechanism))
    ]
    assert set(UNSTATED) == set().union(*silent)


@pytest.mark.parametrize("domain", FAMILIES)
def test_a_wording_names_parameters_of_its_own_mechanism(domain):
    for mechanism in FAMILIES[domain].grammar.mechanisms:
        words = {"", "much", "far", "who"}
        assert stated(mechanism) - words <= set(mechanism.parameters), mechanism.name


@pytest.mark.parametrize("domain", FAMILIES)
def test_a_ratio_below_one_stands_beside_a_clause_that_compares_in_the_opposite_order(domain):
    """Its inverse is stated there: "weight gains more than losses (ratio 2)", not "losses less than gains"."""
    compared = re.compile(r"\{(?:far|much)\}(more |less )?(\w+)")
    for mechanism in FAMILIES[domain].grammar.mechanisms:
        for wording in mechanism.wordings:
            if wording.parameter not in mechanism.parameters or not wording.opposite_clause:
                continue
            prior = parse_prior(wording.parameter, mechanism.parameters[wording.parameter])
            is_stated = compared.search(wording.clause) and "(" not in wording.opposite_clause
            if is_stated and (prior.unit, wording.neutral) == ("ratio", 1.0):
                words = compared.findall(wording.clause)
                assert compared.findall(wording.opposite_clause) == words, mechanism.name
                assert wording.opposite_clause != wording.clause, mechanism.name


@pytest.mark.parametrize("domain", FAMILIES)
def test_a_mechanism_is_stated_in_general_without_values_or_places(domain):
    for mechanism in FAMILIES[domain].grammar.mechanisms:
        assert not set("{}[]|") & set(mechanism.claim), mechanism.claim
        assert not mechanism.claim.startswith(" "), mechanism.claim
        assert not mechanism.claim.endswith("."), mechanism.claim


@pytest.mark.parametrize("domain", FAMILIES)
def test_a_mechanism_has_a_source_units_and_repairs_that_are_known(domain):
    probes = DOMAINS[domain].probes(np.random.default_rng(0))
    known = set(OF_RESPONSES).union(*(DOMAINS[domain].features(stimuli) for stimuli in probes))
    for mechanism in FAMILIES[domain].grammar.mechanisms:
        assert mechanism.source or mechanism.name in ABSENT, mechanism.name
        assert mechanism.claim or f"{mechanism.slot}:{mechanism.name}" in UNSAID, mechanism.name
        assert all(prior["unit"] and prior["meaning"] for prior in mechanism.parameters.values())
        assert set(mechanism.repairs) <= known, mechanism.name


def claim_of(domain, name):
    """Claim of a published theory whose parameters were estimated at the middle of their ranges."""
    family = FAMILIES[domain]
    theory = read_program(family.program(name))
    middle = {
        key: prior.narrowed(float(np.mean(prior.latent(np.array([prior.low, prior.high])))), 1e-3)
        for key, prior in theory.priors.items()
    }
    return theory.with_people(middle).claim


@pytest.mark.parametrize(
    ("domain", "name", "words"),
    [
        ("recognition", "sdt", "Memory evidence is normally distributed and higher for old items (d' = 0.63)."),
        ("recognition", "uvsd", "Memory evidence is more variable for old items than for new ones (SD ratio "),
        ("recognition", "extreme_value_sdt", "Memory evidence has a Gumbel distribution and is higher for old items"),
        ("recognition", "two_high_threshold", "People guess if they do not detect an item as old or new."),
        ("intertemporal", "hyperbolic", "People discount delayed amounts hyperbolically (k = 0.0"),
        ("intertemporal", "exponential", "People discount delayed amounts exponentially (k = 0.0"),
        ("attention", "steady", "press a key when it reaches one of two bounds"),
        ("perception", "lognormal_race", "median 0.71 s for a stimulus of no strength, SD of its logarithm 0.32)"),
        ("perception", "full_ddm", "The starting point varies between trials (range 45% of the distance to"),
        ("perception", "lba", "rates are constant within a trial"),
        ("risky", "expected_utility", "weight outcomes by their probabilities"),
        ("risky", "cumulative_prospect_theory", "weight outcomes by cumulative probabilities"),
    ],
)  # fmt: skip
def test_a_claim_uses_the_terms_of_its_field(domain, name, words):
    assert words in claim_of(domain, name)


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        ("games", "choose the row with the smaller maximum regret (minimax regret)"),
        ("games", "choose the row with the higher minimum payoff (maximin)"),
        ("learning", "perseverate: they tend to repeat their last choice, whatever its outcome (or the opposite: the "
         "direction is estimated)"),
        ("attention", "accumulate evidence at a rate that varies between trials"),
        ("estimation", "predictions are biased towards the mean height of all points (or the opposite: the direction "
         "is estimated)"),
        ("recognition", "falsely detect some new items as old"),
    ],
)  # fmt: skip
def test_a_mechanism_is_stated_in_the_terms_of_its_field(domain, words):
    assert words in [mechanism.claim for mechanism in FAMILIES[domain].grammar.mechanisms]
