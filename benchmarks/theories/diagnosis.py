"""Is the diagnosis right? Flaws are planted in simulated people, and the theory without them is diagnosed.

    python benchmarks/run.py theories/diagnosis        # benchmarks/raw/theories/diagnosis.json, some 10 minutes

People choose between products by a weighted sum of their ratings (experiments of 25 people, 24 trials, each twice, in
random order) and depart from it in one planted way of random strength. Shown are: the share of diagnoses that claim
anything where nothing is planted; the share of planted flaws that the first claim names, or any claim; whether
claims of a stated confidence are right as often as stated; and the time that a diagnosis takes. Half of the seeds fit
the confidence (`theories.discovery.diagnosis.case_file.CONFIDENCE`), the other half are those reported.

A claim about trials is right when its pattern explains at least half of the squared deviations of the theory from the
people's shares without noise, that of a region when squared deviations inside are at least twice those outside. Any
other claim is right when its rule is the planted one. The share of first claims by the planted rule stands beside it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.provenance import ROOT, provenance
from lakatos.domains import DOMAINS
from lakatos.experiments.interval import exact_interval
from lakatos.experiments.task import Stimuli, Trials
from lakatos.theories.discovery.diagnosis import TheoryPredictions, TrialFeatures
from lakatos.theories.discovery.diagnosis.case_file import (
    CONFIDENCE,
    CONFIDENCE_OF_RULE,
    N_REPLICAS,
    confidence,
    confidence_columns,
    examine,
)
from lakatos.theories.discovery.diagnosis.rule import RULES, DiagnosisCheck
from lakatos.theories.engine.scoring.score import ExperimentEvidence, learn_population
from lakatos.traces.digest import digest_of

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "diagnosis.json"
DOMAIN = DOMAINS["multiattribute"]
SPACE = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}
N_DRAWS = 512
ABOUT_TRIALS = ("slope", "curvature", "interaction", "extremity", "side", "region")
SLOPES = (
    "best_rating_difference",
    "unevenness_difference",
    "level",
    "conflict",
    "n_cues_favouring",
)
BENDS = ("level", "difference_weighted_by_validity", "unevenness_difference")
PAIRS = (
    ("level", "difference_weighted_by_validity"),
    ("level", "best_cue_favours"),
    ("level", "unevenness_difference"),
)


@dataclass(frozen=True)
class World:
    """Log odds of the second product for one person, step by step, and what was planted."""

    rule: str
    column: Callable[[dict[str, Array]], Array] | None
    """Of the planted flaw, where it is about trials."""
    strength: float
    sensitivity: Callable[[np.random.Generator, int], Array]
    """Of ``n`` people."""


def standard(values: Array) -> Array:
    return (values - values.mean()) / max(float(values.std()), 1e-9)


def bend(values: Array) -> Array:
    """The square, with its sign where there is one; its trend taken out."""
    signed = values.min() < 0 < values.max()
    x = values / values.std() if signed else standard(values)
    squared = x * np.abs(x) if signed else x**2
    slope, constant = np.polyfit(x, squared, 1)
    return np.asarray(squared - slope * x - constant)


def far(features: dict[str, Array]) -> Array:
    """1 on the third of trials on which one rating differs most."""
    size = np.abs(features["largest_difference"])
    return np.asarray((size >= np.quantile(size, 0.65, method="higher")) * 1.0)


def spread(low: float, high: float) -> Callable[[np.random.Generator, int], Array]:
    return lambda rng, n: np.exp(rng.uniform(np.log(low), np.log(high), n))


def population(rule: str) -> tuple[float, float]:
    """Least and largest sensitivity that the diagnosed theory declares.

    Narrow where the flaw would otherwise be within its reach, high where only near-certain predictions show the flaw.
    """
    return {"extremity": (1.2, 1.8), "spread": (1.2, 1.8), "lapse": (4.0, 8.0)}.get(
        rule, (0.5, 4.0)
    )


def plant(rule: str, rng: np.random.Generator) -> World:
    """A flaw of random kind and strength under one rule."""
    strength = float(rng.uniform(0.25, 1.0)) * float(rng.choice([-1.0, 1.0]))
    column: Callable[[dict[str, Array]], Array] | None = None
    people = spread(*population(rule))
    if rule == "slope":
        name = str(rng.choice(SLOPES))
        column = lambda f: standard(f[name])  # noqa: E731
    elif rule == "curvature":
        name = str(rng.choice(BENDS))
        column = lambda f: bend(f[name])  # noqa: E731
    elif rule == "interaction":
        a, b = PAIRS[rng.integers(len(PAIRS))]
        column = lambda f: standard(f[a]) * standard(f[b])  # noqa: E731
    elif rule == "extremity":
        column = lambda f: standard(f["difference_weighted_by_validity"])  # noqa: E731
        low, high = population(rule)
        people = spread(low * np.exp(strength), high * np.exp(strength))
    elif rule == "region":
        column = far
    elif rule == "side":
        column = lambda f: np.ones(len(f["level"]))  # noqa: E731
    return World(rule, column, strength, people)


def evidence_of(features: dict[str, Array]) -> Array:
    return 1.5 * features["difference_weighted_by_validity"]


def answer(
    world: World,
    stimuli: Stimuli,
    features: dict[str, Array],
    rng: np.random.Generator,
    n_people: int,
) -> Trials:
    """Two answers of every person to every trial, in random order."""
    size, n_trials, own = abs(world.strength), len(stimuli), evidence_of(features)
    sensitivity = world.sensitivity(rng, n_people)
    if world.rule == "spread":
        sensitivity = np.exp(np.log(1.5) + 1.5 * size * rng.normal(size=n_people))
    side = (
        1.5 * size * rng.normal(size=n_people)
        if world.rule == "spread" and world.strength < 0
        else np.zeros(n_people)
    )
    other = rng.random(n_people) < followers(world)
    # Those who count differ as the theory of counting says, and in half of the worlds more than it says.
    taste = (
        rng.uniform(0.2, 3.0, n_people) if world.strength > 0 else np.exp(rng.normal(size=n_people))
    )
    lasting = (
        2.5 * size * rng.normal(size=(n_people, n_trials)) if world.rule == "consistency" else None
    )
    index = rng.permuted(np.tile(np.repeat(np.arange(n_trials), 2), (n_people, 1)), axis=1)
    response = np.zeros(index.shape, dtype=np.int64)
    n_steps = index.shape[1]
    tally = 1.0 * features["n_cues_favouring"]
    by_column = world.column is not None and world.rule not in ("extremity", "region")
    planted = (
        world.column(features) if world.column is not None and by_column else np.zeros(n_trials)
    )
    region = far(features) > 0
    for step in range(n_steps):
        row = index[:, step]
        odds = (
            np.where(other, taste * tally[row], sensitivity * own[row] + side)
            + world.strength * planted[row]
        )
        if world.rule == "region":
            odds = np.where(region[row], (1 - 2 * size) * odds, odds)
        if world.rule == "repetition" and step:
            odds = odds + world.strength * (2 * response[:, step - 1] - 1)
        if world.rule == "drift":
            late = 2 * step / (n_steps - 1) - 1
            odds = (
                odds + 1.5 * size * late if world.strength > 0 else odds * np.exp(-2 * size * late)
            )
        if lasting is not None:
            odds = odds + lasting[np.arange(n_people), row]
        p = expit(odds)
        if world.rule == "lapse":
            p = (1 - 0.4 * size) * p + 0.2 * size
        response[:, step] = rng.random(n_people) < p
    return Trials(
        experiment="",
        stimuli=stimuli,
        participant=np.repeat(np.arange(n_people), n_steps),
        trial=index.ravel(),
        response=response.ravel(),
        count=np.ones(index.size, dtype=np.int64),
    )


def followers(world: World) -> float:
    """Share of people who count cues in place of weighing them."""
    if world.rule == "another":
        return 1.0
    return 0.2 + 0.4 * abs(world.strength) if world.rule == "mixture" else 0.0


def sets_of(n_experiments: int, rng: np.random.Generator, n_trials: int) -> list[Stimuli]:
    return [DOMAIN.candidates(SPACE, rng, n_trials) for _ in range(n_experiments)]


def one(
    rule: str, seed: int, *, n_experiments: int = 2, n_trials: int = 24, n_people: int = 25
) -> dict[str, object]:
    """Plant, simulate, diagnose, compare."""
    rng = np.random.default_rng([seed, sum(map(ord, rule))])
    world = plant(rule, rng)
    stimuli = sets_of(n_experiments, rng, n_trials)
    features = [dict(DOMAIN.features(item)) for item in stimuli]
    trials = [
        answer(world, item, own, rng, n_people) for item, own in zip(stimuli, features, strict=True)
    ]
    sensitivity = spread(*population(rule))(np.random.default_rng(1), N_DRAWS)
    count = np.random.default_rng(2).uniform(0.2, 3.0, N_DRAWS)
    loser, leader = (
        [
            ExperimentEvidence(item, both(expit(scale[:, None] * odds(own))))
            for item, own in zip(trials, features, strict=True)
        ]
        for scale, odds in (
            (sensitivity, evidence_of),
            (count, lambda own: own["n_cues_favouring"]),
        )
    )
    theories = [
        TheoryPredictions(digest_of(name), name, learn_population(item), item)
        for name, item in (("weighted sum", loser), ("tallying", leader))
    ]
    begun = time.process_time()
    seen = examine(theories[0], theories[1:], [TrialFeatures(own, ()) for own in features], rng)
    seconds = time.process_time() - begun
    deviation = deviation_of(world, features, theories[0]) if rule in ABOUT_TRIALS else None
    return {
        "rule": rule,
        "seed": seed,
        "strength": world.strength,
        "seconds": round(seconds, 3),
        "n_checks": len(seen.checks),
        "claims": [
            {
                "rule": item.check.rule,
                "feature": item.check.feature,
                "p": item.check.p,
                "gain": item.gain.per_choice.value,
                "behind": item.behind,
                "right": right(rule, deviation, item.check),
                "same_rule": rule == item.check.rule,
            }
            for item in seen.found
        ],
    }


def deviation_of(
    world: World, features: list[dict[str, Array]], theory: TheoryPredictions
) -> Array:
    """``(n_trials,)`` share of the second product without noise, less what the theory predicts."""
    sensitivity = world.sensitivity(np.random.default_rng(3), 4000)[:, None]
    parts = []
    for own, seen in zip(features, theory.evidence, strict=True):
        odds = sensitivity * evidence_of(own)
        if world.rule == "region":
            odds = np.where(far(own) > 0, (1 - 2 * abs(world.strength)) * odds, odds)
        elif world.rule != "extremity":
            assert world.column is not None
            odds = odds + world.strength * world.column(own)
        predicted = np.einsum("d,dt->t", np.exp(theory.log_weights), seen.probabilities[:, :, 1])
        parts.append(expit(odds).mean(axis=0) - predicted)
    return np.concatenate(parts)


def right(rule: str, deviation: Array | None, check: DiagnosisCheck) -> bool:
    """Whether a claim names what was planted; see the module docstring."""
    if deviation is None or check.column is None:
        return rule == check.rule
    if check.rule == "region":
        inside = check.column > 0
        return bool((deviation[inside] ** 2).mean() >= 2 * (deviation[~inside] ** 2).mean())
    explained = float(check.column @ deviation) ** 2 / float(check.column @ check.column)
    return explained >= 0.5 * float(deviation @ deviation)


def both(p: Array) -> Array:
    return np.stack([1 - p, p], axis=-1)


def share(values: Sequence[bool]) -> dict[str, object]:
    return {
        "share": float(np.mean(values)),
        "n": len(values),
        "interval": list(exact_interval(sum(values), len(values))),
    }


def fit(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Logistic regression of being right on the strength of evidence, the lag behind the best correction, the rule."""
    claims = [claim for cell in cells for claim in cell["claims"]]
    columns = np.array([confidence_columns(claim["p"], claim["behind"]) for claim in claims])
    kinds = np.array([[claim["rule"] == rule for rule in RULES] for claim in claims])
    table = np.hstack([columns, kinds])
    outcome = np.array([claim["right"] for claim in claims], dtype=float)
    # A standard normal prior on what each rule adds, nearly none on the rest.
    penalty = np.repeat([0.01, 0.5], [columns.shape[1], len(RULES)])

    def loss(weights: Array) -> float:
        odds = table @ weights
        return float(np.logaddexp(0, odds).sum() - outcome @ odds + penalty @ weights**2)

    found = [round(float(value), 2) for value in minimize(loss, np.zeros(table.shape[1])).x]
    n = columns.shape[1]
    return {"CONFIDENCE": found[:n], "CONFIDENCE_OF_RULE": dict(zip(RULES, found[n:], strict=True))}


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of the seeds that the confidence was not fitted to."""
    test = [cell for cell in cells if cell["seed"] % 2]
    planted = [cell for cell in test if cell["rule"] != "none"]
    claims = [claim for cell in test for claim in cell["claims"]]
    stated = np.array([confidence(item["rule"], item["p"], item["behind"]) for item in claims])
    outcome = np.array([claim["right"] for claim in claims])
    edges = np.linspace(0, 1, 11)
    bins, missed = [], 0.0
    for low, high in pairwise(edges):
        inside = (stated >= low) & (stated < high)
        if inside.any():
            bins.append({"stated": float(stated[inside].mean()), **share(outcome[inside].tolist())})
            missed += abs(float((stated - outcome)[inside].sum())) / len(claims)
    rules = {}
    for rule in RULES:
        own = [cell for cell in planted if cell["rule"] == rule]
        rules[rule] = {
            "detected": share([bool(cell["claims"]) for cell in own]),
            "named_first": share(
                [bool(cell["claims"]) and cell["claims"][0]["right"] for cell in own]
            ),
            "planted_rule_first": share(
                [bool(cell["claims"]) and cell["claims"][0]["same_rule"] for cell in own]
            ),
            "named": share([any(claim["right"] for claim in cell["claims"]) for cell in own]),
        }
    return {
        "any_claim_where_nothing_is_planted": share(
            [bool(c["claims"]) for c in cells if c["rule"] == "none"]
        ),
        "planted": rules,
        "all_planted": {
            key: share([bool(value(cell)) for cell in planted])
            for key, value in {
                "detected": lambda cell: cell["claims"],
                "named_first": lambda cell: cell["claims"] and cell["claims"][0]["right"],
                "named": lambda cell: any(claim["right"] for claim in cell["claims"]),
            }.items()
        },
        "confidence": bins,
        "expected_calibration_error": missed,
        "false_by_kind": false_by_kind(test),
        "confidence_brier": float(np.mean((stated - outcome) ** 2)),
        "seconds": float(np.median([cell["seconds"] for cell in cells])),
    }


def false_by_kind(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Share of campaigns with a claim of each kind: where nothing is planted, and where all follow the other theory."""
    return {
        f"{rule} where {planted}": share(
            [
                any(claim["rule"] == rule for claim in cell["claims"])
                for cell in cells
                if cell["rule"] == planted
            ]
        )
        for planted, rules in (("none", RULES), ("another", ("mixture",)))
        for rule in rules
    }


def timing() -> dict[str, object]:
    """One diagnosis of 5 experiments of 25 people and 48 answers."""
    seconds = [one("none", 10_000 + seed, n_experiments=5)["seconds"] for seed in range(5)]
    return {
        "seconds": seconds,
        "n_experiments": 5,
        "n_people": 25,
        "n_answers": 48,
        "n_replicas": N_REPLICAS,
    }


def main() -> None:
    """Simulate, fit, report."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument(
        "--seeds",
        type=int,
        default=144,
        help="for every rule, and twice as many where nothing is planted; half of them to fit the confidence",
    )
    options.add_argument("--out", type=Path, default=RESULT)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--again", action="store_true", help="summarise the diagnoses on file")
    chosen = options.parse_args()
    cells = json.loads(chosen.out.read_text())["cells"] if chosen.again else []
    for rule in () if chosen.again else ("none", *RULES):
        n_seeds = chosen.seeds * (2 if rule == "none" else 1)
        with ProcessPoolExecutor(chosen.workers) as pool:
            cells += pool.map(partial(one, rule), range(n_seeds))
        mine = cells[-n_seeds:]
        print(
            rule,
            np.mean([bool(c["claims"]) for c in mine]),
            np.median([c["seconds"] for c in mine]),
            flush=True,
        )
    fitted = fit([cell for cell in cells if not cell["seed"] % 2])
    result = {
        **provenance(),
        "fitted_confidence": fitted,
        "used_confidence": {
            "CONFIDENCE": list(CONFIDENCE),
            "CONFIDENCE_OF_RULE": CONFIDENCE_OF_RULE,
        },
        **summary(cells),
        "timing": timing(),
        "cells": cells,
    }
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result) + "\n")
    print(json.dumps({key: value for key, value in result.items() if key != "cells"}, indent=1))
