"""The commands `lakatos data ...`, on published data sets and on what people left behind in a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rich.table import Column, Table

from lakatos.flows.argument import Argument
from lakatos.flows.commands.options import DataFolder, RunNeeded, RunsFolder
from lakatos.flows.run.console import Console, escape
from lakatos.flows.run.places import find_run
from lakatos.traces.wording import plural


def data_list(
    run_name: Annotated[str, Argument(metavar="run")] = "",
    *,
    data: DataFolder = None,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Data sets with their licence and where they are published; or what a run holds of its people, and how long.

    Args:
        run_name: A run: what it holds of people. Without: published data sets.

    Examples:
        $ lakatos data list
        $ lakatos data list mine-1
    """
    if run_name:
        _list_people(run_name, runs)
        return
    from lakatos.domains import ARCHIVES
    from lakatos.domains.published_data import data_folder

    name = Column("name", no_wrap=True, min_width=max(map(len, ARCHIVES)))
    table = Table(name, "domain", "what", "licence", "here")
    for reader in ARCHIVES.values():
        if reader.source is None:
            here = "built in"
        elif data is None:
            here = "give --data"
        else:
            missing = [
                name
                for name in reader.source.files
                if not (data_folder(reader, data) / name).exists()
            ]
            here = "missing" if missing else "yes"
        table.add_row(
            reader.name,
            reader.domain,
            escape(reader.title),
            reader.source.licence if reader.source else "facts",
            here,
        )
    Console().print(table)


def data_fetch(
    name: str, *, data: Annotated[Path, Argument(environment="LAKATOS_DATA")] = Path("data")
) -> None:
    """Download a data set from the commit that its source cites and check every file's digest.

    Args:
        name: Of the data set; `lakatos data list` names them.
        data: Folder to put it in.

    Examples:
        $ lakatos data fetch risky_cpc18 --data data
    """
    from lakatos.domains import ARCHIVES
    from lakatos.domains.published_data import fetch_archive
    from lakatos.experiments.errors import DataMissingError

    if name not in ARCHIVES:
        raise DataMissingError(f"there is no data set {name!r}; there are: {', '.join(ARCHIVES)}.")
    fetch_archive(name, data)
    Console().print(
        f"{name} is in {escape(str(data))}; every file has the digest that its source cites"
    )


def data_import(run_name: RunNeeded, file: Path, *, runs: RunsFolder = Path("runs")) -> None:
    """Bring in answers that were collected elsewhere: all of them, or none if a row is wrong.

    In Python: `lakatos.flows.operations.people.import_answers(folder, file)`.

    Args:
        file: A CSV or Parquet file, one row an answer; see docs/data.md.

    Examples:
        $ lakatos data import mine-1 responses.csv
    """
    from lakatos.flows.operations.people import import_answers

    folder = find_run(run_name, runs)
    found = import_answers(folder, file)
    for name, n_people in found.n_people.items():
        Console().print(
            f"experiment {escape(name)}: {plural(found.n_answers[name], 'answer')} of "
            f"{plural(n_people, 'person', 'people')}"
        )
    if found.without_outcome:
        Console().print(
            f"{sum(found.without_outcome.values())} further answers are no outcome and do not count: "
            + ", ".join(
                f"{n} {why.replace('_', ' ')}" for why, n in sorted(found.without_outcome.items())
            ),
            soft_wrap=True,
        )
    Console().print(
        f"{found.n_new} people are new. `lakatos resume {escape(str(folder))}` goes on with them.",
        soft_wrap=True,
    )


def data_export(
    run_name: RunNeeded,
    *,
    out: Path | None = None,
    psych_ds: bool = False,
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write a run's answers without identifiers, as CSV with a codebook; also those that no pass has taken yet.

    In Python: `lakatos.flows.operations.people_export.export(folder, out)`.

    Args:
        out: Folder to write; `export` in the run by default.
        psych_ds: As a folder in the form of Psych-DS.

    Examples:
        $ lakatos data export mine-1 --out shared
    """
    from lakatos.flows.operations.people_export import export

    folder = find_run(run_name, runs)
    for path in export(folder, out or folder / "export", psych_ds=psych_ds):
        Console().print(escape(str(path)), soft_wrap=True)


def data_withdraw(
    run_name: RunNeeded, person: str, *, service: str = "", runs: RunsFolder = Path("runs")
) -> None:
    """Erase everything that a person left in a run; the next pass computes anew what rested on it.

    In Python: `lakatos.flows.operations.people.withdraw(folder, person)`.

    Args:
        person: Beginning of a pseudonym; or an identifier, with --service.
        service: Whose identifier it is: prolific, file, ...

    Examples:
        $ lakatos data withdraw mine-1 5f3a
    """
    from lakatos.flows.operations.people import find_person, withdraw
    from lakatos.flows.operations.people_export import SHOWN

    folder = find_run(run_name, runs)
    found = withdraw(folder, find_person(folder, person, service))
    console = Console(soft_wrap=True)
    console.print(
        f"{found.person[:SHOWN]}: answers to {escape(', '.join(found.experiments)) or 'no experiment'} are erased "
        f"({plural(found.n_batches, 'batch', 'batches')}, {plural(found.n_sessions, 'session')} of the page). "
        f"`lakatos resume {escape(str(folder))}` computes anew what rested on them."
    )
    for path in found.exports:
        console.print(f"delete the person's rows here yourself, or make it anew: {escape(path)}")
    console.print(
        "Backups of the run's folder, and books of a recruitment service, are out of this command's reach."
    )


def data_more(
    run_name: RunNeeded,
    people: Annotated[int, Argument(least=1)],
    *,
    experiment: str = "",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Ask for more people than planned while an experiment collects; the page has room for them at once.

    It is written down as a deviation from the preregistration.
    In Python: `lakatos.flows.operations.people.ask_more(folder, people)`.

    Args:
        people: How many more than are wanted now.
        experiment: Its name; the one that the run waits in by default.

    Examples:
        $ lakatos data more mine-1 10
    """
    from lakatos.flows.operations.people import ask_more

    folder = find_run(run_name, runs)
    wanted = ask_more(folder, people, experiment)
    Console().print(
        f"{wanted} people are wanted now. A study on Prolific takes them in with the next `lakatos prolific pay "
        f"{escape(str(folder))}`, within its limit.",
        soft_wrap=True,
    )


def data_expire(
    run_name: RunNeeded, *, dry_run: bool = False, runs: RunsFolder = Path("runs")
) -> None:
    """Erase what is past the study's retention limits; run it daily.

    In Python: `lakatos.flows.operations.people.expire(folder)`.

    Args:
        dry_run: Only say what would be erased.

    Examples:
        $ lakatos data expire mine-1 --dry-run
    """
    from lakatos.experiments.participants.prolific.books import LEDGER_FILE
    from lakatos.flows.operations.people import expire, holdings

    folder = find_run(run_name, runs)
    found = holdings(folder).due if dry_run else expire(folder)
    for kind in ("identifiers", "answers"):
        verb = "are past their limit" if dry_run else "were erased"
        Console().print(f"{kind} of {len(found.get(kind, ()))} people {verb}")
    if (folder / LEDGER_FILE).exists():
        Console().print(
            f"{escape(str(folder / LEDGER_FILE))} keeps the recruitment service's identifiers, with times of day: "
            "delete it yourself once everybody is paid.",
            soft_wrap=True,
        )


def _list_people(run_name: str, runs: Path) -> None:
    from lakatos.flows.operations.people import holdings

    console, found = Console(), holdings(find_run(run_name, runs))
    table = Table(
        "experiment",
        "wanted",
        "people by status",
        "excluded",
        "withdrawn",
        "in the inbox",
        "kept apart",
    )
    for item in found.experiments:
        statuses = ", ".join(f"{number} {status}" for status, number in item.statuses.items())
        numbers = (item.n_excluded, item.n_withdrawn, item.n_waiting, item.n_apart)
        table.add_row(escape(item.experiment), str(item.n_wanted), statuses, *map(str, numbers))
    console.print(table)
    for kind, people in found.due.items():
        console.print(
            f"[yellow]{kind} of {len(people)} people are past their limit[/yellow]; `lakatos data expire`"
        )
    if found.next_due is not None:
        console.print(f"the next retention limit ends on {found.next_due:%Y-%m-%d}")
