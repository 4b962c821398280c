"""What the benchmarks of memory share: streams of plans, intervals over seeds, the result file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance

RESULTS = ROOT / "benchmarks" / "raw" / "memory"


def over_seeds(values: Sequence[float]) -> dict[str, float]:
    """Mean with its 95% interval over seeds (normal), the worst seed, and low quantiles."""
    array = np.asarray(values, dtype=np.float64)
    half = 1.96 * array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else float("nan")
    return {
        "mean": float(array.mean()),
        "low": float(array.mean() - half),
        "high": float(array.mean() + half),
        "worst": float(array.min()),
        "quantile_05": float(np.quantile(array, 0.05)),
        "median": float(np.median(array)),
        "n_seeds": len(array),
    }


def write(name: str, seconds: float, result: Mapping[str, Any], out: Path | None = None) -> None:
    """Write the result file of a benchmark."""
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({**provenance(), "seconds": round(seconds, 1), **result}, indent=1) + "\n"
    )
