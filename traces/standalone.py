"""Verify a bundle of a Lakatos run with nothing but Python's standard library.

    python3 verify.py                       # beside the unpacked bundle
    python3 verify.py run.zip               # or on the archive itself
    python3 verify.py run.zip --key HEX     # and demand this public key, which the authors have published elsewhere

Checked are: every file against the signed list of files, and that there is no other; that no event
of a journal was changed, dropped or moved; that every artifact hashes to its name, and every record's
inputs stand before it; that the journal holds every signed head, and every event was written between
the heads around it. Take this file from a copy of Lakatos that you trust rather than from the bundle,
and run it with ``python3 -I``. Nothing is recomputed here; README.md in the bundle says how.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from binascii import hexlify
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

JOURNAL_TAG = b"lakatos-journal-1"
EVENT_TAG = b'"lakatos-event-1"'
HEAD_TAG = b"lakatos-head-1\n"
MANIFEST_TAG = b"lakatos-manifest-1\n"
FILES = ("manifest.json", "manifest.sig")
"""Files of a bundle that its list of files does not list."""
MOST_FILES = 200_000
MOST_BYTES = 8 * 2**30
"""Most bytes of a bundle when it is unpacked; one that declares more is refused before anything of it is read."""
CLOCK_SLACK = 300.0
"""Seconds by which clocks may differ, or be set right, between an event and a head."""


# --- Ed25519 (RFC 8032), verification only ---------------------------------------------------------------------------

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)
Point = tuple[int, int, int, int]
"""Extended coordinates X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z (Hisil, Wong, Carter & Dawson, 2008)."""
_ZERO: Point = (0, 1, 1, 0)


def _add(first: Point, second: Point) -> Point:
    a = (first[1] - first[0]) * (second[1] - second[0]) % _P
    b = (first[1] + first[0]) * (second[1] + second[0]) % _P
    c = 2 * first[3] * second[3] * _D % _P
    d = 2 * first[2] * second[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(factor: int, point: Point) -> Point:
    total = _ZERO
    while factor:
        if factor & 1:
            total = _add(total, point)
        point = _add(point, point)
        factor >>= 1
    return total


def _decoded(data: bytes) -> Point | None:
    """The point that 32 bytes stand for; None where they stand for none."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= _P:
        return None
    squared = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(squared, (_P + 3) // 8, _P)
    if (x * x - squared) % _P:
        x = x * _ROOT % _P
    if (x * x - squared) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _encoded(point: Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


_BASE = _decoded((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))


def is_signed(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether ``signature`` (64 bytes) is that of ``message`` under ``public_key`` (32 bytes)."""
    if len(public_key) != 32 or len(signature) != 64:
        return False
    point, scalar = _decoded(public_key), int.from_bytes(signature[32:], "little")
    if point is None or scalar >= _ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    challenge = int.from_bytes(digest, "little") % _ORDER
    assert _BASE is not None
    minus = (_P - point[0], point[1], point[2], _P - point[3])
    return _encoded(_add(_times(scalar, _BASE), _times(challenge, minus))) == signature[:32]


# --- how events are hashed -------------------------------------------------------------------------------------------


class StoredRow(NamedTuple):
    """One event as bytes; numbers as numbers."""

    seq: int
    time_utc: bytes
    kind: bytes
    key: bytes
    name: bytes
    position: bytes
    attempt: int
    inputs: bytes
    body: bytes
    record_digest: bytes
    previous_hash: bytes
    hash: bytes


_TYPES = tuple(int if name in ("seq", "attempt") else bytes for name in StoredRow._fields)
_ESCAPED = re.compile(rb'[\x00-\x1f"\\]').search


def quoted(text: bytes) -> bytes:
    """Text as JSON writes it, UTF-8 left as it is."""
    if _ESCAPED(text) is None:
        return b'"' + text + b'"'
    written = json.dumps(text.decode("utf-8", "surrogateescape"), ensure_ascii=False)
    return written.encode("utf-8", "surrogateescape")


def record_digest(body: bytes, inputs: bytes, key: bytes, kind: bytes) -> bytes:
    """Digest of ``{body, inputs, key, kind}``, taken from the stored bytes, so that any changed byte shows."""
    text = b'{"body":%b,"inputs":%b,"key":%b,"kind":%b}' % (body, inputs, quoted(key), quoted(kind))
    return hashlib.sha256(text).hexdigest().encode()


def event_hash(
    seq: int,
    time_utc: bytes,
    attempt: int,
    name: bytes,
    position: bytes,
    digest: bytes,
    before: bytes,
) -> bytes:
    """Digest of the list of everything else that the event says, with a tag for the version of this encoding.

    ``digest`` is that of its record, ``before`` the hash of the event before it.
    """
    text = b"[%b,%d,%b,%d,%b,%b,%b,%b]" % (
        EVENT_TAG, seq, quoted(time_utc), attempt, quoted(name), position, quoted(digest), quoted(before),
    )  # fmt: skip
    return hashlib.sha256(text).hexdigest().encode()


class QuotedWords(dict[bytes, bytes]):
    """Words that come again and again, as JSON writes them."""

    def __missing__(self, word: bytes) -> bytes:
        self[word] = written = quoted(word)
        return written


EVENT_TEXT = b'[%b,%%d,"%%b",%%d,%%b,%%b,"%%b","%%b"]' % EVENT_TAG
"""Bytes of which `event_hash` is computed; the name is quoted already, and the time and both digests need no
escapes."""


def record_digests(records: Iterable[tuple[bytes, bytes, bytes, bytes]]) -> list[bytes]:
    """`record_digest` of many, in 32 bytes each; kinds are quoted already, and keys need no escapes."""
    sha256, join = hashlib.sha256, b"".join
    # Most of an event is here. Joining its parts takes three quarters of the time that a pattern takes.
    return [
        sha256(
            join((b'{"body":', body, b',"inputs":', inputs, b',"key":"', key, b'","kind":', kind, b"}"))
        ).digest()
        for body, inputs, key, kind in records
    ]  # fmt: skip


def record_digest_of(row: StoredRow) -> bytes:
    """`record_digest` that a row should have."""
    return record_digest(row.body, row.inputs, row.key, row.kind)


def hash_of(row: StoredRow) -> bytes:
    """`event_hash` that a row should have."""
    return event_hash(
        row.seq, row.time_utc, row.attempt, row.name, row.position, row.record_digest, row.previous_hash
    )  # fmt: skip


def start_of(meta: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Return what the first event of a journal is chained to: digest of its description."""
    entries = [quoted(text) for item in sorted(meta) for text in item]
    return hashlib.sha256(b"[%b]" % b",".join([quoted(JOURNAL_TAG), *entries])).hexdigest().encode()


BARE: dict[str, Any] = {
    "time_utc": b"", "kind": b"erased", "name": b"", "position": b"{}", "attempt": 0, "inputs": b"[]",
    "body": b'{"kind":"erased","version":1,"was":""}',
}  # fmt: skip
"""Content that an erasure leaves of a row beside its number, record digest and hashes; its hash stands for the key."""
ROWS_ERASED = b"rows_erased"
"""Kind of the record that lists rows of which an erasure leaves this only."""
TOMBSTONE = b"tombstone"
"""Kind of the record by which responses that were withdrawn, and others, no longer hold."""


def is_bare(row: StoredRow) -> bool:
    """Whether an erasure has left nothing of a row but its number, record digest and hashes."""
    return row.key == row.hash and all(getattr(row, name) == value for name, value in BARE.items())


def bare(row: StoredRow) -> StoredRow:
    """Return what an erasure leaves of a row."""
    return row._replace(key=row.hash, **BARE)


class ChainPlace(NamedTuple):
    """What an erasure leaves of a row: its number, record digest, and the hashes of the last event and of this one."""

    seq: int
    record_digest: bytes
    previous_hash: bytes
    hash: bytes


def chain_place(row: StoredRow) -> ChainPlace:
    """Place of a row in the chain."""
    return ChainPlace(row.seq, row.record_digest, row.previous_hash, row.hash)


def erasure_digest(rows: Iterable[StoredRow | ChainPlace]) -> str:
    """Digest of the places of rows in the chain, the same before and after they were erased."""
    content = [[row.seq, *(part.decode(errors="replace") for part in row[-3:])] for row in rows]
    return hashlib.sha256(canonical(content)).hexdigest()


class ErasureCheck:
    """Whether every bare row is one that a withdrawal can have taken.

    A record of erased rows follows a withdrawal (a tombstone of responses). Its rows stand between the first responses
    that were withdrawn since the last such record and itself, each at the place where it stood when that was written.
    What rests on an erased row is erased with it: only records that stay, such as designs, cite one.
    """

    def __init__(self, meta: Mapping[str, Any], has_artifact: Callable[[str], bool]) -> None:
        """Learn from the description of a journal which kinds of records bring responses, and which stay.

        ``has_artifact`` says whether an artifact is there.
        """
        apart = meta.get("apart") or {}
        self._roots = {kind.encode() for kind in apart.get("roots", [])}
        self._stay = {kind.encode() for name in ("stay", "named") for kind in apart.get(name, [])}
        self._has_artifact = has_artifact
        self._places: dict[int, ChainPlace] = {}
        self._responses: dict[bytes, int] = {}
        """Number of the event that brought responses, by the digest of its record."""
        self._first_withdrawn: int | None = None
        """First of these responses that was withdrawn since the last record of erased rows."""
        self._bare: dict[bytes, int] = {}
        """Number of a row without content, by the digest of its record."""
        self._bare_rows: set[int] = set()
        self._listed: set[int] = set()
        self._fault: tuple[int, str] | None = None

    def add(self, row: StoredRow) -> None:
        """Take the next row into account.

        Raises:
            ValueError: It is a record of erased rows, or a tombstone, that cannot be read.
        """
        self._places[row.seq] = chain_place(row)
        if is_bare(row):
            self._bare.setdefault(row.record_digest, row.seq)
            self._bare_rows.add(row.seq)
        elif row.kind in self._roots:
            self._responses[row.record_digest] = row.seq
        elif row.kind == TOMBSTONE:
            self._withdraw(row)
        elif row.kind == ROWS_ERASED:
            self._list(row)
        elif self._bare and row.kind != b"intent" and row.kind not in self._stay:
            self._look_at_inputs(row)

    @property
    def in_words(self) -> str:
        """Number of rows without content, after a statement about all rows; empty where all have one."""
        return f"; the content of {len(self._bare_rows)} was erased" if self._bare_rows else ""

    def fault(self) -> tuple[int, str] | None:
        """The first row that is wrong, and why; None if all is well."""
        unlisted = min(self._bare_rows - self._listed, default=None)
        if self._fault is None and unlisted is not None:
            return (
                unlisted,
                f"event {unlisted} has no content, and no later record lists it as erased",
            )
        return self._fault

    def _withdraw(self, row: StoredRow) -> None:
        seq = self._responses.get(str(json.loads(row.body)["target"]).encode())
        if seq is not None:
            self._first_withdrawn = min(seq, self._first_withdrawn or seq)

    def _list(self, row: StoredRow) -> None:
        content = json.loads(row.body)
        ranges = content["rows"]
        if not all(0 < first <= last < row.seq for first, last in ranges):
            self._wrong(row, "lists rows as erased that do not stand before it")
            return
        listed = [seq for first, last in ranges for seq in range(first, last + 1)]
        if erasure_digest(self._places[seq] for seq in listed) != content["digest"]:
            self._wrong(row, f"lists erased rows {ranges}, which were changed since")
        # An erasure that was cut short lists some rows once more.
        new, withdrawn = set(listed) - self._listed, self._first_withdrawn
        if new and withdrawn is None:
            problem = "and no responses were withdrawn since the last such record"
            self._wrong(row, f"lists event {min(new)} as erased, {problem}")
        elif withdrawn is not None and min(new, default=row.seq) <= withdrawn:
            problem = "which stands before all responses that were withdrawn"
            self._wrong(row, f"lists event {min(new)} as erased, {problem}")
        self._listed.update(listed)
        self._first_withdrawn = None

    def _look_at_inputs(self, row: StoredRow) -> None:
        cited = (str(name).encode() for name in json.loads(row.inputs))
        first = min((self._bare[name] for name in cited if name in self._bare), default=None)
        if first is None:
            return
        body = json.loads(row.body)
        if set(body) != {"apart"} or self._has_artifact(str(body["apart"])):
            self._wrong(
                row, f"rests on event {first}, which was erased, and would be erased with it"
            )

    def _wrong(self, row: StoredRow, problem: str) -> None:
        self._fault = self._fault or (row.seq, f"event {row.seq} {problem}")


def fault_of(row: StoredRow) -> str | None:
    """Explain what is wrong with one row by itself; None if nothing is."""
    if is_bare(row):  # its place in the chain is what is left; `ErasureCheck` looks for the reason
        return None
    if row.record_digest != record_digest_of(row):
        return "was changed: its record does not hash to its record digest"
    if row.hash != hash_of(row):
        return "was changed: its time, name, place or digests do not fit its hash"
    return None


def link_fault_of(seq: int, before: bytes, previous_seq: int, previous_hash: bytes) -> str | None:
    """Explain what is wrong between a row and the one before it; None if nothing is."""
    if seq != previous_seq + 1:
        return f"follows event {previous_seq}: events between them are missing"
    if before != previous_hash:
        return "is not chained to what stands before it: something was changed, dropped or moved"
    return None


class ChainFaultError(Exception):
    """The first row that does not fit; says which and why."""

    def __init__(self, row: StoredRow, problem: str) -> None:
        super().__init__(problem)
        self.row, self.problem = row, problem


_BATCH = 256
"""Rows that are looked at together."""
_PLAIN = bytes(set(range(256)) - {*range(0x20), *b'"\\'})
"""Bytes that JSON writes as they are."""


def sound(
    rows: Iterable[tuple[Any, ...]], last: int, expected: bytes | None
) -> Iterator[tuple[Any, ...]]:
    """Rows as long as each fits itself and the one before it.

    `fault_of` and `link_fault_of` for many rows at once, which takes half of the time; where they do not all fit, they
    are looked at one by one, and those before the first that does not fit are still given.

    Args:
        rows: Rows in the order of `StoredRow`.
        last: Number of the event before the first row.
        expected: Its hash; None where it is not known.

    Raises:
        ChainFaultError: A row does not fit.
    """
    for batch in _sound_batches(rows, last, expected):
        yield from batch


def _sound_batches(
    rows: Iterable[tuple[Any, ...]], last: int, expected: bytes | None
) -> Iterator[Sequence[tuple[Any, ...]]]:
    """Rows of `sound`, many at a time."""
    words = QuotedWords()
    for batch in _batches(rows):
        before: bytes = batch[0][10] if expected is None else expected
        if _fit(batch, last, before, words):
            yield batch
        else:
            yield from ([row] for row in _sound_in_line(batch, last, before))
        last, expected = batch[-1][0], batch[-1][11]


def _sound_in_line(
    batch: Iterable[tuple[Any, ...]], last: int, before: bytes
) -> Iterator[tuple[Any, ...]]:
    for row in batch:
        if problem := _fault_in_line(row, last, before):
            raise ChainFaultError(StoredRow(*row), problem)
        yield row
        last, before = row[0], row[11]


def _batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    """Rows by `_BATCH`; what came before an error is given before it is raised."""
    left = iter(rows)
    failed: Exception | None = None
    while failed is None:
        batch: list[tuple[Any, ...]] = []
        try:
            batch.extend(islice(left, _BATCH))
        except Exception as error:
            failed = error
        if not batch:
            break
        yield batch
    if failed is not None:
        raise failed


def _fit(batch: Sequence[tuple[Any, ...]], last: int, before: bytes, words: QuotedWords) -> bool:
    """Whether rows fit themselves and one another; False also where that cannot be told for all of them at once."""
    seqs, times, kinds, keys, names, positions, attempts, inputs, bodies, digests, previous, own = (
        zip(*batch, strict=True)
    )
    try:
        known_kinds, known_names = (map(words.__getitem__, some) for some in (kinds, names))
        records = zip(bodies, inputs, keys, known_kinds, strict=True)
        events = zip(seqs, times, attempts, known_names, positions, digests, previous, strict=True)
        return (
            {*map(type, seqs), *map(type, attempts)} == {int}
            and seqs == tuple(range(last + 1, last + 1 + len(batch)))
            and previous == (before, *own[:-1])
            and not b"".join((before, *keys, *times)).translate(None, _PLAIN)
            and _are_written(record_digests(records), digests)
            and _are_written(_event_hashes(events), own)
        )
    except TypeError:
        return False


def _event_hashes(events: Iterable[tuple[Any, ...]]) -> list[bytes]:
    """`event_hash` of many, in 32 bytes each, from what `EVENT_TEXT` takes."""
    sha256 = hashlib.sha256
    return [sha256(EVENT_TEXT % event).digest() for event in events]


def _are_written(digests: Sequence[bytes], written: Sequence[bytes]) -> bool:
    # Compared in one piece, so each must have the length that it should, or a digit could pass from one to the next.
    return {*map(len, written)} == {64} and hexlify(b"".join(digests)) == b"".join(written)


def _fault_in_line(row: Sequence[Any], last: int, before: bytes) -> str | None:
    if any(type(value) is not kind for value, kind in zip(row, _TYPES, strict=True)):
        return "was changed: a column holds another type of value than was written"
    stored = StoredRow(*row)
    return fault_of(stored) or link_fault_of(stored.seq, stored.previous_hash, last, before)


def first_fault(rows: Iterable[tuple[Any, ...]], start: bytes) -> tuple[int, bytes, str | None]:
    """Walk a chain: number and hash of its last sound event, and what is wrong with the next one, if anything is."""
    last, own = 0, start
    try:
        for batch in _sound_batches(rows, 0, start):
            last, own = batch[-1][0], batch[-1][11]
    except ChainFaultError as error:
        return last, own, f"event {error.row.seq} {error.problem}"
    return last, own, None


# --- signed heads ----------------------------------------------------------------------------------------------------


def canonical(value: Any) -> bytes:
    """The one JSON text of a value."""
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return text.encode()


def head_problem(
    head: Any, previous: bytes, is_signed: Callable[[bytes, bytes, bytes], bool] = is_signed
) -> str | None:
    """Explain what is wrong with a line of signed heads after the line ``previous`` (empty for the first); else None.

    ``is_signed`` is what checks signatures: the function above takes 3 ms for each, which compiled ones do not.
    """
    try:
        signed = {name: value for name, value in head.items() if name != "signature"}
        key, signature = bytes.fromhex(head["public_key"]), bytes.fromhex(head["signature"])
        follows = head["previous"]
    except (AttributeError, KeyError, TypeError, ValueError):
        return "is no signed head"
    if follows != (hashlib.sha256(previous).hexdigest() if previous else ""):
        return "does not follow the line before it: lines were changed, dropped or moved"
    if not is_signed(key, HEAD_TAG + canonical(signed), signature):
        return "has a signature that is not that of its key"
    return None


def seconds_of(time_utc: str) -> float | None:
    """A time as seconds; None for what is none."""
    try:
        moment = datetime.fromisoformat(time_utc)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo is not None else None


def times_of(rows: Iterable[StoredRow]) -> list[float | None]:
    """Return when rows were written, in seconds; None for what is no time; an erased row has that of the row before."""
    times: list[float | None] = []
    waiting = 0
    for row in rows:
        if is_bare(row) and not times:
            waiting += 1
        elif is_bare(row):
            times.append(times[-1])
        else:
            time = seconds_of(row.time_utc.decode(errors="replace"))
            times += [time] * (waiting + 1)
            waiting = 0
    return times


def time_problem(times: Sequence[float | None], heads: Sequence[tuple[int, float]]) -> str | None:
    """Explain what is wrong between the times of events and those of heads; None if nothing is.

    A head shows that the events up to it stood there at its time, and later ones did not.

    Args:
        times: Times of event 1, 2 and so on, in seconds; None for what is no time.
        heads: Number of the event and time of each signed head.
    """
    if None in times:
        return f"event {times.index(None) + 1} has no time with a zone."
    known = [item for item in times if item is not None]
    before, earliest = 0, known[0] if known else 0.0
    for seq, signed in sorted(heads):
        if signed < earliest - CLOCK_SLACK:
            return f"the head of event {seq} was signed {_apart(earliest, signed)} before what it covers: backdated."
        if before == 0 and known and signed > earliest + CLOCK_SLACK:
            return (
                f"the first head was signed {_apart(signed, earliest)} after the first event says it was written: "
                "nothing else shows when that was, so the beginning may be backdated."
            )
        for number, time in enumerate(known[before:seq], start=before + 1):
            if time > signed + CLOCK_SLACK:
                return f"event {number} says it was written {_apart(time, signed)} after the head that covers it."
            if time < earliest - CLOCK_SLACK:
                return _backdated(number, earliest - time, before)
        before, earliest = seq, max(signed, earliest)
    for number, time in enumerate(known[before:], start=before + 1):
        if time < earliest - CLOCK_SLACK:
            return _backdated(number, earliest - time, before)
    return None


def _backdated(number: int, seconds: float, before: int) -> str:
    what = (
        f"the head of event {before}, which was signed without it" if before else "the first event"
    )
    return f"event {number} says it was written {seconds:.0f} s before {what}: backdated, or the clock was set back."


def _apart(later: float, earlier: float) -> str:
    return f"{later - earlier:.0f} s"


# --- a bundle --------------------------------------------------------------------------------------------------------


class BundleRefusedError(Exception):
    """A bundle that is not read: too large, or with files that could hide or reach elsewhere."""


class BundleFiles:
    """Files by name, from an archive or a folder; no name is passed over."""

    def __init__(self, place: Path, most_bytes: int = MOST_BYTES) -> None:
        """Open a bundle, packed in one file or laid out in a folder.

        Raises:
            BundleRefusedError: It is larger than ``most_bytes``, has a file twice, or a name or a
                link that leads elsewhere.
        """
        self.place = place
        self._archive = zipfile.ZipFile(place) if place.is_file() else None
        sizes = self._in_archive(self._archive) if self._archive is not None else self._in_folder()
        self.names = [name for name, _ in sizes]
        if len(sizes) > MOST_FILES or sum(size for _, size in sizes) > most_bytes:
            raise BundleRefusedError(
                f"it says it has {len(sizes)} files of {sum(size for _, size in sizes)} bytes unpacked; at most "
                f"{MOST_FILES} files of {most_bytes} bytes are read"
            )
        if doubled := len(self.names) - len(set(self.names)):
            raise BundleRefusedError(
                f"{doubled} of its files are there twice, so that readers may see different ones"
            )
        for name in self.names:
            if name.startswith("/") or "\\" in name or ".." in name.split("/"):
                raise BundleRefusedError(f"the file {name!r} leads out of the bundle")

    @staticmethod
    def _in_archive(archive: zipfile.ZipFile) -> list[tuple[str, int]]:
        return [
            (item.filename, item.file_size)
            for item in archive.infolist()
            if not item.is_dir() or item.file_size
        ]

    def _in_folder(self) -> list[tuple[str, int]]:
        found = []
        for path in sorted(self.place.rglob("*")):
            if path.is_symlink():
                raise BundleRefusedError(f"{path} is a link; a bundle has none")
            if not path.is_dir():
                found.append((path.relative_to(self.place).as_posix(), path.stat().st_size))
        return found

    def read(self, name: str) -> bytes:
        """A file; it must be listed."""
        if self._archive is not None:
            return self._archive.read(name)
        return (self.place / name).read_bytes()


def rows_of(data: bytes) -> Iterator[StoredRow]:
    """Read the events of the file ``events.jsonl``."""
    for line in data.splitlines():
        values = json.loads(line)
        yield StoredRow._make(item.encode() if isinstance(item, str) else item for item in values)


Line = tuple[bool, str]


def verify_bundle(bundle: BundleFiles, key: str = "") -> list[Line]:
    """Every question and its answer: whether all is well, in words."""
    try:
        manifest_bytes = bundle.read("manifest.json")
        manifest = json.loads(manifest_bytes)
        public, listed = manifest["public_key"], manifest["files"]
        signature = bytes.fromhex(bundle.read("manifest.sig").decode().strip())
    except KeyError as error:
        return [(False, f"files: the signed list of files lacks the entry or the file {error}")]
    except (ValueError, OSError, TypeError) as error:
        return [(False, f"files: the signed list of files is missing or damaged ({error})")]
    found: list[Line] = []
    signed = is_signed(bytes.fromhex(public), MANIFEST_TAG + manifest_bytes, signature)
    found.append((signed, "signature: the list of files is signed with the key in it" if signed else
                  "signature: the list of files was changed after it was signed"))  # fmt: skip
    if key:
        same = key.lower() == public
        found.append(
            (same, f"key: signed by {public}" + ("" if same else f", not by {key.lower()}"))
        )
    else:
        found.append(
            (
                True,
                f"key: signed by {public}; compare it with the key that the authors have published",
            )
        )
    wrong = [f"{name} is missing" for name in listed if name not in bundle.names]
    wrong += [
        f"{name} is not listed" for name in bundle.names if name not in listed and name not in FILES
    ]
    for name, digest in listed.items():
        if name in bundle.names and hashlib.sha256(bundle.read(name)).hexdigest() != digest:
            wrong.append(f"{name} was changed")
    found.append(
        (
            not wrong,
            f"files: {wrong[0]}" if wrong else f"files: all {len(listed)} are as they were listed",
        )
    )
    for name in listed:
        if name.endswith("journal/events.jsonl") and name in bundle.names:
            found += verify_run(bundle, name[: -len("journal/events.jsonl")], public)
    return found


def verify_run(bundle: BundleFiles, prefix: str, public: str) -> list[Line]:
    """Journal, artifacts and heads of one run in a bundle."""
    what = f" of {prefix.rstrip('/')}" if prefix else ""
    found: list[Line] = []
    try:
        meta = [
            (a.encode(), b.encode())
            for a, b in json.loads(bundle.read(prefix + "journal/meta.json")).items()
        ]
        rows = list(rows_of(bundle.read(prefix + "journal/events.jsonl")))
    except (AttributeError, KeyError, ValueError, OSError, TypeError) as error:
        return [(False, f"chain{what}: the journal cannot be read ({error})")]
    seq, _, problem = first_fault(rows, start_of(meta))
    if problem:
        problem += f"; what stands before it, up to event {seq}, is as it was written"
    start = prefix + "artifacts/"
    artifacts = {name.rpartition("/")[2]: name for name in bundle.names if name.startswith(start)}
    fine = f"{seq} events, none changed, dropped or moved"
    try:
        erasures = ErasureCheck(_meta_of(meta), artifacts.__contains__)
        for row in rows:
            erasures.add(row)
        fine += erasures.in_words
        fault = erasures.fault()
    except (KeyError, TypeError, ValueError) as error:
        fault = (0, f"a record of an erasure cannot be read ({error})")
    problem = problem or (fault[1] if fault else None)
    found.append((problem is None, f"chain{what}: {problem or fine}"))
    changed = [
        digest
        for digest, name in artifacts.items()
        if hashlib.sha256(bundle.read(name)).hexdigest() != digest
    ]
    found.append((not changed, f"artifacts{what}: {changed[0]} was changed" if changed else
                  f"artifacts{what}: all {len(artifacts)} hash to their names"))  # fmt: skip
    known = {digest.encode() for digest in artifacts} | {
        str(root).encode() for root in _meta_of(meta).get("roots", ())
    }
    missing = ""
    for row in rows:
        for cited in json.loads(row.inputs):
            if cited.encode() not in known:
                missing = missing or f"event {row.seq} cites {cited}, which nothing before it has"
        if row.kind != b"intent":
            known.add(row.record_digest)
    found.append(
        (not missing, f"inputs{what}: {missing or 'every record cites what stands before it'}")
    )
    found += _heads_lines(bundle, prefix, public, rows, what)
    return found


def _meta_of(meta: Sequence[tuple[bytes, bytes]]) -> Mapping[str, Any]:
    """Return the description with which a journal was created."""
    described: Mapping[str, Any] = json.loads(dict(meta).get(b"meta", b"{}"))
    return described


def _heads_lines(
    bundle: BundleFiles, prefix: str, public: str, rows: Sequence[StoredRow], what: str
) -> list[Line]:
    name = prefix + "heads.jsonl"
    lines = bundle.read(name).splitlines() if name in bundle.names else []
    hashes = {row.seq: row.hash.decode() for row in rows}
    previous, last, timed = b"", 0, []
    for number, line in enumerate(lines, start=1):
        try:
            head = json.loads(line)
        except ValueError:
            head = None
        problem = head_problem(head, previous)
        if problem is None and head["public_key"] != public:
            problem = "is signed by another key than the bundle"
        if problem is None and hashes.get(head["seq"]) != head["hash"]:
            problem = f"names event {head['seq']} as the journal does not have it: events were cut off or written anew"
        if problem:
            return [(False, f"heads{what}: line {number} {problem}")]
        previous, last = line, head["seq"]
        if (signed := seconds_of(str(head.get("time_utc", "")))) is not None:
            timed.append((last, signed))
    if not lines:
        return [
            (
                False,
                f"heads{what}: there is no signed head, so that a tail that was cut off could not be seen",
            )
        ]
    after = len(hashes) - last
    more = (
        f"; {after} events after the last are not covered by one"
        if after
        else ", the last of its last event"
    )
    found = [(True, f"heads{what}: {len(lines)} signed heads, all in the journal{more}")]
    if timed:
        problem = time_problem(times_of(rows), timed)
        found.append(
            (
                problem is None,
                f"times{what}: {problem or 'every event was written between the heads around it'}",
            )
        )
    else:
        found.append(
            (True, f"times{what}: its heads carry none; they show what was written, and not when")
        )
    return found


def printable(text: str) -> str:
    """Text of a stranger for a terminal: what is no visible character is written as an escape."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def main(arguments: Sequence[str] | None = None, say: Callable[[str], Any] = print) -> int:
    """Verify; the exit status is 0 only if everything is as it was signed."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    key = ""
    if "--key" in given:
        place = given.index("--key")
        key, given = "".join(given[place + 1 : place + 2]), given[:place] + given[place + 2 :]
        if not key:
            say("FAILED  key: --key needs the public key after it, 64 hexadecimal digits")
            return 1
    here = Path(__file__).resolve().parent
    target = Path(given[0]) if given else here
    try:
        lines = verify_bundle(BundleFiles(target), key)
    except Exception as error:  # a stranger wrote it: damaged in any way, it fails in words
        words = str(error) or type(error).__name__
        lines = [(False, f"bundle: {target} cannot be read: {words}")]
    for good, text in lines:
        say(f"{'passed' if good else 'FAILED'}  {printable(text)}")
    whole = all(good for good, _ in lines)
    say("the bundle is as it was signed" if whole else "the bundle is NOT as it was signed")
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
