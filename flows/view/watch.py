"""Runs as the observatory sees them: followed record by record, folded once, and never written to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Trials
from lakatos.flows.errors import FlowError
from lakatos.flows.report.reader import UNREADABLE, JournalPlace, RunReading
from lakatos.flows.run.evidence import trials_in
from lakatos.flows.run.records import ACTS, RECORD_TYPES
from lakatos.flows.run.run import check_run, has_run
from lakatos.flows.run.state import RunState, advance
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of, read_own_domain
from lakatos.flows.stages.asked import AnswersAwaited, waiting_in
from lakatos.flows.view.outline import JournalOutline
from lakatos.flows.view.words import address
from lakatos.memory.library import RECORDS as LESSONS
from lakatos.memory.library import Library
from lakatos.traces.apart import ERASED
from lakatos.traces.digest import Digest
from lakatos.traces.errors import TraceError
from lakatos.traces.journal import INTENT, Event, event_of
from lakatos.traces.place import run_folders
from lakatos.traces.record import Record, RowsErased, Tombstone, kind_of
from lakatos.traces.step import JOURNAL_FILE, Recorded, Trace
from lakatos.traces.stores.store import EventRow
from lakatos.traces.system import is_named
from lakatos.traces.validity import ERASES, Validity

T = TypeVar("T")
R = TypeVar("R", bound=Record)
BULKY: Final = frozenset(
    {
        INTENT,
        "answers_arrived",
        "session_held",
        "person_excluded",
        "measured",
        "theory_scored",
        "language_model_called",
        "role_answered",
        "anchor_exposed",
    }
)
"""Kinds of which a run can hold tens of thousands; they are read where a page shows them, and not folded."""
ERASING: Final = frozenset(
    {kind_of(Tombstone)}
    | {kind for kind, record in RECORD_TYPES.items() if ERASES in record.model_fields}
)
FRESH_S: Final = 0.3
"""A journal that was looked at less than this ago is not looked at again."""
MOST_PARSED: Final = 20_000
"""Records that are kept as they were read."""
MOST_KEPT: Final = 64
"""Results of long computations that are kept."""


class JournalPlaces(Mapping[Digest, JournalPlace]):
    """Places of records in the journal, looked up on demand."""

    def __init__(self, outline: JournalOutline) -> None:
        self._outline = outline
        self._found: dict[Digest, JournalPlace | None] = {}

    def learn(self, digests: Iterable[Digest]) -> None:
        """Look many up at once."""
        unknown = [digest for digest in digests if digest not in self._found]
        self._found |= dict.fromkeys(unknown) | self._outline.place(unknown)

    def __getitem__(self, digest: Digest) -> JournalPlace:
        self.learn([digest])
        if (entry := self._found[digest]) is None:
            raise KeyError(digest)
        return entry

    def __iter__(self) -> Iterator[Digest]:
        return iter(digest for digest, entry in self._found.items() if entry)

    def __len__(self) -> int:
        return self._outline.n_records


class RunMoment(RunReading):
    """A run at one moment."""

    def __init__(
        self, watch: RunWatch, state: RunState
    ) -> None:  # the journal is not read from its beginning again
        self.watch, self.state = watch, state
        self.folder, self.trace = watch.folder, watch.trace
        study = watch.trace.journal.meta["study"]
        config = state.campaign.config
        self.config = config.with_places(study) if config else CampaignConfig.model_validate(study)
        self.domain = domain_of(self.config)
        self.outline = watch.outline
        self.seq, self.hash, last = watch.outline.last()
        first = watch.outline.row(1)
        self.n_events, self.times = watch.outline.n_events, (first.time_utc if first else "", last)
        self.journal = JournalPlaces(watch.outline)
        self.faults = tuple(watch.faults)

    @property
    def leader(self) -> Digest | None:
        """The winner, or who led at the end of the last cycle."""
        if self.concluded is not None:
            return self.concluded.leader
        return self.state.campaign.cycles[-1].record.leader if self.state.campaign.cycles else None

    @property
    def first_rival(self) -> Digest | None:
        """The rival of the verdict; before it, of the first theories the highest at the end of the last cycle."""
        if self.concluded is not None and self.concluded.rival is not None:
            return self.concluded.rival
        lines = (
            self.state.campaign.cycles[-1].record.leaderboard if self.state.campaign.cycles else ()
        )
        seeds = set(self.state.seeds) - {self.leader}
        return next((line.theory for line in lines if line.theory in seeds), None)

    @cached_property
    def checked(self) -> dict[Digest, Recorded[Any]]:
        """Every theory that was checked, refused and failed ones too, in the order of the journal."""
        self.journal_entries.learn(
            item.digest
            for item in (
                *self.state.theories.refused,
                *self.state.theories.checked.values(),
                *self.state.theories.out.values(),
            )
        )
        return super().checked

    @property
    def journal_entries(self) -> JournalPlaces:
        """`journal` as what it is."""
        return cast(JournalPlaces, self.journal)

    def link(self, theory: Digest) -> str:
        """Address of a theory's page."""
        return address(self.watch.name, "theory", theory)

    def valid(self, digest: Digest) -> bool:
        """Whether a record still holds."""
        return self.watch.validity is None or self.watch.validity.valid(digest)

    def records(self, record_type: type[R]) -> list[Recorded[R]]:
        """All records of a type that hold, in order."""
        rows = self.outline.seqs(kind_of(record_type))
        return [item for item in self.watch.parsed(rows) if self.valid(item.digest)]

    def of(self, record_type: type[R], **values: object) -> list[Recorded[R]]:
        """Records of a type that hold and have these values in their fields, in order."""
        rows = self.outline.whose(kind_of(record_type), values)
        return [item for item in self.watch.parsed_rows(rows) if self.valid(item.digest)]

    def with_scores(self, **values: object) -> RunMoment:
        """Return the moment with the scores of one experiment or theory; with all of them where nothing is named."""
        from lakatos.theories.engine.record import TheoryScored

        found = self.of(TheoryScored, **values) if values else self.records(TheoryScored)
        scores = {(item.record.theory, item.record.experiment): item for item in found}
        theories = replace(self.state.theories, scores=scores)
        return RunMoment(self.watch, replace(self.state, theories=theories))

    def with_people(self, experiment: str) -> RunMoment:
        """Return the moment with the responses of the participants of one experiment."""
        from lakatos.experiments.record import AnswersArrived, PersonExcluded

        arrived = self.of(AnswersArrived, experiment=experiment)
        excluded = self.of(PersonExcluded, experiment=experiment)
        people = replace(
            self.state.experiments,
            answers={experiment: tuple(arrived)},
            excluded=tuple(excluded),
        )
        state = replace(self.state, experiments=people)
        return RunMoment(self.watch, state)

    def trials(self, experiment: str) -> Trials:
        """Read the responses of an experiment; they are kept for the next reader."""
        artifact = self.state.experiments.collected[experiment].record.trials
        return self.watch.kept(
            ("trials", artifact), lambda: trials_in(self.trace.artifacts, self.state, experiment)
        )

    def library(self) -> Library:
        """Return the library that was learned in this run."""
        items = self.watch.parsed(self.outline.seqs(*LESSONS))
        return Library(tuple({item.digest: item.record for item in items}.items()))

    @cached_property
    def waiting(self) -> AnswersAwaited | None:
        """Whom the run waits for; nobody where it has ended."""
        if self.concluded or not self.config.source.one_by_one:
            return None
        todo = [
            name
            for name in self.state.experiments.recruited
            if name not in self.state.experiments.collected
        ]
        found = (self.with_people(name).state for name in todo)
        return next(
            (waiting for state in found if (waiting := waiting_in(state)) is not None), None
        )

    @cached_property
    def progress(self) -> str:
        """``concluded``, ``running``, ``waiting`` for people, or ``stopped``."""
        if self.concluded:
            return "concluded"
        if self.watch.written_now:
            return "running"
        return "waiting" if self.waiting else "stopped"


@dataclass
class RunWatch:
    """One run that is followed; safe to use from several threads."""

    name: str
    """Name of the run in addresses."""
    folder: Path
    faults: list[str] = field(default_factory=list)
    """Parts that could not be read."""
    validity: Validity | None = None
    """Validity of records; None while nothing was ever erased, so that everything holds."""

    def __post_init__(self) -> None:
        check_run(self.folder)
        self.trace = Trace.open(self.folder, RECORD_TYPES, read_only=True)
        journal = self.trace.journal
        self.outline = JournalOutline(
            self.folder / JOURNAL_FILE, journal.whole if journal.erases else None
        )
        self._guard = threading.RLock()
        self._state = RunState()
        self._folded: list[Recorded[Record]] = []
        self._parsed: dict[int, Recorded[Any]] = {}
        self._kept: dict[Hashable, Any] = {}
        self._making: dict[Hashable, threading.Lock] = {}
        self._look: RunMoment | None = None
        self._looked = 0.0
        try:
            read_own_domain(self.trace.journal.meta.get("study", {}))
        except TaskFileError as error:
            self._fault(str(error))

    def look(self) -> RunMoment:
        """The run as it is now."""
        with self._guard:
            if self._look is None or time.monotonic() - self._looked > FRESH_S:
                if self._follow() or self._look is None:
                    self._look = RunMoment(self, self._ordered())
                self._looked = time.monotonic()
            return self._look

    @property
    def written_now(self) -> bool:
        """Whether a process of this machine holds the run for writing, by the lock file it names itself in."""
        return is_named(self.folder / f"{JOURNAL_FILE}.lock")

    def parsed(self, seqs: Iterable[int]) -> list[Recorded[Any]]:
        """Records by the numbers of their events; what cannot be read is left out and told in `faults`."""
        wanted = list(seqs)
        with self._guard:
            known = {seq: self._parsed[seq] for seq in wanted if seq in self._parsed}
        # Read without the guard: what takes long for one page must not keep others waiting.
        missing = [seq for seq in wanted if seq not in known]
        fresh = {row.seq: item for row in self.outline.rows(missing) if (item := self._read(row))}
        with self._guard:
            if len(self._parsed) + len(fresh) > MOST_PARSED:
                self._parsed.clear()
            self._parsed |= fresh
        known |= fresh
        return [known[seq] for seq in wanted if seq in known]

    def parsed_rows(self, rows: Iterable[EventRow]) -> list[Recorded[Any]]:
        """Records that were fetched already."""
        with self._guard:
            return [item for row in rows if (item := self._parsed.get(row.seq) or self._read(row))]

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``make``, computed once for each key."""
        with self._guard:
            if key in self._kept:
                return cast(T, self._kept[key])
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._guard:
                if key in self._kept:
                    return cast(T, self._kept[key])
            value = make()
            with self._guard:
                self._kept[key] = value
                self._making.pop(key, None)
                while len(self._kept) > MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
            return value

    def _read(self, row: EventRow) -> Recorded[Any] | None:
        try:
            return self.trace.read(event_of(row))
        except UNREADABLE as error:
            self._fault(f"event {row.seq} ({row.kind}) cannot be read: {error}")
            return None

    def _fault(self, text: str) -> None:
        if text not in self.faults and len(self.faults) < 20:
            self.faults.append(text)

    def _follow(self) -> bool:
        """Take in what was written since the last time; whether there was anything."""
        new = self.outline.follow()
        if self._has_lost_rows():
            new = self._begin_anew()
        if not new:
            return False
        again = self._follow_validity([seq for seq, _ in new], {kind for _, kind in new} & ERASING)
        fresh = self.parsed(
            seq for seq, kind in new if kind not in BULKY and kind in self.trace.types
        )
        for kind in {kind for _, kind in new} - set(self.trace.types) - {INTENT}:
            self._fault(
                f"records of the kind {kind!r} are not known to this version; the trace shows them as they are"
            )
        self._folded += fresh
        if again:
            self._state, fresh = RunState(), self._folded
        for item in fresh:
            if self.validity is None or self.validity.valid(item.digest):
                try:
                    self._state = advance(self._state, item)
                except UNREADABLE as error:
                    self._fault(
                        f"a record of kind {item.record.kind} has no place where it stands: {error!r}"
                    )
        return True

    def _has_lost_rows(self) -> bool:
        """Whether rows were erased that were read before."""
        listed = self.outline.values(kind_of(RowsErased), "rows")
        n_listed = sum(last - first + 1 for (rows,) in listed for first, last in rows)
        n_known = self.outline.count(ERASED)
        if n_listed <= n_known:
            return False
        # Read each time until the rows are gone: they are listed first.
        ((n_erased,),) = self.outline.read("SELECT count(*) FROM event WHERE kind = ?", ERASED)
        return int(n_erased) > n_known

    def _begin_anew(self) -> list[tuple[int, str]]:
        """Forget everything and read the journal from its first event."""
        self.outline = JournalOutline(self.outline.path, self.outline.whole)
        self._state, self.validity = RunState(), None
        self._folded.clear()
        self._parsed.clear()
        self._kept.clear()
        return self.outline.follow()

    def _follow_validity(self, new: list[int], erasing: set[str]) -> bool:
        """Whether something was erased just now, so that what was folded may not hold any more."""
        erases = False
        if erasing:
            rows = self.outline.rows(self.outline.seqs(*erasing, after=new[0] - 1))
            erases = any(
                row.kind == kind_of(Tombstone) or f'"{ERASES}":["' in row.body for row in rows
            )
        if self.validity is None:
            if not erases:
                return False
            self.validity = Validity(roots=self.trace.artifacts.has, acts=ACTS)
            new = list(range(1, self.outline.head + 1))
        for event in self._light(new[0]):
            self.validity.add(event)
        return erases

    def _light(self, first: int) -> Iterator[Event]:
        """Events from a number on, without the contents that erase nothing."""
        marks = ",".join("?" * len(ERASING))
        for row in self.outline.read(
            f"SELECT seq, time_utc, kind, key, name, '{{}}', attempt, inputs, CASE WHEN kind IN ({marks}) THEN body "
            "ELSE '{}' END, record_digest, '', '' FROM event WHERE seq >= ? AND kind <> 'intent' ORDER BY seq",
            *sorted(ERASING),
            first,
        ):
            with suppress(TraceError):
                yield event_of(EventRow._make(row))

    def _ordered(self) -> RunState:
        """Experiments in the order in which people were asked, as `lakatos.flows.run.run.read_state` has them."""
        state = self._state
        return replace(state, experiments=state.experiments.in_order_of_asking())


class RunObservatory:
    """All runs of a folder, or one run and those of its folds."""

    def __init__(self, place: Path) -> None:
        self.place = Path(place)
        self.single = has_run(self.place)
        self._watched: dict[str, RunWatch] = {}
        self._guard = threading.Lock()

    def folders(self) -> dict[str, Path]:
        """The runs that there are now, by the name in their address, newest first; folds after their run."""
        if self.single:
            tops = [self.place]
        else:
            tops = [folder for folder in reversed(run_folders(self.place)) if has_run(folder)]
        names: dict[str, Path] = {}
        for top in tops:
            name = top.resolve().name
            names[name] = top
            for fold in sorted(run_folders(top / "folds")):
                if has_run(fold):
                    names[f"{name}~fold-{fold.name}"] = fold
        return names

    def watch(self, name: str) -> RunWatch | None:
        """The run of that name; None if there is none.

        Raises:
            FlowError: It cannot be opened.
            TraceError: Likewise.
        """
        with self._guard:
            known = self._watched.get(name)
            if known is not None and has_run(known.folder):
                return known
            folder = self.folders().get(name)
            if folder is None:
                self._watched.pop(name, None)
                return None
            self._watched[name] = RunWatch(name, folder)
            return self._watched[name]

    def all(self) -> list[tuple[str, RunMoment | str]]:
        """Every run, or why it cannot be read."""
        found: list[tuple[str, RunMoment | str]] = []
        for name in self.folders():
            try:
                watch = self.watch(name)
                if watch is not None:
                    found.append((name, watch.look()))
            except (*UNREADABLE, FlowError, OSError) as error:
                found.append((name, str(error)))
        return found
