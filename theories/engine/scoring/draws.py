"""Number of participants drawn from a population for scores: until it no longer decides about an order."""

from __future__ import annotations

from typing import Final

from lakatos.theories.engine.scoring.score import ScoreEstimate

LARGEST_CHANCE: Final = 0.25
"""Monte Carlo error of a difference that decides, in standard errors."""
CLEAR: Final = 4.0
"""Standard errors beyond which a difference is decided whatever chance did."""
MOST_DRAWS: Final = 2**13
MOST_WALKED: Final = 2**10
"""Maximum number of draws of theories that are walked through responses one by one."""
MOST_CELLS: Final = 2**22
"""Draws times trials of one response."""
MOST_PERSON_DRAWS: Final = 2**24
"""Draws times participants, of which some ten numbers are held at once."""


def could_change_order(behind: ScoreEstimate, chance: float) -> bool:
    """Whether other draws could change which of two theories is ahead.

    A decision may rest on a difference if its Monte Carlo error is a quarter of its standard error at most, or if the
    difference is far larger than its standard error.

    Args:
        behind: Difference of the two theories, nats per choice.
        chance: Its Monte Carlo error, nats per choice.
    """
    is_close = abs(behind.value) < CLEAR * behind.standard_error
    return is_close and chance > LARGEST_CHANCE * behind.standard_error


def most_draws(
    n_trials: int, n_people: int, *, walks: bool, person_draws: int = MOST_PERSON_DRAWS
) -> int:
    """Return the most draws at which one response of a theory, and its predictions for all participants, stay small.

    Args:
        n_trials: Number of trials of all experiments.
        n_people: Number of people of all experiments.
        walks: Whether theories are walked through the responses one by one.
        person_draws: Maximum of draws times participants.
    """
    if walks:
        return MOST_WALKED
    return min(MOST_DRAWS, MOST_CELLS // max(n_trials, 1), person_draws // max(n_people, 1))
