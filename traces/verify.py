"""The audit of a trace: what is stored is what was written, and it hangs together."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lakatos.traces.anchor import anchor_problem
from lakatos.traces.apart import ERASED, BodiesApart
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.errors import ArtifactError, JournalError, RecordError
from lakatos.traces.head import (
    HEADS_FILE,
    NO_HEAD,
    NOTHING_YET,
    KeptHead,
    kept_apart,
    kept_heads,
    known_key,
    told_orphans,
)
from lakatos.traces.journal import (
    INTENT,
    Event,
    as_text,
    event_of_stored,
    meta_of,
    place,
    place_of_stored,
    resolved,
    start_of,
    step_key,
    stored_of,
)
from lakatos.traces.object_store import artifacts_in
from lakatos.traces.record import OWN_TYPES, Record, Tombstone, digests_in, parse_record
from lakatos.traces.standalone import (
    ChainFaultError,
    ErasureCheck,
    StoredRow,
    seconds_of,
    sound,
    time_problem,
    times_of,
)
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE, Trace
from lakatos.traces.stores import located, store_of
from lakatos.traces.stores.store import EventStore


@dataclass(frozen=True)
class VerifyCheck:
    """One question of the audit and its answer; a failed one tells about the first fault found."""

    name: str
    ok: bool
    detail: str
    seq: int | None = None
    """Number of the first faulty event."""


@dataclass(frozen=True)
class VerifyReport:
    """All responses of the audit."""

    ok: bool
    checks: tuple[VerifyCheck, ...]
    covered: int = 0
    """Number of the last event that a signed head covers; the chain alone covers later ones."""

    @property
    def failures(self) -> tuple[VerifyCheck, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.ok)


_QUESTIONS: Final = {
    "database": "the file can be read, and its tables and triggers are as created",
    "chain": "no event was changed, dropped or moved",
    "keys": "every event is stored under the digest of its step and inputs",
    "records": "every record can be read",
    "inputs": "everything that a record was computed from is in the journal before it or in a stored file",
    "references": "everything that records refer to exists, unless it was erased",
    "tombstones": "every note of an erasure names a record that exists",
    "artifacts": "every stored file has the content that its name, a digest, promises",
    "heads": "the journal still holds every head that was written down",
    "times": "every event was written between the signed marks around it",
}


class _FaultFindings:
    """The first fault found for each question."""

    def __init__(self, unsigned: bool) -> None:
        self.unsigned = unsigned
        self.faults: dict[str, tuple[str, int | None]] = {}
        self.n_heads = self.n_signed = self.n_timed = self.covered = self.last = 0
        self.orphans = self.erased = ""
        self.strangers = set[str]()
        """Public keys that signed heads, where no key was given, and that are not this laboratory's."""
        self.later = 0
        """Number of the last event that is signed and is not in this copy."""

    def add(self, name: str, detail: str, seq: int | None = None) -> None:
        self.faults.setdefault(name, (detail, seq))

    def report(self) -> VerifyReport:
        heads = f"{_QUESTIONS['heads']} ({self.n_heads}, {self.n_signed} of them signed)"
        if self.last > self.covered and self.n_signed:
            heads += f"; the chain alone covers {self.last - self.covered} events after the last"
        if self.later:
            heads += f"; the run went on to event {self.later} after this copy was made"
        if self.strangers:
            heads += (
                f"; signed by {', '.join(sorted(self.strangers))}, which nothing here vouches for: the holder of that "
                "key could have written another run. Give the key that the laboratory published to `lakatos audit "
                "--key`"
            )
        chain = _QUESTIONS["chain"] + self.erased
        answers = {**_QUESTIONS, "chain": chain, "heads": heads + self.orphans}
        if not self.n_timed:
            answers["times"] = (
                "no signed head carries a time: heads show what was written, and not when"
            )
        checks = tuple(
            VerifyCheck(name, False, *self.faults[name])
            if name in self.faults
            else VerifyCheck(name, True, answer)
            for name, answer in answers.items()
        )
        return VerifyReport(not self.faults, checks, self.covered)


def verify(
    folder_or_trace: Path | Trace,
    types: Mapping[str, type[Record]] | None = None,
    *,
    roots: Iterable[Digest] = (),
    key: str | None = None,
    unsigned: bool = False,
    is_copy: bool = False,
) -> VerifyReport:
    """Check a trace from its stored bytes. Whatever is wrong is in the report; nothing is raised or changed.

    Args:
        folder_or_trace: A folder with a trace, or a trace that is open.
        types: Class that reads each kind of record; those of the trace if it is open.
        roots: Digests that inputs may cite besides records, artifacts and the roots of the trace.
        key: Public key that heads must be signed with, 64 hexadecimal digits; that of this machine's laboratory, if it
            has one, by default, and any where it is empty.
        unsigned: Whether the trace may be one that nobody ever signed, which no campaign is.
        is_copy: Whether it is a copy, such as a bundle, that is whole although heads were signed later: a participant
            may have withdrawn since. Its own end must be signed.
    """
    findings = _FaultFindings(unsigned)
    key = (known_key() or "") if key is None else key
    if isinstance(folder_or_trace, Trace):
        trace = folder_or_trace
        folder, known_types = trace.journal.path.parent, {**trace.types, **(types or {})}
        _verify(
            trace.journal.store,
            trace.artifacts,
            folder,
            known_types,
            {*roots, *trace.roots},
            key,
            findings,
            is_copy=is_copy,
        )
        return findings.report()
    folder, known_types = Path(folder_or_trace), {**OWN_TYPES, **(types or {})}
    try:
        path = located(folder / JOURNAL_FILE)
        store = store_of(path).open(path, read_only=True)
    except JournalError as error:
        findings.add("database", str(error))
        return findings.report()
    try:
        _verify(
            store,
            artifacts_in(folder / ARTIFACT_FOLDER),
            folder,
            known_types,
            set(roots),
            key,
            findings,
            is_copy=is_copy,
        )
    finally:
        store.close()
    return findings.report()


def _verify(
    store: EventStore,
    artifacts: ArtifactStore,
    folder: Path,
    types: Mapping[str, type[Record]],
    roots: set[Digest],
    key: str,
    findings: _FaultFindings,
    *,
    is_copy: bool,
) -> None:
    whole = _verify_artifacts(artifacts, findings)
    try:
        if (problem := store.problem()) is not None:
            findings.add("database", problem)
        stored_meta = store.meta()
        roots |= {str(root) for root in meta_of(stored_meta).get("roots", ())}
        first = next(iter(store.rows()), None)
        identity = start_of(stored_meta) if first is None else first.hash
        heads = defaultdict[int, set[Digest]](set)
        timed, named = list[tuple[int, float]](), list[tuple[int, Digest, str]]()
        for kept in _heads(folder, identity, key, findings):
            assert kept.head is not None
            heads[kept.head.seq].add(kept.head.hash)
            if kept.signed_by and (signed := seconds_of(kept.time_utc)) is not None:
                timed.append((kept.head.seq, signed))
                named.append((kept.head.seq, kept.head.hash, kept.time_utc))
        _verify_head(heads, 0, start_of(stored_meta), findings)
        meta = meta_of(stored_meta)
        apart = BodiesApart.of(folder, meta)
        audit = _JournalAudit(types, roots, whole, artifacts.has, findings, apart)
        last, rows, erasures = 0, list[StoredRow](), ErasureCheck(meta, artifacts.has)
        for row in _chained(store, start_of(stored_meta), findings):
            audit.add(row)
            if row.seq in heads:
                _verify_head(heads, row.seq, row.hash.decode(errors="surrogateescape"), findings)
            last = row.seq
            rows.append(row)
            try:
                erasures.add(row)
            except (KeyError, TypeError, ValueError) as error:
                findings.add("chain", f"{place_of_stored(row)} cannot be read ({error}).", row.seq)
        audit.finish()
        if unlisted := erasures.fault():
            findings.add("chain", f"{unlisted[1]}.", unlisted[0])
        findings.erased = erasures.in_words
        times = times_of(rows)
        findings.last, findings.orphans = last, told_orphans(folder, identity)
        if not (findings.n_signed or findings.unsigned):
            old = (
                f" Its {findings.n_heads} heads without a signature anybody could have written."
                if findings.n_heads
                else ""
            )
            is_new = last == 0 and not heads and not findings.orphans
            findings.add("heads", f"{NOTHING_YET if is_new else NO_HEAD}{findings.orphans}.{old}")
        findings.n_timed = len(timed)
        if problem := time_problem(times, timed) or anchor_problem(identity, named):
            findings.add("times", problem)
        later = sorted(seq for seq in heads if seq > last)
        if is_copy and last in heads:
            findings.later, later = max(later, default=0), []
        for seq in later:
            findings.add("heads", f"the head of event {seq} was written down, but the journal ends at event {last}: "
                         "later events were cut off. What is there up to there is as it was written; restore the rest "
                         "from a copy.", seq)  # fmt: skip
    except JournalError as error:
        findings.add("database", str(error))


def _chained(store: EventStore, start: Digest, findings: _FaultFindings) -> Iterator[StoredRow]:
    """All rows, those that break the chain included."""
    seq = 0
    try:
        for row in map(StoredRow._make, sound(store.stored(), 0, start.encode())):
            seq = row.seq
            yield row
    except ChainFaultError as error:
        findings.add("chain", f"{place_of_stored(error.row)} {error.problem}.", error.row.seq)
        yield from (stored_of(as_text(row)) for row in store.rows(seq))


class _JournalAudit:
    """Audit of what each event owes to those before it."""

    def __init__(
        self,
        types: Mapping[str, type[Record]],
        roots: set[Digest],
        artifacts: set[Digest],
        has_artifact: Callable[[Digest], bool],
        findings: _FaultFindings,
        apart: BodiesApart | None,
    ) -> None:
        self.apart = apart
        self.without_body: list[Event] = []
        self.inputs: dict[Digest, tuple[Digest, ...]] = {}
        """Inputs of records, where bodies are kept apart."""
        self.types, self.known, self.findings = types, roots | artifacts, findings
        self.records: set[Digest] = set()
        self.erased: set[Digest] = set()
        self.unknown: list[tuple[Event, Digest]] = []
        self.has_artifact = has_artifact

    def add(self, row: StoredRow) -> None:
        # A changed record counts as there, so that one change gives one fault and not one in all that cites it.
        if row.kind != INTENT.encode():
            self.records.add(row.record_digest.decode(errors="surrogateescape"))
        try:
            event = resolved(event_of_stored(row), self.apart)
            key = step_key(event.name, event.inputs, event.position)
        except (JournalError, RecordError, ArtifactError) as error:
            self.findings.add("records", str(error), row.seq)
            return
        if self.apart is not None and event.kind != INTENT:
            self.inputs[event.record_digest] = event.inputs
            if event.kind == ERASED and not event.is_bare:
                self.without_body.append(event)
        if event.key != key and not event.is_bare:
            self.findings.add(
                "keys", f"{place(event)} has a key that is not that of its step.", event.seq
            )
        for digest in event.inputs:
            if not self.knows(digest):
                self.findings.add(
                    "inputs",
                    f"{place(event)} cites {digest}, which nothing before it has.",
                    event.seq,
                )
        if event.kind == INTENT:
            return
        try:
            record = parse_record(event.kind, event.body, self.types)
        except RecordError as error:
            self.findings.add("records", f"{place(event)}: {error}", event.seq)
        else:
            self.refer(event, record)

    def refer(self, event: Event, record: Record) -> None:
        if isinstance(record, Tombstone):
            self.erased.add(record.target)
            if record.target not in self.records:
                self.findings.add(
                    "tombstones",
                    f"{place(event)} erases {record.target}, which is no record before it.",
                    event.seq,
                )
        self.unknown += [(event, digest) for digest in digests_in(record) if not self.knows(digest)]

    def finish(self) -> None:
        """Check what refers to erased records, once all of these are known."""
        lost = set(self.erased)
        for (
            digest,
            inputs,
        ) in self.inputs.items():  # in the order of the journal: inputs stand before
            if not lost.isdisjoint(inputs):
                lost.add(digest)
        for event in self.without_body:
            if event.record_digest not in lost:
                self.findings.add(
                    "references",
                    f"{place(event)}: the artifact {event.apart} of a {event.body['was']} record is missing, although "
                    "nothing that it rests on was erased; restore it from a copy.",
                    event.seq,
                )
        for event, digest in self.unknown:
            if event.record_digest not in self.erased:
                self.findings.add(
                    "references", f"{place(event)} refers to {digest}, which is neither a record before it nor an "
                    "artifact; restore it from a copy, or declare the field a `Fingerprint`.", event.seq
                )  # fmt: skip

    def knows(self, digest: Digest) -> bool:
        # The last one for artifacts that arrive during the audit of a trace in use.
        return digest in self.records or digest in self.known or self.has_artifact(digest)


def _verify_artifacts(artifacts: ArtifactStore, findings: _FaultFindings) -> set[Digest]:
    found = set()
    for digest in artifacts.digests():
        found.add(digest)
        try:
            artifacts.get(digest)
        except ArtifactError as error:
            findings.add("artifacts", str(error))
    return found


def _heads(
    folder: Path, identity: Digest, key: str, findings: _FaultFindings
) -> Iterator[KeptHead]:
    """Heads beside the journal and in the second place, each checked by itself."""
    for path in (folder / HEADS_FILE, kept_apart(identity)):
        for kept in kept_heads(path):
            if kept.problem:
                findings.add("heads", kept.problem)
            if kept.signed_by and key and kept.signed_by != key:
                findings.add(
                    "heads",
                    f"line {kept.line} of {kept.path} is signed by {kept.signed_by}, not by {key}: somebody else "
                    "signed it, or the run was made in another laboratory; give its key to `lakatos audit --key`.",
                )
            if kept.signed_by and not key and kept.signed_by != known_key():
                findings.strangers.add(kept.signed_by)
            if kept.head is not None:
                findings.n_heads += 1
                # The head of a journal without events fits every journal with the same description.
                if kept.signed_by and kept.head.seq > 0:
                    findings.n_signed += 1
                    findings.covered = max(findings.covered, kept.head.seq)
                yield kept


def _verify_head(
    heads: Mapping[int, set[Digest]], seq: int, event_hash: Digest, findings: _FaultFindings
) -> None:
    for expected in heads.get(seq, ()):
        if expected != event_hash:
            findings.add("heads", f"event {seq} had hash {expected} when its head was written down, and has another "
                         "now: the journal was written anew; restore it from a copy.", seq)  # fmt: skip
