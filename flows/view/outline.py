"""A journal as the observatory follows it: the kind of every event at once, contents only where they are wanted.

Nothing is checked against hashes here, so that a long journal opens at once; the audit does that. Every query reads
apart from whoever writes, and leaves no file behind.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from lakatos.flows.report.reader import JournalPlace
from lakatos.traces.digest import Digest, is_digest
from lakatos.traces.errors import JournalError, TraceError
from lakatos.traces.journal import INTENT
from lakatos.traces.stores.sqlite import problem_of, read_apart
from lakatos.traces.stores.store import EventRow

COLUMNS: Final = ", ".join(EventRow._fields)
BATCH: Final = 500
"""Numbers in one query."""


@dataclass(frozen=True)
class WantedEvents:
    """Filter of the events that a reader of the journal looks for."""

    text: str = ""
    """Text in the name, the place or the content; upper and lower case alike."""
    kind: str = ""
    cycle: int | None = None
    begun: bool = False
    """Whether steps that were begun are listed too."""

    def condition(self) -> tuple[list[str], list[object]]:
        """Conditions of a query and their values."""
        parts: list[str] = []
        values: list[object] = []
        if self.kind:
            parts.append("kind = ?")
            values.append(self.kind)
        elif not self.begun:
            parts.append("kind <> ?")
            values.append(INTENT)
        if self.cycle is not None:
            parts.append("(position LIKE ? OR position LIKE ?)")
            values += [f'%"cycle":{self.cycle},%', f'%"cycle":{self.cycle}}}%']
        if self.text:
            inner = self._inner
            parts.append(
                "(instr(lower(name), ?) OR instr(lower(position), ?) OR instr(lower(body), ?) "
                "OR record_digest = ? OR hash = ?)"
            )
            values += [inner, inner, inner, self.text.lower(), self.text.lower()]
        return parts, values

    @property
    def _inner(self) -> str:
        return json.dumps(self.text, ensure_ascii=False)[1:-1].lower()

    def is_in(self, row: EventRow) -> bool:
        """Whether a row holds the text that is looked for."""
        texts = (row.name, row.position, row.body)
        return self.text.lower() in (row.record_digest, row.hash) or any(
            self._inner in text.lower() for text in texts
        )


class JournalOutline:
    """The events of one journal by kind, and their contents on demand."""

    def __init__(self, path: Path, whole: Callable[[EventRow], EventRow] | None = None) -> None:
        """Follow the journal at ``path``; ``whole`` completes rows where bodies are kept apart from it."""
        self.path = path
        self.whole = whole
        self.head = 0
        """Number of the last event that was seen."""
        self.n_events = 0
        self.by_kind: dict[str, list[int]] = {}

    def read(self, query: str, *values: object) -> list[Any]:
        """Rows of a query, read without disturbing whoever writes the journal.

        Raises:
            JournalError: The journal cannot be read.
        """
        try:
            return read_apart(self.path, query, values)
        except sqlite3.Error as error:
            raise JournalError(problem_of(error, self.path, "reading")) from error
        except OSError as error:
            raise JournalError(
                f"cannot read {self.path}: {error.strerror}; check the folder."
            ) from error

    def follow(self) -> list[tuple[int, str]]:
        """Number and kind of the events since the last time."""
        found = self.read("SELECT seq, kind FROM event WHERE seq > ? ORDER BY seq", self.head)
        for seq, kind in found:
            self.by_kind.setdefault(kind, []).append(seq)
        if found:
            self.head = found[-1][0]
            self.n_events += len(found)
        return found

    def last(self) -> tuple[int, str, str]:
        """Number, hash and time of the newest event that was seen; of an empty journal 0 and nothing."""
        found = self.read("SELECT seq, hash, time_utc FROM event WHERE seq = ?", self.head)
        return tuple(found[0]) if found else (0, "", "")

    def count(self, *kinds: str) -> int:
        """Number of events of these kinds."""
        return sum(len(self.by_kind.get(kind, ())) for kind in kinds)

    @property
    def n_records(self) -> int:
        """Events that are not only the beginning of a step."""
        return self.n_events - self.count(INTENT)

    def seqs(self, *kinds: str, after: int = 0) -> list[int]:
        """Numbers of the events of these kinds, in order."""
        known = (self.by_kind.get(kind, []) for kind in kinds)
        return sorted(seq for seqs in known for seq in seqs[bisect_left(seqs, after + 1) :])

    def rows(self, seqs: Sequence[int]) -> Iterator[EventRow]:
        """Events by number, in the given order as far as there are such."""
        for start in range(0, len(seqs), BATCH):
            batch = seqs[start : start + BATCH]
            marks = ",".join("?" * len(batch))
            found = {row[0]: self._made(row) for row in self.read(
                f"SELECT {COLUMNS} FROM event WHERE seq IN ({marks})", *batch)}  # fmt: skip
            yield from (found[seq] for seq in batch if seq in found)

    def _made(self, row: Sequence[Any]) -> EventRow:
        made = EventRow._make(row)
        if self.whole is None:
            return made
        try:
            return self.whole(made)
        except TraceError:  # damaged; the audit says what
            return made

    def row(self, seq: int) -> EventRow | None:
        """Read one event by its number; None if there is none."""
        return next(self.rows([seq]), None)

    def place(self, digests: Iterable[Digest]) -> dict[Digest, JournalPlace]:
        """Find the places of records in the journal; unknown records are absent."""
        wanted = [digest for digest in dict.fromkeys(digests) if is_digest(digest)]
        found: dict[Digest, JournalPlace] = {}
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            marks = ",".join("?" * len(batch))
            for digest, seq, kind, time in self.read(
                f"SELECT record_digest, seq, kind, time_utc FROM event WHERE record_digest IN ({marks}) "
                f"AND kind <> 'intent' ORDER BY seq",
                *batch,
            ):
                found.setdefault(digest, JournalPlace(seq, kind, time))
        return found

    def search(self, wanted: WantedEvents, before: int, most: int) -> list[EventRow]:
        """Events below number ``before`` that are looked for, newest first."""
        is_apart = self.whole is not None and bool(wanted.text)
        parts, values = (replace(wanted, text="") if is_apart else wanted).condition()
        where = " AND ".join(["seq < ?", *parts])
        found = (
            self._made(row)
            for row in self.read(
                f"SELECT {COLUMNS} FROM event WHERE {where} ORDER BY seq DESC LIMIT ?",
                before,
                *values,
                self.head if is_apart else most,
            )
        )
        return list(islice((row for row in found if not is_apart or wanted.is_in(row)), most))

    def citing(self, digest: Digest, most: int = 200) -> list[tuple[int, str, str]]:
        """Number, kind and name of later records whose inputs name a record or an artifact."""
        return [
            tuple(row)
            for row in self.read(
                "SELECT seq, kind, name FROM event WHERE kind <> 'intent' AND instr(inputs, ?) ORDER BY seq LIMIT ?",
                digest,
                most,
            )
        ]

    def counted(self, kind: str, *fields: str) -> list[tuple[Any, ...]]:
        """Count the records of a kind by the values of some fields: values, then the number."""
        if self.whole is not None:
            counts = Counter(self.values(kind, *fields))
            return [(*values, number) for values, number in counts.items()]
        places = ", ".join(f"json_extract(body, '$.{field}')" for field in fields)
        return [
            tuple(row)
            for row in self.read(
                f"SELECT {places}, count(*) FROM event WHERE kind = ? GROUP BY {places}", kind
            )
        ]

    def values(self, kind: str, *fields: str) -> list[tuple[Any, ...]]:
        """Values of some fields of all records of a kind, in order."""
        rows = (row for row in self.rows(self.seqs(kind)) if row.kind == kind)
        bodies = (json.loads(row.body) for row in rows)
        return [tuple(body.get(field) for field in fields) for body in bodies]

    def whose(self, kind: str, values: Mapping[str, object], most: int = 100_000) -> list[EventRow]:
        """Records of a kind with these values in their fields, in order."""
        if self.whole is not None:
            rows = [(row, json.loads(row.body)) for row in self.rows(self.seqs(kind))]
            own = [row for row, body in rows
                   if all(body.get(field) == value for field, value in values.items())]  # fmt: skip
            return own[:most]
        parts = [f"json_extract(body, '$.{field}') = ?" for field in values]
        where = " AND ".join(["kind = ?", *parts])
        return [
            EventRow._make(row)
            for row in self.read(
                f"SELECT {COLUMNS} FROM event WHERE {where} ORDER BY seq LIMIT ?",
                kind,
                *values.values(),
                most,
            )
        ]
