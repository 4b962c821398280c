"""A form of nine parameters is fitted to people who follow it as well as the true population explains them."""

import numpy as np
import pytest
from scipy.special import logsumexp

from benchmarks.theories.planted import PlantedAnswers, planted, truth_of
from lakatos.domains import DOMAINS, FAMILIES
from lakatos.theories.engine.fitting.fit import learn_people
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.theory import TheoryProgram, read_program

N_DRAWS = 4096


@pytest.mark.slow
@pytest.mark.parametrize(
    ("domain", "seed"), [("offers", 2), ("offers", 6), ("multiattribute", 1), ("risky", 6)]
)
def test_a_fit_does_not_stop_short_of_the_true_population(domain, seed):
    grammar, form, rng = (
        FAMILIES[domain].grammar,
        truth_of(domain, seed),
        np.random.default_rng(2000 + seed),
    )
    with Laboratory(DOMAINS[domain], n_workers=1) as laboratory, Sandbox() as sandbox:
        truth = planted(grammar, form, rng)
        trials = PlantedAnswers(domain, truth, laboratory, rng).trials
        n_choices = sum(item.n_responses for item in trials)
        theory = read_program(TheoryProgram(grammar.write(Composition(form.slots)), "test"))
        stimuli = [item.stimuli for item in trials]
        with TheoryView(theory, laboratory.domain, sandbox, stimuli) as view:

            def explained(people):
                population = theory.with_people(people).population(N_DRAWS)
                log_p = view.log_likelihood(population, trials)
                return float((logsumexp(log_p, axis=0) - np.log(N_DRAWS)).sum()) / n_choices

            fitted = explained(learn_people(view, trials))
            assert fitted > explained(truth.priors) - 0.0015
