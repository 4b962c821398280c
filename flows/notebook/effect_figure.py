"""Figures of effects on parameters: estimates with intervals, and each participant's estimates joined by lines."""

from __future__ import annotations

from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from lakatos.experiments.errors import TrialsError
from lakatos.flows.report.plot_style import MUTED, SERIES, SETTINGS, forest
from lakatos.theories.findings.differences.parameter_effect import (
    PERSON,
    ParameterEffects,
    values_are_categories,
)

AXES = {"log": "logarithm", "logit": "log odds", "plain": "own unit"}


def draw_effects(found: ParameterEffects) -> Figure:
    """Draw effects with 95% intervals, a panel for each scale."""
    kinds = [kind for kind in AXES if any(item.scale.kind == kind for item in found.effects)]
    parts = [[item for item in found.effects if item.scale.kind == kind] for kind in kinds]
    heights = [len(part) for part in parts]
    with mpl.rc_context(cast(Any, SETTINGS)):
        size = (6.8, 0.8 + 0.32 * sum(heights) + 0.55 * len(parts))
        figure = Figure(figsize=size, layout="constrained")
        figure.suptitle(f"{found.theory.name}: {found.formula.text}", fontsize=10)
        panels = figure.subplots(
            len(parts), 1, squeeze=False, gridspec_kw={"height_ratios": heights}
        )[:, 0]
        for axes, kind, part in zip(panels, kinds, parts, strict=True):
            forest(
                axes,
                [f"{item.parameter}: {item.label}" for item in part],
                [item.estimate for item in part],
                [item.interval for item in part],
                [SERIES[0] if item.is_shown else MUTED for item in part],
            )
            axes.set_xlabel(f"effect ({AXES[kind]}), 95% interval")
    return figure


def draw_people(found: ParameterEffects, parameter: str = "", by: str = "") -> Figure:
    """Draw each participant's estimates of a parameter in each condition, joined by lines; a thick line is the mean.

    Raises:
        TrialsError: There is no such parameter, or no predictor varies within participants.
    """
    tested = list(dict.fromkeys(item.parameter for item in found.effects))
    clearest = min(found.effects, key=lambda item: 1.0 if item.p is None else item.p).parameter
    parameter = parameter or clearest
    if parameter not in tested:
        raise TrialsError(f"no effects on {parameter!r} here; there are of {', '.join(tested)}.")
    within = [
        name
        for name in found.formula.predictors
        if (found.frame.groupby(PERSON)[name].nunique() > 1).any()
    ]
    by = by or (within[0] if within else found.formula.predictors[0])
    if by not in found.formula.predictors:
        raise TrialsError(
            f"{by!r} is no predictor here; there is {', '.join(found.formula.predictors)}."
        )
    place = [scale.name for scale in found.posteriors.scales].index(parameter)
    scale = found.posteriors.scales[place]
    frame = found.frame.assign(estimate=scale.to_unit(found.posteriors.mean[found.used, place]))
    is_category = values_are_categories(frame[by])
    frame = frame.assign(where=frame[by].cat.codes if is_category else frame[by])
    with mpl.rc_context(cast(Any, SETTINGS)):
        figure = Figure(figsize=(4.8, 3.6), layout="constrained")
        axes = figure.subplots()
        for _, own in frame.groupby(PERSON, sort=False):
            line = own.sort_values("where")
            axes.plot(line["where"], line["estimate"], "o-", ms=2.5, lw=0.7, color=MUTED, alpha=0.6)
        if is_category:
            means = frame.groupby("where")["estimate"].agg(
                lambda values: float(scale.to_unit(np.mean(scale.to_scale(values.to_numpy()))))
            )
            axes.plot(means.index, means, "o-", ms=5, lw=2.2, color=SERIES[0])
            axes.set_xticks(range(len(frame[by].cat.categories)), frame[by].cat.categories)
            axes.margins(x=0.15)
        if scale.kind == "log":
            axes.set_yscale("log")
        axes.set_xlabel(by)
        axes.set_ylabel(f"{parameter}{f' ({scale.unit})' if scale.unit else ''}")
        axes.set_title(f"{found.theory.name}: estimates of each participant", fontsize=9)
    return figure
