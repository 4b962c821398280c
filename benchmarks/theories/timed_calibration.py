"""Whether posteriors of timed theories are calibrated: ranks of the truth among draws, over many simulated data sets.

    python benchmarks/theories/timed_calibration.py        # benchmarks/results/theories/timed_calibration.json; resumes

Parameters and answers are simulated from the model, the parameters inferred, and the rank of each true value among the
draws must be uniform (Talts et al., 2018). Three people answer six conditions of a conflict task, each three times; two
chains. Ten data sets are a part, so that it can be cut short. p is that of the most surprising point of the ranks'
distribution function, the least of all quantities, corrected for their number; coverage is the share of true values
within the middle 80% of their draws.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.provenance import provenance  # noqa: E402
from benchmarks.theories.posterior import asked, load  # noqa: E402
from lakatos.experiments.domains import DOMAINS  # noqa: E402
from lakatos.experiments.interval import exact_interval  # noqa: E402
from lakatos.theories.fitting.posterior_check import (  # noqa: E402
    simulation_based_calibration,
    uniformity,
)
from lakatos.theories.sandbox.client import Sandbox  # noqa: E402

OUT = ROOT / "benchmarks" / "results" / "theories" / "timed_calibration.json"
THEORIES = ("steady", "ex_gaussian", "ratcliff", "fading_pull", "impatient")
"""A plain diffusion, ex-Gaussian times, drifts that vary, a pull that fades, bounds that fall."""
N_PARTS, N_EACH, N_RANKS = 10, 10, 20
N_PEOPLE, N_CONDITIONS, REPETITIONS = 3, 6, 3
SETTINGS: dict[str, Any] = {"draws": 100, "tune": 150, "chains": 2, "sweeps": 3}


def part(name: str, number: int) -> dict[str, Any]:
    """Ranks of ten data sets."""
    theory = load("attention", name)
    empty = asked(
        DOMAINS["attention"], N_PEOPLE, N_CONDITIONS, REPETITIONS, np.random.default_rng(2)
    )
    begun = time.perf_counter()
    with Sandbox() as sandbox:
        found = simulation_based_calibration(
            theory, [empty], sandbox, domain=DOMAINS["attention"], gradient_free=True,
            n_simulations=N_EACH, n_ranks=N_RANKS, seed=100 + number, **SETTINGS,
        )  # fmt: skip
    return {
        "theory": name,
        "part": number,
        "method": found.method,
        "ranks": {key: own.tolist() for key, own in found.ranks.items()},
        "wall_s": time.perf_counter() - begun,
    }


def summary(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tests over all data sets of a theory."""
    lines = []
    for name in THEORIES:
        own = [item["ranks"] for item in parts if item["theory"] == name]
        if not own:
            continue
        ranks = {key: np.concatenate([item[key] for item in own]) for key in own[0]}
        p_values = {key: uniformity(item, N_RANKS).distribution for key, item in ranks.items()}
        every = np.concatenate(list(ranks.values()))
        # the middle 16 of 20 ranks
        inside = int(((every >= 2) & (every < N_RANKS - 2)).sum())
        lines.append({
            "theory": name, "n_data_sets": len(next(iter(ranks.values()))), "n_quantities": len(ranks),
            "p_value": min(1.0, len(ranks) * min(p_values.values())),
            "least": min(p_values, key=lambda key: p_values[key]),
            "coverage_80": [inside / len(every), *exact_interval(inside, len(every))],
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
    chosen = parser.parse_args()
    parts: list[dict[str, Any]] = []
    if chosen.out.exists():
        parts = json.loads(chosen.out.read_text())["parts"]
    begun = time.monotonic()
    for number in range(chosen.parts):
        for name in chosen.theories:
            done = {(item["theory"], item["part"]) for item in parts}
            if (name, number) in done or time.monotonic() - begun > chosen.seconds:
                continue
            parts.append(part(name, number))
            print(name, number, round(parts[-1]["wall_s"], 1), flush=True)
            result = {"provenance": provenance(), "settings": SETTINGS, "summary": summary(parts)}
            chosen.out.write_text(json.dumps(result | {"parts": parts}, indent=1) + "\n")
    for line in summary(parts):
        print({key: value for key, value in line.items() if key != "p_values"})


if __name__ == "__main__":
    main()
