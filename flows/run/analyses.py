"""Other analyses of the same responses, as far as this laboratory's home knows.

A note about each run on published responses, or on those of a file, is kept in ``analyses`` in the home: a sketch of
what each participant responded, how often sealed responses were opened, and whether there is a verdict. It stays when
the run's folder is deleted. A sketch is the lowest keyed digests of groups of neighbouring rows (in the order of the
trials' digests) that few other participants have, so two sketches share about as many digests as the responses share
groups. Two runs have the same
responses if half of the participants of the smaller one have a sketch that shares a third with one of the other run,
whatever the seed, the folder, the file's name, the order and form of its rows, the names of participants, and a tenth
of the rows of each.

Responses that participants can withdraw are not noted: who has the home's key can try which responses give a sketch.

References:
    Broder (1997), On the resemblance and containment of documents, Compression and Complexity of Sequences, 21-29.
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
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

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

N_NEIGHBOURS: Final = 6
"""Rows of a group."""
N_DIGESTS: Final = 32
"""Most digests of a sketch; fewer rows have fewer."""
SAME_PART: Final = 1 / 3
"""Share of the smaller sketch from which on two participants have the same responses; copies without a tenth of their
rows share about two fifths."""
LEAST_SHARED: Final = 5
"""Digests that must be shared, too."""
COMMON: Final = 0.1
"""Share of the participants, more than two, from which on a group is what people usually respond, and shows no copy."""
MULTIPLIERS: Final = np.array([2 * n + 1 for n in range(N_NEIGHBOURS)], dtype=np.uint64)
"""Odd numbers by which digests of rows are multiplied, so that a group's digest depends on their order."""
MOST_UNITS: Final = 5_000
SAME_SHARE: Final = 0.5
"""Share of the participants of the smaller run from which on two runs have the same responses."""
N_DIGITS: Final = 7
"""Digits to which attributes of trials are rounded: a copy may be written in another precision."""
Digests = NDArray[np.uint64]
NONE: Final[Digests] = np.empty(0, dtype=np.uint64)
Unit = tuple[str, ...]
"""Sketch of what a participant responded."""


@dataclass(frozen=True)
class AnalysisNote:
    """A run on responses that existed before it."""

    run: str
    """Name of its folder."""
    seed: int
    begun_utc: str
    has_verdict: bool
    n_opened: int
    """Number of times that sealed responses were opened."""
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
    """State how often the same responses were analysed in other runs, in a sentence; empty if never."""
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
    places: dict[str, list[int]] = {}
    for number, unit in enumerate(other):
        for digest in unit:
            places.setdefault(digest, []).append(number)
    n_same = 0
    for unit in one:
        shared = Counter(number for digest in unit for number in places.get(digest, ()))
        n_same += any(n >= _enough(unit, other[number]) for number, n in shared.items())
    return n_same >= SAME_SHARE * max(min(len(one), len(other)), 1)


def _enough(one: Unit, other: Unit) -> float:
    """Digests that two sketches of the same responses share at least; short ones share all."""
    size = min(len(one), len(other))
    return max(SAME_PART * size, min(LEAST_SHARED, size))


def units_of(trials: Sequence[Trials], domain: Domain, key: bytes) -> tuple[Unit, ...]:
    """Sketches of the responses of each participant, or of each trial where responses are pooled.

    They depend on the presented trials and on the responses to them, not on names, order or sides of options.
    """
    groups = [digests for table in trials for digests in _groups_of(table, domain, key)]
    values, counts = np.unique(np.concatenate([NONE, *groups]), return_counts=True)
    common = values[counts > max(2, COMMON * len(groups))]
    own = [digests[~np.isin(digests, common)][:N_DIGESTS] for digests in groups]
    units = [tuple(f"{digest:016x}" for digest in digests.tolist()) for digests in own]
    return tuple(sorted(filter(None, units))[:MOST_UNITS])


def _groups_of(table: Trials, domain: Domain, key: bytes) -> Iterator[Digests]:
    """The lowest digests of the groups of neighbouring rows of each participant, more than a sketch has."""
    names, turned = _names(domain, table.stimuli, table.n_options)
    response = np.where(turned[table.trial], 1 - table.response, table.response)
    rows = np.asarray(names)[table.trial]
    whose = table.trial if table.pooled else table.participant
    # A trial that was presented again is one row: repeated usual responses do not show a copy.
    row = np.stack([whose, rows, response], axis=1).astype("<i8")
    row, same = np.unique(row, axis=0, return_inverse=True)
    count = np.bincount(same.ravel(), weights=table.count).astype("<i8")
    keyed = np.column_stack([row[:, 1:], count])
    distinct, place = np.unique(keyed, axis=0, return_inverse=True)
    digests = [
        hashlib.blake2b(row.tobytes(), key=key[:64], digest_size=8).digest() for row in distinct
    ]
    of_row = np.frombuffer(b"".join(digests), dtype="<u8")[place.ravel()]
    for own in np.split(of_row, np.flatnonzero(np.diff(row[:, 0])) + 1):
        if not len(own):
            continue
        n_together = min(N_NEIGHBOURS, len(own))
        groups = sliding_window_view(own, n_together) * MULTIPLIERS[:n_together]
        yield np.unique(groups.sum(axis=1, dtype=np.uint64))[: 2 * N_DIGESTS]


def _names(domain: Domain, stimuli: Stimuli, n_options: int) -> tuple[list[int], Any]:
    """A number for each trial, equal for trials that differ by sides only, and whether its sides are exchanged."""
    arrays = {name: _rounded(array) for name, array in stimuli.arrays.items()}
    stimuli = Stimuli(arrays)
    keys = stimuli.keys
    mirrored = keys if domain.sequential or n_options != 2 else domain.swap_sides(stimuli).keys
    turned = np.asarray(
        [other < own for own, other in zip(keys, mirrored, strict=True)], dtype=bool
    )
    digests = (hashlib.sha256(min(pair)).digest() for pair in zip(keys, mirrored, strict=True))
    return [int.from_bytes(digest[:7], "little") for digest in digests], turned


def _rounded(values: Any) -> Any:
    """Numbers with `N_DIGITS` digits; other values as they are."""
    if not np.issubdtype(values.dtype, np.floating):
        return values
    size = np.abs(np.where(np.isfinite(values) & (values != 0), values, 1.0))
    last = 10.0 ** (np.floor(np.log10(size) + 1e-6) - N_DIGITS + 1)
    return np.round(values / last) * last


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
