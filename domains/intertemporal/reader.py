"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.intertemporal.task import dominance
from lakatos.experiments.adoption.layouts import AMOUNTS, DAYS, DELAYS, NOW, StimulusLayout, by_side
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_dated(names: Sequence[str]) -> dict[str, Any]:
    amounts, delays = by_side(names, AMOUNTS), by_side(names, DELAYS)
    if not amounts or not len(amounts[0]) == len(amounts[1]) == 1:
        return {}
    soon, late = amounts[0][0], amounts[1][0]
    if delays and len(delays[0]) == len(delays[1]) == 1:
        return {"amounts": [soon, late], "delays_days": [delays[0][0], delays[1][0]]}
    # Money now needs no column for its delay.
    waits = [name for name in names if set(words_of(name)) & set(DELAYS)]
    if delays or len(waits) != 1 or not set(words_of(soon)) & set(NOW):
        return {}
    return {"amounts": [soon, late], "delays_days": [0, waits[0]]}


def _dated(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({"amounts": parts["amounts"], "delays_days": parts["delays_days"]})


def _for_second(stimuli: Stimuli) -> Array:
    """How much speaks for the second option: its growth for each day of waiting; of losses, the less is lost."""
    amounts, delays = stimuli["amounts"], stimuli["delays_days"]
    size = np.maximum(np.abs(amounts), 0.01)
    growth = np.log(size[:, 1] / size[:, 0]) * np.sign(amounts.sum(axis=1))
    wait = np.abs(delays[:, 1] - delays[:, 0])
    return np.asarray(growth / np.maximum(wait, 1 / 24))


LAYOUT = StimulusLayout(
    {
        "amounts": "amount of the first and of the second option",
        "delays_days": "their delays, in days unless delay_unit says otherwise",
        "delay_unit": f"one of {', '.join(DAYS)}",
        "amount_unit": "cents, where amounts are hundredths of the unit of money; left out otherwise",
    },
    ("amounts", "delays_days"),
    _dated,
    _guess_dated,
    guess_rank=2,
    in_favour=_for_second,
    dominance=dominance,
)
"""The trials of this kind of task as columns."""
