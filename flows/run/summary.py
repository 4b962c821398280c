"""Progress of a run and standing of its rivals, kept beside the run, so that it is read without the laboratory.

The file is a copy, never a truth: it counts only while the journal ends with the event that it names, and only as this
laboratory wrote it, which a code made with the laboratory's key shows.
"""

from __future__ import annotations

import hmac
import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json
from lakatos.traces.errors import ArtifactError
from lakatos.traces.files import JOURNAL_FILE, read_mark
from lakatos.traces.home import KEY_FILE, home
from lakatos.traces.journal import Journal
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.flows.run.state import RunState
    from lakatos.theories.engine.scoreboard import TheoryStanding
    from lakatos.theories.engine.scoring.score import ScoreEstimate

SUMMARY_FILE = "summary.json"
MOST_STANDINGS = 12


@dataclass(frozen=True)
class RunSummary:
    """The line of `lakatos status` about a run."""

    how: str
    n_experiments: int
    n_rivals: int
    n_events: int
    head: str
    """Hash of the last event that it tells of."""
    waiting: str
    """Whom it waits for; empty if for nobody."""
    verdict: str
    """Verdict; empty before there is one."""
    leader: str
    """Name of the theory that the verdict names; empty before there is one."""
    one_by_one: bool
    """Whether people answer it one by one, whose limits may pass while nothing is written."""
    standings: tuple[tuple[str, ...], ...]
    """The best theories as lines of a table; see `COLUMNS`."""

    @property
    def line(self) -> str:
        """How far the run is, and the counts, in a line."""
        return f"{self.how}  {self.counts}"

    @property
    def counts(self) -> str:
        """The counts in words."""
        return (
            f"{plural(self.n_experiments, 'experiment')}, {plural(self.n_rivals, 'theory')}, "
            f"{plural(self.n_events, 'event')}"
        )


COLUMNS = (
    "theory",
    "misfit ratio",
    "completeness",
    "nats per choice",
    "frozen predictions",
    "error",
    "r",
    "",
)


def summary_of(state: RunState, head: tuple[int, str], waiting: str) -> RunSummary:
    """The summary of a state.

    Args:
        state: State of the run.
        head: Number and hash of the last event that it was computed from.
        waiting: People whom the run waits for, in words.
    """
    config = state.campaign.config
    return RunSummary(
        "concluded" if state.campaign.concluded else _progress_of(state),
        len(state.experiments.collected),
        len(state.theories.pool),
        *head,
        waiting=waiting,
        verdict=state.campaign.concluded.record.text if state.campaign.concluded else "",
        leader=state.theories.name(state.campaign.concluded.record.leader)
        if state.campaign.concluded
        else "",
        one_by_one=bool(config and config.source.one_by_one),
        standings=_standings(state),
    )


def keep_summary(folder: Path, summary: RunSummary) -> None:
    """Leave a summary beside the run; where nothing can be written, the next one who asks loads the run again."""
    with suppress(ArtifactError, OSError):
        values = json.loads(canonical_json(asdict(summary)))
        kept = canonical_json({**values, CODE: _code_of(values)})
        write_whole(folder / SUMMARY_FILE, kept, private=True)


CODE = "code"
"""Key of the code that shows who wrote a summary."""


def _code_of(values: dict[str, Any]) -> str:
    """The code of a summary's content.

    Raises:
        OSError: The laboratory has no key yet.
    """
    key = (home() / KEY_FILE).read_bytes()
    return hmac.new(key, b"summary" + canonical_json(values), "sha256").hexdigest()


def read_summary(folder: Path) -> RunSummary | None:
    """The summary that this laboratory left beside a run, if the journal still ends where it did then.

    Raises:
        JournalError: The journal cannot be read.
    """
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        head = journal.head
    with suppress(OSError, ValueError, TypeError, KeyError):
        kept = read_mark(folder / SUMMARY_FILE)
        if not hmac.compare_digest(str(kept.pop(CODE)), _code_of(kept)):
            return None
        lines = tuple(tuple(map(str, line)) for line in kept.pop("standings"))
        summary = RunSummary(**kept, standings=lines)
        return summary if (summary.n_events, summary.head) == head else None
    return None


def _progress_of(state: RunState) -> str:
    """State how far a run without a verdict is."""
    n_closed = len(state.campaign.cycles)
    n_cycles = state.campaign.config.stop.cycles if state.campaign.config else 0
    if n_closed >= n_cycles or (state.campaign.cycles and state.campaign.cycles[-1].record.stop):
        return f"concluding, {plural(len(state.campaign.folds), 'fold')} finished"
    return f"cycle {n_closed + 1} of at most {n_cycles}"


def _with_interval(score: ScoreEstimate) -> str:
    """A score with its 95% interval, if there is one."""
    if not score.has_interval:
        return f"{score.value:.4f}"
    low, high = score.interval
    return f"{score.value:.4f} ({low:.4f} to {high:.4f})"


def _frozen_score(line: TheoryStanding, n_experiments: int) -> str:
    """The score of frozen predictions, with the number of experiments where others may have more."""
    if line.prequential is None:
        return ""
    value = f"{line.prequential.value:.4f}"
    return (
        value
        if line.n_prequential == n_experiments
        else f"{value} ({line.n_prequential} of {n_experiments})"
    )


def _standings(state: RunState) -> tuple[tuple[str, ...], ...]:
    measured = {}
    if state.theories.completeness is not None:
        measured = {line.theory: line for line in state.theories.completeness.record.theories}
    table = []
    tied = state.tied()
    board = state.board()
    for line in board.standings[:MOST_STANDINGS]:
        known = measured.get(line.theory)
        concluded = state.campaign.concluded
        left = concluded.record.left_by(line.theory) if concluded else None
        table.append(
            (
                state.theories.name(line.theory),
                "" if left is None else f"{left.value:.2f} ({left.low:.2f} to {left.high:.2f})",
                "" if known is None or known.completeness is None else f"{known.completeness:.2f}",
                _with_interval(line.score),
                _frozen_score(line, len(board.experiments)),
                f"{line.error:.4f}",
                "" if line.correlation is None else f"{line.correlation:.3f}",
                "tie" if line.theory in tied and len(tied) > 1 else "",
            )
        )
    return tuple(table)
