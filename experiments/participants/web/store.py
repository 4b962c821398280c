"""Where the page keeps what people do: ``collection.sqlite`` in the run's folder, never part of the journal.

It holds the experiments that people were recruited for, one session a person, every answer as it was made, and, in a
table of its own, the identifiers of recruitment services. A session that ends leaves one `PersonAnswers` in the inbox.
An answer is on disk when `SessionStore.answer` returns. Several processes may use one store.

Where a recruitment service is said to send people (`SessionStore.recruit_through`), answers of people who come with its
identifiers wait until the service lists them (`SessionStore.meet`); what nobody vouches for never reaches the inbox.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import PersonAnswers, Status, pseudonym
from lakatos.experiments.participants.source import rng_of
from lakatos.experiments.participants.web.questions import QuestionBlock, replies_to
from lakatos.experiments.participants.web.session import (
    ACTIVE,
    INVITATION,
    MISSED,
    NO_TIMES,
    NoPlaceError,
    NotAskedError,
    OtherExperimentError,
    PageSession,
    PageSubmission,
    PageVisit,
    RecruitmentService,
    ServiceIdentifiers,
    StepTimes,
    WithheldAnswers,
    answers_in,
    chosen_in,
)
from lakatos.experiments.participants.web.study import (
    PageExperiment,
    follows,
    game_begins,
    plan_of,
)
from lakatos.traces.digest import Digest
from lakatos.traces.errors import InboxError
from lakatos.traces.inbox import Inbox
from lakatos.traces.stores.sqlite import sync_folder

COLLECTION_FILE: Final = "collection.sqlite"
KEY_FILE: Final = "collection.key"
LONGEST_RESPONSE_TIME_MS: Final = 1e9
PREVIEW_SECONDS: Final = 86_400.0
LAG_SECONDS: Final = 1800.0
"""A service's list may lag behind so long; who is not in it then holds no place."""
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS experiment (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, n_participants INTEGER NOT NULL,
    content TEXT NOT NULL, closed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE IF NOT EXISTS session (
    number INTEGER PRIMARY KEY, experiment TEXT NOT NULL REFERENCES experiment (key), person TEXT NOT NULL,
    preview INTEGER NOT NULL, source TEXT NOT NULL, place INTEGER NOT NULL, status TEXT NOT NULL,
    passed INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, consent TEXT NOT NULL,
    language TEXT NOT NULL, code TEXT NOT NULL, started REAL NOT NULL, seen REAL NOT NULL, ended REAL,
    delivered INTEGER NOT NULL DEFAULT 0
) STRICT;
DROP INDEX IF EXISTS one_session_a_person;
CREATE UNIQUE INDEX IF NOT EXISTS one_session_in_an_experiment ON session (person, experiment) WHERE preview = 0;
CREATE INDEX IF NOT EXISTS sessions_of_an_experiment ON session (experiment, preview, status);
CREATE TABLE IF NOT EXISTS access (token TEXT PRIMARY KEY, session INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS answer (
    session INTEGER NOT NULL, position INTEGER NOT NULL, response INTEGER NOT NULL, response_time_ms REAL NOT NULL,
    feedback TEXT NOT NULL, answered REAL NOT NULL, PRIMARY KEY (session, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reply (
    session INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS identifier (
    session INTEGER NOT NULL, service TEXT NOT NULL, participant TEXT NOT NULL, study TEXT NOT NULL,
    submission TEXT NOT NULL, known INTEGER, PRIMARY KEY (service, participant, submission)
) STRICT;
CREATE TABLE IF NOT EXISTS service (
    experiment TEXT NOT NULL REFERENCES experiment (key), service TEXT NOT NULL, study TEXT NOT NULL,
    codes TEXT NOT NULL, url TEXT NOT NULL, PRIMARY KEY (experiment, service)
) STRICT;
CREATE TABLE IF NOT EXISTS invitation (token TEXT PRIMARY KEY, made REAL NOT NULL, used REAL) STRICT;
"""
_ADDED: Final = (
    ("identifier", "known", "INTEGER"),
    ("session", "began", "REAL"),
    ("session", "condition", "TEXT"),
    ("session", "visit", "TEXT"),
    ("answer", "onset_ms", "REAL"),
    ("answer", "focus_losses", "INTEGER"),
    ("answer", "away_ms", "REAL"),
)
"""Columns that files of earlier versions lack."""


_KNOWN = "SELECT 1 FROM identifier WHERE identifier.session = session.number AND known = 1"
_REFUSED = (
    "SELECT 1 FROM identifier WHERE identifier.session = session.number AND known = 0 AND NOT EXISTS "
    "(SELECT 1 FROM identifier AS other WHERE other.session = session.number AND other.known IS NOT 0)"
)
_WITHHELD = (
    "EXISTS (SELECT 1 FROM service WHERE service.experiment = session.experiment AND service.service = session.source) "
    f"AND NOT EXISTS ({_KNOWN})"
)


def collection_key(folder: Path) -> bytes:
    """The key of a run's pseudonyms, made when there is none; readable for its owner only."""
    path = folder / KEY_FILE
    if not path.exists():
        # Whole before it has its name: a crash leaves no empty key, and nobody reads half of one.
        temporary = folder / f".{KEY_FILE}-{secrets.token_hex(8)}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(32))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            temporary.unlink()
        sync_folder(folder)
    return path.read_bytes()


def _service(row: sqlite3.Row) -> RecruitmentService:
    told = json.loads(row["codes"])
    return RecruitmentService(row["study"], told["codes"], row["url"], told["most_failed_checks"])


def hashed(token: str) -> str:
    """A token as it is stored, so that nobody who reads the store can pose as a participant."""
    return hashlib.sha256(token.encode()).hexdigest()


class SessionStore:
    """Sessions and answers of one run. All methods may be called from any thread."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Use the collection of the run in ``folder``; made if it is not there, readable for its owner only.

        Raises:
            SourceError: It cannot be made or read.
        """
        self.path, self.clock = Path(folder) / COLLECTION_FILE, clock
        self._lock = threading.Lock()
        self._experiments: dict[str, PageExperiment] = {}
        self._deleted = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self.key = collection_key(self.path.parent)
            self._connection = sqlite3.connect(
                self.path, isolation_level=None, timeout=30, check_same_thread=False
            )
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._connection.executescript(_SCHEMA)
            for table, column, kind in _ADDED:
                columns = {
                    row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")
                }
                if column not in columns:
                    self._connection.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
        except (OSError, sqlite3.Error) as error:
            raise SourceError(f"cannot use the collection {self.path}: {error}.") from error
        self._connection.row_factory = sqlite3.Row

    def shut(self) -> None:
        """Close the store's file; nothing can be read or written afterwards."""
        with self._lock:
            self._connection.close()

    # Experiments

    def register(self, experiment: PageExperiment) -> None:
        """Open an experiment; registering it again changes nothing.

        Raises:
            SourceError: The key or the name belongs to another experiment.
        """
        content = json.dumps(experiment.to_json(), sort_keys=True)
        with self._change() as sql:
            sql.execute(
                "INSERT INTO experiment (key, name, n_participants, content) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (experiment.key, experiment.name, experiment.design.n_participants, content),
            )
            found = sql.execute(
                "SELECT name FROM experiment WHERE key = ?", (experiment.key,)
            ).fetchone()
        if found is None or found["name"] != experiment.name:
            raise SourceError(
                f"the key {experiment.key[:8]} or the name {experiment.name!r} belongs to another experiment in "
                f"{self.path}."
            )

    def want(self, key: Digest, n_participants: int) -> None:
        """Raise the number of people wanted, to replace some whose answers do not count; it never falls.

        Raises:
            SourceError: There is no such experiment.
        """
        with self._change() as sql:
            changed = sql.execute(
                "UPDATE experiment SET n_participants = max(n_participants, ?) WHERE key = ?",
                (n_participants, key),
            )
            if changed.rowcount == 0:
                raise SourceError(f"no experiment {key[:8]} in {self.path}.")

    def invite(self, n_people: int) -> list[str]:
        """Make invitations, each for one person and for whatever experiment is open when it is used.

        Only a digest of each is kept: whoever reads the file can take part in nobody's place.

        Returns:
            One secret for each person.
        """
        made = [secrets.token_urlsafe(16) for _ in range(n_people)]
        with self._change() as sql:
            rows = [(hashed(token), self.clock()) for token in made]
            sql.executemany("INSERT INTO invitation (token, made) VALUES (?, ?)", rows)
        return made

    def invitations(self) -> tuple[int, int]:
        """How many invitations were made, and how many of them were used."""
        with self._lock:
            row = self._connection.execute(
                "SELECT count(*), count(used) FROM invitation"
            ).fetchone()
        return int(row[0]), int(row[1])

    def close(self, key: Digest) -> None:
        """Let nobody new in; who is taking part may finish."""
        with self._change() as sql:
            sql.execute("UPDATE experiment SET closed = 1 WHERE key = ?", (key,))

    def recruit_through(self, name: str, service: str, seen: RecruitmentService) -> None:
        """Say that a recruitment service sends people to an experiment, before it does; saying it again replaces it.

        Raises:
            SourceError: There is no such experiment.
        """
        codes = json.dumps(
            {"codes": dict(seen.codes), "most_failed_checks": seen.most_failed_checks}
        )
        with self._change() as sql:
            row = sql.execute("SELECT key FROM experiment WHERE name = ?", (name,)).fetchone()
            if row is None:
                raise SourceError(f"no experiment {name!r} in {self.path}.")
            sql.execute(
                "INSERT INTO service (experiment, service, study, codes, url) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET study = excluded.study, codes = excluded.codes, url = excluded.url",
                (row["key"], service, seen.study, codes, seen.url),
            )

    def service(self, service: str, study: str) -> RecruitmentService | None:
        """The recruitment service that calls its study so, if it sends people to an experiment here."""
        with self._lock:
            row = self._connection.execute(
                "SELECT * FROM service WHERE service = ? AND study = ?", (service, study)
            ).fetchone()
        return None if row is None else _service(row)

    def meet(
        self, name: str, service: str, listed: Collection[tuple[str, str]]
    ) -> list[WithheldAnswers]:
        """Compare who came to an experiment with whom a recruitment service says it sent.

        Args:
            name: Of the experiment.
            service: That sends people to it.
            listed: ``(participant, submission)`` of everybody in the service's list now.

        Returns:
            Everybody whose answers wait for being listed, or are kept apart for good because they are not.
        """
        now = self.clock()
        with self._change() as sql:
            rows = sql.execute(
                "SELECT identifier.rowid AS number, participant, submission, identifier.study = service.study AS ours, "
                "session.started AS started FROM identifier JOIN session ON session.number = session "
                "JOIN experiment ON experiment.key = session.experiment "
                "JOIN service ON service.experiment = experiment.key AND service.service = identifier.service "
                "WHERE experiment.name = ? AND identifier.service = ? AND identifier.known IS NOT 1",
                (name, service),
            ).fetchall()
            for row in rows:
                found = bool(row["ours"]) and (row["participant"], row["submission"]) in listed
                if found or now - row["started"] > LAG_SECONDS:
                    sql.execute(
                        "UPDATE identifier SET known = ? WHERE rowid = ?",
                        (int(found), row["number"]),
                    )
        return [item for item in self.withheld() if item.experiment == name]

    def withheld(self) -> list[WithheldAnswers]:
        """Everybody whose answers wait for being listed by a recruitment service, or are kept apart."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT experiment.name, person, status, started, "
                f"EXISTS ({_REFUSED}) FROM session JOIN experiment ON experiment.key = session.experiment "
                f"WHERE preview = 0 AND {_WITHHELD} ORDER BY session.number"
            ).fetchall()
        return [WithheldAnswers(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]

    def wanted(self, name: str) -> int | None:
        """How many people an experiment wants by now; None where there is none."""
        with self._lock:
            row = self._connection.execute(
                "SELECT n_participants FROM experiment WHERE name = ?", (name,)
            ).fetchone()
        return None if row is None else int(row["n_participants"])

    def find(self, name: str) -> PageExperiment | None:
        """The experiment of this name, open or not."""
        with self._lock:
            row = self._connection.execute(
                "SELECT key FROM experiment WHERE name = ?", (name,)
            ).fetchone()
            return None if row is None else self._experiment(row["key"])

    def current(self, *, free: bool = False) -> PageExperiment | None:
        """The open experiment that the next person would see: the first with a free place, or the first of all.

        Args:
            free: Whether only one with a free place is wanted.
        """
        with self._lock:
            return self._current(preview=False) or (None if free else self._current(preview=True))

    def took_part(self, person: str, experiment: PageExperiment) -> bool:
        """Whether somebody has a session in an experiment."""
        with self._lock:
            return (
                self._session(
                    "person = ? AND preview = 0 AND experiment = ?", person, experiment.key
                )
                is not None
            )

    def opened(self, name: str) -> PageExperiment | None:
        """The experiment of this name, if it lets people in."""
        with self._lock:
            row = self._connection.execute(
                "SELECT key FROM experiment WHERE name = ? AND closed = 0", (name,)
            ).fetchone()
            return None if row is None else self._experiment(row["key"])

    # Sessions

    def session(self, token: str) -> PageSession | None:
        """The session that a token opens."""
        with self._lock:
            return self._session(
                "number = (SELECT session FROM access WHERE token = ?)", hashed(token)
            )

    def join(
        self,
        token: str,
        *,
        consent: Digest,
        language: str,
        identifiers: ServiceIdentifiers | None = None,
        preview: bool = False,
        experiment: Digest | None = None,
        visit: Mapping[str, int | str] | None = None,
    ) -> PageSession:
        """Give a person a session, or find the one there is: a person is somebody with one token or one identifier.

        In another browser than the first one, a person is known again by participant and submission together.

        Args:
            token: Of the person's browser.
            consent: Digest of the text that was agreed to.
            language: Of the page.
            identifiers: Of the recruitment service that sent the person.
            preview: Whether nothing counts.
            experiment: Key of the one whose text was agreed to; nobody new is put into another one.
            visit: What is noted of device and hour.

        Raises:
            NoPlaceError: No experiment is open, all places are taken, this person took part already, or has no
                invitation where everybody needs one.
            OtherExperimentError: Another experiment has a place now.
        """
        now = self.clock()
        invitation = (
            hashed(identifiers.participant)
            if identifiers and identifiers.service == INVITATION
            else ""
        )
        person = pseudonym(self.key, "web", hashed(token))
        if invitation:
            person, identifiers = pseudonym(self.key, INVITATION, invitation), None
        if identifiers:
            person = pseudonym(self.key, identifiers.service, identifiers.participant)
        with self._change() as sql:
            if invitation and not preview:
                session = self._invited(token, person)
            elif identifiers and not preview:
                session = self._session(
                    "number = "
                    "(SELECT session FROM identifier WHERE service = ? AND participant = ? AND submission = ?)",
                    identifiers.service,
                    identifiers.participant,
                    identifiers.submission,
                )
            else:
                session = self._session(
                    "number = (SELECT session FROM access WHERE token = ?)", hashed(token)
                )
            if session is None:
                first = self._current(preview=True)
                found = self._current(preview=False) or (first if preview else None)
                if found is None:
                    raise NoPlaceError("full" if first else "closed")
                if not preview:
                    self._check_new(person, found)
                    self._check_invited(invitation, identifiers, found)
                if experiment not in (None, found.key):
                    raise OtherExperimentError(f"the next place is in the experiment {found.name}.")
                place = sql.execute(
                    "SELECT coalesce(max(place) + 1, 0) FROM session WHERE experiment = ? AND preview = ?",
                    (found.key, preview),
                ).fetchone()[0]
                number = sql.execute(
                    "INSERT INTO session (experiment, person, preview, source, place, status, consent, language, code, "
                    "started, seen, condition, visit) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        found.key, person, preview, identifiers.service if identifiers else "web", place, ACTIVE,
                        consent, language, found.settings.completion_code or secrets.token_hex(4).upper(), now,
                        now, self._condition(found, person, place, preview), json.dumps(visit or {}),
                    ),
                ).lastrowid  # fmt: skip
                session = self._session("number = ?", number)
                assert session is not None
                sql.execute(
                    "UPDATE invitation SET used = coalesce(used, ?) WHERE token = ?",
                    (now, invitation),
                )
            sql.execute(
                "INSERT INTO access (token, session) VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET session = ?",
                (hashed(token), session.number, session.number),
            )
            if identifiers and not preview:
                sql.execute(
                    "INSERT INTO identifier (session, service, participant, study, submission) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    (
                        session.number, identifiers.service, identifiers.participant, identifiers.study,
                        identifiers.submission,
                    ),
                )  # fmt: skip
        return session

    def comprehension(self, session: PageSession, attempt: int, passed: bool) -> PageSession:
        """Note an attempt at the comprehension check, once for each ``attempt``, counted from 0."""
        most = session.experiment.settings.most_attempts
        with self._change() as sql:
            now = self._fresh(session)
            if now.status == ACTIVE and not now.passed and now.attempts == attempt:
                time = self.clock()
                sql.execute(
                    "UPDATE session SET passed = ?, attempts = ?, seen = ?, began = ? WHERE number = ?",
                    (passed, attempt + 1, time, time if passed else None, session.number),
                )
                if not passed and attempt + 1 >= most:
                    self._end(session.number, "screened_out")
            return self._fresh(session)

    def answer(
        self,
        session: PageSession,
        position: int,
        response: int | None,
        response_time_ms: float,
        times: StepTimes = NO_TIMES,
    ) -> tuple[bool, dict[str, float], PageSession]:
        """Save the answer to the step at ``position``; the first answer to a step stands.

        Where time is limited, no response, or one that came later, is noted as missed; it is never a choice.

        Returns:
            Whether it was saved now (not before), what followed, and the session afterwards.

        Raises:
            NotAskedError: This person was not asked that, or has stopped, or cannot choose that option.
        """
        with self._change() as sql:
            now = self._fresh(session)
            if position < now.position:
                found = sql.execute(
                    "SELECT feedback FROM answer WHERE session = ? AND position = ?",
                    (now.number, position),
                ).fetchone()
                return False, json.loads(found["feedback"]), now
            steps = plan_of(now.experiment, now.place)
            if (
                now.status != ACTIVE
                or not now.passed
                or now.block is not None
                or position > now.position
                or position >= len(steps)
            ):
                raise NotAskedError(
                    f"step {position} is not asked now; the next one is {now.position}."
                )
            step = steps[position]
            chosen = chosen_in(now, step, position, response, response_time_ms)
            feedback = (
                {} if chosen == MISSED else follows(now.experiment, step, now.feedback, chosen)
            )
            time_ms = min(max(response_time_ms, 0.0), LONGEST_RESPONSE_TIME_MS)
            noted = "focus" in now.experiment.settings.record
            away = (times.focus_losses, times.away_ms) if noted else (None, None)
            sql.execute(
                "INSERT INTO answer (session, position, response, response_time_ms, feedback, answered, onset_ms, "
                "focus_losses, away_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    now.number, position, chosen, time_ms, json.dumps(feedback), self.clock(), times.onset_ms,
                    *away,
                ),
            )  # fmt: skip
            sql.execute("UPDATE session SET seen = ? WHERE number = ?", (self.clock(), now.number))
            if position + 1 == len(steps) and self._fresh(now).block is None:
                self._end(now.number, "completed")
            return True, feedback, self._fresh(now)

    def reply(
        self, session: PageSession, block: QuestionBlock, values: Mapping[str, Any]
    ) -> PageSession:
        """Save what a person answered to the questions before or after the task; the first answers stand.

        Raises:
            NotAskedError: These questions are not asked now, or something is no answer to its question.
        """
        with self._change() as sql:
            now = self._fresh(session)
            if now.block != block:
                if now.experiment.settings.asked(block) and not now._open(block):
                    return now
                raise NotAskedError(f"the questions {block} the task are not asked now.")
            try:
                found = replies_to(now.experiment.settings.questions, block, values)
            except ValueError as error:
                raise NotAskedError(f"{error}.") from None
            rows = [(now.number, name, json.dumps(value)) for name, value in found.items()]
            sql.executemany("INSERT INTO reply (session, name, value) VALUES (?, ?, ?)", rows)
            time = self.clock()
            sql.execute("UPDATE session SET seen = ? WHERE number = ?", (time, now.number))
            if block == "before":  # the time of the first answer is counted from here
                sql.execute("UPDATE session SET began = ? WHERE number = ?", (time, now.number))
            else:
                self._end(now.number, "completed")
            return self._fresh(now)

    def stop(self, session: PageSession, *, keep: bool) -> PageSession:
        """The person stops; ``keep`` says whether the answers may be used. After the end it changes nothing."""
        with self._change() as sql:
            if self._fresh(session).status == ACTIVE:
                if not keep:
                    for table in ("answer", "reply"):
                        sql.execute(f"DELETE FROM {table} WHERE session = ?", (session.number,))
                    self._deleted = True
                kept: Status = "completed" if self._fresh(session).block == "after" else "stopped"
                self._end(session.number, kept if keep else "returned")
            after = self._fresh(session)
        self._empty_log()
        return after

    def forget_token(self, token: str) -> None:
        """Let a token open nothing any more, so that a preview, or the next experiment, can begin."""
        with self._change() as sql:
            sql.execute("DELETE FROM access WHERE token = ?", (hashed(token),))

    def expire(self) -> int:
        """End the sessions of people who stopped answering or took too long; forget old previews.

        Returns:
            Sessions that ended.
        """
        now, n_ended = self.clock(), 0
        with self._change() as sql:
            for row in sql.execute(
                "SELECT number, experiment, started, seen FROM session WHERE status = ? AND preview = 0",
                (ACTIVE,),
            ).fetchall():
                settings = self._experiment(row["experiment"]).settings
                idle = now - row["seen"] > 60 * settings.idle_minutes
                late = now - row["started"] > 60 * settings.limit_minutes
                session = self._session("number = ?", row["number"]) if idle or late else None
                if session is not None and session.block == "after":
                    self._end(row["number"], "completed")  # all trials are answered
                elif idle:
                    self._end(row["number"], "partial")
                elif late:
                    self._end(row["number"], "timed_out")
                else:
                    continue
                n_ended += 1
            old = "(SELECT number FROM session WHERE preview = 1 AND seen < ?)"
            for statement in (
                "answer WHERE session",
                "reply WHERE session",
                "access WHERE session",
                "session WHERE number",
            ):
                sql.execute(f"DELETE FROM {statement} IN {old}", (now - PREVIEW_SECONDS,))
        self._empty_log()
        return n_ended

    # What comes of it

    def deliver(self, inbox: Inbox) -> int:
        """Leave one `PersonAnswers` in the inbox for every session that ended; what was left before stays as it is.

        Returns:
            How many were left now.

        Raises:
            InboxError: Something could not be left; all else was.
        """
        problem: InboxError | None = None
        with self._lock:
            rows = self._connection.execute(
                f"SELECT number FROM session WHERE status <> ? AND preview = 0 AND delivered = 0 AND NOT ({_WITHHELD})",
                (ACTIVE,),
            ).fetchall()
        for row in rows:
            # In one transaction: who erases a person meanwhile waits, and then finds the batch in the inbox.
            with self._change() as sql:
                session = self._session("number = ?", row["number"])
                answers = None if session is None else self._answers(session)
                if session is None or answers is None:
                    continue
                key = f"{session.experiment.key}:{session.person}"
                try:
                    inbox.deliver(session.source, answers.to_json(), batch_key=key)
                except InboxError as error:
                    problem = error
                    continue
                sql.execute("UPDATE session SET delivered = 1 WHERE number = ?", (session.number,))
        if problem is not None:
            raise problem
        return len(rows)

    def erase(self, person: str, *, keep_place: bool = False) -> int:
        """Forget a person: session, answers and identifiers are gone from storage.

        Args:
            person: Pseudonym.
            keep_place: Whether the place of somebody who completed stays taken, because the answers still count.

        Returns:
            Sessions that are gone, one for each experiment of the person.

        Raises:
            SourceError: Another program is reading, so that what was deleted could still be found in the file.
        """
        chosen = "(SELECT number FROM session WHERE person = ?)"
        with self._change() as sql:
            if keep_place:
                sql.execute(
                    "UPDATE experiment SET n_participants = n_participants - 1 WHERE key IN "
                    "(SELECT experiment FROM session WHERE person = ? AND preview = 0 AND status = 'completed')",
                    (person,),
                )
            for table in ("answer", "reply", "access", "identifier"):
                sql.execute(f"DELETE FROM {table} WHERE session IN {chosen}", (person,))
            n_gone = sql.execute("DELETE FROM session WHERE person = ?", (person,)).rowcount
        self._deleted = True
        if not self._empty_log():
            raise SourceError(
                f"what was deleted from {self.path} is still in its write-ahead log, because another program reads it; "
                "end that program and do this again."
            )
        return n_gone

    def _empty_log(self) -> bool:
        """Empty the write-ahead log after something was deleted that could still be read there; whether it is done."""
        with self._lock:
            if self._deleted:
                self._deleted = bool(
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                )
            return not self._deleted

    def people(self) -> set[str]:
        """Everybody who has a session."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT person FROM session WHERE preview = 0"
            ).fetchall()
        return {row["person"] for row in rows}

    def submissions(self, service: str = "prolific") -> list[PageSubmission]:
        """What the participants of a recruitment service did here, for whoever pays them."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT session, submission, participant FROM identifier WHERE service = ? "
                "ORDER BY session, submission",
                (service,),
            ).fetchall()
            found = [(row, self._session("number = ?", row["session"])) for row in rows]
        return [
            PageSubmission(
                row["submission"], row["participant"], session.person, session.status, session.code
            )
            for row, session in found
            if session is not None
        ]

    def status(self) -> list[dict[str, Any]]:
        """How far each experiment is: people wanted, and how many sessions have each status."""
        with self._lock:
            found = []
            for row in self._connection.execute(
                "SELECT * FROM experiment ORDER BY number"
            ).fetchall():
                counts = self._connection.execute(
                    "SELECT status, count(*) FROM session WHERE experiment = ? AND preview = 0 GROUP BY status",
                    (row["key"],),
                ).fetchall()
                found.append(
                    {
                        "name": row["name"],
                        "open": not row["closed"],
                        "wanted": row["n_participants"],
                        "people": dict(sorted(map(tuple, counts))),
                    }
                )
            return found

    def visits(self) -> list[PageVisit]:
        """How far everybody came, in the order in which they did."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT session.*, (SELECT count(*) FROM answer WHERE answer.session = session.number) AS n_answers "
                "FROM session WHERE preview = 0 ORDER BY number"
            ).fetchall()
            return [self._visit(row) for row in rows]

    def _visit(self, row: sqlite3.Row) -> PageVisit:
        experiment = self._experiment(row["experiment"])
        steps = plan_of(experiment, row["place"])[: row["n_answers"]]
        return PageVisit(
            experiment=experiment.name,
            status=row["status"],
            condition=row["condition"] or "",
            passed=bool(row["passed"]),
            minutes=((row["ended"] or row["seen"]) - row["started"]) / 60,
            n_trials=sum(step.kind == "trial" for step in steps),
            n_asked=experiment.design.n_presentations,
        )

    def n_asked(self, name: str) -> int:
        """Decisions that an experiment asks of each person."""
        experiment = self.find(name)
        return 0 if experiment is None else experiment.design.n_presentations

    def ended(self, name: str) -> list[PersonAnswers]:
        """What everybody did whose visit of an experiment has ended, in the order in which they came."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT session.number FROM session JOIN experiment ON experiment.key = session.experiment "
                "WHERE experiment.name = ? AND preview = 0 AND status <> ? ORDER BY session.number",
                (name, ACTIVE),
            ).fetchall()
            sessions = [self._session("number = ?", row["number"]) for row in rows]
            found = [self._answers(session) for session in sessions if session is not None]
        return [answers for answers in found if answers is not None]

    def answers_of(self, session: PageSession) -> PersonAnswers:
        """What a person did so far, as it would be left in the inbox."""
        with self._lock:
            answers = self._answers(session)
        if answers is None:
            raise SourceError("the session goes on; its answers are left when it ends.")
        return answers

    # Inside a transaction, or under the lock

    def _answers(self, session: PageSession) -> PersonAnswers | None:
        if session.status == ACTIVE:
            return None
        rows = self._connection.execute(
            "SELECT * FROM answer WHERE session = ? ORDER BY position", (session.number,)
        ).fetchall()
        began, visit = self._connection.execute(
            "SELECT coalesce(began, started), visit FROM session WHERE number = ?",
            (session.number,),
        ).fetchone()
        return answers_in(
            session,
            rows,
            began_s=began,
            visit=json.loads(visit or "{}"),
            replies=self._replies(session.number),
        )

    def _replies(self, number: int) -> dict[str, Any]:
        rows = self._connection.execute(
            "SELECT name, value FROM reply WHERE session = ? ORDER BY name", (number,)
        ).fetchall()
        return {row["name"]: json.loads(row["value"]) for row in rows}

    def _current(self, *, preview: bool) -> PageExperiment | None:
        taken = (
            "(SELECT count(*) FROM session WHERE session.experiment = experiment.key AND preview = 0 "
            f"AND status IN ('{ACTIVE}', 'completed') AND NOT EXISTS ({_REFUSED}))"
        )
        free = "" if preview else f"AND n_participants > {taken}"
        row = self._connection.execute(
            f"SELECT key FROM experiment WHERE closed = 0 {free} ORDER BY number LIMIT 1"
        ).fetchone()
        return None if row is None else self._experiment(row["key"])

    def _experiment(self, key: str) -> PageExperiment:
        if key not in self._experiments:
            row = self._connection.execute(
                "SELECT content FROM experiment WHERE key = ?", (key,)
            ).fetchone()
            self._experiments[key] = PageExperiment.from_json(json.loads(row["content"]))
        return self._experiments[key]

    def _fresh(self, session: PageSession) -> PageSession:
        found = self._session("number = ?", session.number)
        if found is None:
            raise NotAskedError("this session was erased.")
        return found

    def _session(self, where: str, *values: object) -> PageSession | None:
        row = self._connection.execute(f"SELECT * FROM session WHERE {where}", values).fetchone()
        if row is None:
            return None
        experiment = self._experiment(row["experiment"])
        (position,) = self._connection.execute(
            "SELECT count(*) FROM answer WHERE session = ?", (row["number"],)
        ).fetchone()
        latest = None
        if experiment.task.sequential and position:
            latest = self._connection.execute(
                "SELECT feedback FROM answer WHERE session = ? AND position >= ? AND feedback <> '{}' "
                "ORDER BY position DESC LIMIT 1",
                (row["number"], game_begins(plan_of(experiment, row["place"]), position)),
            ).fetchone()
        began = row["began"] or row["started"]
        copied = {
            name: row[name]
            for name in (
                "number",
                "person",
                "source",
                "place",
                "status",
                "attempts",
                "consent",
                "language",
            )
        }
        code, finish = self._ending(row, experiment)
        return PageSession(
            code=code,
            finish=finish,
            experiment=experiment,
            preview=bool(row["preview"]),
            passed=bool(row["passed"]),
            position=position,
            feedback={} if latest is None else json.loads(latest["feedback"]),
            condition=row["condition"] or "",
            elapsed_ms=max(0.0, 1000 * (self.clock() - began)),
            replied=frozenset(self._replies(row["number"]))
            if experiment.settings.questions
            else frozenset(),
            **copied,
        )

    def _invited(self, token: str, person: str) -> PageSession | None:
        """The session of an invited person, in this browser or another one; None where a new one may begin."""
        here = self._session("number = (SELECT session FROM access WHERE token = ?)", hashed(token))
        mine = "(SELECT max(number) FROM session WHERE person = ? AND preview = 0)"
        latest = here or self._session(f"number = {mine}", person)
        found = self._current(preview=False)
        if here or latest is None or latest.status == ACTIVE or found is None:
            return latest
        goes_on = found.settings.returning == "admit" and found.key != latest.experiment.key
        return None if goes_on else latest

    def _check_invited(
        self, invitation: str, identifiers: ServiceIdentifiers | None, experiment: PageExperiment
    ) -> None:
        """Refuse somebody who needs an invitation and has none, or whose invitation another person used."""
        row = self._connection.execute(
            "SELECT used FROM invitation WHERE token = ?", (invitation,)
        ).fetchone()
        came = self._connection.execute(
            "SELECT 1 FROM session WHERE person = ? AND preview = 0",
            (pseudonym(self.key, INVITATION, invitation),),
        ).fetchone()
        if row is not None and row["used"] is not None and came is None:
            raise NoPlaceError("again")  # whoever used it was erased since
        sent = (
            identifiers is not None
            and self._connection.execute(
                "SELECT 1 FROM service WHERE experiment = ? AND service = ? AND study = ?",
                (experiment.key, identifiers.service, identifiers.study),
            ).fetchone()
        )
        if experiment.settings.access == "invited" and row is None and not sent:
            raise NoPlaceError("uninvited")

    def _condition(self, experiment: PageExperiment, person: str, place: int, preview: bool) -> str:
        """The condition of somebody who begins: their own of before, or one of those with the fewest people."""
        conditions = experiment.settings.conditions
        if not conditions:
            return ""
        before = self._connection.execute(
            "SELECT condition FROM session WHERE person = ? AND preview = 0 ORDER BY number DESC",
            (person,),
        ).fetchall()
        known = [row["condition"] for row in before if row["condition"] in conditions]
        if known and not preview:
            return str(known[0])
        rows = self._connection.execute(
            "SELECT condition, count(*) FROM session WHERE experiment = ? AND preview = ? "
            f"AND status IN ('{ACTIVE}', 'completed') GROUP BY condition",
            (experiment.key, preview),
        ).fetchall()
        filled = dict(map(tuple, rows))
        load = {name: filled.get(name, 0) / item.share for name, item in conditions.items()}
        least = [name for name in conditions if load[name] <= min(load.values()) + 1e-9]
        rng = rng_of(experiment.seed, experiment.key, "condition", str(place))
        return str(rng.choice(least))

    def _check_new(self, person: str, experiment: PageExperiment) -> None:
        """Refuse somebody who took part before."""
        rows = self._connection.execute(
            "SELECT experiment FROM session WHERE person = ? AND preview = 0", (person,)
        ).fetchall()
        if any(row["experiment"] == experiment.key for row in rows):
            raise NoPlaceError("again")
        if rows and experiment.settings.returning == "refuse":
            raise NoPlaceError("returning")

    def _ending(self, row: sqlite3.Row, experiment: PageExperiment) -> tuple[str, str]:
        """What a person is given to take back to a recruitment service: a code and an address."""
        if row["status"] == ACTIVE:
            return "", ""
        sent = self._connection.execute(
            "SELECT service.* FROM identifier JOIN service ON service.service = identifier.service "
            "AND service.study = identifier.study WHERE session = ? AND service.experiment = ?",
            (row["number"], row["experiment"]),
        ).fetchone()
        if sent is None:
            completed = row["status"] == "completed"
            own = RecruitmentService(
                "", {"completed": row["code"]}, experiment.settings.completion_url
            )
            return own.ending("completed") if completed else ("", "")
        service = _service(sent)
        outcome = {"returned": "declined", "stopped": "declined"}.get(row["status"], row["status"])
        most = service.most_failed_checks
        if outcome == "completed" and most is not None and self._n_failed(row, experiment) > most:
            outcome = "failed_checks"
        return service.ending(outcome)

    def _n_failed(self, session: sqlite3.Row, experiment: PageExperiment) -> int:
        """Attention checks that somebody did not pass."""
        steps = plan_of(experiment, session["place"])
        rows = self._connection.execute(
            "SELECT position, response FROM answer WHERE session = ?", (session["number"],)
        ).fetchall()
        checks = [
            (steps[row["position"]], row["response"])
            for row in rows
            if steps[row["position"]].kind == "check"
        ]
        return sum(step.row != response for step, response in checks)

    def _end(self, number: int, status: Status) -> None:
        self._connection.execute(
            "UPDATE session SET status = ?, ended = ? WHERE number = ?",
            (status, self.clock(), number),
        )

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """One transaction; all of it is on disk afterwards, or nothing."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
