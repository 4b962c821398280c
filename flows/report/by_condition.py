"""Data and predictions for each condition within participants, for the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.stats import t as student

from lakatos.experiments.answer_scale import scale_of
from lakatos.experiments.conditions import condition_of
from lakatos.experiments.outcomes import rewards_of_options
from lakatos.experiments.task import Domain, Stimuli, Trials, keeps_places
from lakatos.flows.report import charts
from lakatos.flows.report.download import small
from lakatos.flows.report.reader import UNREADABLE, RunReading, option_label
from lakatos.flows.report.svg import NARROW, Drawing
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
MOST_PEOPLE = 200
"""Participants whose lines are drawn."""


@dataclass(frozen=True)
class ConditionFound:
    """One condition: what participants did in it, and what theories predict."""

    name: str
    n_responses: int
    observed: float
    """Mean of participants."""
    low: float
    high: float
    """95% interval of that mean, over participants."""
    predicted: tuple[float, ...]
    """Means predicted by the leading theory, and by the first rival where there is one."""


@dataclass(frozen=True)
class ConditionsFound:
    """All conditions of a run."""

    what: str
    """Quantity that is averaged, in words."""
    theories: tuple[Digest, ...]
    conditions: tuple[ConditionFound, ...]
    figure: Markup


def outcome_values(domain: Domain, stimuli: Stimuli, n_options: int) -> tuple[Array, str]:
    """``(n_trials, n_options)`` values of outcomes whose mean is compared, and what the mean is, in words.

    Numbers count as they are, and options of a schedule as the rewards that they would have brought, where these are
    known. Of two options whose places mean nothing, the one counts that a property of the trials
    speaks for: the first property of the domain that has opposite signs for the two, whichever place they have.
    """
    scale, n_trials = scale_of(domain), len(stimuli)
    if scale is not None and scale.options:
        n_bins = n_options // len(scale.options)
        values = 1.0 * (np.arange(n_options) < n_bins)
        return np.tile(values, (n_trials, 1)), f"share {scale.options[0]}"
    if scale is not None:
        return np.tile(np.asarray(scale.places, dtype=np.float64), (n_trials, 1)), "mean response"
    rewards = rewards_of_options(domain, stimuli, n_options)
    if rewards is not None:
        return rewards, "mean reward"
    if n_options == 2 and not keeps_places(domain):
        swapped = domain.features(domain.swap_sides(stimuli))
        for name, values in domain.features(stimuli).items():
            if (values != 0).all() and np.allclose(values, -np.asarray(swapped[name])):
                second = 1.0 * (np.asarray(values) > 0)
                words = f"share choosing the option that {name.replace('_', ' ')} favours"
                return np.stack([1 - second, second], axis=1), words.replace(
                    " favours favours", " favours"
                )
    option = stimuli.last_available(n_options)
    values = np.eye(n_options)[option]
    return np.tile(values, (n_trials, 1)), f"share choosing {option_label(domain, option)}"


def conditions_found(reading: RunReading) -> ConditionsFound | None:
    """Data and predictions for each condition; None where a run has none, or no responses that can be read."""
    names = reading.config.conditions
    if not names or not reading.board.standings:
        return None
    leader, rival = reading.board.leader.theory, reading.first_rival
    theories = (leader, *([rival] if rival and rival != leader else []))
    people: list[Array] = []
    counts = np.zeros(len(names))
    predicted = np.zeros((len(theories), len(names)))
    what = ""
    for name in reading.state.experiments.collected:
        scores = [reading.state.theories.scores.get((theory, name)) for theory in theories]
        try:
            trials = reading.trials(name)
        except UNREADABLE:
            continue
        values, what = outcome_values(reading.domain, trials.stimuli, trials.n_options)
        place = condition_of(trials.stimuli).astype(int)[trials.trial]
        people.append(_by_person(trials, values, place, len(names)))
        counts += np.bincount(place, minlength=len(names))
        for number, score in enumerate(scores):
            if score is None:
                predicted[number] = np.nan
                continue
            shares = np.asarray(score.record.proportions).reshape(len(trials.stimuli), -1)
            weights = mean_outcomes(shares, values)[trials.trial]
            predicted[number] += np.bincount(place, weights=weights, minlength=len(names))
    if not people or not counts.all():
        return None
    table = np.concatenate(people)
    found = []
    for number, condition in enumerate(names):
        own = table[~np.isnan(table[:, number]), number]
        half = np.nan
        if len(own) > 1:
            half = float(student.ppf(0.975, len(own) - 1) * own.std(ddof=1) / np.sqrt(len(own)))
        mean = float(own.mean())
        found.append(
            ConditionFound(
                name=condition,
                n_responses=int(counts[number]),
                observed=mean,
                low=mean - half,
                high=mean + half,
                predicted=tuple((predicted[:, number] / counts[number]).tolist()),
            )
        )
    tags = [reading.label(theory).tag for theory in theories]
    figure = small(_drawn(found, table, what, tags, NARROW))
    return ConditionsFound(what, theories, tuple(found), figure)


def mean_outcomes(shares: Array, values: Array) -> Array:
    """``(n_trials,)`` predicted means; of two options only the second's share is written down."""
    if shares.shape[1] < values.shape[1]:
        shares = np.stack([1 - shares[:, -1], shares[:, -1]], axis=1)
    return np.asarray((shares * values).sum(axis=1))


def _by_person(trials: Trials, values: Array, place: NDArray[np.int_], n: int) -> Array:
    """``(n_participants, n_conditions)`` mean of each participant in each condition; NaN without responses."""
    cell = trials.participant * n + place
    size = n * trials.n_participants
    total = np.bincount(cell, weights=values[trials.trial, trials.response], minlength=size)
    counts = np.bincount(cell, minlength=size)
    with np.errstate(invalid="ignore"):
        return (total / counts).reshape(-1, n)


def _drawn(
    found: Sequence[ConditionFound],
    table: Array,
    what: str,
    tags: Sequence[str],
    width: int,
) -> Drawing:
    lines = [
        charts.ConditionLine(tag, tuple(item.predicted[number] for item in found), ())
        for number, tag in enumerate(tags)
    ]
    ends = tuple((item.low, item.high) for item in found)
    lines.insert(0, charts.ConditionLine("data", tuple(item.observed for item in found), ends))
    names = [item.name for item in found]
    return charts.conditions(names, lines, table[:MOST_PEOPLE], what, width)
