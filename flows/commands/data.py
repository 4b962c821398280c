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
    """List published data sets with licence and source, or what a run stores about participants and until when.

    Args:
        run: Run whose stored data are listed; published data sets by default.

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
        name: Name of the data set; `lakatos data list` lists them.
        data: Folder into which the data set is written.

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
    """Erase all data of a participant from a run; the next pass recomputes every result that used them.

    Args:
        folder: The run's folder.
        person: Beginning of the participant's pseudonym; or the identifier, with --service.
        service: Service that issued the identifier: prolific, file, ...

    Examples:
        $ lakatos data withdraw mine-1 5f3a
    """
    return withdraw(folder, find_person(folder, person, service))


def more_people(
    folder: NamedRunFolder, people: Annotated[int, Argument(least=1)], *, experiment: str = ""
) -> Sentences:
    """Recruit more participants than planned while an experiment is collecting; the page admits them at once.

    The change is recorded as a deviation from the preregistration.

    Args:
        folder: The run's folder.
        people: Number of additional participants.
        experiment: Name of the experiment; the one that is collecting by default.

    Examples:
        $ lakatos data more mine-1 10
    """
    wanted = ask_more(folder, people, experiment)
    return Sentences(
        f"{wanted} participants are wanted now. A study on Prolific admits them with the next `lakatos prolific pay "
        f"{escape(str(folder))}`, within its limit."
    )


def expire_data(folder: NamedRunFolder, *, dry_run: bool = False) -> Sentences:
    """Erase data that are older than the study's retention limits; run it daily.

    Args:
        folder: The run's folder.
        dry_run: List what would be erased, and erase nothing.

    Examples:
        $ lakatos data expire mine-1 --dry-run
    """
    found = holdings(folder).due if dry_run else expire(folder)

    def done() -> Iterator[str]:
        for kind in ("identifiers", "answers"):
            verb = "are past their retention limit" if dry_run else "were erased"
            yield f"{kind} of {len(found.get(kind, ()))} people {verb}"
        if (folder / LEDGER_FILE).exists():
            yield (
                f"{escape(str(folder / LEDGER_FILE))} keeps the recruitment service's identifiers, with times of day: "
                "delete it yourself once everybody is paid."
            )

    return Sentences(*done())
