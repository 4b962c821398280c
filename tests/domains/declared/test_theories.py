"""Theories that are written for a declared task, against closed forms and against what they say of themselves."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from tasks import EXAMPLES, GIFTS, example

from lakatos.domains.declared.task import DeclaredDomain
from lakatos.domains.declared.theories import declared_family
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.language.account import tell_clause
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import Prior, parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program

GAMBLE = """
name = "gamble"
question = "Which one?"
options = ["A", "B"]
instructions = ["Choose."]
[attributes.points]
kind = "amount"
label = "Points"
levels = [10, 20, 40]
better = "more"
[attributes.chance]
kind = "probability"
label = "Chance"
levels = [0.25, 0.5, 1.0]
better = "more"
[attributes.wait]
kind = "delay"
label = "When"
levels = [0, 7, 28]
better = "less"
"""
FIELDS = """
name = "fields"
question = "Where do you search?"
options = ["here", "there"]
instructions = ["Choose a field."]
[attributes.berries]
kind = "number"
label = "Berries"
levels = [0, 4, 8, 16]
[attributes.minutes]
kind = "number"
label = "Way"
unit = "minutes"
levels = [1, 2, 4]
better = "less"
[attributes.thorns]
kind = "number"
label = "Thorns"
levels = [0, 1, 2]
better = "less"
"""
TEXTS = {
    **{name: example(name) for name in EXAMPLES},
    "gifts": GIFTS,
    "gamble": GAMBLE,
    "fields": FIELDS,
}
DOMAINS = {name: DeclaredDomain(text) for name, text in TEXTS.items()}
FAMILIES = {name: declared_family(domain) for name, domain in DOMAINS.items()}
PLAIN = {"choice": ("logistic",)}
ONE_OF_EACH_NAME = {
    (item.slot, item.name): (name, item)
    for name, family in FAMILIES.items()
    for item in family.grammar.mechanisms
}
ONE_MECHANISM_EACH = [
    pytest.param(name, item, id=f"{name}-{item.slot}: {item.name}")
    for name, item in ONE_OF_EACH_NAME.values()
]


def choose_of(name, composition):
    namespace = {}
    exec(FAMILIES[name].grammar.write(composition, "Test"), namespace)
    return namespace["choose"]


def p_of(name, slots, arrays, **parameters):
    columns = {key: np.array([[value]]) for key, value in parameters.items()}
    trials = {key: np.array([row], dtype=float) for key, row in arrays.items()}
    return choose_of(name, Composition(PLAIN | slots))(columns, trials, np)[0, 0]


def softmax(evidence):
    strength = np.exp(np.asarray(evidence) - np.max(evidence))
    return strength / strength.sum()


def priors_of(name, composition):
    literals = FAMILIES[name].grammar.parameters(composition)
    return {key: parse_prior(key, literal) for key, literal in literals.items()}


def with_base(name, item):
    """A mechanism beside an evaluation that it can act on."""
    cues = DOMAINS[name].cues
    base = "weighted adding" if len(cues) > 1 else f"{cues[0].name} alone"
    return Composition(PLAIN | {"evaluation": (base,), item.slot: (item.name,)})


@pytest.mark.long
@pytest.mark.parametrize("name", DOMAINS)
def test_published_theories_pass_all_checks(name, sandbox):
    domain, family = DOMAINS[name], FAMILIES[name]
    candidates = domain.candidates({}, np.random.default_rng(0), 200)
    for seed in family.seeds:
        report = check_theory(family.program(seed), domain, sandbox, candidates=candidates)
        assert report.passed, (seed, report.failures)


@pytest.mark.parametrize(("name", "item"), ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_that_follow_the_options_not_their_places(name, item):
    domain, composition = DOMAINS[name], with_base(name, item)
    stimuli = Stimuli.concatenate(domain.probes(np.random.default_rng(0)))
    draws = check_points(priors_of(name, composition), np.random.default_rng(0), 4)
    draws = {key: value[:, None] for key, value in draws.items()}
    choose = choose_of(name, composition)
    order = np.random.default_rng(1).permutation(len(domain.options))
    with np.errstate(all="raise", under="ignore"):
        here = choose(draws, dict(stimuli.arrays), np)
        turned = {key: array[:, order] for key, array in stimuli.arrays.items()}
        there = choose(draws, turned, np)
    assert here.shape[1:] == (len(stimuli), len(domain.options))
    assert here.min() >= 0
    assert here.sum(axis=-1) == pytest.approx(1)
    if item.slot != "position":
        assert there == pytest.approx(here[..., order], abs=1e-9)


@pytest.mark.parametrize("name", DOMAINS)
def test_mechanisms_have_claims_sources_units_words_and_repairs_that_the_domain_knows(name):
    features = set(DOMAINS[name].features(DOMAINS[name].probes(np.random.default_rng(0))[0]))
    for item in FAMILIES[name].grammar.mechanisms:
        assert item.claim, item.name
        assert item.source, item.name
        assert all(prior["unit"] and prior["meaning"] for prior in item.parameters.values())
        assert set(item.repairs) <= features, item.name
        assert {wording.feature for wording in item.wordings} <= features | {""}
        # a parameter with a side to take is told by which side people take
        signed = {key for key, prior in item.parameters.items() if prior["prior"] == "normal"}
        assert signed <= {wording.parameter for wording in item.wordings if wording.opposite_clause}


@pytest.mark.slow
@pytest.mark.parametrize("name", DOMAINS)
def test_random_compositions_do_as_they_predict(name, sandbox):
    grammar, rng = FAMILIES[name].grammar, np.random.default_rng(1)
    n_tried = 0
    for _ in range(12):
        source = grammar.write(grammar.compose(rng), "Test")
        report = check_claim(read_program(TheoryProgram(source, "t")), DOMAINS[name], sandbox)
        report.raise_for_contradiction()
        n_tried += len(report.tried)
    assert n_tried > 12


@pytest.mark.parametrize("name", DOMAINS)
def test_sources_name_their_mechanisms_and_read_back(name):
    for title, composition in FAMILIES[name].seeds.values():
        theory = read_program(
            TheoryProgram(FAMILIES[name].grammar.write(composition, title), "published")
        )
        assert theory.name == title
        assert composition_of(theory.composition, {}).key == composition.key


@pytest.mark.parametrize("name", DOMAINS)
def test_the_accounts_that_every_task_allows_are_among_its_rivals(name):
    expected = {"random", "weighted_adding", "lexicographic", "satisficing", "similarity",
                "reference_point", "comparison"}  # fmt: skip
    assert expected <= set(FAMILIES[name].seeds)


def test_an_attribute_whose_kinds_belong_together_has_their_accounts():
    assert {"inequality_aversion", "welfare"} <= set(FAMILIES["fairness"].seeds)
    assert {"expected_utility", "discounting"} <= set(FAMILIES["gamble"].seeds)
    assert {"attraction", "compromise", "unlike_options"} <= set(FAMILIES["menu"].seeds)
    assert not {"attraction", "inequality_aversion"} & set(FAMILIES["gifts"].seeds)


def test_weighted_adding_is_a_logit_of_shares_of_the_declared_ranges():
    menu = {"price": [400, 600, 800], "battery": [4, 8, 12], "rating": [5, 3, 2]}
    p = p_of(
        "menu", {"evaluation": ("weighted adding",)}, menu,
        price_weight=2.0, battery_weight=1.0, rating_weight=3.0,
    )  # fmt: skip
    assert p == pytest.approx(softmax([2 + 0 + 3, 1 + 0.5 + 1, 0 + 1 + 0]))


def test_words_of_a_category_count_against_the_first():
    gift = {"worth": [1, 8], "wrapping": [2, 0]}
    p = p_of(
        "gifts", {"evaluation": ("weighted adding",)}, gift,
        worth_weight=1.0, wrapping_red_weight=5.0, wrapping_gold_weight=3.0,
    )  # fmt: skip
    assert p == pytest.approx(softmax([3, 1]))


def test_inequality_aversion_is_that_of_fehr_and_schmidt():
    division = {"own": [2, 6], "other": [8, 4]}
    p = p_of(
        "fairness", {"evaluation": ("inequality aversion",)}, division,
        sensitivity=10.0, envy=0.5, guilt=0.25,
    )  # fmt: skip
    assert p == pytest.approx(softmax([2 - 0.5 * 6, 6 - 0.25 * 2]))


def test_discounting_and_expected_utility_use_the_numbers_as_they_are():
    offer = {"points": [20, 40], "chance": [1.0, 0.25], "wait": [0, 28]}
    p = p_of(
        "gamble",
        {"evaluation": ("hyperbolic discounting",)},
        offer,
        sensitivity=4.0,
        impatience=3.0,
    )
    assert p == pytest.approx(softmax([4 * 0.5, 4 * 1 / (1 + 3)]))
    p = p_of("gamble", {"evaluation": ("expected utility",)}, offer, sensitivity=4.0, utility=2.0)
    assert p == pytest.approx(softmax([4 * 0.25, 4 * 1 * 0.25]))


def test_one_reason_after_another_takes_the_attributes_in_their_order():
    screening = {"screening": ("price best", "battery best", "rating best")}
    small = {f"{name}_noticeable": 0.001 for name in ("price", "battery", "rating")}
    menu = {"price": [400, 400, 800], "battery": [4, 8, 12], "rating": [5, 2, 5]}
    assert p_of("menu", screening, menu, **small) == pytest.approx([0, 1, 0])
    rough = small | {"battery_noticeable": 1.0}
    assert p_of("menu", screening, menu, **rough) == pytest.approx([1, 0, 0])


def test_a_good_enough_option_is_taken_and_the_best_where_none_is():
    screening = {"screening": ("price good enough",)}
    menu = {"price": [500, 600, 800], "battery": [4, 8, 12], "rating": [5, 2, 5]}
    assert p_of("menu", screening, menu, price_aspiration=0.4) == pytest.approx([0.5, 0.5, 0])
    assert p_of("menu", screening, menu, price_aspiration=0.9) == pytest.approx([1, 0, 0])


def test_small_differences_do_not_count_and_large_ones_do_whole():
    perception = {"perception": ("small differences ignored",), "evaluation": ("own alone",)}
    near = {"own": [5, 6], "other": [0, 0]}
    far = {"own": [2, 6], "other": [0, 0]}
    assert p_of("fairness", perception, near, noticeable=0.2, own_weight=5.0) == pytest.approx(
        [0.5, 0.5]
    )
    expected = softmax([5 * 0.2, 5 * 0.6])
    assert p_of("fairness", perception, far, noticeable=0.2, own_weight=5.0) == pytest.approx(
        expected
    )


def test_ratios_make_equal_ratios_equal():
    slots = {"perception": ("ratios",), "evaluation": ("number alone",)}
    few = p_of("dots", slots, {"number": [24, 32], "size": [3, 3]}, number_weight=9.0)
    many = p_of("dots", slots, {"number": [45, 60], "size": [3, 3]}, number_weight=9.0)
    assert few == pytest.approx(many)
    assert few[1] == pytest.approx(1 / (1 + 0.75 ** (9.0 / np.log(2.5))), abs=1e-3)


def test_a_decoy_lifts_the_option_that_beats_it():
    menu = {"price": [400, 800, 800], "battery": [4, 10, 12], "rating": [3, 4, 4]}
    slots = {"context": ("attraction",)}
    p = p_of("menu", slots, menu, attraction=2.0)
    assert p == pytest.approx(softmax([0, 0, 2]))


READERS = ("evaluation", "context", "screening")
"""Slots of mechanisms that may read attributes as they are perceived."""
PERCEIVED = [
    (name, perceived)
    for name in DOMAINS
    for perceived in FAMILIES[name].grammar.names.get("perception", ())
]


def is_changed(name: str, slots: dict[str, tuple[str, ...]], perceived: str) -> bool:
    """Whether a mechanism of perception changes any probability on a task's probes, at numbers that are not null."""
    stimuli = Stimuli.concatenate(DOMAINS[name].probes(np.random.default_rng(0)))
    with_it = Composition(PLAIN | slots | {"perception": (perceived,)})
    rng, n = np.random.default_rng(2), 24
    draws = {key: prior.quantile(rng.random(n)) for key, prior in priors_of(name, with_it).items()}
    draws |= {key: np.full(n, 2.5) for key in ("curvature", "loss_aversion") if key in draws}
    draws |= {key: np.linspace(0.05, 0.5, n) for key in ("noticeable",) if key in draws}
    found = [
        choose_of(name, composition)(
            {key: value[:, None] for key, value in draws.items()}, dict(stimuli.arrays), np
        )
        for composition in (with_it, Composition(PLAIN | slots))
    ]
    return bool(np.abs(found[0] - found[1]).max() > 1e-6)


@pytest.mark.parametrize(("name", "perceived"), PERCEIVED)
def test_perception_is_offered_only_beside_mechanisms_through_which_it_changes_choices(
    name: str, perceived: str
) -> None:
    grammar = FAMILIES[name].grammar
    for slot in READERS:
        for reader in grammar.names.get(slot, ()):
            slots = {slot: (reader,)}
            whole = Composition(PLAIN | slots | {"perception": (perceived,)})
            assert grammar.is_coherent(whole) == is_changed(name, slots, perceived), reader


def test_perception_is_no_edit_of_an_account_that_reads_the_payoffs_themselves() -> None:
    grammar = FAMILIES["fairness"].grammar
    found = grammar.edits(Composition(PLAIN | {"evaluation": ("inequality aversion",)}))
    assert found
    assert not any(edit.slots.get("perception") for _, edit in found)


def test_a_composition_with_a_perception_that_changes_nothing_is_refused(sandbox) -> None:
    slots = PLAIN | {"evaluation": ("inequality aversion",), "perception": ("curved",)}
    source = FAMILIES["fairness"].grammar.write(Composition(slots), "Curved payoffs")
    report = check_theory(TheoryProgram(source, "test"), DOMAINS["fairness"], sandbox)
    assert not report.passed
    assert "'curved' in perception, which changes nothing here" in report.failures[0].sentence


TWO_FIELDS = {"berries": [4, 16], "minutes": [1, 4], "thorns": [0, 0]}


def evidence_of(p):
    return np.log(p[1] / p[0])


def test_an_ideal_level_makes_both_too_little_and_too_much_worse():
    p = p_of(
        "fields",
        {"further": ("ideal berries",)},
        TWO_FIELDS,
        ideal_berries=6.0,
        berries_ideal_weight=4.0,
    )
    # away from 6 by 2 and by 10, of a range of 16
    assert evidence_of(p) == pytest.approx(-4.0 * (10 - 2) / 16)


def test_two_attributes_together_are_the_product_of_their_shares():
    slots = {"further": ("berries with minutes",)}
    p = p_of("fields", slots, TWO_FIELDS, berries_with_minutes=3.0)
    # shares of the ranges: berries 1/4 and 1, minutes 1 and 0, since fewer are better
    assert evidence_of(p) == pytest.approx(3.0 * (1 * 0 - 0.25 * 1))


def test_a_rate_is_one_attribute_for_each_unit_of_another():
    slots = {"further": ("berries per minutes",)}
    p = p_of("fields", slots, TWO_FIELDS, berries_per_minutes=2.0)
    # 4 and 4 berries a minute
    assert evidence_of(p) == pytest.approx(0.0)
    p = p_of("fields", slots, TWO_FIELDS | {"minutes": [4, 4]}, berries_per_minutes=2.0)
    assert evidence_of(p) == pytest.approx(2.0 * (4 - 1) / 16)


def test_nothing_is_divided_by_an_attribute_that_may_be_zero():
    names = {item.name for item in FAMILIES["fields"].grammar.mechanisms}
    assert "berries per minutes" in names
    assert "minutes per berries" not in names


def test_ideal_levels_are_for_attributes_on_which_tastes_differ():
    assert "ideal_points" in FAMILIES["fields"].seeds
    names = {item.name for item in FAMILIES["gamble"].grammar.mechanisms}
    assert not any(name.startswith("ideal ") for name in names)


def test_an_ideal_level_is_said_with_how_far_participants_differ_in_it():
    (ideal,) = (
        item for item in FAMILIES["fields"].grammar.mechanisms if item.name == "ideal berries"
    )
    (clause,) = ideal.wordings
    priors = {
        "ideal_berries": Prior("normal", 4, 20, 12.0, 0.001),
        "berries_ideal_weight": Prior("normal", 0, 60, 0.7, 0.001),
    }
    told = tell_clause(clause, priors).text
    assert told == "prefer an ideal level of berries (about 12) to less and to more"
    priors["ideal_berries"] = Prior("normal", 4, 20, 12.0, 4.0)
    told = tell_clause(clause, priors).text
    assert re.search(
        r"berries \([\d.]+ to [\d.]+ for the middle 80% of people\) to less and to more", told
    )
