"""Carrying out what the clock says without Prefect: passes as processes, started by a small one without science."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lakatos.flows.errors import ScheduleError
from lakatos.flows.operations.carry import start_process
from lakatos.flows.operations.clock import LabClock, held_back
from lakatos.flows.operations.lab import LAB_FOLDER, alone, until_asked
from lakatos.flows.operations.schedule import load_schedules, schedule_of
from lakatos.flows.run.next_pass import look, runs_in, take_dropped
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.flows.run.parts import EngineName


@dataclass
class PassProcesses:
    """Passes as processes of their own: one per run, and not more than ``limit`` together; the others wait."""

    runs: Path
    limit: int
    say: Callable[[str], None]
    waiting: dict[Path, tuple[list[str], str]] = field(default_factory=dict)
    going: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict)
    n_started: int = 0

    def ask(self, folder: Path, command: list[str], reason: str) -> None:
        """Want a pass of a run; while one is wanted or goes on, asking again changes nothing."""
        if folder not in self.going:
            self.waiting.setdefault(folder, (command, reason))

    def step(self) -> None:
        """Start what may start, and notice what ended."""
        for folder, process in list(self.going.items()):
            if process.poll() is not None:
                if process.stdin is not None:
                    process.stdin.close()
                del self.going[folder]
                found = look(folder)
                how = f"ended with status {process.returncode}; see {self.log(folder)}"
                self.say(f"{folder.name}: {how if process.returncode else found.reason}")
        while self.waiting and len(self.going) < self.limit:
            folder, (command, reason) = next(iter(self.waiting.items()))
            del self.waiting[folder]
            self.say(f"{folder.name}: {reason}")
            self.going[folder] = start_process(command, self.log(folder))
            self.n_started += 1

    def log(self, folder: Path) -> Path:
        """File for the output of a run's passes."""
        return self.runs / LAB_FOLDER / f"pass-{folder.name}.log"

    def stop(self) -> None:
        """End all passes; the next ones carry on from where they were."""
        for process in self.going.values():
            process.terminate()
        for process in self.going.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdin is not None:
                process.stdin.close()
        self.going.clear()


def wake(
    runs: Path,
    *,
    data: Path | None = None,
    workers: int = 2,
    engine: EngineName = "none",
    say: Callable[[str], None] = print,
) -> int:
    """Take one turn of the clock for all runs of a folder, and carry the passes that are due out, one after another.

    Args:
        runs: Folder of the runs.
        data: Folder of the published data sets, for runs whose schedule names none.
        workers: Theories that run at the same time, for runs without a schedule.
        engine: What carries the passes.
        say: Told of each run why it has a pass now, or why not.

    Returns:
        The number of passes that ended with an error.
    """
    schedules = load_schedules(runs)
    clock = LabClock(runs, all_runs=True, settle_s=0.0)
    passes = clock.turn(schedules, datetime.now(UTC))
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


def watch(
    runs: Path,
    *,
    every_s: float = 2.0,
    limit: int = 1,
    all_runs: bool = False,
    say: Callable[[str], None] = print,
    stopped: threading.Event | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> int:
    """Start the passes of a laboratory until SIGINT, SIGTERM or ``stopped``.

    Args:
        runs: Folder of the runs.
        every_s: Seconds between two looks.
        limit: Passes that run at the same time.
        all_runs: Every run of the folder, not only those that a schedule names.
        say: Told what happens.
        stopped: Set to stop.
        now: The clock that schedules follow; it may jump.

    Returns:
        The number of passes that were started.

    Raises:
        FlowError: A laboratory is up in that folder already.
    """
    ending = stopped or threading.Event()
    clock, sizes = LabClock(runs, all_runs=all_runs), dict[Path, int]()
    passes = PassProcesses(runs, limit, say)
    with alone(runs), until_asked(ending):
        say(f"watching {runs}: {plural(len(load_schedules(runs)), 'schedule')}")
        try:
            while not ending.is_set():
                begun = time.monotonic()
                try:
                    take_dropped(runs, sizes, say)
                    for due in clock.turn(load_schedules(runs), now()):
                        passes.ask(due.folder, due.command(), due.reason)
                    passes.step()
                except (ScheduleError, OSError) as error:
                    say(str(error))
                ending.wait(max(every_s - (time.monotonic() - begun), 0.05))
        finally:
            passes.stop()
    return passes.n_started
