"""What it takes to read files of 10 thousand to a million rows: ``python benchmarks/run.py reading [--rows 10000]``.

Simulated responses of 1,000 participants: choices between money now and later, choices with rewards, and responses with
their times. Each file is described (`lakatos data describe`) and two or three published theories are scored on it
(`lakatos theory score`, and `lakatos.score` as a notebook calls it), each in a process of its own: seconds of the
processor, seconds on the clock, and the peak memory of the process (``ru_maxrss``). A cell that is in the JSON is not
run again; `--again` drops those of the sizes that are asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.provenance import ROOT, provenance

RESULTS = ROOT / "benchmarks" / "raw" / "reading.json"
N_PEOPLE = 1_000
SEED = 3
NOTEBOOK = "import lakatos, sys; print(lakatos.score(sys.argv[1], sys.argv[2:]))"


def two_options(rng: np.random.Generator, n_each: int) -> dict[str, Any]:
    """Choices between money now and later of people who discount hyperbolically."""
    rates = np.exp(rng.normal(-4.5, 1.0, (N_PEOPLE, 1)))
    sensitivities = np.exp(rng.normal(-1.5, 0.4, (N_PEOPLE, 1)))
    n_pairs = 2_000
    soon = rng.integers(5, 80, n_pairs)
    late, days = soon + rng.integers(1, 80, n_pairs), rng.integers(1, 365, n_pairs)
    pair = rng.integers(n_pairs, size=(N_PEOPLE, n_each))
    gain = late[pair] / (1 + rates * days[pair]) - soon[pair]
    chosen = rng.random(pair.shape) < 1 / (1 + np.exp(-sensitivities * gain))
    return {
        "ss_amount": soon[pair], "ss_delay": np.zeros_like(pair), "ll_amount": late[pair],
        "ll_delay": days[pair], "choice": 1 * chosen,
    }  # fmt: skip


def learning(rng: np.random.Generator, n_each: int) -> dict[str, Any]:
    """Choices of people who learn which of two options pays more often."""
    chances = np.array([0.3, 0.7])
    rates, inverse_temperatures = rng.beta(2, 3, N_PEOPLE), rng.gamma(4, 1, N_PEOPLE)
    values, people = np.zeros((N_PEOPLE, 2)), np.arange(N_PEOPLE)
    chosen, won = np.zeros((2, N_PEOPLE, n_each), dtype=np.int64)
    for step in range(n_each):
        ahead = inverse_temperatures * (values[:, 1] - values[:, 0])
        chosen[:, step] = rng.random(N_PEOPLE) < 1 / (1 + np.exp(-ahead))
        won[:, step] = rng.random(N_PEOPLE) < chances[chosen[:, step]]
        error = won[:, step] - values[people, chosen[:, step]]
        values[people, chosen[:, step]] += rates * error
    return {"choice": chosen, "reward": won}


def times(rng: np.random.Generator, n_each: int) -> dict[str, Any]:
    """Responses to congruent and incongruent trials, right or wrong, with their times."""
    congruent = rng.integers(2, size=(N_PEOPLE, n_each))
    right = rng.random(congruent.shape) < np.where(congruent, 0.97, 0.92)
    own = rng.normal(0, 40, (N_PEOPLE, 1))
    time_ms = 300 + rng.gamma(4, 50, congruent.shape) + 40 * (1 - congruent) + own
    return {
        "condition": np.where(congruent, "congruent", "incongruent"), "correct": 1 * right,
        "rt": time_ms.clip(210, 2_500).astype(int),
    }  # fmt: skip


KINDS: Mapping[str, tuple[Callable[[np.random.Generator, int], dict[str, Any]], tuple[str, ...]]]
KINDS = {
    "two options": (two_options, ("hyperbolic", "exponential")),
    "learning": (learning, ()),
    "times": (times, ()),
}
"""What writes the responses of a kind, and the theories that are scored; all published ones where none is named."""


def write_responses(path: Path, kind: str, n_rows: int) -> None:
    """A file with a row for each response."""
    n_each = n_rows // N_PEOPLE
    made, _ = KINDS[kind]
    cells = made(np.random.default_rng(SEED), n_each)
    head = {
        "subject": np.repeat(np.arange(N_PEOPLE), n_each),
        "trial": np.tile(np.arange(1, n_each + 1), N_PEOPLE),
    }
    pd.DataFrame(head | {name: own.ravel() for name, own in cells.items()}).to_csv(
        path, index=False
    )


def measured(words: list[str]) -> dict[str, Any]:
    """Run a command to its end: seconds, and the peak memory of its process."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen([sys.executable, *words], cwd=ROOT, stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        said = out.read()
    print(said[-600:], flush=True)
    return {
        "status": process.returncode,
        "processor_s": round(used.ru_utime + used.ru_stime, 1),
        "clock_s": round(time.perf_counter() - begun, 1),
        "peak_mib": round(used.ru_maxrss / 1024),
    }


def main() -> None:
    """Measure each size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--commands", nargs="+", default=["describe", "score", "notebook"])
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": []}
    asked = {(kind, n_rows) for kind in given.kinds for n_rows in given.rows}
    if given.again:
        found["cells"] = [c for c in found["cells"] if (c["kind"], c["rows"]) not in asked]
    there = {(cell["kind"], cell["rows"], cell["command"]) for cell in found["cells"]}
    command = ["-m", "lakatos.flows.commands.main"]
    with tempfile.TemporaryDirectory() as folder:
        for kind, n_rows in sorted(asked, key=lambda item: item[1]):
            file = Path(folder) / "responses.csv"
            write_responses(file, kind, n_rows)
            theories = KINDS[kind][1]
            commands = {
                "describe": [*command, "data", "describe", str(file)],
                "score": [*command, "theory", "score", str(file), *theories, "--workers", "1"],
                "notebook": ["-c", NOTEBOOK, str(file), *theories],
            }
            for name, words in commands.items():
                if name in given.commands and (kind, n_rows, name) not in there:
                    cell = {"kind": kind, "rows": n_rows, "command": name, **measured(words)}
                    found["cells"].append(cell)
                    found |= provenance()
                    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
