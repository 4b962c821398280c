"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.adoption.layouts import (
    AMOUNTS,
    CHANCES,
    DELAYS,
    RATINGS,
    Reading,
    StimulusLayout,
    as_table,
    words_and_sides,
)
from lakatos.experiments.adoption.names import JUDGING, words_of
from lakatos.experiments.adoption.signatures import ColumnSignature, TableSignature, counterparts
from lakatos.experiments.task import Stimuli

Array = NDArray[np.float64]


def _guess_rated(names: Sequence[str]) -> dict[str, Any]:
    found = words_and_sides(names, RATINGS)
    if not found or len(found[1][0]) != len(found[1][1]):
        return {}
    sides, ratings = found
    if sides == ("1", "2") and any(f"{name.removesuffix('1')}3" in names for name in ratings[0]):
        return {}  # numbers of items of a questionnaire
    n_cues = len(ratings[0])
    if n_cues < 2:
        return {}  # one rating may stand beside properties of other names
    listed = sorted(name for name in names if "validity" in words_of(name))
    validities = listed if len(listed) == n_cues else ["?"] * n_cues
    return {"ratings": [ratings[0], ratings[1]], "validities": validities}


SIDES = (("left", "right"), ("l", "r"), ("a", "b"), ("first", "second"), ("1", "2"))
FEWEST_CUES, MOST_LEVELS = 3, 7
NO_CUE = {*AMOUNTS, *CHANCES, *DELAYS} - {"t", "d", "x", "p", "o", "v"}
"""Words in names of columns of amounts, chances and delays, which are no cues."""
FEWEST_DIFFERENT = 20
"""Rows in which a cue speaks for one of the options, from which on they show how often it is right."""


def recognise(table: TableSignature) -> Reading | None:
    """Three or more cues of two options, all on one scale of a few whole numbers.

    Where the file says which answers were right, it shows how often each cue is.
    """
    few = [
        item
        for item in table.numbers()
        if item.is_whole and item.between(0, MOST_LEVELS) and not item.words & NO_CUE
        and len(item.distinct) <= MOST_LEVELS and item.name != table.response
    ]  # fmt: skip
    pairs = counterparts([item.name for item in few])
    known = {(one, other): pairs[one, other] for one, other in pairs if (one, other) in SIDES}
    known |= {
        (other, one): [pair[::-1] for pair in pairs[one, other]]
        for one, other in pairs
        if (other, one) in SIDES
    }
    numbered = [name for pair in known.get(("1", "2"), ()) for name in pair]
    if not all(name[-1] in "12" and name[:-1].replace("_", "").isalpha() for name in numbered):
        known.pop(("1", "2"))  # numbers of items of a questionnaire
    cues = {sides: own for sides, own in known.items() if len(own) >= FEWEST_CUES}
    if len(cues) != 1:
        return None
    ((sides, named),) = cues.items()
    shown = [[table.columns[pair[place]] for pair in named] for place in (0, 1)]
    if len({frozenset(item.distinct) for own in shown for item in own}) != 1:
        return None
    validities, notes = _validities(table, shown, sides)
    ratings = [[item.name for item in own] for own in shown]
    names = tuple(name for own in ratings for name in own)
    return Reading({"ratings": ratings, "validities": validities}, names, sides, notes=notes)


def _validities(
    table: TableSignature, shown: Sequence[Sequence[ColumnSignature]], sides: tuple[str, str]
) -> tuple[list[Any], tuple[str, ...]]:
    """Estimate how often a cue that favours one option favours the right one; open where the file does not show it."""
    unknown: list[Any] = ["?"] * len(shown[0])
    judged = [
        item for item in table.free if item.words & JUDGING and set(item.distinct) == {"0", "1"}
    ]
    chosen = [
        item for item in table.free if {cell.casefold() for cell in item.distinct} == set(sides)
    ]
    if len(judged) != 1 or len(chosen) != 1:
        return unknown, ()
    is_second = (chosen[0].cells.str.casefold() == sides[1]).to_numpy()
    is_right = (judged[0].cells == "1").to_numpy()
    is_known = ((chosen[0].cells != "") & (judged[0].cells != "")).to_numpy()
    right = np.where(is_second == is_right, 1.0, -1.0)
    found: list[Any] = []
    for one, other in zip(*shown, strict=True):
        speaks = np.sign(other.values - one.values)
        rows = is_known & np.isfinite(speaks) & (speaks != 0)
        if rows.sum() < FEWEST_DIFFERENT or (share := float((speaks == right)[rows].mean())) < 0.5:
            return unknown, ()
        found.append(round(share, 3))
    listed = ", ".join(
        f"{item.name} {share:g}" for item, share in zip(shown[0], found, strict=True)
    )
    note = (
        f"validities are how often each cue speaks for the right answer in this file, by {judged[0].name}: {listed}; "
        "--column 'validities=[...]' says what participants were told"
    )
    return found, (note,)


def _rated(parts: Mapping[str, Array]) -> Stimuli:
    ratings = parts["ratings"]
    top = parts.get("rating_max", np.full(len(ratings), np.nanmax(ratings, initial=1.0)))
    return Stimuli(
        {"ratings": ratings, "validities": as_table(parts["validities"]), "rating_max": top}
    )


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """Return the properties by which products are compared."""
    ratings = stimuli["ratings"]
    return {
        f"rating by expert {cue + 1}": ratings[:, :, cue]
        for cue in range(ratings.shape[2])
        if np.isfinite(ratings[:, :, cue]).all()
    }


def _for_second(stimuli: Stimuli) -> Array:
    """Compute how much ratings favour the second product, each weighted by how far its cue is above guessing."""
    lead = stimuli["ratings"][:, 1] - stimuli["ratings"][:, 0]
    return np.asarray((lead * (stimuli["validities"] - 0.5)).sum(axis=1))


LAYOUT = StimulusLayout(
    {
        "ratings": "two lists of columns: each expert's rating of the first and of the second product",
        "validities": "how often each expert or property is right, 0.5 to 1: columns or numbers, one for each; "
        "alike where none is known to be better",
        "rating_max": "top of the scale; the highest rating in the file where it is left out",
    },
    ("ratings", "validities"),
    _rated,
    _guess_rated,
    recognise=recognise,
    kind="choices between two rated products",
    guess_rank=4,
    properties=_properties,
    in_favour=_for_second,
    neutral={"validities": 0.7},
)
"""The trials of this kind of task as columns."""
