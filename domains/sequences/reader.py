"""How files of this kind of task look, and how they are read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lakatos.domains.sequences.measures import alternation, imbalance, length_of, longest_run
from lakatos.domains.sequences.task import LONGEST, MOST_LETTERS, sequences
from lakatos.experiments.adoption.layouts import SIDES, StimulusLayout
from lakatos.experiments.adoption.names import words_of
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
LEAST_DIFFERENT = 4
"""Different cells of a column from which its letters can be taken for an alphabet."""
MOST_RARE = 0.05
"""Share of sequences with a letter below which it is a slip."""
LEAST_LONGEST = 4
"""Letters that the longest sequence of a file has, or its cells are codes rather than sequences."""
BRACKETS = " []{}()\"'"
SPACED = re.compile(
    r"""([^\s,;|"'])(?:(\s+|\s*["']?\s*[,;|/:_.>-]\s*["']?\s*)[^\s,;|"'](?:\2[^\s,;|"'])*)?"""
)
"""Single letters with the same characters between them, as in ``H T H`` and ``H-T-H``."""


def plain_sequences(texts: Sequence[str]) -> list[str]:
    """The cells of a file as sequences of letters, without what stands around and between letters in every cell.

    Raises:
        StimuliError: Spaces, commas or quotes remain, as in ``HTH TTH``; they would count as letters.
    """
    own = [normalize("NFC", text).strip(BRACKETS) for text in texts]
    found = [SPACED.fullmatch(text) for text in own if len(text) > 1]
    between = {match[2] for match in found if match}
    if found and all(found) and len(between) == 1 and None not in between:
        return [text.replace(str(*between), "") for text in own]
    for text in own:
        if re.search(r"""[\s,;|"']""", text):
            raise StimuliError(
                f"{text!r} is no sequence of letters; write HTHHT, or put the same between all letters of the file, "
                "as in H T H H T."
            )
    return own


def _check_letters(texts: Iterable[str]) -> None:
    """Refuse sequences whose letters most likely are not those that participants saw.

    Raises:
        StimuliError: Zeros were dropped, a letter is written in two ways, or there are two alphabets.
    """
    known = sorted(set(texts))
    letters = set("".join(known))
    is_cut = "0" in letters and letters <= set("0123456789") and len(set(map(len, known))) > 1
    if is_cut and not any(text[0] == "0" for text in known if len(text) > 1):
        raise StimuliError(
            "no sequence begins with 0, and their lengths differ: a program may have dropped zeros, as of 0110, which "
            "became 110. Write the sequences with letters in place of digits, such as THHT."
        )
    if twice := sorted(
        letter for letter in letters if letter != letter.lower() and letter.lower() in letters
    ):
        raise StimuliError(
            f"sequences have both {twice[0]} and {twice[0].lower()}; write each letter in one way."
        )
    alphabets: list[set[str]] = []
    for own in map(set, known):
        joined = [alphabet for alphabet in alphabets if alphabet & own]
        alphabets = [alphabet for alphabet in alphabets if alphabet not in joined]
        alphabets.append(own.union(*joined))
    several = sorted("".join(sorted(alphabet)) for alphabet in alphabets if len(alphabet) > 1)
    if len(several) > 1:
        raise StimuliError(
            f"sequences are made of {' or of '.join(several)}, and a file has one alphabet: write the same "
            "letters for the same outcomes, or read the rows of one alphabet (participants.columns.where)."
        )


def _letters(cells: pd.Series) -> set[str]:
    """The letters that the cells of a column are made of; none where they are no sequences."""
    texts = {text for text in cells.dropna().astype(str).unique().tolist() if text}
    try:
        texts = set(plain_sequences(sorted(texts)))
    except StimuliError:
        return set()
    letters = set("".join(texts))
    # Numbers that happen to have few digits are no sequences, unless they are 0 and 1.
    plain = all(letter.isalpha() for letter in letters) or letters == {"0", "1"}
    long = [text for text in texts if len(text) >= LEAST_LONGEST]
    if len(texts) < LEAST_DIFFERENT or not long or any(len(text) > LONGEST for text in texts):
        return set()
    return letters if plain and 2 <= len(letters) <= MOST_LETTERS else set()


def _guess(frame: pd.DataFrame) -> dict[str, Any]:
    """Two columns whose cells are strings over one small alphabet; nothing unless just two fit.

    A third column that repeats one of the two in each row says which one was chosen.
    """
    found = {str(name): letters for name in frame.columns if (letters := _letters(frame[name]))}
    pairs = [
        (first, second)
        for first, second in combinations(found, 2)
        if len(found[first] | found[second]) <= MOST_LETTERS
    ]
    if len(found) == 3:
        pairs = [
            pair
            for pair in pairs
            if all(_repeats(frame, third, pair) for third in found if third not in pair)
        ]
    return {"letters": _in_order(pairs[0])} if len(pairs) == 1 else {}


def _repeats(frame: pd.DataFrame, third: str, pair: tuple[str, str]) -> bool:
    """Whether each cell of a column is that of one of two others."""
    first, second = (frame[third] == frame[name] for name in pair)
    return bool((first | second).all() and first.any() and second.any())


def _in_order(names: tuple[str, str]) -> list[str]:
    """The column of the first option before that of the second, as their names have it, else as in the file."""
    words = [set(words_of(name)) for name in names]
    for first, second in SIDES:
        if second in words[0] - words[1] and first in words[1] - words[0]:
            return [names[1], names[0]]
    return list(names)


def _check_rare_letters(cells: Array) -> None:
    """Raise `StimuliError` naming the first trial with a letter that few others have, as ``oops`` among coin flips."""
    letters = [[set(filter(str.isalnum, str(cell))) for cell in row] for row in cells]
    n_with = Counter(letter for row in letters for own in row for letter in own)
    common = {letter for letter, n in n_with.items() if n > MOST_RARE * 2 * len(cells)}
    for number, (row, own) in enumerate(zip(cells, letters, strict=True)):
        for cell, found in zip(row, own, strict=True):
            if common and not found <= common:
                raise StimuliError(
                    f"trial {number} of the sequences domain: {str(cell)!r} has the letter "
                    f"{min(found - common)!r}; nearly all others are made of {''.join(sorted(common))}."
                )


def _build(parts: Mapping[str, Array]) -> Stimuli:
    if np.shape(parts["letters"])[1:] != (2,):
        raise StimuliError("letters are two columns, of the first and of the second sequence.")
    _check_rare_letters(parts["letters"])
    written, place = np.unique(parts["letters"], return_inverse=True)
    texts = plain_sequences([str(text) for text in written])
    _check_letters(texts)
    pairs = place.reshape(-1, 2).tolist()
    return sequences([(texts[first], texts[second]) for first, second in pairs])


def _properties(stimuli: Stimuli) -> Mapping[str, Array]:
    """Return the properties by which sequences are compared."""
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
    kind="which of two sequences looks random",
    guess_rank=0,
    texts=("letters",),
    properties=_properties,
)
"""The trials of this kind of task as columns."""
