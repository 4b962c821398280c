"""Completeness: how much of what a generic learner predicts about people's answers a theory predicts.

It is 0 for guessing and 1 for the learner, in log predictive probability of responses that taught neither anything; a
theory that knows people better than the learner is above 1.

References:
    Fudenberg, Kleinberg, Liang & Mullainathan (2022), Journal of Political Economy 130(4), 956-990.
    Agrawal, Peterson & Griffiths (2020), Proceedings of the National Academy of Sciences 117(16), 8825-8835 (trials
    on which a learner beats a theory).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from lakatos.experiments.task import Trials
from lakatos.theories.engine.scoring.score import (
    ScoreEstimate,
    UnitScores,
    advantage,
    average,
    ratio,
)

Array = NDArray[np.float64]
MOST_REGRETTED = 6
"""Trials that are listed."""
CHANCE = 2.5e-4
"""Probability with which a trial on which a learner is not better is listed all the same."""
LEAST_SHARE = 1e-3


def guess_of_units(trials: Trials) -> Array:
    """``(n_units,)`` log probability of each participant's (or problem's) responses for one who guesses."""
    each = -np.log(trials.stimuli.available(trials.n_options).sum(axis=1))
    if trials.pooled:
        n_responses = trials.totals.sum(axis=1)
        return np.asarray((n_responses * each)[n_responses > 0])
    own = np.bincount(
        trials.participant,
        weights=trials.count * each[trials.trial],
        minlength=trials.n_participants,
    )
    return np.asarray(own[trials.n_choices > 0])


def n_offered(trials: Trials) -> int | float:
    """Options among which a response was given; the geometric mean over responses where trials offer some of them."""
    if trials.stimuli.available(trials.n_options).all():
        return trials.n_options
    return float(np.exp(-guess_of_units(trials).sum() / trials.totals.sum()))


def guessing(n_options: Sequence[int | float]) -> float:
    """Mean log score (nats per response) of guessing among the offered options, averaged over experiments.

    Args:
        n_options: Number of options of each experiment; see `n_offered`.
    """
    return float(np.mean(-np.log(n_options)))


def completeness(
    theory: Sequence[UnitScores],
    ceiling: Sequence[UnitScores],
    n_options: Sequence[int | float],
) -> ScoreEstimate | None:
    """Share of a learner's gain over guessing that a theory has, too.

    Both gains are averaged over experiments; the standard error of their ratio is the delta method's, paired and
    clustered by person (by trial where people cannot be told apart). The learner is taken as it is: what another
    sample would have taught it is not in the interval.

    Args:
        theory: Scores of each experiment.
        ceiling: Those of the learner, of the same units.
        n_options: Number of options of each experiment; see `n_offered`.

    Returns:
        The share, or None where the learner is not clearly better than guessing, or there are fewer than ten units.
    """
    rows = list(zip(theory, ceiling, -np.log(n_options), strict=True))
    gains = [
        ratio(own.log_predictive - chance * own.n_choices, own.n_choices) for own, _, chance in rows
    ]
    most = [
        advantage(best.log_predictive - chance * best.n_choices, best.n_choices)
        for _, best, chance in rows
    ]
    reach = average(most)
    if not reach.is_above_zero():
        return None
    value = average(gains).value / reach.value
    # Delta method: Var(a / b) is that of (a - value * b) / b.
    residuals = [
        ratio(
            own.log_predictive
            - chance * own.n_choices
            - value * (best.log_predictive - chance * best.n_choices),
            own.n_choices,
        )
        for own, best, chance in rows
    ]
    found = average(residuals)
    return replace(found, value=value, standard_error=found.standard_error / reach.value)


@dataclass(frozen=True)
class RegrettedTrial:
    """A trial on which a learner predicts people clearly better than a theory."""

    place: int
    """Place of its experiment."""
    row: int
    """Row in the experiment's stimuli."""
    observed: float
    """Share of people's responses that were the last option."""
    theory: float
    learner: float
    gain: float
    """Nats per choice by which the learner is better."""


def regretted_trials(
    trials: Sequence[Trials], theory: Sequence[Array], learner: Sequence[Array]
) -> list[RegrettedTrial]:
    """Trials on which a learner is clearly better than a theory, the largest gain first.

    Args:
        trials: Experiments.
        theory: ``(n_trials, n_options)`` shares that the theory predicts, of each experiment.
        learner: The same by a learner that did not see the trial (or the people), so that the theory is at an
            advantage.
    """
    found = list[RegrettedTrial]()
    for place, (item, own, other) in enumerate(zip(trials, theory, learner, strict=True)):
        option = item.stimuli.last_available(item.n_options)
        n_answers = item.totals.sum(axis=1)
        log_ratio = np.log(np.maximum(other, LEAST_SHARE)) - np.log(np.maximum(own, LEAST_SHARE))
        gain, chance = _gain_of_each(item, log_ratio)
        found += [
            RegrettedTrial(
                place,
                int(row),
                observed=float(item.proportions[row, option]),
                theory=float(own[row, option]),
                learner=float(other[row, option]),
                gain=float(gain[row]),
            )
            for row in np.flatnonzero((n_answers > 0) & (chance < CHANCE))
        ]
    return sorted(found, key=lambda one: -one.gain)[:MOST_REGRETTED]


def _gain_of_each(trials: Trials, log_ratio: Array) -> tuple[Array, Array]:
    """``(n_trials,)`` nats per choice gained, and the probability of such a gain by chance (Student's t over people).

    Where people cannot be told apart, each answer counts as a person.
    """
    totals = trials.totals
    n_answers = np.maximum(totals.sum(axis=1), 1)
    mean = np.nansum(totals * log_ratio, axis=1) / n_answers
    if trials.pooled:
        squared = np.nansum(totals * (log_ratio - mean[:, None]) ** 2, axis=1)
        n_people = n_answers
    else:
        gains = (
            np.nansum(counts * (log_ratio - mean[:, None]), axis=2)
            for _, counts in trials.counts_of_some()
        )
        squared = np.sum([(own**2).sum(axis=0) for own in gains], axis=0)
        n_people = trials.n_people_asked
    # One answer's worth of doubt is added, so that trials with few answers do not look certain.
    error = np.sqrt(squared + np.nanmax(log_ratio**2, axis=1, initial=0.0)) / n_answers
    t = mean / np.maximum(error, 1e-12)
    return mean, np.asarray(student.sf(t, np.maximum(n_people - 1, 1)))
