"""What a journal in PostgreSQL owes beyond the contract of every journal, which test_journal.py holds it to."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lakatos.traces.errors import ChainBrokenError, JournalError, LockedError, NewerFormatError
from lakatos.traces.fold import canonical_digest
from lakatos.traces.journal import Journal, event_of, step_key
from lakatos.traces.place import holds_journal, run_folders, settle
from lakatos.traces.step import JOURNAL_FILE, Trace
from lakatos.traces.stores.address import read_address
from lakatos.traces.stores.postgres import PostgresStore
from lakatos.traces.verify import verify

psycopg = pytest.importorskip(
    "psycopg", reason="psycopg is not installed: pip install 'lakatos[scale]'"
)


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
def path(tmp_path, postgres):
    (tmp_path / "journal.url").write_text(postgres.address())
    return tmp_path / "journal.url"


@pytest.fixture
def admin(postgres):
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        yield connection


def run_of(admin, path):
    name = read_address(path.read_text()).run
    return admin.execute("SELECT id FROM lakatos.run WHERE name = %s", (name,)).fetchone()[0]


def change(admin, table, statement, *values):
    """What an owner of the tables can do who switches the triggers off for a moment."""
    admin.execute(f"ALTER TABLE lakatos.{table} DISABLE TRIGGER USER")
    try:
        admin.execute(statement, values)
    finally:
        admin.execute(f"ALTER TABLE lakatos.{table} ENABLE TRIGGER USER")


@pytest.mark.slow
def test_rows_copied_from_sqlite_have_the_same_chain_byte_for_byte(tmp_path, path):
    with Journal.create(tmp_path / "a" / "journal.sqlite", {"title": "é\x00'"}) as old:
        for number in range(1100):
            write(old, number, text="é\x00'\U0001f600", third=number / 3)
        with Journal.create(path, {"title": "é\x00'"}) as new:
            new.store.append_all(list(old.store.rows()))
            assert list(new.store.stored()) == list(old.store.stored())
            assert list(new.events()) == [event_of(row) for row in old.store.rows()]
            assert canonical_digest(new.events()) == canonical_digest(old.events())
        with Journal.open(path, read_only=True) as new:
            assert new.head == old.head


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE lakatos.event SET name = 'other'",
        "DELETE FROM lakatos.event",
        "TRUNCATE lakatos.event",
        "UPDATE lakatos.meta SET value = '{}'",
        "DELETE FROM lakatos.run",
        "INSERT INTO lakatos.event SELECT run, seq + 2, time_utc, 'more', key, name, position, attempt, inputs, body, "
        "record_digest, hash, hash FROM lakatos.event",
        "INSERT INTO lakatos.event SELECT run, seq + 1, time_utc, 'intent', key, name, position, attempt, inputs, "
        "body, record_digest, previous_hash, hash FROM lakatos.event",
    ],
)
def test_the_database_itself_refuses_changes(path, admin, statement):
    with Journal.create(path, {}) as journal:
        write(journal, 1)
        with pytest.raises(psycopg.Error, match=r"append-only|violates foreign key"):
            admin.execute(statement)
        assert journal.store.problem() is None


def test_two_sessions_that_both_believe_to_be_the_writer_cannot_both_go_on(path, admin):
    with Journal.create(path, {}) as journal:
        write(journal, 1)
        # A lock lost without a word, as behind a pooler that gives each statement another session.
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND pid <> 0",
            (run_of(admin, path),),
        )
        with Journal.open(path) as other:
            written = write(other, 2)
            with pytest.raises(LockedError, match=f"written by process {os.getpid()}"):
                write(journal, 3)
        with pytest.raises(
            JournalError, match=r"newest event became another.*Nothing was written|is closed"
        ):
            write(journal, 3)
        assert [event.seq for event in other.events()] == [1, 2]
        assert list(other.events())[-1] == written


def test_writers_of_different_runs_do_not_disturb_each_other(tmp_path, postgres):
    journals = []
    for number in range(4):
        (tmp_path / f"{number}.url").write_text(postgres.address())
        journals.append(Journal.create(tmp_path / f"{number}.url", {"run": number}))
    threads = [
        threading.Thread(
            target=lambda journal=journal: [write(journal, number) for number in range(25)]
        )
        for journal in journals
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, journal in enumerate(journals):
        assert [event.body["number"] for event in journal.events()] == list(range(25))
        assert journal.meta == {"run": number}
        journal.close()


def test_a_changed_row_a_changed_trigger_and_a_dropped_index_are_found(path, admin):
    with Journal.create(path, {}) as journal:
        write(journal, 1)
    run = run_of(admin, path)
    change(admin, "event", "UPDATE lakatos.event SET time_utc = '2020-01-01' WHERE run = %s", run)
    with pytest.raises(ChainBrokenError, match=r"event 1 \(noted of 'note'\).*was changed"):
        Journal.open(path)
    with Journal.open(path, read_only=True) as journal:
        assert journal.store.problem() is None
        for statement, back, named in (
            (
                "ALTER TABLE lakatos.event DISABLE TRIGGER event_change",
                "ENABLE TRIGGER event_change",
                "event_change",
            ),
            ("ALTER TABLE lakatos.event ADD COLUMN more text", "DROP COLUMN more", "more text"),
        ):
            admin.execute(statement)
            assert named in journal.store.problem()
            admin.execute(f"ALTER TABLE lakatos.event {back}")
        assert journal.store.problem() is None


def test_a_newer_format_is_refused(path, admin):
    Journal.create(path, {}).close()
    run = run_of(admin, path)
    change(
        admin, "meta", "UPDATE lakatos.meta SET value = '2' WHERE name = 'format' AND run = %s", run
    )
    with pytest.raises(NewerFormatError, match="has format 2"):
        Journal.open(path, read_only=True)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("sqlite:///x#run", "no address of a journal"),
        ("postgresql://user@host/db", "no address of a journal"),
        ("postgresql://user:secret@host/db#run", "holds a password"),
        ("postgresql://host/db?user=a&password=secret#run", "holds a password"),
    ],
)
def test_an_address_that_is_none_or_tells_a_password_is_refused(tmp_path, text, match):
    (tmp_path / "journal.url").write_text(text)
    with pytest.raises(JournalError, match=match) as caught:
        Journal.open(tmp_path / "journal.url")
    assert ":secret@" not in str(caught.value)


def test_an_unreachable_database_is_refused_at_once_and_in_one_line(tmp_path):
    (tmp_path / "journal.url").write_text(f"postgresql://nobody@/nothing?host={tmp_path}#run")
    begun = time.monotonic()
    with pytest.raises(
        JournalError, match=r"no answer from the database while opening.*Check that it runs"
    ) as caught:
        Journal.open(tmp_path / "journal.url")
    assert time.monotonic() - begun < 10
    assert "\n" not in str(caught.value)
    report = verify(tmp_path, {}, unsigned=True)
    assert not report.ok
    assert "no answer" in report.failures[0].detail


def test_a_missing_run_is_named(path, postgres):
    with pytest.raises(JournalError, match=r"there is no journal at postgresql://"):
        Journal.open(path)


WITHOUT = """
import sys
sys.modules["psycopg"] = None
sys.path.insert(0, {root!r})
from pathlib import Path
from lakatos.traces.errors import JournalError
from lakatos.traces.journal import Journal
try:
    Journal.open(Path({path!r}))
except JournalError as error:
    print(error)
"""


def test_without_the_extra_the_message_names_it(tmp_path, request):
    (tmp_path / "journal.url").write_text("postgresql://host/db#run")
    script = WITHOUT.format(root=str(request.config.rootpath), path=str(tmp_path / "journal.url"))
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "pip install 'lakatos[scale]'" in result.stdout


def test_a_run_begins_where_the_environment_says_and_is_found_there(tmp_path, postgres, drawn):
    folder = tmp_path / "runs" / "mine"
    settle(folder, {"LAKATOS_JOURNAL": postgres.url})
    with Trace.create(folder, seed=7, types={"drawn": drawn}, meta={}) as trace:
        recorded = trace.record(drawn(value=0.5), name="draw")
        assert trace.journal.path == folder / "journal.url"
        trace.inbox.deliver("page", {"answer": 1}, batch_key="a")
    settle(folder, {})  # what the environment says later changes nothing
    assert not (folder / JOURNAL_FILE).exists()
    assert holds_journal(folder)
    assert run_folders(tmp_path / "runs") == [folder]
    with Trace.open(folder, {"drawn": drawn}) as trace:
        assert trace.recorded("draw") == recorded
    assert verify(folder, {"drawn": drawn}, unsigned=True).ok


# -- the database restarts -------------------------------------------------------------------------------------------


@pytest.fixture
def restarting(postgres):
    """Stops the server, waits, and starts it again, in a thread."""
    threads = []

    def restart(mode="fast", down_s=0.3):
        def work():
            postgres.stop(mode)
            time.sleep(down_s)
            postgres.start()

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return threads[-1]

    yield restart
    for thread in threads:
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    "mode", ["fast", "immediate"]
)  # the second is a crash: the server recovers from its log
def test_a_database_that_restarts_in_the_middle_loses_and_doubles_nothing(path, restarting, mode):
    with Journal.create(path, {}) as journal:
        write(journal, 0)
        restart = restarting(mode)
        written = [write(journal, 1)]
        while restart.is_alive():
            written.append(write(journal, len(written) + 1))
        written.append(write(journal, len(written) + 1))
        assert list(journal.events(after_seq=1)) == written
        with pytest.raises(LockedError):  # the lock was taken again
            Journal.open(path)
    assert [event.body["number"] for event in journal.events()] == list(range(len(written) + 1))


def test_a_commit_whose_answer_was_lost_is_found_and_not_repeated(path, admin):
    with Journal.create(path, {}) as journal:
        first = write(journal, 1)
        # The connection ends as the row is in: a second session writes what the first is about to write.
        row = next(iter(journal.store.rows()))._replace(
            seq=2, previous_hash=first.hash, kind="intent", hash="f" * 64
        )
        names = ", ".join(("run", *row._fields))
        admin.execute(
            f"INSERT INTO lakatos.event ({names}) VALUES ({', '.join(['%s'] * 13)})",
            (run_of(admin, path), *row),
        )
        end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s"
        admin.execute(end, (run_of(admin, path),))
        journal.store.append(row)
        assert [stored.seq for stored in journal.store.rows()] == [1, 2]


def test_a_database_that_stays_away_ends_the_pass_and_a_resumed_one_goes_on(path, postgres):
    with Journal.create(path, {}) as journal:
        write(journal, 1)
        journal.store.patience_s = 0.5
        postgres.stop()
        try:
            with pytest.raises(
                JournalError, match=r"did not come back within.*recorded before is safe.*resume"
            ):
                write(journal, 2)
        finally:
            postgres.start()
    with Journal.open(path) as journal:
        write(journal, 2)
        assert [event.body["number"] for event in journal.events()] == [1, 2]


def test_a_reader_outlives_a_restart(path, restarting):
    with Journal.create(path, {}) as journal:
        write(journal, 1)
    with Journal.open(path, read_only=True) as reader:
        assert reader.head[0] == 1
        restarting().join()
        assert reader.head[0] == 1


def campaign(folder, *options):
    script = Path(__file__).parent / "campaign.py"
    environment = os.environ | {"PYTHONPATH": str(script.parents[2])}
    return subprocess.Popen([sys.executable, script, str(folder), *options], env=environment)


@pytest.mark.slow
@pytest.mark.parametrize(("when", "write"), [("before", 2), ("after", 3), ("before", 8)])
def test_a_run_killed_at_a_write_resumes_to_the_form_that_a_run_in_sqlite_has(
    tmp_path, postgres, when, write
):
    assert campaign(tmp_path / "plain").wait() == 0
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "journal.url").write_text(postgres.address())
    assert campaign(tmp_path / "run", when, str(write)).wait() == -9
    assert campaign(tmp_path / "run").wait() == 0
    forms = []
    for name in ("plain", "run"):
        with Journal.open(tmp_path / name / JOURNAL_FILE, read_only=True) as journal:
            forms.append(canonical_digest(journal.events()))
    assert forms[0] == forms[1]
    assert isinstance(journal.store, PostgresStore)
