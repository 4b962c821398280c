"""Simulated people: a hidden rule gives each of them choice probabilities, and chance the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from experiments.errors import SourceError
from experiments.participants.source import Recruitment, offers_to_new_people, rng_of
from experiments.preregistration import Preregistration, check_preregistered
from experiments.task import Design, Domain, Offer, Stimuli, Trials
from traces.digest import Digest

Array = NDArray[Any]
BLOCK_SIZE = 65536
"""Presentations for which options are drawn together."""


@dataclass(frozen=True)
class Behaviour:
    """What people did, step by step."""

    response: Array
    """``(n_participants, n_steps)`` options."""
    feedback: Mapping[str, Array] = field(default_factory=dict)
    """``(n_participants, n_steps)`` each."""


class Respond(Protocol):
    """How simulated people choose."""

    def __call__(
        self, stimuli: Stimuli, order: Array, rng: np.random.Generator, random_choice_share: float, /
    ) -> Behaviour:
        """New people go through ``order``, ``(n_participants, n_steps)`` rows of the stimuli."""


def independent(
    probabilities: Callable[[Stimuli, np.random.Generator, int], NDArray[np.float64]],
) -> Respond:
    """People whose answers do not depend on earlier ones.

    Args:
        probabilities: Stimuli, generator and number of people to ``(n_participants, n_trials, n_options)``.
    """

    def respond(stimuli: Stimuli, order: Array, rng: np.random.Generator, random_choice_share: float) -> Behaviour:
        p = np.asarray(probabilities(stimuli, rng, len(order)), dtype=np.float64)
        if p.ndim != 3 or p.shape[:2] != (len(order), len(stimuli)) or not np.isfinite(p).all() or (p < 0).any():
            raise SourceError(
                f"the rule gave an array of shape {p.shape}; give probabilities of shape "
                f"{(len(order), len(stimuli))} and the options, one row of trials for each person."
            )
        p = (1 - random_choice_share) * p + random_choice_share / p.shape[-1]
        return Behaviour(draw_options(p, order, rng))

    return respond


def draw_options(probabilities: NDArray[np.float64], order: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """One option for each presentation, drawn independently.

    Args:
        probabilities: ``(n_participants, n_trials, n_options)``; they are divided by their sum.
        order: ``(n_participants, n_steps)`` rows of the trials.
        rng: Decides; it is asked for one number for each presentation, person by person.
    """
    n_people, n_steps = order.shape
    n_trials, n_options = probabilities.shape[1:]
    response = np.zeros((n_people, n_steps), dtype=np.int64)
    n_rows = max(1, BLOCK_SIZE // max(n_steps, 1))
    for start in range(0, n_people, n_rows):  # as many as the processor can hold
        rows = slice(start, start + n_rows)
        cumulative = np.cumsum(probabilities[rows], axis=-1)
        place = order[rows] + n_trials * np.arange(len(cumulative))[:, None]
        drawn = rng.random(place.shape)
        if (cumulative[..., -1] != 1).any():
            drawn *= cumulative[..., -1].ravel()[place]
        for option in range(n_options - 1):
            response[rows] += drawn >= cumulative[..., option].ravel()[place]
    return response


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
            respond: The rule; `independent` makes one of choice probabilities.
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
        """One offer: candidates of the design space. In a sequential domain, several schedules to choose from."""
        return offers_to_new_people(self.domain, self.settings, rng, n_most, self.n_participants)

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
        """Answers of new people, each seeing all presentations in an order of their own, or in that of the schedule."""
        n_people, n_trials = design.n_participants, len(design.stimuli)
        order = np.tile(np.arange(n_trials), (n_people, design.repetitions))
        if not self.domain.sequential:
            order = rng.permuted(order, axis=1)
        behaviour = self.respond(design.stimuli, order, rng, self.random_choice_share)
        return as_trials(design.name, design.stimuli, order, behaviour, self.domain.n_options(design.stimuli))


def as_trials(experiment: str, stimuli: Stimuli, order: Array, behaviour: Behaviour, n_options: int) -> Trials:
    """What people did who went through ``order``, ``(n_participants, n_steps)``, as a table of answers."""
    n_people, n_steps = order.shape
    return Trials(
        experiment=experiment,
        stimuli=stimuli,
        participant=np.repeat(np.arange(n_people), n_steps),
        trial=order.ravel(),
        response=behaviour.response.ravel(),
        count=np.ones(order.size, dtype=np.int64),
        n_options=n_options,
        n_people=n_people,
        feedback={name: column.ravel() for name, column in behaviour.feedback.items()},
    )
