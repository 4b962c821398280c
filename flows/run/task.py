"""The domain of a study, the theories about it, and which code they are: of the package, or of the study's own file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from lakatos.domains import DOMAINS, find_domain
from lakatos.domains.declared.task_file import domain_in, is_changed, read_task_file
from lakatos.experiments.answer_scale import in_window
from lakatos.experiments.conditions import with_conditions
from lakatos.experiments.errors import TaskFileError
from lakatos.experiments.task import Domain
from lakatos.experiments.task_file import TaskFile
from lakatos.flows.errors import StudyError
from lakatos.flows.run.code import science
from lakatos.theories.language.family import Family, find_family
from lakatos.traces.digest import Fingerprint


class AsksAbout(Protocol):
    """A study, as far as it says what it asks about."""

    @property
    def domain(self) -> str:
        """Name of the domain."""

    @property
    def domain_file(self) -> TaskFile | None:
        """File that declares the domain; None for a domain of the package."""

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions within participants; none where the study names none."""

    @property
    def time_window(self) -> tuple[float, float] | None:
        """Seconds between which responses count, where the study says so."""


def domain_of(study: AsksAbout) -> Domain:
    """The domain of a study."""
    task = in_window(find_domain(study.domain, study.domain_file), study.time_window)
    return with_conditions(task, study.conditions)


def family_of(study: AsksAbout) -> Family:
    """Published theories about it, and their grammar."""
    return find_family(domain_of(study))


def science_of(study: Mapping[str, Any]) -> Fingerprint:
    """Digest of the code that a study uses, by the study as plain values."""
    return science(code_part(study))


def code_part(study: Mapping[str, Any]) -> str:
    """The domain whose code a study uses: that of declarations, or all code where the domain is a program."""
    file = study.get("domain_file")
    if not file:
        return str(study.get("domain", ""))
    return "" if TaskFile.model_validate(file).is_python else "declared"


def with_domain(value: dict[str, Any], study: Path) -> dict[str, Any]:
    """A study as it was written, with the text of the file that its section ``domain`` names.

    Raises:
        StudyError: The section says something else, or takes the name of a domain of the package.
        TaskFileError: The file declares no domain.
    """
    section = value.get("domain")
    if not isinstance(section, dict):
        return value
    if list(section) != ["file"] or not isinstance(section["file"], str):
        raise StudyError(
            f'the study {study}: [domain] has one key, file = "NAME.toml" or "NAME.py"; for a domain of the package '
            f"write domain = {next(iter(DOMAINS))!r} above all sections."
        )
    file = read_task_file(study.parent / section["file"])
    name = domain_in(file).name
    if name in DOMAINS:
        raise StudyError(
            f"the study {study}: the domain in {section['file']} is called {name!r} as one of the package; "
            "give it another name."
        )
    return value | {"domain": name, "domain_file": file.model_dump()}


def read_own_domain(study: Mapping[str, Any]) -> None:
    """Read the file that says what a study asks about from where it is; records of a run do not say where that is.

    Args:
        study: As the journal of its run keeps it, with places.

    Raises:
        TaskFileError: It is a program, and not there or not what it was.
    """
    file = study.get("domain_file")
    if file:
        domain_in(TaskFile.model_validate(file))


def check_unchanged(study: AsksAbout) -> None:
    """Refuse to go on with a run whose domain's file was changed since.

    Raises:
        TaskFileError: It was; the message says what to do.
    """
    file = study.domain_file
    if file is not None and is_changed(file):
        raise TaskFileError(
            f"the domain {file.file}, or a file that it reads, was changed since this run began, and answers to two "
            "different tasks must not come together. Put it back (the run keeps the text of then, SHA-256 "
            f"{file.digest[:12]}...), or move the changed file elsewhere and begin a new study with it."
        )
