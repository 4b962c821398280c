"""Rows of a journal as somebody would forge them who knows this code."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from traces import standalone
from traces.journal import Journal, stored_of
from traces.step import JOURNAL_FILE
from traces.stores.store import Row


def _rehashed(row: Row, previous_hash: str) -> Row:
    """A row chained to the one before it, with every digest computed anew."""
    row = row._replace(previous_hash=previous_hash)
    row = row._replace(record_digest=standalone.record_digest_of(stored_of(row)).decode())
    return row._replace(hash=standalone.hash_of(stored_of(row)).decode())


@contextmanager
def tampering(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database without its triggers, which are put back at the end, as a careful forger would."""
    with closing(sqlite3.connect(folder / JOURNAL_FILE, isolation_level=None)) as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        yield database
        for _, sql in triggers:
            database.execute(sql)


def rewrite(folder: Path, seq: int, change: Callable[[Row], Row]) -> None:
    """Change one event and compute every digest from there on anew."""
    with closing(Journal.open(folder / JOURNAL_FILE, read_only=True)) as journal:
        rows = list(journal.store.rows())
    with tampering(folder) as database:
        previous = rows[0].previous_hash
        for row in rows:
            row = _rehashed(change(row) if row.seq == seq else row, previous)
            previous = row.hash
            database.execute("DELETE FROM event WHERE seq = ?", (row.seq,))
            database.execute(f"INSERT INTO event VALUES ({','.join('?' * len(row))})", row)
