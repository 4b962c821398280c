"""One turn of the clock for all runs, as cron calls it: passes one after another, in processes of their own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lakatos.flows.operations.clock import LabClock, held_back
from lakatos.flows.operations.lab import LAB_FOLDER
from lakatos.flows.operations.schedule import load_schedules, schedule_of
from lakatos.flows.run.next_pass import dropped, look, runs_in, take_dropped
from lakatos.traces.artifact import write_whole

if TYPE_CHECKING:
    from lakatos.flows.run.parts import EngineName

WOKEN_FILE = "woken"
"""Moment of the last turn, in the laboratory's folder: times of schedules since then are due at the next one."""
_SETTLE_S = 1.0
"""A dropped file that does not grow during this time is whole."""


def wake(
    runs: Path,
    *,
    data: Path | None = None,
    workers: int = 2,
    engine: EngineName = "none",
    say: Callable[[str], None] = print,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> int:
    """Import dropped files, take one turn of the clock for all runs of a folder, and carry out the passes that are due.

    Args:
        runs: Folder of the runs.
        data: Folder of the published data sets, for runs whose schedule names none.
        workers: Theories that run at the same time, for runs without a schedule.
        engine: What carries the passes.
        say: Receives a sentence for each run: why it has a pass now, or why not.
        now: The clock that schedules follow; it may jump.

    Returns:
        The number of passes that ended with an error.
    """
    sizes: dict[Path, int] = {}
    list(dropped(runs, sizes))
    if sizes:
        time.sleep(_SETTLE_S)
        take_dropped(runs, sizes, say)
    schedules, moment = load_schedules(runs), now()
    clock = LabClock(runs, all_runs=True, settle_s=0.0, since=_last_turn(runs))
    passes = clock.turn(schedules, moment)
    if schedules:
        place = runs / LAB_FOLDER / WOKEN_FILE
        place.parent.mkdir(exist_ok=True)
        write_whole(place, moment.isoformat().encode())
    due_folders = {due.folder for due in passes}
    for folder in runs_in(runs):
        if folder not in due_folders:
            held = held_back(folder, schedule_of(folder.name, schedules), all_runs=True)
            found = look(folder)
            say(f"{folder.name}: {held if held and found.due else found.reason}")
    n_failed = 0
    for due in passes:
        say(f"{due.folder.name}: {due.reason}")
        command = due.command(data=data, workers=workers, engine=engine)
        n_failed += subprocess.run(command, check=False).returncode != 0
    return n_failed


def _last_turn(runs: Path) -> datetime | None:
    with suppress(OSError, ValueError):
        return datetime.fromisoformat((runs / LAB_FOLDER / WOKEN_FILE).read_text(encoding="utf-8"))
    return None
