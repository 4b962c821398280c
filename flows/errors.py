"""Errors of the loop and of the command line.

FlowError                  exit code 1
├── StudyError             the study file cannot be used (2)
├── UnusableError          a name, a file or an option cannot be used; nothing was changed (2)
├── ModelUnusableError     a language model of the study cannot be asked (2)
├── RunMissingError        there is no run in that folder (2)
├── ScheduleError          a schedule cannot be read or kept (2)
├── ChangedStudyError      a study file is no longer what its run was begun with (2)
├── RewindError            a run cannot be branched, or compared, as asked (2)
├── TransferError          a theory cannot be tried on those data, or its record does not hold (2)
├── ExportError            a run cannot be written in another form, or not be sent (1)
├── EngineError            Prefect cannot be used, or its server did not come up (5)
└── InstallationError      parts of another package stand in for parts of Lakatos (6)
TerminatedError            the process was asked to end (143); a `KeyboardInterrupt`, not a `FlowError`

Every message is one line: what was wrong, where, and what to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class FormerNameWarning(UserWarning):
    """A study uses a former name; the message states the present one, and the command line prints it plainly."""


class FlowError(Exception):
    """Root of all errors of this package; the command line prints the message and ends with ``exit_code``."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class StudyError(FlowError):
    """The study file is missing, cannot be read, or says what a study cannot say."""

    exit_code = 2


class UnusableError(FlowError):
    """A name, a file or an option cannot be used; nothing was changed."""

    exit_code = 2


def check_file_place(place: Path, *, folder_exists: bool = False) -> None:
    """Refuse a place where no file can be written, before anything else is done.

    Args:
        place: Path to which a file is to be written.
        folder_exists: Whether its folder must be there already.

    Raises:
        UnusableError: A folder or a device stands there, or its folder is missing.
    """
    if place.exists() and not place.is_file():
        raise UnusableError(f"{place} is a folder or a device; name a file that can be written.")
    if folder_exists and not place.absolute().parent.is_dir():
        raise UnusableError(f"{place} cannot be written; name a file in a folder that exists.")


class ModelUnusableError(FlowError):
    """A language model of the study cannot be asked; found before it costs anything."""

    exit_code = 2


class RunMissingError(FlowError):
    """There is no run in that folder."""

    exit_code = 2


class ScheduleError(FlowError):
    """A schedule cannot be read or kept."""

    exit_code = 2


class ChangedStudyError(FlowError):
    """A study file is no longer what its run was begun with."""

    exit_code = 2


class RewindError(FlowError):
    """A run cannot be branched as asked, or its branches cannot be compared."""

    exit_code = 2


class TransferError(FlowError):
    """A theory cannot be tried on the data that were named, or a record of it does not hold."""

    exit_code = 2


class ExportError(FlowError):
    """A run cannot be written in another form, or not be sent."""


class EngineError(FlowError):
    """Prefect cannot be used, or its server did not come up."""

    exit_code = 5


class InstallationError(FlowError):
    """Parts of another package stand in for parts of Lakatos."""

    exit_code = 6


class TerminatedError(KeyboardInterrupt):
    """The process was asked to end (SIGTERM); handled like Ctrl-C by whoever does not tell the two apart."""

    exit_code: ClassVar[int] = 143
