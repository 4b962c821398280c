"""Pairs of dated payments that differ in one way: on these the claims of theories are tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.task import Stimuli
from lakatos.experiments.variation import TrialVariation, varied

Array = NDArray[Any]


def payment_variations(
    stimuli: Stimuli, rng: np.random.Generator, *, largest_amount: float, longest_delay: float
) -> dict[str, TrialVariation]:
    """See `experiments.variation.HasVariations`; amount and delay are those of the second option.

    Args:
        stimuli: Pairs of payments.
        rng: Decides how far amounts and delays are moved.
        largest_amount: Largest amount that may be offered.
        longest_delay: Longest delay that may be offered, in days.
    """
    payments = _VariedPayments(stimuli, rng, largest_amount, longest_delay)
    gains, losses = payments.all_of_sign(1), payments.all_of_sign(-1)
    return {
        "amount": payments.with_larger_amount(),
        "delay": payments.delayed_second(gains, "the second of two gains is delayed further"),
        "loss_delay": payments.delayed_second(
            losses, "the second of two losses is delayed further"
        ),
        "common_delay": payments.delayed_both(),
        "scale": payments.with_double_amounts(),
        "delay_scale": payments.with_double_delays(),
        "reflection": payments.reflected(),
        "dominance": payments.with_dominance(gains),
    }


class _VariedPayments:
    """Trials whose amounts and delays are moved, each by a step of its own."""

    def __init__(
        self,
        stimuli: Stimuli,
        rng: np.random.Generator,
        largest_amount: float,
        longest_delay: float,
    ) -> None:
        """Take the trials and the limits, and draw how far each trial is moved."""
        self.stimuli = stimuli
        self.amounts, self.delays = stimuli["amounts"], stimuli["delays_days"]
        self.largest_amount, self.longest_delay = largest_amount, longest_delay
        self.largest = np.abs(self.amounts).max(axis=1)
        tenth = np.maximum(np.round(0.1 * self.largest, 2), 0.01)
        self.more = tenth * rng.integers(1, 11, len(stimuli))
        self.longer = rng.integers(1, 61, len(stimuli)).astype(np.float64)
        self.in_time = self.delays.max(axis=1) + self.longer <= longest_delay

    def all_of_sign(self, sign: int) -> Array:
        """Whether both options are gains (1), or both losses (-1), and at least one is not zero."""
        of_sign = (sign * self.amounts >= 0).all(axis=1)
        return np.asarray(of_sign & (self.amounts != 0).any(axis=1))

    def _delayed(self, by: Array) -> Callable[[Stimuli, Array], Mapping[str, Array]]:
        """Both delays are prolonged by their shares ``by`` of the trial's step."""

        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            return {"delays_days": before["delays_days"] + by * self.longer[rows, None]}

        return change

    def with_larger_amount(self) -> TrialVariation:
        def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            return {"amounts": before["amounts"] + np.array([0.0, 1.0]) * self.more[rows, None]}

        return varied(
            self.stimuli,
            self.largest + self.more <= self.largest_amount,
            "the second amount is raised",
            change,
            size=self.amounts[:, 1],
            size_meaning="the amount",
        )

    def delayed_second(self, possible: Array, meaning: str) -> TrialVariation:
        return varied(
            self.stimuli,
            possible & self.in_time,
            meaning,
            self._delayed(np.array([0.0, 1.0])),
            size=self.delays[:, 1],
            size_meaning="the delay in days",
        )

    def delayed_both(self) -> TrialVariation:
        return varied(
            self.stimuli,
            self.in_time,
            "both options are delayed by the same further time",
            self._delayed(np.ones(2)),
        )

    def with_double_amounts(self) -> TrialVariation:
        return varied(
            self.stimuli,
            2 * self.largest <= self.largest_amount,
            "both amounts are doubled",
            lambda before, _: {"amounts": 2 * before["amounts"]},
        )

    def with_double_delays(self) -> TrialVariation:
        return varied(
            self.stimuli,
            2 * self.delays.max(axis=1) <= self.longest_delay,
            "both delays are doubled",
            lambda before, _: {"delays_days": 2 * before["delays_days"]},
        )

    def reflected(self) -> TrialVariation:
        return varied(
            self.stimuli,
            np.full(len(self.stimuli), True),
            "gains and losses are exchanged",
            lambda before, _: {"amounts": 0.0 - before["amounts"]},
        )

    def with_dominance(self, gains: Array) -> TrialVariation:
        x, t = self.amounts, self.delays

        def with_better_first(before: Stimuli) -> Mapping[str, Array]:
            return {
                "amounts": np.sort(before["amounts"], axis=1)[:, ::-1],
                "delays_days": np.sort(before["delays_days"], axis=1),
            }

        return varied(
            self.stimuli,
            gains & ((x[:, 0] != x[:, 1]) | (t[:, 0] != t[:, 1])),
            "the second gain, neither larger nor sooner than the first, changes places with it",
            lambda before, _: {name: array[:, ::-1] for name, array in before.arrays.items()},
            prepare=with_better_first,
        )
