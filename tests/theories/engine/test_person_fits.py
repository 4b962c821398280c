"""Fits person by person: they reach the maximum, and their criteria are the textbook's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from lakatos.domains import DOMAINS
from lakatos.experiments.errors import TrialsError
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.person_fits import fit_each_person
from lakatos.theories.findings.transfer import first_half
from lakatos.theories.language.family import find_family
from lakatos.theories.language.theory import read_program

DOMAIN = DOMAINS["intertemporal"]
N_PEOPLE, N_TRIALS = 6, 60


def simulated(seed: int = 5) -> Trials:
    """People who discount hyperbolically, each at a rate of their own."""
    rng = np.random.default_rng(seed)
    soon = rng.uniform(5, 50, N_TRIALS).round()
    late = (soon * rng.uniform(1.1, 3, N_TRIALS)).round()
    days = rng.integers(1, 120, N_TRIALS)
    arrays = {
        "amounts": np.stack([soon, late], axis=1),
        "delays_days": np.stack([np.zeros(N_TRIALS), days], axis=1),
    }
    rates = np.exp(rng.normal(np.log(0.02), 0.7, N_PEOPLE))
    lead = late / (1 + rates[:, None] * days) - soon
    chosen = rng.random((N_PEOPLE, N_TRIALS)) < 1 / (1 + np.exp(-0.5 * lead))
    return Trials(
        "1",
        Stimuli(arrays),
        np.repeat(np.arange(N_PEOPLE), N_TRIALS),
        np.tile(np.arange(N_TRIALS), N_PEOPLE),
        chosen.ravel().astype(np.int64),
        np.ones(N_PEOPLE * N_TRIALS, dtype=np.int64),
        n_people=N_PEOPLE,
    )


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    with Laboratory(DOMAIN, 1) as opened:
        yield opened


def test_each_person_gets_the_most_likely_values(laboratory: Laboratory) -> None:
    trials, theory = simulated(), read_program(find_family(DOMAIN).program("hyperbolic"))
    found = fit_each_person(theory, [trials], laboratory)
    names = list(theory.priors)
    bounds = [(theory.priors[name].low, theory.priors[name].high) for name in names]

    def nats(view, values):
        points = {name: np.array([value]) for name, value in zip(names, values, strict=True)}
        return view.log_likelihood(points, [trials])[0]

    def polish(view):
        best = []
        for person in range(N_PEOPLE):
            start = [found.parameters[name][person] for name in names]
            fit = minimize(
                lambda values, who=person: (
                    -nats(view, np.clip(values, *zip(*bounds, strict=True)))[who]
                ),
                start,
                method="Nelder-Mead",
                options={"xatol": 1e-4, "fatol": 1e-5, "maxiter": 300},
            )
            best.append(-fit.fun)
        return np.array(best)

    best = laboratory.look(theory, [trials.stimuli], polish)
    assert (found.log_likelihood <= best + 1e-9).all()
    assert (best - found.log_likelihood).max() < 0.02
    expected = len(names) * np.log(N_TRIALS) - 2 * found.log_likelihood
    np.testing.assert_allclose(found.bic, expected)
    np.testing.assert_allclose(found.per_choice, np.exp(found.log_likelihood / N_TRIALS))


def test_the_second_half_is_scored_at_values_that_the_first_half_taught(
    laboratory: Laboratory,
) -> None:
    trials, theory = simulated(), read_program(find_family(DOMAIN).program("hyperbolic"))
    half = first_half(trials)
    found = fit_each_person(theory, [half], laboratory, later=[trials])
    assert (found.n_choices == N_TRIALS // 2).all()
    assert (found.n_later == N_TRIALS - N_TRIALS // 2).all()

    def again(view):
        return view.log_likelihood(dict(found.parameters), [trials])

    whole = np.diagonal(laboratory.look(theory, [trials.stimuli], again))
    np.testing.assert_allclose(found.later_log_likelihood, whole - found.log_likelihood, atol=1e-9)
    assert found.later_per_choice.mean() > 0.55
    assert (found.later_per_choice < 1).all()


def test_counts_have_no_people(laboratory: Laboratory) -> None:
    theory = read_program(find_family(DOMAIN).program("hyperbolic"))
    with pytest.raises(TrialsError, match="do not say who gave them"):
        fit_each_person(theory, [simulated().in_counts()], laboratory)
