"""Which model serves which role: fixed, or learned from what came of its answers per cost.

A bandit with Thompson sampling: each model's chance of a validated improvement has a Beta posterior, a draw from it is
divided by the mean cost of a call, and the largest ratio is asked. Evidence counts only while its record is valid, and
only for the version that gave it: a model or server that changed starts anew.

References:
    Thompson (1933), Biometrika 25, 285-294. Xia, Li, Qin, Yu & Liu (2015), Thompson sampling for budgeted multi-armed
    bandits, IJCAI: the ratio of a draw of the reward and of the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lakatos.language_models.client import FrozenPart
from lakatos.language_models.errors import ModelSettingsError
from lakatos.traces.digest import Digest

PRIOR = (1.0, 1.0)
"""Beta prior of a validated improvement."""
PRIOR_CALLS = 1.0
"""Weight of the expected cost against calls that were seen."""


class ValidatedAnswer(FrozenPart):
    """What came of one answer: did data, not opinion, find it an improvement."""

    role: str
    model: str
    """As the study names it."""
    version: str
    """Of what answered (`language_models.call.served_version`)."""
    improved: bool
    cost: float
    """Of all calls that it took, in any one unit that is the same for all models: money, or seconds of a machine."""
    record: Digest
    """Of the outcome; erased, it no longer counts."""


class RoutingArm(FrozenPart):
    """A model that could serve a role."""

    model: str
    version: str
    """Of what would answer now."""
    expected_cost: float
    """Of a call, before any was seen; from the cost table."""


class ModelChoice(FrozenPart):
    """Which model serves, and why."""

    role: str
    model: str
    version: str
    how: Literal["fixed", "only", "bandit"]
    draws: dict[str, float] = {}  # noqa: RUF012 - pydantic copies defaults
    """Of each model: improvements per unit of cost, as drawn."""
    n_evidence: int = 0
    """Valid outcomes that were counted."""


@dataclass(frozen=True)
class ArmBelief:
    """What is believed about one arm: its successes, its failures and its cost."""

    alpha: float
    beta: float
    mean_cost: float


def beliefs(
    arms: Sequence[RoutingArm],
    role: str,
    outcomes: Iterable[ValidatedAnswer],
    valid: Callable[[Digest], bool],
) -> dict[str, ArmBelief]:
    """Posterior of each arm in a role.

    Args:
        arms: The models.
        role: Which they would serve.
        outcomes: Of all roles and models; those of other versions are passed over.
        valid: Whether a record still holds, such as `traces.validity.Validity.valid`.
    """
    counted = [item for item in outcomes if item.role == role and valid(item.record)]
    found = {}
    for arm in arms:
        own = [item for item in counted if (item.model, item.version) == (arm.model, arm.version)]
        n_improved = sum(item.improved for item in own)
        total = PRIOR_CALLS * arm.expected_cost + sum(item.cost for item in own)
        found[arm.model] = ArmBelief(
            PRIOR[0] + n_improved,
            PRIOR[1] + len(own) - n_improved,
            total / (PRIOR_CALLS + len(own)),
        )
    return found


def choose(
    role: str,
    arms: Sequence[RoutingArm],
    rng: np.random.Generator,
    *,
    fixed: Mapping[str, str] | None = None,
    outcomes: Iterable[ValidatedAnswer] = (),
    valid: Callable[[Digest], bool] = lambda digest: True,
) -> ModelChoice:
    """The model that serves ``role`` now.

    Args:
        role: What is to be done.
        arms: Models that could.
        rng: Of the step.
        fixed: Models that the study sets, by role.
        outcomes: What came of earlier answers.
        valid: Whether a record still holds.

    Raises:
        ModelSettingsError: No arm, two of one name, one without a cost among others with one, or a fixed model that is
            none of them.
    """
    names = [arm.model for arm in arms]
    if not arms or len(set(names)) < len(names):
        raise ModelSettingsError(
            f"role {role!r} has the models {names}; name at least one, each once."
        )
    by_name = {arm.model: arm for arm in arms}
    if fixed is not None and role in fixed:
        if fixed[role] not in by_name:
            raise ModelSettingsError(
                f"role {role!r} is set to model {fixed[role]!r}, which is not configured (there are {names}); "
                "describe it in the study file or name another."
            )
        arm = by_name[fixed[role]]
        return ModelChoice(role=role, model=arm.model, version=arm.version, how="fixed")
    if len(arms) == 1:
        return ModelChoice(role=role, model=names[0], version=arms[0].version, how="only")
    if any(arm.expected_cost <= 0 for arm in arms):
        raise ModelSettingsError(
            f"models of role {role!r} are compared by improvement per cost, so each needs an expected cost above 0: "
            f"{ {arm.model: arm.expected_cost for arm in arms} }. Give local models what their machine costs."
        )
    seen = list(outcomes)
    known = beliefs(arms, role, seen, valid)
    draws = {
        name: float(rng.beta(known[name].alpha, known[name].beta) / known[name].mean_cost)
        for name in names
    }
    best = max(names, key=lambda name: (draws[name], name))
    n_evidence = round(sum(item.alpha + item.beta - sum(PRIOR) for item in known.values()))
    return ModelChoice(
        role=role,
        model=best,
        version=by_name[best].version,
        how="bandit",
        draws=draws,
        n_evidence=n_evidence,
    )
