"""Verify, refine or ship: published values, closed forms, and brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.judges.critic import (
    CriticPanel,
    CriticProfile,
    CriticsHeard,
    FreshPanel,
    fit_critic,
    judge_critic,
    learn,
)
from lakatos.judges.decision import (
    FEWEST,
    FORCED,
    PAYOFFS,
    CandidateDecided,
    DecisionPayoffs,
    DecisionProblem,
    ThresholdPolicy,
    action_values,
    always,
    best_value,
    decide,
    optimal,
    regions,
    ship_or_quit,
    single_threshold,
    worth_of,
)
from lakatos.judges.errors import DecisionError
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of

BELIEFS = np.array([0.08, 0.18, 0.3, 0.5, 0.7, 0.9, 0.97])


def both(belief):
    belief = np.asarray(belief, dtype=float)
    return np.stack([1 - belief, belief], axis=-1)


def one_critic(hit, false_alarm, cost=2.0):
    """One critic that passes a share ``hit`` of winners and ``false_alarm`` of losers."""
    return CriticPanel(
        ("test",), (cost,), np.array([[1 - false_alarm, false_alarm], [1 - hit, hit]])
    )


def copying(rho, hit=0.85, false_alarm=0.35):
    """Joint table of two critics; the second repeats the first with probability ``rho``."""
    table = np.zeros((2, 2, 2))
    for state, rate in enumerate((false_alarm, hit)):
        p = np.array([1 - rate, rate])
        table[state] = rho * np.diag(p) + (1 - rho) * np.outer(p, p)
    return table


def test_the_values_with_none_to_five_tests_are_the_published_ones():
    # Three rival causes; a test of a cause fails with .9 where it is the one, else with .2; tests cost 1, a patch 3,
    # verifying 20, and a verified patch of the right cause is worth 200.
    fails = [np.where(np.arange(3) == cause, 0.9, 0.2) for cause in range(3)]
    tables = tuple(np.stack([fail, 1 - fail]) for fail in fails)
    ends = {
        "quit": np.zeros(3),
        **{f"patch {cause}": 200 * np.eye(3)[cause] - 23 for cause in range(3)},
    }
    problem = DecisionProblem(ends, FreshPanel(("A", "B", "C"), (1.0, 1.0, 1.0), tables))
    values = [float(best_value(problem, np.full(3, 1 / 3), n_tests)) for n_tests in range(6)]
    assert values == pytest.approx([43.67, 89.33, 130.33, 141.10, 151.09, 157.32], abs=0.005)


def test_where_only_verified_candidates_pay_the_published_values_come_out():
    def problem(cost):
        payoffs = DecisionPayoffs(
            gain=100, loss=np.inf, cost=cost, refine_cost=10, mends=0.07, breaks=0.06
        )
        return ship_or_quit(one_critic(0.95, 0.05), payoffs)

    values = best_value(problem(30), both(BELIEFS[:6]))
    assert values == pytest.approx([1.9, 8.7, 16.9, 30.5, 44.1, 60.0], abs=0.06)
    assert best_value(problem(90), both(BELIEFS[:6])) == pytest.approx(
        [0, 0, 0, 0.5, 3.3, 6.1], abs=0.06
    )
    assert regions(problem(100)) == [(0.0, 1.0, "quit")]
    names = problem(5).actions
    cheap = [names[index] for index in optimal(problem(5))(both(BELIEFS), (None,), 3)]
    assert cheap == ["ask test"] * 2 + ["verify"] * 5


def test_verifying_up_to_three_times_costs_what_was_published():
    # Verify, refine what lost, verify again, twice: a chain of expectations by hand.
    def chain(belief, left=3):
        return 100 * belief - 30 + ((1 - belief) * (chain(0.07, left - 1) - 10) if left > 1 else 0)

    assert [chain(b) for b in BELIEFS[:6]] == pytest.approx(
        [-80.6, -64.2, -44.6, -11.8, 20.9, 53.6], abs=0.06
    )
    payoffs = DecisionPayoffs(
        gain=100, loss=np.inf, cost=30, refine_cost=10, mends=0.07, breaks=0.06
    )
    best = best_value(ship_or_quit(one_critic(0.95, 0.05), payoffs), both(BELIEFS[:6]))
    assert (best > [chain(b) for b in BELIEFS[:6]]).all()


def test_where_unverified_candidates_may_be_adopted_the_published_values_come_out():
    payoffs = DecisionPayoffs(gain=100, loss=100, cost=5, refine_cost=10, mends=0.24, breaks=0.02)
    problem = ship_or_quit(one_critic(0.85, 0.35), payoffs)
    values = best_value(problem, both(BELIEFS))
    assert values == pytest.approx([26.7, 32.8, 40.4, 56.0, 71.6, 87.2, 94.0], abs=0.06)
    at_last = action_values(problem, both(0.97))
    assert max(at_last, key=lambda name: at_last[name]) == "ship"


@given(st.floats(0.001, 0.999), st.floats(0.1, 99), st.floats(1, 99))
def test_verify_against_ship_and_against_quit_follow_their_closed_forms(belief, cost, loss):
    problem = ship_or_quit(
        CriticPanel((), (), np.ones(2)), DecisionPayoffs(gain=100, loss=loss, cost=cost)
    )
    values = action_values(problem, both(belief))
    if abs(loss * (1 - belief) - cost) > 1e-6:
        assert (values["verify"] > values["ship"]) == (loss * (1 - belief) > cost)
    if abs(belief - cost / 100) > 1e-6:
        assert (values["verify"] > values["quit"]) == (belief > cost / 100)


def test_a_critic_that_nearly_always_passes_is_never_worth_its_cost():
    syntax = one_critic(0.99, 0.98, cost=1.0)
    problem = ship_or_quit(syntax, DecisionPayoffs(gain=100, loss=np.inf, cost=30))
    for belief in np.linspace(0.05, 0.95, 91):
        weights = syntax.weights(both(belief), (1,))
        assert 0 <= weights[1] / weights.sum() - belief < 0.01
    fails = syntax.weights(both(0.5), (0,))
    assert fails[1] / fails.sum() == pytest.approx(1 / 3)
    assert fails.sum() == pytest.approx(0.015)
    for belief in (0.05, 0.2, 0.3, 0.4, 0.7, 0.95):
        values = action_values(problem, both(belief), steps=1)
        information = values["ask test"] + 1.0 - max(values["quit"], values["verify"])
        assert information <= 0.21 + 1e-3
        chosen = optimal(problem)(both(belief), (None,), 3)
        assert problem.actions[int(chosen)] != "ask test"


def naive_and_joint(rho):
    """Worth of asking both copying critics and then acting best, believing them independent and knowing the truth."""
    worth = []
    for believed in (copying(0.0), copying(rho)):
        total = -2.0
        for first, second in itertools.product((0, 1), repeat=2):
            mind, truth = (
                both(0.3) * believed[:, first, second],
                both(0.3) * copying(rho)[:, first, second],
            )
            ends = {
                "quit": np.zeros(2),
                "ship": np.array([-100, 100]),
                "verify": np.array([-30, 70]),
            }
            action = max(ends, key=lambda name, mind=mind, ends=ends: float(mind @ ends[name]))
            total += float(truth @ ends[action])
        worth.append(total)
    return worth


def test_critics_that_repeat_each_other_cost_the_naive_product_what_was_published():
    assert naive_and_joint(0.0) == pytest.approx([11.1, 11.1], abs=0.06)
    assert naive_and_joint(0.5) == pytest.approx([5.0, 9.5], abs=0.06)
    assert naive_and_joint(1.0) == pytest.approx([-1.0, 8.5], abs=0.06)
    # Asking one after the other saves the second question after most first answers.
    for rho, both_asked in ((0.0, 11.1), (0.5, 9.5), (1.0, 8.5)):
        panel = CriticPanel(("a", "b"), (1.0, 1.0), copying(rho))
        assert (
            best_value(ship_or_quit(panel, DecisionPayoffs(gain=100, loss=100, cost=30)), both(0.3))
            > both_asked
        )


def brute_force(panel, prior, payoffs, steps, seen):
    """The same recursion written out for numbers, with normalised beliefs."""
    gain, loss, cost, refine_cost, mends, breaks = payoffs
    weights = prior * panel.probability(seen)
    b = weights[1] / weights.sum()

    def fresh(belief, left):
        return brute_force(panel, both(belief), payoffs, left, (None,) * len(panel.names))

    after_loss = max(0.0, fresh(mends, steps - 1) - refine_cost if steps > 0 else 0.0)
    options = [0.0, gain * b - loss * (1 - b), gain * b + after_loss * (1 - b) - cost]
    if steps > 0:
        options.append(fresh(b * (1 - breaks) + (1 - b) * mends, steps - 1) - refine_cost)
        for critic, level in enumerate(seen):
            if level is None:
                total = -panel.costs[critic]
                for answer in range(panel.table.shape[critic + 1]):
                    then = (*seen[:critic], answer, *seen[critic + 1 :])
                    share = (prior * panel.probability(then)).sum() / weights.sum()
                    if share > 0:
                        total += share * brute_force(panel, prior, payoffs, steps - 1, then)
                options.append(total)
    return max(options)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_recursion_agrees_with_brute_force_on_random_problems(seed):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(6, 0.5), size=2).reshape(2, 2, 3)
    panel = CriticPanel(("a", "b"), tuple(rng.uniform(0, 5, 2)), table)
    payoffs = (
        100.0,
        rng.uniform(0, 150),
        rng.uniform(1, 60),
        rng.uniform(1, 20),
        rng.uniform(0, 0.5),
        rng.uniform(0, 0.3),
    )
    problem = ship_or_quit(panel, DecisionPayoffs(*payoffs))
    belief = rng.uniform(0.02, 0.98)
    value = best_value(problem, both(belief), 2)
    assert value == pytest.approx(
        brute_force(panel, both(belief), payoffs, 2, (None, None)), abs=1e-9
    )
    assert worth_of(
        optimal(problem), problem, both(belief), problem, both(belief), 2
    ) == pytest.approx(value, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_values_are_convex_in_the_belief_and_no_policy_beats_the_plan(seed):
    rng = np.random.default_rng(seed)
    panel = CriticPanel(("a", "b"), (1.0, 2.0), rng.dirichlet(np.ones(4), size=2).reshape(2, 2, 2))
    problem = ship_or_quit(
        panel,
        DecisionPayoffs(
            100,
            rng.uniform(20, 150),
            rng.uniform(1, 60),
            8.0,
            rng.uniform(0, 0.4),
            rng.uniform(0, 0.3),
        ),
    )
    grid = both(np.linspace(0.01, 0.99, 33))
    values = best_value(problem, grid)
    assert (np.diff(values, 2) >= -1e-9).all()
    for policy in (
        *(always(problem, name) for name in ("quit", "ship", "verify")),
        ThresholdPolicy(0, 1, "quit", "verify").policy(problem),
    ):
        assert (
            worth_of(policy, problem, grid, problem, grid, retries=False) <= values + 1e-9
        ).all()


def test_side_by_side_problems_equal_one_after_the_other():
    costs, rates = np.array([5.0, 30.0, 90.0]), np.array([0.6, 0.8, 0.95])
    tables = np.stack([one_critic(rate, 1 - rate).table for rate in rates])
    together = best_value(
        ship_or_quit(
            CriticPanel(("test",), (2.0,), tables),
            DecisionPayoffs(100.0, 100.0, costs, 10.0, 0.2, 0.1),
        ),
        both([0.2, 0.5, 0.7]),
    )
    for index, belief in enumerate((0.2, 0.5, 0.7)):
        alone = ship_or_quit(
            one_critic(rates[index], 1 - rates[index]),
            DecisionPayoffs(100, 100, costs[index], 10, 0.2, 0.1),
        )
        assert best_value(alone, both(belief)) == pytest.approx(together[index])


def test_the_single_threshold_is_the_best_of_all_rules_with_one_cut():
    rng = np.random.default_rng(5)
    for _ in range(50):
        table = rng.dirichlet(np.ones(3), size=2)
        panel = CriticPanel(("a",), (1.0,), table)
        problem = ship_or_quit(panel, DecisionPayoffs(100, 80, rng.uniform(5, 60)))
        rule = single_threshold(problem, 0.4, [table])
        names = ("quit", "ship", "verify")
        rules = [ThresholdPolicy(None, 0, name, name) for name in names]
        rules += [
            ThresholdPolicy(0, cut, low, high) for cut in (1, 2) for low in names for high in names
        ]
        worths = [
            float(worth_of(r.policy(problem), problem, both(0.4), problem, both(0.4)))
            for r in rules
        ]
        assert float(
            worth_of(rule.policy(problem), problem, both(0.4), problem, both(0.4))
        ) == pytest.approx(max(worths))


EVEN = DecisionPayoffs(gain=100, loss=100, cost=30)
CRITIC = CriticProfile("fit", digest_of("fit"), ("behind", "ahead"), 1.0)


def past(n, rng):
    rows = []
    for index in range(n):
        wins = bool(rng.random() < 0.4)
        level = int(rng.random() < (0.85 if wins else 0.3))
        rows.append(
            CriticsHeard("risky", {"fit": level}, {"fit": CRITIC.version}, wins, digest_of(index))
        )
    return rows


def test_few_past_candidates_leave_the_decision_to_what_is_known_beforehand_and_many_to_the_plan():
    rng = np.random.default_rng(1)
    few, many = (learn(past(n, rng), [CRITIC], "risky") for n in (FEWEST - 1, FEWEST))
    assert decide(EVEN, few, (None,), rng, forced=0).rule == "start"
    assert decide(EVEN, many, (None,), rng, forced=0).rule == "plan"
    # Before that nothing is refined: how often it helps is not known either.
    assert "refine" not in decide(PAYOFFS, few, (1,), rng, forced=0).values
    assert "refine" in decide(PAYOFFS, many, (1,), rng, forced=0).values
    # A critic of a new version has been heard about nobody, and does not enter the plan of the others.
    new = CriticProfile("judge", digest_of("new judge"), ("no", "yes"), 0.0)
    decided = decide(EVEN, learn(past(60, rng), [CRITIC, new], "risky"), (None, 1), rng, forced=0)
    assert decided.rule == "plan"
    assert "ask judge" not in decided.values


def test_a_candidate_that_has_a_place_in_the_next_experiment_is_verified_whatever_the_values_say():
    lost = [
        CriticsHeard("risky", {"fit": 1}, {"fit": CRITIC.version}, False, digest_of(index))
        for index in range(40)
    ]
    learned = learn(lost, [CRITIC], "risky")
    alone = decide(EVEN, learned, (1,), np.random.default_rng(1), forced=0)
    placed = decide(EVEN, learned, (1,), np.random.default_rng(1), forced=0, has_place=True)
    assert alone.action == "quit"
    assert (placed.action, placed.rule) == ("verify", "place")
    assert (placed.values, placed.belief) == (alone.values, alone.belief)
    assert placed.sentence.startswith(
        "verify: the next experiment compares as many with the leader anyway"
    )
    won = [
        CriticsHeard("risky", {"fit": 1}, {"fit": CRITIC.version}, True, digest_of(index))
        for index in range(40)
    ]
    assert (
        decide(
            PAYOFFS, learn(won, [CRITIC], "risky"), (1,), np.random.default_rng(1), has_place=True
        ).rule
        == "plan"
    )


def test_the_sentence_names_the_action_its_reason_and_every_value():
    rng = np.random.default_rng(2)
    decided = decide(EVEN, learn(past(100, rng), [CRITIC], "risky"), (1,), rng, forced=0)
    assert decided.sentence.startswith(f"{decided.action}: it is worth most")
    for name, value in decided.values.items():
        assert f"{name} {value:+.1f}" in decided.sentence
    assert decided.action == max(decided.values, key=lambda name: decided.values[name])


def test_a_twentieth_of_candidates_is_verified_whatever_the_values_say():
    learned = learn(past(100, np.random.default_rng(3)), [CRITIC], "risky")
    hopeless = DecisionPayoffs(gain=1, loss=100, cost=50)
    drawn = [
        decide(hopeless, learned, (None,), np.random.default_rng(seed)).rule for seed in range(2000)
    ]
    error = np.sqrt(FORCED * (1 - FORCED) / 2000)
    assert abs(drawn.count("forced") / 2000 - FORCED) < 4 * error
    assert all(
        decide(hopeless, learned, (0,), np.random.default_rng(seed), first=False).rule != "forced"
        for seed in range(200)
    )


def test_the_same_past_and_seed_give_the_same_decision_whose_record_reads_back():
    learned = learn(past(100, np.random.default_rng(4)), [CRITIC], "risky")
    first, again = (decide(EVEN, learned, (None,), np.random.default_rng(9)) for _ in range(2))
    assert first == again
    record = CandidateDecided(
        verdict=digest_of("v"),
        candidate=digest_of("a"),
        incumbent=digest_of("b"),
        cycle=1,
        family="risky",
        critics={"fit": CRITIC.version},
        heard={},
        mends=0.5,
        breaks=0.5,
        tables=learned.digest,
        n_lost=learned.n_lost,
        n_won=learned.n_won,
        belief=first.belief,
        action=first.action,
        values=first.values,
        rule=first.rule,
        text=first.sentence,
    )
    assert body_of(record)["values"] == first.values


def test_payoffs_that_are_no_numbers_are_refused():
    learned = learn(past(40, np.random.default_rng(4)), [CRITIC], "risky")
    with pytest.raises(DecisionError, match="finite gains and costs"):
        decide(
            DecisionPayoffs(gain=np.nan, loss=1, cost=1), learned, (None,), np.random.default_rng(1)
        )


def test_a_campaign_without_a_past_asks_people_where_its_judge_gives_more_than_even_odds():
    learned = learn([], [judge_critic("parsimony", digest_of("judge")), fit_critic()], "risky")
    for level, action in enumerate(("quit", "quit", "verify", "verify")):
        for fit in range(4):
            decided = decide(PAYOFFS, learned, (level, fit), np.random.default_rng(1), forced=0)
            assert (decided.action, decided.rule) == (action, "start")
