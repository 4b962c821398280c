"""Whom the page lets in: experiments that are open, invitations, and what recruitment services say of their people.

Where a recruitment service sends people (`RecruitmentStore.recruit_through`), responses of people who come with
its identifiers wait until the service lists them (`RecruitmentStore.meet`); what nobody vouches for never reaches the
inbox.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection
from typing import Final

from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import pseudonym
from lakatos.experiments.participants.web.collection import (
    REFUSED,
    WITHHELD,
    CollectionFile,
    hashed,
    service_in,
)
from lakatos.experiments.participants.web.session import (
    INVITATION,
    NoPlaceError,
    RecruitmentService,
    ServiceIdentifiers,
    WithheldAnswers,
)
from lakatos.experiments.participants.web.study import (
    PageExperiment,
)
from lakatos.traces.digest import Digest

LAG_SECONDS: Final = 1800.0
"""A service's list may lag behind so long; who is not in it then holds no place."""


class RecruitmentStore(CollectionFile):
    """Experiments, invitations and recruitment services of one run."""

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
        """Count the invitations that were made, and those that were used."""
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
        return None if row is None else service_in(row)

    def meet(
        self, name: str, service: str, listed: Collection[tuple[str, str]]
    ) -> list[WithheldAnswers]:
        """Compare who came to an experiment with whom a recruitment service says it sent.

        Args:
            name: Name of the experiment.
            service: Service that sends people to it.
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
                f"EXISTS ({REFUSED}) FROM session JOIN experiment ON experiment.key = session.experiment "
                f"WHERE preview = 0 AND {WITHHELD} ORDER BY session.number"
            ).fetchall()
        return [WithheldAnswers(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]

    def wanted(self, name: str) -> int | None:
        """Return how many people an experiment wants by now; None where there is none."""
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

    # Inside a transaction, or under the lock

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
