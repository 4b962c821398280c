"""What the forensic benchmarks share: shares of seeds with exact intervals, and the result file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.flows.branches.rates import ReplayArm

RESULTS = ROOT / "benchmarks" / "raw" / "forensics"


def share(happened: Sequence[bool]) -> dict[str, float]:
    """Share of seeds in which something happened, with its exact 95% interval."""
    arm = ReplayArm(int(sum(happened)), len(happened))
    low, high = arm.interval()
    return {
        "share": round(arm.rate, 4),
        "low": round(low, 4),
        "high": round(high, 4),
        "n_seeds": arm.n,
    }


def mean(values: Sequence[float]) -> dict[str, float]:
    """Mean over seeds with its 95% interval (normal), and the largest."""
    array = np.asarray(values, dtype=np.float64)
    half = 1.96 * float(array.std(ddof=1)) / np.sqrt(len(array))
    found = {
        "mean": array.mean(),
        "low": array.mean() - half,
        "high": array.mean() + half,
        "worst": array.max(),
    }
    return {name: round(float(value), 4) for name, value in found.items()} | {"n_seeds": len(array)}


def write(name: str, seconds: float, result: Mapping[str, Any], out: Path | None = None) -> None:
    """Write the result file of a benchmark."""
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({**provenance(), "seconds": round(seconds, 1), **result}, indent=1) + "\n"
    )
