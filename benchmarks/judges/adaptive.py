"""Adaptive evaluation: what screening a challenger costs, and how often it is wrong.

    python benchmarks/judges/adaptive.py        # benchmarks/results/judges/adaptive.json; goes on where it stopped

In each of 200 seeds, 400 items are calibrated on the answers of 40 past judges; then challengers whose true accuracy
lies ten and five points below the incumbent's, on it, and five and ten points above it, are screened. Four worlds: the
two-parameter model itself; items that can be guessed; items of two kinds, for which judges have two abilities, so that
no single one orders them; and challengers of another kind, which are better or worse at all items alike, whether or not
these told earlier judges apart. Rules:

- ``all items``: every challenger answers all 400, and the sign of the paired difference decides.
- ``50 at random``: a fixed number of items, the posterior probability of being abler decides.
- ``random, stopping``: items at random, our stopping rule.
- ``adaptive``: items by Fisher information among the five best, our stopping rule, no item in more than 30% of
  screenings of a seed; it stops at a standard error of 0.3.
- ``adaptive, to 0.2``: the same, but stopping at 0.2.

``dismissed`` is the share of challengers that the rule calls worse; the others go on to the gate, which asks all items.
Intervals are 95%, over seeds. What would make this fail: few past judges, and challengers that differ from them in kind
(`judges.item_response.item_drift` looks for it).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.special import expit  # noqa: E402
from scipy.stats import spearmanr  # noqa: E402

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.judges.item_response import ability_of, allowed_items, calibrate, screen  # noqa: E402

Array = NDArray[Any]
RESULT = ROOT / "benchmarks" / "results" / "judges" / "adaptive.json"
N_SEEDS = 200
N_ITEMS = 400
N_PAST = 40
GAPS = (-0.10, -0.05, 0.0, 0.05, 0.10)
N_EACH = 2
"""Challengers of each gap in a seed."""
RULES = ("all items", "50 at random", "random, stopping", "adaptive", "adaptive, to 0.2")
WORLDS = ("two parameters", "guessing", "two abilities", "another kind")
CAP = 0.3
N_WORKERS = 2


def right(
    world: str, kinds: Array, slope: Array, intercept: Array, ability: float, other: float
) -> Array:
    """``(n_items,)`` true probability of a correct answer."""
    used = np.where(kinds, other, ability) if world == "two abilities" else ability
    p = expit(slope * used + intercept)
    return 0.2 + 0.8 * p if world == "guessing" else p


def seed_of(world: str, seed: int) -> dict[str, Any]:
    began = time.process_time()
    rng = np.random.default_rng([WORLDS.index(world), seed])
    slope, intercept = np.exp(rng.normal(0, 0.35, N_ITEMS)), rng.normal(0.9, 1.0, N_ITEMS)
    kinds = np.arange(N_ITEMS) % 2 == 1

    def probabilities(ability: float) -> Array:
        other = 0.6 * ability + 0.8 * rng.normal() if world == "two abilities" else 0.0
        return right(world, kinds, slope, intercept, ability, other)

    def challenger(gap: float) -> Array:
        """Answers of a judge whose accuracy lies ``gap`` from the incumbent's."""
        if world == "another kind":
            log_odds = np.log(base / (1 - base))
            return reach(lambda shift: expit(log_odds + shift), float(base.mean()) + gap)
        own = 0.8 * rng.normal() if world == "two abilities" else 0.0
        return reach(
            lambda ability: right(world, kinds, slope, intercept, ability, 0.6 * ability + own),
            float(base.mean()) + gap,
        )

    def answers(p: Array) -> Array:
        return (rng.random(N_ITEMS) < p).astype(float)

    items = calibrate(
        np.stack([answers(probabilities(ability)) for ability in rng.normal(size=N_PAST)])
    )
    base = probabilities(0.0)
    incumbent = answers(base)
    level = ability_of(items, incumbent)
    exposures = {rule: np.zeros(N_ITEMS) for rule in RULES}
    rows, n_screened = [], 0
    for gap in rng.permutation(np.repeat(GAPS, N_EACH)):
        p = challenger(float(gap))
        found = answers(p)

        def answer(item: int, found: Array = found) -> bool:
            return bool(found[item])

        rows.append({"gap": float(gap), "accuracy": float(found.mean())})
        difference = float(found.mean() - incumbent.mean())
        rows[-1]["all items"] = {
            "asked": N_ITEMS,
            "worse": difference < 0,
            "ability": float(found.mean()),
        }
        for rule in RULES[1:]:
            fixed = rule == "50 at random"
            adaptive = rule.startswith("adaptive")
            allowed = allowed_items(exposures[rule], n_screened, CAP) if adaptive else None
            done = screen(
                items,
                answer,
                level,
                rng,
                most=50 if fixed else N_ITEMS,
                allowed=allowed,
                sure=1.0 if fixed else 0.95,
                precise=0.0 if fixed else 0.2 if rule.endswith("0.2") else 0.3,
                adaptive=adaptive,
            )
            exposures[rule][list(done.asked)] += 1
            rows[-1][rule] = {
                "asked": len(done.asked),
                "worse": done.probability <= 0.05 if fixed else done.verdict == "worse",
                "ability": done.ability.mean,
            }
        n_screened += 1
    return {
        "rows": rows,
        "seconds": time.process_time() - began,
        "most_exposed": {rule: float(exposures[rule].max() / n_screened) for rule in RULES[1:]},
        "rank": {
            rule: float(
                spearmanr(
                    [row["accuracy"] for row in rows], [row[rule]["ability"] for row in rows]
                ).statistic
            )
            for rule in RULES
        },
    }


def reach(probabilities: Callable[[float], Array], accuracy: float) -> Array:
    """The probabilities, increasing in a number, whose mean is ``accuracy``."""
    low, high = -8.0, 8.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if probabilities(middle).mean() < accuracy else (low, middle)
    return probabilities(low)


def interval(values: Any) -> list[float]:
    """Mean over seeds and its 95% interval."""
    return [round(end, 4) for end in mean_interval(values)]


def summary(seeds: list[dict[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for rule in RULES:
        table[rule] = {
            "asked": interval(
                [np.mean([row[rule]["asked"] for row in seed["rows"]]) for seed in seeds]
            ),
            "rank_correlation": interval([seed["rank"][rule] for seed in seeds]),
            "dismissed": {
                f"{gap:+.2f}": interval(
                    [
                        np.mean([row[rule]["worse"] for row in seed["rows"] if row["gap"] == gap])
                        for seed in seeds
                    ]
                )
                for gap in GAPS
            },
        }
        if rule in seeds[0]["most_exposed"]:
            table[rule]["most_exposed"] = interval([seed["most_exposed"][rule] for seed in seeds])
    return table


def main() -> None:
    found: dict[str, Any] = json.loads(RESULT.read_text())["worlds"] if RESULT.exists() else {}
    for world in WORLDS:
        if world in found:
            continue
        began = time.process_time()
        with ProcessPoolExecutor(N_WORKERS) as pool:
            seeds = list(pool.map(seed_of, [world] * N_SEEDS, range(N_SEEDS), chunksize=5))
        seconds = time.process_time() - began + sum(seed["seconds"] for seed in seeds)
        found[world] = {"table": summary(seeds), "n_seeds": N_SEEDS, "seconds": round(seconds, 1)}
        print(world, f"({seconds:.0f} s of processor time)")
        for rule, row in found[world]["table"].items():
            print(
                f"  {rule:18}asked {row['asked']}, rank {row['rank_correlation']}, dismissed {row['dismissed']}"
            )
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        settings = {"n_items": N_ITEMS, "n_past": N_PAST, "cap": CAP}
        RESULT.write_text(
            json.dumps({**provenance(), **settings, "worlds": found}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
