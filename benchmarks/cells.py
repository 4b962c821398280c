"""Benchmarks made of many cells: run what is missing, write every result as it comes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.provenance import provenance


def mean_interval(values: Sequence[float] | NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean over seeds with its 95% interval, which of a single value is the value."""
    array = np.asarray(values, dtype=np.float64)
    mean = float(array.mean())
    half = 1.96 * float(array.std(ddof=1)) / np.sqrt(len(array)) if len(array) > 1 else 0.0
    return mean, mean - half, mean + half


def standard_error(values: Sequence[float] | NDArray[np.float64]) -> float:
    """Of a mean; not a number where there is a single value."""
    array = np.asarray(values, dtype=np.float64)
    return float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else float("nan")


def complete(
    out: Path,
    cell: Callable[..., dict[str, Any]],
    wanted: Iterable[tuple[Any, ...]],
    fields: Sequence[str],
    n_workers: int,
    *,
    order: Callable[[dict[str, Any]], Any],
    extra: Sequence[Any] = (),
) -> list[dict[str, Any]]:
    """The cells that ``out`` holds and those of ``wanted`` that it lacks, computed side by side.

    Args:
        out: JSON file of the benchmark; made where it is not there, written after every cell.
        cell: Computes one from its identity and ``extra``.
        wanted: Identities.
        fields: What a cell calls the parts of its identity.
        n_workers: Processes.
        order: Of the cells in the file.
        extra: Further arguments, the same for all.
    """
    done: list[dict[str, Any]] = (
        json.loads(out.read_text(encoding="utf-8"))["cells"] if out.exists() else []
    )
    have = {tuple(item[name] for name in fields) for item in done}
    todo = [item for item in wanted if item not in have]
    with ProcessPoolExecutor(n_workers) as pool:
        for future in as_completed([pool.submit(cell, *item, *extra) for item in todo]):
            done.append(future.result())
            print(done[-1], flush=True)
            done.sort(key=order)
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(
                json.dumps({**provenance(), "cells": done}, indent=1) + "\n", encoding="utf-8"
            )
    return done


def run_studies(
    description: str | None,
    study: Callable[..., dict[str, Any]],
    summary: Callable[[list[dict[str, Any]]], dict[str, Any]],
    conditions: Sequence[tuple[Any, ...]],
    fields: Sequence[str],
    *,
    out: Path,
    n_studies: int,
) -> None:
    """The command of a benchmark of simulated studies: run those that are missing, and print what they show.

    Args:
        description: Of the command.
        study: Computes one from its condition and its seed.
        summary: Of all studies so far.
        conditions: Each is run with every seed.
        fields: What a study calls the parts of its condition, and its seed.
        out: JSON file unless the command names another one.
        n_studies: Of each condition, unless the command says otherwise.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--studies", type=int, default=n_studies, help="Of each condition.")
    parser.add_argument("--out", type=Path, default=out)
    chosen = parser.parse_args()
    wanted = [(*condition, seed) for seed in range(chosen.studies) for condition in conditions]
    done = complete(
        chosen.out,
        study,
        wanted,
        fields,
        1,
        order=lambda item: tuple(item[name] for name in fields),
    )
    print(json.dumps(summary(done), indent=1))
