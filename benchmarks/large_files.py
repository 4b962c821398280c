"""Large files of answers, from a CSV to a verdict: ``python benchmarks/run.py large_files [--rows 1000000 10000000]``.

Simulated people who discount hyperbolically choose between money now and later, 500 choices each (100 where there are
fewer than two million rows), of 2,000 different pairs. Each command of a user is a process of its own: processor
seconds with all its children, seconds on the clock, the peak memory of all its processes, and how it ended. A cell that
is in the JSON is not run again; `--again` drops those of the sizes that are asked for.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.memory_use import memory_mib
from benchmarks.provenance import ROOT, provenance

RESULTS = ROOT / "benchmarks" / "raw" / "large_files.json"
SEED = 11
N_PAIRS = 2_000
COLUMNS = {
    "participant": "subject",
    "response": "choice",
    "order": "trial_no",
    "stimulus": '{"amounts": ["ss_amount", "ll_amount"], "delays_days": [0, "ll_days"]}',
}


def write_answers(path: Path, n_rows: int) -> dict[str, int]:
    """Answers of people who discount hyperbolically, each with a rate and a sensitivity of their own."""
    rng = np.random.default_rng(SEED)
    n_each = 500 if n_rows >= 2_000_000 else 100
    n_people = n_rows // n_each
    soon = rng.integers(5, 80, N_PAIRS)
    late = soon + rng.integers(1, 80, N_PAIRS)
    days = rng.integers(1, 365, N_PAIRS)
    rates = np.exp(rng.normal(-4.5, 1.0, n_people))
    sensitivities = np.exp(rng.normal(-1.5, 0.4, n_people))
    at_once = 1_000
    for first in range(0, n_people, at_once):
        people = np.repeat(np.arange(first, min(first + at_once, n_people)), n_each)
        pair = rng.integers(N_PAIRS, size=len(people))
        gain = late[pair] / (1 + rates[people] * days[pair]) - soon[pair]
        later = rng.random(len(people)) < 1 / (1 + np.exp(-sensitivities[people] * gain))
        frame = pd.DataFrame(
            {
                "subject": people,
                "trial_no": np.tile(np.arange(n_each), len(people) // n_each),
                "ss_amount": soon[pair],
                "ll_amount": late[pair],
                "ll_days": days[pair],
                "choice": later.astype(int),
            }
        )
        frame.to_csv(path, mode="a" if first else "w", header=not first, index=False)
    return {"n_people": n_people, "n_rows": n_people * n_each, "bytes": path.stat().st_size}


def measured(words: list[str], most_s: float) -> dict[str, Any]:
    """Run a command of lakatos to its end, or until it takes too long."""
    environment = {key: value for key, value in os.environ.items() if "DONTWRITE" not in key}
    begun, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "lakatos.flows.commands.main", *words]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, memory_mib(process.pid))
            if time.perf_counter() - begun > most_s:
                process.kill()
            time.sleep(0.25)
        out.seek(0)
        said = out.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(said, flush=True)
    return {
        "command": "lakatos " + " ".join(word.rpartition("/")[2] for word in words),
        "status": process.returncode,
        "processor_s": round(after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime, 1),
        "clock_s": round(time.perf_counter() - begun, 1),
        "peak_mib": round(peak),
        "said": said[-2_000:].replace(f"{words[-1]}", ""),
    }


def main() -> None:
    """Measure each size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--most-s", type=float, default=2_400.0)
    given = parser.parse_args()
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cells": {}}
    for n_rows in given.rows:
        if given.again:
            found["cells"].pop(str(n_rows), None)
        if str(n_rows) in found["cells"]:
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            made = write_answers(folder / "answers.csv", n_rows)
            study = folder / "answers.toml"
            column = [
                f"--column={key}={value}" for key, value in COLUMNS.items() if key != "stimulus"
            ]
            column += [
                '--column=amounts=["ss_amount", "ll_amount"]',
                '--column=delays_days=[0, "ll_days"]',
            ]
            told = [measured(["new", str(study), "--domain", "intertemporal", *column, "--data",
                              str(folder / "answers.csv")], given.most_s)]  # fmt: skip
            if told[-1]["status"] == 0:
                told.append(
                    measured(["run", str(study), "--engine", "none", "--workers", "1", "--runs",
                              str(folder / "runs")], given.most_s)
                )  # fmt: skip
        found["cells"][str(n_rows)] = {**made, "commands": told, **provenance()}
        RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
