"""The journal: what happened in a run, in order, each event chained to the one before by its hash.

A record has two names. Its *record digest* depends on what was recorded only, so it is the same in a run that crashed
and resumed; later records cite it. The *hash* of the event binds that digest to its place and time in this journal.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from traces.digest import Digest, canonical_json, digest_bytes, digest_of, is_digest
from traces.errors import ChainBrokenError, JournalError, RecordError
from traces.stores import STORES
from traces.stores.store import Row, Store

INTENT: Final = "intent"
"""The kind of the event that is written before a step runs."""

_EVENT_TAG: Final = "lakatos-event-1"
_START_TAG: Final = "lakatos-journal-1"


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a journal."""

    seq: int
    """Place in the journal, from 1, without gaps."""
    time_utc: str
    """When it was written, ISO 8601."""
    kind: str
    """Kind of the record, or `INTENT`."""
    key: Digest
    """Key of the step that it belongs to."""
    name: str
    """Name of that step."""
    position: Mapping[str, int | str]
    """Position of that step: cycle, role, sample number."""
    attempt: int
    """How often that step was begun, this time included."""
    inputs: tuple[Digest, ...]
    """Records and artifacts that it was derived from."""
    body: dict[str, Any]
    """The record as JSON."""
    record_digest: Digest
    """Name of the record, the same whenever and however often the step ran."""
    previous_hash: Digest
    """Hash of the event before, or what the journal starts from."""
    hash: Digest
    """Seals this event and, through ``previous_hash``, all before it."""


class Journal:
    """An append-only list of events with one writer; a context manager that closes it."""

    def __init__(self, store: Store) -> None:
        """Use `Journal.create` or `Journal.open`.

        Raises:
            ChainBrokenError: The newest event does not fit its hash, so nothing may be written after it.
        """
        self._store = store
        self._guard = threading.RLock()
        last = store.last()
        if last is not None and not store.read_only and (problem := fault(last)):
            raise ChainBrokenError(f"{place(last)} of {store.path} {problem}; run `lakatos audit` before going on.")
        self._head = (0, start_of(store.meta())) if last is None else (last.seq, last.hash)

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, Any], *, store: str = "sqlite") -> Self:
        """Make an empty journal; the first event is chained to ``meta``.

        Raises:
            JournalError: There is a journal already, or it cannot be written.
        """
        return cls(STORES[store].create(Path(path), {"meta": canonical_json(dict(meta)).decode()}))

    @classmethod
    def open(cls, path: Path, read_only: bool = False, *, store: str = "sqlite") -> Self:
        """Open a journal; reading alone writes no file and can go on while another process writes.

        Raises:
            JournalError: There is none, or it cannot be read.
            LockedError: Another process is writing it.
            NewerFormatError: It was written by a newer version.
            ChainBrokenError: Its newest event does not fit its hash.
        """
        opened = STORES[store].open(Path(path), read_only=read_only)
        try:
            return cls(opened)
        except BaseException:
            opened.close()
            raise

    @property
    def path(self) -> Path:
        """Where the journal is stored."""
        return self._store.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be appended."""
        return self._store.read_only

    @property
    def store(self) -> Store:
        """The rows underneath, for the audit."""
        return self._store

    @property
    def meta(self) -> dict[str, Any]:
        """What was given to `create`."""
        return meta_of(self._store.meta())

    @property
    def head(self) -> tuple[int, Digest]:
        """Number and hash of the newest event; an empty journal has number 0."""
        if self.read_only and (last := self._store.last()) is not None:
            self._head = (last.seq, last.hash)
        return self._head

    def append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        key: Digest,
        name: str,
        position: Mapping[str, int | str],
        inputs: Sequence[Digest],
        attempt: int = 1,
    ) -> Event:
        """Write an event; it is on disk when this returns.

        Raises:
            RecordError: The key or an input is no digest, or something is not JSON.
            ReadOnlyError: The journal was opened for reading.
            JournalError: The disk is full or fails, or the step has a result already. Nothing was written.
        """
        for digest in (key, *inputs):
            if not is_digest(digest):
                raise RecordError(f"{digest!r} in step {name!r} is no digest: give 64 lower-case hexadecimal digits.")
        with self._guard:
            seq, previous_hash = self._head
            row = Row(
                seq=seq + 1,
                time_utc=datetime.now(UTC).isoformat(timespec="microseconds"),
                kind=kind,
                key=key,
                name=name,
                position=canonical_json(dict(position)).decode(),
                attempt=attempt,
                inputs=canonical_json(list(inputs)).decode(),
                body=canonical_json(dict(body)).decode(),
                record_digest="",
                previous_hash=previous_hash,
                hash="",
            )
            row = row._replace(record_digest=record_digest_of(row))
            row = row._replace(hash=hash_of(row))
            self._store.append(row)
            self._head = (row.seq, row.hash)
        return event_of(row)

    def events(self, after_seq: int = 0) -> Iterator[Event]:
        """Events after number ``after_seq``, each checked against its hash and the one before.

        Raises:
            ChainBrokenError: An event was changed, dropped or moved.
        """
        previous: Row | None = None
        for row in self._store.rows(after_seq):
            problem = fault(row)
            if problem is None and previous is not None:
                problem = link_fault(row, previous.seq, previous.hash)
            elif problem is None and after_seq == 0:
                problem = link_fault(row, 0, start_of(self._store.meta()))
            if problem:
                raise ChainBrokenError(
                    f"{place(row)} of {self.path} {problem}; run `lakatos audit` for the whole story."
                )
            previous = row
            yield event_of(row)

    def find(self, key: Digest) -> Event | None:
        """The result of the step with this key; None if it has none yet, begun or not."""
        return self._checked(self._store.result(key))

    def find_record(self, record_digest: Digest) -> Event | None:
        """The event that holds the record of this digest."""
        return self._checked(self._store.record(record_digest))

    def attempts(self, key: Digest) -> int:
        """How often the step with this key was begun."""
        return self._store.attempts(key)

    def close(self) -> None:
        """Let others write."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _checked(self, row: Row | None) -> Event | None:
        if row is None:
            return None
        if problem := fault(row):
            raise ChainBrokenError(f"{place(row)} of {self.path} {problem}; run `lakatos audit` for the whole story.")
        return event_of(row)


def record_digest_of(row: Row) -> Digest:
    """Digest of ``{body, inputs, key, kind}``, taken from the stored bytes, so that any changed byte shows."""
    return digest_bytes(
        b'{"body":%b,"inputs":%b,"key":%b,"kind":%b}'
        % (_bytes(row.body), _bytes(row.inputs), _quoted(row.key), _quoted(row.kind))
    )


def hash_of(row: Row) -> Digest:
    """Digest of the list of everything else that the event says, with a tag for the version of this encoding."""
    head = (_quoted(_EVENT_TAG), b"%d" % row.seq, _quoted(row.time_utc), b"%d" % row.attempt, _quoted(row.name))
    tail = (_bytes(row.position), _quoted(row.record_digest), _quoted(row.previous_hash))
    return digest_bytes(b"[%b]" % b",".join(head + tail))


def start_of(stored_meta: Mapping[str, str]) -> Digest:
    """What the first event is chained to."""
    entries = (_quoted(text) for item in sorted(stored_meta.items()) for text in item)
    return digest_bytes(b"[%b]" % b",".join((_quoted(_START_TAG), *entries)))


def meta_of(stored_meta: Mapping[str, str]) -> dict[str, Any]:
    """The description that a journal was created with."""
    try:
        meta = json.loads(stored_meta["meta"])
    except (KeyError, ValueError) as error:
        raise JournalError("the description of the journal was damaged; restore it from a copy.") from error
    if not isinstance(meta, dict):
        raise JournalError("the description of the journal is no JSON object; restore it from a copy.")
    return meta


def fault(row: Row) -> str | None:
    """What is wrong with one row by itself; None if nothing is."""
    if row.record_digest != record_digest_of(row):
        return "was changed: its record does not hash to its record digest"
    if row.hash != hash_of(row):
        return "was changed: its time, name, place or digests do not fit its hash"
    return None


def link_fault(row: Row, previous_seq: int, previous_hash: Digest) -> str | None:
    """What is wrong between a row and the one before it; None if nothing is."""
    if row.seq != previous_seq + 1:
        return f"follows event {previous_seq}: events between them are missing"
    if row.previous_hash != previous_hash:
        return "is not chained to what stands before it: something was changed, dropped or moved"
    return None


def place(row: Row | Event) -> str:
    """Words for which event this is."""
    name = row.name.encode(errors="replace").decode()
    return f"event {row.seq} ({row.kind.encode(errors='replace').decode()} of {name!r})"


def event_of(row: Row) -> Event:
    """The event that a row holds.

    Raises:
        ChainBrokenError: The row holds none; only a forged one can, if it fits its hash.
    """
    try:
        position, inputs, body = json.loads(row.position), json.loads(row.inputs), json.loads(row.body)
        if not (isinstance(position, dict) and isinstance(body, dict) and all(map(is_digest, inputs))):
            raise ValueError("its position, inputs or body are of another form")
    except (TypeError, ValueError) as error:
        raise ChainBrokenError(f"{place(row)} cannot be read ({error}); restore the journal from a copy.") from error
    values = row._asdict() | {"position": position, "inputs": tuple(inputs), "body": body}
    return Event(**values)


def step_key(name: str, inputs: Sequence[Digest], position: Mapping[str, int | str]) -> Digest:
    """The key of a step: its name, its inputs in the given order, and its position."""
    return digest_of({"name": name, "inputs": list(inputs), "position": dict(position)})


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _quoted(text: str) -> bytes:
    return _bytes(json.dumps(text, ensure_ascii=False))
