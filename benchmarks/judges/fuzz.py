"""Random operations with crashes and late results: what must always hold does; and how fast a million records are.

    python benchmarks/run.py judges/fuzz         # about four minutes; benchmarks/raw/judges/fuzz.json

A sequence is a run of two slots: measurements (also of memories that an earlier judge approved, also begun in an epoch
that has ended), repeats, and epoch boundaries whose records are written one by one. A crash can come before any write;
the run then goes on from a fold of what was written. After every boundary and at the end it is checked that

- no mean uses a record that rests, through any number of steps, on a displaced judge (brute force over the graph);
- a fold of the log gives the same means, the same epoch and the same queue;
- the order of the slots' decisions changes nothing in the commit;
- an epoch in which nobody was displaced leaves every mean as it was, and so do measurements of an unchanged slot;
- after a crash between DECIDE and COMMIT nothing has changed, after COMMIT everything.

A violation ends the script.
Naive beside it, in the million: reading every record and walking its inputs at every transition.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.provenance import ROOT, provenance
from lakatos.judges.erasure import JudgeMeasured, JudgeMeasurements
from lakatos.judges.gate_record import GateDecided
from lakatos.judges.transition import (
    Epoch,
    EpochCommitted,
    JudgeSeated,
    advance,
    commit,
    freeze_epoch,
    refill,
)
from lakatos.traces.digest import Digest, digest_of
from lakatos.traces.journal import Event
from lakatos.traces.record import Record
from lakatos.traces.validity import Validity

RESULT = ROOT / "benchmarks" / "raw" / "judges" / "fuzz.json"
SLOTS, N_SUBJECTS, N_JUDGES = ("a", "b"), 4, 3
JUDGES = [digest_of(["judge", number]) for number in range(N_JUDGES)]
SUBJECTS = [digest_of(["subject", number]) for number in range(N_SUBJECTS)]
BEGIN = Epoch({"a": JUDGES[0], "b": JUDGES[1]})


class Crash(Exception):  # noqa: N818
    """The process ended before a write."""


class Memory(Record):
    """Something that was kept because a judge approved of it."""

    kind: str = "memory"
    version: int = 1
    number: int


class Run:
    """What a process holds: all of it comes from the log."""

    def __init__(self, log: list[tuple[Record, tuple[Digest, ...]]]) -> None:
        self.log: list[tuple[Record, tuple[Digest, ...]]] = []
        self.events: list[Event] = []
        self.state, self.validity = BEGIN, Validity()
        self.scores = JudgeMeasurements(self.validity)
        self.seats: dict[str, Digest] = {}
        self.memories: list[Digest] = []
        self.all_seats: list[tuple[Digest, str, int]] = []
        for record, inputs in log:
            self.write(record, inputs)

    def write(self, record: Record, inputs: tuple[Digest, ...] = ()) -> Digest:
        """Append one record and take it into account."""
        number = len(self.log)
        body = record.model_dump(mode="json")
        digest = digest_of({"number": number, "body": body})
        event = Event(
            number + 1,
            "",
            record.kind,
            digest,
            record.kind,
            {},
            1,
            inputs,
            body,
            digest,
            "",
            digest,
        )  # type: ignore[attr-defined]
        self.log.append((record, inputs))
        self.events.append(event)
        self.validity.add(event)
        self.state = advance(self.state, record)
        if isinstance(record, JudgeSeated):
            self.seats[record.slot] = digest
            self.all_seats.append((digest, record.slot, record.epoch))
        elif isinstance(record, Memory):
            self.memories.append(digest)
        elif isinstance(record, JudgeMeasured):
            self.scores.add(digest, record, self.state.number)
        return digest

    def means(self, slot: str | None = None) -> dict[Digest, tuple[float, ...]]:
        """Values of each subject that hold, of one slot's measurements or of all."""
        return {
            subject: tuple(
                item.value
                for item in self.scores.valid(subject).values()
                if slot is None or item.task == slot
            )
            for subject in SUBJECTS
        }


def brute_force(run: Run) -> dict[Digest, tuple[float, ...]]:
    """The same from the log alone: walk all inputs of every measurement."""
    inputs = {event.record_digest: event.inputs for event in run.events}
    displaced = {
        target
        for record, _ in run.log
        if isinstance(record, EpochCommitted)
        for target in record.erases
    }
    found: dict[Digest, list[float]] = {subject: [] for subject in SUBJECTS}
    for event, (record, _) in zip(run.events, run.log, strict=True):
        if not isinstance(record, JudgeMeasured):
            continue
        seen, stack = set(), [event.record_digest]
        while stack:
            digest = stack.pop()
            if digest not in seen:
                seen.add(digest)
                stack += inputs[digest]
        if not seen & displaced and event.record_digest in run.scores._by_subject[record.subject]:
            found[record.subject].append(record.value)
    return {subject: tuple(values) for subject, values in found.items()}


def boundary(run: Run, rng: np.random.Generator, crash: float, n: Counter[str]) -> None:
    """Go on with an epoch's end from whatever phase it is in; a crash can come before any write."""

    def may_crash() -> None:
        if rng.random() < crash:
            raise Crash

    if run.state.phase == "open":
        may_crash()
        run.write(freeze_epoch(run.state, digest_of("anchor"), len(run.log)))
    if run.state.phase == "freeze":
        before, rested = run.means(), {slot: alone(run, slot) for slot in SLOTS}
        decided = {item.slot for item in run.state.decided}
        for slot in rng.permutation([slot for slot in SLOTS if slot not in decided]).tolist():
            others = [judge for judge in JUDGES if judge != run.state.slots[slot]]
            verdict = str(
                rng.choice(["replace", "keep", "underpowered", "error"], p=[0.4, 0.4, 0.1, 0.1])
            )
            may_crash()
            run.write(decision(slot, run.state, str(rng.choice(others)), verdict))
        assert run.means() == before
        record = commit(run.state, run.seats)
        turned = reduce(
            advance, reversed(run.state.decided), advance(as_opened(run.state), run.state.snapshot)
        )  # type: ignore[arg-type]
        assert commit(turned, run.seats) == record
        if rng.random() < crash:
            assert Run(run.log).means() == before
            n["crashed between decide and commit"] += 1
            raise Crash
        run.write(record)
        n["commits"] += 1
        n["displaced"] += len(record.changed)
        if not record.changed:
            assert run.means() == before
            n["without change"] += 1
        for slot in set(SLOTS) - set(record.changed):
            # What rests on this slot's judge alone stays; what a displaced judge's memory had a part in goes.
            assert alone(run, slot) == rested[slot]
        assert run.means() == brute_force(run)
    if run.state.phase == "commit":
        for slot in SLOTS:
            if run.seats[slot] and not run.validity.valid(run.seats[slot]):
                may_crash()
                run.write(
                    JudgeSeated(slot=slot, epoch=run.state.number + 1, judge=run.state.slots[slot])
                )
        may_crash()
        run.write(refill(run.state, run.scores.to_rescore()))


def alone(run: Run, slot: str) -> list[Digest]:
    """Measurements that hold and rest on nothing but the judge who sits in the slot now."""
    found = {digest for subject in SUBJECTS for digest in run.scores.valid(subject)}
    return [
        event.record_digest
        for event in run.events
        if event.record_digest in found and event.inputs == (run.seats[slot],)
    ]


def as_opened(state: Epoch) -> Epoch:
    return Epoch(state.slots, state.number, history=state.history, queue=state.queue)


def decision(slot: str, state: Epoch, challenger: Digest, verdict: str) -> GateDecided:
    return GateDecided(
        registration=digest_of(slot), slot=slot, epoch=state.number, incumbent=state.slots[slot],
        challenger=challenger, verdict=verdict, reason="", n_excluded=0, level=0.05, minimum_detectable=0.1, number=1,
    )  # type: ignore[arg-type]  # fmt: skip


def sequence(seed: int, n_operations: int, n: Counter[str]) -> None:
    """One random run."""
    rng = np.random.default_rng(seed)
    crash = float(rng.choice([0.0, 0.1, 0.3]))
    run = Run([])
    for slot in SLOTS:
        run.write(JudgeSeated(slot=slot, epoch=0, judge=BEGIN.slots[slot]))
    sample = 0
    for _ in range(n_operations):
        kind = rng.choice(
            ["score", "late", "repeat", "memory", "boundary"], p=[0.5, 0.12, 0.08, 0.15, 0.15]
        )
        n[str(kind)] += 1
        try:
            if kind == "boundary" or run.state.phase != "open":
                boundary(run, rng, crash, n)
            elif kind == "memory":
                seat = run.seats[str(rng.choice(SLOTS))]
                cited = (
                    [run.memories[int(rng.integers(len(run.memories)))]]
                    if run.memories and rng.random() < 0.3
                    else []
                )
                run.write(Memory(number=len(run.memories)), (seat, *cited))
            elif kind == "repeat" and any(
                isinstance(record, JudgeMeasured) for record, _ in run.log
            ):
                known = [
                    (record, inputs)
                    for record, inputs in run.log
                    if isinstance(record, JudgeMeasured)
                ]
                before = run.means()
                run.write(*known[int(rng.integers(len(known)))])
                assert run.means() == before
            else:
                slot = str(rng.choice(SLOTS))
                seat, epoch = run.seats[slot], run.state.number
                if kind == "late":
                    seat, slot, epoch = run.all_seats[int(rng.integers(len(run.all_seats)))]
                cited = (
                    [run.memories[int(rng.integers(len(run.memories)))]]
                    if run.memories and rng.random() < 0.4
                    else []
                )
                sample += 1
                value = float(rng.random() < 0.5)
                subject = SUBJECTS[int(rng.integers(N_SUBJECTS))]
                item = JudgeMeasured(
                    subject=subject, task=slot, seat=seat, epoch=epoch, sample=sample, value=value
                )
                run.write(item, (seat, *cited))
        except Crash:
            n["crashes"] += 1
            run = Run(run.log)
    assert run.means() == brute_force(run)
    again = Run(run.log)
    assert (again.means(), again.state, again.scores.to_rescore()) == (
        run.means(),
        run.state,
        run.scores.to_rescore(),
    )


def million(n_records: int) -> dict[str, Any]:
    """Time of explaining and of a transition, in processor seconds."""
    rng = np.random.default_rng(0)
    seats = [digest_of(["seat", slot]) for slot in range(4)]
    validity = Validity()

    def add(
        digest: Digest,
        inputs: tuple[Digest, ...],
        kind: str = "measured",
        body: dict[str, Any] | None = None,
    ) -> None:
        validity.add(
            Event(0, "", kind, digest, kind, {}, 1, inputs, body or {}, digest, "", digest)
        )

    for seat in seats:
        add(seat, ())
    digests = [f"{number:064x}" for number in range(n_records)]
    slot, draw, back = (
        rng.integers(4, size=n_records),
        rng.random(n_records),
        rng.integers(1, 5000, size=n_records),
    )
    begun = time.process_time()
    for number, digest in enumerate(digests):
        # One in five cites an earlier record, so that ways from a record to a seat grow long.
        cited = (
            (digests[number - back[number]],)
            if draw[number] < 0.2 and number >= back[number]
            else ()
        )
        add(digest, (seats[slot[number]], *cited))
    built = time.process_time() - begun
    begun = time.process_time()
    record = EpochCommitted(
        epoch=0,
        snapshot=seats[0],
        decisions=(),
        slots={},
        changed=("0",),
        erases=(seats[0],),
        reason="displaced",
    )
    add(digest_of("commit"), (), "epoch_committed", record.model_dump(mode="json"))
    transition = time.process_time() - begun
    invalid = [digest for digest in digests if not validity.valid(digest)]
    times, longest = [], 0
    for place in rng.integers(len(invalid), size=2000):
        begun = time.process_time()
        longest = max(longest, len(validity.explain(invalid[place])))
        times.append(time.process_time() - begun)
    begun = time.process_time()
    known: dict[Digest, bool] = {}
    inputs = {
        digest: (
            (seats[slot[number]],)
            + (
                (digests[number - back[number]],)
                if draw[number] < 0.2 and number >= back[number]
                else ()
            )
        )
        for number, digest in enumerate(digests)
    }
    for digest in digests:  # naive: everything once more, in the order of the journal
        known[digest] = all(known.get(cited, cited != seats[0]) for cited in inputs[digest])
    naive = time.process_time() - begun
    assert sum(not value for value in known.values()) == len(invalid)
    return {
        "n_records": n_records,
        "seconds_to_read": round(built, 2),
        "n_erased": len(invalid),
        "transition_seconds": round(transition, 3),
        "naive_transition_seconds": round(naive, 3),
        "explain_ms": {
            "median": 1e3 * float(np.median(times)),
            "p99": 1e3 * float(np.quantile(times, 0.99)),
            "most": 1e3 * max(times),
        },
        "longest_way": longest,
    }


def main() -> None:
    """Run the sequences and the million records."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--sequences", type=int, default=10_000)
    options.add_argument("--operations", type=int, default=30)
    options.add_argument("--records", type=int, default=1_000_000)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    begun, n = time.perf_counter(), Counter[str]()
    for seed in range(chosen.sequences):
        sequence(seed, chosen.operations, n)
    seconds = time.perf_counter() - begun
    result = {
        **provenance(),
        "sequences": chosen.sequences,
        "operations": dict(sorted(n.items())),
        "seconds": round(seconds, 1),
        "million": million(chosen.records),
    }
    print(
        json.dumps(
            {name: result[name] for name in ("sequences", "operations", "seconds", "million")},
            indent=1,
        )
    )
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text(json.dumps(result, indent=1) + "\n")
