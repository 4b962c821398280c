"""Priors of a theory's parameters: the population of people that the theory declares.

Every prior is proper and bounded. A population is drawn by a scrambled Sobol sequence pushed through the inverse
distribution functions, which integrates a smooth likelihood with far less error than independent draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from lakatos.theories.errors import PriorError
from lakatos.theories.language.dependence import Dependence, OwnCenter, parse_dependences

Array = NDArray[np.float64]
Kind = Literal["uniform", "log_uniform", "normal", "log_normal"]
FIELDS: dict[str, tuple[str, ...]] = {
    "uniform": ("low", "high"),
    "log_uniform": ("low", "high"),
    "normal": ("mean", "sd", "low", "high"),
    "log_normal": ("median", "log_sd", "low", "high"),
}
MOST_DOUBT = 9.0
"""Standard error of a spread's logarithm at which nothing more is to be said."""
BESIDE_NUMBERS = ("prior", "unit", "meaning", "depends_on")
"""Keys that an entry of ``PARAMETERS`` may have beside the numbers of its prior."""


@dataclass(frozen=True)
class Prior:
    """Distribution of one parameter over people.

    ``normal`` is truncated to ``[low, high]``; ``log_normal`` is a normal on the logarithm, truncated likewise, with
    ``median`` the median before truncation.
    """

    kind: Kind
    low: float
    high: float
    center: float = math.nan
    """Mean of a normal, log of the median of a log-normal."""
    spread: float = math.nan
    """Standard deviation on the scale of ``center``."""
    unit: str = ""
    meaning: str = ""
    doubt: float = 0.0
    """Standard error of the logarithm of a spread that was learned from people; 0 for a spread that was declared."""
    idle: bool = False
    """Whether no trial that people were asked depends on it, so that nothing was learned and nothing can be said."""
    depends_on: tuple[Dependence, ...] = ()
    """Attributes of people that move the center of their own distribution, as the theory declares it."""
    own: OwnCenter | None = None
    """Centers of people with known attributes, as estimated from responses; None where these taught none."""

    @property
    def is_log(self) -> bool:
        """Whether the parameter is best compared on the logarithmic scale."""
        return self.kind in ("log_uniform", "log_normal")

    def latent(self, values: Array) -> Array:
        """Values on the scale where the population is described: logarithms for the two log priors."""
        return np.log(values) if self.is_log else values

    def quantile(self, u: Array) -> Array:
        """Inverse distribution function at ``u`` in [0, 1]."""
        low, high = (
            (math.log(self.low), math.log(self.high)) if self.is_log else (self.low, self.high)
        )
        if self.kind in ("uniform", "log_uniform"):
            latent = low + (high - low) * u
        else:
            below, above = (
                ndtr((low - self.center) / self.spread),
                ndtr((high - self.center) / self.spread),
            )
            latent = self.center + self.spread * ndtri(below + (above - below) * u)
        latent = np.clip(latent, low, high)
        values = np.exp(latent) if self.is_log else latent
        return np.clip(values, self.low, self.high)

    def narrowed(self, center: float, spread: float, doubt: float = 0.0) -> Prior:
        """A normal (or log-normal) within the same limits; ``center`` and ``spread`` on the latent scale."""
        kind: Kind = "log_normal" if self.is_log else "normal"
        return replace(
            self, kind=kind, center=center, spread=spread, doubt=doubt, idle=False, own=None
        )

    def to_literal(self) -> dict[str, Any]:
        """The form in which a theory's source declares it, rounded to four significant digits within the limits."""

        def rounded(value: float) -> float:
            return float(f"{value:.4g}")

        def inside(value: float) -> float:
            return min(max(rounded(value), self.low), self.high)

        body: dict[str, Any] = {"prior": self.kind}
        if self.kind == "normal":
            body |= {"mean": inside(self.center), "sd": rounded(self.spread)}
        elif self.kind == "log_normal":
            body |= {"median": inside(math.exp(self.center)), "log_sd": rounded(self.spread)}
        body |= {"low": self.low, "high": self.high}
        return (
            body
            | ({"unit": self.unit} if self.unit else {})
            | ({"meaning": self.meaning} if self.meaning else {})
            | (
                {"depends_on": [one.to_literal() for one in self.depends_on]}
                if self.depends_on
                else {}
            )
        )


def n_free_parameters(priors: Mapping[str, Prior]) -> int:
    """Number of parameters on which the prediction of some presented trial depends."""
    return sum(not prior.idle for prior in priors.values())


def learned_ends(priors: Mapping[str, Prior]) -> dict[str, tuple[float, float]]:
    """Center and spread of each distribution that answers taught, as records keep them; without idle parameters."""
    return {name: (prior.center, prior.spread) for name, prior in priors.items() if not prior.idle}


def parse_prior(name: str, literal: Any) -> Prior:
    """Read one entry of ``PARAMETERS``.

    Raises:
        PriorError: The entry is not a proper prior; the message names the parameter and what to write.
    """
    if not isinstance(literal, Mapping) or literal.get("prior") not in list(FIELDS):
        raise PriorError(
            f'parameter {name!r}: {literal!r} is no prior. Write {{"prior": KIND, ...}} with KIND one of '
            f"{', '.join(FIELDS)}."
        )
    kind = literal["prior"]
    numbers = _numbers_of(name, kind, literal)
    low, high = _range_of(name, kind, numbers)
    center, spread = _center_and_spread(name, kind, numbers)
    return Prior(
        kind,
        low,
        high,
        center,
        spread,
        str(literal.get("unit", "")),
        str(literal.get("meaning", "")),
        depends_on=parse_dependences(name, literal["depends_on"])
        if "depends_on" in literal
        else (),
    )


def _numbers_of(name: str, kind: str, literal: Mapping[str, Any]) -> dict[str, float]:
    """The numbers that a prior of this kind needs, and no others."""
    needed = FIELDS[kind]
    unknown = {str(field) for field in literal if field not in (*needed, *BESIDE_NUMBERS)}
    missing = [
        field
        for field in needed
        if not isinstance(literal.get(field), int | float) or isinstance(literal.get(field), bool)
    ]
    if unknown or missing:
        raise PriorError(
            f"parameter {name!r}: a {kind} prior needs the numbers {', '.join(needed)}"
            + (f"; unknown: {', '.join(sorted(unknown))}" if unknown else "")
            + (f"; missing: {', '.join(missing)}" if missing else "")
            + "."
        )
    return {field: _number(literal[field]) for field in needed}


def _range_of(name: str, kind: str, numbers: Mapping[str, float]) -> tuple[float, float]:
    """Return the limits of the values."""
    low, high = numbers["low"], numbers["high"]
    if not all(math.isfinite(number) for number in (*numbers.values(), high - low)) or low >= high:
        raise PriorError(
            f"parameter {name!r}: the prior is improper; give finite numbers with low < high."
        )
    if kind.startswith("log") and low <= 0:
        raise PriorError(f"parameter {name!r}: a {kind} prior needs low > 0, not {low}.")
    return low, high


def _center_and_spread(name: str, kind: str, numbers: Mapping[str, float]) -> tuple[float, float]:
    """Centre and spread of a normal prior, on the logarithmic scale for ``log_normal``; no numbers for others."""
    low, high = numbers["low"], numbers["high"]
    if kind == "normal":
        center, spread, edges = numbers["mean"], numbers["sd"], (low, high)
    elif kind == "log_normal":
        if numbers["median"] <= 0:
            raise PriorError(f"parameter {name!r}: the median of a log_normal must be above 0.")
        center, spread = math.log(numbers["median"]), numbers["log_sd"]
        edges = math.log(low), math.log(high)
    else:
        return math.nan, math.nan
    if spread <= 0 or not edges[0] <= center <= edges[1]:
        raise PriorError(
            f"parameter {name!r}: the center must lie in [low, high] and the spread be above 0."
        )
    return center, spread


def _number(value: float) -> float:
    """Convert to a float; infinite where an integer is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def draw_population(
    priors: Mapping[str, Prior], n_draws: int, rng: np.random.Generator
) -> dict[str, Array]:
    """Parameters of ``n_draws`` people, each ``(n_draws,)``, by a scrambled Sobol sequence.

    ``n_draws`` should be a power of two. A theory without parameters yields an empty mapping.
    """
    if not priors:
        return {}
    uniform = qmc.Sobol(len(priors), scramble=True, rng=rng).random(n_draws)
    uniform = np.clip(uniform, 1e-9, 1 - 1e-9)
    return {
        name: prior.quantile(uniform[:, column])
        for column, (name, prior) in enumerate(priors.items())
    }


def as_normal(prior: Prior) -> Prior:
    """A population as a normal within its limits; an even one as that with its mean and variance before truncation."""
    if not np.isnan(prior.center):
        return prior
    low, high = prior.latent(np.array([prior.low, prior.high]))
    return prior.narrowed(float(low + high) / 2, float(high - low) / np.sqrt(12))
