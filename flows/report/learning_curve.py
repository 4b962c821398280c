"""Responses over the steps of tasks in which participants learn, and what the leading theory predicts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.stats import t as student

from lakatos.experiments.conditions import condition_of
from lakatos.experiments.task import Stimuli
from lakatos.flows.report import charts
from lakatos.flows.report.by_condition import mean_outcomes, outcome_values
from lakatos.flows.report.download import both
from lakatos.flows.report.figures import legend
from lakatos.flows.report.reader import UNREADABLE, RunReading

Array = NDArray[np.float64]
N_PARTS = 16
FEWEST_STEPS = 20
"""Steps from which on there is a curve."""


def learning_curve(reading: RunReading) -> Markup:
    """Means of participants in up to 16 parts of the steps, beside predictions; empty where nobody learns.

    Each condition within participants has its own two lines.
    """
    if not reading.domain.sequential or not reading.board.standings:
        return Markup("")
    leader, what, parts = reading.board.leader.theory, "", []
    for name in reading.state.experiments.collected:
        score = reading.state.theories.scores.get((leader, name))
        try:
            trials = reading.trials(name)
        except UNREADABLE:
            continue
        if score is None:
            continue
        values, what = outcome_values(reading.domain, trials.stimuli, trials.n_options)
        shares = np.asarray(score.record.proportions).reshape(len(trials.stimuli), -1)
        columns = {
            "step": step_of(trials.stimuli)[trials.trial],
            "condition": condition_of(trials.stimuli).astype(int)[trials.trial],
            "person": [f"{name} {person}" for person in trials.participant],
            "observed": values[trials.trial, trials.response],
            "predicted": mean_outcomes(shares, values)[trials.trial],
        }
        parts.append(pd.DataFrame(columns)[is_first_stage(trials.stimuli)[trials.trial]])
    if not parts or pd.concat(parts)["step"].nunique() < FEWEST_STEPS:
        return Markup("")
    label = reading.label(leader)
    lines = curve_lines(
        pd.concat(parts), reading.config.conditions, label.tag, reading.link(leader)
    )
    title = f"{what} over the steps of the task"
    drawn = both(partial(charts.history, lines, {}, title=title, labels=("step", what)))
    return drawn + legend(lines)


def curve_lines(
    table: pd.DataFrame, conditions: Sequence[str], tag: str, link: str
) -> list[charts.ChartLine]:
    """The lines of data and of predictions, for each condition.

    Args:
        table: A row for each response: ``step`` from 0, ``condition`` (its place), ``person``, the value ``observed``
            and its mean ``predicted`` at this step.
        conditions: Names of the conditions; none where there are none.
        tag: Tag of the theory.
        link: Where its page is.
    """
    n_steps = int(table["step"].max()) + 1
    edges = np.linspace(0, n_steps, min(N_PARTS, n_steps // 2) + 1).round().astype(int)
    part = np.searchsorted(edges, table["step"], side="right") - 1
    means = table.groupby(["condition", part, "person"])[["observed", "predicted"]].mean()
    lines = []
    for place, name in enumerate(conditions or ("",)):
        data, theory = [], []
        for number, own in means.xs(place).groupby(level=0):
            x = int(edges[number] + edges[number + 1] + 1) // 2  # steps count from 1
            data.append(mean_point(x, own["observed"].to_numpy()))
            theory.append(charts.ChartPoint(x, float(own["predicted"].mean()), np.nan, np.nan))
        of = f", {name.replace('_', ' ')}" if name else ""
        lines += [
            charts.ChartLine(f"observed{of}", "data", "", tuple(data)),
            charts.ChartLine(f"predicted{of}", tag, link, tuple(theory)),
        ]
    return lines


def step_of(stimuli: Stimuli) -> NDArray[np.intp]:
    """``(n_trials,)`` step of the participant, from 0; schedules of participants may stand one after the other."""
    position = stimuli.arrays.get("position")
    return np.arange(len(stimuli)) if position is None else np.asarray(position, dtype=np.intp)


def is_first_stage(stimuli: Stimuli) -> NDArray[np.bool_]:
    """``(n_trials,)`` whether a step is a first choice, not the second of a two-step task."""
    stage = stimuli.arrays.get("stage", np.zeros(len(stimuli)))
    return np.asarray(np.asarray(stage) == 0)


def mean_point(x: float, values: Array) -> charts.ChartPoint:
    """Mean of participants with its 95% interval by a t distribution; no interval of one participant."""
    mean, n = float(values.mean()), len(values)
    half = np.nan if n < 2 else float(student.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return charts.ChartPoint(int(x), mean, mean - half, mean + half)
