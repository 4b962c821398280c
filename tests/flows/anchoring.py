"""An anchor set for tests, made in a moment: what settles its comparisons is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lakatos.judges.anchor import AnchorItem, split
from lakatos.judges.feature import FEATURES
from lakatos.judges.judge import JudgeSubmission
from lakatos.traces.digest import digest_of

OF_EVIDENCE = (
    "advantage",
    "advantage_z",
    "total_advantage",
    "extra_parameters",
    "log_n_choices",
    "distance",
)


def known_items(n: int = 500, seed: int = 1, weight: float = 3.0) -> list[AnchorItem]:
    """Comparisons that the share of people in favour settles, and the advantage says little about."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(n):
        share, machine = rng.random(), bool(rng.random() < 0.5)
        extra = {name: float(rng.normal()) for name in FEATURES if name not in OF_EVIDENCE}
        extra |= {"share_favouring": share, "machine_written": float(machine)}
        advantage, error = float(rng.normal(0, 0.02)), 0.02
        label = bool(
            rng.random()
            < 1 / (1 + np.exp(-2 * weight * (share - 0.5) * 2 - 0.3 * advantage / error))
        )
        found.append(
            AnchorItem(
                submission=JudgeSubmission(
                    candidate=digest_of(["candidate", seed, number]),
                    incumbent=digest_of(["incumbent", seed, number]),
                    advantage=advantage,
                    standard_error=error,
                    extra_parameters=int(rng.integers(-2, 3)),
                    n_choices=400,
                    distance=float(rng.random() / 5),
                    features=extra,
                ),
                label=label,
                strata={
                    "domain": "multiattribute",
                    "origin": "machine" if machine else "human",
                    "quality": "good" if label else "bad",
                },
                problems=(f"problem {seed} {number}",),
                people=(f"people {seed} {number}",),
                provenance="a known rule",
            )
        )
    return found


def settled_by_the_lead(n: int) -> list[AnchorItem]:
    """Settled comparisons that whoever leads so far wins."""
    return [
        replace(
            item,
            label=item.submission.advantage > 0,
            strata={**item.strata, "quality": "good" if item.submission.advantage > 0 else "bad"},
        )
        for item in known_items(n)
    ]


def anchor_file(folder: Path, n: int = 500, **known: Any) -> Path:
    """A file with such items."""
    path = folder / "anchor.json"
    path.write_text(json.dumps(split(known_items(n, **known), 1).to_json()))
    return path
