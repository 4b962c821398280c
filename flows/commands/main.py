"""The command line. Every command is a function call too; see the functions named in each docstring."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from lakatos import __version__
from lakatos.flows.guard import check_packages

check_packages()

from rich.table import Table  # noqa: E402

from lakatos.flows.commands.adopt import DomainName, describe_command, new_command, prepared_study  # noqa: E402
from lakatos.flows.commands.atlas import atlas_app  # noqa: E402
from lakatos.flows.commands.audit import anchor_command, audit_command, bundle_command  # noqa: E402
from lakatos.flows.commands.backup import backup_command, metrics_command, restore_command  # noqa: E402
from lakatos.flows.commands.collect import collect, invite_command  # noqa: E402
from lakatos.flows.commands.data import app as data_app  # noqa: E402
from lakatos.flows.commands.domain import app as domain_app  # noqa: E402
from lakatos.flows.commands.ending import run_command  # noqa: E402
from lakatos.flows.commands.forensics import add_commands  # noqa: E402
from lakatos.flows.commands.judges import app as judges_app  # noqa: E402
from lakatos.flows.commands.lab import app as lab_app  # noqa: E402
from lakatos.flows.commands.memory import memory_app, tools_app  # noqa: E402
from lakatos.flows.commands.models import app as models_app  # noqa: E402
from lakatos.flows.commands.options import ColumnsSaid, DataFolder, RunName, RunsFolder  # noqa: E402
from lakatos.flows.commands.preregister import preregister_command  # noqa: E402
from lakatos.flows.commands.prolific import app as prolific_app  # noqa: E402
from lakatos.flows.commands.schedule import (  # noqa: E402
    schedule_command,
    serve_command,
    wake_command,
    watch_command,
)
from lakatos.flows.commands.status_view import show_status  # noqa: E402
from lakatos.flows.commands.sweep import sweep_command  # noqa: E402
from lakatos.flows.commands.theory import app as theory_app  # noqa: E402
from lakatos.flows.commands.transfer import transfer  # noqa: E402
from lakatos.flows.commands.view import view_command  # noqa: E402
from lakatos.flows.operations.carry import tether  # noqa: E402
from lakatos.flows.operations.first_design import design_command  # noqa: E402
from lakatos.flows.run.console import Console, escape  # noqa: E402
from lakatos.flows.run.parts import EngineName  # noqa: E402
from lakatos.flows.run.places import find_run  # noqa: E402
from lakatos.traces.wording import printable  # noqa: E402

app = typer.Typer(
    name="lakatos",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="A laboratory in which rival theories of human behaviour compete.\n\n"
    "Start with [bold]lakatos demo[/bold]; then [bold]lakatos run studies/multiattribute-binary.toml --data "
    "FOLDER[/bold] on people's published choices. A run lives in a folder of its own, can be stopped at any "
    "time and goes on with [bold]lakatos resume[/bold].",
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"lakatos {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version_wanted: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which version this is.", callback=_tell_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


app.add_typer(atlas_app, name="atlas")
app.add_typer(data_app, name="data")
app.add_typer(domain_app, name="domain")
app.add_typer(judges_app, name="judges")
app.add_typer(lab_app, name="lab")
app.add_typer(memory_app, name="memory")
app.add_typer(models_app, name="models")
app.add_typer(prolific_app, name="prolific")
app.add_typer(theory_app, name="theory")
app.add_typer(tools_app, name="tools")
app.command("design")(design_command)
app.command()(transfer)
app.command("new")(new_command)
data_app.command("describe")(describe_command)
app.command()(collect)
app.command("invite")(invite_command)
app.command("preregister")(preregister_command)
app.command("schedule")(schedule_command)
app.command("serve")(serve_command)
app.command("watch")(watch_command)
app.command("wake")(wake_command)
app.command("sweep")(sweep_command)
app.command("backup")(backup_command)
app.command("restore")(restore_command)
app.command("metrics")(metrics_command)
app.command("view")(view_command)
add_commands(app)

STUDIES = Path(__file__).resolve().parents[2] / "studies"
WAITING = 3
"""Exit status of a pass that ended because people have not answered yet."""
UNANSWERED = 4
"""Exit status of a run that ended although no question to its language models brought an answer."""
Engine = Annotated[
    EngineName,
    typer.Option(
        help="[bold]prefect[/bold] (with a temporary server of its own unless one is "
        "configured) or [bold]none[/bold] (plain asyncio)."
    ),
]
Workers = Annotated[
    int, typer.Option(help="Theories that run at the same time; does not change results.", min=1)
]


@app.command()
def demo(
    engine: Engine = "none",
    runs: RunsFolder = Path("runs"),
    seed: Annotated[int | None, typer.Option(help="Another seed than the study's.")] = None,
    workers: Workers = 2,
) -> None:
    """Up to five cycles with simulated people who follow a hidden rule; then the report.

    In Python: `flows.start.run_study(STUDIES / "demo.toml", ...)`.
    """
    _run_study(STUDIES / "demo.toml", None, engine, runs, None, seed, workers)


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study file; studies/ has examples.")],
    data: DataFolder = None,
    engine: Engine = "prefect",
    runs: RunsFolder = Path("runs"),
    name: Annotated[
        str | None, typer.Option(help="Name of the run; numbered after the study by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed than the study's.")] = None,
    workers: Workers = 2,
) -> None:
    """Run a study up to its verdict.

    In Python: `flows.start.run_study(study, ...)`.
    """
    _run_study(study, data, engine, runs, name, seed, workers)


@app.command()
def explain(
    file: Annotated[
        Path, typer.Argument(help="Answers of people: CSV, Parquet, JSON, or a folder of tables.")
    ],
    domain: DomainName = "",
    engine: Engine = "none",
    runs: RunsFolder = Path("runs"),
    cycles: Annotated[int, typer.Option(help="Rounds of search.", min=1)] = 2,
    workers: Workers = 2,
    column: ColumnsSaid = None,
) -> None:
    """From a file of answers to a theory of them: say what it holds, write a study for it, run that.

    In Python: `flows.operations.adopt.new_study(...)`, then `flows.start.run_study(study, folder)`.
    """
    study = prepared_study(file, domain, runs, cycles, column)
    _run_study(study, None, engine, runs, None, None, workers)


@app.command()
def resume(
    run_name: RunName = "",
    data: DataFolder = None,
    engine: Engine = "prefect",
    runs: RunsFolder = Path("runs"),
    workers: Workers = 2,
    enough: Annotated[
        bool, typer.Option("--enough", help="Wait for no more people than have answered.")
    ] = False,
    accept_code: Annotated[
        str | None,
        typer.Option(
            help="Go on although the code has changed: the beginning of its fingerprint, as the refusal said it."
        ),
    ] = None,
    because: Annotated[
        str, typer.Option(help="With --accept-code: why the results still hold.")
    ] = "",
) -> None:
    """Go on with a run that was stopped, or that waited for people; what is recorded is never done again.

    In Python: `flows.start.resume_run(folder, ...)`.
    """
    from lakatos.flows.run.next_pass import look

    folder = find_run(run_name, runs)
    if accept_code is not None:
        from lakatos.flows.run.run import accept_code as accept

        accept(folder, accept_code, because)
    found = look(folder)
    if not (found.due or enough or accept_code is not None):
        Console().print(f"{escape(found.reason)}\nrun: {escape(str(folder))}", soft_wrap=True)
        if found.ended == "waiting":
            raise typer.Exit(WAITING)
        _end_of(folder)
        return

    from lakatos.flows.run.engine import cool_down, warm_up

    warm_up(engine)  # while the laboratory is loaded and the journal is read
    try:
        from lakatos.flows.run.logs import progress
        from lakatos.flows.start import resume_run

        _carry(
            folder,
            lambda: resume_run(
                folder,
                data=data,
                engine=engine,
                progress=progress(run=folder.name),
                n_workers=workers,
                enough=enough,
            ),
        )
    finally:
        cool_down()


@app.command()
def status(
    run_name: Annotated[
        str, typer.Argument(metavar="run", help="A run; all of them by default.")
    ] = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """How far runs are, whom they wait for, and how their rivals stand."""
    show_status(run_name, runs)


@app.command()
def report(
    run_name: RunName = "",
    runs: RunsFolder = Path("runs"),
    out: Annotated[
        Path | None, typer.Option(help="File to write; report.html in the run by default.")
    ] = None,
) -> None:
    """Write the report: one HTML file that holds everything a reader needs.

    In Python: `lakatos.flows.report.report.write_report(folder)`.
    """
    folder = find_run(run_name, runs)
    from lakatos.flows.report.report import write_report

    Console().print(f"report: {escape(str(write_report(folder, out)))}")


app.command("audit")(audit_command)
app.command("bundle")(bundle_command)
app.command("anchor")(anchor_command)


@app.command()
def theories(
    domain: Annotated[
        str, typer.Argument(help="A domain, or a file that declares one; all by default.")
    ] = "",
    source: Annotated[str, typer.Option(help="Print the source of this theory.")] = "",
    mechanisms: Annotated[
        bool, typer.Option(help="List the mechanisms of the grammar too.")
    ] = False,
) -> None:
    """Published theories by domain, as study files name them."""
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
                parts.add_row(item.slot, item.name, escape(item.claim), escape(item.source))
            console.print(parts)
    if source:
        raise StudyError(f"there is no theory {source!r}; `lakatos theories` lists them.")


@app.command()
def doctor(
    runs: RunsFolder = Path("runs"),
    model_server: Annotated[
        str, typer.Option(help="Address of a server of language models, with /v1.")
    ] = "",
) -> None:
    """What this machine offers: versions, sandbox layers, programs, database, ports, servers, disk and clock.

    Exit status 1 if something is wrong. In Python: `lakatos.flows.operations.doctor.examine(runs)`.
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


def _run_study(
    study: Path,
    data: Path | None,
    engine: EngineName,
    runs: Path,
    name: str | None,
    seed: int | None,
    workers: int,
) -> None:
    from lakatos.flows.run.engine import cool_down, warm_up

    if study.is_file():  # else loading it says so at once
        warm_up(engine)  # while the laboratory is loaded and the study is read
    try:
        from lakatos.flows.run.logs import progress
        from lakatos.flows.run.places import new_folder
        from lakatos.flows.run.study import load_study, parse_study
        from lakatos.flows.start import run_study

        config = load_study(study)
        if seed is not None:
            config = parse_study(
                config.model_dump(mode="json") | {"seed": seed}, f"{study} with --seed {seed}"
            )
        folder = new_folder(runs, name or config.name, numbered=name is None)
        shown = progress(run=folder.name)
        _carry(
            folder,
            lambda: run_study(
                config, folder, data=data, engine=engine, progress=shown, n_workers=workers
            ),
        )
    finally:
        cool_down()


def _carry(folder: Path, work: Any) -> None:
    from lakatos.flows.report.report import write_report
    from lakatos.flows.stages.asked import AnswersAwaited

    console = Console(stderr=True)
    try:
        found = work()
    except KeyboardInterrupt as stopped:
        console.print(
            f"stopped; nothing is lost. Go on with: lakatos resume {escape(str(folder))}",
            soft_wrap=True,
        )
        raise typer.Exit(getattr(stopped, "exit_code", 130)) from None
    if isinstance(found, AnswersAwaited):
        preview = escape(str(write_report(folder)))
        Console().print(
            f"{escape(found.text)}\nrun: {escape(str(folder))}\nwhat people will see, and what was frozen: {preview}",
            soft_wrap=True,
        )
        raise typer.Exit(WAITING)
    Console().print(
        f"report: {escape(str(write_report(folder)))}\ncheck it: lakatos audit {escape(str(folder))}",
        soft_wrap=True,
    )
    _end_of(folder)


def _end_of(folder: Path) -> None:
    """End with a status of its own, and say why, where a run's language models answered nothing.

    Raises:
        typer.Exit: No question to them brought an answer.
    """
    from lakatos.flows.roles.failures import silence_in

    if silent := silence_in(folder):
        sys.stderr.write(
            f"lakatos: {silent}. The result is that of the laboratory without language models; try the server with "
            "`lakatos models check --base-url ADDRESS --model NAME`.\n"
        )
        raise typer.Exit(UNANSWERED)


def main() -> None:
    """Run what was typed; `lakatos.flows.commands.door` is the entry point of the command `lakatos`."""
    tether()
    say_warnings_plainly()
    run_command(app)


def say_warnings_plainly() -> None:
    """Print warnings that a command's own call brings as a sentence, without the place in the code."""
    as_usual, here = warnings.showwarning, Path(__file__).resolve().parent

    def say(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if Path(filename).resolve().parent == here:
            print(f"lakatos: {printable(str(message))}", file=file or sys.stderr)
        else:
            as_usual(message, category, filename, lineno, file, line)

    warnings.showwarning = say


if __name__ == "__main__":
    main()
