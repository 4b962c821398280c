"""Examination of this machine: what it offers the laboratory, and what is wrong with it.

Each line is one thing that was really tried: a database was written and locked, a port was listened on, a server was
asked. ``missing`` lessens what can be done, ``wrong`` will make something fail.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from lakatos.flows.argument import RunsFolder
from lakatos.flows.result import Result, Shown
from lakatos.flows.run.console import escape
from lakatos.flows.run.next_pass import runs_in
from lakatos.flows.run.prefect_server import configured_server
from lakatos.theories.engine.sandbox.doctor import probe
from lakatos.traces.errors import TraceError
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE
from lakatos.traces.system import FileLock, HeldLockError

PORTS = {"Prefect": 4200, "participant page": 8000, "observatory": 8100, "metrics": 8002}
BUILT_UTC = datetime(2026, 1, 1, tzinfo=UTC)
"""A clock that shows an earlier time is wrong."""
MOST_SKEW_S = 5.0
MARKS = {
    "ok": "[green]ok[/green]     ",
    "missing": "[yellow]missing[/yellow]",
    "wrong": "[red]wrong[/red]  ",
}
_LEAST_FREE_GIB = 1.0


@dataclass(frozen=True)
class DoctorFinding:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "missing", "wrong"]
    detail: str


@dataclass(frozen=True, repr=False)
class DoctorReport(Result):
    """All that was looked at."""

    findings: tuple[DoctorFinding, ...]

    @property
    def exit_status(self) -> int:  # type: ignore[override]
        """1 if something is wrong."""
        return 1 if any(line.state == "wrong" for line in self.findings) else 0

    def lines(self) -> Iterator[Shown]:
        """A line for each finding."""
        for line in self.findings:
            yield f"{MARKS[line.state]}  {escape(line.name)}: {escape(line.detail)}"


def diagnose(*, runs: RunsFolder = "runs", model_server: str = "") -> DoctorReport:
    """Check this machine: versions, sandbox layers, programs, database, ports, servers, disk and clock.

    Exit status 1 if something is wrong.

    Args:
        runs: Folder that holds the runs.
        model_server: Address of a server of language models, with /v1.

    Examples:
        $ lakatos doctor
    """
    return DoctorReport(tuple(examine(Path(runs), model_server=model_server)))


def examine(
    runs: Path | None = None, *, model_server: str = "", now: datetime | None = None
) -> list[DoctorFinding]:
    """Look at everything: versions, sandbox layers, programs, disk, database, ports, servers and the clock.

    Args:
        runs: Folder of the runs; the present folder stands in for one that does not exist.
        model_server: Address of a server of language models, ending in ``/v1``; not asked where it is empty.
        now: What the clock shows.
    """
    place = runs if runs is not None and runs.exists() else Path.cwd()
    return [
        *_versions(),
        *_sandbox(),
        *_programs(),
        *_machine(place),
        _database(place),
        *_ports(),
        _prefect_server(),
        _model_server(model_server),
        *_clock(runs, now or datetime.now(UTC)),
        *_runs(runs),
    ]


def _versions() -> Iterator[DoctorFinding]:
    yield DoctorFinding("python", "ok", platform.python_version())
    yield DoctorFinding("sqlite", "ok", sqlite3.sqlite_version)
    for name in ("numpy", "scipy", "pydantic"):
        yield DoctorFinding(name, "ok", version(name))
    if importlib.util.find_spec("prefect") is None:
        yield DoctorFinding(
            "prefect",
            "missing",
            "runs need --engine none without it; `lakatos wake` carries on",
        )
        return
    yield DoctorFinding("prefect", "ok", version("prefect"))
    for name, limit, why in (
        ("sqlalchemy", (2, 1), "Prefect's server takes schedules and never starts a run"),
        (
            "fastapi",
            (0, 151),
            "Prefect's server refuses what its own command `deploy` sends, later does not start",
        ),
    ):
        yield _below(name, limit, why)


def _below(name: str, limit: tuple[int, int], why: str) -> DoctorFinding:
    try:
        found = version(name)
    except PackageNotFoundError:
        return DoctorFinding(
            name, "wrong", "Prefect needs it; install the versions of requirements.lock"
        )
    numbers = tuple(int(part) for part in found.split(".")[:2])
    if numbers >= limit:
        least = ".".join(map(str, limit))
        return DoctorFinding(
            name,
            "wrong",
            f"{found}: from {least} on {why}; install the versions of requirements.lock",
        )
    return DoctorFinding(name, "ok", found)


def _sandbox() -> Iterator[DoctorFinding]:
    for name, found in probe().items():
        if name in ("missing", "problem"):
            if found:
                yield DoctorFinding(
                    f"sandbox {name}", "missing", f"{found}; theories run with less protection"
                )
            continue
        shown = ", ".join(map(str, found)) if isinstance(found, list | tuple) else str(found)
        yield DoctorFinding(f"sandbox {name}", "ok" if found else "missing", shown or "none")


def _programs() -> Iterator[DoctorFinding]:
    for program, use in (
        ("chromium", "tests of the report need it"),
        ("bwrap", "a stricter sandbox uses it"),
    ):
        where = shutil.which(program)
        yield DoctorFinding(program, "ok" if where else "missing", where or use)


def _machine(place: Path) -> Iterator[DoctorFinding]:
    free = shutil.disk_usage(place).free / 2**30
    state: Literal["ok", "wrong"] = "ok" if free > _LEAST_FREE_GIB else "wrong"
    yield DoctorFinding("disk", state, f"{free:.1f} GiB free in {place}; a run takes a few MiB")
    yield DoctorFinding("processors", "ok", str(os.cpu_count()))


def _database(place: Path) -> DoctorFinding:
    """Write, sync and lock where runs are written, as a journal does."""
    try:
        with tempfile.TemporaryDirectory(dir=place, prefix=".doctor-") as scratch:
            path = Path(scratch) / "try.sqlite"
            begun = time.perf_counter()
            with closing(sqlite3.connect(path, isolation_level=None)) as connection:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("CREATE TABLE t (x)")
                for number in range(10):
                    connection.execute("INSERT INTO t VALUES (?)", [number])
            taken_ms = (time.perf_counter() - begun) * 100
            if mode != "wal":
                return DoctorFinding(
                    "database",
                    "wrong",
                    f"{place} has no write-ahead log ({mode}); use a disk of this machine",
                )
            if not _locks(path.with_suffix(".lock")):
                return DoctorFinding(
                    "database",
                    "wrong",
                    f"{place} does not hold locks: two passes could write one run",
                )
    except (OSError, sqlite3.Error) as error:
        return DoctorFinding("database", "wrong", f"cannot write a journal in {place}: {error}")
    return DoctorFinding("database", "ok", f"{taken_ms:.1f} ms for a durable record in {place}")


def _locks(path: Path) -> bool:
    """Whether a lock of the file system keeps a second one out."""
    with FileLock(path):
        try:
            FileLock(path).release()
        except HeldLockError:
            return True
    return False


def _ports(ports: Mapping[str, int] = PORTS) -> Iterator[DoctorFinding]:
    for name, port in ports.items():
        with socket.socket() as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(("127.0.0.1", port))
            except OSError as error:
                yield DoctorFinding(
                    f"port {port}",
                    "missing",
                    f"{error.strerror}; `lakatos lab up` takes another for the {name}",
                )
            else:
                yield DoctorFinding(f"port {port}", "ok", f"free for the {name}")


def _prefect_server() -> DoctorFinding:
    address = configured_server()
    if address is None:
        return DoctorFinding(
            "prefect server",
            "ok",
            "none is configured; runs use a temporary one, `lakatos lab up` its own",
        )
    found = _ask(f"{address.rstrip('/')}/health")
    if found.problem:
        return DoctorFinding(
            "prefect server",
            "wrong",
            f"{address}: {found.problem}; start it, or unset PREFECT_API_URL",
        )
    if abs(found.skew_s) > MOST_SKEW_S:
        return DoctorFinding(
            "prefect server",
            "wrong",
            f"{address}: its clock is {found.skew_s:+.0f} s from this one; set them",
        )
    return DoctorFinding("prefect server", "ok", address)


def _model_server(address: str) -> DoctorFinding:
    if not address:
        return DoctorFinding(
            "model server", "ok", "none is named; --model-server asks one, studies name their own"
        )
    found = _ask(f"{address.rstrip('/')}/models")
    if found.problem:
        return DoctorFinding(
            "model server",
            "wrong",
            f"{address}: {found.problem}; `lakatos models serve` starts one",
        )
    names = [str(item.get("id")) for item in found.value.get("data", []) if isinstance(item, dict)]
    return DoctorFinding("model server", "ok", f"{address}: {', '.join(names) or 'no models'}")


@dataclass(frozen=True)
class _ServerAnswer:
    problem: str = ""
    skew_s: float = 0.0
    value: Any = None


def _ask(address: str) -> _ServerAnswer:
    import httpx

    try:
        answer = httpx.get(address, timeout=5.0)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return _ServerAnswer(f"cannot be reached ({type(error).__name__})")
    if not answer.is_success:
        return _ServerAnswer(f"answers with status {answer.status_code}")
    skew_s = 0.0
    if date := answer.headers.get("date"):
        skew_s = (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    try:
        value = answer.json()
    except ValueError:
        value = None
    return _ServerAnswer(skew_s=skew_s, value=value if isinstance(value, dict) else {})


def _clock(runs: Path | None, now: datetime) -> Iterator[DoctorFinding]:
    """The clock against what this version knows and what the journals say; order never depends on it."""
    if now < BUILT_UTC:
        yield DoctorFinding(
            "clock", "wrong", f"shows {now:%Y-%m-%d %H:%M}Z, before this version was made; set it"
        )
        return
    newest, where = None, ""
    for folder in runs_in(runs) if runs is not None and runs.exists() else ():
        try:
            with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
                row = journal.store.last()
        except TraceError:
            continue
        if row is not None and (newest is None or datetime.fromisoformat(row.time_utc) > newest):
            newest, where = datetime.fromisoformat(row.time_utc), folder.name
    if newest is not None and (newest - now).total_seconds() > MOST_SKEW_S:
        yield DoctorFinding(
            "clock",
            "wrong",
            f"shows {now:%Y-%m-%d %H:%M}Z, and {where} holds a record of {newest:%Y-%m-%d %H:%M}Z: it was set back. "
            "The order of records does not depend on it, but schedules and retention limits do",
        )
        return
    yield DoctorFinding("clock", "ok", f"{now:%Y-%m-%d %H:%M}Z")


def _is_carried_on(journal: Journal) -> bool:
    """Whether this code carries a run on: it began it, or somebody accepted it; also where nothing has begun."""
    from lakatos.flows.run.task import science_of

    kinds = ("campaign_started", "code_accepted")
    bodies = [json.loads(row.body) for row in journal.store.rows() if row.kind in kinds]
    return not bodies or bodies[-1]["science"] == science_of(bodies[0]["config"])


def _runs(runs: Path | None) -> Iterator[DoctorFinding]:
    """Runs that cannot be read, and those that other code began."""
    if runs is None or not runs.exists():
        return
    others, n_runs = [], 0
    for folder in runs_in(runs):
        n_runs += 1
        try:
            with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
                carried_on = _is_carried_on(journal)
        except TraceError as error:
            yield DoctorFinding(f"run {folder.name}", "wrong", str(error))
            continue
        if not carried_on:
            others.append(folder.name)
    if others:
        yield DoctorFinding(
            "runs",
            "missing",
            f"{len(others)} of {n_runs} were begun by other code for theories, experiments, judges or memory. They can "
            f"be read, audited and reported, and carried on with --accept-code: {', '.join(others[:5])}"
            f"{' ...' if len(others) > 5 else ''}",
        )
    elif n_runs:
        yield DoctorFinding("runs", "ok", f"{n_runs}, all begun by this code")
