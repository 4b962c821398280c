"""The source of participants that a study names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lakatos.domains import ARCHIVES
from lakatos.domains.kit.archive import ArchiveReader
from lakatos.domains.published_data import load_archive
from lakatos.experiments.adoption.packing import answers_digest, pack_answers, unpack_answers
from lakatos.experiments.data_sets import check_alike, data_set_of, named_by_data_set
from lakatos.experiments.errors import DataMissingError
from lakatos.experiments.participants import SOURCES
from lakatos.experiments.participants.simulated import ResponseRule, SimulatedBehaviour
from lakatos.experiments.participants.source import ParticipantSource, StudySettings
from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.errors import StudyError
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of, family_of
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.account import declared_title
from lakatos.theories.language.family import own_texts
from lakatos.theories.language.grammar import Composition
from lakatos.theories.language.prior import draw_population
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.artifact import ArtifactStore

Array = NDArray[np.float64]


def make_source(
    config: CampaignConfig,
    folder: Path,
    data: Path | None,
    sealed_rows: Mapping[str, Sequence[int]] | None,
    kept: ArtifactStore | None = None,
) -> tuple[ParticipantSource, Theory | None]:
    """The source of a study's participants, and the rule that they follow where they are simulated.

    Args:
        config: The study.
        folder: Of the run, which keeps what people answer.
        data: Folder of the published data sets, for archival studies.
        sealed_rows: Trials sealed from the loop, by archived experiment; chosen by the seed when None.
        kept: Artifacts of a run that holds the responses of a file already; they are read from the file when None.

    Raises:
        DataMissingError: The study needs data that are not there.
        EmptyDesignSpaceError: The study's space has no admissible trial.
        StudyError: The archive cannot be cut into the folds asked for, or nobody can follow the study's program.
    """
    people = config.participants
    hidden = hidden_theory(config) if people.theory or people.program else None

    def respond() -> ResponseRule:
        assert hidden is not None  # a study of simulated people names a rule
        return _respond(config, hidden)

    study = StudySettings(
        folder=folder,
        domain=domain_of(config),
        space=config.space,
        seed=config.seed,
        one_by_one=config.source.one_by_one,
        participants=people.model_dump(),
        page=config.page.model_dump(),
        validation=config.validation.model_dump(),
        respond=respond,
        trials=lambda: _foldable(config, archive_trials(config, data, kept)),
        sealed_rows=sealed_rows,
        forbidden=config.design.forbidden,
    )
    return SOURCES[people.source].of_study(study), hidden


def hidden_theory(config: CampaignConfig) -> Theory:
    """The rule that simulated people follow: the study's own, or a published one with mechanisms replaced."""
    if config.participants.program:
        return read_program(TheoryProgram(config.participants.program, "hidden"))
    family = family_of(config)
    title, composition = family.seeds[config.participants.theory]
    slots = dict(composition.slots) | {
        slot: tuple(names) for slot, names in config.participants.mechanisms.items()
    }
    source = family.grammar.write(Composition(slots, composition.priors), title)
    return read_program(TheoryProgram(source, "hidden"))


def hidden_rule(config: CampaignConfig) -> str:
    """The rule that simulated people follow, in words that hold for all values which its parameters may have."""
    people, hidden = config.participants, hidden_theory(config)
    words = [declared_title(hidden.name, hidden.clauses, hidden.priors)]
    for slot, names in people.mechanisms.items():
        words.append(f"{slot} replaced by {' and '.join(names)}" if names else f"without {slot}")
    return "; ".join(words)


def whole_archive(
    config: CampaignConfig, data: Path | None, kept: ArtifactStore | None = None
) -> tuple[Trials, ...]:
    """All experiments of the data sets, or of the file, that the study names.

    Raises:
        DataMissingError: The data are not there, or the file holds other responses than when the study was read.
        TrialsError: The file is not what the study says of its columns.
    """
    people = config.participants
    if not people.file:
        archives = {name: load_archive(name, data or Path("data")) for name in people.archives}
        if len(archives) == 1:
            return archives[people.archives[0]]
        own = (named_by_data_set(name, trials) for name, trials in archives.items())
        return tuple(item for trials in own for item in trials)
    if kept is not None and kept.has(people.answers):
        return unpack_answers(kept.get(people.answers))
    # These load pandas.
    from lakatos.experiments.adoption.adopt import adopt_file
    from lakatos.experiments.adoption.content_order import trials_of_study

    assert people.columns is not None
    domain = domain_of(config)
    adopted = adopt_file(Path(people.file), people.columns, domain)
    if people.columns.condition:
        from lakatos.experiments.adoption.file_conditions import with_file_conditions

        adopted = with_file_conditions(adopted, people.columns.condition, domain)
    found = trials_of_study(adopted, domain, people.answers, people.experiments)
    if people.answers and answers_digest(found) != people.answers:
        raise DataMissingError(
            f"the file {people.file} was changed since the study was read; restore the file, or begin a new study."
        )
    return found


def keep_answers(
    config: CampaignConfig, artifacts: ArtifactStore, kept: ArtifactStore | None
) -> None:
    """Put the responses of a study's own file among a run's artifacts, so that the run needs the file no more."""
    if config.participants.file:
        artifacts.put(pack_answers(whole_archive(config, None, kept)))


def archive_readers(config: CampaignConfig) -> list[ArchiveReader]:
    """The archive readers of the data sets that a study names; none if participants are recruited."""
    people = config.participants
    if people.file:
        name, title = Path(people.file).name, f"responses in the file {Path(people.file).name}"
        return [ArchiveReader(name, config.domain, title, None, lambda _: ())]
    return [ARCHIVES[name] for name in people.archives]


def archive_trials(
    config: CampaignConfig, data: Path | None, kept: ArtifactStore | None = None
) -> tuple[Trials, ...]:
    """The archived experiments that the study names; see `whole_archive`.

    Raises:
        DataMissingError: No experiment has such a name.
        TrialsError: Data sets measure different things.
    """
    trials, people = whole_archive(config, data, kept), config.participants
    chosen = tuple(item for item in trials if fnmatchcase(item.experiment, people.experiments))
    if not chosen:
        raise DataMissingError(
            f"no experiment of {people.of_what} is called {people.experiments!r}; there are: "
            f"{', '.join(item.experiment for item in trials)}."
        )
    if config.participants.pooled:
        if domain_of(config).sequential:
            raise StudyError(
                "participants.pooled: steps of a schedule mean nothing without who took them; leave it out."
            )
        chosen = tuple(item.in_counts() for item in chosen)
    if len(people.archives) > 1:
        _check_several(config, chosen)
    for item in chosen:
        item.check_comparable()
    return chosen


def _check_several(config: CampaignConfig, chosen: Sequence[Trials]) -> None:
    """Refuse several data sets of which one would have no part, or that measure different things."""
    there = {data_set_of(item.experiment) for item in chosen}
    for name in config.participants.archives:
        if name not in there:
            raise DataMissingError(
                f"no experiment of {name} is called {config.participants.experiments!r}, so that it would have no "
                "part; leave the data set out, or give a pattern that matches some of it, such as "
                f"'{name}/*' or '*'."
            )
    check_alike(chosen)


def _foldable(config: CampaignConfig, trials: tuple[Trials, ...]) -> tuple[Trials, ...]:
    """The trials, if they can be cut into the folds that the study asks for."""
    folds = config.validation.folds
    if folds and len(trials) != 1:
        raise StudyError(
            f"folds need an archive with one experiment, and {config.participants.of_what} has "
            f"{len(trials)} that match {config.participants.experiments!r}; name one of them."
        )
    domain = domain_of(config)
    if folds and domain.sequential:
        raise StudyError(
            "folds are made of trials, and the steps of a schedule cannot be taken apart; give sealed_share "
            "instead, which seals people where trials are steps."
        )
    if folds and 2 * folds > len(trials[0].stimuli):
        raise StudyError(
            f"{folds} folds of {len(trials[0].stimuli)} trials leave fewer than two trials in each; "
            "ask for fewer folds."
        )
    return trials


def _respond(config: CampaignConfig, hidden: Theory) -> ResponseRule:
    """How people choose who follow the hidden rule."""
    domain = domain_of(config)
    sample = domain.candidates(config.space, np.random.default_rng(0), 50)
    if config.participants.program:
        with Sandbox(is_own=own_texts(domain)) as sandbox:
            try:
                load_theory(hidden.program, domain, sandbox, [sample])
            except TheoryError as error:
                raise StudyError(
                    f"the study's program cannot be what people follow: {error}"
                ) from None

    def respond(
        stimuli: Stimuli, order: Array, rng: np.random.Generator, random_choice_share: float
    ) -> SimulatedBehaviour:
        n_drawn = 1 << max(len(order) - 1, 1).bit_length()
        drawn = draw_population(hidden.priors, n_drawn, rng)
        people = {name: values[: len(order)] for name, values in drawn.items()} or {
            "": np.zeros(len(order))
        }
        with Sandbox(is_own=own_texts(domain)) as sandbox:
            return behave(hidden, domain, sandbox, people, stimuli, order, rng, random_choice_share)

    return respond
