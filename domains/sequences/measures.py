"""Measures of sequences of letters: how often they change, how long their streaks are, how they can be described.

``letters`` holds code points ``(..., LONGEST)``, 0 past the end of a sequence, and ``alphabet`` those of all letters of
the task, ``(n_trials, MOST_LETTERS)``. Theories compute the same measures from the text in `mechanisms.HELPERS`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def length_of(letters: Array) -> Array:
    """``(...)`` number of letters."""
    return np.asarray((letters > 0).sum(axis=-1), dtype=np.float64)


def changes(letters: Array) -> Array:
    """``(..., LONGEST - 1)`` 1 where a letter differs from the one before it."""
    return np.asarray(1.0 * ((letters[..., 1:] > 0) & (letters[..., 1:] != letters[..., :-1])))


def alternation(letters: Array) -> Array:
    """``(...)`` share of neighbouring letters that differ; 0 for a single letter."""
    return np.asarray(changes(letters).sum(axis=-1) / np.maximum(length_of(letters) - 1, 1))


def longest_run(letters: Array) -> Array:
    """``(...)`` length of the longest streak of one letter."""
    run = longest = 1.0 * (letters[..., 0] > 0)
    for place in range(1, letters.shape[-1]):
        same = letters[..., place] == letters[..., place - 1]
        run = np.where(same, run + 1, 1.0) * (letters[..., place] > 0)
        longest = np.maximum(longest, run)
    return longest


def shares(letters: Array, alphabet: Array) -> Array:
    """``(n_trials, 2, MOST_LETTERS)`` share of each letter of the alphabet in each sequence."""
    found = (letters[..., None] == alphabet[:, None, None, :]) & (letters[..., None] > 0)
    return np.asarray(found.sum(axis=-2) / np.maximum(length_of(letters), 1)[..., None])


def imbalance(letters: Array, alphabet: Array) -> Array:
    """``(n_trials, 2)`` distance of the shares of letters from equal ones: half of the sum of absolute differences."""
    there = alphabet[:, None, :] > 0
    fair = there / there.sum(axis=-1, keepdims=True)
    return np.asarray(0.5 * np.abs(shares(letters, alphabet) - fair).sum(axis=-1))


def share_of_first_letter(letters: Array, alphabet: Array) -> Array:
    """``(n_trials, 2)`` share of the letter that comes first in the alphabet."""
    return shares(letters, alphabet)[..., 0]


def encoding(letters: Array) -> Array:
    """``(...)`` fewest units that describe a sequence: 1 for a streak of one letter, 2 for a stretch that alternates.

    Source: the difficulty predictor of Falk & Konold (1997), Psychological Review 104(2), 301-318.
    """
    in_streak = 1.0 * (letters[..., 0] > 0)
    alternating = 2.0 * in_streak
    for place in range(1, letters.shape[-1]):
        there = letters[..., place] > 0
        same = letters[..., place] == letters[..., place - 1]
        best = np.minimum(in_streak, alternating)
        streak = np.where(same, np.minimum(in_streak, best + 1), best + 1)
        stretch = np.where(same, best + 2, np.minimum(alternating, best + 2))
        in_streak = np.where(there, streak, in_streak)
        alternating = np.where(there, stretch, alternating)
    return np.asarray(np.minimum(in_streak, alternating))


def is_mirrored(letters: Array) -> Array:
    """``(...)`` whether a sequence of three or more letters reads the same backwards."""
    n = letters.shape[-1]
    length = length_of(letters).astype(np.intp)
    place = np.arange(n)
    source = np.clip(length[..., None] - 1 - place, 0, n - 1)
    mirrored = np.take_along_axis(letters, source, axis=-1)
    return np.asarray(
        ((mirrored == letters) | (place >= length[..., None])).all(axis=-1) & (length > 2)
    )


def repeats_motif(letters: Array) -> Array:
    """``(...)`` whether a sequence consists of a motif of two or more letters, repeated at least twice.

    The last repetition may be cut short; a streak of one letter is no such motif.
    """
    length = length_of(letters)
    found = np.zeros(length.shape, dtype=bool)
    for period in range(2, letters.shape[-1] // 2 + 1):
        later = letters[..., period:]
        repeated = ((later == letters[..., :-period]) | (later == 0)).all(axis=-1)
        found |= repeated & (length >= 2 * period)
    return np.asarray(found & (longest_run(letters) < length))
