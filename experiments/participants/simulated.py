"""Simulated people: a hidden rule gives each of them choice probabilities, and chance the responses.

Some of them can stop before the end or answer carelessly, so that what is made of such people can be tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.conditions import presented_rows
from lakatos.experiments.errors import SourceError
from lakatos.experiments.participants.answers import PersonAnswers
from lakatos.experiments.participants.source import (
    Batch,
    NewParticipants,
    Recruitment,
    SourceProfile,
    StudySettings,
    check_key,
    recruited_in,
    rng_of,
)
from lakatos.experiments.participants.timed_answer import (
    TimedPress,
    TimedTask,
    draw_presses,
    timed_columns,
    timed_task,
)
from lakatos.experiments.preregistration import Preregistration, check_preregistered
from lakatos.experiments.task import Design, Domain, Stimuli, Trials
from lakatos.traces.digest import Digest, digest_of

Array = NDArray[Any]
BLOCK_SIZE = 65536
"""Presentations for which options are drawn together."""
TIME_MS, CARELESS_TIME_MS, TIME_SPREAD = 1200.0, 180.0, 0.4
"""Median response time of people who think and of those who do not, and the standard deviation of its logarithm."""
N_CHECKS, PASSED, PASSED_BY_CHANCE = 2, 0.98, 0.5
"""Attention checks of each person, and the probability that somebody attentive, or careless, passes one."""


@dataclass(frozen=True)
class SimulatedBehaviour:
    """What people did, step by step."""

    response: Array
    """``(n_participants, n_steps)`` options."""
    feedback: Mapping[str, Array] = field(default_factory=dict)
    """``(n_participants, n_steps)`` each."""


class ResponseRule(Protocol):
    """A rule that simulated people follow: from trials in order to answers."""

    def __call__(
        self,
        stimuli: Stimuli,
        order: Array,
        rng: np.random.Generator,
        random_choice_share: float,
        /,
    ) -> SimulatedBehaviour:
        """New people go through ``order``, ``(n_participants, n_steps)`` rows of the stimuli."""


def independent(
    probabilities: Callable[[Stimuli, np.random.Generator, int], NDArray[np.float64]],
) -> ResponseRule:
    """People whose answers do not depend on earlier ones.

    Args:
        probabilities: Stimuli, generator and number of people to ``(n_participants, n_trials, n_options)``.
    """

    def respond(
        stimuli: Stimuli, order: Array, rng: np.random.Generator, random_choice_share: float
    ) -> SimulatedBehaviour:
        p = np.asarray(probabilities(stimuli, rng, len(order)), dtype=np.float64)
        if (
            p.ndim != 3
            or p.shape[:2] != (len(order), len(stimuli))
            or not np.isfinite(p).all()
            or (p < 0).any()
        ):
            raise SourceError(
                f"the rule gave an array of shape {p.shape}; give probabilities of shape "
                f"{(len(order), len(stimuli))} and the options, one row of trials for each person."
            )
        p = with_random_choices(p, stimuli.available(p.shape[-1]), random_choice_share)
        return SimulatedBehaviour(draw_options(p, order, rng))

    return respond


def with_random_choices(
    probabilities: NDArray[np.float64], available: Array, share: float
) -> NDArray[np.float64]:
    """Choice probabilities of people who take any available option, at random, in ``share`` of their trials.

    Args:
        probabilities: ``(..., n_options)``.
        available: Which options can be chosen, of a shape that fits.
        share: From 0 to 1.
    """
    at_random = share * available / available.sum(axis=-1, keepdims=True)
    return np.asarray((1 - share) * probabilities + at_random)


def draw_options(
    probabilities: NDArray[np.float64], order: Array, rng: np.random.Generator
) -> NDArray[np.int64]:
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


class SimulatedParticipants(NewParticipants):
    """People who follow a rule; they answer at once, and the same each time they are asked with the same key."""

    keys: ClassVar[frozenset[str]] = frozenset(
        {
            "theory",
            "program",
            "program_file",
            "mechanisms",
            "random_choices",
            "dropouts",
            "careless",
        }
    )
    sections: ClassVar[frozenset[str]] = frozenset({"space", "exclusions", "confirmation"})
    needs: ClassVar[tuple[str, ...]] = ("theory", "program")
    profile: ClassVar[SourceProfile] = SourceProfile(
        origin="simulated", brought_by="responses arrive through the inbox"
    )

    @classmethod
    def profile_in(cls, *, follows_participants: bool) -> SourceProfile:
        """One table of all responses, unless the study follows single participants."""
        return replace(cls.profile, one_by_one=follows_participants)

    def __init__(
        self,
        respond: ResponseRule,
        *,
        domain: Domain,
        settings: Mapping[str, Any],
        seed: int = 0,
        random_choice_share: float = 0.0,
        n_participants: int = 0,
        one_by_one: bool = False,
        dropouts: float = 0.0,
        careless: float = 0.0,
    ) -> None:
        """Make a source of people who follow a rule.

        Args:
            respond: The rule; `independent` makes one of choice probabilities.
            domain: Makes the stimuli that people can be asked.
            settings: Describe the design space to the domain.
            seed: Of all responses, together with the key of the recruitment.
            random_choice_share: Each answer is a random option with this probability.
            n_participants: People available for each experiment; 0 means as many as wanted.
            one_by_one: Hand over what each person did as a batch of its own (`PersonAnswers`), with response times and
                attention checks, instead of one table.
            dropouts: Share of people who stop before the end; others take their places until as many as wanted have
                completed. Needs ``one_by_one``.
            careless: Share of people who answer fast and without looking: at random, always the same side, or the
                sides in turn. Needs ``one_by_one``.

        Raises:
            SourceError: A share is no probability, or people who stop or do not look are to come in one table.
        """
        shares = {
            "random_choice_share": random_choice_share,
            "dropouts": dropouts,
            "careless": careless,
        }
        for name, share in shares.items():
            most = 0.95 if name == "dropouts" else 1
            if not 0 <= share <= most:
                raise SourceError(f"{name}={share} is no probability to use; give 0 to {most}.")
        if (dropouts or careless) and not one_by_one:
            raise SourceError(
                "participants who stop or answer carelessly are handed over one by one; set one_by_one too."
            )
        self.respond, self.domain, self.settings, self.seed = respond, domain, settings, seed
        self.random_choice_share, self.n_participants = random_choice_share, n_participants
        self.one_by_one, self.dropouts, self.careless = one_by_one, dropouts, careless
        self._batches: dict[Digest, tuple[Design, list[dict[str, Any]]]] = {}
        self._n_wanted: dict[Digest, int] = {}
        self._closed: set[Digest] = set()

    def recruit(self, preregistration: Preregistration, design: Design, key: Digest) -> Recruitment:
        """Simulate the people of ``design``; see `ParticipantSource`."""
        check_preregistered(preregistration, design)
        if design.archive:
            raise SourceError(
                f"{design.name}: simulated people have no answers from the archive {design.archive!r}."
            )
        if design.n_participants < 1 or 0 < self.n_participants < design.n_participants:
            raise SourceError(
                f"{design.name} plans {design.n_participants} participants; "
                f"the source has {self.n_participants or 'as many as wanted, but at least 1'}."
            )
        if key in self._batches:
            check_key(key, self._batches[key][0].name, design)
        else:
            self.domain.check(design.stimuli)
            rng = rng_of(self.seed, key)
            table = [] if self.one_by_one else [self._answers(design, rng).to_json()]
            self._batches[key] = (
                design,
                table or [item.to_json() for item in self._people(design, key, rng)],
            )
        return Recruitment(key, design.name, design.n_participants)

    def collect(self, recruitment: Recruitment, n_participants: int) -> Batch:
        """All responses, as one table or one by one: simulated participants respond when they are recruited."""
        if recruitment.key in self._closed:
            return Batch(())
        return Batch(recruited_in(self._batches, recruitment)[1])

    @classmethod
    def of_study(cls, study: StudySettings) -> Self:
        """People who follow the hidden rule of a study."""
        people = study.participants
        return cls(
            study.respond(),
            domain=study.domain,
            settings=study.space,
            seed=study.seed,
            random_choice_share=people["random_choices"],
            one_by_one=study.one_by_one,
            dropouts=people["dropouts"],
            careless=people["careless"],
        )

    def want(self, recruitment: Recruitment, n_participants: int) -> None:
        """Simulate more people, until so many in all have completed; see `ParticipantSource`."""
        design, batches = recruited_in(self._batches, recruitment)
        n_more = n_participants - max(self._n_wanted.get(recruitment.key, 0), design.n_participants)
        if n_more <= 0:
            return
        if not self.one_by_one or 0 < self.n_participants < n_participants:
            there = (
                f"there are {self.n_participants}" if self.one_by_one else "they come in one table"
            )
            raise SourceError(
                f"{design.name} wants {n_participants} simulated people, and {there}; ask for no more."
            )
        rng = rng_of(self.seed, recruitment.key, "more", str(len(batches)))
        more = self._people(
            replace(design, n_participants=n_more), recruitment.key, rng, first=len(batches)
        )
        batches.extend(item.to_json() for item in more)
        self._n_wanted[recruitment.key] = n_participants

    def close(self, recruitment: Recruitment) -> None:
        """Hand over no more responses of this recruitment."""
        self._closed.add(recruitment.key)

    def respond_anew(self, seed: int) -> None:
        """Take another seed for everybody who is simulated from now on."""
        self.seed = seed

    def _order(
        self, design: Design, n_people: int, rng: np.random.Generator, first: int = 0
    ) -> Array:
        """Presentations to new people, in an order of their own for each, or in that of the schedule.

        Conditions come in blocks, in orders that the people, numbered from ``first``, have in turn.
        """
        if design.conditions:
            places = range(first, first + n_people)
            return np.stack(
                [
                    presented_rows(design, place, rng, sequential=self.domain.sequential)[0]
                    for place in places
                ]
            )
        order = np.tile(np.arange(len(design.stimuli)), (n_people, design.repetitions))
        return order if self.domain.sequential else rng.permuted(order, axis=1)

    def _people(
        self, design: Design, key: Digest, rng: np.random.Generator, first: int = 0
    ) -> list[PersonAnswers]:
        """New people until as many as wanted have completed, in their order, numbered from ``first``."""
        # Who comes, until as many as wanted have stayed to the end; who reads nothing; and what they answer.
        stops: list[bool] = []
        while len(stops) - sum(stops) < design.n_participants:
            stops.append(bool(rng.random() < self.dropouts))
        n_people = len(stops)
        careless = rng.random(n_people) < self.careless
        order = self._order(design, n_people, rng, first)
        n_steps = order.shape[1]
        response, feedback = self._behave(design, order, careless, rng)

        # Times are log-normal; attention checks are passed by chance where nobody reads them.
        typical = np.where(careless, CARELESS_TIME_MS, TIME_MS)[:, None]
        spread = np.exp(TIME_SPREAD * rng.standard_normal(order.shape))
        times = np.round(typical * spread, 1)
        chance = np.where(careless, PASSED_BY_CHANCE, PASSED)[:, None]
        passed = rng.random((n_people, N_CHECKS)) < chance
        task = timed_task(self.domain)
        keys = np.zeros(order.shape, dtype=np.int64)
        if task is not None:
            keys, times = _presses(task, design.stimuli, order, response, careless, rng)

        # A person's answers up to where the person stops.
        until = np.where(stops, rng.integers(n_steps, size=n_people), n_steps)
        found = []
        for person, end in enumerate(until.tolist()):
            past = {name: column[person, :end] for name, column in feedback.items()}
            if task is not None:
                measured = (own[person, :end].tolist() for own in (order, keys, times))
                presses = [TimedPress(*press) for press in zip(*measured, strict=True)]
                given = timed_columns(task, design.stimuli, presses, "left_out")
            else:
                given = {
                    "trial": tuple(order[person, :end].tolist()),
                    "response": tuple(response[person, :end].tolist()),
                    "response_time_ms": tuple(times[person, :end].tolist()),
                }
            answers = PersonAnswers(
                experiment=design.name,
                person=digest_of({"recruitment": key, "person": first + person}),
                status="partial" if stops[person] else "completed",
                **given,
                feedback={name: tuple(column.tolist()) for name, column in past.items()},
                checks=() if stops[person] else tuple(passed[person].tolist()),
                comprehension_attempts=1,
                consent="",
                language="",
                source="simulated",
            )
            found.append(answers)
        return found

    def _behave(
        self, design: Design, order: Array, careless: NDArray[np.bool_], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], dict[str, Array]]:
        """Responses ``(n_people, n_steps)`` and what followed them; careless people have habits."""
        n_people, n_steps = order.shape
        n_options = self.domain.n_options(design.stimuli)
        response = np.zeros(order.shape, dtype=np.int64)
        feedback: dict[str, Array] = {}
        for group, share in ((~careless, self.random_choice_share), (careless, 1.0)):
            if not group.any():
                continue
            behaviour = self.respond(design.stimuli, order[group], rng, share)
            response[group] = behaviour.response
            for name, column in behaviour.feedback.items():
                feedback.setdefault(name, np.zeros(order.shape))[group] = column
        if feedback:  # where something follows a response, carelessness is chance alone
            return response, feedback
        habit = np.asarray(rng.integers(3, size=n_people))
        side = np.asarray(rng.integers(n_options, size=n_people))[:, None]
        turns = side + np.arange(n_steps)
        available = design.stimuli.available(n_options)
        stays, alternates = careless & (habit == 1), careless & (habit == 2)
        response = np.where(stays[:, None], _available_at(side, available, order), response)
        turning = _available_at(turns, available, order)
        return np.where(alternates[:, None], turning, response), feedback

    def _answers(self, design: Design, rng: np.random.Generator) -> Trials:
        """Responses of new people, each seeing all presentations, as one table."""
        order = self._order(design, design.n_participants, rng)
        behaviour = self.respond(design.stimuli, order, rng, self.random_choice_share)
        return as_trials(
            design.name, design.stimuli, order, behaviour, self.domain.n_options(design.stimuli)
        )


def _available_at(place: Array, available: Array, order: Array) -> Array:
    """The option at ``place`` among those that can be chosen, ``(n_people, n_steps)``; after the last comes the first.

    Args:
        place: Numbers from 0 on, of a shape that fits ``order``.
        available: ``(n_trials, n_options)``.
        order: ``(n_people, n_steps)`` trials.
    """
    ranked = np.argsort(~available, axis=-1, kind="stable")
    return np.asarray(ranked[order, place % available.sum(axis=-1)[order]])


def as_trials(
    experiment: str,
    stimuli: Stimuli,
    order: Array,
    behaviour: SimulatedBehaviour,
    n_options: int,
    lengths: Array | None = None,
) -> Trials:
    """What people did who went through ``order``, ``(n_participants, n_steps)``, as a table of responses.

    Of each only the first ``lengths`` steps count, ``(n_participants,)``, where these are given.
    """
    n_people, n_steps = order.shape
    there = np.arange(n_steps)[None] < (n_steps if lengths is None else lengths[:, None])
    there = np.broadcast_to(there, order.shape)
    return Trials(
        experiment=experiment,
        stimuli=stimuli,
        participant=np.nonzero(there)[0],
        trial=order[there],
        response=behaviour.response[there],
        count=np.ones(int(there.sum()), dtype=np.int64),
        n_options=n_options,
        n_people=n_people,
        feedback={name: column[there] for name, column in behaviour.feedback.items()},
    )


def _presses(
    task: TimedTask,
    stimuli: Stimuli,
    order: NDArray[np.intp],
    response: NDArray[np.int64],
    careless: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """``(n_people, n_steps)`` keys and times: what the theory says; careless people press one key, fast."""
    n_people = len(careless)
    keys, times = draw_presses(task, stimuli, order, response, rng)
    habit, side = rng.integers(2, size=n_people), rng.integers(2, size=n_people)
    one_key = np.where(habit == 0, 0, side)[:, None] * (task.n_keys(stimuli) - 1)
    keys = np.where(careless[:, None], one_key, keys)
    fast = CARELESS_TIME_MS * np.exp(TIME_SPREAD * rng.standard_normal(order.shape))
    times = np.where(careless[:, None], np.round(fast, 1), times)
    return keys, times
