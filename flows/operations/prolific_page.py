"""The page of a run, as the recruitment through Prolific sees it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from lakatos.experiments.participants.answers import STATUSES, pseudonym
from lakatos.experiments.participants.prolific.clerk import PageAnswers
from lakatos.experiments.participants.prolific.client import StudySeen, SubmissionSeen
from lakatos.experiments.participants.prolific.ledger import PageStatus
from lakatos.experiments.participants.prolific.plan import COMPLETION_URL, CodeType, RecruitmentPlan
from lakatos.experiments.participants.web.collection import COLLECTION_FILE, KEY_FILE
from lakatos.experiments.participants.web.session import RecruitmentService, WithheldAnswers
from lakatos.experiments.participants.web.store import SessionStore
from lakatos.flows.stages.enough import command_to_stop
from lakatos.traces.inbox import Inbox
from lakatos.traces.step import INBOX_FILE


@contextmanager
def collection(folder: Path) -> Iterator[SessionStore | None]:
    """The store of the run's page, if it was ever opened."""
    if not (folder / COLLECTION_FILE).exists():
        yield None
        return
    store = SessionStore(folder)
    try:
        yield store
    finally:
        store.shut()


class RunPage(PageAnswers):
    """The page of a run: who is in its inbox, under a pseudonym, and what it has to be told of the service.

    Attributes:
        withheld: People who came with identifiers that the service does not list; their responses are kept apart.
    """

    def __init__(self, folder: Path, planned: RecruitmentPlan) -> None:
        """The page of the experiment that is ``planned``."""
        self.folder, self.plan, self.key = folder, planned, pseudonym_key(folder)
        self.command = f"`{command_to_stop(folder, planned.name)}`"
        self.withheld: list[WithheldAnswers] = []
        self._delivered: dict[str, list[dict[str, Any]]] = {}
        self._look()

    def __call__(self, participant: str, submission: str) -> PageStatus | None:
        """Return how a participant's visit ended, as far as it is in the inbox."""
        if not self.key:
            return None
        values = self._delivered.get(pseudonym(self.key, "prolific", participant), ())
        # Somebody who came twice completed if one visit did.
        status = next(
            (
                status
                for status in STATUSES
                if any(value.get("status") == status for value in values)
            ),
            None,
        )
        most = self.plan.settings.most_failed_checks
        if status == "completed" and most is not None:
            failed = [
                value["checks"].count(False)
                for value in values
                if value.get("status") == "completed"
            ]
            return "failed_checks" if min(failed) > most else status
        return status

    def prepare(self, study: StudySeen) -> None:
        """Hand the plan's codes to the page, by how a visit ends."""
        kinds: dict[str, CodeType] = {
            "completed": "COMPLETED",
            "failed_checks": "FAILED_ATTENTION_CHECK",
            "screened_out": "FIXED_SCREENOUT",
            "declined": "NO_CONSENT",
        }
        codes = {
            outcome: self.plan.codes[kind]
            for outcome, kind in kinds.items()
            if kind in self.plan.codes
        }
        with collection(self.folder) as store:
            if store is not None:
                found = store.find(self.plan.name)
                url = (found.settings.completion_url if found else "") or COMPLETION_URL
                most = self.plan.settings.most_failed_checks
                store.recruit_through(
                    self.plan.name, "prolific", RecruitmentService(study.id, codes, url, most)
                )

    def meet(self, study: str, seen: Sequence[SubmissionSeen]) -> None:
        """Let responses of the people whom the service lists into the inbox, and look what is there."""
        with collection(self.folder) as store:
            if store is not None:
                listed = {(item.participant, item.id) for item in seen}
                self.withheld = store.meet(self.plan.name, "prolific", listed)
                store.deliver(Inbox(self.folder / INBOX_FILE))
        self._look()

    def _look(self) -> None:
        self.key = pseudonym_key(self.folder)
        self._delivered = _delivered(self.folder, self.plan.name)
        with collection(self.folder) as store:
            found = store.find(self.plan.name) if store else None
            if store is None or found is None:
                return
            self.n_more = (store.wanted(found.name) or 0) - found.design.n_participants
            self.collection = "open" if store.opened(found.name) else "ended"
            self.withheld = [item for item in store.withheld() if item.experiment == found.name]


def pseudonym_key(folder: Path) -> bytes:
    """Key of the pseudonyms of a run's people; empty where nobody took part on its page."""
    path = folder / KEY_FILE
    return path.read_bytes() if path.exists() else b""


def _delivered(folder: Path, experiment: str) -> dict[str, list[dict[str, Any]]]:
    """Everything that was ever delivered about an experiment, by person; what was taken by a pass included."""
    path = folder / INBOX_FILE
    found: dict[str, list[dict[str, Any]]] = {}
    if not path.exists():
        return found
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as connection:
        rows = connection.execute(
            "SELECT payload FROM batch WHERE payload IS NOT NULL ORDER BY number"
        ).fetchall()
    for (payload,) in rows:
        value = json.loads(payload)
        if isinstance(value, dict) and value.get("experiment") == experiment and "person" in value:
            found.setdefault(str(value["person"]), []).append(value)
    return found
