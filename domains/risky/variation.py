"""Pairs of gambles that differ in one way: on these the claims of theories of risky choice are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from lakatos.domains.risky.space import (
    LARGEST_AMOUNT,
    N_OUTCOMES,
    PAIRED,
    Array,
)
from lakatos.experiments.task import Stimuli
from lakatos.experiments.variation import TrialVariation, varied

ArrayChange = Callable[[Stimuli, Array], Mapping[str, Array]]
"""Function from trials, and their rows among all trials, to the arrays that change."""


def gamble_variations(stimuli: Stimuli, rng: np.random.Generator) -> dict[str, TrialVariation]:
    """See `experiments.variation.HasVariations`; amounts and probabilities are those of the second gamble.

    Args:
        stimuli: Pairs of gambles.
        rng: Decides how far amounts are moved.
    """
    gambles = _VariedGambles(stimuli, rng.integers(1, 6, len(stimuli)))
    return {
        "best_amount": gambles.with_better_best(),
        "worst_amount": gambles.with_better_worst(),
        "amounts": gambles.with_better_amounts(),
        "best_probability": gambles.with_likelier_best(),
        "spread": gambles.spread(),
        "scale": gambles.doubled(),
        "common_amount": gambles.with_common_amount(),
        "reflection": gambles.reflected(),
        "ambiguity": gambles.untold(),
        "dominance": gambles.with_dominance(),
    }


class _VariedGambles:
    """Trials whose second gamble is varied, each by a step of its own."""

    def __init__(self, stimuli: Stimuli, n_steps: Array) -> None:
        """Take the trials and how many tenths of its largest amount each amount moves."""
        self.stimuli = stimuli
        self.outcomes, self.probabilities = stimuli["outcomes"], stimuli["probabilities"]
        self.rows = np.arange(len(stimuli))
        self.n_used = (self.probabilities > 0).sum(axis=-1)
        self.top = self.n_used[:, 1] - 1
        """Place of the second gamble's best amount."""
        self.largest = np.abs(self.outcomes).max(axis=(1, 2))
        self.step = np.maximum(np.round(0.1 * self.largest, 2), 0.01) * n_steps
        self.fits = self.largest + self.step <= LARGEST_AMOUNT

    @cached_property
    def several(self) -> Array:
        """Whether the second gamble has more than one outcome."""
        return np.asarray(self.top > 0)

    @cached_property
    def known(self) -> Array:
        """Whether the probabilities of both gambles are shown."""
        return np.asarray(~(self.stimuli["ambiguous"] > 0).any(axis=1))

    @cached_property
    def at_top(self) -> Array:
        """``(n_trials, N_OUTCOMES)`` places of the best amount; unused ones repeat it."""
        return np.asarray(np.arange(N_OUTCOMES) >= self.top[:, None])

    @cached_property
    def p_worst(self) -> Array:
        return self.probabilities[:, 1, 0]

    @cached_property
    def p_best(self) -> Array:
        return np.asarray(self.probabilities[self.rows, 1, self.top])

    def _moved(self, by: Array, where: Array) -> ArrayChange:
        """Amounts of the second gamble are raised ``by`` so much in the places ``where``."""

        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new = before["outcomes"].copy()
            new[:, 1] += (by[:, None] * where)[rows]
            return {"outcomes": new}

        return change

    def with_better_best(self) -> TrialVariation:
        return varied(
            self.stimuli,
            self.fits,
            "the best amount of the second gamble is raised",
            self._moved(self.step, self.at_top),
            size=self.outcomes[self.rows, 1, self.top],
            size_meaning="the amount",
        )

    def with_better_worst(self) -> TrialVariation:
        worst = self.outcomes[:, 1, 0]
        second = self.outcomes[self.rows, 1, np.minimum(1, self.top)]
        return varied(
            self.stimuli,
            self.several,
            "the worst amount of the second gamble is raised, to at most half-way to the next",
            self._moved(0.5 * (second - worst), np.arange(N_OUTCOMES) == 0),
            size=worst,
            size_meaning="the amount",
        )

    def with_better_amounts(self) -> TrialVariation:
        return varied(
            self.stimuli,
            self.fits,
            "all amounts of the second gamble are raised alike",
            self._moved(self.step, np.full(N_OUTCOMES, 1.0)),
        )

    def with_likelier_best(self) -> TrialVariation:
        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new = before["probabilities"].copy()
            shift = 0.5 * self.p_worst[rows]
            new[:, 1, 0] -= shift
            new[np.arange(len(rows)), 1, self.top[rows]] += shift
            return {"probabilities": new}

        return varied(
            self.stimuli,
            self.several & self.known,
            "probability is moved from the worst to the best amount of the second gamble",
            change,
            size=self.p_best,
            size_meaning="probability of the best amount",
        )

    def spread(self) -> TrialVariation:
        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            # The same mass, probability times amount, is taken from the worst and given to the best.
            new = before["outcomes"].copy()
            mass = (self.step * np.minimum(self.p_worst, self.p_best))[rows]
            new[:, 1, 0] -= mass / self.p_worst[rows]
            new[:, 1] += (mass / self.p_best[rows])[:, None] * self.at_top[rows]
            return {"outcomes": new}

        return varied(
            self.stimuli,
            self.several & self.known & self.fits,
            "the amounts of the second gamble are spread, its expected value unchanged",
            change,
        )

    def doubled(self) -> TrialVariation:
        return varied(
            self.stimuli,
            2 * self.largest <= LARGEST_AMOUNT,
            "all amounts of both gambles are doubled",
            lambda before, _: {"outcomes": 2 * before["outcomes"]},
        )

    def with_common_amount(self) -> TrialVariation:
        return varied(
            self.stimuli,
            self.fits,
            "the same amount is added to all outcomes of both gambles",
            lambda before, rows: {"outcomes": before["outcomes"] + self.step[rows, None, None]},
        )

    def reflected(self) -> TrialVariation:
        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            # Place of each amount's mirror image; unused places take the best.
            turn = np.clip(self.n_used[rows, :, None] - 1 - np.arange(N_OUTCOMES), 0, None)
            amounts = np.take_along_axis(before["outcomes"], turn, axis=-1)
            chances = np.take_along_axis(before["probabilities"], turn, axis=-1)
            used = before["probabilities"] > 0
            return {"outcomes": 0.0 - amounts, "probabilities": np.where(used, chances, 0.0)}

        return varied(
            self.stimuli,
            np.full(len(self.stimuli), True),
            "gains and losses of both gambles are exchanged",
            change,
        )

    def untold(self) -> TrialVariation:
        possible = self.several & self.known
        used = self.probabilities > 0
        equal = np.where(used, 1 / self.n_used[..., None], 0.0)[possible, 1]

        def with_equal_chances(before: Stimuli) -> Mapping[str, Array]:
            return {"probabilities": np.stack([before["probabilities"][:, 0], equal], axis=1)}

        return varied(
            self.stimuli,
            possible,
            "the probabilities of the second gamble, all equal, are no longer told",
            lambda before, _: {"ambiguous": before["ambiguous"] + np.array([0.0, 1.0])},
            prepare=with_equal_chances,
        )

    def with_dominance(self) -> TrialVariation:
        possible = self.fits & self.known
        second = self.outcomes[possible, 1]
        better = second + (self.step[:, None] * self.at_top)[possible]

        def with_better_first(before: Stimuli) -> Mapping[str, Array]:
            return {
                "outcomes": np.stack([better, second], axis=1),
                "probabilities": np.repeat(before["probabilities"][:, 1:], 2, axis=1),
            }

        return varied(
            self.stimuli,
            possible,
            "the second gamble, which the first improves by raising the best amount, changes places with it",
            lambda before, _: {name: before[name][:, ::-1] for name in PAIRED},
            prepare=with_better_first,
        )
