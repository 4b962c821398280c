"""A branch of a run whose participant withdrew."""

from pathlib import Path
from typing import Literal

from lakatos.flows.branches.branch import branch
from lakatos.traces.apart import ApartKinds
from lakatos.traces.record import Record, Tombstone
from lakatos.traces.step import Trace
from lakatos.traces.verify import verify


class Answered(Record):
    """A participant responded."""

    kind: Literal["answered"] = "answered"
    version: Literal[1] = 1


class Scored(Record):
    """Responses were scored."""

    kind: Literal["scored"] = "scored"
    version: Literal[1] = 1
    score: float


TYPES = {"answered": Answered, "scored": Scored}
ACTS = frozenset(["answered"])


def test_a_branch_holds_the_places_of_erased_rows_and_verifies(tmp_path: Path) -> None:
    kinds = ApartKinds(roots=ACTS, stay=ACTS | {"tombstone"})
    meta = {"study": {}}
    with Trace.create(tmp_path / "run", seed=1, types=TYPES, meta=meta, apart=kinds) as trace:
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
