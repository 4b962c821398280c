"""The present activity of a pass, kept beside the run for display; nothing depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lakatos.flows.run.progress import ProgressEvent, clean
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json
from lakatos.traces.errors import ArtifactError
from lakatos.traces.files import read_mark

NOW_FILE = "now.json"
SECONDS_BETWEEN = 0.5
"""A line that comes sooner after another one of the same stage is left out."""
MOST_NOTES = 6


@dataclass(frozen=True)
class PassMoment:
    """The last progress message of a pass."""

    cycle: int
    stage: str
    detail: str
    notes: tuple[str, ...]
    """Messages of this pass, the newest last."""
    at: float
    """Seconds since 1970, by this machine's clock."""

    @property
    def words(self) -> str:
        """The last progress message in one line."""
        where = f"cycle {self.cycle}: " if self.cycle > 0 else ""
        return f"{where}{self.stage}{': ' + self.detail if self.detail else ''}"


class KeptMoment:
    """Keeps the present stage and the last notes of a pass beside its run."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        """Nothing is written into the folder of the run before the first stage or note."""
        self._path, self._clock = folder / NOW_FILE, clock
        self._moment = PassMoment(0, "", "", (), 0.0)
        self._kept = 0.0

    def __call__(self, event: ProgressEvent) -> None:
        """Keep a stage or a note; everything else is shown elsewhere, and the journal has the standings."""
        known = self._moment
        if event.kind == "stage":
            same = (known.cycle, known.stage) == (event.cycle, clean(event.text))
            if not same or self._clock() - self._kept >= SECONDS_BETWEEN:
                self._keep(event.cycle, event.text, event.detail, known.notes)
        elif event.kind == "note":
            notes = (*known.notes, clean(event.text, 300))[-MOST_NOTES:]
            self._keep(known.cycle, known.stage, known.detail, notes)

    def _keep(self, cycle: int, stage: str, detail: str, notes: tuple[str, ...]) -> None:
        """Write the moment down; a disk that takes nothing must not end the pass for this."""
        self._kept = self._clock()
        self._moment = PassMoment(cycle, clean(stage), clean(detail, 300), notes, self._kept)
        with suppress(ArtifactError, OSError):
            write_whole(self._path, canonical_json(asdict(self._moment)), private=True)


def read_now(folder: Path) -> PassMoment | None:
    """The last progress message of a run's newest pass; None if there is none that can be read."""
    kept = read_mark(folder / NOW_FILE)
    with suppress(ValueError, TypeError, KeyError, OverflowError):
        return PassMoment(
            int(kept["cycle"]),
            str(kept["stage"]),
            str(kept["detail"]),
            tuple(map(str, kept["notes"])),
            float(kept["at"]),
        )
    return None
