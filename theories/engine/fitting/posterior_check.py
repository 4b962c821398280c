"""Whether the theory behind a posterior fits, and which of several predicts best.

References:
    Gelman, Meng & Stern (1996), Statistica Sinica 6, 733-807 (posterior predictive checks); Vehtari, Gelman & Gabry
    (2017), Statistics and Computing 27, 1413-1432 (PSIS-LOO); Yao, Vehtari, Simpson & Gelman (2018), Bayesian Analysis
    13(3), 917-1007 (stacking).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.fitting.posterior import (
    PosteriorInference,
)
from lakatos.theories.engine.fitting.posterior_result import (
    PARETO_K,
    Posterior,
    az,
    digest_of,
)
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import PosteriorError
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PredictiveCheck:
    """One property of the answers against the same property of replicated responses."""

    experiment: str
    name: str
    observed: float
    replicated: float
    """Mean over replications."""
    p_value: float
    """Share of replications at or above the observed value; near 0 or 1 the theory does not reproduce it."""


def posterior_predictive(
    posterior: Posterior,
    theory: Theory,
    trials: Sequence[Trials],
    sandbox: Sandbox,
    *,
    domain: Domain | None = None,
    n_replications: int = 200,
    seed: int = 0,
) -> tuple[Posterior, tuple[PredictiveCheck, ...]]:
    """Let the people of the posterior answer again, and compare.

    The properties are, for each experiment: the distance of choice counts per trial from what the theory expects
    (chi-square), the share of the last option, and how much that share differs between people and between trials.

    Args:
        posterior: As `theories.engine.fitting.posterior.fit` gave it for this theory and these trials.
        theory, trials, sandbox, domain: As then.
        n_replications: Draws that are used, evenly spaced.
        seed: Decides the replicated responses.

    Returns:
        The posterior with a group ``posterior_predictive``, and the checks.

    Raises:
        PosteriorError: The posterior is of another theory or other responses.
    """
    if posterior.digest != theory.digest or posterior.answers != digest_of(trials):
        raise PosteriorError(
            f"this posterior is of {posterior.theory!r} and its own answers; give the same again."
        )
    with PosteriorInference(
        theory, trials, sandbox, domain=domain, gradient_free=True
    ) as inference:
        values = _values_of(posterior, theory, len(inference.shared))
        some = np.unique(np.linspace(0, len(values) - 1, n_replications).astype(np.intp))
        replicated = inference.simulate(values[some], np.random.default_rng(seed))
    answered = [np.nonzero(item.counts.sum(axis=-1)) for item in trials]
    most = max(item.n_options for item in trials)
    table = np.zeros((len(some), sum(len(unit) for unit, _ in answered), most), dtype=np.int32)
    checks: list[PredictiveCheck] = []
    start = 0
    for place, (item, where) in enumerate(zip(trials, answered, strict=True)):
        counts = np.stack([row[place].counts for row in replicated])
        rows = slice(start, start := start + len(where[0]))
        table[:, rows, : item.n_options] = counts[:, where[0], where[1]]
        checks += _checks(item, counts)
    data = posterior.data.copy()
    group = xr.Dataset(
        {"answers": (("chain", "draw", "cell", "option"), table[None])},
        {"chain": [0], "draw": np.arange(len(some))},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a group that replaces one
        if "posterior_predictive" in data.groups():
            del data.posterior_predictive
        data.add_groups(posterior_predictive=group)
    return replace(posterior, data=data), tuple(checks)


def _checks(trials: Trials, counts: Array) -> list[PredictiveCheck]:
    """Properties of ``(n_replications, n_units, n_trials, n_options)`` answers against the observed ones."""
    expected = counts.sum(axis=1).mean(axis=0)

    def chi_square(own: Array) -> Array:
        return np.asarray(
            ((own.sum(axis=-3) - expected) ** 2 / np.maximum(expected, 0.5)).sum(axis=(-2, -1))
        )

    def share(own: Array, axes: tuple[int, ...]) -> Array:
        n_responses = own.sum(axis=(*axes, -1))
        with np.errstate(invalid="ignore"):
            return np.asarray(own[..., -1].sum(axis=tuple(axis + 1 for axis in axes)) / n_responses)

    properties: dict[str, Callable[[Array], Array]] = {
        "chi-square of choice counts per trial": chi_square,
        "share of the last option": lambda own: share(own, (-3, -2)),
        "standard deviation of that share between trials": lambda own: np.nanstd(
            share(own, (-3,)), axis=-1
        ),
    }
    if trials.n_participants > 1:
        properties["standard deviation of that share between people"] = lambda own: np.nanstd(
            share(own, (-2,)), axis=-1
        )
    found = []
    for name, of in properties.items():
        observed, replicated = float(of(trials.counts)), of(counts)
        higher = float(np.mean(replicated >= observed - 1e-12))
        found.append(
            PredictiveCheck(trials.experiment, name, observed, float(replicated.mean()), higher)
        )
    return found


def _values_of(posterior: Posterior, theory: Theory, n_units: int) -> Array:
    """``(n_draws, n_units, n_parameters)`` values of a posterior's draws."""
    sizes = posterior.data.posterior.sizes if theory.priors else posterior.data.log_likelihood.sizes
    n_draws = sizes["chain"] * sizes["draw"]
    columns = [posterior.values(name).reshape(n_draws, n_units) for name in theory.priors]
    return np.stack(columns, axis=-1) if columns else np.zeros((n_draws, n_units, 0))


@dataclass(frozen=True)
class RankedTheory:
    """One theory among several, by leave-one-out prediction of cells (one unit's responses to one trial)."""

    name: str
    elpd_loo: float
    """Expected log predictive density of a cell left out, summed over cells, in nats."""
    standard_error: float
    difference: float
    """Difference from the best theory; 0 for the best itself."""
    difference_error: float
    """Paired standard error of the difference, over cells."""
    n_effective: float
    """Effective number of parameters."""
    weight: float
    """Weight of this theory in the mixture that predicts best (stacking)."""
    n_unreliable: int
    """Cells with a Pareto k above 0.7, whose contribution cannot be trusted."""
    n_cells: int


def compare(posteriors: Mapping[str, Posterior]) -> tuple[RankedTheory, ...]:
    """Rank theories fitted to the same responses by PSIS-LOO, the best first, and weigh them by stacking.

    People's responses to other trials stay in when a cell is left out: this predicts new trials for the same
    people, not of new people.

    Raises:
        PosteriorError: There are fewer than two, or they are of different responses.
    """
    if len(posteriors) < 2:
        raise PosteriorError("comparing takes at least two posteriors.")
    if len({item.answers for item in posteriors.values()}) > 1:
        raise PosteriorError(
            f"the posteriors of {', '.join(posteriors)} are not all of the same answers; fit them to the same trials."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unreliable cells are counted below
        estimates = {
            # without parameters there are no draws that could depend on each other
            name: az.loo(item.data, pointwise=True, reff=1.0 if item.method == "none" else None)
            for name, item in posteriors.items()
        }
        table = az.compare(estimates, ic="loo", method="stacking")
    return tuple(
        RankedTheory(
            name=str(name),
            elpd_loo=float(row["elpd_loo"]),
            standard_error=float(row["se"]),
            difference=float(row["elpd_diff"]),
            difference_error=float(row["dse"]),
            n_effective=float(row["p_loo"]),
            weight=float(row["weight"]),
            n_unreliable=int((np.asarray(estimates[str(name)].pareto_k) > PARETO_K).sum()),
            n_cells=int(estimates[str(name)].n_data_points),
        )
        for name, row in table.iterrows()
    )
