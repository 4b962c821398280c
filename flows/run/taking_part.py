"""Numbers of the participants of a run, read off its files without the laboratory's science."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lakatos.flows.errors import UnusableError
from lakatos.traces.apart import ApartKinds
from lakatos.traces.errors import JournalError
from lakatos.traces.files import INBOX_FILE, JOURNAL_FILE
from lakatos.traces.journal import Journal

PAGE_FILE: Final = "collection.sqlite"
"""File in which the page keeps its sessions (`experiments.participants.web.collection`)."""
LEAST_PUBLISHED: Final = 5
"""Participants of an experiment without whom nothing of the run is published: of fewer, a mean says much about each."""
SHOWN: Final = 8
"""Digits of a pseudonym that are shown."""


@dataclass(frozen=True)
class TakingPart:
    """Number of participants of a run, over all of its experiments."""

    invited: int = 0
    """Invitations that were made."""
    started: int = 0
    """Participants who began, or whose responses arrived."""
    completed: int = 0
    excluded: int = 0
    """Participants whom preregistered rules exclude."""
    people: tuple[tuple[str, str], ...] = ()
    """Beginning of each participant's pseudonym, and how the visit stands, in the order of their coming."""

    @property
    def words(self) -> str:
        """The numbers in words."""
        invited = f"{self.invited} invited, " if self.invited else ""
        return (
            f"{invited}{self.started} started, {self.completed} completed, {self.excluded} excluded"
        )


def taking_part(folder: Path) -> TakingPart:
    """The participants of a run: on its page, in its inbox and in its journal.

    Raises:
        JournalError: A file of the run cannot be read.
    """
    seen: dict[tuple[str, str], str] = {}
    invited = 0
    try:
        for (value,) in _rows(folder / PAGE_FILE, "SELECT count(*) FROM invitation"):
            invited = int(value)
        for experiment, person, status in _rows(
            folder / PAGE_FILE,
            "SELECT experiment.name, person, status FROM session JOIN experiment ON key = experiment "
            "WHERE preview = 0 ORDER BY session.number",
        ):
            seen[experiment, person] = status
        pending = _rows(
            folder / INBOX_FILE,
            "SELECT json_extract(payload, '$.experiment'), json_extract(payload, '$.person'), "
            "json_extract(payload, '$.status') FROM batch WHERE payload IS NOT NULL ORDER BY number",
        )
        for experiment, person, status in pending:
            if person:  # batches of other kinds name nobody
                seen[str(experiment), str(person)] = str(status)
    except sqlite3.Error as error:
        raise JournalError(f"cannot read the participants of {folder}: {error}.") from error
    excluded = set[tuple[str, str]]()
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        for event in journal.events():
            body = event.body
            who = (str(body.get("experiment")), str(body.get("person")))
            if event.kind == "answers_arrived":
                seen[who] = str(body.get("status"))
            if event.kind == "person_excluded":
                excluded.add(who)
            if event.kind == "person_withdrawn":
                seen = {key: value for key, value in seen.items() if key[1] != who[1]}
    n_by = Counter(seen.values())
    people = tuple((person[:SHOWN], status) for (_, person), status in seen.items())
    return TakingPart(invited, len(seen), n_by["completed"], len(excluded & set(seen)), people)


def check_published(folder: Path) -> None:
    """Refuse to publish a run with an experiment of too few participants, where participants may withdraw.

    Those who withdrew, were excluded or gave no response do not count.

    Raises:
        UnusableError: The responses of an experiment come from one to four participants.
        JournalError: The journal cannot be read.
    """
    counted = set[tuple[str, str]]()
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        if ApartKinds.of(journal.meta) is None:
            return
        for event in journal.events():
            body = event.body
            who = (str(body.get("experiment")), str(body.get("person")))
            if event.kind == "answers_arrived" and body.get("n_answers"):
                counted.add(who)
            if event.kind == "person_excluded":
                counted.discard(who)
            if event.kind == "person_withdrawn":
                counted = {item for item in counted if item[1] != who[1]}
    for experiment, n_people in Counter(experiment for experiment, _ in counted).items():
        if n_people < LEAST_PUBLISHED:
            raise UnusableError(
                f"the responses to experiment {experiment} of {folder} come from {n_people} of at least "
                f"{LEAST_PUBLISHED} participants, excluded ones not counted; of fewer, nothing is published, because a "
                "mean says much about each. Collect more responses first."
            )


def _rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """Rows of a database; none if it does not exist."""
    if not path.exists() or not path.stat().st_size:
        return []
    # Read and written: a reader that may not write would leave the log's files behind.
    address = f"{path.absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=30)) as connection:
        return connection.execute(query).fetchall()
