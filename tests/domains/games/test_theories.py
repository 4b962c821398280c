"""Theories of matrix games against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import poisson

from lakatos.domains.games.task import GamesDomain, games, swap_columns
from lakatos.domains.games.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = GamesDomain()
BASE = {**SEEDS["level_2"][1].slots, "social": ("care for the other",)}
GAME = (((10, 21), (26, 1)), ((7, 8), (13, 3)))
OWN, OTHER = (np.array(payoffs, dtype=float) for payoffs in GAME)
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


def seed(name, game=GAME, **parameters):
    """Probability of the second row."""
    parameters = {"lapse": 0.0, "sensitivity": 0.2, **parameters}
    columns = {key: np.array([[value]]) for key, value in parameters.items()}
    return choose_of(GRAMMAR, SEEDS[name][1])(columns, dict(games([game]).arrays), np)[0, 0, 1]


def row_lead(chance):
    """Own expected lead of the second row, where the second column has a chance."""
    return (1 - chance) * (OWN[1, 0] - OWN[0, 0]) + chance * (OWN[1, 1] - OWN[0, 1])


def column_lead(chance):
    """The other's expected lead of the second column, where the second row has a chance."""
    return (1 - chance) * (OTHER[0, 1] - OTHER[0, 0]) + chance * (OTHER[1, 1] - OTHER[1, 0])


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
def test_every_mechanism_follows_rows_and_ignores_the_order_of_columns(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    draws = check_points(priors_of(composition), np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    choose = choose_of(GRAMMAR, composition)
    with np.errstate(all="raise", under="ignore"):
        here = choose(draws, dict(stimuli.arrays), np)
        turned = choose(draws, dict(DOMAIN.swap_sides(swap_columns(stimuli)).arrays), np)
    assert here.shape[1:] == (len(stimuli), 2)
    assert here.min() >= 0
    assert here.sum(axis=-1) == pytest.approx(1)
    assert turned == pytest.approx(here[..., ::-1], abs=1e-9)


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


def test_level_1_answers_to_chance():
    assert seed("level_1") == pytest.approx(expit(0.2 * row_lead(0.5)))


def test_level_2_answers_to_level_1():
    chance = expit(0.3 * column_lead(0.5))
    assert seed("level_2", other_strictness=0.3) == pytest.approx(expit(0.2 * row_lead(chance)))


def test_level_3_answers_to_level_2():
    chance = expit(0.3 * column_lead(expit(0.3 * row_lead(0.5))))
    assert seed("level_3", other_strictness=0.3) == pytest.approx(expit(0.2 * row_lead(chance)))


def test_some_others_think_and_answer_best():
    assert column_lead(0.5) < 0
    assert seed("some_think", thinking_share=0.6) == pytest.approx(expit(0.2 * row_lead(0.2)))


def test_the_quantal_response_equilibrium_is_a_fixed_point():
    # each of 24 rounds goes at least half of the way
    def gap(rows):
        return expit(0.2 * row_lead(expit(0.2 * column_lead(rows)))) - rows

    assert seed("quantal_response", other_strictness=0.2) == pytest.approx(
        brentq(gap, 0, 1), abs=1e-4
    )


def test_without_blur_introspection_nears_equilibrium_and_with_much_it_is_level_2():
    sharp = seed("noisy_introspection", other_strictness=0.1, blur=1.0)
    assert sharp == pytest.approx(
        seed("quantal_response", other_strictness=0.1, sensitivity=0.2), abs=1e-2
    )
    dull = seed("noisy_introspection", other_strictness=0.3, blur=1e6)
    assert dull == pytest.approx(seed("level_2", other_strictness=0.3), abs=1e-4)


def test_a_cognitive_hierarchy_answers_to_all_lower_levels_by_their_shares():
    steps, strictness = 1.4, 0.3
    rows, columns = [0.5], [0.5]
    for level in range(1, 5):
        weights = poisson.pmf(range(level), steps)
        weights = weights / weights.sum()
        rows_so_far, columns_so_far = weights @ rows, weights @ columns
        rows.append(expit(strictness * row_lead(columns_so_far)))
        columns.append(expit(strictness * column_lead(rows_so_far)))
    weights = poisson.pmf(range(5), steps)
    chance = weights @ columns / weights.sum()
    p = seed("cognitive_hierarchy", mean_steps=steps, other_strictness=strictness)
    assert p == pytest.approx(expit(0.2 * row_lead(chance)))


@pytest.mark.parametrize(
    ("name", "lead"), [("maximin", 1 - 10), ("maximax", 26 - 21), ("minimax_regret", 16 - 20)]
)
def test_rules_without_beliefs(name, lead):
    assert seed(name) == pytest.approx(expit(0.2 * lead))


def test_inequity_aversion_takes_envy_and_guilt_from_ones_own_payoff():
    mine = OWN - 0.4 * np.maximum(OTHER - OWN, 0) - 0.3 * np.maximum(OWN - OTHER, 0)
    chance = expit(0.3 * column_lead(0.5))
    lead = (1 - chance) * (mine[1, 0] - mine[0, 0]) + chance * (mine[1, 1] - mine[0, 1])
    p = seed("inequity_aversion", envy=0.4, guilt=0.3, other_strictness=0.3)
    assert p == pytest.approx(expit(0.2 * lead))


STAG_HUNT = (((40, 5), (25, 25)), ((40, 25), (5, 25)))


def test_in_the_stag_hunt_risk_and_payoff_dominance_part():
    # deviating from (stag, stag) costs 15 each, from (hare, hare) 20 each: hare is the safer
    plain = seed("level_2", STAG_HUNT, other_strictness=0.3)
    safe = seed("risk_dominance", STAG_HUNT, other_strictness=0.3, risk_dominance=3.0)
    rich = seed("payoff_dominance", STAG_HUNT, other_strictness=0.3, payoff_dominance=3.0)
    log_odds = np.log(plain / (1 - plain))
    assert [np.log(p / (1 - p)) - log_odds for p in (safe, rich)] == pytest.approx([0.6, -0.6])


def test_trade_offs_make_choice_less_strict():
    disagreement = (16 + 20) / 2 - abs(16 - 20) / 2
    chance = expit(0.3 * column_lead(0.5))
    p = seed("complexity", other_strictness=0.3, confusion=0.1)
    assert p == pytest.approx(expit(0.2 * row_lead(chance) / (1 + 0.1 * disagreement)))
