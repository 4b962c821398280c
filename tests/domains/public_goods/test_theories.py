"""Theories of public goods games against closed forms."""

import numpy as np
import pytest

from lakatos.domains.kit.parameter import log_uniform, uniform
from lakatos.domains.public_goods.task import PublicGoodsDomain, situations
from lakatos.domains.public_goods.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = PublicGoodsDomain()
LEVEL = np.arange(21) / 20
RULES = {"group_size": [4.0], "multiplier": [1.6]}
PAST = {"own": 0.25, "own_average": 0.5, "others": 0.6, "others_lowest": 0.2, "others_highest": 1.0}
FIRST = situations(RULES | {"round": [1.0]}, [False])
LATER = situations(
    RULES | {"round": [3.0]} | {name: [value] for name, value in PAST.items()}, [False]
)
BASE = {"payoff": ("no cost",), "choice": ("logistic",)}
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


def gifts(composition, stimuli=LATER, **parameters):
    """Probabilities of the numbers of coins."""
    columns = {key: np.array([[value]]) for key, value in {"lapse": 0.0, **parameters}.items()}
    return choose_of(GRAMMAR, composition)(columns, dict(stimuli.arrays), np)[0, 0]


def logit(value):
    p = np.exp(value - np.max(value))
    return p / p.sum()


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_of_what_may_be_given(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    priors = {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }
    draws = check_points(priors, np.random.default_rng(0)) or {"none": np.zeros(1)}
    draws = {name: value[:, None] for name, value in draws.items()}
    with np.errstate(all="raise", under="ignore"):
        p = choose_of(GRAMMAR, composition)(draws, dict(stimuli.arrays), np)
    assert p.shape[1:] == (len(stimuli), 21)
    assert p.sum(axis=-1) == pytest.approx(1)
    assert p.min() >= 0
    assert (p * (1 - stimuli["available"])).max() == 0


def test_what_giving_costs_is_what_does_not_come_back():
    p = gifts(SEEDS["return"][1], selfishness=2.0)
    assert p == pytest.approx(logit(-2.0 * 0.6 * LEVEL))
    p = gifts(SEEDS["altruism"][1], selfishness=2.0, altruism=0.5)
    assert p == pytest.approx(logit((-2.0 * 0.6 + 0.5 * 1.2) * LEVEL))


def test_cooperators_match_the_others_mean_and_begin_on_their_own():
    numbers = {"matching": 4.0, "start": 0.7, "firmness": 9.0}
    name = "conditional_cooperation"
    p = gifts(SEEDS[name][1], **numbers)
    assert p == pytest.approx(logit(-4.0 * abs(LEVEL - 0.6)))
    p = gifts(SEEDS[name][1], FIRST, **numbers)
    assert p == pytest.approx(logit(-9.0 * abs(LEVEL - 0.7)))


def test_imperfect_cooperators_match_a_part():
    numbers = {"part_matching": 4.0, "part": 0.5, "start": 0.7, "firmness": 9.0}
    p = gifts(SEEDS["imperfect_cooperation"][1], **numbers)
    assert p == pytest.approx(logit(-4.0 * abs(LEVEL - 0.3)))


def test_inequity_is_disliked_on_both_sides():
    p = gifts(SEEDS["inequity_aversion"][1], selfishness=1.0, envy=3.0, guilt=2.0)
    over = LEVEL - 0.6
    value = -0.6 * LEVEL - 3.0 * np.maximum(over, 0) - 2.0 * np.maximum(-over, 0)
    assert p == pytest.approx(logit(value))


def test_habit_is_near_the_last_gift_or_the_same():
    numbers = {"inertia": 3.0, "repetition": 1.5, "start": 0.5, "firmness": 1.0}
    p = gifts(SEEDS["habit"][1], **numbers)
    assert p == pytest.approx(logit(-3.0 * abs(LEVEL - 0.25) + 1.5 * (np.arange(21) == 5)))


@pytest.mark.parametrize(
    ("slot", "mechanism", "parameter", "stimuli", "slope"),
    [
        ("reaction", "to deductions", "deterrence", {"deducted": [0.75]}, 0.75),
        ("reaction", "to rewards", "encouragement", {"rewarded": [0.25]}, 0.5),
        ("reaction", "to falling behind", "resentment", {"ahead": [-0.5]}, -0.5),
        ("reaction", "to falling behind", "resentment", {"ahead": [0.5]}, 0.0),
        ("time", "decay", "decay", {"round": [7.0]}, -np.log(7)),
        ("time", "last round", "last_round", {"end_known": [1.0]}, -1.0),
        ("time", "last round", "last_round", {"end_known": [0.0]}, 0.0),
        ("time", "nearness of the end", "end_effect", {"end_known": [1.0], "rounds_left": [3.0]}, -0.25),
        ("taste", "where coins lie", "default_effect", {"starts_in_fund": [1.0]}, 1.0),
        ("taste", "where coins lie", "default_effect", {"starts_in_fund": [0.0]}, -1.0),
        ("taste", "warm glow", "warm_glow", {}, 1.0),
        ("rules", "talk", "trust", {"talk": [1.0]}, 1.0),
        ("rules", "deductions possible", "fear", {"deduction_effect": [6.0]}, 1.0),
        ("rules", "rewards possible", "expectancy", {"reward_effect": [6.0]}, 1.0),
    ],
)  # fmt: skip
def test_effects_add_to_what_giving_all_is_worth(slot, mechanism, parameter, stimuli, slope):
    arrays = {name: array for name, array in LATER.arrays.items() if name != "available"}
    trial = situations(arrays | stimuli, [False])
    p = gifts(Composition(BASE | {slot: (mechanism,)}), trial, **{parameter: 1.5})
    assert p == pytest.approx(logit(1.5 * slope * LEVEL))


def test_numbers_that_people_like():
    heaps = Composition(BASE | {"heaps": ("multiples of five", "all or none")})
    p = gifts(heaps, roundness=1.0, extremity=0.5)
    coins = np.arange(21)
    assert p == pytest.approx(logit(1.0 * (coins % 5 == 0) + 0.5 * (coins % 20 == 0)))


def test_all_or_nothing_leaves_two_numbers_and_lapses_are_even_between_them():
    arrays = {name: array for name, array in LATER.arrays.items() if name != "available"}
    p = gifts(SEEDS["return"][1], situations(arrays, [True]), selfishness=2.0, lapse=0.2)
    all_ = 0.8 / (1 + np.exp(1.2)) + 0.1
    assert p[[0, 20]] == pytest.approx([1 - all_, all_])
    assert p[1:20].max() == 0


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["matching_and_habit", "inequity_aversion", "altruism"])
def test_the_published_rule_that_people_follow_predicts_new_people_best(hidden):
    rng = np.random.default_rng(1)
    space = DOMAIN.candidates({"n_trials": 120}, rng, 40)
    composition = SEEDS[hidden][1]
    pronounced = {
        name: log_uniform(3.0, 9.0, prior["unit"], prior["meaning"])
        for name, prior in GRAMMAR.parameters(composition).items()
        if prior["prior"] == "log_uniform"
    }
    # who cares for others must do so, or the theory is that of the return alone
    pronounced |= {
        name: uniform(1.0, 2.0, prior["unit"], prior["meaning"])
        for name, prior in GRAMMAR.parameters(composition).items()
        if prior["prior"] == "normal"
    }
    source = GRAMMAR.write(Composition(composition.slots, pronounced), "Hidden")
    forms = {name: read_program(FAMILY.program(name)) for name in SEEDS}
    with Laboratory(DOMAIN, 1) as laboratory:
        truth = read_program(TheoryProgram(source, "test"))
        taught, new = laboratory.simulate([truth, truth], space, 32, rng)
        people = laboratory.people_of(list(forms.values()), [{}] * len(forms), [taught])
        fitted = [form.with_people(own) for form, own in zip(forms.values(), people, strict=True)]
        evidence = [laboratory.evidence(theory, [new], 256)[0] for theory in fitted]
    scores = {name: log_predictive(own) for name, own in zip(forms, evidence, strict=True)}
    assert max(scores, key=lambda name: scores[name].per_choice.mean()) == hidden
