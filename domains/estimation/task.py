"""Estimating a function: people see some points of a noisy function and say what it is at another place.

The answer is a number, by bins of a tenth from -1.1 to 1.1. ``points_x`` and ``points_y`` are ``(n_trials, 24)``, of
which ``shown`` is 1 for points that there are; the rest is 0. ``query`` is where the function is asked for. Turning the
sides of a trial means to turn it upside down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import check_limits, refuse_unknown
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.answer_scale import number
from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.theories.language.family import Family
from lakatos.theories.language.option_score import LandmarkCode

Array = NDArray[Any]
MOST_POINTS = 24
SCALE = number(np.linspace(-1.1, 1.1, 23).round(6).tolist(), "y")
POINT_ARRAYS = ("points_x", "points_y", "shown")
HIGHEST_Y = 2.0
SHAPES: Mapping[str, Any] = {
    "line": lambda x: 0.8 * x,
    "falling line": lambda x: -0.8 * x,
    "bowl": lambda x: 1.6 * x**2 - 0.8,
    "wave": lambda x: 0.8 * np.sin(np.pi * x),
    "cubic": lambda x: 1.6 * x**3 - 0.8 * x,
}


@dataclass(frozen=True)
class EstimationSettings:
    """A space of trials: noisy functions of several shapes, each asked for at several places."""

    n_points: tuple[int, ...] = (6, 24)
    """Points that are seen."""
    shapes: tuple[str, ...] = tuple(SHAPES)
    """Functions behind them."""
    n_samples: int = 3
    """Samples of points from each function."""
    n_queries: int = 9
    """Places at which each is asked for, evenly between -0.9 and 0.9."""
    widest: float = 0.8
    """Points lie between this and its negative."""
    noise: float = 0.15
    """Standard deviation of the points around the function."""
    seed: int = 0
    """Another number makes other samples."""


def read_settings(settings: Mapping[str, Any]) -> EstimationSettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or wrong; the message says which and what there is.
    """
    known = EstimationSettings.__dataclass_fields__
    refuse_unknown(known, settings, "estimation")
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()
    }
    for name, value in values.items():
        kind = type(known[name].default)
        if not isinstance(value, (int, float) if kind is float else kind) or value is True:
            raise StimuliError(f"setting {name!r} of the estimation domain cannot be {value!r}.")
    read = EstimationSettings(**values)
    if unknown := sorted(set(read.shapes) - set(SHAPES)):
        raise StimuliError(f"unknown shapes: {', '.join(unknown)}; there are {', '.join(SHAPES)}.")
    limits = {
        "n_samples": (0, 100),
        "n_queries": (1, 40),
        "widest": (0.1, 1.0),
        "noise": (0.0, 0.5),
        "seed": (0, 2**31),
    }
    check_limits(read, limits)
    if any(not 2 <= n <= MOST_POINTS for n in read.n_points):
        raise StimuliError(f"setting n_points: give numbers from 2 to {MOST_POINTS}.")
    return read


def asked(points: Sequence[Sequence[tuple[float, float]]], queries: Sequence[float]) -> Stimuli:
    """Trials from written-out points, ``(x, y)`` each, and the place asked for in each trial."""
    arrays = {name: np.zeros((len(points), MOST_POINTS)) for name in POINT_ARRAYS}
    for row, own in enumerate(points):
        arrays["points_x"][row, : len(own)], arrays["points_y"][row, : len(own)] = np.transpose(own)
        arrays["shown"][row, : len(own)] = 1.0
    return Stimuli(arrays | {"query": np.asarray(queries, dtype=np.float64)})


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that cannot be asked."""
    if set(stimuli.arrays) != {*POINT_ARRAYS, "query"}:
        raise StimuliError(
            f"estimation has the arrays {', '.join((*POINT_ARRAYS, 'query'))}, not "
            f"{', '.join(sorted(stimuli.arrays))}."
        )
    n_trials = len(stimuli)
    for name in (*POINT_ARRAYS, "query"):
        shape = (n_trials,) if name == "query" else (n_trials, MOST_POINTS)
        if stimuli[name].shape != shape:
            raise StimuliError(f"array {name!r} has shape {stimuli[name].shape}, not {shape}.")
    x, y, shown = (np.asarray(stimuli[name], dtype=np.float64) for name in POINT_ARRAYS)
    query = np.asarray(stimuli["query"], dtype=np.float64)
    rules = (
        (np.isin(shown, (0, 1)).all(axis=1), "shown is 0 or 1"),
        (shown.sum(axis=1) >= 2, "at least two points are shown"),
        ((np.abs(x) <= 1).all(axis=1) & (np.abs(query) <= 1), "places are from -1 to 1"),
        ((np.abs(y) <= HIGHEST_Y).all(axis=1), f"points are from {-HIGHEST_Y:g} to {HIGHEST_Y:g}"),
        (((x == 0) & (y == 0) | (shown == 1)).all(axis=1), "points that are not shown are 0"),
    )
    for fine, words in rules:
        for row in np.flatnonzero(~fine):
            raise StimuliError(f"trial {row} of the estimation domain: {words}.")


def line_through(stimuli: Stimuli) -> tuple[Array, Array]:
    """Height at 0 and slope of the line of least squares through the points of each trial."""
    x, y, shown = (stimuli[name] for name in POINT_ARRAYS)
    n = shown.sum(axis=1)
    middle_x, middle_y = x.sum(axis=1) / n, y.sum(axis=1) / n
    away = (x - middle_x[:, None]) * shown
    slope = (away * y).sum(axis=1) / np.maximum((away**2).sum(axis=1), 1e-9)
    return middle_y - slope * middle_x, slope


LINE_AT = '''
def line_at(trials, xp):
    """Height of the line of least squares through the points, at the place asked for."""
    shown = trials["shown"]
    n = shown.sum(axis=-1)
    mean_x = (trials["points_x"] * shown).sum(axis=-1) / n
    mean_y = (trials["points_y"] * shown).sum(axis=-1) / n
    away = (trials["points_x"] - mean_x[..., None]) * shown
    slope = (away * trials["points_y"]).sum(axis=-1) / xp.maximum((away ** 2).sum(axis=-1), 1e-9)
    return mean_y + slope * (trials["query"] - mean_x)
'''
NEAREST = '''
def height_of_nearest(trials, xp):
    """Height of the point that is nearest to the place asked for."""
    distance = xp.abs(trials["points_x"] - trials["query"][..., None]) + 9.0 * (1 - trials["shown"])
    return xp.take_along_axis(trials["points_y"], distance.argmin(axis=-1)[..., None], axis=-1)[..., 0]
'''
LANDMARKS = (
    LandmarkCode("height_of_nearest(trials, xp)", "height of the nearest point", NEAREST),
    LandmarkCode("line_at(trials, xp)", "regression line", LINE_AT),
    LandmarkCode(
        '(trials["points_y"] * trials["shown"]).sum(axis=-1) / trials["shown"].sum(axis=-1)',
        "mean height of the points",
    ),
    LandmarkCode(
        '(trials["points_y"] - 9.0 * (1 - trials["shown"])).max(axis=-1)',
        "height of the highest point",
    ),
    LandmarkCode(
        '(trials["points_y"] + 9.0 * (1 - trials["shown"])).min(axis=-1)',
        "height of the lowest point",
    ),
)


class EstimationDomain(OneShot):
    """A function is seen in points and asked for elsewhere."""

    name = "estimation"
    scale = SCALE
    options: tuple[str, ...] = SCALE.labels

    def layout(self) -> StimulusLayout:
        """Return how trials are written as columns of a file."""
        from lakatos.domains.estimation.reader import LAYOUT

        return LAYOUT

    def family(self) -> Family:
        """The theories about this task."""
        from lakatos.domains.estimation.theories import FAMILY

        return FAMILY

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every function, sample of points and place asked for that the settings make.

        Raises:
            StimuliError: A setting is wrong.
            EmptyDesignSpaceError: There are no functions or no samples.
        """
        read = read_settings(settings)
        rng = np.random.default_rng(read.seed)
        queries = np.linspace(-0.9, 0.9, read.n_queries).round(3)
        points, places = [], []
        for shape in read.shapes:
            for n_points in read.n_points:
                for _ in range(read.n_samples):
                    x = np.linspace(-read.widest, read.widest, n_points)
                    y = SHAPES[shape](x) + read.noise * rng.standard_normal(n_points)
                    own = list(zip(x.round(3), y.clip(-HIGHEST_Y, HIGHEST_Y).round(3), strict=True))
                    points += [own] * len(queries)
                    places += queries.tolist()
        if not points:
            raise EmptyDesignSpaceError("give at least one shape, number of points and sample.")
        return asked(points, places)

    def check(self, stimuli: Stimuli) -> None:
        """See `check`."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: as many points as the settings say, no further out than they say."""
        read = read_settings(settings)
        fits = np.isin(stimuli["shown"].sum(axis=1), read.n_points)
        return np.asarray(fits & (np.abs(stimuli["points_x"]).max(axis=1) <= read.widest + 1e-3))

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Random trials, and extremes: two points, all on one spot, steep lines, far from all points."""
        space = self.space({"seed": int(rng.integers(1000))})
        ordinary = space.take(rng.choice(len(space), 20, replace=False))
        extreme = asked(
            [
                [(-0.5, -1.0), (0.5, 1.0)],
                [(0.2, 0.3)] * 6,
                [(-0.01, -2.0), (0.01, 2.0)],
                [(0.9, 0.5), (1.0, 0.5)],
                [(-1.0, 0.0), (1.0, 0.0)],
            ],
            [0.0, 0.2, 1.0, -1.0, 1.0],
        )
        return (ordinary, self.swap_sides(ordinary), extreme, self.swap_sides(extreme))

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials: where the place asked for lies, and what simple accounts would say there."""
        x, y, shown = (stimuli[name] for name in POINT_ARRAYS)
        query, rows = stimuli["query"], np.arange(len(stimuli))
        distance = np.where(shown > 0, np.abs(x - query[:, None]), np.inf)
        height, slope = line_through(stimuli)
        left = np.where(shown > 0, x, np.inf).min(axis=1)
        right = np.where(shown > 0, x, -np.inf).max(axis=1)
        line = height + slope * query
        return {
            "query": query,
            "n_points": shown.sum(axis=1),
            "nearest_distance": distance.min(axis=1),
            "nearest_y": y[rows, distance.argmin(axis=1)],
            "line_y": line,
            "slope": slope,
            "beyond": np.maximum(query - right, 0) - np.maximum(left - query, 0),
            "nearest_minus_line": y[rows, distance.argmin(axis=1)] - line,
            "mean_y": y.sum(axis=1) / shown.sum(axis=1),
        }

    def landmarks(self, stimuli: Stimuli) -> dict[str, Array]:
        """See `experiments.answer_scale.HasLandmarks`: what simple accounts would say."""
        features = self.features(stimuli)
        return {name: features[name] for name in ("nearest_y", "line_y", "mean_y")}

    def landmark_codes(self) -> tuple[LandmarkCode, ...]:
        """Heights near which responses may lie, as theories write them."""
        return LANDMARKS

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials upside down, which turns the order of the outcomes."""
        return Stimuli(dict(stimuli.arrays) | {"points_y": 0.0 - stimuli["points_y"]})

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """The points in a square, and a line where the function is asked for."""
        shown = stimuli["shown"][row] > 0
        dots = "".join(
            f'<circle cx="{100 + 90 * x:.1f}" cy="{100 - 95 / 1.1 * y:.1f}" r="3" fill="#1a5fb4"/>'
            for x, y in zip(
                stimuli["points_x"][row][shown], stimuli["points_y"][row][shown], strict=True
            )
        )
        marks = "".join(
            f'<text x="8" y="{103 - 95 / 1.1 * y:.1f}" font-size="8" fill="#555">{y}</text>'
            for y in (-1, 0, 1)
        )
        at = 100 + 90 * stimuli["query"][row]
        return (
            '<svg viewBox="0 0 200 200" width="360" role="img"><rect x="5" y="5" width="190" height="190" fill="none" '
            f'stroke="#bbb"/><line x1="{at:.1f}" x2="{at:.1f}" y1="5" y2="195" stroke="#c01c28" '
            f'stroke-dasharray="3 3"/>{marks}{dots}</svg>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """Describe a trial, such as ``at 0.33 after (-0.8, -0.89), (-0.5, -0.12), ...``."""
        shown = stimuli["shown"][row] > 0
        points = zip(stimuli["points_x"][row][shown], stimuli["points_y"][row][shown], strict=True)
        return f"at {stimuli['query'][row]:g} after " + ", ".join(
            f"({x:.3g}, {y:.3g})" for x, y in points
        )


DOMAIN = EstimationDomain()
