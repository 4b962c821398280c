"""Rows of a journal as somebody would forge them who knows this code."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lakatos.traces import standalone
from lakatos.traces.head import HEADS_FILE
from lakatos.traces.journal import Journal, step_key, stored_of
from lakatos.traces.step import JOURNAL_FILE
from lakatos.traces.stores.store import EventRow


def rehashed(row: EventRow, previous_hash: str) -> EventRow:
    """A row chained to the one before it, with every digest computed anew."""
    row = row._replace(previous_hash=previous_hash)
    row = row._replace(record_digest=standalone.record_digest_of(stored_of(row)).decode())
    return row._replace(hash=standalone.hash_of(stored_of(row)).decode())


@contextmanager
def tampering(folder: Path) -> Iterator[sqlite3.Connection]:
    """The database without its triggers, which are put back at the end, as a careful forger would."""
    with closing(sqlite3.connect(folder / JOURNAL_FILE, isolation_level=None)) as database:
        triggers = database.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        yield database
        for _, sql in triggers:
            database.execute(sql)


def rewrite(
    folder: Path, which: int | Container[int], change: Callable[[EventRow], EventRow]
) -> None:
    """Change one event, or several, and compute every digest from there on anew."""
    chosen = (which,) if isinstance(which, int) else which
    with closing(Journal.open(folder / JOURNAL_FILE, read_only=True)) as journal:
        rows = list(journal.store.rows())
    replace_rows(folder, [change(row) if row.seq in chosen else row for row in rows])


# --- a forger who has everything but the key and the second place ----------------------------------------------------


def shifted(time_utc: str, seconds: float) -> str:
    """Another time, written as the journal writes times."""
    return (datetime.fromisoformat(time_utc) + timedelta(seconds=seconds)).isoformat()


def replace_rows(folder: Path, rows: Sequence[EventRow]) -> list[EventRow]:
    """Put rows in place of a journal's own, numbered and chained anew from the start of the journal; returns them."""
    with closing(Journal.open(folder / JOURNAL_FILE, read_only=True)) as journal:
        previous = next(iter(journal.store.rows())).previous_hash
    written = []
    with tampering(folder) as database:
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN")
        database.execute("DELETE FROM event")
        for seq, row in enumerate(rows, start=1):
            written.append(rehashed(row._replace(seq=seq), previous))
            previous = written[-1].hash
        marks = ",".join("?" * len(EventRow._fields))
        database.executemany(f"INSERT INTO event VALUES ({marks})", written)
        database.execute("COMMIT")
    return written


def forged_rows(rows: Sequence[EventRow], rng: random.Random) -> tuple[str, list[EventRow]]:
    """A journal as the forger would have it, from a random event on (the first one in a quarter of cases)."""
    start = 0 if rng.random() < 0.25 else rng.randrange(len(rows))
    before, chosen, after = list(rows[:start]), rows[start], list(rows[start + 1 :])
    what = rng.choice(
        ("time", "times from there on", "value", "dropped", "inserted", "exchanged", "cut")
    )
    if what == "time":
        return what, [
            *before,
            chosen._replace(time_utc=shifted(chosen.time_utc, rng.choice((-86_400, -1, 1)))),
            *after,
        ]
    if what == "times from there on":
        seconds = rng.choice((-31_536_000, -86_400, -60, -1e-3))
        moved = [row._replace(time_utc=shifted(row.time_utc, seconds)) for row in (chosen, *after)]
        return what, [*before, *moved]
    if what == "value":
        body = json.loads(chosen.body) | {"version": 1, "forged": rng.random()}
        return what, [
            *before,
            chosen._replace(body=json.dumps(body, sort_keys=True, separators=(",", ":"))),
            *after,
        ]
    if what == "dropped" and len(rows) > 1:
        return what, [*before, *after]
    if what == "inserted" and after:  # an event after the last head is none that a head covers
        position = {"number": 10**6}
        key = step_key(chosen.name, json.loads(chosen.inputs), position)
        return what, [
            *before,
            chosen,
            chosen._replace(key=key, position=json.dumps(position)),
            *after,
        ]
    if what == "exchanged" and after:
        return what, [*before, after[0], chosen, *after[1:]]
    kept = max(1, start)
    if kept < len(rows):
        return "cut", list(rows[:kept])
    return "time", [*before, chosen._replace(time_utc=shifted(chosen.time_utc, -1)), *after]


HEADS_KEPT = ("none", "all", "those that fit", "of another key", "without a signature")
"""What the forger leaves beside the journal."""


def forge_heads(folder: Path, rows: Sequence[EventRow], how: str, key: Ed25519PrivateKey) -> None:
    """Leave heads beside a forged journal as ``how`` says; ``key`` is the forger's own."""
    path = folder / HEADS_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    if how == "none":
        path.unlink()
    elif how == "those that fit":
        hashes = {row.seq: row.hash for row in rows}
        fitting = takewhile(
            lambda line: hashes.get(json.loads(line)["seq"]) == json.loads(line)["hash"], lines
        )
        path.write_bytes(b"".join(fitting))
    elif how in ("of another key", "without a signature"):
        told = {"seq": rows[-1].seq, "hash": rows[-1].hash, "time_utc": rows[-1].time_utc}
        if how == "of another key":
            own = key.public_key().public_bytes_raw().hex()
            told |= {"journal": rows[0].hash, "previous": "", "public_key": own}
            told["signature"] = key.sign(standalone.HEAD_TAG + standalone.canonical(told)).hex()
        path.write_bytes(standalone.canonical(told) + b"\n")


def forge(
    folder: Path, rows: Sequence[EventRow], rng: random.Random, key: Ed25519PrivateKey
) -> str:
    """Write a journal anew as the forger would; says what was done, to the events and to the heads."""
    what, wanted = forged_rows(rows, rng)
    heads = rng.choice(HEADS_KEPT)
    forge_heads(folder, replace_rows(folder, wanted), heads, key)
    return f"{what}, heads kept: {heads}"
