"""The inbox: where the participant page, pollers and imports leave batches for the next pass.

It is a database of its own because only the pass writes the journal, and because it is the only place that may hold
identifiers of people. Several processes can deliver while a pass reads.
"""

import json
import os
import platform
import secrets
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, canonical_json, digest_bytes, digest_of
from lakatos.traces.erasure import clear_free_pages, everything_in, is_gone, values_in
from lakatos.traces.errors import InboxError
from lakatos.traces.stores.sqlite import problem_of

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS batch (number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, source TEXT NOT NULL, "
    "batch_key TEXT NOT NULL, payload_digest TEXT NOT NULL, payload BLOB, delivered_utc TEXT NOT NULL, taken_utc TEXT, "
    "salt TEXT NOT NULL DEFAULT '', UNIQUE (source, batch_key)) STRICT"
)
WAIT_S = 30.0
"""Seconds that another program that uses the file is waited for."""
PLACE_FILE: Final = "inbox.place"
"""File that marks the one folder that has the inbox of a run whose journal is elsewhere."""
_SALT_ADDED: Final = "ALTER TABLE batch ADD COLUMN salt TEXT NOT NULL DEFAULT ''"


@dataclass(frozen=True)
class InboxBatch:
    """One delivery of responses that waits in the inbox."""

    digest: Digest
    """Name of the batch: of its source, key, payload and salt."""
    source: str
    """Name of the source that delivered it."""
    batch_key: str
    """Key of the batch at its source; a source delivers a key once."""
    payload: bytes
    delivered_utc: str
    salt: str
    """Keeps digests of equal payloads apart, and unguessable once the batch is erased."""

    def json(self) -> Any:
        """The payload of a batch that was delivered as JSON."""
        return json.loads(self.payload)


class Inbox:
    """A durable queue of batches, each delivered once and taken once."""

    def __init__(self, path: Path, *, make: bool = True) -> None:
        """Use the inbox at ``path``; made if it is not there, readable for its owner only.

        Args:
            path: Path of the file.
            make: False to only read: an inbox that is not there is empty then, and stays away.

        Raises:
            InboxError: It cannot be made or read.
        """
        self.path, self.is_absent = Path(path), not (make or Path(path).exists())
        if self.is_absent:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise InboxError(
                f"cannot make the inbox {self.path}: {error.strerror}; choose another folder."
            ) from error
        with self._connection("opening") as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_SCHEMA)
            if "salt" not in {row[1] for row in connection.execute("PRAGMA table_info(batch)")}:
                connection.execute(_SALT_ADDED)

    def deliver(
        self,
        source: str,
        payload: bytes | Mapping[str, Any],
        *,
        batch_key: str,
        salt: str | None = None,
    ) -> Digest:
        """Leave a batch; it is on disk when this returns.

        Delivering the same again changes nothing, nor does delivering anew what was erased.

        Args:
            source: Who delivers.
            payload: The batch.
            batch_key: What the source calls it.
            salt: Random by default; give one only where nobody's responses are at stake and runs must be repeatable.

        Raises:
            InboxError: The source delivered another content under this key, or the disk is full or fails.
            RecordError: The payload is not JSON.
        """
        return self.deliver_all(source, [(payload, batch_key)], salt=salt)[0]

    def deliver_all(
        self,
        source: str,
        batches: Sequence[tuple[bytes | Mapping[str, Any], str]],
        *,
        salt: str | None = None,
    ) -> list[Digest]:
        """Leave several batches, each with its key: all of them or, where one is refused, none.

        Raises:
            InboxError: As for `deliver`.
            RecordError: A payload is not JSON.
        """
        with self._connection("delivering to") as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                digests = [
                    _insert(connection, source, payload, key, salt) for payload, key in batches
                ]
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
        return digests

    def pending(self) -> list[InboxBatch]:
        """Batches that were not taken yet, in the order of their arrival."""
        return self._select("taken_utc IS NULL AND payload IS NOT NULL")

    def stored(self) -> list[InboxBatch]:
        """Batches whose payload is here, taken or not, in the order of their arrival."""
        return self._select("payload IS NOT NULL")

    def erased_keys(self) -> list[str]:
        """Keys of batches whose payload was erased, which may be all that is left of an erasure that was cut short."""
        if self.is_absent:
            return []
        with self._connection("reading") as connection:
            rows = connection.execute("SELECT batch_key FROM batch WHERE payload IS NULL")
            return [str(key) for (key,) in rows]

    def _select(self, condition: str) -> list[InboxBatch]:
        if self.is_absent:
            return []
        with self._connection("reading") as connection:
            rows = connection.execute(
                "SELECT digest, source, batch_key, payload, delivered_utc, salt FROM batch "
                f"WHERE {condition} ORDER BY number"
            ).fetchall()
        return [InboxBatch(*row) for row in rows]

    def mark_taken(self, digest: Digest) -> None:
        """Say that a batch is in the journal, so that it is not pending any more; saying it again changes nothing.

        Raises:
            InboxError: There is no such batch.
        """
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        self._change(
            "UPDATE batch SET taken_utc = coalesce(taken_utc, ?) WHERE digest = ?", now, digest
        )

    def erase(self, *digests: Digest) -> None:
        """Overwrite payloads, their digests and the salts of batches, for a person who withdraws.

        That they were delivered stays known; what is left tells nothing about the payloads, not even to somebody who
        tries all that they could have been. The file is written anew and searched before this returns. Without
        digests, what an erasure that was cut short has left in the file goes.

        Raises:
            InboxError: There is no such batch, or another program is at work, so that a payload could still be found
                in the file; erase it again then.
        """
        with self._connection("erasing in") as connection:
            marks = ", ".join("?" * len(digests))
            erased = values_in(
                connection,
                f"SELECT payload, payload_digest, salt FROM batch WHERE digest IN ({marks})",
                *digests,
            )
            for digest in digests:
                self._change(
                    "UPDATE batch SET payload = NULL, payload_digest = '', salt = '' WHERE digest = ?",
                    digest,
                )
            if not clear_free_pages(connection):
                raise InboxError(
                    f"what was erased from {self.path} is still in its write-ahead log, because another program reads "
                    "it; end that program and do this again."
                )
            if not is_gone(self.path, erased, everything_in(connection)):
                raise InboxError(
                    f"what was erased from {self.path} can still be found in the file; do this again while no other "
                    "program uses it."
                )

    def _change(self, statement: str, *values: str) -> None:
        with self._connection("writing") as connection:
            if connection.execute(statement, values).rowcount == 0:
                raise InboxError(
                    f"no batch {values[-1]} in {self.path}; take digests from `pending`."
                )

    @contextmanager
    def _connection(self, doing: str) -> Iterator[sqlite3.Connection]:
        try:
            # One connection per use: it may come from any thread or process.
            connection = sqlite3.connect(self.path, isolation_level=None, timeout=WAIT_S)
            try:
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA secure_delete = ON")
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise InboxError(problem_of(error, self.path, doing)) from error


def claim_place(folder: Path) -> str:
    """Make ``folder`` the one that collects for a run; returns what the run has to remember, see `check_place`."""
    place = f"{secrets.token_hex(8)} {platform.node()}:{folder.resolve()}"
    write_whole(folder / PLACE_FILE, place.encode())
    return place


def check_place(folder: Path, place: str) -> None:
    """Refuse a folder that names a run's journal elsewhere, but is not the one that collects for the run.

    Two inboxes would be two truths: a pass beside one of them would never see what the other holds, and one person's
    answers could come in through both, under two pseudonyms.

    Raises:
        InboxError: ``folder`` is not the one that gave ``place``.
    """
    try:
        found = (folder / PLACE_FILE).read_text(encoding="utf-8")
    except OSError:
        found = ""
    if found != place:
        raise InboxError(
            f"people answer the run of {folder} in another folder, {place.partition(' ')[2]}, which has its inbox: let "
            "passes, page and imports work there, or share that folder. Here the run can be read only. If that folder "
            f"is lost, with all that no pass has taken: `printf %s {shlex.quote(place)} > {folder / PLACE_FILE}`."
        )


def _insert(
    connection: sqlite3.Connection,
    source: str,
    payload: bytes | Mapping[str, Any],
    batch_key: str,
    salt: str | None,
) -> Digest:
    data = payload if isinstance(payload, bytes) else canonical_json(dict(payload))
    payload_digest = digest_bytes(data)
    salt = secrets.token_hex(16) if salt is None else salt
    digest = digest_of(
        {"source": source, "batch_key": batch_key, "payload": payload_digest, "salt": salt}
    )
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    connection.execute(
        "INSERT INTO batch (digest, source, batch_key, payload_digest, payload, delivered_utc, salt) "
        "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (digest, source, batch_key, payload_digest, data, now, salt),
    )
    found = connection.execute(
        "SELECT digest, payload_digest FROM batch WHERE source = ? AND batch_key = ?",
        (source, batch_key),
    ).fetchone()
    if found[1] not in (payload_digest, ""):
        raise InboxError(
            f"source {source!r} delivered batch {batch_key!r} before with another content; the first one stands. "
            "Deliver a correction under a new key."
        )
    return str(found[0])
