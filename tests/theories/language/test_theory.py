"""Programs become theories: what is read from the text, and what the sandbox must prove."""

import numpy as np
import pytest

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Stimuli
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import (
    PriorError,
    TheoryError,
    TheoryProbabilityError,
    TheoryRaisedError,
    TheoryShapeError,
    TheorySourceError,
)
from lakatos.theories.language.theory import TheoryProgram, read_program

DOMAIN = MultiattributeDomain()
CLAIM = '"""Adding up: people add\nup the ratings."""\n'
PARAMETERS = (
    'PARAMETERS = {"sensitivity": {"prior": "log_uniform", "low": 0.1, "high": 20.0},'
    ' "lapse": {"prior": "uniform", "low": 0.0, "high": 0.4}}\n'
)
CHOOSE = """
def choose(parameters, trials, xp):
    evidence = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    p = 1 / (1 + xp.exp(-parameters["sensitivity"] * evidence))
    return (1 - parameters["lapse"]) * p + 0.5 * parameters["lapse"]
"""
GOOD = CLAIM + PARAMETERS + CHOOSE
TRIAL = {
    "ratings": np.array([[[1.0, 2.0], [3.0, 1.0]]]),
    "validities": np.array([[0.9, 0.6]]),
    "rating_max": np.array([5.0]),
}


def program(source: str) -> TheoryProgram:
    return TheoryProgram(source, "test")


def choose(body: str, parameters: str = PARAMETERS) -> TheoryProgram:
    return program(f"{CLAIM}{parameters}\ndef choose(parameters, trials, xp):\n    {body}\n")


class TestReadProgram:
    def test_reads_name_claim_and_parameters(self):
        theory = read_program(program(GOOD))
        assert (theory.name, theory.claim) == ("Adding up", "people add up the ratings.")
        assert list(theory.priors) == ["sensitivity", "lapse"]
        assert theory.composition is None

    def test_runs_nothing(self):
        assert read_program(program(GOOD + "\nraise SystemExit\n")).name == "Adding up"

    def test_equal_sources_are_one_theory_whoever_wrote_them(self):
        assert TheoryProgram(GOOD, "a").digest == TheoryProgram(GOOD, "b", ("0" * 64,)).digest

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            (CLAIM + "def choose(:", "does not parse at line 3"),
            ("\0", "does not parse"),
            ("(" * 5000, "does not parse"),
            (PARAMETERS + CHOOSE, "the source has no claim"),
            ('"""No colon."""\n' + PARAMETERS + CHOOSE, "the source has no claim"),
            ('"""Name:"""\n' + PARAMETERS + CHOOSE, "the source has no claim"),
            ('""": a claim"""\n' + PARAMETERS + CHOOSE, "the source has no claim"),
            (CLAIM + PARAMETERS, "defines no function `choose"),
            (CLAIM + CHOOSE, "declares no PARAMETERS; write `PARAMETERS = {}`"),
            (CLAIM + "PARAMETERS = [1]\n" + CHOOSE, "declares no PARAMETERS"),
            (CLAIM + "PARAMETERS = dict()\n" + CHOOSE, "PARAMETERS at line 3 is not a literal"),
            (GOOD + "COMPOSITION = 5\n", "COMPOSITION must name mechanisms by slot"),
            (
                GOOD + "COMPOSITION = {'weight': 'equal'}\n",
                "COMPOSITION must name mechanisms by slot",
            ),
            (GOOD + "COMPOSITION = {1: ['equal']}\n", "COMPOSITION must name mechanisms by slot"),
        ],
    )
    def test_refuses_what_lacks_a_part(self, source, message):
        with pytest.raises(TheorySourceError, match=message):
            read_program(program(source))

    def test_refuses_an_improper_prior_by_name(self):
        with pytest.raises(PriorError, match="'sensitivity': the prior is improper"):
            read_program(program(GOOD.replace("0.1", "90.0")))


class TestPopulation:
    def test_is_the_same_for_every_caller_and_another_for_another_theory(self):
        first, again = (read_program(program(GOOD)).population(16) for _ in range(2))
        other = read_program(program(GOOD + "\n")).population(16)
        np.testing.assert_array_equal(first["sensitivity"], again["sensitivity"])
        assert not np.array_equal(first["sensitivity"], other["sensitivity"])

    def test_without_lapses_differs_in_the_lapse_alone(self):
        theory = read_program(program(GOOD))
        with_lapse, without = theory.population(16), theory.population(16, lapse=False)
        assert with_lapse["lapse"].max() > 0.3
        np.testing.assert_array_equal(without["lapse"], 0)
        np.testing.assert_array_equal(with_lapse["sensitivity"], without["sensitivity"])

    def test_of_a_theory_without_parameters_has_the_length_asked_for(self):
        drawn = read_program(program(CLAIM + "PARAMETERS = {}\n" + CHOOSE)).population(8)
        assert [len(values) for values in drawn.values()] == [8]


class TestLoadTheory:
    def test_proves_what_it_says(self, sandbox):
        theory = load_theory(program(GOOD), DOMAIN, sandbox)
        assert theory.broadcasts
        proved = [check.split(":")[0] for check in theory.checks]
        assert proved == ["source", "determinism", "processes", "broadcasting", "order"]

    def test_runs_a_theory_that_does_not_broadcast_draw_by_draw(self, sandbox):
        body = "return [0.5 if parameters['lapse'] > 2 else 0.25 for _ in trials['rating_max']]"
        theory = load_theory(choose(body), DOMAIN, sandbox)
        assert not theory.broadcasts
        assert any("runs one draw at a time" in check for check in theory.checks)

    @pytest.mark.parametrize(
        ("body", "error", "message"),
        [
            (
                "return xp.full((1, len(trials['rating_max'])), 1.5)",
                TheoryProbabilityError,
                r"no probabilities; the first is \[-0.5  1.5\]",
            ),
            (
                "return xp.full((1, len(trials['rating_max'])), xp.nan)",
                TheoryProbabilityError,
                r"the first is \[nan nan\]",
            ),
            (
                "return xp.zeros((2, 3, 4, 5))",
                TheoryShapeError,
                r"array of shape \(2, 3, 4, 5\); it must be",
            ),
            (
                "return parameters['nothing'] + 0 * trials['rating_max']",
                TheoryRaisedError,
                "nothing",
            ),
            (
                "return 0.5 * parameters['lapse'] + 0.5 * xp.arange(len(trials['rating_max'])) / 100",
                TheoryProbabilityError,
                "depend on the order of the trials on probe 0 of the domain 'multiattribute'",
            ),
        ],
    )
    def test_refuses_what_is_no_theory(self, sandbox, body, error, message):
        with pytest.raises(error, match=message):
            load_theory(choose(body), DOMAIN, sandbox)

    def test_refuses_a_theory_that_answers_differently_when_asked_twice(self, sandbox):
        source = (
            CLAIM
            + PARAMETERS
            + (
                "calls = []\n"
                "def choose(parameters, trials, xp):\n"
                "    calls.append(1)\n"
                "    return 0.5 * parameters['lapse'] + 0 * trials['rating_max'] + len(calls) / 10000\n"
            )
        )
        with pytest.raises(TheoryError, match="keep nothing between calls"):
            load_theory(program(source), DOMAIN, sandbox)

    def test_every_refusal_is_a_theory_error(self, sandbox):
        with pytest.raises(TheoryError):
            load_theory(choose("return open('/etc/passwd').read()"), DOMAIN, sandbox)


def test_prediction_is_the_mean_over_the_declared_population():
    theory = read_program(program(GOOD))
    drawn = theory.population(64)
    with Laboratory(DOMAIN, 1) as laboratory:
        found = laboratory.proportions(theory, Stimuli(TRIAL), 64)
        pure = laboratory.proportions(theory, Stimuli(TRIAL), 64, lapse=False)
    p = 1 / (1 + np.exp(-drawn["sensitivity"] * 1.0))
    expected = np.mean((1 - drawn["lapse"]) * p + 0.5 * drawn["lapse"])
    np.testing.assert_allclose(found, [[1 - expected, expected]])
    assert pure[0, 1] == pytest.approx(p.mean())
