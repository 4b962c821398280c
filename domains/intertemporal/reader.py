"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.intertemporal.task import dominance
from lakatos.experiments.adoption.layouts import (
    AMOUNTS,
    DAYS,
    DELAYS,
    NOW,
    SIDES,
    StimulusLayout,
    by_side,
)
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


SOONER = {"s", "ss", "sooner", "soon", "small", "smaller", "now", "immediate"}
"""Words in names of columns of the sooner option, where those of the later one have no word for it."""


def _guess_dated(names: Sequence[str]) -> dict[str, Any]:
    amounts, delays = by_side(names, AMOUNTS), by_side(names, DELAYS)
    if not amounts and not delays:
        return _guess_one_side(names)
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


def _guess_one_side(names: Sequence[str]) -> dict[str, Any]:
    """Columns such as ``smag`` and ``sdelay`` beside ``mag`` and ``delay``: only the sooner option has its letter."""
    words = {name: set(words_of(name)) for name in names}
    sides = SOONER | {side for pair in SIDES for side in pair}
    found = {}
    for part, kind in (("amounts", {*AMOUNTS, "mag"}), ("delays_days", {"delay", "wait"})):
        own = {name: said for name, said in words.items() if said & kind}
        soon = [name for name, said in own.items() if said & SOONER]
        other = [name for name, said in own.items() if not said & (sides | {"short", "long"})]
        if len(soon) != 1 or len(other) != 1:
            return {}
        found[part] = [soon[0], other[0]]
    return found


MOSTLY = 0.8
"""Share of rows in which more must be paid later, so that numbers alone tell which columns are amounts."""


def _guess_cells(frame: pd.DataFrame) -> dict[str, Any]:
    """What names suggest; else two pairs of columns of which one says that an option never waits, and the other pays.

    The option that waits must mostly pay more, as in ``V1, V2, W1, W2`` where ``W1`` is always 0.
    """
    if found := _guess_dated([str(name) for name in frame.columns]):
        return found
    numbers = {str(name): pd.to_numeric(frame[name], errors="coerce") for name in frame.columns}
    known = {name: own.fillna(0.0) for name, own in numbers.items() if own.notna().mean() > MOSTLY}
    found_by_place = [_two_pairs(known, place) for place in (-1, 0)]
    return next((found for found in found_by_place if found), {})


def _two_pairs(known: Mapping[str, pd.Series], place: int) -> dict[str, Any]:
    """Amounts and waits of options whose names differ by one letter alone; nothing unless these are clear."""
    pairs = [
        (first, second)
        for first, second in combinations(sorted(known), 2)
        if len(first) == len(second) > 1
        and first[place] != second[place]
        and _without(first, place) == _without(second, place)
    ]
    found = []
    for (now, then), (soon, late) in permutations(pairs, 2):
        if (now[place], then[place]) != (soon[place], late[place]):
            continue
        for w, x in (((now, then), (soon, late)), ((then, now), (late, soon))):
            never, waits = known[w[0]], known[w[1]]
            is_wait = (never == 0).all() and (waits >= 0).all() and (waits > 0).any()
            pays_more = ((known[x[1]] > known[x[0]]).mean() >= MOSTLY) and (known[x[0]] > 0).all()
            if is_wait and pays_more:
                found.append({"amounts": list(x), "delays_days": list(w)})
    return found[0] if len(found) == 1 else {}


def _without(name: str, place: int) -> str:
    return name[:-1] if place == -1 else name[1:]


def _dated(parts: Mapping[str, Array]) -> Stimuli:
    return Stimuli({"amounts": parts["amounts"], "delays_days": parts["delays_days"]})


def _for_second(stimuli: Stimuli) -> Array:
    """How much speaks for the second option: its growth for each day of waiting; of losses, the less is lost."""
    amounts, delays = stimuli["amounts"], stimuli["delays_days"]
    size = np.maximum(np.abs(amounts), 0.01)
    growth = np.log(size[:, 1] / size[:, 0]) * np.sign(amounts.sum(axis=1))
    wait = np.abs(delays[:, 1] - delays[:, 0])
    return np.asarray(growth / np.maximum(wait, 1 / 24))


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """What dated amounts are compared by."""
    return {"delay": stimuli["delays_days"], "amount": stimuli["amounts"]}


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
    guess_cells=_guess_cells,
    guess_rank=2,
    in_favour=_for_second,
    dominance=dominance,
    properties=_properties,
    always={
        "delay": ("the sooner one", "the later one"),
        "amount": ("the smaller one", "the larger one"),
    },
)
"""The trials of this kind of task as columns."""
