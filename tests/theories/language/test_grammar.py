"""The grammar: what it refuses, edits one change away, and source that reads back as the composition."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lakatos.domains import FAMILIES
from lakatos.theories.discovery.grammar_search.search_tree import combined
from lakatos.theories.engine.checks.complexity import form_of_source
from lakatos.theories.errors import GrammarError
from lakatos.theories.language.grammar import (
    Composition,
    Grammar,
    Mechanism,
    SkeletonSlot,
    composition_of,
)
from lakatos.theories.language.theory import TheoryProgram, read_program

SLOPE = {"slope": {"prior": "log_uniform", "low": 0.1, "high": 10.0}}
SMALL = Grammar(
    domain="small",
    slots=(SkeletonSlot("value"), SkeletonSlot("extra", 0, 2), SkeletonSlot("choice")),
    mechanisms=(
        Mechanism(
            slot="value", name="plain", clause="take a number as it is", code="value = trials['x']"
        ),
        Mechanism(
            slot="value",
            name="root",
            clause="take well-known roots of numbers",
            code="value = trials['x'] ** 0.5",
            repairs=("size",),
        ),
        Mechanism(slot="extra", name="first", clause="like the first", code="value = value - 1"),
        Mechanism(
            slot="extra",
            name="second",
            clause="like the second",
            code="value = value + 1",
            repairs=("size",),
        ),
        Mechanism(
            slot="choice",
            name="soft",
            clause="choose",
            code="p = 1 / (1 + xp.exp(-parameters['slope'] * value))",
            parameters=SLOPE,
        ),
    ),
    before="",
    after="return p",
)
AVERAGED = {
    "utility": "linear",
    "comparison": "difference",
    "weight": "validity",
    "integration": "average",
}
PLAIN = Composition({"value": ("plain",), "choice": ("soft",)})


@st.composite
def compositions(draw):
    """A grammar of a family and any coherent composition that it allows."""
    grammar = draw(st.sampled_from([family.grammar for family in FAMILIES.values()] + [SMALL]))
    slots = {}
    for slot in draw(st.permutations(grammar.slots)):
        known = [item.name for item in grammar.mechanisms if item.slot == slot.name]
        most = min(slot.most, len(known))
        names = draw(
            st.lists(st.sampled_from(known), min_size=slot.least, max_size=most, unique=True)
        )
        if names:
            slots[slot.name] = tuple(names)
    assume(grammar.is_coherent(Composition(slots)))
    return grammar, Composition(slots)


def n_changes(first: Composition, second: Composition) -> int:
    """Mechanisms to drop, add or replace to come from one to the other, slot by slot."""
    return sum(
        max(len(a - b), len(b - a))
        for slot in {*first.slots, *second.slots}
        for a, b in [(set(first.slots.get(slot, ())), set(second.slots.get(slot, ())))]
    )


@settings(max_examples=40, deadline=None)
@given(compositions())
def test_edits_are_one_change_away_distinct_allowed_and_reversible(case):
    grammar, composition = case
    edits = grammar.edits(composition)
    keys = [edit.key for _, edit in edits]
    assert len(set(keys)) == len(keys)
    assert composition.key not in keys
    for _, edit in edits:
        assert n_changes(composition, edit) == 1
        grammar.used(edit)
    for _, edit in edits[:3]:
        assert composition.key in {back.key for _, back in grammar.edits(edit)}


@settings(max_examples=40, deadline=None)
@given(compositions())
def test_a_composition_written_to_source_reads_back_as_the_same_theory(case):
    grammar, composition = case
    theory = read_program(TheoryProgram(grammar.write(composition, "A name"), "x"))
    assert theory.name == "A name"
    assert {slot: set(names) for slot, names in theory.composition.items()} == {
        slot: set(names) for slot, names in composition.slots.items() if names
    }
    assert list(theory.priors) == list(grammar.parameters(composition))
    assert theory.claim == theory.account().claim
    subjects = {clause.wording.subject or "people" for clause in theory.account().clauses}
    assert any(f"{subject} " in theory.claim.casefold() for subject in subjects)
    assert theory.claim.count(". ") < len(theory.account().clauses)
    again = composition_of(
        theory.composition, {name: prior.to_literal() for name, prior in theory.priors.items()}
    )
    assert read_program(TheoryProgram(grammar.write(again, "A name"), "x")).priors == theory.priors


@settings(max_examples=40, deadline=None)
@given(compositions(), st.randoms(use_true_random=False))
def test_one_structure_is_one_source_whatever_the_order_in_which_it_is_named(case, random):
    grammar, composition = case
    slots = [
        (slot, tuple(random.sample(names, len(names)))) for slot, names in composition.slots.items()
    ]
    random.shuffle(slots)
    assert grammar.write(Composition(dict(slots)), "T") == grammar.write(composition, "T")


@settings(max_examples=40, deadline=None)
@given(compositions())
def test_source_that_is_only_glanced_at_answers_as_the_theory_does(case):
    grammar, composition = case
    told, untold = grammar.write(composition), grammar.write_untold(composition)
    assert form_of_source(untold) == form_of_source(told)
    assert read_program(TheoryProgram(untold, "grammar")).priors == (
        read_program(TheoryProgram(told, "grammar")).priors
    )


def test_two_orders_of_the_same_edits_lead_to_one_title():
    def follow(*changes):
        composition = PLAIN
        for change in changes:
            composition = dict(SMALL.edits(composition))[change]
        return composition

    there = follow("add first to extra", "replace plain by root in value")
    back = follow("replace plain by root in value", "add first to extra")
    assert SMALL.head(there) == SMALL.head(back) == "root + first + soft"


def test_edits_of_a_small_composition_by_hand():
    assert [words for words, _ in SMALL.edits(PLAIN)] == [
        "replace plain by root in value",
        "add first to extra",
        "add second to extra",
    ]
    full = Composition({"value": ("plain",), "extra": ("first", "second"), "choice": ("soft",)})
    assert [words for words, _ in SMALL.edits(full)] == [
        "replace plain by root in value",
        "drop first from extra",
        "drop second from extra",
    ]


def test_priors_of_a_composition_replace_the_mechanisms_own():
    narrow = {"prior": "log_normal", "median": 2.0, "log_sd": 0.5, "low": 0.1, "high": 10.0}
    assert SMALL.parameters(PLAIN) == SLOPE
    assert SMALL.parameters(replace(PLAIN, priors={"slope": narrow, "other": narrow})) == {
        "slope": narrow
    }


def test_mechanisms_are_found_by_the_feature_they_answer():
    assert [item.name for item in SMALL.mechanisms_repairing("size")] == ["root", "second"]
    assert SMALL.mechanisms_repairing("colour") == []


def test_empty_slots_do_not_count_for_identity_or_size():
    assert Composition({**PLAIN.slots, "extra": ()}).key == PLAIN.key
    assert PLAIN.size == 2


@pytest.mark.parametrize(
    ("slots", "message"),
    [
        (
            {"value": ("cubic",), "choice": ("soft",)},
            "no mechanism 'cubic' in slot 'value'; it has: plain, root",
        ),
        ({"choice": ("soft",)}, r"slot 'value' takes 1 to 1 different mechanisms, not \[\]"),
        (
            {"value": ("plain", "root"), "choice": ("soft",)},
            r"slot 'value' takes 1 to 1 .* not \['plain', 'root'\]",
        ),
        ({**PLAIN.slots, "extra": ("first", "first")}, "slot 'extra' takes 0 to 2 different"),
        ({**PLAIN.slots, "colour": ("red",)}, "the small grammar has no slot colour"),
    ],
)
def test_what_the_grammar_does_not_have_is_refused_by_name(slots, message):
    with pytest.raises(GrammarError, match=message):
        SMALL.write(Composition(slots), "T")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_no_two_mechanisms_that_can_meet_share_a_parameter(family):
    several = {slot.name for slot in family.grammar.slots if slot.most > 1}
    owners: dict[str, str] = {}
    for item in family.grammar.mechanisms:
        for parameter in item.parameters:
            owner = owners.setdefault(parameter, item.slot)
            assert owner == item.slot, f"{parameter} belongs to {owner} and {item.slot}"
            assert (
                item.slot not in several
                or sum(parameter in other.parameters for other in family.grammar.mechanisms) == 1
            )


@pytest.mark.parametrize("length", range(50, 110))
def test_a_hyphen_at_the_end_of_a_line_does_not_change_the_claim(length):
    rooted = Composition({"value": ("root",), "choice": ("soft",)})
    theory = read_program(TheoryProgram(SMALL.write(rooted, "N" * length), "x"))
    assert theory.claim == "People take well-known roots of numbers and choose."


def stating(breaks: tuple[str, ...], own: tuple[str, ...] = ()) -> list[dict[str, str]]:
    """Predictions of the plain composition if its skeleton and choice rule state three and its value breaks some."""
    value, root, first, second, soft = SMALL.mechanisms
    up, still = {"property": "increasing", "in": "x"}, {"property": "ignores", "in": "y"}
    sure = {"property": "deterministic"}
    grammar = replace(
        SMALL,
        predictions=(up, still),
        mechanisms=(
            replace(value, breaks=breaks), root, first, second, replace(soft, predictions=(sure, up), breaks=own)
        ),
    )  # fmt: skip
    return grammar.predictions_of(PLAIN)


def test_a_composition_predicts_what_its_skeleton_and_mechanisms_do_and_nothing_twice():
    assert [tuple(item.values()) for item in stating(())] == [
        ("increasing", "x"),
        ("ignores", "y"),
        ("deterministic",),
    ]


@pytest.mark.parametrize(
    ("breaks", "left"),
    [
        (("x",), [("ignores", "y"), ("deterministic",)]),
        (("ignores x",), [("increasing", "x"), ("ignores", "y"), ("deterministic",)]),
        (("ignores y", "deterministic"), [("increasing", "x")]),
    ],
)
def test_a_mechanism_breaks_predictions_by_what_is_varied_or_by_the_property_in_it(breaks, left):
    assert [tuple(item.values()) for item in stating(breaks)] == left


def test_a_mechanism_does_not_break_what_it_predicts_itself():
    assert [tuple(item.values()) for item in stating((), own=("x", "deterministic"))] == [
        ("ignores", "y"), ("deterministic",), ("increasing", "x")
    ]  # fmt: skip


@pytest.mark.parametrize("domain", ["learning", "multiattribute"])
def test_a_grammar_knows_its_own_functions_under_any_name_and_no_others(domain):
    family = FAMILIES[domain]
    for name in family.seeds:
        theory = read_program(family.program(name))
        assert family.grammar.wrote(theory.program.source, theory.composition)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.5 * (1 - trials", "0.6 * (1 - trials"),
        ("    return p\n", "    return p\n\nLATER = 1\n"),
        ("\n\n\ndef current", "\nBEFORE = print(1)\n\n\ndef current"),
        ("PARAMETERS = {", "import math\nPARAMETERS = {"),
        ("PARAMETERS = {", "PARAMETERS = {{"),
        ("PARAMETERS = {", "dict = lambda state: {name: 0 for name in state}\nPARAMETERS = {"),
        ("PARAMETERS = {", "PARAMETERS = dict = {"),
        ("PARAMETERS = {", "POOLED = 10**10**9\nPARAMETERS = {"),
        ('"""Learning', 'print("a", """Learning'),
    ],
)
def test_a_grammar_does_not_take_a_changed_source_for_its_own(old, new):
    family = FAMILIES["learning"]
    theory = read_program(family.program("forgetting"))
    source = theory.program.source
    assert old in source
    assert not family.grammar.wrote(source.replace(old, new), theory.composition)


def test_a_grammar_wrote_nothing_of_mechanisms_that_it_does_not_have():
    family = FAMILIES["learning"]
    theory = read_program(family.program("forgetting"))
    slots = dict(theory.composition) | {"rate": ["of another grammar"]}
    assert not family.grammar.wrote(theory.program.source, slots)


def test_reasons_are_drawn_at_random_only_where_something_weighs_them():
    grammar = FAMILIES["multiattribute"].grammar
    _, drawn = FAMILIES["multiattribute"].seeds["elimination_by_aspects"]
    assert grammar.is_coherent(drawn)
    edits = [edit for _, edit in grammar.edits(drawn)]
    assert all(grammar.is_coherent(edit) for edit in edits)
    integrations = {edit.slots["integration"] for edit in edits}
    assert integrations == {("balance",), ("average",)}
    nothing = Composition({**drawn.slots, "integration": ("nothing",)})
    assert not grammar.is_coherent(nothing)
    _, tallying = FAMILIES["multiattribute"].seeds["tallying"]
    changed = [edit for words, edit in grammar.edits(tallying) if "first_reason_drawn" in words]
    assert not changed


def test_two_edits_that_do_not_go_together_are_no_edit():
    grammar = FAMILIES["multiattribute"].grammar
    base = Composition.of({**AVERAGED, "choice": "logistic"})
    drawn = Composition.of({**AVERAGED, "choice": "first_reason_drawn"})
    summed = Composition.of({**AVERAGED, "integration": "sum", "choice": "logistic"})
    assert grammar.is_coherent(drawn)
    assert combined(grammar, base, [drawn, summed]) is None


@pytest.mark.parametrize("domain", FAMILIES)
def test_published_theories_and_random_compositions_are_coherent(domain):
    grammar, rng = FAMILIES[domain].grammar, np.random.default_rng(0)
    assert all(
        grammar.is_coherent(composition) for _, composition in FAMILIES[domain].seeds.values()
    )
    assert all(grammar.is_coherent(grammar.compose(rng)) for _ in range(200))


def test_what_no_later_statement_reads_is_neither_told_nor_named():
    guessing = Mechanism(slot="choice", name="guess", clause="guess", code="p = 0.5 + 0.0 * value")
    grammar = replace(SMALL, mechanisms=(*SMALL.mechanisms, guessing))
    composition = Composition({"value": ("root",), "extra": ("first",), "choice": ("guess",)})
    assert [item.name for item in grammar.acting(composition)] == ["guess"]
    assert [item.clause for item in grammar.clauses(composition)] == ["guess"]
    assert grammar.head(composition) == "guess"
    acting = [item.name for item in grammar.acting(replace_choice(composition, "soft"))]
    assert acting == ["root", "first", "soft"]
    for family in FAMILIES.values():  # a loop or a function that sets a name counts
        for _, published in family.seeds.values():
            told = {x.clause for x in family.grammar.clauses(published) if not x.taken_for_granted}
            assert told or family.grammar.silence


def replace_choice(composition: Composition, name: str) -> Composition:
    return Composition({**composition.slots, "choice": (name,)})
