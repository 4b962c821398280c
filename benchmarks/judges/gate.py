"""How often is a judge replaced by one that is no better, and how often by one that is? The gate, for every test of it.

    python benchmarks/run.py judges/gate         # resumes where it stopped; benchmarks/raw/judges/gate.json

*False*: ten challenges of one incumbent on one anchor set, at the levels of its ledger. Every challenger gains exactly
nothing on average, given what both answer; any replacement is false. Whatever else could keep a challenger out (least
gain, power, fewest items, protected strata) is taken away: the gate's test stands alone (`evidence_of`). Ten worlds,
each with 20 and 100 units (a unit is an item, or the items that hang together), for each test that a study can choose,
make 40 cells:

- *confident*, *bold*, *timid*: the challenger is surer than the incumbent, much surer, much less sure, and as good.
  For right answers it takes the other side of few, many, or all items.
- *mixed*: every item has a truth and an incumbent of its own; for right answers, each judge abstains on half.
- *clusters*: five items stand or fall together; most clusters speak a little for the challenger, few much against it.
- *unequal clusters*: of one to nine items.
- *ensemble*: the challenger is nearly the incumbent.
- *drift*: early items speak for the challenger, late ones as much against it.
- *stopping*, *stopping, clusters*: one challenger is put again with every tenth of the items that comes in.

*Former* is the test of Brier scores that this gate had (sign flips of the differences), at the level of a first test.

*Power*: one challenger that is better, at the first test, with the rules as studies have them. ``refused`` are
challenges whose labels stayed unread. Intervals are Wilson's, 95%.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.judges.replacement import ALPHA, Gatekeeper
from benchmarks.provenance import ROOT, provenance
from lakatos.experiments.interval import wilson_interval
from lakatos.judges.anchor import AnchorItem, version_of
from lakatos.judges.answer import JudgeAnswers
from lakatos.judges.gate import GateQuestion, JudgePair, evidence_of
from lakatos.judges.gate_record import GATES, GateSettings, Test
from lakatos.judges.judge import JudgeSubmission
from lakatos.judges.ledger import level_of
from lakatos.traces.digest import Digest, digest_of

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "raw" / "judges" / "gate.json"
N_EPOCHS, UNITS, POWER_UNITS = 10, (20, 100), (100, 200, 400)
WORLDS = (
    "confident",
    "bold",
    "timid",
    "mixed",
    "clusters",
    "unequal clusters",
    "ensemble",
    "drift",
    "stopping",
    "stopping, clusters",
)
SURE = {"confident": (0.6, 0.7), "bold": (0.5, 0.73), "timid": (0.96, 0.73), "drift": (0.6, 0.7)}
"""The incumbent's probability, and the truth; the challenger's lies as far on the other side of the truth."""
APART = {"confident": 0.4, "bold": 1.0, "timid": 0.1, "ensemble": 0.05}
"""Share of units on which the challenger takes the other side, where right answers count."""
N_FLIPS = 999
INCUMBENT, CHALLENGER, ANCHOR = map(digest_of, ("incumbent", "challenger", "anchor"))


def _item(number: int, label: bool) -> AnchorItem:
    submission = JudgeSubmission(
        candidate=digest_of(["candidate", number]),
        incumbent=digest_of(["incumbent", number]),
        advantage=0.0,
        standard_error=0.01,
        extra_parameters=0,
        n_choices=100,
        distance=0.1,
    )
    strata = {"origin": ("human", "machine")[number % 2]}
    name = str(number)
    return AnchorItem(submission, label, strata, (name,), (name,), "simulated")


ITEMS = [(_item(number, False), _item(number, True)) for number in range(1000)]


@dataclass(frozen=True)
class SettledWorld:
    """An anchor set with its labels, an incumbent, and challengers that are exactly as good."""

    units: NDArray[np.int64]
    """``(n_items,)`` number of the unit that an item belongs to."""
    label: NDArray[np.bool_]
    incumbent: Array
    other: Array
    """What a challenger answers where it differs from the incumbent; no unit is expected to gain from that."""
    share: float
    """Of the units on which a challenger differs."""
    balanced: bool = False
    """Whether as many early units as late ones must differ, as their gains only sum to zero."""

    @cached_property
    def items(self) -> list[AnchorItem]:
        """The anchor items with their labels."""
        return [ITEMS[place][int(label)] for place, label in enumerate(self.label)]

    def challenger(self, rng: np.random.Generator) -> Array:
        """Answers of a challenger that differs on some units."""
        n_units = int(self.units.max()) + 1
        differs = np.zeros(n_units, dtype=bool)
        halves = np.array_split(np.arange(n_units), 2) if self.balanced else [np.arange(n_units)]
        for half in halves:
            wanted = max(round(self.share * len(halves[-1])), 1)
            differs[rng.choice(half, min(wanted, len(half)), replace=False)] = True
        return np.where(differs[self.units.astype(int)], self.other, self.incumbent)


def answers(judge: Digest, probability: Array) -> JudgeAnswers:
    """A judge's answers."""
    side = np.sign(np.round(probability - 0.5, 9)).astype(np.int64)
    return JudgeAnswers(judge, probability, side, {})


def sizes_of(world: str, n_units: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Items of every unit."""
    if "clusters" not in world:
        return np.ones(n_units, dtype=np.int64)
    if world.startswith("unequal"):
        return rng.integers(1, 10, n_units)
    return np.full(n_units, 5)


def settled(test: Test, world: str, n_units: int, rng: np.random.Generator) -> SettledWorld:
    """A world, where nothing is gained on average."""
    sizes = sizes_of(world, n_units, rng)
    units = np.repeat(np.arange(n_units), sizes)
    make = brier_world if test == "loss" else right_world
    return make(world, units, rng)


def brier_world(world: str, units: NDArray[np.int64], rng: np.random.Generator) -> SettledWorld:
    """Incumbent and challenger lie as far from the truth, on either side of it."""
    n_units = int(units.max()) + 1
    given, truth = (np.full(n_units, value) for value in SURE.get(world, SURE["bold"]))
    if world == "mixed":
        truth = rng.uniform(0.1, 0.9, n_units)
        reach = np.minimum(truth, 1 - truth)
        given = truth + rng.uniform(-0.95, 0.95, n_units) * reach
    elif world == "ensemble":
        truth = rng.uniform(0.2, 0.8, n_units)
        given = truth + rng.choice([-0.02, 0.02], n_units)
    happens = truth.copy()
    if world == "drift":  # the truth leans to the challenger at first, and away from it later
        happens += np.where(np.arange(n_units) < n_units // 2, 0.1, -0.1)
    label = rng.random(n_units) < happens
    turned = rng.random(n_units) < 0.5  # which theory is called the candidate says nothing
    given, other = (
        np.where(turned, 1 - value, value)[units.astype(int)]
        for value in (given, 2 * truth - given)
    )
    return SettledWorld(
        units, (label != turned)[units.astype(int)], given, other, 0.8, world == "drift"
    )


def right_world(world: str, units: NDArray[np.int64], rng: np.random.Generator) -> SettledWorld:
    """Where the challenger takes the other side, it is right as often as it is wrong, counted over units."""
    n_items, n_units = len(units), int(units.max()) + 1
    place = units.astype(int)
    side = rng.choice([-1.0, 1.0], n_items)
    late = np.arange(n_units) >= n_units // 2
    if world in ("clusters", "stopping, clusters"):
        # Three of five right in five clusters of six, none in the sixth: +1 and -5.
        all_lost = (rng.random(n_units) < 1 / 6)[place]
        within = np.arange(n_items) % 5
        wins = ~all_lost & (within < 3)
    else:
        chance = np.where(late, 0.2, 0.8) if world == "drift" else np.full(n_units, 0.5)
        wins = (rng.random(n_units) < chance)[place]
    incumbent, other = 0.5 + 0.2 * side, 0.5 - 0.2 * side
    label = np.where(wins, -side, side) > 0
    if (
        world == "mixed"
    ):  # the incumbent abstains early, the challenger late; who speaks is right in 0.7
        label = np.where(rng.random(n_items) < 0.7, side, -side) > 0
        incumbent, other = (
            np.where(who, 0.5, 0.5 + 0.2 * side) for who in (~late[place], late[place])
        )
    balanced = world in ("drift", "mixed")
    return SettledWorld(units, label, incumbent, other, APART.get(world, 0.8), balanced)


def question(
    world: SettledWorld, challenger: Array, settings: GateSettings, n_items: int
) -> GateQuestion:
    """What is asked of the first ``n_items`` labels."""
    given, taken = world.incumbent[:n_items], challenger[:n_items]
    pair = JudgePair(answers(INCUMBENT, given), answers(CHALLENGER, taken))
    units = tuple(world.units[:n_items].astype(int).tolist())
    return GateQuestion(settings, pair, units, ANCHOR)


def campaign(test: Test, world: str, n_units: int, seed: int) -> bool:
    """Whether any of ten challengers that are as good as the incumbent convinces the gate's test at its level."""
    rng = np.random.default_rng([seed, n_units, WORLDS.index(world), len(test)])
    own = settled(test, world, n_units, rng)
    challenger, n_items = own.challenger(rng), len(own.label)
    for epoch in range(N_EPOCHS):
        seen = n_items
        if world.startswith("stopping"):
            seen = int(np.searchsorted(own.units, n_units * (epoch + 1) // N_EPOCHS))
        elif epoch:
            challenger = own.challenger(rng)
        put = question(own, challenger, GATES[test], seen)
        evidence = evidence_of(put, put.gains_of(own.label[:seen]))
        if evidence.convinces(level_of(ALPHA, epoch + 1)):
            return True
    return False


def former_p(gains: Array, rng: np.random.Generator) -> float:
    """The test that this gate had: sign flips of sums over units."""
    flips = rng.choice([-1.0, 1.0], (N_FLIPS, len(gains)))
    reached = int((flips @ gains >= gains.sum() - 1e-12).sum())
    return (reached + 1) / (N_FLIPS + 1)


def former(world: str, n_units: int, seed: int) -> bool:
    """Whether the former test certifies a challenger that is as good, in one test."""
    rng = np.random.default_rng([seed, n_units, WORLDS.index(world), 7])
    own = settled("loss", world, n_units, rng)
    put = question(own, own.challenger(rng), GATES["loss"], len(own.label))
    gains = put.sums(put.gains_of(own.label))
    return former_p(gains[gains != 0], rng) <= level_of(ALPHA, 1)


def share_of(found: Sequence[bool]) -> dict[str, Any]:
    """Share with its 95% interval (Wilson)."""
    low, high = wilson_interval(sum(found), len(found))
    return {"share": sum(found) / len(found), "low": round(low, 4), "high": round(high, 4)}


def false_cell(test: Test, world: str, n_units: int, n_seeds: int) -> dict[str, Any]:
    """How often any of ten challengers that are as good is let in."""
    found = [campaign(test, world, n_units, seed) for seed in range(n_seeds)]
    row = {"part": "false", "test": test, "world": world, "n_units": n_units, "n_seeds": n_seeds}
    return row | share_of(found)


def former_cell(world: str, n_units: int, n_seeds: int) -> dict[str, Any]:
    """How often one test by sign flips lets in a challenger that is as good."""
    found = [former(world, n_units, seed) for seed in range(n_seeds)]
    row = {"part": "former", "world": world, "n_units": n_units, "n_seeds": n_seeds}
    return row | share_of(found)


def better(test: Test, gain: float, n: int, rng: np.random.Generator) -> SettledWorld:
    """A challenger that is better by ``gain``: calibrated where the incumbent is not sure enough, or oftener right."""
    if test == "loss":
        truth = 0.6 + np.sqrt(gain)
        turned = rng.random(n) < 0.5
        given, sure = (np.where(turned, 1 - value, value) for value in (0.6, truth))
        label = (rng.random(n) < truth) != turned
        return SettledWorld(np.arange(n), label, given, sure, 1.0)
    side = rng.choice([-1.0, 1.0], n)
    kind = rng.choice(3, n, p=[0.75, 0.125 + gain / 2, 0.125 - gain / 2])  # same, won, lost
    label = np.where(kind == 1, -side, side) > 0
    other = np.where(kind == 0, side, -side)
    return SettledWorld(np.arange(n), label, 0.5 + 0.2 * side, 0.5 + 0.2 * other, 1.0)


def power_cell(test: Test, gain: float, n: int, n_seeds: int) -> dict[str, Any]:
    """How often a better challenger is let in by the first test."""
    verdicts = []
    for seed in range(n_seeds):
        own = better(test, gain, n, np.random.default_rng([seed, n, round(1000 * gain)]))
        put = question(own, own.other, GATES[test], n)
        put = replace(put, anchor=version_of(own.items))
        verdicts.append(Gatekeeper(GATES[test]).decide(put, own.items).verdict)
    row = {"part": "power", "test": test, "gain": gain, "n_units": n, "n_seeds": n_seeds}
    refused = verdicts.count("underpowered") / n_seeds
    return row | share_of([verdict == "replace" for verdict in verdicts]) | {"refused": refused}


def cells(n_seeds: int) -> list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]]:
    """All cells, with what they are computed by."""
    wanted: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = [
        (false_cell, (test, world, n, n_seeds)) for test, world, n in product(GATES, WORLDS, UNITS)
    ]
    wanted += [(former_cell, (world, n, n_seeds)) for world, n in product(WORLDS[:8], UNITS)]
    gains = {"loss": (0.01, 0.02, 0.04), "exact": (0.05, 0.1, 0.15)}
    wanted += [
        (power_cell, (test, gain, n, n_seeds // 4))
        for test in GATES
        for gain, n in product(gains[test], POWER_UNITS)
    ]
    return wanted


def main() -> None:
    """Compute all cells and print them."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=400)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    rows: list[dict[str, Any]] = (
        json.loads(chosen.out.read_text())["rows"] if chosen.out.exists() else []
    )
    done = {row["cell"] for row in rows}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    for function, arguments in cells(chosen.seeds):
        name = f"{function.__name__}{arguments}"
        if name in done:
            continue
        begun = time.process_time()
        row = {"cell": name, **function(*arguments)}
        rows.append({**row, "seconds": round(time.process_time() - begun, 1)})
        chosen.out.write_text(
            json.dumps({**provenance(), "alpha": ALPHA, "rows": rows}, indent=1) + "\n"
        )
        print(name, f"{row['share']:.3f} ({row['low']:.3f} to {row['high']:.3f})", flush=True)
    worst = max((row for row in rows if row["part"] == "false"), key=lambda row: row["high"])
    print("largest share of false replacements:", worst["cell"], worst["share"], worst["high"])
