"""Carrying out schedules and arrivals without Prefect: a small process that starts passes, and knows no science."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lakatos.flows.errors import ScheduleError
from lakatos.flows.operations.carry import command_of, start_process
from lakatos.flows.operations.lab import LAB_FOLDER, alone, until_asked
from lakatos.flows.operations.schedule import (
    CampaignSchedule,
    due_between,
    load_schedules,
    overdue,
    schedule_of,
)
from lakatos.flows.run.next_pass import PassStarter, PendingWork, look, take_dropped
from lakatos.traces.wording import plural


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
        """Where the words of a run's passes go."""
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
    passes, sizes, schedules = (
        PassProcesses(runs, limit, say),
        dict[Path, int](),
        dict[str, CampaignSchedule](),
    )

    def accepts(folder: Path) -> bool:
        known = schedule_of(folder.name, schedules)
        return not known.paused if known else all_runs

    def want(schedule: CampaignSchedule, folder: Path, reason: str) -> None:
        data = Path(schedule.data) if schedule.data else None
        command = command_of(
            folder, study=Path(schedule.study), data=data, workers=schedule.workers
        )
        passes.ask(folder, command, reason)

    def arrived(found: PendingWork) -> None:
        known = schedule_of(found.folder.name, schedules)
        if known is None:
            passes.ask(found.folder, command_of(found.folder), found.reason)
        else:
            want(known, found.folder, found.reason)

    watcher = PassStarter(runs, arrived, accepts=accepts)
    with alone(runs), until_asked(ending):
        schedules = load_schedules(runs)
        last = now()
        for schedule in schedules.values():
            if overdue(schedule, runs, last):
                folder = runs / schedule.run_name(datetime.fromisoformat(schedule.at))
                want(schedule, folder, f"its time, {schedule.at}, passed while nobody watched")
        say(f"watching {runs}: {plural(len(schedules), 'schedule')}")
        try:
            while not ending.is_set():
                begun = time.monotonic()
                try:
                    schedules = load_schedules(runs)
                    moment = now()
                    for schedule, due in due_between(schedules.values(), last, moment):
                        want(
                            schedule,
                            runs / schedule.run_name(due),
                            f"its time, {due.isoformat(timespec='seconds')}",
                        )
                    last = moment
                    take_dropped(runs, sizes, say)
                    watcher.tick()
                    passes.step()
                except (ScheduleError, OSError) as error:
                    say(str(error))
                ending.wait(max(every_s - (time.monotonic() - begun), 0.05))
        finally:
            passes.stop()
    return passes.n_started
