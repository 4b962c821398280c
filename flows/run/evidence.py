"""Read-only view of a run: its study, its state, its theories and its responses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lakatos.experiments.participants.table import attributes_of, get_trials
from lakatos.experiments.task import Trials
from lakatos.flows.errors import RunMissingError
from lakatos.flows.run.state import RunState
from lakatos.flows.run.study import CampaignConfig
from lakatos.flows.run.task import domain_of
from lakatos.memory.library import Library
from lakatos.theories.engine.evidence import StudyTerms, TheoryEvidence, read_form, with_fit
from lakatos.theories.language.theory import Theory
from lakatos.traces.artifact import ArtifactStore
from lakatos.traces.digest import Digest
from lakatos.traces.wording import did_you_mean


@dataclass(frozen=True)
class RunEvidence(TheoryEvidence):
    """The state of a run at one moment. It can neither record a step nor recruit participants."""

    config: CampaignConfig
    state: RunState
    libraries: dict[Digest, Library]
    """Libraries of earlier campaigns that were read already, by artifact."""

    def trials_of(self, artifact: Digest) -> Trials:
        """A trial table by its artifact, with what the study asked its people about themselves."""
        page = self.config.page
        if artifact not in self.tables and (page.questions or page.conditions):
            known = attributes_of(self.artifacts, artifact, page.questions, page.language)
            own = {name: np.array(words) for name, words in known.items()}
            found = get_trials(self.artifacts, artifact)
            self.tables[artifact] = replace(found, attributes=own) if own else found
        return super().trials_of(artifact)


def terms_of(config: CampaignConfig) -> StudyTerms:
    """The settings of a study that the science of theories reads."""
    return StudyTerms(
        seed=config.seed,
        space=config.space,
        archival=config.source.is_archive,
        design=config.design,
        n_draws=config.theories.draws,
        n_rivals=config.theories.rivals,
        closed=frozenset(config.closed_inputs),
    )


def counted_again(config: CampaignConfig, state: RunState) -> str:
    """A sentence where participants of several experiments of a run would be compared; empty where there are none.

    Responses that were there before are opened a few trials at a time, so that a participant of a file is in the
    experiments of several cycles, under another number in each. Comparisons of participants cannot know this.
    """
    if not config.source.is_archive or domain_of(config).sequential:
        return ""
    designs = state.experiments.designs
    archives = [designs[name].record.archive for name in state.experiments.collected]
    if len(set(archives)) == len(archives):
        return ""
    return (
        "Participants of several of these experiments count once in each, so that there is no p, and intervals are too "
        "narrow: use `lakatos theory effects` with the file or the study, where every participant counts once."
    )


def trials_in(artifacts: ArtifactStore, state: RunState, experiment: str) -> Trials:
    """The answers collected in an experiment."""
    return get_trials(artifacts, state.experiments.collected[experiment].record.trials)


def theory_of(
    artifacts: ArtifactStore, state: RunState, name: str, *, relearned: bool = False
) -> Theory:
    """`form_of`, with the people that the theory's newest fit found, or all responses after the verdict."""
    return with_fit(form_of(artifacts, state, name), state.theories, relearned=relearned)


def form_of(artifacts: ArtifactStore, state: RunState, name: str) -> Theory:
    """A checked theory of a run with its declared ranges, by its name or by the beginning of its digest.

    Raises:
        RunMissingError: None, or more than one, is called so.
    """
    known = state.theories
    found = [
        digest
        for digest, item in known.checked.items()
        if name in (item.record.name, known.bare_name(digest)) or digest.startswith(name)
    ]
    if len(found) == 1 and name:
        return read_form(artifacts, known, found[0])
    names = {digest: known.bare_name(digest) for digest in known.checked}
    wrong = f"no theory of the run is called {name!r}{did_you_mean(name, names.values())}"
    if found:
        wrong = (
            f"{len(found)} theories of the run are called {name!r}; give the beginning of a digest."
        )
    there = ", ".join(f"{names[digest]} ({digest[:6]})" for digest in found or names) or "none yet"
    raise RunMissingError(f"{wrong} There are: {there}.")
