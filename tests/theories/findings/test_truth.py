"""Theories are held against what the hidden rule's people did, answers at random and all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.findings.verdicts.truth import ComparedProportions
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import LAPSE, Theory, TheoryProgram, read_program

RANDOM = 0.3
CASES = {
    "multiattribute": ("weighted_additive", {"validities": [0.9, 0.7, 0.6], "levels": [0, 1, 2]}),
    "learning": ("rescorla_wagner", {"task": "reversal", "n_steps": 30}),
}


def alike(domain: str, *, lapse: float | None) -> Theory:
    """A published rule whose people are all the same, with a lapse rate, or with none declared."""
    slots = dict(FAMILIES[domain].seeds[CASES[domain][0]][1].slots)
    grammar = FAMILIES[domain].grammar
    slots["lapse"] = () if lapse is None else (grammar.names["lapse"][0],)
    source = grammar.write(Composition(slots))
    theory = read_program(TheoryProgram(source, "test"))
    priors = {}
    for name, prior in theory.priors.items():
        center = float(prior.quantile(np.array([0.5]))[0]) if name != LAPSE else lapse
        priors[name] = prior.narrowed(float(prior.latent(center)), 1e-9)
    return replace(theory, priors=priors)


@pytest.mark.parametrize("domain", CASES)
@pytest.mark.parametrize("declared", [False, True], ids=["a rule without lapses", "with lapses"])
def test_answers_at_random_are_part_of_what_the_hidden_rules_people_do(
    domain: str, declared: bool
) -> None:
    """A theory that learned the share of random answers is right, and one that knows of none is not."""
    hidden = alike(domain, lapse=0.0 if declared else None)
    theories = {
        "right": alike(domain, lapse=RANDOM),
        "careful": alike(domain, lapse=0.0),
        "certain": alike(domain, lapse=None),
    }
    stimuli = DOMAINS[domain].candidates(CASES[domain][1], np.random.default_rng(0), 30)
    with Laboratory(DOMAINS[domain], n_workers=1) as laboratory:
        compared = ComparedProportions(laboratory, [stimuli], hidden, RANDOM)
        whole = compared.errors(theories, lapse=True)
        pure = compared.errors(theories, lapse=False)
    assert whole["right"] == pytest.approx(0.0, abs=1e-6)
    assert whole["careful"] > 1e-3
    assert whole["certain"] > 1e-3
    assert pure["right"] == pure["careful"] == pytest.approx(0.0, abs=1e-6)
    assert pure["certain"] == whole["certain"]  # it has no lapses that could be left out


def test_simulated_people_answer_at_random_as_often_as_is_asked() -> None:
    domain = DOMAINS["multiattribute"]
    always = alike("multiattribute", lapse=0.0)
    stimuli = domain.candidates(CASES["multiattribute"][1], np.random.default_rng(0), 30)
    with Laboratory(domain, n_workers=1) as laboratory:
        stated = laboratory.proportions(always, stimuli, 4)
        mixed = laboratory.proportions(always, stimuli, 4, random_choices=RANDOM)
        np.testing.assert_allclose(mixed, 0.7 * stated + 0.15)
        rule, random = laboratory.simulate(
            [always, always], stimuli, 256, np.random.default_rng(1), random_choices=(0.0, 1.0)
        )
    assert np.abs(rule.proportions - stated).max() < 5 * 0.5 / 16
    assert np.abs(random.proportions - 0.5).max() < 5 * 0.5 / 16
