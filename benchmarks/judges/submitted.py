"""Are judges that were made on random edits right about what searches submit? Anchor items of either kind.

    python benchmarks/judges/submitted.py            # resumes; benchmarks/results/judges/submitted.json
    python benchmarks/judges/submitted.py --table    # only sums up what is there

Items of both kinds in four domains: published theories and random edits of them with declared people
(`judges.items.ground_truth`), and the best of eight fitted elaborations against the theory that it would replace
(`judges.items.searched`); in both as many good as bad, of either origin. A logistic regression of what judges see of
the evidence (`SEEN`) is learned on the one kind or the other in three domains, and says of the searched items of
the fourth how likely the candidate is favoured. The parsimony rule learns nothing. Less is better: Brier
scores, paired by item.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from scipy.optimize import minimize  # noqa: E402
from scipy.special import expit  # noqa: E402

from benchmarks.cells import complete, mean_interval  # noqa: E402
from benchmarks.memory.winners import SPACES  # noqa: E402
from benchmarks.provenance import provenance  # noqa: E402
from lakatos.domains import DOMAINS, FAMILIES  # noqa: E402
from lakatos.judges.anchor import AnchorItem  # noqa: E402
from lakatos.judges.feature import table  # noqa: E402
from lakatos.judges.items.ground_truth import simulated_items  # noqa: E402
from lakatos.judges.items.searched import searched_items  # noqa: E402
from lakatos.judges.rubrics.parsimony import ParsimonyJudge  # noqa: E402
from lakatos.theories.engine.laboratory import Laboratory  # noqa: E402

Array = NDArray[np.float64]
RESULT = ROOT / "benchmarks" / "results" / "judges" / "submitted.json"
KINDS = ("edited", "searched")
N_ITEMS, N_FITS, PENALTY = 8, 8, 1.0
SEEN = ("advantage_z", "advantage", "extra_parameters", "share_favouring", "error_difference")


def cell(kind: str, domain: str, seed: int) -> dict[str, Any]:
    """Some items of one kind in one domain."""
    rng = np.random.default_rng([seed, KINDS.index(kind), list(SPACES).index(domain), 90])
    began, family = time.perf_counter(), FAMILIES[domain]
    with Laboratory(DOMAINS[domain], 1) as laboratory:
        if kind == "edited":
            items = simulated_items(DOMAINS[domain], family, laboratory, rng, N_ITEMS)
        else:
            items = searched_items(DOMAINS[domain], family, laboratory, rng, N_ITEMS, N_FITS)
    return {
        "kind": kind,
        "domain": domain,
        "seed": seed,
        "seconds": round(time.perf_counter() - began, 1),
        "items": [item.to_json() for item in items],
    }


def learned(items: Sequence[AnchorItem]) -> Array:
    """Weights of a logistic regression on scaled features, with a constant."""
    seen, scale = scaled(items)
    labels = np.array([item.label for item in items], dtype=np.float64)

    def loss(beta: Array) -> tuple[float, Array]:
        odds = seen @ beta
        value = float((np.logaddexp(0, odds) - labels * odds).sum() + PENALTY * beta @ beta / 2)
        return value, seen.T @ (expit(odds) - labels) + PENALTY * beta

    return np.asarray(minimize(loss, np.zeros(seen.shape[1]), jac=True).x) / scale


def scaled(items: Sequence[AnchorItem]) -> tuple[Array, Array]:
    """Features with a constant in units of their spread, and the spreads."""
    seen = with_constant(items)
    scale = np.append(seen[:, :-1].std(axis=0) + 1e-9, 1.0)
    return seen / scale, scale


def with_constant(items: Sequence[AnchorItem]) -> Array:
    """``(n_items, n_features + 1)``."""
    seen = table([item.submission for item in items], list(SEEN))
    return np.hstack([seen, np.ones((len(items), 1))])


def summary(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Brier scores on searched items, and how much less they are where judges were made on such."""
    items = {
        (kind, domain): [
            AnchorItem.from_json(item)
            for cell in cells
            if (cell["kind"], cell["domain"]) == (kind, domain)
            for item in cell["items"]
        ]
        for kind in KINDS
        for domain in SPACES
    }
    lost: dict[str, list[float]] = {name: [] for name in (*KINDS, "both", "parsimony")}
    said: list[tuple[float, float, float]] = []
    for domain in SPACES:
        tested = items["searched", domain]
        came = np.array([item.label for item in tested], dtype=np.float64)
        rule = ParsimonyJudge()
        lost["parsimony"] += [(rule.judge(item.submission) - item.label) ** 2 for item in tested]
        given = {}
        for name in (*KINDS, "both"):
            kinds = KINDS if name == "both" else (name,)
            others = [
                item
                for (kind, other), found in items.items()
                if kind in kinds and other != domain
                for item in found
            ]
            given[name] = expit(with_constant(tested) @ learned(others))
            lost[name] += ((given[name] - came) ** 2).tolist()
        said += list(zip(given["edited"], given["searched"], came, strict=True))
    edited, searched, came = np.array(said).T
    return {
        "items": {f"{kind} {domain}": len(found) for (kind, domain), found in items.items()},
        "Brier score": {name: mean_interval(values) for name, values in lost.items()},
        "less than from edits": {
            name: mean_interval(np.array(lost["edited"]) - np.array(lost[name]))
            for name in ("searched", "both", "parsimony")
        },
        "surer than is right": {
            name: mean_interval(np.abs(p - 0.5) - np.where(p > 0.5, came - 0.5, 0.5 - came))
            for name, p in (("edited", edited), ("searched", searched))
        },
    }


def main() -> None:
    """Make the items that are missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 4), help="from, to")
    parser.add_argument("--table", action="store_true", help="only sum up what is there")
    options = parser.parse_args()
    wanted = [
        (kind, domain, seed)
        for seed in range(*options.seeds)
        for domain in SPACES
        for kind in KINDS
    ]
    cells = complete(
        options.out, cell, [] if options.table else wanted, ("kind", "domain", "seed"), 1,
        order=lambda row: (row["kind"], row["domain"], row["seed"]),
    )  # fmt: skip
    found = summary(cells)
    options.out.write_text(json.dumps({**provenance(), "summary": found, "cells": cells}) + "\n")
    for name, line in found.items():
        print(name, line)


if __name__ == "__main__":
    main()
