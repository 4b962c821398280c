"""Schedules of a laboratory, kept in one file beside its runs: when the next pass of a study is due.

The file is what holds. Prefect's deployments are made from it whenever it changes, so that there are never two truths
about when something runs; what has been done is told by each run's journal alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from lakatos.flows.errors import ScheduleError
from lakatos.traces.artifact import write_whole
from lakatos.traces.system import FileLock

SCHEDULES_FILE = "schedules.json"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
LEAST_INTERVAL_S = 60
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class CampaignSchedule:
    """Times at which a study's campaign is continued."""

    name: str
    """Name of the schedule and of its run."""
    study: str
    """Path of the study file."""
    data: str = ""
    """Folder of the published data sets; empty for none."""
    cron: str = ""
    """Five fields, in ``timezone``."""
    timezone: str = "UTC"
    interval_s: float = 0.0
    """Seconds between two passes; 0 for no interval."""
    at: str = ""
    """One pass at this time, ISO 8601 with an offset."""
    anchor: str = ""
    """Time from which intervals are counted, ISO 8601."""
    new_run: bool = False
    """Whether each time begins a run of its own, named after the time, instead of carrying on the same one."""
    paused: bool = False
    workers: int = 2

    @property
    def words(self) -> str:
        """The times at which the campaign is continued, in words."""
        when = "whenever responses arrive"
        if self.cron:
            when = f"cron {self.cron} ({self.timezone})"
        elif self.interval_s:
            when = f"every {timedelta(seconds=self.interval_s)}"
        elif self.at:
            when = f"once at {self.at}"
        return f"{when}{', a new run each time' if self.new_run else ''}{', paused' if self.paused else ''}"

    def next_after(self, moment: datetime) -> datetime | None:
        """The first time after ``moment``; None where there is none.

        Raises:
            ScheduleError: Times by cron are asked for, and nothing is installed that can read them.
        """
        if self.at:
            at = datetime.fromisoformat(self.at)
            return at if at > moment else None
        if self.interval_s:
            anchor, step = datetime.fromisoformat(self.anchor), timedelta(seconds=self.interval_s)
            return anchor + step * max(0, (moment - anchor) // step + 1)
        if self.cron:
            return next_cron(self.cron, self.timezone, moment)
        return None

    def run_name(self, moment: datetime) -> str:
        """Name of the run that is begun or carried on at a time; the same time gives the same run."""
        return f"{self.name}-{moment.astimezone(UTC):%Y%m%dT%H%M%SZ}" if self.new_run else self.name


EVERY_MINUTE: Final = "* * * * *"


def next_cron(cron: str, timezone: str, moment: datetime) -> datetime:
    """The first time after ``moment`` that a cron expression names.

    Raises:
        ScheduleError: It is none, it names no time, or its reader, which comes with Prefect, is not installed.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        from cronsim import CronSim, CronSimError
    except ImportError:
        raise ScheduleError(
            "times by cron need the package cronsim, which is installed with Prefect. Use --interval or --at, or call "
            "`lakatos wake` from your system's own cron."
        ) from None
    try:
        zone = ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        raise ScheduleError(
            f"there is no time zone {timezone!r}; give one such as Europe/Berlin or UTC."
        ) from None
    if len(cron.split()) != 5:
        raise ScheduleError(
            f"{cron!r} is no cron expression: give five fields, as in '0 6 * * 1' (Mondays at six)."
        )
    try:
        found: datetime = next(CronSim(cron, moment.astimezone(zone)))
    except CronSimError as error:
        raise ScheduleError(
            f"{cron!r} is no cron expression ({error}); '0 6 * * 1' is Mondays at six."
        ) from None
    except StopIteration:
        raise ScheduleError(
            f"{cron!r} names no time that ever comes; check day and month."
        ) from None
    return found


def make_schedule(
    name: str,
    study: Path,
    *,
    cron: str = "",
    interval: str = "",
    at: str = "",
    timezone: str = "UTC",
    data: Path | None = None,
    new_run: bool = False,
    workers: int = 2,
    now: datetime | None = None,
) -> CampaignSchedule:
    """Check what a person asked for.

    Args:
        name: Name of the schedule, and of its run.
        study: The study file; not read here.
        cron: Five fields.
        interval: A number with a unit: ``90s``, ``30m``, ``6h``, ``1d``, ``2w``.
        at: A time, ISO 8601; without an offset it is in ``timezone``.
        timezone: Timezone of ``cron`` and ``at``.
        data: Folder of the published data sets.
        new_run: Whether each time begins a run of its own.
        workers: Theories that run at the same time.
        now: The present time.

    Raises:
        ScheduleError: More than one of them is given, one cannot be read, or it lies in the past.
    """
    moment = now or datetime.now(UTC)
    if not _NAME.fullmatch(name):
        raise ScheduleError(f"{name!r} cannot name a run: use letters, digits, '.', '_' and '-'.")
    if sum(map(bool, (cron, interval, at))) > 1:
        raise ScheduleError(
            "give one of --cron, --interval and --at, not several; a second --name takes another."
        )
    if new_run and not (cron or interval or at):
        raise ScheduleError("--new-run needs a time: --cron, --interval or --at.")
    made = CampaignSchedule(
        name=name,
        study=str(study.resolve()),
        data=str(data.resolve()) if data else "",
        cron=" ".join(cron.split()),
        timezone=timezone,
        interval_s=seconds_of(interval) if interval else 0.0,
        anchor=moment.astimezone(UTC).isoformat(timespec="seconds") if interval else "",
        new_run=new_run,
        workers=workers,
    )
    next_cron(made.cron or EVERY_MINUTE, timezone, moment)  # refuses an unknown zone, too
    return replace(made, at=_later_time(at, timezone, moment).isoformat()) if at else made


def _later_time(at: str, timezone: str, moment: datetime) -> datetime:
    """The time that ``at`` names, in ``timezone`` where it has no offset.

    Raises:
        ScheduleError: It is none, or lies in the past.
    """
    from zoneinfo import ZoneInfo

    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        raise ScheduleError(
            f"{at!r} is no time; give one such as 2030-05-01T06:00 or 2030-05-01T06:00+02:00."
        ) from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=ZoneInfo(timezone))
    if found <= moment:
        raise ScheduleError(
            f"{found.isoformat()} lies in the past; it is {moment.isoformat(timespec='seconds')} now. Give a later "
            "time, or begin at once with `lakatos run`."
        )
    return found


def seconds_of(interval: str) -> float:
    """Seconds of a length of time such as ``90s``, ``30m``, ``6h``, ``1d``, ``2w``.

    Raises:
        ScheduleError: It is none, or shorter than `LEAST_INTERVAL_S`.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", interval.strip())
    if not found:
        raise ScheduleError(
            f"{interval!r} is no length of time; give a number and a unit: 90s, 30m, 6h, 1d or 2w."
        )
    seconds = float(found[1]) * _UNITS[found[2]]
    if not LEAST_INTERVAL_S <= seconds <= 366 * 86400:
        raise ScheduleError(
            f"an interval of {interval} is out of range: give a minute at least, and a year at most."
        )
    return seconds


def schedule_of(
    run_name: str, schedules: Mapping[str, CampaignSchedule]
) -> CampaignSchedule | None:
    """The schedule that carries a run; also one that begins a new run each time, and began this one."""
    if run_name in schedules:
        return schedules[run_name]
    parent = schedules.get(re.sub(r"-\d{8}T\d{6}Z$", "", run_name))
    return parent if parent is not None and parent.new_run else None


def overdue(schedule: CampaignSchedule, runs: Path, now: datetime) -> bool:
    """Whether the one time of a schedule passed while no scheduler was running, and its run was never begun."""
    if not schedule.at or schedule.paused:
        return False
    at = datetime.fromisoformat(schedule.at)
    return at <= now and not (runs / schedule.run_name(at)).exists()


def due_between(
    schedules: Iterable[CampaignSchedule], last: datetime, now: datetime
) -> Iterator[tuple[CampaignSchedule, datetime]]:
    """Schedules whose time came after ``last``, up to ``now``, each once, with that time.

    A clock that was set back gives nothing; one that jumped ahead gives each schedule once, not once for every time
    that was jumped over.
    """
    for schedule in schedules:
        if schedule.paused or now <= last:
            continue
        moment = schedule.next_after(last)
        if moment is not None and moment <= now:
            yield schedule, moment


def load_schedules(runs: Path) -> dict[str, CampaignSchedule]:
    """Schedules of a laboratory, by name.

    Raises:
        ScheduleError: The file cannot be read.
    """
    path = runs / SCHEDULES_FILE
    try:
        value = json.loads(path.read_bytes())
        return {name: CampaignSchedule(**item) for name, item in value["schedules"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ScheduleError(
            f"cannot read {path}: {error}. Mend it, or delete it and schedule again."
        ) from None


def change_schedules(
    runs: Path, change: Callable[[dict[str, CampaignSchedule]], Mapping[str, CampaignSchedule]]
) -> dict[str, CampaignSchedule]:
    """Change the schedules of a laboratory, while nobody else does.

    Returns:
        The schedules there are now.
    """
    with _alone(runs):
        found = dict(sorted(change(load_schedules(runs)).items()))
        value: dict[str, Any] = {
            "version": 1,
            "schedules": {name: asdict(item) for name, item in found.items()},
        }
        write_whole(runs / SCHEDULES_FILE, json.dumps(value, indent=1).encode() + b"\n")
    return found


@contextmanager
def _alone(runs: Path) -> Iterator[None]:
    runs.mkdir(parents=True, exist_ok=True)
    with FileLock(runs / f"{SCHEDULES_FILE}.lock", wait=True):
        yield
