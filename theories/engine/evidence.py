"""Knowledge of theories and of the responses that they explain, for science that only reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lakatos.experiments.participants.table import get_trials
from lakatos.experiments.planning.settings import DesignConfig
from lakatos.experiments.state import ExperimentsState
from lakatos.experiments.task import Domain, Trials
from lakatos.theories.engine.laboratory import Laboratory
from lakatos.theories.engine.record import LearnedPopulation, SealedScored
from lakatos.theories.engine.scoreboard import Scoreboard, board_of, decisive_sealed_of
from lakatos.theories.engine.state import TheoriesState
from lakatos.theories.language.family import Family
from lakatos.theories.language.theory import Theory, TheoryProgram, read_program
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest


@dataclass(frozen=True)
class StudyTerms:
    """Settings of a study that the science of theories reads."""

    seed: int
    space: Mapping[str, Any]
    """Settings from which trials are made."""
    archival: bool
    """Whether responses come from an archive, so that only its trials can be asked."""
    design: DesignConfig
    n_draws: int
    """People drawn of each theory to score it."""
    n_rivals: int
    """Theories that an experiment is to tell apart, at most."""
    closed: frozenset[str] = frozenset()
    """Inputs that the responses do not show, so that theories that need them are not considered; see
    `Mechanism.needs`."""

    @property
    def n_people(self) -> int:
        """Number of participants recruited together, roughly, where the study leaves it to the power of a design."""
        return self.design.participants or 25


@dataclass(frozen=True)
class TheoryEvidence:
    """Knowledge of theories at one moment. It can neither record a step nor recruit participants."""

    terms: StudyTerms
    domain: Domain
    family: Family
    laboratory: Laboratory
    artifacts: ArtifactStore
    experiments: ExperimentsState
    theories: TheoriesState
    seeds: tuple[Digest, ...]
    """Rivals with which the study began: published theories and its own, not those of earlier campaigns."""
    forms: dict[Digest, Theory]
    """Theories that were read already."""
    tables: dict[Digest, Trials]
    """Trial tables that were read already, by artifact."""

    @property
    def open_family(self) -> Family:
        """The theories of the family that the responses can test."""
        return self.family.without(self.terms.closed)

    def form(self, digest: Digest) -> Theory:
        """A checked theory with its declared ranges, read from its artifact."""
        if digest not in self.forms:
            self.forms[digest] = read_form(self.artifacts, self.theories, digest)
        return self.forms[digest]

    def theory(self, digest: Digest) -> Theory:
        """A checked theory with the people that its newest fit found."""
        return with_fit(self.form(digest), self.theories)

    def trials(self, experiment: str) -> Trials:
        """The answers collected in an experiment."""
        return self.trials_of(self.experiments.collected[experiment].record.trials)

    def trials_of(self, artifact: Digest) -> Trials:
        """A trial table by its artifact."""
        if artifact not in self.tables:
            self.tables[artifact] = get_trials(self.artifacts, artifact)
        return self.tables[artifact]

    def board(self) -> Scoreboard:
        """All rivals on all experiments."""
        return board_of(self.theories, self.experiments)

    @property
    def decisive_sealed(self) -> Mapping[Digest, SealedScored]:
        """Scores on sealed responses on which a verdict can rest."""
        return decisive_sealed_of(self.theories, self.experiments)


def read_form(artifacts: ArtifactStore, theories: TheoriesState, digest: Digest) -> Theory:
    """A checked theory with its declared ranges, called as the verdict calls it."""
    known = theories.check_of(digest).record
    source = artifacts.get(digest).decode()
    theory = read_program(TheoryProgram(source, known.author, known.parents))
    return replace(theory, name=theories.bare_name(digest))


def with_fit(form: Theory, theories: TheoriesState, *, relearned: bool = False) -> Theory:
    """A theory with the people that its newest fit found, where there is one, told as the verdict tells it.

    Args:
        form: Form with its declared ranges.
        theories: Theories of the run.
        relearned: Whether the people are those learned from all responses after the verdict, where there are any.
    """
    if theories.told is not None:
        renewed = theories.told.record
        own = (*renewed.idle, *renewed.refused) if form.digest == renewed.leader else ()
        form = replace(form, lacking=frozenset(renewed.lacking), silent=frozenset(own))
    fitted = theories.fits.get(form.digest)
    if fitted is None:
        return form
    again = theories.relearned
    found: LearnedPopulation = fitted.record
    if relearned and again is not None and again.record.theory == form.digest:
        found = again.record
    centers = {name: item.as_learned for name, item in found.own_centers.items()}
    theory = form.with_recorded(found.people, found.doubts, centers, pooled=found.pooled)
    return replace(theory, name=theories.bare_name(form.digest))
