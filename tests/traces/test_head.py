"""Signed heads, and what they show that a chain alone cannot."""

import json
import stat
from contextlib import closing

import pytest

from traces.errors import HeadError
from traces.head import HEADS_FILE, KEY_FILE, Head, home, identity, kept_apart, known_key, laboratory_key, write_head
from traces.journal import Journal
from traces.step import JOURNAL_FILE, Trace
from traces.verify import verify


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A laboratory of the test's own."""
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def folder(filled, place):
    return filled("run", 5)  # 11 events


def heads_of(folder, types, **more):
    return next(check for check in verify(folder, types, **more).checks if check.name == "heads")


def apart(folder):
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        return kept_apart(identity(journal))


def cut(folder, seq):
    import sqlite3

    with closing(sqlite3.connect(folder / JOURNAL_FILE, isolation_level=None)) as database:
        triggers = database.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute("DELETE FROM event WHERE seq > ?", (seq,))
        for _, sql in triggers:
            database.execute(sql)


def test_the_key_is_made_once_and_is_for_its_owner_only(place) -> None:
    first = laboratory_key().private_bytes_raw()
    assert laboratory_key().private_bytes_raw() == first
    assert stat.S_IMODE((place / KEY_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert home() == place


def test_a_key_that_others_may_read_is_refused(place) -> None:
    laboratory_key()
    (place / KEY_FILE).chmod(0o644)
    with pytest.raises(HeadError, match=r"others may read .* `chmod 600"):
        laboratory_key()
    assert known_key() is None


def test_a_home_that_cannot_be_made_is_named(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(HeadError, match="LAKATOS_HOME"):
        laboratory_key()


def test_a_head_is_kept_in_both_places_and_the_same_end_once(folder, types, drawn) -> None:
    assert write_head(folder) == write_head(folder) == Head(11, heads_last(folder)["hash"])
    with Trace.open(folder, types) as trace:
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    write_head(folder)
    for path in (folder / HEADS_FILE, apart(folder)):
        assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [11, 12]
    assert heads_of(folder, types).detail.endswith("(4, 4 of them signed)")


def heads_last(folder):
    return json.loads((folder / HEADS_FILE).read_text().splitlines()[-1])


def test_a_tail_cut_off_together_with_the_heads_beside_it_is_found_by_the_second_place(folder, types) -> None:
    write_head(folder)
    (folder / HEADS_FILE).unlink()
    cut(folder, 8)
    found = heads_of(folder, types)
    assert not found.ok
    assert found.seq == 11
    assert "the journal ends at event 8: later events were cut off" in found.detail


def test_a_head_signed_by_somebody_else_is_found(folder, types, tmp_path, monkeypatch) -> None:
    write_head(folder)
    own = known_key()
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "forger"))
    monkeypatch.setenv("LAKATOS_HEADS", str(tmp_path / "elsewhere"))
    (folder / HEADS_FILE).unlink(missing_ok=True)
    write_head(folder)
    assert heads_of(folder, types).ok, "it is the forger's own laboratory"
    found = heads_of(folder, types, key=own)
    assert not found.ok
    assert "is signed by" in found.detail
    assert heads_of(folder, types, key="").ok


@pytest.mark.parametrize("how", ["changed", "dropped", "moved"])
def test_a_line_that_was_changed_dropped_or_moved_is_found(folder, types, drawn, how) -> None:
    write_head(folder)
    for number in range(2):
        with Trace.open(folder, types) as trace:
            trace.record(drawn(value=1.0), name="draw", position={"number": 50 + number})
        write_head(folder)
    path = folder / HEADS_FILE
    lines = path.read_bytes().splitlines(keepends=True)
    if how == "changed":
        lines[1] = lines[1].replace(b'"seq":12', b'"seq":11')
    elif how == "dropped":
        del lines[1]
    else:
        lines[0], lines[1] = lines[1], lines[0]
    path.write_bytes(b"".join(lines))
    found = heads_of(folder, types)
    assert not found.ok
    assert f"{path} " in found.detail


def test_heads_of_versions_that_did_not_sign_still_count(folder, types) -> None:
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        seq, event_hash = journal.head
    (folder / HEADS_FILE).write_text(json.dumps({"hash": event_hash, "seq": seq, "time_utc": "2026-01-01"}) + "\n")
    assert heads_of(folder, types).detail.endswith("(1, 0 of them signed)")
    cut(folder, 8)
    assert not heads_of(folder, types).ok
