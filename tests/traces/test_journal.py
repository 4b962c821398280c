import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
from itertools import islice, pairwise

import pytest

from lakatos.traces.digest import canonical_json, digest_of
from lakatos.traces.errors import (
    ChainBrokenError,
    JournalError,
    LockedError,
    NewerFormatError,
    ReadOnlyError,
    RecordError,
)
from lakatos.traces.journal import INTENT, EventEntry, Journal, fault, step_key


def write(journal, number, kind="noted", **body):
    position = {"number": number}
    return journal.append(
        kind,
        {"number": number, **body},
        key=step_key("note", (), position),
        name="note",
        position=position,
        inputs=(),
    )


@pytest.fixture
def file(tmp_path):
    """A journal in SQLite."""
    return tmp_path / "journal.sqlite"


@pytest.fixture(params=["sqlite", "postgres"])
def path(request, file):
    """A journal in every store."""
    if request.param == "postgres":
        file.with_suffix(".url").write_text(request.getfixturevalue("postgres").address())
    return file


@pytest.fixture
def journal(path):
    with Journal.create(path, {"title": "test"}) as journal:
        yield journal


def test_events_come_back_as_they_were_appended(journal):
    written = [write(journal, number, text="é\x00'") for number in range(3)]
    assert list(journal.events()) == written
    assert list(journal.events(after_seq=2)) == written[2:]
    assert journal.head == (3, written[-1].hash)


def test_each_event_is_chained_to_the_one_before(journal):
    start = journal.head[1]
    events = [write(journal, number) for number in range(3)]
    assert events[0].previous_hash == start
    assert all(later.previous_hash == earlier.hash for earlier, later in pairwise(events))


def entry(number, kind="noted", step="note"):
    position = {"number": number}
    key = step_key(step, (), position)
    return EventEntry(kind, {"number": number}, key=key, name=step, position=position, inputs=())


def test_events_of_one_commit_are_chained_like_any_others(journal):
    before = write(journal, 0)
    together = journal.append_all([entry(1, INTENT), entry(1), entry(2)])
    after = write(journal, 3)
    events = list(journal.events())
    assert (events[0], events[-1]) == (before, after)
    assert [event.seq for event in events] == [1, 2, 3, 4, 5]
    assert [event.record_digest for event in events[1:4]] == together
    assert all(later.previous_hash == earlier.hash for earlier, later in pairwise(events))
    assert journal.append_all([]) == []


@pytest.mark.parametrize("n_inputs", [0, 1, 3])
def test_what_is_written_is_canonical_and_hashes_as_the_verifier_says(journal, n_inputs):
    inputs = [step_key("input", (), {"number": number}) for number in range(n_inputs)]
    named = ["note", 'a "quoted"\\ name\n', "é"]
    entries = [
        EventEntry(name, {"says": name}, step_key(name, inputs, {}), name, {"of": name}, inputs)
        for name in named
    ]
    digests = journal.append_all(entries)
    rows = list(journal.store.rows())
    assert [row.record_digest for row in rows] == digests
    for row, name, key in zip(rows, named, [entry.key for entry in entries], strict=True):
        assert fault(row) is None
        assert row.inputs.encode() == canonical_json(inputs)
        said = {"body": {"says": name}, "inputs": inputs, "key": key, "kind": name}
        assert row.record_digest == digest_of(said)
        assert row.hash == digest_of([
            "lakatos-event-1", row.seq, row.time_utc, 1, name, {"of": name}, row.record_digest, row.previous_hash,
        ])  # fmt: skip


def test_of_events_of_one_commit_all_are_written_or_none(journal):
    first = write(journal, 1)
    with pytest.raises(JournalError, match="second result of one step"):
        journal.append_all([entry(2), entry(1), entry(3)])
    with pytest.raises(RecordError, match="is no digest"):
        journal.append_all(
            [entry(2), EventEntry("noted", {}, key="x", name="note", position={}, inputs=())]
        )
    assert list(journal.events()) == [first]
    assert write(journal, 2).seq == 2


def test_a_log_cut_in_the_middle_of_a_record_ends_at_the_last_whole_one(file, tmp_path):
    with Journal.create(file, {}) as journal:
        events = [write(journal, number, text="x" * 6000) for number in range(4)]
        sizes = []
        copy = tmp_path / "copy"
        copy.mkdir()
        whole = file.with_name(file.name + "-wal").read_bytes()
        main = file.read_bytes()
    for share in (0.3, 0.6, 0.9, 0.999):
        (copy / file.name).write_bytes(main)
        (copy / (file.name + "-wal")).write_bytes(whole[: int(len(whole) * share)])
        (copy / (file.name + "-shm")).unlink(missing_ok=True)
        with Journal.open(copy / file.name) as journal:
            found = list(journal.events())
            assert found == events[: len(found)]
            sizes.append(len(found))
            assert write(journal, 100).seq == len(found) + 1
    assert sizes == sorted(sizes)
    assert 0 < sizes[-1] < 4


def test_the_record_digest_depends_on_the_record_only(journal):
    event = write(journal, 1)
    expected = digest_of(
        {"kind": event.kind, "key": event.key, "inputs": event.inputs, "body": event.body}
    )
    assert event.record_digest == expected


def test_find_returns_the_result_and_not_the_intent(journal):
    key = step_key("note", (), {"number": 1})
    write(journal, 1, kind=INTENT)
    assert journal.find(key) is None
    assert journal.attempts(key) == 1
    result = write(journal, 1)
    assert journal.find(key) == result
    assert journal.find_record(result.record_digest) == result


def test_a_step_has_one_result(journal):
    first = write(journal, 1)
    with pytest.raises(JournalError, match="second result of one step"):
        write(journal, 1, text="another")
    assert list(journal.events()) == [first]


def test_a_reopened_journal_goes_on(path):
    with Journal.create(path, {}) as journal:
        first = write(journal, 1)
    with Journal.open(path) as journal:
        second = write(journal, 2)
    with Journal.open(path, read_only=True) as journal:
        assert list(journal.events()) == [first, second]


def test_what_is_no_digest_is_refused(journal):
    with pytest.raises(RecordError, match="is no digest"):
        journal.append("noted", {}, key="short", name="note", position={}, inputs=())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET name = 'other'",
        "DELETE FROM event",
        "UPDATE meta SET value = '{}'",
        "DELETE FROM meta",
        "INSERT OR REPLACE INTO meta VALUES ('meta', '{}')",
        "INSERT OR REPLACE INTO event SELECT seq, 'later', kind, key, name, position, attempt, inputs, body, "
        "record_digest, previous_hash, hash FROM event",
        "INSERT OR REPLACE INTO event SELECT seq + 1, 'later', kind, key, name, position, attempt, inputs, body, "
        "record_digest, previous_hash, hash FROM event",
    ],
)
def test_the_database_itself_refuses_changes(file, statement):
    with Journal.create(file, {"title": "test"}) as journal:
        write(journal, 1)
    with sqlite3.connect(file) as other, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(statement)


def test_a_missing_journal_is_named(file):
    with pytest.raises(JournalError, match="there is no journal at"):
        Journal.open(file)


def test_a_journal_is_not_created_twice(path):
    Journal.create(path, {}).close()
    with pytest.raises(JournalError, match="already holds a journal"):
        Journal.create(path, {})


def test_a_creation_cut_short_can_be_repeated(file):
    file.touch()
    with pytest.raises(JournalError, match="creation was cut short"):
        Journal.open(file)
    Journal.create(file, {}).close()


def test_a_newer_format_is_refused(file):
    Journal.create(file, {}).close()
    with sqlite3.connect(file) as other:
        other.execute("DROP TRIGGER meta_update")
        other.execute("UPDATE meta SET value = '2' WHERE name = 'format'")
    with pytest.raises(NewerFormatError, match="has format 2"):
        Journal.open(file, read_only=True)


def test_a_file_that_is_no_database_is_named(file):
    file.write_bytes(b"not a database, but long enough to be one " * 100)
    with pytest.raises(JournalError, match="damaged or no database"):
        Journal.open(file, read_only=True)


def test_reading_refuses_to_write(path):
    Journal.create(path, {}).close()
    with (
        Journal.open(path, read_only=True) as journal,
        pytest.raises(ReadOnlyError, match="for reading only"),
    ):
        write(journal, 1)


def test_reading_leaves_no_file_behind_and_changes_none(file):
    with Journal.create(file, {}) as journal:
        write(journal, 1)
    before = {path.name: path.stat().st_mtime_ns for path in file.parent.iterdir()}
    with Journal.open(file, read_only=True) as journal:
        assert len(list(journal.events())) == 1
    assert {path.name: path.stat().st_mtime_ns for path in file.parent.iterdir()} == before


def test_a_reader_follows_a_writer(journal, path):
    with Journal.open(path, read_only=True) as reader:
        for number in range(1, 4):
            event = write(journal, number)
            assert reader.head == (number, event.hash)
            assert list(reader.events(after_seq=number - 1)) == [event]


def test_a_walk_goes_on_while_a_writer_begins_and_ends(path):
    with Journal.create(path, {}) as journal:
        journal.append_all([entry(number) for number in range(1, 1501)])
    with Journal.open(path, read_only=True) as reader:
        walk = reader.events()
        assert next(walk).seq == 1
        with Journal.open(path) as journal:
            write(journal, 1501)
            assert [event.seq for event in islice(walk, 1200)] == list(range(2, 1202))
            write(journal, 1502)
        assert [event.seq for event in walk] == list(range(1202, 1503))


def test_nothing_is_written_after_a_changed_event(file):
    with Journal.create(file, {}) as journal:
        write(journal, 1)
    with sqlite3.connect(file) as other:
        other.execute("DROP TRIGGER event_update")
        other.execute("UPDATE event SET time_utc = '2020-01-01'")
    with pytest.raises(ChainBrokenError, match=r"event 1 \(noted of 'note'\).*was changed"):
        Journal.open(file)
    with (
        Journal.open(file, read_only=True) as journal,
        pytest.raises(ChainBrokenError, match="event 1"),
    ):
        list(journal.events())


def test_a_second_writer_in_this_process_is_refused(journal, path):
    with pytest.raises(LockedError, match=f"process {os.getpid()}"):
        Journal.open(path)


def hold(path, ready, done):
    with Journal.open(path):
        ready.set()
        done.wait(30)


@pytest.mark.slow
def test_a_second_process_is_told_who_writes(path):
    Journal.create(path, {}).close()
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=hold, args=(path, ready, done))
    other.start()
    assert ready.wait(30)
    with pytest.raises(LockedError, match=f"written by process {other.pid}"):
        Journal.open(path)
    Journal.open(path, read_only=True).close()
    other.kill()  # the lock ends with its process, however that ends
    other.join()
    Journal.open(path).close()


def fill_disk(journal):
    """Append until it fails; the error and the number of events before it."""
    for number in range(1, 10_000):
        try:
            write(journal, number, text="x" * 1_000)
        except JournalError as error:
            return str(error), number - 1
    raise AssertionError("the disk never filled up")


def test_a_full_disk_loses_nothing_that_was_recorded(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        (disk / "ballast").write_bytes(b"x" * 300_000)
        with Journal.create(disk / "journal.sqlite", {}) as journal:
            message, n_events = fill_disk(journal)
            assert "disk is full while writing 'noted' of 'note'" in message
            assert "free space and `lakatos resume`" in message
            assert journal.head[0] == n_events == len(list(journal.events()))
            (disk / "ballast").unlink()
            write(journal, n_events + 1)
        with Journal.open(disk / "journal.sqlite") as journal:
            assert len(list(journal.events())) == n_events + 1
    finally:
        subprocess.run(["umount", disk], check=True)


LIMITED = """
import resource, sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {root!r}]
from test_journal import fill_disk
from lakatos.traces.journal import Journal
journal = Journal.create(Path({path!r}), {{}})
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
message, n_events = fill_disk(journal)
assert journal.head[0] == n_events
print(n_events, message)
"""


def test_a_limit_on_file_sizes_loses_nothing_that_was_recorded(file, request):
    script = LIMITED.format(
        tests=str(request.path.parent), root=str(request.config.rootpath), path=str(file)
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    n_events, _, message = result.stdout.partition(" ")
    assert "`lakatos resume`" in message
    assert message.count("\n") == 1
    with Journal.open(file) as journal:
        assert len(list(journal.events())) == int(n_events)
        write(journal, int(n_events) + 1)


def test_a_row_with_a_value_of_another_type_is_at_fault(file):
    """A number as text would hash as the number does."""
    with Journal.create(file, {"seed": 1}) as journal:
        write(journal, 1)
        (row,) = journal.store.rows()
    assert fault(row) is None
    for changed in ({"attempt": str(row.attempt)}, {"seq": True}, {"name": row.name.encode()}):
        assert "another type of value" in fault(row._replace(**changed))
