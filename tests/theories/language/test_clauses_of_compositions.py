"""A clause is stated only if a later mechanism uses what it states."""

from lakatos.domains import FAMILIES
from lakatos.theories.language.grammar import Composition, Grammar
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
    assert "sample one cue in proportion to its weight and decide by it" in claim
    assert "balance the reasons" not in claim
    walk = claim_of("multiattribute", "Random walk between two bounds")
    assert "until the lead of one product reaches a threshold." in walk
    assert "balance the reasons" not in walk


def test_every_mechanism_that_another_clause_replaces_names_known_slots() -> None:
    for family in FAMILIES.values():
        grammar: Grammar = family.grammar
        known = {slot.name for slot in grammar.slots}
        known |= {f"{item.slot}:{item.name}" for item in grammar.mechanisms}
        assert all({*item.beside[0], *item.replaces} <= known for item in grammar.mechanisms)


def claim(domain: str, **slots: str | tuple[str, ...]) -> str:
    grammar = FAMILIES[domain].grammar
    source = grammar.write(Composition.of(slots))
    return read_program(TheoryProgram(source, "advocate")).claim


def test_a_rule_of_one_cue_does_not_stand_beside_a_clause_on_the_weights_of_all() -> None:
    for title in ("Take the best", "Take two", "Lexicographic semiorder"):
        assert "weight cues" not in claim_of("multiattribute", title)
    products = {
        "utility": "linear",
        "comparison": "direction",
        "weight": "log_odds",
        "integration": "balance",
        "choice": "first_reason_drawn",
    }
    assert "weight cues by the log odds that they are right" in claim("multiattribute", **products)
    one = claim("multiattribute", **products, selection="single_cue")
    assert one == (
        "People note on each cue only which product is better, not by how much. "
        "They use only one cue, of the same validity rank on every trial."
    )


def test_a_clause_that_something_is_ignored_goes_where_another_mechanism_uses_it() -> None:
    assert claim_of("multiattribute", "Best worst rating").startswith(
        "People prefer the product whose worst rating is better"
    )
    sooner = {"comparison": "first to come", "choice": "logistic"}
    assert claim("intertemporal", **sooner).startswith("People choose by the delays alone.")
    drawn = claim("intertemporal", **sooner, attention="relative amount difference")
    assert drawn.startswith("People prefer what comes sooner.")


def test_people_who_choose_the_worse_product_are_not_said_to_choose_the_better_one() -> None:
    products = {
        "utility": "linear",
        "comparison": "difference",
        "weight": "validity",
        "integration": "sum",
        "choice": "deterministic",
    }
    told = claim("multiattribute", **products, other="contrarians")
    assert "guess only if neither product is ahead" in told
    assert "choose the product that is ahead" not in told


def test_a_race_adds_evidence_to_a_rate_of_both_responses() -> None:
    told = claim_of("perception", "Linear ballistic accumulators")
    assert "whatever the stimulus" not in told
    assert "to the rate of the correct response's accumulator" in told


def test_numbers_near_two_amounts_are_amounts_between_them_also_where_one_is_a_part() -> None:
    told = claim(
        "public_goods",
        payoff="no cost",
        others="match a part",
        habit="near the last gift",
        choice="logistic",
    )
    assert told.startswith(
        "People give amounts between a part of what the others gave on average and what they gave in the previous round"
    )


def test_of_two_kinds_of_detection_each_share_is_of_its_own_items() -> None:
    family = FAMILIES["recognition"].grammar
    both = {"strength": "any strength", "criteria": "equally spaced", "evidence": "normal"}
    slots = Composition.of(
        {**both, "report": "less than sure", "detection": ("new items", "false alarms")}
    )
    texts = [wording.clause for wording in family.clauses(slots)]
    assert any("of those that they do not falsely detect as old" in text for text in texts)


def test_payoff_dominance_keeps_its_clause_where_the_equilibrium_has_hardly_an_effect() -> None:
    family = FAMILIES["games"]
    (slots,) = (slots for name, slots in family.seeds.values() if name == "Payoff dominance")
    source = family.grammar.write(slots, "Payoff dominance")
    theory = read_program(TheoryProgram(source, "published"))
    weak = theory.priors["payoff_dominance"].narrowed(0.001, 0.0001, doubt=0.1)
    told = theory.with_people({"payoff_dominance": weak})
    assert told.name == "Payoff dominance"
    assert (
        "are also hardly drawn to the row of the equilibrium with their highest payoff"
        in told.claim
    )
