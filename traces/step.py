"""Steps: whatever costs money, time or chance is recorded once and never run again.

A step is run at least once and recorded exactly once. Its effects outside are idempotent if they use the step's key;
where they cannot be, the step is ``external``, and one that was cut short waits for a person.
"""

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Generic, Literal, Self, TypeVar

import numpy as np

from lakatos.traces import standalone
from lakatos.traces.apart import APART, ApartKinds, make_secret
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.errors import JournalError, RecordError, StepInterruptedError, StepResultError
from lakatos.traces.files import ARTIFACT_FOLDER as ARTIFACT_FOLDER
from lakatos.traces.files import INBOX_FILE as INBOX_FILE
from lakatos.traces.files import JOURNAL_FILE as JOURNAL_FILE
from lakatos.traces.inbox import Inbox, check_place
from lakatos.traces.journal import INTENT, Event, EventEntry, Journal, step_key, stored_of
from lakatos.traces.object_store import artifacts_in
from lakatos.traces.record import OWN_TYPES, Record, RowsErased, body_of, kind_of, parse_record
from lakatos.traces.stores import ADDRESS_SUFFIX
from lakatos.traces.validity import Validity

R = TypeVar("R", bound=Record)

IDENTITY: Final = "identity"
"""Key in the journal's meta of the digest of what is studied, from which random numbers follow besides the seed."""
INBOX_PLACE: Final = "inbox"
"""Key in the journal's meta of the folder that collects, where the journal is elsewhere; see `traces.inbox`."""


@dataclass(frozen=True)
class Recorded(Generic[R]):
    """A record, and the digest by which later steps cite it as an input."""

    record: R
    digest: Digest


@dataclass(frozen=True)
class StepContext:
    """Context of a step: nothing in it depends on when or how often the step runs."""

    key: Digest
    """Key for services that can refuse to do the same thing twice."""
    place: Digest
    """Names the step by its name and position alone, whatever it is derived from; see `Trace.place_of`."""
    rng: np.random.Generator
    """Depends on the campaign's seed and the place."""
    artifacts: ArtifactStore
    note: Callable[[Mapping[str, Any]], None] = lambda detail: None
    """Writes down at once what happens while the step runs (a try that failed, what it cost), as a further intent.

    Notes are part of the journal, but of no record: the canonical form leaves them aside.
    """
    last_note: Callable[[Mapping[str, Any]], None] = lambda detail: None
    """The same, written in one commit with the result, or before the step fails; lost if the process dies first."""


def step_rng(seed: int, place: Digest) -> np.random.Generator:
    """The random generator of the step at ``place`` in the campaign ``seed``."""
    # Hashed together, since a sequence of integers of different lengths would not tell (seed, place) pairs apart.
    entropy = int(digest_of({"seed": seed, "key": place}), 16)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(entropy)))


class Trace:
    """Journal, artifacts and inbox of one campaign; a context manager that closes the journal."""

    def __init__(
        self,
        journal: Journal,
        artifacts: ArtifactStore,
        *,
        seed: int,
        types: Mapping[str, type[Record]],
        roots: Sequence[Digest] = (),
        identity: str = "",
    ) -> None:
        """Take an open journal; use `Trace.create` or `Trace.open` instead.

        Args:
            journal: Journal to which events are written.
            artifacts: Store of bytes, values and arrays are kept.
            seed: Seed of the campaign; the random numbers of all steps come from it.
            types: Class that reads each kind of record.
            roots: Digests that inputs may cite although neither a record nor an artifact has them.
            identity: As for `create`; empty in journals of earlier versions.
        """
        self.journal, self.artifacts, self.seed = journal, artifacts, seed
        self.identity = identity
        self.types: Mapping[str, type[Record]] = {**OWN_TYPES, **types}
        self.roots = frozenset(roots)
        self._running: dict[Digest, Future[None]] = {}
        self._guard = threading.RLock()

    @classmethod
    def create(
        cls,
        folder: Path,
        *,
        seed: int,
        types: Mapping[str, type[Record]],
        meta: Mapping[str, Any] | None = None,
        roots: Sequence[Digest] = (),
        apart: ApartKinds | None = None,
        identity: str = "",
    ) -> Self:
        """Begin a trace in ``folder``; ``seed`` and ``roots`` are written with ``meta`` and found again by `open`.

        ``identity`` is a digest of what is studied. With it, a step's random numbers follow from seed, identity, name
        and position, and not from numbers that earlier steps computed, whose last digits differ between processors.
        With ``apart``, bodies of records that derive from participants' responses are kept apart, so that they can be
        erased with the responses.

        Raises:
            JournalError: The folder holds a trace already, or cannot be written.
        """
        described = {**(meta or {}), "seed": seed, "roots": sorted(roots)}
        if identity:
            described[IDENTITY] = identity
        if apart is not None:
            described[APART] = apart.to_json()
            make_secret(Path(folder))
        journal = Journal.create(Path(folder) / JOURNAL_FILE, described)
        return cls(
            journal,
            artifacts_in(Path(folder) / ARTIFACT_FOLDER),
            seed=seed,
            types=types,
            roots=roots,
            identity=described.get(IDENTITY, ""),
        )

    @classmethod
    def open(cls, folder: Path, types: Mapping[str, type[Record]], read_only: bool = False) -> Self:
        """Go on with the trace in ``folder``, or only look at it.

        Raises:
            JournalError: There is none, or it cannot be read; `LockedError` if another process is writing it.
            InboxError: To go on, but another folder collects for the run.
        """
        journal = Journal.open(Path(folder) / JOURNAL_FILE, read_only)
        meta = journal.meta
        if not isinstance(meta.get("seed"), int):
            journal.close()
            raise JournalError(
                f"{journal.path} names no seed, so it is not the journal of a trace; check the folder."
            )
        try:
            artifacts = artifacts_in(Path(folder) / ARTIFACT_FOLDER)
            found = cls(
                journal,
                artifacts,
                seed=meta["seed"],
                types=types,
                roots=meta.get("roots", ()),
                identity=meta.get(IDENTITY, ""),
            )
            if not read_only:
                found.check_place()
        except BaseException:
            journal.close()
            raise
        return found

    @cached_property
    def inbox(self) -> Inbox:
        """Inbox to which other processes deliver batches for the next pass.

        Raises:
            InboxError: Another folder collects for the run, or the inbox cannot be made or read.
        """
        self.check_place()
        return Inbox(self.journal.path.with_name(INBOX_FILE), make=not self.journal.read_only)

    def check_place(self) -> None:
        """Refuse to collect here where another folder collects for the run.

        Raises:
            InboxError: One does.
        """
        place = self.journal.meta.get(INBOX_PLACE)
        if place and self.journal.path.suffix == ADDRESS_SUFFIX:
            check_place(self.journal.path.parent, place)

    async def step(
        self,
        name: str,
        function: Callable[[StepContext], R | Awaitable[R]],
        *,
        returns: type[R],
        inputs: Sequence[Digest] = (),
        position: Mapping[str, int | str] | None = None,
        effect: Literal["repeatable", "external"] = "repeatable",
        retry_external: bool = False,
        note: Callable[[], Mapping[str, Any]] | None = None,
    ) -> Recorded[R]:
        """Return what the step recorded, or run it and record what it returns.

        Asked for twice at the same time, it runs once. A step that raises records nothing and may be tried again.

        Args:
            name: What the step does; with ``inputs`` and ``position`` it makes the key.
            function: Does it; plain or asynchronous.
            returns: Class of the record that it returns.
            inputs: Digests of the records and artifacts that the result is derived from.
            position: Place in the campaign: cycle, role, sample number.
            effect: ``repeatable`` if running it again after a crash does no harm, ``external`` if it may.
            retry_external: Run an external step again that was cut short: a person looked and said so.
            note: Called when the step is about to begin, and only then; what it returns is written with the intent. If
                it raises, the step is not begun.

        Raises:
            StepInterruptedError: An external step was begun before and has no result.
            StepResultError: The function returned something other than ``returns``.
            RecordError: An input is unknown, the position is not JSON, or the record cannot be written.
            JournalError: The journal cannot be written.
        """
        position = dict(position or {})
        key = step_key(name, inputs, position)
        mine: Future[None] = Future()
        while True:
            with self._guard:
                if (event := self.journal.find(key)) is not None:
                    return self._returned(event, returns)
                running = self._running.setdefault(key, mine)
            if running is mine:
                break
            await asyncio.shield(asyncio.wrap_future(running))
        try:
            return await self._run(
                key, name, function, returns, inputs, position, effect, retry_external, note
            )
        finally:
            with self._guard:
                del self._running[key]
            mine.set_result(None)

    async def _run(
        self,
        key: Digest,
        name: str,
        function: Callable[[StepContext], R | Awaitable[R]],
        returns: type[R],
        inputs: Sequence[Digest],
        position: Mapping[str, int | str],
        effect: Literal["repeatable", "external"],
        retry_external: bool,
        note: Callable[[], Mapping[str, Any]] | None,
    ) -> Recorded[R]:
        # Checked before running, since running may cost money.
        self._check_type(returns, name)
        self._check_inputs(name, inputs, position)
        attempt = self.journal.attempts(key) + 1
        if attempt > 1 and effect == "external" and not retry_external:
            raise StepInterruptedError(
                f"step {name!r} at {dict(position)} was cut short or failed (attempt {attempt - 1}, key {key}), and "
                "it has effects outside. Find out by that key what it did (people recruited, money spent). Then record "
                "that with `Trace.record` under the same name, inputs and position, or run the step again with "
                "`retry_external=True`."
            )

        def entry(kind: str, body: Mapping[str, Any]) -> EventEntry:
            return EventEntry(
                kind, body, key=key, name=name, inputs=inputs, position=position, attempt=attempt
            )

        def intent(detail: Mapping[str, Any] | None) -> EventEntry:
            return entry(
                INTENT,
                {"effect": effect} if detail is None else {"effect": effect, "note": dict(detail)},
            )

        def write(detail: Mapping[str, Any]) -> None:
            self._append_all([intent(detail)])

        held: list[EventEntry] = []
        self._append_all([intent(None if note is None else note())])
        place = self.place_of(key, name, position)
        context = StepContext(
            key,
            place,
            step_rng(self.seed, place),
            self.artifacts,
            write,
            lambda detail: held.append(intent(detail)),
        )
        try:
            result = function(context)
            record = await result if inspect.isawaitable(result) else result
            if type(record) is not returns:
                raise StepResultError(
                    f"step {name!r} at {dict(position)} returned {type(record).__name__} instead of "
                    f"{returns.__name__}; nothing was recorded. Return that record, or name the other class in "
                    "`returns`."
                )
            held.append(entry(kind_of(returns), body_of(record)))
        except BaseException:
            if held:
                self._append_all(held)
            raise
        return Recorded(record, self._append_all(held)[-1])

    def record(
        self,
        record: R,
        *,
        name: str,
        inputs: Sequence[Digest] = (),
        position: Mapping[str, int | str] | None = None,
    ) -> Recorded[R]:
        """Write down a record that took no computing; once, however often it is asked for.

        Raises:
            StepResultError: Another record was written under this name, these inputs and this position.
            RecordError: An input is unknown, or the record cannot be written.
            JournalError: The journal cannot be written.
        """
        position = dict(position or {})
        key, returns, body = step_key(name, inputs, position), type(record), body_of(record)
        with self._guard:
            if (event := self.journal.find(key)) is None:
                self._check_type(returns, name)
                self._check_inputs(name, inputs, position)
                attempt = max(1, self.journal.attempts(key))
                event = self._append(
                    kind_of(returns),
                    body,
                    key=key,
                    name=name,
                    inputs=inputs,
                    position=position,
                    attempt=attempt,
                )
            elif event.body != body:
                raise StepResultError(
                    f"{name!r} at {position} was recorded as event {event.seq} with another content; "
                    "nothing was written. Tell the two apart by their position or inputs."
                )
        return Recorded(record, event.record_digest)

    def place_of(self, key: Digest, name: str, position: Mapping[str, int | str]) -> Digest:
        """Name a step by its name and position; in journals of earlier versions, by its key.

        Steps that repeat one another with other inputs (after responses were withdrawn) share a place.
        """
        if not self.identity:
            return key
        return digest_of({"identity": self.identity, "name": name, "position": dict(position)})

    def recorded(
        self,
        name: str,
        inputs: Sequence[Digest] = (),
        position: Mapping[str, int | str] | None = None,
    ) -> Recorded[Record] | None:
        """Return what a step recorded, or None if it has not."""
        event = self.journal.find(step_key(name, inputs, position or {}))
        return None if event is None else self.read(event)

    def read(self, event: Event) -> Recorded[Record]:
        """The record that an event holds; intents hold none.

        Raises:
            RecordError: No type reads it, or it does not fit.
        """
        return Recorded(parse_record(event.kind, event.body, self.types), event.record_digest)

    def get(self, digest: Digest, returns: type[R]) -> R:
        """The record with this digest.

        Raises:
            RecordError: There is none, or it is of another class.
        """
        if (event := self.journal.find_record(digest)) is None:
            raise RecordError(
                f"no record {digest} in {self.journal.path}; look among the artifacts, or check the trace."
            )
        return self._returned(event, returns).record

    def records(self, returns: type[R]) -> Iterator[Recorded[R]]:
        """All records of one class, in the order of the journal."""
        kind = kind_of(returns)
        for event in self.journal.events():
            if event.kind == kind:
                yield self._returned(event, returns)

    def erase_derived(
        self,
        gone: Sequence[Digest],
        *,
        acts: frozenset[str],
        named: frozenset[str] = frozenset(),
        made: Mapping[str, str] | None = None,
        sweep: bool = False,
    ) -> int:
        """Erase the bodies of records that derive from erased ones, where bodies are kept apart.

        Args:
            gone: Records of which a tombstone says that they no longer hold.
            acts: As for `Validity`; what was done stays, and so does what rests on it alone.
            named: Kinds of records whose rows keep their names: only their bodies are erased.
            made: Acts that go as well unless a record that stays names what they made: the field with it, by kind.
            sweep: Whether artifacts that no record names are erased although no body is left to erase.

        Returns:
            Number of bodies that were erased.

        Raises:
            ArtifactError: An artifact cannot be removed.
        """
        if (not gone and not sweep) or not self.journal.erases:
            return 0
        made, events = made or {}, list(self.journal.events())
        stale, derived = (
            {
                name
                for target in gone
                for name in validity.downstream(target)
                if not validity.valid(name)
            }
            for validity in (
                Validity(events, roots=self.artifacts.has, acts=kinds)
                for kinds in (acts, acts - set(made))
            )
        )
        stale |= self.journal.unnamed(
            {
                event.record_digest: event.body[made[event.kind]]
                for event in events
                if event.kind in made and event.record_digest in derived
            },
            stale,
        )
        n_bodies = self.journal.erase(stale, named=named, sweep=sweep)
        seqs = [row.seq for row in self.journal.erasable(stale, named)]
        self.list_erased(seqs)
        if seqs or sweep:
            self.journal.erase_rows(frozenset(seqs))
        return n_bodies

    def list_erased(self, seqs: Sequence[int]) -> None:
        """Record which rows an erasure takes, unless one that was cut short has done so.

        Args:
            seqs: Numbers of the rows, in order; nothing is recorded where there are none.
        """
        if not seqs:
            return
        ranges: list[tuple[int, int]] = []
        for seq in seqs:
            if ranges and seq == ranges[-1][1] + 1:
                ranges[-1] = (ranges[-1][0], seq)
            else:
                ranges.append((seq, seq))
        wanted = frozenset(seqs)
        rows = [stored_of(row) for row in self.journal.store.rows() if row.seq in wanted]
        listed = RowsErased(rows=tuple(ranges), digest=standalone.erasure_digest(rows))
        self.record(listed, name="erase rows", position={"digest": listed.digest})

    def close(self) -> None:
        """Close the journal and let others write."""
        self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _append_all(self, entries: Sequence[EventEntry]) -> list[Digest]:
        with self._guard:
            return self.journal.append_all(entries)

    def _append(
        self,
        kind: str,
        body: Mapping[str, Any],
        *,
        key: Digest,
        name: str,
        inputs: Sequence[Digest],
        position: Mapping[str, int | str],
        attempt: int = 1,
    ) -> Event:
        with self._guard:
            return self.journal.append(
                kind, body, key=key, name=name, position=position, inputs=inputs, attempt=attempt
            )

    def _returned(self, event: Event, returns: type[R]) -> Recorded[R]:
        record = self.read(event).record
        if type(record) is not returns:
            raise StepResultError(
                f"event {event.seq} of step {event.name!r} holds {type(record).__name__}, not {returns.__name__}; "
                "ask for the class that was recorded."
            )
        return Recorded(record, event.record_digest)

    def _check_type(self, returns: type[Record], name: str) -> None:
        if self.types.get(kind_of(returns)) is not returns:
            raise RecordError(
                f"step {name!r} would record {returns.__name__}, which the types of this trace do not list "
                f"under {kind_of(returns)!r}; add it to the table, or it could not be read again."
            )

    def _check_inputs(
        self, name: str, inputs: Sequence[Digest], position: Mapping[str, int | str]
    ) -> None:
        for part, value in position.items():
            if not isinstance(value, int | str):
                raise RecordError(
                    f"{part!r} in the position of step {name!r} is {value!r}; give a whole number or text."
                )
        for digest in inputs:
            known = (
                digest in self.roots
                or self.artifacts.has(digest)
                or self.journal.find_record(digest) is not None
            )
            if not known:
                raise RecordError(
                    f"step {name!r} at {dict(position)} cites {digest}, which no record or artifact of this trace has. "
                    "Record it first, put it among the artifacts, or name it as a root when the trace is created."
                )
