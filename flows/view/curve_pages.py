"""Curves: people's shares by a property of the trials with what theories say, and by a parameter of a theory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.stats import rankdata

from lakatos.experiments.task import Stimuli, Trials
from lakatos.flows.report.formats import figures3
from lakatos.flows.view.people_groups import groups_of, known_of_people, of_group
from lakatos.flows.view.plot import PlotDots, PlotLine, PlotMarks, PlotPoint, plot
from lakatos.flows.view.trial_points import (
    answered,
    choosable,
    option_name,
    predicted_shares,
    scores_of,
)
from lakatos.flows.view.watch import RunMoment
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.engine.scoring.score import ratio
from lakatos.theories.errors import TheoryError
from lakatos.theories.language.family import own_texts
from lakatos.theories.language.prior import Prior
from lakatos.theories.language.theory import Theory
from lakatos.traces.digest import Digest

Array = NDArray[np.float64]
MOST_BINS: Final = 9
"""Groups of trials along a property with many values."""
MOST_CURVES: Final = 3
"""Theories whose curves are drawn."""
N_VALUES: Final = 9
"""Values of a parameter that are tried."""
N_PEOPLE: Final = 32
"""People with whom each is tried; a power of two."""
MOST_PARAMETERS: Final = 8
MOST_TRIALS: Final = 48
N_SHOWN: Final = 3
"""Trials whose curve is drawn: those whose responses depend most on the parameter."""
SHAPES: Final = ("square", "triangle", "diamond")
SHAPES_OF_GROUPS: Final = ("circle", *SHAPES)
LINE_COLOURS: Final = (1, 4, 5)
"""Colours of the lines of theories; groups of participants have the colours from 2 on."""


@dataclass(frozen=True)
class CurveBin:
    """Trials of like value of a property."""

    at: float
    """Mean value."""
    low: float
    high: float
    n_trials: int
    n_answers: int
    share: float
    share_low: float
    share_high: float
    predicted: tuple[float, ...]


def curves(
    look: RunMoment, wanted: str, chosen: Sequence[str], divided: str = ""
) -> dict[str, Any]:
    """Values of the page of curves by a property of the trials; ``divided`` names what people are grouped by."""
    names = choosable(look)
    theories = curve_theories(look, names, chosen)
    responses = answers_with_predictions(look, theories)
    parts = list(responses.values())
    known = known_of_people(look, list(responses))
    divided = divided if divided in known else ""
    columns = [look.domain.features(trials.stimuli) for trials, _ in parts]
    varied = varied_properties(columns)
    facts: dict[str, Any] = {
        "known": list(known),
        "divided": divided,
        "groups": [],
        "names": names,
        "chosen": theories,
        "properties": varied,
        "wanted": "",
        "bins": [],
        "plot": "",
        "option": "",
    }
    if not varied:
        return facts
    option = parts[0][0].n_options - 1
    name = wanted if wanted in varied else most_telling(varied, columns, parts, option)
    values = [np.asarray(column[name], float) for column in columns]
    bins = binned(values, parts, option)
    label = option_name(look, option)
    groups = []
    for group, inside in groups_of(known[divided]) if divided else ():
        own = of_group([trials for trials, _ in parts], inside)
        shares = binned(values, [(trials, []) for trials in own], option)
        groups.append((group, sum(item.n_answers for item in shares), shares))
    return facts | {
        "wanted": name,
        "option": label,
        "bins": bins,
        "groups": groups,
        "plot": binned_plot(look, name, label, bins, theories, groups),
    }


def curve_theories(look: RunMoment, names: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """Theories whose curves are drawn: those chosen, else the leader and its first rival."""
    known = [name for name in dict.fromkeys(chosen) if name in names]
    usual = (*names[:1], *([look.first_rival] if look.first_rival else []))
    return known[:MOST_CURVES] or [name for name in dict.fromkeys(usual) if name in names]


def answers_with_predictions(
    look: RunMoment, theories: Sequence[str]
) -> dict[str, tuple[Trials, list[Array]]]:
    """Return responses and predictions by experiment; experiments on which a theory was not scored are excluded."""
    scores = [scores_of(look, name) for name in theories]
    return {
        experiment: (trials, [predicted_shares(own[experiment]) for own in scores])
        for experiment, trials in answered(look)
        if all(experiment in own for own in scores)
    }


def varied_properties(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """Properties that the trials of all experiments have, and that are not the same everywhere."""
    if not columns:
        return []
    shared = [name for name in columns[0] if all(name in column for column in columns)]
    return [name for name in shared if np.ptp(joined(columns, name)) > 0]


def joined(columns: Sequence[Mapping[str, Any]], name: str) -> Array:
    """Values of a property over the trials of all experiments."""
    return np.concatenate([np.asarray(column[name], float) for column in columns])


def most_telling(
    names: Sequence[str],
    columns: Sequence[Mapping[str, Any]],
    parts: Sequence[tuple[Trials, Sequence[Array]]],
    option: int,
) -> str:
    """The property that people's shares of an option go with most, by rank."""
    shares = np.concatenate([np.asarray(trials.proportions)[:, option] for trials, _ in parts])
    known = ~np.isnan(shares)

    def strength(name: str) -> float:
        values = joined(columns, name)[known]
        if np.ptp(values) == 0 or np.ptp(shares[known]) == 0:
            return 0.0
        return abs(float(np.corrcoef(rankdata(values), rankdata(shares[known]))[0, 1]))

    return max(names, key=strength)


def edges_of(values: Array) -> Array:
    """Ends of groups of values: each value its own where there are few, else groups of like size."""
    distinct = np.unique(values)
    if len(distinct) <= MOST_BINS:
        middles = (distinct[1:] + distinct[:-1]) / 2
        return np.concatenate([[-np.inf], middles, [np.inf]])
    inner = np.quantile(values, np.linspace(0, 1, MOST_BINS + 1)[1:-1])
    return np.concatenate([[-np.inf], np.unique(inner), [np.inf]])


def binned(
    values: Sequence[Array], parts: Sequence[tuple[Trials, Sequence[Array]]], option: int
) -> list[CurveBin]:
    """People's share of an option and theories' predictions by groups of trials.

    Args:
        values: ``(n_trials,)`` of the property, by experiment.
        parts: Responses and each theory's ``(n_trials, n_options)`` shares.
        option: Option whose share is meant.

    Returns:
        One for each group that somebody answered, in order. Predictions count each trial as often as it was answered;
        intervals are clustered by person, by trial where people cannot be told apart.
    """
    found = []
    for low, high in pairwise(edges_of(np.concatenate(values))):
        inside = [(column > low) & (column <= high) for column in values]
        units = [
            chosen_by_unit(trials, rows, option)
            for rows, (trials, _) in zip(inside, parts, strict=True)
        ]
        weights = [
            np.bincount(trials.trial, weights=trials.count, minlength=len(rows))[rows]
            for rows, (trials, _) in zip(inside, parts, strict=True)
        ]
        at = [column[rows] for rows, column in zip(inside, values, strict=True)]
        labels = [
            np.stack([share[rows, option] for share in shares], axis=-1)
            if shares
            else np.zeros((int(rows.sum()), 0))
            for rows, (_, shares) in zip(inside, parts, strict=True)
        ]
        weight = np.concatenate(weights)
        if weight.sum() <= 0:
            continue
        hits, sizes = (np.concatenate(column) for column in zip(*units, strict=True))
        estimate = ratio(hits, sizes)
        ends = estimate.interval if estimate.is_known else (0.0, 1.0)
        places = np.concatenate(at)
        mean = np.average(np.concatenate(labels), axis=0, weights=weight)
        found.append(
            CurveBin(
                at=float(np.average(places, weights=weight)),
                low=float(places.min()),
                high=float(places.max()),
                n_trials=int((weight > 0).sum()),
                n_answers=int(weight.sum()),
                share=estimate.value,
                share_low=max(ends[0], 0.0),
                share_high=min(ends[1], 1.0),
                predicted=tuple(mean.tolist()),
            )
        )
    return found


def chosen_by_unit(trials: Trials, rows: Array, option: int) -> tuple[Array, Array]:
    """Count how often each person, or where they are pooled each trial, chose an option, and of how many responses."""
    row_of = rows[trials.trial]
    unit = (trials.trial if trials.pooled else trials.participant)[row_of]
    count = trials.count[row_of]
    sizes = np.bincount(unit, weights=count).astype(np.float64)
    hits = np.bincount(unit, weights=count * (trials.response[row_of] == option)).astype(np.float64)
    return hits[sizes > 0], sizes[sizes > 0]


def binned_plot(
    look: RunMoment,
    name: str,
    option: str,
    bins: Sequence[CurveBin],
    theories: Sequence[Digest],
    groups: Sequence[tuple[str, int, Sequence[CurveBin]]],
) -> Markup:
    """People's shares with intervals, those of groups where there are some, and a line for each theory."""
    shown = [(f"{group} ({n_answers:,} responses)", own) for group, n_answers, own in groups]
    dots = [
        PlotDots(series, place + 2 if groups else -1, SHAPES_OF_GROUPS[place], people_points(own))
        for place, (series, own) in enumerate(shown or [("people", bins)])
    ]
    lines = [
        PlotLine(
            look.label(theory).short,
            LINE_COLOURS[place % len(LINE_COLOURS)],
            [(item.at, item.predicted[place]) for item in bins],
            dashed=place > 0,
        )
        for place, theory in enumerate(theories)
    ]
    return plot(
        "property",
        f"Share that chooses {option}, by {name.replace('_', ' ')}",
        x=name.replace("_", " "),
        y=f"share that chooses {option}",
        y_range=(0, 1),
        dots=dots,
        lines=lines,
    )


def people_points(bins: Sequence[CurveBin]) -> list[PlotPoint]:
    """Shares of people with their intervals."""
    return [
        PlotPoint(
            item.at,
            item.share,
            f"people {item.share:.2f} ({item.share_low:.2f} to {item.share_high:.2f}), {item.n_answers} responses",
            item.share_low,
            item.share_high,
        )
        for item in bins
    ]


# --- by parameter ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ParameterCurves:
    """Dependence of the shares of some trials on one parameter of a theory."""

    name: str
    prior: Prior
    values: Array
    """``(n_values,)`` from where 2.5% to where 97.5% of people lie."""
    trials: tuple[int, ...]
    """Rows of the trials."""
    shares: Array
    """``(n_trials, n_values)`` share that chooses the last option, the other parameters as people have them."""


def parameter_curves(
    theory: Theory, stimuli: Stimuli, n_options: int, sandbox: Sandbox
) -> list[ParameterCurves]:
    """Run a theory with each parameter set to several values, the other ones as its people have them.

    Raises:
        TheoryError: It does not run.
    """
    names = [name for name, prior in theory.priors.items() if not prior.idle][:MOST_PARAMETERS]
    people = theory.population(N_PEOPLE)
    grids = {
        name: theory.priors[name].quantile(np.linspace(0.025, 0.975, N_VALUES)) for name in names
    }
    n_each = N_VALUES * N_PEOPLE
    drawn = {key: np.tile(value, len(names) * N_VALUES) for key, value in people.items()}
    for place, name in enumerate(names):
        own = slice(place * n_each, (place + 1) * n_each)
        drawn[name] = drawn[name].copy()
        drawn[name][own] = np.repeat(grids[name], N_PEOPLE)
    (found,) = sandbox.probabilities(
        theory.program.source, drawn, [dict(stimuli.arrays)], n_options=n_options
    )
    shares = found[..., -1].reshape(len(names), N_VALUES, N_PEOPLE, len(stimuli)).mean(axis=2)
    curves_of = []
    for place, name in enumerate(names):
        moved = np.ptp(shares[place], axis=0)
        rows = np.argsort(-moved, kind="stable")[:N_SHOWN]
        rows = rows[moved[rows] > 0.01]
        moving = shares[place][:, rows].T
        curves_of.append(
            ParameterCurves(name, theory.priors[name], grids[name], tuple(rows.tolist()), moving)
        )
    return curves_of


def parameters_part(look: RunMoment, digest: Digest) -> dict[str, Any] | None:
    """Show how predictions depend on a theory's parameters, with people's shares; None without such a theory.

    The theory runs in the sandbox, as everywhere; nothing is written.
    """
    if digest not in look.state.theories.checked:
        return None
    theory = look.theory(digest)
    reason = ""
    if theory.learns or look.domain.sequential:
        reason = "Its predictions depend on earlier trials, so a single trial has no curve."
    elif not theory.priors:
        reason = "It has no parameters."
    elif not look.state.experiments.collected:
        reason = "There are no responses yet."
    if reason:
        return {"reason": reason, "items": [], "option": ""}
    name = list(look.state.experiments.collected)[-1]
    key = ("parameters", digest, name, tuple(theory.priors.items()))
    try:
        return look.watch.kept(key, lambda: _parameters(look, theory, name))
    except (TheoryError, OSError) as error:
        return {"reason": f"It could not be run here: {error}", "items": [], "option": ""}


def _parameters(look: RunMoment, theory: Theory, experiment: str) -> dict[str, Any]:
    trials = look.trials(experiment)
    chosen = np.unique(np.linspace(0, len(trials.stimuli) - 1, MOST_TRIALS).astype(int))
    stimuli = trials.stimuli.take(chosen.tolist())
    with Sandbox(is_own=own_texts(look.domain)) as sandbox:
        found = parameter_curves(theory, stimuli, trials.n_options, sandbox)
    shares = np.asarray(trials.proportions)[chosen, -1]
    option = option_name(look, trials.n_options - 1)
    items = []
    for item in found:
        tens = item.prior.quantile(np.array([0.1, 0.5, 0.9]))
        items.append(
            {
                "name": item.name,
                "meaning": item.prior.meaning,
                "people": [figures3(value) for value in tens],
                "rows": [
                    (
                        int(chosen[row]) + 1,
                        float(shares[row]),
                        curve[[0, N_VALUES // 2, -1]].tolist(),
                        " ".join(look.domain.describe(stimuli, row).split()),
                    )
                    for row, curve in zip(item.trials, item.shares, strict=True)
                ],
                "plot": parameter_plot(item, shares, chosen, option, tens) if item.trials else "",
            }
        )
    return {"reason": "", "items": items, "option": option, "experiment": experiment}


def parameter_plot(
    item: ParameterCurves, shares: Array, chosen: NDArray[np.int64], option: str, tens: Array
) -> Markup:
    """Curves of some trials; people's share of each at the value of the median person."""
    lines, dots = [], []
    for place, (row, curve) in enumerate(zip(item.trials, item.shares, strict=True)):
        words = f"trial {int(chosen[row]) + 1}"
        points = list(zip(item.values.tolist(), curve.tolist(), strict=True))
        lines.append(PlotLine(words, place + 1, points))
        if np.isfinite(shares[row]):
            label = f"{words}: {shares[row]:.2f} of people"
            point = PlotPoint(float(tens[1]), float(shares[row]), label)
            dots.append(PlotDots(f"people, {words}", place + 1, SHAPES[place], [point]))
    return plot(
        f"parameter-{item.name}",
        f"Share that chooses {option}, by {item.name}",
        x=f"{item.name} ({item.prior.unit})" if item.prior.unit else item.name,
        y=f"share that chooses {option}",
        x_range=(float(item.values[0]), float(item.values[-1])),
        x_log=item.prior.is_log,
        y_range=(0, 1),
        lines=lines,
        dots=dots,
        marks=PlotMarks(
            [
                (float(value), words)
                for value, words in zip(tens, ("10%", "half", "90%"), strict=True)
            ]
        ),
        height=300,
    )
