"""The space of pairs of gambles: its settings, what is admissible, and which pairs are alike or dominated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.domains.kit.settings import refuse_unknown
from lakatos.experiments.errors import StimuliError
from lakatos.experiments.task import Stimuli

Array = NDArray[Any]
Gamble = Sequence[tuple[float, float]]
"""Pairs of an amount and its probability, in any order."""
N_OUTCOMES = 10
"""Places for outcomes in every set of trials."""
LARGEST_AMOUNT = 1e5
LARGEST_SPACE = 1_000_000
"""Pairs of gambles that `RiskyDomain.space` lists; larger spaces can only be sampled."""
TOLERANCE = 1e-9
"""Tolerance of sums of probabilities."""
LEAST_PERCENT = 2.0
"""Number above which a probability is taken for a percentage when it is refused."""
FRAME = {
    "outcomes": (2, N_OUTCOMES),
    "probabilities": (2, N_OUTCOMES),
    "ambiguous": (2,),
    "correlation": (),
}
"""Arrays of a set of trials and their axes after ``n_trials``."""
PAIRED = ("outcomes", "probabilities", "ambiguous")
"""Arrays that hold one entry for each gamble."""


@dataclass(frozen=True)
class RiskySettings:
    """A space of trials: all pairs of the gambles that can be made of these amounts and probabilities."""

    amounts: tuple[float, ...] = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0, 15.0, 20.0, 40.0)
    """Amounts that a gamble can pay."""
    probabilities: tuple[float, ...] = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
    """Probabilities that an outcome can have; the worst outcome takes what is left."""
    n_outcomes: int = 2
    """Most outcomes of one gamble, 1 to 4."""
    losses: bool = False
    """Whether every amount can also be lost."""
    ambiguous: bool = False
    """Whether the second gamble can also be shown without its probabilities."""
    dominated: bool = False
    """Whether trials are admitted in which one gamble is at least as good as the other whatever one's taste."""
    most_ev_difference: float = float("inf")
    """Largest difference in expected value, so that trials are not all trivial."""

    def __post_init__(self) -> None:
        if not 1 <= self.n_outcomes <= 4:
            raise StimuliError(f"setting n_outcomes is {self.n_outcomes}; give 1 to 4.")
        if any(not 0 < p < 1 for p in self.probabilities):
            raise StimuliError(
                "setting probabilities: give numbers between 0 and 1, without the two."
            )
        if any(not abs(amount) <= LARGEST_AMOUNT for amount in self.amounts):
            raise StimuliError(
                f"setting amounts: give finite numbers of at most {LARGEST_AMOUNT:g}."
            )
        if not self.most_ev_difference >= 0:
            raise StimuliError(
                f"setting most_ev_difference is {self.most_ev_difference}; give a number from 0."
            )


def read_settings(settings: Mapping[str, Any]) -> RiskySettings:
    """Settings of a study file.

    Raises:
        StimuliError: A setting is unknown or of the wrong type; the message says which and what there is.
    """
    refuse_unknown(RiskySettings.__dataclass_fields__, settings, "risky")
    values: dict[str, Any] = {}
    for name, value in settings.items():
        try:
            if name in ("amounts", "probabilities"):
                values[name] = tuple(sorted({float(item) for item in value}))
            elif name == "n_outcomes":
                if isinstance(value, bool) or int(value) != value:
                    raise TypeError
                values[name] = int(value)
            elif name == "most_ev_difference":
                values[name] = float(value)
            elif not isinstance(value, bool):
                raise TypeError
            else:
                values[name] = value
        except (TypeError, ValueError):
            raise StimuliError(
                f"setting {name!r} of the risky domain cannot be {value!r}."
            ) from None
    return RiskySettings(**values)


def pairs(
    gambles: Sequence[tuple[Gamble, Gamble]],
    *,
    ambiguous: Sequence[tuple[bool, bool]] | None = None,
    correlation: Sequence[float] | None = None,
) -> Stimuli:
    """Trials from written-out gambles: equal amounts are joined, amounts sorted, unused places filled.

    Args:
        gambles: The first and the second gamble of every trial.
        ambiguous: Gambles that are shown without probabilities; those given are then replaced by equal ones.
        correlation: Sign of the correlation between the two payoffs, -1, 0 or 1; 0 when None.

    Raises:
        StimuliError: A gamble has no outcome or more than ten, or probabilities that are no distribution.
    """
    n_trials = len(gambles)
    outcomes, probabilities = (
        np.zeros((n_trials, 2, N_OUTCOMES)),
        np.zeros((n_trials, 2, N_OUTCOMES)),
    )
    hidden = (
        np.zeros((n_trials, 2)) if ambiguous is None else np.asarray(ambiguous, dtype=np.float64)
    )
    signs = np.zeros(n_trials) if correlation is None else np.asarray(correlation, dtype=np.float64)
    for row, trial in enumerate(gambles):
        for side, gamble in enumerate(trial):
            joined: dict[float, float] = {}
            for amount, probability in gamble:
                if probability:
                    joined[float(amount) + 0.0] = joined.get(float(amount) + 0.0, 0.0) + float(
                        probability
                    )
            if not 1 <= len(joined) <= N_OUTCOMES:
                raise StimuliError(
                    f"trial {row}: a gamble has {len(joined)} outcomes; give 1 to {N_OUTCOMES}."
                )
            amounts = sorted(joined)
            outcomes[row, side] = amounts + [amounts[-1]] * (N_OUTCOMES - len(amounts))
            chances = np.array([joined[amount] for amount in amounts])
            if abs(chances.sum() - 1) > 1e-4:
                raise StimuliError(
                    f"trial {row}: the probabilities of a gamble sum to {chances.sum():g}, not 1."
                )
            probabilities[row, side, : len(amounts)] = (
                1 / len(amounts) if hidden[row, side] else chances / chances.sum()
            )
    stimuli = Stimuli(
        {
            "outcomes": outcomes,
            "probabilities": probabilities,
            "ambiguous": hidden,
            "correlation": signs,
        }
    )
    check(stimuli)
    return stimuli


def check(stimuli: Stimuli) -> None:
    """Raise `StimuliError` naming the first trial that is no pair of gambles."""
    if set(stimuli.arrays) != set(FRAME):
        raise StimuliError(
            f"risky trials have the arrays {', '.join(FRAME)}, not {', '.join(sorted(stimuli.arrays))}."
        )
    for name, axes in FRAME.items():
        if stimuli[name].shape != (len(stimuli), *axes):
            raise StimuliError(
                f"array {name!r} has shape {stimuli[name].shape}, not {(len(stimuli), *axes)}."
            )
        _refuse(~np.isfinite(stimuli[name]), f"{name} is not a finite number")
    outcomes, probabilities, hidden = (
        stimuli["outcomes"],
        stimuli["probabilities"],
        stimuli["ambiguous"],
    )
    shown = probabilities > 0
    _refuse(np.abs(outcomes) > LARGEST_AMOUNT, f"an amount is above {LARGEST_AMOUNT:g}")
    _refuse(
        probabilities > LEAST_PERCENT,
        "a probability is above 1: percentages are divided by 100, as in COLUMN / 100",
    )
    _refuse(probabilities < 0, "a probability is negative")
    _refuse(
        np.abs(probabilities.sum(axis=-1) - 1) > TOLERANCE,
        "the probabilities of a gamble do not sum to 1",
    )
    _refuse(shown[..., 1:] & ~shown[..., :-1], "an unused place comes before a used one")
    step = np.diff(outcomes, axis=-1)
    _refuse(shown[..., 1:] & (step <= 0), "the amounts of a gamble do not ascend")
    _refuse(~shown[..., 1:] & (step != 0), "an unused place does not repeat the best amount")
    _refuse((hidden != 0) & (hidden != 1), "ambiguous is neither 0 nor 1")
    equal = np.where(shown, 1 / shown.sum(axis=-1, keepdims=True), 0.0)
    _refuse(
        (hidden == 1) & (np.abs(probabilities - equal) > TOLERANCE).any(axis=-1),
        "an ambiguous gamble holds other than equal probabilities",
    )
    _refuse(~np.isin(stimuli["correlation"], (-1, 0, 1)), "correlation is none of -1, 0, 1")


def _refuse(wrong: Array, what: str) -> None:
    rows = np.flatnonzero(wrong.reshape(len(wrong), -1).any(axis=1))
    if rows.size:
        raise StimuliError(f"trial {rows[0]} of the risky domain: {what}.")


def joint_probabilities(stimuli: Stimuli) -> Array:
    """Compute the probability of each pair of outcomes.

    Uncorrelated payoffs are independent; correlated ones are ordered alike (1) or opposite (-1).

    Returns:
        ``(n_trials, n_outcomes of A, n_outcomes of B)``, summing to 1 in every trial.
    """
    probabilities = stimuli["probabilities"]
    p_a, p_b = probabilities[:, 0, :, None], probabilities[:, 1, None, :]
    # Each outcome as a stretch of the line from 0 to 1, the worst first.
    top_a, top_b = p_a.cumsum(axis=1), p_b.cumsum(axis=2)
    bottom_a, bottom_b = top_a - p_a, top_b - p_b
    alike = _overlap(bottom_a, top_a, bottom_b, top_b)
    opposite = _overlap(bottom_a, top_a, 1 - top_b, 1 - bottom_b)
    sign = stimuli["correlation"][:, None, None]
    negative = np.where(sign < 0, opposite, p_a * p_b)
    return np.asarray(np.where(sign > 0, alike, negative))


def _overlap(first_low: Array, first_high: Array, second_low: Array, second_high: Array) -> Array:
    """Length that two stretches share."""
    shared = np.minimum(first_high, second_high) - np.maximum(first_low, second_low)
    return np.asarray(np.maximum(shared, 0))


def dominance(stimuli: Stimuli) -> Array:
    """Find the option that is at least as good as the other whatever one's taste (first-order dominance).

    With an ambiguous gamble only the amounts count: all of one must be at least as good as all of the other.

    Returns:
        ``(n_trials,)``: 1 where B dominates A, -1 where A dominates B, 0 otherwise, and 0 where they are the same.
    """
    outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
    # Cumulative probabilities of both gambles, at each amount of either.
    steps = outcomes.reshape(len(stimuli), 1, 2 * N_OUTCOMES, 1)
    is_below = outcomes[:, :, None, :] <= steps
    reached = (probabilities[:, :, None, :] * is_below).sum(axis=-1)
    gain = reached[:, 0] - reached[:, 1]  # above 0 where A is likelier to stay below
    better_b = (gain >= -TOLERANCE).all(axis=-1) & (gain > TOLERANCE).any(axis=-1)
    better_a = (gain <= TOLERANCE).all(axis=-1) & (gain < -TOLERANCE).any(axis=-1)
    by_chances = better_b.astype(int) - better_a.astype(int)
    # The amounts alone.
    least, most = outcomes.min(axis=-1), outcomes.max(axis=-1)
    all_of_b = least[:, 1] >= most[:, 0]
    all_of_a = least[:, 0] >= most[:, 1]
    by_amounts = all_of_b.astype(int) - all_of_a.astype(int)
    is_hidden = (stimuli["ambiguous"] > 0).any(axis=-1)
    return np.asarray(np.where(is_hidden, by_amounts, by_chances))


def are_identical(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` whether both options are the same gamble, shown the same way."""
    alike = stimuli["ambiguous"][:, 1] == stimuli["ambiguous"][:, 0]
    for name in ("outcomes", "probabilities"):
        apart = np.abs(stimuli[name][:, 1] - stimuli[name][:, 0])
        alike = alike & (apart <= TOLERANCE).all(axis=-1)
    return np.asarray(alike)


@lru_cache(maxsize=16)
def _gambles(settings: RiskySettings) -> tuple[tuple[Array, Array, Array], ...]:
    """Every gamble of the space: padded amounts, padded probabilities, whether ambiguous."""
    losses = {-amount + 0.0 for amount in settings.amounts if settings.losses and amount}
    amounts = sorted({*settings.amounts, *losses})
    found = []
    for n_outcomes in range(1, settings.n_outcomes + 1):
        # Chances of all but the worst amount; the worst takes what is left.
        better = product(settings.probabilities, repeat=n_outcomes - 1)
        chances = [(1 - sum(upper), *upper) for upper in better if sum(upper) < 1 - TOLERANCE]
        for chosen in combinations(amounts, n_outcomes):
            found += [_padded(chosen, chance, hidden=False) for chance in chances]
    if settings.ambiguous:
        for n_outcomes in range(2, settings.n_outcomes + 1):
            even = [1 / n_outcomes] * n_outcomes
            for chosen in combinations(amounts, n_outcomes):
                found.append(_padded(chosen, even, hidden=True))
    return tuple(found)


def _padded(
    amounts: Sequence[float], chances: Sequence[float], *, hidden: bool
) -> tuple[Array, Array, Array]:
    """A gamble in places for the most outcomes there may be: the best is repeated, with no chance."""
    pad = N_OUTCOMES - len(amounts)
    outcomes = np.array([*amounts, *[amounts[-1]] * pad])
    probabilities = np.array([*chances, *[0.0] * pad])
    return outcomes, probabilities, np.ones(()) if hidden else np.zeros(())


def _paired(settings: RiskySettings, first: Array, second: Array) -> Stimuli:
    """Admissible trials among the pairs of gambles with these numbers."""
    gambles = _gambles(settings)
    chosen = np.stack([np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)], axis=1)
    outcomes, probabilities, hidden = (
        np.stack([gamble[part] for gamble in gambles])[chosen] for part in range(3)
    )
    stimuli = Stimuli(
        {
            "outcomes": outcomes,
            "probabilities": probabilities,
            "ambiguous": hidden,
            "correlation": np.zeros(len(outcomes)),
        }
    )
    expected = (outcomes * probabilities).sum(axis=-1)
    apart = np.abs(expected[:, 1] - expected[:, 0])
    keep = ~are_identical(stimuli) & (apart <= settings.most_ev_difference)
    # Only the second gamble can be ambiguous, as in the experiments of this field.
    keep &= hidden[:, 0] == 0
    if not settings.dominated:
        keep &= dominance(stimuli) == 0
    return stimuli.take(np.flatnonzero(keep))
