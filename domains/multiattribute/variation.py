"""Pairs of rated products that differ in one way: on these the claims of theories are tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli
from lakatos.experiments.variation import TrialVariation, pick, varied

Array = NDArray[Any]


def product_variations(stimuli: Stimuli, rng: np.random.Generator) -> dict[str, TrialVariation]:
    """See `experiments.variation.HasVariations`; ratings are those of the second product unless said otherwise.

    Args:
        stimuli: Pairs of rated products.
        rng: Decides which cue is changed, and how far.
    """
    products = _VariedProducts(stimuli, rng)
    return {
        "rating": products.with_better_rating(),
        "lead": products.with_larger_lead(),
        "less_valid_rating": products.with_lesser_rating(),
        "shared_rating": products.with_shared_rating(),
        "validity": products.with_surer_cue(),
        "validity_order": products.with_other_validities(),
        "cue_order": products.in_other_order(),
        "scale": products.doubled(),
        "dominance": products.with_dominance(),
    }


class _VariedProducts:
    """Trials whose second product is varied on one cue each."""

    def __init__(self, stimuli: Stimuli, rng: np.random.Generator) -> None:
        """Take the trials, and draw how far each is changed and on which cue."""
        self.stimuli = stimuli
        self.ratings, self.validities, self.top = (
            numeric(stimuli[name]) for name in ("ratings", "validities", "rating_max")
        )
        self.first, self.second = self.ratings[:, 0], self.ratings[:, 1]
        n_trials, self.n_cues = self.validities.shape
        self.rows = np.arange(n_trials)
        self.how_far = rng.random((n_trials,))
        # Cues that can be raised, that can be raised and favour the product, and that can be surer.
        self.below, self.ahead = self.second < self.top[:, None], self.second > self.first
        self.unsure = self.ahead & (self.validities < 1)
        self.raised_cue = pick(self.below, rng)
        self.leading_cue = pick(self.ahead & self.below, rng)
        self.unsure_cue = pick(self.unsure, rng)
        # Cues less valid than the best that tells the products apart, and cues that do not.
        differ = self.first != self.second
        best = np.where(differ, self.validities, 0.0).max(axis=1)
        self.less_valid = self.validities < best[:, None]
        self.lesser_cue = pick(self.less_valid, rng)
        self.shared_cue = pick(~differ, rng)
        self.order = rng.permuted(np.tile(np.arange(self.n_cues), (n_trials, 1)), axis=1)
        self.dealt = np.take_along_axis(self.validities, self.order, axis=1)

    def _raised(self, rows: Array, cues: Array) -> dict[str, Array]:
        """The second product's ratings on some cues, raised by at least 1."""
        new, own, cue = self.ratings[rows], np.arange(len(rows)), cues[rows]
        room = self.top[rows] - new[own, 1, cue]
        new[own, 1, cue] += np.minimum(1 + np.floor(self.how_far[rows] * room), room)
        return {"ratings": new}

    def _replaced(self, rows: Array, cues: Array, sides: tuple[int, ...]) -> dict[str, Array]:
        """The ratings of some sides on some cues, replaced by one other rating."""
        new, own, cue = self.ratings[rows], np.arange(len(rows)), cues[rows]
        step = 1 + np.floor(self.how_far[rows] * self.top[rows])
        other = (new[own, 1, cue] + step) % (self.top[rows] + 1)
        for side in sides:
            new[own, side, cue] = other
        return {"ratings": new}

    def with_better_rating(self) -> TrialVariation:
        return varied(
            self.stimuli,
            self.below.any(axis=1),
            "a rating of the second product is raised",
            lambda _, rows: self._raised(rows, self.raised_cue),
            size=self.second[self.rows, self.raised_cue] / self.top,
            size_meaning="the rating as a share of the maximum",
        )

    def with_larger_lead(self) -> TrialVariation:
        return varied(
            self.stimuli,
            (self.ahead & self.below).any(axis=1),
            "the second product's lead on a cue that favours it is enlarged",
            lambda _, rows: self._raised(rows, self.leading_cue),
            size=(self.second - self.first)[self.rows, self.leading_cue] / self.top,
            size_meaning="the lead as a share of the maximum",
        )

    def with_lesser_rating(self) -> TrialVariation:
        return varied(
            self.stimuli,
            self.less_valid.any(axis=1),
            "a rating of the second product is changed on a cue less valid than the most valid that discriminates",
            lambda _, rows: self._replaced(rows, self.lesser_cue, (1,)),
        )

    def with_shared_rating(self) -> TrialVariation:
        return varied(
            self.stimuli,
            (self.first == self.second).any(axis=1),
            "a rating that both products have in common is changed for both",
            lambda _, rows: self._replaced(rows, self.shared_cue, (0, 1)),
        )

    def with_surer_cue(self) -> TrialVariation:
        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new, own, cue = self.validities[rows], np.arange(len(rows)), self.unsure_cue[rows]
            new[own, cue] += (1 - new[own, cue]) * (0.2 + 0.8 * self.how_far[rows])
            return {"validities": new}

        return varied(
            self.stimuli,
            self.unsure.any(axis=1),
            "the validity of a cue that favours the second product is raised",
            change,
        )

    def with_other_validities(self) -> TrialVariation:
        return varied(
            self.stimuli,
            (self.dealt != self.validities).any(axis=1),
            "the validities are dealt to the cues in another way",
            lambda _, rows: {"validities": self.dealt[rows]},
        )

    def in_other_order(self) -> TrialVariation:
        ratings = np.take_along_axis(self.ratings, self.order[:, None], axis=2)
        return varied(
            self.stimuli,
            (self.order != np.arange(self.n_cues)).any(axis=1),
            "the cues, with their validities, are listed in another order",
            lambda _, rows: {"ratings": ratings[rows], "validities": self.dealt[rows]},
        )

    def doubled(self) -> TrialVariation:
        return varied(
            self.stimuli,
            np.full(len(self.stimuli), True),
            "all ratings and the top of the scale are doubled",
            lambda before, _: {name: 2.0 * before[name] for name in ("ratings", "rating_max")},
        )

    def with_dominance(self) -> TrialVariation:
        def with_better_first(before: Stimuli) -> Mapping[str, Array]:
            return {"ratings": np.sort(numeric(before["ratings"]), axis=1)[:, ::-1]}

        return varied(
            self.stimuli,
            (self.first != self.second).any(axis=1),
            "the second product, at most as good on every cue, changes places with the first",
            lambda before, _: {"ratings": before["ratings"][:, ::-1]},
            prepare=with_better_first,
        )


def numeric(array: Array) -> Array:
    """The array as 64-bit numbers."""
    return np.asarray(array, dtype=np.float64)
