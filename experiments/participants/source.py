"""Sources of participants: their contract, and the properties that a laboratory knows of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np

from lakatos.experiments.errors import SourceError
from lakatos.experiments.preregistration import Preregistration, check_preregistered
from lakatos.experiments.task import Design, Domain, StimulusOffer, Trials, with_random_sides
from lakatos.traces.digest import Digest, digest_of

Known = TypeVar("Known")
N_SCHEDULES = 4
"""Schedules that a design search in a sequential domain can choose from."""


ResponseOrigin = Literal["people", "simulated", "language_model"]
"""Kind of participants."""


@dataclass(frozen=True)
class SourceProfile:
    """Properties of a source of participants in a study, known before recruitment.

    The laboratory uses these properties only, never the names of sources.
    """

    origin: ResponseOrigin
    """Kind of participants. Responses of a language model are never scored together with those of participants."""
    brought_by: str
    """Instruction for the user on how missing responses are obtained."""
    responds_later: bool = False
    """Whether participants respond between passes, in their own time, so that a run has to wait for them."""
    one_by_one: bool = False
    """Whether each participant's responses are recorded on their own, so that participants can be excluded, replaced
    and withdraw; otherwise all responses to an experiment are one table."""
    is_archive: bool = False
    """Whether all responses exist already: only trials that the source offers can be presented, and there is no
    recruitment."""
    on_page: bool = False
    """Whether trials are presented on the laboratory's own page."""


@dataclass(frozen=True)
class Recruitment:
    """Participants who were recruited for one experiment."""

    key: Digest
    """Key of the step that recruited; recruiting again with it changes nothing."""
    experiment: str
    n_participants: int
    """Participants who will respond."""


@dataclass(frozen=True)
class Batch:
    """Responses that have arrived, in the order of their participants; the same ones again until closed."""

    payloads: Sequence[Mapping[str, Any]]
    """Items for the inbox: one `Trials.to_json`, or one `PersonAnswers.to_json` for each participant."""


@dataclass(frozen=True)
class Waiting:
    """Participants respond in their own time, and their responses come through the inbox."""


@dataclass(frozen=True)
class CallerDue:
    """State in which the caller must act before it collects again; a subclass states the action."""


Collected = Batch | Waiting | CallerDue
"""Result of a source when its responses are collected."""


class ParticipantSource(ABC):
    """Participants who can be recruited: simulated, archived, or real.

    A source made anew knows nothing of what an earlier process recruited. Report it with `mark_released`, in the order
    of the trace, and recruit again with the same key for a recruitment that is still open.
    """

    n_answers: int = 0
    """Responses that exist before recruitment, sealed ones included."""
    n_open: int = 0
    """Number of these experiments that are not sealed."""

    @abstractmethod
    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[StimulusOffer]:
        """Offers of trials that can be presented, each with at most ``n_most``; none if no responses are left."""

    @abstractmethod
    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Recruit the participants that ``design`` needs; recruited twice with one key, they come once.

        Raises:
            PreregistrationError: ``preregistration`` is missing or freezes another design.
            SourceError: The source cannot present this; `ArchiveExhaustedError` when its responses are used up.
        """

    @abstractmethod
    def collect(self, recruitment: Recruitment, n_participants: int) -> Collected:
        """Responses of ``n_participants`` participants, as far as they are wanted now: see `Collected`.

        Raises:
            SourceError: The recruitment is not known here.
        """

    @abstractmethod
    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Recruit more participants, ``n_participants`` in all, in place of some whose responses are excluded.

        Wanting no more than were recruited changes nothing.

        Raises:
            SourceError: There are no more participants, or the recruitment is not known here.
        """

    @abstractmethod
    def close(self, recruitment: Recruitment) -> None:
        """End the recruitment; closing twice changes nothing."""

    def mark_released(self, design: Design) -> None:  # noqa: B027 - new participants do not run out
        """Take note that the responses to ``design`` are in the trace; noting it twice changes nothing.

        Only responses that exist already run out.
        """

    def consents(self, design: Design, key: Digest) -> Mapping[str, Sequence[str]]:
        """Consent texts in each language, the agreement itself last; empty if no consent is needed."""
        return {}

    def lets_in(self, experiment: str) -> bool:
        """Return whether a recruiting service could still admit participants after the recruitment has ended."""
        return False

    def sealed(self) -> Sequence[Trials]:
        """Responses to trials that are sealed until the verdict."""
        return ()

    def sealed_participants(self) -> Sequence[Trials]:
        """All responses of participants who are sealed until the verdict."""
        return ()

    def respond_anew(self, seed: int) -> None:  # noqa: B027 - no seed decides what people respond
        """Set another seed for participants recruited from now on; without effect if no seed determines responses."""


@dataclass(frozen=True)
class StudySettings:
    """Settings of a study for its source of participants; expensive parts are made when they are used."""

    folder: Path
    """Folder of the run."""
    domain: Domain
    space: Mapping[str, Any]
    """Settings of the design space for the domain."""
    seed: int
    one_by_one: bool
    """See `SourceProfile`."""
    participants: Mapping[str, Any]
    """The section of the study file."""
    page: Mapping[str, Any]
    validation: Mapping[str, Any]
    respond: Callable[[], Any]
    """Makes the rule that simulated participants follow: `experiments.participants.simulated.ResponseRule`."""
    trials: Callable[[], Sequence[Trials]]
    """Reads the archive of the study."""
    sealed_rows: Mapping[str, Sequence[int]] | None = None
    """Trials sealed from the loop, by archived experiment; chosen by the seed when None."""
    forbidden: Sequence[str] = ()
    """Trials that are never shown, as conditions on their features."""


class ListedSource(ParticipantSource):
    """A source that a study file can name, with what it declares in `experiments.participants.SOURCES`."""

    keys: ClassVar[frozenset[str]] = frozenset()
    """Keys of the section ``participants`` that it reads, in addition to ``source``."""
    needs: ClassVar[tuple[str, ...]] = ()
    """Keys of which a study must give exactly one."""
    sections: ClassVar[frozenset[str]] = frozenset()
    """Sections of a study file that it reads and some other sources do not."""
    profile: ClassVar[SourceProfile]

    @classmethod
    def profile_in(cls, *, follows_participants: bool) -> SourceProfile:
        """Return the properties of the source in a study.

        Args:
            follows_participants: Whether the study excludes single participants, or stops early by their number.
        """
        return cls.profile

    @classmethod
    def reads(cls, section: str, key: str) -> bool:
        """Return whether this source reads a key of a section that sources share."""
        return True

    @classmethod
    @abstractmethod
    def of_study(cls, study: StudySettings) -> Self:
        """Make the source that a study names."""


class NewParticipants(ListedSource):
    """Participants who have not responded yet: any trials of the design space can be presented to them."""

    domain: Domain
    settings: Mapping[str, Any]
    """Settings of the design space for the domain."""
    n_participants: int = 0
    """Number of participants available for each experiment; 0 for no limit."""

    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[StimulusOffer]:
        """One offer: candidates of the design space. In a sequential domain, several schedules to choose from."""
        domain = self.domain
        n_offers, repetitions = (N_SCHEDULES, 1) if domain.sequential else (1, 0)
        found = []
        for _ in range(n_offers):
            stimuli = domain.candidates(self.settings, rng, n_most)
            stimuli = with_random_sides(domain, stimuli, rng)
            found.append(StimulusOffer("", stimuli, self.n_participants, repetitions))
        return found


def rng_of(seed: int, *names: str) -> np.random.Generator:
    """Return a generator that depends on the seed and the names alone."""
    return np.random.default_rng(int(digest_of({"seed": seed, "names": list(names)}), 16))


def recruited_in(known: Mapping[Digest, Known], recruitment: Recruitment) -> Known:
    """Look up the data that a source keeps of a recruitment.

    Raises:
        SourceError: There was no recruitment with this key.
    """
    if recruitment.key not in known:
        raise SourceError(
            f"no participants were recruited for {recruitment.experiment!r} here; recruit with the same key."
        )
    return known[recruitment.key]


def check_key(key: Digest, experiment: str, design: Design) -> None:
    """Refuse a key that was used to recruit for another experiment than that of the design.

    Raises:
        SourceError: The key was used for another experiment.
    """
    if experiment != design.name:
        raise SourceError(f"the key {key[:8]} belongs to {experiment!r}, not to {design.name!r}.")


def check_new_people(
    preregistration: Preregistration, design: Design, domain: Domain, who: str
) -> None:
    """Refuse a design that cannot be presented to new participants (``who``).

    Raises:
        PreregistrationError: ``preregistration`` is missing or freezes another design.
        SourceError: The design needs an archive, or no participants.
        StimuliError: The domain does not allow a trial.
    """
    check_preregistered(preregistration, design)
    if design.archive:
        raise SourceError(
            f"{design.name}: {who} have no answers from the archive {design.archive!r}."
        )
    if design.n_participants < 1:
        raise SourceError(
            f"{design.name} plans {design.n_participants} participants; plan at least 1."
        )
    domain.check(design.stimuli)
