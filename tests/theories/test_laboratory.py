from dataclasses import replace

import numpy as np
import pytest

from lakatos.experiments.domains import DOMAINS
from lakatos.experiments.task import Trials
from lakatos.theories.errors import TheoryError
from lakatos.theories.evaluate import evaluate
from lakatos.theories.families import FAMILIES
from lakatos.theories.grammar import composition_of
from lakatos.theories.laboratory import FittedCompositions, Laboratory
from lakatos.theories.prior import Prior
from lakatos.theories.sandbox.client import Sandbox
from lakatos.theories.score import learn_population, log_predictive, proportion_error
from lakatos.theories.theory import read_program

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
    with Laboratory(domain) as laboratory:
        people = laboratory.simulate(theories, stimuli, 8, np.random.default_rng(1), n_draws=32)
        found = laboratory.scores_of_simulated_people(
            theories, 32, stimuli, np.random.default_rng(1), n_people=8
        )
        for scorer, theory in enumerate(theories):
            for true, evidence in enumerate(laboratory.evidence(theory, people, 32)):
                wanted = log_predictive(evidence).log_predictive
                np.testing.assert_allclose(found[true, :, scorer], wanted, rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_people_are_learned_from_all_answers_and_each_experiment_is_predicted_from_the_others(name):
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theory = read_program(family.program(seeds[0]))
    stimuli = [domain.candidates(space, np.random.default_rng(number), 20) for number in range(2)]
    few = theory.with_people(
        {"lapse": Prior("normal", 0.0, 1.0, 0.1, 0.02), "rate": Prior("normal", 0.0, 1.0, 0.3, 0.1)}
    )
    with Laboratory(domain) as laboratory:
        trials = [
            replace(
                laboratory.simulate([few], item, 32, np.random.default_rng(number))[0],
                experiment=str(number),
            )
            for number, item in enumerate(stimuli)
        ]
        (people,) = laboratory.people_of([theory], [{}], trials)
        (again,) = laboratory.people_of([theory], [people], trials)
        fitted = theory.with_people(people)
        (scored,) = laboratory.scores_of([fitted], trials, 256)
        wide, narrow = (
            sum(log_predictive(item).mean for item in laboratory.evidence(own, trials, 256))
            for own in (theory, fitted)
        )
    assert fitted.digest == theory.digest
    assert narrow > wide
    left_out = sum(item.left_out.mean for item in scored)
    assert (
        wide < left_out < narrow + 0.01
    )  # what others teach helps, and no more than what the answers teach
    for key, prior in people.items():  # a later fit goes on from an earlier one, and stays near it
        assert again[key].center == pytest.approx(prior.center, abs=0.5 * prior.spread)


@pytest.mark.parametrize("pooled", [False, True])
def test_a_search_predicts_each_experiment_from_the_others_where_there_are_three(pooled):
    """The third experiment's people do the contrary, which a fit to all of them hides."""
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    _, composition = family.seeds["tallying"]
    space = {"validities": [0.8, 0.7, 0.6], "levels": [0, 1]}
    stimuli = domain.candidates(space, np.random.default_rng(0), 20)
    lead = np.sign((stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0]).sum(axis=-1))
    trials = []
    for number, lean in enumerate((0.4, 0.4, -0.1)):
        chance = np.tile(0.5 + lean * lead, 12)
        response = (np.random.default_rng(number).random(len(chance)) < chance).astype(int)
        people, rows = np.indices((12, len(lead))).reshape(2, -1)
        own = Trials(str(number), stimuli, people, rows, response, np.ones(len(rows), dtype=int))
        trials.append(pooled_of(own) if pooled else own)
    with Laboratory(domain, n_workers=1) as laboratory:
        fits = FittedCompositions(laboratory, family.grammar, trials, 256)
        (three,) = fits.evaluate([(composition, None)])
        (two,) = laboratory.evaluate(family.grammar, [(composition, None)], trials[1:])
        (wanted,) = laboratory.scores_of([three.theory], trials, 256)
        assert fits.validate([composition]) == [three.left_out]
    for own, other in zip(three.scores, wanted, strict=True):
        np.testing.assert_allclose(own.log_predictive, other.left_out.log_predictive)
    assert three.scores == three.left_out
    assert min(item.mean for item in three.scores) < min(item.mean for item in two.scores) - 0.02
    errors = [proportion_error(own.mean, item)[0] for own, item in zip(wanted, trials, strict=True)]
    assert three.error == pytest.approx(np.mean(errors), abs=1e-3)


def pooled_of(trials):
    """The same answers, of which nobody knows whose they are."""
    trial, response = np.indices((len(trials.stimuli), 2)).reshape(2, -1)
    counts = trials.counts.sum(axis=0).ravel()
    zeros = np.zeros(len(trial), dtype=int)
    return replace(
        trials,
        participant=zeros,
        trial=trial,
        response=response,
        count=counts,
        pooled=True,
        n_people=12,
    )


def test_likelihoods_alone_give_the_same_scores_and_keep_what_counts_need():
    domain, family = DOMAINS["multiattribute"], FAMILIES["multiattribute"]
    theory = read_program(family.program("tallying"))
    stimuli = domain.candidates(
        {"validities": [0.8, 0.7, 0.6], "levels": [0, 1, 2]}, np.random.default_rng(0), 8
    )
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
        np.testing.assert_array_equal(
            log_predictive(own).log_predictive, log_predictive(other).log_predictive
        )
    np.testing.assert_array_equal(learn_population(light), learn_population(whole))


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compositions_that_share_a_process_are_scored_as_in_one_of_their_own(name):
    """One that cannot be run ends alone; those after it get another process."""
    seeds, space = CASES[name]
    domain, family = DOMAINS[name], FAMILIES[name]
    theories = [read_program(family.program(seed)) for seed in seeds]
    compositions = [composition_of(theory.composition, {}) for theory in theories]
    with Laboratory(domain, 1) as laboratory, Sandbox() as sandbox:
        trials = [
            replace(
                laboratory.simulate(theories[:1], item, 8, np.random.default_rng(number))[0],
                experiment=str(number),
            )
            for number, item in enumerate(
                domain.candidates(space, np.random.default_rng(number), 12) for number in range(2)
            )
        ]
        broken = replace(
            family.grammar,
            mechanisms=tuple(
                replace(item, code="raise ValueError") for item in family.grammar.mechanisms
            ),
        )
        (failed,) = laboratory.evaluate(broken, [(compositions[0], None)], trials, n_draws=64)
        shared = laboratory.evaluate(
            family.grammar, [(item, None) for item in compositions], trials, n_draws=64
        )
        own = [
            evaluate(family.grammar, item, trials, domain, sandbox, n_draws=64)
            for item in compositions
        ]
    assert isinstance(failed, TheoryError)
    for one, other in zip(shared, own, strict=True):
        assert one.theory == other.theory
        assert one.error == pytest.approx(other.error, rel=1e-9)
        for scores in ("scores", "left_out"):
            for first, second in zip(getattr(one, scores), getattr(other, scores), strict=True):
                np.testing.assert_allclose(
                    first.log_predictive, second.log_predictive, rtol=1e-9, atol=1e-9
                )
