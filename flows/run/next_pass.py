"""Whether a run has something to do, and what tells a laboratory of it.

`look` responses from the head of the journal, the mark that the last pass left, and the number of batches in the inbox:
a few small reads, without the laboratory's science and without Prefect. Every way of arriving (page, recruitment
service, dropped file, import) ends in the inbox, so the inbox is what is watched, and its level rather than its
changes: a hundred arrivals are one reason for one pass, and what arrived while no machine was on is seen by the first
look afterwards.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import canonical_json, digest_of
from lakatos.traces.errors import JournalError
from lakatos.traces.files import INBOX_FILE, JOURNAL_FILE, read_mark
from lakatos.traces.journal import Journal
from lakatos.traces.place import holds_journal, run_folders
from lakatos.traces.stores.sqlite import problem_of
from lakatos.traces.system import is_locked
from lakatos.traces.wording import plural

PASS_FILE = "pass.json"
"""Mark of the last pass that ended by itself. Lost or wrong, it costs one pass that finds nothing to do."""
DROP_FOLDER = "drop"
"""Folder in a run: tables of responses that are put there are imported."""
Ended = Literal["concluded", "waiting"]


@dataclass(frozen=True)
class PendingWork:
    """Pending work of a run, as far as it is known without opening the run."""

    folder: Path
    seq: int
    """Events in its journal; 0 where there is none."""
    n_pending: int
    """Batches in the inbox that no pass has taken."""
    last_batch: int
    """Number of the newest of them; 0 without one."""
    ended: Ended | None
    """End of the last pass, if nothing was written since; None where a pass is unfinished."""
    text: str
    """Last message of that pass: the verdict, or what it waits for."""

    @property
    def due(self) -> bool:
        """Whether a pass would find something to do."""
        return self.ended is None or self.n_pending > 0

    @property
    def reason(self) -> str:
        """Reason why a pass is due, or why none is."""
        if self.seq == 0:
            return "it has not begun"
        if self.n_pending:
            return f"{plural(self.n_pending, 'batch of responses has', 'batches of responses have')} arrived"
        return "it is unfinished" if self.ended is None else f"nothing to do: {self.idle}"

    @property
    def idle(self) -> str:
        """What an idle run waits for, in words; its verdict was printed by the pass that reached it."""
        return "the verdict has been reached" if self.ended == "concluded" else self.text

    @property
    def signature(self) -> str:
        """Changes when, and only when, there is another reason for a pass than before."""
        return digest_of(
            {"seq": self.seq, "n_pending": self.n_pending, "last_batch": self.last_batch}
        )[:16]


def look(folder: Path) -> PendingWork:
    """Look whether a run has something to do; nothing is written, whoever else is at work.

    Raises:
        JournalError: The journal or the inbox cannot be read.
    """
    seq, head = _head(folder)
    n_pending, last_batch = _pending(folder / INBOX_FILE)
    ended: Ended | None = None
    text = ""
    mark = read_mark(folder / PASS_FILE)
    with suppress(KeyError, TypeError):
        if (mark["seq"], mark["hash"]) == (seq, head) and mark["ended"] in ("concluded", "waiting"):
            ended, text = mark["ended"], str(mark["text"])
    return PendingWork(folder, seq, n_pending, last_batch, ended, text)


def mark_pass(folder: Path, ended: Ended, text: str) -> None:
    """Leave the mark that a pass ended by itself at the present end of the journal."""
    seq, head = _head(folder)
    write_whole(
        folder / PASS_FILE, canonical_json({"seq": seq, "hash": head, "ended": ended, "text": text})
    )


def runs_in(runs: Path) -> Iterator[Path]:
    """Folders of the runs in a folder, by name."""
    yield from filter(holds_journal, sorted(run_folders(runs)))


def is_written(folder: Path) -> bool:
    """Whether a pass is writing the journal now, found out without disturbing it."""
    return is_locked(folder / f"{JOURNAL_FILE}.lock")


def _head(folder: Path) -> tuple[int, str]:
    if not holds_journal(folder):
        return 0, ""
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as opened:
        return opened.head


def _pending(inbox: Path) -> tuple[int, int]:
    if not inbox.exists() or not inbox.stat().st_size:
        return 0, 0
    try:
        with closing(
            sqlite3.connect(f"{inbox.absolute().as_uri()}?mode=rw", uri=True, timeout=30)
        ) as connection:
            found = connection.execute(
                "SELECT count(*), coalesce(max(number), 0) FROM batch WHERE taken_utc IS NULL AND payload IS NOT NULL"
            ).fetchone()
    except sqlite3.Error as error:
        raise JournalError(problem_of(error, inbox, "reading")) from error
    return int(found[0]), int(found[1])


# -- telling Prefect -------------------------------------------------------------------------------------------------

ARRIVED = "lakatos.answers.arrived"
"""Event for automations: a run has something to do. Its payload says why and names the run's folder."""


def resource_of(folder: Path) -> str:
    """The resource of the event."""
    return f"lakatos.run.{folder.name}"


def announce(found: PendingWork, attempt: int = 1) -> bool:
    """Tell the configured Prefect server that a run has something to do; without Prefect being imported.

    The same attempt for the same reason has the same event identifier, from whichever process. A server that cannot be
    reached is no error: the responses are in the inbox, and the watching process looks again.

    Returns:
        Whether a server took the event.
    """
    from lakatos.flows.run.engine import CLIENT_SECRET
    from lakatos.flows.run.prefect_server import basic, configured_server

    server = configured_server()
    if server is None or not found.due:
        return False
    import httpx

    event = {
        "id": str(uuid5(NAMESPACE_URL, f"{resource_of(found.folder)}/{found.signature}/{attempt}")),
        "occurred": datetime.now(UTC).isoformat(),
        "event": ARRIVED,
        "resource": {
            "prefect.resource.id": resource_of(found.folder),
            "prefect.resource.name": found.folder.name,
        },
        "payload": {
            "reason": found.reason,
            "n_pending": found.n_pending,
            "run": str(found.folder.resolve()),
        },
    }
    key = os.environ.get("PREFECT_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    auth = basic(os.environ.get(CLIENT_SECRET, ""))
    try:
        answer = httpx.post(
            f"{server.rstrip('/')}/events", json=[event], headers=headers, auth=auth, timeout=5.0
        )
    except httpx.HTTPError:
        return False
    return answer.is_success


# -- files that are dropped --------------------------------------------------------------------------------------------


def dropped(runs: Path, sizes: dict[Path, int]) -> Iterator[tuple[Path, Path]]:
    """Tables that were put into the watched folders of runs and have stopped growing, each with its run.

    Args:
        runs: Folder of the runs.
        sizes: What an earlier call saw; updated. A file is handed out when two calls in turn see the same size.
    """
    seen: dict[Path, int] = {}
    for folder in runs_in(runs):
        for file in sorted((folder / DROP_FOLDER).glob("*")):
            if not file.is_file() or file.name.startswith("."):
                continue
            seen[file] = file.stat().st_size
            if sizes.get(file) == seen[file]:
                yield folder, file
    sizes.clear()
    sizes.update(seen)


def take_dropped(runs: Path, sizes: dict[Path, int], say: Callable[[str], None]) -> int:
    """Import every table that was dropped; what cannot be imported is put aside with the reason.

    Returns:
        The number of files that were imported.
    """
    n_imported = 0
    for folder, file in dropped(runs, sizes):
        # In a process of its own: a damaged file must not end whoever watches, who stays small.
        command = [
            sys.executable,
            "-m",
            "lakatos.flows.commands.main",
            "data",
            "import",
            str(folder),
            str(file),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        problem = (
            ""
            if done.returncode == 0
            else (done.stderr.strip() or f"ended with status {done.returncode}")
        )
        place = put_aside(file, problem)
        n_imported += not problem
        say(
            f"{folder.name}: {f'refused {file.name}: {problem}' if problem else f'imported {file.name}'} ({place})"
        )
    return n_imported


def put_aside(file: Path, problem: str = "") -> Path:
    """Move a dropped table to where imported, or with the problem beside it refused, ones are kept."""
    folder = file.parent / ("refused" if problem else "imported")
    folder.mkdir(exist_ok=True, mode=0o700)
    place, number = folder / file.name, 1
    while place.exists():
        place, number = folder / f"{file.stem}-{number}{file.suffix}", number + 1
    file.replace(place)
    if problem:
        write_whole(place.with_name(f"{place.name}.txt"), f"{problem}\n".encode(), private=True)
    return place
