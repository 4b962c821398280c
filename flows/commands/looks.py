"""The commands `theories` and `report`: look at what there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.table import Table

from lakatos.domains import FAMILIES, open_domain
from lakatos.flows.argument import RunFolder
from lakatos.flows.errors import StudyError
from lakatos.flows.operations.people_export import note_export
from lakatos.flows.report.report import write_report
from lakatos.flows.report.two_pages import summary_beside
from lakatos.flows.result import PlainText, Result, Sentences
from lakatos.flows.run.console import escape
from lakatos.theories.language.family import Family, find_family
from lakatos.theories.language.theory import read_program


def theories(domain: str = "", *, source: str = "", mechanisms: bool = False) -> Result:
    """List the published theories of each kind of task by the names that studies use.

    Args:
        domain: A domain, or a file that declares one; all by default.
        source: Print the source of this theory.
        mechanisms: List the mechanisms of the grammar too.

    Examples:
        $ lakatos theories risky
        $ lakatos theories --source hyperbolic > mine.py
        >>> lakatos.published("risky")  # doctest: +SKIP
    """
    families = [find_family(open_domain(domain))] if domain else list(FAMILIES.values())
    if source:
        found = next((family for family in families if source in family.seeds), None)
        if found is None:
            raise StudyError(f"there is no theory {source!r}; `lakatos theories` lists them.")
        return PlainText(found.program(source).source)
    return Sentences(*(table for family in families for table in _tables_of(family, mechanisms)))


def _tables_of(family: Family, mechanisms: bool) -> Iterator[Table]:
    table = Table("name", "title", "claim", title=f"{family.domain}: published theories")
    for name in family.seeds:
        theory = read_program(family.program(name))
        table.add_row(name, escape(theory.name), escape(theory.claim))
    yield table
    if mechanisms:
        parts = Table(
            "slot", "mechanism", "people ...", "source", title=f"{family.domain}: mechanisms"
        )
        for item in family.grammar.mechanisms:
            parts.add_row(item.slot, item.name, escape(item.claim), escape(item.source))
        yield parts


def report(folder: RunFolder, *, out: Path | None = None) -> Sentences:
    """Write the report of a run as one HTML file, and a summary for print on two pages beside it.

    Args:
        folder: The run's folder.
        out: File to write; report.html in the run by default.

    Examples:
        $ lakatos report allais-1
        $ lakatos report allais-1 --out allais.html
        >>> lakatos.read_run("allais-1").report()  # doctest: +SKIP
    """
    written = write_report(folder, out)
    if out is not None:
        note_export(folder, out)
    return Sentences(*said_of_report(written))


def said_of_report(written: Path) -> tuple[str, str]:
    """The places of a report and of its summary, as commands print them."""
    beside = summary_beside(written)
    return (
        f"report: {escape(str(written))}",
        f"summary for print, two pages: {escape(str(beside))}",
    )
