"""The file in which the page keeps what people do: its tables, its transactions, and how rows become sessions.

``collection.sqlite`` lies in the run's folder and is never part of the journal. Several processes may use one file. It
holds the experiments that people were recruited for, one session a person, every response as it was made, and, in a
table of its own, the identifiers of recruitment services.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.web.session import (
    ACTIVE,
    NotAskedError,
    PageSession,
    RecruitmentService,
    answers_in,
)
from lakatos.experiments.participants.web.study import (
    PageExperiment,
    game_begins,
    plan_of,
)
from lakatos.traces.erasure import clear_free_pages, everything_in, is_gone
from lakatos.traces.owner import for_owner
from lakatos.traces.system import give_name, sync_folder

COLLECTION_FILE: Final = "collection.sqlite"
KEY_FILE: Final = "collection.key"
LEAST_FREE_BYTES: Final = 2**24
"""With less free space than this, a server is not healthy."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS experiment (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, n_participants INTEGER NOT NULL,
    content TEXT NOT NULL, closed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS session (
    number INTEGER PRIMARY KEY, experiment TEXT NOT NULL REFERENCES experiment (key), person TEXT NOT NULL,
    preview INTEGER NOT NULL, source TEXT NOT NULL, place INTEGER NOT NULL, status TEXT NOT NULL,
    passed INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, consent TEXT NOT NULL,
    language TEXT NOT NULL, code TEXT NOT NULL, started REAL NOT NULL, seen REAL NOT NULL, ended REAL,
    delivered INTEGER NOT NULL DEFAULT 0
) STRICT;
DROP INDEX IF EXISTS one_session_a_person;
CREATE UNIQUE INDEX IF NOT EXISTS one_session_in_an_experiment ON session (person, experiment) WHERE preview = 0;
CREATE INDEX IF NOT EXISTS sessions_of_an_experiment ON session (experiment, preview, status);
CREATE TABLE IF NOT EXISTS access (token TEXT PRIMARY KEY, session INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS answer (
    session INTEGER NOT NULL, position INTEGER NOT NULL, response INTEGER NOT NULL, response_time_ms REAL NOT NULL,
    feedback TEXT NOT NULL, answered REAL NOT NULL, PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS onset (
    session INTEGER NOT NULL, position INTEGER NOT NULL, reported REAL NOT NULL, PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reply (
    session INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS identifier (
    session INTEGER NOT NULL, service TEXT NOT NULL, participant TEXT NOT NULL, study TEXT NOT NULL,
    submission TEXT NOT NULL, known INTEGER, PRIMARY KEY (service, participant, submission)
) STRICT;
CREATE TABLE IF NOT EXISTS service (
    experiment TEXT NOT NULL REFERENCES experiment (key), service TEXT NOT NULL, study TEXT NOT NULL,
    codes TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (experiment, service)
) STRICT;
CREATE TABLE IF NOT EXISTS invitation (token TEXT PRIMARY KEY, made REAL NOT NULL, used REAL) STRICT;
"""
_ADDED: Final = (
    ("identifier", "known", "INTEGER"),
    ("session", "began", "REAL"),
    ("session", "condition", "TEXT"),
    ("session", "visit", "TEXT"),
    ("answer", "onset_ms", "REAL"),
    ("answer", "focus_losses", "INTEGER"),
    ("answer", "away_ms", "REAL"),
    ("answer", "recorded", "TEXT"),
    ("answer", "failure", "TEXT"),
    ("onset", "begun", "INTEGER"),
)
"""Columns that files of earlier versions lack."""


KNOWN = "SELECT 1 FROM identifier WHERE identifier.session = session.number AND known = 1"
REFUSED = (
    "SELECT 1 FROM identifier WHERE identifier.session = session.number AND known = 0 AND NOT EXISTS "
    "(SELECT 1 FROM identifier AS other WHERE other.session = session.number AND other.known IS NOT 0)"
)
WITHHELD = (
    "EXISTS (SELECT 1 FROM service WHERE service.experiment = session.experiment AND service.service = session.source) "
    f"AND NOT EXISTS ({KNOWN})"
)


def collection_key(folder: Path) -> bytes:
    """The key of a run's pseudonyms, made when there is none; readable for its owner only."""
    path = folder / KEY_FILE
    if not path.exists():
        # Whole before it has its name: a crash leaves no empty key, and nobody reads half of one.
        temporary = folder / f".{KEY_FILE}-{secrets.token_hex(8)}"
        try:
            with open(temporary, "xb", opener=for_owner) as file:
                file.write(secrets.token_bytes(32))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                give_name(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        sync_folder(folder)
    return path.read_bytes()


def service_in(row: sqlite3.Row) -> RecruitmentService:
    """A recruitment service as it was written down."""
    codes = json.loads(row["codes"])
    return RecruitmentService(row["study"], codes["codes"], row["url"], codes["most_failed_checks"])


def hashed(token: str) -> str:
    """A token as it is stored, so that nobody who reads the store can pose as a participant."""
    return hashlib.sha256(token.encode()).hexdigest()


def steady_clock() -> Callable[[], float]:
    """Seconds since 1970 that go on steadily: a wall clock that is set later on ends no visit and begins none anew."""
    began = time.time() - time.monotonic()
    return lambda: began + time.monotonic()


class CollectionFile:
    """The collection of one run, open. All methods may be called from any thread."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] | None = None) -> None:
        """Use the collection of the run in ``folder``; made if it is not there, readable for its owner only.

        Args:
            folder: Of the run.
            clock: Seconds since 1970; `steady_clock` by default.

        Raises:
            SourceError: It cannot be made or read.
        """
        self.path, self.clock = Path(folder) / COLLECTION_FILE, clock or steady_clock()
        self._lock = threading.Lock()
        self._experiments: dict[str, PageExperiment] = {}
        self._deleted = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self.key = collection_key(self.path.parent)
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, timeout=30, check_same_thread=False
            )
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._connection.executescript(_SCHEMA)
            for table, column, kind in _ADDED:
                columns = {
                    row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")
                }
                if column not in columns:
                    self._connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
        except (OSError, sqlite3.Error) as error:
            raise SourceError(f"cannot use the collection {self.path}: {error}.") from error
        self._connection.row_factory = sqlite3.Row

    def check(self) -> None:
        """Find out whether a response could be stored now.

        Raises:
            SourceError: The collection cannot be read or written, or its disk is nearly full.
        """
        try:
            free = shutil.disk_usage(self.path.parent).free
            with self._lock:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.execute("ROLLBACK")
        except (OSError, sqlite3.Error) as error:
            raise SourceError(f"cannot use the collection {self.path}: {error}.") from error
        if free < LEAST_FREE_BYTES:
            raise SourceError(
                f"{free:,} bytes are free where {self.path} is; free at least {LEAST_FREE_BYTES:,}."
            )

    def shut(self) -> None:
        """Close the store's file; nothing can be read or written afterwards."""
        with self._lock:
            self._connection.close()

    # Inside a transaction, or under the lock

    def _answers(self, session: PageSession) -> PersonAnswers | None:
        if session.status == ACTIVE:
            return None
        rows = self._connection.execute(
            "SELECT answer.*, reported, begun FROM answer LEFT JOIN onset USING (session, position) "
            "WHERE session = ? ORDER BY position",
            (session.number,),
        ).fetchall()
        began, visit = self._connection.execute(
            "SELECT coalesce(began, started), visit FROM session WHERE number = ?",
            (session.number,),
        ).fetchone()
        return answers_in(
            session,
            rows,
            began_s=began,
            visit=json.loads(visit or "{}"),
            replies=self._replies(session.number),
        )

    def _replies(self, number: int) -> dict[str, Any]:
        rows = self._connection.execute(
            "SELECT name, value FROM reply WHERE session = ? ORDER BY name", (number,)
        ).fetchall()
        return {row["name"]: json.loads(row["value"]) for row in rows}

    def _current(self, *, preview: bool) -> PageExperiment | None:
        taken = (
            "(SELECT count(*) FROM session WHERE session.experiment = experiment.key AND preview = 0 "
            f"AND status IN ('{ACTIVE}', 'completed') AND NOT EXISTS ({REFUSED}))"
        )
        free = "" if preview else f"AND n_participants > {taken}"
        row = self._connection.execute(
            f"SELECT key FROM experiment WHERE closed = 0 {free} ORDER BY number LIMIT 1"
        ).fetchone()
        return None if row is None else self._experiment(row["key"])

    def _experiment(self, key: str) -> PageExperiment:
        if key not in self._experiments:
            row = self._connection.execute(
                "SELECT content FROM experiment WHERE key = ?", (key,)
            ).fetchone()
            self._experiments[key] = PageExperiment.from_json(json.loads(row["content"]))
        return self._experiments[key]

    def _fresh(self, session: PageSession) -> PageSession:
        found = self._session("number = ?", session.number)
        if found is None:
            raise NotAskedError("this session was erased.")
        return found

    def _session(self, where: str, *values: object) -> PageSession | None:
        row = self._connection.execute(f"SELECT * FROM session WHERE {where}", values).fetchone()
        if row is None:
            return None
        experiment = self._experiment(row["experiment"])
        (position,) = self._connection.execute(
            "SELECT count(*) FROM answer WHERE session = ?", (row["number"],)
        ).fetchone()
        latest = None
        if experiment.task.sequential and position:
            latest = self._connection.execute(
                "SELECT feedback FROM answer WHERE session = ? AND position >= ? AND feedback <> '{}' "
                "ORDER BY position DESC LIMIT 1",
                (row["number"], game_begins(plan_of(experiment, row["place"]), position)),
            ).fetchone()
        began = row["began"] or row["started"]
        copied = {
            name: row[name]
            for name in (
                "number",
                "person",
                "source",
                "place",
                "status",
                "attempts",
                "consent",
                "language",
            )
        }
        code, finish = self._ending(row, experiment)
        return PageSession(
            code=code,
            finish=finish,
            experiment=experiment,
            preview=bool(row["preview"]),
            passed=bool(row["passed"]),
            position=position,
            feedback={} if latest is None else json.loads(latest["feedback"]),
            condition=row["condition"] or "",
            elapsed_ms=max(0.0, 1000 * (self.clock() - began)),
            replied=frozenset(self._replies(row["number"]))
            if experiment.settings.questions
            else frozenset(),
            **copied,
        )

    def _ending(self, row: sqlite3.Row, experiment: PageExperiment) -> tuple[str, str]:
        """What a person is given to take back to a recruitment service: a code and an address."""
        if row["status"] == ACTIVE:
            return "", ""
        sent = self._connection.execute(
            "SELECT service.* FROM identifier JOIN service ON service.service = identifier.service "
            "AND service.study = identifier.study WHERE session = ? AND service.experiment = ?",
            (row["number"], row["experiment"]),
        ).fetchone()
        if sent is None:
            completed = row["status"] == "completed"
            own = RecruitmentService(
                "", {"completed": row["code"]}, experiment.settings.completion_url
            )
            return own.ending("completed") if completed else ("", "")
        service = service_in(sent)
        outcome = {"returned": "declined", "stopped": "declined"}.get(row["status"], row["status"])
        most = service.most_failed_checks
        if outcome == "completed" and most is not None and self._n_failed(row, experiment) > most:
            outcome = "failed_checks"
        return service.ending(outcome)

    def _n_failed(self, session: sqlite3.Row, experiment: PageExperiment) -> int:
        """Attention checks that somebody did not pass."""
        steps = plan_of(experiment, session["place"])
        rows = self._connection.execute(
            "SELECT position, response FROM answer WHERE session = ?", (session["number"],)
        ).fetchall()
        checks = [
            (steps[row["position"]], row["response"])
            for row in rows
            if steps[row["position"]].kind == "check"
        ]
        return sum(step.row != response for step, response in checks)

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One transaction; all of it is on disk afterwards, or nothing."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _clear_deleted(self) -> bool:
        """Take what was deleted out of the file and its log as well; whether that is done, or nothing was deleted."""
        with self._lock:
            if self._deleted:
                with suppress(sqlite3.OperationalError):  # another program is writing
                    self._deleted = not clear_free_pages(self._connection)
            return not self._deleted

    def _is_gone(self, erased: Sequence[bytes]) -> bool:
        """Whether no file of the collection holds what was erased from its tables."""
        with self._lock:
            return is_gone(self.path, erased, everything_in(self._connection))
