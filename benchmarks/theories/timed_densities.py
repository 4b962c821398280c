"""Densities of timed answers against HSSM's analytical likelihoods: how far apart they are, and how fast each is.

    python benchmarks/run.py theories/timed_densities --peer VENV/bin/python    # an environment of its own with hssm

HSSM (0.3.0) has closed forms for the diffusion, with and without drifts that vary, for racing diffusions and for linear
ballistic accumulators. Ours are the building blocks of `domains/kit/outcomes.py`: densities of the diffusion at
400 times, and shares of answers in steps of time, for which HSSM's density is integrated (16 points of Gauss and
Legendre in each step). Times are processor seconds for 100,000 densities, the median of five, without compiling.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import ROOT, provenance
from lakatos.domains.kit import outcomes
from lakatos.domains.kit.outcomes import outcome_helpers
from tests.domains.kit.wiener import WIENER

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "theories" / "timed_densities.json"
BLOCKS: dict[str, Any] = {}
exec(
    outcome_helpers(WIENER, outcomes.CHANGING_DRIFT, outcomes.SHIFTED_WALD, outcomes.RACE),
    BLOCKS,
)
TIMES = np.linspace(0.02, 4.0, 400)
N_TIMED = 100_000
DIFFUSIONS = (
    {"v": 1.5, "a": 1.0, "z": 0.55, "sv": 0.0},
    {"v": -0.5, "a": 0.6, "z": 0.3, "sv": 0.0},
    {"v": 3.0, "a": 1.4, "z": 0.5, "sv": 0.0},
    {"v": 1.5, "a": 1.0, "z": 0.55, "sv": 1.0},
    {"v": 2.5, "a": 0.7, "z": 0.4, "sv": 2.0},
)
"""Drift, half of the bounds' distance, start, and standard deviation of drifts."""
RACES: tuple[tuple[str, dict[str, float]], ...] = (
    ("rdm3", {"A": 0.4, "b": 1.2, "v0": 2.0, "v1": 1.0, "v2": 0.5}),
    ("rdm3", {"A": 0.05, "b": 0.8, "v0": 3.0, "v1": 2.0, "v2": 2.0}),
    ("lba3", {"A": 0.3, "b": 0.5, "v0": 0.6, "v1": 0.45, "v2": 0.3}),
    ("lba3", {"A": 0.1, "b": 0.6, "v0": 0.8, "v1": 0.7, "v2": 0.2}),
)
PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
import hssm.likelihoods.analytical as known
import pytensor, pytensor.tensor as pt
NAMES = {"ddm": "v a z t".split(), "ddm_sdv": "v a z t sv".split(),
         "lba3": "A b v0 v1 v2".split(), "rdm3": "A b v0 v1 v2 t".split()}
compiled = {}
def ask_of(model):
    if model not in compiled:
        of = getattr(known, "logp_" + model)
        if model == "rdm3":
            import jax
            compiled[model] = jax.jit(of)
        else:
            shown, given = pt.matrix(), [pt.scalar() for _ in NAMES[model]]
            compiled[model] = pytensor.function([shown, *given], of(shown, *given))
    return compiled[model]
found = []
for model, theta, times, responses, n_timed in json.load(sys.stdin):
    data = np.column_stack([times, responses]).astype(float)
    values = [float(theta.get(name, 0.0)) for name in NAMES[model]]
    ask = ask_of(model)
    log_p = np.asarray(ask(data, *values), dtype=float)
    many, seconds = np.resize(data, (n_timed, 2)), []
    for _ in range(6 if n_timed else 0):
        begun = time.process_time()
        np.asarray(ask(many, *values))
        seconds.append(time.process_time() - begun)
    found.append([np.exp(log_p).tolist(), float(np.median(seconds[1:])) if seconds else 0.0])
print(json.dumps(found))
"""


def column(value: float) -> Array:
    return np.full((1, 1), value)


def our_density(theta: dict[str, float], times: Array) -> Array:
    """``(2, n_times)`` of reaching the upper bound and the lower one."""
    bound, start = np.array(2 * theta["a"]), np.array(theta["z"])
    spread = np.array(theta["sv"])
    lower = BLOCKS["wiener"](times, np.array(theta["v"]), bound, start, spread, np)
    upper = BLOCKS["wiener"](times, np.array(-theta["v"]), bound, 1 - start, spread, np)
    return np.stack([upper, lower])


def our_steps(theta: dict[str, float]) -> tuple[Array, Array]:
    """Ends of the steps of a diffusion, and the ``(2, n_steps)`` share of walks that end at each bound in each."""
    bound = np.array([2 * theta["a"]])
    ends = BLOCKS["step_times"](bound, np)[0]
    points = ((-(3**0.5), 1 / 6), (0.0, 2 / 3), (3**0.5, 1 / 6)) if theta["sv"] else ((0.0, 1.0),)
    shares = sum(
        weight
        * BLOCKS["passages"](
            np.full((1, 35), theta["v"] + point * theta["sv"]), bound, np.array([theta["z"]]), np
        )[0]
        for point, weight in points
    )
    return ends, np.asarray(shares)


def our_race(model: str, theta: dict[str, float]) -> tuple[Array, Array]:
    """Ends of the steps of a race of three, and the ``(3, n_steps)`` share that each wins in each."""
    times = BLOCKS["race_times"](np)
    middle = theta["b"] - theta["A"] / 2
    span = column(theta["A"] / 2 / middle)
    below = []
    for name in ("v0", "v1", "v2"):
        drift, distance = column(theta[name]), column(middle)
        if model == "lba3":
            inner = [item[..., None] for item in (drift, column(0.1), distance, span)]
            below.append(BLOCKS["ballistic"](times, *inner, np))
        else:
            below.append(BLOCKS["arrivals"](times, drift, distance, span, None, None, np))
    return times, np.stack(BLOCKS["race"](below, np))[:, 0, 0]


def points_in(ends: Array) -> tuple[Array, Array]:
    """Points of Gauss and Legendre in each step, and their weights, ``(n_steps, 16)``."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(ends)[:, None]
    return np.maximum(ends[:-1, None] + half * (1 + nodes), 1e-6), half * weights


def median_seconds(theta: dict[str, float]) -> float:
    """Processor time of `wiener` for as many densities as the peer is timed with."""
    times, found = np.resize(TIMES, N_TIMED), []
    bound, start, spread = (np.array(x) for x in (2 * theta["a"], theta["z"], theta["sv"]))
    for _ in range(5):
        begun = time.process_time()
        BLOCKS["wiener"](times, np.array(theta["v"]), bound, start, spread, np)
        found.append(time.process_time() - begun)
    return float(np.median(found))


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", required=True, help="Python of an environment that has hssm.")
    parser.add_argument("--out", type=Path, default=RESULT)
    chosen = parser.parse_args()
    asked: list[tuple[str, dict[str, float], list[float], list[int], int]] = []
    for theta in DIFFUSIONS:
        model = "ddm_sdv" if theta["sv"] else "ddm"
        points, _ = points_in(our_steps(theta)[0])
        every = np.concatenate([TIMES, points.ravel()])
        for side in (1, -1):
            # one of both is timed
            n_timed = N_TIMED if side == 1 else 0
            asked.append((model, theta, every.tolist(), [side] * len(every), n_timed))
    for model, theta in RACES:
        points, _ = points_in(BLOCKS["race_times"](np))
        asked += [
            (model, theta, points.ravel().tolist(), [runner] * points.size, N_TIMED * (runner == 0))
            for runner in range(3)
        ]
    done = subprocess.run(
        [chosen.peer, "-c", PEER],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = iter(json.loads(done.stdout.splitlines()[-1]))
    cases: list[dict[str, Any]] = []
    for theta in DIFFUSIONS:
        upper, seconds = next(answers)
        lower, _ = next(answers)
        known = np.array([upper, lower])
        n = len(TIMES)
        ends, shares = our_steps(theta)
        _, weights = points_in(ends)
        known_shares = (known[:, n:].reshape(2, *weights.shape) * weights).sum(axis=-1)
        mine = our_density(theta, TIMES)
        cases.append({
            "model": "diffusion, drifts vary" if theta["sv"] else "diffusion", "numbers": theta,
            "largest_difference_of_density": float(np.abs(mine - known[:, :n]).max()),
            "largest_density": float(known[:, :n].max()),
            "total_variation_of_steps": float(np.abs(shares - known_shares).sum() / 2),
            "our_seconds": median_seconds(theta), "their_seconds": seconds,
        })  # fmt: skip
    for model, theta in RACES:
        ends, shares = our_race(model, theta)
        _, weights = points_in(ends)
        parts = [next(answers) for _ in range(3)]
        known = np.array([part[0] for part in parts]).reshape(3, *weights.shape)
        known_shares = (known * weights).sum(axis=-1)
        cases.append({
            "model": {"rdm3": "racing diffusions", "lba3": "ballistic accumulators"}[model],
            "numbers": theta,
            "total_variation_of_steps": float(np.abs(shares - known_shares).sum() / 2),
            "their_total": float(known_shares.sum()), "our_total": float(shares.sum()),
            "their_seconds": parts[0][1],
        })  # fmt: skip
    for case in cases:
        print(case)
    result = {"provenance": provenance(), "n_timed": N_TIMED, "cases": cases}
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
