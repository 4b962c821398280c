"""Published choices of people, where they come from and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lakatos.experiments.task import Trials


@dataclass(frozen=True)
class ArchiveSource:
    """Place and licence of the published files of a data set."""

    repository: str
    """``owner/name`` on GitHub."""
    commit: str
    folder: str
    """Path inside the repository."""
    licence: str
    cite: str
    files: Mapping[str, str]
    """sha256 of each file, by its path relative to the data set's folder."""
    remote: Mapping[str, str]
    """Path of each file inside the repository, by the same keys; left out for a file that is not published as it is,
    such as one that holds a part of the people while the rest is kept apart as a test."""


@dataclass(frozen=True)
class ArchiveReader:
    """One data set: its name, domain, origin and how to read it from a folder."""

    name: str
    domain: str
    title: str
    source: ArchiveSource | None
    """Source of the files; None for facts that are typed in and need no files."""
    read: Callable[[Path], tuple[Trials, ...]]
    """All experiments, from the folder that holds the files; the caller has checked the digests."""
    directory: str = ""
    """Folder of the files inside the user's data folder, where it is not called like the data set."""
