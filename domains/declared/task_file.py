"""A domain that comes from a file of the researcher's: declared in TOML, or written in Python.

A study keeps the file's whole text. A declaration is read from that text, wherever the run is. Python is run only from
the file itself, and only while it holds the very text that the study keeps: a run that came from somebody else brings
no code with it that would be run here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from pathlib import Path

from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile
from lakatos.traces.files import read_named
from lakatos.traces.plugin_table import PluginTable


class TaskFileKind(ABC):
    """What can be done with files of one kind that say what a domain is."""

    @abstractmethod
    def text_of(self, path: Path) -> str:
        """The text of a file as a study keeps it.

        Raises:
            TaskFileError: It cannot be read.
        """

    @abstractmethod
    def is_changed(self, file: TaskFile) -> bool:
        """Whether a file that is there holds something else than what a study keeps of it."""

    @abstractmethod
    def domain(self, file: TaskFile) -> Domain:
        """The domain that a file says.

        Raises:
            TaskFileError: The file declares none, or its program is not here as the study keeps it.
        """

    def value_of(self, file: TaskFile, name: str) -> object:
        """What a file calls ``name`` beside its domain; None where there is nothing."""
        return None


KINDS: PluginTable[TaskFileKind] = PluginTable(
    {
        ".toml": "lakatos.domains.declared.files:DECLARATION",
        ".py": "lakatos.domains.declared.program:PROGRAM",
    }
)
"""Kinds of files by the ending of a file's name."""


def kind_of(file: TaskFile) -> TaskFileKind:
    """The kind of a file; a name with another ending counts as a declaration."""
    return KINDS[".py" if file.is_python else ".toml"]


def is_changed(file: TaskFile) -> bool:
    """Whether the file on disk now differs from what the study keeps; a file that is gone has not changed."""
    try:
        return kind_of(file).is_changed(file)
    except OSError:  # the file is gone
        return False
    except TaskFileError as error:  # or one that it names; any other reason is a change
        return not isinstance(error.__cause__, FileNotFoundError)


def kept_text(path: Path) -> str:
    """What a file holds, as text.

    Raises:
        TaskFileError: It cannot be read.
    """
    try:
        return read_named(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TaskFileError(
            f"cannot read the domain {path}: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}. "
            "`lakatos domain new FILE` writes an example."
        ) from None


def read_task_file(path: Path) -> TaskFile:
    """A file as it is now.

    Raises:
        TaskFileError: It cannot be read, or declares no domain; the message says where and what to do.
    """
    if path.suffix not in KINDS:
        raise TaskFileError(f"{path} declares no domain: give a file in TOML or Python.")
    file = TaskFile(file=str(path.resolve()), text=KINDS[path.suffix].text_of(path))
    domain_in(file)
    return file


@lru_cache(maxsize=64)
def domain_in(file: TaskFile) -> Domain:
    """The domain that a file declares, or that its program calls ``DOMAIN``.

    Raises:
        TaskFileError: There is none, or the program is not here as the study keeps it.
    """
    return kind_of(file).domain(file)
