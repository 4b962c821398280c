"""The commands that keep a laboratory safe and watched: `backup`, `restore` and `metrics`."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.flows.operations.backup import BackupContents


def backup_command(out: Path | None = None, *, runs: RunsFolder = Path("runs")) -> None:
    """Copy all runs, also while they are in use, into one archive.

    In Python: `lakatos.flows.operations.backup.save(runs, out)`.

    Args:
        out: Archive to write; named after the time by default.

    Examples:
        $ lakatos backup laboratory.tar.gz
    """
    from lakatos.flows.operations.backup import save

    made = save(runs, out or Path(f"lakatos-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz"))
    Console().print(
        f"{escape(str(made.path))}: {_size(made)}. It "
        "holds people's answers, and identifiers where there are some: keep it as you keep those.",
        soft_wrap=True,
    )


def restore_command(archive: Path, *, runs: Path, check: bool = True) -> None:
    """Unpack a backup into a new folder and audit it.

    In Python: `lakatos.flows.operations.backup.restore(archive, runs)`.

    Args:
        archive: A backup.
        runs: Folder to restore into; must be new or empty.
        check: Audit every run afterwards, without computing scores anew.

    Examples:
        $ lakatos restore laboratory.tar.gz --runs restored
    """
    from lakatos.flows.operations.backup import restore

    console = Console(soft_wrap=True)
    made = restore(archive, runs)
    console.print(f"{escape(str(runs))}: {_size(made)}")
    if not check:
        return
    from lakatos.flows.audit.audit import audit

    failed = 0
    for name in made.runs:
        found = audit(runs / name, recompute=False)
        failed += not found.passed
        console.print(
            f"{escape(name)}: {'the audit passes' if found.passed else '[red]the audit fails[/red]'}"
        )
    if failed:
        raise typer.Exit(1)


def _size(made: BackupContents) -> str:
    """How much an archive holds."""
    runs, files = plural(len(made.runs), "run"), plural(made.n_files, "file")
    return f"{runs}, {files}, {made.n_bytes / 2**20:.1f} MiB"


def metrics_command(
    *,
    runs: RunsFolder = Path("runs"),
    port: Annotated[int, Argument(least=0)] = 0,
    host: str = "127.0.0.1",
) -> None:
    """Print or serve figures of all runs for Prometheus.

    In Python: `lakatos.flows.operations.metrics.metrics(runs)`.

    Args:
        port: Serve them there until stopped; 0 prints them once.
        host: Address to listen on.

    Examples:
        $ lakatos metrics --port 8002
    """
    from lakatos.flows.operations.metrics import metrics, serve_metrics

    if not port:
        sys.stdout.write(metrics(runs))
        return
    with serve_metrics(runs, host, port) as served:
        Console().print(f"http://{host}:{served}/metrics; Ctrl-C stops", highlight=False)
        while True:
            time.sleep(3600)
