"""A cloud of blue and orange dots, of which one colour has more, as trials of perception and recognition show it."""

from __future__ import annotations

from typing import Final

import numpy as np

COLOURS: Final = ("#1f4fb0", "#e07b00")
"""Blue for the first response and orange for the second."""
N_DOTS: Final = 100
MOST_MORE: Final = 20
"""Dots above half of them that the right colour has where the stimulus is strongest."""
SIDE: Final = 10
"""Rows and columns of the grid near whose places the dots lie."""
CELL: Final = 32
RADIUS: Final = 9


def dots(strength: float, side: int) -> str:
    """A cloud of dots: ``side`` -1 has more blue ones, 1 more orange ones; equal numbers at strength 0."""
    n_right = N_DOTS // 2 + round(MOST_MORE * strength)
    # the same trial always looks the same
    rng = np.random.default_rng([n_right, side + 1])
    is_right = rng.permutation(N_DOTS) < n_right
    moved = rng.uniform(RADIUS, CELL - RADIUS, size=(N_DOTS, 2))
    right = 0 if side < 0 else 1
    drawn = "".join(
        f'<circle cx="{CELL * (place % SIDE) + moved[place, 0]:.0f}" '
        f'cy="{CELL * (place // SIDE) + moved[place, 1]:.0f}" r="{RADIUS}" '
        f'fill="{COLOURS[right if is_right[place] else 1 - right]}"/>'
        for place in range(N_DOTS)
    )
    return f'<svg viewBox="0 0 {SIDE * CELL} {SIDE * CELL}" width="320" height="320">{drawn}</svg>'
