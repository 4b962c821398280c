"""Interface of a journal to the place where it is stored."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self


class EventRow(NamedTuple):
    """One event as it is stored; ``position``, ``inputs`` and ``body`` are canonical JSON text."""

    seq: int
    time_utc: str
    kind: str
    key: str
    name: str
    position: str
    attempt: int
    inputs: str
    body: str
    record_digest: str
    previous_hash: str
    hash: str


class EventStore(Protocol):
    """An append-only table of rows with one writer and any number of readers."""

    path: Path
    read_only: bool

    @classmethod
    def create(cls, path: Path, meta: Mapping[str, str]) -> Self:
        """Make an empty store and hold it for writing.

        Raises:
            JournalError: There is one already, or it cannot be written.
            LockedError: Another process is making it.
        """

    @classmethod
    def open(cls, path: Path, *, read_only: bool) -> Self:
        """Open a store; for writing, hold its lock until `close`.

        Raises:
            JournalError: There is none, or it cannot be read.
            LockedError: Another process is writing it.
            NewerFormatError: It was written by a newer version.
        """

    def meta(self) -> dict[str, str]:
        """Return what was given to `create`."""

    def append(self, row: EventRow) -> None:
        """Store ``row`` durably, whole or not at all."""

    def append_all(self, rows: Sequence[EventRow]) -> None:
        """Store ``rows`` durably in one commit: all of them or none."""

    def erase_rows(self, rows: Sequence[EventRow]) -> None:
        """Put ``rows`` in the place of those of the same numbers, all or none, and clear what they held.

        Raises:
            JournalError: They could not be written, or another program keeps what they held in the file.
        """

    def stored(self, after_seq: int = 0) -> Iterator[tuple[Any, ...]]:
        """Return the `rows`, with text as the bytes that are stored: what `traces.standalone.sound` walks along."""

    def rows(self, after_seq: int = 0) -> Iterator[EventRow]:
        """Rows after ``after_seq`` in order; rows appended meanwhile are included."""

    def last(self) -> EventRow | None:
        """The newest row; None if there is no row yet."""

    def result(self, key: str) -> EventRow | None:
        """The result of a step, if it is recorded."""

    def record(self, record_digest: str) -> EventRow | None:
        """The result with this record digest, if there is one."""

    def attempts(self, key: str) -> int:
        """The number of the last attempt that was begun for a step; 0 if none was."""

    def problem(self) -> str | None:
        """Explain what is wrong with the store itself, aside from its rows; None if nothing is."""

    def close(self) -> None:
        """Release the store and its lock."""
