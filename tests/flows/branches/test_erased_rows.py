"""A branch of a run whose participant withdrew."""

from pathlib import Path
from typing import Literal

from lakatos.flows.branches.branch import branch
from lakatos.traces.apart import ApartKinds
from lakatos.traces.record import Record, Tombstone
from lakatos.traces.step import Trace
from lakatos.traces.validity import Validity
from lakatos.traces.verify import verify


class Answered(Record):
    """A participant responded."""

    kind: Literal["answered"] = "answered"
    version: Literal[1] = 1


class Withdrawn(Record):
    """A participant withdrew."""

    kind: Literal["withdrawn"] = "withdrawn"
    version: Literal[1] = 1


class Scored(Record):
    """Responses were scored."""

    kind: Literal["scored"] = "scored"
    version: Literal[1] = 1
    score: float


TYPES = {"answered": Answered, "withdrawn": Withdrawn, "scored": Scored}
ACTS = frozenset(["answered", "withdrawn"])
KINDS = ApartKinds(roots=frozenset(["answered"]), stay=ACTS | {"tombstone"})


def test_a_branch_holds_the_places_of_erased_rows_and_verifies(tmp_path: Path) -> None:
    meta = {"study": {}}
    with Trace.create(tmp_path / "run", seed=1, types=TYPES, meta=meta, apart=KINDS) as trace:
        person = trace.record(Answered(), name="answer")
        scored = trace.record(Scored(score=1.0), name="score", inputs=[person.digest])
        trace.record(Tombstone(target=person.digest, reason="withdrew"), name="erase")
        assert trace.erase_derived([person.digest], acts=ACTS) == 1
        last = trace.record(Answered(), name="answer again")
    for at, number in (("3", 0), (last.digest, 1)):
        folder = tmp_path / str(number)
        branch(tmp_path / "run", folder, at, types=TYPES)
        found = verify(folder, TYPES)
        assert found.ok, found.failures
        with Trace.open(folder, TYPES, read_only=True) as trace:
            (bare,) = [event for event in trace.journal.events() if event.is_bare]
        assert (bare.seq, bare.record_digest) == (2, scored.digest)


def test_a_branch_from_before_a_withdrawal_withdraws_the_same_responses(tmp_path: Path) -> None:
    meta = {"study": {}}
    with Trace.create(tmp_path / "run", seed=1, types=TYPES, meta=meta, apart=KINDS) as trace:
        person = trace.record(Answered(), name="answer")
        scored = trace.record(Scored(score=1.0), name="score", inputs=[person.digest])
        trace.record(Answered(), name="another answer")
        later = trace.record(Answered(), name="an answer after the branch")
        gone = [person.digest, later.digest]
        decision = trace.record(Withdrawn(), name="withdraw", inputs=gone)
        for number, target in enumerate(gone):
            trace.record(
                Tombstone(target=target, reason="withdrew", decision=decision.digest),
                name="erase",
                inputs=[decision.digest],
                position={"number": number},
            )
        assert trace.erase_derived(gone, acts=ACTS) == 1
    branch(tmp_path / "run", tmp_path / "branch", "3", types=TYPES)
    found = verify(tmp_path / "branch", TYPES)
    assert found.ok, found.failures
    with Trace.open(tmp_path / "branch", TYPES, read_only=True) as trace:
        kinds = [event.kind for event in trace.journal.events()]
        (tombstone,) = trace.records(Tombstone)
        (withdrawn,) = trace.records(Withdrawn)
        assert not Validity(trace.journal.events(), acts=ACTS).valid(scored.digest)
    assert kinds == ["answered", "erased", "answered", "withdrawn", "tombstone", "rows_erased"]
    assert tombstone.record.target == person.digest
    assert tombstone.record.decision == withdrawn.digest
