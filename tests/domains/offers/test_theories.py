"""Theories of choice among offers against closed forms and simulation."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains.offers.archives.electricity import FILE, READER
from lakatos.domains.offers.task import OffersDomain, offered
from lakatos.domains.offers.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.language.grammar import Composition, composition_of
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from lakatos.theories.language.theory import read_program
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = OffersDomain()
BASE = {
    "expectation": ("expected prices",),
    "evaluation": ("weighted sum",),
    "choice": ("logistic",),
}
EXPECTED = {"expected_time_of_day": 8.0, "expected_seasonal": 10.0}
TRIAL = [(7, 5, 0, 1, 0, 0), (9, 0, 1, 0, 0, 0), (0, 1, 0, 0, 1, 0), (0, 0, 0, 1, 0, 1)]
COST = np.array([7.0, 9.0, 8.0, 10.0])
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


def p_of(composition, trial, **parameters):
    columns = {name: np.array([[value]]) for name, value in parameters.items()}
    return choose_of(GRAMMAR, composition)(columns, dict(offered([trial]).arrays), np)[0, 0]


def seed(name, trial, **parameters):
    return p_of(SEEDS[name][1], trial, lapse=0.0, **parameters)


def softmax(evidence):
    strength = np.exp(np.asarray(evidence) - np.max(evidence))
    return strength / strength.sum()


def priors_of(composition):
    return {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_that_follow_the_offers_not_their_places(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    draws = check_points(priors_of(composition), np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    choose = choose_of(GRAMMAR, composition)
    order = [2, 0, 3, 1]
    with np.errstate(all="raise", under="ignore"):
        here = choose(draws, dict(stimuli.arrays), np)
        there = choose(draws, {name: array[:, order] for name, array in stimuli.arrays.items()}, np)
    assert here.shape[1:] == (len(stimuli), 4)
    assert here.min() >= 0
    assert here.sum(axis=-1) == pytest.approx(1)
    assert there == pytest.approx(here[..., order], abs=1e-9)


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_changes_some_choice(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    answers = []
    for other in (composition, Composition(BASE)):
        # the same values of a parameter in both, and other values of each parameter
        values = {
            name: prior.quantile(np.random.default_rng(list(name.encode())).random(4))[:, None]
            for name, prior in priors_of(other).items()
        }
        answers.append(choose_of(GRAMMAR, other)(values, dict(stimuli.arrays), np))
    same = composition.key == Composition(BASE).key
    assert (np.abs(answers[0] - answers[1]).max() > 1e-3) != same


def test_sources_name_their_mechanisms_and_read_back():
    for name, (title, composition) in SEEDS.items():
        theory = read_program(FAMILY.program(name))
        assert theory.name == title
        assert composition_of(theory.composition, {}).key == composition.key


def test_random_choice_ignores_what_is_offered():
    assert p_of(SEEDS["random"][1], TRIAL, lapse=0.3) == pytest.approx([0.25] * 4)


def test_lapses_mix_in_even_odds():
    taste = {"price_weight": 1.0, **EXPECTED}
    sober = seed("cheapest", TRIAL, **taste)
    assert p_of(SEEDS["cheapest"][1], TRIAL, lapse=0.2, **taste) == pytest.approx(
        0.05 + 0.8 * sober
    )


TASTE = {"price_weight": 0.6, "contract_weight": -0.2, "local_weight": 1.5, "known_weight": 1.0}
OTHER_ATTRIBUTES = np.array([-0.2 * 5 + 1.0, 1.5, -0.2, 1.0])
"""What contract and reputation of the trial's offers are worth to that taste."""


def test_weighted_attributes_are_the_multinomial_logit():
    p = seed("logit", TRIAL, **TASTE, **EXPECTED)
    assert p == pytest.approx(softmax(OTHER_ATTRIBUTES - 0.6 * COST))


def test_the_logit_is_independent_of_irrelevant_alternatives():
    other = [*TRIAL[:2], (99, 0, 0, 0, 0, 0), (5, 0, 1, 1, 0, 0)]
    (a, b), (c, d) = (seed("logit", trial, **TASTE, **EXPECTED)[:2] for trial in (TRIAL, other))
    assert a / b == pytest.approx(c / d)


def test_the_logit_fitted_to_people_expects_the_attributes_that_they_chose(data_folder, require):
    # At the maximum of a conditional logit's likelihood, which is the only one, expected totals of all attributes are
    # those observed (McFadden, 1974). A weight of a rate that varies is that of price times the expected price. The
    # log-likelihood is the one that the package xlogit reaches (Arteaga and others, 2022, J. Choice Modelling 42).
    require((data_folder / READER.name / FILE).is_file(), "the data set is missing")
    (trials,) = READER.read(data_folder / READER.name)
    fitted = {
        "price_weight": 0.6252278,
        "contract_weight": -0.1082991,
        "local_weight": 1.4422429,
        "known_weight": 0.9955040,
        "expected_time_of_day": 5.4627586 / 0.6252278,
        "expected_seasonal": 5.8400308 / 0.6252278,
    }
    columns = {name: np.array([[value]]) for name, value in fitted.items()}
    p = choose_of(GRAMMAR, Composition(BASE))(columns, dict(trials.stimuli.arrays), np)[0]
    counts = trials.counts.sum(axis=0)
    for name, attribute in trials.stimuli.arrays.items():
        expected = (counts.sum(axis=1, keepdims=True) * p * attribute).sum()
        assert expected == pytest.approx((counts * attribute).sum(), rel=1e-4), name
    assert (counts * np.log(p)).sum() == pytest.approx(-4958.649, abs=1e-3)


def test_relative_thinking_makes_a_cent_count_less_where_all_is_dear():
    p = seed("relative_price", TRIAL, **TASTE, **EXPECTED)
    assert p == pytest.approx(softmax(OTHER_ATTRIBUTES - 0.6 * 8 * COST / 7))


def test_loss_aversion_weighs_what_lies_above_the_mean_price():
    above = COST - COST.mean()
    p = seed("loss_averse", TRIAL, **TASTE, **EXPECTED, loss_aversion=2.0)
    assert p == pytest.approx(softmax(OTHER_ATTRIBUTES - 0.6 * np.where(above > 0, 2, 1) * above))
    plain = seed("loss_averse", TRIAL, **TASTE, **EXPECTED, loss_aversion=1.0)
    assert plain == pytest.approx(seed("logit", TRIAL, **TASTE, **EXPECTED))


def test_distance_from_the_best_price_is_curved():
    composition = Composition(BASE | {"context": ("distance from the best price",)})
    p = p_of(composition, TRIAL, **TASTE, **EXPECTED, regret_curvature=0.5)
    assert p == pytest.approx(softmax(OTHER_ATTRIBUTES - 0.6 * np.sqrt(COST - 7)), abs=1e-6)


def test_the_worst_case_puts_a_varying_rate_at_the_dearest_fixed_price():
    composition = Composition(BASE | {"expectation": ("the worst",)})
    assert p_of(composition, TRIAL, **TASTE) == pytest.approx(
        softmax(OTHER_ATTRIBUTES - 0.6 * np.array([7, 9, 9, 9]))
    )


def test_equal_weights_count_advantages_scaled_to_what_is_on_offer():
    cheap, short = (10 - COST) / 3, (5 - np.array([5, 0, 1, 0])) / 5
    familiar = np.array([1, 1, 0, 1])
    p = seed("equal_weights", TRIAL, **EXPECTED, sensitivity=1.7)
    assert p == pytest.approx(softmax(1.7 * (cheap + short + familiar)))


@pytest.mark.parametrize(
    ("just_noticeable", "expected"),
    [(0.5, [1, 0, 0, 0]), (1.5, [1, 0, 0, 0]), (2.5, [0, 1, 0, 0])],
)
def test_lexicographic_choice_looks_at_reputation_where_prices_seem_alike(
    just_noticeable, expected
):
    assert seed(
        "lexicographic", TRIAL, **EXPECTED, just_noticeable=just_noticeable
    ) == pytest.approx(expected)


def test_lexicographic_choice_ends_with_the_shortest_contract_and_then_tosses_a_coin():
    alike = [(7, 5, 0, 1, 0, 0), (7, 1, 0, 1, 0, 0), (7, 1, 0, 1, 0, 0), (7, 0, 0, 0, 0, 0)]
    assert seed("lexicographic", alike, **EXPECTED, just_noticeable=1.0) == pytest.approx(
        [0, 0.5, 0.5, 0]
    )


@pytest.mark.parametrize(
    ("aspiration", "expected"),
    [(8.5, [1, 0, 0, 0]), (9.5, [0, 1, 0, 0]), (3.0, [1, 0, 0, 0])],
)
def test_satisficing_takes_the_most_familiar_that_is_cheap_enough_or_else_the_cheapest(
    aspiration, expected
):
    assert seed("satisficing", TRIAL, **EXPECTED, aspiration=aspiration) == pytest.approx(expected)


WEIGHTS = {"no_contract_first": 0.5, "local_first": 3.0, "known_first": 2.0, "fixed_first": 0.7}


def aspects_of(cheap):
    """``(5, 4)`` aspects of the trial's offers: cheap, no contract, local, known, fixed price."""
    return np.array(
        [cheap >= COST, [0, 1, 0, 1], [0, 1, 0, 0], [1, 0, 0, 1], [1, 1, 0, 0]], dtype=bool
    )


def test_elimination_by_aspects_of_two_kinds_of_offers_is_the_ratio_of_their_unique_aspects():
    # two pairs of equal offers: one pair is cheap and known, the other local; a fixed price and no contract are shared
    first, second = (7, 0, 0, 1, 0, 0), (9, 0, 1, 0, 0, 0)
    p = seed(
        "elimination_by_aspects", [first, second, first, second], **EXPECTED, cheap=8.0, **WEIGHTS
    )
    share = (1 + 2) / (1 + 2 + 3)
    assert p == pytest.approx([share / 2, (1 - share) / 2] * 2)


def test_elimination_by_aspects_follows_its_recursion():
    def recursion(left, aspects, weights):
        """Tversky (1972), equation 6, with the offers that are left as a list."""
        useful = [
            (weight, kept)
            for weight, aspect in zip(weights, aspects, strict=True)
            if 0 < len(kept := [place for place in left if aspect[place]]) < len(left)
        ]
        if not useful:
            return np.isin(np.arange(4), left) / len(left)
        total = sum(weight for weight, _ in useful)
        return sum(weight / total * recursion(kept, aspects, weights) for weight, kept in useful)

    for cheap in (6.0, 8.5, 9.5):
        p = seed("elimination_by_aspects", TRIAL, **EXPECTED, cheap=cheap, **WEIGHTS)
        assert p == pytest.approx(
            recursion([0, 1, 2, 3], aspects_of(cheap), [1, *WEIGHTS.values()]), abs=1e-9
        )


@pytest.mark.slow
def test_elimination_by_aspects_matches_people_who_eliminate():
    rng = np.random.default_rng(5)
    aspects, weights = aspects_of(8.5), np.array([1, *WEIGHTS.values()])
    n = 20_000
    chosen = np.zeros(4)
    for _ in range(n):
        left = np.ones(4, dtype=bool)
        # aspects by their weights, one after another; those that all or none of the rest have change nothing
        for aspect in aspects[np.argsort(rng.exponential(size=5) / weights)]:
            left = left & aspect if (left & aspect).any() else left
        chosen[rng.choice(np.flatnonzero(left))] += 1
    p = seed("elimination_by_aspects", TRIAL, **EXPECTED, cheap=8.5, **WEIGHTS)
    assert (np.abs(chosen / n - p) <= 4 * np.sqrt(p * (1 - p) / n) + 1e-9).all()


def test_further_attention_adds_to_the_evidence():
    both = Composition(BASE | {"attention": ("no contract", "steady rate")})
    p = p_of(both, TRIAL, **TASTE, **EXPECTED, freedom=0.8, steadiness=0.3)
    further = 0.8 * np.array([0, 1, 0, 1]) - 0.3 * np.array([0, 0, 1, 1])
    assert p == pytest.approx(softmax(OTHER_ATTRIBUTES - 0.6 * COST + further))


def test_deterministic_choice_takes_the_best_and_splits_ties():
    composition = Composition(BASE | {"choice": ("deterministic",)})
    assert p_of(
        composition, [TRIAL[0], TRIAL[0], TRIAL[3], TRIAL[3]], **TASTE, **EXPECTED
    ) == pytest.approx([0.5, 0.5, 0, 0])
