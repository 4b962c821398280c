"""Studies as Prefect deployments: what Prefect schedules, starts, limits, shows and cancels.

Imports Prefect, so only import it where Prefect is wanted. One deployment carries one schedule of the laboratory, one
pass at a time. Everything that its flow does is one call of `lakatos.flows.operations.carry.carry`; Prefect's
database is never read back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import copy_context
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import prefect
import prefect.runtime
from prefect.artifacts import (
    acreate_progress_artifact,
    acreate_table_artifact,
    aupdate_progress_artifact,
    create_link_artifact,
    create_markdown_artifact,
)
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import (
    ConcurrencyLimitConfig,
    ConcurrencyLimitStrategy,
    State,
    StateType,
)
from prefect.client.schemas.sorting import FlowRunSort
from prefect.deployments.runner import RunnerDeployment
from prefect.events import DeploymentEventTrigger
from prefect.exceptions import ObjectNotFound
from prefect.runner import Runner
from prefect.schedules import Cron, Interval, RRule
from prefect.schedules import Schedule as PrefectSchedule
from prefect.states import Completed, Crashed, Failed
from prefect.types.entrypoint import EntrypointType
from pydantic import Field

from lakatos.flows.operations.carry import CampaignPass, carry, with_retries
from lakatos.flows.operations.clock import DuePass, LabClock
from lakatos.flows.operations.schedule import (
    SCHEDULES_FILE,
    CampaignSchedule,
    load_schedules,
    overdue,
    schedule_of,
)
from lakatos.flows.run.next_pass import (
    ARRIVED,
    announce,
    is_written,
    resource_of,
    take_dropped,
)
from lakatos.flows.run.progress import CampaignProgress, LeaderRow, ProgressEvent
from lakatos.traces.system import end_with_parent

RunName = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,90}$",
        description="Name of the run, a folder in the runs folder.",
    ),
]
GRACE = timedelta(seconds=90)
"""Time after which Prefect has missed a scheduled time: its scheduler runs once a minute, and looks ahead only."""
_QUERY_S = 2.0
"""Seconds between two looks at what is due."""
_STEADY_S = 900.0
"""A server that is lost after so long is tried again as soon as one that is lost for the first time."""


@prefect.flow(
    name="lakatos",
    flow_run_name="{run}",
    description="One pass of a campaign: what its journal does not hold yet, up to its verdict or until people answer.",
    retries=0,
    persist_result=False,
    validate_parameters=True,
)
def next_pass(
    run: RunName,
    runs: Annotated[str, Field(min_length=1, description="Folder that holds the runs.")] = "runs",
    study: Annotated[
        str, Field(description="Study file that begins the run, and that it must still agree with.")
    ] = "",
    data: Annotated[str, Field(description="Folder of the published data sets.")] = "",
    workers: Annotated[
        int, Field(ge=1, le=256, description="Theories that run at the same time.")
    ] = 2,
    new_run: Annotated[
        bool, Field(description="Begin a run of its own, named after the scheduled time.")
    ] = False,
    reason: Annotated[str, Field(description="Why it was started.")] = "",
) -> State[Any]:
    """The flow that every deployment runs; also the entry point of work pools."""
    end_with_parent()
    schedule = schedule_of(run, load_schedules(Path(runs)))
    if schedule is not None and schedule.paused:
        return Completed(name="Paused", message="the schedule is paused; nothing was done")
    name = run
    if new_run:
        planned = prefect.runtime.flow_run.scheduled_start_time or datetime.now(UTC)
        name = (schedule or CampaignSchedule(run, study, new_run=True)).run_name(planned)
    folder = Path(runs) / name
    display = InPrefect(name)
    progress = CampaignProgress(display)
    progress.note(f"pass of {folder}{f', because {reason}' if reason else ''}")
    try:
        done = with_retries(
            lambda: carry(
                folder,
                study=Path(study) if study else None,
                data=Path(data) if data else None,
                engine="prefect",
                workers=workers,
                progress=progress,
            ),
            transient=transient_errors(),
        )
        if done.ended in ("waiting", "concluded"):
            publish(done)
    except refusals() as error:
        return Failed(name=type(error).__name__, message=f"{error}")
    finally:
        display.close()
    names = {"idle": "NothingToDo", "busy": "Busy", "waiting": "Waiting", "concluded": "Concluded"}
    return Completed(name=names[done.ended], message=done.text)


def refusals() -> tuple[type[Exception], ...]:
    """Errors that have a message for people, which is all that Prefect needs to show."""
    from lakatos.flows.operations.known_errors import known_errors

    return known_errors()


def transient_errors() -> tuple[type[Exception], ...]:
    """Errors that may be gone a minute later; a pass can always be tried again, since steps are recorded once."""
    from httpx import TransportError

    return (TransportError, ConnectionError, TimeoutError)


# -- what Prefect's pages show ---------------------------------------------------------------------------------------


class InPrefect:
    """Shows a pass in Prefect: notes as logs, cycles as a progress artifact, the standings as a table."""

    def __init__(self, name: str) -> None:
        self.name, self.log = name, prefect.get_run_logger()
        self._artifact: Any = None
        self._n_cycles = 1
        self._stage: tuple[int, str] = (-1, "")

    def __call__(self, event: ProgressEvent) -> None:
        """Log the question, each stage, the notes and the verdict; move the bar, and renew the table of standings."""
        match event.kind:
            case "campaign":
                self._n_cycles = max(event.n_cycles, 1)
                self.log.info("%s", event.text)
                self._try(self._begin)
            case "stage" if (event.cycle, event.text) != self._stage:
                self._show_stage(event.cycle, event.text, event.detail)
            case "leaderboard" if event.rows:
                self._show_standings(event.rows)
            case "note" | "finished":
                self.log.info("%s", event.text)

    async def _begin(self) -> None:
        self._artifact = await acreate_progress_artifact(
            progress=0.0, key=key_of(self.name, "progress"), description=f"cycles of {self.name}"
        )

    def _show_stage(self, cycle: int, name: str, detail: str) -> None:
        self.log.info("cycle %d: %s %s", cycle, name, detail)
        if cycle != self._stage[0] and self._artifact is not None:
            share = 100.0 * max(cycle - 1, 0) / self._n_cycles
            self._try(partial(aupdate_progress_artifact, self._artifact, progress=share))
        self._stage = (cycle, name)

    def _show_standings(self, rows: Sequence[LeaderRow]) -> None:
        table = [
            {
                "theory": row.name,
                "nats per choice": round(row.nats, 4),
                "error": round(row.error, 5),
                "tie": "tie" if row.tied else "",
            }
            for row in rows
        ]
        key = key_of(self.name, "leaderboard")
        self._try(partial(acreate_table_artifact, table, key=key, description=self.name))

    def close(self) -> None:
        """Fill the progress bar, since the pass has ended."""
        if self._artifact is not None:
            self._try(partial(aupdate_progress_artifact, self._artifact, progress=100.0))

    def _try(self, show: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Show something from a thread of its own: stages run in an event loop, and a display may fail."""

        def work() -> None:
            try:
                asyncio.run(show())
            except Exception as error:
                self.log.debug("not shown in Prefect: %s", error)

        thread = threading.Thread(target=copy_context().run, args=[work], daemon=True)
        thread.start()
        thread.join(5.0)


def publish(done: CampaignPass) -> None:
    """Report, verdict and a quick audit as artifacts."""
    from lakatos.flows.audit.audit import audit
    from lakatos.flows.report.report import write_report

    report = write_report(done.folder).resolve()
    found = audit(done.folder, recompute=False)
    failed = [finding for finding in found.findings if not finding.passed and not finding.withdrawn]
    name = done.folder.name
    checked = (
        "passes"
        if found.passed
        else "**fails**: " + "; ".join(f"{item.name}: {item.detail}" for item in failed)
    )
    create_link_artifact(
        link=report.as_uri(),
        link_text="report",
        key=key_of(name, "report"),
        description=str(report),
    )
    create_markdown_artifact(
        f"# {name}\n\n{done.text}\n\n- report: `{report}`\n- audit (without computing scores anew): {checked}\n"
        f"- whole audit: `lakatos audit {done.folder}`\n",
        key=key_of(name, "verdict"),
        description=done.text[:200],
    )


def key_of(run_name: str, kind: str) -> str:
    """Key of an artifact: lower-case letters, digits and dashes."""
    return f"{re.sub(r'[^a-z0-9]+', '-', run_name.lower()).strip('-')}-{kind}"


# -- deployments -----------------------------------------------------------------------------------------------------


def timing(schedule: CampaignSchedule) -> PrefectSchedule | None:
    """A schedule in Prefect's words; None where only arrivals start a pass."""
    if schedule.cron:
        return Cron(schedule.cron, timezone=schedule.timezone)
    if schedule.interval_s:
        return Interval(
            timedelta(seconds=schedule.interval_s),
            anchor_date=datetime.fromisoformat(schedule.anchor),
        )
    if schedule.at:
        at = datetime.fromisoformat(schedule.at).astimezone(UTC)
        return RRule(f"DTSTART:{at:%Y%m%dT%H%M%SZ}\nRRULE:FREQ=DAILY;COUNT=1", timezone="UTC")
    return None


def deployment_of(schedule: CampaignSchedule, runs: Path, *, by_event: bool) -> RunnerDeployment:
    """The deployment of a schedule.

    Args:
        schedule: Schedule of the laboratory.
        runs: Its folder of runs.
        by_event: Whether an automation starts a pass when the event arrives that answers have come.
    """
    when = timing(schedule)
    trigger = DeploymentEventTrigger(
        name=f"answers of {schedule.name}",
        expect={ARRIVED},
        match={"prefect.resource.id": resource_of(runs / schedule.name)},
        parameters={"reason": "{{ event.payload.reason }}"},
    )
    made: RunnerDeployment = RunnerDeployment.from_flow(
        next_pass,
        name=schedule.name,
        parameters={
            "run": schedule.name,
            "runs": str(runs.resolve()),
            "study": schedule.study,
            "data": schedule.data,
            "workers": schedule.workers,
            "new_run": schedule.new_run,
        },
        schedule=when,
        concurrency_limit=ConcurrencyLimitConfig(
            limit=1, collision_strategy=ConcurrencyLimitStrategy.ENQUEUE
        ),
        paused=schedule.paused,
        triggers=[trigger] if by_event and not schedule.new_run else [],
        description=f"{schedule.study}: {schedule.words}.",
        tags=["lakatos", schedule.name],
        enforce_parameter_schema=True,
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    return made


class ServedDeployments:
    """The deployments of a laboratory while one process serves them."""

    def __init__(
        self,
        runs: Path,
        *,
        by_event: bool,
        say: Callable[[str], None],
        others: Mapping[str, CampaignSchedule] | None = None,
    ) -> None:
        self.runs, self.by_event, self.say = runs, by_event, say
        self.runner: Runner | None = None
        self.others = dict(others or {})
        self.known: dict[str, CampaignSchedule] = {}
        self._ids: dict[str, Any] = {}
        self._changed = -1.0
        self._met: set[tuple[str, str]] = set()
        """Names and times for which there is a flow run."""

    async def begin(self, runner: Runner) -> None:
        """Register everything with a runner that is about to start."""
        self.runner, self.known, self._changed = runner, {}, -1.0
        self._met.clear()
        try:
            await self.reconcile()
        except BaseException:
            self.runner = None
            raise

    async def reconcile(self) -> None:
        """Make the deployments what the file of schedules says, if it changed."""
        assert self.runner is not None
        path = self.runs / SCHEDULES_FILE
        changed = path.stat().st_mtime if path.exists() else 0.0
        if changed == self._changed:
            await self._catch_up(datetime.now(UTC) - GRACE)
            return
        self._changed, wanted = changed, self.others | load_schedules(self.runs)
        for name in [name for name in self.known if name not in wanted]:
            await self._remove(name)
        for name, schedule in wanted.items():
            if self.known.get(name) != schedule:
                made = deployment_of(schedule, self.runs, by_event=self.by_event)
                self._ids[name] = await self.runner.aadd_deployment(made)
                self.known[name] = schedule
                self.say(f"{name}: {schedule.words}")
                await self._bury(name)
        await self._catch_up(datetime.now(UTC))

    async def _remove(self, name: str) -> None:
        del self.known[name]
        async with get_client() as client:
            with contextlib.suppress(ObjectNotFound):
                await client.delete_deployment(self._ids.pop(name))
        self.say(f"{name}: no longer scheduled")

    async def _bury(self, name: str) -> None:
        """Say of flow runs that go on by Prefect's books only that they crashed, so that they hold up no other."""
        async with get_client() as client:
            found = await client.read_flow_runs(
                flow_run_filter=FlowRunFilter(
                    deployment_id=FlowRunFilterDeploymentId(any_=[self._ids[name]]),
                    state=FlowRunFilterState(
                        type=FlowRunFilterStateType(
                            any_=[StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]
                        )
                    ),
                ),
                sort=FlowRunSort.ID_DESC,  # the client sends None otherwise, which the server refuses
                limit=200,
            )
            for flow_run in found:
                run = str(flow_run.parameters.get("run", name))
                if not is_written(self.runs / run):
                    await client.set_flow_run_state(
                        flow_run.id, Crashed(message="nobody carries it any more")
                    )

    async def _catch_up(self, until: datetime) -> None:
        """Start passes whose one time came before ``until`` without a flow run: nobody served, or Prefect missed it."""
        for name, schedule in list(self.known.items()):
            if (name, schedule.at) in self._met or not overdue(schedule, self.runs, until):
                continue
            if not await self._has_flow_run(name, datetime.fromisoformat(schedule.at)):
                await self.start(
                    name, f"its time, {schedule.at}, passed and no pass began", schedule.at
                )
            self._met.add((name, schedule.at))

    async def _has_flow_run(self, name: str, since: datetime) -> bool:
        """Whether there is a flow run of a deployment for that time or later that did not crash."""
        async with get_client() as client:
            found = await client.read_flow_runs(
                flow_run_filter=FlowRunFilter(
                    deployment_id=FlowRunFilterDeploymentId(any_=[self._ids[name]])
                ),
                sort=FlowRunSort.EXPECTED_START_TIME_DESC,
                limit=1,
            )
        return any(
            item.expected_start_time is not None
            and item.expected_start_time >= since
            and item.state_type != StateType.CRASHED
            for item in found
        )

    async def start(self, run_name: str, reason: str, key: str) -> None:
        """Ask for a pass; the same ``key`` gives the same flow run, however often it is asked for."""
        schedule = schedule_of(run_name, self.known)
        assert schedule is not None
        own: dict[str, Any] = (
            {} if run_name == schedule.name else {"run": run_name, "new_run": False}
        )
        async with get_client() as client:
            await client.create_flow_run_from_deployment(
                self._ids[schedule.name],
                parameters={"reason": reason, **own},
                idempotency_key=f"{run_name}:{key}",
                tags=["lakatos", schedule.name],
            )


async def serve_schedules(
    runs: Path,
    *,
    limit: int = 2,
    by_event: bool = False,
    others: Mapping[str, CampaignSchedule] | None = None,
    say: Callable[[str], None] = print,
    check: Callable[[], None] | None = None,
) -> None:
    """Serve the schedules of a laboratory as deployments until SIGINT or SIGTERM.

    Args:
        runs: Folder of the runs and of the file of schedules, which is watched.
        limit: Passes that run at the same time.
        by_event: Announce arrivals as events for automations, instead of starting the pass from here.
        others: Deployments for which nothing is scheduled, by name: started by hand or by arrivals.
        say: Told what happens.
        check: Called when the server is lost; raises where it will not come back.
    """
    served = ServedDeployments(runs, by_event=by_event, say=say, others=others)
    stopped = asyncio.Event()
    watching = asyncio.create_task(_watch(served))
    n_failures = 0
    try:
        while not stopped.is_set():
            began = time.monotonic()
            problem = await _serve_once(served, stopped, limit)
            if problem is None:
                return
            if check is not None:
                check()
            n_failures = 1 if time.monotonic() - began > _STEADY_S else n_failures + 1
            pause = min(_QUERY_S * 2**n_failures, 60.0)
            say(
                f"Prefect's server is lost ({problem}); trying again in {pause:.0f} s. What was recorded is safe"
            )
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(stopped.wait(), pause)
    finally:
        watching.cancel()


async def _serve_once(
    served: ServedDeployments,
    stopped: asyncio.Event,
    limit: int,
) -> str | None:
    """Serve until asked to stop (None), or until the server is lost (why)."""
    loop = asyncio.get_running_loop()
    runner = Runner(name="lakatos", limit=limit, pause_on_shutdown=False, query_seconds=_QUERY_S)
    try:
        await served.begin(runner)
    except Exception as error:
        return _in_one_line(error)
    serving, ending = asyncio.create_task(runner.start()), asyncio.create_task(stopped.wait())
    while not runner.started and not serving.done():
        await asyncio.sleep(0.05)
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(
            RuntimeError, ValueError, NotImplementedError
        ):  # another thread, or Windows
            loop.add_signal_handler(number, stopped.set)
    await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
    served.runner = None
    ending.cancel()
    if stopped.is_set() and not serving.done():
        logging.getLogger("prefect").setLevel(logging.CRITICAL)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(runner.astop(), 20)
    try:
        await serving
    except (Exception, asyncio.CancelledError) as error:
        return None if stopped.is_set() else _in_one_line(error)
    return None if stopped.is_set() else "its runner ended"


def _in_one_line(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


async def _watch(served: ServedDeployments) -> None:
    """Follow the schedules and start passes for what arrived, whether or not the server answers just now."""
    clock = LabClock(served.runs, keeps_times=False, retry_s=60.0)
    pending: list[DuePass] = []
    sizes: dict[Path, int] = {}
    while True:
        await asyncio.sleep(_QUERY_S)
        try:
            await asyncio.to_thread(take_dropped, served.runs, sizes, served.say)
            if served.runner is None:
                continue
            await served.reconcile()
            pending += await asyncio.to_thread(clock.turn, served.known, datetime.now(UTC))
            while pending:
                due = pending.pop()
                served.say(f"{due.folder.name}: {due.reason}")
                if served.by_event and due.folder.name in served.known and due.arrived is not None:
                    await asyncio.to_thread(announce, due.arrived, due.attempt)
                else:
                    await served.start(due.folder.name, due.reason, due.key)
        except (
            Exception
        ) as error:  # the next round tries again, and schedules of time go on without
            served.say(f"watching: {_in_one_line(error)}")
