"""The commands that say when runs go on, and those that make them: `schedule`, `serve` and `wake`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table

from lakatos import IMPORT_ROOT
from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import DataFolder, RunsFolder
from lakatos.flows.errors import FlowError, RunMissingError, ScheduleError
from lakatos.flows.operations.schedule import (
    CampaignSchedule,
    change_schedules,
    load_schedules,
    make_schedule,
)
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.parts import EngineName
from lakatos.flows.run.places import find_run
from lakatos.traces.system import ask_to_end, note_of

Workers = Annotated[
    int, Argument(help="Theories that run at the same time; does not change results.", least=1)
]
Limit = Annotated[int, Argument(help="Passes that run at the same time.", least=1)]


def schedule_command(
    study: str = "",
    *,
    cron: str = "",
    interval: str = "",
    at: str = "",
    timezone: str = "UTC",
    name: str = "",
    new_run: bool = False,
    data: DataFolder = None,
    runs: RunsFolder = Path("runs"),
    workers: Workers = 2,
    pause: bool = False,
    unpause: bool = False,
    remove: bool = False,
    cancel: bool = False,
) -> None:
    """Schedule a study by time, or whenever responses arrive; without arguments, list the schedules.

    `lakatos serve`, `lakatos lab up`, or `lakatos wake` from cron starts scheduled studies.
    In Python: `lakatos.flows.operations.schedule.make_schedule(...)`.

    Args:
        study: Study file; the name of a schedule is enough for --pause, --unpause, --remove and --cancel.
        cron: Times as five fields of cron, such as '0 6 * * 1': Mondays at six.
        interval: Interval: 90s, 30m, 6h, 1d, 2w.
        at: A single time, such as 2030-05-01T06:00.
        timezone: Time zone of --cron and --at.
        name: Name of the schedule and its run; that of the study by default.
        new_run: Begin a new run each time.
        pause: Pause the schedule: no further pass starts.
        unpause: Resume a paused schedule.
        remove: Remove the schedule; its run is kept.
        cancel: End the current pass; recorded steps are kept.

    Examples:
        $ lakatos schedule mine.toml --cron "0 6 * * *"
    """
    console = Console(soft_wrap=True)
    if not study:
        _list(runs, console)
        return
    if pause or unpause or remove or cancel:
        if sum((pause, unpause, remove)) > 1:
            raise ScheduleError("give one of --pause, --unpause and --remove.")
        _change(
            runs, study, pause=pause, unpause=unpause, remove=remove, cancel=cancel, console=console
        )
        return
    from lakatos.flows.operations.carry import check_begun_once, check_study
    from lakatos.flows.run.run import has_run
    from lakatos.flows.run.study import load_study

    config = load_study(Path(study))
    made = make_schedule(
        name or config.name,
        Path(study),
        cron=cron,
        interval=interval,
        at=at,
        timezone=timezone,
        data=data,
        new_run=new_run,
        workers=workers,
    )
    if not new_run and has_run(runs / made.name):
        check_study(config, runs / made.name, study)
    elif not (new_run or name):
        check_begun_once(config, runs, study)
    change_schedules(runs, lambda known: known | {made.name: made})
    console.print(f"{escape(made.name)}: {escape(made.words)}; run {escape(str(runs / made.name))}")
    upcoming = made.next_after(datetime.now(UTC))
    if upcoming is not None:
        console.print(f"next: {upcoming.isoformat(timespec='minutes')}")
    console.print(
        "`lakatos serve` or `lakatos lab up` carries it out with Prefect, `lakatos wake` from cron without."
    )


def _list(runs: Path, console: Console) -> None:
    from lakatos.flows.run.next_pass import look

    found = load_schedules(runs)
    if not found:
        console.print(
            f"nothing is scheduled in {escape(str(runs))}; `lakatos schedule STUDY` does that"
        )
        return
    table = Table("name", "when", "next", "run")
    for name, schedule in found.items():
        upcoming = None if schedule.paused else schedule.next_after(datetime.now(UTC))
        state = look(runs / name)
        table.add_row(
            escape(name),
            escape(schedule.words),
            upcoming.isoformat(timespec="minutes") if upcoming else "",
            "each its own" if schedule.new_run else escape(state.reason[:60]),
        )
    console.print(table)


def _change(
    runs: Path,
    name: str,
    *,
    pause: bool,
    unpause: bool,
    remove: bool,
    cancel: bool,
    console: Console,
) -> None:
    name = (
        _scheduled(runs, name)
        if not cancel or pause or unpause or remove
        else _known_run(runs, name)
    )

    def change(known: dict[str, CampaignSchedule]) -> dict[str, CampaignSchedule]:
        if remove:
            return {other: item for other, item in known.items() if other != name}
        return known | {name: replace(known[name], paused=pause)}

    if pause or unpause or remove:
        change_schedules(runs, change)
        console.print(
            f"{escape(name)}: {'removed' if remove else 'paused' if pause else 'goes on'}"
        )
    if cancel:
        ended = end_pass(runs, name)
        console.print(
            f"{escape(name)}: {'the pass is being ended; nothing is lost' if ended else 'no pass runs now'}"
        )


def _scheduled(runs: Path, name: str) -> str:
    known = load_schedules(runs)
    for candidate in (name, Path(name).stem):
        if candidate in known:
            return candidate
    raise ScheduleError(
        f"nothing is scheduled under {name!r} in {runs}; there are: {', '.join(known) or 'none'}."
    )


def _known_run(runs: Path, name: str) -> str:
    for candidate in (name, Path(name).stem):
        if (runs / candidate).is_dir():
            return candidate
    raise RunMissingError(f"there is no run {name!r} in {runs}; `lakatos status` lists them.")


def end_pass(runs: Path, name: str) -> bool:
    """End the pass of a run that is going on now: by Prefect, where one carries it, else with SIGTERM on this machine.

    Returns:
        Whether there was one.
    """
    from lakatos.flows.operations.lab import secret_of, server_of
    from lakatos.flows.run.next_pass import is_written
    from lakatos.traces.step import JOURNAL_FILE

    server = server_of(runs)
    if server is not None and _cancel_in_prefect(server, secret_of(runs), name):
        return True
    folder = runs / name
    if not is_written(folder):
        return False
    holder = note_of(folder / f"{JOURNAL_FILE}.lock")
    if not holder.isdecimal():
        return False
    try:
        ask_to_end(int(holder))
    except ProcessLookupError:
        return False
    except PermissionError:
        raise FlowError(
            f"the pass of {name} belongs to another user (process {holder}); ask them to end it."
        ) from None
    return True


def _cancel_in_prefect(server: str, secret: str, name: str) -> bool:
    import httpx

    from lakatos.flows.run.prefect_server import basic

    wanted = {
        "deployments": {"name": {"any_": [name]}},
        "flow_runs": {"state": {"type": {"any_": ["RUNNING", "PENDING"]}}},
    }
    cancelling = {
        "state": {
            "type": "CANCELLING",
            "name": "Cancelling",
            "message": "by `lakatos schedule --cancel`",
        }
    }
    try:
        with httpx.Client(
            base_url=f"{server.rstrip('/')}/", timeout=10.0, auth=basic(secret)
        ) as client:
            found: list[dict[str, Any]] = (
                client.post("flow_runs/filter", json=wanted).raise_for_status().json()
            )
            for item in found:
                client.post(f"flow_runs/{item['id']}/set_state", json=cancelling).raise_for_status()
    except httpx.HTTPError:
        return False
    return bool(found)


def serve_command(
    studies: Path | None = None,
    *,
    runs: RunsFolder = Path("runs"),
    data: DataFolder = None,
    limit: Limit = 2,
    workers: Workers = 2,
) -> None:
    """Serve schedules and studies as Prefect deployments, and start passes when responses arrive.

    The configured Prefect server is used, otherwise a temporary one. `lakatos collect` serves the page of
    participants. In Python: `lakatos.flows.operations.deploy.serve_schedules(runs, ...)`.

    Args:
        studies: Study file, or folder of study files, to deploy in addition to scheduled studies.

    Examples:
        $ lakatos serve studies
    """
    from contextlib import ExitStack

    from lakatos.flows.operations.lab import own_secret, prefect_server, require_reachable
    from lakatos.flows.run.engine import CLIENT_SECRET
    from lakatos.flows.run.logs import speaker
    from lakatos.flows.run.prefect_server import configured_server

    say = speaker()
    others = _deployable(studies, runs, data, workers, say) if studies else {}
    with ExitStack() as stack:
        server = configured_server()
        by_event = os.environ.get("LAKATOS_BY_EVENT", "" if server is None else "1") == "1"
        check: Callable[[], None] | None = None
        if server is None:
            part = stack.enter_context(prefect_server(runs, say=say))
            server, check = f"{part.address}/api", part.check
            os.environ[CLIENT_SECRET] = own_secret(runs)
            say(f"Prefect: {part.address}")
        else:
            require_reachable(server)
        _be_client_of(server)
        import asyncio

        from lakatos.flows.operations.deploy import serve_schedules

        asyncio.run(
            serve_schedules(
                runs, limit=limit, by_event=by_event, others=others, say=say, check=check
            )
        )
        say("no longer served")


def _be_client_of(server: str) -> None:
    """Settings of this process and of the passes that it starts, before Prefect is imported."""
    root = str(IMPORT_ROOT)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    os.environ["PREFECT_API_URL"] = server
    quiet = {
        "PREFECT_LOGGING_LEVEL": "INFO",
        "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
        "PREFECT_CLIENT_SERVER_VERSION_CHECK_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY": "false",
    }
    for name, value in quiet.items():
        os.environ.setdefault(name, value)
    for name in (
        "NO_PROXY",
        "no_proxy",
    ):  # a proxy for the outside world must not be asked for a server on this machine
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1,localhost"]))


def _deployable(
    studies: Path, runs: Path, data: Path | None, workers: int, say: Any
) -> dict[str, CampaignSchedule]:
    """The studies of a folder; one that cannot be read, or of which another run is open, is named and left out."""
    from lakatos.flows.operations.carry import check_begun_once
    from lakatos.flows.run.study import load_study

    files = [studies] if studies.is_file() else sorted(studies.glob("*.toml"))
    if not files:
        raise ScheduleError(
            f"there is no study file in {studies}; name a folder with some, or one file."
        )
    found: dict[str, CampaignSchedule] = {}
    for file in files:
        try:
            config = load_study(file)
            made = make_schedule(config.name, file, data=data, workers=workers)
            if config.name in found:
                raise ScheduleError(
                    f"{file}: the name {config.name!r} is that of {found[config.name].study} too."
                )
            check_begun_once(config, runs, str(file))
            found[config.name] = made
        except FlowError as error:
            say(f"left out: {error}")
    return found


def wake_command(
    run_name: Annotated[str, Argument(metavar="run")] = "",
    *,
    study: Path | None = None,
    data: DataFolder = None,
    engine: EngineName = "none",
    runs: RunsFolder = Path("runs"),
    workers: Workers = 2,
) -> None:
    """Start the next pass of a run if there is something to do, and print the reason; for cron.

    Without a run, all runs that can continue are taken in turn, each in its own process.
    In Python: `lakatos.flows.operations.carry.carry(...)`.

    Args:
        run_name: Name of a run, or its path; all runs of the folder by default.
        study: Study with which a missing run is begun; refused if the study has changed.
        engine: prefect or none.

    Examples:
        $ lakatos wake mine-1
    """
    from lakatos.flows.operations.carry import carry
    from lakatos.flows.run.next_pass import look

    console = Console(soft_wrap=True)
    if run_name:
        folder = _folder(run_name, runs, begins=study is not None)
        progress = None
        if look(folder).due:
            from lakatos.flows.run.logs import progress as shown

            progress = shown(run=folder.name)
        done = carry(
            folder, study=study, data=data, engine=engine, workers=workers, progress=progress
        )
        console.print(f"{escape(folder.name)}: {done.ended}: {escape(done.text)}")
        return
    from lakatos.flows.operations.wake import wake

    failed = wake(
        runs,
        data=data,
        workers=workers,
        engine=engine,
        say=lambda text: console.print(escape(text)),
    )
    if failed:
        raise FlowError(
            f"{failed} passes ended with an error; the others went on. `lakatos resume RUN` shows each error."
        )


def _folder(run_name: str, runs: Path, *, begins: bool) -> Path:

    try:
        return find_run(run_name, runs)
    except RunMissingError:
        if not begins:
            raise
        return Path(run_name) if Path(run_name).name != run_name else runs / run_name
