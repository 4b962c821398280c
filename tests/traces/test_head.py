"""Signed heads, and what they show that a chain alone cannot."""

import json
import shutil
import stat
from contextlib import closing

import pytest
from forging import rewrite, shifted

from lakatos.traces.errors import HeadError
from lakatos.traces.head import (
    HEADS_FILE,
    JournalHead,
    identity,
    kept_apart,
    known_key,
    laboratory_key,
    public_key,
    write_head,
)
from lakatos.traces.home import KEY_FILE, home
from lakatos.traces.journal import Journal, start_of
from lakatos.traces.standalone import HEAD_TAG, canonical
from lakatos.traces.step import JOURNAL_FILE, Trace
from lakatos.traces.verify import verify


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
        triggers = database.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
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
    assert (
        write_head(folder, begins=True)
        == write_head(folder)
        == JournalHead(11, heads_last(folder)["hash"])
    )
    with Trace.open(folder, types) as trace:
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    write_head(folder, begins=True)
    for path in (folder / HEADS_FILE, apart(folder)):
        assert [json.loads(line)["seq"] for line in path.read_text().splitlines()] == [11, 12]
    assert heads_of(folder, types).detail.endswith("(4, 4 of them signed)")


def heads_last(folder):
    return json.loads((folder / HEADS_FILE).read_text().splitlines()[-1])


def test_a_tail_cut_off_together_with_the_heads_beside_it_is_found_by_the_second_place(
    folder, types
) -> None:
    write_head(folder, begins=True)
    (folder / HEADS_FILE).unlink()
    cut(folder, 8)
    found = heads_of(folder, types)
    assert not found.ok
    assert found.seq == 11
    assert "the journal ends at event 8: later events were cut off" in found.detail


def test_heads_of_a_key_that_nothing_vouches_for_are_named_with_what_follows(
    folder, types, tmp_path, monkeypatch
) -> None:
    write_head(folder, begins=True)
    key = known_key()
    assert heads_of(folder, types, key="").detail.endswith("of them signed)")
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "empty"))
    said = heads_of(folder, types)
    assert said.ok
    assert (
        f"; signed by {key}, which nothing here vouches for: the holder of that key could have"
        in said.detail
    )
    assert "Give the key that the laboratory published to `lakatos audit --key`" in said.detail
    assert "vouches" not in heads_of(folder, types, key=key).detail
    assert not (tmp_path / "empty").exists()


def test_a_head_signed_by_somebody_else_is_found(folder, types, tmp_path, monkeypatch) -> None:
    write_head(folder, begins=True)
    own = known_key()
    monkeypatch.setenv("LAKATOS_HOME", str(tmp_path / "forger"))
    monkeypatch.setenv("LAKATOS_HEADS", str(tmp_path / "elsewhere"))
    (folder / HEADS_FILE).unlink(missing_ok=True)
    write_head(folder, begins=True)
    assert heads_of(folder, types).ok, "it is the forger's own laboratory"
    found = heads_of(folder, types, key=own)
    assert not found.ok
    assert "is signed by" in found.detail
    assert heads_of(folder, types, key="").ok


@pytest.mark.parametrize("how", ["changed", "dropped", "moved"])
def test_a_line_that_was_changed_dropped_or_moved_is_found(folder, types, drawn, how) -> None:
    write_head(folder, begins=True)
    for number in range(2):
        with Trace.open(folder, types) as trace:
            trace.record(drawn(value=1.0), name="draw", position={"number": 50 + number})
        write_head(folder, begins=True)
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


def test_heads_without_a_signature_show_a_cut_and_nothing_about_a_forger(folder, types) -> None:
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        seq, event_hash = journal.head
    (folder / HEADS_FILE).write_text(
        json.dumps({"hash": event_hash, "seq": seq, "time_utc": "2026-01-01"}) + "\n"
    )
    assert heads_of(folder, types, unsigned=True).detail.endswith("(1, 0 of them signed)")
    found = heads_of(folder, types)
    assert not found.ok
    assert "1 heads without a signature anybody could have written" in found.detail
    cut(folder, 8)
    assert "later events were cut off" in heads_of(folder, types, unsigned=True).detail


def written_anew(folder, seconds=-86_400.0):
    """Every event written anew with another time, and no head beside it, as a forger would without the key."""
    rewrite(
        folder, range(1, 10**6), lambda row: row._replace(time_utc=shifted(row.time_utc, seconds))
    )
    (folder / HEADS_FILE).unlink()


def test_a_journal_written_anew_from_its_first_event_is_found_and_its_orphaned_heads_are_named(
    folder, types
) -> None:
    write_head(folder, begins=True)
    assert verify(folder, types).ok
    before = apart(folder)
    written_anew(folder)
    assert apart(folder) != before
    found = heads_of(folder, types)
    assert not found.ok
    assert "no signed head covers the journal" in found.detail
    assert f"heads of something else in this folder (event 11 of {before.stem[:8]}" in found.detail


def test_a_journal_that_was_stopped_before_its_first_event_is_not_called_written_anew(
    tmp_path, types
) -> None:
    with Trace.create(tmp_path / "new", seed=7, types=types):
        pass
    found = heads_of(tmp_path / "new", types)
    assert not found.ok
    assert "stopped before its first record, or all of it was removed" in found.detail
    assert "written anew" not in found.detail


def test_nothing_is_signed_for_a_journal_that_no_earlier_head_covers(folder, types, drawn) -> None:
    write_head(folder, begins=True)
    written_anew(folder)
    with Trace.open(folder, types) as trace:  # somebody goes on with it
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    with pytest.raises(HeadError, match=r"nothing is signed .* written anew"):
        write_head(folder)
    assert not (folder / HEADS_FILE).exists()
    assert not apart(folder).exists()


def test_nothing_is_signed_after_a_cut(folder, types) -> None:
    write_head(folder, begins=True)
    (folder / HEADS_FILE).unlink()
    cut(folder, 8)
    with pytest.raises(
        HeadError, match="a head of event 11 was signed that the journal does not have"
    ):
        write_head(folder)


def test_an_older_copy_that_was_restored_on_purpose_goes_on_and_is_named(
    folder, types, drawn
) -> None:
    write_head(folder, begins=True)
    copy = folder.parent / "copy"
    shutil.copytree(folder, copy)
    with Trace.open(folder, types) as trace:
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    write_head(folder)
    shutil.rmtree(folder)
    copy.rename(folder)
    with pytest.raises(HeadError, match="restored on purpose"):
        write_head(folder)
    apart(folder).rename(apart(folder).with_suffix(".lost"))
    write_head(folder)
    assert verify(folder, types).ok
    assert "heads of something else in this folder (event 12" in heads_of(folder, types).detail


def test_a_journal_at_its_beginning_needs_no_earlier_head(tmp_path, place, types, drawn) -> None:
    with Trace.create(tmp_path / "new", seed=7, types=types) as trace:
        trace.record(drawn(value=1.0), name="draw")
        assert write_head(tmp_path / "new").seq == 1
        trace.record(drawn(value=2.0), name="draw", position={"number": 2})
        assert write_head(tmp_path / "new").seq == 2
    assert verify(tmp_path / "new", types).ok


def test_of_each_journal_that_is_gone_only_the_last_head_is_named(folder, types, drawn) -> None:
    write_head(folder, begins=True)
    with Trace.open(folder, types) as trace:
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    write_head(folder)
    written_anew(folder)
    told = heads_of(folder, types).detail
    assert "in this folder (event 12 of" in told
    assert "event 11" not in told


def test_the_head_of_an_empty_journal_is_never_signed_and_covers_nothing(
    folder, place, types, drawn
) -> None:
    """It would fit every journal with the same description, and so a forgery of any of them."""
    with Trace.create(folder.parent / "empty", seed=7, types=types):
        with pytest.raises(HeadError, match="has no event yet"):
            write_head(folder.parent / "empty")
        with pytest.raises(HeadError, match="has no event yet"):
            write_head(folder.parent / "empty", begins=True)
    # As earlier versions would have signed it.
    write_head(folder, begins=True)
    written_anew(folder)
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        start = start_of(journal.store.meta())
    key = laboratory_key()
    told = {
        "seq": 0, "hash": start, "journal": start, "time_utc": "2026-01-01T00:00:00+00:00", "previous": "",
        "public_key": public_key(key),
    }  # fmt: skip
    signature = key.sign(HEAD_TAG + canonical(told)).hex()
    (folder / HEADS_FILE).write_bytes(canonical({**told, "signature": signature}) + b"\n")
    assert "no signed head covers the journal" in heads_of(folder, types).detail
    with Trace.open(folder, types) as trace:  # somebody goes on with it
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    with pytest.raises(HeadError, match="nothing is signed"):
        write_head(folder)


def times_of(folder, types):
    return next(check for check in verify(folder, types).checks if check.name == "times")


@pytest.mark.parametrize(
    ("seconds", "problem"), [(-7200.0, "backdated"), (7200.0, "after the head that covers it")]
)
def test_an_event_that_says_another_time_than_its_heads_is_found(
    folder, types, drawn, seconds, problem
) -> None:
    """A laboratory that signs what it backdated itself: earlier heads say when it cannot have been written."""
    write_head(folder, begins=True)
    with Trace.open(folder, types) as trace:
        trace.record(drawn(value=1.0), name="draw", position={"number": 99})
    assert times_of(folder, types).ok
    rewrite(folder, 12, lambda row: row._replace(time_utc=shifted(row.time_utc, seconds)))
    write_head(folder)
    found = times_of(folder, types)
    assert not found.ok
    assert "event 12" in found.detail
    assert problem in found.detail


def test_a_journal_signed_long_after_it_says_that_it_began_is_found(folder, types) -> None:
    rewrite(folder, range(1, 12), lambda row: row._replace(time_utc=shifted(row.time_utc, -7200)))
    write_head(folder, begins=True)
    assert "the beginning may be backdated" in times_of(folder, types).detail
