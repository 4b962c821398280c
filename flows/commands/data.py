"""The commands `lakatos data ...`, on published data sets and on what participants left behind in a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from rich.table import Column, Table

from lakatos.domains import ARCHIVES
from lakatos.domains.published_data import data_folder, fetch_archive
from lakatos.experiments.errors import DataMissingError
from lakatos.experiments.participants.prolific.books import LEDGER_FILE
from lakatos.flows.argument import Argument, NamedRunFolder
from lakatos.flows.commands.options import DataFolder, RunsFolder
from lakatos.flows.operations.people import (
    WithdrawalReport,
    ask_more,
    expire,
    find_person,
    holdings,
    withdraw,
)
from lakatos.flows.result import Result, Sentences
from lakatos.flows.run.console import escape
from lakatos.flows.run.places import find_run


def list_data(
    run: Annotated[str, Argument(metavar="run")] = "",
    *,
    data: DataFolder = None,
    runs: RunsFolder = Path("runs"),
) -> Result:
    """Data sets with their licence and where they are published; or what a run holds of its people, and how long.

    Args:
        run: A run: what it holds of people. Without: published data sets.

    Examples:
        $ lakatos data list
        $ lakatos data list mine-1
    """
    if run:
        return holdings(find_run(run, runs))
    name = Column("name", no_wrap=True, min_width=max(map(len, ARCHIVES)))
    table = Table(name, "domain", "what", "licence", "here")
    for reader in ARCHIVES.values():
        if reader.source is None:
            here = "built in"
        elif data is None:
            here = "give --data"
        else:
            there = ((data_folder(reader, data) / name).exists() for name in reader.source.files)
            here = "yes" if all(there) else "missing"
        licence = reader.source.licence if reader.source else "facts"
        table.add_row(reader.name, reader.domain, escape(reader.title), licence, here)
    return Sentences(table)


def fetch(
    name: str, *, data: Annotated[Path, Argument(environment="LAKATOS_DATA")] = Path("data")
) -> Sentences:
    """Download a data set from the commit that its source cites and check every file's digest.

    Args:
        name: Of the data set; `lakatos data list` names them.
        data: Folder to put it in.

    Examples:
        $ lakatos data fetch risky_cpc18 --data data
    """
    if name not in ARCHIVES:
        raise DataMissingError(f"there is no data set {name!r}; there are: {', '.join(ARCHIVES)}.")
    fetch_archive(name, data)
    return Sentences(
        f"{name} is in {escape(str(data))}; every file has the digest that its source cites"
    )


def withdraw_person(folder: NamedRunFolder, person: str, *, service: str = "") -> WithdrawalReport:
    """Erase everything that a person left in a run; the next pass computes anew what rested on it.

    Args:
        folder: The run's folder.
        person: Beginning of a pseudonym; or an identifier, with --service.
        service: Whose identifier it is: prolific, file, ...

    Examples:
        $ lakatos data withdraw mine-1 5f3a
    """
    return withdraw(folder, find_person(folder, person, service))


def more_people(
    folder: NamedRunFolder, people: Annotated[int, Argument(least=1)], *, experiment: str = ""
) -> Sentences:
    """Ask for more people than planned while an experiment collects; the page has room for them at once.

    It is written down as a deviation from the preregistration.

    Args:
        folder: The run's folder.
        people: How many more than are wanted now.
        experiment: Its name; the one that the run waits in by default.

    Examples:
        $ lakatos data more mine-1 10
    """
    wanted = ask_more(folder, people, experiment)
    return Sentences(
        f"{wanted} people are wanted now. A study on Prolific takes them in with the next `lakatos prolific pay "
        f"{escape(str(folder))}`, within its limit."
    )


def expire_data(folder: NamedRunFolder, *, dry_run: bool = False) -> Sentences:
    """Erase what is past the study's retention limits; run it daily.

    Args:
        folder: The run's folder.
        dry_run: Only say what would be erased.

    Examples:
        $ lakatos data expire mine-1 --dry-run
    """
    found = holdings(folder).due if dry_run else expire(folder)

    def done() -> Iterator[str]:
        for kind in ("identifiers", "answers"):
            verb = "are past their limit" if dry_run else "were erased"
            yield f"{kind} of {len(found.get(kind, ()))} people {verb}"
        if (folder / LEDGER_FILE).exists():
            yield (
                f"{escape(str(folder / LEDGER_FILE))} keeps the recruitment service's identifiers, with times of day: "
                "delete it yourself once everybody is paid."
            )

    return Sentences(*done())
