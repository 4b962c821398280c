from dataclasses import replace

import numpy as np
import pytest

import theories.laboratory as laboratory_module
from experiments.domains import DOMAINS
from experiments.task import Trials
from theories.families import FAMILIES
from theories.laboratory import Laboratory
from theories.score import learn_population, log_predictive
from theories.theory import read_program

CASES = {
    "learning": (("rescorla_wagner", "win_stay_lose_shift"), {"task": "reversal", "n_steps": 20}),
    "multiattribute": (("take_the_best", "tallying"), {"validities": [0.8, 0.7], "levels": [0, 1]}),
}


@pytest.mark.parametrize("name", CASES)
def test_people_of_each_theory_are_scored_by_all_of_them_as_any_evidence_is(name):
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theories = [read_program(family.program(seed)) for seed in seeds]
    stimuli = domain.candidates(space, np.random.default_rng(0), 20)
    weights = [np.log(np.random.default_rng(number).dirichlet(np.ones(32))) for number in range(2)]
    with Laboratory(domain) as laboratory:
        people = laboratory.simulate(theories, stimuli, 8, np.random.default_rng(1), log_weights=weights)
        found = laboratory.scores_of_simulated_people(theories, weights, stimuli, np.random.default_rng(1), n_people=8)
        for scorer, theory in enumerate(theories):
            for true, evidence in enumerate(laboratory.evidence(theory, people, 32)):
                wanted = log_predictive(evidence, weights[scorer]).log_predictive
                np.testing.assert_allclose(found[true, :, scorer], wanted, rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_a_theory_is_asked_about_new_experiments_only_and_says_the_same(name, monkeypatch):
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theory = read_program(family.program(seeds[0]))
    stimuli = [domain.candidates(space, np.random.default_rng(number), 20) for number in range(3)]
    asked = []

    class Watched(laboratory_module.View):
        def evidence(self, parameters, trials):
            asked.append([item.experiment for item in trials])
            return super().evidence(parameters, trials)

    monkeypatch.setattr(laboratory_module, "View", Watched)
    with Laboratory(domain) as laboratory:
        trials = [
            replace(laboratory.simulate([theory], item, 8, np.random.default_rng(number))[0], experiment=str(number))
            for number, item in enumerate(stimuli)
        ]
        laboratory.evidence(theory, trials[:1], 32)
        laboratory.likelihoods_of([theory], trials[:2], 32)
        assert asked == [["0"], ["1"]]
        (grown,) = laboratory.likelihoods_of([theory], trials, 32)
    assert asked == [["0"], ["1"], ["2"]]
    with Laboratory(domain) as anew:
        (afresh,) = anew.likelihoods_of([theory], trials, 32)
    for own, other in zip(grown, afresh, strict=True):
        np.testing.assert_array_equal(own.log_likelihood, other.log_likelihood)
    np.testing.assert_array_equal(learn_population(grown), learn_population(afresh))


def test_likelihoods_alone_give_the_same_scores_and_keep_what_counts_need():
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    theory = read_program(family.program("tallying"))
    stimuli = domain.candidates({"validities": [0.8, 0.7, 0.6], "levels": [0, 1, 2]}, np.random.default_rng(0), 8)
    with Laboratory(domain) as laboratory:
        (single,) = laboratory.simulate([theory], stimuli, 8, np.random.default_rng(0))
        counts = np.stack([np.arange(8), 8 - np.arange(8)], axis=1)
        pooled = Trials(
            "pooled",
            stimuli,
            np.zeros(16, dtype=int),
            np.repeat(np.arange(8), 2),
            np.tile([0, 1], 8),
            counts.ravel(),
            pooled=True,
            n_people=8,
        )
        whole = laboratory.evidence(theory, [single, pooled], 32)
    light = [item.condensed() for item in whole]
    assert light[0].n_bytes < whole[0].n_bytes + whole[0].log_likelihood.nbytes
    for own, other in zip(light, whole, strict=True):
        np.testing.assert_array_equal(log_predictive(own).log_predictive, log_predictive(other).log_predictive)
    np.testing.assert_array_equal(learn_population(light), learn_population(whole))
