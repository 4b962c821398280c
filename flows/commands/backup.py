"""The commands that keep a laboratory safe and watched: `backup`, `restore` and `metrics`."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from lakatos.flows.argument import Argument
from lakatos.flows.audit.audit import audit
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.operations.backup import BackupContents, restore, save
from lakatos.flows.operations.metrics import metrics, serve_metrics
from lakatos.flows.result import PlainText, Sentences
from lakatos.flows.run.console import Console, escape
from lakatos.traces.home import home
from lakatos.traces.wording import plural


def back_up(out: Path | None = None, *, runs: RunsFolder = Path("runs")) -> Sentences:
    """Copy all runs into one archive, also while they are in use.

    Args:
        out: Archive to write; its name contains the time by default.

    Examples:
        $ lakatos backup laboratory.tar.gz
        >>> lakatos.flows.operations.backup.save(runs, out)  # doctest: +SKIP
    """
    made = save(runs, out or Path(f"lakatos-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz"))
    return Sentences(
        f"{escape(str(made.path))}: {_size(made)}. It holds the responses of participants and "
        "any identifiers; protect it as you protect those. It does not hold the laboratory's signing key, heads and "
        f"audits, which are in {escape(str(home()))}: copy that folder to a safe place, too."
    )


def restore_runs(archive: Path, *, runs: Path, check: bool = True) -> Sentences:
    """Unpack a backup into a new folder and audit it.

    Args:
        archive: Archive that `lakatos backup` wrote.
        runs: Folder to restore into; must be new or empty.
        check: Audit every run afterwards, without recomputing scores.

    Examples:
        $ lakatos restore laboratory.tar.gz --runs restored
        >>> lakatos.flows.operations.backup.restore(archive, runs)  # doctest: +SKIP
    """
    made = restore(archive, runs)
    audits = [audit(runs / name, recompute=False) for name in made.runs if check]
    verdicts = {True: "the audit passes", False: "[red]the audit fails[/red]"}
    return Sentences(
        f"{escape(str(runs))}: {_size(made)}",
        *(f"{escape(found.folder.name)}: {verdicts[found.passed]}" for found in audits),
        exit_status=0 if all(found.passed for found in audits) else 1,
    )


def _size(made: BackupContents) -> str:
    """State how much an archive holds."""
    runs, files = plural(len(made.runs), "run"), plural(made.n_files, "file")
    return f"{runs}, {files}, {made.n_bytes / 2**20:.1f} MiB"


def show_metrics(
    *,
    runs: RunsFolder = Path("runs"),
    port: Annotated[int, Argument(least=0)] = 0,
    host: str = "127.0.0.1",
) -> PlainText:
    """Print or serve metrics of all runs for Prometheus.

    Args:
        port: Port on which metrics are served until stopped; 0 prints them once.
        host: Address to listen on.

    Examples:
        $ lakatos metrics --port 8002
        >>> lakatos.flows.operations.metrics.metrics(runs)  # doctest: +SKIP
    """
    if not port:
        return PlainText(metrics(runs))
    with serve_metrics(runs, host, port) as served:
        Console().print(f"http://{host}:{served}/metrics; Ctrl-C stops", highlight=False)
        while True:
            time.sleep(3600)
