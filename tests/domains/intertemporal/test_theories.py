"""Theories of intertemporal choice against closed forms, published properties and published numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from lakatos.domains.intertemporal.task import IntertemporalDomain, dated
from lakatos.domains.intertemporal.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.checks.claim import check_claim
from lakatos.theories.engine.checks.prediction import ClaimPrediction
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import draw_population, parse_prior
from lakatos.theories.language.theory import TheoryProgram, read_program
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = IntertemporalDomain()
BASE = {
    "discounting": ("hyperbolic",),
    "comparison": ("difference in value",),
    "choice": ("logistic",),
}
KIRBY = [
    (54, 55, 117, 0.00016),
    (31, 85, 7, 0.25),
    (15, 35, 13, 0.10),
    (34, 50, 30, 0.016),
    (55, 75, 61, 0.0060),
]
"""Questions of Kirby, Petry & Bickel (1999): today, later, days, and the hyperbolic rate at indifference."""


def p_later(composition, options, **parameters):
    columns = {name: np.array([[value]]) for name, value in parameters.items()}
    return np.broadcast_to(
        choose_of(GRAMMAR, composition)(columns, dict(dated(options).arrays), np), (1, len(options))
    )[0]


def log_odds(composition, options, **parameters):
    lapse = {"lapse": 0.0} if "lapse" in composition.slots else {}
    p = p_later(composition, options, **lapse, **parameters)
    return np.log(p) - np.log1p(-p)


def seed(name, options, **parameters):
    return log_odds(SEEDS[name][1], options, **parameters)


def only(**slots):
    return Composition({"choice": ("logistic",), **{slot: (name,) for slot, name in slots.items()}})


def priors_of(composition):
    return {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }


def worth(name, amount, delay, **parameters):
    """Present value of a dated amount, from its choice against nothing today."""
    (evidence,) = seed(name, [((0, 0), (amount, delay))], sensitivity=1e-3, **parameters)
    return evidence / 1e-3


ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_that_swapping_sides_turns_round(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    draws = check_points(priors_of(composition), np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    choose = choose_of(GRAMMAR, composition)
    with np.errstate(all="raise", under="ignore"):
        here = choose(draws, dict(stimuli.arrays), np)
        there = choose(draws, dict(DOMAIN.swap_sides(stimuli).arrays), np)
    assert here.shape[-1] == len(stimuli)
    assert np.isfinite(here).all()
    assert here.min() >= 0
    assert here.max() <= 1
    assert here == pytest.approx(1 - there, abs=1e-9)


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_changes_some_choice(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    answers = []
    for other in (composition, Composition(BASE)):
        values = {
            name: prior.quantile(np.array([0.3, 0.95]))[:, None]
            for name, prior in priors_of(other).items()
        }
        answers.append(
            np.broadcast_to(
                choose_of(GRAMMAR, other)(values, dict(stimuli.arrays), np), (2, len(stimuli))
            )
        )
    same = composition.key == Composition(BASE).key
    assert (np.abs(answers[0] - answers[1]).max() > 1e-3) != same


def test_sources_name_their_mechanisms_and_read_back():
    for name, (title, composition) in SEEDS.items():
        theory = read_program(FAMILY.program(name))
        assert theory.name == title
        assert theory.composition is not None
        assert composition_of(theory.composition, {}).key == composition.key


def test_random_choice_ignores_what_is_offered():
    options = [((10, 0), (20, 30)), ((1, 0), (1000, 1)), ((-5, 0), (-6, 7))]
    assert p_later(SEEDS["random"][1], options, lapse=0.3) == pytest.approx([0.5] * 3)


def test_exponential_discounting_is_logistic_in_the_difference_of_present_values():
    p = p_later(
        SEEDS["exponential"][1],
        [((10, 7), (20, 30))],
        sensitivity=0.4,
        discount_rate=0.02,
        lapse=0.1,
    )
    evidence = 0.4 * (20 * np.exp(-0.6) - 10 * np.exp(-0.14))
    assert p == pytest.approx([0.05 + 0.9 / (1 + np.exp(-evidence))])


def test_exponential_discounting_is_stationary_and_hyperbolic_discounting_is_not():
    near, far = ((10, 0), (11, 1)), ((10, 50), (11, 51))
    assert (
        np.sign(seed("exponential", [near, far], sensitivity=1.0, discount_rate=0.2)) == -1
    ).all()
    assert np.sign(
        seed("hyperbolic", [near, far], sensitivity=1.0, discount_rate=0.2)
    ).tolist() == [-1, 1]
    parameters = {"sensitivity": 1.0, "discount_rate": 0.01, "present_bias": 0.8}
    assert np.sign(seed("quasi_hyperbolic", [near, far], **parameters)).tolist() == [-1, 1]


@pytest.mark.parametrize(("today", "later", "days", "rate"), KIRBY)
def test_hyperbolic_discounting_is_indifferent_at_the_rates_of_kirby_petry_and_bickel(
    today, later, days, rate
):
    value = worth("hyperbolic", later, days, discount_rate=rate)
    assert value == pytest.approx(today, rel=0.015)  # rates are published to two digits


def test_generalised_hyperbolic_discounting_has_both_limits():
    assert worth(
        "generalised_hyperbolic", 100, 60, discount_rate=0.03, decline=0.03
    ) == pytest.approx(worth("hyperbolic", 100, 60, discount_rate=0.03))
    assert worth(
        "generalised_hyperbolic", 100, 60, discount_rate=0.03, decline=1e-7
    ) == pytest.approx(worth("exponential", 100, 60, discount_rate=0.03), rel=1e-4)
    by_hand = 100 * (1 + 0.2 * 60) ** (-0.03 / 0.2)
    assert worth(
        "generalised_hyperbolic", 100, 60, discount_rate=0.03, decline=0.2
    ) == pytest.approx(by_hand)


def test_a_power_of_delay_can_be_discounted_either_way():
    felt = 30 * (90 / 30) ** 0.5
    parameters = {"discount_rate": 0.03, "time_sensitivity": 0.5}
    assert worth("power_delay_hyperbolic", 100, 90, **parameters) == pytest.approx(
        100 / (1 + 0.03 * felt)
    )
    assert worth("constant_sensitivity", 100, 90, **parameters) == pytest.approx(
        100 * np.exp(-0.03 * felt)
    )


def test_constant_sensitivity_has_the_form_of_ebert_and_prelec():
    # exp(-(a t)^b): minus the logarithm of the discount is a power of the delay
    parameters = {"discount_rate": 0.03, "time_sensitivity": 0.4}
    logs = [-np.log(worth("constant_sensitivity", 1, days, **parameters)) for days in (4, 8, 16)]
    assert np.diff(np.log(logs)) == pytest.approx([0.4 * np.log(2)] * 2)


def test_quasi_hyperbolic_discounting_charges_the_first_wait_once():
    values = [
        worth("quasi_hyperbolic", 100, days, discount_rate=0.01, present_bias=0.7)
        for days in (0, 1, 10)
    ]
    assert values == pytest.approx([100, 70 * np.exp(-0.01), 70 * np.exp(-0.1)])


def test_double_exponential_discounting_is_the_weighted_mean_of_two():
    value = worth(
        "double_exponential", 100, 30, discount_rate=0.01, impatient_share=0.4, haste=20.0
    )
    assert value == pytest.approx(40 * np.exp(-6.0) + 60 * np.exp(-0.3))


def test_a_fixed_cost_weighs_on_small_amounts_the_most():
    # Benhabib, Bisin & Schotter (2010) put the cost near four dollars
    values = np.array(
        [worth("fixed_cost", x, 30, discount_rate=0.001, waiting_cost=4.0) for x in (10, 100)]
    )
    assert values == pytest.approx(np.array([10, 100]) * np.exp(-0.03) - 4)
    assert worth("fixed_cost", 10, 0, discount_rate=0.001, waiting_cost=4.0) == pytest.approx(10)


def test_larger_stakes_are_discounted_less_as_thaler_found():
    # Thaler (1981): 15 now, 250 now and 3000 now were worth 60, 350 and 4000 in a year
    thaler = [((15, 0), (60, 365)), ((250, 0), (350, 365)), ((3000, 0), (4000, 365))]
    needed = np.array([(later / now - 1) / 365 for (now, _), (later, _) in thaler])
    assert (np.diff(needed) < 0).all()
    slope = -np.polyfit(np.log([60, 350, 4000]), np.log(needed), 1)[0]
    parameters = {
        "sensitivity": 1.0,
        "stakes_effect": slope,
        "discount_rate": needed[0] * (60 / 100) ** slope,
    }
    assert seed("magnitude_hyperbolic", thaler[:1], **parameters) == pytest.approx(0, abs=1e-9)
    for rate in needed:
        signs = np.sign(
            np.round(seed("hyperbolic", thaler, sensitivity=1.0, discount_rate=rate), 6)
        )
        assert len(set(signs)) > 1  # one rate for all amounts is at odds with some answer


def test_the_trade_off_model_sets_logarithms_against_logarithms():
    parameters = {
        "amount_contraction": 0.05,
        "delay_contraction": 0.2,
        "sensitivity": 3.0,
        "time_weight": 0.8,
    }
    by_hand = 3.0 * (np.log1p(0.05 * 20) - np.log1p(0.05 * 10)) - 0.8 * (
        np.log1p(0.2 * 30) - np.log1p(0.2 * 7)
    )
    assert seed("trade_off", [((10, 7), (20, 30))], **parameters) == pytest.approx([by_hand])


def test_the_trade_off_by_intervals_finds_short_intervals_superadditive():
    composition = only(comparison="trade-off by intervals")
    parameters = {
        "amount_contraction": 1e-4,
        "delay_contraction": 1e-3,
        "sensitivity": 0.2,
        "time_weight": 5.0,
    }

    def cost(first, second, superadditivity):
        (evidence,) = log_odds(
            composition,
            [((10, first), (10, second))],
            superadditivity=superadditivity,
            **parameters,
        )
        return -evidence

    # Scholten & Read (2010): with superadditivity the parts of a short interval weigh less than the whole
    assert cost(0, 4, 3.0) > cost(0, 2, 3.0) + cost(2, 4, 3.0)
    assert cost(0, 300, 1.0) < cost(0, 150, 1.0) + cost(150, 300, 1.0)


def test_proportional_difference_compares_shares_with_a_threshold():
    evidence = seed(
        "proportional_difference", [((10, 7), (20, 28))], sensitivity=2.0, decision_threshold=0.1
    )
    assert evidence == pytest.approx([2.0 * (10 / 20 - 21 / 28 - 0.1)])


def test_similarity_decides_by_the_attribute_that_is_not_similar_and_guesses_otherwise():
    # Rubinstein (2003): far away the delays are similar, today they are not
    options = [((20, 0), (21, 1)), ((20, 60), (30, 61)), ((20, 0), (40, 30)), ((20, 60), (21, 61))]
    evidence = seed("similarity", options, similar_amounts=0.1, similar_delays=0.1, conviction=3.0)
    assert evidence == pytest.approx([-3.0, 3.0, 0.0, 0.0])


def test_where_similarity_says_nothing_discounting_is_the_last_resort():
    options = [((20, 0), (21, 1)), ((20, 0), (40, 30))]
    parameters = {"sensitivity": 0.5, "discount_rate": 0.02}
    evidence = seed(
        "similarity_then_discounting",
        options,
        similar_amounts=0.1,
        similar_delays=0.1,
        conviction=3.0,
        **parameters,
    )
    assert evidence == pytest.approx([-3.0, 0.5 * (40 / 1.6 - 20)])


def test_intertemporal_choice_heuristics_add_absolute_and_relative_differences():
    evidence = seed(
        "itch",
        [((10, 7), (20, 28))],
        weight_of_amount=0.03,
        weight_of_relative_amount=2.0,
        weight_of_delay=0.05,
        weight_of_relative_delay=0.5,
        leaning=-0.4,
    )
    assert evidence == pytest.approx(
        [-0.4 + 0.03 * 10 + 2.0 * 10 / 15 - 0.05 * 21 - 0.5 * 21 / 17.5]
    )


def test_drift_adds_difference_growth_interest_and_time():
    evidence = seed(
        "drift",
        [((10, 7), (20, 28))],
        weight_of_amount=0.03,
        weight_of_growth=1.5,
        weight_of_interest=20.0,
        weight_of_delay=0.05,
        leaning=-0.4,
    )
    assert evidence == pytest.approx(
        [-0.4 + 0.03 * 10 + 1.5 * 1.0 + 20 * (2 ** (1 / 21) - 1) - 0.05 * 21]
    )


def test_the_interest_of_a_loss_speaks_for_paying_at_once():
    composition = only(attention="interest")
    evidence = log_odds(
        composition, [((10, 0), (20, 10)), ((-10, 0), (-20, 10))], weight_of_interest=10.0
    )
    assert evidence == pytest.approx(np.array([1, -1]) * 10 * (2**0.1 - 1))


def test_savouring_makes_some_delay_better_than_none_and_a_long_one_worse():
    composition = only(discounting="savouring and dread", comparison="difference in value")
    options = [((100, 0), (100, days)) for days in (3, 400)] + [((-100, 0), (-100, 3))]
    evidence = log_odds(
        composition, options, sensitivity=0.1, discount_rate=0.01, anticipation=0.05, fading=0.1
    )
    assert np.sign(evidence).tolist() == [
        1,
        -1,
        -1,
    ]  # Loewenstein (1987): a kiss is put off, a shock is not


def test_a_ratio_of_values_is_luces_rule():
    composition = only(discounting="exponential", comparison="ratio of values")
    p = p_later(composition, [((10, 0), (20, 30))], sensitivity=2.0, discount_rate=0.01)
    later = (20 * np.exp(-0.3)) ** 2
    assert p == pytest.approx([later / (later + 10**2)])


def test_shortcuts_decide_where_they_apply_and_only_there():
    options = [((10, 0), (20, 30)), ((10, 0), (20, 300)), ((100, 0), (200, 30)), ((10, 0), (20, 2))]
    cases = {
        "longest wait": ({"longest_wait": 100.0}, [0, -1, 0, 0]),
        "good enough": ({"aspiration": 50.0}, [0, 0, -1, 0]),
        "short wait": ({"negligible_days": 7.0}, [0, 0, 0, 1]),
        "small gain": ({"negligible_amount": 50.0}, [-1, -1, 0, -1]),
    }
    for name, (parameters, expected) in cases.items():
        evidence = log_odds(only(shortcut=name), options, conviction=1.0, **parameters)
        assert evidence == pytest.approx(np.array(expected), abs=1e-12), name


def test_people_of_another_type_follow_their_own_rule():
    composition = only(other="some people never wait")
    assert p_later(composition, [((10, 0), (2000, 1))], other_type=0.5).tolist() == [0.0]
    assert p_later(composition, [((10, 0), (2000, 1))], other_type=-0.5).tolist() == [0.5]


@pytest.fixture(scope="module")
def answers():
    """Probabilities of waiting by theory, ``(512, n_trials)``, of people to simulate and of people to score by."""
    stimuli = DOMAIN.candidates({}, np.random.default_rng(11), 100)

    def drawn(composition, seed):
        people = draw_population(priors_of(composition), 512, np.random.default_rng(seed))
        values = {parameter: column[:, None] for parameter, column in people.items()}
        return choose_of(GRAMMAR, composition)(values, dict(stimuli.arrays), np)

    return {
        name: (drawn(composition, 1), drawn(composition, 2))
        for name, (_, composition) in SEEDS.items()
    }


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("name", SEEDS)
def test_people_who_follow_a_theory_are_best_explained_by_it_more_often_than_chance(name, answers):
    rng = np.random.default_rng(12)
    n_groups, size, chance = 20, 25, 1 / len(SEEDS)
    own = rng.permutation(answers[name][0])[: n_groups * size]
    waited = (rng.random(own.shape) < own) * 1.0
    scores = []
    for _, others in answers.values():
        p = np.clip(others, 1e-9, 1 - 1e-9)
        log_likelihood = np.log(p) @ waited.T + np.log1p(-p) @ (1 - waited).T
        scores.append((logsumexp(log_likelihood, axis=0)).reshape(n_groups, size).sum(axis=1))
    recovered = (np.argmax(scores, axis=0) == list(SEEDS).index(name)).mean()
    assert recovered > chance + 4 * np.sqrt(chance * (1 - chance) / n_groups)


@pytest.mark.parametrize(
    ("composition", "kind", "variation", "holds"),
    [
        (SEEDS["exponential"][1], "increasing", "amount", True),
        (SEEDS["exponential"][1], "decreasing", "delay", True),
        (SEEDS["exponential"][1], "increasing", "loss_delay", True),
        (SEEDS["exponential"][1], "increasing", "dominance", True),
        (only(discounting="exponential", comparison="ratio of values"), "ignores", "scale", True),
        (SEEDS["hyperbolic"][1], "decreasing", "delay", True),
        (SEEDS["proportional_difference"][1], "ignores", "scale", True),
        (SEEDS["proportional_difference"][1], "ignores", "delay_scale", True),
        (SEEDS["trade_off"][1], "decreasing", "delay", True),
        (SEEDS["trade_off"][1], "ignores", "scale", False),
        (SEEDS["itch"][1], "ignores", "delay_scale", False),
        (SEEDS["similarity"][1], "increasing", "dominance", True),
        (
            only(discounting="savouring and dread", comparison="difference in value"),
            "decreasing",
            "delay",
            False,
        ),
        (only(comparison="difference in value", choice="contrarian"), "decreasing", "amount", True),
    ],
)
def test_qualitative_predictions_hold_for_the_theories_that_make_them(
    composition, kind, variation, holds, sandbox
):
    theory = read_program(TheoryProgram(GRAMMAR.write(composition, "Test"), "test"))
    report = check_claim(theory, DOMAIN, sandbox, predictions=[ClaimPrediction(kind, variation)])
    assert report.passed is holds, report.to_text()
