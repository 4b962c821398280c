"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.offers.task import ATTRIBUTES, N_OFFERS, OffersDomain
from lakatos.experiments.adoption.layouts import StimulusLayout, guess_attributes
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_offers(names: Sequence[str]) -> dict[str, Any]:
    return guess_attributes(ATTRIBUTES, OffersDomain.options, names)


def _offers(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({name: parts[name] for name in ATTRIBUTES})


LAYOUT = StimulusLayout(
    dict.fromkeys(ATTRIBUTES, f"{N_OFFERS} columns, one for each offer"),
    ATTRIBUTES,
    _offers,
    _guess_offers,
    kind="choices among four energy contracts",
    guess_rank=3,
    properties=lambda stimuli: {name.replace("_", " "): stimuli[name] for name in ATTRIBUTES},
)
"""The trials of this kind of task as columns."""
