"""Some people, or some trials, of a scored experiment are asked about again alone, in a process that knows no others.

A theory sees the responses of all people of an experiment side by side, which is fast. One that predicts a person's
responses from those of the others would win every comparison; so would one that knows a trial by the trials around it.
Both answer otherwise when nobody else is there, whatever the size of the experiment. Who is asked again nobody knows
beforehand, so there is nothing to prepare for; an honest theory answers the same, and no score depends on the lot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Domain, Stimuli, Trials
from lakatos.theories.engine.running.sequence import FollowedSequences, follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.sandbox.session import TheorySession
from lakatos.theories.errors import TheoryProbabilityError
from lakatos.theories.language.theory import Theory

Array = NDArray[np.float64]
N_ALONE = 2
"""People of a call, or trials of each of its experiments, that are asked about again."""
TOLERANCE = 1e-6
"""Largest difference between two predictions that should be the same; leaves room for rounding alone."""


def check_people_alone(
    session: TheorySession,
    domain: Domain,
    parameters: Mapping[str, Array],
    trials: Sequence[Trials],
    followed: Sequence[FollowedSequences],
) -> None:
    """Walk some people's sequences again, each person alone, each with the one draw that was noted.

    Args:
        session: The theory's process; another one is begun for every person.
        domain, parameters, trials: As they were followed.
        followed: What was found for all people together, one for each experiment.

    Raises:
        TheoryProbabilityError: A person is answered about otherwise alone.
    """
    everybody = [
        (place, person) for place, item in enumerate(followed) for person in range(len(item.noted))
    ]
    for chosen in np.random.default_rng().permutation(len(everybody))[:N_ALONE]:
        place, person = everybody[chosen]
        item, found = trials[place], followed[place]
        own = trials_of(item, person)
        draw = int(found.noted_draw[person])
        alone = follow(session, domain, _draws_of(parameters, [draw]), own).own[0]
        together = found.noted[person, : len(alone)]
        gap = np.abs(alone - together).max(axis=-1, initial=0.0)
        if gap.max(initial=0.0) > TOLERANCE:
            step = int(gap.argmax())
            shown = domain.describe(item.stimuli, int(own.trial[step]))
            raise TheoryProbabilityError(
                f"{item.experiment}: about person {person} at step {step} ({shown}), {_words(parameters, draw)}, the "
                f"theory answers {together[step]} among {len(found.noted)} people and {alone[step]} when this person "
                "is alone. Keep axis 1 apart: a person's answers tell nothing about another person's."
            )


def check_trials_alone(
    theory: Theory,
    domain: Domain,
    sandbox: Sandbox,
    parameters: Mapping[str, Array],
    stimuli: Sequence[Stimuli],
    answers: Sequence[Array],
) -> None:
    """Ask about some trials again, each alone, with one draw.

    Args:
        theory: One without memory.
        domain: Describes the trials.
        sandbox: Sandbox in which another process of the theory is started.
        parameters: ``(n_draws,)`` each.
        stimuli: Stimuli of each experiment.
        answers: ``(n_draws, n_trials, n_options)`` for each, given to all trials together.

    Raises:
        TheoryProbabilityError: A trial is answered otherwise alone.
    """
    rng = np.random.default_rng()
    draw = int(rng.integers(len(answers[0])))
    places = [
        (place, int(row))
        for place, item in enumerate(stimuli)
        for row in rng.permutation(len(item))[:N_ALONE]
    ]
    single = [stimuli[place].take([row]).arrays for place, row in places]
    source, n_options = theory.program.source, domain.n_options(stimuli[0])
    with sandbox.open_session(source, single, n_options=n_options, lint=False) as session:
        again = session.probabilities(_draws_of(parameters, [draw]))
    for (place, row), alone in zip(places, again, strict=True):
        together = answers[place][draw, row]
        if np.abs(alone[0, 0] - together).max() > TOLERANCE:
            raise TheoryProbabilityError(
                f"about trial {row} of set {place} ({domain.describe(stimuli[place], row)}), "
                f"{_words(parameters, draw)}, the theory answers {together} among {len(stimuli[place])} trials and "
                f"{alone[0, 0]} when this trial is alone. Look at one trial at a time."
            )


def trials_of(trials: Trials, person: int) -> Trials:
    """One person's responses, as an experiment of that person alone."""
    return replace(trials.of_people(np.arange(trials.n_participants) == person), n_people=1)


def _draws_of(parameters: Mapping[str, Array], draws: Sequence[int]) -> dict[str, Array]:
    return {name: np.asarray(values)[draws] for name, values in parameters.items()}


def _words(parameters: Mapping[str, Array], draw: int) -> str:
    values = ", ".join(
        f"{name}={float(values[draw]):.6g}" for name, values in parameters.items() if name
    )
    return f"draw {draw}" + (f" ({values})" if values else "")
