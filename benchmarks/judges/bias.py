"""Planted self-preference: does the loop of trap, breed and gate remove it, and leave alone what is no bias.

    python benchmarks/judges/bias.py         # resumes where it stopped; benchmarks/results/judges/bias.json

A theory has a latent quality and an origin; a judge sees a noisy reading of the quality and the origin, its label is
whether the quality is above a threshold. The first judge reads quality as well as can be, but counts machine-written
theories as better, so that at equal quality it accepts them 1.42 or 1.91 times as often. Worlds: *bias 1.42*, *bias
1.91*; *better* (machine-written theories really are accepted 1.3 times as often by a judge without bias, and the first
judge has none); *none* (nothing to remove). The anchor set is split as always; every epoch brings 200 settled theories,
whose traps join dev, and the gate (bets on the Brier score, strata of origin protected) decides.

Rules: none (the first judge stays), one class (naive: all accepted machine-written texts join as rejects, refit,
replace where accuracy on the anchor is higher), published (one class of truly bad ones, refit on all, replace where the
lower quantile of accuracy on the whole anchor is higher), ours. The table gives the share of seeds whose last judge has
a ratio within 0.9 to 1.11 of that of the best judge, and accuracy lost by origin, both measured on 40,000 fresh items.

What would make this fail: an anchor set of people's theories only, which says nothing about the origin's weight.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from scipy.optimize import brentq  # noqa: E402
from scipy.stats import norm  # noqa: E402

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.judges.replacement import Gatekeeper, JudgeSlot, published_rule  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.experiments.interval import wilson_interval  # noqa: E402
from lakatos.judges.anchor import AnchorItem, split  # noqa: E402
from lakatos.judges.bias import bias_report  # noqa: E402
from lakatos.judges.gate_record import GATES  # noqa: E402
from lakatos.judges.judge import JudgeSubmission  # noqa: E402
from lakatos.judges.program import (  # noqa: E402
    JudgeProgram,
    LabelledComparisons,
    ProgramFactor,
    ProgramTerm,
    fit,
    labelled,
    log_odds,
)
from lakatos.traces.digest import digest_of  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "judges" / "bias.json"
NOISE, HUMAN_ACCEPTANCE = 0.75, 0.4
"""Standard deviation of the reading's error (accuracy about .79), and share of human-written theories that are good."""
N_ANCHOR, N_SETTLED, N_EPOCHS, N_FRESH = 2000, 200, 4, 40_000
SETTINGS = GATES["loss"]
FEATURES = ("reading", "machine_written")
SCALE = 1.7
"""Between the logistic and the normal."""


@dataclass(frozen=True)
class World:
    """Quality of machine-written theories, and how the first judge counts them."""

    name: str
    bias: float
    """Ratio of acceptance at equal quality of the first judge."""
    better: float = 1.0
    """Ratio of acceptance by a judge without bias."""

    @property
    def threshold(self) -> float:
        """Quality above which a theory is good."""
        return float(norm.isf(HUMAN_ACCEPTANCE))

    def machine_mean(self) -> float:
        """Mean quality of machine-written theories, so that the best judge accepts them ``better`` times as often."""
        if self.better == 1:
            return 0.0
        return float(
            brentq(
                lambda mean: rates(best(mean), mean)[0] / rates(best(mean), mean)[1] - self.better,
                0,
                2,
            )
        )

    def first_judge(self) -> JudgeProgram:
        """The best judge, with a weight of origin that makes the ratio ``bias``."""
        mean = self.machine_mean()
        if self.bias == 1:
            return best(mean)

        def off(weight: float) -> float:
            machine, human = rates(with_origin(best(mean), weight), mean)
            return machine / human - self.bias

        return with_origin(best(mean), float(brentq(off, 0, 6)))


WORLDS = (
    World("bias 1.42", 1.42),
    World("bias 1.91", 1.91),
    World("better 1.3", 1.0, 1.3),
    World("none", 1.0),
)


def best(machine_mean: float) -> JudgeProgram:
    """The judge that knows the world: log odds of a good theory given the reading and what origin says of quality."""
    threshold = norm.isf(HUMAN_ACCEPTANCE)
    shrink = 1 / (1 + NOISE**2)
    spread = np.sqrt(NOISE**2 * shrink)
    weight = SCALE * shrink / spread
    origin = SCALE * (1 - shrink) * machine_mean / spread
    return with_origin(
        JudgeProgram(
            (ProgramTerm((ProgramFactor("reading"),), float(weight)),),
            float(-SCALE * threshold / spread),
        ),
        float(origin),
    )


def with_origin(program: JudgeProgram, weight: float) -> JudgeProgram:
    if weight == 0:
        return program
    return JudgeProgram(
        (*program.terms, ProgramTerm((ProgramFactor("machine_written"),), weight)), program.bias
    )


def rates(program: JudgeProgram, machine_mean: float) -> tuple[float, float]:
    """Shares of machine-written and of human-written theories that a judge accepts, exactly."""
    weight = {term.factors[0].feature: term.weight for term in program.terms}
    spread = np.sqrt(1 + NOISE**2)
    cuts = [
        -(program.bias + origin) / weight["reading"]
        for origin in (weight.get("machine_written", 0.0), 0.0)
    ]
    return float(norm.sf((cuts[0] - machine_mean) / spread)), float(norm.sf(cuts[1] / spread))


def draw(world: World, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """``(n, 2)`` reading and origin, and ``(n,)`` labels; half of either origin."""
    machine = np.arange(n) % 2 == 0
    quality = rng.normal(size=n) + machine * world.machine_mean()
    return np.column_stack(
        (quality + NOISE * rng.normal(size=n), machine)
    ), quality > world.threshold


def items(world: World, n: int, rng: np.random.Generator, name: str) -> list[AnchorItem]:
    values, labels = draw(world, n, rng)
    return [
        AnchorItem(
            submission=JudgeSubmission(
                digest_of([name, k]), digest_of([name, k, "incumbent"]), 0.0, 1.0, 0, 1, 1.0,
                {"reading": float(row[0]), "machine_written": float(row[1])},
            ),
            label=bool(label),
            strata={"origin": "machine" if row[1] else "human", "quality": "good" if label else "bad"},
            problems=(f"{name} {k}",),
            people=(),
            provenance="simulated quality",
        )
        for k, (row, label) in enumerate(zip(values, labels, strict=True))
    ]  # fmt: skip


def arrays(found: list[AnchorItem], labels: list[bool] | None = None) -> LabelledComparisons:
    return labelled(
        [item.submission for item in found], labels or [item.label for item in found], FEATURES
    )


def rejected(
    program: JudgeProgram, settled: list[AnchorItem], *, bad_only: bool
) -> list[AnchorItem]:
    """Accepted machine-written theories, as traps of one class."""
    table = arrays(settled)
    accepted = log_odds(program, FEATURES, table.values) > 0
    return [
        item
        for item, yes in zip(settled, accepted, strict=True)
        if yes and item.strata["origin"] == "machine" and not (bad_only and item.label)
    ]


def one_class(
    first: JudgeProgram, anchor: list[AnchorItem], epochs: list[list[AnchorItem]], *, bad_only: bool
) -> tuple[JudgeProgram, int]:
    """Naive, or published: traps of one class, and whoever looks better on the whole anchor."""
    current, traps, replaced = first, [], 0
    whole = JudgeProgram(
        (ProgramTerm((ProgramFactor("reading"),)), ProgramTerm((ProgramFactor("machine_written"),)))
    )
    for settled in epochs:
        traps += rejected(current, settled, bad_only=bad_only)
        own = arrays([*anchor, *traps], [item.label for item in anchor] + [False] * len(traps))
        challenger = fit(whole, own)
        counts = []
        for program in (current, challenger):
            n = int(((log_odds(program, FEATURES, own.values) > 0) == (own.labels > 0)).sum())
            counts.append((n, len(own.labels) - n))
        better = (
            published_rule(counts[0], counts[1:]) is not None
            if bad_only
            else counts[1][0] > counts[0][0]
        )
        if better:
            current, replaced = challenger, replaced + 1
    return current, replaced


def ours(
    first: JudgeProgram, anchor_items: list[AnchorItem], epochs: list[list[AnchorItem]], seed: int
) -> tuple[JudgeProgram, int, list[str]]:
    """Two-class traps in dev, breeding, the gate."""
    slot = JudgeSlot(first, split(anchor_items, seed), FEATURES, Gatekeeper(SETTINGS), seed)
    verdicts = [
        slot.end_epoch(epoch, settled, n_generations=4, n_children=8)
        for epoch, settled in enumerate(epochs)
    ]
    return slot.current, verdicts.count("replace"), verdicts


def measure(
    program: JudgeProgram, first: JudgeProgram, world: World, seed: int
) -> dict[str, float]:
    values, labels = draw(world, N_FRESH, np.random.default_rng([seed, 99]))
    machine = values[:, 1] > 0
    accepted, before = (log_odds(judge, FEATURES, values) > 0 for judge in (program, first))
    ideal = log_odds(best(world.machine_mean()), FEATURES, values) > 0
    report = bias_report(accepted, machine, labels)
    lost = {
        name: float((before == labels)[kind].mean() - (accepted == labels)[kind].mean())
        for name, kind in (("machine", machine), ("human", ~machine))
    }
    return {
        "ratio": report.marginal.value,
        "against_best": report.marginal.value / (ideal[machine].mean() / ideal[~machine].mean()),
        "given_quality": report.given_quality.value,
        "lost_machine": lost["machine"],
        "lost_human": lost["human"],
    }


def cell(world: World, seed: int, n_anchor: int) -> list[dict[str, Any]]:
    """All rules on one seed."""
    rng = np.random.default_rng([seed, n_anchor, *world.name.encode()])
    anchor = items(world, n_anchor, rng, f"{seed} anchor")
    epochs = [items(world, N_SETTLED, rng, f"{seed} epoch {epoch}") for epoch in range(N_EPOCHS)]
    first = world.first_judge()
    found: dict[str, tuple[JudgeProgram, int, list[str]]] = {"none": (first, 0, [])}
    found["naive: one class"] = (*one_class(first, anchor, epochs, bad_only=False), [])
    found["published: one class of bad"] = (*one_class(first, anchor, epochs, bad_only=True), [])
    found["ours"] = ours(first, anchor, epochs, seed)
    return [
        {
            "world": world.name,
            "seed": seed,
            "n_anchor": n_anchor,
            "rule": rule,
            "replaced": replaced,
            "verdicts": verdicts,
            **measure(program, first, world, seed),
        }
        for rule, (program, replaced, verdicts) in found.items()
    ]


def wilson(k: int, n: int) -> list[float]:
    return [round(end, 3) for end in wilson_interval(k, n)]


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    n = len(rows)
    ratios = np.array([row["ratio"] for row in rows])
    parity = sum(0.9 <= row["against_best"] <= 1.11 for row in rows)
    kept = sum(max(row["lost_machine"], row["lost_human"]) <= 0.01 for row in rows)
    replaced = sum(row["replaced"] > 0 for row in rows)
    mean, low, high = mean_interval(ratios)
    return {
        "world": rows[0]["world"], "n_anchor": rows[0]["n_anchor"], "rule": rows[0]["rule"], "n_seeds": n,
        "ratio": mean, "ratio_interval": [low, high],
        "ratio_range": [float(ratios.min()), float(ratios.max())],
        "within": parity / n, "within_interval": wilson(parity, n),
        "at_most_a_point_lost": kept / n, "lost_interval": wilson(kept, n),
        "any_replacement": replaced / n, "replacement_interval": wilson(replaced, n),
        "lost_machine": float(np.mean([row["lost_machine"] for row in rows])),
        "lost_human": float(np.mean([row["lost_human"] for row in rows])),
    }  # fmt: skip


def main() -> None:
    """Run what is missing and print the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=60)
    options.add_argument("--anchors", type=int, nargs="+", default=[600, N_ANCHOR])
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    before = (
        json.loads(chosen.out.read_text())
        if chosen.out.exists()
        else {"rows": [], "seconds": {}, "table": []}
    )
    rows: list[dict[str, Any]] = before["rows"]
    seconds: dict[str, float] = before["seconds"]
    table: list[dict[str, Any]] = before["table"]
    complete = (
        len(table) > 0 and not rows
    )  # all that was asked for is there: single rows are kept only to go on from
    for n_anchor in [] if complete else chosen.anchors:
        for world in WORLDS:
            done = {(row["world"], row["n_anchor"], row["seed"]) for row in rows}
            missing = [
                seed for seed in range(chosen.seeds) if (world.name, n_anchor, seed) not in done
            ]
            for seed in missing:
                begun = time.perf_counter()
                rows += cell(world, seed, n_anchor)
                name = f"{world.name}, {n_anchor}"
                seconds[name] = round(seconds.get(name, 0.0) + time.perf_counter() - begun, 1)
                if seed % 5 == 4 or seed == missing[-1]:
                    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
                    for row in rows:
                        groups.setdefault((row["world"], row["n_anchor"], row["rule"]), []).append(
                            row
                        )
                    table = [summary(own) for own in groups.values() if len(own) > 1]
                    result = {**provenance(), "seconds": seconds, "table": table, "rows": rows}
                    chosen.out.parent.mkdir(parents=True, exist_ok=True)
                    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    if not complete:
        result = {**provenance(), "seconds": seconds, "table": table, "rows": []}
        chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    for line in table:
        print(
            f"{line['world']:10s} {line['n_anchor']:5d} {line['rule']:28s} ratio {line['ratio']:.2f}  within "
            f"{line['within']:.2f} {line['within_interval']}  at most a point lost {line['at_most_a_point_lost']:.2f}  "
            f"replaced {line['any_replacement']:.2f} {line['replacement_interval']}"
        )


if __name__ == "__main__":
    main()
