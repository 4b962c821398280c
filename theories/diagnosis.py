"""The arbiter: where and how the loser's predictions fail, each claim citing the records that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, norm

from theories.grammar import Grammar
from theories.record import Claim, Diagnosis
from theories.score import Estimate, is_tie
from traces.digest import Digest

Array = NDArray[np.float64]
FALSE_DISCOVERY_RATE = 0.1
MOST_CLAIMS = 4


@dataclass(frozen=True)
class Residuals:
    """One experiment as seen by the loser and the leader."""

    experiment: str
    features: Mapping[str, Array]
    """``(n_trials,)`` each."""
    observed: Array
    """``(n_trials,)`` people's share of the last option."""
    n_answers: Array
    """``(n_trials,)``."""
    loser: Array
    """``(n_trials,)`` predicted share."""
    leader: Array
    records: tuple[Digest, ...]
    """The scores and the collection that these numbers come from."""


@dataclass(frozen=True)
class Slope:
    """Regression of residuals on one standardised feature."""

    feature: str
    effect: float
    z: float
    p: float


def residual_slopes(observed: Array, predicted: Array, n_answers: Array, features: Mapping[str, Array]) -> list[Slope]:
    """How the residual changes with each feature, one weighted regression per feature.

    Weights are the inverse of the residual's variance: binomial noise plus the spread of residuals beyond it, so that
    a theory that is wrong everywhere does not make every feature significant. Standard errors are robust (HC1).

    Args:
        observed, predicted: ``(n_trials,)`` shares.
        n_answers: ``(n_trials,)`` answers behind each observed share.
        features: ``(n_trials,)`` each; constant ones are skipped.
    """
    residual = observed - predicted
    noise = np.maximum(predicted * (1 - predicted), 0.01) / np.maximum(n_answers, 1)
    beyond = max(float(np.mean(residual**2 - noise)), 0.0)
    weight = 1 / (noise + beyond)
    slopes = []
    for name, values in features.items():
        spread = np.std(values)
        if len(values) < 4 or not np.isfinite(spread) or spread < 1e-9:
            continue
        x = (values - np.average(values, weights=weight)) / spread
        curvature = float(weight @ x**2)
        centred = residual - np.average(residual, weights=weight)
        effect = float(weight @ (x * centred)) / curvature
        scatter = centred - effect * x
        standard_error = float(np.sqrt(((weight * x * scatter) ** 2).sum() * len(x) / (len(x) - 2))) / curvature
        z = effect / max(standard_error, 1e-9)
        slopes.append(Slope(name, effect, z, float(2 * norm.sf(abs(z)))))
    return slopes


def diagnose(
    cycle: int,
    loser: tuple[Digest, str],
    leader: tuple[Digest, str],
    difference: Estimate,
    experiments: Sequence[Residuals],
    grammar: Grammar,
) -> Diagnosis:
    """Write the loser's case file.

    Args:
        cycle: Of the campaign.
        loser: Digest and name of the theory that lost.
        leader: Likewise of the one that leads.
        difference: Leader minus loser, nats per choice.
        experiments: All of them.
        grammar: Names the mechanisms that answer each feature.

    Returns:
        Location, hypothesis, proposal and test, with claims under false-discovery control.
    """
    observed, predicted, ahead, n_answers = (
        np.concatenate([getattr(item, field) for item in experiments])
        for field in ("observed", "loser", "leader", "n_answers")
    )
    shared = set.intersection(*(set(item.features) for item in experiments))
    names = [name for name in experiments[0].features if name in shared]
    features = {name: np.concatenate([item.features[name] for item in experiments]) for name in names}
    cites = tuple(dict.fromkeys(digest for item in experiments for digest in item.records))
    slopes = residual_slopes(observed, predicted, n_answers, features)
    adjusted = false_discovery_control([slope.p for slope in slopes]) if slopes else np.zeros(0)
    ranked = sorted(zip(slopes, adjusted, strict=True), key=lambda pair: pair[0].p)
    found = [(slope, float(q)) for slope, q in ranked if q <= FALSE_DISCOVERY_RATE][:MOST_CLAIMS]
    claims = [
        Claim(
            text=f"people chose the second option {abs(slope.effect):.3f} {'more' if slope.effect > 0 else 'less'} often "
            f"than {loser[1]} says for each standard deviation of {_words(slope.feature)}",
            feature=slope.feature,
            effect=slope.effect,
            z=slope.z,
            q=q,
            cites=cites,
        )
        for slope, q in found
    ]
    loss = (predicted - observed) ** 2 - (ahead - observed) ** 2
    worst = int(np.argmax(loss))
    owner = np.repeat(np.arange(len(experiments)), [len(item.observed) for item in experiments])
    where = experiments[int(owner[worst])]
    row = worst - int((owner < owner[worst]).sum())
    claims.append(
        Claim(
            text=f"the leader gains most on trial {row} of {where.experiment}: people {observed[worst]:.2f}, "
            f"{leader[1]} {ahead[worst]:.2f}, {loser[1]} {predicted[worst]:.2f}",
            feature="",
            effect=float(loss[worst]),
            z=0.0,
            q=1.0,
            cites=where.records,
        )
    )
    remedies = tuple(
        dict.fromkeys(
            f"{item.slot}:{item.name}" for slope, _ in found for item in grammar.mechanisms_answering(slope.feature)
        )
    )
    location = ", ".join(_words(slope.feature) for slope, _ in found) or "no single property of the trials"
    return Diagnosis(
        cycle=cycle,
        loser=loser[0],
        leader=leader[0],
        difference=difference.value,
        standard_error=difference.standard_error,
        tie=is_tie(difference),
        claims=tuple(claims),
        location=location,
        hypothesis=(
            f"{loser[1]} misjudges how choices depend on {location}"
            if found
            else f"{loser[1]} fails in ways that no single feature explains; its noise or its spread of people "
            "may be wrong"
        ),
        proposal=("try " + ", ".join(remedies) if remedies else "change one mechanism at a time"),
        remedies=remedies,
        test=(
            f"trials that vary {_words(found[0][0].feature)} and hold the others"
            if found
            else "trials chosen for the information between the leader and its nearest rival"
        ),
    )


def _words(feature: str) -> str:
    return feature.replace("_", " ")
