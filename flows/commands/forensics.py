"""The commands `evaluate`, `rewind` and `export`: what to make of a run afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from lakatos.flows.argument import Argument, NamedRunFolder, RunFolder
from lakatos.flows.branches.branch import parse_edit
from lakatos.flows.branches.process import ProcessEvaluation
from lakatos.flows.branches.process import evaluate as evaluate_run
from lakatos.flows.branches.rewind import RewindResult
from lakatos.flows.branches.rewind import rewind as rewind_run
from lakatos.flows.commands.options import DataFolder
from lakatos.flows.errors import RewindError
from lakatos.flows.export.crate import write_crate
from lakatos.flows.export.evaluation_log import write_logs
from lakatos.flows.export.provenance import write_prov
from lakatos.flows.export.spans import send_spans
from lakatos.flows.export.tables import write_tables
from lakatos.flows.operations.people_export import note_export
from lakatos.flows.report.report import write_report
from lakatos.flows.result import PlainText, Written
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.taking_part import check_published
from lakatos.traces.artifact import whole_folder

Workers = Annotated[int, Argument(help="Theories that run at the same time.", least=1)]
Form = Literal["crate", "prov", "otel", "inspect", "html", "tables"]


def evaluate(folder: RunFolder) -> ProcessEvaluation:
    """Evaluate how a run was conducted: repeated calls, unused results, unsupported claims, cost.

    Exit status 1 if a rule is broken. In Python: `lakatos.flows.branches.process.evaluate(folder)`.

    Args:
        folder: The run's folder.

    Examples:
        $ lakatos evaluate allais-1
    """
    return evaluate_run(folder)


def rewind(
    folder: NamedRunFolder,
    *,
    at: str = "",
    set_field: Annotated[list[str] | None, Argument(flag="--set")] = None,
    repeats: Annotated[int, Argument(least=1)] = 20,
    outcome: str = "same_leader",
    effects: Literal["recorded", "live"] = "recorded",
    data: DataFolder = None,
    workers: Workers = 2,
) -> RewindResult:
    """Branch a run with one change and compare the branches by an exact test; branches never recruit participants.

    In Python: `lakatos.flows.branches.rewind.rewind(folder, at, edits, repeats=...)`.

    Args:
        folder: The run's folder.
        at: A record, by its number in the journal or the beginning of its digest.
        set_field: Change of a field, as FIELD=VALUE.
        repeats: Number of replays with each change and without it.
        outcome: Outcome that is compared: same_leader, holds, new_leader or recovered.
        effects: Whether recorded calls of language models are reused, or all are repeated.

    Examples:
        $ lakatos rewind demo-1 --at 1 --set config.seed=7
    """
    quiet = Console(stderr=True)

    def tell(text: str) -> None:
        quiet.print(escape(text), highlight=False)

    if not at:
        raise RewindError("name a record with --at RECORD.")
    edits = [parse_edit(text) for text in set_field or ()]
    return rewind_run(
            folder, at, edits, repeats=repeats, outcome=outcome, effects=effects, data=data, n_workers=workers,
            progress=tell,
    )  # fmt: skip


def export(
    folder: RunFolder,
    *,
    to: Form,
    out: Path | None = None,
    endpoint: str = "http://127.0.0.1:4318",
    contents: bool = False,
    author: str = "",
    licence: str = "",
) -> Written | PlainText:
    """Write a run in the format of other software, without identifiers and without withdrawn participants.

    In Python: `flows.export`.

    Args:
        folder: The run's folder.
        to: crate (RO-Crate with PROV), prov, otel, inspect, html, tables (CSV).
        out: File or folder to write.
        endpoint: otel: address of the collector.
        contents: otel: include prompts and answers of language models.
        author: crate: responsible author; an ORCID address may precede the name.
        licence: crate: address of the licence.

    Examples:
        $ lakatos export allais-1 --to tables --out tables
    """
    place = out or folder / "exports" / to
    check_published(folder)
    if to == "otel":
        n = send_spans(folder, endpoint, contents=contents)
        note_export(folder, endpoint)
        return PlainText(f"{n} spans sent to {endpoint}")
    write: dict[str, Callable[[], Path | list[Path]]] = {
        "crate": lambda: write_crate(folder, place, author=author, licence=licence),
        "prov": lambda: write_prov(folder, out or folder / "prov.json"),
        "inspect": lambda: write_logs(folder, place),
        "html": lambda: write_report(folder, out),
        "tables": lambda: write_tables(folder, place),
    }
    with whole_folder(place):
        written = write[to]()
    if out is not None:
        note_export(folder, out)
    return Written(*(written if isinstance(written, list) else [written]))
