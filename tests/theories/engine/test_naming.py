"""Names tell the theories of one run apart, in five words at most."""

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.theories.engine.checks.naming import name_in_company, names_after_learning
from lakatos.theories.language.account import MOST_WORDS
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.theories.language.topic import topic_of

GRAMMAR = FAMILIES["multiattribute"].grammar
WALK = {
    "utility": ("diminishing",),
    "comparison": ("difference",),
    "weight": ("validity",),
    "integration": ("sum",),
    "choice": ("random_walk",),
}


def theory(**slots: tuple[str, ...]) -> Theory:
    composition = Composition({**WALK, **slots})
    return read_program(TheoryProgram(GRAMMAR.write(composition), "grammar"))


def named(*theories: Theory) -> list[str]:
    """Names in order of arrival."""
    there: list[Theory] = []
    for item in theories:
        there.append(replace(item, name=name_in_company(item, there)))
    return [item.name for item in there]


def test_a_name_says_what_a_theory_is_about_until_the_side_is_learned() -> None:
    assert theory().name == "Random walk with curved values"


def test_a_second_theory_of_a_form_is_named_for_what_the_first_lacks() -> None:
    assert named(theory(), theory(accent=("majority",))) == [
        "Random walk with curved values",
        "Random walk with counting",
    ]


def test_a_theory_that_has_less_than_its_namesake_is_named_for_what_it_lacks() -> None:
    names = named(theory(accent=("majority", "dominance")), theory(accent=("majority",)), theory())
    assert names[1] == "Random walk with counting"
    assert names[2].startswith("Random walk without ")


def test_parts_without_a_label_and_at_last_numbers_tell_theories_apart() -> None:
    names = named(theory(), theory(weight=("equal",)), theory(weight=("equal",)))
    assert names[1:] == ["Random walk with equal weight", "Random walk 2"]


def test_names_are_renewed_for_what_was_learned_and_a_published_form_has_its_title() -> None:
    declared = theory()
    learned = {"curvature": declared.priors["curvature"].narrowed(-0.7, 0.01)}
    steeper = {"curvature": declared.priors["curvature"].narrowed(0.7, 0.01)}
    counting = theory(accent=("majority",))
    leader, other = declared.with_people(learned), counting.with_people(steeper)
    assert names_after_learning([leader, other], {}) == {
        leader.digest: "Random walk with diminishing returns",
        other.digest: "Random walk with increasing returns",
    }
    titles = {other.digest: "Decision field theory"}
    assert names_after_learning([leader, other], titles)[other.digest] == "Decision field theory"
    both = {leader.digest: "Decision field theory", **titles}
    named = names_after_learning([leader, other], both)
    assert named[other.digest] == "Decision field theory without lapses"
    kept = replace(counting, name="Random walk with diminishing returns")
    assert names_after_learning([leader], {}, [kept])[leader.digest] != kept.name


@pytest.mark.parametrize("domain", FAMILIES)
def test_theories_of_a_run_have_different_names_of_five_words_at_most(domain: str) -> None:
    grammar, rng = FAMILIES[domain].grammar, np.random.default_rng(3)
    drawn = {item.key: item for item in (grammar.compose(rng) for _ in range(30))}
    theories = [
        read_program(TheoryProgram(grammar.write(item), "grammar"))
        for item in list(drawn.values())[:25]
    ]
    names = named(*theories)
    assert len({name.casefold() for name in names}) == len(names) >= 15
    longest = max(names, key=lambda name: len(name.split()))
    assert len(longest.split()) <= MOST_WORDS, longest


@pytest.mark.parametrize("domain", FAMILIES)
def test_every_pair_of_sides_has_a_topic_of_three_words_at_most(domain: str) -> None:
    for mechanism in FAMILIES[domain].grammar.mechanisms:
        for wording in mechanism.wordings:
            label, opposite = wording.label, wording.opposite_label
            assert bool(topic_of(label, opposite)) == bool(label or opposite)
            assert len(topic_of(label, opposite).split()) <= 3


def test_a_published_title_names_no_side_on_which_people_differ() -> None:
    composed = theory(integration=("sum",), choice=("logistic",))
    title = "Weighted additive with diminishing returns"

    def name(center: float, spread: float) -> str:
        prior = composed.priors["curvature"].narrowed(np.log(center), spread, doubt=0.1)
        learned = composed.with_people({**composed.priors, "curvature": prior})
        return names_after_learning([learned], {learned.digest: title})[learned.digest]

    assert name(0.5, 0.05).startswith("Weighted additive with diminishing returns")
    assert name(2.0, 0.05).startswith("Weighted additive with increasing returns")
    assert name(0.8, 0.8).startswith("Weighted additive with diminishing or increasing returns")
