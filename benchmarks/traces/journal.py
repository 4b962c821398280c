"""How fast a journal is written, verified and folded, beside plain SQLite, and how its memory grows.

    python benchmarks/run.py traces/journal                    # a million records; benchmarks/raw/traces/journal.json
    python benchmarks/run.py traces/journal --records 20000
    python benchmarks/run.py traces/journal --verify FILE      # verifies this journal some times, and prints the rates

Appends are durable: a commit is on disk when it returns. Plain SQLite writes the same rows in the same way, batch by
batch in turn with ours, without hashes or canonical JSON: once with an index of keys alone, once with the three indexes
of a journal, by which steps and records are found. The floor of verification is what fetching and hashing alone take.
Rates by the clock depend on what else the machine does (the load is stated), so each stands beside the rate by
processor time. References are from the same kind of measurement on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from benchmarks.provenance import ROOT, provenance
from lakatos.traces.fold import fold
from lakatos.traces.journal import Event, EventEntry, Journal, start_of, step_key
from lakatos.traces.standalone import StoredRow, first_fault
from lakatos.traces.stores.sqlite import _SCHEMA
from lakatos.traces.stores.store import EventRow

BATCHES = (1, 10, 100, 1000)
REFERENCE = {
    "append 1": 3519,
    "append 10": 23571,
    "append 100": 30255,
    "append 1000": 36320,
    "verify": 427_000,
}
"""Events a second: write-ahead log, a flush for each commit, by size of batch; and walking the chain."""
N_WALKS = 5
"""How often a journal is verified; what is told is the median, and all."""
SECONDS = 3.0
"""Of each measurement of appends."""
INSERT = f"INSERT INTO event VALUES ({','.join('?' * len(EventRow._fields))})"


def entry(number: int) -> EventEntry:
    """An event as campaigns write them: a score of some theory, about a kilobyte in all."""
    position = {"cycle": number % 7, "number": number}
    key = step_key("score", (), position)
    body = {
        "kind": "drawn",
        "version": 1,
        "values": [number / k for k in range(3, 12)],
        "text": "x" * 150,
    }
    return EventEntry("drawn", body, key=key, name="score", position=position, inputs=(key, key))


class Stopwatch:
    """Time on the clock and of the processor that goes by within its ``with`` blocks, and what was done in it."""

    def __init__(self) -> None:
        self.n, self.elapsed, self.used = 0, 0.0, 0.0

    def __enter__(self) -> Self:
        self._begun = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.elapsed += time.perf_counter() - self._begun[0]
        self.used += time.process_time() - self._begun[1]

    def rates(self) -> dict[str, float]:
        """Events a second by the clock and by processor time."""
        return {
            "n": self.n,
            "a_second": round(self.n / self.elapsed),
            "a_processor_second": round(self.n / max(self.used, 1e-9)),
        }


def timed(work: Callable[[], int]) -> dict[str, float]:
    """Events a second by the clock and by processor time."""
    watch = Stopwatch()
    with watch:
        watch.n = work()
    return watch.rates()


def plain_sqlite(path: Path, indexes: Sequence[str]) -> sqlite3.Connection:
    """A table for the same rows, without triggers or types."""
    sql = sqlite3.connect(path, isolation_level=None)
    sql.execute("PRAGMA journal_mode = WAL")
    sql.execute("PRAGMA synchronous = FULL")
    sql.execute(
        "CREATE TABLE event (seq INTEGER PRIMARY KEY, " + ", ".join(EventRow._fields[1:]) + ")"
    )
    for index in indexes:
        sql.execute(index)
    return sql


def append(folder: Path, batch: int, rows: Sequence[EventRow]) -> dict[str, Any]:
    """Appends of ours and of plain SQLite in turn, ``batch`` in a commit, and how ours compares.

    What is appended is made beforehand on both sides: entries here, rows there.
    """
    keys = ["CREATE INDEX event_key ON event (key)"]
    indexes = [text for text in _SCHEMA if "INDEX" in text]
    watches = {name: Stopwatch() for name in ("ours", "plain", "plain_with_our_indexes")}
    with (
        Journal.create(folder / f"batch-{batch}.sqlite", {"seed": 1}) as journal,
        closing(plain_sqlite(folder / f"plain-{batch}.sqlite", keys)) as plain,
        closing(plain_sqlite(folder / f"indexes-{batch}.sqlite", indexes)) as indexed,
    ):

        def ours(entries: list[EventEntry], _: list[tuple[Any, ...]]) -> None:
            journal.append_all(entries)

        def by(sql: sqlite3.Connection) -> Callable[..., None]:
            def write(_: list[EventEntry], told: list[tuple[Any, ...]]) -> None:
                sql.execute("BEGIN")
                sql.executemany(INSERT, told)
                sql.execute("COMMIT")

            return write

        ways = dict(zip(watches, (ours, by(plain), by(indexed)), strict=True))
        n = 0
        while min(watch.elapsed for watch in watches.values()) < SECONDS:
            entries = [entry(number) for number in range(n, n + batch)]
            # Keys and digests of their own, as unevenly spread as those of the journal.
            told = [
                (n + k + 1, *row[1:3], item.key, *row[4:9], item.key[::-1], *row[10:])
                for k, item in enumerate(entries)
                for row in (rows[(n + k) % len(rows)],)
            ]
            for name, write in ways.items():
                with watches[name] as watch:
                    write(entries, told)
                watch.n += batch
            n += batch
    found: dict[str, Any] = {name: watch.rates() for name, watch in watches.items()}
    for name in ("plain", "plain_with_our_indexes"):
        for unit in ("a_second", "a_processor_second"):
            found[f"of_{name}_{unit}"] = round(found["ours"][unit] / found[name][unit], 3)
    return found


def fill(path: Path, n: int) -> None:
    """A journal of ``n`` events."""
    with Journal.create(path, {"seed": 1}) as journal:
        for start in range(0, n, 5000):
            journal.append_all([entry(number) for number in range(start, min(start + 5000, n))])


def apart(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What ``work`` returns, from a process of its own, with the memory that it came to need there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        found = work()
        found["memory_grew_mib"] = round(
            (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1
        )
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        answer: dict[str, Any] = json.loads(told.read())
    os.waitpid(child, 0)
    return answer


def verified(path: Path) -> dict[str, Any]:
    """Walk the whole chain, `N_WALKS` times."""

    def walk() -> int:
        with Journal.open(path, read_only=True) as journal:
            start = start_of(journal.store.meta()).encode()
            last, _, problem = first_fault(journal.store.stored(), start)
        assert problem is None
        return last

    rates = [timed(walk) for _ in range(N_WALKS)]
    units = ("a_second", "a_processor_second")
    medians = {unit: round(statistics.median(rate[unit] for rate in rates)) for unit in units}
    return {
        "n": rates[0]["n"],
        **medians,
        "each": [[rate[unit] for unit in units] for rate in rates],
    }


def floor(path: Path) -> dict[str, Any]:
    """What no way of checking can avoid: fetching every column of every row, and two hashes of what they say."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as sql:
        sql.text_factory = bytes

        def fetch() -> int:
            return sum(
                1
                for _ in sql.execute(
                    f"SELECT {', '.join(EventRow._fields)} FROM event ORDER BY seq"
                )
            )

        fetched = timed(fetch)
        texts = [
            text
            for row in map(StoredRow._make, sql.execute("SELECT * FROM event ORDER BY seq"))
            for text in (
                row.key + row.kind + row.inputs + row.body,
                row.time_utc + row.position + 2 * row.hash,
            )
        ]
        hashed = timed(lambda: sum(len(sha256(text).digest()) // 32 for text in texts) // 2)
    n_bytes = sum(map(len, texts)) / hashed["n"]
    both = 1 / (1 / fetched["a_processor_second"] + 1 / hashed["a_processor_second"])
    return {
        "fetch": fetched,
        "hash": hashed,
        "bytes_hashed_an_event": round(n_bytes),
        "a_processor_second": round(both),
    }


def folded(path: Path) -> dict[str, Any]:
    """Fold every event into a count by kind, each verified and read."""

    def count(state: dict[str, int], event: Event) -> dict[str, int]:
        state[event.kind] = state.get(event.kind, 0) + 1
        return state

    with Journal.open(path, read_only=True) as journal:
        begun, busy = time.perf_counter(), time.process_time()
        total = sum(fold(journal.events(), {}, count).values())
        return {"n": total, "seconds": round(time.perf_counter() - begun, 3),
                "processor_seconds": round(time.process_time() - busy, 3)}  # fmt: skip


def main() -> None:
    """Measure and write everything down."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--records", type=int, default=1_000_000)
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "traces" / "journal.json"
    )
    options.add_argument(
        "--verify", type=Path, help="A journal that is there, instead of all else."
    )
    chosen = options.parse_args()
    if chosen.verify:
        print(json.dumps(apart(lambda: verified(chosen.verify))))
        return
    base = Path(
        tempfile.mkdtemp(prefix="lakatos-journal-", dir=ROOT.parent)
    )  # on a disk, not in memory
    load = [round(value, 1) for value in os.getloadavg()]
    try:
        small, n_small = base / "small.sqlite", min(chosen.records, 100_000)
        fill(small, n_small)
        with Journal.open(small, read_only=True) as journal:
            rows = [row for row, _ in zip(journal.store.rows(), range(1000), strict=False)]
            n_bytes = small.stat().st_size / journal.head[0]
        result: dict[str, Any] = {
            **provenance(),
            "load_average": load,
            "bytes_on_disk_an_event": round(n_bytes),
            "reference_a_second": REFERENCE,
        }
        measurements: dict[str, Callable[[], Any]] = {
            "append": lambda: {str(batch): append(base, batch, rows) for batch in BATCHES},
            f"fold_{n_small}": lambda: apart(lambda: folded(small)),
            f"verify_{n_small}": lambda: apart(lambda: verified(small)),
            f"floor_{n_small}": lambda: apart(lambda: floor(small)),
        }
        if chosen.records > 100_000:
            large = base / "large.sqlite"
            measurements["fill"] = lambda: fill(large, chosen.records)
            measurements[f"verify_{chosen.records}"] = lambda: apart(lambda: verified(large))
        for name, measure in measurements.items():
            result[name] = measure()
            result["load_average_at_the_end"] = [round(value, 1) for value in os.getloadavg()]
            chosen.out.parent.mkdir(parents=True, exist_ok=True)
            chosen.out.write_text(json.dumps(result, indent=1) + "\n")
    finally:
        shutil.rmtree(base)
    print(json.dumps(result, indent=1))
