"""Saturation and oscillation: writers who learn what the judge likes, with replacement and erasure on and off.

    python benchmarks/judges/oscillation.py  # resumes where it stopped; benchmarks/results/judges/oscillation.json

Forty writers have a quality, which is hard to improve, and two kinds of gloss, which are not. Each round the ten that
score best have children, who take the places of the ten that score worst; everybody is judged once more. The first
judge reads quality but likes the first gloss. At the end of each of eight epochs a slot can change hands:

- *replacement off*: the first judge stays (naive).
- *ours*: what fooled the judge and was settled joins dev in two classes, a challenger is bred there and goes through
  the gate (bets on the Brier score) on confirm.
- *published* (arXiv 2606.26294): whoever of three judges, which like the first gloss, the second, or both a little, has
  the highest lower quantile of right answers on the anchor set and on what the incumbent wrongly accepted, counted as
  rejects. With erasure, what was accepted by a displaced judge no longer counts.

*Erasure off* pools the verdicts of all judges in a writer's score. Reported are the acceptance of the last epoch, the
true quality of the five best by score, how fast it grows, replacements, and revisits: a displaced judge that returns.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.judges.replacement import Gatekeeper, JudgeSlot, published_rule  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.judges.anchor import AnchorItem, split  # noqa: E402
from lakatos.judges.gate_record import GATES  # noqa: E402
from lakatos.judges.judge import JudgeSubmission  # noqa: E402
from lakatos.judges.program import JudgeProgram, ProgramFactor, ProgramTerm, log_odds  # noqa: E402
from lakatos.traces.digest import digest_of  # noqa: E402

RESULT = ROOT / "benchmarks" / "results" / "judges" / "oscillation.json"
FEATURES = ("reading", "first_gloss", "second_gloss")
N_WRITERS, N_CHILDREN, N_EPOCHS, N_ROUNDS, N_ANCHOR, NOISE = 40, 10, 8, 12, 1200, 0.75
HARD, EASY = 0.15, 0.6
"""Standard deviations of what a child changes in quality and in gloss; quality falls by half of its own on average."""
SETTINGS = GATES["loss"].model_copy(update={"strata": ()})
ARMS = tuple(
    (rule, erases) for rule in ("replacement off", "published", "ours") for erases in (False, True)
)


def judge(first: float, second: float) -> JudgeProgram:
    terms = ((FEATURES[0], 2.3), (FEATURES[1], first), (FEATURES[2], second))
    return JudgeProgram(
        tuple(ProgramTerm((ProgramFactor(name),), weight) for name, weight in terms if weight), -0.5
    )


FIRST = judge(1.2, 0.0)
POOL = (FIRST, judge(0.0, 1.2), judge(0.7, 0.7))


def items(values: np.ndarray, labels: np.ndarray, name: str) -> list[AnchorItem]:
    return [
        AnchorItem(
            submission=JudgeSubmission(
                digest_of([name, k]), digest_of([name, k, 0]), 0.0, 1.0, 0, 1, 1.0,
                dict(zip(FEATURES, map(float, row), strict=True)),
            ),
            label=bool(label),
            strata={"origin": "machine", "quality": "good" if label else "bad"},
            problems=(f"{name} {k}",),
            people=(),
            provenance="simulated quality",
        )
        for k, (row, label) in enumerate(zip(values, labels, strict=True))
    ]  # fmt: skip


class Writers:
    """Quality and gloss of each, ``(n_writers, 3)``, and the verdicts on them by epoch's judge."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.traits = rng.normal(size=(N_WRITERS, 3)) * [0.5, 0.5, 0.5]
        self.verdicts: list[list[tuple[int, float]]] = [[] for _ in range(N_WRITERS)]

    def read(self, who: np.ndarray) -> np.ndarray:
        """What a judge sees of writers."""
        return self.traits[who] + np.outer(NOISE * self.rng.normal(size=len(who)), [1, 0, 0])

    def judge(self, program: JudgeProgram, who: np.ndarray, seat: int) -> np.ndarray:
        """One more verdict on each of some writers."""
        accepted = log_odds(program, FEATURES, self.read(who)) > 0
        for writer, yes in zip(who, accepted, strict=True):
            self.verdicts[writer].append((seat, float(yes)))
        return accepted

    def scores(self, seat: int, *, erases: bool) -> np.ndarray:
        """Mean of the verdicts that count."""
        kept = [
            [value for given, value in own if not erases or given == seat] for own in self.verdicts
        ]
        return np.array([np.mean(values) if values else 0.5 for values in kept])

    def step(self, program: JudgeProgram, seat: int, *, erases: bool) -> float:
        """One round; the share of this round's verdicts that accept."""
        everyone = np.arange(N_WRITERS)
        accepted = self.judge(program, everyone, seat).mean()
        order = np.argsort(-self.scores(seat, erases=erases) - 1e-6 * self.rng.random(N_WRITERS))
        best, worst = order[:N_CHILDREN], order[-N_CHILDREN:]
        change = self.rng.normal(size=(N_CHILDREN, 3)) * [HARD, EASY, EASY] - [HARD / 2, 0, 0]
        self.traits[worst] = self.traits[best] + change
        for writer in worst:
            self.verdicts[writer] = []
        for _ in range(3):
            self.judge(program, worst, seat)
        return float(accepted)


def right(program: JudgeProgram, values: np.ndarray, labels: np.ndarray) -> int:
    return int(((log_odds(program, FEATURES, values) > 0) == labels).sum())


def cell(rule: str, erases: bool, seed: int) -> dict[str, Any]:
    """One arm of one seed."""
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(N_ANCHOR, 3))
    values = traits + np.outer(NOISE * rng.normal(size=N_ANCHOR), [1, 0, 0])
    labels = traits[:, 0] > 0
    anchor = split(items(values, labels, f"{seed} anchor"), seed)
    slot = JudgeSlot(FIRST, anchor, FEATURES, Gatekeeper(SETTINGS), seed)
    writers, current, seat, seats = Writers(rng), FIRST, 0, [digest_of(FIRST.to_json())]
    traps: list[tuple[int, np.ndarray]] = []
    quality, accepted = [], []
    for epoch in range(N_EPOCHS):
        accepted.append(
            float(np.mean([writers.step(current, seat, erases=erases) for _ in range(N_ROUNDS)]))
        )
        top = np.argsort(-writers.scores(seat, erases=erases), kind="stable")[:5]
        quality.append(float(writers.traits[top, 0].mean()))
        everyone = np.arange(N_WRITERS).repeat(3)
        seen, good = writers.read(everyone), writers.traits[everyone, 0] > 0
        chosen = current
        if rule == "published":
            fooled = seen[(log_odds(current, FEATURES, seen) > 0) & ~good]
            traps.append((seat, fooled))
            valid = [own for given, own in traps if not erases or given == seat]
            bad = np.concatenate(valid) if valid else np.zeros((0, 3))
            counts = []
            for program in (current, *POOL):
                n = right(program, values, labels) + right(
                    program, bad, np.zeros(len(bad), dtype=bool)
                )
                counts.append((n, N_ANCHOR + len(bad) - n))
            found = published_rule(counts[0], counts[1:])
            chosen = current if found is None else POOL[found]
        elif rule == "ours":
            slot.end_epoch(
                epoch, items(seen, good, f"{seed} epoch {epoch}"), n_generations=3, n_children=8
            )
            chosen = slot.current
        if chosen is not current:
            current, seat = chosen, seat + 1
            seats.append(digest_of(current.to_json()))
    fresh = np.random.default_rng([seed, 1]).normal(size=(20_000, 3))
    shown = fresh + np.outer(
        NOISE * np.random.default_rng([seed, 2]).normal(size=20_000), [1, 0, 0]
    )
    return {
        "rule": rule,
        "erases": erases,
        "seed": seed,
        "accepted": accepted[-1],
        "quality": quality[-1],
        "by_epoch": quality,
        "slope": float(np.polyfit(np.arange(N_EPOCHS), quality, 1)[0]),
        "gloss": float(np.abs(writers.traits[:, 1:]).mean()),
        "replacements": seat,
        "revisits": len(seats) - len(set(seats)),
        "anchor_accuracy": right(current, shown, fresh[:, 0] > 0) / 20_000,
    }


def main() -> None:
    """Run what is missing and print the table."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--seeds", type=int, default=60)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    before = (
        json.loads(chosen.out.read_text())
        if chosen.out.exists()
        else {"rows": [], "seconds": 0.0, "table": []}
    )
    rows: list[dict[str, Any]] = before["rows"]
    complete = len(before["table"]) > 0 and not rows  # single rows are kept only to go on from
    begun = time.perf_counter()
    for rule, erases in () if complete else ARMS:
        done = {row["seed"] for row in rows if (row["rule"], row["erases"]) == (rule, erases)}
        missing = [seed for seed in range(chosen.seeds) if seed not in done]
        for seed in missing:
            rows.append(cell(rule, erases, seed))
            if seed % 10 == 9 or seed == missing[-1]:
                write(chosen.out, rows, before["seconds"] + time.perf_counter() - begun)
    if not complete:
        write(chosen.out, rows, before["seconds"] + time.perf_counter() - begun, keep=False)
    for line in json.loads(chosen.out.read_text())["table"]:
        shown = "  ".join(f"{name} {line[name]['mean']:.2f}" for name in MEASURES)
        print(
            f"{line['rule']:16s} erasure {'on ' if line['erases'] else 'off'}  {shown}  {line['quality_by_epoch']}"
        )


MEASURES = ("accepted", "quality", "slope", "replacements", "revisits", "anchor_accuracy")


def table(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means with 95% intervals and the worst seed."""
    found = []
    for rule, erases in ARMS:
        own = [row for row in rows if (row["rule"], row["erases"]) == (rule, erases)]
        if not own:
            continue
        line: dict[str, Any] = {"rule": rule, "erases": erases, "n_seeds": len(own)}
        for name in MEASURES:
            x = np.array([row[name] for row in own], dtype=float)
            mean, low, high = mean_interval(x)
            line[name] = {
                "mean": mean,
                "low": low,
                "high": high,
                "least": float(x.min()),
                "most": float(x.max()),
            }
        line["quality_by_epoch"] = (
            np.mean([row["by_epoch"] for row in own], axis=0).round(3).tolist()
        )
        found.append(line)
    return found


def write(out: Path, rows: list[dict[str, Any]], seconds: float, *, keep: bool = True) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    result = {
        **provenance(),
        "seconds": round(seconds, 1),
        "table": table(rows),
        "rows": rows if keep else [],
    }
    out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
