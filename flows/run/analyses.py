"""How often the same responses were analysed, as far as this laboratory's home knows.

A note about each run on published responses, or on those of a file, is kept in ``analyses`` in the home: keyed digests
of what each participant responded, how often sealed responses were opened, and whether there is a verdict. It stays
when the run's folder is deleted. Two runs have the same responses if half of the participants of the smaller one agree
in three quarters of their trials, whatever the seed, the folder, the file's name, the order and form of its rows, the
names of participants, and a few rows that are missing.

Responses that participants can withdraw are not noted: nothing may be kept of them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from lakatos.experiments.participants.archival import ArchivalParticipants
from lakatos.experiments.record import SealedOpened
from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.flows.run.records import AnalysesNoted
from lakatos.flows.run.run import Run
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json
from lakatos.traces.errors import TraceError
from lakatos.traces.head import identity
from lakatos.traces.home import KEY_FILE, home
from lakatos.traces.journal import Journal
from lakatos.traces.wording import plural

N_PARTS: Final = 4
LEAST_ROWS: Final = 4
"""Of a part of a participant's responses; shorter ones are too easily equal by chance."""
MOST_UNITS: Final = 5_000
SAME_SHARE: Final = 0.5
"""Share of the participants of the smaller run from which on two runs have the same responses."""
Unit = tuple[str, ...]
"""Digest of all that a participant responded, then one of each part, empty for a part with few rows."""


@dataclass(frozen=True)
class AnalysisNote:
    """A run on responses that existed before it."""

    run: str
    """Name of its folder."""
    seed: int
    begun_utc: str
    has_verdict: bool
    n_opened: int
    """How often sealed responses were opened."""
    units: tuple[Unit, ...]

    @property
    def words(self) -> str:
        """The run in words."""
        verdict = "with a verdict" if self.has_verdict else "without a verdict"
        opened = f", sealed responses opened {self.n_opened} times" if self.n_opened > 1 else ""
        opened = ", sealed responses opened once" if self.n_opened == 1 else opened
        return f"{self.run} (seed {self.seed}, {self.begun_utc[:10]}, {verdict}{opened})"


def note_analysis(run: Run) -> None:
    """Note in the home that a run analyses responses that existed before; of other runs nothing is noted.

    A home that cannot be written stops no run.
    """
    source = run.source
    if not isinstance(source, ArchivalParticipants) or not run.trace.journal.head[0]:
        return
    with suppress(OSError, TraceError):
        path = _folder() / f"{identity(run.trace.journal)}.json"
        known = _read(path)
        if known is None:
            key = (home() / KEY_FILE).read_bytes()
            now = datetime.now(UTC).isoformat(timespec="seconds")
            units = units_of(tuple(source.trials.values()), run.domain, key)
            known = AnalysisNote(run.folder.resolve().name, run.config.seed, now, False, 0, units)
        note = replace(
            known,
            has_verdict=known.has_verdict or run.state.campaign.concluded is not None,
            n_opened=sum(1 for _ in run.trace.records(SealedOpened)),
        )
        write_whole(path, canonical_json(asdict(note)), private=True)


def record_analyses(run: Run) -> None:
    """Write down in the journal, before the first verdict, in how many other runs the same responses were analysed.

    The report and the audit of a copy then say the same everywhere and for ever. Nothing is written where the home
    knows no other run, by the run of a fold, and by an audit's walk through the campaign.
    """
    journal, campaign = run.trace.journal, run.state.campaign
    is_fold = bool(journal.meta.get("sealed_rows"))
    if journal.read_only or is_fold or campaign.started is None or campaign.concluded is not None:
        return
    if next(iter(run.trace.records(AnalysesNoted)), None) is not None:
        return
    note_analysis(run)
    noted = analysed_in(journal)
    if noted is not None and (others := noted[1]):
        run.record(
            AnalysesNoted(
                n_runs=len(others),
                n_verdicts=sum(note.has_verdict for note in others),
                n_opened=sum(note.n_opened for note in others),
            ),
            name="analyses",
            inputs=[campaign.started.digest],
        )


def analysed_in(journal: Journal) -> tuple[AnalysisNote, list[AnalysisNote]] | None:
    """The note about a run and those about other runs on the same responses, oldest first; None without a note."""
    own_path = _folder() / f"{identity(journal)}.json"
    own = _read(own_path)
    if own is None:
        return None
    others = [_read(path) for path in sorted(_folder().glob("*.json")) if path != own_path]
    same = [note for note in others if note is not None and has_same(own.units, note.units)]
    return own, sorted(same, key=lambda note: note.begun_utc)


def analyses_in_words(others: Sequence[AnalysisNote]) -> str:
    """How often the same responses were analysed in other runs, in a sentence; empty if never."""
    if not others:
        return ""
    n_opened = sum(note.n_opened for note in others)
    n_verdicts = sum(note.has_verdict for note in others)
    shown = "; ".join(note.words for note in others[:5])
    more = f"; and {len(others) - 5} more" if len(others) > 5 else ""
    return (
        f"the same responses were analysed in {plural(len(others), 'other run')} of this laboratory, with "
        f"{plural(n_verdicts, 'verdict')}, and sealed responses were opened {plural(n_opened, 'time')} there: "
        f"{shown}{more}"
    )


def has_same(one: Sequence[Unit], other: Sequence[Unit]) -> bool:
    """Whether two runs have the same responses."""
    places: dict[tuple[int, str], list[int]] = {}
    for number, unit in enumerate(other):
        for part, digest in enumerate(unit):
            if digest:
                places.setdefault((part, digest), []).append(number)
    n_same = 0
    for unit in one:
        found = Counter[int]()
        for part, digest in enumerate(unit):
            weight = N_PARTS if part == 0 else 1
            for number in places.get((part, digest), ()):
                found[number] += weight
        n_same += max(found.values(), default=0) >= N_PARTS - 1
    return n_same >= SAME_SHARE * max(min(len(one), len(other)), 1)


def units_of(trials: Sequence[Trials], domain: Domain, key: bytes) -> tuple[Unit, ...]:
    """Keyed digests of the responses of each participant, or of each trial where responses are pooled.

    They depend on the presented trials and on the responses to them, not on names, order or sides of options.
    """
    found = [unit for table in trials for unit in _units(table, domain, key)]
    return tuple(sorted(found)[:MOST_UNITS])


def _units(table: Trials, domain: Domain, key: bytes) -> Iterator[Unit]:
    names, turned = _names(domain, table.stimuli, table.n_options)
    response = np.where(turned[table.trial], 1 - table.response, table.response)
    rows = np.asarray(names)[table.trial]
    whose = table.trial if table.pooled else table.participant
    values = np.rec.fromarrays([whose, rows, response, table.count])
    values.sort()
    ends = np.flatnonzero(np.diff(values.f0)) + 1
    for own in np.split(values, ends):
        if len(own):
            yield _unit(own, key)


def _unit(rows: Any, key: bytes) -> Unit:
    """Digests of sorted rows of one participant, and of their parts by trial."""
    told = np.stack([rows.f1, rows.f2, rows.f3], axis=1).astype("<i8")
    parts = [told[told[:, 0] % N_PARTS == number] for number in range(N_PARTS)]
    kept = [told, *parts]
    return tuple(
        hashlib.blake2b(
            np.ascontiguousarray(part).tobytes(), key=key[:64], digest_size=8
        ).hexdigest()
        if number == 0 or len(part) >= LEAST_ROWS
        else ""
        for number, part in enumerate(kept)
    )


def _names(domain: Domain, stimuli: Stimuli, n_options: int) -> tuple[list[int], Any]:
    """A number for each trial, equal for trials that differ by sides only, and whether its sides are exchanged."""
    keys = stimuli.keys
    mirrored = keys if domain.sequential or n_options != 2 else domain.swap_sides(stimuli).keys
    turned = np.asarray(
        [other < own for own, other in zip(keys, mirrored, strict=True)], dtype=bool
    )
    digests = (hashlib.sha256(min(pair)).digest() for pair in zip(keys, mirrored, strict=True))
    return [int.from_bytes(digest[:7], "little") for digest in digests], turned


def _folder() -> Path:
    return home() / "analyses"


def _read(path: Path) -> AnalysisNote | None:
    """A note; None if there is none that can be read."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept: Mapping[str, Any] = json.loads(path.read_bytes())
        units = tuple(tuple(map(str, unit)) for unit in kept["units"])
        return AnalysisNote(
            str(kept["run"]), int(kept["seed"]), str(kept["begun_utc"]),
            bool(kept["has_verdict"]), int(kept["n_opened"]), units,
        )  # fmt: skip
    return None
