"""What induction costs: processor seconds and peak memory, before and now, in one run.

    python benchmarks/run.py theories/induction --against CHECKOUT      # benchmarks/raw/theories/induction.json

25 simulated people per experiment, who differ in how they weigh four experts' ratings, choose among 48 pairs of
products, each shown twice. The same answers go through `induce` of this checkout and of another one, each in a process
of its own. Seconds are of the processor, imports included, since other work on the machine makes the clock useless. The
theories are compared by the digest of their sources.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.provenance import ROOT, provenance

RESULT = ROOT / "benchmarks" / "raw" / "theories" / "induction.json"
WORK = """
import hashlib, json, resource, sys
import numpy as np
from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.experiments.task import Trials
from lakatos.theories.discovery.induction.induce import induce

seed, n_experiments, remembers = map(int, sys.argv[1:])
domain, rng = MultiattributeDomain(), np.random.default_rng(seed)
space = {"validities": [0.9, 0.8, 0.7, 0.6], "levels": [0, 1, 2, 3]}

def experiment(name):
    stimuli = domain.candidates(space, rng, 48)
    n_trials, people = len(stimuli), np.arange(25)
    order = rng.permuted(np.tile(np.arange(n_trials), (25, 2)), axis=1)
    power, weights = rng.uniform(0.3, 1, 25), rng.dirichlet(np.full(4, 3.0), 25)
    worth = stimuli["ratings"][None] ** power[:, None, None, None]
    lead = 6 * ((worth[:, :, 1] - worth[:, :, 0]) * weights[:, None]).sum(axis=-1)
    response, last = np.zeros_like(order), np.zeros(25)
    for step in range(order.shape[1]):
        p = 1 / (1 + np.exp(-lead[people, order[:, step]] - 2.0 * remembers * last))
        response[:, step] = rng.random(25) < p
        last = 2.0 * response[:, step] - 1
    ones = np.ones(order.size, dtype=np.int64)
    return Trials(name, stimuli, np.repeat(people, order.shape[1]), order.ravel(), response.ravel(), ones)

found = induce(domain, [experiment(f"number {k}") for k in range(n_experiments)], np.random.default_rng(seed))
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({
    "processor_seconds": used.ru_utime + used.ru_stime,
    "peak_mib": used.ru_maxrss / 1024,
    "theories": [[item.kind, item.criterion, hashlib.sha256(item.source.encode()).hexdigest()[:12]] for item in found],
}))
"""


def measure(checkout: Path, seed: int, n_experiments: int, remembers: bool) -> dict[str, object]:
    """One call of `induce` in a checkout, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(checkout), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", WORK, str(seed), str(n_experiments), str(int(remembers))]
    found = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=True
    )
    result: dict[str, object] = json.loads(found.stdout)
    return result


def main() -> None:
    """Measure, and write the results down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", type=Path, required=True, help="another checkout")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--experiments", type=int, default=2)
    arguments = parser.parse_args()
    cells = []
    for remembers in (False, True):
        for seed in range(arguments.seeds):
            pair = {
                name: measure(checkout, seed, arguments.experiments, remembers)
                for name, checkout in (("before", arguments.against.resolve()), ("now", ROOT))
            }
            cells.append({"seed": seed, "people_remember": remembers, **pair})
            ratio = pair["before"]["processor_seconds"] / pair["now"]["processor_seconds"]  # type: ignore[operator]
            print(f"seed {seed}, people remember: {remembers}: {ratio:.1f} times less", flush=True)
            RESULT.write_text(
                json.dumps({"provenance": provenance(), "cells": cells}, indent=1) + "\n"
            )
    for name in ("before", "now"):
        seconds = [cell[name]["processor_seconds"] for cell in cells]
        print(f"{name}: median {statistics.median(seconds):.1f} processor seconds")
