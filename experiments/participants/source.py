"""Who answers: the contract of every participant source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from experiments.errors import SourceError
from experiments.preregistration import Preregistration, check_preregistered
from experiments.task import Design, Domain, Offer, with_random_sides
from traces.digest import Digest, digest_of

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

    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[Offer]:
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

    def close(self, recruitment: Recruitment) -> None:
        """Ask for no more; closing twice changes nothing."""

    def mark_released(self, design: Design) -> None:
        """Take note that the answers to ``design`` are in the trace; noting it twice changes nothing."""


def rng_of(seed: int, *names: str) -> np.random.Generator:
    """A generator that depends on the seed and the names alone."""
    return np.random.default_rng(int(digest_of({"seed": seed, "names": list(names)}), 16))


def check_new_people(preregistration: Preregistration, design: Design, domain: Domain, who: str) -> None:
    """Refuse what ``who``, people who have not been asked yet, cannot be asked.

    Raises:
        PreregistrationError: ``preregistration`` is missing or freezes another design.
        SourceError: The design wants an archive, or nobody.
        StimuliError: The domain does not allow a trial.
    """
    check_preregistered(preregistration, design)
    if design.archive:
        raise SourceError(f"{design.name}: {who} have no answers from the archive {design.archive!r}.")
    if design.n_participants < 1:
        raise SourceError(f"{design.name} asks for {design.n_participants} participants; ask for at least 1.")
    domain.check(design.stimuli)


def offers_to_new_people(
    domain: Domain, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int, n_participants: int = 0
) -> list[Offer]:
    """What people who have not been asked yet can be asked: candidates of the space that ``settings`` describe.

    One offer, or in a sequential domain several schedules to choose from. ``n_participants`` is how many people there
    are; 0 means as many as wanted.
    """
    n_offers, repetitions = (N_SCHEDULES, 1) if domain.sequential else (1, 0)
    return [
        Offer("", with_random_sides(domain, domain.candidates(settings, rng, n_most), rng), n_participants, repetitions)
        for _ in range(n_offers)
    ]
