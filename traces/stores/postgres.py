"""A journal in a PostgreSQL database, which many runs and machines share.

The file that stands for the journal in the run's folder holds one line, the address: a libpq URI and, after ``#``, the
name of the run in the database. Rows, and so the hash chain, are those of a SQLite journal byte for byte.

Writers of one run keep each other out by an advisory lock of their sessions, which ends with the session. Whatever
becomes of locks, the database itself takes an event only if it is chained to the newest one, so two writers can never
both go on: the second is refused. Where the connection is lost in the middle of a commit, whether it happened is read
from the newest row after connecting again.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar

from lakatos.traces.errors import ChainBrokenError, JournalError, LockedError, ReadOnlyError
from lakatos.traces.stores.address import JournalAddress, read_address
from lakatos.traces.stores.sqlite import FORMAT, check_format
from lakatos.traces.stores.store import EventRow

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")
_BATCH: Final = 1_000
_LOCK: Final = 0x4C414B41
"""First half of the key of every advisory lock taken here; the second is the number of the run."""
_MAKING: Final = 0
"""Number in place of that of a run, while tables are made."""
_COLUMNS: Final = ", ".join(EventRow._fields)
_INSERT: Final = (
    f"INSERT INTO lakatos.event (run, {_COLUMNS}) VALUES (%s{', %s' * len(EventRow._fields)})"
)
_REFUSE: Final = (
    " BEGIN RAISE EXCEPTION 'the journal is append-only' USING ERRCODE = 'restrict_violation'; END "
)
_FOLLOW: Final = """
DECLARE last record;
BEGIN
  SELECT seq, hash INTO last FROM lakatos.event WHERE run = NEW.run ORDER BY seq DESC LIMIT 1;
  IF NEW.seq <> coalesce(last.seq, 0) + 1 OR NEW.previous_hash <> coalesce(last.hash, NEW.previous_hash) THEN
    RAISE EXCEPTION 'the journal is append-only: not chained to the newest event' USING ERRCODE = 'restrict_violation';
  END IF;
  IF NEW.kind <> 'intent'
     AND EXISTS (SELECT 1 FROM lakatos.event WHERE run = NEW.run AND key = NEW.key AND kind <> 'intent') THEN
    RAISE EXCEPTION 'the journal is append-only: a second result of one step' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END """
_TABLES: Final = {
    "run": "id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE",
    "meta": "run integer NOT NULL REFERENCES lakatos.run, name text NOT NULL, value text NOT NULL, "
    "PRIMARY KEY (run, name)",
    "event": "run integer NOT NULL REFERENCES lakatos.run, seq bigint NOT NULL, time_utc text NOT NULL, "
    "kind text NOT NULL, key text NOT NULL, name text NOT NULL, position text NOT NULL, attempt integer NOT NULL, "
    "inputs text NOT NULL, body text NOT NULL, record_digest text NOT NULL, previous_hash text NOT NULL, "
    "hash text NOT NULL, PRIMARY KEY (run, seq)",
}
_INDEXES: Final = (
    "CREATE UNIQUE INDEX event_result ON lakatos.event USING btree (run, key) WHERE (kind <> 'intent'::text)",
    "CREATE INDEX event_intent ON lakatos.event USING btree (run, key, attempt) WHERE (kind = 'intent'::text)",
    "CREATE INDEX event_record ON lakatos.event USING btree (run, record_digest) WHERE (kind <> 'intent'::text)",
)
_TRIGGERS: Final = {
    **{
        f"{table}_{name}": f"CREATE TRIGGER {table}_{name} BEFORE {event} ON lakatos.{table} FOR EACH {each} "
        "EXECUTE FUNCTION lakatos.refuse()"
        for table in _TABLES
        for name, event, each in (
            ("change", "DELETE OR UPDATE", "ROW"),
            ("truncate", "TRUNCATE", "STATEMENT"),
        )
    },
    "event_insert": "CREATE TRIGGER event_insert BEFORE INSERT ON lakatos.event FOR EACH ROW "
    "EXECUTE FUNCTION lakatos.follow()",
}
_SCHEMA: Final = (
    "CREATE SCHEMA IF NOT EXISTS lakatos",
    *(f"CREATE TABLE lakatos.{name} ({columns})" for name, columns in _TABLES.items()),
    *_INDEXES,
    f"CREATE FUNCTION lakatos.refuse() RETURNS trigger LANGUAGE plpgsql AS $${_REFUSE}$$",
    f"CREATE FUNCTION lakatos.follow() RETURNS trigger LANGUAGE plpgsql AS $${_FOLLOW}$$",
    *_TRIGGERS.values(),
)
_SESSION: Final = (
    "SET synchronous_commit = on",
    "SET search_path = ''",
    # A session whose machine is gone must not hold its run for the two hours that are the system's default.
    "SET tcp_keepalives_idle = 20",
    "SET tcp_keepalives_interval = 5",
    "SET tcp_keepalives_count = 4",
)


class PostgresStore:
    """Rows of one run in a PostgreSQL database; see `Store` for the contract of each method."""

    patience_s: ClassVar[float] = 60.0
    """Seconds that a database that was there before is waited for when it is gone."""
    release_s: ClassVar[float] = 2.0
    """Seconds for which the lock of a process that ended may outlive it."""

    def __init__(self, path: Path, address: JournalAddress, *, read_only: bool) -> None:
        """Used by `create` and `open`."""
        self.path, self.address, self.read_only = path, address, read_only
        self._guard = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._run = 0
        self._writes = False
        self._session: tuple[int, object] = (0, None)
        """Process and beginning of this writer's session in the database."""

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> Self:
        """Add an empty run to the database, with the tables where it is the first, and hold it for writing."""
        store = cls(path, _address_in(path), read_only=False)
        try:
            with store._errors("creating"):
                connection = store._connection = store._connect()
                with connection.transaction():
                    connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (_LOCK, _MAKING))
                    if connection.execute("SELECT to_regclass('lakatos.event')").fetchall() == [
                        (None,)
                    ]:
                        for statement in _SCHEMA:
                            connection.execute(statement)
                    query = "INSERT INTO lakatos.run (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING id"
                    made = connection.execute(query, (store.address.run,)).fetchone()
                    if made is None:
                        raise JournalError(
                            f"{store.address} already holds a journal; open it, or give the run another name."
                        )
                    store._run = made[0]
                    for item in sorted({**meta, "format": str(FORMAT)}.items()):
                        connection.execute(
                            "INSERT INTO lakatos.meta VALUES (%s, %s, %s)", (store._run, *item)
                        )
                    store._lock()
            store._writes = True
            return store
        except BaseException:
            store.close()
            raise

    @classmethod
    def open(cls, path: Path, *, read_only: bool) -> Self:
        """Open a run; for writing, hold its lock until `close`."""
        store = cls(path, _address_in(path), read_only=read_only)
        try:
            with store._errors("opening"):
                store._connection = store._connect()
                store._find()
                check_format(store.meta(), store.address)
                if not read_only:
                    store._lock()
                    store._writes = True
            return store
        except BaseException:
            store.close()
            raise

    def meta(self) -> dict[str, str]:
        """Return what was given to `create`, and the format."""
        return dict(self._read("SELECT name, value FROM lakatos.meta WHERE run = %s"))

    def append(self, row: EventRow) -> None:
        """Store ``row`` durably, whole or not at all."""
        self._commit([row])

    def append_all(self, rows: Sequence[EventRow]) -> None:
        """Store ``rows`` durably in one commit: all of them or none."""
        if rows:
            self._commit(rows)

    def _commit(self, rows: Sequence[EventRow]) -> None:
        if not self._writes:
            raise ReadOnlyError(
                f"{self.path} is closed or open for reading only; open it for writing to record something."
            )
        values = [(self._run, *row) for row in rows]
        with self._guard, self._errors(f"writing {rows[0].kind!r} of {rows[0].name!r} to"):

            def insert(connection: "psycopg.Connection[Any]") -> None:
                if len(values) == 1:
                    connection.execute(_INSERT, values[0])
                    return
                with connection.transaction(), connection.cursor() as cursor:
                    cursor.executemany(_INSERT, values)

            def again(connection: "psycopg.Connection[Any]") -> None:
                last = self._newest(connection)
                if last == rows[-1]:  # the commit went through, only its answer was lost
                    return
                seq, newest = (0, rows[0].previous_hash) if last is None else (last.seq, last.hash)
                if (seq, newest) != (rows[0].seq - 1, rows[0].previous_hash):
                    raise JournalError(
                        f"while the connection to {self.address} was lost, its newest event became another one than "
                        f"the event {rows[0].seq - 1} that this pass wrote last: another process went on, or the "
                        "database was restored from a copy. Nothing was written; `lakatos audit`, then resume."
                    )
                insert(connection)

            self._insist(insert, again)

    def erase_rows(self, rows: Sequence[EventRow]) -> None:
        """Put ``rows`` in the place of those of the same numbers; the server's log and backups are out of reach."""
        if not self._writes:
            raise ReadOnlyError(
                f"{self.path} is closed or open for reading only; open it for writing to erase."
            )
        changed = ", ".join(f"{name} = %s" for name in EventRow._fields[1:])
        query = f"UPDATE lakatos.event SET {changed} WHERE run = %s AND seq = %s"

        def work(connection: "psycopg.Connection[Any]") -> None:
            if rows:
                with connection.transaction(), connection.cursor() as cursor:
                    cursor.execute("ALTER TABLE lakatos.event DISABLE TRIGGER event_change")
                    cursor.executemany(query, [(*row[1:], self._run, row.seq) for row in rows])
                    cursor.execute("ALTER TABLE lakatos.event ENABLE TRIGGER event_change")
            connection.execute("VACUUM lakatos.event")

        with self._guard, self._errors("erasing in"):
            self._insist(work, work)

    def stored(self, after_seq: int = 0) -> Iterator[tuple[Any, ...]]:
        """Yield the `rows`, with text as the bytes that are stored."""
        for row in self.rows(after_seq):
            yield tuple(value.encode() if isinstance(value, str) else value for value in row)

    def rows(self, after_seq: int = 0) -> Iterator[EventRow]:
        """Rows after ``after_seq`` in order; rows appended meanwhile are included."""
        while batch := self._select("AND seq > %s ORDER BY seq LIMIT %s", after_seq, _BATCH):
            yield from batch
            after_seq = batch[-1].seq

    def last(self) -> EventRow | None:
        """The newest row; None if there is no row yet."""
        return next(iter(self._select("ORDER BY seq DESC LIMIT 1")), None)

    def result(self, key: str) -> EventRow | None:
        """The result of a step, if it is recorded."""
        return next(iter(self._select("AND key = %s AND kind <> 'intent'", key)), None)

    def record(self, record_digest: str) -> EventRow | None:
        """The result with this record digest, if there is one."""
        return next(
            iter(
                self._select("AND record_digest = %s AND kind <> 'intent' LIMIT 1", record_digest)
            ),
            None,
        )

    def attempts(self, key: str) -> int:
        """The number of the last attempt that was begun for a step; 0 if none was."""
        query = "SELECT coalesce(max(attempt), 0) FROM lakatos.event WHERE run = %s AND key = %s AND kind = 'intent'"
        return int(self._read(query, key)[0][0])

    def problem(self) -> str | None:
        """Check that tables, indexes, triggers and their functions are ours and all at work; else explain."""
        expected = {
            *(("index", text) for text in _INDEXES),
            *(("trigger", text, "O") for text in _TRIGGERS.values()),
            ("function", "refuse", _REFUSE),
            ("function", "follow", _FOLLOW),
            *(
                ("column", table, f"{name} {kind}")
                for table, columns in _TABLES.items()
                for name, kind in re.findall(r"(?:^|, )([a-z_]+) (text|integer|bigint)", columns)
            ),
        }
        found = {
            *(
                ("index", text)
                for (text,) in self._query(
                    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'lakatos' AND indexname ~ '^event_' "
                    "AND indexname <> 'event_pkey'"
                )
            ),
            *(
                ("trigger", text, enabled)
                for text, enabled in self._query(
                    "SELECT pg_get_triggerdef(t.oid), t.tgenabled::text FROM pg_trigger t "
                    "JOIN pg_class c ON c.oid = t.tgrelid "
                    "WHERE c.relnamespace = 'lakatos'::regnamespace AND NOT t.tgisinternal"
                )
            ),
            *(
                ("function", name, text)
                for name, text in self._query(
                    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'lakatos'::regnamespace"
                )
            ),
            *(
                ("column", table, f"{name} {kind}")
                for table, name, kind in self._query(
                    "SELECT table_name, column_name, data_type FROM information_schema.columns "
                    "WHERE table_schema = 'lakatos'"
                )
            ),
        }
        if found == expected:
            return None
        changed = sorted(" ".join(" ".join(item).split()[:4]) for item in found ^ expected)
        return "tables, indexes, triggers or functions were changed: " + "; ".join(changed)

    def close(self) -> None:
        """Release the run; what is read later is read by a connection of its own."""
        with self._guard:
            connection, self._connection = self._connection, None
            self._writes, self.read_only = False, True
            if connection is not None:
                with suppress(Exception):
                    connection.close()

    # -- the connection ----------------------------------------------------------------------------------------------

    def _select(self, condition: str, *values: object) -> list[EventRow]:
        query = f"SELECT {_COLUMNS} FROM lakatos.event WHERE run = %s {condition}"
        return [EventRow._make(row) for row in self._read(query, *values)]

    def _newest(self, connection: "psycopg.Connection[Any]") -> EventRow | None:
        query = f"SELECT {_COLUMNS} FROM lakatos.event WHERE run = %s ORDER BY seq DESC LIMIT 1"
        found = connection.execute(query, (self._run,)).fetchone()
        return None if found is None else EventRow._make(found)

    def _read(self, query: str, *values: object) -> list[Any]:
        """Rows of a query whose first parameter is the run."""
        return self._query(query, (self._run, *values))

    def _query(self, query: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._guard, self._errors("reading"):
            if self._connection is None:
                with self._connect() as connection:
                    return connection.execute(query, values).fetchall()

            def work(connection: "psycopg.Connection[Any]") -> list[Any]:
                return connection.execute(query, values).fetchall()

            return self._insist(work, work)

    def _insist(
        self,
        work: Callable[["psycopg.Connection[Any]"], T],
        again: Callable[["psycopg.Connection[Any]"], T],
    ) -> T:
        """Return the result of ``work`` or, if the connection is lost meanwhile, of ``again`` by a new connection."""
        import psycopg

        assert self._connection is not None
        deadline = time.monotonic() + self.patience_s
        attempt = work
        while True:
            try:
                return attempt(self._connection)
            except psycopg.Error as error:
                ended = isinstance(
                    error, psycopg.errors.AdminShutdown | psycopg.errors.CrashShutdown
                )
                if not (ended or self._connection.closed):
                    raise
                self._connect_again(deadline)
                attempt = again

    def _connect_again(self, deadline: float) -> None:
        import psycopg

        pause_s = 0.05
        while True:
            try:
                connection = self._connect()
            except (psycopg.OperationalError, JournalError) as error:
                if time.monotonic() + pause_s > deadline:
                    raise JournalError(
                        f"the database of {self.address} went away and did not come back within "
                        f"{self.patience_s:.0f} s ({_first_line(error)}). What was recorded before is safe; see to the "
                        "database, then `lakatos resume`."
                    ) from error
                time.sleep(pause_s)
                pause_s = min(2 * pause_s, 2.0)
                continue
            self._connection = connection
            if self._writes:
                # Where only the network failed, the old session is still there and holds the lock.
                query = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_start = %s"
                try:
                    connection.execute(query, self._session)
                    self._find()
                    self._lock()
                except BaseException:
                    connection.close()  # without the lock nothing may go through it
                    raise
            return

    def _connect(self) -> "psycopg.Connection[Any]":
        driver = _driver()
        try:
            connection: psycopg.Connection[Any] = driver.connect(
                self.address.url,
                autocommit=True,
                connect_timeout=10,
                client_encoding="utf8",
                application_name=f"lakatos, process {os.getpid()} of {socket.gethostname()}"[:63],
                keepalives_idle=20,
                keepalives_interval=5,
                keepalives_count=4,
                tcp_user_timeout=30_000,
                prepare_threshold=None,  # a pooler between may give each transaction another session
            )
        except driver.ProgrammingError as error:
            raise JournalError(
                f"{self.address} is no address of a database: {_first_line(error)}."
            ) from error
        for statement in _SESSION:
            connection.execute(statement)
        for name, wanted, why in (
            (
                "server_encoding",
                "UTF8",
                "other encodings cannot keep all text: make the database with ENCODING 'UTF8'",
            ),
            ("fsync", "on", "a power cut could lose what was recorded: switch it on"),
        ):
            (found,) = connection.execute(f"SHOW {name}").fetchone() or ("",)
            if found != wanted:
                connection.close()
                raise JournalError(f"the database of {self.address} has {name} = {found}; {why}.")
        return connection

    def _find(self) -> None:
        assert self._connection is not None
        found = self._connection.execute("SELECT to_regclass('lakatos.event')").fetchall()
        if found != [(None,)]:
            query = "SELECT id FROM lakatos.run WHERE name = %s"
            found = self._connection.execute(query, (self.address.run,)).fetchall()
            if found:
                self._run = found[0][0]
                return
        raise JournalError(
            f"there is no journal at {self.address}; check the address, or create it."
        )

    def _lock(self) -> None:
        """Keep other writers of the run out, until this session ends."""
        assert self._connection is not None
        deadline = time.monotonic() + self.release_s
        query = "SELECT pg_try_advisory_lock(%s, %s)"
        while self._connection.execute(query, (_LOCK, self._run)).fetchall() != [(True,)]:
            if time.monotonic() > deadline:
                raise LockedError(
                    f"{self.address} is being written by {self._holder()}. Wait for it or stop it; to look meanwhile, "
                    "open the journal read-only."
                )
            time.sleep(0.05)
        query = "SELECT pid, backend_start FROM pg_stat_activity WHERE pid = pg_backend_pid()"
        self._session = self._connection.execute(query).fetchone() or (0, None)

    def _holder(self) -> str:
        assert self._connection is not None
        found = self._connection.execute(
            "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
            "WHERE l.locktype = 'advisory' AND l.granted AND l.classid = %s AND l.objid = %s",
            (_LOCK, self._run),
        ).fetchone()
        return found[0].removeprefix("lakatos, ") if found and found[0] else "another process"

    def _errors(self, doing: str) -> "_TranslatedErrors":
        return _TranslatedErrors(self.address, doing)


class _TranslatedErrors:
    """Turns errors of the driver into ours, which say what, where and what to do."""

    def __init__(self, address: JournalAddress, doing: str) -> None:
        self.address, self.doing = address, doing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        psycopg = _driver()
        if not isinstance(error, psycopg.Error):
            return
        where, words = f"{self.doing} {self.address}", _first_line(error)
        if isinstance(error, psycopg.errors.DiskFull | psycopg.errors.OutOfMemory):
            raise JournalError(
                f"the database's disk or memory is full while {where}: {words}. Free some, then `lakatos resume`. What "
                "was recorded before is safe."
            ) from error
        if isinstance(error, psycopg.IntegrityError):
            raise JournalError(
                f"a change was refused while {where} ({words}); use what is recorded."
            ) from error
        if isinstance(
            error, psycopg.errors.InsufficientPrivilege | psycopg.errors.ReadOnlySqlTransaction
        ):
            problem = f"the database does not allow {where}: {words}. Grant it, or connect to the primary server."
            raise JournalError(problem) from error
        if isinstance(error, psycopg.errors.DataCorrupted | psycopg.errors.IndexCorrupted):
            raise ChainBrokenError(
                f"the database is damaged while {where}: {words}. Restore it from a copy."
            ) from error
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            raise JournalError(
                f"no answer from the database while {where}: {words}. Check that it runs and lets this machine in."
            ) from error
        raise JournalError(f"failed {where}: {words}.") from error


def _address_in(path: Path) -> JournalAddress:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise JournalError(
            f"there is no journal at {path}; check the folder, or create it."
        ) from None
    except (OSError, ValueError) as error:
        raise JournalError(
            f"cannot read {path}: {error}; it should hold the address of a journal."
        ) from error
    return read_address(text)


def _driver() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise JournalError(
            "a journal in PostgreSQL needs psycopg, which is not installed: `pip install 'lakatos[scale]'`."
        ) from error
    return psycopg


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).strip().splitlines()[:1]).rstrip(".") or type(error).__name__
