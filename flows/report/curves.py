"""Curves of a task's field, observed and as the leading theory predicts them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.stats import t as student

from lakatos.experiments.curve import DomainCurve, HasCurves
from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.report import charts
from lakatos.flows.report.download import small
from lakatos.flows.report.reader import UNREADABLE, RunReading
from lakatos.flows.report.svg import NARROW

Array = NDArray[np.float64]


def domain_curves(reading: RunReading) -> list[Markup]:
    """Figures of the leading theory and the data; none where the domain has no curves or responses are pooled."""
    domain = reading.domain
    if not isinstance(domain, HasCurves) or not reading.board.standings:
        return []
    leader, found = reading.board.leader.theory, list[tuple[Trials, Array]]()
    for name in reading.state.experiments.collected:
        score = reading.state.theories.scores.get((leader, name))
        try:
            trials = reading.trials(name)
        except UNREADABLE:
            continue
        if score is not None and not trials.pooled:
            shares = np.asarray(score.record.proportions).reshape(len(trials.stimuli), -1)
            found.append((trials, shares))
    if not found:
        return []
    observed = of_participants(domain, [trials for trials, _ in found])
    stimuli = Stimuli.concatenate([trials.stimuli for trials, _ in found])
    weights = np.concatenate([trials.totals.sum(axis=1) for trials, _ in found])
    predicted = domain.curves(stimuli, np.concatenate([shares for _, shares in found]), weights)
    tag = reading.label(leader).tag
    figures = []
    for place, curve in enumerate(predicted):
        lines = curve_lines([own[place] for own in observed], curve)
        figures.append(small(charts.domain_curve(lines, curve, tag, NARROW)))
    return figures


def of_participants(domain: HasCurves, parts: Sequence[Trials]) -> list[Sequence[DomainCurve]]:
    """The curves of each participant; trials of other experiments have no responses of that participant."""
    stimuli = Stimuli.concatenate([trials.stimuli for trials in parts])
    n_before, found = 0, []
    for trials in parts:
        rows = slice(n_before, n_before + len(trials.stimuli))
        for _, counts in trials.counts_of_some():
            for own in counts:
                shares = np.zeros((len(stimuli), trials.n_options))
                weights = np.zeros(len(stimuli))
                weights[rows] = own.sum(axis=-1)
                shares[rows] = own / np.maximum(own.sum(axis=-1, keepdims=True), 1)
                found.append(domain.curves(stimuli, shares, weights))
        n_before += len(trials.stimuli)
    return found


def curve_lines(
    people: Sequence[DomainCurve], predicted: DomainCurve
) -> dict[str, tuple[Array, Array]]:
    """``(n_points, 4)`` observed and ``(n_points, 2)`` predicted points of each line, by its name.

    An observed point is the mean x and y over participants and the ends of the 95% interval of y (Student's t), NaN
    with fewer than two of them.
    """
    found = {}
    for name, (x, y) in predicted.lines.items():
        values = np.array([[own.lines[name][0], own.lines[name][1]] for own in people], dtype=float)
        is_known = np.isfinite(values).all(axis=1)
        n = is_known.sum(axis=0)
        values = np.where(is_known[:, None], values, np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(values, axis=0) / n
            variance = np.nansum((values[:, 1] - mean[1]) ** 2, axis=0) / (n - 1)
            half = student.ppf(0.975, n - 1) * np.sqrt(variance / n)
        observed = np.stack([mean[0], mean[1], mean[1] - half, mean[1] + half], axis=1)
        found[name] = observed, np.stack([x, y], axis=1)
    return found
