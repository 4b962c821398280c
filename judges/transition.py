"""Transition to the next epoch of judges: OPEN, FREEZE, DECIDE, COMMIT, REFILL as records, and the state as their fold.

All slots are decided on the snapshot that FREEZE names. COMMIT is one
record, which seats the winners and erases everything that rested on a displaced judge
(`traces.validity.ERASES`): a run cut short before it has changed nothing, one cut short after it has changed
everything. REFILL opens the next epoch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lakatos.judges.errors import EpochMismatchError, EpochStateError
from lakatos.judges.gate_record import GateDecided
from lakatos.traces.digest import Digest, Fingerprint, digest_of
from lakatos.traces.record import Record

Phase = Literal["open", "freeze", "commit"]
FIRST_CHECKPOINT, RATIO = 8, 2
"""Evaluations before the first boundary, and the ratio of each to the one before: re-measuring then costs O(budget)."""
RESCORE_SHARE = 0.2
"""Share of all evaluations that re-scoring may use, so that it cannot starve the search."""


class JudgeSeated(Record):
    """A judge took a slot; its measurements cite this record, and displacing it erases the record."""

    kind: Literal["judge_seated"] = "judge_seated"
    version: Literal[1] = 1
    slot: str
    epoch: int
    judge: Fingerprint
    """Version of the judge."""


class EpochFrozen(Record):
    """No more evaluations are admitted to the epoch; its slots will be decided on this snapshot."""

    kind: Literal["epoch_frozen"] = "epoch_frozen"
    version: Literal[1] = 1
    epoch: int
    slots: dict[str, Fingerprint]
    """Version of the judge in each slot."""
    anchor: Fingerprint
    """Version of the confirm part."""
    ledger: float | None = None
    """Ledger in records of earlier versions only; levels are now drawn from the ledger of the anchor set."""
    n_evaluations: int


class EpochCommitted(Record):
    """All slots were decided: the one record that changes judges and validity together."""

    kind: Literal["epoch_committed"] = "epoch_committed"
    version: Literal[1] = 1
    epoch: int
    """Epoch that ends."""
    snapshot: Fingerprint
    """Digest of the `EpochFrozen` record."""
    decisions: tuple[Fingerprint, ...]
    """Digests of `GateDecided` records, by slot."""
    slots: dict[str, Fingerprint]
    """Judges of the next epoch."""
    changed: tuple[str, ...]
    """Slots whose judge was displaced."""
    without_gate: tuple[str, ...] = ()
    """Slots that changed without a gate, in records of earlier versions only."""
    erases: tuple[Digest, ...]
    """`JudgeSeated` records of the displaced judges; everything derived from them is invalid."""
    reason: str


class EpochRefilled(Record):
    """Erased subjects were queued for new judgements, and the next epoch is open."""

    kind: Literal["epoch_refilled"] = "epoch_refilled"
    version: Literal[1] = 1
    epoch: int
    """Epoch that opens."""
    queue: tuple[Fingerprint, ...]
    """Subjects to be judged again, the most wanted first."""


@dataclass(frozen=True)
class Epoch:
    """State of the evolution of judges: a fold of records over `begin`."""

    slots: Mapping[str, Digest]
    """Version of the judge in each slot."""
    number: int = 0
    phase: Phase = "open"
    snapshot: EpochFrozen | None = None
    decided: tuple[GateDecided, ...] = ()
    history: tuple[Mapping[str, Digest], ...] = ()
    """Slots of all epochs before."""
    queue: tuple[Digest, ...] = ()


def advance(state: Epoch, record: Record) -> Epoch:
    """The state after one more record; records of other kinds change nothing.

    Raises:
        EpochStateError: The record does not fit the phase, the epoch or the snapshot.
    """
    if isinstance(record, EpochFrozen):
        _expect(state, record, "open", state.number)
        if record.slots != dict(state.slots):
            raise EpochStateError(
                f"epoch {state.number} was frozen with judges that are not those in its slots."
            )
        return replace(state, phase="freeze", snapshot=record, decided=())
    if isinstance(record, GateDecided):
        _expect(state, record, "freeze", state.number)
        if record.slot not in state.slots or record.incumbent != state.slots[record.slot]:
            raise EpochStateError(
                f"the decision on slot {record.slot!r} compares with {record.incumbent[:8]}, which does not sit there "
                f"in epoch {state.number}; all slots are decided on the snapshot."
            )
        if record.slot in {item.slot for item in state.decided}:
            raise EpochStateError(
                f"slot {record.slot!r} was decided already in epoch {state.number}."
            )
        return replace(state, decided=(*state.decided, record))
    if isinstance(record, EpochCommitted):
        _expect(state, record, "freeze", state.number)
        if record.decisions != _digests(state.decided) or record.slots != _winners(state):
            raise EpochStateError(f"the commit of epoch {state.number} differs from its decisions.")
        return replace(
            state,
            phase="commit",
            slots=record.slots,
            history=(*state.history, state.slots),
        )
    if isinstance(record, EpochRefilled):
        _expect(state, record, "commit", state.number + 1)
        return replace(
            state,
            phase="open",
            number=record.epoch,
            snapshot=None,
            decided=(),
            queue=record.queue,
        )
    return state


def freeze_epoch(state: Epoch, anchor: Digest, n_evaluations: int) -> EpochFrozen:
    """The record that ends admission to the epoch."""
    return EpochFrozen(
        epoch=state.number,
        slots=dict(state.slots),
        anchor=anchor,
        n_evaluations=n_evaluations,
    )


def commit(state: Epoch, seats: Mapping[str, Digest]) -> EpochCommitted:
    """The one record that ends an epoch; the order in which slots were decided does not matter.

    Args:
        state: Frozen, with the decisions of those slots that had a challenger.
        seats: Digest of the `JudgeSeated` record now in force in each slot.

    Raises:
        EpochStateError: The epoch is not frozen, or a displaced judge's seat is not known.
    """
    if state.phase != "freeze" or state.snapshot is None:
        raise EpochStateError(
            f"epoch {state.number} is {state.phase}; freeze it before it is committed."
        )
    winners = _winners(state)
    changed = tuple(sorted(slot for slot in winners if winners[slot] != state.slots[slot]))
    if missing := [slot for slot in changed if slot not in seats]:
        raise EpochStateError(
            f"no record shows that the judge of slot {missing[0]!r} took its seat; cite it."
        )
    names = ", ".join(f"{slot}: {state.slots[slot][:8]} by {winners[slot][:8]}" for slot in changed)
    return EpochCommitted(
        epoch=state.number,
        snapshot=digest_of(state.snapshot.model_dump(mode="json")),
        decisions=_digests(state.decided),
        slots=winners,
        changed=changed,
        erases=tuple(seats[slot] for slot in changed),
        reason=f"judge epoch {state.number} ended; displaced {names}"
        if changed
        else "no judge was displaced",
    )


def refill(state: Epoch, queue: Sequence[Digest]) -> EpochRefilled:
    """The record that opens the next epoch; an unchanged panel has nothing to judge again."""
    return EpochRefilled(epoch=state.number + 1, queue=tuple(queue))


def next_checkpoint(n_evaluations: int, first: int = FIRST_CHECKPOINT, ratio: int = RATIO) -> int:
    """The number of evaluations at which the epoch that is open ends."""
    checkpoint = first
    while checkpoint <= n_evaluations:
        checkpoint *= ratio
    return checkpoint


def may_rescore(n_evaluations: int, n_rescored: int, share: float = RESCORE_SHARE) -> bool:
    """Whether one more re-scoring keeps within its share of all evaluations, itself included."""
    return n_rescored + 1 <= share * (n_evaluations + 1)


def _expect(state: Epoch, record: Record, phase: Phase, epoch: int) -> None:
    kind, number = record.kind, record.epoch  # type: ignore[attr-defined]
    if number != epoch:
        raise EpochMismatchError(
            f"a record {kind!r} of epoch {number} came where epoch {epoch} was expected."
        )
    if state.phase != phase:
        raise EpochStateError(
            f"a record {kind!r} came while epoch {state.number} was in phase {state.phase!r}; it belongs in {phase!r}. "
            "The order is OPEN, FREEZE, DECIDE, COMMIT, REFILL."
        )


def _by_slot(decided: Sequence[GateDecided]) -> list[GateDecided]:
    return sorted(decided, key=lambda item: item.slot)


def why_ended(gates: Sequence[GateDecided]) -> str:
    """State what became of each challenger of an epoch."""
    return "; ".join(gate.reason for gate in gates) or "no challenger was found"


def _digests(decided: Sequence[GateDecided]) -> tuple[Digest, ...]:
    return tuple(digest_of(item.model_dump(mode="json")) for item in _by_slot(decided))


def _winners(state: Epoch) -> dict[str, Digest]:
    won = {item.slot: item.challenger for item in state.decided if item.verdict == "replace"}
    return {slot: won.get(slot, judge) for slot, judge in sorted(state.slots.items())}
