"""Simulated people: a hidden rule gives each of them choice probabilities, and chance the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.errors import SourceError
from experiments.participants.source import Recruitment, rng_of
from experiments.preregistration import Preregistration, check_preregistered
from experiments.task import Design, Domain, Offer, Stimuli, Trials
from traces.digest import Digest


class Respond(Protocol):
    """How simulated people choose."""

    def __call__(self, stimuli: Stimuli, rng: np.random.Generator, n_participants: int, /) -> NDArray[np.float64]:
        """Each person's own choice probabilities, ``(n_participants, n_trials, n_options)``."""


class SimulatedParticipants:
    """People who follow a rule; they answer at once, and the same each time they are asked with the same key."""

    def __init__(
        self,
        respond: Respond,
        *,
        domain: Domain,
        settings: Mapping[str, Any],
        seed: int = 0,
        random_choice_share: float = 0.0,
        n_participants: int = 0,
    ) -> None:
        """Make a source.

        Args:
            respond: The rule.
            domain: Makes the stimuli that people can be asked.
            settings: Describe the design space to the domain.
            seed: Of all answers, together with the key of the recruitment.
            random_choice_share: Each answer is a random option with this probability.
            n_participants: People available for each experiment; 0 means as many as wanted.

        Raises:
            SourceError: The share is no probability.
        """
        if not 0 <= random_choice_share <= 1:
            raise SourceError(f"random_choice_share={random_choice_share} is no probability; give 0 to 1.")
        self.respond, self.domain, self.settings, self.seed = respond, domain, settings, seed
        self.random_choice_share, self.n_participants = random_choice_share, n_participants
        self._batches: dict[Digest, tuple[Design, dict[str, Any]]] = {}
        self._closed: set[Digest] = set()

    def offers(self, rng: np.random.Generator, n_most: int) -> Sequence[Offer]:
        """One offer: candidates of the design space."""
        return [Offer("", self.domain.candidates(self.settings, rng, n_most), self.n_participants)]

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Simulate the people of ``design``; see `ParticipantSource`."""
        check_preregistered(preregistration, design)
        if design.archive:
            raise SourceError(f"{design.name}: simulated people have no answers from the archive {design.archive!r}.")
        if design.n_participants < 1 or 0 < self.n_participants < design.n_participants:
            raise SourceError(
                f"{design.name} asks for {design.n_participants} participants; "
                f"the source has {self.n_participants or 'as many as wanted, but at least 1'}."
            )
        if key in self._batches and self._batches[key][0].name != design.name:
            raise SourceError(f"the key {key[:8]} belongs to {self._batches[key][0].name!r}, not to {design.name!r}.")
        if key not in self._batches:
            self.domain.check(design.stimuli)
            self._batches[key] = design, self._answers(design, rng_of(self.seed, key)).to_json()
        return Recruitment(key, design.name, design.n_participants)

    def poll(self, recruitment: Recruitment) -> Sequence[dict[str, Any]]:
        """All answers in one batch; see `ParticipantSource`."""
        if recruitment.key in self._closed:
            return []
        if recruitment.key not in self._batches:
            raise SourceError(f"nobody was recruited for {recruitment.experiment!r} here; recruit with the same key.")
        return [self._batches[recruitment.key][1]]

    def close(self, recruitment: Recruitment) -> None:
        """Ask for no more."""
        self._closed.add(recruitment.key)

    def mark_released(self, design: Design) -> None:
        """Nothing to note: simulated answers do not run out."""

    def _answers(self, design: Design, rng: np.random.Generator) -> Trials:
        """Answers of new people, each seeing all presentations in an order of their own."""
        n_people, n_trials = design.n_participants, len(design.stimuli)
        p = np.asarray(self.respond(design.stimuli, rng, n_people), dtype=np.float64)
        n_options = len(self.domain.options)
        if p.shape != (n_people, n_trials, n_options) or not np.isfinite(p).all() or (p < 0).any():
            raise SourceError(
                f"respond gave an array of shape {p.shape} for {design.name!r}; give probabilities of shape "
                f"{(n_people, n_trials, n_options)}, one row of trials for each person."
            )
        p = (1 - self.random_choice_share) * p + self.random_choice_share / n_options
        trial = rng.permuted(np.tile(np.arange(n_trials), (n_people, design.repetitions)), axis=1)
        cumulative = np.cumsum(np.take_along_axis(p, trial[:, :, None], axis=1), axis=-1)
        response = (rng.random((*trial.shape, 1)) * cumulative[..., -1:] >= cumulative[..., :-1]).sum(axis=-1)
        return Trials(
            experiment=design.name,
            stimuli=design.stimuli,
            participant=np.repeat(np.arange(n_people), trial.shape[1]),
            trial=trial.ravel(),
            response=response.ravel(),
            count=np.ones(trial.size, dtype=np.int64),
            n_options=n_options,
            n_people=n_people,
        )
