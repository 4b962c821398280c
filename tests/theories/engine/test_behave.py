import numpy as np
import pytest

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.participants.simulated import draw_options
from lakatos.theories.engine.running import behave as module
from lakatos.theories.engine.running.behave import TheoryCrowd, behave
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = MultiattributeDomain()
SPACE = DOMAIN.space({"validities": [0.9, 0.8, 0.6], "levels": [0, 1]})
REPEATING = '''"""Repeating: people press the key they pressed before."""
PARAMETERS = {
    "stay": {"prior": "uniform", "low": 0.0, "high": 3.0},
    "slope": {"prior": "uniform", "low": 0.0, "high": 3.0},
}
def start(parameters, trials, xp):
    return {"last": xp.zeros((1, 1))}
def choose(parameters, trials, xp, state):
    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    return 1 / (1 + xp.exp(-parameters["slope"] * evidence - parameters["stay"] * state["last"]))
def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1] - response[..., 0]}
'''
N_PEOPLE, N_STEPS = 15, 12


def crowd_of(source):
    rng = np.random.default_rng(0)
    theory = read_program(TheoryProgram(source, "test"))
    people = {name: rng.uniform(0, 3, N_PEOPLE) for name in theory.priors}
    order = rng.permuted(np.tile(np.arange(len(SPACE)), (N_PEOPLE, 4)), axis=1)[:, :N_STEPS]
    return theory, people, order


@pytest.mark.parametrize(
    "source",
    [
        REPEATING,
        REPEATING.replace('parameters["stay"]', 'parameters["stay"][:, :1]'),
        REPEATING.replace('parameters["stay"]', 'float(parameters["stay"][0, 0])'),
    ],
    ids=["arrays", "first column only", "one number only"],
)
def test_people_walked_together_answer_as_people_walked_alone(sandbox, monkeypatch, source):
    theory, people, order = crowd_of(source)
    together = behave(theory, DOMAIN, sandbox, people, SPACE, order, np.random.default_rng(1))
    monkeypatch.setattr(module, "FEW_ORDERS", N_PEOPLE)
    alone = behave(theory, DOMAIN, sandbox, people, SPACE, order, np.random.default_rng(1))
    assert np.array_equal(together.response, alone.response)
    assert 0 < together.response.mean() < 1


def test_people_walked_together_keep_parameters_of_their_own(sandbox):
    theory, people, order = crowd_of(REPEATING)
    people = {"slope": np.zeros(N_PEOPLE), "stay": np.where(np.arange(N_PEOPLE) % 2, 50.0, -50.0)}
    done = behave(theory, DOMAIN, sandbox, people, SPACE, order, np.random.default_rng(1))
    stayed = done.response[:, 1:] == done.response[:, :-1]
    assert np.array_equal(stayed, np.repeat(people["stay"][:, None] > 0, N_STEPS - 1, axis=1))


def test_crowd_after_crowd_comes_from_one_process(sandbox):
    theory, people, order = crowd_of(REPEATING)
    with TheoryCrowd(theory, DOMAIN, sandbox, SPACE) as crowd:
        first, second = (crowd.behave(people, order, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(first.response, second.response)


def test_walk_without_probabilities_names_its_step(sandbox):
    theory, people, order = crowd_of(
        REPEATING.replace("return 1 /", "return (2 + state['last'] ** 2) /")
    )
    with pytest.raises(TheoryProbabilityError, match=r"at step \d+"):
        behave(theory, DOMAIN, sandbox, people, SPACE, order, np.random.default_rng(1))


@pytest.mark.parametrize("n_options", [2, 3])
def test_options_are_drawn_with_their_probabilities_person_by_person(n_options):
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(n_options), size=(200, 3))
    order = np.tile(np.arange(3), (200, 1000))
    drawn = draw_options(p, order, np.random.default_rng(5))
    shares = np.stack(
        [(drawn.reshape(200, 1000, 3) == option).mean(axis=1) for option in range(n_options)],
        axis=-1,
    )
    z = (shares - p) / np.sqrt(p * (1 - p) / 1000)
    assert np.abs(z.mean()) < 4 / np.sqrt(z.size)
    assert z.std() == pytest.approx(1, abs=4 / np.sqrt(2 * z.size) + 0.02)
    numbers = np.random.default_rng(5).random(
        order.shape
    )  # one number for each presentation, in their order
    cumulative = np.take_along_axis(np.cumsum(p, axis=-1), order[:, :, None], axis=1)
    assert np.array_equal(
        drawn, (numbers[..., None] * cumulative[..., -1:] >= cumulative[..., :-1]).sum(axis=-1)
    )
