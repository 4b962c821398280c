"""Do published models say what is plausible where theories are tied? A taste learned from them.

    python benchmarks/judges/published.py      # seconds; benchmarks/results/judges/published.json

Worlds are those of `elsewhere.py` (its JSON). A published theory is taken as preferred over every elaboration in its
world; what this teaches about parameters, mechanisms, code length and extremeness, learned on the other groups, names
one of the theories within one standard error. Counted is its regret elsewhere, nats per choice, beside the simplest's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from benchmarks.cells import mean_interval  # noqa: E402
from benchmarks.judges.elsewhere import (  # noqa: E402
    PLACES,
    RESULT,
    SettledPairs,
    learned_weights,
    near_best,
    reached,
)
from benchmarks.provenance import provenance  # noqa: E402

Array = NDArray[np.float64]
TASTE = ("parameters", "mechanisms", "code length", "extreme inside")
RULES = ("simplest", "published", "like published")


def tasted(theory: dict[str, Any]) -> Array:
    """What a taste looks at."""
    return np.array([theory[name] for name in TASTE], dtype=np.float64)


def taste_of_published(cells: Sequence[dict[str, Any]]) -> Array:
    """Weights of what tells published theories from elaborations in the same world."""
    rows, weights = [], []
    for cell in cells:
        published = [item for item in cell["theories"] if item["generation"] == 0]
        others = [item for item in cell["theories"] if item["generation"] > 0]
        for first, second in product(published, others):
            rows.append(tasted(first) - tasted(second))
            weights.append(1 / (len(published) * len(others)))
    counts = np.array(weights)
    return learned_weights(SettledPairs(np.array(rows), np.ones(len(rows)), counts / counts.mean()))


def regrets(cell: dict[str, Any], weights: Array) -> dict[str, float]:
    """Of each rule in one world."""
    near = near_best(cell, 1)
    named = {
        "simplest": min(near, key=lambda item: item["code length"]),
        "published": min(near, key=lambda item: (item["generation"] > 0, item["code length"])),
        "like published": max(near, key=lambda item: float(tasted(item) @ weights)),
    }
    best = max(reached(item, PLACES) for item in near)
    return {name: best - reached(item, PLACES) for name, item in named.items()}


def main() -> None:
    """Sum up the worlds that are there."""
    cells = json.loads(RESULT.read_text())["cells"]
    rows = []
    for group in dict.fromkeys(cell["group"] for cell in cells):
        weights = taste_of_published([cell for cell in cells if cell["group"] != group])
        rows += [regrets(cell, weights) for cell in cells if cell["group"] == group]
    found = {name: mean_interval([row[name] for row in rows]) for name in RULES}
    for name in RULES[1:]:
        gains = [row["simplest"] - row[name] for row in rows]
        found[f"{name} less than simplest"] = mean_interval(gains)
    out = RESULT.with_name("published.json")
    out.write_text(json.dumps({**provenance(), "n": len(rows), "summary": found}, indent=1) + "\n")
    for name, line in found.items():
        print(name, line)


if __name__ == "__main__":
    main()
