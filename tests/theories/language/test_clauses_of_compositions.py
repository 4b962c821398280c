"""A clause is stated only if a later mechanism uses what it states."""

from lakatos.domains import FAMILIES
from lakatos.theories.language.grammar import Grammar
from lakatos.theories.language.theory import TheoryProgram, read_program


def claim_of(domain: str, title: str) -> str:
    family = FAMILIES[domain]
    (composition,) = (slots for name, slots in family.seeds.values() if name == title)
    return read_program(TheoryProgram(family.grammar.write(composition, title), "published")).claim


def test_a_default_that_no_later_mechanism_uses_is_not_stated() -> None:
    assert "columns" not in claim_of("games", "Minimax regret")
    assert "columns" not in claim_of("games", "Maximax")
    assert "as if all columns of the other player were equally likely" in claim_of(
        "games", "Level 1"
    )


def test_a_sum_of_reasons_is_not_stated_beside_a_choice_that_samples_them() -> None:
    claim = claim_of("multiattribute", "Elimination by aspects")
    assert "sample one reason in proportion to its weight and decide by it" in claim
    assert "balance the reasons" not in claim
    walk = claim_of("multiattribute", "Random walk between two bounds")
    assert "until the lead of one product reaches a threshold." in walk
    assert "balance the reasons" not in walk


def test_every_mechanism_that_another_clause_replaces_names_known_slots() -> None:
    for family in FAMILIES.values():
        grammar: Grammar = family.grammar
        known = {slot.name for slot in grammar.slots}
        known |= {f"{item.slot}:{item.name}" for item in grammar.mechanisms}
        assert all(set(item.beside[0]) <= known for item in grammar.mechanisms)


def test_payoff_dominance_keeps_its_clause_where_the_equilibrium_has_hardly_an_effect() -> None:
    family = FAMILIES["games"]
    (slots,) = (slots for name, slots in family.seeds.values() if name == "Payoff dominance")
    source = family.grammar.write(slots, "Payoff dominance")
    theory = read_program(TheoryProgram(source, "published"))
    weak = theory.priors["payoff_dominance"].narrowed(0.001, 0.0001, doubt=0.1)
    told = theory.with_people({"payoff_dominance": weak})
    assert told.name == "Payoff dominance"
    assert "are hardly drawn to the row of the equilibrium with their highest payoff" in told.claim
