"""Each theory against its formula, worked out by hand on a few picks."""

import numpy as np
import pytest

from lakatos.domains.learning.task import LearningDomain, steps
from lakatos.domains.learning.theories import FAMILY
from lakatos.experiments.task import Trials
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.sequence import follow, simulate
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = LearningDomain()


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


def walk(sandbox, name, parameters, responses, rewards, *, next_states=None, **schedule):
    """``(n_steps, n_options)`` probabilities of one person with these picks and rewards."""
    n_steps = len(responses)
    n_options = schedule.pop("n_options", 2)
    trials = Trials(
        "x", steps(n_steps, n_options, **schedule), np.zeros(n_steps, int), np.arange(n_steps), np.array(responses),
        np.ones(n_steps, int), n_options=n_options,
        feedback={"reward": np.array(rewards, float), "next_state": np.array(next_states or [0] * n_steps, float)},
    )  # fmt: skip
    source = (
        FAMILY.program(name).source if isinstance(name, str) else FAMILY.grammar.write(name, "Test")
    )
    with sandbox.open_session(source, [], n_options=n_options) as session:
        return follow(
            session, DOMAIN, {key: np.array([value]) for key, value in parameters.items()}, trials
        ).own[0]


def logistic(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILY.seeds)
def test_every_published_theory_passes_the_checks(sandbox, name):
    theory = load_theory(FAMILY.program(name), DOMAIN, sandbox)
    assert theory.learns
    assert theory.broadcasts
    assert all(prior.unit for prior in theory.priors.values())


def with_mechanism(mechanism):
    """The composition of Rescorla and Wagner, and one with the mechanism in its place."""
    base = FAMILY.seeds["rescorla_wagner"][1]
    return base, Composition({**base.slots, mechanism.slot: (mechanism.name,)})


@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism", FAMILY.grammar.mechanisms, ids=lambda item: f"{item.slot}:{item.name}"
)
def test_rescorla_wagner_with_any_mechanism_passes_all_checks(sandbox, mechanism):
    _, changed = with_mechanism(mechanism)
    load_theory(TheoryProgram(FAMILY.grammar.write(changed, "Test"), "test"), DOMAIN, sandbox)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", FAMILY.grammar.mechanisms, ids=lambda item: f"{item.slot}:{item.name}"
)
def test_every_mechanism_works_within_rescorla_wagner_and_changes_what_it_predicts(
    sandbox, mechanism
):
    base, changed = with_mechanism(mechanism)
    theory = read_program(TheoryProgram(FAMILY.grammar.write(changed, "Test"), "test"))
    plain = read_program(FAMILY.program("rescorla_wagner"))
    people = theory.population(64) | plain.population(64)
    found = []
    for program in (theory, plain):
        own = {name: people[name] for name in program.priors} or {"": np.zeros(64)}
        for plan in (
            {"n_steps": 60, "n_options": 3},
            {"task": "two_step", "n_steps": 60},
            {"task": "go_nogo", "n_steps": 60},
        ):
            stimuli = DOMAIN.candidates(plan, np.random.default_rng(1), 1)
            with sandbox.open_session(
                program.program.source, [], n_options=DOMAIN.n_options(stimuli)
            ) as session:
                order, rng = np.arange(60)[None], np.random.default_rng(2)
                found.append(simulate(session, DOMAIN, own, stimuli, order, rng).probabilities)
    gap = max(np.abs(a - b).max() for a, b in zip(found[:3], found[3:], strict=True))
    assert (gap > 0.02) == (changed.key != base.key)


def test_rescorla_wagner(sandbox):
    p = walk(sandbox, "rescorla_wagner", {"rate": 0.3, "sensitivity": 4.0}, [0, 0, 1], [1, 0, 1])
    first = 0.5 + 0.3 * 0.5
    second = first + 0.3 * (0 - first)
    np.testing.assert_allclose(
        p[:, 0], [0.5, logistic(4 * (first - 0.5)), logistic(4 * (second - 0.5))]
    )


def test_values_begin_at_zero_where_there_are_losses(sandbox):
    parameters = {"rate": 0.5, "sensitivity": 2.0, "lapse": 0.0}
    p = walk(sandbox, "rescorla_wagner", parameters, [0, 0, 1], [-1, 0.5, 1], losses=True)
    values = [(0.0, 0.0), (-0.5, 0.0), (0.0, 0.0)]
    assert p[:, 1] == pytest.approx([logistic(2 * (b - a)) for a, b in values])


def test_the_opposite_of_a_loss_is_as_large_a_gain(sandbox):
    base = FAMILY.seeds["rescorla_wagner"][1]
    imagined = Composition({**base.slots, "others": ("what would have been",)})
    parameters = {"rate": 0.5, "sensitivity": 2.0, "lapse": 0.0, "fictive_rate": 0.25}
    p = walk(sandbox, imagined, parameters, [0, 0], [-1, 0.5], losses=True)
    assert p[1, 1] == pytest.approx(logistic(2 * (0.25 + 0.5)))


def test_attention_is_never_above_one_so_that_values_stay_within_the_rewards(sandbox):
    """A surprise is up to 2 where rewards are gains and losses."""
    parameters = {"rate": 1.0, "attention_rate": 1.0, "sensitivity": 5.0}
    rewards = [1, -1] * 20
    p = walk(sandbox, "pearce_hall", parameters, [0] * 40, rewards, losses=True)
    assert p[1:, 0] == pytest.approx([logistic(5 * reward) for reward in rewards[:-1]])


def test_two_rates_are_used_for_good_and_bad_surprises(sandbox):
    p = walk(
        sandbox, "two_rates", {"rate_up": 0.6, "rate_down": 0.1, "sensitivity": 2.0}, [1, 1, 0], [1, 0, 0]
    )  # fmt: skip
    up = 0.5 + 0.6 * 0.5
    np.testing.assert_allclose(p[1:, 1], [logistic(2 * (up - 0.5)), logistic(2 * (up * 0.9 - 0.5))])


def test_sample_averages_weigh_all_rewards_and_the_first_expectation_alike(sandbox):
    p = walk(sandbox, "averaging", {"sensitivity": 3.0}, [1, 1, 1, 1], [1, 1, 0, 1])
    values = [0.5, (0.5 + 1) / 2, (0.5 + 2) / 3, (0.5 + 2) / 4]
    np.testing.assert_allclose(p[:, 1], logistic(3 * (np.array(values) - 0.5)))


def test_the_kalman_gain_is_that_of_the_filter(sandbox):
    parameters = {"drift": 0.2, "first_uncertainty": 3.0, "sensitivity": 5.0}
    p = walk(sandbox, "kalman", parameters, [1, 1, 1], [1, 0, 0])
    mean, variance, wanted = 0.5, 3.0, []
    for reward in (1, 0, 0):
        wanted.append(logistic(5 * (mean - 0.5)))
        gain = variance / (variance + 1)
        mean, variance = mean + gain * (reward - mean), (1 - gain) * variance + 0.2
    np.testing.assert_allclose(p[:, 1], wanted)


def test_attention_follows_the_size_of_surprises(sandbox):
    p = walk(
        sandbox,
        "pearce_hall",
        {"rate": 0.5, "attention_rate": 0.4, "sensitivity": 2.0},
        [0, 0, 0],
        [1, 1, 1],
    )
    value, attention, wanted = 0.5, 1.0, []
    for reward in (1, 1, 1):
        wanted.append(logistic(2 * (value - 0.5)))
        surprise = reward - value
        value, attention = (
            value + 0.5 * attention * surprise,
            attention + 0.4 * (abs(surprise) - attention),
        )
    np.testing.assert_allclose(p[:, 0], wanted)


def test_what_is_left_alone_is_forgotten(sandbox):
    p = walk(
        sandbox,
        "forgetting",
        {"rate": 1.0, "forgetting": 0.25, "sensitivity": 2.0},
        [0, 1, 1],
        [1, 0.5, 0.5],
    )
    np.testing.assert_allclose(p[1:, 0], logistic(2 * (np.array([1.0, 0.875]) - 0.5)))


def test_an_option_left_alone_is_believed_to_have_paid_the_opposite(sandbox):
    p = walk(
        sandbox,
        "fictive_learning",
        {"rate": 0.5, "fictive_rate": 0.2, "sensitivity": 2.0},
        [0, 0],
        [1, 1],
    )
    assert p[1, 0] == pytest.approx(logistic(2 * (0.75 - 0.4)))


def test_perseveration_repeats_whatever_came_of_it(sandbox):
    p = walk(
        sandbox,
        "perseveration",
        {"rate": 0.0, "sensitivity": 1.0, "stickiness": 1.5},
        [1, 0, 0],
        [0, 0, 0],
    )
    np.testing.assert_allclose(p[1:, 1], [logistic(1.5), logistic(-1.5)])


def test_a_choice_kernel_is_a_running_mean_of_picks(sandbox):
    p = walk(
        sandbox, "choice_kernel", {"sensitivity": 1.0, "habit": 3.0, "habit_rate": 0.5}, [1, 1, 0], [0, 0, 0]
    )  # fmt: skip
    np.testing.assert_allclose(p[1:, 1], [logistic(3 * 0.5), logistic(3 * 0.75)])


def test_win_stay_lose_shift(sandbox):
    parameters = {"sensitivity": 1.0, "win_stay": 2.0, "lose_shift": 1.0}
    p = walk(sandbox, "win_stay_lose_shift", parameters, [1, 1, 0], [1, 0, 0])
    np.testing.assert_allclose(p[1:, 1], [logistic(2.0), logistic(-1.0)])


def test_the_upper_confidence_bound_is_that_of_the_formula(sandbox):
    p = walk(
        sandbox, "upper_confidence_bound", {"sensitivity": 2.0, "curiosity": 0.7}, [1, 1], [1, 1]
    )
    bonus = 0.7 * np.sqrt(np.log(2.0) / np.array([1.0, 2.0]))
    assert p[1, 1] == pytest.approx(logistic(2 * (0.75 + bonus[1] - 0.5 - bonus[0])))


def test_thompson_sampling_picks_as_often_as_an_option_may_be_the_best(sandbox):
    p = walk(sandbox, "thompson_sampling", {"doubt": 0.6}, [1, 1], [1, 1])
    rng = np.random.default_rng(0)
    drawn = rng.normal([0.5, 0.75], 0.6 / np.sqrt([1, 2]), size=(200_000, 2))
    assert p[1, 1] == pytest.approx(
        (drawn[:, 1] > drawn[:, 0]).mean(), abs=4 * 0.5 / np.sqrt(200_000) + 5e-4
    )


def test_epsilon_greedy(sandbox):
    p = walk(
        sandbox, "epsilon_greedy", {"rate": 0.5, "exploration": 0.3}, [1, 1], [1, 1], n_options=3
    )
    np.testing.assert_allclose(p, [[1 / 3] * 3, [0.1, 0.8, 0.1]])


def test_a_new_game_starts_anew(sandbox):
    start = np.array([1, 0, 1, 0])
    p = walk(
        sandbox,
        "rescorla_wagner",
        {"rate": 0.5, "sensitivity": 3.0},
        [1, 1, 1, 1],
        [1, 1, 0, 0],
        block_start=start,
    )
    np.testing.assert_allclose(p[2], [0.5, 0.5])
    assert p[3, 1] == pytest.approx(logistic(3 * (0.25 - 0.5)))


TWO_STEP = {"stage": np.array([0, 1, 0, 1]), "next_states": [1, 0, 1, 0]}


def test_eligibility_credits_the_first_pick_with_where_it_led_and_what_that_paid(sandbox):
    """Daw et al. (2011): with rate a, Q1 moves by a (Q2 - Q1) + a lambda (r - Q2)."""
    for eligibility in (0.0, 0.4, 1.0):
        parameters = {"rate": 0.5, "eligibility": eligibility, "sensitivity": 2.0}
        p = walk(sandbox, "model_free", parameters, [1, 0, 1, 0], [0, 1, 0, 1], **TWO_STEP)
        assert p[2, 1] == pytest.approx(logistic(2 * 0.5 * eligibility * 0.5))


def test_planning_looks_at_the_best_of_where_picks_lead(sandbox):
    """First pick 1 led to state 1, where option 0 paid; beliefs about transitions start with one of each."""
    p = walk(
        sandbox,
        "model_based",
        {"rate": 0.5, "sensitivity": 4.0},
        [1, 0, 1, 0],
        [0, 1, 0, 1],
        **TWO_STEP,
    )
    values = np.array([2 / 3, 1 / 3]) @ [0.75, 0.5], np.array([1 / 2, 1 / 2]) @ [0.75, 0.5]
    assert p[2, 1] == pytest.approx(logistic(4 * (values[0] - values[1])))


def test_the_hybrid_without_planning_is_model_free_and_with_nothing_else_model_based(sandbox):
    picks, rewards = [1, 0, 1, 0, 0, 1], [0, 1, 0, 0, 0, 1]
    plan = {"stage": np.array([0, 1] * 3), "next_states": [1, 0, 2, 0, 1, 0]}
    shared = {"rate": 0.4, "sensitivity": 3.0}
    hybrid = {**shared, "eligibility": 0.6, "stickiness": 0.0}
    free = walk(sandbox, "model_free", {**shared, "eligibility": 0.6}, picks, rewards, **plan)
    np.testing.assert_allclose(
        walk(sandbox, "hybrid", {**hybrid, "planning": 0.0}, picks, rewards, **plan), free
    )
    based = walk(sandbox, "model_based", shared, picks, rewards, **plan)
    np.testing.assert_allclose(
        walk(sandbox, "hybrid", {**hybrid, "planning": 1.0}, picks, rewards, **plan), based
    )


def without_values(**slots):
    return Composition(
        {
            "expectation": ("even",),
            "rate": ("none",),
            "credit": ("direct",),
            **slots,
            "choice": ("softmax",),
        }
    )


def test_few_last_outcomes_are_weighed_alike_and_the_first_expectation_stands_for_those_that_are_missing(
    sandbox,
):
    slots = FAMILY.seeds["rescorla_wagner"][1].slots | {"rate": ("few last outcomes",)}
    rewards = [1, 0, 1, 1, 0]
    for window, weights in ((3.0, [1, 1, 1]), (2.5, [1, 1, 0.5]), (1.0, [1, 0, 0])):
        p = walk(
            sandbox, Composition(slots), {"window": window, "sensitivity": 4.0}, [0] * 5, rewards
        )
        remembered = [[0.5, 0.5, 0.5], [1, 0.5, 0.5], [0, 1, 0.5], [1, 0, 1], [1, 1, 0]]
        values = np.array(remembered) @ np.array(weights) / np.sum(weights)
        np.testing.assert_allclose(p[:, 0], logistic(4 * (values - 0.5)))


def test_an_option_is_left_after_so_many_failures_in_a_row(sandbox):
    parameters = {"sensitivity": 1.0, "patience": 2.0, "loyalty": 2.0, "giving_up": 1.5}
    picks, rewards = [1, 1, 1, 1, 0, 1, 1], [0, 0, 0, 1, 0, 0, 0]
    p = walk(sandbox, without_values(habit=("giving up",)), parameters, picks, rewards)
    # one failure, two, three, a success, one failure of the other, one of this one
    np.testing.assert_allclose(p[:, 1], logistic(np.array([0.0, 2.0, -1.5, -1.5, 2.0, -2.0, 2.0])))


def test_last_picks_and_outcomes_pull_each_with_the_weight_of_its_lag(sandbox):
    picks, rewards = np.array([1, 0, 0, 1, 1]), np.array([1, 0, 1, 0, 1])
    sides, signs = 2.0 * picks - 1, 2.0 * rewards - 1
    weights = np.array([1.0, -0.5, 0.25])
    for name, parameter, past in (
        ("last picks", "pull", sides),
        ("last outcomes", "result", sides * signs),
    ):
        parameters = {f"{parameter}_{lag + 1}": weight for lag, weight in enumerate(weights)}
        p = walk(
            sandbox,
            without_values(habit=(name,)),
            parameters | {"sensitivity": 1.0},
            picks,
            rewards,
        )
        pulls = [
            sum(weights[lag] * past[step - lag - 1] for lag in range(min(3, step)))
            for step in range(5)
        ]
        np.testing.assert_allclose(p[:, 1], logistic(np.array(pulls)))


@pytest.mark.parametrize(
    ("name", "names", "wanted"),
    [
        (
            "cashing in",
            ("streak", "streak_loyalty", "streak_end"),
            [0.0, 2.0, 2.0, -1.5, 2.0, -2.0],
        ),
        (
            "growing tired",
            ("stamina", "stamina_loyalty", "weariness"),
            [0.0, 2.0, -1.5, -1.5, -1.5, -2.0],
        ),
    ],
)
def test_an_option_is_left_after_so_many_successes_or_picks_in_a_row(sandbox, name, names, wanted):
    parameters = {"sensitivity": 1.0} | dict(zip(names, (1.5, 2.0, 1.5), strict=True))
    p = walk(
        sandbox, without_values(habit=(name,)), parameters, [1, 1, 1, 1, 0, 1], [0, 1, 1, 0, 0, 0]
    )
    np.testing.assert_allclose(p[:, 1], logistic(np.array(wanted)))


def test_memory_of_two_is_a_table_of_the_last_two_outcomes(sandbox):
    picks, rewards = [1, 1, 0, 0, 0, 1, 1], [1, 0, 0, 1, 1, 1, 0]
    memories = [
        "won_other_lost",
        "lost_same_won",
        "lost_other_lost",
        "won_same_lost",
        "won_same_won",
        "won_other_won",
    ]
    pulls = {
        f"{a}_{b}_{c}": 0.0
        for a in ("lost", "won")
        for b in ("other", "same")
        for c in ("lost", "won")
    }
    pulls |= {memory: 0.5 * number + 0.2 for number, memory in enumerate(memories)}
    p = walk(
        sandbox,
        without_values(habit=("memory of two",)),
        pulls | {"sensitivity": 1.0},
        picks,
        rewards,
    )
    sides = 2 * np.array(picks[:-1]) - 1
    np.testing.assert_allclose(
        p[1:, 1], logistic(sides * np.array([pulls[memory] for memory in memories]))
    )
