"""Simulation-based calibration: whether the sampler of posteriors finds parameters that were drawn from the prior.

References:
    Talts, Betancourt, Simpson, Vehtari & Gelman (2018), arXiv:1804.06788, and Modrak, Moon, Kim, Burkner, Huurre,
    Faltejskova, Gelman & Vehtari (2025), Bayesian Analysis 20(2), 461-488 (simulation-based calibration); Saeilynoja,
    Burkner & Vehtari (2022), Statistics and Computing 32, 32 (test by the distribution function).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import binom, chi2

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.fitting.posterior import (
    N_NUTS_CHAINS,
    SWEEPS,
    LatentDraws,
    PosteriorInference,
    diagnose,
)
from lakatos.theories.engine.fitting.posterior_result import Method
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.tracer import TracerSandbox
from lakatos.theories.errors import PosteriorError
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
N_NULL = 2000
"""Simulated sets of uniform ranks, for the distribution of a test's statistic."""


@dataclass(frozen=True)
class RankUniformity:
    """Whether ranks are uniform, as they are if the sampler is right."""

    chi_square: float
    """P value of the chi-square test over bins."""
    distribution: float
    """P value of the test by the empirical distribution function, exact up to its simulation."""


@dataclass(frozen=True)
class CalibrationCheck:
    """Ranks of true values among posterior draws, over simulated data sets."""

    theory: str
    method: Method
    reason: str
    ranks: Mapping[str, NDArray[np.int64]]
    """``(n_simulations,)`` for each quantity, in 0..n_ranks - 1."""
    n_ranks: int
    tests: Mapping[str, RankUniformity]
    n_divergences: int
    n_effective: Array
    """``(n_simulations,)`` least effective draws of any quantity. Ranks among fewer than ``n_ranks - 1`` are no test of
    a posterior: the truth is outside of draws that depend on one another more often than outside of the posterior."""
    r_hat: Array
    """``(n_simulations,)`` largest of any quantity."""

    @property
    def n_too_short(self) -> int:
        """Data sets whose chains gave fewer independent draws than there are ranks."""
        return int((self.n_effective < self.n_ranks - 1).sum())

    @property
    def p_value(self) -> float:
        """Smallest p value of any quantity by the distribution function, times their number (Bonferroni), at most 1."""
        return min(1.0, len(self.tests) * min(test.distribution for test in self.tests.values()))


def simulation_based_calibration(
    theory: Theory,
    trials: Sequence[Trials],
    sandbox: Sandbox,
    *,
    tracer: TracerSandbox | None = None,
    domain: Domain | None = None,
    n_simulations: int = 100,
    n_ranks: int = 64,
    draws: int = 250,
    tune: int = 500,
    chains: int | None = None,
    seed: int = 0,
    gradient_free: bool = False,
    sweeps: int = SWEEPS,
) -> CalibrationCheck:
    """Simulate parameters and answers from the model, infer the parameters, and see where the truth lies.

    If the inference is right, the truth's rank among independent posterior draws is uniform. Draws are thinned evenly
    to ``n_ranks - 1``. The quantities are the population's centers and spreads, the first unit's latent values, and the
    log-likelihood of all answers, which also notices a posterior that ignores them.

    Args:
        theory: Is simulated and fitted.
        trials: Say who was asked what, and how often; their answers are not used.
        sandbox, tracer, domain, draws, tune, chains, gradient_free, sweeps: As in `fitting.posterior.fit`.
        n_simulations: Data sets.
        n_ranks: Possible ranks.
        seed: Decides everything that is simulated.
    """
    if draws * (chains or N_NUTS_CHAINS) < n_ranks - 1:
        raise PosteriorError(
            f"{chains or 'the usual'} chains of {draws} draws cannot give {n_ranks} ranks; draw more."
        )
    found: dict[str, list[int]] = {}
    divergences, diagnosed = 0, []
    with PosteriorInference(
        theory, trials, sandbox, tracer=tracer, domain=domain, gradient_free=gradient_free
    ) as inference:
        for number in range(n_simulations):
            rng = np.random.default_rng([seed, number])
            truth = _SimulatedTruth.drawn(inference, rng)
            (answers,) = inference.simulate(inference.parameters(truth.z[None]), rng)
            latent = inference.sample(
                answers, draws=draws, tune=tune, chains=chains, seed=number, sweeps=sweeps
            )
            divergences += int(np.sum(latent.statistics.get("diverging", np.zeros(1)) != 0))
            drawn_of_all = {
                name: (("chain", "draw", *axes), table)
                for name, table, axes in (
                    ("z", latent.z, ("unit", "own")),
                    ("center", latent.center, ("of",)),
                    ("spread", latent.spread, ("of",)),
                )
                if table.size
            }
            diagnosed.append(diagnose(xr.Dataset(drawn_of_all), {}))
            for name, own, drawn in truth.beside(inference, latent, answers, n_ranks - 1):
                # A rule of steps has many ties; they count by chance, not as below.
                ties = int((drawn == own).sum())
                rank = int((drawn < own).sum() + rng.integers(ties + 1))
                found.setdefault(name, []).append(rank)
        method, reason = inference.method, inference.reason
    ranks = {name: np.array(own) for name, own in found.items()}
    tests = {name: uniformity(own, n_ranks) for name, own in ranks.items()}
    return CalibrationCheck(
        theory.name,
        method,
        reason,
        ranks,
        n_ranks,
        tests,
        divergences,
        n_effective=np.array([min(item.ess_bulk, item.ess_tail) for item in diagnosed]),
        r_hat=np.array([item.r_hat for item in diagnosed]),
    )


@dataclass(frozen=True)
class _SimulatedTruth:
    """Parameters that were simulated from the model."""

    center: Array
    """``(n_parameters,)`` of the population; likewise ``spread``."""
    spread: Array
    z: Array
    """``(n_units, n_parameters)``."""
    has_population: bool

    @classmethod
    def drawn(cls, inference: PosteriorInference, rng: np.random.Generator) -> _SimulatedTruth:
        """Draw a population and its units from the prior."""
        ruled, n = ~inference.shared, len(inference.names)
        has_population = bool(ruled.any())
        center = rng.standard_normal(n) * has_population
        spread = np.abs(rng.standard_normal(n)) if has_population else np.ones(n)
        z = rng.standard_normal((len(ruled), n))
        z[ruled] = center + spread * z[ruled]
        return cls(center, spread, z, has_population)

    def beside(
        self, inference: PosteriorInference, latent: LatentDraws, answers: Any, n_kept: int
    ) -> Iterator[tuple[str, Any, Array]]:
        """Each quantity's name, its truth, and ``n_kept`` evenly spaced draws of it."""
        flat = latent.z.reshape(-1, *self.z.shape)
        some = np.linspace(0, len(flat) - 1, n_kept).astype(np.intp)
        for j, name in enumerate(inference.names):
            yield f"{name} of the first", self.z[0, j], flat[some, 0, j]
        for j, name in enumerate(inference.names if self.has_population else ()):
            for kind, truth, drawn in (
                ("center", self.center, latent.center),
                ("spread", self.spread, latent.spread),
            ):
                yield f"{kind} of {name}", truth[j], drawn.reshape(len(flat), -1)[some, j]
        # The log-likelihood of all answers, at the truth and at each draw.
        own = inference.parameters(np.concatenate([self.z[None], flat[some]]))
        likelihood = inference.log_likelihood(own, answers).sum(axis=1)
        yield "log-likelihood", likelihood[0], likelihood[1:]


def uniformity(
    ranks: NDArray[np.int64], n_ranks: int, *, n_bins: int = 16, seed: int = 0
) -> RankUniformity:
    """Two tests of ``(n,)`` ranks in 0..n_ranks - 1: by bins, and by the most surprising point of their distribution.

    The second finds the place at which the number of ranks up to there is least probable under uniformity (two-sided,
    binomial), and compares that probability with those of simulated uniform ranks.
    """
    n = len(ranks)
    n_bins = max(2, min(n_bins, n_ranks, n // 5))
    edges = np.ceil(np.arange(1, n_bins + 1) * n_ranks / n_bins)
    expected = n * np.diff(np.concatenate([[0], edges])) / n_ranks
    observed = np.bincount(np.searchsorted(edges, ranks, side="right"), minlength=n_bins)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    simulated = np.random.default_rng(seed).integers(n_ranks, size=(N_NULL, n))
    places = np.arange(n_ranks - 1)
    below = np.stack([(simulated <= place).sum(axis=1) for place in places], axis=1)
    null, surprise = (
        _surprise(below, n, n_ranks),
        _surprise((ranks[:, None] <= places).sum(axis=0), n, n_ranks),
    )
    p_value = float((1 + (null <= surprise * (1 + 1e-9)).sum()) / (1 + N_NULL))
    return RankUniformity(float(chi2.sf(statistic, n_bins - 1)), p_value)


def _surprise(below: NDArray[np.int64], n: int, n_ranks: int) -> Array:
    """Smallest two-sided binomial tail probability of ``(..., n_ranks - 1)`` numbers of ranks up to each place."""
    expected = np.arange(1, n_ranks) / n_ranks
    numbers = np.arange(-1, n + 1)[:, None]
    lower = binom.cdf(numbers[1:], n, expected)
    upper = binom.sf(numbers[:-1], n, expected)
    tails = 2 * np.minimum(lower, upper)
    return np.asarray(tails[below, np.arange(n_ranks - 1)].min(axis=-1))
