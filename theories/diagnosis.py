"""The arbiter: where and how the loser's predictions fail, each claim citing the records that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, t

from theories.grammar import Grammar
from theories.record import Claim, Diagnosis
from theories.score import Estimate, is_tie
from traces.digest import Digest

Array = NDArray[np.float64]
FALSE_DISCOVERY_RATE = 0.1
MOST_CLAIMS = 4
MOST_LEVERAGE = 0.99
"""Of one trial on a slope; beyond it that trial alone decides, and nothing says how surely."""


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
    counts: Array | None = None
    """``(n_participants, n_trials, n_options)`` answers; None where people cannot be told apart."""


@dataclass(frozen=True)
class Slope:
    """Regression of residuals on one standardised feature."""

    feature: str
    effect: float
    z: float
    p: float


def residual_slopes(
    observed: Array,
    predicted: Array,
    n_answers: Array,
    features: Mapping[str, Array],
    people: Sequence[tuple[int, Array]] = (),
) -> list[Slope]:
    """How the residual changes with each feature, one weighted regression per feature.

    Weights are the inverse of the residual's variance: binomial noise plus the spread of residuals beyond it, so that
    a theory that is wrong everywhere does not make every feature significant. Of three standard errors,
    each read off Student's t distribution with its own degrees of freedom, the one that finds least counts: what these
    variances imply; robust over trials (HC3, since with two dozen trials HC1 finds too much); and clustered by person,
    because the same few people answer all trials and their tastes are not exactly the population's.

    Args:
        observed, predicted: ``(n_trials,)`` shares.
        n_answers: ``(n_trials,)`` answers behind each observed share.
        features: ``(n_trials,)`` each; those that are constant, or vary in one trial alone, are skipped.
        people: For each experiment in which people can be told apart, its first trial in these arrays, and its
            ``(n_participants, n_trials, n_options)`` answers.

    References:
        Long & Ervin (2000), The American Statistician 54(3), 217-224; Cameron & Miller (2015), Journal of Human
        Resources 50(2), 317-372.
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
        leverage = weight / weight.sum() + weight * x**2 / curvature
        if leverage.max() > MOST_LEVERAGE:
            continue
        parts = (weight * x * (centred - effect * x) / (1 - leverage) / curvature) ** 2
        errors = [(float(np.sqrt(parts.sum())), len(x) - 2.0), (curvature**-0.5, np.inf)]
        if people:
            errors.append(_clustered(weight * x / curvature / np.maximum(n_answers, 1), predicted, parts, people))
        tests = [(effect / max(error, 1e-9), df) for error, df in errors]
        p, z = max((float(2 * t.sf(abs(z), df)), z) for z, df in tests)
        slopes.append(Slope(name, effect, z, p))
    return slopes


def _clustered(
    lever: Array, predicted: Array, parts: Array, people: Sequence[tuple[int, Array]]
) -> tuple[float, float]:
    """Standard error of a slope clustered by person, and its degrees of freedom.

    Args:
        lever: ``(n_trials,)`` what one more answer for the last option adds to the slope.
        predicted: ``(n_trials,)`` shares.
        parts: ``(n_trials,)`` the trials' parts of the variance, used where people cannot be told apart.
        people: As in `residual_slopes`.
    """
    alone = parts.copy()
    variance, df = 0.0, 0.0
    for first, counts in people:
        rows = slice(first, first + counts.shape[1])
        surprise = counts[:, :, -1] - counts.sum(axis=2) * predicted[rows]
        own = surprise @ lever[rows]
        variance += len(own) * float(np.var(own, ddof=1))
        df += len(own) - 1
        alone[rows] = 0.0
    return float(np.sqrt(variance + alone.sum())), df


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
    firsts = np.cumsum([0, *(len(item.observed) for item in experiments[:-1])])
    people = [
        (int(first), item.counts)
        for first, item in zip(firsts, experiments, strict=True)
        if item.counts is not None and len(item.counts) > 1
    ]
    slopes = residual_slopes(observed, predicted, n_answers, features, people)
    adjusted = false_discovery_control([slope.p for slope in slopes]) if slopes else np.zeros(0)
    ranked = sorted(zip(slopes, adjusted, strict=True), key=lambda pair: pair[0].p)
    found = [(slope, float(q)) for slope, q in ranked if q <= FALSE_DISCOVERY_RATE][:MOST_CLAIMS]
    claims = [
        Claim(
            text=f"people chose the second option {abs(slope.effect):.3f} {'more' if slope.effect > 0 else 'less'} "
            f"often than {loser[1]} says for each standard deviation of {_words(slope.feature)}",
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
            text=f"the leader gains most on trial {row + 1} of {where.experiment}: people {observed[worst]:.2f}, "
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
