"""What a posterior refuses, and what its diagnostics count."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.fitting.posterior import (
    PosteriorInference,
    answered_cells,
    diagnose,
    fit,
    has_own_trials,
)
from lakatos.theories.engine.fitting.posterior_result import LEAST_ESS, R_HAT, ChainDiagnostics
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import PosteriorError
from lakatos.theories.language.theory import TheoryProgram, read_program

LEAN = read_program(
    TheoryProgram(
        '"""Lean: people lean to one side."""\n'
        'PARAMETERS = {"lean": {"prior": "normal", "mean": 0.0, "sd": 1.0, "low": -4.0, "high": 4.0}}\n'
        "def choose(parameters, trials, xp):\n"
        '    return 1 / (1 + xp.exp(-parameters["lean"] - 0 * trials["x"]))\n',
        "test",
    )
)
TRIALS = Trials(
    "e", Stimuli({"x": np.zeros(1)}), participant=np.array([0, 0, 1]), trial=np.zeros(3, dtype=int),
    response=np.array([0, 1, 1]), count=np.array([4, 6, 10]),
)  # fmt: skip


@pytest.mark.parametrize(("draws", "tune", "chains"), [(1, 10, None), (10, -1, None), (10, 10, 1)])
def test_too_few_draws_or_chains_are_refused_with_what_to_use(
    sandbox: Sandbox, draws: int, tune: int, chains: int | None
) -> None:
    with pytest.raises(PosteriorError, match="are too few; use 1000 draws after 1000"):
        fit(LEAN, [TRIALS], sandbox, draws=draws, tune=tune, chains=chains, gradient_free=True)


@pytest.mark.parametrize(("chains", "n_chains"), [(2, 2), (3, 3)])
def test_there_are_as_many_chains_as_were_wanted(
    sandbox: Sandbox, chains: int, n_chains: int
) -> None:
    found = fit(
        LEAN, [TRIALS], sandbox, draws=4, tune=0, chains=chains, sweeps=1, gradient_free=True
    )
    assert found.diagnostics.n_chains == n_chains
    assert found.diagnostics.n_draws == 4


def chains(values: np.ndarray) -> xr.Dataset:
    return xr.Dataset({"lean": (("chain", "draw"), values)})


def test_divergent_steps_are_counted_where_the_sampler_reports_them() -> None:
    drawn = chains(np.random.default_rng(0).standard_normal((2, 50)))
    diverging = np.zeros((2, 50), dtype=bool)
    diverging[0, :3] = True
    assert diagnose(drawn, {"diverging": diverging}).n_divergences == 3
    assert diagnose(drawn, {"acceptance_rate": np.ones((2, 50))}).n_divergences == 0


def test_chains_that_disagree_are_told_from_chains_that_agree() -> None:
    drawn = np.random.default_rng(0).standard_normal((2, 200))
    agreeing = diagnose(chains(drawn), {})
    apart = diagnose(chains(drawn + np.array([[0.0], [5.0]])), {})
    assert agreeing.r_hat < 1.05 < 1.5 < apart.r_hat
    assert apart.ess_bulk < agreeing.ess_bulk
    assert (agreeing.n_chains, agreeing.n_draws) == (2, 200)


def test_of_three_draws_nothing_is_claimed() -> None:
    found = diagnose(chains(np.zeros((2, 3))), {})
    assert np.isnan([found.r_hat, found.ess_bulk, found.ess_tail]).all()


def test_the_worst_quantity_and_parameters_that_stay_uncertain_are_named() -> None:
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((2, 200)), axis=1)
    center = np.stack([rng.standard_normal((2, 200)), 0.2 * rng.standard_normal((2, 200))], axis=-1)
    found = diagnose(
        xr.Dataset(
            {
                "walk": (("chain", "draw", "unit"), walk[..., None]),
                "population_center": (("chain", "draw", "parameter"), center),
            },
            {"unit": ["e/0"], "parameter": ["vague", "sharp"]},
        ),
        {},
    )
    assert found.worst == "walk[e/0]"
    assert found.uninformed == ("vague",)
    assert "(worst: walk[e/0])" in found.problems[0]
    assert found.problems[-1].startswith("these responses hardly inform vague: its uncertainty")


def test_diagnostics_without_names_state_no_names() -> None:
    found = ChainDiagnostics(1.2, 90.0, 90.0, 0, 4, 500)
    assert [problem.count("worst") for problem in found.problems] == [0, 0]


@pytest.mark.slow
def test_without_a_number_draws_go_on_until_they_are_enough(sandbox: Sandbox) -> None:
    found = fit(LEAN, [_own(8, 1)], sandbox, gradient_free=True, seed=1)
    assert found.diagnostics.r_hat <= R_HAT
    assert min(found.diagnostics.ess_bulk, found.diagnostics.ess_tail) >= LEAST_ESS
    assert found.diagnostics.problems == ()


SLOPES = read_program(
    TheoryProgram(
        '"""Slopes: people follow x."""\n'
        'PARAMETERS = {"slope": {"prior": "log_uniform", "low": 0.1, "high": 10.0}}\n'
        "def choose(parameters, trials, xp):\n"
        '    return 1 / (1 + xp.exp(-parameters["slope"] * trials["x"]))\n',
        "test",
    )
)
ONE_BY_ONE = read_program(
    TheoryProgram(
        SLOPES.program.source.replace("    return", '    float(parameters["slope"])\n    return'),
        "test",
    )
)
AMONG_OTHERS = read_program(
    TheoryProgram(SLOPES.program.source.replace('trials["x"])', 'xp.cumsum(trials["x"]))'), "test")
)


def _own(n_people: int, n_trials: int) -> Trials:
    """Each person responds twice to trials that nobody else sees."""
    n_cells = n_people * n_trials
    rng = np.random.default_rng(3)
    return Trials(
        "e", Stimuli({"x": rng.standard_normal(n_cells)}),
        participant=np.repeat(np.arange(n_people), n_trials), trial=np.arange(n_cells),
        response=rng.integers(0, 2, n_cells), count=np.full(n_cells, 2),
    )  # fmt: skip


def test_trials_of_each_person_alone_are_those_that_half_of_all_cells_leave_out() -> None:
    assert has_own_trials(_own(2, 3))
    assert not has_own_trials(TRIALS)  # two people, one trial: both cells are answered
    unit, trial = answered_cells(_own(2, 3))
    assert (unit.tolist(), trial.tolist()) == ([0, 0, 0, 1, 1, 1], [0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("theory", [SLOPES, ONE_BY_ONE, AMONG_OTHERS])
def test_likelihoods_are_the_same_cell_by_cell_and_over_all_trials(
    sandbox: Sandbox, theory: object
) -> None:
    trials = _own(5, 4)
    z = np.random.default_rng(1).standard_normal((3, 5, 1))
    with PosteriorInference(theory, [trials], sandbox, gradient_free=True) as inference:
        # A theory that takes plain numbers only, or lets trials depend on one another, is run on all trials.
        assert inference._apart == [theory is SLOPES]
        found = inference.log_likelihood(inference.parameters(z), [trials])
        inference._apart = [False]
        everywhere = inference.log_likelihood(inference.parameters(z), [trials])
    np.testing.assert_allclose(found, everywhere, rtol=1e-12)
    if theory is SLOPES:
        slope = 0.1 * 100 ** norm.cdf(z[..., 0])
        x, chosen = trials.stimuli.arrays["x"], trials.response
        log_p = -2 * np.log1p(np.exp(np.where(chosen == 1, -1, 1) * slope[..., None] * x))
        own = np.stack(
            [log_p[:, person, 4 * person : 4 * person + 4] for person in range(5)], axis=1
        )
        np.testing.assert_allclose(found, own.sum(axis=-1), rtol=1e-9)


@pytest.mark.parametrize(
    ("r_hat", "bulk", "tail", "is_enough"),
    [
        (1.01, 400.0, 400.0, True), (1.011, 400.0, 400.0, False), (1.01, 399.0, 500.0, False),
        (1.01, 500.0, 399.0, False), (np.nan, np.nan, np.nan, False),
    ],
)  # fmt: skip
def test_draws_are_enough_by_r_hat_and_by_both_effective_sizes(
    r_hat: float, bulk: float, tail: float, is_enough: bool
) -> None:
    assert ChainDiagnostics(r_hat, bulk, tail, 0, 16, 500).is_enough is is_enough
