"""List of everybody's sessions in the collection, for those who pay, watch or withdraw people."""

from __future__ import annotations

import sqlite3
from typing import Any

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.web.recruitment import RecruitmentStore
from lakatos.experiments.participants.web.session import (
    ACTIVE,
    PageSession,
    PageSubmission,
    PageVisit,
)
from lakatos.experiments.participants.web.study import plan_of


class SessionList(RecruitmentStore):
    """All sessions of a run's page, to be read."""

    def people(self) -> set[str]:
        """Everybody who has a session."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT person FROM session WHERE preview = 0"
            ).fetchall()
        return {row["person"] for row in rows}

    def submissions(self, service: str = "prolific") -> list[PageSubmission]:
        """List what participants of a recruitment service did here, for the one who pays them."""
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
        """Return how far each experiment is: people wanted, and the number of sessions by status."""
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
        """List how far each participant came, in the order of their visits."""
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
        """Return the responses of everybody whose visit of an experiment has ended, in the order of arrival."""
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
        """Return a person's responses so far, as they would be left in the inbox."""
        with self._lock:
            answers = self._answers(session)
        if answers is None:
            raise SourceError("the session goes on; its answers are left when it ends.")
        return answers
