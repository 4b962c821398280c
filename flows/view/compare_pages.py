"""Two theories side by side: the trials on which they part, what people did there, and which trials these are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from markupsafe import Markup
from scipy.stats import rankdata

from lakatos.experiments.adoption.names import experiment_in_words
from lakatos.experiments.data_sets import data_sets_of
from lakatos.flows.view.plot import PlotDots, PlotPoint, plot
from lakatos.flows.view.trial_points import (
    TrialPoint,
    choosable,
    option_name,
    scores_of,
    trial_points,
)
from lakatos.flows.view.watch import RunMoment
from lakatos.theories.engine.record import TheoryScored
from lakatos.theories.engine.scoreboard import advantage_on, left_out_scores, prequential_advantage
from lakatos.theories.engine.scoring.score import is_tie, paired_difference
from lakatos.traces.digest import Digest

MOST_ROWS: Final = 200
"""Trials in the table: those on which the two part most."""
MOST_POINTS: Final = 2000
MOST_PICTURES: Final = 3
CLEAR: Final = 0.3
"""A rank correlation from which on a property of the trials is told."""


def compare(look: RunMoment, first: str, second: str) -> dict[str, Any]:
    """Values of the page about two theories; the leader and the best first rival where none are named."""
    names = choosable(look)
    usual = [*names[:1], *([look.first_rival] if look.first_rival else []), *names[1:]]
    chosen = [name for name in dict.fromkeys([first, second, *usual]) if name in names][:2]
    facts: dict[str, Any] = {"names": names, "chosen": chosen, "points": [], "plot": ""}
    if len(chosen) < 2:
        return facts
    scores = {name: scores_of(look, name) for name in chosen}
    points = sorted(trial_points(look, scores), key=lambda point: -point.gap)
    if not points:
        return facts
    return facts | {
        "points": points[:MOST_ROWS],
        "n_points": len(points),
        "describe": lambda point: described(look, point),
        "side": [sum(point.sides_with == place for point in points) for place in (0, 1)],
        "plot": compared_plot(look, points[:MOST_POINTS], chosen),
        "differences": differences(chosen, scores),
        "total": total(look, chosen, scores),
        "is_tie": is_tie,
        "where": where_they_part(look, points),
        "pictures": [pictured(look, point) for point in points[:MOST_PICTURES] if point.gap > 0.01],
        "option_of": lambda point: option_name(look, point.option),
    }


def described(look: RunMoment, point: TrialPoint) -> str:
    """A trial in a line of text."""
    stimuli = look.trials(point.experiment).stimuli
    return " ".join(look.domain.describe(stimuli, point.row).split())


def pictured(look: RunMoment, point: TrialPoint) -> tuple[Markup, TrialPoint]:
    """A trial as people saw it."""
    stimuli = look.trials(point.experiment).stimuli
    return Markup(look.domain.picture(stimuli, point.row)), point


def compared_plot(
    look: RunMoment, points: Sequence[TrialPoint], chosen: Sequence[Digest]
) -> Markup:
    """One theory's shares against the other's; colour and shape say with which one people side."""
    tags = [look.label(name).tag for name in chosen]
    words = {
        0: f"people side with {tags[0]}",
        1: f"people side with {tags[1]}",
        None: "both or neither",
    }
    dots = []
    for place, side in enumerate((0, 1, None)):
        own = [
            PlotPoint(
                point.predicted[0],
                point.predicted[1],
                f"trial {point.row + 1} of {experiment_in_words(point.experiment)}: {tags[0]} "
                f"{point.predicted[0]:.2f}, {tags[1]} {point.predicted[1]:.2f}, people {point.share:.2f}",
                key=point.key,
            )
            for point in points
            if point.sides_with == side
        ]
        shape, colour = (("circle", 1), ("diamond", 2), ("triangle", 0))[place]
        dots.append(PlotDots(words[side], colour, shape, own))
    option = option_name(look, points[0].option) if points[0].option == 1 else "each option"
    return plot(
        "compared",
        f"Share that chooses {option}, by both theories, trial by trial",
        x=f"predicted by {tags[0]}",
        y=f"predicted by {tags[1]}",
        x_range=(0, 1),
        y_range=(0, 1),
        dots=dots,
        diagonal=True,
        selects="trials",
    )


def differences(
    chosen: Sequence[Digest], scores: Mapping[Digest, Mapping[str, TheoryScored]]
) -> list[tuple[str, Any, bool]]:
    """Compare by experiment: the first theory's advantage, and whether both had predicted before the responses."""
    first, second = (scores[name] for name in chosen)
    return [
        (
            name,
            advantage_on(record, second[name]),
            record.frozen is not None and second[name].frozen is not None,
        )
        for name, record in first.items()
        if name in second
    ]


def total(
    look: RunMoment, chosen: Sequence[Digest], scores: Mapping[Digest, Mapping[str, TheoryScored]]
) -> tuple[Any, str] | None:
    """The first theory's advantage over all experiments, and on what it rests; None where there is none."""
    both = {(name, key): record for name in chosen for key, record in scores[name].items()}
    experiments = [
        name
        for name in look.state.experiments.collected
        if all((theory, name) in both for theory in chosen)
    ]
    if not experiments:
        return None
    found = prequential_advantage(chosen[0], chosen[1], experiments, both)
    if found is not None:
        return found[0], "on responses that both had predicted before they arrived"
    own, other = (left_out_scores(name, experiments, both) for name in chosen)
    part = "data set" if data_sets_of(experiments) else "experiment"
    return paired_difference(own, other), f"each {part} predicted from the others"


def where_they_part(look: RunMoment, points: Sequence[TrialPoint]) -> list[tuple[str, float]]:
    """Properties of trials that go with how far the two are apart: their words and rank correlations, at most three."""
    values: dict[str, list[float]] = {}
    gaps: dict[str, list[float]] = {}
    by_experiment: dict[str, list[TrialPoint]] = {}
    for point in points:
        by_experiment.setdefault(point.experiment, []).append(point)
    for experiment, own in by_experiment.items():
        rows = [point.row for point in own]
        features = look.domain.features(look.trials(experiment).stimuli)
        for name, feature in features.items():
            values.setdefault(name, []).extend(np.abs(np.asarray(feature, float)[rows]).tolist())
            gaps.setdefault(name, []).extend(point.gap for point in own)
    found = []
    for name, column in values.items():
        if len(column) < 8 or np.ptp(column) == 0 or np.ptp(gaps[name]) == 0:
            continue
        r = float(np.corrcoef(rankdata(column), rankdata(gaps[name]))[0, 1])
        if abs(r) >= CLEAR:
            found.append((name, r))
    return sorted(found, key=lambda item: -abs(item[1]))[:3]
