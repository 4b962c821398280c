"""Change stored bytes of a trace at random, and see whether the audit finds it and names the place.

    python benchmarks/run.py traces/tamper                # 10,000 changes; benchmarks/raw/traces/tamper.json
    python benchmarks/run.py traces/tamper --minutes 5    # for so long; goes on where it stopped when called again

Each trial starts from the same trace with signed heads, does one thing to it, verifies it, and restores it.

- rows: one byte of one column changed, a row deleted (with or without the later ones renumbered), two rows exchanged, a
  row written twice, the tail cut off (the heads beside the journal cut with it, half of the time). The number of the
  first event that is not as it was must be named.
- artifacts: a byte changed, the file cut, removed, lengthened, or given the content of another. Its name must be named.
- heads: a byte of either file changed, a line dropped or exchanged.
- file: any byte of the SQLite file itself. SQLite's file has bytes that mean nothing: the free part of a page, counters
  in its header that are only compared with one another, padding. A change there changes no row, no description, no
  table and no trigger, which is checked by reading all of it again; it is counted apart as harmless, by where it lies.
  A change that alters what is read and is not found would be a miss.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from benchmarks.provenance import ROOT, provenance
from lakatos.traces.digest import Digest
from lakatos.traces.errors import TraceError
from lakatos.traces.head import HEADS_FILE, identity, kept_apart, write_head
from lakatos.traces.journal import Journal
from lakatos.traces.record import Record
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE, Trace
from lakatos.traces.stores.store import EventRow
from lakatos.traces.verify import VerifyCheck, verify

N_DRAWS = 12
WHATS = (
    "row byte",
    "row deleted",
    "rows exchanged",
    "row twice",
    "tail cut",
    "artifact",
    "heads",
    "file byte",
)
SHARES = (0.4, 0.08, 0.08, 0.04, 0.08, 0.2, 0.04, 0.08)
Outcome = Literal["found", "missed", "place not named", "harmless"]


class Drawn(Record):
    """Numbers."""

    kind: Literal["drawn"] = "drawn"
    version: Literal[1] = 1
    value: float
    text: str


class Scored(Record):
    """A table about them."""

    kind: Literal["scored"] = "scored"
    version: Literal[1] = 1
    table: Digest
    total: float


TYPES: dict[str, type[Record]] = {"drawn": Drawn, "scored": Scored}


class Trial:
    """A trace in a folder that can be put back as it was."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "run"
        with Trace.create(self.folder, seed=7, types=TYPES) as trace:
            for number in range(N_DRAWS):
                drawn = trace.record(
                    Drawn(value=number / 3, text="café \" \\ \n" * 3), name="draw", position={"number": number}
                )  # fmt: skip
                table = trace.artifacts.put_json(
                    {"number": number, "values": [number / k for k in range(1, 30)]}
                )
                trace.record(
                    Scored(table=table, total=1.5), name="score", inputs=(drawn.digest, table)
                )
                if number % 3 == 0:
                    write_head(self.folder, begins=True)
        write_head(self.folder, begins=True)
        with Journal.open(self.folder / JOURNAL_FILE, read_only=True) as journal:
            self.apart = kept_apart(identity(journal))
            self.rows = list(journal.store.rows())
            self.meta = journal.store.meta()
        self.artifacts = sorted(
            path for path in (self.folder / ARTIFACT_FOLDER).rglob("*") if path.is_file()
        )
        files = [self.folder / JOURNAL_FILE, self.folder / HEADS_FILE, self.apart, *self.artifacts]
        self.good = {path: path.read_bytes() for path in files}

    def restore(self) -> None:
        """As it was."""
        for suffix in ("-wal", "-shm"):
            (self.folder / (JOURNAL_FILE + suffix)).unlink(missing_ok=True)
        for path, data in self.good.items():
            if not path.exists() or path.read_bytes() != data:
                path.write_bytes(data)

    def database(self, change: Callable[[sqlite3.Connection], None]) -> None:
        """Change rows without the triggers, which are put back, as a careful forger would."""
        with closing(sqlite3.connect(self.folder / JOURNAL_FILE, isolation_level=None)) as sql:
            sql.execute("PRAGMA synchronous = OFF")
            triggers = sql.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            sql.execute("BEGIN")
            for name, _ in triggers:
                sql.execute(f"DROP TRIGGER {name}")
            change(sql)
            for _, text in triggers:
                sql.execute(text)
            sql.execute("COMMIT")

    def failures(self) -> dict[str, VerifyCheck]:
        """What the audit finds."""
        return {check.name: check for check in verify(self.folder, TYPES).failures}

    # Each changes one thing and says how to see that its place was named.

    def row_byte(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """One byte of one column."""
        column, row = (
            rng.choice([name for name in EventRow._fields if name != "seq"]),
            rng.choice(self.rows),
        )

        def change(sql: sqlite3.Connection) -> None:
            if column == "attempt":
                return void(
                    sql.execute(
                        "UPDATE event SET attempt = attempt + ? WHERE seq = ?",
                        (rng.randint(1, 255), row.seq),
                    )
                )
            old = sql.execute(
                f"SELECT CAST({column} AS BLOB) FROM event WHERE seq = ?", (row.seq,)
            ).fetchone()[0]
            new = flipped(old, rng)
            return void(
                sql.execute(
                    f"UPDATE event SET {column} = CAST(? AS TEXT) WHERE seq = ?", (new, row.seq)
                )
            )

        self.database(change)
        return lambda found: (
            "chain" in found
            and found["chain"].seq == row.seq
            and f"event {row.seq} " in found["chain"].detail
        )

    def row_deleted(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """A row in the middle, with the later ones renumbered or not."""
        seq, renumber = rng.randint(1, len(self.rows) - 1), rng.random() < 0.5

        def change(sql: sqlite3.Connection) -> None:
            sql.execute("DELETE FROM event WHERE seq = ?", (seq,))
            if renumber:
                sql.execute("UPDATE event SET seq = -seq WHERE seq > ?", (seq,))
                sql.execute("UPDATE event SET seq = -seq - 1 WHERE seq < 0")

        self.database(change)
        named = seq if renumber else seq + 1
        return lambda found: "chain" in found and found["chain"].seq == named

    def rows_exchanged(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """Two rows in each other's place."""
        first, second = sorted(rng.sample(range(1, len(self.rows) + 1), 2))

        def change(sql: sqlite3.Connection) -> None:
            for old, new in ((first, -1), (second, first), (-1, second)):
                sql.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))

        self.database(change)
        return lambda found: "chain" in found and found["chain"].seq == first

    def row_twice(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """An intent-like copy of a row at the end."""
        row, last = rng.choice(self.rows), len(self.rows)
        copy = row._replace(seq=last + 1, kind="intent")
        self.database(
            lambda sql: void(
                sql.execute(f"INSERT INTO event VALUES ({','.join('?' * len(copy))})", copy)
            )
        )
        return lambda found: "chain" in found and found["chain"].seq == last + 1

    def tail_cut(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """The last rows gone, and in half of the trials the heads beside the journal with them."""
        left = rng.randint(1, len(self.rows) - 1)
        self.database(lambda sql: void(sql.execute("DELETE FROM event WHERE seq > ?", (left,))))
        if rng.random() < 0.5:
            lines = self.good[self.folder / HEADS_FILE].splitlines(keepends=True)
            (self.folder / HEADS_FILE).write_bytes(
                b"".join(line for line in lines if json.loads(line)["seq"] <= left)
            )
        return lambda found: (
            "heads" in found and f"the journal ends at event {left}" in found["heads"].detail
        )

    def artifact(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """One artifact changed, cut, lengthened, removed, or with the content of another."""
        path, how = rng.choice(self.artifacts), rng.randrange(5)
        data = self.good[path]
        if how == 0:
            path.write_bytes(flipped(data, rng))
        elif how == 1:
            path.write_bytes(data[: rng.randrange(len(data))])
        elif how == 2:
            path.write_bytes(data + rng.randbytes(rng.randint(1, 20)))
        elif how == 3:
            path.unlink()
        else:
            path.write_bytes(
                self.good[rng.choice([item for item in self.artifacts if item != path])]
            )
        return lambda found: any(path.name in check.detail for check in found.values())

    def heads(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """A byte of either file of heads changed, a line dropped before another, or two exchanged."""
        path, how = rng.choice([self.folder / HEADS_FILE, self.apart]), rng.randrange(3)
        lines = self.good[path].splitlines(keepends=True)
        if how == 0:
            data = self.good[path]
            place = rng.randrange(
                len(data) - 1
            )  # the line's end at the end of the file says nothing
            path.write_bytes(
                data[:place] + flipped(data[place : place + 1], rng) + data[place + 1 :]
            )
        elif how == 1:
            del lines[rng.randrange(len(lines) - 1)]
            path.write_bytes(b"".join(lines))
        else:
            first, second = rng.sample(range(len(lines)), 2)
            lines[first], lines[second] = lines[second], lines[first]
            path.write_bytes(b"".join(lines))
        return lambda found: "heads" in found and str(path) in found["heads"].detail

    def file_byte(self, rng: random.Random) -> Callable[[dict[str, VerifyCheck]], bool]:
        """Any byte of SQLite's file."""
        path = self.folder / JOURNAL_FILE
        data = self.good[path]
        self.place = rng.randrange(len(data))
        path.write_bytes(
            data[: self.place]
            + flipped(data[self.place : self.place + 1], rng)
            + data[self.place + 1 :]
        )
        words = ("event", "page", "damaged", "tables or triggers", "format", "no journal", "failed")
        return lambda found: any(word in check.detail for check in found.values() for word in words)

    def reads_the_same(self) -> bool:
        """Whether rows and description are those that were written."""
        try:
            with Journal.open(self.folder / JOURNAL_FILE, read_only=True) as journal:
                return list(journal.store.rows()) == self.rows and journal.store.meta() == self.meta
        except TraceError:
            return False

    def region(self) -> str:
        """Where the changed byte of the file lies."""
        if self.place < 100:
            return f"header of the file, byte {self.place}"
        data = self.good[self.folder / JOURNAL_FILE]
        size = int.from_bytes(data[16:18], "big")
        start = self.place // size * size
        first = start + (100 if start == 0 else 0)
        kind = data[first]
        if kind not in (2, 5, 10, 13):
            return "free page"
        n_cells, content = (
            int.from_bytes(data[first + 3 : first + 5], "big"),
            int.from_bytes(data[first + 5 : first + 7], "big"),
        )
        cells = first + (12 if kind in (2, 5) else 8)
        if cells + 2 * n_cells <= self.place < start + content:
            return "unused part of a page"
        return "header of a page" if self.place < cells else "content of a page"


def void(_: Any) -> None:
    """Nothing."""


def flipped(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one of them changed."""
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ rng.randint(1, 255)]) + data[place + 1 :]


def try_once(trial: Trial, number: int) -> tuple[str, Outcome, str]:
    """Trial ``number``: what was done, what came of it, and details of anything that was not found and named."""
    rng = random.Random(number)
    what = rng.choices(WHATS, SHARES)[0]
    done: dict[str, Callable[[random.Random], Callable[[dict[str, VerifyCheck]], bool]]] = {
        "row byte": trial.row_byte, "row deleted": trial.row_deleted, "rows exchanged": trial.rows_exchanged,
        "row twice": trial.row_twice, "tail cut": trial.tail_cut, "artifact": trial.artifact, "heads": trial.heads,
        "file byte": trial.file_byte,
    }  # fmt: skip
    try:
        named = done[what](rng)
        found = trial.failures()
        if found:
            words = "; ".join(f"{check.name}: {check.detail}" for check in found.values())
            return (what, "found", "") if named(found) else (what, "place not named", words[:300])
        if what == "file byte" and trial.reads_the_same():
            return what, "harmless", trial.region()
        return what, "missed", ""
    finally:
        trial.restore()


def main() -> None:
    """Run the trials that are missing."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--trials", type=int, default=10_000)
    options.add_argument("--minutes", type=float, default=600.0)
    options.add_argument("--fresh", action="store_true", help="forget earlier trials")
    options.add_argument(
        "--out", type=Path, default=ROOT / "benchmarks" / "raw" / "traces" / "tamper.json"
    )
    chosen = options.parse_args()
    kept = json.loads(chosen.out.read_text()) if chosen.out.exists() and not chosen.fresh else {}
    first, counts = int(kept.get("n_trials", 0)), Counter[str]()
    for what, outcomes in kept.get("outcomes", {}).items():
        for outcome, n in outcomes.items():
            counts[f"{what}|{outcome}"] = n
    regions, wrong = Counter[str](kept.get("harmless", {})), list(kept.get("wrong", []))
    memory = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(prefix="lakatos-tamper-", dir=memory if memory.is_dir() else None))
    os.environ["LAKATOS_HOME"] = str(base / "home")
    until, begun, n_done = time.monotonic() + 60 * chosen.minutes, time.perf_counter(), first
    try:
        trial = Trial(base)
        assert not trial.failures(), trial.failures()
        while n_done < chosen.trials and time.monotonic() < until:
            what, outcome, detail = try_once(trial, n_done)
            n_done += 1
            counts[f"{what}|{outcome}"] += 1
            if outcome == "harmless":
                regions[detail] += 1
            elif outcome != "found":
                wrong.append(
                    {"trial": n_done - 1, "what": what, "outcome": outcome, "detail": detail}
                )
            if n_done % 250 == 0 or n_done == chosen.trials:
                write(
                    chosen.out,
                    n_done,
                    counts,
                    regions,
                    wrong,
                    (time.perf_counter() - begun) / (n_done - first),
                )
        assert not trial.failures()
    finally:
        shutil.rmtree(base)
    write(
        chosen.out,
        n_done,
        counts,
        regions,
        wrong,
        (time.perf_counter() - begun) / max(n_done - first, 1),
    )
    print(
        json.dumps(
            {"n_trials": n_done, "counts": counts, "harmless": regions, "wrong": wrong[:5]},
            indent=1,
        )
    )
    sys.exit(1 if wrong else 0)


def write(
    out: Path,
    n_trials: int,
    counts: Counter[str],
    regions: Counter[str],
    wrong: list[Any],
    seconds: float,
) -> None:
    """The result so far."""
    outcomes: dict[str, dict[str, int]] = {what: {} for what in WHATS}
    for name, n in counts.items():
        what, _, outcome = name.partition("|")
        outcomes[what][outcome] = n
    result = {
        **provenance(),
        "n_trials": n_trials,
        "n_missed": sum(n for name, n in counts.items() if name.endswith("|missed")),
        "n_place_not_named": sum(
            n for name, n in counts.items() if name.endswith("|place not named")
        ),
        "outcomes": outcomes,
        "harmless": dict(regions.most_common()),
        "wrong": wrong[:100],
        "load_average": round(os.getloadavg()[0], 1),
        "seconds_a_trial": round(seconds, 4),
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
