"""Input of inference: whether it can take the responses, and how they are kept beside the draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from lakatos.experiments.task import Domain, Trials, check_unmixed
from lakatos.theories.errors import PosteriorError
from lakatos.theories.language.theory import Theory


def check_trials(theory: Theory, trials: Sequence[Trials], domain: Domain | None) -> None:
    """Refuse responses from which nothing can be inferred."""
    check_unmixed(trials)
    if not trials or not sum(item.n_responses for item in trials):
        raise PosteriorError(
            "there are no answers; give at least one experiment with at least one answer."
        )
    for item in trials:
        if not item.n_responses:
            raise PosteriorError(
                f"the experiment {item.experiment!r} holds no answers; leave it out."
            )
        if theory.learns and item.pooled:
            raise PosteriorError(
                f"{theory.name} learns from answer to answer, but of {item.experiment!r} only pooled counts are known; "
                "give single answers in their order."
            )
    names = [item.experiment for item in trials]
    if len(set(names)) < len(names):
        raise PosteriorError(f"experiments {names} do not have different names; give each its own.")
    if theory.learns and domain is None:
        raise PosteriorError(
            f"{theory.name} learns from answer to answer; say in which `domain`, so that it is known what people saw."
        )


def dataset(
    variables: Mapping[str, Any], n_chains: int, n_draws: int, coordinates: Mapping[str, Any]
) -> xr.Dataset:
    """Draws as ArviZ keeps them: chains, draws, and what else each variable is indexed by."""
    used = {dimension for dimensions, _ in variables.values() for dimension in dimensions}
    own = {name: labels for name, labels in coordinates.items() if name in used}
    return xr.Dataset(
        dict(variables), {"chain": np.arange(n_chains), "draw": np.arange(n_draws), **own}
    )
