"""Clauses are tried on the code at the learned numbers: what contradicts it is refused."""

from dataclasses import replace

import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.claim_exam import check_clauses
from lakatos.theories.language.account import Wording, tell_clause
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.rewrite import with_literal
from lakatos.theories.language.theory import TheoryProgram, read_program

CASES = {
    "multiattribute": ("weighted_additive", "accent", "majority", "majority_bonus", 0.8),
    "risky": ("expected_value", "attention", "worst outcome", "pessimism", 2.0),
    "offers": ("logit", "attention", "no contract", "freedom", 1.5),
    "games": ("level_2", "social", "care for the other", "care", 0.3),
    "public_goods": ("habit", "taste", "where coins lie", "default_effect", 2.0),
    "attention": ("fading_pull", "habit", "quick repetitions", "saving", 0.08),
    "learning": ("rescorla_wagner", "habit", "perseveration", "stickiness", 1.5),
}
"""For each domain a published theory, a further mechanism, its parameter and a value of it."""


def theory_of(domain, value=None):
    """The case of a domain, learned numbers close to the middle of their ranges, the case's own at a value."""
    seed, slot, name, by, usual = CASES[domain]
    grammar = FAMILIES[domain].grammar
    composition = Composition({**FAMILIES[domain].seeds[seed][1].slots, slot: (name,)})
    literals = {}
    for parameter, literal in grammar.parameters(composition).items():
        prior = parse_prior(parameter, literal)
        low, high = (float(prior.latent(x)) for x in (prior.low, prior.high))
        center = (usual if value is None else value) if parameter == by else prior.quantile(0.5)
        literals[parameter] = prior.narrowed(
            float(prior.latent(center)), 0.03 * (high - low)
        ).to_literal()
    return read_program(
        TheoryProgram(grammar.write(Composition(composition.slots, literals)), "test")
    ), by


@pytest.mark.parametrize("domain", CASES)
def test_what_a_theory_says_at_its_numbers_is_true_of_its_code(domain, sandbox):
    theory, by = theory_of(domain)
    tried = check_clauses(theory, DOMAINS[domain], sandbox)
    assert by in [item.clause.wording.parameter for item in tried]
    assert [item.sentence for item in tried if not item.held] == []


@pytest.mark.parametrize("domain", ["multiattribute", "offers", "learning"])
def test_the_words_of_the_opposite_sign_are_refused(domain, sandbox):
    theory, by = theory_of(domain)
    reversed_, _ = theory_of(domain, -CASES[domain][-1])
    words = [item for item in theory.account().clauses if item.wording.parameter == by]
    (tried,) = check_clauses(reversed_, DOMAINS[domain], sandbox, clauses=words)
    assert not tried.held
    assert "contradicts" in tried.sentence
    assert reversed_.claim != theory.claim


@pytest.mark.parametrize("domain", ["multiattribute", "offers"])
def test_a_clause_that_turns_choices_round_exempts_no_other_clause_from_its_direction(
    domain, sandbox
):
    """Nor does one that only a source's own words state, which nobody can take out of its code."""
    theory, by = theory_of(domain)
    reversed_, _ = theory_of(domain, -CASES[domain][-1])
    words = [item for item in theory.account().clauses if item.wording.parameter == by]
    turning = tell_clause(Wording("rebel now and then", overrides=True), {})
    (tried,) = check_clauses(reversed_, DOMAINS[domain], sandbox, clauses=[*words, turning])
    assert not tried.held
    assert "contradicts" in tried.sentence


@pytest.mark.parametrize(
    ("domain", "slot", "name"),
    [
        ("multiattribute", "appraisal", "contrarian"),
        ("risky", "twist", "contrarian"),
        ("risky", "mixture", "at times the opposite"),
    ],
)
def test_directions_are_tried_without_the_part_that_turns_choices_round(
    domain, slot, name, sandbox
):
    """Contrarians are drawn to what the clause names, and then choose against it: both are told, and both are true."""
    seed, own_slot, own, by, usual = CASES[domain]
    grammar = FAMILIES[domain].grammar
    slots = {**FAMILIES[domain].seeds[seed][1].slots, own_slot: (own,), slot: (name,)}
    composition = Composition(slots)
    literals = {
        parameter: parse_prior(parameter, literal)
        for parameter, literal in grammar.parameters(composition).items()
    }
    low, high = (float(literals[by].latent(x)) for x in (literals[by].low, literals[by].high))
    literals[by] = literals[by].narrowed(float(literals[by].latent(usual)), 0.03 * (high - low))
    priors = {parameter: prior.to_literal() for parameter, prior in literals.items()}
    theory = read_program(
        TheoryProgram(grammar.write(Composition(composition.slots, priors)), "test")
    )
    tried = {
        item.clause.wording.parameter: item
        for item in check_clauses(theory, DOMAINS[domain], sandbox)
    }
    assert tried[by].held
    assert "chosen more often" in tried[by].sentence


def test_a_strength_that_is_not_there_and_a_hardly_that_is_are_refused(sandbox):
    theory, by = theory_of("multiattribute")
    idle, _ = theory_of("multiattribute", 0.0)
    strong = [item for item in theory.account().clauses if item.wording.parameter == by]
    source = idle.program.source.replace('["majority_bonus"]', '["lapse"] * 0.0')
    unused = read_program(replace(idle.program, source=source))
    (tried,) = check_clauses(unused, DOMAINS["multiattribute"], sandbox, clauses=strong)
    assert tried.idle
    assert not tried.held
    habit, by = theory_of("learning")
    weak = [
        replace(item, strength="hardly")
        for item in habit.account().clauses
        if item.wording.parameter == by
    ]
    (tried,) = check_clauses(habit, DOMAINS["learning"], sandbox, clauses=weak)
    assert not tried.held


def test_clauses_that_are_not_those_of_the_mechanisms_are_refused(sandbox):
    theory, _ = theory_of("multiattribute")
    literal = [item.to_literal() for item in theory.clauses]
    place = next(
        number for number, item in enumerate(theory.clauses) if item.parameter == "majority_bonus"
    )
    literal[place] = replace(
        theory.clauses[place], clause=theory.clauses[place].opposite_clause
    ).to_literal()
    source = with_literal(theory.program.source, "CLAUSES", literal)
    report = check_theory(
        replace(theory.program, source=source), DOMAINS["multiattribute"], sandbox
    )
    assert {check.error for check in report.failures} == {"ClaimContradictedError"}
    assert "not those of the mechanisms" in report.failures[0].sentence
