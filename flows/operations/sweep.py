"""Portfolios: one study, many campaigns, over a grid of what may differ; resumed like a run, and compared at the end.

A sweep file is a study file with a table ``grid``. Each key of it is an axis: a list of values for one key of the study
(dotted, as in ``"participants.theory"``), or a list of tables that each change several keys and carry a ``label``. Each
combination is a *cell*: a run of its own in a process of its own, so that one that fails hurts no other.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
import subprocess
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from lakatos.flows.errors import ChangedStudyError, StudyError
from lakatos.flows.operations.carry import command_of, start_process
from lakatos.flows.report.templating import TEMPLATES
from lakatos.flows.run.engine import execute
from lakatos.flows.run.next_pass import look
from lakatos.flows.run.parts import EngineName, TaskLabel, flow, task
from lakatos.flows.run.study import CampaignConfig, parse_study
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json, digest_of
from lakatos.traces.errors import TraceError

STUDIES_FOLDER = "studies"
MOST_CELLS = 10_000


@dataclass(frozen=True)
class SweepCell:
    """One campaign of a sweep."""

    name: str
    """Name of its run, made from its changes, so that a grid can grow without renaming runs."""
    labels: Mapping[str, str]
    """Its label on each axis."""
    config: CampaignConfig


@dataclass(frozen=True)
class CellOutcome:
    """How far a cell is."""

    cell: SweepCell
    state: Literal["planned", "running", "concluded", "waiting", "failed"]
    text: str = ""


def load_sweep(path: Path) -> tuple[str, list[SweepCell]]:
    """Name and cells of a sweep file; every cell is checked before anything runs.

    Raises:
        StudyError: The file, its grid or one of its cells is wrong; the message names the cell.
    """
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StudyError(f"cannot read the sweep {path}: {error.strerror or error}.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise StudyError(f"the sweep {path} is not valid TOML: {error}.") from None
    grid = value.pop("grid", None)
    if not isinstance(grid, dict) or not grid:
        raise StudyError(
            f"the sweep {path} has no table [grid]; without one, `lakatos run` runs a single campaign."
        )
    axes = {name: _alternatives(name, options, path) for name, options in grid.items()}
    n_cells = 1
    for options in axes.values():
        n_cells *= len(options)
    if n_cells > MOST_CELLS:
        raise StudyError(
            f"the grid of {path} has {n_cells} cells; {MOST_CELLS} is the most. Split it."
        )
    base = str(value.get("name", path.stem))
    cells = []
    for chosen in itertools.product(*axes.values()):
        labels = {axis: label for axis, (label, _) in zip(axes, chosen, strict=True)}
        changed = value
        for _, changes in chosen:
            changed = merged(changed, changes)
        name = cell_name(labels, changed)
        # Cells are compared with one another, so that none may learn from the others unless the file says so.
        memory = {"winners": False, **changed.get("memory", {})}
        config = parse_study(
            changed | {"memory": memory} | {"name": f"{base[:30]}.{name}"[:64]},
            f"{path}, cell {labels}",
        )
        cells.append(SweepCell(name, labels, config))
    if len({cell.name for cell in cells}) < len(cells):
        raise StudyError(f"two cells of the grid of {path} are the same; remove repeated values.")
    return base, cells


def _alternatives(axis: str, options: Any, path: Path) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(options, list) or not options:
        raise StudyError(
            f"the sweep {path}: grid.{axis} must be a list of at least one value or table."
        )
    found = []
    for number, option in enumerate(options):
        if isinstance(option, dict):
            changes = {key: value for key, value in option.items() if key != "label"}
            found.append((str(option.get("label", number)), _nested(changes)))
        else:
            found.append((str(option), _nested({axis: option})))
    if len({label for label, _ in found}) < len(found):
        raise StudyError(
            f"the sweep {path}: two alternatives of grid.{axis} are called the same; give each a label."
        )
    return found


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as tables in tables."""
    result: dict[str, Any] = {}
    for key, value in flat.items():
        *tables, last = key.split(".")
        inner: dict[str, Any] = {last: value}
        for table in reversed(tables):
            inner = {table: inner}
        result = merged(result, inner)
    return result


def merged(value: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``value`` with ``changes``, table by table; lists and single values are replaced."""
    result = dict(value)
    for key, change in changes.items():
        old = result.get(key)
        result[key] = (
            merged(old, change)
            if isinstance(old, Mapping) and isinstance(change, Mapping)
            else change
        )
    return result


def cell_name(labels: Mapping[str, str], study: Mapping[str, Any]) -> str:
    """Readable, and different for different studies."""
    words = "-".join(f"{axis.rpartition('.')[2]}_{label}" for axis, label in labels.items())
    readable = re.sub(r"[^A-Za-z0-9_.-]+", "_", words)[:40].strip("-_.") or "cell"
    return f"{readable}-{digest_of(json.loads(json.dumps(study, default=str)))[:8]}"


# -- running ---------------------------------------------------------------------------------------------------------


class CampaignSweep:
    """A sweep that is being carried out; told about by ``show`` whenever a cell changes."""

    def __init__(
        self,
        folder: Path,
        cells: Sequence[SweepCell],
        *,
        data: Path | None = None,
        parallel: int = 1,
        workers: int = 2,
        show: Callable[[Sequence[CellOutcome]], None] = lambda outcomes: None,
    ) -> None:
        self.folder, self.data, self.workers, self.show = folder, data, workers, show
        self.outcomes = [_before(folder, cell) for cell in cells]
        self._free = asyncio.Semaphore(parallel)

    def tell(self, place: int, state: Any, text: str = "") -> None:
        """Note how a cell is doing."""
        self.outcomes[place] = replace(self.outcomes[place], state=state, text=text)
        self.show(self.outcomes)


def _before(folder: Path, cell: SweepCell) -> CellOutcome:
    """How a cell stands before anything is started."""
    with contextlib.suppress(TraceError):
        found = look(folder / cell.name)
        if found.ended is not None and not found.due:
            return CellOutcome(cell, found.ended, found.text)
    return CellOutcome(cell, "planned")


def write_studies(folder: Path, cells: Sequence[SweepCell]) -> None:
    """Write each cell's study beside the runs.

    Raises:
        ChangedStudyError: A cell has run with another study.
    """
    for cell in cells:
        path, text = (
            study_file(folder, cell),
            canonical_json(cell.config.model_dump(mode="json")) + b"\n",
        )
        if path.exists() and path.read_bytes() != text and look(folder / cell.name).seq:
            raise ChangedStudyError(
                f"the cell {cell.name} of {folder} has run with another study than the sweep file gives it now. "
                "Restore the file, or sweep under another --name."
            )
        if not path.exists() or path.read_bytes() != text:
            write_whole(path, text)


def study_file(folder: Path, cell: SweepCell) -> Path:
    """File of the study of a cell."""
    return folder / STUDIES_FOLDER / f"{cell.name}.json"


@flow(name="sweep")
async def carry_sweep(sweep: CampaignSweep) -> list[CellOutcome]:
    """Carry all cells on, a few at a time, each up to its end; one that fails is noted and the others go on."""
    sweep.show(sweep.outcomes)
    wanted = [
        place
        for place, item in enumerate(sweep.outcomes)
        if item.state not in ("concluded", "waiting")
    ]
    await asyncio.gather(
        *(run_cell(sweep, TaskLabel(sweep.outcomes[place].cell.name), place) for place in wanted)
    )
    return sweep.outcomes


@task(name="cell")
async def run_cell(sweep: CampaignSweep, name: str, place: int) -> None:
    """Carry one cell on, in a process of its own."""
    async with sweep._free:
        cell = sweep.outcomes[place].cell
        folder, log = sweep.folder / cell.name, sweep.folder / "logs" / f"{cell.name}.log"
        sweep.tell(place, "running")
        command = command_of(
            folder, study=study_file(sweep.folder, cell), data=sweep.data, workers=sweep.workers
        )
        process = start_process(command, log)
        try:
            while process.poll() is None:
                await asyncio.sleep(0.2)
        finally:
            if process.poll() is None:
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(15)
                if process.poll() is None:
                    process.kill()
                    process.wait()
            assert process.stdin is not None
            process.stdin.close()
        found = look(folder)
        if process.returncode == 0 and found.ended is not None:
            sweep.tell(place, found.ended, found.text)
        else:
            sweep.tell(place, "failed", last_line(log) or f"ended with status {process.returncode}")


def last_line(log: Path) -> str:
    """The last line of a log, such as a command's one-line error."""
    with contextlib.suppress(OSError, IndexError):
        return (
            log.read_text(encoding="utf-8", errors="replace")
            .strip()
            .splitlines()[-1]
            .removeprefix("lakatos: ")[:500]
        )
    return ""


def run_sweep(
    folder: Path,
    cells: Sequence[SweepCell],
    *,
    data: Path | None = None,
    engine: EngineName = "none",
    parallel: int = 1,
    workers: int = 2,
    show: Callable[[Sequence[CellOutcome]], None] = lambda outcomes: None,
) -> list[CellOutcome]:
    """Run all cells of a sweep in ``folder``, or those that are not finished there.

    Args:
        folder: Holds a run per cell, their studies and logs, and the comparison.
        cells: As `load_sweep` gives them.
        data: Folder of the published data sets.
        engine: What carries the sweep; the campaigns themselves are processes.
        parallel: Campaigns at the same time.
        workers: Theories that run at the same time in each.
        show: Told how all cells are doing.

    Raises:
        ChangedStudyError: A cell has run with another study.
    """
    write_studies(folder, cells)

    async def main() -> list[CellOutcome]:
        sweep = CampaignSweep(
            folder, cells, data=data, parallel=parallel, workers=workers, show=show
        )
        return await carry_sweep(sweep)

    return execute(engine, main, title=folder.name)


# -- comparing -------------------------------------------------------------------------------------------------------


def compare(folder: Path, outcomes: Sequence[CellOutcome]) -> dict[str, Any]:
    """Results of every cell, and averages for every label of every axis."""
    rows = [_row(folder, item) for item in outcomes]
    axes = list(outcomes[0].cell.labels) if outcomes else []
    means = [
        {
            "axis": axis,
            "label": label,
            **_mean([row for row in rows if row["labels"][axis] == label]),
        }
        for axis in axes
        for label in dict.fromkeys(row["labels"][axis] for row in rows)
    ]
    states = [item.state for item in outcomes]
    return {
        "axes": axes,
        "cells": rows,
        "means": means,
        "states": {state: states.count(state) for state in set(states)},
    }


def _row(folder: Path, item: CellOutcome) -> dict[str, Any]:
    row: dict[str, Any] = {
        "cell": item.cell.name,
        "labels": dict(item.cell.labels),
        "state": item.state,
        "text": item.text,
    }
    if item.state != "concluded":
        return row
    from lakatos.flows.run.run import read_state

    state, trace = read_state(folder / item.cell.name)
    with trace:
        assert state.campaign.concluded is not None
        verdict = state.campaign.concluded.record
        standing = next(line for line in state.board().standings if line.theory == verdict.leader)
        times = [datetime.fromisoformat(event.time_utc) for event in trace.journal.events()]
    truth = (
        None
        if state.campaign.truth is None
        else state.campaign.truth.record.corrected.get(verdict.leader)
    )
    return row | {
        "leader": state.theories.name(verdict.leader),
        "holds": verdict.holds,
        "nats_per_choice": standing.score.value,
        "completeness": None
        if state.theories.completeness is None
        else state.theories.completeness.record.of_leader,
        "error": standing.error,
        "error_to_truth": truth,
        "advantage": verdict.advantage,
        "n_cycles": len(state.campaign.cycles),
        "n_experiments": len(state.experiments.collected),
        "n_responses": sum(
            item.record.n_responses for item in state.experiments.collected.values()
        ),
        "n_theories": len(state.theories.checked),
        "wall_s": (max(times) - min(times)).total_seconds(),
    }


MEASURES = (
    "nats_per_choice",
    "completeness",
    "error",
    "error_to_truth",
    "n_cycles",
    "n_responses",
    "wall_s",
)


def _mean(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "n_cells": len(rows),
        "n_concluded": sum(row["state"] == "concluded" for row in rows),
    }
    for measure in MEASURES:
        values = [row[measure] for row in rows if row.get(measure) is not None]
        found[measure] = sum(values) / len(values) if values else None
    return found


def write_comparison(folder: Path, name: str, outcomes: Sequence[CellOutcome]) -> Path:
    """Write ``comparison.json`` and ``comparison.html`` into the sweep's folder; returns the page."""
    from lakatos.flows.report.templating import page_environment

    found = compare(folder, outcomes)
    write_whole(folder / "comparison.json", json.dumps(found, indent=1).encode() + b"\n")
    pages = page_environment(TEMPLATES)
    page = pages.get_template("comparison.html").render(name=name, measures=MEASURES, **found)
    write_whole(folder / "comparison.html", page.encode())
    return folder / "comparison.html"
