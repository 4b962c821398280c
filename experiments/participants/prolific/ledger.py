"""The books of recruiting: plans, studies, every submission's history, and money promised and paid.

One SQLite file in the run's folder, readable for its owner only. It is the only place with the service's raw
identifiers of people; they go from here into nothing else. A row is written before the request that it is about, so
that whatever stops the program, the next one knows what may have happened.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from lakatos.experiments.participants.answers import Status
from lakatos.experiments.participants.prolific.client import (
    StudySeen,
    SubmissionSeen,
    SubmissionState,
)
from lakatos.experiments.participants.prolific.errors import LedgerError
from lakatos.experiments.participants.prolific.money import Money
from lakatos.experiments.participants.prolific.plan import RecruitmentPlan
from lakatos.traces.stores.sqlite import problem_of

PaymentKind: TypeAlias = Literal["reward", "bonus", "screen_out"]
PageStatus: TypeAlias = Status | Literal["failed_checks"]
"""Status in which a visit to our own page ended; ``failed_checks`` for a person who completed and failed more attention
checks than the plan lets pass."""
PaymentState: TypeAlias = Literal["promised", "paid"]
BulkState: TypeAlias = Literal["prepared", "asked", "paid", "given_up"]

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS recruitment (key TEXT PRIMARY KEY, experiment TEXT NOT NULL UNIQUE, "
    "plan TEXT NOT NULL, currency TEXT NOT NULL, limit_minor INTEGER, study TEXT UNIQUE, state TEXT, "
    "places INTEGER, taken INTEGER, stopped INTEGER NOT NULL DEFAULT 0, paused INTEGER NOT NULL DEFAULT 0, "
    "made_utc TEXT NOT NULL, people INTEGER) STRICT",
    "CREATE TABLE IF NOT EXISTS submission (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "key TEXT NOT NULL REFERENCES recruitment, participant TEXT NOT NULL, state TEXT NOT NULL, "
    "code TEXT NOT NULL, page TEXT, return_asked INTEGER NOT NULL DEFAULT 0, refused_in TEXT, "
    "bonuses TEXT NOT NULL DEFAULT 'null', since_s REAL NOT NULL) STRICT",
    "CREATE TABLE IF NOT EXISTS payment (submission TEXT NOT NULL REFERENCES submission (id), kind TEXT NOT NULL, "
    "minor INTEGER NOT NULL CHECK (minor > 0), state TEXT NOT NULL, bulk INTEGER, bonuses_before INTEGER, "
    "PRIMARY KEY (submission, kind)) STRICT",
    "CREATE TABLE IF NOT EXISTS bulk (number INTEGER PRIMARY KEY, key TEXT NOT NULL REFERENCES recruitment, "
    "id TEXT, state TEXT NOT NULL, asked_s REAL) STRICT",
    "CREATE TABLE IF NOT EXISTS event (number INTEGER PRIMARY KEY, utc TEXT NOT NULL, key TEXT NOT NULL, "
    "about TEXT NOT NULL, what TEXT NOT NULL, value TEXT NOT NULL) STRICT",
    "CREATE TRIGGER IF NOT EXISTS event_update BEFORE UPDATE ON event "
    "BEGIN SELECT RAISE(ABORT, 'history is append-only'); END",
)

_PEOPLE_ADDED: Final = "ALTER TABLE recruitment ADD COLUMN people INTEGER"
_RANK: Final[dict[SubmissionState, int]] = {
    "RESERVED": 0,
    "ACTIVE": 1,
    "TIMED-OUT": 2,
    "AWAITING REVIEW": 3,
    "RETURNED": 4,
    "REJECTED": 4,
    "SCREENED OUT": 5,
    "PARTIALLY APPROVED": 5,
    "APPROVED": 6,
}


@dataclass(frozen=True)
class SubmissionEntry:
    """A submission in the books."""

    number: int
    """Order in which submissions were first seen."""
    id: str
    participant: str
    state: SubmissionState
    code: str
    page: PageStatus | None
    """Status in which the visit to our own page ended; None while it is not known there."""
    return_asked: bool
    refused_in: SubmissionState | None
    """State in which the service refused to approve it."""
    bonuses_minor: tuple[int, ...] | None
    """Bonuses that the service shows as paid; None while it has not said."""
    since_s: float
    """Time at which this state was first seen, in seconds since 1970."""


@dataclass(frozen=True)
class SubmissionPayment:
    """Money for one submission; there is at most one payment of each kind."""

    submission: str
    kind: PaymentKind
    amount: Money
    """Amount without fees."""
    state: PaymentState
    bulk: int | None
    bonuses_before: int | None
    """Bonuses that the service showed before this one was asked for."""


@dataclass(frozen=True)
class BulkPayment:
    """A bulk payment of bonuses. It is asked for once; then only the submissions tell whether it was paid."""

    number: int
    id: str | None
    state: BulkState
    asked_s: float | None
    """Time of the request, in seconds since 1970."""


@dataclass(frozen=True)
class RecruitmentAccount:
    """Everything in the books about one recruitment."""

    plan: RecruitmentPlan
    limit: Money | None
    """Most that may be spent, with fees; None before somebody confirmed."""
    study: str | None
    """The study on the service; None before the draft is made."""
    state: str | None
    places: int
    taken: int
    stopped: bool
    """Whether we stopped the study: it then looks like one that is complete, and must not be opened again."""
    paused: bool
    """Whether we paused it."""
    people: int
    """Number of people who must complete: those planned, and those in place of people who were excluded."""
    submissions: tuple[SubmissionEntry, ...]
    payments: tuple[SubmissionPayment, ...]
    bulks: tuple[BulkPayment, ...]


class PaymentLedger:
    """The books; several processes may read while one writes."""

    def __init__(
        self, path: Path, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Open the books at ``path``; they are made if they are not there.

        Raises:
            LedgerError: They cannot be made or read.
        """
        self.path, self._now = Path(path), now
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(
                f"cannot open the books {self.path}: {error}; choose another folder."
            ) from error
        self._connection.row_factory = sqlite3.Row
        with self._errors("opening"):
            for pragma in (
                "journal_mode = WAL",
                "synchronous = FULL",
                "secure_delete = ON",
                "foreign_keys = ON",
            ):
                self._connection.execute(f"PRAGMA {pragma}")
            for statement in _SCHEMA:
                self._connection.execute(statement)
            if "people" not in {
                row["name"] for row in self._connection.execute("PRAGMA table_info(recruitment)")
            }:
                self._connection.execute(_PEOPLE_ADDED)

    def __enter__(self) -> PaymentLedger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger's file; nothing can be written afterwards."""
        self._connection.close()

    def now_s(self) -> float:
        """Seconds since 1970, by the clock of the books."""
        return self._now().timestamp()

    def keep_plan(self, plan: RecruitmentPlan) -> None:
        """Write a plan down; an earlier one of the same experiment is replaced while it has no study.

        Raises:
            LedgerError: The experiment has a study on the service already.
        """
        with self._change() as change:
            row = change.execute(
                "SELECT key, study FROM recruitment WHERE experiment = ?", (plan.name,)
            ).fetchone()
            if row and row["study"]:
                raise LedgerError(
                    f"{plan.name} has the study {row['study']} on the service already; its plan stands. "
                    "Give another name to recruit more people for something else."
                )
            change.execute("DELETE FROM recruitment WHERE experiment = ?", (plan.name,))
            change.execute(
                "INSERT INTO recruitment (key, experiment, plan, currency, made_utc) VALUES (?, ?, ?, ?, ?)",
                (plan.key, plan.name, plan.model_dump_json(), plan.settings.currency, self._utc()),
            )
            self._note(change, plan.key, plan.name, "plan", plan.model_dump_json())

    def experiments(self) -> list[str]:
        """Names of the experiments with a plan, in the order of planning."""
        rows = self._rows("SELECT experiment FROM recruitment ORDER BY made_utc, experiment")
        return [row["experiment"] for row in rows]

    def studies(self) -> tuple[str, ...]:
        """Identifiers of every study that was made on the service."""
        rows = self._rows("SELECT study FROM recruitment WHERE study IS NOT NULL ORDER BY made_utc")
        return tuple(row["study"] for row in rows)

    def account(self, experiment: str) -> RecruitmentAccount:
        """All that is known about the recruitment for one experiment.

        Raises:
            LedgerError: Nothing was planned under this name.
        """
        with self._errors("reading"):
            self._connection.execute("BEGIN")
            try:
                return self._account(experiment)
            finally:
                self._connection.execute("COMMIT")

    def _account(self, experiment: str) -> RecruitmentAccount:
        rows = self._rows("SELECT * FROM recruitment WHERE experiment = ?", experiment)
        if not rows:
            known = ", ".join(self.experiments()) or "nothing yet"
            raise LedgerError(
                f"{experiment!r} has no plan; planned: {known}. Make one with `lakatos prolific plan`."
            )
        row, currency = rows[0], rows[0]["currency"]
        submissions = self._rows(
            "SELECT * FROM submission WHERE key = ? ORDER BY number", row["key"]
        )
        payments = self._rows(
            "SELECT payment.* FROM payment JOIN submission ON submission.id = payment.submission "
            "WHERE submission.key = ? ORDER BY submission.number, payment.kind",
            row["key"],
        )
        bulks = self._rows(
            "SELECT number, id, state, asked_s FROM bulk WHERE key = ? ORDER BY number", row["key"]
        )
        plan = RecruitmentPlan.model_validate_json(row["plan"])
        return RecruitmentAccount(
            plan=plan,
            limit=None if row["limit_minor"] is None else Money(row["limit_minor"], currency),
            study=row["study"],
            state=row["state"],
            places=row["places"] or 0,
            taken=row["taken"] or 0,
            stopped=bool(row["stopped"]),
            paused=bool(row["paused"]),
            people=max(plan.settings.people, row["people"] or 0),
            submissions=tuple(_entry(item) for item in submissions),
            payments=tuple(
                SubmissionPayment(
                    item["submission"],
                    item["kind"],
                    Money(item["minor"], currency),
                    item["state"],
                    item["bulk"],
                    item["bonuses_before"],
                )
                for item in payments
            ),
            bulks=tuple(BulkPayment(**dict(item)) for item in bulks),
        )

    def history(self, about: str) -> list[tuple[str, str, str]]:
        """List the events of a submission, a study or a bulk payment: ``(time, what, value)``, oldest first."""
        rows = self._rows(
            "SELECT utc, what, value FROM event WHERE about = ? ORDER BY number", about
        )
        return [(row["utc"], row["what"], row["value"]) for row in rows]

    def set_limit(self, key: str, limit: Money) -> None:
        """Write down what a person confirmed."""
        self._set(key, "limit_minor", limit.minor)

    def set_people(self, key: str, people: int) -> None:
        """Say how many must complete in all, once more are wanted than were planned; the limit stays as it is."""
        self._set(key, "people", people)

    def set_study(self, key: str, study: StudySeen) -> None:
        """Say which study is ours; there is one, for good.

        Raises:
            LedgerError: Another one was written down before.
        """
        with self._change() as change:
            known = change.execute(
                "SELECT study FROM recruitment WHERE key = ?", (key,)
            ).fetchone()["study"]
            if known not in (None, study.id):
                raise LedgerError(
                    f"the study of {key} is {known}, not {study.id}; look at both on the service."
                )
            change.execute("UPDATE recruitment SET study = ? WHERE key = ?", (study.id, key))
        self.see_study(key, study)

    def see_study(self, key: str, study: StudySeen) -> None:
        """Take note of the state of the study."""
        with self._change() as change:
            row = change.execute(
                "SELECT state, places FROM recruitment WHERE key = ?", (key,)
            ).fetchone()
            change.execute(
                "UPDATE recruitment SET state = ?, places = ?, taken = ? WHERE key = ?",
                (study.state, study.places, study.taken, key),
            )
            if row["state"] != study.state:
                self._note(change, key, study.id, "state", study.state)
            if row["places"] != study.places:
                self._note(change, key, study.id, "places", str(study.places))

    def set_stopped(self, key: str, stopped: bool) -> None:
        """Say, before asking, that we stop the study."""
        self._set(key, "stopped", int(stopped))

    def set_paused(self, key: str, paused: bool) -> None:
        """Say, before asking, that we pause the study or let it go on."""
        self._set(key, "paused", int(paused))

    def see_submissions(
        self,
        plan: RecruitmentPlan,
        seen: Iterable[SubmissionSeen],
        page: Mapping[tuple[str, str], PageStatus],
    ) -> None:
        """Take note of submissions; a state that was left behind is not gone back to, and nobody is taken out.

        Args:
            plan: Plan of the recruitment.
            seen: The service's list, in which states can be old and people occur twice.
            page: How visits to our page ended, by ``(participant, submission)``.
        """
        with self._change() as change:
            for item in seen:
                inserted = change.execute(
                    "INSERT INTO submission (id, key, participant, state, code, since_s) VALUES (?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (id) DO NOTHING",
                    (item.id, plan.key, item.participant, item.state, item.code, self.now_s()),
                )
                if inserted.rowcount:
                    self._note(change, plan.key, item.id, "state", item.state)
                self._update(change, plan, item, page.get((item.participant, item.id)))

    def _update(
        self,
        change: sqlite3.Connection,
        plan: RecruitmentPlan,
        item: SubmissionSeen,
        page: PageStatus | None,
    ) -> None:
        old = _entry(change.execute("SELECT * FROM submission WHERE id = ?", (item.id,)).fetchone())
        state = item.state if _RANK[item.state] > _RANK[old.state] else old.state
        amounts = [found for found in (old.bonuses_minor, item.bonuses_minor) if found is not None]
        new: dict[str, Any] = {
            "state": state,
            "code": item.code or old.code,
            # Who completed stays so, also when a withdrawal takes the answers away later.
            "page": old.page if old.page == "completed" or page is None else page,
            "return_asked": int(old.return_asked or item.return_requested),
            "bonuses": json.dumps(max(amounts, key=len, default=None)),
        }
        before = {
            "state": old.state,
            "code": old.code,
            "page": old.page,
            "return_asked": int(old.return_asked),
            "bonuses": json.dumps(old.bonuses_minor),
        }
        if state != old.state:
            change.execute(
                "UPDATE submission SET since_s = ? WHERE id = ?", (self.now_s(), item.id)
            )
        for name in new:
            if new[name] != before[name]:
                change.execute(
                    f"UPDATE submission SET {name} = ? WHERE id = ?", (new[name], item.id)
                )
                self._note(change, plan.key, item.id, name, str(new[name]))
        if state in ("RETURNED", "REJECTED"):
            change.execute(
                "DELETE FROM payment WHERE submission = ? AND state = 'promised'", (item.id,)
            )
        if state in (
            "APPROVED",
            "PARTIALLY APPROVED",
        ):  # the latter pays less, how much the list does not say
            self._paid(change, plan, item.id, "reward", plan.reward)
        if state == "SCREENED OUT" and plan.settings.most_screened_out:
            self._paid(
                change,
                plan,
                item.id,
                "screen_out",
                plan.settings.money(plan.settings.screen_out_reward),
            )

    def promise_reward(self, plan: RecruitmentPlan, submission: str) -> None:
        """Write down that the service is about to be asked to pay a reward."""
        with self._change() as change:
            change.execute(
                "INSERT INTO payment (submission, kind, minor, state) VALUES (?, 'reward', ?, 'promised') "
                "ON CONFLICT DO NOTHING",
                (submission, plan.reward.minor),
            )
            self._note(change, plan.key, submission, "reward", "promised")

    def withdraw_reward(
        self, plan: RecruitmentPlan, submission: str, state: SubmissionState
    ) -> None:
        """The service refused to pay a reward; it will be asked again only in another state of the submission."""
        with self._change() as change:
            change.execute(
                "DELETE FROM payment WHERE submission = ? AND kind = 'reward' AND state = 'promised'",
                (submission,),
            )
            change.execute("UPDATE submission SET refused_in = ? WHERE id = ?", (state, submission))
            self._note(change, plan.key, submission, "reward", f"refused in {state}")

    def mark_rewarded(self, plan: RecruitmentPlan, submission: str) -> None:
        """The service said that it approved a submission."""
        with self._change() as change:
            change.execute(
                "UPDATE submission SET state = 'APPROVED', since_s = ? WHERE id = ?",
                (self.now_s(), submission),
            )
            self._note(change, plan.key, submission, "state", "APPROVED")
            self._paid(change, plan, submission, "reward", plan.reward)

    def mark_return_asked(self, plan: RecruitmentPlan, submission: str, reason: str) -> None:
        """The person was asked to give the place back."""
        with self._change() as change:
            change.execute("UPDATE submission SET return_asked = 1 WHERE id = ?", (submission,))
            self._note(change, plan.key, submission, "return_asked", reason)

    def promise_bonuses(self, plan: RecruitmentPlan, bonuses: Sequence[tuple[str, Money]]) -> int:
        """Write down a bulk payment before it is prepared on the service; returns its number in the books.

        Raises:
            LedgerError: One of the people has a bonus already.
        """
        with self._change() as change:
            cursor = change.execute(
                "INSERT INTO bulk (key, state) VALUES (?, 'prepared')", (plan.key,)
            )
            number = int(cursor.lastrowid or 0)
            for submission, amount in bonuses:
                row = change.execute(
                    "SELECT bonuses FROM submission WHERE id = ?", (submission,)
                ).fetchone()
                try:
                    change.execute(
                        "INSERT INTO payment (submission, kind, minor, state, bulk, bonuses_before) "
                        "VALUES (?, 'bonus', ?, 'promised', ?, ?)",
                        (submission, amount.minor, number, len(json.loads(row["bonuses"]) or ())),
                    )
                except sqlite3.IntegrityError:
                    raise LedgerError(
                        f"submission {submission} has a bonus in the books and cannot get a second one."
                    ) from None
                self._note(change, plan.key, submission, "bonus", f"promised {amount}")
        return number

    def mark_bulk(
        self, plan: RecruitmentPlan, number: int, state: BulkState, *, bulk_id: str | None = None
    ) -> None:
        """Follow a bulk payment: its identifier, that it is asked for now, paid, or given up.

        One that is given up frees its people for another.
        """
        with self._change() as change:
            change.execute(
                "UPDATE bulk SET state = ?, id = coalesce(?, id), "
                "asked_s = CASE WHEN ? = 'asked' THEN ? ELSE asked_s END WHERE number = ?",
                (state, bulk_id, state, self.now_s(), number),
            )
            if state == "given_up":
                change.execute(
                    "DELETE FROM payment WHERE bulk = ? AND state = 'promised'", (number,)
                )
            self._note(change, plan.key, f"bulk {number}", "state", state)

    def mark_bonus_paid(self, plan: RecruitmentPlan, submission: str) -> None:
        """The service shows the bonus as paid."""
        with self._change() as change:
            change.execute(
                "UPDATE payment SET state = 'paid' WHERE submission = ? AND kind = 'bonus'",
                (submission,),
            )
            self._note(change, plan.key, submission, "bonus", "paid")

    def _paid(
        self,
        change: sqlite3.Connection,
        plan: RecruitmentPlan,
        submission: str,
        kind: PaymentKind,
        amount: Money,
    ) -> None:
        old = change.execute(
            "SELECT state FROM payment WHERE submission = ? AND kind = ?", (submission, kind)
        )
        row = old.fetchone()
        if row and row["state"] == "paid":
            return
        change.execute(
            "INSERT INTO payment (submission, kind, minor, state) VALUES (?, ?, ?, 'paid') "
            "ON CONFLICT (submission, kind) DO UPDATE SET state = 'paid'",
            (submission, kind, amount.minor),
        )
        self._note(change, plan.key, submission, kind, "paid" if row else "paid without our asking")

    def _set(self, key: str, column: str, value: int) -> None:
        with self._change() as change:
            change.execute(f"UPDATE recruitment SET {column} = ? WHERE key = ?", (value, key))
            self._note(change, key, key, column, str(value))

    def _note(
        self, change: sqlite3.Connection, key: str, about: str, what: str, value: str
    ) -> None:
        change.execute(
            "INSERT INTO event (utc, key, about, what, value) VALUES (?, ?, ?, ?, ?)",
            (self._utc(), key, about, what, value),
        )

    def _utc(self) -> str:
        return self._now().isoformat(timespec="milliseconds")

    def _rows(self, statement: str, *values: str) -> list[Any]:
        with self._errors("reading"):
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._errors("writing"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise LedgerError(problem_of(error, self.path, doing)) from error


def _entry(row: Any) -> SubmissionEntry:
    bonuses = json.loads(row["bonuses"])
    return SubmissionEntry(
        number=row["number"],
        id=row["id"],
        participant=row["participant"],
        state=row["state"],
        code=row["code"],
        page=row["page"],
        return_asked=bool(row["return_asked"]),
        refused_in=row["refused_in"],
        bonuses_minor=None if bonuses is None else tuple(bonuses),
        since_s=row["since_s"],
    )
