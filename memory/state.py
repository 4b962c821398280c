"""Knowledge that a run learned and that it took from others: a fold over the records of this package."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from lakatos.memory.library import RECORDS as LESSONS
from lakatos.memory.library import Library
from lakatos.memory.record import (
    LessonsRecalled,
    LibraryLookedAt,
    LibraryTaken,
    WinnersTaken,
)
from lakatos.traces.digest import Digest
from lakatos.traces.state_rule import StateRules, keep_all, keep_newest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class MemoryState:
    """Lessons, tools and theories: learned in this campaign, or taken from earlier ones."""

    library: Library = field(default_factory=Library)
    """Lessons of this campaign."""
    taken: Recorded[LibraryTaken] | None = None
    """Library taken from other campaigns."""
    looked_at: Recorded[LibraryLookedAt] | None = None
    """Entries that no longer count, by the newest look."""
    winners: Recorded[WinnersTaken] | None = None
    """Theories of earlier campaigns that compete."""
    recalled: tuple[Recorded[LessonsRecalled], ...] = ()

    @property
    def theories(self) -> frozenset[Digest]:
        """Theories that came from earlier campaigns."""
        return frozenset(self.winners.record.theories) if self.winners else frozenset()


def _learn(state: MemoryState, item: Recorded[Any]) -> MemoryState:
    return replace(state, library=state.library.with_record(item.digest, item.record))


RULES: Final[StateRules] = {
    LibraryTaken: keep_newest("taken"),
    LibraryLookedAt: keep_newest("looked_at"),
    WinnersTaken: keep_newest("winners"),
    LessonsRecalled: keep_all("recalled"),
    **dict.fromkeys(LESSONS.values(), _learn),
}
"""Rules that apply each record."""
