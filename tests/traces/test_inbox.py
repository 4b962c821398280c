import multiprocessing

import pytest

from traces.errors import InboxError, RecordError
from traces.inbox import Inbox


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


def test_the_inbox_is_readable_for_its_owner_only(inbox):
    assert inbox.path.stat().st_mode & 0o077 == 0


def deliver_many(path, source):
    inbox = Inbox(path)
    for number in range(50):
        inbox.deliver(source, {"number": number}, batch_key=str(number))


def test_several_processes_deliver_while_one_takes(inbox):
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=deliver_many, args=(inbox.path, f"page {n}")) for n in range(3)]
    for other in others:
        other.start()
    taken = []
    while any(other.is_alive() for other in others) or inbox.pending():
        for batch in inbox.pending():
            taken.append((batch.source, batch.json()["number"]))
            inbox.mark_taken(batch.digest)
    assert all(other.exitcode == 0 for other in others)
    assert sorted(taken) == [(f"page {n}", number) for n in range(3) for number in range(50)]
