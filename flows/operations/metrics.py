"""Figures of a laboratory in the text format of Prometheus, read off the runs; nothing is loaded to make them."""

from __future__ import annotations

import contextlib
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from lakatos.flows.run.next_pass import PendingWork, is_written, look, runs_in
from lakatos.flows.run.taking_part import TakingPart, taking_part
from lakatos.traces.errors import TraceError
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE

Sample = tuple[str, float]
"""Name of a run (empty for the whole laboratory) and a value."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text"
OPEN_METRICS_TYPE = f"{OPEN_METRICS}; version=1.0.0; charset=utf-8"
"""The same text for programs that ask for OpenMetrics; its last line is a comment to all others."""


def metrics(runs: Path, now: Callable[[], float] = time.time) -> str:
    """Everything that is told about the runs in a folder.

    Args:
        runs: Folder of the runs; one that cannot be read is counted as such and does not hide the others.
        now: Seconds since 1970.
    """
    looks: list[PendingWork] = []
    people: dict[str, TakingPart] = {}
    n_unreadable = 0
    times: dict[str, float] = {}
    for folder in runs_in(runs):
        try:
            found = look(folder)
            times[folder.name] = _last_time(folder)
            people[folder.name] = taking_part(folder)
            looks.append(found)
        except (TraceError, OSError):
            n_unreadable += 1
    begun = now()
    usage = shutil.disk_usage(runs if runs.exists() else Path.cwd())
    ages = [
        (found.folder.name, begun - times[found.folder.name])
        for found in looks
        if found.folder.name in times
    ]
    families: list[tuple[str, str, Iterable[Sample]]] = [
        ("runs", "Runs that can be read.", [("", len(looks))]),
        ("runs_unreadable", "Runs that cannot be read.", [("", n_unreadable)]),
        *(
            (family, words, [(found.folder.name, value_of(found)) for found in looks])
            for family, words, value_of in _OF_A_RUN
        ),
        (
            "run_last_record_seconds",
            "Seconds since the newest event; negative where a clock was set back.",
            ages,
        ),
        *(
            (
                f"run_participants_{name}",
                words,
                [(run, getattr(found, name)) for run, found in people.items()],
            )
            for name, words in _OF_PEOPLE.items()
        ),
        ("disk_free_bytes", "Free space where the runs are.", [("", usage.free)]),
    ]
    lines = []
    for family, words, samples in families:
        lines += [f"# HELP lakatos_{family} {words}", f"# TYPE lakatos_{family} gauge"]
        lines += [f"lakatos_{family}{_labels(run)} {float(value):.10g}" for run, value in samples]
    return "\n".join([*lines, "# EOF"]) + "\n"


_OF_PEOPLE = {
    "invited": "Invitations that were made.",
    "started": "Participants who began, or whose responses arrived.",
    "completed": "Participants who completed an experiment.",
    "excluded": "Participants whom preregistered rules exclude.",
}
"""Numbers of participants, by name."""
_OF_A_RUN: tuple[tuple[str, str, Callable[[PendingWork], float]], ...] = (
    ("run_records", "Events in the journal.", lambda found: found.seq),
    ("run_due", "1 if a pass would find something to do.", lambda found: found.due),
    (
        "run_concluded",
        "1 if the last pass ended with a verdict that still stands.",
        lambda found: found.ended == "concluded" and not found.due,
    ),
    (
        "run_waiting",
        "1 if the run waits for participants.",
        lambda found: found.ended == "waiting" and not found.due,
    ),
    ("run_busy", "1 if a pass is writing now.", lambda found: is_written(found.folder)),
    (
        "run_batches_pending",
        "Batches of responses that no pass has taken.",
        lambda found: found.n_pending,
    ),
)
"""Gauges that every run has: name, words, and how the value is read."""


def _labels(run_name: str) -> str:
    escaped = run_name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'{{run="{escaped}"}}' if run_name else ""


def _last_time(folder: Path) -> float:
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        row = journal.store.last()
    return datetime.fromisoformat(row.time_utc).timestamp() if row else time.time()


@contextlib.contextmanager
def serve_metrics(
    runs: Path, host: str = "127.0.0.1", port: int = 0, listener: socket.socket | None = None
) -> Iterator[int]:
    """Serve ``/metrics`` from a thread while the context lasts; gives the port.

    Args:
        runs: Folder of the runs.
        host: Address to listen on.
        port: To listen on; 0 for one that is free.
        listener: A listening socket that takes the place of host and port.

    Raises:
        FlowError: The port is taken.
    """
    from lakatos.experiments.participants.web.door import REQUEST_SECONDS, is_named
    from lakatos.flows.operations.ports import listen

    class Handler(BaseHTTPRequestHandler):
        timeout = REQUEST_SECONDS

        def do_GET(self) -> None:
            if not is_named(self.headers.get("Host", "")):
                self.send_error(421)
                return
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404)
                return
            body = metrics(runs).encode()
            self.send_response(200)
            is_open = OPEN_METRICS in self.headers.get("Accept", "")
            self.send_header("Content-Type", OPEN_METRICS_TYPE if is_open else CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Scrapes are not worth a line."""

    opened = listener or listen(host, port, "metrics")
    server = ThreadingHTTPServer(opened.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket, server.daemon_threads = opened, True
    thread = threading.Thread(
        target=server.serve_forever, args=(0.05,), name="metrics", daemon=True
    )
    thread.start()
    try:
        yield opened.getsockname()[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
