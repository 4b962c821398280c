"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import RATINGS, StimulusLayout, as_table, by_side
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_rated(names: Sequence[str]) -> dict[str, Any]:
    ratings = by_side(names, RATINGS)
    if not ratings or len(ratings[0]) != len(ratings[1]):
        return {}
    n_cues = len(ratings[0])
    told = sorted(name for name in names if "validity" in words_of(name))
    validities = told if len(told) == n_cues else ["?"] * n_cues
    return {"ratings": [ratings[0], ratings[1]], "validities": validities}


def _rated(parts: Mapping[str, Array]) -> Stimuli:
    ratings = parts["ratings"]
    top = parts.get("rating_max", np.full(len(ratings), np.nanmax(ratings, initial=1.0)))
    return Stimuli(
        {"ratings": ratings, "validities": as_table(parts["validities"]), "rating_max": top}
    )


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """What products are compared by."""
    ratings = stimuli["ratings"]
    return {
        f"rating by expert {cue + 1}": ratings[:, :, cue]
        for cue in range(ratings.shape[2])
        if np.isfinite(ratings[:, :, cue]).all()
    }


LAYOUT = StimulusLayout(
    {
        "ratings": "two lists of columns: each expert's rating of the first and of the second product",
        "validities": "how often each expert is right, 0.5 to 1: columns or numbers",
        "rating_max": "top of the scale; the highest rating in the file where it is left out",
    },
    ("ratings", "validities"),
    _rated,
    _guess_rated,
    guess_rank=4,
    properties=_properties,
)
"""The trials of this kind of task as columns."""
