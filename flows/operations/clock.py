"""The clock of a laboratory: what its runs have to do now, and why.

A pass is due where the time of a schedule has come, where responses have arrived, or where a pass did not come to its
end. `LabClock.turn` decides it for all runs of a folder and starts nothing: `wake` takes one turn, and
`serve` one every few seconds inside Prefect, which keeps the times of schedules itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lakatos.flows.operations.carry import command_of
from lakatos.flows.operations.schedule import CampaignSchedule, due_between, overdue, schedule_of
from lakatos.flows.run.next_pass import PendingWork, is_written, look, runs_in
from lakatos.traces.errors import JournalError

if TYPE_CHECKING:
    from lakatos.flows.run.parts import EngineName

Schedules = Mapping[str, CampaignSchedule]
RETRY_S = 10.0
"""Pause before a pass that did not finish is tried again; doubled every time."""
MOST_RETRY_S = 3600.0


@dataclass(frozen=True)
class DuePass:
    """A pass that a run should have now."""

    folder: Path
    reason: str
    key: str
    """The same for the same reason, however often and by whichever process it is decided."""
    schedule: CampaignSchedule | None
    """Schedule of the run; None without one."""
    arrived: PendingWork | None = None
    """Pending work of the run; None if its scheduled time came."""
    attempt: int = 1
    """Passes started for this run since one ended by itself."""

    def command(
        self, *, data: Path | None = None, workers: int = 2, engine: EngineName = "none"
    ) -> list[str]:
        """The command that carries the pass out in a process of its own; what a schedule states comes first."""
        own = self.schedule
        if own is None:
            return command_of(self.folder, data=data, workers=workers, engine=engine)
        return command_of(
            self.folder,
            study=Path(own.study),
            data=Path(own.data) if own.data else data,
            workers=own.workers,
            engine=engine,
        )


def held_back(folder: Path, schedule: CampaignSchedule | None, *, all_runs: bool) -> str:
    """State why no pass of a run may be started now, whatever it has to do; empty where one may."""
    if schedule is None and not all_runs:
        return "no schedule names it"
    if schedule is not None and schedule.paused:
        return "its schedule is paused"
    return "a pass is writing it" if is_written(folder) else ""


@dataclass
class _WatchedRun:
    seen: str = ""
    """Signature at the last look."""
    since: float = 0.0
    """Time at which it was first seen."""
    seq: int = -1
    """End of the journal when a pass was started last."""
    n_tries: int = 0
    """Passes started since one ended by itself."""
    next_try: float = 0.0


@dataclass
class LabClock:
    """Decides, turn by turn, which passes are due; everything that arrived together makes one of them due."""

    runs: Path
    all_runs: bool = False
    """Every run of the folder, not only those that a schedule names."""
    keeps_times: bool = True
    """Whether passes become due by the times of schedules, too."""
    settle_s: float = 1.0
    """Arrivals closer together than this are answered by one pass."""
    retry_s: float = RETRY_S
    """Pause before the same reason makes a second pass due; longer than a pass takes to begin."""
    seconds: Callable[[], float] = time.monotonic
    """A clock that does not jump."""
    since: datetime | None = None
    """Moment at which an earlier process took its last turn; None where there was none."""
    _last: datetime | None = None
    _watched: dict[Path, _WatchedRun] = field(default_factory=dict)

    def turn(self, schedules: Schedules, moment: datetime) -> list[DuePass]:
        """The passes that are due, each of which the caller starts.

        Args:
            schedules: Schedules of the laboratory, by name.
            moment: The present time, which may jump.

        Raises:
            ScheduleError: A schedule cannot be read.
        """
        found = list(self._by_time(schedules, moment)) if self.keeps_times else []
        self._last = moment
        for folder in runs_in(self.runs):
            with suppress(JournalError):  # unreadable now, perhaps because it is being restored
                due = self._by_arrival(folder, schedule_of(folder.name, schedules))
                found += [due] if due else []
        return found

    def _by_time(self, schedules: Schedules, moment: datetime) -> Iterator[DuePass]:
        """Passes whose time came since the last turn, or, at the first one, passed while no scheduler was running."""
        if self._last is None:
            for schedule in schedules.values():
                if overdue(schedule, self.runs, moment):
                    reason = f"its time, {schedule.at}, passed while no scheduler was running"
                    yield self._at(schedule, datetime.fromisoformat(schedule.at), reason)
            schedules = {name: item for name, item in schedules.items() if not item.at}
        begun = self._last or self.since
        if begun is None:
            return
        for schedule, due in due_between(schedules.values(), begun, moment):
            yield self._at(schedule, due, f"its time, {due.isoformat(timespec='seconds')}")

    def _at(self, schedule: CampaignSchedule, due: datetime, reason: str) -> DuePass:
        return DuePass(self.runs / schedule.run_name(due), reason, due.isoformat(), schedule)

    def _by_arrival(self, folder: Path, schedule: CampaignSchedule | None) -> DuePass | None:
        """The pass of a run that has something to do, once arrivals have settled and no pass is under way."""
        found, now = look(folder), self.seconds()
        known = self._watched.setdefault(folder, _WatchedRun())
        if not found.due or (found.ended is not None and found.seq != known.seq):
            known.n_tries, known.next_try = 0, 0.0
        if not found.due:
            return None
        if held_back(folder, schedule, all_runs=self.all_runs):
            known.seen = ""
            return None
        if found.signature != known.seen:
            known.seen, known.since = found.signature, now
        if now - known.since < self.settle_s or now < known.next_try:
            return None
        # If this pass fails, or leaves behind what it cannot take, the next one comes later, and ever more rarely.
        known.seq, known.n_tries = found.seq, known.n_tries + 1
        known.next_try = now + min(self.retry_s * 2 ** (known.n_tries - 1), MOST_RETRY_S)
        key = f"{found.signature}:{known.n_tries}"
        return DuePass(folder, found.reason, key, schedule, found, known.n_tries)
