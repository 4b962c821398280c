"""A journal in one SQLite file: write-ahead log, one writer, a commit is on disk when `append` returns."""

import errno
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final, Self

from lakatos.traces.erasure import clear_free_pages
from lakatos.traces.errors import JournalError, LockedError, NewerFormatError, ReadOnlyError
from lakatos.traces.stores.store import EventRow
from lakatos.traces.system import FileLock, HeldLockError, sync_folder

FORMAT: Final = 1
_BATCH: Final = 256  # more do not stay in the processor's cache until they are looked at
_WRITING: Final = (
    "PRAGMA cache_size = -16384",
    "PRAGMA wal_autocheckpoint = 16000",
)
"""Settings of the connection that writes. Keys and digests come in no order, so that each commit changes pages all over
the indexes: 16 MiB of them stay in memory, and pages that are changed again and again are copied from the log every 64
MiB, not every 4. A commit is on disk, in the log, as before."""
_COLUMNS: Final = ", ".join(EventRow._fields)
_INSERT: Final = f"INSERT INTO event ({_COLUMNS}) VALUES ({','.join('?' * len(EventRow._fields))})"
_SCHEMA: Final = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE event (seq INTEGER PRIMARY KEY, time_utc TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, "
    "name TEXT NOT NULL, position TEXT NOT NULL, attempt INTEGER NOT NULL, inputs TEXT NOT NULL, body TEXT NOT NULL, "
    "record_digest TEXT NOT NULL, previous_hash TEXT NOT NULL, hash TEXT NOT NULL) STRICT",
    "CREATE UNIQUE INDEX event_result ON event (key) WHERE kind <> 'intent'",
    "CREATE INDEX event_intent ON event (key, attempt) WHERE kind = 'intent'",
    "CREATE INDEX event_record ON event (record_digest) WHERE kind <> 'intent'",
    "CREATE TRIGGER event_update BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END",
    "CREATE TRIGGER event_delete BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END",
    "CREATE TRIGGER meta_update BEFORE UPDATE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END",
    "CREATE TRIGGER meta_delete BEFORE DELETE ON meta BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END",
    # INSERT OR REPLACE deletes without firing the triggers above, so a conflicting row is refused before it conflicts.
    "CREATE TRIGGER event_insert BEFORE INSERT ON event "
    "WHEN NEW.seq <> (SELECT coalesce(max(seq), 0) + 1 FROM event) OR (NEW.kind <> 'intent' "
    "AND EXISTS (SELECT 1 FROM event WHERE key = NEW.key AND kind <> 'intent')) "
    "BEGIN SELECT RAISE(ABORT, 'the journal is append-only: wrong number, or a second result of one step'); END",
    "CREATE TRIGGER meta_insert BEFORE INSERT ON meta WHEN EXISTS (SELECT 1 FROM meta WHERE name = NEW.name) "
    "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END",
)


def problem_of(error: sqlite3.Error, path: Path, doing: str) -> str:
    """One line for people about an error of SQLite: what, where, what to do."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return f"disk is full while {doing} {path}; free space and `lakatos resume`. What was recorded before is safe."
    if code == sqlite3.SQLITE_IOERR:
        return (
            f"the disk failed while {doing} {path} ({error}); check the disk, its quota and the limit on file sizes, "
            "then `lakatos resume`. What was recorded before is safe."
        )
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return f"{path} is damaged or no database ({error}); restore it from a copy."
    if code == sqlite3.SQLITE_BUSY:
        return f"{path} is busy: another process holds it while {doing}; wait for it, or end that process."
    if code == sqlite3.SQLITE_CONSTRAINT:
        return (
            f"{path} refused a change while {doing} it ({error}); use the result that is recorded."
        )
    return f"failed {doing} {path}: {error}; check that the file and its folder can be read and written."


def check_format(meta: Mapping[str, str], place: object) -> None:
    """Raise where a journal's description names no format, or one of a newer version.

    Args:
        meta: As given to `create`, and the format.
        place: Place of the journal, for the message.

    Raises:
        NewerFormatError: It was written by a newer version.
        JournalError: It does not say which format it has.
    """
    found = meta.get("format", "")
    if not found.isascii() or not found.isdecimal():
        raise JournalError(f"{place} does not say which format it has; restore it from a copy.")
    if int(found) > FORMAT:
        raise NewerFormatError(
            f"{place} has format {found}, and this version of Lakatos reads up to {FORMAT}. Install a newer one."
        )


class WriterLock:
    """An advisory lock of the operating system, which ends with the process that holds it."""

    def __init__(self, path: Path) -> None:
        """Take the lock at ``path`` at once.

        Raises:
            LockedError: Another process, or another journal in this one, holds it.
            JournalError: The lock file cannot be made.
        """
        try:
            self._lock = FileLock(path)
        except HeldLockError as error:
            raise LockedError(
                f"{path.with_suffix('')} is being written by process {error or 'unknown'}. "
                "Wait for it or stop it; to look meanwhile, open the journal read-only."
            ) from error
        except OSError as error:
            if (
                isinstance(error, PermissionError)
                or error.errno == errno.EROFS
                or not path.exists()
            ):
                raise JournalError(
                    f"cannot make {path}: {error.strerror}; choose a folder that can be written."
                ) from error
            raise JournalError(
                f"cannot lock {path}: {error.strerror}; check the disk and its locks."
            ) from error

    def release(self) -> None:
        """Give the lock back; its file stays."""
        self._lock.release()


class SqliteStore:
    """Rows in a SQLite file; see `Store` for the contract of each method."""

    def __init__(self, path: Path, *, read_only: bool, lock: WriterLock | None = None) -> None:
        """Used by `create` and `open`."""
        self.path, self.read_only, self._lock = path, read_only, lock
        self._guard = threading.RLock()
        self._connection = None if read_only else _connect(path, "rw", _WRITING)

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> Self:
        """Make an empty store and hold it for writing."""
        # Made under another name and moved into place whole, so that a creation cut short leaves no half of a journal.
        made = path.with_name(path.name + ".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = WriterLock(_lock_path(path))
        except OSError as error:
            raise JournalError(
                f"cannot make {path.parent}: {error.strerror}; choose another folder."
            ) from error
        try:
            if path.exists() and path.stat().st_size:
                raise JournalError(
                    f"{path} already holds a journal; open it, or choose another folder."
                )
            for rest in (
                made,
                *(made.with_name(made.name + suffix) for suffix in ("-wal", "-shm", "-journal")),
            ):
                rest.unlink(missing_ok=True)
            os.close(
                os.open(made, os.O_RDWR | os.O_CREAT, 0o600)
            )  # its log and index take over the mode
            with closing(_connect(made, "rw")) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.executemany(
                    "INSERT INTO meta VALUES (?, ?)",
                    sorted({**meta, "format": str(FORMAT)}.items()),
                )
                connection.execute("COMMIT")
                connection.execute("PRAGMA journal_mode = WAL")
            made.replace(path)
            sync_folder(path.parent)
            return cls(path, read_only=False, lock=lock)
        except BaseException as error:
            lock.release()
            if isinstance(error, sqlite3.Error):
                raise JournalError(problem_of(error, path, "creating")) from error
            if isinstance(error, OSError):
                raise JournalError(
                    f"cannot make {path}: {error.strerror}; check the disk and the folder."
                ) from error
            raise

    @classmethod
    def open(cls, path: Path, *, read_only: bool) -> Self:
        """Open a store; for writing, hold its lock until `close`."""
        if not path.is_file():
            raise JournalError(f"there is no journal at {path}; check the folder, or create it.")
        lock = None if read_only else WriterLock(_lock_path(path))
        try:
            store = cls(path, read_only=read_only, lock=lock)
            store._check_format()
            if not read_only:
                sync_folder(path.parent)
            return store
        except BaseException as error:
            if lock is not None:
                lock.release()
            if isinstance(error, sqlite3.Error):
                raise JournalError(problem_of(error, path, "opening")) from error
            raise

    def _check_format(self) -> None:
        if not self._read("SELECT 1 FROM sqlite_schema WHERE name = 'meta'"):
            raise JournalError(
                f"{self.path} holds no journal: its creation was cut short, or it is another file. "
                "If it is empty, delete it and start again."
            )
        check_format(self.meta(), self.path)

    def meta(self) -> dict[str, str]:
        """Return what was given to `create`, and the format."""
        return dict(self._read("SELECT name, value FROM meta"))

    def append(self, row: EventRow) -> None:
        """Store ``row`` durably, whole or not at all."""
        with self._writing(_doing(row)) as connection:
            connection.execute(_INSERT, row)

    def append_all(self, rows: Sequence[EventRow]) -> None:
        """Store ``rows`` durably in one commit: all of them or none."""
        if not rows:
            return
        with self._writing(_doing(rows[0])) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(_INSERT, rows)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _writing(self, doing: str) -> Iterator[sqlite3.Connection]:
        if self._connection is None:
            raise ReadOnlyError(
                f"{self.path} is closed or open for reading only; open it for writing to record something."
            )
        try:
            with self._guard:
                yield self._connection
        except sqlite3.Error as error:
            raise JournalError(problem_of(error, self.path, doing)) from error

    def erase_rows(self, rows: Sequence[EventRow]) -> None:
        """Put ``rows`` in the place of those of the same numbers, and write the file anew."""
        refused = next(text for text in _SCHEMA if text.startswith("CREATE TRIGGER event_update"))
        changed = ", ".join(f"{name} = ?" for name in EventRow._fields[1:])
        with self._writing("erasing in") as connection:
            connection.execute("PRAGMA secure_delete = ON")
            if rows:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.execute("DROP TRIGGER event_update")
                    connection.executemany(
                        f"UPDATE event SET {changed} WHERE seq = ?",
                        [(*row[1:], row.seq) for row in rows],
                    )
                    connection.execute(refused)
                    connection.execute("COMMIT")
                except BaseException:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise
            if not clear_free_pages(connection):
                raise JournalError(
                    f"what was erased from {self.path} is still in its write-ahead log, because another program reads "
                    "it; end that program (such as `lakatos view`) and do this again."
                )

    def stored(self, after_seq: int = 0) -> Iterator[tuple[Any, ...]]:
        """Return the `rows`, with text as the bytes that are stored."""
        return chain.from_iterable(self._batches(after_seq, as_bytes=True))

    def rows(self, after_seq: int = 0) -> Iterator[EventRow]:
        """Rows after ``after_seq`` in order; rows appended meanwhile are included."""
        return map(EventRow._make, chain.from_iterable(self._batches(after_seq, as_bytes=False)))

    def _batches(self, after_seq: int, as_bytes: bool) -> Iterator[list[tuple[Any, ...]]]:
        """Rows after ``after_seq`` in order, `_BATCH` at a time."""
        query = f"SELECT {_COLUMNS} FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
        with closing(ApartReader(self.path)) as apart:
            while batch := self._read(query, after_seq, _BATCH, as_bytes=as_bytes, apart=apart):
                yield batch
                if batch[-1][0] <= after_seq:
                    raise JournalError(
                        f"{self.path} is damaged: its events are out of order; restore it from a copy."
                    )
                after_seq = batch[-1][0]

    def last(self) -> EventRow | None:
        """The newest row; None if there is no row yet."""
        return next(iter(self._select("ORDER BY seq DESC LIMIT 1")), None)

    def result(self, key: str) -> EventRow | None:
        """The result of a step, if it is recorded."""
        return next(iter(self._select("WHERE key = ? AND kind <> 'intent'", key)), None)

    def record(self, record_digest: str) -> EventRow | None:
        """The result with this record digest, if there is one."""
        return next(
            iter(
                self._select("WHERE record_digest = ? AND kind <> 'intent' LIMIT 1", record_digest)
            ),
            None,
        )

    def attempts(self, key: str) -> int:
        """The number of the last attempt that was begun for a step; 0 if none was."""
        found = self._read(
            "SELECT coalesce(max(attempt), 0) FROM event WHERE key = ? AND kind = 'intent'", key
        )
        return int(found[0][0])

    def problem(self) -> str | None:
        """SQLite's own check of the file, and whether tables and triggers are ours."""
        found = [str(text) for (text,) in self._read("PRAGMA integrity_check(3)")]
        if found != ["ok"]:
            return "SQLite finds the file damaged: " + "; ".join(found)
        schema = {
            text for (text,) in self._read("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        }
        if schema != set(_SCHEMA):
            changed = sorted(" ".join(text.split()[:4]) for text in schema ^ set(_SCHEMA))
            return "tables or triggers were changed: " + "; ".join(changed)
        return None

    def close(self) -> None:
        """Release the store and its lock."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
            self._connection, self.read_only = None, True
            if self._lock is not None:
                self._lock.release()
            self._lock = None

    def _select(self, condition: str, *values: object) -> list[EventRow]:
        return [
            EventRow._make(row)
            for row in self._read(f"SELECT {_COLUMNS} FROM event {condition}", *values)
        ]

    def _read(
        self,
        query: str,
        *values: object,
        as_bytes: bool = False,
        apart: "ApartReader | None" = None,
    ) -> list[Any]:
        try:
            if self._connection is not None:
                with self._guard, _damage():
                    self._connection.text_factory = bytes if as_bytes else _text
                    return self._connection.execute(query, values).fetchall()
            if apart is not None:
                return apart.read(query, values, as_bytes)
            return read_apart(self.path, query, values, as_bytes)
        except sqlite3.Error as error:
            raise JournalError(problem_of(error, self.path, "reading")) from error
        except OSError as error:
            raise JournalError(
                f"cannot read {self.path}: {error.strerror}; check the folder."
            ) from error


def _doing(row: EventRow) -> str:
    return f"writing {row.kind!r} of {row.name!r} to"


def _lock_path(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _text(data: bytes) -> str:
    """Bytes that are not UTF-8 must reach the audit, which names the row, instead of failing here without a name."""
    return data.decode("utf-8", "surrogateescape")


def _connect(path: Path, mode: str, settings: Sequence[str] = ()) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=10,
    )
    connection.text_factory = _text
    with _damage():
        for setting in ("PRAGMA synchronous = FULL", *settings):
            connection.execute(setting)
    return connection


@contextmanager
def _damage() -> Iterator[None]:
    """Python fails on a message of SQLite that quotes damaged text, and hides that the file is damaged."""
    try:
        yield
    except UnicodeDecodeError as error:
        damaged = sqlite3.DatabaseError("its text is damaged")
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged from error


def read_apart(
    path: Path, query: str, values: tuple[object, ...], as_bytes: bool = False
) -> list[Any]:
    """Rows of one query of `ApartReader`."""
    with closing(ApartReader(path)) as apart:
        return apart.read(query, values, as_bytes)


class ApartReader:
    """Reads a store without leaving a file behind and whoever writes meanwhile.

    An ordinary read-only connection makes the files of the write-ahead log and cannot remove them. So a journal at
    rest is read as immutable, again if it turns out that someone wrote meanwhile, and one in use in the ordinary way.
    """

    def __init__(self, path: Path) -> None:
        """Read the store at ``path``."""
        self.path = path
        self._log = f"{path}-wal"
        """Path of SQLite's log beside the file, which is there while a program writes."""
        self._connection: sqlite3.Connection | None = None
        self._seen: tuple[int, int, int] | None = None
        """State of the file when the connection, which is kept while no program writes, was made."""

    def read(self, query: str, values: tuple[object, ...], as_bytes: bool = False) -> list[Any]:
        """Rows of a query; no file is left beside the database.

        Raises:
            sqlite3.Error: The file is none of SQLite's, or damaged.
            OSError: It cannot be read.
        """
        while True:
            at_rest = not os.path.exists(self._log)  # a `Path` made anew takes longer than to look
            before = _mark(self.path)
            failed: sqlite3.Error | None = None
            found: list[Any] = []
            try:
                if self._connection is None or self._seen != before:
                    self.close()
                    self._connection = _connect(self.path, "ro&immutable=1" if at_rest else "ro")
                    self._seen = before
                self._connection.text_factory = bytes if as_bytes else _text
                with _damage():
                    found = self._connection.execute(query, values).fetchall()
            except sqlite3.Error as error:
                failed = error
            after = _mark(self.path)
            if not at_rest or failed is not None or before != after:
                self.close()
            if not at_rest or before == after:
                if failed is not None:
                    raise failed
                return found

    def close(self) -> None:
        """Close the connection, if one is open."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def _mark(path: Path) -> tuple[int, int, int]:
    """Return what changes when another program writes a file."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino
