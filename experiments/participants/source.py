"""Who answers: the contract of every participant source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from lakatos.experiments.errors import SourceError
from lakatos.experiments.preregistration import Preregistration, check_preregistered
from lakatos.experiments.task import Design, Domain, StimulusOffer, Trials, with_random_sides
from lakatos.traces.digest import Digest, digest_of

N_SCHEDULES = 4
"""Schedules that a design search in a sequential domain can choose from."""


@dataclass(frozen=True)
class Recruitment:
    """People who were asked for."""

    key: Digest
    """Of the step that asked; asking again with it changes nothing."""
    experiment: str
    n_participants: int
    """People who will answer."""


class ParticipantSource(Protocol):
    """People who can be asked: simulated, archived, or real.

    A source made anew knows nothing of what an earlier process asked. Tell it with `mark_released`, in the order of
    the trace, and ask again with the same key for a recruitment that is still open.
    """

    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[StimulusOffer]:
        """What can be asked: at most ``n_most`` stimuli in each offer; nothing when no answers are left."""

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Ask for the people that ``design`` needs; asked twice with one key, they come once.

        Raises:
            PreregistrationError: ``preregistration`` is missing or freezes another design.
            SourceError: The source cannot ask this; `ArchiveExhaustedError` when its answers are used up.
        """

    def poll(self, recruitment: Recruitment) -> Sequence[dict[str, Any]]:
        """Batches that have arrived, for the inbox; the same ones again until closed.

        One `Trials.to_json`, or one `PersonAnswers.to_json` a person. Nothing where whoever collects leaves batches in
        the inbox by itself.

        Raises:
            SourceError: The recruitment is not known here.
        """

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Ask for more people, ``n_participants`` in all, in place of some whose answers are excluded.

        Asking for no more than were asked for changes nothing.

        Raises:
            SourceError: There are no more people, or the recruitment is not known here.
        """

    def close(self, recruitment: Recruitment) -> None:
        """Ask for no more; closing twice changes nothing."""

    def mark_released(self, design: Design) -> None:
        """Take note that the answers to ``design`` are in the trace; noting it twice changes nothing."""


@dataclass(frozen=True)
class StudySettings:
    """What a study says to whatever makes its participants; parts that cost something are made when asked for."""

    folder: Path
    """Of the run."""
    domain: Domain
    space: Mapping[str, Any]
    """Describes the design space to the domain."""
    seed: int
    by_person: bool
    """Whether answers are handed over person by person."""
    participants: Mapping[str, Any]
    """The section of the study file."""
    page: Mapping[str, Any]
    validation: Mapping[str, Any]
    respond: Callable[[], Any]
    """Makes the rule that simulated people follow: `experiments.participants.simulated.ResponseRule`."""
    trials: Callable[[], Sequence[Trials]]
    """Reads the archive that the study names."""
    sealed_rows: Mapping[str, Sequence[int]] | None = None
    """Trials sealed from the loop, by archived experiment; chosen by the seed when None."""
    forbidden: Sequence[str] = ()
    """Trials that are never shown, as conditions on their features."""


@runtime_checkable
class ConsentingSource(Protocol):
    """A source whose people agree to a text before they take part."""

    def consents(self, design: Design, key: Digest) -> Mapping[str, Sequence[str]]:
        """What they agree to, in each language; the last line is the agreement itself."""


class ListedSource(ParticipantSource, Protocol):
    """A source that a study file can name: what it says of itself in `experiments.participants.SOURCES`."""

    keys: ClassVar[frozenset[str]]
    """Keys of a study file's section ``participants`` that mean something to it, beside ``source``."""
    sections: ClassVar[frozenset[str]]
    """Sections of a study file that mean something to it and not to every source."""
    brought_by: ClassVar[str]
    """What brings answers that are missing, for people to read."""

    @classmethod
    def of_study(cls, study: StudySettings) -> Self:
        """The source that a study asks for."""


def rng_of(seed: int, *names: str) -> np.random.Generator:
    """A generator that depends on the seed and the names alone."""
    return np.random.default_rng(int(digest_of({"seed": seed, "names": list(names)}), 16))


def check_new_people(
    preregistration: Preregistration, design: Design, domain: Domain, who: str
) -> None:
    """Refuse what ``who``, people who have not been asked yet, cannot be asked.

    Raises:
        PreregistrationError: ``preregistration`` is missing or freezes another design.
        SourceError: The design wants an archive, or nobody.
        StimuliError: The domain does not allow a trial.
    """
    check_preregistered(preregistration, design)
    if design.archive:
        raise SourceError(
            f"{design.name}: {who} have no answers from the archive {design.archive!r}."
        )
    if design.n_participants < 1:
        raise SourceError(
            f"{design.name} asks for {design.n_participants} participants; ask for at least 1."
        )
    domain.check(design.stimuli)


def offers_to_new_people(
    domain: Domain,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
    n_most: int,
    n_participants: int = 0,
) -> list[StimulusOffer]:
    """What people who have not been asked yet can be asked: candidates of the space that ``settings`` describe.

    One offer, or in a sequential domain several schedules to choose from. ``n_participants`` is how many people there
    are; 0 means as many as wanted.
    """
    n_offers, repetitions = (N_SCHEDULES, 1) if domain.sequential else (1, 0)
    return [
        StimulusOffer(
            "",
            with_random_sides(domain, domain.candidates(settings, rng, n_most), rng),
            n_participants,
            repetitions,
        )
        for _ in range(n_offers)
    ]
