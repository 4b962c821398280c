"""A table that the declared ranges hide is found at the parameters that responses select."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.experiments.participants.simulated import as_trials
from lakatos.experiments.task import Trials
from lakatos.theories.engine.checks.check import check_theory
from lakatos.theories.engine.checks.exam import MEMORISED, _table
from lakatos.theories.engine.checks.in_use import check_in_use
from lakatos.theories.engine.checks.memorised import N_POINTS, points_in_use
from lakatos.theories.engine.fitting.fit import learn_people
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.prior import draw_population
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

DOMAIN = DOMAINS["multiattribute"]
SPACE = {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2, 3]}
STIMULI = DOMAIN.candidates(SPACE, np.random.default_rng(0), 200)
S = '"s": {"prior": "uniform", "low": 0.2, "high": 2.0}'
A = '"a": {"prior": "uniform", "low": 0.0, "high": 1.0}'
FAR = "1 / (1 + xp.exp(-xp.clip({}, -50, 50)))"


def gated(gate: str, *more: str) -> str:
    """A theory that follows a table where a gate is 1, and a rule where it is 0."""
    return f'''"""A rule: people follow it."""
PARAMETERS = {{{", ".join((S, *more))}}}


def choose(parameters, trials, xp):
    flat = xp.round(trials["ratings"].reshape(len(trials["ratings"]), -1))
    n = flat @ 4.0 ** xp.arange(flat.shape[-1])
    lead = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    rule = 1 / (1 + xp.exp(-parameters["s"] * lead))
    gate = {gate}
    return gate * (0.02 + 0.96 * (n * n % 997 / 997)) + (1 - gate) * rule
'''


GATES = {
    "a tenth of a range": gated(FAR.format('400 * (parameters["a"] - 0.9)'), A),
    "a hundredth of a range": gated(FAR.format('4000 * (parameters["a"] - 0.99)'), A),
    "a strip within a range": gated(FAR.format('2000 * (0.025 - abs(parameters["a"] - 0.63))'), A),
    "many strips": gated(FAR.format('40 * (xp.sin(300 * parameters["a"]) - 0.95)'), A),
    "a corner of two ranges": gated(
        FAR.format('400 * (parameters["a"] * parameters["b"] - 0.9)'), A, A.replace('"a"', '"b"')
    ),
}


def responses(source: str, sandbox) -> Trials:
    """Of 24 people who follow a theory, to 60 trials each."""
    truth, rng = read_program(TheoryProgram(source, "test")), np.random.default_rng(3)
    asked = STIMULI.take(np.arange(60))
    order = rng.permuted(np.tile(np.arange(60), (24, 1)), axis=1)
    people = draw_population(truth.priors, 24, rng)
    behaviour = behave(truth, DOMAIN, sandbox, people, asked, order, rng)
    return as_trials("1", asked, order, behaviour, 2)


def fitted(source: str, trials: Trials, sandbox) -> Theory:
    form = read_program(TheoryProgram(source, "test"))
    with TheoryView(form, DOMAIN, sandbox, [trials.stimuli]) as view:
        return form.with_people(learn_people(view, [trials]))


@pytest.fixture(scope="module")
def recited(sandbox) -> Trials:
    return responses(gated("1.0"), sandbox)


@pytest.mark.parametrize("name", GATES)
def test_a_table_behind_some_parameters_is_refused_where_responses_select_it(
    name, recited, sandbox
):
    report = check_theory(
        TheoryProgram(GATES[name], "test"), DOMAIN, sandbox, candidates=STIMULI, steps=[_table]
    )
    assert {item.name: item.passed for item in report.checks}[MEMORISED]
    theory = fitted(GATES[name], recited, sandbox)
    with pytest.raises(TheoryProbabilityError, match="at the parameters that responses select"):
        check_in_use(theory, DOMAIN, sandbox, [recited], STIMULI)


def test_the_same_theory_is_not_refused_where_responses_select_its_rule(sandbox):
    trials = responses(gated("0.0"), sandbox)
    theory = fitted(GATES["a tenth of a range"], trials, sandbox)
    check_in_use(theory, DOMAIN, sandbox, [trials], STIMULI)


@pytest.mark.parametrize("name", ["take_the_best", "toolbox", "weighted_additive"])
def test_published_theories_are_not_refused_whatever_people_follow(name, recited, sandbox):
    theory = fitted(FAMILIES["multiattribute"].program(name).source, recited, sandbox)
    check_in_use(theory, DOMAIN, sandbox, [recited], STIMULI)


def test_draws_stand_as_often_as_peoples_responses_select_them():
    population = {"a": np.arange(4.0)}
    log_p = np.log([[0.1, 0.2], [0.3, 0.2], [0.6, 0.6], [1e-9, 1e-9]]) - np.array([7.0, 900.0])
    found = points_in_use(population, log_p)["a"]
    assert len(found) == N_POINTS
    assert [(found == value).sum() for value in range(4)] == [5, 8, 19, 0]
