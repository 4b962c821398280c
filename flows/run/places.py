"""Find runs by name or path, without loading their modules."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from lakatos.flows.errors import FlowError, RunMissingError, UnusableError
from lakatos.traces.errors import TraceError
from lakatos.traces.files import INBOX_FILE, JOURNAL_FILE
from lakatos.traces.home import home
from lakatos.traces.place import address_file, is_elsewhere, run_folders
from lakatos.traces.stores import located
from lakatos.traces.wording import did_you_mean

RUN_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,90}"
"""Pattern of run names: a folder directly inside the runs folder, safe in shells and addresses."""

KEPT: Final = (
    JOURNAL_FILE,
    address_file(JOURNAL_FILE),
    INBOX_FILE,
    "collection.sqlite",
)
"""Files by which a folder is recognised that a run, an inbox or a page keeps."""
OWN_EXPORTS: Final = ("export", "exports", "prov.json")
"""Names under which exports of a run are written in its own folder; a withdrawal removes them."""
REPORTS: Final = ("report.html", "summary.html")
"""Pages of a run that may show responses; a withdrawal removes them."""


def check_output(out: Path, read: Iterable[Path] = ()) -> None:
    """Refuse a file or folder that a command is to write, if it would replace what a run or its user needs.

    Args:
        out: The file or folder.
        read: Files that the command reads.

    Raises:
        UnusableError: It is a pipe or a link in a circle; part of a run, an inbox, a page or the
            laboratory's home (exports have places of their own in a run); a TOML file that exists; or it is or holds a
            file that is read.
    """
    place = Path(os.path.realpath(out))
    if place.is_symlink():
        raise UnusableError(f"{out} is a link that leads to itself; name another place.")
    if place.is_fifo() or place.is_socket() or place.is_block_device():
        raise UnusableError(f"{out} is a pipe, a socket or a disk; name a file.")
    for folder in (place, *place.parents):
        is_kept = folder == home().resolve() or folder.name == ".lab"
        if is_kept or any(os.path.lexists(folder / name) for name in KEPT):
            if place.relative_to(folder).parts[:1] in {
                (name,) for name in (*OWN_EXPORTS, *REPORTS)
            }:
                continue
            raise UnusableError(
                f"{out} is in {folder}, whose files are the laboratory's own; name another place."
            )
    if place.suffix == ".toml" and place.exists():
        raise UnusableError(f"{out} exists and may be a study; name another file, or delete it.")
    for file in read:
        own = Path(os.path.realpath(file))
        if place in (own, own.parent) and file.is_file():
            raise UnusableError(
                f"{out} {'holds' if place.is_dir() else 'is'} a file that is read; name another place."
            )


def files_of_study(folder: Path) -> Iterator[Path]:
    """Files that the study of a run names, of responses, theories or a task; none where its journal is damaged."""
    from lakatos.traces.step import Trace

    todo: list[Any] = []
    with suppress(TraceError), Trace.open(folder, {}, read_only=True) as trace:
        todo.append(trace.journal.meta.get("study"))
    for item in todo:
        if isinstance(item, dict | list):
            todo += item.values() if isinstance(item, dict) else item
        elif isinstance(item, str) and 0 < len(item) < 4096 and os.path.isfile(item):
            yield Path(item)


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
    """Return the folder of a new run: ``runs/name``, or ``runs/name-1``, ``-2``, ... when numbered.

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
