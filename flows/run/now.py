"""The present activity of a pass, kept beside the run for display; nothing depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from lakatos.flows.run.progress import CampaignProgress, LeaderRow, clean
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


class KeptProgress:
    """Progress that is shown elsewhere and kept beside the run."""

    def __init__(
        self, folder: Path, shown: CampaignProgress, clock: Callable[[], float] = time.time
    ) -> None:
        """Keep in the folder of a run what ``shown`` shows; nothing is written before the first stage."""
        self._path, self._shown, self._clock = folder / NOW_FILE, shown, clock
        self._moment = PassMoment(0, "", "", (), 0.0)
        self._kept = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shown, name)

    def start(self, title: str, n_cycles: int) -> None:
        """Show that the campaign begins."""
        self._shown.start(title, n_cycles)

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """Show a stage, and keep it."""
        self._shown.stage(cycle, name, detail)
        same = (self._moment.cycle, self._moment.stage) == (cycle, clean(name))
        if not same or self._clock() - self._kept >= SECONDS_BETWEEN:
            self._keep(cycle, name, detail, self._moment.notes)

    def rivals(self, names: Sequence[str]) -> None:
        """Show the rivals."""
        self._shown.rivals(names)

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """Show the standings; the journal has them for whoever watches."""
        self._shown.leaderboard(rows)

    def note(self, text: str) -> None:
        """Show what happened, and keep it."""
        self._shown.note(text)
        known = self._moment
        notes = (*known.notes, clean(text, 300))[-MOST_NOTES:]
        self._keep(known.cycle, known.stage, known.detail, notes)

    def waiting(self, text: str) -> None:
        """Show that nothing can go on."""
        self._shown.waiting(text)

    def finish(self, text: str) -> None:
        """Show how the campaign ended."""
        self._shown.finish(text)

    def __enter__(self) -> Self:
        self._shown.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._shown.__exit__(*exception)

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
