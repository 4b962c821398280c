"""First passages of a diffusion between bounds that move, by its partial differential equation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded

Array = NDArray[np.float64]


def solved(
    drift: float,
    start: float,
    share: Callable[[float], float],
    change: Callable[[float], float],
    ends: Array,
    n_places: int = 400,
    n_times: int = 100,
) -> Array:
    """Shares that reach the upper and the lower bound in each step, ``(2, n_steps)``; Crank-Nicolson.

    Places are shares of the distance of bounds as it is at the time, so that the bounds stand still and the walk drifts
    outwards while they close. Distances are in units of the first one, times in units of its square.

    Args:
        drift: Of the walk.
        start: Share of the distance.
        share, change: What is left of the distance at a time, and its derivative.
        ends: Of the steps, ``(n_steps + 1,)``.
        n_places, n_times: Of the grid: over the distance, and in each step.
    """
    width = 1 / n_places
    place = np.linspace(-0.5, 0.5, n_places + 1)[1:-1]
    density = np.zeros(n_places - 1)
    above = int(np.searchsorted(place, start - 0.5))
    lower = (place[above] - (start - 0.5)) / width
    density[above - 1 : above + 1] = np.array([lower, 1 - lower]) / width
    found = np.zeros((2, len(ends) - 1))
    for step, (begin, end) in enumerate(pairwise(ends)):
        fine = n_times * (4 if step == 0 else 1)
        time_step = (end - begin) / fine
        for number in range(fine):
            # a few implicit steps smooth the point from which the walk starts
            implicit = 1.0 if step == 0 and number < 8 else 0.5
            time = begin + (number + 0.5) * time_step
            wide = share(time)
            scaled, push = time_step / wide**2, drift * wide - wide * change(time) * place
            before = 0.5 / width**2 + np.append(0.0, push[:-1]) / (2 * width)
            after = 0.5 / width**2 - np.append(push[1:], 0.0) / (2 * width)
            moved = -density / width**2
            moved[1:] += before[1:] * density[:-1]
            moved[:-1] += after[:-1] * density[1:]
            bands = np.zeros((3, n_places - 1))
            bands[0, 1:], bands[2, :-1] = (
                -implicit * scaled * after[:-1],
                -implicit * scaled * before[1:],
            )
            bands[1] = 1 + implicit * scaled / width**2
            later = solve_banded((1, 1), bands, density + (1 - implicit) * scaled * moved)
            middle = implicit * later + (1 - implicit) * density
            for side, (first, second) in enumerate(((-1, -2), (0, 1))):
                found[side, step] += scaled * 0.25 * (4 * middle[first] - middle[second]) / width
            density = later
    return found
