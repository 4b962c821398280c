"""The commands for answers that somebody already has: describe a file, write a study for it, find a theory of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lakatos.flows.argument import Argument, columns_of_options
from lakatos.flows.commands.options import ColumnOptions
from lakatos.flows.run.console import Console, escape

if TYPE_CHECKING:
    from lakatos.flows.operations.adopt import NewStudy

AnswerFile = Annotated[
    Path,
    Argument(
        help="CSV, TSV, Parquet, JSON (lines), .xlsx, .ods, .sav, .dta, .rds, or a folder of tables."
    ),
]
DomainName = Annotated[
    str,
    Argument(
        flag="--domain",
        help="Kind of task, or the file that declares it; guessed from the columns' names by default.",
    ),
]


def describe_command(
    file: AnswerFile,
    *,
    domain: DomainName = "",
    column: ColumnOptions = None,
    write: Path | None = None,
) -> None:
    """Describe a file of responses: meaning of its columns, exclusions, oddities, and three of its rows in words.

    In Python: `lakatos.experiments.adoption.describe.describe_table(read_answers(file))`.

    Args:
        write: File to which the meaning of the columns is written, as a section of a study.

    Examples:
        $ lakatos data describe responses.csv
    """
    from lakatos.experiments.adoption.own_tasks import NONE_FITS, NOT_READ
    from lakatos.experiments.adoption.role_reasons import role_reasons
    from lakatos.flows.operations.adopt import describe_file, how_it_is_read, write_mapping
    from lakatos.traces.wording import plural

    stated = columns_of_options(column)
    found = describe_file(file, domain, stated)
    reasons = role_reasons(found, stated)
    console = Console(soft_wrap=True)
    console.print(f"[bold]{escape(found.name)}[/bold]: {plural(found.n_rows, 'row')}")
    for fact in found.facts:
        console.print(f"  {escape(fact)}")
    table = Table("column", "is read as", "because of", "values", "empty")
    for item in found.columns:
        table.add_row(
            escape(item.name),
            escape(found.meaning_of(item)),
            reasons.get(item.name, ""),
            escape(item.words),
            f"{item.n_missing:,}" if item.n_missing else "",
        )
    console.print(table)
    look_at = [*found.doubts, *found.odd, *found.beyond_grid]
    if look_at:
        console.print("Please check:")
    for line in look_at:
        console.print(f"  {escape(line)}")
    print_reading(console, [line for line in how_it_is_read(found, file) if line not in look_at])
    if write is not None:
        write_mapping(found, write)
        console.print(
            f"{escape(str(write))} is written: the section participants.columns of a study."
        )
    if not any(line.endswith(NOT_READ) or NONE_FITS in line for line in found.doubts):
        console.print(_what_next(file, domain, found.domain))


def print_reading(console: Console, lines: Sequence[str]) -> None:
    """Print how a file is read, alike in all commands: what is assumed and left out, and some responses read back."""
    if lines:
        console.print("How the file is read:")
    for line in lines:
        console.print(f"  {escape(line)}")


def _print_new(console: Console, made: NewStudy) -> None:
    """Print what was guessed for a new study, how its file is read, and what is still open."""
    for line in made.assumed:
        console.print(f"assumed: {escape(line)}")
    print_reading(console, made.read)
    for line in made.open_questions:
        console.print(f"[bold]to fill in:[/bold] {escape(line)}")


def _what_next(file: Path, options: str, domain: str) -> str:
    """State which kind of task a file seems to hold, and the command that writes a study for it."""
    from lakatos.domains import DOMAINS
    from lakatos.experiments.adoption.layouts import layout_of, names_with_layouts

    command = f"lakatos new STUDY.toml --data {escape(str(file))}"
    if domain in DOMAINS and layout_of(DOMAINS[domain]) is None:
        return (
            f"These look like trials of the kind {domain!r}, whose responses cannot be read from a file, so "
            "no study can be written for them. A reader in domains/NAME/archives can bring them in."
        )
    if domain:
        option = f" --domain {escape(options)}" if options else ""
        return f"These look like trials of the kind {domain!r}. `{command}{option}` writes a study for them."
    return (
        f"The kind of task cannot be guessed from the columns. `{command} --domain NAME` writes a study in "
        f"which you state what each column is; NAME is one of {', '.join(names_with_layouts())}, or the file of "
        "a task of your own (`lakatos domain new FILE.toml` writes an example)."
    )


def new_command(
    study: Path,
    *,
    data: Path,
    domain: DomainName = "",
    question: str = "",
    column: ColumnOptions = None,
) -> None:
    """Write a commented study file for a file of responses; a question mark marks what could not be guessed.

    In Python: `lakatos.flows.operations.adopt.new_study(study, data)`.

    Args:
        study: The study file to write, such as mine.toml.
        data: File of responses.
        question: Research question of the study.

    Examples:
        $ lakatos new mine.toml --data responses.csv --column participant=VP
    """
    from lakatos.flows.operations.adopt import new_study

    made = new_study(study, data, domain, question, columns=columns_of_options(column))
    console = Console(soft_wrap=True)
    _print_new(console, made)
    then = "Fill in what is marked; then" if made.open_questions else "Read it; then"
    console.print(f"{escape(str(study))} is written. {then}: lakatos run {escape(str(study))}")


def prepared_study(
    file: Path, domain: str, runs: Path, cycles: int, column: Sequence[str] | None = None
) -> Path:
    """A study for a file of answers, written beside the runs; says what was assumed.

    Raises:
        typer.Exit: Something could not be guessed; it says what to fill in where.
    """
    from lakatos.flows.operations.adopt import new_study, new_study_place

    console = Console(soft_wrap=True)
    place, columns = new_study_place(runs, file), columns_of_options(column)
    made = new_study(place, file, domain, cycles=cycles, columns=columns)
    _print_new(console, made)
    if made.too_few:
        console.print(made.too_few)
        raise typer.Exit(2)
    if made.open_questions:
        study = escape(str(made.study))
        console.print(f"This cannot be guessed. Fill it in in {study}, then: lakatos run {study}")
        raise typer.Exit(2)
    return made.study
