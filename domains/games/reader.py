"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.games.task import PLAYERS
from lakatos.experiments.adoption.layouts import StimulusLayout
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_games(names: Sequence[str]) -> dict[str, Any]:
    """Columns whose names hold the player and the cell, as ``own_12`` does; all eight or none."""
    found = {}
    for player in PLAYERS:
        rows = [[_of_cell(names, player, f"{row}{column}") for column in (1, 2)] for row in (1, 2)]
        if not all(name for row in rows for name in row):
            return {}
        found[player] = rows
    return found


def _of_cell(names: Sequence[str], player: str, cell: str) -> str:
    """The column of a player's payoff in a cell; empty where there is none."""
    return next((name for name in names if {player, cell} <= set(words_of(name))), "")


def _games(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({name: parts[name] for name in PLAYERS})


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """What rows are compared by."""
    own, other = stimuli["own"], stimuli["other"]
    return {
        "mean payoff of one's own": own.mean(axis=2),
        "worst payoff of one's own": own.min(axis=2),
        "best payoff of one's own": own.max(axis=2),
        "mean payoff of the other": other.mean(axis=2),
    }


LAYOUT = StimulusLayout(
    {
        "own": "two lists of two columns: what the person gets, by the own row and the other's column",
        "other": "likewise what the other player gets",
    },
    PLAYERS,
    _games,
    _guess_games,
    guess_rank=0,
    properties=_properties,
)
"""The trials of this kind of task as columns."""
