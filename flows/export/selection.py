"""Select what may leave a run: valid records, without identifiers and data of participants who withdrew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakatos.experiments.record import AnswersArrived, PersonWithdrawn
from lakatos.flows.errors import RunMissingError
from lakatos.flows.operations.people_export import SHOWN
from lakatos.flows.report.reader import RunReading
from lakatos.flows.run.records import ACTS
from lakatos.flows.run.run import read_state
from lakatos.flows.stages.asked import erased
from lakatos.traces.digest import Digest
from lakatos.traces.journal import INTENT, Event
from lakatos.traces.record import Record
from lakatos.traces.validity import Validity


@dataclass(frozen=True)
class ExportSelection:
    """A run as exports see it."""

    reading: RunReading
    events: tuple[Event, ...]
    """Results that hold, in the order of the journal."""
    begun: Mapping[Digest, Event]
    """First intent of each step, by its key."""
    notes: Mapping[Digest, tuple[Mapping[str, Any], ...]]
    """Notes of steps by their key: tries, cost, latency."""
    n_left_out: int
    """Results that do not hold, or that are about somebody who withdrew."""

    @property
    def folder(self) -> Path:
        """Folder of the run that is exported."""
        return self.reading.folder

    def record(self, event: Event) -> Record:
        """The record of an event."""
        return self.reading.trace.read(event).record

    def started(self, event: Event) -> str:
        """Start of the step of a result, ISO 8601."""
        return self.begun[event.key].time_utc if event.key in self.begun else event.time_utc

    def body(self, event: Event) -> dict[str, Any]:
        """A record's fields, with pseudonyms cut short as in the table of answers."""
        shortened: dict[str, Any] = _shortened(event.body)
        return shortened


@contextmanager
def selected(folder: Path) -> Iterator[ExportSelection]:
    """The selection of a run, which is closed afterwards.

    Raises:
        RunMissingError: There is no run, or nothing of it is recorded yet.
    """
    state, trace = read_state(folder)
    with trace:
        everything = list(trace.journal.events())
        if not everything:
            raise RunMissingError(
                f"the run {folder} has not begun; `lakatos resume {folder}` begins it."
            )
        validity = Validity(everything, roots=trace.artifacts.has, acts=ACTS)
        gone = {item.record.person for item in trace.records(PersonWithdrawn)}
        erased_records = erased(trace)
        gone |= {
            item.record.person
            for item in trace.records(AnswersArrived)
            if item.digest in erased_records
        }
        results = [event for event in everything if event.kind != INTENT]
        kept = tuple(
            event
            for event in results
            if validity.valid(event.record_digest)
            and event.kind != "tombstone"
            and event.body.get("person") not in gone
        )
        begun: dict[Digest, Event] = {}
        notes: dict[Digest, list[Mapping[str, Any]]] = {}
        for event in everything:
            if event.kind == INTENT:
                begun.setdefault(event.key, event)
                if "note" in event.body:
                    notes.setdefault(event.key, []).append(event.body["note"])
        yield ExportSelection(
            reading=RunReading(folder, state, trace),
            events=kept,
            begun=begun,
            notes={key: tuple(items) for key, items in notes.items()},
            n_left_out=len(results) - len(kept),
        )


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: inner[:SHOWN]
            if name == "person" and isinstance(inner, str)
            else _shortened(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    return value
