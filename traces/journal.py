"""The journal: what happened in a run, in order, each event chained to the one before by its hash.

A record has two names. Its *record digest* depends on what was recorded only, so it is the same in a run that crashed
and resumed; later records cite it. The *hash* of the event binds that digest to its place and time in this journal.
"""

import json
import secrets
import threading
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from lakatos.traces import standalone
from lakatos.traces.apart import APART, ERASED, SALT, BodiesApart, erased_body, pointer_to, told_by
from lakatos.traces.digest import Digest, canonical_json, digest_of, is_digest
from lakatos.traces.errors import ChainBrokenError, JournalError, RecordError
from lakatos.traces.stores import located, store_of
from lakatos.traces.stores.store import EventRow, EventStore

INTENT: Final = "intent"
"""The kind of the event that is written before a step runs."""
N_RANDOM: Final = 36
"""Random digits behind the microseconds of a row that may be erased."""
_read: Final = json.JSONDecoder().decode
_TYPES: Final = tuple(int if name in ("seq", "attempt") else str for name in EventRow._fields)


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a journal."""

    seq: int
    """Place in the journal, from 1, without gaps."""
    time_utc: str
    """Time at which it was written, ISO 8601."""
    kind: str
    """Kind of the record, or `INTENT`."""
    key: Digest
    """Key of the step that it belongs to."""
    name: str
    """Name of that step."""
    position: Mapping[str, int | str]
    """Position of that step: cycle, role, sample number."""
    attempt: int
    """Number of times that step was begun, this time included."""
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
    apart: Digest | None = None
    """Artifact that holds the body, erased or not; None where the body stands in the journal."""

    @property
    def is_bare(self) -> bool:
        """Whether an erasure has left nothing but the event's number, record digest and hashes."""
        return self.kind == ERASED and not self.time_utc


@dataclass(frozen=True, slots=True)
class EventEntry:
    """Content to be written as one event; fields as of `Event`."""

    kind: str
    body: Mapping[str, Any]
    key: Digest
    name: str
    position: Mapping[str, int | str]
    inputs: Sequence[Digest]
    attempt: int = 1
    apart: Digest | None = None
    """Artifact that holds the body already, for a copy of an event."""


class Journal:
    """An append-only list of events with one writer; a context manager that closes it."""

    def __init__(self, store: EventStore) -> None:
        """Take an open store; use `Journal.create` or `Journal.open` instead.

        Raises:
            ChainBrokenError: The newest event does not fit its hash, so nothing may be written after it.
        """
        self._store = store
        self._guard = threading.RLock()
        last = store.last()
        if last is not None and not store.read_only and (problem := fault(last)):
            raise ChainBrokenError(
                f"{place(last)} of {store.path} {problem}; run `lakatos audit` before going on."
            )
        self._head = (0, start_of(store.meta())) if last is None else (last.seq, last.hash)
        self._apart = BodiesApart.of(store.path.parent, meta_of(store.meta()))

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, Any]) -> Self:
        """Make an empty journal at ``path``, or where the address beside it says; it is chained to ``meta``.

        Raises:
            JournalError: There is a journal already, or it cannot be written.
        """
        where = located(Path(path))
        return cls(store_of(where).create(where, {"meta": canonical_json(dict(meta)).decode()}))

    @classmethod
    def open(cls, path: Path, read_only: bool = False) -> Self:
        """Open a journal; reading alone writes no file and can go on while another process writes.

        Raises:
            JournalError: There is none, or it cannot be read.
            LockedError: Another process is writing it.
            NewerFormatError: It was written by a newer version.
            ChainBrokenError: Its newest event does not fit its hash.
        """
        where = located(Path(path))
        opened = store_of(where).open(where, read_only=read_only)
        try:
            return cls(opened)
        except BaseException:
            opened.close()
            raise

    @property
    def path(self) -> Path:
        """Path of the file or address in which the journal is stored."""
        return self._store.path

    @property
    def read_only(self) -> bool:
        """Whether nothing can be appended."""
        return self._store.read_only

    @property
    def store(self) -> EventStore:
        """The rows underneath, for the audit."""
        return self._store

    @property
    def meta(self) -> dict[str, Any]:
        """Description that was given to `create`."""
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
        apart: Digest | None = None,
    ) -> Event:
        """Write an event; it is on disk when this returns.

        Raises:
            RecordError: The key or an input is no digest, or something is not JSON.
            ReadOnlyError: The journal was opened for reading.
            JournalError: The disk is full or fails, or the step has a result already. Nothing was written.
        """
        entry = EventEntry(
            kind,
            body,
            key=key,
            name=name,
            position=position,
            inputs=inputs,
            attempt=attempt,
            apart=apart,
        )
        return _written(entry, self._write([entry])[0])

    def append_all(self, entries: Sequence[EventEntry]) -> list[Digest]:
        """Write events that happened together, in order and in one commit: all are on disk when this returns, or none.

        An intent must be on disk before its work begins, so it can share a commit with what came before it, never with
        the result of its own step.

        Returns:
            Digests of the records, in order.

        Raises:
            RecordError: As for `append`; nothing was written.
            ReadOnlyError: The journal was opened for reading.
            JournalError: As for `append`; nothing was written.
        """
        return [row.record_digest for row in self._write(entries)]

    def _write(self, entries: Sequence[EventEntry]) -> list[EventRow]:
        for entry in entries:
            for digest in (entry.key, *entry.inputs):
                if not is_digest(digest):
                    raise RecordError(
                        f"{digest!r} in step {entry.name!r} is no digest: give 64 lower-case hexadecimal digits."
                    )
        with self._guard:
            if self._apart is not None:
                self._apart.learn(self._store.rows())
                entries = [self._put_apart(entry, self._apart) for entry in entries]
            rows = _rows(entries, *self._head, is_random=self._apart is not None)
            if len(rows) == 1:
                self._store.append(rows[0])
            else:
                self._store.append_all(rows)
            if rows:
                self._head = (rows[-1].seq, rows[-1].hash)
            if self._apart is not None:
                for entry, row in zip(entries, rows, strict=True):
                    self._apart.note(entry.kind, entry.inputs, row.record_digest)
        return rows

    @staticmethod
    def _put_apart(entry: EventEntry, apart: BodiesApart) -> EventEntry:
        """The entry, naming the artifact of its body where that is kept apart; an intent with a salt instead."""
        if entry.kind == INTENT:
            salted = {**entry.body, SALT: apart.salt(entry.key)}
            return replace(entry, body=salted) if apart.derives(entry.inputs) else entry
        if entry.apart is None and apart.takes(entry.kind, entry.inputs):
            return replace(entry, apart=apart.put(entry.key, canonical_json(dict(entry.body))))
        return entry

    def events(self, after_seq: int = 0) -> Iterator[Event]:
        """Events after number ``after_seq``, each checked against its hash and the one before.

        Raises:
            ChainBrokenError: An event was changed, dropped or moved.
        """
        expected = None if after_seq else start_of(self._store.meta()).encode()
        try:
            for row in standalone.sound(self._store.stored(after_seq), after_seq, expected):
                yield self._resolved(event_of_stored(row))
        except standalone.ChainFaultError as error:
            raise ChainBrokenError(
                f"{place_of_stored(error.row)} of {self.path} {error.problem}; run `lakatos audit` for the whole story."
            ) from None

    def find(self, key: Digest) -> Event | None:
        """The result of the step with this key; None if it has none yet, begun or not."""
        return self._checked(self._store.result(key))

    def find_record(self, record_digest: Digest) -> Event | None:
        """The event that holds the record of this digest."""
        return self._checked(self._store.record(record_digest))

    def attempts(self, key: Digest) -> int:
        """Count how often the step with this key was begun."""
        return self._store.attempts(key)

    def close(self) -> None:
        """Close the store, so that another process can write."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _checked(self, row: EventRow | None) -> Event | None:
        if row is None:
            return None
        if problem := fault(row):
            raise ChainBrokenError(
                f"{place(row)} of {self.path} {problem}; run `lakatos audit` for the whole story."
            )
        return self._resolved(event_of(row))

    def _resolved(self, event: Event) -> Event:
        """The event with its body, where that is kept apart; of kind `ERASED` where it was erased."""
        return resolved(event, self._apart)

    def whole(self, row: EventRow) -> EventRow:
        """A row with the body of its record, from where it is kept apart."""
        if self._apart is None or row.kind == INTENT:
            return row
        event = self._resolved(event_of(row))
        if event.apart is None:
            return row
        return row._replace(kind=event.kind, body=canonical_json(event.body).decode())

    def erase(
        self, records: Iterable[Digest], *, named: Container[str] = (), sweep: bool = False
    ) -> int:
        """Erase the bodies of records that are kept apart, and the artifacts that nothing else names.

        Returns the number of bodies; 0 for a journal whose bodies all stand in it. Doing it again changes nothing. With
        ``sweep``, artifacts that nothing names are erased although no body is left to erase.

        Raises:
            ArtifactError: An artifact cannot be removed.
        """
        if self._apart is None:
            return 0
        with self._guard:
            return self._apart.erase(
                set(records),
                [row for row in self._store.rows() if row.kind != INTENT],
                self._store.meta()["meta"],
                named=named,
                sweep=sweep,
            )

    def unnamed(self, made: Mapping[Digest, Digest], gone: Container[Digest]) -> set[Digest]:
        """Find the records whose result no other record that stays names.

        Args:
            made: What a record made, by the record's digest.
            gone: Records that do not stay.
        """
        if self._apart is None:
            return set()
        left = set(made)
        rows = [row for row in self._store.rows() if row.kind != INTENT]
        while True:
            staying = (row for row in rows if row.record_digest not in gone)
            texts = (told_by(row) for row in staying if row.record_digest not in left)
            named = self._apart.named_by("\n".join(texts))
            if left == (fewer := {record for record in left if made[record] not in named}):
                return left
            left = fewer

    def erasable(self, records: Container[Digest], named: Container[str] = ()) -> list[EventRow]:
        """Rows of records whose bodies were erased, and of the beginnings of their steps, in order.

        Args:
            records: Digests of the records.
            named: Kinds of records whose rows stay.
        """
        rows = [row for row in self._store.rows() if not standalone.is_bare(stored_of(row))]
        own = {
            row.record_digest: row.key
            for row in rows
            if row.kind != INTENT
            and row.kind not in named
            and row.record_digest in records
            and self._resolved(event_of(row)).kind == ERASED
        }
        keys = set(own.values())
        return [
            row
            for row in rows
            if (row.key in keys if row.kind == INTENT else row.record_digest in own)
        ]

    def erase_rows(self, seqs: Container[int] = ()) -> None:
        """Erase what rows hold beside their place in the chain: kind, name, position, time, inputs and key.

        A `RowsErased` record lists them already. Without numbers, what an erasure that was cut short has left in the
        file goes.

        Raises:
            JournalError: The rows could not be written, or another program keeps what was erased in the file.
        """
        with self._guard:
            rows = (row for row in self._store.rows() if row.seq in seqs)
            self._store.erase_rows([_as_bare(stored_of(row)) for row in rows])

    def append_erased(self, record_digest: Digest) -> None:
        """Write an event of which only the record digest is known, in a copy of a journal with erased rows."""
        with self._guard:
            seq, before = self._head[0] + 1, self._head[1].encode()
            row = standalone.StoredRow(
                seq, key=b"", record_digest=record_digest.encode(), previous_hash=before, hash=b"",
                **standalone.BARE,
            )  # fmt: skip
            row = row._replace(hash=standalone.hash_of(row))
            self._store.append(_as_bare(row))
            self._head = (seq, row.hash.decode())
            if self._apart is not None and self._apart.has_learned:
                self._apart.note(ERASED, (), record_digest)

    @property
    def erases(self) -> bool:
        """Whether bodies of records that derive from responses are kept apart, so that they can be erased."""
        return self._apart is not None


def resolved(event: Event, apart: BodiesApart | None) -> Event:
    """An event as it is stored, with its body from where it is kept apart."""
    if apart is None or set(event.body) != {APART}:
        return event
    pointer = event.body[APART]
    body = apart.get(pointer)
    if body is None:
        return replace(event, kind=ERASED, body=erased_body(event.kind), apart=pointer)
    return replace(event, body=body, apart=pointer)


def _time(is_random: bool) -> str:
    """The time in microseconds; with random digits behind them, nobody finds it by the hash of an erased row."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return (
        f"{now[:26]}{secrets.randbelow(10**N_RANDOM):0{N_RANDOM}d}{now[26:]}" if is_random else now
    )


def _rows(
    entries: Sequence[EventEntry], last: int, previous_hash: Digest, *, is_random: bool
) -> list[EventRow]:
    """Rows of events that are written together, chained to event number ``last``, whose hash is ``previous_hash``."""
    before, words = previous_hash, standalone.QuotedWords()
    together = _time(is_random=False)
    records = [
        (
            canonical_json(dict(entry.body)) if entry.apart is None else pointer_to(entry.apart),
            _list_of(entry.inputs),
            entry.key.encode(),
            words[_bytes(entry.kind)],
        )
        for entry in entries
    ]
    rows = []
    for seq, (entry, record, digest) in enumerate(
        zip(entries, records, standalone.record_digests(records), strict=True), start=last + 1
    ):
        body, inputs, _, _ = record
        position, name, named = (
            canonical_json(dict(entry.position)),
            _bytes(entry.name),
            digest.hex(),
        )
        time_utc = _time(is_random) if is_random else together
        query = standalone.EVENT_TEXT % (
            seq, time_utc.encode(), entry.attempt, words[name], position, named.encode(), before.encode(),
        )  # fmt: skip
        own = sha256(query).hexdigest()
        row = EventRow(
            seq, time_utc, entry.kind, entry.key, entry.name, position.decode(), entry.attempt,
            inputs.decode(), body.decode(), named, before, own,
        )  # fmt: skip
        rows.append(row)
        before = own
    return rows


def _list_of(digests: Sequence[Digest]) -> bytes:
    """Canonical JSON of a list of what is known to be digests."""
    return b'["%b"]' % '","'.join(digests).encode() if digests else b"[]"


def _written(entry: EventEntry, row: EventRow) -> Event:
    """Return what `event_of_stored` reads from the row; the body alone may read back in other types than given."""
    return Event(
        row.seq,
        _moment(row.time_utc),
        entry.kind,
        entry.key,
        entry.name,
        dict(entry.position),
        entry.attempt,
        tuple(entry.inputs),
        _read(canonical_json(dict(entry.body)).decode()),
        row.record_digest,
        row.previous_hash,
        row.hash,
        entry.apart,
    )


def start_of(stored_meta: Mapping[str, str]) -> Digest:
    """Return what the first event is chained to."""
    return standalone.start_of(
        [(_bytes(name), _bytes(value)) for name, value in stored_meta.items()]
    ).decode()


def meta_of(stored_meta: Mapping[str, str]) -> dict[str, Any]:
    """The description that a journal was created with."""
    try:
        meta = json.loads(stored_meta["meta"])
    except (KeyError, ValueError) as error:
        raise JournalError(
            "the description of the journal was damaged; restore it from a copy."
        ) from error
    if not isinstance(meta, dict):
        raise JournalError(
            "the description of the journal is no JSON object; restore it from a copy."
        )
    return meta


def fault(row: EventRow) -> str | None:
    """Explain what is wrong with one row by itself; None if nothing is."""
    if any(type(value) is not kind for value, kind in zip(row, _TYPES, strict=True)):
        return "was changed: a column holds another type of value than was written"
    return standalone.fault_of(stored_of(row))


def as_text(row: EventRow) -> EventRow:
    """A damaged row with values of the types that rows have, so that what is left of it can be looked at."""
    values = (
        value if type(value) is kind else _as(kind, value)
        for value, kind in zip(row, _TYPES, strict=True)
    )
    return EventRow(*values)  # type: ignore[arg-type]


def _as_bare(row: standalone.StoredRow) -> EventRow:
    """Return what an erasure leaves of a row."""
    return as_text(EventRow(*standalone.bare(row)))  # type: ignore[arg-type]


def _as(kind: type, value: object) -> object:
    if kind is int:
        return 0
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def place(row: EventRow | Event) -> str:
    """Words for which event this is."""
    kind, name = (str(text).encode(errors="replace").decode() for text in (row.kind, row.name))
    return f"event {row.seq} ({kind} of {name!r})"


def place_of_stored(row: tuple[Any, ...]) -> str:
    """`place` for a row, damaged or not, whose text is the bytes that are stored."""
    return place(as_text(EventRow(*row)))


def event_of(row: EventRow) -> Event:
    """The event that a row holds.

    Raises:
        ChainBrokenError: The row holds none; only a forged one can, if it fits its hash.
    """
    return event_of_stored(stored_of(row))


def _moment(time_utc: str) -> str:
    """A time without the random digits that a row may have behind it."""
    return time_utc[:26] + time_utc[-6:] if len(time_utc) > N_RANDOM else time_utc


def event_of_stored(row: tuple[Any, ...]) -> Event:
    """`event_of` for a row whose text is the bytes that are stored."""
    seq, time_utc, kind, key, name, position, attempt, inputs, body, digest, previous, own = row
    try:
        at, cited, content = (
            _read(position.decode()),
            _read(inputs.decode()),
            _read(body.decode()),
        )
        if not (isinstance(at, dict) and isinstance(content, dict) and all(map(is_digest, cited))):
            raise ValueError("its position, inputs or body are of another form")
    except (TypeError, ValueError) as error:
        raise ChainBrokenError(
            f"{place_of_stored(row)} cannot be read ({error}); restore the journal from a copy."
        ) from error
    return Event(
        seq,
        _moment(time_utc.decode("utf-8", "surrogateescape")),
        kind.decode("utf-8", "surrogateescape"),
        key.decode("utf-8", "surrogateescape"),
        name.decode("utf-8", "surrogateescape"),
        at,
        attempt,
        tuple(cited),
        content,
        digest.decode("utf-8", "surrogateescape"),
        previous.decode("utf-8", "surrogateescape"),
        own.decode("utf-8", "surrogateescape"),
    )


def step_key(name: str, inputs: Sequence[Digest], position: Mapping[str, int | str]) -> Digest:
    """The key of a step: its name, its inputs in the given order, and its position."""
    return digest_of({"name": name, "inputs": list(inputs), "position": dict(position)})


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def stored_of(row: EventRow) -> standalone.StoredRow:
    """A row with its text as the bytes that are stored."""
    return standalone.StoredRow(
        *(_bytes(value) if isinstance(value, str) else value for value in row)  # type: ignore[arg-type]
    )
