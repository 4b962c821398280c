"""The commands `theories`, `doctor`, `report` and `status`: look at what there is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import RunName, RunsFolder
from lakatos.flows.commands.status_view import show_status
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run


def theories(domain: str = "", *, source: str = "", mechanisms: bool = False) -> None:
    """Published theories by domain, as study files name them.

    Args:
        domain: A domain, or a file that declares one; all by default.
        source: Print the source of this theory.
        mechanisms: List the mechanisms of the grammar too.

    Examples:
        $ lakatos theories risky
        $ lakatos theories --source hyperbolic > mine.py
    """
    from lakatos.domains import FAMILIES, open_domain
    from lakatos.flows.errors import StudyError
    from lakatos.theories.language.family import find_family
    from lakatos.theories.language.theory import read_program

    console = Console()
    for family in [find_family(open_domain(domain))] if domain else FAMILIES.values():
        if source:
            if source in family.seeds:
                sys.stdout.write(family.program(source).source)
                return
            continue
        table = Table("name", "title", "claim", title=f"{family.domain}: published theories")
        for name in family.seeds:
            theory = read_program(family.program(name))
            table.add_row(name, escape(theory.name), escape(theory.claim))
        console.print(table)
        if mechanisms:
            parts = Table(
                "slot", "mechanism", "people ...", "source", title=f"{family.domain}: mechanisms"
            )
            for item in family.grammar.mechanisms:
                parts.add_row(item.slot, item.name, escape(item.claim), escape(item.citation))
            console.print(parts)
    if source:
        raise StudyError(f"there is no theory {source!r}; `lakatos theories` lists them.")


def doctor(*, runs: RunsFolder = Path("runs"), model_server: str = "") -> None:
    """What this machine offers: versions, sandbox layers, programs, database, ports, servers, disk and clock.

    Exit status 1 if something is wrong. In Python: `lakatos.flows.operations.doctor.examine(runs)`.

    Args:
        model_server: Address of a server of language models, with /v1.

    Examples:
        $ lakatos doctor
    """
    from lakatos.flows.operations.doctor import examine

    console = Console()
    found = examine(runs, model_server=model_server)
    for line in found:
        mark = {
            "ok": "[green]ok[/green]     ",
            "missing": "[yellow]missing[/yellow]",
            "wrong": "[red]wrong[/red]  ",
        }
        console.print(
            f"{mark[line.state]}  {escape(line.name)}: {escape(line.detail)}", soft_wrap=True
        )
    if any(line.state == "wrong" for line in found):
        raise typer.Exit(1)


def report(
    run_name: RunName = "", *, runs: RunsFolder = Path("runs"), out: Path | None = None
) -> None:
    """Write the report: one HTML file that holds everything a reader needs.

    In Python: `lakatos.flows.report.report.write_report(folder)`.

    Args:
        out: File to write; report.html in the run by default.

    Examples:
        $ lakatos report allais-1 --out allais.html
    """
    folder = find_run(run_name, runs)
    from lakatos.flows.report.report import write_report

    Console().print(f"report: {escape(str(write_report(folder, out)))}")


def status(
    run_name: Annotated[str, Argument(metavar="run")] = "", *, runs: RunsFolder = Path("runs")
) -> None:
    """How far runs are, whom they wait for, and how their rivals stand.

    Args:
        run_name: A run; all of them by default.

    Examples:
        $ lakatos status
    """
    show_status(run_name, runs)
