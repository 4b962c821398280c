"""Commands on the trace: audit a run or a bundle, and make a bundle."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import DataFolder, RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run

if TYPE_CHECKING:
    from lakatos.flows.audit.audit import HowMuch, RunAudit

MARKS = {"passed": "[green]passed[/green]", "failed": "[red]FAILED[/red]", "withdrawn": "[yellow]withdrawn[/yellow]",
         "skipped": "[yellow]skipped[/yellow]", "counterfactual": "[yellow]counterfactual[/yellow]"}  # fmt: skip


def audit_command(
    run_name: Annotated[str, Argument(metavar="run")] = "",
    *,
    runs: RunsFolder = Path("runs"),
    recompute: str = "all",
    sample: Annotated[int, Argument(least=1)] = 20,
    as_machine: Annotated[bool, Argument(flag="--json")] = False,
    key: str = "",
    data: DataFolder = None,
    workers: Annotated[int, Argument(least=1)] = 2,
) -> None:
    """Check a run: chain, artifacts, heads, order, validity, rules, budgets, and every number computed anew.

    Exit status 1 if anything fails, 3 if nothing does but numbers could not be computed again here.
    In Python: `lakatos.flows.audit.audit.audit(folder)`.

    Args:
        run_name: Name of a run in the runs folder, its path, or a bundle; the newest by default.
        recompute: all, none, or sample: which records are computed again.
        sample: Steps of a sample.
        as_machine: One JSON object instead of lines.
        key: Public key that signed the heads; this laboratory's by default.
        workers: Theories that run at the same time.

    Examples:
        $ lakatos audit allais-1
        $ lakatos audit allais-1.bundle.zip --recompute sample
    """
    place = Path(run_name) if run_name and zipfile.is_zipfile(run_name) else None
    folder = find_run(run_name, runs) if place is None else None
    from lakatos.flows.audit.audit import EXIT_STATUS, as_json, audit

    if recompute not in ("all", "none", "sample"):
        raise typer.BadParameter(
            f"{recompute!r} is none of all, sample, none", param_hint="--recompute"
        )
    how: HowMuch = recompute  # type: ignore[assignment]

    def look(folder: Path, signed_by: str | None) -> RunAudit:
        return audit(
            folder, recompute=how, n_sampled=sample, key=signed_by, data=data, n_workers=workers
        )

    if folder is not None:
        found = look(folder, key or None)
        _keep(found, how)
    else:
        assert place is not None
        from lakatos.flows.audit.bundle import unbundle

        with tempfile.TemporaryDirectory(prefix="lakatos-bundle-") as name:
            # Whose key it is, the bundle's own verification says; another laboratory's is no fault.
            found = look(unbundle(place, Path(name) / place.stem), key)
    if as_machine:
        sys.stdout.write(as_json(found) + "\n")
    else:
        _show(found)
    if status := EXIT_STATUS[found.outcome]:
        raise typer.Exit(status)


def _keep(found: RunAudit, how: HowMuch) -> None:
    """Keep an audit for the observatory; one that cannot be kept is an audit all the same."""
    from lakatos.flows.audit.audit import keep
    from lakatos.traces.errors import TraceError

    try:
        keep(found, how)
    except TraceError as error:
        Console(stderr=True, soft_wrap=True).print(f"the audit is not kept: {escape(str(error))}")


def _show(found: RunAudit) -> None:
    from lakatos.flows.audit.audit import VERDICTS, signed_list

    console = Console(soft_wrap=True)
    for item in found.findings:
        console.print(f"{MARKS[item.state]}  {escape(item.name)}: {escape(item.detail)}")
    rest = signed_list(found).splitlines()[len(found.findings) :]
    for line in rest:
        colour = {VERDICTS["fails"]: "red", VERDICTS["not recomputed"]: "yellow"}.get(line)
        console.print(f"[{colour}]{escape(line)}[/{colour}]" if colour else escape(line))


def bundle_command(
    run_name: Annotated[str, Argument(metavar="run")] = "",
    *,
    runs: RunsFolder = Path("runs"),
    out: Path | None = None,
) -> None:
    """Write one signed archive of a run that anybody can verify with Python alone, and compute again.

    In Python: `lakatos.flows.audit.bundle.bundle(folder, out)`.

    Args:
        run_name: Name of a run in the runs folder, or its path; newest by default.
        out: File to write; NAME.bundle.zip here by default.

    Examples:
        $ lakatos bundle allais-1 --out allais.zip
    """
    from lakatos.flows.audit.bundle import bundle
    from lakatos.traces.head import known_key

    folder = find_run(run_name, runs)
    written = bundle(folder, out or Path(f"{folder.resolve().name}.bundle.zip"))
    console = Console(soft_wrap=True)
    console.print(f"bundle: {escape(str(written))} ({written.stat().st_size / 2**20:.1f} MiB)")
    console.print(
        f"anybody verifies it with: python3 {escape(written.name)}\npublish this key beside it: {known_key()}"
    )


def anchor_command(day: str = "", *, server: str = "", trusted: Path | None = None) -> None:
    """Write what was signed on a day into a file to be published, so that nothing can be backdated to it later.

    In Python: `traces.anchor.write_anchor(day)`.

    Args:
        day: Day that is over (UTC), as YYYY-MM-DD; yesterday by default.
        server: Address of a time stamp server (RFC 3161) to stamp the file.
        trusted: Certificates (PEM) to verify the file's time stamp with.

    Examples:
        $ lakatos anchor 2026-05-04
    """
    from datetime import UTC, date, datetime, timedelta

    from lakatos.traces.anchor import stamp, stamped_at, write_anchor

    try:
        chosen = date.fromisoformat(day) if day else datetime.now(UTC).date() - timedelta(days=1)
    except ValueError as error:
        raise typer.BadParameter(
            f"{day!r} is no day; write YYYY-MM-DD", param_hint="DAY"
        ) from error
    path = write_anchor(chosen)
    console = Console(soft_wrap=True)
    console.print(
        f"publish this file, for example in a repository of the laboratory: {escape(str(path))}"
    )
    if server:
        console.print(f"stamped by {escape(server)}: {escape(str(stamp(path, server)))}")
    if trusted is not None:
        console.print(
            f"stamped at {stamped_at(path, trusted).isoformat()}, as {escape(str(trusted))} vouches for"
        )
