"""Figures of a laboratory in the text format of Prometheus, read off the runs; nothing is loaded to make them."""

from __future__ import annotations

import contextlib
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from lakatos.flows.run.next_pass import PendingWork, is_written, look, runs_in
from lakatos.traces.errors import TraceError
from lakatos.traces.journal import Journal
from lakatos.traces.step import JOURNAL_FILE

Sample = tuple[str, float]
"""Name of a run (empty for the whole laboratory) and a value."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def metrics(runs: Path, now: Callable[[], float] = time.time) -> str:
    """Everything that is told about the runs in a folder.

    Args:
        runs: Folder of the runs; one that cannot be read is counted as such and does not hide the others.
        now: Seconds since 1970.
    """
    looks: list[PendingWork] = []
    n_unreadable = 0
    times: dict[str, float] = {}
    for folder in runs_in(runs):
        try:
            looks.append(look(folder))
            times[folder.name] = _last_time(folder)
        except (TraceError, OSError):
            n_unreadable += 1
    names = [(found.folder.name, found) for found in looks]
    begun = now()
    usage = shutil.disk_usage(runs if runs.exists() else Path.cwd())
    families: list[tuple[str, str, str, list[Sample]]] = [
        ("runs", "gauge", "Runs that can be read.", [("", len(looks))]),
        ("runs_unreadable", "gauge", "Runs that cannot be read.", [("", n_unreadable)]),
        (
            "run_records",
            "gauge",
            "Events in the journal.",
            [(name, found.seq) for name, found in names],
        ),
        (
            "run_due",
            "gauge",
            "1 if a pass would find something to do.",
            [(name, found.due) for name, found in names],
        ),
        (
            "run_concluded",
            "gauge",
            "1 if the last pass ended with a verdict that still stands.",
            [(name, found.ended == "concluded" and not found.due) for name, found in names],
        ),
        (
            "run_waiting",
            "gauge",
            "1 if the run waits for people.",
            [(name, found.ended == "waiting" and not found.due) for name, found in names],
        ),
        (
            "run_busy",
            "gauge",
            "1 if a pass is writing now.",
            [(name, is_written(found.folder)) for name, found in names],
        ),
        (
            "run_batches_pending",
            "gauge",
            "Batches of answers that no pass has taken.",
            [(name, found.n_pending) for name, found in names],
        ),
        (
            "run_last_record_seconds",
            "gauge",
            "Seconds since the newest event; negative where a clock was set back.",
            [(name, begun - times[name]) for name, _ in names if name in times],
        ),
        ("disk_free_bytes", "gauge", "Free space where the runs are.", [("", usage.free)]),
    ]
    lines = []
    for family, kind, words, samples in families:
        lines += [f"# HELP lakatos_{family} {words}", f"# TYPE lakatos_{family} {kind}"]
        lines += [f"lakatos_{family}{_labels(run)} {float(value):.10g}" for run, value in samples]
    return "\n".join(lines) + "\n"


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
    from lakatos.flows.run.ports import listen

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
            self.send_header("Content-Type", CONTENT_TYPE)
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
