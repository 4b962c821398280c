"""Whether posteriors of timed theories are calibrated: ranks of the truth among draws, over many simulated data sets.

    python benchmarks/run.py theories/timed_calibration        # benchmarks/raw/theories/timed_calibration.json; resumes

Parameters and answers are simulated from the model, the parameters inferred, and the rank of each true value among the
draws must be uniform (Talts et al., 2018). Three people answer six conditions of a conflict task, each three times;
chains are what `simulation_based_calibration` does by default. Five data sets are a part, so that it can be cut short;
each theory and each part has truths of its own. p is that of the most surprising point of the ranks' distribution
function, the least of all quantities, corrected for their number; coverage is the share of true values within the
middle 80% of their draws, its interval by data sets drawn again with replacement.

    python benchmarks/run.py theories/timed_calibration --known

tries the sampler alone, on units whose answers have normal likelihoods with correlated parameters.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import ROOT, provenance
from benchmarks.theories.calibration import simulation_based_calibration, uniformity
from benchmarks.theories.posterior import asked, load
from lakatos.domains import DOMAINS
from lakatos.theories.engine.fitting.metropolis import sample
from lakatos.theories.engine.sandbox.client import Sandbox

OUT = ROOT / "benchmarks" / "raw" / "theories" / "timed_calibration.json"
THEORIES = ("steady", "ex_gaussian", "ratcliff", "fading_pull", "impatient")
"""A plain diffusion, ex-Gaussian times, drifts that vary, a pull that fades, bounds that fall."""
N_PARTS, N_EACH, N_RANKS = 20, 5, 20
N_PEOPLE, N_CONDITIONS, REPETITIONS = 3, 6, 3
SHORT: dict[str, Any] = {"draws": 100, "tune": 500, "chains": 2, "sweeps": 3}
"""Chains as short as they were when intervals were too narrow."""


def part(name: str, number: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Ranks of five data sets, and how independent their draws were."""
    theory = load("attention", name)
    empty = asked(
        DOMAINS["attention"], N_PEOPLE, N_CONDITIONS, REPETITIONS, np.random.default_rng(2)
    )
    begun = time.perf_counter()
    before = processor_seconds()
    with Sandbox() as sandbox:
        found = simulation_based_calibration(
            theory, [empty], sandbox, domain=DOMAINS["attention"], gradient_free=True,
            n_simulations=N_EACH, n_ranks=N_RANKS, seed=100 * THEORIES.index(name) + number, **settings,
        )  # fmt: skip
    return {
        "theory": name,
        "part": number,
        "method": found.method,
        "ranks": {key: own.tolist() for key, own in found.ranks.items()},
        "n_effective": found.n_effective.round(1).tolist(),
        "r_hat": found.r_hat.round(3).tolist(),
        "wall_s": time.perf_counter() - begun,
        "processor_s": processor_seconds() - before,
    }


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    own, others = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def coverage(ranks: NDArray[Any]) -> list[float]:
    """Share of ``(n_quantities, n_data_sets)`` ranks in the middle 80%, with a 95% interval over data sets."""
    # the middle 16 of 20 ranks
    inside = ((ranks >= 2) & (ranks < N_RANKS - 2)).mean(axis=0)
    again = np.random.default_rng(0).choice(inside, (2000, len(inside))).mean(axis=1)
    return [float(inside.mean()), *map(float, np.quantile(again, (0.025, 0.975)))]


def known(tune: int, n_data_sets: int = 60) -> dict[str, Any]:
    """Coverage where seven parameters of three units have normal likelihoods, all correlated by 0.95."""
    n, noise = 7, 0.5
    root = np.linalg.cholesky(0.05 * np.eye(n) + 0.95 * np.ones((n, n)))
    to_standard = np.linalg.inv(root) / noise
    ranks: dict[str, list[NDArray[Any]]] = {"center": [], "spread": [], "first": []}
    for number in range(n_data_sets):
        rng = np.random.default_rng([0, number])
        center, spread = rng.standard_normal(n), np.abs(rng.standard_normal(n))
        units = center + spread * rng.standard_normal((N_PEOPLE, n))
        seen = units + noise * rng.standard_normal(units.shape) @ root.T

        def log_likelihood(z: NDArray[Any], seen: NDArray[Any] = seen) -> NDArray[Any]:
            return np.asarray(-0.5 * (((z - seen) @ to_standard.T) ** 2).sum(axis=-1))

        own = SHORT | {"tune": tune}
        found = sample(log_likelihood, np.zeros(N_PEOPLE, dtype=bool), n, rng=rng, **own)
        some = np.linspace(0, own["draws"] * own["chains"] - 1, N_RANKS - 1).astype(int)
        pairs = {"center": (center, found.center), "spread": (spread, found.spread)}
        pairs["first"] = (units[0], found.z[:, :, 0])
        for name, (truth, drawn) in pairs.items():
            ranks[name].append((drawn.reshape(-1, n)[some] < truth).sum(axis=0))
    told = {name: coverage(np.array(items).T) for name, items in ranks.items()}
    return {"tune": tune, "n_data_sets": n_data_sets, "coverage_80": told}


def summary(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tests over all data sets of a theory."""
    lines = []
    for name in THEORIES:
        mine = [item for item in parts if item["theory"] == name]
        if not mine:
            continue
        own = [item["ranks"] for item in mine]
        effective = np.concatenate([item["n_effective"] for item in mine])
        ranks = {key: np.concatenate([item[key] for item in own]) for key in own[0]}
        p_values = {key: uniformity(item, N_RANKS).distribution for key, item in ranks.items()}
        every = np.stack(list(ranks.values()))
        lines.append({
            "theory": name, "n_data_sets": len(next(iter(ranks.values()))), "n_quantities": len(ranks),
            "p_value": min(1.0, len(ranks) * min(p_values.values())),
            "least": min(p_values, key=lambda key: p_values[key]),
            "coverage_80": coverage(every),
            "n_effective": {"median": float(np.median(effective)), "least": float(effective.min())},
            "r_hat_median": float(np.median(np.concatenate([item["r_hat"] for item in mine]))),
            "p_values": p_values,
        })  # fmt: skip
    return lines


def main() -> None:
    """Measure what is missing, print and write after each part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=int, default=N_PARTS)
    parser.add_argument("--theories", nargs="*", default=THEORIES)
    parser.add_argument("--seconds", type=float, default=1e9, help="Begin nothing after so many.")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--known", action="store_true", help="Try the sampler alone.")
    parser.add_argument(
        "--short", action="store_true", help="Chains that are too short, on the same data sets."
    )
    chosen = parser.parse_args()
    if chosen.known:
        for tune in (150, SHORT["tune"]):
            print(known(tune), flush=True)
        return
    settings = SHORT if chosen.short else {}
    parts: list[dict[str, Any]] = []
    if chosen.out.exists():
        parts = json.loads(chosen.out.read_text())["parts"]
    begun = time.monotonic()
    for number in range(chosen.parts):
        for name in chosen.theories:
            done = {(item["theory"], item["part"]) for item in parts}
            if (name, number) in done or time.monotonic() - begun > chosen.seconds:
                continue
            parts.append(part(name, number, settings))
            print(name, number, round(parts[-1]["processor_s"], 1), flush=True)
            result = {"provenance": provenance(), "settings": settings, "summary": summary(parts)}
            chosen.out.write_text(json.dumps(result | {"parts": parts}, indent=1) + "\n")
    for line in summary(parts):
        print({key: value for key, value in line.items() if key != "p_values"})
