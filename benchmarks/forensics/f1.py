"""Which of six settings made a run come out as it did: power and false attribution of counterfactual replays.

    python benchmarks/run.py forensics/f1        # benchmarks/raw/forensics/f1.json, some minutes

One of six settings is the planted cause: with it set otherwise, the rate of the outcome changes;
the other five change nothing. Every setting is an arm of replays with that one thing changed,
against replays without a change. Rules: *ours* as `lakatos.flows.branches.rewind` (Fisher's exact
test, Holm over the six), the same with a *shared baseline* of more replays (square root of the
number of arms), *uncorrected* tests, and *largest difference*, which always names somebody. Every
rule is also tried where no setting is a cause. Part ``branches`` goes through real journals: a
process of seven recorded steps is branched by `lakatos.flows.branches.branch` once for each replay,
and carried on.

What would make this fail: causes that work together only, of which changing one thing at a time sees nothing; and small
effects, for which the table says how many replays they take.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.forensics.summary import share, write
from lakatos.flows.branches.branch import RecordEdit, branch
from lakatos.flows.branches.rates import (
    ReplayArm,
    baseline_repeats,
    fisher_p,
    holm,
)
from lakatos.traces.digest import Digest
from lakatos.traces.record import Record
from lakatos.traces.step import StepContext, Trace

N_SETTINGS, ALPHA = 6, 0.05
EFFECTS = ((0.5, 0.2), (0.9, 0.5), (0.3, 0.05), (0.14, 0.04), (0.9, 0.1), (0.5, 0.5))
"""Rate without a change, and with the cause changed; the fifth is a positive control, the last a negative one."""
REPLAYS = (10, 40, 80, 150)
Rule = Callable[[ReplayArm, list[ReplayArm]], list[int]]
"""Baseline and arms to the settings that are named."""


def with_holm(baseline: ReplayArm, arms: list[ReplayArm]) -> list[int]:
    return [
        place
        for place, p in enumerate(holm([fisher_p(arm, baseline) for arm in arms]))
        if p <= ALPHA
    ]


def uncorrected(baseline: ReplayArm, arms: list[ReplayArm]) -> list[int]:
    return [place for place, arm in enumerate(arms) if fisher_p(arm, baseline) <= ALPHA]


def largest(baseline: ReplayArm, arms: list[ReplayArm]) -> list[int]:
    return [int(np.argmax([abs(arm.rate - baseline.rate) for arm in arms]))]


RULES: dict[str, tuple[Rule, bool]] = {
    "ours": (with_holm, False),
    "ours, shared baseline": (with_holm, True),
    "uncorrected": (uncorrected, False),
    "largest difference": (largest, False),
}
"""With whether the baseline has more replays."""


def cell(rate: float, changed: float, n: int, name: str, n_seeds: int) -> dict[str, Any]:
    rule, shared = RULES[name]
    n_baseline = baseline_repeats(n, N_SETTINGS) if shared else n
    right, found, false = [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, int(1000 * rate), int(1000 * changed), n])
        cause = int(rng.integers(N_SETTINGS))
        rates = np.where(np.arange(N_SETTINGS) == cause, changed, rate)
        baseline = ReplayArm(int(rng.binomial(n_baseline, rate)), n_baseline)
        named = rule(baseline, [ReplayArm(int(k), n) for k in rng.binomial(n, rates)])
        planted = [cause] if rate != changed else []
        right.append(named == planted)
        found.append(cause in named)
        false.append(bool(set(named) - set(planted)))
    row: dict[str, Any] = {
        "rate": rate,
        "changed": changed,
        "n_replays": n,
        "n_baseline": n_baseline,
        "rule": name,
    }
    row |= {"only_the_cause": share(right), "cause": share(found)} if rate != changed else {}
    return row | {"false_attribution": share(false)}


# -- through real journals -------------------------------------------------------------------------------------------


class Setting(Record):
    """One of the six."""

    kind: Literal["setting"] = "setting"
    version: Literal[1] = 1
    on: bool


class Outcome(Record):
    """How the process came out."""

    kind: Literal["outcome"] = "outcome"
    version: Literal[1] = 1
    success: bool


TYPES: dict[str, type[Record]] = {"setting": Setting, "outcome": Outcome}


async def carry_on(folder: Path, cause: int, rates: tuple[float, float]) -> bool:
    """The process, whose steps are returned where they are recorded."""
    with Trace.open(folder, TYPES) as trace:
        settings: list[Digest] = []
        on = []
        for number in range(N_SETTINGS):
            item = await trace.step(
                "set",
                lambda context: Setting(on=True),
                returns=Setting,
                inputs=settings,
                position={"number": number},
            )
            settings, on = [item.digest], [*on, item.record.on]
        rate = rates[0] if on[cause] else rates[1]

        def draw(context: StepContext) -> Outcome:
            return Outcome(success=bool(context.rng.random() < rate))

        return (await trace.step("end", draw, returns=Outcome, inputs=settings)).record.success


async def through_branches(seed: int, rates: tuple[float, float], n: int, place: Path) -> list[int]:
    """Settings that are named, from branches of one recorded run."""
    cause = int(np.random.default_rng(seed).integers(N_SETTINGS))
    origin = place / "origin"
    Trace.create(origin, seed=seed, types=TYPES).close()
    await carry_on(origin, cause, rates)
    with Trace.open(origin, TYPES, read_only=True) as trace:
        records = [event.seq for event in trace.journal.events() if event.kind == "setting"]
    arms = []
    for hypothesis in (None, *range(N_SETTINGS)):
        at = records[hypothesis or 0]
        edit = None if hypothesis is None else RecordEdit("on", False)
        n_right = 0
        for number in range(n):
            folder = place / f"{hypothesis}-{number}"
            branch(
                origin,
                folder,
                str(at),
                edit=edit,
                seed=seed * 100_000 + len(arms) * 1000 + number,
                types=TYPES,
            )
            n_right += await carry_on(folder, cause, rates)
        arms.append(ReplayArm(n_right, n))
    named = with_holm(arms[0], arms[1:])
    return [cause, *named]


def branches(n_seeds: int, n: int) -> list[dict[str, Any]]:
    rows = []
    for rates in ((0.5, 0.15), (0.5, 0.5)):
        begun, right, false = time.monotonic(), [], []
        for seed in range(n_seeds):
            with tempfile.TemporaryDirectory() as place:
                cause, *named = asyncio.run(through_branches(seed, rates, n, Path(place)))
            planted = [cause] if rates[0] != rates[1] else []
            right.append(named == planted)
            false.append(bool(set(named) - set(planted)))
        row: dict[str, Any] = {"rate": rates[0], "changed": rates[1], "n_replays": n}
        row |= {"only_the_cause": share(right)} if rates[0] != rates[1] else {}
        row |= {"false_attribution": share(false), "seconds": round(time.monotonic() - begun, 1)}
        row["seconds_a_branch"] = round(row["seconds"] / (n_seeds * n * (N_SETTINGS + 1)), 4)
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seeds", type=int, default=2000)
    arguments.add_argument("--branch-seeds", type=int, default=20)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    begun, rows = time.monotonic(), []
    for rate, changed in EFFECTS:
        for n in REPLAYS:
            rows += [cell(rate, changed, n, name, given.seeds) for name in RULES]
    for row in rows:
        print(row, flush=True)
    result = {
        "rows": rows,
        "branches": branches(given.branch_seeds, 80) if given.branch_seeds else [],
    }
    write("f1", time.monotonic() - begun, result, given.out)
