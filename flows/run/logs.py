"""What happens as lines of JSON, for machines that collect logs: ``LAKATOS_LOG=json``.

Every line has ``time`` (ISO 8601, UTC), ``level``, ``event`` and what belongs to that event. Names and texts come from
theories and models; JSON escapes what could disturb a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.progress import CampaignProgress, LeaderRow, SilentProgress, choose_progress

VARIABLE = "LAKATOS_LOG"


def wanted() -> bool:
    """Whether lines of JSON are asked for."""
    return os.environ.get(VARIABLE, "").lower() == "json"


def line(event: str, level: str = "info", **values: Any) -> str:
    """One event as a line of JSON, with its time and level."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, "level": level, "event": event, **values}, default=str)


class JsonProgress(SilentProgress):
    """A campaign's progress as lines of JSON."""

    def __init__(self, stream: TextIO | None = None, **always: Any) -> None:
        self._stream, self._always = stream or sys.stderr, always

    def _write(self, event: str, level: str = "info", **values: Any) -> None:
        self._stream.write(line(event, level, **self._always, **values) + "\n")
        self._stream.flush()

    def start(self, title: str, n_cycles: int) -> None:
        """``campaign``: the question and the budget."""
        self._write("campaign", question=title, n_cycles=n_cycles)

    def stage(self, cycle: int, name: str, detail: str = "") -> None:
        """Write the event ``stage``: a stage of a cycle begins."""
        self._write("stage", cycle=cycle, stage=name, detail=detail)

    def rivals(self, names: Sequence[str]) -> None:
        """Write the event ``rivals``: the names of the theories that compete."""
        self._write("rivals", names=list(names))

    def leaderboard(self, rows: Sequence[LeaderRow]) -> None:
        """Write the event ``leaderboard``: all standings, the best first."""
        keys = ("name", "nats", "error", "tied")
        self._write("leaderboard", rows=[{key: getattr(row, key) for key in keys} for row in rows])

    def note(self, text: str) -> None:
        """``note``: something to read later."""
        self._write("note", text=text)

    def waiting(self, text: str) -> None:
        """``waiting``: for a server, or for people."""
        self._write("waiting", text=text)

    def finish(self, text: str) -> None:
        """``finished``: the verdict, or what is waited for."""
        self._write("finished", text=text)


def progress(**always: Any) -> CampaignProgress:
    """Lines of JSON where they are asked for, else what suits the terminal.

    Args:
        always: Stands in every line, such as the name of the run.
    """
    return JsonProgress(**always) if wanted() else choose_progress()


def speaker() -> Callable[[str], None]:
    """How a command that goes on for long says what happens."""
    if wanted():

        def say(text: str) -> None:
            sys.stderr.write(line("said", text=text) + "\n")
            sys.stderr.flush()

        return say
    console = Console(soft_wrap=True)
    return lambda text: console.print(
        f"{datetime.now(UTC):%H:%M:%S} {escape(text)}", highlight=False
    )
