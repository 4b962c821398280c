"""Trials that differ in one way: pairs on which the claims of theories are tried.

A domain that can vary its trials offers them; a theory then states, for example, that raising a rating never lowers the
probability of the option that has it, and any pair of which that is not true is a counterexample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli

Array = NDArray[Any]


@dataclass(frozen=True)
class TrialVariation:
    """Trials before and after one change; row by row they differ in nothing else.

    A change that concerns one option concerns the second; exchanging the sides of both gives the same change of the
    first.
    """

    before: Stimuli
    after: Stimuli
    meaning: str
    """Description of the change, as a clause: "a rating of the second product is raised"."""
    size: Array | None = None
    """``(n_pairs,)`` how large what is changed was before, where claims may speak of what lies beyond a size."""
    size_meaning: str = ""
    """Meaning of ``size``, with its unit."""


@runtime_checkable
class HasVariations(Protocol):
    """A domain whose trials can be varied."""

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """Every variation by its name, of those trials that can be varied so; perhaps of none.

        Args:
            stimuli: Admissible trials.
            rng: Decides which of several attributes is varied, and how far.
        """


@runtime_checkable
class HasMeasures(Protocol):
    """A domain with attributes that are measured, so that their last digits cannot matter to anybody."""

    measured: tuple[str, ...]
    """Arrays that stay as good when all of them are multiplied by nearly 1."""


def varied(
    stimuli: Stimuli,
    possible: Array | np.bool,
    meaning: str,
    change: Callable[[Stimuli, Array], Mapping[str, Array]],
    *,
    prepare: Callable[[Stimuli], Mapping[str, Array]] | None = None,
    size: Array | None = None,
    size_meaning: str = "",
) -> TrialVariation:
    """A variation of the trials where it is possible.

    Args:
        stimuli: All trials.
        possible: ``(n_trials,)`` where the change can be made.
        meaning: What is done.
        change: Function from the possible trials and their rows in ``stimuli`` to the arrays that differ.
        prepare: Arrays to replace before and after, from the possible trials.
        size: ``(n_trials,)`` see `TrialVariation`.
        size_meaning: See `TrialVariation`.
    """
    rows = np.flatnonzero(possible)
    before = stimuli.take(rows)
    if prepare is not None:
        before = Stimuli(dict(before.arrays) | dict(prepare(before)))
    after = Stimuli(dict(before.arrays) | dict(change(before, rows)))
    return TrialVariation(
        before, after, meaning, None if size is None else size[rows], size_meaning
    )


def pick(mask: Array, rng: np.random.Generator) -> Array:
    """``(n_rows,)`` the place of one true entry of each row of a mask ``(n_rows, n_places)``, at random; 0 if none."""
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=-1))
