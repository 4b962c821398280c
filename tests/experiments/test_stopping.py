import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.experiments.errors import DesignError
from lakatos.experiments.power import scores_of_people
from lakatos.experiments.stopping import StoppingPlan, decide, operate, plan_looks


def gambler(p, k, n_most):
    """Exact chances of the walk that gains one when p is true and loses one else, stopped at k, -k, or n_most steps."""
    at = np.zeros(2 * k + 1)
    at[k] = 1
    up = down = expected = 0.0
    for step in range(1, n_most + 1):
        moved = np.zeros_like(at)
        moved[1:] += p * at[:-1]
        moved[:-1] += (1 - p) * at[1:]
        at = moved
        up, down, expected = up + at[-1], down + at[0], expected + step * (at[-1] + at[0])
        at[0] = at[-1] = 0
    return up, down, expected + n_most * at.sum()


def coin_scores(p, n):
    """Scores of people who answer 1 with probability p under the first theory and 1 - p under the second."""
    n_ones = round(p * n)
    one, zero = np.log([p, 1 - p]), np.log([1 - p, p])
    first = np.concatenate([np.tile(one, (n_ones, 1)), np.tile(zero, (n - n_ones, 1))])
    return np.stack([first, first[:, ::-1]])


class TestOperate:
    @pytest.mark.statistical
    @pytest.mark.parametrize(("p", "k", "most"), [(0.7, 3, 200), (0.6, 4, 30)])
    def test_agrees_with_the_exact_chances_of_a_walk_between_two_walls(self, p, k, most):
        plan = plan_looks(1, 1, most, (p / (1 - p)) ** (k - 0.5))
        found = operate(plan, coin_scores(p, 10), np.random.default_rng(1), n_simulations=4000)
        up, down, expected = gambler(p, k, most)
        for value, exact in ((found.correct[0], up), (found.wrong[0], down)):
            assert abs(value - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000)
        assert abs(found.n_expected[0] - expected) < 4 * found.n_expected_error[0]

    @pytest.mark.statistical
    @given(st.integers(0, 10_000))
    @settings(max_examples=10, deadline=None)
    def test_a_false_theory_gets_odds_of_k_at_most_once_in_k_times(self, seed):
        rng = np.random.default_rng(seed)
        theories = [np.stack([1 - p, p], axis=-1) for p in rng.beta(1, 1, size=(3, 4, 5))]
        people = scores_of_people(theories, 1, 2000, rng)
        found = operate(StoppingPlan(tuple(range(1, 41)), 5.0), people, rng, n_simulations=1000)
        # With three theories there are two false ones; each sample of people departs from its theory by chance, too.
        assert (found.wrong < 2 / 5 + 4 * np.sqrt(0.4 * 0.6 / 1000)).all()

    @pytest.mark.statistical
    def test_walds_identity_holds(self):
        # E[log odds when stopping] = E[participants] * E[log odds of one]
        rng, plan, people = (
            np.random.default_rng(3),
            plan_looks(1, 1, 500, 20.0),
            coin_scores(0.6, 10),
        )
        found = operate(plan, people, rng, n_simulations=4000)
        reached = 8 * np.log(1.5)  # the first multiple of one person's log odds above log 20
        mean = people[0][:, 0].mean() - people[0][:, 1].mean()
        spread = 4 * (
            2 * reached * np.sqrt(found.wrong[0] / 4000) + mean * found.n_expected_error[0]
        )
        assert (
            abs(reached * (found.correct[0] - found.wrong[0]) - mean * found.n_expected[0]) < spread
        )

    def test_theories_that_agree_are_asked_to_the_end(self):
        found = operate(
            plan_looks(5, 5, 20, 3.0),
            np.zeros((2, 4, 2)),
            np.random.default_rng(0),
            n_simulations=10,
        )
        assert not found.correct.any()
        assert not found.wrong.any()
        assert (found.n_expected == 20).all()


class TestDecide:
    PLAN = StoppingPlan((2, 4), 10.0)

    def test_nothing_is_decided_before_the_first_look(self):
        found = decide(self.PLAN, np.array([[0.0, -50.0]]))
        assert not found.stop
        assert found.winner is None
        assert found.n_participants == 0

    def test_people_after_the_deciding_look_change_nothing(self):
        found = decide(self.PLAN, np.array([[0.0, -2.0], [0.0, -2.0], [0.0, 9.0]]))
        assert (found.stop, found.winner, found.n_participants) == (True, 0, 2)
        assert found.log_bayes_factor[0, 1] == pytest.approx(4.0)

    def test_the_last_look_ends_collection_without_a_winner(self):
        found = decide(self.PLAN, np.zeros((4, 2)))
        assert (found.stop, found.winner, found.n_participants) == (True, None, 4)

    def test_a_tied_rival_need_not_be_beaten(self):
        scores = np.array([[0.0, -3.0, -0.1]] * 2)
        assert decide(self.PLAN, scores).winner is None
        assert decide(self.PLAN, scores, ties=[(0, 2)]).winner == 0

    @given(st.integers(0, 10_000), st.integers(0, 30))
    def test_a_decision_is_never_taken_back(self, seed, n):
        scores = np.random.default_rng(seed).normal(size=(30, 3))
        plan = plan_looks(3, 4, 30, 4.0)
        before, after = decide(plan, scores[:n]), decide(plan, scores)
        if before.stop:
            assert (after.winner, after.n_participants) == (before.winner, before.n_participants)


def test_looks_end_at_the_most_that_can_be_asked():
    assert plan_looks(10, 5, 23, 10).looks == (10, 15, 20, 23)
    assert plan_looks(10, 5, 8, 10).looks == (8,)


def test_the_plan_states_its_looks_and_its_threshold():
    text = plan_looks(10, 10, 30, 6).to_text()
    assert "after 10, 20 and 30 participants" in text
    assert "Bayes factor of at least 6" in text


@pytest.mark.parametrize(
    ("looks", "odds", "words"), [((), 3, "ascend"), ((4, 4), 3, "ascend"), ((4,), 1, "above 1")]
)
def test_a_plan_that_decides_nothing_is_refused(looks, odds, words):
    with pytest.raises(DesignError, match=words):
        StoppingPlan(looks, odds)
