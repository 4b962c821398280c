"""How far a run is, for a list of runs: counted over its journal, without loading what could carry it on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from lakatos.flows.run.next_pass import look
from lakatos.traces.journal import Event, Journal
from lakatos.traces.step import JOURNAL_FILE
from lakatos.traces.validity import ERASES


@dataclass(frozen=True)
class RunSummary:
    """What one line says of a run."""

    how: str
    n_experiments: int
    n_rivals: int
    n_records: int
    text: str
    """The verdict, or whom it waits for; empty while it goes on."""

    @property
    def line(self) -> str:
        """The counts in words."""
        return (
            f"{self.how}  {self.n_experiments} experiments, {self.n_rivals} rivals, "
            f"{self.n_records} records"
        )


def summarise(folder: Path) -> RunSummary | None:
    """The summary of a run whose last pass ended by itself.

    Returns:
        None where only the whole state can tell: a pass is unfinished, or something was erased.

    Raises:
        JournalError: The journal cannot be read or was changed.
    """
    found = look(folder)
    if found.ended is None:
        return None
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        counted = _JournalCounts.of(journal.events())
    if counted.erases:
        return None
    how = "concluded" if found.ended == "concluded" else counted.how
    return RunSummary(how, len(counted.experiments), len(counted.rivals), found.seq, found.text)


def words_of_progress(n_closed: int, n_cycles: int, *, stopped: bool, n_folds: int) -> str:
    """How far a run without a verdict is."""
    if n_closed >= n_cycles or stopped:
        return f"concluding, {n_folds} folds finished"
    return f"cycle {n_closed + 1} of at most {n_cycles}"


@dataclass(frozen=True)
class _JournalCounts:
    """Distinct things that a journal tells of."""

    experiments: frozenset[str]
    rivals: frozenset[str]
    how: str
    erases: bool
    """Whether a record made others invalid, so that not all that stands there counts."""

    @classmethod
    def of(cls, events: Iterable[Event]) -> _JournalCounts:
        """Count over all events."""
        bodies: dict[str, list[dict[str, object]]] = {}
        for event in events:
            bodies.setdefault(event.kind, []).append(event.body)
        stops = {body["cycle"]: body["stop"] for body in bodies.get("cycle_closed", ())}
        config = next((body["config"] for body in bodies.get("campaign_started", ())), {})
        assert isinstance(config, dict)
        return cls(
            frozenset(str(body["experiment"]) for body in bodies.get("trials_collected", ())),
            frozenset(str(body["theory"]) for body in bodies.get("theory_admitted", ())),
            words_of_progress(
                len(stops),
                int(config.get("stop", {}).get("cycles", 0)),
                stopped=any(stops.values()),
                n_folds=len(bodies.get("fold_finished", ())),
            ),
            "tombstone" in bodies or any(map(_erases, chain.from_iterable(bodies.values()))),
        )


def _erases(body: dict[str, object]) -> bool:
    return bool(body.get(ERASES))
