"""What erasure is for: whether scores follow true quality once a judge was displaced.

    python benchmarks/run.py judges/erasure      # resumes where it stopped; benchmarks/raw/judges/erasure.json

*Direct*: 60 theories with independent quality and gloss have 100 verdicts each of a lenient judge that likes gloss. A
strict judge takes its seat and gives 5 to 100 new ones. Without erasure (naive) all verdicts are pooled; the published
rule erases by the judge that gave a verdict; ours by everything a verdict rests on. Here the last two must agree.

*Transitive*: the strict judge reads with examples that the old judge had chosen, so that a share of its verdicts still
likes gloss; these cite a memory record, which cites the old seat. Erasing by judge alone keeps them; ours erases them,
and the same number is asked again without the memory. Nothing here asks a data structure of its own: records go
through `judges.erasure.Measurements` over `traces.validity.Validity`, and the commit of an epoch erases them.

What would make this fail: an input that is not cited. A verdict that used the memory and does not say so is kept.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import spearmanr

from benchmarks.cells import mean_interval
from benchmarks.provenance import ROOT, provenance
from lakatos.judges.erasure import JudgeMeasured, JudgeMeasurements
from lakatos.traces.digest import digest_of
from lakatos.traces.journal import Event
from lakatos.traces.validity import ERASES, Validity

RESULT = ROOT / "benchmarks" / "raw" / "judges" / "erasure.json"
N_THEORIES, N_OLD, NEW = 60, 100, (5, 10, 25, 50, 100)
LENIENT, STRICT = (1.2, 0.35, 1.1), (-1.0, 1.3, 0.0)
"""Log odds of acceptance: constant, per standard deviation of quality, and of gloss. Chosen so that
the arm without erasure has the published correlations; the same judges serve all arms."""
ABSORBED, GLOSS = 0.6, 1.5
"""Share of the strict judge's verdicts that were read with the old judge's examples, and what gloss counts in them."""
MEASURES = ("with_quality", "with_gloss", "with_before", "top5_strict_acceptance")
REFERENCE = {
    "without": {5: 0.33, 10: 0.38, 25: 0.50, 50: 0.65, 100: 0.83},
    "with": {5: 0.73, 10: 0.83, 25: 0.91, 50: 0.94, 100: 0.96},
}


def event(digest: str, inputs: list[str], kind: str = "measured", **body: Any) -> Event:
    return Event(0, "", kind, digest, kind, {}, 1, tuple(inputs), body, digest, "", digest)


class World:
    """Theories and their records."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.quality, self.gloss = self.rng.normal(size=(2, N_THEORIES))
        self.old, self.new, self.memory = (
            digest_of([seed, name]) for name in ("old seat", "new seat", "memory")
        )
        self.seed, self.count = seed, 0
        self.validity = Validity(
            [event(self.old, []), event(self.new, []), event(self.memory, [self.old])]
        )
        self.subjects = [digest_of([seed, "theory", theory]) for theory in range(N_THEORIES)]
        self.scores = JudgeMeasurements(self.validity)
        self.rows: list[tuple[int, float, str, bool, str]] = []
        """Theory, value, seat, whether the memory was read, and the record's digest."""

    def judge(self, theory: int, seat: str, epoch: int, *, read_memory: bool = False) -> None:
        """One more verdict."""
        constant, quality, gloss = LENIENT if seat == self.old else STRICT
        gloss = GLOSS if read_memory else gloss
        p = expit(constant + quality * self.quality[theory] + gloss * self.gloss[theory])
        value = float(self.rng.random() < p)
        self.count += 1
        digest = f"{self.count:064x}"
        self.validity.add(event(digest, [seat, self.memory] if read_memory else [seat]))
        subject = self.subjects[theory]
        item = JudgeMeasured(
            subject=subject, task="accept", seat=seat, epoch=epoch, sample=self.count, value=value
        )
        self.scores.add(digest, item, epoch)
        self.rows.append((theory, value, seat, read_memory, digest))

    def commit(self) -> int:
        """Displace the old judge; the number of records that no longer hold."""
        reason = {"reason": "displaced", ERASES: [self.old]}
        self.validity.add(event(digest_of([self.seed, "commit"]), [], "epoch_committed", **reason))
        return sum(not self.validity.valid(row[-1]) for row in self.rows)

    def means(self, keep: str, *, absorbed: bool = True) -> np.ndarray:
        """Mean verdict of each theory under one way to erase; even odds where nothing is left."""
        if keep == "transitive":
            found = [self.scores.mean(subject) for subject in self.subjects]
            return np.array([0.5 if value is None else value for value in found])
        kept = [
            row
            for row in self.rows
            if (keep == "all" or row[2] == self.new) and (absorbed or not row[3])
        ]
        totals, counts = np.zeros((2, N_THEORIES))
        np.add.at(totals, [row[0] for row in kept], [row[1] for row in kept])
        np.add.at(counts, [row[0] for row in kept], 1)
        return np.where(counts > 0, totals / np.maximum(counts, 1), 0.5)


def rank(one: np.ndarray, other: np.ndarray) -> float:
    return float(spearmanr(one, other).statistic) if np.ptp(one) > 0 else 0.0


def measures(world: World, means: np.ndarray, before: np.ndarray) -> dict[str, float]:
    top = np.argsort(-means, kind="stable")[:5]
    constant, quality, _ = STRICT
    return {
        "with_quality": rank(means, world.quality),
        "with_gloss": rank(means, world.gloss),
        "with_before": rank(means, before),
        "top5_strict_acceptance": float(expit(constant + quality * world.quality[top]).mean()),
    }


def arms(seed: int) -> list[dict[str, Any]]:
    """All arms of one world after each number of new verdicts per theory."""
    world = World(seed)
    for theory in range(N_THEORIES):
        for _ in range(N_OLD):
            world.judge(theory, world.old, 0)
    before = world.means("all")
    n_erased = world.commit()
    found, given = [], 0
    ways = {
        "naive: no erasure": "all",
        "published: by judge": "judge",
        "ours: transitive": "transitive",
    }
    for n_new in NEW:
        for _ in range(n_new - given):
            for theory in range(N_THEORIES):
                if world.rng.random() < ABSORBED:
                    # Never holds, as the memory rests on the old judge; asked again without it.
                    world.judge(theory, world.new, 1, read_memory=True)
                world.judge(theory, world.new, 1)
        given = n_new
        for part in ("direct", "transitive"):
            common = {"part": part, "seed": seed, "n_new": n_new, "erased": n_erased}
            scores = {
                name: world.means(keep, absorbed=part == "transitive")
                for name, keep in ways.items()
            }
            scores["oracle"] = expit(STRICT[0] + STRICT[1] * world.quality)
            found += [
                {**common, "arm": name, **measures(world, means, before)}
                for name, means in scores.items()
            ]
    return found


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean, 95% interval and worst seed of every measure."""
    out = []
    for n_new in NEW:
        for arm in dict.fromkeys(row["arm"] for row in rows):
            own = [row for row in rows if row["arm"] == arm and row["n_new"] == n_new]
            line: dict[str, Any] = {
                "n_new": n_new,
                "arm": arm,
                "n_seeds": len(own),
                "erased": own[0]["erased"],
            }
            for name in MEASURES:
                values = np.array([row[name] for row in own])
                mean, low, high = mean_interval(values)
                line[name] = {"mean": mean, "low": low, "high": high, "worst": float(values.min())}
            out.append(line)
    return out


def main() -> None:
    """Run both parts and print the tables."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    stored = (
        json.loads(chosen.out.read_text()) if chosen.out.exists() else {"rows": [], "seconds": 0.0}
    )
    rows: list[dict[str, Any]] = stored["rows"]
    begun, done = time.perf_counter(), {row["seed"] for row in rows}
    missing = [
        seed
        for seed in range(chosen.seeds)
        if seed not in done and seed >= (0 if rows else stored.get("n_seeds", 0))
    ]
    for seed in missing:
        rows += [
            {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
            for row in arms(seed)
        ]
        if seed % 10 == 9 or seed == missing[-1]:
            result: dict[str, Any] = {
                **provenance(),
                "seconds": round(stored["seconds"] + time.perf_counter() - begun, 1),
                "reference": REFERENCE,
                **{
                    part: table([row for row in rows if row["part"] == part])
                    for part in ("direct", "transitive")
                },
                "n_seeds": seed + 1,
                "rows": rows if seed < missing[-1] else [],  # only to go on from
            }
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    stored = json.loads(chosen.out.read_text())
    for part in ("direct", "transitive"):
        print(
            part,
            "correlation with quality | gloss | before | top five accepted by the strict judge",
        )
        for row in stored[part]:
            shown = " ".join(f"{row[name]['mean']:6.3f}" for name in MEASURES)
            print(f"  {row['n_new']:4d} {row['arm']:22s} {shown}")
