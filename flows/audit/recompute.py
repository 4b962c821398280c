"""Recomputation: a recorded run walked through again, every deterministic record computed anew and compared.

The walk is the campaign itself, on a trace that only looks things up. A step whose record is a computation runs again,
through the same function, from the recorded inputs, in the sandbox; what it yields is compared with the record, and
the walk goes on with the record, so that one wrong number is one finding. What came from outside (people's responses,
language models, what a person decided) is taken as it is recorded. Nothing in the run's folder changes.
"""

from __future__ import annotations

import inspect
import math
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import DataMissingError
from lakatos.experiments.record import ModelTakesPart, PeopleRecruited
from lakatos.flows.campaign import run_campaign
from lakatos.flows.errors import FlowError
from lakatos.flows.run.engine import execute
from lakatos.flows.run.records import CodeAccepted, MachineUsed
from lakatos.flows.run.run import Run
from lakatos.flows.run.source import make_source
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.stages.asked import AnswersAwaited
from lakatos.judges.errors import AnchorError
from lakatos.judges.ledger import LevelDrawn
from lakatos.language_models.client import ModelCompletion, ModelRequest
from lakatos.language_models.record import LanguageModelCalled
from lakatos.memory.record import LibraryLookedAt, LibraryTaken
from lakatos.theories.discovery.roles.record import MatterInvestigated, ModelsChosen
from lakatos.theories.errors import SandboxUnavailableError
from lakatos.theories.findings.verdicts.record import FoldFinished
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest, digest_bytes
from lakatos.traces.errors import ArtifactError
from lakatos.traces.inbox import Inbox
from lakatos.traces.journal import INTENT, Event, Journal, step_key
from lakatos.traces.machine import Machine, machine_here
from lakatos.traces.record import Record, body_of, kind_of
from lakatos.traces.step import ARTIFACT_FOLDER, Recorded, StepContext, Trace, step_rng
from lakatos.traces.stores.store import EventStore

R = TypeVar("R", bound=Record)
TOLERANCE: Final = 1e-6
OTHER_MACHINE: Final = 1e-4
"""Difference of a number that another processor, or another kernel of linear algebra, may make. Between kernels of
OpenBLAS nothing was found to differ by more than `TOLERANCE`; a difference beyond it that is within this one is told
apart from a fault where, and only where, the run notes that it was computed on another machine."""
"""Most that a recomputed number may differ on other hardware; on the same it is equal bit for bit."""
EFFECTS: Final = frozenset(
    map(
        kind_of,
        (
            LanguageModelCalled,
            ModelTakesPart,
            ModelsChosen,
            FoldFinished,
            LibraryTaken,
            LibraryLookedAt,
            LevelDrawn,
        ),
    )
)
"""Steps that are not repeated: they asked somebody, read other runs or drew on what campaigns share, or are audited."""
ALWAYS: Final = frozenset(map(kind_of, (PeopleRecruited,)))
"""Steps that are repeated even where few are wanted: later ones need the people whom they simulate."""
OF_THE_MACHINE: Final = {"theory_checked": frozenset({"sandbox"})}
"""Fields that tell of the machine, and may differ on another."""


class EndOfRecordError(Exception):
    """The walk asks for what the trace does not hold."""


@dataclass
class RecomputedRun:
    """Result of a walk."""

    again: Counter[str] = field(default_factory=Counter)
    """Records computed anew, by kind."""
    near: int = 0
    """Number of them that are equal within `TOLERANCE` only."""
    taken: Counter[str] = field(default_factory=Counter)
    """Records taken as they are, by kind."""
    wrong: list[str] = field(default_factory=list)
    """Differences, in words with the number of the event."""
    skipped: list[str] = field(default_factory=list)
    """Steps that could not be computed here, and why."""
    elsewhere: list[str] = field(default_factory=list)
    """Values of another machine that differ by no more than `OTHER_MACHINE`, in words."""
    here: str = ""
    there: str = ""
    """This machine and the last other one that computed a record of `elsewhere`, in words."""
    visited: set[Digest] = field(default_factory=set)
    """Keys of the steps that the walk came to."""
    end: str = ""
    """Place at which the walk ended before a verdict."""


class _OverlayStore(ArtifactStore):
    """Reads the run's artifacts, and writes elsewhere what is new."""

    def __init__(self, below: ArtifactStore, folder: Path) -> None:
        super().__init__(folder)
        self._below = below

    def put(self, data: bytes) -> Digest:
        digest = digest_bytes(data)
        return digest if self._below.has(digest) else super().put(data)

    def get(self, digest: Digest) -> bytes:
        return self._below.get(digest) if self._below.has(digest) else super().get(digest)

    def has(self, digest: Digest) -> bool:
        return self._below.has(digest) or super().has(digest)

    def erase(self, digest: Digest) -> None:
        """Do nothing: the run's own artifacts stay as they are."""


class _RecordedJournal(Journal):
    """A journal in memory, which can be seen as it was when a step began."""

    def __init__(self, journal: Journal) -> None:
        self._path, self._meta, self._end = journal.path, journal.meta, journal.head
        self._below = journal.store
        self.all = list(journal.events())
        self.by_key = {event.key: event for event in self.all if event.kind != INTENT}
        self._by_record = {
            event.record_digest: event for event in reversed(self.all) if event.kind != INTENT
        }
        self.before: int | None = None
        """Events from this number on are not seen."""

    @property
    def path(self) -> Path:
        return self._path

    @property
    def read_only(self) -> bool:
        return True

    @property
    def store(self) -> EventStore:
        return self._below

    @property
    def meta(self) -> dict[str, Any]:
        return self._meta

    @property
    def head(self) -> tuple[int, Digest]:
        return self._end

    def events(self, after_seq: int = 0) -> Iterator[Event]:
        return iter(self.all[after_seq : None if self.before is None else self.before - 1])

    def find(self, key: Digest) -> Event | None:
        return self.by_key.get(key)

    def find_record(self, record_digest: Digest) -> Event | None:
        return self._by_record.get(record_digest)

    def attempts(self, key: Digest) -> int:
        return 1


class _WalkedTrace(Trace):
    """A trace that looks steps up, runs those that are wanted again, and notes what differs."""

    journal: _RecordedJournal

    def __init__(
        self, trace: Trace, scratch: Path, wanted: Callable[[Event], bool], found: RecomputedRun
    ) -> None:
        artifacts = _OverlayStore(trace.artifacts, scratch / ARTIFACT_FOLDER)
        super().__init__(
            _RecordedJournal(trace.journal),
            artifacts,
            seed=trace.seed,
            types=trace.types,
            roots=tuple(trace.roots),
            identity=trace.identity,
        )
        self.wanted, self.found, self._scratch = wanted, found, scratch
        accepted = [event.seq for event in self.journal.all if event.kind == kind_of(CodeAccepted)]
        self._own_from = max(accepted, default=0)
        self._machines = [
            (event.seq, Machine(event.body["processor"], tuple(event.body["kernels"])))
            for event in self.journal.all
            if event.kind == kind_of(MachineUsed)
        ]
        self._changed = any(event.kind == "tombstone" for event in self.journal.all)

    @cached_property
    def inbox(self) -> Inbox:
        """Inbox for repeated responses of simulated participants."""
        return Inbox(self._scratch / "inbox.sqlite")

    def records(self, returns: type[R]) -> Iterator[Recorded[R]]:
        """All records of one class; of people who were asked, those that the walk has asked itself.

        The campaign asks nobody twice, and would not design again what it finds that people were asked. Where responses
        were withdrawn since, what was asked stands on evidence that is gone, and is not designed again.
        """
        for item in super().records(returns):
            event = self.journal.find_record(item.digest)
            if (
                returns is PeopleRecruited
                and not self._changed
                and event is not None
                and event.key not in self.found.visited
            ):
                continue
            yield item

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
        """The record of a step, computed anew and compared where that is wanted."""
        seen = step_key(name, inputs, position or {}) in self.found.visited
        event = self._event(name, inputs, position)
        known = self._returned(event, returns)
        if event.kind in EFFECTS or not (event.kind in ALWAYS or self.wanted(event)):
            self.found.taken[event.kind] += not seen
            return known
        if seen and event.kind not in ALWAYS:
            return known
        self.journal.before = event.seq
        place = self.place_of(event.key, name, position or {})
        try:
            result = function(
                StepContext(event.key, place, step_rng(self.seed, place), self.artifacts)
            )
            record = await result if inspect.isawaitable(result) else result
        except (DataMissingError, AnchorError, SandboxUnavailableError, OSError) as error:
            self.found.skipped.append(f"{event.kind} (event {event.seq}): {error}")
            return known
        except Exception as error:
            if (
                isinstance(error, EndOfRecordError)
                and isinstance(known.record, MatterInvestigated)
                and known.record.is_cut
            ):
                self.found.taken[event.kind] += (
                    1  # its last call was refused, which no record holds
                )
            else:
                self._note(
                    event,
                    f"{event.kind} (event {event.seq}) is not computed again: {_words(error)}",
                )
            return known
        finally:
            self.journal.before = None
        self._compare(event, record)
        return known

    def record(
        self,
        record: R,
        *,
        name: str,
        inputs: Sequence[Digest] = (),
        position: Mapping[str, int | str] | None = None,
    ) -> Recorded[R]:
        """The record that took no computing of its own, compared with what the walk would write."""
        seen = step_key(name, inputs, position or {}) in self.found.visited
        event = self._event(name, inputs, position)
        if not seen:
            self._compare(event, record)
        return self._returned(event, type(record))

    def erase_derived(
        self,
        gone: Sequence[Digest],
        *,
        acts: frozenset[str],
        named: frozenset[str] = frozenset(),
        made: Mapping[str, str] | None = None,
        sweep: bool = False,
    ) -> int:
        """Do nothing: an audit erases nothing."""
        return 0

    def _note(self, event: Event, words: str) -> None:
        """Note what differs, or, before this code was accepted, that other code computed it."""
        if event.seq < self._own_from:
            self.found.skipped.append(
                f"{words} Other code computed it, before event {self._own_from} accepted this one."
            )
        else:
            self.found.wrong.append(words)

    def _event(
        self, name: str, inputs: Sequence[Digest], position: Mapping[str, int | str] | None
    ) -> Event:
        key = step_key(name, inputs, position or {})
        event = self.journal.find(key)
        if event is None:
            raise EndOfRecordError(f"{name!r} at {dict(position or {})}")
        self.found.visited.add(key)
        return event

    def _compare(self, event: Event, record: Record) -> None:
        self.found.again[event.kind] += 1
        if kind_of(type(record)) != event.kind:
            self._note(
                event,
                f"event {event.seq} holds {event.kind}, and comes out as {kind_of(type(record))}",
            )
            return
        again = body_of(record)
        if again == event.body:
            return
        ignored = OF_THE_MACHINE.get(event.kind, frozenset())
        recorded = {name: value for name, value in event.body.items() if name not in ignored}
        again = {name: value for name, value in again.items() if name not in ignored}
        if place := difference(recorded, again, self._value):
            words = (
                f"{event.kind} (event {event.seq}, {event.name} at {dict(event.position)}): {place}"
            )
            there = self._machine_of(event)
            if there and not difference(recorded, again, self._value, tolerance=OTHER_MACHINE):
                self.found.here, self.found.there = machine_here().words, there.words
                self.found.elsewhere.append(words)
            else:
                self._note(event, words)
        else:
            self.found.near += recorded != again

    def _machine_of(self, event: Event) -> Machine | None:
        """The machine that computed a record; None where it is like this one, or not known."""
        before = [machine for seq, machine in self._machines if seq < event.seq]
        return before[-1] if before and before[-1] != machine_here() else None

    def _value(self, digest: Digest) -> Any:
        """Content of an artifact for comparison; its name if it is missing."""
        for read in (self.artifacts.get_arrays, self.artifacts.get_json):
            try:
                return read(digest)
            except ArtifactError:
                continue
        return digest


def difference(
    recorded: Any,
    again: Any,
    value_of: Callable[[Digest], Any],
    place: str = "",
    *,
    tolerance: float = TOLERANCE,
) -> str:
    """The first place in which two records differ by more than a tolerance; empty if none.

    Args:
        recorded: What is recorded.
        again: What was computed again.
        value_of: What an artifact holds: artifacts of other names may hold nearly the same numbers.
        place: Place of both in a larger value.
        tolerance: Largest difference of two numbers that counts as none.
    """
    where = place or "it"
    for kind, compare in _BY_KIND:
        if (
            isinstance(recorded, kind)
            and isinstance(again, kind)
            and not isinstance(recorded, bool)
        ):
            parts = compare(recorded, again, where, tolerance)
            if isinstance(parts, str):
                return parts
            found = (
                difference(a, b, value_of, f"{place}{at}".strip("."), tolerance=tolerance)
                for at, a, b in parts
            )
            return next(filter(None, found), "")
    if recorded == again:
        return ""
    if _may_name(recorded) and _may_name(again):
        first, second = value_of(recorded), value_of(again)
        if not isinstance(first, str) and not isinstance(second, str):
            return difference(first, second, value_of, f"{place}:", tolerance=tolerance)
    return f"{where} is recorded as {_short(recorded)} and comes out as {_short(again)}"


_Parts = Iterable[tuple[str, Any, Any]]
"""Places in two values and what both have there."""


def _of_mappings(
    recorded: Mapping[Any, Any], again: Mapping[Any, Any], where: str, tolerance: float
) -> str | _Parts:
    if set(recorded) != set(again):
        return f"{where} has {_few(set(recorded) ^ set(again))} in one of the two only"
    return [(f".{key}", recorded[key], again[key]) for key in recorded]


def _of_arrays(recorded: NDArray[Any], again: NDArray[Any], where: str, tolerance: float) -> str:
    if recorded.shape != again.shape or recorded.dtype != again.dtype:
        return f"{where} has another shape or type"
    same = (
        np.allclose(recorded, again, rtol=0, atol=tolerance, equal_nan=True)
        if recorded.dtype.kind in "fc"
        else bool(np.array_equal(recorded, again))
    )
    return "" if same else f"{where} differs by {np.max(np.abs(recorded - again)):.3g}"


def _of_sequences(
    recorded: Sequence[Any], again: Sequence[Any], where: str, tolerance: float
) -> str | _Parts:
    if len(recorded) != len(again):
        return f"{where} has {len(recorded)} entries, recomputed {len(again)}"
    return [(f"[{n}]", a, b) for n, (a, b) in enumerate(zip(recorded, again, strict=True))]


def _of_numbers(recorded: float, again: float, where: str, tolerance: float) -> str:
    close = isinstance(recorded, float) and math.isclose(
        recorded, again, rel_tol=0, abs_tol=tolerance
    )
    if recorded == again or close:
        return ""
    gap = abs(recorded - again)
    return (
        f"{where} is recorded as {recorded!r} and comes out as {again!r}, a difference of {gap:.3g}"
    )


def _may_name(value: Any) -> bool:
    """Whether a value has the form of an artifact's name."""
    return isinstance(value, str) and len(value) == 64


_BY_KIND: tuple[tuple[Any, Callable[[Any, Any, str, float], str | _Parts]], ...] = (
    (Mapping, _of_mappings),
    (np.ndarray, _of_arrays),
    (list | tuple, _of_sequences),
    (float | int, _of_numbers),
)
"""Functions that compare two values of a kind: they return what differs, or parts to compare in turn."""


def _few(names: set[str]) -> str:
    return ", ".join(map(repr, sorted(names)[:3]))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


@dataclass(frozen=True)
class _AbsentModel:
    """A client in place of a language model, whose recorded responses are used."""

    name: str
    version: str

    async def complete(self, request: ModelRequest) -> ModelCompletion:
        raise EndOfRecordError(f"a call of language model {self.name!r}")


class _WalkedRun(Run):
    """A run that signs nothing and asks nobody."""

    def sign(self) -> None:
        """Sign nothing: a recomputation adds nothing to the journal."""

    def note_machine(self) -> None:
        """Note nothing: on which machines the run was computed, its own records say."""


def walk_again(
    trace: Trace, *, wanted: Callable[[Event], bool], data: Path | None = None, n_workers: int = 2
) -> RecomputedRun:
    """Walk through a run again.

    Args:
        trace: Open for reading.
        wanted: Steps that are computed again; those that took none of their own always are.
        data: Folder of the published data sets, where the study needs one.
        n_workers: Theories that run at the same time.
    """
    found, meta = RecomputedRun(), trace.journal.meta
    config = CampaignConfig.model_validate(meta["study"])
    with tempfile.TemporaryDirectory(prefix="lakatos-audit-") as name:
        scratch = Path(name) / "run"  # what a campaign leaves beside its run goes with it
        scratch.mkdir()
        where = data or (Path(meta["data"]) if meta.get("data") else None)
        try:
            source, hidden = make_source(
                config, scratch, where, meta.get("sealed_rows"), trace.artifacts
            )
        except DataMissingError as error:
            found.skipped.append(f"{error}")
            return found
        walked = _WalkedTrace(trace, scratch, wanted, found)
        run = _WalkedRun(
            scratch,
            walked,
            config,
            source,
            progress=None,
            hidden=hidden,
            data=where,
            n_workers=n_workers,
        )
        try:
            for caller in run.models.callers.values():
                caller.model = _AbsentModel(caller.model.name, caller.model.version)
            ended = execute("none", run_campaign, run)
            if isinstance(ended, AnswersAwaited):
                found.end = ended.text
        except EndOfRecordError as error:
            found.end = f"nothing is recorded of {error}"
        except FlowError as error:
            words = str(error).replace(str(scratch), str(trace.journal.path.parent))
            found.skipped.append(f"{words} {code_of(trace)}")
        finally:
            run.laboratory.close()
    return found


def code_of(trace: Trace) -> str:
    """Explain how to get the code that can compute a run again: that which began it."""
    first = next(iter(trace.journal.events()))
    version = first.body.get("versions", {}).get("lakatos", "unknown")
    return (
        f"The run was begun by version {version} on {first.time_utc[:10]}. A bundle made then has that "
        "code in its folder `laboratory/`; in a clone: "
        f"`git checkout $(git rev-list -1 --before={first.time_utc} HEAD)`. Audit with that."
    )
