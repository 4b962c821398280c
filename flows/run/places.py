"""Find runs by name or path, without loading their modules."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from lakatos.flows.errors import FlowError, RunMissingError
from lakatos.traces.files import JOURNAL_FILE
from lakatos.traces.place import is_elsewhere, run_folders
from lakatos.traces.stores import located
from lakatos.traces.wording import did_you_mean

RUN_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,90}"
"""Pattern of run names: a folder directly inside the runs folder, safe in shells and addresses."""


def check_name(name: str) -> str:
    """The name of a run, if it is one.

    Raises:
        FlowError: It names another place, or holds something else than letters, digits, ``_``, ``.`` and ``-``.
    """
    if not re.fullmatch(RUN_NAME, name):
        raise FlowError(
            f"{name!r} is no name of a run; give letters, digits, '_', '.' and '-', beginning with a letter or digit. "
            "--runs names another folder."
        )
    return name


def new_folder(runs: Path, name: str, *, numbered: bool) -> Path:
    """Where a new run goes: ``runs/name``, or ``runs/name-1``, ``-2``, ... when numbered.

    Raises:
        FlowError: The name is taken, or names another place.
    """
    check_name(name)
    if not numbered:
        if (runs / name).exists():
            raise FlowError(
                f"{runs / name} exists; take another --name, or `lakatos resume {runs / name}`."
            )
        return runs / name
    number = 1
    while (runs / f"{name}-{number}").exists():
        number += 1
    return runs / f"{name}-{number}"


def check_collects(folder: Path) -> None:
    """Raise where people answer the run of ``folder`` in another folder.

    Raises:
        InboxError: They do.
        JournalError: The journal cannot be read.
    """
    if is_elsewhere(folder):
        from lakatos.traces.step import Trace

        with Trace.open(folder, {}, read_only=True) as trace:
            trace.check_place()


def find_run(run_name: str, runs: Path) -> Path:
    """The folder of a run given by name or path; the newest run for an empty name.

    Raises:
        RunMissingError: There is none.
    """
    if not run_name:
        found = run_folders(runs)
        if not found:
            raise RunMissingError(
                f"there are no runs in {runs}. `lakatos demo` makes one; --runs names another folder."
            )
        return found[-1]
    for folder in (Path(run_name), runs / run_name):
        if located(folder / JOURNAL_FILE).exists():
            return folder
    there = sorted(folder.name for folder in run_folders(runs))
    known = ", ".join(there) or "none"
    raise RunMissingError(
        f"there is no run {run_name!r} in {runs}{did_you_mean(run_name, there)} Runs there: {known}; `lakatos status` "
        "lists them, and --runs names another folder."
    )
