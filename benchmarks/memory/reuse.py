"""The reuse gate against fixed thresholds, on streams of plans without drift.

    python benchmarks/memory/reuse.py        # benchmarks/results/memory/reuse.json

A tool saves 1 at every use after it was built and costs ``build`` once. Rules: *eager* builds at first sight, a fixed
threshold at the n-th, *ours* as `memory.recurrence.gate` with the discount that the stream itself shows, *published*
the same with the discount 0.5; the *oracle* knows all tasks to come, and builds at the second sight, before which
nobody has two studies to make a tool from.

What would make this fail: streams whose plans come in bursts, as the gate expects what was frequent to stay so.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.memory.summary import over_seeds, stream, write  # noqa: E402
from lakatos.memory.recurrence import FLOOR, MARGIN, discount_of, expected_uses  # noqa: E402

CELLS = ((168, 120, 0.8), (168, 300, 0.8), (500, 400, 1.0), (1000, 2000, 1.0))
BUILDS = (1, 3, 8)
THRESHOLDS = (1, 2, 3, 5, 8)


def values(tasks: np.ndarray, build: float) -> dict[str, tuple[float, int, int]]:
    """Net value, tools built and tools never used, by rule."""
    n_tasks = len(tasks)
    totals = np.bincount(tasks)
    rules = [*(f"threshold {n}" for n in THRESHOLDS), "published discount", "ours", "oracle"]
    found = dict.fromkeys(rules, (0.0, 0, 0))
    built: dict[str, set[int]] = {rule: set() for rule in rules}
    counts = np.zeros(len(totals), dtype=np.int64)
    singles = doubles = 0
    for seen, family in enumerate(tasks, start=1):
        counts[family] += 1
        count = int(counts[family])
        singles += (count == 1) - (count == 2)
        doubles += (count == 2) - (count == 3)
        left = int(totals[family]) - count
        own = discount_of(singles, doubles)
        decides = {
            **{f"threshold {n}": count >= n for n in THRESHOLDS},
            "published discount": count >= FLOOR
            and expected_uses(count, seen, n_tasks) >= MARGIN * build,
            "ours": count >= FLOOR and expected_uses(count, seen, n_tasks, own) >= MARGIN * build,
            "oracle": count >= FLOOR and left > build,
        }
        for rule, build_now in decides.items():
            if build_now and family not in built[rule]:
                built[rule].add(int(family))
                value, n_built, n_unused = found[rule]
                found[rule] = (value + left - build, n_built + 1, n_unused + (left == 0))
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seeds", type=int, default=200)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun = time.monotonic()
    rows: list[dict[str, Any]] = []
    for n_tasks, n_families, exponent in CELLS:
        streams = [
            stream(
                np.random.default_rng([seed, n_tasks, n_families]), n_tasks, n_families, exponent
            )
            for seed in range(given.seeds)
        ]
        for build in BUILDS:
            runs = [values(tasks, build) for tasks in streams]
            for rule in runs[0]:
                n_built, n_unused = (sum(run[rule][place] for run in runs) for place in (1, 2))
                row = {
                    "n_tasks": n_tasks,
                    "n_families": n_families,
                    "exponent": exponent,
                    "build": build,
                    "rule": rule,
                }
                row |= {
                    "value": over_seeds([run[rule][0] for run in runs]),
                    "built": n_built / len(runs),
                }
                rows.append({**row, "never_used": n_unused / n_built if n_built else None})
    shares, against = [], []
    for start in range(0, len(rows), len(THRESHOLDS) + 3):
        own = {
            row["rule"]: row["value"]["mean"] for row in rows[start : start + len(THRESHOLDS) + 3]
        }
        best = max(value for rule, value in own.items() if rule.startswith("threshold"))
        cell = {name: rows[start][name] for name in ("n_tasks", "n_families", "build")}
        shares.append({**cell, "ours": own["ours"], "published_discount": own["published discount"], "best_fixed": best,
                       "oracle": own["oracle"]})  # fmt: skip
        against.append(own["ours"] - best)
    write(
        "reuse",
        time.monotonic() - begun,
        {"rows": rows, "cells": shares, "mean_advantage_over_best_fixed": float(np.mean(against))},
        given.out,
    )
    for item in shares:
        print(item)


if __name__ == "__main__":
    main()
