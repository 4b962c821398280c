"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.sequences.measures import alternation, imbalance, length_of, longest_run
from lakatos.domains.sequences.task import LONGEST, MOST_LETTERS, sequences
from lakatos.experiments.adoption.layouts import SIDES, StimulusLayout
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
LEAST_DIFFERENT = 4
"""Different cells of a column from which its letters can be taken for an alphabet."""
LEAST_LONGEST = 4
"""Letters that the longest sequence of a file has, or its cells are codes rather than sequences."""


def _letters(cells: pd.Series) -> set[str]:
    """The letters that the cells of a column are made of; none where they are no sequences."""
    texts = {text for text in cells.dropna().astype(str).unique().tolist() if text}
    letters = set("".join(texts))
    # Numbers that happen to have few digits are no sequences, unless they are 0 and 1.
    plain = all(letter.isalpha() for letter in letters) or letters == {"0", "1"}
    long = [text for text in texts if len(text) >= LEAST_LONGEST]
    if len(texts) < LEAST_DIFFERENT or not long or any(len(text) > LONGEST for text in texts):
        return set()
    return letters if plain and 2 <= len(letters) <= MOST_LETTERS else set()


def _guess(frame: pd.DataFrame) -> dict[str, Any]:
    """Two columns whose cells are strings over one small alphabet; nothing unless just two fit."""
    found = {str(name): letters for name in frame.columns if (letters := _letters(frame[name]))}
    pairs = [
        (first, second)
        for first, second in combinations(found, 2)
        if len(found[first] | found[second]) <= MOST_LETTERS
    ]
    return {"letters": _in_order(pairs[0])} if len(pairs) == 1 else {}


def _in_order(names: tuple[str, str]) -> list[str]:
    """The column of the first option before that of the second, as their names have it, else as in the file."""
    words = [set(words_of(name)) for name in names]
    for first, second in SIDES:
        if second in words[0] - words[1] and first in words[1] - words[0]:
            return [names[1], names[0]]
    return list(names)


def _build(parts: Mapping[str, Array]) -> Stimuli:
    return sequences([(str(first), str(second)) for first, second in parts["letters"]])


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """What sequences are compared by."""
    letters = stimuli["letters"]
    return {
        "length": length_of(letters),
        "share of changes": alternation(letters),
        "longest streak": longest_run(letters),
        "imbalance of letters": imbalance(letters, stimuli["alphabet"]),
    }


LAYOUT = StimulusLayout(
    {"letters": "the first and the second sequence, each a column of strings such as HTHHT"},
    ("letters",),
    _build,
    guess_cells=_guess,
    guess_rank=0,
    texts=("letters",),
    properties=_properties,
)
"""The trials of this kind of task as columns."""
