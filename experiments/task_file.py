"""The file in which a researcher says what a task is, as a study keeps it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from lakatos.experiments.task import Domain
from lakatos.traces.digest import Digest, digest_bytes


class TaskFile(BaseModel):
    """The file that defines the domain of a study, and its text at the time when the study was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    """Path of the file at that time."""
    text: str
    """The whole text."""

    @property
    def is_python(self) -> bool:
        """Whether the file is a program, not a declaration."""
        return self.file.endswith(".py")

    @property
    def digest(self) -> Digest:
        """Digest of the text."""
        return digest_bytes(self.text.encode())


def task_file_of(domain: Domain) -> TaskFile | None:
    """The file that a domain came from; None for the domains of the package."""
    found: TaskFile | None = getattr(domain, "task_file", None)
    return found
