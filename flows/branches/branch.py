"""Branches of a run: everything up to a record, one thing changed, and a new seed for what follows.

A branch is a run of its own. It holds the same records under the same digests up to the one it begins at; what follows
is carried on by the same code as any run. Where the changed record was used, steps have other inputs, and so other
keys, and are taken anew; nothing has to be told what to do again. Its journal's description cites its origin, and is
part of the chain.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakatos.flows.errors import RewindError
from lakatos.flows.run.records import APART_KINDS, RECORD_TYPES
from lakatos.flows.run.run import check_run
from lakatos.traces.apart import ERASED, ApartKinds
from lakatos.traces.digest import Digest
from lakatos.traces.errors import RecordError
from lakatos.traces.head import write_head
from lakatos.traces.journal import INTENT, Event
from lakatos.traces.record import (
    Record,
    RecordTypes,
    RowsErased,
    Tombstone,
    body_of,
    kind_of,
    parse_record,
)
from lakatos.traces.step import ARTIFACT_FOLDER, Trace
from lakatos.traces.system import link_file

ORIGIN = "origin"
"""Key of a branch's journal description that says what it was branched from."""


@dataclass(frozen=True)
class RecordEdit:
    """One field of a record, and its value in the branch."""

    field: str
    """Names and places of lists, joined by dots: ``config.design.participants``, ``claims.0.text``."""
    value: Any

    @property
    def words(self) -> str:
        """The change as ``FIELD=VALUE``, for tables."""
        return f"{self.field}={json.dumps(self.value, ensure_ascii=False)}"


def parse_edit(text: str) -> RecordEdit:
    """Read ``FIELD=VALUE``; the value is JSON, or text where it is none.

    Raises:
        RewindError: There is no field.
    """
    field, equals, value = text.partition("=")
    if not equals or not field.strip():
        raise RewindError(f"{text!r} sets nothing; write FIELD=VALUE, for example accepted=false.")
    try:
        return RecordEdit(field.strip(), json.loads(value))
    except ValueError:
        return RecordEdit(field.strip(), value)


def edited(record: Record, edit: RecordEdit) -> Record:
    """``record`` with one field changed, and nothing else.

    Raises:
        RewindError: There is no such field, its type takes no such value, or it has that value already.
    """
    body, kind = body_of(record), kind_of(type(record))
    changed = _with_value(body, edit, f"the {kind} record")
    if edit.field in ("kind", "version"):
        raise RewindError(f"{edit.field!r} is the kind of the record; set one of its other fields.")
    try:
        found = parse_record(kind, changed, {kind: type(record)})
    except RecordError as error:
        raise RewindError(f"{edit.words} cannot be: {error}") from None
    differing = _differences(body, body_of(found))
    if not differing:
        raise RewindError(
            f"{edit.field} is {json.dumps(edit.value)} already; a branch changes exactly one thing."
        )
    others = [
        name for name in differing if name != edit.field and not name.startswith(f"{edit.field}.")
    ]
    if others:
        raise RewindError(
            f"setting {edit.field} changes {', '.join(others[:3])} too; a branch changes one thing."
        )
    return found


def _with_value(body: Mapping[str, Any], edit: RecordEdit, whole: str) -> dict[str, Any]:
    """A copy of a record's body with one value set.

    Raises:
        RewindError: There is no such place.
    """
    changed: dict[str, Any] = json.loads(json.dumps(body))
    place: Any = changed
    *way, last = edit.field.split(".")
    for depth, name in enumerate(way):
        place = place[_key_in(place, name, edit, ".".join(way[:depth]) or whole)]
    place[_key_in(place, last, edit, ".".join(way) or whole)] = edit.value
    return changed


def _key_in(place: Any, name: str, edit: RecordEdit, where: str) -> Any:
    """The key or number by which a place holds what a field calls ``name``.

    Raises:
        RewindError: It holds nothing of that name.
    """
    if isinstance(place, list) and name.isdigit() and int(name) < len(place):
        return int(name)
    if isinstance(place, dict) and name in place:
        return name
    there = "nothing further"
    if isinstance(place, dict | list):
        there = ", ".join(map(str, place if isinstance(place, dict) else range(len(place))))
    raise RewindError(f"there is no field {edit.field!r}: {where} has {there or 'nothing'}.")


def _differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Fields in which two JSON values differ."""
    if type(one) is type(other) and isinstance(one, dict):
        names = dict.fromkeys((*one, *other))
        pairs: list[tuple[str, Any, Any]] = [
            (str(name), one.get(name, _AbsentField), other.get(name, _AbsentField))
            for name in names
        ]
    elif type(one) is type(other) and isinstance(one, list) and len(one) == len(other):
        pairs = [(str(place), *both) for place, both in enumerate(zip(one, other, strict=True))]
    else:
        return [] if one == other and type(one) is type(other) else [where]
    return [
        name
        for key, first, second in pairs
        for name in _differences(first, second, f"{where}.{key}" if where else key)
    ]


class _AbsentField:
    """Stands for a field that is not there."""


@dataclass(frozen=True)
class BranchOrigin:
    """Origin of a branch."""

    run: str
    """Name of the run's folder."""
    seq: int
    """Number of the record, from 1; 0 stands for the run's beginning."""
    record: Digest
    """Digest of the record in the origin."""
    hash: Digest
    """Hash of its event, which seals the origin's journal up to it."""
    field: str
    """Changed field; empty if nothing was changed."""
    value: Any
    seed: int
    """Seed of everything that follows."""
    effects: str
    """Whether what came from outside is ``recorded`` or ``live``."""

    @property
    def words(self) -> str:
        """Explanation of a branch and of the value of its result."""
        change = (
            f"{self.field} set to {json.dumps(self.value)}" if self.field else "nothing changed"
        )
        return (
            f"carried on from record {self.seq} of {self.run} with {change}, seed {self.seed} and {self.effects} "
            "effects: what it concludes is counterfactual and no finding"
        )

    def to_json(self) -> dict[str, Any]:
        """Write the origin as plain values, for the description that begins the journal."""
        return dict(vars(self))


def origin_of(meta: Mapping[str, Any]) -> BranchOrigin | None:
    """The origin in a journal's description; None for a run that is no branch."""
    return BranchOrigin(**meta[ORIGIN]) if meta.get(ORIGIN) else None


def find_record(events: Sequence[Event], name: str) -> Event:
    """The event of a record by its number in the journal, or by the beginning of its digest.

    Raises:
        RewindError: There is none, or more than one.
    """
    results = [event for event in events if event.kind != INTENT]
    if name.isdigit() and len(name) < 8:
        found = [event for event in results if event.seq == int(name)]
    else:
        found = [
            event for event in results if len(name) >= 6 and event.record_digest.startswith(name)
        ]
    if len(found) != 1:
        numbers = f"{results[0].seq} to {results[-1].seq}" if results else "none"
        raise RewindError(
            f"{len(found)} records are called {name!r}; give a record's number in the journal ({numbers}; intents have "
            "none) or at least 6 digits of its digest."
        )
    return found[0]


def branch(
    origin: Path,
    folder: Path,
    at: str,
    *,
    edit: RecordEdit | None = None,
    seed: int | None = None,
    effects: str = "recorded",
    after: bool = True,
    types: RecordTypes = RECORD_TYPES,
) -> BranchOrigin:
    """Begin a branch in ``folder``; carry it on as any run.

    Args:
        origin: Folder of the run; only read.
        folder: Folder of the branch; must not hold a run yet.
        at: A record of the origin, see `find_record`.
        edit: What is changed in it; None for a replay without a change.
        seed: Seed of all later steps; the origin's by default, with which an unchanged branch repeats the origin.
        effects: Kept for whoever carries it on: ``recorded`` or ``live``.
        after: Whether the record itself stands in the branch; where it does not, its step is taken anew.
        types: Class that reads each kind of record.

    Raises:
        RunMissingError: The origin is no run.
        RewindError: There is no such record, or it cannot be changed like this.
        JournalError: The folder holds a run already or cannot be written.
    """
    check_run(origin)
    if edit is not None and not after:
        raise RewindError("a record that is computed again cannot be changed as well.")
    with Trace.open(origin, types, read_only=True) as trace:
        events = list(trace.journal.events())
        chosen = find_record(events, at)
        record = trace.read(chosen).record
        if edit is not None:
            record = edited(record, edit)
        meta = trace.journal.meta
        own_seed = trace.seed if seed is None else seed
        cited = BranchOrigin(
            run=origin.name,
            seq=chosen.seq,
            record=chosen.record_digest,
            hash=chosen.hash,
            field=edit.field if edit else "",
            value=edit.value if edit else None,
            seed=own_seed,
            effects=effects,
        )
        described = {name: value for name, value in meta.items() if name not in ("seed", "roots")}
        if edit is not None and chosen.kind == "campaign_started":
            # The record holds neither where files are nor which form they have.
            changed = _with_value({"config": meta["study"]}, edit, "the study")
            described["study"] = changed["config"]
        described[ORIGIN] = cited.to_json()
        kept = _kept(events, chosen.seq if after else chosen.seq - 1)
        with Trace.create(
            folder, seed=own_seed, types=types, meta=described, roots=sorted(trace.roots)
        ) as made:
            _link_artifacts(origin / ARTIFACT_FOLDER, folder / ARTIFACT_FOLDER)
            erased_rows = list[int]()
            for event in kept:
                if event.kind == RowsErased.model_fields["kind"].default:
                    continue
                if event.is_bare:
                    made.journal.append_erased(event.record_digest)
                    erased_rows.append(made.journal.head[0])
                    continue
                is_changed = edit is not None and event.seq == chosen.seq
                made.journal.append(
                    event.body["was"] if event.kind == ERASED else event.kind,
                    body_of(record) if is_changed else event.body,
                    key=event.key, name=event.name, position=event.position, inputs=event.inputs,
                    attempt=event.attempt, apart=None if is_changed else event.apart,
                )  # fmt: skip
            _withdraw(trace, made, events)
            made.list_erased(erased_rows)
    write_head(folder, begins=True)
    return cited


def _withdraw(trace: Trace, made: Trace, events: list[Event]) -> None:
    """Responses in the branch that were withdrawn later in its origin are withdrawn in the branch, too."""
    kinds = ApartKinds.of(trace.journal.meta) or APART_KINDS
    held = {event.record_digest: event.kind for event in made.journal.events()}
    by_digest = {event.record_digest: event for event in events}
    for event in events:
        record = trace.read(event).record if event.kind == kind_of(Tombstone) else None
        if not isinstance(record, Tombstone) or held.get(record.target) not in kinds.roots:
            continue
        if event.record_digest in held:
            continue
        decided = by_digest.get(record.decision or "")
        if decided is None:
            made.record(record, name=event.name, position=event.position)
            continue
        decision = made.record(
            trace.read(decided).record,
            name=decided.name,
            inputs=[cited for cited in decided.inputs if cited in held],
            position=decided.position,
        )
        made.record(
            record.model_copy(update={"decision": decision.digest}),
            name=event.name,
            inputs=[decision.digest],
            position=event.position,
        )


def _kept(events: list[Event], last: int) -> list[Event]:
    """Events up to number ``last``, without intents of steps that had no result by then: those are begun anew."""
    before = [event for event in events if event.seq <= last]
    finished = {event.key for event in before if event.kind != INTENT}
    return [event for event in before if event.kind != INTENT or event.key in finished]


def _link_artifacts(source: Path, target: Path) -> None:
    """The origin's artifacts as links, which no answers outlive: what is erased in the origin is gone in the branch."""
    for path in sorted(source.glob("[0-9a-f][0-9a-f]/*")):
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        link_file(path.resolve(), place)
