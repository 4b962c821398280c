"""How often a comparison of two groups says that their discount rates differ: where they do, and where they do not.

People of two groups choose between money now and more money later by hyperbolic discounting; the median rate of the
second group is so many times that of the first (`CONDITIONS`). They err as the theory says, with a strictness of their
own for each money unit, or the less strictly the more is at stake, which the theory cannot say.

Told are studies in which labels exchanged among people showed a difference of the rate, of another parameter (which
never differs), and in which numbers of each group's own predicted people better than one population, the stricter
rule; and how often 95% intervals hold the true ratio and the groups' true medians. All with 95% Wilson intervals.
Nobody ever chooses at random: told is also how often the lapse's intervals hold 0.

    python benchmarks/run.py theories/group_differences --studies 40

resumes where it stopped; the JSON names seed, commit and command.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import lakatos
from benchmarks.cells import run_studies, standard_error
from benchmarks.provenance import ROOT, provenance
from lakatos.experiments.interval import wilson_interval

RESULTS = ROOT / "benchmarks" / "raw" / "theories" / "group_differences.json"
CONDITIONS = (
    (0.45, 24, "own"),
    (0.45, 12, "own"),
    (1.0, 12, "own"),
    (0.45, 12, "stakes"),
    (2.0, 24, "stakes"),
)
"""Ratio of the groups' median rates, trials, and whether people err as the theory says or by what is at stake."""
FIELDS = ("ratio", "n_trials", "errs", "seed")
N_EACH, SPREAD, RATE = 20, 0.8, 0.01
STRICTNESS, STRICTNESS_SPREAD = 0.4, 0.4
"""Median log odds per money unit where people err as the theory says, and how its logarithm differs."""
SHOWN = [
    (soon, soon * more, days)
    for soon in (10, 25, 40)
    for more in (1.1, 1.5, 2.2, 3.0)
    for days in (7, 60)
]
HALF = [item for place, item in enumerate(SHOWN) if place % 2 == (place // 2) % 2]
"""Each amount and each gain once."""


def study(ratio: float, n_trials: int, errs: str, seed: int) -> pd.DataFrame:
    """Answers of `N_EACH` people of each group to all trials."""
    rng, rows = np.random.default_rng(seed), []
    shown = SHOWN if n_trials == len(SHOWN) else HALF
    for person in range(2 * N_EACH):
        group = person % 2
        rate = RATE * (ratio if group else 1.0) * np.exp(rng.normal(0, SPREAD))
        strictness = STRICTNESS * np.exp(rng.normal(0, STRICTNESS_SPREAD))
        for soon, late, wait in rng.permutation(shown).tolist():
            ahead = late / (1 + rate * wait) - soon
            evidence = ahead * (strictness if errs == "own" else 1 / (0.15 * soon))
            choice = "later" if rng.random() < 1 / (1 + np.exp(-evidence)) else "sooner"
            rows.append((f"p{person}", soon, late, 0, wait, choice, "ab"[group]))
    names = ["subject", "ss_amount", "ll_amount", "ss_delay", "ll_delay", "choice", "group"]
    return pd.DataFrame(rows, columns=names)


def one(ratio: float, n_trials: int, errs: str, seed: int) -> dict[str, Any]:
    """What a comparison said of one study."""
    found = lakatos.by_group(
        study(ratio, n_trials, errs, seed), ["hyperbolic"], by="group", n_workers=1
    )
    by_name = {item.parameter: item for item in found.found}
    rate = by_name["discount_rate"]
    told = rate.differences["a", "b"]
    truth = {"a": RATE, "b": RATE * ratio}
    lapse = by_name["lapse"]
    return {
        "commit": provenance()["commit"],
        "ratio": ratio,
        "n_trials": n_trials,
        "errs": errs,
        "seed": seed,
        "rate_differs": rate.differs,
        "p": rate.p,
        "other_differs": any(
            item.differs for name, item in by_name.items() if name != "discount_rate"
        ),
        "gain_shown": bool(found.theories["hyperbolic"].gain().interval[0] > 0),
        "told_ratio": told.value,
        "interval": told.interval,
        "covers": bool(told.interval[0] <= ratio <= told.interval[1]),
        "medians_covered": sum(
            item.interval[0] <= truth[group] <= item.interval[1]
            for group, item in rate.medians.items()
        ),
        "no_lapse_covered": sum(item.interval[0] <= 0.0 for item in lapse.medians.values()),
        "lapse_told": [item.interval for item in lapse.medians.values()],
    }


def summary(done: list[dict[str, Any]]) -> dict[str, Any]:
    """Numbers of studies by condition, with 95% intervals of shares."""
    found: dict[str, Any] = {}
    for condition in CONDITIONS:
        own = [item for item in done if tuple(item[name] for name in FIELDS[:-1]) == condition]
        if not own:
            continue
        logs = np.log([item["told_ratio"] for item in own])
        told: dict[str, Any] = {
            "studies": len(own),
            "mean_told_ratio": float(np.exp(logs.mean())),
            "standard_error_of_its_logarithm": standard_error(logs),
        }
        for key in ("rate_differs", "other_differs", "gain_shown", "covers"):
            n = sum(item[key] for item in own)
            told[key] = [n, *np.round(wilson_interval(n, len(own)), 3).tolist()]
        for key in ("medians_covered", "no_lapse_covered"):
            n, of = sum(item[key] for item in own), 2 * len(own)
            told[key] = [n, of, *np.round(wilson_interval(n, of), 3).tolist()]
        found[" ".join(map(str, condition))] = told
    return found


def main() -> None:
    """Run the studies that are missing, and print what they show."""
    run_studies(__doc__, one, summary, CONDITIONS, FIELDS, out=RESULTS, n_studies=40)
