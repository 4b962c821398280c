"""Any theory on any other data of its domain, as a record of what was computed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from lakatos.domains import ARCHIVES, DOMAINS, FAMILIES, find_domain
from lakatos.domains.published_data import load_archive
from lakatos.experiments.adoption.adopt import adopt_file, check_adopted
from lakatos.experiments.adoption.content_order import trials_of_study
from lakatos.experiments.adoption.describe import describe_table
from lakatos.experiments.adoption.mapping import AnswerColumns
from lakatos.experiments.adoption.names import ALL
from lakatos.experiments.adoption.packing import answers_digest
from lakatos.experiments.adoption.tables import read_answers
from lakatos.experiments.answer_scale import in_window
from lakatos.experiments.data_sets import data_set_of, published_name
from lakatos.experiments.errors import DataMissingError
from lakatos.experiments.task import Domain, Trials
from lakatos.experiments.task_file import TaskFile, task_file_of
from lakatos.flows.errors import RunMissingError, TransferError
from lakatos.flows.run.evidence import form_of, trials_in
from lakatos.flows.run.places import find_run
from lakatos.flows.run.run import read_begun
from lakatos.flows.run.source import archive_trials
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig, load_study
from lakatos.flows.run.task import domain_of, science_of
from lakatos.theories.engine.evidence import with_fit
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.errors import TheoryError
from lakatos.theories.findings.generic_learners.completeness import guessing
from lakatos.theories.findings.transfer import N_DRAWS, TransferScores, transfer
from lakatos.theories.language.family import find_family
from lakatos.theories.language.prior import learned_ends
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.theories.language.theory_file import read_theory_file
from lakatos.traces.artifact import write_whole
from lakatos.traces.digest import Digest, Fingerprint
from lakatos.traces.place import run_folders
from lakatos.traces.wording import did_you_mean, plural

TRANSFER_FILE = "transfer.json"


class TransferMeasured(TransferScores):
    """A theory on responses that had no part in it, with all that computes it again."""

    kind: Literal["transfer_measured"] = "transfer_measured"
    version: Literal[1] = 1
    name: str
    claim: str
    source: str
    """The theory's program."""
    author: str
    origin: str
    """Origin of the theory, in words."""
    people: dict[str, tuple[float, float]]
    """Population of the theory, as in `TheoryFitted`; empty for the declared ranges."""
    doubts: dict[str, float] = Field(default_factory=dict)
    """Uncertainty of the spreads of these people, as in `TheoryFitted`."""
    pooled: bool
    """Whether these were learned where people could not be told apart."""
    domain: str
    domain_file: TaskFile | None = None
    """File that declares the domain; None for a domain of the package."""
    data: str
    """Data set of the new responses, a run, or the path of a file."""
    columns: AnswerColumns | None = None
    """Meaning of a file's columns; None for a data set or a run."""
    experiments: tuple[str, ...]
    answers: tuple[Fingerprint, ...]
    """Digest of each experiment's responses."""
    n_draws: int
    seed: int
    science: Fingerprint
    """Digest of the code that computed it."""
    guessing: float
    """Nats per choice of somebody who guesses."""


@dataclass(frozen=True)
class TravellingTheory:
    """A theory, where it comes from, and what it was found on."""

    theory: Theory
    """The theory with its population."""
    form: Theory
    origin: str
    domain: str
    """Kind of task; empty where it is unknown."""
    found_on: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Experiments of each data set whose responses were used to find the theory."""
    answers: frozenset[Fingerprint] = frozenset()
    """Digests of the responses of the run's own experiments."""


@dataclass(frozen=True)
class TransferTarget:
    """Responses on which a theory can be tried."""

    name: str
    """Name of a published data set or a run, or the path of a file."""
    domain: str
    trials: tuple[Trials, ...]
    archived: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Experiments by data set (a file by its digest); none for participants of a run."""
    domain_file: TaskFile | None = None
    """File that declares the domain; None for a domain of the package."""
    columns: AnswerColumns | None = None
    """Meaning of a file's columns."""
    notes: tuple[str, ...] = ()
    """Exclusions from a file, and assumptions."""

    @property
    def task(self) -> Domain:
        """The domain of the responses."""
        return find_domain(self.domain, self.domain_file)


def measure_transfer(
    travelling: TravellingTheory,
    target: TransferTarget,
    *,
    n_draws: int = N_DRAWS,
    seed: int = 0,
    n_workers: int = 2,
) -> TransferMeasured:
    """Try a theory on responses that had no part in it, beside published theories and generic learners.

    Args:
        travelling: The theory.
        target: The responses.
        n_draws: Number of draws of each population, a power of two.
        seed: Random seed of the generic learners.
        n_workers: Theories that run at the same time; does not change results.

    Raises:
        TransferError: The theory is of another domain, does not run on these trials, or was found on these responses.
    """
    check_target(travelling, target)
    task, theory, form = target.task, travelling.theory, travelling.form
    family = find_family(task)
    published = {name: read_program(family.program(name)) for name in family.seeds}
    with Laboratory(task, n_workers) as laboratory:
        try:
            found = transfer(
                theory, published, target.trials, laboratory, form=form, n_draws=n_draws, seed=seed
            )
        except TheoryError as error:
            raise TransferError(
                f"{theory.name!r} does not run on the responses of {target.name}, which are about {task.name}: "
                f"{error} A theory can be tried on data of its own domain only."
            ) from error
    people = {} if theory is form else learned_ends(theory.priors)
    domain_file = task_file_of(task)
    return TransferMeasured(
        name=theory.name,
        claim=theory.claim,
        source=theory.program.source,
        author=theory.program.author,
        origin=travelling.origin,
        people=people,
        doubts={name: theory.priors[name].doubt for name in people},
        pooled=theory.pooled,
        domain=task.name,
        domain_file=domain_file,
        data=target.name,
        columns=target.columns,
        experiments=tuple(item.experiment for item in target.trials),
        answers=tuple(item.digest for item in target.trials),
        n_draws=n_draws,
        seed=seed,
        science=_science_of(task.name, domain_file),
        guessing=guessing(found.n_options),
        lines=found.lines,
        n_options=found.n_options,
        failed=found.failed,
        left_out=found.left_out,
    )


def _science_of(domain: str, file: TaskFile | None) -> Fingerprint:
    """Digest of the code that decides about responses of a domain."""
    return science_of({"domain": domain, "domain_file": file and file.model_dump()})


def check_travel(
    travelling: TravellingTheory,
    data: str,
    domain: str,
    experiments: Sequence[str],
    *,
    called: str = "",
) -> None:
    """Raise `TransferError` where a theory cannot be tried, or would be tried on what it was made from.

    Args:
        travelling: The theory.
        data: Name of the data set, or the digest of a file of responses.
        domain: Domain of the responses.
        experiments: Experiments of the data set.
        called: How a file of responses is called, whose digest says nothing to anybody.
    """
    shown_name = data if data in ARCHIVES else called or data
    name = travelling.theory.name
    if travelling.domain and travelling.domain != domain:
        raise TransferError(
            f"{name!r} is about {travelling.domain} and the responses of {shown_name} are about {domain}; a theory can "
            f"be tried on data of its own domain only. `lakatos data list` names the domain of each data set."
        )
    same = sorted(travelling.found_on.get(data, frozenset()).intersection(experiments))
    if same:
        raise TransferError(
            f"{name!r} was found on {', '.join(same[:3])}{' and others' if len(same) > 3 else ''} of {shown_name}, so "
            "that these responses cannot test it. Name another data set, or other experiments of this one "
            "with --experiments."
        )


def check_target(travelling: TravellingTheory, target: TransferTarget) -> None:
    """Raise `TransferError` where a theory was found on some responses of the target, whatever their names there."""
    check_travel(travelling, target.name, target.domain, ())
    for data_set, experiments in target.archived.items():
        check_travel(travelling, data_set, target.domain, sorted(experiments), called=target.name)
    same = [item.experiment for item in target.trials if item.digest in travelling.answers]
    if same:
        raise TransferError(
            f"{travelling.theory.name!r} was found on the responses of {same[0]}, which {target.name} contains, so "
            "that they cannot test it. Name another run, or a data set."
        )


def find_target(
    name: str,
    experiments: str,
    runs: Path,
    data: Path | None = None,
    *,
    task: Domain | None = None,
    columns: Mapping[str, Any] | AnswerColumns | None = None,
) -> TransferTarget:
    """Responses to try a theory on: those of a published data set, those that a run collected, or those of a file.

    Args:
        name: Name of the data set, or of the run (or its path); or the path of a file, a folder of files, or a study.
        experiments: Pattern of the experiments' names.
        runs: Folder that holds the runs.
        data: Folder of the published data sets.
        task: Kind of task of a file; guessed where it is None.
        columns: Meanings of columns of a file that replace guessed ones, or all of them.

    Raises:
        DataMissingError: There is nothing of the name, or no experiment matches.
        TrialsError: A file cannot be read.
    """
    if name in ARCHIVES:
        trials = read_target(name, experiments, data)
        names = frozenset(item.experiment for item in trials)
        return TransferTarget(name, ARCHIVES[name].domain, trials, {name: names})
    try:
        folder = find_run(name, runs)
    except RunMissingError as error:
        if Path(name).exists():
            return _file_target(Path(name), experiments, task, columns or {})
        raise DataMissingError(
            f"there is no data set {name!r}{did_you_mean(name, ARCHIVES)} There are {', '.join(sorted(ARCHIVES))}. "
            f"Nor is there such a file, or such a run: {error}"
        ) from None
    state, trace = read_begun(folder)
    with trace:
        assert state.campaign.config is not None
        chosen = [own for own in state.experiments.collected if fnmatchcase(own, experiments)]
        trials = tuple(trials_in(trace.artifacts, state, own) for own in chosen)
    if not state.experiments.collected:
        raise DataMissingError(
            f"the run {name} has no responses yet: nothing was collected. `lakatos resume {folder}` goes on."
        )
    if not trials:
        there = ", ".join(state.experiments.collected)
        raise DataMissingError(
            f"no experiment of the run {name} is called {experiments!r}; it collected: {there}."
        )
    config = state.campaign.config
    archives = [state.experiments.designs[own].record.archive for own in chosen]
    archived = _by_data_set(config, archives) if config.source.is_archive else {}
    return TransferTarget(folder.name, config.domain, trials, archived, config.domain_file)


def _file_target(
    path: Path, experiments: str, task: Domain | None, said: Mapping[str, Any] | AnswerColumns
) -> TransferTarget:
    """Responses of a file, or of the file that a study names."""
    if path.suffix == ".toml":
        study = load_study(path)
        if study.participants.columns is None:
            raise DataMissingError(
                f"the study {path} names no file of responses (participants.file)."
            )
        path, task = Path(study.participants.file), domain_of(study)
        mapping = _with_said(study.participants.columns, said)
    elif isinstance(said, AnswerColumns):
        mapping = said
    else:
        found = describe_table(read_answers(path), task).with_columns(said)
        if task is None and not found.domain:
            raise DataMissingError(
                f"the kind of task of {path} cannot be guessed from its columns; give --domain: "
                f"{', '.join(DOMAINS)}, or the file that declares the task. `lakatos data "
                f"describe {path}` shows what it holds.{found.doubts_in_words}"
            )
        task, mapping = task or DOMAINS[found.domain], found.mapping
    assert task is not None  # a record, a study and a description say whose trials they are
    adopted = adopt_file(path, mapping, task)
    check_adopted(adopted)
    chosen = [item for item in adopted.trials if fnmatchcase(item.experiment, experiments)]
    if not chosen:
        there = ", ".join(item.experiment for item in adopted.trials)
        raise DataMissingError(
            f"no experiment of {path} is called {experiments!r}; there are: {there}."
        )
    names = frozenset(item.experiment for item in chosen)
    # A run names them by content, or, one of an earlier version, in the order of the file.
    known_to_runs = (
        adopted.trials,
        trials_of_study(adopted, task),
        trials_of_study(adopted, task, experiments=""),
    )
    return TransferTarget(
        name=str(path),
        domain=in_window(task, adopted.time_window).name,
        trials=tuple(chosen),
        archived=dict.fromkeys(map(answers_digest, known_to_runs), names | {ALL}),
        domain_file=task_file_of(task),
        columns=mapping,
        notes=adopted.in_brief,
    )


def _with_said(columns: AnswerColumns, stated: Mapping[str, Any] | AnswerColumns) -> AnswerColumns:
    """The meanings of columns that a study says, with others in place of some."""
    if isinstance(stated, AnswerColumns):
        return stated
    return AnswerColumns.model_validate(columns.model_dump() | dict(stated))


def _by_data_set(config: CampaignConfig, experiments: Iterable[str]) -> dict[str, frozenset[str]]:
    """Experiments of a study by the data set that they are of (a file by its digest), as they are called there."""
    people = config.participants
    if len(people.archives) < 2:
        return {people.answers or people.of_what: frozenset(experiments)}
    found: dict[str, set[str]] = {}
    for name in experiments:
        found.setdefault(data_set_of(name), set()).add(published_name(name))
    return {data_set: frozenset(names) for data_set, names in found.items()}


def find_travelling(
    name: str,
    runs: Path,
    *,
    of: str = "",
    domain: str | Domain = "",
    data: Path | None = None,
) -> TravellingTheory:
    """A theory by the path of its source, by a run's name (or path), or by the name of a published one.

    Args:
        name: What was given.
        runs: Folder that holds the runs.
        of: A run's theory by name, or by the beginning of its digest; the leader by default.
        domain: Domain of the data, for published theories, whose names are of a domain.
        data: Folder of the published data sets, to know which experiments a run was about.

    Raises:
        TransferError: There is nothing of that name.
    """
    path = Path(name)
    if path.suffix == ".py" or path.is_file():
        try:
            theory = read_program(TheoryProgram(read_theory_file(path), "you"))
        except TheoryError as error:
            raise TransferError(f"{path} is no theory: {error}") from error
        origin = f"the file {path.name}; the responses on which it was found are unknown"
        return TravellingTheory(theory, theory, origin, "")
    family = FAMILIES.get(domain) if isinstance(domain, str) else find_family(domain)
    if family is not None and name in family.seeds:
        theory = read_program(family.program(name))
        return TravellingTheory(theory, theory, "published", family.domain)
    elsewhere = [own for own, family in FAMILIES.items() if name in family.seeds]
    if elsewhere:
        theory = read_program(FAMILIES[elsewhere[0]].program(name))
        return TravellingTheory(theory, theory, "published", elsewhere[0])
    try:
        folder = find_run(name, runs)
    except RunMissingError:
        published = [own for family in FAMILIES.values() for own in family.seeds]
        there = [folder.name for folder in run_folders(runs)]
        raise TransferError(
            f"there is no theory {name!r}: no source file, no published theory and no run is called so"
            f"{did_you_mean(name, [*published, *there])} Runs in {runs}: {', '.join(there) or 'none'}."
        ) from None
    return _of_run(folder, of, data)


def _of_run(folder: Path, of: str, data: Path | None) -> TravellingTheory:
    """A run's leader, or another theory of it, with the people that its newest fit found."""
    state, trace = read_begun(folder)
    with trace:
        assert state.campaign.config is not None
        leader = _leader(state)
        if not (of or leader):
            raise TransferError(
                f"the run {folder.name} has no theory yet: nothing was scored. `lakatos resume {folder}` goes on."
            )
        form = form_of(trace.artifacts, state, of or str(leader))
        answers = frozenset(
            trials_in(trace.artifacts, state, name).digest for name in state.experiments.collected
        )
    config = state.campaign.config
    found_on: Mapping[str, frozenset[str]] = {}
    where = config.participants.source
    if config.source.is_archive:
        names = {item.experiment for item in archive_trials(config, data)}
        found_on = _by_data_set(config, names)
        where = f"{plural(len(names), 'experiment')} of {config.participants.of_what}"
    again = state.theories.relearned
    if again is not None and again.record.theory == form.digest:
        where += ", with the population of all responses, sealed ones included"
    origin = f"the run {folder.name}, study {config.name}, found on {where}"
    return TravellingTheory(
        with_fit(form, state.theories, relearned=True),
        form,
        origin,
        config.domain,
        found_on,
        answers,
    )


def task_of_run(name: str, runs: Path) -> Domain | None:
    """The domain of a run, by its name or path; None if there is no such run."""
    try:
        folder = find_run(name, runs)
    except RunMissingError:
        return None
    state, trace = read_begun(folder)
    trace.close()
    assert state.campaign.config is not None
    return domain_of(state.campaign.config)


def _leader(state: RunState) -> Digest | None:
    if state.campaign.concluded is not None:
        return state.campaign.concluded.record.leader
    standings = state.board().standings
    return standings[0].theory if standings else None


def read_target(data: str, experiments: str, folder: Path | None) -> tuple[Trials, ...]:
    """The experiments of a data set whose names match a pattern.

    Raises:
        DataMissingError: There is no such data set, it is not in the folder, or no experiment matches.
    """
    trials = load_archive(data, folder or Path("data"))
    chosen = tuple(item for item in trials if fnmatchcase(item.experiment, experiments))
    if not chosen:
        there = ", ".join(item.experiment for item in trials)
        raise DataMissingError(
            f"no experiment of {data} is called {experiments!r}; there are: {there}."
        )
    for item in chosen:
        item.check_comparable()
    return chosen


def write_transfer(measured: TransferMeasured, folder: Path) -> Path:
    """Write the record as JSON; returns the file."""
    file = folder / TRANSFER_FILE
    text = json.dumps(measured.model_dump(mode="json"), indent=1) + "\n"
    write_whole(file, text.encode())
    return file
