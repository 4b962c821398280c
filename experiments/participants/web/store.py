"""What people do on the page: sessions, responses, and what comes of them.

A session that ends leaves one `PersonAnswers` in the inbox. An answer is on disk when `SessionStore.answer` returns.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import (
    LOOK_AHEAD,
    Status,
    pseudonym,
)
from lakatos.experiments.participants.source import rng_of
from lakatos.experiments.participants.web.collection import WITHHELD, hashed
from lakatos.experiments.participants.web.questions import QuestionBlock, Reply, replies_to
from lakatos.experiments.participants.web.session import (
    ACTIVE,
    INVITATION,
    MISSED,
    NO_TIMES,
    NOTHING_RECORDED,
    NoPlaceError,
    NotAskedError,
    OtherExperimentError,
    PageSession,
    ServiceIdentifiers,
    StepRecord,
    StepTimes,
    read_step,
)
from lakatos.experiments.participants.web.session_list import SessionList
from lakatos.experiments.participants.web.study import (
    PageExperiment,
    follows,
    plan_of,
)
from lakatos.experiments.presentation import PagePlugin, presentation_of
from lakatos.traces.digest import Digest
from lakatos.traces.erasure import values_in
from lakatos.traces.errors import InboxError, RecordError
from lakatos.traces.inbox import Inbox

LONGEST_RESPONSE_TIME_MS: Final = 1e9
PREVIEW_SECONDS: Final = 86_400.0
_OF_SESSIONS: Final = ("answer", "onset", "reply", "access", "identifier")
"""Tables of what a person leaves in a session."""


@dataclass(frozen=True)
class _Comer:
    """Somebody who comes to the page."""

    token: str
    """Token of the browser."""
    person: str
    invitation: str
    """Digest of the invitation, or empty."""
    identifiers: ServiceIdentifiers | None
    """Identifier of a recruitment service, by which the participant is recognised; None in a preview."""
    preview: bool


class SessionStore(SessionList):
    """Sessions and responses of one run. All methods may be called from any thread."""

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
        ticked: Mapping[str, Reply] | None = None,
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
            ticked: Boxes of the study on the consent page, by name; only what a person said first counts.

        Raises:
            NoPlaceError: No experiment is open, all places are taken, this person took part already, or has no
                invitation where everybody needs one.
            OtherExperimentError: Another experiment has a place now.
        """
        invitation = ""
        person = pseudonym(self.key, "web", hashed(token))
        if identifiers and identifiers.service == INVITATION:
            invitation, identifiers = hashed(identifiers.participant), None
            person = pseudonym(self.key, INVITATION, invitation)
        elif identifiers:
            person = pseudonym(self.key, identifiers.service, identifiers.participant)
        comes = _Comer(token, person, invitation, None if preview else identifiers, preview)
        with self._change() as sql:
            session = self._known(comes)
            if session is None:
                found = self._place_for(comes, identifiers, experiment)
                session = self._begin(comes, found, identifiers, consent, language, visit or {})
                self._keep_replies(session.number, ticked or {})
            sql.execute(
                "INSERT INTO access (token, session) VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET session = ?",
                (hashed(token), session.number, session.number),
            )
            if comes.identifiers:
                sent = comes.identifiers
                sql.execute(
                    "INSERT INTO identifier (session, service, participant, study, submission) VALUES (?, ?, ?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    (session.number, sent.service, sent.participant, sent.study, sent.submission),
                )
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

    def report_onset(
        self, session: PageSession, position: int, arrived_s: float | None = None
    ) -> bool:
        """Note when the browser said that the target of the step at ``position`` had appeared; the first report stands.

        Nothing else depends on it, so that a report that is lost, late or made up changes no answer. Of an item that is
        studied every report counts: the page waits for it before it shows the item, again after a reload.

        Args:
            session: Of the person.
            position: Of the step, which must be the one to be answered now.
            arrived_s: When the report came, by the store's clock; now by default.

        Returns:
            Whether it was noted.
        """
        arrived = self.clock() if arrived_s is None else arrived_s
        with self._change() as sql:
            now = self._fresh(session)
            if now.status != ACTIVE or not now.passed or now.block is not None:
                return False
            if not now.position <= position <= now.position + LOOK_AHEAD:
                return False
            noted = sql.execute(
                "INSERT INTO onset (session, position, reported) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (now.number, position, arrived),
            )
            if plan_of(now.experiment, now.place)[position].kind == "study":
                sql.execute(
                    "UPDATE onset SET begun = coalesce(begun, 0) + 1 WHERE session = ? AND position = ?",
                    (now.number, position),
                )
            return noted.rowcount == 1

    def answer(
        self,
        session: PageSession,
        position: int,
        response: int | None,
        response_time_ms: float,
        times: StepTimes = NO_TIMES,
        arrived_s: float | None = None,
        given: StepRecord = NOTHING_RECORDED,
    ) -> tuple[bool, dict[str, float], PageSession]:
        """Save the response to the step at ``position``; the first answer to a step stands.

        Where time is limited, no response, or one that came later, is noted as missed; it is never a choice. Where
        responses are keys with their times, the key is saved; what outcome both are is found when the visit has ended.

        Returns:
            Whether it was saved now (not before), what followed, and the session afterwards.

        Raises:
            NotAskedError: This person was not asked that, or has stopped, or cannot choose that option.
        """
        arrived = self.clock() if arrived_s is None else arrived_s
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
            chosen, response_time_ms, kept = read_step(
                now, step, position, response, response_time_ms, given
            )
            feedback = (
                {} if chosen == MISSED else follows(now.experiment, step, now.feedback, chosen)
            )
            time_ms = min(max(response_time_ms, 0.0), LONGEST_RESPONSE_TIME_MS)
            noted = "focus" in now.experiment.settings.record
            away = (times.focus_losses, times.away_ms) if noted else (None, None)
            sql.execute(
                "INSERT INTO answer (session, position, response, response_time_ms, feedback, answered, onset_ms, "
                "focus_losses, away_ms, recorded, failure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    now.number, position, chosen, time_ms, json.dumps(feedback), arrived, times.onset_ms,
                    *away, json.dumps(dict(kept.recorded)) if kept.recorded else None, kept.failure or None,
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
            self._keep_replies(now.number, found)
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
                    for table in ("answer", "onset", "reply"):
                        sql.execute(f"DELETE FROM {table} WHERE session = ?", (session.number,))
                    self._deleted = True
                kept: Status = "completed" if self._fresh(session).block == "after" else "stopped"
                self._end(session.number, kept if keep else "returned")
            after = self._fresh(session)
        self._clear_deleted()
        return after

    def saved(self, session: PageSession, position: int) -> tuple[int | None, str]:
        """The option chosen in an answered step, None if it was missed; and what failed, empty if nothing did."""
        with self._lock:
            row = self._connection.execute(
                "SELECT response, failure FROM answer WHERE session = ? AND position = ?",
                (session.number, position),
            ).fetchone()
        return None if row["response"] == MISSED else row["response"], row["failure"] or ""

    def plugin(self, digest: Digest) -> PagePlugin | None:
        """The plugin of an experiment of this run; None if none has this digest."""
        with self._lock:
            rows = self._connection.execute("SELECT key FROM experiment").fetchall()
            shown = [presentation_of(self._experiment(row["key"]).task) for row in rows]
        plugins = [item.plugin for item in shown if item and item.plugin]
        return next((item for item in plugins if item.digest == digest), None)

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
                "onset WHERE session",
                "reply WHERE session",
                "access WHERE session",
                "session WHERE number",
            ):
                sql.execute(f"DELETE FROM {statement} IN {old}", (now - PREVIEW_SECONDS,))
        self._clear_deleted()
        return n_ended

    # What comes of it

    def deliver(self, inbox: Inbox) -> int:
        """Leave one `PersonAnswers` in the inbox for every session that ended; what was left before stays as it is.

        Returns:
            How many were left now.

        Raises:
            InboxError, RecordError: Something could not be left, or not be written; all else was.
        """
        problem: InboxError | RecordError | None = None
        with self._lock:
            rows = self._connection.execute(
                f"SELECT number FROM session WHERE status <> ? AND preview = 0 AND delivered = 0 AND NOT ({WITHHELD})",
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
                except (InboxError, RecordError) as error:
                    problem = error
                    continue
                sql.execute("UPDATE session SET delivered = 1 WHERE number = ?", (session.number,))
        if problem is not None:
            raise problem
        return len(rows)

    def erase(self, person: str, *, keep_place: bool = False) -> int:
        """Forget a person: session, responses and identifiers are gone from storage.

        Args:
            person: Pseudonym.
            keep_place: Whether the place of somebody who completed stays taken, because the answers still count.

        Returns:
            Sessions that are gone, one for each experiment of the person.

        Raises:
            SourceError: Another program is at work, so that what was deleted could still be found in the file.
        """
        chosen = "(SELECT number FROM session WHERE person = ?)"
        erased: list[bytes] = []
        with self._change() as sql:
            for table in _OF_SESSIONS:
                erased += values_in(sql, f"SELECT * FROM {table} WHERE session IN {chosen}", person)
            erased += values_in(sql, "SELECT * FROM session WHERE person = ?", person)
            if keep_place:
                sql.execute(
                    "UPDATE experiment SET n_participants = n_participants - 1 WHERE key IN "
                    "(SELECT experiment FROM session WHERE person = ? AND preview = 0 AND status = 'completed')",
                    (person,),
                )
            for table in _OF_SESSIONS:
                sql.execute(f"DELETE FROM {table} WHERE session IN {chosen}", (person,))
            n_gone = sql.execute("DELETE FROM session WHERE person = ?", (person,)).rowcount
        self._deleted = True
        if not self._clear_deleted():
            raise SourceError(
                f"what was deleted from {self.path} is still in its write-ahead log, because another program reads it; "
                "end that program and do this again."
            )
        if not self._is_gone(erased):
            self._deleted = True
            raise SourceError(
                f"what was deleted from {self.path} can still be found in the file; do this again while no other "
                "program uses it."
            )
        return n_gone

    # Inside a transaction, or under the lock

    def _known(self, comes: _Comer) -> PageSession | None:
        """The session that somebody who comes has already, in this browser or another one."""
        if comes.invitation and not comes.preview:
            return self._invited(comes.token, comes.person)
        if comes.identifiers:
            return self._session(
                "number = "
                "(SELECT session FROM identifier WHERE service = ? AND participant = ? AND submission = ?)",
                comes.identifiers.service,
                comes.identifiers.participant,
                comes.identifiers.submission,
            )
        return self._session(
            "number = (SELECT session FROM access WHERE token = ?)", hashed(comes.token)
        )

    def _place_for(
        self, comes: _Comer, identifiers: ServiceIdentifiers | None, experiment: Digest | None
    ) -> PageExperiment:
        """The experiment in which somebody new takes part.

        Raises:
            NoPlaceError: There is none, or not for this person.
            OtherExperimentError: It is not the one whose text was agreed to.
        """
        first = self._current(preview=True)
        found = self._current(preview=False) or (first if comes.preview else None)
        if found is None:
            raise NoPlaceError("full" if first else "closed")
        if not comes.preview:
            self._check_new(comes.person, found)
            self._check_invited(comes.invitation, identifiers, found)
        if experiment not in (None, found.key):
            raise OtherExperimentError(f"the next place is in the experiment {found.name}.")
        return found

    def _keep_replies(self, session: int, replies: Mapping[str, Reply]) -> None:
        rows = [(session, name, json.dumps(value)) for name, value in replies.items()]
        self._connection.executemany("INSERT INTO reply (session, name, value) VALUES (?, ?, ?)", rows)  # fmt: skip

    def _begin(
        self,
        comes: _Comer,
        found: PageExperiment,
        identifiers: ServiceIdentifiers | None,
        consent: Digest,
        language: str,
        visit: Mapping[str, int | str],
    ) -> PageSession:
        """A new session in an experiment; an invitation is used up by it."""
        now = self.clock()
        sql = self._connection
        place = sql.execute(
            "SELECT coalesce(max(place) + 1, 0) FROM session WHERE experiment = ? AND preview = ?",
            (found.key, comes.preview),
        ).fetchone()[0]
        row = {
            "experiment": found.key,
            "person": comes.person,
            "preview": comes.preview,
            "source": identifiers.service if identifiers else "web",
            "place": place,
            "status": ACTIVE,
            "consent": consent,
            "language": language,
            "code": found.settings.completion_code or secrets.token_hex(4).upper(),
            "started": now,
            "seen": now,
            "condition": self._condition(found, comes.person, place, comes.preview),
            "visit": json.dumps(visit),
        }
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        number = sql.execute(
            f"INSERT INTO session ({columns}) VALUES ({marks})", tuple(row.values())
        ).lastrowid
        sql.execute(
            "UPDATE invitation SET used = coalesce(used, ?) WHERE token = ?",
            (now, comes.invitation),
        )
        session = self._session("number = ?", number)
        assert session is not None
        return session

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

    def _condition(self, experiment: PageExperiment, person: str, place: int, preview: bool) -> str:
        """The condition of somebody who begins: their own of before, or one of those with the fewest people."""
        conditions = experiment.settings.conditions
        if not conditions or experiment.design.conditions:  # all people go through the latter
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

    def _end(self, number: int, status: Status) -> None:
        self._connection.execute(
            "UPDATE session SET status = ?, ended = ? WHERE number = ?",
            (status, self.clock(), number),
        )
