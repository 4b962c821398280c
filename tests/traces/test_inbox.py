import multiprocessing
import sqlite3
from contextlib import closing

import pytest

from lakatos.traces.digest import canonical_json, digest_bytes, digest_of
from lakatos.traces.erasure import everything_in, is_gone
from lakatos.traces.errors import InboxError, RecordError
from lakatos.traces.inbox import Inbox


@pytest.fixture
def inbox(tmp_path):
    return Inbox(tmp_path / "inbox.sqlite")


def test_a_batch_is_pending_until_it_is_taken(inbox):
    first = inbox.deliver("page", {"answer": 1}, batch_key="a")
    second = inbox.deliver("page", b"\x00raw", batch_key="b")
    assert [(batch.digest, batch.payload) for batch in inbox.pending()] == [
        (first, b'{"answer":1}'),
        (second, b"\x00raw"),
    ]
    assert inbox.pending()[0].json() == {"answer": 1}
    inbox.mark_taken(first)
    inbox.mark_taken(first)
    assert [batch.digest for batch in inbox.pending()] == [second]


def test_delivering_the_same_again_changes_nothing_even_after_it_was_taken(inbox):
    digest = inbox.deliver("page", {"answer": 1}, batch_key="a")
    assert inbox.deliver("page", {"answer": 1}, batch_key="a") == digest
    assert len(inbox.pending()) == 1
    inbox.mark_taken(digest)
    assert inbox.deliver("page", {"answer": 1}, batch_key="a") == digest
    assert inbox.pending() == []


def test_another_content_under_the_same_key_is_refused(inbox):
    inbox.deliver("page", {"answer": 1}, batch_key="a")
    with pytest.raises(InboxError, match="'page' delivered batch 'a' before with another content"):
        inbox.deliver("page", {"answer": 2}, batch_key="a")
    assert inbox.deliver("import", {"answer": 2}, batch_key="a")


def test_an_unknown_batch_cannot_be_taken(inbox):
    with pytest.raises(InboxError, match="no batch aaaa"):
        inbox.mark_taken("a" * 64)


def test_what_is_not_json_is_refused(inbox):
    with pytest.raises(RecordError, match="canonical JSON"):
        inbox.deliver("page", {"answer": float("nan")}, batch_key="a")


def test_an_erased_payload_is_gone_from_the_files_and_does_not_come_back(inbox):
    digest = inbox.deliver("page", {"email": "someone@example.org"}, batch_key="a")
    inbox.erase(digest)
    assert inbox.pending() == []
    inbox.deliver("page", {"email": "someone@example.org"}, batch_key="a")
    assert inbox.pending() == []
    for path in inbox.path.parent.iterdir():
        assert b"someone" not in path.read_bytes()


def test_nothing_that_stays_of_an_erased_batch_tells_its_content_from_another(inbox):
    digest = inbox.deliver("page", {"answer": 1}, batch_key="a")
    (batch,) = inbox.pending()
    assert digest == digest_of(
        {
            "source": "page",
            "batch_key": "a",
            "payload": digest_bytes(batch.payload),
            "salt": batch.salt,
        }
    )
    inbox.erase(digest)
    connection = sqlite3.connect(inbox.path)
    (row,) = connection.execute("SELECT * FROM batch").fetchall()
    connection.close()
    guesses = {digest_bytes(canonical_json({"answer": answer})) for answer in range(3)}
    assert not guesses & set(row)
    assert batch.salt not in row


def test_equal_batches_of_two_people_have_salts_and_digests_of_their_own(inbox):
    inbox.deliver("page", {"answer": 1}, batch_key="a")
    inbox.deliver("page", {"answer": 1}, batch_key="b")
    first, second = inbox.pending()
    assert first.payload == second.payload
    assert first.salt != second.salt
    assert first.digest != second.digest


def test_taken_batches_stay_stored_until_they_are_erased(inbox):
    first = inbox.deliver("page", {"answer": 1}, batch_key="a")
    second = inbox.deliver("page", {"answer": 2}, batch_key="b")
    inbox.mark_taken(first)
    assert [batch.digest for batch in inbox.stored()] == [first, second]
    inbox.erase(first)
    assert [batch.digest for batch in inbox.stored()] == [second]


def test_an_inbox_of_the_first_format_is_read_and_added_to(tmp_path):
    connection = sqlite3.connect(tmp_path / "inbox.sqlite")
    connection.execute(
        "CREATE TABLE batch (number INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, source TEXT NOT NULL, "
        "batch_key TEXT NOT NULL, payload_digest TEXT NOT NULL, payload BLOB, delivered_utc TEXT NOT NULL, "
        "taken_utc TEXT, UNIQUE (source, batch_key)) STRICT"
    )
    payload = canonical_json({"answer": 1})
    connection.execute(
        "INSERT INTO batch (digest, source, batch_key, payload_digest, payload, delivered_utc) VALUES (?,?,?,?,?,?)",
        ("a" * 64, "page", "a", digest_bytes(payload), payload, "2026-01-01"),
    )
    connection.commit()
    connection.close()
    inbox = Inbox(tmp_path / "inbox.sqlite")
    assert inbox.deliver("page", {"answer": 1}, batch_key="a") == "a" * 64
    inbox.deliver("page", {"answer": 2}, batch_key="b")
    assert [batch.json() for batch in inbox.pending()] == [{"answer": 1}, {"answer": 2}]


def test_the_inbox_is_readable_for_its_owner_only(inbox):
    assert inbox.path.stat().st_mode & 0o077 == 0


def deliver_many(path, source):
    inbox = Inbox(path)
    for number in range(50):
        inbox.deliver(source, {"number": number}, batch_key=str(number))


@pytest.mark.slow
def test_several_processes_deliver_while_one_takes(inbox):
    context = multiprocessing.get_context("spawn")
    others = [
        context.Process(target=deliver_many, args=(inbox.path, f"page {n}")) for n in range(3)
    ]
    for other in others:
        other.start()
    taken = []
    while any(other.is_alive() for other in others) or inbox.pending():
        for batch in inbox.pending():
            taken.append((batch.source, batch.json()["number"]))
            inbox.mark_taken(batch.digest)
    assert all(other.exitcode == 0 for other in others)
    assert sorted(taken) == [(f"page {n}", number) for n in range(3) for number in range(50)]


DOING = {
    "delivering to": lambda inbox: inbox.deliver("page", b"x", batch_key="a"),
    "reading": lambda inbox: inbox.pending(),
    "writing": lambda inbox: inbox.mark_taken("0" * 64),
}


@pytest.mark.parametrize("doing", DOING)
def test_an_inbox_that_cannot_be_opened_is_named_with_what_was_wanted_of_it(inbox, doing):
    inbox.path.unlink()
    inbox.path.mkdir()
    with pytest.raises(InboxError, match=rf"failed {doing} .*inbox\.sqlite"):
        DOING[doing](inbox)


def stored_bytes(folder):
    """All that the files of a folder hold."""
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_a_copy_that_sqlite_left_when_it_moved_a_row_is_erased_too(inbox):
    # Marking rows as taken makes them longer, so that SQLite moves some of them to other pages.
    people = [f"person-{number:03d}-{letter * 12}" for number, letter in enumerate("abcdefgh")]
    batches = [({"a": person, "b": "x" * 550}, f"k{n}") for n, person in enumerate(people)]
    digests = inbox.deliver_all("web", batches)
    for digest in digests:
        inbox.mark_taken(digest)
    for digest, person in zip(digests, people, strict=True):
        inbox.erase(digest)
        assert person.encode() not in stored_bytes(inbox.path.parent)


def left_behind(path, text):
    """Leave a text in a free page of an SQLite file, as deletions without overwriting do."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE passing (value TEXT)")
        connection.execute("INSERT INTO passing VALUES (?)", (text * 500,))
        connection.execute("DROP TABLE passing")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_what_an_erasure_that_was_cut_short_left_goes_with_the_next_one(inbox):
    inbox.deliver("page", {"answer": 1}, batch_key="a")
    left_behind(inbox.path, "an earlier person")
    assert b"an earlier person" in stored_bytes(inbox.path.parent)
    inbox.erase()
    assert b"an earlier person" not in stored_bytes(inbox.path.parent)
    assert len(inbox.stored()) == 1


def test_many_batches_are_erased_together_and_the_others_stay(inbox):
    digests = [
        inbox.deliver("page", {"answer": f"of person {n}" * 40}, batch_key=str(n)) for n in range(9)
    ]
    inbox.erase(*digests[:8])
    assert [batch.digest for batch in inbox.stored()] == digests[8:]
    assert b"of person 3of" not in stored_bytes(inbox.path.parent)
    assert b"of person 8of" in stored_bytes(inbox.path.parent)


def test_a_search_finds_what_a_deletion_left_in_the_file_and_no_row_holds(inbox):
    secret = "answers that nobody may find" * 3
    inbox.deliver("page", {"answer": secret}, batch_key="a")
    left_behind(inbox.path, secret)
    with closing(sqlite3.connect(inbox.path)) as connection:
        assert not is_gone(inbox.path, [secret.encode()], b"")
        assert is_gone(inbox.path, [secret.encode()], everything_in(connection))  # a row holds it


def test_an_erasure_that_another_program_holds_up_is_no_success_and_can_be_repeated(
    inbox, monkeypatch
):
    monkeypatch.setattr("lakatos.traces.inbox.WAIT_S", 0.5)
    digest = inbox.deliver("page", {"answer": "x" * 100}, batch_key="a")
    with closing(sqlite3.connect(inbox.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM batch").fetchone()
        with pytest.raises(InboxError, match="another program reads it"):
            inbox.erase(digest)
    inbox.erase(digest)
    assert b"x" * 100 not in stored_bytes(inbox.path.parent)
