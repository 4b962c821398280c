import itertools
import shutil
import sqlite3
from contextlib import closing

import pytest
from forging import rewrite, tampering
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakatos.traces.errors import ChainBrokenError, JournalError
from lakatos.traces.head import HEADS_FILE, write_head
from lakatos.traces.journal import Journal, step_key
from lakatos.traces.record import Tombstone
from lakatos.traces.step import ARTIFACT_FOLDER, JOURNAL_FILE, Trace
from lakatos.traces.stores.store import EventRow
from lakatos.traces.verify import verify

COLUMNS = [column for column in EventRow._fields if column != "seq"]
serial = itertools.count()


@pytest.fixture
def folder(filled):
    return filled("run", 5)  # 11 events


def failed(folder, types):
    return {check.name: check for check in verify(folder, types, unsigned=True).failures}


def test_an_untouched_trace_passes_every_check(folder, types):
    write_head(folder, begins=True)
    report = verify(folder, types)
    assert report.ok, report.failures
    assert [check.name for check in report.checks] == [
        "database",
        "chain",
        "keys",
        "records",
        "inputs",
        "references",
        "tombstones",
        "artifacts",
        "heads",
        "times",
    ]


def test_an_open_trace_can_be_verified_while_it_is_written(folder, types):
    with Trace.open(folder, types) as trace:
        assert verify(trace, unsigned=True).ok
        assert verify(folder, types, unsigned=True).ok


@pytest.mark.slow
@given(
    seq=st.integers(1, 11),
    column=st.sampled_from(COLUMNS),
    place=st.integers(0),
    byte=st.integers(1, 255),
)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
def test_one_changed_byte_in_a_row_is_found_and_its_event_named(
    folder, types, seq, column, place, byte
):
    copy = folder.with_name(f"copy{next(serial)}")
    shutil.copytree(folder, copy)
    with tampering(copy) as database:
        query = f"SELECT CAST({column} AS BLOB) FROM event WHERE seq = ?"
        old = database.execute(query, (seq,)).fetchone()[0]
        if column == "attempt":
            database.execute("UPDATE event SET attempt = attempt + ? WHERE seq = ?", (byte, seq))
        else:
            place %= len(old)
            new = old[:place] + bytes([old[place] ^ byte]) + old[place + 1 :]
            database.execute(
                f"UPDATE event SET {column} = CAST(? AS TEXT) WHERE seq = ?", (new, seq)
            )
    found = failed(copy, types)
    shutil.rmtree(copy)
    assert found["chain"].seq == seq
    assert f"event {seq} (" in found["chain"].detail


@pytest.mark.parametrize("step", [7, 53])
def test_a_changed_byte_in_the_file_of_the_journal_is_found_or_changes_no_row(
    tmp_path, filled, types, step
):
    """Free space in SQLite's pages holds nothing, so a change there may pass; no change of content may."""
    folder = filled("small", 2)
    path = folder / JOURNAL_FILE
    with Journal.open(path, read_only=True) as journal:
        events = list(journal.events())
    good = path.read_bytes()
    for place in range(step, len(good), 997 if step == 7 else 1499):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x41]) + good[place + 1 :])
        if verify(folder, types, unsigned=True).ok:
            with Journal.open(path, read_only=True) as journal:
                assert list(journal.events()) == events, place


def test_numbers_that_go_backwards_are_found_and_end_the_walk(folder, types):
    """SQLite's own search relies on their order; a walk that goes on after the last number would never end."""
    path = folder / JOURNAL_FILE
    with Journal.open(path, read_only=True) as journal:
        last = journal.store.last()
    data = bytearray(path.read_bytes())
    # A row of the table: its length, its number, then a header that says its own length; the number itself takes none.
    payload = data.rindex(last.time_utc.encode())
    header = next(
        at for at in range(payload - 40, payload) if data[at] == payload - at and data[at + 1] == 0
    )
    assert data[header - 1] == last.seq
    data[header - 1] = 1
    path.write_bytes(data)
    found = failed(folder, types)
    assert found["chain"].seq == 1
    with Journal.open(path, read_only=True) as journal:
        with pytest.raises(JournalError, match="out of order"):
            list(journal.store.rows())
        with pytest.raises(ChainBrokenError, match="event 1 "):
            list(journal.events())


def test_a_dropped_row_is_found(folder, types):
    with tampering(folder) as database:
        database.execute("DELETE FROM event WHERE seq = 4")
    chain = failed(folder, types)["chain"]
    assert chain.seq == 5
    assert "follows event 3: events between them are missing" in chain.detail


def test_a_dropped_row_is_found_even_if_the_others_are_renumbered(folder, types):
    with tampering(folder) as database:
        database.execute("DELETE FROM event WHERE seq = 4")
        database.execute("UPDATE event SET seq = seq - 1 WHERE seq > 4")
    assert failed(folder, types)["chain"].seq == 4


def test_swapped_rows_are_found(folder, types):
    with tampering(folder) as database:
        for old, new in ((3, 100), (5, 3), (100, 5)):
            database.execute("UPDATE event SET seq = ? WHERE seq = ?", (new, old))
    assert failed(folder, types)["chain"].seq == 3


def test_a_changed_description_is_found(folder, types):
    with tampering(folder) as database:
        database.execute("""UPDATE meta SET value = '{"roots":[],"seed":8}' WHERE name = 'meta'""")
    assert failed(folder, types)["chain"].seq == 1


def test_a_missing_trigger_is_found(folder, types):
    with closing(sqlite3.connect(folder / JOURNAL_FILE, isolation_level=None)) as database:
        database.execute("DROP TRIGGER event_delete")
    assert "CREATE TRIGGER event_delete" in failed(folder, types)["database"].detail


def test_a_cut_tail_is_found_by_a_head_kept_outside(folder, types):
    head = write_head(folder, begins=True)
    with tampering(folder) as database:
        database.execute("DELETE FROM event WHERE seq > 9")
    heads = failed(folder, types)["heads"]
    assert heads.seq == head.seq == 11
    assert "the journal ends at event 9" in heads.detail


def test_a_journal_written_anew_is_found_by_a_head_kept_outside(folder, types):
    write_head(folder, begins=True)
    with Trace.open(folder, types) as trace:
        trace.record(types["drawn"](value=9), name="draw", position={"number": 9})
    rewrite(folder, 11, lambda row: row._replace(time_utc="2020-01-01T00:00:00.000000+00:00"))
    found = failed(folder, types)
    assert set(found) == {"heads", "times"}
    assert found["heads"].seq == 11


@pytest.mark.parametrize(
    ("changes", "check"),
    [
        ({"body": '{"kind":"drawn","value":"many","version":1}'}, "records"),
        ({"body": "[]"}, "records"),
        ({"body": '{"a":"\\ud800"}'}, "records"),
        ({"position": "[1]"}, "records"),
        ({"inputs": "[[]]"}, "records"),
        ({"kind": "unknown"}, "records"),
        ({"name": "other"}, "keys"),
        ({"inputs": '["' + "a" * 64 + '"]'}, "inputs"),
    ],
)
def test_what_a_forger_writes_must_still_make_sense(folder, types, changes, check):
    rewrite(folder, 9, lambda row: row._replace(**changes))
    assert failed(folder, types)[check].seq == 9


def test_a_changed_artifact_is_found(folder, types):
    for path in sorted((folder / ARTIFACT_FOLDER).rglob("*")):
        if path.is_file():
            good = path.read_bytes()
            path.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
            assert path.name in failed(folder, types)["artifacts"].detail
            path.write_bytes(good)
    assert verify(folder, types, unsigned=True).ok


def test_a_missing_artifact_is_found_with_the_record_that_needs_it(folder, types):
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        score = next(event for event in journal.events() if event.kind == "scored")
    next((folder / ARTIFACT_FOLDER).rglob(score.body["table"])).unlink()
    found = failed(folder, types)
    assert found["inputs"].seq == found["references"].seq == score.seq


def test_an_artifact_that_was_erased_with_its_record_is_not_missed(tmp_path, scored, types):
    with Trace.create(tmp_path / "run", seed=1, types=types) as trace:
        tables = [trace.artifacts.put_json({"answers": n}) for n in range(2)]
        records = [
            trace.record(scored(table=table, total=1.0), name="score", position={"n": n})
            for n, table in enumerate(tables)
        ]
        trace.record(Tombstone(target=records[0].digest, reason="withdrawn"), name="erase")
        trace.artifacts.erase(tables[0])
    assert verify(tmp_path / "run", types, unsigned=True).ok
    with Trace.open(tmp_path / "run", types) as trace:
        trace.artifacts.erase(tables[1])
    assert list(failed(tmp_path / "run", types)) == ["references"]


def test_a_tombstone_of_nothing_is_found(folder, types):
    with Journal.open(folder / JOURNAL_FILE) as journal:
        body = {
            "kind": "tombstone",
            "version": 1,
            "target": "a" * 64,
            "reason": "none",
            "decision": None,
        }
        journal.append(
            "tombstone",
            body,
            key=step_key("erase", (), {"n": 2}),
            name="erase",
            position={"n": 2},
            inputs=(),
        )
    found = failed(folder, types)
    assert found["tombstones"].seq == 12


@pytest.mark.parametrize("content", [b"", b"no database at all, " * 500])
def test_a_file_that_is_no_journal_fails_without_a_traceback(tmp_path, types, content):
    (tmp_path / JOURNAL_FILE).write_bytes(content)
    assert set(failed(tmp_path, types)) == {"database"}


def test_a_damaged_file_fails_without_a_traceback(folder, types):
    path = folder / JOURNAL_FILE
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    assert "database" in failed(folder, types)
    path.write_bytes(good[:4096] + b"\xff" * 8192 + good[12288:])
    assert "database" in failed(folder, types)


def test_a_missing_journal_fails(tmp_path, types):
    assert "there is no journal" in failed(tmp_path, types)["database"].detail


@pytest.mark.parametrize("line", ["{", "[]", '{"seq":"1","hash":""}', "\x00"])
def test_a_damaged_head_is_found(folder, types, line):
    write_head(folder, begins=True)
    with (folder / HEADS_FILE).open("a") as file:
        file.write(line + "\n")
    assert "line 2" in failed(folder, types)["heads"].detail
