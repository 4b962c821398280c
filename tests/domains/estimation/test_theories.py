"""Theories of estimating functions against closed forms."""

import numpy as np
import pytest
from scipy import stats

from lakatos.domains.estimation.task import EstimationDomain, asked
from lakatos.domains.estimation.theories import FAMILY, GRAMMAR, SEEDS
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.points import check_points
from lakatos.theories.language.prior import parse_prior
from tests.domains.mechanisms import choose_of, one_mechanism_each

DOMAIN = EstimationDomain()
EDGES = np.array(DOMAIN.scale.edges)
X, Y, QUERY = np.array([-0.5, 0.0, 0.3, 0.6]), np.array([-0.4, 0.3, 0.2, 0.7]), 0.35
BASE = {**SEEDS["smooth_curve"][1].slots}
ONE_MECHANISM_EACH = one_mechanism_each(GRAMMAR, BASE)


def answers(name, points=None, query=QUERY, **parameters):
    """Probabilities of the bins."""
    parameters = {"lapse": 0.0, "scatter": 0.1, **parameters}
    columns = {key: np.array([[value]]) for key, value in parameters.items()}
    stimuli = asked([points or list(zip(X, Y, strict=True))], [query])
    return choose_of(GRAMMAR, SEEDS[name][1])(columns, dict(stimuli.arrays), np)[0, 0]


def bins(height, spread=0.1):
    below = stats.norm(height, spread).cdf(EDGES)
    below[[0, -1]] = 0, 1
    return np.diff(below)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_published_theories_pass_all_checks(name, sandbox):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.broadcasts
    assert theory.claim.startswith("People ")


@pytest.mark.parametrize("composition", ONE_MECHANISM_EACH)
def test_every_mechanism_gives_probabilities_and_changes_some_answer(composition):
    stimuli = Stimuli.concatenate(DOMAIN.probes(np.random.default_rng(0)))
    priors = {
        name: parse_prior(name, literal)
        for name, literal in GRAMMAR.parameters(composition).items()
    }
    draws = check_points(priors, np.random.default_rng(0))
    draws = {name: value[:, None] for name, value in draws.items()}
    with np.errstate(all="raise", under="ignore"):
        here = choose_of(GRAMMAR, composition)(draws, dict(stimuli.arrays), np)
    assert here.shape[1:] == (len(stimuli), 22)
    assert here.min() >= 0
    assert here.sum(axis=-1) == pytest.approx(1)
    values = {
        name: prior.quantile(np.random.default_rng(list(name.encode())).random(4))[:, None]
        for name, prior in priors.items()
    }
    base = {**values, "reach": np.full((4, 1), 0.3), "scatter": values["scatter"]}
    others = {k: v for k, v in values.items() if k != "lapse"}
    parameters = {**base, "lapse": np.full((4, 1), 0.1), **others}
    first, second = (
        choose_of(GRAMMAR, item)(parameters, dict(stimuli.arrays), np)
        for item in (composition, Composition({**BASE, "lapse": ()}))
    )
    assert np.abs(first - second).max() > 1e-3 or composition.key == Composition(BASE).key


def test_a_straight_line_is_that_of_least_squares():
    slope, height = np.polyfit(X, Y, 1)
    assert answers("straight_line") == pytest.approx(bins(height + slope * QUERY), abs=1e-5)


def test_the_nearest_point_is_at_0_3():
    assert answers("nearest_point") == pytest.approx(bins(0.2), abs=1e-9)


def test_associations_are_extrapolated_along_the_slope():
    slope = np.polyfit(X, Y, 1)[0]
    assert answers("exam", query=0.9) == pytest.approx(bins(0.7 + 0.3 * slope), abs=1e-5)


def test_exemplars_are_averaged_by_their_closeness():
    weight = stats.norm(QUERY, 0.2).pdf(X)
    assert answers("exemplars", reach=0.2) == pytest.approx(bins(weight @ Y / weight.sum()))


def test_a_smooth_curve_is_a_line_through_points_weighted_by_closeness():
    weight = stats.norm(QUERY, 0.3).pdf(X)
    slope, height = np.polyfit(X, Y, 1, w=np.sqrt(weight))
    expected = bins(height + slope * QUERY)
    assert answers("smooth_curve", reach=0.3) == pytest.approx(expected, abs=1e-3)


def test_growth_pulls_towards_the_diagonal():
    plain = stats.norm(QUERY, 0.3).pdf(X)
    slope, height = np.polyfit(X, Y, 1, w=np.sqrt(plain))
    there = height + slope * QUERY
    p = answers("growth_prior", reach=0.3, growth=0.5)
    assert p == pytest.approx(bins(0.5 * there + 0.5 * QUERY), abs=1e-3)


def test_scatter_grows_with_the_distance_of_the_nearest_point():
    p = answers("smooth_uncertain", query=0.9, reach=0.3, uncertainty=0.5, scatter=0.1)
    slope, height = np.polyfit(X, Y, 1, w=np.sqrt(stats.norm(0.9, 0.3).pdf(X)))
    assert p == pytest.approx(bins(height + slope * 0.9, 0.1 + 0.5 * 0.3), abs=2e-3)


def test_lapses_are_spread_over_the_whole_graph():
    assert answers("average", lapse=0.2) == pytest.approx(0.8 * bins(Y.mean()) + 0.2 / 22)
