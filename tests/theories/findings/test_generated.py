"""Cognitive models as GeCCo writes them, as theories that run in the sandbox."""

import numpy as np
import pytest

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Trials
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheoryError, TheorySourceError
from lakatos.theories.findings.exchange.gecco import import_gecco
from lakatos.theories.language.theory import read_program

DOMAIN = MultiattributeDomain()
SPACE = DOMAIN.space({"validities": [0.9, 0.8, 0.6], "levels": [0, 1]})
ARGUMENTS = ", ".join(f"{side}_feature{place}" for side in "AB" for place in (1, 2, 3))
ALONE = f'''
def cognitive_model1(decisions, {ARGUMENTS}, parameters):
    """Weighted differences with a "side" bias: nothing is learned.

    Parameters:
    - beta: [0,10] inverse temperature
    - bias: [-1, 1] towards B.
    """
    beta, bias = parameters
    nll = 0.0
    for t in range(len(decisions)):
        lead = 0.9 * (B_feature1[t] - A_feature1[t]) + 0.8 * (B_feature2[t] - A_feature2[t])
        lead = lead + 0.6 * (B_feature3[t] - A_feature3[t]) + bias
        p = 1.0 / (1.0 + np.exp(-beta * lead))
        nll -= np.log(p if decisions[t] == 1 else 1.0 - p)
    return nll


def cognitive_model2(decisions, {ARGUMENTS}, parameters):
    """Stickiness: people repeat their last choice.

    - stick: [0, 3] log odds for the last choice
    """
    (stick,) = parameters
    nll, last = 0.0, 0.0
    for t in range(len(decisions)):
        p = 1.0 / (1.0 + np.exp(-stick * last))
        nll -= np.log(p if decisions[t] == 1 else 1.0 - p)
        last = 1.0 if decisions[t] == 1 else -1.0
    return nll
'''


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


def test_probabilities_are_read_off_the_likelihood(sandbox):
    theory = read_program(import_gecco(ALONE, sandbox))
    assert not theory.learns
    assert theory.name == "Weighted differences with a 'side' bias - nothing is learned"
    assert (theory.priors["bias"].low, theory.priors["beta"].high) == (-1, 10)
    assert theory.priors["bias"].meaning == "towards B"
    drawn = {"beta": np.array([0.5, 2.0]), "bias": np.array([0.0, 0.3])}
    (p,) = sandbox.probabilities(theory.program.source, drawn, [SPACE.arrays])
    lead = (SPACE["ratings"][:, 1] - SPACE["ratings"][:, 0]) @ np.array([0.9, 0.8, 0.6])
    for draw in range(2):
        z = drawn["beta"][draw] * (lead + drawn["bias"][draw])
        np.testing.assert_allclose(p[draw, :, 1], 1 / (1 + np.exp(-z)), rtol=1e-9)


def test_a_model_that_remembers_is_walked_through_answers(sandbox):
    program = import_gecco(ALONE, sandbox, function="cognitive_model2", name="Sticky")
    theory = read_program(program)
    assert theory.learns
    assert theory.name == "Sticky"
    response = np.array([1, 1, 0])
    n = len(response)
    trials = Trials("x", SPACE, np.zeros(n, int), np.arange(n), response, np.ones(n, int))
    with sandbox.open_session(program.source, []) as session:
        found = follow(session, DOMAIN, {"stick": np.array([1.5])}, trials).log_likelihood
    again = 1 / (1 + np.exp(-1.5))
    expected = np.log(0.5) + np.log(again) + np.log(1 - again)
    np.testing.assert_allclose(found, [[expected]], rtol=1e-9)


@pytest.mark.slow
def test_such_a_theory_passes_all_checks(sandbox):
    assert load_theory(import_gecco(ALONE, sandbox), DOMAIN, sandbox).checks


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("- beta: [0,10]", "- beta: from 0"), "no range for beta"),
        (("(decisions, ", "(action_1, "), "is about another task"),
        (("A_feature2", "state"), "'state' is no feature"),
        (("beta, bias = parameters", "beta = parameters[0]"), "does not unpack"),
        (("np.log(p", "missing(p"), "the model does not run"),
        (("def cognitive_model1", "def cognitive_model1("), "is no Python"),
    ],
)
def test_what_is_not_of_the_form_is_refused(sandbox, change, words):
    with pytest.raises(TheorySourceError, match=words):
        import_gecco(ALONE.replace(*change, 1), sandbox, function="cognitive_model1")


def test_code_that_reaches_out_is_refused_and_never_run_here(sandbox, tmp_path):
    place = tmp_path / "touched"
    sly = ALONE.replace("nll = 0.0\n", f"nll = 0.0\n    open({str(place)!r}, 'w')\n", 1)
    with pytest.raises(TheoryError):
        import_gecco(sly, sandbox)
    assert not place.exists()
