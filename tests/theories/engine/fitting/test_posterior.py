"""What a posterior refuses, and what its diagnostics count."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.engine.fitting.posterior import diagnose, fit
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
