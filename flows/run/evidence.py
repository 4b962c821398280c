"""What a run knows, for functions that only read: its study, its state, its theories and its answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakatos.experiments.participants.table import get_trials
from lakatos.experiments.task import Domain, Trials
from lakatos.flows.errors import RunMissingError
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.memory.library import Library
from lakatos.theories.families.family import Family
from lakatos.theories.laboratory import Laboratory
from lakatos.theories.theory import Theory, TheoryProgram, read_program
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest


@dataclass(frozen=True)
class RunEvidence:
    """What a run knows at one moment. Whoever is given it can neither record a step nor ask anybody."""

    config: CampaignConfig
    domain: Domain
    family: Family
    laboratory: Laboratory
    state: RunState
    artifacts: ArtifactStore
    forms: dict[Digest, Theory]
    """Theories that were read already."""
    tables: dict[Digest, Trials]
    """Trial tables that were read already, by artifact."""
    libraries: dict[Digest, Library]
    """Libraries of earlier campaigns that were read already, by artifact."""

    def form(self, digest: Digest) -> Theory:
        """A checked theory with its declared ranges, read from its artifact."""
        if digest not in self.forms:
            self.forms[digest] = form_of(self.artifacts, self.state, digest)
        return self.forms[digest]

    def theory(self, digest: Digest) -> Theory:
        """A checked theory with the people that its newest fit found."""
        return with_fit(self.form(digest), self.state)

    def trials(self, experiment: str) -> Trials:
        """The answers collected in an experiment."""
        return self.trials_of(self.state.experiments.collected[experiment].record.trials)

    def trials_of(self, artifact: Digest) -> Trials:
        """A trial table by its artifact."""
        if artifact not in self.tables:
            self.tables[artifact] = get_trials(self.artifacts, artifact)
        return self.tables[artifact]


def fits_of(state: RunState, names: Iterable[Digest]) -> list[Digest]:
    """Records of the newest fits of theories, as inputs of what uses their people."""
    fits = state.theories.fits
    return [fits[name].digest for name in names if name in fits]


def trials_in(artifacts: ArtifactStore, state: RunState, experiment: str) -> Trials:
    """The answers collected in an experiment."""
    return get_trials(artifacts, state.experiments.collected[experiment].record.trials)


def theory_of(artifacts: ArtifactStore, state: RunState, name: str) -> Theory:
    """`form_of`, with the people that the theory's newest fit found."""
    return with_fit(form_of(artifacts, state, name), state)


def with_fit(form: Theory, state: RunState) -> Theory:
    """A theory with the people that its newest fit found, where there is one, told as the verdict tells it."""
    if state.theories.told is not None:
        told = state.theories.told.record
        own = (*told.idle, *told.refused) if form.digest == told.leader else ()
        form = replace(form, lacking=frozenset(told.lacking), silent=frozenset(own))
    fitted = state.theories.fits.get(form.digest)
    if fitted is None:
        return form
    found = fitted.record
    theory = form.with_recorded(found.people, found.doubts, pooled=found.pooled)
    return replace(theory, name=state.theories.bare_name(form.digest))


def form_of(artifacts: ArtifactStore, state: RunState, name: str) -> Theory:
    """A checked theory of a run with its declared ranges, by its name or by the beginning of its digest.

    Raises:
        RunMissingError: None, or more than one, is called so.
    """
    found = [
        digest
        for digest, known in state.theories.checked.items()
        if name in (known.record.name, state.theories.bare_name(digest)) or digest.startswith(name)
    ]
    if len(found) != 1 or not name:
        there = ", ".join(
            f"{item.record.name} ({digest[:6]})" for digest, item in state.theories.checked.items()
        )
        raise RunMissingError(
            f"{len(found)} theories of the run are called {name!r}; give the beginning of a digest. There are: {there}."
        )
    known = state.theories.checked[found[0]].record
    source = artifacts.get(found[0]).decode()
    theory = read_program(TheoryProgram(source, known.author, known.parents))
    return replace(theory, name=state.theories.bare_name(found[0]))
