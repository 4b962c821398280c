"""The inbox: where the participant page, pollers and imports leave batches for the next pass.

It is a database of its own because only the pass writes the journal, and because it is the only place that may hold
identifiers of people. Several processes can deliver while a pass reads.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from traces.digest import Digest, canonical_json, digest_bytes, digest_of
from traces.errors import InboxError
from traces.stores.sqlite import problem_of

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS batch (number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, source TEXT NOT NULL, "
    "batch_key TEXT NOT NULL, payload_digest TEXT NOT NULL, payload BLOB, delivered_utc TEXT NOT NULL, taken_utc TEXT, "
    "UNIQUE (source, batch_key)) STRICT"
)


@dataclass(frozen=True)
class Batch:
    """One delivery."""

    digest: Digest
    """Name of the batch: of its source, key and payload."""
    source: str
    """Who delivered it."""
    batch_key: str
    """What the source calls it; a source delivers a key once."""
    payload: bytes
    delivered_utc: str

    def json(self) -> Any:
        """The payload of a batch that was delivered as JSON."""
        return json.loads(self.payload)


class Inbox:
    """A durable queue of batches, each delivered once and taken once."""

    def __init__(self, path: Path) -> None:
        """Use the inbox at ``path``; made if it is not there, readable for its owner only.

        Raises:
            InboxError: It cannot be made or read.
        """
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise InboxError(f"cannot make the inbox {self.path}: {error.strerror}; choose another folder.") from error
        with self._connection("opening") as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_SCHEMA)

    def deliver(self, source: str, payload: bytes | Mapping[str, Any], *, batch_key: str) -> Digest:
        """Leave a batch; it is on disk when this returns. Delivering the same again changes nothing.

        Raises:
            InboxError: The source delivered another content under this key, or the disk is full or fails.
            RecordError: The payload is not JSON.
        """
        data = payload if isinstance(payload, bytes) else canonical_json(dict(payload))
        payload_digest = digest_bytes(data)
        digest = digest_of({"source": source, "batch_key": batch_key, "payload": payload_digest})
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        with self._connection("delivering to") as connection:
            connection.execute(
                "INSERT INTO batch (digest, source, batch_key, payload_digest, payload, delivered_utc) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (digest, source, batch_key, payload_digest, data, now),
            )
            found = connection.execute(
                "SELECT digest FROM batch WHERE source = ? AND batch_key = ?", (source, batch_key)
            ).fetchone()
        if found[0] != digest:
            raise InboxError(
                f"source {source!r} delivered batch {batch_key!r} before with another content; the first one stands. "
                "Deliver a correction under a new key."
            )
        return digest

    def pending(self) -> list[Batch]:
        """Batches that were not taken yet, in the order of their arrival."""
        with self._connection("reading") as connection:
            rows = connection.execute(
                "SELECT digest, source, batch_key, payload, delivered_utc FROM batch "
                "WHERE taken_utc IS NULL AND payload IS NOT NULL ORDER BY number"
            ).fetchall()
        return [Batch(*row) for row in rows]

    def mark_taken(self, digest: Digest) -> None:
        """Say that a batch is in the journal, so that it is not pending any more; saying it again changes nothing.

        Raises:
            InboxError: There is no such batch.
        """
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        self._change("UPDATE batch SET taken_utc = coalesce(taken_utc, ?) WHERE digest = ?", now, digest)

    def erase(self, digest: Digest) -> None:
        """Overwrite the payload of a batch, for a person who withdraws; that it was delivered stays known.

        Raises:
            InboxError: There is no such batch.
        """
        self._change("UPDATE batch SET payload = NULL WHERE digest = ?", digest)
        with self._connection("erasing in") as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _change(self, statement: str, *values: str) -> None:
        with self._connection("writing") as connection:
            if connection.execute(statement, values).rowcount == 0:
                raise InboxError(f"no batch {values[-1]} in {self.path}; take digests from `pending`.")

    @contextmanager
    def _connection(self, doing: str) -> Iterator[sqlite3.Connection]:
        try:
            # One connection per use: it may come from any thread or process.
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise InboxError(problem_of(error, self.path, doing)) from error
