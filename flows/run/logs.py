"""Events as lines of JSON, for machines that collect logs: ``LAKATOS_LOG=json``.

Every line has ``time`` (ISO 8601, UTC), ``level``, ``event`` and what belongs to that event. Names and texts come from
theories and models; JSON escapes what could disturb a terminal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TextIO

from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.progress import CampaignProgress, ProgressEvent, ProgressSink, display

VARIABLE = "LAKATOS_LOG"


def wanted() -> bool:
    """Whether lines of JSON are asked for."""
    return os.environ.get(VARIABLE, "").lower() == "json"


def line(event: str, level: str = "info", **values: Any) -> str:
    """One event as a line of JSON, with its time and level."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": now, "level": level, "event": event, **values}, default=str)


def json_lines(stream: TextIO | None = None, **always: Any) -> ProgressSink:
    """A sink that writes a campaign's progress as lines of JSON; ``always`` stands in each of them."""
    to = stream or sys.stderr

    def write(event: ProgressEvent) -> None:
        if event.kind != "left":
            to.write(line(event.kind, **always, **_values(event)) + "\n")
            to.flush()

    return write


def _values(event: ProgressEvent) -> dict[str, Any]:
    """Return the values that a line states about an event, by its names in these logs."""
    match event.kind:
        case "campaign":
            return {"question": event.text, "n_cycles": event.n_cycles}
        case "stage":
            return {"cycle": event.cycle, "stage": event.text, "detail": event.detail}
        case "rivals":
            return {"names": event.names}
        case "leaderboard":
            return {"rows": [asdict(row) for row in event.rows]}
        case _:
            return {"text": event.text}


def progress(**always: Any) -> CampaignProgress:
    """Lines of JSON where they are asked for, else what suits the terminal.

    Args:
        always: Stands in every line, such as the name of the run.
    """
    return CampaignProgress(json_lines(**always) if wanted() else display())


def speaker() -> Callable[[str], None]:
    """Return the function by which a long-running command reports what happens."""
    if wanted():

        def say(text: str) -> None:
            sys.stderr.write(line("said", text=text) + "\n")
            sys.stderr.flush()

        return say
    console = Console(soft_wrap=True)
    return lambda text: console.print(
        f"{datetime.now(UTC):%H:%M:%S} {escape(text)}", highlight=False
    )
