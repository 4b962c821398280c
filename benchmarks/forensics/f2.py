"""Where a run's prospects fell: bisection and a scan against a planted step.

    python benchmarks/run.py forensics/f2        # benchmarks/raw/forensics/f2.json, a few minutes

A run of T steps succeeds with one probability when it is carried on from before a planted step, and
with a lower one from after it. A rule may fork from any step; it is right if it names the very
step. Rules: *bisection* as `lakatos.flows.branches.drop.bisect_drop`, *scan* as `scan_drop` with
the same number of forks from every step, *z-test scan* as published (the step whose neighbouring
steps differ most, reported where the ends differ by 1.96 standard errors), *oracle* a bisection
that knows both probabilities and that there is a drop.

What would make this fail: prospects that fall in several steps, of which only the sharpest is named, or that rise
again.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forensics.summary import mean, share, write
from lakatos.flows.branches.drop import bisect_drop, scan_drop
from lakatos.flows.branches.rates import ReplayArm

Fork = Callable[[int], bool]
Found = tuple[int | None, int]
"""Place, and forks that were made."""
WORLDS = (
    (60, 0.8, 0.2),
    (20, 0.8, 0.2),
    (60, 0.9, 0.5),
    (60, 0.6, 0.3),
    (60, 0.8, 0.8),
    (60, 0.5, 0.5),
    (60, 0.2, 0.2),
)
"""Steps, prospects before and after; the same before and after is no drop."""
BUDGETS = (100, 400)
SCANS = (8, 16, 64)


def bisection(most: int) -> Callable[[Fork, int, np.random.Generator], Found]:
    def rule(fork: Fork, n_steps: int, rng: np.random.Generator) -> Found:
        drop = bisect_drop(fork, n_steps, most_forks=most)
        return drop.place, drop.n_forks

    return rule


def scan(n: int) -> Callable[[Fork, int, np.random.Generator], Found]:
    def rule(fork: Fork, n_steps: int, rng: np.random.Generator) -> Found:
        drop = scan_drop(
            [ReplayArm(sum(fork(step) for _ in range(n)), n) for step in range(n_steps + 1)], rng
        )
        return drop.place, drop.n_forks

    return rule


def z_scan(n: int) -> Callable[[Fork, int, np.random.Generator], Found]:
    def rule(fork: Fork, n_steps: int, rng: np.random.Generator) -> Found:
        rates = np.array([sum(fork(step) for _ in range(n)) / n for step in range(n_steps + 1)])
        mean_rate = (rates[0] + rates[-1]) / 2
        error = np.sqrt(max(2 * mean_rate * (1 - mean_rate) / n, 1e-12))
        found = (
            None
            if rates[0] - rates[-1] < 1.96 * error
            else int(np.argmax(rates[:-1] - rates[1:])) + 1
        )
        return found, n * (n_steps + 1)

    return rule


def oracle(before: float, after: float) -> Callable[[Fork, int, np.random.Generator], Found]:
    def rule(fork: Fork, n_steps: int, rng: np.random.Generator) -> Found:
        weight, places, n_forks = np.full(n_steps, 1 / n_steps), np.arange(1, n_steps + 1), 0
        while weight.max() < 0.97 and n_forks < 100:
            later = 1 - np.concatenate(
                ([0.0], np.cumsum(weight))
            )  # probability that the drop comes after each step
            step = int(np.argmin(np.abs(later - 0.5)))
            success = fork(step)
            likely = np.where(places > step, before, after)
            weight = weight * (likely if success else 1 - likely)
            weight, n_forks = weight / weight.sum(), n_forks + 1
        return int(np.argmax(weight)) + 1, n_forks

    return rule


def continued(
    step: int, rng: np.random.Generator, planted: int, before: float, after: float
) -> bool:
    return bool(rng.random() < (before if step < planted else after))


def cell(
    n_steps: int, before: float, after: float, name: str, rule: Any, n_seeds: int
) -> dict[str, Any]:
    begun, exact, named, near, forks = time.monotonic(), [], [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, n_steps, int(1000 * before), int(1000 * after)])
        planted = int(rng.integers(1, n_steps + 1))
        fork = partial(continued, rng=rng, planted=planted, before=before, after=after)
        place, n_forks = rule(fork, n_steps, rng)
        exact.append(place == planted)
        near.append(place is not None and abs(place - planted) <= 1)
        named.append(place is not None)
        forks.append(float(n_forks))
    drop = before > after
    row: dict[str, Any] = {"n_steps": n_steps, "before": before, "after": after, "rule": name}
    row |= (
        {"exact": share(exact), "within_one": share(near)}
        if drop
        else {"false_alarm": share(named)}
    )
    return row | {"forks": mean(forks), "seconds": round(time.monotonic() - begun, 1)}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seeds", type=int, default=300)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun, rows = time.monotonic(), []
    for n_steps, before, after in WORLDS:
        rules: list[tuple[str, Any]] = [
            (f"bisection, at most {most} forks", bisection(most)) for most in BUDGETS
        ]
        rules += [(f"z-test scan, {n} forks a step", z_scan(n)) for n in SCANS]
        rules += [(f"scan, {n} forks a step", scan(n)) for n in SCANS]
        if before > after:
            rules.append(("oracle", oracle(before, after)))
        for name, rule in rules:
            rows.append(cell(n_steps, before, after, name, rule, given.seeds))
            print(rows[-1], flush=True)
    write("f2", time.monotonic() - begun, {"rows": rows}, given.out)
