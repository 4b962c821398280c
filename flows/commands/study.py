"""The commands that take a study to its verdict: `demo`, `run`, `explain` and `resume`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lakatos.flows.argument import Argument
from lakatos.flows.commands.adopt import DomainName, prepared_study, print_reading
from lakatos.flows.commands.options import ColumnOptions, DataFolder, RunName, RunsFolder
from lakatos.flows.errors import UnusableError
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.parts import EngineName
from lakatos.flows.run.places import find_run

if TYPE_CHECKING:
    from lakatos.flows.run.study import CampaignConfig

STUDIES = Path(__file__).resolve().parents[2] / "studies"
WAITING = 3
"""Exit status of a pass that ended because people have not answered yet."""
UNANSWERED = 4
"""Exit status of a run that ended although no question to its language models brought an answer."""
Engine = Annotated[
    EngineName,
    Argument(
        help="[bold]prefect[/bold] (with a temporary server of its own unless one is configured) or "
        "[bold]none[/bold] (plain asyncio)."
    ),
]
Workers = Annotated[
    int, Argument(help="Theories that run at the same time; does not change results.", least=1)
]


def demo(
    *,
    engine: Engine = "none",
    runs: RunsFolder = Path("runs"),
    seed: int | None = None,
    workers: Workers = 2,
) -> None:
    """Run a demonstration with simulated participants who follow a hidden rule, and write its report.

    Args:
        seed: Random seed; the study's by default.

    Examples:
        $ lakatos demo
    """
    _run_study(STUDIES / "demo.toml", None, engine, runs, None, seed, workers)


def run(
    study: Path,
    *,
    data: DataFolder = None,
    engine: Engine = "prefect",
    runs: RunsFolder = Path("runs"),
    name: str | None = None,
    seed: int | None = None,
    workers: Workers = 2,
) -> None:
    """Run a study up to its verdict.

    Args:
        study: A study file; studies/ has examples.
        name: Name of the run; numbered after the study by default.
        seed: Random seed; the study's by default.

    Examples:
        $ lakatos run studies/allais.toml
        >>> lakatos.run("studies/allais.toml")  # doctest: +SKIP
    """
    _run_study(study, data, engine, runs, name, seed, workers)


def explain(
    file: Path,
    *,
    domain: DomainName = "",
    engine: Engine = "none",
    runs: RunsFolder = Path("runs"),
    cycles: Annotated[int, Argument(least=1)] = 2,
    workers: Workers = 2,
    column: ColumnOptions = None,
) -> None:
    """Find the theory that best predicts a file of responses: describe the file, write a study for it and run it.

    Args:
        file: Responses of participants: CSV, Parquet, JSON, or a folder of tables.
        cycles: Cycles of search: each collects or releases responses, scores and revises theories.

    Examples:
        $ lakatos explain responses.csv --domain intertemporal
        >>> lakatos.explain("responses.csv", "intertemporal")  # doctest: +SKIP
    """
    study = prepared_study(file, domain, runs, cycles, column)
    _run_study(study, None, engine, runs, None, None, workers, is_read=True)


def resume(
    run_name: RunName = "",
    *,
    data: DataFolder = None,
    engine: Engine = "prefect",
    runs: RunsFolder = Path("runs"),
    workers: Workers = 2,
    enough: bool = False,
    accept_code: str | None = None,
    because: str = "",
) -> None:
    """Continue a run that was stopped or waited for participants; recorded steps are not repeated.

    In Python: `flows.start.resume_run(folder, ...)`.

    Args:
        enough: Continue with the participants who have responded so far; wait for no others.
        accept_code: Continue although the code has changed: the beginning of its fingerprint, which the refusal
            states.
        because: Reason why results remain valid, with --accept-code; it is recorded.

    Examples:
        $ lakatos resume allais-1
    """
    from lakatos.flows.run.next_pass import look

    folder = find_run(run_name, runs)
    if because and accept_code is None:
        raise UnusableError(
            "--because is the reason of --accept-code DIGEST; give both, or neither."
        )
    if enough:
        from lakatos.flows.start import check_waits

        check_waits(folder)
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


def _run_study(
    study: Path,
    data: Path | None,
    engine: EngineName,
    runs: Path,
    name: str | None,
    seed: int | None,
    workers: int,
    *,
    is_read: bool = False,
) -> None:
    """Run a study, and say how the file of responses is read that it may name, unless it was just said."""
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
        if not is_read:
            _print_how_read(config)
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


def _print_how_read(config: CampaignConfig) -> None:
    """Print how a study's file of responses is read, where it names one; the file has just been read."""
    people = config.participants
    if not people.file or people.columns is None:
        return
    from lakatos.experiments.adoption.adopt import adopt_file
    from lakatos.flows.run.task import domain_of

    found = adopt_file(Path(people.file), people.columns, domain_of(config))
    print_reading(Console(soft_wrap=True), found.told)


def _carry(folder: Path, work: Any) -> None:
    from lakatos.flows.commands.looks import said_of_report
    from lakatos.flows.report.report import write_report
    from lakatos.flows.run.analyses import analysed_in, analyses_in_words
    from lakatos.flows.stages.asked import AnswersAwaited
    from lakatos.traces.files import JOURNAL_FILE
    from lakatos.traces.journal import Journal

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
            f"{escape(found.text)}\nrun: {escape(str(folder))}\n"
            f"preview of the page and frozen predictions: {preview}",
            soft_wrap=True,
        )
        raise typer.Exit(WAITING)
    with Journal.open(folder / JOURNAL_FILE, read_only=True) as journal:
        noted = analysed_in(journal)
    again = analyses_in_words(noted[1]) if noted else ""
    Console().print(
        "\n".join(
            (
                *said_of_report(write_report(folder)),
                *([f"take into account: {escape(again)}"] if again else []),
                f"check it: lakatos audit {escape(str(folder))}",
            )
        ),
        soft_wrap=True,
    )
    _end_of(folder)


def _end_of(folder: Path) -> None:
    """End with a status of its own, and say why, where a run's language models answered nothing.

    Raises:
        typer.Exit: No question to them brought an answer.
    """
    from lakatos.flows.roles.failures import failures_in

    failed, silent = failures_in(folder)
    if failed and not silent:
        sys.stderr.write(f"lakatos: {failed}. See `lakatos models answers {folder}`.\n")
    if silent:
        sys.stderr.write(
            f"lakatos: {failed}. The result is that of the laboratory without language models; try the server with "
            "`lakatos models check --base-url ADDRESS --model NAME`.\n"
        )
        raise typer.Exit(UNANSWERED)
