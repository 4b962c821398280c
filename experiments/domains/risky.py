"""Risky choice: two gambles, each a list of amounts and their probabilities.

A gamble's amounts ascend and differ from one another. All sets of trials have ten places for outcomes, so that they
can be joined; unused places repeat the best amount with probability 0, so that the least and the greatest need no mask.

A gamble is *ambiguous* when people see its amounts but not their probabilities. The array ``probabilities`` then holds
what could be known, equal chances of all amounts shown, never the hidden truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakatos.experiments.errors import EmptyDesignSpaceError, StimuliError
from lakatos.experiments.task import OneShot, Stimuli
from lakatos.experiments.variation import TrialVariation, joined, varied

Array = NDArray[Any]
Gamble = Sequence[tuple[float, float]]
"""Pairs of an amount and its probability, in any order."""
N_OUTCOMES = 10
"""Places for outcomes in every set of trials."""
LARGEST_AMOUNT = 1e5
LARGEST_SPACE = 1_000_000
"""Pairs of gambles that `RiskyDomain.space` lists; larger spaces can only be sampled."""
TOLERANCE = 1e-9
"""Of sums of probabilities."""
FRAME = {
    "outcomes": (2, N_OUTCOMES),
    "probabilities": (2, N_OUTCOMES),
    "ambiguous": (2,),
    "correlation": (),
}
"""Arrays of a set of trials and their axes after ``n_trials``."""
PAIRED = ("outcomes", "probabilities", "ambiguous")
"""Those that hold one entry for each gamble."""


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
    known = RiskySettings.__dataclass_fields__
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise StimuliError(
            f"unknown settings of the risky domain: {', '.join(unknown)}. It has: {', '.join(known)}."
        )
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
        ambiguous: Which of the two are shown without probabilities; those given are then replaced by equal ones.
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
    """How likely each pair of outcomes is.

    Uncorrelated payoffs are independent; correlated ones are ordered alike (1) or opposite (-1).

    Returns:
        ``(n_trials, n_outcomes of A, n_outcomes of B)``, summing to 1 in every trial.
    """
    p_a, p_b = stimuli["probabilities"][:, 0], stimuli["probabilities"][:, 1]
    top_a, top_b = p_a.cumsum(axis=-1)[:, :, None], p_b.cumsum(axis=-1)[:, None, :]
    bottom_a, bottom_b = top_a - p_a[:, :, None], top_b - p_b[:, None, :]
    alike = np.maximum(np.minimum(top_a, top_b) - np.maximum(bottom_a, bottom_b), 0)
    opposite = np.maximum(np.minimum(top_a, 1 - bottom_b) - np.maximum(bottom_a, 1 - top_b), 0)
    independent = p_a[:, :, None] * p_b[:, None, :]
    sign = stimuli["correlation"][:, None, None]
    return np.asarray(np.where(sign > 0, alike, np.where(sign < 0, opposite, independent)))


def dominance(stimuli: Stimuli) -> Array:
    """Which option is at least as good as the other whatever one's taste, first-order stochastically.

    With an ambiguous gamble only the amounts count: all of one must be at least as good as all of the other.

    Returns:
        ``(n_trials,)``: 1 where B dominates A, -1 where A dominates B, 0 otherwise, and 0 where they are the same.
    """
    outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
    steps = outcomes.reshape(len(stimuli), 1, 2 * N_OUTCOMES, 1)
    reached = (probabilities[:, :, None, :] * (outcomes[:, :, None, :] <= steps)).sum(axis=-1)
    gain = reached[:, 0] - reached[:, 1]  # above 0 where A is likelier to stay below
    better_b = (gain >= -TOLERANCE).all(axis=-1) & (gain > TOLERANCE).any(axis=-1)
    better_a = (gain <= TOLERANCE).all(axis=-1) & (gain < -TOLERANCE).any(axis=-1)
    least, most = outcomes.min(axis=-1), outcomes.max(axis=-1)
    apart = (least[:, 1] >= most[:, 0]).astype(int) - (least[:, 0] >= most[:, 1]).astype(int)
    known = ~(stimuli["ambiguous"] > 0).any(axis=-1)
    return np.asarray(np.where(known, better_b.astype(int) - better_a.astype(int), apart))


def are_identical(stimuli: Stimuli) -> Array:
    """``(n_trials,)`` whether both options are the same gamble, shown the same way."""
    same = [
        np.abs(stimuli[name][:, 1] - stimuli[name][:, 0]) <= TOLERANCE
        for name in ("outcomes", "probabilities")
    ]
    alike = stimuli["ambiguous"][:, 1] == stimuli["ambiguous"][:, 0]
    return np.asarray(same[0].all(axis=-1) & same[1].all(axis=-1) & alike)


@lru_cache(maxsize=16)
def _gambles(settings: RiskySettings) -> tuple[tuple[Array, Array, Array], ...]:
    """Every gamble of the space: padded amounts, padded probabilities, whether ambiguous."""
    amounts = sorted(
        {
            *settings.amounts,
            *(-amount + 0.0 for amount in settings.amounts if settings.losses and amount),
        }
    )
    listed = []
    for n_outcomes in range(1, settings.n_outcomes + 1):
        chances = [
            (1 - sum(upper), *upper)
            for upper in product(settings.probabilities, repeat=n_outcomes - 1)
            if sum(upper) < 1 - TOLERANCE
        ]
        for chosen in combinations(amounts, n_outcomes):
            listed += [(chosen, chance) for chance in chances]
    found = []
    for chosen, chance in listed:
        pad = N_OUTCOMES - len(chosen)
        outcome = np.array([*chosen, *[chosen[-1]] * pad])
        found.append((outcome, np.array([*chance, *[0.0] * pad]), np.zeros(())))
    if settings.ambiguous:
        for chosen in (
            item for n in range(2, settings.n_outcomes + 1) for item in combinations(amounts, n)
        ):
            pad = N_OUTCOMES - len(chosen)
            outcome = np.array([*chosen, *[chosen[-1]] * pad])
            found.append(
                (outcome, np.array([*[1 / len(chosen)] * len(chosen), *[0.0] * pad]), np.ones(()))
            )
    return tuple(found)


def _paired(settings: RiskySettings, first: Array, second: Array) -> Stimuli:
    """Admissible trials among the pairs of gambles with these numbers."""
    gambles = _gambles(settings)
    tables = [np.stack([gamble[part] for gamble in gambles]) for part in range(3)]
    outcomes, probabilities, hidden = (
        np.stack(
            [table[np.asarray(first, dtype=np.intp)], table[np.asarray(second, dtype=np.intp)]],
            axis=1,
        )
        for table in tables
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
    keep = ~are_identical(stimuli) & (
        np.abs(expected[:, 1] - expected[:, 0]) <= settings.most_ev_difference
    )
    keep &= (
        hidden[:, 0] == 0
    )  # only the second gamble can be ambiguous, as in the experiments of this field
    if not settings.dominated:
        keep &= dominance(stimuli) == 0
    return stimuli.take(np.flatnonzero(keep))


class RiskyDomain(OneShot):
    """Choices between two gambles with stated amounts and probabilities."""

    name = "risky"
    measured: tuple[str, ...] = ("outcomes",)
    options: tuple[str, ...] = ("A", "B")

    def candidates(
        self, settings: Mapping[str, Any], rng: np.random.Generator, n_most: int
    ) -> Stimuli:
        """Admissible trials of the space: all of them, or a random ``n_most`` (see `experiments.task.Domain`)."""
        space = read_settings(settings)
        n_gambles = len(_gambles(space))
        n_pairs = n_gambles * (n_gambles - 1) // 2
        if n_pairs <= max(LARGEST_SPACE // 10, 4 * n_most):
            stimuli = self.space(settings)
            if len(stimuli) <= n_most:
                return stimuli
            return stimuli.take(np.sort(rng.choice(len(stimuli), n_most, replace=False)))
        found: list[Stimuli] = []
        seen: set[tuple[int, int]] = set()
        for _ in range(20):
            drawn = np.sort(rng.integers(n_gambles, size=(4 * n_most, 2)), axis=1)
            fresh = [
                pair
                for pair in map(tuple, drawn.tolist())
                if pair[0] != pair[1] and pair not in seen
            ]
            unique = list(dict.fromkeys(fresh))
            seen.update(unique)
            table = np.array(unique, dtype=np.intp).reshape(-1, 2)
            found.append(_paired(space, table[:, 0], table[:, 1]))
            if sum(map(len, found)) >= n_most:
                break
        stimuli = Stimuli.concatenate(found)
        if not len(stimuli):
            raise EmptyDesignSpaceError(_nothing(settings))
        return stimuli.take(np.arange(min(n_most, len(stimuli))))

    def space(self, settings: Mapping[str, Any]) -> Stimuli:
        """Every admissible trial of the space.

        Raises:
            EmptyDesignSpaceError: There is none.
            StimuliError: A setting is wrong, or the space is too large to be listed.
        """
        space = read_settings(settings)
        n_gambles = len(_gambles(space))
        if n_gambles * (n_gambles - 1) // 2 > LARGEST_SPACE:
            raise StimuliError(
                f"{n_gambles} gambles make {n_gambles * (n_gambles - 1) // 2} pairs, too many to list; "
                "give fewer amounts or probabilities, or sample with `candidates`."
            )
        if n_gambles < 2:
            raise EmptyDesignSpaceError(_nothing(settings))
        first, second = np.triu_indices(n_gambles, 1)
        blocks = [
            _paired(space, first[start : start + 50_000], second[start : start + 50_000])
            for start in range(0, len(first), 50_000)
        ]
        stimuli = Stimuli.concatenate(blocks)
        if not len(stimuli):
            raise EmptyDesignSpaceError(_nothing(settings))
        return stimuli

    def check(self, stimuli: Stimuli) -> None:
        """Raise `StimuliError` naming the first trial that is no pair of gambles."""
        check(stimuli)

    def admits(self, settings: Mapping[str, Any], stimuli: Stimuli) -> Array:
        """See `experiments.task.Domain.admits`: amounts, and probabilities of all but the worst, within the levels."""
        read = read_settings(settings)
        outcomes, probabilities, hidden = (
            stimuli["outcomes"],
            stimuli["probabilities"],
            stimuli["ambiguous"],
        )
        amounts = [*read.amounts, *(-amount for amount in read.amounts if read.losses)]
        low, high = (
            min(read.probabilities, default=1) - TOLERANCE,
            max(read.probabilities, default=0) + TOLERANCE,
        )
        better = probabilities[..., 1:]
        chances = (better == 0) | ((better >= low) & (better <= high)) | (hidden[..., None] > 0)
        kept = ((outcomes >= min(amounts)) & (outcomes <= max(amounts))).all(
            axis=(1, 2)
        ) & chances.all(axis=(1, 2))
        kept &= ((probabilities > 0).sum(axis=-1) <= read.n_outcomes).all(axis=1)
        kept &= hidden.sum(axis=1) <= read.ambiguous
        kept &= (stimuli["correlation"] == 0) & ~are_identical(stimuli)
        expected = (outcomes * probabilities).sum(axis=-1)
        kept &= np.abs(expected[:, 1] - expected[:, 0]) <= read.most_ev_difference + TOLERANCE
        return np.asarray(kept if read.dominated else kept & (dominance(stimuli) == 0))

    def moves(
        self, settings: Mapping[str, Any], stimuli: Stimuli, step: float
    ) -> tuple[Stimuli, Array]:
        """See `experiments.variation.HasMoves`: one amount, or probability from the worst amount to another one."""
        read = read_settings(settings)
        amounts = [*read.amounts, *(-amount for amount in read.amounts if read.losses)]
        reach = max(amounts) - min(amounts)
        unit = (
            10.0 ** np.floor(np.log10(reach / 100)) if reach > 0 else 1.0
        )  # of 40 tenths, of 500 whole ones
        shift = max(
            round(
                step * (max(read.probabilities, default=0) - min(read.probabilities, default=0)), 2
            ),
            0.01,
        )
        n_used = (stimuli["probabilities"] > 0).sum(axis=-1)
        place = np.arange(N_OUTCOMES)
        parts = []
        for side, at, sign in product((0, 1), range(read.n_outcomes), (-1, 1)):
            outcomes, probabilities = stimuli["outcomes"].copy(), stimuli["probabilities"].copy()
            top = n_used[:, side] - 1
            same = (place == at) | (
                (at == top)[:, None] & (place > at)
            )  # unused places repeat the best
            outcomes[:, side] = np.where(
                same,
                (np.round((outcomes[:, side] + sign * step * reach) / unit) * unit).round(6),
                outcomes[:, side],
            )
            used = at <= top
            ascending = (np.diff(outcomes[:, side], axis=-1) > 0) | (place[1:] > top[:, None])
            changes = [({"outcomes": outcomes}, used & ascending.all(axis=1))]
            if at > 0:
                moved_to = np.round(probabilities[:, side, at] + sign * shift, 2)
                rest = (
                    probabilities[:, side].sum(axis=-1)
                    - probabilities[:, side, at]
                    - probabilities[:, side, 0]
                )
                probabilities[:, side, 0] = 1 - rest - moved_to
                probabilities[:, side, at] = moved_to
                possible = used & (moved_to > TOLERANCE) & (probabilities[:, side, 0] > TOLERANCE)
                changes.append(
                    (
                        {"probabilities": probabilities},
                        possible & (stimuli["ambiguous"][:, side] == 0),
                    )
                )
            for change, possible in changes:
                rows = np.flatnonzero(possible)
                moved = Stimuli(
                    {name: array[rows] for name, array in (dict(stimuli.arrays) | change).items()}
                )
                kept = np.flatnonzero(self.admits(settings, moved)) if len(rows) else rows
                parts.append((moved.take(kept), rows[kept]))
        return joined(parts, stimuli)

    def probes(self, rng: np.random.Generator) -> Sequence[Stimuli]:
        """Ordinary random trials, and every extreme: sure, identical, huge, unlikely, losing, ambiguous, correlated."""
        ordinary: list[tuple[Gamble, Gamble]] = [
            (_random_gamble(rng, 3), _random_gamble(rng, 3)) for _ in range(12)
        ]
        wide: list[tuple[Gamble, Gamble]] = [
            (_random_gamble(rng, N_OUTCOMES), _random_gamble(rng, N_OUTCOMES)) for _ in range(6)
        ]
        ten = [(float(amount), 0.1) for amount in range(-5, 5)]
        extremes: list[tuple[Gamble, Gamble]] = [
            ([(3, 1)], [(4, 0.8), (0, 0.2)]),
            ([(5, 1)], [(5, 1)]),
            ([(0, 1)], [(0, 1)]),
            ([(0, 1)], [(-1, 1)]),
            ([(10, 0.5), (0, 0.5)], [(10, 0.5), (0, 0.5)]),
            ([(1e4, 0.5), (-1e4, 0.5)], [(0, 1)]),
            ([(1e4, 1)], [(-1e4, 1)]),
            ([(1e4, 1e-6), (0, 1 - 1e-6)], [(0.01, 1)]),
            ([(-1e4, 1e-6), (0, 1 - 1e-6)], [(-0.01, 1)]),
            ([(1e4, 1 - 1e-6), (9e3, 1e-6)], [(9999, 1)]),
            ([(-3, 1)], [(-4, 0.8), (0, 0.2)]),
            ([(-30, 0.4), (-1, 0.6)], [(-12, 0.9), (-11, 0.1)]),
            (ten, [(0, 1)]),
            (ten, [(amount + 0.5, p) for amount, p in ten]),
            (ten, ten),
        ]
        shown: list[tuple[Gamble, Gamble]] = [
            ([(10, 0.5), (0, 0.5)], [(10, 0.5), (0, 0.5)]),
            ([(3, 1)], ten),
            (ten, [(-4, 0.5), (9, 0.5)]),
        ]
        hidden = [(False, True), (False, True), (True, False)]
        related: list[tuple[Gamble, Gamble]] = [
            ([(10, 0.5), (0, 0.5)], [(8, 0.5), (1, 0.5)])
        ] * 2 + [(ten, [(2, 0.3), (-2, 0.7)])] * 2
        return (
            pairs([*ordinary, *wide]),
            pairs(extremes),
            pairs(shown, ambiguous=hidden),
            pairs(related, correlation=[-1, 1, -1, 1]),
            pairs(extremes[:1]),
        )

    def features(self, stimuli: Stimuli) -> Mapping[str, Array]:
        """Properties of trials, differences always B minus A."""
        outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
        used = probabilities > 0
        n_used = used.sum(axis=-1)
        expected = (probabilities * outcomes).sum(axis=-1)
        variance = (probabilities * (outcomes - expected[..., None]) ** 2).sum(axis=-1)
        least, most = outcomes.min(axis=-1), outcomes.max(axis=-1)
        spread = np.maximum(most.max(axis=-1) - least.min(axis=-1), TOLERANCE)
        p_worst = probabilities[..., 0]
        p_best = np.take_along_axis(probabilities, n_used[..., None] - 1, axis=-1)[..., 0]
        modal = np.take_along_axis(outcomes, probabilities.argmax(axis=-1)[..., None], axis=-1)[
            ..., 0
        ]
        plain = np.where(used, outcomes, 0).sum(axis=-1) / n_used
        p_gain = (probabilities * (outcomes > 0)).sum(axis=-1)
        p_loss = (probabilities * (outcomes < 0)).sum(axis=-1)
        joint = joint_probabilities(stimuli)
        a, b = outcomes[:, 0, :, None], outcomes[:, 1, None, :]
        sure = (n_used == 1).astype(np.float64)

        def difference(values: Array) -> Array:
            return np.asarray(values[:, 1] - values[:, 0], dtype=np.float64)

        return {
            "ev_difference": difference(expected),
            "relative_ev_difference": difference(expected) / spread,
            "variance_difference": difference(variance),
            "sd_difference": difference(np.sqrt(variance)) / spread,
            "minimum_difference": difference(least) / spread,
            "maximum_difference": difference(most) / spread,
            "equal_weight_difference": difference(plain) / spread,
            "modal_outcome_difference": difference(modal) / spread,
            "worst_probability_difference": difference(p_worst),
            "best_probability_difference": difference(p_best),
            "gain_probability_difference": difference(p_gain),
            "loss_probability_difference": difference(p_loss),
            "probability_b_beats_a": (joint * (b > a)).sum(axis=(1, 2)),
            "beats_difference": (joint * (np.sign(b - a))).sum(axis=(1, 2)),
            "sure_option": difference(sure),
            "rare_outcome": np.where(used, probabilities, 1).min(axis=(1, 2)),
            "n_outcomes_difference": difference(n_used),
            "losses_present": (least < 0).any(axis=-1).astype(np.float64),
            "mixed_amounts": ((least.min(axis=-1) < 0) & (most.max(axis=-1) > 0)).astype(
                np.float64
            ),
            "amount_size": np.abs(outcomes).max(axis=(1, 2)),
            "dominance": dominance(stimuli).astype(np.float64),
            "ambiguity_difference": difference(stimuli["ambiguous"]),
            "correlation": np.asarray(stimuli["correlation"], dtype=np.float64),
        }

    def swap_sides(self, stimuli: Stimuli) -> Stimuli:
        """The same trials with the two gambles exchanged."""
        paired = {name: stimuli[name][:, ::-1] for name in PAIRED}
        return Stimuli({**paired, "correlation": stimuli["correlation"]})

    def variations(
        self, stimuli: Stimuli, rng: np.random.Generator
    ) -> Mapping[str, TrialVariation]:
        """See `experiments.variation.HasVariations`; amounts and probabilities are those of the second gamble."""
        outcomes, probabilities = stimuli["outcomes"], stimuli["probabilities"]
        n_trials = len(stimuli)
        place = np.arange(N_OUTCOMES)
        n_used = (probabilities > 0).sum(axis=-1)
        top = n_used[:, 1] - 1
        several, known = top > 0, ~(stimuli["ambiguous"] > 0).any(axis=1)
        largest = np.abs(outcomes).max(axis=(1, 2))
        own = np.arange(n_trials)
        worst, second, best = (
            outcomes[:, 1, 0],
            outcomes[own, 1, np.minimum(1, top)],
            outcomes[own, 1, top],
        )
        p_worst, p_best = probabilities[:, 1, 0], probabilities[own, 1, top]
        step = np.maximum(np.round(0.1 * largest, 2), 0.01) * rng.integers(1, 6, n_trials)
        fits = largest + step <= LARGEST_AMOUNT
        at_top, at_bottom = place >= top[:, None], place == 0
        equal = np.where(probabilities > 0, 1 / n_used[..., None], 0.0)
        turn = np.clip(
            n_used[..., None] - 1 - place, 0, None
        )  # place of the mirror image; unused places take the best

        def moved(by: Array, where: Array) -> Callable[[Stimuli, Array], Mapping[str, Array]]:
            def change(before: Stimuli, rows: Array) -> Mapping[str, Array]:
                new = before["outcomes"].copy()
                new[:, 1] += (by[:, None] * where)[rows]
                return {"outcomes": new}

            return change

        def likelier(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new = before["probabilities"].copy()
            shift = 0.5 * p_worst[rows]
            new[:, 1, 0] -= shift
            new[np.arange(len(rows)), 1, top[rows]] += shift
            return {"probabilities": new}

        def spread(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            new = before["outcomes"].copy()
            mass = (step * np.minimum(p_worst, p_best))[rows]
            new[:, 1, 0] -= mass / p_worst[rows]
            new[:, 1] += (mass / p_best[rows])[:, None] * at_top[rows]
            return {"outcomes": new}

        def mirrored(before: Stimuli, rows: Array) -> Mapping[str, Array]:
            used = before["probabilities"] > 0
            amounts, chances = (
                np.take_along_axis(before[name], turn[rows], axis=-1)
                for name in ("outcomes", "probabilities")
            )
            return {"outcomes": 0.0 - amounts, "probabilities": np.where(used, chances, 0.0)}

        return {
            "best_amount": varied(
                stimuli,
                fits,
                "the best amount of the second gamble is raised",
                moved(step, at_top),
                size=best,
                size_meaning="the amount",
            ),
            "worst_amount": varied(
                stimuli,
                several,
                "the worst amount of the second gamble is raised, to at most half-way to the next",
                moved(0.5 * (second - worst), at_bottom),
                size=worst,
                size_meaning="the amount",
            ),
            "amounts": varied(
                stimuli,
                fits,
                "all amounts of the second gamble are raised alike",
                moved(step, np.full(N_OUTCOMES, 1.0)),
            ),
            "best_probability": varied(
                stimuli,
                several & known,
                "probability is moved from the worst to the best amount of the second gamble",
                likelier,
                size=p_best,
                size_meaning="probability of the best amount",
            ),
            "spread": varied(
                stimuli,
                several & known & fits,
                "the amounts of the second gamble are spread, its expected value unchanged",
                spread,
            ),
            "scale": varied(
                stimuli,
                2 * largest <= LARGEST_AMOUNT,
                "all amounts of both gambles are doubled",
                lambda before, _: {"outcomes": 2 * before["outcomes"]},
            ),
            "common_amount": varied(
                stimuli,
                fits,
                "the same amount is added to all outcomes of both gambles",
                lambda before, rows: {"outcomes": before["outcomes"] + step[rows, None, None]},
            ),
            "reflection": varied(
                stimuli,
                np.full(n_trials, True),
                "gains and losses of both gambles are exchanged",
                mirrored,
            ),
            "ambiguity": varied(
                stimuli,
                several & known,
                "the probabilities of the second gamble, all equal, are no longer told",
                lambda before, _: {"ambiguous": before["ambiguous"] + np.array([0.0, 1.0])},
                prepare=lambda before: {
                    "probabilities": np.stack(
                        [before["probabilities"][:, 0], equal[several & known][:, 1]], axis=1
                    )
                },
            ),
            "dominance": varied(
                stimuli,
                fits & known,
                "the second gamble, which the first improves by raising the best amount, changes places with it",
                lambda before, _: {name: before[name][:, ::-1] for name in PAIRED},
                prepare=lambda before: {
                    "outcomes": np.stack(
                        [outcomes[:, 1] + step[:, None] * at_top, outcomes[:, 1]], axis=1
                    )[fits & known],
                    "probabilities": np.repeat(before["probabilities"][:, 1:], 2, axis=1),
                },
            ),
        }

    def picture(self, stimuli: Stimuli, row: int) -> str:
        """Both gambles side by side, the likelihood of every amount as a number and a bar."""
        sides = "".join(_picture_of_gamble(stimuli, row, side) for side in (0, 1))
        note = {
            1: "High amounts of both tend to come together.",
            -1: "High amounts of one come with low of the other.",
        }
        related = note.get(int(stimuli["correlation"][row]), "")
        footer = (
            f'<div style="margin-top:8px;font-size:13px;color:#555">{related}</div>'
            if related
            else ""
        )
        return (
            '<div style="font-family:system-ui,sans-serif;max-width:640px;color:#222">'
            f'<div style="display:flex;gap:16px">{sides}</div>{footer}</div>'
        )

    def describe(self, stimuli: Stimuli, row: int) -> str:
        """For example ``A: 3 for sure | B: 4 with 80%, 0 with 20%``."""
        text = []
        for side, label in enumerate(self.options):
            shown = _shown(stimuli, row, side)
            amounts = ", ".join(f"{amount:g} with {_percent(p)}" for amount, p in shown)
            if len(shown) == 1:
                amounts = f"{shown[0][0]:g} for sure"
            elif stimuli["ambiguous"][row, side]:
                amounts = (
                    ", ".join(f"{amount:g}" for amount, _ in shown) + " (probabilities unknown)"
                )
            text.append(f"{label}: {amounts}")
        sign = int(stimuli["correlation"][row])
        related = (
            f" (payoffs {'positively' if sign > 0 else 'negatively'} correlated)" if sign else ""
        )
        return " | ".join(text) + related


def _nothing(settings: Mapping[str, Any]) -> str:
    return (
        f"no trial of the risky domain is left with the settings {dict(settings)}. "
        "Give more amounts or probabilities, a larger most_ev_difference, or dominated = true."
    )


def _random_gamble(rng: np.random.Generator, n_most: int) -> list[tuple[float, float]]:
    amounts = rng.choice(
        np.arange(-50.0, 101.0), size=int(rng.integers(1, n_most + 1)), replace=False
    )
    chances = rng.dirichlet(np.ones(len(amounts)))
    return list(zip(amounts.tolist(), chances.tolist(), strict=True))


def _shown(stimuli: Stimuli, row: int, side: int) -> list[tuple[float, float]]:
    """Amounts and probabilities of one gamble, the best first."""
    amounts, chances = stimuli["outcomes"][row, side], stimuli["probabilities"][row, side]
    return [(float(amount), float(p)) for amount, p in zip(amounts, chances, strict=True) if p > 0][
        ::-1
    ]


def _percent(probability: float) -> str:
    return f"{100 * probability:.4g}%"


def _picture_of_gamble(stimuli: Stimuli, row: int, side: int) -> str:
    hidden = bool(stimuli["ambiguous"][row, side])
    cell = 'style="padding:3px 6px;text-align:right;white-space:nowrap"'
    lines = []
    for amount, probability in _shown(stimuli, row, side):
        color = "#2b7a4b" if amount > 0 else "#b03a2e" if amount < 0 else "#777"
        bar = f'<div style="background:{color};opacity:.75;height:12px;width:{max(100 * probability, 0.5):.2f}%"></div>'
        lines.append(
            f'<tr><td {cell}><b style="color:{color}">{escape(f"{amount:g}")}</b></td>'
            f"<td {cell}>{'?' if hidden else escape(_percent(probability))}</td>"
            f'<td style="width:60%">{"" if hidden else bar}</td></tr>'
        )
    note = '<div style="font-size:13px;color:#555">probabilities unknown</div>' if hidden else ""
    return (
        '<div style="flex:1;border:1px solid #bbb;border-radius:6px;padding:10px">'
        f'<div style="font-weight:600">{RiskyDomain.options[side]}</div>'
        f'<table style="width:100%;border-collapse:collapse">{"".join(lines)}</table>{note}</div>'
    )
