"""Verdicts of judges on the theories of a run, and decisions: a fold over the records of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from lakatos.judges.decision import CandidateDecided
from lakatos.judges.epoch import EpochOpened
from lakatos.judges.judge import Verdict, VerdictResolved
from lakatos.judges.record import PairDescribed
from lakatos.judges.transition import EpochCommitted
from lakatos.traces.digest import Digest
from lakatos.traces.state_rule import StateRules, keep_all, keep_by, keep_by_digest
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class JudgingState:
    """Comparisons of theories, verdicts on them and decisions. Verdicts of displaced judges are not among them."""

    epochs: tuple[Recorded[EpochOpened], ...] = ()
    pairs: Mapping[tuple[Digest, int], Recorded[PairDescribed]] = field(default_factory=dict)
    """Comparisons by candidate and cycle."""
    verdicts: Mapping[Digest, Recorded[Verdict]] = field(default_factory=dict)
    """Verdicts by the digest of their record."""
    resolved: Mapping[Digest, Recorded[VerdictResolved]] = field(default_factory=dict)
    """Resolutions by the digest of the verdict's record."""
    decided: Mapping[Digest, Recorded[CandidateDecided]] = field(default_factory=dict)
    """Last decision about each candidate."""


def _forget_displaced(state: JudgingState, item: Recorded[EpochCommitted]) -> JudgingState:
    """Verdicts rest on the whole panel, so that a displaced judge takes all of them, and what followed, with it."""
    if not item.record.changed:
        return state
    return replace(state, verdicts={}, resolved={}, decided={})


RULES: Final[StateRules] = {
    EpochOpened: keep_all("epochs"),
    PairDescribed: keep_by("pairs", "candidate", "cycle"),
    Verdict: keep_by_digest("verdicts"),
    VerdictResolved: keep_by("resolved", "verdict"),
    CandidateDecided: keep_by("decided", "candidate"),
    EpochCommitted: _forget_displaced,
}
"""Rules of how each record changes the state."""
