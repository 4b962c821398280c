import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.domains.learning.task import LearningDomain
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running import sequence
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.running.sequence import (
    expected,
    follow,
    follow_all,
    log_likelihood_of_all,
    simulate,
)
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.session import SequenceStep
from lakatos.theories.engine.scoring.score import log_predictive
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import (
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryShapeError,
    TheorySourceError,
)
from lakatos.theories.language.theory import TheoryProgram, read_program

BANDIT, PRODUCTS = LearningDomain(), MultiattributeDomain()
RESCORLA_WAGNER = '''"""Rescorla-Wagner: people move the value of what they chose towards what it paid."""
PARAMETERS = {
    "rate": {"prior": "uniform", "low": 0.0, "high": 1.0},
    "sensitivity": {"prior": "log_uniform", "low": 0.5, "high": 20.0},
}


def start(parameters, trials, xp):
    return {"value": 0.5 + xp.zeros((1, 1, trials["available"].shape[-1]))}


def choose(parameters, trials, xp, state):
    strength = xp.exp(parameters["sensitivity"][..., None] * state["value"])
    return strength / strength.sum(axis=-1)[..., None]


def learn(parameters, trials, xp, state, response, feedback):
    surprise = feedback["reward"][..., None] - state["value"]
    return {"value": state["value"] + parameters["rate"][..., None] * response * surprise}
'''
REPEAT = '''"""Repetition: people press the key that they pressed last."""
PARAMETERS = {"habit": {"prior": "uniform", "low": 0.5, "high": 1.0}}


def start(parameters, trials, xp):
    return {"last": xp.zeros((1, 1))}


def choose(parameters, trials, xp, state):
    p = 0.5 + state["last"] * (parameters["habit"] - 0.5)
    return p + xp.zeros(len(trials["rating_max"]))


def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1] - response[..., 0]}
'''


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


def bandit(n_steps, payoff):
    stimuli = BANDIT.candidates({"n_steps": n_steps}, np.random.default_rng(0), 1)
    return Stimuli(
        dict(stimuli.arrays) | {"payoff": np.broadcast_to(payoff, (n_steps, 3, 2)).astype(float)}
    )


def answers(stimuli, responses, **feedback):
    responses = np.asarray(responses)
    n_people, n_steps = responses.shape
    return Trials(
        "x",
        stimuli,
        np.repeat(np.arange(n_people), n_steps),
        np.tile(np.arange(n_steps), n_people),
        responses.ravel(),
        np.ones(responses.size, dtype=int),
        feedback={
            name: np.asarray(column, dtype=float).ravel() for name, column in feedback.items()
        },
    )


def by_hand(rate, sensitivity, responses, rewards):
    """Log-likelihood of one person under Rescorla-Wagner, written as a loop."""
    value, total = np.array([0.5, 0.5]), 0.0
    for response, reward in zip(responses, rewards, strict=True):
        strength = np.exp(sensitivity * value)
        total += np.log(strength[response] / strength.sum())
        value[response] += rate * (reward - value[response])
    return total


def test_following_people_is_the_loop_over_their_answers(sandbox):
    rng = np.random.default_rng(1)
    responses, rewards = rng.integers(0, 2, (3, 20)), rng.integers(0, 2, (3, 20)) * 1.0
    trials = answers(bandit(20, 0.0), responses, reward=rewards, next_state=0 * rewards)
    draws = {"rate": np.array([0.1, 0.5, 0.9]), "sensitivity": np.array([1.0, 5.0, 3.0])}
    with sandbox.open_session(RESCORLA_WAGNER, []) as session:
        found = follow(session, BANDIT, draws, trials).log_likelihood
    wanted = [
        [by_hand(rate, sensitivity, responses[person], rewards[person]) for person in range(3)]
        for rate, sensitivity in zip(*draws.values(), strict=True)
    ]
    np.testing.assert_allclose(found, wanted)


def test_the_first_choice_and_the_first_update_are_those_of_the_formula(sandbox):
    trials = answers(bandit(2, 0.0), [[1, 1]], reward=[[1.0, 0.0]], next_state=[[0.0, 0.0]])
    with sandbox.open_session(RESCORLA_WAGNER, []) as session:
        found = follow(
            session, BANDIT, {"rate": np.array([0.4]), "sensitivity": np.array([2.0])}, trials
        )
    second = 1 / (1 + np.exp(-2.0 * (0.7 - 0.5)))
    np.testing.assert_allclose(found.probabilities[0], [[0.5, 0.5], [1 - second, second]])


def test_people_with_fewer_answers_are_padded_not_scored(sandbox):
    stimuli = bandit(3, 0.0)
    trials = Trials(
        "x", stimuli, np.array([0, 1, 1, 1]), np.array([0, 0, 1, 2]), np.array([1, 1, 1, 1]), np.ones(4, dtype=int),
        feedback={"reward": np.zeros(4), "next_state": np.zeros(4)},
    )  # fmt: skip
    with sandbox.open_session(RESCORLA_WAGNER, []) as session:
        found = follow(
            session, BANDIT, {"rate": np.array([0.5]), "sensitivity": np.array([2.0])}, trials
        )
    assert found.log_likelihood[0, 0] == pytest.approx(np.log(0.5))
    assert np.isnan(found.own[0, 1:]).all()
    assert not np.isnan(found.own[1]).any()


@pytest.mark.parametrize("n_draws", [3, 4000])
def test_experiments_walked_together_are_walked_as_each_alone(sandbox, n_draws):
    """Of different length; with 4000 draws there are too many people to be walked together."""
    rng = np.random.default_rng(2)
    experiments = []
    for n_people, n_steps in ((2, 9), (3, 12)):
        rewards = rng.integers(0, 2, (n_people, n_steps)) * 1.0
        responses = rng.integers(0, 2, (n_people, n_steps))
        experiments.append(
            answers(bandit(n_steps, 0.0), responses, reward=rewards, next_state=0 * rewards)
        )
    draws = {"rate": rng.random(n_draws), "sensitivity": rng.uniform(1, 5, n_draws)}
    with sandbox.open_session(RESCORLA_WAGNER, []) as session:
        together = follow_all(session, BANDIT, draws, experiments)
        each = [follow(session, BANDIT, draws, item) for item in experiments]
        likelihood = log_likelihood_of_all(session, BANDIT, draws, experiments)
    for one, other in zip(together, each, strict=True):
        np.testing.assert_allclose(one.log_likelihood, other.log_likelihood, rtol=1e-12)
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-12)
        np.testing.assert_allclose(one.own, other.own, rtol=1e-12)
    np.testing.assert_allclose(
        likelihood, np.concatenate([item.log_likelihood for item in each], axis=1), rtol=1e-12
    )


def test_a_theory_of_the_grammar_is_walked_in_few_questions_with_the_same_answers(
    sandbox, monkeypatch
):
    theory = read_program(FAMILIES["learning"].program("forgetting"))
    stimuli = BANDIT.candidates({"task": "reversal", "n_steps": 30}, np.random.default_rng(2), 30)
    with Laboratory(BANDIT, 1) as laboratory:
        (trials,) = laboratory.simulate([theory], stimuli, 8, np.random.default_rng(3))
    population = theory.population(16)
    with sandbox.open_session(theory.program.source, [], n_options=2) as stepwise:
        one_by_one = follow_all(stepwise, BANDIT, population, [trials])[0]
        assert not stepwise.takes_walks
    for most in (2**21, 7 * 16 * 8 * 2):  # all steps at once, and seven at a time
        monkeypatch.setattr(sequence, "MOST_TOLD", most)
        with sandbox.open_session(
            "def choose(parameters, trials, xp): pass", [], n_options=2, lint=False
        ) as held:
            held.hold(theory.program.source)
            together = follow_all(held, BANDIT, population, [trials])[0]
            likelihood = log_likelihood_of_all(held, BANDIT, population, [trials])
        assert np.array_equal(together.probabilities, one_by_one.probabilities)
        assert np.array_equal(together.log_likelihood, one_by_one.log_likelihood)
        assert np.array_equal(likelihood, one_by_one.log_likelihood)


def test_a_theory_that_may_be_anybodys_is_never_told_several_steps_at_once(sandbox):
    seen = {"available": np.ones((1, 2))}
    steps = [SequenceStep(seen, {}, None, {})] * 2
    with sandbox.open_session(RESCORLA_WAGNER, [], n_options=2) as session:
        session.begin({"rate": np.array([0.2]), "sensitivity": np.array([3.0])})
        with pytest.raises(ValueError, match="several steps at once"):
            session.steps(steps)


def test_counts_without_an_order_are_refused(sandbox):
    pooled = Trials(
        "x", bandit(1, 0.0), np.zeros(1, int), np.zeros(1, int), np.zeros(1, int), np.array([7])
    )
    with (
        sandbox.open_session(RESCORLA_WAGNER, []) as session,
        pytest.raises(TrialsError, match="published as counts"),
    ):
        follow(session, BANDIT, {"rate": np.array([0.5])}, pooled)


def test_what_was_simulated_is_followed_with_the_same_probabilities(sandbox):
    people = {"rate": np.linspace(0.1, 0.9, 16), "sensitivity": np.full(16, 4.0)}
    stimuli = BANDIT.candidates({"n_steps": 30, "task": "reversal"}, np.random.default_rng(3), 1)
    with sandbox.open_session(RESCORLA_WAGNER, []) as session:
        done = simulate(
            session, BANDIT, people, stimuli, np.arange(30)[None], np.random.default_rng(4)
        )
        trials = answers(
            stimuli,
            done.response[:, 0],
            **{name: column[:, 0] for name, column in done.feedback.items()},
        )
        found = follow(session, BANDIT, people, trials)
    p = np.take_along_axis(done.probabilities[:, 0], done.response[:, 0, :, None], axis=-1)[..., 0]
    np.testing.assert_allclose(np.diag(found.log_likelihood), np.log(p).sum(axis=-1))


@pytest.mark.statistical
def test_simulated_choices_agree_with_the_stated_probabilities(sandbox):
    people = {"rate": np.full(4096, 0.4), "sensitivity": np.full(4096, 3.0)}
    stimuli = BANDIT.candidates(
        {"n_steps": 8, "best": 0.9, "others": 0.1}, np.random.default_rng(3), 1
    )
    with sandbox.open_session(RESCORLA_WAGNER, []) as session:
        done = simulate(
            session, BANDIT, people, stimuli, np.arange(8)[None], np.random.default_rng(4)
        )
    p = done.probabilities[:, 0, :, 1]
    gap = (done.response[:, 0] - p).mean(axis=0)
    assert (np.abs(gap) < 4 * np.sqrt((p * (1 - p)).mean(axis=0) / len(p))).all()


def test_two_step_choices_lead_to_the_states_that_the_schedule_fixed():
    stimuli = BANDIT.candidates({"task": "two_step", "n_steps": 40}, np.random.default_rng(5), 1)
    first = {name: array[:1] for name, array in stimuli.arrays.items()}
    after = BANDIT.feedback(first, BANDIT.shown(first, {}), np.array([[0], [1]]))
    assert sorted(after["next_state"].ravel()) == [1, 2]
    second = {name: array[1:2] for name, array in stimuli.arrays.items()}
    shown = BANDIT.shown(second, after)
    np.testing.assert_array_equal(shown["state"], after["next_state"])
    assert "payoff" not in shown
    paid = BANDIT.feedback(second, shown, np.array([[1], [1]]))["reward"][:, 0]
    np.testing.assert_array_equal(
        paid, stimuli["payoff"][1, after["next_state"][:, 0].astype(int), 1]
    )


def test_a_habit_is_seen_in_the_sequence_and_not_in_the_proportions(sandbox):
    stimuli = PRODUCTS.space({"validities": [0.8, 0.7], "levels": [0, 1, 2]})
    theory = read_program(TheoryProgram(REPEAT, "test"))
    order = np.random.default_rng(0).permuted(np.tile(np.arange(len(stimuli)), (200, 4)), axis=1)
    people = {"habit": np.full(200, 0.9)}
    done = behave(theory, PRODUCTS, sandbox, people, stimuli, order, np.random.default_rng(1))
    repeated = (done.response[:, 1:] == done.response[:, :-1]).mean()
    assert abs(repeated - 0.9) < 4 * np.sqrt(0.09 / done.response[:, 1:].size)
    with sandbox.open_session(REPEAT, []) as session:
        p = expected(
            session, PRODUCTS, {"habit": np.full(256, 0.9)}, stimuli, np.random.default_rng(2)
        )
    assert np.abs(p.mean(axis=0) - 0.5).max() < 0.1


def test_a_theory_never_sees_what_would_follow(sandbox):
    nosy = RESCORLA_WAGNER.replace(
        'trials["available"].shape[-1]', 'int(trials["payoff"].shape[-1])'
    )
    with (
        sandbox.open_session(nosy, []) as session,
        pytest.raises(TheoryRaisedError, match="there is no 'payoff'"),
    ):
        simulate(
            session,
            BANDIT,
            {"rate": np.ones(2)},
            bandit(3, 1.0),
            np.arange(3)[None],
            np.random.default_rng(0),
        )


def test_a_theory_that_does_not_broadcast_is_walked_one_draw_at_a_time(sandbox):
    loop = RESCORLA_WAGNER.replace(
        '    strength = xp.exp(parameters["sensitivity"][..., None] * state["value"])\n',
        '    if parameters["rate"].size > 1:\n        raise ValueError("one at a time")\n'
        '    strength = xp.exp(parameters["sensitivity"][..., None] * state["value"])\n',
    )
    draws = {"rate": np.array([0.1, 0.5, 0.9]), "sensitivity": np.array([1.0, 5.0, 3.0])}
    found = []
    for source in (RESCORLA_WAGNER, loop):
        with sandbox.open_session(source, []) as session:
            stimuli = BANDIT.candidates({"n_steps": 12}, np.random.default_rng(0), 1)
            done = simulate(
                session, BANDIT, draws, stimuli, np.arange(12)[None], np.random.default_rng(1)
            )
            found.append(done.probabilities)
            assert session.broadcasts == (source == RESCORLA_WAGNER)
    np.testing.assert_allclose(*found)


def test_draws_that_mix_only_after_some_steps_are_found_out(sandbox):
    """Values are averaged over draws from the third step on: the first answers look right."""
    mixing = RESCORLA_WAGNER.replace(
        "    strength = xp.exp(",
        '    if trials["position"][0] > 2:\n'
        '        state = {"value": state["value"].mean(axis=0)[None] + 0 * state["value"]}\n'
        "    strength = xp.exp(",
    )
    draws = {"rate": np.array([0.1, 0.5, 0.9]), "sensitivity": np.array([1.0, 5.0, 3.0])}
    stimuli = bandit(8, [1.0, 0.0])
    with (
        sandbox.open_session(mixing, []) as session,
        pytest.raises(TheoryShapeError, match="draw 0 is answered otherwise among other draws"),
    ):
        simulate(session, BANDIT, draws, stimuli, np.arange(8)[None], np.random.default_rng(1))


def test_probabilities_that_do_not_sum_to_one_are_refused_with_their_step(sandbox):
    wrong = RESCORLA_WAGNER.replace(
        "return strength / strength.sum(axis=-1)[..., None]", "return strength"
    )
    with (
        sandbox.open_session(wrong, []) as session,
        pytest.raises(TheoryProbabilityError, match="at step 0, draw 0"),
    ):
        simulate(
            session, BANDIT, {"rate": np.ones(2), "sensitivity": np.ones(2)}, bandit(3, 1.0), np.arange(3)[None],
            np.random.default_rng(0),
        )  # fmt: skip


def test_a_learning_theory_passes_the_checks_and_says_that_it_learns(sandbox):
    theory = load_theory(TheoryProgram(RESCORLA_WAGNER, "test"), BANDIT, sandbox)
    assert theory.learns
    assert theory.broadcasts
    assert any("it declares memory" in check for check in theory.checks)


def test_learning_without_a_beginning_is_refused():
    source = RESCORLA_WAGNER.replace("def start(", "def begin(")
    with pytest.raises(TheorySourceError, match="one of `start` and `learn` without the other"):
        read_program(TheoryProgram(source, "test"))


def test_a_state_of_the_wrong_shape_is_the_theorys_error(sandbox):
    wrong = RESCORLA_WAGNER.replace(
        "return strength / strength.sum(axis=-1)[..., None]", "return strength[..., :1]"
    )
    with pytest.raises(TheoryShapeError, match="must be"):
        load_theory(TheoryProgram(wrong, "test"), BANDIT, sandbox)


def test_counts_are_predicted_by_what_is_expected_in_any_order(sandbox):
    stimuli = PRODUCTS.space({"validities": [0.8, 0.7], "levels": [0, 1]})
    n = len(stimuli)
    pooled = Trials(
        "x",
        stimuli,
        np.zeros(n, int),
        np.arange(n),
        np.ones(n, int),
        np.full(n, 9),
        pooled=True,
        n_people=9,
    )
    theory = read_program(TheoryProgram(REPEAT, "test"))
    with TheoryView(theory, PRODUCTS, sandbox, [stimuli]) as view:
        people = {"habit": np.full(32, 0.9)}
        (found,) = view.evidence(people, [pooled])
        np.testing.assert_array_equal(found.probabilities, view.probabilities(people)[0])
    assert log_predictive(found).n_choices.sum() == 9 * n


def test_two_texts_of_one_rule_are_expected_to_choose_alike(sandbox):
    stimuli = PRODUCTS.space({"validities": [0.8, 0.7], "levels": [0, 1, 2]})
    asked = []
    for source in (REPEAT, REPEAT.replace("pressed last", "pressed before")):
        theory = read_program(TheoryProgram(source, "test"))
        with TheoryView(theory, PRODUCTS, sandbox, [stimuli]) as view:
            asked.append(view.probabilities({"habit": np.full(64, 0.95)})[0])
    np.testing.assert_array_equal(*asked)
