"""Seats of a run's panel and how judges came by them: a fold over the records of this package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lakatos.judges.erasure import JudgeMeasured
from lakatos.judges.gate_record import GateDecided
from lakatos.judges.ledger import LevelDrawn
from lakatos.judges.record import AnchorTaken, JudgeBred, LabelsExposed
from lakatos.judges.transition import (
    Epoch,
    EpochCommitted,
    EpochFrozen,
    EpochRefilled,
    JudgeSeated,
    advance,
)
from lakatos.traces.digest import Digest
from lakatos.traces.state_rule import StateRule, StateRules, keep_all
from lakatos.traces.step import Recorded


@dataclass(frozen=True)
class SeatsState:
    """Judges in their seats, their challengers, and the anchor set on which they are compared."""

    epoch: Epoch | None = None
    """State of the evolution of judges; None where they take no seats."""
    held: Mapping[str, Recorded[JudgeSeated]] = field(default_factory=dict)
    """Seats in force, by slot."""
    displaced: frozenset[Digest] = frozenset()
    """Seats of judges that lost them: what they justified is doubted."""
    bred: Mapping[Digest, Recorded[JudgeBred]] = field(default_factory=dict)
    """Records of judges by the judge's version."""
    anchors: tuple[Recorded[AnchorTaken], ...] = ()
    exposed: tuple[LabelsExposed, ...] = ()
    """Looks at labels of the anchor set."""
    drawn: tuple[Recorded[LevelDrawn], ...] = ()
    """Levels of tests on the anchor set."""
    measured: Mapping[Digest, Recorded[JudgeMeasured]] = field(default_factory=dict)
    """Measurements of judges that still have their seat, by the digest of their record."""
    n_measured: int = 0
    """All that were ever made."""
    n_rescored: int = 0
    """Number of these measurements that only judge again what a displaced judge had judged."""
    frozen: tuple[Recorded[EpochFrozen], ...] = ()
    gates: tuple[Recorded[GateDecided], ...] = ()
    committed: tuple[Recorded[EpochCommitted], ...] = ()
    refilled: tuple[Recorded[EpochRefilled], ...] = ()


def _expose(state: SeatsState, item: Recorded[LabelsExposed]) -> SeatsState:
    return replace(state, exposed=(*state.exposed, item.record))


def _breed(state: SeatsState, item: Recorded[JudgeBred]) -> SeatsState:
    """A judge that was bred before keeps its first record."""
    return replace(state, bred={item.record.judge: item, **state.bred})


def _seat(state: SeatsState, item: Recorded[JudgeSeated]) -> SeatsState:
    record = item.record
    held = {**state.held, record.slot: item}
    if record.epoch:
        return replace(state, held=held)
    slots = dict(state.epoch.slots) if state.epoch else {}
    return replace(state, held=held, epoch=Epoch({**slots, record.slot: record.judge}))


def _measure(state: SeatsState, item: Recorded[JudgeMeasured]) -> SeatsState:
    if item.digest in state.measured:
        return state
    again = any(item.record.subject in queued.record.queue for queued in state.refilled)
    return replace(
        state,
        measured={**state.measured, item.digest: item},
        n_measured=state.n_measured + 1,
        n_rescored=state.n_rescored + again,
    )


def _freeze(state: SeatsState, item: Recorded[EpochFrozen]) -> SeatsState:
    record = item.record
    # Read back, the first judges' seats may be erased by now; the snapshot says who sat there.
    epoch = state.epoch if record.epoch and state.epoch else Epoch(record.slots)
    return replace(state, epoch=advance(epoch, record), frozen=(*state.frozen, item))


def _advance_and_keep(field: str) -> StateRule:
    """A rule: the epoch of judges moves on, and the field holds all such records."""
    keep = keep_all(field)

    def move_on(state: SeatsState, item: Recorded[Any]) -> SeatsState:
        assert state.epoch is not None
        moved: SeatsState = keep(replace(state, epoch=advance(state.epoch, item.record)), item)
        return moved

    return move_on


def _commit(state: SeatsState, item: Recorded[EpochCommitted]) -> SeatsState:
    ended: SeatsState = _advance_and_keep("committed")(state, item)
    if not item.record.changed:
        return ended
    erased = frozenset(item.record.erases)
    kept = {
        key: recorded
        for key, recorded in ended.measured.items()
        if recorded.record.seat not in erased
    }
    return replace(ended, measured=kept, displaced=ended.displaced | erased)


RULES: Final[StateRules] = {
    AnchorTaken: keep_all("anchors"),
    LabelsExposed: _expose,
    LevelDrawn: keep_all("drawn"),
    JudgeBred: _breed,
    JudgeSeated: _seat,
    JudgeMeasured: _measure,
    EpochFrozen: _freeze,
    GateDecided: _advance_and_keep("gates"),
    EpochCommitted: _commit,
    EpochRefilled: _advance_and_keep("refilled"),
}
"""Rules of how each record changes the state."""
