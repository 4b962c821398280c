"""Results as small tables: what a benchmark measured, with intervals, in place of every cell that it computed.

A benchmark writes all that it found to a JSON file below ``benchmarks/raw``, from which it goes on; that folder is not
kept in the repository. What is kept is a table below ``benchmarks/results`` with the columns ``figure``, ``value``,
``low``, ``high`` and ``n``: the command, the commit and the machine, then every figure of the benchmark's own summary,
then the means of its cells over whatever is not among the settings that `SETTINGS` names.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from lakatos.experiments.interval import wilson_interval

HERE = Path(__file__).resolve().parent
RAW, RESULTS = HERE / "raw", HERE / "results"
COLUMNS = ("figure", "value", "low", "high", "n")
MOST_ROWS = 400
SETTINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "adoption": {"sets": ("name",)},
    "coverage": {"cells": ("domain", "random_share")},
    "design": {"power pairs": ("true", "rival")},
    "forensics/f1": {
        "rows": ("rate", "changed", "n_replays", "n_baseline", "rule"),
        "branches": ("changed",),
    },
    "forms/chains": {"kinds": ("kind",)},
    "forms/chains_again": {"kinds": ("kind",)},
    "growth": {"cells": ("axis", "n")},
    "judges/erasure": {"direct": ("n_new", "arm"), "transitive": ("n_new", "arm")},
    "judges/gate": {"rows": ("cell",)},
    "judges/loop": {"table": ("study", "arm"), "rows": ("study", "arm")},
    "memory/signature": {"rows": ("way",)},
    "memory/tools": {"rows": ("way",)},
    "memory/prior_odds": {"cells": ("domain", "world")},
    "memory/winners": {"cells": ("domain", "arm")},
    "models/campaign": {"cells": ("seed",)},
    "models/pins": {
        "compacted by arm": ("arm",),
        "compacted by arm and compactor": ("arm", "compactor"),
        "compacted by arm and attack": ("arm", "attack"),
    },
    "models/throughput": {"levels": ("in_flight",)},
    "orchestration": {"runs": ("how",)},
    "prolific": {"runs": ("tight", "killed")},
    "reading": {"cells": ("kind", "rows", "command")},
    "recovery": {"cells": ("rule", "noise")},
    "theories/sequences": {"cells": ("found on",)},
    "security": {
        f"{part} probes": ("kind",)
        for part in ("honest theories", "cheating theories", "doors", "sandbox")
    },
    "size": {"cells": ("part", "kind", "problems", "answers")},
    "studies": {"studies": ("study", "seed")},
    "survival": {"changes": ("what",), "passes": ("command",)},
    "theories/autora_equations": {"cells": ("equation",)},
    "theories/compiled_stan": {"models": ("model", "example")},
    "theories/imported_calls": {"models": ("model",)},
    "theories/diagnosis": {"confidence": ("stated",), "cells": ("rule",)},
    "theories/discovery": {"cells": ("set",)},
    "theories/discovery_again": {"cells": ("rule",)},
    "theories/discovery_pairs_now": {"cells": ("rule",)},
    "theories/discovery_seventh": {"cells": ("rule",)},
    **{
        f"theories/effects_on_{theory}": {
            "sizes": ("size",),
            "rows": ("size", "n_trials", "n_people"),
            "studies": ("size",),
        }
        for theory in (
            "hyperbolic",
            "hyperbolic_of_groups",
            "prospect_theory",
            "rescorla_wagner_of_groups",
        )
    },
    "theories/engine": {"growth_rows": ("n_responses",), "shapes": ("n_people", "n_experiments")},
    "theories/exactness": {"theories": ("seed",)},
    "theories/explanations": {"cells": ("domain",)},
    "theories/games_clauses": {"steps": ("named", "n_clauses")},
    "theories/others_measures": {"cells": ("selection", "theory")},
    "theories/participants_coverage": {
        "theories": ("theory", "n_trials"),
        "parameters": ("theory", "parameter"),
        "studies": ("theory",),
    },
    "theories/passages": {"equation": ("bounds", "drift", "start")},
    "theories/people": {"cells": ("selection", "by")},
    "theories/planted": {"cells": ("domain",)},
    "theories/planted_40": {"cells": ("domain",)},
    "theories/posterior": {
        "rates": ("domain", "theory", "method"),
        "calibration": ("domain", "theory"),
    },
    "theories/recovery": {"cells": ("domain",)},
    "theories/responses": {"cells": ("domain", "rule")},
    "theories/rules": {"cells": ("group", "space", "noise")},
    "theories/search": {
        "summary": ("rules", "method"),
        "cells": ("composed", "n_trials", "method"),
    },
    "theories/staleness": {"cells": ("domain", "truth")},
    "theories/tasks_recovered": {"cells": ("kind",)},
    "theories/tasks_recovered_parameters": {"cells": ("kind",)},
    "theories/tasks_recovered_search": {"cells": ("kind",)},
    "theories/timed_calibration": {"summary": ("theory",), "parts": ("theory",)},
    "theories/timed_densities": {"cases": ("model", "numbers v", "numbers sv", "numbers A")},
    "theories/transfer": {"cells": ("group", "target")},
    "timed_page": {"people": ("how",)},
    "traces/crash": {"chains": ("kind", "moment")},
    "traces/processors": {"studies_run": ("study", "seed")},
}
"""By result and by list of cells the settings that its rows keep apart; cells of other lists are averaged over all."""
MOST_OUTCOMES = 6
UNSAID = ("commit", "seed", "replica", "version", "number")
"""Parts of cells whose mean says nothing."""
Row = tuple[Any, ...]


def table_of(name: str, found: Mapping[str, Any]) -> list[Row]:
    """Rows of what a benchmark wrote, by the name of its result."""
    rows = list(_figures("", found, SETTINGS.get(name, {})))
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], (f"{len(rows) - MOST_ROWS} further figures are left out",)]
    return rows


def _figures(name: str, value: Any, settings: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """Every figure of a value, by its place in it; lists of cells come last and as means."""
    if (interval := _interval(value)) is not None:
        yield (name, *interval)
    elif isinstance(value, Mapping):
        for part in sorted(value, key=lambda part: _are_cells(value[part])):
            yield from _figures(f"{name} {part}".strip(), value[part], settings)
    elif _are_cells(value):
        yield from means_of(name, value, settings.get(name, ()))
    elif isinstance(value, list):
        are_numbers = bool(value) and all(isinstance(item, int | float) for item in value)
        if are_numbers and len(value) > 6:
            yield mean_row(name, value)
        else:
            yield (name, " ".join(map(_shown, value)) if are_numbers else f"{len(value)} items")
    elif value is not None:
        yield (name, value)


def _are_cells(value: Any) -> bool:
    """Whether a value is a list of objects, one for each cell."""
    return isinstance(value, list) and bool(value) and all(isinstance(it, Mapping) for it in value)


def _interval(value: Any) -> tuple[Any, ...] | None:
    """A share or a mean with the ends of its interval and how many it is of; None for anything else."""
    if not isinstance(value, Mapping) or not {"low", "high"} <= value.keys():
        return None
    middle = next((value[key] for key in ("share", "mean", "value") if key in value), None)
    n = next((value[key] for key in ("n", "n_seeds") if key in value), "")
    return None if middle is None else (middle, value["low"], value["high"], n)


def means_of(
    name: str, cells: Sequence[Mapping[str, Any]], settings: Sequence[str]
) -> Iterator[Row]:
    """Means of the numbers of cells, for each combination of settings; of a single cell its numbers."""
    flat = [dict(_parts("", cell)) for cell in cells]

    def group(cell: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(_shown(cell.get(key, "")) for key in settings)

    for values, members in groupby(sorted(flat, key=group), group):
        own = list(members)
        words = "".join(f", {key} {it}" for key, it in zip(settings, values, strict=True) if it)
        for key in dict.fromkeys(key for cell in own for key in cell):
            found = [cell[key] for cell in own if not isinstance(cell.get(key, ""), str)]
            if key in settings or key.rpartition(" ")[2] in UNSAID:
                continue
            if not found:
                yield from shares_of(
                    f"{name}{words}: {key}", [str(cell[key]) for cell in own if key in cell]
                )
                continue
            if len(found) == 1 and isinstance(found[0], tuple):
                yield (f"{name}{words}: {key}", *found[0])
            else:
                numbers = [item[0] if isinstance(item, tuple) else item for item in found]
                yield mean_row(f"{name}{words}: {key}", numbers)


def shares_of(name: str, texts: Sequence[str]) -> Iterator[Row]:
    """How often each of a few outcomes came up, with Wilson's 95% intervals; nothing of texts that do not repeat."""
    outcomes = sorted(set(texts))
    if len(outcomes) <= min(MOST_OUTCOMES, len(texts) // 2):
        for outcome in outcomes:
            n_hits = texts.count(outcome)
            interval = wilson_interval(n_hits, len(texts))
            yield (f"{name} {outcome}", n_hits / len(texts), *interval, len(texts))


def _parts(name: str, cell: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Numbers, intervals and texts of a cell, those of objects in it by their places."""
    for key, value in cell.items():
        place = f"{name} {key}".strip()
        if (interval := _interval(value)) is not None:
            yield place, interval
        elif isinstance(value, Mapping):
            yield from _parts(place, value)
        elif isinstance(value, bool | int | float | str):
            yield place, value


def mean_row(name: str, numbers: Sequence[float]) -> Row:
    """The mean of some numbers with its 95% interval, normal, over them."""
    array = np.asarray(numbers, dtype=np.float64)
    array = array[np.isfinite(array)]
    if not len(array):
        return (name, "not a number", "", "", len(numbers))
    mean = float(array.mean())
    if len(array) < 2:
        return (name, mean, "", "", 1)
    half = 1.96 * float(array.std(ddof=1)) / np.sqrt(len(array))
    return (name, mean, mean - half, mean + half, len(array))


def _shown(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def write_table(raw: Path) -> Path:
    """Make the table of one JSON file below `RAW`; where it is."""
    name = str(raw.relative_to(RAW).with_suffix(""))
    out = RESULTS / f"{name}.csv"
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in table_of(name, json.loads(raw.read_text(encoding="utf-8"))):
            writer.writerow([*map(_shown, row), *[""] * (len(COLUMNS) - len(row))])
    return out
