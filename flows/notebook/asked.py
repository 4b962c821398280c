"""Responses and theories that the arguments of a function name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from lakatos.domains import ARCHIVES, FAMILIES
from lakatos.experiments.errors import TrialsError
from lakatos.flows.argument import Argument
from lakatos.flows.errors import RunMissingError, StudyError
from lakatos.flows.notebook.answers import PeoplesAnswers, adopt
from lakatos.flows.notebook.fitted import TheoryLike
from lakatos.flows.notebook.study import StudyOutcome
from lakatos.flows.run.run import has_run
from lakatos.theories.language.family import find_family
from lakatos.traces.place import run_folders
from lakatos.traces.wording import did_you_mean

Answers = Annotated[Any, Argument(kind=str)]
"""A file or a folder of responses, a study file, a published data set, a run by its name or path, a data frame of
pandas or polars, or what `adopt` returned."""


@dataclass(frozen=True)
class Asked:
    """Responses, and the theories that a function scores or fits on them."""

    answers: PeoplesAnswers
    theories: list[TheoryLike] | None
    """Theories; None for all published ones."""


def read_asked(
    answers: Any,
    theories: TheoryLike | Sequence[TheoryLike] | None = None,
    *,
    runs: str | os.PathLike[str] = "runs",
    domain: str = "",
    columns: Mapping[str, Any] | None = None,
    known: Sequence[str] = (),
    compared: bool = True,
) -> Asked:
    """Find the responses and theories that arguments name; by default a run's own responses and its leading theory.

    Args:
        answers: See `Answers`.
        theories: One or several; by default the leading theory of a run. Its theories precede published ones.
        runs: Folder that holds the runs.
        domain: Kind of task; guessed by default.
        columns: Meanings of columns, as for `adopt`.
        known: Further columns with attributes of participants.
        compared: Whether theories are compared on the responses, which takes two participants.

    Raises:
        RunMissingError: There are no such responses, or not exactly one theory of the run has this name.
        StudyError: The run has no responses yet; or no theory is named, and none of the run was scored yet.
        TrialsError: The responses have been read already, and arguments state how to read them.
    """
    several = isinstance(theories, Sequence) and not isinstance(theories, str)
    wanted: list[TheoryLike] = [*theories] if several else [] if theories is None else [theories]  # type: ignore[misc, list-item]
    folder = None
    if isinstance(answers, str | os.PathLike):
        folder = _run_called(Path(answers), Path(runs))
    if folder is not None:
        outcome = StudyOutcome(folder)
        if not outcome.answers.trials:
            raise StudyError(
                f"the run {folder} has no responses yet: nothing was collected. `lakatos resume {folder}` goes on."
            )
        _check_not_said(domain=domain, columns=columns)
        chosen = [_theory_or_name(outcome, name) for name in wanted or [""]]
        return Asked(outcome.answers, chosen)
    if isinstance(answers, PeoplesAnswers):
        _check_not_said(domain=domain, columns=columns)
        return Asked(answers, wanted or None)
    data = str(answers) if isinstance(answers, os.PathLike) else answers
    return Asked(adopt(data, domain, columns, known=known, compared=compared), wanted or None)


def names_run(answers: str | os.PathLike[str], runs: str | os.PathLike[str] = "runs") -> bool:
    """Return whether responses are those of a run.

    Raises:
        RunMissingError: There are no such responses.
    """
    return _run_called(Path(answers), Path(runs)) is not None


def _check_not_said(**adopting: Any) -> None:
    """Refuse arguments about the reading of responses that have been read already."""
    if given := sorted(name for name, value in adopting.items() if value):
        named = " and ".join(given)
        raise TrialsError(
            f"{named} cannot be given for responses that have been read already, as those of a run: which task they "
            f"are of, and what their columns mean, is known. Leave {named} out, or name the file of responses in place "
            "of the run."
        )


def _run_called(answers: Path, runs: Path) -> Path | None:
    """The folder of a run by its path or its name; None if a file, a folder or a published data set has this name.

    Raises:
        RunMissingError: Nothing has this name; the message lists what can be given, and the nearest names.
    """
    name = str(answers)
    if has_run(answers):
        return answers
    is_theory = answers.suffix == ".py" or any(name in family.seeds for family in FAMILIES.values())
    if name in ARCHIVES or (answers.exists() and not is_theory):
        return None
    if len(answers.parts) == 1 and has_run(runs / answers):
        return runs / answers
    there = [folder.name for folder in run_folders(runs)]
    beside = [str(item) for item in answers.parent.iterdir()] if answers.parent.is_dir() else []
    wrong = (
        f"there are no responses called {name!r}{did_you_mean(name, [*there, *ARCHIVES, *beside])}"
    )
    if is_theory:
        wrong = f"{name!r} is a theory; give responses in its place."
    raise RunMissingError(
        f"{wrong} Responses are a file of them (or a folder of files), a study file, a published data set "
        f"(`lakatos data list` names them), or a run by its name or path; runs in {runs}: {', '.join(there) or 'none'}."
    )


def _theory_or_name(outcome: StudyOutcome, name: TheoryLike) -> TheoryLike:
    """A theory of a run; the name itself if only a published theory or a file has it."""
    if not isinstance(name, str) or "\n" in name:
        return name
    try:
        return outcome.theory(name)
    except RunMissingError as error:
        domain = outcome.answers.domain
        published = find_family(domain).seeds
        if name in published or Path(name).is_file():
            return name
        raise RunMissingError(
            f"{error} Nor is there a file of that name, or a published theory of {domain.name}"
            f"{did_you_mean(name, published)}"
        ) from None
