"""Distances, duplicates and the map: closed forms first, then what adaptation may and may not do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize

from lakatos.domains import FAMILIES
from lakatos.domains.estimation.task import EstimationDomain
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.theories.engine.scoring.distance import (
    DUPLICATE,
    distances,
    find_duplicate,
    simplex_least_squares,
    theory_map,
)
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = MultiattributeDomain()
SPACE = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
STIMULI = DOMAIN.candidates(SPACE, np.random.default_rng(0), 400)


def theory_of(body: str, parameters: str = ""):
    source = f'"""Name: a claim."""\nPARAMETERS = {{{parameters}}}\n\ndef choose(parameters, trials, xp):\n'
    return read_program(
        TheoryProgram(source + "".join(f"    {line}\n" for line in body.splitlines()), "test")
    )


def distance_of(first, second, *asked, **settings):
    return distances([first, second], *asked, **settings).between(0, 1)


def uniform(name, low, high, kind="uniform"):
    return f'"{name}": {{"prior": "{kind}", "low": {low}, "high": {high}}}'


SUM = 'e = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)\n'
FLAT = "p = 0.0 * trials['rating_max']\n"


def weighted(scale, low=0.05, high=5.0):
    return theory_of(
        SUM + f'return 1 / (1 + xp.exp(-{scale} * parameters["slope"] * e))',
        uniform("slope", low, high, "log_uniform"),
    )


def seed(name):
    return read_program(FAMILIES["multiattribute"].program(name))


class TestClosedForms:
    def test_does_not_shrink_with_outcomes_that_nobody_chooses(self, sandbox):
        domain = EstimationDomain()
        (stimuli, *_) = domain.probes(np.random.default_rng(0))
        n_outcomes = domain.n_options(stimuli)

        def two_outcomes(share):
            shares = [1 - share, share] + [0.0] * (n_outcomes - 2)
            array = next(iter(stimuli.arrays))
            return theory_of(
                f'n = len(trials["{array}"])\n'
                f"return xp.ones((1, n, 1)) * xp.asarray({shares})[None, None]"
            )

        found = distance_of(
            two_outcomes(0.3), two_outcomes(0.55), stimuli, domain, sandbox, n_draws=4
        )
        assert n_outcomes > 10
        assert found.declared == pytest.approx(0.25)

    def test_of_two_constant_theories_is_the_difference_of_their_probabilities(self, sandbox):
        found = distance_of(
            theory_of(FLAT + "return (p + 0.3)[None]"), theory_of(FLAT + "return (p + 0.55)[None]"),
            STIMULI, DOMAIN, sandbox, n_draws=4,
        )  # fmt: skip
        assert found.declared == pytest.approx(0.25)
        assert (found.first_by_second, found.second_by_first) == pytest.approx((0.25, 0.25))

    def test_of_a_theory_with_itself_is_nothing(self, sandbox):
        found = distance_of(weighted(1.0), weighted(1.0), STIMULI, DOMAIN, sandbox, n_draws=64)
        assert found.declared == pytest.approx(0, abs=1e-7)
        assert found.adapted == pytest.approx(
            0, abs=2e-4
        )  # the square root of the solver's tolerance

    def test_runs_to_the_end_of_the_declared_range_and_no_further(self, sandbox):
        # One says 0.9 everywhere, the other can say anything up to 0.7; the first can say nothing else.
        fixed = theory_of(FLAT + "return (p + 0.9)[None]")
        free = theory_of(FLAT + "return p + parameters['share']", uniform("share", 0.1, 0.7))
        found = distance_of(fixed, free, STIMULI, DOMAIN, sandbox)
        assert found.declared == pytest.approx(0.5, abs=0.01)  # its people average 0.4
        assert found.first_by_second == pytest.approx(0.2, abs=0.005)
        assert found.second_by_first == pytest.approx(0.5, abs=0.01)
        assert found.adapted == found.second_by_first

    def test_of_persons_sees_that_people_differ_where_proportions_agree(self, sandbox):
        # Everybody at even odds, or half of the people always on either side: P(second, second) is 1/4 or 1/2.
        even = theory_of(FLAT + "return (p + 0.5)[None]")
        types = theory_of(
            FLAT + "return p + 1.0 * (parameters['side'] > 0)", uniform("side", -1.0, 1.0)
        )
        means = distance_of(even, types, STIMULI, DOMAIN, sandbox)
        persons = distance_of(even, types, STIMULI, DOMAIN, sandbox, level="person")
        assert means.declared == pytest.approx(0, abs=1e-7)
        assert persons.declared == pytest.approx(0.25)
        assert persons.adapted == pytest.approx(0.25, abs=1e-3)

    def test_of_persons_tells_a_theory_from_its_opposite(self, sandbox):
        first, second = (theory_of(FLAT + f"return (p + {share})[None]") for share in (0.2, 0.8))
        persons = distance_of(first, second, STIMULI, DOMAIN, sandbox, level="person", n_draws=4)
        # Cells of two answers: (.64, .16, .16, .04) against its mirror image.
        assert persons.declared == pytest.approx(np.sqrt(2 * 0.6**2 / 4))


class TestAdaptation:
    def test_makes_a_rescaled_sensitivity_a_duplicate(self, sandbox):
        found = find_duplicate(
            weighted(3.0), [seed("tallying"), weighted(1.0)], STIMULI, DOMAIN, sandbox
        )
        assert found is not None
        assert found.theory == weighted(1.0)
        assert found.distance.declared > DUPLICATE
        assert found.distance.adapted <= DUPLICATE
        assert "predicts as Name" in found.sentence

    def test_does_not_make_take_the_best_and_tallying_duplicates(self, sandbox):
        best, tallying = seed("take_the_best"), seed("tallying")
        assert find_duplicate(best, [tallying], STIMULI, DOMAIN, sandbox) is None
        assert distance_of(best, tallying, STIMULI, DOMAIN, sandbox).adapted > 0.1

    def test_lets_the_general_imitate_the_special_but_not_the_other_way_round(self, sandbox):
        special = seed("weighted_additive")
        general = seed("diminishing_returns")
        found = distance_of(special, general, STIMULI, DOMAIN, sandbox)
        assert found.first_by_second < DUPLICATE
        assert found.second_by_first > DUPLICATE

    def test_reaches_a_narrow_population_in_a_wide_one(self, sandbox):
        slopes = "return 1 / (1 + xp.exp(-parameters['slope'] * e - parameters['lean']))"
        wide = theory_of(
            SUM + slopes,
            uniform("slope", 0.05, 5.0, "log_uniform") + ", " + uniform("lean", -3.0, 3.0),
        )
        narrow = theory_of(
            SUM + slopes,
            uniform("slope", 0.5, 0.52, "log_uniform") + ", " + uniform("lean", 1.1, 1.12),
        )
        found = distance_of(narrow, wide, STIMULI, DOMAIN, sandbox)
        assert found.declared > 0.1
        assert found.first_by_second < DUPLICATE / 10

    def test_never_makes_a_distance_larger(self, sandbox):
        theories = [
            seed(name)
            for name in ("take_the_best", "tallying", "weighted_additive", "equal_weights")
        ]
        found = distances(theories, STIMULI, DOMAIN, sandbox, n_draws=64)
        assert (found.imitation <= found.declared + 2e-4).all()
        assert np.array_equal(found.declared, found.declared.T)
        assert found.between(0, 1).adapted == found.adapted[0, 1] == found.adapted[1, 0]

    def test_of_the_same_theories_gives_the_same_distances(self, sandbox):
        theories = [seed("tallying"), weighted(1.0)]
        first, again = (distances(theories, STIMULI, DOMAIN, sandbox, n_draws=64) for _ in range(2))
        assert np.array_equal(first.imitation, again.imitation)

    def test_with_an_empty_pool_finds_nothing(self, sandbox):
        assert find_duplicate(weighted(1.0), [], STIMULI, DOMAIN, sandbox) is None


class TestSimplexLeastSquares:
    def test_projects_on_a_segment(self):
        points = np.array([[0.0, 0.0], [2.0, 0.0]])
        target = np.array([0.5, 3.0])
        np.testing.assert_allclose(
            simplex_least_squares(points @ points.T, points @ target), [0.75, 0.25], atol=1e-6
        )

    def test_goes_to_the_nearest_corner_from_outside(self):
        points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        target = np.array([-1.0, -2.0])
        np.testing.assert_allclose(
            simplex_least_squares(points @ points.T, points @ target), [1, 0, 0], atol=1e-6
        )

    @given(
        hnp.arrays(np.float64, (6, 4), elements=st.floats(-1, 1)),
        hnp.arrays(np.float64, 4, elements=st.floats(-1, 1)),
    )
    def test_is_as_good_as_a_general_optimiser(self, points, target):
        gram, cross = points @ points.T, points @ target
        weights = simplex_least_squares(gram, cross)
        assert weights.sum() == pytest.approx(1)
        assert weights.min() >= 0

        def loss(w):
            return w @ gram @ w - 2 * w @ cross

        other = minimize(
            loss, np.full(6, 1 / 6), jac=lambda w: 2 * (gram @ w - cross), bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1}, method="SLSQP", options={"ftol": 1e-12},
        )  # fmt: skip
        assert loss(weights) <= other.fun + 1e-6


class TestMap:
    # Squares of gaps below 1e-154 are 0, or rounded so coarsely that no plane holds them.
    @given(hnp.arrays(np.float64, (7, 2), elements=st.floats(-5, 5).map(lambda x: round(x, 9))))
    def test_recovers_points_of_a_plane_up_to_rotation(self, points):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
        found = theory_map(gaps)
        again = np.linalg.norm(found.positions[:, None] - found.positions[None], axis=-1)
        np.testing.assert_allclose(again, gaps, atol=1e-5)
        assert found.shown == pytest.approx(1, abs=1e-6)

    def test_shows_two_thirds_of_a_regular_tetrahedron(self):
        assert theory_map(1 - np.eye(4)).shown == pytest.approx(2 / 3)

    def test_of_one_theory_is_a_point(self):
        found = theory_map(np.zeros((1, 1)))
        np.testing.assert_array_equal(found.positions, [[0.0, 0.0]])
        assert found.shown == 1.0

    def test_does_not_depend_on_the_order_of_theories(self):
        rng = np.random.default_rng(0)
        points, order = rng.normal(size=(6, 3)), rng.permutation(6)
        gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
        np.testing.assert_allclose(
            theory_map(gaps[np.ix_(order, order)]).positions,
            theory_map(gaps).positions[order],
            atol=1e-9,
        )
