"""What a command asks about: answers and theories, by whatever somebody calls them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lakatos.domains import ARCHIVES, FAMILIES
from lakatos.flows.errors import RunMissingError, StudyError
from lakatos.flows.notebook.answers import PeoplesAnswers
from lakatos.flows.notebook.study import StudyOutcome
from lakatos.flows.notebook.theory import FittedTheory
from lakatos.flows.run.run import has_run
from lakatos.theories.language.family import find_family
from lakatos.traces.place import run_folders
from lakatos.traces.wording import did_you_mean


def what_is_asked(
    answers: Path, theories: Sequence[str], runs: Path = Path("runs")
) -> tuple[PeoplesAnswers | str, list[FittedTheory | str] | None]:
    """Answers and theories that a command names: of a run its own answers, and by default its leader.

    Args:
        answers: A run by its path or its name, or what `adopt` takes.
        theories: Names. Where a run is asked, one of its theories goes before a published theory or a file.
        runs: Folder that holds the runs.

    Raises:
        RunMissingError: There are no such answers, or not exactly one theory of the run is called so.
        StudyError: The run has no answers yet; or no theory is named, and none of the run was scored yet.
    """
    folder = _run_called(answers, runs)
    if folder is None:
        return str(answers), list(theories) or None
    outcome = StudyOutcome(folder)
    if not outcome.answers.trials:
        raise StudyError(
            f"the run {folder} has no answers yet: nothing was collected. `lakatos resume {folder}` goes on."
        )
    return outcome.answers, [_theory_or_name(outcome, name) for name in theories or [""]]


def _run_called(answers: Path, runs: Path) -> Path | None:
    """The folder of a run by its path or its name; None where a file, a folder or a published data set is called so.

    Raises:
        RunMissingError: Nothing is called so; the message says what can be given, and what is nearest.
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
        f"there are no answers called {name!r}{did_you_mean(name, [*there, *ARCHIVES, *beside])}"
    )
    if is_theory:
        wrong = f"{name!r} is a theory, and stands where answers belong."
    raise RunMissingError(
        f"{wrong} Answers are a file of them (or a folder of files), a study file, a published data set "
        f"(`lakatos data list` names them), or a run by its name or path; runs in {runs}: {', '.join(there) or 'none'}."
    )


def _theory_or_name(outcome: StudyOutcome, name: str) -> FittedTheory | str:
    """A theory of a run; the name itself where only a published theory or a file is called so."""
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
