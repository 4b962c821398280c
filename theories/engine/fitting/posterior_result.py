"""A posterior as a value: its draws, whether they can be believed, and how they are kept."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Trials
from lakatos.theories.errors import PosteriorError
from lakatos.traces.home import import_alone

with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)  # once a day it announces its next release
    az: Any = import_alone("arviz")  # its types cannot be checked

Array = NDArray[np.float64]
Method = Literal["NUTS", "adaptive Metropolis", "none"]
RESERVED = frozenset(
    (
        "chain",
        "draw",
        "unit",
        "parameter",
        "population_center",
        "population_spread",
        "population_median",
    )
)
"""Names that a parameter cannot have in an InferenceData; it gets an underscore."""
STATISTIC_TYPES: Mapping[str, type] = {"diverging": bool, "n_steps": int, "depth": int}
"""Statistics of the sampler that are no decimals; ArviZ picks draws by ``diverging``."""
R_HAT, LEAST_ESS, PARETO_K = 1.01, 400, 0.7
"""Limits beyond which a posterior, or a leave-one-out estimate, is not to be trusted. R-hat is for four chains: chains
that agree and hold so many independent draws between them have about 1 + n_chains / 800, and twice that is allowed."""

UNINFORMED = 0.9
"""Standard deviation of a population's center (1 before the responses) from which on they hardly inform it."""


@dataclass(frozen=True)
class ChainDiagnostics:
    """Whether the chains agree and moved enough; see `problems`."""

    r_hat: float
    """Largest rank-normalised split R-hat of any quantity; NaN for a theory without parameters."""
    ess_bulk: float
    """Smallest effective sample size of any quantity, in the middle of its distribution."""
    ess_tail: float
    """The same in the tails."""
    n_divergences: int
    n_chains: int
    n_draws: int
    """Draws of each chain, before any thinning."""
    worst: str = ""
    """The quantity with the fewest effective draws."""
    uninformed: tuple[str, ...] = ()
    """Parameters whose population center is nearly as uncertain as before the responses."""

    @property
    def least_ess(self) -> float:
        """Smallest effective sample size, in the middle or in the tails."""
        return min(self.ess_bulk, self.ess_tail)

    @property
    def is_enough(self) -> bool:
        """Whether no quantity has an R-hat above 1.01 or fewer than 400 effective draws."""
        return self.r_hat <= R_HAT and self.least_ess >= LEAST_ESS

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems, a sentence each; empty when none was found."""
        found = []
        of = f" (worst: {self.worst})" if self.worst else ""
        r_hat_allowed = max(R_HAT, 1 + self.n_chains / LEAST_ESS)
        if self.r_hat > r_hat_allowed:
            found.append(
                f"chains disagree: R-hat is {self.r_hat:.3f}, above {r_hat_allowed:g}{of}; intervals are not to be "
                "trusted, draw and tune more."
            )
        if self.least_ess < LEAST_ESS:
            found.append(
                f"effective sample size is {self.least_ess:.0f}, below {LEAST_ESS}{of}; intervals "
                "may be too narrow, draw more."
            )
        if self.n_divergences:
            found.append(
                f"{self.n_divergences} transitions diverged; the posterior has corners that were cut."
            )
        if self.uninformed:
            found.append(
                f"these responses hardly inform {', '.join(self.uninformed)}: its uncertainty is nearly that of the "
                "declared prior, so do not interpret its estimate."
                if len(self.uninformed) == 1
                else f"these responses hardly inform {', '.join(self.uninformed)}: their uncertainty is nearly that of "
                "the declared priors, so do not interpret their estimates."
            )
        return tuple(found)


@dataclass(frozen=True)
class Posterior:
    """Draws of a theory's parameters given responses. Made by `fit` or `load_posterior`."""

    theory: str
    """Name of the theory."""
    digest: str
    """Address of its source."""
    method: Method
    reason: str
    """Reason for this method."""
    data: Any
    """An ArviZ InferenceData with the groups ``posterior``, ``sample_stats``, ``log_likelihood``, ``observed_data``,
    ``constant_data``, and ``posterior_predictive`` once checked. A *cell* is one unit's responses to one trial."""
    diagnostics: ChainDiagnostics
    answers: str
    """Digest of stimuli and responses: only posteriors of the same answers can be compared."""
    layers: tuple[str, ...]
    """Protection under which the sampler ran."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Wall time: ``prepare`` (tracing and compiling), ``sample``, ``evaluate`` (log-likelihoods)."""

    def values(self, name: str) -> Array:
        """Draws of one parameter, ``(n_chains, n_draws, n_units)``."""
        return np.asarray(self.data.posterior[stored_name(name)], dtype=np.float64)

    def save(self, path: str | Path) -> None:
        """Write a netCDF file that ArviZ opens, and `load_posterior`."""
        described = {
            name: getattr(self, name)
            for name in ("theory", "digest", "method", "reason", "answers", "layers")
        }
        text = json.dumps(
            {**described, "diagnostics": asdict(self.diagnostics), "seconds": dict(self.seconds)}
        )
        stored = self.data.copy()
        stored.posterior.attrs["lakatos"] = text
        stored.to_netcdf(str(path), engine="h5netcdf")


def load_posterior(path: str | Path) -> Posterior:
    """Read the posterior that `Posterior.save` wrote.

    Raises:
        PosteriorError: The file is none of these.
    """
    try:
        with az.rc_context({"data.load": "eager"}):
            data = az.from_netcdf(str(path), engine="h5netcdf")
        described = json.loads(data.posterior.attrs.pop("lakatos"))
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise PosteriorError(
            f"{path} holds no posterior that `Posterior.save` wrote: {error}."
        ) from None
    if "sample_stats" in data.groups():
        for name in STATISTIC_TYPES.keys() & set(data.sample_stats):
            data.sample_stats[name] = typed_statistic(name, data.sample_stats[name])
    uninformed = tuple(described["diagnostics"].pop("uninformed", ()))
    described["diagnostics"] = ChainDiagnostics(**described["diagnostics"], uninformed=uninformed)
    described["layers"] = tuple(described["layers"])
    return Posterior(data=data, **described)


def typed_statistic(name: str, table: Any) -> Any:
    """A statistic of the sampler in the type that ArviZ's plots expect of it; samplers hand over numbers only."""
    kind = STATISTIC_TYPES.get(name)
    return table if kind is None else table.astype(kind)


def stored_name(name: str) -> str:
    """Return a parameter's name in the InferenceData, where some names are those of dimensions."""
    return f"{name}_" if name in RESERVED else name


def digest_of(trials: Sequence[Trials]) -> str:
    """Digest of stimuli and responses."""
    text = json.dumps([item.to_json() for item in trials], sort_keys=True)
    return sha256(text.encode()).hexdigest()
