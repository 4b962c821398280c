import json
import os
import sqlite3
import stat
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from taking_part import KEY, in_inbox, open_experiment

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.web.collection import (
    COLLECTION_FILE,
    KEY_FILE,
    collection_key,
)
from lakatos.experiments.participants.web.recruitment import LAG_SECONDS
from lakatos.experiments.participants.web.session import (
    NoPlaceError,
    NotAskedError,
    OtherExperimentError,
    RecruitmentService,
    ServiceIdentifiers,
)
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.experiments.participants.web.study import plan_of
from lakatos.traces.digest import digest_of
from lakatos.traces.errors import InboxError
from lakatos.traces.inbox import Inbox

PROLIFIC_ID = "5f3c9e0d1b2a4c6d8e7f9a0b"


def begin(store, name="anna", **how):
    session = store.join(name, consent="c" * 64, language="en", **how)
    return store.comprehension(session, 0, passed=True)


def finish(store, session, response=0):
    for position in range(session.position, len(plan_of(session.experiment, session.place))):
        _, _, session = store.answer(session, position, response, 900.0)
    return session


def test_one_person_leaves_one_batch_with_every_answer(store, tmp_path):
    open_experiment(tmp_path, n_trials=4, repetitions=2)
    session = finish(store, begin(store), response=1)
    assert session.status == "completed"
    inbox = Inbox(tmp_path / "inbox.sqlite")
    assert [store.deliver(inbox) for _ in range(3)] == [1, 0, 0]
    (answers,) = in_inbox(tmp_path)
    plan = plan_of(session.experiment, session.place)
    assert answers.trial == tuple(step.row for step in plan if step.kind == "trial")
    assert answers.response == (1,) * 8
    assert answers.response_time_ms == (900.0,) * 8
    assert answers.checks == tuple(step.row == 1 for step in plan if step.kind == "check")
    assert (answers.status, answers.comprehension_attempts, answers.source) == (
        "completed",
        1,
        "web",
    )
    assert answers.person == session.person
    (batch,) = inbox.pending()
    assert batch.batch_key == f"{KEY}:{session.person}"


def test_the_first_answer_to_a_step_stands(store, tmp_path):
    open_experiment(tmp_path)
    session = begin(store)
    assert store.answer(session, 0, 1, 500.0)[0] is True
    saved, _, after = store.answer(session, 0, 0, 900.0)
    assert (saved, after.position) == (False, 1)
    finish(store, session, response=0)
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    assert in_inbox(tmp_path)[0].response[0] == 1


def test_what_was_not_asked_is_refused(store, tmp_path):
    open_experiment(tmp_path)
    joined = store.join("anna", consent="c" * 64, language="en")
    with pytest.raises(NotAskedError, match="not asked now"):
        store.answer(joined, 0, 0, 1.0)  # the comprehension check is not passed yet
    session = store.comprehension(joined, 0, passed=True)
    with pytest.raises(NotAskedError, match="the next one is 0"):
        store.answer(session, 1, 0, 1.0)
    with pytest.raises(NotAskedError, match="no option 2"):
        store.answer(session, 0, 2, 1.0)
    finish(store, session)
    with pytest.raises(NotAskedError):
        store.answer(session, len(plan_of(session.experiment, session.place)), 0, 1.0)


def test_people_are_let_in_up_to_the_number_wanted_and_those_who_leave_are_replaced(
    store, tmp_path, clock
):
    open_experiment(tmp_path, n_participants=2, idle_minutes=10)
    anna, ben = begin(store, "anna"), begin(store, "ben")
    with pytest.raises(NoPlaceError, match="taken"):
        begin(store, "carla")
    store.stop(anna, keep=True)
    carla = begin(store, "carla")
    assert {anna.place, ben.place, carla.place} == {0, 1, 2}
    clock[0] += 601
    assert store.expire() == 2
    store.want(KEY, 3)
    for name in ("dora", "emil", "frida"):
        finish(store, begin(store, name))
    with pytest.raises(NoPlaceError):
        begin(store, "gustav")


def test_a_crowd_takes_no_more_places_than_there_are(store, tmp_path):
    open_experiment(tmp_path, n_participants=5)

    def come(number):
        try:
            return begin(store, f"person {number}").place
        except NoPlaceError:
            return None

    with ThreadPoolExecutor(16) as pool:
        places = [place for place in pool.map(come, range(60)) if place is not None]
    assert sorted(places) == [0, 1, 2, 3, 4]


def test_the_same_answer_from_many_threads_is_saved_once(store, tmp_path):
    open_experiment(tmp_path)
    session = begin(store)
    with ThreadPoolExecutor(16) as pool:
        saved = list(
            pool.map(lambda response: store.answer(session, 0, response % 2, 1.0)[0], range(32))
        )
    assert sum(saved) == 1


def test_a_person_with_one_identifier_has_one_session(store, tmp_path):
    open_experiment(tmp_path)
    first = begin(
        store, "phone", identifiers=ServiceIdentifiers("prolific", PROLIFIC_ID, "s", "one")
    )
    store.answer(first, 0, 1, 5.0)
    with pytest.raises(
        NoPlaceError, match="takes part already"
    ):  # the participant's name alone opens nothing
        begin(store, "thief", identifiers=ServiceIdentifiers("prolific", PROLIFIC_ID, "s", "two"))
    again = store.join(
        "desktop",
        consent="d" * 64,
        language="de",
        identifiers=ServiceIdentifiers("prolific", PROLIFIC_ID, "s", "one"),
    )
    assert (again.number, again.position, again.language) == (first.number, 1, "en")
    assert store.session("desktop").number == store.session("phone").number
    assert [row.submission for row in store.submissions()] == ["one"]
    assert {row.code for row in store.submissions()} == {""}
    code = finish(store, again).code
    assert {(row.status, row.code) for row in store.submissions()} == {("completed", code)}


def test_identifiers_stay_in_the_collection(store, tmp_path):
    open_experiment(tmp_path)
    finish(
        store,
        begin(
            store,
            "x" * 43,
            identifiers=ServiceIdentifiers("prolific", PROLIFIC_ID, "study9", "submission9"),
        ),
    )
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.source == "prolific"
    inside = json.dumps(answers.to_json())
    assert all(text not in inside for text in (PROLIFIC_ID, "study9", "submission9"))
    store.shut()
    for name in ("inbox.sqlite", "inbox.sqlite-wal", COLLECTION_FILE, f"{COLLECTION_FILE}-wal"):
        content = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else b""
        assert (PROLIFIC_ID.encode() in content) == (name == COLLECTION_FILE)
        assert b"x" * 43 not in content  # the token itself is nowhere


def test_pseudonyms_need_the_key_of_the_run(tmp_path):
    people = []
    for name in ("a", "b"):
        open_experiment(tmp_path / name)
        store = SessionStore(tmp_path / name)
        people.append(
            begin(store, "t", identifiers=ServiceIdentifiers("prolific", PROLIFIC_ID)).person
        )
        store.shut()
        assert stat.S_IMODE(os.stat(tmp_path / name / KEY_FILE).st_mode) == 0o600
        assert stat.S_IMODE(os.stat(tmp_path / name / COLLECTION_FILE).st_mode) == 0o600
        assert collection_key(tmp_path / name) == collection_key(tmp_path / name)
    assert people[0] != people[1]


@pytest.mark.parametrize(("wait", "status"), [(11 * 60, "partial"), (0, "timed_out")])
def test_people_who_stop_answering_or_take_too_long_leave_what_they_answered(
    store, tmp_path, clock, wait, status
):
    open_experiment(tmp_path, idle_minutes=10, limit_minutes=30)
    session = begin(store)
    store.answer(session, 0, 1, 700.0)
    if status == "timed_out":
        for position in (1, 2, 3, 4)[: len(plan_of(session.experiment, 0)) - 2]:
            clock[0] += 9 * 60
            assert store.expire() == 0
            store.answer(session, position, 0, 700.0)
        clock[0] += 9 * 60
    clock[0] += wait
    assert store.expire() == 1
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert answers.status == status
    assert len(answers.trial) >= 1
    with pytest.raises(NotAskedError):
        store.answer(session, store.session("anna").position, 0, 1.0)


@pytest.mark.parametrize("keep", [True, False])
def test_who_stops_decides_whether_answers_stay(store, tmp_path, keep):
    open_experiment(tmp_path)
    session = begin(store)
    store.answer(session, 0, 1, 700.0)
    status = "stopped" if keep else "returned"
    assert store.stop(session, keep=keep).status == status
    assert store.stop(session, keep=not keep).status == status
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    (answers,) = in_inbox(tmp_path)
    assert (answers.status, len(answers.trial)) == (status, int(keep))


def test_the_comprehension_check_ends_the_study_after_too_many_attempts(store, tmp_path):
    open_experiment(tmp_path, most_attempts=2)
    session = store.join("anna", consent="c" * 64, language="en")
    assert store.comprehension(session, 0, passed=False).attempts == 1
    assert store.comprehension(session, 0, passed=False).attempts == 1  # sent twice, counted once
    assert store.comprehension(session, 1, passed=False).status == "screened_out"
    assert store.comprehension(session, 2, passed=True).status == "screened_out"
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    assert [(item.status, item.comprehension_attempts) for item in in_inbox(tmp_path)] == [
        ("screened_out", 2)
    ]


def test_previews_are_not_counted_and_are_forgotten(store, tmp_path, clock):
    open_experiment(tmp_path, n_participants=1)
    finish(store, begin(store, "anna"))
    preview = finish(store, begin(store, "boss", preview=True))
    assert preview.status == "completed"
    assert store.deliver(Inbox(tmp_path / "inbox.sqlite")) == 1
    assert store.status()[0]["people"] == {"completed": 1}
    clock[0] += 100_000
    store.expire()
    assert store.session("boss") is None
    assert store.session("anna") is not None


def test_who_withdraws_is_gone_from_storage(store, tmp_path):
    open_experiment(tmp_path)
    session = finish(
        store, begin(store, "anna", identifiers=ServiceIdentifiers("prolific", PROLIFIC_ID))
    )
    assert store.erase(session.person) == 1
    assert store.erase(session.person) == 0
    assert store.session("anna") is None
    with pytest.raises(NotAskedError, match="erased"):
        store.answer(session, 0, 0, 1.0)
    store.shut()
    assert PROLIFIC_ID.encode() not in (tmp_path / COLLECTION_FILE).read_bytes()


def test_answers_survive_a_server_that_is_killed(tmp_path):
    open_experiment(tmp_path)
    first = SessionStore(tmp_path)
    session = begin(first)
    first.answer(session, 0, 1, 5.0)
    other = SessionStore(tmp_path)  # the first one is never shut
    assert other.session("anna").position == 1
    finish(other, other.session("anna"))
    assert other.deliver(Inbox(tmp_path / "inbox.sqlite")) == 1
    assert first.session("anna").status == "completed"


def test_people_go_to_the_first_experiment_with_a_place(store, tmp_path):
    open_experiment(tmp_path, name="1.1", n_participants=1)
    open_experiment(tmp_path, name="1.2", n_participants=1, key=digest_of("second"))
    assert [begin(store, name).experiment.name for name in ("anna", "ben")] == ["1.1", "1.2"]


def test_a_file_that_is_no_collection_is_named(tmp_path):
    (tmp_path / COLLECTION_FILE).write_bytes(
        b"not a database at all, but long enough to be one" * 20
    )
    with pytest.raises(SourceError, match=COLLECTION_FILE):
        SessionStore(tmp_path)


def test_text_in_identifiers_is_only_text(store, tmp_path):
    open_experiment(tmp_path)
    evil = "x'); DROP TABLE session; --"
    begin(store, evil, identifiers=ServiceIdentifiers("prolific", evil, evil, evil))
    assert store.submissions()[0].participant == evil
    with sqlite3.connect(tmp_path / COLLECTION_FILE) as sql:
        assert sql.execute("SELECT count(*) FROM session").fetchone() == (1,)


def left_in_files(folder, number):
    """How often a response time is in the files of the collection and of the inbox."""
    packed = struct.pack(">d", number)
    return sum(path.read_bytes().count(packed) for path in folder.iterdir())


def test_answers_that_a_person_deletes_on_stopping_are_in_no_file(store, tmp_path):
    open_experiment(tmp_path, n_trials=6)
    session = begin(store)
    for position in range(3):
        _, _, session = store.answer(session, position, 0, 123456.789012)
    assert left_in_files(tmp_path, 123456.789012) > 0
    store.stop(session, keep=False)
    assert left_in_files(tmp_path, 123456.789012) == 0


def test_an_erasure_that_another_program_holds_up_is_no_success_and_can_be_repeated(
    store, tmp_path
):
    open_experiment(tmp_path, n_trials=6)
    session = begin(store)
    store.answer(session, 0, 0, 123456.789012)
    store._connection.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(tmp_path / COLLECTION_FILE, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM answer").fetchone()
        with pytest.raises(SourceError, match="write-ahead log"):
            store.erase(session.person)
    store.erase(session.person)
    assert left_in_files(tmp_path, 123456.789012) == 0


def left_behind(path, text):
    """Leave a text in a free page of an SQLite file, as deletions without overwriting do."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        connection.execute("CREATE TABLE passing (value TEXT)")
        connection.execute("INSERT INTO passing VALUES (?)", (text * 500,))
        connection.execute("DROP TABLE passing")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.mark.parametrize("how", ["erase", "stop"])
def test_what_is_left_in_free_pages_goes_with_the_next_deletion(store, tmp_path, how):
    open_experiment(tmp_path, n_trials=6)
    session, file = begin(store), tmp_path / COLLECTION_FILE
    left_behind(file, "an earlier person")
    assert b"an earlier person" in file.read_bytes()
    if how == "erase":
        store.erase(session.person)
    else:
        store.stop(session, keep=False)
    assert b"an earlier person" not in file.read_bytes()


def test_an_erasure_after_which_an_identifier_is_found_is_no_success(store, tmp_path):
    open_experiment(tmp_path)
    identifiers = ServiceIdentifiers("prolific", PROLIFIC_ID)
    session = finish(store, begin(store, "anna", identifiers=identifiers))
    left = tmp_path / f"{COLLECTION_FILE}-journal"
    left.write_bytes(PROLIFIC_ID.encode())
    with pytest.raises(SourceError, match="can still be found in the file"):
        store.erase(session.person)
    left.unlink()
    store.erase(session.person)


def test_who_is_erased_while_answers_are_being_delivered_leaves_no_batch_behind(store, tmp_path):
    open_experiment(tmp_path)
    session = finish(store, begin(store))
    other = SessionStore(tmp_path)
    erasing = []

    class Slow(Inbox):
        def deliver(self, *args, **how):
            erasing.append(pool.submit(other.erase, session.person))
            time.sleep(0.2)
            assert not erasing[0].done()  # it waits until the batch is there to be found
            return super().deliver(*args, **how)

    with ThreadPoolExecutor() as pool:
        assert store.deliver(Slow(tmp_path / "inbox.sqlite")) == 1
        assert erasing[0].result() == 1
    other.shut()
    assert [answers.person for answers in in_inbox(tmp_path)] == [session.person]


def test_a_batch_that_the_inbox_refuses_holds_up_nobody_else(store, tmp_path):
    open_experiment(tmp_path)
    anna, ben = finish(store, begin(store, "anna")), finish(store, begin(store, "ben"))
    inbox = Inbox(tmp_path / "inbox.sqlite")
    inbox.deliver("web", {"experiment": "1.1"}, batch_key=f"{KEY}:{anna.person}")
    with pytest.raises(InboxError, match="another content"):
        store.deliver(inbox)
    assert [batch.json()["person"] for batch in inbox.pending()[1:]] == [ben.person]


def test_a_place_stays_taken_when_only_the_session_of_who_completed_is_forgotten(store, tmp_path):
    open_experiment(tmp_path, n_participants=2)
    anna, ben = finish(store, begin(store, "anna")), finish(store, begin(store, "ben"))
    store.erase(anna.person, keep_place=True)
    with pytest.raises(NoPlaceError):
        begin(store, "carla")
    store.erase(ben.person)  # who withdraws is replaced
    begin(store, "carla")
    with pytest.raises(NoPlaceError):
        begin(store, "dora")


def test_nobody_is_put_into_an_experiment_whose_text_was_not_agreed_to(store, tmp_path):
    open_experiment(tmp_path, n_participants=1, minutes=5)
    open_experiment(tmp_path, name="2.1", key=digest_of("second"), minutes=50)
    first = store.current().key
    begin(store, "anna", experiment=first)
    with pytest.raises(OtherExperimentError):
        begin(store, "ben", experiment=first)
    assert begin(store, "anna", experiment=first).experiment.name == "1.1"
    assert (
        begin(store, "tester", preview=True, experiment=store.current().key).experiment.name
        == "2.1"
    )


def test_a_key_is_never_found_half_written(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: collection_key(tmp_path), range(32)))
    assert [len(key) for key in keys] == [32]
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


SENT = RecruitmentService(
    "study",
    {"completed": "DONE", "failed_checks": "FAILED", "screened_out": "OUT", "declined": "NO"},
    "https://x.org/?cc={code}",
    most_failed_checks=0,
)


def who(participant, submission="", study="study"):
    return ServiceIdentifiers(
        "prolific", participant, study, submission or f"visit-of-{participant}"
    )


def test_answers_of_people_whom_the_service_does_not_list_are_kept_apart(store, tmp_path, clock):
    open_experiment(tmp_path, n_participants=4)
    store.recruit_through("1.1", "prolific", SENT)
    listed, lagging, forged, other = (
        who("anna"),
        who("ben"),
        who("carl"),
        who("dora", study="another"),
    )
    people = {item.participant: finish(store, begin(store, item.participant, identifiers=item)).person
              for item in (listed, lagging, forged, other)}  # fmt: skip
    plain = (
        finish(store, begin(store, "emil", experiment=None)) if store.current(free=True) else None
    )
    assert plain is None  # four people hold the four places
    inbox = Inbox(tmp_path / "inbox.sqlite")
    assert store.deliver(inbox) == 0
    assert {item.person for item in store.withheld()} == set(people.values())
    there = {("anna", "visit-of-anna"), ("dora", "visit-of-dora")}
    apart = store.meet("1.1", "prolific", there)
    assert {item.person for item in apart} == {people[name] for name in ("ben", "carl", "dora")}
    assert not any(item.refused for item in apart)  # the list may lag behind
    assert store.deliver(inbox) == 1
    clock[0] += LAG_SECONDS + 1
    apart = store.meet("1.1", "prolific", there)
    assert all(item.refused for item in apart)
    finish(store, begin(store, "emil"))  # whom nobody vouches for holds no place
    store.meet("1.1", "prolific", there | {("ben", "visit-of-ben")})
    store.deliver(inbox)
    delivered = {batch.json()["person"] for batch in inbox.pending()}
    assert {people["anna"], people["ben"]} < delivered
    assert not delivered & {people["carl"], people["dora"]}
    assert {item.person for item in store.withheld()} == {people["carl"], people["dora"]}


@pytest.mark.parametrize(("outcome", "code"), [
    ("completed", "DONE"), ("failed_checks", "FAILED"), ("screened_out", "OUT"), ("returned", "NO"), ("stopped", "NO"),
    ("partial", ""),
])  # fmt: skip
def test_each_way_in_which_a_visit_ends_has_the_code_that_the_service_expects(
    store, tmp_path, clock, outcome, code
):
    open_experiment(tmp_path, most_attempts=1, idle_minutes=1.0, completion_code="OWN")
    store.recruit_through("1.1", "prolific", SENT)
    session = store.join("anna", consent="c" * 64, language="en", identifiers=who("anna"))
    assert session.code == session.finish == ""
    session = store.comprehension(session, 0, passed=outcome != "screened_out")
    if outcome in ("completed", "failed_checks"):
        for position, step in enumerate(plan_of(session.experiment, session.place)):
            wrong = step.kind == "check" and outcome == "failed_checks"
            store.answer(session, position, 1 - step.row if wrong else min(step.row, 1), 500.0)
    elif outcome in ("returned", "stopped"):
        store.stop(session, keep=outcome == "stopped")
    elif outcome == "partial":
        clock[0] += 61
        store.expire()
    ended = store.session("anna")
    assert (ended.code, ended.finish) == (code, f"https://x.org/?cc={code}" if code else "")
    # Somebody who claims to come from another study, or from nowhere, is told none of the service's codes.
    stranger = finish(store, begin(store, "ben", identifiers=who("ben", study="another")))
    assert stranger.code == "OWN"


@pytest.mark.slow
@pytest.mark.parametrize("identified", [False, True])
@pytest.mark.parametrize("returning", ["refuse", "admit"])
def test_people_of_an_earlier_experiment_are_admitted_to_a_later_one_where_it_says_so(
    store, tmp_path, returning, identified
):
    open_experiment(tmp_path, n_participants=1, returning=returning)
    first = who("anna") if identified else None
    anna = finish(store, begin(store, "first browser", identifiers=first))
    store.close(KEY)
    open_experiment(tmp_path, name="2.1", key=digest_of("second"), returning=returning)
    if not identified:
        store.forget_token("first browser")
    again = {"identifiers": who("anna", "second visit", "second") if identified else None}
    if returning == "refuse":
        with pytest.raises(NoPlaceError) as caught:
            begin(store, "first browser", **again)
        assert caught.value.reason == "returning"
        return
    second = finish(store, begin(store, "first browser", **again))
    assert (second.person, second.experiment.name) == (anna.person, "2.1")
    inbox = Inbox(tmp_path / "inbox.sqlite")
    assert store.deliver(inbox) == 2
    assert store.erase(anna.person) == 2


def test_the_collection_and_what_lies_beside_it_are_readable_for_their_owner_only(store, tmp_path):
    open_experiment(tmp_path)
    finish(store, begin(store))
    store.deliver(Inbox(tmp_path / "inbox.sqlite"))
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
