"""A theory on other people: as it came, rescaled, person by person."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

from lakatos.domains import DOMAINS
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.scoring.score import log_predictive, paired_difference
from lakatos.theories.findings.transfer import (
    first_half,
    person_by_person,
    rescale,
    rescaled,
    transfer,
)
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program

DOMAIN = DOMAINS["multiattribute"]
ADDING = '''"""Adding: people add up the ratings."""
PARAMETERS = {"strictness": {"prior": "log_uniform", "low": 0.5, "high": 8.0}}

def choose(parameters, trials, xp):
    lead = (trials["ratings"][:, 1] - trials["ratings"][:, 0]).sum(axis=-1)
    return 1 / (1 + xp.exp(-parameters["strictness"] * lead))
'''
LAST = '''"""Last: people choose the side that they chose last."""
PARAMETERS = {"habit": {"prior": "uniform", "low": 0.5, "high": 1.0}}

def start(parameters, trials, xp):
    return {"last": xp.zeros((1, 1)) + 0.5}

def choose(parameters, trials, xp, state):
    return 0.5 + (2 * parameters["habit"] - 1) * (state["last"] - 0.5)

def learn(parameters, trials, xp, state, response, feedback):
    return {"last": response[..., 1]}
'''


def theory_of(source) -> Theory:
    return read_program(TheoryProgram(source, "test"))


@pytest.fixture(scope="module")
def laboratory():
    with Laboratory(DOMAIN, 1) as made:
        yield made


@pytest.fixture(scope="module")
def weak() -> Trials:
    """People who add, far less strictly than the theory declares, and choose at random now and then."""
    rng = np.random.default_rng(4)
    stimuli = DOMAIN.candidates({"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}, rng, 30)
    lead = (stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0]).sum(axis=1)
    strictness = np.repeat([0.1, 0.8], 10)
    p = 0.9 / (1 + np.exp(-strictness[:, None] * lead)) + 0.05
    trial = np.array([rng.permutation(np.repeat(np.arange(30), 2)) for _ in strictness])
    response = (rng.random(trial.shape) < np.take_along_axis(p, trial, axis=1)).astype(int)
    person = np.repeat(np.arange(len(strictness)), 60)
    return Trials("e", stimuli, person, trial.ravel(), response.ravel(), np.ones(len(person)))


class TestRescale:
    def test_log_odds_are_multiplied_before_random_choices_come_in(self):
        p = np.array([[0.2, 0.8], [0.6, 0.4]])
        scaled = rescale(p, 0.5, 0.0)
        np.testing.assert_allclose(logit(scaled[:, 1]), 0.5 * logit(p[:, 1]))
        np.testing.assert_allclose(rescale(p, 0.5, 0.3), 0.7 * scaled + 0.15)

    def test_of_three_options_ratios_of_odds_are_kept(self):
        p = rescale(np.array([0.5, 0.25, 0.25]), 2.0, 0.0)
        np.testing.assert_allclose(p, [4 / 6, 1 / 6, 1 / 6])


def test_what_is_too_strict_here_is_mended_by_one_number(laboratory, weak):
    theory = theory_of(ADDING)
    evidence = laboratory.evidence(theory, [weak], 128)
    as_it_came, (mended,) = log_predictive(evidence[0]), rescaled(theory, evidence, laboratory)
    gain = paired_difference([mended], [as_it_came])
    assert gain.value > 4 * gain.standard_error
    assert mended.mean > -np.log(2)


@pytest.mark.slow
def test_a_theory_with_a_memory_is_rescaled_on_the_way(laboratory, weak):
    theory = theory_of(LAST)
    evidence = laboratory.evidence(theory, [weak], 64)
    (found,) = rescaled(theory, evidence, laboratory)
    # Nobody repeats the last side here, so that the best is to make it count for little.
    assert log_predictive(evidence[0]).mean < -np.log(2) - 0.02
    assert found.mean == pytest.approx(-np.log(2), abs=0.02)


class TestPersonByPerson:
    def test_first_halves_are_the_answers_given_first(self):
        stimuli = Stimuli({"x": np.arange(3.0)})
        trials = Trials(
            "e", stimuli, np.array([0, 1, 0, 1, 0, 1, 1]), np.array([0, 1, 2, 0, 1, 2, 1]),
            np.array([0, 1, 1, 0, 0, 1, 1]), np.ones(7),
        )  # fmt: skip
        half = first_half(trials)
        assert half.participant.tolist() == [0, 1, 1]
        assert half.trial.tolist() == [0, 1, 0]

    def test_it_is_bayes_rule_by_hand(self, laboratory, weak):
        theory = theory_of(ADDING)
        (found,) = person_by_person(theory, [weak], laboratory, 32)
        strictness = theory.population(32)["strictness"]
        lead = (weak.stimuli["ratings"][:, 1] - weak.stimuli["ratings"][:, 0]).sum(axis=1)
        p = 1 / (1 + np.exp(-strictness[:, None] * lead))
        own = np.flatnonzero(weak.participant == 3)
        chosen = np.where(weak.response[own] == 1, p[:, weak.trial[own]], 1 - p[:, weak.trial[own]])
        first, second = chosen[:, :30].prod(axis=1), chosen[:, 30:].prod(axis=1)
        expected = np.log((first * second).sum() / first.sum())
        assert found.log_predictive[3] == pytest.approx(expected)
        assert found.n_choices[3] == 30


@pytest.mark.slow
def test_everybody_is_scored_on_the_same_answers(laboratory, weak):
    published = {"adding": theory_of(ADDING.replace("Adding", "Sum")), "last": theory_of(LAST)}
    found = transfer(theory_of(ADDING), published, [weak], laboratory, n_draws=64)
    ways = {line.way: line for line in found.of("theory")}
    assert set(ways) == {"as it came", "rescaled", "relearned", "person by person"}
    sizes = {
        float(line.units[0].n_choices.sum())
        for role in ("published", "learner", "noise")
        for line in found.of(role)
    }
    assert sizes == {1200.0}
    assert found.of("published")[0].name == "Sum"
    behind = found.behind_textbook(ways["relearned"])
    assert behind.value == pytest.approx(0, abs=0.01)
    assert found.completeness(ways["as it came"]).value < found.completeness(ways["rescaled"]).value
    assert found.completeness(found.of("learner")[0]).value == pytest.approx(1)


def test_of_people_who_cannot_be_told_apart_it_says_so(laboratory, weak):
    pooled = Trials(
        "e", weak.stimuli, np.zeros_like(weak.participant), weak.trial, weak.response, weak.count, pooled=True
    )  # fmt: skip
    found = transfer(theory_of(ADDING), {}, [pooled], laboratory, n_draws=32)
    assert "participants cannot be distinguished" in found.left_out
    assert "person by person" not in {line.way for line in found.of("theory")}
