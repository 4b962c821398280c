"""Probabilities of timed answers against walks of another program, and against a partial differential equation.

    python benchmarks/run.py theories/passages                        # benchmarks/raw/theories/passages.json
    python benchmarks/run.py theories/passages --peer VENV/bin/python # and ssm-simulators, from its environment

Each case has right and wrong answers in the twenty bins of the attention domain. The peer (ssm-simulators 0.12)
simulates 200,000 walks in steps of 0.2 ms; a logistic delay is added to its times. Steps overshoot a bound by 0.58
roots of a step on average, as if it lay further out by that (Siegmund, 1979): ours are told for such bounds, those of
accumulators without noise as they are. Told are the total variation distance, the largest difference of a bin, and what
the same number of walks from our own probabilities would give by chance (mean and 97.5% point of 400 draws).

The equation (Crank-Nicolson, 400 places) is for bounds that fall and has no delay, steps are those of the block.
Milliseconds are for 128 draws of 24 trials, the median of seven, of processor time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import ROOT, provenance
from lakatos.domains.attention.task import EDGES
from lakatos.domains.kit import outcomes
from lakatos.domains.kit.outcomes import outcome_helpers
from tests.domains.kit.diffusion_equation import solved

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "passages.json"
TIMES = np.array(EDGES)
N_WALKS, STEP_S, SEED, DELAY, SPREAD = 200_000, 0.0002, 5, 0.25, 0.02
FURTHER = 0.5826 * STEP_S**0.5
BLOCKS: dict[str, Any] = {}
exec(
    outcome_helpers(outcomes.CHANGING_DRIFT, outcomes.SHIFTED_WALD, outcomes.RACE),
    BLOCKS,
)

PEER = """
import json, sys, time, warnings
import numpy as np
warnings.filterwarnings("ignore")
from ssms.basic_simulators.simulator import simulator
model, theta, n, step, right, edges, delay, spread, seed = json.loads(sys.argv[1])
begun = time.process_time()
found = simulator(theta=theta, model=model, n_samples=n, delta_t=step, max_t=10, random_state=seed, smooth_unif=False)
seconds = time.process_time() - begun
times, is_right = found["rts"].ravel().astype(float), found["choices"].ravel() == right
times = times + delay + spread * np.random.default_rng(seed).logistic(size=n)
counts = [np.histogram(times[own], edges)[0].tolist() for own in (is_right, ~is_right)]
print(json.dumps({"counts": counts[0] + counts[1], "seconds": seconds}))
"""
DIFFUSION = {"v": 1.5, "a": 1.0, "z": 0.55, "t": 0.0}
RACE = {"A": 0.4, "b": 1.2, "t": 0.0}
BALLISTIC = {"A": 0.3, "b": 0.5}
CASES: dict[str, tuple[str, dict[str, float], int]] = {
    "diffusion": ("ddm", DIFFUSION, 1),
    "start and drift vary": ("full_ddm", {**DIFFUSION, "sz": 0.2, "sv": 1.0, "st": 1e-3}, 1),
    "bounds fall evenly": ("angle", {**DIFFUSION, "theta": 0.6}, 1),
    "bounds fall by a Weibull": ("weibull", {**DIFFUSION, "alpha": 3.0, "beta": 0.8}, 1),
    "bounds fall at once": ("weibull", {**DIFFUSION, "alpha": 1.0, "beta": 0.4}, 1),
    "race of three": ("racing_diffusion_3", {"v0": 2.0, "v1": 1.0, "v2": 0.5, **RACE}, 0),
    "race without noise": ("lba3", {"v0": 0.6, "v1": 0.45, "v2": 0.3, **BALLISTIC}, 0),
}
"""Model of the peer, its numbers, and the response that is right."""


def one(value: float, shape: tuple[int, int] = (1, 1)) -> Array:
    return np.full(shape, value)


def diffusion_bins(
    theta: dict[str, float], model: str, further: float, shape: tuple[int, int]
) -> Array:
    """Ours for a model with two bounds; ``a`` is half of their distance."""
    bound = 2 * (theta["a"] + further)
    falls: dict[str, Callable[[Array], Array]] = {
        "angle": lambda t: theta["a"] - t * np.tan(theta["theta"]),
        "weibull": lambda t: theta["a"] * np.exp(-((t / theta["beta"]) ** theta["alpha"])),
    }
    fall = falls.get(model)
    return np.asarray(BLOCKS["changing_drift_bins"](
        TIMES,
        lambda begin, end: theta["v"] + 0.0 * begin,
        one(bound, shape),
        one((2 * theta["a"] * theta["z"] + further) / bound, shape),
        one(DELAY, shape),
        one(SPREAD, shape),
        one(theta["sv"], shape) if "sv" in theta else None,
        np,
        one(2 * theta["a"] * theta["sz"] / bound, shape) if "sz" in theta else None,
        None if fall is None else lambda t: (np.maximum(fall(t), 0.0) + further) / (theta["a"] + further),
    ))  # fmt: skip


def race_bins(theta: dict[str, float], model: str, further: float, shape: tuple[int, int]) -> Array:
    """Ours for three accumulators of which the first is right."""
    times = BLOCKS["race_times"](np)
    middle = theta["b"] - theta["A"] / 2 + further
    span = one(theta["A"] / 2 / middle, shape)
    below = []
    for name in ("v0", "v1", "v2"):
        drift, distance = one(theta[name], shape), one(middle, shape)
        if model == "lba3":
            inner = [item[..., None] for item in (drift, one(0.1, shape), distance, span)]
            below.append(BLOCKS["ballistic"](times, *inner, np))
        else:
            below.append(BLOCKS["arrivals"](times, drift, distance, span, None, None, np))
    return np.asarray(
        BLOCKS["race_bins"](TIMES, times, below, one(DELAY, shape), one(SPREAD, shape), np)
    )


def ours(
    model: str, theta: dict[str, float], further: float, shape: tuple[int, int] = (1, 1)
) -> Array:
    """Probabilities of the bins, ``(n_draws, n_trials, n_bins)``."""
    of = race_bins if model in ("lba3", "racing_diffusion_3") else diffusion_bins
    return of(theta, model, 0.0 if model == "lba3" else further, shape)


def milliseconds(model: str, theta: dict[str, float]) -> float:
    """Processor time of ours for 128 draws of 24 trials."""
    found = []
    for _ in range(7):
        begun = time.process_time()
        ours(model, theta, 0.0, (128, 24))
        found.append(1000 * (time.process_time() - begun))
    return round(float(np.median(found)), 1)


def against(peer: str, name: str) -> dict[str, Any]:
    """One case beside the peer's walks."""
    model, theta, right = CASES[name]
    asked = [model, theta, N_WALKS, STEP_S, right, list(EDGES), DELAY, SPREAD, SEED]
    done = subprocess.run(
        [peer, "-c", PEER, json.dumps(asked)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    counts = np.array(found["counts"])
    n, p = int(counts.sum()), ours(model, theta, FURTHER)[0, 0]
    by_chance = np.random.default_rng(SEED).multinomial(n, p, 400) / n - p
    away = counts / n - p
    distance = np.abs(by_chance).sum(axis=-1) / 2
    return {
        "n_walks": n,
        "total_variation": float(np.abs(away).sum() / 2),
        "total_variation_by_chance": [float(distance.mean()), float(np.quantile(distance, 0.975))],
        "largest_difference": float(np.abs(away).max()),
        "largest_by_chance": float(np.quantile(np.abs(by_chance).max(axis=-1), 0.975)),
        "peer_milliseconds": round(1000 * found["seconds"], 1),
    }


FALLS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "evenly, to a fifth": (lambda t: 1 - 0.8 * min(t, 1.0), lambda t: -0.8 * (t < 1.0)),
    "to a half after 0.3": (lambda t: 1 / (1 + t / 0.3), lambda t: -1 / 0.3 / (1 + t / 0.3) ** 2),
    "to a half after 0.05": (lambda t: 1 / (1 + t / 0.05), lambda t: -20 / (1 + 20 * t) ** 2),
}
"""Share of the bounds' distance and its change, by time in units of its square."""


def against_the_equation() -> list[dict[str, Any]]:
    """Total variation of the block's steps for bounds that fall."""
    ends, lines = BLOCKS["step_times"](np.array([1.0]), np)[0], []
    for name, (share, change) in FALLS.items():
        for drift, start in ((0.0, 0.5), (2.5, 0.5), (8.0, 0.3), (18.0, 0.5)):
            known = solved(drift, start, share, change, ends)
            left = np.clip([share(t) for t in ends], 0.05, 1.0)[None]
            p = BLOCKS["passages"](
                np.full((1, 35), drift), np.array([1.0]), np.array([start]), np, None, left
            )[0]
            lines.append({
                "bounds": name, "drift": drift, "start": start,
                "total_variation": float(np.abs(p - known).sum() / 2), "mass": float(p.sum()),
            })  # fmt: skip
    return lines


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", help="Python of a virtual environment that has ssm-simulators.")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    cases: dict[str, Any] = {}
    for name, (model, theta, _) in CASES.items():
        cases[name] = {"model": model, "numbers": theta, "milliseconds": milliseconds(model, theta)}
        if chosen.peer:
            cases[name] |= against(chosen.peer, name)
        print(name, cases[name], flush=True)
    equation = against_the_equation()
    for line in equation:
        print(line)
    result = {
        "provenance": provenance(), "seed": SEED, "n_walks": N_WALKS, "step_s": STEP_S,
        "cases": cases, "equation": equation,
    }  # fmt: skip
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
