import numpy as np
import pytest

from experiments.domains import DOMAINS
from theories.families import FAMILIES
from theories.laboratory import Laboratory
from theories.score import log_predictive
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
