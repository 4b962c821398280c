"""Commands on the trace: audit a run or a bundle, make a bundle, and publish what was signed on a day."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from lakatos.flows.argument import Argument, RunFolder, Workers
from lakatos.flows.audit.audit import SAMPLE, HowMuch, RunAudit, audit, keep
from lakatos.flows.audit.bundle import bundle, unbundle
from lakatos.flows.commands.options import DataFolder, RunsFolder
from lakatos.flows.errors import UnusableError
from lakatos.flows.operations.people_export import note_export
from lakatos.flows.operations.report_page import (
    check_report,
    is_report,
    opened,
    run_name,
    source_of,
)
from lakatos.flows.result import Sentences
from lakatos.flows.run.console import escape
from lakatos.flows.run.places import find_run
from lakatos.traces.anchor import anchor_file, check_stamping, stamp, stamped_at, write_anchor
from lakatos.traces.errors import TraceError
from lakatos.traces.head import known_key
from lakatos.traces.place import holds_journal


def audit_run(
    run: Annotated[str, Argument(metavar="run")] = "",
    *,
    runs: RunsFolder = Path("runs"),
    recompute: HowMuch = "all",
    sample: Annotated[int, Argument(least=1)] = SAMPLE,
    key: str = "",
    of: str = "",
    data: DataFolder = None,
    workers: Workers = 2,
) -> RunAudit:
    """Check that a run was not changed and followed its rules, and recompute every score.

    Exit status 1 if a check fails; 3 if none fails but some numbers could not be recomputed on this machine.

    Args:
        run: Name of a run in the runs folder, its path, a bundle, or a report; the newest run by default.
        recompute: Records to recompute.
        sample: Number of steps in a sample.
        key: Public key that signed the heads; the key of this laboratory by default.
        of: Run (its name or path) or bundle with which a report is compared; by default the one in the same folder.
        workers: Theories that run at the same time. Does not change results.

    Examples:
        $ lakatos audit allais-1
        $ lakatos audit allais-1.bundle.zip --recompute sample
        $ lakatos audit report.html --of allais-1.bundle.zip
        >>> lakatos.flows.audit.audit.audit(folder)  # doctest: +SKIP
    """

    def look(folder: Path, signed_by: str | None, *, is_copy: bool = False) -> RunAudit:
        return audit(
            folder,
            recompute=recompute,
            n_sampled=sample,
            key=signed_by,
            data=data,
            n_workers=workers,
            is_copy=is_copy,
        )

    if of and not (run and is_report(Path(run))):
        raise UnusableError(
            "--of names the run or the bundle of a report; name the report's file, too."
        )
    if run and is_report(Path(run)):
        page = Path(run)
        named = str(find_run(of, runs)) if of and not Path(of).is_file() else of
        source = source_of(page, named)
        is_copy = not holds_journal(source)
        signed_by = key if is_copy else (key or None)
        with opened(source, run_name(page)) as folder:
            found = look(folder, signed_by, is_copy=is_copy)
            written = check_report(page, folder, signed_by, is_copy=is_copy)
            return replace(found, findings=(*found.findings, written))
    if run and Path(run).is_file() and zipfile.is_zipfile(run):
        with tempfile.TemporaryDirectory(prefix="lakatos-bundle-") as name:
            # Whose key it is, the bundle's own verification says; another laboratory's is no fault.
            return look(unbundle(Path(run), Path(name) / Path(run).stem), key, is_copy=True)
    found = look(find_run(run, runs), key or None)
    try:
        keep(found, recompute)
    except (
        TraceError
    ) as error:  # an audit that cannot be kept for the observatory is an audit all the same
        return replace(found, notes=(f"the audit is not kept: {error}",))
    return found


def bundle_run(folder: RunFolder, *, out: Path | None = None) -> Sentences:
    """Write one signed archive of a run that others can verify with Python alone and recompute.

    Args:
        folder: The run's folder.
        out: File to write; NAME.bundle.zip here by default.

    Examples:
        $ lakatos bundle allais-1 --out allais.zip
        >>> lakatos.flows.audit.bundle.bundle(folder, out)  # doctest: +SKIP
    """
    written = bundle(folder, out or Path(f"{folder.resolve().name}.bundle.zip"))
    note_export(folder, written)
    return Sentences(
        f"bundle: {escape(str(written))} ({written.stat().st_size / 2**20:.1f} MiB)",
        f"anybody verifies it with: python3 {escape(written.name)}",
        f"publish this key beside it: {known_key()}",
    )


def publish_anchor(day: str = "", *, server: str = "", trusted: Path | None = None) -> Sentences:
    """Write the digests that journals had at the end of a day to a file for publication, as evidence of their dates.

    Args:
        day: Day that is over (UTC), as YYYY-MM-DD; yesterday by default.
        server: Address of a time stamp server (RFC 3161) to stamp the file.
        trusted: Certificates (PEM) to verify the file's time stamp with.

    Examples:
        $ lakatos anchor 2026-05-04
        >>> lakatos.traces.anchor.write_anchor(day)  # doctest: +SKIP
    """
    try:
        chosen = date.fromisoformat(day) if day else datetime.now(UTC).date() - timedelta(days=1)
    except ValueError as error:
        raise typer.BadParameter(
            f"{day!r} is no day; write YYYY-MM-DD", param_hint="DAY"
        ) from error
    check_stamping(chosen, server, trusted)
    is_new = not anchor_file(chosen).exists()
    path = write_anchor(chosen)
    try:
        stamped = stamp(path, server) if server else None
    except TraceError:
        if is_new:
            path.unlink()  # nobody has it yet
            with suppress(OSError):
                path.parent.rmdir()  # unless it holds others
        raise

    def done() -> Iterator[str]:
        yield f"publish this file, for example in a repository of the laboratory: {escape(str(path))}"
        if stamped is not None:
            yield f"stamped by {escape(server)}: {escape(str(stamped))}"
        if trusted is not None:
            when = stamped_at(path, trusted).isoformat()
            yield f"stamped at {when}, as {escape(str(trusted))} vouches for"

    return Sentences(*done())
