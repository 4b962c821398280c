"""Published theories of choice between rated products, each against a closed form or the paper's own argument."""

from itertools import permutations

import numpy as np
import pytest

from lakatos.domains.multiattribute.theories import FAMILY
from lakatos.experiments.task import Stimuli

VALIDITIES = np.array([0.9, 0.8, 0.7, 0.6])
A = [[1, 0, 0, 0], [2, 2, 2, 0], [4, 0, 1, 1], [3, 3, 0, 0], [0, 4, 4, 0]]
B = [[0, 1, 1, 0], [2, 2, 0, 4], [0, 1, 2, 2], [0, 0, 3, 3], [4, 0, 0, 4]]
TOP = 4


def pairs(a, b, validities=VALIDITIES, top=TOP):
    return Stimuli(
        {
            "ratings": np.stack([a, b], axis=1).astype(float),
            "validities": np.tile(validities, (len(a), 1)),
            "rating_max": np.full(len(a), float(top)),
        }
    )


TRIALS = pairs(A, B)
SHARES = TRIALS["ratings"] / TOP
DIFFERENCE = SHARES[:, 1] - SHARES[:, 0]


@pytest.fixture
def chance_of_b(sandbox):
    """P(B) of a published theory at one point, without lapses."""

    def run(name, stimuli=TRIALS, **parameters):
        draws = {
            key: np.array([float(value)]) for key, value in ({"lapse": 0.0} | parameters).items()
        }
        return sandbox.probabilities(FAMILY.program(name).source, draws, [stimuli.arrays])[0][
            0, :, 1
        ]

    return run


def logistic(x):
    return 1 / (1 + np.exp(-np.asarray(x)))


def take_the_best(difference, order):
    """P(B) when cues are looked up in ``order``."""
    found = next((difference[cue] for cue in order if difference[cue]), 0.0)
    return 0.5 + 0.5 * np.sign(found)


def test_naive_bayes_is_bayes_rule_over_independent_cues(chance_of_b):
    says_b, says_a = DIFFERENCE > 0, DIFFERENCE < 0
    if_b = np.where(says_b, VALIDITIES, np.where(says_a, 1 - VALIDITIES, 1.0)).prod(axis=1)
    if_a = np.where(says_a, VALIDITIES, np.where(says_b, 1 - VALIDITIES, 1.0)).prod(axis=1)
    np.testing.assert_allclose(chance_of_b("naive_bayes"), if_b / (if_b + if_a), rtol=1e-12)


def test_accumulation_takes_the_first_reason_or_all_and_something_between(chance_of_b):
    log_odds = np.log(VALIDITIES / (1 - VALIDITIES))
    everything = (np.sign((log_odds * np.sign(DIFFERENCE)).sum(axis=1).round(9)) + 1) / 2
    np.testing.assert_allclose(chance_of_b("evidence_accumulation", caution=0.01), [0, 0, 0, 0, 1])
    # 2.2 against 1.4 + 0.8 + 0.4 in the third trial: a large enough threshold reverses it.
    np.testing.assert_allclose(chance_of_b("evidence_accumulation", caution=3.0), everything)
    np.testing.assert_allclose(everything[2], 1)
    # Stopping at 1.0: the first cue alone reaches it where it differs; in the second trial 0.85 does not.
    np.testing.assert_allclose(chance_of_b("evidence_accumulation", caution=1.0)[:4], [0, 0, 0, 0])


def test_the_random_walk_ends_at_a_bound_as_often_as_its_transition_matrix_says(chance_of_b):
    bound = 3
    states = np.arange(-bound + 1, bound)
    expected = []
    for difference in DIFFERENCE:
        reasons = VALIDITIES * np.sign(difference)
        up = reasons[reasons > 0].sum() / np.abs(reasons).sum()
        inner = np.diag(np.full(len(states) - 1, up), 1) + np.diag(
            np.full(len(states) - 1, 1 - up), -1
        )
        reached = np.linalg.solve(
            np.eye(len(states)) - inner, np.where(states == bound - 1, up, 0.0)
        )
        expected.append(reached[bound - 1])
    np.testing.assert_allclose(chance_of_b("random_walk", reasons_ahead=bound), expected, rtol=1e-6)


def test_exemplars_are_weighed_by_exponential_similarity(chance_of_b):
    specificity, sensitivity = 2.5, 4.0
    attention = VALIDITIES / VALIDITIES.sum()
    to_good = np.exp(-specificity * (attention * (1 - SHARES)).sum(axis=-1))
    to_bad = np.exp(-specificity * (attention * SHARES).sum(axis=-1))
    resemblance = to_good / (to_good + to_bad)
    expected = logistic(sensitivity * (resemblance[:, 1] - resemblance[:, 0]))
    np.testing.assert_allclose(
        chance_of_b("exemplar", specificity=specificity, sensitivity=sensitivity), expected
    )


def test_elimination_by_aspects_draws_aspects_until_one_is_not_shared(chance_of_b):
    points = np.arange(TOP)
    expected = []
    for a, b in zip(A, B, strict=True):
        has = np.stack(
            [np.greater.outer(product, points) for product in (a, b)]
        )  # (2, n_cues, n_points)
        draw = np.where(has.any(axis=0), VALIDITIES[:, None], 0.0)
        draw = draw / draw.sum()
        only_b, shared = draw[has[1] & ~has[0]].sum(), draw[has[0] & has[1]].sum()
        expected.append(
            only_b / (1 - shared)
        )  # a shared aspect eliminates nothing, and another is drawn
    np.testing.assert_allclose(chance_of_b("elimination_by_aspects"), expected, atol=1e-8)


def test_minimalist_is_take_the_best_averaged_over_all_orders_of_cues(chance_of_b):
    orders = list(permutations(range(4)))
    expected = [
        np.mean([take_the_best(difference, order) for order in orders]) for difference in DIFFERENCE
    ]
    np.testing.assert_allclose(chance_of_b("minimalist"), expected, atol=1e-8)


def test_probabilistic_search_averages_take_the_best_over_orders_drawn_by_weight(chance_of_b):
    weight = (2 * VALIDITIES - 1) ** 1.7
    expected = np.zeros(len(DIFFERENCE))
    for order in permutations(range(4)):
        left = np.array([weight[list(order[place:])].sum() for place in range(4)])
        chance = (weight[list(order)] / left).prod()
        expected += chance * np.array(
            [take_the_best(difference, order) for difference in DIFFERENCE]
        )
    np.testing.assert_allclose(
        chance_of_b("probabilistic_take_the_best", emphasis=1.7), expected, atol=1e-8
    )


def test_take_two_stops_at_the_second_cue_for_one_product(chance_of_b):
    # Second cues for B come third (trials 1 and 3); for A second (4); one each (2): the first; fifth: A second, third.
    np.testing.assert_allclose(chance_of_b("take_two"), [1, 0, 1, 0, 0])


def test_lexicographic_semiorder_is_intransitive(chance_of_b):
    # Tversky (1969): one step on the first cue is too small to notice, so the second decides; two steps are not.
    x, y, z = [1, 4, 0, 0], [2, 2, 0, 0], [3, 0, 0, 0]
    trials = pairs([x, y, z], [y, z, x])
    np.testing.assert_allclose(
        chance_of_b("lexicographic_semiorder", trials, noticeable=0.5), [0, 0, 0]
    )


def test_additive_difference_sums_powers_of_differences(chance_of_b):
    evidence = (VALIDITIES * np.sign(DIFFERENCE) * np.abs(DIFFERENCE) ** 0.4).sum(axis=1)
    predicted = chance_of_b("additive_difference", compression=0.4, sensitivity=2.0)
    np.testing.assert_allclose(predicted, logistic(2 * evidence))


def test_the_matching_heuristic_looks_for_a_critical_value_on_a_few_cues(chance_of_b):
    # Critical from 2 of 4, two cues: first trial none, second both on the same cues, third and fourth A, fifth B.
    predicted = chance_of_b("matching_heuristic", aspiration=0.5, n_looked_up=2.0)
    np.testing.assert_allclose(predicted, [0.5, 0.5, 0, 0, 1])


def test_dominance_decides_or_else_people_guess(chance_of_b):
    trials = pairs(
        [[1, 1, 1, 1], [1, 2, 0, 0], [3, 2, 1, 0]], [[1, 2, 1, 1], [1, 1, 0, 0], [0, 4, 4, 4]]
    )
    np.testing.assert_allclose(chance_of_b("dominance", trials, dominance_bonus=1.0), [1, 0, 0.5])


def test_maximin_compares_the_worst_ratings(chance_of_b):
    worst = SHARES.min(axis=-1)
    predicted = chance_of_b("maximin", worst_rating_bonus=1.0, sensitivity=3.0)
    np.testing.assert_allclose(predicted, logistic(3 * (worst[:, 1] - worst[:, 0])))


def test_a_conjunctive_rule_rejects_what_falls_short_anywhere(chance_of_b):
    trials = pairs([[1, 4, 4, 4], [2, 2, 2, 2]], [[2, 2, 2, 2], [3, 3, 3, 3]])
    predicted = chance_of_b(
        "conjunctive", trials, veto_bonus=1.0, least_acceptable=0.5, sensitivity=6.0
    )
    np.testing.assert_allclose(predicted, logistic(6.0 * np.array([1, 0])))


def test_decision_by_sampling_values_a_rating_by_its_rank_among_the_others(chance_of_b):
    sampled = np.empty_like(SHARES)
    for trial, shown in enumerate(SHARES):
        for place, rating in np.ndenumerate(shown):
            others = np.delete(shown.ravel(), np.ravel_multi_index(place, shown.shape))
            sampled[(trial, *place)] = np.mean((rating > others) + 0.5 * (rating == others))
    evidence = (VALIDITIES * (sampled[:, 1] - sampled[:, 0])).sum(axis=1)
    np.testing.assert_allclose(
        chance_of_b("decision_by_sampling", sensitivity=3.0), logistic(3 * evidence)
    )


def test_range_normalisation_does_not_change_with_the_unit_or_the_origin_of_ratings(chance_of_b):
    a, b = np.array([[1, 0, 0, 0], [2, 1, 0, 2]]), np.array([[0, 1, 1, 0], [0, 1, 2, 1]])
    once, again = pairs(a, b, top=8), pairs(3 * a + 2, 3 * b + 2, top=8)
    predicted = chance_of_b("range_normalisation", once, sensitivity=2.0)
    np.testing.assert_allclose(predicted[0], logistic(2 * (-0.9 + 0.8 + 0.7)))
    np.testing.assert_allclose(
        chance_of_b("range_normalisation", again, sensitivity=2.0), predicted
    )


def test_divisive_normalisation_divides_by_what_is_on_display(chance_of_b):
    evidence = (VALIDITIES * DIFFERENCE / (0.3 + SHARES.sum(axis=1))).sum(axis=1)
    predicted = chance_of_b("divisive_normalisation", semi_saturation=0.3, sensitivity=2.0)
    np.testing.assert_allclose(predicted, logistic(2 * evidence))


def test_a_toolbox_gives_each_person_one_strategy(chance_of_b):
    weighing = logistic(2 * (VALIDITIES * DIFFERENCE).sum(axis=1))
    at = {"sensitivity": 2.0}
    np.testing.assert_allclose(
        chance_of_b("toolbox", one_reason_type=-1, counting_type=-1, **at), weighing
    )
    np.testing.assert_allclose(
        chance_of_b("toolbox", one_reason_type=1, counting_type=-1, **at), [0, 0, 0, 0, 1]
    )
    np.testing.assert_allclose(
        chance_of_b("toolbox", one_reason_type=-1, counting_type=1, **at), [1, 0.5, 1, 0.5, 0.5]
    )


def test_a_mixture_across_trials_mixes_probabilities(chance_of_b):
    weighing = logistic(2 * (VALIDITIES * DIFFERENCE).sum(axis=1))
    predicted = chance_of_b("strategy_mixture", one_reason_share=0.3, sensitivity=2.0)
    np.testing.assert_allclose(predicted, 0.7 * weighing + 0.3 * np.array([0, 0, 0, 0, 1]))


def test_an_ideal_point_is_liked_best_from_both_sides(chance_of_b):
    trials = pairs(
        [[2, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]], [[3, 0, 0, 0], [1, 0, 0, 0], [3, 0, 0, 0]]
    )
    predicted = chance_of_b("ideal_point", trials, ideal=0.5, sensitivity=4.0)
    np.testing.assert_allclose(predicted, logistic([-4 * 0.9 / 4, -4 * 0.9 / 4, 0]))


def test_general_additive_has_any_worth_for_any_level_and_any_weight_for_any_rank(chance_of_b):
    rng = np.random.default_rng(4)
    worth, weight = np.array([0.0, *rng.uniform(-1, 1, 5)]), rng.uniform(-1, 1, 4)
    ratings = rng.integers(0, 6, size=(20, 2, 4))
    validities = np.array([0.6, 0.9, 0.7, 0.8])
    rank = np.array([3, 0, 2, 1])
    evidence = (weight[rank] * (worth[ratings[:, 1]] - worth[ratings[:, 0]])).sum(axis=1)
    levels = ("low", "below_middle", "above_middle", "high", "top")
    parameters = {f"worth_{name}": value for name, value in zip(levels, worth[1:], strict=True)}
    parameters |= {
        f"weight_{n}": value
        for n, value in zip(("best", "second", "third", "rest"), weight, strict=True)
    }
    trials = pairs(ratings[:, 0], ratings[:, 1], validities, top=5)
    predicted = chance_of_b("general_additive", trials, sensitivity=3.0, **parameters)
    np.testing.assert_allclose(predicted, logistic(3 * evidence))
