"""The command ``lakatos transfer``: a theory on other people's answers, beside published theories and learners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lakatos.flows.argument import columns_said
from lakatos.flows.commands.options import ColumnsSaid, DataFolder, RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.traces.wording import plural

if TYPE_CHECKING:
    from lakatos.flows.operations.transfer import TransferMeasured

MOST_PUBLISHED = 5
"""Published theories in the table; the record has all."""


def transfer(
    theory: Annotated[
        str,
        typer.Argument(
            help="A run (its leader), the source file of a theory, or the name of a published one."
        ),
    ] = "",
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="Data set (`lakatos data list` names them), a run, whose answers are meant, or a file of answers.",
        ),
    ] = "",
    of: Annotated[
        str, typer.Option("--theory", help="Another theory of the run than its leader, by name.")
    ] = "",
    experiments: Annotated[
        str, typer.Option(help="Pattern of the experiments' names, as `cardinal-*`.")
    ] = "*",
    domain: Annotated[
        str,
        typer.Option(
            "--domain",
            help="Of a file: whose trials these are, or the file that declares them; a run's by default, or guessed.",
        ),
    ] = "",
    column: ColumnsSaid = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the record and the figure.")] = None,
    check: Annotated[
        Path | None, typer.Option("--check", help="Compute a record of this command again.")
    ] = None,
    draws: Annotated[int, typer.Option(min=16, help="People drawn, a power of two.")] = 512,
    seed: Annotated[int, typer.Option(help="Of the generic learners.")] = 0,
    data: DataFolder = None,
    runs: RunsFolder = Path("runs"),
    workers: Annotated[int, typer.Option(min=1, help="Theories that run at the same time.")] = 2,
) -> None:
    """Try a theory on answers that had no part in it: as it came, rescaled, and person by person.

    In Python: `lakatos.flows.operations.transfer.measure_transfer(...)`.
    """
    from lakatos.domains import open_domain
    from lakatos.flows.errors import TransferError
    from lakatos.flows.operations.transfer import (
        check_target,
        check_transfer,
        find_target,
        find_theory,
        measure_transfer,
        read_transfer,
        task_of_run,
        write_transfer,
    )
    from lakatos.flows.report.transfer_figure import draw_transfer

    console = Console()
    if check is not None:
        found = check_transfer(read_transfer(check), data, runs=runs, n_workers=workers)
        if found:
            raise TransferError(f"{check} does not come out again: {found}.")
        console.print(f"{escape(str(check))} comes out again, number by number")
        return
    if not theory or not to:
        raise TransferError("say which theory and which data: `lakatos transfer THEORY --to DATA`.")
    if draws & (draws - 1):
        raise TransferError(f"--draws is {draws}; give a power of two, as 512.")
    task = open_domain(domain) if domain else task_of_run(theory, runs)
    columns = columns_said(column)
    target = find_target(to, experiments, runs, data, task=task, columns=columns)
    if target.columns is None and (domain or columns):
        raise TransferError(
            f"--domain and --column say how a file is read, and {to} is none; leave them out."
        )
    for note in target.notes:
        Console(stderr=True, soft_wrap=True).print(f"[yellow]{escape(note)}[/yellow]")
    travelling = find_theory(theory, runs, of=of, domain=target.task, data=data)
    check_target(travelling, target)
    measured = measure_transfer(
        travelling, target.name, target.trials,
        domain=target.domain, domain_file=target.domain_file, columns=target.columns,
        n_draws=draws, seed=seed, n_workers=workers,
    )  # fmt: skip
    folder = out or Path("transfer") / f"{Path(theory).stem}-to-{Path(target.name).stem}"
    file = write_transfer(measured, folder)
    title = f"{measured.name} on {target.name}"
    for ending in ("svg", "png"):
        draw_transfer(title, measured.lines, folder / f"transfer.{ending}")
    console.print(
        f"[bold]{escape(measured.name)}[/bold], from {escape(measured.origin)}", soft_wrap=True
    )
    console.print(table_of(measured))
    for text in (
        measured.left_out,
        *(f"{name} does not run here: {why}" for name, why in measured.failed.items()),
    ):
        if text:
            console.print(escape(text), soft_wrap=True)
    console.print(f"record and figure: {escape(str(file.parent))}", soft_wrap=True)


def table_of(measured: TransferMeasured) -> Table:
    """Scores, how far behind the best published theory, and completeness, each with its 95% interval."""
    table = Table(
        "what",
        "how",
        "nats per choice",
        "behind the textbook",
        "completeness",
        title=f"{escape(measured.data)}: {plural(len(measured.experiments), 'experiment')}",
        caption="textbook: the best published theory, its people learned from these answers; "
        "completeness: 0 guessing, 1 generic learners; ± two standard errors",
    )
    published = measured.of("published")
    for line in measured.lines:
        if line in published[MOST_PUBLISHED:]:
            continue
        is_textbook = line.role == "textbook" or line in published[:1]
        name = f"{line.name} (textbook)" if is_textbook else line.name
        table.add_row(
            f"[bold]{escape(name)}[/bold]" if line.role == "theory" else escape(name),
            f"{line.way}{' (second half)' if line.half else ''}",
            _with_error(line.score, line.score_error, 4),
            "" if is_textbook else _with_error(line.behind, line.behind_error, 4),
            _with_error(line.completeness, line.completeness_error, 2),
        )
    return table


def _with_error(value: float | None, error: float | None, digits: int) -> str:
    if value is None or error is None:
        return ""
    return f"{value:.{digits}f} ± {2 * error:.{digits}f}" if error < 1e6 else f"{value:.{digits}f}"
