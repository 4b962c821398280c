"""Whether a fitted theory knows trials by heart where responses place it: its declared ranges may hide a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.checks.memorised import (
    UnexplainedPredictions,
    points_in_use,
    unexplained_predictions,
)
from lakatos.theories.engine.checks.tested_theory import TestedTheory
from lakatos.theories.engine.fitting.fit import fitting_draws
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.view import TheoryView
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.theory import Theory


def check_in_use(
    theory: Theory, domain: Domain, sandbox: Sandbox, trials: Sequence[Trials], stimuli: Stimuli
) -> None:
    """Refuse a theory that knows trials by heart where responses place it; arguments as of `unexplained_in_use`.

    Raises:
        TheoryProbabilityError: Its predictions there can only have been memorised.
    """
    found = unexplained_in_use(theory, domain, sandbox, trials, stimuli)
    if found is not None and found.by_heart:  # numbers of learners differ between processors
        raise TheoryProbabilityError(
            f"at the parameters that responses select, learners that saw some of its predictions for {found.n_trials} "
            "trials miss most of the others. The theory knows trials by heart; say what people do with any trial."
        )


def unexplained_in_use(
    theory: Theory, domain: Domain, sandbox: Sandbox, trials: Sequence[Trials], stimuli: Stimuli
) -> UnexplainedPredictions | None:
    """Measure how much learners miss of predictions at the parameters that responses select from a population.

    Args:
        theory: Theory with the population that ``trials`` taught.
        domain: Domain of the trials.
        sandbox: Sandbox in which it runs.
        trials: All open responses.
        stimuli: The study's own trials, on which predictions are measured.

    Returns:
        None where there are too few trials, or no parameters that responses could select.
    """
    if not theory.priors:
        return None
    population = theory.population(fitting_draws(theory, trials))
    people = [item for item in trials if not item.pooled]
    log_p = np.zeros((len(next(iter(population.values()))), 1))
    if people:
        with TheoryView(theory, domain, sandbox, [item.stimuli for item in people]) as view:
            log_p = view.log_likelihood(population, people)
    trial = TestedTheory(theory, domain, sandbox, lambda _: [], stimuli, seed=0)
    return unexplained_predictions(trial, points_in_use(population, log_p))
