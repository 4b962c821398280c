"""What the grammars predict in words is true of the code that they write."""

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.engine.checks.prediction import read_predictions
from lakatos.theories.language.grammar import Composition, Grammar
from lakatos.theories.language.theory import TheoryProgram, read_program

FALSE = {
    "multiattribute": ("weighted_additive", {"property": "non_increasing", "in": "rating"}),
    "risky": ("expected_utility", {"property": "depends_on", "in": "ambiguity"}),
    "intertemporal": ("hyperbolic", {"property": "non_decreasing", "in": "delay"}),
    "learning": ("rescorla_wagner", {"property": "ignores", "in": "last_reward"}),
    "offers": ("logit", {"property": "ignores", "in": "sides"}),
    "estimation": ("exam", {"property": "ignores", "in": "sides"}),
    "public_goods": ("habit", {"property": "depends_on", "in": "talk"}),
    "attention": ("spotlight", {"property": "depends_on", "in": "previous_error"}),
    "games": ("level_1", {"property": "ignores", "in": "payoff"}),
    "perception": ("ddm", {"property": "ignores", "in": "strength"}),
    "recognition": ("sdt", {"property": "ignores", "in": "old"}),
    "stopping": ("bart_par4", {"property": "depends_on", "in": "last_reward"}),
    "search": ("fixed_threshold", {"property": "depends_on", "in": "last_reward"}),
    "sequences": ("encoding", {"property": "depends_on", "in": "backwards"}),
}
"""For a published theory of each domain something that it does not predict."""


def sparse(grammar: Grammar, rng: np.random.Generator, most: int) -> Composition:
    """One mechanism in every slot that needs one, and in at most so many others: rich ones keep few predictions."""
    full = grammar.compose(rng).slots
    needed = {slot.name for slot in grammar.slots if slot.least} | ({"comparison"} & set(full))
    free = rng.permutation([name for name in full if name not in needed and full[name]])[:most]
    return Composition(
        {name: names[:1] for name, names in full.items() if name in needed or name in free}
    )


def n_true(grammar: Grammar, composition: Composition, sandbox) -> int:
    """How many predictions there are, all of them tried; raises if the code contradicts one."""
    theory = read_program(TheoryProgram(grammar.write(composition, "Test"), "test"))
    report = check_claim(theory, DOMAINS[grammar.domain], sandbox)
    report.raise_for_contradiction()
    return len(report.tried)


@pytest.mark.long
@pytest.mark.parametrize("domain", FAMILIES)
def test_random_compositions_do_as_they_predict(domain, sandbox):
    grammar, rng = FAMILIES[domain].grammar, np.random.default_rng(1)
    assert sum(n_true(grammar, sparse(grammar, rng, 1), sandbox) for _ in range(3)) > 0


@pytest.mark.long
@pytest.mark.parametrize("domain", FAMILIES)
def test_many_random_compositions_do_as_they_predict(domain, sandbox):
    grammar, rng = FAMILIES[domain].grammar, np.random.default_rng(2)
    n_tried = [n_true(grammar, sparse(grammar, rng, number % 4), sandbox) for number in range(60)]
    n_tried += [n_true(grammar, grammar.compose(rng), sandbox) for _ in range(20)]
    assert np.mean(n_tried) > 0.5


@pytest.mark.long
@pytest.mark.parametrize("domain", FAMILIES)
def test_published_theories_with_any_one_mechanism_do_as_they_then_predict(domain, sandbox):
    grammar = FAMILIES[domain].grammar
    seeds = [composition for _, composition in FAMILIES[domain].seeds.values()]
    for number, item in enumerate(grammar.mechanisms):
        n_true(
            grammar,
            Composition({**seeds[number % len(seeds)].slots, item.slot: (item.name,)}),
            sandbox,
        )


@pytest.mark.slow
@pytest.mark.parametrize("domain", FALSE)
def test_a_composition_of_which_something_false_is_predicted_is_refused(domain, sandbox):
    (seed, wrong), family = FALSE[domain], FAMILIES[domain]
    composition = family.seeds[seed][1]
    lying = replace(family.grammar, predictions=(wrong,))
    report = check_theory(
        TheoryProgram(lying.write(composition, "Test"), "test"), DOMAINS[domain], sandbox
    )
    assert {check.error for check in report.failures} == {"ClaimContradictedError"}


@pytest.mark.parametrize("domain", FAMILIES)
def test_predictions_read_back_as_they_are_declared(domain):
    grammar, rng = FAMILIES[domain].grammar, np.random.default_rng(3)
    for _ in range(20):
        composition = grammar.compose(rng)
        read = read_predictions(grammar.write(composition, "Test"))
        assert [item.to_literal() for item in read] == grammar.predictions_of(composition)


@pytest.mark.parametrize("domain", FAMILIES)
def test_mechanisms_break_only_what_somebody_predicts(domain):
    grammar = FAMILIES[domain].grammar
    stated = [
        *grammar.predictions,
        *(item for part in grammar.mechanisms for item in part.predictions),
    ]
    known = {item["in"] for item in stated if "in" in item}
    known |= {f"{item['property']} {item.get('in', '')}".strip() for item in stated}
    assert {
        (item.slot, item.name, word)
        for item in grammar.mechanisms
        for word in set(item.breaks) - known
    } == set()
