"""Learning apart for each cue, against the formulas of hBayesDM's Stan models and of Collins and Frank (2012)."""

import numpy as np
import pytest

from lakatos.domains.learning.task import (
    LearningDomain,
    LearningSettings,
    read_settings,
    schedule,
    steps,
)
from lakatos.domains.learning.theories import FAMILY, GRAMMAR
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.columns import step_columns
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = LearningDomain()
N_PEOPLE, N_STEPS = 3, 60


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


def answers(n_options, n_cues, rewards, *, go=0, block_start=None):
    """Random answers of people who each have a schedule of their own."""
    rng = np.random.default_rng(n_options + n_cues)
    cue = np.concatenate([rng.permutation(np.arange(N_STEPS) % n_cues) for _ in range(N_PEOPLE)])
    begins = np.arange(N_STEPS) == 0 if block_start is None else block_start
    parts = [
        steps(N_STEPS, n_options, cue=own, block_start=begins, go=go)
        for own in cue.reshape(N_PEOPLE, N_STEPS)
    ]
    n = N_PEOPLE * N_STEPS
    return Trials(
        "x", Stimuli.concatenate(parts), np.repeat(np.arange(N_PEOPLE), N_STEPS), np.arange(n),
        rng.integers(n_options, size=n), np.ones(n, int), n_options=n_options,
        feedback={"reward": rng.choice(rewards, n) * 1.0, "next_state": np.zeros(n)},
    )  # fmt: skip


def log_likelihoods(sandbox, source, parameters, trials):
    """``(n_people,)`` nats."""
    drawn = {key: np.array([value]) for key, value in parameters.items()}
    with sandbox.open_session(source, [], n_options=trials.n_options) as session:
        return follow(session, DOMAIN, drawn, trials).log_likelihood[0]


def of_people(trials, formula):
    """``(n_people,)`` sums of what a formula makes of each person's cues, responses and rewards."""
    found = []
    for who in range(N_PEOPLE):
        rows = np.flatnonzero(trials.participant == who)
        cue = trials.stimuli["cue"][trials.trial[rows]].astype(int)
        reward = trials.feedback["reward"][rows]
        found.append(formula(cue, trials.response[rows], reward))
    return np.array(found)


def inv_logit(x):
    return 1 / (1 + np.exp(-x))


def pst(alpha_pos, alpha_neg, beta):
    """`pst_gainloss_Q.stan`; with equal rates `pst_Q.stan`. A pair has the stimuli 2 k + 1 and 2 k + 2."""

    def formula(pair, response, reward):
        ev, total = np.zeros(7), 0.0
        for k, second, r in zip(pair, response, reward, strict=True):
            option1, option2 = 2 * k + 2, 2 * k + 1
            chosen = option1 if second else option2
            delta = ev[option1] - ev[option2]
            p = inv_logit(beta * delta)
            total += np.log(p if second else 1 - p)
            pe = r - ev[chosen]
            ev[chosen] += (alpha_pos if pe >= 0 else alpha_neg) * pe
        return total

    return formula


def test_pst_q_is_that_of_hbayesdm(sandbox):
    trials = answers(2, 3, [0, 1])
    found = log_likelihoods(
        sandbox, FAMILY.program("pst_q").source, {"rate": 0.3, "sensitivity": 4.0}, trials
    )
    np.testing.assert_allclose(found, of_people(trials, pst(0.3, 0.3, 4.0)), rtol=0, atol=1e-9)


def test_pst_gainloss_q_is_that_of_hbayesdm(sandbox):
    trials = answers(2, 3, [0, 1])
    parameters = {"rate_up": 0.4, "rate_down": 0.15, "sensitivity": 3.0}
    source = FAMILY.program("pst_gainloss_q").source
    found = log_likelihoods(sandbox, source, parameters, trials)
    np.testing.assert_allclose(found, of_people(trials, pst(0.4, 0.15, 3.0)), rtol=0, atol=1e-9)


def gng(xi, ep, rho, rho_pun, b=0.0, pi=0.0):
    """`gng_m4.stan`; `gng_m3.stan` with one rho, `gng_m2.stan` without pi, `gng_m1.stan` without b."""

    def formula(cue, pressed, outcome):
        qv_g, qv_ng, sv, total = np.zeros(4), np.zeros(4), np.zeros(4), 0.0
        for c, is_pressed, own in zip(cue, pressed, outcome, strict=True):
            p_go = inv_logit(qv_g[c] + b + pi * sv[c] - qv_ng[c])
            p_go = p_go * (1 - xi) + xi / 2
            total += np.log(p_go if is_pressed else 1 - p_go)
            scaled = (rho if own >= 0 else rho_pun) * own
            sv[c] += ep * (scaled - sv[c])
            value = qv_g if is_pressed else qv_ng
            value[c] += ep * (scaled - value[c])
        return total

    return formula


@pytest.mark.parametrize(
    ("name", "formula", "more"),
    [
        ("gng_noise", gng(0.1, 0.25, 3.0, 3.0), {}),
        ("gng_bias", gng(0.1, 0.25, 3.0, 3.0, b=0.6), {"go_bias": 0.6}),
        (
            "gng_pavlovian",
            gng(0.1, 0.25, 3.0, 3.0, b=0.6, pi=0.4),
            {"go_bias": 0.6, "pavlovian": 0.4},
        ),
        (
            "gng_pavlovian_losses",
            gng(0.1, 0.25, 3.0, 4.5, b=-0.6, pi=0.4),
            {"go_bias": -0.6, "pavlovian": 0.4, "loss_weight": 1.5},
        ),
    ],
)
@pytest.mark.parametrize("go", [1, -1])
def test_go_nogo_is_that_of_hbayesdm(sandbox, name, formula, more, go):
    trials = answers(2, 4, [-1, 0, 1], go=go)
    parameters = {"lapse": 0.1, "rate": 0.25, "sensitivity": 3.0} | more
    found = log_likelihoods(sandbox, FAMILY.program(name).source, parameters, trials)

    def pressed(cue, response, outcome):
        return formula(cue, response if go > 0 else 1 - response, outcome)

    np.testing.assert_allclose(found, of_people(trials, pressed), rtol=0, atol=1e-9)


@pytest.mark.parametrize("capacity", [2.5, 6.0])
def test_working_memory_is_mixed_with_learning_by_capacity_and_set_size(sandbox, capacity):
    trials = answers(3, 4, [0, 1])
    alpha, beta, rho, phi, epsilon = 0.2, 6.0, 0.9, 0.15, 0.05

    def formula(cue, response, reward):
        q, memory, total = np.full((4, 3), 1 / 3), np.full((4, 3), 1 / 3), 0.0
        for c, chosen, r in zip(cue, response, reward, strict=True):
            rl, wm = np.exp(beta * q[c]), np.exp(50 * memory[c])
            weight = rho * min(1.0, capacity / 4)
            p = (1 - weight) * rl / rl.sum() + weight * wm / wm.sum()
            total += np.log((1 - epsilon) * p[chosen] + epsilon / 3)
            q[c, chosen] += alpha * (r - q[c, chosen])
            memory += phi * (1 / 3 - memory)
            memory[c, chosen] = r
        return total

    parameters = {
        "rate": alpha, "sensitivity": beta, "reliance": rho, "capacity": capacity, "decay": phi, "lapse": epsilon,
    }  # fmt: skip
    found = log_likelihoods(sandbox, FAMILY.program("rlwm").source, parameters, trials)
    np.testing.assert_allclose(found, of_people(trials, formula), rtol=0, atol=1e-9)


def forms():
    """Every mechanism in a plain composition, and all published theories."""
    plain = {"expectation": "even", "rate": "constant", "credit": "direct", "choice": "softmax"}
    for item in GRAMMAR.mechanisms:
        yield Composition.of(plain | {item.slot: item.name})
    yield from (composition for _, composition in FAMILY.seeds.values())


@pytest.mark.slow
def test_other_numbers_of_cues_change_no_score(sandbox):
    trials = answers(2, 4, [-1, 0, 1], go=1)
    order = np.array([2, 0, 3, 1])
    cue = order[trials.stimuli["cue"].astype(int)]
    arrays = dict(trials.stimuli.arrays) | {"cue": cue * 1.0}
    renamed = Trials(
        "x", Stimuli(arrays), trials.participant, trials.trial, trials.response, trials.count,
        feedback=trials.feedback,
    )  # fmt: skip
    with sandbox.open_session(
        "def choose(parameters, trials, xp): ...", [], n_options=2
    ) as session:
        for composition in forms():
            source = GRAMMAR.write(composition)
            session.hold(source)
            drawn = read_program(TheoryProgram(source, "grammar")).population(8)
            found = [
                follow(session, DOMAIN, drawn, item).log_likelihood for item in (trials, renamed)
            ]
            np.testing.assert_allclose(*found, atol=1e-9, err_msg=str(composition.slots))


def in_turn_and_apart():
    """A person with two cues in turn, and the same responses as two people with one cue each."""
    rng = np.random.default_rng(4)
    response, reward = rng.integers(2, size=20), rng.integers(2, size=20) * 1.0
    nothing, who = np.zeros(20), np.zeros(20, int)
    both = Trials(
        "x", steps(20, 2, cue=np.arange(20) % 2), who, np.arange(20), response, np.ones(20, int),
        feedback={"reward": reward, "next_state": nothing},
    )  # fmt: skip
    apart = Trials(
        "x", steps(10, 2), np.repeat([0, 1], 10), np.tile(np.arange(10), 2),
        np.concatenate([response[::2], response[1::2]]), np.ones(20, int),
        feedback={"reward": np.concatenate([reward[::2], reward[1::2]]), "next_state": nothing},
    )  # fmt: skip
    return both, apart


def test_generic_learners_see_what_was_done_with_the_same_cue():
    both, apart = (step_columns(DOMAIN, item) for item in in_turn_and_apart())
    np.testing.assert_array_equal(np.concatenate([both[::2], both[1::2]]), apart)


def test_steps_of_another_cue_between_change_no_value(sandbox):
    both, apart = in_turn_and_apart()
    for name in (
        "rescorla_wagner",
        "pearce_hall",
        "perseveration",
        "forgetting",
        "win_stay_lose_shift",
    ):
        program = FAMILY.program(name)
        drawn = {
            key: values[:1].item() for key, values in read_program(program).population(4).items()
        }
        one, two = (log_likelihoods(sandbox, program.source, drawn, item) for item in (both, apart))
        assert one.sum() == pytest.approx(two.sum(), abs=1e-9), name


def test_a_cue_that_never_repeats_is_refused():
    with pytest.raises(StimuliError, match=r"step 0 of the schedule: its cue comes once only"):
        DOMAIN.check(steps(6, 2, cue=np.arange(6)))
    DOMAIN.check(steps(6, 2, cue=np.arange(6) % 3))
    with pytest.raises(StimuliError, match=r"step 5 of the schedule: its cue comes once only"):
        DOMAIN.check(steps(6, 2, cue=np.array([0, 0, 1, 1, 1, 2])))
    with pytest.raises(StimuliError, match=r"in blocks of 10 steps some of 6 cues come once"):
        read_settings({"n_steps": 20, "n_blocks": 2, "n_cues": 6})


def test_set_sizes_count_the_cues_of_each_game():
    cue, begins = np.array([0, 1, 1, 0, 2, 0, 1, 2]), np.array([1, 0, 0, 0, 1, 0, 0, 0])
    assert steps(8, 2, cue=cue, block_start=begins)["set_size"].tolist() == [2] * 4 + [3] * 4
    made = schedule(
        read_settings(
            {"n_steps": 60, "n_blocks": 3, "n_cues": 4, "fewest_cues": 2, "n_options": 3}
        ),
        np.random.default_rng(0),
    )
    assert made["set_size"].tolist() == [2] * 20 + [3] * 20 + [4] * 20


def test_each_cue_has_outcomes_of_its_own():
    made = schedule(LearningSettings("go_nogo", n_steps=4000), np.random.default_rng(1))
    DOMAIN.check(made)
    rows = np.arange(4000)
    own = made["payoff"][rows, made["cue"].astype(int)]
    means = np.array([own[made["cue"] == cue].mean(axis=0) for cue in range(4)])
    wanted = [[0.3, 0.7], [-0.7, -0.3], [0.7, 0.3], [-0.3, -0.7]]
    np.testing.assert_allclose(means, wanted, atol=4 * 0.5 / np.sqrt(1000))
    assert (made["payoff"][:, [0, 2]] >= 0).all()
    assert (made["payoff"][:, [1, 3]] <= 0).all()
    assert (
        DOMAIN.describe(made, 0)
        == f"step 1, cue {int(made['cue'][0]) + 1}, a new game begins: withhold or respond"
    )
    turned = DOMAIN.swap_sides(made)
    assert DOMAIN.describe(turned, 0).endswith("respond or withhold")
