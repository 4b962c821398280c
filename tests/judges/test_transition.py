"""Epochs of judges: the order of records, one atomic commit, and that decisions on a snapshot have no order."""

from functools import reduce
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.judges.errors import EpochMismatchError, EpochStateError
from lakatos.judges.gate_record import GateDecided
from lakatos.judges.transition import (
    Epoch,
    EpochCommitted,
    EpochFrozen,
    EpochRefilled,
    JudgeSeated,
    advance,
    commit,
    freeze_epoch,
    may_rescore,
    next_checkpoint,
    refill,
)
from lakatos.traces.digest import digest_of
from lakatos.traces.record import body_of, parse_record

A, B, C, D = map(digest_of, "ABCD")
BEGIN = Epoch({"program": A, "rubric": B})
SEATS = {"program": digest_of("seat A"), "rubric": digest_of("seat B")}


def decision(slot, incumbent, challenger, verdict="replace", epoch=0):
    return GateDecided(
        registration=digest_of("r"),
        slot=slot,
        epoch=epoch,
        incumbent=incumbent,
        challenger=challenger,
        verdict=verdict,
        reason="",
        n_excluded=0,
        level=0.01,
        minimum_detectable=0.05,
        number=1,
    )


def test_an_epoch_goes_through_all_its_phases():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    decided = advance(frozen, decision("program", A, C))
    record = commit(decided, SEATS)
    assert record.slots == {"program": C, "rubric": B}
    assert record.changed == ("program",)
    assert record.erases == (SEATS["program"],)
    committed = advance(decided, record)
    opened = advance(committed, refill(committed, [D]))
    assert [state.phase for state in (BEGIN, frozen, decided, committed, opened)] == [
        "open",
        "freeze",
        "freeze",
        "commit",
        "open",
    ]
    assert (opened.number, opened.slots, opened.queue) == (1, {"program": C, "rubric": B}, (D,))
    assert opened.history == (BEGIN.slots,)


def test_the_order_of_decisions_does_not_matter():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    decisions = [decision("program", A, C), decision("rubric", B, D, "keep")]
    first, second = (
        commit(reduce(advance, order, frozen), SEATS) for order in permutations(decisions)
    )
    assert first == second


@pytest.mark.parametrize("verdict", ["keep", "underpowered", "error"])
def test_what_does_not_replace_erases_nothing(verdict):
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    record = commit(advance(frozen, decision("program", A, C, verdict)), SEATS)
    assert (record.slots, record.erases, record.changed) == (dict(BEGIN.slots), (), ())


def test_records_out_of_order_are_refused():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    with pytest.raises(
        EpochStateError, match="'gate_decided' came while epoch 0 was in phase 'open'"
    ):
        advance(BEGIN, decision("program", A, C))
    with pytest.raises(EpochStateError, match="freeze it before it is committed"):
        commit(BEGIN, SEATS)
    with pytest.raises(
        EpochStateError, match="'epoch_frozen' came while epoch 0 was in phase 'freeze'"
    ):
        advance(frozen, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    with pytest.raises(EpochMismatchError, match="epoch 1 came where epoch 0 was expected"):
        advance(frozen, decision("program", A, C, epoch=1))
    with pytest.raises(EpochMismatchError, match="epoch 1 came where epoch 0 was expected"):
        advance(frozen, freeze_epoch(Epoch(BEGIN.slots, number=1), digest_of("anchor"), 8))


def test_a_decision_on_another_incumbent_than_the_snapshots_is_refused():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    with pytest.raises(EpochStateError, match=f"compares with {D[:8]}, which does not sit there"):
        advance(frozen, decision("program", D, C))
    with pytest.raises(EpochStateError, match="was decided already"):
        reduce(advance, [decision("program", A, C), decision("program", A, D)], frozen)


def test_a_commit_that_is_not_what_was_decided_is_refused():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    decided = advance(frozen, decision("program", A, C, "keep"))
    forged = commit(decided, SEATS).model_copy(update={"slots": {"program": C, "rubric": B}})
    with pytest.raises(EpochStateError, match="differs from its decisions"):
        advance(decided, forged)


def test_the_seat_of_a_displaced_judge_must_be_known():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    with pytest.raises(
        EpochStateError, match="no record shows that the judge of slot 'program' took its seat"
    ):
        commit(advance(frozen, decision("program", A, C)), {})


def test_all_records_read_back():
    frozen = advance(BEGIN, freeze_epoch(BEGIN, digest_of("anchor"), 8))
    for record in (
        JudgeSeated(slot="program", epoch=0, judge=A),
        freeze_epoch(BEGIN, digest_of("anchor"), 8),
        commit(frozen, SEATS),
        refill(frozen, [D]),
    ):
        assert parse_record(record.kind, body_of(record), {record.kind: type(record)}) == record
    assert {EpochFrozen, EpochCommitted, EpochRefilled}


def test_checkpoints_double():
    assert [next_checkpoint(n) for n in (0, 7, 8, 15, 16, 100)] == [8, 8, 16, 16, 32, 128]


@given(st.integers(0, 200))
def test_rescoring_never_takes_more_than_its_share(n_fresh):
    n_rescored = 0
    for n in range(n_fresh):
        n_rescored += may_rescore(n, n_rescored)
        assert n_rescored <= 0.2 * (n + 1)
