"""Walks in machine code against the step-by-step walk of the same text."""

import numpy as np
import pytest

from lakatos.domains import FAMILIES
from lakatos.domains.learning.task import LearningDomain, steps
from lakatos.experiments.task import Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.running import sequence, unrolled
from lakatos.theories.engine.running.sequence import (
    follow,
    follow_all,
    log_likelihood_changed,
    log_likelihood_of_all,
    log_likelihood_of_parts,
)
from lakatos.theories.engine.sandbox import unrolled as codes
from lakatos.theories.engine.sandbox.client import NOTHING_YET, Sandbox
from lakatos.theories.engine.sandbox.evaluator import NamedArrays, load
from lakatos.theories.engine.sandbox.unrolled import UnrolledError, Unrolling
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.grammar import composition_of
from lakatos.theories.language.theory import TheoryProgram, read_program

BANDIT, LEARNING = LearningDomain(), FAMILIES["learning"]
ROUNDED = {"thompson_sampling"}
"""Theories with hyperbolic tangents, which NumPy and the system's library round otherwise."""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


@pytest.fixture(autouse=True)
def everything_is_much(monkeypatch):
    monkeypatch.setattr(sequence, "SOME", 1)
    monkeypatch.setattr(sequence, "MANY", 1)


def answers(
    n_people, n_steps, *, n_options=2, two_step=False, rewards=(0.0, 1.0), uneven=False, seed=0
):
    """Responses by lot; in a two-step task every second step is a second stage."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(n_steps // 2, n_steps + 1, n_people) if uneven else [n_steps] * n_people
    lengths[0] = n_steps
    stage = np.arange(n_steps) % 2 if two_step else np.zeros(n_steps)
    block_start = (np.arange(n_steps) % 10 == 0) * 1.0
    trial = np.concatenate([np.arange(length) for length in lengths])
    reward = rng.choice(rewards, len(trial)) * (stage[trial] == stage.max())
    next_state = rng.integers(1, 3, len(trial)) * 1.0 * (stage[trial] < stage.max())
    return Trials(
        experiment="x",
        stimuli=steps(n_steps, n_options, stage=stage, block_start=block_start),
        participant=np.repeat(np.arange(n_people), lengths),
        trial=trial,
        response=rng.integers(0, n_options, len(trial)),
        count=np.ones(len(trial), dtype=np.int64),
        n_people=n_people,
        n_options=n_options,
        feedback={"reward": reward, "next_state": next_state},
    )


def held(sandbox, name_or_source, trials):
    """A session that holds a published theory, in the text for these trials, or a source."""
    session = sandbox.open_session(NOTHING_YET, [], n_options=trials.n_options, lint=False)
    source = name_or_source
    if name_or_source in LEARNING.seeds:
        form = read_program(LEARNING.program(name_or_source))
        composition = composition_of(form.composition, {})
        source = LEARNING.grammar.write_for(composition, [trials.stimuli])
    session.hold(source)
    return session


def people_of(name, n_draws=16):
    drawn = read_program(LEARNING.program(name)).population(n_draws)
    return {key: np.resize(values, n_draws) for key, values in drawn.items()} or {"": np.zeros(1)}


TASKS = {
    "two options": {},
    "three options, rewards in points, people of uneven length": {
        "n_options": 3,
        "rewards": (-1.0, -0.35, 0.0, 0.2, 0.6, 1.0),
        "uneven": True,
    },
    "two steps": {"two_step": True},
}


@pytest.mark.parametrize(
    "task",
    [pytest.param(name, marks=pytest.mark.slow if name == "two steps" else ()) for name in TASKS],
)
def test_every_published_theory_is_written_out_and_walks_as_step_by_step(sandbox, task):
    trials = answers(7, 24, **TASKS[task])
    for name in LEARNING.seeds:
        people = people_of(name)
        with held(sandbox, name, trials) as session:
            found = follow(session, BANDIT, people, trials)
            likelihood = log_likelihood_of_all(session, BANDIT, people, [trials])
            ((_, theory),) = session.of_theory["written"].values()
            session.walks_written = False
            stepwise = follow(session, BANDIT, people, trials)
        assert isinstance(theory, unrolled.WrittenTheory), name
        assert theory.same_digits == (name not in ROUNDED)
        # Exponentials are rounded otherwise on some processors. Where a probability is a millionth of a millionth, the
        # last digit of a hyperbolic tangent near 1 changes its logarithm by 1e-4.
        beyond = 1e-3 if name in ROUNDED else 1e-12
        for own in ("probabilities", "own"):
            np.testing.assert_allclose(
                getattr(found, own), getattr(stepwise, own), rtol=1e-12, atol=1e-12, err_msg=name
            )
        for own in (likelihood, found.log_likelihood):
            np.testing.assert_allclose(
                own, stepwise.log_likelihood, rtol=1e-12, atol=beyond, err_msg=name
            )


@pytest.mark.slow
def test_every_mechanism_of_the_grammar_is_written_out_and_walks_as_step_by_step(sandbox):
    """Each in place of, or beside, those of the simplest theory."""
    trials = answers(5, 20)
    grammar = LEARNING.grammar
    base = {"expectation": "even", "rate": "constant", "credit": "direct", "choice": "softmax"}
    for mechanism in grammar.mechanisms:
        slots = {slot: (name,) for slot, name in (base | {mechanism.slot: mechanism.name}).items()}
        theory = read_program(TheoryProgram(grammar.write(composition_of(slots, {})), "grammar"))
        people = {key: np.resize(own, 16) for key, own in theory.population(16).items()}
        people = people or {"": np.zeros(1)}
        source = grammar.write_for(composition_of(slots, {}), [trials.stimuli])
        with held(sandbox, source, trials) as session:
            found = log_likelihood_of_all(session, BANDIT, people, [trials])
            ((_, written),) = session.of_theory["written"].values()
            session.walks_written = False
            stepwise = log_likelihood_of_all(session, BANDIT, people, [trials])
        assert written is not None, mechanism.name
        beyond = 1e-12 if written.same_digits else 1e-3
        np.testing.assert_allclose(found, stepwise, rtol=1e-12, atol=beyond, err_msg=mechanism.name)


def test_experiments_and_parts_of_them_are_walked_as_step_by_step(sandbox):
    trials = answers(6, 20, uneven=True)
    other = answers(3, 13, seed=1)
    people = people_of("forgetting")
    part = 2 * trials.participant + (np.arange(len(trials.participant)) % 3 == 0)

    def asked(session):
        changed = log_likelihood_changed(
            session, BANDIT, people, [trials], [lambda p: p, lambda p: 0.5 * p + 0.25]
        )
        both = follow_all(session, BANDIT, people, [trials, other])
        return [
            log_likelihood_of_all(session, BANDIT, people, [trials, other]),
            *(item.log_likelihood for item in both),
            *(item.probabilities for item in both),
            log_likelihood_of_parts(session, BANDIT, people, trials, part),
            changed,
        ]

    with held(sandbox, "forgetting", trials) as session:
        written = asked(session)
        assert all(theory for _, theory in session.of_theory["written"].values())
        session.walks_written = False
        for found, stepwise in zip(written, asked(session), strict=True):
            np.testing.assert_allclose(found, stepwise, rtol=1e-12)


def test_a_session_that_holds_another_theory_walks_with_that_one(sandbox):
    trials = answers(4, 20)
    with held(sandbox, "rescorla_wagner", trials) as session:
        first = log_likelihood_of_all(session, BANDIT, people_of("rescorla_wagner"), [trials])
        session.hold(read_program(LEARNING.program("two_rates")).program.source)
        second = log_likelihood_of_all(session, BANDIT, people_of("two_rates"), [trials])
        session.walks_written = False
        again = log_likelihood_of_all(session, BANDIT, people_of("two_rates"), [trials])
    np.testing.assert_allclose(second, again, rtol=1e-12)
    assert np.abs(first - second).max() > 0.01


def test_other_answers_are_walked_with_their_own_kinds_of_steps(sandbox):
    first, second = answers(4, 20, seed=1), answers(4, 20, rewards=(-1.0, 0.0), seed=2)
    people = people_of("two_rates")
    with held(sandbox, "two_rates", first) as session:
        found = [log_likelihood_of_all(session, BANDIT, people, [item]) for item in (first, second)]
        session.walks_written = False
        for item, own in zip((first, second), found, strict=True):
            stepwise = log_likelihood_of_all(session, BANDIT, people, [item])
            np.testing.assert_allclose(own, stepwise, rtol=1e-12)


THEORY = """
def start(parameters, trials, xp):
    return {{"value": 0.5 + xp.zeros((1, 1, 2))}}

def choose(parameters, trials, xp, state):
    {choose}

def learn(parameters, trials, xp, state, response, feedback):
    {learn}
"""
LEARN = (
    'return {"value": state["value"] + parameters["rate"][..., None] * response * '
    '(feedback["reward"][..., None] - state["value"])}'
)
CHOOSE = 'strength = xp.exp(4 * state["value"]); return strength / strength.sum(axis=-1)[..., None]'
UNWRITTEN = {
    "a branch": (
        'return state["value"] / state["value"].sum(axis=-1)[..., None] '
        'if state["value"].max() < 0.5 else xp.exp(state["value"]) / '
        'xp.exp(state["value"]).sum(axis=-1)[..., None]',
        LEARN,
    ),
    "a function without a counterpart": (
        CHOOSE,
        LEARN + ' if xp.median(state["value"]) else state',
    ),
    "another name": (CHOOSE, LEARN.replace('{"value"', '{"other": 1.0, "value"')),
}


@pytest.mark.parametrize("what", UNWRITTEN)
def test_what_cannot_be_written_out_is_walked_step_by_step(sandbox, what):
    choose, learn = UNWRITTEN[what]
    source, trials = THEORY.format(choose=choose, learn=learn), answers(4, 20)
    people = {"rate": np.linspace(0.1, 0.9, 16)}
    with held(sandbox, source, trials) as session:
        found = log_likelihood_of_all(session, BANDIT, people, [trials])
        assert [theory for _, theory in session.of_theory["written"].values()] == [None]
        session.walks_written = False
        assert np.array_equal(found, log_likelihood_of_all(session, BANDIT, people, [trials]))


@pytest.mark.parametrize(
    "choose",
    [
        "return 0.6 + 0.0 * state['value']",  # sums to 1.2
        "return xp.log(state['value'] - 2.0)",  # not a number
        "return state['value'] / state['value'].sum(axis=-1)[..., None]",  # below 0 in the end
    ],
)
def test_what_is_no_probability_is_refused_as_step_by_step(sandbox, choose):
    learn = 'return {"value": state["value"] + parameters["rate"][..., None] * (response - 0.9)}'
    source, trials = THEORY.format(choose=choose, learn=learn), answers(3, 20)
    people = {"rate": np.linspace(0.1, 0.9, 16)}
    for ask in (
        lambda session: log_likelihood_of_all(session, BANDIT, people, [trials]),
        lambda session: follow(session, BANDIT, people, trials),
    ):
        with (
            held(sandbox, source, trials) as session,
            pytest.raises(TheoryProbabilityError, match="are no probabilities"),
        ):
            ask(session)


def test_a_theory_that_may_be_anybodys_is_not_written_out(sandbox):
    source, trials = THEORY.format(choose=CHOOSE, learn=LEARN), answers(3, 20)
    people = {"rate": np.linspace(0.1, 0.9, 16)}
    with sandbox.open_session(source, [], n_options=2) as session:
        follow(session, BANDIT, people, trials)
        assert not session.of_theory
        with pytest.raises(ValueError, match="only theories that"):
            session.unroll(["rate"], [], np.zeros((1, 1)))


def test_too_many_kinds_of_steps_are_walked_step_by_step(sandbox, monkeypatch):
    monkeypatch.setattr(unrolled, "MOST_CASES", 3)
    trials, people = answers(4, 20), people_of("rescorla_wagner")
    with held(sandbox, "rescorla_wagner", trials) as session:
        found = log_likelihood_of_all(session, BANDIT, people, [trials])
        assert not session.of_theory
        session.walks_written = False
        assert np.array_equal(found, log_likelihood_of_all(session, BANDIT, people, [trials]))


NODES = [
    (codes.PARAMETER, 0, 0, 0),
    (codes.CONSTANT, 0.5, 0, 0),
    (codes.STATE, 0, 0, 0),
    (codes.MULTIPLY, 0, 2, 0),
]


@pytest.mark.parametrize(
    ("place", "node"),
    [
        (3, (codes.MULTIPLY, 0, 3, 0)),  # itself
        (3, (codes.MULTIPLY, 0, 7, 0)),  # what comes later
        (3, (codes.MULTIPLY, -1, 1, 0)),
        (3, (codes.MULTIPLY, 0.5, 1, 0)),
        (3, (codes.MULTIPLY, np.nan, 1, 0)),
        (3, (codes.N_CODES, 0, 1, 0)),
        (3, (-1, 0, 1, 0)),
        (2, (codes.STATE, 1, 0, 0)),
        (0, (codes.PARAMETER, 1, 0, 0)),
        (2, (codes.COLUMN, 0, 0, 0)),
        (0, (codes.ADD, 0, 0, 0)),
    ],
)
def test_nodes_that_lead_nowhere_are_refused(place, node):
    nodes = np.array(NODES, dtype=float)
    begun, told = np.array([1.0]), np.array([[3.0, 3.0, 3.0, 1.0]])
    assert unrolled._is_sound(nodes, begun, told, 1, 1, 0)
    nodes[place] = node
    assert not unrolled._is_sound(nodes, begun, told, 1, 1, 0)
    assert not unrolled._is_sound(np.array(NODES, float), begun, told + 10, 1, 1, 0)


def written(choose, learn, cases=((-1.0,), (0.0,), (1.0,))):
    """What a theory of one parameter without feedback writes."""
    functions = load(THEORY.format(choose=choose, learn=learn))
    columns = [("trials", "available", [2])]
    filled = np.concatenate([np.array(cases), np.ones((len(cases), 2))], axis=1)
    unrolling = Unrolling(functions, ["rate"], columns, 2, NamedArrays)
    return unrolling, unrolling.write(filled)


def test_what_never_changes_is_no_operation():
    """The second value stays 0.5, so that it is a constant in every step."""
    learn = (
        'return {"value": state["value"] + xp.array([1.0, 0.0]) * parameters["rate"][..., None] * '
        "response}"
    )
    unrolling, (begun, states, told) = written(CHOOSE, learn)
    assert [unrolling.book.value(place) for place in begun] == [0.5, 0.5]
    assert all(unrolling.book.value(state[1]) == 0.5 for state in states)
    # Where the second option was chosen, nothing is learned.
    code, number, *_ = unrolling.book.nodes[states[2][0]]
    assert (code, number) == (codes.STATE, 0)
    assert len(told[0]) == 3


def test_a_start_that_depends_on_the_first_step_is_refused():
    functions = load(
        THEORY.format(choose=CHOOSE, learn=LEARN).replace(
            "0.5 + xp.zeros((1, 1, 2))", 'trials["available"][:, None] * 0.5'
        )
    )
    cases = np.array([[-1.0, 1.0, 1.0], [-1.0, 1.0, 0.0]])
    with pytest.raises(UnrolledError, match="depends on the first step"):
        Unrolling(functions, ["rate"], [("trials", "available", [2])], 2, NamedArrays).write(cases)


@pytest.mark.slow
def test_scores_of_a_published_theory_walk_so_and_ask_about_some_people_again(monkeypatch):
    """The submitted text answers for them; a walk that differs from it is refused."""
    theory = read_program(LEARNING.program("two_rates"))
    trials = answers(12, 20)
    with Laboratory(BANDIT, 1) as laboratory:
        (found,) = laboratory.scores_of([theory], [trials], 16)
        monkeypatch.setattr(sequence, "SOME", 2**40)
        (stepwise,) = laboratory.scores_of([theory], [trials], 16)
        np.testing.assert_allclose(
            found[0].left_out.log_predictive, stepwise[0].left_out.log_predictive, rtol=1e-12
        )
        monkeypatch.setattr(sequence, "SOME", 1)
        walked = unrolled.probabilities
        monkeypatch.setattr(
            unrolled, "probabilities", lambda *given: (0.9 * p + 0.05 for p in walked(*given))
        )
        (refused,) = laboratory.scores_of([theory], [trials], 16)
    assert isinstance(refused, TheoryProbabilityError)
    assert "when this person is alone" in str(refused)
